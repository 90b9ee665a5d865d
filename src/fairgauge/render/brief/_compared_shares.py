"""Comparisons of two groups in a share of rows, as counts of people and in words."""

from __future__ import annotations

from fairgauge.catalogue.cells import ALL, TN, TP
from fairgauge.catalogue.statistics import Rate
from fairgauge.render._document_tree import Unit
from fairgauge.render.brief._frequencies import range_words
from fairgauge.render.brief._vocabulary import Vocabulary, joined, some, such
from fairgauge.render.words.display_names import capitalised
from fairgauge.render.words.metric_words import shown_ends
from fairgauge.results.disadvantage import adverse_sign, event_of, is_of_fit

_PER_HUNDRED = 100


class RateWords:
    """The words of one rate: whom it is among, and what happened to those that it counts."""

    def __init__(self, words: Vocabulary, row: Rate) -> None:
        cells = event_of(row)
        self.words, self.row = words, row
        self.event = None if cells is None else words.event(cells)
        self.condition = words.among(row.among)
        """Whom the rate is among: "who repaid"; empty where it is of all."""

    @property
    def known(self) -> bool:
        """Return whether there are words for the rows that the rate is among, and its event."""
        of_known = self.row.among == ALL or bool(self.condition)
        return of_known and (self.event is not None or is_of_fit(self.row))

    def worse(self, difference: float) -> bool | None:
        """Return whether a difference is to the disadvantage of its group; None if of neither."""
        adverse = adverse_sign(self.row, self.words.favourable)
        return None if adverse == 0 else difference * adverse > 0

    def among(self, people: str) -> str:
        """Return people with whom the rate is among: "women who repaid"."""
        return joined(people, self.condition)

    def pair(self, one: str, other: str) -> str:
        """Return two groups with whom the rate is among: "women and men who repaid"."""
        both = f"{one} and {other}"
        if " with " in both and self.condition.startswith("with "):
            return f"{self.among(one)} and {self.among(other)}"
        return self.among(both)

    @property
    def clause(self) -> str:
        """Return what the rate counts where it is no event: that decisions match the outcome."""
        return self.words.fits[0 if self.row.of == TP + TN else 1]

    @property
    def how_often(self) -> str:
        """Return what is compared: "how often they are approved"."""
        if self.event is None:
            return f"how often {self.clause}"
        return f"how often they {self.event.happens}"

    def counted(self, of: str, people: str, hits: str, when: str = "") -> str:
        """Return a share as a count: "Of 100 women, 36 were approved"."""
        when = f" {when}" if when else ""
        if self.event is None:
            return f"{capitalised(self.clause)} for {hits} of {of} {some(people, of)}{when}"
        return f"Of {of} {self.among(some(people, of))}, {hits} {self.event.happened}{when}"

    def counted_beside(self, of: str, people: str, hits: str) -> str:
        """Return the share of others after :meth:`counted`: "of 100 men, 53"."""
        if self.event is None:
            return f"for {hits} of {of} {some(people, of)}"
        return f"of {of} {self.such(people)}, {hits}"

    def such(self, people: str) -> str:
        """Return the others after people with whom the rate is among: "such men"."""
        return such(people) if self.condition else some(people)

    def apart(self, ends: tuple[float, float], one: str, other: str) -> str:
        """Return a range: "between 3 and 9 fewer of 100 women than of 100 men were approved"."""
        sides = f"{self.among(some(one))} than of {_PER_HUNDRED} {self.such(other)}"
        size = f"{range_words(ends, _PER_HUNDRED)} {sides}"
        if self.event is None:
            return f"{self.clause} for {size}"
        return f"{size} {self.event.happened}"

    def times_as_often(self, ends: tuple[float, float], one: str, other: str) -> str | None:
        """Return a range: "women were approved between 0.3 and 0.6 times as often as men"."""
        if self.event is None:
            return None
        low, high = shown_ends(*ends, Unit.RATIO)
        return (
            f"{self.among(one)} {self.event.happened} between {low} and {high} times as often as "
            f"{such(other) if self.condition else other}"
        )

    def less_often(self, one: str, other: str, *, lower: bool) -> str:
        """Return who has it less often, or more often: "Women are approved less often than men"."""
        often = f"{'less' if lower else 'more'} often"
        if self.event is None:
            return f"{capitalised(self.clause)} {often} for {one} than for {other}"
        they = self.they_often(one, lower=lower).removeprefix("they ")
        other = other if not self.condition else such(other)
        return f"{capitalised(self.among(one))} {they} than {other}"

    def they_often(self, one: str, *, lower: bool) -> str:
        """Return that those who were named have it less often, or more often, elsewhere."""
        often = f"{'less' if lower else 'more'} often"
        if self.event is None:
            return f"{self.clause} {often} for them"
        verb = self.event.happens if self.among(one) == one else self.event.happened
        return f"they {verb} {often}"


def rate_words(words: Vocabulary, row: object) -> RateWords | None:
    """Return the words of a rate; None where it has none, and of what is no rate of rows."""
    rate = RateWords(words, row) if isinstance(row, Rate) else None
    return rate if rate is not None and rate.known else None
