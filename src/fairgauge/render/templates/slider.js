// the threshold slider: a view of counts at one threshold for all groups, or one for each
(() => {
  const data = JSON.parse(one("counts").textContent);
  const { low, high, steps } = data;
  const places = range(steps + 1), edge = (k) => (k * (high - low)) / steps + low;
  const start = nearestOf(places, edge, data.start);
  const { valueOf, contrast } = arithmetic(data.clarify);
  const features = tablesOf(data).map((table) => table.codes.map((_, i) => memberOf(table, [i], { key: i })));

  let feature = 0, thresholds = [];
  // what the page's data state that groups are compared with at a place: a group's number, or
  // "others" or "overall"; with thresholds of their own, groups keep the report's reference
  const referenceAt = (m) => {
    const place = thresholds.every((k) => k === thresholds[0]) ? thresholds[0] : start;
    return runAt(data.columns[feature].references[m], place) ?? null;
  };
  const compare = (metric, reference, view, i) => {
    const side = against(reference, { key: i }, view);
    if (!side || total(view.cells(i)) === 0 || total(side.cells) === 0) return NaN;
    const sides = [view.cells(i), side.cells];
    return contrast(data.rates[metric.rate], metric.by, ...(metric.turned ? sides.reverse() : sides));
  };

  const head = (table, first, names) => table.tHead.replaceChildren(make("tr", {},
    ...first.map((title) => make("th", { scope: "col" }, title)),
    ...names.map((name) => make("th", { scope: "col", class: "num" }, bdi(name)))));
  const cell = (text, value) => make("td", { class: "num" },
    Number.isNaN(value) ? make("data", { value: "" }, "-") : make("data", { value: String(value) }, text));
  const line = (label, link, cells) => make("tr", {},
    make("th", { scope: "row" }, link ? make("a", { href: `#${link}` }, label) : label), ...cells);

  const show = (notice) => {
    const { groups, compared } = data.columns[feature], members = features[feature];
    const view = viewOfCounts(byKey(members), members, ({ key }) => thresholds[key], data.turned);
    const named = (reference) =>
      ({ others: "all others", overall: "overall", null: "-" })[reference] || groups[reference];
    const cells = members.map(({ key }) => view.cells(key));
    const shown = (rate, c) => number(valueOf(rate, c), "rate", rate.share) + unit("rate", rate.share);
    const counted = (data.labelled ? ["TP", "FP", "FN", "TN"] : []).map((name, i) =>
      line(name, "", cells.map((c) => cell(count(c[i]), c[i]))));
    const rates = data.rates.map((rate) =>
      line(rate.title, rate.link, cells.map((c) => cell(shown(rate, c), valueOf(rate, c)))));
    one("tool-rates").tBodies[0].replaceChildren(
      line("threshold", "", thresholds.map((k) => cell(asScore(edge(k)), edge(k)))), ...counted, ...rates);
    one("tool-metrics").tBodies[0].replaceChildren(...data.metrics.map((metric, m) => {
      const reference = referenceAt(m);
      const row = line(metric.title, metric.link, [
        make("td", { class: "against" }, bdi(named(reference))),
        ...compared.map((i) => {
          const value = compare(metric, reference, view, i);
          return cell(number(value, metric.by, metric.points, metric.signed), value);
        }),
      ]);
      row.dataset.name = metric.name;
      return row;
    }));
    const selected = data.rates.find((rate) => rate.name === "selection_rate");
    one("tool-status").textContent = notice || groups.map((name, i) =>
      `${name}: ${shown(selected, cells[i])} predicted positive`).join("; ");
  };

  // a slider with a box for the exact number; both stand on edges of the bins
  const control = (name, which) => {
    const k = thresholds[which[0]], label = `threshold of ${name}`;
    const slider = make("input", { type: "range", min: 0, max: steps, step: 1, "aria-label": label });
    const box = make("input", { type: "number", min: low, max: high, step: "any", inputmode: "decimal",
      "aria-label": `${label}, as a number` });
    const place = (to) => {
      slider.value = to;
      slider.ariaValueText = box.value = asScore(edge(to));
    };
    const take = (to, notice) => {
      which.forEach((i) => { thresholds[i] = to; });
      place(to);
      show(notice);
    };
    slider.addEventListener("input", () => take(Number(slider.value)));
    box.addEventListener("change", () => {
      const asked = box.value === "" ? edge(thresholds[which[0]]) : Number(box.value);
      const to = nearestOf(places, edge, asked);
      const moved = Math.abs(edge(to) - asked) > 1e-9 * (high - low);
      take(to, moved ? `${asked} is no edge of the bins that scores are counted in; ${asScore(edge(to))}, the nearest, is taken.` : "");
    });
    place(k);
    return make("fieldset", {}, make("legend", {}, bdi(name)), slider, box);
  };
  const each = one("tool-each");
  const build = () => {
    const { groups, compared, references } = data.columns[feature];
    one("tool-sliders").replaceChildren(...(each.checked
      ? groups.map((name, i) => control(name, [i])) : [control("all groups", [...groups.keys()])]));
    head(one("tool-rates"), ["rate"], groups);
    head(one("tool-metrics"), ["metric", "compared with"], compared.map((i) => groups[i]));
    one("tool-kept").hidden = !(each.checked && references.some((runs) => runs.length > 2));
    show("");
  };
  const back = () => {
    thresholds = data.columns[feature].groups.map(() => start);
    build();
  };
  const chooser = one("tool-feature");
  data.columns.forEach(({ name }, i) => chooser.append(make("option", { value: i }, name)));
  chooser.addEventListener("change", () => { feature = Number(chooser.value); back(); });
  each.addEventListener("change", () => { thresholds = thresholds.map(() => thresholds[0]); build(); });
  one("tool-reset").addEventListener("click", back);
  back();
  one("tool-metrics").closest(".scroll").hidden = data.metrics.length === 0;
  one("tool").hidden = false;
})();
