"""A monitor: the same cubes give the same alarms, whatever the order, the day, or the vendor."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.monitoring._detection import divide_alpha
from fairgauge.results.monitor_results import MonitorState
from fairgauge.statements.monitor import alarm_statements
from fairgauge.stats.sequential import Tolerated, evidence_of_change


def evidence(report, i=0):
    return [point.evidence for point in report.comparisons[i].points]


def test_an_alarm_answers_since_when_who_how_much_and_how_sure(shifted):
    report = fg.monitor(shifted, asked(RATIO))
    (alarmed,) = report.alarms
    assert report.verdict is Outcome.FAIL
    assert (alarmed.group, alarmed.alarm.since) == ("F", "2026-01-26")
    assert "2026-01-26" < alarmed.alarm.period <= "2026-02-09"
    assert alarmed.alarm.after.rate_group == pytest.approx(0.22, abs=0.03)
    assert alarmed.alarm.before.rate_group == pytest.approx(0.40, abs=0.03)
    assert alarmed.alarm.after.value < alarmed.alarm.before.value
    stated, now = alarm_statements(report)
    assert (stated.who.values, stated.facts["side"]) == ((("sex", "F"),), "low")
    assert stated.who.rate == pytest.approx(alarmed.alarm.now.rate_group)
    assert now.interval.high < 0.8


def test_no_shift_is_no_alarm():
    report = fg.monitor(days(40, 99, 0.0), asked(RATIO))
    assert report.verdict is Outcome.PASS
    assert report.alarms == ()


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


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_arrival_and_repetition_change_nothing(shifted, seed, tmp_path):
    names = [*shifted, *list(shifted)[:7]]
    random.Random(seed).shuffle(names)
    history = fg.History(tmp_path)
    for name in names:
        history.add(name, shifted[name])
    first, again = fg.monitor(shifted, asked(RATIO)), fg.monitor(history, asked(RATIO))
    assert replace(again, created=first.created, history="counts", model="counts") == first


def test_a_metric_and_its_mirror_agree(shifted):
    """Clarify's DPPL is reference less group, and DI the native ratio."""
    native = {"metric": "selection_rate.difference", "between": [-0.02, 0.07], "groups": "F"}
    turned = {"metric": "DPPL", "between": [-0.07, 0.02], "groups": "F"}
    named = {"metric": "DI", "at_least": 0.8, "groups": "F"}
    report = fg.monitor(shifted, asked(native, turned, named, RATIO))
    assert evidence(report, 0) == pytest.approx(evidence(report, 1))
    assert evidence(report, 2) == pytest.approx(evidence(report, 3))
    first, second = (report.comparisons[i].alarm for i in (0, 1))
    assert first.after.value == pytest.approx(-second.after.value)
    assert first.after.rate_group == second.after.rate_group
    assert first.before.value == pytest.approx(-second.before.value)
    assert first.since == second.since


def test_a_group_that_comes_later_takes_from_what_is_kept_for_it():
    counts = {name: cube(40) for name in day_names(4)}
    later = {name: fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "M": {"tp": 80, "fn": 120},
                                        "X": {"tp": 4, "fn": 6}})
             for name in day_names(8)[4:]}  # fmt: skip
    rule = {"metric": "selection_rate.ratio", "at_least": 0.8}
    before, after = (fg.monitor(c, asked(rule)) for c in (counts, counts | later))
    assert [(each.group, each.reference) for each in before.comparisons] == [("F", "M")]
    assert after.comparisons[0].threshold == before.comparisons[0].threshold
    assert sum(each.alpha for each in after.comparisons) <= 0.05


@pytest.mark.parametrize("arrivals", [[0], [0] * 40, [-1, 0, 0, 3, 9, 9], list(range(50))])
def test_alpha_is_never_overspent(arrivals):
    shares = divide_alpha(0.05, arrivals)
    assert shares.sum() <= 0.05 + 1e-12
    assert (shares > 0).all()
    for size in range(1, len(arrivals)):
        wave = [a for a in arrivals if max(a, 0) <= max(arrivals[size - 1], 0)]
        assert divide_alpha(0.05, wave).tolist() == shares[: len(wave)].tolist()


def test_too_few_rows_are_insufficient():
    counts = {name: cube(3, of=6) for name in day_names(3)}
    report = fg.monitor(counts, asked(RATIO))
    assert report.verdict is Outcome.INCONCLUSIVE
    assert report.comparisons[0].state is MonitorState.INSUFFICIENT
    assert "insufficient data" in report.comparisons[0].says
    assert fg.monitor({}, asked(RATIO)).verdict is Outcome.INCONCLUSIVE


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


def test_the_largest_group_of_the_first_period_stays_the_reference():
    def day(small, large):
        return fg.confusion("sex", {"F": {"tp": small, "fn": small}, "M": {"tp": large},
                                    "X": {"tp": 5, "fn": 5}})  # fmt: skip

    counts = {"2026-01-01": day(10, 90), "2026-01-02": day(400, 90)}
    rule = {"metric": "selection_rate.difference", "between": [-0.1, 0.1]}
    largest = fg.monitor(counts, asked(rule) | {"reference": "largest"})
    named = fg.monitor(counts, asked(rule) | {"reference": {"sex": "M"}})
    assert [(each.group, each.reference) for each in largest.comparisons] == [
        ("F", "M"), ("X", "M"),
    ]  # fmt: skip
    assert [evidence(largest, i) for i in (0, 1)] == [evidence(named, i) for i in (0, 1)]


def test_a_rule_for_a_group_that_no_period_has_is_never_a_pass():
    counts = {name: cube(40) for name in day_names(3)}
    report = fg.monitor(counts, asked(RATIO | {"groups": ["F", "f"]}))
    assert report.verdict is Outcome.INCONCLUSIVE
    assert [(each.group, each.nearest) for each in report.unmatched] == [("f", "F")]
    assert "names the group f, which no period has. Did you mean F?" in str(report)
    assert report.to_dict()["unmatched"][0]["group"] == "f"
