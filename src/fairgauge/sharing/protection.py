"""Protection: counts rounded at random so that no small cell can be inferred.

One table is published, that of all axes together, and every number of it is a multiple of the
smallest cell. Groups, totals and the number of rows are sums of published cells, so that they add
nothing to what the cells disclose. No count is treated differently for its neighbours, so that the
choice of what is published discloses nothing either.

The attacker of `fairgauge.stats.rounded_counts` is run over what is to be published, together with
what was published of the same history before; a rounding that it defeats is replaced by the other
one. A name is published where at least ``min_cell`` rows have it, and where some number that is
published of it is not 0: that so many have it narrows no range then. The first table of a history
decides which.
Any table that agrees with everything published could have been published as the same numbers, so
what the attacker infers from ranges is all that can be ruled out.

Tables of the same rows by other columns have totals and labels in common, which would narrow the
ranges of all of them: count all columns together, and publish one table.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path

import numpy as np

from fairgauge.checks.coded_numbers import coded_numbers
from fairgauge.checks.missingness_checks import copied_rows, left_out_groups
from fairgauge.checks.rows import with_accepted
from fairgauge.cube.cube import CountTable, Cube, aggregate, with_ranges
from fairgauge.cube.parts import Part
from fairgauge.cube.plan import GROUPED, is_of_answers
from fairgauge.enums import Level, Role, Task
from fairgauge.errors import CubeError, DataError, display, listing, quote
from fairgauge.question.conditions import NOT
from fairgauge.question.options import flag_of, named_identifiers
from fairgauge.results.shown_result import load
from fairgauge.start.records import replace
from fairgauge.stats import rounded_counts
from fairgauge.stats.arrays import Array, Index, Limits, Mask
from fairgauge.values import name_of

FEWEST = 2
"""The least ``min_cell`` that protects anything."""
_MOST_CELLS = 5_000_000


def protect(
    cube: Cube | str | Path,
    min_cell: int,
    published: Sequence[Cube | str | Path] = (),
    site: str | None = None,
) -> Cube:
    """Return counts from which no cell can be inferred to have 1 to ``min_cell`` - 1 persons.

    Every count is rounded at random, without bias, to one of the two nearest multiples of
    ``min_cell``; nothing exact is kept. Groups and strata of fewer rows are not named: their rows
    count as rows without a group. The random numbers are secret, so that protecting the same counts
    twice gives different ones: publish one result, and name it where more is published.

    Parameters
    ----------
    cube : Cube or path
        The exact counts: of decisions and labels, without weights, clusters, scores or amounts.
    min_cell : int
        The smallest number of persons that may be known of a cell, at least 2.
    published : Cubes or paths, optional
        Protected counts that were published before: of the same question and of rows that are among
        these rows, in the order in which they were published.
    site : str, optional
        Whose rows these are, such as the name of a hospital. Counts of several sites add up, and
        those of one name are not added twice.

    Returns
    -------
    Cube
        The protected counts. An audit of them reports ranges.

    Raises
    ------
    CubeError
        The counts cannot be protected: the message names what stands in the way, such as a feature
        of which no group is large enough.
    DataError
        ``min_cell`` is no whole number of at least 2, a path leads to no cube, or no rounding
        withstands the attacker.

    Examples
    --------
    >>> import fairgauge as fg
    >>> cube = fg.confusion("sex", {"F": {"tp": 203, "fn": 74}, "M": {"tp": 655, "fn": 3}})
    >>> safe = fg.protect(cube, min_cell=10)
    >>> sorted({int(n) % 10 for n in safe.tables[0].sums["rows"]})
    [0]
    """
    check_min_cell(min_cell)
    if not isinstance(site, str | None):
        raise DataError(f"site is {display(site)}; it is a name, a text")
    exact = load_counts(cube)
    if obstacle := why_unprotected(exact):
        raise CubeError(f"these counts cannot be protected: {obstacle}")
    earlier = [load_counts(each) for each in published]
    for each in earlier:
        _check_published(each, exact, min_cell)
    random = np.random.default_rng(secrets.randbits(128))
    made = protect_counts(exact, min_cell, earlier, random)
    own = Part(site or "", table=secrets.token_hex(16), later=bool(earlier))
    return replace(made, parts=(own,))


def check_min_cell(min_cell: object) -> None:
    """Refuse a smallest cell that protects nothing."""
    if isinstance(min_cell, bool) or not isinstance(min_cell, int) or min_cell < FEWEST:
        least = f"it is a whole number of at least {FEWEST} persons"
        raise DataError(f"min_cell is {quote(min_cell)}; {least}")


def protect_counts(
    cube: Cube, min_cell: int, earlier: Sequence[Cube], random: np.random.Generator
) -> Cube:
    """Return protected counts of what `protect` has checked, by given random numbers."""
    cube = _drop_small_groups(_drop_code_tables(cube), min_cell, earlier)
    table = _complete_table(cube)
    counts = np.append(table.cases, [float(n) for n in cube.excluded.values()])
    reasons = np.arange(len(counts)) >= len(table.codes)  # a reason that is listed has some rows
    before = [_ranges_before(each, cube, table) for each in earlier]
    named = [table.codes[:, i] for i, axis in enumerate(table.axes) if axis.role in GROUPED]
    published = _round_counts(counts, min_cell, before, reasons & (counts > 0), named, random)
    cells, excluded = np.split(published, [len(table.codes)])
    sums = {"rows": cells} | ({"n": cells} if "n" in table.sums else {})
    return replace(
        cube,
        tables=(with_ranges(CountTable(table.axes, table.codes, sums), min_cell),),
        rows=int(published.sum()),
        excluded=dict(zip(cube.excluded, excluded.astype(int).tolist(), strict=True)),
        min_cell=min_cell,
        observed=(),
        copies=(),
    )


def _drop_small_groups(cube: Cube, min_cell: int, earlier: Sequence[Cube]) -> Cube:
    # names of few people are missing values; intervals are named by the question, not by people
    table, levels = cube.tables[0], dict(cube.levels)
    for axis in filter(lambda each: each.role in GROUPED and not each.bins, table.axes):
        known = earlier[0].levels[axis] if earlier else levels[axis]
        named = [
            value in known and cases >= min_cell
            for value, cases in zip(levels[axis], cube.cases_by_level[axis], strict=False)
        ]
        if not any(named):
            raise CubeError(
                f"these counts cannot be protected: no value of {quote(axis.column)} has "
                f"{min_cell:,} rows or more; recode it into larger groups (recode, --recode), or "
                "count without it"
            )
        place = np.append(np.where(named, np.cumsum(named) - 1, -1), -1)
        table = table.recoded(axis, place)
        levels[axis] = tuple(compress(levels[axis], named))
    return replace(cube, tables=(table,), levels=levels)


def _are_nobodys(published: Array, named: Sequence[Index]) -> Mask:
    # the cells of names of which every number that is published is 0; ``named``: codes of cells
    found = np.zeros(len(published), dtype=bool)
    for codes in named:
        empty = np.bincount(codes + 1, published[: len(codes)]) == 0
        empty[0] = False  # of those without a name
        found[: len(codes)] |= empty[codes + 1]
    return found


def _round_counts(
    counts: Array, base: int, before: Sequence[Limits], occurs: Mask, named: Sequence[Index],
    random: np.random.Generator,
) -> Array:  # fmt: skip
    # Whether a rounding is accepted depends on nothing but what is published, and any rounding may
    # be drawn first, so that every table that agrees with what is published could have given it.
    # ``before``: the ranges of every cell in earlier tables; ``occurs``: cells known to have
    # someone. The attacker may take all rows to be those of before, where ranges allow it.
    def ranges(published: Array) -> Limits:
        low, high = rounded_counts.range_of_rounded(published, base)
        low = np.where(occurs, np.maximum(low, 1.0), low)
        lows, highs = zip(*before, (low, high), strict=True)
        return np.array(lows), np.array(highs)

    def learned(published: Array) -> Mask:
        return rounded_counts.disclosed_by_history(*ranges(published), base)

    def learned_if_repeated(published: Array) -> Mask:
        low, high = ranges(published)
        repeated = (low[-2:].max(axis=0) <= high[-2:].min(axis=0)).all()
        return np.asarray(rounded_counts.disclosed_by_repetition(low, high, base) & repeated)

    below, above = base * (counts // base), base * -(-counts // base)
    defeated_below, defeated_above = learned(below), learned(above)
    drawn = rounded_counts.rounded_randomly(counts, base, random)
    while (nobody := _are_nobodys(drawn, named)).any():
        drawn = np.where(nobody, rounded_counts.rounded_randomly(counts, base, random), drawn)
    safe = np.where(defeated_below, above, np.where(defeated_above, below, drawn))
    other = np.where(safe == below, above, below)
    safe = np.where(learned_if_repeated(safe), other, safe)
    lost = learned(safe) | learned_if_repeated(safe) | _are_nobodys(safe, named)
    if lost.any():
        raise DataError(
            f"{int(lost.sum()):,} of {len(counts):,} cells cannot be protected beside what was "
            "published before: their numbers can be inferred from both tables. Publish these "
            "counts later, with more rows, or with fewer columns or values"
        )
    return safe


def load_counts(counts: Cube | str | Path) -> Cube:
    """Return counts, read from a file where a path is given."""
    found = load(counts) if isinstance(counts, (str, Path)) else counts
    if not isinstance(found, Cube):
        raise DataError(f"{display(counts)} is no cube of counts; fairgauge count makes one")
    return found


def why_unprotected(cube: Cube) -> str | None:
    """Return what stands in the way of protecting counts; None where they can be tried."""
    return next(_obstacles(cube), None)


def _obstacles(cube: Cube) -> Iterator[str]:
    plan = cube.plan
    if is_of_answers(plan):
        yield "they are of answers under swapped names, not of people; share them as they are"
        return
    if plan.asked.probabilities:
        names = listing(each.name for each in plan.asked.probabilities)
        yield (
            f"they hold the probabilities of groups ({names}), which show the name and address of "
            "the few persons of a cell; share the report instead"
        )
        return
    if cube.min_cell is not None:
        yield f"they are protected already (smallest cell {cube.min_cell:,}); give the exact counts"
    if plan.asked.design:
        yield "they hold the design of a survey, which rounded cells do not keep; count without it"
    if plan.weight:
        yield f"they have weights ({quote(plan.weight)}); count without weights"
    if named_identifiers(cube.asked):
        yield (
            "their question names identifiers (where, recode); choose or change these rows before "
            "you count them"
        )
    if (cluster := plan.axis(Role.CLUSTER)) is not None:
        yield f"they hold single clusters ({quote(cluster.column)}); count without clusters"
    if plan.asked.task is Task.REGRESSION or (plan.moments and not plan.axis(Role.SCORE)):
        yield "they hold sums of amounts; state which values are positive (positive, --positive)"
    if (score := plan.axis(Role.SCORE)) is not None:
        yield (
            f"they hold the scores {quote(score.column)}; count decisions (prediction, "
            "--prediction) in place of scores"
        )
    if (open_ := cube.tables[0].sums.get("open")) is not None:
        known = {plan.outcomes[-1].column: {NOT: [None]}}
        yield (
            f"{int(open_.sum()):,} of their {cube.cases:,.0f} people have a known decision and an "
            "unknown one that could change it, which protected counts cannot state; exclude those "
            f"({flag_of('where', known)})"
        )
    yield from _hidden_doubts(cube)
    if len(_drop_code_tables(cube).tables) > 1:
        yield (
            "they are several overlapping tables; count at most three sensitive features at once"
        )
    sizes = [len(codes) for codes in _codes_of_axes(cube)]
    if any(math.prod(sizes) == size for size in sizes):
        yield "of one column alone, the list of values shows which occur; count a label as well"
    if math.prod(sizes) > _MOST_CELLS:
        yield (
            f"they have {math.prod(sizes):,} combinations of values, above {_MOST_CELLS:,}; count "
            "fewer columns or wider intervals"
        )


def _hidden_doubts(cube: Cube) -> Iterator[str]:
    # what casts doubt on the counts, and protected ones would not show any more
    spec = cube.asked
    found = (*coded_numbers(cube, spec), *left_out_groups(cube, spec), *copied_rows(cube))
    for note in with_accepted(found, spec):
        if note.level is Level.WARNING:
            accept = flag_of("accept", [str(note.code)])
            yield f"they would not show that {note.message}; or state that it is right ({accept})"


def _check_published(cube: Cube, exact: Cube, min_cell: int) -> None:
    if cube.min_cell is None:
        raise CubeError("what was published before is not protected: its counts are exact")
    if len(cube.parts) > 1:
        raise CubeError(
            "what was published before is the sum of several tables; name the table of this site, "
            "or protect the new rows alone and merge them"
        )
    if cube.min_cell != min_cell:
        raise CubeError(
            f"what was published before has the smallest cell {cube.min_cell:,}, not {min_cell:,}; "
            "protect a history with one smallest cell"
        )
    difference = cube.plan.difference(_drop_code_tables(exact).plan)
    if difference:
        raise CubeError(
            f"what was published before counts different things: {difference}. Of the same rows "
            "count all columns together, and publish that table alone"
        )


def _drop_code_tables(cube: Cube) -> Cube:
    # counts without the tables of codes of missing numbers, which come last
    axes = [axis for axis in cube.plan.axes if axis.role is not Role.CODES]
    return cube.with_tables(axes, (each for each in cube.tables if {*each.axes} <= {*axes}))


def _codes_of_axes(cube: Cube) -> list[Index]:
    # the codes of every axis of the table: its levels, and -1 where some are missing
    table = cube.tables[0]
    held = zip((len(cube.levels[axis]) for axis in table.axes), table.codes.T, strict=True)
    return [np.append(np.arange(n), [-1] * bool((codes < 0).any())) for n, codes in held]


def _complete_table(cube: Cube) -> CountTable:
    # the table with all combinations of values, those that do not occur as 0
    table = cube.tables[0]
    places = np.meshgrid(*_codes_of_axes(cube), indexing="ij")
    grid = np.stack([each.ravel() for each in places], axis=-1)
    codes, zero = np.concatenate([table.codes, grid]).astype(np.int64), np.zeros(len(grid))
    sums = {name: np.concatenate([of, zero]) for name, of in table.sums.items()}
    return aggregate(table.axes, codes, sums)


def _ranges_before(earlier: Cube, cube: Cube, table: CountTable) -> Limits:
    # combinations of values of which one did not occur then are known to be empty
    held = earlier.tables[0]
    of_cells = zip(held.sums["low"], held.sums["high"], strict=True)
    known = dict(zip(_cell_keys(held, earlier), of_cells, strict=True))
    ranges = [known.get(key, (0.0, 0.0)) for key in _cell_keys(table, cube)]
    for reason in cube.excluded:
        rows = np.array([float(earlier.excluded.get(reason, 0))])
        low, high = rounded_counts.range_of_rounded(rows, earlier.min_cell or 1)
        ranges.append((max(low[0], 1.0), high[0]) if reason in earlier.excluded else (0.0, 0.0))
    low, high = np.array(ranges).T
    return low, high


def _cell_keys(table: CountTable, cube: Cube) -> list[tuple[str | None, ...]]:
    columns = []
    for axis, codes in zip(table.axes, table.codes.T, strict=True):
        names = [*map(name_of, cube.levels[axis]), None]
        columns.append([names[code] for code in codes.tolist()])
    return list(zip(*columns, strict=True))
