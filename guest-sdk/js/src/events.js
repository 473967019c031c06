import * as host from "hookbox:hook/events@1.1.0";

import { callHost } from "./error.js";
import { parse, stringify } from "./json.js";
import { needText } from "./text.js";

/** Events of the hook's own making. */
export const events = {
  /** Sends a `custom.*` event through its chain and returns the payload that comes out. */
  emit(name, payload = null) {
    const text = needText(name, "events.emit(name)");
    return parse(callHost("events.emit", host.emit, text, stringify(payload)));
  },
};
