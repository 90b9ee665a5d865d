"""What was asked of a report, and how many rows answer it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Missing, ReferenceRule, Uncounted
from fairgauge.identity import name_of_values
from fairgauge.question.specification import Spec, read_spec
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.words.display_names import called, file_of, printable
from fairgauge.render.words.numbers import count, listing
from fairgauge.resolve import resolution
from fairgauge.results.report import Report
from fairgauge.statements.compared import OUTCOMES, asked_conditions, unit_of

if TYPE_CHECKING:
    from fairgauge.results.comparison import Change

_MISSING_CLUSTER = "missing cluster"
_COVER = (
    "organisation", "author", "audit_date", "purpose", "period", "first_used", "source",
    "collected", "notes",
)  # fmt: skip
"""What the cover of a report states, where it is given."""


def _sentence_at(place: str, **facts: object) -> str:
    return spoken().say("asked", place, **facts) or ""


def title(report: Report) -> str:
    """Return what the document of an audit is called where its author gave no title."""
    source = in_words(file_of(report.data.source))
    return spoken().say("read", "title", source=source, **rounding(report)) or ""


def weightless_rows(report: Report) -> str:
    """Return that sizes, which are without weights, do not count rows that carry nothing."""
    some = bool(report.data.excluded.get(resolution.OF_NO_WEIGHT))
    return _sentence_at("weightless", unit=unit_of(read_spec(report.spec))) * some


def rounding(report: Report) -> dict[str, object]:
    """Return to multiples of what counts are rounded, and of how many sites; nothing of exact."""
    found = (d.parameters for d in report.diagnostics if d.code is DiagnosticCode.PROTECTED)
    return dict(next(found, ()))


def rounded_counts(report: Report) -> str:
    """Return that counts are rounded, and how; nothing of exact ones."""
    facts = rounding(report)
    return spoken().say("rounded_counts", "looked", **facts) or "" if facts else ""


def document(report: Report) -> Mapping[str, str]:
    """Return the fields of the cover: title, author, organisation, period and others."""
    return {key: str(value) for key, value in read_spec(report.spec).document.to_dict().items()}


def cover(fields: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what the cover states, with its headings."""
    return [(_word_of_key(key) or key, printable(fields[key])) for key in _COVER if key in fields]


def audited(report: Report) -> list[tuple[str, str]]:
    """Return the data, why rows are excluded, and of the cover what the filing has no place for."""
    stated = {k: value for k, value in document(report).items() if k not in _placed(report)}
    reasons = "; ".join(f"{reason}: {count(rows)}" for reason, rows in excluded(report))
    left_out = [(_sentence_at("rows_excluded"), reasons)] * bool(reasons)
    return [(_sentence_at("data"), called(report.data.source)), *left_out, *cover(stated)]


def _word_of_key(key: str) -> str | None:
    name: str | None = spoken().table["document"].get(key)
    return name if isinstance(name, str) else None


def unstated(report: Report) -> str:
    """Return what the preset asks for and nothing states, but for what its filing has a place for.

    Such a place states itself that nothing is stated.
    """
    found, stated = read_spec(report.spec).preset, document(report)
    asked = found.document if found is not None else ()
    absent = [key for key in asked if key not in {*stated, *_placed(report)}]
    return listing([_word_of_key(key) or _sentence_at("of_data", key=key) for key in absent])


def _placed(report: Report) -> list[str]:
    # the keys of the cover that the template of the filing has a place for
    of = read_spec(report.spec).preset
    return re.findall(r"\bstated\.(\w+)", of.filing if of else "")


def caveat(spec: Spec) -> tuple[str, ...]:
    """Return what readers must know first, whole, where the question states it."""
    stated = spec.document.caveat
    return (f"{spoken().terms['warning']}: {printable(stated)}",) if stated else ()


def incomplete(report: Report) -> list[str]:
    """Return which of label, prediction and score are missing in some rows."""
    return [kind for kind in OUTCOMES if report.data.excluded.get(f"missing {kind}")]


def reference_words(asked: object) -> str:
    """Return what groups are compared with by a rule, in words."""
    words: Mapping[str, str] = spoken().table["asked"]["references"]
    return words.get(str(asked)) or called(asked)


def only_reference(spec: Spec) -> str:
    """Return the reference of every table in few words; where they differ, that it is one."""
    asked = spec.reference
    if isinstance(asked, ReferenceRule):
        return reference_words(asked)
    names = {name_of_values(v) if isinstance(v, tuple) else called(v) for _, v in asked}
    same = len(names) == 1 and {name for name, _ in asked} == spec.audited.keys()
    return next(iter(names)) if same else reference_words("several")


def preset_reference_replaced(spec: Spec) -> bool:
    """Return whether a preset compares with the best group, and another reference was asked for."""
    own = None if spec.preset is None else spec.preset.options.get("reference")
    return own == ReferenceRule.BEST and spec.reference != own


def excluded_why(reason: str, strata: Collection[str] = ()) -> str:
    """Return why rows are excluded, and from what, where that is not everything.

    ``strata``: reasons that exclude rows from the numbers within strata alone.
    """
    some = {f"missing {each}": "needed" for each in OUTCOMES}
    some |= {_MISSING_CLUSTER: "intervals", **dict.fromkeys(strata, "strata")}
    return _sentence_at("excluded_from", reason=reason, of=some.get(reason))


def excluded(report: Report | Change) -> list[tuple[str, int]]:
    """Return the reasons for which rows were excluded, with their numbers, largest first."""
    asked = read_spec(report.spec).strata
    strata = {resolution.missing_stratum(each.column, len(asked)) for each in asked}
    largest = sorted(report.data.excluded.items(), key=lambda each: -each[1])
    kept = ((why, rows) for why, rows in largest if rows and why != Uncounted.SAME_PERSON)
    return [(excluded_why(reason, strata), rows) for reason, rows in kept]


WITHOUT_GROUP = (DiagnosticCode.MISSING_GROUPS, DiagnosticCode.IGNORABLE_MISSING)
"""What states how many rows are in no group of a feature, or are only assumed to be in one."""


def unknown_sentence(report: Report) -> str:
    """Return how many rows, and cases, are in no group of each feature.

    Nothing where a group has a name that usually means a missing value, of which a warning is.
    """
    found = []
    for each in report.diagnostics:
        if each.code in WITHOUT_GROUP and each.feature is not None:
            found.append({"n": each["rows"], "cases": each.get("cases"), "of": each.feature})
        elif each.code is DiagnosticCode.GROUP_NOT_RECORDED and each.feature is not None:
            found.append({"n": each["people"] - each["known"], "of": each.feature, "how": "drawn"})
            if each.get("unplaced") and not each["sampled"]:
                found.append({"n": each["unplaced"], "of": each.feature, "how": "unplaced"})
    spec = read_spec(report.spec)
    as_group = spec.missing is Missing.GROUP
    undecided = [*_undecided_rows(report)]
    markers = (e for e in report.diagnostics if e.code is DiagnosticCode.MISSING_MARKER)
    if not (found or as_group or undecided) and any(not e.get("excluded") for e in markers):
        return ""
    drawn = any("how" in each for each in found)  # counted with rows of no known outcome, too
    facts: dict[str, object] = {"missing": [] if drawn else incomplete(report)}
    facts |= {"unit": unit_of(spec), "undecided": undecided}
    return _sentence_at("unknown", found=found, as_group=as_group, **facts)


def _undecided_rows(report: Report) -> Iterator[dict[str, object]]:
    # where people are counted in place of rows, it is not known
    spec = read_spec(report.spec)
    columns = {column for feature in spec.recorded.values() for column in feature.columns}
    for each in spec.where:
        rows = report.data.excluded.get(resolution.missing_in_condition(each.column), 0)
        if each.column in columns and (rows or (spec.of_people and not each.holds(None))):
            yield {"of": each.column, "n": rows}


def excluded_sentence(report: Report) -> str:
    """Return how many rows are in no row of the tables of a feature: their group is excluded."""
    spec, found = read_spec(report.spec), []
    for column in (each.column for each in spec.sensitive):
        if rows := report.data.excluded.get(resolution.excluded_group(column), 0):
            of_it = [name for name, of in spec.recorded.items() if column in of.columns]
            found.append({"of": of_it, "n": rows})
    facts = {"names": list(spec.exclude_groups), "unit": unit_of(spec)}
    return _sentence_at("excluded", found=found, **facts) * bool(found)


def chosen_rows(result: object) -> tuple[str, ...]:
    """Return which rows were counted, where the question has conditions."""
    if any(getattr(each, "key", None) == "where" for each in getattr(result, "differences", ())):
        return ()  # which a table of what was asked differently states
    facts = asked_conditions(read_spec(getattr(result, "spec", {})))
    return (spoken().say("conditions", "looked", **facts) or "",) if facts else ()
