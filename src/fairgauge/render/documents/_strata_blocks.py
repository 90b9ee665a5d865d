"""Strata: a feature adjusted for them, and the comparisons within each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import AfterAdjusting
from fairgauge.render._document_tree import (
    Block,
    Cell,
    Chart,
    Column,
    Heading,
    Paragraph,
    Section,
    Table,
    Unit,
)
from fairgauge.render.documents._metric_blocks import (
    adjusted_table,
    chart_row,
    metric_sentence,
    size_of,
)
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised, group_called
from fairgauge.render.words.finding_sentences import (
    adjusted_sentence,
    group_words,
    uncertainty,
)
from fairgauge.render.words.glossary import metric_link
from fairgauge.render.words.metric_words import (
    compared_rate,
    holds_with_others,
    metric_words,
    neutral,
    rate_heading,
    rate_value,
    unit,
)
from fairgauge.results.disparities import after_adjusting, singled_out
from fairgauge.results.sections import (
    adjustments,
    conditional,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.estimates import Estimate
    from fairgauge.results.sections import FeatureResults

_MOST_RATES = 8
_MOST_METRICS = 40
_MOST_STRATA = 30
_MOST_ADJUSTED_SENTENCES = 2
_INTERVALS_OF_STRATA = (
    "The confidence intervals of all rows and of the adjusted comparison are simultaneous over all "
    "groups; that of a single stratum is for a single comparison."
)


def strata_blocks(section: FeatureResults, i: int, column: str, elsewhere: str) -> Iterator[Block]:
    """Yield what adjusting a feature for the strata changes, and each stratum.

    ``elsewhere`` is where the strata are for which charts have no room.
    """
    if not section.strata and not section.adjusted:
        return
    yield Heading(f"Adjusted for {column} ({len(section.strata):,} strata)")
    single: list[Block] = []
    pairs = [p for p in adjustments(section) if unit(p[0].definition) is not Unit.RATIO]
    chosen: dict[str, tuple[Estimate, Estimate]] = {}
    for overall, _ in pairs:
        compared = compared_rate(overall.definition)
        if compared and compared.name not in chosen:
            ours = [p for p in pairs if compared_rate(p[0].definition) == compared]
            chosen[compared.name] = max(ours, key=lambda p: size_of(p[0]))
    if len(chosen) > _MOST_ADJUSTED_SENTENCES:
        yield adjusted_table(section, chosen, column)
    for rate, (overall, adjusted) in chosen.items():
        change = after_adjusting(overall, adjusted)
        if change not in (None, AfterAdjusting.REMAINS) or len(chosen) <= _MOST_ADJUSTED_SENTENCES:
            subject = group_words(overall, one_of_thresholds=section.several_thresholds)
            words = f"{subject}, {section.rate_row(rate).title}: "
            sentence = adjusted_sentence(overall, adjusted, column)
            yield Paragraph(f"{words}{uncertainty(singled_out(overall))} overall. {sentence}")
        inside = _in_strata(section, rate, (overall, adjusted), column, elsewhere)
        if change is AfterAdjusting.REVERSES or len(chosen) == 1:
            yield from inside
        else:
            single += inside
    others = conditional(section)
    by_metric: dict[str, list[str]] = {}
    for each in others[:_MOST_METRICS]:
        by_metric.setdefault(each.metric, []).append(metric_sentence(each))
    for metric, sentences in by_metric.items():
        words = capitalised(metric_words(section.metric_row(metric)))
        yield Paragraph(f"{words}. {' '.join(sentences)}")
    if single:
        yield Section(f"strata-{i}", f"By {column}, rate by rate", tuple(single), folded=True)


def _in_strata(
    section: FeatureResults,
    rate: str,
    pair: tuple[Estimate, Estimate],
    column: str,
    elsewhere: str,
) -> Iterator[Block]:
    overall, adjusted = pair
    inside = [e for e in section.inside
              if (e.metric, e.group) == (overall.metric, overall.group)]  # fmt: skip
    names = section.strata[:_MOST_STRATA]
    shown_inside = [each for each in inside if str(each.stratum) in names]
    rows = [
        chart_row(singled_out(overall), "all rows", emphasis=True),
        *(
            chart_row(each, group_called(each.stratum, column, apart=False))
            for each in shown_inside
        ),
        chart_row(singled_out(adjusted), f"adjusted for {column}", emphasis=True),
    ]
    more = len(section.strata) - len(names)
    words = capitalised(metric_words(overall.definition))
    yield Chart(
        f"{words} of {_group(section, overall.group)} by {column}",
        tuple(rows),
        unit(overall.definition),
        neutral(overall.definition),
        link=metric_link(overall.definition),
        notes=(
            *([f"{more:,} more strata {elsewhere}."] if more > 0 else []),
            *(
                [_INTERVALS_OF_STRATA]
                if any(map(holds_with_others, map(singled_out, (overall, adjusted))))
                else []
            ),
            "p-values of single strata are not adjusted for multiple comparisons.",
        ),
    )
    row = section.rate_row(rate)
    by_key = {(g.stratum, g.group): g for g in section.groups_inside}
    groups = [group.group for group in section.groups[:_MOST_RATES]]
    columns = [Column(column, numeric=False)]
    for group in groups:
        columns += [
            Column(f"{_group(section, group)}, n"), Column(rate_heading(row)),
        ]  # fmt: skip
    table_rows = []
    for name in names:
        cells = [Cell(called(name), name=True)]
        for group in groups:
            found = by_key.get((name, group))
            cells += [
                Cell(numbers.count(found.n) if found else "0"),
                Cell(rate_value(row, found.rates.get(rate)) if found else "-"),
            ]
        table_rows.append(tuple(cells))
    yield Table(f"{capitalised(row.title)} by {column}", tuple(columns), tuple(table_rows))


def _group(section: FeatureResults, group: str | None) -> str:
    """Return a group, with its feature where its name alone is not clear."""
    return group_called(group, section.feature, apart=False)
