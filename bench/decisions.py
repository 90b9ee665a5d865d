"""``python -m bench.decisions``: the rows of a review of what stands on the intervals.

A row is a word that a decision rests on ("dominates", "changed sides", PASS of thresholds, an
asterisk, an alarm), with a design in which it went wrong. Every data set is drawn and decided as a
user does it; what is counted is printed. Rows 2, 4, 7, 11 and 15 want that something never happens
(or always). Row 9, verdicts on published rates without counts, went with these verdicts.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats

import fairgauge as fg
from bench.audit_designs import COUNTED, counts, selected
from bench.counting import Design, Occurrences, alone, count_designs, print_table
from bench.reviewed_audits import DESIGNS as REVIEWED
from fairgauge.render import render
from fairgauge.results.estimates import is_significant
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import exact_p, paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

_FALSELY, _SELDOM, _NEVER = "at most 2.5", "at most 5", "0"
_FALSE_PASS = "false PASS at most 2.5"
_MANY = 20_000
"""Data sets that are drawn at once where nothing is audited."""


# 1: comparing models


def harmed_group(rng: np.random.Generator) -> Occurrences:
    """Two large groups improve; the TPR of a group of 5 % of 1,500 rows falls from .78 to .60."""
    drawn = []
    for rows, tpr, new_tpr in ((850, 0.78, 0.84), (575, 0.70, 0.82), (75, 0.78, 0.60)):
        both = np.outer([tpr, 1 - tpr], [new_tpr, 1 - new_tpr])
        cells = 0.5 * np.stack([both, np.outer([0.2, 0.8], [0.2, 0.8])])
        drawn.append(rng.multinomial(rows, cells.ravel() / cells.sum()))
    label, current, candidate = 1 - np.indices((2, 2, 2)).reshape(3, -1)
    compared = fg.compare_models(
        counts(np.stack(drawn), label=label, current=current, c0=candidate),
        label="label", prediction="current", candidate="c0", sensitive="group", count="n",
        margins={"accuracy": 0.02, "true_positive_rate.difference": 0.1},
    )  # fmt: skip
    return {"dominates": str(compared["c0"].verdict) == "dominates"}


# 2: comparing reports


def changed_sides(rng: np.random.Generator) -> Occurrences:
    """Selection of F is 7.2 points below that of M, then 6 points above."""
    old, new = (
        fg.audit(selected(rng.binomial(sizes, rates), np.array(sizes)), **COUNTED, metrics=["DPPL"])
        for sizes, rates in (([4000, 4000], [0.4, 0.472]), ([3900, 4100], [0.46, 0.4]))
    )
    compared = fg.compare(old, new)
    text = " ".join(render(compared, "text").split())
    return {
        "changed sides is stated": "it was the reverse" in text,
        "called significant": any(each.other_side for each in compared.changes),
    }


# 3 and 4: thresholds


@cache
def _scores(values: int, gap: float) -> tuple[np.ndarray, ...]:
    """Return P(group, label, score), a threshold for each of the scores, and what holds at it.

    These are the accuracy and the difference of selection rates.
    """
    edges = np.linspace(0, 1, values + 1)[1:-1]
    at = np.concatenate([[-np.inf], np.log(edges / (1 - edges)), [np.inf]])
    shares = np.empty((2, 2, values))
    for g, (size, shift) in enumerate(((0.4, gap), (0.6, 0.0))):
        for label in (0, 1):
            below = stats.norm.cdf(at, 1.5 * (label - 0.5) - shift)
            shares[g, label] = size / 2 * np.diff(below)
    above = shares[..., ::-1].cumsum(axis=-1)[..., ::-1]
    wrong = above[:, 0] + (shares[:, 1].sum(axis=-1)[:, None] - above[:, 1])
    selection = above.sum(axis=1) / shares.sum(axis=(1, 2))[:, None]
    cuts = np.arange(values) / values
    return shares, cuts, 1 - wrong.sum(axis=0), selection[0] - selection[1]


def chosen_thresholds(
    values: int, gap: float, rows: int, at: int, by: str, rng: np.random.Generator
) -> Occurrences:
    """Choose where the truth of one threshold is at the margin of accuracy, or at the goal.

    ``at`` is how far it is from today's; beyond it goals are met at a price.
    """
    shares, cuts, accuracy, difference = _scores(values, gap)
    today = values // 2
    loss = accuracy[today] - accuracy
    goal = abs(difference[today + at]) + (0.001 if by == "margin" else 0.0)
    margin = loss[today + at] + (0.0 if by == "margin" else 0.06)
    drawn = rng.multinomial(rows, shares.ravel()).reshape(shares.shape)
    g, y, s = (each.ravel() for each in np.indices(shares.shape))
    data = pl.DataFrame({"g": g, "y": y, "s": cuts[s], "n": drawn.ravel()}).filter(pl.col("n") > 0)
    choice = fg.thresholds(
        data.with_columns(pl.col("g").cast(str)), label="y", score="s", positive=1, sensitive="g",
        count="n", threshold=float(cuts[today]), margins={"accuracy": margin},
        rules=[fg.rule("selection_rate.difference", between=(-goal, goal))],
    )  # fmt: skip
    common = choice["g"].common
    if common is None or common.outcome != "pass":
        return {"PASS": False, "false PASS": False}
    place, tiny = int(np.argmin(np.abs(cuts - common.threshold))), 1e-9
    broken = loss[place] >= margin - tiny or abs(difference[place]) >= goal - tiny
    return {"PASS": True, "false PASS": bool(broken)}


# 6 and 7: what is marked


def stars_and_intervals(groups: int, rng: np.random.Generator) -> Occurrences:
    """Audit groups that differ a little; a star stands where the interval excludes none."""
    sizes = np.full(groups, 150)
    rates = np.clip(0.3 + 0.06 * rng.standard_normal(groups), 0.05, 0.9)
    report = fg.audit(selected(rng.binomial(sizes, rates), sizes), **COUNTED, metrics=["DPPL"])
    unlike = [
        is_significant(each) != (each.simultaneous.low > 0 or each.simultaneous.high < 0)
        for each in report.estimates
        if each.simultaneous is not None
    ]
    return {"a star disagrees with its interval": any(unlike)}


def beside_a_tiny_group(rng: np.random.Generator) -> Occurrences:
    """98 people of a further group against a named reference; 3 of them expected to be selected."""
    sizes = np.array([900, 1000, 98])
    x = rng.binomial(sizes, [0.42, 0.47, 0.03])
    stars = []
    for some in (slice(0, 2), slice(0, 3)):
        data = selected(x[some], sizes[some])
        report = fg.audit(
            data, **COUNTED, metrics=["selection_rate.ratio"], reference={"group": "g1"},
            min_n=100,
        )  # fmt: skip
        stars.append([is_significant(e) for e in report.estimates if e.group == "g0"])
    return {"the group changes a star": stars[0] != stars[1]}


# 12: a monitor of two groups


_TWO_GROUPS: dict[str, Any] = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex",
    "monitor": {"rules": [{"metric": "selection_rate.ratio", "at_least": 0.8}], "horizon": 60},
}  # fmt: skip


def _days(rates: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Return days of 100 women, whose rates these are, and of 200 men with a rate of .4."""
    first = dt.date(2026, 1, 1)
    women, men = rng.binomial(100, rates), rng.binomial(200, 0.4, len(rates))
    return {
        str(first + dt.timedelta(days=t)): fg.confusion(
            "sex",
            {"F": {"tp": int(f), "fn": 100 - int(f)}, "M": {"tp": int(m), "fn": 200 - int(m)}},
        )
        for t, (f, m) in enumerate(zip(women.tolist(), men.tolist(), strict=True))
    }


def two_groups_at_the_limit(rate: float, rng: np.random.Generator) -> Occurrences:
    """Follow two groups at a limit of their rule for a horizon of 60 days."""
    report = fg.monitor(_days(np.full(60, rate), rng), _TWO_GROUPS)
    return {"alarm": bool(report.alarms), "two shares of alpha": len(report.comparisons) > 1}


# 10 and 11: what an alarm states, and baselines


def what_is_now(after: float, later: float, rng: np.random.Generator) -> Occurrences:
    """Rates of women shift on day 15, and again on day 30; an alarm states what is now."""
    rates = np.repeat([0.4, after, later], 15)
    report = fg.monitor(_days(rates, rng), _TWO_GROUPS)
    found: Occurrences = {"alarm": bool(report.alarms)}
    for each in report.alarms:
        now = each.alarm.now if each.alarm else None
        if now is not None and now.low is not None and now.high is not None:
            place = report.periods.index(now.first)
            truth = float(rates[place:].mean() / 0.4)
            found["now covers"] = now.low <= truth <= now.high
        if later == 0.4:
            found["still called outside"] = each.alarm is not None and (
                each.alarm.currently == "outside"
            )
    return found


def baseline_of_a_day(rng: np.random.Generator) -> Occurrences:
    """A baseline has the counts of one of the days, by coincidence."""
    days = _days(np.full(5, 0.4), rng)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.json"
        days["2026-01-03"].save(path)
        rule = {"metric": "selection_rate.difference", "within": 0.1, "of": str(path)}
        try:
            fg.monitor(days, _TWO_GROUPS | {"monitor": {"rules": [rule]}})
        except fg.FairgaugeError:
            return {"an error stops the monitor": True}
    return {"an error stops the monitor": False}


# 13: paired comparisons at the margin


def pairs_at_the_margin(
    rows: int, discordant: float, margin: float, change: float, rng: np.random.Generator, size: int
) -> Iterator[tuple[str, bool]]:
    """Draw rows of two models, and hold the change of a rate to the margin."""
    shares = [(discordant + change) / 2, (discordant - change) / 2]
    better, worse, _ = rng.multinomial(rows, [*shares, 1 - sum(shares)], size).T
    low, high = paired_difference(better, worse, rows, critical(0.95))
    for i in range(size):
        yield "kept", bool(low[i] > -margin)
        beyond = high[i] < -margin  # then the verdict asks for the exact p-value, too
        worse_p = exact_p(better[i], worse[i], rows, -margin) if beyond else 1.0
        yield "worse", worse_p <= 0.025


# 14: one sum over strata


def thin_strata(strata: int, most: int, rng: np.random.Generator) -> Occurrences:
    """Strata of a few rows a side whose groups do not differ; three metrics adjusted for them."""
    n = rng.integers(1, most, (strata, 2), endpoint=True)
    x = rng.binomial(n, rng.uniform(0.05, 0.95, (strata, 1)))
    cells = np.stack([x, n - x], axis=-1).reshape(strata, 4)
    data = pl.DataFrame(
        {
            "group": np.tile(["g0", "g0", "g1", "g1"], strata),
            "stratum": np.repeat(np.arange(strata), 4), "prediction": [1, 0] * (2 * strata),
            "n": cells.ravel(),
        }
    ).filter(pl.col("n") > 0)  # fmt: skip
    metrics = ["selection_rate.difference", "selection_rate.ratio", "selection_odds.ratio"]
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=metrics)
    found = {
        each.metric: each.p_value < 0.05
        for each in report.estimates
        if each.scope.kind == "pooled" and each.group == "g0" and each.p_value is not None
    }
    return {f"p of {name}": below for name, below in found.items()} | {
        "not on one side of .05": len(set(found.values())) > 1
    }


# 16: fails that remain


def fails_at_the_limits(rng: np.random.Generator) -> Occurrences:
    """Ten groups, half of them at a limit of one of two rules."""
    sizes = np.full(10, 400)
    data = selected(rng.binomial(sizes, np.repeat([0.35, 0.45], 5)), sizes)
    rules = ["selection_rate <= 0.45", "selection_rate >= 0.35"]
    report = fg.audit(data, **COUNTED, metrics=["selection_rate"], rules=rules)
    return {
        "a fail": report.verdict == "fail",
        "a fail that remains": any(v.outcome == "fail" and v.remains for v in report.verdicts),
        "a probability on the first page": "robability of a false" in str(report.brief()),
    }


# verbs together


def _people(n: int, shift: float, rng: np.random.Generator) -> pl.DataFrame:
    """Draw scored people; those of F may have lower scores from a change on."""
    sex = np.where(rng.random(n) < 0.45, "F", "M")
    label = (rng.random(n) < 0.5).astype(int)
    signal = 1.5 * (label - 0.5) + rng.standard_normal(n) - (0.25 + shift) * (sex == "F")
    score = np.round(1 / (1 + np.exp(-signal)), 2)
    return pl.DataFrame({"sex": sex, "repaid": label, "score": score})


def _true_ratio(cut: float, shift: float) -> float:
    """Return the ratio of selection rates at a threshold of scores of two digits."""
    at = np.log((cut - 0.005) / (1.005 - cut))
    of_f, of_m = (
        np.mean([stats.norm.sf(at, half - lower) for half in (-0.75, 0.75)])
        for lower in (0.25 + shift, 0.0)
    )
    return float(of_f / of_m)


def chain(shift: float, rng: np.random.Generator) -> Occurrences:
    """Choose a threshold, audit and compare new rows decided by it, then follow 30 days."""
    asked: dict[str, Any] = {"sensitive": "sex", "label": "repaid", "positive": 1}
    choice = fg.thresholds(
        _people(2500, 0.0, rng), score="score", threshold=0.5,
        rules=["selection_rate.ratio >= 0.8"], margins={"accuracy": 0.03}, **asked,
    )  # fmt: skip
    common = choice["sex"].common
    if common is None:
        return {}
    cut = common.threshold
    before, after = _true_ratio(cut, 0.0), _true_ratio(cut, shift)
    passes = common.outcome == "pass"
    found: Occurrences = {"PASS": passes, "false PASS": passes and before < 0.8}

    def decided(n: int, moved: float) -> pl.DataFrame:
        rows = _people(n, moved, rng)
        return rows.with_columns(approved=(pl.col("score") >= cut).cast(int))

    rule = {"metric": "selection_rate.ratio", "at_least": 0.9 * before}
    asked |= {"prediction": "approved"}
    old, new = (
        fg.audit(decided(n, moved), **asked, metrics=["selection_rate.ratio", "accuracy"])
        for n, moved in ((2400, 0.0), (2500, shift))
    )
    compared = fg.compare(old, new)
    directions = [e.direction for e in compared.changes if e.significant]
    if shift:
        found |= {"a change of the wrong direction": "closer" in directions}
    else:
        found |= {"worse": compared.worse}
    first = dt.date(2026, 1, 1)
    days = {
        str(first + dt.timedelta(days=t)): fg.count(
            decided(200, shift if t >= 10 else 0.0), **asked
        )
        for t in range(30)
    }
    report = fg.monitor(days, asked | {"monitor": {"rules": [rule], "horizon": 30}})
    alarm = report.alarms[0].alarm if report.alarms else None
    found["alarm"] = alarm is not None
    if alarm is not None and alarm.now is not None and alarm.now.low is not None:
        held = [
            after if t >= 10 else before for t in range(report.periods.index(alarm.now.first), 30)
        ]
        sides = report.alarms[0].group == "F"
        truth = float(np.mean(held)) if sides else 1 / float(np.mean(held))
        found["now covers"] = alarm.now.low <= truth <= (alarm.now.high or 0.0)
    return found


def found_then_audited(rng: np.random.Generator) -> Occurrences:
    """Search rows without any difference for subgroups; audit the best of it on new rows."""

    def drawn(n: int) -> pl.DataFrame:
        columns = {name: rng.choice(list("xyz"), n) for name in ("a", "b", "c")}
        right = (rng.random(n) < 0.8).astype(int)
        return pl.DataFrame({**columns, "label": [1] * n, "prediction": right})

    asked = {"label": "label", "prediction": "prediction", "positive": 1}
    search = fg.find(drawn(1500), metrics="accuracy", sensitive=["a", "b", "c"], **asked)
    found = {"find claims one": bool(search.worse)}
    report = fg.audit(
        drawn(1500), sensitive=["a", "b", "c"], intersections=[["a", "b"]],
        metrics=["accuracy"], **asked,
    )  # fmt: skip
    return found | {"an audit of new rows marks one": any(map(is_significant, report.estimates))}


def protected_then_audited(rng: np.random.Generator) -> Occurrences:
    """Protect the counts of groups that do not differ, then audit them."""
    sizes = rng.integers(40, 600, 5)
    share = np.array([0.25, 0.15, 0.2, 0.4])
    drawn = {f"g{i}": dict(zip(("tp", "fp", "fn", "tn"), map(int, rng.multinomial(n, share)),
                               strict=True)) for i, n in enumerate(sizes)}  # fmt: skip
    exact = fg.confusion("group", drawn)
    asked: dict[str, Any] = {
        "metrics": ["selection_rate.difference"], "reference": {"group": "g0"},
        "rules": [fg.rule("selection_rate.difference", between=(-0.1, 0.1))],
    }  # fmt: skip
    one, other = fg.audit(exact, **asked), fg.audit(fg.protect(exact, min_cell=10), **asked)
    opposite = any(
        {a.outcome, b.outcome} == {"pass", "fail"}
        for a, b in zip(one.verdicts, other.verdicts, strict=True)
    )
    return {
        "a star": any(map(is_significant, other.estimates)),
        "a verdict opposite to that of the exact counts": opposite,
        "FAIL": other.verdict == "fail",
    }


def clustered_strata(rng: np.random.Generator) -> Occurrences:
    """Groups that do not differ, in clusters that are alike, within three strata."""
    clusters = 150
    size = rng.integers(1, 9, clusters)
    of_cluster = np.repeat(np.arange(clusters), size)
    stratum = rng.integers(0, 3, clusters)
    rate = rng.beta(4, 4, clusters) * np.array([0.8, 1.0, 1.2])[stratum]
    group = np.where(rng.random(clusters) < 0.4, "F", "M")
    data = pl.DataFrame(
        {
            "group": group[of_cluster], "stratum": stratum[of_cluster], "cluster": of_cluster,
            "prediction": (rng.random(len(of_cluster)) < rate[of_cluster]).astype(int),
        }
    )  # fmt: skip
    report = fg.audit(
        data, prediction="prediction", positive=1, sensitive="group", strata="stratum",
        cluster="cluster", metrics=["selection_rate.difference"],
    )  # fmt: skip
    return {"a star": any(map(is_significant, report.estimates)),
            "a reversal": any(each.code == "simpson" for each in report.diagnostics)}  # fmt: skip


def other_groups_between(rng: np.random.Generator) -> Occurrences:
    """The second report has a further group and other shares; nobody is treated otherwise."""
    reports = []
    for groups, most in ((3, 900), (4, 500)):
        sizes = rng.integers(60, most, groups)
        data = selected(rng.binomial(sizes, 0.35), sizes)
        rule = fg.rule("DI", at_least=0.8)
        reports.append(fg.audit(data, **COUNTED, metrics=["DPPL", "DI"], rules=[rule]))
    compared = fg.compare(*reports)
    return {
        "worse": compared.worse,
        "changed": any(each.changed for each in compared.changes),
        "changed sides": any(each.other_side for each in compared.changes),
    }


def _reviewed(row: str, of: str, *parts: str) -> Iterator[Design]:
    """Yield designs of the reviewed audits as those of a row."""
    for each in REVIEWED:
        if each.of == of and any(part in each.setting for part in parts):
            yield replace(each, of=row)


_TOGETHER, _CHAIN = "together", "thresholds, then compare, then 30 monitored days"
_CLOSEST = "disparity at the limit of the goal at the closest of"
DESIGNS: tuple[Design, ...] = (
    alone("1", "TPR of 5 % of 1,500 rows .78 to .60", _FALSELY, harmed_group),
    alone("2", "F 7.2 pp below M, then 6 pp above", "90 or more", changed_sides),
    alone("3, 4", "the only threshold that meets the goal has an accuracy worse by the margin",
          _FALSE_PASS, partial(chosen_thresholds, 20, 0.3, 40_000_000, -3, "margin")),
    alone("3, 4", "the margin just allows the tenth threshold",
          _FALSE_PASS, partial(chosen_thresholds, 50, 0.5, 4_000_000, -10, "margin")),
    alone("3, 4", f"{_CLOSEST} 20 thresholds",
          _FALSE_PASS, partial(chosen_thresholds, 20, 0.3, 4_000_000, -3, "goal")),
    alone("3, 4", f"{_CLOSEST} 50 thresholds",
          _FALSE_PASS, partial(chosen_thresholds, 50, 0.5, 4_000_000, -10, "goal")),
    *_reviewed("5", "families", "12 rows", "worst odds"),
    *_reviewed("6", "families", "20 equal", "21 equal"),
    alone("6", "21 groups that differ a little", _NEVER, partial(stars_and_intervals, 21)),
    alone("7", "98 people more, who decide nothing", _NEVER, beside_a_tiny_group),
    *_reviewed("8", "families", "3 features"),
    alone("10", "ratio 1 to .6 on day 15 of 45", "now covers 93.5 or more",
          partial(what_is_now, 0.24, 0.24)),
    alone("10", "the same, back to 1 on day 30", "still at most 2.5",
          partial(what_is_now, 0.24, 0.4)),
    alone("11", "baseline with the counts of a day", _NEVER, baseline_of_a_day),
    *(alone("12", f"two groups, ratio {rate / 0.4:g}, at least .8", _SELDOM,
            partial(two_groups_at_the_limit, rate)) for rate in (0.32, 0.4, 0.5)),
    Design("13", "0.0201 discordant: worse by the margin of .02", _FALSELY,
           partial(pairs_at_the_margin, 518, 0.0201, 0.02, -0.02), _MANY),
    alone("14", "300 strata of 1 to 4 rows a side", "p of about 5", partial(thin_strata, 300, 4)),
    alone("14", "40 strata of 1 to 12 rows a side", "p of about 5", partial(thin_strata, 40, 12)),
    *_reviewed("15", "11", "as many rows as would decide"),
    alone("16", "10 groups, each at a limit of 2 rules", "a fail that remains at most 2.5",
          fails_at_the_limits),
    alone(_TOGETHER, f"{_CHAIN}: no change", "false PASS, worse, alarm at most 5",
          partial(chain, 0.0)),
    alone(_TOGETHER, f"{_CHAIN}: scores of F fall by .5", "now covers 93.5 or more",
          partial(chain, 0.5)),
    alone(_TOGETHER, "find, then an audit of new rows: no difference", _SELDOM,
          found_then_audited),
    alone(_TOGETHER, "protected counts: no difference", _SELDOM, protected_then_audited),
    alone(_TOGETHER, "clusters within strata: no difference", _SELDOM, clustered_strata),
    alone(_TOGETHER, "a further group and other shares in the second report", _SELDOM,
          other_groups_between),
)  # fmt: skip


if __name__ == "__main__":
    print_table(count_designs(__doc__, "coverage_of_decisions.json", DESIGNS))
