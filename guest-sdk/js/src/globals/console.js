import { log } from "../log.js";
import { inCall } from "../phase.js";

// While the component is built there is no log. Packages that greet their
// reader when they are loaded must not fail for that.
const when =
  (write) =>
  (...parts) => {
    if (inCall()) write(...parts);
  };

/** A console that writes to the hook's log. */
export const console = {
  debug: when(log.debug),
  log: when(log.info),
  info: when(log.info),
  warn: when(log.warn),
  error: when(log.error),
};
