"""Where does a gap lie: specify, count by strata, decompose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, Unpack, cast

import numpy as np

from fairgauge.api.audit import counted, repeated_rows
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.decomposable import has_decomposition, usual_rate
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.checks.copies import controls_of_groups, strata_of_outcomes
from fairgauge.checks.favourable import assumed_positive
from fairgauge.checks.missingness_checks import missing_values
from fairgauge.checks.names import doubtful_names, doubtful_strata
from fairgauge.checks.open_doubts import with_accepted, withhold
from fairgauge.checks.rows import OF_OUTCOMES, likely_mistakes
from fairgauge.checks.stratum_checks import many_strata
from fairgauge.cube.crossed_strata import CrossedStrata, cross_strata
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import plan
from fairgauge.cube.quantile_cuts import (
    CountedNumbers,
    quantile_cuts,
    too_few_numbers,
    with_fewer_cuts,
)
from fairgauge.enums import Level, ReferenceRule, Role, Task
from fairgauge.errors import CubeError, DataError, Problem, TooManyValues, listing, quote, refuse
from fairgauge.inference.missing_values import missing_groups, missing_outcomes, uncounted_rows
from fairgauge.measure.decompose_gaps import decompose_gaps
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.features import Feature, read_controls, read_strata
from fairgauge.question.option_docs import with_options
from fairgauge.question.option_types import read_margins
from fairgauge.question.options import BY_NAME, Options
from fairgauge.question.presets import preset
from fairgauge.question.probabilities import RECORD, refuse_probabilities
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import (
    Spec,
    ask,
    never_exceeded,
    refuse_candidates,
    same_in_a_stratum,
)
from fairgauge.resolve.excluded_rows import excluded_rows, exclusion_notes, used_rows
from fairgauge.resolve.group_checks import single_row_groups, weightless_groups
from fairgauge.resolve.group_counts import GroupCounts, count_groups
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.counted import CountedData
from fairgauge.results.gap_decomposition import Decomposition, Gap
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import made_now
from fairgauge.scan import open_rows
from fairgauge.scan.chosen_rows import chosen_rows
from fairgauge.scan.row_codes import Streamed
from fairgauge.scan.source import Opened, Source


@with_options
def why(
    data: object = None,
    *,
    config: Config = None,
    controls: object = None,
    **options: Unpack[Options],
) -> Decomposition:
    """Decompose the gaps between groups: which strata people are in, and what remains within them.

    A gap is the sum of composition, the groups' shares of strata such as departments or products,
    and of different rates within these. That composition accounts for a gap is arithmetic: it does
    not show whether the strata should count, or why groups differ in them.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`; of counts, they must hold the strata (as strata, or as sensitive
        features). Of the options, ``strata`` is required; ``fairgauge.cut(column, "quantiles")``
        cuts the numbers of a column into ten intervals of about equally many rows. ``metrics`` are
        differences or ratios of rates, or of the mean label or prediction of a regression (default:
        the difference of the selection rate, without predictions of the base rate, of a regression
        of the mean label; or what the preset has of it); and ``margins`` are by how much a rate may
        differ within strata, as in ``{"base_rate": 0.02}``.
    {config}
    controls : column, `fairgauge.cut`, or list of these, optional
        Columns for which the regression is adjusted beside the strata, within which nothing is
        compared; a key of a specification file, too. Numbers are cut, as with
        ``fairgauge.cut(column, "quantiles")``. Without strata, controls are the strata.
    {options}

    Returns
    -------
    Decomposition
        For each metric and group: the gap, its parts, its strata, and whether it remains within
        strata (or within the margin), reverses, is accounted for by composition, or none of these
        is shown. Its ``verdict`` is the gravest of these, and of those by regression with controls.

    Raises
    ------
    SpecError
        There are no strata, a metric has no decomposition, or the question is wrong otherwise.
    DataError
        The data cannot be read, or do not hold what is asked.
    CubeError
        The counts do not hold the strata.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "M", "M"] * 2, "school": ["A", "B"] * 4, "n": [20, 180, 160, 40] * 2,
    ...     "admitted": [1] * 4 + [0] * 4,
    ... })
    >>> found = fg.why(rows, label="admitted", sensitive="sex", strata="school", count="n")
    >>> found.verdict
    <GapVerdict.NO_GAP: 'no gap shown'>
    """
    asked: dict[str, Any] = {**with_config(config, options)}
    message = "is of audits, and changes no decomposition; remove it"
    problems = [Problem(name, message) for name in _OF_RULES if options.get(name)]
    strata, asked = _with_controls(data, controls, asked, problems)
    refuse_candidates(asked)
    if usual := asked.get("metrics") is None:
        asked["metrics"] = Spec().metrics  # a preset has those of audits
    margins = asked.pop("margins", None)
    margins = dict(read_margins(margins, "margins", problems) if margins is not None else ())
    asked = {name: value for name, value in asked.items() if name not in _OF_RULES}
    if isinstance(data, Cube):
        data = _without_strata(data, strata)
    refuse(problems)
    if not isinstance(data, Cube) and any(
        each.quantiles for each in read_strata(asked.get("strata"), "strata", [], quantiles=True)
    ):
        cut, asked = _cut_at_quantiles(data, asked)
    else:
        cut = data
    cube, source, spec = counted(cut, (), cast("Options", asked))
    strata = strata or spec.strata
    if all(each.control for each in strata):
        strata = tuple(replace(each, control=False) for each in strata)
    if usual:
        spec = replace(spec, metrics=_usual_metrics(spec))
    spec = replace(spec, strata=(), rules=(), features=(), population=())
    _check(spec, strata, margins, cube)

    columns, beside = _apart(strata)
    asked_cuts = with_fewer_cuts(cube, strata)  # counts may hold more
    crossed = cross_strata(asked_cuts, columns)
    fitted = cross_strata(asked_cuts, strata) if beside else None
    names, controls = ([each.column for each in of] for of in (strata, beside))
    resolution = resolve(crossed.without, spec)
    found = with_accepted(_mistakes(cube, spec, resolution, names, controls), spec)
    gaps = decompose_gaps(crossed, spec, margins, controls=fitted)
    if not gaps:
        raise DataError(
            "no group has a gap to decompose: on one side of each the rate has no value, or its "
            "ratio compares numbers that are not above 0 (ask for the difference)"
        )
    excluded, (used, notes_of_used) = _excluded(crossed, spec, gaps)
    undecided = 0 if spec.of_people else sum(cube.without_condition.values())
    read = cube.read + undecided
    features = resolution.features
    return Decomposition(
        **made_now(),
        data=CountedData(source.name if source else "counts", read),
        fingerprint=cube.digest,
        spec={
            **replace(spec, strata=columns).to_dict(),
            "controls": BY_NAME["strata"].type.plain(beside),
            "margins": margins,
        },
        confidence=spec.confidence,
        used=used,
        excluded=excluded,
        gaps=withhold(gaps, found, cube, spec),
        diagnostics=(
            *notes_of_used,
            *(
                note
                for note in exclusion_notes(excluded, spec, read)
                if note.level is Level.WARNING  # the others stand with their numbers
            ),
            *repeated_rows(data, source, spec, cube, "why"),
            *(note for of in _weighted_groups(cube, spec) for note in weightless_groups(of)),
            *assumed_positive(cube, spec, Task.BINARY, spec.catalogue.expand(spec.metrics)),
            *found,
            *missing_values(cube, spec, names),
            *(
                note
                for of in features
                for note in missing_groups(of, spec)
                if note.level is Level.WARNING
            ),
            *(note for of in features for note in missing_outcomes(of, spec)),
            *uncounted_rows(cube, features, spec),
            *single_row_groups(cube, spec),
            *many_strata(cube, replace(spec, strata=columns), crossed.known.cube),
        ),
    )


def _mistakes(
    cube: Cube, spec: Spec, resolution: Resolution, strata: Sequence[str], controls: Sequence[str]
) -> Iterator[Diagnostic]:
    yield from likely_mistakes(cube, spec, resolution.task, OF_OUTCOMES)
    yield from reversed_outcomes_of(resolution)
    yield from strata_of_outcomes(cube, spec, strata, _outcomes(spec), controls)
    yield from controls_of_groups(cube, spec, controls)
    yield from doubtful_strata(cube, spec, strata)
    for each in doubtful_names(cube, spec):
        if each.feature not in strata:  # `doubtful_strata` is of these
            yield each


def _weighted_groups(cube: Cube, spec: Spec) -> list[GroupCounts]:
    return [] if spec.weight is None else count_groups(cube, spec)


def _outcomes(spec: Spec) -> set[Role]:
    """Return the outcomes that gaps are of: of errors, the decision."""
    metrics = spec.catalogue.expand(spec.metrics)
    return {Role.PREDICTION if "prediction" in each.needs else Role.LABEL for each in metrics}


def _usual_metrics(spec: Spec) -> tuple[str, ...]:
    usual = usual_rate(
        decided=spec.prediction is not None or spec.score is not None,
        labelled=spec.label is not None,
        regression=spec.task is Task.REGRESSION,
    )
    of_preset = preset(spec.preset).gaps if spec.preset is not None else ()
    found = tuple(each for each in of_preset if each.startswith(f"{usual}."))
    return found or (f"{usual}.difference",)


def _with_controls(
    data: object, given: object, asked: Mapping[str, Any], problems: list[Problem]
) -> tuple[tuple[Feature, ...], dict[str, Any]]:
    asked = dict(asked)
    given = [asked.pop("controls", None), given][given is not None]
    controls = read_controls(given, "controls", problems) if given is not None else ()
    if isinstance(data, Cube):
        own = asked.pop("strata", None)
        known = data.asked.strata if own is None else read_strata(own, "strata", problems)
        names = {each.column for each in controls} if own is None else set()
        strata = tuple(each for each in known if each.column not in names)
    elif controls:
        strata = read_strata(asked.get("strata") or (), "strata", problems, quantiles=True)
    else:
        return (), asked
    every = read_strata(
        [*strata, *(replace(each, control=bool(strata)) for each in controls)],
        "strata and controls", problems, quantiles=not isinstance(data, Cube),
    )  # fmt: skip
    if isinstance(data, Cube):
        return every, asked
    names = {each.column for each in controls}  # called so where they cannot be counted
    return (), {**asked, "strata": [replace(f, control=f.column in names) for f in every]}


def _apart(strata: Sequence[Feature]) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    columns, beside = (
        tuple(each for each in strata if each.control is control) for control in (False, True)
    )
    return columns, beside


_OF_RULES = ("rules", "inconclusive", "multiplicity", "population", "features")
"""The options of audits alone, which a specification file may hold."""


_INTERVALS = 10
"""Ten intervals leave 2.5% of what a number confounds in rates, four 11%, 20 0.8%."""
_MOST_LEVELS = 50
_MOST_VALUES = 1_000_000
_FEW_VALUES = 10_000
"""Up to which numbers are counted by value where rows can be read in batches, too."""


def _streams(source: Source) -> TypeGuard[Streamed]:
    return isinstance(source, Streamed) and source.streams


def _cut_at_quantiles(data: object, asked: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
    problems: list[Problem] = []
    strata = read_strata(asked["strata"], "strata", problems, quantiles=True)
    plain = [replace(each, quantiles=False) for each in strata]
    source, named = open_rows(data, {**asked, "strata": plain})
    spec = ask(source.columns, **cast("Options", named))
    refuse(problems)
    rows = chosen_rows(source, spec)
    cuts = _cuts(rows, [each.column for each in strata if each.quantiles], spec)
    cut = tuple(replace(each, cuts=cuts.get(each.column, each.cuts)) for each in plain)
    return Opened(source), {**named, "strata": cut}


def _cuts(rows: Source, columns: Sequence[str], spec: Spec) -> dict[str, tuple[float, ...]]:
    """Return the cut points of columns; of many values, all are counted in one scan of the rows."""
    found: dict[str, tuple[float, ...]] = {}
    many: dict[str, CountedNumbers] = {}
    # that others are no categories of numbers is found where they are cut
    listed = tuple(each for each in spec.recode if not each.names)
    asked = Spec(count=spec.count, weight=spec.weight, recode=listed, where=spec.where)
    for column in columns:
        values = plan(replace(asked, sensitive=(Feature(column),)))
        try:
            counts = rows.count(values, _FEW_VALUES if _streams(rows) else _MOST_VALUES)
        except TooManyValues:
            if not _streams(rows):
                raise
            many[column] = CountedNumbers(_MOST_VALUES)
            continue
        (axis,) = counts.plan.axes
        found[column] = quantile_cuts(counts, axis, _INTERVALS)
    if many and _streams(rows):
        # any cut will do: the numbers themselves are read
        cut = replace(asked, sensitive=tuple(Feature(c, cuts=(0.0,)) for c in many))
        for batch in rows.batches(plan(cut)):
            for column, counted_numbers in many.items():
                numbers = batch.numbers[column]
                cases = np.ones(len(numbers))
                if spec.count:
                    cases *= np.nan_to_num(batch.numbers[spec.count])
                if spec.weight:
                    cases *= batch.numbers[spec.weight] > 0
                counted_numbers.add(numbers, cases)
    for column, counted_numbers in many.items():
        found[column] = counted_numbers.cuts(_INTERVALS)
        if not found[column]:
            raise too_few_numbers(column)
    return found


def _without_strata(cube: Cube, strata: Sequence[Feature]) -> Cube:
    names = {each.column for each in strata}
    asked = cube.asked
    question = replace(
        asked,
        strata=(),
        sensitive=tuple(f for f in asked.sensitive if f.column not in names),
        intersections=tuple(c for c in asked.intersections if not names & set(c)),
    )
    return replace(cube, question=question)


def _check(spec: Spec, strata: Sequence[Feature], margins: Mapping[str, float], cube: Cube) -> None:
    if cube.min_cell is not None:
        raise CubeError(
            "protected counts are rounded, which moves every stratum; decompose the exact counts"
        )
    refuse_probabilities(spec.probabilities, "a decomposition of gaps", RECORD)
    problems = [*_wrong_strata(spec, strata), *_wrong_metrics(spec, margins)]
    if not strata:
        message = "name one to six columns (--strata COL), such as departments or products"
        problems.append(Problem("strata", message))
    if spec.reference is ReferenceRule.OVERALL:
        message = (
            "a gap is decomposed between different people: compare with others, largest, best, or "
            "a group (reference COL=VALUE)"
        )
        problems.append(Problem("reference", message))
    problems += _many_numbers(cube, strata)
    task = decide_task(cube, spec)
    if (
        task is Task.MULTICLASS
        or len(getattr(spec.positive, "levels", ()))
        or (len(spec.threshold) if isinstance(spec.threshold, tuple) and spec.score else 1) > 1
    ):
        message = (
            "one outcome is decomposed at a time: state which values are positive (--positive)"
        )
        problems.append(Problem("positive", message))
    refuse(problems)


def _wrong_strata(spec: Spec, strata: Sequence[Feature]) -> Iterator[Problem]:
    sensitive = {f.column for f in spec.sensitive} | {c for f in spec.intersections for c in f}
    outcomes = {spec.label: "label", spec.prediction: "prediction", spec.score: "score"}
    for i, each in enumerate(strata):
        path = "controls" if each.control else f"strata[{i}]"
        if each.column in sensitive:
            yield Problem(path, same_in_a_stratum(each.column))
        elif what := outcomes.get(each.column):
            instead = "name a column that is known before it"
            yield Problem(path, same_in_a_stratum(each.column, f"the {what}", instead))


def _many_numbers(cube: Cube, strata: Sequence[Feature]) -> Iterator[Problem]:
    for axis, levels in cube.levels.items():
        control = any(f.control and not f.cuts and f.column == axis.column for f in strata)
        numbers = sum(isinstance(each, float | int) for each in levels) if control else 0
        if numbers > _MOST_LEVELS:
            message = (
                f"{quote(axis.column)} has {numbers:,} different numbers: cut them "
                f"({axis.column}:36,43), those of rows at quantiles, too ({axis.column}:quantiles)"
            )
            yield Problem("controls", message)


def _wrong_metrics(spec: Spec, margins: Mapping[str, float]) -> Iterator[Problem]:
    rates: set[str] = set()
    differences: dict[str, Statistic] = {}
    for metric in spec.catalogue.expand(spec.metrics):
        rate = metric.of if isinstance(metric, Contrast) and metric.set == "native" else None
        if rate is not None and has_decomposition(rate):
            rates.add(rate.name)
            if isinstance(metric, Contrast) and metric.by == "difference":
                differences[rate.name] = rate
        else:
            why_not = "quantiles of strata do not add up to that of all; it is no"
            it_is = why_not if isinstance(metric, RowMetric) and metric.q else "it is no"
            message = (
                f"{metric.name} has no decomposition: {it_is} difference or ratio of one rate "
                "or mean, such as base_rate.difference"
            )
            if metric.name.startswith("mean_score."):
                message = (
                    f"{metric.name} has no decomposition, since scores are counted by intervals; "
                    "name the score as the prediction of a regression "
                    "(--prediction COL --task regression --metrics mean_prediction.difference)"
                )
            yield Problem("metrics", message)
    if margins and rates and not differences:
        yield Problem("margins", "are of differences; metrics asks for ratios alone")
    for name, margin in margins.items() if differences else ():
        if name not in differences:
            known = listing(sorted(differences))
            message = f"there is no difference in it; the rates are {known}"
            yield Problem(f"margins.{name}", message)
            continue
        low, high = differences[name].range
        if margin >= high - low:
            yield never_exceeded(name, margin, high - low)


def _excluded(
    crossed: CrossedStrata, spec: Spec, gaps: Sequence[Gap]
) -> tuple[dict[str, int], tuple[int, tuple[Diagnostic, ...]]]:
    """Return the rows that gaps exclude, by reason, and all others; of a count its cases."""
    cube = crossed.known.without
    missing = {"missing stratum": crossed.cases_without} if crossed.cases_without else {}
    needed = {Role(need) for gap in gaps for need in gap.estimate.definition.needs}
    return excluded_rows(cube, spec, needed) | missing, used_rows(cube, spec, needed)
