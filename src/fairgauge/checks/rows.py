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
from typing import NamedTuple, TypeVar

import numpy as np

from fairgauge.checks import coded_numbers as numbers
from fairgauge.checks import missingness_checks as missing
from fairgauge.checks import names
from fairgauge.checks import outcome_checks as outcomes
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
    *OF_VALUES[:1],
    DataCheck(lambda c: numbers.groups_that_overlap(c.cube, c.spec), exact=True),
    DataCheck(lambda c: missing.repeated_people(c.cube, c.spec), exact=True),
    DataCheck(lambda c: outcomes.unlike_classes(c.cube, c.masks), _CLASSES, exact=True),
    DataCheck(lambda c: outcomes.predictions_in_another_unit(c.cube), _NUMBERS, exact=True),
    DataCheck(lambda c: numbers.rates_with_counts(c.cube, c.spec), exact=True),
    DataCheck(lambda c: numbers.exposure_as_weight(c.cube, c.spec), _NUMBERS, exact=True),
)
CHECKS = (
    *OF_OUTCOMES,
    DataCheck(lambda c: numbers.places_as_scores(c.cube, c.spec), _BINARY, exact=True),
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
    *OF_VALUES[1:],
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


class _Raised(NamedTuple):
    """What rows of a warning lack, and what a number needs, all of it, to stand on them.

    ``what``: ``{}`` is the name of the feature, or else the role of the column.
    ``roles``: of outcomes, of which it needs any; `_OWN` is that of the column of the warning.
    """

    what: str
    needs: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


_OWN = ("",)
_COUNTED = ("identifiers", "repeated", "copied", "rows", "people")
_OF_CONDITION = "clear value of a condition"
_CLEAR, _OF_OUTCOME = _Raised("clear {}"), _Raised("clear {}", roles=_OWN)
_OF_VERDICTS = {DiagnosticCode.LIMITS_THE_BETTER_OFF, DiagnosticCode.REFERENCE_DECIDES}
"""Doubts of the pass of a rule itself, which is of no use to those who are worse off."""
_ANY = ("label", "prediction", "score")
DOUBTS_RAISED_BY = {
    DiagnosticCode.MISSING_MARKER: _CLEAR,
    DiagnosticCode.STRATUM_OF_TOTAL: _Raised("stratum but one that may be a total"),
    DiagnosticCode.MISSING_STRATA: _Raised("stratum", (STRATUM,)),
    DiagnosticCode.STRATUM_IS_OUTCOME: _Raised(
        "row of another outcome in their stratum", (STRATUM,), _OWN
    ),
    DiagnosticCode.STRATUM_OF_ONE_SIDE: _Raised(
        "row of another group in their stratum", (STRATUM,)
    ),
    DiagnosticCode.SAME_NAMES: _CLEAR,
    DiagnosticCode.CODED_NUMBERS: _CLEAR,
    DiagnosticCode.MISSPELT: _CLEAR,
    DiagnosticCode.UNDECIDED_OUTCOMES: _OF_OUTCOME,
    DiagnosticCode.APPROVED_AS_REFUSED: _OF_OUTCOME,
    DiagnosticCode.PREDICTION_NOT_A_LABEL: _OF_OUTCOME,
    DiagnosticCode.PREDICTION_IS_LABEL: _Raised(scopes.APART, roles=("prediction",)),
    DiagnosticCode.ONE_LABEL: _Raised(scopes.ALIKE, roles=("label",)),
    DiagnosticCode.ONE_DECISION: _Raised(scopes.ALIKE, roles=("prediction",)),
    DiagnosticCode.GROUP_OF_ONE_OUTCOME: _Raised(scopes.ALIKE, roles=_OWN),
    # any of them may be coded in reverse
    DiagnosticCode.REVERSED_PREDICTIONS: _Raised("prediction in line with the label", roles=_ANY),
    DiagnosticCode.REVERSED_SCORES: _Raised("score in line with the label", roles=_ANY),
    DiagnosticCode.UNFAVOURABLE_POSITIVE: _Raised("clear favourable outcome"),
    DiagnosticCode.ALIKE_IDENTIFIERS: _Raised("clear identifier"),
    DiagnosticCode.PLACEHOLDER_IDENTIFIER: _Raised(scopes.OF_ONE),
    DiagnosticCode.NEVER_REPEATS: _CLEAR,
    DiagnosticCode.GROUPS_LEFT_OUT: _Raised("group of {} that is counted"),
    DiagnosticCode.GROUPS_THAT_OVERLAP: _Raised("group of {} of their own"),
    DiagnosticCode.ALIKE_CONDITION: _Raised(_OF_CONDITION),
    DiagnosticCode.UNLIKE_AMOUNTS: _Raised("clear unit", ("label", "prediction")),
    DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE: _Raised("person of their own"),
    DiagnosticCode.PLACES_AS_SCORES: _Raised("clear order: scores may be places", roles=("score",)),
    DiagnosticCode.ROWS_OF_LISTS: _Raised("list of their own to be ranked in", (scopes.RANKING,)),
    DiagnosticCode.RATES_WITH_COUNTS: _Raised("clear number of cases", roles=_OWN),
    DiagnosticCode.EXPOSURE_AS_WEIGHT: _Raised("clear weight", ("label",)),
    DiagnosticCode.DOUBLED_ROWS: _Raised("content of their own: they may be copies"),
}


def _raised(note: Diagnostic, spec: Spec) -> _Raised | None:
    # that of its code, or by what else the note states
    match note.code:
        case DiagnosticCode.MISSING_MARKER if note.get("excluded") or note.get("unsure"):
            return None
        case DiagnosticCode.MISSING_STRATA if not note.get("group_outcome"):
            return None  # outcomes are weighed by what they change
        case DiagnosticCode.STRATUM_IS_OUTCOME if note.get("compared"):
            return _Raised("near row with another outcome", (FEATURES,), _OWN)
        case DiagnosticCode.PREDICTION_IS_LABEL if note.get("score"):
            return _Raised(scopes.SCORE_APART, roles=("score",))
        case DiagnosticCode.GROUPS_LEFT_OUT if note["why"] == "outcome":
            return _Raised(scopes.REFUSALS, roles=_OWN)
        case DiagnosticCode.ALIKE_CONDITION if not note.get("line"):
            return _Raised(f"{scopes.SPELT}the values of conditions")
        case DiagnosticCode.UNLIKE_AMOUNTS if note.feature is not None:
            return _Raised("clear unit", roles=_OWN)
        case DiagnosticCode.UNFAVOURABLE_POSITIVE:
            if not question.depends_on_favourable(spec):
                return None
            stated = spec.favourable is not None or note.get("at_least_once")
            if not stated or note.get("unattested"):
                return _Raised(scopes.UNSTATED)
    return DOUBTS_RAISED_BY.get(note.code)


def _doubts_of(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    # of the rows that a note counts, or of all cases; of the groups of a feature, or of all rows
    raised = _raised(note, spec)
    if raised is None:
        return []
    if note.code in (DiagnosticCode.CODED_NUMBERS, DiagnosticCode.MISSPELT):
        return _code_doubts(note, spec, cases)
    if note.code is DiagnosticCode.SAME_NAMES:
        held = dict(zip(note["values"], note["rows"], strict=False))
        rows = note.get("people") or sum(held.get(name, 0) for name in note["others"])
        if note.get("strata"):
            return [Doubt(f"{scopes.SPELT}strata", rows, frozenset({STRATUM}))]
        if note.feature is not None:
            return _doubts(_Raised(f"{scopes.SPELT}{{}}"), rows, note, spec)
        of = (note.but(column=column) for column in {*note["columns"]})
        return [doubt for each in of for doubt in _doubts(_OF_OUTCOME, rows, each, spec)]
    rows = next((n for n in map(note.get, _COUNTED) if n is not None), cases)
    if note.code is DiagnosticCode.PREDICTION_NOT_A_LABEL:
        rows = note.get("unclear") or 0  # the others are a denial, whatever it is called
    if note.code is DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE and spec.count:
        rows = cases
    return _doubts(raised, rows, note, spec)


def _doubts(raised: _Raised, rows: int, note: Diagnostic, spec: Spec) -> list[Doubt]:
    of = note.get("outcome") or note.get("column") or note.feature
    outcomes = {spec.prediction: "prediction", spec.label: "label"}
    own = note.get("role") or outcomes.get(of, "score")
    roles = dict.fromkeys(role or own for role in raised.roles)
    if "score" in roles and not spec.prediction:  # of a score without decisions, these as well
        roles["prediction"] = None
    features: list[str | None] = [None]
    if note.feature is not None and raised.what != scopes.REFUSALS:
        features = [n for n, f in spec.recorded.items() if note.feature in (n, *f.columns)]
    return [
        Doubt(raised.what.format(feature or own), rows, frozenset({*raised.needs} | need),
              features=None if feature is None else frozenset({feature}))
        for need in [{role} for role in roles] or [set[str]()]
        for feature in features
    ]  # fmt: skip


def _code_doubts(note: Diagnostic, spec: Spec, cases: int) -> list[Doubt]:
    # that rows have no clear number: in a column of groups, of an outcome, or of both
    column, rows = note["column"], note["rows"]
    found = _doubts(_CLEAR, rows, replace(note, feature=column), spec)
    if column == spec.count:
        found.append(Doubt("clear count", cases))
    if column == spec.weight:
        found.append(Doubt("clear weight", rows))
    if column in {each.column for each in spec.where}:
        found.append(Doubt(_OF_CONDITION, rows))
    if column in (spec.label, spec.prediction, spec.score):
        found += _doubts(_OF_OUTCOME, rows, note, spec)
    return found or [Doubt("clear stratum", rows, frozenset({STRATUM}))]


def with_accepted(notes: Iterable[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    """Return notes, of which those that the user accepts are closed: stated, and no warning.

    Those that withhold nothing are marked, whatever others of their code do: they are no doubts.
    """

    def marked(note: Diagnostic) -> Diagnostic:
        if note.code not in DOUBTS_RAISED_BY.keys() | _OF_VERDICTS:
            return note
        columns = {note.feature, note.get("column"), *(note.get("columns") or ())}
        if spec.accepts(note.code, *columns):
            return replace(note.but(accepted=True), level=Level.NOTE)
        held = note.code in _OF_VERDICTS or any(each.rows for each in _doubts_of(note, spec, 1))
        return note if held or note.level is Level.NOTE else note.but(withholds=False)

    return tuple(map(marked, notes))


def mark_few(notes: Collection[Diagnostic], cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Yield notes, of which those of so few rows that they withhold nothing are marked."""
    held = {replace(each, rows=0) for each in open_doubts(notes, cube, spec)}
    for note in notes:
        doubts = {replace(each, rows=0) for each in _doubts_of(note, spec, cube.read)}
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
        for each in _doubts_of(note, spec, cube.read) if note.level is Level.WARNING else ():
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
