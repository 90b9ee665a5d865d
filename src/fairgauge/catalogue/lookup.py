"""Finding metrics by any name in use, and a user's own beside the catalogue.

A parameter may follow a name in brackets, and what compares a rate follows its name:
``generalized_entropy(alpha=3)``, ``precision_at_k(50)``, ``precision_at_k(50).difference``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar, cast

from fairgauge.catalogue._synonyms import IN_USE, NAMES, NOT_OURS, plain
from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.catalogue import rate as named_rate
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.derived import CONTRASTS, comparison_of, comparisons_of
from fairgauge.catalogue.distributions import OverallStandardisedDifference, StandardisedDifference
from fairgauge.catalogue.facts import Facts, UnknownMetric, facts_of, unknown_rate
from fairgauge.catalogue.statistics import Statistic
from fairgauge.errors import alternatives, nearest, quote

Row = TypeVar("Row", bound=Metric | Statistic)
_ABBREVIATION = 3
_PARAMETRISED = re.compile(
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

    Attributes
    ----------
    own : the rates of a user.
    reworded : rates of fairgauge in other words, which what compares them then has, too: scoring
        rates, and what is a harm to be selected for.
    """

    own: tuple[Statistic, ...] = ()
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
            row = _of_rate(rate, row)
        return row

    def metric(self, name: str) -> Metric:
        """Return the metric of a name, a synonym or another tool's name.

        Raises
        ------
        AmbiguousName
            Tools give the name to metrics that differ, in sign or otherwise.
        LookupError
            No metric has the name; the message names the nearest.
        """
        base, _, by = name.rpartition(".")
        for rate in self.own:
            if plain(base) == plain(rate.name):
                return comparison_of(rate, plain(by))
        return self.worded(_find_metric(name, self._own_names()))

    def rate(self, name: str) -> Statistic:
        """Return the rate of a name, a synonym or another tool's name; errors as of `metric`."""
        for rate in self.own:
            if plain(name) == plain(rate.name):
                return rate
        return self.worded(_find_rate(name, self._own_names()))

    def row(self, name: str) -> Metric | Statistic:
        """Return the metric or the rate of a name; of a name that is unknown, an `UnknownMetric`.

        A saved result may name what another version of fairgauge has, or what a user defined.
        """
        return _row(self, name)

    def metric_row(self, name: str) -> Metric:
        """Return the metric of a name, as `row` does."""
        row = self.row(name)
        return row if isinstance(row, Metric) else UnknownMetric.of(name)

    def rate_row(self, name: str) -> Statistic:
        """Return the rate of a name; of a name that is unknown, a rate without a description."""
        row = self.row(name)
        return row if isinstance(row, Statistic) else unknown_rate(name)

    def facts(self, rates: Iterable[str], metrics: Iterable[str] = ()) -> Facts:
        """Return the facts of rates and metrics by their names; of unknown names there are none."""
        rows: dict[str, Metric | Statistic] = {}
        for find, names in ((self.rate, rates), (self.metric, metrics)):
            for name in dict.fromkeys(names):
                with suppress(LookupError):
                    rows[name] = find(name)
        return facts_of(rows)

    def expand(self, asked: Iterable[str | Statistic | Metric]) -> tuple[Metric, ...]:
        """Return the metrics that names, sets and values stand for, each once, in this order.

        A set (``standard``, ``clarify``, ``vertex``, ``native``, ``all``) stands for its metrics,
        and a rate for its difference and, where it has one, its ratio.

        Raises
        ------
        LookupError
            A name is unknown; the message names the nearest.
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
            return _contrasts(asked)
        if asked in SETS:
            return [self.worded(row) for row in _set(asked)]
        if any(plain(asked) == plain(rate.name) for rate in self.own) or names_a_rate(asked):
            return [self.worded(row) for row in _contrasts(self.rate(asked))]
        return (self.metric(asked),)

    def _own_names(self) -> Iterator[str]:
        for rate in self.own:
            yield rate.name
            yield from (f"{rate.name}.{by}" for by in comparisons_of(rate))


_ROWS: tuple[Metric | Statistic, ...] = (*RATES, *METRICS)
_BY_NAME: Mapping[str, Metric | Statistic] = {row.name: row for row in _ROWS}


@cache
def _row(catalogue: Catalogue, name: str) -> Metric | Statistic:
    if name in _BY_NAME and not catalogue.own:  # as results name it: no synonym need be known
        return catalogue.worded(_BY_NAME[name])
    for find in (catalogue.metric, catalogue.rate):
        with suppress(LookupError):
            return find(name)
    return UnknownMetric.of(name)


def _of_rate(rate: Statistic, row: Row) -> Row:
    """Return a row of a rate as one of that rate in other words, any other row as it is."""
    if row.name == rate.name:
        return cast("Row", rate)
    if isinstance(row, (StandardisedDifference, OverallStandardisedDifference)):
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
    """Return the rates of positive and of negative decisions in the words of these decisions.

    >>> [each.title for each in selections_called("denied", "approved", "is")]
    ['denied rate', 'approved rate']
    """
    return tuple(
        replace(
            named_rate(name),
            titled=f"{quoted.format(word)} rate",
            heading=word,
            verb=f"{verb} {word}",
        )
        for name, word in (("selection_rate", event), ("rejection_share", opposite))
    )


BUILT_IN = Catalogue()


def is_of_scoring_rates(facts: Facts) -> bool:
    """Return whether the selection rate among the facts of a result is a scoring rate."""
    known = facts.get(SCORING_RATE.name)
    return known is not None and known.title == SCORING_RATE.title


def expand(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return the metrics of fairgauge that names and sets stand for, as `Catalogue.expand`."""
    return BUILT_IN.expand(names)


def find_metric(name: str) -> Metric:
    """Return the metric of fairgauge that a name stands for; errors as of `Catalogue.metric`."""
    return BUILT_IN.metric(name)


def find_rate(name: str) -> Statistic:
    """Return the rate of fairgauge that a name stands for; errors as of `Catalogue.metric`."""
    return BUILT_IN.rate(name)


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


def is_own(row: Statistic | Metric) -> bool:
    """Return whether a rate or a metric is a user's own."""
    return bool(own_of((row,)))


def _set(name: str) -> tuple[Metric, ...]:
    if name == "all":
        return METRICS
    if name == "standard":
        return tuple(row for row in METRICS if row.standard)
    return tuple(row for row in METRICS if row.set == name)


def _contrasts(rate: Statistic) -> tuple[Metric, ...]:
    return tuple(_comparison(rate, by) for by in CONTRASTS if by in comparisons_of(rate))


def _comparison(rate: Statistic, by: str) -> Metric:
    """Return what compares a rate: the row of the catalogue where there is one."""
    rows = _metrics().get(plain(f"{rate.name}.{by}"), ())
    return rows[0] if rows else comparison_of(rate, by)


def names_a_rate(name: str) -> bool:
    """Return whether a name is that of a rate, with a parameter or without, and of no metric."""
    found = _PARAMETRISED.fullmatch(name)
    if plain(name) in _metrics() or (found and found["by"]):
        return False
    return plain(found["name"] if found else name) in _rates()


def _find_metric(name: str, others: Iterable[str]) -> Metric:
    if plain(name) in _metrics():
        return _only(name, _metrics(), others)
    found = _PARAMETRISED.fullmatch(name)
    base, _, by = name.rpartition(".")
    if found and found["by"] and plain(found["name"]) not in _rates():
        whole = _only(f"{found['name']}.{found['by']}", _metrics(), others)
        return _with_parameter(whole, found)
    if found and found["by"]:
        rate = _with_parameter(_only(found["name"], _rates(), others), found)
        return comparison_of(rate, plain(by))
    if found:
        return _with_parameter(_only(found["name"], _metrics(), others), found)
    if plain(base) in _rates():
        return _comparison(_only(base, _rates(), others), plain(by))
    return _only(name, _metrics(), others)


def _find_rate(name: str, others: Iterable[str]) -> Statistic:
    found = _PARAMETRISED.fullmatch(name)
    if not found or found["by"] or plain(name) in _rates():
        return _only(name, _rates(), others)
    return _with_parameter(_only(found["name"], _rates(), others), found)


def _with_parameter(row: Row, found: re.Match[str]) -> Row:
    parameter, value = found["parameter"], float(found["value"])
    if parameter is None and not row.parameters:
        raise LookupError(f"{row.name} has no parameter, asked to be {value:g}")
    changed = row.with_parameter(parameter or row.parameters[0], value)
    assert isinstance(changed, type(row))
    return changed


def _only(name: str, index: Mapping[str, tuple[Row, ...]], others: Iterable[str]) -> Row:
    rows = index.get(plain(name), ())
    if len(rows) == 1:
        return rows[0]
    raise AmbiguousName(_ambiguous(name, rows)) if rows else LookupError(_unknown(name, others))


def _ambiguous(name: str, rows: Sequence[Metric | Statistic]) -> str:
    found = alternatives(f"{row.name} ({_whose(name, row)}{row.formula})" for row in rows)
    return f"{quote(name)} is {found}; name one of them"


def _whose(name: str, row: Metric | Statistic) -> str:
    tools = [
        each.tool for each in NAMES if each.ours == row.name and plain(each.name) == plain(name)
    ]
    return f"{' and '.join(tools)}: " if tools else ""


def _unknown(name: str, others: Iterable[str]) -> str:
    for each in NAMES:
        if each.ours is None and plain(each.name) == plain(name):
            return f"no metric is {quote(name)} of {each.tool}: {each.differs}"
    if plain(name) in NOT_OURS:
        return f"no metric is {quote(name)}: {NOT_OURS[plain(name)]}"
    if plain(name) in _rates():
        return (
            f"{quote(name)} is a rate of groups, not a metric that compares them; "
            f"{name}.difference and {name}.ratio are"
        )
    if plain(name) in _metrics():
        return f"{quote(name)} is a metric that compares groups, not a rate of one group"
    names = (*(row.name for row in RATES), *(row.name for row in METRICS))
    # nobody types those with a comma; of two abbreviations, neither is a misspelling of the other
    titles = (
        each
        for each in (*_metrics(), *_rates())
        if "," not in each and not len(each) == len(name) <= _ABBREVIATION
    )
    known = [*others, *titles, *names, *SETS]
    return f"no metric named {quote(name)}.{nearest(name, known)} See: fairgauge metrics"


@cache
def _metrics() -> dict[str, tuple[Metric, ...]]:
    return _index(METRICS)


@cache
def _rates() -> dict[str, tuple[Statistic, ...]]:
    return _index(RATES)


def is_taken(name: str) -> bool:
    """Return whether a name, a synonym or a set of fairgauge has a name."""
    return plain(name) in (*_metrics(), *_rates(), *SETS)


def _index(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    """Return the rows of every name in use; several only where they are different numbers."""
    own = {row.name: row for row in rows}
    called: dict[str, set[str]] = {}
    for row in rows:
        for name in (*row.aka, row.title):
            called.setdefault(plain(name), set()).add(row.name)
    for each in NAMES:
        if each.ours in own:
            called.setdefault(plain(each.name), set()).add(each.ours)
    for name, several in IN_USE.items():
        if found := own.keys() & several:
            called.setdefault(plain(name), set()).update(found)
    place = {row.name: i for i, row in enumerate(rows)}
    index = {
        key: _different([own[name] for name in sorted(names, key=place.__getitem__)])
        for key, names in called.items()
    }
    return index | {plain(row.name): (row,) for row in rows}


def _different(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the first row of every formula."""
    if len(rows) == 1:
        return tuple(rows)
    of_formula: dict[str, Row] = {}
    for row in rows:
        of_formula.setdefault(row.formula, row)
    return tuple(of_formula.values())
