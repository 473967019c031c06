import { write } from "hookbox:hook/log@1.1.0";

import { formatted } from "./format.js";
import { needCall } from "./phase.js";

function line(level, parts) {
  needCall(`log.${level}(message)`);
  write(level, formatted(parts));
}

/** Log lines, stored with the hook's name. */
export const log = {
  debug: (...parts) => line("debug", parts),
  info: (...parts) => line("info", parts),
  warn: (...parts) => line("warn", parts),
  error: (...parts) => line("error", parts),
};
