// What hooks and the packages they use expect of any JavaScript engine, and
// QuickJS does not bring along. Whatever the engine has stays as it is.
import { console } from "./globals/console.js";
import { TextDecoder, TextEncoder } from "./globals/text.js";

for (const [name, value] of Object.entries({ console, TextDecoder, TextEncoder })) {
  if (globalThis[name] === undefined) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}
