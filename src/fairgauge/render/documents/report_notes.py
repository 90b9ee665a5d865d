"""Notes of a report: warnings, what is missing and why, and excluded rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from fairgauge.enums import ClassKind, DiagnosticCode, Level, Status, Task
from fairgauge.question.features import strata_named
from fairgauge.question.options import flag_of
from fairgauge.question.recoding import plain_recodings
from fairgauge.render.grammar import describe_diagnostic, describe_reason, insufficiency
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.metric_words import compared_rate, metric_words
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.proposed_recodings import proposed_recodings
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.sections import rate_of_sizes, size_beside_rates

_MOST_NAMED = 3
_TWO = 2
MOST_WARNINGS = 3
_GRAVEST_FIRST = (
    DiagnosticCode.LABELS_LATER,
    DiagnosticCode.REVERSED_SCORES,
    DiagnosticCode.REVERSED_PREDICTIONS,
    DiagnosticCode.ONE_LABEL,
    DiagnosticCode.ONE_DECISION,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME,
    DiagnosticCode.PREDICTION_IS_LABEL,
    DiagnosticCode.SENSITIVE_IS_OUTCOME,
    DiagnosticCode.UNFAVOURABLE_POSITIVE,
    DiagnosticCode.CODE_AS_FAVOURABLE,
    DiagnosticCode.SAME_NAMES,
    DiagnosticCode.NOT_RECODED,
    DiagnosticCode.COPIED_FILES,
    DiagnosticCode.DOUBLED_ROWS,
    DiagnosticCode.ASSUMED_POSITIVE,
    DiagnosticCode.LIMITS_THE_BETTER_OFF,
    DiagnosticCode.UNDECIDED_OUTCOMES,
    DiagnosticCode.CLASSES_OF_MISSING,
    DiagnosticCode.APPROVED_AS_REFUSED,
    DiagnosticCode.PREDICTION_NOT_A_LABEL,
    DiagnosticCode.TASK,
    DiagnosticCode.PLACEHOLDER_IDENTIFIER,
    DiagnosticCode.ALIKE_IDENTIFIERS,
    DiagnosticCode.NEVER_REPEATS,
    DiagnosticCode.REPEATED_ID,
    DiagnosticCode.MISSING_MARKER,
    DiagnosticCode.CODED_NUMBERS,
    DiagnosticCode.LIMITS_OUTSIDE_RANGE,
    DiagnosticCode.UNMATCHED,
    DiagnosticCode.PROTECTED,
    DiagnosticCode.NOT_CROSSED,
    DiagnosticCode.NO_PAIRS_CROSSED,
    DiagnosticCode.FEW_PUBLISHED,
    DiagnosticCode.MISSING_COUNTED,
    DiagnosticCode.MISSING_OUTCOMES,
    DiagnosticCode.UNEQUALLY_MISSING,
)
"""Warnings about the whole audit, of outcomes before those of groups, then about its rules and what
it publishes, then of what is missing unevenly; the others are about details."""
_ADJUSTED = {
    DiagnosticCode.DISAPPEARS: "is not shown on average when",
    DiagnosticCode.NOT_SIGNIFICANT_ADJUSTED: "is no longer statistically significant when",
}


def missing_values(estimates: Iterable[Estimate]) -> list[str]:
    """Return why estimates have no value, one line for each reason."""
    folded: dict[tuple[Status, str], list[Estimate]] = {}
    for each in estimates:
        reason = describe_reason(each.reason) if each.reason else str(each.status)
        folded.setdefault((each.status, reason), []).append(each)
    lines = []
    for (status, reason), found in folded.items():
        metrics = numbers.listing(list(dict.fromkeys(metric_words(e.definition) for e in found)))
        groups = list(dict.fromkeys(called(e.group) for e in found if e.group is not None))
        whom = (
            ""
            if status is Status.NOT_APPLICABLE or not groups
            else (f" for {numbers.listing(groups, most=_MOST_NAMED)}")
        )
        words = insufficiency() if status is Status.TOO_FEW else str(status).replace("_", " ")
        lines.append(f"{capitalised(metrics)}: {words}{whom}, because {printable(reason)}.")
    return lines


def report_notes(report: Report) -> list[str]:
    """Return the notes of a report, warnings first; some stand elsewhere.

    These are exclusions, and what differs within strata alone. Of two groups, one test of all
    groups is the test of their difference.
    """
    members: dict[str, set[str]] = {}
    for group in report.groups:
        members.setdefault(group.feature, set()).add(group.group)
    elsewhere = {feature for feature, of in members.items() if len(of) <= _TWO}
    kept = [
        each
        for each in report.diagnostics
        if each.code not in (DiagnosticCode.EXCLUDED, DiagnosticCode.WITHIN_STRATA)
        and not (each.code is DiagnosticCode.HOMOGENEITY and each.feature in elsewhere)
    ]
    kept.sort(key=_gravity)
    found = []
    column = called(strata_named(report.spec.get("strata")) or "the strata")
    for (feature, code), differing in _no_longer_significant(kept).items():
        by_rates: dict[tuple[str, ...], list[str]] = {}
        for name, rates in differing.items():
            by_rates.setdefault(tuple(rates), []).append(called(name))
        listed = "; ".join(
            f"{numbers.listing(names)} in {numbers.listing(rates)}"
            for rates, names in by_rates.items()
        )
        subject = capitalised(f"{called(feature)}: the difference")
        found.append(f"{subject} {_ADJUSTED[code]} adjusted for {column} for {listed}.")
    for each in kept:
        if each.code in _ADJUSTED:
            continue
        found.append(_line(each))
    return found


def report_warnings(notes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the warnings among the notes of a result, those about the whole of it first."""
    kept = (each for each in notes if each.level is Level.WARNING)
    return sorted(kept, key=_gravity)


def _gravity(each: Diagnostic) -> tuple[bool, int, float, bool]:
    """Return the place of a note: warnings first, those that change all numbers before others.

    Of one kind those of most rows are first, where they count rows.
    """
    of_groups = each.code is DiagnosticCode.SAME_NAMES and each.feature is not None
    code = DiagnosticCode.MISSING_MARKER if of_groups else each.code
    place = _GRAVEST_FIRST.index(code) if code in _GRAVEST_FIRST else len(_GRAVEST_FIRST)
    warns = each.level is Level.WARNING
    rows = each.get("cases") or each.get("rows") or each.get("people")
    counted = rows if warns and isinstance(rows, int | float) else math.inf
    return not warns, place, -counted, each.feature is not None


def opening_warnings(warnings: Sequence[Diagnostic]) -> list[str]:
    """Return the gravest of some warnings, which stand before the verdict, and count the others.

    Where they are of values of several columns, one line recodes all of them.
    """
    opening = note_lines(warnings)[:MOST_WARNINGS]
    more = len(warnings) - MOST_WARNINGS
    if more > 0:
        opening.append(f"{more:,} more {numbers.plural(more, 'warning', 'warnings')} in the notes.")
    proposed = proposed_recodings(warnings)
    if len(proposed) > 1:
        flags = flag_of("recode", plain_recodings(proposed))
        opening.append(f"If these values are what they look like, recode them all: {flags}.")
    return opening


def note_lines(notes: Iterable[Diagnostic]) -> list[str]:
    """Return notes as they stand in a list, the gravest first."""
    return [*map(_line, sorted(notes, key=_gravity))]


def _line(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as it stands in a list of notes, with its level and its feature."""
    warning = "Warning: " if diagnostic.level is Level.WARNING else ""
    where = f"{called(diagnostic.feature)}: " if diagnostic.feature else ""
    message = printable(describe_diagnostic(diagnostic))
    return f"{capitalised(f'{warning}{where}{message}')}."


def _no_longer_significant(
    notes: Iterable[Diagnostic],
) -> dict[tuple[str, DiagnosticCode], dict[str, list[str]]]:
    """Return in which rates the difference of a group loses significance, by feature and how.

    The difference, the ratio and a vendor's metric of one rate are one note: that of the first.
    """
    found: dict[tuple[str, DiagnosticCode], dict[str, list[str]]] = {}
    stated: set[tuple[str, str, str]] = set()
    for each in notes:
        if each.code in _ADJUSTED:
            feature, group = each.feature or "all rows", each["group"]
            assert each.definition is not None
            words = metric_words(compared_rate(each.definition) or each.definition)
            if (feature, group, words) not in stated:
                stated.add((feature, group, words))
                found.setdefault((feature, each.code), {}).setdefault(group, []).append(words)
    return found


def partial_rows(report: Report, groups: Iterable[Group]) -> str:
    """Return what n counts beside the rates of groups, where that is not every row of a group."""
    return " ".join([*_counted_beside(report, groups), question.weightless_rows(report)]).strip()


def _counted_beside(report: Report, groups: Iterable[Group]) -> Iterator[str]:
    """Yield what n counts, in tables over all classes and in those of one class."""
    unit, missing = question.unit(report), question.incomplete(report)
    tables: dict[bool, list[Group]] = {}
    for each in groups:
        of_one = report.task is not Task.MULTICLASS or each.class_scope.kind is ClassKind.CLASS
        tables.setdefault(of_one, []).append(each)
    for of_one, held in sorted(tables.items()):
        if not missing and all(e.n == size_beside_rates(e, report.catalogue) for e in held):
            continue
        n = "n" if len(tables) == 1 else "Of one class n" if of_one else "Over all classes n"
        rates = list(dict.fromkeys(name for group in held for name in group.rates))
        if (rate := rate_of_sizes(rates, report.catalogue)) is None:
            yield (
                f"{n} counts all {unit} of a group, those without a "
                f"{numbers.listing(missing, 'or')} included; each rate is of the {unit} that have "
                "what it needs."
            )
        elif of_one:
            others = f"; another rate is of the {unit} that have what it needs" if rates[1:] else ""
            yield f"{n} counts the {unit} of a group that the {rate.title} is of{others}."
        else:
            known = [f"a {kind}" for kind in ("label", "prediction") if report.spec.get(kind)]
            yield f"{n} counts the {unit} of a group with {numbers.listing(known)}."
