"""Tables to publish of a preset that states gaps in per cent: over all strata, and by category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fairgauge.enums import ScopeKind, Status
from fairgauge.question.features import strata_named
from fairgauge.question.presets import Preset, preset, preset_names
from fairgauge.render._document_tree import Cell, Column, Table
from fairgauge.render.words.display_names import called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import compared_rate, rate_text
from fairgauge.render.words.numbers import count, minus, percent
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.sections import FeatureResults

_DIGITS = 12
"""Decimals at which a gap is compared with the limit: a ratio of .95 is a gap of 5 per cent."""


def overall_gaps(report: Report, sections: Sequence[FeatureResults]) -> Iterator[Table]:
    """Yield the gaps of each group in all metrics of a preset that states gaps by category."""
    if (found := _preset(report)) is None:
        return
    for section in sections:
        ours = [e for e in _of_groups(section) if e.metric in found.options["metrics"]]
        for gaps in _by_sides(ours, section, found):
            yield _overall(gaps)


def gaps_by_category(report: Report, sections: Sequence[FeatureResults]) -> Iterator[Table]:
    """Yield the gaps of each group in the first metric of such a preset, in every stratum."""
    column = strata_named(report.spec.get("strata"))
    if (found := _preset(report)) is None or column is None:
        return
    for section in sections:
        inside = [e for e in section.inside if e.metric == found.options["metrics"][0]]
        for gaps in _by_sides(inside, section, found):
            yield _by_category(gaps, called(column))


def _by_sides(
    estimates: Sequence[Estimate], section: FeatureResults, found: Preset
) -> Iterator[list[_PublishedGap]]:
    """Yield the gaps of each group; of two that are each other's reference, those of one."""
    first = found.options["metrics"][0]
    groups = {each.group for each in _of_groups(section) if each.metric == first}
    ours = sorted((each for each in estimates if each.group in groups), key=_sides)
    for _, compared in groupby(ours, _sides):
        yield [_PublishedGap(each, found) for each in compared]


def _of_groups(section: FeatureResults) -> list[Estimate]:
    """Return the comparisons over all strata, also those without a value."""
    missing = [each for each in section.missing if each.scope.kind is ScopeKind.OVERALL]
    return [*section.estimates, *missing]


def _preset(report: Report) -> Preset | None:
    """Return the preset of a report if it states from which gap on a category counts."""
    name = report.spec.get("preset")
    found = preset(name) if name in preset_names() else None
    return found if found is not None and found.category_limit is not None else None


def _sides(each: Estimate) -> tuple[str, str]:
    return str(each.group), reference_name(each.reference)


@dataclass(frozen=True)
class _PublishedGap:
    """By how much a group is below the reference, as a share of what the reference has."""

    of: Estimate
    preset: Preset

    @property
    def value(self) -> float | None:
        return None if self.of.value is None else round(1 - self.of.value, _DIGITS)

    @property
    def noun(self) -> str:
        name = self.of.metric.removesuffix(".ratio")
        return self.preset.terms.get(name, name)

    @property
    def sizes(self) -> tuple[Cell, Cell]:
        return Cell(count(self.of.n_group)), Cell(count(self.of.n_reference))

    @property
    def rates(self) -> tuple[Cell, ...]:
        rate = compared_rate(self.of.definition)
        values = (self.of.rate_group, self.of.rate_reference)
        return tuple(Cell("-" if v is None or not rate else rate_text(rate, v)) for v in values)

    @property
    def cell(self) -> Cell:
        """Return the gap with its interval, or why the data are insufficient."""
        of = self.of
        below = describe_reason(of.reason) if of.status is not Status.OK and of.reason else ""
        if not below and of.interval is not None:
            low, high = of.interval
            below = f"{_percent(1 - high)} to {_percent(1 - low)}"
        return Cell(_percent(self.value), below=f"({below})" if below else "")


def _percent(value: float | None) -> str:
    return percent(value) if value is None else minus(percent(value))


def _overall(gaps: Sequence[_PublishedGap]) -> Table:
    group, reference = map(called, _sides(gaps[0].of))
    return Table(
        caption=f"Gap of {group}",
        columns=(Column("", numeric=False), *_columns(group, reference)),
        rows=tuple((Cell(each.noun, name=True), *each.sizes, each.cell) for each in gaps),
        titled=True,
        stacked=True,
        notes=(_note(group, reference, "comparison"),),
    )


def _by_category(gaps: Sequence[_PublishedGap], column: str) -> Table:
    limit = gaps[0].preset.category_limit or 0.0
    group, reference = map(called, _sides(gaps[0].of))
    least = f"{100 * limit:.4g}% or more"

    def reached(each: _PublishedGap) -> str:
        return "-" if each.value is None else "yes" if abs(each.value) >= limit else "no"

    return Table(
        caption=f"Gap of {group} in {gaps[0].noun}, by {column}",
        columns=(
            Column(column, numeric=False),
            *_columns(group, reference, Column(group), Column(reference)),
            Column(least),
        ),
        rows=tuple(
            (
                Cell(called(each.of.stratum), name=True),
                *each.sizes,
                *each.rates,
                each.cell,
                Cell(reached(each)),
            )
            for each in sorted(gaps, key=lambda each: -abs(each.value or 0.0))
        ),
        titled=True,
        stacked=True,
        notes=(
            _note(group, reference, column)
            + f" “{least}” is of the gap as counted, in either direction, whatever its interval.",
        ),
    )


def _columns(group: str, reference: str, *rates: Column) -> tuple[Column, ...]:
    sizes = (Column(f"{group}, n"), Column(f"{reference}, n"))
    return (*sizes, *rates, Column(f"gap, % of {reference}"))


def _note(group: str, reference: str, each: str) -> str:
    return (
        f"The gap is by how much {group} is below {reference}, in per cent of {reference}; below 0 "
        f"it is higher. In parentheses: confidence intervals, each for its {each} alone."
    )
