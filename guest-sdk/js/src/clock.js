import * as host from "hookbox:hook/clock@1.1.0";

import { callHost } from "./error.js";

/** The time: the event's own, unless the hook is granted the real one. */
export const clock = {
  /** Returns the milliseconds since the start of 1970. */
  now() {
    return Number(callHost("clock.now", host.now));
  },
};
