"""Swapping two groups mirrors decompositions, comparisons and monitors, and nothing else.

Invariant 2 of the architecture for the verbs beside `audit` (`test_mirror.py`): a difference
changes its sign and a ratio is inverted, with their limits; p-values and verdicts stay.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_every_verb import DAYS
from test_invariants import close, real
from tests.monitored_days import day_names
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights

METRICS = [
    f"{rate}.{by}"
    for rate in ("selection_rate", "true_positive_rate")
    for by in ("difference", "ratio")
]
Found = tuple[Any, bool, list[Any], list[Any]]
"""What it is, whether a ratio, its value with limits, and what a swap leaves as it is."""


@cache
def rows(seed: int = 0, n: int = 900) -> pl.DataFrame:
    """Return women and men in three strata, two models' decisions about them, and days."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.4, 0.6])
    stratum = rng.choice(["s", "t", "u"], n, p=[0.5, 0.3, 0.2])
    label = (rng.random(n) < np.where(stratum == "s", 0.6, 0.4)).astype(int)
    noise = rng.random(n) < np.where(sex == "F", 0.35, 0.2)
    return pl.DataFrame(
        {
            "sex": sex, "stratum": stratum, "label": label,
            "prediction": np.where(noise, 1 - label, label),
            "candidate": np.where(rng.random(n) < 0.2, 1 - label, label),
            "w": rng.integers(1, 9, n) / 4.0, "person": rng.integers(0, n // 3, n),
            "day": np.arange(n) % DAYS,
        }
    )  # fmt: skip


def question(reference: str, **more: Any) -> dict[str, Any]:
    return {
        "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex",
        "reference": {"sex": reference}, **more,
    }  # fmt: skip


def limits_of(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return a number of a row with its limits."""
    interval = row.get("interval", row) or {}
    return [row[name], interval.get("low"), interval.get("high")]


def of_gaps(reference: str, design: Mapping[str, Any]) -> Iterator[Found]:
    """Yield gaps, their parts, strata, levels and regressions."""
    more = {"strata": "stratum", "metrics": METRICS, "margins": {"selection_rate": 0.1}}
    found = fg.why(rows(), **question(reference, **more, **design)).to_dict()["gaps"]
    for gap in found:
        metric, ratio = gap["estimate"]["metric"], gap["estimate"]["metric"].endswith("ratio")
        kept = [gap["verdict"], gap["reason"], gap["estimate"]["p_value"], gap["heterogeneity"]]
        yield metric, ratio, limits_of(gap["estimate"], "value"), kept
        swapped = {"group": "reference", "reference": "group"} if reference == "F" else {}
        for part in gap["parts"]:
            weights = swapped.get(part["weights"], part["weights"])
            what = (metric, part["part"], weights)
            yield what, ratio, limits_of(part, "value"), [part["status"], part["reason"]]
        for each in gap["strata"]:
            kept = [each["p_value"], each["p_adjusted"], each["outlying"]]
            what = (metric, each["stratum"]["stratum"])
            yield what, False, limits_of(each, "difference"), kept
        if each := gap["adjusted"]:
            yield (metric, "regression"), False, limits_of(each, "value"), [each["p_value"]]


def of_changes(found: list[dict[str, Any]]) -> Iterator[Found]:
    names = ("change_p_value", "change_p_adjusted", "p_value", "p_adjusted", "distance",
             "direction", "significant", "crossed", "other_side", "changed", "outcome", "margin",
             "reason")  # fmt: skip
    for row in found:
        same = [row[name] for name in names]
        yield row["metric"], row["by"] == "ratio", limits_of(row, "change"), same


def of_reports(reference: str, design: Mapping[str, Any]) -> Iterator[Found]:
    """Yield changes between the reports on two months."""
    asked = question(reference, metrics=METRICS, **design)
    found = fg.compare(fg.audit(rows(1, 800), **asked), fg.audit(rows(), **asked))
    return of_changes(found.to_dict()["candidates"][0]["disparities"])


def of_models(reference: str, design: Mapping[str, Any]) -> Iterator[Found]:
    """Yield changes between two models of the same rows."""
    asked = question(reference, metrics=METRICS, candidate="candidate", **design)
    margins = {"disparity": 0.05, "accuracy": 0.02}
    (found,) = fg.compare_models(rows(), **asked, margins=margins).to_dict()["candidates"]
    yield from of_changes(found["disparities"])
    yield "verdict", False, [None] * 3, [found[x] for x in ("verdict", "fairness", "performance")]


DIFFERENCE = "-0.1 <= selection_rate.difference <= 0.1"
RATIO = "0.8 <= true_positive_rate.ratio <= 1.25"


def of_monitor(
    reference: str, design: Mapping[str, Any], rule: str = DIFFERENCE
) -> Iterator[Found]:
    """Yield periods of a monitor whose limits mirror each other."""
    asked = question(reference, **design)
    data = rows(0, 3_000).with_columns(
        prediction=pl.when(pl.col("day") < 3).then("label").otherwise("prediction")
    )
    counts = {
        f"2026-01-{day + 1:02}": fg.count(data.filter(pl.col("day") == day), **asked)
        for day in range(DAYS)
    }
    found = fg.monitor(counts, asked | {"monitor": {"rules": [rule]}}).to_dict()["comparisons"]
    for row in found:
        ratio = row["metric"].endswith("ratio")
        kept = [row[name] for name in ("state", "alpha", "threshold", "detector")]
        yield row["metric"], ratio, [None] * 3, kept
        for point in row["points"]:
            kept = [point[name] for name in ("evidence", "sparse", "waits")]
            what = (row["metric"], point["period"])
            yield what, ratio, limits_of(point, "value"), kept
            running = [point[f"running{end}"] for end in ("", "_low", "_high")]
            yield (*what, "running"), ratio, running, []


def of_monitored_ratio(reference: str, design: Mapping[str, Any]) -> Iterator[Found]:
    return of_monitor(reference, design, RATIO)


def mirrored(ratio: bool, numbers: list[Any]) -> list[Any]:
    """Return a contrast with its limits as it is from the other side."""
    value, low, high = (x if x is None else real(x) for x in numbers)

    def other(x: float | None) -> float | None:
        if x is None:
            return None
        if not ratio:
            return -x
        return 1 / x if x else float("inf")

    return [other(value), other(high), other(low)]


VERBS: dict[str, tuple[Callable[[str, Mapping[str, Any]], Iterator[Found]], tuple[str, ...]]] = {
    "why": (of_gaps, ("default", "weights")),
    "compare": (of_reports, ("default", "weights", "clusters", "bayes")),
    "compare_models": (of_models, ("default", "weights", "clusters")),
    "monitor": (of_monitor, ("default",)),
    "monitor of a ratio": (of_monitored_ratio, ("default",)),
}  # fmt: skip
DESIGNS: dict[str, dict[str, Any]] = {
    "default": {}, "weights": {"weight": "w"}, "clusters": {"cluster": "person"},
    "bayes": {"method": "bayes"},
}  # fmt: skip


CASES = [(verb, design) for verb, (_, designs) in VERBS.items() for design in designs]


@pytest.mark.parametrize(("verb", "design"), CASES)
def test_swapping_group_and_reference_mirrors(verb: str, design: str) -> None:
    answers = VERBS[verb][0]
    one, other = (
        {str(what): rest for what, *rest in answers(reference, DESIGNS[design])}
        for reference in ("M", "F")
    )
    assert one.keys() == other.keys()
    assert sum(numbers[1] is not None for _, numbers, _ in one.values()) >= 4
    problems = [
        (what, numbers, other[what][1], kept, other[what][2])
        for what, (ratio, numbers, kept) in one.items()
        if not close(
            mirrored(ratio, numbers), [x if x is None else real(x) for x in other[what][1]]
        )
        or not close(kept, other[what][2])
    ]
    assert not problems, f"{len(problems)} of {len(one)}, such as {problems[:2]}"


# ---- what holds of every decomposition, through `fg.why` itself: sums, order, swapped sides
A, B = ["a1", "a2"], ["b1", "b2", "b3"]
CELLS = [(side, a, b) for side in "dr" for a in A for b in B]
NUMBERS = st.tuples(st.integers(0, 30), st.integers(0, 30))


@st.composite
def tables(draw):
    """Return counts of two sides by two columns, with rows of both on both sides."""
    counts = draw(st.lists(NUMBERS, min_size=len(CELLS), max_size=len(CELLS)))
    rows = [(*cell, y, n) for cell, of in zip(CELLS, counts, strict=True)
            for y, n in enumerate(of)]  # fmt: skip
    rows += [(side, A[0], B[0], y, 1) for side in "dr" for y in (0, 1)]
    table = pl.DataFrame(rows, schema=["side", "a", "b", "y", "n"], orient="row")
    return table.filter(pl.col("n") > 0)


def why(data, **options):
    asked = {"label": "y", "positive": 1, "count": "n", "sensitive": "side",
             "reference": {"side": "r"}, "strata": ["a", "b"]}  # fmt: skip
    return fg.why(data, **asked | options)


@given(tables())
def test_parts_of_a_difference_add_up_and_those_of_a_ratio_multiply(data):
    gap, ratio = why(data, metrics=["base_rate.difference", "base_rate.ratio"]).gaps
    whole = [gap.part(kind).value for kind in GapPartKind]
    assert sum(whole) == pytest.approx(gap.estimate.value, abs=1e-12)
    composition, within = gap.part("composition").value, gap.part("within").value
    sides = StratumWeights.GROUP, StratumWeights.REFERENCE
    both = [gap.part("within", weights).value for weights in sides]
    assert within == pytest.approx(sum(both) / 2, abs=1e-12)
    for name, part in (("composition", composition), ("within", within)):
        of_strata = [getattr(each, name) or 0 for each in gap.strata]
        assert sum(of_strata) == pytest.approx(part, abs=1e-12)
    factors = [ratio.part(kind).value for kind in GapPartKind]
    if all(factors):  # of rates that are 0 some have none
        product = factors[0] * factors[1] * factors[2]
        assert product == pytest.approx(ratio.estimate.value, rel=1e-12)


@given(tables(), st.integers(1, 3))
def test_one_stratum_and_equal_compositions_have_no_composition(data, times):
    for column in ("a", "b"):
        one = data.with_columns(pl.lit("same").alias(column))
        (gap,) = why(one, strata=column).gaps
        assert gap.part("composition").value == pytest.approx(0, abs=1e-15)
    alike = data.filter(side="d").group_by("a", "b", maintain_order=True).agg(n=pl.col("n").sum())
    alike = pl.concat([
        data.filter(side="d"),
        *(alike.with_columns(side=pl.lit("r"), y=pl.lit(y, pl.Int64),
                             n=share * pl.col("n"))
            .select(data.columns)
          for y, share in ((0, times), (1, 1))),
    ])  # fmt: skip
    (gap,) = why(alike).gaps
    assert gap.part("composition").value == pytest.approx(0, abs=1e-12)
    assert gap.part("within").value == pytest.approx(gap.estimate.value, abs=1e-12)


# ---- histories that mean the same come to the same: values, intervals, evidence, states, findings
Days = list[pd.DataFrame]
Asked = dict[str, Any]
NAMES = day_names(9)
RULES = [
    {"metric": "selection_rate.difference", "between": [-0.1, 0.1]},
    {"metric": "true_positive_rate.ratio", "at_least": 0.8},
    {"metric": "f1.difference", "between": [-0.3, 0.3]},
]
QUESTION = {"label": "y", "prediction": "p", "positive": 1, "sensitive": ["sex", "branch"]}


def history(seed: int) -> Days:
    """Return days of which some lack a group, a positive label or most of their rows."""
    rng, found = np.random.default_rng(seed), []
    for day in range(len(NAMES)):
        size = 3 if day == 4 else int(rng.integers(60, 160))
        rows = pd.DataFrame({
            "sex": rng.choice(["F", "M", "X"] if day not in (1, 6) else ["F", "M"], size),
            "branch": rng.choice(["A", "B"], size),
            "p": rng.integers(0, 2, size),
            "y": rng.integers(0, 2, size) if day != 3 else 0,
            "cases": rng.integers(0 if size > 3 else 1, 4, size),
            "age": rng.integers(20, 60, size),
        })  # fmt: skip
        rows.loc[(rows["sex"] == "F") & (rng.random(size) < (day > 4) * 0.8), "p"] = 0
        rows["sex"] = rows["sex"].mask(rng.random(size) < 0.05)
        found.append(rows)
    return found


def cubes(days: Days, asked: Asked) -> dict[str, fg.Cube]:
    return {name: fg.count(rows, **asked) for name, rows in zip(NAMES, days, strict=True)}


def comes_to(counts: Any, asked: Asked, rules: list[Any] = RULES) -> dict[str, Any]:
    """Return what a monitor comes to, without what differs between any two runs."""
    report = fg.monitor(counts, asked | {"monitor": {"rules": rules, "horizon": 60}})
    return {
        "exit code": report.exit_code,
        "rows": [each.rows for each in report.rows],
        "findings": [(each.problem, each.period, each.value) for each in report.findings],
        "comparisons": {
            (each.metric, each.feature, each.group): (
                each.state, each.alpha, each.says.replace(" cases ", " rows "), each.reference,
                [(p.value, p.low, p.high, p.evidence, p.n_reference) for p in each.points],
            )
            for each in report.comparisons
        },
    }  # fmt: skip


def each_day(change: Callable[[pd.DataFrame], pd.DataFrame], **more: Any) -> Any:
    """Return an equivalence of days that are changed one by one, and of a question."""
    return lambda days, asked: comes_to(
        cubes([change(rows) for rows in days], asked | more), asked | more
    )


def split(days: Days, asked: Asked) -> Any:
    both = (cubes([rows[half::2] for rows in days], asked) for half in (0, 1))
    one, other = both
    return comes_to({name: one[name].add(other[name]) for name in NAMES}, asked)


def night_by_night(days: Days, asked: Asked, folder: Any) -> Any:
    kept = fg.History(folder)
    for name, counts in cubes(days, asked).items():
        for _ in range(2):
            kept.add(name, counts)
            found = comes_to(kept, asked)
    return found


def out_of_order(days: Days, asked: Asked, folder: Any) -> Any:
    kept = fg.History(folder)
    for name, counts in [*cubes(days, asked).items()][::-1]:
        kept.add(name, counts)
        if name <= NAMES[7]:
            found = comes_to(kept, asked)
    return found


SAME: dict[str, Any] = {
    "shuffled rows": each_day(lambda rows: rows.sample(frac=1, random_state=1)),
    "other columns": each_day(lambda rows: rows[rows.columns[::-1]].assign(more=1)),
    "a condition that all rows meet": each_day(lambda rows: rows, where=["age < 90"]),
    "recoded": each_day(
        lambda rows: rows.assign(sex=rows["sex"].replace("X", "Z")), recode={"sex": {"X": ["Z"]}}
    ),
    "added up": split,
    "rules in another order": lambda days, asked: comes_to(
        cubes(days, asked), asked, rules=RULES[::-1]
    ),
    "night by night": night_by_night,
    "out of order": out_of_order,
}


@cache
def expected(seed: int) -> dict[str, Any]:
    return comes_to(cubes(history(seed), QUESTION), QUESTION)


SEEDS = 2 if EVERY_CASE else 1
CASES_MONITORED = [(1 + i % SEEDS, name) for i, name in enumerate(SAME)]


@pytest.mark.parametrize(("seed", "name"), CASES_MONITORED)
def test_equivalent_histories_come_to_the_same(name: str, seed: int, tmp_path: Any) -> None:
    folder = (tmp_path / "h",) if SAME[name] in (night_by_night, out_of_order) else ()
    assert SAME[name](history(seed), QUESTION, *folder) == expected(seed)


def test_cases_of_a_count_are_repeated_rows() -> None:
    days = history(3)
    repeated = [rows.loc[rows.index.repeat(rows["cases"])] for rows in days]
    rows, cases = (
        comes_to(cubes(each, asked), asked)
        for each, asked in ((repeated, QUESTION), (days, QUESTION | {"count": "cases"}))
    )
    assert cases == rows


# ---- a monitor and audits of the same rows
LIMITS = {
    "selection_rate.ratio": (0.8, np.inf),
    "selection_rate.difference": (-0.1, 0.1),
    "true_positive_rate.difference": (-0.1, 0.1),
    "f1.difference": (-0.1, 0.1),
}
WHERE_NOW = {"tolerated": "pass", "outside": "fail", "both": "inconclusive"}
"""What an audit of the same rows comes to, by where the interval of what is now lies."""


def changed(last: int) -> dict[str, fg.Cube]:
    """Return 40 days on which women are selected less often from the 21st on, until ``last``."""
    rng, found = np.random.default_rng(3), {}
    for i, name in enumerate(day_names(40)):
        cells = {}
        for group, n, rate in (("F", 200, 0.22 if 20 <= i < last else 0.4), ("M", 300, 0.4),
                               ("X", 60, 0.38)):  # fmt: skip
            selected = int(rng.binomial(n, rate))
            tp, fn = int(rng.binomial(selected, 0.7)), int(rng.binomial(n - selected, 0.3))
            cells[group] = {"tp": tp, "fp": selected - tp, "fn": fn, "tn": n - selected - fn}
        found[name] = fg.confusion("sex", cells)
    return found


def audited(counts: fg.Cube, each: Any, reference: Any) -> tuple[Any, str]:
    low, high = LIMITS[each.metric]
    report = fg.audit(
        counts, metrics=each.metric, reference=reference,
        rules=fg.rule(each.metric, at_least=low, at_most=high if np.isfinite(high) else None),
    )  # fmt: skip
    (estimate,) = (e for e in report.estimates if e.group == each.group)
    (verdict,) = (v for v in report.verdicts if v.group == each.group)
    return estimate, str(verdict.outcome)


@pytest.mark.parametrize("last", [30, 40])
@pytest.mark.parametrize("reference", ["others", "overall", "largest", {"sex": "M"}], ids=str)
def test_a_monitor_states_the_numbers_and_verdicts_of_audits_of_the_same_rows(
    reference: Any, last: int
) -> None:
    """Those of the last day, and those of all days that state what is now after an alarm."""
    history, judged = changed(last), 0
    rules = [
        {"metric": name, "between": ends} if np.isfinite(ends[1])
        else {"metric": name, "at_least": ends[0]} for name, ends in LIMITS.items()
    ]  # fmt: skip
    asked = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
    report = fg.monitor(history, asked | {"reference": reference, "monitor": {"rules": rules}})

    def numbers(found: Any) -> tuple[float, ...]:
        ends = getattr(found, "interval", found)
        own = found.value, ends.low, ends.high, found.rate_group, found.rate_reference
        return *own, found.n_group, found.n_reference

    for each in report.comparisons:
        point, now = each.points[-1], each.alarm and each.alarm.now
        day, _ = audited(history[point.period], each, reference)
        assert numbers(point) == numbers(day)
        assert each.reference == str(day.reference)
        if now is not None and each.alarm is not None:
            days = [counts for name, counts in history.items() if now.first <= name <= now.last]
            together, outcome = audited(reduce(fg.Cube.add, days), each, reference)
            assert numbers(now) == numbers(together)
            assert WHERE_NOW[str(each.alarm.currently)] == outcome
            judged += 1
    assert judged
