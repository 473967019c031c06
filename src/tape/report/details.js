const DONE = { allow: "allowed", block: "blocked", modify: "modified", ask: "held for a question", undecided: "not decided" };

function detailsView(dispatch, links) {
  const parts = [
    dispatch.difference ? differenceView(dispatch.difference) : null,
    outcomeView(dispatch, links),
    ...dispatch.warnings.map((warning) => el("p", "warning", el("b", "", "warning"), " ", warning)),
    section("chain", dispatch.steps.length ? plural(dispatch.steps.length, "hook") + " in the chain" : "No hook in the chain",
      dispatch.steps.length ? chainView(dispatch) : null),
    dispatch.effects.length ? section("effects", plural(dispatch.effects.length, "effect"), ...dispatch.effects.map(effectView)) : null,
    payloadView(dispatch),
  ];
  return el("div", "inner", ...parts);
}

function section(name, title, ...children) {
  return el("section", name, el("h4", "", title), ...children);
}

function folded(classes, title, content) {
  return el("details", classes, el("summary", "", title), content);
}

function differenceView(difference) {
  return section("difference", `Differs at record ${difference.record}: ${difference.what}`,
    el("p", "legend", el("span", "del", "- expected, from the tape"), " ", el("span", "add", "+ found now")),
    diffView(String(difference.expected).split("\n"), String(difference.found).split("\n"), ["expected", "found"]));
}

function outcomeView(dispatch, links) {
  const verdict = Object.hasOwn(DONE, dispatch.decision) ? DONE[dispatch.decision] : dispatch.decision;
  const word = el("b", "", verdict);
  word.dataset.decision = dispatch.decision;
  const sentence = el("p", "sentence", word, dispatch.hook ? " by " : null, dispatch.hook ? el("b", "", dispatch.hook) : null);
  const reason = dispatch.reason ? block("reason", dispatch.reason) : null;
  return section("outcome", "Outcome", sentence, reason, factList(dispatch, links));
}

function factList(dispatch, links) {
  const facts = el("dl", "facts");
  const add = (name, ...values) => facts.append(el("div", "", el("dt", "", name), el("dd", "", ...values)));
  add("id", dispatch.id);
  if (dispatch.subject) add("subject", dispatch.subject);
  add("time", `${moment(dispatch.time)} UTC`);
  add("tape", `${dispatch.tape}, record ${dispatch.record}`);
  if (dispatch.verdict) add("verdict", dispatch.verdict);
  if (links.parent) add("caused by", links.parent);
  if (links.children.length) add("caused", ...links.children.flatMap((link) => [link, " "]));
  add("link", links.self);
  return facts;
}

function effectView(effect) {
  const { kind, ...rest } = effect;
  const name = ["text", "body", "message"].find((key) => typeof rest[key] === "string");
  const others = Object.entries(rest).filter(([key]) => key !== name)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : prettyLines(value).join(" ")}`);
  return el("div", "effect", el("p", "", el("b", "", kind), " ", el("span", "faint", others.join(" · "))),
    name ? block("code", rest[name]) : null);
}

function payloadView(dispatch) {
  const before = prettyLines(dispatch.payload_before);
  const after = prettyLines(dispatch.payload);
  const same = sameLines(before, after);
  const view = same
    ? section("payload", "Payload, unchanged", block("code", after.join("\n")))
    : section("payload", "Payload, before and after", diffView(before, after, ["before", "after"]));
  view.dataset.changed = String(!same);
  return view;
}

