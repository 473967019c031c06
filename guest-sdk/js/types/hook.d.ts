import type { Decision } from "./decision.js";

/** A point in the agent's loop at which the hook is asked. */
export interface HookEvent<Payload = any> {
  /** The event's name, for example `tool.pre`. */
  readonly name: string;
  /**
   * What the event carries; its shape depends on the name. Integers that a
   * number cannot hold are BigInts.
   */
  readonly payload: Payload;
  /** Tells this event from every other one of the same run. For tool events it is the call's own id. */
  readonly id: string;
  /** What the event is about, for example the name of the tool. */
  readonly subject: string | undefined;
  /** The name this hook is registered under. */
  readonly hook: string;
  /** 0 for an event of the agent; one more for each `events.emit` or `tools.call` that it took to get here. */
  readonly depth: number;
}

/** What a component exports under the name `handler`. */
export interface Handler {
  handle(event: unknown): unknown;
}

/**
 * Turns a function that decides about an event into what a component exports:
 *
 *     export const handler = hook((event) => allow());
 *
 * What the function throws becomes a failure of the hook, which blocks where
 * an action waits for the answer. The function must not be async.
 */
export function hook<Payload = any>(decide: (event: HookEvent<Payload>) => Decision): Handler;
