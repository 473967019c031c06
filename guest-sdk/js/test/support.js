import { allow, hook } from "../src/index.js";

/** Calls a hook the way the host does and returns its answer. */
export function answerOf(decide, payload = "{}", rest = {}) {
  const event = { name: "tool.pre", payload, id: "call-1", subject: null, hook: "test", depth: 0, ...rest };
  return hook(decide).handle(event);
}

/** Calls a hook that fails and returns the contract's failure. */
export function failureOf(decide, payload) {
  try {
    answerOf(decide, payload);
  } catch (thrown) {
    return thrown.payload;
  }
  throw new Error("the hook did not fail");
}

/** Runs code inside a hook, where the host answers, and returns what it returns. */
export function inHook(work) {
  let result;
  answerOf(() => {
    result = work();
    return allow();
  });
  return result;
}
