import { DIALECTS } from "./dialects.js";
import type { Dialect } from "./dialects.js";
import { isUnlimited } from "./limit.js";
import type { Token } from "./tokens.js";
import { tokensOf, Unreadable } from "./tokens.js";
import { isWord, picksRows } from "./where.js";

// Statements that no agent runs. DO, EXEC and EXECUTE run SQL out of strings, which nobody can look into.
const BLOCKED_VERBS = setOf("DROP TRUNCATE ALTER GRANT REVOKE ATTACH LOAD DO EXEC EXECUTE");
const BLOCKED_NAMES = setOf(
  "XP_CMDSHELL LOAD_EXTENSION LOAD_FILE PG_READ_FILE PG_READ_BINARY_FILE LO_IMPORT LO_EXPORT",
);
const ASKING_VERBS = setOf("MERGE REPLACE");
const VERBS = new Set([...BLOCKED_VERBS, ...ASKING_VERBS, "DELETE", "UPDATE", "COPY"]);
// These are functions too, in front of a parenthesis.
const FUNCTIONS = ["TRUNCATE", "REPLACE"];
// These have another meaning behind one: `ON CONFLICT (id) DO UPDATE`.
const NEVER_BEHIND = ["DO", "EXECUTE"];
const LEADS = setOf("EXPLAIN ANALYZE ANALYSE VERBOSE EXTENDED BEGIN THEN ELSE LOOP");

/** What becomes of a text of SQL, from the mildest to the strictest. */
export type Verdict =
  | { kind: "limit"; end: number }
  | { kind: "allow" }
  | { kind: "ask"; message: string }
  | { kind: "block"; reason: string };

const STRICTNESS = ["limit", "allow", "ask", "block"];

/** Returns the strictest of some verdicts. */
export function strictest(verdicts: Verdict[]): Verdict {
  return verdicts.reduce((a, b) => (STRICTNESS.indexOf(b.kind) > STRICTNESS.indexOf(a.kind) ? b : a));
}

/** Judges a text of SQL in all readings; the strictest one counts. */
export function judge(sql: string): Verdict {
  const verdicts = DIALECTS.map((dialect) => judgeAs(sql, dialect));
  // A LIMIT can only be put where all agree that the statement ends.
  const ends = new Set(verdicts.map((verdict) => (verdict.kind === "limit" ? verdict.end : -1)));
  return strictest(ends.size === 1 ? verdicts : [...verdicts, { kind: "allow" }]);
}

function judgeAs(sql: string, dialect: Dialect): Verdict {
  try {
    const statements = statementsOf(tokensOf(sql, dialect));
    const verdicts = statements.flatMap((statement) => judgeStatement(statement, dialect));
    const only = statements.length === 1 ? statements[0] : undefined;
    return strictest([only && isUnlimited(only) ? limitBehind(only) : { kind: "allow" }, ...verdicts]);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: "block", reason: `the SQL cannot be read: ${error.message}` };
  }
}

function limitBehind(statement: Token[]): Verdict {
  return { kind: "limit", end: statement.at(-1)?.end ?? 0 };
}

function statementsOf(tokens: Token[]): Token[][] {
  const statements: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === "symbol" && token.text === ";") {
      statements.push([]);
    } else {
      statements.at(-1)?.push(token);
    }
  }
  return statements.filter((statement) => statement.length > 0);
}

/** Returns all that is to be said against a statement. */
function judgeStatement(statement: Token[], dialect: Dialect): Verdict[] {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < statement.length; at += 1) {
    verdicts.push(...judgeToken(statement, at, dialect));
  }
  return verdicts;
}

function judgeToken(statement: Token[], at: number, dialect: Dialect): Verdict[] {
  const token = statement[at];
  if (token?.kind === "symbol" && isClientCommand(token, at, statement[at + 1])) {
    return blocked("a command of the client itself, such as \\! or .shell,");
  }
  if (token?.kind !== "word" && token?.kind !== "name") return NOTHING;
  const name = token.text.toUpperCase();
  if (BLOCKED_NAMES.has(name)) return blocked(name);
  if (isWord(token, "OUTFILE", "DUMPFILE") && isWord(statement[at - 1], "INTO"))
    return blocked(`INTO ${name}`);
  return isVerb(statement, at) ? judgeVerb(statement, at, dialect) : NOTHING;
}

const NOTHING: Verdict[] = [];

function blocked(what: string): Verdict[] {
  return [{ kind: "block", reason: `${what} is not allowed` }];
}

// `\G` is how MySQL prints a row over many lines.
function isClientCommand(symbol: Token, at: number, next: Token | undefined): boolean {
  if (symbol.text === "\\") return !isWord(next, "G");
  return symbol.text === "." && at === 0 && next?.kind === "word";
}

function judgeVerb(statement: Token[], at: number, dialect: Dialect): Verdict[] {
  const verb = statement[at]?.text ?? "";
  if (BLOCKED_VERBS.has(verb)) return blocked(verb);
  if (verb === "COPY") {
    const runs = statement.some(
      (token, index) => isWord(token, "PROGRAM") && isWord(statement[index - 1], "FROM", "TO"),
    );
    return runs ? blocked("COPY with PROGRAM") : NOTHING;
  }
  if (ASKING_VERBS.has(verb) || picksRows(statement, at, dialect)) {
    return [{ kind: "ask", message: `May the agent run this ${verb}?` }];
  }
  return blocked(`${verb} without a WHERE that picks rows`);
}

/** Returns whether a word begins a statement, be it one inside of another. */
function isVerb(statement: Token[], at: number): boolean {
  const token = statement[at];
  if (token?.kind !== "word" || !VERBS.has(token.text)) return false;
  if (isWord(token, ...FUNCTIONS) && statement[at + 1]?.text === "(") return false;
  const before = statement[at - 1];
  if (before?.text === ")" && isWord(token, ...NEVER_BEHIND)) return false;
  if (before === undefined || before.text === "(" || before.text === ")") return true;
  if (before.kind === "word" && LEADS.has(before.text)) return true;
  // An alias follows AS as well, but not in these.
  return isWord(before, "AS") && isWord(statement[0], "PREPARE", "CREATE", "DECLARE");
}

function setOf(words: string): Set<string> {
  return new Set(words.split(" "));
}
