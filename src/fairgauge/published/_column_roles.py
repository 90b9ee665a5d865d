"""What each column of a published table is: given by its user, or found from headers and cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, perm

from fairgauge.errors import DataError, Problem, listing, nearest, quote, refuse
from fairgauge.published._header_words import (
    is_remark,
    means_decided,
    means_denied,
    means_impact,
    means_loans_made,
    means_not_accepted,
    names_share,
    role_of,
)
from fairgauge.published._table_files import Grid
from fairgauge.published._table_shapes import (
    are_nested,
    headings_of,
    is_empty_column,
    is_numeric,
    misfits,
    printed_shares,
    regular,
    with_joined_header,
)
from fairgauge.published.printed_numbers import (
    Printed,
    adjacent_numbers,
    complement,
    has_number,
    is_blank,
    is_dash,
    is_whole,
    read_number,
    read_ratio,
    without_marks,
)
from fairgauge.published.published_table import (
    RATIOS,
    ColumnRole,
    PublishedRow,
    PublishedTable,
    RowKind,
)
from fairgauge.published.table_arithmetic import differing_cells, fitting_ratios
from fairgauge.question.category_words import is_total, is_undecided, is_unknown
from fairgauge.results.check import means_unweighted

_COUNTS_AND_RATE = (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.RATE)
_OF_DENIALS = (ColumnRole.NOT_SELECTED, ColumnRole.DENIAL_RATE)
_NUMBERS = (*_COUNTS_AND_RATE, *RATIOS, *_OF_DENIALS)
_PLUS = " + "
_SHARES = (ColumnRole.RATE, ColumnRole.DENIAL_RATE)
_FOUND_BY_ARITHMETIC = (*_COUNTS_AND_RATE, ColumnRole.RATIO)
_FEWEST_PARTS, _FEWEST_ROWS, _FEWEST_NUMBERS, _TWO = 2, 2, 2, 2
_NOTED = "Unknown"


def table_of(grid: Grid, roles: Mapping[str, ColumnRole] | None = None) -> PublishedTable:
    r"""Make a published table of a grid.

    Parameters
    ----------
    grid : Grid
        The cells.
    roles : mapping of headers to roles, optional
        What the columns are; of those not named it is found from their headers and cells.

    Raises
    ------
    SpecError
        A column is named that the table does not have.
    DataError
        The columns cannot be distinguished, or a cell of a number column is no number.

    Examples
    --------
    >>> from fairgauge.published._table_files import grids_of_text
    >>> text = "sex  applicants  hired  rate\nMale  80  48  60%\nFemale  40  12  30%"
    >>> table = table_of(grids_of_text(text)[0])
    >>> table.dimensions, table.rows[1].selected.value
    (('sex',), 12.0)
    """
    differing, printed = tuple(differing_cells(grid)), grid
    grid = regular(grid, roles or ())
    _check_header(grid)
    grid, roles = _with_all_approvals(grid, roles or {})
    found = _roles(grid, roles)
    _check_found(grid, found)
    category = [i for i, role in found.items() if role is ColumnRole.CATEGORY]
    grid = _without_marks(grid, category)
    numbers = {role: i for i, role in found.items() if role in _NUMBERS}
    unread = [i for i in range(len(grid.header)) if i not in found and is_numeric(grid, i)]
    undecided = [i for i in unread if is_undecided(grid.header[i])]  # such as those who withdrew
    counted = _counted(grid, numbers, undecided)
    shares = [i for i in unread if names_share(grid.header[i])]
    rows, lost = _rows(grid, category, numbers, counted, whole=not undecided)
    if not rows:
        raise DataError(f"{_called(grid)} has no row with a number")
    _check_possible(grid, found, rows)
    _check_headers_above(printed)
    dimensions = tuple(grid.header[i] or "category" for i in category)
    rows = (*rows, *_noted_row(grid, rows, len(dimensions)))
    known = any(row.kind is RowKind.UNKNOWN and row.n is not None for row in rows)
    open_notes = () if known else tuple(note for note in grid.notes if note.has_number)
    columns = {role: grid.header[i] for role, i in numbers.items()}
    table = PublishedTable(
        name=grid.name or " × ".join(dimensions),
        dimensions=dimensions,
        columns=_with_decided(columns) if any(row.everyone for row in rows) else columns,
        rows=rows,
        ignored=(*grid.apart, *(grid.header[i] for i in unread if i not in counted)),
        counted=tuple(grid.header[i] for i in counted),
        unread_shares=(*grid.apart_shares, *printed_shares(grid, shares, category)),
        noted_unknown=grid.noted_unknown,
        noted_others=grid.noted_others,
        unread_notes=tuple((note.line, note.text) for note in grid.notes if not _is_read(grid)),
        own=grid.own,
        lost=(*grid.lost, *lost, *(f"line {n.line}, {quote(n.text)}" for n in open_notes)),
        differing=differing,
    )
    return _by_its_ratios(_with_ratios_of_selections(table, roles))


def _with_ratios_of_selections(
    table: PublishedTable, given: Mapping[str, ColumnRole]
) -> PublishedTable:
    """Return a table with ratios as those of selections that no header names as those of denials.

    That is so where more of them are right as these.
    """
    header = table.columns.get(ColumnRole.DENIAL_RATIO)
    if header is None or header in given or role_of(header) is ColumnRole.DENIAL_RATIO:
        return table
    moved = {ColumnRole.DENIAL_RATIO: ColumnRole.RATIO}
    rows = (
        replace(
            row,
            ratio=row.denial_ratio,
            denial_ratio=None,
            texts=tuple((moved.get(role, role), text) for role, text in row.texts),
        )
        for row in table.rows
    )
    columns = {moved.get(role, role): name for role, name in table.columns.items()}
    other = replace(table, rows=tuple(rows), columns=columns)
    return other if fitting_ratios(other) > fitting_ratios(table.of_denials) else table


def _by_its_ratios(table: PublishedTable) -> PublishedTable:
    """Return a table without rates of all people, or of those decided, as most ratios show.

    Where no ratio shows which of both it is of, it is of all, and has the other rows besides.
    """
    rows = tuple(map(_decided, table.rows))
    fewer = any(
        row.n and (row.everyone is None or row.everyone.exact > row.n.exact)
        for row in rows
        if row.kind is RowKind.GROUP and row.not_selected
    )
    if not fewer or {*_SHARES} & table.columns.keys():
        return table
    decided = replace(table, rows=rows, columns=_with_decided(table.columns))
    fitting, fitting_all = (
        fitting_ratios(each) + fitting_ratios(each.of_denials) for each in (decided, table)
    )
    more = fitting - fitting_all
    return decided if more > 0 else table if more else replace(table, of_decided=rows)


def _with_all_approvals(
    grid: Grid, given: Mapping[str, ColumnRole]
) -> tuple[Grid, Mapping[str, ColumnRole]]:
    """Return a grid with all approvals, loans made and those not accepted, as selected people.

    It stays as it is where the selected people are named, or the rates are of loans made.
    """
    pair = [
        [i for i, name in enumerate(grid.header) if means(name) and _is_whole(grid, i)]
        for means in (means_loans_made, means_not_accepted)
    ]
    if ColumnRole.SELECTED in given.values() or [*map(len, pair)] != [1, 1]:
        return grid, given
    ((made,), (more,)) = pair
    names = [grid.header[i] for i in (made, more)]
    if {*names} & given.keys() or _are_of_loans_made(grid):
        return grid, given

    def joined(cells: Sequence[str]) -> str:
        known = [read_number(cells[i]) for i in (made, more)]
        if all(known):
            return str(sum(int(number.exact) for number in known if number))
        at = made if known[0] is None else more
        name = grid.header[at].replace(",", "")
        return cells[at] and f"{cells[at]} ({name})"  # no bound of both together

    def without(cells: Sequence[str], text: str) -> tuple[str, ...]:
        return tuple(text if i == made else cell for i, cell in enumerate(cells) if i != more)

    both = _PLUS.join(names)
    rows = tuple(without(cells, joined(cells)) for cells in grid.rows)
    grid = replace(grid, header=without(grid.header, both), rows=rows)
    return grid, {**given, both: ColumnRole.SELECTED}


def _are_of_loans_made(grid: Grid) -> bool:
    """Return whether the printed rates are those of loans made, and no header states otherwise."""
    roles = {i: role for i, name in enumerate(grid.header) if (role := role_of(name))}
    rates = [grid.header[i] for i, role in roles.items() if role is ColumnRole.RATE]
    return not any("approv" in rate.casefold() for rate in rates) and _fits(grid, roles, ())


def _noted_row(grid: Grid, rows: Sequence[PublishedRow], levels: int) -> Iterator[PublishedRow]:
    """Yield the row that a sentence beside a table stands for; none where the table has one."""
    if _is_read(grid) and all(row.kind is not RowKind.UNKNOWN for row in rows):
        n = read_number(str(_noted_counts(grid).pop()))
        names = (_NOTED,) * levels
        row = PublishedRow(number=len(rows) + 1, categories=names, kind=RowKind.UNKNOWN, n=n)
        stated = {note.selected for note in grid.notes}
        selected = None if len(stated) != 1 else stated.pop()
        yield row if selected is None else replace(row, selected=read_number(str(selected)))


def _is_read(grid: Grid) -> bool:
    """Return whether one number alone may be how many people are not included."""
    return len(_noted_counts(grid)) == 1 and all(note.counts for note in grid.notes)


def _noted_counts(grid: Grid) -> set[int]:
    if grid.own is not None and (stated := {*grid.own.unknown} - {0}):
        return stated
    return {count for note in grid.notes for count in note.counts}


def parts_of(grid: Grid) -> list[Grid]:
    """Return the tables that stand below one header, each under a row with its name.

    A row whose first cell alone is filled is such a name where several rows follow each, unless the
    same categories follow several: then they are the intersections of features.
    """
    grid = with_joined_header(grid)
    starts = headings_of(grid)
    ends = [*starts[1:], len(grid.rows)] if starts else []
    sizes = [end - start - 1 for start, end in zip(starts, ends, strict=True)]
    if len(starts) < _FEWEST_PARTS or starts[0] != 0 or min(sizes) < _FEWEST_ROWS:
        return [grid]
    if are_nested(grid):
        return [grid]
    return [
        replace(
            grid,
            name=f"{grid.name}: {grid.rows[start][0]}" if grid.name else grid.rows[start][0],
            rows=grid.rows[start + 1 : end],
            first=1,
            notes=grid.notes if end == len(grid.rows) else (),
            lost=grid.lost if end == len(grid.rows) else (),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def _counted(
    grid: Grid, columns: Mapping[ColumnRole, int], undecided: Sequence[int]
) -> Sequence[int]:
    """Return the columns of people without a decision who are among all; none beside these.

    With printed rates they are where more of these are right of all than of those decided alone.
    """
    if ColumnRole.N in columns:
        return ()
    counts = [i for i in undecided if _is_whole(grid, i) and "%" not in grid.header[i]]
    if not {*_SHARES} & {*columns}:
        return counts or undecided
    numbers = _numbers(grid, columns)
    roles = (ColumnRole.SELECTED, ColumnRole.NOT_SELECTED, ColumnRole.RATE, ColumnRole.DENIAL_RATE)
    more = 0
    for at, cells in enumerate(grid.rows):
        *parts, rate, denial_rate = (
            numbers[role][at] if role in numbers else None for role in roles
        )
        known = [part for part in (*parts, *(read_number(cells[i]) for i in counts)) if part]
        decided, everyone = (sum(part.exact for part in of) for of in (known[:_TWO], known))
        if len(known) < _TWO + len(counts) or not decided:
            continue
        for printed, part in zip((rate, denial_rate), known, strict=False):
            if printed:
                more += printed.agrees(part.exact / everyone)
                more -= printed.agrees(part.exact / decided)
    return counts if more > 0 else ()


def _rows(
    grid: Grid,
    category: Sequence[int],
    columns: Mapping[ColumnRole, int],
    counted: Sequence[int],
    *,
    whole: bool,
) -> tuple[tuple[PublishedRow, ...], list[str]]:
    """Return the rows of categories, and those with numbers that are not read.

    ``counted`` are the columns of people without a decision who are among all, and ``whole`` is
    whether the table has no column of such people.
    """
    numbered = _numbers(grid, columns)
    rates = filter(None, numbered.get(ColumnRole.RATE, ()))
    rate_unit = min((rate.unit for rate in rates), default=None)
    rows, lost = [], []
    above = [""] * len(category)
    for at, cells in enumerate(grid.rows):
        place = f"row {grid.number(at)} of {_called(grid)}"
        values = ["" if is_dash(cells[i]) else cells[i] for i in category]
        texts = tuple(
            (role, cells[i])
            for role, i in columns.items()
            if cells[i] and numbered[role][at] is None
        )
        printed = any(each[at] for each in numbered.values())
        if not (printed or (any(values) and _in_place_of_numbers(grid, cells, columns.values()))):
            if adjacent_numbers(text := " ".join(dict.fromkeys(filter(None, cells)))):
                lost.append(f"{place}, {quote(text)}")
                continue
            above = [value or old for value, old in zip(values, above, strict=True)]
            continue  # a heading between the rows, or a note below them
        above = _filled(values, above)
        numbers = {str(role): column[at] for role, column in numbered.items()}
        row = PublishedRow(
            number=grid.number(at),
            categories=tuple(above),
            kind=_kind(above),
            texts=texts,
            weighted=ColumnRole.N in columns
            and means_unweighted(grid.header[columns[ColumnRole.N]]),
            rate_unit=rate_unit,
            **numbers,
        )
        others = [read_number(cells[i]) for i in counted]
        rows.append(_with_counts(row, columns, others, whole=whole))
        lost += [f"{place}, {quote(text)}" for _, text in texts if has_number(text)]
    answered = list(_with_answers(_of_decided(rows), own=grid.own is not None))
    return tuple(_with_margins(answered)), lost


def _with_decided(columns: Mapping[ColumnRole, str]) -> dict[ColumnRole, str]:
    """Return the headers of the columns of numbers, with the parts of the people decided."""
    decided = _PLUS.join(columns[role] for role in (ColumnRole.SELECTED, ColumnRole.NOT_SELECTED))
    n = columns.get(ColumnRole.N)
    return {**columns, **({} if n is None else {ColumnRole.N: f"{decided}, of {n}"})}


def _of_decided(rows: list[PublishedRow]) -> list[PublishedRow]:
    """Return rows of the people who were decided, where more printed rates are of these.

    Withdrawn and incomplete applications have no decision, and are among those who applied.
    """
    of_all, of_decided = [], []
    found = [*map(_decided, rows)]
    for row in found:
        if row.everyone is None:
            return rows
        for printed, part in ((row.rate, row.selected), (row.denial_rate, row.not_selected)):
            if printed is not None and part is not None and row.n is not None and row.n.exact:
                everyone = row.everyone.exact
                of_all.append(everyone > 0 and printed.agrees(part.exact / everyone))
                of_decided.append(printed.agrees(part.exact / row.n.exact))
    return found if sum(of_decided) > sum(of_all) else rows


def _decided(row: PublishedRow) -> PublishedRow:
    """Return a row of the people who were decided alone; of a group, none where it hides them."""
    selected, denied = row.selected, row.not_selected
    if selected is None or denied is None:
        return replace(row, n=None) if row.kind is RowKind.GROUP else row
    text = _PLUS.join((selected.text, denied.text))
    together = replace(selected, text=text, exact=selected.exact + denied.exact)
    return replace(row, n=together, everyone=row.n)


def _in_place_of_numbers(grid: Grid, cells: Sequence[str], columns: Iterable[int]) -> bool:
    """Return whether a row without numbers has text in their place: no header, and no note.

    A note stands in all cells where they are merged.
    """
    return any(cells[i] and cells[i] not in (grid.header[i], cells[0]) for i in columns)


def _with_answers(rows: Sequence[PublishedRow], *, own: bool) -> Iterator[PublishedRow]:
    """Yield rows, those of answers such as "Decline to answer" as groups beside unknown people.

    In a report of fairgauge every row with a rate is that of a group, whatever its name.
    """
    apart = own or any(
        row.kind is RowKind.UNKNOWN and row.n and row.rate is None and row.ratio is None
        for row in rows
    )
    for row in rows:
        rated = row.rate_range is not None
        group = own or (row.kind is RowKind.UNKNOWN and row.ratio is not None)
        yield replace(row, kind=RowKind.GROUP) if apart and rated and group else row


def _with_margins(rows: Sequence[PublishedRow]) -> Iterator[PublishedRow]:
    """Yield rows, those that are the total of others among them as totals.

    Of two features, a row without a category of the second is the total of the first one's rows.
    """
    for row in rows:
        whole = row.kind is RowKind.GROUP and "" in row.categories
        others = (each for each in rows if each is not row and each.kind is RowKind.GROUP)
        margin = whole and any(row.includes(other) for other in others)
        yield replace(row, kind=RowKind.TOTAL) if margin else row


def _without_marks(grid: Grid, category: Sequence[int]) -> Grid:
    """Take footnote marks off the names of categories, unless two rows differ in them alone."""
    rows = [
        tuple(without_marks(cell) if i in category else cell for i, cell in enumerate(cells))
        for cells in grid.rows
    ]
    before, after = (
        {tuple(row[i] for i in category) for row in each} for each in (grid.rows, rows)
    )
    return replace(grid, rows=tuple(rows)) if len(before) == len(after) else grid


def _filled(values: Sequence[str], above: Sequence[str]) -> list[str]:
    """Return the categories of a row; an empty cell repeats the one above, as merged cells do."""
    named = [i for i, value in enumerate(values) if value]
    if not named or any(is_total(value) for value in values):
        return list(values)
    first = named[0]
    return [*above[:first], *values[first:]]


def _kind(categories: Sequence[str]) -> RowKind:
    if any(is_unknown(value) for value in categories):
        return RowKind.UNKNOWN
    return RowKind.TOTAL if any(is_total(value) for value in categories) else RowKind.GROUP


def _check_header(grid: Grid) -> None:
    """Refuse a first row of numbers, which would be lost as the names of columns."""
    numbers = sum(read_number(name) is not None for name in grid.header)
    if numbers >= _FEWEST_NUMBERS and not any(map(role_of, grid.header)):
        raise DataError(
            f"{_called(grid)} has no header: its first row is {listing(grid.header)}; "
            "add the names of its columns above"
        )


def _roles(grid: Grid, given: Mapping[str, ColumnRole]) -> dict[int, ColumnRole]:
    """Return the role of every column that is read, by position."""
    problems = [
        Problem(str(role), f"no column {quote(name)} in the table; it has {listing(grid.header)}."
                + nearest(name, grid.header))
        for name, role in given.items()
        if name not in grid.header
    ]  # fmt: skip
    refuse(problems)
    found = {grid.header.index(name): role for name, role in given.items()}
    free = [i for i in range(len(grid.header)) if i not in found]
    text = [
        i
        for i in free
        if not (is_numeric(grid, i) or is_empty_column(grid, i) or is_remark(grid.header[i]))
    ]
    named = ColumnRole.CATEGORY in found.values()
    text = [
        i
        for at, i in enumerate(text)
        if (at == 0 and not named)
        or role_of(grid.header[i]) not in RATIOS  # "below four fifths: yes, no"
    ]
    if not (named or text) and 0 in free and _names_codes(grid):
        text = [0]
    if not named:
        found |= dict.fromkeys(text, ColumnRole.CATEGORY)
    left = [i for i in range(len(grid.header)) if i not in found and i not in text]
    for i in left:
        role = role_of(grid.header[i])
        if role is not None and (role not in RATIOS or _has_digits(grid, i)):
            found[i] = role
    _settle_ratios(grid, found, given)
    if ColumnRole.N not in found.values():
        found |= {i: ColumnRole.N for i in left if i not in found and means_decided(grid.header[i])}
    _settle_doubles(grid, found, given)
    unnamed = [i for i in left if i not in found and not is_remark(grid.header[i])]
    absent = [role for role in _FOUND_BY_ARITHMETIC if role not in found.values()]
    if unnamed and absent:
        found |= _by_arithmetic(grid, found, unnamed, absent)
    return found


def _settle_ratios(
    grid: Grid, found: dict[int, ColumnRole], given: Mapping[str, ColumnRole]
) -> None:
    """Take ratios beside denials alone for those of denials, unless a header names selections.

    Beside others that a header names as those of denials, they are not read.
    """
    roles = {*found.values()}
    if not {*_OF_DENIALS} & roles or ColumnRole.SELECTED in roles:
        return
    for i in [i for i, role in found.items() if role is ColumnRole.RATIO]:
        if grid.header[i] in given or means_impact(grid.header[i]):
            continue
        if ColumnRole.DENIAL_RATIO in roles:
            del found[i]
        else:
            found[i] = ColumnRole.DENIAL_RATIO


def _names_codes(grid: Grid) -> bool:
    """Return whether a first column of numbers are codes of categories: all others are known."""
    first, *others = map(role_of, grid.header)
    known = sum(role is not None for role in others)
    return first is None and known >= _FEWEST_NUMBERS and all(row[0] for row in grid.rows)


def _settle_doubles(
    grid: Grid, found: dict[int, ColumnRole], given: Mapping[str, ColumnRole]
) -> None:
    """Drop roles that more than one header could have, unless the cells decide."""
    for role in _NUMBERS:
        several = [i for i, each in found.items() if each is role]
        if len(several) < 2:
            continue
        named = [i for i in several if grid.header[i] in given]
        whole = [i for i in several if _is_whole(grid, i) and not is_undecided(grid.header[i])]
        fits = named or (
            [i for i in several if i not in whole] if role is ColumnRole.RATE else whole
        )
        if len(fits) != 1:
            names = listing(grid.header[i] for i in several)
            raise DataError(
                f"the columns {names} could each be the {_words(role)}; name it: "
                f"--column {role}=NAME"
            )
        for i in several:
            if i != fits[0]:
                del found[i]


_MOST_TRIED = 1_000_000
"""Rows that are computed to find what columns without a header are: some seconds."""


def _by_arithmetic(
    grid: Grid,
    found: Mapping[int, ColumnRole],
    unnamed: Sequence[int],
    absent: Sequence[ColumnRole],
) -> dict[int, ColumnRole]:
    """Return the roles of columns whose headers name nothing, where the numbers fit in one way.

    Of several columns as many are given a role as fit; the others are not read.
    """
    may_be = {(i, role) for i in unnamed for role in absent if not misfits(grid, i, role)}
    for size in range(min(len(unnamed), len(absent)), 0, -1):
        if comb(len(unnamed), size) * perm(len(absent), size) * len(grid.rows) > _MOST_TRIED:
            return {}
        trials = (
            dict(zip(chosen, roles, strict=True))
            for chosen in combinations(unnamed, size)
            for roles in permutations(absent, size)
            if may_be.issuperset(zip(chosen, roles, strict=True))
        )
        fits = [trial for trial in trials if _fits(grid, {**found, **trial}, trial.values())]
        if fits:
            return fits[0] if len(fits) == 1 else {}
    return {}


def _fits(grid: Grid, roles: Mapping[int, ColumnRole], assigned: Collection[ColumnRole]) -> bool:
    """Return whether most rates are those of the counts, and most ratios those of the rates."""
    at = {role: i for i, role in roles.items()}
    if not set(_COUNTS_AND_RATE) <= at.keys():
        return False
    agree = total = 0
    for cells in grid.rows:
        n, selected, rate = (read_number(cells[at[r]]) for r in _COUNTS_AND_RATE)
        if n and selected and rate and n.value >= selected.value >= 0 and n.value > 0:
            total += 1
            share = selected.exact / n.exact
            agree += rate.agrees(share) or rate.as_percentage().agrees(share)
    fitting = total > 0 and agree > total / 2
    return fitting and (ColumnRole.RATIO not in assigned or _ratios_fit(grid, at))


def _ratios_fit(grid: Grid, at: Mapping[ColumnRole, int]) -> bool:
    """Return whether most numbers of a column are the ratios to the rate of one of the rows."""
    rows = []
    for cells in grid.rows:
        n, selected = (read_number(cells[at[r]]) for r in (ColumnRole.N, ColumnRole.SELECTED))
        ratio = read_ratio(cells[at[ColumnRole.RATIO]])
        if n and selected and ratio and n.value > 0:
            rows.append((selected.exact / n.exact, ratio))

    def fitting(reference: Fraction) -> int:
        """Count the ratios that agree, one of them at least being that of the reference."""
        margin = 2 * _rate_margin(grid, at) / reference
        return sum(
            ratio.agrees(rate / reference - margin, rate / reference + margin)
            for rate, ratio in rows
        )

    references = [rate for rate, ratio in rows if rate > 0 and ratio.value == 1]
    return any(fitting(rate) * 2 > len(rows) for rate in references)


def _rate_margin(grid: Grid, at: Mapping[ColumnRole, int]) -> Fraction:
    """Return by how much a printed rate may be rounded: a ratio may be that of printed rates."""
    rates = _as_shares([read_number(cells[at[ColumnRole.RATE]]) for cells in grid.rows])
    return max((rate.margin for rate in rates if rate is not None), default=Fraction(0))


def _check_found(grid: Grid, found: Mapping[int, ColumnRole]) -> None:
    roles = set(found.values())
    headers = listing(header or "(no header)" for header in grid.header)
    if ColumnRole.CATEGORY not in roles:
        raise DataError(
            f"no column of {_called(grid)} names categories: it has {headers}; "
            "name it: --column category=NAME"
        )
    counts = roles & {ColumnRole.N, ColumnRole.SELECTED, ColumnRole.NOT_SELECTED}
    if len(counts) < _TWO and not roles & {*_SHARES}:
        free = [i for i in range(len(grid.header)) if i not in found and is_numeric(grid, i)]
        if ColumnRole.RATIO in roles and not free:
            raise DataError(
                f"{_called(grid)} prints impact ratios without what they are made of, so they "
                "cannot be checked; a check needs the selection rates, or the number of people "
                "and of selected people"
            )
        missing = [role for role in _COUNTS_AND_RATE if role not in roles]
        of_denials = _OF_DENIALS if any(means_denied(grid.header[i]) for i in free) else ()
        named = (role for role in (*missing, *of_denials) if role not in roles)
        flags = " ".join(f"--column {role}=NAME" for role in named)
        raise DataError(
            f"{_called(grid)} needs the number of people and of selected people, or "
            f"the selection rates; of its columns {headers} none is known to be the "
            f"{' or the '.join(map(_words, missing))}; name those that it has: {flags}"
        )


def _check_possible(
    grid: Grid, found: Mapping[int, ColumnRole], rows: Sequence[PublishedRow]
) -> None:
    """Refuse a table in which most numbers of a column cannot be what they are read as.

    A publisher errs in some rows; most are wrong where headers are taken for those of other
    columns, which must not be reported as errors of the publisher.
    """
    for role in found.values():
        if role in (ColumnRole.CATEGORY, *RATIOS):
            continue
        known = [row for row in rows if getattr(row, role) is not None]
        wrong = [row for row in known if _is_impossible(row, role)]
        if len(wrong) < _FEWEST_ROWS or len(wrong) * 2 <= len(known):
            continue
        text, name = getattr(wrong[0], role).text, wrong[0].name
        allowed = "between 0 and 1" if role in _SHARES else "a possible count"
        read = (f"{quote(grid.header[i])} as the {_words(of)}" for i, of in sorted(found.items()))
        raise DataError(
            f"{_called(grid)} is not understood: in {len(wrong)} of {len(known)} rows the "
            f"{_words(role)} would not be {allowed}, such as {quote(text)} of {quote(name)}; it is "
            f"read with {', '.join(read)}; write a header above every column, that of the "
            "categories too, with tabs between the cells of a text, or name the column: "
            f"--column {role}=NAME"
        )


def _check_headers_above(grid: Grid) -> None:
    """Refuse a header that lacks its first cell: the others are then one column too far left."""
    first, last = grid.header[0], grid.header[-1]
    if not last and is_numeric(grid, len(grid.header) - 1) and role_of(first) is not None:
        raise DataError(
            f"{_called(grid)} is not understood: its first header is {quote(first)}, and its last "
            "column has numbers and no header; write a header above every column, that of the "
            "categories too, with tabs between the cells of a text"
        )


def _is_impossible(row: PublishedRow, role: ColumnRole) -> bool:
    """Return whether a printed number of a row is no share, no count, or more than all people."""
    printed: Printed = getattr(row, role)
    if role in _SHARES:
        return not 0 <= printed.value <= 1
    more = row.n is not None and is_whole(row.n.value) and printed.value > row.n.value
    return more or printed.percent or printed.value < 0


def _numbers(
    grid: Grid, columns: Mapping[ColumnRole, int]
) -> dict[ColumnRole, list[Printed | None]]:
    """Return the printed numbers of every number column; text in their place is not stated."""
    found: dict[ColumnRole, list[Printed | None]] = {}
    for role, i in columns.items():
        read = read_ratio if role in RATIOS else read_number
        cells = [row[i] for row in grid.rows]
        found[role] = [None if is_blank(text) else read(text) for text in cells]
        words = [at for at, text in enumerate(cells) if not is_blank(text)]
        if words and not any(found[role]):
            raise DataError(
                f"row {grid.number(words[0])} of {_called(grid)} has {quote(cells[words[0]])} as "
                f"the {_words(role)} (column {quote(grid.header[i])}), and no row has a number; "
                "write numbers, or leave the column out"
            )
        if role in _SHARES:
            found[role] = _as_shares(found[role])
    return found


def _with_counts(
    row: PublishedRow,
    columns: Collection[ColumnRole],
    others: Sequence[Printed | None],
    *,
    whole: bool,
) -> PublishedRow:
    """Return a row with the number, or the rate, that follows from the others it has.

    ``others`` are the people without a decision who are among all; only of a ``whole`` table who
    was not denied was selected.
    """
    n, selected, denied = row.n, row.selected, row.not_selected
    if ColumnRole.N not in columns and selected and denied:
        parts = [selected, denied, *others]
        known = [part for part in parts if part is not None]
        text = _PLUS.join(part.text for part in known)
        together = sum((part.exact for part in known), Fraction(0))
        n = replace(selected, text=text, exact=together) if len(known) == len(parts) else None
    if whole and ColumnRole.SELECTED not in columns and n and denied:
        selected = replace(n, text=f"{n.text} - {denied.text}", exact=n.exact - denied.exact)
    rate = row.rate
    unrated = ColumnRole.RATE not in columns and (selected is None or n is None)
    if whole and unrated and row.denial_rate:
        rate = complement(row.denial_rate)
    return replace(row, n=n, selected=selected, rate=rate)


def _as_shares(rates: list[Printed | None]) -> list[Printed | None]:
    """Return rates as shares: a column without percent signs, mostly above 1, is in per cent."""
    bare = [rate for rate in rates if rate is not None and not rate.percent]
    if sum(rate.value > 1 for rate in bare) * 2 <= len(bare):
        return rates
    return [rate if rate is None or rate.percent else rate.as_percentage() for rate in rates]


def _has_digits(grid: Grid, i: int) -> bool:
    """Return whether a cell of a column has digits, or all are blank."""
    return is_empty_column(grid, i) or any(any(map(str.isdigit, row[i])) for row in grid.rows)


def _is_whole(grid: Grid, i: int) -> bool:
    found = [read_number(row[i]) for row in grid.rows]
    known = [number for number in found if number is not None]
    return bool(known) and all(
        number.value == int(number.value) and not number.percent for number in known
    )


def _called(grid: Grid) -> str:
    return f"the table {quote(grid.name)}" if grid.name else "the table"


def _words(role: ColumnRole) -> str:
    return {
        ColumnRole.CATEGORY: "category",
        ColumnRole.N: "number of people",
        ColumnRole.SELECTED: "number selected",
        ColumnRole.NOT_SELECTED: "number not selected",
        ColumnRole.RATE: "selection rate",
        ColumnRole.DENIAL_RATE: "denial rate",
        ColumnRole.RATIO: "impact ratio",
        ColumnRole.DENIAL_RATIO: "denial ratio",
    }[role]
