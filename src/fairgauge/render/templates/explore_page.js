"use strict";
const data = JSON.parse(document.getElementById("counts").textContent);
document.addEventListener("DOMContentLoaded", () => { // when all scripts of the page have run
  const page = explore(data), isRight = page.off() <= 1e-9;
  one("check").textContent = isRight ? inWords(UI.checked, { n: data.check.length }) : UI.check_failed;
  if (isRight) page.build();
});
