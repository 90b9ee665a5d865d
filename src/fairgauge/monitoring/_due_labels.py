"""When labels are due that come later: once they wait longer than is usual.

What is usual is learned from the periods that have their labels by now. An outage must not teach
it. Its repair brings the labels of many periods in one night, so that nights are counted and not
periods, and a delay is usual once it was seen in three. Where it brings a day each night, later
periods had their labels before: a wait that was overdue and was overtaken teaches nothing, once
enough periods have labels. A period that was overdue stays so until it has its labels, whatever was
learned in the meantime.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

RECENT = 56
"""Labelled periods from which the usual delay is learned, so that an earlier one is forgotten.

Where delays vary, that of the next period exceeds the third of so many with probability 3/57.
"""
KEPT = 2 * RECENT
"""Labelled periods whose waits are kept: what was overdue in a recent one follows from these."""
_NIGHTS, _EARLY = 3, 14


def usual_delays(
    names: Sequence[str], without_label: Collection[str], waits: Mapping[str, int]
) -> list[int | None]:
    """Return with how many later periods labels were due, by what was known in every period.

    None where no label had come, and before the first period that lacks one.

    Parameters
    ----------
    names : the periods, in order.
    without_label : those with a row that lacks its label.
    waits : of the last labelled ones, the most later periods with which a run saw them without.
    """
    labelled = [(t, waits.get(name, -1)) for t, name in enumerate(names)
                if name not in without_label]  # fmt: skip
    early, kept = {t for t, _ in labelled[:_EARLY]}, labelled[-KEPT:]
    last = len(names) - 1
    first = next((t for t, name in enumerate(names) if name in without_label), last)
    start = kept[0][0] if kept else last
    due: list[int | None] = [None] * start
    exceptions: set[int] = set()
    for now in range(start, len(names)):
        known = [(t, wait) for t, wait in kept if t + wait < now or now == last]
        due.append(_delay([each for each in known if each[0] not in exceptions][-RECENT:]))
        exceptions |= {
            t for t, wait in kept
            if t + wait == now and t not in early and overdue([t], due)
            if any(s > t and s + other < now for s, other in kept)
        }  # fmt: skip
    return [None] * first + due[first:]


def overdue(without_label: Iterable[int], due: Sequence[int | None]) -> list[int]:
    """Return the periods, by number, whose labels are due and missing, or were due before."""
    return [
        t for t in without_label
        if any(n is not None and wait >= n for wait, n in enumerate(due[t:]))
    ]  # fmt: skip


def _delay(labelled: Iterable[tuple[int, int]]) -> int | None:
    """Return the delay that labels exceeded in fewer than three nights, or in half of fewer."""
    longest: dict[int, int] = {}
    for t, wait in labelled:
        longest[t + wait] = max(longest.get(t + wait, -1), wait)
    nights = sorted(longest.values(), reverse=True)
    return 1 + nights[min(_NIGHTS - 1, len(nights) // 2)] if nights else None
