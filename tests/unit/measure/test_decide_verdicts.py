"""Verdicts: the whole interval decides, and what it cannot decide says what would."""

import importlib
import itertools
import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm
from tests.selected_groups import selected as of_groups

import fairgauge as fg
from fairgauge.enums import Average, ClassKind, DiagnosticCode, Outcome, ReferenceKind, Task
from fairgauge.inference.needed_rows import needed_rows
from fairgauge.measure.decide import judge as decide
from fairgauge.measure.measure import measure
from fairgauge.measure.measured import Measured
from fairgauge.question.rules import allows
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import ClassScope, Interval, Reference
from fairgauge.results.verdicts import Verdict, overall
from fairgauge.rowwise import row_metrics as row_reader
from fairgauge.scan.row_codes import coded_rows, read_rows
from fairgauge.stats.contrasts import newcombe


def audited(rule, a=(60, 140), b=(59, 141), **options):
    cells = {name: {"tp": x, "fn": y} for name, (x, y) in {"a": a, "b": b}.items()}
    return fg.audit(fg.confusion("g", cells), metrics="DPPL", rules=[rule], **options)


def verdict(report, group="a"):
    (found,) = [v for v in report.verdicts if v.group == group]
    return found


def made(**fields):
    given = {
        "metric": "selection_rate.difference", "set": "native", "feature": "g", "group": "a",
        "reference": Reference(ReferenceKind.OTHERS), "value": 0.1,
        "interval": Interval(0.05, 0.15, 0.95),
    }  # fmt: skip
    return Estimate(**given | fields)


def judge(estimates, rules):
    return decide(Measured(Task.BINARY, (), tuple(estimates), ()), rules)


ANY = Reason.of(ReasonCode.INSIDE)
DIFFERENCE = fg.rule("selection_rate.difference", between=(-0.1, 0.1))


def test_rows_said_to_decide_do_decide():
    limits = (-0.05, 0.05)
    few = audited(fg.rule("selection_rate.difference", between=limits))
    times = math.ceil(verdict(few).reason["needed"] / 400)
    more = audited(
        fg.rule("selection_rate.difference", between=limits),
        a=(60 * times, 140 * times),
        b=(59 * times, 141 * times),
    )
    assert verdict(more).outcome is Outcome.PASS


def test_a_value_on_the_limit_is_never_decided():
    found = verdict(
        audited(fg.rule("selection_rate.difference", at_most=0.0), (60, 140), (60, 140))
    )
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reason["on_limit"]
    assert "would decide" not in found.says  # it would help nobody


def test_the_value_alone_decides_where_that_is_asked():
    rule = fg.rule("selection_rate.difference", at_most=0.0, decide="point")
    found = verdict(audited(rule))
    assert found.outcome is Outcome.FAIL
    assert found.reason == Reason.of(ReasonCode.POINT_OUTSIDE)
    assert found.says.endswith("the value is outside the limits (decided by the value alone)")


def test_a_value_on_the_limit_is_inside_however_it_is_rounded():
    ratio, difference = fg.rule("DI", at_least=0.8), fg.rule("RD", between=(-0.15, 0.15))
    counts = [(k, n) for n in range(1, 60) for k in range(4, n, 4)]
    exact = [(k, n, 5 * k // 4, m) for k, n in counts for m in (n, 2 * n)]
    assert all(allows(ratio, (k / n) / (others * (m // n) / m)) for k, n, others, m in exact)
    assert all(allows(difference, k / n - (k / n + 0.15)) for k, n, *_ in exact)
    least_missed = 0.8 - 1 / 10**9
    assert not allows(ratio, least_missed)


@pytest.mark.parametrize("decide", ["interval", "point", "significant"])
@pytest.mark.parametrize("of_group", [40, 4, 2])
def test_an_infinite_ratio_passes_no_limit(decide, of_group):
    """Of the reference nobody, so that the ratio, or the upper end of its interval, is infinite."""
    rule = fg.rule("selection_rate.ratio", at_most=4.0, decide=decide)
    report = audited(rule, a=(of_group, 60), b=(0, 60))
    assert verdict(report).interval.high == math.inf
    assert report.verdict is not Outcome.PASS
    assert not allows(rule, math.inf)
    assert not allows(fg.rule("AD", at_least=-0.1), -math.inf)


RULES = [
    fg.rule("selection_rate.ratio", at_most=4.0),
    fg.rule("selection_rate.ratio", at_least=0.8),
    fg.rule("selection_rate.ratio", between=(0.8, 1.25)),
    fg.rule("selection_rate.difference", between=(-0.2, 0.2)),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("selected", [*product((0, 6, 12, 25, 50), (0, 3, 25, 50))])
def test_a_verdict_is_where_its_whole_interval_is(selected, rule):
    for each in audited(rule, *((of, 60 - of) for of in selected)).verdicts:
        if each.outcome is Outcome.PASS:
            assert rule.low <= each.interval.low <= each.interval.high <= rule.high
        if each.outcome is Outcome.FAIL:
            assert each.interval.low > rule.high or each.interval.high < rule.low


@pytest.mark.parametrize("decide", ["interval", "point"])
def test_too_few_rows_never_decide(decide):
    report = audited(fg.rule("DI", at_least=0.8, decide=decide), a=(1, 18))
    found = verdict(report)
    assert found.outcome is Outcome.NOT_EVALUATED
    assert found.reason == Reason.of(ReasonCode.FEW_ROWS, n=19, minimum=20).on("group")
    assert report.verdict is Outcome.INCONCLUSIVE


def test_without_an_interval_only_the_value_can_decide():
    unknown = Reason.of(ReasonCode.NO_METHOD, of="it")
    plain = made(interval=None, reason=unknown)
    (found,) = judge([plain], [DIFFERENCE])
    assert found.outcome is Outcome.NOT_EVALUATED
    assert found.reason == unknown
    (found,) = judge([plain], [fg.rule(DIFFERENCE.metric, at_most=0.2, decide="point")])
    assert found.outcome is Outcome.PASS


def test_strata_never_decide_but_pooled_metrics_do():
    frame = pl.DataFrame(
        [
            {"g": g, "s": s, "y": y}
            for g, s, y, n in [
                ("a", "x", 1, 30), ("a", "x", 0, 70), ("b", "x", 1, 50), ("b", "x", 0, 50),
                ("a", "y", 1, 60), ("a", "y", 0, 40), ("b", "y", 1, 40), ("b", "y", 0, 60),
            ]
            for _ in range(n)
        ]
    )  # fmt: skip
    rules = [fg.rule("DPL", between=(-0.3, 0.3)), fg.rule("CDDL", between=(-0.3, 0.3))]
    report = fg.audit(frame, label="y", sensitive="g", strata="s", metrics="CDDL", rules=rules)
    assert [(v.metric, v.group, v.outcome) for v in report.verdicts] == [
        ("DPL", "a", Outcome.PASS),
        ("CDDL", "a", Outcome.PASS),
    ]


def test_rules_hold_for_the_named_features_and_groups_alone():
    every = [made(), made(group="b"), made(feature="h"), made(metric="DI")]
    rule = fg.rule("selection_rate.difference", at_most=0.2, features="g", groups="b")
    assert judge(every, [rule]) == (
        Verdict(
            rule="selection_rate.difference <= 0.2", metric="selection_rate.difference",
            feature="g", group="b", outcome=Outcome.PASS, reason=Reason.of(ReasonCode.INSIDE),
            value=0.1, interval=Interval(0.05, 0.15, 0.95),
        ),
    )  # fmt: skip


def test_the_worst_class_decides_and_is_named():
    classes = [
        made(class_scope=scope, value=value, interval=Interval(*ends, 0.95))
        for scope, value, ends in (
            (ClassScope(ClassKind.CLASS, "x"), 0.0, (-0.05, 0.05)),
            (ClassScope(ClassKind.CLASS, "y"), 0.3, (0.2, 0.4)),
            (ClassScope(ClassKind.WORST, "y"), 0.3, (0.2, 0.4)),
            (ClassScope(ClassKind.AVERAGE, average=Average.MACRO), 0.3, (0.2, 0.4)),
        )
    ]
    (found,) = judge(classes, [DIFFERENCE])
    assert found.outcome is Outcome.FAIL
    assert found.reason == Reason.of(ReasonCode.ABOVE, limit=0.1)
    assert found.class_scope == ClassScope(ClassKind.CLASS, "y")
    assert found.says.endswith("is above 10 pp (class y)")


def test_the_worst_threshold_decides_and_is_named():
    every = [
        made(threshold=0.3, value=0.0, interval=Interval(-0.05, 0.05, 0.95)),
        made(threshold=0.5),
    ]
    (found,) = judge(every, [DIFFERENCE])
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.threshold == 0.5
    assert found.says.endswith("(threshold 0.5)")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Outcome.NONE),
        ([Outcome.PASS], Outcome.PASS),
        ([Outcome.PASS, Outcome.INCONCLUSIVE], Outcome.INCONCLUSIVE),
        ([Outcome.PASS, Outcome.NOT_EVALUATED], Outcome.INCONCLUSIVE),
        ([Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS], Outcome.FAIL),
    ],
)
def test_all_verdicts_come_to_the_worst(outcomes, expected):
    every = [
        Verdict(rule="", metric="", feature=None, group="", outcome=each, reason=ANY)
        for each in outcomes
    ]
    assert overall(every) is expected


BOTH_QUANTILES = (1.959964 + 0.841621) / 1.959964  # of the interval and of the power, as one


@pytest.mark.parametrize(
    ("fields", "limits", "factor"),
    [
        ({}, (-1.0, 0.12), (0.05 / 0.02 * BOTH_QUANTILES) ** 2),  # inside, the upper limit too near
        ({}, (0.12, 1.0), (0.05 / 0.02 * BOTH_QUANTILES) ** 2),  # below, the interval reaches over
        ({}, (-1.0, 0.08), (0.05 / 0.02 * BOTH_QUANTILES) ** 2),  # above
        ({"metric": "TE"}, (0.1, 1.0), math.inf),  # on the limit
    ],
)
def test_rows_that_decide_follow_the_root(fields, limits, factor):
    each = made(**{"metric": "TE", "n_group": 100, "n_reference": 100} | fields)
    assert needed_rows(each, *limits) == pytest.approx(200 * factor, abs=1)


@pytest.fixture(scope="module")
def scored() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 4000)
    score = np.clip(rng.normal(np.where(group == "a", 0.6, 0.4), 0.15), 0, 1).round(4)
    return pl.DataFrame({"g": group, "s": score})


@pytest.mark.parametrize("thresholds", [[0.3, 0.5, 0.7], [0.7, 0.5, 0.3]])
def test_the_largest_violation_decides(scored: pl.DataFrame, thresholds: list[float]) -> None:
    rule = "selection_rate.ratio >= 0.9"
    report = fg.audit(scored, score="s", threshold=thresholds, sensitive="g", rules=[rule])
    (verdict,) = [each for each in report.verdicts if each.group == "b"]
    every = [e for e in report.estimates if e.group == "b" and e.metric == "selection_rate.ratio"]
    worst = min(every, key=lambda each: each.value or 0.0)
    assert len(every) == 3
    assert all((each.high or 1.0) < 0.9 for each in every)
    assert (verdict.value, verdict.threshold) == (worst.value, worst.threshold)


RATES_OF_NO_THRESHOLD = ["roc_auc", "brier_score", "base_rate", "mean_score"]


@pytest.mark.parametrize("rate", RATES_OF_NO_THRESHOLD)
def test_a_rate_that_needs_no_threshold_is_judged_once(scored: pl.DataFrame, rate: str) -> None:
    """At every further threshold it was a comparison more for Holm, and named a threshold."""
    drawn = np.random.default_rng(1).random(len(scored))
    rows = scored.with_columns(y=(pl.Series(drawn) < scored["s"]).cast(pl.Int8))
    asked = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "rules": f"{rate} >= 0.7"}
    one = fg.audit(rows, threshold=0.5, **asked)
    several = fg.audit(rows, threshold=[0.4, 0.5, 0.6], **asked)
    assert several.verdicts == one.verdicts
    (of_one,), (of_several,) = (
        [d for d in report.diagnostics if d.code is DiagnosticCode.FAILS_TOGETHER]
        for report in (one, several)
    )
    assert of_several == of_one
    assert of_one["comparisons"] == 2


def test_a_score_without_a_threshold_has_no_confusion_matrix(scored: pl.DataFrame) -> None:
    """They were those at the middle of the range, which nobody had stated."""
    rows = scored.with_columns(y=(pl.col("s") > 0.4).cast(pl.Int8))
    for threshold, known in ((None, False), (0.5, True)):
        report = fg.audit(
            rows, label="y", positive=1, score="s", threshold=threshold, sensitive="g"
        )
        assert {each.counts is not None for each in (*report.groups, *report.totals)} == {known}


def test_a_rate_that_missing_outcomes_could_move_is_bounded_at_every_threshold(
    scored: pl.DataFrame,
) -> None:
    """Its worst case is kept without a threshold, as it is held against the rule."""
    rows = scored.with_columns(y=pl.when(pl.int_range(pl.len()) % 5 > 0).then(1))
    report = fg.audit(
        rows, label="y", score="s", positive=1, threshold=[0.4, 0.6], sensitive="g",
        rules="base_rate >= 0.9",
    )  # fmt: skip
    assert [each.reason.code for each in report.verdicts] == [ReasonCode.MISSING_OUTCOMES] * 2


RACES = pl.DataFrame({"sex": ["?"] * 200, "race": ["a", "b"] * 100, "p": [1, 1, 0, 0] * 50})


def test_a_feature_without_groups_is_not_passed_over() -> None:
    """Every value of one feature is missing; the other passes."""
    report = fg.audit(
        RACES, prediction="p", positive=1, sensitive=["sex", "race"], rules=["DI >= 0.5"],
        unknown="?",
    )  # fmt: skip
    found = [(each.feature, each.group, each.outcome) for each in report.verdicts]
    assert ("sex", None, Outcome.NOT_EVALUATED) in found
    assert ("race", "a", Outcome.PASS) in found
    assert report.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("insufficient", "outcome"),
    [
        ("report", Outcome.NOT_EVALUATED),
        ("fail", Outcome.FAIL),
        ("ignore", Outcome.NONE),
        ("pass", Outcome.NOT_EVALUATED),  # nothing passes by absence
    ],
)
def test_an_absent_group_is_insufficient_data(insufficient: str, outcome: Outcome) -> None:
    rule = {"metric": "DI", "at_least": 0.5, "groups": ["c"], "insufficient": insufficient}
    report = fg.audit(RACES, prediction="p", positive=1, sensitive="race", rules=[rule])
    assert [each.outcome for each in report.verdicts] == [outcome]
    assert report.verdict is (Outcome.FAIL if insufficient == "fail" else Outcome.INCONCLUSIVE)


# ---- verdicts that hold together: Holm at the limits of the rules
audit_module = importlib.import_module("fairgauge.api.audit")

LIMIT = 0.05


def counts_of(selected: list[int], n: int = 400) -> fg.Cube:
    return of_groups({f"g{i}": (k, n) for i, k in enumerate(selected)})


def audited_familywise(selected: list[int], **options: object) -> fg.Report:
    options = {"reference": {"g": "g0"}, "rules": ["-0.05 <= DPPL <= 0.05"]} | options
    return fg.audit(counts_of(selected), **options)


def p_at_limit(group: int, reference: int, n: int = 400) -> float:
    """Return one minus the confidence at which Newcombe's interval reaches the limit, halved."""
    value = (reference - group) / n
    if abs(value) <= LIMIT:
        return 1.0

    def beyond(z: float) -> float:
        low, high = newcombe(reference, n, group, n, z)
        return float(low - LIMIT if value > 0 else -LIMIT - high)

    return float(norm.sf(brentq(beyond, 1e-9, 30)))


SELECTED = [200, 152, 144, 140, 139, 138, 205, 195]


def test_fails_are_those_of_holm() -> None:
    """Against p-values at the limits, inverted from Newcombe's interval and adjusted by Holm."""
    report = audited_familywise(SELECTED, multiplicity="familywise")
    p = [p_at_limit(k, SELECTED[0]) for k in SELECTED[1:]]
    alone = [each < 0.025 for each in p]
    ordered = sorted(range(len(p)), key=p.__getitem__)
    rejected = itertools.takewhile(
        lambda rank: p[ordered[rank]] < 0.025 / (len(p) - rank), range(len(p))
    )
    failing = {ordered[rank] for rank in rejected}
    together = [i in failing for i in range(len(p))]
    assert alone != together != [each < 0.025 / len(p) for each in p]  # nor are they Bonferroni's
    assert [each.outcome is Outcome.FAIL for each in report.verdicts] == together
    given = audited_familywise(SELECTED)
    assert [each.outcome is Outcome.FAIL for each in given.verdicts] == alone
    for before, after in zip(given.verdicts, report.verdicts, strict=True):
        assert before.remains is (None if before.outcome is not Outcome.FAIL else
                                  after.outcome is Outcome.FAIL)  # fmt: skip
        if before.outcome is after.outcome:
            assert before == after
        else:
            assert (before.outcome, after.outcome) == (Outcome.FAIL, Outcome.INCONCLUSIVE)
            assert after.reason.code is ReasonCode.FAMILYWISE
            assert "the 7 comparisons are decided together (Holm)" in after.says


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (["FT <= 0.02", "-0.02 <= DPPL <= 0.02"], {"features": ["x"]}),
        (["roc_auc.difference >= -0.001", "-0.02 <= DPPL <= 0.02"], {"score": "s"}),
    ],
)
def test_rows_are_read_as_often_as_without_adjustment(monkeypatch, rules, options) -> None:
    """Each step of Holm read all rows again, although they do not depend on the confidence."""
    random = np.random.default_rng(4)
    group = random.integers(0, 4, 400)
    rows = pl.DataFrame({
        "g": [f"g{k}" for k in group],
        "y": random.integers(0, 2, 400), "p": (random.random(400) < 0.2 + 0.2 * group).astype(int),
        "s": (random.random(400) * 0.5 + 0.1 * group).round(4), "x": random.random(400),
    })  # fmt: skip
    reads, levels = [], []

    def counted(calls, function):
        def called(*arguments, **options):
            calls.append(arguments[1:])
            return function(*arguments, **options)

        return called

    for read in (read_rows, coded_rows):
        monkeypatch.setattr(row_reader, read.__name__, counted(reads, read))
    monkeypatch.setattr(audit_module, "measure", counted(levels, measure))
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1, "rules": rules}
    fg.audit(rows, **asked, **options)
    per_decision = list(reads)
    reads.clear()
    levels.clear()
    fg.audit(rows, **asked, **options, multiplicity="familywise")
    assert len(levels) > 2  # more than one step of Holm, so that the test can fail
    assert reads == per_decision != []


# ---- A rule that has nothing to be held against is never a pass, and states why
random = np.random.default_rng(3)
ROWS = 300
TABLE = pl.DataFrame(
    {
        "y": random.integers(0, 2, ROWS), "p": random.integers(0, 2, ROWS),
        "s": random.random(ROWS).round(3), "g": random.choice(["a", "b", "c"], ROWS),
        "k": random.choice(["x", "y", "z"], ROWS), "one": ["only"] * ROWS,
    }
)  # fmt: skip
ASKED = {"label": "y", "prediction": "p", "sensitive": "g"}


def verdicts(data=TABLE, **options):
    return fg.audit(data, **(ASKED | options)).verdicts


@given(
    metric=st.sampled_from(["selection_rate.ratio", "accuracy", "true_positive_rate.difference"]),
    groups=st.lists(st.sampled_from(["a", "b", "x", "only", "nobody"]), max_size=3, unique=True),
    features=st.lists(st.sampled_from(["g", "k", "one"]), max_size=3, unique=True),
    strata=st.booleans(),
    reference=st.sampled_from(["others", "overall", "best", "largest"]),
)
def test_nothing_that_a_rule_names_passes_by_absence(metric, groups, features, strata, reference):
    """Every pair of a feature and a group that a rule names has a verdict of its own.

    A pass has a value. What is in no feature that is named is never passed over.
    """
    low, high = fg.rule(metric, at_least=0.1).row.range
    limits = {"between": (max(low, -5) + 0.01, min(high, 50))}
    rule = fg.rule(metric, **limits, groups=groups, features=features)
    options = {"strata": "s"} if strata else {}
    data = TABLE.with_columns(s=(pl.col("s") * 3).floor())
    found = verdicts(
        data, rules=[rule], sensitive=["g", "k", "one"], reference=reference, **options
    )
    verdict_of = {(each.feature, each.group): each for each in found}
    assert len(verdict_of) == len(found) > 0
    for feature in features or (None,):
        judged = {group for at, group in verdict_of if feature in (None, at)}
        assert judged >= set(groups)
        assert judged or groups
    for each in found:
        assert each.outcome is not Outcome.PASS or each.value is not None
        assert not groups or each.group in groups
        assert not features or each.feature in features


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("RD <= 10", "rules[0]: can never fail: RD is between -1 and 1, and every value of it is"),
        ("-10 <= RD <= 10", "rules[0]: can never fail: RD is between -1 and 1"),
        ("accuracy >= -1", "rules[0]: can never fail: accuracy is between 0 and 1"),
        ("DI >= 0", "rules[0]: can never fail: DI is between 0 and inf, and every value of it is"),
        ("-1 <= RD <= 1", "rules[0]: can never fail: RD is between -1 and 1"),
        ("DI >= 0.8 or RD >= -0.1", "rules[0]: cannot read 'DI >= 0.8 or RD >= -0.1'; write"),
        ("accuracy >= 8%", "rules[0]: cannot read 'accuracy >= 8%'; write 'METRIC >= X'"),
        ("DI > 80%", "rules[0]: cannot read 'DI > 80%'; write 'METRIC >= X'"),
    ],
)
def test_a_rule_that_can_never_fail_is_refused(rule, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(TABLE, **ASKED, rules=[rule])
    assert message in str(caught.value)


def test_a_feature_of_one_group_never_passes():
    rules = ["selection_rate.ratio >= 0.8", "TPR.difference >= -0.1"]
    for options in ({}, {"inconclusive": "pass"}):
        report = fg.audit(TABLE, **ASKED | {"sensitive": "one"}, rules=rules, **options)
        assert [v.outcome for v in report.verdicts] == [Outcome.NOT_EVALUATED] * 2
        assert report.exit_code == 3
        with pytest.raises(AssertionError):
            report.check()
    (note,) = [d for d in report.diagnostics if d.code is DiagnosticCode.ONE_GROUP]
    assert note.message.startswith("'one' has one group, 'only': there is nothing to compare")
    text = str(report)
    assert "could be tested: one has one group, only" in " ".join(text.split())
    assert "fairgauge plan" not in text
    rule = fg.rule("TPR.difference", at_least=-0.1, insufficient="pass")
    (each,) = verdicts(sensitive="one", rules=[rule])
    assert each.outcome is Outcome.NOT_EVALUATED
