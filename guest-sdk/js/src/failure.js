import { needText } from "./text.js";

const UNREADABLE = "the hook threw a value that has no text";
const CAUSES = 8;

/**
 * Turns whatever was thrown into the contract's failure. Anything can be
 * thrown, also objects whose every property throws, so nothing here may rely
 * on what it is given.
 */
export function failureOf(thrown) {
  return { message: messageOf(thrown), stack: stackOf(thrown) };
}

function messageOf(thrown) {
  try {
    if (thrown instanceof Error) return needText(`${thrown.name}: ${thrown.message}`, "message");
    if (typeof thrown === "object" && thrown !== null) {
      const text = typeof thrown.message === "string" ? thrown.message : JSON.stringify(thrown);
      return needText(text, "message");
    }
    return needText(String(thrown), "message");
  } catch {
    return UNREADABLE;
  }
}

function stackOf(thrown) {
  try {
    const parts = [];
    for (let error = thrown; error instanceof Error && parts.length < CAUSES; error = error.cause) {
      const stack = String(error.stack ?? "").trimEnd();
      parts.push(parts.length === 0 ? stack : `caused by ${messageOf(error)}\n${stack}`);
    }
    const text = parts.join("\n");
    return text === "" ? undefined : needText(text, "stack");
  } catch {
    return undefined;
  }
}
