"""Comparing: two reports, or models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Never, Unpack

from fairgauge.api.audit import counted, counted_people, repeated_rows
from fairgauge.catalogue.facts import described
from fairgauge.checks.favourable import assumed_positive
from fairgauge.checks.identifier_checks import never_repeats
from fairgauge.checks.open_doubts import with_accepted, withhold
from fairgauge.checks.outcome_checks import undecided_outcomes
from fairgauge.checks.rows import likely_mistakes
from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.pairs import alone, asked_of, candidate_axes
from fairgauge.cube.plan import Axis
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.errors import DataError, Problem, SpecError, cells, quote, refuse
from fairgauge.inference.missing_values import missing_groups, missing_outcomes
from fairgauge.measure.compare_models import compare_candidates
from fairgauge.measure.compare_reports import compare_reports
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.category_words import no_outcomes
from fairgauge.question.conditions import NOT
from fairgauge.question.option_docs import with_options
from fairgauge.question.options import Options, flag_of
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import MODELS_INSTEAD, Spec
from fairgauge.resolve.excluded_rows import MANY_UNCLUSTERED, NO_CLUSTER, excluded_rows
from fairgauge.resolve.group_checks import one_group, weightless_groups
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import (
    check_known,
    group_texts,
    unmatched_rules,
)
from fairgauge.resolve.resolution import resolve
from fairgauge.results.comparison import ComparedData, Comparison, ModelComparison
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import made_now
from fairgauge.rowwise.paired_score_rows import read_paired_scores
from fairgauge.scan.source import Source
from fairgauge.values import is_one_of, name_of


def compare(
    old: Report | str | Path,
    new: Report | str | Path | None = None,
    *,
    same_rows: bool | None = None,
    **options: Never,
) -> Comparison:
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
    **options
        None: two reports are compared as they are.

    Returns
    -------
    Comparison
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
    message = "two reports are compared as they are; give it to the audit that makes each of them"
    problems = [Problem(name, message) for name in options]
    if new is None or "candidate" in options:
        problems = [Problem("compare", f"takes two reports, old and new; {MODELS_INSTEAD}")]
    refuse(problems)
    assert new is not None
    return compare_reports(old, new, same_rows=same_rows)


@with_options
def compare_models(
    data: object = None, *, config: Config = None, **options: Unpack[Options]
) -> ModelComparison:
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
    ModelComparison
        For each candidate whether it dominates the model in use, is better in what could be tested,
        is a trade-off, is worse or undecided, and the changes that this rests on.

    Raises
    ------
    SpecError
        No candidate is named, or the question is wrong.
    DataError
        The data cannot be read, or do not hold what is asked.

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
    cube, source, spec = counted(data, (), with_config(config, options))
    if not spec.candidate:
        message = (
            "name the columns of the candidates' decisions (candidate=..., --candidate COL); two "
            "reports are compared by fg.compare(old, new), fairgauge compare OLD NEW"
        )
        raise SpecError(Problem("candidate", message))
    check_known(cube, spec)
    rows = excluded_rows(cube, spec).get(NO_CLUSTER, 0)
    if rows >= max(1, MANY_UNCLUSTERED * cube.read):
        column = quote(spec.cluster or "")
        raise DataError(
            f"{rows:,} of {cube.read:,} rows have no identifier in {column}, and changes that are "
            "theirs would be in no confidence interval; give each its own, or "
            f"exclude them ({flag_of('where', {spec.cluster: {NOT: [None]}})})"
        )
    of_models = _found_of_models(cube, spec)
    candidates = compare_candidates(cube, spec, read_paired_scores(source, cube, spec))
    for name, found, of_model, asked in of_models:  # without a name: the model in use
        candidates = tuple(
            each
            for one in candidates
            for each in (
                withhold([one], found, of_model, asked) if name in ("", one.name) else [one]
            )
        )
    return ModelComparison(
        **made_now(),
        task=decide_task(cube, spec),
        data=ComparedData(
            source=source.name if source else "counts",
            fingerprint=cube.digest,
            rows=cube.rows,
            excluded=excluded_rows(cube, spec),
        ),
        spec=spec.to_dict(),
        current=spec.prediction or spec.score or "",
        confidence=spec.confidence,
        candidates=candidates,
        own=tuple(map(described, spec.catalogue.own)),
        diagnostics=tuple(_stated_once(_notes(data, source, cube, spec, of_models))),
    )


_OF_ALL_MODELS = (DiagnosticCode.MISSING_GROUPS, DiagnosticCode.MISSING_STRATA)


def _stated_once(notes: Iterator[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield every note once: what lacks a group or a stratum, as of the first model."""
    stated = set()
    for each in notes:
        of_all = each.code in _OF_ALL_MODELS
        key = (each.code, each.feature, each.get("column")) if of_all else each
        if key not in stated:
            stated.add(key)
            yield each


_Found = tuple[str, tuple[Diagnostic, ...], Cube, Spec]
"""A model, what checks find in its counts, these, and what is asked of them."""


def _notes(
    data: object, source: Source | None, cube: Cube, spec: Spec, of_models: list[_Found]
) -> Iterator[Diagnostic]:
    yield from counted_people(cube, spec)
    yield from never_repeats(cube, spec)
    task, in_use = decide_task(cube, spec), replace(spec, candidate=(), margins=(), rules=())
    yield from assumed_positive(cube, spec, task, spec.catalogue.expand(in_use.metrics))
    yield from unmatched_rules(spec, group_texts(count_groups(cube, spec)))
    for _, found, counts, asked in of_models:
        yield from found
        yield from _excluded(counts, asked)
    yield from repeated_rows(data, source, spec, cube, "compare-models")


def _found_of_models(cube: Cube, spec: Spec) -> list[_Found]:
    """Return what checks find of the model in use and of each candidate.

    Raises
    ------
    SpecError
        A candidate decides in no word of the label, or of the model in use.
    """
    task, in_use = decide_task(cube, spec), replace(spec, candidate=(), margins=(), rules=())

    def found(counts: Cube, asked: Spec) -> tuple[Diagnostic, ...]:
        notes = [*likely_mistakes(counts, asked, task)]
        if asked.label is not None:
            notes += reversed_outcomes_of(resolve(counts, asked))
        return with_accepted(notes, spec)

    models: list[_Found] = [("", found(cube, in_use), cube, in_use)]
    for axis in candidate_axes(cube):
        of_candidate, counts = replace(asked_of(spec, axis), rules=()), alone(cube, axis)
        if spec.label is None:
            decisions = (
                each
                for each in undecided_outcomes(counts, of_candidate)
                if each.code is not DiagnosticCode.NOT_FAVOURABLE
            )
            notes = with_accepted([*_unlike_in_use(cube, axis, spec), *decisions], spec)
            models.append((axis.column, notes, counts, of_candidate))
            continue
        try:
            models.append((axis.column, found(counts, of_candidate), counts, of_candidate))
        except SpecError as refused:
            column = quote(axis.column)
            raise SpecError(
                [Problem("candidate", f"{column} {each.message}") for each in refused.problems]
            ) from refused
    return models


def _unlike_in_use(cube: Cube, candidate: Axis, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of decisions that the model in use never has: without labels it shows which there are.

    Raises
    ------
    SpecError
        There are no others.
    """
    in_use = cube.plan.axis(Role.PREDICTION)
    assert in_use is not None
    if in_use.bins:
        return
    known = [*cube.levels[in_use], *spec.positive_of(in_use.column)]
    strange = {v: n for v, n in levels_with_cases(cube, candidate) if not is_one_of(v, known)}
    if strange and len(strange) == len(cube.levels[candidate]):
        held, other = (cells(map(name_of, e)) for e in (cube.levels[in_use], strange))
        message = (
            f"{quote(candidate.column)} holds {other}, which the model in use, "
            f"{quote(in_use.column)}, does not (it holds {held}); use the same values in both"
        )
        raise SpecError(Problem("candidate", message))
    for value in no_outcomes(cube.levels[candidate]):
        strange.pop(value, None)  # `undecided_outcomes` warns of it
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


def _excluded(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    for of in count_groups(cube, spec):
        yield from (*missing_groups(of, spec), *one_group(of, spec), *weightless_groups(of))
        for each in missing_outcomes(of, spec):
            given = dict(each.parameters)
            if given["what"] != "label":
                given["what"] = f"decision by {quote(spec.prediction or spec.score or '')}"
            yield Diagnostic.warning(each.code, each.feature, **given)
