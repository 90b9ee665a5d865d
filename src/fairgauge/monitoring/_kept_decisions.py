"""What runs keep beside the periods of a history: the largest groups, and a fold of the periods.

The fold saves time and can always be computed again. The largest groups are a choice: without
their file, they are those of the first period that the history holds by then.
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

    def take_over(self, draft: DraftStore) -> None:
        """Keep what was decided on a draft of the history."""
        for name, text in draft.written.items():
            if name.startswith((_FOLD, _LARGEST)):
                self._keep(name, text)

    def _keep(self, name: str, text: str) -> None:
        with suppress(DataError):
            self._store.replace(name, text)


def _largest_file(start: Period | None) -> str:
    """Return where the largest groups are: those of a new start are chosen anew."""
    return f"{_LARGEST}.json" if start is None else f"{_LARGEST}={start}.json"
