// the words of a language: what grammar.py has, for comparisons of shares; the texts are compiled from the catalogue
const T = (v) => Boolean(Array.isArray(v) ? v.length : v && typeof v === "object" && Object.getPrototypeOf(v) === Object.prototype ? Object.keys(v).length : v);
const S = (v) => (v === undefined || v === null ? "" : String(v)), O = (a, b) => (T(a) ? a : b());
const L = (v) => (Array.isArray(v) ? v : Object.keys(v ?? {})), I = (a, of) => (Array.isArray(of) ? of.includes(a) : typeof of === "string" ? of.includes(a) : a in of);
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const printable = (text) => {
  const shown = String(text).replace(INVISIBLE, (c) => { const code = c.codePointAt(0); return /[\u200c\u200d]/.test(c) ? c : code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`; });
  return RIGHT_TO_LEFT.test(shown) ? `${shown}\u200e` : shown;
};
const called = (name) => {
  const shown = printable(name);
  return /^[\s\u00a0]|[\s\u00a0]$|[\s\u00a0]{2}|\u00a0/u.test(shown) ? `\u201c${shown.replace(/^\s+|\s+$|\s{2,}|\u00a0/gu, (b) => "\u00a0".repeat(b.length))}\u201d` : shown;
};
const significantDigits = (value, digits) => {  // as Python's "g"
  if (value === 0) return "0";
  const [head, exponent] = value.toExponential(digits - 1).split("e"), power = Number(exponent), bare = (t) => (t.includes(".") ? t.replace(/\.?0+$/, "") : t);
  return power < -4 || power >= digits ? `${bare(head)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}` : bare(value.toFixed(Math.max(digits - 1 - power, 0)));
};
const grouped = (text) => text.replace(/^(-?\d+)/, (n) => n.replace(/\B(?=(\d{3})+$)/g, ","));
const grammarOf = (language, asked) => {
  const { table, texts } = TEXTS[language], { terms, people } = table, german = language === "de", words = { ...asked };
  if (!(words.positive || words.negative)) Object.assign(words, (table.page.decision ?? {}).audit);
  const unit = words.unit || "rows", noun = words.noun || (unit in terms.plural ? people.noun : unit);
  const which = people[noun === unit && !people.nouns.includes(noun) ? "that" : "who"], fold = (t) => t.toLowerCase();
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const listing = (items, last = "and", most = 8) => {
    items = items.map(String);
    const joined = terms[{ between: "and_between" }[last] ?? last];
    if (items.length > most) return filled(terms.more, { first: items.slice(0, most).join(", "), n: amount(items.length - most) });
    return [items.slice(0, -1).join(", "), ...items.slice(-1)].filter(Boolean).join(` ${joined} `);
  };
  const pick = (v, forms) => (v === 1 ? forms[0] : forms.at(-1));
  const inflected = (name, kase) => {
    if (!german || kase !== "dative") return name;
    const [first, ...rest] = name.split(/ mit (.*)/s).slice(0, 2), before = first.split(" "), last = before.pop();
    return [[...before.map((w) => (w.endsWith("e") ? `${w}n` : w)), /[ns]$/.test(last) ? last : `${last}n`].join(" "), ...rest].join(" mit ");
  };
  const adjective = (column, value) => {
    const own = (of, key) => (Object.hasOwn(of, key) ? of[key] : undefined), known = own(people.adjectives, fold(column).replace(/\s*\(self\b.*\)$/u, "")) ?? {}, found = own(known, fold(value)), every = words.values?.[column];
    if (!found || !every) return found ?? null;
    const named = every.filter((v) => Object.hasOwn(known, fold(v))), same = named.filter((v) => known[fold(v)] === found && v !== value);
    return same.length || (!(found in people.plain) && new Set(named.map((v) => known[fold(v)])).size < 2) ? null : found;
  };
  const quotedValue = (value) => {
    const band = /^([([])(?!-inf, inf)(-inf|-?[\d.]+), (inf|-?[\d.]+)([)\]])$/.exec(value);
    if (!band) return people.pronouns.includes(fold(value).split(" ")[0]) ? `\u201c${called(value)}\u201d` : called(value);
    const [, opens, low, high, closes] = band, kind = high === "inf" ? `above${opens}` : low === "-inf" ? `below${closes}` : `between${opens}${closes}`;
    return filled(terms.bands[kind], { low, high });
  };
  const byDefault = (side) => {
    const usable = people.nouns.includes(noun) || which !== people.who, own = ![undefined, null, "rows", "cases", "people"].includes(words.unit) && !words.noun;
    const adjectives = [], others = [];
    for (const [column, value] of side.values) {
      const found = usable && !own && !words.groups?.[column] ? adjective(column, value) : null;
      (found ? adjectives : others).push(found ?? `${called(column)} ${quotedValue(value)}`);
    }
    adjectives.sort((a, b) => (a in people.plain) - (b in people.plain));
    let [name, of] = [noun, ""];
    if (adjectives.length && which !== people.who) [name, of] = [people.noun, `${noun} ${people.of} `];
    if (name === people.noun && adjectives.length && adjectives.at(-1) in people.plain) name = people.plain[adjectives.pop()];
    const named = `${of}${[...adjectives, name].join(" ")}`;
    return others.length ? `${named} ${people.with} ${listing(others)}` : named;
  };
  const name = (side, kase) => {
    if (!side) return "";
    if (side.kind !== "group") return inflected(filled(people[side.kind], { noun }), kase);
    const names = words.groups?.[side.feature], value = side.values.map(([, v]) => v).join(" & ");
    let named = "";
    if (typeof names === "string") {
      const values = { value: called(value), noun, ...Object.fromEntries(side.values.map(([c, v]) => [c, called(typeof words.groups[c] === "object" ? words.groups[c][v] ?? v : v)])) };
      named = [...names.matchAll(/\{([^{}]*)\}/g)].some(([, p]) => !(p in values)) ? "" : names.replace(/\{([^{}]*)\}/g, (_, p) => values[p]);
    } else if (names) named = called(names[value] ?? names[side.values.map(([, v]) => v).join(", ")] ?? "");
    if (!named || people.pronouns.includes(fold(named.split(" ")[0]))) named = byDefault(side);
    return inflected(named, kase);
  };
  const some = (side, kase) => (`some_${side.kind}` in people ? inflected(filled(people[`some_${side.kind}`], { noun }), kase) : name(side, kase));
  const equals = (e) => `${called(e.column)} ${{ "=": "=", not: terms.other_than, above: e.positive ? ">" : "\u2264" }[e.op]} ${listing(e.values.length ? e.values.map(called) : [terms.that_class], "or")}`;
  const KEYS_OF = { decision: { true: "positive", false: "negative" }, outcome: { true: "label_positive", false: "label_negative" } };
  const kindOf = (e) => (e.decides && !(words.label_positive || words.label_negative) ? "decision" : e.kind);
  const event = (e) => {
    let kind = kindOf(e), word = words[KEYS_OF[kind][e.positive]];
    const other = kind === "decision" && words[KEYS_OF.decision[!e.positive]];
    if (!word && other) word = filled(people.not, { word: other });
    if (!word) [kind, word] = ["value", equals(e)];
    return Object.fromEntries(Object.entries(table.events[kind]).map(([key, text]) => [key, filled(text, { word, which })]));
  };
  const joined = (who, among) => {
    if (!among) return who;
    const condition = event(among).who, start = `${people.with} `, follows = condition.startsWith(start);
    if (german && !follows) return `${who}${who.includes(`, ${which} `) ? ` ${terms.and} ` : ", "}${condition}`;
    if (follows && who.includes(` ${start}`)) return `${who} ${terms.and} ${condition.slice(start.length)}`;
    return `${who}${german ? " " : people.clause}${condition}`;
  };
  const such = (s, kase, more = {}) => {
    const options = typeof kase === "object" ? kase : more, k = typeof kase === "string" ? kase : undefined;
    if (!s.of?.among) return (options.some ? some : name)(s.than, k);
    return inflected(s.than.kind === "others" ? filled(people.such_others, { noun }) : filled(people.such, { people: some(s.than) }), k);
  };
  // both shares as counts of one number of people, the smallest at which they are faithful
  const countOf = ({ hits, n }, of) => Number((2n * BigInt(hits) * BigInt(of) + BigInt(n)) / (2n * BigInt(n)));
  const counted = (s) => {
    const sides = [s.who, s.than];
    if (sides.some((side) => !side?.n || side.rate === null)) return null;
    const isFaithful = (counts, of) => {
      const apart = (counts[0] - counts[1]) / of;
      if (s.shown && s.lower !== null && (apart === 0 || (apart < 0) !== s.lower)) return false;
      if (!(s.interval && s.by === "difference")) return true;
      return s.interval.low <= apart && apart <= s.interval.high && (apart !== 0 || (s.interval.low <= 0 && 0 <= s.interval.high));
    };
    let per = null, counts = sides.map((side) => side.hits);
    for (const of of [100, 1000, 10000, 100000]) {
      if (of > Math.min(...sides.map((side) => side.n))) break;
      const made = sides.map((side) => countOf(side, of));
      if (made.some((c, i) => (c === 0 || c === of) && sides[i].hits * of !== c * sides[i].n) || !isFaithful(made, of)) continue;
      [per, counts] = [of, made];
      break;
    }
    const sizes = per ? [per, per] : sides.map((side) => side.n);
    return { of: amount(sizes[0]), n: amount(sizes[1]), mine: amount(counts[0]), theirs: amount(counts[1]), exact: true, counts, per };
  };
  const rounded = (v, decimals = 0) => {
    for (let digits = decimals; digits < 7; digits++) { const t = grouped(fixed(v, digits)); if (Number(t.replaceAll(",", "")) || v === 0) return t; }
    return significantDigits(v, 1);
  };
  const endsOf = (low, high, per) => { const ends = [low, high].map((e) => rounded(e * per)); return low < high && ends[0] === ends[1] ? [low, high].map((e) => rounded(e * per, 2)) : ends; };
  const unsigned = (t) => { const bare_ = t.replace(/^-/, ""); return Number(bare_.replaceAll(",", "")) === 0 ? terms.none : localised(bare_); };
  const rangeText = (s) => {
    const { low, high } = s.interval, none = s.by === "ratio" ? 1 : 0, ranges = table.range;
    if (low === none && high === none) return terms.none;
    if (s.by === "ratio") {
      let decimals = 2;
      while (decimals < 6 && [low, high].some((e) => Number(fixed(e, decimals)) === 1 && e !== 1)) decimals++;
      return filled(ranges[Number.isFinite(high) ? "ratio" : "ratio_from"], { low: localised(fixed(low, decimals)), high: Number.isFinite(high) ? localised(fixed(high, decimals)) : "" });
    }
    const per = counted(s)?.per ?? 100, ends = endsOf(low, high, per), size = (t) => Math.abs(Number(t.replaceAll(",", "")));
    if (low >= 0 || high <= 0) {
      const [near, far] = [...ends].sort((a, b) => size(a) - size(b)).map(unsigned);
      return filled(ranges[high > 0 ? "more" : "fewer"], { near, far, of: amount(per) });
    }
    return filled(ranges.both, { low: unsigned(ends[0]), high: unsigned(ends[1]), of: amount(per) });
  };
  const feature = ([own, columns]) => { const named = (columns ?? [own]).map((c) => words.features?.[c] ?? called(c)); return named.length === 1 ? named[0] : filled(people.together, { columns: listing(named) }); };
  const judgedName = (s) => (s.who ? name(s.who) : s.facts.feature ? filled(terms.groups_of, { feature: feature([s.facts.feature, null]) }) : terms.all);
  const names = (parts, most = 3, last = "and") => {
    if (typeof most === "object") most = 3;
    const who = [...new Set(parts.map(judgedName))], lead = `${noun} ${people.with} ${called(parts[0]?.who?.feature ?? "")} `;
    if (who.length > 1 && who.every((each) => each.startsWith(lead))) return lead + listing(who.map((each) => each.slice(lead.length)), "or", most);
    return listing(who, last, most);
  };
  const bySide = (parts) => {
    const sides = new Map();
    for (const s of parts) { const key = `${["worse", "better", null].indexOf(s.harm)}${s.facts.than_all ? 1 : 0}${s.harm === null ? { null: "N", false: "F", true: "T" }[s.lower] : "N"}`; sides.set(key, [...(sides.get(key) ?? []), s]); }
    return [...sides.keys()].sort().map((key) => sides.get(key));
  };
  const at = (item, path) => path.split(".").reduce((v, key) => v?.[key], item);
  const num = (v, digits = 4) => localised(significantDigits(v, digits)).replace("-", "\u2212");
  F = { name, whom: (s, side = "who", kase) => joined(side === "some" ? some(s.who, kase) : name(s[side], kase), s.of?.among), such, some, now: (e) => [event(e).now, event(e).part].filter(Boolean).join(" "),
    was: (e) => [event(e).aux, event(e).part].filter(Boolean).join(" "), aux: (e) => event(e).aux, part: (e) => event(e).part, who: (e) => event(e).who, equals, count: amount,
    both: (e) => { const [a, b] = kindOf(e) === "decision" ? ["positive", "negative"] : ["label_positive", "label_negative"], [x, y] = [words[a], words[b]]; return x || y ? `${x || y} ${terms.or} ${x && y ? y : terms.not}` : equals(e); },
    of: (v, of) => `${amount(v)} ${v === 1 ? terms.plural[of] ?? of.replace(/s$/, "") : terms.many[of] ?? of}`, called, cap: (t) => (/^.[ -]/u.test(t) ? t : t.charAt(0).toUpperCase() + t.slice(1)),
    after_number: (people, n) => (n === "1" ? `${people} (n = 1)` : `${n} ${people}`), series: listing, counted, range: rangeText, pick, num, feature, names, by_side: bySide, level: (r) => significantDigits(100 * r.level, 4), space: (t) => (t ? ` ${t}` : ""), judged: judgedName,
    points: (v) => { const t = fixed(100 * v, 1); return localised(Number(t) === 0 ? "0.0" : v > 0 ? `+${t}` : t).replace("-", "\u2212"); }, pct: (v) => localised(`${fixed(100 * v, 1)}%`), abs: Math.abs,
    replace: (t, from, to, most) => (most === 1 ? t.replace(from, () => to) : t.replaceAll(from, to)), length: (v) => v.length, list: (v) => [...v], items: (v) => Object.entries(v ?? {}), min: (v) => Math.min(...v),
    map: (items, by) => items.map((item) => (typeof by === "object" ? at(item, by.attribute) : F[by](item))), unique: (items) => [...new Set(items)],
    selectattr: (items, path, test, value) => items.filter((item) => (test === undefined ? T(at(item, path)) : JSON.stringify(at(item, path)) === JSON.stringify(value))),
    rejectattr: (items, path) => items.filter((item) => !T(at(item, path))), rule_words: (t) => t, insufficient: () => "", reason: () => "" };
  const self = { joined, comma: (among) => (among && !event(among).who.startsWith(people.with) ? "," : ""), event, noun, unit };
  const state = (code, place, s = null, more = {}) => {
    let text = texts[code]?.[place] ?? (["share", "fit", "misfit", "mean", "number", "rank", "other"].includes(place) ? texts[code]?.else : undefined);
    if (text && typeof text === "object") text = text[s?.of?.kind ?? "number"] ?? text.else;
    if (!text) return null;
    return text({ state, terms, table, words: self, inf: Infinity, s, ...s?.facts, ...more }).trim() || null;
  };
  return { state, table, words: self };
};
let F = {};
