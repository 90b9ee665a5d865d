"""SubgroupSearch: where a rate is worse, of all subgroups that features make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

from fairgauge.catalogue.lookup import Catalogue
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    DiagnosticCode,
    Missing,
    SearchedValues,
    SubgroupStatus,
    Worse,
)
from fairgauge.errors import quote
from fairgauge.results.codec import Finite, Share, Version
from fairgauge.results.counted import CountedData
from fairgauge.results.definitions import OfRow
from fairgauge.results.describers import function_at
from fairgauge.results.disadvantage import harm_in_words
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.values import Saved

HIDING = (DiagnosticCode.MISSING_OUTCOMES, DiagnosticCode.UNCOUNTED_ROWS)
"""What is warned of where rows that lack something could hide that a subgroup is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedFeature:
    """A feature whose values are conditions of subgroups.

    Attributes
    ----------
    name : its column.
    made : how its values were made: as they are, cut as asked, cut into fifths of the rows without
        looking at outcomes, or the most frequent ones with all others as one.
    values : the names of its values, in order.
    cuts : the cut points of a number, none of other columns.
    conditions : by the name of each value, what chooses its rows (`where`); all other values
        together have none.
    unknown : the values listed as unknown that its columns hold.
    """

    name: str
    made: SearchedValues
    values: tuple[str, ...]
    cuts: tuple[Finite, ...] = ()
    conditions: Saved = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def where(self, value: str) -> dict[str, Any]:
        """Return what chooses the rows of a value, of all other values together all but these."""
        if value in self.conditions:
            return {self.name: self.conditions[value]}
        named = (v if isinstance(v, list) else [v] for v in self.conditions.values())
        return {self.name: {"not": [*chain(*named)]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuestion(OfRow[Rate]):
    """What was searched for.

    Attributes
    ----------
    rate : the rate.
    worse : which side is the worse one.
    tolerance : by how much a rate must differ at least to be worse.
    depth, min_rows : the most conditions of a subgroup, and the fewest rows.
    alpha : the error rate in each direction.
    missing : what a missing value of a feature is.
    features : the features and their values.
    """

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

    Attributes
    ----------
    name : its conditions in one text, unique in a result.
    conditions : the value of each feature that it has a condition on.
    rows, n, events : its rows, those of them that the rate is a share of, and those it counts.
    rate, reference_rate : its rate, and that of the reference.
    difference : the first less the second.
    low, high : the ends of the simultaneous interval of the difference; both hold for all subgroups
        of the search at once.
    evidence : the signed root of the likelihood ratio of "worse by exactly the tolerance", positive
        on the worse side; the subgroup is worse where it exceeds the critical value.
    p_adjusted : its p-value, adjusted for all subgroups.
    status : what is shown.
    explained_by : of a subgroup that is worse, the member of the summary that accounts for most of
        its evidence; None where it is a member itself.
    rows_needed : of an undecided subgroup, the rows of a table of this composition in which it
        would probably (80%) be shown to be worse, if its difference is the true one; None where it
        is not on the worse side.
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
    """The rate of all rows.

    Attributes
    ----------
    rows, n, events : all rows, those that the rate is a share of, and those it counts.
    rate : the rate; None without such rows.
    """

    rows: int
    n: int
    events: int
    rate: Share | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest:
    """What holds for all subgroups that were examined, at once.

    Attributes
    ----------
    guaranteed : the subgroup that is shown to be worse by most, None where none is worse.
    by_at_least : by how much it is at least worse.
    by_at_most : no subgroup is worse by more than this; None where none was examined, or where
        rows that lack an outcome or a count could hide one. It is of the values as they are: what
        is doubted (`lacks_outcomes`) does not change it, but no report states it then.
    by_at_most_of_large : the same of subgroups with at least a tenth of the rows that the rate is
        a share of.
    """

    guaranteed: str | None
    by_at_least: Finite | None
    by_at_most: Finite | None
    by_at_most_of_large: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest difference that would probably (80%) have been found.

    Attributes
    ----------
    share : the subgroup's share of the rows that the rate is a share of.
    n : its rows of these.
    difference : the size of the difference; None where none would have been found.
    """

    share: Share
    n: int
    difference: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupSearch(ResultOfMetrics):
    """Where a rate is worse: every subgroup of a few conditions, and what is shown of it.

    Attributes
    ----------
    version, created : the fairgauge that searched, and when.
    data : what was counted.
    fingerprint : the digest of the counts.
    question : what was searched for.
    spec : the columns of the outcomes and what they mean, as the specification of an audit.
    overall : the rate of all rows.
    worse : the subgroups that are worse, the one that is worse by most at least first; with a
        chance of at most ``alpha`` that any of them is not.
    undecided : those that could not be decided, the largest estimates first; at most 1,000.
    examined : how many subgroups were tested.
    undecided_count, not_worse_count : how many of them were not decided, and shown not to be worse.
    too_few : subgroups that were not tested, because they or all others have fewer than 20 rows
        that the rate is a share of.
    duplicates : conjunctions with the same rows as one of fewer conditions, which stands for them.
    critical_value, other_critical_value : what the evidence must exceed to be worse, and its
        opposite not to be.
    largest : what holds for all subgroups at once.
    detectable : what would have been found.
    diagnostics : warnings of what the question may have meant instead.
    """

    KIND: ClassVar = ResultKind(
        name="find",
        schema="fairgauge.find/2",
        title="Subgroups in which a rate is worse",
        called="a search for subgroups",
        page="fairgauge.statements.search:search_page",
    )
    DERIVED: ClassVar = ("metrics", "summary", "_brief")

    version: Version
    created: str = field(compare=False)
    data: CountedData
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
        """Return what the name of the rate stands for."""
        return Catalogue(self.own, harm_in_words(self.spec))

    @property
    def summary(self) -> tuple[str, ...]:
        """Return the names of the worse subgroups that account for all others."""
        return tuple(each.name for each in self.worse if each.explained_by is None)

    @property
    def lacks_outcomes(self) -> bool:
        """Return whether rows without a clear outcome or a count could hide a worse subgroup.

        Rows of one value of a feature lack an outcome more often than those of another, or at least
        1% of the rows have no count. Nothing is then shown of all rows where none is found.
        """
        return any(each.code in HIDING for each in self.diagnostics)

    @property
    def is_constant(self) -> bool:
        """Return whether the rate is 0% or 100% of all rows, so that no subgroup can differ."""
        return not self.worse and self.overall.events in (0, self.overall.n)

    def __getitem__(self, name: str) -> Subgroup:
        """Return a listed subgroup by its name.

        Raises
        ------
        KeyError
            No subgroup of this name is worse, or listed as undecided.
        """
        for each in (*self.worse, *self.undecided):
            if each.name == name:
                return each
        raise KeyError(f"{quote(name)}; {len(self.worse) + len(self.undecided):,} are listed")

    def where(self, subgroup: Subgroup) -> dict[str, Any]:
        """Return the option ``where`` that counts the rows of a subgroup alone.

        Where the search had one itself, these are further conditions.
        """
        found: dict[str, Any] = {}
        for feature in self.question.features:
            if feature.name in subgroup.conditions:
                found |= feature.where(subgroup.conditions[feature.name])
        return found

    def to_pandas(self) -> Any:
        """Return the listed subgroups, a row each and a column for each feature."""
        return function_at("fairgauge.render.streams:to_pandas")(self)

    def to_polars(self) -> Any:
        """Return the listed subgroups, a row each and a column for each feature."""
        return function_at("fairgauge.render.streams:to_polars")(self)

    def __repr__(self) -> str:
        return (
            f"<SubgroupSearch: {len(self.worse):,} of {self.examined:,} subgroups are worse; "
            "print() shows them>"
        )
