import * as host from "hookbox:hook/tools@1.1.0";

import { callHost } from "./error.js";
import { parse, stringify } from "./json.js";
import { needText } from "./text.js";

/** Calls a tool of the agent's and returns its result. */
export function call(name, args = {}) {
  const text = needText(name, "tools.call(name)");
  return parse(callHost("tools.call", host.call, text, stringify(args)));
}
