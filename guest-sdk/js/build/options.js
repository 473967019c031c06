import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { Problem } from "./problem.js";

const ENTRIES = ["src/hook.ts", "src/hook.js"];
const GOALS = ["speed", "size"];

const DECLARED = {
  project: { type: "string", default: "." },
  entry: { type: "string" },
  wit: { type: "string" },
  world: { type: "string" },
  grants: { type: "string", default: "" },
  out: { type: "string" },
  engine: { type: "string", default: "quickjs" },
  optimize: { type: "string", default: "speed" },
};

/** Reads the command line. */
export function optionsOf(args, engines) {
  const { values } = parseArgs({ args, options: DECLARED });
  for (const name of ["wit", "world", "out"]) {
    if (values[name] === undefined) throw new Problem(`--${name} is missing`);
  }
  if (!engines.includes(values.engine)) {
    throw new Problem(`there is no engine "${values.engine}"; there are ${engines.join(" and ")}`);
  }
  if (!GOALS.includes(values.optimize)) {
    throw new Problem(`--optimize is ${GOALS.join(" or ")}, not "${values.optimize}"`);
  }
  const project = resolve(values.project);
  return {
    project,
    scratch: join(project, ".hookbox", "build"),
    entry: entryOf(project, values.entry),
    wit: resolve(values.wit),
    world: values.world,
    grants: values.grants.split(",").filter(Boolean),
    out: resolve(values.out),
    engine: values.engine,
    optimize: values.optimize,
  };
}

function entryOf(project, given) {
  const candidates = given === undefined ? ENTRIES : [given];
  const found = candidates.map((name) => join(project, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Problem(`the hook's source is missing: there is no ${candidates.join(" and no ")}`);
}
