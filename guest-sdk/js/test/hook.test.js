import assert from "node:assert/strict";
import { test } from "node:test";

import { lines } from "hookbox:hook/log@1.1.0";

import { allow, ask, block, context, hook, HookboxError, log, modify, reminder } from "../src/index.js";
import { answerOf, failureOf } from "./support.js";

const DECISIONS = [
  [() => allow(), { tag: "allow", val: undefined }],
  [() => block("no"), { tag: "block", val: "no" }],
  [() => ask("sure?"), { tag: "ask", val: "sure?" }],
  [() => modify({ a: 1n }), { tag: "modify", val: '{"a":1}' }],
  [() => modify([]), { tag: "modify", val: "[]" }],
];

for (const [decide, expected] of DECISIONS) {
  test(`answers ${expected.tag} with ${expected.val}`, () => {
    const { decision, effects } = answerOf(decide);
    assert.deepEqual({ ...decision }, expected);
    assert.deepEqual(effects, []);
  });
}

test("the event has its payload parsed and its subject normalised", () => {
  answerOf(
    (event) => {
      assert.deepEqual(event, {
        name: "tool.pre",
        payload: { n: 12345678901234567890n },
        id: "call-1",
        subject: "run_command",
        hook: "test",
        depth: 2,
      });
      return allow();
    },
    '{"n":12345678901234567890}',
    { subject: "run_command", depth: 2 },
  );
  answerOf((event) => {
    assert.equal(event.subject, undefined);
    assert.equal(event.payload, null);
    return allow();
  }, "null");
});

const NO_DECISIONS = [
  [() => {}, /returned no decision: it returned nothing; return allow\(\)/],
  [() => null, /it returned null/],
  [() => true, /it returned a value of type boolean/],
  [() => ({ tag: "allow" }), /it returned a value of type object/],
  [() => allow, /it returned the function allow itself: call it, allow\(\)/],
  [() => () => allow(), /it returned a function/],
  [() => Promise.resolve(allow()), /waits for no promise/],
];

for (const [decide, message] of NO_DECISIONS) {
  test(`is a failure and no allow: ${decide}`, () => {
    assert.match(failureOf(decide).message, message);
  });
}

test("an async function is refused when the hook is built", () => {
  assert.throws(() => hook(async () => allow()), /remove `async` and `await`/);
});

test("something that is no function is refused when the hook is built", () => {
  assert.throws(() => hook(allow()), /needs the function that decides, got object/);
});

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("no");
    },
  },
);
const THROWN = [
  [new TypeError("bad"), "TypeError: bad"],
  [new HookboxError("quota", "full"), "HookboxError: full"],
  ["text", "text"],
  [undefined, "undefined"],
  [null, "null"],
  [5, "5"],
  [Symbol("s"), "Symbol(s)"],
  [{ message: "told" }, "told"],
  [{ code: 7 }, '{"code":7}'],
  [hostile, "the hook threw a value that has no text"],
  [Object.create(null), "{}"],
  [() => 1, "() => 1"],
  [new Error("half \ud83d"), "Error: half \ufffd"],
];

for (const [thrown, message] of THROWN) {
  test(`a thrown value becomes a failure: ${message}`, () => {
    const failure = failureOf(() => {
      throw thrown;
    });
    assert.equal(failure.message, message);
  });
}

test("a failure carries the stack, and those of its causes", () => {
  const failure = failureOf(() => {
    throw new Error("outer", { cause: new TypeError("inner") });
  });
  assert.match(failure.stack, /hook\.test\.js/);
  assert.match(failure.stack, /caused by TypeError: inner/);
});

test("causes in a circle come to an end", () => {
  const error = new Error("round");
  error.cause = error;
  assert.ok(
    failureOf(() => {
      throw error;
    }).stack.length > 0,
  );
});

test("a failed call leaves nothing for the host to trip over", () => {
  const failure = failureOf(() => {
    throw "no stack";
  });
  assert.deepEqual(failure, { message: "no stack", stack: undefined });
});

for (const make of [block, ask]) {
  for (const value of [undefined, null, 5, {}]) {
    test(`${make.name} does not take ${JSON.stringify(value)} for a text`, () => {
      assert.match(failureOf(() => make(value)).message, /needs a string/);
    });
  }
}

test("modify without a payload is a failure", () => {
  assert.match(failureOf(() => modify()).message, /has no JSON/);
});

test("effects go out in the order of the calls, with the decision", () => {
  const { decision, effects } = answerOf(() => {
    context("first");
    reminder("second");
    context("third", "append-to-output");
    return block("no");
  });
  assert.equal(decision.tag, "block");
  assert.deepEqual(effects, [
    { tag: "context", val: { text: "first", placement: "system-reminder" } },
    {
      tag: "reminder",
      val: {
        body: "second",
        tags: [],
        dedupeKey: undefined,
        ttlTurns: undefined,
        preserveOnCompact: false,
        propagate: "session",
        roleHint: "system",
      },
    },
    { tag: "context", val: { text: "third", placement: "append-to-output" } },
  ]);
});

test("a reminder takes all of its options", () => {
  const options = {
    tags: new Set(["a", "b"]),
    dedupeKey: "k",
    ttlTurns: 3,
    preserveOnCompact: true,
    propagate: "all",
    roleHint: "developer",
  };
  const { effects } = answerOf(() => {
    reminder("body", options);
    return allow();
  });
  assert.deepEqual(effects[0].val, { body: "body", ...options, tags: ["a", "b"] });
});

const WRONG_EFFECTS = [
  [() => context(5), /context\(text\) needs a string, got number/],
  [() => context("x", "somewhere"), /must be one of system-reminder/],
  [() => reminder("x", { ttl_turns: 3 }), /must be one of tags, dedupeKey/],
  [() => reminder("x", { ttlTurns: -1 }), /must be an integer from 0/],
  [() => reminder("x", { ttlTurns: 2 ** 31 }), /must be an integer from 0/],
  [() => reminder("x", { tags: [1] }), /needs a string/],
  [() => reminder("x", { propagate: "far" }), /must be one of session/],
  [() => reminder("x", { roleHint: "god" }), /must be one of system/],
];

for (const [effect, message] of WRONG_EFFECTS) {
  test(`a wrong effect is an error that can be read: ${effect}`, () => {
    assert.match(failureOf(effect).message, message);
  });
}

test("log lines show what they are given and never fail", () => {
  const circle = {};
  circle.self = circle;
  lines.length = 0;
  answerOf(() => {
    log.debug("a", 1, { b: 2n });
    log.info();
    log.warn(new TypeError("t"), undefined, Symbol("s"));
    log.error("half \ud83d", circle);
    return allow();
  });
  assert.deepEqual(lines, [
    ["debug", 'a 1 {"b":2}'],
    ["info", ""],
    ["warn", "TypeError: t undefined Symbol(s)"],
    ["error", "half \ufffd [object Object]"],
  ]);
});
