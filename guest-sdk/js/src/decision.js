import { stringify } from "./json.js";
import { needText } from "./text.js";

/** What the hook rules, in the shape of the contract's variant. */
export class Decision {
  constructor(tag, val) {
    this.tag = tag;
    this.val = val;
  }
}

const ALLOW = new Decision("allow", undefined);

/** Lets it pass, unchanged. */
export function allow() {
  return ALLOW;
}

/** Refuses it; the agent reads the reason. */
export function block(reason) {
  return new Decision("block", needText(reason, "block(reason)"));
}

/** Lets it pass with another payload; an object is laid over the current one. */
export function modify(payload) {
  return new Decision("modify", stringify(payload));
}

/** Lets a person decide. */
export function ask(message) {
  return new Decision("ask", needText(message, "ask(message)"));
}
