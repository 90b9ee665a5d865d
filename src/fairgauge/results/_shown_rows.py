"""The rows of a result: a tuple that a notebook and a console show as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, TypeVar, overload

from fairgauge.results.describers import in_words

if TYPE_CHECKING:
    from collections.abc import Callable

Row = TypeVar("Row")


class ShownRows(tuple[Row, ...]):
    """A tuple of estimates, groups, verdicts, pairs or findings; it is displayed as a table."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: SupportsIndex) -> Row: ...
        @overload
        def __getitem__(self, at: slice) -> ShownRows[Row]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Row | ShownRows[Row]:
        if isinstance(at, slice):
            return ShownRows(super().__getitem__(at))
        return super().__getitem__(at)

    def __repr__(self) -> str:
        return in_words("row_tables:rows_as_text", self)

    def _repr_html_(self) -> str:
        return in_words("row_tables:rows_as_html", self)

    def _repr_pretty_(self, printer: object, cycle: object) -> None:
        del cycle  # IPython would write the items of a tuple one by one
        write: Callable[[str], None] = printer.text  # type: ignore[attr-defined]
        write(repr(self))
