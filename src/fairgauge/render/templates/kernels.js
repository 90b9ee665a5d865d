// closed forms of confidence intervals: translated from fairgauge.stats by docs/make_kernels.py

const wilson = (x, n, z) => {
  let z2 = (z * z);
  let centre = ((x + (z2 / 2)) / (n + z2));
  let half = ((z * Math.sqrt((Math.max((x * (1 - (x / n))), 0) + (z2 / 4)))) / (n + z2));
  let vacuous = ((n <= 0) || (Math.abs(z) === Infinity));
  let low = ((vacuous || (x <= 0)) ? 0.0 : Math.max((centre - half), 0.0));
  let high = ((vacuous || (x >= n)) ? 1.0 : Math.min((centre + half), 1.0));
  return [low, high];
};

const containing = (value, low, high, least, most) => {
  [low, high] = [Math.min(Math.max(low, least), most), Math.min(Math.max(high, least), most)];
  let slack = (1e-09 * Math.max(1.0, Math.abs((Number.isFinite(value) ? value : 1.0))));
  let held = (((low - slack) <= value) && (value <= (high + slack)));
  [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [(held ? low : NaN), (held ? high : NaN)];
};

const _joint_margin = (a, b, r) => {
  let joint = Math.hypot((a - (r * b)), (Math.sqrt((1 - (r * r))) * b));
  return ((Number.isNaN(a) || Number.isNaN(b)) ? NaN : joint);
};

const mover_difference = (e1, low1, high1, e2, low2, high2, correlation = 0.0) => {
  let r = correlation;
  let [gap, known] = [(e1 - e2), (Number.isFinite(e1) && Number.isFinite(e2))];
  let low = (known ? (gap - _joint_margin((e1 - low1), (high2 - e2), r)) : (low1 - high2));
  let high = (known ? (gap + _joint_margin((high1 - e1), (e2 - low2), r)) : (high1 - low2));
  return [low, high];
};

const mover_ratio = (e1, low1, high1, e2, low2, high2, correlation = 0.0) => {
  let r = correlation;
  let [known, product] = [(Number.isFinite(e1) && Number.isFinite(e2)), (e1 * e2)];
  const half = (a, b) => ((r === 0) ? product : (product - ((r * a) * b)));
  let [b, c, p] = [(low1 * ((2 * e1) - low1)), (high2 * ((2 * e2) - high2)), half((e1 - low1), (high2 - e2))];
  let low = (b / (p + Math.sqrt(Math.max(((p ** 2) - (b * c)), 0))));
  [b, c, p] = [(high1 * ((2 * e1) - high1)), (low2 * ((2 * e2) - low2)), half((high1 - e1), (e2 - low2))];
  let high = ((p + Math.sqrt(Math.max(((p ** 2) - (b * c)), 0))) / c);
  low = ((low1 === 0) ? 0.0 : (known ? low : (low1 / high2)));
  high = ((low2 === 0) ? Infinity : (known ? high : (high1 / low2)));
  return [low, high];
};

const quotient = (numerator, denominator) => (numerator / denominator);

const far_apart = (x1, n1, x2, n2) => {
  let gap = (quotient(x1, n1) - quotient(x2, n2));
  return ((Math.min(n1, n2) < 50) && (Math.abs(gap) > 0.5));
};

const _inflation = (n, small_sample) => (small_sample ? ((n > 1) ? (n / (n - 1)) : 1.0) : 1);

const rates_given_difference = (x1, n1, x2, n2, difference) => {
  let d = difference;
  let n = (n1 + n2);
  let c2 = ((((((n1 + (2 * n2)) * d) - n) - x1) - x2) / (3 * n));
  let c1 = (((((((n2 * d) - n) - (2 * x2)) * d) + x1) + x2) / (3 * n));
  let c0 = (((x2 * d) * (1 - d)) / n);
  let q = (((c2 ** 3) - ((1.5 * c1) * c2)) + (c0 / 2));
  let radius = Math.sqrt(Math.max(((c2 ** 2) - c1), 0.0));
  let signed = ((q < 0) ? (-radius) : radius);
  let angle = ((Math.PI + Math.acos(Math.min(Math.max((q / (signed ** 3)), (-1)), 1))) / 3);
  let root = (((2 * signed) * Math.cos(angle)) - c2);
  let p2 = Math.min(Math.max(((radius > 0) ? root : (-c2)), Math.max(0, (-d))), Math.min(1, (1 - d)));
  return [Math.min(Math.max((p2 + d), 0), 1), p2];
};

const _correct_skewness = (gap, variance, skew, z) => {
  let sd = Math.sqrt(variance);
  let value = ((gap / sd) - ((((z * z) - 1) * skew) / (6 * (sd ** 3))));
  return ((sd > 0) ? value : ((gap === 0) ? 0.0 : (Math.sign(gap) * Infinity)));
};

const bisect = (holds, inside, outside, halvings = 60) => {
  for (let step = 0; step < halvings; step++) {
    let middle = ((inside + outside) / 2);
    let holding = holds(middle);
    [inside, outside] = [(holding ? middle : inside), (holding ? outside : middle)];
  }
  return [inside, outside];
};

const _crossing = (score, level, low, high) => {
  let [above, below] = bisect(((value) => (score(value) > level)), low, high);
  return ((level > 0) ? below : above);
};

const score_difference = (x1, n1, x2, n2, z, skewness = true, small_sample = true) => {
  let inflate = _inflation((n1 + n2), small_sample);
  const score = (d) => {
    let [q1, q2] = rates_given_difference(x1, n1, x2, n2, d);
    let [v1, v2] = [((q1 * (1 - q1)) / n1), ((q2 * (1 - q2)) / n2)];
    let skew = (((v1 * (1 - (2 * q1))) / n1) - ((v2 * (1 - (2 * q2))) / n2));
    return _correct_skewness((((x1 / n1) - (x2 / n2)) - d), ((v1 + v2) * inflate), (skew * skewness), z);
  };
  let gap = ((x1 / n1) - (x2 / n2));
  let known = ((n1 > 0) && (n2 > 0));
  let low = _crossing(score, z, (-1.0), gap);
  let high = _crossing(score, (-z), gap, 1);
  return [(known ? low : (-1.0)), (known ? high : 1.0)];
};

const rates_given_ratio = (x1, n1, x2, n2, ratio) => {
  let r = ratio;
  let a = ((n1 + n2) * r);
  let b = ((((n1 * r) + x1) + n2) + (x2 * r));
  let root = Math.sqrt(Math.max(((b * b) - ((4 * a) * (x1 + x2))), 0.0));
  let p2 = Math.min(Math.max(((2 * (x1 + x2)) / (b + root)), 0), Math.min(1, (1 / r)));
  return [Math.min(Math.max((r * p2), 0), 1), p2];
};

const score_ratio = (x1, n1, x2, n2, z, skewness = true, small_sample = true) => {
  let inflate = _inflation((n1 + n2), small_sample);
  let extreme = (((x1 >= n1) && (x2 <= 0)) || ((x1 <= 0) && (x2 >= n2)));
  let corrected = (extreme ? 0.0 : skewness);
  const score = (angle) => {
    let r = Math.tan(angle);
    let [q1, q2] = rates_given_ratio(x1, n1, x2, n2, r);
    let [v1, v2] = [((q1 * (1 - q1)) / n1), ((((r * r) * q2) * (1 - q2)) / n2)];
    let skew = (((v1 * (1 - (2 * q1))) / n1) - (((v2 * r) * (1 - (2 * q2))) / n2));
    return _correct_skewness(((x1 / n1) - ((r * x2) / n2)), ((v1 + v2) * inflate), (skew * corrected), z);
  };
  let known = (((n1 > 0) && (n2 > 0)) && ((x1 + x2) > 0));
  let centre = (known ? Math.atan2((x1 * n2), (x2 * n1)) : (Math.PI / 4));
  let low = Math.tan(_crossing(score, z, 0, centre));
  let high = Math.tan(_crossing(score, (-z), centre, (Math.PI / 2)));
  [low, high] = [((known && (x1 > 0)) ? low : 0.0), ((known && (x2 > 0)) ? high : Infinity)];
  return [low, high];
};

const difference_from_whole = (low, high, part) => {
  let whole = (part >= 1);
  return [(whole ? 0.0 : ((1 - part) * low)), (whole ? 0.0 : ((1 - part) * high))];
};

const ratio_to_whole = (low, high, part) => {
  let whole = (part >= 1);
  let below = (whole ? 0.0 : ((1 - part) * quotient(1.0, low)));
  let above = (whole ? 0.0 : ((1 - part) * quotient(1.0, high)));
  return [quotient(1.0, (part + below)), quotient(1.0, (part + above))];
};

const expected_count = (x1, n1, x2, n2) => {
  let pooled = quotient((x1 + x2), (n1 + n2));
  return (Math.min(n1, n2) * Math.min(pooled, (1 - pooled)));
};
