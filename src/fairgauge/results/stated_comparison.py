"""What a finding states: which of its comparisons, from which side, and what rules come to for it.

The order of findings and the words of the first page both follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from fairgauge.catalogue.cells import ALL, FN, FP, TP, Cells
from fairgauge.catalogue.comparisons import Contrast, Metric, RowMetric, is_of_all_groups
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import ClassKind, Favourable, Outcome
from fairgauge.results import disadvantage
from fairgauge.results.disparities import disparity, gap
from fairgauge.results.estimates import Estimate, Finding
from fairgauge.results.report import Report
from fairgauge.results.scopes import ClassScope
from fairgauge.results.verdicts import Verdict, before_counting, is_of_both_sides
from fairgauge.start.records import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedComparison:
    """The comparison that a finding is stated by, read from the side that is worse off.

    ``turned``: whether it is read from the side of its reference, which is one group.
    ``judged, fails, remains``: whether a rule is about its rate, fails for it, and does when all
        comparisons are judged together.
    ``people``: who is compared with whom in which decision or outcome; None where it is of neither.
    ``failing_beside``: where rules fail only for groups that are better off, that of one of them.
    """

    contrast: Estimate
    row: Statistic | None
    is_of_shares: bool
    turned: bool
    worse: bool
    better: bool
    judged: bool
    fails: bool
    remains: bool
    people: tuple[object, ...] | None
    failing_beside: StatedComparison | None = None

    @property
    def gravity(self) -> tuple[float, ...]:
        """Return its place in the order of findings, the gravest first.

        Fails of who is worse off come first, then those of who is better off, and decisions before
        how well they fit the outcome.
        """
        mean = self.row.of if isinstance(self.row, Mean) else None
        worse, apart = self.worse or mean is RegressionTerm.ERROR, 0.0
        if mean not in (None, RegressionTerm.SQUARED_ERROR):
            apart = abs((self.contrast.rate_group or 0.0) - (self.contrast.rate_reference or 0.0))
        is_of_fit, of_fail = self.is_of_shares and self.people is None, self.failing_beside or self
        return (
            not (self.remains and worse), not (self.fails and worse),
            not of_fail.remains, not of_fail.fails, not worse, is_of_fit, -apart,
        )  # fmt: skip

    def is_of_some_in(self, whole: StatedComparison) -> bool:
        some, every = self.row, whole.row
        return (
            self.people is not None
            and self.people == whole.people
            and isinstance(some, Rate)
            and isinstance(every, Rate)
            and every.among == ALL
            and some.among in disadvantage.OPPOSITES
        )


def stated_comparisons(report: Report, findings: Iterable[Finding]) -> list[StatedComparison]:
    """Return the comparison that each of some findings of a report is stated by.

    The worst of the groups by the side that is better for people; where a rule fails, what it
    judges, unless it fails only for groups that are better off and another one is worse off.
    """
    groups = {(each.feature, each.group) for each in report.groups}
    favourable = disadvantage.favourable_of(report.spec)

    def stated(contrast: Estimate) -> StatedComparison:
        rules = [each for each in report.verdicts if _is_of_same_rate(each, contrast)]
        return _state_comparison(
            contrast, favourable, disadvantage.other_group(groups, contrast), rules
        )

    return [_gravest(finding, stated) for finding in findings]


def _gravest(finding: Finding, stated: Callable[[Estimate], StatedComparison]) -> StatedComparison:
    beside = [] if finding.beside is None else [finding.beside]
    contrasts = (finding.estimate, *beside, *finding.others, *finding.others_beside)
    every = [each for each in map(stated, contrasts) if each.is_of_shares]
    if not every:
        return stated(finding.estimate)
    failing = [each for each in every if each.fails]
    if all(each.better for each in failing) and any(each.worse for each in every):
        worst = _choose_worst(every, 1 + len(beside))
        better_off = [*failing, *filter(None, (each.failing_beside for each in every))]
        largest = max(
            better_off, key=lambda each: (each.remains, abs(gap(each.contrast))), default=None
        )
        return replace(worst, failing_beside=worst.failing_beside or largest)
    return (
        _choose_worst(failing, len(failing)) if failing else _choose_worst(every, 1 + len(beside))
    )


def _choose_worst(every: Sequence[StatedComparison], first: int) -> StatedComparison:
    # who is worse off: of so many first ones, else the furthest apart of all others
    chosen = min(every[:first], key=lambda each: not each.worse)
    harmed = [each for each in every if each.worse and not each.turned]
    if not harmed or (chosen.worse and not chosen.turned):
        return chosen
    return max(harmed, key=lambda each: abs(gap(each.contrast)))


def _state_comparison(
    contrast: Estimate, favourable: Favourable, other: str | None, rules: Sequence[Verdict]
) -> StatedComparison:
    row = contrast.definition.of if isinstance(contrast.definition, Contrast) else None
    of_shares = _is_of_shares(row, contrast.class_scope)
    event = disadvantage.event_of(row) if of_shares and isinstance(row, Rate) else None
    adverse = 0
    of = contrast.definition if isinstance(contrast.definition, RowMetric) else row
    if of is not None and (row is None or of_shares or not row.is_share):
        adverse = disadvantage.adverse_sign(
            of, disadvantage.favourable_in(favourable, contrast.class_scope)
        )
    turned = adverse * gap(contrast) < 0 and other is not None
    worse, subject = turned or adverse * gap(contrast) > 0, other if turned else contrast.group
    failed: list[Verdict] = []
    failed_beside: list[Verdict] = []
    for each in rules:
        if before_counting(each) is Outcome.FAIL and is_about(each, contrast):
            of_all = is_of_all_groups(each.definition) or is_of_both_sides(each)
            own = of_all or each.group == subject or not worse
            (failed if own else failed_beside).append(each)
    made = StatedComparison(contrast=contrast, row=row, is_of_shares=of_shares, turned=turned,
        worse=worse, better=not turned and adverse * gap(contrast) < 0,
        judged=bool(rules) and contrast.class_scope.kind is not ClassKind.AVERAGE,
        fails=bool(failed), remains=any(each.remains is not False for each in failed),
        people=None if event is None else _people(contrast, event, other, turned=turned),
    )  # fmt: skip
    if not failed_beside:
        return made
    remains = any(each.remains is not False for each in failed_beside)
    return replace(made, failing_beside=replace(made, fails=True, remains=remains))


def _is_of_shares(row: Statistic | None, scope: ClassScope) -> bool:
    # whether shares are compared; in one class, only of a decision or an outcome
    if not isinstance(row, Rate) or scope.kind is ClassKind.AVERAGE:
        return False
    return scope.kind is ClassKind.NONE or disadvantage.event_of(row) is not None


def _people(
    contrast: Estimate, event: Cells, other: str | None, *, turned: bool
) -> tuple[object, ...]:
    sides = (contrast.group, other or contrast.reference)
    positive = event in (TP + FP, TP + FN)  # its opposite is as much more often as it is less often
    place = contrast.feature, contrast.class_scope.name, contrast.threshold
    less_often = ((gap(contrast) < 0) != turned) == positive
    of = event if positive else disadvantage.OPPOSITES[event]
    return (*place, of, sides[turned], sides[not turned], less_often)


def is_about(verdict: Verdict, contrast: Estimate) -> bool:
    """Return whether a comparison decides a verdict: by any function of the same number.

    The complement of a rate differs by as much: a rule on either is about both.
    """
    of_one = len(_comparison_key(verdict)) == 1 and not is_of_all_groups(verdict.definition)
    return (
        (of_one or verdict.metric == contrast.metric)
        and _is_of_same_rate(verdict, contrast)
        and verdict.class_scope == contrast.class_scope.of_class
        and verdict.threshold in (None, contrast.threshold)
    )


def _is_of_same_rate(verdict: Verdict, contrast: Estimate) -> bool:
    of_all = is_of_all_groups(verdict.definition)
    return (
        bool(_comparison_key(verdict) & _comparison_key(contrast))
        and verdict.feature == contrast.feature
        and (of_all or contrast.group in (verdict.group, verdict.mirror))
    )


def _comparison_key(each: Estimate | Verdict) -> set[Hashable]:
    # the rates that are compared over all rows, or the metric without any
    row = each.definition
    if isinstance(row, Metric) and row.scope == "pooled":
        return {row.name}
    rates = row.statistics if isinstance(row, Metric) else ()
    return {disparity(of) for of in rates or (row,)}
