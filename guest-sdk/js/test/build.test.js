import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { checkGrants } from "../build/grants.js";
import { optionsOf } from "../build/options.js";
import { load } from "../build/packages.js";
import { Problem } from "../build/problem.js";

const project = mkdtempSync(join(tmpdir(), "hookbox-"));
mkdirSync(join(project, "src"));
writeFileSync(join(project, "src", "hook.js"), "");
after(() => rmSync(project, { recursive: true }));

const needed = ["--project", project, "--wit", "wit", "--world", "built", "--out", "a.wasm"];
const read = (...args) => optionsOf([...needed, ...args], ["quickjs", "spidermonkey"]);

test("reads the command line", () => {
  const options = read("--grants", "http,files");
  assert.equal(options.entry, join(project, "src", "hook.js"));
  assert.equal(options.world, "built");
  assert.deepEqual(options.grants, ["http", "files"]);
  assert.deepEqual([options.engine, options.optimize], ["quickjs", "speed"]);
  assert.deepEqual(read().grants, []);
});

test("TypeScript comes first if there are both", () => {
  writeFileSync(join(project, "src", "hook.ts"), "");
  assert.equal(read().entry, join(project, "src", "hook.ts"));
  rmSync(join(project, "src", "hook.ts"));
});

const WRONG = [
  [["--engine", "v8"], /there is no engine "v8"; there are quickjs and spidermonkey/],
  [["--optimize", "luck"], /--optimize is speed or size, not "luck"/],
  [["--entry", "src/none.js"], /there is no src\/none\.js/],
];

for (const [args, message] of WRONG) {
  test(`says what is wrong with ${args.join(" ")}`, () => {
    assert.throws(() => read(...args), message);
  });
}

test("says which option is missing", () => {
  assert.throws(() => optionsOf(["--wit", "x", "--world", "y"], ["quickjs"]), /--out is missing/);
});

const imports = [{ path: "hookbox:hook/log@1.1.0" }, { path: "hookbox:hook/environment@1.1.0" }];
const inputs = {
  "src/hook.js": { imports: [{ original: "hookbox" }, { original: "hookbox/env" }] },
  "src/other.js": { imports: [] },
};

test("an import without its grant is refused, with the file and the line to add", () => {
  assert.throws(
    () => checkGrants({ grants: ["http"] }, imports, inputs),
    (error) => {
      assert.ok(error instanceof Problem);
      assert.match(error.message, /^src\/hook\.js imports "hookbox\/env"/);
      assert.match(error.message, /grant: \{ env: \[CI\] \}/);
      return true;
    },
  );
});

test("an import with its grant passes", () => {
  checkGrants({ grants: ["environment"] }, imports, inputs);
});

test("a package that is not installed is a problem with its solution", async () => {
  const options = { project, scratch: join(project, ".hookbox", "build") };
  await assert.rejects(load(options, "hookbox-no-such-package", "npm install"), /run `npm install` in/);
});
