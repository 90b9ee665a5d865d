"""Periods without a value are undefined with a reason; another coding is no quiet day."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.checks.feed import FeedPeriod, FeedRows
from fairgauge.enums import Outcome
from fairgauge.errors import ValuesError
from fairgauge.monitoring._comparisons import lacks_values
from fairgauge.render import render
from fairgauge.render.grammar import describe_reason
from fairgauge.results.monitor_results import MonitorState, Point

MEN = {"M": {"tp": 80, "fn": 120}}
WOMEN = {"F": {"tp": 40, "fn": 60}}
CASES = {
    "nobody is selected": (cube(0, others=0), "selection rate is 0 on both sides"),
    "no group": (fg.confusion("sex", MEN), "the group has no rows"),
    "no reference": (fg.confusion("sex", WOMEN), "the reference has no rows"),
}


def shown_as(report, kind: str) -> str:
    return " ".join(render(report, kind).split())


@pytest.mark.parametrize(("last", "why"), CASES.values(), ids=list(CASES))
def test_the_last_period_is_undefined_with_its_reason(last, why):
    name = day_names(4)[-1]
    counts = days(3, 9, 0.4) | {name: last}
    spec = asked(RATIO) | {"reference": {"sex": "M"}}
    report = fg.monitor(counts, spec)
    (each,) = report.comparisons
    assert (each.state, report.verdict) == (MonitorState.UNDEFINED, Outcome.INCONCLUSIVE)
    assert (each.undefined, each.points[-1].value) == (each.points[-1:], None)
    assert f"undefined since {name}, because {why}" in each.says
    for kind in ("text", "markdown", "html"):
        text = shown_as(report, kind)
        assert "UNDEFINED: 1 comparison" in text
        assert f"undefined since {name}" in text
    gauges = render(report, "openmetrics")
    assert "fairgauge_metric" not in gauges
    assert "fairgauge_ci_low" not in gauges
    assert 'rule="selection_rate.ratio >= 0.8"} 1.0' in gauges.partition("fairgauge_undefined{")[2]
    point = report.to_dict()["comparisons"][0]["points"][-1]
    assert (point["value"], point["waits"]) == (None, False)
    assert describe_reason(report.comparisons[0].points[-1].reason).startswith(why)


F, M, MISSPELT = {"tp": 40, "fn": 60}, {"tp": 80, "fn": 120}, {"tp": 20, "fn": 27}
EVERY = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}


def history(present: str, group: dict[str, int], named: str = "X") -> dict[str, fg.Cube]:
    """Return days, none like another, that have one more group where an x stands."""
    return {
        name: fg.confusion("sex", {
            "F": F, "M": {"tp": 80 + i, "fn": 120}, **({named: group} if day == "x" else {}),
        })
        for i, (name, day) in enumerate(zip(day_names(len(present)), present, strict=True))
    }  # fmt: skip


@pytest.mark.parametrize(
    ("present", "why"),
    [
        ("xx..........", "it was there from the first day on"),
        (".xxxxxxx........", "a week makes it one that is expected"),
        ("..x....x....", "it is not gone for a week"),
    ],
)
def test_a_group_that_is_expected_is_waited_for(present, why):
    report = fg.monitor(history(present, MISSPELT), asked(EVERY))
    assert (report.state, report.exit_code) == (MonitorState.UNDEFINED, 3), why


def followed(*counts: fg.Cube, at: str | None = None):
    """Return what days, one after the other, come to."""
    spec = asked(RATIO) | {"reference": {"sex": "M"}}
    return fg.monitor(dict(zip(day_names(len(counts)), counts, strict=True)), spec, at=at)


def test_a_small_group_may_be_absent_for_as_long_as_it_has_few_rows():
    """Of five rows a day, twenty are missing after four days; fewer may be sampling variation."""
    few = [cube(2, of=5, others=80 + i) for i in range(10)]
    none = [fg.confusion("sex", {"M": {"tp": 90 + i, "fn": 120}}) for i in range(5)]
    for absent in range(1, 6):
        report = followed(*few, *none[:absent])
        (each,) = report.comparisons
        undecided = absent >= 4
        assert (each.state is MonitorState.UNDEFINED) == undecided
        assert report.verdict is (Outcome.INCONCLUSIVE if undecided else Outcome.PASS)
        assert "undefined since " in each.says
        assert len(each.undefined) == absent
    both = "undefined now, BUT NO PASS: rows may be wrong"
    assert both in str(followed(*few, none[0], at=day_names(12)[-1]))
    (each,) = followed(*few, *none, few[0]).comparisons
    assert (each.state, each.undefined) == (MonitorState.NO_ALARM, ())


@given(
    before=st.lists(st.integers(0, 60), max_size=6),
    after=st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=6),
    fewest=st.integers(1, 40),
)
def test_more_periods_without_a_value_never_decide(before, after, fewest):
    """Once undecided, a comparison stays so until a period has a value."""
    points = [point(f"b{i}", n, 0.5 if n else None) for i, n in enumerate(before)]
    feed = [period(i, n + 100) for i, n in enumerate([*before, *(n for _, n in after)])]
    lacked = lacks_values(points, feed[: len(points)], fewest, two_sided=True)
    for i, (has_value, n) in enumerate(after):
        points.append(point(f"a{i}", n, 0.5 if has_value and n else None))
        lacks = lacks_values(points, feed[: len(points)], fewest, two_sided=True)
        if points[-1].value is not None:
            assert not lacks
        else:
            assert lacks or not lacked
        lacked = lacks


@pytest.mark.parametrize(
    ("at_weekends", "last", "lacks"),
    [
        (2, 60, False),  # two rows of a quiet day are absent by sampling variation
        (2, 900, True),  # as many as on a working day are not
        (0, 900, False),  # a group that has none at weekends
    ],
)
def test_a_group_is_expected_to_have_its_share_of_the_rows_of_a_day(at_weekends, last, lacks):
    """A group of 3% was waited for on weekends of 60 rows, as if these had those of all days."""
    of_week = [(27, 900)] * 5 + [(at_weekends, 60)] * 2
    week = [point(f"{i}", n, 0.5 if n else None) for i, (n, _) in enumerate(of_week)]
    feed = [period(t, n) for t, n in enumerate([*[n for _, n in of_week * 3][:19], last])]
    points = [*week * 2, *week[:5], point("last", 0, None)]
    assert lacks_values(points, feed, 20, two_sided=False) is lacks


def period(day: int, rows: int) -> FeedPeriod:
    """Return a day of so many rows."""
    held = FeedRows([], rows, rows, True, {}, {}, {}, {}, 1, np.array([]), False, {}, {}, {})
    return FeedPeriod(str(day), held, 0, day % 7)


def point(period: str, rows: int, value: float | None) -> Point:
    """Return a period of a comparison with a larger reference."""
    return Point(
        period=period, value=value, low=None, high=None, rate_group=None, rate_reference=None,
        n_group=rows, n_reference=100, evidence=None, sparse=False,
    )  # fmt: skip


def day(label, prediction, sex=("F", "M"), question=QUESTION):
    """Return the counts of one day, whose rows take the values of label and prediction in turn."""
    rows = [(s, y, p) for s in sex for y in label for p in prediction for _ in range(10)]
    return fg.count(pd.DataFrame(rows, columns=["sex", "label", "prediction"]), **question)


GOOD = day([0, 1], [0, 1])
OTHERWISE = {
    "predictions": day([0, 1], ["no", "yes"]),
    "labels and predictions": day(["no", "yes"], ["no", "yes"]),
    "one value": day([0, 1], ["yes"]),
    "labels missing": day([None], ["no", "yes"]),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("coded", OTHERWISE.values(), ids=list(OTHERWISE))
def test_another_coding_is_an_error_in_any_period(coded, place):
    days = [GOOD, GOOD, GOOD]
    days[place] = coded
    with pytest.raises(ValuesError, match=f"{day_names(3)[place]}.*'yes'"):
        fg.monitor(dict(zip(day_names(3), days, strict=True)), asked(RATIO))


BOTH = day([0, 1, "no", "yes"], [0, 1, "no", "yes"])
WORDS = OTHERWISE["labels and predictions"]


@pytest.mark.parametrize(
    ("days", "bad"),
    [
        ([GOOD, GOOD, BOTH, GOOD], [2]),
        ([BOTH, GOOD, GOOD, GOOD], [0]),
        ([GOOD, BOTH, GOOD, BOTH], [1, 3]),
        ([WORDS, WORDS, GOOD, GOOD], [0, 1]),
        ([GOOD, GOOD, WORDS, WORDS], [2, 3]),
        ([WORDS, WORDS, WORDS, GOOD], [0, 1, 2]),
        ([GOOD, BOTH, WORDS, GOOD], [1, 2]),
        ([day([None], [None]), WORDS, GOOD, GOOD], [1]),
    ],
)
def test_outcomes_that_are_written_in_two_ways_are_named_and_repaired_in_any_order(days, bad):
    """Of rows in words among others no day was named, and each correction was refused."""
    names = day_names(len(days))
    for at in bad:
        with pytest.raises(ValuesError, match="'label' holds 'no', 'yes'") as error:
            fg.monitor(dict(zip(names, days, strict=True)), asked(RATIO))
        left = [names[i] for i in bad if days[i] is not GOOD]
        stated = (
            f"period {left[0]}: " if len(left) == 1 else f"periods {', '.join(map(repr, left))}"
        )
        assert str(error.value).startswith(f"the {stated}")
        assert "column 'prediction' holds 'no', 'yes'" in str(error.value)
        assert not {*error.value.periods} - {*left}
        days = [GOOD if i == at else each for i, each in enumerate(days)]
    assert fg.monitor(dict(zip(names, days, strict=True)), asked(RATIO)).periods == tuple(names)


@pytest.mark.parametrize("days", [
    [GOOD, day([0, 1], [0])],
    [day([0], [0]), GOOD, day([1], [1])],
    [GOOD, day(["0", "1"], ["0", "1"]), day([False, True], [False, True])],
    [GOOD, day([None], [0, 1])],
], ids=["none is selected", "one value first", "other types", "no labels"])  # fmt: skip
def test_the_same_values_are_no_other_coding(days):
    report = fg.monitor(dict(zip(day_names(len(days)), days, strict=True)), asked(RATIO))
    assert "one_decision:prediction" not in {each.other for each in report.findings}


def shifted_days(kinds: list[str]) -> dict[str, fg.Cube]:
    """Return days on which few women are selected later; decisions are of each type in turn."""
    draw, question = np.random.default_rng(0), QUESTION | {"strata": "branch"}
    days = {}
    for i, name in enumerate(day_names(14)):
        rows = pd.DataFrame(
            {"sex": draw.choice(["F", "M"], 300), "branch": draw.choice([*"ab"], 300)}
        )
        chance = np.where((rows.sex == "F") & (i > 5), 0.1, 0.5)
        decided = pd.Series((draw.random(300) < chance).astype(int)).astype(kinds[i % len(kinds)])
        label = pd.Series(draw.integers(0, 2, 300)).astype(kinds[(i + 1) % len(kinds)])
        days[name] = fg.count(rows.assign(prediction=decided, label=label), **question)
    return days


@pytest.mark.parametrize(
    "kinds", [["int", "bool"], ["str", "bool"], ["float", "str", "bool", "int"]], ids="-".join
)
def test_an_outcome_is_the_same_however_each_period_writes_it(kinds):
    """Beside periods of 1, those of True made an alarm the error that "1" is ambiguous."""
    spec = asked({"metric": "selection_rate.difference", "between": [-0.05, 0.05]})
    spec |= {"strata": "branch"}
    expected, found = (fg.monitor(shifted_days(each), spec) for each in (["int"], kinds))
    assert expected.alarms
    assert found.comparisons == expected.comparisons
