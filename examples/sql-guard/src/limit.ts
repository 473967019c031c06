import type { Token } from "./tokens.js";
import { isWord } from "./where.js";

const AGGREGATES = ["COUNT", "SUM", "AVG", "MIN", "MAX"];

// They end the rows themselves, or take no LIMIT behind them.
const ENDS = ["LIMIT", "FETCH", "TOP", "INTO", "FOR", "PROCEDURE"];
const SETS = ["UNION", "INTERSECT", "EXCEPT", "GROUP"];

/** Returns whether a SELECT may return rows without end, so that a LIMIT can be put behind it. */
export function isUnlimited(statement: Token[]): boolean {
  if (!isWord(statement[0], "SELECT", "WITH")) return false;
  const words = new Set<string>();
  for (const token of statement) {
    if (token.depth === 0 && token.kind === "word") words.add(token.text);
  }
  if (!words.has("SELECT") || !words.has("FROM") || ENDS.some((word) => words.has(word))) return false;
  return SETS.some((word) => words.has(word)) || !selected(statement).every(isAggregate);
}

/** Returns what is selected, item by item. */
function selected(statement: Token[]): Token[][] {
  const start = statement.findIndex((token) => token.depth === 0 && isWord(token, "SELECT"));
  const items: Token[][] = [[]];
  for (const token of statement.slice(start + 1)) {
    if (token.depth === 0 && isWord(token, "FROM")) break;
    if (token.depth === 0 && token.text === ",") {
      items.push([]);
    } else {
      items.at(-1)?.push(token);
    }
  }
  return items;
}

// With OVER an aggregate has a value for every row.
function isAggregate(item: Token[]): boolean {
  return (
    isWord(item[0], ...AGGREGATES) && item[1]?.text === "(" && !item.some((token) => isWord(token, "OVER"))
  );
}
