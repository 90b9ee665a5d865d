// what every page that computes again shares: rates as sums of cells (the coefficients are the catalogue's, and
// the scripts know no metric), numbers as Python writes them, elements
const dot = (coefficients, cells) => {
  let sum = 0;
  for (let i = 0; i < coefficients.length; i++) sum += coefficients[i] * cells[i];
  return sum;
};

// arithmetic as in the core: x/0 is infinite, 0/0 undefined (NaN); profile clarify makes that 0
const arithmetic = (clarify) => {
  const undefinedIs = clarify ? 0 : NaN;
  const divide = (over, under) => (Number.isNaN(over / under) ? undefinedIs : over / under);
  const subtract = (a, b) => (clarify && a === b ? 0 : a - b);
  const valueOf = ({ of }, cells) =>
    of.reduce((sum, [over, under]) => sum + divide(dot(over, cells), dot(under, cells)), 0) / of.length;
  const contrast = (rate, by, ...sides) => {
    const values = sides.map((cells) => valueOf(rate, cells));
    return by === "ratio" ? divide(...values) : subtract(...values);
  };
  return { valueOf, contrast };
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
