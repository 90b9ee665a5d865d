"""One feature seen row by row: neighbours, distances and rankings of its groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import amount, divide
from fairgauge.enums import Level, Profile, Reference
from fairgauge.inference.draws import generator
from fairgauge.inference.row_intervals import (
    at_top,
    consistent,
    distant,
    even_tops,
    exposed,
    flipped,
    of_rows,
    skewed,
)
from fairgauge.report.estimates import Diagnostic, Estimate, called
from fairgauge.resolve.group_counts import EVERYONE
from fairgauge.rowwise.row_estimates import Answer, Pair, estimated
from fairgauge.stats.cumulative import Cells
from fairgauge.stats.neighbours import Neighbours, disagreement
from fairgauge.stats.rankings import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.row_metrics import RowMetric
    from fairgauge.rowwise.row_arrays import Rows
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.cumulative import Cumulative

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

NEIGHBOURS = 5
FEWEST_REFERENCE_ROWS = 10
MOST_QUERIES = 20_000
"""Neighbours of more rows than this are looked up for a seeded sample of so many."""


class RowView:
    """One feature: which group every row is of (-1: known, of none; -2: left out)."""

    def __init__(
        self,
        feature: str,
        groups: Sequence[str],
        codes: NDArray[np.int64],
        rows: Rows,
        spec: Spec,
    ) -> None:
        self._feature = feature
        self._groups = groups
        self._codes = codes
        self._rows = rows
        self._spec = spec

    def estimates(self, metric: RowMetric) -> Iterator[Estimate]:
        """Return one estimate for every group, or one for the feature."""
        if metric.facts.of == "feature":
            answer = self._ndkl(metric)
            yield estimated(metric, self._feature, EVERYONE, None, answer, self._spec)
        else:
            for i, group in enumerate(self._groups):
                reference, name = self._reference(i)
                if name != group:
                    sides = Pair(self._codes == i, reference, group, called(name))
                    answer = self._answer(metric, sides)
                    yield estimated(metric, self._feature, group, name, answer, self._spec)

    def notes(self, metric: RowMetric) -> Iterator[Diagnostic]:
        """Say where neighbours are looked up for a sample alone."""
        largest = int(np.bincount(self._codes[self._codes >= 0], minlength=1).max())
        if metric.kind == "flip" and largest > MOST_QUERIES:
            message = (
                f"{metric.name} looks up the neighbours of a random sample of {MOST_QUERIES:,} "
                f"rows of larger groups (seed {self._spec.seed})"
            )
            yield Diagnostic(Level.NOTE, "sample", message, self._feature)

    def _reference(self, group: int) -> tuple[Mask, str]:
        known, rule = self._codes >= -1, self._spec.reference
        if isinstance(rule, tuple):
            named = " & ".join(str(dict(rule).get(c)) for c in self._feature.split("*"))
            if named in self._groups:
                return self._codes == self._groups.index(named), named
            rule = Reference.OTHERS
        if rule is Reference.OVERALL:
            return known, str(rule)
        if rule in (Reference.LARGEST, Reference.BEST):
            sizes = np.bincount(self._codes[self._codes >= 0], minlength=len(self._groups))
            largest = int(sizes.argmax())
            return self._codes == largest, self._groups[largest]
        return known & (self._codes != group), str(Reference.OTHERS)

    def _answer(self, metric: RowMetric, sides: Pair) -> Answer:
        if metric.kind == "flip":
            return self._flip(sides)
        if metric.kind in ("top", "skew", "exposure"):
            return self._ranked(metric, sides)
        values = self._rows.prediction
        if metric.kind.startswith("residual"):
            values = values - self._rows.label
        return self._distance(metric, sides.where(~np.isnan(values)), values)

    def _distance(self, metric: RowMetric, sides: Pair, values: Array) -> Answer:
        n, m = sides.sizes
        if not n or not m:
            return Answer(math.nan, n, m, "")
        kind: Cumulative = "ks" if metric.kind.endswith("ks") else "wasserstein"
        value = Cells.of(values[sides.group], values[sides.reference]).distance(kind)
        what = "residuals" if metric.kind.startswith("residual") else "predictions"
        far = amount(value, 4)
        says = f"{sides.name}: {what} lie {far} from those of {sides.other} ({metric.title})"
        key = f"{self._feature}/{metric.name}"  # two groups of two draw, and so test, the same
        ours, theirs = values[sides.group], values[sides.rest]
        found = of_rows(
            lambda: distant(ours, theirs, sides.part, kind, self._spec, key), self._spec
        )
        return Answer(value, n, m, says, found)

    def _flip(self, sides: Pair) -> Answer:
        points, selected = self._rows.points, self._rows.selected
        sides = sides.where(~np.isnan(selected) & ~np.isnan(points).any(axis=1))
        ours, theirs = np.flatnonzero(sides.group), np.flatnonzero(sides.reference)
        if not len(ours) or not len(theirs):
            return Answer(math.nan, len(ours), len(theirs), "")
        k = NEIGHBOURS if len(theirs) >= FEWEST_REFERENCE_ROWS else 1
        if len(ours) > MOST_QUERIES:
            # drawn by the values of the rows, not by their places, so that row order is nothing
            order = np.lexsort((*points[ours].T, selected[ours]))
            rng = np.random.default_rng(self._spec.seed)
            ours = ours[order][rng.choice(len(ours), MOST_QUERIES, replace=False)]
        votes = Neighbours.of(points[theirs]).mean(selected[theirs], points[ours], k)
        better = int(((selected[ours] == 0) & (votes > 0.5)).sum())
        worse = int(((selected[ours] == 1) & (votes < 0.5)).sum())
        says = (
            f"{sides.name}: of {len(ours):,} rows, {better:,} are rejected where their neighbours "
            f"in the reference are accepted, {worse:,} the reverse"
        )
        # smclarify counts the other way round
        more, less = (worse, better) if self._spec.profile is Profile.CLARIFY else (better, worse)
        n, m, apart = len(ours), len(theirs), not sides.part
        found = of_rows(lambda: flipped(more, less, n, m, self._spec, apart=apart), self._spec)
        return Answer((more - less) / n, n, m, says, found)

    def _ranked(self, metric: RowMetric, sides: Pair) -> Answer:
        score, spec = self._rows.score, self._spec
        known = ~np.isnan(score) & (self._codes >= -1)
        sides = sides.where(known)
        (n, m), total = sides.sizes, int(known.sum())
        if not n or not m:
            return Answer(math.nan, n, m, "")
        ranking = Ranking.of(score[known])
        held = np.full(len(score), np.nan)
        if metric.kind == "exposure":
            held[known] = ranking.exposure()
            value = (sides.sum(held) / n) / (math.fsum(held[sides.reference]) / m)
            ours, theirs = held[sides.group], held[sides.rest]
            found = of_rows(lambda: exposed(ours, theirs, sides.part, spec), spec)
            says = f"{sides.name}: {value:.3g} times the mean exposure of {sides.other}"
            return Answer(value, n, m, says, found)
        top = metric.top or 0.0
        places = min(math.ceil(total * top / 100) if metric.percent else int(top), total)
        held[known] = ranking.within(places)
        mine = sides.sum(held)
        if metric.kind == "top":
            share, rest = mine / n, math.fsum(held[sides.reference]) / m
            value = float(divide(np.array(share), np.array(rest), Profile.DOCUMENTED))
            others, size = math.fsum(held[sides.rest]), int(sides.rest.sum())
            found = of_rows(lambda: at_top(mine, others, n, size, sides.part, spec), spec)
            says = f"{sides.name}: {share:.1%} of its rows in the top {places:,}, "
            says += f"{rest:.1%} of {sides.other}"
            return Answer(value, n, m, says, found, "no row of either side is among the top")
        with np.errstate(divide="ignore"):
            value = float(np.log(mine / places / (n / total)))
        found = of_rows(lambda: skewed(mine, places, n, total, spec), spec)
        says = f"{sides.name}: {mine / places:.1%} of the top {places:,}, {n / total:.1%} of all"
        return Answer(value, n, m, says, found)

    def _ndkl(self, metric: RowMetric) -> Answer:
        known = ~np.isnan(self._rows.score) & (self._codes >= 0)
        n, groups = int(known.sum()), len(self._groups)
        if not n:
            return Answer(math.nan, 0, None, "")
        codes, ranking = self._codes[known], Ranking.of(self._rows.score[known])
        value = ranking.divergence(codes, groups)
        key = f"{self._feature}/{metric.name}"
        found = of_rows(
            lambda: even_tops(value, ranking, codes, groups, self._spec, key), self._spec
        )
        says = f"groups in every top of the ranking: NDKL {value:.3g} (0 even)"
        return Answer(value, n, None, says, found)


def consistency(metric: RowMetric, rows: Rows, spec: Spec) -> Estimate:
    """Measure how alike the predictions of near rows are, whatever their groups."""
    usable = np.flatnonzero(~np.isnan(rows.selected) & ~np.isnan(rows.points).any(axis=1))
    n = len(usable)
    if not n:
        return estimated(metric, None, EVERYONE, None, Answer(math.nan, 0, None, ""), spec)
    rng = generator(spec, metric.name)
    away = disagreement(rows.points[usable], rows.selected[usable], NEIGHBOURS, rng)
    off = float(away[0])
    found = of_rows(lambda: consistent(away, n, spec), spec)
    says = f"predictions differ from those of their nearest rows by {off:.1%} on average"
    return estimated(metric, None, EVERYONE, None, Answer(1 - off, n, None, says, found), spec)
