import { refuse } from "./error.js";

const values = new Map();
export const ttls = new Map();

export function get(key) {
  return values.get(key) ?? null;
}

export function set(key, value, ttlMs) {
  if (value.length > 1000) refuse("quota", "the value is too large");
  values.set(key, value);
  ttls.set(key, ttlMs);
}

export function has(key) {
  return values.has(key);
}

function remove(key) {
  return values.delete(key);
}
export { remove as delete };

export function increment(key, delta, ttlMs) {
  const before = values.get(key) ?? "0";
  if (!/^-?\d+$/.test(before)) refuse("wrong-type", "not an integer");
  const sum = BigInt(before) + BigInt(delta);
  set(key, String(sum), ttlMs);
  return sum;
}

export function compareAndSet(key, expected, value, ttlMs) {
  if ((values.get(key) ?? undefined) !== (expected ?? undefined)) return false;
  set(key, value, ttlMs);
  return true;
}
