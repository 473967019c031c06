/**
 * Returns a variable of the environment, or undefined if it is granted but not
 * set. Needs a grant: `grant: env: [CI]`.
 *
 * Throws a `HookboxError` of the kind "not-granted".
 */
export function get(name: string): string | undefined;
