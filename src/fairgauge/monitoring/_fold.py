"""The fold of the periods so far, kept beside them so that one more costs no more than one.

It holds nothing that cannot be computed again: it is used only where the specification and the text
of every period that it covers are the same as when it was made, and is ignored otherwise.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId
from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.monitoring.monitor_spec import MonitorSpec
    from fairgauge.results.monitor_results import LargestGroup
    from fairgauge.stats.arrays import Array
    from fairgauge.stats.sequential import EDetector

LARGEST = 200_000
"""Numbers of evidence above which a fold is not kept: reading it would cost more than it saves."""

_FORMAT = 2
"""What evidence is made of: where it changes, folds of before are of anything else."""
_STATE = ("evidence", "recent", "total")


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """What some periods came to.

    Attributes
    ----------
    counts : the counts of the comparisons.
    rows : the rows of every period.
    evidence : array of shape (periods, comparisons).
    detectors : the state of the detector of each contrast, after the last period.
    """

    counts: ComparisonCounts
    rows: list[CountedRows]
    evidence: Array
    detectors: dict[str, dict[str, Array]] = field(default_factory=dict)

    @property
    def periods(self) -> int:
        """Return how many periods it covers."""
        return len(self.evidence)

    def fits(self, counts: ComparisonCounts) -> bool:
        """Return whether the counts of more periods are of the same comparisons."""
        return counts.ids == self.counts.ids


def state_of(detector: EDetector) -> dict[str, Array]:
    """Return the state of a detector."""
    return {name: getattr(detector, name) for name in _STATE}


def key_of(asked: MonitorSpec, largest: Sequence[LargestGroup], texts: Sequence[str]) -> str:
    """Return the digest of a specification, the largest groups, and the texts of periods."""
    references = [[each.feature, each.group] for each in largest]
    own = [f"{rate.name} = {rate.formula}" for rate in asked.catalogue.own]
    found = hashlib.sha256()
    found.update(
        json.dumps(
            [_FORMAT, __version__, asked.to_dict(), references, own], sort_keys=True
        ).encode()
    )
    for text in texts:
        found.update(hashlib.sha256(text.encode()).digest())
    return found.hexdigest()


def write_fold(fold: Fold, key: str) -> str:
    """Return the text of a fold; reading it gives the same numbers to the last digit."""
    counts = fold.counts
    return json.dumps(
        {
            "key": key,
            "periods": fold.periods,
            "ids": [list(each) for each in counts.ids],
            "arrivals": counts.arrivals,
            "references": counts.references,
            "unlabelled": counts.unlabelled.tolist(),
            "counts": counts.counts.tolist(),
            "rows": fold.rows,
            "evidence": fold.evidence.tolist(),
            "detectors": {
                by: {name: held.tolist() for name, held in state.items()}
                for by, state in fold.detectors.items()
            },
        }
    )


def read_fold(
    text: str | None, asked: MonitorSpec, largest: Sequence[LargestGroup], texts: Sequence[str]
) -> Fold | None:
    """Read a fold of the first of these periods; None where it is of anything else, or damaged."""
    try:
        found: dict[str, Any] = json.loads(text or "")
        size = found["periods"]
        if size > len(texts) or found["key"] != key_of(asked, largest, texts[:size]):
            return None
        ids = [ComparisonId(*each) for each in found["ids"]]
        counts = ComparisonCounts(
            ids,
            found["arrivals"],
            found["references"],
            np.array(found["counts"], dtype=np.float64).reshape(size, len(ids), 4),
            np.array(found["unlabelled"], dtype=np.float64),
        )
        detectors = {
            by: {name: np.array(state[name], dtype=np.float64) for name in _STATE}
            for by, state in found["detectors"].items()
        }
        rows = [CountedRows(*each) for each in found["rows"]]
        evidence = np.array(found["evidence"], dtype=np.float64).reshape(size, len(ids))
    except (ValueError, KeyError, TypeError):
        return None
    return Fold(counts, rows, evidence, detectors)
