import "./globals.js";

import * as host from "hookbox:hook/files@1.1.0";

import { callHost } from "./error.js";
import { needText } from "./text.js";

/** Returns the bytes of a file. */
export function read(path) {
  return callHost("files.read", host.read, needText(path, "files.read(path)"));
}

/** Returns a file as text. */
export function readText(path) {
  return new TextDecoder().decode(read(path));
}

/** Returns the names in a directory, sorted; those of directories end in `/`. */
export function list(path) {
  return callHost("files.list", host.entries, needText(path, "files.list(path)"));
}
