// Checked by `tsc`, never run: what hook authors write must be accepted, and
// the mistakes marked below must not.
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
  parse,
  random,
  reminder,
  stringify,
} from "hookbox";
import type { Decision, ErrorKind, Handler, HookEvent, Json, ToolCall, ToolResult } from "hookbox";
import * as env from "hookbox/env";
import * as files from "hookbox/files";
import * as hooks from "hookbox/hooks";
import * as http from "hookbox/http";
import * as tools from "hookbox/tools";

export const handler: Handler = hook((event) => {
  const depth: number = event.depth;
  const subject: string | undefined = event.subject;
  console.log(depth, subject, event.payload.args.command);
  return allow();
});

export const typed = hook<ToolCall<{ command: string }>>(({ payload }) => {
  const command: string = payload.args.command;
  // @ts-expect-error: the arguments have no such key
  payload.args.cwd;
  return command === "" ? allow() : block(`no: ${command}`);
});

export const untypedArgs = hook<ToolCall>(({ payload }) => {
  const command: Json = payload.args["command"] ?? null;
  return typeof command === "string" ? ask(command) : allow();
});

export const result = hook<ToolResult>(({ payload }) =>
  payload.is_error ? allow() : modify({ content: "" }),
);

const decide = (event: HookEvent<ToolCall>): Decision => modify({ ...event.payload, big: 1n });
hook(decide);

// @ts-expect-error: hookbox waits for no promise
hook(async () => allow());
// @ts-expect-error: nothing is no decision
hook(() => {});
// @ts-expect-error: a decision is made by allow and its like only
hook(() => ({ tag: "allow" }));
// @ts-expect-error: the function is not called
hook(() => allow);
// @ts-expect-error: a reason is a string
block(5);
// @ts-expect-error: a reason is needed
block();

context("text", "append-to-output");
// @ts-expect-error: there is no such placement
context("text", "somewhere");
reminder("body", {
  tags: ["a"],
  dedupeKey: "k",
  ttlTurns: 3,
  preserveOnCompact: true,
  propagate: "all",
  roleHint: "developer",
});
// @ts-expect-error: options are in camel case
reminder("body", { ttl_turns: 3 });

log.info("text", { any: "thing" }, 5);
const count: number = metrics.incr("n", 2n);
const gauge: number | undefined = metrics.get("n");
metrics.set("n", count + (gauge ?? 0));
const names: string[] = [...metrics.snapshot().keys()];

cache.set("k", { list: [1, 2n, null] }, 60_000);
const stored: unknown = cache.get("k");
const swapped: boolean = cache.compareAndSet("k", undefined, stringify(stored));
const sum: number = cache.increment("n", 1, 60_000);

const time: number = clock.now();
const bytes: Uint8Array = random.bytes(8);
const answer: { n: number } = events.emit("custom.x", { n: 1 });

const response = http.get("https://a.example/", { headers: { a: "1" }, timeoutMs: 500 });
const header: string | undefined = response.header("x");
const body: { id: bigint } = http.post("https://a.example/", { n: 1 }).json();
http.send({ method: "PUT", url: "https://a.example/", headers: [["a", "1"]], body: bytes });
// @ts-expect-error: a request needs a URL
http.send({ method: "PUT" });

const variable: string | undefined = env.get("CI");
const content: string = files.readText("docs/a.txt") + new TextDecoder().decode(files.read("docs/a.txt"));
const entries: string[] = files.list("docs");
const found: { ok: boolean } = tools.call("lookup", { q: "x" });
const priorities: number[] = hooks.list().map(({ priority }) => priority);
const source: string | undefined = hooks.source("guard");

try {
  parse("{}");
} catch (error) {
  if (error instanceof HookboxError) {
    const kind: ErrorKind = error.kind;
    // @ts-expect-error: the contract has no such kind
    if (error.kind === "quotas") throw error;
    log.warn(kind);
  }
}

export {
  answer,
  body,
  content,
  entries,
  found,
  header,
  names,
  priorities,
  source,
  sum,
  swapped,
  time,
  variable,
};
