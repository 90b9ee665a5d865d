"""Finding metrics by any name in use, and a user's own beside the catalogue.

A parameter may follow a name in brackets, and what compares a rate follows its name:
``generalized_entropy(alpha=3)``, ``quantile_label(0.9).ratio``. A saved report describes what it
names by facts: a user's rates are made from them, to be shown, though not to be computed again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import combinations
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias, TypeGuard, TypeVar, cast

from fairgauge.catalogue.across import CONTRASTS, Spread, comparison_of, comparisons_of
from fairgauge.catalogue.catalogue import IN_USE, METRICS, NAMES, NOT_OURS, RATES, lookup_key
from fairgauge.catalogue.catalogue import rate as named_rate
from fairgauge.catalogue.cells import Cells, Need
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.distributions import OverallStandardisedDifference
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic
from fairgauge.enums import Better
from fairgauge.errors import alternatives, closest, quote, suggest
from fairgauge.start.records import MISSING, dataclass, field, fields, replace

Record = TypeVar("Record", bound=Any)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateFacts:
    """What is known of a rate without computing it."""

    kind: Literal["rate"] = "rate"
    own: bool
    title: str
    says: str
    formula: str
    range: tuple[float, float]
    better: Better
    share: bool
    signed: bool
    edges: str
    needs: tuple[Need, ...]
    cite: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """What is known of a metric without computing it; ``neutral`` is None where nothing is."""

    kind: Literal["metric"] = "metric"
    own: bool
    title: str
    says: str
    formula: str
    range: tuple[float, float]
    neutral: float | None
    reading: str
    edges: str
    needs: tuple[Need, ...]
    cite: tuple[str, ...]


Facts: TypeAlias = Mapping[str, RateFacts | MetricFacts]
"""The facts of rates and metrics by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRate(Statistic):
    """A user's rate as a report describes it; it can be shown, and not computed."""

    # `field()` states that there is no default, which otherwise would be the property of the base
    formula: str = field()
    edges: str = field()
    range: tuple[float, float] = field()
    is_share: bool = field()  # type: ignore[misc]
    needs: frozenset[Need] = field()

    def value(self, *_: object, **__: object) -> NoReturn:
        raise LookupError(f"{self.name} is only described in a report; give its definition")

    size = why_undefined = value


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMetric(Metric):
    """A metric of which a result holds no more than its name; its values are plain numbers."""

    @classmethod
    def of(cls, name: str) -> UnknownMetric:
        return cls(name=name, set="own", title=name, says="", positive="", cite=())

    needs: ClassVar[frozenset[Need]] = frozenset()
    formula: ClassVar[str] = ""
    edges: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    neutral: ClassVar[float] = math.nan


def own_rates(facts: Facts) -> tuple[DescribedRate, ...]:
    """Return the user's rates among the facts that a report holds."""
    alike = ("says", "better", "cite", "signed", "own", "formula", "edges", "range")
    return tuple(
        DescribedRate(name=name, is_share=fact.share, needs=frozenset(fact.needs),
                      **{key: getattr(fact, key) for key in alike})
        for name, fact in facts.items() if isinstance(fact, RateFacts) and fact.own
    )  # fmt: skip


def record_of(row: Statistic | Metric, record: type[Record], **others: object) -> Record:
    """Return a record of a row: its attributes of the record's names, and others as given.

    The value that means no difference is None where there is none.
    """
    names = {each.name for each in fields(record) if each.default is MISSING} - others.keys()
    values = {name: getattr(row, name) for name in names}
    if math.isnan(values.get("neutral", 0.0)):
        values["neutral"] = None
    made: Record = record(**values, **others)
    return made


@cache
def _record_facts(row: Statistic | Metric) -> RateFacts | MetricFacts:
    needs = tuple(sorted(row.needs))
    if isinstance(row, Statistic):
        return record_of(row, RateFacts, share=row.is_share, needs=needs)
    return record_of(row, MetricFacts, own=row.set == "own", needs=needs)


Row = TypeVar("Row", bound=Metric | Statistic)
_ABBREVIATION = 3
_PARAMETRISED = (
    r"(?P<name>[^()]+)\(\s*((?P<parameter>\w+)\s*=\s*)?(?P<value>-?(\d+(\.\d+)?|\.\d+))\s*\)"
    r"(\.(?P<by>\w+))?"
)
SETS = ("standard", "clarify", "vertex", "native", "all")


class AmbiguousName(LookupError):  # noqa: N818 - named for what is wrong
    """Tools give one name to numbers that differ; the message names them."""


SCORING_RATE = replace(
    named_rate("selection_rate"),
    titled="scoring rate",
    heading="above median",
    says="the share of rows whose score is above the median of all scores",
    verb="scores above the median",
)
"""The selection rate where scores are cut at their median, which selects nobody."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The rates and metrics that names stand for: those of fairgauge, and a user's ``own`` rates.

    What compares a user's rate is found by its name, as of any rate: ``mine.largest_gap``.
    """

    own: tuple[Statistic, ...] = ()  # the rates of a user
    # rates of fairgauge in other words, which what compares them then has, too: scoring rates, and
    # what is a harm to be selected for
    reworded: tuple[Statistic, ...] = ()

    @property
    def rates(self) -> tuple[Statistic, ...]:
        """Return every rate, a user's own last."""
        return (*map(self.worded, RATES), *self.own)

    def worded(self, row: Row) -> Row:
        """Return a row in the words of this catalogue: of scoring rates where it is of them.

        >>> rates = Catalogue(reworded=(SCORING_RATE,))
        >>> rates.metric("selection_rate.ratio").says
        "the group's scoring rate divided by its reference's"
        >>> rates.metric("DI").statistics[0].title, rates.rate("accuracy").title
        ('scoring rate', 'accuracy')
        """
        for rate in self.reworded:
            row = _reword_for_rate(rate, row)
        return row

    def metric(self, name: str) -> Metric:
        """Return the metric of a name, a synonym or another tool's name.

        Raises ``AmbiguousName``: tools give the name to metrics that differ, in sign or otherwise.
        Raises ``LookupError``: no metric has the name; the message names the nearest.
        """
        base, _, by = name.rpartition(".")
        for rate in self.own:
            if lookup_key(base) == lookup_key(rate.name):
                return comparison_of(rate, lookup_key(by))
        return self.worded(_find_metric(name, self._own_names()))

    def rate(self, name: str) -> Statistic:
        """Return the rate of a name, a synonym or another tool's name; errors as of `metric`."""
        for rate in self.own:
            if lookup_key(name) == lookup_key(rate.name):
                return rate
        row = _RATE_OF.get(name) or _find_row(name, _rates_by_key(), self._own_names())
        return self.worded(row)

    def row(self, name: str) -> Metric | Statistic:
        """Return the metric or the rate of a name; of a name that is unknown, an `UnknownMetric`.

        A saved result may name what another version of fairgauge has, or what a user defined.
        """
        return _find_saved_row(self, name)

    def metric_row(self, name: str) -> Metric:
        row = self.row(name)
        return row if isinstance(row, Metric) else UnknownMetric.of(name)

    def rate_row(self, name: str) -> Statistic:
        """Return the rate of a name; of a name that is unknown, a rate without a description."""
        row = self.row(name)
        if isinstance(row, Statistic):
            return row
        return DescribedRate(
            name=name, says="", better=Better.NEITHER, cite=(), own=True, formula="", edges="",
            range=(-math.inf, math.inf), is_share=False, needs=frozenset(),
        )  # fmt: skip

    def facts(self, rates: Iterable[str], metrics: Iterable[str] = ()) -> Facts:
        """Return the facts of rates and metrics by their names; of unknown names there are none."""
        found: dict[str, RateFacts | MetricFacts] = {}
        for find, names in ((self.rate, rates), (self.metric, metrics)):
            for name in dict.fromkeys(names):
                with suppress(LookupError):
                    found[name] = _record_facts(find(name))
        return found

    @property
    def described(self) -> tuple[DescribedRate, ...]:
        """Return what a report keeps of a user's rates: everything but how they are computed."""
        return own_rates(self.facts(rate.name for rate in self.own)) if self.own else ()

    def expand(self, asked: Iterable[str | Statistic | Metric]) -> tuple[Metric, ...]:
        """Return the metrics that names, sets and values stand for, each once, in this order.

        A set (``standard``, ``clarify``, ``vertex``, ``native``, ``all``) stands for its metrics,
        and a rate for its difference and, where it has one, its ratio.

        Raises LookupError (a name is unknown; the message names the nearest).
        """
        found: dict[str, Metric] = {}
        for each in asked:
            for row in self._stands_for(each):
                found.setdefault(row.name, row)
        return tuple(found.values())

    def _stands_for(self, asked: str | Statistic | Metric) -> Sequence[Metric]:
        if isinstance(asked, Metric):
            return (asked,)
        if isinstance(asked, Statistic):
            return _contrasts_of(asked)
        if asked in SETS:
            chosen = (
                row for row in METRICS if asked in ("all", row.set, *["standard"] * row.standard)
            )
            return [self.worded(row) for row in chosen]
        own = any(lookup_key(asked) == lookup_key(rate.name) for rate in self.own)
        if own or names_a_rate(asked):
            return [self.worded(row) for row in _contrasts_of(self.rate(asked))]
        return (self.metric(asked),)

    def _own_names(self) -> Iterator[str]:
        for rate in self.own:
            yield rate.name
            yield from (f"{rate.name}.{by}" for by in comparisons_of(rate))


# a report finds the rows of their own names, without the index of all names in use
_RATE_OF: Mapping[str, Statistic] = {row.name: row for row in RATES}
_METRIC_OF: Mapping[str, Metric] = {row.name: row for row in METRICS}
_BY_NAME: Mapping[str, Metric | Statistic] = {**_RATE_OF, **_METRIC_OF}


@cache
def _find_saved_row(catalogue: Catalogue, name: str) -> Metric | Statistic:
    if name in _BY_NAME and not catalogue.own:  # as results name it: no synonym need be known
        return catalogue.worded(_BY_NAME[name])
    for find in (catalogue.metric, catalogue.rate):
        with suppress(LookupError):
            return find(name)
    return UnknownMetric.of(name)


def _reword_for_rate(rate: Statistic, row: Row) -> Row:
    if row.name == rate.name:
        return cast("Row", rate)
    if isinstance(row, OverallStandardisedDifference):
        of_rate = row.mean == named_rate(rate.name).title
        return replace(row, mean=rate.title) if of_rate else row
    if not isinstance(row, (Contrast, Spread)) or row.of.name != rate.name:
        return row
    if row.name != f"{row.of.name}.{row.by}":  # a vendor's keeps its own title
        return replace(row, of=rate)
    words = comparison_of(rate, row.by)
    return replace(row, of=rate, title=words.title, says=words.says, positive=words.positive)


def selections_called(
    event: str, opposite: str, verb: str, quoted: str = "{}"
) -> tuple[Statistic, ...]:
    """Return the rates of positive and of negative decisions in the words of these decisions."""
    called = ((named_rate("selection_rate"), event), (named_rate("rejection_share"), opposite))
    return tuple(
        replace(rate, titled=f"{quoted.format(word)} rate", heading=word, verb=f"{verb} {word}")
        for rate, word in called
    )


BUILT_IN = Catalogue()
find_metric, find_rate = BUILT_IN.metric, BUILT_IN.rate


def is_of_scoring_rates(facts: Facts) -> bool:
    """Return whether the selection rate among the facts of a result is a scoring rate."""
    known = facts.get(SCORING_RATE.name)
    return known is not None and known.title == SCORING_RATE.title


def catalogue_of(asked: Sequence[str | Statistic | Metric]) -> Catalogue:
    """Return the catalogue with the user's rates that are asked for, or compared, beside it."""
    own = own_of(asked)
    names = [rate.name for rate in own]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LookupError(f"two different metrics are called {quote(twice)}; rename one")
    return Catalogue(own)


def own_of(asked: Iterable[str | Statistic | Metric]) -> tuple[Statistic, ...]:
    """Return the user's own rates that are asked for, or compared, each once."""
    rates = (row.of if isinstance(row, (Contrast, Spread)) else row for row in asked)
    return tuple(dict.fromkeys(r for r in rates if isinstance(r, Statistic) and r.own))


def _contrasts_of(rate: Statistic) -> tuple[Metric, ...]:
    return tuple(_comparison(rate, by) for by in CONTRASTS if by in comparisons_of(rate))


def _comparison(rate: Statistic, by: str) -> Metric:
    # what compares a rate: the row of the catalogue where there is one
    rows = _metrics_by_key().get(lookup_key(f"{rate.name}.{by}"), ())
    return rows[0] if rows else comparison_of(rate, by)


def names_a_rate(name: str) -> bool:
    """Return whether a name is that of a rate and of no metric."""
    return lookup_key(name) not in _metrics_by_key() and lookup_key(name) in _rates_by_key()


def _find_metric(name: str, others: Iterable[str]) -> Metric:
    if name in _METRIC_OF:
        return _METRIC_OF[name]
    base, _, by = name.rpartition(".")
    if lookup_key(name) not in _metrics_by_key():
        if found := re.fullmatch(_PARAMETRISED, name):
            whole = f"{found['name']}.{found['by']}" if found["by"] else found["name"]
            row, value = _find_row(whole, _metrics_by_key(), others), float(found["value"])
            if found["parameter"] is None and not row.parameters:
                raise LookupError(f"{row.name} has no parameter, asked to be {value:g}")
            return row.with_parameter(found["parameter"] or row.parameters[0], value)
        if lookup_key(base) in _rates_by_key():
            return _comparison(_find_row(base, _rates_by_key(), others), lookup_key(by))
    return _find_row(name, _metrics_by_key(), others)


def _find_row(name: str, index: Mapping[str, tuple[Row, ...]], others: Iterable[str]) -> Row:
    rows = index.get(lookup_key(name), ())
    if not rows:
        raise LookupError(_explain_unknown_name(name, others))
    if len(rows) == 1:
        return rows[0]
    of_row: dict[str, list[str]] = {row.name: [] for row in rows}
    for each in NAMES:
        if each.ours in of_row and lookup_key(each.name) == lookup_key(name):
            of_row[each.ours].append(each.tool)
    tools = [f"{' and '.join(names)}: " if names else "" for names in of_row.values()]
    found = (f"{row.name} ({of}{row.formula})" for row, of in zip(rows, tools, strict=True))
    raise AmbiguousName(f"{quote(name)} is {alternatives(found)}; name one of them")


def _explain_unknown_name(name: str, others: Iterable[str]) -> str:
    for each in NAMES:
        if each.ours is None and lookup_key(each.name) == lookup_key(name):
            return f"no metric is {quote(name)} of {each.tool}: {each.differs}"
    if lookup_key(name) in _rates_by_key():
        return (
            f"{quote(name)} is a rate of groups, not a metric that compares them; "
            f"{name}.difference and {name}.ratio are"
        )
    if lookup_key(name) in _metrics_by_key():
        return f"{quote(name)} is a metric that compares groups, not a rate of one group"
    # nobody types those with a comma; of two abbreviations, neither is a misspelling of the other
    titles = (
        each
        for each in (*_metrics_by_key(), *_rates_by_key(), *NOT_OURS)
        if "," not in each and not len(each) == len(name) <= _ABBREVIATION
    )
    known = [*others, *titles, *_BY_NAME, *SETS]
    if lookup_key(close := closest(name, known) or name) in NOT_OURS:
        return f"no metric is {quote(name)}: {NOT_OURS[lookup_key(close)]}"
    return f"no metric named {quote(name)}.{suggest(name, known)} See: fairgauge metrics"


@cache
def _metrics_by_key() -> dict[str, tuple[Metric, ...]]:
    return _index(METRICS)


@cache
def _rates_by_key() -> dict[str, tuple[Statistic, ...]]:
    return _index(RATES)


def is_taken(name: str) -> bool:
    """Return whether a name, a synonym or a set of fairgauge has a name."""
    return lookup_key(name) in (*_metrics_by_key(), *_rates_by_key(), *SETS)


def _index(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    # the rows of every name in use; several only where they are different numbers
    own = {row.name: row for row in rows}
    called: dict[str, set[str]] = {}
    for row in rows:
        for name in (*row.aka, row.title):
            called.setdefault(lookup_key(name), set()).add(row.name)
    for each in NAMES:
        if each.ours in own:
            called.setdefault(lookup_key(each.name), set()).add(each.ours)
    for name, several in IN_USE.items():
        if found := own.keys() & several:
            called.setdefault(lookup_key(name), set()).update(found)
    place = {row.name: i for i, row in enumerate(rows)}
    index = {}
    for key, names in called.items():
        of_formula: dict[str, Row] = {}
        for name in sorted(names, key=place.__getitem__):
            of_formula.setdefault(own[name].formula, own[name])
        index[key] = tuple(of_formula.values())
    return index | {lookup_key(row.name): (row,) for row in rows}


class FormKind(StrEnum):
    """How a statistic follows from its sums of cells."""

    SHARE = "share"  # of the first sum in the second
    ODDS = "odds"  # of that share
    PART = "part"  # kA / (kA + B) of the share A / (A + B), such as F1
    PAIRED = "paired"  # two overlapping sums: rows in both, in the first alone, in the second alone
    MEAN = "mean"  # of several shares of different rows


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The closed form of an interval."""

    kind: FormKind
    sums: tuple[Cells, ...]  # as the kind orders them; of a mean those of each share in turn
    times: int = 1  # the weight k of a part


@cache
def closed_form(statistic: Statistic) -> ClosedForm | None:
    """Return the closed form of the interval of a statistic; None where it has none.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> form = closed_form(find_rate("f1"))
    >>> str(form.kind), [str(each) for each in form.sums], form.times
    ('part', ['TP', 'TP + FP + FN'], 2)
    """
    if isinstance(statistic, Rate):
        return ClosedForm(FormKind.SHARE, statistic.sums)
    if isinstance(statistic, Blend):
        disjoint = all(a.among.disjoint(b.among) for a, b in combinations(statistic.of, 2))
        return ClosedForm(FormKind.MEAN, statistic.sums) if disjoint else None
    if not isinstance(statistic, Quotient):
        return None
    over, under = statistic.over, statistic.under
    if over.disjoint(under):
        return ClosedForm(FormKind.ODDS, (over, over + under))
    times = max(over)
    rest = [b - a for a, b in zip(over, under, strict=True)]
    if set(over) <= {0, times} and set(rest) <= {0, 1} and times > 0:
        # kA / (kA + B), such as F1
        of, other = Cells(*(int(a > 0) for a in over)), Cells(*rest)
        if of.disjoint(other):
            return ClosedForm(FormKind.PART, (of, of + other), times)
    pairs = list(zip(over, under, strict=True))
    if any(each not in (0, 1) for pair in pairs for each in pair):
        return None
    sums = (Cells(*(int(pair == kind) for pair in pairs)) for kind in ((1, 1), (1, 0), (0, 1)))
    return ClosedForm(FormKind.PAIRED, tuple(sums))


def coefficients(cells: Cells, needs: frozenset[Need]) -> list[int]:
    """Return the coefficients of eight cells; rows count where all that is needed is known.

    These are TP, FP, FN and TN; the rows without a label that are predicted positive or negative;
    and the positive or negative rows without a prediction.
    """
    unlabelled = (cells.tp, cells.tn) if "label" not in needs else (0, 0)
    undecided = (cells.tp, cells.tn) if "prediction" not in needs else (0, 0)
    return [*cells, *unlabelled, *undecided]


_ONE_COLUMN = (RegressionTerm.LABEL, RegressionTerm.PREDICTION)


def has_decomposition(of: Statistic | None) -> bool:
    """Return whether a statistic is a rate, or the mean of one column, which sums over strata."""
    return isinstance(of, Rate) or (isinstance(of, Mean) and of.of in _ONE_COLUMN)


def usual_rate(*, decided: bool, labelled: bool, regression: bool) -> str:
    """Return the rate or mean that is decomposed by default: of the decision where there is one."""
    if regression:
        return "mean_label" if labelled else "mean_prediction"
    return "selection_rate" if decided else "base_rate"


def is_of_decisions(metric: object) -> TypeGuard[Contrast]:
    """Return whether a metric is a difference or a ratio of a rate of decisions."""
    return (
        isinstance(metric, Contrast)
        and isinstance(metric.of, Rate)
        and "prediction" in metric.needs
    )
