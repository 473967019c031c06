// From `hookbox install opencode`; `hookbox uninstall opencode` removes it.
//
// Asks hookbox before a prompt is taken and before a tool runs, and throws where it says
// no, or says nothing that can be understood: what cannot be decided does not happen.

import { spawn } from "node:child_process";

const COMMAND = [];
const WAITS = {};

// Runs hookbox with one event, and returns how it ended and what it said.
function run(event, input, directory) {
  return new Promise((resolve) => {
    const [binary, hook, agent, ...more] = COMMAND;
    const child = spawn(binary, [hook, agent, "--event", event, ...more], {
      cwd: directory,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve({ failure: `hookbox did not answer in ${WAITS[event]} ms` });
    }, WAITS[event]);
    const end = (ended) => {
      clearTimeout(timer);
      resolve(ended);
    };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text) => (said[name] += text));
    }
    child.on("error", (error) => end({ failure: `hookbox cannot be started: ${error.message}` }));
    child.on("close", (code, signal) => end({ code, signal, ...said }));
    // It may answer before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ event, ...input }));
  });
}

// Returns hookbox's answer, and throws where that is a no or no answer.
async function ask(event, input, directory) {
  const { failure, code, signal, stdout, stderr } = await run(event, input, directory);
  if (failure) throw new Error(failure);
  if (code === 2) throw new Error(stderr.trim() || "a hook refused this");
  if (code !== 0) throw new Error(`hookbox ended with ${signal ?? code}: ${stderr.trim()}`);
  if (stdout.trim() === "") return {};
  let answer;
  try {
    answer = JSON.parse(stdout);
  } catch {
    throw new Error(`hookbox did not answer in JSON: ${stdout.trim().slice(0, 200)}`);
  }
  if (!isObject(answer)) throw new Error("hookbox answered with something else than an object");
  return answer;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const Hookbox = async ({ directory, worktree }) => {
  const about = { directory, worktree };
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const texts = parts.filter((part) => part.type === "text").map((part) => part.text);
      await ask("chat.message", { sessionID, prompt: texts.join("\n"), ...about }, directory);
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const input = { tool, sessionID, callID, args: output.args, ...about };
      const { args } = await ask("tool.execute.before", input, directory);
      if (args === undefined) return;
      if (!isObject(args)) throw new Error("hookbox answered with arguments that are no object");
      // The tool is run with this very object, so it is changed and not replaced.
      for (const key of Object.keys(output.args)) delete output.args[key];
      Object.assign(output.args, args);
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, { title, output }) => {
      const input = { tool, sessionID, callID, args, title, output, ...about };
      // The tool has run; there is nothing left to keep from happening.
      await ask("tool.execute.after", input, directory).catch(() => {});
    },
  };
};
