"""Axe on the first page of every kind of result, in light and dark: nothing moderate or worse."""

import pytest
from tests.browser.conftest import Visit, violations
from tests.every_result import RESULTS, result

from fairgauge.render import render

USUAL = ("loans", "scores", "compared reports", "models", "alternatives", "thresholds", "find",
         "alarm", "why", "check")  # fmt: skip
"""One page of every kind; the others have the same parts."""


@pytest.mark.parametrize(
    "kind", [k if k in USUAL else pytest.param(k, marks=pytest.mark.thorough) for k in RESULTS]
)
def test_axe_finds_nothing_moderate(chromium, axe, tmp_path, kind):
    path = tmp_path / "page.html"
    path.write_text(render(result(kind), "html"), encoding="utf-8")
    opened = Visit(chromium, path)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)
        graver = [
            (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
            for each in violations(opened.page, axe, scheme)
            if each["impact"] in ("moderate", "serious", "critical")
        ]
        assert graver == [], scheme
    opened.context.close()
