import * as host from "hookbox:hook/environment@1.1.0";

import { callHost } from "./error.js";
import { needText } from "./text.js";

/** Returns a variable of the environment, or undefined if it is granted but not set. */
export function get(name) {
  return callHost("env.get", host.get, needText(name, "env.get(name)")) ?? undefined;
}
