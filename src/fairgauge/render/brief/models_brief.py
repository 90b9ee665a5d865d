"""The brief of a comparison of models: what a candidate changes, for whom, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    Better,
    CandidateVerdict,
    ClassKind,
    Direction,
    Favourable,
    Performance,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.render._document_tree import Chart, ChartRow, Mark, Unit
from fairgauge.render.brief._changed_shares import (
    FoundChange,
    Times,
    candidate_shares,
    each_once,
    shares_of,
)
from fairgauge.render.brief._compared_shares import rate_words
from fairgauge.render.brief._frequencies import DENOMINATORS, counted_changes, range_words
from fairgauge.render.brief._next_steps import analyst, owner
from fairgauge.render.brief._vocabulary import (
    ANY_DECISION,
    NO_CHANGE_SHOWN,
    UNFAIR,
    Vocabulary,
    joined,
    widened_in_words,
    without_outcome,
)
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.change_words import ARROW, describe_rate_shift, scope_words
from fairgauge.render.words.display_names import called, capitalised, file_of
from fairgauge.render.words.metric_words import shown, unit
from fairgauge.render.words.model_sentences import (
    Terms,
    at_one_threshold,
    better_words,
    beyond_margins,
    describe_candidate,
    margin_outcome,
    margin_sentence,
    margins_kept,
    needed_sentences,
    of_all,
    overturned_sentences,
    without_margin,
)
from fairgauge.render.words.numbers import count, listing, numbered, plural
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.comparison import (
    Candidate,
    DisparityChange,
    MarginTest,
    ModelComparison,
    RateChange,
    Reclassified,
)
from fairgauge.results.disadvantage import better_of
from fairgauge.results.scopes import Interval

_MOST_FINDINGS, _MOST_OTHERS, _MOST_GROUPS, _MOST_STEPS, _MOST_CANDIDATES = 2, 2, 3, 3, 3
_MOST_DRAWN = 6
_BETTER = (CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED)
_MAY_HAVE_CHANGED = (
    "is not shown to change, but may have",
    "are not shown to change, but may have",
)


def models_brief(comparison: ModelComparison) -> Brief:
    """Return the brief of candidates against the model in use, of the best one in detail."""
    comparison = at_one_threshold(comparison)
    made = _ModelsBrief(comparison)
    return Brief(
        headline=made.headline(),
        verdict=tuple(made.verdict()),
        looked_at=tuple(made.looked_at()),
        found=tuple(made.found()),
        certainty=tuple(made.certainty()),
        limits=tuple(made.limits()),
        steps=tuple(made.steps())[:_MOST_STEPS],
        question="What changes, and for whom",
    )


def vocabulary_of(comparison: ModelComparison) -> Vocabulary:
    """Return the words of a comparison of models, with the groups that it compares."""
    groups = {(r.feature, r.group) for each in comparison.candidates for r in each.rates}
    return Vocabulary(
        comparison.spec,
        [(feature, group, None, None) for feature, group in sorted(groups, key=str) if feature],
        decisions=ANY_DECISION,
    )


class _PlainTerms(Terms):
    """What rates and margins are called in words: "how often those who repaid are approved".

    Of several ``classes`` rates have their titles: words would be of one class.
    """

    def __init__(self, words: Vocabulary, *, classes: bool) -> None:
        self.words, self.classes = words, classes

    def rate(self, row: Statistic) -> str:
        often = self._how_often(row)
        return f"{row.title} ({often})" if often else row.title

    def own_rate(self, row: Statistic) -> str:
        often = self._how_often(row)
        return f"{often} in each group" if often else super().own_rate(row)

    def _how_often(self, row: Statistic) -> str:
        if self.classes or (rate := rate_words(self.words, row)) is None:
            return ""
        if rate.event is None:
            return f"how often {rate.clause}"
        return f"how often {rate.among(self.words.noun)} {rate.event.happens}"

    def margin(self, one: DisparityChange | MarginTest) -> str:
        row = one.definition if isinstance(one, DisparityChange) else one.change.definition
        if one.by == "ratio" or unit(row) not in (Unit.POINTS, Unit.PERCENT):
            return super().margin(one)
        return f"{100 * (one.margin or 0.0):.3g} of 100"


class _ModelsBrief:
    """The brief of one comparison."""

    def __init__(self, comparison: ModelComparison) -> None:
        self.comparison = comparison
        self.current = called(comparison.current)
        candidates = comparison.candidates
        self.best = next(each for each in candidates if each.verdict is comparison.verdict)
        self.place = f"candidates[{candidates.index(self.best)}]"
        self.name = called(self.best.name)
        self.words = vocabulary_of(comparison)
        self.tested = each_once(
            FoundChange(
                self.words,
                one,
                candidate_shares(self.words, self.best, one),
                f"{self.place}.disparities[{i}]",
            )
            for i, one in enumerate(self.best.disparities)
            if one.outcome is not None
        )
        self.terms = _PlainTerms(self.words, classes=comparison.task is Task.MULTICLASS)
        self.changes = [each for each in self.tested if each.is_shown]
        if self.best.verdict in _BETTER:  # what makes it so is stated first
            self.changes.sort(key=lambda each: each.change.direction is not Direction.CLOSER)
        self.others = [each for each in self.tested if not each.is_shown]
        before, after = f"under “{self.current}”", f"under “{self.name}”"
        self.times = Times(
            before, after, f"{after} than {before}", f"{after}, the reverse of {self.current}"
        )

    def headline(self) -> Sentence:
        """Return how the best candidate stands, in words."""
        source = (f"{self.place}.verdict",)
        several = len(self.comparison.candidates)
        if several > 1:
            better = [
                called(each.name)
                for each in self.comparison.candidates
                if each.verdict is CandidateVerdict.DOMINATES
            ]
            nobody = better_words(["none"], self.current).removeprefix("none is ")
            text = f"None of {several:,} candidates is shown to be {nobody}"
            return Sentence(better_words(better, self.current) if better else text, source)
        if self.best.decides_alike:
            return Sentence(self._alike(self.best), (f"{self.place}.reclassified",))
        if self.best.reason is not None:
            why = describe_reason(self.best.reason)
            return Sentence(f"Under {self.name} {why}", (f"{self.place}.reason",))
        if self.best.performance is Performance.INFERIOR and not self.changes:
            return Sentence(f"{self.name} is worse than {self.current} beyond the margin", source)
        if self.changes:
            return Sentence(self.changes[0].headline(self.times), self.changes[0].source)
        return Sentence(
            f"No difference between groups is shown to change under {self.name}",
            (f"{self.place}.disparities",),
        )

    def verdict(self) -> Iterator[Sentence]:
        """Yield the verdict on each candidate."""
        for i, each in enumerate(self.comparison.candidates[:_MOST_CANDIDATES]):
            source = (f"candidates[{i}].verdict",)
            if each.decides_alike:
                text = f"{self._alike(each)}, so that nothing in them distinguishes the two."
                yield Sentence(text, (f"candidates[{i}].reclassified",))
                continue
            yield Sentence(describe_candidate(each, self.current, self.terms), source)
            dominates = each is self.best and each.verdict is CandidateVerdict.DOMINATES
            if dominates:
                yield from self._remaining()
                yield from self._wronged_anew()
            place = f"candidates[{i}]"
            for text in margins_kept(each, self.terms):
                yield Sentence(
                    text, (f"{place}.margins", f"{place}.disparities", f"{place}.groups")
                )
            if dominates:
                yield from self._worse_without_margin()
            for text in beyond_margins(each, terms=self.terms):
                yield Sentence(text, (f"{place}.disparities", f"{place}.groups"))
            for text in overturned_sentences(each, self.comparison.data.excluded, self.words.unit):
                yield Sentence(text, ("data.excluded", f"{place}.undecided"))
        if (more := len(self.comparison.candidates) - _MOST_CANDIDATES) > 0:
            yield Sentence(f"{more:,} more {plural(more, 'candidate', 'candidates')} below.")

    def _alike(self, one: Candidate) -> str:
        rows = numbered(one.rows, self.words.unit)
        every = f"all {rows}" if one.rows != 1 else f"the {rows}"
        return f"{called(one.name)} decides {every} as {self.current} does"

    def _remaining(self) -> Iterator[Sentence]:
        """Yield which differences between groups the candidate has, whatever they were before."""
        known = [
            one
            for one in self.best.disparities
            if one.outcome is not None and one.new_interval is not None and one.status is Status.OK
        ]
        if not known:
            return
        source, under = (f"{self.place}.disparities",), self.times.after
        held = [one for one in known if _is_significant(one)]
        alone = ", each judged by itself" * (len(known) > 1)
        if not held:
            yield Sentence(
                f"No difference between groups is statistically significant {under}{alone}; this "
                "does not show that there is none.",
                source,
            )
            return
        stated = [each for each in self.tested if each.change in held]
        stated.sort(key=lambda each: -abs(each.shares.gaps[1]) if each.shares else 0.0)
        stated.sort(key=lambda each: each not in self.changes[:1])  # that of the headline first
        parts = [each.after(self.times) for each in stated[:1]]
        if alone or not parts:
            are = f"{plural(len(held), 'is', 'are')} statistically significant"
            parts.append(f"{under}, {of_all(len(held), len(known))} {are}{alone}")
        yield Sentence(f"{capitalised('; '.join(parts))}.", source)

    def _wronged_anew(self) -> Iterator[Sentence]:
        """Yield who loses the better decision although their outcome is the better one, by group.

        A margin allows for some in every group, whom rates of a whole group do not show.
        """
        good = self.words.favourable is not Favourable.NEGATIVE
        among, of = ("positive", TP + FN) if good else ("negative", TN + FP)
        event, condition = self.words.event(TP + FP if good else TN + FN), self.words.among(of)
        held = [
            (i, one)
            for i, one in enumerate(self.best.reclassified)
            if one.among == among and one.threshold is None and one.feature is not None and one.n
        ]
        held = [each for each in held if each[1].feature == held[0][1].feature]
        if event is None or not condition or self.words.favourable is Favourable.NEITHER:
            return

        def lost(one: Reclassified) -> float:
            return one.lost if good else one.gained

        def gained(one: Reclassified) -> float:
            return one.gained if good else one.lost

        held.sort(key=lambda each: -lost(each[1]) / each[1].n)
        shown = held[:_MOST_GROUPS]
        if not shown:
            return
        (_, first), *others = shown
        text = (
            f"Of {self._those(first, condition)}, {count(lost(first))} {event.happened} under "
            f"“{self.current}” alone and {count(gained(first))} under “{self.name}” alone"
        )
        for _, one in others:
            text += (
                f"; of {self._those(one, condition)}, {count(lost(one))} and {count(gained(one))}"
            )
        yield Sentence(
            f"{text}.",
            tuple(f"{self.place}.reclassified[{i}]" for i, _ in shown),
        )

    def _those(self, one: Reclassified, condition: str) -> str:
        return f"{count(one.n)} {joined(self.words.group(one.feature, one.group), condition)}"

    def _worse_without_margin(self) -> Iterator[Sentence]:
        """Yield which rates of groups that no margin is about are worse, each by its interval."""
        rates = [e for e in without_margin(self.best) if e.scope.kind is ScopeKind.OVERALL]
        if not (worse := [one for one in rates if _is_worse(one, self.words.favourable)]):
            return
        texts = [
            self._rate_before_and_after(one, one.interval)
            or f"{capitalised(one.definition.title)}, {self.words.group(one.feature, one.group)}"
            f"{scope_words(one.scope, one.class_scope, one.threshold)}: {describe_rate_shift(one)}"
            for one in worse[:_MOST_OTHERS]
        ]
        yield Sentence(
            f"Of these {len(rates):,} rates of groups {len(worse):,} "
            f"{plural(len(worse), 'is', 'are')} significantly worse, each judged by itself. "
            f"{'. '.join(texts)}.",
            tuple(f"{self.place}.rates[{self.best.rates.index(one)}]" for one in worse),
        )

    def looked_at(self) -> Iterator[Sentence]:
        """Yield which rows both models decide."""
        names = [f"“{called(each.name)}”" for each in self.comparison.candidates]
        which = f"The {plural(len(names), 'candidate', 'candidates')} {listing(names)}"
        yield Sentence(
            f"{which} and the model in use, “{self.current}”, decide the same "
            f"{numbered(self.best.rows, self.words.unit)} of "
            f"{file_of(self.comparison.data.source)}.",
            (f"{self.place}.rows",),
        )
        positive = self.words.positive_sentence()
        if positive and self.comparison.task is not Task.MULTICLASS:
            yield Sentence(positive, ("spec.positive",))
        if text := question.exclusions(self.comparison, math.inf, self.words.unit):
            yield Sentence(text, ("data.excluded",))
        if self.best.undecided:
            yield Sentence(
                f"{numbered(self.best.undecided, self.words.unit)} that one of both models does "
                f"not decide {plural(self.best.undecided, 'is', 'are')} excluded.",
                (f"{self.place}.undecided",),
            )

    def found(self) -> Iterator[Sentence]:
        """Yield the largest changes as counts, and who is decided otherwise."""
        for each in self.changes[:_MOST_FINDINGS]:
            yield Sentence(each.sentence(self.times), each.source)
        for each in self.changes[_MOST_FINDINGS : _MOST_FINDINGS + _MOST_OTHERS]:
            yield Sentence(each.interval() or each.in_short(), each.source)
        for each in self.others[: 0 if self.changes else _MOST_OTHERS]:
            yield Sentence(each.in_short(), each.source)
        for more, what in (
            (max(0, len(self.changes) - _MOST_FINDINGS - _MOST_OTHERS), "changed"),
            (self._only_counted, plural(self._only_counted, *_MAY_HAVE_CHANGED)),
        ):
            if more:
                differences = plural(more, "difference", "differences")
                yield Sentence(f"{more:,} more {differences} {what}.", (self.place,))
        yield from self._accuracy()
        yield from self._decided_otherwise()
        candidates = self.comparison.candidates
        if others := [called(each.name) for each in candidates if each is not self.best]:
            yield Sentence(
                f"All this is of {self.name}; {listing(others, most=3)}: in the report.",
                tuple(
                    f"candidates[{i}]" for i, one in enumerate(candidates) if one is not self.best
                ),
            )

    @property
    def _only_counted(self) -> int:
        """Return how many differences without a change that is shown are stated by their number."""
        return len(self.others) - (0 if self.changes else len(self.others[:_MOST_OTHERS]))

    def _accuracy(self) -> Iterator[Sentence]:
        """Yield how often either model is right, where no margin makes that part of the verdict."""
        if self.best.margins:
            return
        for i, one in enumerate(self.best.rates):
            place = (one.rate, one.feature, one.threshold, one.scope.kind, one.class_scope.kind)
            if place != ("accuracy", None, None, ScopeKind.OVERALL, ClassKind.NONE):
                continue
            if (text := self._rate_before_and_after(one, one.interval)) is not None:
                yield Sentence(f"{text}.", (f"{self.place}.rates[{i}]",))

    def _rate_before_and_after(self, one: RateChange, interval: Interval | None) -> str | None:
        """Return a rate under both models as counts, with the interval of its change.

        None of a rate that counts none of its rows.
        """
        rate = rate_words(self.words.at(one.class_scope), one.definition)
        at_one = one.threshold is None and one.class_scope.is_single
        shares = shares_of(self.words, one)
        if rate is None or shares is None or interval is None or not at_one:
            return None
        if (found := counted_changes([shares])) is None:
            return None
        of, ((people, old, new),) = found
        whom = self.words.group(one.feature, one.group) if one.feature else self.words.unit
        return (
            f"{rate.counted(people, whom, old, self.times.before)} and {new} {self.times.after}: "
            f"{range_words((interval.low, interval.high), of or DENOMINATORS[0])} "
            f"({100 * interval.level:.4g}% CI)"
        )

    def _margin(self, test: MarginTest) -> str:
        """Return what a margin shows; as counts, with the interval that decides, if it can."""
        several = len(self.comparison.candidates)
        text = self._rate_before_and_after(
            test.change, test.change.interval if several == 1 else test.adjusted
        )
        if text is None:
            return margin_sentence(test, several)
        outcome = "better" if test.better else margin_outcome(test, self.terms.margin(test))
        return f"{text}: {outcome}."

    def _decided_otherwise(self) -> Iterator[Sentence]:
        """Yield for how many rows the decision changes, in all and by group of one feature."""
        every = [
            (i, one)
            for i, one in enumerate(self.best.reclassified)
            if one.among == "all" and one.threshold is None
        ]
        overall = next((one for _, one in every if one.feature is None), None)
        event = self.words.event(TP + FP)
        if overall is None or event is None:
            return
        changed = overall.gained + overall.lost
        rows = numbered(overall.n, self.words.unit)
        text = f"The decision changes for {count(changed)} of {rows}"
        feature = next((one.feature for _, one in every if one.feature is not None), None)
        groups = [(i, one) for i, one in every if one.feature == feature]
        sufficient = {
            each.group
            for each in self.best.rates
            if each.feature == feature
            and each.status is Status.OK
            and each.scope.kind is ScopeKind.OVERALL
        }
        of = [each for each in groups if _changed(each[1]) and each[1].group in sufficient]
        of.sort(key=lambda each: -_changed(each[1]))
        texts: list[str] = []
        for _, one in of[:_MOST_GROUPS]:
            lost, gained = count(one.lost), count(one.gained)
            if not texts:
                lost += f" {event.happened} {self.times.before} alone"
                gained += f" {self.times.after} alone"
            texts.append(f"of {self._those(one, '')}, {lost} and {gained}")
        if (more := len(groups) - len(texts)) and texts:
            texts.append(f"{more:,} more {plural(more, 'group', 'groups')} in the report")
        yield Sentence(
            f"{': '.join(filter(None, (text, '; '.join(texts))))}.",
            (f"{self.place}.reclassified",
             *(f"{self.place}.reclassified[{i}]" for i, _ in of[:_MOST_GROUPS])),
        )  # fmt: skip

    def certainty(self) -> Iterator[Sentence]:
        """Yield the intervals, and what is shown of the rates with a margin."""
        for each in self.changes[:_MOST_FINDINGS]:
            if (interval := each.interval()) is not None:
                yield Sentence(interval, each.source)
        for i, test in enumerate(self.best.margins):
            yield Sentence(self._margin(test), (f"{self.place}.margins[{i}]",))
        tested = sum(
            one.p_adjusted is not None for each in self.comparison.candidates
            for one in each.disparities
        )  # fmt: skip
        if tested:
            yield Sentence(widened_in_words(self.comparison.confidence, tested))
        # what one of both models does not decide is stated with the rows
        excluded, units = {"": self.comparison.data.excluded}, {"": self.words.unit}
        for text in without_outcome("No change", excluded, ["label"], units):
            yield Sentence(text, ("data.excluded",))
        if self.others and not self._only_counted:
            yield Sentence(NO_CHANGE_SHOWN)

    def limits(self) -> Iterator[Sentence]:
        """Yield what the comparison does not show."""
        yield Sentence(UNFAIR)
        if self.comparison.spec.get("label"):
            yield Sentence(
                "What would become of people whose decision changes.",
                ("spec.label",),
            )
        yield Sentence("Other times and places.")

    def steps(self) -> Iterator[Sentence]:
        """Yield what to do next."""
        best = self.best
        verdict = best.verdict
        if best.decides_alike:
            yield analyst(f"check whether {self.name} holds the decisions of another model.")
            return
        if best.reason is not None:
            what = "decisions" if best.reason.get("threshold") is None else "scores and threshold"
            what = "scores" if best.reason.get("of") == "score" else what
            yield analyst(f"check the {what} of {self.name}.")
        if best.performance is Performance.NO_MARGIN:
            yield owner(
                "state by how much accuracy and differences between groups may be worse, such as 1 "
                "and 5 of 100: --margin accuracy=0.01 --margin disparity=0.05."
            )
        if best.overturned and verdict is not CandidateVerdict.WORSE:  # they take back no harm
            what = "what is excluded, or what a warning puts in doubt"
            yield owner(f"complete {what}, and compare again.")
        for text in needed_sentences(best):
            yield owner(f"decide whether to collect more rows. {text}", (f"{self.place}.margins",))
        if verdict is CandidateVerdict.TRADE_OFF:
            yield owner("decide what matters more; the numbers do not decide it.")
        if verdict is CandidateVerdict.WORSE:
            yield owner("try another candidate.")
        if verdict in _BETTER:
            yield analyst(f"audit {self.name} by itself (fairgauge audit).")
            yield owner(f"decide whether to use {self.name}.")
            yield analyst("follow it over time once it is in use (fairgauge monitor).")


def models_exhibits(comparison: ModelComparison) -> Iterator[Chart]:
    """Yield the differences between groups under both models, those that the brief states first."""
    made = _ModelsBrief(at_one_threshold(comparison))
    rows = [
        ChartRow(
            f"{capitalised(pair)}, {one.words.how_often}",
            Mark(after),
            f"{shown(before, Unit.POINTS, sign=True)} {ARROW} "
            f"{shown(after, Unit.POINTS, sign=True)} pp",
            before=Mark(before),
        )
        for each in [*made.changes, *made.others][:_MOST_DRAWN]
        if (one := each.shares) is not None
        for pair, (before, after) in [one.as_compared()]
    ]
    if rows:
        yield Chart(
            "How far apart groups are, in percentage points",
            tuple(rows),
            Unit.POINTS,
            neutral=0.0,
            notes=(_drawn(made.times),),
        )


def _drawn(times: Times) -> str:
    return (
        f"Open: {times.before}; filled: {times.after}. Each is the share of the first group less "
        "that of the second: 0 is no difference, below 0 it happens less often to the first."
    )


def _is_significant(one: DisparityChange) -> bool:
    """Return whether the whole interval under the candidate is on one side of no difference."""
    ends = one.new_interval
    return ends is not None and one.definition.neutral not in ends


def _is_worse(one: RateChange, favourable: Favourable) -> bool:
    """Return whether the whole interval of a change is on the worse side of no change."""
    if one.interval is None or one.status is not Status.OK:
        return False
    better = better_of(one.definition, favourable)
    return (
        one.interval.high < 0
        if better is Better.HIGHER
        else (better is Better.LOWER and one.interval.low > 0)
    )


def _changed(one: Reclassified) -> float:
    """Return the share of rows whose decision changes."""
    return (one.gained + one.lost) / one.n if one.n else 0.0
