const DIFF_LIMIT = 2000;
const CONTEXT = 3;

// A number as the tape wrote it, for those a double cannot hold: 2^53 + 1 must not be shown as 2^53.
class Exact {
  constructor(source) { this.source = source; }
  valueOf() { return Number(this.source); }
  toString() { return this.source; }
}

function keepExact(_key, value, context) {
  if (typeof value !== "number" || !context || context.source === String(value)) return value;
  return new Exact(context.source);
}

function prettyLines(value) {
  const lines = [];
  writeValue(lines, value, "", "", "");
  return lines;
}

function writeValue(lines, value, indent, head, tail) {
  if (typeof value === "string") return writeString(lines, value, indent, head, tail);
  if (value === null || typeof value !== "object" || value instanceof Exact) {
    lines.push(indent + head + String(value) + tail);
    return;
  }
  const list = Array.isArray(value);
  const [open, close] = list ? "[]" : "{}";
  const entries = Object.entries(value);
  if (entries.length === 0) return void lines.push(indent + head + open + close + tail);
  lines.push(indent + head + open);
  entries.forEach(([key, item], at) => {
    const comma = at + 1 < entries.length ? "," : "";
    writeValue(lines, item, indent + "  ", list ? "" : JSON.stringify(key) + ": ", comma);
  });
  lines.push(indent + close + tail);
}

// Breaks a string after each \n (which stays written), so that a changed line of a file is one changed line
// here. Quotes inside remain escaped, so a string cannot pretend to be the JSON around it.
function writeString(lines, value, indent, head, tail) {
  const parts = value.split(/(?<=\n)/).map((part) => JSON.stringify(part).slice(1, -1));
  if (parts.length === 0) parts.push("");
  parts.forEach((part, at) => {
    const before = at === 0 ? indent + head + '"' : indent + "    ";
    lines.push(before + part + (at + 1 === parts.length ? '"' + tail : ""));
  });
}

// Returns [kind, line] pairs, or null when what differs is too long to compare.
function diffLines(before, after) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  if (removed.length > DIFF_LIMIT || added.length > DIFF_LIMIT) return null;
  const same = (line) => ["same", line];
  return [
    ...before.slice(0, start).map(same),
    ...walk(removed, added, commonLengths(removed, added)),
    ...before.slice(before.length - end).map(same),
  ];
}

function commonLengths(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      table[at] = a[i] === b[j] ? table[at + width + 1] + 1 : Math.max(table[at + width], table[at + 1]);
    }
  }
  return table;
}

function walk(a, b, table) {
  const width = b.length + 1;
  const found = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(["same", a[i]]);
      i += 1;
      j += 1;
    } else if (j === b.length || (i < a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      found.push(["del", a[i++]]);
    } else {
      found.push(["add", b[j++]]);
    }
  }
  return found;
}

function sameLines(before, after) {
  return before.length === after.length && before.every((line, at) => line === after[at]);
}

function diffView(before, after, names) {
  if (sameLines(before, after)) return el("p", "faint", "Both read the same.");
  const lines = diffLines(before, after);
  if (lines === null) return bothTexts(before, after, names);
  const view = el("div", "diff");
  for (const run of runs(lines)) {
    if (run.kind === "same") appendUnchanged(view, run.lines, run.first, run.last);
    else appendChanged(view, run.lines);
  }
  return view;
}

function bothTexts(before, after, names) {
  const column = (name, lines) => el("div", "", el("h5", "", `${name}, ${plural(lines.length, "line")}`), block("code", lines.join("\n")));
  return el("div", "both",
    el("p", "faint", `More than ${count(DIFF_LIMIT)} lines differ, so both texts are shown as they are.`),
    column(names[0], before), column(names[1], after));
}

function runs(lines) {
  const found = [];
  for (const line of lines) {
    const kind = line[0] === "same" ? "same" : "changed";
    if (found.length === 0 || found[found.length - 1].kind !== kind) found.push({ kind, lines: [] });
    found[found.length - 1].lines.push(line);
  }
  if (found.length > 0) {
    found[0].first = true;
    found[found.length - 1].last = true;
  }
  return found;
}

function appendUnchanged(view, lines, first, last) {
  const top = first ? 0 : CONTEXT;
  const bottom = last ? 0 : CONTEXT;
  const hidden = lines.slice(top, lines.length - bottom);
  if (hidden.length < 2 || lines.length <= top + bottom) return void view.append(...lines.map(([, line]) => lineView("same", [line])));
  view.append(...lines.slice(0, top).map(([, line]) => lineView("same", [line])));
  const fold = button("fold", () => fold.replaceWith(...hidden.map(([, line]) => lineView("same", [line]))), plural(hidden.length, "unchanged line"));
  view.append(fold, ...lines.slice(lines.length - bottom).map(([, line]) => lineView("same", [line])));
}

// Lines that went and came in the same place are taken as pairs, and show which part of the line changed.
function appendChanged(view, lines) {
  const removed = lines.filter(([kind]) => kind === "del").map(([, line]) => line);
  const added = lines.filter(([kind]) => kind === "add").map(([, line]) => line);
  view.append(...removed.map((line, at) => lineView("del", changedPart(line, added[at] ?? ""))));
  view.append(...added.map((line, at) => lineView("add", changedPart(line, removed[at] ?? ""))));
}

function changedPart(line, other) {
  // By code points: a cut through a surrogate pair would show two halves that nobody wrote.
  const a = Array.from(line);
  const b = Array.from(other);
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  if (shorter === 0 || 2 * (start + end) < shorter) return [line]; // Two lines with little in common are not one changed line.
  return [a.slice(0, start), a.slice(start, a.length - end), a.slice(a.length - end)].map((part) => part.join(""));
}

function lineView(kind, parts) {
  const text = el("span", "text");
  parts.forEach((part, at) => {
    const place = at === 1 && part ? text.appendChild(el("mark")) : text;
    appendLong(place, part, LONG_TEXT / 5);
  });
  return el("div", `line ${kind}`, el("span", "sign", { same: " ", del: "-", add: "+" }[kind]), text);
}
