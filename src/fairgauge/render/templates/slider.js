
// the threshold slider: cells by sums over the bins, rates by the coefficients in the page's data
(() => {
  const one = (id) => document.getElementById(id);
  const data = JSON.parse(one("counts").textContent);
  const { low, high, steps } = data;
  const edge = (k) => (k * (high - low)) / steps + low;
  const nearest = (score) =>
    Math.min(steps, Math.max(0, Math.round(((score - low) / (high - low)) * steps)));
  const start = nearest(data.start);

  const { divide, subtract, valueOf } = arithmetic(data.clarify);

  // eight cells: tp, fp, fn, tn, rows without a label predicted positive, and negative, and those
  // without a prediction, of which scores have none
  const cellsAt = (group, k) => {
    const cut = 2 * k + (data.closed ? 1 : 2);
    const cells = [0, 0, 0, 0, 0, 0, 0, 0];
    let place = 0;
    group.places.forEach((gap, i) => {
      place += gap;
      const yes = place >= cut !== data.turned;
      cells[yes ? 0 : 2] += group.positive[i];
      cells[yes ? 1 : 3] += group.negative[i];
      cells[yes ? 4 : 5] += group.unlabelled[i] || 0;
    });
    // profile clarify takes a missing label as negative
    return data.clarify
      ? [cells[0], cells[1] + cells[4], cells[2], cells[3] + cells[5], 0, 0, 0, 0] : cells;
  };
  const total = (several) => several.reduce((a, b) => a.map((n, i) => n + b[i]), [0, 0, 0, 0, 0, 0, 0, 0]);

  const empty = (cells) => cells.every((n) => n === 0);

  // what the page's data state that groups are compared with at a place: a group's position, or
  // "others" or "overall"; with thresholds of their own, groups keep the report's reference
  const referenceAt = (feature, m, thresholds) => {
    const place = thresholds.every((k) => k === thresholds[0]) ? thresholds[0] : start;
    const [, reference] = feature.references[m].filter(([from]) => from <= place).pop() || [0, null];
    return reference;
  };
  const moves = (feature) => feature.references.some((runs) => runs.length > 1);
  const cellsOf = (reference, cells, i) => {
    if (reference === "others") return total(cells.filter((_, j) => j !== i));
    if (reference === "overall") return total(cells);
    return reference === i || reference === null ? null : cells[reference];
  };
  const namedReference = (reference, groups) =>
    ({ others: "all others", overall: "overall", null: "-" })[reference] || groups[reference].name;
  const compare = (metric, reference, cells, i) => {
    const rate = data.rates[metric.rate];
    const against = cellsOf(reference, cells, i);
    if (against === null || empty(cells[i]) || empty(against)) return null;
    const sides = [valueOf(rate, cells[i]), valueOf(rate, against)];
    if (metric.turned) sides.reverse();
    return metric.by === "ratio" ? divide(...sides) : subtract(...sides);
  };

  // numbers as the page shows them
  const sign = (value, signed) => (signed && value > 0 ? "+" : "");
  const asNumber = (value, signed) => {
    if (value === null || Number.isNaN(value)) return "-";
    if (!Number.isFinite(value)) return `${value < 0 ? "−" : sign(value, signed)}∞`;
    return value === 0 ? "0" : sign(value, signed) + minus(fixed(value, 3));
  };
  const asPoints = (value) => (value === null || Number.isNaN(value) ? "-"
    : `${sign(value, true)}${minus(fixed(value * 100, 1))}`);
  const asPercent = (value) => (Number.isNaN(value) ? "-" : `${minus(fixed(value * 100, 1))}%`);
  const asCount = (n) => n.toLocaleString("en", { maximumFractionDigits: 1 });
  const asScore = (k) => String(Number(edge(k).toPrecision(6)));

  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };
  const named = (tag, name, attributes) => {
    const made = make(tag, "", attributes);
    made.append(make("bdi", name));
    return made;
  };
  const cell = (text, value) => {
    const made = make("td", "", { class: "num" });
    made.append(make("data", text, { value: value === null || Number.isNaN(value) ? "" : String(value) }));
    return made;
  };

  const chooser = one("tool-feature");
  const each = one("tool-each");
  data.features.forEach((feature, i) => chooser.append(make("option", feature.name, { value: i })));
  let feature = data.features[0];
  let thresholds = [];

  const head = (table, first, groups) => {
    const row = make("tr", "");
    row.append(...first.map((title) => make("th", title, { scope: "col" })));
    groups.forEach((group) => row.append(named("th", group.name, { scope: "col", class: "num" })));
    table.tHead.replaceChildren(row);
  };
  const line = (label, link, cells) => {
    const row = make("tr", "");
    const first = make("th", "", { scope: "row" });
    first.append(link ? make("a", label, { href: `#${link}` }) : label);
    row.append(first, ...cells);
    return row;
  };

  const show = (notice) => {
    const groups = feature.groups;
    const cells = groups.map((group, i) => cellsAt(group, thresholds[i]));
    const names = data.labelled ? ["TP", "FP", "FN", "TN"] : [];
    const counted = names.map((name, i) =>
      line(name, "", cells.map((c) => cell(asCount(c[i]), c[i]))));
    const rates = data.rates.map((rate) => line(rate.title, rate.link, cells.map((c) => {
      const value = valueOf(rate, c);
      return cell(rate.share ? asPercent(value) : asNumber(value), value);
    })));
    one("tool-rates").tBodies[0].replaceChildren(
      line("threshold", "", thresholds.map((k) => cell(asScore(k), edge(k)))), ...counted, ...rates);
    const compared = groups.map((group, i) => i).filter((i) => groups[i].compared);
    one("tool-metrics").tBodies[0].replaceChildren(...data.metrics.map((metric, m) => {
      const reference = referenceAt(feature, m, thresholds);
      const row = line(metric.title, metric.link, [
        named("td", namedReference(reference, groups), { class: "against" }),
        ...compared.map((i) => {
          const value = compare(metric, reference, cells, i);
          return cell(metric.points ? asPoints(value) : asNumber(value, metric.signed), value);
        }),
      ]);
      row.dataset.name = metric.name;
      return row;
    }));
    const selected = data.rates.find((rate) => rate.name === "selection_rate");
    one("tool-status").textContent = notice || groups.map((group, i) =>
      `${group.name}: ${asPercent(valueOf(selected, cells[i]))} predicted positive`).join("; ");
  };

  // a slider with a box for the exact number; both stand on edges of the bins
  const control = (name, which) => {
    const k = thresholds[which[0]];
    const made = make("fieldset", "");
    made.append(named("legend", name));
    const range = make("input", "", {
      type: "range", min: 0, max: steps, step: 1, "aria-label": `threshold of ${name}`,
    });
    const box = make("input", "", {
      type: "number", min: low, max: high, step: "any", inputmode: "decimal",
      "aria-label": `threshold of ${name}, as a number`,
    });
    const take = (to, notice) => {
      which.forEach((i) => { thresholds[i] = to; });
      range.value = to;
      range.setAttribute("aria-valuetext", asScore(to));
      box.value = asScore(to);
      show(notice);
    };
    range.addEventListener("input", () => take(Number(range.value)));
    box.addEventListener("change", () => {
      const asked = box.value === "" ? edge(thresholds[which[0]]) : Number(box.value);
      const to = nearest(asked);
      const moved = Math.abs(edge(to) - asked) > 1e-9 * (high - low);
      take(to, moved ? `${asked} is no edge of the bins that scores are counted in; ${asScore(to)}, the nearest, is taken.` : "");
    });
    range.value = k;
    range.setAttribute("aria-valuetext", asScore(k));
    box.value = asScore(k);
    made.append(range, box);
    return made;
  };
  const build = () => {
    const groups = feature.groups;
    const every = groups.map((_, i) => i);
    one("tool-sliders").replaceChildren(...(each.checked
      ? every.map((i) => control(groups[i].name, [i]))
      : [control("all groups", every)]));
    head(one("tool-rates"), ["rate"], groups);
    head(one("tool-metrics"), ["metric", "compared with"], groups.filter((group) => group.compared));
    one("tool-kept").hidden = !(each.checked && moves(feature));
    show("");
  };
  const back = () => {
    thresholds = feature.groups.map(() => start);
    build();
  };
  chooser.addEventListener("change", () => {
    feature = data.features[Number(chooser.value)];
    back();
  });
  each.addEventListener("change", () => {
    thresholds = thresholds.map(() => thresholds[0]);
    build();
  });
  one("tool-reset").addEventListener("click", back);
  back();
  one("tool-metrics").closest(".scroll").hidden = data.metrics.length === 0;
  one("tool").hidden = false;
})();
