// what every page that computes again shares: rates as sums of cells (the coefficients are the catalogue's, and
// the scripts know no metric) with intervals by the closed forms of fairgauge.stats, numbers as Python writes them, elements
const dot = (coefficients, cells) => {
  let sum = 0;
  for (let i = 0; i < coefficients.length; i++) sum += coefficients[i] * cells[i];
  return sum;
};

// what is made once by key; of no more than so many, all are made again
const cached = (held, key, make_, most = Infinity) => {
  if (!held.has(key) && held.size >= most) held.clear();
  return held.get(key) ?? held.set(key, make_()).get(key);
};
// numbers as Python writes them: halves to even, and no negative zero
const fixed = (value, digits) => {
  const scaled = value * 10 ** digits, near = Math.abs((scaled % 1) ** 2 - 0.25) < 1e-6;
  const tie = near && /^50*$/.test(value.toFixed(digits + 60).split(".")[1].slice(digits)); // exactly
  return (tie ? 2 * Math.round(scaled / 2) / 10 ** digits : value).toFixed(digits);
};
const count = (n) => fixed(n, Number.isInteger(n) ? 0 : 1).replace(/\B(?=(\d{3})+(\.|$))/g, ",");

const UI = data.ui, LANGUAGE = data.language, inWords = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
const localised = (text) => (LANGUAGE === "de" ? text.replace(/[,.]/g, (c) => (c === "," ? "." : ",")) : text);
const amount = (n) => localised(count(n));
const quoted = (t) => JSON.stringify(String(t)).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const tomlValue = (v) => (typeof v === "string" ? quoted(v) : Array.isArray(v) ? `[${v.map(tomlValue).join(", ")}]`
  : typeof v === "object" ? `{${Object.entries(v).map(([k, each]) => `${quoted(k)} = ${tomlValue(each)}`).join(", ")}}` : String(v));

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// which groups differ: few by name, many counted
const comparedText = (what, reference, groups) => {
  const parts = ["lower", "higher", "alike", "few"].flatMap((kind) => {
    const names = groups.filter(([, of]) => of === kind).map(([name]) => name), named = names.length > 3 ? inWords(UI.group_count, { n: names.length }) : names.join(", ");
    return names.length ? [inWords(UI.view[kind], { names: named })] : [];
  });
  return `${inWords(UI.view.compared, { what: capital(what), reference })} ${parts.join("; ") || UI.view.none}.`;
};
// a question as audit.toml
const specification = (question) => {
  const isTable = (v) => v && typeof v === "object" && !Array.isArray(v), kept = Object.entries(question).filter(([, v]) => v !== null && v !== undefined && !(Array.isArray(v) && !v.length));
  const lines = kept.filter(([, v]) => !isTable(v)).map(([k, v]) => `${k} = ${tomlValue(v)}`);
  const tables = kept.filter(([, v]) => isTable(v)).flatMap(([k, v]) => {
    const own = Object.entries(v).filter(([, each]) => !isTable(each)), nested = Object.entries(v).filter(([, each]) => isTable(each));
    return [...(own.length ? ["", `[${k}]`, ...own.map(([name, each]) => `${quoted(name)} = ${tomlValue(each)}`)] : []),
      ...nested.flatMap(([name, each]) => ["", `[${k}.${quoted(name)}]`, ...Object.entries(each).map(([n, x]) => `${quoted(n)} = ${tomlValue(x)}`)])];
  });
  return [...lines, ...tables, ""].join("\n");
};

// elements of the page; names enter it as text alone
const one = (id) => document.getElementById(id);
const make = (tag, properties, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};
const bdi = (text) => make("bdi", { textContent: text });
const range = (n) => Array.from({ length: n }, (_, i) => i);
const svg = (tag, attributes, ...children) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v); e.append(...children); return e; };
// places from 0 to 100 on an axis around 0, of ratios around 1 and logarithmic, that has the ends of some intervals
const axisFor = (isRatio, ends, most = 1) => {
  const scale = isRatio ? Math.log : Number, far = Math.max(...ends.map((v) => Math.abs(scale(v))).filter(Number.isFinite)), end = Math.min(far, isRatio ? Math.log(10) : most);
  return { at: (v) => 100 * Math.min(Math.max((scale(v) / end + 1) / 2, 0), 1), ticks: [-end, 0, end].map((t) => (isRatio ? Math.exp(t) : t)) };
};
const plotted = (result, at, neutral, ...below) => {
  const plot = svg("svg", { class: "interval", "aria-hidden": "true" }, ...below);
  if (neutral !== null) plot.append(svg("rect", { fill: "var(--neutral)", opacity: ".55", width: 1, height: "100%", x: `${neutral}%` }));
  if (result && !Number.isNaN(result.low)) plot.append(svg("line", { x1: `${at(result.low)}%`, x2: `${at(result.high)}%`, y1: "50%", y2: "50%" }));
  if (result) plot.append(svg("circle", { cx: `${at(result.value)}%` }));
  return plot;
};
const save = (text, name, type) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link); link.click(); link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// values and intervals of a share, and of its comparison; critical values
const SQRT_2PI = Math.sqrt(2 * Math.PI);
// P(Z > z), to the last digits: a series near 0, a continued fraction in the tail
const normalTail = (z) => {
  if (z < 0) return 1 - normalTail(-z);
  if (z > 38) return 0;
  const density = Math.exp(-z * z / 2) / SQRT_2PI;
  if (z < 2.5) {
    let term = z, sum = z;
    for (let k = 1; Math.abs(term) > 1e-18 * sum; k++) { term *= z * z / (2 * k + 1); sum += term; }
    return 0.5 - density * sum;
  }
  let f = 0;
  for (let k = 120; k > 0; k--) f = k / (z + f);
  return density / (z + f);
};
// where a tail that falls comes to so much
const fallsTo = (tail, alpha) => {
  let [inside, outside] = [0, 64];
  for (let i = 0; i < 64; i++) { const middle = (inside + outside) / 2; if (tail(middle) > alpha) inside = middle; else outside = middle; }
  return outside;
};
const critical = (alpha) => fallsTo(normalTail, alpha / 2);  // z of P(|Z| > z) = alpha
// of one interval of a family that hold together (Sidak)
const alphaOf = (family, confidence) => -Math.expm1(Math.log(confidence) / Math.max(family, 1));

// a rate is a share of rows: how many it counts, of those it is among
const countsOf = ({ sums }, cells) => sums.map((sum) => dot(sum, cells));
const valueOf = (rate, cells) => quotient(...countsOf(rate, cells));
const few = (rows, expected, fewest) =>
  rows < fewest.rows * (1 - 1e-9) || expected < fewest.expected * (1 - 1e-9);

// counts known within ranges: the tables with the successes and the failures of a share at their ends
const cornersOf = (rate, [least, most]) => [[least, least], [least, most], [most, least], [most, most]]
  .map(([of, others]) => of.map((n, i) => (rate.sums[0][i] ? n : others[i])));
// what holds in all these tables: the value of the counts as they are, its bounds, and limits around all of theirs
const inAll = (value, [low, high], results) => ({
  value: low <= high ? value : NaN, bounds: [low, high], few: results.some((each) => each.few),
  low: Math.min(...results.map((each) => each.low)), high: Math.max(...results.map((each) => each.high)) });

const rateOf = (rate, cells, z, fewest) => {
  if (cells.ends) {
    const every = cornersOf(rate, cells.ends).map((corner) => rateOf(rate, corner, z, fewest));
    const bounds = Number.isNaN(every[0].value) ? [NaN, NaN] : [every[1].value, every[2].value];
    return inAll(valueOf(rate, cells), bounds, every);
  }
  const [x, n] = countsOf(rate, cells), value = quotient(x, n), [low, high] = containing(value, ...wilson(x, n, z), 0, 1);
  return { value, low, high, few: few(n, Infinity, fewest) };
};

// a group with its reference; where that is all rows, limits are made against the others of them
const compareRates = (rate, by, cells, reference, others, z, fewest) => {
  const isRatio = by === "ratio", [x1, n1] = countsOf(rate, cells), [x, n] = countsOf(rate, reference), own = quotient(x1, n1);
  const value = isRatio ? quotient(own, quotient(x, n)) : own - quotient(x, n);
  if (cells.ends) {
    const [ours, theirs] = [cells, reference].map((side) => cornersOf(rate, side.ends));
    const every = ours.map((a) => theirs.map((b) => compareRates(rate, by, a, b, null, z, fewest)));
    const empty = [ours[0], theirs[0]].some((corner) => Number.isNaN(valueOf(rate, corner)));
    return inAll(value, empty ? [NaN, NaN] : [every[1][2].value, every[2][1].value], every.flat());
  }
  const [x2, n2] = others ? countsOf(rate, others) : [x, n], isFar = far_apart(x1, n1, x2, n2);
  let ends = isFar ? (isRatio ? score_ratio : score_difference)(x1, n1, x2, n2, z)
    : (isRatio ? mover_ratio : mover_difference)(own, ...wilson(x1, n1, z), quotient(x2, n2), ...wilson(x2, n2, z));
  if (others) ends = (isRatio ? ratio_to_whole : difference_from_whole)(...ends, quotient(n1, n));
  const [low, high] = containing(value, ...ends, ...(isRatio ? [0, Infinity] : [-1, 1]));
  return { value, low, high, few: few(Math.min(n1, n2), expected_count(x1, n1, x2, n2), fewest) };
};
