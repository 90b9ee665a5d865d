"""Which cases of costly tests run usually; ``make thorough`` runs all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from tests.needs import EVERY_CASE

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

# a busy machine is not a failure; every run tries the same examples, but `make thorough` new ones
settings.register_profile(
    "fairgauge", deadline=None, derandomize=not EVERY_CASE,
    max_examples=200 if EVERY_CASE else 6,
)  # fmt: skip
settings.load_profile("fairgauge")
FEW_EXAMPLES = settings(max_examples=30 if EVERY_CASE else 3)
"""Of properties whose every example takes an audit or more."""


def thorough_after(most: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases of which only the first few run usually."""
    return [case if i < most else _thorough(case) for i, case in enumerate(cases)]


def one_of_each(kind: Callable[[Any], Hashable], cases: Iterable[Any]) -> list[Any]:
    """Return cases of which only the first of each kind runs usually."""
    known: set[Hashable] = set()
    chosen = []
    for case in cases:
        chosen.append(case if kind(case) not in known else _thorough(case))
        known.add(kind(case))
    return chosen


def _thorough(case: Any) -> ParameterSet:
    return pytest.param(case, marks=pytest.mark.thorough)


def covering(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return few of the cases of one test in which every value of every parameter occurs.

    The case that adds most values is taken next, so a product of parameters needs hardly more cases
    than its longest parameter has values.
    """
    values = {item: _values(item) for item in items}
    missing = set(chain.from_iterable(values.values()))
    chosen: list[pytest.Item] = []
    while missing:
        best = max(items, key=lambda item: len(values[item] & missing))
        chosen.append(best)
        missing -= values[best]
    return chosen or items[:1]


def _values(item: pytest.Item) -> frozenset[tuple[str, str | int]]:
    callspec = getattr(item, "callspec", None)
    plain = (str, int, float, bool, type(None))
    return frozenset(
        (name, repr(value) if isinstance(value, plain) else id(value))
        for name, value in (callspec.params if callspec else {}).items()
    )
