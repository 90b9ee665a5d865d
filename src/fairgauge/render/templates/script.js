
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const one = (id) => document.getElementById(id);

  // choose a feature and a metric
  const feature = one("choose-feature");
  const metric = one("choose-metric");
  const choose = () => {
    all(".feature").forEach((each) => {
      each.hidden = feature.value !== "" && each.dataset.feature !== feature.value;
    });
    all(".panel[data-metric]").forEach((each) => {
      each.hidden = metric.value !== "" && each.dataset.metric !== metric.value;
    });
  };
  [feature, metric].forEach((each) => each.addEventListener("change", choose));
  one("choose").hidden = false;

  // a link into a hidden part shows it
  window.addEventListener("hashchange", () => {
    const target = one(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[hidden]")) {
      feature.value = "";
      metric.value = "";
      choose();
      target.scrollIntoView();
    }
  });

  // find in the table of all numbers
  const rows = all("#estimates tbody tr");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const find = one("find");
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    one("found").textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
  find.closest("[hidden]").hidden = false;

  // sort a table by a column: numbers as numbers, undefined ones last
  const number = (text) => {
    const plain = text.replace(/[,%<\s]/g, "").replace("∞", "Infinity");
    const parsed = parseFloat(plain);
    return plain === "" ? NaN : parsed;
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
    if (Number.isNaN(x)) return 1;
    if (Number.isNaN(y)) return -1;
    return x === y ? 0 : x - y;
  };
  all("table.sortable").forEach((table) => {
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        all("thead th", table).forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const text = (row) => row.cells[column].textContent.trim();
        const sorted = Array.from(body.rows).sort((a, b) => compare(text(a), text(b)));
        body.append(...(down ? sorted.reverse() : sorted));
      });
    });
  });
})();
