"""The brief of a choice of thresholds: what another threshold changes, for whom, at what cost."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.cells import FP, TP
from fairgauge.enums import Better, DiagnosticCode, Outcome, Status
from fairgauge.question.rules import parse_rule
from fairgauge.render._document_tree import Chart, ChartRow, Mark, Unit
from fairgauge.render.brief._changed_shares import (
    Times,
    candidate_shares,
    describe_change,
    shares_of,
)
from fairgauge.render.brief._compared_shares import RateWords, rate_words
from fairgauge.render.brief._frequencies import counted_changes, frequencies
from fairgauge.render.brief._next_steps import analyst, owner, supplier
from fairgauge.render.brief._rules_in_words import share_rule_in_words
from fairgauge.render.brief._vocabulary import (
    ANY_DECISION,
    UNFAIR,
    Vocabulary,
    excluded_in_words,
    interval_in_words,
    without_outcome,
)
from fairgauge.render.words.change_words import ARROW, describe_rate_shift
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_ci,
    metric_value,
    metric_words,
    shown,
    unit,
)
from fairgauge.render.words.numbers import numbered, plural
from fairgauge.render.words.threshold_sentences import (
    alone,
    changes_decisions,
    choice_sentence,
    decided,
    grown_error,
    none_proposed,
    points,
    question_sentence,
)
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.disparities import is_ratio
from fairgauge.results.threshold_choice import OperatingPoint, ThresholdChoice, ThresholdEffect

_MOST_FEATURES, _MOST_STEPS, _MOST_DRAWN = 3, 3, 8
_WORST = (Outcome.PASS, Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE, Outcome.FAIL)


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


def _is_lost(kept: RateChange) -> bool:
    """Return whether the whole interval of the change of the kept rate is on its worse side."""
    if kept.interval is None:
        return False
    lower = kept.definition.better is Better.LOWER
    return kept.interval.low > 0 if lower else kept.interval.high < 0


def thresholds_exhibits(choice: ThresholdChoice) -> Iterator[Chart]:
    """Yield the rate of the goal of every group of the feature that the brief is of."""
    return _ThresholdsBrief(choice).groups_drawn()


class _ThresholdsBrief:
    """The brief of one choice."""

    def __init__(self, choice: ThresholdChoice) -> None:
        self.choice = choice
        self.of = max(choice.features, key=lambda each: _WORST.index(each.outcome))
        self.place = f"features[{choice.features.index(self.of)}]"
        self.effect: ThresholdEffect | None = self.of.common
        self._at_effect = f"{self.place}.common"
        groups = [(self.of.feature, group) for group in self.of.groups]
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
            does = f"meets the goal{of} and keeps {kept}"
            if self.of.outcome is not Outcome.FAIL:
                does = f"is shown to meet the goal{of} and keep {kept}"
            return Sentence(f"No single threshold {does}", source)
        at = f"At the threshold {effect.threshold:g} for all"
        if not changes_decisions(choice, effect):
            at = f"At today's threshold, {choice.today:g},"
        goal = {
            Outcome.PASS: f"the goal{of} is met",
            Outcome.FAIL: f"the goal{of} is missed",
            Outcome.INCONCLUSIVE: f"whether the goal{of} is met is inconclusive",
            Outcome.NOT_EVALUATED: f"the goal{of} is not evaluated for every group",
        }[effect.goal_outcome]
        if not changes_decisions(choice, effect):
            return Sentence(f"{at} {goal}", source)
        price = {
            Outcome.PASS: f", and {kept} is kept",
            Outcome.FAIL: f", and {kept} is not kept",
            Outcome.INCONCLUSIVE: f"; whether {kept} is kept is inconclusive",
        }[effect.kept_outcome]
        if effect.kept_outcome is Outcome.PASS and _is_lost(effect.performance):
            within = points(choice.kept_rate, choice.margin)
            price = f", and {kept} is worse, by less than the margin of {within}"
        if (grown := grown_error(choice, effect)) is not None:
            price += f", {'but' if effect.outcome is Outcome.PASS else 'and'} {self._more(grown)}"
        return Sentence(f"{at} {goal}{price}", source)

    def _more(self, grown: RateChange) -> str:
        """Return which wrong decisions are more: "applicants who defaulted are approved more"..."""
        rises = (grown.change or 0.0) > 0
        rate = rate_words(self.words, grown.definition)
        if rate is None or rate.event is None:
            return f"the {grown.definition.title} {'rises' if rises else 'falls'}"
        often = "more often" if rises else "less often"
        return f"{rate.among(self.words.noun)} {rate.event.happens} {often}"

    def verdict(self) -> Iterator[Sentence]:
        """Yield what the half of the rows that measures shows, of each feature."""
        several = len(self.choice.features) > 1
        for i, each in enumerate(self.choice.features[:_MOST_FEATURES]):
            if each.common is None:
                of = f"{called(each.feature)}: " if several else ""
                text = none_proposed(self.choice, each)
                yield Sentence(f"{of}{text}", (f"features[{i}].common",))
                continue
            text = decided(self.choice, each.common)
            of = f"{called(each.feature)}, at {each.common.threshold:g}: " if several else ""
            yield Sentence(f"{of}{text}", (f"features[{i}].common",))
            for grown in self._grown(each.common):
                yield Sentence(
                    "Wrong decisions of one kind grow, and the goal does not ask about them. "
                    f"{grown}",
                    (f"features[{i}].common.rates",),
                )

    def _grown(self, effect: ThresholdEffect) -> Iterator[str]:
        """Yield which wrong decisions become strongly more frequent, if any."""
        if (grown := grown_error(self.choice, effect)) is not None:
            yield self._counted(grown, effect.threshold) or (
                f"{capitalised(grown.definition.title)}: {describe_rate_shift(grown)}."
            )

    def looked_at(self) -> Iterator[Sentence]:
        """Yield what was asked, and of which rows."""
        choice = self.choice
        goal, decided = parse_rule(choice.goal), self.words.event(TP + FP)
        rate = rate_words(self.words, compared_rate(goal.row))
        asked = "" if rate is None else share_rule_in_words(rate, goal.row, (goal.low, goal.high))
        excluded = [*excluded_in_words(choice.diagnostics)]
        happens = "get the favourable decision" if decided is None else decided.happens
        yield Sentence(
            question_sentence(choice, asked, happens), ("goal", "kept", "margin", "today")
        )
        yield Sentence(
            f"{numbered(choice.data.rows, self.words.unit)}{' read' * bool(excluded)}: one random "
            f"half{' of those used' * bool(excluded)} chooses thresholds, and every rate on this "
            "page is of the other half, which tests them. The rates of all rows may differ "
            "slightly.",
            ("data.rows", "seed"),
        )
        for text in excluded:
            yield Sentence(text, ("diagnostics",))

    def found(self) -> Iterator[Sentence]:
        """Yield who is worse off today, what a threshold changes for them, and the price."""
        effect, choice = self.effect, self.choice
        frontier = (f"{self.place}.frontier",)
        yield Sentence(self._today(), frontier)
        if effect is None or not changes_decisions(choice, effect):
            if effect is not None:
                yield from self._counted_today(effect)
                yield from self._shares(effect)
            return
        if (i := self._stated(effect)) is not None:
            one = effect.disparities[i]
            source = (f"{self._at_effect}.disparities[{i}]",)
            shares = candidate_shares(self.words, effect, one)
            counted = None if shares is None else shares.sentence(self._times(effect))
            if (ratio := self._ratio_words(effect, i)) is not None or counted is None:
                yield Sentence(ratio or describe_change(self.words, one), source)
            if counted is not None:
                yield Sentence(counted, source)
        yield from self._shares(effect)
        performance = effect.performance
        if self._counted(performance, effect.threshold) is None:
            shift = describe_rate_shift(performance)
            yield Sentence(
                f"{capitalised(choice.kept_rate.title)}: {shift}.",
                (f"{self._at_effect}.performance",),
            )

    def _stated(self, effect: ThresholdEffect) -> int | None:
        """Return the place of the disparity of the group that decides today, or its other side."""
        today = self._point(self.choice.today)
        sides = self._sides(today)
        groups = [each.group for each in effect.disparities]
        named = [self.words.group(self.of.feature, group) for group in groups]
        if sides is not None and sides[1] in named:
            return named.index(sides[1])
        return groups.index(today.group) if today.group in groups else None

    def _counted_today(self, effect: ThresholdEffect) -> Iterator[Sentence]:
        """Yield the shares of both sides at today's threshold as counts of people."""
        if (i := self._stated(effect)) is not None:
            shares = candidate_shares(self.words, effect, effect.disparities[i])
            found = shares and frequencies(shares.mine[0], shares.theirs[0])
            if shares and found and found.of is not None:
                of, rate = f"{found.of:,}", shares.words
                mine = rate.counted(of, shares.subject, f"{found.group:,}")
                theirs = rate.counted_beside(of, shares.other, f"{found.reference:,}")
                yield Sentence(f"{mine}; {theirs}.", (f"{self._at_effect}.disparities[{i}]",))

    def _times(self, effect: ThresholdEffect) -> Times:
        today, cut = f"at {self.choice.today:g}", f"at {effect.threshold:g}"
        return Times(today, cut, f"{cut} than {today}", f"{cut}, the reverse of {today}")

    def _shares(self, effect: ThresholdEffect) -> Iterator[Sentence]:
        """Yield the kept rate and the rates of decisions of all rows as counts of people.

        The wrong decisions that grow at a common threshold are part of the verdict.
        """
        place = self._at_effect
        grown = grown_error(self.choice, effect)
        of_all = [
            (f"{place}.rates[{i}]", each)
            for i, each in enumerate(effect.rates)
            if each.feature is None and each.rate != effect.performance.rate and each is not grown
        ]
        for source, change in ((f"{place}.performance", effect.performance), *of_all):
            if text := self._counted(change, effect.threshold):
                yield Sentence(text, (source,))

    def _ratio_words(self, effect: ThresholdEffect, place: int) -> str | None:
        """Return a ratio before and after: "Women were approved 0.66 times as often as men"."""
        one = effect.disparities[place]
        rate = rate_words(self.words, compared_rate(one.definition))
        if not is_ratio(one.definition) or None in (one.old, one.new):
            return None
        if rate is None or rate.event is None:
            return None
        old, new = (shown(value, unit(one.definition)) for value in (one.old, one.new))
        subject = rate.among(self.words.group(one.feature, one.group))
        return (
            f"{capitalised(subject)} {rate.event.happened} {old} times as often as "
            f"{rate.among(self.words.reference(one))} at {self.choice.today:g}, and {new} times at "
            f"{effect.threshold:g}."
        )

    def _counted(self, change: RateChange, cut: float) -> str | None:
        """Return a rate of all rows before and after as counts; once where nothing changes."""
        rate = rate_words(self.words, change.definition)
        shares = shares_of(self.words, change)
        found = counted_changes([shares]) if rate is not None and shares is not None else None
        if rate is None or found is None:
            return None
        ((of, old, new),) = found[1]
        stated = rate.counted(of, self.words.noun, old, f"at {self.choice.today:g}")
        return f"{stated}." if cut == self.choice.today else f"{stated} and {new} at {cut:g}."

    def groups_drawn(self) -> Iterator[Chart]:
        """Yield how often it happens to each group, today and at the chosen threshold."""
        effect = self.effect
        row = compared_rate(parse_rule(self.choice.goal).row)
        rate = rate_words(self.words, row)
        if effect is None or row is None or rate is None or rate.event is None:
            return
        cut, today = effect.threshold, self.choice.today
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

    def _compared(self, point: OperatingPoint) -> DisparityChange:
        """Return whom a point of the frontier compares, in the metric of the goal."""
        metric = parse_rule(self.choice.goal).definition
        assert metric is not None  # no choice is made of another
        return DisparityChange(
            metric=metric.name, definition=metric, feature=self.of.feature, group=point.group,
            reference=point.reference, new=point.disparity,
        )  # fmt: skip

    def _sides(self, point: OperatingPoint) -> tuple[RateWords, str, str, bool] | None:
        """Return the rate, both sides, the worse-off one first, and whether they are turned."""
        one = self._compared(point)
        rate, value = rate_words(self.words, compared_rate(one.definition)), point.disparity
        if rate is None or value is None or one.reference is None:
            return None
        subject, other = self.words.group(one.feature, one.group), self.words.reference(one)
        if getattr(one.definition, "order", "") == "reference - group":
            subject, other = other, subject
        turned = (
            rate.worse(value - one.definition.neutral) is False
            and self.words.other_group(one) is not None
        )
        return (rate, other, subject, True) if turned else (rate, subject, other, False)

    def _today(self) -> str:
        """Return who is worse off at today's threshold; without words the metric of the goal."""
        point = self._point(self.choice.today)
        if point.outcome is Outcome.NOT_EVALUATED:
            if why := alone(self.choice, self.of):
                return f"{capitalised(why)}."
            group = self.words.group(self.of.feature, point.group)
            return f"At {point.threshold:g}, the data of {group} are insufficient."
        if (sides := self._sides(point)) is None:
            return self._at(point)
        rate, subject, other, turned = sides
        gap = (point.disparity or 0.0) - self._compared(point).definition.neutral
        gap = -gap if turned else gap
        if gap == 0:
            return self._at(point)
        text = rate.less_often(subject, other, lower=gap < 0)
        if not self._differs(point):
            worse = ", but the difference is not statistically significant"
        else:
            fare = {True: ": they are worse off", False: ": they are better off", None: ""}
            worse = fare[rate.worse(gap)]
        if not rate.among(subject)[0].isupper():  # a name such as Black keeps its capital
            text = f"{text[0].lower()}{text[1:]}"
        return f"At today's threshold, {self.choice.today:g}, {text}{worse}."

    def _differs(self, point: OperatingPoint) -> bool:
        """Return whether the interval of a point excludes no difference."""
        ends, none = point.disparity_interval, self._compared(point).definition.neutral
        return ends is not None and not ends.low <= none <= ends.high

    def _apart(self, point: OperatingPoint) -> str | None:
        """Return the interval of a point in words: "between 7 and 18 fewer of 100 women ..."."""
        sides, ends = self._sides(point), point.disparity_interval
        if sides is None or ends is None:
            return None
        rate, subject, other, turned = sides
        low, high, by_ratio = ends.low, ends.high, is_ratio(parse_rule(self.choice.goal).row)
        if by_ratio and turned:
            if low <= 0:
                return None
            low, high = 1 / high, 1 / low
        elif turned:
            low, high = -high, -low
        text = (rate.times_as_often if by_ratio else rate.apart)((low, high), subject, other)
        return text and f"At {point.threshold:g}: {text} ({100 * ends.level:.4g}% CI)."

    def _at(self, point: OperatingPoint) -> str:
        """Return the metric of the goal at a threshold, of the group that decides."""
        goal = parse_rule(self.choice.goal)
        value = metric_value(goal.row, point.disparity)
        group = self.words.group(self.of.feature, point.group)
        text = f"At {point.threshold:g} the {metric_words(goal.row)} of {group} is {value}"
        if point.disparity_interval is None:
            return f"{text}."
        return f"{text} ({metric_ci(goal.row, point.disparity_interval)})."

    def certainty(self) -> Iterator[Sentence]:
        """Yield the interval that decides, and how the threshold was chosen."""
        effect = self.effect
        if effect is not None:
            source = (f"{self.place}.common.chosen_by",)
            yield Sentence(choice_sentence(self.choice, effect), source)
        cuts = [self.choice.today, *([] if effect is None else [effect.threshold])]
        points = [self._point(cut) for cut in dict.fromkeys(cuts)]
        points = [each for each in points if each.outcome is not Outcome.NOT_EVALUATED]
        for point in points:
            yield Sentence(self._apart(point) or self._at(point), (f"{self.place}.frontier",))
        if any(point.disparity_interval for point in points):
            yield Sentence(f"{interval_in_words(self.choice.confidence)}.", ("confidence",))
        missing = {
            f"missing {note['what']}": int(note["rows"])
            for note in self.choice.diagnostics
            if note.code is DiagnosticCode.MISSING_OUTCOMES
        }
        for text in without_outcome("No rate", {"": missing}, units={"": self.words.unit}):
            yield Sentence(text, ("diagnostics",))

    def limits(self) -> Iterator[Sentence]:
        """Yield what the choice does not show."""
        yield Sentence(
            "What would become of people whose decision changes: the outcomes are those that the "
            "data state."
        )
        yield Sentence(UNFAIR)
        yield Sentence("Other times and places.")

    def steps(self) -> Iterator[Sentence]:
        """Yield what to do next."""
        choice, effect = self.choice, self.effect
        if effect is None and self.of.outcome is not Outcome.FAIL:
            if self._point(choice.today).outcome is not Outcome.FAIL:
                at = f"--threshold {choice.today:g} --rule '{choice.goal}'"
                yield analyst(
                    f"look at the goal in all rows, at today's threshold (fairgauge audit {at})."
                )
            kept = choice.kept_rate.title
            yield owner(f"decide whether to wait for more rows, or how much worse {kept} may be.")
            return
        if effect is None:
            yield owner(
                f"accept that {choice.kept_rate.title} is worse by more than "
                f"{points(choice.kept_rate, choice.margin)} (--margin {choice.kept}=VALUE), or "
                "change the model: no single threshold is enough."
            )
            return
        at = f"--threshold {effect.threshold:g} --rule '{choice.goal}'"
        if not changes_decisions(choice, effect):
            yield analyst(f"judge today's threshold by all rows (fairgauge audit {at}).")
        if effect.outcome is Outcome.PASS and changes_decisions(choice, effect):
            yield analyst(f"audit new rows at the new threshold (fairgauge audit {at}).")
            yield analyst("then follow it over time (fairgauge monitor).")
        elif effect.outcome is Outcome.PASS:
            yield analyst("follow the same rule over time (fairgauge monitor).")
        elif effect.outcome is Outcome.FAIL:
            yield owner(
                f"do not rely on {effect.threshold:g}: choose again with more rows, accept that "
                f"{choice.kept_rate.title} is worse (--margin {choice.kept}=VALUE), or change the "
                "model."
            )
        elif effect.goal_reason is not None or effect.kept_reason is not None:
            reasons = [each for each in (effect.goal_reason, effect.kept_reason) if each]
            alone = "of the other rows alone it would be decided, and "
            if Outcome.INCONCLUSIVE in {Outcome(each["alone"]) for each in reasons}:
                alone = ""
            yield supplier(
                f"complete the values that are missing: {alone}more rows of this kind do not "
                "decide it."
            )
        elif Outcome.INCONCLUSIVE is effect.outcome is effect.kept_outcome:
            if effect.goal_outcome is not Outcome.PASS:
                yield analyst(
                    f"decide whether the goal is met with new rows (fairgauge audit {at})."
                )
            # which an audit at one threshold does not look at
            yield analyst(
                f"decide whether {choice.kept_rate.title} is kept with new rows: compare the "
                f"decisions at {choice.today:g} and at {effect.threshold:g} (fairgauge "
                f"compare-models --margin {choice.kept}={choice.margin:g})."
            )
        else:
            yield analyst(f"decide what is inconclusive with new rows (fairgauge audit {at}).")
