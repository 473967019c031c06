import { allow, ask, block, hook, modify } from "hookbox";
import type { Decision, JsonObject, ToolCall } from "hookbox";

import type { ClientCall } from "./clients.js";
import { clientCallsIn, namesClient } from "./clients.js";
import type { Verdict } from "./rules.js";
import { judge, strictest } from "./rules.js";
import { Untold } from "./shell.js";

const SQL_TOOL = /sql|query|database/i;
const SQL_ARGUMENTS = ["query", "sql", "statement"];
const MOST_ROWS = 1000;

export const handler = hook<ToolCall>(({ payload }) => {
  const args = payload.args ?? {};
  if (payload.name === "run_command") return decideCommand(String(args["command"] ?? ""));
  if (!SQL_TOOL.test(payload.name)) return allow();
  const key = SQL_ARGUMENTS.find((name) => typeof args[name] === "string");
  return key === undefined ? allow() : decideArgument(args, key);
});

function decideArgument(args: JsonObject, key: string): Decision {
  const sql = String(args[key]);
  const verdict = judge(sql);
  if (verdict.kind !== "limit") return decide(verdict, sql);
  // What stands behind the statement may be a comment, and would swallow the LIMIT.
  return modify({ args: { ...args, [key]: `${sql.slice(0, verdict.end)} LIMIT ${MOST_ROWS}` } });
}

function decideCommand(command: string): Decision {
  if (!namesClient(command)) return allow();
  try {
    return decide(strictest([{ kind: "allow" }, ...clientCallsIn(command).flatMap(judgeCall)]), command);
  } catch (error) {
    if (!(error instanceof Untold)) throw error;
    return block(`the command cannot be read: ${error.message}`);
  }
}

function judgeCall({ client, sql, readsMore }: ClientCall): Verdict[] {
  const verdicts = sql.map((word) => judge(word.text));
  const unseen = readsMore || sql.some((word) => word.expands);
  return unseen
    ? [
        ...verdicts,
        { kind: "ask", message: `May the agent run ${client} with SQL that this hook cannot see?` },
      ]
    : verdicts;
}

function decide(verdict: Verdict, text: string): Decision {
  if (verdict.kind === "block") return block(verdict.reason);
  return verdict.kind === "ask" ? ask(`${verdict.message} ${text}`) : allow();
}
