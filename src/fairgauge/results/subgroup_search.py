"""Where a rate is worse, of all subgroups that features make."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from fairgauge.catalogue.directions import harm_in_words
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import DiagnosticCode, Missing, SearchedValues, SubgroupStatus, Worse
from fairgauge.results import shown_result
from fairgauge.results.codec import Finite, Share
from fairgauge.results.scopes import Diagnostic, HasDefinition
from fairgauge.start.records import dataclass, field
from fairgauge.values import Saved

HIDING = (
    DiagnosticCode.MISSING_OUTCOMES, DiagnosticCode.MISSING_GROUPS, DiagnosticCode.UNCOUNTED_ROWS
)  # fmt: skip
"""What is warned of where rows that lack something could hide that a subgroup is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedFeature:
    """A feature whose values are conditions of subgroups.

    ``made, cuts``: how its values were made, and the cut points of a number.
    ``conditions``: by the name of each value, what chooses its rows (`where`).
    ``unknown``: the values listed as unknown that its columns hold.
    """

    name: str
    made: SearchedValues
    values: tuple[str, ...]
    cuts: tuple[Finite, ...] = ()
    conditions: Saved = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def where(self, value: str) -> dict[str, object]:
        """Return what chooses the rows of a value, of all other values together all but these."""
        if value in self.conditions:
            return {self.name: self.conditions[value]}
        named = (v if isinstance(v, list) else [v] for v in self.conditions.values())
        return {self.name: {"not": [*chain(*named)]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuestion(HasDefinition[Rate]):
    """What was searched for; a rate must differ by at least the tolerance to be worse."""

    rate: str
    worse: Worse
    tolerance: Share
    depth: int
    min_rows: int
    alpha: Share
    missing: Missing
    features: tuple[SearchedFeature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroup:
    """A conjunction of values of features, compared with all other rows.

    ``rows, n, events``: its rows, those of them that the rate is a share of, and those it counts.
    ``low, high``: the simultaneous interval of the difference, for all subgroups of the search.
    ``evidence``: the signed root of the likelihood ratio of "worse by exactly the tolerance".
    ``explained_by``: of one that is worse, the member of the summary that accounts for most of it.
    ``rows_needed``: of an undecided one, the rows that would probably (80%) show it.
    """

    name: str
    conditions: Mapping[str, str]
    rows: int
    n: int
    events: int
    rate: Share
    reference_rate: Share
    difference: Finite
    low: Finite
    high: Finite
    evidence: Finite
    p_adjusted: Share
    status: SubgroupStatus
    explained_by: str | None = None
    rows_needed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallRate:
    """The rate of all rows."""

    rows: int
    n: int
    events: int
    rate: Share | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest:
    """What holds for all subgroups that were examined, at once.

    ``by_at_most``: no subgroup is worse by more, of the values as they are; None where rows that
        lack something could hide one. The other is of subgroups with at least a tenth of the rows.
    """

    by_at_most: Finite | None
    by_at_most_of_large: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest difference that would probably (80%) have been found."""

    share: Share
    n: int
    difference: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupSearch(shown_result.ResultOfMetrics):
    """Where a rate is worse: every subgroup of a few conditions, and what is shown of it.

    ``worse``: worse by most at least first; a chance of at most ``alpha`` that any of them is not.
    ``undecided``: the largest estimates first; at most 1,000 of ``undecided_count``.
    ``too_few, duplicates``: those with fewer than 20 rows, and with the rows of fewer conditions.
    ``critical_value, other_critical_value``: what it exceeds if worse, its opposite if not.
    """

    KIND: ClassVar = shown_result.ResultKind(name="find", schema="fairgauge.find/2",
        title="Subgroups in which a rate is worse", called="a search for subgroups",
        page="fairgauge.statements.search:search_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "metrics", "summary", "doubts", "_statements")

    data: shown_result.CountedData
    fingerprint: str
    question: SearchQuestion
    spec: Saved
    overall: OverallRate
    worse: tuple[Subgroup, ...]
    undecided: tuple[Subgroup, ...]
    examined: int
    undecided_count: int
    not_worse_count: int
    too_few: int
    duplicates: int
    critical_value: Finite
    other_critical_value: Finite
    largest: Largest
    detectable: tuple[Detectable, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.own, harm_in_words(self.spec))

    @property
    def summary(self) -> tuple[str, ...]:
        """Return the names of the worse subgroups that account for all others."""
        return tuple(each.name for each in self.worse if each.explained_by is None)

    @property
    def lacks_outcomes(self) -> bool:
        """Return whether rows without a clear outcome, group or count could hide a worse one."""
        return any(each.code in HIDING for each in self.diagnostics)

    @property
    def is_constant(self) -> bool:
        """Return whether the rate is 0% or 100% of all rows, so that no subgroup can differ."""
        return not self.worse and self.overall.events in (0, self.overall.n)

    def __getitem__(self, name: str) -> Subgroup:
        """Return a subgroup that is worse or listed as undecided; a ``KeyError`` if none is."""
        return shown_result.find_named((*self.worse, *self.undecided), name)

    def where(self, subgroup: Subgroup) -> dict[str, object]:
        """Return the option ``where`` that counts the rows of a subgroup alone.

        Where the search had one itself, these are further conditions.
        """
        found: dict[str, object] = {}
        for feature in self.question.features:
            if feature.name in subgroup.conditions:
                found |= feature.where(subgroup.conditions[feature.name])
        return found
