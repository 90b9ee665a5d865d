"""Claims that need several things at once, and hold together with all other claims."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairgauge.stats.arrays import Mask


def shown_claims(
    hold: Callable[[float], Mask], claims: int, confidence: float
) -> tuple[Mask, float]:
    """Return which claims are shown, and the confidence level that the others were held against.

    A claim needs all of its parts: each is a one-sided test at the level of the claim, which so is
    an intersection-union test (Berger 1982, Technometrics 24, 295-300) and pays nothing for having
    several parts. The probability that any false claim is shown is at most half of
    ``1 - confidence``, whatever the claims have in common (Holm 1979, Scandinavian Journal of
    Statistics 6, 65-70).

    Parameters
    ----------
    hold : callable
        From the confidence level of two-sided intervals to which claims hold by them, with every
        part of each; fewer at a higher level.
    claims : int
        How many claims there are, those that cannot be tested with them.
    confidence : float
        The confidence level of a single interval.

    Examples
    --------
    >>> import numpy as np
    >>> from fairgauge.stats.intervals import critical
    >>> least = np.array([2.5, 2.1, 1.9])  # the least statistic of the parts of each
    >>> shown_claims(lambda level: least > critical(level), 3, 0.95)[0].tolist()
    [True, False, False]
    """
    shown: Mask | None = None
    while True:
        left = claims if shown is None else claims - int(shown.sum())
        level = 1 - (1 - confidence) / max(left, 1)
        more = hold(level) if shown is None else shown | hold(level)
        if shown is not None and (more == shown).all():
            return shown, level
        shown = np.asarray(more)
