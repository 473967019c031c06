import { Problem } from "./problem.js";

const WIT = /^hookbox:hook\/([a-z-]+)@/;

// The interface of the contract: the module that imports it, and a grant that allows it.
const GRANTED = {
  environment: ["hookbox/env", "env: [CI]"],
  files: ["hookbox/files", 'read: ["docs/"]'],
  hooks: ["hookbox/hooks", "hooks: read"],
  http: ["hookbox/http", 'http: ["GET https://api.example.com/v1/*"]'],
  tools: ["hookbox/tools", "tools: [lookup]"],
};

/**
 * Refuses a hook that uses what its file does not grant. The toolchains would
 * refuse it too, but only with the name of an interface.
 */
export function checkGrants(options, imports, inputs) {
  for (const { path } of imports) {
    const name = WIT.exec(path)?.[1];
    const granted = GRANTED[name];
    if (granted === undefined || options.grants.includes(name)) continue;
    const [module, grant] = granted;
    const by = importersOf(module, inputs).join(", ");
    throw new Problem(
      `${by} imports "${module}", but the hook file grants nothing for it; ` +
        `add for example \`grant: { ${grant} }\` to it, or remove the import`,
    );
  }
}

function importersOf(module, inputs) {
  const names = Object.entries(inputs)
    .filter(([, input]) => input.imports.some(({ original }) => original === module))
    .map(([name]) => name);
  return names.length === 0 ? ["the hook"] : names;
}
