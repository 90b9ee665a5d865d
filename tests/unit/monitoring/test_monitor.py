"""A monitor: the same cubes give the same alarms, whatever the order, the day, or the vendor."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.monitoring._detection import divide_alpha
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.results.monitor_results import MonitorState
from fairgauge.statements.monitor import alarm_statements
from fairgauge.stats.sequential import EDetector, Tolerated

OWN = fg.rate("mine", of=fg.TP, among=fg.TP + fg.FN)


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
    assert alarmed.alarm.change < 0
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
    report = fg.monitor(shifted, asked(RATIO))
    detector = EDetector(Tolerated(0.8, np.inf, "ratio"), alpha=0.05 * 0.8)
    expected = []
    for name, counts in sorted(shifted.items()):
        groups = {each.group: each for each in fg.audit(counts, metrics="selection_rate").groups}
        women, men = groups["F"], groups["M"]
        positives = [round(g.rates["selection_rate"].value * g.n) for g in (men, women)]
        detector = detector.observe(positives[0], men.n, positives[1], women.n)
        expected.append(float(detector.statistic))
        assert name
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
    assert first.change == pytest.approx(-second.change)
    assert first.since == second.since


def test_a_rate_of_a_group_is_monitored(shifted):
    rule = {"metric": "selection_rate", "at_least": 0.35}
    report = fg.monitor(shifted, asked(rule))
    assert [(each.group, each.state) for each in report.comparisons] == [
        ("F", MonitorState.ALARM),
        ("M", MonitorState.NO_ALARM),
    ]
    assert report.alarms[0].reference == ""


def test_a_day_without_the_reference_or_a_named_group_is_no_error():
    named = QUESTION | {
        "reference": {"sex": "M"},
        "sensitive": [{"column": "sex", "values": ["F", "X"]}],
    }
    counts = {name: fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "X": {"tp": 4, "fn": 6},
                                         "M": {"tp": 80, "fn": 120}})
              for name in day_names(6)}  # fmt: skip
    counts["2026-01-03"] = fg.confusion("sex", {"F": {"tp": 1, "fn": 1}})
    counts["2026-01-04"] = fg.confusion("sex", {"M": {"tp": 1, "fn": 1}})
    # cubes of counts carry their own question, which names no set of values
    spec = named | {"sensitive": "sex", "monitor": {"rules": [RATIO]}}
    report = fg.monitor(counts, spec)
    points = report.comparisons[0].points
    assert [(p.n_group, p.n_reference) for p in points[1:5]] == [
        (100, 200), (2, 0), (0, 0), (100, 200),
    ]  # fmt: skip
    assert points[2].value is None
    assert report.comparisons[0].state is MonitorState.NO_ALARM


def test_a_group_that_comes_later_takes_from_what_is_kept_for_it():
    counts = {name: cube(40) for name in day_names(4)}
    later = {name: fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "M": {"tp": 80, "fn": 120},
                                        "X": {"tp": 4, "fn": 6}})
             for name in day_names(8)[4:]}  # fmt: skip
    rule = {"metric": "selection_rate.ratio", "at_least": 0.8}
    before, after = (fg.monitor(c, asked(rule)) for c in (counts, counts | later))
    assert [(each.group, each.reference) for each in before.comparisons] == [("F", "M")]
    assert after.comparisons[0].threshold == before.comparisons[0].threshold
    assert after.late_groups == (("sex", "X", "2026-01-05"),)
    assert sum(each.alpha for each in after.comparisons) <= 0.05
    assert "X (sex, from 2026-01-05)" in str(after)


@pytest.mark.parametrize("arrivals", [[0], [0] * 40, [-1, 0, 0, 3, 9, 9], list(range(50))])
def test_alpha_is_never_overspent(arrivals):
    shares = divide_alpha(0.05, arrivals)
    assert shares.sum() <= 0.05 + 1e-12
    assert (shares > 0).all()
    for size in range(1, len(arrivals)):
        wave = [a for a in arrivals if max(a, 0) <= max(arrivals[size - 1], 0)]
        assert divide_alpha(0.05, wave).tolist() == shares[: len(wave)].tolist()


def test_the_promise_holds_for_the_start_that_is_asked(shifted):
    report = fg.monitor(shifted, asked(RATIO, start="2026-01-27"))
    assert report.periods[0] == "2026-01-27"
    assert report.alarms[0].alarm.before is None
    assert alarm_statements(report)[0].was is None


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
    report = fg.monitor(counts, asked(recall, RATIO, labels="later"))
    assert report.waiting == ("2026-01-03", "2026-01-04", "2026-01-05")
    entered = [[p.evidence is not None for p in each.points] for each in report.comparisons]
    assert entered == [[True, True, False, False, False], [True] * 5]
    assert "3 periods wait for labels, from 2026-01-03" in str(report)
    assert "1 lacks some and 2 wait for their turn" in str(report)
    assert "labels_within" in str(report)
    now = fg.monitor(counts, asked(recall, RATIO))
    assert now.waiting == ()


@pytest.mark.parametrize(("within", "waiting"), [(1, 1), (2, 1), (3, 3), (100, 3)])
def test_a_label_that_never_comes_holds_up_no_more_periods_than_asked(within, waiting):
    import pandas as pd

    def day(unlabelled):
        rows = pd.DataFrame(
            {
                "sex": ["F"] * 50 + ["M"] * 50,
                "label": [1.0, 1.0, 0.0, 0.0] * 25,
                "prediction": [1, 0] * 50,
            }
        )
        rows.loc[: unlabelled - 1, "label"] = None
        return fg.count(rows, **QUESTION)

    names = day_names(5)
    counts = {name: day(9 if i in (2, 4) else 0) for i, name in enumerate(names)}
    rules = (
        {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"},
        {"metric": "balanced_accuracy.difference", "between": [-0.1, 0.1], "groups": "F"},
    )
    report = fg.monitor(counts, asked(*rules, labels="later", labels_within=within))
    assert report.unlabelled == (names[2], names[4])
    assert report.waiting == tuple(names[5 - waiting :])
    by_counts, _ = report.comparisons
    assert sum(p.evidence is not None for p in by_counts.points) == 5 - waiting
    later = "1 later day" if within == 1 else f"{within} later days"
    decided = f"Decided without all labels, which {later} did not bring: {names[2]}."
    assert (decided in " ".join(str(report).split())) == (waiting == 1)
    # the rows with a label are counted, and only these
    assert by_counts.points[2].n_group == 21


def test_a_period_is_decided_the_same_way_however_it_came_to_enter(shifted):
    """All labels are there: then when a period may enter without them changes nothing."""
    recall = {"metric": "true_positive_rate.ratio", "at_least": 0.8, "groups": "F"}
    waits = fg.monitor(shifted, asked(recall, labels="later"))
    within = fg.monitor(shifted, asked(recall, labels="later", labels_within=1))
    assert waits.comparisons == within.comparisons


def test_absent_periods_are_reported(shifted):
    counts = {name: c for name, c in shifted.items() if name not in ("2026-01-05", "2026-01-06")}
    report = fg.monitor(counts, asked(RATIO))
    assert report.absent == ("2026-01-05", "2026-01-06")
    assert "Periods without counts: 2026-01-05 and 2026-01-06." in str(report)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (QUESTION, "monitor: has no rule"),
        (asked(), "monitor: has no rule"),
        (asked(RATIO, alpha=2), "monitor.alpha: must be a number between 0 and 1, not 2"),
        (asked(RATIO, horizn=9), "monitor.horizn: unknown key. Did you mean 'horizon'?"),
        (asked({"metric": "selection_rate.ratio"}), r"monitor.rules\[0\]: has no limit"),
        (asked({"metric": "slection_rate.ratio", "at_least": 1}), "Did you mean 'selection_rate"),
        (asked(RATIO | {"features": "race"}), "'race' is not a sensitive feature"),
        (asked({"metric": "DI", "within": 0.1}), r"monitor.rules\[0\].of: is missing"),
        (asked(RATIO) | {"reference": "best"}, "the best group is chosen by the outcomes"),
        (asked(RATIO, start="2026-13"), "monitor.start: '2026-13' is no period"),
        (asked(RATIO, labels="soon"), "monitor.labels: 'soon' is not allowed"),
        (asked("f1 >= 0.5"), "the f1 of groups cannot be monitored, because it is no share"),
        (asked("accuracy >= 0.5") | {"weight": "w"}, "because its rows have weights"),
        (asked("fairgauge.catalogue.own:rate >= 1"), "is of type function, not a metric"),
        (
            asked(RATIO)
            | {
                "reference": "largest",
                "sensitive": ["sex", "race"],
                "intersections": ["sex", "race"],
            },
            "the largest group of an intersection may be another one",
        ),
        (asked(7), r"monitor.rules\[0\]: must be a rule, not 7"),
        (
            asked(RATIO | {"within": 0.1, "of": "day.cube.json"}),
            r"monitor.rules\[0\].at_least: a rule has limits, or a baseline, not both",
        ),
        (
            asked(RATIO) | {"positive": {"ordered": ["low", "high"]}},
            "positive: is ordered levels, and a monitor follows one selection",
        ),
        (
            {"label": "label", "score": "score", "positive": 1, "sensitive": "sex"}
            | {"threshold": "median", "monitor": {"rules": [RATIO]}},
            "threshold: the median of every period is another threshold; give a number",
        ),
        (
            {"label": "label", "score": "score", "positive": 1, "sensitive": "sex"}
            | {"threshold": [0.3, 0.5], "monitor": {"rules": [RATIO]}},
            "threshold: a monitor takes one threshold; monitor each alone",
        ),
        (asked("DI > 0.8"), "cannot read"),
        (QUESTION | {"rules": ["f1 >= 0.5"]}, r"rules\[0\].metric: the f1 of groups"),
        (QUESTION | {"monitor": 5}, "monitor: must be a table"),
    ],
)
def test_mistakes_in_what_is_asked(spec, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.monitor({"2026-01-01": cube(40)}, spec)


def test_counts_at_hand_are_of_periods_of_one_length_and_of_one_question():
    with pytest.raises(fg.DataError, match="the periods are of different lengths"):
        fg.monitor({"2026-01-01": cube(40), "2026-W02": cube(40)}, asked(RATIO))
    other = fg.confusion("gender", {"F": {"tp": 1, "fn": 2}, "M": {"tp": 2, "fn": 2}})
    with pytest.raises(
        fg.CubeError, match=r"2026-01-02 and those of 2026-01-01 .* different quest"
    ):
        fg.monitor({"2026-01-01": cube(40), "2026-01-02": other}, asked(RATIO))
    with pytest.raises(fg.CubeError, match=r"different questions: .*\(the specification first\)"):
        fg.monitor({"2026-01-01": other}, asked(RATIO))


def test_a_rule_of_some_features_follows_these_alone():
    import pandas as pd

    rows = [(s, r, i % 2, (i + len(s)) % 2) for s in ("F", "Man") for r in "AB" for i in range(20)]
    table = pd.DataFrame(rows, columns=["sex", "race", "label", "prediction"])
    question = QUESTION | {"sensitive": ["sex", "race"]}
    days = dict.fromkeys(day_names(3), fg.count(table, **question))
    for metric in ("selection_rate.difference", "balanced_accuracy.difference"):
        rule = {"metric": metric, "at_least": -0.1, "features": ["race"]}
        found = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
        assert {each.feature for each in found.comparisons} == {"race"}, metric
        grouped = fg.monitor(days, question | {"monitor": {"rules": [rule | {"groups": ["A"]}]}})
        assert [each.group for each in grouped.comparisons] == ["A"], metric


def test_missing_values_stop_a_monitor_that_takes_them_for_errors():
    import pandas as pd

    rows = pd.DataFrame({"sex": ["F", "M", None] * 20, "label": [0, 1] * 30,
                         "prediction": [1, 0] * 30})  # fmt: skip
    days = {"2026-01-01": fg.count(rows, **QUESTION)}
    asking = asked(RATIO)
    assert fg.monitor(days, asking).periods == ("2026-01-01",)
    with pytest.raises(fg.DataError, match="missing"):
        fg.monitor(days, asking | {"missing": "error"})


def test_a_metric_of_ones_own_has_evidence_like_any_rate(shifted):
    recall = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"}
    report = fg.monitor(shifted, asked(recall, recall | {"metric": OWN.compared("difference")}))
    assert evidence(report, 0) == evidence(report, 1)
    assert [str(each.detector) for each in report.comparisons] == ["e-detector"] * 2
    assert "mine difference" in str(report)
    own = fg.quotient("odds", over=fg.FN, under=fg.TP).compared("difference")
    (each,) = fg.monitor(shifted, asked({"metric": own, "at_most": 9.0, "groups": "F"})).comparisons
    assert str(each.detector) == "asymptotic e-detector"


def test_a_history_keeps_cells_as_data_and_functions_by_their_import_path(
    shifted, tmp_path, monkeypatch
):
    (tmp_path / "kept_metrics.py").write_text(
        "import fairgauge as fg\nmissed = fg.rate('missed', of=fg.FN, among=fg.TP + fg.FN)\n"
        "def missing(tp, fp, fn, tn):\n    return fn / (tp + fn)\n"
        "share = fg.statistic(missing, nonzero=fg.TP + fg.FN, range=(0, 1))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import_module("kept_metrics")
    rules = ["kept_metrics:missed <= 0.7",
             {"metric": "kept_metrics:missed.ratio", "at_most": 1.25, "groups": "F"}]  # fmt: skip
    history = fg.History(tmp_path / "history")
    for name, counts in list(shifted.items())[:3]:
        history.add(name, counts)
    spec = read_monitor_spec(asked(*rules))
    history.keep_spec(spec)
    monkeypatch.delitem(sys.modules, "kept_metrics")
    assert replace(fg.monitor(history), created="") == replace(
        fg.monitor(history, spec), created=""
    )
    import_module("kept_metrics")
    history.keep_spec(read_monitor_spec(asked("kept_metrics:share.difference <= 0.7")))
    assert fg.monitor(history).comparisons[0].metric == "missing.difference"
    monkeypatch.delitem(sys.modules, "kept_metrics")
    with pytest.raises(fg.FairgaugeError, match=r"'kept_metrics:share' is code.*--allow-code"):
        fg.monitor(history)
    assert "kept_metrics" not in sys.modules
    own = fg.statistic(lambda tp, fp, fn, tn: fn / (fn + tp), name="m", nonzero=fg.TP + fg.FN)
    with pytest.raises(fg.SpecError, match="which a history does not keep"):
        history.keep_spec(
            read_monitor_spec(asked({"metric": own.compared("difference"), "at_most": 1}))
        )


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


def three_classes(day):
    """Return rows of three classes; from the 10th day on women are hardly ever given C."""
    import pandas as pd

    rng = np.random.default_rng(day)
    sex = rng.choice(["F", "M"], 400)
    label = rng.choice(["A", "B", "C"], 400)
    right = rng.random(400) < 0.7
    predicted = np.where(right, label, rng.choice(["A", "B", "C"], 400))
    late = (sex == "F") & (predicted == "C") & (rng.random(400) < 0.7) & (day >= 10)
    return pd.DataFrame({"sex": sex, "label": label, "prediction": np.where(late, "A", predicted)})


@pytest.fixture(scope="module")
def classes():
    question = {"label": "label", "prediction": "prediction", "sensitive": "sex"}
    names = day_names(16)
    return question, {n: fg.count(three_classes(i), **question) for i, n in enumerate(names)}


def test_the_classes_of_one_class_against_others_are_a_binary_monitor(classes):
    """What a class comes to is what a monitor of two outcomes does, but for its share of alpha."""
    import pandas as pd

    question, counts = classes
    rule = {"metric": "true_positive_rate.difference", "between": [-0.05, 0.05], "groups": "F"}
    several = fg.monitor(counts, question | {"monitor": {"rules": [rule]}})
    binary = {}
    for i, name in enumerate(counts):
        rows = three_classes(i)
        yes = {c: (rows[c] == "B").astype(int) for c in ("label", "prediction")}
        binary[name] = fg.count(pd.DataFrame({"sex": rows["sex"], **yes}), **question, positive=1)
    two = fg.monitor(binary, question | {"positive": 1, "monitor": {"rules": [rule]}})
    assert evidence(several, 1) == pytest.approx(evidence(two))


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


def test_rules_of_the_audit_are_monitored_where_the_monitor_has_none(shifted):
    plain = QUESTION | {"rules": ["selection_rate.ratio >= 0.8"], "monitor": {"alpha": 0.1}}
    report = fg.monitor(shifted, plain)
    assert [each.rule for each in report.comparisons] == ["selection_rate.ratio >= 0.8"]


def test_other_metrics_have_asymptotic_evidence():
    """A metric without an exact e-value has one from the intervals of its periods."""

    def day(i):
        women = {"tp": 40 - (30 if i > 5 else 0), "fn": 60, "fp": 20, "tn": 80}
        return fg.confusion("sex", {"F": women, "M": {"tp": 400, "fn": 600, "fp": 200, "tn": 800}})

    counts = {name: day(i) for i, name in enumerate(day_names(10))}
    rule = {"metric": "balanced_accuracy.difference", "at_least": -0.01, "groups": "F"}
    (each,) = fg.monitor(counts, asked(rule, horizon=10, alpha=0.2)).comparisons
    assert str(each.detector) == "asymptotic e-detector"
    assert each.threshold == pytest.approx(10 / each.alpha)
    assert each.evidence > each.threshold
    assert (each.alarm.since, each.alarm.period) == ("2026-01-07", "2026-01-07")
    assert each.alarm.before.value == pytest.approx(0.0)
    assert each.alarm.after.value < -0.1
    report = fg.monitor(counts, asked(rule, horizon=10, alpha=0.2))
    assert "this is approximate" in " ".join(str(report).split())


def test_weighted_rows_are_not_taken_for_counts():
    import pandas as pd

    rows = pd.DataFrame({"sex": ["F", "M"] * 100, "label": [1] * 200,
                         "prediction": [1, 0, 1, 1] * 50, "w": [0.5, 2.0] * 100})  # fmt: skip
    question = QUESTION | {"weight": "w"}
    counts = {"2026-01-01": fg.count(rows, **question)}
    report = fg.monitor(counts, question | {"monitor": {"rules": [RATIO]}})
    assert [str(each.detector) for each in report.comparisons] == ["asymptotic e-detector"]


def test_metrics_that_intervals_decide_wait_for_labels_too():
    import pandas as pd

    def day(unlabelled, good):
        rows = pd.DataFrame(
            {
                "sex": ["F"] * 200 + ["M"] * 200,
                "label": [1.0, 0.0] * 200,
                "prediction": [1, 0] * 100 + ([1, 0] * 100 if good else [0, 1] * 100),
            }
        )
        rows.loc[: unlabelled - 1, "label"] = None
        return fg.count(rows, **QUESTION)

    counts = {name: day(min(i, 1), i == 0) for i, name in enumerate(day_names(3))}
    rule = {"metric": "balanced_accuracy.difference", "between": [-0.3, 0.3], "groups": "F"}
    later = fg.monitor(counts, asked(rule, labels="later"))
    assert (later.alarms, later.waiting) == ((), ("2026-01-02", "2026-01-03"))
    assert fg.monitor(counts, asked(rule)).alarms[0].alarm.since == "2026-01-02"


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "intervals"])
def test_a_class_that_comes_later_is_no_group_that_does(weighted):
    """The note named the groups, and a day without the class said that the group had no rows."""
    import pandas as pd

    question = {"label": "label", "prediction": "prediction", "sensitive": "sex"}
    question |= {"reference": {"sex": "M"}} | ({"weight": "weight"} if weighted else {})
    weeks = {}
    for i, name in enumerate(day_names(10)):
        rows = pd.DataFrame(
            [(sex, label, label, 1) for sex in "FM" for label in "ABC" for _ in range(40 + i)],
            columns=["sex", "label", "prediction", "weight"],
        )
        rows.loc[rows.index % (6 + (rows["sex"] == "F")) == 0, "prediction"] = "A"
        if i == 2:
            rows.loc[rows.index % 5 == 0, "prediction"] = "D"
        weeks[name] = fg.count(rows, **question)
    rule = {"metric": "accuracy.difference", "between": [-0.5, 0.5]}
    counts = {name: weeks[name] for name in day_names(5)}
    report = fg.monitor(counts, question | {"monitor": {"rules": [rule]}})
    assert (report.late_groups, report.late_classes) == ((), (("sex", "D", "2026-01-03"),))
    (late,) = [each for each in report.comparisons if each.class_ == "D"]
    assert {each.reason.code.value for each in late.undefined} == {"no_row_of_class"}
    text = " ".join(str(report).split())
    assert "because no row is of the class" in text
    assert "Not in the first period: class D of sex, from 2026-01-03." in text
    assert "has no rows" not in text
    assert (str(late.state), str(report.state)) == ("undefined", "undefined")
    report = fg.monitor(weeks, question | {"monitor": {"rules": [rule]}})
    (late,) = [each for each in report.comparisons if each.class_ == "D"]
    assert (str(late.state), late.was_in) == ("no alarm", ("2026-01-03",))
    assert report.exit_code == 0


@pytest.mark.parametrize("metric", ["base_rate", "f1"])
@pytest.mark.parametrize("counted", [False, True], ids=["rows", "cases"])
def test_a_group_comes_with_its_first_rows_also_after_a_period_without_a_positive_label(
    metric, counted
):
    """Such a period is held against the values of all, and had the groups of all later ones."""
    import pandas as pd

    question = QUESTION | ({"count": "n"} if counted else {})
    days = {}
    for i, name in enumerate(day_names(4)):
        sex = ["F", "M"] * 20 + ["X"] * (20 if i > 1 or counted else 0)
        rows = pd.DataFrame({"sex": sex, "label": 0, "prediction": 1, "n": 1})
        rows.loc[rows["sex"] == "X", "n"] = int(i > 1)
        rows.loc[: 20 * (i > 0), "label"] = int(i > 0)
        days[name] = fg.count(rows, **question)
    rule = {"metric": f"{metric}.difference", "between": [-0.2, 0.2]}
    report = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
    assert report.late_groups == (("sex", "X", "2026-01-03"),)
    (late,) = [each for each in report.comparisons if each.group == "X"]
    assert [point.n_reference for point in late.points[:2]] == [0, 0]


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.largest_gap"])
def test_people_of_periods_with_other_groups_are_monitored(metric):
    """Their counts were refused as counts of people that do not add up, and every run ended so."""
    import pandas as pd

    rng = np.random.default_rng(2)
    question = {"prediction": "p", "positive": 1, "sensitive": "sex", "person": "id"}
    days = {}
    for i, name in enumerate(day_names(14)):
        sex = rng.choice(["F", "M", "X"] if i % 3 else ["F", "M"], 300)
        chosen = rng.random(300) < np.where((sex == "F") & (i > 5), 0.05, 0.5)
        rows = pd.DataFrame({"sex": sex, "p": chosen.astype(int), "id": np.arange(300)})
        days[name] = fg.count(pd.concat([rows, rows[:100]]), **question)
    rule = {"metric": metric, "between": [-0.2, 0.2]}
    report = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
    assert report.alarms
    assert {each.rows for each in report.rows} == {300}
    text = " ".join(str(report).split())
    assert "4,200 people of 14 days" in text
    assert "of people with sex “all groups”" not in text
