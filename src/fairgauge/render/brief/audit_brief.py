"""The brief of an audit: its headline, findings, certainty, limits and next steps as sentences."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    AfterAdjusting,
    DiagnosticCode,
    Favourable,
    Outcome,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.question.features import strata_named
from fairgauge.render.brief._compared_shares import ComparedShares
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.display_names import called
from fairgauge.render.words.finding_sentences import adjusted_sentence, describe_finding
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.numbers import count, listing, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.disparities import after_adjusting
from fairgauge.results.verdicts import before_counting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.estimates import Estimate, Group
    from fairgauge.results.finding import Finding
    from fairgauge.results.report import Report

_MOST_FINDINGS, _MOST_LIMITS, _MOST_STEPS = 2, 4, 3
_MANY_WITHOUT_GROUP = 0.05
_EVERY_RULE = {1: "The rule", 2: "Both rules"}
_UNDECIDED = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)


def audit_brief(report: Report) -> Brief:
    """Return the brief of a report."""
    words = Vocabulary.of_report(report)
    disparities = _ordered([_Disparity(report, words, each) for each in report.findings], report)
    return Brief(
        headline=_headline(report, disparities),
        verdict=tuple(_verdict(report)),
        looked_at=tuple(_looked_at(report, words)),
        found=tuple(_worse_off(disparities)),
        certainty=tuple(_certainty(report, words, disparities)),
        limits=tuple(_limits(report, words))[:_MOST_LIMITS],
        steps=tuple(_steps(report))[:_MOST_STEPS],
        question="Who is worse off, and by how much",
    )


class _Disparity:
    """A finding, with its shares where it compares shares of a decision or an outcome.

    Where the rate of the finding has no better side for people, and the one beside it has (the
    false positive rate, where a positive decision is unfavourable), the shares are of that one.
    """

    def __init__(self, report: Report, words: Vocabulary, finding: Finding) -> None:
        self.finding = finding
        beside = [] if finding.beside is None else [finding.beside]
        every = [
            compared
            for contrast in (finding.estimate, *beside)
            if (compared := _compared(report, words, contrast)) is not None
        ]
        worse = [each for each in every if each.is_worse]
        self.shares = next(iter(worse or every), None)
        contrast = self.shares.contrast if self.shares is not None else finding.estimate
        place = next(i for i, each in enumerate(report.estimates) if each.key == contrast.key)
        self.source: tuple[str, ...] = (f"estimates[{place}]",)

    @property
    def is_worse(self) -> bool:
        """Return whether somebody is worse off, and not only different."""
        return self.shares is not None and self.shares.is_worse

    @property
    def after_adjusting(self) -> AfterAdjusting | None:
        """Return what becomes of it when it is adjusted for the strata."""
        finding = self.finding
        if finding.adjusted is None or finding.estimate.key == finding.adjusted.key:
            return None
        return after_adjusting(finding.estimate, finding.adjusted)

    def sentence(self) -> str:
        """Return it as counts of people, or in percentages where it has none."""
        text = self.shares.sentence() if self.shares is not None else None
        if text is None:
            return describe_finding(self.finding, brief=True)
        finding = self.finding
        of_finding = self.shares is not None and self.shares.contrast is finding.estimate
        if finding.adjusted is None or not of_finding:
            return text
        column = called(finding.adjusted_for or "the strata")
        return f"{text} {adjusted_sentence(finding.estimate, finding.adjusted, column)}"


def _compared(report: Report, words: Vocabulary, contrast: Estimate) -> ComparedShares | None:
    row = compared_rate(contrast.definition)
    worded = report.task is Task.BINARY and contrast.class_scope.is_single
    return (
        ComparedShares(report, words, contrast, row) if worded and isinstance(row, Rate) else None
    )


def _ordered(disparities: list[_Disparity], report: Report) -> list[_Disparity]:
    """Return those that make somebody worse off first, and of these those that fail a rule.

    Of others, decisions come before how well they fit the outcome.
    """
    failed = {
        (each.metric, each.feature, each.group)
        for each in report.verdicts
        if each.outcome is Outcome.FAIL
    }

    def fails(each: _Disparity) -> bool:
        parts = filter(None, (each.finding.estimate, each.finding.ratio))
        return any((part.metric, part.feature, part.group) in failed for part in parts)

    def is_of_fit(each: _Disparity) -> bool:
        return each.shares is not None and each.shares.event is None

    return sorted(
        disparities, key=lambda each: (not each.is_worse, not fails(each), is_of_fit(each))
    )


# ---- the headline and the verdict ---------------------------------------------------------------


def _headline(report: Report, disparities: list[_Disparity]) -> Sentence:
    if not disparities:
        tested = any(each.p_value is not None for each in report.estimates)
        if not tested:
            return Sentence("No difference between groups could be tested")
        return Sentence("No group differs statistically significantly from the others")
    first = disparities[0]
    if first.shares is None or (text := first.shares.headline()) is None:
        return Sentence(describe_finding(first.finding, brief=True).split(": ")[0], first.source)
    source = first.source
    if (pair := _with_condition(disparities)) is not None:
        everyone, conditioned = pair
        assert everyone.shares is not None
        assert conditioned.shares is not None
        also = conditioned.shares.condition()
        text = f"{everyone.shares.headline()}, also among those {also}"
        first, source = everyone, everyone.source + conditioned.source
    change = first.after_adjusting
    column = called(first.finding.adjusted_for or "the strata")
    if change is AfterAdjusting.REVERSES:
        text += f", but the reverse holds after adjusting for {column}"
    elif change is AfterAdjusting.DISAPPEARS:
        text += f", but not after adjusting for {column}"
    return Sentence(text, source)


def _with_condition(disparities: list[_Disparity]) -> tuple[_Disparity, _Disparity] | None:
    """Return two disparities of the same people in the same decision, of all and of some of them.

    The first disparity is one of them.
    """
    first = disparities[0].shares
    if first is None or first.event is None:
        return None
    for each in disparities[1:]:
        other = each.shares
        same = other is not None and (other.subject, other.other, other.lower, other.event) == (
            first.subject, first.other, first.lower, first.event,
        )  # fmt: skip
        if not same or other is None:
            continue
        if first.row.among == ALL and other.condition():
            return disparities[0], each
        if other.row.among == ALL and first.condition():
            return each, disparities[0]
    return None


def _verdict(report: Report) -> Iterator[Sentence]:
    """Yield what the rules come to, and how many comparisons that are."""
    rules = report.by_rule
    if not rules:
        return
    outcomes = [each.outcome for each in rules]
    fails, passes, every = outcomes.count(Outcome.FAIL), outcomes.count(Outcome.PASS), len(rules)
    whole = _EVERY_RULE.get(every, f"All {every:,} rules")
    if report.verdict is Outcome.FAIL:
        who = whole if fails == every else f"{fails:,} of {every:,} rules"
        text = f"{who} {plural(fails, 'fails', 'fail')}."
    elif report.verdict is Outcome.PASS:
        text = f"{whole} {plural(every, 'passes', 'pass')}."
    else:
        undecided = "the rule" if every == 1 else f"{every - fails - passes:,} of {every:,} rules"
        text = f"Inconclusive: the data cannot decide {undecided}."
    yield Sentence(text, ("verdict",))

    decided = [before_counting(each) for each in report.verdicts]
    if len(decided) == 1:
        return
    fails, passes, every = decided.count(Outcome.FAIL), decided.count(Outcome.PASS), len(decided)
    text = (
        f"Of {every:,} {plural(every, 'comparison', 'comparisons')} {fails:,} "
        f"{plural(fails, 'fails', 'fail')} and {passes:,} {plural(passes, 'passes', 'pass')}"
    )
    if rest := every - fails - passes:
        the_rest = "the other" if fails or passes else "all"
        text += f"; for {the_rest} {rest:,} the data cannot decide"
    yield Sentence(f"{text}.", ("verdicts",))


# ---- what was looked at -------------------------------------------------------------------------


def _looked_at(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    data, spec = report.data, report.spec
    used = "all of them used" if data.used == data.rows else f"{count(data.used)} rows used"
    yield Sentence(f"{count(data.cases)} {words.unit}, {used}.", ("data.cases", "data.used"))
    by = listing([f"by {each}" for each in dict.fromkeys(map(_feature_words, report.groups))])
    decided, labelled = bool(spec.get("prediction") or spec.get("score")), bool(spec.get("label"))
    if report.task is not Task.BINARY:
        predicted = "numbers" if report.task is Task.REGRESSION else "classes"
        text = f"The {predicted} {'predicted' if decided else 'observed'} were compared {by}."
    elif decided and labelled:
        decision, outcome = words.both(TP + FP), words.both(TP + FN)
        text = f"The decision ({decision}) was compared with what happened ({outcome}), {by}."
    elif decided:
        text = f"The decision ({words.both(TP + FP)}) was compared {by}."
    elif labelled:
        text = (
            f"What the data hold ({words.both(TP + FN)}) was compared {by}; no model was audited."
        )
    else:
        text = f"The numbers of {words.noun} were compared {by}."
    yield Sentence(text, ("spec",))


def _feature_words(group: Group) -> str:
    """Return a feature in words: "sex", "sex and race together"."""
    if group.feature_id is None or len(group.feature_id.columns) == 1:
        return called(group.feature)
    return f"{listing([called(column) for column in group.feature_id.columns])} together"


# ---- who is worse off, and by how much ----------------------------------------------------------


def _worse_off(disparities: list[_Disparity]) -> Iterator[Sentence]:
    for each in disparities[:_MOST_FINDINGS]:
        yield Sentence(each.sentence(), each.source)
        if each.shares is not None and (text := _people_affected(each.shares)):
            yield Sentence(text, each.source)
    if (more := len(disparities) - _MOST_FINDINGS) > 0:
        differences = plural(more, "difference is", "differences are")
        yield Sentence(
            f"{more:,} more statistically significant {differences} among the findings.",
            ("findings",),
        )
    if not disparities:
        yield Sentence(
            "No difference is statistically significant. This does not show that the groups are "
            "treated equally."
        )


def _people_affected(shares: ComparedShares) -> str | None:
    """Return how many people got a wrong decision, and about how many at the rate of the others."""
    mine, theirs = shares.shares
    wrong = {(TP, TP + FN): FN, (FP, TN + FP): FP}.get((shares.row.of, shares.row.among))
    if wrong is None or not shares.is_worse or mine is None or theirs is None:
        return None
    of_refused = wrong == FN
    decision = shares.words.event(TN + FN if of_refused else TP + FP)
    if mine.hits is None or mine.size is None or decision is None:
        return None
    wrongly = mine.size - mine.hits if of_refused else mine.hits
    at_their_rate = (1 - theirs.rate if of_refused else theirs.rate) * mine.size
    expected = math.floor(at_their_rate + Fraction(1, 2))
    if wrongly <= expected:
        return None
    people = shares.words.joined(shares.subject, shares.condition())
    return (
        f"In these data {wrongly:,} {people} {decision.happened}; at the rate of {shares.other} it "
        f"would have been about {expected:,}."
    )


# ---- how certain, what not, what next -----------------------------------------------------------


def _certainty(
    report: Report, words: Vocabulary, disparities: list[_Disparity]
) -> Iterator[Sentence]:
    for each in disparities[:_MOST_FINDINGS]:
        if each.shares is not None and (text := each.shares.interval_sentence()):
            yield Sentence(text, each.source)
    undecided = sum(before_counting(each) in _UNDECIDED for each in report.verdicts)
    if undecided:
        comparisons = plural(undecided, "comparison", "comparisons")
        yield Sentence(
            f"Inconclusive is not “no difference”: {undecided:,} {comparisons} could be on either "
            "side of the limit, or could not be computed.",
            ("verdicts",),
        )
    sparse = [
        (each.feature, each.group)
        for each in report.estimates
        if each.status is Status.TOO_FEW and each.scope.kind is ScopeKind.OVERALL and each.group
    ]
    if sparse:
        named = [words.group(*each) for each in dict.fromkeys(sparse)]
        yield Sentence(f"Insufficient data in some comparisons of {listing(named, most=3)}.")


def _limits(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    spec = report.spec
    document = spec.get("document") or {}
    if caveat := document.get("caveat"):
        yield Sentence(called(caveat), ("spec.document.caveat",))
    if _is_positive_assumed(report):
        yield Sentence(
            "Which outcome is favourable was assumed, not stated: who is worse off may be the "
            "reverse.",
            ("spec.positive",),
        )
    strata = strata_named(spec.get("strata"))
    besides = f" besides {called(strata)}" if strata else ""
    yield Sentence(
        f"Why: the audit looked at no causes{besides}. Whether a difference is unfair depends on "
        "context and law."
    )
    decided = spec.get("prediction") or spec.get("score")
    refused = words.event(TP + FP if words.favourable is Favourable.NEGATIVE else TN + FN)
    if decided and spec.get("label") and report.task is Task.BINARY and refused is not None:
        people = words.joined(words.noun, refused.among)
        yield Sentence(
            f"How {people} would have fared: the data state an outcome for them. Ask where it "
            "comes from.",
            ("spec.label",),
        )
    columns = [called(each["column"]) for each in spec.get("sensitive", ())]
    if columns:
        were = plural(len(columns), "was", "were")
        yield Sentence(
            f"Other groups of people: only {listing(columns)} {were} examined.", ("spec.sensitive",)
        )
    period = document.get("period")
    yield Sentence(f"Other times and places{f' than {called(period)}' if period else ''}.")


def _is_positive_assumed(report: Report) -> bool:
    spec = report.spec
    outcomes = any(spec.get(key) for key in ("label", "prediction"))
    return report.task is Task.BINARY and outcomes and not spec.get("positive")


def _steps(report: Report) -> Iterator[Sentence]:
    spec, fails = report.spec, report.verdict is Outcome.FAIL
    if _is_positive_assumed(report):
        yield Sentence("State which value is the favourable outcome: --positive VALUE.")
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_GROUPS and (
            each["rows"] > _MANY_WITHOUT_GROUP * each["total"]
        ):
            yield Sentence(
                f"Complete {called(each.feature or '')}: {each['rows']:,} of {each['total']:,} "
                "rows have no group."
            )
    if (fails or report.findings) and not spec.get("strata"):
        yield Sentence(
            "Compare alike with alike: --strata COLUMN, with a column that may account for the "
            "difference."
        )
    if fails and spec.get("score") and spec.get("label"):
        yield Sentence("See what another threshold would give and cost: fairgauge thresholds.")
    if fails:
        yield Sentence(
            "Decide who acts, then measure again: fairgauge compare tests the next report against "
            "this one."
        )
    elif report.verdict is Outcome.PASS:
        yield Sentence("Check the same rules over time: fairgauge monitor.")
    elif not report.verdicts:
        yield Sentence("State which difference is tolerable: --rule 'METRIC >= LIMIT'.")
    else:
        yield Sentence("Plan how many rows would decide the rules: fairgauge plan.")
