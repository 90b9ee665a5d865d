"""Rows without an outcome, a group or a stratum: how many, and whether they may be unlike others.

What is adjusted for strata is of the rows with a stratum alone. Where their rates are not those of
all rows, a difference may change because it is adjusted, or because rows are missing, and the data
do not show which.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts, Need
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube, cases_of_no_weight
from fairgauge.enums import Decide, DiagnosticCode, Profile, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS, Parameter
from fairgauge.resolve.group_counts import GroupCounts, known_outcome, ungrouped_rows
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import CountsBySide, Measure, large_groups, sides_of_unknown
from fairgauge.results.estimates import LITTLE
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Index, Mask, quotient
from fairgauge.stats.sampling import largest_design_effect
from fairgauge.stats.significance import chi_square_tail, homogeneity, homogeneity_table, two_sided

if TYPE_CHECKING:  # which an audit does not need
    from fairgauge.resolve.searched_features import SearchedRows
    from fairgauge.results.subgroup_search import SearchedFeature

_OF_DECISIONS = ("prediction", "score")
MANY_MISSING = 0.01
"""The share of the rows of a group from which those that lack something are many."""
_MANY = 0.05
_LEVEL = 0.01
# far below usual levels: with many comparisons a chance finding would withhold verdicts
_HARDLY_CHANCE = 1e-3
_TWO = 2


def missing_outcomes(counted: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where rows that lack the label or prediction are many, or not alike in all groups."""
    if counted.protected:  # whose rounded counts no test of equal shares is of
        return
    every = np.arange(len(counted.groups))
    shown = np.flatnonzero(large_groups(counted, spec))
    for what, all_missing, _, all_n in (
        _missing_by_group(counted, spec, every) if len(shown) else ()
    ):
        missing, n = all_missing[shown], all_n[shown]
        p = float(homogeneity(missing, n)[1])
        many = missing.sum() >= _MANY * n.sum() or p < _LEVEL
        if quotient(missing, n).max() >= MANY_MISSING and many:
            groups = [counted.groups[i] for i in shown.tolist()]
            yield _unequal_shares(
                what, counted.feature, groups, missing, n, spec,
                rows=int(all_missing.sum()), total=int(all_n.sum()), ruled=bool(spec.rules),
                **({"p": p} if len(shown) > 1 else {}),
                **({"of_groups": len(every)} if len(shown) < len(every) else {}),
                **({"unstated": True} if spec.negative_of(getattr(spec, what, None)) else {}),
            )  # fmt: skip


def _unequal_shares(
    what: str, feature: str, names: Sequence[str], missing: Array, n: Array, spec: Spec,
    **more: Parameter,
) -> Diagnostic:  # fmt: skip
    shares = quotient(missing, n)
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    return Diagnostic.warning(
        DiagnosticCode.MISSING_OUTCOMES, feature, what=what,
        most=names[most], most_share=float(shares[most]),
        least=names[least], least_share=float(shares[least]), groups=len(names),
        **more, **spec.unit,
    )  # fmt: skip


def lacks_more(
    counted: GroupCounts, needs: Container[str], group: int, reference: int, spec: Spec
) -> Array:
    """Return how many rows of each side lack an outcome beyond the other side's share.

    None do where that may be chance. Else the rows with one need not be like all rows, and that
    they do not differ shows nothing.

    ``needs``: the columns of outcomes that are compared.
    ``group, reference``: numbers of groups; a reference that is none of them is all others.
    """
    every = np.arange(len(counted.groups))
    others = every == reference if reference < len(every) else every != group
    more = np.zeros(2)
    for measure in _measures(counted):
        for what, missing, open_, n in _missing_by_group(counted, spec, every, measure):
            if not any(need in needs for need in (what, *_OF_DECISIONS * (what != "label"))):
                continue
            sums = missing + open_, n
            lacks, rows = (np.array([each[group], each[others].sum()]) for each in sums)
            shares, alike = quotient(lacks, rows), _kish_design_effect(counted, measure)
            p = homogeneity(lacks / alike, rows / alike)[1]
            if np.ptp(shares) >= MANY_MISSING and p < _HARDLY_CHANCE:
                more = np.maximum(more, (shares - shares.min()) * rows)
    return more


def _measures(counted: GroupCounts) -> tuple[Measure, ...]:
    # few rows may weigh as much as many: weights are in the unit of rows
    return ("n", "w") if counted.unequally_weighted else ("n",)


def _kish_design_effect(counted: GroupCounts, measure: Measure) -> float:
    # of weights (Kish)
    if measure == "n":
        return 1.0
    n, w, w2 = (float(counted.counts[name][:, 0].sum()) for name in ("n", "w", "w2"))
    return n * w2 / w**2


def differs_without_group(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic,
    spec: Spec,
    columns: Iterable[Index] = (),
) -> bool:
    """Return whether rows without a group are many, and have other rates than those with one.

    They may have them over all rows, within the strata, or within the levels of one of several
    ``columns``, which state the level of every stratum.
    """
    if counted.protected:
        return False
    if ungrouped_rows(counted, "n") < MANY_MISSING * counted.every("n"):
        # these show no rates of theirs, whatever they weigh
        weighted = counted.weighted
        return weighted and ungrouped_rows(counted, "w") >= MANY_MISSING * counted.every("w")
    known, unknown = sides_and_unknown(counted, outcome, spec.profile, "n")
    slots = np.arange(1 + len(counted.strata))
    first = np.zeros_like(slots)
    left, kept = (sides.pick(first + sides.whole, slots) for sides in (unknown, known))
    divided = list({each.tobytes(): each for each in (slots[:-1], *columns)}.values())
    for table, means in _unlike_tables(of, left, kept):
        p = [_p_within(table[1:], levels, means) for levels in divided]
        if min(p) < _HARDLY_CHANCE / len(p):
            return True
        if _p_unlike(table[:1], means=means)[0] < _HARDLY_CHANCE:
            return True
    return False


def _p_within(table: Array, levels: Index, means: bool) -> float:
    # the p-value of rows being like others in every level: of all (Fisher), or of one
    sums = np.zeros((1 + levels.max(initial=-1), *table.shape[1:]))
    np.add.at(sums, levels, table)
    if means:
        enough = sums[:, :, 0].min(axis=1) >= FEWEST_ROWS
    else:
        every, rows = sums.sum(axis=1, keepdims=True), sums.sum(axis=2, keepdims=True)
        expected = rows * quotient(every, every.sum(axis=2, keepdims=True))
        enough = np.where(every > 0, expected, np.inf).min(axis=(1, 2)) >= FEWEST_EXPECTED
    found = _p_unlike(sums, means=means)[enough]
    found = found[~np.isnan(found)]
    if not found.size:
        return 1.0
    with np.errstate(divide="ignore"):
        together = chi_square_tail(-2 * np.log(found).sum(), 2 * found.size)
    return float(2 * min(together, found.size * found.min()))


def unevenly_lacking(
    searched: SearchedRows, features: Sequence[SearchedFeature], spec: Spec
) -> Iterator[Diagnostic]:
    """Warn of features of which rows of one value lack an outcome significantly more often.

    What is alike among the rows with one then need not be alike among all. Warn too of those that
    many rows lack, which have another rate than the others.
    """
    from fairgauge.resolve.searched_features import COUNTED, OUTCOMES

    for i, (feature, rows_of) in enumerate(zip(features, searched.rows_of, strict=True)):
        lacks = rows_of[-1]
        if not lacks or lacks < MANY_MISSING * rows_of.sum() or spec.feature(feature.name).values:
            continue  # of sets of values the rows of all others have no value, too
        table = np.zeros((1, _TWO, OUTCOMES))
        for part in searched.parts():
            key = (part.codes[i] == len(feature.values)) * OUTCOMES + part.outcomes
            table += np.bincount(key, part.cases, table.size).reshape(table.shape)
        if _p_unlike(table[..., COUNTED:], means=False)[0] < _HARDLY_CHANCE / len(features):
            facts = {"rows": int(lacks), "total": int(rows_of.sum()), "ruled": False}
            yield Diagnostic.warning(
                DiagnosticCode.MISSING_GROUPS, feature.name, **facts, **spec.unit
            )
    for (what, of), (i, feature) in product(searched.lacking.items(), enumerate(features)):
        missing, rows = of[i][:-1], searched.rows_of[i][:-1]
        held = np.flatnonzero(rows >= FEWEST_ROWS)
        if len(held) < _TWO:
            continue
        p = float(homogeneity(missing[held], rows[held])[1])
        apart = np.ptp(missing[held] / rows[held]) >= MANY_MISSING
        if apart and p < _HARDLY_CHANCE / len(features):
            yield _unequal_shares(
                what, feature.name, [feature.values[i] for i in held.tolist()],
                missing[held], rows[held], spec,
                rows=int(missing.sum()), total=int(rows.sum()), p=p, ruled=False,
            )  # fmt: skip


def lacking(counted: GroupCounts, spec: Spec) -> dict[tuple[str, str], dict[str, int]]:
    """Return how many rows lack each outcome, by feature, of every group of which many do.

    A rule on what has no worst case then does not pass for such a group, or beside one.
    """
    every = np.arange(len(counted.groups))
    by_measure = (
        _missing_by_group(counted, spec, every, measure) for measure in _measures(counted)
    )
    found = {}
    for same in zip(*by_measure, strict=True):
        what, missing, open_, _ = same[0]
        many = np.any([lacks + held >= MANY_MISSING * n for _, lacks, held, n in same], axis=0)
        lacking_rows = {
            group: int(lacks)
            for group, lacks, of_many in zip(counted.groups, missing + open_, many, strict=True)
            if lacks and of_many
        }
        for need in (what,) if what == "label" else _OF_DECISIONS:
            found[counted.feature, need] = lacking_rows
    return found


def groupless(counted: GroupCounts, spec: Spec) -> dict[str, tuple[int, float, float]]:
    """Return how many rows have no group, as how many they weigh, and those of the smallest group.

    Where they are many beside a side, a rule on what has no worst case does not pass.
    """
    rows = round(ungrouped_rows(counted, "n"))
    weighing = max(rows, ungrouped_rows(counted, "w")) if counted.weighted else rows
    large = counted.cases[large_groups(counted, spec)]
    smallest = float(large.min()) if large.size else 0.0
    return {counted.feature: (rows, weighing, smallest)} if rows and not counted.protected else {}


def large_uncounted(cube: Cube, features: Sequence[GroupCounts], spec: Spec) -> dict[str, int]:
    """Return the rows without a count, a weight, or what a condition is on, if they are many.

    Many beside some group: their groups and outcomes are not known, and no rule passes without
    them.
    """
    without = cube.excluded.get(Uncounted.NO_COUNT, 0)  # nobody knows for how many cases each is
    many = {"count": without} if without > _negligible_rows(cube, features, spec, "rows") else {}
    found = {"weight": cube.excluded.get(Uncounted.NO_WEIGHT, 0)}
    if any(_weighs_unevenly(counts) for counts in features):
        found["weight above 0"] = cases_of_no_weight(cube)
    found |= {f"value of {of}": cases for of, cases in cube.without_condition.items()}
    few = _negligible_rows(cube, features, spec, cube.plan.cases)
    return many | {what: n for what, n in found.items() if n > few}


def _negligible_rows(
    cube: Cube, features: Sequence[GroupCounts], spec: Spec, measure: str
) -> float:
    every = cube.read if measure == cube.plan.cases else cube.rows
    rows = (
        feature.counts[measure][: len(feature.groups), 0].sum(axis=(1, 2)) for feature in features
    )
    held = (n[large_groups(of, spec)] for n, of in zip(rows, features, strict=True))
    return float(MANY_MISSING * np.concatenate([*held, np.array([every], dtype=float)]).min())


def _weighs_unevenly(counted: GroupCounts) -> bool:
    # a group whose rows all weigh 0 is warned of apart
    every = "cases" if "cases" in counted.counts else "rows"
    rows, n = (
        counted.counts[name][: len(counted.groups), 0].sum(axis=(1, 2)) for name in (every, "n")
    )
    held = (rows >= FEWEST_ROWS) & (n > 0)
    if not counted.weighted or held.sum() < _TWO or not (n < rows)[held].any():
        return False
    shares = quotient(rows - n, rows)[held]
    apart = np.ptp(shares) >= MANY_MISSING
    return bool(apart and homogeneity((rows - n)[held], rows[held])[1] < _HARDLY_CHANCE)


def uncounted_rows(cube: Cube, features: Sequence[GroupCounts], spec: Spec) -> Iterator[Diagnostic]:
    """Warn of many rows that are in no number at all, as nobody knows what they count for."""
    read = (cube.rows if spec.of_people else cube.read) + sum(cube.without_condition.values())
    for what, rows in large_uncounted(cube, features, spec).items():
        of_rows = what == "count" or (what == "weight" and not spec.count)
        yield Diagnostic.warning(
            DiagnosticCode.UNCOUNTED_ROWS,
            what=what,
            rows=rows,
            total=cube.rows if of_rows else read,
            ruled=bool(spec.rules),
            **({"column": spec.weight} if what == "weight above 0" else {}),
            **({} if of_rows or spec.of_people else spec.unit),
        )


def _missing_by_group(
    counted: GroupCounts, spec: Spec, which: Index, measure: Measure = "n"
) -> Iterator[tuple[str, Array, Array, Array]]:
    if spec.profile.as_smclarify:
        return
    cells = counted.counts[measure][: len(counted.groups), 0]
    open_ = counted.counts.get("open", np.zeros_like(cells)[:, None])[: len(counted.groups), 0]
    score = "score" if spec.prediction is None else "prediction"
    for what, axis in (("label", 1), (score, 2)):
        if cells.shape[axis] > 1 and len(which):  # else there is no such column
            missing = np.take(cells, -1, axis=axis).sum(axis=1)[which]
            held = np.delete(open_, -1, axis=axis).sum(axis=(1, 2))[which]
            yield what, missing, held, cells.sum(axis=(1, 2))[which]


def missing_groups(counted: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Note which share of the cases is in no group because a feature is missing.

    Cases without any outcome, which are in no rate, do not count. Where some rows weigh nothing, it
    states both numbers; where there are rules, what such rows mean for them.
    """
    stated = "n" if spec.count else "rows"
    rows, cases = (round(ungrouped_rows(counted, name)) for name in (stated, "n"))
    if not rows:
        return
    total = round(counted.every(stated))
    every = round(counted.every("n"))
    known = known_outcome(counted, spec)
    crossed = counted.feature_id.columns
    made = Diagnostic.note if cases / every < MANY_MISSING else Diagnostic.warning
    of_cases = {"cases": cases, "total_cases": every} if every != total else {}
    rounded = {"rounded": True} if counted.protected else {}
    if counted.largest_base:
        rounded["sites"] = True
    yield made(
        DiagnosticCode.MISSING_GROUPS,
        counted.feature,
        rows=rows,
        total=total,
        ruled=any(rule.decide is not Decide.POINT for rule in spec.rules),
        **({"by_value": True} if any(r.decide is Decide.POINT for r in spec.rules) else {}),
        **(
            {"significant": True} if any(r.decide is Decide.SIGNIFICANT for r in spec.rules) else {}
        ),
        **spec.unit,
        **({"known": known} if known else {}),
        **({"columns": crossed} if len(crossed) > 1 else {}),
        **of_cases,
        **rounded,
    )


def most_unknown(
    counted: GroupCounts, outcome: OutcomeMasks, profile: Profile, which: Index, measure: Measure
) -> ConfusionCounts:
    """Return the most rows without a group that may be of some sides."""
    fits = 1.0 * np.logical_or(*sides_of_unknown(counted)).T[which]

    def of_sides(unknown: Mapping[str, Array]) -> dict[str, Array]:
        return {name: np.tensordot(fits, sums, 1) for name, sums in unknown.items()}

    scores = counted.histogram and replace(
        counted.histogram, counts=of_sides(counted.histogram.unknown)
    )
    each = replace(
        counted, groups=("",) * (len(which) - 1), counts=of_sides(counted.unknown),
        histogram=scores,
    )  # fmt: skip
    places = np.arange(len(which))
    return CountsBySide(each, outcome, profile, (), measure).pick(places, np.zeros_like(places))


def sides_and_unknown(
    counted: GroupCounts, outcome: OutcomeMasks, profile: Profile, measure: Measure
) -> tuple[CountsBySide, CountsBySide]:
    """Return the sides of comparisons, and the kinds of rows without a group as the groups."""
    kinds = ("",) * (len(counted.crossing.unknown) - 1)  # the last is in no group
    without = replace(counted, groups=kinds, counts=counted.unknown, histogram=None)
    known, unknown = (
        CountsBySide(each, outcome, profile, (), measure) for each in (counted, without)
    )
    return known, unknown


class RowsWithoutStratum:
    """The rows of one feature that have no stratum, beside those that have one.

    ``rows, total``: how many there are, and how many rows with them, without weights.
    """

    def __init__(
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
    ) -> None:
        cases = counted.counts["n"]
        self.total = int(cases[:, 0].sum())
        self.rows = self.total - int(cases[:, 1:].sum())
        if not self.rows:
            return
        every = {name: sums[:, :1] for name, sums in counted.counts.items()}
        kept = {
            name: sums[:, 1:].sum(axis=1, keepdims=True) for name, sums in counted.counts.items()
        }
        left = {name: sums - kept[name] for name, sums in every.items()}
        plain = replace(counted, strata=(), histogram=None, clusters=None)

        def sides(counts: dict[str, Array], measure: Measure) -> CountsBySide:
            of = replace(plain, counts=counts)
            return CountsBySide(of, outcome, spec.profile, per_class, measure)

        weights: Measure = "w" if counted.unequally_weighted else "n"
        accepted = {each.partition(":")[0] for each in spec.accept}
        self._are_meant = str(DiagnosticCode.MISSING_STRATA) in accepted
        self._profile = spec.profile
        self._every, self._kept = (sides(counts, weights) for counts in (every, kept))
        self._cases = sides(left, "n"), sides(kept, "n")
        self._alike = 1.0
        if counted.clusters is not None:
            rows = np.bincount(counted.clusters.cluster, counted.clusters.counts["n"])
            self._alike = largest_design_effect(rows.astype(np.float64))

    def change(self, of: Statistic, groups: Index, references: Index) -> Mask:
        """Return for which comparisons leaving them out changes a side by itself."""
        # It does where their rates differ statistically significantly from those of the other rows,
        # and the rate of a side moves by more than a tenth of the difference between both sides.
        # That both sides may move alike, so that their difference stays, shows nothing of what it
        # is within strata that nobody knows.
        changed = np.zeros(len(groups), dtype=np.bool_)
        if not self.rows or self._are_meant:
            return changed
        margin = np.zeros_like(groups)
        every, kept = (
            [of.value(sides.pick(which, margin), self._profile) for which in (groups, references)]
            for sides in (self._every, self._kept)
        )
        for side, which in enumerate((groups, references)):
            tables = _unlike_tables(of, *(cases.pick(which, margin) for cases in self._cases))
            with np.errstate(invalid="ignore"):
                moved = np.abs(kept[side] - every[side]) > LITTLE * np.abs(every[0] - every[1])
                # by the design effect of clusters, rows count less
                p = [_p_unlike(each / self._alike, means=means) for each, means in tables]
                changed |= moved & (np.array(p) < _HARDLY_CHANCE).any(axis=0)
        return changed


def _unlike_tables(
    of: Statistic, left: ConfusionCounts, kept: ConfusionCounts
) -> Iterator[tuple[Array, bool]]:
    # of means it is the rows, their sum and that of their squares, and whether it is so
    if "yy" in left.moments or "pp" in left.moments:
        for need in (each for each in of.needs if each in _SUM_OF):
            column = _SUM_OF[need]
            sums = [[side.moments_of(frozenset({need}))[name] for name in ("n", column, 2 * column)]
                    for side in (left, kept)]  # fmt: skip
            yield np.moveaxis(np.array(sums), (0, 1), (-2, -1)), True
        return
    counts = [side.counts(of.needs) for side in (left, kept)]
    if isinstance(of, Rate):
        counts = [
            np.stack([of.of.count(count), of.among.count(count) - of.of.count(count)], axis=-1)
            for count in counts
        ]
    yield np.stack(counts, axis=-2), False


_SUM_OF: dict[Need, str] = {"label": "y", "prediction": "p"}


def _p_unlike(tables: Array, *, means: bool) -> Array:
    if not means:
        return homogeneity_table(tables)[1]
    rows, sums, squares = np.moveaxis(tables, -1, 0)
    n, average = rows.sum(axis=-1), quotient(sums, rows)
    variance = quotient(squares.sum(axis=-1), n) - quotient(sums.sum(axis=-1), n) ** 2
    with np.errstate(all="ignore"):  # no rows on one side
        error = np.sqrt(variance * quotient(1.0, rows).sum(axis=-1))
        return two_sided((average[..., 0] - average[..., 1]) / error)
