const INTEGER = /^-?\d+$/;
// Deeper values, and those that contain themselves, are left to the engine.
const DEEPEST = 64;

/**
 * Reads JSON. Integers that a number cannot hold become BigInts; all other
 * numbers are doubles, as everywhere in JavaScript.
 */
export function parse(text) {
  const value = JSON.parse(text);
  // A function for every value costs many times the fuel of reading it, and
  // long integers are rare.
  return isRounded(value) ? JSON.parse(text, exactly) : value;
}

/**
 * Writes JSON, with BigInts as their digits. Throws a TypeError for a value
 * that JSON has no word for: undefined, a function, NaN, Infinity, a circle.
 */
export function stringify(value) {
  const text = isPlain(value, 0) ? JSON.stringify(value) : JSON.stringify(value, carefully);
  if (text === undefined) throw new TypeError(`a value of type ${typeof value} has no JSON`);
  return text;
}

function exactly(key, value, { source }) {
  return typeof value === "number" && isRounded(value) && INTEGER.test(source) ? BigInt(source) : value;
}

// The engine has no word for BigInts, turns NaN and Infinity into null, -0 into
// 0, and halves of surrogate pairs into escapes that the host does not read.
function carefully(key, value) {
  switch (typeof value) {
    case "bigint":
      return JSON.rawJSON(String(value));
    case "string":
      return value.toWellFormed();
    case "number":
      if (isMinusZero(value)) return JSON.rawJSON("-0");
      if (Number.isFinite(value)) return value;
      throw new TypeError(`${value}${key === "" ? "" : ` under "${key}"`} is not a JSON number`);
    default:
      return value;
  }
}

/** Returns whether a value, as the engine parsed it, may have lost digits of an integer. */
function isRounded(value) {
  if (typeof value === "number") {
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;
  }
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(isRounded);
  for (const key in value) {
    if (isRounded(value[key])) return true;
  }
  return false;
}

/** Returns whether the engine writes a value without help as it should. */
function isPlain(value, depth) {
  switch (typeof value) {
    case "bigint":
      return false;
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value) && !isMinusZero(value);
    case "object":
      return value === null || (depth < DEEPEST && isPlainNested(value, depth + 1));
    default:
      return true;
  }
}

function isPlainNested(value, depth) {
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth));
  if (typeof value.toJSON === "function") return false;
  for (const key in value) {
    if (!isPlain(value[key], depth)) return false;
  }
  return true;
}

function isMinusZero(value) {
  return value === 0 && 1 / value < 0;
}
