"""Natural frequencies: two shares as counts of the same number of people, "36 of 100 and 53".

Counts of people are understood by more readers than percentages (Gigerenzer & Hoffrage 1995). Both
sides have one denominator, the smallest at which the counts state no more and no less than the
shares do; below 100 people the counts themselves are stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from fairgauge.render.words.numbers import minus
from fairgauge.start.records import dataclass

DENOMINATORS = (100, 1_000, 10_000, 100_000)
_NEAR, _TOLERATED = Fraction(1, 10), Fraction(1, 400)
"""By how much of itself, and by how much at least, a stated difference may miss the true one."""
_DIGITS, _MOST_DECIMALS = 2, 6


@dataclass(frozen=True, slots=True)
class Share:
    """How many of a group an event happened to."""

    rate: Fraction  # the share
    # the counted rows that it is of; None where rows are weighted or protected, so that no
    # count stands for the share
    hits: int | None = None
    size: int | None = None

    @classmethod
    def counted(cls, hits: int, size: int) -> Share:
        """Return the share of counted rows."""
        return cls(Fraction(hits, size), hits, size)

    def of(self, denominator: int) -> int:
        """Return it as a count of so many people, rounded half up.

        >>> Share.counted(826, 2_282).of(100), Share.counted(1, 8).of(100)
        (36, 13)
        """
        return math.floor(self.rate * denominator + Fraction(1, 2))


def is_stated(true: Sequence[Fraction], stated: Sequence[Fraction]) -> bool:
    """Return whether differences are stated to within a tenth, or a quarter of 1 in 100."""
    return all(
        abs(shown - size) <= max(_NEAR * abs(size), _TOLERATED)
        for size, shown in zip(true, stated, strict=True)
    )


def counted_changes(
    sides: Sequence[tuple[Share, Share]],
) -> tuple[int | None, list[tuple[str, str, str]]] | None:
    """Return shares before and after as counts of one number of people, or as they were counted.

    Counts are of one number only where what readers take from them is stated (:func:`is_stated`):
    each change, the difference between both sides before and after, and how much larger that
    became. The change of the first side has its direction. They may be of 1,000, though fewer were
    counted: of sizes that differ the counts themselves are hard to compare.

    Returns
    -------
    The number of people, None where each is stated as it was counted; and of each side its number
    of people, and the counts before and after. None where there are no counts.

    >>> counted_changes([(Share.counted(1_217, 2_214), Share.counted(1_214, 2_214))])
    (1000, [('1,000', '550', '548')])
    >>> counted_changes([(Share.counted(46, 80), Share.counted(31, 50))])
    (None, [('80', '46', 'of 50, 31')])
    """
    shares = [share for side in sides for share in side]
    rates = [share.rate for share in shares]

    def is_right(stated: Sequence[Fraction]) -> bool:
        moved, as_stated = rates[1] - rates[0], stated[1] - stated[0]
        same_direction = moved * as_stated > 0 or moved == 0
        return same_direction and is_stated(_differences(rates), _differences(stated))

    hundred, thousand, *_ = DENOMINATORS
    of_many = [
        share if not share.size or share.size < hundred
        else Share(share.rate, size=max(share.size, thousand))
        for share in shares
    ]  # fmt: skip
    if (found := common_counts(of_many, is_right)) is not None:
        of, counts = found
        pairs = zip(counts[::2], counts[1::2], strict=True)
        return of, [(f"{of:,}", f"{old:,}", f"{new:,}") for old, new in pairs]
    if any(share.hits is None for share in shares):
        return None
    return None, [
        (
            f"{old.size:,}",
            f"{old.hits:,}",
            f"{new.hits:,}" if new.size == old.size else f"of {new.size:,}, {new.hits:,}",
        )
        for old, new in sides
    ]


def _differences(rates: Sequence[Fraction]) -> list[Fraction]:
    changes = [after - before for before, after in zip(rates[::2], rates[1::2], strict=True)]
    if len(rates) == 2:
        return changes
    before, after = rates[0] - rates[2], rates[1] - rates[3]
    return [*changes, before, after, after - before]


def common_counts(
    shares: Sequence[Share], is_faithful: Callable[[Sequence[Fraction]], bool]
) -> tuple[int, list[int]] | None:
    """Return shares as counts of one number of people, the smallest at which they are faithful.

    No count is 0, or all, unless the share is, and what the shares as they are stated come to is
    faithful. None where no denominator, none larger than a group, serves all.
    """
    most = min((each.size for each in shares if each.size is not None), default=DENOMINATORS[-1])
    for denominator in DENOMINATORS:
        if denominator > most:
            break
        counts = [share.of(denominator) for share in shares]
        stated = [Fraction(count, denominator) for count in counts]
        extreme = (
            count in (0, denominator) and share.rate != rate
            for count, share, rate in zip(counts, shares, stated, strict=True)
        )
        if not any(extreme) and is_faithful(stated):
            return denominator, counts
    return None


def size_words(interval: tuple[float, float], denominator: int) -> tuple[str, str]:
    """Return the ends of a difference of one sign as counts without it, the nearer one first.

    >>> size_words((-0.197, -0.143), 100)
    ('14', '20')
    """
    near, far = sorted(
        ends_of(interval, denominator), key=lambda end: abs(float(end.replace(",", "")))
    )
    return unsigned(near), unsigned(far)


def ends_of(interval: tuple[float, float], denominator: int) -> list[str]:
    """Return both ends as counts, with decimals where they would be the same."""
    low, high = interval
    ends = [_round_visibly(end * denominator) for end in interval]
    if low < high and ends[0] == ends[1]:
        ends = [_round_visibly(end * denominator, 2) for end in interval]
    return ends


def _round_visibly(value: float, decimals: int = 0) -> str:
    for digits in range(decimals, 7):
        text = f"{value:,.{digits}f}"
        if float(text.replace(",", "")) != 0 or value == 0:
            return text
    return f"{value:.1g}"


def unsigned(text: str) -> str:
    """Return the size of a number; nothing of 0."""
    number = text.lstrip("-")
    return number if float(number.replace(",", "")) else ""


def agreeing(values: Sequence[float], scale: float) -> tuple[list[str], bool]:
    """Return a distance and both its sides with decimals at which what is printed adds up."""
    first = decimals_for(scale)
    while first < _MOST_DECIMALS and any(round(value, first) == 0 != value for value in values):
        first += 1
    for decimals in (first, first + 1):
        distance, mine, theirs = (round(value, decimals) for value in values)
        if math.isclose(abs(mine - theirs), distance, abs_tol=10.0 ** -(decimals + 1)):
            return [number_text(value, decimals) for value in values], True
    return [number_text(value, first) for value in values], False


def decimals_for(scale: float) -> int:
    """Return how many decimals show two digits of a number."""
    if scale == 0 or not math.isfinite(scale):
        return _DIGITS
    return min(max(0, _DIGITS - 1 - math.floor(math.log10(scale))), _MOST_DECIMALS)


def number_text(value: float, decimals: int) -> str:
    """Return a number with so many decimals, never "-0"."""
    if math.isinf(value):
        return "∞"  # an end that the data do not bound
    text = f"{value:,.{decimals}f}"
    return minus(text if float(text.replace(",", "")) else text.removeprefix("-"))
