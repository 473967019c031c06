/**
 * Returns the text as one that can cross to the host. Half a surrogate pair,
 * which `slice` leaves behind when it cuts an emoji, has no UTF-8 and would be a trap.
 */
export function needText(value, what) {
  if (typeof value === "string") return value.toWellFormed();
  throw new TypeError(`${what} needs a string, got ${value === null ? "null" : typeof value}`);
}
