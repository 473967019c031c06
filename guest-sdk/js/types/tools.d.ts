import type { Json } from "./json.js";

/**
 * Calls a tool of the agent's and returns its result. The call passes `tool.pre`
 * and `tool.post` like any call of the model's. Needs a grant: `grant: tools: [lookup]`.
 *
 * Throws a `HookboxError` of the kind "not-granted", "blocked", "unknown-tool" or "failed".
 */
export function call(name: string, args?: Json | object): any;
