
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
})();
