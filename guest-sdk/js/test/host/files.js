import { refuse } from "./error.js";

export function read(path) {
  if (path !== "docs/a.txt") refuse("not-found", `there is no ${path}`);
  return new TextEncoder().encode("grüß\n");
}

export function entries() {
  return ["a.txt", "sub/"];
}
