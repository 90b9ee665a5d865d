"""Nobody can silence a FAIL: what is added elsewhere leaves it a FAIL, or undecided at most.

Over every kind of rule, reference and verb, with groups, rules, candidates, strata and rows drawn
at random. What is added may change what a group is compared with (all others, the best group), so
that a FAIL near its limit may become undecided; against a named reference nothing may change.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES
from tests.monitored_days import QUESTION as OF_DAYS
from tests.monitored_days import day_names

import fairgauge as fg

Cells = dict[str, int]
COUNTS: dict[str, Cells] = {
    "A": {"tp": 60, "fp": 20, "fn": 140, "tn": 180},
    "B": {"tp": 187, "fp": 66, "fn": 33, "tn": 154},
}
NAMED = {"g": "B"}
REFERENCES: list[Any] = [NAMED, "others", "overall", "best", "largest"]
NAMES = ("C", "D", "E")
TOWARDS_ONE = ("smallest_ratio", "mean_ratio", "minimum")
"""Metrics of all groups that a rule holds from below."""


def cells(most: int) -> st.SearchStrategy[Cells]:
    return st.fixed_dictionaries({cell: st.integers(0, most) for cell in ("tp", "fp", "fn", "tn")})


def groups(most: int) -> st.SearchStrategy[dict[str, Cells]]:
    """Return up to three groups, of which each has at least one row."""
    some = st.lists(cells(most).filter(lambda of: sum(of.values()) > 0), min_size=1, max_size=3)
    return some.map(lambda found: dict(zip(NAMES, found, strict=False)))


TINY, SMALLER = groups(4), groups(95)
"""Groups of fewer rows than decide anything; groups smaller than those that are there."""


def audit(counts: dict[str, Cells], **asked: Any) -> fg.Report:
    return fg.audit(fg.confusion("g", counts), **asked)


@cache
def failing(reference: int) -> tuple[Any, ...]:
    """Return a rule for everything that A, or all groups, surely fail, from either side.

    Every other one passes what has insufficient data, which a tiny group must not turn to account.
    """
    report = audit(COUNTS, reference=REFERENCES[reference], metrics="all")
    found = []
    for each in report.estimates:
        of_all = each.definition.scope == "feature"
        if each.status != "ok" or not each.interval or not (of_all or each.group == "A"):
            continue
        low, high = each.interval
        width = high - low
        if each.definition.scope not in ("group", "feature") or not 0 < width < np.inf:
            continue
        insufficient = "pass" if len(found) % 2 else "report"
        for_group = {"insufficient": insufficient} | ({} if of_all else {"groups": "A"})
        towards_one = each.metric.split(".")[-1] in TOWARDS_ONE
        if towards_one or not of_all:
            found.append(fg.rule(each.metric, at_least=high + width, **for_group))
        if not (towards_one and of_all) and (low > width or each.definition.neutral != 1):
            found.append(fg.rule(each.metric, at_most=low - width, **for_group))
    assert len(found) > 200
    return tuple(found)


Verdicts = dict[tuple[str, str], str]


def _of_all(each: Any) -> bool:
    return getattr(each.definition, "scope", "") == "feature"


def verdicts(counts: dict[str, Cells], rules: Iterable[Any], **asked: Any) -> Verdicts:
    report = audit(counts, **({"rules": list(rules), "metrics": ["selection_rate"]} | asked))
    return {
        (each.rule, "" if _of_all(each) else "A"): str(each.outcome)
        for each in report.verdicts
        if "A" in (each.group, each.mirror) or _of_all(each)
    }


def silenced(before: Verdicts, after: Verdicts, allowed: tuple[str, ...] = ("fail",)) -> list[str]:
    fails = [key for key, outcome in before.items() if outcome == "fail"]
    assert fails
    return [f"{key}: {after.get(key)}" for key in fails if after.get(key) not in allowed]


SOME = st.lists(st.integers(0, 10_000), min_size=20, max_size=20)


@pytest.mark.parametrize("reference", range(len(REFERENCES)))
@given(added=TINY, some=SOME)
@FEW_EXAMPLES
def test_tiny_groups_silence_no_rule_against_any_reference(
    reference: int, added: dict[str, Cells], some: list[int]
) -> None:
    every = failing(reference)
    rules = {str(rule): rule for rule in (every[i % len(every)] for i in some)}
    one, other = (
        verdicts(counts, rules.values(), reference=REFERENCES[reference])
        for counts in (COUNTS, COUNTS | added)
    )
    shared = REFERENCES[reference] in ("others", "overall")  # the rows that are added are in it
    assert not silenced(one, other, ("fail", "inconclusive") if shared else ("fail",))


@given(added=SMALLER, some=SOME)
@FEW_EXAMPLES
def test_no_group_changes_what_fails_against_a_named_reference(
    added: dict[str, Cells], some: list[int]
) -> None:
    every = [rule for rule in failing(0) if rule.groups]
    of_group = list({str(rule): rule for rule in (every[i % len(every)] for i in some)}.values())
    metrics = sorted({rule.metric for rule in of_group})
    after = verdicts(COUNTS | added, of_group, reference=NAMED)
    assert not silenced(verdicts(COUNTS, of_group, reference=NAMED), after)
    one, other = (
        {
            (e.metric, e.group): e
            for e in audit(counts, metrics=metrics, reference=NAMED).estimates
            if e.group == "A" and e.p_adjusted is not None
        }
        for counts in (COUNTS, COUNTS | added)
    )
    for key, each in one.items():
        assert other[key].p_value == pytest.approx(each.p_value, rel=1e-9)
        assert other[key].p_adjusted >= each.p_adjusted * (1 - 1e-9)


@given(
    chosen=st.lists(st.integers(0, 10_000), min_size=1, max_size=4),
    limits=st.lists(st.floats(0.01, 0.9), min_size=3, max_size=3),
    decide=st.sampled_from(["interval", "point", "significant"]),
)
@FEW_EXAMPLES
def test_no_rule_silences_another(chosen: list[int], limits: list[float], decide: str) -> None:
    every = [rule for rule in failing(0) if rule.groups]
    rules = list({str(rule): rule for rule in (every[i % len(every)] for i in chosen)}.values())
    more = [
        fg.rule("selection_rate.difference", between=(-limits[0], limits[0]), decide=decide),
        fg.rule("f1.ratio", at_least=limits[1], groups="A", insufficient="ignore"),
        "selection_rate.difference >= -0.9",
        fg.rule("accuracy", at_least=limits[2]),
    ]
    alone = verdicts(COUNTS, rules, reference=NAMED)
    beside = verdicts(COUNTS, [*more, *rules], reference=NAMED)
    assert not silenced(alone, beside)
    together = {"reference": NAMED, "multiplicity": "familywise"}
    assert not silenced(
        verdicts(COUNTS, rules, **together),
        verdicts(COUNTS, [*more, *rules], **together),
        ("fail", "inconclusive"),
    )


def table(counts: dict[str, Cells], stratum: str) -> pl.DataFrame:
    outcome = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}
    rows = [
        {"g": group, "y": outcome[cell][0], "p": outcome[cell][1], "n": n, "s": stratum}
        for group, of in counts.items()
        for cell, n in of.items()
        if n
    ]
    return pl.DataFrame(rows)


@given(added=groups(40), unknown=st.integers(0, 12), unlabelled=st.integers(1, 200))
@FEW_EXAMPLES
def test_no_stratum_and_no_rows_elsewhere_silence_a_fail(
    added: dict[str, Cells], unknown: int, unlabelled: int
) -> None:
    """Rows of another stratum or without a label; those without a group may be of any."""
    rules = [
        fg.rule("selection_rate.difference", at_least=-0.1, groups="A"),
        fg.rule("recall.ratio", at_least=0.8, groups="A"),
        fg.rule("CDDPL", at_most=0.02, groups="A"),
    ]
    asked: dict[str, Any] = {
        "label": "y", "prediction": "p", "positive": 1, "sensitive": "g", "count": "n",
        "strata": "s", "reference": NAMED, "rules": rules,
    }  # fmt: skip
    own = pl.concat([table(COUNTS, "x"), table(COUNTS, "y")])
    more = pl.DataFrame(
        {"g": ["C", None], "y": [None, 1], "p": [1, 1], "n": [unlabelled, unknown], "s": ["x", "y"]}
    )
    further = pl.concat([own, table(added, "z"), more.filter(pl.col("n") > 0)])

    def found(data: pl.DataFrame) -> dict[str, str]:
        return {each.rule: str(each.outcome) for each in fg.audit(data, **asked).verdicts}

    one, other = found(own), found(further)
    assert list(one.values()) == ["fail"] * 3
    moved = ("fail", "inconclusive") if unknown else ("fail",)
    assert not [f"{rule}: {other[rule]}" for rule in one if other[rule] not in moved]


@given(added=SMALLER, further=st.sets(st.sampled_from(["accuracy.difference", "f1.ratio", "TVD"])))
@FEW_EXAMPLES
def test_nothing_added_to_both_reports_silences_what_got_worse(
    added: dict[str, Cells], further: set[str]
) -> None:
    rule = [fg.rule("true_positive_rate.ratio", at_least=0.8, groups="A")]
    equal = COUNTS | {"A": {"tp": 168, "fp": 60, "fn": 32, "tn": 140}}
    metrics = ["true_positive_rate.ratio", *sorted(further)]
    asked = {"rules": rule, "metrics": metrics, "reference": NAMED}
    alone, beside = (
        fg.compare(audit(equal | more, **asked), audit(COUNTS | more, **asked))
        for more in ({}, added)
    )
    for each in (alone, beside):
        (flip,) = [flip for flip in each.flips if flip.new.group == "A"]
        assert (str(flip.old.outcome), str(flip.new.outcome)) == ("pass", "fail")
        assert each.worse
    one, other = (
        {c.metric: c.change_p_adjusted for c in each.changes if c.group == "A"}
        for each in (alone, beside)
    )
    judged = {metric: p for metric, p in one.items() if p is not None and other[metric] is not None}
    assert all(other[metric] >= p * (1 - 1e-9) for metric, p in judged.items())


@given(added=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), max_size=60))
@FEW_EXAMPLES
def test_no_group_silences_what_thresholds_fail(added: list[tuple[float, int]]) -> None:
    rng = np.random.default_rng(4)
    group = np.repeat(["A", "B"], 600)
    label = (rng.random(1_200) < 0.5).astype(int)
    score = np.clip(0.35 + 0.25 * label + np.where(group == "A", -0.15, 0.1), 0, 1)
    own = pl.DataFrame(
        {"g": group, "y": label, "s": np.round(score + rng.uniform(-0.2, 0.2, 1_200), 2)}
    )
    more = pl.DataFrame(
        {"g": ["C"] * len(added), "y": [y for _, y in added], "s": [round(s, 2) for s, _ in added]},
        schema=own.schema,
    )
    found, named = [], [0.5, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8]
    for data in (own, pl.concat([own, more])):
        choice = fg.thresholds(
            data, label="y", score="s", positive=1, sensitive="g", threshold=named,
            reference=NAMED, rules=["selection_rate.difference >= -0.05"],
        )  # fmt: skip
        outcomes = {each.threshold: str(each.outcome) for each in choice["g"].frontier}
        found.append({each: outcomes[each] for each in named})
    fails = [at for at, outcome in found[0].items() if outcome == "fail"]
    assert 0.5 in fails
    assert not [f"{at}: {found[1][at]}" for at in fails if found[1][at] != "fail"]


@given(
    tiny=st.lists(cells(4), min_size=1, max_size=4),
    further=st.sets(st.sampled_from(["accuracy.difference", "true_positive_rate.difference"])),
)
@FEW_EXAMPLES
def test_nothing_added_to_a_history_silences_an_alarm(tiny: list[Cells], further: set[str]) -> None:
    """A further rule takes a share of the false alarms that are allowed, so that it may delay."""
    names = day_names(40)
    own = dict.fromkeys(names, COUNTS)
    with_few = {name: COUNTS | {"X": tiny[i % len(tiny)]} for i, name in enumerate(names)}
    rule = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "A"}
    more = [{"metric": metric, "at_least": -0.9} for metric in sorted(further)]
    asked = OF_DAYS | {"sensitive": "g", "reference": NAMED}
    for of_days, rules in ((own, [rule]), (with_few, [*more, rule])):
        days = {name: fg.confusion("g", counts) for name, counts in of_days.items()}
        report = fg.monitor(days, asked | {"monitor": {"rules": rules}})
        (ratio,) = [
            c for c in report.comparisons if c.metric == "selection_rate.ratio" and c.group == "A"
        ]
        assert ratio.alarm
        assert str(report.state) == "alarm"


@given(tiny=st.lists(cells(4), min_size=1, max_size=4), since=st.integers(0, 35))
@FEW_EXAMPLES
def test_a_group_that_comes_later_takes_no_alarm_back(tiny: list[Cells], since: int) -> None:
    """Two groups that were one comparison become two, and neither loses the evidence so far."""
    names = day_names(40)
    changed = COUNTS["B"] | {"tp": 120, "fn": 100}
    asked = OF_DAYS | {"sensitive": "g"}
    asked |= {"monitor": {"rules": ["selection_rate.ratio >= 0.8"]}}
    own = {name: COUNTS | {"A": changed if i < 8 else COUNTS["A"]} for i, name in enumerate(names)}
    few = {
        name: counts | ({"X": tiny[i % len(tiny)]} if i >= since and sum(tiny[0].values()) else {})
        for i, (name, counts) in enumerate(own.items())
    }
    first = []
    for of_days in (own, few):
        days = {name: fg.confusion("g", counts) for name, counts in of_days.items()}
        report = fg.monitor(days, asked)
        assert str(report.state) == "alarm"
        first.append(min(each.alarm.period for each in report.alarms if each.alarm))
    assert first[1] == first[0] if names.index(first[0]) < since else first[1] >= first[0]
