// The filters live in the address (#decision=block,ask&hook=x&q=text&open=3), so that a link shows what its sender saw.

function noFilters() {
  return { decision: new Set(), verdict: new Set(), hook: "", event: "", q: "", open: new Set() };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A broken link still filters by what it says.
  }
}

function readHash(hash) {
  const filters = noFilters();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at);
    if (at < 0 || !Object.hasOwn(filters, name)) continue;
    const value = part.slice(at + 1);
    if (typeof filters[name] === "string") filters[name] = decoded(value);
    else value.split(",").filter(Boolean).forEach((item) => filters[name].add(decoded(item)));
  }
  return filters;
}

function writeHash(filters) {
  const parts = [];
  for (const [name, value] of Object.entries(filters)) {
    const text = typeof value === "string" ? encodeURIComponent(value) : [...value].map(encodeURIComponent).join(",");
    if (text) parts.push(`${name}=${text}`);
  }
  return parts.length ? "#" + parts.join("&") : "";
}

function anyFilter(filters) {
  return filters.decision.size + filters.verdict.size > 0 || [filters.hook, filters.event, filters.q].some(Boolean);
}

function tookPart(dispatch, hook) {
  return dispatch.hook === hook || dispatch.steps.some((step) => step.called && step.hook === hook);
}

function matches(view, filters) {
  const { dispatch } = view;
  if (filters.decision.size && !filters.decision.has(dispatch.decision)) return false;
  if (filters.verdict.size && !filters.verdict.has(dispatch.verdict)) return false;
  if (filters.event && dispatch.event !== filters.event) return false;
  if (filters.hook && !tookPart(dispatch, filters.hook)) return false;
  if (!filters.q) return true;
  view.words ??= searchText(dispatch);
  return view.words.includes(filters.q.toLowerCase());
}

function searchText(dispatch) {
  const words = [dispatch.event, dispatch.id, dispatch.subject, dispatch.reason, dispatch.hook, ...dispatch.warnings];
  for (const step of dispatch.steps) {
    words.push(step.reason, step.failure?.cause, step.failure?.message, ...step.calls.map((call) => call.summary));
  }
  collectWords(dispatch.payload_before, words);
  collectWords(dispatch.payload, words);
  return words.filter((word) => word !== null && word !== undefined).join("\n").toLowerCase();
}

function collectWords(value, words) {
  if (value === null || typeof value !== "object" || value instanceof Exact) return void words.push(String(value));
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) words.push(key);
    collectWords(item, words);
  }
}

function tally(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function toggleButton(kind, value, number, content, change) {
  const node = button("toggle", () => change(kind, value), content, " ", el("span", "count", count(number)));
  node.dataset[kind] = value;
  node.classList.toggle("zero", Number(number) === 0);
  return node;
}

function fillSelect(select, counts, all) {
  select.append(new Option(all, ""));
  for (const name of [...counts.keys()].sort()) select.append(new Option(`${visible(name)} (${counts.get(name)})`, name));
}

// A link may name a hook this report does not have; the list must not then seem to be unfiltered.
function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.append(new Option(`${visible(value)} (0)`, value));
  select.value = value;
}
