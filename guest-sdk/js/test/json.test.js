import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, stringify } from "../src/json.js";

const UNCHANGED = [
  "null",
  "true",
  "0",
  "-0",
  "-1",
  "2.5",
  "1e+300",
  "5e-324",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "123456789012345678901234567890",
  "-123456789012345678901234567890",
  "[1,[2,[3,[]]],{}]",
  '{"z":1,"a":[12345678901234567890,1.5,"x"],"m":null}',
  '"\\u0000\\u001f\\"\\\\ü😀\u2028"',
  '{"__proto__":{"x":1},"constructor":2}',
  '{"__proto__":12345678901234567890}',
  '{"":""}',
];

for (const text of UNCHANGED) {
  test(`survives reading and writing: ${text}`, () => {
    assert.equal(stringify(parse(text)), text);
  });
}

test("integers are numbers as long as a number holds them", () => {
  assert.equal(parse("9007199254740991"), 9007199254740991);
  assert.equal(parse("9007199254740992"), 9007199254740992n);
  assert.equal(parse("-9007199254740992"), -9007199254740992n);
});

test("a long fraction is the nearest double", () => {
  assert.equal(parse("0.1000000000000000055511151231257827"), 0.1);
  assert.equal(parse("[12345678901234567890.5]")[0], 12345678901234567890.5);
});

test("a number beyond all doubles is read as Infinity and never written as null", () => {
  assert.deepEqual(parse('{"n":1e400}'), { n: Infinity });
  assert.throws(() => stringify(parse('{"n":1e400}')), /Infinity under "n" is not a JSON number/);
});

test("a key named __proto__ does not change what the object is", () => {
  for (const text of ['{"__proto__":{"admin":true}}', '{"__proto__":{"admin":12345678901234567890}}']) {
    const object = parse(text);
    assert.equal(object.admin, undefined);
    assert.equal(Object.getPrototypeOf(object), Object.prototype);
  }
});

for (const text of ["", "[1,]", "{a:1}", "01", "NaN", "[12345678901234567890", "12345678901234567890 1"]) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => parse(text), SyntaxError);
  });
}

const VALUES = [
  { a: undefined, b: () => 1, c: Symbol("x"), d: [undefined, () => 1] },
  { date: new Date(0) },
  [new Number(1), new String("s"), new Boolean(false)],
  new Map([["a", 1]]),
  { nested: { toJSON: (key) => `form of ${key}` } },
  [, 1],
  "text",
  [null, "\u2028", "\x7f"],
];

for (const value of VALUES) {
  test(`writes ${JSON.stringify(value)} as the engine does, also beside a BigInt`, () => {
    assert.equal(stringify(value), JSON.stringify(value));
    assert.equal(stringify([1n, value]), `[1,${JSON.stringify(value)}]`);
  });
}

const WORDLESS = [undefined, () => 1, Symbol("x"), NaN, Infinity, { a: [1, -Infinity] }];

for (const value of WORDLESS) {
  test(`does not write ${typeof value} ${String(value?.a ?? value?.toString())}`, () => {
    assert.throws(() => stringify(value), TypeError);
  });
}

test("does not write a value that contains itself", () => {
  const circle = { list: [] };
  circle.list.push(circle);
  assert.throws(() => stringify(circle), TypeError);
});

test("writes a value twice that is no circle", () => {
  const shared = { n: 1n };
  assert.equal(stringify([shared, shared]), '[{"n":1},{"n":1}]');
});

test("half an emoji becomes the replacement character", () => {
  assert.equal(stringify({ a: ["😀".slice(0, 1)] }), '{"a":["\ufffd"]}');
});

test("deep nesting survives", () => {
  const text = `${"[".repeat(200)}12345678901234567890${"]".repeat(200)}`;
  assert.equal(stringify(parse(text)), text);
});
