// QuickJS takes 64-bit integers as numbers only and reads 32 bits with a sign;
// SpiderMonkey gives 64-bit integers as BigInts. Numbers within these bounds
// pass through both as they are.
const MOST_32 = 0x7fff_ffff;

/** Returns an integer within bounds, whether it came as a number or a BigInt. */
export function needInteger(value, min, max, what) {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (Number.isSafeInteger(number) && number >= min && number <= max) return number;
  throw new RangeError(`${what} must be an integer from ${min} to ${max}, not ${String(value)}`);
}

/** Returns an integer that a number holds exactly. */
export function needExact(value, what) {
  return needInteger(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, what);
}

/** Returns an optional count of turns or milliseconds that the contract holds in 32 bits. */
export function maybe32(value, what) {
  return value == null ? undefined : needInteger(value, 0, MOST_32, what);
}

/** Returns an optional number of milliseconds that the contract holds in 64 bits. */
export function maybeTtl(ttlMs) {
  return ttlMs == null ? undefined : needInteger(ttlMs, 0, Number.MAX_SAFE_INTEGER, "ttlMs");
}
