
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const one = (id) => document.getElementById(id);

  // a link into a folded part opens it
  const open = () => {
    const target = location.hash.length > 1 && one(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
    }
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", open);

  // find in the table of all numbers
  const find = one("find");
  if (find) {
    let rows = [];
    let texts = [];
    find.addEventListener("input", () => {
      if (!rows.length) {
        rows = all("#estimates tbody tr");
        texts = rows.map((row) => row.textContent.toLowerCase());
      }
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      one("found").textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
    find.closest("[hidden]").hidden = false;
  }

  // sort a table by a column: numbers as numbers, undefined ones last
  const number = (text) => {
    const plain = text.replace(/[,%<\s*?]|pp/g, "").replace("∞", "Infinity").replace("−", "-");
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
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      if (head.querySelector("a")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const text = (row) => row.cells[column].textContent.trim();
        const sorted = Array.from(body.rows).sort((a, b) => compare(text(a), text(b)));
        body.append(...(down ? sorted.reverse() : sorted));
      });
    });
  });

  // copy a table as rows of a spreadsheet
  all("table.data").forEach((table) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy table";
    button.addEventListener("click", async () => {
      const lines = Array.from(table.rows).map((row) =>
        Array.from(row.cells).map((each) => each.innerText.replace(/\s+/g, " ").trim()).join("\t"));
      try {
        await navigator.clipboard.writeText(lines.join("\n"));
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNode(table);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
      }
    });
    table.closest(".scroll").after(button);
  });
})();
