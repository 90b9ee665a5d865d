// the form: six questions make a specification, and its answer is shown; a worker reads and counts
const state = { table: null, question: null, counts: null, q: null, audit: null };
const WORKER = typeof document === "undefined";
let worker = null, asking = 0;
const pending = new Map();
const local = { table: null };
const handle = async (what, given, report) => {
  const read = (of, person) => readTable(of.source, of.name, report, of.pasted, person);
  if (what === "read") { local.file = given; local.table = await read(given, null); return local.table; }
  if (given.person && !local.table.cells) local.table = await read(local.file, given.person);
  return auditTable(local.table, given, report);
};
if (WORKER) {
  self.onmessage = ({ data: { id, what, given } }) => handle(what, given, (...far) => self.postMessage({ id, far }))
    .then((result) => self.postMessage({ id, result }), (error) => self.postMessage({ id, error: error.message, known: error instanceof Refused }));
} else {
  try {
    worker = new Worker(URL.createObjectURL(new Blob([document.currentScript.textContent], { type: "text/javascript" })));
    worker.onmessage = ({ data: { id, far, result, error, known } }) => {
      const { report, done, failed } = pending.get(id);
      if (far) return report(...far);
      pending.delete(id);
      if (error !== undefined) failed(known ? new Refused(error) : new Error(error)); else done(result);
    };
    worker.onerror = (event) => { event.preventDefault(); worker = null; for (const { again } of pending.values()) again(); pending.clear(); };
  } catch { worker = null; }
}
const behind = (what, given, report) => (worker ? new Promise((done, failed) => {
  asking += 1;
  pending.set(asking, { report, done, failed, again: () => handle(what, given, report).then(done, failed) });
  worker.postMessage({ id: asking, what, given });
}) : handle(what, given, report));

// ---- the questions
const GUESS = {
  decision: /^(stage|outcome|decision|status|disposition|result|selected|approved|hired|admitted|admit|zusage|entscheidung|ergebnis|prediction|predicted)|(_|\b)(decision|outcome|selected|approved|hired|status)(_|\b)/i,
  label: /^(repaid|label|actual|truth|y_true|reoffended|default(ed)?|observed|qualified|geeignet)/i,
  group: /(^|[^a-z])(sex|gender|geschlecht|race|ethnic\w*|herkunft|disab\w*|religion|nationality|marital|veteran|age|alter(sgruppe)?)($|[^a-z])/i,
  count: /^(count|counts|n|freq|frequency|persons|people|number|anzahl|cases|applicants)$/i,
  good: /^(yes|y|1|true|ja|oui|si|approved?|accepted?|admitted|hired?|selected|advanced?|pass(ed)?|granted|offer(ed)?|invited?|interview(ed)?|repaid|positive|bewilligt|genehmigt|zugesagt|eingestellt|eingeladen|ausgewählt|geeignet)$/i,
};
const MOST_GROUPS = 60;
const isBanded = (c) => c.name && !c.many && c.values.length > 12 && c.values.filter((v) => plain_number(v) === null).every(means_missing);
const usable = (c) => !c.many && c.values.length > 0 && c.values.length <= MOST_GROUPS;
const fill = (id, ...children) => one(id).replaceChildren(...children);
const alarm = (...texts) => make("p", { className: "error", role: "alert" }, ...texts);
const explained = (error) => (error instanceof Refused ? error.message : inWords(UI.unexpected, { message: error.message }));
const fail = (error) => { fill("problem", alarm(make("b", {}, UI.unreadable), " ", explained(error))); one("working").hidden = true; };
const progress = (what) => (part, rows) => { one("bar").value = part; fill("far", `${what}: ${Math.round(100 * part)}%${rows ? `, ${amount(rows)} ${UI.rows}` : ""}`); };
const load = async (source, name, pasted = false) => {
  fill("problem"); one("questions").hidden = one("result").hidden = one("take").hidden = true; one("working").hidden = false;
  try {
    state.table = await behind("read", { source, name, pasted }, progress(UI.reading));
    one("working").hidden = true;
    given = { ...state.table.asked, ...data.given };
    ask();
  } catch (error) { fail(error); }
};
const option = (value, text, selected) => make("option", { value, textContent: text, selected });
const column = (name) => (name ? state.table.columns.find((c) => c.name === name) : undefined);
const byRows = (c) => c.values.map((v, i) => [v, c.counts[i]]).sort((a, b) => b[1] - a[1]);
const isCount = (c) => !c.many && c.values.length > 0 && typed_texts(c.values).every((v) => Number.isInteger(v) && v >= 0);
let given = data.given;
const isOpen = (...keys) => !keys.every((key) => key in given);

const ask = () => {
  const { table } = state, able = table.columns.filter(usable), two = able.filter((c) => c.name && (c.values.length > 1 || c.blanks));
  const looksLikeData = 2 * table.columns.filter((c) => plain_number(c.name) !== null || c.values.includes(c.name) || /^(yes|no|true|false|male|female|white|black|asian)$/i.test(c.name)).length > table.columns.length;
  if (looksLikeData) return fail(refused("headless", { names: listed(table.header) }));
  if (!table.cells && table.columns.filter((c) => two.includes(c) || isBanded(c)).length < 2) return fail(refused("no_two", { most: MOST_GROUPS, n: table.header.length, names: listed(table.header) }));
  const counted = table.columns.find((c) => GUESS.count.test(c.name) && isCount(c));
  const decision = two.find((c) => GUESS.decision.test(c.name) && !GUESS.label.test(c.name) && c !== counted) ?? two.find((c) => c.values.length <= 12 && !GUESS.label.test(c.name) && !GUESS.group.test(c.name) && c !== counted && c.values.some((v) => GUESS.good.test(v.trim())))
    ?? two.find((c) => c.values.length === 2 && !GUESS.group.test(c.name) && !GUESS.label.test(c.name));
  fill("read", inWords(UI.read, { name: table.name, rows: amount(table.fileRows ?? table.rows), columns: table.columns.length }), table.above ? ` ${inWords(UI.read_below, { line: table.above + 1 })}` : "");
  const total = table.columns.flatMap((c) => c.values.filter((v) => is_total(v, c.values)))[0];
  fill("total", total ? inWords(UI.total, { name: total }) : "");
  const choose = (id, chosen, none) => fill(id, ...(none ? [option("", none, !chosen)] : []), ...(id === "decision" ? table.columns.filter((c) => two.includes(c) || isBanded(c)) : two).map((c) => option(c.name, `${c.name} (${c.values.slice(0, 3).join(", ")}${c.values.length > 3 ? " \u2026" : ""})`, c === chosen)));
  choose("decision", decision, decision ? null : UI.choose);
  const label = two.find((c) => GUESS.label.test(c.name) && c !== decision), left = two.filter((c) => ![decision, label, counted].includes(c)), named = left.filter((c) => GUESS.group.test(c.name)), people = named.length || left.length > 1 ? named : left;
  choose("label", label, UI.no_label);
  const broken = table.columns.find((c) => GUESS.count.test(c.name) && c !== counted && !c.many && c.values.filter((v) => plain_number(v) !== null || /^\d{1,3}([.,'\s]\d{3})+$/.test(v)).length > c.values.length / 2);
  fill("miscounted", broken ? inWords(UI.miscounted, { name: broken.name, values: listed(broken.values.filter((v) => !(Number.isInteger(plain_number(v)) && plain_number(v) >= 0)), 3) }) : "");
  fill("count", ...(broken ? [option("?", UI.choose, true)] : []), option("", UI.each, !counted && !broken), ...table.columns.filter((c) => c.name && isCount(c)).map((c) => option(c.name, inWords(UI.counted, { name: c.name }), c === counted)));
  fill("groups", ...table.columns.filter((c) => two.includes(c) || isBanded(c)).map((c) => make("label", { className: "choice" }, make("input", { type: "checkbox", name: "group", value: c.name, checked: people.includes(c) && !isBanded(c) }), " ", bdi(c.name), " ", make("small", {}, inWords(UI.values, { n: c.values.length })))));
  const repeated = repeatedPeople(table, []);
  fill("person", option("", UI.no_person_column, !repeated), ...table.columns.filter((c) => c.name && !table.cells && (c.many || c.values.length > 20)).map((c) => option(c.name, inWords(UI.person_column, { name: c.name }), c.name === repeated)));
  one("repeated").textContent = repeated ? inWords(UI.repeated, { name: repeated }) : "";
  askPerson();
  one("good").hidden = "favourable" in given;
  one("decision").hidden = one("decided").hidden = !isOpen("prediction", "positive");
  const apart = table.columns.filter((c) => c.many || (c.values.length > MOST_GROUPS && !isBanded(c)));
  fill("apart", apart.length ? inWords(UI.apart, { names: listed(apart.map((c) => c.name), 8) }) : "");
  [["q-decision", isOpen("prediction", "positive", "favourable")], ["q-label", isOpen("label") && !table.cells], ["q-groups", isOpen("sensitive")], ["q-unit", isOpen("count") && !table.cells], ["q-rule", !("preset" in given) && isOpen("rules")], ["q-words", isOpen("words") && !("preset" in given)]].forEach(([id, open]) => { one(id).hidden = !open; });
  one("questions").hidden = false;
  askDecision(); askLabel(); askPeople(); askHarm();
  one("questions").scrollIntoView({ block: "start" });
  one("questions").querySelector("fieldset:not([hidden]) select, fieldset:not([hidden]) input, button.main")?.focus({ preventScroll: true });
};
const askPerson = () => { one("repeated").hidden = Boolean(one("person").value); };
const head = (...texts) => make("thead", {}, make("tr", {}, ...texts.map((t) => make("th", { scope: "col" }, t))));
const valueTable = (c, heads, cellOf) => make("div", { className: "scrolls" }, make("table", { className: "values" }, head(...heads),
  make("tbody", {}, ...byRows(c).map(([v, n]) => make("tr", {}, make("th", { scope: "row" }, bdi(v)), make("td", { className: "num" }, amount(n)), make("td", {}, ...cellOf(v)))), ...emptyRow(c))));
const meaningTable = (id, c, name, ...texts) => {
  const initial = likely(c);
  fill(id, valueTable(c, [UI.value, UI.rows, UI.means], (v) => ["yes", "no", "unknown"].map((value, i) => {
    const input = make("input", { type: "radio", name: `${name}:${v}`, value, checked: initial(v) === value, "aria-label": `${v}: ${texts[i]}` });
    return make("label", {}, input, " ", texts[i]);
  })));
};
const emptyRow = (c) => (c.blanks ? [make("tr", {}, make("th", { scope: "row" }, make("i", {}, UI.empty)), make("td", { className: "num" }, amount(c.blanks)), make("td", {}, UI.not_known))] : []);
const likely = (c) => {
  // what is not recognised has no answer yet; numbers are, where they are 0 and 1 alone
  const none = no_outcomes(c.values), binary = c.values.every((v) => none.includes(v) || [0, 1].includes(meaning(v)));
  const isNumber = (v) => plain_number(v) !== null;
  const isOffer = (v) => PATTERNS.declined_offer.test(_fold(v));  // was made, and people turned it down
  const isDeniedElsewhere = (v) => c.values.some((other) => /^(not|nicht|non) /i.test(other) && _fold(other).replace(/^\w+ /, "") === _fold(v));
  return (v) => (isOffer(v) ? null : none.includes(v) ? "unknown" : binary ? ["no", "yes"][meaning(v)] : isNumber(v) ? null : GUESS.good.test(v.trim()) || isDeniedElsewhere(v) ? "yes" : is_adverse(v) || is_no(v.trim()) ? "no" : null);
};
const askDecision = () => {
  const c = column(one("decision").value);
  if (!c) return fill("decided");
  fill("undecided");
  if (isBanded(c)) {
    fill("decided", make("label", {}, `${UI.above} `, make("input", { type: "text", id: "above", inputMode: "decimal", value: given.preset ? String(medianOf(c)) : "" })), make("p", { className: "hint" }, inWords(UI.median, { median: localised(String(medianOf(c))), unknown: notKnown(c).length ? inWords(UI.cut_without, { values: listed(notKnown(c)) }) : "" })));
    return;
  }
  meaningTable("decided", c, "d", UI.got, UI.did_not, UI.nothing);
  fill("undecided", c.values.some(is_undecided) ? UI.undecided : "");
};
const askLabel = () => { const c = column(one("label").value); return c ? meaningTable("labelled", c, "l", UI.yes, UI.no, UI.not_known) : fill("labelled"); };
// what is an outcome or a count describes no people; what is a harm has the rule that the worse off can fail
const askPeople = () => {
  const taken = ["prediction", "label", "count"].map((key) => given[key] ?? one(key === "prediction" ? "decision" : key).value);
  for (const box of document.querySelectorAll("[name=group]")) { box.parentElement.hidden = taken.includes(box.value); box.checked &&= !box.parentElement.hidden; }
  askGroups();
};
const favoured = () => given.favourable ?? picked("favourable"), isHarmful = () => favoured() === "negative";
const askHarm = () => [["rule", "fifths", UI.fifths, UI.fifths_harm], ["reference", "best", UI.best, UI.best_harm]].forEach(([name, value, text, ofHarm]) => {
  document.querySelector(`[name=${name}][value=${value}]`).nextSibling.data = ` ${isHarmful() ? ofHarm : text}`;
});
const medianOf = (c) => {
  const unknown = notKnown(c), known = c.values.map((v, k) => [plain_number(v), c.counts[k], v]).filter(([, , v]) => !unknown.includes(v)).sort((a, b) => a[0] - b[0]), n = known.reduce((a, [, times]) => a + times, 0);
  const at = (rank) => { let left = rank; return known.find(([, times]) => (left -= times) < 0)[0]; };
  return (at(Math.floor((n - 1) / 2)) + at(Math.floor(n / 2))) / 2;
};
const notKnown = (c) => [...c.values.filter((v) => plain_number(v) === null), ...codes_of_missing(c.values)];
const askGroups = () => { const boxes = [...document.querySelectorAll("[name=group]:checked")]; one("crossed").parentElement.hidden = boxes.length < 2 || !isOpen("intersections"); fill("spellings", ...boxes.map(askSpellings)); };
const askSpellings = (box) => {
  const c = column(box.value);
  if (isBanded(c)) return make("label", { className: "choice" }, `${inWords(UI.cut, { name: c.name })} `, make("input", { type: "text", name: "cuts", inputMode: "decimal", placeholder: "30, 40, 50", "data-column": c.name }),
    " ", make("small", {}, notKnown(c).length ? inWords(UI.cut_without, { values: listed(notKnown(c)) }) : ""));
  const by = suggestions(byRows(c), c.name), merged = [...by].some(([text, to]) => to !== text);
  const table = valueTable(c, [UI.in_table, UI.rows, UI.counts_as], (v) => {
    const input = make("input", { type: "text", value: by.get(v) ?? "", placeholder: UI.not_known, "aria-label": `${c.name} ${v} ${UI.counts_as}` });
    Object.assign(input.dataset, { column: c.name, value: v });
    return [input];
  });
  return make("details", { open: merged }, make("summary", {}, bdi(c.name), ": ", merged ? UI.similar : inWords(UI.group_count, { n: c.values.length })), make("p", { className: "hint" }, UI.spelling), table);
};

// ---- the question that the answers make
const picked = (name) => [...document.getElementsByName(name)].find((r) => r.checked)?.value;
const answered = () => {
  const wrong = [];
  const read = (prefix, c) => {
    const means = Object.fromEntries(c.values.map((v) => [v, picked(`${prefix}:${v}`)])), open = c.values.filter((v) => !means[v]);
    if (open.length) wrong.push(inWords(UI.which_means, { name: c.name, values: listed(open) }));
    return means;
  };
  const question = {}, recode = Object.create(null), rule = picked("rule"), preset = given.preset ?? (rule === "law" ? Object.keys(data.presets)[0] : null);
  if (isOpen("prediction", "positive") && !one("decision").value) wrong.push(UI.decision);
  const decision = isOpen("prediction", "positive") ? column(one("decision").value) : null, label = isOpen("label") ? column(one("label").value) : null;
  const scored = decision && isBanded(decision), decided = decision && !scored && read("d", decision), labelled = label && read("l", label), of = (c, means) => c.values.filter((v) => means[v] === "yes");
  if (preset) question.preset = preset;
  if (label) question.label = label.name;
  if (scored) {
    const unknown = notKnown(decision);
    question.prediction = decision.name;
    const values = decision.values.map(plain_number).filter((v) => v !== null), at = one("above").value.trim().replace(",", ".");
    if (at === "" || !(Number(at) >= Math.min(...values) && Number(at) < Math.max(...values))) wrong.push(inWords(UI.which_threshold, { name: decision.name, low: localised(String(Math.min(...values))), high: localised(String(Math.max(...values))) }));
    question.positive = { above: Number(at) };
    if (unknown.length) recode[decision.name] = { unknown };
  } else if (decision) {
    if (!wrong.length && !of(decision, decided).length) throw refused("got");
    if (!wrong.length && !decision.values.some((v) => decided[v] === "no")) throw refused("did_not");
    question.prediction = decision.name;
    // decision and label need the same values with the same meaning: else those of the label are called by those of the decision
    const names = Object.fromEntries(["yes", "no"].map((means) => [means, byRows(decision).find(([v]) => decided[v] === means)?.[0]])), known = new Map(decision.values.filter((v) => decided[v] !== "unknown").map((v) => [String(meaning(v)), decided[v]]));
    const alike_ = !label || label.values.every((v) => labelled[v] === "unknown" || known.get(String(meaning(v))) === labelled[v]);
    question.positive = alike_ ? of(decision, decided) : [names.yes];
    // both outcomes are stated where there are other values, which are neither
    const both = [[decision, decided], [label, labelled]].filter(([c]) => c), stated = alike_ && !one("person").value && both.some(([c]) => c.values.length > 2);
    if (stated) question.negative = [...new Set(both.flatMap(([c, means]) => c.values.filter((v) => means[v] === "no")))];
    for (const [c, means] of both) {
      const to = Object.create(null);
      if (!alike_) for (const m of ["yes", "no"]) { const from = c.values.filter((v) => means[v] === m); if (from.some((v) => v !== names[m])) to[names[m]] = from; }
      const unknown = c.values.filter((v) => means[v] === "unknown");
      if (unknown.length && !stated) to.unknown = unknown;
      if (Object.keys(to).length) recode[c.name] = to;
    }
    if (!alike_) question.words = { label_positive: `${LANGUAGE === "de" ? "" : "had "}${label.name} = ${of(label, labelled).join(" / ")}` };
  }
  if (isOpen("favourable")) {
    if (!favoured()) wrong.push(UI.which_good);
    question.favourable = favoured();
  }
  if (isOpen("sensitive")) {
    question.sensitive = [...document.querySelectorAll("[name=group]:checked")].map((box) => box.value);
    for (const input of document.getElementsByName("cuts")) {
      const { column: name } = input.dataset, cuts = input.value.split(/[;,\s]+/).filter(Boolean).map(Number), unknown = notKnown(column(name));
      if (!cuts.length || !cuts.every(Number.isFinite)) wrong.push(inWords(UI.which_cuts, { name }));
      question.sensitive[question.sensitive.indexOf(name)] = { column: name, cuts };
      if (unknown.length) recode[name] = { unknown };
    }
    for (const name of question.sensitive) {
      const to = Object.create(null);
      for (const input of document.querySelectorAll("#spellings input")) if (input.dataset.column === name) (to[input.value.trim() || "unknown"] ??= []).push(input.dataset.value);
      const kept = Object.entries(to).filter(([n, from]) => from.length > 1 || from[0] !== n);
      if (kept.length) recode[name] = to;
    }
  }
  const sensitive = listOf(question.sensitive ?? given.sensitive).map((s) => s.column ?? s), pairs = sensitive.flatMap((a, i) => sensitive.slice(i + 1).map((b) => [a, b]));
  if (one("crossed").checked && !("intersections" in given) && sensitive.length < 4) question.intersections = sensitive.length === 3 ? [...pairs, sensitive] : pairs;
  if (one("count").value === "?") wrong.push(one("miscounted").textContent);
  else if (isOpen("count") && one("count").value) question.count = one("count").value;
  if (isOpen("person") && one("person").value) question.person = one("person").value;
  const rates = ["selection_rate", ...(question.label || given.label ? ["true_positive_rate"] : [])];
  if (!preset && !("metrics" in given)) question.metrics = rates.flatMap((rate) => [`${rate}.difference`, `${rate}.ratio`]);
  if (!preset && isOpen("rules")) {
    const limit = Number(one("points").value) / 100;
    question.reference = rule === "fifths" ? data.fifths[1] : picked("reference");
    if (rule === "fifths") question.min_share = data.fifths[2];
    if (!rule) wrong.push(UI.which_rule);
    question.rules = { fifths: [isHarmful() ? "selection_rate.ratio <= 1.25" : data.fifths[0]], gap: [`${-limit} <= ${picked("among") === "label" && rates.length > 1 ? rates[1] : rates[0]}.difference <= ${limit}`] }[rule] ?? [];
  }
  if (isOpen("words") && !preset) {
    const noun = one("noun").value.trim(), positive = one("verb").value.trim();
    question.words = { ...question.words, ...(noun ? { noun } : {}), ...(positive ? { positive } : {}) };
  }
  if (wrong.length) throw new Refused(wrong.join(" "));
  if (Object.keys(recode).length) question.recode = recode;
  const both = { ...question, ...given };
  if (question.recode && given.recode) both.recode = { ...question.recode, ...given.recode };
  if (preset && both.favourable === data.presets[preset]?.options.favourable) delete both.favourable;
  return both;
};

// ---- the first page
const dotted = (from, to) => { let d = ""; for (let i = from; i < to;) { const row = Math.floor(i / 10), end = Math.min(to, (row + 1) * 10); d += `M${(i % 10) * 10 + 5} ${row * 10 + 5}h${(end - i - 1) * 10 + 0.01}`; i = end; } return d; };
const pictured = (s, text, g) => {
  const c = s.code === "differs" ? F.counted(s) : null;
  if (!c || c.per !== 100) return null;
  const rings = s.harm === "worse" ? c.counts[1] - c.counts[0] : 0;
  const array = (side, filled, ringed) => {
    const [low, high] = [filled, filled + ringed].sort((a, b) => a - b), whom = `${g.table.page.of_100} ${g.words.joined(F.some(side, "dative"), s.of.among)}`;
    const picture = svg("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": `${filled} ${whom}` }, svg("path", { class: "on", d: dotted(0, low) }));
    if (ringed) picture.append(svg("path", { class: "gap", d: dotted(low, high) }), svg("path", { class: ringed > 0 ? "hole" : "core", d: dotted(low, high) }));
    picture.append(svg("path", { class: "rest", d: dotted(high, 100) }));
    return make("div", { className: "array" }, picture, make("p", {}, make("b", {}, String(filled)), ` ${whom}`, make("small", {}, `${F.count(side.hits)} ${g.table.terms.of} ${F.count(side.n)}`)));
  };
  return make("div", {}, make("h3", {}, text), make("div", { className: "arrays" }, array(s.who, c.counts[0], rings), array(s.than, c.counts[1], 0)), ...(rings ? [make("p", { className: "note" }, UI.rings)] : []));
};
const section = (title, ...children) => make("section", {}, make("h2", {}, title), make("div", {}, ...children));
const TONES = { fail: "bad", pass: "good" };
const show = () => {
  const { q, counts, audit } = state, page = pageOf(counts, q, audit, LANGUAGE), g = page.grammar, title = page.headline ?? page.verdict[0] ?? UI.no_headline, verdict = page.verdict.length ? page.verdict : [UI.no_rule];
  const list = (texts) => make("ul", {}, ...texts.map((t) => make("li", {}, t)));
  const sections = page.answers.map(({ place, question, sentences }) => {
    const texts = sentences.map(({ text }) => text), drawn = place === "found" ? sentences.map(({ s, text }) => pictured(s, text, g)) : [];
    if (place === "looked" || place === "found") return section(question, ...(drawn.some(Boolean) ? [make("div", { className: "pairs" }, ...drawn.filter(Boolean))] : []), ...texts.filter((_, i) => !drawn[i]).map((t) => make("p", {}, t)));
    return section(question, list(texts));
  });
  one("result").replaceChildren(make("p", { className: "brand" }, make("b", {}, "fairgauge"), ` ${state.table.name} \u00b7 ${UI.computed}`), make("h1", { id: "headline", tabIndex: -1, className: title.length > 110 ? "long" : "" }, title),
    make("p", { className: `verdict ${TONES[page.overall] ?? (page.overall === "none" ? "" : "unsure")}` }, make("b", {}, verdict[0]), ...verdict.slice(1).map((t) => make("span", {}, " ", t))),
    ...(counts.repeated ? [make("p", { className: "verdict unsure", id: "several" }, inWords(UI.repeated, { name: counts.repeated }))] : []),
    make("div", { className: "brief" }, ...sections, ...(audit.verdicts.length ? [make("section", {}, make("div", { className: "across" }, ...grid(page)))] : []), make("section", {}, make("div", { className: "across", id: "tables" }, ...tables(page)))));
  one("result").hidden = one("take").hidden = false;
  one("explore").hidden = true;
  document.title = `${title} \u2013 fairgauge`;
  one("headline").focus({ preventScroll: true });
  one("result").scrollIntoView({ block: "start" });
};
const whyText = (v, unit) => (["pass", "fail"].includes(v.outcome) ? "" : inWords(UI.because[v.why.code] ?? v.why.code, { name: v.why.what, rows: v.why.rows === undefined ? "" : F.of(v.why.rows, unit) }));
// rows of groups that are too small to be judged stand behind one that counts them
const folded = (verdicts, row) => {
  const isSmall = (v) => ["small_group", "insufficient"].includes(v.why?.code), small = verdicts.filter(isSmall);
  const rows = small.map((v) => Object.assign(row(v), { hidden: true })), button = make("button", { type: "button", onclick: () => rows.forEach((tr) => { tr.hidden = !tr.hidden; }) }, inWords(UI.small_groups, { n: small.length }));
  return small.length < 3 ? verdicts.map(row) : [...verdicts.filter((v) => !isSmall(v)).map(row), make("tr", { className: "part" }, make("td", { colSpan: 5 }, button)), ...rows];
};
const grid = (page) => {
  const { audit, q } = state, g = page.grammar, unit = unitOf(q);
  return [...new Map(q.rules.map((rule) => [rule.text, rule])).values()].flatMap((rule) => {
    const of = audit.verdicts.filter((v) => v.rule.text === rule.text), ratio = rule.by === "ratio", limits = [rule.low, rule.high].filter(Number.isFinite), judged = of.filter((v) => v.interval && !v.interval.few);
    const { at, ticks } = axisFor(ratio, [...limits.map((v) => (ratio ? v ** 1.3 : 1.3 * v)), ...judged.flatMap((v) => [v.interval.low, v.interval.high])]), [from, to] = [rule.low === -Infinity ? 0 : at(rule.low), rule.high === Infinity ? 100 : at(rule.high)];
    const text = (v) => (ratio ? F.num(v, 3) : `${F.points(v)}`), axis = svg("svg", { class: "axis", "aria-hidden": "true" }, ...ticks.map((t) => { const e = svg("text", { x: `${at(t)}%`, y: 10, "text-anchor": "middle" }); e.textContent = ratio ? F.num(t, 2) : F.points(t); return e; }));
    const row = (v) => {
      const i = v.interval, drawn = i && !Number.isNaN(i.low) && !Number.isNaN(i.value);
      const plot = plotted(drawn ? i : null, at, 50, svg("rect", { fill: "var(--allowed)", height: "100%", x: `${from}%`, width: `${to - from}%` }));
      plot.classList.add(v.outcome);
      return make("tr", {}, make("th", { scope: "row" }, F.cap(F.name(sideOf_(v.r, v.r.group))), ...(v.mirror ? [make("small", {}, inWords(UI.mirrors, { name: F.name(sideOf_(v.mirror, v.mirror.group)) }))] : [])),
        make("td", { className: "n" }, drawn ? `${text(i.value)} (${text(i.low)} \u2026 ${text(i.high)})${ratio ? "" : " pp"}` : UI.no_interval), make("td", { className: "plot" }, plot), make("td", { className: `v ${v.outcome}` }, g.table.terms.word[v.outcome], ...(v.remains === false ? [` (${UI.judged_alone})`] : [])), make("td", { className: "why" }, whyText(v, unit)));
    };
    const body = audit.features.filter((f) => of.some((v) => v.r.feature === f)).map((f) => make("tbody", {}, make("tr", { className: "part" }, make("th", { colSpan: 5, scope: "rowgroup" }, F.feature([f.name, f.names]))), ...folded(of.filter((v) => v.r.feature === f), row)));
    const rule_ = page.all.find((s) => s.code === "rule" && s.facts.text === rule.text), phrase = rule_ ? F.cap(g.state("allowed", "text", rule_)) : rule.text;
    return [make("table", { className: "judged verdicts" }, make("caption", {}, `${UI.every_rule}: \u201c${phrase}\u201d`), make("colgroup", {}, ...["name", "n", "", "v", "why"].map((c) => make("col", { className: c }))),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, UI.group), make("th", { scope: "col" }, UI.ci), make("th", { scope: "col" }, make("span", { className: "unseen" }, UI.ci), axis), make("th", { scope: "col" }, UI.verdict), make("th", { scope: "col" }, UI.why))), ...body),
    make("p", { className: "note" }, inWords(UI.legend, { whom: referenceOf(q) }))];
  }).concat(audit.features.filter((f) => f.columns.length === 1 && unknownOf(f)).map((f) => make("p", { className: "note" }, inWords(UI.unknown_rows, { n: amount(unknownOf(f)), all: F.of(f.known, unit), name: F.feature([f.name, f.names]) })))).concat(audit.doubts.map((d) => make("p", { className: "note" }, inWords(UI.doubted, { what: d.what, rows: F.of(d.rows, unit) }))));
};
const isLeast = (q) => q.favourable === "negative", referenceOf = (q) => (q.reference === "best" ? (isLeast(q) ? UI.best_harm : UI.best).replace(/ \(.*/, "") : UI.others);
// of each column, which of its groups differ
const columnText = (q, rows) => comparedText(q.rates[0].title, referenceOf(q), rows.filter((r) => !r.isReference && r.difference && !Number.isNaN(r.difference.value))
  .map((r) => [F.called(r.group), r.note ? "few" : !r.difference.significant ? "alike" : r.difference.value < 0 ? "lower" : "higher"]));
// each value of an outcome and of a group, with its rows and what it counts as
const countedValues = () => {
  const { counts, q, table } = state, yes = q.question.words?.positive ?? UI.got, no = `${TEXTS[LANGUAGE].table.terms.not} ${yes}`;
  const listed_ = (c, as) => make("details", {}, make("summary", {}, bdi(c.column.name), ": ", UI.how_counted), valueTable(c.column, [UI.value, UI.rows, UI.counts_as], (v) => { const code = c.codes[c.column.values.indexOf(v)] ?? -1; return [code < 0 && c.unstated?.includes(c.merged[c.column.values.indexOf(v)]) ? UI.nothing : code < 0 || c.groupless?.[code] ? UI.not_known : as(code)]; }));
  return table.cells ? [] : [...counts.outcomes.map((o) => listed_(o, (code) => (o.asked.includes(o.names[code]) ? yes : no))), ...counts.columns.map((c) => listed_(c, (code) => F.called(c.names[code])))];
};
const tables = () => {
  const { audit, q } = state, rate = q.rates[0], rows = publishedTable(audit).filter((r) => r.rate === rate.name), cell = (t) => make("td", { className: "num" }, t), ratio = (r) => (r.ratio && !Number.isNaN(r.ratio.value) ? `${F.num(r.ratio.value, 3)} (${F.num(r.ratio.low, 3)} \u2026 ${F.num(r.ratio.high, 3)})` : "\u2013");
  const of = (f) => rows.filter((r) => r.feature === f.names.join(" and "));
  return [make("h2", {}, UI.publish), ...audit.features.map((f) => make("div", { className: "scrolls", tabIndex: 0, role: "group", ariaLabel: f.name }, make("table", { className: "publish" }, make("caption", {}, F.feature([f.name, f.names])), make("thead", {}, make("tr", {}, ...[UI.group, "n", q.question.words?.positive ?? UI.got, UI.rate, q.reference === "best" ? (isLeast(q) ? UI.ratio_least : UI.ratio_best) : UI.ratio_others].map((t, i) => make("th", { scope: "col", className: i ? "num" : "" }, t)))),
    make("tbody", {}, ...of(f).map((r) => make("tr", {}, make("th", { scope: "row" }, bdi(F.called(r.group))), cell(F.count(r.n)), cell(F.count(r.x)), cell(Number.isNaN(r.own.value) ? "\u2013" : F.pct(r.own.value)), cell(r.isReference ? UI.reference : r.note === "insufficient data" ? `${ratio(r)}, ${UI.because.insufficient}` : r.note ? `${ratio(r)}, ${UI.because.small_group}` : ratio(r)))), ...unknownRow(f))), make("p", { className: "note" }, columnText(q, of(f))))),
  make("p", { className: "note" }, inWords(UI.publish_note, { best: q.reference === "best" ? (isLeast(q) ? UI.least_note : UI.best_note) : "" })), ...(q.person ? [make("p", { className: "note" }, inWords(UI.once, { rows: amount(state.counts.fileRows), people: amount(state.counts.read) }))] : []), make("p", { className: "note" }, UI.see_python), ...countedValues()];
};
const unknownRow = (f) => { const n = unknownOf(f); return n ? [make("tr", {}, make("th", { scope: "row" }, make("i", {}, UI.not_known)), make("td", { className: "num" }, F.count(n)), make("td"), make("td"), make("td"))] : []; };

// the counts as explore.js has them: groups that are not known have the code after the next one
const viewsOf = (counts, q) => {
  const columns = counts.columns.map((c) => ({ name: c.name, held: range(c.levels.length).filter((code) => !c.groupless[code]) })), known = columns.map(({ name, held }, i) => ({ name, groups: held.map((code) => counts.columns[i].names[code]) }));
  const codes = counts.cells.flatMap((cell) => cell.codes.map((code, i) => (code < 0 ? known[i].groups.length + 1 : columns[i].held.indexOf(code))));
  const flat = counts.cells.flatMap(({ states }) => states.flatMap(([yes, no, none]) => [no, yes, none]));
  return { columns: known, rates: data.rates.filter((rate) => q.label || rate.needs === 1), thresholds: [null], models: [{ name: "" }], tables: [{ model: 0, columns: range(known.length), places: [0], codes, counts: flat }],
    confidence: 0.95, fewest: FEWEST, audited: 0, scored: false, turned: false, protected: null, label: q.label?.name, decision: q.decision.name, called: data.called, by: [0], reference: "others", where: [], check: [] };
};

// ---- events
const sample = () => {
  let seed = 1973;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647, often = (share, a, b) => (random() < share ? a : b);
  return ["Gender,Race,Qualified,Decision", ...range(1200).map(() => {
    const sex = often(0.48, "Female", "Male"), able = often(0.55, "yes", "no"), share = (able === "yes" ? 0.6 : 0.2) - (sex === "Female" ? 0.13 : 0);
    return [often(0.03, "", sex), often(0.65, "White", often(0.5, "Black", "Asian")), able, often(0.03, "Withdrawn", often(share, "Advance", "Not selected"))].join();
  })].join("\n");
};
const answerForm = async () => {
  fill("wrong");
  try {
    one("working").hidden = false;
    state.question = answered();
    Object.assign(state, await behind("audit", state.question, progress(UI.counting)));
    show();
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    fill("wrong", alarm(explained(error)));
  }
  one("working").hidden = true;
};
const same = (a, b) => a === b || (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)));
const isRight = async () => {
  const made = await api.audit(data.check.text, data.check.question), row = (e) => [e.rule ?? e.metric, e.outcome ?? e.value, e.feature, e.group, e.low, e.high];
  const mine = [...(made.estimates ?? []).map(row), ...(made.verdicts ?? []).map(row)];
  return made.fingerprint === data.check.fingerprint && mine.length === data.check.rows.length
    && data.check.rows.every((row_) => mine.some((r) => r.every((v, k) => same(v, row_[k]))));
};
const start = async () => {
  if (!(await isRight().catch(() => false))) {
    api.audit = async () => ({ refused: [UI.check_failed] });
    one("ask").replaceChildren(alarm(UI.check_failed));
    return;
  }
  const drop = one("drop"), on = (id, event, run) => one(id).addEventListener(event, run), choice = () => { const [file] = one("file").files; if (file) load(file, file.name); one("file").value = ""; };
  ["dragover", "dragenter"].forEach((e) => document.addEventListener(e, (event) => { event.preventDefault(); drop.classList.add("over"); }));
  ["dragleave", "drop"].forEach((e) => document.addEventListener(e, () => drop.classList.remove("over")));
  document.addEventListener("drop", (event) => { event.preventDefault(); const [file] = event.dataTransfer.files; if (file) load(file, file.name); });
  on("file", "change", choice);
  on("use", "click", () => { if (one("paste").value.trim()) load(new Blob([one("paste").value]), "pasted cells", true); });
  on("paste", "paste", () => setTimeout(() => one("use").click()));
  document.addEventListener("paste", (event) => { if (!event.target.matches("input, textarea")) { const text = event.clipboardData.getData("text"); if (text.trim()) load(new Blob([text]), "pasted cells", true); } });
  on("example", "click", () => load(new Blob([sample()]), "example.csv"));
  on("decision", "change", () => { askDecision(); askPeople(); }); on("label", "change", () => { askLabel(); askPeople(); }); on("count", "change", askPeople); on("person", "change", askPerson); on("groups", "change", askGroups); on("good", "change", askHarm);
  // an answer belongs to what was asked: whoever changes the question asks again
  on("questions", "input", () => { one("result").hidden = one("take").hidden = one("explore").hidden = true; fill("wrong"); });
  // whom the rule of four fifths compares with is part of it
  on("q-rule", "change", ({ target }) => { if (target.name === "rule") for (const radio of document.getElementsByName("reference")) { radio.checked = radio.value === (target.value === "fifths" ? data.fifths[1] : "others"); radio.disabled = target.value === "fifths"; } one("q-words").hidden = target.value === "law" || !isOpen("words"); });
  on("questions", "submit", (event) => { event.preventDefault(); answerForm(); });
  on("save-table", "click", () => save(publishedCsv(state.audit), "table.csv", "text/csv"));
  on("save-question", "click", () => save(specification(state.question), "audit.toml", "text/plain"));
  on("save-counts", "click", () => { if (!state.counts.rows.some((r) => r.cases < 10) || confirm(UI.small_counts)) save(savedCounts(state.counts, state.q).text(), "counts.cube.json", "application/json"); });
  on("print", "click", () => print());
  on("go-on", "click", () => { one("explore").hidden = false; explore(viewsOf(state.counts, state.q)).build(); one("explore").scrollIntoView({ block: "start" }); });
  document.documentElement.dataset.ready = "yes";
};
if (!WORKER) start();
