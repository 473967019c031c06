/** Something that is wrong with the hook, or missing on this machine. */
export class Problem extends Error {}
