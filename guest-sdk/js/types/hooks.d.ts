/** A hook of the project. */
export interface Hook {
  name: string;
  event: string;
  priority: number;
  /** Whether the priority was written down or is the default. */
  explicitPriority: boolean;
  when: string | undefined;
  /** What runs. */
  handler: "starlark" | "component" | "none";
  /** The file it is written in, relative to the project. */
  file: string;
}

/**
 * Returns all hooks of the project, in the order of registration. Needs a
 * grant: `grant: hooks: read`.
 *
 * Throws a `HookboxError` of the kind "not-granted".
 */
export function list(): Hook[];

/** Returns the text of the file a hook is written in, or undefined if there is no such hook. */
export function source(name: string): string | undefined;
