import { refuse } from "./error.js";

export function get(name) {
  if (name === "HOME") refuse("not-granted", "HOME is not granted");
  return name === "CI" ? "true" : null;
}
