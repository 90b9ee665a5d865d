"""What more retrainings of one recipe could find, in the greatest gap of any group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairgauge.results.alternatives import Alternative, Assumed, GapChange, Search
from fairgauge.stats.retrainings import better_share, chance_of_better, mean_least, records_p

_MORE = 10
"""How many more retrainings are spoken of, beside one and as many again."""


def further_search(
    candidates: Sequence[Alternative],
    neutral: float,
    confidence: float,
    assumes: Assumed,
    looks: tuple[int, ...],
) -> Search | None:
    """Return what more could find; None where no candidate is as good and has its gaps.

    A retraining that is not as good, as measured, counts as no gain: the order stays exchangeable.
    """
    size = len(candidates)
    known = [one.greatest_gap for one in candidates]
    good = [one.is_as_good and gap is not None for one, gap in zip(candidates, known, strict=True)]
    gaps = np.array([gap if ok and gap is not None else np.inf
                     for gap, ok in zip(known, good, strict=True)])  # fmt: skip
    if not np.isfinite(gaps).any():
        return None
    best = int(gaps.argmin())
    held = {"any": None, "planned": len(looks), "fixed": 1}[assumes]
    share, least = better_share(size, 1 - confidence, held), float(gaps[best])
    return Search(
        n=size,
        as_good=sum(good),
        chance_of_better=tuple((m, chance_of_better(size, m)) for m in sorted({1, _MORE, size})),
        curve=tuple(mean_least(gaps[np.isfinite(gaps)]).tolist()),
        bound=least * share,
        bound_of_ten=least * (1 - (1 - share) ** _MORE),
        regret=min(_regret(candidates, best, neutral), _most(candidates[best], neutral)),
        records_p=records_p(gaps),
        assumes=assumes,
        looks=looks,
    )


def _ends(gap: GapChange, neutral: float) -> tuple[float, float]:
    # the least and the greatest distance of a gap from no difference, by the simultaneous interval
    # of its change, which is paired: the gap under the model in use, which all share, drops out
    if gap.old is None or gap.simultaneous is None:
        return 0.0, np.inf
    old = gap.old if neutral == 0 else np.log(gap.old)
    low, high = gap.simultaneous.low, gap.simultaneous.high
    new = sorted(
        (old + low, old + high) if neutral == 0 else (old + np.log(low), old + np.log(high))
    )
    return (0.0 if new[0] <= 0 <= new[1] else min(map(abs, new))), max(map(abs, new))


def _most(one: Alternative, neutral: float) -> float:
    return float(max((_ends(gap, neutral)[1] for gap in one.gaps), default=np.inf))


def _regret(candidates: Sequence[Alternative], best: int, neutral: float) -> float:
    # intervals hold for all at once: multiple comparisons with the best (Hsu 1984), without the
    # correlation of the two, so that it is wider than it need be
    least = [
        max((_ends(gap, neutral)[0] for gap in one.gaps), default=0.0)
        for k, one in enumerate(candidates)
        if k != best and one.is_as_good
    ]
    return max(_most(candidates[best], neutral) - min(least, default=np.inf), 0.0)
