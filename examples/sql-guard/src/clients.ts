import type { Word } from "./shell.js";
import { commandsOf } from "./shell.js";

/** A call of a database client. */
export interface ClientCall {
  client: string;
  /** The SQL on its command line. */
  sql: Word[];
  /** Whether it reads SQL that is not on its command line. */
  readsMore: boolean;
}

interface Client {
  /** The letter of the option whose value is SQL. */
  letter?: string;
  /** The long forms of it. */
  long: string[];
  /** How many other words come before those that are SQL. */
  before: number;
}

const mysql: Client = { letter: "e", long: ["--execute"], before: Infinity };
const CLIENTS: Record<string, Client> = {
  psql: { letter: "c", long: ["--command"], before: Infinity },
  mysql,
  mariadb: mysql,
  sqlite3: { long: ["-cmd", "--cmd"], before: 1 },
};
const SHELLS = ["sh", "bash", "dash", "zsh"];
const HARMLESS = ["--version", "--help", "-V", "-version", "-help"];

/** Returns whether a command line names a database client. */
export function namesClient(line: string): boolean {
  return Object.keys(CLIENTS).some((name) => line.includes(name));
}

/** Returns all calls of database clients in a command line, also those that `sudo`, `sh -c` or `$(…)` make. */
export function clientCallsIn(line: string): ClientCall[] {
  return commandsOf(line).flatMap((words) => [
    ...scriptsIn(words)
      .filter((script) => script !== line && namesClient(script))
      .flatMap(clientCallsIn),
    ...callIn(words),
  ]);
}

/** Returns the words that are command lines of their own. */
function scriptsIn(words: Word[]): string[] {
  const shell = words.findIndex((word) => SHELLS.includes(programOf(word)));
  const option = words.findIndex((word, at) => shell >= 0 && at > shell && /^-\w*c$/.test(word.text));
  return words
    .filter((word, at) => word.expands || (option >= 0 && at === option + 1))
    .map((word) => word.text);
}

function callIn(words: Word[]): ClientCall[] {
  const at = words.findIndex((word) => Object.hasOwn(CLIENTS, programOf(word)));
  const name = words[at];
  const client = name && CLIENTS[programOf(name)];
  if (name === undefined || client === undefined) return [];
  const rest = words.slice(at + 1);
  const sql = sqlOf(client, rest);
  // `apt install mysql` calls no client, so this holds for the first word only.
  const started = words.slice(0, at).every((word) => /^\w+=/.test(word.text) || word.text === "sudo");
  const readsMore = started && sql.length === 0 && !rest.some((word) => HARMLESS.includes(word.text));
  return [{ client: programOf(name), sql, readsMore }];
}

function programOf(word: Word): string {
  return word.text.split("/").at(-1) ?? "";
}

function sqlOf(client: Client, words: Word[]): Word[] {
  const sql: Word[] = [];
  let others = 0;
  words.forEach((word, at) => {
    const next = words[at + 1];
    const joined = client.long.find((name) => word.text.startsWith(`${name}=`));
    const short = client.letter === undefined ? undefined : shortOption(client.letter, word.text);
    if (joined !== undefined) {
      sql.push({ ...word, text: word.text.slice(joined.length + 1) });
    } else if (client.long.includes(word.text) || short === "") {
      // The next word is looked at again in its own right: in `-ue -e SQL` the `e` is a name.
      if (next) sql.push(next);
    } else if (short !== undefined) {
      sql.push({ ...word, text: short });
    } else if (!word.text.startsWith("-")) {
      others += 1;
      if (others > client.before) sql.push(word);
    }
  });
  return sql;
}

/** Returns what follows the letter in `-Atc` or `-c'SELECT 1'`; undefined if the letter is not there. */
function shortOption(letter: string, text: string): string | undefined {
  return new RegExp(`^-[A-Za-z]*?${letter}(.*)$`, "s").exec(text)?.[1];
}
