const REPLACEMENT = 0xfffd;

/** Reads UTF-8 and puts U+FFFD where there is none, as the Encoding Standard says. */
export function decodeLoosely(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const [point, length] = next(bytes, at);
    text += String.fromCodePoint(point < 0 ? REPLACEMENT : point);
    at += length;
  }
  return text;
}

/** Returns the next code point, or -1, and over how many bytes it goes. */
function next(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return [first, 1];
  const [length, low, high] = shapeOf(first);
  let point = first & (0x7f >> length);
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index];
    // Only the second byte is bounded further: that shuts out surrogates,
    // overlong forms and what lies beyond Unicode.
    const fits = index === 1 ? byte >= low && byte <= high : byte >= 0x80 && byte <= 0xbf;
    if (!fits) return [-1, index];
    point = (point << 6) | (byte & 0x3f);
  }
  return length === 1 ? [-1, 1] : [point, length];
}

/** Returns how many bytes a first byte announces, and the bounds of the second. */
function shapeOf(first) {
  if (first >= 0xc2 && first <= 0xdf) return [2, 0x80, 0xbf];
  if (first === 0xe0) return [3, 0xa0, 0xbf];
  if (first === 0xed) return [3, 0x80, 0x9f];
  if (first >= 0xe1 && first <= 0xef) return [3, 0x80, 0xbf];
  if (first === 0xf0) return [4, 0x90, 0xbf];
  if (first === 0xf4) return [4, 0x80, 0x8f];
  if (first >= 0xf1 && first <= 0xf3) return [4, 0x80, 0xbf];
  return [1, 0, 0];
}
