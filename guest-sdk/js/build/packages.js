import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Problem } from "./problem.js";

/**
 * Loads a package of the hook's. Node looks for packages from the file that
 * imports them, and this one lies outside of the project.
 */
export async function load(options, name, advice) {
  const file = join(options.scratch, `${name.replaceAll("/", "-")}.mjs`);
  await mkdir(options.scratch, { recursive: true });
  await writeFile(file, `export * as loaded from ${JSON.stringify(name)};\n`);
  try {
    const { loaded } = await import(pathToFileURL(file).href);
    return { ...loaded.default, ...loaded };
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Problem(
      `the package ${name} is not installed, or not all of it; run \`${advice}\` in ${options.project}`,
    );
  }
}
