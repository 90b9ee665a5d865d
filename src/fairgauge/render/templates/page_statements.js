// the words of a language: Grammar of grammar.py, which words.js has, with what else the compiled texts of the catalogue take
const T = (v) => Boolean(Array.isArray(v) ? v.length : v && typeof v === "object" && Object.getPrototypeOf(v) === Object.prototype ? Object.keys(v).length : v);
const S = (v) => (v === undefined || v === null ? "" : String(v)), O = (a, b) => (T(a) ? a : b());
const L = (v) => (Array.isArray(v) ? v : Object.keys(v ?? {})), I = (a, of) => (Array.isArray(of) ? of.includes(a) : typeof of === "string" ? of.includes(a) : a in of);
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const printable = (text) => {
  const shown = String(text).replace(INVISIBLE, (c) => { const code = c.codePointAt(0); return /[\u200c\u200d]/.test(c) ? c : code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`; });
  return RIGHT_TO_LEFT.test(shown) ? `${shown}\u200e` : shown;
};
const withinQuotes = (name) => printable(name).replace(/^[ \u00a0]+|[ \u00a0]+$| {2,}/gu, (blanks) => "\u00a0".repeat(blanks.length));
const shownName = (name) => {
  const shown = printable(name);
  return /^[\s\u00a0]|[\s\u00a0]$|[\s\u00a0]{2}|\u00a0|[.:!?]\s|[\u2705\u274c\u2754\u2795\u2796]|\b(PASS|FAIL|INCONCLUSIVE|REPRODUCED)/u.test(shown) ? `\u201c${withinQuotes(name)}\u201d` : shown;
};
const grammarOf = (language, asked) => {
  const { table, texts } = TEXTS[language], { terms, people } = table, words = { ...asked };
  if (!(words.positive || words.negative)) Object.assign(words, (table.page.decision ?? {}).audit);
  const unit = words.unit || "rows", noun = words.noun || (unit in terms.plural ? people.noun : unit);
  const at = (item, path) => path.split(".").reduce((v, key) => v?.[key], item);
  // the grammar with what its filters have of Jinja, or in few words
  const g = Object.assign(language === "de" ? new German() : new Grammar(), { table, terms, people, words, unit, noun, localised, place: () => "", counted: (s) => { const made = Grammar.prototype.counted.call(g, s); return made && Object.fromEntries(made); },
    which: people[noun === unit && !people.nouns.includes(noun) ? "that" : "who"], often: (e) => g.was(e) + (e.once ? "," : ""), event: (e) => Object.fromEntries(Grammar.prototype.event.call(g, e)), aux: (e, n) => g.event(e)[n === "1" ? "one" : "aux"], part: (e) => g.event(e).part, who: (e) => g.event(e).who,
    of: (v, of) => g.numbered(v, of), num: (...given) => g.number(...given), series: (...given) => g.listing(...given), called: (t) => String(t).split(" & ").map((part) => g.band(part) ?? shownName(part)).join(" & "),
    cap: (t) => (/^.[ -]/u.test(t) ? t : t.charAt(0).toUpperCase() + t.slice(1)), level: (r) => significant(100 * r.level, 4), space: (t) => (t ? ` ${t}` : ""),
    points: (v) => { const t = fixed(100 * v, 1); return localised(Number(t) === 0 ? "0.0" : v > 0 ? `+${t}` : t).replace("-", "\u2212"); }, pct: (v) => localised(`${fixed(100 * v, 1)}%`), string: S, last: (v) => v.at(-1), abs: Math.abs,
    replace: (t, from, to, most) => (most === 1 ? t.replace(from, () => to) : t.replaceAll(from, to)), length: (v) => v.length, list: (v) => [...v], items: (v) => Object.entries(v ?? {}), min: (v) => Math.min(...v),
    map: (items, by) => items.map((item) => (typeof by === "object" ? at(item, by.attribute) : g[by](item))), unique: (items) => [...new Set(items)],
    selectattr: (items, path, test, value) => items.filter((item) => (test === undefined ? T(at(item, path)) : JSON.stringify(at(item, path)) === JSON.stringify(value))),
    rejectattr: (items, path) => items.filter((item) => !T(at(item, path))), rule_words: (t) => t, insufficient: () => "", reason: () => "" });
  F = g;
  const state = (code, place, s = null, more = {}) => {
    let text = texts[code]?.[place] ?? (["share", "fit", "misfit", "mean", "number", "rank", "other"].includes(place) ? texts[code]?.else : undefined);
    if (text && typeof text === "object") text = text[s?.of?.kind ?? "number"] ?? text.else;
    if (!text) return null;
    return text({ state, terms, table, words: g, inf: Infinity, s, ...s?.facts, ...more }).trim() || null;
  };
  return { state, table, words: g };
};
let F = {};

// the audit as statements, and the first page in the words of a language: what statements/audit.py and page.py do
const MOST_PLACES = { looked: 9, found: 9, certain: 9, limits: 4, next: 3 };
const unitOf = (q) => (q.count ? "cases" : q.person ? "people" : "rows");
const wordsOf = (q, repeated) => {
  const held = { ...q.preset?.words }, given = { ...q.question.words }, unit = unitOf(q);
  if ("unit" in held) held.noun = held.unit = held[unit === "people" ? "noun" : "unit"];
  if (given.positive || given.negative) { delete held.positive; delete held.negative; }
  const found = { unit, favourable: q.favourable ?? "positive", groups: {}, ...held, ...given };
  return repeated && !found.noun ? { ...found, noun: found.unit } : found;
};
const eventOf = (q, [kind, positive]) => {
  const column = kind === "decision" ? q.decision.name : q.label?.name ?? "label", more = { decides: false, once: q.person !== null, named: true };
  if (q.above !== null) return { kind, positive, column, values: [significant(q.above, 6)], op: "above", ...more };
  if (!q.stated.length) return { kind, positive, column, values: [positive ? "1" : "0"], op: "=", ...more };
  return { kind, positive, column, values: q.stated.map((v) => (typeof v === "number" ? significant(v, 6) : String(v))), op: positive ? "=" : "not", ...more };
};
const isSame = (a, b) => a === b || Math.abs(a - b) <= Math.max(1e-9 * Math.max(Math.abs(a), Math.abs(b)), 1e-12);
const lowerOf = (who, than) => (who?.rate == null || than?.rate == null || Number.isNaN(who.rate) || Number.isNaN(than.rate) || isSame(who.rate, than.rate) ? null : who.rate < than.rate);
const withLower = (s) => ({ ...s, lower: lowerOf(s.who, s.than) });
const swapped = (s) => withLower(swap_sides(s));
const sideOf_ = (r, group) => ({ kind: "group", feature: r.feature.name, values: group.values });
const countedSide = (rate, cells) => { const [x, n] = rate.sums.map((sum) => dot(sum, cells)); return n ? { rate: x / n, hits: x, n } : { rate: null }; };
const favouring = (q, audit) => (q.favourable === null && audit.doubts.some((d) => d.code === "unfavourable_positive") ? "neither" : q.favourable ?? "positive");
const comparison = (q, audit, r, by, code, { turn = true, alone = false, facts = {} } = {}) => {
  const found = r.by[by], rate = r.rate, of = rate.directions[favouring(q, audit)], others = r.feature.groups.filter((g) => g !== r.group);
  const other = q.reference === "best" ? r.best : others.length === 1 ? others[0] : null;
  const who = { ...sideOf_(r, r.group), ...countedSide(rate, r.group.cells) };
  const than = other ? { ...sideOf_(r, other), ...countedSide(rate, r.reference) } : { kind: "others", feature: r.feature.name, values: [], ...countedSide(rate, r.reference) };
  const harm = of.adverse * (r.own.value - r.theirs), ends = !alone && Number.isNaN(found.joint[0]) || Number.isNaN(found.low) ? null : { low: found.low, high: found.high, level: 0.95, joint: false };
  const made = { code, who, than, by, value: Number.isNaN(found.value) ? null : found.value, harm: !harm ? null : harm > 0 ? "worse" : "better", way: null,
    of: { kind: "share", event: eventOf(q, rate.event), among: rate.among && eventOf(q, rate.among), class_: null, threshold: null, classes: false, average: null },
    interval: ends, shown: found.significant, adjusted_for: [], parts: [], facts: { across: false, worst_class: false, ...facts } };
  return turn && harm < 0 && than.kind === "group" ? swapped(made) : withLower(made);
};
const overallOf = (verdicts) => (verdicts.length ? GRAVEST.find((o) => verdicts.some((v) => v.outcome === o)) : "none");

// the comparisons that are reported: one for each feature and rate, the gravest first
const findingsOf = (q, audit) => {
  const { asks } = q, favourable = favouring(q, audit), chosen = [];
  const gap = (r) => r.own.value - r.theirs, far = (r) => Number(Math.abs(gap(r)).toFixed(12));
  audit.features.forEach((feature, i) => q.rates.forEach((rate, k) => {
    const by = !asks.size || asks.has(`${rate.name}.difference`) ? "difference" : "ratio", of = rate.directions[favourable], two = q.reference === "others" && feature.groups.length === 2;
    const own = two ? [audit.measured[i][k].reduce((a, b) => (b.group.n < a.group.n ? b : a))] : audit.measured[i][k];
    const results = own.filter((r) => r.by[by] && r.by[by].significant && Number.isFinite(r.by[by].value)), mirror = (r) => audit.measured[i][k].find((x) => x !== r);
    const significant = results.map((r) => (two && of.known && gap(r) * of.sign < 0 ? mirror(r) : r)), worse = significant.filter((r) => of.directed && gap(r) * of.sign > 0);
    const worst = (worse.length ? worse : significant).reduce((a, b) => (!a || far(b) > far(a) || (far(b) === far(a) && gap(b) * of.sign > gap(a) * of.sign) ? b : a), null);
    if (worst) chosen.push({ worst, by, directed: of.directed, others: two ? [] : results.filter((r) => r !== worst).sort((a, b) => Math.abs(gap(b)) - Math.abs(gap(a))) });
  }));
  chosen.sort((a, b) => b.directed - a.directed || Math.abs(gap(b.worst)) - Math.abs(gap(a.worst)));
  const stated = (r, by) => {
    const of = r.rate.directions[favourable], own = comparison(q, audit, r, by, "differs"), far_ = gap(r), one = own.than.kind === "group";
    const turned = of.adverse * far_ < 0 && one, worse = turned || of.adverse * far_ > 0, better = !turned && of.adverse * far_ < 0;
    const subject = turned ? own.who.values : r.group.values, rules = audit.verdicts.filter((v) => v.rule.rate === r.rate && v.r.feature === r.feature && [v.r.group, v.mirror?.group].includes(r.group));
    const failed = rules.filter((v) => v.outcome === "fail"), isOwn = (v) => isOfBothSides(v) || JSON.stringify(v.r.group.values) === JSON.stringify(subject) || !worse;
    const mine = failed.filter(isOwn), beside = failed.filter((v) => !isOwn(v)), remains = (of_) => of_.some((v) => v.remains !== false);
    const made = { r, by, turned, worse, better, judged: rules.length > 0, fails: mine.length > 0, remains: remains(mine), s: own, contrast: { gap: far_ },
      people: JSON.stringify([r.feature.name, own.who.values, own.than.values, own.lower]), failing_beside: null };
    return beside.length ? { ...made, failing_beside: { ...made, fails: true, remains: remains(beside) } } : made;
  };
  const found = chosen.map(({ worst, by, others }) => {
    const every = [worst, ...others].map((r) => stated(r, by));
    return { ...gravest_of(every, 1), every: [worst, ...others] };
  });
  const gravity = (e) => { const f = e.failing_beside ?? e; return [!(e.remains && e.worse), !(e.fails && e.worse), !f.remains, !f.fails, !e.worse].map(Number); };
  let ranked = found.map((e, i) => [e, gravity(e), i]).sort((a, b) => a[1].reduce((d, v, k) => d || v - b[1][k], 0) || a[2] - b[2]).map(([e]) => e);
  const isSomeIn = (some, whole) => some.people === whole.people && whole.r.rate.among === null && some.r.rate.among !== null;
  for (const other of ranked.slice(1)) {
    const [first] = ranked;
    if (!isSomeIn(other, first) && !isSomeIn(first, other)) continue;
    const pair = isSomeIn(first, other) && other.fails >= first.fails ? [other, first] : [first, other];
    ranked = [...pair, ...ranked.filter((e) => !pair.includes(e))];
    break;
  }
  ranked.forEach((e) => { e.s.facts.judged = e.judged; e.s.facts.fails = e.fails; });
  return { ranked, isSomeIn };
};
const isOfBothSides = (v) => Boolean(v.mirror) && (v.rule.by === "ratio" ? Math.abs(v.rule.low * v.rule.high - 1) < 1e-9 : v.rule.low === -v.rule.high);
const ONE_SIDED = ["not_counted", "unclear_values", "favourable_unstated"];

const pageOf = (counts, q, audit, language = data.language) => {
  const statements = [], words = wordsOf(q, counts.repeated), favourable = favouring(q, audit), overall = overallOf(audit.verdicts), unit = unitOf(q);
  words.values = Object.create(null);
  for (const f of audit.features) for (const g of f.groups) for (const [c, v] of g.values) if (!(words.values[c] ??= []).includes(v)) words.values[c].push(v);
  const add = (code, facts = {}, more = {}) => statements.push({ code, who: null, than: null, of: null, by: "difference", value: null, lower: null, harm: null, interval: null, parts: [], adjusted_for: [], facts, ...more });
  const { ranked, isSomeIn } = findingsOf(q, audit), led = ranked.slice(0, 2);
  const judged = (v, own) => {
    const facts = { alone: v.remains === false, limits: [v.rule.low, v.rule.high], rule: v.rule.text, why: ONE_SIDED.filter((c) => v.why.code === c), feature: v.r.feature.name, of_all: false };
    if (!v.interval) return { code: "judged", who: v.why.code === "fewer_than_two_groups" ? null : sideOf_(v.r, v.r.group), than: null, of: null, by: "difference", value: null, lower: null, harm: null, interval: null, parts: [], verdict: v.outcome, facts };
    const s = comparison(q, audit, v.r, v.rule.by, "judged", { turn: !own && isOfBothSides(v), alone: true, facts });
    return { ...s, verdict: v.outcome, facts: { ...s.facts, than_all: s.harm === "better" && s.than.kind === "others" } };
  };
  // outcomes that groups lack unevenly, and rows without one, may qualify what is shown: the page then leaves it to Python
  const lacks = (f, role) => f.large.map((g) => { const m = range(3).reduce((a, i) => a + (role === "label" ? g.states[2][i] : g.states[i][2]), 0); return [m, rowsOf(g.states) - m]; });
  const unsettled = (e) => (q.label ? ["label", "prediction"] : ["prediction"]).some((role) => {
    const by = lacks(e.r.feature, role), shares = by.map(([m, n]) => m / (m + n));
    return by.length && Math.max(...shares) >= MANY && by.length > 1 && unlike(by);
  });
  const couldReverse = (s, r) => {
    if (r.rate.among) return false;
    const rows = [s.who, s.than].map((side) => (side.kind === "group" ? r.feature.groups.filter((g) => JSON.stringify(g.values) === JSON.stringify(side.values)) : r.feature.groups.filter((g) => g !== r.group)).reduce((a, g) => a + rowsOf(g.states), 0));
    const ends = [s.who, s.than].map((side, i) => [side.rate, side.hits / rows[i], 1 - (side.n - side.hits) / rows[i]]).sort((a, b) => a[0] - b[0]);
    return ends[0][2] > ends[1][1];
  };
  const missing = { label: q.label ? counts.cells.reduce((a, c) => a + c.states[2][0] + c.states[2][1] + c.states[2][2], 0) : 0, prediction: counts.cells.reduce((a, c) => a + c.states[0][2] + c.states[1][2] + c.states[2][2], 0) };
  const decision = q.label ? "prediction" : "decision";  // without a label nothing is predicted
  const known = (s, r) => (counts.without > MANY * counts.fileRows ? { counted: unit } : { unit, known: missing.prediction && couldReverse(s, r) ? [decision] : [] });
  const rules = [...new Map(q.rules.map((rule) => [rule.text, rule])).values()].map((rule, i) => ({ rule, number: i + 1, verdicts: sortedByGravity(audit.verdicts.filter((v) => v.rule.text === rule.text), q, favourable) })).filter((e) => e.verdicts.length);
  rules.forEach((e) => { e.outcome = overallOf(e.verdicts); });
  const undecided = () => Object.fromEntries(count_undecided(rules));
  let headed = null, nothing = null;
  const head = (s) => { headed = s; statements.push(s); };
  // ---- headline
  const failing = overall === "fail" ? audit.verdicts.filter((v) => v.outcome === "fail" && v.interval).map((v) => [judged(v, false), v]).filter(([s]) => s.lower !== null) : [];
  const first = ranked[0], betterOff = first && (first.failing_beside !== null || (first.fails && first.better)), coveredByFinding = first && ((first.fails && !first.better) || (betterOff && !failing.some(([s]) => s.harm === "worse")));
  if (failing.length && !coveredByFinding) {
    const [s, v] = failing.reduce((a, b) => ((b[0].harm !== "worse") - (a[0].harm !== "worse") || b[0].facts.alone - a[0].facts.alone) < 0 ? b : a);
    const turned = s.harm === "better" && s.than.kind === "group" ? swapped(s) : s;
    if (!unsettled({ r: v.r })) head({ ...turned, code: "headline", facts: { ...turned.facts, ...known(comparison(q, audit, v.r, v.rule.by, "differs", { turn: false }), v.r), after: null } });
  } else if (first && !(audit.verdicts.length ? led.some(unsettled) : ranked.some(unsettled))) {
    const s = first.s, facts = { after: null, ...known(comparison(q, audit, first.r, first.by, "differs", { turn: false }), first.r) };
    head({ ...s, code: "headline", parts: led.slice(1).filter((e) => isSomeIn(e, first)).map((e) => e.s), facts: { ...s.facts, ...facts } });
  } else if (!first) {
    const sized = { sufficient: audit.every.some((r) => ["difference", "ratio"].some((by) => r.by[by]?.few && !r.small && !Number.isNaN(r.by[by].value))), least: audit.every.some((r) => r.small) ? { rows: (q.minN ?? 0) > 1 ? q.minN : null, share: q.minShare || null, unit } : null, within: null, both: false, strata: [] };
    const tested = audit.every.some((r) => ["difference", "ratio"].some((by) => r.by[by]?.tested)), several = audit.features.some((f) => f.large.length >= 3);
    const significant = audit.every.some((r) => ["difference", "ratio"].some((by) => r.by[by]?.significant));
    nothing = { ...sized, tested, several, significant };
    if (!tested) add("nothing_tested", { ...sized, one_group: audit.features.filter((f) => f.groups.length === 1).map((f) => [f.name, f.groups[0].name]) });
    else if (significant) add("other_differences", sized);
    else if (!several && overall === "pass") add("none_differs", sized);
    else if (!several && overall !== "fail" && overall !== "none") add("undecided", { ...sized, n: q.rules.length, outcomes: undecided() });
    else if (!several) add("nothing_shown", sized);
    if (statements.length && statements[0].code !== "nothing_tested" && several) statements.length = 0;
  }
  // ---- verdict
  const noLimit = () => q.preset?.no_limit && add("no_limit", { text: q.preset.no_limit, rules: rules.length });
  if (rules.length) {
    const outcomes = overall === "fail" ? { fail: rules.filter((e) => e.outcome === "fail").length } : overall === "pass" ? { pass: rules.length } : undecided();
    const remain = new Set(audit.verdicts.map((v) => v.remains ?? null));
    add("rules", { n: rules.length, outcomes, alone: remain.has(false) && !remain.has(true) }, { verdict: overall });
    noLimit();
    const decisive = overall === "inconclusive" ? ["inconclusive", "not_evaluated", "none"] : [overall];
    for (const e of rules.filter((each) => decisive.includes(each.outcome)).slice(0, 2)) {
      const own = e.verdicts.map((v) => judged(v, ["inconclusive", "not_evaluated"].includes(e.outcome))), like = own.find((s) => s.of);
      add("rule", { text: e.rule.text, limits: [e.rule.low, e.rule.high], number: rules.length > 1 ? e.number : null, others: e.verdicts.some((v) => v.interval) && q.reference === "others", each_class: false, counts_as: 0, ignored: false, significant: false },
        { verdict: e.outcome, of: like?.of ?? null, by: like?.by ?? "difference", parts: own.filter((s) => s.verdict === e.outcome) });
    }
    if (q.reference !== data.fifths[1] && audit.verdicts.some((v) => v.rule.text === data.fifths[0] && v.interval && !v.mirror && v.interval.value > 1)) add("not_four_fifths");
    if (overall === "pass" && !led.every((e) => e.judged)) add("not_asked", { n: rules.length });
    const tally = {};
    audit.verdicts.forEach((v) => { tally[v.outcome] = (tally[v.outcome] ?? 0) + 1; });
    if (audit.verdicts.length > 1 && !(tally.pass === audit.verdicts.length)) {
      const remaining = audit.verdicts.filter((v) => v.remains !== undefined);
      add("counted", { n: audit.verdicts.length, outcomes: tally, remaining: remaining.length ? remaining.filter((v) => v.remains).length : null });
    }
  } else noLimit();
  // ---- what was looked at
  const inAny = (c) => q.features.some((_, i) => c.codes[i] >= 0), complete = (s) => (q.label ? s[0][0] + s[0][1] + s[1][0] + s[1][1] : rowsOf(s) - s[0][2] - s[1][2] - s[2][2]);
  const used = counts.cells.filter(inAny).reduce((a, c) => a + complete(c.states), 0), every = unit === "rows" ? counts.fileRows : counts.read;
  const partly = counts.cells.some((c) => c.codes.includes(-1)) || missing.prediction > 0 || (q.label && missing.label > 0);
  add("rows", { n: counts.read, used: used === every ? null : used, least: false, known: used === every ? [] : ["label", "prediction"].filter((w) => missing[w]).map((w) => (w === "label" ? w : decision)), several: q.features.length > 1, partly });
  add("question", { task: "binary", features: audit.features.map((f) => [f.name, f.names]), within: null, weight: null, decision: eventOf(q, ["decision", true]), outcome: q.label && eventOf(q, ["outcome", true]), prediction: q.decision.name, label: q.label?.name, classes: [] });
  if (favourable !== "neither" && (q.stated.length || q.above !== null)) add("taken_as_better", { event: eventOf(q, ["decision", true]), assumed: false, asked: true, side: favourable, stated: true });
  for (const [role, column, state, values, named, several] of stated_values(countedAs(counts, q))) {
    const decided = !named && ["positive", "negative"].includes(state);
    add("counted_as", { column, state: named ? "named" : state, event: decided ? { ...eventOf(q, [role === "label" ? "outcome" : "decision", state === "positive"]), once: false } : null, name: state, values: values.slice(0, 6), more: Math.max(0, values.length - 6), several });
  }
  // ---- what was found, and how certain
  for (const e of led) {
    statements.push(e.s);
    if (e.failing_beside) {
      const s = e.failing_beside.s.harm === "better" ? e.failing_beside.s : swapped(e.failing_beside.s);
      statements.push({ ...s, code: "better_off", facts: { ...s.facts, same: e.failing_beside.r === e.r } });
    } else if (e.fails && e.better) add("they_are_better_off");
  }
  const listedKeys = new Set(ranked.flatMap((e) => e.every.map((r) => `${r.feature.name}|${r.group.key}|${r.rate.name}`))).size, statedHere = led.reduce((a, e) => a + 1 + (e.failing_beside !== null && e.failing_beside.r !== e.r), 0);
  if (listedKeys > statedHere) add("more", { n: listedKeys - statedHere });
  if (!ranked.length && nothing && !nothing.several && !nothing.significant) add("none_beyond_variation", { ...nothing, over_all: false });
  const intervals = led.filter((e) => e.s.interval);
  if (intervals.length) add("interval", { assumed: false }, { interval: { level: 0.95, joint: false } });
  const openCodes = audit.verdicts.filter((v) => v.outcome === "inconclusive").map((v) => v.why.code);
  for (const code of ONE_SIDED) { const n = openCodes.filter((c) => c === code).length; if (n) add("open_because", { n, why: code, beside: false }); }
  if (openCodes.some((c) => c !== "repeated_people" && !ONE_SIDED.includes(c))) add("inconclusive", { shown: led.length, best: q.reference === "best" });
  // ---- what it does not show
  if (q.question.document?.caveat) add("caveat", { text: q.question.document.caveat });
  add("why_not", { limits: rules.length > 0, own: rules.length > 0 && !q.preset?.options?.rules });
  if (q.label) add("outcome_known", { refused: eventOf(q, ["decision", favourable === "negative"]), outcome: eventOf(q, ["outcome", true]) });
  add("other_groups", { columns: q.features.map((c) => c.name), period: q.question.document?.period ?? null });

  const shownWords = language === "en" ? words : { values: words.values, favourable: words.favourable, ...(["cases", "people"].includes(words.unit) ? { unit: words.unit } : {}), ...q.question.words };
  const g = grammarOf(language, shownWords), stated_ = (place) => {
    const made = new Map();
    for (const s of statements) { const text = g.state(s.code, place, s); if (text && !made.has(text)) made.set(text, s); }
    return [...made].slice(0, MOST_PLACES[place] ?? 99);
  };
  const shown = statements.filter((s) => ["differs", "headline"].includes(s.code) && s.shown), titles = g.table.page;
  const title = (place) => (place === "found" ? TEXTS[language].texts.found_title.audit({ neutral: (shown.length > 0 || q.favourable === "neither") && !shown.some((s) => s.harm === "worse") }) : titles[place]);
  return { grammar: g, statements: statements.map(({ code, who, than, by, value, harm, verdict }) => ({ code, who, than, by, value, harm, verdict })), all: statements, headed, headline: stated_("headline")[0]?.[0] ?? null, verdict: stated_("verdict").map(([t]) => t), overall,
    answers: ["looked", "found", "certain", "limits"].map((place) => ({ place, question: title(place), sentences: stated_(place).map(([text, s]) => ({ text, s })) })).filter((a) => a.sentences.length) };
};
// what each value was counted as, as a report lists it: what was recoded by its own value
const countedAs = (counts, q) => [...counts.outcomes, ...counts.columns.filter((c) => !c.cuts)].flatMap((c) => {
  const role = c.sizes ? roleOf(c, q) : "sensitive", held = new Map(), own = counts.observed.filter(([, name, , , , of]) => name === c.name && of === roleOf(c, q)), place = counts.columns.indexOf(c);
  const add = (value, as_, cases) => { cached(held, JSON.stringify([value, as_]), () => ({ role, column: c.name, value, as_, cases: 0 })).cases += cases; };
  const stateOf = (k) => (c.sizes ? (c.asked.includes(c.names[k]) ? "positive" : "negative") : c.groupless[k] ? "missing" : c.names[k]);
  c.names.forEach((name, k) => add(name, stateOf(k), c.sizes ? c.sizes[k] : counts.rows.reduce((a, r) => a + (r.codes[place] === k ? r.cases : 0), 0)));
  for (const [code, , value, , cases, , became] of own) {
    const as_ = code === "unstated" ? "undecided" : became === null ? "missing" : c.names.includes(became) ? stateOf(c.names.indexOf(became)) : null;
    if (as_) add(value, as_, cases);
    if (code === "recoded" && as_ && became !== null) add(became, as_, -cases);
  }
  return [...held.values()].filter(({ cases }) => cases > 0 || q.person).sort((a, b) => b.cases - a.cases || byPoints(a.value, b.value)).slice(0, 30);
});
const sortedByGravity = (verdicts, q, favourable) => {
  const value = (v) => v.interval?.value ?? NaN;
  const better = (v) => !Number.isNaN(value(v)) && !isOfBothSides(v) && v.rule.rate.directions[favourable].adverse * (value(v) - (v.rule.by === "ratio" ? 1 : 0)) < 0;
  const inside = (v) => (Number.isNaN(value(v)) ? Infinity : distance_inside(value(v), v.rule.low, v.rule.high, v.rule.by === "ratio"));
  const order = (a, b) => (a === b ? 0 : a < b ? -1 : 1);
  return [...verdicts].sort((a, b) => GRAVEST.indexOf(a.outcome) - GRAVEST.indexOf(b.outcome) || better(a) - better(b) || order(inside(a), inside(b)));
};
// what the form does, for programs: the text of a table and a specification as an object
const auditTable = async (table, question, report) => {
  const q = asked(question, table), counts = await countRows(q, table, report);
  const features = featuresOf(counts, q.crossed), empty = features.find((f) => f.columns.length === 1 && !f.groups.length);
  if (empty) throw refused("nobody", { name: empty.name });
  if (Math.max(...features.map((f) => f.groups.length)) > 200) throw refused("groups");
  const bare = features.find((f) => f.columns.length === 1 && f.groups.length < (counts.columns[f.columns[0]].cuts ? statedCuts(counts.columns[f.columns[0]].cuts).length + 1 : 0));
  if (bare) throw new Refused(inWords(UI.empty_band, { name: bare.name }));
  counts.repeated = q.count || q.person || table.cells ? null : repeatedPeople(table, [q.decision, q.label, ...q.features].map((c) => c?.name));
  if (table.cells && savedCounts(counts, q).fingerprint !== table.fingerprint) throw new Refused(UI.other_counts);
  return { q, counts, audit: auditOf(counts, q) };
};
const api = { cell: (v) => csvCell(v), audit: async (text, question) => {
  try {
    const { q, counts, audit } = await auditTable(await readTable(new Blob([text]), text.startsWith("{") ? "counts.json" : "table.csv", () => {}, false, question.person), question);
    return answer(counts, q, audit);
  } catch (error) {
    if (error instanceof Refused) return { refused: [error.message] };
    throw error;
  }
} };
globalThis.fairgaugePage = api;
