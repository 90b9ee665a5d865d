"""Every check of the counts of an audit, one row each.

A check reads ordinary counts and the question, and yields diagnostics. What each casts doubt on, a
second table states, and one function serves every verb: a pass that stands on doubted rows is
inconclusive, a fail stays, and no number changes. Fewer rows than could matter are stated, and
withhold nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from fairgauge.checks import _rates_and_exposure as amounts
from fairgauge.checks import missingness_checks as missing
from fairgauge.checks import names
from fairgauge.checks import order_checks as orders
from fairgauge.checks import outcome_checks as outcomes
from fairgauge.checks._overlaps import groups_that_overlap
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import OUTCOMES
from fairgauge.enums import DiagnosticCode, Favourable, Level, Outcome, Role, Task
from fairgauge.identity import ValueSet
from fairgauge.inference.missing_values import MANY_MISSING
from fairgauge.question import category_words as words
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve import question_checks as question
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.outcomes import OutcomeMasks, outcome_masks
from fairgauge.resolve.references import large_groups
from fairgauge.results import scopes
from fairgauge.results.scopes import FEATURES, STRATUM, Diagnostic, Doubt, Judged
from fairgauge.start.records import dataclass, replace
from fairgauge.values import canonical, name_of


@dataclass(frozen=True)
class CheckedCounts:
    """The counts of an audit, what is asked of them, and what label and prediction are."""

    cube: Cube
    spec: Spec
    task: Task

    @cached_property
    def masks(self) -> tuple[OutcomeMasks, ...]:
        """Return which outcomes are positive, at every threshold."""
        return outcome_masks(self.cube, self.spec, self.task)

    @property
    def strata(self) -> set[str]:
        return {each.column for each in self.spec.strata}

    @property
    def grouped(self) -> set[str]:
        return {column for each in self.spec.recorded.values() for column in each.columns}


@dataclass(frozen=True, slots=True)
class DataCheck:
    """One check: what it looks for, in which tasks, and whether protected counts would hide it."""

    find: Callable[[CheckedCounts], Iterator[Diagnostic]]
    tasks: frozenset[Task] = frozenset(Task)
    exact: bool = False


def _adverse_positive(c: CheckedCounts) -> Iterator[Diagnostic]:
    found = [*outcomes.unfavourable_positive(c.cube, c.spec, c.task)]
    if c.spec.rules and not found and c.task is Task.BINARY:
        from fairgauge.measure.decide import unattested_positive

        found += unattested_positive(c.cube, c.spec)
    yield from found


_BINARY, _CLASSES, _NUMBERS = (frozenset({task}) for task in Task)
OF_VALUES = (
    DataCheck(lambda c: outcomes.undecided_outcomes(c.cube, c.spec), _BINARY),
    DataCheck(lambda c: outcomes.missing_classes(c.cube, c.spec), _CLASSES),
    DataCheck(lambda c: names.doubtful_names(c.cube, c.spec)),
    DataCheck(lambda c: missing.left_out_groups(c.cube, c.spec)),
)
"""Checks that need few rows: a monitor runs them on its last period, and all on all periods."""
OF_OUTCOMES = (
    DataCheck(lambda c: missing.doubtful_identifiers(c.cube, c.spec)),
    DataCheck(_adverse_positive),
    DataCheck(lambda c: outcomes.absent_at_least_once(c.cube, c.spec), _BINARY),
    DataCheck(lambda c: outcomes.copies_of_label(c.cube, c.spec, c.task, c.masks), exact=True),
    DataCheck(lambda c: outcomes.copied_outcomes(c.cube, c.spec), exact=True),
    DataCheck(lambda c: outcomes.one_outcome(c.cube, c.spec, c.task, c.masks)),
    DataCheck(
        lambda c: outcomes.groups_of_one_outcome(c.cube, c.spec, c.task, c.masks),
        _BINARY | _CLASSES,
        exact=True,
    ),
    DataCheck(lambda c: outcomes.groups_of_one_score(c.cube, c.spec), _BINARY, exact=True),
    DataCheck(
        lambda c: outcomes.predictions_that_are_no_label(c.cube, c.spec, c.task), _BINARY | _CLASSES
    ),
    *OF_VALUES[:2],
    DataCheck(lambda c: groups_that_overlap(c.cube, c.spec), exact=True),
    DataCheck(lambda c: missing.repeated_people(c.cube, c.spec), exact=True),
    DataCheck(lambda c: outcomes.unlike_classes(c.cube, c.masks), _CLASSES, exact=True),
    DataCheck(lambda c: outcomes.predictions_in_another_unit(c.cube), _NUMBERS, exact=True),
    DataCheck(lambda c: amounts.rates_with_counts(c.cube, c.spec), _NUMBERS, exact=True),
    DataCheck(lambda c: amounts.exposure_as_weight(c.cube, c.spec), _NUMBERS, exact=True),
)
CHECKS = (
    *OF_OUTCOMES,
    DataCheck(lambda c: orders.places_as_scores(c.cube, c.spec), _BINARY, exact=True),
    DataCheck(lambda c: question.uncrossed_features(c.spec)),
    DataCheck(lambda c: question.other_references(c.cube, c.spec, c.task)),
    DataCheck(lambda c: question.single_row_groups(c.cube, c.spec)),
    DataCheck(lambda c: question.numeric_groups(c.cube, c.spec)),
    DataCheck(lambda c: missing.many_strata(c.cube, c.spec)),
    DataCheck(lambda c: missing.units_without_rows(c.spec)),
    DataCheck(lambda c: names.doubtful_strata(c.cube, c.spec, c.strata - c.grouped)),
    DataCheck(lambda c: missing.missing_values(c.cube, c.spec, c.strata), exact=True),
    DataCheck(
        lambda c: outcomes.strata_of_outcomes(c.cube, c.spec, c.strata, OUTCOMES), exact=True
    ),
    DataCheck(lambda c: outcomes.strata_of_one_side(c.cube, c.spec, c.strata), exact=True),
    *OF_VALUES[2:],
    DataCheck(lambda c: missing.values_outside_groups(c.cube, c.spec)),
    DataCheck(lambda c: missing.copied_rows(c.cube)),
    DataCheck(lambda c: question.limits_outside_range(c.cube, c.spec)),
    DataCheck(lambda c: question.unmatched_values(c.cube, c.spec)),
)


def likely_mistakes(
    cube: Cube, spec: Spec, task: Task, checks: tuple[DataCheck, ...] = CHECKS
) -> Iterator[Diagnostic]:
    """Yield what the checks find in the counts of an audit."""
    counted = CheckedCounts(cube, spec, task)
    for check in checks:
        if task in check.tasks and not (check.exact and cube.min_cell is not None):
            yield from check.find(counted)


_OF_CONDITION = "clear value of a condition"
_OF_STRATUM = "row of another {} in their stratum"
_SPELT_CONDITION = f"{scopes.SPELT}the values of conditions"


def _role(column: str | None, spec: Spec) -> str:
    return {spec.prediction: "prediction", spec.label: "label"}.get(column, "score")


def _needs(role: str, spec: Spec) -> list[str]:
    # of a score without decisions, these as well
    return [role, *["prediction"] * (role == "score" and not spec.prediction)]


def _outcome_doubts(note: Diagnostic, spec: Spec, *_: int) -> list[Doubt]:
    column, rows = note["column"], note.get("rows") or note.get("people") or 0
    if note.code is DiagnosticCode.PREDICTION_NOT_A_LABEL:
        rows = note.get("unclear") or 0  # the others are a denial, whatever it is called
    role = _role(column, spec)
    return [Doubt(f"clear {role}", rows, frozenset({need})) for need in _needs(role, spec)]


def _group_doubts(column: str | None, what: str, rows: int, spec: Spec, *needs: str) -> list[Doubt]:
    # of the groups of a column or of several together; of all rows where there is none
    if column is None:
        return [Doubt(what, rows, frozenset(needs))]
    return [
        Doubt(what.format(name), rows, frozenset(needs), features=frozenset({name}))
        for name, feature in spec.recorded.items()
        if column in (name, *feature.columns)
    ]


def _code_doubts(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    # that rows have no clear number: in a column of groups, of an outcome, or of both
    column = note["column"]
    found = _group_doubts(column, "clear {}", note["rows"], spec)
    if column == spec.count:
        found.append(Doubt("clear count", cases))
    if column == spec.weight:
        found.append(Doubt("clear weight", note["rows"]))
    if column in {each.column for each in spec.where}:
        found.append(Doubt(_OF_CONDITION, note["rows"]))
    if column in (spec.label, spec.prediction, spec.score):
        found += _outcome_doubts(note, spec)
    return found or [Doubt("clear stratum", note["rows"], frozenset({STRATUM}))]


def _missing_group(note: Diagnostic, spec: Spec, *_: int) -> list[Doubt]:
    known = note.get("excluded") or note.get("unsure")
    return [] if known else _group_doubts(note.feature, "clear {}", note["rows"], spec)


def _spelt(note: Diagnostic, spec: Spec, *_: int) -> Iterator[Doubt]:
    rows = dict(zip(note["values"], note["rows"], strict=False))
    others = note.get("people") or sum(rows.get(name, 0) for name in note["others"])
    if note.get("strata"):
        yield Doubt(f"{scopes.SPELT}strata", others, frozenset({STRATUM}))
    elif note.feature is not None:
        yield from _group_doubts(note.feature, f"{scopes.SPELT}{{}}", others, spec)
    else:
        for column in {*note["columns"]}:
            yield from _outcome_doubts(note.but(column=column, rows=others), spec)


def _determined(note: Diagnostic, spec: Spec, cases: int) -> Iterator[Doubt]:
    for need in _needs(_role(note["outcome"], spec), spec):
        if note.get("compared"):
            yield Doubt("near row with another outcome", cases, frozenset({FEATURES, need}))
        else:
            yield Doubt(_OF_STRATUM.format("outcome"), cases, frozenset({STRATUM, need}))


def _copy_doubts(note: Diagnostic, spec: Spec, *_: int) -> Iterator[Doubt]:
    of_score = bool(note.get("score"))
    what = scopes.SCORE_APART if of_score else scopes.APART
    # whatever is asked, of a group too: it may be no decision of the model
    for need in _needs("score" if of_score else "prediction", spec):
        yield from _group_doubts(note.feature, what, note["rows"], spec, need)


def _one_outcome(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    role = note.get("role") or ("label" if note.code is DiagnosticCode.ONE_LABEL else "prediction")
    of = note.feature, scopes.ALIKE, note.get("rows") or cases, spec
    return [doubt for need in _needs(role, spec) for doubt in _group_doubts(*of, need)]


def _reversal_doubts(note: Diagnostic, spec: Spec, cases: int) -> Iterator[Doubt]:
    what = "score" if note.code is DiagnosticCode.REVERSED_SCORES else "prediction"
    for role in ("label", "prediction", "score"):  # any of them may be coded in reverse
        yield from _group_doubts(note.feature, f"{what} in line with the label", cases, spec, role)


def _left_out(note: Diagnostic, spec: Spec, *_: int) -> list[Doubt]:
    if note["why"] != "outcome":
        return _group_doubts(note.feature, "group of {} that is counted", note["rows"], spec)
    return [Doubt(scopes.REFUSALS, note["rows"], frozenset({_role(note.feature, spec)}))]


def _unlike_amounts(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    of_both = {"label", "prediction"} if note.feature is None else {_role(note["column"], spec)}
    return _group_doubts(note.feature, "clear unit", cases, spec, *of_both)


def _adverse(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    # also where it is stated, and names state the reverse
    stated = spec.favourable is not None or note.get("at_least_once")
    unstated = not stated or note.get("unattested")
    what = scopes.UNSTATED if unstated else "clear favourable outcome"
    return [Doubt(what, cases)] * question.depends_on_favourable(spec)


def _rows_without(what: str, *needs: str) -> Callable[[Diagnostic, Spec, int], list[Doubt]]:
    # the doubt of the rows that a note counts, or of all cases; the role may name what they lack
    def doubts(note: Diagnostic, _spec: Spec, cases: int) -> list[Doubt]:
        counted = map(note.get, ("identifiers", "repeated", "copied", "rows"))
        rows = next(filter(None, counted), cases)
        return [Doubt(what.format(note.get("role")), rows, frozenset(needs))]

    return doubts


_OF_VERDICTS = {DiagnosticCode.LIMITS_THE_BETTER_OFF, DiagnosticCode.REFERENCE_DECIDES}
"""Doubts of the pass of a rule itself, which is of no use to those who are worse off."""
DOUBTS_RAISED_BY: dict[DiagnosticCode, Callable[[Diagnostic, Spec, int], Iterable[Doubt]]] = {
    DiagnosticCode.MISSING_MARKER: _missing_group,
    DiagnosticCode.STRATUM_OF_TOTAL: _rows_without("stratum but one that may be a total"),
    DiagnosticCode.MISSING_STRATA: lambda note, *_: [  # outcomes are weighed by what they change
        Doubt("stratum", note["rows"] if note.get("group_outcome") else 0, frozenset({STRATUM}))
    ],
    DiagnosticCode.STRATUM_IS_OUTCOME: _determined,
    DiagnosticCode.STRATUM_OF_ONE_SIDE: lambda note, spec, _: _group_doubts(
        note.feature, _OF_STRATUM.format("group"), note["rows"], spec, STRATUM
    ),
    DiagnosticCode.SAME_NAMES: _spelt,
    DiagnosticCode.CODED_NUMBERS: _code_doubts,
    DiagnosticCode.MISSPELT: _code_doubts,
    DiagnosticCode.UNDECIDED_OUTCOMES: _outcome_doubts,
    DiagnosticCode.APPROVED_AS_REFUSED: _outcome_doubts,
    DiagnosticCode.CLASSES_OF_MISSING: _outcome_doubts,
    DiagnosticCode.PREDICTION_NOT_A_LABEL: _outcome_doubts,
    DiagnosticCode.PREDICTION_IS_LABEL: _copy_doubts,
    DiagnosticCode.ONE_LABEL: _one_outcome,
    DiagnosticCode.ONE_DECISION: _one_outcome,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME: _one_outcome,
    DiagnosticCode.REVERSED_PREDICTIONS: _reversal_doubts,
    DiagnosticCode.REVERSED_SCORES: _reversal_doubts,
    DiagnosticCode.UNFAVOURABLE_POSITIVE: _adverse,
    DiagnosticCode.ALIKE_IDENTIFIERS: _rows_without("clear identifier"),
    DiagnosticCode.PLACEHOLDER_IDENTIFIER: _rows_without(scopes.OF_ONE),
    DiagnosticCode.NEVER_REPEATS: _rows_without("clear {}"),
    DiagnosticCode.GROUPS_LEFT_OUT: _left_out,
    DiagnosticCode.GROUPS_THAT_OVERLAP: lambda note, spec, _: _group_doubts(
        note.feature, "group of {} of their own", note["rows"], spec
    ),
    DiagnosticCode.ALIKE_CONDITION: lambda note, *_: [
        Doubt(_OF_CONDITION if note.get("line") else _SPELT_CONDITION, note["rows"])
    ],
    DiagnosticCode.UNLIKE_AMOUNTS: _unlike_amounts,
    DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE: lambda note, spec, cases: [  # of counts all cases
        Doubt("person of their own", cases if spec.count else note["rows"])
    ],
    DiagnosticCode.PLACES_AS_SCORES: lambda note, spec, _: [
        Doubt("clear order: scores may be places", note["rows"], frozenset({need}))
        for need in _needs("score", spec)
    ],
    DiagnosticCode.ROWS_OF_LISTS: lambda _note, _spec, cases: [
        Doubt("list of their own to be ranked in", cases, frozenset({scopes.RANKING}))
    ],
    DiagnosticCode.RATES_WITH_COUNTS: lambda note, spec, cases: [
        Doubt("clear number of cases", cases, frozenset({_role(note["column"], spec)}))
    ],
    DiagnosticCode.EXPOSURE_AS_WEIGHT: lambda _note, _spec, cases: [
        Doubt("clear weight", cases, frozenset({"label"}))
    ],
    DiagnosticCode.DOUBLED_ROWS: _rows_without("content of their own: they may be copies"),
    **dict.fromkeys(_OF_VERDICTS, lambda *_: ()),
}


def with_accepted(notes: Iterable[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    """Return notes, of which those that the user accepts are closed: stated, and no warning.

    Those that withhold nothing are marked, whatever others of their code do: they are no doubts.
    """

    def marked(note: Diagnostic) -> Diagnostic:
        doubts_of = DOUBTS_RAISED_BY.get(note.code)
        if doubts_of is None:
            return note
        columns = {note.feature, note.get("column"), *(note.get("columns") or ())}
        if spec.accepts(note.code, *columns):
            return replace(note.but(accepted=True), level=Level.NOTE)
        held = note.code in _OF_VERDICTS or any(each.rows for each in doubts_of(note, spec, 1))
        return note if held or note.level is Level.NOTE else note.but(withholds=False)

    return tuple(map(marked, notes))


def mark_few(notes: Collection[Diagnostic], cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Yield notes, of which those of so few rows that they withhold nothing are marked."""
    held = {replace(each, rows=0) for each in open_doubts(notes, cube, spec)}
    for note in notes:
        of_code = DOUBTS_RAISED_BY.get(note.code)
        doubts = {replace(e, rows=0) for e in (of_code(note, spec, cube.read) if of_code else ())}
        is_few = note.level is Level.WARNING and doubts and held.isdisjoint(doubts)
        yield note.but(withholds=False) if is_few else note


def with_unstated(spec: Spec, notes: Iterable[Diagnostic]) -> Spec:
    """Return what is asked, in which no outcome is taken as better where that is in doubt."""
    adverse = (n for n in notes if n.code is DiagnosticCode.UNFAVOURABLE_POSITIVE)
    in_doubt = spec.favourable is None and any(n.level is Level.WARNING for n in adverse)
    return replace(spec, favourable=Favourable.NEITHER) if in_doubt else spec


def open_doubts(
    notes: Iterable[Diagnostic], cube: Cube, spec: Spec, counted: Spec | None = None
) -> tuple[Doubt, ...]:
    """Return the doubts that warnings of counts leave open: of too many rows not to matter.

    Rows of which several warnings state that they lack the same are counted together. The groups
    beside which they are few are those that are ``counted``, where not all that is asked is.
    """
    notes = [*notes]
    found: dict[Doubt, int] = {}
    weights: dict[Doubt, float] = {}
    for note in notes:
        if note.level is Level.WARNING and note.code in DOUBTS_RAISED_BY:
            for each in DOUBTS_RAISED_BY[note.code](note, spec, cube.read):
                key = replace(each, rows=0)
                found[key] = min(found.get(key, 0) + each.rows, cube.read)
                weights[key] = weights.get(key, 0.0) + _weight(note, cube)
    if not found:
        return ()
    sizes = counted or spec
    few, light = (_negligible_count(notes, cube, sizes, weighted=of) for of in (False, True))
    return tuple(
        replace(each, rows=rows)
        for each, rows in found.items()
        if rows > few or weights[each] > light
    )


def _weight(note: Diagnostic, cube: Cube) -> float:
    # what the rows of the values that it names weigh: few as they are, they may matter
    if not note.get("rows") or "w" not in cube.tables[0].sums:
        return 0.0
    of_labels = note.code is DiagnosticCode.PREDICTION_NOT_A_LABEL  # names of denials are clear
    given = note.get("others") or note.get("values") or (note.get("value"),)
    names = {name for name in map(name_of, given) if not (of_labels and words.is_adverse(name))}
    columns, weight = {note.feature, note.get("column"), *(note.get("columns") or ())}, 0.0
    for axis in (each for each in cube.plan.axes if each.column in columns):
        levels = axis.names(cube.levels[axis])
        if axis.role is Role.CODES:  # intervals that end at one
            levels = [*map(name_of, map(canonical, axis.cuts)), ""]
        table = cube.marginal([axis])
        held = [code >= 0 and levels[code] in names for code in table.codes[:, 0].tolist()]
        weight += float(table.sums["w"][held].sum())
    return weight


Decided = TypeVar("Decided", bound=Judged)


def withhold(
    decided: Iterable[Decided], notes: Iterable[Diagnostic], cube: Cube, spec: Spec
) -> tuple[Decided, ...]:
    """Return what was decided, of which no pass stands on a doubt that the notes leave open.

    This is the one place where a check has an effect: on passes of every verb, and on no number.
    """
    doubts = open_doubts(notes, cube, spec)
    rules = [n for n in notes if n.code in _OF_VERDICTS and n.level is Level.WARNING]

    def why(of: Judged, needs: Collection[str], feature: str | None) -> Reason | None:
        """Return why a pass is withheld: of several doubts, the one of the most rows."""
        concerned = [each for each in doubts if each.concerns(needs, feature)]
        if not concerned:
            own = (Reason.of(ReasonCode(n.code)) for n in rules if _is_of(n, of, feature))
            return next(own, None)
        most = max(concerned, key=lambda each: (each.what == scopes.UNSTATED, each.rows))
        unstated = most.what == scopes.UNSTATED
        return Reason.of(
            ReasonCode.FAVOURABLE_UNSTATED if unstated else ReasonCode.UNCLEAR_VALUES,
            what=most.what,
            rows=most.rows,
            unit="rows" if most.what == scopes.OF_ONE.format("person") else spec.unit.get("unit"),
            alone=str(Outcome.PASS),
        )

    return tuple(each.withheld(partial(why, each)) for each in decided)


def _is_of(note: Diagnostic, each: Judged, feature: str | None) -> bool:
    # whether a note is of the rule, or the goal of thresholds, and of the group that passes
    of_rule = note["rule"] == str(getattr(each, "rule", getattr(each, "goal", "")))
    passing = note.get("references") or (note.get("group"),)
    of_group = getattr(each, "group", passing[0]) in passing
    return of_rule and (note.feature is None or (feature == note.feature and of_group))


def _negligible_count(
    notes: Iterable[Diagnostic], cube: Cube, spec: Spec, *, weighted: bool
) -> float:
    # how many cases, or how much weight, is little beside every large group that is not in doubt
    doubted: dict[str | None, set[str]] = {}
    for note in notes:
        if note.code is DiagnosticCode.MISSING_MARKER:
            doubted.setdefault(note.feature, set()).add(name_of(note["value"]))
        elif note.code is DiagnosticCode.SAME_NAMES and note.feature:
            doubted.setdefault(note.feature, set()).update(note["others"])
    fewest = [math.inf if weighted else float(cube.read)]
    for counts in count_groups(cube, spec):
        columns = [doubted.get(column, set()) for column in counts.feature_id.columns]
        known = np.ones(len(counts.group_ids), dtype=bool)
        for i, group in enumerate(counts.group_ids):
            for part, unclear in zip(group.parts, columns, strict=False):
                known[i] &= not (isinstance(part, ValueSet) and part.texts <= unclear)
        if weighted and not counts.weighted:
            break
        sums = counts.counts["w" if weighted else cube.plan.cases]
        rows = counts.in_given_weights(sums) if weighted else sums
        rows = rows[: len(counts.groups), 0].sum(axis=(1, 2))
        fewest += rows[large_groups(counts, spec) & known].tolist()
    return MANY_MISSING * min(fewest)
