// values and intervals of a rate, and of its comparison, by the closed forms of kernels.js
const shapes = { share: (s) => s, odds, part: weighted_share };

// the same coefficient for both ends, null where a range has no end
const within = (value, [low, high], [least, most]) =>
  containing(value, low, high, least === null ? -Infinity : least, most === null ? Infinity : most);

const smallest = (several, cells) => Math.min(...several.map((sum) => dot(sum, cells)));

// a rate of one side: its estimate, its limits at a critical value, and the shares that it is of
const sideOf = (rate, cells) => {
  const sums = rate.sums.map((sum) => dot(sum, cells));
  if (rate.kind === "paired") {
    const [both, over, under] = sums;
    return { estimate: quotient(both + over, both + under), shares: [], rows: smallest(rate.rows, cells),
      limits: (z) => paired_ratio(both, over, under, z) };
  }
  if (rate.kind === "mean") {
    const shares = sums.flatMap((x, i) => (i % 2 ? [] : [{ x, n: sums[i + 1] }]));
    const k = shares.length, estimates = shares.map(({ x, n }) => quotient(x, n));
    const estimate = estimates.reduce((a, b) => a + b) / k;
    const limits = (z) => {
      const ends = shares.map(({ x, n }) => wilson(x, n, z));
      return [estimate - Math.hypot(...ends.map(([low], i) => estimates[i] - low)) / k,
        estimate + Math.hypot(...ends.map(([, high], i) => high - estimates[i])) / k];
    };
    return { estimate, shares, rows: Math.min(...shares.map(({ n }) => n)), limits };
  }
  const [x, n] = sums, shape = (share) => shapes[rate.kind](share, rate.times);
  return { estimate: shape(quotient(x, n)), shares: [{ x, n }], plain: rate.kind === "share", rows: n,
    limits: (z) => wilson(x, n, z).map(shape) };
};

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
    return inAll(plain.valueOf(rate, cells), bounds, every);
  }
  const { estimate, limits, shares } = sideOf(rate, cells);
  const [low, high] = within(estimate, limits(z), rate.range);
  return { value: plain.valueOf(rate, cells), low, high,
    few: few(smallest(rate.rows, cells), Infinity, fewest)
      || shares.some(({ x, n }) => Math.min(x, n - x) < (fewest.outcomes || 0)) };
};
const plain = arithmetic(false);

// a group with its reference; where that is all rows, limits are made against the others of them
const compareRates = (rate, by, cells, reference, others, z, fewest) => {
  const value = plain.contrast(rate, by, cells, reference);
  if (cells.ends) {
    const [ours, theirs] = [cells, reference].map((side) => cornersOf(rate, side.ends));
    const every = ours.map((a) => theirs.map((b) => compareRates(rate, by, a, b, null, z, fewest)));
    const empty = [ours[0], theirs[0]].some((corner) => Number.isNaN(plain.valueOf(rate, corner)));
    return inAll(value, empty ? [NaN, NaN] : [every[1][2].value, every[2][1].value], every.flat());
  }
  const one = sideOf(rate, cells), two = sideOf(rate, others || reference);
  const pairs = one.shares.map((a, i) => [a.x, a.n, two.shares[i].x, two.shares[i].n]);
  const expected = pairs.map((sides) => expected_count(...sides)).filter((n) => !Number.isNaN(n));
  const result = { value, few: few(Math.min(one.rows, two.rows), Math.min(...expected), fewest) };
  if (others && !rate.whole) return { ...result, low: NaN, high: NaN };
  let ends;
  if (one.plain && far_apart(...pairs[0])) {
    ends = (by === "ratio" ? score_ratio : score_difference)(...pairs[0], z);
  } else {
    const [low1, high1] = one.limits(z), [low2, high2] = two.limits(z);
    ends = (by === "ratio" ? mover_ratio : mover_difference)(
      one.estimate, low1, high1, two.estimate, low2, high2);
  }
  if (others) {
    const part = quotient(dot(rate.whole, cells), dot(rate.whole, reference));
    ends = (by === "ratio" ? ratio_to_whole : difference_from_whole)(...ends, part);
  }
  const [low, high] = within(value, ends, rate.contrasts[by].range);
  return { ...result, low, high };
};
