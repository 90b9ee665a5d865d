"""The documents of two reports and of two models: verdicts, disparities, rates, data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.comparisons import Metric, is_of_all_groups
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import CandidateVerdict, Favourable, Outcome, Status, Turn, Uncounted
from fairgauge.question.options import BY_NAME
from fairgauge.question.rules import limits_of
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import (
    document_of,
    listed,
    more_in_json,
    repeat_blocks,
    table_of_rows,
)
from fairgauge.render.documents.report_notes import note_lines, opening_warnings, report_warnings
from fairgauge.render.page import told
from fairgauge.render.streams import flat
from fairgauge.render.words import numbers
from fairgauge.render.words.change_words import (
    ARROW,
    DIRECTIONS,
    describe_rate_shift,
    rate_unit,
    scope_words,
    shift_words,
    sides_words,
)
from fairgauge.render.words.display_names import called, capitalised, file_of, printable
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_ci,
    metric_value,
    metric_words,
    neutral,
    rate_text,
    unit,
    with_unit,
)
from fairgauge.render.words.question_sentences import OUTCOMES, caveat, counts_people, unit_of
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.render.words.verdict_sentences import (
    class_or_threshold,
    describe_evidence,
    outcome_word,
    verdict_word,
)
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import (
    Alone,
    Comparison,
    Difference,
    ModelComparison,
    Origin,
    Reclassified,
    VerdictChange,
    sort_changes,
)
from fairgauge.results.disadvantage import favourable_of
from fairgauge.statements.models import candidate_statements, changes_shown

_MOST_NAMED = 5
_MOST_CHANGES = 100
_MOST_ROWS, _MOST_DRAWN = 200, 6
_TONES = {
    Turn.WORSE: tree.Tone.BAD,
    Turn.BETTER: tree.Tone.GOOD,
    Turn.OTHER: tree.Tone.UNSURE,
    None: tree.Tone.PLAIN,
}
_VERDICTS = {CandidateVerdict.DOMINATES: "better, within all margins"}
"""Verdicts in other words than those of programs."""
_VERDICT_TONES = {
    CandidateVerdict.DOMINATES: tree.Tone.GOOD,
    CandidateVerdict.TRADE_OFF: tree.Tone.UNSURE,
    CandidateVerdict.WORSE: tree.Tone.BAD,
    CandidateVerdict.CANNOT_TELL: tree.Tone.UNSURE,
}
METHOD = (
    "{intervals} A ratio changes by a ratio. That a disparity changed, that it is further from no "
    "difference or closer to it, and that it changed sides are three questions, each with p-values "
    "of its own that are adjusted for all changes (Holm); a disparity is closer or further where "
    "the change and the side on which it lies are both statistically significant."
)
"""How a change is tested."""
_OF_REPORTS = (
    "The confidence interval of a change is MOVER's of the two intervals (Zou and Donner 2008). "
    "{rows} The p-values invert these intervals; two groups that are each other's reference are "
    "one comparison. Each answer takes enough data in both reports."
)
_INDEPENDENT = "It assumes that the two reports are of different, independent rows."
_OF_THE_SAME = (
    "Of the same rows it is the widest that any correlation of the two estimates gives (Zou 2007), "
    "and stated only where it shows a change."
)
_OF_MODELS = (
    "Both models decide the same rows, so every change has a paired confidence interval: Tango's "
    "of a difference of paired proportions, Tang's of a ratio; where the denominator depends on "
    "the decisions, MOVER's with the correlation of both models. A disparity changes by the "
    "difference of two such changes (MOVER)."
)
_MARGINS = (
    "A candidate is as good where the whole interval of the change is within the margin, in every "
    "rate with a margin, adjusted for the number of candidates. It dominates (“better, within all "
    "margins”) where, besides, at least one disparity is closer, and of every disparity the whole "
    "interval of the change of its distance from no difference, and of every group's own rate the "
    "whole interval of its change, is within the margin: what could not be tested is not passed "
    "over."
)


def comparison_document(comparison: Comparison, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a comparison of two reports."""
    del full  # it has no summary
    old, new = comparison.old, comparison.new
    rows = _INDEPENDENT if comparison.refused is None else _OF_THE_SAME
    method = METHOD.format(intervals=_OF_REPORTS.format(rows=rows))
    sections = [
        listed("asked", "Asked differently", *_differences(comparison), short="Question"),
        listed("verdicts", "Verdicts", *_verdicts(comparison)),
        listed("disparities", "Disparities", *_disparities(comparison.changes, comparison)),
        listed("alone", "In one report only", *_alone(comparison), short="One report only"),
        listed("data", "Data", *_data(comparison)),
        *([] if comparison.why_untested else [listed("method", "Method", tree.Paragraph(method))]),
    ]
    judged = {old.verdict, new.verdict} != {Outcome.NONE}
    before, after = (outcome_word(each.verdict).upper() for each in (old, new))
    verdict = f"{before} {ARROW} {after}" if judged else ""
    if judged and before == after:
        verdict = f"{after} in both reports" if comparison.incomplete else f"{after}, as before"
    return document_of(
        comparison,
        title="Comparison of two fairness audits",
        beside=f"{_origin_name(old)} {ARROW} {_origin_name(new)}",
        verdict=verdict,
        tone=_TONES[comparison.turn],
        warnings=opening_warnings(report_warnings(comparison.diagnostics)),
        sections=sections,
        file_name="comparison",
    )


def _origin_name(origin: Origin) -> str:
    """Return what a report is called: its file, or what was audited."""
    return called(origin.name) if origin.name else file_of(origin.source)


def _units(comparison: Comparison) -> tuple[str, str]:
    """Return what each of the two reports counts: people, or the cases that rows stand for."""
    new = comparison.spec
    old = {**new, **{each.key: each.old for each in comparison.differences}}
    first, second = ("people" if counts_people(each) else "cases" for each in (old, new))
    return first, second


def _differences(comparison: Comparison) -> Iterator[tree.Block]:
    if comparison.differences:
        pairs = (
            (called(each.key), _settings(each) + (f" ({each.says})" if each.says else ""))
            for each in comparison.differences
        )
        yield tree.Facts(tuple(pairs))


def _settings(each: Difference) -> str:
    """Return both settings as the command line has them, and whole where these are alike."""
    old, new = (_setting(each.key, side) for side in (each.old, each.new))
    if old == new:  # a rule is written without how it is decided
        old, new = (called(json.dumps(side, ensure_ascii=False)) for side in (each.old, each.new))
    return f"{old} {ARROW} {new}"


def _verdicts(comparison: Comparison) -> Iterator[tree.Block]:
    if comparison.flips:
        yield tree.Section("flips", "Verdicts that changed", tuple(_flip_charts(comparison)))
    if comparison.unmatched:
        title = "Verdicts of one report only"
        yield tree.Section("unmatched", title, tuple(_unmatched(comparison)))


def _unmatched(comparison: Comparison) -> Iterator[tree.Block]:
    """Yield the verdicts without a counterpart, each with the reason."""
    rows = []
    for each in comparison.unmatched[:_MOST_ROWS]:
        verdict = each.verdict
        rule = written_rule_words(verdict.rule, verdict.definition)
        of = _of_group(verdict.definition, verdict.feature, verdict.group)
        text = f"{verdict_word(verdict.outcome)} for {of}, {rule}; {describe_reason(each.reason)}"
        rows.append((f"{each.report} report", text))
    yield tree.Facts(tuple(rows))
    yield from more_in_json(comparison.unmatched, _MOST_ROWS)


def _flip_charts(comparison: Comparison) -> Iterator[tree.Block]:
    """Yield a chart for each rule: the old value and the new one, and the range it allows."""
    by_rule: dict[tuple[str, str], list[VerdictChange]] = {}
    for each in comparison.flips[:_MOST_ROWS]:
        by_rule.setdefault((each.new.rule, each.new.metric), []).append(each)
    for (text, _), found in by_rule.items():
        definition = found[0].new.definition
        yield tree.Chart(
            capitalised(written_rule_words(text, definition)),
            tuple(map(_flip, found)),
            unit(definition),
            neutral(definition),
            allowed=limits_of(text),
        )
    yield from more_in_json(comparison.flips, _MOST_ROWS)


def _flip(each: VerdictChange) -> tree.ChartRow:
    old, new = each.old, each.new
    before, after = (metric_value(new.definition, side.value) for side in (old, new))
    if (old.class_scope, old.threshold) != (new.class_scope, new.threshold):
        before, after = (
            f"{value} ({which})" if (which := class_or_threshold(side)) else value
            for value, side in ((before, old), (after, new))
        )
    shift = f"{before} {ARROW} {after}"
    ends = metric_ci(new.definition, new.interval)
    values = ", ".join(filter(None, [shift, ends]))
    return tree.ChartRow(
        _of_group(new.definition, new.feature, new.group),
        tree.mark_of(new.value, new.interval, sparse=new.outcome is Outcome.NOT_EVALUATED),
        f"{verdict_word(old.outcome)} {ARROW} {verdict_word(new.outcome)}",
        below=printable(f"{values}; {describe_evidence(new)}"),
        badge=str(each.turn),
        tone=_TONES[each.turn],
        before=tree.mark_of(old.value, old.interval, sparse=old.outcome is Outcome.NOT_EVALUATED),
    )


def _disparities(
    every: Sequence[DisparityChange], comparison: Comparison | ModelComparison, place: str = ""
) -> Iterator[tree.Block]:
    """Yield what became of disparities, those that changed significantly first."""
    if not every:
        return
    changes = sort_changes(every)
    refused = isinstance(comparison, Comparison) and comparison.why_untested is not None
    mirrored = list(dict.fromkeys(called(e.group) for e in changes.mirrored if e.group))
    if mirrored:
        names = numbers.listing(mirrored, most=_MOST_NAMED)
        yield tree.Paragraph(
            f"Excluded, because the other group mirrors it: {names}.", tree.Tone.SOFT
        )
    apart = "but not statistically significant in distance from no difference"
    titles = (
        ("Further from no difference, statistically significant", changes.further),
        ("Closer to no difference, statistically significant", changes.closer),
        (f"Changed, statistically significant, {apart}", changes.changed),
        ("Not statistically significant", changes.moved),
        ("Changed" if refused else "Not tested", changes.untested),
    )
    for i, (title, found) in enumerate(titles):
        if found:
            blocks = tuple(_charts(found, favourable_of(comparison.spec)))
            yield tree.Section(f"changes-{place}{i}", title, blocks, folded=i == 3)
    if changes.undefined:
        reasons = [f"{_subject(each)}: {_because(each)}." for each in changes.undefined]
        items = tree.Items(tuple(dict.fromkeys(reasons))[:_MOST_ROWS])
        title = "With one value only"
        yield tree.Section(f"undefined{place}", title, (items,), folded=True)
    missing = [one for one in every if one.old is None and one.new is None and one.reason]
    if missing:
        reasons = list(dict.fromkeys(f"{_subject(one)}: {_because(one)}." for one in missing))
        yield tree.Items(tuple(reasons[:_MOST_ROWS]))
        yield from more_in_json(reasons, _MOST_ROWS)


def _charts(changes: Sequence[DisparityChange], favourable: Favourable) -> Iterator[tree.Block]:
    """Yield a chart for each metric: the old value and the new one of every group."""
    by_metric: dict[str, list[DisparityChange]] = {}
    for each in changes[:_MOST_CHANGES]:
        by_metric.setdefault(each.metric, []).append(each)
    for found in by_metric.values():
        metric = found[0].definition
        yield tree.Chart(
            capitalised(metric_words(metric)),
            tuple(_change_row(each, favourable) for each in found),
            unit(metric),
            neutral(metric),
        )
    yield from more_in_json(changes, _MOST_CHANGES)


def _change_row(each: DisparityChange, favourable: Favourable) -> tree.ChartRow:
    old, new = (metric_value(each.definition, value) for value in (each.old, each.new))
    stated = (shift_words(each), _direction(each, favourable), _evidence(each), *_untested(each))
    return tree.ChartRow(
        _group(each),
        tree.mark_of(each.new, each.new_interval, sparse=each.status is not Status.OK),
        f"{old} {ARROW} {new}",
        below="; ".join(filter(None, stated)),
        before=tree.mark_of(each.old, each.old_interval, sparse=each.status is not Status.OK),
    )


_OF_ALL_CHANGES = (ReasonCode.SAME_ROWS, ReasonCode.ASKED_DIFFERENTLY)
"""Reasons that are stated once, because no change of the comparison is tested."""


def _untested(each: DisparityChange) -> Iterator[str]:
    """Yield why a change was not tested, where that is of this change alone."""
    if not each.untested:
        return
    if each.reason is not None and each.reason.code not in _OF_ALL_CHANGES:
        yield f"not tested: {_because(each)}"


def _direction(each: DisparityChange, favourable: Favourable) -> str:
    if each.direction is None:
        return ""
    p_value = numbers.probability(each.p_adjusted, "adjusted p")
    words = f"{DIRECTIONS[each.direction]}{f' ({p_value})' if each.significant else ''}"
    return "; ".join(filter(None, [sides_words(each, favourable), words]))


def _evidence(each: DisparityChange) -> str:
    """Return what is compared, before and after, and the p-value."""
    compared = ""
    if each.before is not None:
        compared = _furthest(each) if is_of_all_groups(each.definition) else _rates(each)
    return "; ".join(
        filter(
            None,
            [compared, numbers.probability(each.change_p_adjusted, "adjusted p of the change")],
        )
    )


def _rates(each: DisparityChange) -> str:
    """Return the two rates that are compared, before and after, each report's with its reference.

    ``recall 80.0% → 75.0%, others 82.0% → 81.0%``; with another reference in each report,
    ``recall 80.0% (others 82.0%) → 75.0% (Male 81.0%)``.
    """
    rate = compared_rate(each.definition)
    first, second = each.before, each.after
    if rate is None or first is None or second is None:
        return ""
    sides = (first.rate_group, second.rate_group, first.rate_reference, second.rate_reference)
    if None in sides:
        return ""
    old, new, old_other, new_other = (rate_text(rate, side) for side in sides)
    before, after = (called(reference_name(e.reference)) for e in (first, second))
    if before == after:
        return f"{rate.title} {old} {ARROW} {new}, {after} {old_other} {ARROW} {new_other}"
    return f"{rate.title} {old} ({before} {old_other}) {ARROW} {new} ({after} {new_other})"


def _furthest(each: DisparityChange) -> str:
    """Return the groups that a metric of all groups comes from, before and after."""
    old, new = (
        numbers.listing(
            [called(name) for name in (side.group, side.reference and side.reference.group) if name]
        )
        for side in (each.before, each.after)
        if side is not None
    )
    words = "group" if is_of_one_group(each.definition) else "groups furthest apart:"
    return f"{words} {new}, as before" if old == new else f"{words} {old} {ARROW} {new}"


def _because(each: DisparityChange) -> str:
    reason = describe_reason(each.reason) if each.reason else "no value"
    return printable(reason)


def _subject(each: DisparityChange) -> str:
    return f"{metric_words(each.definition)}, {_group(each)}"


def _group(each: DisparityChange) -> str:
    """Return what a change is about: ``Female (sex), in A``, where A is a stratum."""
    who = _of_group(each.definition, each.feature, each.group)
    return who + scope_words(each.scope, each.class_scope, each.threshold)


def _of_group(metric: Metric | Statistic, feature: str | None, group: str | None) -> str:
    """Return what a metric is of: ``Female (sex)``, ``all groups (sex)`` or ``all rows``."""
    if feature is None:
        return "all rows"
    who = "all groups" if is_of_all_groups(metric) else called(group or "no group")
    return f"{who} ({called(feature)})"


def _alone(comparison: Comparison) -> Iterator[tree.Block]:
    if comparison.alone:
        pairs = ((f"{each.report} report", _lacking(each)) for each in comparison.alone)
        yield tree.Facts(tuple(pairs)[:_MOST_ROWS])


def _lacking(each: Alone) -> str:
    if each.what == "reference":
        other = "new" if each.report == "old" else "old"
        reason = describe_reason(Reason.of(ReasonCode.IS_REFERENCE, report=other))
        return f"{_lacking(replace(each, what='group'))}; {reason}"
    of = f" of {called(each.feature)}" if each.feature is not None and each.what == "group" else ""
    counted = "verdicts" if each.what == "rule" else "estimates"
    name = f"{each.what} {called(each.name)}{of}"
    if each.what == "average":
        name = f"{each.name} average over its classes"
    return f"{name} ({numbers.numbered(each.count, counted)})"


def _data(comparison: Comparison) -> Iterator[tree.Block]:
    old, new = comparison.old, comparison.new
    sizes: list[tuple[str, float, float]] = [("rows", old.rows, new.rows)]
    counted = set(_units(comparison))
    unit = "people" if counted == {"people"} else "cases"
    used = "rows" if counted == {"cases"} and not comparison.spec.get("count") else unit
    if (old.cases, new.cases) != (old.rows, new.rows):
        sizes.append((unit, old.cases, new.cases))
    least = ", at least" * (old.used_at_least or new.used_at_least)
    lacking = any(f"missing {of}" in each.excluded for each in (old, new) for of in OUTCOMES)
    complete = "with known outcomes and a group" if lacking else "used"
    sizes.append((f"{used} {complete}{least}", old.used, new.used))
    for reason in dict.fromkeys([*old.excluded, *new.excluded]):
        before, after = old.excluded.get(reason, 0), new.excluded.get(reason, 0)
        if before or after:
            further = reason == Uncounted.SAME_PERSON
            name = "further rows of the same person" if further else f"{used} with a {reason}"
            sizes.append((called(name), before, after))
    yield tree.Table(
        "Rows",
        (tree.Column("rows", numeric=False), tree.Column("old"), tree.Column("new")),
        tuple(
            (tree.Cell(w), tree.Cell(numbers.count(a)), tree.Cell(numbers.count(b)))
            for w, a, b in sizes
        ),
    )
    if comparison.groups:
        yield table_of_rows(
            "Groups",
            comparison.groups[:_MOST_ROWS],
            (
                tree.Column("group", numeric=False),
                lambda each: tree.Cell(f"{called(each.group)} ({called(each.feature)})", name=True),
            ),
            (f"old {unit if unit == 'people' else 'n'}", lambda each: numbers.count(each.old_n)),
            (f"new {unit if unit == 'people' else 'n'}", lambda each: numbers.count(each.new_n)),
            ("old share", lambda each: numbers.percent(each.old_share)),
            ("new share", lambda each: numbers.percent(each.new_share)),
        )


def _setting(key: str, value: object) -> str:
    """Return a setting of a specification as the command line has it."""
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, str) or key not in BY_NAME:
        return called(value)
    return called(", ".join(BY_NAME[key].type.write(value)))


def models_document(comparison: ModelComparison, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of candidates against the model in use."""
    current = called(comparison.current)
    names = numbers.listing([called(each.name) for each in comparison.candidates])
    places = range(len(comparison.candidates))
    sections = [_candidate(place, comparison) for place in places]
    warnings = opening_warnings(report_warnings(comparison.diagnostics))
    others = [line for line in note_lines(comparison.diagnostics) if line not in warnings]
    method = f"{METHOD.format(intervals=_OF_MODELS)} {_MARGINS}"
    every: list[tree.Block] = [_details(place, comparison) for place in places]
    if others:
        every.append(tree.Section("notes", "Notes", (tree.Items(tuple(others)),)))
    every.append(tree.Section("method", "Method", (tree.Paragraph(method),)))
    sections.append(listed("all", "All changes", *every))
    repeat = tuple(
        repeat_blocks(
            comparison, comparison.data.fingerprint, "compare-models", of="comparison of models"
        )
    )
    if full:
        sections.append(listed("provenance", "Provenance", *repeat))
    tones = {_VERDICT_TONES.get(each.verdict, tree.Tone.PLAIN) for each in comparison.candidates}
    rows = max((each.rows for each in comparison.candidates), default=0)
    best = next(i for i, e in enumerate(comparison.candidates) if e.verdict is comparison.verdict)
    return document_of(
        comparison,
        title=f"{names} against {current}",
        beside=numbers.numbered(rows, unit_of(comparison.spec)),
        lead=caveat(comparison.spec),
        warnings=warnings,
        verdict=", ".join(
            f"{called(each.name)}: {_VERDICTS.get(each.verdict, str(each.verdict)).upper()}"
            f"{f' ({describe_reason(each.reason)})' if each.reason else ''}"
            for each in comparison.candidates
            if each.verdict is not CandidateVerdict.NONE
        ),
        tone=tones.pop() if len(tones) == 1 else tree.Tone.PLAIN,
        sections=sections,
        exhibits=_exhibits(comparison),
        file_name="comparison",
        filed=(*sections[best].blocks, tree.Paragraph(method, tree.Tone.SOFT), *repeat)
        if full
        else (),
    )


def _exhibits(comparison: ModelComparison) -> Iterator[tree.Chart]:
    """Yield the differences between groups under both models, those that are stated first."""
    language, rows = told(comparison).language, []
    for s in changes_shown(comparison)[:_MOST_DRAWN]:
        if s.was is None or s.who is None or s.than is None:
            continue
        before, after = (
            (one.rate or 0.0) - (other.rate or 0.0) for one, other in (s.was, (s.who, s.than))
        )
        if s.by == "difference" and (s.value or 0.0) * after < 0:  # as the metric has it
            s, before, after = replace(s, who=s.than, than=s.who), -before, -after
        pair, often = (language.say(code, "text", s) or "" for code in ("pair", "how_often"))
        sizes = f"{language.points(before)} {ARROW} {language.points(after)} pp"
        label = f"{capitalised(pair)}, {often}"
        rows.append(tree.ChartRow(label, tree.Mark(after), sizes, before=tree.Mark(before)))
    if rows:
        note = language.say("apart_chart", "note", facts=changes_shown(comparison)[0].facts)
        title = language.say("apart_chart", "title") or ""
        yield tree.Chart(
            title, tuple(rows), tree.Unit.POINTS, neutral=0.0, notes=tuple(filter(None, [note]))
        )


def _candidate(place: int, comparison: ModelComparison) -> tree.Section:
    each, several = comparison.candidates[place], len(comparison.candidates)
    language, codes = told(comparison).language, () if several > 1 else ("shifted",)
    stated = [
        text
        for s in candidate_statements(comparison, each)
        if not codes or s.code in codes  # of one alone the first page states the others
        for where in ("verdict", "found")
        if (text := language.say(s.code, where, s))
    ]
    blocks: list[tree.Block] = [tree.Items(tuple(stated))] if stated else []
    blocks += _of_significance(place, comparison, significant=True)
    blocks += _reclassified(each.reclassified)
    title = (
        "Changes" if several == 1 else f"{called(each.name)} against {called(comparison.current)}"
    )
    short = title if several == 1 else called(each.name)
    return tree.Section(f"candidate-{place}", title, tuple(blocks), short=short)


def _of_significance(
    place: int, comparison: ModelComparison, *, significant: bool
) -> list[tree.Block]:
    """Return the disparities of a candidate that changed significantly, or all others."""
    every = _disparities(comparison.candidates[place].disparities, comparison, f"{place}-")
    shown = {f"changes-{place}-{i}" for i in range(3)}
    return [
        block
        for block in every
        if (isinstance(block, tree.Section) and block.id in shown) is significant
    ]


def _details(place: int, comparison: ModelComparison) -> tree.Section:
    """Return what did not change significantly, and the rates of all rows and groups."""
    each = comparison.candidates[place]
    by_rate: dict[str, list[RateChange]] = {}
    for one in each.rates:
        if one.change is not None:
            by_rate.setdefault(one.rate, []).append(one)
    charts = [
        tree.Chart(
            f"Change of {rates[0].definition.title}",
            tuple(map(_rate_row, rates[:_MOST_ROWS])),
            rate_unit(rates[0].definition),
            0.0,
        )
        for rates in by_rate.values()
    ]
    blocks = (*_of_significance(place, comparison, significant=False), *charts)
    return tree.Section(f"details-{place}", called(each.name), blocks, folded=True)


def _reclassified(found: Sequence[Reclassified]) -> Iterator[tree.Block]:
    """Yield who is decided differently; those of each label alone are in the JSON."""
    found = [one for one in found if one.among == "all"]
    if not found:
        return
    of_groups: list[tuple[tree.Cell, ...]] = []
    totals: list[tuple[tree.Cell, ...]] = []
    for one in found[:_MOST_ROWS]:
        weighted = one.weighted_n, one.weighted_gained, one.weighted_lost
        n, gained, lost = (
            rows if weight is None else weight
            for rows, weight in zip((one.n, one.gained, one.lost), weighted, strict=True)
        )
        at = "" if one.threshold is None else f", threshold {one.threshold:g}"
        who = "overall" if one.feature is None else f"{called(one.group)} ({called(one.feature)})"
        cells = (
            tree.Cell(f"{who}{at}", name=True),
            *(tree.Cell(numbers.count(each)) for each in (n, gained, lost)),
        )
        (totals if one.feature is None else of_groups).append(cells)
    weight = "weighted n" if found[0].weighted_n is not None else "n"
    columns = [tree.Column("who changes", numeric=False)]
    columns += map(tree.Column, (weight, "newly positive", "newly negative"))
    yield tree.Table("Who changes", tuple(columns), tuple(of_groups), tuple(totals))


def _rate_row(one: RateChange) -> tree.ChartRow:
    kind = rate_unit(one.definition)
    who = "overall" if one.feature is None else f"{called(one.group)} ({called(one.feature)})"
    few = describe_reason(one.reason) if one.status is Status.TOO_FEW and one.reason else ""
    return tree.ChartRow(
        f"{who}{scope_words(one.scope, one.class_scope, one.threshold)}",
        tree.mark_of(one.change, one.interval, sparse=one.status is Status.TOO_FEW),
        with_unit(one.change, kind, sign=True),
        below="; ".join(filter(None, [describe_rate_shift(one), few])),
        emphasis=one.feature is None,
    )


def _rows(comparison: Comparison | ModelComparison) -> Iterator[dict[str, Any]]:
    """Yield every disparity, and every rate of every candidate.

    ``group`` and ``reference`` are those of the new report; the old one may have had others: of a
    metric of all groups, or of a reference that is chosen by the data.
    """
    saved = comparison.to_dict()
    changes: list[tuple[str | None, Any]] = [(None, each) for each in saved.get("changes", ())]
    for candidate in saved.get("candidates", ()):
        every = (*candidate["disparities"], *candidate["rates"])
        changes += [(candidate["name"], each) for each in every]
    for name, fields in changes:
        row: dict[str, Any] = {"candidate": name, "metric": fields.get("rate"), "by": "difference"}
        row |= {"n": fields.get("n_group")} | flat(fields) | flat(fields["interval"] or {})
        before = fields.get("before") or {}
        row |= {"old_group": before.get("group"), "old_reference": before.get("reference")}
        for column, key in (("distance", "distance_adjusted"), ("old", "old_interval"),
                            ("new", "new_interval")):  # fmt: skip
            ends = fields.get(key) or {}
            row |= {f"{column}_{end}": ends.get(end) for end in ("low", "high")}
        yield row


STREAMS = {"rows": _rows}
