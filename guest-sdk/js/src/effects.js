import { maybe32 } from "./numbers.js";
import { needCall } from "./phase.js";
import { needText } from "./text.js";

const PLACEMENTS = ["system-reminder", "system-message", "prepend-to-prompt", "append-to-output"];
const PROPAGATIONS = ["session", "all", "none"];
const ROLE_HINTS = ["system", "developer", "user-block", "ephemeral-cache"];
const OPTIONS = ["tags", "dedupeKey", "ttlTurns", "preserveOnCompact", "propagate", "roleHint"];

let queue = [];

/** Queues a text for the model; it goes out with the answer. */
export function context(text, placement = "system-reminder") {
  needCall("context(text)");
  queue.push({
    tag: "context",
    val: {
      text: needText(text, "context(text)"),
      placement: needOneOf(placement, PLACEMENTS, "the placement of context(text, placement)"),
    },
  });
}

/** Queues a text for the model that stays for some turns. */
export function reminder(body, options = {}) {
  needCall("reminder(body)");
  for (const name of Object.keys(options)) {
    needOneOf(name, OPTIONS, "an option of reminder(body, options)");
  }
  const { tags = [], dedupeKey, ttlTurns, preserveOnCompact = false } = options;
  queue.push({
    tag: "reminder",
    val: {
      body: needText(body, "reminder(body)"),
      tags: Array.from(tags, (tag) => needText(tag, "a tag of reminder(body)")),
      dedupeKey: dedupeKey == null ? undefined : needText(dedupeKey, "dedupeKey"),
      ttlTurns: maybe32(ttlTurns, "ttlTurns"),
      preserveOnCompact: Boolean(preserveOnCompact),
      propagate: needOneOf(options.propagate ?? "session", PROPAGATIONS, "propagate"),
      roleHint: needOneOf(options.roleHint ?? "system", ROLE_HINTS, "roleHint"),
    },
  });
}

/** Returns the queued effects in order and empties the queue. */
export function takeEffects() {
  const effects = queue;
  queue = [];
  return effects;
}

// A name the contract does not know would be a trap, without a word of what was wrong.
function needOneOf(value, names, what) {
  if (names.includes(value)) return value;
  throw new TypeError(`${what} must be one of ${names.join(", ")}, not ${String(value)}`);
}
