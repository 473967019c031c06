const DECISIONS = ["allow", "modify", "ask", "block", "undecided"];
const REASON_IN_ROW = 200;
const byId = (id) => document.getElementById(id);
let views = [];
let filters = noFilters();

function start() {
  const report = JSON.parse(byId("data").textContent, keepExact);
  views = inTreeOrder(report.dispatches);
  fillHeader(report);
  fillFilters(report);
  fillList(report);
  byId("report").hidden = false;
  window.addEventListener("hashchange", followLink);
  document.addEventListener("keydown", onKey);
  followLink();
}

// Puts each event after the one that caused it, whatever order the tape closed them in.
function inTreeOrder(dispatches) {
  const many = new Set(dispatches.map((dispatch) => dispatch.tape)).size > 1;
  const keyOf = (tape, number) => (many ? `${tape}:${number}` : String(number));
  const all = dispatches.map((dispatch) => ({ dispatch, key: keyOf(dispatch.tape, dispatch.dispatch), depth: dispatch.depth, children: [], parent: null }));
  const known = new Map(all.map((view) => [view.key, view]));
  for (const view of all) {
    const { parent, tape } = view.dispatch;
    view.parent = (parent !== null && known.get(keyOf(tape, parent))) || null;
    view.parent?.children.push(view);
  }
  const tapes = [...new Set(all.map((view) => view.dispatch.tape))];
  const ordered = new Set();
  for (const tape of tapes) {
    const own = all.filter((view) => view.dispatch.tape === tape);
    own.filter((view) => !view.parent).forEach((view) => visit(view, ordered));
    own.forEach((view) => ordered.add(view)); // A loop of parents has no first one, and must not lose events.
  }
  return [...ordered];
}

function visit(view, ordered) {
  ordered.add(view);
  for (const child of view.children) {
    child.depth = view.depth + 1;
    visit(child, ordered);
  }
}

function fillHeader(report) {
  document.title = `${visible(report.title)} · hookbox`;
  const kinds = { replay: "hookbox replay", check: "hookbox check", against: "hookbox, against other hooks" };
  byId("kicker").append(el("span", "", kinds[report.mode] ?? report.mode, report.created === null ? "" : ` · ${moment(report.created).slice(0, 19)} UTC`));
  byId("title").append(el("span", "", report.title));
  byId("summary").append(...report.summary.map(([label, value]) => el("div", "", el("dt", "", label), el("dd", "", value))));
  const notes = [...report.notes];
  if (report.left_off > 0) notes.push(`${plural(report.left_off, "event")} left off, because the report would be too large.`);
  byId("notes").append(...notes.map((note) => el("li", "note", note)));
  byId("notes").hidden = notes.length === 0;
}

function fillFilters(report) {
  const dispatches = report.dispatches;
  const decisions = tally(dispatches.map((dispatch) => dispatch.decision));
  const names = new Set([...DECISIONS, ...decisions.keys()]);
  byId("decisions").append(...[...names].map((name) => toggleButton("decision", name, decisions.get(name) ?? 0, decisionWord(name), flip)));
  const verdicts = new Map(Object.entries(report.table ?? {}));
  for (const [name, number] of tally(dispatches.map((dispatch) => dispatch.verdict))) {
    if (name !== null && !verdicts.has(name)) verdicts.set(name, number);
  }
  byId("verdicts").append(...[...verdicts].map(([name, number]) => toggleButton("verdict", name, number, el("span", "", name), flip)));
  byId("verdicts").hidden = verdicts.size === 0;
  const hooks = new Set(dispatches.flatMap((dispatch) => [dispatch.hook, ...dispatch.steps.map((step) => step.hook)]).filter(Boolean));
  fillSelect(byId("hook"), new Map([...hooks].map((hook) => [hook, dispatches.filter((dispatch) => tookPart(dispatch, hook)).length])), "all hooks");
  fillSelect(byId("event"), tally(dispatches.map((dispatch) => dispatch.event)), "all events");
  for (const id of ["hook", "event", "q"]) {
    byId(id).addEventListener("input", () => {
      filters[id] = byId(id).value;
      showFiltered();
    });
  }
  byId("clear").addEventListener("click", () => {
    filters = { ...noFilters(), open: filters.open };
    showFiltered();
  });
}

function flip(kind, value) {
  if (!filters[kind].delete(value)) filters[kind].add(value);
  showFiltered();
}

function fillList(report) {
  const list = document.createDocumentFragment();
  const tapes = new Set(views.map((view) => view.dispatch.tape));
  let tape = null;
  for (const view of views) {
    if (tapes.size > 1 && view.dispatch.tape !== tape) list.append(el("h3", "tape", view.dispatch.tape));
    tape = view.dispatch.tape;
    list.append(rowView(view, list.childNodes.length));
  }
  byId("events").append(list);
  byId("columns").hidden = views.length === 0;
  byId("filters").hidden = report.dispatches.length === 0;
}

function rowView(view, at) {
  const { dispatch } = view;
  const id = `details-${at}`;
  view.button = button("row", () => setOpen(view, !filters.open.has(view.key)), ...rowCells(view));
  view.button.setAttribute("aria-expanded", "false");
  view.button.setAttribute("aria-controls", id);
  view.details = el("div", "details");
  view.details.id = id;
  view.details.hidden = true;
  view.article = el("article", "dispatch", el("h3", "", view.button), view.details);
  const hooks = { dispatch: dispatch.dispatch, tape: dispatch.tape, event: dispatch.event, decision: dispatch.decision, depth: view.depth };
  Object.assign(view.article.dataset, hooks, dispatch.verdict === null ? {} : { verdict: dispatch.verdict });
  view.article.style.setProperty("--depth", Math.min(view.depth, 5));
  return view.article;
}

function rowCells({ dispatch, depth }) {
  const failures = dispatch.steps.filter((step) => step.failure).length;
  const fuel = dispatch.steps.reduce((sum, step) => sum + Number(step.fuel ?? 0) + Number(step.when_fuel ?? 0), 0);
  const why = el("span", "why");
  if (dispatch.verdict !== null && dispatch.verdict !== "kept") why.append(el("span", "flag verdict", dispatch.verdict), " ");
  if (failures) why.append(el("span", "flag failed", `${failures} failed`), " ");
  if (dispatch.hook) why.append(el("b", "", dispatch.hook), " ");
  why.append(el("span", "reason", Array.from((dispatch.reason ?? "").slice(0, 2 * REASON_IN_ROW)).slice(0, REASON_IN_ROW).join("")));
  return [
    el("span", "number", dispatch.dispatch), el("span", "time", moment(dispatch.time).slice(11)),
    el("span", depth > 0 ? "event nested" : "event", dispatch.event), el("span", "subject", dispatch.subject),
    decisionWord(dispatch.decision), why,
    el("span", "took", duration(dispatch.took_us)), el("span", "fuel", fuel ? count(fuel) : ""),
  ];
}

function showOpen(view) {
  const open = filters.open.has(view.key);
  if (open && !view.details.hasChildNodes()) view.details.append(detailsView(view.dispatch, linksOf(view)));
  view.button.setAttribute("aria-expanded", String(open));
  view.details.hidden = !open;
}

function setOpen(view, open) {
  if (open) filters.open.add(view.key);
  else filters.open.delete(view.key);
  showOpen(view);
  keepHash();
}

function linksOf(view) {
  const link = (to, text) => {
    const node = el("a", "", text);
    node.href = writeHash({ open: new Set([to.key]) });
    return node;
  };
  const event = (to) => link(to, `event ${to.dispatch.dispatch}`);
  return { self: link(view, "only this event"), parent: view.parent && event(view.parent), children: view.children.map(event) };
}

function showFiltered() {
  let shown = 0;
  for (const view of views) {
    const match = matches(view, filters);
    view.article.hidden = !match;
    if (match) shown += 1;
  }
  for (const heading of document.querySelectorAll("h3.tape")) heading.hidden = !views.some((view) => !view.article.hidden && visible(view.dispatch.tape) === heading.textContent);
  for (const node of document.querySelectorAll("button.toggle")) {
    const kind = node.dataset.decision === undefined ? "verdict" : "decision";
    node.setAttribute("aria-pressed", String(filters[kind].has(node.dataset[kind])));
  }
  for (const id of ["hook", "event"]) choose(byId(id), filters[id]);
  if (byId("q").value !== filters.q) byId("q").value = filters.q;
  byId("clear").hidden = !anyFilter(filters);
  byId("shown").textContent = `${count(shown)} of ${plural(views.length, "event")}`;
  byId("nothing").textContent = views.length ? "No event matches these filters." : "The tape holds no events.";
  byId("nothing").hidden = shown > 0;
  keepHash();
}

// Not a new entry for each letter typed: going back should leave the report's last link, not undo a search.
function keepHash() {
  try {
    history.replaceState(null, "", writeHash(filters) || location.href.split("#")[0]);
  } catch {
    // Some browsers limit how often this may be done; the page works without it.
  }
}

function followLink() {
  filters = readHash(location.hash);
  views.forEach(showOpen);
  showFiltered();
  views.find((view) => filters.open.has(view.key) && !view.article.hidden)?.article.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !event.target.closest("input, select")) {
    event.preventDefault();
    byId("q").focus();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.classList.contains("row")) return;
  const shown = views.filter((view) => !view.article.hidden);
  const next = shown[shown.findIndex((view) => view.button === event.target) + step];
  if (next) {
    event.preventDefault();
    next.button.focus();
  }
}

try {
  start();
} catch (error) {
  byId("problem").textContent = `This report cannot be shown: ${error.message}`;
  byId("problem").hidden = false;
  console.error(error);
}
