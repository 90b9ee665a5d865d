// rates as sums of cells: the coefficients are the catalogue's, and the script knows no metric
const dot = (coefficients, cells) => coefficients.reduce((sum, k, i) => sum + k * cells[i], 0);

// arithmetic as in the core: x/0 is infinite, 0/0 undefined (NaN); profile clarify makes that 0
const arithmetic = (clarify) => {
  const undefinedIs = clarify ? 0 : NaN;
  const divide = (over, under) => (Number.isNaN(over / under) ? undefinedIs : over / under);
  const subtract = (a, b) => (clarify && a === b ? 0 : a - b);
  const valueOf = (rate, cells) =>
    rate.of.map(([over, under]) => divide(dot(over, cells), dot(under, cells)))
      .reduce((a, b) => a + b) / rate.of.length;
  return { divide, subtract, valueOf };
};

// numbers as Python writes them: halves to even, and no negative zero
const fixed = (value, digits) => {
  const scaled = value * 10 ** digits;
  const tie = /^50*$/.test(value.toFixed(digits + 60).split(".")[1].slice(digits)); // exactly
  return (tie ? 2 * Math.round(scaled / 2) / 10 ** digits : value).toFixed(digits);
};
const minus = (text) => (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "\u2212"));
