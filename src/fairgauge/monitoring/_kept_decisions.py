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
        """Return the largest groups that were chosen for the periods from one on; empty before.

        Raises
        ------
        DataError
            They were changed and cannot be read.
        """
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

    def longest_delay(self, names: Sequence[str], without_label: Sequence[str]) -> int:
        """Return after how many later periods labels came at most, and keep it.

        A file that was changed is begun anew: the delay is then the usual one, until one is seen.
        """
        text = self._store.read(_LABELS)
        if text is None and not without_label:
            return 0
        try:
            longest, waited = json.loads(text or "[0, []]")
            came = set(waited).intersection(names).difference(without_label)
            longest = max([longest, *(len(names) - 1 - names.index(name) for name in came)])
        except (ValueError, TypeError):
            longest = 0
        new = json.dumps([longest, list(without_label)])
        if new != text:
            self._keep(_LABELS, new)
        return int(longest)

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
