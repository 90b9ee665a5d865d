"""fg.pairs by release: what changed since the release before, and exit codes of pipelines."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.results.name_swaps import PairsAudit, SwapReason, SwapVerdict
from fairgauge.stats.multiplicity import holm
from swapped_names import ASKED, study

WHITE = {"group": "White"}
DIFFERS, EQUIVALENT = SwapVerdict.DIFFERS, SwapVerdict.EQUIVALENT


def series(deltas, *, noise=0.2, names=(5, 5), items=12, runs=2, **options):
    """Return the answers of releases v9, v10, ... to the same items under the same names."""
    rng = np.random.default_rng(5)
    tables = []
    for k, delta in enumerate(deltas):
        table = study(names, items, runs, delta=delta, placebos=4, seed=3, **options)
        table["score"] += rng.normal(0, noise, len(table))
        tables.append(table.assign(release=f"v{9 + k}"))
    return pd.concat(tables)


def audit(table, **options):
    return fg.pairs(
        table, **{**ASKED, "by": "release", "reference": WHITE, "placebo": "edit", **options}
    )


CHANGING = series([0.0, -0.6, -0.6])


def test_each_release_is_judged_and_compared_with_the_one_before(tmp_path):
    found = audit(CHANGING, margins={"score": 0.5})
    assert found.releases == ("v9", "v10", "v11")  # v9 before v10, as numbers
    assert [each.model for each in found.differences] == ["v9", "v10", "v11"]
    assert [each.verdict for each in found.differences] == [EQUIVALENT, DIFFERS, DIFFERS]
    first, second = found.changes
    assert [(each.since, each.model) for each in found.changes] == [("v9", "v10"), ("v10", "v11")]
    assert (first.verdict, second.verdict) == (DIFFERS, EQUIVALENT)
    assert (found.verdict, found.change) == (DIFFERS, EQUIVALENT)
    assert "CHANGED BEYOND PLACEBO" in first.says
    assert "UNCHANGED within 0.5" in second.says
    before, after = (found.differences[k].value for k in (0, 1))
    assert (first.before, first.value) == (pytest.approx(before), pytest.approx(after - before))
    found.save(tmp_path / "series.json")
    assert fg.load(tmp_path / "series.json") == found
    jsonschema.Draft202012Validator(PairsAudit.json_schema()).validate(
        json.loads((tmp_path / "series.json").read_text())
    )
    assert list(found.to_pandas("changes").since) == ["v9", "v10"]
    for suffix in ("html", "txt", "md"):
        found.save(tmp_path / f"series.{suffix}")
        text = " ".join((tmp_path / f"series.{suffix}").read_text().split())
        assert "Changes between releases" in text
        assert "v9, v10 and v11 (in this order)" in text


def test_a_change_is_the_audit_of_the_subtracted_answers():
    """Every cell of a release less that of the release before, audited by itself."""
    cells = CHANGING.groupby(["release", "item", "name", "group"]).score.mean().unstack("release")
    for now, then in (("v10", "v9"), ("v11", "v10")):
        table = (cells[now] - cells[then]).rename("score").reset_index()
        (alone,) = fg.pairs(table, **ASKED, reference=WHITE, placebo="edit").differences
        change = next(each for each in audit(CHANGING).changes if each.model == now)
        for name in ("value", "low", "high", "p_value", "degrees_of_freedom", "mean_group"):
            assert getattr(change, name) == pytest.approx(getattr(alone, name), rel=1e-9)
        assert change.high - change.low < 0.8 * (0.3 + 0.3)  # names and items are shared


def test_p_values_of_changes_are_adjusted_for_groups_and_releases():
    table = series([0.0, -0.1, 0.0, -0.1], names=(4, 4, 4), groups=("Asian", "Black", "White"))
    found = audit(table)
    assert len(found.changes) == 6
    adjusted = holm([each.p_value for each in found.changes])
    assert [each.p_adjusted for each in found.changes] == pytest.approx(adjusted.tolist())


def test_a_baseline_is_what_all_other_releases_are_compared_with():
    found = audit(CHANGING, baseline="v10")
    assert [(each.since, each.model) for each in found.changes] == [("v10", "v9"), ("v10", "v11")]
    whole = audit(CHANGING).changes
    assert found.changes[0].value == pytest.approx(-whole[0].value)


def test_releases_may_be_named_in_order_and_others_are_excluded():
    found = audit(CHANGING, releases=["v11", "v9"])
    assert found.releases == ("v11", "v9")
    assert [(each.since, each.model) for each in found.changes] == [("v11", "v9")]
    assert found.data.excluded == {"other release": len(CHANGING) // 3}
    assert found.verdict is found.differences[-1].verdict


def test_items_and_names_of_one_release_alone_are_in_no_change():
    partly = CHANGING[(CHANGING.release != "v10") | ~CHANGING.item.isin(["cv0", "cv1"])]
    found = audit(partly)
    assert [each.items for each in found.differences] == [12, 10, 12]
    assert [each.items for each in found.changes] == [10, 10]
    apart = CHANGING.assign(item=CHANGING.item + CHANGING.release)
    (first, _) = audit(apart).changes
    assert (first.value, first.reason) == (None, SwapReason.NO_ITEMS)
    assert "in both releases" in first.says


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_changes_without_variation_are_not_judged(shift):
    """Differences of floating point numbers are not alike to the last digit."""
    old = study((4, 4), placebos=3).assign(release="1")
    new = old.assign(release="2", score=old.score - shift * (old.group == "Black"))
    (change,) = audit(pd.concat([old, new])).changes
    assert change.value == pytest.approx(-shift)
    assert (change.verdict, change.reason) == (SwapVerdict.CANNOT_TELL, SwapReason.NO_VARIATION)
    assert change.low is None


def test_decisions_of_one_name_a_side_change_by_item():
    table = series([0.0, -1.0], names=(1, 1), items=40, runs=1)
    table["hired"] = (table.score > 0).astype(int)
    found = audit(table, score=None, prediction="hired")
    (change,) = found.changes
    assert change.reason is SwapReason.ONE_VARIANT
    assert change.low < change.value < change.high
    assert change.ratio is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "run"}, "by: names the releases of one model"),
        ({"by": None, "baseline": "v9"}, "baseline: is of a series of releases"),
        ({"baseline": "v8"}, "baseline: no release 'v8'"),
        ({"baseline": "v11"}, "baseline: 'v11' is the newest release"),
        ({"releases": ["v9", "v19"]}, "releases: no release 'v19'"),
        ({"releases": ["v9"]}, "releases: must be two or more"),
        ({"by": "version"}, "by: the data have no column 'version'"),
        ({"by": "one"}, "by: a series has at least two releases"),
    ],
)
def test_what_is_no_series_is_refused(options, message):
    with pytest.raises(fg.SpecError) as caught:
        audit(CHANGING.assign(one="x"), **options)
    assert message in str(caught.value)


def test_counts_of_releases_give_what_the_answers_give(tmp_path):
    counts = fg.count(CHANGING, **ASKED, model="release")
    asked = {"reference": WHITE, "placebo": "edit", "margins": {"score": 0.5}, "baseline": "v9"}
    found = audit(CHANGING, **asked)
    assert fg.pairs(counts, by="release", **asked).changes == found.changes
    fg.seal(found, counts, tmp_path / "series.fairgauge")
    assert str(fg.verify(tmp_path / "series.fairgauge")).startswith("REPRODUCED")


def test_the_exit_code_is_of_the_newest_release(tmp_path):
    options = [f"--{name}={column}" for name, column in ASKED.items()]
    options += ["--reference=group=White", "--placebo=edit", "--by=release", "-q"]
    codes = {}
    for name, deltas in {"fell": [0, -0.6], "stayed": [-0.6, -0.6], "back": [-0.6, 0]}.items():
        path = tmp_path / f"{name}.csv"
        series(deltas).to_csv(path, index=False)
        for more in ([], ["--fail-on=changed"], ["--fail-on=changed", "--margin=score=0.5"]):
            run = CliRunner().invoke(main, ["pairs", str(path), *options, *more])
            codes.setdefault(name, []).append(run.exit_code)
    assert codes == {"fell": [1, 1, 1], "stayed": [1, 3, 0], "back": [3, 1, 1]}
    alone = [each for each in options if each != "--by=release"]
    run = CliRunner().invoke(main, ["pairs", str(path), *alone, "--fail-on=changed"])
    assert run.exit_code == 2


def test_the_first_page_counts_the_changes_of_the_newest_release():
    found = audit(CHANGING, margins={"score": 0.5})
    text = " ".join(map(str, found.brief().verdict))
    assert text == (
        "Of 1 comparison of the newest release, v11, 1 differs. Earlier, the difference changed in "
        "v10 (since v9). Of 1 change since v10, 1 is unchanged within 0.5."
    )


def test_of_single_answers_nothing_is_claimed_of_more_runs():
    (single,) = fg.pairs(study((4, 4), runs=1, seed=1), **ASKED, reference=WHITE).differences
    table = study((4, 4), runs=2, seed=1, delta=-0.15)
    (twice,) = fg.pairs(table, **ASKED, reference=WHITE).differences
    assert (single.reason, twice.reason) == (SwapReason.IMPRECISE,) * 2
    assert (single.needed.runs, single.needed.runs_known) == (None, False)
    assert "more runs" not in single.says
    assert twice.needed.runs_known
