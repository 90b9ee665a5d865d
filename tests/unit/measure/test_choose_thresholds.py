"""Thresholds that meet a goal: the frontier, the choice and its price."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.measure.choose_thresholds import counts_at, least_gain
from fairgauge.resolve.resolution import resolve
from fairgauge.results.verdicts import gravest
from fairgauge.start.records import replace


def scored(n=6_000, gap=0.5, seed=0):
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.4, "F", "M")
    repaid = (rng.random(n) < 0.5).astype(int)
    signal = 1.5 * (repaid - 0.5) + rng.normal(size=n) - gap * (sex == "F") - 0.5
    score = (1 / (1 + np.exp(-signal))).round(3)
    return pl.DataFrame(
        {
            "sex": sex, "region": rng.choice(["north", "south", "west"], n),
            "person": rng.integers(0, n, n), "weight": rng.uniform(0.5, 2.0, n), "repaid": repaid,
            "score": score,
        }
    )  # fmt: skip


PEOPLE = scored()
QUESTION = {"label": "repaid", "score": "score", "threshold": 0.5, "sensitive": "sex"}


def chosen(data=PEOPLE, rules="selection_rate.ratio >= 0.75", margins=(), **options):
    margins = dict(margins) or {"accuracy": 0.05}
    return fg.thresholds(data, rules=rules, margins=margins, **{**QUESTION, **options})


def test_the_choice_is_the_closest_that_surely_meets_the_goal():
    found = chosen(scored(2_000, seed=1).with_columns(n=pl.lit(200)), count="n")
    cut = found["sex"].common.threshold
    outcomes = {p.threshold: p.outcome for p in found["sex"].frontier}
    assert outcomes[cut] is found["sex"].common.outcome is Outcome.PASS
    assert cut < found.today
    assert Outcome.PASS not in {o for t, o in outcomes.items() if cut < t <= found.today}


def test_todays_threshold_is_judged_first_as_an_audit_judges_it():
    """A random half made three answers in eight seeds, and moved a threshold that passes."""
    for limit in (0.55, 0.6, 0.65, 0.7):
        goal = f"selection_rate.ratio >= {limit}"
        found = chosen(rules=goal, margins={"accuracy": 0.2})["sex"]
        (report,) = fg.audit(PEOPLE, rules=goal, **QUESTION).verdicts
        assert (found.common.threshold == 0.5) is (report.outcome is Outcome.PASS)
        assert found.common.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("lacking", "reference"),
    [("sex", "best"), ("region", "others"), ("repaid", "best"), ("score", "others")],
)
def test_today_comes_to_what_an_audit_says_whatever_is_missing(lacking, reference):
    """Rows without an outcome were in no selection rate, and groups were taken for any."""
    of_some = pl.when(pl.int_range(pl.len()) % 20 > 0).then(lacking)
    asked = {**QUESTION, "sensitive": ["sex", "region"], "reference": reference}
    counts, outcomes = fg.count(PEOPLE.with_columns(of_some.alias(lacking)), **asked), set()
    selection = [f"selection_rate.ratio >= {limit}" for limit in (0.55, 0.75, 0.95)]
    for goal in (*selection, "true_positive_rate.ratio >= 0.75"):
        found = fg.thresholds(counts, rules=goal, margins={"accuracy": 0.2})
        verdicts = fg.audit(counts, rules=goal).verdicts
        for of in found.features:
            (today,) = (point for point in of.frontier if point.threshold == 0.5)
            own = {each.value: each.outcome for each in verdicts if each.feature == of.feature}
            assert today.outcome is gravest(own.values())
            assert today.disparity in [pytest.approx(value) for value in own]
            outcomes.add(today.outcome)
    assert outcomes == {Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL}


def test_candidates_are_named_or_quantiles_that_know_no_outcome():
    found = chosen(threshold=[0.5, 0.333])
    cuts = [point.threshold for point in found["sex"].frontier]
    assert (found.today, {0.5, 0.333} < {*cuts}, 10 < len(cuts) <= 22) == (0.5, True, True)
    turned = chosen(PEOPLE.with_columns(repaid=1 - pl.col("repaid")), threshold=[0.5, 0.333])
    assert [point.threshold for point in turned["sex"].frontier] == cuts
    shares = [(PEOPLE["score"] < cut).mean() for cut in cuts if cut not in (0.5, 0.333)]
    assert np.diff([0, *shares, 1]) == pytest.approx([1 / 21] * 21, abs=0.01)
    with pytest.raises(fg.SpecError, match="nothing is drawn at random"):
        chosen(seed=1)


def test_another_threshold_must_be_shown_among_all_candidates():
    """Its own interval meets the goal: of twenty candidates that is no evidence."""
    found, alone = set(), set()
    for limit in np.arange(0.70, 0.86, 0.03):
        of = chosen(rules=f"selection_rate.ratio >= {limit:.2f}", margins={"accuracy": 0.3})["sex"]
        cut = of.common and of.common.threshold
        for point in of.frontier:
            meets = point.disparity_interval.low >= limit
            assert meets or point.outcome is not Outcome.PASS
            if meets and 0.1 < point.threshold < 0.5:
                alone.add((limit, point.threshold))
                found |= {(limit, point.threshold)} if point.threshold == cut else set()
    assert found < alone


def test_a_rate_that_is_not_kept_is_no_choice():
    """The goal is met at less accuracy: far less, and about as much less as is allowed."""
    kept = {}
    data = scored(20_000, gap=0.6, seed=2)
    for margin in (0.03, 0.1, 0.13, 0.15, 0.2):
        found = chosen(data, "selection_rate.ratio >= 0.8", {"accuracy": margin}, threshold=0.3)
        effect = found["sex"].common
        kept[margin] = effect is not None
        assert found.exit_code in ((0,) if effect else (1, 3))
        if effect is not None:
            assert effect.performance.interval.low > -margin
            text = " ".join(str(found).split())
            assert "the whole confidence interval of the change in accuracy is above −" in text
    assert [*kept.values()] == sorted(kept.values())
    assert {*kept.values()} == {True, False}


def decisions(found, data):
    """Return the decisions at the common threshold."""
    cut = found["sex"].common.threshold
    return np.array([found.accepts.decides(score, cut) for score in data["score"].to_list()])


def test_a_group_with_insufficient_data_decides_nothing():
    """The others meet the goal: it is not met for all, and no model need be changed."""
    tiny = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("tiny")).otherwise("region")
    data = PEOPLE.with_columns(region=tiny)
    found = chosen(data, sensitive="region", margins={"accuracy": 0.01})
    common = found["region"].common
    assert common.threshold == found.today
    assert (common.outcome, found.exit_code) == (Outcome.NOT_EVALUATED, 3)
    statuses = {each.group: str(each.status) for each in common.disparities}
    assert [group for group, status in statuses.items() if status != "ok"] == ["tiny"]
    text = " ".join(str(found).split())
    assert "Not evaluated for tiny: n = " in text
    assert "change the model" not in text


DECIDES = {">=": np.greater_equal, "<": np.less}
SIDES = pytest.mark.parametrize(
    ("options", "accepts"),
    [
        ({}, ">="),
        ({"score_of": 0}, "<"),
    ],
)


def of_pd(data, options):
    """Return the rows with the score that the options ask for: of the positive value or not."""
    return (
        data.with_columns(score=(1 - pl.col("score")).round(3)) if "score_of" in options else data
    )


@pytest.mark.parametrize(
    ("low", "high", "cut"), [(1, 10, 6), (0, 255, 128), (300, 850, 640), (0, 1999, 777)]
)
def test_every_whole_number_is_a_threshold(low, high, cut):
    """The thousand steps of these ranges met few of them."""
    data = PEOPLE.with_columns(score=(low + (high - low) * pl.col("score")).round(0))
    options = {"score_range": (low, high), "threshold": cut}
    found = chosen(data, **options)
    assert found.today == cut
    assert {each.threshold for each in found["sex"].frontier} <= {*range(low, high + 1)}
    half = [fg.count(part, **QUESTION | options) for part in (data[:2_000], data[2_000:])]
    assert chosen(half[0] + half[1], **options).features == found.features


@pytest.mark.each_value
@SIDES
@pytest.mark.parametrize("scale", [(0.0, 1.0), (300.0, 800.0)])
def test_every_stated_threshold_decides_the_rows_as_stated(options, accepts, scale):
    """Accuracy and ratio are those that the stated thresholds come to on the given scores."""
    low, high = scale
    data = of_pd(scored(250, seed=5), options).with_columns(
        n=pl.lit(200_000), score=(low + (high - low) * pl.col("score")).round(3)
    )
    found = chosen(data, **options, positive=1, count="n", score_range=scale,
                   threshold=low + (high - low) * 0.4, margins={"accuracy": 0.2})  # fmt: skip
    assert found.accepts == accepts
    woman, label = data["sex"].to_numpy() == "F", data["repaid"].to_numpy() == 1

    def outcome(decided):
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = decided[woman].mean() / decided[~woman].mean()
        return (decided == label).mean(), ratio

    points = {point.threshold: point for point in found["sex"].frontier}
    for cut, point in points.items():
        accuracy, ratio = outcome(DECIDES[accepts](data["score"].to_numpy(), cut))
        assert point.performance == pytest.approx(accuracy, abs=2e-3)
        if point.group == "F" and point.disparity:
            assert point.disparity == pytest.approx(ratio, rel=1e-2)
    common = found["sex"].common
    accuracy, ratio = outcome(decisions(found, data))
    assert common.performance.new == pytest.approx(accuracy, abs=2e-3)
    (female,) = [each for each in common.disparities if each.group == "F"]
    assert female.new == pytest.approx(ratio, rel=1e-2)
    assert points[found.today].performance == pytest.approx(common.performance.old)
    assert fg.ThresholdChoice.from_dict(found.to_dict()) == found


def test_a_threshold_among_scores_that_are_counted_together_is_an_error():
    data = PEOPLE.with_columns(score=pl.col("score") + 0.0004)
    with pytest.raises(fg.SpecError, match=r"counted together.*give 0\.5 or 0\.501"):
        chosen(data, threshold=0.5002)


def test_weights_count_as_repeated_rows_do_in_rates_and_widen_intervals():
    plain = chosen()["sex"]
    for unit in (1.0, 40.0):
        same = chosen(PEOPLE.with_columns(weight=pl.lit(unit)), weight="weight")["sex"]
        for one, other in zip(plain.frontier, same.frontier, strict=True):
            assert other.performance == pytest.approx(one.performance)
            assert tuple(other.performance_interval) == pytest.approx(
                tuple(one.performance_interval)
            )
    weighted = chosen(weight="weight")["sex"]
    rate = weighted.common.performance
    assert rate.n < PEOPLE.height * 0.95  # the effective sample size
    decided = PEOPLE["score"].to_numpy() >= 0.5
    right = decided == PEOPLE["repaid"].to_numpy()
    assert rate.old == pytest.approx(np.average(right, weights=PEOPLE["weight"]), abs=0.02)


def test_a_threshold_of_a_scale_around_0_can_be_searched():
    """0.35 of scores from -1 to 1 is an edge; where none is, what is advised is accepted."""
    rows = {"g": ["a", "b"] * 200, "y": [1, 1, 0, 0] * 100, "s": [0.9, 0.35, -0.2, 0.4] * 100}
    asked = {"label": "y", "score": "s", "sensitive": "g", "rules": "selection_rate.ratio >= 0.1"}
    assert fg.thresholds(rows, threshold=0.35, score_range=(-1, 1), **asked).today == 0.35
    scores = rows | {"s": [9, 6, 2, 3] * 100}
    with pytest.raises(fg.SpecError, match=r"give 5\.997 or 6\.0065"):
        fg.thresholds(scores, threshold=6, score_range=(1, 10.5), **asked)
    assert fg.thresholds(scores, threshold=5.997, score_range=(1, 10.5), **asked).today == 5.997


ASKED = {"label": "y", "positive": 1, "score": "p", "threshold": 0.5, "sensitive": "sex"}
RULE = "selection_rate.ratio >= 0.8"


def table(n: int = 8_000) -> tuple[pd.DataFrame, pd.Series]:
    """Return people of whom 60 of 100 men and 44 of 100 women are accepted at 0.5.

    With half of the refused women: without them, the goal is met.
    """
    rng = np.random.default_rng(9)
    sex = rng.choice(["F", "M"], n)
    accepted = rng.random(n) < np.where(sex == "F", 0.44, 0.6)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "p": np.clip(np.where(accepted, 0.7, 0.3) + rng.normal(0, 0.08, n), 0, 1).round(2),
            "w": 1.0,
        }
    )
    frame["y"] = (rng.random(n) < 0.3 + 0.4 * frame.p).astype(float)
    left = (frame.sex == "F") & (frame.p < 0.5) & (rng.random(n) < 0.5)
    return frame, left


@pytest.mark.parametrize("column", ["sex", "w", "y", "p"])
def test_no_pass_rests_on_rows_that_lack_something(column: str) -> None:
    frame, left = table()
    asked = ASKED | ({"weight": "w"} if column == "w" else {})
    whole = fg.thresholds(frame, rules=RULE, **asked)
    assert whole.exit_code != 0
    frame[column] = frame[column].where(~left)
    rule = "true_positive_rate.ratio >= 0.7" if column == "y" else RULE
    found = fg.thresholds(frame, rules=rule, **asked)
    assert found.exit_code == 3
    common = found["sex"].common
    assert common is not None
    assert common.goal_outcome is Outcome.INCONCLUSIVE
    assert common.goal_reason is not None
    today = next(each for each in found["sex"].frontier if each.threshold == 0.5)
    assert today.outcome is Outcome.INCONCLUSIVE
    assert fg.audit(frame, rules=rule, **asked).verdict is Outcome.INCONCLUSIVE
    rows = f"{left.sum():,}"
    text = " ".join(str(found).split())
    assert f"the {rows} rows without a " in text
    assert f"Excluded: {rows} rows (missing " in text
    assert any(each["rows"] == left.sum() for each in found.diagnostics
               if each.level == "warning" and each.get("rows"))  # fmt: skip


@pytest.mark.parametrize("rate", ["accuracy", "true_positive_rate", "false_positive_rate"])
@pytest.mark.parametrize("lacking", ["y", "p", "sex", "undecided"])
def test_no_gain_is_below_the_least_whatever_they_are(rate: str, lacking: str) -> None:
    """Of all that a few rows may be."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": list("FFFFFMMMMM"), "p": rng.choice([0.2, 0.4, 0.6, 0.8], 10),
                          "y": rng.integers(0, 2, 10) * 1.0})  # fmt: skip
    undecided = lacking == "undecided"  # counted as not positive, and may be either
    lacking, few = "y" if undecided else lacking, frame.index.isin([1, 4, 7])
    words = frame.y.map({1.0: "yes", 0.0: "no"}).where(~few, "Open")
    frame.loc[few, lacking] = 0.0 if undecided else np.nan
    asked = ASKED | ({"positive": "yes"} if undecided else {})
    spec = fg.count(frame.assign(y=words) if undecided else frame, **asked)
    resolution = resolve(spec, spec.asked)
    cuts = np.array([0.3, 0.5, 0.7])
    outcome, row = resolution.outcomes[0], spec.asked.catalogue.rate(rate)
    decided = replace(outcome, predictions=np.array([True, False]), open_predictions=None)
    at = {cut: counts_at(resolution.features[0], outcome, cut) for cut in cuts.tolist()}

    def gain(of: pd.DataFrame, cut: float) -> float:
        old, new = (_share(of, at, rate) for at in (0.5, cut))
        return old - new if rate == "false_positive_rate" else new - old

    values = {"y": [0.0, 1.0], "p": [0.2, 0.4, 0.6, 0.8], "sex": ["F"]}[lacking]
    known = frame.dropna()
    for cut in cuts:
        every = []
        for filled in product(values, repeat=3):
            complete = frame.copy()
            complete.loc[few, lacking] = filled
            every.append(gain(complete, cut))
        least = least_gain(row, at[0.5], at[float(cut)], decided)
        assert least <= np.nanmin([*every, gain(known, cut)]) + 1e-12
        assert least > -1.5


def _share(of: pd.DataFrame, cut: float, rate: str) -> float:
    yes = of.p >= cut
    if rate == "accuracy":
        return float((yes == (of.y == 1)).mean())
    return float(yes[of.y == (rate == "true_positive_rate")].mean())


# ---- what is compared with what: at every threshold, and where the reference itself would fail
RULES = ["others", "overall", "largest", "best", {"g": "C"}]
GOAL = "selection_rate.ratio >= 0.8"


def scored_refs(seed=1, groups=("A", "B", "C"), shares=(0.6, 0.3, 0.1), n=2000, unlabelled=False):
    """Return rows whose best group changes with the threshold."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n, p=shares)
    place = np.searchsorted(groups, group)
    score = np.clip(rng.normal(0.5 + 0.05 * place, 0.25 - 0.05 * place), 0, 1).round(2)
    label = (rng.random(n) < score).astype(int).tolist()
    if unlabelled:  # more of them in one group, so that it is the best of labelled rows alone
        label = [
            None if g == "A" and s < 0.4 else y for g, s, y in zip(group, score, label, strict=True)
        ]
    return pl.DataFrame({"g": group, "s": score, "y": label})


ASKED_REFS = {"label": "y", "score": "s", "sensitive": "g", "positive": 1}


@pytest.mark.each_value
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": ("A", "B"), "shares": (0.7, 0.3)},
        {"shares": (0.6, 0.394, 0.006)},  # C has too few rows to be the best
        {"unlabelled": True},
    ],
    ids=["three groups", "two groups", "a group of 12 rows", "rows without a label"],
)
def test_every_threshold_has_the_reference_of_an_audit_at_it(rule, options):
    if rule == {"g": "C"} and "C" not in options.get("groups", "ABC"):
        rule = {"g": "B"}
    rows = scored_refs(**options)
    (choice,) = fg.thresholds(
        rows, reference=rule, threshold=0.5, rules=GOAL, **ASKED_REFS
    ).features
    points = choice.frontier[::2]
    audits = fg.audit(
        rows, reference=rule, metrics="selection_rate.ratio",
        threshold=[point.threshold for point in points], **ASKED_REFS,
    )  # fmt: skip
    estimates = {(each.threshold, each.group): each for each in audits.estimates}
    assert len(points) > 5
    for point in points:
        estimate = estimates[point.threshold, point.group]
        assert point.reference == estimate.reference
        # one interval of one gap
        ends = tuple(point.disparity_interval or ())
        assert ends == pytest.approx(tuple(estimate.interval or ()), rel=1e-9)


def counts_of(rates: dict[str, float], n: int = 20_000) -> fg.Cube:
    return selected({name: (round(n * rate), n) for name, rate in rates.items()})


def turned(report: fg.Report) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (note["rule"], note["group"]): note["references"]
        for note in report.diagnostics
        if note.code is DiagnosticCode.REFERENCE_DECIDES
    }


def test_of_two_groups_a_reference_that_fails_itself_is_named() -> None:
    """The group that fares worse, named as the reference, passed without a warning."""
    rates = {"F": 0.3, "M": 0.5}
    asked = {"reference": {"g": "F"}, "rules": ["DI >= 0.8"]}
    report = fg.audit(counts_of(rates), **asked)
    assert report.verdict is Outcome.INCONCLUSIVE
    assert fg.audit(counts_of(rates), **asked, accept="reference_decides").verdict is Outcome.PASS
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message.startswith(
        "the rule DI >= 0.8 holds for 'M', compared with 'F'; compared with 'M' "
        "instead, 'F' would fail: check that what is favourable is stated the right way round "
        "(--favourable); if it is, name another reference (--reference), or recode rows of 'F' "
    )
    for reference in ({"g": "M"}, "best"):  # fails, as it should
        assert not turned(fg.audit(counts_of(rates), reference=reference, rules=["DI >= 0.8"]))


def test_a_named_set_that_passes_is_warned_of_where_all_others_would_fail() -> None:
    """The others had 0.6 of its rate: a pass, as two sets of all values fail."""
    counts = counts_of({"a": 0.5, "b": 0.3, "c": 0.5, "d": 0.3})
    one, other = {"g": [["a", "c"]]}, {"g": [["b", "d"]]}
    report = fg.audit(counts, sensitive=one, rules=["DI >= 0.8"])
    assert report.verdict is Outcome.INCONCLUSIVE
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message == (
        "the rule DI >= 0.8 holds for 'a, c', compared with all others; these, "
        "compared with 'a, c', would fail: check that what is favourable is stated the right way "
        "round (--favourable); if it is, judge them too: name their values as a further "
        "set (--sensitive g=V1,V2); if it is meant, accept it (--accept reference_decides:g)"
    )
    for sensitive in (other, {"g": [["a", "c"], ["b", "d"]]}):
        failed = fg.audit(counts, sensitive=sensitive, rules=["DI >= 0.8"])
        assert failed.verdict is Outcome.FAIL
        assert not turned(failed)
    assert not turned(fg.audit(counts, sensitive=one, rules=["DI >= 0.5"]))
