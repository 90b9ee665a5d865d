"""Counts as they could be: what is missing is filled in, against a difference.

It is the outcomes that one side lacks more often, or the group of rows without one.

Of rates an outcome that is missing has either value. Of means nobody knows how far missing numbers
go: they are taken to be the highest or the lowest of all, as far from the mean as the share of the
rows that they are can be (Cantelli's inequality).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.cells import LABEL, PREDICTION, Array
from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.plan import WEIGHTS, power_name
from fairgauge.inference.missing_values import lacks_more, share_of
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import ClusterCells, GroupCounts
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import side_of_others, sides_of_unknown
from fairgauge.stats.arrays import Index, Mask

_Cell: TypeAlias = tuple[int, int]
"""The codes of a label and a prediction, the last of each a missing one."""
_NEEDS = ("label", "prediction")
_KINDS = [(True, False), (False, False), (True, True)]
"""What a row is to a share, from what lowers it to what raises it: counted among, and counted."""


def filled_both_ways(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic,
    sides: tuple[int, int],
    spec: Spec,
) -> list[GroupCounts] | None:
    """Return the counts in which a group has as little as it could, and as much, beside another.

    Filled in are the outcomes that one side lacks beyond the share that the other lacks. It is
    empty where neither lacks more, and None of a statistic of which no worst case is computed.

    Parameters
    ----------
    sides : numbers of a group and its reference; one that is none of the groups is all others.
    """
    shares, rate = lacks_more(counted, of.needs, *sides, spec), share_of(of)
    if not shares.any():
        return []
    if rate is None and not has_decomposition(of):
        return None
    rows, (group, reference) = np.arange(1 + len(counted.groups)), sides
    others = rows == reference if reference < len(counted.groups) else rows != group
    found = []
    for most in (False, True):
        counts = counted
        for at, share, up in ((rows == group, shares[0], most), (others, shares[1], not most)):
            if share:
                counts = _filled(counts, outcome, rate or of, at, float(share), most=up)
        found.append(counts)
    return found


def placed_both_ways(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic,
    sides: tuple[int, int],
    *,
    apart: bool,
) -> list[GroupCounts] | None:
    """Return the counts in which rows without a group are of a group, and of its reference.

    Of an intersection, it is those whose values allow it. With ``apart``, those of them that a
    share counts are on one side in every stratum, and the others among which it counts them on the
    other. It is None of a statistic of which no worst case is computed.

    Parameters
    ----------
    sides : numbers of a group and its reference; one that is none of the groups is all others.
    """
    rate = share_of(of)
    if rate is None and not has_decomposition(of):
        return None
    group, reference = sides
    places = np.array([group, min(reference, len(counted.groups))])
    shape = counted.counts["n"].shape[2:]
    may, are = sides_of_unknown(counted)
    beside = np.where(
        are[:, side_of_others(len(counted.groups)) + group] & (reference >= len(counted.groups)),
        len(counted.groups), -1,
    )  # fmt: skip
    found = []
    for most in (False, True):
        to = np.full(shape, -1)
        for cell in product(*map(range, shape)):
            if not any(_lacks(of, cell, shape)):
                among, counts = _counts(rate, outcome, cell) if rate else (True, True)
                first = most if counts or not apart else not most
                to[cell] = places[int(not first)] if among else -1
        to = np.where((to < 0) | may[:, to], to, beside[:, None, None])
        sums = {name: np.array(each, dtype=np.float64) for name, each in counted.counts.items()}
        for name, (kind, y, p) in product(sums, np.argwhere(to >= 0).tolist()):
            sums[name][to[kind, y, p], :, y, p] += counted.unknown[name][kind, :, y, p]
        clusters = counted.clusters
        if clusters is not None and counted.unknown_clusters is not None:
            clusters = _with_placed(clusters, counted.unknown_clusters, to)
        nobody = {name: np.zeros_like(each) for name, each in counted.unknown.items()}
        found.append(replace(counted, counts=sums, unknown=nobody, clusters=clusters))
    return found


def _with_placed(clusters: ClusterCells, unknown: ClusterCells, to: Index) -> ClusterCells:
    """Return the cells of clusters with those without a group that are placed."""
    group = to[unknown.group, unknown.label, unknown.prediction]
    at = group >= 0
    parts = clusters, replace(unknown, group=group)

    def together(name: str) -> Index:
        return np.concatenate([getattr(clusters, name), getattr(parts[1], name)[at]])

    return replace(
        clusters,
        **{name: together(name) for name in ("cluster", "group", "stratum", "label", "prediction")},
        counts={
            name: np.concatenate([sums, unknown.counts[name][at]])
            for name, sums in clusters.counts.items()
        },
        levels=tuple(
            np.concatenate([known, others[at]])
            for known, others in zip(clusters.levels, unknown.levels, strict=True)
        ),
    )


def _lacks(of: Statistic, cell: tuple[int, ...], shape: Sequence[int]) -> list[bool]:
    return [
        need in of.needs and at == size - 1
        for need, at, size in zip(_NEEDS, cell, shape, strict=True)
    ]


def _counts(rate: Rate, outcome: OutcomeMasks, cell: tuple[int, ...]) -> tuple[bool, bool]:
    masks = outcome.labels, outcome.predictions
    y, p = (int(not mask[at : at + 1].any()) for mask, at in zip(masks, cell, strict=True))
    one = {LABEL: 3 * y, PREDICTION: 3 * p}.get(rate.needs, 2 * p + y)
    return bool(rate.among[one]), bool(rate.of[one])


def _filled(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic,
    at: Mask,
    share: float,
    *,
    most: bool,
) -> GroupCounts:
    counts = {name: np.array(sums, dtype=np.float64) for name, sums in counted.counts.items()}
    labels, predictions = counts["n"].shape[2:]
    moves = dict(_moves(outcome, of, (labels, predictions), most=most))
    added = [] if isinstance(of, Rate) else _added(counts, of, at, list(moves), share, most=most)
    for name, sums in counts.items():
        own = [(value, counted.counts[measure]) for value, measure, to in added if to == name]
        for (y, p), (label, prediction) in moves.items():
            moved = share * sums[at, :, y, p]
            sums[at, :, y, p] -= moved
            for value, rows in own:
                moved += share * value * rows[at, :, y, p]
            sums[at, :, label, prediction] += moved
    missing = labels - 1, predictions - 1
    if "open" in counts and missing in moves:
        open_ = share * counted.counts["open"][at]
        counts["n"][at] -= open_
        counts["n"][at, :, moves[missing][0], moves[missing][1]] += open_.sum(axis=(2, 3))
    clusters = counted.clusters
    if clusters is not None:
        clusters = _of_clusters(clusters, moves, at, share, added)
    return replace(counted, counts=counts, clusters=clusters)


def _moves(
    outcome: OutcomeMasks, of: Statistic, shape: Sequence[int], *, most: bool
) -> Iterator[tuple[_Cell, _Cell]]:
    """Yield the cells of label and prediction that lack what a statistic needs, and their new ones.

    Of a share it is the cell that lowers it most, or raises it; an outcome that no row has is none.
    """
    masks = outcome.labels, outcome.predictions
    firsts = [[*np.flatnonzero(mask)[:1], *np.flatnonzero(~mask)[:1]] for mask in masks]

    def kind(cell: _Cell) -> int:
        assert isinstance(of, Rate)
        return _KINDS.index(_counts(of, outcome, cell)) * (-1 if most else 1)

    for cell in product(*map(range, shape)):
        lacks = _lacks(of, cell, shape)
        options = product(
            *(first if lack else [at] for first, lack, at in zip(firsts, lacks, cell, strict=True))
        )
        if any(lacks) and (possible := [(int(y), int(p)) for y, p in options]):
            to = min(possible, key=kind) if isinstance(of, Rate) else possible[0]
            yield (cell[0], cell[1]), to


def _added(
    counts: Mapping[str, Array],
    of: Statistic,
    at: Mask,
    cells: Sequence[_Cell],
    share: float,
    *,
    most: bool,
) -> list[tuple[float, str, str]]:
    """Return what a row that is filled in adds to sums of powers of its number, times its weight.

    Each is the value, the name of the sum of weights that it is times, and that of the sum.
    """
    column, weights = ("y" if of.needs == LABEL else "p"), WEIGHTS if "w" in counts else ("n",)
    known = [slice(-1 if need in of.needs else None) for need in _NEEDS]
    sums = [counts[name] for name in (weights[0], column, 2 * column)]
    ours, theirs = ([each[side, 0][:, *known].sum() for each in sums] for side in (at, ~at))
    variance = max(squares / n - (x / n) ** 2 for n, x, squares in (ours, theirs))
    rows = share * sum(float(sums[0][at, 0, y, p].sum()) for y, p in cells)
    part = rows / (rows + ours[0])
    reach = math.sqrt(max(variance, 0.0) / (part * (1 - part)))
    value = ours[1] / ours[0] + (reach if most else -reach)
    named = [
        (value**k, weight, power_name(name, power))
        for k, name in enumerate((column, 2 * column, f"{column}3", f"{column}4"), 1)
        for power, weight in enumerate(weights, 1)
    ]
    return [each for each in named if each[2] in counts]


def _of_clusters(
    cells: ClusterCells,
    moves: Mapping[_Cell, _Cell],
    at: Mask,
    share: float,
    added: Sequence[tuple[float, str, str]],
) -> ClusterCells:
    to = np.full((1 + cells.label.max(), 1 + cells.prediction.max(), 2), -1)
    for (y, p), target in moves.items():
        if y < len(to) and p < to.shape[1]:
            to[y, p] = target
    label, prediction = to[cells.label, cells.prediction].T
    lacks = at[cells.group] & (label >= 0)
    moved, kept = np.flatnonzero(lacks), np.flatnonzero(~lacks | (share < 1))
    which = np.concatenate([kept, moved])
    parts = np.concatenate([np.where(lacks[kept], 1 - share, 1.0), np.full(len(moved), share)])
    counts = {name: sums[which] * parts for name, sums in cells.counts.items()}
    for value, measure, name in added:
        counts[name][len(kept) :] += value * counts[measure][len(kept) :]
    return replace(
        cells,
        cluster=cells.cluster[which],
        group=cells.group[which],
        stratum=cells.stratum[which],
        label=np.concatenate([cells.label[kept], label[moved]]),
        prediction=np.concatenate([cells.prediction[kept], prediction[moved]]),
        counts=counts,
        levels=tuple(each[which] for each in cells.levels),
    )
