"""What is known to be wrong with an answer that smclarify would give, in one warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairgauge.compat._column_reading import looks_misread, mistaken_conversion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairgauge.compat._coded_column import CodedColumn
    from fairgauge.compat._column_reading import DataType
    from fairgauge.compat._facet_counts import BinaryOutcome

_SHOWN = 3


class SmclarifyWarning(UserWarning):
    """smclarify's answer, which is returned, is not the right one."""


def warn_once(reasons: Iterable[str], stacklevel: int = 3) -> None:
    """Give one warning that names every reason."""
    unique = list(dict.fromkeys(reasons))
    if not unique:
        return
    more = f"; and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    warnings.warn(
        "smclarify's answer is returned, but it is misleading: "
        f"{'; '.join(unique[:_SHOWN])}{more}. fairgauge.audit gives the right one",
        SmclarifyWarning,
        stacklevel=stacklevel + 1,
    )


def of_reading(
    column: CodedColumn, values: Sequence[object] | None, found: DataType
) -> Iterator[str]:
    """Describe what is doubtful in how a column was read."""
    why = looks_misread(column, values, found)
    if why:
        yield why
    if values and mistaken_conversion(column, values):
        yield f"the text {values[0]!r} was read as true in column {column.name!r}"


def of_missing(outcomes: Sequence[BinaryOutcome | None]) -> Iterator[str]:
    """Describe where missing labels or predictions count as negative."""
    for each in outcomes:
        if each is not None and (each.column.codes < 0).any():
            rows = int((each.column.codes < 0).sum())
            yield f"{rows:,} missing values of {each.column.name!r} count as negative"


def of_results(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Describe where a distance drops a category that one side lacks."""
    for block in blocks:
        value = {m["name"]: m["value"] for m in block["metrics"]}
        if isinstance(value.get("KL"), float) and value["KL"] < 0:
            yield (
                f"KL of {block['value_or_threshold']!r} is negative, because a category that one "
                "side lacks was omitted (also from JS, LP, TVD and KS)"
            )
        elif value.get("TVD") is not None and _too_small(value):
            yield (
                f"TVD and KS of {block['value_or_threshold']!r} are less than |DPL|, because a "
                "category that one side lacks was omitted (also from KL, JS and LP)"
            )


def _too_small(value: Mapping[str, Any]) -> bool:
    difference = value.get("DPL")
    return difference is not None and bool(value["TVD"] < abs(difference) - 1e-9)
