import { decodeLoosely } from "./utf8.js";

const LABELS = ["utf-8", "utf8", "unicode-1-1-utf-8"];
// A call takes its arguments from the stack, so a long text is put together in pieces.
const PIECE = 4096;

/** Turns text into UTF-8. */
export class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    const binary = unescape(encodeURIComponent(String(text).toWellFormed()));
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at += 1) {
      bytes[at] = binary.charCodeAt(at);
    }
    return bytes;
  }
}

/** Turns UTF-8 into text; bytes that are none become U+FFFD. */
export class TextDecoder {
  #fatal;
  #ignoreBOM;

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!LABELS.includes(String(label).trim().toLowerCase())) {
      throw new RangeError(`the encoding ${label} is not supported; this engine knows utf-8 only`);
    }
    this.#fatal = Boolean(fatal);
    this.#ignoreBOM = Boolean(ignoreBOM);
  }

  get encoding() {
    return "utf-8";
  }

  get fatal() {
    return this.#fatal;
  }

  get ignoreBOM() {
    return this.#ignoreBOM;
  }

  decode(input = new Uint8Array()) {
    const bytes = bytesOf(input);
    const text = decodeStrictly(bytes) ?? this.#decodeRest(bytes);
    return !this.#ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  #decodeRest(bytes) {
    if (this.#fatal) throw new TypeError("the bytes are not UTF-8");
    return decodeLoosely(bytes);
  }
}

function bytesOf(input) {
  if (input instanceof Uint8Array) return input;
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  return new Uint8Array(input);
}

// An interpreted loop over the bytes takes a hundred times the fuel of these
// old functions, which between them read UTF-8 inside the engine.
function decodeStrictly(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + PIECE));
  }
  try {
    return decodeURIComponent(escape(binary));
  } catch {
    return undefined;
  }
}
