"""The briefs of two reports and of two models: what changed, how certain that is, what next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import (
    CandidateVerdict,
    Direction,
    Favourable,
    Outcome,
    Performance,
    ReferenceKind,
    ScopeKind,
    Status,
    Task,
    Turn,
)
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Chart, ChartRow, Mark, Unit
from fairgauge.render.brief._changed_shares import (
    FoundChange,
    Times,
    candidate_shares,
    changed_shares,
    each_once,
    subject_words,
)
from fairgauge.render.brief._next_steps import analyst, owner
from fairgauge.render.brief._vocabulary import (
    ANY_DECISION,
    NO_CHANGE_SHOWN,
    UNFAIR,
    NamedGroup,
    Vocabulary,
    interval_in_words,
    joined,
    widened_in_words,
    without_outcome,
)
from fairgauge.render.words import model_sentences as sentences
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.change_words import ARROW, describe_disparity, describe_rate_shift
from fairgauge.render.words.display_names import called, capitalised, file_of, printable
from fairgauge.render.words.metric_words import metric_ci, shown
from fairgauge.render.words.numbers import count, listing, numbered, plural
from fairgauge.render.words.question_sentences import OUTCOMES, counts_people
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.render.words.verdict_sentences import outcome_word, subject_called
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.changes import DisparityChange
from fairgauge.results.comparison import (
    Candidate,
    Comparison,
    ModelComparison,
    Origin,
    sort_changes,
)

_NEEDED = (*OUTCOMES, "weight", "count")
_MANY = 0.01
"""The share of rows that lack one of these from which it is stated beside the verdict."""
_MOST_FINDINGS, _MOST_STEPS, _MOST_NAMED, _MOST_CANDIDATES, _MOST_DRAWN = 2, 3, 4, 3, 6
_BETTER = (CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED)
_TIMES = Times(
    "in the old report",
    "in the new report",
    "in the new report than in the old one",
    "in the new report, the reverse of the old one",
)


def comparison_brief(comparison: Comparison) -> Brief:
    """Return the brief of a comparison of two reports."""
    words = words_of_reports(comparison)
    found = _significant(comparison, words)
    return Brief(
        headline=_headline(comparison, found),
        verdict=(*_verdict(comparison), *_without_outcome(comparison, many=True)),
        looked_at=tuple(_looked_at(comparison)),
        found=tuple(_found(comparison, found)),
        certainty=tuple(_certainty(comparison, found)),
        limits=tuple(_limits(comparison)),
        steps=tuple(_steps(comparison))[:_MOST_STEPS],
        question="What changed, and by how much",
    )


def words_of_reports(comparison: Comparison) -> Vocabulary:
    """Return the words of the new report, without its column where the old one had another."""
    other = any(each.key == "prediction" for each in comparison.differences)
    spec = comparison.spec
    # of two groups all others are the other one: a group of one report alone is a third
    groups: dict[tuple[str, str], NamedGroup] = {
        (each.feature, each.group): (each.feature, each.group, None, None)
        for each in comparison.groups
    }
    for each in (side for c in comparison.changes for side in (c.before, c.after) if side):
        if each.feature is not None and each.group is not None:
            named = (each.feature, each.group, each.feature_id, each.group_id)
            groups[each.feature, each.group] = named
    return Vocabulary(
        spec,
        groups.values(),
        decisions=ANY_DECISION if other or not spec.get("prediction") else None,
    )


def _significant(comparison: Comparison, words: Vocabulary) -> list[FoundChange]:
    """Return the changes that are significant; where none can be tested, all that moved."""
    refused = comparison.why_untested is not None
    return each_once(
        FoundChange(words, each, changed_shares(words, each), f"changes[{i}]")
        for i, each in enumerate(comparison.changes)
        if each.mirror_of is None
        and (each.moved if refused else each.significant or each.changed or each.other_side)
    )


def _headline(comparison: Comparison, found: list[FoundChange]) -> Sentence:
    moved = any(each.moved for each in comparison.changes)
    if found and comparison.why_untested is None:
        among = _of_known(comparison, found[0].change.definition)
        return Sentence(f"{found[0].headline(_TIMES)}{among}", found[0].source)
    if not comparison.changes:
        return Sentence("The two reports have no comparison of groups in common", ("changes",))
    if not comparison.compared:
        return Sentence("No comparison of groups has a value in both reports", ("changes",))
    if not moved:
        alike = not (comparison.turn or comparison.flips or comparison.alone)
        text = "Nothing changed between the two reports"
        if not alike or comparison.unmatched or comparison.differences:
            text = "No difference between groups that both reports compare has changed"
        return Sentence(text, ("changes",))
    if comparison.why_untested is not None:
        text = "Differences changed; whether by more than sampling variation cannot be tested"
        return Sentence(text, ("refused",))
    untested = len(sort_changes(comparison.changes).untested)
    tested = sum(each.moved and each.change_p_adjusted is not None for each in comparison.changes)
    if untested and not tested:
        text = "Differences changed; no change could be tested"
        return Sentence(text, ("changes",))
    text = "No difference between groups changed statistically significantly"
    if untested:
        text = "No difference that could be tested changed statistically significantly"
        text += f"; {untested:,} could not be tested"
    return Sentence(text, ("changes",))


def _verdict(comparison: Comparison) -> Iterator[Sentence]:
    old, new = comparison.old.verdict, comparison.new.verdict
    if {old, new} == {Outcome.NONE}:
        return
    before, after = (outcome_word(each).upper() for each in (old, new))
    text = f"The rules come to {after} in both reports."
    if before != after:
        text = f"The rules come to {before} in the old report and to {after} in the new one."
    yield Sentence(text, ("old.verdict", "new.verdict"))
    turns = [each.turn for each in comparison.flips]
    alone = [each.report for each in comparison.unmatched]
    in_old, in_new = alone.count("old"), alone.count("new")
    counts = {
        "got worse": turns.count(Turn.WORSE),
        "got better": turns.count(Turn.BETTER),
        "changed otherwise": turns.count(Turn.OTHER),
        "did not change": comparison.stayed,
        f"{plural(in_old, 'has', 'have')} no counterpart in the new report": in_old,
        f"{plural(in_new, 'has', 'have')} no counterpart in the old report": in_new,
    }
    parts = [f"{number:,} {word}" for word, number in counts.items() if number]
    if parts:
        text = f"Of the verdicts, {listing(parts)}."
        yield Sentence(text, ("flips", "stayed", "unmatched"))


def _looked_at(comparison: Comparison) -> Iterator[Sentence]:
    old, new = units(comparison)
    yield Sentence(f"Old: {_facts(comparison.old, old)}.", ("old",))
    yield Sentence(f"New: {_facts(comparison.new, new)}.", ("new",))
    if comparison.same_rows:
        yield Sentence("Both reports are taken to be of the same rows.", ("same_rows",))
    elif comparison.refused is None:
        text = "Both reports are taken to be of different, independent rows."
        yield Sentence(text, ("same_rows",))
    if comparison.differences:
        keys = listing([called(each.key) for each in comparison.differences], most=_MOST_NAMED)
        yield Sentence(f"Asked differently: {keys}.", ("differences",))


def origin_name(origin: Origin) -> str:
    """Return what a report is called: its file, or what was audited."""
    return called(origin.name) if origin.name else file_of(origin.source)


def units(comparison: Comparison) -> tuple[str, str]:
    """Return what each of the two reports counts: people, or the cases that rows stand for."""
    new = comparison.spec
    old = {**new, **{each.key: each.old for each in comparison.differences}}
    first, second = ("people" if counts_people(each) else "cases" for each in (old, new))
    return first, second


def _facts(origin: Origin, unit: str) -> str:
    of = f"{file_of(origin.source)}, " if origin.name else ""
    least = "at least " * origin.used_at_least
    whole = {*origin.excluded}.isdisjoint(f"missing {each}" for each in OUTCOMES)
    complete = "used" if whole else "with known outcomes and a group"
    used = f", {least}{count(origin.used)} {complete}" if origin.used != origin.rows else ""
    cases = f", {count(origin.cases)} {unit}" if origin.cases != origin.rows else ""
    rows = f"{numbered(origin.rows)}{cases}{used}"
    return f"{origin_name(origin)}: {of}{rows}, audited {printable(origin.created[:10])}"


def _found(comparison: Comparison, found: list[FoundChange]) -> Iterator[Sentence]:
    for each in found[:_MOST_FINDINGS]:
        yield Sentence(each.sentence(_TIMES), each.source)
    if comparison.changes:
        tested = comparison.why_untested is None
        yield Sentence(_numbers(comparison.changes, tested=tested), ("changes",))


def _numbers(changes: Iterable[DisparityChange], *, tested: bool) -> str:
    """Return in a sentence how many disparities went where."""
    sorted_ = sort_changes(changes)
    if tested:
        counts = [
            (len(sorted_.further), "became statistically significantly larger"),
            (len(sorted_.closer), "became statistically significantly smaller"),
            (
                len(sorted_.changed),
                "changed statistically significantly, not shown to be larger or smaller",
            ),
            (len(sorted_.moved), "changed, not statistically significantly"),
            (len(sorted_.untested), "changed, not tested"),
        ]
    else:
        directions = [each.direction for each in (*sorted_.moved, *sorted_.untested)]
        counts = [
            (directions.count(Direction.FURTHER), "became larger"),
            (directions.count(Direction.CLOSER), "became smaller"),
            (directions.count(Direction.AS_FAR), "as large as before"),
            (directions.count(None), "changed"),
        ]
    counts += [
        (len(sorted_.undefined), "with one value only"),
        (len(sorted_.stayed), "unchanged"),
    ]
    (first, words), *others = [each for each in counts if each[0]]
    parts = [f"{numbered(first, 'differences')} between groups {words}"]
    return "; ".join(parts + [f"{number:,} {words}" for number, words in others]) + "."


def _certainty(comparison: Comparison, found: list[FoundChange]) -> Iterator[Sentence]:
    if comparison.why_untested is not None:
        reason = describe_reason(comparison.why_untested)
        yield Sentence(f"No change has a confidence interval: {reason}.", ("refused",))
        yield from _without_outcome(comparison, many=False)
        return
    yield from _intervals(found)
    levels = {e.interval.level for e in comparison.changes if e.interval is not None}
    yield from (Sentence(f"{interval_in_words(level)}.") for level in sorted(levels)[: len(found)])
    if comparison.refused is not None:
        reason = describe_reason(comparison.refused)
        yield Sentence(f"These intervals are the widest possible: {reason}.", ("refused",))
    if found and comparison.refused is None:
        tested = sum(each.change_p_adjusted is not None for each in comparison.changes
                     if each.mirror_of is None)  # fmt: skip
        if tested > 1:
            text = f"What is called significant is so with all {tested:,} changes judged together."
            yield Sentence(text, ("changes",))
    yield from _without_outcome(comparison, many=False)
    if any(not each.significant for each in comparison.changes):
        yield Sentence(NO_CHANGE_SHOWN)


def _intervals(found: Sequence[FoundChange]) -> Iterator[Sentence]:
    """Yield the intervals of the changes that are stated as counts."""
    for each in found[:_MOST_FINDINGS]:
        if (text := each.interval()) is not None:
            yield Sentence(text, each.source)


def _of_known(comparison: Comparison, metric: Metric) -> str:
    """Return of which rows a change is, where many rows of a report lack an outcome of it."""
    known = [each for each in _lacking(comparison, _needed([metric])) if each in OUTCOMES]
    unit = "people" if {*units(comparison)} == {"people"} else "rows"
    return f", among the {unit} with a known {listing(known)}" if known else ""


def _needed(metrics: Iterable[Metric]) -> list[str]:
    """Return what rows must have to be in some metrics; decisions may be made by a score."""
    needs = {str(need) for metric in metrics for need in metric.needs}
    if "prediction" in needs:
        needs.add("score")
    return [each for each in _NEEDED if each in needs or each not in OUTCOMES]


def _lacking(comparison: Comparison, needed: Iterable[str]) -> list[str]:
    """Return what many rows of a report lack, of what is needed."""
    origins = comparison.old, comparison.new
    return [
        each
        for each in needed
        if any(o.excluded.get(f"missing {each}", 0) >= _MANY * max(o.cases, 1) for o in origins)
    ]


def _without_outcome(comparison: Comparison, *, many: bool) -> Iterator[Sentence]:
    """Yield which rows are in no change, whether these are ``many`` in some report, or few."""
    origins = {"old": comparison.old, "new": comparison.new}
    found = {f" in the {name} report": origin.excluded for name, origin in origins.items()}
    needed = _needed(each.definition for each in comparison.changes)
    if bool(_lacking(comparison, needed)) is not many:
        return
    others = "cases" if comparison.spec.get("count") else "rows"
    counted = ("people" if unit == "people" else others for unit in units(comparison))
    for text in without_outcome("No change", found, needed, dict(zip(found, counted, strict=True))):
        yield Sentence(text, ("old.excluded", "new.excluded"))


def _limits(comparison: Comparison) -> Iterator[Sentence]:
    yield Sentence(
        "Why: the people, what was decided and how it was recorded may all have changed. The "
        "reports hold no causes."
    )
    groups = [each for each in comparison.alone if each.what == "group"]
    if groups:
        named = [f"{called(each.name)} (in the {each.report} report alone)" for each in groups]
        yield Sentence(f"What became of {listing(named, most=_MOST_NAMED)}.", ("alone",))
    yield Sentence(UNFAIR)


def _steps(comparison: Comparison) -> Iterator[Sentence]:
    refused = comparison.refused
    if refused is not None and refused.code is ReasonCode.ASKED_DIFFERENTLY:
        yield analyst("audit both alike, then compare again.", ("differences",))
    elif comparison.same_rows:
        yield analyst(
            "compare the models on their rows, with paired intervals (fairgauge compare-models).",
            ("same_rows",),
        )
    reasons = [each.reason for each in comparison.changes if each.untested]
    if any(each and each.code is ReasonCode.DIFFERENT_REFERENCES for each in reasons):
        yield analyst(
            "name the same reference in both audits (--reference): another group is the reference "
            "now, so that changes are not tested.",
            ("changes",),
        )
    elif any(
        each.reference is not None and each.reference.kind is ReferenceKind.BEST
        for each in comparison.changes
        if each.interval is not None
    ):
        yield analyst(
            "name the same reference in both audits (--reference): intervals of differences from "
            "the best group hold for every pair of groups, and show fewer changes.",
            ("changes",),
        )
    for report, other in (("new", "old"), ("old", "new")):
        names = [
            subject_called(each.verdict)
            for each in comparison.unmatched
            if each.report == other and each.reason.code is not ReasonCode.IS_REFERENCE
            if other == "old" or each.verdict.outcome is Outcome.FAIL
        ]
        named = listing(list(dict.fromkeys(names)), most=_MOST_NAMED)
        if named:
            text = f"find out why the {report} report has no verdict on {named}."
            yield analyst(text, ("unmatched",))
    if comparison.worse:
        yield analyst(
            "first find out what changed: the rows, the mix of groups (Data below), or the model."
        )
    yield analyst(
        "follow the same rules over time with a controlled false alarm rate (fairgauge monitor)."
    )


def words_of_models(comparison: ModelComparison) -> Vocabulary:
    """Return the words of a comparison of models, with the groups that it compares."""
    groups = {(r.feature, r.group) for each in comparison.candidates for r in each.rates}
    return Vocabulary(
        comparison.spec,
        [(feature, group, None, None) for feature, group in sorted(groups, key=str) if feature],
        decisions=ANY_DECISION,
    )


def models_brief(comparison: ModelComparison) -> Brief:
    """Return the brief of candidates against the model in use, of the best one in detail."""
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


class _ModelsBrief:
    """The brief of one comparison of models."""

    def __init__(self, comparison: ModelComparison) -> None:
        self.comparison = comparison
        self.current = called(comparison.current)
        candidates = comparison.candidates
        self.best = next(each for each in candidates if each.verdict is comparison.verdict)
        self.place = f"candidates[{candidates.index(self.best)}]"
        self.name = called(self.best.name)
        self.words = words_of_models(comparison)
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
            nobody = sentences.better_words(["none"], self.current).removeprefix("none is ")
            text = f"None of {several:,} candidates is shown to be {nobody}"
            return Sentence(
                sentences.better_words(better, self.current) if better else text, source
            )
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
            place = f"candidates[{i}]"
            if each.decides_alike:
                text = f"{self._alike(each)}, so that nothing in them distinguishes the two."
                yield Sentence(text, (f"{place}.reclassified",))
                continue
            tests = (f"{place}.margins", f"{place}.disparities", f"{place}.groups")
            yield Sentence(sentences.describe_candidate(each, self.current), (f"{place}.verdict",))
            if each is self.best and each.verdict is CandidateVerdict.DOMINATES:
                yield from self._remaining()
                yield from self._wronged_anew()
            for text in (
                *sentences.margins_kept(each),
                *sentences.beyond_margins(each),
                *sentences.untested_sentences(each),
            ):
                yield Sentence(text, tests)
            excluded = self.comparison.data.excluded
            for text in sentences.overturned_sentences(each, excluded, self.words.unit):
                yield Sentence(text, ("data.excluded", f"{place}.undecided"))
        if (more := len(self.comparison.candidates) - _MOST_CANDIDATES) > 0:
            yield Sentence(f"{more:,} more {plural(more, 'candidate', 'candidates')} below.")

    def _remaining(self) -> Iterator[Sentence]:
        """Yield which differences between groups the candidate has, whatever they were before."""
        known = [
            one
            for one in self.best.disparities
            if one.outcome is not None and one.new_interval is not None and one.status is Status.OK
        ]
        held = [one for one in known if one.definition.neutral not in (one.new_interval or ())]
        source, alone = (f"{self.place}.disparities",), ", each judged by itself" * (len(known) > 1)
        if not known:
            return
        if not held:
            yield Sentence(
                f"No difference between groups is statistically significant {self.times.after}"
                f"{alone}; this does not show that there is none.",
                source,
            )
            return
        led = [each.change for each in self.changes[:1]]  # that of the headline first
        first = next((one for one in held if one in led), held[0])
        value = describe_disparity(first.definition, first.new)
        ends = metric_ci(first.definition, first.new_interval)
        are = plural(len(held), "is", "are")
        yield Sentence(
            f"{capitalised(self.times.after)} {sentences.of_all(len(held), len(known))} {are} "
            f"statistically significant{alone}{', such as' if len(held) > 1 else ':'} "
            f"{subject_words(self.words, first)}, {value} ({ends}).",
            source,
        )

    def _wronged_anew(self) -> Iterator[Sentence]:
        """Yield who loses the better decision although their outcome is the better one, by group.

        A margin allows for some in every group, whom rates of a whole group do not show.
        """
        good = self.words.favourable is not Favourable.NEGATIVE
        among, of = ("positive", TP + FN) if good else ("negative", TN + FP)
        event, condition = self.words.event(TP + FP if good else TN + FN), self.words.among(of)
        if event is None or not condition or self.words.favourable is Favourable.NEITHER:
            return
        held = [
            (one.lost if good else one.gained, one.gained if good else one.lost, i, one)
            for i, one in enumerate(self.best.reclassified)
            if one.among == among and one.threshold is None and one.feature is not None and one.n
        ]
        held = [each for each in held if each[-1].feature == held[0][-1].feature]
        held.sort(key=lambda each: -each[0] / each[-1].n)
        parts = [
            f"of {count(one.n)} {joined(self.words.group(one.feature, one.group), condition)}, "
            f"{count(lost)}{f' {event.happened} {self.times.before} alone' * (not at)} and "
            f"{count(gained)}{f' {self.times.after} alone' * (not at)}"
            for at, (lost, gained, _, one) in enumerate(held[:_MOST_CANDIDATES])
        ]
        if parts:
            places = tuple(f"{self.place}.reclassified[{i}]" for _, _, i, _ in held)
            yield Sentence(f"{capitalised('; '.join(parts))}.", places[:_MOST_CANDIDATES])

    def _alike(self, one: Candidate) -> str:
        rows = numbered(one.rows, self.words.unit)
        every = f"all {rows}" if one.rows != 1 else f"the {rows}"
        return f"{called(one.name)} decides {every} as {self.current} does"

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
        """Yield the largest changes as counts, and how many rows are decided otherwise."""
        for each in self.changes[:_MOST_FINDINGS]:
            yield Sentence(each.sentence(self.times), each.source)
        for each in self.others[: 0 if self.changes else _MOST_FINDINGS]:
            yield Sentence(each.not_shown(), each.source)
        asked = [one for one in self.best.disparities if one.outcome is not None]
        if asked:
            yield Sentence(_numbers(asked, tested=True), (f"{self.place}.disparities",))
        overall = [one for one in self.best.rates if one.feature is None
                   and (one.rate, one.scope.kind) == ("accuracy", ScopeKind.OVERALL)]  # fmt: skip
        if overall and not self.best.margins and overall[0].change is not None:
            shift = describe_rate_shift(overall[0])
            yield Sentence(f"Accuracy: {shift}.", (f"{self.place}.rates",))
        yield from self._decided_otherwise()
        others = [one for one in self.comparison.candidates if one is not self.best]
        if others:
            names = listing([called(each.name) for each in others], most=3)
            yield Sentence(
                f"All this is of {self.name}; {names}: in the report.",
                tuple(
                    f"candidates[{i}]"
                    for i, one in enumerate(self.comparison.candidates)
                    if one is not self.best
                ),
            )

    def _decided_otherwise(self) -> Iterator[Sentence]:
        """Yield for how many rows the decision changes, and to what."""
        event = self.words.event(TP + FP)
        for i, one in enumerate(self.best.reclassified):
            if event is None or one.feature is not None or one.among != "all":
                continue
            yield Sentence(
                f"The decision changes for {count(one.gained + one.lost)} of "
                f"{numbered(one.n, self.words.unit)}: {count(one.lost)} {event.happened} "
                f"{self.times.before} alone and {count(one.gained)} {self.times.after} alone.",
                (f"{self.place}.reclassified[{i}]",),
            )
            return

    def certainty(self) -> Iterator[Sentence]:
        """Yield the intervals, and what is shown of the rates with a margin."""
        yield from _intervals(self.changes)
        for i, test in enumerate(self.best.margins):
            text = sentences.margin_sentence(test, len(self.comparison.candidates))
            yield Sentence(text, (f"{self.place}.margins[{i}]",))
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
        if self.others:
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
            yield analyst(f"check the decisions of {self.name}, its scores and their threshold.")
        if best.performance is Performance.NO_MARGIN:
            yield owner(
                "state by how much accuracy and differences between groups may be worse, such as 1 "
                "and 5 of 100: --margin accuracy=0.01 --margin disparity=0.05."
            )
        if best.overturned and verdict is not CandidateVerdict.WORSE:  # they take back no harm
            what = "what is excluded, or what a warning puts in doubt"
            yield owner(f"complete {what}, and compare again.")
        for text in sentences.needed_sentences(best):
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
    made = _ModelsBrief(comparison)
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
        note = (
            f"Open: {made.times.before}; filled: {made.times.after}. Each is the share of the "
            "first group less that of the second: 0 is no difference, below 0 it happens less "
            "often to the first."
        )
        title = "How far apart groups are, in percentage points"
        yield Chart(title, tuple(rows), Unit.POINTS, neutral=0.0, notes=(note,))
