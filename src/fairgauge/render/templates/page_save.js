// what can be taken along: the counts and the table to publish; and the page's answer as plain values
// JSON as Python writes it
class Float { constructor(v) { this.v = v; } }
const ascii = (t) => JSON.stringify(t).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const pythonJson = (v, sorted = true) => (v instanceof Float ? (Number.isInteger(v.v) ? `${v.v}.0` : String(v.v)) : v === null ? "null" : typeof v === "string" ? ascii(v)
  : typeof v !== "object" ? String(v) : Array.isArray(v) ? `[${v.map((each) => pythonJson(each, sorted)).join(",")}]`
  : `{${(sorted ? Object.keys(v).sort(byPoints) : Object.keys(v)).map((k) => `${ascii(k)}:${pythonJson(v[k], sorted)}`).join(",")}}`);
const withFloats = (v) => (Array.isArray(v) ? v.map(withFloats) : v && typeof v === "object" && !(v instanceof Float) ? ("float" in v ? new Float(v.float) : Object.fromEntries(Object.entries(v).map(([k, each]) => [k, withFloats(each)]))) : v);
// SHA-256 (FIPS 180-4): a page opened from a file has no crypto.subtle in every browser
const sha256 = (text) => {
  const bytes = new TextEncoder().encode(text), size = bytes.length, padded = new Uint8Array(((size + 72) >> 6) << 6), view = new DataView(padded.buffer);
  padded.set(bytes); padded[size] = 128;
  view.setUint32(padded.length - 8, Math.floor(size / 2 ** 29)); view.setUint32(padded.length - 4, (size << 3) >>> 0);
  const primes = [], frac = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) >>> 0;
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const k = primes.map((p) => frac(Math.cbrt(p))), h = primes.slice(0, 8).map((p) => frac(Math.sqrt(p))), w = new Uint32Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let from = 0; from < padded.length; from += 64) {
    for (let i = 0; i < 64; i++) {
      const [a, b] = [w[i - 15], w[i - 2]];
      w[i] = i < 16 ? view.getUint32(from + 4 * i) : w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, last] = h;
    for (let i = 0; i < 64; i++) {
      const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) >>> 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
      [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0];
    }
    [a, b, c, d, e, f, g, last].forEach((v, i) => { h[i] = (h[i] + v) >>> 0; });
  }
  return `sha256:${h.map((v) => v.toString(16).padStart(8, "0")).join("")}`;
};
const further = (counts) => counts.fileRows - counts.read - counts.without;
// the counts as fairgauge count saves them, byte for byte
const savedCounts = (counts, q) => {
  const plainAsked = (v) => (typeof v === "string" ? meaning(v) : v), inOrder_ = (names) => names.sort((a, b) => (a === "unknown") - (b === "unknown") || byPoints(a, b));
  const cutsOf = (name) => (q.cuts.get(name) ?? []).map((v) => new Float(v));
  const ownRecode = Object.fromEntries(Object.keys(q.recode).sort(byPoints).map((name) => [name, Object.fromEntries(inOrder_(Object.keys(q.recode[name])).map((to) => [to, listOf(q.recode[name][to]).map(String).sort(byPoints)]))]));
  const base = { ...Object.fromEntries(data.asked.map((key) => [key, data.question[key]])), label: q.label?.name ?? null, prediction: q.decision.name, positive: q.above === null ? q.stated.map(plainAsked) : { above: new Float(q.above) }, sensitive: q.features.map((c) => ({ column: c.name, ...(q.cuts.get(c.name)?.length ? { cuts: statedCuts(q.cuts.get(c.name)).map((v) => new Float(v)) } : {}) })),
    intersections: q.crossed.map((c) => c.map((i) => q.features[i].name)), count: q.count?.name ?? null };
  const inOrderOf = (keys, of) => Object.fromEntries(keys.filter((key) => key in of).map((key) => [key, of[key]]));
  const asked_ = q.person ? inOrderOf(data.asked.flatMap((key) => (key === "task" ? ["person", key] : [key])), { ...base, person: q.person.name }) : base;
  const axis = (role, name, cuts = []) => ({ role, column: name, cuts, closed: "right", bounds: null, grid: 0 });
  const plan = { axes: [...q.features.map((c) => axis("feature", c.name, cutsOf(c.name))), ...(q.label ? [axis("label", q.label.name)] : []), axis("prediction", q.decision.name, q.above === null ? [] : [new Float(q.above)]), ...counts.coded.map((c) => axis("codes", c.name, AROUND_CODES.map((v) => new Float(v))))],
    tables: [range(counts.columns.length + counts.outcomes.length), ...counts.coded.map((_, i) => [counts.columns.length + counts.outcomes.length + i])], moments: [], asked: withFloats(asked_) };
  const body = { plan, rows: counts.fileRows, excluded: { ...(counts.without ? { [data.no_count]: counts.without } : {}), ...(q.person && further(counts) ? { [data.same_person]: further(counts) } : {}) }, levels: [...[...counts.columns, ...counts.outcomes].map((c) => c.levels), ...counts.coded.map((c) => range(c.none))],
    tables: [{ codes: plan.tables[0].map((i) => counts.rows.map((r) => r.codes[i])), sums: { rows: counts.rows.map((r) => r.n), ...(q.count ? { n: counts.rows.map((r) => r.cases) } : {}), ...(counts.open ? { open: counts.rows.map((r) => r.open) } : {}) } },
    ...counts.coded.map((c) => {
      const bins = [c.none, ...range(c.none)].filter((bin) => c.cases[bin]), at = (sums) => bins.map((bin) => sums[bin]);
      return { codes: [bins.map((bin) => (bin === c.none ? -1 : bin))], sums: { rows: at(c.n), ...(q.count ? { n: at(c.cases) } : {}), ...(counts.open ? { open: at(c.open) } : {}) } };
    })] };
  const rules = q.rules.map((r) => ({ metric: r.metric, ...(r.low > -Infinity ? { at_least: new Float(r.low) } : {}), ...(r.high < Infinity ? { at_most: new Float(r.high) } : {}), decide: "interval", insufficient: "report" }));
  const question = { ...data.question, ...base, positive: q.above === null ? q.stated : base.positive, negative: q.negative.length ? q.negative : null, person: q.person?.name ?? null, recode: ownRecode, reference: q.reference, metrics: q.metrics, rules, words: { ...q.question.words }, favourable: q.favourable,
    unknown: q.unknown, accept: q.accept, preset: q.question.preset ?? null, min_n: q.minN, min_share: q.minShare ? new Float(q.minShare) : null, document: { ...q.question.document } };
  const observed = [...counts.observed, ...counts.conflicts.map(([name, n]) => ["conflict", name, null, n, 0, null, null])];
  const fingerprint = sha256(pythonJson({ schema: data.schema, ...body })), whole = { schema: data.schema, question: withFloats(question), ...(counts.copies.length ? { copies: counts.copies } : {}), ...(observed.length ? { observed } : {}), ...body, fingerprint };
  return { fingerprint, text: () => pythonJson({ ...whole, digest: sha256(pythonJson(whole)) }, false) };
};

// the table to publish; its cells are those of streams.cell
const csvCell = (v) => {
  if (typeof v !== "string") return v === null || v === undefined || Number.isNaN(v) ? "" : String(v);
  const t = printable(v), computed = /^[=+\-@]/.test(t.normalize("NFKC").trimStart()) && !/^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(t), safe = computed ? `'${t}` : t;
  return /[",;|]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const publishedTable = (audit) => audit.features.flatMap((f, i) => audit.measured[i].flatMap((results) => results.map((r) => ({ feature: f.names.join(" and "), group: r.group.name, rate: r.rate.name,
  n: dot(r.rate.sums[1], r.group.cells), x: dot(r.rate.sums[0], r.group.cells), own: r.own, difference: r.by.difference, ratio: r.by.ratio, isReference: r.isReference,
  note: r.isReference ? "reference" : r.small ? "below the smallest size" : r.by.ratio?.few ? "insufficient data" : "" }))));
const unknownOf = (f) => f.unknown.reduce((a, u) => a + u.n, 0);
const publishedCsv = (audit) => "\ufeff" + [["feature", "group", "rate", "n", "counted", "value", "low", "high", "ratio", "ratio low", "ratio high", "difference", "difference low", "difference high", "note"],
  ...publishedTable(audit).map((r) => [r.feature, r.group, r.rate, r.n, r.x, r.own.value, r.own.low, r.own.high, r.ratio?.value, r.ratio?.low, r.ratio?.high, r.difference?.value, r.difference?.low, r.difference?.high, r.note]),
  ...audit.features.filter(unknownOf).map((f) => [f.names.join(" and "), "not known", "", unknownOf(f), ...Array(10).fill(""), "in no rate"])]
  .map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

// what fairgauge audit --format json has of it
const numberOr = (v) => (v === undefined || Number.isNaN(v) ? null : Number.isFinite(v) ? v : v > 0 ? "Infinity" : "-Infinity");
const answer = (counts, q, audit) => {
  const saved = savedCounts(counts, q), page = pageOf(counts, q, audit);
  const wanted = (r, by) => !q.asks.size || q.asks.has(`${r.rate.name}.${by}`);
  return {
    fingerprint: saved.fingerprint,
    data: { rows: counts.fileRows, cases: counts.read },
    groups: audit.every.map((r) => ({ feature: r.feature.name, group: r.group.name, n: r.group.n, rate: r.rate.name, value: numberOr(r.own.value), low: numberOr(r.own.low), high: numberOr(r.own.high) })),
    estimates: audit.every.flatMap((r) => ["difference", "ratio"].filter((by) => r.by[by] && wanted(r, by)).map((by) => { const e = r.by[by]; return { metric: `${r.rate.name}.${by}`, feature: r.feature.name, group: r.group.name, value: numberOr(e.value),
      low: numberOr(e.low), high: numberOr(e.high), simultaneous: e.joint.map(numberOr), significant: e.significant, rate_group: numberOr(r.own.value), rate_reference: numberOr(r.theirs),
      status: Number.isNaN(e.value) ? "undefined" : r.small || e.few ? "too_few" : "ok" }; })),
    verdicts: audit.verdicts.map((v) => ({ rule: v.rule.text, metric: v.rule.metric, feature: v.r.feature.name, group: v.why.code === "fewer_than_two_groups" ? null : v.r.group.name, mirror: v.mirror && v.mirror.group.name,
      outcome: v.outcome, remains: v.remains ?? null, reason: v.why, value: numberOr(v.interval?.value), low: numberOr(v.interval?.low), high: numberOr(v.interval?.high) })),
    doubts: audit.doubts.map(({ code, columns, rows }) => ({ code, column: columns?.[0] ?? null, rows, share: rows / counts.read, accepted: false })), repeated: counts.repeated, statements: page.statements, headline: page.headline, verdict: page.verdict, answers: page.answers,
  };
};
