"""Faults of published tables: codes with the numbers that show them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

from fairgauge.results.codec import Form, read_parameters, write_parameters
from fairgauge.results.describers import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.reasons import Parameter
    from fairgauge.results.codec import Plain
    from fairgauge.values import Json, Saved


class FaultCode(StrEnum):
    """What is wrong; the parameters of each are named beside it."""

    NOT_WHOLE = "not_whole"  # column, printed
    NEGATIVE = "negative"  # column, printed
    SELECTED_EXCEEDS_N = "selected_exceeds_n"  # selected, n
    PARTS_EXCEED_N = "parts_exceed_n"  # selected, not_selected, n, parts
    PARTS_BELOW_N = "parts_below_n"  # selected, not_selected, n, parts
    RATE_OUT_OF_RANGE = "rate_out_of_range"  # printed
    RATE_IMPOSSIBLE = "rate_impossible"  # printed, n
    RATE_MISMATCH = "rate_mismatch"  # printed, selected, n, share, percent
    RATE_OF_OTHER_ROW = "rate_of_other_row"  # printed, share, percent, other
    MIXED_UNITS = "mixed_units"  # printed, share, percent, sign
    RATIO_MISMATCH = "ratio_mismatch"  # printed, ratio, reference
    RATIO_INVERTED = "ratio_inverted"  # printed, ratio, reference
    RATIO_OF_ANOTHER_REFERENCE = "ratio_of_another_reference"  # printed, ratio, reference, other
    REPEATED_CATEGORY = "repeated_category"  # other
    REPEATED_ROW = "repeated_row"  # other
    TOTAL_MISMATCH = "total_mismatch"  # column, printed, total, most
    TOTAL_RATE_MISMATCH = "total_rate_mismatch"  # printed, percent, low, high
    TOTAL_NOT_CHECKED = "total_not_checked"  # columns
    MARGIN_MISMATCH = "margin_mismatch"  # column, printed, total, other
    NO_COMMON_REFERENCE = "no_common_reference"  # categories, printed, rates
    NO_REFERENCE = "no_reference"  # taken
    REFERENCE_NOT_HIGHEST = "reference_not_highest"  # rate, highest, other
    REFERENCE_IS_SMALL = "reference_is_small"  # n, share, all_stated, other
    REFERENCE_TIED = "reference_tied"  # rate, chosen, others, by_people, by_ratio, printed
    SEVERAL_REFERENCES = "several_references"  # other
    RATIO_MISSING = "ratio_missing"  # n, share, all_stated
    RATIO_OF_UNKNOWN = "ratio_of_unknown"  # printed
    NUMBERS_MISSING = "numbers_missing"  # columns
    NOT_STATED = "not_stated"  # columns, printed
    COLUMNS_IGNORED = "columns_ignored"  # columns, of_groups
    COUNT_RECOVERABLE = "count_recoverable"  # column, printed, count, total
    CATEGORY_MISSING = "category_missing"  # categories
    UNKNOWN_NOT_STATED = "unknown_not_stated"


class FaultLevel(StrEnum):
    """Whether a fault is an error of the table, or a note on it."""

    ERROR = "error"
    NOTE = "note"


_NOTES = frozenset(
    {
        FaultCode.PARTS_BELOW_N,
        FaultCode.TOTAL_NOT_CHECKED,
        FaultCode.REPEATED_ROW,
        FaultCode.REFERENCE_IS_SMALL,
        FaultCode.REFERENCE_TIED,
        FaultCode.NO_REFERENCE,
        FaultCode.COUNT_RECOVERABLE,
        FaultCode.CATEGORY_MISSING,
        FaultCode.NOT_STATED,
        FaultCode.COLUMNS_IGNORED,
        FaultCode.UNKNOWN_NOT_STATED,
    }
)
"""What may have a good reason: it is noted, and is no error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a published table, or that a reader should know of it.

    Attributes
    ----------
    code : what it is.
    row : the number and the name of the row, None where it is about the whole table.
    parameters : the names and values that the code calls for, sorted by name.
    """

    code: FaultCode
    row: tuple[int, str] | None
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, code: FaultCode, row: tuple[int, str] | None, **parameters: Parameter) -> Fault:
        """Make a fault."""
        return cls(code, row, tuple(sorted(parameters.items())))

    @property
    def level(self) -> FaultLevel:
        """Return whether it is an error of the table or a note."""
        return FaultLevel.NOTE if self.code in _NOTES else FaultLevel.ERROR

    def __getitem__(self, name: str) -> Parameter:
        return dict(self.parameters)[name]

    @property
    def message(self) -> str:
        """Return the fault as a sentence."""
        return in_words("fault_sentences:describe_fault", self)


def _write_fault(fault: Fault) -> Plain:
    """Return a fault as an object: its parameters stand among the keys that all faults have."""
    return {
        "code": str(fault.code),
        "level": str(fault.level),
        "row": fault.row and fault.row[0],
        "category": fault.row and fault.row[1],
        **write_parameters(fault.parameters),
        "message": fault.message,
    }


def _read_fault(values: Saved) -> Fault:
    parameters = {name: value for name, value in values.items() if name not in _KEYS}
    row = None if values["row"] is None else (values["row"], values["category"])
    return Fault(FaultCode(values["code"]), row, read_parameters(parameters))


_KEYS: dict[str, Json] = {
    "code": {"enum": [str(code) for code in FaultCode]},
    "level": {"enum": [str(level) for level in FaultLevel]},
    "row": {"type": ["integer", "null"]},
    "category": {"type": ["string", "null"]},
    "message": {"type": "string"},
}
"""The keys that all faults have, each with its schema; the others are the parameters."""
SavedFault = Annotated[
    Fault,
    Form(_write_fault, _read_fault, {"type": "object", "properties": _KEYS, "required": [*_KEYS]}),
]

Finding: TypeAlias = "Fault | None"
"""What holding a printed number against others comes to; None where it agrees with them."""

_PLAUSIBILITY = frozenset(
    {
        FaultCode.NOT_WHOLE,
        FaultCode.NEGATIVE,
        FaultCode.SELECTED_EXCEEDS_N,
        FaultCode.RATE_OUT_OF_RANGE,
        FaultCode.TOTAL_NOT_CHECKED,
    }
)
"""What is seen of a number by itself, or of one that could not be held against others."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The faults of a table, and how much was checked to find them.

    Attributes
    ----------
    faults : what is wrong, or to be known.
    numbers_checked : how many printed numbers were held against others that they follow from;
        without any, that there is no error means nothing.
    """

    faults: tuple[Fault, ...]
    numbers_checked: int

    @classmethod
    def of(cls, found: Iterable[Finding], *, others: Iterable[Fault] = ()) -> Findings:
        """Collect what comparisons of printed numbers came to, and faults of other kinds."""
        compared = list(found)
        faults = [each for each in compared if each is not None]
        plausibility = sum(fault.code in _PLAUSIBILITY for fault in faults)
        return cls((*faults, *others), len(compared) - plausibility)
