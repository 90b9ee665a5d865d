"""Comparing: two reports, or models on the same rows, of which one may discriminate less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from fairgauge.api.audit import Run, start_run
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import is_of_decisions
from fairgauge.catalogue.score_statistics import RocAuc
from fairgauge.checks.coded_numbers import coded_numbers
from fairgauge.checks.outcome_checks import assumed_positive, undecided_outcomes, unlike_refusals
from fairgauge.checks.rows import likely_mistakes, with_accepted, with_unstated, withhold
from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import Axis
from fairgauge.cube.views import asked_of, candidate_axes, view_of_candidate
from fairgauge.enums import DiagnosticCode, Method, ReferenceRule, Role, Task
from fairgauge.errors import (
    DataError,
    Problem,
    SpecError,
    cells,
    listing,
    problems_where,
    quote,
    refuse,
)
from fairgauge.inference.missing_values import missing_groups, missing_outcomes
from fairgauge.measure.alternatives import further_search, judge_alternatives
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
from fairgauge.results.alternatives import Alternatives, Assumed
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


# ---- alternatives: candidates that are as good as the model in use, and less discriminatory

_MARGINS = (("accuracy", 0.01),)


@with_options
def alternatives(
    data: object = None,
    *,
    disparity: str = "selection_rate",
    harm: float = 0.02,
    chosen_on: object = None,
    retrained: bool = False,
    looks: Sequence[int] = (),
    fixed_number: bool = False,
    config: Config = None,
    **options: Unpack[Options],
) -> Alternatives:
    """State which candidates are shown to be as good as the model in use and less discriminatory.

    All claims hold together: of 100 searches in which no candidate is both, at most 2.5 name one,
    whatever the number of candidates. Every candidate that was looked at on these rows must be
    given, also those that were discarded, and the rows must have no part in training or choosing.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.compare_models`, with the decisions (or scores, decided at one threshold)
        of all models. Of the options, ``margins`` are the rates of all rows that may be worse, and
        by how much (default ``{"accuracy": 0.01}``); ``reference`` is a named group or the largest
        (default), of a preset with ``best`` the group that is best under the model in use. A
        candidate with ``*`` stands for all columns that it matches, but for the one in use.
    disparity : str
        The rate whose gaps between a group and its reference are to be smaller, or one of its
        metrics, such as ``"selection_rate.ratio"``.
    harm : float
        By how much the gap of any other group may grow: less than this.
    chosen_on : as ``data``
        Other rows, on which the one candidate to judge is chosen; so it needs no adjustment.
    retrained : bool
        Whether candidates are retrainings of one recipe, in the order of training; then the result
        has a ``search``: what more of them could find.
    looks : sequence of int
        The numbers of retrainings at which it was planned to look; ``fixed_number`` states that
        their number was fixed beforehand. Without either the search may have stopped at will.
    {config}
    {options}

    Returns
    -------
    Alternatives
        The verdict (shown, none shown, not judged), the best candidate, and what each changes.

    {errors}

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
    ...     "repaid": [1, 1, 0, 0, 1, 1, 0, 0], "current": [0, 1, 0, 1, 1, 1, 1, 0],
    ...     "boosted": [1, 1, 0, 1, 1, 1, 1, 0],
    ...     "n": [400, 1000, 1400, 200, 1600, 100, 300, 1000],
    ... })
    >>> found = fg.alternatives(
    ...     rows, label="repaid", prediction="current", candidate="boosted", sensitive="sex",
    ...     reference={"sex": "M"}, count="n", margins={"accuracy": 0.01},
    ... )
    >>> str(found.verdict), found.best, found["boosted"].shown_for
    ('shown', 'boosted', ('F',))
    """
    asked = with_config(config, options)
    if asked.get("reference") is None and asked.get("preset") is None:
        asked = asked | {"reference": str(ReferenceRule.LARGEST)}
    assumes: Assumed = "fixed" if fixed_number else "planned" if looks else "any"
    refuse(problems_where(
        (retrained and chosen_on is not None, "retrained",
         "one candidate was chosen on other rows: ask of the search without chosen_on"),
        (assumes != "any" and not retrained, "retrained",
         "looks and fixed_number are of retrainings of one recipe: state retrained, too"),
        (bool(looks) and fixed_number, "fixed_number", "state either looks or a fixed number"),
    ))  # fmt: skip
    if chosen_on is None:
        found = _search_alternatives(data, asked, disparity, harm)
        if not retrained:
            return found
        many = len(found.candidates)
        message = f"there are {many} retrainings, and it was planned to look at {listing(looks)}"
        refuse(problems_where((bool(looks) and many not in looks, "looks", message)))
        search = further_search(
            found.candidates, found.metric.neutral, found.confidence, assumes, tuple(looks)
        )
        return replace(found, search=search)
    first = _search_alternatives(chosen_on, asked, disparity, harm)
    chosen = max(
        first.candidates,
        key=lambda one: (bool(one.shown_for), one.is_as_good, first.reduction(one)),
    )
    found = _search_alternatives(data, asked | {"candidate": chosen.name}, disparity, harm)
    if chosen.rates == found.candidates[0].rates:  # of as many rows, too
        raise DataError("chosen_on holds the same rows; choose on others than those that judge")
    return replace(found, chosen_on=first.data.source, chosen_among=len(first.candidates))


def _search_alternatives(data: object, options: Any, disparity: str, harm: float) -> Alternatives:
    run = count_models("alternatives", data, options)
    cube, spec = run.cube, run.spec
    metric = _gap_metric(spec, disparity)
    _check_search(run, harm)
    asked = replace(spec, metrics=(metric.name,), margins=spec.margins or _MARGINS)
    candidates = judge_alternatives(cube, asked, metric, harm)
    models = models_of(cube, asked)
    found = Alternatives(
        **run.stated(cube.read),
        current=spec.prediction or spec.score or "",
        disparity=metric.name,
        harm=harm,
        confidence=spec.confidence,
        fingerprint=cube.digest,
        candidates=candidates,
        spec=with_unstated(asked, models[0][1]).to_dict(),
        diagnostics=comparison_notes(run, models),
    )
    for name, notes, counts, question in models:  # without a name: the model in use
        (doubted,) = withhold([found], notes, counts, replace(question, margins=asked.margins))
        both = zip(found.candidates, doubted.candidates, strict=True)
        kept = tuple(new if name in ("", new.name) else old for old, new in both)
        found = replace(found, candidates=kept)
    return found


def _gap_metric(spec: Spec, name: str) -> Contrast:
    try:
        metric: object = spec.catalogue.metric(f"{spec.catalogue.rate(name).name}.difference")
    except LookupError:
        try:
            metric = spec.catalogue.metric(name)
        except LookupError as error:
            raise SpecError(Problem("disparity", str(error))) from None
    if not is_of_decisions(metric):
        message = "must be a rate of decisions, or the difference or ratio of one"
        refuse([Problem("disparity", message)])
    assert isinstance(metric, Contrast)
    return metric


def _check_search(run: Run, harm: float) -> None:
    spec, cuts = run.spec, run.spec.threshold
    several = isinstance(cuts, tuple) and len(cuts) > 1 and spec.prediction is None
    rates = rates_of_margins(spec)
    refuse(problems_where(
        (spec.label is None, "label", "name the column of outcomes: performance needs it"),
        (not spec.sensitive, "sensitive", "name the columns of groups"),
        (spec.strata, "strata", "candidates are compared over all rows; name some by where"),
        (spec.method is not Method.DEFAULT, "method", "changes have paired intervals of their own"),
        (decide_task(run.cube, spec) is not Task.BINARY, "task", "name decisions of two outcomes"),
        (several, "threshold", "give one threshold: every model is decided at it"),
        (spec.reference in (ReferenceRule.OTHERS, ReferenceRule.OVERALL), "reference",
         "name a group, or the largest: a gap to all others changes with the others"),
        (len(rates) < len(spec.margins), "margins",
         "are of rates of all rows, such as accuracy=0.01; by how much gaps may grow is harm"),
        (not 0 < harm < 1, "harm", "must be above 0 and below 1"),
        *((rate.needs - {"label", "prediction"} and not isinstance(rate, RocAuc),
           f"margins.{rate.name}", "is of no decisions: name a rate such as accuracy, or roc_auc")
          for rate in rates),
        (spec.prediction is not None and any(isinstance(rate, RocAuc) for rate in rates),
         "margins.roc_auc", "is of scores: name those in use (score, --score) and a threshold"),
    ))  # fmt: skip
