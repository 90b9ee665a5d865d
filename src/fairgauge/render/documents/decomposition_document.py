"""The document of a decomposition: each gap with its parts and its strata; its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.enums import (
    GapPartKind,
    GapVerdict,
    Level,
    ReferenceKind,
    StratumWeights,
    Uncounted,
    WhyInconclusive,
)
from fairgauge.question.presets import preset, preset_names
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._preset_blocks import QUOTED, preset_facts
from fairgauge.render.documents.document_parts import (
    Field,
    document_of,
    listed,
    repeat_blocks,
    table_of_rows,
)
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.page import told
from fairgauge.render.streams import flat
from fairgauge.render.words import numbers
from fairgauge.render.words.diagnostic_sentences import describe_diagnostic
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
from fairgauge.render.words.numbers import count
from fairgauge.render.words.question_sentences import counts_people, excluded_why
from fairgauge.resolve.excluded_rows import missing_in_condition, unit_excluded
from fairgauge.results.definitions import saved_fields
from fairgauge.results.gap_decomposition import (
    UNADJUSTED,
    AdjustedGap,
    Decomposition,
    Gap,
    GapPart,
    StratumGap,
    furthest_from_others,
    test_of,
)
from fairgauge.results.scopes import Interval
from fairgauge.statements.why import below_neutral, gap_statements

Row: TypeAlias = dict[str, Any]
_MOST_ROWS, _MOST_NAMED = 5, 4
_NOT_SHOWN = ("what remains with other weights", "regressions", "tests of variation", "method")
_MOST_OPEN, _MOST_DRAWN = 12, 8
_COLUMN_OF = {RegressionTerm.LABEL: "label", RegressionTerm.PREDICTION: "prediction"}
_TONES = {GapVerdict.REMAINS: tree.Tone.BAD, GapVerdict.INCONCLUSIVE: tree.Tone.UNSURE}
"""That a gap is accounted for is no good news by itself."""
_CONTRIBUTIONS = (
    "Contributions of the strata add up to composition and to within; composition is measured from "
    "the mean of all strata."
)
_WITH_DIFFERENCE = "Strata, their tests and the regression are those of the difference of the rate."
_OUTLYING = "* unlike all without * together, statistically significantly (adjusted, Bonferroni)."
_WITHOUT_STRATUM = "missing stratum"
_SEVERAL_COLUMNS = (
    " Composition is divided among several columns by Shapley's value, whatever their order."
)
_CAVEAT = (
    "“Accounted for” is arithmetic: it does not show whether the strata should count, or why "
    "groups differ in them."
)
METHOD = (
    "Composition weights the difference of the sides' shares of each stratum by the mean of their "
    "rates in it; within weights the difference of the rates by the mean of the shares (Kitagawa "
    "1955). The differences within strata by the weights of either side decide the verdict. "
    "Confidence intervals are those of the delta method, of rates with four rows a side added over "
    "the strata; those of a regression are robust. An odds ratio changes with what is adjusted for "
    "even where nothing confounds, so that it is not compared with the unadjusted one."
)


def decomposition_document(found: Decomposition, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a decomposition: of a summary, what one screen has room for."""
    columns = all_called(found.gaps[0].columns)
    several = len(found.gaps) > 1
    of = (
        f"Each gap is divided in two parts: that the sides are spread differently over {columns} "
        "(composition), and that they differ in the same stratum (within). "
    )
    lead = f"{of if full else ''}{100 * found.confidence:.4g}% confidence intervals."
    if several:
        gaps = "both" if len(found.gaps) == 2 else f"all {len(found.gaps):,}"
        lead += (
            f" The verdicts hold for {gaps} gaps together (Holm{_best_of_all(found.gaps)}); "
            "the intervals, and the tests of whether a difference varies, are of each gap by "
            "itself, but for strata that are named."
        )
    if found.excluded:
        excluded = "; ".join(f"{rows} ({reason})" for reason, rows in _excluded(found))
        lead += f" Excluded: {excluded}."
    return document_of(
        found,
        title=f"Decomposition of the {'gaps' if several else 'gap'} by {columns}",
        beside=_rows_words(found),
        lead=(lead,),
        verdict=_verdict(found),
        subject="; ".join(gap.estimate.says for gap in found.gaps),
        tone=_TONES.get(found.verdict, tree.Tone.PLAIN),
        sections=_sections(found) if full else [_on_a_screen(found)],
        not_shown=() if full else _NOT_SHOWN,
        folded=not full,
        file_name="why",
        warnings=opening_warnings(report_warnings(found.diagnostics)),
        exhibits=_pictures(found.with_regression(found.described()[0][1]), found),
        filed=_filed(found) if full else (),
    )


def _verdict(found: Decomposition) -> str:
    """Return what becomes of the gaps, of several with the groups that it is of."""
    by_verdict: dict[str, list[str]] = {}
    for _, gap in found.gravest():
        by_verdict.setdefault(_each_verdict(gap, found).upper(), []).append(_short(gap, found))
    return "; ".join(
        f"{verdict}: {numbers.listing(names, most=_MOST_NAMED)}" if len(found.gaps) > 1 else verdict
        for verdict, names in by_verdict.items()
    )


def _each_verdict(gap: Gap, found: Decomposition) -> str:
    """Return the names of the verdicts: "accounted for; with the controls: remains"."""
    beside = found.with_regression(gap).regression_verdict
    verdict = f"{gap.verdict} ({gap.reason})" if gap.reason else str(gap.verdict)
    return f"{verdict}; with the controls: {beside}" if beside else verdict


def _notes_of(found: Decomposition) -> list[str]:
    """Return the notes, of which none is a warning."""
    notes = (each for each in found.diagnostics if each.level is Level.NOTE)
    return [f"{capitalised(describe_diagnostic(each))}." for each in notes]


def _rows_words(found: Decomposition) -> str:
    """Return how many rows there are, of a count column the cases, and how many are used."""
    used = "all used" if found.used == found.data.rows else f"{count(found.used)} used"
    return f"{numbers.numbered(found.data.rows, _unit_words(found))}, {used}"


def _unit_words(found: Decomposition) -> str:
    """Return what rows are called: of a count column cases, or as the user names them."""
    words = found.spec.get("words") or {}
    counted = found.spec.get("count") and (words.get("noun") or "cases")
    counted = "people" if counts_people(found.spec) else counted
    return called(words.get("unit") or counted or "rows")


def _best_of_all(gaps: Sequence[Gap]) -> str:
    """Return that tests allow for the choice of the best group by the data, where it is one."""
    kinds = {gap.estimate.reference.kind for gap in gaps if gap.estimate.reference}
    return ", whichever group is the best" if ReferenceKind.BEST in kinds else ""


def _strata_words(gap: Gap) -> str:
    """Return the strata as they stand after "within"."""
    several = len(gap.columns) > 1
    return f"combinations of {_columns(gap)}" if several else called(gap.columns[0])


def _each_of(gap: Gap, *, several: bool = False) -> str:
    """Return one stratum: "Dept", "combination of Dept and Year"; several: "values of Dept"."""
    if len(gap.columns) > 1:
        return f"combination{'s' if several else ''} of {_columns(gap)}"
    return f"{'values of ' if several else ''}{_columns(gap)}"


def _columns(gap: Gap) -> str:
    return all_called(gap.columns)


def _adjusted_for(gap: Gap) -> str:
    """Return the columns for which the regression is adjusted."""
    return all_called(gap.adjusted_for)


def _part_words(gap: Gap, part: GapPart) -> str:
    """Return what a part is called."""
    if part.part is GapPartKind.NOT_COMPARABLE:
        return "strata of one side alone"
    if part.part is GapPartKind.COMPOSITION:
        return f"composition of {called(part.column) if part.column else _columns(gap)}"
    within = f"within {_strata_words(gap)}"
    return {
        StratumWeights.AVERAGE: within,
        StratumWeights.GROUP: f"{within}, weighted by the shares of {called(gap.estimate.group)}",
        StratumWeights.REFERENCE: (
            f"{within}, weighted by the shares of {called(reference_name(gap.estimate.reference))}"
        ),
        StratumWeights.MANTEL_HAENSZEL: f"{within}, with the weights of Mantel and Haenszel",
    }[part.weights]


def _value_words(gap: Gap, part: GapPart) -> tuple[str, str]:
    """Return the value of a part, and its confidence interval."""
    metric = gap.estimate.definition
    return metric_value(metric, part.value), metric_ci(metric, part.interval)


def _share_words(part: GapPart) -> str:
    """Return the share of the gap that a part is, with its interval."""
    if part.share is None or part.share_interval is None:
        return ""
    value, low, high = (
        f"{round(100 * each):,}".replace("-", "−") for each in (part.share, *part.share_interval)
    )
    return f"{value}% ({100 * part.share_interval.level:.4g}% CI {low} to {high})"


def _stratum_unit(gap: Gap) -> tree.Unit:
    """Return the unit of differences in strata, of a ratio too."""
    rate = compared_rate(gap.estimate.definition)
    return tree.Unit.POINTS if rate is None or rate.is_share else tree.Unit.NUMBER


def _stratum_name(stratum: StratumGap) -> str:
    """Return the values of a stratum."""
    return ", ".join(called(value) for value in stratum.stratum.values())


def _sections(found: Decomposition) -> Iterator[tree.Section]:
    several = len(found.gaps) > 1
    differences = {test_of(gap) for gap in found.gaps if gap.scale == "difference"}
    for i, alone in found.described():
        gap = found.with_regression(alone)
        yield listed(
            f"gap-{i}" if several else "gap",
            _title(gap, found),
            *_gap(gap, i, found, parts=gap.scale == "ratio" and test_of(gap) in differences),
            short=_short(gap, found) if several else "Gap",
        )
    if (name := found.spec.get("preset")) in preset_names():
        of_preset = preset(name)
        blocks = (preset_facts(of_preset), tree.Items(of_preset.statements), tree.Paragraph(QUOTED))
        yield listed("preset", "Preset", *blocks)
    notes = (*map(tree.Paragraph, _notes_of(found)), *_notes(found))
    yield tree.Section("notes", "Method and excluded rows", notes)
    yield listed("provenance", "Provenance", *_repeat(found))


def _notes(found: Decomposition) -> Iterator[tree.Block]:
    several = len(found.gaps[0].columns) > 1
    yield tree.Paragraph(f"{METHOD}{_SEVERAL_COLUMNS * several}", tree.Tone.SOFT)
    if found.excluded:
        yield tree.Facts(tuple(_excluded(found)))


def _excluded(found: Decomposition) -> Iterator[tuple[str, str]]:
    """Yield why rows are excluded, and how many, in the order in which they are.

    First are those that are counted nowhere, with and without a stratum: rows, where nobody knows
    for how many cases they stand. The reasons after a missing stratum are of rows that have one.
    """
    unit, reasons = _unit_words(found), dict(found.excluded)
    of_conditions = "rows" if found.spec.get("person") else unit
    units = {str(reason): unit_excluded(reason, unit) for reason in Uncounted}
    units |= dict.fromkeys(map(missing_in_condition, found.spec.get("where") or {}), of_conditions)
    for reason in [each for each in reasons if each in units]:
        yield reason, numbers.numbered(reasons.pop(reason), units[reason])
    without = reasons.pop(_WITHOUT_STRATUM, 0)
    if without:
        yield _WITHOUT_STRATUM, numbers.numbered(without, unit)
    for reason, rows in reasons.items():
        of = ", of those with a stratum" if without else ""
        yield f"{excluded_why(reason)}{of}", numbers.numbered(rows, unit)


def _repeat(found: Decomposition) -> Iterator[tree.Block]:
    """Yield where the numbers come from, how to make them again, and room for signatures."""
    yield from repeat_blocks(found, found.fingerprint, "why", of="decomposition")


def _filed(found: Decomposition) -> Iterator[tree.Block]:
    """Yield what is filed with the first page: the parts, the method, and how to repeat it."""
    tables = _on_a_screen(found, parts=False)
    yield tree.Heading(tables.title)
    # of several gaps those of the other ones have the room of the strata
    yield from (each for i, each in enumerate(tables.blocks) if i != 1 or len(found.gaps) == 1)
    yield tree.Heading("Method and excluded rows")
    yield from _notes(found)
    yield from _repeat(found)


def _on_a_screen(found: Decomposition, *, parts: bool = True) -> tree.Section:
    """Return the parts of the first gap, where it is largest, and a line of each other gap.

    Without ``parts`` the strata stand without what each contributes to these.
    """
    (_, first), *others = found.described()
    alike = {test_of(gap) for gap in found.gaps if gap.scale == "difference"}
    others = [
        each for each in others if each[1].scale == "difference" or test_of(each[1]) not in alike
    ]
    most = _MOST_ROWS - (2 if others else 0)
    adjusted = found.with_regression(first)
    blocks: list[tree.Block] = [_parts(adjusted, whole=False)]
    blocks.append(_strata(first, _first_strata(first, most), screen=True, parts=parts))
    if others:
        columns = (
            tree.Column("other gaps", numeric=False), tree.Column("gap"), tree.Column("within"),
            tree.Column("CI of within", numeric=False), tree.Column("verdict", numeric=False),
        )  # fmt: skip
        more = len(others) - most
        notes = (f"{more:,} more in the .html or .json.",) if more > 0 else ()
        rows = tuple(
            (
                tree.Cell(_short(gap, found), name=True),
                tree.Cell(value_text(gap.estimate, interval=False)),
                *map(tree.Cell, _value_words(gap, gap.part(GapPartKind.WITHIN))),
                tree.Cell(_each_verdict(gap, found)),
            )
            for _, gap in others[:most]
        )
        blocks.append(tree.Table("Other gaps", columns, rows, notes=notes))
    return tree.Section("gap", _title(first, found), tuple(blocks))


def _first(rows: Sequence[StratumGap], most: int) -> Sequence[StratumGap]:
    """Return as many strata, or all where one alone would be left."""
    return rows if len(rows) <= most + 1 else rows[:most]


def _first_strata(gap: Gap, most: int) -> Sequence[StratumGap]:
    """Return the first strata in their order, of which some make room for those to be named."""
    named = [each for each in gap.differing_strata[:most] if not each.outlying]
    first = _first(gap.strata, most)
    others = [each for each in first if each not in named]
    kept = [*named, *others[: len(first) - len(named)]]
    return [each for each in gap.strata if each in kept]


def _short(gap: Gap, found: Decomposition) -> str:
    """Return the group of a gap, with its metric where there are several."""
    group = called(gap.estimate.group)
    several = len({each.estimate.metric for each in found.gaps}) > 1
    return f"{group}, {_metric(gap, found)}" if several else group


def _title(gap: Gap, found: Decomposition) -> str:
    group = group_called(gap.estimate.group, gap.estimate.feature)
    return f"{group}: {_metric(gap, found)}"


def _metric(gap: Gap, found: Decomposition) -> str:
    """Return what the metric of a gap is called, a mean by its column."""
    row, title = compared_rate(gap.estimate.definition), metric_words(gap.estimate.definition)
    if row and (column := _averaged(gap, found)):
        return title.replace(row.title, f"mean {called(column)}", 1)
    return title


def _averaged(gap: Gap, found: Decomposition) -> str | None:
    """Return the column of which a gap is one of means; None of rates."""
    row = compared_rate(gap.estimate.definition)
    return found.spec.get(_COLUMN_OF.get(row.of, "")) if isinstance(row, Mean) else None


def _gap(gap: Gap, at: int, found: Decomposition, *, parts: bool) -> Iterator[tree.Block]:
    """Yield what is stated of a gap, and of a ratio beside the difference of its rate the parts."""
    language, stated = told(found).language, gap_statements(found, at, gap)
    for place in ("found", "certain", "note"):
        for s in stated:
            if text := language.say(s.code, place, s):
                yield tree.Paragraph(text)
        if place == "found":
            yield _parts(gap)
    if parts:
        yield tree.Paragraph(_WITH_DIFFERENCE)
    yield _waterfall(gap, gap.adjusted, found)
    if parts:
        return
    yield from _dots(gap, found)
    first, others = _first(gap.strata, _MOST_OPEN), gap.strata[_MOST_OPEN:]
    yield _strata(gap, first)
    if len(first) < len(gap.strata):
        more = f"{len(others):,} more strata"
        yield tree.Section(f"strata-{at}", more, (_strata(gap, others),), folded=True)


def _parts(gap: Gap, *, whole: bool = True) -> tree.Table:
    """Return the parts that add up (multiply) to the gap, then within strata by other weights.

    Of no ``whole`` table, what adds up alone, beside what remains by regression.
    """
    ratio = gap.scale == "ratio"
    shares = any(part.share is not None for part in gap.parts)
    rows = [
        (
            tree.Cell(_part_words(gap, part)),
            *map(tree.Cell, _value_words(gap, part)),
            *([tree.Cell(_share_words(part))] if shares else []),
        )
        for part in _shown_parts(gap)
        if whole or _is_added(gap, part)
    ]
    metric = gap.estimate.definition
    totals = list(_totals(gap, None if whole else gap.adjusted))
    columns = (
        tree.Column("part", numeric=False), tree.Column("size"), tree.Column("CI", numeric=False),
        *([tree.Column("share of the gap", numeric=False)] if shares else []),
    )  # fmt: skip
    how = "multiply" if ratio else "add up"
    alone = "Strata of one side alone, composition" if _alone(gap) else "Composition"
    own = f"“{_part_words(gap, gap.part(GapPartKind.WITHIN))}”"
    average = ", an average of what varies" * gap.varies
    quoted = f"{own} is the {gap.scale} to quote{average}"
    if gap.reason is WhyInconclusive.VARIES:
        quoted = f"{own} is an average of what varies, and not one to quote"
    if gap.reason in UNADJUSTED:
        quoted = f"{own} is no {gap.scale} to quote"
    if gap.controls:
        main = f"; the one adjusted for {_adjusted_for(gap)} is the {gap.scale} to quote"
        quoted = f"{own} is by {_strata_words(gap)} alone{main if gap.adjusted else ''}"
    notes = [f"{alone} and within {how} to the gap: {quoted}."]
    if whole:
        notes.append(
            "Rows with other weights are other averages of the same differences: that of Mantel "
            f"and Haenszel is what an audit states as adjusted for {_strata_words(gap)}."
        )
    if gap.support.strata_used == 0:
        notes = ["No stratum has rows of both sides: the parts of the gap are undefined."]
    if shares and whole:
        of = " (of its logarithm)" if ratio else ""
        notes.append(f"Shares are of the gap{of}; one may be above 100%, beside others below 0%.")
    return tree.Table(
        "Parts of the gap",
        columns,
        tuple(rows),
        tuple(
            (
                tree.Cell(name),
                tree.Cell(metric_value(metric, value)),
                tree.Cell(metric_ci(metric, ends)),
                *([tree.Cell("")] if shares else []),
            )
            for name, value, ends in totals
        ),
        notes=(*notes, _CAVEAT) if whole else (f"{notes[0]} {_CAVEAT}",),
    )


def _totals(
    gap: Gap, adjusted: AdjustedGap | None
) -> Iterator[tuple[str, float | None, Interval | None]]:
    """Yield the gap, and what remains of it by regression."""
    yield "the gap", gap.estimate.value, gap.estimate.interval
    if adjusted is not None:
        yield f"adjusted for {_adjusted_for(gap)} by regression", *adjusted.at(gap.scale)


def _alone(gap: Gap) -> bool:
    return min(gap.support.share_group, gap.support.share_reference) < 1


def _shown_parts(gap: Gap) -> Iterator[GapPart]:
    """Yield the parts that have a value, strata of one side alone where there are any."""
    for part in gap.parts:
        if part.value is not None and (part.part is not GapPartKind.NOT_COMPARABLE or _alone(gap)):
            yield part


def _is_added(gap: Gap, part: GapPart) -> bool:
    """Return whether it is one of the parts that add up, composition by column."""
    several = any(each.column for each in gap.parts)
    divided = part.part is GapPartKind.COMPOSITION and several and part.column is None
    return part.weights is StratumWeights.AVERAGE and not divided


def _pictures(gap: Gap, found: Decomposition) -> Iterator[tree.Chart]:
    """Yield what is drawn on the first page: the parts, and the strata that are furthest out."""
    yield _waterfall(gap, gap.adjusted if gap.controls else None, found)
    charts = list(_dots(gap, found, _MOST_DRAWN))
    named = [each for each in charts if any(row.badge for row in each.rows)]
    yield from (named or charts)[:1]


def _waterfall(gap: Gap, adjusted: AdjustedGap | None, found: Decomposition) -> tree.Chart:
    """Return the parts that add up (multiply) to the gap, each from where those before it end.

    Below the gap is what remains of it by regression.
    """
    metric, ratio = gap.estimate.definition, gap.scale == "ratio"
    neutral_value = metric.neutral or 0.0
    end, rows = neutral_value, []
    for part in _shown_parts(gap):
        if part.value is None or not _is_added(gap, part):
            continue
        low, high = part.interval or (part.value, part.value)
        start = end
        end, low, high = (
            start * each if ratio else start + each for each in (part.value, low, high)
        )
        name, (value, _) = _part_words(gap, part), _value_words(gap, part)
        rows.append(tree.ChartRow(name, tree.Mark(end, low, high), value, start=start))
    for name, total, ends in _totals(gap, adjusted):
        text = metric_value(metric, total)
        rows.append(
            tree.ChartRow(name, tree.mark_of(total, ends), text, emphasis=True, start=neutral_value)
        )
    size = "multiplies where the one above it ends" if ratio else "is the length of its bar"
    legend = (
        f"{_below(found, gap, neutral_value)} The number of a part {size}; the bar begins "
        "where the one above it ends. Lines are confidence intervals of the bars’ lengths."
    ).lstrip()
    kind = unit(metric)
    points = ("pp: percentage points, of 100.",) if kind is tree.Unit.POINTS else ()
    title = "The gap and its parts"
    return tree.Chart(title, tuple(rows), kind, neutral(metric), notes=points, legend=legend)


def _below(found: Decomposition, gap: Gap, neutral_value: float) -> str:
    """Return who has less where a number is below no difference; nothing of what has no words."""
    s = below_neutral(found, gap)
    return told(found).language.say("below", "text", s, neutral=neutral_value) or ""


def _dots(gap: Gap, found: Decomposition, most: int = _MOST_OPEN) -> Iterator[tree.Chart]:
    """Yield the difference in every stratum, of which there is a chart if any has one."""
    kind = _stratum_unit(gap)
    known = [each for each in gap.strata if each.difference is not None]
    known.sort(key=lambda each: each.difference or 0.0)
    ends = [known[i] for i in furthest_from_others(known, most)]
    if not ends:
        return
    first = ", outlying ones first" * any(each.outlying for each in ends)
    sufficient = sum(each.interval is not None for each in known)
    of = f" ({sufficient:,} with sufficient data)" if sufficient < len(known) else ""
    furthest = f"the {len(ends)} furthest from the others, relative to their intervals{first}"
    notes = (f"Of {len(known):,}{of}, {furthest}.",) if len(known) > len(ends) else ()
    rows = tuple(
        tree.ChartRow(
            _stratum_name(each),
            tree.mark_of(each.difference, each.interval),
            with_unit(each.difference, kind, sign=True),
            badge="outlying" if each.outlying else "",
            tone=tree.Tone.UNSURE if each.outlying else tree.Tone.PLAIN,
        )
        for each in ends
    )
    yield tree.Chart(
        f"Difference in each {_each_of(gap)}", (*_average(gap), *rows), kind, 0.0,
        notes=notes, legend=_below(found, gap, 0.0),
    )  # fmt: skip


def _average(gap: Gap) -> Iterator[tree.ChartRow]:
    """Yield the average difference within strata, beside which those of strata stand."""
    average = gap.part(GapPartKind.WITHIN)
    if gap.scale == "difference" and average.value is not None:
        mark = tree.mark_of(average.value, average.interval)
        yield tree.ChartRow(
            _part_words(gap, average), mark, _value_words(gap, average)[0], emphasis=True
        )


def _strata(
    gap: Gap, strata: Sequence[StratumGap], *, screen: bool = False, parts: bool = True
) -> tree.Table:
    """Return strata; of a screen without the note on columns that may find no room there."""
    group, reference = called(gap.estimate.group), called(reference_name(gap.estimate.reference))
    of_difference = parts and gap.scale == "difference"
    kind, rate = _stratum_unit(gap), compared_rate(gap.estimate.definition)
    share = rate is None or rate.is_share
    of, of_rate = ("rate", tree.Unit.PERCENT) if share else ("mean", tree.Unit.NUMBER)
    by = tree.Column(", ".join(map(called, gap.columns)), numeric=False)
    fields: list[Field[StratumGap]] = [
        (by, lambda each: tree.Cell(_stratum_name(each), name=True)),
        *_sizes(gap),
        (f"{of}, {group}", lambda each: shown(each.rate_group, of_rate)),
        (f"{of}, {reference}", lambda each: shown(each.rate_reference, of_rate)),
        *_differences(gap),
    ]
    if of_difference:
        fields += [
            ("composition", lambda each: with_unit(each.composition, kind, sign=True)),
            (
                tree.Column("within", joined=True),
                lambda each: with_unit(each.within, kind, sign=True),
            ),
        ]
    more = screen * (len(gap.strata) - len(strata))
    notes = [_CONTRIBUTIONS] if of_difference and gap.support.strata_used and not screen else []
    notes += [_OUTLYING] if any(each.outlying for each in strata) else []
    notes += _untested(gap)
    notes += [f"{more:,} more strata in the .html or .json."] if more else []
    return table_of_rows("Strata", strata, *fields, notes=notes, titled=True)


def _untested(gap: Gap) -> list[str]:
    """Return a note on strata without sufficient clusters, if there are any."""
    untested, used = gap.support.strata_untested, gap.support.strata_used
    few = "fewer than two clusters on a side"
    strata = f"{used:,} {numbers.plural(used, 'stratum', 'strata')}"
    return [f"Not tested ({few}): {untested:,} of {strata}."] if untested else []


def _sizes(gap: Gap) -> list[Field[StratumGap]]:
    """Return the columns of how many rows of both sides a stratum has."""
    group, reference = called(gap.estimate.group), called(reference_name(gap.estimate.reference))
    return [
        (f"n, {group}", lambda each: count(each.n_group)),
        (f"n, {reference}", lambda each: count(each.n_reference)),
    ]


def _differences(gap: Gap) -> list[Field[StratumGap]]:
    """Return the columns of the difference in a stratum; outlying ones have a star."""
    kind = _stratum_unit(gap)

    def difference(each: StratumGap) -> str:
        return with_unit(each.difference, kind, sign=True) + "*" * each.outlying

    def interval(each: StratumGap) -> str:
        low, high = each.interval or (None, None)
        return shown_range(low, high, kind, sign=True)

    return [("difference", difference), (tree.Column("CI", numeric=False), interval)]


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


STREAMS = {
    "columns": lambda found: found.gaps[0].columns,
    "parts": lambda found: _rows(found, lambda gap: gap.parts),
    "strata": lambda found: _rows(found, lambda gap: gap.strata),
    "adjusted": lambda found: _rows(found, lambda gap: [gap.adjusted] if gap.adjusted else []),
}
