"""The brief of a choice of thresholds: what another threshold changes, for whom, at what cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import DiagnosticCode, Outcome, Status
from fairgauge.question.rules import parse_rule
from fairgauge.render._document_tree import Chart, ChartRow, Mark, Unit
from fairgauge.render.brief._changed_shares import describe_change
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._frequencies import Share, common_counts
from fairgauge.render.brief._vocabulary import ANY_DECISION, UNFAIR, Vocabulary, without_outcome
from fairgauge.render.words.change_words import ARROW, describe_rate_shift
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_words,
    shown,
    shown_range,
    signed,
    unit,
    with_unit,
)
from fairgauge.render.words.numbers import count, plural
from fairgauge.render.words.threshold_sentences import (
    WARNING,
    changes_decisions,
    choice_sentence,
    closer_sentence,
    cut_of,
    decided,
    grown_error,
    kept_words,
    none_proposed,
    question_sentence,
)
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.disparities import is_ratio
from fairgauge.results.model_comparison import RateChange
from fairgauge.results.threshold_choice import (
    FeatureThresholds,
    OperatingPoint,
    ThresholdChoice,
    ThresholdEffect,
)

_MOST_FEATURES, _MOST_STEPS, _MOST_DRAWN = 3, 3, 8
_WORST = (Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL)


def thresholds_brief(choice: ThresholdChoice) -> Brief:
    """Return the brief of a choice of thresholds, of the worst feature in detail."""
    made = _ThresholdsBrief(choice)
    return Brief(
        headline=made.headline(),
        verdict=tuple(made.verdict()),
        looked_at=tuple(made.looked_at()),
        found=tuple(made.found()),
        certainty=tuple(made.certainty()),
        limits=tuple(made.limits()),
        steps=tuple(made.steps())[:_MOST_STEPS],
        question="What it changes, and at what cost",
    )


def thresholds_exhibits(choice: ThresholdChoice) -> Iterator[Chart]:
    """Yield the rate of the goal of every group of the feature that the brief is of."""
    return _ThresholdsBrief(choice).groups_drawn()


def _outcome(of: FeatureThresholds) -> Outcome:
    return Outcome.FAIL if of.common is None else of.common.outcome


class _ThresholdsBrief:
    """The brief of one choice."""

    def __init__(self, choice: ThresholdChoice) -> None:
        self.choice = choice
        self.of = max(choice.features, key=lambda each: _WORST.index(_outcome(each)))
        self.place = f"features[{choice.features.index(self.of)}]"
        self.effect: ThresholdEffect | None = self.of.common
        groups = [(self.of.feature, group) for group in self.of.reweighing]
        self.words = Vocabulary(
            choice.spec,
            [(feature, group, None, None) for feature, group in groups],
            decisions=ANY_DECISION,
        )

    def headline(self) -> Sentence:
        """Return whether a threshold meets the goal, in words."""
        choice, effect = self.choice, self.effect
        of = f" for {called(self.of.feature)}" if len(choice.features) > 1 else ""
        kept = choice.kept_rate.title
        source = (f"{self.place}.common",)
        if effect is None:
            return Sentence(f"No threshold for all meets the goal{of} and keeps {kept}", source)
        at = f"At the threshold {cut_of(effect):g} for all"
        if not changes_decisions(choice, effect):
            at = f"At today's threshold, {choice.today:g},"
        goal = {
            Outcome.PASS: f"the goal{of} is met",
            Outcome.FAIL: f"the goal{of} is missed",
            Outcome.INCONCLUSIVE: f"whether the goal{of} is met is inconclusive",
        }[effect.goal_outcome]
        if not changes_decisions(choice, effect):
            return Sentence(f"{at} {goal}", source)
        price = {
            Outcome.PASS: f", and {kept} is kept",
            Outcome.FAIL: f", and {kept} is not kept",
            Outcome.INCONCLUSIVE: f"; whether {kept} is kept is inconclusive",
        }[effect.kept_outcome]
        if (grown := grown_error(choice, effect)) is not None:
            price += f", {'but' if effect.outcome is Outcome.PASS else 'and'} {self._more(grown)}"
        return Sentence(f"{at} {goal}{price}", source)

    def _more(self, grown: RateChange) -> str:
        """Return which wrong decisions are more: "applicants who defaulted are approved more"..."""
        rises = (grown.change or 0.0) > 0
        rate = self._words_of(grown.definition)
        if rate is None or rate.event is None:
            return f"the {grown.definition.title} {'rises' if rises else 'falls'}"
        often = "more often" if rises else "less often"
        return f"{rate.among(self.words.noun)} {rate.event.happens} {often}"

    def _words_of(self, row: Statistic) -> RateWords | None:
        """Return the words of a rate, None where there are none."""
        rate = RateWords(self.words, row) if isinstance(row, Rate) else None
        return rate if rate is not None and rate.known else None

    def verdict(self) -> Iterator[Sentence]:
        """Yield what the half of the rows that measures shows, of each feature."""
        several = len(self.choice.features) > 1
        for i, each in enumerate(self.choice.features[:_MOST_FEATURES]):
            if each.common is None:
                of = f"{called(each.feature)}: " if several else ""
                yield Sentence(f"{of}{none_proposed(self.choice)}", (f"features[{i}].common",))
                continue
            text = decided(self.choice, each.common, f"threshold {cut_of(each.common):g}")
            of = f"{called(each.feature)}, at {cut_of(each.common):g}: " if several else ""
            yield Sentence(f"{of}{text}", (f"features[{i}].common",))
            if (grown := grown_error(self.choice, each.common)) is not None:
                counted = self._counted(grown, cut_of(each.common)) or (
                    f"{capitalised(grown.definition.title)}: {describe_rate_shift(grown)}."
                )
                yield Sentence(
                    f"Wrong decisions of one kind grow, and the goal does not ask about them. "
                    f"{counted}",
                    (f"features[{i}].common.rates",),
                )

    def looked_at(self) -> Iterator[Sentence]:
        """Yield what was asked, and of which rows."""
        choice = self.choice
        yield Sentence(question_sentence(choice), ("goal", "kept", "margin", "today"))
        yield Sentence(
            f"{count(choice.data.rows)} {self.words.unit}: one random half chose the threshold, "
            "the other half measured what it changes.",
            ("data.rows", "seed"),
        )

    def found(self) -> Iterator[Sentence]:
        """Yield the disparity of the group that decides, and the price."""
        effect, choice = self.effect, self.choice
        today = self._point(choice.today)
        if effect is None:
            yield Sentence(self._at(today), (f"{self.place}.frontier",))
            return
        if not changes_decisions(choice, effect):
            yield Sentence(self._at(today), (f"{self.place}.frontier",))
            yield from self._shares(effect)
            return
        of_today = [i for i, each in enumerate(effect.disparities) if each.group == today.group]
        for i in of_today[:1]:
            one = effect.disparities[i]
            yield Sentence(
                self._ratio_words(effect, i) or describe_change(self.words, one),
                (f"{self.place}.common.disparities[{i}]",),
            )
        yield from self._shares(effect)
        performance = effect.performance
        if self._counted(performance, cut_of(effect)) is None:
            shift = describe_rate_shift(performance)
            yield Sentence(
                f"{capitalised(choice.kept_rate.title)}: {shift}.",
                (f"{self.place}.common.performance",),
            )

    def _shares(self, effect: ThresholdEffect) -> Iterator[Sentence]:
        """Yield the kept rate and the rates of decisions of all rows as counts of people."""
        place = f"{self.place}.common"
        of_all = [
            (f"{place}.rates[{i}]", each)
            for i, each in enumerate(effect.rates)
            if each.feature is None and each.rate != effect.performance.rate
        ]
        for source, change in ((f"{place}.performance", effect.performance), *of_all):
            if text := self._counted(change, cut_of(effect)):
                yield Sentence(text, (source,))

    def _ratio_words(self, effect: ThresholdEffect, place: int) -> str | None:
        """Return a ratio before and after: "Women were approved 0.66 times as often as men"."""
        one = effect.disparities[place]
        row = compared_rate(one.definition)
        if not isinstance(row, Rate) or not is_ratio(one.definition) or None in (one.old, one.new):
            return None
        rate = RateWords(self.words, row)
        if not rate.known or rate.event is None:
            return None
        old, new = (shown(value, unit(one.definition)) for value in (one.old, one.new))
        subject = rate.among(self.words.group(one.feature, one.group))
        return (
            f"{capitalised(subject)} {rate.event.happened} {old} times as often as "
            f"{rate.among(self.words.reference(one))} at {self.choice.today:g}, and {new} times at "
            f"{cut_of(effect):g}."
        )

    def _counted(self, change: RateChange, cut: float) -> str | None:
        """Return a rate of all rows before and after as counts; once where nothing changes."""
        rate = self._words_of(change.definition)
        if rate is None or change.old is None or change.new is None:
            return None
        shares = [Share(Fraction(change.old)), Share(Fraction(change.new))]

        def is_faithful(rates: Sequence[Fraction]) -> bool:
            moved = shares[1].rate - shares[0].rate
            return bool((rates[1] - rates[0]) * moved > 0 or moved == 0)

        found = common_counts(shares, is_faithful)
        if found is None:
            return None
        of, (old, new) = found
        stated = rate.counted(f"{of:,}", self.words.noun, f"{old:,}", f"at {self.choice.today:g}")
        if cut == self.choice.today:
            return f"{stated}."
        return f"{stated} and {new:,} at {cut:g}."

    def groups_drawn(self) -> Iterator[Chart]:
        """Yield how often it happens to each group, today and at the chosen threshold."""
        effect = self.effect
        row = compared_rate(parse_rule(self.choice.goal).row)
        rate = None if row is None else self._words_of(row)
        if effect is None or row is None or rate is None or rate.event is None:
            return
        cut, today = cut_of(effect), self.choice.today
        of_groups = [
            each
            for each in effect.rates
            if each.rate == row.name and each.feature is not None and each.status is Status.OK
        ]
        moves = changes_decisions(self.choice, effect)
        rows = tuple(
            ChartRow(
                capitalised(rate.among(self.words.group(each.feature, each.group))),
                Mark(each.new),
                f" {ARROW} ".join(
                    shown(value, Unit.PERCENT)
                    for value in ((each.old, each.new) if moves else (each.new,))
                ),
                before=Mark(each.old) if moves else None,
            )
            for each in of_groups[:_MOST_DRAWN]
        )
        notes = [f"Open: at {today:g}; filled: at {cut:g}." if moves else f"At {cut:g}."]
        if (more := len(of_groups) - len(rows)) > 0:
            notes.append(f"{plural(more, 'One group', f'{more:,} groups')} more not drawn.")
        if rows:
            title = f"Of 100 in each group, how many {rate.event.happened}"
            yield Chart(title, rows, Unit.PERCENT, None, notes=(" ".join(notes),))

    def _point(self, threshold: float) -> OperatingPoint:
        return min(self.of.frontier, key=lambda each: abs(each.threshold - threshold))

    def _at(self, point: OperatingPoint) -> str:
        """Return the metric of the goal at a threshold, of the group that decides."""
        goal = parse_rule(self.choice.goal)
        kind, sign = unit(goal.row), signed(goal.row)
        value = with_unit(point.disparity, kind, sign=sign)
        group = self.words.group(self.of.feature, point.group)
        text = f"At {point.threshold:g} the {metric_words(goal.row)} of {group} is {value}"
        if point.disparity_interval is None:
            return f"{text}."
        low, high, level = (
            point.disparity_interval.low,
            point.disparity_interval.high,
            point.disparity_interval.level,
        )
        ends = shown_range(low, high, kind, sign=sign)
        return f"{text} ({100 * level:.4g}% CI {ends})."

    def certainty(self) -> Iterator[Sentence]:
        """Yield the interval that decides, and how the threshold was chosen."""
        effect = self.effect
        if effect is None:
            return
        source = (f"{self.place}.common.chosen_by",)
        yield Sentence(choice_sentence(self.choice, effect), source)
        if text := closer_sentence(self.choice, self.of):
            yield Sentence(text, (*source, f"{self.place}.frontier"))
        if changes_decisions(self.choice, effect):
            point = self._point(cut_of(effect))
            yield Sentence(self._at(point), (f"{self.place}.frontier",))
        missing = {
            f"missing {note['what']}": int(note["rows"])
            for note in self.choice.diagnostics
            if note.code is DiagnosticCode.MISSING_OUTCOMES
        }
        for text in without_outcome("No rate or verdict", {"": missing}):
            yield Sentence(text, ("diagnostics",))

    def limits(self) -> Iterator[Sentence]:
        """Yield what the choice does not show."""
        if any(each.by_group is not None for each in self.choice.features):
            yield Sentence(f"Whether thresholds by group may be used: {WARNING}")
        yield Sentence(
            "What would become of people whose decision changes: the outcomes are those that the "
            "data state."
        )
        yield Sentence(UNFAIR)
        yield Sentence("Other times and places.")

    def steps(self) -> Iterator[Sentence]:
        """Yield what to do next."""
        choice, effect = self.choice, self.effect
        if effect is None:
            yield Sentence(
                f"Allow a larger margin than {kept_words(choice)} with --margin, or change the "
                "model: no threshold is enough."
            )
            return
        at = f"--threshold {cut_of(effect):g} --rule '{choice.goal}'"
        if not changes_decisions(choice, effect):
            yield Sentence(f"Judge today's threshold by all rows: fairgauge audit {at}.")
        if effect.outcome is Outcome.PASS and changes_decisions(choice, effect):
            yield Sentence(f"Audit new rows at the new threshold: fairgauge audit {at}.")
            yield Sentence("Then follow it over time: fairgauge monitor.")
        elif effect.outcome is Outcome.PASS:
            yield Sentence("Follow the same rule over time: fairgauge monitor.")
        else:
            yield Sentence(f"Decide what is inconclusive with new rows: fairgauge audit {at}.")
