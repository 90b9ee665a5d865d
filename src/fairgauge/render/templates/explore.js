// every view of some counts, computed again: the page of fairgauge explore, and what the page that audits goes on with;
// names enter as text alone
const bounded = (cells, ends) => Object.assign(cells, ends.length ? { ends } : {});  // of protected counts
const explore = (data) => {
  const { columns, rates, thresholds, models } = data, V = UI.view, MOST_GROUPS = 200, z = critical(1 - data.confidence);
  // a row for each combination of groups, by label (positive, negative, missing) and by how many places the score
  // reaches, last without a decision
  const tables = data.tables.map(({ counts, ranges = [], ...of }) => ({ ...of, plane: of.places.length + 2, size: 3 * (of.places.length + 2), flats: [counts, ...ranges] }));
  // several rows added up: by label the rows that reach each place, and last those without a decision
  const added = ({ plane, size }, rows, flat) => {
    const sums = new Float64Array(size);
    for (const row of rows) for (let i = 0, at = row * size; i < size; i++) sums[i] += flat[at + i];
    for (let first = 0; first < size; first += plane) for (let i = first + plane - 3; i >= first; i--) sums[i] += sums[i + 1];
    return sums;
  };
  // tp, fp, fn, tn, without a label, without a decision, neither
  const cellsAt = (sums, place) => {
    const plane = sums.length / 3, k = data.turned ? plane - 2 - place : place + 1, [yes, no, none] = [0, 1, 2].map((label) => sums[label * plane + k]);
    return [yes, no, sums[0] - yes, sums[plane] - no, none, sums[2 * plane] - none, sums[plane - 1], sums[2 * plane - 1], sums[3 * plane - 1]];
  };
  // rows of a table: their cells at a place
  const memberOf = (table, rows) => {
    const every = table.flats.map((flat) => added(table, rows, flat));
    return (place) => { const [cells, ...ends] = every.map((sums) => cellsAt(sums, place)); return bounded(cells, ends); };
  };
  const total = (cells) => cells.reduce((a, b) => a + b, 0);
  const less = (a, b) => a.map((n, i) => n - b[i]);
  const without = (all, own) => bounded(less(all, own), (all.ends ?? []).map((end, i) => less(end, own.ends[i])));

  // ---- a view: the groups of some columns under a filter, at a threshold
  const start = {
    rate: Math.max(0, rates.findIndex(({ moves }) => moves)), show: "difference", by: data.by, reference: String(data.reference),
    threshold: data.audited, model: 0, filter: columns.map(() => -1), group: null, sort: null,
  };
  let state = structuredClone(start);
  const fitting = (s) => tables.filter((t) => t.model === s.model && columns.every((_, i) => t.columns.includes(i) || !(s.by.includes(i) || s.filter[i] >= 0)));
  const reachable = (s) => [...new Set(fitting(s).flatMap((t) => t.places))].sort((a, b) => a - b);
  const nearestOf = (places, off) => places.reduce((a, b) => (off(b) < off(a) ? b : a));
  // codes after those of the groups are of values outside them: excluded ones, which count in all rows, and unknown ones
  const membersOf = (s, table) => {
    const width = table.columns.length, { codes } = table, by = s.by.map((i) => [table.columns.indexOf(i), columns[i].groups.length]), rowsOf = new Map(), whole = [];
    const filters = s.filter.flatMap((code, i) => (code < 0 ? [] : [[table.columns.indexOf(i), code]]));
    for (let row = 0, first = 0; first < codes.length; row++, first += width) {
      if (filters.some(([at, code]) => codes[first + at] !== code)) continue;
      const outside = Math.max(...by.map(([at, groups]) => codes[first + at] - groups + 1));
      if (outside > 1) continue;
      whole.push(row);
      if (outside < 1) cached(rowsOf, by.map(([at]) => codes[first + at]).join(), () => []).push(row);
    }
    const groups = [...rowsOf].map(([key, rows]) => ({ key, codes: key.split(",").map(Number), at: memberOf(table, rows) }))
      .sort((a, b) => a.codes.reduce((d, c, i) => d || c - b.codes[i], 0));
    return { groups: groups.map((g) => ({ ...g, name: nameOf(s.by, g.codes) })), whole: memberOf(table, whole) };
  };
  const nameOf = (by, codes) => by.map((i, k) => columns[i].groups[codes[k]]).join(" & ");
  const members = new Map();
  const viewOf = (s) => {
    const table = fitting(s).filter((t) => t.places.includes(s.threshold)).sort((a, b) => a.flats[0].length - b.flats[0].length)[0];
    if (!table) return null;
    const key = [tables.indexOf(table), s.by, s.filter].join("|"), place = table.places.indexOf(s.threshold);
    const { groups, whole } = cached(members, key, () => membersOf(s, table), 16), all = whole(place);
    const counted = groups.map((g) => ({ ...g, cells: g.at(place) })).map((g) => ({ ...g, n: total(g.cells), others: without(all, g.cells) })).filter((g) => g.n > 0);
    return { groups: counted, all };
  };
  const against = (s, view, group) => {
    if (s.reference === "others") return { cells: group.others };
    if (s.reference === "overall") return { cells: view.all, others: group.others };
    const found = view.groups.find(({ key }) => key === s.reference);
    return found && found !== group ? { cells: found.cells } : null;
  };
  const resultOf = (s, view, group, rate, show, z_ = z) => {
    if (show === "rate") return rateOf(rate, group.cells, z_, data.fewest);
    const reference = against(s, view, group);
    if (!reference || !total(reference.others ?? reference.cells)) return null;
    return compareRates(rate, show, group.cells, reference.cells, reference.others ?? null, z_, data.fewest);
  };
  // how an audit of the view marks what is statistically significant: by intervals that hold for all that it tests
  const jointly = (s, view, groups) => {
    const tested = new Set(), alike = new Set(), known = (r) => r && !r.few && !Number.isNaN(r.value) && !Number.isNaN(r.low);
    for (const rate of rates) {
      for (const g of groups) if (["difference", "ratio"].some((show) => known(resultOf(s, view, g, rate, show)))) tested.add(`${rate.test}|${s.reference === "others" && groups.length === 2 ? "" : g.key}`);
      if (groups.filter((g) => known(resultOf(s, view, g, rate, "rate"))).length > 2) alike.add(rate.test);
    }
    return critical(alphaOf(tested.size + 2 * alike.size, data.confidence));
  };
  const neutral = { difference: 0, ratio: 1 };
  const isSignificant = (show, r) => r && !r.few && (r.low > neutral[show] || r.high < neutral[show]);

  // ---- numbers in words
  const number = (value, show) => {
    if (Number.isNaN(value)) return V.undefined;
    if (!Number.isFinite(value)) return value > 0 ? "\u221e" : "\u2212\u221e";
    const text = show === "ratio" ? fixed(value, 2) : fixed(value * 100, 1), isZero = /^-?0\.0*$/.test(text);
    return localised(isZero ? text.replace("-", "") : (show === "difference" && value > 0 ? "+" : "") + text).replace("-", "\u2212");
  };
  const UNITS = { ratio: "", difference: " pp", rate: "%" };
  const level = localised(String(Number((100 * data.confidence).toPrecision(6))));
  const stated = (r, show) => {
    if (Number.isNaN(r.value)) return V.undefined;
    const ends = ([low, high]) => inWords(V.range, { low: number(low, show), high: number(high, show) }), bounds = r.bounds ? `${inWords(V.bounds, { range: ends(r.bounds) })}, ` : "";
    const interval = Number.isNaN(r.low) ? V.no_interval : inWords(V.interval, { level, range: ends([r.low, r.high]) });
    return `${number(r.value, show)}${UNITS[show]} (${bounds}${interval})${r.few ? `, ${UI.because.insufficient}` : ""}`;
  };
  const scoreOf = (i) => (thresholds[i] === null ? "" : String(Number(thresholds[i].toPrecision(6))));
  const referenceName = () => V[state.reference] ?? nameOf(state.by, state.reference.split(",").map(Number));
  const filterWords = () => state.filter.flatMap((code, i) => (code < 0 ? [] : [`${columns[i].name}: ${columns[i].groups[code]}`])).join(", ");

  // ---- what is shown
  let shown = null;
  const axisOf = (show) => {
    if (show === "rate") return { ticks: [0, 0.5, 1], at: (v) => 100 * v };
    const ends = shown.rows.flatMap(({ found }) => found.filter((r) => r && !r.few)).flatMap((r) => [r.low, r.high]);
    return axisFor(show === "ratio", [...ends.filter(Number.isFinite), show === "ratio" ? 1.25 : 0.05]);
  };
  const cellOf = ({ group, found, joint }, i, axis) => {
    const r = found[i], rate = rates[i], td = make("td", { className: i === state.rate ? "on" : "" });
    if (!r || Number.isNaN(r.value)) {
      td.append(make("span", { className: "soft" }, r ? V.undefined : against(state, shown.view, group) ? V.nobody : UI.reference));
      return td;
    }
    const isClear = isSignificant(state.show, joint[i]), text = number(r.value, state.show) + UNITS[state.show];
    Object.assign(td.dataset, { low: r.low, high: r.high, ...(r.bounds ? { bounds: r.bounds } : {}) });
    td.className += `${isClear ? " clear" : ""}${r.few ? " few" : ""}`;
    td.title = `${group.name}, ${rate.title}: ${stated(r, state.show)}`;
    td.append(make("data", { value: String(r.value) }, text, ...(isClear ? [make("span", { className: "unseen" }, ` ${V.significant}`)] : [])), plotted(r, axis.at, state.show === "rate" ? null : 50));
    return td;
  };
  const button = (id, run, ...children) => { const made = make("button", { type: "button", id }, ...children); made.addEventListener("click", run); return made; };
  const drawGrid = () => {
    const axis = axisOf(state.show), [head] = [one("grid").tHead], rows = [...shown.rows];
    head.replaceChildren(make("tr", {}, make("th", { scope: "col" }, UI.group), ...rates.map((rate, i) => {
      const th = make("th", { scope: "col", className: i === state.rate ? "on" : "" }, button(`rate-${i}`, () => update({ rate: i, sort: state.sort === i ? null : i }), rate.title),
        make("span", { className: "ticks", "aria-hidden": "true" }, ...axis.ticks.map((tick) => make("span", {}, number(tick, state.show).replace(/[.,]0+$/, "")))));
      if (state.sort === i) th.ariaSort = "ascending";
      return th;
    })));
    const by = ({ found }) => found[state.sort]?.value ?? NaN;
    if (state.sort !== null) rows.sort((a, b) => (Number.isNaN(by(a)) ? 1 : Number.isNaN(by(b)) ? -1 : by(a) - by(b)));
    one("grid").tBodies[0].replaceChildren(...rows.map((row) => {
      const { group } = row, tr = make("tr", { className: row === shown.detailed ? "picked" : "" }, make("th", { scope: "row" },
        button(`group-${group.key}`, () => update({ group: group.key }), bdi(group.name)), make("small", {}, inWords(V.n, { n: amount(group.n) }))), ...rates.map((_, i) => cellOf(row, i, axis)));
      tr.dataset.group = group.key;
      return tr;
    }));
  };
  const drawSentence = () => {
    const show = state.show === "ratio" ? "ratio" : "difference", rate = rates[state.rate], of = (group, z_) => resultOf(state, shown.view, group, rate, show, z_);
    const known = shown.rows.map(({ group }) => [group, of(group), of(group, shown.z)]).filter(([, r]) => r && !Number.isNaN(r.low));
    const kinds = known.map(([group, r, joint]) => [group.name, r.few ? "few" : !isSignificant(show, joint) ? "alike" : r.high < neutral[show] ? "lower" : "higher"]);
    const what = [rate.title, models.length > 1 && models[state.model].name, rate.moves && data.scored && inWords(V.at, { score: scoreOf(state.threshold) }), filterWords()].filter(Boolean).join(", ");
    one("sentence").textContent = comparedText(what, referenceName(), kinds);
    one("legend").textContent = [V[`legend_${state.show}`], inWords(V.legend, { level, rows: data.fewest.rows, expected: data.fewest.expected }), shown.hidden && inWords(V.hidden, { most: MOST_GROUPS, n: shown.hidden })].filter(Boolean).join(" ");
  };
  const matrix = (name, cells) => {
    const [tp, fp, fn, tn, up, un, lp, ln] = cells.map(amount), cell = (text) => make("td", {}, text), line = (title, ...texts) => make("tr", {}, make("th", { scope: "row" }, title), ...texts.map(cell));
    const unlabelled = cells[4] + cells[5] > 0, undecided = cells[6] + cells[7] > 0, values = (yes, no, none) => [...(data.label ? [yes, no] : []), ...(unlabelled ? [none] : [])];
    const heads = [...(data.label ? data.called.outcomes : []), ...(unlabelled ? [data.label ? V.no_label : UI.rows] : [])];
    return make("table", { className: "matrix" }, make("caption", {}, bdi(name)), make("tr", {}, make("td"), ...heads.map((text) => make("th", { scope: "col" }, text))),
      ...(data.decision ? [line(data.called.decisions[0], ...values(tp, fp, up)), line(data.called.decisions[1], ...values(fn, tn, un))] : []),
      ...(undecided ? [line(data.decision ? V.no_decision : UI.rows, ...values(lp, ln, ""))] : []));
  };
  const drawDetail = () => {
    const row = shown.detailed, rate = rates[state.rate], list = make("dl"), item = (term, text) => list.append(make("dt", {}, bdi(term)), make("dd", {}, text));
    if (!row) return one("detail").replaceChildren(make("p", {}, V.none));
    const { group } = row, reference = against(state, shown.view, group), of = (show) => resultOf(state, shown.view, group, rate, show);
    item(UI.rate, stated(of("rate"), "rate"));
    const [x, n] = countsOf(rate, group.cells).map(amount);
    item(data.protected ? V.rounded : V.counted, inWords(V.of, { x, n }));
    if (reference) item(referenceName(), stated(rateOf(rate, reference.cells, z, data.fewest), "rate"));
    for (const show of ["difference", "ratio"]) if (of(show)) item(V[show], stated(of(show), show));
    const byModel = models.map(({ name }, model) => ({ name, model, group: viewOf({ ...state, model })?.groups.find(({ key }) => key === group.key) })).filter((each) => each.group);
    if (rate.moves) for (const each of byModel) if (each.model !== state.model) item(each.name, stated(rateOf(rate, each.group.cells, z, data.fewest), "rate"));
    one("detail").replaceChildren(make("h2", {}, bdi(group.name)), make("p", {}, `${[capital(rate.title), rate.says].filter(Boolean).join(": ")}.`), list,
      make("div", { className: "matrices" }, ...byModel.map((each) => matrix(models.length > 1 ? `${group.name}, ${each.name}` : group.name, each.group.cells)), ...(reference ? [matrix(referenceName(), reference.cells)] : [])));
  };
  // ---- controls
  const options = (select, values, chosen) => { select.replaceChildren(...values.map(([value, text]) => make("option", { value, textContent: text }))); select.value = String(chosen); };
  const withFilter = (i, code) => ({ ...state, filter: state.filter.map((c, k) => (k === i ? code : c)) });
  // the view with a column among those that make groups; alone where they were counted apart
  const adding = (i) => {
    const both = { ...withFilter(i, -1), by: [...state.by, i].sort((a, b) => a - b) };
    return [both, { ...both, by: [i] }, { ...both, by: [i], filter: start.filter }].find((s) => fitting(s).length);
  };
  const drawControls = () => {
    const isApart = columns.some((_, i) => !state.by.includes(i) && adding(i).by.length === 1), places = reachable(state);
    one("metric").value = String(state.rate);
    one("model").value = String(state.model);
    for (const input of document.querySelectorAll("#show input")) input.checked = input.value === state.show;
    for (const input of document.querySelectorAll("#by input")) {
      input.checked = state.by.includes(Number(input.value));
      input.disabled = input.checked && state.by.length === 1;
    }
    for (const select of document.querySelectorAll("#filters select")) {
      const i = Number(select.dataset.column);
      select.value = String(state.filter[i]);
      select.disabled = state.by.includes(i) || (state.filter[i] < 0 && !fitting(withFilter(i, 0)).length);
    }
    one("apart").textContent = isApart ? V.apart : "";
    options(one("reference"), [["others", V.others], ...(data.protected ? [] : [["overall", V.overall]]), ...shown.view.groups.map((g) => [g.key, g.name])], state.reference);
    one("threshold-part").hidden = !data.scored;
    one("threshold").disabled = one("threshold-number").disabled = places.length < 2;
    one("threshold").value = String(state.threshold);
    one("threshold").ariaValueText = one("threshold-number").value = scoreOf(state.threshold);
    one("threshold-note").textContent = [state.threshold === data.audited ? V.audited : inWords(V.audited_at, { score: scoreOf(data.audited) }), places.length < thresholds.length && V.some_thresholds].filter(Boolean).join("; ");
  };
  const update = (change = {}) => {
    Object.assign(state, change);
    state.threshold = nearestOf(reachable(state), (i) => Math.abs(i - state.threshold));
    const view = viewOf(state), largest = new Set([...view.groups].sort((a, b) => b.n - a.n).slice(0, MOST_GROUPS)), groups = view.groups.filter((g) => largest.has(g)), focused = document.activeElement?.id;
    if (![...view.groups.map(({ key }) => key), "others", "overall"].includes(state.reference)) state.reference = "others";
    const of = (show, z_) => groups.map((group) => rates.map((rate) => resultOf(state, view, group, rate, show, z_))), joint = jointly(state, view, view.groups), found = of(state.show), wider = of(state.show, joint);
    const rows = groups.map((group, i) => ({ group, found: found[i], joint: state.show === "rate" ? [] : wider[i] }));
    shown = { view, rows, z: joint, hidden: view.groups.length - groups.length, detailed: rows.find(({ group }) => group.key === state.group) ?? rows.find(({ group }) => group.key !== state.reference) ?? rows[0] };
    drawGrid(); drawSentence(); drawControls(); drawDetail();
    if (focused && document.activeElement?.id !== focused) one(focused)?.focus({ preventScroll: true });
  };
  // the view as a question for fairgauge audit
  const asked = () => {
    const { by, filter } = state, codes = state.reference.split(","), names = by.map((i) => columns[i].name), where = filter.flatMap((code, i) => (code < 0 ? [] : [columns[i].conditions[code]]));
    return { ...models[state.model].question, sensitive: by.map((i) => columns[i].written).filter((written) => by.length === 1 || typeof written === "object"), intersections: by.length > 1 ? [names] : [],
      threshold: data.scored ? [thresholds[state.threshold]] : [], metrics: ["difference", "ratio"].map((by_) => `${rates[state.rate].name}.${by_}`), where: [...data.where, ...where],
      reference: V[state.reference] ? state.reference : Object.fromEntries(by.map((i, k) => [columns[i].name, columns[i].values[codes[k]]])) };
  };
  const build = () => {
    const on = (id, event, run) => one(id).addEventListener(event, run);
    one("view").replaceChildren(one("view-parts").content.cloneNode(true));
    options(one("metric"), rates.map((rate, i) => [i, rate.title]), state.rate);
    options(one("model"), models.map((model, i) => [i, model.name]), 0);
    one("model-part").hidden = models.length < 2;
    on("metric", "change", (e) => update({ rate: Number(e.target.value) }));
    on("model", "change", (e) => update({ model: Number(e.target.value) }));
    on("reference", "change", (e) => update({ reference: e.target.value }));
    for (const input of document.querySelectorAll("#show input")) input.addEventListener("change", () => update({ show: input.value }));
    columns.forEach((column, i) => {
      const input = make("input", { type: "checkbox", value: String(i) });
      input.addEventListener("change", () => update({ ...(input.checked ? adding(i) : { by: state.by.filter((k) => k !== i) }), group: null, reference: V[state.reference] ? state.reference : "others" }));
      one("by").append(make("label", {}, input, " ", bdi(column.name)));
      const select = make("select", { id: `filter-${i}` });
      options(select, [["-1", V.all], ...column.groups.map((name, code) => [code, name])], -1);
      select.dataset.column = String(i);
      select.addEventListener("change", () => update({ ...withFilter(i, Number(select.value)), group: null }));
      one("filters").append(make("label", {}, bdi(inWords(V.only, { name: column.name })), select));
    });
    one("threshold").max = String(thresholds.length - 1);
    on("threshold", "input", (e) => update({ threshold: Number(e.target.value) }));
    on("threshold-number", "change", (e) => {
      const asked = e.target.valueAsNumber;
      update(Number.isNaN(asked) ? {} : { threshold: nearestOf(reachable(state), (i) => Math.abs(thresholds[i] - asked)) });
    });
    one("export").hidden = !models[0].question;
    on("export", "click", () => save(`# ${one("sentence").textContent.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ")}\n${specification(asked())}`, "audit.toml", "text/plain"));
    on("again", "click", () => update(structuredClone(start)));
    update();
  };
  // how far numbers that Python made of the audited view are from those that this browser computes
  const off = () => Math.max(0, ...data.check.flatMap(([model, by, codes, i, show, ...expected]) => {
    const s = { ...structuredClone(start), model, by, reference: "others" }, view = viewOf(s), group = view?.groups.find(({ key }) => key === codes.join()), r = group && resultOf(s, view, group, rates[i], show);
    return !view ? [] : expected.flatMap((value, k) => {
      const own = r ? [r.value, r.low, r.high][k] : NaN, wanted = Number(value), far = own === wanted ? 0 : Math.abs(own - wanted) / Math.max(1, Math.abs(wanted));
      return value === null ? [] : [Number.isNaN(far) ? Infinity : far];
    });
  }));
  return { build, off };
};
