"""Reports of fairgauge itself: which of their tables are published, and what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairgauge.errors import DataError

_MARKDOWN = re.compile(r"^\*\*Tables to publish\*\*\s*$(.*?)(?=^#|\Z)", re.DOTALL | re.MULTILINE)
_HTML = re.compile(r"<h\d[^<>]*>\s*Tables to publish\s*</h\d>(.*?)(?=<h[123]\b|\Z)", re.DOTALL)
_SUMMARY = re.compile(r"^(\*\*(?:Groups|Gap) of .*)", re.DOTALL | re.MULTILINE)
"""The tables to publish on the first page, which a summary in Markdown has nowhere else."""
_NOT_ALL = re.compile(r"\b[Tt]ables to publish are in the whole report: ")
_TEXT = re.compile(
    r"^Tables to publish\s*$.*^In parentheses: |"
    r"Not\s+shown(\s+\(--full\))?:[^.]*\btables?\s+to\s+publish",
    re.DOTALL | re.MULTILINE,
)
"""A report as text, whole or without what is in the whole one alone."""
_FULL_REPORT = re.compile(r"^## |<section id=\"record\"", re.MULTILINE)
_COUNT = r"(?<![\w.,])\d[\d,]*"
_LACKING = rf"; ({_COUNT}) more lacks? it \(({_COUNT}) in all\)"
_TOGETHER = rf"({_COUNT}) [^()]*\(n\), ({_COUNT}) [^;.]*(?:{_LACKING})?"
_EVERY = re.compile(rf"\(\d[\d.]*% of all ({_COUNT}) ")
"""Of the reason why a group is below a minimum share."""
_UNKNOWN = re.compile(r"Of unknown category[^.]*?: ([^.]*\.)")
_OWN = re.compile(
    r"\A.{0,80}Fairness audit: |\bmade with( \| |</dt><dd>)fairgauge \d|"
    r"^ *A disparity is a measured fact; whether|^<sub>fairgauge \d[\w.]*, \d{4}-\d\d-\d\d</sub>|"
    r"<meta name=\"generator\" content=\"fairgauge \d|"
    r"\A(metric,set,feature,group,reference,|feature,group,reference_kind,scope,)",
    re.MULTILINE,
)
"""What every report begins with, or holds."""
_EXCLUDED = re.compile(r'"exclude_groups": \[\s*[^\]\s]|Excluded groups \(')
"""Of the specification that every report ends with, and of the sentences below the tables."""
_EXCLUDED_GROUP = re.compile(
    rf"<own>: the group (.+?) is excluded \(.+?\): ({_COUNT}) [^,;.]* or score"
    rf"(?:, ({_COUNT}) of them selected)?(?:, (?:weighted )?selection rate ([\d.]+%))?"
    r"(?: at threshold (\S*\d))?"
)
_PROTECTED = re.compile(r"\bprotected counts, which are rounded|Counts are protected: rounded")


_NO_TABLES = (
    "this is a report of fairgauge without tables to publish, and a check reads published tables; "
    "audit with a preset (--preset nyc-ll144), save the report as .md, .html or .xlsx and check "
    "that; a report is held against its counts by fairgauge seal and fairgauge verify"
)
_IN_WHOLE_REPORT = (
    "this is the summary of a report of fairgauge, and tables to publish are in the whole report "
    "alone; save that as .md, .html or .xlsx, and check it"
)
_AS_TEXT = (
    "this is a report of fairgauge as text, which lacks its tables to publish or may break their "
    "columns over several blocks of lines; save the report as .md, .html or .xlsx, and check that"
)
_GAP = "gap, % of "
_ONLY_GAPS = (
    "the tables to publish of this report state gaps in per cent and the people that they are of: "
    "no number in them follows from others, so that nothing can be checked; a report is held "
    "against its counts by fairgauge seal and fairgauge verify"
)


_ROUNDED = (
    "this report of fairgauge is of protected counts, which are rounded at random: no "
    "rate, interval or verdict can be computed from them as from exact ones; those of the "
    "report itself allow for the rounding"
)


def sheets_to_publish(sheets: Sequence[Any]) -> Sequence[Any]:
    """Return the sheet of a workbook of fairgauge that is to be published; none of any other."""
    if sheets[-1].title != "Specification" or sheets[0].title not in ("To publish", "Summary"):
        return ()
    if sheets[0].title == "Summary":
        text = " ".join(str(cell.value) for sheet in sheets for row in sheet.rows for cell in row)
        raise DataError(_why_no_tables(text))
    if any(str(cell.value).startswith(_GAP) for row in sheets[0].rows for cell in row):
        raise DataError(_ONLY_GAPS)
    return sheets[:1]


def tables_to_publish(text: str) -> str:
    r"""Return the part of a report, in Markdown or HTML, that is to be published.

    Any other text is returned whole.

    >>> tables_to_publish("# Audit\n| a |\n\n**Tables to publish**\n\n| b |\n\n## Data").strip()
    '| b |'
    """
    found = _MARKDOWN.search(text) or _HTML.search(text)
    if found is None and (_TEXT.search(text) or _OWN.search(text)):
        found = _SUMMARY.search(copied_pages(text))
        if found is None or _NOT_ALL.search(text):
            raise DataError(_why_no_tables(text))
    if found is not None and _GAP in found[1]:
        raise DataError(_ONLY_GAPS)
    return text if found is None else found[1]


def _why_no_tables(text: str) -> str:
    """Return why a report has no tables to check; no preset gives them to protected counts."""
    if _PROTECTED.search(text):
        return _ROUNDED
    if _NOT_ALL.search(text):
        return _IN_WHOLE_REPORT
    return _AS_TEXT if _TEXT.search(text) else _NO_TABLES


def copied_pages(text: str) -> str:
    """Return the first page of a report, where its tables to publish may stand a second time."""
    return _FULL_REPORT.split(text, maxsplit=1)[0]


class ExcludedGroup(NamedTuple):
    """What a sentence states of a group that is excluded, as printed; empty where it does not."""

    group: str
    n: str
    selected: str
    rate: str
    threshold: str


@dataclass(frozen=True, slots=True)
class OwnStatements:
    """What sentences of a report state of the people of a table, each number once.

    Attributes
    ----------
    together : people of all groups and, of them, the selected.
    lacking : people without a rate, and all people of the groups with them.
    unknown : people of unknown category; empty where no sentence is about these.
    every : all people, excluded groups too, that a minimum is a share of; empty where no group is
        below it.
    excludes : whether the report excludes groups: their people are in the tables of other features,
        and in no intersection.
    excluded : what is stated of each of them.
    """

    together: frozenset[tuple[int, int]]
    lacking: frozenset[tuple[int, int]]
    unknown: frozenset[int]
    every: frozenset[int] = frozenset()
    excludes: bool = False
    excluded: frozenset[ExcludedGroup] = frozenset()


def own_statements(text: str, name: str, names: Sequence[str] = ()) -> OwnStatements:
    """Return what the sentences of a report state of the table of a name.

    ``names`` are those of all its tables: a feature may be called as a part of a sentence is.

    Raises
    ------
    DataError
        The counts are protected, so that nothing can be computed from them as if they were exact.

    >>> text = "Groups of U.S. sex together: 9 people with a known rate (n), 3 selected."
    >>> text += " Of unknown category: 7 people in U.S. sex."
    >>> found = own_statements(text, "Groups of U.S. sex")
    >>> found.together, found.unknown
    (frozenset({(9, 3)}), frozenset({7}))
    """
    if _PROTECTED.search(text):
        raise DataError(_ROUNDED)
    text, name, *names = (" ".join(each.split()) for each in (text, name, *names))
    found = re.findall(rf"{re.escape(name)} together: {_TOGETHER}", text)
    features = [each.removeprefix("Groups of ") for each in {name, *names}]
    for feature in sorted(features, key=len, reverse=True):
        place = "<own>" if feature == name.removeprefix("Groups of ") else "<other>"
        written = {feature, feature[:1].upper() + feature[1:]} - ({*features} - {feature})
        start = rf"(?<!\S)(?:{'|'.join(map(re.escape, written))})(?= ?: the group )"
        text = re.sub(rf"(?<= in ){re.escape(feature)}(?=[,. ])|{start}", place, text)
    unknown = re.compile(rf"({_COUNT}) [^,.:]* in <own>")
    return OwnStatements(
        together=frozenset((_whole(n), _whole(selected)) for n, selected, _, _ in found),
        lacking=frozenset((_whole(more), _whole(every)) for _, _, more, every in found if more),
        unknown=frozenset(
            max((_whole(number) for number in unknown.findall(sentence)), default=0)
            for sentence in _UNKNOWN.findall(text)
        ),
        every=frozenset(map(_whole, _EVERY.findall(text))),
        excludes=bool(_EXCLUDED.search(text)),
        excluded=frozenset(ExcludedGroup(*found) for found in _EXCLUDED_GROUP.findall(text)),
    )


def _whole(text: str) -> int:
    return int(text.replace(",", ""))
