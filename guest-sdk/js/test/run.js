// Runs the tests. Node has had `JSON.rawJSON` and the source text of parsed
// values since version 21; version 20 has them behind a flag.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const flags = JSON.rawJSON === undefined ? ["--harmony-json-parse-with-source"] : [];
const host = pathToFileURL(join(folder, "host", "register.js")).href;
const files = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
const args = [...flags, "--import", host, "--test", ...files.map((name) => join(folder, name))];

process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
