"""What each diagnostic casts doubt on: one table, and one function for every verb.

A pass that stands on doubted rows is inconclusive, a fail stays, and no number changes. Fewer rows
than could matter are stated, and withhold nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Level, Outcome
from fairgauge.identity import ValueSet
from fairgauge.inference.missing_values import MANY_MISSING
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.question_checks import depends_on_favourable
from fairgauge.resolve.references import large_groups
from fairgauge.results.doubts import (
    ALIKE,
    APART,
    OF_ONE_PERSON,
    SCORE_APART,
    SPELT,
    UNSTATED,
    Doubt,
    Judged,
)
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import name_of


class _Question(NamedTuple):
    """What is asked of the counts, and of how many cases they are."""

    spec: Spec
    cases: int


def _needs(column: str | None, spec: Spec) -> frozenset[str]:
    """Return the outcome that a column is: of a score without decisions, these as well."""
    if column == spec.label:
        return frozenset({"label"})
    return frozenset({"prediction" if column == spec.prediction else "score"})


def _of_outcome(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    """Yield that rows have no clear outcome."""
    column, rows = note["column"], note.get("rows") or note.get("people") or 0
    role = next(iter(_needs(column, asked.spec)))
    of_decisions = role == "score" and not asked.spec.prediction
    for need in (role, *["prediction"] * of_decisions):
        yield Doubt(f"clear {role}", rows, frozenset({need}))


def _no_label(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    """Yield that predictions of values that no label has may be something else."""
    if unclear := note.get("unclear"):
        yield from _of_outcome(
            Diagnostic.warning(note.code, column=note["column"], rows=unclear), asked
        )


def _of_group(column: str | None, what: str, rows: int, spec: Spec) -> Iterator[Doubt]:
    features = frozenset(name for name, of in spec.recorded.items() if column in of.columns)
    for feature in features:
        yield Doubt(what.format(feature), rows, features=frozenset({feature}))


def _missing_group(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    if note.get("condition"):  # whatever group they are of
        yield Doubt(f"value of {note.feature}", note["rows"])
    elif not (note.get("excluded") or note.get("unsure")):
        yield from _of_group(note.feature, "clear {}", note["rows"], asked.spec)


def _spelt(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    if note.get("strata"):
        return
    rows = dict(zip(note["values"], note["rows"], strict=False))
    others = note.get("people") or sum(rows.get(name, 0) for name in note["others"])
    if note.feature is not None:
        yield from _of_group(note.feature, f"{SPELT}{{}}", others, asked.spec)
        return
    for column in {*note["columns"]}:
        of_outcome = Diagnostic.warning(note.code, column=column, rows=others)
        yield from _of_outcome(of_outcome, asked)


def _copied(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    of_score, spec = bool(note.get("score")), asked.spec
    needs = ["score"] * of_score + ["prediction"] * (not of_score or not spec.prediction)
    for need in needs:
        what = SCORE_APART if of_score else APART
        yield Doubt(what, note["rows"], frozenset({need, "label"}))


def _one_outcome(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    if note.get("positive") is not None:  # of two outcomes
        role = "label" if note.code is DiagnosticCode.ONE_LABEL else "prediction"
        yield Doubt(ALIKE, asked.cases, frozenset({role}), only=True)


def _group_of_one_outcome(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    features = (name for name, of in asked.spec.recorded.items() if note.feature in of.columns)
    for feature in features:
        yield Doubt(ALIKE, note["rows"], frozenset({note["role"]}), features=frozenset({feature}))


def _reversed(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    for role in ("label", "prediction", "score") if not note.get("group") else ():
        yield Doubt(f"clear {role}", asked.cases, frozenset({role}))


def _adverse(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    del note
    if asked.spec.favourable is None and depends_on_favourable(asked.spec):
        yield Doubt(UNSTATED, asked.cases)


def _people(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    if asked.spec.of_people and note.code is DiagnosticCode.ALIKE_IDENTIFIERS:
        yield Doubt("clear identifier", note["identifiers"])
    elif asked.spec.of_people:
        yield Doubt(OF_ONE_PERSON, note["rows"])


_CONCERNS: dict[DiagnosticCode, Callable[[Diagnostic, _Question], Iterator[Doubt]]] = {
    DiagnosticCode.MISSING_MARKER: _missing_group,
    DiagnosticCode.SAME_NAMES: _spelt,
    DiagnosticCode.CODED_NUMBERS: _of_outcome,
    DiagnosticCode.UNDECIDED_OUTCOMES: _of_outcome,
    DiagnosticCode.APPROVED_AS_REFUSED: _of_outcome,
    DiagnosticCode.CLASSES_OF_MISSING: _of_outcome,
    DiagnosticCode.PREDICTION_NOT_A_LABEL: _no_label,
    DiagnosticCode.PREDICTION_IS_LABEL: _copied,
    DiagnosticCode.ONE_LABEL: _one_outcome,
    DiagnosticCode.ONE_DECISION: _one_outcome,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME: _group_of_one_outcome,
    DiagnosticCode.REVERSED_PREDICTIONS: _reversed,
    DiagnosticCode.REVERSED_SCORES: _reversed,
    DiagnosticCode.UNFAVOURABLE_POSITIVE: _adverse,
    DiagnosticCode.CODE_AS_FAVOURABLE: _of_outcome,
    DiagnosticCode.ALIKE_IDENTIFIERS: _people,
    DiagnosticCode.PLACEHOLDER_IDENTIFIER: _people,
}


def with_accepted(notes: Iterable[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    """Return notes, of which those that the user accepts are closed: stated, and no warning."""

    def is_accepted(note: Diagnostic) -> bool:
        code = str(note.code)
        columns = {note.feature, note.get("column"), *(note.get("columns") or ())} - {None}
        return note.code in _CONCERNS and not {code, *(f"{code}:{c}" for c in columns)}.isdisjoint(
            spec.accept
        )

    return tuple(
        replace(each.but(accepted=True), level=Level.NOTE) if is_accepted(each) else each
        for each in notes
    )


def open_doubts(notes: Iterable[Diagnostic], cube: Cube, spec: Spec) -> tuple[Doubt, ...]:
    """Return the doubts that warnings of counts leave open: of too many rows not to matter.

    Rows of which several warnings state that they lack the same are counted together.
    """
    notes, asked = [*notes], _Question(spec, cube.read)
    found: dict[Doubt, int] = {}
    for note in notes:
        if note.level is Level.WARNING:
            for each in _CONCERNS.get(note.code, _none)(note, asked):
                key = replace(each, rows=0)
                found[key] = min(found.get(key, 0) + each.rows, asked.cases)
    few = _few(notes, cube, spec) if found else 0.0
    return tuple(replace(each, rows=rows) for each, rows in found.items() if rows > few)


Decided = TypeVar("Decided", bound=Judged)


def withhold(
    decided: Iterable[Decided], notes: Iterable[Diagnostic], cube: Cube, spec: Spec
) -> tuple[Decided, ...]:
    """Return what was decided, of which no pass stands on a doubt that the notes leave open.

    This is the one place where a check has an effect: on passes of every verb, and on no number.
    """
    doubts = open_doubts(notes, cube, spec)

    def why(needs: Collection[str], feature: str | None) -> Reason | None:
        """Return why a pass is withheld: of several doubts, the one of the most rows."""
        concerned = [each for each in doubts if each.concerns(needs, feature)]
        if not concerned:
            return None
        most = max(concerned, key=lambda each: (each.what == UNSTATED, each.rows))
        is_unstated = most.what == UNSTATED
        return Reason.of(
            ReasonCode.FAVOURABLE_UNSTATED if is_unstated else ReasonCode.UNCLEAR_VALUES,
            what=most.what,
            rows=most.rows,
            unit="rows" if most.what == OF_ONE_PERSON else spec.unit.get("unit"),
            alone=str(Outcome.PASS),
        )

    return tuple(each.withheld(why) for each in decided)


def _none(note: Diagnostic, asked: _Question) -> Iterator[Doubt]:
    del note, asked
    return iter(())


def _few(notes: Iterable[Diagnostic], cube: Cube, spec: Spec) -> float:
    """Return how many cases are few beside every large group that is not itself in doubt."""
    doubted: dict[str | None, set[str]] = {}
    for note in notes:
        if note.code is DiagnosticCode.MISSING_MARKER:
            doubted.setdefault(note.feature, set()).add(name_of(note["value"]))
        elif note.code is DiagnosticCode.SAME_NAMES and note.feature:
            doubted.setdefault(note.feature, set()).update(note["others"])
    fewest = [float(cube.read)]
    for counts in count_groups(cube, spec):
        columns = [doubted.get(column, set()) for column in counts.feature_id.columns]
        known = np.array(
            [
                not any(
                    isinstance(part, ValueSet) and part.texts <= names
                    for part, names in zip(group.parts, columns, strict=False)
                )
                for group in counts.group_ids
            ],
            dtype=bool,
        )
        rows = counts.counts[cube.plan.cases][: len(counts.groups), 0].sum(axis=(1, 2))
        fewest += rows[large_groups(counts, spec) & known].tolist()
    return MANY_MISSING * min(fewest)
