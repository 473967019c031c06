import { failureOf } from "./failure.js";
import { stringify } from "./json.js";
import { needText } from "./text.js";

/** Returns the parts of a log line as one text: strings as they are, the rest as JSON. */
export function formatted(parts) {
  return needText(parts.map(shown).join(" "), "a log line");
}

// A log line must never be what makes a hook fail.
function shown(part) {
  if (typeof part === "string") return part;
  if (part instanceof Error) return failureOf(part).message;
  try {
    return stringify(part);
  } catch {
    return typeof part === "object" ? Object.prototype.toString.call(part) : String(part);
  }
}
