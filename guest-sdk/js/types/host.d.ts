import type { Json } from "./json.js";

/**
 * Log lines, stored with the hook's name. They reach the outcome and the payload
 * of the next `turn.end`. Parts that are no strings are written as JSON, and
 * `console.log` and its like write here too.
 */
export const log: {
  debug(...message: unknown[]): void;
  info(...message: unknown[]): void;
  warn(...message: unknown[]): void;
  error(...message: unknown[]): void;
};

/** Counters and gauges, shared by all hooks of a run. Values beyond 2^53 are not exact. */
export const metrics: {
  /** Adds to a counter, which starts at 0, and returns its new value. `by` is 1 if left out. */
  incr(name: string, by?: number | bigint): number;
  /** Sets a gauge. */
  set(name: string, value: number | bigint): void;
  /** Returns one value, or undefined. */
  get(name: string): number | undefined;
  /** Returns all values, sorted by name. */
  snapshot(): Map<string, number>;
};

/**
 * A store of JSON values that outlives the call. Without a grant it is the
 * hook's own and ends with the run; `grant: cache:` names what it shares, with
 * whom, and how large it may become.
 *
 * Throws a `HookboxError` of the kind "not-granted", "quota", "wrong-type" or "unavailable".
 */
export const cache: {
  /** Returns a value, or undefined if there is none. */
  get(key: string): any;
  /** Stores a value, for so many milliseconds if a number is given. */
  set(key: string, value: Json | object, ttlMs?: number): void;
  /** Returns whether there is a value. */
  has(key: string): boolean;
  /** Removes a value and returns whether there was one. */
  delete(key: string): boolean;
  /**
   * Adds to an integer, which starts at 0, in one step, and returns the sum. The
   * time counts from the first addition; later ones do not extend it. `by` is 1
   * if left out; sums beyond 2^53 are not exact.
   */
  increment(key: string, by?: number | bigint, ttlMs?: number): number;
  /**
   * Stores `value` in one step if the stored value is `expected`, and returns
   * whether it did. Undefined expects that there is no value.
   */
  compareAndSet(
    key: string,
    expected: Json | object | undefined,
    value: Json | object,
    ttlMs?: number,
  ): boolean;
};

/** Events of the hook's own making. */
export const events: {
  /**
   * Sends a `custom.*` event through its own chain and returns the payload that
   * comes out. Throws a `HookboxError` of the kind "blocked" or "refused".
   */
  emit(name: string, payload?: Json | object): any;
};

/**
 * The time. Without a grant it is the event's own: what its payload says under
 * `timestamp`, and otherwise the start of the year 2000. `grant: clock: real`
 * makes it the machine's.
 */
export const clock: {
  /** Returns the milliseconds since the start of 1970. */
  now(): number;
};

/**
 * Random bytes. Without a grant they follow from the event and the hook's name;
 * `grant: random: real` makes them the machine's. `Math.random()` is no
 * substitute: it starts anew from the same place in every call.
 */
export const random: {
  /** Returns so many bytes, 65,536 at most. */
  bytes(count: number): Uint8Array;
};
