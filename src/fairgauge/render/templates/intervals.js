// values and intervals of a rate, and of its comparison, by the closed forms of kernels.js
// by the kind of a rate: its estimate, and its limits at a critical value, from the sums that it is of
const shaped = (shape) => ({
  estimate: ([x, n], times) => shape(quotient(x, n), times),
  limits: ([x, n], times, z) => wilson(x, n, z).map((end) => shape(end, times)),
});
const pairsOf = (sums) => sums.flatMap((x, i) => (i % 2 ? [] : [[x, sums[i + 1]]]));
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

const smallest = (several, cells) => {
  let least = Infinity;
  for (const sum of several) least = Math.min(least, dot(sum, cells));
  return least;
};

// a rate of one side, made once for its counts
const newSide = (rate, cells) => {
  const sums = rate.sums.map((sum) => dot(sum, cells)), shares = rate.kind === "paired" ? [] : sums;
  return { sums, shares, value: plain.valueOf(rate, cells), rows: smallest(rate.rows, cells),
    estimate: kinds[rate.kind].estimate(sums, rate.times), z: NaN, limits: null };
};
const sideOf = (rate, cells) => (cells.sides ??= [])[rate.at] ??= newSide(rate, cells);
const limitsAt = (rate, side, z) => {
  if (side.z !== z) {
    side.z = z;
    side.limits = kinds[rate.kind].limits(side.sums, rate.times, z);
  }
  return side.limits;
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
  const side = sideOf(rate, cells), [low, high] = within(side.estimate, limitsAt(rate, side, z), rate.range);
  const isRare = ([x, n]) => Math.min(x, n - x) < (fewest.outcomes || 0);
  return { value: side.value, low, high, few: few(side.rows, Infinity, fewest) || pairsOf(side.shares).some(isRare) };
};
const plain = arithmetic(false);

// a group with its reference; where that is all rows, limits are made against the others of them
const compareRates = (rate, by, cells, reference, others, z, fewest) => {
  const isRatio = by === "ratio", one = sideOf(rate, cells), whole = sideOf(rate, reference);
  const value = isRatio ? quotient(one.value, whole.value) : one.value - whole.value;
  if (cells.ends) {
    const [ours, theirs] = [cells, reference].map((side) => cornersOf(rate, side.ends));
    const every = ours.map((a) => theirs.map((b) => compareRates(rate, by, a, b, null, z, fewest)));
    const empty = [ours[0], theirs[0]].some((corner) => Number.isNaN(plain.valueOf(rate, corner)));
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
