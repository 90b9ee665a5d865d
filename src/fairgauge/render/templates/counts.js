// counts of explore: tables of cells by group and score, and what groups are compared with
// tables of counts: a row for each combination of groups, by label (positive, negative, missing) and
// by how many places the score reaches; a number below zero stands for so many zeros
const tablesOf = (data) => data.tables.map(({ model, columns, places = range(data.steps + 1), codes, counts, ranges = [] }) => {
  const plane = places.length + 2, size = 3 * plane;
  const unpacked = (runs) => {
    const flat = new Float64Array((codes.length / columns.length) * size);
    let at = 0;
    for (const n of runs) if (n < 0) at -= n; else flat[at++] = n;
    return flat;
  };
  return { model, columns, places, codes, flat: unpacked(counts), ranges: ranges.map(unpacked), plane, size };
});
// several rows added up: by label the rows that reach each place, and last those without a decision
const added = ({ plane, size }, rows, flat) => {
  const sums = new Float64Array(size);
  for (const row of rows) {
    for (let i = 0, at = row * size; i < size; i++) sums[i] += flat[at + i];
  }
  for (let start = 0; start < size; start += plane) {
    for (let i = start + plane - 3; i >= start; i--) sums[i] += sums[i + 1];
  }
  return sums;
};
// the cells at a place: tp, fp, fn, tn, without a label, without a decision, neither
const cellsAt = (sums, place, turned) => {
  const plane = sums.length / 3, k = turned ? plane - 2 - place : place + 1;
  const [yes, no, none] = [sums[k], sums[plane + k], sums[2 * plane + k]];
  return [yes, no, sums[0] - yes, sums[plane] - no, none, sums[2 * plane] - none,
    sums[plane - 1], sums[2 * plane - 1], sums[3 * plane - 1]];
};
const total = (cells) => cells.reduce((a, b) => a + b, 0);
// sums of weights differ by rounding where nothing is left
const less = (a, b) => a.map((n, i) => (n - b[i] <= 1e-12 * n ? 0 : n - b[i]));
// counts, with the least and the greatest that agree with protected ones
const bounded = (cells, ends) => Object.assign(cells, ends.length ? { ends } : {});

// a group, or several rows of a table in another way: its counts at every place
const memberOf = (table, rows, of) => ({ ...of, sums: added(table, rows, table.flat),
  ranges: table.ranges.map((flat) => added(table, rows, flat)) });
const byKey = (groups) => new Map(groups.map((group) => [group.key, group]));
// a view of groups by key, each at its place, whose parts are all rows: cells are looked up when they are asked for
const viewOfCounts = (groups, parts, placeOf, turned) => {
  const known = new Map(), once = (key, make_) => cached(known, key, make_);
  const counted = (member) => {
    const [cells, ...ends] = [member.sums, ...member.ranges].map((sums) => cellsAt(sums, placeOf(member), turned));
    return bounded(cells, ends);
  };
  const cells = (key) => groups.has(key) && once(key, () => counted(groups.get(key)));
  const whole = () => once("all", () => parts.map(counted).reduce((a, b) => a.map((n, i) => n + b[i])));
  const without = (all, own) => bounded(less(all, own), (all.ends || []).map((end, i) => less(end, own.ends[i])));
  return { once, cells, whole, others: ({ key }) => once(`not ${key}`, () => without(whole(), cells(key))) };
};

// the cells that a group is compared with; null where it is itself the reference
const against = (reference, group, view) => {
  if (reference === "overall") return { key: "all", cells: view.whole(), others: view.others(group) };
  if (reference === "others") return { key: `not ${group.key}`, cells: view.others(group), others: null };
  const named = reference !== null && reference !== group.key && view.cells(reference);
  return named ? { key: reference, cells: named, others: null } : null;
};

const minus = (text) => (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "\u2212"));
// a rate, or its difference or ratio: shares as per cent and in percentage points
const number = (value, show, share, signed = show === "difference") => {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "\u221e" : "\u2212\u221e";
  const text = minus(show === "ratio" ? fixed(value, 2) : share ? fixed(value * 100, 1) : fixed(value, 3));
  return (signed && value > 0 && !/^0\.0*$/.test(text) ? "+" : "") + text;
};
const unit = (show, share) => (show === "ratio" || !share ? "" : show === "difference" ? " pp" : "%");
const asScore = (score) => (score === null ? "" : String(Number(score.toPrecision(6))));
// of several places the one whose score is nearest
const nearestOf = (places, scoreAt, asked) => {
  const off = (place) => Math.abs(scoreAt(place) - asked);
  return places.reduce((a, b) => (off(b) < off(a) ? b : a));
};
