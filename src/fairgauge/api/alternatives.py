"""Alternatives: candidates that are as good as the model in use, and less discriminatory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from fairgauge.api.audit import Run
from fairgauge.api.comparing import comparison_notes, count_models, models_of
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import is_of_decisions
from fairgauge.catalogue.score_statistics import RocAuc
from fairgauge.checks.rows import with_unstated, withhold
from fairgauge.enums import Method, ReferenceRule, Task
from fairgauge.errors import DataError, Problem, SpecError, listing, problems_where, refuse
from fairgauge.measure.alternatives import further_search, judge_alternatives
from fairgauge.measure.compare_models import rates_of_margins
from fairgauge.question.options import Options, with_options
from fairgauge.question.specification import Config, Spec, with_config
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.alternatives import Alternatives, Assumed
from fairgauge.start.records import replace

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
        found = _search(data, asked, disparity, harm)
        if not retrained:
            return found
        many = len(found.candidates)
        message = f"there are {many} retrainings, and it was planned to look at {listing(looks)}"
        refuse(problems_where((bool(looks) and many not in looks, "looks", message)))
        search = further_search(
            found.candidates, found.metric.neutral, found.confidence, assumes, tuple(looks)
        )
        return replace(found, search=search)
    first = _search(chosen_on, asked, disparity, harm)
    chosen = max(
        first.candidates,
        key=lambda one: (bool(one.shown_for), one.is_as_good, first.reduction(one)),
    )
    found = _search(data, asked | {"candidate": chosen.name}, disparity, harm)
    if chosen.rates == found.candidates[0].rates:  # of as many rows, too
        raise DataError("chosen_on holds the same rows; choose on others than those that judge")
    return replace(found, chosen_on=first.data.source, chosen_among=len(first.candidates))


def _search(data: object, options: Any, disparity: str, harm: float) -> Alternatives:
    run = count_models("alternatives", data, options)
    cube, spec = run.cube, run.spec
    metric = _disparity(spec, disparity)
    _check(run, harm)
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


def _disparity(spec: Spec, name: str) -> Contrast:
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


def _check(run: Run, harm: float) -> None:
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
