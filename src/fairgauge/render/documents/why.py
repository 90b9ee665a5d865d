"""What the document of a decomposition has besides its fields: parts, strata, and their charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.enums import GapPartKind, GapVerdict, Level, ReferenceKind, StratumWeights, Uncounted
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import repeat_blocks
from fairgauge.render.grammar import describe_diagnostic
from fairgauge.render.page import told
from fairgauge.render.streams import flat
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import all_called, called, capitalised, group_called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_ci,
    metric_value,
    metric_words,
    neutral,
    shown,
    shown_range,
    unit,
    value_text,
    with_unit,
)
from fairgauge.render.words.question_sentences import counts_people, excluded_why, how_many_used
from fairgauge.resolve.excluded_rows import missing_in_condition, unit_excluded
from fairgauge.results.definitions import saved_fields
from fairgauge.results.gap_decomposition import (
    UNADJUSTED,
    Decomposition,
    Gap,
    GapPart,
    StratumGap,
    furthest_from_others,
    test_of,
)
from fairgauge.statements.why import below_neutral, gap_statements

Row = dict[str, Any]
_MOST_ROWS, _MOST_NAMED, _MOST_OPEN, _MOST_DRAWN = 5, 4, 12, 8
_COLUMN_OF = {RegressionTerm.LABEL: "label", RegressionTerm.PREDICTION: "prediction"}
_TONES = {GapVerdict.REMAINS: tree.Tone.BAD, GapVerdict.INCONCLUSIVE: tree.Tone.UNSURE}
"""That a gap is accounted for is no good news by itself."""


class _Gap:
    """A gap with its regression, and what its tables and charts hold."""

    def __init__(self, found: Decomposition, at: int, gap: Gap) -> None:
        self.found, self.at, self.of = found, at, found.with_regression(gap)
        self.metric = gap.estimate.definition
        self.ratio = gap.scale == "ratio"
        differences = {test_of(each) for each in found.gaps if each.scale == "difference"}
        self.beside = self.ratio and test_of(gap) in differences
        """Whether strata are those of the difference of the same rate."""
        self.columns, self.adjusted_for = all_called(gap.columns), all_called(gap.adjusted_for)
        several = len(gap.columns) > 1
        self.strata_words = f"combinations of {self.columns}" if several else self.columns
        self.group = called(gap.estimate.group)
        self.reference = called(reference_name(gap.estimate.reference))
        self.unadjusted = gap.reason in UNADJUSTED
        self.one_sided = min(gap.support.share_group, gap.support.share_reference) < 1
        row, words = compared_rate(self.metric), metric_words(self.metric)
        if isinstance(row, Mean) and (column := found.spec.get(_COLUMN_OF.get(row.of, ""))):
            words = words.replace(row.title, f"mean {called(column)}", 1)
        self.title = f"{group_called(gap.estimate.group, gap.estimate.feature)}: {words}"
        metrics = {each.estimate.metric for each in found.gaps}
        self.short = f"{self.group}, {words}" if len(metrics) > 1 else self.group
        self.average = "rate" if row is None or row.is_share else "mean"
        of_share = self.average == "rate"
        self.unit = tree.Unit.POINTS if of_share else tree.Unit.NUMBER
        self.unit_of_rates = tree.Unit.PERCENT if of_share else tree.Unit.NUMBER

    @property
    def verdict(self) -> str:
        """Return the names of its verdicts: "accounted for; with the controls: remains"."""
        beside = self.of.regression_verdict
        reason = f" ({self.of.reason})" if self.of.reason else ""
        return f"{self.of.verdict}{reason}" + (f"; with the controls: {beside}" if beside else "")

    def said(self, *places: str, code: str = "") -> Iterator[str]:
        """Yield what is stated of it at some places of a page, or under one code alone."""
        language, stated = (
            told(self.found).language,
            gap_statements(self.found, self.at, self.of),
        )
        for place in places:
            of_code = (s for s in stated if code in ("", s.code))
            yield from filter(None, (language.say(s.code, place, s) for s in of_code))

    def named(self, part: GapPart) -> str:
        """Return what a part is called."""
        if part.part is GapPartKind.NOT_COMPARABLE:
            return "strata of one side alone"
        if part.part is GapPartKind.COMPOSITION:
            return f"composition of {called(part.column) if part.column else self.columns}"
        weights = {
            StratumWeights.AVERAGE: "",
            StratumWeights.GROUP: f", weighted by the shares of {self.group}",
            StratumWeights.REFERENCE: f", weighted by the shares of {self.reference}",
            StratumWeights.MANTEL_HAENSZEL: ", with the weights of Mantel and Haenszel",
        }
        return f"within {self.strata_words}{weights[part.weights]}"

    @property
    def within(self) -> str:
        """Return what the average difference within strata is called."""
        return self.named(self.of.part(GapPartKind.WITHIN))

    def parts(self, *, added: bool = False) -> list[GapPart]:
        """Return the parts that have a value; of those ``added`` up, composition by column."""
        divided = any(each.column for each in self.of.parts)
        return [
            each for each in self.of.parts
            if each.value is not None
            and (self.one_sided or each.part is not GapPartKind.NOT_COMPARABLE)
            and not (added and (
                each.weights is not StratumWeights.AVERAGE
                or (each.part is GapPartKind.COMPOSITION and divided and each.column is None)
            ))
        ]  # fmt: skip

    def totals(self) -> list[tuple[str, float | None, Any]]:
        """Return the gap, and what remains of it by regression."""
        own = [("the gap", self.of.estimate.value, self.of.estimate.interval)]
        if (by := self.of.adjusted) is not None:
            name = f"adjusted for {self.adjusted_for} by regression"
            own.append((name, *by.at(self.of.scale)))
        return own

    def part_rows(self, *, added: bool = False) -> Iterator[Row]:
        """Yield the parts of the gap, and the gap."""
        for part in self.parts(added=added):
            yield {
                "part": self.named(part),
                "value": metric_value(self.metric, part.value),
                "interval": metric_ci(self.metric, part.interval),
            }
        for name, value, ends in self.totals():
            size, interval = metric_value(self.metric, value), metric_ci(self.metric, ends)
            yield {"part": name, "value": size, "interval": interval, "total": True}

    def strata(self, *, rest: bool | None = None) -> list[Row]:
        """Return the strata that are shown first, the ``rest`` of them, or few of a screen."""
        every = [] if self.beside else list(self.of.strata)
        if rest is None:
            found: Sequence[StratumGap] = self._first(_MOST_ROWS - 2 * (len(self.found.gaps) > 1))
        elif len(every) == _MOST_OPEN + 1:  # one alone is shown as well
            found = [] if rest else every
        else:
            found = every[_MOST_OPEN:] if rest else every[:_MOST_OPEN]
        return [
            {
                "stratum": _stratum(each),
                "n_group": each.n_group,
                "n_reference": each.n_reference,
                "rate_group": shown(each.rate_group, self.unit_of_rates),
                "rate_reference": shown(each.rate_reference, self.unit_of_rates),
                "difference": self._signed(each.difference) + "*" * each.outlying,
                "interval": self._ends(each),
                "composition": "" if self.ratio else self._signed(each.composition),
                "within": "" if self.ratio else self._signed(each.within),
            }
            for each in found
        ]

    def _signed(self, value: float | None) -> str:
        return with_unit(value, self.unit, sign=True)

    def _ends(self, stratum: StratumGap) -> str:
        low, high = stratum.interval or (None, None)
        return shown_range(low, high, self.unit, sign=True)

    def _first(self, most: int) -> list[StratumGap]:
        """Return the first strata in their order, of which some make room for those to be named."""
        named = [each for each in self.of.differing_strata[:most] if not each.outlying]
        every = self.of.strata
        first = every if len(every) <= most + 1 else every[:most]
        others = [each for each in first if each not in named]
        kept = [*named, *others[: len(first) - len(named)]]
        return [each for each in every if each in kept]

    @property
    def left_out(self) -> int:
        """Return how many strata stand in no table of a screen."""
        return len(self.of.strata) - len(self.strata())

    def waterfall(self, *, first: bool = False) -> Iterator[tree.Chart]:
        """Yield the parts that add up (multiply), each from where those before it end.

        On the ``first`` page it has the regression where there are controls alone.
        """
        start = self.metric.neutral or 0.0
        end, rows = start, []
        for part in self.parts(added=True):
            assert part.value is not None
            at, ends = end, part.interval or (part.value, part.value)
            end, low, high = (
                at * each if self.ratio else at + each for each in (part.value, *ends)
            )
            text = metric_value(self.metric, part.value)
            mark = tree.Mark(end, low, high)
            rows.append(tree.ChartRow(self.named(part), mark, text, start=at))
        for name, total, interval in self.totals()[: 1 if first and not self.of.controls else None]:
            mark, text = tree.mark_of(total, interval), metric_value(self.metric, total)
            rows.append(tree.ChartRow(name, mark, text, emphasis=True, start=start))
        size = (
            "multiplies where the one above it ends" if self.ratio else "is the length of its bar"
        )
        legend = (
            f"{self._below(start)} The number of a part {size}; the bar begins where the one above "
            "it ends. Lines are confidence intervals of the bars’ lengths."
        ).lstrip()
        kind = unit(self.metric)
        points = ("pp: percentage points, of 100.",) if kind is tree.Unit.POINTS else ()
        yield tree.Chart(
            "The gap and its parts", tuple(rows), kind, neutral(self.metric), notes=points,
            legend=legend,
        )  # fmt: skip

    def _below(self, value: float) -> str:
        """Return who has less where a number is below no difference, as far as that has words."""
        s = below_neutral(self.found, self.of)
        return told(self.found).language.say("below", "text", s, neutral=value) or ""

    def dots(self, most: int = _MOST_OPEN) -> Iterator[tree.Chart]:
        """Yield the difference in the strata that are furthest out, if any has one."""
        known = [each for each in self.of.strata if each.difference is not None]
        known.sort(key=lambda each: each.difference or 0.0)
        ends = [known[i] for i in furthest_from_others(known, most)]
        if not ends or self.beside:
            return
        first = ", outlying ones first" * any(each.outlying for each in ends)
        sufficient = sum(each.interval is not None for each in known)
        of = f" ({sufficient:,} with sufficient data)" if sufficient < len(known) else ""
        note = (
            f"Of {len(known):,}{of}, the {len(ends)} furthest from the others, relative to their "
            f"intervals{first}."
        )
        rows = [
            tree.ChartRow(
                _stratum(each),
                tree.mark_of(each.difference, each.interval),
                self._signed(each.difference),
                badge="outlying" if each.outlying else "",
                tone=tree.Tone.UNSURE if each.outlying else tree.Tone.PLAIN,
            )
            for each in ends
        ]
        average = self.of.part(GapPartKind.WITHIN)
        if not self.ratio and average.value is not None:
            mark = tree.mark_of(average.value, average.interval)
            text = metric_value(self.metric, average.value)
            rows.insert(0, tree.ChartRow(self.within, mark, text, emphasis=True))
        of_each = f"combination of {self.columns}" if len(self.of.columns) > 1 else self.columns
        yield tree.Chart(
            f"Difference in each {of_each}", tuple(rows), self.unit, 0.0,
            notes=(note,) if len(known) > len(ends) else (), legend=self._below(0.0),
        )  # fmt: skip


def _stratum(stratum: StratumGap) -> str:
    return ", ".join(map(called, stratum.stratum.values()))


def _gaps(found: Decomposition) -> list[_Gap]:
    return [_Gap(found, at, gap) for at, gap in found.described()]


def _others(found: Decomposition) -> Iterator[Row]:
    """Yield the gaps that the first page has no room for, but ratios beside their difference."""
    for each in _gaps(found)[1:]:
        if not each.beside:
            part = each.of.part(GapPartKind.WITHIN)
            yield {
                "gap": each.short,
                "value": value_text(each.of.estimate, interval=False),
                "within": metric_value(each.metric, part.value),
                "interval": metric_ci(each.metric, part.interval),
                "verdict": each.verdict,
            }


def _facts(found: Decomposition) -> Row:
    several = len(found.gaps) > 1
    kinds = {gap.estimate.reference.kind for gap in found.gaps if gap.estimate.reference}
    by_verdict: dict[str, list[str]] = {}
    for at, gap in found.gravest():
        own = _Gap(found, at, gap)
        by_verdict.setdefault(own.verdict.upper(), []).append(own.short)
    return {
        "columns": all_called(found.gaps[0].columns),
        "several": several,
        "best": ReferenceKind.BEST in kinds,
        "unit": _unit(found),
        "used": how_many_used(found, found.data.rows),
        "excluded": dict(_excluded(found)),
        "verdict": "; ".join(
            f"{verdict}: {numbers.listing(names, most=_MOST_NAMED)}" if several else verdict
            for verdict, names in by_verdict.items()
        ),
        "tone": str(_TONES.get(found.verdict, tree.Tone.PLAIN)),
    }


def _unit(found: Decomposition) -> str:
    """Return what rows are called: of a count column cases, or as the user names them."""
    words = found.spec.get("words") or {}
    counted = found.spec.get("count") and (words.get("noun") or "cases")
    counted = "people" if counts_people(found.spec) else counted
    return called(words.get("unit") or counted or "rows")


def _excluded(found: Decomposition) -> Iterator[tuple[str, str]]:
    """Yield why rows are excluded, and how many, in the order in which they are.

    First are those that are counted nowhere, with and without a stratum: rows, where nobody knows
    for how many cases they stand. The reasons after a missing stratum are of rows that have one.
    """
    unit_, reasons = _unit(found), dict(found.excluded)
    of_conditions = "rows" if found.spec.get("person") else unit_
    units = {str(reason): unit_excluded(reason, unit_) for reason in Uncounted}
    units |= dict.fromkeys(map(missing_in_condition, found.spec.get("where") or {}), of_conditions)
    for reason in [each for each in reasons if each in units]:
        yield reason, numbers.numbered(reasons.pop(reason), units[reason])
    without = reasons.pop("missing stratum", 0)
    if without:
        yield "missing stratum", numbers.numbered(without, unit_)
    for reason, rows in reasons.items():
        of = ", of those with a stratum" if without else ""
        yield f"{excluded_why(reason)}{of}", numbers.numbered(rows, unit_)


def _frame(found: Decomposition, **_: bool) -> Row:
    first = _gaps(found)[0]
    charts = list(first.dots(_MOST_DRAWN))
    return {
        "subject": "; ".join(gap.estimate.says for gap in found.gaps),
        "exhibits": (*first.waterfall(first=True), *charts),
    }


def _rows(found: Decomposition, records: Callable[[Gap], Sequence[Any]]) -> Iterator[Row]:
    """Yield every record of every gap, with whose it is; a stratum by its columns."""
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


STREAMS: Mapping[str, Callable[..., Any]] = {
    "facts": _facts,
    "frame": _frame,
    "every": _gaps,
    "first": lambda found: _gaps(found)[:1],
    "stated": lambda gap: gap.said("found"),
    "stated_below": lambda gap: [
        each for each in gap.said("certain", "note") if each not in gap.said("found")
    ],
    "no_regression": lambda gap: [*gap.said("found", code="no_regression")],
    "all_parts": _Gap.part_rows,
    "added": partial(_Gap.part_rows, added=True),
    "drawn": lambda gap: [*gap.waterfall(), *gap.dots()],
    "strata_rows": partial(_Gap.strata, rest=False),
    "more_rows": partial(_Gap.strata, rest=True),
    "few_rows": _Gap.strata,
    "others": lambda gap: _others(gap.found),
    "noted": lambda found: [
        f"{capitalised(describe_diagnostic(each))}."
        for each in found.diagnostics
        if each.level is Level.NOTE
    ],
    "excluded": lambda found: [tree.Facts(tuple(_excluded(found)))] if found.excluded else [],
    "provenance": lambda found: repeat_blocks(found, found.fingerprint, "why", of="decomposition"),
    "columns": lambda found: found.gaps[0].columns,
    "parts": lambda found: _rows(found, lambda gap: gap.parts),
    "strata": lambda found: _rows(found, lambda gap: gap.strata),
    "adjusted": lambda found: _rows(found, lambda gap: [gap.adjusted] if gap.adjusted else []),
}
