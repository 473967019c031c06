/** The contract's words for what can go wrong. */
export type ErrorKind =
  | "not-granted"
  | "quota"
  | "wrong-type"
  | "unavailable"
  | "invalid-request"
  | "timeout"
  | "too-large"
  | "failed"
  | "blocked"
  | "refused"
  | "unknown-tool"
  | "not-found";

/** What the host refused or could not do. */
export class HookboxError extends Error {
  constructor(kind: ErrorKind, message: string);
  readonly name: "HookboxError";
  /** The contract's word for it. */
  readonly kind: ErrorKind;
}
