import * as host from "hookbox:hook/random@1.1.0";

import { callHost } from "./error.js";
import { needInteger } from "./numbers.js";

const MOST = 65_536;

/** Random bytes: they follow from the event, unless the hook is granted real ones. */
export const random = {
  /** Returns so many bytes. */
  bytes(count) {
    // The host ends the call if asked for more; an error can be caught.
    return callHost("random.bytes", host.bytes, needInteger(count, 0, MOST, "random.bytes(count)"));
  },
};
