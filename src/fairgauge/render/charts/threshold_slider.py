"""The data of the threshold slider: counts over the grid, and rates as sums of cells.

The script in the page knows no formula: a rate is a mean of quotients of sums of cells
(`closed_forms.quotients`), written here from the catalogue's rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic
from fairgauge.cube.plan import GRID
from fairgauge.enums import ReferenceKind
from fairgauge.render._document_tree import Unit
from fairgauge.render.charts.score_sections import closed, rows_of, score_range, thresholds_of
from fairgauge.render.words.display_names import printable, shorten
from fairgauge.render.words.glossary import anchor
from fairgauge.render.words.metric_words import metric_words, signed, unit
from fairgauge.results.estimates import Estimate, ScoreCounts
from fairgauge.results.page_counts import counts_by_edge, page_table, rate_formula
from fairgauge.results.report import Report
from fairgauge.results.scopes import Reference

MOST_GROUPS = 8
_MOST_REFERENCES = 16
"""Groups that are the best one somewhere, and so have a column each."""
_MOST_FEATURES = 8
_NAME = 40
_MOST_TEXT = 120_000
_OPENS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def slider(report: Report) -> str | None:
    """Return the data as JSON that is safe inside a page; None where no slider can be exact.

    Of many features the first are kept, of many groups the largest; the others of a feature are
    added up, so that its rest and its whole are complete.
    """
    low, high = score_range(report)
    labelled = any(sum(each.positive) or sum(each.negative) for each in report.scores)
    rates = [
        row
        for row in report.catalogue.rates
        if _recomputed(row) and (labelled or "label" not in row.needs)
    ]
    metrics = [row for row in _contrasts(report) if row.of in rates]
    columns: list[dict[str, object]] = []
    tables: list[dict[str, object]] = []
    room = _MOST_TEXT
    for feature in dict.fromkeys(each.feature for each in report.scores):
        found = _feature(report, feature, metrics)
        if found is None or len(columns) == _MOST_FEATURES:
            continue
        column, scores = found
        table = _table(report, len(columns), scores)
        room -= len(_compact([column, table]))
        if room > 0:
            columns.append(column)
            tables.append(table)
    if not columns or not rates:
        return None
    return escaped(
        {
            "low": low,
            "high": high,
            "steps": GRID,
            "start": next(iter(thresholds_of(report)), (low + high) / 2),
            "turned": report.scores[0].turned is not None,
            "labelled": labelled,
            "clarify": report.profile.rules.zero_over_zero_is_zero,
            "rates": [{**rate_formula(row), "link": anchor("rate", row.name)} for row in rates],
            "metrics": [_metric(row, rates) for row in metrics],
            "columns": columns,
            "tables": tables,
        }
    )  # fmt: skip


def _recomputed(row: Statistic) -> bool:
    """Return whether a rate moves with the threshold, and is made of confusion cells alone."""
    return isinstance(row, (Rate, Quotient, Blend)) and "prediction" in row.needs


def _contrasts(report: Report) -> list[Contrast]:
    """Return the metrics of the report that compare one rate of two sides."""
    rows = {each.metric: each.definition for each in report.estimates}.values()
    return [row for row in rows if isinstance(row, Contrast)]


def _metric(row: Contrast, rates: Sequence[Statistic]) -> dict[str, object]:
    return {
        "name": row.name,
        "title": metric_words(row),
        "link": anchor("metric", row.name),
        "rate": rates.index(row.of),
        "by": row.by,
        "turned": row.order == "reference - group",
        "points": unit(row) is Unit.POINTS,
        "signed": signed(row),
    }


def _feature(
    report: Report, feature: str, metrics: Sequence[Contrast]
) -> tuple[dict[str, object], list[list[ScoreCounts]]] | None:
    """Return the groups of a feature and what each metric compares them with, and their scores."""
    every = [each for each in report.scores if each.feature == feature]
    try:
        runs = {row.name: _references(report, feature, row) for row in metrics}
    except LookupError:
        return None
    references = {reference for of_metric in runs.values() for _, reference in of_metric}
    named = {reference.group for reference in references if reference.group is not None}
    moving = any(reference.kind is ReferenceKind.BEST for reference in references)
    # a reference is never among those that are added up
    largest = sorted(every, key=lambda each: (each.group not in named, -rows_of(each)))
    kept = {(each.group, each.reference_kind) for each in largest[: max(MOST_GROUPS, len(named))]}
    shown = [each for each in every if (each.group, each.reference_kind) in kept]
    others = [each for each in every if (each.group, each.reference_kind) not in kept]
    places = {each.group: i for i, each in enumerate(shown) if each.reference_kind is None}
    # a report of version 1 may lack the scores of its reference
    if _some_unscored(report, every) or len(named) > _MOST_REFERENCES or named - places.keys():
        return None
    compared = set(places) if moving else {e.group for e in report.estimates if _own(e, feature)}
    names = [each.group for each in shown] + [f"{len(others)} other groups"] * bool(others)
    column: dict[str, object] = {
        "name": shorten(printable(feature), _NAME),
        "references": [
            [
                part
                for place, each in runs[row.name]
                for part in (place, str(each.kind) if each.group is None else places[each.group])
            ]
            for row in metrics
        ],
        "groups": [shorten(printable(name), _NAME) for name in names],
        "compared": [
            i
            for i, each in enumerate(shown)
            if each.reference_kind is None and each.group in compared
        ],
    }
    return column, [*([each] for each in shown), *([others] if others else [])]


def _references(report: Report, feature: str, row: Contrast) -> list[tuple[int, Reference]]:
    """Return what groups are compared with by a metric, each from a place of the grid on.

    The page picks from these, and chooses nothing: who is the reference is resolved where a report
    is made, and stated in its estimates, and by threshold where it moves with that.
    """
    low, high = score_range(report)
    for each in report.threshold_references:
        if (each.feature, each.rate) == (feature, row.of.name):
            places = [round((start - low) / (high - low) * GRID) for start in each.thresholds]
            best = (Reference(ReferenceKind.BEST, name) for name in each.references)
            return list(zip(places, best, strict=True))
    own = (e.reference for e in report.estimates if e.metric == row.name and _own(e, feature))
    reference = next(own, None)
    if reference is not None and reference.kind is ReferenceKind.BEST:
        raise LookupError(row.name)
    return [] if reference is None else [(0, reference)]


def _own(estimate: Estimate, feature: str) -> bool:
    compared = estimate.reference is not None and estimate.stratum is None
    return compared and estimate.feature == feature


def _some_unscored(report: Report, every: Sequence[ScoreCounts]) -> bool:
    """Return whether rows without a score are counted as predicted negative, as smclarify does."""
    if not report.profile.rules.missing_outcome_is_negative:
        return False
    sizes = {(g.feature, g.group): g.weight or g.n for g in report.groups if g.stratum is None}
    return any(abs(sizes[e.feature, e.group] - rows_of(e)) > 1e-6 * rows_of(e) for e in every)


def _table(
    report: Report, column: int, groups: Sequence[Sequence[ScoreCounts]]
) -> dict[str, object]:
    """Return the counts of groups, each of one or several that are added up."""
    labelled = report.profile.rules.missing_outcome_is_negative
    counts = [
        counts_by_edge(each, *score_range(report), closed(report), labelled=labelled)
        for each in groups
    ]
    return page_table(0, [column], range(len(groups)), counts)


def escaped(value: object) -> str:
    """Return a value as JSON that is safe inside a page."""
    return "".join(_OPENS.get(character, character) for character in _compact(value))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
