"""Recodings that diagnostics propose: spellings of one value, no decisions, and what is unknown."""

from __future__ import annotations

from collections.abc import Iterable

from fairgauge.enums import DiagnosticCode
from fairgauge.errors import Problem
from fairgauge.question.category_words import may_be_value
from fairgauge.question.recoding import UNKNOWN, Recodings, read_recodings
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import name_of

_WITH_LINE = (
    DiagnosticCode.SAME_NAMES, DiagnosticCode.UNDECIDED_OUTCOMES, DiagnosticCode.CLASSES_OF_MISSING,
)  # fmt: skip


def proposed_recodings(diagnostics: Iterable[Diagnostic]) -> Recodings:
    """Return the recodings of all diagnostics together; none where two of them contradict."""
    given: list[object] = []
    for each in diagnostics:
        value = name_of(each.get("value"))
        if each.get("options") is False:  # the values are to be corrected in the data
            continue
        if each.code in _WITH_LINE and each.get("line"):
            given.append(each["line"])
        elif each.code is DiagnosticCode.MISSING_MARKER and not may_be_value(value):
            given.append({each.feature: {UNKNOWN: [each["value"]]}})
    problems: list[Problem] = []
    found = read_recodings(given, "recode", problems)
    return () if problems else found
