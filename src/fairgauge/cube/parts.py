"""Parts: the protected tables that a cube is the sum of, and which of them may be added.

Tables of different rows were rounded independently, so that the least and the greatest count of
every cell add up, and the variance of the rounding does. The range of a sum is not that of a table
which shows the same number. Nothing here is a function of exact counts: a digest of them would let
anybody try all small tables. A table is known again by a random number that it was given, since
small ones of two sites are often rounded to the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fairgauge.errors import CubeError, listing
from fairgauge.stats.arrays import Array, Mask

RANGE = ("low", "high", "noise")
"""What is known of the exact count of every protected cell, which adds up over tables: the least
and the greatest one, and the greatest variance of the rounding."""
_RARELY = 0.01
"""How often other rows of the same expectations may be taken for the same rows."""


class Part(NamedTuple):
    """One protected table.

    ``site``: the name that it was given; empty without.
    ``table``: what identifies it; of files without such a number the digest of what is published.
    ``later``: whether it holds rows of tables that were published before. Its rounding depends on
        theirs, and is not without bias.
    ``alone``: the columns and names of values that no other table of the sum lists.
    ``redrawn``: whether it names a group whose numbers may all have been drawn again, because they
        were 0 at first (`sharing.protection`).
    """

    site: str = ""
    min_cell: int = 0
    table: str = ""
    later: bool = False
    alone: tuple[tuple[str, str], ...] = ()
    redrawn: bool = False


def check_parts(ours: Sequence[Part], theirs: Sequence[Part]) -> None:
    """Refuse to add tables that are not of different rows, or not all protected."""
    if bool(ours) != bool(theirs):
        raise CubeError(
            "one of them is protected and the other one exact: people who have the protected one "
            "could subtract it from the sum. Protect the exact one first (fairgauge protect)"
        )
    sides = (ours, theirs)
    sites, tables = ([{part[at] for part in each} for each in sides] for at in (0, 2))
    if tables[0] & tables[1]:
        raise CubeError("both hold the same protected table, whose rows would count twice")
    if twice := (sites[0] & sites[1]) - {""}:
        raise CubeError(
            f"both hold counts of the site {listing(sorted(twice))}, whose rows would count twice; "
            "protect tables of other rows of a site under other names (site, --site)"
        )
    if any(part.later for part in (*ours, *theirs)):
        raise CubeError(
            "one of them was rounded beside tables of its rows that were published before "
            "(published), which no interval of a sum allows for: protect the rows that are new "
            "alone, without published, and add the tables up"
        )


def rounding_noise(published: Array, redrawn: Mask, min_cell: int) -> Array:
    """Return the greatest variance of the rounding of numbers.

    ``redrawn``: which may have been drawn again until one of a name is not 0. It has the rows of
    the name in proportion, s times as many where they are 0 with the probability 1 - 1/s, and
    varies s times as much; both are at most a third more for two numbers, where they are largest.
    """
    more = np.ceil((min_cell**2 + published) / 3)
    return np.where(redrawn, more, min_cell**2 / 4)


def largest_base(parts: Iterable[Part]) -> float:
    """Return the largest base of any table, by which the variance of rounding few rows rises.

    It rises more of numbers that may have been drawn again: half as much again, of ever more of
    them.
    """
    return max((part.min_cell * (1.5 if part.redrawn else 1.0) for part in parts), default=0.0)


def look_alike(ours: Array, theirs: Array, min_cell: int) -> bool:
    """Return whether two tables may be of the same rows, where those of other rows hardly look so.

    Two roundings of a count differ by the smallest cell or less. Those of other rows differ in a
    cell of n persons by about the root of 2 n: it is suspect where all cells agree so closely that
    others would with a probability below 1 %.
    """
    if (abs(ours - theirs) > min_cell).any():
        return False
    spread = np.sqrt(np.maximum(ours + theirs, 1.0) + min_cell**2 / 2)
    agree = [math.erf(1.5 * min_cell / each / math.sqrt(2)) for each in spread.tolist()]
    return math.prod(agree) < _RARELY


def read_parts(found: Iterable[Sequence[Any]]) -> tuple[Part, ...]:
    """Read the parts of a file."""
    parts = tuple(
        Part(site, min_cell, table, bool(later), tuple((c, v) for c, v in alone), bool(redrawn))
        for site, min_cell, table, later, alone, redrawn in found
    )
    for part in parts:
        texts = (part.site, part.table, *chain.from_iterable(part.alone))
        if not all(isinstance(each, str) for each in texts) or type(part.min_cell) is not int:
            raise TypeError("a part is none")
    return parts
