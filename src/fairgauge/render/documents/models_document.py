"""The document of a comparison of models: verdicts, disparities, performance, who changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import (
    CandidateVerdict,
    ClassKind,
    Direction,
    Favourable,
    Performance,
    ScopeKind,
    Status,
)
from fairgauge.render import _document_tree as tree
from fairgauge.render.brief.models_brief import models_exhibits, vocabulary_of
from fairgauge.render.documents._document_parts import (
    document_of,
    listed,
    more_in_json,
    repeat_blocks,
)
from fairgauge.render.documents.report_notes import note_lines, opening_warnings, report_warnings
from fairgauge.render.words import change_words, numbers
from fairgauge.render.words import model_sentences as words
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.estimate_sentences import reference_name, versus
from fairgauge.render.words.metric_words import (
    ci_words,
    compared_rate,
    metric_words,
    rate_heading,
    rate_text,
    shown,
    shown_range,
    unit,
    unit_name,
    with_unit,
)
from fairgauge.render.words.question_sentences import caveat, unit_of
from fairgauge.render.words.reason_sentences import (
    INSUFFICIENT,
    describe_reason,
    insufficiency,
    why_insufficient,
)
from fairgauge.results.comparison import (
    Candidate,
    DisparityChange,
    MarginTest,
    ModelComparison,
    RateChange,
    Reclassified,
)
from fairgauge.results.disadvantage import favourable_of, harm_in_words

_OfGroup = TypeVar("_OfGroup", DisparityChange, RateChange, Reclassified)
_OUTSIDE = "†"
_MOST_ITEMS = 4
_MOST_UNTESTED = 8
_MOST_ROWS = 200
_MOST_FILED = 4
_TONES = {
    CandidateVerdict.DOMINATES: tree.Tone.GOOD,
    CandidateVerdict.BETTER_WHERE_TESTED: tree.Tone.PLAIN,
    CandidateVerdict.TRADE_OFF: tree.Tone.UNSURE,
    CandidateVerdict.WORSE: tree.Tone.BAD,
    CandidateVerdict.CANNOT_TELL: tree.Tone.UNSURE,
    CandidateVerdict.NONE: tree.Tone.PLAIN,
}
METHOD = (
    "Both models decide the same rows, so every change has a paired confidence interval: Tango's "
    "of a difference of paired proportions, Tang's of a ratio; where the denominator depends on "
    "the decisions, MOVER's with the correlation of both models. A disparity changes by the "
    "difference of two such changes (MOVER). A disparity is closer to no difference where the "
    "change and the side on which it lies are both statistically significant; the p-values of all "
    "disparities of all candidates are adjusted together (Holm), and the widened intervals are at "
    "the levels at which that tests each of them: where no candidate differs, the probability that "
    "any excludes no change is at most one minus the confidence level. That a disparity changes, "
    "wherever it leads, is tested by itself, with the p-values adjusted likewise. A candidate is "
    "as good where the whole interval of the change is within the margin, in every rate with a "
    "margin, adjusted for the number of candidates. It dominates (“better, within all margins”) "
    "where, besides, at least one disparity is closer, and of every disparity the whole interval "
    "of the change of its distance from no difference, and of every group's own rate the whole "
    "interval of its change, is within the margin: what could not be tested is not passed over."
)
"""How models are compared."""
_SHORT_METHOD = (
    "Every change has a paired confidence interval (Tango, Tang, MOVER); those of all differences "
    "between groups are adjusted together (Holm), and margins are tested for non-inferiority. The "
    "method in full is in the report as a web page (.html)."
)


def models_document(comparison: ModelComparison, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of candidates against the model in use."""
    comparison = words.at_one_threshold(comparison)
    current = called(comparison.current)
    names = numbers.listing([called(each.name) for each in comparison.candidates])
    shown = _in_words(comparison)
    sections = [_candidate(each, shown) for each in shown.candidates]
    details = tuple(_details(i, each) for i, each in enumerate(shown.candidates))
    method = tree.Section("method", "Method", (tree.Paragraph(METHOD),))
    warnings = opening_warnings(report_warnings(comparison.diagnostics))
    others = [line for line in note_lines(comparison.diagnostics) if line not in warnings]
    notes = tree.Section("notes", "Notes", (tree.Items(tuple(others)),))
    sections.append(listed("all", "All changes", *details, *([notes] if others else []), method))
    repeat = tuple(
        repeat_blocks(
            comparison, comparison.data.fingerprint, "compare-models", of="comparison of models"
        )
    )
    if full:
        sections.append(listed("provenance", "Provenance", *repeat))
    best = next(i for i, e in enumerate(comparison.candidates) if e.verdict is comparison.verdict)
    changes = [tree.Heading(sections[best].title), *sections[best].blocks]
    if isinstance(last := changes[-1], tree.Table) and len(last.rows) > _MOST_FILED:
        changes.pop()  # who changes: of the groups with the most the first page has it
    rows = max((each.rows for each in comparison.candidates), default=0)
    return document_of(
        comparison,
        title=f"{names} against {current}",
        beside=numbers.numbered(rows, unit_of(comparison.spec)),
        lead=caveat(comparison.spec),
        warnings=warnings,
        verdict=", ".join(
            words.verdict_words(each)
            for each in comparison.candidates
            if each.verdict is not CandidateVerdict.NONE
        ),
        tone=_tone(comparison),
        sections=sections,
        exhibits=models_exhibits(comparison),
        file_name="comparison",
        filed=(*changes, tree.Paragraph(_SHORT_METHOD, tree.Tone.SOFT), *repeat) if full else (),
    )


def _in_words(comparison: ModelComparison) -> ModelComparison:
    """Return a comparison whose groups have the user's words, beside the values: "sex: Female"."""
    vocabulary = vocabulary_of(comparison)

    def disparity(one: DisparityChange) -> DisparityChange:
        reference = one.reference
        if one.feature is None or _is_of_all_groups(one):
            return one
        if reference is not None and (other := vocabulary.word_of(one.feature, reference.group)):
            one = replace(one, reference=replace(reference, group=other))
        return named(one)

    def named(one: _OfGroup) -> _OfGroup:
        word = None if one.feature is None else vocabulary.word_of(one.feature, one.group)
        return replace(one, group=word, feature=f"{one.feature}: {one.group}") if word else one

    return words.with_changes(comparison, disparity, named)


def _tone(comparison: ModelComparison) -> tree.Tone:
    """Return the tone of all verdicts together: that of each, none where they differ."""
    tones = {_TONES[each.verdict] for each in comparison.candidates}
    return tones.pop() if len(tones) == 1 else tree.Tone.PLAIN


def _candidate(each: Candidate, comparison: ModelComparison) -> tree.Section:
    current = called(comparison.current)
    candidates = len(comparison.candidates)
    blocks: list[tree.Block] = []
    sentences: list[str] = []
    if candidates > 1:  # of one alone the summary states them
        blocks.append(tree.Paragraph(words.describe_candidate(each, current), _TONES[each.verdict]))
        sentences += [
            *words.beyond_margins(each, [Performance.INFERIOR]),
            *words.needed_sentences(each),
        ]
    sentences += [words.margin_sentence(test, candidates) for test in each.margins]
    favourable = favourable_of(comparison.spec)
    sentences += [
        *_disparity_sentences(each, favourable),
        *words.margins_kept(each),
        *_margins_of_groups(each),
    ]
    if sentences:
        blocks.append(tree.Items(tuple(sentences)))
    blocks += _disparity_tables(each)
    blocks += _reclassified_table(each, comparison.spec)
    place, alone = comparison.candidates.index(each), candidates == 1
    title = "Changes" if alone else f"{called(each.name)} against {current}"
    short = title if alone else called(each.name)
    return tree.Section(f"candidate-{place}", title, tuple(blocks), short=short)


def _disparity_sentences(each: Candidate, favourable: Favourable) -> Iterator[str]:
    """Yield the disparities that change statistically significantly.

    First those that changed sides, then those that are closer or further, the largest first.
    """
    found = [one for one in each.disparities if one.significant or one.changed]
    found.sort(
        key=lambda one: (
            not one.other_side,
            not one.significant,
            -abs(one.distance or 0.0),
        )
    )
    for one in found[:_MOST_ITEMS]:
        shift, became = change_words.describe_disparity_shift(one), _became(one, favourable)
        yield f"{_subject(one)}: {shift}, {became}."
    if len(found) > _MOST_ITEMS:
        yield f"{len(found) - _MOST_ITEMS:,} more below."


def _subject(one: DisparityChange) -> str:
    of = change_words.scope_words(one.scope, one.class_scope, one.threshold)
    who = f"overall{of}"
    if one.feature is not None:
        who = f"{called(one.group)}{versus(one.reference)} ({called(one.feature)}){of}"
    return f"{_metric(one)}, {who}"


def _metric(one: DisparityChange) -> str:
    return capitalised(metric_words(one.definition))


def _became(one: DisparityChange, favourable: Favourable) -> str:
    """Return what a change that is statistically significant comes to: sides, and distance."""
    sides = change_words.sides_words(one, favourable)
    if one.significant:
        return ", ".join(filter(None, [sides, _went(one)]))
    p_value = numbers.probability(one.change_p_adjusted, "adjusted p")
    distance = "not significantly closer to no difference or further from it"
    return ", ".join(filter(None, [sides, p_value, distance]))


def _margins_of_groups(each: Candidate) -> Iterator[str]:
    """Yield what the margins of disparities, and of the groups' own rates, come to."""
    if each.verdict is CandidateVerdict.NONE:
        return
    worse = [test for test in each.groups if test.outcome is Performance.INFERIOR]
    for test in worse[:_MOST_ITEMS]:
        shift = change_words.describe_rate_shift(test.change)
        yield f"{_of_test(test)}: {shift}: worse by more than {words.TERMS.margin(test)}."
    if each.verdict is CandidateVerdict.BETTER_WHERE_TESTED:
        yield from _untested(each)


def _untested(each: Candidate) -> Iterator[str]:
    """Yield who could not be tested, and why."""
    without = [one for one in each.untested if one.outcome is Performance.NO_MARGIN]
    if without:
        many, further = numbers.numbered(len(without), "disparities"), words.unmargined(each)
        who = "they are" if len(further) == len(without) else f"{len(further):,} of them are"
        yield (
            f"No margin is stated for {many}, so that it is not tested whether "
            f"{f'{who} further from no difference, or ' if further else ''}their groups' own rates "
            f"{'' if further else 'are '}worse (margins, --margin disparity=0.05)."
        )
    whose: dict[tuple[str, str], list[str]] = {}
    for one in each.untested:
        if one.outcome is Performance.NO_MARGIN:
            continue
        of = one.change if isinstance(one, MarginTest) else one
        if isinstance(of, RateChange):
            who, what = _who(of), of.definition.title
            if of.status is Status.OK:
                what = f"{what} {change_words.describe_rate_shift(of)}"
        else:
            who, what = _of_whom(of), metric_words(of.definition)
        who += change_words.scope_words(of.scope, of.class_scope, of.threshold)
        why = INSUFFICIENT
        if of.status is Status.OK:
            why = f"not shown to be within the margin of {words.TERMS.margin(one)}"
            if one.overturned:
                why += ", whatever excluded or unclear rows hold"
        whose.setdefault((who, why), []).append(what)
    for (who, why), parts in list(whose.items())[:_MOST_UNTESTED]:
        yield f"{who}, {why}: {'; '.join(dict.fromkeys(parts))}."
    if len(whose) > _MOST_UNTESTED:
        yield f"{len(whose) - _MOST_UNTESTED:,} more in the JSON."


def _of_test(test: MarginTest) -> str:
    of = change_words.scope_words(test.change.scope, test.change.class_scope, test.change.threshold)
    return f"{capitalised(test.change.definition.title)}, {_who(test.change)}{of}"


def _went(one: DisparityChange) -> str:
    """Return where a disparity went, and by how much with the interval that decides it."""
    p_value = numbers.probability(one.p_adjusted, "adjusted p")
    return ", ".join(
        filter(None, [f"{change_words.DIRECTIONS[one.direction]}{_by_how_much(one)}", p_value])
    )


def _tested(one: DisparityChange) -> str:
    """Return where a disparity went; of a change that is not significant, its p-value alone."""
    if one.significant or one.p_adjusted is None:
        return _went(one)
    return numbers.probability(one.p_adjusted, "adjusted p")


def _by_how_much(one: DisparityChange) -> str:
    """Return the change of the distance where it is tested: `` by 4.2 pp (widened 95% CI ...)``.

    Of a ratio it is a factor. A number of the other direction is negative, or a factor below 1.
    """
    if one.distance is None or one.distance_adjusted is None:
        return ""
    low, high = one.distance_adjusted
    far = one.distance
    if one.direction is Direction.CLOSER:
        far, low, high = -far, -high, -low
    by_ratio = one.by == "ratio"
    if by_ratio:
        far, low, high = math.exp(far), math.exp(low), math.exp(high)
    kind = tree.Unit.RATIO if by_ratio else unit(one.definition)
    ends = shown_range(low, high, kind)
    level = f"{100 * one.distance_adjusted.level:.4g}%"
    if one.direction is Direction.AS_FAR:
        return f" (widened {level} CI {ends})"
    size = f"{'a factor of ' if by_ratio else ''}{shown(far, kind)}{unit_name(kind)}"
    return f" by {size} (widened {level} CI {ends})"


def _disparity_tables(each: Candidate) -> list[tree.Block]:
    """Return the disparities of all rows, before and after: of each group, and of all groups."""
    shown_here = [one for one in each.disparities if one.scope.kind is not ScopeKind.STRATUM
                  and one.class_scope.kind is not ClassKind.AVERAGE]  # fmt: skip
    of_all = [one for one in shown_here if _is_of_all_groups(one)]
    of_one = [one for one in shown_here if not _is_of_all_groups(one)]
    blocks = _disparity_table("Disparities", "disparity", of_one)
    blocks += _disparity_table("Disparities over all groups", "over all groups", of_all)
    unadjusted = _unadjusted(each)
    if blocks and unadjusted:
        named = numbers.listing([metric_words(metric) for metric in unadjusted])
        blocks.append(tree.Paragraph(f"Not adjusted for the strata: {named}.", tree.Tone.SOFT))
    return blocks


def _is_of_all_groups(one: DisparityChange) -> bool:
    """Return whether a metric is a number of a whole feature or table, such as the largest gap."""
    return one.definition.scope in ("feature", "table")


def _unadjusted(each: Candidate) -> list[Metric]:
    """Return the metrics that have no disparity adjusted for the strata, where there are strata."""
    stratified = {one.metric for one in each.disparities if one.scope.kind is not ScopeKind.OVERALL}
    pooled = {one.metric for one in each.disparities if one.scope.kind is ScopeKind.POOLED}
    rows = {one.metric: one.definition for one in each.disparities if not _is_of_all_groups(one)}
    return [row for name, row in rows.items() if name not in pooled] if stratified else []


def _disparity_table(title: str, head: str, found: list[DisparityChange]) -> list[tree.Block]:
    """Return disparities before and after: a row for each group or feature."""
    metrics = {one.metric: one.definition for one in found}
    if not metrics:
        return []
    by_row: dict[str, dict[str, DisparityChange]] = {}
    for one in found:
        of = change_words.scope_words(one.scope, one.class_scope, one.threshold)
        by_row.setdefault(f"{_of_whom(one)}{of}", {})[one.metric] = one
    columns = (
        tree.Column(head, numeric=False),
        *(tree.Column(_heading(m)) for m in metrics.values()),
    )
    rows = [
        (tree.Cell(name, name=True), *(_disparity_cell(changes.get(metric)) for metric in metrics))
        for name, changes in by_row.items()
    ]
    notes = "   ".join(_table_notes(found))
    return [
        tree.Table(title, columns, tuple(rows[:_MOST_ROWS]), notes=(notes,)),
        *more_in_json(rows, _MOST_ROWS),
    ]


def _table_notes(found: list[DisparityChange]) -> Iterator[str]:
    """Yield what the numbers and marks of a table of disparities mean."""
    units = {unit(one.definition) for one in found}
    references = {one.reference for one in found if one.reference is not None}
    reference = called(reference_name(*references)) if len(references) == 1 else ""
    if units == {tree.Unit.POINTS}:
        of = {getattr(one.definition, "order", "") for one in found} == {"group - reference"}
        above = ": above 0 it happens more often to the group" if of else ""
        yield f"Differences{reference and f' from {reference}'} in percentage points{above}"
    else:
        if tree.Unit.POINTS in units:
            yield "Differences of rates in percentage points, all others without a unit"
        if reference:
            yield f"Compared with {reference}"
    yield "* statistically significantly closer or further (adjusted)"
    if any(map(_is_outside, found)):
        yield f"{_OUTSIDE} not tested: the disparity adjusted for the strata is tested instead"
    sparse = [one.reason for one in found if one.status is Status.TOO_FEW]
    if sparse:
        yield f"? {insufficiency(sparse)}"


def _is_outside(one: DisparityChange) -> bool:
    """Return whether a disparity is no part of the verdict: its adjusted one is."""
    tested = one.p_value is not None and one.status is Status.OK
    single = one.scope.kind is ScopeKind.OVERALL and one.class_scope.is_single
    return tested and single and one.p_adjusted is None


def _of_whom(one: DisparityChange) -> str:
    """Return a group with its feature; the feature alone of a metric of all its groups."""
    of_feature = _is_of_all_groups(one) and one.feature is not None
    return called(one.feature) if of_feature else _who(one)


def _who(one: DisparityChange | RateChange | Reclassified) -> str:
    """Return a group with its feature; "overall" of all rows."""
    return "overall" if one.feature is None else f"{called(one.group)} ({called(one.feature)})"


def _heading(metric: Metric) -> str:
    """Return the head of a column: the rate that is compared, and "ratio" where it is one."""
    rate = compared_rate(metric)
    if rate is None or metric.set != "native":
        return metric_words(metric)
    return (
        rate_heading(rate) if unit(metric) is not tree.Unit.RATIO else f"{rate_heading(rate)} ratio"
    )


def _disparity_cell(one: DisparityChange | None) -> tree.Cell:
    if one is None:
        return tree.Cell("")
    if one.old is None or one.new is None:
        return tree.Cell("-")
    mark = "?" if one.status is Status.TOO_FEW else "*" if one.significant else ""
    mark = _OUTSIDE if _is_outside(one) else mark
    tone = tree.Tone.PLAIN
    if one.significant:
        tone = tree.Tone.GOOD if one.direction is Direction.CLOSER else tree.Tone.BAD
    return tree.Cell(f"{change_words.before_after(one)}{mark}", tone=tone)


def _newly(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is newly decided; nobody is accepted where a positive decision is a harm."""
    if favourable_of(spec) is not Favourable.NEGATIVE:
        return "accepted", "rejected"
    stated = {"positive", "negative"} & set(spec.get("words") or {})
    first, second = (rate.heading for rate in harm_in_words(spec)) if stated else _OUTCOMES
    return first, second


_OUTCOMES = ("positive", "negative")


def _reclassified_table(each: Candidate, spec: Mapping[str, Any]) -> list[tree.Block]:
    """Return who is decided differently: of all rows of a group, and of those of each label."""
    found = each.reclassified
    if not found:
        return []
    groups: dict[tuple[str | None, str, float | None], dict[str, Reclassified]] = {}
    for one in found:
        groups.setdefault((one.feature, one.group, one.threshold), {})[one.among] = one
    among = [label for label in ("all", "positive") if any(one.among == label for one in found)]
    among_whom = {"all": "", "positive": "positives "}
    columns = [
        tree.Column("who changes", numeric=False),
        tree.Column("weighted n" if spec.get("weight") else "n"),
    ]
    accepted, rejected = _newly(spec)
    for label in among:
        columns.append(tree.Column(f"{among_whom[label]}newly {accepted}"))
        columns.append(tree.Column(f"{among_whom[label]}newly {rejected}", joined=True))
    rows: list[tuple[tree.Cell, ...]] = []
    totals: list[tuple[tree.Cell, ...]] = []
    for (feature, _, threshold), by_label in groups.items():
        at = "" if threshold is None else f", threshold {threshold:g}"
        everyone = by_label["all"]
        n, _, _ = _people(everyone)
        cells = [tree.Cell(f"{_who(everyone)}{at}", name=True), tree.Cell(numbers.count(n))]
        for label in among:
            n, gained, lost = _people(by_label[label])
            cells += [tree.Cell(_part(gained, n)), tree.Cell(_part(lost, n))]
        (totals if feature is None else rows).append(tuple(cells))
    return [tree.Table("Who changes", tuple(columns), tuple(rows[:_MOST_ROWS]), tuple(totals))]


def _people(one: Reclassified) -> tuple[float, float, float]:
    """Return who there is, who is accepted and who is rejected instead; by weight if weighted."""
    weighted = (one.weighted_n, one.weighted_gained, one.weighted_lost)
    n, gained, lost = (
        rows if weight is None else weight
        for rows, weight in zip((one.n, one.gained, one.lost), weighted, strict=True)
    )
    return n, gained, lost


def _part(some: float, of: float) -> str:
    return f"{numbers.count(some)} ({some / of:.1%})" if of else numbers.count(some)


def _details(place: int, each: Candidate) -> tree.Section:
    """Return the charts of all disparities and rates of a candidate."""
    blocks: list[tree.Block] = []
    by_metric: dict[str, list[DisparityChange]] = {}
    for one in each.disparities:
        if one.change is not None:
            by_metric.setdefault(one.metric, []).append(one)
    for changes in by_metric.values():
        metric = changes[0].definition
        kind = tree.Unit.RATIO if changes[0].by == "ratio" else unit(metric)
        rows = tuple(_change_row(one) for one in changes[:_MOST_ROWS])
        title = f"Change of {metric_words(metric)}"
        blocks.append(tree.Chart(title, rows, kind, 1.0 if changes[0].by == "ratio" else 0.0))
    by_rate: dict[str, list[RateChange]] = {}
    for rate in each.rates:
        if rate.change is not None:
            by_rate.setdefault(rate.rate, []).append(rate)
    for rates in by_rate.values():
        name = rates[0].definition
        rows = tuple(_rate_row(one) for one in rates[:_MOST_ROWS])
        blocks.append(
            tree.Chart(f"Change of {name.title}", rows, change_words.rate_unit(name), 0.0)
        )
    missing = [*dict.fromkeys(
        f"{_subject(one) if one.status is Status.UNDEFINED else _metric(one)}: "
        f"{describe_reason(one.reason)}."
        for one in each.disparities
        if one.change is None and one.reason is not None
    )]  # fmt: skip
    if missing:
        blocks.append(tree.Items(tuple(map(printable, missing[:_MOST_ROWS]))))
        blocks += more_in_json(missing, _MOST_ROWS)
    return tree.Section(f"details-{place}", called(each.name), tuple(blocks), folded=True)


def _change_row(one: DisparityChange) -> tree.ChartRow:
    of = change_words.scope_words(one.scope, one.class_scope, one.threshold)
    ends = change_words.change_ci_words(one)
    return tree.ChartRow(
        f"{_of_whom(one)}{of}",
        tree.mark_of(one.change, one.interval, sparse=one.status is Status.TOO_FEW),
        change_words.change_words(one),
        below="; ".join(
            filter(None, [change_words.before_after(one), ends, _tested(one), _few(one)])
        ),
    )


def _rate_row(one: RateChange) -> tree.ChartRow:
    of = change_words.scope_words(one.scope, one.class_scope, one.threshold)
    kind = change_words.rate_unit(one.definition)
    old, new = (rate_text(one.definition, value) for value in (one.old, one.new))
    ends = ci_words(one.interval, kind, sign=True)
    p_value = numbers.probability(one.p_value)
    return tree.ChartRow(
        f"{_who(one)}{of}",
        tree.mark_of(one.change, one.interval, sparse=one.status is Status.TOO_FEW),
        with_unit(one.change, kind, sign=True),
        below="; ".join(
            filter(None, [f"{old} {change_words.ARROW} {new}", ends, p_value, _few(one)])
        ),
        emphasis=one.feature is None,
    )


def _few(one: DisparityChange | RateChange) -> str:
    few = one.status is Status.TOO_FEW and one.reason is not None
    return why_insufficient(one.reason) if few else ""
