// A module's top level runs once, when the component is built, and its memory
// is the start of every call. The host answers during a call only.
let called = false;

/** Says that a call has begun; an instance serves one call. */
export function enterCall() {
  called = true;
}

/** Returns whether a call is under way. */
export function inCall() {
  return called;
}

/** Refuses what makes no sense while the component is built. */
export function needCall(what) {
  if (called) return;
  throw new Error(
    `${what} was called at the top level of a module, which runs when the hook is built; ` +
      "call it inside the hook function",
  );
}
