"""What the document of a decomposition has besides its fields: parts, strata, and their charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fairgauge.enums import GapPartKind, GapVerdict, Level, ReferenceKind, StratumWeights, Uncounted
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.report_notes import repeat_blocks
from fairgauge.render.grammar import describe_diagnostic, in_words, spoken
from fairgauge.render.page import first_page, rows_read, said
from fairgauge.render.streams import flat
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised, group_called
from fairgauge.render.words.question_sentences import excluded_why
from fairgauge.render.words.verdict_sentences import reference_name, versus
from fairgauge.resolve.resolution import missing_in_condition, unit_excluded
from fairgauge.results.codec import saved_fields
from fairgauge.results.gap_decomposition import Decomposition, Gap, GapPart
from fairgauge.statements.compared import unit_of
from fairgauge.statements.why import described, gap_statements

Row = dict[str, object]


class _Gap:
    """A gap with its regression, and what its tables and charts hold."""

    def __init__(self, found: Decomposition, at: int, gap: Gap) -> None:
        self.found, self.at, self.of = found, at, found.with_regression(gap)
        of, self.metric = gap.estimate, gap.estimate.definition
        self.ratio = gap.scale == "ratio"
        differences = {each.test for each in found.gaps if each.scale == "difference"}
        self.beside = self.ratio and gap.test in differences
        """Whether strata are those of the difference of the same rate."""
        self.columns = numbers.listing([*map(called, gap.columns)])
        self.group = called(of.group)
        self.reference = called(reference_name(of.reference))
        row, words = metrics.compared_rate(self.metric), metrics.metric_words(self.metric)
        self.title = f"{group_called(of.group, of.feature)}{versus(of.reference)}: {words}"
        several = len({each.estimate.metric for each in found.gaps}) > 1
        self.short = f"{self.group}, {words}" if several else self.group
        of_share = row is None or row.is_share
        self.unit = tree.Unit.POINTS if of_share else tree.Unit.NUMBER
        self.unit_of_rates = tree.Unit.PERCENT if of_share else tree.Unit.NUMBER

    def said(self, place: str, code: str = "") -> list[str]:
        """Return what is stated of it at a place of a page, or under one code alone."""
        stated = gap_statements(self.found, self.at, self.of)
        return said(self.found, (s for s in stated if code in ("", s.code)), place)

    @property
    def parts(self) -> list[GapPart]:
        one_sided = min(self.of.support.share_group, self.of.support.share_reference) < 1
        left_out = None if one_sided else GapPartKind.NOT_COMPARABLE
        valued = (each for each in self.of.parts if each.value is not None)
        average = (each for each in valued if each.weights is StratumWeights.AVERAGE)
        return [each for each in average if each.part is not left_out]

    def sizes(self) -> list[tuple[str, float | None, Any, bool]]:
        g = spoken()

        def named(part: str, columns: Sequence[str]) -> str:
            return g.say("gap_part", part, columns=columns) or ""

        columns = self.of.columns
        own = [(named(str(e.part), columns), e.value, e.interval, False) for e in self.parts]
        own.append((named("gap", ()), self.of.estimate.value, self.of.estimate.interval, True))
        weights, name = StratumWeights.MANTEL_HAENSZEL, named("as_audit", columns)
        by_audit = (e for e in self.of.parts if e.weights is weights and e.value is not None)
        own += [(name, each.value, each.interval, True) for each in by_audit]
        if (by := self.of.adjusted) is not None:
            own.append((named("regression", self.of.adjusted_for), *by.at(self.of.scale), True))
        return own

    def all_parts(self) -> Iterator[Row]:
        for name, value, ends, total in self.sizes():
            row = {"part": name, "value": metrics.metric_value(self.metric, value)}
            yield row | {"interval": metrics.metric_ci(self.metric, ends), "total": total}

    def strata_rows(self) -> Iterator[Row]:
        """Yield the strata; of a ratio beside the difference of its rate none."""
        for each in () if self.beside else self.of.strata:
            low, high = each.interval or (None, None)
            yield {
                "stratum": ", ".join(map(called, each.stratum.values())),
                "n_group": each.n_group,
                "n_reference": each.n_reference,
                "rate_group": metrics.shown(each.rate_group, self.unit_of_rates),
                "rate_reference": metrics.shown(each.rate_reference, self.unit_of_rates),
                "difference": self._signed(each.difference) + "*" * each.outlying,
                "interval": metrics.shown_range(low, high, self.unit, sign=True),
                "composition": "" if self.ratio else self._signed(each.composition),
                "within": "" if self.ratio else self._signed(each.within),
            }

    def _signed(self, value: float | None) -> str:
        return metrics.with_unit(value, self.unit, sign=True)

    def chart(self) -> tree.Chart:
        rows = []
        for name, value, ends, strong in self.sizes():
            texts = metrics.metric_value(self.metric, value), metrics.metric_ci(self.metric, ends)
            mark = tree.Mark(value, *(ends or ()))
            rows.append(tree.ChartRow(name, mark, *texts, emphasis=strong))
        neutral = None if math.isnan(self.metric.neutral) else self.metric.neutral
        title = spoken().say("gap_part", "caption") or ""
        return tree.Chart(title, tuple(rows), metrics.unit(self.metric), neutral)


def _gaps(found: Decomposition) -> list[_Gap]:
    return [_Gap(found, at, gap) for at, gap in described(found)]


def _facts(found: Decomposition) -> Row:
    kinds = {gap.estimate.reference.kind for gap in found.gaps if gap.estimate.reference}
    return {
        "columns": numbers.listing([*map(called, found.gaps[0].columns)]),
        "several": len(found.gaps) > 1,
        "best": ReferenceKind.BEST in kinds,
        "verdict": in_words(str(found.verdict)).upper(),
        # no rule is set: a gap that remains violates none, and one accounted for is no good news
        "tone": "unsure" if found.verdict is GapVerdict.INCONCLUSIVE else "plain",
    }


def _excluded_texts(found: Decomposition) -> Iterator[tuple[str, str]]:
    # First are those that are counted nowhere, with and without a stratum: rows, where nobody knows
    # for how many cases they stand. The reasons after a missing stratum are of rows that have one.
    # what rows are called: of a count column cases, or as the user names them
    spec = read_spec(found.spec)
    counted = unit_of(spec)
    unit_ = called(spec.words.unit or (counted == "cases" and spec.words.noun) or counted)
    g, of_conditions = spoken(), "rows" if spec.person else unit_
    units = {str(reason): unit_excluded(reason, unit_) for reason in Uncounted}
    units |= {missing_in_condition(each.column): of_conditions for each in spec.where}
    first = sorted(found.excluded, key=lambda each: (each not in units, each != "missing stratum"))
    for reason in first:
        yield excluded_why(reason), g.numbered(found.excluded[reason], units.get(reason, unit_))


def _rows(found: Decomposition, records: Callable[[Gap], Sequence[object]]) -> Iterator[Row]:
    # every record of every gap, with whose it is; a stratum by its columns
    for gap in found.gaps:
        estimate = gap.estimate
        own: Row = {name: getattr(estimate, name) for name in ("metric", "feature", "group")}
        own |= {"verdict": str(gap.verdict)}
        own |= {"reference": None if estimate.reference is None else str(estimate.reference)}
        for each in records(gap):
            fields = {name.name: getattr(each, name.name) for name in saved_fields(type(each))}
            for name in [name for name in fields if name.endswith("interval")]:
                ends = fields.pop(name) or (None, None)
                stem = name.removesuffix("interval")
                fields |= dict(zip((f"{stem}low", f"{stem}high"), ends, strict=True))
            yield {**(fields.pop("stratum", None) or {}), **own, **flat(fields)}


STREAMS: Mapping[str, Callable[..., object]] = {
    "facts": _facts,
    "frame": lambda found, **_: {
        "beside": rows_read(first_page(found)),
        "subject": "; ".join(
            gap.estimate.says for gap in found.gaps if found.verdict_of(gap) is found.verdict
        ),
        "exhibits": (_gaps(found)[0].chart(),),
    },
    "every": _gaps,
    "first": lambda found: _gaps(found)[:1],
    "stated": lambda gap: gap.said("found"),
    "stated_below": lambda gap: [*gap.said("certain"), *gap.said("note")],
    "no_regression": lambda gap: gap.said("found", "no_regression"),
    "noted": lambda found: [
        f"{capitalised(describe_diagnostic(each))}."
        for each in found.diagnostics
        if each.level is Level.NOTE
    ],
    "excluded": lambda found: [tree.Facts(tuple(_excluded_texts(found)))] if found.excluded else [],
    "provenance": lambda found: repeat_blocks(found, found.fingerprint, "why"),
    "columns": lambda found: found.gaps[0].columns,
    "parts": lambda found: _rows(found, lambda gap: gap.parts),
    "strata": lambda found: _rows(found, lambda gap: gap.strata),
    "adjusted": lambda found: _rows(found, lambda gap: [gap.adjusted] if gap.adjusted else []),
}
