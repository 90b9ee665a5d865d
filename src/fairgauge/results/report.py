"""Report: the results of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

from fairgauge.catalogue.directions import favourable_of, harm_in_words
from fairgauge.catalogue.lookup import SCORING_RATE, Catalogue, Facts
from fairgauge.enums import ClassKind, Outcome, Profile, ScopeKind, Task, Threshold
from fairgauge.errors import listing, quote, suggest
from fairgauge.results import estimates as measured
from fairgauge.results.codec import NOT_SAVED, Finite
from fairgauge.results.estimates import ByEstimator, Estimate, Finding, Group, GroupPair
from fairgauge.results.scopes import Diagnostic, function_at, in_words
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.results.verdicts import RuleResult, RulesNotMet, Verdict, results_by_rule, unmet
from fairgauge.start.records import dataclass, field
from fairgauge.values import Saved, is_one_of

Key: TypeAlias = "str | tuple[object, ...]"
"""A metric; a feature; a group, by its name or its value; a stratum; a mapping of choices."""

COUNTS = "counts"
"""The source of rows that were counted before."""
_SUBJECT = 3
_NAMED = {name: attrgetter(name) for name in ("feature", "group")}
_CHOICES = {name: attrgetter(path) for name, path in {
    "scope": "scope.kind", "stratum": "stratum", "class_scope": "class_scope.kind",
    "class": "class_", "average": "class_scope.average", "threshold": "threshold"}.items()
}  # fmt: skip
"""What distinguishes estimates of one metric and group, by the names of the JSON format."""
_OF_SCOPE = {"scope", "stratum"}
_OF_CLASS = {"class_scope", "class", "average"}


@dataclass(frozen=True, slots=True)
class Data:
    """What was read; ``rows`` are physical ones, ``cases`` and ``used`` those of a count."""

    source: str
    fingerprint: str
    rows: int
    cases: Finite
    used: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(ResultOfMetrics):
    """The results of an audit; it is displayed in a notebook, and can be saved in any format.

    ``report["AD", "sex", "Female"]`` is one `Estimate`; ``report["GE"]`` one of the whole table.
    ``totals`` are all groups of each feature together. Two reports are equal if they hold the same
    results of the same specification.
    """

    KIND: ClassVar = ResultKind(name="report", schema="fairgauge.report/3",
        title="A fairness audit", called="a report of fairgauge",
        page="fairgauge.statements.audit:audit_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "metrics", "doubts", "_statements")

    profile: Profile
    task: Task
    data: Data
    spec: Saved
    groups: tuple[Group, ...]
    totals: tuple[Group, ...] = ()
    estimates: tuple[Estimate, ...]
    pairs: tuple[GroupPair, ...] = ()
    findings: tuple[Finding, ...] = ()
    """The disparities that it leads with, the most important first, in every format."""
    verdicts: tuple[Verdict, ...]
    verdict: Outcome
    diagnostics: tuple[Diagnostic, ...]
    counts: Any = field(default=None, compare=False, repr=False, metadata=NOT_SAVED)
    """The cube that it was made from; a report that was saved holds none."""
    adverse_impact: tuple[measured.AdverseImpact, ...] = ()
    """Selections beside those to expect, where a preset asks for them."""
    score_curves: tuple[measured.ScoreCurve, ...] = ()
    """Of scores with labels, the calibration of each group and its ROC curve."""
    estimators: tuple[ByEstimator, ...] = ()
    """Of features of which only probabilities are known, comparisons with their bounds."""

    @property
    def catalogue(self) -> Catalogue:
        asked, positive = self.spec, self.spec.get("positive") or [1]
        of = asked.get("score_of")  # where it is the other outcome, its median is of no use
        of_positive = of is None or (isinstance(positive, list) and is_one_of(of, positive))
        by_median = asked.get("threshold") == Threshold.MEDIAN and bool(asked.get("score"))
        if by_median and not asked.get("prediction") and of_positive:
            return Catalogue(self.own, (SCORING_RATE,))
        binary = self.task is Task.BINARY
        return Catalogue(self.own, harm_in_words(self.spec) if binary else ())

    @property
    def by_rule(self) -> tuple[RuleResult, ...]:
        """Return what every rule comes to, with its verdicts, the worst group first."""
        return results_by_rule(self.verdicts, favourable_of(self.spec))

    def __getitem__(self, key: Key) -> Estimate:
        """Return one estimate: metric, feature, group and, if any, stratum.

        A metric of the whole table needs no more than its name. Without a stratum the estimate is
        that of all rows (with strata pooled where the metric is defined so). Where there are
        several thresholds or classes, a last part chooses one by the names of the JSON format:
        ``{"threshold": 0.3}``, ``{"class": "cat"}``, ``{"average": "macro"}``,
        ``{"class_scope": "worst"}``, ``{"stratum": "A"}``, ``{"scope": "pooled"}`` (adjusted).

        Raises ``KeyError``: there is none, or several; it names the nearest, or what chooses one.
        """
        parts = (key,) if isinstance(key, str) else tuple(key)
        plain = [part for part in parts if not isinstance(part, Mapping)]
        choice = {"stratum": plain[-1]} if len(plain) > _SUBJECT else {}
        choice |= parts[-1] if isinstance(parts[-1], Mapping) else {}
        for name in choice.keys() - _CHOICES:
            near, allowed = suggest(name, _CHOICES), ", ".join(_CHOICES)
            raise KeyError(f"cannot choose by {quote(name)}.{near} Allowed: {allowed}")
        try:
            metric = self.catalogue.metric(str(parts[0])).name
        except LookupError as error:
            raise KeyError(str(error)) from None
        subject = metric, *plain[1:_SUBJECT]
        of_metric = [each for each in self.estimates if each.metric == metric]
        named = [e for e in of_metric if (e.metric, e.feature, e.group)[: len(subject)] == subject]
        if not named and len(subject) == _SUBJECT:
            of_feature = [e for e in of_metric if e.feature == subject[1]]
            named = [e for e in of_feature if e.group_id and e.group_id.has_values(subject[2])]
        found = [e for e in named if all(_CHOICES[name](e) == choice[name] for name in choice)]
        # of all rows and of no class, where nothing else is chosen; the worst class has a name
        if _OF_SCOPE.isdisjoint(choice):
            found = [each for each in found if each.scope.kind is not ScopeKind.STRATUM]
            found = [e for e in found if e.scope.kind is ScopeKind.OVERALL] or found
        if "class_scope" not in choice and _OF_CLASS.isdisjoint(choice) | ("class" in choice):
            kind = ClassKind.CLASS if "class" in choice else ClassKind.NONE
            found = [each for each in found if each.class_scope.kind is kind] or found
        if len(found) == 1:
            return found[0]
        asked = quote(", ".join(map(str, (metric, *parts[1:]))))
        if named:
            ways = "; ".join(
                f"{name}: {listing(values, 6)}"
                for name, of in (_NAMED | _CHOICES).items()
                if len(values := dict.fromkeys(map(of, found or named))) > 1 or name in choice
            )
            raise KeyError(f"{len(found) or 'no'} estimates match {asked}; choose by {ways}")
        if not of_metric:
            raise KeyError(f"the report has no metric {quote(metric)} (metrics={[metric]})")
        known = [", ".join(map(str, (e.metric, e.feature, e.group))) for e in of_metric]
        raise KeyError(f"no estimate {asked}.{suggest(', '.join(map(str, subject)), known)}")

    @property
    def metrics(self) -> Facts:
        """Return the facts of the rates and metrics in the report, by their names."""
        metrics = (estimate.metric for estimate in self.estimates)
        rates = (rate for group in self.groups for rate in group.rates)
        return self.catalogue.facts(rates, metrics)

    def check(self, *, inconclusive: str = "fail") -> Report:
        """Return this report if every rule is met, and raise otherwise.

        ``inconclusive`` ("fail" or "pass") states whether a rule that cannot be decided raises,
        too. One that matches no group or metric of the data always does, as do no rules at all.

        Raises ``RulesNotMet``: with a line for each rule and group that is not met.
        Raises ``SpecError``: ``inconclusive`` is neither word.

        Examples
        --------
        >>> import fairgauge as fg
        >>> counts = fg.confusion("sex", {"F": {"tp": 10, "fn": 90}, "M": {"tp": 90, "fn": 10}})
        >>> fg.audit(counts, rules=["true_positive_rate.ratio >= 0.8"]).check()
        Traceback (most recent call last):
        ...
        fairgauge.results.verdicts.RulesNotMet: 1 of 1 verdicts is not a pass
        FAIL true_positive_rate.ratio >= 0.8, sex: F: true positive rate ratio 0.11, 95% CI ...
        """
        verdicts = unmet(self.verdicts, inconclusive)
        if verdicts or not self.verdicts:
            message = in_words("words.verdict_sentences:describe_unmet", self, verdicts)
            raise RulesNotMet(message, verdicts)
        return self

    def explore(self, *, exact: bool = False) -> Any:
        """Make a page that computes every view of the counts of this report, as `explore` does.

        With ``exact`` it may hold counts of fewer than ten persons, for all to read.

        Raises ``CubeError``: the report was saved and holds no counts, or a page cannot hold them.
        """
        return function_at("fairgauge.api.paging:explore_report")(self, exact=exact)

    def by_group(self) -> Any:
        """Return the rates of every group as a pandas frame: a row each, a column for each rate."""
        return in_words("streams:rate_frame", self, self.groups)

    def overall(self) -> Any:
        """Return the rates of all groups together as a pandas frame, a row for each feature."""
        return in_words("streams:rate_frame", self, self.totals)

    def difference(self) -> Any:
        """Return the differences of rates, group minus reference, as a pandas frame."""
        return in_words("streams:contrasts", self, "difference")

    def ratio(self) -> Any:
        """Return the ratios of rates, group over reference, as a pandas frame."""
        return in_words("streams:contrasts", self, "ratio")
