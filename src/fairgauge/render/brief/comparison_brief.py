"""The brief of a comparison of two reports: what changed, how certain that is, and what next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import Direction, Outcome, ReferenceKind, Turn
from fairgauge.reasons import ReasonCode
from fairgauge.render.brief._changed_shares import FoundChange, Times, changed_shares, each_once
from fairgauge.render.brief._next_steps import analyst
from fairgauge.render.brief._vocabulary import (
    ANY_DECISION,
    NO_CHANGE_SHOWN,
    UNFAIR,
    NamedGroup,
    Vocabulary,
    interval_in_words,
    without_outcome,
)
from fairgauge.render.words.display_names import called, file_of, printable
from fairgauge.render.words.numbers import count, listing, numbered, plural
from fairgauge.render.words.question_sentences import OUTCOMES, counts_people
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.render.words.verdict_sentences import outcome_word, subject_called
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.comparison import Comparison, Origin, sort_changes

_NEEDED = (*OUTCOMES, "weight", "count")
_MANY = 0.01
"""The share of rows that lack one of these from which it is stated beside the verdict."""
_MOST_FINDINGS, _MOST_STEPS, _MOST_NAMED = 2, 3, 4
_TIMES = Times(
    "in the old report",
    "in the new report",
    "in the new report than in the old one",
    "in the new report, the reverse of the old one",
)


def comparison_brief(comparison: Comparison) -> Brief:
    """Return the brief of a comparison of two reports."""
    words = vocabulary_of(comparison)
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


def vocabulary_of(comparison: Comparison) -> Vocabulary:
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
    untested = len(sort_changes(comparison).untested)
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
        yield Sentence(_numbers(comparison), ("changes",))


def _numbers(comparison: Comparison) -> str:
    """Return in a sentence how many disparities went where."""
    changes = sort_changes(comparison)
    if comparison.why_untested:
        directions = [each.direction for each in changes.moved]
        counts = [
            (directions.count(Direction.FURTHER), "became larger"),
            (directions.count(Direction.CLOSER), "became smaller"),
            (directions.count(Direction.AS_FAR), "as large as before"),
            (directions.count(None), "changed"),
        ]
    else:
        counts = [
            (len(changes.further), "became statistically significantly larger"),
            (len(changes.closer), "became statistically significantly smaller"),
            (
                len(changes.changed),
                "changed statistically significantly, not shown to be larger or smaller",
            ),
            (len(changes.moved), "changed, not statistically significantly"),
            (len(changes.untested), "changed, not tested"),
        ]
    counts += [
        (len(changes.undefined), "with a value in one report only"),
        (len(changes.stayed), "unchanged"),
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
    stated = [(each, text) for each in found[:_MOST_FINDINGS] if (text := each.interval())]
    yield from (Sentence(text, each.source) for each, text in stated)
    levels = {e.change.interval.level for e, _ in stated if e.change.interval is not None}
    yield from (Sentence(f"{interval_in_words(level)}.") for level in sorted(levels))
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
