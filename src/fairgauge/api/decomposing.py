"""Where does a gap lie: specify, count by strata, decompose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Unpack, cast

from fairgauge.api.audit import start_run
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import has_decomposition, usual_rate
from fairgauge.checks import missingness_checks
from fairgauge.checks.names import doubtful_names, doubtful_strata
from fairgauge.checks.outcome_checks import assumed_positive, strata_of_one_side, strata_of_outcomes
from fairgauge.checks.rows import OF_OUTCOMES
from fairgauge.cube import views
from fairgauge.cube.cube import Cube
from fairgauge.enums import Level, ReferenceRule, Role, Task
from fairgauge.errors import CubeError, DataError, Problem, listing, problems_where, quote, refuse
from fairgauge.inference.missing_values import missing_groups, missing_outcomes, uncounted_rows
from fairgauge.measure.decompose_gaps import decompose_gaps
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.features import Feature, read_features, read_strata
from fairgauge.question.option_types import read_margins
from fairgauge.question.options import BY_NAME, Options, with_options
from fairgauge.question.readers import Location
from fairgauge.question.specification import (
    Config,
    Spec,
    never_exceeded,
    refuse_candidates,
    same_in_a_stratum,
    with_config,
)
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import single_row_groups, weightless_groups
from fairgauge.resolve.resolution import excluded_rows, exclusion_notes, resolve, used_rows
from fairgauge.results.gap_decomposition import Decomposition
from fairgauge.start.records import replace


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
        features). Of the options, ``strata`` is required. ``metrics`` are differences or ratios of
        rates, or of the mean label or prediction of a regression (default: the difference of the
        selection rate, without predictions of the base rate, of a regression of the mean label; or
        what the preset has of it); and ``margins`` are by how much a rate may differ within strata,
        as in ``{"base_rate": 0.02}``.
    {config}
    controls : column, `fairgauge.cut`, or list of these, optional
        Columns for which the regression is adjusted beside the strata, within which nothing is
        compared; a key of a specification file, too. Numbers are cut, as by
        `fairgauge.cut`. Without strata, controls are the strata.
    {options}

    Returns
    -------
    Decomposition
        For each metric and group: the gap, its parts, its strata, and whether it remains within
        strata (or within the margin), reverses, is accounted for by composition, or none of these
        is shown. Its ``verdict`` is the gravest of these, and of those by regression with controls.

    {errors}

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
    asked: dict[str, object] = {**with_config(config, options)}
    message = "is of audits, and changes no decomposition; remove it"
    at = Location(problems=[Problem(name, message) for name in _OF_RULES if options.get(name)])
    strata, asked = _read_controls(data, controls, asked, at)
    refuse_candidates(asked)
    if usual := asked.get("metrics") is None:
        asked["metrics"] = Spec().metrics  # a preset has those of audits
    margins = asked.pop("margins", None)
    margins = dict(read_margins(margins, at["margins"]) if margins is not None else ())
    asked = {name: value for name, value in asked.items() if name not in _OF_RULES}
    refuse(at.problems)
    counted = data
    if isinstance(data, Cube):
        held = {each.column for each in strata}  # what is a stratum is no feature
        sensitive = tuple(f for f in data.asked.sensitive if f.column not in held)
        crossings = tuple(c for c in data.asked.intersections if not held & set(c))
        question = replace(data.asked, strata=(), sensitive=sensitive, intersections=crossings)
        counted = replace(data, question=question)
    run = start_run("why", counted, cast("Options", asked))
    cube, spec = run.cube, run.spec
    strata = strata or spec.strata
    if all(each.control for each in strata):
        strata = tuple(replace(each, control=False) for each in strata)
    if usual:
        rate = usual_rate(
            decided=spec.decision is not None,
            labelled=spec.label is not None,
            regression=spec.task is Task.REGRESSION,
        )
        of_preset = spec.preset.gaps if spec.preset is not None else ()
        own = tuple(each for each in of_preset if each.startswith(f"{rate}."))
        spec = replace(spec, metrics=own or (f"{rate}.difference",))
    spec = replace(spec, strata=(), rules=(), features=())
    run = replace(run, data=data, spec=spec)
    _check_decomposition(spec, strata, margins, cube)

    columns, beside = (tuple(e for e in strata if e.control is of) for of in (False, True))
    crossed = views.cross_strata(cube, columns)
    fitted = views.cross_strata(cube, strata) if beside else None
    names = [each.column for each in strata]
    resolution = resolve(crossed.without, spec)
    features = resolution.features
    # the outcomes that gaps are of: of errors, the decision
    metrics = spec.catalogue.expand(spec.metrics)
    of = {Role.PREDICTION if "prediction" in each.needs else Role.LABEL for each in metrics}
    found = run.mistakes(
        (
            *reversed_outcomes_of(resolution),
            *strata_of_outcomes(cube, spec, names, of, [each.column for each in beside]),
            *strata_of_one_side(cube, spec, *[[each.column for each in beside]] * 2),
            *doubtful_strata(cube, spec, names),
            *missingness_checks.missing_values(cube, spec, names),
            *missingness_checks.left_out_groups(cube, spec),
            *missingness_checks.copied_rows(cube),
            *(each for each in doubtful_names(cube, spec) if each.feature not in names),
        ),
        OF_OUTCOMES,
    )
    gaps = decompose_gaps(crossed, spec, margins, controls=fitted)
    if not gaps:
        raise DataError(
            "no group has a gap to decompose: on one side of each the rate has no value, or its "
            "ratio compares numbers that are not above 0 (ask for the difference)"
        )
    # the rows that gaps exclude, by reason, and all others; of a count its cases
    known = crossed.known.without
    needed = {Role(need) for gap in gaps for need in gap.estimate.definition.needs}
    used, notes_of_used = used_rows(known, spec, needed)
    excluded = excluded_rows(known, spec, needed)
    if crossed.cases_without:
        excluded |= {"missing stratum": crossed.cases_without}
    read = cube.read + (0 if spec.of_people else sum(cube.without_condition.values()))
    notes = (
        *exclusion_notes(excluded, spec, read),
        *(note for of_feature in features for note in missing_groups(of_feature, spec)),
    )
    return Decomposition(
        **run.stated(read),
        fingerprint=cube.digest,
        spec={
            **replace(spec, strata=columns).to_dict(),
            "controls": BY_NAME["strata"].type.plain(beside),
            "margins": margins,
        },
        confidence=spec.confidence,
        used=used,
        excluded=excluded,
        gaps=run.withhold(gaps, found),
        diagnostics=(
            *notes_of_used,
            *run.row_notes(),
            *chain(*map(weightless_groups, count_groups(cube, spec) if spec.weight else ())),
            *assumed_positive(cube, spec, Task.BINARY, metrics),
            *found,
            *(note for note in notes if note.level is Level.WARNING),  # others have their numbers
            *(note for of_feature in features for note in missing_outcomes(of_feature, spec)),
            *uncounted_rows(cube, features, spec),
            *single_row_groups(cube, spec),
            *missingness_checks.many_strata(
                cube, replace(spec, strata=columns), crossed.known.cube
            ),
        ),
    )


def _read_controls(
    data: object, given: object, asked: dict[str, object], at: Location
) -> tuple[tuple[Feature, ...], dict[str, object]]:
    # the strata of counts, or the question of rows with controls among its strata
    of_file = asked.pop("controls", None)
    given = of_file if given is None else given
    controls = read_features(given, at["controls"]) if given is not None else ()
    names = {each.column for each in controls}
    of_counts = isinstance(data, Cube)
    if not (of_counts or controls):
        return (), asked
    own = asked.get("strata")
    if isinstance(data, Cube) and own is None:
        strata = tuple(each for each in data.asked.strata if each.column not in names)
    else:
        strata = read_strata(own or (), at["strata"])
    together = [*strata, *(replace(each, control=bool(strata)) for each in controls)]
    every = read_strata(together, at["strata and controls"])
    if of_counts:
        asked.pop("strata", None)
        return every, asked
    # called so where they cannot be counted
    return (), {**asked, "strata": [replace(f, control=f.column in names) for f in every]}


# the options of audits alone, which a specification file may hold
_OF_RULES = ("rules", "inconclusive", "multiplicity", "features")


_MOST_LEVELS = 50


def _check_decomposition(
    spec: Spec, strata: Sequence[Feature], margins: Mapping[str, float], cube: Cube
) -> None:
    if cube.min_cell is not None:
        raise CubeError(
            "protected counts are rounded, which moves every stratum; decompose the exact counts"
        )
    problems = []
    sensitive = {column for each in spec.recorded.values() for column in each.columns}
    outcomes = {spec.label: "label", spec.prediction: "prediction", spec.score: "score"}
    for i, each in enumerate(strata):
        path = "controls" if each.control else f"strata[{i}]"
        if each.column in sensitive:
            problems.append(Problem(path, same_in_a_stratum(each.column)))
        elif what := outcomes.get(each.column):
            before = "name a column that is known before it"
            problems.append(Problem(path, same_in_a_stratum(each.column, f"the {what}", before)))
    problems += _wrong_metrics(spec, margins)
    uncut = {each.column for each in strata if each.control and not each.cuts}
    for axis, levels in cube.levels.items():
        numbers = sum(isinstance(each, float | int) for each in levels)
        if axis.column in uncut and axis.role is not Role.CODES and numbers > _MOST_LEVELS:
            message = (
                f"{quote(axis.column)} has {numbers:,} different numbers: cut them "
                f"({axis.column}:36,43)"
            )
            problems.append(Problem("controls", message))
    cuts = len(spec.threshold) if isinstance(spec.threshold, tuple) and spec.score else 1
    several = decide_task(cube, spec) is Task.MULTICLASS or cuts > 1
    problems += problems_where(
        (not strata, "strata",
         "name one to six columns (--strata COL), such as departments or products"),
        (spec.reference is ReferenceRule.OVERALL, "reference",
         ("a gap is decomposed between different people: compare with others, largest, best, or a "
         "group (reference COL=VALUE)")),
        (several or len(getattr(spec.positive, "levels", ())), "positive",
         "one outcome is decomposed at a time: state which values are positive (--positive)"),
    )  # fmt: skip
    refuse(problems)


def _wrong_metrics(spec: Spec, margins: Mapping[str, float]) -> Iterator[Problem]:
    contrasts: list[Contrast] = []
    for metric in spec.catalogue.expand(spec.metrics):
        native = metric.set == "native"
        if native and isinstance(metric, Contrast) and has_decomposition(metric.of):
            contrasts.append(metric)
        else:
            message = (
                f"{metric.name} has no decomposition: it is no difference or ratio of one rate, or "
                "mean of a label or a prediction, such as base_rate.difference"
            )
            yield Problem("metrics", message)
    differences = {each.of.name: each.of for each in contrasts if each.by == "difference"}
    if margins and contrasts and not differences:
        yield Problem("margins", "are of differences; metrics asks for ratios alone")
    for name, margin in margins.items() if differences else ():
        if name not in differences:
            message = f"there is no difference in it; the rates are {listing(sorted(differences))}"
            yield Problem(f"margins.{name}", message)
            continue
        low, high = differences[name].range
        if margin >= high - low:
            yield never_exceeded(name, margin, high - low)
