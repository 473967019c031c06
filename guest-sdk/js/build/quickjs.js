import { dirname } from "node:path";

import { load } from "./packages.js";
import { Problem } from "./problem.js";

/** Returns the component with QuickJS inside. */
export async function quickjs(options, source) {
  const { componentize } = await load(options, "componentize-qjs", "npm install");
  try {
    const { component } = await componentize({
      witPath: options.wit,
      world: options.world,
      jsSource: source.text,
      jsPath: source.path,
      moduleRoot: dirname(source.path),
      // hookbox's engine has no asynchronous components.
      sync: true,
      // A third smaller and a quarter slower; it contains tail calls.
      optSize: options.optimize === "size",
    });
    return component;
  } catch (error) {
    throw new Problem(`QuickJS cannot run the hook: ${told(error.message)}`);
  }
}

// The tool puts a sentence for each of its own steps in front of the engine's words.
function told(message) {
  return message.replace(/^[\s:]*(?:Failed to [^:]*: )*/, "").trim();
}
