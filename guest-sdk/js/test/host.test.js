import assert from "node:assert/strict";
import { test } from "node:test";

import { ttls } from "hookbox:hook/cache@1.1.0";
import { requests } from "hookbox:hook/http@1.1.0";

import * as env from "../src/env.js";
import * as files from "../src/files.js";
import * as hooks from "../src/hooks.js";
import * as http from "../src/http.js";
import { cache, clock, events, HookboxError, metrics, random } from "../src/index.js";
import * as tools from "../src/tools.js";
import { inHook } from "./support.js";

test("counters and gauges are numbers, whatever the engine hands out", () => {
  inHook(() => {
    assert.equal(metrics.incr("count"), 1);
    assert.equal(metrics.incr("count", 2n), 3);
    metrics.set("gauge", 2.5);
    metrics.set("whole", 7);
    assert.equal(metrics.get("gauge"), 2.5);
    assert.equal(metrics.get("whole"), 7);
    assert.equal(metrics.get("none"), undefined);
    assert.deepEqual(
      [...metrics.snapshot()],
      [
        ["count", 3],
        ["gauge", 2.5],
        ["whole", 7],
      ],
    );
  });
});

const WRONG_METRICS = [
  () => metrics.incr("n", 1.5),
  () => metrics.incr("n", "1"),
  () => metrics.incr("n", 2n ** 60n),
  () => metrics.incr(5),
  () => metrics.set("n", NaN),
  () => metrics.set("n", "7"),
  () => metrics.set("n", 2n ** 60n),
];

for (const wrong of WRONG_METRICS) {
  test(`a wrong number is an error and no trap: ${wrong}`, () => {
    assert.throws(
      () => inHook(wrong),
      (thrown) => /must be|needs a/.test(thrown.payload.message),
    );
  });
}

test("the cache keeps JSON values", () => {
  inHook(() => {
    assert.equal(cache.get("k"), undefined);
    cache.set("k", { big: 12345678901234567890n });
    assert.deepEqual(cache.get("k"), { big: 12345678901234567890n });
    cache.set("k", null);
    assert.equal(cache.get("k"), null);
    assert.equal(cache.has("k"), true);
    assert.equal(cache.delete("k"), true);
    assert.equal(cache.delete("k"), false);
    assert.equal(cache.has("k"), false);
    assert.equal(cache.increment("n"), 1);
    assert.equal(cache.increment("n", 4), 5);
    assert.equal(cache.compareAndSet("c", undefined, null), true);
    assert.equal(cache.compareAndSet("c", undefined, 2), false);
    assert.equal(cache.compareAndSet("c", null, 2), true);
    assert.equal(cache.get("c"), 2);
  });
});

test("times to live reach the host in milliseconds", () => {
  inHook(() => {
    cache.set("t", 1, 60_000);
    assert.equal(ttls.get("t"), 60_000);
    cache.set("t", 1);
    assert.equal(ttls.get("t"), undefined);
    assert.throws(() => cache.set("t", 1, -1), RangeError);
    assert.throws(() => cache.set("t", 1, 1.5), RangeError);
  });
});

const REFUSED = [
  [() => cache.set("big", "x".repeat(2000)), "quota", "cache.set: the value is too large"],
  [() => (cache.set("w", "text"), cache.increment("w")), "wrong-type", "cache.increment: not an integer"],
  [() => events.emit("tool.pre"), "refused", "events.emit: tool.pre is not a custom event"],
  [() => http.get("https://forbidden.example/"), "not-granted", "http.send: no rule covers it"],
  [() => tools.call("none"), "unknown-tool", "tools.call: there is no tool none"],
  [() => env.get("HOME"), "not-granted", "env.get: HOME is not granted"],
  [() => files.read("none"), "not-found", "files.read: there is no none"],
];

for (const [call, kind, message] of REFUSED) {
  test(`an error of the contract has a kind: ${message}`, () => {
    inHook(() => {
      assert.throws(call, (error) => {
        assert.ok(error instanceof HookboxError);
        assert.deepEqual([error.name, error.kind, error.message], ["HookboxError", kind, message]);
        return true;
      });
    });
  });
}

test("what comes back from the host is plain data", () => {
  inHook(() => {
    assert.deepEqual(events.emit("custom.x", { n: 1n }), { n: 1 });
    assert.equal(events.emit("custom.x"), null);
    assert.equal(clock.now(), 946_684_800_000);
    assert.deepEqual([...random.bytes(2)], [7, 7]);
    assert.deepEqual(tools.call("lookup", { q: "x" }), { args: { q: "x" } });
    assert.deepEqual(tools.call("lookup"), { args: {} });
    assert.equal(env.get("CI"), "true");
    assert.equal(env.get("UNSET"), undefined);
    assert.equal(files.readText("docs/a.txt"), "grüß\n");
    assert.equal(files.read("docs/a.txt").length, 7);
    assert.deepEqual(files.list("docs"), ["a.txt", "sub/"]);
    assert.equal(hooks.source("guard"), "event: tool.pre");
    assert.equal(hooks.source("nobody"), undefined);
    assert.deepEqual(hooks.list(), [
      {
        name: "guard",
        event: "tool.pre",
        priority: 20,
        explicitPriority: true,
        when: undefined,
        handler: "component",
        file: "guard.md",
      },
    ]);
  });
});

test("more random bytes than the host gives are an error and no trap", () => {
  inHook(() => {
    for (const count of [65_537, -1, 1.5, "8"]) {
      assert.throws(() => random.bytes(count), RangeError);
    }
  });
});

const REQUESTS = [
  [() => http.get("https://a.example/"), { method: "GET", headers: [], body: undefined }],
  [() => http.post("https://a.example/"), { method: "POST", headers: [], body: undefined }],
  [() => http.post("https://a.example/", "ü"), { method: "POST", headers: [], body: "ü" }],
  [
    () => http.post("https://a.example/", { n: 1n }),
    { method: "POST", headers: [["content-type", "application/json"]], body: '{"n":1}' },
  ],
  [
    () => http.post("https://a.example/", [1], { headers: { "Content-Type": "text/x" }, timeoutMs: 5 }),
    { method: "POST", headers: [["Content-Type", "text/x"]], body: "[1]", timeoutMs: 5 },
  ],
  [
    () =>
      http.send({
        method: "PUT",
        url: "https://a.example/",
        headers: [
          ["a", "1"],
          ["a", "2"],
        ],
        body: new Uint8Array([65]),
      }),
    {
      method: "PUT",
      headers: [
        ["a", "1"],
        ["a", "2"],
      ],
      body: "A",
    },
  ],
  [
    () => http.send({ url: "https://a.example/", body: new Uint8Array([66]).buffer }),
    { method: "GET", headers: [], body: "B" },
  ],
];

for (const [send, expected] of REQUESTS) {
  test(`a request in the shape of the contract: ${send}`, () => {
    inHook(send);
    const { body, ...request } = requests.at(-1);
    assert.deepEqual(
      { ...request, body: body && new TextDecoder().decode(body) },
      { url: "https://a.example/", timeoutMs: undefined, ...expected },
    );
  });
}

test("a response has its status, headers in any case, text and JSON", () => {
  const response = inHook(() => http.get("https://a.example/"));
  assert.equal(response.status, 200);
  assert.equal(response.ok, true);
  assert.equal(response.header("x-answer"), "42");
  assert.equal(response.header("x-none"), undefined);
  assert.equal(response.text(), '{"id":12345678901234567890,"name":"ü"}');
  assert.deepEqual(response.json(), { id: 12345678901234567890n, name: "ü" });
});
