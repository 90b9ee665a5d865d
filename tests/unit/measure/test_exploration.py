"""What the page of `fairgauge.explore` is given: counts, formulas, critical values, references."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.measure.exploration import explored

QUESTION = {"label": "y", "score": "s", "threshold": 0.5, "positive": 1, "sensitive": "g"}


def counts(**options):
    return fg.count(sample_reports.scores(), **(QUESTION | options))


def data_of(cube, **options):
    return explored(cube, replace(cube.asked, **options), exact=True)


def decoded(table):
    return np.array(table["counts"]).reshape(-1, 3, len(table["places"]) + 2)


def test_a_page_warns_of_what_an_audit_of_its_rows_warns_of():
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({
        "g": rng.choice(["a", "b"], 400), "y": rng.integers(0, 2, 400),
        "amount": rng.integers(0, 99, 400), "user_id": rng.permutation(400),
    })  # fmt: skip
    asked = {"prediction": "y", "positive": 1, "sensitive": "g"}
    assert fg.explore(rows, **asked, exact=True).warnings == ()
    twice = pl.concat([rows, rows])
    (doubled,) = fg.explore(twice, **asked, exact=True).warnings
    assert "every row occurs 2 times" in doubled
    (again,) = fg.audit(twice, **asked).explore(exact=True).warnings
    assert again.split(";")[0] == doubled.split(";")[0]
    some = pl.concat([rows, rows[:200].with_columns(pl.col("amount") + 100)])
    (repeated,) = fg.explore(some, **asked, exact=True).warnings
    assert "600 rows have 400 different values of 'user_id', each with one group, and" in repeated
    lacking = rows.with_columns(n=pl.when(pl.int_range(400) > 60).then(1))
    (uncounted,) = fg.explore(lacking, **asked, count="n", exact=True).warnings
    assert "15.2% of the rows (61 of 400) have no count" in uncounted


def test_the_counts_are_all_rows_once():
    cube = counts()
    data = data_of(counts(threshold=[0.25, 0.5]))
    (table,) = data["tables"]
    assert decoded(table).sum() == cube.rows
    report = fg.audit(sample_reports.scores(), **QUESTION | {"threshold": [0.25, 0.5]})
    group = next(g for g in report.groups if g.threshold == 0.25)
    codes = np.array(table["codes"])
    here = decoded(table)[codes == data["columns"][0]["groups"].index(group.group)].sum(axis=0)
    at = data["thresholds"].index(0.25)
    assert here[0, at + 1 : -1].sum() == group.counts["tp"]
    assert here[1, : at + 1].sum() == group.counts["tn"]


def test_small_cells_are_refused_unless_they_are_allowed():
    cube = counts()
    with pytest.raises(fg.CubeError, match=r"counts in the page would be of fewer than 10 persons"):
        fg.explore(cube)
    assert fg.explore(cube, exact=True)._data["exact"]
    # what a warning of the page counts is read as well
    rows = {
        "p": ["yes", "no"] * 200 + ["withdrawn"] * 2,
        "g": ["a", "a", "b", "b"] * 100 + ["a"] * 2,
    }
    asked = {"prediction": "p", "positive": "yes", "sensitive": "g"}
    with pytest.raises(fg.CubeError, match="1 of 5 counts in the page"):
        fg.explore(pl.DataFrame(rows), **asked)
    assert fg.explore(pl.DataFrame(rows)[:400], **asked)


def test_a_rate_and_its_complement_are_one_test():
    metrics = [f"{name}.ratio" for name in ("selection_rate", "rejection_share", "base_rate")]
    rates = {each["name"]: each["test"] for each in data_of(counts(), metrics=metrics)["rates"]}
    assert rates["selection_rate"] == rates["rejection_share"] != rates["base_rate"]


def test_the_page_is_inert_and_small(tmp_path):
    hostile = {"</script><img src=x onerror=alert(1)>": {"tp": 40, "fp": 20, "fn": 30, "tn": 60}}
    page = fg.explore(fg.confusion("<b>", {**hostile, "b": {"tp": 40, "tn": 50}}))
    page.save(tmp_path / "page.html")
    text = Path(tmp_path / "page.html").read_text("utf-8")
    assert "<img" not in text
    assert "<b>" not in text.replace("<b>", "", text.count("&lt;b&gt;"))
    assert "unsafe" not in text
    assert len(text) < 100_000
    assert 'sandbox="allow-scripts allow-downloads"' in page._repr_html_()
    for banned in ("innerHTML", "eval(", "Function(", "localStorage", "fetch("):
        assert banned not in text


def test_the_data_are_json_without_angle_brackets():
    page = fg.explore(counts(), exact=True).html
    start = page.index('id="counts">') + len('id="counts">')
    text = page[start : page.index("</script>", start)]
    assert not set("<>&") & set(text)
    assert json.loads(text)["rows"] == sample_reports.scores().height


def test_who_two_models_decide_differently_is_a_cell_too():
    """Two models of 390 and 387 showed the decisions of three people."""
    rows = {"old": [1] * 390 + [0] * 400, "new": [1] * 387 + [0] * 403, "g": ["a", "b"] * 395}
    asked = {"prediction": "old", "positive": 1, "sensitive": "g"}
    assert fg.explore(rows, **asked)
    with pytest.raises(fg.CubeError, match="those whom models decide differently among them"):
        fg.explore(rows, **asked, candidate="new")
    assert fg.explore(rows, **asked, candidate="new", exact=True)
    assert fg.explore(rows | {"new": [1] * 350 + [0] * 440}, **asked, candidate="new")
