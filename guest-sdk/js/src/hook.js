import { Decision, allow, ask, block, modify } from "./decision.js";
import { takeEffects } from "./effects.js";
import { failureOf } from "./failure.js";
import { parse } from "./json.js";
import { enterCall } from "./phase.js";

const EXPECTED = "return allow(), block(reason), modify(payload) or ask(message)";
const NOT_ASYNC =
  "the hook function is async, but hookbox waits for no promise; " +
  "remove `async` and `await`: every function of the SDK returns its result directly";
const MAKERS = new Map([
  [allow, "allow()"],
  [block, "block(reason)"],
  [modify, "modify(payload)"],
  [ask, "ask(message)"],
]);

/** Turns a function that decides about an event into what a component exports. */
export function hook(decide) {
  if (typeof decide !== "function") {
    throw new TypeError(`hook(decide) needs the function that decides, got ${typeof decide}`);
  }
  // This runs when the component is built, so the author hears of it before any event does.
  if (Object.prototype.toString.call(decide) === "[object AsyncFunction]") {
    throw new TypeError(NOT_ASYNC);
  }
  return {
    handle(raw) {
      try {
        enterCall();
        const decision = decided(decide(eventOf(raw)));
        return { decision, effects: takeEffects() };
      } catch (thrown) {
        // Both engines take the own property `payload` of what is thrown for
        // the error of the contract; a bare Error would be a trap.
        throw { payload: failureOf(thrown) };
      }
    },
  };
}

function eventOf(raw) {
  return {
    name: raw.name,
    payload: parse(raw.payload),
    id: raw.id,
    // One engine writes an absent option as null, the other as undefined.
    subject: raw.subject ?? undefined,
    hook: raw.hook,
    depth: raw.depth,
  };
}

function decided(result) {
  if (result instanceof Decision) return result;
  if (typeof result?.then === "function") throw new TypeError(NOT_ASYNC);
  throw new TypeError(`the hook returned no decision: it returned ${described(result)}; ${EXPECTED}`);
}

function described(result) {
  if (result === undefined) return "nothing";
  if (result === null) return "null";
  if (typeof result !== "function") return `a value of type ${typeof result}`;
  const maker = MAKERS.get(result);
  return maker ? `the function ${result.name} itself: call it, ${maker}` : "a function";
}
