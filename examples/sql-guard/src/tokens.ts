import type { Dialect } from "./dialects.js";

/** A piece of SQL. */
export interface Token {
  kind: "word" | "name" | "string" | "number" | "symbol";
  /** What it says: words in upper case, names without their quotes. */
  text: string;
  /** In how many parentheses it stands. */
  depth: number;
  /** Where it ends in the text. */
  end: number;
}

/** The text has no reading that all could agree on. */
export class Unreadable extends Error {}

const SPACE = /\s+/y;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const NUMBER = /\.?\d[\w.]*/y;
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const LINE = /[^\n]*/y;

/** Cuts SQL into pieces and leaves out spaces and comments. */
export function tokensOf(sql: string, dialect: Dialect): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = skip(sql, 0, dialect); at < sql.length; at = skip(sql, at, dialect)) {
    const [kind, end] = tokenAt(sql, at, dialect);
    const text = sql.slice(at, end);
    if (text === ")") depth -= 1;
    tokens.push({ kind, text: shown(kind, text), depth, end });
    if (text === "(") depth += 1;
    at = end;
  }
  return tokens;
}

function shown(kind: Token["kind"], text: string): string {
  if (kind === "word") return text.toUpperCase();
  return kind === "name" ? text.slice(1, -1) : text;
}

function tokenAt(sql: string, at: number, dialect: Dialect): [Token["kind"], number] {
  const first = sql[at];
  if (first === "'") return ["string", closing(sql, at, "'", dialect.backslashes)];
  if (first === '"') {
    const kind = dialect.doubleQuotedStrings ? "string" : "name";
    return [kind, closing(sql, at, '"', dialect.backslashes)];
  }
  if (first === "`") return ["name", closing(sql, at, "`", false)];
  if (first === "[" && dialect.brackets) return ["name", closing(sql, at, "]", false)];
  if (dialect.dollars) {
    if ((first === "E" || first === "e") && sql[at + 1] === "'") {
      return ["string", closing(sql, at + 1, "'", true)];
    }
    const tag = first === "$" ? sql.slice(at, endOf(DOLLAR, sql, at)) : "";
    if (tag !== "") return ["string", after(sql, tag, at + tag.length)];
  }
  const word = endOf(WORD, sql, at);
  if (word > at) return ["word", word];
  const number = endOf(NUMBER, sql, at);
  return number > at ? ["number", number] : ["symbol", at + 1];
}

/** Returns where something in quotes ends. A quote stands for itself if it is doubled. */
function closing(sql: string, start: number, quote: string, backslashes: boolean): number {
  for (let at = start + 1; at < sql.length; at += 1) {
    if (backslashes && sql[at] === "\\") {
      at += 1;
    } else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at += 1;
    }
  }
  throw new Unreadable(`a ${quote} is not closed`);
}

function after(sql: string, tag: string, from: number): number {
  const at = sql.indexOf(tag, from);
  if (at < 0) throw new Unreadable(`a ${tag} is not closed`);
  return at + tag.length;
}

function skip(sql: string, from: number, dialect: Dialect): number {
  let at = from;
  for (;;) {
    at = endOf(SPACE, sql, at);
    if (startsLineComment(sql, at, dialect)) {
      at = endOf(LINE, sql, at);
    } else if (sql.startsWith("/*", at)) {
      at = commentEnd(sql, at, dialect);
    } else {
      return at;
    }
  }
}

function startsLineComment(sql: string, at: number, dialect: Dialect): boolean {
  if (!dialect.hashComments) return sql.startsWith("--", at);
  return sql[at] === "#" || (sql.startsWith("--", at) && /^\s?$/.test(sql[at + 2] ?? ""));
}

function commentEnd(sql: string, start: number, dialect: Dialect): number {
  if (sql[start + 2] === "!") throw new Unreadable("some databases run what stands in /*! … */");
  let depth = 0;
  for (let at = start; at < sql.length; at += 1) {
    if (sql.startsWith("/*", at) && (depth === 0 || dialect.nestedComments)) {
      depth += 1;
      at += 1;
    } else if (sql.startsWith("*/", at)) {
      depth -= 1;
      at += 1;
      if (depth === 0) return at + 1;
    }
  }
  throw new Unreadable("a /* is not closed");
}

/** Returns where a pattern that begins at a place ends, and the place itself if it does not begin there. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
