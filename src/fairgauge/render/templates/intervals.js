// values and intervals of a share, and of its comparison, by the closed forms of kernels.js; critical values
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
