"""Rows without a label or a prediction: what they could change, by every value there is."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.measure.measure import measure
from fairgauge.question.specification import ask as make_spec
from fairgauge.reasons import ReasonCode
from fairgauge.results.scopes import OVERALL

KNOWN = {
    "a": [(1, 1)] * 6 + [(1, 0)] * 3 + [(0, 1)] * 2 + [(0, 0)] * 5,
    "b": [(1, 1)] * 5 + [(1, 0)] * 2 + [(0, 1)] * 3 + [(0, 0)] * 6,
    "c": [(1, 1)] * 4 + [(1, 0)] * 4 + [(0, 1)] * 2 + [(0, 0)] * 4,
}
INCOMPLETE = {"a": [(1, None), (None, 1), (None, 0)], "b": [(0, None), (None, None)], "c": []}
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1}


def frame(known, *more):
    made = [(g, *row) for rows in (known, *more) for g, each in rows.items() for row in each]
    return pd.DataFrame(made, columns=["g", "y", "p"])


def worst_cases(data, metric):
    spec = make_spec(**ASKED, metrics=metric, rules=[fg.rule(metric, at_least=0.001)])
    measured = measure(fg.count(data, **ASKED, metrics=metric, rules=spec.rules), spec)
    return {key[2]: cases[-1] for key, cases in measured.worst_cases.items()}


@cache
def completed():
    """Return the audits of all completions."""
    return [fg.audit(data, **ASKED, metrics=METRICS) for data in completions()]


def completions():
    """Yield the rows with every value that the missing ones may have."""
    slots = [(g, row) for g, rows in INCOMPLETE.items() for row in rows]
    options = [
        list(product(*([value] if value is not None else [0, 1] for value in row)))
        for _, row in slots
    ]
    for chosen in product(*options):
        more = {g: [c for (at, _), c in zip(slots, chosen, strict=True) if at == g] for g in KNOWN}
        yield frame(KNOWN, more)


METRICS = [
    "selection_rate.difference", "TPR.ratio", "accuracy.difference", "base_rate.ratio",
    "precision.difference", "selection_rate.largest_gap", "TPR.smallest_ratio",
    "accuracy.minimum", "FPR.maximum", "selection_odds.ratio", "TE",
]  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_the_worst_cases_are_what_some_values_attain(metric):
    attained: dict[str | None, list[float]] = {}
    cases = worst_cases(frame(KNOWN, INCOMPLETE), metric)
    name = fg.rule(metric, at_least=0.001).metric
    for report in completed():
        for each in report.estimates:
            if each.scope == OVERALL and each.metric == name:
                key = each.group if None not in cases else None
                attained.setdefault(key, []).append(each.value)
    assert attained.keys() == cases.keys()
    for group, values in attained.items():
        worst = cases[group]
        assert (worst.low, worst.high) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize("rate", ["accuracy", "TPR", "selection_rate", "base_rate", "precision"])
def test_the_rates_of_groups_have_worst_cases_too(rate):
    cases = worst_cases(frame(KNOWN, INCOMPLETE), rate)
    attained: dict[str, list[float]] = {group: [] for group in KNOWN}
    for report in completed():
        for group in report.groups:
            if group.group in attained and group.scope == OVERALL:
                name = fg.rule(rate, at_least=0.001).metric
                attained[group.group].append(group.rates[name].value)
    assert set(attained) - set(cases) == {"c"}  # whose rows lack nothing
    for group, values in attained.items():
        ends = (cases[group].low, cases[group].high) if group in cases else (values[0],) * 2
        assert ends == pytest.approx((min(values), max(values)), abs=1e-12)


def blanked(column, share=0.6, value=0, seed=3):
    """Return rows of which those of one group that break a rule lack an outcome."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"g": np.repeat(["F", "M"], 2000)})
    data["y"] = (rng.random(4000) < 0.6).astype(float)
    data["p"] = (rng.random(4000) < np.where(data.g == "F", 0.48, 0.8)).astype(float)
    at = data.index[(data.g == "F") & (data[column] == value)]
    whole = data.copy()
    data.loc[at[: int(share * len(at))], column] = np.nan
    return whole, data


RULE = "selection_rate.ratio >= 0.8"


@pytest.mark.parametrize(
    "rule", [RULE, "selection_rate.smallest_ratio >= 0.8", "selection_rate >= 0.6"]
)
def test_nothing_passes_because_failing_predictions_are_blank(rule):
    whole, data = blanked("p", share=0.9)
    assert fg.audit(whole, **ASKED, rules=rule).verdict is Outcome.FAIL
    report = fg.audit(data, **ASKED, rules=rule)
    assert report.verdict is Outcome.INCONCLUSIVE
    verdict = next(v for v in report.verdicts if v.outcome is Outcome.INCONCLUSIVE)
    assert verdict.reason.code is ReasonCode.MISSING_OUTCOMES
    assert "rows without a prediction could change that" in verdict.says
    lacking, ungrouped = int(data.p.isna().sum()), data.index[data.p.notna()][:9]
    unsure = fg.audit(data.assign(g=data.g.mask(data.index.isin(ungrouped))), **ASKED, rules=rule)
    said = f"the {lacking:,} rows without a prediction and the 9 rows without a known g could"
    assert any(said in each.says for each in unsure.verdicts)


def test_a_warning_names_the_groups_and_their_shares():
    _, data = blanked("p")
    every = fg.audit(data, **ASKED, rules=RULE).diagnostics
    (note,) = (each for each in every if each.code is DiagnosticCode.MISSING_OUTCOMES)
    lacking = int(data.p.isna().sum())
    assert (note.level, note["rows"], note["most"], note["least"]) == (
        "warning", lacking, "F", "M",
    )  # fmt: skip
    assert f"({lacking:,} of 4,000) have no prediction" in note.message
    shares = f"({lacking / 2000:.1%} of F, 0.0% of M; chi-square test of equal shares: p < 0.001)"
    assert shares in note.message.replace("\u00a0", " ")


@pytest.mark.each_value
@pytest.mark.parametrize("decide", ["interval", "point", "significant"])
@pytest.mark.parametrize(
    "metric", ["selection_rate.difference", "F1.difference", "selection_rate.largest_gap"]
)
def test_no_decision_rule_passes_because_outcomes_are_blank(metric, decide):
    """Decided by values, or a metric without a worst case: a pass was a matter of blanking."""
    name = fg.rule(metric, at_most=0.99).metric
    limits = {"at_most": 0.1} if "gap" in metric else {"between": (-0.05, 0.05)}
    rule = fg.rule(name, **limits, decide=decide)
    failed = False
    for column, value in (("p", 0), ("y", 1), ("y", 0)):
        whole, _ = blanked(column, 0.0)
        if fg.audit(whole, **ASKED, rules=rule).verdict is not Outcome.FAIL:
            continue
        failed = True
        for share in (0.3, 0.9):
            _, data = blanked(column, share, value)
            after = fg.audit(data, **ASKED, rules=rule)
            assert Outcome.PASS not in [each.outcome for each in after.verdicts], (column, share)
            assert all("None" not in each.says for each in after.verdicts)
    assert failed


PEOPLE = {"prediction": "y", "positive": 1, "sensitive": "g", "person": "who"}
OF_PEOPLE = [
    fg.rule("selection_rate.ratio", at_least=0.5, decide="point"),
    fg.rule("selection_rate.ratio", at_most=1.6, decide="point"),
    fg.rule("selection_rate.difference", between=(-0.4, 0.4), decide="point"),
    fg.rule("selection_rate.smallest_ratio", at_least=0.5, decide="point"),
    fg.rule("selection_rate", at_least=0.2, decide="point"),
]


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["best", {"g": "b"}])
def test_no_rule_on_people_passes_that_some_unknown_decision_overturns(reference):
    """It was PASS: who was refused once was refused, whatever was pending.

    A rate is the least, or the greatest, where all unknown decisions of a group are alike.
    """
    rng = np.random.default_rng(8)
    asked = PEOPLE | {"reference": reference}
    withheld = passed = 0
    for _ in range(12):
        who = [*range(48), *rng.integers(0, 48, 12).tolist()]
        rows = [(i, "ab"[i % 2], int(i > 9), int(rng.random() < 0.4)) for i in who]
        unknown = [(i, "ab"[i % 2], int(rng.integers(0, 3)), None)
                   for i in rng.integers(0, 50, int(rng.integers(1, 24))).tolist()]  # fmt: skip
        outcomes, alone = decided(rows + unknown, asked), decided(rows, asked)
        for of_a, of_b in product([0, 1], repeat=2):
            whole = [(*row[:-1], of_a if row[1] == "a" else of_b) for row in unknown]
            for rule, outcome in decided(rows + whole, asked).items():
                assert not (outcomes[rule] is Outcome.PASS and outcome is Outcome.FAIL), rule
        before = {rule for rule, outcome in alone.items() if outcome is Outcome.PASS}
        after = {rule for rule, outcome in outcomes.items() if outcome is Outcome.PASS}
        withheld, passed = withheld + len(before - after), passed + len(after)
    assert withheld
    assert passed


def decided(rows, asked):
    """Return what each rule comes to over all of its groups."""
    found = {}
    data = pd.DataFrame(rows, columns=["who", "g", "day", "y"])
    for each in fg.audit(data, **asked, rules=OF_PEOPLE).verdicts:
        found.setdefault(each.rule, []).append(each.outcome)
    bad = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
    return {r: next((o for o in bad if o in each), Outcome.PASS) for r, each in found.items()}


def differences(rows, reference, size):
    """Return the reference, chosen by hand, and the difference of every large group to it."""
    every = {g: sum(of == g for of, _ in rows) for g in "abc"}
    decided = [row for row in rows if row[1] is not None]
    n = {g: sum(of == g for of, _ in decided) for g in "abc"}
    rate = {g: sum(p for of, p in decided if of == g) / n[g] for g in "abc" if n[g]}
    fewest = max(size["min_n"], size.get("min_share", 0) * len(decided))
    large = [g for g in rate if n[g] >= fewest]
    if not large:
        return None, {}
    by = rate if reference == "best" else every
    chosen = min(large, key=lambda g: (-by[g], -every[g], g))
    return chosen, {g: rate[g] - rate[chosen] for g in large if g != chosen}


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("reference", "without"),
    [("best", "decision"), ("best", "group"), ("best", "both"), ("largest", "group"),
     ("largest", "both")],
)  # fmt: skip
def test_worst_cases_are_of_every_group_that_may_become_the_reference(reference, without):
    """Groups below the minimum size were none, and a rule passed that they overturned."""
    rng = np.random.default_rng(len(reference + without))
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "reference": reference,
             "metrics": "selection_rate.difference"}  # fmt: skip
    another = attained = compared = 0
    for _ in range(40):
        sizes, shares = rng.integers(1, 12, 3), rng.uniform(0, 1, 3)
        known = [(g, int(i < share * n)) for g, n, share in zip("abc", sizes, shares, strict=True)
                 for i in range(n)]  # fmt: skip
        unknown = [
            ("abc"[rng.integers(0, 3)] if without == "decision" else None,
             None if without != "group" else int(rng.integers(0, 2)))
            for _ in range(int(rng.integers(1, 5)))
        ]  # fmt: skip
        size = {"min_n": 8} if rng.integers(0, 2) else {"min_n": 1, "min_share": 0.25}
        chosen, now = differences(known + unknown, reference, size)
        if not now:
            continue
        spec = make_spec(**asked, **size, rules="selection_rate.difference >= -0.1")
        data = pd.DataFrame(known + unknown, columns=["g", "p"])
        cases = measure(fg.count(data, **asked), spec).worst_cases
        ends = {key[2]: (of[-1].low - 1e-9, of[-1].high + 1e-9) for key, of in cases.items()}
        # the reference of now, if another group is, has the verdict of one that is compared
        ends[chosen] = tuple(pick(ends[g][i] for g in now) for i, pick in enumerate((min, max)))
        options = [list(product("abc" if g is None else [g], [0, 1] if p is None else [p]))
                   for g, p in unknown]  # fmt: skip
        found = {g: [0.0] for g in ends}
        for whole in set(product(*options)):
            best, values = differences(known + list(whole), reference, size)
            another += best != chosen
            for group in values.keys() & {chosen, *now}:
                low, high = ends[group]
                assert low <= values[group]
                assert reference == "best" or values[group] <= high
                found[group].append(values[group])
        attained += sum(ends[g][0] > min(found[g]) - 0.1 for g in now)
        compared += len(now)
    assert another
    assert attained > 0.3 * compared
