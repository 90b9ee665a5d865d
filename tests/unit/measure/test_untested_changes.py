"""A change that nobody tested is never called insignificant."""

import polars as pl
import pytest
from click.testing import CliRunner
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render


def report(rates, n=300, metrics="selection_rate.ratio", **asked):
    """Audit groups that differ in their rates, each compared with the best of them."""
    sizes = n if isinstance(n, dict) else dict.fromkeys(rates, n)
    counts = {g: (round(sizes[g] * rate), sizes[g]) for g, rate in rates.items() if sizes[g]}
    return fg.audit(selected(counts), **{"reference": "best", "metrics": metrics} | asked)


def test_changes_to_other_references_are_not_tested():
    old = report({"a": 0.5, "b": 0.4, "c": 0.35})
    new = report({"a": 0.45, "b": 0.55, "c": 0.3}, 400)
    found = fg.compare(old, new)
    untested = [each for each in found.changes if each.untested]
    assert [each.group for each in untested] == ["c"]
    assert all(each.change_p_value is None and each.reason for each in untested)
    text = " ".join(render(found, "text", full=True).split())
    assert "Not statistically significant" not in text
    assert "not tested: " in text
    assert "1 difference between groups changed, not tested" in text
    assert str(found.brief().headline) in render(found, "text", quiet=True)


def of_two(n_f, rate_f=0.5, **rules):
    sizes = {"F": n_f, "M": 2_000}
    return report({"F": rate_f, "M": 0.5}, sizes, "selection_rate.difference", reference="others",
                  **rules)  # fmt: skip


def test_a_group_that_is_gone_leaves_nothing_that_did_not_change():
    """It was "no difference between groups changed statistically significantly", and no 3."""
    found = fg.compare(of_two(2_000), of_two(0))
    assert (found.compared, bool(found.why_incomplete), found.worse) == (False, True, False)
    assert str(found.brief().headline) == "No comparison of groups has a value in both reports"


@pytest.mark.parametrize(("rows", "incomplete"), [(10, False), (60, True)])
def test_a_group_that_is_gone_is_no_green_light(rows, incomplete):
    """Without rules, the group that was worst off was gone, and the exit code 0."""
    groups = [*"ab"] * 300 + ["c"] * rows
    table = pl.DataFrame({"g": groups, "p": [*[1, 0, 0, 1] * 150, *[0, 1] * (rows // 2)]})
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    before, after = fg.audit(table, **asked), fg.audit(table.head(600), **asked)
    assert bool(fg.compare(before, after, same_rows=False).why_incomplete) is incomplete
    assert not fg.compare(after, before, same_rows=False).why_incomplete


def test_a_gate_fails_where_a_difference_or_a_verdict_got_worse(tmp_path):
    paths = [str(tmp_path / name) for name in ("old.json", "new.json")]
    rule = {"rules": ["selection_rate.ratio >= 0.8"]}
    cases = [
        (of_two(1_200), of_two(1_500, 0.3)),
        (of_two(1_200, 0.4), of_two(1_500, 0.7)),
        (of_two(1_200, **rule), of_two(1_500, 0.3, **rule)),
    ]
    for old, new in cases:
        for each, path in zip((old, new), paths, strict=True):
            each.save(path)
        run = CliRunner().invoke(main, ["compare", *paths, "--fail-on", "worse", "-q"])
        assert run.exit_code == 1


@pytest.mark.parametrize(
    ("rate", "n", "worse"),
    [(0.62, 2_400, False), (0.5, 2_400, False), (0.38, 2_400, True), (0.3, 2_400, True),
     (0.45, 24_000, False)],
)  # fmt: skip
def test_a_group_that_is_worse_off_after_it_was_better_off_is_worse(rate, n, worse):
    """From +10 to -12 points is no further from no difference, and it ended with 0.

    At 0.45 it changed sides, too, and is closer.
    """
    asked = {"metrics": "selection_rate.difference", "reference": {"g": "b"},
             "rules": ["selection_rate.ratio >= 0.5"]}  # fmt: skip
    old = report({"a": 0.6, "b": 0.5}, 2_000, **asked)
    new = report({"a": rate, "b": 0.5}, n, **asked)
    found = fg.compare(old, new)
    assert found.worse is worse
    if rate == 0.38:
        change = found.changes[0]
        assert (change.other_side, change.significant) == (True, False)
