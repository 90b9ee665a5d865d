"""A change that nobody tested is never called insignificant."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import Outcome, WhyIncomplete
from fairgauge.render import render


def report(rates, blank=0, n=300):
    """Audit groups that differ in their rates, each compared with the best of them."""
    rows = [
        {"g": group, "hired": int(i < n * rate)} for group, rate in rates.items() for i in range(n)
    ]
    rows += [{"g": "a", "hired": None}] * blank
    return fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="g", reference="best",
        metrics="selection_rate.ratio",
    )  # fmt: skip


def test_changes_to_other_references_are_not_tested():
    old = report({"a": 0.5, "b": 0.4, "c": 0.35})
    new = report({"a": 0.45, "b": 0.55, "c": 0.3}, n=400)
    found = fg.compare(old, new)
    untested = [each for each in found.changes if each.untested]
    assert [each.group for each in untested] == ["c"]
    assert all(each.change_p_value is None and each.reason for each in untested)
    text = " ".join(render(found, "text", full=True).split())
    assert "Not statistically significant" not in text
    assert "Not tested" in text
    assert "1 changed, not tested" in text
    assert str(found.brief().headline) in render(found, "text", quiet=True)


@pytest.mark.parametrize("blank", [0, 40])
def test_a_comparison_states_rows_without_a_decision(blank):
    """They are in no change, whatever it was that is missing."""
    rates = {"a": 0.5, "b": 0.4, "c": 0.35}
    found = fg.compare(report(rates), report({**rates, "b": 0.41}, blank, n=400))
    text = " ".join(render(found, "text", full=True).split())
    stated = "No change is of rows without a prediction (40 in the new report)."
    assert (stated in text) == bool(blank)


@pytest.mark.parametrize(("blank", "first"), [(5, False), (200, True)])
def test_the_first_page_names_many_rows_without_a_weight(blank, first):
    """Groups were "closer together", and nothing said without whom."""
    rows = pl.DataFrame({
        "g": ["a", "b"] * 1_000, "hired": [1, 0, 1, 1, 0, 0, 1, 0] * 250, "w": [1.0] * 2_000,
    })  # fmt: skip
    asked = {"prediction": "hired", "positive": 1, "sensitive": "g", "weight": "w"}
    lacking = rows.with_columns(w=pl.when(pl.int_range(2_000) >= blank).then("w"))
    found = fg.compare(fg.audit(rows, **asked), fg.audit(lacking, **asked), same_rows=False)
    stated = f"No change is of rows without a weight ({blank} in the new report)."
    brief = found.brief()
    assert (stated in map(str, brief.verdict), stated in map(str, brief.certainty)) == (
        first, not first,
    )  # fmt: skip


@pytest.mark.parametrize("blank", [0, 40])
def test_a_comparison_of_models_states_rows_without_a_label(blank):
    rows = [{"g": "ab"[i % 2], "y": i % 3 > 0, "old": i % 4 > 0, "new": i % 5 > 0}
            for i in range(400)]  # fmt: skip
    data = pl.DataFrame(rows).with_columns(
        pl.when(pl.int_range(400) >= blank).then(pl.col("y")).alias("y")
    )
    found = fg.compare_models(
        data, label="y", prediction="old", candidate="new", positive=True, sensitive="g"
    )
    stated = "Not in every number: 40 rows (missing label)."
    assert (stated in str(found.brief())) == bool(blank)
    assert found.data.excluded.get("missing label", 0) == blank


@pytest.mark.parametrize(
    ("rule", "blank"),
    [("true_positive_rate.ratio >= 0.5", 0), ("true_positive_rate.ratio >= 0.5", 7),
     ("selection_rate.ratio >= 0.5", 7)],
)  # fmt: skip
def test_a_monitor_states_rows_without_an_outcome(rule, blank):
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
    rows = pl.DataFrame(
        [{"g": "ab"[i % 2], "y": None if i < blank else i % 3 % 2, "p": i % 5 % 2}
         for i in range(300)]
    )  # fmt: skip
    days = {f"2026-11-{day:02d}": fg.count(rows, **asked) for day in (1, 2)}
    found = fg.monitor(days, {**asked, "monitor": {"rules": [rule]}})
    stated = "Rows that are in no comparison that needs what they lack: 14 (missing label)."
    assert (stated in str(found.brief())) == bool(blank)


def test_a_sealed_bundle_is_no_report_and_holds_one(tmp_path):
    path = tmp_path / "audit.fairgauge"
    path.write_bytes(b"PK")
    with pytest.raises(fg.DataError, match=r"sealed bundle.*unzip -p .*report\.json"):
        fg.compare(path, report({"a": 0.5, "b": 0.4}))


def of_two(n_f, rate_f=0.5, **rules):
    rows = [{"g": "M", "hired": i % 2} for i in range(2_000)]
    rows += [{"g": "F", "hired": int(i < n_f * rate_f)} for i in range(n_f)]
    return fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="g",
        metrics="selection_rate.difference", **rules,
    )  # fmt: skip


def test_a_group_that_is_gone_leaves_nothing_that_did_not_change():
    """It was "no difference between groups changed statistically significantly", and no 3."""
    found = fg.compare(of_two(2_000), of_two(0))
    assert (found.compared, found.incomplete, found.worse) == (False, True, False)
    assert str(found.brief().headline) == "No comparison of groups has a value in both reports"


def test_a_pass_that_is_not_evaluated_any_more_is_not_known_to_be_as_before():
    rules = {"rules": ["selection_rate.ratio >= 0.8"]}
    found = fg.compare(of_two(2_000, **rules), of_two(8, **rules))
    (flip,) = found.flips
    assert flip.new.outcome is Outcome.NOT_EVALUATED
    assert (found.incomplete, found.worse) == (True, False)


@pytest.mark.parametrize("value", [None, "pending", "N/A", "yes.", "YES"])
@pytest.mark.parametrize(("blank", "incomplete"), [(0.0, False), (0.02, False), (0.2, True)])
def test_many_more_rows_without_a_clear_outcome_are_no_green_light(blank, incomplete, value):
    """Without rules, refusals of one group that were blank made it better off, and ended in 0."""
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"g": ["F", "M"] * 1_000, "hired": rng.choice(["yes", "no"], 2_000)})
    lost = (pl.col("g") == "F") & (pl.col("hired") == "no") & (rng.random(2_000) < 4 * blank)
    asked = {"prediction": "hired", "positive": "yes", "sensitive": "g"}
    new = rows.with_columns(hired=pl.when(~lost).then("hired").otherwise(pl.lit(value)))
    before, after = fg.audit(rows, **asked), fg.audit(new, **asked)
    found = fg.compare(before, after, same_rows=False)
    assert found.incomplete is incomplete
    assert not fg.compare(after, before, same_rows=False).incomplete


def test_of_people_no_rows_are_unclear():
    rows = pl.DataFrame({"id": range(400), "hired": ["yes", "pending", "no", "yes"] * 100,
                         "g": ["F", "F", "M", "M"] * 100})  # fmt: skip
    report = fg.audit(rows, prediction="hired", positive="yes", sensitive="g", person="id")
    assert fg.compare(report, report).new.unclear == 0
    twice = fg.audit(rows, label="hired", prediction="hired", positive="yes", sensitive="g")
    assert fg.compare(twice, twice).new.unclear == 100  # and not twice as many


@pytest.mark.parametrize("lost", ["decision", "group"])
@pytest.mark.parametrize(("share", "incomplete"), [(0.0, False), (0.4, True)])
def test_rows_of_one_group_that_lack_more_are_no_green_light(lost, share, incomplete):
    """Refusals of a group that were blank made it better off, 4% of all rows: unmentioned."""
    rng = np.random.default_rng(5)
    groups = rng.choice(["F", "M"], 4_000, p=[0.2, 0.8])
    rows = pl.DataFrame({"g": groups, "hired": rng.choice(["yes", "no"], 4_000)})
    gone = (pl.col("g") == "F") & (pl.col("hired") == "no") & (rng.random(4_000) < share)
    column = "hired" if lost == "decision" else "g"
    new = rows.with_columns(pl.when(~gone).then(column).alias(column))
    asked = {"prediction": "hired", "positive": "yes", "sensitive": "g"}
    found = fg.compare(fg.audit(rows, **asked), fg.audit(new, **asked), same_rows=False)
    assert found.incomplete is incomplete
    assert bool(found.diagnostics) is incomplete
    assert ("Warning: g: " in str(found)) is incomplete


def test_against_another_reference_nothing_changed_sides():
    """A ratio of 0.99 to one group and of 1.01 to another one "changed sides"."""
    groups = [*"abc"] * 300
    table = pl.DataFrame({"g": groups, "p": [*[1, 1, 0], *[0, 1, 1], *[1, 0, 1]] * 100})
    low = table.with_columns(p=pl.when((pl.col("g") == "b") & (pl.int_range(900) < 90)).then(0)
                             .otherwise("p"))  # fmt: skip
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    one, other = (fg.audit(low, **asked, reference={"g": name}) for name in "ab")
    found = fg.compare(one, other, same_rows=False)
    assert not any(each.crossed for each in found.changes)
    assert "changed sides" not in str(found)


def test_a_comparison_states_warnings_that_are_new_alone():
    table = pl.DataFrame({"g": [*"FM"] * 100, "hired": ["yes", "no", "no", "yes"] * 50})
    spelt = table.with_columns(pl.Series("g", [*"FMfM"] * 50))
    asked = {"prediction": "hired", "positive": "yes", "sensitive": "g"}
    before, after = fg.audit(table, **asked), fg.audit(spelt, **asked)
    assert [each.code for each in fg.compare(before, after, same_rows=False).diagnostics] == [
        "same_names",
    ]  # fmt: skip
    assert not fg.compare(after, after, same_rows=False).diagnostics
    varied = table.with_columns(pl.Series("row", range(200)))
    twice = fg.audit(pl.concat([varied, varied]), **asked)
    found = fg.compare(fg.audit(varied, **asked), twice, same_rows=False)
    assert [each.code for each in found.diagnostics] == ["doubled_rows"]


@pytest.mark.parametrize(("rows", "incomplete"), [(10, False), (60, True)])
def test_a_group_that_is_gone_is_no_green_light(rows, incomplete):
    """Without rules, the group that was worst off was gone, and the exit code 0."""
    groups = [*"ab"] * 300 + ["c"] * rows
    table = pl.DataFrame({"g": groups, "p": [*[1, 0, 0, 1] * 150, *[0, 1] * (rows // 2)]})
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    before, after = fg.audit(table, **asked), fg.audit(table.head(600), **asked)
    assert fg.compare(before, after, same_rows=False).incomplete is incomplete
    assert not fg.compare(after, before, same_rows=False).incomplete


def passing(rates, n=2_000, rule="selection_rate.ratio >= 0.5", **asked):
    rows = [{"g": g, "hired": int(i < n * rate)} for g, rate in rates.items() for i in range(n)]
    asked = {"reference": "best", "metrics": "selection_rate.ratio"} | asked
    return fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="g", rules=[rule], **asked
    )


@pytest.mark.parametrize(
    ("asked", "rates", "same_rows", "incomplete"),
    [
        ({}, {"a": 0.5, "b": 0.45, "c": 0.3}, None, False),  # tested: significantly worse
        ({"confidence": 0.9}, {"a": 0.5, "b": 0.45, "c": 0.3}, False, True),
        ({"confidence": 0.9}, {"a": 0.5, "b": 0.45, "c": 0.3}, True, True),
        ({"reference": "others"}, {"a": 0.5, "b": 0.45, "c": 0.3}, False, True),
        ({}, {"a": 0.45, "b": 0.5, "c": 0.3}, None, True),  # another group is the best one
        ({}, {"a": 0.49, "b": 0.5, "c": 0.39}, None, False),  # as sampling variation may make it
        ({"confidence": 0.9}, {"a": 0.5, "b": 0.45, "c": 0.4}, False, False),  # nothing moved
    ],
)
def test_two_passes_that_were_not_measured_alike_are_no_green_light(
    asked, rates, same_rows, incomplete
):
    """Both passed a loose rule, no change could be tested, and a gate ended with 0."""
    old = passing({"a": 0.5, "b": 0.45, "c": 0.4})
    new = passing(rates, n=2_400, **asked)
    found = fg.compare(old, new, same_rows=same_rows)
    assert found.stayed
    assert found.incomplete is incomplete
    assert found.worse is (asked == {} and rates["c"] == 0.3)
    assert str(found.brief().headline) in render(found, "text", quiet=True)


def test_rows_without_a_group_that_become_a_group_measure_every_difference_otherwise():
    """The differences from all others are of other rows then, and a gate ended with 0."""
    rows = [{"g": g, "hired": int(i < n)} for g, n in (("a", 50), ("b", 40)) for i in range(100)]
    rows += [{"g": None, "hired": int(i < 90)} for i in range(100)]
    asked = {"prediction": "hired", "positive": 1, "sensitive": "g"}
    old = fg.audit(pl.DataFrame(rows), **asked)
    new = fg.audit(pl.DataFrame(rows), **asked, missing="group")
    found = fg.compare(old, new, same_rows=False)
    assert found.why_incomplete[0] is WhyIncomplete.ASKED_OTHERWISE


@pytest.mark.parametrize(("share", "reasons"), [(0.0, ()), (0.3, (WhyIncomplete.MORE_LACK,))])
@pytest.mark.parametrize("more", [{}, {"intersections": [["g", "h"]]}])
def test_rows_without_a_group_of_one_of_several_features_are_no_green_light(share, reasons, more):
    """They are used for the other feature, so that no row counted as lacking anything."""

    def audited(share):
        rows = [
            {"g": None if i % 10 < 10 * share else "ab"[i % 2], "h": "xy"[i // 2 % 2],
             "hired": i // 4 % 2}
            for i in range(4_000)
        ]  # fmt: skip
        asked = {"prediction": "hired", "positive": 1, "sensitive": ["g", "h"]}
        return fg.audit(pl.DataFrame(rows), **asked, **more)

    assert fg.compare(audited(0), audited(share), same_rows=False).why_incomplete == reasons


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
    ("old", "new", "why"),
    [
        (of_two(2_000), of_two(2_000), None),
        (of_two(2_000), of_two(2_000, 0.48), "do not show whether by more than sampling"),
        (of_two(2_000), of_two(2_000, 0.48), "compare-models"),
        (of_two(2_000), of_two(0), "no difference has a value in both reports"),
        (of_two(2_000), of_two(2_000, 0.45, confidence=0.9), "differences moved that the two"),
        (
            of_two(2_000, rules=["selection_rate.ratio >= 0.8"]),
            of_two(8, rules=["selection_rate.ratio >= 0.8"]),
            "a verdict got worse, or changed to one that decides nothing",
        ),
        (
            of_two(8, rules=["selection_rate.ratio >= 0.8"]),
            of_two(80, rules=["selection_rate.ratio >= 0.8"]),
            "a verdict got worse, or changed to one that decides nothing",
        ),
        (of_two(2_000, rules=["selection_rate.ratio >= 0.8"]), of_two(2_000), "lacks a rule"),
    ],
)
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_gate_states_in_one_line_why_it_ends_with_3(tmp_path, old, new, why, quiet):
    paths = [str(tmp_path / name) for name in ("old.json", "new.json")]
    for each, path in zip((old, new), paths, strict=True):
        each.save(path)
    run = CliRunner().invoke(main, ["compare", *paths, "--fail-on", "worse", *quiet])
    if why is None:
        assert (run.exit_code, "Not known" in run.stderr) == (0, False)
        return
    (line,) = (each for each in run.stderr.splitlines() if each.startswith("Not known whether"))
    assert (run.exit_code, why in line) == (3, True)


@pytest.mark.parametrize(
    ("rate", "n", "worse"),
    [(0.62, 2_400, False), (0.5, 2_400, False), (0.38, 2_400, True), (0.3, 2_400, True),
     (0.45, 24_000, False)],
)  # fmt: skip
def test_a_group_that_is_worse_off_after_it_was_better_off_is_worse(rate, n, worse):
    """From +10 to -12 points is no further from no difference, and it ended with 0.

    At 0.45 it changed sides, too, and is closer.
    """
    one = {"reference": {"g": "b"}, "metrics": "selection_rate.difference"}
    old = passing({"a": 0.6, "b": 0.5}, **one)
    new = passing({"a": rate, "b": 0.5}, n=n, **one)
    found = fg.compare(old, new)
    assert found.worse is worse
    if rate == 0.38:
        change = found.changes[0]
        assert (change.other_side, change.significant) == (True, False)


@pytest.mark.parametrize("metric", ["selection_rate.ratio", "selection_rate.difference"])
@pytest.mark.parametrize("groups", ["ab", "abc"])
@pytest.mark.parametrize(("a", "worse"), [(0.44, True), (0.499, False)])
def test_two_groups_that_exchange_places_are_compared_though_one_is_the_reference(
    metric, groups, a, worse
):
    """Each was the reference in one report: nothing was compared, and a gate ended with 0."""
    rates = dict(zip("abc", (0.5, 0.44, 0.4), strict=True))
    old = passing({g: rates[g] for g in groups}, n=4_000, metrics=metric)
    new = {g: rates[g] for g in groups} | {"a": a, "b": 0.5}
    found = fg.compare(old, passing(new, n=4_400, metrics=metric))
    change = next(each for each in found.changes if each.group == "b")
    rest = [each.rate_group for each in (change.before, change.after)]
    assert rest == pytest.approx([0.44, 0.5], abs=1e-3)
    assert (change.new > change.definition.neutral) is True
    assert (change.other_side, found.worse) == (worse, worse)
    assert "group" not in {each.what for each in found.alone}


def test_a_group_that_is_the_reference_now_is_in_both_reports():
    old = passing({"a": 0.5, "b": 0.45, "c": 0.4})
    new = passing({"a": 0.45, "b": 0.4, "c": 0.5}, n=2_400)
    found = fg.compare(old, new)
    assert {(each.what, each.name, each.report) for each in found.alone} <= {
        ("reference", "c", "old"), ("reference", "a", "new"),
    }  # fmt: skip
    text = " ".join(render(found, "text", full=True).split())
    assert "What became of" not in text
    assert "name the same reference in both audits (--reference)" in text


def test_others_are_one_group_only_where_both_reports_have_two():
    """Others were called men in a sentence, and people of a third group were among them."""
    two, three = {"F": 0.48, "M": 0.5}, {"F": 0.48, "M": 0.5, "X": 0.1}
    old = passing(two, reference="others")
    text = " ".join(str(fg.compare(old, passing(three, n=2_400, reference="others"))).split())
    assert "people with g M" not in text.partition("Disparities")[0]
    assert "all other people" in text


def test_a_sentence_names_both_references():
    rates = {"a": 0.5, "b": 0.45, "c": 0.4}
    old, new = passing(rates, reference={"g": "a"}), passing(rates, n=2_400, reference="others")
    text = " ".join(str(fg.compare(old, new)).split())
    assert (
        "between people with g b and all other people in selection rate (compared in the old "
        "report with people with g a)" in text
    )


def test_a_rule_that_is_decided_otherwise_is_not_printed_twice_alike():
    rates = {"a": 0.5, "b": 0.45}
    point = fg.rule("selection_rate.ratio", at_least=0.5, decide="point")
    found = fg.compare(passing(rates), passing(rates, rule=point))
    assert '"decide": "point"' in render(found, "text", full=True)


@pytest.mark.parametrize("rule", [
    "selection_rate.ratio >= 0.9",
    "selection_rate.ratio >= 0.9 or selection_rate.difference >= -0.05",
])  # fmt: skip
def test_what_missing_rows_leave_open_may_have_got_worse(rule):
    """Of a rule with an alternative it had not: "as before", exit 0."""

    def audited(women, lacking):
        counts = {("X", 1): 86, ("X", 0): 34, ("M", 1): 800, ("M", 0): 200, ("F", 1): women}
        counts |= {("F", 0): 1_000 - women, (None, 1): lacking, (None, 0): lacking // 4}
        rows = [(sex, ok, n) for (sex, ok), n in counts.items()]
        table = pl.DataFrame(rows, schema=["sex", "ok", "n"], orient="row")
        return fg.audit(
            table, prediction="ok", positive=1, count="n", sensitive="sex", rules=rule,
            reference={"sex": "M"}, metrics="selection_rate",
        )  # fmt: skip

    found = fg.compare(audited(790, 8), audited(782, 208), same_rows=False)
    (flip,) = found.flips
    assert (flip.old.outcome, flip.new.outcome) == ("pass", "inconclusive")
    assert any(each.change_p_adjusted is not None for each in found.changes)
    assert WhyIncomplete.UNTESTED_VERDICT in found.why_incomplete
