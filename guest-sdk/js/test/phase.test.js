import assert from "node:assert/strict";
import { test } from "node:test";

import { lines } from "hookbox:hook/log@1.1.0";

import { console as own } from "../src/globals/console.js";
import { cache, clock, context, log, metrics, reminder } from "../src/index.js";
import { inHook } from "./support.js";

const AT_TOP_LEVEL = [
  () => log.info("x"),
  () => metrics.incr("x"),
  () => cache.get("x"),
  () => clock.now(),
  () => context("x"),
  () => reminder("x"),
];

// The order matters: the first call of a hook in this process ends the build phase.
test("while a hook is built the host is out of reach, and the error says so", () => {
  for (const call of AT_TOP_LEVEL) {
    assert.throws(call, /runs when the hook is built; call it inside the hook function/);
  }
  own.log("a package greets");
  assert.deepEqual(lines, []);
});

test("during a call the console writes to the log", () => {
  inHook(() => {
    own.debug("d");
    own.log("l", { n: 1 });
    own.info("i");
    own.warn("w");
    own.error("e");
  });
  assert.deepEqual(lines, [
    ["debug", "d"],
    ["info", 'l {"n":1}'],
    ["info", "i"],
    ["warn", "w"],
    ["error", "e"],
  ]);
});

test("globals that the engine has stay as they are", () => {
  assert.notEqual(globalThis.console, own);
});
