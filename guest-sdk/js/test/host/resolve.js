const WIT = /^hookbox:hook\/([a-z]+)@1\.1\.0$/;

export async function resolve(specifier, context, next) {
  const name = WIT.exec(specifier)?.[1];
  if (name === undefined) return next(specifier, context);
  return { url: new URL(`./${name}.js`, import.meta.url).href, shortCircuit: true };
}
