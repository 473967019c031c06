import { allow, block, cache, clock, hook, reminder } from "hookbox";

// How often a tool may be called in how many seconds. Tools that are not here have no limit.
const LIMITS = {
  run_command: { calls: 100, seconds: 60 },
  send_email: { calls: 3, seconds: 3600 },
  web_search: { calls: 5, seconds: 60 },
};

// From this part of a limit on, the model is told what is left.
const WARN_FROM = 0.8;

export const handler = hook((event) => {
  const tool = event.payload.name;
  if (!Object.hasOwn(LIMITS, tool)) return allow();

  const { calls, seconds } = LIMITS[tool];
  const { start, left } = windowAt(clock.now(), seconds * 1000);
  // One step for looking and counting, so that two agents cannot both take the last call.
  const used = cache.increment(`${tool}:${start}`, 1, left);
  const wait = inSeconds(left);

  if (used > calls) {
    return block(`${tool} may be called ${calls} times in ${seconds} seconds; try again in ${wait}`);
  }
  if (used >= calls * WARN_FROM) {
    reminder(`${used} of ${calls} calls of ${tool} are used; in ${wait} there will be ${calls} again.`, {
      dedupeKey: `rate-limiter:${tool}`,
      ttlTurns: 3,
    });
  }
  return allow();
});

/** Returns when the window began that a time lies in, and what is left of it, in milliseconds. */
function windowAt(now, length) {
  const start = now - (now % length);
  return { start, left: start + length - now };
}

function inSeconds(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
