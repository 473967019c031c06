import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { relative } from "node:path";

import { checkGrants } from "./grants.js";
import { load } from "./packages.js";
import { Problem } from "./problem.js";

const NOT_THERE =
  "is not there: a hook runs in a sandbox without Node; see hookbox/files, hookbox/http and hookbox/env";

/** Puts the hook and all it imports into one file and returns where that is. */
export async function bundle(options, outfile) {
  const esbuild = await load(options, "esbuild", "npm install");
  const { errors, warnings, metafile } = await run(esbuild, options, outfile);
  if (errors.length > 0) throw new Problem(await shown(esbuild, errors, "error"));
  if (warnings.length > 0) console.error(await shown(esbuild, warnings, "warning"));

  const { imports, exports } = Object.values(metafile.outputs).find((output) => output.entryPoint);
  checkExport(options, exports);
  checkGrants(options, imports, metafile.inputs);
  return { path: outfile, text: await readFile(outfile, "utf8") };
}

async function shown(esbuild, messages, kind) {
  const texts = await esbuild.formatMessages(messages, { kind });
  return texts.join("").trim();
}

function run(esbuild, options, outfile) {
  return esbuild
    .build({
      entryPoints: [options.entry],
      outfile,
      absWorkingDir: options.project,
      bundle: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      target: "es2023",
      // The toolchain binds these; there is no file behind them.
      external: ["hookbox:*"],
      plugins: [refuseNode],
      // Names stay as written, so that a stack trace can be read.
      minify: false,
      charset: "utf8",
      metafile: true,
      logLevel: "silent",
    })
    .catch((failure) => {
      if (Array.isArray(failure.errors)) return failure;
      throw failure;
    })
    .then(({ errors, warnings, metafile }) => ({ errors, warnings, metafile }));
}

const TRIED = Symbol("tried");

// A package may stand in for a module of Node's, as `buffer` does. Without one there is nothing to bundle.
const refuseNode = {
  name: "refuse-node",
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, async ({ path, pluginData, ...args }) => {
      if (!isBuiltin(path) || pluginData === TRIED) return undefined;
      const { importer, kind, resolveDir } = args;
      const found = await build.resolve(path, { importer, kind, resolveDir, pluginData: TRIED });
      return found.errors.length === 0 ? found : { errors: [{ text: `${path} ${NOT_THERE}` }] };
    });
  },
};

// Without this the component would be built, and every call of it would be a trap.
function checkExport(options, exports) {
  if (exports.includes("handler")) return;
  const file = relative(options.project, options.entry);
  throw new Problem(`${file} exports no handler; write \`export const handler = hook((event) => allow());\``);
}
