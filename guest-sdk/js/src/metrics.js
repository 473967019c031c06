import * as host from "hookbox:hook/metrics@1.1.0";

import { callHost } from "./error.js";
import { needExact } from "./numbers.js";
import { needText } from "./text.js";

/** Counters and gauges, shared by all hooks of a run. */
export const metrics = {
  /** Adds to a counter, which starts at 0, and returns its new value. */
  incr(name, by = 1) {
    const delta = needExact(by, "metrics.incr(name, by)");
    return Number(callHost("metrics.incr", host.incr, needText(name, "metrics.incr(name)"), delta).val);
  },

  /** Sets a gauge. */
  set(name, value) {
    callHost("metrics.set", host.set, needText(name, "metrics.set(name)"), numberOf(value));
  },

  /** Returns one value, or undefined. */
  get(name) {
    const number = callHost("metrics.get", host.get, needText(name, "metrics.get(name)"));
    return number == null ? undefined : Number(number.val);
  },

  /** Returns all values, sorted by name. */
  snapshot() {
    const values = callHost("metrics.snapshot", host.snapshot);
    return new Map(values.map(([name, number]) => [name, Number(number.val)]));
  },
};

function numberOf(value) {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) {
    return { tag: "integer", val: needExact(value, "metrics.set(name, value)") };
  }
  if (Number.isFinite(value)) return { tag: "real", val: value };
  throw new TypeError(`metrics.set(name, value) needs a finite number, got ${String(value)}`);
}
