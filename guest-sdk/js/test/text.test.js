import assert from "node:assert/strict";
import { test } from "node:test";

import { TextDecoder as Decoder, TextEncoder as Encoder } from "../src/globals/text.js";

const TEXTS = [
  "",
  "plain",
  "ü",
  "€",
  "😀",
  "a\0b",
  "\ufeffmark",
  "\ud800 half",
  "%41%",
  "x".repeat(10_000),
  "ü€😀".repeat(5_000),
];

for (const text of TEXTS) {
  test(`writes and reads ${JSON.stringify(text.slice(0, 20))} as Node does`, () => {
    const bytes = new TextEncoder().encode(text);
    assert.deepEqual(new Encoder().encode(text), bytes);
    for (const options of [{}, { ignoreBOM: true }]) {
      assert.equal(
        new Decoder("utf-8", options).decode(bytes),
        new TextDecoder("utf-8", options).decode(bytes),
      );
    }
  });
}

const NOT_UTF8 = [
  [0xff],
  [0x80],
  [0xc3],
  [0xc3, 0x28],
  [0xc0, 0xaf],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xe2, 0x82, 0x41],
  [0x41, 0xf0, 0x80, 0x80, 0x41],
  [0xef, 0xbb, 0xbf, 0xff],
];

for (const bytes of NOT_UTF8) {
  test(`reads the broken bytes ${bytes} as Node does`, () => {
    const input = Uint8Array.from(bytes);
    assert.equal(new Decoder().decode(input), new TextDecoder().decode(input));
    assert.throws(() => new Decoder("utf8", { fatal: true }).decode(input), TypeError);
  });
}

test("every pair of bytes is read as Node does", () => {
  const ours = new Decoder();
  const nodes = new TextDecoder();
  for (let pair = 0; pair < 0x1_0000; pair += 1) {
    const input = Uint8Array.of(pair >> 8, pair & 0xff, 0x9f, 0x80, 0x61);
    assert.equal(ours.decode(input), nodes.decode(input));
  }
});

test("reads buffers and views of them", () => {
  const bytes = Uint8Array.of(0x78, 0x61, 0x62, 0x78);
  assert.equal(new Decoder().decode(bytes.buffer), "xabx");
  assert.equal(new Decoder().decode(new DataView(bytes.buffer, 1, 2)), "ab");
  assert.equal(new Decoder().decode(), "");
});

test("other encodings are refused", () => {
  assert.throws(() => new Decoder("latin1"), RangeError);
});
