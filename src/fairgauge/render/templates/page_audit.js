// the audit: counts of a table, comparisons and verdicts, as fairgauge audit has them; critical values and worst cases
const FEWEST = { rows: 20, expected: 5 }, MANY = 0.01, RATES = data.rates.filter((rate) => rate.event);
const tukey = (() => {
  const step = 1 / 16, points = range(2 * 9 * 16 + 1).map((i) => -9 + i * step), beyond = points.map(normalTail);
  const density = points.map((p) => Math.exp(-p * p / 2) * step / SQRT_2PI), held = new Map();
  const tail = (q, groups) => Math.min(Math.max(points.reduce((sum, p, i) => {
    const between = Math.max(beyond[i] - normalTail(p + q), 0);
    return sum + groups * density[i] * (beyond[i] ** (groups - 1) - between ** (groups - 1));
  }, 0), 0), 1);
  return (groups, alpha) => cached(held, `${groups}|${alpha}`, () => fallsTo((q) => tail(q, groups), alpha) / Math.SQRT2);
})();

// ---- Manski's worst cases: states are rows by label and prediction, positive, negative or missing
const zero = () => [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
const plus = (a, b) => a.map((row, i) => row.map((n, j) => n + b[i][j]));
const summed = (groups, of = "states") => groups.reduce((a, g) => plus(a, g[of]), zero());
const rowsOf = (s) => s.flat().reduce((a, b) => a + b, 0);
const cellsOf = (s) => [s[0][0], s[1][0], s[0][1], s[1][1], s[2][0], s[2][1], s[0][2], s[1][2], s[2][2]];
const NEEDS = { 1: ["prediction"], 2: ["label", "prediction"] }, WEIGHTS = new Map();
const weightsOf = (rate, atLeast, outcomes) => cached(WEIGHTS, [rate.name, atLeast, outcomes].join(), () => share_weights(rate.sums[0], rate.sums[1], NEEDS[rate.needs], atLeast, outcomes));
// of all rows those that state what a rate needs, or may
const statingOf = (needs, outcomes) => cached(WEIGHTS, [needs, outcomes].join(), () => share_weights([1, 1, 1, 1], [1, 1, 1, 1], NEEDS[needs], true, outcomes)[1]);
// of rows without a group, and of rows without an outcome; with the best group as the reference, rows without a group may
// also make another group the best
const worstCases = (feature, group, rate, by, best = null, fewest = 0, least = false) => [false, true].flatMap((outcomes) => {
  // people whose decision an unknown one could change have none here
  const states = (g, open = g.open) => (outcomes ? plus(g.states, open) : g.states).flat(), stating = statingOf(rate.needs, outcomes), complete = statingOf(rate.needs, false);
  const sums = (kinds) => kinds.map((k) => states(k)).reduce((a, of) => a.map((n, i) => n + of[i]), new Array(9).fill(0));
  const size = (k) => (outcomes ? rowsOf(k.states) : k.n), shares = (of, atLeast, any = outcomes) => weightsOf(rate, atLeast, any).map((weights) => dot(weights, of));
  const sideFor = (g) => { const kinds = feature.unknown.filter((k) => k.fits.has(g.key)); return { states: states(g), may: sums(kinds), are: new Array(9).fill(0), apart: kinds.reduce((a, k) => a + size(k), 0) }; };
  const own = sideFor(group), theirs = best ? sideFor(best)
    : { states: states({ states: group.others }, group.othersOpen), may: sums(feature.unknown.filter((k) => k.fits.has(group.key))), are: sums(feature.unknown.filter((k) => !k.fits.has(group.key))), apart: Infinity };
  const rows = outcomes
    ? [...feature.groups, ...feature.unknown].map((k) => states(k)).reduce((a, of) => a + of.reduce((b, n) => b + n, 0) - dot(complete, of), 0)
    : feature.unknown.reduce((a, k) => a + k.n, 0);
  if (!rows) return [];
  // needed: how many of those who may be of a side are, at least; those of no outcome are in no rate
  const ends = (side, needed = 0) => [true, false].map((atLeast) => {
    const [[x, n], [hits, among], more] = [side.states, side.are, side.may].map((of) => shares(of, atLeast));
    return end_of_share([x + hits, n + among], more, dot(stating, side.may), needed, atLeast);
  });
  const sharedEnds = (side, needed = 0) => {
    const [low, high] = ends(side, Math.max(needed - (side.apart - dot(stating, side.may) - dot(stating, side.are)), 0)).map(([x, n]) => quotient(x, n));
    return [Number.isNaN(low) ? 0 : low, Number.isNaN(high) ? 1 : high];
  };
  const reached = contrast_limits(sharedEnds(own), sharedEnds(theirs), by === "ratio"), extreme = [[own, theirs], [own, theirs]], worse = least ? 1 : 0;
  if (best) {
    const known = (g) => rowsOf(g.states) - (outcomes ? 0 : g.states[2][2]), needs = (g) => Math.max(fewest - known(g), 0);
    const others = feature.groups.filter((g) => g !== best && needs(g) <= sideFor(g).apart);
    const beside = others.filter((g) => (g === group || !feature.large.includes(g))
      && (least ? sharedEnds(sideFor(g), needs(g))[0] < sharedEnds(theirs)[1] : sharedEnds(sideFor(g), needs(g))[1] > sharedEnds(theirs)[0]));
    const pairs = [...others.filter((g) => g !== group).map((g) => [group, g]), ...beside.map((g) => [best, g])];
    for (const [first, second] of pairs) {
      const sides = [sideFor(first), sideFor(second)], end = contrast_limits(sharedEnds(sides[0]), sharedEnds(sides[1], needs(second)), by === "ratio")[worse];
      if (least ? end > reached[1] : end < reached[0]) { reached[worse] = end; extreme[worse] = sides; }
    }
  }
  const variances = (sides) => sides.map((side) => [shares(side.states, true, false), ...ends(side)].map(([x, n]) => share_variance(x, n, by === "ratio")));
  const [va, vb] = variances([own, theirs]), [[la, lb], [ha, hb]] = extreme.map(variances);
  const wider = [la[1] + lb[2], ha[2] + hb[1]].map((end) => relative_standard_error(end, va[0] + vb[0]));
  return [{ outcomes, rows, low: reached[0], high: reached[1], wider }];
});
const reachedBy = ({ value, low, high }, worst, by) => {
  const [below, above] = worst_case_limits([low, high], [worst.low, worst.high], value, by === "ratio", worst.wider);
  return by === "ratio" ? [Math.max(below, 0), above] : [Math.max(below, -1), Math.min(above, 1)];
};

// ---- the question: a specification, of which the page answers a part
const listOf = (value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]);
const readRule = (rule) => {
  if (typeof rule !== "string") {
    const { metric, at_least: low = -Infinity, at_most: high = Infinity, ...more } = rule;
    if (Object.entries(more).some(([key, v]) => !({ decide: "interval", insufficient: "report" }[key] === v))) throw refused("keys", { keys: listed(Object.keys(more)) });
    return ruleOn(metric, low, high);
  }
  const found = split_limit(rule);
  if (!found) throw refused("keys", { keys: rule });
  return ruleOn(...found);
};
const ruleOn = (metric, low, high) => {
  const [name, by] = String(metric).split("."), rate = RATES.find((r) => r.name === name);
  if (!rate || !["difference", "ratio"].includes(by)) throw refused("keys", { keys: metric });
  const limit = (v) => String(Number(v.toPrecision(12)));
  const text = low > -Infinity && high < Infinity ? `${limit(low)} <= ${metric} <= ${limit(high)}` : high === Infinity ? `${metric} >= ${limit(low)}` : `${metric} <= ${limit(high)}`;
  return { rate, by, low, high, metric, text };
};
const asked = (given, table) => {
  const preset = given.preset ? data.presets[given.preset] : {};
  if (!preset) throw refused("keys", { keys: given.preset });
  const question = { ...preset.options, ...given };
  if (["higher", "lower"].includes(question.favourable)) throw refused("keys", { keys: "favourable" }); // of amounts
  if (preset.options?.favourable && question.favourable !== preset.options.favourable) throw new Refused(inWords(UI.contradicts, { favourable: question.favourable, preset: given.preset }));
  const odd = Object.keys(question).filter((key) => !data.keys.includes(key) && listOf(question[key]).length);
  if (odd.length) throw refused("keys", { keys: listed(odd) });
  if (question.confidence !== undefined && question.confidence !== 0.95) throw refused("keys", { keys: "confidence" });
  const column = (name, what) => {
    const found = table.columns.find((c) => c.name === name);
    if (!found && table.cells && ["count", "person"].includes(what)) return { name };
    if (!found) throw refused("column", { name, what, columns: listed(table.header) });
    if (found.many) throw refused("many", { name, most: amount(MOST_VALUES) });
    return found;
  };
  const features = listOf(question.sensitive).map((s) => column(typeof s === "string" ? s : s.column, "sensitive"));
  const cuts = new Map(listOf(question.sensitive).filter((s) => typeof s !== "string").map((s) => [s.column, fromBirth(s.column, s.cuts ?? [])]));
  if (listOf(question.sensitive).some((s) => typeof s !== "string" && Object.keys(s).some((key) => !["column", "cuts"].includes(key)))) throw refused("keys", { keys: "sensitive" });
  for (const [name, of] of cuts) if (!of.every((v, i) => Number.isFinite(v) && (!i || v > of[i - 1]))) throw new Refused(inWords(UI.which_cuts, { name }));
  if (!features.length) throw refused("people");
  if (features.length > 3) throw refused("three");
  if (!question.prediction) throw new Refused(UI.decision);
  const reference = question.reference ?? "others";
  if (!["others", "best"].includes(reference)) throw refused("keys", { keys: "reference" });
  if (reference === "best" && question.favourable === "neither") throw refused("best");
  const rules = listOf(question.rules).map(readRule), compared = listOf(question.metrics).flatMap((metric) => (RATES.some((r) => r.name === metric) ? [`${metric}.difference`, `${metric}.ratio`] : [metric]));
  const rates = new Set(compared.map((metric) => ruleOn(metric, 0, 1).rate)), asks = new Set([...compared, ...rules.map((r) => r.metric)]);
  rules.forEach((rule) => rates.add(rule.rate));
  for (const { rate, metric, by, text, ...ends } of rules) {
    const { adverse } = rate.directions[question.favourable ?? "positive"], [end, other] = adverse > 0 ? ["high", "low"] : ["low", "high"];
    if (!adverse || rules.some((each) => each.metric === metric && Number.isFinite(each[end]) && !(by === "ratio" && each[end] >= 80))) continue;
    const most = ends.high >= 80 ? ends.high / 100 : ends.high;  // a ratio in per cent
    const instead = by === "difference" ? -ends[other] : Number((adverse > 0 && most < ends.high ? most : 1 / (adverse > 0 ? ends.low : most)).toFixed(4));
    throw new Refused(inWords(UI.limits_the_better_off, { rule: text, instead: `${metric} ${adverse > 0 ? "<=" : ">="} ${instead}` }));
  }
  if (!rates.size) RATES.slice(0, question.label ? 2 : 1).forEach((rate) => rates.add(rate));
  if ([...rates].some((rate) => rate.needs === 2 && !question.label)) throw refused("label");
  const above = question.positive?.above ?? null, positive = above === null ? listOf(question.positive) : [];
  if (above !== null && (question.label || !Number.isFinite(above))) throw new Refused(UI.score_alone);
  if (question.positive?.closed) throw refused("keys", { keys: "positive.closed" });
  if (question.person && listOf(question.negative).length) throw refused("keys", { keys: listed(["person", "negative"]) });
  if (question.person && (question.label || question.count)) throw new Refused(UI.person_alone);
  const at = new Map(features.map((c, i) => [c.name, i]));
  if (preset.crossed && !("intersections" in given) && features.length > 1) question.intersections = [features.map((c) => c.name)];
  const crossed = listOf(question.intersections).map((names) => (typeof names === "string" ? names.split("*") : names).map((name) => {
    if (!at.has(name)) throw refused("keys", { keys: listed(names) });
    return at.get(name);
  }));
  const used = [question.prediction, question.label, ...features.map((c) => c.name)].filter(Boolean);
  if (new Set(used).size < used.length) throw refused("twice_used");
  return { given, question, features, cuts, crossed, reference, rules, positive: positive.length ? positive : [1], stated: positive, negative: listOf(question.negative), above,
    person: question.person ? column(question.person, "person") : null, decision: column(question.prediction, "prediction"), label: question.label ? column(question.label, "label") : null,
    count: question.count ? column(question.count, "count") : null, rates: RATES.filter((rate) => rates.has(rate)),
    metrics: listOf(question.metrics), asks, minShare: question.min_share ?? 0, minN: question.min_n ?? null, favourable: question.favourable ?? null,
    words: { ...preset.words, ...question.words }, recode: question.recode ?? {}, unknown: listOf(question.unknown), accept: listOf(question.accept).map((code) => code.replaceAll(" ", "_")), preset };
};

// ---- counting: from codes to a table of counts, in pieces
const recoded = (c, q, unknown) => {
  const rules = q.recode[c.name] ?? {}, to = new Map(), whole = typed_texts(c.values), numeric = typeof whole[0] === "number";
  const same = (v) => String(numeric ? plain_number(String(v)) ?? v : v);
  for (const [name, values] of Object.entries(rules)) for (const v of listOf(values)) to.set(same(v), name === "unknown" ? null : name);
  const absent = new Set(unknown.map((v) => String(meaning(v))));
  return c.values.map((v) => { const named = to.has(same(v)) ? to.get(same(v)) : v; return named !== null && absent.has(String(meaning(named))) ? null : named; });
};
// the levels of a column in order, and for each text of the table its place; -1 of what is not known
const BEFORE_BIRTH = -0.001; // the cut below bands of ages: an age of -2 is in none of them
const fromBirth = (name, cuts) => (cuts[0] > 0 && is_column_of("age", name) ? [BEFORE_BIRTH, ...cuts] : cuts);
const statedCuts = (cuts) => cuts.filter((cut) => cut !== BEFORE_BIRTH);
const bandsOf = (cuts) => { if (cuts[0] === BEFORE_BIRTH) return ["[-inf, 0)", ...bandsOf(statedCuts(cuts))]; const ends = ["-inf", ...cuts, "inf"]; return range(cuts.length + 1).map((i) => `(${ends[i]}, ${ends[i + 1]}${i < cuts.length ? "]" : ")"}`); };
// values that are ``stated`` as neither outcome have no place
const levelled = (c, q, cuts = [], stated = null) => {
  if (c.levels) return { column: c, name: c.name, cuts: cuts.length ? cuts : undefined, levels: c.levels, names: cuts.length ? bandsOf(cuts) : c.values, codes: c.levels.map((_, code) => code) };
  const merged = recoded(c, q, []), texts = [...new Set(merged.filter((m) => m !== null))], values = typed_texts(texts);
  if (cuts.length) {
    const odd = [...texts.filter((v) => plain_number(v) === null), ...grouped(texts)];
    if (odd.length) throw new Refused(inWords(UI.no_numbers, { name: c.name, values: listed(odd, 3) }));
    return { column: c, name: c.name, cuts, levels: range(cuts.length + 1), names: bandsOf(cuts),
      codes: Int16Array.from(merged, (m) => (m === null ? -1 : cuts.filter((cut) => plain_number(m) > cut).length)) };
  }
  const levels = [...new Set(values)].filter((v) => !stated || is_one_of(v, stated)).sort(inOrder), of = new Map(texts.map((text, k) => [text, values[k]]));
  return { column: c, name: c.name, levels, names: levels.map(String), unstated: [...new Set(values)].filter((v) => !levels.includes(v)).sort(inOrder),
    merged: merged.map((m) => (m === null ? null : of.get(m))), codes: Int16Array.from(merged, (m) => (m === null ? -1 : levels.indexOf(of.get(m)))) };
};
// numbers of columns that are cut, by intervals around codes of missing ones; the last are missing
const codedColumns = (axes, q) => [...new Map([...axes.filter((c) => c.cuts), ...(q.count ? [{ name: q.count.name, column: q.count }] : [])].map((c) => [c.name, c])).values()].map((c) => {
  const merged = c.column.levels ? [] : recoded(c.column, q, []), none = AROUND_CODES.length + 1;
  const bins = merged.map((m) => (m === null ? none : AROUND_CODES.filter((edge) => plain_number(m) > edge).length)), sums = () => new Array(none + 1).fill(0);
  return { name: c.name, bins, none, codes: CODES.get(c.column), of: c.column, n: sums(), cases: sums(), open: sums() };
});
const addCoded = (c, bin, n, cases, open = 0) => { c.n[bin] += n; c.cases[bin] += cases; c.open[bin] += open; };
const binOf = (c, row) => (c.codes[row] === c.of.none ? c.none : c.bins[c.codes[row]]);
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
// whether a column counts the rows, in whichever order
const numbersRows = (c, rows) => {
  if (c.many) return c.most - c.least === rows - 1 && distinctOf(c) === rows;
  const held = {};
  if (c.values.length === rows) c.values.forEach((value) => addNumber(held, value));
  return rows > 1 && held.most - held.least === rows - 1;
};
// of a column of too many values these are the distinct hashes; blanks are NaN, which sorts last
const distinctOf = (c) => (c.many ? CODES.get(c).slice().sort().reduce((a, hash, i, all) => a + (hash === all[i - 1] || Number.isNaN(hash) ? 0 : 1), 0) : c.values.length);
// whether a table of counts stands several times: those of other people have other counts
const pastedCounts = (q, table) => {
  const rows = new Map(), codes = table.columns.map((c) => CODES.get(c));
  for (let row = 0; row < table.rows; row++) { const key = codes.map((of) => of[row]).join(); rows.set(key, (rows.get(key) ?? 0) + 1); }
  const [times, ...others] = new Set(rows.values());
  return times > 1 && !others.length && new Set(q.count.values).size >= 4 ? [["times", times], ["different", rows.size]] : [];
};
// what shows that rows are copies of others, as api/_first_rows.py finds it
const copiesOf = (q, table, rows, axes, conflicts) => {
  if (table.cells) return table.copies;
  if (q.count) return table.rows <= MOST_COMPARED ? pastedCounts(q, table) : [];
  const people = rows.reduce((a, r) => a + r.cases, 0), unnamed = q.person ? conflicts.find(([name]) => name === q.person.name)?.[1] ?? 0 : 0;
  const of = rows.map((r) => r.n).filter(Boolean), combinations = axes.reduce((a, c) => a * Math.max(1, c.levels.length), 1);
  const times = !q.person ? of.reduce(gcd, 0) : unnamed && table.rows - unnamed >= 2 * (people - unnamed) ? gcd(unnamed, table.rows) : 1;
  if (table.rows <= (times > 1 ? MOST_COMPARED : q.person ? 0 : 2e5 / table.columns.length)) {
    const own = table.columns.filter((c) => !numbersRows(c, table.rows)), read = own.length ? own : table.columns, held = new Map(), codes = read.map((c) => CODES.get(c));
    const ofRow = range(table.rows).map((row) => cached(held, codes.map((of_) => of_[row]).join(), () => held.size));
    const found = copies_of_rows(ofRow, read.map((c) => distinctOf(c) + (c.blanks ? 1 : 0)));
    return [...found, ...(unnamed && found.size && !found.has("copied") ? [["unnamed", unnamed]] : [])];
  }
  return q.person || !are_multiples(of, combinations, false) ? [] : [["times", times], ["different", of.length], ["cells", 1]];
};
// values that count as another one, or are neither outcome, as a cube lists what it observed
const roleOf = (c, q) => (c.column === q.decision ? "prediction" : c.column === q.label ? "label" : "feature");
const unstatedValues = (remade, q) => remade.flatMap(({ c, n, cases }) => c.unstated.map((v) => ["unstated", c.name, String(v), ...[n, cases].map((of) => of.reduce((a, rows, i) => a + (c.merged[i] === v ? rows : 0), 0)), roleOf(c, q), null]));
const recodedValues = (remade, q) => remade.flatMap(({ c, n, cases }) => typed_texts(c.column.values).flatMap((v, i) => (n[i] ? [["recoded", c.name, String(v), ...(q.person ? [0, 0] : [n[i], cases[i]]), roleOf(c, q), c.merged[i] === null ? null : String(c.merged[i])]] : [])))
  .filter(([, , value, , , , became]) => value !== became).sort((a, b) => byPoints(...[a, b].map(([code, name, value, , , role, became]) => [code, name, role, value, became ?? "None"].join("\0"))));
const countRows = async (q, table, report = () => {}) => {
  const columns = q.features.map((c) => levelled(c, q, q.cuts.get(c.name))), outcomes = [q.label, q.decision].filter(Boolean).map((c) => levelled(c, q, q.above === null ? [] : [q.above], q.negative.length ? [...q.positive, ...q.negative] : null));
  for (const c of columns) {
    const absent = c.levels.map((level) => (c.cuts ? c.cuts[0] === BEFORE_BIRTH && level === 0 : is_one_of(level, q.unknown)));
    c.groupless = absent;
    c.shown = c.codes.map((code) => (code >= 0 && absent[code] ? -1 : code));
  }
  outcomes.forEach((o) => { if (!o.cuts && ways_of_writing(o.levels, q.stated).length > 1) throw refused("two_codings", { name: o.name, values: listed(o.names) }); });
  const state = outcomes.map((o) => o.levels.map((level) => (is_one_of(level, q.above === null ? q.positive : [1]) ? 0 : 1)));
  if (!state.at(-1).includes(0)) throw refused("got");
  const weights = q.count && !table.cells ? typed_texts(q.count.values) : null, cells = new Map(), axes = [...columns, ...outcomes], coded = table.cells ? table.coded : codedColumns(axes, q);
  const uncounted = weights ? [...q.count.values.filter((v) => !(Number.isInteger(plain_number(v)) && plain_number(v) >= 0)), ...grouped(q.count.values)] : [];
  if (uncounted.length) throw refused("counts", { name: q.count.name, values: listed(uncounted, 3) });
  let without = table.excluded?.[data.no_count] ?? 0, rested = performance.now(), conflicts = [];
  const add = (codes, n, cases, open = 0) => { const cell = cached(cells, codes.join(), () => ({ codes, n: 0, cases: 0, open: 0 })); cell.n += n; cell.cases += cases; cell.open += open; };
  const read = axes.map((c) => ({ codes: CODES.get(c.column), to: c.codes, of: c.column })), codesOf = (row) => read.map(({ codes, to, of }) => (codes[row] === of.none ? -1 : to[codes[row]]));
  const times = weights && CODES.get(q.count), pause = async (row) => { if (performance.now() - rested > 40) { report(row / table.rows); await new Promise((r) => setTimeout(r)); rested = performance.now(); } };
  const remade = table.cells ? [] : axes.filter((c) => !c.cuts && (q.recode[c.name] || c.unstated.length)).map((c) => ({ c, codes: CODES.get(c.column), n: c.column.values.map(() => 0), cases: c.column.values.map(() => 0) }));
  if (table.cells) table.cells.forEach((c) => add(c.codes, c.n, c.cases, c.open));
  else if (q.person) {
    remade.forEach((r) => r.codes.forEach((code) => { r.n[code]++; r.cases[code]++; }));
    conflicts = await countPeople(q, table, columns, state[0], codesOf, add, pause, coded);
  } else {
    const held = new Map();  // by a number, which is faster than by a text
    for (let row = 0; row < table.rows; row++) {
      if (row % 20000 === 19999) await pause(row);
      let n = 1, key = 0;
      if (weights) { const code = times[row]; if (code === q.count.none) { without++; continue; } n = weights[code]; }
      if (n) for (const c of coded) addCoded(c, binOf(c, row), 1, n);
      if (n) for (const r of remade) { r.n[r.codes[row]]++; r.cases[r.codes[row]] += n; }
      for (const { codes, to, of } of read) { const code = codes[row]; key = key * 1024 + (code === of.none ? -1 : to[code]) + 1; }
      const cell = held.get(key) ?? held.set(key, [row, 0, 0]).get(key);
      cell[1] += n ? 1 : 0; cell[2] += n;
    }
    for (const [row, n, cases] of held.values()) add(codesOf(row), n, cases);
  }
  const rows = [...cells.values()].sort((a, b) => a.codes.reduce((d, c, i) => d || c - b.codes[i], 0)), unit = q.count ? "cases" : q.person ? "people" : "rows";
  outcomes.forEach((o, k) => {
    o.sizes = o.levels.map((_, code) => rows.reduce((a, r) => a + (r.codes[columns.length + k] === code ? r.cases : 0), 0));
    o.asked = o.names.filter((_, code) => !state[k][code]);
    o.both = q.negative.length > 0;
    // of people, whose decisions count as one, how many rows have each is not known any more
    o.refused = range(o.levels.length).filter((code) => state[k][code] && (o.sizes[code] || q.person));
  });
  const byGroup = new Map(), unclear = outcomes.map((o) => (["undecided_outcomes", `undecided_outcomes:${o.name}`].some((each) => q.accept.includes(each)) ? [] : undecidedCodes(o)));
  for (const { codes, cases, open } of rows) {
    const own = columns.map((c, i) => (codes[i] < 0 || c.groupless[codes[i]] ? -1 : codes[i])), key = own.join();
    const cell = byGroup.get(key) ?? byGroup.set(key, { codes: own, states: zero(), open: zero() }).get(key);
    const [l, d] = (q.label ? [0, 1] : [null, 0]).map((k) => { const code = k === null ? -1 : codes[columns.length + k]; return code < 0 ? 2 : state[k][code]; });
    cell.states[l][d] += cases;
    cell.open[l][d] -= open;
    cell.open[2][2] += open;
    const [y, p] = [l, d].map((at, k) => (at < 2 && unclear[q.label ? k : 0].includes(codes[columns.length + (q.label ? k : 0)]) ? 2 : at));
    cell.open[l][d] -= cases - open;
    cell.open[y][p] += cases - open;
  }
  return { columns, outcomes, state, rows, unit, conflicts, coded, observed: table.observed ?? [...recodedValues(remade, q), ...unstatedValues(remade, q)], copies: copiesOf(q, table, rows, axes, conflicts), cells: [...byGroup.values()], without, open: rows.reduce((a, r) => a + r.open, 0), read: rows.reduce((a, r) => a + r.cases, 0), fileRows: table.fileRows ?? table.rows };
};

// each person once, as people.py counts them: of several groups none is known; of several decisions the positive one
// counts, and of those that count alike the rarest; an unknown one may change a negative one
const countPeople = async (q, table, columns, state, codesOf, add, pause, coded) => {
  const { values, counts, none, name } = q.person, of = CODES.get(q.person), n = values.length, last = columns.length, seen = typed_texts(values), ordered = [...counts, 1].sort((a, b) => b - a);
  const outlying = range(Math.min(Math.max(1, Math.floor(n / 20)), n)).filter((i) => ordered[i] >= 20 && Math.min(i + 1, 2) * ordered[i] > 10 * ordered[i + 1]), least = outlying.length ? ordered[outlying.at(-1)] : Infinity;
  const odd = values.filter((v, k) => counts[k] > 1 && (means_missing(v) || /^(0[0-]*|-\d+|9[9-]+)$/.test(v) || counts[k] >= least));
  if (odd.length) throw new Refused(inWords(UI.no_person, { name, values: listed(odd, 3) }));
  if (spellings_of(seen)) throw new Refused(inWords(UI.spelt_person, { name }));
  const sizes = state.map(() => 0), favour = (code) => (code < 0 ? -2 : state[code] === 0 ? 0 : -1);
  for (let row = 0; row < table.rows; row++) if (of[row] !== none) { const code = codesOf(row)[last]; if (code >= 0) sizes[code]++; }
  const bySize = range(state.length).sort((a, b) => sizes[b] - sizes[a] || a - b), place = bySize.map((_, code) => bySize.indexOf(code));
  const groups = columns.map(() => new Int16Array(n).fill(-1)), best = new Int16Array(n).fill(-1), rank = new Int8Array(n).fill(-3), unknown = new Uint8Array(n), bins = coded.map(() => new Int16Array(n).fill(-1));
  let unnamed = 0;
  for (let row = 0; row < table.rows; row++) {
    if (row % 20000 === 19999) await pause(row);
    const codes = codesOf(row), k = of[row], own = codes.map((code, i) => (i < last && code >= 0 && columns[i].groupless[code] ? -1 : code)), decision = codes[last];
    if (k === none) { unnamed++; add(own, 1, 1); coded.forEach((c) => addCoded(c, binOf(c, row), 1, 1)); continue; }
    bins.forEach((held, i) => { const bin = binOf(coded[i], row); if (bin < coded[i].none) held[k] = held[k] === -1 || held[k] === bin ? bin : -2; });
    groups.forEach((held, i) => { if (own[i] >= 0) held[k] = held[k] === -1 || held[k] === own[i] ? own[i] : -2; });
    if (favour(decision) > rank[k]) { rank[k] = favour(decision); best[k] = -1; }
    if (decision < 0) unknown[k] = 1; else if (favour(decision) === rank[k]) best[k] = Math.max(best[k], place[decision]);
  }
  for (let k = 0; k < n; k++) {
    const open = unknown[k] && rank[k] === -1 ? 1 : 0;
    add([...groups.map((held) => Math.max(held[k], -1)), best[k] < 0 ? -1 : bySize[best[k]]], 1, 1, open);
    coded.forEach((c, i) => addCoded(c, bins[i][k] < 0 ? c.none : bins[i][k], 1, 1, open));
  }
  return [...columns.map((c, i) => [c.name, groups[i].reduce((a, code) => a + (code === -2 ? 1 : 0), 0)]), [name, unnamed]].filter(([, several]) => several);
};

// ---- features: one for each column and each crossing; groups sorted by code, kinds of rows without a group beside them
const featuresOf = (counts, crossed) => [...counts.columns.map((_, i) => [i]), ...crossed].map((columns) => {
  // a name that only people with another name too have is a group of nobody
  const nobody = columns.length === 1 && counts.unit === "people" ? counts.columns[columns[0]].groupless.flatMap((no, code) => (no ? [] : [{ key: String(code), codes: [code], states: zero(), open: zero() }])) : [];
  const found = new Map(nobody.map((g) => [g.key, g])), without = new Map();
  counts.cells.forEach(({ codes, states, open }) => {
    const own = columns.map((i) => codes[i]), key = own.join(), to = own.includes(-1) ? without : found;
    to.set(key, { key, codes: own, states: plus(to.get(key)?.states ?? zero(), states), open: plus(to.get(key)?.open ?? zero(), open) });
  });
  const groups = [...found.values()].filter((g) => nobody.length || rowsOf(g.states) > 0).sort((a, b) => a.codes.reduce((d, c, i) => d || c - b.codes[i], 0));
  for (const g of groups) {
    g.values = g.codes.map((c, i) => [counts.columns[columns[i]].name, counts.columns[columns[i]].names[c]]);
    g.name = g.values.map(([, value]) => value).join(" & ");
    g.n = rowsOf(g.states) - g.states[2][2];  // of those without any outcome nothing is known
    g.cells = cellsOf(g.states);
    g.others = summed(groups.filter((other) => other !== g));
    g.othersOpen = summed(groups.filter((other) => other !== g), "open");
  }
  const kinds = [...without.values()].map((k) => ({ ...k, n: rowsOf(k.states) - k.states[2][2],
    fits: new Set(groups.filter((g) => k.codes.every((c, i) => c === -1 || c === g.codes[i])).map((g) => g.key)) }));
  return { columns, names: columns.map((i) => counts.columns[i].name), name: columns.map((i) => counts.columns[i].name).join("*"), groups, unknown: kinds };
});
const GRAVEST = ["fail", "inconclusive", "not_evaluated", "pass"];
const auditOf = (counts, q) => {
  const features = featuresOf(counts, q.crossed), plainZ = critical(0.05);
  for (const f of features) {
    f.known = [...f.groups, ...f.unknown].reduce((a, g) => a + g.n, 0);
    f.minimum = Math.max(q.minN ?? (q.minShare ? 1 : FEWEST.rows), q.minShare * f.known);
    f.large = f.groups.filter((g) => g.n >= f.minimum);
    f.asked = q.minShare || (q.minN ?? 0) > 1;
  }
  const favoursLeast = (rate) => rate.directions[q.favourable ?? "positive"].least;
  const bestOf = (feature, rate) => {
    // where no group is large enough, one of the largest is
    const least = favoursLeast(rate), most = Math.max(...feature.groups.map((g) => rowsOf(g.states)));
    const able = feature.large.length ? feature.large : feature.groups.filter((g) => rowsOf(g.states) === most), value = (g) => valueOf(rate, g.cells);
    const among = able.map((g) => ({ g, v: value(g) })).filter(({ v }) => !Number.isNaN(v));
    if (!among.length) among.push(...able.map((g) => ({ g, v: rowsOf(g.states) })));
    among.sort((a, b) => (Math.abs(b.v - a.v) > 1e-9 ? (least ? a.v - b.v : b.v - a.v) : rowsOf(b.g.states) - rowsOf(a.g.states) || byPoints(a.g.name, b.g.name)));
    return { best: among[0]?.g ?? null, several: feature.large.length >= 3 ? feature.large.length : 0 };
  };
  const measure = (alpha) => features.map((feature) => q.rates.map((rate) => {
    const { best, several } = q.reference === "best" ? bestOf(feature, rate) : { best: null, several: 0 };
    const z = several ? tukey(several, alpha) : critical(alpha);
    return feature.groups.map((group) => {
      const r = { feature, group, rate, best, several, own: rateOf(rate, group.cells, plainZ, FEWEST), by: {},
        fewest: Math.min(feature.minimum, Math.max(...feature.groups.map((g) => g.n))), isReference: q.reference === "best" && best === group };
      const against = q.reference === "best" ? (best && best !== group ? best.cells : null) : cellsOf(group.others);
      if (against && feature.groups.length > 1) {
        r.reference = against;
        r.theirs = valueOf(rate, against);
        if (feature.asked && Math.min(group.n, best ? best.n : Infinity) < feature.minimum) r.small = feature.minimum;
        for (const by of ["difference", "ratio"]) r.by[by] = compareRates(rate, by, group.cells, against, null, z, FEWEST);
      }
      return r;
    });
  }));
  const measured = measure(0.05), every = measured.flat(2);
  const isTested = (r, by) => r.by[by] && !r.by[by].few && !r.small && !Number.isNaN(r.by[by].value) && !Number.isNaN(r.by[by].low);
  // the family of all that is marked as statistically significant: intervals that hold together (Sidak)
  const members = new Set(every.filter((r) => isTested(r, "difference") || isTested(r, "ratio")).map((r) =>
    [r.feature.name, r.rate.name, r.several || (r.feature.groups.length === 2 && q.reference === "others") ? "" : r.group.key].join("|")));
  const tests = features.reduce((sum, f) => sum + new Set(q.rates.filter((rate, i) => q.rates.findIndex((r) => r.needs === rate.needs) === i
    && f.large.filter((g) => { const of = rateOf(rate, g.cells, plainZ, FEWEST); return !of.few && !Number.isNaN(of.value); }).length >= 3)).size, 0);
  const family = members.size + 2 * tests, joint = measure(alphaOf(family, 0.95));
  measured.forEach((perRate, i) => perRate.forEach((results, k) => results.forEach((r, j) => {
    for (const by of ["difference", "ratio"]) {
      if (!r.by[by]) continue;
      const { low, high } = joint[i][k][j].by[by], neutral = by === "ratio" ? 1 : 0;
      Object.assign(r.by[by], { joint: [low, high], tested: isTested(r, by), significant: isTested(r, by) && !(low <= neutral && neutral <= high) });
    }
  })));
  const doubt = doubtOf(counts, q, features);
  const decide = (r, rule) => {
    const found = r.by[rule.by];
    if (!found) return r.feature.groups.length < 2 ? { outcome: "not_evaluated", why: { code: "fewer_than_two_groups" } } : null;
    if (r.small) return { outcome: "not_evaluated", why: { code: "small_group", least: r.small } };
    if (Number.isNaN(found.value)) return { outcome: "not_evaluated", why: { code: "no_value" } };
    if (found.few) return { outcome: "not_evaluated", why: { code: "insufficient" } };
    if (Number.isNaN(found.low)) return { outcome: "not_evaluated", why: { code: "no_interval" } };
    const outcome = decide_range(found.low, found.high, rule);
    if (outcome === "inconclusive") return { outcome, why: { code: "crosses" } };
    for (const worst of worstCases(r.feature, r.group, r.rate, rule.by, r.best, r.fewest, favoursLeast(r.rate))) {
      if (worst.outcomes && outcome === "fail") {
        if (decide_range(...reachedBy(found, worst, rule.by), rule) !== "fail") r.open = worst.rows;
        continue;
      }
      if (decide_range(...reachedBy(found, worst, rule.by), rule) !== outcome) return { outcome: "inconclusive", why: { code: worst.outcomes ? "missing_outcomes" : "missing_groups", rows: worst.rows, alone: outcome } };
    }
    const why = outcome === "pass" ? doubt(r.feature, r.rate) : null;
    if (why) return { outcome: "inconclusive", why };
    return { outcome, why: { code: outcome === "pass" ? "inside" : found.high < rule.low ? "below" : "above" } };
  };
  const margin = (r, rule) => (Number.isNaN(r.by[rule.by]?.value ?? NaN) ? Infinity : distance_inside(r.by[rule.by].value, rule.low, rule.high, rule.by === "ratio"));
  // what has no order stays as it is, as in Python
  const byMargin = (a, b, rule) => { const [m, n] = [margin(a.r, rule), margin(b.r, rule)]; return m === n ? a.r.group.n - b.r.group.n : m < n ? -1 : m > n ? 1 : 0; };
  // two groups that mirror each other are one comparison
  const comparisons = (of, rule) => of.flatMap((perRate) => {
    const results = perRate[q.rates.indexOf(rule.rate)].map((r) => ({ r, d: decide(r, rule) })).filter(({ d }) => d);
    const mirrored = q.reference !== "best" && results.length === 2;
    if (results.length && results.every(({ r }) => r.feature.groups.length < 2)) results.forEach(({ r }) => { r.alone = true; });
    return (mirrored ? [results] : results.map((each) => [each])).map((several) => {
      const [first, other] = [...several].sort((a, b) => GRAVEST.indexOf(a.d.outcome) - GRAVEST.indexOf(b.d.outcome)
        || Boolean(a.r.by[rule.by]?.few || a.r.small) - Boolean(b.r.by[rule.by]?.few || b.r.small) || byMargin(a, b, rule));
      return { rule, r: first.r, ...first.d, interval: first.r.by[rule.by], mirror: other ? other.r : null };
    });
  });
  const byInterval = (v) => v.interval && !v.interval.few && !v.r.small && !Number.isNaN(v.interval.value);
  const all = (of) => q.rules.flatMap((rule) => comparisons(of, rule));
  const verdicts = all(measured), judged = verdicts.filter(byInterval).length, fails = (of) => of.filter((v) => byInterval(v) && v.outcome === "fail").length;
  if (judged > 1 && fails(verdicts)) {
    let failed = 0, strict;
    for (;;) {
      strict = all(measure(0.05 / (judged - failed)));
      const rejected = fails(strict);
      if (rejected === failed || rejected === judged) break;
      failed = rejected;
    }
    verdicts.forEach((v, i) => { if (v.outcome === "fail") { v.remains = strict[i].outcome === "fail"; v.together = !v.remains && strict[i].why.code === "missing_groups"; } });
  }
  return { features, measured, every, verdicts, family, doubts: doubt.all };
};

// ---- doubts: rows whose meaning is unclear, where they are many, withhold a pass
// of refused outcomes those that may be no decision, and HMDA's codes of approvals
const codesAmong = (o, codes, choose) => { const found = o.cuts ? [] : choose(codes.map((code) => o.levels[code])); return codes.filter((code) => found.includes(o.levels[code])); };
const undecidedCodes = (o) => (o.both ? [] : codesAmong(o, o.refused, (refused) => undecided_refusals(o.name, o.levels, refused, o.asked)));
const approvedCodes = (o) => (o.both ? [] : codesAmong(o, o.refused, (refused) => approved_refusals(o.name, o.levels, refused, undecidedCodes(o).map((code) => o.levels[code]), o.asked)));
const doubtOf = (counts, q, features) => {
  const doubts = [], doubted = counts.columns.map(() => new Set()), sizes = counts.columns.map((c, i) => c.levels.map((_, k) => counts.rows.reduce((a, r) => a + (r.codes[i] === k ? r.cases : 0), 0)));
  const accepted = (code, ...columns) => [code, ...columns.map((c) => `${code}:${c}`)].some((each) => q.accept.includes(each));
  const roles = q.label ? ["label", "prediction"] : ["prediction"], at = (k) => counts.columns.length + k, namesOf = (needs) => counts.outcomes.filter((_, k) => !needs.length || needs.includes(roles[k])).map((o) => o.name);
  const add = (code, what, rows, needs, columns = null) => { if (!accepted(code, ...(columns ?? []), ...(columns?.length ? [] : namesOf(needs)))) doubts.push({ code, what, rows, needs, columns }); };
  counts.columns.forEach((c, i) => {
    if (c.cuts) return;
    const recoding = q.recode[c.name] ?? {}, held = c.levels.map((_, k) => k).filter((k) => !c.groupless[k] && (sizes[i][k] || !q.count));
    const missing = new Set([...missing_words(c.names.filter((_, k) => typeof c.levels[k] === "string")), ...codes_of_missing(c.names), ...no_groups(c.name, c.names)]);
    for (const k of held) {
      const total = typeof c.levels[k] === "string" && is_total(c.names[k], held.map((each) => c.names[each]));
      if (!(missing.has(c.names[k]) || total) || c.names[k] in recoding) continue;
      doubted[i].add(k);
      if (!may_be_group(c.names[k], c.name, held.map((each) => c.names[each]))) add("missing_marker", `clear ${c.name}`, sizes[i][k], [], [c.name]);
    }
    for (const found of same_reading_groups(held.map((k) => ({ k, text: c.names[k], meaning: k })))) {
      const several = found.map(({ k }) => k);
      if (several.every((k) => Object.hasOwn(recoding, c.names[k]) || Object.values(recoding).some((of) => listOf(of).map(String).includes(c.names[k])))) continue;
      const most = several.reduce((a, b) => (sizes[i][b] > sizes[i][a] ? b : a)), others = several.filter((k) => k !== most);
      others.forEach((k) => doubted[i].add(k));
      add("same_names", `consistent spelling of ${c.name}`, others.reduce((a, k) => a + sizes[i][k], 0), [], [c.name]);
    }
  });
  const cut = [...counts.columns.map((c) => [c, `clear ${c.name}`, [], [c.name]]), ...counts.outcomes.map((o, k) => [o, `clear ${k === counts.outcomes.length - 1 ? "prediction" : "label"}`, [k === counts.outcomes.length - 1 ? "prediction" : "label"], null])];
  for (const [c, what, needs, of] of cut) {
    const coded = counts.coded.find((each) => each.name === c.name && c.cuts), cuts = cut.filter(([each]) => each.cuts && each.name === c.name).flatMap(([each]) => statedCuts(each.cuts));
    const found = coded && !accepted("coded_numbers", c.name) ? codes_beyond_cuts(c.name, AROUND_CODES, coded.cases.slice(0, -1), cuts) : [];
    for (const [value, rows] of found) if (rows && !is_price(c.name, value)) add("coded_numbers", what, rows, needs, of);
  }
  const ofCounts = counts.coded.find((c) => c.name === q.count?.name), held = ofCounts ? codes_of_counts(AROUND_CODES, ofCounts.cases.slice(0, -1)) : [];
  if ([...held].some(([code, rows]) => rows && !is_price(q.count.name, code)) && !accepted("coded_numbers", q.count.name))
    add("coded_numbers", "clear count", counts.read, []);
  if (counts.copies.length) add("doubled_rows", "content of their own: they may be copies", counts.read, []);
  counts.outcomes.forEach((o, k) => {
    const good = (code) => counts.state[k][code] === 0;
    for (const [code, of] of [["undecided_outcomes", undecidedCodes(o)], ["approved_as_refused", approvedCodes(o)]])
      if (of.length) add(code, `clear ${roles[k]}`, of.reduce((a, each) => a + o.sizes[each], 0), [roles[k]], null);
    const known = o.sizes.reduce((a, b) => a + b, 0), positives = o.sizes.reduce((a, n, code) => a + (good(code) ? n : 0), 0);
    if (known >= FEWEST.rows && (positives === 0 || positives === known) && q.rates.some((rate) => rate.needs === 2 || roles[k] === "prediction"))
      add(roles[k] === "label" ? "one_label" : "one_decision", "outcome that varies within their group", counts.read, [roles[k]]);
    // what counts as favourable has the name of a harm, and other outcomes not, where a rule or the reference turns with it
    const turns = q.reference === "best" || q.rules.some((r) => !Number.isFinite(r.high - r.low));
    const negative = q.favourable === "negative", better = o.cuts ? [] : better_outcomes(o.name, o.levels, o.levels.filter((_, code) => good(code)), negative);
    if (!["positive", "neither"].includes(q.favourable) && k === 0 && turns && better.some((v) => !negative || String(v).trim().split(/\s+/).length === 1))
      add("unfavourable_positive", q.favourable ? "clear favourable outcome" : "stated favourable outcome", counts.read, []);
    // a group of one outcome alone, where by the others' rate that is no chance
    counts.columns.forEach((c, i) => {
      const by = c.levels.map((_, code) => [0, 1].map((side) => counts.rows.reduce((a, r) => a + (r.codes[i] === code && r.codes[at(k)] >= 0 && counts.state[k][r.codes[at(k)]] === side ? r.cases : 0), 0)));
      const totals = [0, 1].map((side) => by.reduce((a, of) => a + of[side], 0)), found = by.flatMap((of, code) => [0, 1].flatMap((side) => {
        const share = 1 - totals[1 - side] / Math.max(totals[0] + totals[1] - of[side], 1);
        return !c.groupless[code] && of[1 - side] === 0 && of[side] >= FEWEST.rows && (share <= 0.9 ? share : 0.9 + share / 10) ** of[side] < 1e-6 ? [[of[side], side]] : [];
      }));
      const ofOutcome = by.every(([one, other], code) => c.groupless[code] || !one || !other);
      if (found.length && (ofOutcome || new Set(found.map(([, side]) => side)).size === 1) && unlike(by)) found.forEach(([rows]) => add("group_of_one_outcome", "outcome that varies within their group", rows, [roles[k]], [c.name]));
    });
  });
  const text = (level) => typeof level === "string", outcomesAlike = counts.outcomes.flatMap((o, k) => o.levels.flatMap((level, code) => (text(level) && o.sizes[code] ? [{ text: level, rows: o.sizes[code], k, meaning: counts.state[k][code] === 0 }] : [])));
  for (const several of same_reading_groups(outcomesAlike)) {
    const yes = several.filter((e) => e.meaning).reduce((a, e) => a + e.rows, 0), no = several.filter((e) => !e.meaning).reduce((a, e) => a + e.rows, 0);
    new Set(several.map((e) => e.k)).forEach((k) => add("same_names", `clear ${roles[k]}`, Math.min(yes, no), [roles[k]]));
  }
  if (q.label) {
    const [labels, decisions] = counts.outcomes, both = counts.rows.filter((r) => r.codes[at(0)] >= 0 && r.codes[at(1)] >= 0 && r.cases);
    const sides = both.map((r) => [0, 1].map((k) => counts.state[k][r.codes[at(k)]])), cases = both.reduce((a, r) => a + r.cases, 0);
    const alikeIn = (pairs) => pairs.every(([given, decided]) => given === decided) && new Set(pairs.map(([given]) => given)).size > 1;
    const same = alikeIn(sides) || (!decisions.cuts && alikeIn(both.map((r) => [meaning(labels.levels[r.codes[at(0)]]), meaning(decisions.levels[r.codes[at(1)]])])));
    if (same && cases >= FEWEST.rows) add("prediction_is_label", "prediction that differs from the label", cases, ["prediction"]);
    // a group without any error, beside so many of the others that this is no chance
    counts.columns.forEach((c, i) => {
      const by = c.levels.map(() => [0, 0]), held = both.filter((r) => r.codes[i] >= 0);
      for (const r of held) by[r.codes[i]][Number(counts.state[0][r.codes[at(0)]] !== counts.state[1][r.codes[at(1)]])] += r.cases;
      const [right, wrong] = [0, 1].map((k) => by.reduce((a, of) => a + of[k], 0));
      for (const [own, errors] of by) if (!errors && own >= FEWEST.rows && (1 - wrong / Math.max(right + wrong - own, 1)) ** own < 1e-6) add("prediction_is_label", "prediction that differs from the label", own, ["prediction"], [c.name]);
    });
    const none = [...undecidedCodes(decisions), ...approvedCodes(decisions)], strange = range(decisions.levels.length).filter((c) => !none.includes(c) && !is_one_of(decisions.levels[c], [...labels.levels, ...q.positive]));
    const no = counts.state[1].filter((side) => side).length, unclear = strange.filter((c) => !is_adverse(decisions.names[c])).reduce((a, c) => a + decisions.sizes[c], 0);
    if (labels.levels.length > 1 && strange.length < no && unclear) add("prediction_not_a_label", "clear prediction", unclear, ["prediction"]);
    const isReversed = (states, alpha) => {
      const [tp, fp, fn, tn] = cellsOf(states), of = [[tp, tp + fn], [fp, fp + tn]], [positives, negatives] = of.map(([x, m]) => (m ? wilson(x, m, critical(alpha)) : [NaN, NaN]));
      return positives[1] < negatives[0] && of[1][0] / of[1][1] - of[0][0] / of[0][1] >= 0.1;
    };
    const everywhere = isReversed(counts.cells.reduce((a, c) => plus(a, c.states), zero()), 0.05), within = features.filter((f) => f.names.length === 1 && f.large.some((g) => isReversed(g.states, 1e-4)));
    for (const role of roles) {
      if (!everywhere) within.forEach((f) => add("reversed_predictions", "prediction in line with the label", counts.read, [role], f.names));
      else if (!accepted("reversed_predictions", q.decision.name)) add("reversed_predictions", "prediction in line with the label", counts.read, [role]);
    }
  }
  const fewest = [counts.read];
  for (const f of features) for (const g of f.large) if (!g.codes.some((c, i) => doubted[f.columns[i]].has(c))) fewest.push(rowsOf(g.states));
  const few = MANY * Math.min(...fewest), byWhat = new Map();
  for (const d of doubts) {
    const key = JSON.stringify([d.what, d.needs, d.columns]), held = byWhat.get(key);
    byWhat.set(key, { ...d, rows: Math.min((held?.rows ?? 0) + d.rows, counts.read) });
  }
  const open = [...byWhat.values()].filter((d) => d.rows > few), uncounted = counts.without > MANY * Math.min(counts.fileRows, ...fewest);
  const find = (feature, rate) => {
    if (uncounted) return { code: "not_counted", what: "count", rows: counts.without };
    const needs = rate.needs === 2 ? ["label", "prediction"] : ["prediction"];
    const concerned = open.filter((d) => d.needs.every((n) => needs.includes(n)) && (!d.columns || d.columns.some((c) => feature.names.includes(c))));
    if (!concerned.length && counts.repeated) return { code: "repeated_people", what: counts.repeated };
    const most = concerned.sort((a, b) => (b.code === "unfavourable_positive") - (a.code === "unfavourable_positive") || b.rows - a.rows)[0];
    return most ? { code: most.code === "unfavourable_positive" && !q.favourable ? "favourable_unstated" : "unclear_values", what: most.what, rows: most.rows, doubt: most.code } : null;
  };
  return Object.assign(find, { all: open });
};
// whether some shares differ far beyond sampling variation (a chi-squared above its 99.9% point)
const unlike = (by) => {
  const sums = [0, 1].map((side) => by.reduce((a, of) => a + of[side], 0)), all = sums[0] + sums[1], held = by.filter(([a, b]) => a + b > 0);
  const chi = held.reduce((sum, of) => sum + [0, 1].reduce((s, side) => { const e = (of[0] + of[1]) * sums[side] / all; return e ? s + (of[side] - e) ** 2 / e : s; }, 0), 0), df = held.length - 1;
  const z = ((chi / df) ** (1 / 3) - (1 - 2 / (9 * df))) / Math.sqrt(2 / (9 * df));
  return df > 0 && normalTail(z) < 1e-3;
};
