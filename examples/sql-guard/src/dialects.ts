/** How a database reads SQL, as far as it decides where a string or a comment ends. */
export interface Dialect {
  /** `\'` inside of a string is a quote. */
  backslashes: boolean;
  /** `"…"` is a string and not a name. */
  doubleQuotedStrings: boolean;
  /** `[…]` is a name. */
  brackets: boolean;
  /** `$$…$$` and `E'…'` are strings. */
  dollars: boolean;
  /** A comment may contain comments. */
  nestedComments: boolean;
  /** `#` starts a comment, and `--` does only before a space. */
  hashComments: boolean;
  /** `||` is OR. */
  pipesAreOr: boolean;
}

const standard: Dialect = {
  backslashes: false,
  doubleQuotedStrings: false,
  brackets: false,
  dollars: false,
  nestedComments: false,
  hashComments: false,
  pipesAreOr: false,
};

const postgresql: Dialect = { ...standard, dollars: true, nestedComments: true };
const sqlite: Dialect = { ...standard, brackets: true };
const mysql: Dialect = {
  ...standard,
  backslashes: true,
  doubleQuotedStrings: true,
  hashComments: true,
  pipesAreOr: true,
};

/**
 * What one database takes for a string, another one runs. A statement passes if
 * it passes in every one of these readings, so leave out those that you do not use.
 */
export const DIALECTS: Dialect[] = [postgresql, sqlite, mysql];
