// The chain of one event: a lane for each hook, a thinner one for each call it made.

function timeScale(dispatch) {
  let end = Number(dispatch.took_us) || 0;
  for (const step of dispatch.steps) {
    end = Math.max(end, step.at_us + step.took_us);
    for (const call of step.calls) end = Math.max(end, call.at_us + call.took_us);
  }
  end = Math.max(end, 1);
  const rough = end / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const gap = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough));
  const ticks = [];
  for (let at = 0; at < end; at += gap) ticks.push(at);
  return { end, ticks };
}

// Positions are set through the style object: the page's policy refuses style attributes.
function place(node, scale, from, length) {
  node.style.left = `${Math.min(100, (100 * from) / scale.end).toFixed(3)}%`;
  if (length !== undefined) node.style.width = `${Math.min(100, (100 * length) / scale.end).toFixed(3)}%`;
  return node;
}

function track(scale, from, length) {
  const ticks = scale.ticks.map((at) => place(el("i", "tick"), scale, at));
  if (from === undefined) return el("span", "track", ...ticks);
  return el("span", "track", ...ticks, place(el("span", "bar"), scale, from, length));
}

function axis(scale) {
  const labels = scale.ticks
    .filter((at) => at === 0 || at < scale.end * 0.92)
    .map((at) => place(el("span", "label", at === 0 ? "0" : duration(at)), scale, at));
  return el("div", "lane axis", el("span", "name", "hook"), el("span", "track", ...labels),
    el("span", "took", "took"), el("span", "fuel", "fuel"), el("span", "memory", "memory"));
}

// A predicate that used fuel was asked, so its hook was reached, whatever ended the chain later.
function stepState(step, settled) {
  if (step.called) return "called";
  if (step.when_fuel !== null && !step.matched) return "predicate said no";
  if (settled) return "not reached";
  return step.matched ? "matched, not called" : "not matched";
}

function endsChain(step, dispatch) {
  return step.called && step.decision === dispatch.decision && (step.decision === "block" || step.decision === "ask");
}

function chainView(dispatch) {
  const scale = timeScale(dispatch);
  const list = el("ol", "chain");
  let settled = false;
  let payload = dispatch.payload_before;
  for (const step of dispatch.steps) {
    const before = step.payload_before === undefined ? payload : step.payload_before;
    list.append(stepView(step, stepState(step, settled), before, scale));
    settled ||= endsChain(step, dispatch);
    if (step.payload_after !== null && step.payload_after !== undefined) payload = step.payload_after;
  }
  return el("div", "waterfall", axis(scale), list);
}

function stepView(step, state, before, scale) {
  const item = el("li", "step", stepLane(step, state, scale));
  item.dataset.hook = step.hook;
  item.dataset.state = state;
  if (step.failure) item.dataset.failure = step.failure.cause;
  const said = stepSaid(step, before);
  if (said.childNodes.length > 0) item.append(said);
  item.append(...step.calls.map((call) => callView(call, scale)));
  return item;
}

function stepLane(step, state, scale) {
  const facts = [step.handler, `priority ${step.priority}`];
  if (step.when_fuel !== null) facts.push(`predicate ${count(step.when_fuel)} fuel`);
  if (state !== "called") facts.push(state);
  const name = el("span", "name", el("b", "", step.hook), step.failure ? failedWord() : step.decision ? decisionWord(step.decision) : null,
    el("span", "facts", facts.join(" · ")));
  const figures = step.called
    ? [duration(step.took_us), step.fuel === null ? "" : count(step.fuel), step.memory_bytes ? memory(step.memory_bytes) : ""]
    : ["", "", ""];
  return el("div", "lane", name, step.called ? track(scale, step.at_us, step.took_us) : track(scale),
    el("span", "took", figures[0]), el("span", "fuel", figures[1]), el("span", "memory", figures[2]));
}

function failedWord() {
  const word = el("span", "decision", icon("failed"), "failed");
  word.dataset.decision = "failed";
  return word;
}

function stepSaid(step, before) {
  const said = el("div", "said");
  if (step.failure) said.append(failureView(step.failure, step.decision));
  if (step.reason) said.append(el("p", "reason", step.reason));
  for (const refusal of step.refusals) said.append(el("p", "refusal", el("b", "", "refused"), " ", refusal));
  for (const log of step.logs) {
    const line = el("p", "log", el("b", "", log.level), " ", log.message);
    line.dataset.level = log.level;
    said.append(line);
  }
  if (step.payload_after !== null && step.payload_after !== undefined) {
    said.append(folded("changes", "what it changed in the payload", diffView(prettyLines(before), prettyLines(step.payload_after), ["before", "after"])));
  }
  return said;
}

function failureView(failure, decision) {
  const view = el("div", "failure", el("p", "", el("b", "", failure.cause), " ", failure.message,
    decision ? el("span", "faint", ` (counts as ${decision})`) : null));
  if (failure.stack) view.append(folded("stack", "stack", block("code", failure.stack)));
  return view;
}

function callView(call, scale) {
  const name = el("span", "name", el("b", "", call.capability), " ", el("span", "gist", call.summary || ""));
  const lane = el("summary", "lane", name, track(scale, call.at_us, call.took_us), el("span", "took", duration(call.took_us)));
  const part = (title, value) => el("div", "", el("h5", "", title), block("code", prettyLines(value).join("\n")));
  const view = el("details", "call", lane, el("div", "exchange", el("p", "gist", call.summary || ""), part("request", call.request), part("answer", call.answer)));
  view.dataset.capability = call.capability;
  return view;
}
