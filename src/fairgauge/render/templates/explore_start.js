const page = explore(data), isRight = page.off() <= 1e-9;
one("check").textContent = isRight ? inWords(UI.checked, { n: data.check.length }) : UI.check_failed;
if (isRight) page.build();
