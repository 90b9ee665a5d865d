"""A monitor: the same cubes give the same alarms, whatever the order, the day, or the vendor."""

import json
import tomllib

import jsonschema
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.cli import main
from fairgauge.errors import SpecError
from fairgauge.monitoring._comparisons import divide_alpha
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.question.specification import ask, unmet_need
from fairgauge.stats.sequential import Tolerated, evidence_of_change


def evidence(report, i=0):
    return [point.evidence for point in report.comparisons[i].points]


def test_evidence_is_that_of_the_detector(shifted):
    """Counts reach the detector unchanged: the ratio's numerator, denominator, limits and alpha."""
    weeks = {f"2026-W{i:02d}": counts for i, (_, counts) in enumerate(sorted(shifted.items()), 1)}
    report = fg.monitor(weeks, asked(RATIO))
    columns = []
    for _, counts in sorted(shifted.items()):
        groups = {each.group: each for each in fg.audit(counts, metrics="selection_rate").groups}
        women, men = groups["F"], groups["M"]
        positives = [round(g.rates["selection_rate"].value * g.n) for g in (men, women)]
        columns.append((positives[0], men.n, positives[1], women.n))
    expected = evidence_of_change(Tolerated(0.8, np.inf, "ratio"), *zip(*columns, strict=True))
    assert evidence(report) == pytest.approx(expected)
    assert report.comparisons[0].threshold == pytest.approx(365 / 0.04)


def test_a_metric_of_the_other_order_has_the_evidence_of_its_mirror(shifted):
    """Clarify's DPPL is reference less group."""
    native = {"metric": "selection_rate.difference", "between": [-0.02, 0.07], "groups": "F"}
    turned = {"metric": "DPPL", "between": [-0.07, 0.02], "groups": "F"}
    report = fg.monitor(shifted, asked(native, turned))
    assert evidence(report, 0) == pytest.approx(evidence(report, 1))
    first, second = (each.alarm for each in report.comparisons)
    assert first.after.value == pytest.approx(-second.after.value)
    assert (first.since, first.after.rate_group) == (second.since, second.after.rate_group)


@pytest.mark.filterwarnings("ignore:.* rows have 60 different values:UserWarning")
@pytest.mark.parametrize(("rows_of_each", "more", "code"), [
    (20, {}, 3), (20, {"accept": ["rows_that_repeat_people:who"]}, 0), (1, {}, 0),
])  # fmt: skip
def test_rows_that_repeat_people_leave_no_pass(rows_of_each, more, code):
    """As an audit of them leaves none: a monitor of such rows was said to pass."""
    who = np.repeat(np.arange(1200 // rows_of_each), rows_of_each)
    rows = pl.DataFrame({"who": who + 1000, "g": np.array([*"ab"])[who % 2]})
    rows = rows.with_columns(y=np.random.default_rng(0).integers(0, 2, 1200))
    better = {"positive": 1, "favourable": "positive"}
    question = {"prediction": "y", "sensitive": "g"} | better | more
    weeks = {f"2026-W{w}": fg.count(rows, **question) for w in (40, 41)}
    monitored = question | {"monitor": {"rules": ["selection_rate.ratio >= 0.3"]}}
    assert fg.monitor(weeks, monitored).exit_code == code


@pytest.mark.parametrize("arrivals", [[0], [0] * 40, [-1, 0, 0, 3, 9, 9], list(range(50))])
def test_alpha_is_never_overspent(arrivals):
    shares = divide_alpha(0.05, arrivals)
    assert shares.sum() <= 0.05 + 1e-12
    assert (shares > 0).all()
    for size in range(1, len(arrivals)):
        wave = [a for a in arrivals if max(a, 0) <= max(arrivals[size - 1], 0)]
        assert divide_alpha(0.05, wave).tolist() == shares[: len(wave)].tolist()


def test_periods_enter_once_their_labels_are_complete():
    def day(unlabelled):
        import pandas as pd

        rows = pd.DataFrame(
            {"sex": ["F"] * 50 + ["M"] * 50, "label": [1.0] * 100, "prediction": [1, 0] * 50}
        )
        rows.loc[: unlabelled - 1, "label"] = None
        return fg.count(rows, **QUESTION)

    counts = {name: day(9 if i == 2 else 0) for i, name in enumerate(day_names(5))}
    recall = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"}
    report = fg.monitor(counts, asked(recall, RATIO, labels_within=7))
    assert report.waiting == ("2026-01-03", "2026-01-04", "2026-01-05")
    entered = [[p.evidence is not None for p in each.points] for each in report.comparisons]
    assert entered == [[True, True, False, False, False], [True] * 5]
    assert "3 periods wait for labels, from 2026-01-03" in str(report)
    now = fg.monitor(counts, asked(recall, RATIO))
    assert now.waiting == ()


def test_a_period_is_decided_the_same_way_however_it_came_to_enter(shifted):
    """All labels are there: then when a period may enter without them changes nothing."""
    recall = {"metric": "true_positive_rate.ratio", "at_least": 0.8, "groups": "F"}
    waits, within = (fg.monitor(shifted, asked(recall, labels_within=n)) for n in (1, 7))
    assert waits.comparisons == within.comparisons


@given(st.data())
def test_every_period_has_the_estimates_of_its_own_audit(data):
    """Periods are resolved together, whatever groups and values each of them has."""
    cells = st.fixed_dictionaries({c: st.integers(0, 30) for c in ("tp", "fp", "fn", "tn")})
    days = data.draw(st.lists(st.dictionaries(st.sampled_from("FMX"), cells, min_size=1),
                              min_size=1, max_size=5))  # fmt: skip
    held = {n: fg.confusion("sex", day) for n, day in zip(day_names(5), days, strict=False)}
    metrics = ("selection_rate.difference", "true_positive_rate.ratio")
    rules = [{"metric": each, "at_least": 0.01} for each in metrics]
    report = fg.monitor(held, asked(*rules))
    for i, (name, counts) in enumerate(held.items()):
        audited = {
            (e.metric, e.group): e.value for e in fg.audit(counts, metrics=metrics).estimates
        }
        for each in report.comparisons:
            expected = audited.get((each.metric, each.group))
            found = each.points[i].value
            assert each.points[i].period == name
            assert found is None if expected is None else found == pytest.approx(expected)


LARGEST = asked({"metric": "selection_rate.ratio", "at_least": 0.8}) | {"reference": "largest"}
WOMEN = cube(400, of=1_000, others=20, size=50)
"""A day with more women than men."""


@FEW_EXAMPLES
@given(order=st.permutations(range(5)))
def test_the_largest_group_of_the_first_period_is_the_reference_in_every_order_of_arrival(order):
    """Every other day has more women than men."""
    counts = {}
    for arrived, day in enumerate(order, start=1):
        counts[day_names(5)[day]] = WOMEN if day % 2 else cube(40)
        reference = "F" if min(order[:arrived]) % 2 else "M"
        found = fg.monitor(counts, LARGEST).comparisons
        assert {each.reference for each in found} == {reference}


# ---- the specification of a monitor: what is refused before anything is counted
LABELS_ALONE = {"label": "approved", "positive": 1, "sensitive": "sex"}


def fairgauge(*args):
    return CliRunner().invoke(main, [str(each) for each in args], catch_exceptions=False)


def test_a_rule_is_accepted_exactly_where_its_metric_has_what_it_needs():
    question = ask(**LABELS_ALONE)
    for metric in METRICS:
        limit = {"metric": metric.name, "at_most": min(0.5, metric.range[1] / 2)}
        asked = LABELS_ALONE | {"monitor": {"rules": [limit]}, "accept": "limits_the_better_off"}
        if unmet_need(metric, question) is None:
            assert read_monitor_spec(asked).rules[0].metric == metric.name
            continue
        with pytest.raises(SpecError) as error:
            read_monitor_spec(asked)
        assert [each.path for each in error.value.problems] == ["monitor.rules[0].metric"]
    with pytest.raises(SpecError, match=r"monitor.accept: .* write it above \[monitor\]"):
        read_monitor_spec(LABELS_ALONE | {"monitor": {"rules": [limit], "accept": "gap"}})


CONFIG = """
label = "approved"
prediction = "predicted"
positive = 1
sensitive = "sex"
[monitor]
horizon = 100
labels_within = 7
start = "2026-11-01"
rules = [{metric = "selection_rate.ratio", at_least = 0.8, groups = ["F"]}, "DPPL <= 0.1"]
"""
WRONG = {
    "horizon = 100": "horizon = 0", "labels_within = 7": "labels_within = 0",
    "at_least = 0.8": "at_leat = 0.8", "start =": "begin =",
}  # fmt: skip


def validated(tmp_path, text):
    """Return the result of validating a specification file, and what its schema objects to."""
    (tmp_path / "day.csv").write_text("sex,approved,predicted\nF,1,1\nF,0,0\nM,1,1\nM,0,1\n")
    config = tmp_path / "monitor.toml"
    config.write_text(text)
    made = json.loads(fairgauge("schema", "spec").output)
    jsonschema.Draft202012Validator.check_schema(made)
    objections = jsonschema.Draft202012Validator(made).iter_errors(tomllib.loads(text))
    return fairgauge("validate", tmp_path / "day.csv", "-c", config), list(objections)


@pytest.mark.parametrize("right", WRONG)
def test_a_mistake_in_the_table_of_a_monitor_fails_both_checks(tmp_path, right):
    result, objections = validated(tmp_path, CONFIG.replace(right, WRONG[right]))
    assert result.exit_code == 2
    assert "monitor." in result.output
    assert objections
