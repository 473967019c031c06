export function bytes(count) {
  return new Uint8Array(count).fill(7);
}
