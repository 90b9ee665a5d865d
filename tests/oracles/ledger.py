"""What was compared with whom: every number is agreed, or explained, or a failure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from vendor import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SCORE_OF = {"compas_pred": 1, "adult_pred": ">50K", "hmda_pred": "no"}
"""The value of the label that the score of a table is the probability of."""
PROPERTY = "oracle"
PLAIN = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def number(theirs: Any) -> Any:
    """Return a number of an oracle file; infinities and NaN are strings there."""
    return PLAIN.get(theirs, theirs) if isinstance(theirs, str) else theirs


def positive_of(key: str) -> Any:
    """Return the positive value that the key of an oracle's results names."""
    value = key.removeprefix("pos=")
    return int(value) if value.isdigit() else value


def of_scores(name: str, positive: Any) -> dict[str, Any]:
    """Return the columns of a table with labels, predictions and scores."""
    return {"label": COLUMNS[name][1], "prediction": "prediction", "score": "score",
            "score_of": SCORE_OF[name], "positive": positive}  # fmt: skip


class Ledger:
    """The numbers of one peer that a test compares with ours."""

    def __init__(self, peer: str, record: Callable[[str, object], None]) -> None:
        self._peer, self._record = peer, record
        self._agreed = 0
        self._explained: Counter[str] = Counter()
        self._failed: list[str] = []

    def same(
        self, ours: Any, theirs: Any, where: object, *, rel: float = 1e-9, off: float = 1e-11
    ) -> None:
        """Hold a number of ours against theirs; ``off`` is the most that ours may be off."""
        theirs = number(theirs)
        if ours is not None and theirs is not None:
            if ours == theirs or math.isclose(ours, theirs, rel_tol=rel, abs_tol=off):
                self._agreed += 1
                return
        elif ours is theirs:
            self._agreed += 1
            return
        self._failed.append(f"{where}: ours {ours}, theirs {theirs}")

    def explained(self, holds: bool, why: str, where: object) -> None:
        """Note a number that is not ours for a reason, and that the reason holds."""
        if holds:
            self._explained[why] += 1
        else:
            self._failed.append(f"{where}: not explained by {why!r}")

    def settle(self, at_least: int) -> None:
        """Fail if anything differs unexplained, or too little was compared."""
        compared = self._agreed + self._explained.total() + len(self._failed)
        entry = [self._peer, compared, self._agreed, dict(self._explained)]
        self._record(PROPERTY, entry)
        assert not self._failed, f"{len(self._failed)} differ, such as {self._failed[:5]}"
        assert compared >= at_least


def summary(entries: Iterable[tuple[str, int, int, dict[str, int]]]) -> list[str]:
    """Return a line for every peer, and one for every reason."""
    compared: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for peer, count, same, why in entries:
        compared[peer] += count
        agreed[peer] += same
        reasons.setdefault(peer, Counter()).update(why)
    lines = []
    for peer in sorted(compared):
        explained = reasons[peer].total()
        lines.append(
            f"{peer}: {compared[peer]:,} numbers compared, {agreed[peer]:,} agree, "
            f"{explained:,} explained, {compared[peer] - agreed[peer] - explained:,} differ"
        )
        lines += [f"    {count:,}: {why}" for why, count in sorted(reasons[peer].items())]
    return lines
