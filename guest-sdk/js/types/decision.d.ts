import type { Json } from "./json.js";

declare const brand: unique symbol;

/** What the hook rules. Only `allow`, `block`, `modify` and `ask` make one. */
export interface Decision {
  readonly [brand]: true;
}

/** Lets it pass, unchanged. */
export function allow(): Decision;

/** Refuses it. The agent reads the reason; later hooks do not run. */
export function block(reason: string): Decision;

/**
 * Lets it pass with another payload, which later hooks and the operation itself
 * see. An object is laid over the current payload key by key, so it need only
 * hold what changes.
 */
export function modify(payload: Json | object): Decision;

/** Lets a person decide. The message is the question. */
export function ask(message: string): Decision;
