"use strict";

// All that a tape holds is hostile. It reaches the page only as text nodes, and characters that
// hide or reorder text are spelled out, so that what is read here is what the hook saw.
const UNSEEN = /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const LONG_TEXT = 20000;
const ICONS = {
  allow: "M3 8.5l3.5 3.5L13 4.5",
  block: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M3.8 3.8l8.4 8.4",
  modify: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z",
  ask: "M5.4 6a2.6 2.6 0 1 1 3.7 2.3c-.8.4-1.1.9-1.1 1.9M8 12.7v.3",
  undecided: "M4 8h8",
  failed: "M8 2.5L14.5 13.5H1.5zM8 6.5v3.2M8 11.5v.3",
};

function spellOut(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : "\\u" + hex.padStart(4, "0");
}

// For places that take a plain string only, such as options and the window title.
function visible(text) {
  return String(text).replace(UNSEEN, spellOut);
}

function appendText(node, text, keepLines) {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (keepLines && (found[0] === "\n" || found[0] === "\t")) continue;
    if (found.index > from) node.append(text.slice(from, found.index));
    const mark = document.createElement("span");
    mark.className = "ctl";
    mark.textContent = spellOut(found[0]);
    node.append(mark);
    from = found.index + found[0].length;
  }
  if (from < text.length) node.append(text.slice(from));
}

function el(tag, classes, ...children) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  for (const child of children) {
    if (child === null || child === undefined) continue;
    if (child instanceof Node) node.append(child);
    else appendText(node, String(child), false);
  }
  return node;
}

function button(classes, onClick, ...children) {
  const node = el("button", classes, ...children);
  node.type = "button";
  node.addEventListener("click", onClick);
  return node;
}

// A megabyte in one text node makes every browser slow, so the rest waits for a click.
function appendLong(node, text, limit = LONG_TEXT) {
  // Not between the halves of a surrogate pair: each half alone would be shown as hidden text.
  const cut = /[\ud800-\udbff]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
  appendText(node, text.slice(0, cut), true);
  if (text.length <= cut) return;
  const rest = text.slice(cut);
  const more = button("more", () => {
    const all = el("span");
    appendText(all, rest, true);
    more.replaceWith(all);
  }, `show ${count(rest.length)} more characters`);
  node.append(more);
}

function block(classes, text) {
  const node = el("pre", classes);
  node.tabIndex = 0;
  appendLong(node, String(text));
  return node;
}

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", Object.hasOwn(ICONS, name) ? ICONS[name] : ICONS.undecided);
  svg.append(path);
  return svg;
}

function decisionWord(decision) {
  const word = el("span", "decision", icon(decision), decision);
  word.dataset.decision = decision;
  return word;
}

function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

function plural(number, word) {
  return `${count(number)} ${word}${Number(number) === 1 ? "" : "s"}`;
}

function duration(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1e3).toFixed(us < 1e4 ? 2 : 1)} ms`;
  return `${(us / 1e6).toFixed(2)} s`;
}

function memory(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1048576) return `${(bytes / 1024).toFixed(0)} KiB`;
  return `${(bytes / 1048576).toFixed(1)} MiB`;
}

// UTC, so that two readers of one report see the same times.
function moment(ms) {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().replace("T", " ").replace("Z", "");
}
