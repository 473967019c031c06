/**
 * Returns the bytes of a file. Paths start at the project, as they do in the
 * grant, which it needs: `grant: read: ["docs/"]`.
 *
 * Throws a `HookboxError` of the kind "not-granted", "not-found", "too-large" or "failed".
 */
export function read(path: string): Uint8Array;

/** Returns a file as text; bytes that are not UTF-8 become U+FFFD. */
export function readText(path: string): string;

/** Returns the names in a directory, sorted; those of directories end in `/`. */
export function list(path: string): string[];
