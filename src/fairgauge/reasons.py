"""Reasons: why a number is undefined, has no confidence interval, or decides nothing.

A reason is a code with parameters. The sentence that a person reads is made from them in
`fairgauge.render.grammar`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeAlias

from fairgauge.start.records import dataclass

FEWEST_ROWS, FEWEST_EXPECTED = 20, 5
"""The data of a rate are insufficient with fewer rows, or where a cell without a difference expects
fewer: no rule is evaluated, and no such group is chosen as a reference."""


ReasonCode = StrEnum(
    "ReasonCode",
    "ALL_OF "
    # the value is undefined
    "NO_ROWS NO_POSITIVES NO_NEGATIVES EMPTY_DENOMINATOR BOTH_SIDES_EQUAL_RATE "
    "RATIO_NOT_ABOVE_ZERO BOTH_SIDES_INFINITE BOTH_SIDES_ZERO NO_CLASS_DEFINED "
    "NO_VARIATION NO_BENEFIT NOT_CONVERGED FEWER_THAN_TWO_GROUPS NO_GROUPS NO_COMMON_STRATUM "
    "STRATA_DECIDE NONE_AT_TOP ALL_AT_TOP EMPTY_FACET FAILED "
    # the metric does not apply
    "WRONG_TASK NEEDS_COLUMNS NEEDS_PROBABILITIES NEEDS_STRATA NEEDS_FEATURES NEEDS_ROWS "
    "NEEDS_ORDER NO_WEIGHTS PROTECTED PROTECTED_REFERENCE PROTECTED_UNDEFINED "
    "GROUP_NOT_RECORDED NOT_IDENTIFIED "
    # there is too little data
    "FEW_ROWS FEW_EXPECTED SPARSE_CLASS FEW_IN_MINORITY FEW_EFFECTIVE_ROWS FEW_ERRORS "
    "FEW_ERRORS_TOGETHER CONSTANT_SCORE FEW_IN_TAIL FEW_CLUSTERS THIN_STRATA "
    "FEW_EFFECTIVE_PEOPLE FEW_KNOWN_PEOPLE UNSHOWN_PROBABILITIES ANSWERS_CONTRADICT SMALL_GROUP "
    # there is no confidence interval
    "NO_METHOD NO_CLUSTER_METHOD NO_DESIGN_METHOD NO_POOLED_METHOD NO_PAIRED_METHOD "
    "JACKKNIFE_UNDEFINED LONELY_STRATA DESIGN_UNDEFINED SHARED_ROWS RATIO_MAY_BE_ZERO "
    "VALUE_OUTSIDE_INTERVAL UNBOUNDED TOO_MANY_GROUPS ROUNDING OWN_REFERENCE OWN_NEIGHBOURS "
    "ONE_RANK NOT_OF_DECISIONS "
    # groups cannot differ
    "ONE_DECISION ONE_VALUE "
    # it is of other rows than the one that it adjusts
    "STRATA_MISSING FEW_COMPARED OUTCOMES_MISSING GROUPS_MISSING "
    # a verdict
    "INSIDE BELOW ABOVE CROSSES POINT_INSIDE POINT_OUTSIDE SIGNIFICANT_OUTSIDE NOT_SIGNIFICANT "
    "BOUNDS_CROSS MISSING_GROUPS MISSING_OUTCOMES NOT_COUNTED UNCLEAR_VALUES "
    "FAVOURABLE_UNSTATED LIMITS_THE_BETTER_OFF REFERENCE_DECIDES NO_ESTIMATE NO_VALUE "
    "NO_INTERVAL FAMILYWISE COUNTED_AS "
    # a change between two reports
    "OLD_OR_NEW_UNDEFINED OLD_OR_NEW_WITHOUT_INTERVAL DIFFERENT_REFERENCES DIFFERENT_LEVELS "
    "SAME_ROWS ASKED_DIFFERENTLY BOTH_UNBOUNDED "
    # a verdict of one report alone
    "ABSENT IS_REFERENCE NOT_JUDGED TEXT",
)
"""What stands in the way; its text names the parameters that it takes."""


NOT_EVALUABLE = frozenset({
    ReasonCode.NO_ESTIMATE, ReasonCode.NO_GROUPS, ReasonCode.IS_REFERENCE, ReasonCode.WRONG_TASK,
    ReasonCode.NEEDS_COLUMNS, ReasonCode.NEEDS_PROBABILITIES, ReasonCode.NEEDS_ORDER,
    ReasonCode.NEEDS_STRATA, ReasonCode.NEEDS_FEATURES, ReasonCode.NEEDS_ROWS,
    ReasonCode.NO_WEIGHTS, ReasonCode.GROUP_NOT_RECORDED, ReasonCode.NOT_IDENTIFIED,
    ReasonCode.FAILED, ReasonCode.FEWER_THAN_TWO_GROUPS, ReasonCode.FEW_EFFECTIVE_PEOPLE,
    ReasonCode.FEW_KNOWN_PEOPLE,
})  # fmt: skip
"""Why a rule has nothing to be held against, whatever the data: it is never a pass."""
WITHOUT_METHOD = frozenset({
    ReasonCode.NO_METHOD, ReasonCode.NO_CLUSTER_METHOD, ReasonCode.NO_POOLED_METHOD,
    ReasonCode.SHARED_ROWS, ReasonCode.TOO_MANY_GROUPS, ReasonCode.OWN_REFERENCE,
    ReasonCode.OWN_NEIGHBOURS, ReasonCode.NOT_OF_DECISIONS,
})  # fmt: skip
"""Why there is no confidence interval, however many rows there are."""


Parameter: TypeAlias = (
    "str | int | float | bool | tuple[str, ...] | tuple[float, ...] | tuple[Reason, ...] | None"
)


class WithParameters:
    """What has parameters by name, which its text calls for."""

    __slots__ = ()
    parameters: tuple[tuple[str, Any], ...]

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    def get(self, name: str) -> Any:
        return dict(self.parameters).get(name)


@dataclass(frozen=True, slots=True)
class Reason(WithParameters):
    """Why something is not as asked.

    Attributes
    ----------
    code : what stands in the way.
    side : "group" or "reference" where one side alone is concerned.
    parameters : the names and values that the code calls for, sorted by name.

    >>> few = Reason.of(ReasonCode.FEW_ROWS, n=12, minimum=20).on("reference")
    >>> few.code, few.side, few["n"]
    (<ReasonCode.FEW_ROWS: 'few_rows'>, 'reference', 12)
    """

    code: ReasonCode
    side: str | None = None
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, code: ReasonCode, **parameters: Parameter) -> Reason:
        """Make a reason of a code and its parameters; those that are None are omitted."""
        known = ((name, value) for name, value in parameters.items() if value is not None)
        return cls(code, None, tuple(sorted(known)))

    def on(self, side: str) -> Reason:
        """Return the same reason, of one side of a comparison."""
        return Reason(self.code, side, self.parameters)


def join_reasons(reasons: Iterable[Reason]) -> Reason:
    """Join several reasons that hold together; a single one stands for itself."""
    several = tuple(reasons)
    return several[0] if len(several) == 1 else Reason.of(ReasonCode.ALL_OF, reasons=several)
