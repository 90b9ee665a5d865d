"""Searching subgroups: specify, count all features together, search."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any

from fairgauge.api._first_rows import plan_rows
from fairgauge.api.audit import Run, check_held, check_same_rows, with_noted_rows
from fairgauge.catalogue import directions
from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.lookup import BUILT_IN, Catalogue
from fairgauge.catalogue.own import metric_or_name
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.checks.missingness_checks import copied_rows, left_out_groups
from fairgauge.checks.names import doubtful_names
from fairgauge.checks.outcome_checks import assumed_positive
from fairgauge.checks.rows import OF_OUTCOMES, open_doubts
from fairgauge.cube.cube import Cube, counts_together
from fairgauge.cube.plan import OUTCOMES, Plan
from fairgauge.enums import (
    Better,
    DiagnosticCode,
    Favourable,
    Level,
    ReferenceRule,
    Role,
    Uncounted,
    Worse,
)
from fairgauge.errors import CubeError, Problem, SpecError, listing, quote, refuse, suggest
from fairgauge.inference.missing_values import unevenly_lacking
from fairgauge.measure.find_subgroups import find_subgroups
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.options import OF_ROWS, flag_of, with_options
from fairgauge.question.readers import Location, read_number, read_word
from fairgauge.question.specification import (
    Config,
    Spec,
    ask,
    ask_rows,
    overridden,
    read_part,
    refuse_beyond_audits,
    with_config,
)
from fairgauge.resolve.outcomes import (
    count_people,
    decide_task,
    plan_by_person,
    with_stated_outcomes,
)
from fairgauge.resolve.question_checks import single_row_groups, unmatched_values
from fairgauge.resolve.resolution import excluded_rows, exclusion_notes, resolve
from fairgauge.resolve.searched_features import most_cells, searched_rows
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.subgroup_search import HIDING, SearchQuestion, SubgroupSearch
from fairgauge.scan import open_rows
from fairgauge.scan.chosen_rows import chosen_rows
from fairgauge.scan.row_codes import CodedRows, Streamed, coded_rows
from fairgauge.start.records import replace

# values of a column up to which the most frequent ones are chosen
_MOST_VALUES = 1_000_000
# cells of all features together up to which these are counted; beyond, rows are read in batches,
# which takes less time and memory.
_MOST_CELLS = 100_000
# share of people with several values of a feature up to which these are taken for mistakes.
_MOST_UNCLEAR = 0.02
# the same where rows cannot be read in batches: a cell takes about 2 KB
_MOST_JOINT_CELLS = 2_000_000
# cells that can be numbered
_MOST_NUMBERED = 1 << 62
# share of rows from which those that are not searched are a warning
_MANY_EXCLUDED = 0.01
_OF_AUDITS = ("rules", "margins", "reference", "exclude_groups", "words", "features")


@with_options
def find(
    data: object = None,
    *,
    metrics: str | Statistic | None = None,
    sensitive: object = None,
    worse: str | None = None,
    tolerance: float = 0.0,
    depth: int = 3,
    min_rows: int = 20,
    alpha: float = 0.05,
    missing: str = "group",
    config: Config = None,
    **options: object,
) -> SubgroupSearch:
    """Find where a rate is worse: in which subgroups, of all that some features make.

    Every conjunction of up to ``depth`` values of different features is compared with all other
    rows. With a chance of at most ``alpha`` any of the subgroups that are called worse is not.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`. Counts must hold all features together, as those that are counted
        with an intersection of all of them do.
    metrics : str or Statistic
        The share of rows that is searched: a rate of the catalogue, or one of `fairgauge.rate`.
    sensitive : list of str, `fairgauge.cut` or mapping
        The columns whose values are conditions, protected or not, in the forms of ``sensitive``. Of
        counts, and of a specification file, by default its sensitive features. Numbers of more
        than 12 values without cuts are cut into fifths of the rows; of more than 50 values the 50
        most frequent are kept, and all others are one.
    worse : {"higher", "lower"}, optional
        The side that is worse; by default that of the catalogue.
    tolerance : float in [0, 1), default 0
        Worse means by more than this; 0.02 are 2 percentage points.
    depth : int, default 3
        The most conditions of a subgroup.
    min_rows : int, default 20
        The fewest rows of a subgroup.
    alpha : float in (0, 0.5), default 0.05
        The probability that any subgroup is wrongly called worse, and that any is wrongly shown not
        to be worse.
    missing : {"group", "exclude", "error"}
        Whether a missing value of a feature is a value, is none, or is an error.
    {config}
    **options
        The columns of the outcomes and what they mean, as of `fairgauge.audit`: ``label``,
        ``prediction``, ``score``, ``score_of``, ``score_range``, ``threshold``, ``positive``,
        ``recode``, ``count``, ``person``, ``per_person`` and ``unknown``.

    Returns
    -------
    SubgroupSearch
        The subgroups that are worse, those that account for the others, what could not be decided,
        and what would have been found.

    {errors}

    Notes
    -----
    The statistic is the signed root of the likelihood ratio. One critical value serves all
    subgroups: the normal quantile of Bonferroni, raised until the exact (hypergeometric)
    probabilities that any subgroup exceeds it, given the sizes, sum to ``alpha`` at most. Claims,
    ends and adjusted p-values follow from it, so that they never disagree. Nothing is resampled.

    Examples
    --------
    >>> import fairgauge as fg
    >>> table = {
    ...     "sex": ["F", "F", "M", "M"] * 2, "age": ["old", "young"] * 4, "repaid": [0] * 8,
    ...     "approved": [0] * 4 + [1] * 4, "n": [150, 690, 190, 980, 150, 60, 20, 90],
    ... }
    >>> found = fg.find(
    ...     table, label="repaid", prediction="approved", count="n", sensitive=["sex", "age"],
    ...     metrics="false_positive_rate",
    ... )
    >>> found.summary
    ('sex = F & age = old',)
    """
    merged: dict[str, object] = {**with_config(config, {})}
    allowed = (*list(inspect.signature(find).parameters)[1:-1], *OF_ROWS)
    at = Location()
    listed = f"Allowed: {', '.join(allowed)}"
    for name in options:
        if name not in OF_ROWS:
            at[name].report(f"is no option of a search.{suggest(name, allowed)} {listed}")
    rows = overridden({name: merged[name] for name in OF_ROWS if name in merged}, options)
    features = merged.get("sensitive") if sensitive is None else sensitive
    read_number(0, 1)(tolerance, at["tolerance"])
    read_number(0, 0.5, inside=True)(alpha, at["alpha"])
    for name, number in (("depth", depth), ("min_rows", min_rows)):
        read_number(1, whole=True)(number, at[name])
    if tolerance == 1:
        at["tolerance"].report("must be below 1")
    row = _searched_rate(metrics, at["metrics"])
    favourable = read_part(("favourable",), rows).favourable
    side = _worse_side(worse, row, favourable, at["worse"])
    for name in ("weight", "cluster"):
        if rows.pop(name, None) is not None:
            at[name].report(_DEPENDENT)
    if features is None and not isinstance(data, Cube):
        at["sensitive"].report("name the columns to search (--sensitive A,B,C)")
    if at.problems or row is None or side is None:
        raise SpecError(at.problems)
    if rows.get("prediction") is not None and not isinstance(data, Cube):
        for name in ("score", "score_of"):  # the prediction decides
            rows.pop(name, None)
    asked = rows | {"metrics": [row], "missing": missing}
    run, read = _count_features(data, features, asked)
    cube, spec = run.cube, run.spec
    rows_searched, searched = searched_rows(cube, spec, row, read)
    question = SearchQuestion(
        rate=row.name,
        worse=side,
        tolerance=float(tolerance),
        depth=depth,
        min_rows=min_rows,
        alpha=float(alpha),
        missing=spec.missing,
        features=searched,
        definition=Catalogue((), directions.harm_in_words(spec.to_dict())).worded(row),
    )
    found = find_subgroups(rows_searched, question)
    whole = replace(spec, sensitive=(), intersections=())
    decided = spec.score is None and spec.label is not None and spec.prediction is not None
    turned = reversed_outcomes_of(resolve(cube, whole)) if decided else ()
    own = (*doubtful_names(cube, spec), *left_out_groups(cube, spec), *copied_rows(cube))
    mistakes = run.mistakes((*turned, *own), OF_OUTCOMES)
    # the side that is worse turns with what is favourable, as the best reference does
    turns = worse is None and directions.counts_outcomes(row)
    by = ReferenceRule.BEST if turns else spec.reference
    alone = replace(spec, intersections=(), reference=by)
    unclear = (
        Diagnostic.warning(
            DiagnosticCode.UNCOUNTED_ROWS, what=doubt.what, rows=doubt.rows, total=cube.read,
            ruled=False, counted=True, **spec.unit,
        )
        for doubt in open_doubts(mistakes, cube, alone, whole)
        if any(doubt.concerns(row.needs, each) for each in alone.recorded)
    )  # fmt: skip
    diagnostics = (
        *_exclusion_notes(cube, spec, row.needs),
        *unevenly_lacking(rows_searched, searched, spec),
        *unclear,
        *assumed_positive(cube, spec, decide_task(cube, spec), (row,)),
        *mistakes,
        *run.row_notes(),
        *unmatched_values(cube, spec),
        *single_row_groups(cube, alone),
    )
    if any(note.code in HIDING and not note.get("counted") for note in diagnostics):
        found["largest"] = replace(found["largest"], by_at_most=None, by_at_most_of_large=None)
    return SubgroupSearch(
        **run.stated(cube.cases),
        question=question,
        spec=spec.to_dict(),
        diagnostics=diagnostics,
        own=(row,) if row.own else (),
        **{"fingerprint": cube.digest} | found,
    )


def _exclusion_notes(cube: Cube, spec: Spec, needs: Set[str]) -> Iterator[Diagnostic]:
    excluded = excluded_rows(cube, spec)
    searched = {"missing label": "label", "missing prediction": "prediction"}
    kept = {why: rows for why, rows in excluded.items()
            if searched.get(why) in (None, *needs)}  # fmt: skip
    for note in exclusion_notes(kept, spec):
        uncounted = note["reason"] == Uncounted.NO_COUNT
        many = note["rows"] >= _MANY_EXCLUDED * (cube.rows if uncounted else cube.read)
        if many and uncounted:
            yield Diagnostic.warning(DiagnosticCode.UNCOUNTED_ROWS, what="count",
                                     rows=note["rows"], total=cube.rows, ruled=False)  # fmt: skip
        yield replace(note, level=Level.WARNING) if many and not uncounted else note


_DEPENDENT = (
    "a search takes none: exact probabilities need independent, unweighted rows. Count "
    "people (person=...), or search one row of each cluster and audit what is found with all rows"
)


def _searched_rate(rate: str | Statistic | None, at: Location) -> Rate | None:
    shares = [each.name for each in RATES if isinstance(each, Rate)]
    known = listing(shares, len(shares))
    try:
        named = metric_or_name(rate)
        row = BUILT_IN.rate(named) if isinstance(named, str) else named
    except LookupError as error:
        asked = f"name the rate to search (--metrics NAME): {known}"
        at.report(asked if rate is None else str(error))
        return None
    if isinstance(row, Rate):
        return row
    message = f"{quote(row.name)} is no share of rows, and exact probabilities are of shares"
    at.report(f"{message}; search one of {known}")
    return None


def _worse_side(
    worse: str | None, row: Rate | None, favourable: Favourable | None, at: Location
) -> Worse | None:
    # which side is worse: as asked, or as is favourable, or as in the catalogue
    asked = None if worse is None else read_word(Worse)(worse, at)
    if row is None:
        return asked
    stated = favourable in (Favourable.POSITIVE, Favourable.NEGATIVE)
    if stated and directions.counts_outcomes(row):
        # labels, too, have a better side then
        side = Worse.HIGHER if directions.favours_the_least(row, favourable) else Worse.LOWER
        if asked not in (None, side):
            at.report(
                f"{asked} contradicts favourable = {favourable} (--favourable), by which a "
                f"{side} {row.title} is worse; remove one of the two"
            )
        return side
    if worse is not None:
        return asked
    better = directions.better_of(row, favourable)
    if better is Better.NEITHER:
        which = "state which is worse, higher or lower (worse, --worse)"
        at.report(f"neither side of {row.title} is better; {which}")
        return None
    return Worse.LOWER if better is Better.HIGHER else Worse.HIGHER


# reads the rows again, by the positions of their values in the levels of the counts
_Read = Callable[[], Iterator[CodedRows]] | None


def _count_features(
    data: object, features: object, options: Mapping[str, object]
) -> tuple[Run, _Read]:
    # the counts of all features together, or of each alone and what reads the rows
    if isinstance(data, Cube):
        return Run("find", data, data, None, _asked_of_counts(data, features, options)), None
    source, named = open_rows(data, {**options, "sensitive": features})
    spec = ask_rows(source, **named)
    refuse_beyond_audits(spec, "find")
    if spec.person is not None and not spec.of_people:
        raise SpecError(Problem(
            "per_person",
            "exact probabilities need independent rows, and the decisions of one person are "
            "clustered observations; count each person once (per_person any), "
            "and audit what is found with each decision",
        ))  # fmt: skip
    columns = tuple(feature.column for feature in spec.sensitive)
    _check_features(spec, columns)
    source = chosen_rows(source, spec)
    spec = replace(spec, intersections=(columns,) if len(columns) > 1 else ())
    spec, every = plan_rows(source, spec)
    axes = [axis for axis in every.axes if axis.role in (Role.FEATURE, *OUTCOMES)]
    codes = [axis for axis in every.axes if axis.role is Role.CODES]
    of_codes = [(len(axes) + i,) for i in range(len(codes))]
    joint = Plan((*axes, *codes), (tuple(range(len(axes))), *of_codes), every.asked)
    outcomes_at = tuple(i for i, axis in enumerate(axes) if axis.role is not Role.FEATURE)
    features_at = [(i,) for i in range(len(axes)) if i not in outcomes_at]
    by_feature = (outcomes_at, *features_at, *of_codes)

    noted = partial(with_noted_rows, data, source, spec=spec)
    apart = noted(source.count(replace(joint, tables=by_feature), _MOST_VALUES))
    if spec.of_people:
        if apart.rows > _MOST_JOINT_CELLS:
            raise SpecError(Problem(
                "person",
                f"{apart.rows:,} rows would be counted by person, and more than "
                f"{_MOST_JOINT_CELLS:,} would not fit into memory; write a table of one row for "
                "each person, with the decision that counts, and search that",
            ))  # fmt: skip
        rows = source.count(plan_by_person(joint, spec), _MOST_VALUES)
        people = noted(count_people(rows, joint, spec))
        _check_people(people, columns)
        return Run("find", data, people, source, spec), None
    cells = most_cells(apart)
    # the values of every axis, with as much room as counting in batches leaves between them
    room = math.prod(2 * len(apart.levels[axis]) + 2 for axis in axes)
    batches = cells > _MOST_CELLS or room > _MOST_NUMBERED
    if batches and isinstance(source, Streamed) and source.streams:
        return Run("find", data, apart, source, spec), partial(coded_rows, source, apart)
    if cells > _MOST_JOINT_CELLS:
        message = (
            f"all features together may make {cells:,.0f} cells, and more than "
            f"{_MOST_JOINT_CELLS:,} would not fit into memory; search fewer features, or fewer "
            "values of them (cut numbers: age:25,45,60), or write the columns to a Parquet file "
            'and search that, which is read in batches (pip install "fairgauge[arrow]")'
        )
        raise SpecError(Problem("sensitive", message))
    every_cell = with_stated_outcomes(source.count(joint, _MOST_VALUES), spec)
    every_cell = replace(every_cell, question=spec, copies=apart.copies)
    return Run("find", data, every_cell, source, spec), None


def _check_people(people: Cube, columns: Sequence[str]) -> None:
    # their value would be unknown of them, so that a subgroup would be of those with one decision
    allowed = _MOST_UNCLEAR * people.cases
    for column, several in people.conflicts.items():
        if column in columns and several > allowed:
            raise SpecError(Problem(
                "sensitive",
                f"{several:,} people have rows with different values of {quote(column)}, and a "
                "person counts once; remove it, or search the rows of one value "
                f"({flag_of('where', {column: 'VALUE'})})",
            ))  # fmt: skip


def _asked_of_counts(cube: Cube, features: object, options: Mapping[str, Any]) -> Spec:
    if cube.min_cell is not None:
        raise CubeError(
            "these counts are protected, and the rounding of their cells adds up over subgroups; "
            "search before protecting"
        )
    refuse_beyond_audits(cube.asked, "find")
    if cube.plan.weight is not None or cube.asked.cluster is not None:
        path = "weight" if cube.plan.weight is not None else "cluster"
        raise SpecError(Problem(path, _DEPENDENT))
    asked = dict(options)
    if features is not None:
        asked |= {"sensitive": features, "intersections": []}
    # of what an audit would decide nothing is asked, and other features may be searched
    usual = Spec()
    base = replace(cube.asked, **{name: getattr(usual, name) for name in _OF_AUDITS})
    spec = ask(base=base, **asked)
    columns = list(dict.fromkeys(c for each in spec.recorded.values() for c in each.columns))
    _check_features(spec, columns)
    check_same_rows(cube, spec)
    check_held(cube, spec)
    axes = [axis for axis in cube.plan.axes if axis.role is Role.FEATURE and axis.column in columns]
    if not counts_together(cube, *axes, *cube.plan.outcomes):
        raise CubeError(
            "these counts do not hold all features together; count the rows with an intersection "
            f"of them (intersections, {flag_of('intersections', [columns])}), or search fewer "
            "features"
        )
    return spec


def _check_features(spec: Spec, columns: Sequence[str]) -> None:
    names = ("label", "prediction", "score", "count", "person")
    used = [(name, c) for c in columns for name in names if getattr(spec, name) == c]
    refuse([
        Problem("sensitive", f"{quote(column)} is the {name}, of which subgroups are not made")
        for name, column in used
    ])  # fmt: skip
