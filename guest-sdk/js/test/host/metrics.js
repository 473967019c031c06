const values = new Map();

export function incr(name, delta) {
  // SpiderMonkey hands out 64-bit integers like this.
  const sum = BigInt(values.get(name)?.val ?? 0) + BigInt(delta);
  values.set(name, { tag: "integer", val: sum });
  return values.get(name);
}

export function set(name, value) {
  values.set(name, value);
}

export function get(name) {
  return values.get(name) ?? null;
}

export function snapshot() {
  return [...values.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
}
