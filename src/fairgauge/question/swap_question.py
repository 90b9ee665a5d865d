"""SwapQuestion: what is asked of answers to the same items under different names.

The options that it shares with audits are read by the table of options; its own are columns of the
table of answers, and the values of the sensitive feature that are irrelevant edits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fairgauge.errors import Problem, SpecError, quote, refuse, suggest
from fairgauge.identity import name_of_values
from fairgauge.question.options import Spec
from fairgauge.question.readers import Location, read_column, read_key, read_values
from fairgauge.question.specification import read_part
from fairgauge.start.records import dataclass
from fairgauge.values import Json, Value

SHARED = (
    "sensitive", "intersections", "score", "prediction", "positive", "reference", "exclude_groups",
    "unknown", "recode", "count", "margins", "confidence", "seed", "accept", "checks",
)  # fmt: skip
"""The options that mean what they mean in an audit."""
COLUMNS = ("item", "variant", "model", "family")
"""The options that name columns of the table of answers."""
_REFUSED = {
    "cluster": "items and variants are the clusters of this design",
    "weight": "the design gives the weights: every item and every variant counts once",
    "strata": "every item is a stratum of this design",
    "person": "items and variants are the units of this design",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapQuestion:
    """What is asked of a table of answers."""

    item: str  # the columns of what was asked, under which name, and of which model
    variant: str
    model: str | None
    family: str | None  # the text that items are made from; None where each is of its own
    placebo: tuple[Value, ...]  # values whose variants are irrelevant edits
    spec: Spec  # the options that are shared with audits

    @property
    def feature(self) -> tuple[str, ...]:
        if self.spec.intersections:
            return self.spec.intersections[0]
        return (self.spec.sensitive[0].column,)

    @property
    def decides(self) -> bool:
        """Return whether answers are decisions, not scores."""
        return self.spec.prediction is not None

    @property
    def rate(self) -> str:
        """Return the name of what is compared."""
        return "selection_rate" if self.decides else "score"

    @property
    def answer(self) -> str:
        column = self.spec.prediction if self.decides else self.spec.score
        assert column is not None
        return column

    @property
    def margin(self) -> float | None:
        """Return the margin of equivalence, None where none is given."""
        return dict(self.spec.margins).get(self.rate)

    def columns(self) -> Iterator[tuple[str, str]]:
        for option in COLUMNS:
            if (column := getattr(self, option)) is not None:
                yield option, column
        yield from (("sensitive", column) for column in self.feature)
        yield "prediction" if self.decides else "score", self.answer
        if self.spec.count is not None:
            yield "count", self.spec.count

    def to_dict(self) -> dict[str, Json]:
        """Return the options with their values, those that are not given excepted."""
        shared = self.spec.to_dict()
        given: dict[str, Json] = {name: getattr(self, name) for name in COLUMNS}
        given["placebo"] = list(self.placebo)
        given |= {name: shared[name] for name in SHARED}
        return {name: value for name, value in given.items() if value not in (None, [], {})}


def check_swap_options(given: Collection[str]) -> None:
    """Check the names of options that are given beside those of a specification file."""
    allowed = (*COLUMNS, "placebo", *SHARED)
    names = ", ".join(allowed)
    refuse([
        Problem(name, f"is no option of pairs.{suggest(name, allowed)} Allowed: {names}")
        for name in given if name not in (*allowed, *_REFUSED)
    ])  # fmt: skip


def read_swap_question(options: Mapping[str, object]) -> SwapQuestion:
    """Read the options of `fairgauge.pairs`, of a specification file or given by name.

    Other options of an audit may stand in a file that several functions share, and are passed over,
    but for those that would change the design.
    """
    options = {name: value for name, value in options.items() if value is not None}
    at = Location()
    problems = at.problems
    for name in (name for name in _REFUSED if name in options):
        at[name].report(f"remove it: {_REFUSED[name]}")
    own: dict[str, Any] = {name: read_key(options, name, read_column, at, None) for name in COLUMNS}
    placebo = read_key(options, "placebo", read_values, at, ())
    rest = {name: v for name, v in options.items() if name not in (*COLUMNS, "placebo")}
    spec = Spec()
    try:
        spec = read_part(SHARED, rest)
    except SpecError as error:
        raise SpecError([*problems, *error.problems]) from None
    for name, what in (("item", "what was asked (résumé, prompt)"), ("variant", "names")):
        if name not in options:
            problems.append(Problem(name, f"name the column of {what} (--{name} COL)"))
    problems += _contradictions(spec)
    refuse(problems)
    question = SwapQuestion(**own, placebo=placebo, spec=spec)
    seen: dict[str, str] = {}
    for option, column in question.columns():
        if column in seen:
            message = f"column {quote(column)} is already the {seen[column]}; name another column"
            problems.append(Problem(option, message))
        seen.setdefault(column, option)
    refuse(problems)
    return question


def _contradictions(spec: Spec) -> Iterator[Problem]:
    features = len(spec.sensitive) + len(spec.intersections)
    if features != 1:
        message = "name one sensitive feature (--sensitive COL, or --intersect A*B)"
        yield Problem("sensitive", f"{message}, not {features}" if features else message)
    for feature in spec.sensitive:
        if feature.values or feature.cuts:
            alone = f"name the column {quote(feature.column)} alone"
            yield Problem("sensitive", f"{alone}; recode (--recode) makes groups of several values")
    if (spec.score is None) == (spec.prediction is None):
        what = "both" if spec.score is not None else "neither"
        message = "name the column of answers, either a score or a prediction (a decision)"
        yield Problem("score", f"{message}, not {what}")
    rate = "score" if spec.prediction is None else "selection_rate"
    for name, margin in spec.margins:
        path = f"margins.{name}"
        if name != rate:
            yield Problem(path, f"is not audited.{suggest(name, (rate,))} The margin is of {rate}")
        elif margin <= 0 or (margin >= 1 and rate == "selection_rate"):
            yield Problem(path, f"must be above 0, and of a share below 1, not {margin:g}")
    if spec.reference in ("overall", "best"):
        message = "must be others, largest, or a group (COL=VALUE)"
        yield Problem("reference", f"{message}, not {spec.reference}")
    elif isinstance(spec.reference, tuple) and features == 1:
        (name,) = spec.audited
        for column, _ in spec.reference:
            if column != name:
                message = f"names {quote(column)}, which is not the sensitive feature"
                yield Problem("reference", f"{message}; name a group of {quote(name)}")


def named_reference(question: SwapQuestion) -> str | None:
    """Return the name of the group that is the reference, None where a rule chooses it."""
    named = question.spec.reference
    return name_of_values(named[0][1]) if isinstance(named, tuple) else None
