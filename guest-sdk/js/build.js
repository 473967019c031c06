// Builds a hook written in JavaScript or TypeScript. `hookbox build` runs this
// file in the hook's folder; nothing of it ends up in the component.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { bundle } from "./build/bundle.js";
import { optionsOf } from "./build/options.js";
import { Problem } from "./build/problem.js";
import { quickjs } from "./build/quickjs.js";
import { spidermonkey } from "./build/spidermonkey.js";

const ENGINES = { quickjs, spidermonkey };

async function main() {
  const options = optionsOf(process.argv.slice(2), Object.keys(ENGINES));
  const source = await bundle(options, join(options.scratch, "hook.js"));
  const component = await ENGINES[options.engine](options, source);
  await writeFile(options.out, component);
}

try {
  await main();
} catch (error) {
  // A problem is the author's to solve; anything else is ours, and needs its stack.
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
}
