"""CountedResult: what every result of counts states, whatever its verb computes from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from fairgauge.results.codec import Version
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import ShownResult
from fairgauge.values import Saved


@dataclass(frozen=True, slots=True)
class CountedData:
    """What was counted; of a count column, the cases that its rows stand for."""

    source: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedResult(ShownResult):
    """A result of a verb that is a function of counts.

    Attributes
    ----------
    version, created : the fairgauge that made it, and when.
    data : what was counted.
    diagnostics : warnings of what the question may have meant instead.
    spec : the whole question.
    """

    version: Version
    created: str
    data: CountedData
    diagnostics: tuple[Diagnostic, ...] = ()
    spec: Saved = field(default_factory=dict)

    def withheld(self, why: WhyWithheld) -> Self:
        """Return it without passes that stand on something doubted; one without passes as it is."""
        del why
        return self
