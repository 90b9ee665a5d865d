"""The pipeline from data to a report: specify, count, measure, decide; and what verbs share."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar, Unpack, cast

from fairgauge.api import _first_rows as first_rows
from fairgauge.api._first_rows import notes_of_files
from fairgauge.catalogue.statistics import Blend
from fairgauge.checks.missingness_checks import doubtful_identifiers, repeated_people
from fairgauge.checks.names import doubtful_names
from fairgauge.checks.outcome_checks import assumed_positive, copied_outcomes
from fairgauge.checks.rows import (
    CHECKS,
    DataCheck,
    Decided,
    likely_mistakes,
    mark_few,
    with_accepted,
    with_unstated,
    withhold,
)
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Moment, Plan, answer_plan, is_of_answers, plan
from fairgauge.enums import (
    DiagnosticCode,
    Favourable,
    Missing,
    Observation,
    Outcome,
    Role,
    Task,
    Threshold,
    Uncounted,
)
from fairgauge.errors import (
    CubeError,
    DataError,
    SpecError,
    alternatives,
    problems_where,
    quote,
    refuse,
    suggest,
)
from fairgauge.measure.findings import choose_findings
from fairgauge.measure.measure import ByRows, estimated_groups, measure, reversed_outcomes_of
from fairgauge.measure.measured import Measured
from fairgauge.question.features import Above
from fairgauge.question.options import Options, with_options
from fairgauge.question.readers import as_cut, controls_as_strata
from fairgauge.question.rules import Rule
from fairgauge.question.specification import (
    COLUMNS,
    SHARED,
    Config,
    Spec,
    SwapQuestion,
    ask,
    ask_rows,
    labels_come_later,
    read_swap_question,
    refuse_beyond_audits,
    refuse_candidates,
    unknown_columns,
    with_config,
)
from fairgauge.reasons import Parameter, ReasonCode
from fairgauge.resolve import question_checks
from fairgauge.resolve.counted_values import Counted
from fairgauge.resolve.group_counts import count_groups, ungrouped_rows
from fairgauge.resolve.outcomes import (
    count_people,
    decide_task,
    plan_by_person,
    with_stated_outcomes,
)
from fairgauge.resolve.resolution import (
    excluded_rows,
    exclusion_notes,
    resolve,
    resolve_groups,
    used_rows,
)
from fairgauge.results.report import COUNTS, Data, Report
from fairgauge.results.scopes import Diagnostic, defined_by
from fairgauge.results.shown_result import CountedData, CountedResult, CountedValue, made_now
from fairgauge.results.verdicts import Verdict, counted_as, overall, reasons_of
from fairgauge.rowwise.copies import Copies, find_copies
from fairgauge.rowwise.row_metrics import RowReader
from fairgauge.scan import chosen_rows, open_rows, open_source
from fairgauge.scan.identifiers import with_hidden_clusters
from fairgauge.scan.input_files import open_files
from fairgauge.scan.source import (
    NotNumeric,
    Opened,
    Readable,
    Source,
    UnreadableNumbers,
    can_look_at_rows,
)
from fairgauge.start.records import dataclass, fields, replace

# the options of outcomes, without which groups can be counted alone
_OF_OUTCOMES = (
    "label", "prediction", "score", "candidate", "margins", "score_of", "threshold", "positive",
    "strata", "cluster", "task", "person", "per_person",
)  # fmt: skip
_MOST_ANSWERS = 1_000
# cases of a count column up to which each becomes a row, for the metrics of single rows
_MOST_REPEATED = 10_000_000


@with_options
def audit(data: object = None, *, config: Config = None, **options: Unpack[Options]) -> Report:
    """Audit a model, or its training data, for disparities between groups of people.

    The rows are read once, counted by group, label and prediction, and never kept; every number of
    the report comes from the counts.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        A frame of pandas, polars, pyarrow, DuckDB or any engine that narwhals knows; files
        (.csv .csv.gz .tsv .parquet .jsonl .json .arrow .feather); or counts made earlier, which
        know their own question, so that only what changes is given. A mapping of names
        to arrays is a table, too; None where arrays are given in place of all columns.
    {config}
    {options}

    Returns
    -------
    Report
        The groups, the estimates, the verdicts and what a reader should know.

    {errors}

    Examples
    --------
    >>> import fairgauge as fg
    >>> counts = fg.confusion("sex", {
    ...     "Female": {"tp": 20, "fp": 5, "fn": 7, "tn": 18},
    ...     "Male": {"tp": 65, "fp": 10, "fn": 5, "tn": 20},
    ... })
    >>> report = fg.audit(counts)
    >>> round(report["true_positive_rate.difference", "sex", "Female"].value, 4)
    -0.1878

    Arrays, Series and lists stand in place of columns; a mapping names the sensitive features.
    Their rows are matched by position, so that labels shifted by one row are not noticed: where
    you can, pass one table and the names of its columns.

    >>> report = fg.audit(
    ...     label=[1, 0, 1, 1], prediction=[1, 0, 0, 1], sensitive={"sex": ["F", "F", "M", "M"]}
    ... )
    >>> report["accuracy.difference", "sex", "M"].value
    -0.5
    """
    options = with_config(config, options, judges=True)
    run = start_run("audit", data, options)
    cube, source, spec = run.cube, run.source, run.spec
    question_checks.check_known(cube, spec)
    refuse(problems_where((
        not (spec.label or spec.prediction or spec.score or options.get("metrics")), "prediction",
        ("name what is compared: decisions (--prediction COL), outcomes (--label COL) or scores "
         "(--score COL)"),
    )))  # fmt: skip
    mistakes = run.mistakes()
    repeated = (*notes_of_files(data, spec), *first_rows.totals_of_rows(source, cube, spec))
    repeated = with_accepted(repeated, spec)
    stated = with_unstated(spec, mistakes)
    of_limits = question_checks.limits_of_the_better_off(
        spec.rules, spec.catalogue, stated.favourable or Favourable.POSITIVE
    )
    notes_of_limits = with_accepted(of_limits, spec)
    measured, verdicts, notes_of_verdicts = measure_and_judge(
        cube, source, spec, (*mistakes, *repeated, *notes_of_limits)
    )
    assumed: tuple[Diagnostic, ...] = ()
    if spec.missing is Missing.IGNORABLE:
        assumed = tuple(_worst_cases_noted(cube, source, spec, (*mistakes, *repeated)))
    excluded, (used, notes_of_used) = excluded_rows(cube, spec), used_rows(cube, spec)
    undecided = 0 if spec.of_people else sum(cube.without_condition.values())
    undecided_rows = sum(each.rows for each in cube.seen(Observation.UNDECIDED))
    weightless = 0 if spec.of_people else cube.excluded.get(Uncounted.NO_WEIGHT, 0)
    rows = [*(each.definition for each in measured.estimates), *(v.definition for v in verdicts)]
    report = Report(
        **made_now(),
        tally=Counted(cube, spec),
        profile=spec.profile,
        task=measured.task,
        data=Data(
            run.name,
            cube.digest,
            cube.rows + (0 if spec.of_people else undecided_rows),
            cube.cases + undecided + weightless,
            used,
            excluded,
        ),
        spec=stated.to_dict(),  # nobody is called worse off by an assumption that is in doubt
        groups=measured.groups,
        totals=measured.totals,
        estimates=measured.estimates,
        verdicts=verdicts,
        verdict=overall(verdicts),
        diagnostics=(
            *_note_origin_of_counts(data, cube, spec),
            *counted_people(cube, spec),
            *_task_note(measured.task, spec, options),
            *exclusion_notes(excluded, spec, cube.read),
            *notes_of_used,
            *assumed,
            *assumed_positive(cube, spec, measured.task, rows),
            *notes_of_limits,
            *mark_few((*mistakes, *repeated, *measured.diagnostics), cube, spec),
            *notes_of_verdicts,
        ),
        estimators=measured.estimators,
        score_curves=measured.score_curves,
        pairs=measured.pairs,
        own=spec.catalogue.described,
    )
    findings = choose_findings(defined_by(report.catalogue, report))
    means = Blend in {type(getattr(each.definition, "of", None)) for each in report.estimates}
    if means or spec.strata or spec.preset is not None:
        from fairgauge.measure import composition_notes as more

        notes = (
            *more.offsetting_parts(report.estimates, cube, spec),
            *more.note_hidden_differences(report, cube, spec),
            *more.composition_notes(findings, cube, spec, measured.task),
        )
        expected = more.adverse_impact(report, spec)
        report = replace(report, diagnostics=(*report.diagnostics, *notes), adverse_impact=expected)
    return replace(defined_by(report.catalogue, report), findings=findings, counts=cube)


def _worst_cases_noted(
    cube: Cube, source: Source | None, spec: Spec, mistakes: Sequence[Diagnostic]
) -> Iterator[Diagnostic]:
    # what rules come to whatever groups the rows without one are in, beside the assumption
    plain = replace(spec, missing=Missing.EXCLUDE)
    _, verdicts, _ = measure_and_judge(cube, source, plain, mistakes)
    for counts in count_groups(cube, plain):
        facts: dict[str, Parameter] = {}
        own = [each for each in verdicts if each.feature == counts.feature]
        for verdict in reversed(own):
            for reason in reasons_of(verdict):
                if reason.code is ReasonCode.MISSING_GROUPS and reason.get("low") is not None:
                    facts = {"rule": str(verdict.rule), "group": verdict.group}
                    facts |= {"low": reason.get("low"), "high": reason.get("high")}
        if own:
            facts["outcome"] = str(overall(own))
        yield Diagnostic.note(
            DiagnosticCode.IGNORABLE_MISSING, counts.feature, **facts,
            rows=int(ungrouped_rows(counts, "n")), total=cube.read,
        )  # fmt: skip


def values_counted(data: object, **options: Unpack[Options]) -> tuple[CountedValue, ...]:
    """Count rows as an audit does, and return what each value counts as."""
    cube, _, spec = count_data(data, options)
    return Counted(cube, spec).values


def late_labels(data: object, spec: Spec) -> tuple[object, str | None]:
    """Return rows without the column of their labels with one in which all lack, and a note on it.

    Rows that have the column, or are in a database, and counts are returned as they are.
    """
    label = spec.label
    if data is None or isinstance(data, Cube) or label is None:
        return data, None
    source = open_source(data)
    with_missing = getattr(source, "with_missing", None)
    if label in source.columns or with_missing is None:
        return data, None
    unused = [c for c in source.columns if c not in dict(spec.columns()).values()]
    return Opened(with_missing(label)), (
        f"{quote(source.name)} has no column {quote(label)}, so that no row has its label yet."
        f"{suggest(label, unused)}"
    )


def count(data: object = None, *, config: Config = None, **options: Unpack[Options]) -> Cube:
    """Count the rows that an audit needs, and nothing else.

    Takes the arguments of `audit`, and raises its errors. The cube can be saved, added to cubes of
    other rows, and audited at any time. With ``item`` and ``variant`` it takes those of `pairs`,
    and counts answers. ``controls`` are those of `why`, and counted as further strata.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({"y": [1, 0, 1], "sex": ["F", "M", "M"]})
    >>> fg.count(rows, label="y", sensitive="sex")
    <Cube of 3 rows in 3 cells: feature sex, label y>

    Warns
    -----
    UserWarning
        Rows are probably those of fewer people, as the first rows show: an audit of the counts
        cannot see it; or the rows have no column of the labels that a monitor expects later.
    """
    asked = cast("Options", controls_as_strata(with_config(config, options)))
    if "item" in asked or "variant" in asked:
        return counted_answers(data, asked)[0]
    if labels_come_later(config):
        data, note = late_labels(data, ask(**asked))
        if note is not None:
            warnings.warn(note, UserWarning, stacklevel=2)
    cube, _, spec = count_data(data, asked)
    for each in repeated_people(cube, spec):
        warnings.warn(each.message, UserWarning, stacklevel=2)
    return cube


def counted_answers(
    data: object, asked: Mapping[str, object]
) -> tuple[Cube, Source | None, SwapQuestion]:
    """Return the counts of answers, the rows that they are of, if any, and the question."""
    if isinstance(data, Cube):
        columns = {str(axis.role): axis.column for axis in data.plan.axes}
        if not is_of_answers(data.plan):
            raise CubeError(
                "these counts are of people, not of answers under swapped names; audit them "
                "(fairgauge audit)"
            )
        saved = {name: value for name, value in data.asked.to_dict().items() if name in SHARED}
        held = {name: columns.get(name) for name in COLUMNS}
        question = read_swap_question({**saved, **held, **asked})
        if answer_plan(question).axes != data.plan.axes:
            raise CubeError(
                "these counts are of other columns or other decisions; count the answers again"
            )
        return data, None, question
    source, _ = open_rows(data, {})
    question = read_swap_question(asked)
    refuse([*unknown_columns(question.columns(), source.columns)])
    cube = source.count(answer_plan(question), _MOST_ANSWERS)
    return replace(cube, question=question.spec), source, question


def counted_with_warnings(
    data: object = None, **options: Unpack[Options]
) -> tuple[Cube, tuple[Diagnostic, ...]]:
    """Count as `count` does, and warn of what an audit of the counts alone would find too late.

    Rows of one person cannot be seen in counts, and scores that are those of another value are
    better known before the counts of many days are added up.
    """
    cube, _, spec = count_data(data, options)
    found = (*doubtful_identifiers(cube, spec), *notes_of_rows(data, cube, spec))
    if spec.score is None or spec.label is None:
        return cube, found
    try:
        resolution = resolve(cube, spec)
    except SpecError:  # which the audit raises: other counts to be added may hold what is missing
        return cube, found
    return cube, (*found, *reversed_outcomes_of(resolution))


def counting_query(data: Source | Cube, **options: Unpack[Options]) -> str:
    """Return the query that would count rows: of a database, or of DuckDB for files."""
    write = getattr(data, "query", None)
    if isinstance(data, Cube) or write is None:
        what = "counts" if isinstance(data, Cube) else quote(data.name)
        message = f"{what} cannot be counted by a query; name files, or rows of a database"
        raise DataError(f"{message} (--table)")
    return f"{write(_plan_of_one_query(ask(data.columns, **options)))};"


def count_cells(path: str, **options: Unpack[Options]) -> Cube:
    """Return the counts that a warehouse answered to `counting_query`, from a file."""
    from fairgauge.scan.warehouse import read_cells

    source, spec = open_files(path), ask(None, None, **options)
    assert isinstance(source, Readable)  # as every file is
    cube = read_cells(source, _plan_of_one_query(spec), spec.max_groups)
    return with_hidden_clusters(replace(cube, question=spec))


def _plan_of_one_query(spec: Spec) -> Plan:
    several_steps = {
        "where (which --query can hold)": bool(spec.where),
        "person (count each decision: --per-person each)": spec.of_people,
        "successes": bool(spec.successes),
        "threshold 'median' (state a number)": (
            spec.threshold is Threshold.MEDIAN and spec.prediction is None
        ),
        "probabilities": bool(spec.probabilities),
    }
    if asked := [option for option, is_asked in several_steps.items() if is_asked]:
        what = alternatives(asked)
        raise DataError(f"no one query counts by {what}; let fairgauge count (without --show-sql)")
    return plan(spec)


def check_groups(
    data: Source | Cube, spec: Spec, monitored: tuple[Rule, ...] = ()
) -> tuple[Diagnostic, ...] | None:
    """Resolve the groups of the data as an audit does, and warn of names that no group has.

    ``monitored`` are the rules of a table [monitor], which may name groups too. Of counts
    everything is resolved; of rows only the sensitive features are read, and None is returned where
    even that would need a query elsewhere.
    """
    if isinstance(data, Cube):
        check_held(data, spec)
        cube, asked = data, spec
    elif can_look_at_rows(data):
        # all that is asked of groups, and of rows what states how often they count
        asked = replace(spec, **{name: getattr(Spec(), name) for name in _OF_OUTCOMES})
        rows = chosen_rows.chosen_rows(chosen_rows.add_probability_columns(data, asked), spec)
        of_groups = plan(asked)
        whole = plan(spec, median=spec.score_range[0])
        numeric, read = whole.numeric_columns, set(of_groups.numeric_columns)
        sums = (Moment(f"sum_{i}", (c,), ("x",)) for i, c in enumerate(numeric) if c not in read)
        listed = tuple(whole.no_numbers.items())
        cube = rows.count(
            replace(of_groups, moments=(*of_groups.moments, *sums), listed=listed), spec.max_groups
        )
        chosen_rows.check_cells(cube, data, asked)
    else:
        return None
    question_checks.check_known(cube, asked)
    of_counts = isinstance(data, Cube)
    features = resolve(cube, spec).features if of_counts else resolve_groups(cube, asked)
    for each in estimated_groups(cube, spec):
        each.check_answers()
    of_monitor = replace(spec, rules=monitored)
    return (
        *copied_outcomes(cube, spec),
        *question_checks.uncrossed_features(spec),
        *question_checks.single_row_groups(cube, asked),
        *question_checks.numeric_groups(cube, asked),
        *doubtful_names(cube, asked),
        *question_checks.unmatched_values(cube, spec),
        *(note for feature in features for note in question_checks.one_group(feature, asked)),
        *question_checks.idle_rules(spec, features),
        *question_checks.idle_rules(of_monitor, features, "monitor.rules"),
        *question_checks.limits_outside_range(cube, spec),
    )


def with_noted_rows(data: object, source: Source, cube: Cube, spec: Spec) -> Cube:
    """Return counts with their question, and with what the rows show that counts do not."""
    copies: Copies
    if files := first_rows.copied_files(data):
        copies = ("times", max(map(len, files))), ("files", sum(map(len, files)))
    else:
        copies = find_copies(source, cube, spec)
    repeated = () if copies else first_rows.columns_that_repeat_people(source, cube, spec)
    noted = (*cube.observed, *repeated, *first_rows.means_of_cases(source, spec))
    return replace(cube, question=spec, copies=copies, observed=noted)


def count_data(data: object, options: Options) -> tuple[Cube, Source | None, Spec]:
    """Return the counts of the data, the source they were counted from, and the specification.

    The source is None where the data are counts already.
    """
    if isinstance(data, Cube):
        spec = ask(base=data.asked, **options)
        check_same_rows(data, spec)
        check_held(data, spec)
        return with_stated_outcomes(data, spec), None, spec
    source, named = open_rows(data, options)
    spec = ask_rows(source, **_matched_candidates(source.columns, named))
    source = chosen_rows.chosen_rows(chosen_rows.add_probability_columns(source, spec), spec)
    spec, of_rows = first_rows.plan_rows(source, spec)

    def count(asked: Plan) -> Cube:
        made = plan_by_person(asked, spec) if spec.of_people else asked
        first_rows.read_ahead(source, made, spec)
        rows = with_stated_outcomes(source.count(made, spec.max_groups), spec)
        return count_people(rows, asked, spec) if spec.of_people else rows

    try:
        cube = chosen_rows.recount_about_mean(count(of_rows), count)
    except (NotNumeric, UnreadableNumbers):  # of a category that looks like a cut
        cut = spec.positive.to_dict() if isinstance(spec.positive, Above) else None
        columns = [each for each in (spec.label, spec.prediction) if each]
        held = source.fetch(columns, 100_000)[0] if columns and isinstance(source, Readable) else []
        texts = {text for values in held for text in map(str, values) if as_cut(text) == cut}
        if not texts:
            raise
        return count_data(data, {**options, "positive": [*texts]})
    chosen_rows.check_cells(cube, source, spec)
    cube = with_noted_rows(data, source, cube, spec)
    return with_hidden_clusters(cube), source, spec


def _matched_candidates(columns: Sequence[str], options: Mapping[str, Any]) -> dict[str, object]:
    # a candidate with an asterisk stands for the columns that it matches, in their order
    given = options.get("candidate")
    asked = [given] if isinstance(given, str) else given or ()
    if not any("*" in str(each) for each in asked):
        return dict(options)
    in_use = (options.get("prediction"), options.get("score"), options.get("label"))
    every = [
        column
        for each in asked
        for column in ((each in columns and [each]) or fnmatch.filter(columns, each) or [each])
        if column not in in_use
    ]
    return {**options, "candidate": list(dict.fromkeys(every))}


def notes_of_rows(data: object, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of what rows show before an audit of their counts does."""
    yield from notes_of_files(data, spec)
    yield from repeated_people(cube, spec)


def measure_and_judge(
    cube: Cube, source: Source | None, spec: Spec, mistakes: Sequence[Diagnostic]
) -> tuple[Measured, tuple[Verdict, ...], list[Diagnostic]]:
    """Measure what is asked and judge it by the rules; return the notes on verdicts as well.

    What checks found (``mistakes``) leaves no pass that stands on it.
    """
    by_rows: ByRows | None = None  # where rows can only be counted
    # a table of counts, which are many, is none of rows
    counts = spec.count is not None and cube.cases > _MOST_REPEATED
    if source is not None and isinstance(source, Readable) and not spec.of_people and not counts:
        by_rows = RowReader(source, cube)
    estimated = estimated_groups(cube, spec)
    measured = measure(cube, spec, by_rows, estimated)
    notes_of_measures = with_accepted(measured.diagnostics, spec)
    measured = replace(measured, diagnostics=notes_of_measures)
    if not spec.rules:
        return measured, (), []
    from fairgauge.measure.decide import judge_together, reference_notes, remaining_notes

    def measure_at(confidence: float) -> Measured:
        stricter = replace(spec, confidence=confidence, metrics=())  # those of the rules alone
        return measure(cube, stricter, by_rows, estimated)

    verdicts = judge_together(measured, spec, measure_at)
    of_reference = with_meant_reference(reference_notes(measured, spec, verdicts), spec)
    notes = [*remaining_notes(measured, spec, verdicts), *of_reference]
    verdicts = withhold(verdicts, (*mistakes, *notes_of_measures, *of_reference), cube, spec)
    if spec.inconclusive is None:
        return measured, verdicts, notes
    decided = counted_as(verdicts, Outcome(spec.inconclusive))
    if changed := sum(one != other for one, other in zip(verdicts, decided, strict=True)):
        outcome = str(spec.inconclusive)
        notes.append(Diagnostic.note(DiagnosticCode.COUNTED_AS, verdicts=changed, outcome=outcome))
    return measured, decided, notes


def with_meant_reference(notes: Iterable[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    """Return notes on references as accepted where a preset states whom to compare with."""
    return with_accepted(notes, question_checks.accept_reference(spec))


def check_same_rows(cube: Cube, spec: Spec) -> None:
    """Refuse other conditions on rows that are counted already, or other values of theirs."""
    if spec.recode != cube.asked.recode:
        raise CubeError("values are recoded while rows are counted; count them with recode")
    if spec.where != cube.asked.where:
        raise CubeError("rows are chosen while they are counted; count them with where")
    if spec.negative != cube.asked.negative and (cube.asked.negative or spec.of_people):
        raise CubeError("values are undecided since rows were counted; count them with negative")


def check_held(cube: Cube, spec: Spec) -> None:
    """Refuse counts without an axis that a specification asks for."""
    if is_of_answers(cube.plan):
        raise CubeError(
            "these are counts of answers under swapped names; compare them (fairgauge pairs)"
        )
    decision = cube.plan.axis(Role.PREDICTION)
    median = decision.cuts[0] if decision is not None and decision.cuts else None
    for axis in plan(spec, median).axes:
        if axis not in cube.plan.axes and axis.role is not Role.CODES:
            cuts = f" cut at {list(axis.stated_cuts)}" if axis.cuts else ""
            raise CubeError(
                f"these counts do not hold the {axis.role} {quote(axis.column)}{cuts}; "
                "count the data again with it"
            )


def counted_people(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """State what was counted of people, and warn of those whose rows differ."""
    if spec.person is None:
        return
    note, counted = DiagnosticCode.PEOPLE, str(spec.per_person)
    if spec.of_people:
        number: dict[str, Parameter] = {"people": cube.cases, "rows": cube.rows}
        made = Diagnostic.note
        if (undecided := cube.tables[0].sums.get("open")) is not None and undecided.any():
            number["undecided"] = int(undecided.sum())
        if unnamed := cube.conflicts.get(spec.person):
            number["unnamed"], made = unnamed, Diagnostic.warning
        yield made(note, None, column=spec.person, counted=counted, **number)
    else:
        yield Diagnostic.note(note, column=spec.person, counted=counted)
    for column, people in cube.conflicts.items():
        if column != spec.person:
            yield Diagnostic.warning(DiagnosticCode.PEOPLE_UNCLEAR, column=column, people=people)


def notes_of_protection(cube: Cube) -> Iterator[Diagnostic]:
    """Note that counts are rounded, and which values of a sum over sites one site alone lists."""
    if cube.min_cell is None:
        return
    several: dict[str, Parameter] = {}
    if len(cube.parts) > 1:
        cells = tuple(map(str, sorted({part.min_cell for part in cube.parts})))
        several = {"sites": len(cube.parts), "cells": cells}
    yield Diagnostic.note(DiagnosticCode.PROTECTED, None, min_cell=cube.min_cell, **several)
    for part in cube.parts if several else ():
        for column, found in groupby(part.alone, key=itemgetter(0)):
            values = tuple(value for _, value in found)
            yield Diagnostic.note(
                DiagnosticCode.LISTED_ONCE, column=column, values=values, site=part.site or None
            )


def _note_origin_of_counts(data: object, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    yield from notes_of_protection(cube)
    if isinstance(data, Cube) and data.question is not None:
        asked = data.asked
        changed = [f.name for f in fields(Spec) if getattr(asked, f.name) != getattr(spec, f.name)]
        if changed:
            yield Diagnostic.note(DiagnosticCode.OVERRIDES, options=tuple(changed))


def _task_note(task: Task, spec: Spec, options: Options) -> Iterator[Diagnostic]:
    # state what the task was taken for, unless it was stated, and which outcomes it is of
    if options.get("task") or (spec.preset is not None and spec.task is not None):
        return
    decision = "prediction" if spec.prediction or not spec.score else "score"
    given = {"label": spec.label, decision: spec.prediction or spec.score}
    roles = tuple(role for role, column in given.items() if column)
    of: dict[str, Parameter] = {} if roles in ((), ("label", "prediction")) else {"roles": roles}
    stated = task is Task.MULTICLASS and spec.favourable is Favourable.NEITHER
    made = Diagnostic.note if task is Task.BINARY or stated else Diagnostic.warning
    yield made(DiagnosticCode.TASK, None, task=str(task), **of)


Result = TypeVar("Result", bound=CountedResult)


@dataclass(frozen=True, eq=False)
class Run:
    """A call of a verb: the counts, the rows that they are of, if any, and the question."""

    verb: str
    data: object
    cube: Cube
    source: Source | None
    spec: Spec

    @property
    def name(self) -> str:
        return self.source.name if self.source else COUNTS

    def stated(self, rows: int) -> dict[str, Any]:
        """Return what a result states of any verb: when it was made, and of how many rows."""
        data = CountedData(self.name, rows)
        return {**made_now(), "data": data, "tally": Counted(self.cube, self.spec)}

    def mistakes(
        self, more: Iterable[Diagnostic] = (), checks: tuple[DataCheck, ...] = CHECKS
    ) -> tuple[Diagnostic, ...]:
        """Return what checks find in the counts, and more; what the user accepts is closed."""
        one = replace(self.spec, candidate=(), margins=())
        found = likely_mistakes(self.cube, self.spec, decide_task(self.cube, one), checks)
        return with_accepted([*found, *more], self.spec)

    def row_notes(self) -> tuple[Diagnostic, ...]:
        of_files = notes_of_files(self.data, self.spec)
        return with_accepted([*counted_people(self.cube, self.spec), *of_files], self.spec)

    def withhold(
        self, decided: Iterable[Decided], notes: Iterable[Diagnostic]
    ) -> tuple[Decided, ...]:
        """Return what was decided, of which no pass stands on a doubt that the notes leave open."""
        return withhold(decided, notes, self.cube, self.spec)


def start_run(verb: str, data: object, options: Options, *, models: bool = False) -> Run:
    """Open the data, ask and count; candidates are refused unless ``models``."""
    if not models:
        refuse_candidates(options)
    run = Run(verb, data, *count_data(data, options))
    if verb != "audit":
        refuse_beyond_audits(run.spec, verb)
    return run


def run_verb(
    verb: str,
    data: object,
    options: Options,
    answer: Callable[..., Result],
    *,
    check: Callable[[Spec], None] | None = None,
) -> Result:
    """Open the data, ask, refuse, count and check; return what a verb makes of the counts.

    Parameters
    ----------
    verb : str
        The name of the command, for warnings.
    data, options
        As of `fairgauge.audit`, a specification file among the options.
    answer : callable
        Takes the counts, the question, and by name what every `CountedResult` states; returns the
        result, of which ``withheld`` leaves no pass that stands on a doubt that is open.
    check : callable
        Refuses, by a `SpecError`, a question that the verb has no answer to.
    """
    run = start_run(verb, data, options)
    cube, spec = run.cube, run.spec
    if check is not None:
        check(spec)
    question_checks.check_known(cube, spec)
    result = answer(cube, spec, **run.stated(cube.read))
    stated = {(note.code, note.feature) for note in result.diagnostics}  # in its own words
    mistakes = (*run.mistakes(), *run.row_notes())
    notes = (
        *exclusion_notes(excluded_rows(cube, spec), spec),
        *(note for note in mistakes if (note.code, note.feature) not in stated),
        *with_accepted(result.diagnostics, spec),
    )
    result = replace(result, diagnostics=notes, spec=spec.to_dict())
    return run.withhold([result], notes)[0]
