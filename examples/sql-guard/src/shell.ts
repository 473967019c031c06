/** A command line that cannot be taken apart. */
export class Untold extends Error {}

/** A word of a command line. */
export interface Word {
  text: string;
  /** Whether the shell puts something else in its place. */
  expands: boolean;
}

const BREAKS = new Set([";", "|", "&", "\n", "(", ")", "`"]);

/** Takes a command line apart into commands and those into words, as a shell does. */
export function commandsOf(line: string): Word[][] {
  const commands: Word[][] = [[]];
  let word: Word | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? "";
    if (BREAKS.has(character) || /\s/.test(character)) {
      if (word) commands.at(-1)?.push(word);
      word = undefined;
      if (BREAKS.has(character)) commands.push([]);
      continue;
    }
    word ??= { text: "", expands: false };
    if (character === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) throw new Untold("a ' is not closed");
      word.text += line.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      at = doubleQuoted(line, at, word);
    } else if (character === "\\") {
      at += 1;
      word.text += line[at] ?? "";
    } else {
      if (character === "$") word.expands = true;
      word.text += character;
    }
  }
  if (word) commands.at(-1)?.push(word);
  return commands.filter((command) => command.length > 0);
}

/** Reads up to the closing quote into a word and returns where that is. */
function doubleQuoted(line: string, start: number, word: Word): number {
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at] ?? "";
    if (character === '"') return at;
    if (character === "\\" && /["\\$`\n]/.test(line[at + 1] ?? "")) {
      at += 1;
      word.text += line[at] ?? "";
    } else {
      if (character === "$" || character === "`") word.expands = true;
      word.text += character;
    }
  }
  throw new Untold('a " is not closed');
}
