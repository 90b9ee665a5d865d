"""Lines of a table whose columns have one space between them, as text pasted from a PDF has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from fairgauge.errors import quote
from fairgauge.published._header_words import role_of
from fairgauge.published.printed_numbers import adjacent_numbers, is_blank, is_empty, read_ratio
from fairgauge.published.published_table import RATIOS, ColumnRole
from fairgauge.question.category_words import is_total, is_unknown

_LAST_MARK = re.compile(r"(?<=\d)\s+(\(\w\)|\[\w\]|[*†‡§]+)\s*$")
"""The mark of a footnote behind the last number of a line."""
_BRACKET = re.compile(r"\s*[(\[](?!\w[)\]]$)([^()\[\]]|[(\[][^()\[\]]*[)\]])*[)\]]$")
"""An interval or a remark in brackets at the end of a line, which may hold numbers of its own."""
_WIDE_SPACE = re.compile(r"\t|\s{2,}")
_MOST_WORDS = 16
_FEWEST_NUMBERS, _MOST_NUMBERS = 2, 4
_FEWEST_ROWS = 2
_MOST_HEADINGS = 4
"""Lines between the header and the first row."""
_LONGEST_NAME = 8
_BEGUN = re.compile(r"(\b(or|and)|[/&,])$", re.IGNORECASE)
"""The end of the first line of a name that is broken over two."""
_FRAGMENTS = frozenset(
    ("#", "no.", "number", "of", "total", "selection", "scoring", "impact", "%", "rate")
)
"""Words that begin the names of columns of numbers, in a header that is broken over two lines."""
_NOTE = re.compile(
    r"^[*†‡§(\[]|^(notes?|sources?|pages?|data|tables?|figures?)\b|[.,:;]|(\S+\s+){5}",
    re.IGNORECASE,
)
"""Text that is no name of a category: with marks, or of many words."""
_SEX = re.compile(
    r"(?P<before>.*?)\b(?P<sex>(fe)?males?|(wo)?men|non-?binary)\b(?P<after>.*)", re.IGNORECASE
)


def single_spaced(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines: a name and the numbers behind it, below a header.

    Nothing where the lines do not end in the same number of numbers, or where it is not clear which
    words of the header belong to which; `why_not_read` states why. Notes behind the last row may
    end in any number.

    Examples
    --------
    >>> text = ["Sex # of Applicants # Selected Rate", "Two or more 80 48 60%", "Male 40 12 30%"]
    >>> single_spaced(text)[:2]
    [['Sex', '# of Applicants', '# Selected', 'Rate'], ['Two or more', '80', '48', '60%']]
    """
    body, numbers, rows = _rows_of_numbers(lines)
    if not rows or rows[0] == 0 or _uneven(body, numbers, rows) is not None:
        return []
    at, header = _header_above(lines, rows[0], numbers)
    if header is None:
        joined = _with_header_joined(lines, rows[0], numbers)
        return [] if joined is None else single_spaced(joined)
    roles = [role_of(cell) for cell in header]
    unknown = roles.index
    found, begun = [], ""
    for i in range(at + 1, len(lines)):
        cells, again = body[i], _repeated(header, lines[i])
        if begun:
            cells, begun = [f"{begun} {cells[0]}", *cells[1:]], ""
        if again or len(cells) == numbers + 1:
            found.append(again or cells)
        elif _is_begun(cells) and i + 1 < len(lines) and len(body[i + 1]) == numbers + 1:
            begun = cells[0]
        elif _is_total_without_last(cells, numbers) and roles[-1] in RATIOS:
            found.append([*cells, ""])
        elif counts_unknown(cells) and ColumnRole.N in map(role_of, header):
            place = unknown(ColumnRole.N)
            found.append([cells[0], *[""] * (place - 1), cells[1], *[""] * (numbers - place)])
        else:
            found.append([lines[i]])
    titles = [[each] for each in lines[:at] if not _is_broken_header(each, numbers)]
    return [*titles, *_by_sex(header, found)]


def why_not_read(lines: Sequence[str], first: int) -> str | None:
    """Return why lines that look like a table are none; None where they do not look like one.

    Parameters
    ----------
    lines : the lines of a block.
    first : the number of its first line in the text.
    """
    body, numbers, rows = _rows_of_numbers(lines)
    if len(rows) < _FEWEST_ROWS or numbers < _FEWEST_NUMBERS:
        return None
    apart = "put two spaces, or a tab, between the columns"
    if rows[0] > 0 and (at := _uneven(body, numbers, rows)) is not None:
        return (
            f"line {first + at}, {quote(lines[at])}, does not end in {numbers} numbers as other "
            f"lines do; {apart}"
        )
    if numbers > _MOST_NUMBERS:
        return f"line {first + rows[0]} ends in {numbers} numbers; {apart}"
    if rows[0] == 0:
        return f"no header stands above line {first}, {quote(lines[0])}; add the names of columns"
    above = rows[0] - 1
    return (
        f"line {first + above}, {quote(lines[above])}, is no header of {numbers + 1} columns whose "
        "words are clear; write the header in one line, with two spaces, or a tab, between its "
        "columns"
    )


def _rows_of_numbers(lines: Sequence[str]) -> tuple[list[list[str]], int, list[int]]:
    """Return the cells of lines, how many numbers the rows end in, and the rows.

    That is the number in which most numbers stand.
    """
    sizes = Counter(len(cells) - 1 for cells in map(line_cells, lines) if len(cells) > 1)
    numbers = max(sizes, key=lambda size: sizes[size] * size, default=0)
    body = [line_cells(line, numbers) for line in lines]
    rows = [i for i, cells in enumerate(body) if numbers and len(cells) == numbers + 1]
    return body, numbers, rows


def _uneven(body: Sequence[Sequence[str]], numbers: int, rows: Sequence[int]) -> int | None:
    """Return the first line below the header that is no row, though it has numbers as rows have.

    Notes may have some, behind the last row.
    """
    sizes = {1, numbers + 1}
    for i, cells in enumerate(body):
        note = i > rows[-1] and _NOTE.search(cells[0])
        odd = i > rows[0] and len(cells) not in sizes and not counts_unknown(cells)
        odd &= not _is_total_without_last(cells, numbers)
        unread = len(cells) > 1 and not (_is_number(cells[-1]) and not adjacent_numbers(cells[0]))
        if (odd or unread) and not note:
            return i
    return None


def _is_total_without_last(cells: Sequence[str], numbers: int) -> bool:
    """Return whether a line is a total that lacks the last number alone, as it has no ratio."""
    return len(cells) == numbers and is_total(cells[0])


def _is_begun(cells: Sequence[str]) -> bool:
    """Return whether a line is the beginning of a name that goes on in the next one."""
    return len(cells) == 1 and bool(_BEGUN.search(cells[0]))


def _header_above(lines: Sequence[str], first: int, numbers: int) -> tuple[int, list[str] | None]:
    """Return the place and the cells of the header above the first row, and above its headings."""
    for at in range(first - 1, max(first - 1 - _MOST_HEADINGS, -1), -1):
        words, wide = lines[at].split(), _WIDE_SPACE.split(lines[at].strip())
        if len(wide) == numbers + 1:
            return at, wide
        broken = at > 0 and _is_broken_header(lines[at - 1], numbers)
        name = _name_of(lines[at - 1]) if broken else "category" if words[0][0] == "#" else ""
        header = _header(words, numbers) or (_header([name, *words], numbers) if name else None)
        if header is not None:
            return at, header
    return 0, None


def _with_header_joined(lines: Sequence[str], first: int, numbers: int) -> list[str] | None:
    """Return lines whose header, which goes on in short lines below it, is one; None without it."""
    for at in range(first - 2, max(first - 1 - _MOST_HEADINGS, -1), -1):
        if len(lines[at + 1].split()) >= numbers:
            break
        words = " ".join(lines[at:first]).split()
        if _header(words, numbers) is not None:
            return [*lines[:at], " ".join(words), *lines[first:]]
    return None


def _is_broken_header(line: str, numbers: int) -> bool:
    """Return whether a line is the upper half of a header of as many columns of numbers."""
    words = line.casefold().split()
    return sum(word in _FRAGMENTS for word in words) >= max(numbers - 1, _FEWEST_NUMBERS)


def _name_of(line: str) -> str:
    """Return what stands before the columns of numbers in the upper half of a header."""
    words = line.split()
    at = next((i for i, word in enumerate(words) if word.casefold() in _FRAGMENTS), len(words))
    return "-".join(words[:at]) or "category"


def _by_sex(header: Sequence[str], rows: Sequence[list[str]]) -> list[list[str]]:
    """Divide names such as "Hispanic Male" and "Male White" into columns, at the word of a sex.

    A name without one, below others that have one, repeats theirs, as merged cells do. Nothing is
    divided where no other word stands with both sexes.
    """
    places = [i for i, row in enumerate(rows) if len(row) == len(header)]
    parts = {i: _SEX.match(rows[i][0]) for i in places}
    plain = [i for i in places if parts[i] is None and not _is_apart(rows[i][0])]
    names = {
        i: [each["before"].strip(), each["sex"], each["after"].strip()]
        if each
        else ["", "", rows[i][0]]
        for i, each in parts.items()
    }
    sexes = [i for i in places if parts[i]]
    used = [bool(sexes) and any(names[i][part] for i in sexes) for part in range(3)]
    repeated = len({rows[i][0] for i in plain}) < len(plain) and used[2]
    others = {tuple(names[i]) for i in sexes}
    beside = [Counter(name[part] for name in others if name[part]) for part in (0, 2)]
    crossed = any(times > 1 for each in beside for times in each.values())
    if not crossed or (plain and not (repeated and plain[0] > sexes[0])):
        return [list(header), *rows]
    words = header[0].split()
    levels = words if len(words) == sum(used) else ["category"] * (sum(used) - 1) + [header[0]]
    divided = [list(row) for row in rows]
    for i in places:
        kept = [part for part, column in zip(names[i], used, strict=True) if column]
        if _is_apart(rows[i][0]):
            kept = [rows[i][0], *[""] * (sum(used) - 1)]
        divided[i] = [*kept, *rows[i][1:]]
    return [[*levels, *header[1:]], *divided]


def _is_apart(name: str) -> bool:
    return is_total(name) or is_unknown(name)


def _repeated(header: Sequence[str], line: str) -> list[str] | None:
    """Return the cells of a line that is the header again, its first name aside; else None."""
    words, columns = line.split(), " ".join(header[1:])
    at = len(words) - len(columns.split())
    same = at > 0 and " ".join(words[at:]).casefold() == columns.casefold()
    return [" ".join(words[:at]), *header[1:]] if same else None


def counts_unknown(cells: Sequence[str]) -> bool:
    """Return whether a line counts people of unknown category, and states nothing else of them."""
    named = len(cells) == 2 and is_unknown(cells[0]) and len(cells[0].split()) <= _LONGEST_NAME
    return named and not cells[1].endswith("%")


def line_cells(line: str, numbers: int = 0) -> list[str]:
    """Return the words of a line that are no numbers as one cell, and the numbers behind them.

    What stands behind the last number belongs to it where there are as many as ``numbers`` without
    it, and else may stand in the place of one.

    >>> line_cells("Asian 80 48 60% 0.93 (0.8 to 1.1)"), line_cells("Asian 9 4 not calculated")
    (['Asian', '80', '48', '60%', '0.93 (0.8 to 1.1)'], ['Asian', '9', '4', 'not calculated'])
    >>> line_cells("Age 40 and over")
    ['Age 40 and over']
    """
    plain = _LAST_MARK.sub(r"\1", line.replace(" %", "%"))
    kept = plain
    while (bracket := _BRACKET.search(kept)) and kept[: bracket.start()].strip():
        kept = kept[: bracket.start()]
    words = kept.split()
    end = len(words)
    while end > 1 and not _is_figure(words[end - 1]):
        end -= 1
    at = end
    while at > 1 and _is_number(words[at - 1]):
        at -= 1
    found, behind = words[at:end], " ".join([*words[end:], plain[len(kept) :].strip()]).strip()
    if all(map(_is_number, behind.split())) and len(found) != numbers:
        found += behind.split()
    elif behind and (is_blank(behind) or (len(found) != numbers and _is_number(behind))):
        found.append(behind)
    elif len(found) >= min(numbers or _FEWEST_NUMBERS, _FEWEST_NUMBERS):
        found[-1] = f"{found[-1]} {behind}".strip()
    elif behind:
        return [" ".join(plain.split())]
    return [" ".join(words[:at]), *found]


def _is_number(text: str) -> bool:
    """Return whether a text is a number, or stands in the place of one."""
    return read_ratio(text) is not None or is_blank(text)


def _is_figure(word: str) -> bool:
    """Return whether a word is a number or a mark in its place, and no word such as "reference"."""
    return _is_number(word) and (is_empty(word) or not word.isalpha())


def _header(words: Sequence[str], numbers: int) -> list[str] | None:
    """Divide the words of a header most evenly so that every number has a role of its own.

    A rate or a ratio is not parted from the word before it, nor "# of" from the word behind it,
    where it can be avoided. None where two such divisions give the numbers different roles.
    """
    if not numbers < len(words) <= _MOST_WORDS:
        return None
    divisions: list[tuple[tuple[int, int], list[str], list[ColumnRole | None]]] = []
    marked = {i for i, word in enumerate(words) if word.startswith("#")}  # "# of applicants"
    for starts in combinations(range(1, len(words)), numbers):
        if not marked.issubset(starts):
            continue
        ends = [*starts[1:], len(words)]
        cells = [" ".join(words[a:b]) for a, b in zip(starts, ends, strict=True)]
        roles = [role_of(cell) for cell in cells]
        if None not in roles and len(set(roles)) == numbers:
            longest = max(b - a for a, b in zip(starts, ends, strict=True))
            parted = sum(cell.casefold().startswith(("rate", "ratio")) for cell in cells)
            parted += sum(cell.casefold().endswith(" of") for cell in cells)
            header = [" ".join(words[: starts[0]]), *cells]
            divisions.append(((parted, longest), header, roles))
    even = [each for each in divisions if each[0] == min(rank for rank, _, _ in divisions)]
    if not even or any(roles != even[0][2] for _, _, roles in even):
        return None
    return even[0][1]
