export const lines = [];

export function write(level, message) {
  lines.push([level, message]);
}
