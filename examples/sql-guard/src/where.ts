import type { Dialect } from "./dialects.js";
import type { Token } from "./tokens.js";

// Words that may stand in a condition and do not name a column.
const NO_COLUMNS = new Set(
  "TRUE FALSE NULL NOT AND IS IN LIKE ILIKE BETWEEN EXISTS ANY ALL SOME SELECT UNKNOWN DISTINCT FROM".split(
    " ",
  ),
);
const END = new Set(["RETURNING", "ORDER", "LIMIT"]);

/** Returns whether a statement that changes rows picks them: whether it has a WHERE that means something. */
export function picksRows(statement: Token[], verb: number, dialect: Dialect): boolean {
  const depth = statement[verb]?.depth ?? 0;
  const rest = statement.slice(verb + 1);
  const closed = rest.findIndex((token) => token.depth < depth);
  const own = closed < 0 ? rest : rest.slice(0, closed);
  const where = own.findIndex((token) => isWord(token, "WHERE") && token.depth === depth);
  if (where < 0) return false;
  const condition = own.slice(where + 1);
  const end = condition.findIndex(
    (token) => token.depth === depth && token.kind === "word" && END.has(token.text),
  );
  return !canBeTrueForAll(end < 0 ? condition : condition.slice(0, end), dialect);
}

/** Returns whether one side of an OR is true or false for all rows alike, or compares a thing with itself. */
function canBeTrueForAll(given: Token[], dialect: Dialect): boolean {
  const condition = unwrapped(given);
  const sides = alternatives(condition, dialect);
  if (sides.length > 1) return sides.some((side) => canBeTrueForAll(side, dialect));
  return !condition.some((token, at) => isColumn(token, condition[at + 1])) || isSameTwice(condition);
}

function unwrapped(condition: Token[]): Token[] {
  const [first] = condition;
  const last = condition.at(-1);
  const wrapped =
    first?.text === "(" &&
    last?.text === ")" &&
    condition.slice(1, -1).every((token) => token.depth > first.depth);
  return wrapped ? unwrapped(condition.slice(1, -1)) : condition;
}

function alternatives(condition: Token[], dialect: Dialect): Token[][] {
  const depth = condition[0]?.depth ?? 0;
  const sides: Token[][] = [[]];
  condition.forEach((token, at) => {
    const pipe = dialect.pipesAreOr && token.text === "|" && condition[at - 1]?.text === "|";
    if (token.depth === depth && (isWord(token, "OR") || pipe)) {
      if (pipe) sides.at(-1)?.pop();
      sides.push([]);
    } else {
      sides.at(-1)?.push(token);
    }
  });
  return sides;
}

// A word before a parenthesis is a function, and its arguments are looked at anyway.
function isColumn(token: Token, next: Token | undefined): boolean {
  if (token.kind === "name") return true;
  return token.kind === "word" && next?.text !== "(" && !NO_COLUMNS.has(token.text);
}

function isSameTwice(condition: Token[]): boolean {
  const texts = condition.map((token) => token.text);
  const equals = texts.indexOf("=");
  return equals > 0 && texts.slice(0, equals).join(" ") === texts.slice(equals + 1).join(" ");
}

/** Returns whether a token is this word. */
export function isWord(token: Token | undefined, ...words: string[]): boolean {
  return token?.kind === "word" && words.includes(token.text);
}
