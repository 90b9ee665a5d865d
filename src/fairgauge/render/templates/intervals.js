// values and intervals of a rate, and of its comparison, by the closed forms of kernels.js; critical values
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
const critical = (alpha) => {  // z of P(|Z| > z) = alpha
  let z = 0;
  for (let i = 0; i < 200; i++) {
    const step = (normalTail(z) - alpha / 2) * SQRT_2PI * Math.exp(z * z / 2);
    z += step;
    if (Math.abs(step) < 1e-15 * Math.max(z, 1)) break;
  }
  return z;
};
// of one interval of a family that hold together (Sidak)
const alphaOf = (family, confidence) => -Math.expm1(Math.log(confidence) / Math.max(family, 1));

// by the kind of a rate: its estimate, and its limits at a critical value, from the sums that it is of
const shaped = (shape) => ({
  estimate: ([x, n], times) => shape(quotient(x, n), times),
  limits: ([x, n], times, z) => wilson(x, n, z).map((end) => shape(end, times)),
});
const mean = (sums) => {
  let sum = 0;
  for (let i = 0; i < sums.length; i += 2) sum += quotient(sums[i], sums[i + 1]);
  return 2 * sum / sums.length;
};
const kinds = {
  share: { estimate: ([x, n]) => quotient(x, n), limits: ([x, n], _, z) => wilson(x, n, z) },
  odds: shaped(odds),
  part: shaped(weighted_share),
  paired: {
    estimate: ([both, over, under]) => quotient(both + over, both + under),
    limits: ([both, over, under], _, z) => paired_ratio(both, over, under, z),
  },
  mean: {
    estimate: mean,
    limits: (sums, _, z) => {
      let below = 0, above = 0;
      for (let i = 0; i < sums.length; i += 2) {
        const at = quotient(sums[i], sums[i + 1]), [low, high] = wilson(sums[i], sums[i + 1], z);
        below = Math.hypot(below, at - low);
        above = Math.hypot(above, high - at);
      }
      return [mean(sums) - 2 * below / sums.length, mean(sums) + 2 * above / sums.length];
    },
  },
};

// the same coefficient for both ends, null where a range has no end
const within = (value, [low, high], [least, most]) =>
  containing(value, low, high, least === null ? -Infinity : least, most === null ? Infinity : most);

const smallest = (several, cells) => Math.min(...several.map((sum) => dot(sum, cells)));
const sideOf = (rate, cells) => {
  const sums = rate.sums.map((sum) => dot(sum, cells));
  return { sums, shares: rate.kind === "paired" ? [] : sums, value: valueAt(rate, cells), rows: smallest(rate.rows, cells), estimate: kinds[rate.kind].estimate(sums, rate.times) };
};
const limitsAt = (rate, { sums }, z) => kinds[rate.kind].limits(sums, rate.times, z);

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
    return inAll(valueAt(rate, cells), bounds, every);
  }
  const side = sideOf(rate, cells), [low, high] = within(side.estimate, limitsAt(rate, side, z), rate.range);
  return { value: side.value, low, high, few: few(side.rows, Infinity, fewest) };
};

// a group with its reference; where that is all rows, limits are made against the others of them
const compareRates = (rate, by, cells, reference, others, z, fewest) => {
  const isRatio = by === "ratio", one = sideOf(rate, cells), whole = sideOf(rate, reference);
  const value = isRatio ? quotient(one.value, whole.value) : one.value - whole.value;
  if (cells.ends) {
    const [ours, theirs] = [cells, reference].map((side) => cornersOf(rate, side.ends));
    const every = ours.map((a) => theirs.map((b) => compareRates(rate, by, a, b, null, z, fewest)));
    const empty = [ours[0], theirs[0]].some((corner) => Number.isNaN(valueAt(rate, corner)));
    return inAll(value, empty ? [NaN, NaN] : [every[1][2].value, every[2][1].value], every.flat());
  }
  const two = others ? sideOf(rate, others) : whole;
  let expected = Infinity;
  for (let i = 0; i < one.shares.length; i += 2) {
    const least = expected_count(one.shares[i], one.shares[i + 1], two.shares[i], two.shares[i + 1]);
    if (least < expected) expected = least;  // NaN is not
  }
  const result = { value, low: NaN, high: NaN, few: few(Math.min(one.rows, two.rows), expected, fewest) };
  if (others && !rate.whole) return result;
  let ends;
  if (rate.kind === "share" && far_apart(...one.shares, ...two.shares)) {
    ends = (isRatio ? score_ratio : score_difference)(...one.shares, ...two.shares, z);
  } else {
    ends = (isRatio ? mover_ratio : mover_difference)(
      one.estimate, ...limitsAt(rate, one, z), two.estimate, ...limitsAt(rate, two, z));
  }
  if (others) {
    const part = quotient(dot(rate.whole, cells), dot(rate.whole, reference));
    ends = (isRatio ? ratio_to_whole : difference_from_whole)(...ends, part);
  }
  [result.low, result.high] = within(value, ends, rate.contrasts[by].range);
  return result;
};
