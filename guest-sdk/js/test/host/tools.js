import { refuse } from "./error.js";

export function call(name, args) {
  if (name !== "lookup") refuse("unknown-tool", `there is no tool ${name}`);
  return `{"args":${args}}`;
}
