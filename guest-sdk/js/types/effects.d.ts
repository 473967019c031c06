/** Where a text for the model is put. */
export type Placement = "system-reminder" | "system-message" | "prepend-to-prompt" | "append-to-output";

/** How a reminder behaves. */
export interface ReminderOptions {
  /** Words to find it by; none if left out. */
  tags?: Iterable<string>;
  /** A newer reminder with the same key takes the older one's place. */
  dedupeKey?: string;
  /** For how many turns it stays; until the end if left out. */
  ttlTurns?: number;
  /** Whether it outlives a compaction of the conversation; false if left out. */
  preserveOnCompact?: boolean;
  /** How far it travels; "session" if left out. */
  propagate?: "all" | "session" | "none";
  /** In whose voice it is spoken; "system" if left out. */
  roleHint?: "system" | "developer" | "user-block" | "ephemeral-cache";
}

/** Queues a text for the model. It goes out with the answer, in the order of the calls. */
export function context(text: string, placement?: Placement): void;

/** Queues a text for the model that stays for some turns. */
export function reminder(body: string, options?: ReminderOptions): void;
