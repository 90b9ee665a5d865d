"""References: what every group is compared with, resolved once for counts and for rows alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Favourable, ReferenceKind, ReferenceRule, Task
from fairgauge.identity import MissingValue, Part
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.group_counts import GroupCounts, as_reference
from fairgauge.resolve.sides import CountsBySide, side_of_all, side_of_others
from fairgauge.results.disadvantage import favours_the_least
from fairgauge.results.scopes import Reference
from fairgauge.stats.arrays import Index, Mask

Values = NDArray[np.float64]

_PAIR = 2
SAME_VALUE = 1e-12


@dataclass(frozen=True, slots=True)
class Tie:
    """Groups with the same most favourable value, or of the same largest size.

    Attributes
    ----------
    chosen : the reference: of most rows, and of several of these the first by name.
    others : the groups that are tied with it, the largest first.
    rate : the name of the rate that is the same; None where it is the size.
    value : the value of the rate, or the number of rows.
    by_rows : whether the number of rows decides; else the name does.
    least : whether the least value is the best.
    """

    chosen: str
    others: tuple[str, ...]
    rate: str | None
    value: float
    by_rows: bool
    least: bool


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """What every group of a feature is compared with.

    Attributes
    ----------
    sides : array of shape (groups,): the number of the side, as `CountsBySide` counts them.
    each : the reference of every group.
    tie : the groups of which the reference was chosen, where several were equally admissible.
    """

    sides: Index
    each: tuple[Reference, ...]
    tie: Tie | None = None

    def rows(self, group: int, codes: Index) -> Mask:
        """Return which rows are the reference of a group, from the group code of every row."""
        kind = self.each[group].kind
        if kind is ReferenceKind.OVERALL:
            return np.asarray(codes >= -1)
        if kind is ReferenceKind.OTHERS:
            return np.asarray((codes >= -1) & (codes != group))
        return np.asarray(codes == self.sides[group])


def resolve_references(
    counts: GroupCounts,
    sides: CountsBySide,
    metric: Metric | None,
    spec: Spec,
    by_rows: Values | None = None,
) -> References:
    """Return the reference of every group under a metric, of one outcome.

    Ties are stated, as a report notes them.

    Parameters
    ----------
    by_rows : the metric's own number of every group, such as its median, that rows alone give: it
        is what the best group is the best by.
    """
    fixed = _fixed_references(counts, spec)
    if fixed is not None:
        return fixed
    groups = np.arange(len(counts.groups))
    every = sides.pick(groups, np.zeros_like(groups))

    def values_of(statistic: Statistic) -> Values:
        return statistic.value(every, spec.profile)[:, None]

    choice = _choose(counts, metric, spec, values_of, places=1, by_rows=by_rows)
    (references,) = choice.references(counts)
    return replace(references, tie=choice.tie(counts))


def mirrored_group(counts: GroupCounts, references: Sequence[Reference | None]) -> int | None:
    """Return the one of two groups that only mirrors the other; None where there is none.

    Two groups that are each other's reference are one comparison. The smaller group stands for
    both; of equally many rows, the first.

    Parameters
    ----------
    references : what every group is compared with.
    """
    mutual = references and all(
        reference == Reference(ReferenceKind.OTHERS) for reference in references
    )
    if not mutual or len(counts.groups) != _PAIR or counts.has_others:
        return None
    return 1 - int(np.argmin(counts.cases))


def references_at(
    counts: GroupCounts,
    metric: Metric | None,
    spec: Spec,
    values_of: Callable[[Statistic], Values],
    places: int,
) -> tuple[References, ...]:
    """Return the references at each of several places, such as the thresholds of a score.

    A named value is the reference of the features that have it, and all others elsewhere. ``best``
    is the admissible group that the metric's statistic favours at the place; for a metric without
    one, that of the selection rate, or without predictions of the base rate. Where nothing is
    favoured, it is the largest admissible group. Ties are broken by the number of rows, then by the
    name.

    Parameters
    ----------
    values_of : returns a statistic of every group at every place; shape (groups, places).
    """
    fixed = _fixed_references(counts, spec)
    if fixed is not None:
        return (fixed,) * places
    return _choose(counts, metric, spec, values_of, places).references(counts)


def _fixed_references(counts: GroupCounts, spec: Spec) -> References | None:
    """Return the references that no data choose: those of a rule, or the named group."""
    rule, size = spec.reference, len(counts.groups)
    groups = np.arange(size)
    if isinstance(rule, tuple) and counts.named_reference is not None:
        named = counts.named_reference
        reference = as_reference(counts, named)
        return References(np.full(size, named), (reference,) * size)
    if isinstance(rule, tuple) or rule is ReferenceRule.OTHERS:
        others = Reference(ReferenceKind.OTHERS)
        return References(side_of_others(size) + groups, (others,) * size)
    if rule is ReferenceRule.OVERALL:
        overall = Reference(ReferenceKind.OVERALL)
        return References(np.full(size, side_of_all(size)), (overall,) * size)
    return None if size else References(groups, ())


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """The group that is chosen as the reference at each place, and those that are tied with it.

    Attributes
    ----------
    chosen : array of shape (places,).
    tied : array of shape (groups, places): equally admissible and equally favoured, itself too.
    values : array of the same shape, by which it is chosen.
    rate : what the values of the first place are; None for numbers of rows.
    least : whether the least of them is the best.
    """

    kind: ReferenceKind
    chosen: Index
    tied: Mask
    values: Values
    rate: Statistic | None
    least: bool

    def references(self, counts: GroupCounts) -> tuple[References, ...]:
        size = len(counts.groups)
        of_group = {
            group: References(
                np.full(size, group), (as_reference(counts, group, self.kind),) * size
            )
            for group in set(self.chosen.tolist())
        }
        return tuple(of_group[group] for group in self.chosen.tolist())

    def tie(self, counts: GroupCounts) -> Tie | None:
        """Return which groups are tied at the first place."""
        chosen = int(self.chosen[0])
        others = [group for group in np.flatnonzero(self.tied[:, 0]).tolist() if group != chosen]
        if not others:
            return None
        sizes = group_sizes(counts)
        others.sort(key=lambda group: (-sizes[group], counts.groups[group]))
        return Tie(
            counts.groups[chosen],
            tuple(counts.groups[group] for group in others),
            None if self.rate is None else self.rate.name,
            float(self.values[chosen, 0]),
            by_rows=bool(sizes[chosen] > sizes[others[0]]),
            least=self.least,
        )


def _choose(
    counts: GroupCounts,
    metric: Metric | None,
    spec: Spec,
    values_of: Callable[[Statistic], Values],
    places: int,
    by_rows: Values | None = None,
) -> _Choice:
    """Choose the group with the most favourable value, or the largest, at each place.

    Of several the one with most rows is taken, so that its confidence interval is the narrowest;
    of several of these the first by name. Values are equal up to rounding errors.
    """
    sizes = group_sizes(counts)
    large, people = large_groups(counts, spec), of_known_people(counts)
    by_size = np.repeat(sizes[:, None], places, axis=1)
    best = spec.reference is ReferenceRule.BEST
    rate = _favouring(metric, counts) if best and by_rows is None else None
    values = by_size if rate is None else values_of(rate)
    least = rate is not None and favours_the_least(rate, spec.favourable)
    if best and by_rows is not None:  # amounts, or places in a ranking for a positive outcome
        values, least = by_rows[:, None], spec.favourable in (Favourable.LOWER, Favourable.NEGATIVE)
    sign = -1.0 if least else 1.0
    chosen, tied, unknown = choose_groups(sizes, large, people, counts.groups, sign * values)
    kind = ReferenceKind.BEST if best else ReferenceKind.LARGEST
    if unknown[0]:
        rate, values = None, by_size
    return _Choice(kind, chosen, tied, values, rate, least)


def choose_groups(
    sizes: Values, large: Mask, people: Mask, names: Sequence[str], values: Values
) -> tuple[Index, Mask, Mask]:
    """Return the group of the largest value at each place, the tied ones, and where none is known.

    Admissible are large groups of people of known category. Where none of them has a value, the
    largest is chosen; where there is none, one of the largest, of known category if any is.

    Parameters
    ----------
    large, people : which groups are large enough, and which are of people of known category.
    values : array of shape (groups, places).
    """
    admissible = large & people
    if not admissible.any():
        able = np.where(people | ~people.any(), sizes, -1.0)
        admissible = able == able.max(initial=0.0)
    unknown = np.asarray(np.isnan(values[admissible]).all(axis=0))
    favoured = np.where(admissible[:, None], np.where(unknown, sizes[:, None], values), np.nan)
    most = np.nanmax(favoured, axis=0)
    tied = np.isclose(favoured, most, rtol=SAME_VALUE, atol=SAME_VALUE)
    by_rows = sorted(range(len(sizes)), key=lambda group: (-sizes[group], names[group]))
    rank = np.argsort(by_rows)
    return np.where(tied, rank[:, None], len(sizes)).argmin(axis=0), tied, unknown


def group_sizes(counts: GroupCounts) -> Values:
    """Return the rows of every group over all strata, by weight where weights differ."""
    rows = counts.counts["w" if counts.unequally_weighted else "n"]
    return np.asarray(rows[:-1, 0].sum(axis=(1, 2)))


def admissible_groups(counts: GroupCounts, spec: Spec) -> Mask:
    """Return which groups may be chosen as the best or the largest reference.

    Small groups may not, nor people of unknown category: nobody is to be compared with them alone.
    """
    return large_groups(counts, spec) & of_known_people(counts)


def of_known_people(counts: GroupCounts) -> Mask:
    """Return which groups are of people whose category is known in every column."""
    known = [not any(map(is_unknown_part, each.parts)) for each in counts.group_ids]
    return np.array(known, dtype=bool)


def is_unknown_part(part: Part) -> bool:
    """Return whether a group is of rows that have no value of a column."""
    return isinstance(part, MissingValue)


def large_groups(counts: GroupCounts, spec: Spec) -> Mask:
    """Return which groups have ``min_n`` rows (by default `FEWEST_ROWS`) and ``min_share``."""
    return np.asarray(counts.cases >= _fewest(counts, spec))


def _fewest(counts: GroupCounts, spec: Spec) -> float:
    minimum = FEWEST_ROWS if spec.min_n is None else spec.min_n
    return max(minimum, (spec.min_share or 0.0) * counts.every_case)


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The groups that could be the reference that the data choose, were more known of some rows.

    Attributes
    ----------
    best : whether the best is chosen; else the largest.
    favourable : what makes a group the best.
    large : which are large enough already.
    needed : how many rows of no known group each needs to be the reference, and how many where its
        own rows without an outcome have one; inf of people of unknown category.
    """

    best: bool
    favourable: Favourable | None
    large: Mask
    needed: tuple[Values, Values]


def rivals(counts: GroupCounts, spec: Spec) -> Rivals | None:
    """Return which groups could be the reference; None where the data do not choose it."""
    if spec.reference not in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        return None
    best = spec.reference is ReferenceRule.BEST
    large, people = large_groups(counts, spec), of_known_people(counts)
    able = people | ~people.any()
    ahead = np.zeros(len(able))
    if not best:
        sizes = group_sizes(counts)
        held = large & people if (large & people).any() else able
        ahead = sizes[held].max(initial=0.0) - sizes
        if counts.unequally_weighted:
            unknown = counts.unknown["w"][:, 0].sum(axis=(1, 2))
            # the weights of the rows that it needs are not known
            ahead = np.where(ahead <= unknown @ counts.crossing.fits, 0.0, np.inf)
    every = counts.counts["n"][:-1, 0].sum(axis=(1, 2))
    # where no group is large enough, the largest is the reference
    fewest = min(_fewest(counts, spec), float(counts.cases[able].max(initial=0.0)))
    alone, decided = (
        np.where(able, np.maximum(np.maximum(fewest - cases, ahead), 0.0), np.inf)
        for cases in (counts.cases, every)
    )
    return Rivals(best, spec.favourable, large, (alone, decided))


def _favouring(metric: Metric | None, counts: GroupCounts) -> Statistic | None:
    if isinstance(metric, Contrast):
        return metric.of
    if metric is None or not (counts.has_labels or counts.has_predictions):
        return None
    of_labels = not counts.has_predictions or metric.needs == {"label"}
    if metric.tasks == {Task.REGRESSION}:
        return find_rate("mean_label" if of_labels else "mean_prediction")
    return find_rate("base_rate" if of_labels else "selection_rate")
