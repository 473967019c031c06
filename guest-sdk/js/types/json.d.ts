/** A JSON value. Integers that a number cannot hold are BigInts. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [key: string]: Json;
}

/**
 * Reads JSON. Integers that a number cannot hold become BigInts; all other
 * numbers are doubles, so `1.0` is read as 1 and `1e400` as Infinity.
 */
export function parse(text: string): any;

/**
 * Writes JSON, with BigInts as their digits. Throws a TypeError for what JSON
 * has no word for: undefined, a function, NaN, Infinity, a circle. Half a
 * surrogate pair becomes U+FFFD.
 */
export function stringify(value: unknown): string;
