// the page of fairgauge explore: counts in, every view computed again; names enter as text alone
(() => {
  const data = JSON.parse(document.getElementById("counts").textContent);
  const draw = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const { columns, rates, thresholds, models } = data;
  const MOST_GROUPS = 200, MOST_DRAWN = 40;
  const tables = tablesOf(data);
  rates.forEach((rate, i) => { rate.at = i; });

  // ---- the state, as the address holds it
  const start = {
    rate: Math.max(0, rates.findIndex((rate) => rate.name === data.start.rate)), show: "difference",
    by: data.start.by, reference: data.start.reference, threshold: data.audited, model: 0,
    filter: columns.map(() => -1), together: false, group: null, sort: null,
  };
  let state = structuredClone(start);

  const needed = (s) => columns.map((_, i) => i).filter((i) => s.by.includes(i) || s.filter[i] >= 0);
  const fitting = (s) => tables.filter((t) => t.model === s.model && needed(s).every((i) => t.columns.includes(i)));
  // the smallest table that has the columns and the threshold
  const tableOf = (s, threshold) => fitting(s).filter((t) => t.places.includes(threshold))
    .sort((a, b) => a.flat.length - b.flat.length)[0];
  // the thresholds at which a view is counted
  const reachable = (s) => [...new Set(fitting(s).flatMap((t) => t.places))].sort((a, b) => a - b);

  // the groups of some columns under the filter, and all of their rows, each added up; codes after
  // those of the groups are of values outside them
  const membersOf = (s, table) => {
    const at = (i) => table.columns.indexOf(i), width = table.columns.length, { codes } = table;
    const by = s.by.map((i) => ({ at: at(i), groups: columns[i].groups.length }));
    const filters = s.filter.flatMap((code, i) => (code < 0 ? [] : [{ at: at(i), code }]));
    const found = new Map(), whole = [];
    for (let row = 0, first = 0; first < codes.length; row += 1, first += width) {
      if (filters.some((f) => codes[first + f.at] !== f.code)) continue;
      let number = 0, outside = 0;
      for (const each of by) {
        const code = codes[first + each.at];
        number = number * each.groups + code;
        outside = Math.max(outside, code - each.groups + 1);
      }
      if (outside > 1) continue;
      whole.push(row);
      if (outside === 1) continue;
      if (!found.has(number)) found.set(number, []);
      found.get(number).push(row);
    }
    const planes = [0, 1, 2].map((label) => label * table.plane);
    const sized = ({ sums }) => planes.reduce((n, start) => n + sums[start] + sums[start + table.plane - 1], 0);
    const groups = [...found].sort(([a], [b]) => a - b).map(([number, rows]) => {
      const own = by.map((each) => codes[rows[0] * width + each.at]);
      const group = memberOf(table, rows, { number, codes: own, key: own.join(), name: nameOf(s.by, own) });
      return { ...group, n: sized(group) };
    }).filter(({ n }) => n > 0);
    return { table, groups, byKey: byKey(groups), views: new Map(), whole: memberOf(table, whole) };
  };
  const nameOf = (by, codes) => by.map((i, k) => columns[i].groups[codes[k]]).join(" & ");
  const added_ = new Map();  // the last views, which a threshold does not change
  const members = (s, table) =>
    cached(added_, [tables.indexOf(table), s.by, s.filter].join("|"), () => membersOf(s, table), 16);
  const viewAt = (of, threshold) => {
    const place = of.table.places.indexOf(threshold);
    return { ...viewOfCounts(of.byKey, [of.whole], () => place, data.turned), groups: of.groups, threshold };
  };
  const groupsAt = (s, threshold) => {
    const table = tableOf(s, threshold);
    if (!table) return null;
    const of = members(s, table);
    return cached(of.views, threshold, () => viewAt(of, threshold), 8);
  };

  // the side that a rate of a group is compared with
  const referenceOf = (s) => (Array.isArray(s.reference) ? s.reference.join() : s.reference);
  const comparedWith = (s, view, group, rate) => against(referenceOf(s), group, view);
  const adequate = (s) => (s.together ? { ...data.fewest, rows: data.together.rows, expected: data.together.outcomes, outcomes: data.together.outcomes } : data.fewest);
  const critical = (s) => (s.together ? data.together.z : data.z);

  // what is stated of a rate of a group: each interval is computed when it is first asked for, and then kept
  class Measured {
    constructor(rate, sides, levels) {
      Object.assign(this, sides);
      this.of = rate;
      this.levels = levels;
    }
    interval(cells) { return rateOf(this.of, cells, this.levels.z, this.levels.fewest); }
    contrast(by) {
      const { cells, others } = this.reference || {};
      return this.compared && by in this.of.contrasts
        && compareRates(this.of, by, this.cells, cells, others, this.levels.ends, this.levels.fewest);
    }
    get rate() { return this.rate_ ??= this.interval(this.cells); }
    get other() { return this.other_ ??= this.compared && this.interval(this.reference.cells); }
    get difference() { return this.difference_ ??= this.contrast("difference"); }
    get ratio() { return this.ratio_ ??= this.contrast("ratio"); }
  }
  const sidesOf = (view, of, group) => {
    const reference = against(of, group, view);
    return { cells: view.cells(group.key), reference, compared: reference !== null && total(reference.others || reference.cells) > 0 };
  };
  const measures = (s, view, rate) => {
    const of = referenceOf(s), z = critical(s), sides = view.once(`sides|${of}`, () => new Map());
    const levels = { z, fewest: adequate(s), ends: z };
    const held = view.once([s.reference, s.together, rate.name].join("|"), () => new Map());
    return (group) => cached(held, group.key,
      () => new Measured(rate, cached(sides, group.key, () => sidesOf(view, of, group)), levels));
  };
  const neutral = { difference: 0, ratio: 1 };
  const excludes = (by, result) => result && !result.few
    && (result.low > neutral[by] || result.high < neutral[by]);

  // the limits of a rule hold in every view, and its verdict is of the audited one alone
  const isAudited = () => data.limits.some(({ verdicts }) => verdicts.some(([by]) => `${by}` === `${state.by}`)) && !state.together && state.model === 0 && state.threshold === data.audited
    && state.filter.every((code) => code < 0) && String(state.reference) === String(start.reference)
    && (!Array.isArray(start.reference) || String(state.by) === String(start.by));
  const limitsOf = (i, show) => data.limits.filter((limit) => limit.rate === i && limit.show === show);
  const verdictOf = (limit, group) => {
    const found = isAudited() && limit.verdicts.find(([by, codes]) => `${by}` === `${state.by}` && `${codes}` === `${group.codes}`);
    return found ? found[2].toUpperCase() : "";
  };

  // ---- numbers in words
  const bounds = (result, show, rate) => (result.bounds ? `bounds ${result.bounds.map((end) => number(end, show, rate.share)).join(" to ")}, ` : "");
  const ends = (result, show, rate) => `${number(result.low, show, rate.share)} to ${number(result.high, show, rate.share)}`;
  // a number, and whether its interval holds alone or with all others
  const stated = (result, show, rate) => {
    const text = number(result.value, show, rate.share);
    if (Number.isNaN(result.value)) return text;
    const interval = Number.isNaN(result.low) ? "no confidence interval"
      : state.together ? `simultaneous ${level} CI ${ends(result, show, rate)}` : `${level} CI ${ends(result, show, rate)}, taken alone`;
    return `${text}${unit(show, rate.share)} (${bounds(result, show, rate)}${interval})${result.few ? ", insufficient data" : ""}`;
  };
  const counted = (n) => `${count(n)} ${n === 1 ? { rows: "row", people: "person" }[data.counted] : data.counted}`;
  const scoreOf = (i) => asScore(thresholds[i]);
  const referenceName = (s) => (Array.isArray(s.reference) ? nameOf(s.by, s.reference)
    : { others: "all others", overall: "all rows" }[s.reference]);
  const level = `${Number((100 * data.confidence).toPrecision(6))}%`;
  const taken = (s) => (s.together ? "for everything that this page can show, taken together" : "each taken alone");
  const filterWords = (s) => s.filter
    .flatMap((code, i) => (code < 0 ? [] : [`${columns[i].name}: ${columns[i].groups[code]}`])).join(", ");
  const at = (rate) => (rate.moves && data.scored ? ` at threshold ${scoreOf(state.threshold)}` : "");
  const byModel = (s) => (models.length > 1 ? ` (decisions by ${models[s.model].name})` : "");
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  // ---- the overview: a row for each group, a strip for each rate, on one axis
  const niceEnd = (largest, share) => {
    const steps = share ? [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1] : [0.1, 0.2, 0.5, 1, 2, 5, 10, 50];
    return steps.find((step) => step >= largest) || steps[steps.length - 1];
  };
  const axisOf = (show, share, cells) => {
    if (show === "rate" && share) return { ticks: [0, 0.5, 1], at: (v) => v };
    let { [show]: [far, size] } = { rate: [1, Number], ratio: [1.25, (v) => (v > 0 ? Math.max(v, 1 / v) : 0)], difference: [0.05, Math.abs] };
    for (const { [show]: each } of cells) {
      if (!each || (each.few && show !== "rate")) continue;
      if (Number.isFinite(each.low)) far = Math.max(far, size(each.low));
      if (Number.isFinite(each.high)) far = Math.max(far, size(each.high));
    }
    const end = show === "ratio" ? [1.25, 1.5, 2, 3, 5, 10].find((step) => step >= far) || 10 : niceEnd(far, share);
    if (show === "rate") return { ticks: [0, end / 2, end], at: (v) => v / end };
    if (show === "ratio") return { ticks: [1 / end, 1, end], at: (v) => 0.5 + Math.log(v) / Math.log(end) / 2 };
    return { ticks: [-end, 0, end], at: (v) => (v / end + 1) / 2 };
  };
  // one axis for all shares and one for other rates, the same whichever model is chosen
  const axesOf = () => {
    const byOthers = models.flatMap((_, model) => {
      const view = model === state.model ? null : viewOf(model);
      return view ? measuredIn(view, model, shown.groups.filter(({ key }) => view.cells(key))) : [];
    });
    const all = [...shown.rows, ...byOthers];
    const [shares, others] = [true, false].map((share) =>
      axisOf(state.show, share, all.flatMap(({ found }) => found.filter(({ of }) => of.share === share))));
    return rates.map(({ share }) => (share ? shares : others));
  };
  const clamp = (share) => Math.min(Math.max(share, 0), 1) * 100;
  const ticksOf = (show, axis, rate) => axis.ticks
    .map((tick) => number(tick, show, rate.share).replace(/\.0+$|(\.\d*?)0+$/, "$1"));

  let shown = null;
  const sentenceOf = () => (state.show === "ratio" ? "ratio" : "difference");
  const largestOf = ({ groups }) => {
    const largest = new Set([...groups].sort((a, b) => b.n - a.n).slice(0, MOST_GROUPS));
    return groups.filter((group) => largest.has(group));
  };
  const measuredIn = (view, model, groups) => {
    const of = rates.map((rate) => measures({ ...state, model }, view, rate));
    return groups.map((group) => ({ group, found: of.map((measured) => measured(group)) }));
  };
  const look = () => {
    const view = groupsAt(state, state.threshold), groups = view.once("largest", () => largestOf(view));
    if (Array.isArray(state.reference) && !groups.some((g) => g.key === state.reference.join())) state.reference = "others";
    const rows = measuredIn(view, state.model, groups);
    if (!groups.some((g) => g.key === state.group)) state.group = null;
    const picked_ = rows.find(({ group }) => group.key === state.group);  // else the first is detailed
    const detailed = picked_ || rows.find(({ found }) => found[state.rate].reference) || rows[0];
    return { view, groups, rows, detailed, hidden: view.groups.length - groups.length };
  };

  // the cells of the overview are made once; what is drawn again is what has changed
  const set = (element, name, value) => { if (element[name] !== value) element[name] = value; };
  const cellOf = (i) => {
    const strip = make("i", { className: "strip" }), text = new Text(), value = make("data", {}, text), without = make("span", { className: "soft" });
    const button = make("button", { type: "button", tabIndex: -1 });
    button.dataset.rate = String(i);
    return { td: make("td", {}, button), button, value, text, strip, without, of: [] };
  };
  const lineOf = () => {
    const name = new Text(), size = new Text(), cells = rates.map((_, i) => cellOf(i));
    return { on: state.rate, tr: make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, name), make("small", {}, size)), ...cells.map(({ td }) => td)), name, size, cells };
  };
  // the part of an axis within the limits: its place and its width
  const zoneOf = ([limit], axis) => {
    if (!limit) return [0, 0];
    const [low, high] = [limit.ends[0] === null ? 0 : clamp(axis.at(limit.ends[0])), limit.ends[1] === null ? 100 : clamp(axis.at(limit.ends[1]))];
    const width = high - low;
    return [width < 100 ? low / (1 - width / 100) : 0, width];
  };
  let picked = null, tabStop = null;
  const stopAt = (button) => {
    if (tabStop) tabStop.tabIndex = -1;
    tabStop = button;
    tabStop.tabIndex = 0;
  };
  const drawCell = (cell, { group, found }, i, axis) => {
    const { button, strip, value, without } = cell, isPicked = group === shown.detailed.group && i === state.rate;
    if (isPicked) {
      picked = cell;
      stopAt(button);
    }
    const of = [found[i], axis, state.show, isPicked, i === state.rate];
    if (of.every((each, k) => each === cell.of[k])) return;  // drawn as it is
    cell.of = of;
    const rate = rates[i], result = found[i][state.show];
    let state_ = i === state.rate ? "on" : "", words;
    if (!result || Number.isNaN(result.value)) {
      words = result ? "undefined" : found[i].reference ? "no rows to compare" : "reference";
      set(without, "textContent", words);
      if (button.firstChild !== without) button.replaceChildren(without);
      delete button.dataset.low;
      delete button.dataset.high;
    } else {
      const limits = limitsOf(i, state.show), judged = limits.map((limit) => verdictOf(limit, group)).filter(Boolean).join(", ");
      const text = number(result.value, state.show, rate.share) + unit(state.show, rate.share) + (judged && ` ${judged}`);
      words = `${text}, ${bounds(result, state.show, rate)}${Number.isNaN(result.low) ? "no confidence interval" : `confidence interval ${ends(result, state.show, rate)}`}`;
      if (result.few) words += ", insufficient data";
      const isClear = excludes(state.show, result);
      state_ += `${isClear ? " clear" : " open"}${result.few ? " few" : ""}`;
      if (button.firstChild !== value) button.replaceChildren(value, strip);
      set(cell.text, "data", text);
      set(value, "value", String(result.value));
      button.dataset.low = String(result.low);
      button.dataset.high = String(result.high);
      if (result.bounds) button.dataset.bounds = String(result.bounds);
      const at = (end) => clamp(axis.at(end)), other = state.show === "rate" && found[i].other;
      const known = !Number.isNaN(result.low), low = known ? at(result.low) : 0, width = known ? at(result.high) - low : 0;
      const [zone, within] = zoneOf(limits, axis), tenths = (n) => Math.round(n * 10) / 10;
      const marks = [["first", at(result.value), "2.5px 8px"], ["bar", width < 100 ? low / (1 - width / 100) : 0, `${tenths(width)}% ${isClear ? 4 : 2}px`]];
      if (other) marks.push(["second", at(other.value), "2px 10px"]);
      if (state.show !== "rate") marks.push(["edge", 50, "1px 12px"]);
      if (limits.length) marks.push(["within", zone, `${tenths(within)}% 12px`]);
      strip.style.cssText = `background:${marks.map(([colour, place, size]) => `linear-gradient(var(--${colour}) 0 0) ${tenths(place)}% 50%/${size} no-repeat`)}`;
    }
    set(cell.td, "className", state_);
    set(button, "ariaLabel", `${group.name}, ${rate.title}: ${words}`);
    set(button, "ariaPressed", String(isPicked));
  };
  const drawHead = () => {
    const { tHead } = one("grid");
    if (!tHead.rows.length) {
      tHead.append(make("tr", {}, make("th", { scope: "col", textContent: "group" }), ...rates.map((rate, i) => {
        const button = make("button", { type: "button", title: capital(rate.says) }, make("b", { textContent: rate.title }));
        button.addEventListener("click", () => { state.sort = state.sort === i ? null : i; state.rate = i; update(); });
        const ticks = make("span", { className: "ticks", "aria-hidden": "true" }, ...range(3).map(() => make("span", {}, new Text())));
        return make("th", { scope: "col" }, button, ticks);
      })));
    }
    rates.forEach((rate, i) => {
      const cell = tHead.rows[0].cells[i + 1];
      set(cell, "className", i === state.rate ? "on" : "");
      const ticks = cell.lastChild.children;
      ticksOf(state.show, axes[i], rate).forEach((text, k) => set(ticks[k].firstChild, "data", text));
      set(cell, "ariaSort", state.sort === i ? "ascending" : null);
    });
  };
  // the picked rate is drawn at once, and the others in the next frames, as much in each as fits
  const FITS = 4, LINES = 12;  // milliseconds of script, which style and layout take about twice more of
  let queue = [], frame = 0;
  const isDrawn = () => set(one("grid"), "ariaBusy", String(queue.length > 0));
  const flush = () => {
    cancelAnimationFrame(frame);
    while (queue.length) queue.shift()();
    isDrawn();
  };
  const step = () => {
    const end = performance.now() + FITS;
    do queue.shift()(); while (queue.length && performance.now() < end);
    if (queue.length) frame = requestAnimationFrame(step); else isDrawn();
  };
  const soon = (parts, next = step) => {
    cancelAnimationFrame(frame);
    queue = parts;
    isDrawn();
    frame = requestAnimationFrame(next);
  };

  // every row has its header; of many rows, those in sight and within a screen of it have cells, and printed ones
  const body = one("grid").tBodies[0], lines = [], narrow = matchMedia("screen and (max-width: 46rem)");  // shows one rate
  let sorted = [], axes = [], isPrinted = false;
  // an axis takes the intervals of all groups and rates: a view begins on the last axes of what it shows
  const lastAxes = new Map();
  const rescale = (near) => {
    const now = shown.view.once(["axes", state.show, state.reference, state.together].join("|"), axesOf);
    const isLast = lastAxes.has(state.show) && now.every(({ ticks }, i) => `${ticks}` === `${lastAxes.get(state.show)[i].ticks}`);
    if (!isLast) lastAxes.set(state.show, now);
    axes = lastAxes.get(state.show);
    if (isLast) return;
    drawHead();
    near.forEach((k) => drawColumn(k));
  };
  // what was picked is so no more, in cells that are drawn again later too
  const unmark = () => {
    if (!picked) return;
    picked.button.ariaPressed = "false";
    picked.of = [];
    picked = null;
  };
  const drawHeader = (k) => {
    while (lines.length <= k) lines.push(lineOf());
    for (let i = body.rows.length; i <= k; i++) body.append(lines[i].tr);
    const { tr, name, size } = lines[k], { group, found } = sorted[k];
    set(name, "data", group.name);
    set(size, "data", counted(group.n) + (found[state.rate].reference === null ? ", reference" : ""));
    if (tr.dataset.group !== group.key) tr.dataset.group = group.key;
  };
  const drawColumn = (k, i = state.rate) => drawCell(lines[k].cells[i], sorted[k], i, axes[i]);
  const drawLine = (k) => {
    drawHeader(k);
    const line = lines[k], { tr, cells } = line;
    if (!tr.cells[1]) tr.append(...cells.map(({ td }) => td));
    if (line.on !== state.rate) {
      cells[line.on].td.classList.remove("on");
      cells[line.on].of = [];
      line.on = state.rate;
    }
    drawColumn(k);
  };
  const drawRest = (k) => { if (isPrinted || !narrow.matches) rates.forEach((_, i) => drawColumn(k, i)); };
  const rowAt = (height) => {
    let low = 0, high = body.rows.length;
    while (low < high) {
      const k = (low + high) >> 1;
      if (lines[k].tr.getBoundingClientRect().bottom < height) low = k + 1; else high = k;
    }
    return low;
  };
  const drawNear = () => {
    const all = isPrinted || sorted.length <= MOST_DRAWN;
    const first = all ? 0 : rowAt(-innerHeight), last = all ? sorted.length : rowAt(2 * innerHeight);
    sorted.forEach((_, k) => {
      const { tr } = lines[k];
      if ((k >= first && k <= last) || tr.contains(tabStop)) queue.push(() => { drawLine(k); drawRest(k); });
      else if (tr.cells[1]) tr.replaceChildren(tr.cells[0]);
    });
  };
  const drawGrid = () => {
    const { rows } = shown, box = body.getBoundingClientRect(), drawn = body.rows.length;
    const height = drawn ? box.height / drawn : innerHeight / LINES, top = drawn ? box.top : 0;
    const first = Math.max(0, Math.floor(-top / height)), last = Math.max(first + 8, Math.ceil((innerHeight - top) / height));
    sorted = [...rows];
    if (state.sort !== null) {
      const by = ({ found }) => (found[state.sort][state.show] || { value: NaN }).value;
      sorted.sort((a, b) => (Number.isNaN(by(a)) ? 1 : Number.isNaN(by(b)) ? -1 : by(a) - by(b)));
    }
    if (lastAxes.has(state.show)) axes = lastAxes.get(state.show); else rescale([]);
    drawHead();
    unmark();
    const near = [], far = [];
    sorted.forEach((row, k) => ((k >= first && k < last) || row === shown.detailed ? near : far).push(k));
    near.forEach(drawLine);
    // rows of other views go now where they are in sight, else later
    const dropLast = () => body.lastChild.remove(), surplus = range(Math.max(0, drawn - sorted.length)).map(() => dropLast);
    if (sorted.length < last) surplus.splice(0).forEach(dropLast);
    return [() => rescale(near), ...near.map((k) => () => drawRest(k)), ...surplus, ...far.map((k) => () => drawHeader(k)), drawNear];
  };

  // which groups differ, and how that was judged: few by name, many counted
  const summary = () => {
    const by = sentenceOf(), kinds = new Map();
    for (const { group, found } of shown.rows) {
      const result = found[state.rate][by];
      if (!result || Number.isNaN(result.low)) continue;
      const kind = result.few ? "insufficient data for" : !excludes(by, result) ? "not significantly different for"
        : `significantly ${result.high < neutral[by] ? "lower" : "higher"} for`;
      kinds.set(kind, [...(kinds.get(kind) || []), group.name]);
    }
    const parts = [...kinds].sort().reverse().map(([kind, names]) => [`${kind} `, ...(names.length > 3 ? [`${names.length} groups`]
      : names.flatMap((name, i) => [i === 0 ? "" : i < names.length - 1 ? ", " : " and ", bdi(name)]))]);
    return parts.length === 0 ? ["no group can be compared."]
      : [...parts.flatMap((part, i) => [i ? "; " : "", ...part]), ` (${level} confidence intervals, ${taken(state)}).`];
  };
  const drawSentence = () => {
    const rate = rates[state.rate], where = filterWords(state);
    const parts = [make("b", {}, capital(rate.title), bdi(byModel(state)), at(rate), where ? " (" : "", where ? bdi(where) : "", where ? ")" : ""),
      ", compared with ", bdi(referenceName(state)), ": ", ...summary()];
    const text = parts.map((part) => part.textContent ?? part).join("");
    if (one("sentence").textContent !== text) one("sentence").replaceChildren(...parts);
    const what = { rate: "Rates of the groups; the second mark is what they are compared with.",
      difference: "Rate of the group minus that of what it is compared with.",
      ratio: "Rate of the group divided by that of what it is compared with, on a logarithmic axis." };
    const legend = `${what[state.show]} Bars: ${level} confidence intervals, ${state.together
      ? `simultaneous for ${count(data.together.count)} intervals (critical value ${fixed(data.together.z, 2)} instead of ${fixed(data.z, 2)})`
      : "each taken alone"}. ${state.show === "rate" ? "" : `Bold and full: statistically significant, because the interval does not include ${neutral[state.show]}. `}Pale: insufficient data (fewer than ${adequate(state).rows} rows, or fewer than ${adequate(state).expected} expected of an outcome). ${state.reference === "best" ? "The best group is that of each rate; intervals of differences and ratios allow for its choice by the data. " : ""}${data.limits.some(({ show }) => show === state.show) ? `Green: within the limits of a rule. Its verdict is of the audited view${isAudited() ? "" : ", and this is another"}. ` : ""}A heading sorts the groups by its rate.${shown.hidden ? ` The ${MOST_GROUPS} largest groups are shown; ${count(shown.hidden)} smaller ones are counted in all others and in all rows.` : ""}`;
    set(one("legend"), "textContent", legend);
  };

  // ---- the detail of a cell
  const matrix = (name, cells) => {
    const table = make("table", { className: "matrix" }, make("caption", {}, bdi(name)));
    const [tp, fp, fn, tn, up, un, lp, ln] = cells.map(count);
    const line = (title, ...values) => make("tr", {}, make("th", { scope: "row", textContent: title }),
      ...values.map((value) => make("td", { textContent: value })));
    const heads = [""];
    if (data.label) heads.push(...data.called.outcomes);
    const unlabelled = cells[4] + cells[5] > 0, undecided = cells[6] + cells[7] > 0;
    if (unlabelled) heads.push(data.label ? "no label" : "rows");
    table.append(make("tr", {}, ...heads.map((text) => make(text ? "th" : "td", text ? { scope: "col", textContent: text } : {}))));
    const values = (yes, no, none) => [...(data.label ? [yes, no] : []), ...(unlabelled ? [none] : [])];
    if (data.decision) table.append(line(data.called.decisions[0], ...values(tp, fp, up)), line(data.called.decisions[1], ...values(fn, tn, un)));
    if (undecided) table.append(line(data.decision ? "no prediction" : "rows", ...values(lp, ln, "")));
    return table;
  };
  // the confusion matrices of a group, one of each model at the threshold of the view
  const matrices = (name, cellsOf) => make("div", { className: "matrices" }, ...models.flatMap((model, i) => {
    const cells = cellsOf(i);
    return cells ? [matrix(models.length > 1 ? `${name}, by ${model.name}` : name, cells)] : [];
  }));
  const viewOf = (model) => (model === state.model ? shown.view : groupsAt({ ...state, model }, state.threshold));
  const cellsIn = (view, key) => (view && view.cells(key)) || null;
  const drawMatrices = () => {
    const box = one("matrices");
    if (!box.open) return;
    const views = models.map((_, i) => viewOf(i)), cellsOf = ({ key }) => (i) => cellsIn(views[i], key);
    box.replaceChildren(box.firstElementChild, make("div", { className: models.length > 1 ? "slices paired" : "slices" },
      ...shown.groups.map((group) => matrices(group.name, cellsOf(group)))));
  };
  let detailed = [];  // whose intervals the detail states
  const drawDetail = () => {
    const box = one("detail"), row = shown.detailed;
    detailed = [];
    if (!row) { box.replaceChildren(make("p", { textContent: "No group." })); return; }
    const rate = rates[state.rate], found = measures(state, shown.view, rate)(row.group), against_ = referenceName(state);
    const [over, under] = rate.of.length === 1 ? rate.of[0].map((sum) => dot(sum, shown.view.cells(row.group.key))) : [];
    const back = make("button", { type: "button", id: "back", textContent: "Back to the overview" });
    back.addEventListener("click", () => picked.button.focus());
    const children = [make("h2", {}, bdi(row.group.name)), back, make("p", { textContent: `${capital(rate.title)}: ${rate.says}.` })];
    const list = make("dl");
    const item = (term, text) => list.append(make("dt", {}, ...[term].flat()), make("dd", { textContent: text }));
    detailed.push({ model: state.model, group: row.group, found, shows: ["rate", "other", "difference", "ratio"] });
    item("rate", stated(found.rate, "rate", rate));
    if (over !== undefined) item(data.protected ? "rounded counts" : "counted", `${count(over)} of ${count(under)}`);
    if (found.other) item(bdi(against_), stated(found.other, "rate", rate));
    if (found.difference) item("difference", stated(found.difference, "difference", rate));
    if (found.ratio) item("ratio", stated(found.ratio, "ratio", rate));
    data.limits.filter((limit) => limit.rate === state.rate).forEach((limit) =>
      item("rule", `${limit.rule}: ${verdictOf(limit, row.group) || "no verdict of this view"}`));
    const every = models.map((_, i) => viewOf(i));
    every.forEach((view, i) => {
      if (i === state.model || !rate.moves || !cellsIn(view, row.group.key)) return;
      const own = measures(state, view, rate)(row.group);
      detailed.push({ model: i, group: row.group, found: own, shows: ["rate", "difference"] });
      item(["by ", bdi(models[i].name)], [stated(own.rate, "rate", rate),
        ...(own.difference ? [`difference ${stated(own.difference, "difference", rate)}`] : [])].join("; "));
    });
    children.push(list);
    if (found.reference && found.reference.others && !rate.whole) children.push(make("p", { className: "soft",
      textContent: "No confidence interval: the rate of all rows is not a mean over its parts; compare with all others." }));
    children.push(chart(row.group, rate), matrices(row.group.name, (i) => cellsIn(every[i], row.group.key)));
    if (found.reference) {
      children.push(matrices(against_, (i) => {
        const reference = cellsIn(every[i], row.group.key) && comparedWith(state, every[i], row.group, rate);
        return reference && reference.cells;
      }));
    }
    const compare = make("button", { type: "button", id: "compare" }, "Compare others with ", bdi(row.group.name));
    compare.addEventListener("click", () => { state.reference = row.group.codes; update(true); });
    children.push(make("p", { className: "actions" }, compare));
    const inside = columns.map((_, i) => i).filter((i) => !state.by.includes(i) && state.filter[i] < 0);
    if (inside.length) {
      const into = make("button", { type: "button", id: "inside" }, "Look inside ", bdi(row.group.name));
      const next = { ...structuredClone(state), by: [inside[0]], reference: "others", group: null };
      state.by.forEach((i, k) => { next.filter[i] = row.group.codes[k]; });
      into.addEventListener("click", () => { state = next; update(); one("metric").focus(); });
      if (tableOf(next, state.threshold)) children[children.length - 1].append(into);
    }
    box.replaceChildren(...children);
  };
  // the curves do not move with the threshold, which a slider changes many times in a second
  let drawn = { key: null, lines: [[], []] };
  const curves = (group, rate, table) => {
    const key = JSON.stringify([state.model, group.key, rate.name, state.by, state.reference, state.filter, state.together]);
    return drawn.key === key ? drawn : drawn = { key, lines: ratesByPlace(group, rate, table) };
  };
  const ratesByPlace = (group, rate, table) => {
    const of = members(state, table), both = [[], []], z = critical(state), fewest = adequate(state);
    table.places.filter((_, k) => k % 2 === 0 || table.places.length < 40).forEach((place) => {
      const view = viewAt(of, place), reference = comparedWith(state, view, group, rate);
      [{ key: group.key, cells: view.cells(group.key) }, reference].forEach((side, k) => {
        const result = side && side.cells && rateOf(rate, side.cells, z, fewest);
        if (result && Number.isFinite(result.value) && !Number.isNaN(result.low)) both[k].push([place, result, side.key]);
      });
    });
    return both;
  };
  const chart = (group, rate) => {
    const table = fitting(state).reduce((a, b) => (b.places.length > a.places.length ? b : a)), places = table.places;
    if (places.length < 3 || !rate.moves) return "";
    const compared = referenceName(state);
    const W = 360, H = 170, left = 44, bottom = 22, top = 8;
    const low = thresholds[places[0]], high = thresholds[places[places.length - 1]];
    const x = (i) => left + ((thresholds[i] - low) / (high - low)) * (W - left - 8);
    const held = curves(group, rate, table), now = (at) => ({ x1: x(at), x2: x(at) });
    if (held.figure) {
      for (const [name, at] of Object.entries(now(state.threshold))) held.now.setAttribute(name, at);
      return held.figure;
    }
    const lines = held.lines.map((points) => points.map(([place, result]) => [x(place), result]));
    const largest = rate.share ? 1 : Math.max(...lines.flat().map(([, r]) => r.value), 1);
    const y = (v) => top + (1 - Math.min(v / largest, 1)) * (H - top - bottom);
    const path = (points) => points.map(([px, py], k) => `${k ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
    const picture = draw("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img",
      "aria-label": `${capital(rate.title)} by threshold of the score: ${group.name}, and ${compared}` });
    [0, largest / 2, largest].forEach((v) => picture.append(
      draw("line", { class: "level", x1: left, x2: W - 8, y1: y(v), y2: y(v) }),
      draw("text", { x: left - 5, y: y(v) + 4, "text-anchor": "end" }, rate.share ? `${Math.round(100 * v)}%` : number(v, "rate", rate.share))));
    [places[0], places[places.length - 1]].forEach((i, k) => picture.append(
      draw("text", { x: x(i), y: H - 6, "text-anchor": k ? "end" : "start" }, k ? scoreOf(i) : `threshold ${scoreOf(i)}`)));
    lines.forEach((points, k) => {
      if (!points.length) return;
      const kind = k ? "second" : "first";
      const area = [...points.map(([px, r]) => [px, y(r.low)]), ...[...points].reverse().map(([px, r]) => [px, y(r.high)])];
      picture.append(draw("path", { class: `band ${kind}`, d: `${path(area)}Z` }),
        draw("path", { class: `curve ${kind}`, d: path(points.map(([px, r]) => [px, y(r.value)])) }));
    });
    held.now = draw("line", { class: "now", ...now(state.threshold), y1: top, y2: H - bottom });
    picture.append(held.now);
    const key = make("p", { className: "key" }, make("span", { className: "first" }), bdi(group.name));
    if (lines[1].length) key.append(make("span", { className: "second" }), bdi(compared));
    held.figure = make("figure", {}, picture, key);
    return held.figure;
  };

  // ---- what was looked at, a specification of it, and a link
  let trail = [], emptied = 0;
  const groupCodes = () => (shown.groups.find(({ key }) => key === state.group) || { codes: [] }).codes;
  const address = (...more) => encodeURIComponent(JSON.stringify([1, rates[state.rate].name, state.show, state.by.map((i) => columns[i].name),
    Array.isArray(state.reference) ? state.by.map((i, k) => columns[i].groups[state.reference[k]]) : state.reference,
    thresholds[state.threshold], state.filter.flatMap((code, i) => (code < 0 ? [] : [[columns[i].name, columns[i].groups[code]]])),
    state.together, groupCodes().map((code, k) => columns[state.by[k]].groups[code]), models[state.model].name, ...more]));
  // every part is checked against what the file holds; a damaged address changes nothing
  const read = (text) => {
    let parts;
    try { parts = JSON.parse(decodeURIComponent(text)); } catch { return; }
    if (!Array.isArray(parts) || parts[0] !== 1) return;
    const [, rate, show, by, reference, threshold, filter, together, group, model, number] = parts;
    const found = structuredClone(start);
    const column = (name) => columns.findIndex((c) => c.name === name);
    const codes = (names) => (Array.isArray(names) ? found.by.map((i, k) => columns[i].groups.indexOf(names[k])) : [-1]);
    found.model = Math.max(0, models.findIndex((each) => each.name === model));
    if (rates.some((r) => r.name === rate)) found.rate = rates.findIndex((r) => r.name === rate);
    if (["rate", "difference", "ratio"].includes(show)) found.show = show;
    const known = Array.isArray(by) ? [...new Set(by.map(column))].filter((i) => i >= 0).sort((a, b) => a - b) : [];
    if (known.length) found.by = known;
    found.reference = !data.protected && reference === "overall" ? reference : "others";
    if (Array.isArray(reference) && !codes(reference).includes(-1)) found.reference = codes(reference);
    if (thresholds.includes(threshold)) found.threshold = thresholds.indexOf(threshold);
    for (const pair of Array.isArray(filter) ? filter : []) {
      const i = Array.isArray(pair) ? column(pair[0]) : -1;
      if (i >= 0 && !found.by.includes(i)) found.filter[i] = columns[i].groups.indexOf(pair[1]);
    }
    found.together = together === true;
    found.group = codes(group).includes(-1) ? null : codes(group).join();
    if (!groupsAt(found, found.threshold)) return;
    state = found;
    if (Number.isSafeInteger(number) && number > 0) { linked = number; elsewhere += number; }
  };
  const inWords = () => {
    const rate = rates[state.rate], where = filterWords(state), row = state.group && shown.detailed;
    const result = row && row.found[state.rate][state.show];
    const with_ = state.show === "rate" && row ? "" : ` compared with ${referenceName(state)}`;
    const of = row ? row.group.name : `all groups by ${state.by.map((i) => columns[i].name).join(" & ")}`;
    const value = !row ? summary().map((part) => part.textContent ?? part).join("").replace(/\.$/, "")
      : result ? stated(result, state.show, rate) : "the reference";
    return `${rate.title} ${state.show === "rate" && row ? "" : `${sentenceOf()} `}of ${of}${byModel(state)}${with_}${where ? `, ${where} only` : ""}${at(rate)}: ${value}`;
  };
  // every interval of a settled view is looked at, whichever cell is picked
  const seen = new Set();
  let elsewhere = 0, linked = 0;  // intervals that the page of a link had shown; its view was among them
  const recordShown = () => {
    const see = (i, result, place, sides, model = state.model) => {
      if (!result || Number.isNaN(result.low)) return;
      seen.add(JSON.stringify([model, state.by, state.filter, i, rates[i].moves ? place : null, ...sides]));
    };
    const compared = (by, group, reference) => [by, ...[group.key, reference.key].sort()];
    const every = (i, found, group, model, shows) => {
      if (shows.includes("rate")) see(i, found.rate, state.threshold, ["rate", group.key], model);
      if (!found.reference) return;
      if (shows.includes("other")) see(i, found.other, state.threshold, ["rate", found.reference.key], model);
      ["difference", "ratio"].filter((by) => shows.includes(by))
        .forEach((by) => see(i, found[by], state.threshold, compared(by, group, found.reference), model));
    };
    rates.forEach((_, i) => {
      if (narrow.matches && i !== state.rate) return;
      shown.rows.forEach(({ group, found }) => every(i, found[i], group, state.model, [state.show]));
    });
    for (const { model, group, found, shows } of detailed) every(state.rate, found, group, model, shows);
    if (document.querySelector("#detail .chart")) {
      drawn.lines.flat().forEach(([place, result, key]) => see(state.rate, result, place, ["rate", key]));
    }
  };
  const record = (asked) => {
    const before = seen.size;
    recordShown();
    elsewhere -= Math.min(linked, seen.size - before);
    linked = 0;
    // where no number was picked, a view is listed once it is exported; an entry stays as it was shown
    const key = address();
    if ((asked || state.group !== null) && !trail.some((each) => each.key === key)) trail.push({ key, words: inWords(), state: structuredClone(state) });
    drawTrail();
    if (written) writeOut();
  };
  let written = null;
  const writeOut = () => {
    const box = one("text"), text = written();
    if (box.value === text) return;
    box.value = text;
    box.setSelectionRange(0, 0);  // a new value has its caret at the end, and focus would scroll there
  };
  const shownSoFar = () => {
    const here = seen.size + elsewhere;
    return `${elsewhere ? "This page and the one that its link was copied from have together shown at most" : "This page has shown"} ${count(here)} ${here === 1 ? "interval" : "intervals"}, of at most ${count(data.together.count)} that it can show.`;
  };
  const drawTrail = () => {
    one("seen").textContent = `${shownSoFar()} Whatever was on the screen counts, picked or not: of intervals that are each taken alone, the more are looked at, the more are expected to miss the truth by sampling variation. ${trail.length ? "What you picked:" : "Nothing is picked yet: each number of the table that you pick adds a line here."}`;
    one("trail").replaceChildren(...trail.map((entry) => {
      const button = make("button", { type: "button" }, bdi(entry.words));
      button.addEventListener("click", () => { read(entry.key); update(); });
      return make("li", {}, button);
    }));
    one("trail").ariaBusy = "false";
  };
  // text of the data in a comment or a string of TOML stays on its line
  const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const comment = (text) => `#   ${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ")}`;
  const asked = (s) => JSON.stringify([s.model, s.reference, Array.isArray(s.reference) ? s.by : [], s.filter]);
  // one specification has one model, reference and filter: that of the view first, then the others of the list
  const questions = () => [...new Map([state, ...trail.map((entry) => entry.state)].map((s) => [asked(s), s])).values()];
  const fileOf = (k) => `audit${k ? `-${k + 1}` : ""}.toml`;
  const specification = (question = state) => {
    const own = trail.filter((entry) => asked(entry.state) === asked(question)), views = own.map((entry) => entry.state);
    const unique = (values) => [...new Set(values)];
    // columns that made groups alone, and those whose groups the question defines
    const used = unique(views.flatMap((s) => s.by.filter((i) => s.by.length === 1 || columns[i].written.startsWith("{")))).sort((a, b) => a - b);
    const crossed = unique(views.filter((s) => s.by.length > 1).map((s) => `[${s.by.map((i) => quoted(columns[i].name)).join(", ")}]`));
    const names = unique(views.flatMap((s) => Object.values(rates[s.rate].contrasts).map((c) => c.name)));
    const cuts = unique(views.map((s) => thresholds[s.threshold])).sort((a, b) => a - b);
    const where = [...data.where, ...question.filter.flatMap((code, i) => (code < 0 ? [] : [columns[i].conditions[code]]))];
    const reference = Array.isArray(question.reference)
      ? `{${question.by.map((i, k) => `${quoted(columns[i].name)} = ${quoted(columns[i].values[question.reference[k]])}`).join(", ")}}` : quoted(question.reference);
    const others = questions().map((s, k) => `${fileOf(k)} (${[byModel(s).trim(), `compared with ${referenceName(s)}`, filterWords(s) && `${filterWords(s)} only`].filter(Boolean).join(", ")})`);
    return [
      "# A specification for fairgauge audit, of what was looked at with fairgauge explore:",
      `# ${shownSoFar()} State this number where you report one of them.`,
      `# ${own.length} of ${trail.length} views that were picked${emptied ? `; ${emptied} before them ${emptied === 1 ? "was" : "were"} removed from the list` : ""}:`,
      ...own.map((entry) => comment(entry.words)),
      "# A report of the audit states intervals that hold for all its comparisons together: at least as wide as those taken alone, which",
      '# are "low" and "high" of the estimates in its .json file; mostly narrower than those for everything that this page can show.',
      ...(others.length > 1 ? [`# Each model, reference and filter has a specification of its own; "Save" writes all ${others.length}:`, ...others.map(comment)] : []),
      "", ...models[question.model].lines, ...(used.length ? [`sensitive = [${used.map((i) => columns[i].written).join(", ")}]`] : []),
      ...(crossed.length ? [`intersections = [${crossed.join(", ")}]`] : []),
      ...(data.scored ? [`threshold = [${cuts.join(", ")}]`] : []),
      `metrics = [${names.map(quoted).join(", ")}]`, `reference = ${reference}`, 'multiplicity = "familywise"',
      ...(where.length ? [`where = [${where.join(", ")}]`] : []), "",
    ].join("\n");
  };
  const link = () => `${location.href.split("#")[0]}#${address(seen.size + elsewhere)}`;
  const settle = (asked = false) => {
    clearTimeout(waiting);
    flush();
    record(asked);
    try { history.replaceState(null, "", `#${address(seen.size + elsewhere)}`); } catch { /* a sandboxed frame has no address */ }
  };

  // ---- controls
  let waiting = 0;
  const options = (select, values) => select.replaceChildren(
    ...values.map(([value, text]) => make("option", { value, textContent: text })));
  let referencesListed = "";
  const listReferences = () => {
    const names = shown.groups.map((g) => [g.key, g.name]), listed = JSON.stringify(names);
    if (referencesListed !== listed) options(one("reference"), [["others", "all others"], ...(data.protected ? [] : [["overall", "all rows"]]), ...names]);
    referencesListed = listed;
    set(one("reference"), "value", String(state.reference));
  };
  // what cannot be chosen states why: on pointing, in a line of the page, and as its description
  let reasons = [], reasonsDrawn = "";
  const because = (text) => `why-${reasons.push(text) - 1}`;
  const explain = (control, text) => {
    const id = text && because(text);
    set(control.closest("label, div"), "title", text);
    if (!id) control.removeAttribute("aria-describedby");
    else if (control.getAttribute("aria-describedby") !== id) control.setAttribute("aria-describedby", id);
  };
  const drawReasons = () => {
    if (reasonsDrawn === reasons.join("\n")) return;
    reasonsDrawn = reasons.join("\n");
    one("why").replaceChildren(...reasons.map((text, i) => make("li", { id: `why-${i}` }, bdi(text))));
  };
  const crossed = (s) => needed(s).map((i) => columns[i].name).join("*");
  const apart = (s) => `${crossed(s).replaceAll("*", " and ")} were not counted together; fairgauge count --intersect '${crossed(s)}' does`;
  const withFilter = (i, code) => ({ ...state, filter: state.filter.map((c, k) => (k === i ? code : c)) });
  // the view with a column among those that make groups; alone where they were counted apart
  const adding = (i) => {
    const both = { ...withFilter(i, -1), by: [...state.by, i].sort((a, b) => a - b) };
    const others = [both, { ...both, by: [i] }, { ...both, by: [i], filter: start.filter }];
    return { both, found: others.find((s) => fitting(s).length) };
  };
  const sync = () => {
    reasons = [];
    set(one("metric"), "value", String(state.rate));
    set(one("model"), "value", String(state.model));
    for (const input of document.querySelectorAll("#show input")) input.checked = input.value === state.show;
    for (const input of document.querySelectorAll("#by input")) {
      const i = Number(input.value), others = state.by.filter((k) => k !== i);
      input.checked = state.by.includes(i);
      input.disabled = input.checked && others.length === 0;
      const { both, found } = adding(i);
      explain(input, input.disabled ? `${columns[i].name} stays: at least one column has to make the groups`
        : input.checked || found.by.length === both.by.length ? "" : `${apart(both)}. Until then ${columns[i].name} takes the place of the others`);
    }
    const further = columns.map((_, i) => i).filter((i) => !state.by.includes(i));
    const crosses = further.some((i) => adding(i).found.by.length > 1);
    set(one("by-note"), "textContent", state.by.length > 1 || !further.length ? ""
      : crosses ? "Tick another column too, to cross its groups with these." : "Tick another column to see its groups instead.");
    for (const select of document.querySelectorAll("#filters select")) {
      const i = Number(select.dataset.column);
      set(select, "value", String(state.filter[i]));
      const makes = state.by.includes(i), filtered = withFilter(i, 0);
      select.disabled = makes || (state.filter[i] < 0 && !fitting(filtered).length);
      explain(select, !select.disabled ? "" : makes ? `No choice of one ${columns[i].name}: it makes the groups` : apart(filtered));
    }
    set(one("reference"), "value", String(state.reference));
    one("together").checked = state.together;
    const places = reachable(state), all = places.length === thresholds.length;
    one("threshold-part").hidden = !data.scored;
    if (!data.scored && data.decision) because("No threshold: decisions were counted, not scores; fairgauge count --score COLUMN");
    if (!data.decision) because("No rates of decisions: labels alone were counted; fairgauge count --prediction COLUMN");
    if (data.protected) because("Not all rows: protected counts have bounds for groups that share no row and are known");
    if (models.length < 2 && data.decision) because("No choice of a model: one was counted; fairgauge count --candidate COLUMN counts more");
    one("threshold").disabled = one("threshold-number").disabled = places.length < 2;
    set(one("threshold"), "value", String(state.threshold));
    set(one("threshold"), "ariaValueText", scoreOf(state.threshold));
    set(one("threshold-number"), "value", scoreOf(state.threshold));
    const audited = state.threshold === data.audited ? "as audited" : `audited at ${scoreOf(data.audited)}`;
    set(one("threshold-note"), "textContent", audited + (all ? thresholds.length < 2 ? "; scores were counted at this threshold alone" : models.length < 2 ? "" : "; scores of several models were counted at audited thresholds alone"
      : "; by these columns together, scores were counted at audited thresholds alone"));
    set(one("threshold-part"), "title", one("threshold-note").textContent);
    drawReasons();
  };
  const update = (keep = false) => {
    const asked = state.threshold;  // where these columns were not counted at it, the nearest
    state.threshold = nearestOf(reachable(state), (i) => i, asked);
    shown = look();
    const inGrid = keep && document.activeElement && document.activeElement.closest("#grid td, #detail");
    const parts = drawGrid();
    drawSentence();
    sync();
    if (inGrid && picked && document.activeElement !== picked.button) picked.button.focus({ preventScroll: true });
    set(one("done"), "textContent", "");
    set(one("threshold-moved"), "textContent", asked === state.threshold ? ""
      : `By these columns, scores were not counted at ${scoreOf(asked)}: the threshold is ${scoreOf(state.threshold)}, the nearest that was.`);
    soon([drawDetail, listReferences, ...parts, drawMatrices], () => { frame = requestAnimationFrame(step); });
    clearTimeout(waiting);
    one("trail").ariaBusy = "true";
    waiting = setTimeout(() => settle(), 350);
  };
  const build = () => {
    rates.forEach((rate, i) => one("metric").append(make("option", { value: String(i), textContent: rate.title })));
    one("metric").addEventListener("change", (e) => { state.rate = Number(e.target.value); update(); });
    options(one("model"), models.map((model, i) => [String(i), model.name]));
    one("model-part").hidden = models.length < 2;
    one("model").addEventListener("change", (e) => { state.model = Number(e.target.value); update(); });
    one("matrices").addEventListener("toggle", drawMatrices);
    ["difference", "ratio", "rate"].forEach((show) => {
      const input = make("input", { type: "radio", name: "show", value: show });
      input.addEventListener("change", () => { state.show = show; update(); });
      one("show").append(make("label", {}, input, show));
    });
    columns.forEach((column, i) => {
      const input = make("input", { type: "checkbox", value: String(i) });
      input.addEventListener("change", () => {
        state = input.checked ? { ...adding(i).found } : { ...state, by: state.by.filter((k) => k !== i) };
        if (Array.isArray(state.reference)) state.reference = "others";
        state.group = null;
        update();
      });
      one("by").append(make("label", {}, input, bdi(column.name)));
      if (column.groups.length < 2) return;
      const select = make("select", { id: `filter-${i}` });
      options(select, [["-1", "all"], ...column.groups.map((name, code) => [String(code), name])]);
      select.dataset.column = String(i);
      select.addEventListener("change", () => { state = { ...withFilter(i, Number(select.value)), group: null }; update(); });
      one("filters").append(make("div", {}, make("label", { htmlFor: `filter-${i}` }, "only ", bdi(column.name)), select));
    });
    one("reference").addEventListener("change", (e) => {
      const named = shown.groups.find((g) => g.key === e.target.value);
      state.reference = named ? named.codes : e.target.value;
      update();
    });
    one("grid").addEventListener("click", (e) => {
      const button = e.target.closest("td button");
      if (!button) return;
      state.group = button.closest("tr").dataset.group;
      state.rate = Number(button.dataset.rate);
      update(true);
      // in one column the detail may be out of sight: it comes into view where a pointer picked
      const box = one("detail");
      if (e.detail && box.getBoundingClientRect().top > innerHeight - 120) {
        flush();
        box.focus({ preventScroll: true });
        box.scrollIntoView();
      }
    });
    one("grid").classList.toggle("many", rates.length > 8);
    one("threshold").max = String(thresholds.length - 1);
    let moved = 0;
    one("threshold").addEventListener("input", (e) => {
      const asked = Number(e.target.value);
      state.threshold = nearestOf(reachable(state), (i) => i, asked);
      cancelAnimationFrame(moved);
      moved = requestAnimationFrame(() => update());
    });
    one("threshold-number").addEventListener("change", (e) => {
      const typed = e.target.value, asked = Number(typed), known = typed !== "" && !Number.isNaN(asked);
      if (known) state.threshold = nearestOf(reachable(state), (i) => thresholds[i], asked);
      update();
      const kept = `the threshold is ${scoreOf(state.threshold)}`;
      if (!known) one("threshold-moved").textContent = `No number was typed: ${kept}, as before.`;
      else if (Number(scoreOf(state.threshold)) !== asked) one("threshold-moved").textContent = `Scores were not counted at ${typed}: ${kept}, the nearest that was.`;
    });
    one("together").addEventListener("change", (e) => { state.together = e.target.checked; update(); });
    one("grid").addEventListener("keydown", (e) => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0], End: [0] }[e.key];
      const cell = e.target.closest("td");
      if (!cell) return;
      if (e.key === "Enter" && e.target.getAttribute("aria-pressed") === "true") { e.preventDefault(); one("detail").focus(); }
      if (!step) return;
      const k = cell.parentElement.sectionRowIndex + step[0];
      if (!sorted[k]) return;
      drawLine(k);
      drawRest(k);
      const buttons = lines[k].cells.map(({ button }) => button), seen_ = buttons.filter((each) => each.offsetParent !== null);
      const next = e.key === "Home" ? seen_[0] : e.key === "End" ? seen_[seen_.length - 1] : buttons[cell.cellIndex - 1 + step[1]];
      if (!next || next === e.target || next.offsetParent === null) return;
      e.preventDefault();
      stopAt(next);
      next.focus();
    });
    one("detail").addEventListener("keydown", (e) => { if (e.key === "Escape") picked.button.focus(); });
    const write = (text) => { written = text; settle(true); one("text").hidden = false; one("text").focus(); };
    one("export").addEventListener("click", () => write(specification));
    one("save").addEventListener("click", () => {
      settle(true);
      questions().forEach((question, k) => {
        const file = make("a", { href: URL.createObjectURL(new Blob([specification(question)], { type: "text/plain" })), download: fileOf(k) });
        file.click();
        URL.revokeObjectURL(file.href);
      });
    });
    one("link").addEventListener("click", async () => {
      settle();
      try { await navigator.clipboard.writeText(link()); one("done").textContent = "The link is copied."; } catch { write(link); }
    });
    one("link").hidden = location.protocol === "about:";  // a frame of a notebook has no address
    one("again").addEventListener("click", () => { emptied += trail.length; trail = []; state = structuredClone(start); update(); });
    const drawMoved = () => { if (!queue.length) soon([drawNear]); };
    addEventListener("scroll", drawMoved, { passive: true });
    addEventListener("resize", drawMoved);
    narrow.addEventListener("change", () => { if (!isPrinted) update(); });
    for (const [event, is] of [["beforeprint", true], ["afterprint", false]]) {
      addEventListener(event, () => { isPrinted = is; queue.push(drawNear); flush(); });
    }
    addEventListener("hashchange", () => { read(location.hash.slice(1)); update(); });
  };

  // ---- numbers that Python made of the audited view, computed again here
  const checked = () => {
    let worst = 0, compared = 0;
    for (const [model, by, codes, i, show, ...expected] of data.check) {
      const s = { ...structuredClone(start), model, by, reference: "others", threshold: data.audited };
      const view = groupsAt(s, s.threshold), group = view && view.groups.find((g) => g.key === codes.join());
      const result = group && measures(s, view, rates[i])(group)[show];
      if (!view) continue;
      expected.forEach((value, k) => {
        if (value === null) return;
        const own = result ? [result.value, result.low, result.high][k] : NaN;
        const wanted = typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value;
        const off = own === wanted ? 0 : Math.abs(own - wanted) / Math.max(1, Math.abs(wanted));
        worst = Math.max(worst, Number.isNaN(off) ? Infinity : off);
        compared += 1;
      });
    }
    return { worst, compared };
  };
  const { worst, compared } = checked();
  one("check").textContent = worst > 1e-9
    ? "This browser computes other numbers than the audit; nothing is shown."
    : `${count(compared)} numbers of the audit were computed again in this browser and agree with it.`;
  if (worst > 1e-9) return;
  build();
  one("page").hidden = false;
  read(location.hash.slice(1));
  update();
})();
