"""What runs keep beside the periods of a history: largest groups, label delays, and a fold.

The fold saves time and can always be computed again. The largest groups are a choice: without
their file, they are those of the first period that the history holds by then. How long labels took
to come is seen when they come, and in no counts.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, quote
from fairgauge.results.monitor_results import LargestGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.monitoring._store import DraftStore, Store
    from fairgauge.monitoring.periods import Period

_FOLD = "_fold.json"
_LARGEST = "_largest"
_LABELS = "_labels.json"
_RECENT = 28
"""Periods by whose delays the next one is judged: four weeks of days.

Where delays are alike, that of the next period exceeds those of so many with probability 1/29.
"""


class KeptDecisions:
    """What runs keep in a store, where it can be written."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def fold(self) -> str | None:
        """Return the text of the fold that was kept; None where none was."""
        return self._store.read(_FOLD)

    def keep_fold(self, text: str) -> None:
        """Keep a fold, where the history can be written: it is never needed."""
        self._keep(_FOLD, text)

    def largest_groups(self, start: Period | None) -> tuple[LargestGroup, ...]:
        """Return the largest groups that were chosen for the periods from one on; empty before."""
        name = _largest_file(start)
        text = self._store.read(name)
        try:
            return () if text is None else tuple(LargestGroup(**e) for e in json.loads(text))
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{quote(f'{self._store.name}/{name}')} cannot be read ({error}); restore it, or "
                "remove it to choose the largest group of the first period again"
            ) from None

    def keep_largest_groups(self, start: Period | None, chosen: Sequence[LargestGroup]) -> None:
        """Keep the largest groups that were chosen for the periods from one on."""
        self._keep(_largest_file(start), json.dumps([asdict(each) for each in chosen]))

    def longest_wait(
        self, names: Sequence[str], without_label: Sequence[str], *, keep: bool
    ) -> int:
        """Return the most later periods with which a run saw a recent period without its labels.

        Recent are the last periods that have their labels by now, so that one delay does not
        count for ever; -1 where no run saw any of them without. A file that was changed is begun
        anew.
        """
        text = self._store.read(_LABELS)
        try:
            waits = {str(name): int(wait) for name, wait in json.loads(text or "{}").items()}
        except (ValueError, TypeError, AttributeError):
            waits = {}
        place = {name: i for i, name in enumerate(names)}
        waits |= {name: len(names) - 1 - place[name] for name in without_label}
        labelled = [name for name in names if name not in set(without_label)][-_RECENT:]
        kept = {name: waits[name] for name in (*labelled, *without_label) if name in waits}
        new = json.dumps(kept)
        if keep and new != (text or "{}"):
            self._keep(_LABELS, new)
        return max((kept.get(name, -1) for name in labelled), default=-1)

    def take_over(self, draft: DraftStore) -> None:
        """Keep what was decided on a draft of the history."""
        for name, text in draft.written.items():
            if name.startswith((_FOLD, _LARGEST, _LABELS)):
                self._keep(name, text)

    def _keep(self, name: str, text: str) -> None:
        with suppress(DataError):
            self._store.replace(name, text)


def _largest_file(start: Period | None) -> str:
    """Return where the largest groups are: those of a new start are chosen anew."""
    return f"{_LARGEST}.json" if start is None else f"{_LARGEST}={start}.json"
