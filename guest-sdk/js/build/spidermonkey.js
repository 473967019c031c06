import { load } from "./packages.js";
import { Problem } from "./problem.js";

// The first needs the second, in this version, and does not say so.
const PACKAGES = ["@bytecodealliance/componentize-js@0.23.0", "@bytecodealliance/preview2-shim@0.25.0"];
const ADVICE = `npm install --save-dev --save-exact ${PACKAGES.join(" ")}`;

/** Returns the component with SpiderMonkey inside. */
export async function spidermonkey(options, source) {
  const { componentize } = await load(options, "@bytecodealliance/componentize-js", ADVICE);
  try {
    const { component } = await componentize({
      sourcePath: source.path,
      witPath: options.wit,
      worldName: options.world,
      // Both would import interfaces that no hook is given.
      disableFeatures: ["http", "fetch-event"],
    });
    return component;
  } catch (error) {
    throw new Problem(`SpiderMonkey cannot run the hook: ${error.message}`);
  }
}
