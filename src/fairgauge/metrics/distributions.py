"""Comparisons of whole distributions: of labels and predictions, and of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairgauge.metrics.comparisons import Metric
from fairgauge.metrics.distances import DISTANCES, Distances
from fairgauge.words import Profile, Task

if TYPE_CHECKING:
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array, Need


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(Metric):
    """How far apart the label (or prediction) distributions of the two sides are."""

    of: Need
    by: Distances
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return DISTANCES[self.by].formula

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, DISTANCES[self.by].most)

    @property
    def edges(self) -> str:
        unseen = "Infinity if a category of the reference is unseen in the group; "
        return f"{unseen if self.by == 'kl' else ''}undefined when a side has no rows"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        if profile is Profile.CLARIFY:  # smclarify collapses to positive and negative first
            ours, theirs = (_collapsed(side, self.of) for side in (group, reference))
        else:
            ours, theirs = group.classes[self.of], reference.classes[self.of]
        return DISTANCES[self.by].between(theirs, ours, profile)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return group.classes[self.of].sum(axis=-1), reference.classes[self.of].sum(axis=-1)

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        ours, _ = self.sizes(group, reference)
        return f"the {'group' if ours[at] == 0 else 'reference'} has no rows with a {self.of}"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del sides
        return f"{group}: {self.of}s lie {value:.3g} from those of {reference} ({self.title})"


def _collapsed(side: Side, of: Need) -> Array:
    counts = side.counts(frozenset({of}))
    return np.stack([counts[..., 0], counts[..., 3]], axis=-1)
