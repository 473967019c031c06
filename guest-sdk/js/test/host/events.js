import { refuse } from "./error.js";

export function emit(name, payload) {
  if (!name.startsWith("custom.")) refuse("refused", `${name} is not a custom event`);
  return payload;
}
