import { needCall } from "./phase.js";

/** What the host refused or could not do. `kind` is the contract's word for it. */
export class HookboxError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = "HookboxError";
    this.kind = kind;
  }
}

/** Calls a function of the host and turns the contract's errors into `HookboxError`. */
export function callHost(what, call, ...args) {
  needCall(what);
  try {
    return call(...args);
  } catch (thrown) {
    const error = thrown?.payload;
    if (typeof error?.tag !== "string") throw thrown;
    throw new HookboxError(error.tag, `${what}: ${error.val ?? error.tag}`);
  }
}
