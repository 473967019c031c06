import "./globals.js";

export { hook } from "./hook.js";
export { allow, ask, block, modify } from "./decision.js";
export { context, reminder } from "./effects.js";
export { HookboxError } from "./error.js";
export { log } from "./log.js";
export { metrics } from "./metrics.js";
export { cache } from "./cache.js";
export { events } from "./events.js";
export { clock } from "./clock.js";
export { random } from "./random.js";
export { parse, stringify } from "./json.js";
