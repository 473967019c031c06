import {
  allow,
  ask,
  block,
  cache,
  clock,
  context,
  events,
  hook,
  HookboxError,
  log,
  metrics,
  modify,
  random,
  reminder,
} from "hookbox";
import * as env from "hookbox/env";
import * as files from "hookbox/files";
import * as hooks from "hookbox/hooks";
import * as http from "hookbox/http";
import * as tools from "hookbox/tools";

const note = (value) => modify({ note: value ?? null });

/** Notes what `work` returns, or the kind of the error it ends with. */
function noteOrKind(work) {
  try {
    return note(work());
  } catch (error) {
    if (error instanceof HookboxError) return note({ error: error.kind });
    throw error;
  }
}

const modes = {
  allow: () => allow(),
  block: (args) => block(args.reason),
  ask: (args) => ask(args.message),
  modify: (args) => note(args.value),
  echo: (args, event) => modify(event.payload),

  context({ contexts }) {
    for (const { text, placement } of contexts) {
      context(text, placement);
    }
    return allow();
  },

  reminder(args) {
    const options = {
      tags: args.tags,
      dedupeKey: args.dedupe_key,
      ttlTurns: args.ttl_turns,
      preserveOnCompact: args.preserve_on_compact,
      propagate: args.propagate,
      roleHint: args.role_hint,
    };
    if (Object.values(options).every((option) => option === undefined)) {
      reminder(args.body);
    } else {
      reminder(args.body, options);
    }
    return allow();
  },

  "effects-block"() {
    context("first");
    reminder("second");
    return block("with effects");
  },

  log({ text }) {
    log.debug(text);
    log.info(text);
    log.warn(text);
    log.error(text);
    return allow();
  },

  metrics() {
    const first = metrics.incr("conformance.count", 2);
    const second = metrics.incr("conformance.count");
    metrics.set("conformance.gauge", 2.5);
    metrics.set("conformance.whole", 7);
    return note({
      first,
      second,
      gauge: metrics.get("conformance.gauge"),
      whole: metrics.get("conformance.whole"),
      missing: metrics.get("conformance.none") ?? null,
      names: [...metrics.snapshot().keys()].filter((name) => name.startsWith("conformance.")),
    });
  },

  cache({ value }) {
    cache.set("k", value);
    return note({
      got: cache.get("k"),
      has: cache.has("k"),
      deleted: cache.delete("k"),
      again: cache.delete("k"),
      gone: cache.get("k") ?? null,
      five: cache.increment("n", 5),
      seven: cache.increment("n", 2),
      fresh: cache.compareAndSet("c", undefined, 1),
      stale: cache.compareAndSet("c", undefined, 2),
      swapped: cache.compareAndSet("c", 1, { x: 2 }),
      c: cache.get("c"),
    });
  },

  "cache-ttl"() {
    cache.set("t", 1, 60_000);
    return note(cache.get("t"));
  },

  "cache-quota": ({ size }) =>
    noteOrKind(() => {
      cache.set("big", "x".repeat(size));
      return "stored";
    }),

  "cache-wrong-type": () =>
    noteOrKind(() => {
      cache.set("w", "text");
      return cache.increment("w", 1);
    }),

  "http-get": ({ url }) =>
    noteOrKind(() => {
      const response = http.get(url, { headers: { "x-conformance": "yes" } });
      const header = response.header("x-answer") ?? null;
      return { status: response.status, text: response.text(), header };
    }),

  "http-post": ({ url, body }) =>
    noteOrKind(() => {
      const response = http.post(url, body);
      return { status: response.status, text: response.text() };
    }),

  tools: ({ tool }) => noteOrKind(() => tools.call(tool, { q: "x" })),
  env: ({ variable }) => noteOrKind(() => env.get(variable)),
  files: ({ path }) => noteOrKind(() => files.readText(path)),
  "files-list": ({ path }) => noteOrKind(() => files.list(path)),
  hooks: () => note(hooks.list().map(({ name }) => name)),

  "hooks-source": () =>
    note({
      some: hooks.source("conformance").includes("event:"),
      none: hooks.source("nobody") ?? null,
    }),

  emit: ({ name }) => noteOrKind(() => events.emit(name, { n: 1 })),
  clock: () => note(clock.now()),
  random: () => note(Array.from(random.bytes(8), (byte) => byte.toString(16).padStart(2, "0")).join("")),

  event: (args, { name, id, subject = null, hook, depth }) => note({ name, id, subject, hook, depth }),

  error({ message }) {
    throw new Error(message);
  },

  panic({ message }) {
    // Not an Error, so it has neither a type nor a stack.
    throw message;
  },

  nothing() {},

  loop() {
    for (;;);
  },

  memory() {
    const kept = [];
    for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
  },

  recursion() {
    const deeper = (depth) => 1 + deeper(depth + 1);
    return note(deeper(0));
  },
};

export const handler = hook((event) => {
  const args = event.payload?.args;
  if (args?.do === undefined) return allow();
  if (!Object.hasOwn(modes, args.do)) throw new Error(`unknown mode: ${args.do}`);
  return modes[args.do](args, event);
});
