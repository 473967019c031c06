const GUARD = {
  name: "guard",
  event: "tool.pre",
  priority: 20n,
  explicitPriority: true,
  when: null,
  handler: "component",
  file: "guard.md",
};

export function all() {
  return [GUARD];
}

export function source(name) {
  return name === "guard" ? "event: tool.pre" : null;
}
