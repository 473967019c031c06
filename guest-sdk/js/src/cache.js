import * as host from "hookbox:hook/cache@1.1.0";

import { callHost } from "./error.js";
import { parse, stringify } from "./json.js";
import { maybeTtl, needExact } from "./numbers.js";
import { needText } from "./text.js";

const keyOf = (key) => needText(key, "the key of the cache");

/** A store of JSON values that outlives the call. */
export const cache = {
  /** Returns a value, or undefined if there is none. */
  get(key) {
    const text = callHost("cache.get", host.get, keyOf(key));
    return text == null ? undefined : parse(text);
  },

  /** Stores a value, for so many milliseconds if a number is given. */
  set(key, value, ttlMs) {
    callHost("cache.set", host.set, keyOf(key), stringify(value), maybeTtl(ttlMs));
  },

  /** Returns whether there is a value. */
  has(key) {
    return callHost("cache.has", host.has, keyOf(key));
  },

  /** Removes a value and returns whether there was one. */
  delete(key) {
    return callHost("cache.delete", host.delete, keyOf(key));
  },

  /** Adds to an integer, which starts at 0, in one step, and returns the sum. */
  increment(key, by = 1, ttlMs) {
    const delta = needExact(by, "cache.increment(key, by)");
    return Number(callHost("cache.increment", host.increment, keyOf(key), delta, maybeTtl(ttlMs)));
  },

  /** Stores a value in one step if the stored one is as expected; undefined expects none. */
  compareAndSet(key, expected, value, ttlMs) {
    const before = expected === undefined ? undefined : stringify(expected);
    const args = [keyOf(key), before, stringify(value), maybeTtl(ttlMs)];
    return callHost("cache.compareAndSet", host.compareAndSet, ...args);
  },
};
