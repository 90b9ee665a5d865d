"""What is wrong with a feed is found on its day, and leaves nothing green."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import asked, cube, day_names

import fairgauge as fg
from fairgauge.enums import Observation, Outcome
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem
from fairgauge.stats.departures import find_departures

ASKED: dict[str, Any] = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": ["sex", "region"],
}  # fmt: skip
RULES = [
    {"metric": "selection_rate.difference", "between": [-0.4, 0.4]},
    {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]},
]
DAYS, BAD = 24, 20
NAMES = day_names(DAYS)
Spoil = Callable[[pd.DataFrame], pd.DataFrame]


def rows_of(day: int, seed: int = 0) -> pd.DataFrame:
    """Return the rows of a day: a third at weekends, with a weekly course of missing regions."""
    rng = np.random.default_rng([seed, day])
    working = (day + 3) % 7 < 5  # the first of January 2026 is a Thursday
    size = int(rng.poisson((900 if working else 300) * rng.lognormal(0, 0.04)))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    rows["region"] = rng.choice(["North", "South", "West"], size, p=[0.5, 0.4, 0.1])
    rows["label"] = rng.integers(0, 2, size).astype(float)
    rows["score"] = rng.beta(2, 2, size).round(3)
    right = rng.random(size) < 0.8
    rows["prediction"] = np.where(right, rows["label"], 1 - rows["label"])
    rows["site"] = rng.integers(0, 60, size).astype(str)
    rows["w"] = 1.0 + rng.random(size)
    rows.loc[rng.random(size) < (0.05 if working else 0.12), "region"] = None
    return rows


def monitored(
    spoil: Spoil | None = None, at: int = BAD, days: int = BAD + 1, rules: Any = RULES, **more: Any
) -> fg.MonitorReport:
    """Return what a monitor states of days, of which one is spoilt, or those before ``until``."""
    question, until = ASKED | more.pop("question", {}), more.pop("until", at + 1)
    counts = {}
    for day in range(days):
        rows = rows_of(day)
        wrong = spoil and at <= day < until
        counts[NAMES[day]] = fg.count(spoil(rows) if spoil and wrong else rows, **question)
    return fg.monitor(counts, question | {"monitor": {"rules": rules, **more}})


def lacking(column: str, share: float, query: str = "sex != ''") -> Spoil:
    """Return what removes values of a column from a share of the rows of a query."""

    def spoil(rows: pd.DataFrame) -> pd.DataFrame:
        found = rows.query(query).sample(frac=share, random_state=1).index
        return rows.assign(**{column: rows[column].mask(rows.index.isin(found))})

    return spoil


def other(column: str, value: str, becomes: str) -> Spoil:
    return lambda rows: rows.assign(**{column: rows[column].replace(value, becomes)})


def without(query: str) -> Spoil:
    return lambda rows: rows.drop(rows.query(query).index)


def new_region(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(region=rows.region.where(rows.index % 9 > 0, "East"))


NORTH = "region == 'North'"
FAULTS: dict[str, tuple[HistoryProblem, Spoil, str | None, str | None]] = {
    "rows twice": (HistoryProblem.DOUBLED_ROWS, lambda r: pd.concat([r, r]), None, None),
    "another day": (HistoryProblem.SAME_COUNTS, lambda _: rows_of(BAD - 1), None, None),
    "half of the rows": (HistoryProblem.VOLUME, lambda r: r[: len(r) // 2], None, None),
    "few of a group": (
        HistoryProblem.VOLUME, without(f"{NORTH} and index % 2 == 0"), "region", "North",
    ),
    "a group gone": (HistoryProblem.VANISHED_VALUE, without("region == 'West'"), "region", "West"),
    "a new group": (HistoryProblem.NEW_VALUE, new_region, "region", "East"),
    "another spelling": (
        HistoryProblem.SAME_NAMES, other("region", "West", "west "), "region", "west ",
    ),
    "no group": (HistoryProblem.MISSING_VALUES, lacking("region", 0.4), "region", None),
    "no prediction": (
        HistoryProblem.MISSING_VALUES, lacking("prediction", 0.3), "prediction", None,
    ),
    "no label of a group": (
        HistoryProblem.MISSING_VALUES, lacking("label", 0.8, NORTH), "label", None,
    ),
    "the label as prediction": (
        HistoryProblem.COPIED_LABEL, lambda r: r.assign(prediction=r.label), "prediction", None,
    ),
    "the label as prediction of a group": (
        HistoryProblem.COPIED_LABEL,
        lambda r: r.assign(prediction=r.prediction.where(r.region != "North", r.label)),
        "region", "North",
    ),
    "most labels as predictions": (
        HistoryProblem.COPIED_LABEL,
        lambda r: r.assign(prediction=r.prediction.where(r.index % 10 < 2, r.label)),
        "prediction", None,
    ),
    "exchanged labels": (
        HistoryProblem.COPIED_LABEL, lambda r: r.assign(label=1 - r.label), "prediction", None,
    ),
    "half of the refusals of a group": (
        HistoryProblem.VOLUME, without(f"{NORTH} and prediction == 0 and index % 2"),
        "region", "North",
    ),
    "a group all approved": (
        HistoryProblem.VANISHED_VALUE,
        lambda r: r.assign(prediction=r.prediction.mask(r.region == "North", 1.0)),
        "region", "North",
    ),
    "most labels filled": (
        HistoryProblem.VOLUME, lambda r: r.assign(label=r.label.mask(r.index % 10 < 7, 0.0)),
        "label", "1",
    ),
    "one label in a group": (
        HistoryProblem.VANISHED_VALUE, lambda r: r.assign(label=r.label.mask(r.sex == "F", 0.0)),
        "sex", "F",
    ),
    "one outcome": (
        HistoryProblem.VANISHED_VALUE, lambda r: r.assign(prediction=1.0), "prediction", "0",
    ),
}  # fmt: skip


def named(report: fg.MonitorReport, problem: HistoryProblem) -> list[HistoryFinding]:
    return [each for each in report.findings if each.problem is problem]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_on_its_day_and_leaves_no_pass(fault: str) -> None:
    problem, spoil, *meant = FAULTS[fault]
    report = monitored(spoil)
    assert meant in [[e.feature or e.column, e.group or e.value] for e in named(report, problem)]
    assert {(each.period, each.last) for each in report.findings} == {(NAMES[BAD], NAMES[BAD])}
    assert report.verdict is Outcome.INCONCLUSIVE
    assert report.exit_code == 3
    assert all(each in report.faults for each in report.findings)
    assert "nothing passes until they are corrected" in " ".join(str(report).split())


HALF = {"half a spelling": lambda r: r.assign(sex=r.sex.where(r.index % 2 == 0, r.sex.str.lower()))}


@pytest.mark.parametrize("fault", [*FAULTS, *HALF])
def test_a_fault_is_closed_by_the_codes_that_its_findings_name(fault: str) -> None:
    spoil = HALF[fault] if fault in HALF else FAULTS[fault][1]
    found = monitored(spoil).findings
    assert len({(each.problem, each.subject) for each in found}) == len(found)
    assert HistoryProblem.DOUBTED_VALUE not in {each.problem for each in found}
    codes = [code for each in found for code in re.findall(r'accept = \["(.+?)"\]', each.says)]
    assert monitored(spoil, question={"accept": codes}).findings == ()


@pytest.mark.parametrize("fault", ["a new group", "half of the refusals of a group"])
def test_a_fault_that_stays_leaves_no_pass_until_it_is_accepted(fault: str) -> None:
    """After a week both were green, and so they were once they had passed."""
    problem, spoil = FAULTS[fault][:2]
    assert monitored(spoil, 8, 22, until=22).verdict is Outcome.INCONCLUSIVE
    found = monitored(spoil, 8, 24, until=17)
    assert problem in {each.problem for each in found.faults if each.last < NAMES[20]}
    code = str(problem).replace(" ", "_")
    accepted = monitored(spoil, 8, 22, until=22, question={"accept": [code]})
    assert accepted.verdict is Outcome.PASS


def test_a_new_value_that_may_be_none_is_stated_once_and_closed_by_one_code() -> None:
    spoil = other("region", "West", "Unknown")
    found = monitored(spoil, until=BAD + 1).findings
    assert [e.problem for e in found if e.problem is not HistoryProblem.VANISHED_VALUE] == [
        HistoryProblem.DOUBTED_VALUE
    ]
    accept = ["missing_marker:region", "vanished_value:region"]
    assert monitored(spoil, question={"accept": accept}).findings == ()
    found = monitored(
        lambda r: r.assign(region=r.region.mask(r.index % 4 < 1, "Unknown")), 8, 17, until=16
    )  # and not missed on the day without it
    assert [e.problem for e in found.findings] == [HistoryProblem.DOUBTED_VALUE]


@pytest.mark.parametrize("fault", ["rows twice", "a group all approved"])
def test_a_fault_takes_no_alarm_back(fault: str) -> None:
    rules = [{"metric": "selection_rate", "at_least": 0.9}]
    assert monitored(FAULTS[fault][1], rules=rules).exit_code == 1


@pytest.mark.parametrize("column", ["label", "prediction"])
@pytest.mark.parametrize(("first", "last"), [(7, 7), (0, 4)])
def test_days_with_exchanged_values_are_found(column: str, first: int, last: int) -> None:
    """They were found only where not one prediction equalled the label."""
    report = monitored(lambda r: r.assign(**{column: 1 - r[column]}), first, 10, until=last + 1)
    found = named(report, HistoryProblem.COPIED_LABEL)
    assert [(each.period, each.last) for each in found] == [(NAMES[first], NAMES[last])]


def test_classes_that_are_shifted_are_found() -> None:
    rng = np.random.default_rng(1)
    question = {"label": "label", "prediction": "prediction", "sensitive": "sex"}
    counts, names = {}, np.array(["low", "mid", "top"])
    for t, name in enumerate(NAMES[:8]):
        label = rng.integers(0, 3, 300)
        given = np.where(rng.random(300) < 0.7, label, rng.integers(0, 3, 300))
        given = (given + (t == 6)) % 3
        rows = {"sex": rng.choice(["F", "M"], 300), "label": names[label]}
        counts[name] = fg.count(rows | {"prediction": names[given]}, **question)
    rule = {"metric": "accuracy.difference", "between": [-0.5, 0.5]}
    report = fg.monitor(counts, question | {"monitor": {"rules": [rule]}})
    assert [(e.problem, e.period) for e in report.findings] == [("copied label", NAMES[6])]


@pytest.mark.parametrize("accepted", ["vanished_value", "vanished value:prediction"])
def test_what_departs_is_closed_by_its_code(accepted: str) -> None:
    spoil, first = FAULTS["a group all approved"][1], BAD - 5
    question = {"accept": accepted}
    report = monitored(spoil, at=first, days=first + 1, question=question)
    assert (report.findings, report.exit_code) == ((), 0)
    question = {"accept": "vanished_value:label"}
    assert monitored(spoil, at=first, days=first + 1, question=question).exit_code == 3


@pytest.mark.parametrize(("length", "step"), [(3, 1), (1, 1), (2, 7)])
def test_absent_days_are_a_gap(length: int, step: int) -> None:
    absent = {10 + step * i for i in range(length)}
    counts = {n: fg.count(rows_of(i), **ASKED) for i, n in enumerate(NAMES) if i not in absent}
    spec = ASKED | {"monitor": {"rules": RULES}}
    report = fg.monitor(counts, spec)
    found = named(report, HistoryProblem.GAP)
    assert sum(each.rows or 0 for each in found) == length
    stopped = dict([*counts.items()][:10])  # a feed that stopped is no pass on the day after
    assert [fg.monitor(stopped, spec, at=NAMES[i]).exit_code for i in (9, 10)] == [0, 3]
    after = dict([*counts.items()][:14])  # four days later
    assert fg.monitor(after, spec).exit_code == (3 if length > 2 else 0)
    assert fg.monitor(after, spec | {"accept": f"gap:{NAMES[10]}"}).exit_code == 0
    health = fg.monitor_doctor(counts, ASKED | {"monitor": {"rules": RULES}})
    assert (health.exit_code, health.findings) == (1, report.findings)


def test_weekdays_that_are_never_open_and_larger_hours_of_even_counts_are_no_finding() -> None:
    spec = ASKED | {"monitor": {"rules": RULES}}
    opened = {n: fg.count(rows_of(i), **ASKED) for i, n in enumerate(NAMES[:21]) if i % 7 < 3}
    assert named(fg.monitor(opened, spec), HistoryProblem.GAP) == []
    hours = {f"2026-01-01T{hour:02}Z": cube(37 + hour, others=85 - hour) for hour in range(10)}
    hours["2026-01-01T10Z"] = cube(82, 200, 160, 400)
    assert fg.monitor(hours, asked(RULES[0])).findings == ()


@pytest.mark.parametrize("seed", range(4))
def test_a_sound_feed_has_no_finding(seed: int) -> None:
    counts = {n: fg.count(rows_of(i, seed + 1), **ASKED) for i, n in enumerate(day_names(45))}
    report = fg.monitor(counts, ASKED | {"monitor": {"rules": RULES}})
    assert (report.findings, report.exit_code) == ((), 0)


@pytest.mark.parametrize("apart", ["2025-01-01", "2025-12-30", "2026-02-10"])
def test_a_misdated_day_leaves_no_pass_until_it_is_accepted(apart: str) -> None:
    counts = {n: fg.count(rows_of(i), **ASKED) for i, n in enumerate(day_names(60))}
    counts = {n: each for n, each in counts.items() if not "2026-02-06" <= n <= "2026-02-14"}
    question = ASKED | {"monitor": {"rules": RULES}}
    misdated = counts | {apart: fg.count(rows_of(99), **ASKED)}
    codes = [fg.monitor(each, question).exit_code for each in (counts, misdated)]
    accepted = fg.monitor(misdated, question | {"accept": f"gap:{apart}"})
    assert (codes, accepted.exit_code) == ([0, 3], 0)


@pytest.mark.parametrize("vary", [0.0, 0.25])
def test_a_group_that_loses_half_of_its_rows_is_found_unless_days_vary_so(vary: float) -> None:
    """It is 18% of the rows, and falls by 8 pp."""
    rng = np.random.default_rng(0)
    sizes = rng.poisson(2500, 45)
    odds = 0.22 * np.exp(rng.normal(0, vary, 45))
    rows = rng.binomial(sizes, odds / (1 + odds))
    lost = rows[-1] - rows[-1] // 2
    rows[-1], sizes[-1] = rows[-1] - lost, sizes[-1] - lost
    found = find_departures([0] * 45, rows.tolist(), sizes.tolist(), lost=True)
    assert [*found] == ([44] if not vary else [])


SCORED = {"label": "label", "score": "score", "threshold": 0.5, "positive": 1, "sensitive": "sex"}


def test_one_score_in_a_group_is_found_on_its_day() -> None:
    rules = [{"metric": "auc.difference", "between": [-0.5, 0.5]}]
    counts = {}
    for day, name in enumerate(NAMES[:10]):
        rows = rows_of(day)
        constant = (rows.sex == "F") & (day == 9)
        counts[name] = fg.count(rows.assign(score=rows.score.mask(constant, 0.4)), **SCORED)
    report = fg.monitor(counts, SCORED | {"monitor": {"rules": rules}})
    (found,) = named(report, HistoryProblem.OTHER_SCORES)
    assert (found.group, found.period, report.exit_code) == ("F", NAMES[9], 3)


@pytest.mark.parametrize(("times", "found"), [(1.0, []), (0.5, ["other scores"])])
def test_halved_scores_are_found_on_their_day(times: float, found: list[str]) -> None:
    question = SCORED | {"threshold": 0.4}
    counts = {}
    for day, name in enumerate(NAMES[:12]):
        rows = rows_of(day)
        score = rows.score * (times if day == 11 else 1.0)
        counts[name] = fg.count(rows.assign(score=score.round(3)), **question)
    report = fg.monitor(counts, question | {"monitor": {"rules": RULES[:1]}})
    assert [str(each.problem) for each in report.findings] == found
    assert all("on one side of the median" in each.says for each in report.findings)


@pytest.mark.parametrize("group", [None, "F"])
def test_scores_that_are_filled_in_are_found_from_their_day_on(group: str | None) -> None:
    counts = {}
    for day, name in enumerate(NAMES):
        rows = rows_of(day)
        lacks = (rows.index % 100 < 15 + 3 * bool(group)) & (rows.sex != ("M" if group else ""))
        score = rows.score.mask(lacks & (day >= 17), 0.0)
        counts[name] = fg.count(rows.assign(score=score), **SCORED)
    report = fg.monitor(counts, SCORED | {"monitor": {"rules": RULES[:1]}})
    (found,) = report.findings
    stated = found.group, found.value, found.period, found.last
    assert stated == (group, "0", NAMES[17], NAMES[-1])
    assert (report.exit_code, "as if missing scores were filled in" in found.says) == (3, True)


FROM_THE_FIRST: dict[str, tuple[Spoil, str]] = {
    "reversed": (
        lambda r: r.assign(prediction=1 - r.prediction), "reversed_predictions:prediction",
    ),
    "the label": (lambda r: r.assign(prediction=r.label), "prediction_is_label:prediction"),
    "one decision": (lambda r: r.assign(prediction=1.0), "one_decision:prediction"),
    "one label of women": (
        lambda r: r.assign(label=r.label.mask(r.sex == "F", 1.0)), "group_of_one_outcome:sex",
    ),
    "no group": (lambda r: r.assign(sex=r.sex.mask(r.index % 9 < 1, "N/A")), "missing_marker:sex"),
    "a reversed score": (
        lambda r: r.assign(score=(1 - r.label + r.score) / 2), "reversed_scores:score",
    ),
    "the label as score": (lambda r: r.assign(score=r.label), "prediction_is_label:score"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", FROM_THE_FIRST)
def test_what_is_wrong_from_the_first_day_on_is_doubted_as_in_an_audit(wrong: str) -> None:
    """Days that are compared with each other alone passed: what is so in all of them is usual."""
    (spoil, code), score = FROM_THE_FIRST[wrong], "score" in wrong
    asked = (SCORED if score else ASKED) | {"sensitive": "sex"}
    counts = {name: fg.count(spoil(rows_of(i)), **asked) for i, name in enumerate(NAMES[:7])}
    rate = {"metric": f"{'auc' if score else 'accuracy'}.difference", "between": [-0.9, 0.9]}
    question = asked | {"monitor": {"rules": [rate, *RULES[: 1 - score]]}}
    found = fg.monitor(counts, question)
    assert [(e.problem, e.other) for e in found.findings] == [("doubted value", code)]
    audited = fg.audit(fg.count(pd.concat([spoil(rows_of(i)) for i in range(7)]), **asked))
    assert [f"{each.code}:{each.column}" for each in audited.doubts] == [code]
    accepted = fg.monitor(counts, question | {"accept": code})
    assert (found.exit_code, accepted.exit_code) == (3, 0)
    for shown, is_accepted in ((found, False), (accepted, True)):
        (doubt,) = type(shown).from_dict(shown.to_dict()).doubts
        assert (f"{doubt.code}:{doubt.column}", doubt.accepted) == (code, is_accepted)


def test_a_small_group_that_vanished_is_found_as_the_report_of_a_run_states_it() -> None:
    """Its rows are too few for their absence to be no chance, and the comparison has no value."""
    groups = {"F": {"tp": 20, "fn": 17}, "M": {"tp": 65, "fn": 5}}
    days = {}
    for day in range(1, 31):
        small = {"X": {"tp": 11 - day % 3, "fn": 1 + day % 2}} if day < 29 else {}
        days[f"2026-11-{day:02d}"] = fg.confusion("sex", groups | small)
    asked = {**ASKED, "positive": 1, "sensitive": "sex", "accept": ["same_counts", "doubled_rows"]}
    asked |= {"monitor": {"rules": ["selection_rate.ratio >= 0.1"]}}
    assert [e.group for e in fg.monitor(days, asked).undefined] == ["X"]
    (found,) = fg.monitor_doctor(days, asked).findings
    assert (found.problem, found.value, found.period, found.last) == (
        "vanished value", "X", "2026-11-29", "2026-11-30"
    )  # fmt: skip
    asked["accept"].append("vanished_value:sex")
    assert not fg.monitor_doctor(days, asked).findings


def test_a_misspelling_of_one_day_is_not_missed_on_the_next() -> None:
    groups = {"F": {"tp": 20, "fn": 17}, "M": {"tp": 65, "fn": 5}}
    days = {f"2026-11-{day:02d}": fg.confusion("sex", groups) for day in range(1, 31)}
    days["2026-11-28"] = fg.confusion("sex", groups | {"f": {"tp": 40, "fn": 14}})
    asked = {**ASKED, "positive": 1, "sensitive": "sex", "accept": ["same_counts", "doubled_rows"]}
    asked |= {"monitor": {"rules": ["selection_rate.ratio >= 0.1"]}}
    found = fg.monitor_doctor(days, asked).findings
    assert [(e.problem, e.period, e.value) for e in found] == [("same names", "2026-11-28", "f")]


def outcomes_of(rng: np.random.Generator, days: int, fallen: float = 0.0) -> dict[str, fg.Cube]:
    """Return counts of groups of 20 to 2,000 rows and any rates, which drift; one may fall."""
    groups = int(rng.integers(3, 11))
    sizes = np.exp(rng.uniform(np.log(20), np.log(2000), groups))
    sizes[0], weekend = 600.0, rng.choice([0.3, 1.0])
    rates = rng.uniform(0.02, 0.95, (3, groups))
    rates[1:, 0] = 0.5
    logits, counts = np.log(rates / (1 - rates)), {}
    for day, name in enumerate(day_names(days)):
        logits += rng.normal(0, 0.03, logits.shape)
        base, first, second = 1 / (1 + np.exp(-logits))
        first[0] -= fallen * (day >= days - 10)
        second[0] -= fallen * (day >= days - 10)
        rows = rng.poisson(
            sizes * (weekend if (day + 3) % 7 >= 5 else 1.0) * rng.lognormal(0, 0.04)
        )
        labels = rng.binomial(rows, base)
        tp = rng.binomial(labels, np.maximum(first, second))
        fp = rng.binomial(rows - labels, np.minimum(first, second))
        cells = zip(tp, labels - tp, fp, rows - labels - fp, strict=True)
        held = {
            f"g{i}": dict(zip(("tp", "fn", "fp", "tn"), map(int, of), strict=True))
            for i, of in enumerate(cells) if sum(of)
        }  # fmt: skip
        counts[name] = fg.confusion("sex", held)
    return counts


def test_feeds_whose_rates_drift_have_no_finding() -> None:
    """Of 1,000 such feeds, none has any (docs/reference/monitoring.md)."""
    rules = [{"metric": "selection_rate.difference", "between": [-0.99, 0.99]}]
    spec = ASKED | {"sensitive": "sex", "monitor": {"rules": rules}}
    for seed in range(8):
        report = fg.monitor(outcomes_of(np.random.default_rng(seed), 45), spec)
        assert (seed, report.findings) == (seed, ())


def test_a_rate_that_falls_is_an_alarm_and_no_doubt() -> None:
    """The rows of a group stay as many, of which 20 pp fewer are approved."""
    rules = [{"metric": "selection_rate", "at_least": 0.4, "groups": "g0"}]
    spec = ASKED | {"sensitive": "sex", "monitor": {"rules": rules}}
    for seed in range(3):
        report = fg.monitor(outcomes_of(np.random.default_rng(seed), 24, 0.2), spec)
        assert (report.exit_code, report.findings) == (1, ())


AMOUNTS = {"label": "label", "prediction": "prediction", "sensitive": "sex", "task": "regression"}


def amounts_of(day: int) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    rows = pd.DataFrame({"sex": np.repeat(["M", "F"], [rng.poisson(600), rng.poisson(150)])})
    rows["label"] = rng.gamma(4, 10, len(rows)).round(2) + 1
    return rows.assign(prediction=(rows.label * rng.lognormal(0, 0.2, len(rows))).round(2))


AMISS: dict[str, tuple[str, Spoil]] = {
    "": ("", lambda r: r),
    "as a week before": ("same counts", lambda _: amounts_of(BAD - 7)),
    "copied": ("copied label", lambda r: r.assign(label=r.prediction)),
    "copied F": (
        "copied label", lambda r: r.assign(label=r.label.mask(r.sex == "F", r.prediction)),
    ),
    "constant": ("one value", lambda r: r.assign(prediction=41.0)),
    "constant F": ("one value", lambda r: r.assign(label=r.label.where(r.sex > "F", 41.0))),
    "cents": ("other scores", lambda r: r.assign(prediction=100 * r.prediction)),
    "hours of F": ("other scores", lambda r: r.assign(label=r.label / (1 + 59 * (r.sex == "F")))),
}  # fmt: skip


@pytest.mark.parametrize("fault", AMISS)
def test_amounts_of_a_day_that_are_amiss_are_found_and_leave_no_pass(fault: str) -> None:
    problem, spoil = AMISS[fault]
    days = [spoil(amounts_of(i)) if i == BAD else amounts_of(i) for i in range(BAD + 1)]
    counts = {name: fg.count(rows, **AMOUNTS) for name, rows in zip(NAMES, days, strict=False)}
    rules = [{"metric": "mean_error.difference", "between": [-99, 99]}]
    report = fg.monitor(counts, AMOUNTS | {"monitor": {"rules": rules}})
    found = [(str(e.problem), e.period, e.group) for e in report.findings]
    assert found == [(problem, NAMES[BAD], "F" if "F" in fault else None)] * bool(fault)
    assert report.exit_code == (3 if fault else 0)


def _as_hours(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(label=rows.label / np.where(rows.sex == "F", 60, 1))


def _without_channel(rows: pd.DataFrame) -> pd.DataFrame:
    lost = (rows.sex == "F") & (rows.prediction == 0) & (rows.index % 5 < 3)
    return rows.assign(web=np.where(lost, "n/a", "yes"))


@pytest.mark.parametrize(
    ("day", "asked", "most", "why"),
    [
        (lambda i: _as_hours(amounts_of(i)), AMOUNTS, 99, "unlike_amounts:sex"),
        (lambda i: _without_channel(rows_of(i)),
         ASKED | {"sensitive": "sex", "where": ["web = yes"]}, 0.99, "value of web"),
    ],
)  # fmt: skip
def test_what_only_measures_of_an_audit_doubt_leaves_no_pass(day, asked, most, why) -> None:
    counts = {name: fg.count(day(i), **asked) for i, name in enumerate(NAMES[:7])}
    metric = "mean_error.difference" if most > 1 else "selection_rate.difference"
    rule = {"metric": metric, "between": [-most, most]}
    report = fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})
    stated = [e.other for e in report.findings] or [e.open.get("what") for e in report.comparisons]
    assert (report.exit_code, stated) == (3, [why])


def test_an_identifier_of_no_one_that_comes_later_is_doubted_by_all_its_rows() -> None:
    asked = {"prediction": "prediction", "positive": 1, "sensitive": "sex", "person": "who"}
    rule, counts = {"metric": "selection_rate.difference", "between": [-0.9, 0.9]}, {}
    for i, name in enumerate(NAMES[:7]):
        rows = rows_of(i)
        who = np.where((rows.index % 10 < 3) & (i > 0), "N/A", [f"p{i}-{n}" for n in rows.index])
        counts[name] = fg.count(rows.assign(who=who), **asked)
    (found,) = fg.monitor(counts, asked | {"monitor": {"rules": [rule]}}).findings
    every = sum(e.rows for of in counts.values() for e in of.seen(Observation.PLACEHOLDER))
    assert (found.other, found.doubt.get("rows")) == ("placeholder_identifier:who", every)


# ---- A doubled day of the first days is not green, whatever gaps are before it
QUESTION = {"prediction": "p", "positive": 1, "sensitive": "g"}
RULE = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
ASKED_DOUBLED = QUESTION | {"monitor": {"rules": [RULE]}}


def rows(day: int, rate: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    g = rng.choice(["F", "M", "X"], int(rng.normal(600, 15)))
    return pd.DataFrame({"g": g, "p": (rng.random(len(g)) < np.where(g == "F", rate, 0.5)) * 1})


def doubled(part: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([part, part])


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("of", [3, 4])
def test_a_doubled_day_is_found_with_two_others_that_are_alike(first, of):
    """Six cells whose rows are all even are one day that came twice, also on the third day."""
    days = [f"2026-03-{day:02d}" for day in range(2, 2 + of)]  # from Monday on
    parts = {day: rows(i) for i, day in enumerate(days)}
    whole = {day: fg.count(each, **QUESTION) for day, each in parts.items()}
    assert fg.monitor(whole, ASKED_DOUBLED).exit_code == 0
    twice = whole | {days[first]: fg.count(doubled(parts[days[first]]), **QUESTION)}
    report = fg.monitor(twice, ASKED_DOUBLED)
    assert (report.exit_code, [each.period for each in report.faults]) == (3, [days[first]])


@pytest.mark.each_value
@pytest.mark.parametrize("weekday", range(7))
@pytest.mark.parametrize("gap", [0, 1, 3, 7, 20])
def test_no_earlier_gap_makes_a_run_greener(weekday, gap):
    """After a gap a Saturday may be the first: a day that came twice on it ended in "no alarm"."""
    first = dt.date(2026, 6, 1 + weekday)  # 1 June is a Monday
    rng = np.random.default_rng(weekday)

    def day(women: int, times: int = 1) -> fg.Cube:
        g = np.repeat(["F", "M"], [women, 200])
        part = pd.DataFrame({"g": g, "p": (rng.random(len(g)) < 0.5) * 1})
        return fg.count(pd.concat([part] * times), **QUESTION)

    def ends(*last: fg.Cube) -> list[int]:
        names = [*range(4), *range(4 + gap, 5 + gap + len(last))]
        days = [*(day(200) for _ in range(5)), *last]
        dates = [str(first + dt.timedelta(n)) for n in names]
        shown = dict(zip(dates, days, strict=True))
        return [
            fg.monitor(dict([*shown.items()][:n]), ASKED_DOUBLED).exit_code
            for n in range(6, 1 + len(days))
        ]

    assert ends(day(0), day(200, 2)) == [3, 3]
    assert ends(day(200, 2)) == [3]
    assert ends(day(0), day(0), day(0)) == [3, 3, 3]


@pytest.mark.parametrize("came", [0, 10], ids=["there from the first day", "new on day 10"])
def test_a_group_that_lost_many_days_is_not_green_when_it_comes_back(came):
    """Twenty rows a day are not seen for four days of 28; one such day of many is stated."""
    days = [part.drop(part[part.g == "F"].index[20:]) for part in map(rows, range(28))]
    lost = {day: part[part.g != "F"] for day, part in enumerate(days)}

    def run(*absent: int) -> fg.MonitorReport:
        without = {*range(came), *absent}
        parts = [lost[day] if day in without else part for day, part in enumerate(days)]
        cubes = {f"2026-03-{i + 1:02d}": fg.count(p, **QUESTION) for i, p in enumerate(parts)}
        return fg.monitor(cubes, ASKED_DOUBLED)

    assert (run().exit_code, run(19).exit_code) == (0, 0)
    report = run(18, 19, 20, 21)
    assert report.exit_code == 3
    assert {each.value for each in report.faults} == {"F"}


def test_labels_that_were_copies_for_many_days_leave_no_pass():
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
    rule = {"metric": "true_positive_rate.difference", "between": [-0.3, 0.3]}
    rng = np.random.default_rng(3)
    days = [rows(i).assign(y=lambda t: t.p ^ (rng.random(len(t)) < 0.2)) for i in range(28)]

    def run(copied: int) -> int:
        parts = [t.assign(y=t.p) if 8 <= i < 8 + copied else t for i, t in enumerate(days)]
        cubes = {f"2026-03-{i + 1:02d}": fg.count(p, **asked) for i, p in enumerate(parts)}
        return fg.monitor(cubes, asked | {"monitor": {"rules": [rule]}}).exit_code

    assert [run(copied) for copied in (0, 1, 8)] == [0, 0, 3]


def test_the_first_page_begins_with_a_shift_that_lasts():
    """A group's alarm that came first, and has passed, had hidden a worse one that goes on."""
    rng = np.random.default_rng(0)

    def day(n: int) -> fg.Cube:
        rates = {"M": 0.5, "F": 0.15 if 5 < n < 16 else 0.5, "X": 0.1 if n > 12 else 0.5}
        some = {g: int(rng.binomial(200, rate)) for g, rate in rates.items()}
        return fg.confusion("g", {g: {"tp": x, "fn": 200 - x} for g, x in some.items()})

    asked = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "g"}
    rule = {"metric": "selection_rate.ratio", "at_least": 0.7, "groups": ["F", "X"]}
    asked |= {"reference": {"g": "M"}, "monitor": {"rules": [rule]}}
    report = fg.monitor({f"2026-03-{n + 1:02d}": day(n) for n in range(28)}, asked)
    assert [each.group for each in report.alarms] == ["X", "F"]
