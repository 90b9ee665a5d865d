"""Comparing: two reports, or models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from fairgauge.api.audit import Run, start_run
from fairgauge.checks.coded_numbers import coded_numbers
from fairgauge.checks.outcome_checks import assumed_positive, undecided_outcomes, unlike_refusals
from fairgauge.checks.rows import likely_mistakes, with_accepted, with_unstated, withhold
from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import Axis
from fairgauge.cube.views import asked_of, candidate_axes, view_of_candidate
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.errors import DataError, Problem, SpecError, cells, quote
from fairgauge.inference.missing_values import missing_groups, missing_outcomes
from fairgauge.measure.compare_models import compare_candidates, rates_of_margins
from fairgauge.measure.compare_reports import compare_reports
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.conditions import NOT
from fairgauge.question.options import Options, flag_of, with_options
from fairgauge.question.specification import Config, Spec, with_config
from fairgauge.resolve import question_checks
from fairgauge.resolve.counted_values import Counted
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.resolution import MANY_UNCLUSTERED, NO_CLUSTER, excluded_rows, resolve
from fairgauge.results.comparison import Change, Origin
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import made_now
from fairgauge.start.records import replace
from fairgauge.values import is_one_of, name_of


def compare(
    old: Report | str | Path, new: Report | str | Path, *, same_rows: bool | None = None
) -> Change:
    """Compare two reports: a candidate against the model in use, or this month against the last.

    Their rows are different ones, or the reports do not show which rows they share. Models that
    decide the same rows are compared by `fairgauge.compare_models`.

    Parameters
    ----------
    old, new : Report, str or Path
        The two reports, or the JSON files that they were saved to.
    same_rows : bool, optional
        Whether both rest on the same rows (two models on one table). Then the two estimates of a
        disparity depend on each other in a way that reports do not hold, and a change has an
        interval only where no dependence would explain it (the widest that any correlation gives).
        Otherwise the rows are taken to be different, and the estimates independent. The
        default looks: the same counts, or groups of just the same sizes, are the same rows.

    Returns
    -------
    Change
        What was asked differently, the verdicts that changed, what became of every disparity, and
        what changed in the data; ``.worse`` states whether anything got statistically significantly
        worse.

    Raises
    ------
    DataError
        A file is missing or unreadable, or holds no report.
    SpecError
        The reports are about different labels, favourable values or tasks.

    Examples
    --------
    >>> import fairgauge as fg
    >>> def report(tp, fn):
    ...     women = {"tp": tp, "fn": fn, "fp": 30, "tn": 300}
    ...     men = {"tp": 400, "fn": 100, "fp": 60, "tn": 500}
    ...     return fg.audit(fg.confusion("sex", {"F": women, "M": men}), metrics="RD")
    >>> found = fg.compare(report(250, 60), report(210, 110))
    >>> found.worse, found.changes[0].group, round(found.changes[0].change, 3)
    (True, 'F', 0.15)
    """
    return compare_reports(old, new, same_rows=same_rows)


@with_options
def compare_models(
    data: object = None, *, config: Config = None, **options: Unpack[Options]
) -> Change:
    """Compare candidate models with the model in use on the same rows.

    The rows are counted once, by all decisions together; every change has a paired confidence
    interval.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`, with the decisions (or scores) of all models.
    {config}
    {options}

    Returns
    -------
    Change
        For each candidate whether it dominates the model in use, is better in what could be tested,
        is a trade-off, is worse or undecided, and the changes that this rests on.

    {errors}

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
    ...     "repaid": [1, 1, 0, 1, 1, 1, 0, 1], "current": [0, 1, 0, 0, 1, 1, 1, 0],
    ...     "boosted": [1, 1, 0, 0, 1, 1, 0, 0],
    ...     "n": [500, 1200, 2000, 20, 1500, 300, 400, 20],
    ... })
    >>> found = fg.compare_models(
    ...     rows, label="repaid", prediction="current", candidate="boosted", sensitive="sex",
    ...     count="n", margins={"accuracy": 0.01, "disparity": 0.05},
    ... )
    >>> print(found["boosted"].verdict)
    dominates
    """
    run = count_models("compare-models", data, with_config(config, options))
    cube, spec = run.cube, run.spec
    models = models_of(cube, spec)
    candidates = compare_candidates(cube, spec)
    for name, notes, counts, asked in models:  # without a name: the model in use
        judged = replace(asked, margins=spec.margins)
        candidates = tuple(
            withhold([one], notes, counts, judged)[0] if name in ("", one.name) else one
            for one in candidates
        )
    made, in_use = made_now(), spec.prediction or spec.score or ""
    return Change(
        **made,
        tally=Counted(cube, spec),
        task=decide_task(cube, spec),
        old=Origin(
            **made, name=in_use, source=run.name, fingerprint=cube.digest, rows=cube.rows,
            excluded=excluded_rows(cube, spec),
        ),
        spec=with_unstated(spec, models[0][1]).to_dict(),
        confidence=spec.confidence,
        candidates=candidates,
        own=spec.catalogue.described,
        diagnostics=comparison_notes(run, models),
    )  # fmt: skip


def count_models(verb: str, data: object, options: Options) -> Run:
    """Count the rows by the decisions of all models; refuse what neither can be compared by."""
    if options.get("rules"):
        message = (
            "judge one model: name by how much a candidate may be worse (margins=..., --margin "
            "disparity=0.05), and audit the chosen one by its rules (fairgauge audit)"
        )
        raise SpecError(Problem("rules", message))
    if options.get("person") is not None:  # no decision of a person is the one that counts
        options = {"per_person": "each", **options}
    run = start_run(verb, data, options, models=True)
    cube, spec = run.cube, run.spec
    if not spec.candidate:
        message = (
            "name the columns of the candidates' decisions (candidate=..., --candidate COL); two "
            "reports are compared by fg.compare(old, new), fairgauge compare OLD NEW"
        )
        raise SpecError(Problem("candidate", message))
    question_checks.check_known(cube, spec)
    rows = excluded_rows(cube, spec).get(NO_CLUSTER, 0)
    if rows >= max(1, MANY_UNCLUSTERED * cube.read):
        column = quote(spec.cluster or "")
        raise DataError(
            f"{rows:,} of {cube.read:,} rows have no identifier in {column}, and changes that are "
            "theirs would be in no confidence interval; give each its own, or "
            f"exclude them ({flag_of('where', {spec.cluster: {NOT: [None]}})})"
        )
    return run


_OF_ALL_MODELS = (DiagnosticCode.MISSING_GROUPS, DiagnosticCode.MISSING_STRATA)
# a model, what checks find in its counts, these, and what is asked of them
_Model = tuple[str, tuple[Diagnostic, ...], Cube, Spec]


def comparison_notes(run: Run, models: list[_Model]) -> tuple[Diagnostic, ...]:
    """Return every note once: what lacks a group or a stratum, as of the first model."""
    cube, spec = run.cube, run.spec
    metrics = spec.catalogue.expand(models[0][-1].metrics)
    notes = [*assumed_positive(cube, spec, decide_task(cube, spec), metrics)]
    notes += question_checks.idle_rules(spec, count_groups(cube, spec))
    for _, found, counts, asked in models:
        notes += found
        for of in count_groups(counts, asked):
            notes += [*missing_groups(of, asked), *question_checks.one_group(of, asked)]
            notes += question_checks.weightless_groups(of)
            for each in missing_outcomes(of, asked):
                decision = f"decision by {quote(asked.prediction or asked.score or '')}"
                notes.append(each if each["what"] == "label" else each.but(what=decision))
    stated: dict[object, Diagnostic] = {}
    for each in (*notes, *run.row_notes()):
        of_all = each.code in _OF_ALL_MODELS
        stated.setdefault((each.code, each.feature, each.get("column")) if of_all else each, each)
    return tuple(stated.values())


def models_of(cube: Cube, spec: Spec) -> list[_Model]:
    """Return the model in use, without a name, and the candidates, with what checks find."""
    task, in_use = decide_task(cube, spec), replace(spec, candidate=(), margins=(), rules=())
    candidates = [axis.column for axis in candidate_axes(cube)]
    of_scores = (each for each in coded_numbers(cube, spec) if each["column"] in candidates)
    coded = [each.but(**spec.unit) for each in of_scores]  # as `doubtful_names` states them

    def found(counts: Cube, asked: Spec) -> tuple[Diagnostic, ...]:
        of_margins = (f"{rate.name}.difference" for rate in rates_of_margins(spec))
        judged = replace(asked, metrics=(*asked.metrics, *of_margins))
        notes = [e for e in likely_mistakes(counts, judged, task) if e not in coded]
        if asked.label is not None:
            notes += reversed_outcomes_of(resolve(counts, asked))
        return with_accepted(notes, spec)

    models: list[_Model] = [("", found(cube, in_use), cube, in_use)]
    for axis in candidate_axes(cube):
        asked, counts = replace(asked_of(spec, axis), rules=()), view_of_candidate(cube, axis)
        try:
            if spec.label is None:
                known = undecided_outcomes(counts, asked)
                notes = with_accepted([*_unlike_in_use(cube, axis, spec), *known], spec)
            else:
                notes = found(counts, asked)
        except SpecError as refused:
            column = quote(axis.column)
            messages = (f"{column} {each.message}" for each in refused.problems)
            raise SpecError(Problem("candidate", each) for each in messages) from refused
        own = with_accepted((each for each in coded if each["column"] == axis.column), asked)
        models.append((axis.column, (*notes, *own), counts, asked))
    return models


def _unlike_in_use(cube: Cube, candidate: Axis, spec: Spec) -> Iterator[Diagnostic]:
    # warn of decisions that the model in use never has; refuse where there are no others
    in_use = cube.plan.axis(Role.PREDICTION)
    assert in_use is not None
    if in_use.bins:
        return
    known = [*cube.levels[in_use], *spec.positive_of(in_use.column)]
    strange = {v: n for v, n in levels_with_cases(cube, candidate) if not is_one_of(v, known)}
    if strange and len(strange) == len(cube.levels[candidate]):
        held, other = (cells(map(name_of, e)) for e in (cube.levels[in_use], strange))
        message = (
            f"holds {other}, which the model in use, "
            f"{quote(in_use.column)}, does not (it holds {held}); use the same values in both"
        )
        raise SpecError(Problem("candidate", message))
    if strange:
        for value, _ in unlike_refusals(cube, candidate, spec):
            strange.pop(value, None)
    if strange:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_NOT_A_LABEL,
            column=candidate.column,
            label=in_use.column,
            values=tuple(map(name_of, strange)),
            **spec.unit,
            rows=sum(strange.values()),
            in_use=True,
        )
