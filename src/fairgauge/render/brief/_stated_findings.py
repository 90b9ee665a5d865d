"""The findings of a report as its brief states them: who is worse off, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import AfterAdjusting, ClassKind, Outcome, ScopeKind
from fairgauge.render.brief._compared_means import ComparedMeans
from fairgauge.render.brief._compared_shares import ComparedShares, event_of
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.display_names import called
from fairgauge.render.words.finding_sentences import adjusted_sentence, describe_finding
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.numbers import listing
from fairgauge.results.disparities import after_adjusting, gap, significant_strata, singled_out
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import Finding
from fairgauge.results.report import Report
from fairgauge.results.verdicts import Verdict, before_counting

MOST_FINDINGS, _MOST_STRATA = 2, 2
_ADJUSTED = {
    AfterAdjusting.DISAPPEARS: "the difference is not statistically significant",
    AfterAdjusting.REVERSES: "the difference is the reverse",
    AfterAdjusting.REMAINS: "a difference remains",
    AfterAdjusting.CHANGES_LITTLE: "the difference changes little, but may be none",
    AfterAdjusting.NOT_SIGNIFICANT: "the data do not show a difference, nor that there is none",
}
"""What becomes of a difference when it is adjusted for the strata."""


class StatedFinding:
    """A finding, with its shares where it compares shares of a decision or an outcome.

    ``judged`` is whether a rule is about what it states, ``fails`` whether one fails for it,
    ``remains`` whether this remains when all comparisons are judged together.

    Where the rate of the finding has no better side for people, and the one beside it has (the
    false positive rate, where a positive decision is unfavourable), the shares are of that one.
    """

    def __init__(self, report: Report, words: Vocabulary, finding: Finding) -> None:
        self.finding = finding
        failed = [each for each in report.verdicts if before_counting(each) is Outcome.FAIL]
        self._estimates = report.estimates
        beside = [] if finding.beside is None else [finding.beside]
        every = [
            compared
            for contrast in (finding.estimate, *beside, *finding.others, *finding.others_beside)
            if (compared := _compared(report, words, contrast)) is not None
        ]
        # Where a rule fails, what it judges is stated, not what is beside it.
        failing = [each for each in every if failed_in(failed, each.contrast)]
        ranked_of = failing or every[: 1 + len(beside)]
        every = failing or every
        # A finding is of the group that fares worst by the better side of its rate. Where that is
        # not the better one for people, the worst of the other groups is the one to state.
        ranked = sorted(ranked_of, key=lambda each: not each.is_worse)
        harmed = [each for each in every if each.is_worse and not each.turned]
        harmed.sort(key=lambda each: -abs(gap(each.contrast)))
        first = next(iter(ranked), None)
        unmistaken = first is None or not harmed or (first.is_worse and not first.turned)
        self.shares = first if unmistaken else harmed[0]
        contrast = self.shares.contrast if self.shares is not None else finding.estimate
        fails = failed_in(failed, contrast)
        self.fails, self.remains = bool(fails), True in fails
        self.judged = bool(failed_in(report.verdicts, contrast))
        row = compared_rate(finding.estimate.definition)
        self.means = None
        """The finding as a comparison of means, where it is not one of shares."""
        if self.shares is None and row is not None and not row.is_share:
            self.means = ComparedMeans(words, finding.estimate, row)
        place = next(i for i, each in enumerate(report.estimates) if each.key == contrast.key)
        self.source: tuple[str, ...] = (f"estimates[{place}]",)

    @property
    def is_worse(self) -> bool:
        """Return whether somebody is worse off, and not only different."""
        return any(each is not None and each.is_worse for each in (self.shares, self.means))

    def headline(self) -> str:
        """Return it in words without numbers."""
        stated = self.shares or self.means
        text = None if stated is None else stated.headline()
        return text or describe_finding(self.finding, brief=True).split(": ")[0]

    def interval_sentence(self) -> str | None:
        """Return its interval in words; None where its sentence has it."""
        stated = self.shares or self.means
        return None if stated is None else stated.interval_sentence()

    def numbers(self) -> str:
        """Return both shares that it is of, to name it by; of means nothing."""
        shares = self.shares and self.shares.of_100(self.shares.contrast)
        return f"{shares[0]} v {shares[1]}" if shares else ""

    @property
    def differences(self) -> int:
        """Return how many statistically significant differences it is of."""
        finding = self.finding
        beside = 0 if finding.beside is None else 1
        return 1 + beside + len(finding.others) + len(finding.others_beside)

    @property
    def stated(self) -> int:
        """Return how many of these its sentence states: that of percentages has the one beside."""
        in_words = self.shares or self.means
        counted = in_words is not None and in_words.sentence() is not None
        return 1 if counted or self.finding.beside is None else 2

    @property
    def after_adjusting(self) -> AfterAdjusting | None:
        """Return what becomes of it when it is adjusted for the strata."""
        finding = self.finding
        if finding.adjusted is None or finding.estimate.key == finding.adjusted.key:
            return None
        return after_adjusting(finding.estimate, finding.adjusted)

    def sentence(self) -> str:
        """Return it as counts of people, or in percentages where it has none."""
        stated = self.shares or self.means
        text = stated.sentence() if stated is not None else None
        return text or describe_finding(self.finding, brief=True)

    @property
    def column(self) -> str:
        """Return the column whose strata it is adjusted for."""
        return called(self.finding.adjusted_for or "the strata")

    def sentence_within(self) -> str | None:
        """Return what becomes of it within the strata; None where that is not stated apart."""
        finding, stated = self.finding, self.shares or self.means
        if stated is None or stated.sentence() is None or finding.adjusted is None:
            return None
        if stated.contrast is not finding.estimate:
            return None
        change = self.after_adjusting
        if change is None or self.interval_within() is None:
            return adjusted_sentence(finding.estimate, finding.adjusted, self.column)
        return f"After adjusting for {self.column} {_ADJUSTED[change]}.{self._reversed_in()}"

    def interval_within(self) -> str | None:
        """Return the interval of the same comparison within the strata, in words."""
        stated, adjusted = self.shares or self.means, self.finding.adjusted
        if stated is None or stated.sentence() is None or adjusted is None:
            return None
        if self.after_adjusting not in _ADJUSTED or stated.contrast is not self.finding.estimate:
            return None
        text = stated.of_interval(singled_out(adjusted))
        return text and f"{stated.compared}, adjusted for {self.column}: {text}."

    @property
    def strata(self) -> list[Estimate]:
        """Return the comparison inside every stratum of the column that it is adjusted for."""
        finding = self.finding
        return [
            each
            for each in self._estimates
            if each.scope.kind is ScopeKind.STRATUM
            and each.key == replace(finding.estimate, scope=each.scope).key
        ]

    def _reversed_in(self) -> str:
        """Return in which strata the reverse of the difference is statistically significant."""
        finding, shares, inside = self.finding, self.shares, self.strata
        if self.after_adjusting is AfterAdjusting.REVERSES or shares is None:
            return ""
        differ = significant_strata(inside)
        reverse = [each for each in differ if gap(each) * gap(finding.estimate) < 0]
        if not reverse:
            return ""
        reverse.sort(key=lambda each: -abs(gap(each)))
        stated = [
            f"{called(each.stratum)}{shares.rates_in(each)}" for each in reverse[:_MOST_STRATA]
        ]
        more = [f"{left:,} more" if (left := len(reverse) - len(stated)) else ""]
        text = f"In {self.column} {listing([*stated, *filter(None, more)])} the reverse is"
        same, others = len(differ) - len(reverse), len(inside) - len(reverse)
        beside = ""
        if same:
            beside = f"; in {same:,} of the other {others:,} the difference is as overall"
        elif others:
            beside = f"; the differences in the other {others:,} are not"
            if others == 1:
                beside = "; the difference in the other one is not"
        return f" {text} statistically significant{beside} (all {len(inside):,} tested together)."


def _compared(report: Report, words: Vocabulary, contrast: Estimate) -> ComparedShares | None:
    row = compared_rate(contrast.definition)
    if not isinstance(row, Rate) or contrast.class_scope.kind is ClassKind.AVERAGE:
        return None
    if contrast.class_scope.kind is not ClassKind.NONE and event_of(row) is None:
        return None  # of one class: whether a decision fits the outcome is of all classes
    return ComparedShares(report, words, contrast, row)


def disparities_of(report: Report, words: Vocabulary) -> list[StatedFinding]:
    """Return the findings: those for which a rule fails first, of these who is worse off.

    Fails that remain when all comparisons are judged together come before others, and decisions
    before how well they fit the outcome. Of two disparities of the same people in the same decision
    the one of all rows comes first. Predictions that are too high or too low stand with the size of
    errors, the larger difference first.
    """

    def order(each: StatedFinding) -> tuple[float, ...]:
        shares, means = each.shares, each.means
        worse = each.is_worse or (means is not None and means.is_bias)
        is_of_fit = shares is not None and shares.event is None
        return (
            not (each.remains and worse), not (each.fails and worse),
            not each.remains, not each.fails, not worse, is_of_fit,
            -means.distance if means is not None else 0.0,
        )  # fmt: skip

    found = sorted((StatedFinding(report, words, each) for each in report.findings), key=order)
    if (pair := with_condition(found)) is None:
        return found
    if pair[0].fails < found[0].fails:  # what the rule judges comes first
        pair = pair[1], pair[0]
    return [*pair, *(each for each in found if each not in pair)]


def failed_in(failed: Iterable[Verdict], contrast: Estimate) -> list[bool]:
    """Return of the fails of a comparison, by its difference or its ratio, whether they remain."""
    return [
        each.remains is not False
        for each in failed
        if (_rate_name(each), each.feature, each.class_scope)
        == (_rate_name(contrast), contrast.feature, contrast.class_scope)
        and contrast.group in (each.group, each.mirror)
        and each.threshold in (None, contrast.threshold)
    ]


def _rate_name(each: Estimate | Verdict) -> object:
    row = compared_rate(each.definition)
    return each.metric if row is None else row.name


def led_by(disparities: list[StatedFinding]) -> list[StatedFinding]:
    """Return the disparities that a brief states."""
    return disparities[:MOST_FINDINGS]


def with_condition(disparities: list[StatedFinding]) -> tuple[StatedFinding, StatedFinding] | None:
    """Return two disparities of the same people in the same decision, of all and of some of them.

    The first disparity is one of them.
    """
    first = disparities[0].shares if disparities else None
    if first is None or first.event is None:
        return None
    for each in disparities[1:]:
        other = each.shares
        same = other is not None and (other.subject, other.other, other.lower, other.event) == (
            first.subject, first.other, first.lower, first.event,
        )  # fmt: skip
        if not same or other is None:
            continue
        if first.row.among == ALL and other.rate.condition:
            return disparities[0], each
        if other.row.among == ALL and first.rate.condition:
            return each, disparities[0]
    return None
