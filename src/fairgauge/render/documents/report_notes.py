"""What documents of several kinds state: warnings, what is missing, methods, and the source."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.enums import CandidateVerdict, DiagnosticCode, IntervalMethod, Level, Outcome, Status
from fairgauge.question.options import flags_of
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import describe_diagnostic, describe_reason, english, spoken
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.metric_words import metric_words
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import ShownResult

if TYPE_CHECKING:
    from fairgauge.results.comparison import Change
    from fairgauge.results.gap_decomposition import Decomposition
    from fairgauge.results.subgroup_search import SubgroupSearch

    Asked: TypeAlias = Report | SubgroupSearch | Decomposition | Change

_MOST_NAMED, _MOST_WARNINGS, _TWO = 3, 3, 2
_ELSEWHERE = (
    DiagnosticCode.EXCLUDED, DiagnosticCode.WITHIN_STRATA, DiagnosticCode.DISAPPEARS,
    DiagnosticCode.NOT_SIGNIFICANT_ADJUSTED,
)  # fmt: skip
"""What the table of excluded rows and the first page show."""


def missing_values(estimates: Iterable[Estimate]) -> list[str]:
    """Return why estimates have no value, one line for each reason."""
    g, folded = spoken(), dict[str, list[Estimate]]()
    for each in estimates:
        reason = describe_reason(each.reason)
        if each.status is Status.TOO_FEW:
            reason = ": ".join(filter(None, [g.insufficient(()), reason]))
        folded.setdefault(reason, []).append(each)
    lines = []
    for reason, found in folded.items():
        metrics = list(dict.fromkeys(metric_words(e.definition) for e in found))
        groups = list(dict.fromkeys(called(e.group) for e in found if e.group is not None))
        facts: dict[str, object] = {"metrics": metrics, "groups": groups, "why": printable(reason)}
        lines.append(g.say("without_value", "text", most=_MOST_NAMED, **facts) or "")
    return lines


def report_notes(report: Report) -> list[str]:
    """Return the notes of a report, warnings first; some stand elsewhere.

    Of two groups, one test of all groups is the test of their difference.
    """
    sizes = Counter(feature for feature, _ in {(e.feature, e.group) for e in report.groups})
    return note_lines(
        each
        for each in report.diagnostics
        if each.code not in _ELSEWHERE
        and not (each.code is DiagnosticCode.HOMOGENEITY and sizes[each.feature or ""] <= _TWO)
    )


def report_warnings(notes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the warnings among the notes of a result, those about the whole of it first."""
    return sorted((each for each in notes if each.level is Level.WARNING), key=_gravity)


def _gravity(each: Diagnostic) -> tuple[bool, bool, float]:
    # the place of a note: warnings first, of one kind those of most rows first
    warns = each.level is Level.WARNING
    rows = each.get("cases") or each.get("rows") or each.get("people")
    counted = rows if warns and isinstance(rows, int | float) else math.inf
    return not warns, each.feature is not None, -counted


def opening_warnings(warnings: Sequence[Diagnostic]) -> list[str]:
    """Return the gravest of some warnings, of each kind one first, and count the others."""
    ordered = sorted(warnings, key=_gravity)
    of_kinds = {each.code: each for each in reversed(ordered)}
    ordered.sort(key=lambda each: of_kinds[each.code] is not each)
    opening = note_lines(ordered[:_MOST_WARNINGS])
    if (more := len(warnings) - _MOST_WARNINGS) > 0:
        opening.append(spoken().say("read", "more_warnings", n=more) or "")
    return opening


def note_lines(notes: Iterable[Diagnostic]) -> list[str]:
    """Return notes as they stand in a list, the gravest first."""
    lines = []
    for each in sorted(notes, key=_gravity):
        warning = spoken().terms["warning"] if each.level is Level.WARNING else ""
        where = called(each.feature) if each.feature else ""
        line = ": ".join(filter(None, [warning, where, printable(describe_diagnostic(each))]))
        # a column keeps its own spelling, also where it opens the line
        lines.append(f"{line if where else capitalised(line)}.")
    return lines


def size_notes(report: Report) -> str:
    """Return what n counts beside the rates of groups: every row of a group."""
    data, g = report.data.excluded, spoken()
    missing = [of for of in ("label", "prediction", "score") if data.get(f"missing {of}")]
    return (g.say("sizes", "text", missing=missing) or "") if missing else ""


TONES = {
    Outcome.PASS: tree.Tone.GOOD,
    Outcome.FAIL: tree.Tone.BAD,
    Outcome.INCONCLUSIVE: tree.Tone.UNSURE,
    Outcome.NOT_EVALUATED: tree.Tone.UNSURE,
    Outcome.NONE: tree.Tone.PLAIN,
    CandidateVerdict.DOMINATES: tree.Tone.GOOD,
    CandidateVerdict.TRADE_OFF: tree.Tone.UNSURE,
    CandidateVerdict.WORSE: tree.Tone.BAD,
    CandidateVerdict.CANNOT_TELL: tree.Tone.UNSURE,
    "differs": tree.Tone.BAD,  # of swapped names, of which no audit loads the verdicts
    "equivalent": tree.Tone.GOOD,
}
"""How outcomes are meant; that of rules is none without them, and of what a rule ignores."""


def repeat_blocks(result: Asked, fingerprint: str, verb: str) -> Iterator[tree.Block]:
    """Yield where the numbers come from, how to make them again, and room for signatures.

    ``fingerprint``: the digest of the counts, empty where the result has none.
    ``verb``: the command that makes such a result.
    """
    line, saved = repetition(result, verb)
    facts = {"source": called(result.data.source), "fingerprint": fingerprint}
    yield from record_blocks(result, facts, line, saved=saved)


def record_blocks(
    result: ShownResult, facts: Mapping[str, str], line: str, **how: object
) -> Iterator[tree.Block]:
    """Yield facts of where numbers come from, the command that repeats them, and signatures."""
    g, words = spoken(), spoken().terms["record"]
    known = {**facts, "with": f"fairgauge {result.version}", "at": result.created}
    yield tree.Facts(tuple((words[k], printable(text)) for k, text in known.items() if text))
    yield tree.Heading(g.say("repeat", "text", **how) or "")
    yield tree.Code(printable(line))
    yield tree.SignOff()


_SPELT = {"mover": "MOVER", "delong": "DeLong"}


def method_name(method: IntervalMethod) -> str:
    """Return a method as it is called in a table.

    >>> method_name(IntervalMethod.NEWCOMBE), method_name(IntervalMethod.STUDENT_T)
    ('Newcombe', 'Student t')
    """
    first, *others = str(method).split("_")
    return " ".join([_SPELT.get(first, first.capitalize()), *others])


def described_methods(report: Report) -> list[dict[str, object]]:
    """Return the methods of the confidence intervals of a report: name, text, and used for what."""
    g, texts = spoken(), english().table["method"]
    made = [(each.interval, metric_words(each.definition)) for each in report.estimates]
    rates = (rate for group in report.groups for rate in group.rates.values())
    made += [(rate.interval, g.say("method", "rates_of_groups") or "") for rate in rates]
    of_pairs = g.say("method", "pairs_of_groups") or ""
    made += [(pair.difference_interval, of_pairs) for pair in report.pairs]
    used: dict[IntervalMethod, dict[str, None]] = {}
    for interval, of in made:
        for method in interval.methods if interval else ():
            used.setdefault(method, {})[of] = None
    named = ((method, g.listing([*of])) for method, of in used.items())
    return [{"name": method_name(by), "text": texts[by], "used": of} for by, of in named]


_FILE = re.compile(r"[./]")
NO_FILE = "DATA"
"""What stands in a command for data that are not in a file."""


def repetition(result: Asked, verb: str = "audit") -> tuple[str, str | None]:
    """Return the command line that makes a result again.

    Where flags cannot ask all of it, the command is of a specification file, which is the second.
    """
    flags, saved = flags_of(result.spec), None
    if flags is None:
        saved = f"{verb}.json"
        flags = ["-c", saved]
    source = result.data.source
    data = source if _FILE.search(source) and " " not in source else NO_FILE
    return shlex.join(["fairgauge", verb, data, *flags]), saved
