"""The findings of a report as its brief states them: in words, with who is worse off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from fairgauge.catalogue.cells import ALL, FP, TP
from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.catalogue.distributions import OverallStandardisedDifference, StandardisedDifference
from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import AfterAdjusting, ClassKind, Outcome, ScopeKind, Status, Task
from fairgauge.render.brief._compared_means import ComparedMeans
from fairgauge.render.brief._compared_shares import ComparedShares
from fairgauge.render.brief._rules_in_words import shares_of
from fairgauge.render.brief._vocabulary import Vocabulary, place_of
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.finding_sentences import (
    adjusted_sentence,
    among_compared,
    describe_finding,
    finding_without_numbers,
)
from fairgauge.render.words.metric_words import compared_rate, metric_words
from fairgauge.render.words.numbers import listing
from fairgauge.results.brief import Sentence
from fairgauge.results.disparities import (
    after_adjusting,
    gap,
    is_ratio,
    is_significant,
    significant_strata,
    singled_out,
    with_both_sides,
)
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import Finding
from fairgauge.results.report import Report
from fairgauge.results.stated_comparison import StatedComparison, stated_comparisons
from fairgauge.results.verdicts import before_counting

MOST_FINDINGS, _MOST_STRATA = 2, 2
_ADJUSTED = {
    AfterAdjusting.DISAPPEARS: "no difference is shown on average",
    AfterAdjusting.REVERSES: "the difference is the reverse",
    AfterAdjusting.REMAINS: "a difference remains",
    AfterAdjusting.CHANGES_LITTLE: "the difference changes little, but may be none on average",
    AfterAdjusting.NOT_SIGNIFICANT: "neither a difference nor equality is shown on average",
}
"""What becomes of a difference when it is adjusted for the strata."""
_SHOWN = {
    AfterAdjusting.REMAINS: "the difference itself is shown",
    AfterAdjusting.REVERSES: "the reverse is shown",
}
"""What is shown in a stratum where the same is after adjusting."""


class StatedFinding:
    """A finding in words: with its shares where it compares shares of a decision or an outcome.

    Attributes
    ----------
    stated : the comparison that it is stated by, and what rules come to for it.
    shares, means : this comparison in words, of shares or of numbers; None where it is neither.
    """

    def __init__(
        self, report: Report, words: Vocabulary, finding: Finding, stated: StatedComparison
    ) -> None:
        self.finding, self.stated, self._estimates = finding, stated, report.estimates
        contrast, row = stated.contrast, stated.row
        self.shares = self.means = None
        if stated.is_of_shares and isinstance(row, Rate):
            self.shares = ComparedShares(report, words, contrast, row)
        elif row is not None and not row.is_share:
            self.means = ComparedMeans(words, contrast, row)
        elif isinstance(contrast.definition, RowMetric) and contrast.definition.q is not None:
            alone = contrast.simultaneous is None
            self.means = ComparedMeans(words, contrast, contrast.definition, alone=alone)
        self.source = _source(report, contrast)
        sides = words.group(contrast.feature, contrast.group), words.reference(contrast)
        self._sides = (sides[1], sides[0]) if stated.turned else sides
        beside = stated.failing_beside
        self._better_off: tuple[str, str, tuple[str, ...]] | None = None
        if beside is not None and beside.contrast is contrast:
            self._better_off = self._sides[1], "", self.source
        elif beside is not None and isinstance(beside.row, Rate):
            turn = not (beside.turned or beside.better)  # else its group is better off
            shares = ComparedShares(report, words, beside.contrast, beside.row, turn=turn)
            people = shares.other if turn else shares.subject
            counts = "" if turn else shares.sentence() or ""
            self._better_off = people, counts, _source(report, beside.contrast)

    def better_off_sentence(self) -> Sentence | None:
        """Return for whom a rule fails as the better-off side; None where it does for nobody."""
        if self._better_off is not None:
            people, counts, source = self._better_off
            beside = f": {counts[0].lower()}{counts[1:]}" if counts else "."
            return Sentence(f"{capitalised(people)} fail as the better-off side{beside}", source)
        if self.stated.fails and self.stated.better:
            return Sentence("They fail as the better-off side.", self.source)
        return None

    def headline(self) -> str:
        """Return it in words without numbers."""
        stated = self.shares or self.means
        if stated is not None and (text := stated.headline()):
            return text
        if compared_rate(self.finding.estimate.definition) is not None:
            return finding_without_numbers(self.finding)
        return _differs(*self._sides, self.stated)

    def interval_sentence(self) -> str | None:
        """Return its interval in words; None where its sentence has it."""
        stated = self.shares or self.means
        return None if stated is None else stated.interval_sentence()

    @property
    def differences(self) -> list[Estimate]:
        """Return the statistically significant differences that it is of."""
        finding = self.finding
        beside = [] if finding.beside is None else [finding.beside]
        return [finding.estimate, *beside, *finding.others, *finding.others_beside]

    @property
    def described(self) -> int:
        """Return how many of these its sentence states: that of percentages has the one beside."""
        in_words = self.shares or self.means
        counted = in_words is not None and in_words.sentence() is not None
        both = not counted and self.finding.beside is not None
        return 1 + both + bool(self._better_off and self._better_off[1])

    @property
    def after_adjusting(self) -> AfterAdjusting | None:
        """Return what becomes of it when it is adjusted for the strata."""
        finding = self.finding
        if finding.adjusted is None or finding.estimate.key == finding.adjusted.key:
            return None
        return after_adjusting(finding.estimate, finding.adjusted)

    @property
    def among(self) -> str:
        """Return of whom the adjusted difference is; empty if it is of almost all people."""
        adjusted = self.finding.adjusted
        return "" if adjusted is None else among_compared(self.finding.estimate, adjusted)

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
            text = adjusted_sentence(finding.estimate, finding.adjusted, self.column)
        else:
            text = f"After adjusting for {self.column}{self.among} {_ADJUSTED[change]}."
        return text if change not in _ADJUSTED else text + self._shown_in_strata(change)

    def interval_within(self) -> str | None:
        """Return the interval of the same comparison within the strata, in words."""
        stated, adjusted = self.shares or self.means, self.finding.adjusted
        if stated is None or stated.sentence() is None or adjusted is None:
            return None
        if self.after_adjusting not in _ADJUSTED or stated.contrast is not self.finding.estimate:
            return None
        text = stated.of_interval(singled_out(adjusted))
        return text and f"{stated.of_whom}, adjusted for {self.column}: {text}."

    @property
    def strata(self) -> list[Estimate]:
        """Return the comparison inside every stratum with both sides, of those adjusted for."""
        finding = self.finding
        return with_both_sides(
            each
            for each in self._estimates
            if each.scope.kind is ScopeKind.STRATUM
            and each.key == replace(finding.estimate, scope=each.scope).key
        )

    def _shown_in_strata(self, change: AfterAdjusting) -> str:
        """Return in which strata a difference is shown that the adjusted one does not show."""
        inside, direction = self.strata, gap(self.finding.estimate)
        differ = sorted(significant_strata(inside), key=lambda each: -abs(gap(each)))
        ways = {
            AfterAdjusting.REMAINS: [each for each in differ if gap(each) * direction > 0],
            AfterAdjusting.REVERSES: [each for each in differ if gap(each) * direction < 0],
        }
        agreeing = ways.pop(change, [])
        parts = [
            f"in {self.column} {self._rates_in(strata)} {_SHOWN[way]}"
            for way, strata in ways.items()
            if strata
        ]
        if not parts:
            return ""
        others = len(inside) - sum(map(len, ways.values()))
        the_other = f"the other {others:,}" if others > 1 else "the other"
        if agreeing:
            of = f"{len(agreeing):,} of " * (len(agreeing) < others)
            parts.append(f"in {of}{the_other} {_SHOWN[change]}")
        elif others > 1:
            parts.append(f"in {the_other} no difference is shown")
        return f" {capitalised('; '.join(parts))} (all {len(inside):,} tested together)."

    def _rates_in(self, strata: list[Estimate]) -> str:
        """Return the names of strata, the first with the shares of both sides."""
        named = [
            f"{called(each.stratum)}{self.shares.rates_in(each) if self.shares else ''}"
            for each in strata[:_MOST_STRATA]
        ]
        more = [f"{left:,} more"] if (left := len(strata) - len(named)) else []
        return listing([*named, *more])


def _differs(subject: str, other: str, stated: StatedComparison) -> str:
    """Return who differs in what is neither a share nor a mean, in words without numbers."""
    metric, less = stated.contrast.definition, (gap(stated.contrast) < 0) != stated.turned
    people = capitalised(subject)
    if is_of_all_groups(metric) or stated.contrast.group is None:
        feature = called(stated.contrast.feature or "")
        return f"Groups of {feature} differ in {metric_words(metric)}"
    if isinstance(metric, StandardisedDifference | OverallStandardisedDifference):
        level = "lower" if less else "higher"
        return f"{capitalised(metric.mean)} is {level} for {subject} than for {other}"
    if isinstance(metric, RowMetric) and metric.kind in _RANKED:
        top = f"the top {metric.top or 0:g}{' per cent' * metric.percent}"
        return f"{people} {_RANKED[metric.kind][less]}".format(top=top, other=other)
    return f"{people} and {other} differ in {metric_words(metric)}"


_RANKED = {
    "top": ("are in {top} more often than {other}", "are in {top} less often than {other}"),
    "skew": ("have a larger share of {top} than of all rows",
             "have a smaller share of {top} than of all rows"),
    "exposure": ("have more exposure in the ranking than {other}",
                 "have less exposure in the ranking than {other}"),
}  # fmt: skip
"""How a group stands in a ranking: above the others, or below them."""


def _source(report: Report, contrast: Estimate) -> tuple[str, ...]:
    place = next(i for i, each in enumerate(report.estimates) if each.key == contrast.key)
    return (f"estimates[{place}]",)


def disparities_of(report: Report, words: Vocabulary) -> list[StatedFinding]:
    """Return the findings of a report in words."""
    stated = stated_comparisons(report, report.findings)
    return [
        StatedFinding(report, words, *each) for each in zip(report.findings, stated, strict=True)
    ]


def headline_adjusted(report: Report, words: Vocabulary, adjusted: Estimate) -> str:
    """Return a comparison adjusted for the strata in words without numbers."""
    row = compared_rate(adjusted.definition)
    assert row is not None
    if isinstance(row, Rate) and adjusted.class_scope.kind is ClassKind.NONE:
        text = ComparedShares(report, words, adjusted, row).headline()
        if text is not None:
            return text
    level = "lower" if gap(adjusted) < 0 else "higher"
    sides = words.group(adjusted.feature, adjusted.group), words.reference(adjusted)
    name = f"{capitalised(row.title)}{place_of(words, adjusted)}"
    return f"{name} is {level} for {sides[0]} than for {sides[1]}"


def disagreement(
    report: Report, disparities: list[StatedFinding]
) -> tuple[StatedFinding, StatedFinding] | None:
    """Return two findings that compare the same people the other way round.

    They are of a mean and of a quantile of the same numbers, or of a whole list and of its top.
    """
    for one, other in combinations(disparities, 2):
        if {_kind(one), _kind(other)} not in _DISAGREE:
            continue
        asked, first = other.finding, one.finding.estimate
        same = (asked.metric, first.feature, first.group, asked.class_scope)
        turned = (each for each in report.estimates
                  if (each.metric, each.feature, each.group, each.class_scope) == same)  # fmt: skip
        if any(is_significant(each) and gap(each) * gap(first) < 0 for each in turned):
            return one, other
    return None


_DISAGREE = ({"mean", "quantile"}, {"list", "top"})


def _kind(found: StatedFinding) -> str | None:
    """Return what a finding is of, where another one may be of the same numbers or ranking."""
    definition, row = found.finding.estimate.definition, found.stated.row
    if isinstance(definition, RowMetric):
        of_top = definition.kind in ("top", "exposure")
        return "quantile" if definition.q is not None else "top" if of_top else None
    if isinstance(row, Mean):
        return "mean" if row.of is RegressionTerm.LABEL else None
    return "list" if isinstance(row, Rate) and (row.of, row.among) == (TP + FP, ALL) else None


def led_by(disparities: list[StatedFinding]) -> list[StatedFinding]:
    """Return the disparities that a brief states."""
    return disparities[:MOST_FINDINGS]


class NotShown(NamedTuple):
    """A comparison that is stated although it shows no difference.

    Attributes
    ----------
    contrast, source : the comparison, and its place.
    text, interval : both numbers, and their interval, in words.
    """

    contrast: Estimate
    source: tuple[str, ...]
    text: str | None
    interval: str | None


def not_shown(report: Report, words: Vocabulary) -> Iterator[NotShown]:
    """Yield what is compared where no difference is shown, the largest first.

    The shares that the first rule judges; of amounts the largest difference of each mean.
    """
    if report.task is Task.REGRESSION:
        yield from _means_not_shown(report, words)
        return
    stated = [
        shares
        for rule in report.by_rule[:1]
        for each in rule.verdicts
        if before_counting(each) is Outcome.INCONCLUSIVE
        and (shares := shares_of(report, words, each, turn=True)) is not None
    ]
    stated.sort(key=lambda shares: -abs(gap(shares.contrast)))
    for each in stated[:1]:
        source = (f"estimates[{report.estimates.index(each.contrast)}]",)
        yield NotShown(each.contrast, source, each.sentence(), each.interval_sentence())


def _means_not_shown(report: Report, words: Vocabulary) -> Iterator[NotShown]:
    by_row: dict[str, list[ComparedMeans]] = {}
    for each in report.estimates:
        row = compared_rate(each.definition)
        whole = each.scope.kind is ScopeKind.OVERALL and each.mirror_of is None
        if whole and each.reference and each.status is Status.OK and not is_ratio(each.definition):
            means = None if row is None or row.is_share else ComparedMeans(words, each, row)
            if means is not None and means.known:
                by_row.setdefault(means.row.name, []).append(means)
    for found in list(by_row.values())[:MOST_FINDINGS]:
        largest = max(found, key=lambda means: abs(gap(means.contrast)))
        source = (f"estimates[{report.estimates.index(largest.contrast)}]",)
        text = largest.not_shown(len(found))
        yield NotShown(largest.contrast, source, text, largest.not_excluded())
