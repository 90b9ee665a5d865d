"""Sentences of a comparison of models: what a candidate is against the model in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairgauge.enums import CandidateVerdict, Direction, Performance, Status, Uncounted
from fairgauge.render.words import numbers
from fairgauge.render.words.change_words import describe_rate_shift, rate_unit, scope_words
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import ci_words, unit, with_unit
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.resolve.excluded_rows import unit_excluded
from fairgauge.results.changes import DisparityChange
from fairgauge.results.comparison import Candidate, MarginTest

_MOST_NEEDED, _MOST_NAMED = 1e6, 8
_PERFORMANCE = {
    Performance.NON_INFERIOR: "{rates} {are} not worse by more than {margin}",
    Performance.INFERIOR: "{rates} {are} worse by more than {margin}",
    Performance.CANNOT_TELL: "it is inconclusive whether {rates} {are} worse by more than {margin}",
}
_MARGINS = {
    Performance.INFERIOR: "Worse by more than the margin",
    Performance.CANNOT_TELL: "Possibly worse by more than the margin",
    Performance.NO_MARGIN: "Possibly worse, without a margin",
}
_VERDICTS = {CandidateVerdict.DOMINATES: "better, within all margins"}
"""Verdicts in other words than those of programs."""


def margin_words(one: DisparityChange | MarginTest) -> str:
    """Return a margin with its unit: ``5.0 pp``, or of a ratio a share: ``5%``."""
    margin = one.margin or 0.0
    if one.by == "ratio":
        return f"{100 * margin:.3g}%"
    if isinstance(one, DisparityChange):
        return with_unit(margin, unit(one.definition))
    return with_unit(margin, rate_unit(one.change.definition))


def describe_candidate(each: Candidate, current: str) -> str:
    """Return the verdict on a candidate as a sentence."""
    subject = {
        CandidateVerdict.DOMINATES: better_words([called(each.name)], current),
        CandidateVerdict.BETTER_WHERE_TESTED: f"{called(each.name)} is better than {current} in "
        "what could be tested",
        CandidateVerdict.TRADE_OFF: f"{called(each.name)} is a trade-off against {current}",
        CandidateVerdict.WORSE: f"{called(each.name)} is worse than {current}",
        CandidateVerdict.CANNOT_TELL: f"Whether {called(each.name)} is better than {current} is "
        "inconclusive",
        CandidateVerdict.NONE: f"{called(each.name)} against {current}",
    }[each.verdict]
    fairness = _fairness(each) if each.reason is None else describe_reason(each.reason)
    return f"{subject}: {fairness}; {_performance(each)}."


def verdict_words(each: Candidate) -> str:
    """Return a candidate with its verdict in few words, and what keeps groups from differing."""
    verdict = _VERDICTS.get(each.verdict, str(each.verdict)).upper()
    why = "" if each.reason is None else f" ({describe_reason(each.reason)})"
    return f"{called(each.name)}: {verdict}{why}"


def better_words(names: list[str], current: str) -> str:
    """Return what it is to dominate: "new is better than old, and within all margins ..."."""
    who = f"{numbers.listing(names)} {numbers.plural(len(names), 'is', 'are')}"
    return f"{who} better than {current}, and within all margins that were set"


def _performance(each: Candidate) -> str:
    """Return whether a candidate is as good, or better in every rate that has a margin."""
    if each.performance is Performance.NO_MARGIN:
        return "no margin is stated for its accuracy"
    if all(test.better for test in each.margins):
        return f"it is better in {numbers.listing([_rate_of(test) for test in each.margins])}"
    by_margin: dict[str, list[str]] = {}
    for test in each.margins:
        if test.outcome is each.performance:
            by_margin.setdefault(margin_words(test), []).append(_rate_of(test))
    parts = [
        _PERFORMANCE[each.performance].format(
            rates=numbers.listing(rates), are=numbers.plural(len(rates), "is", "are"), margin=margin
        )
        for margin, rates in by_margin.items()
    ]
    return numbers.listing(parts)


def _rate_of(test: MarginTest) -> str:
    at = "" if test.change.threshold is None else f" at threshold {test.change.threshold:g}"
    return f"{test.change.definition.title}{at}"


def margins_kept(each: Candidate) -> Iterator[str]:
    """Yield the margins of a candidate that dominates, and which rates of groups have none."""
    if each.verdict is not CandidateVerdict.DOMINATES:
        return
    by_margin: dict[str, dict[str, None]] = {}
    tested = [(margin_words(test), _rate_of(test)) for test in each.margins]
    tested += [(margin_words(one), "every difference between groups") for one in each.disparities
               if one.outcome is not None]  # fmt: skip
    tested += [(margin_words(t), f"a group's own {t.change.definition.title}") for t in each.groups]
    for margin, what in tested:
        by_margin.setdefault(margin, {})[what] = None
    stated = (f"{margin} for {numbers.listing(list(what))}" for margin, what in by_margin.items())
    yield f"The margins limit changes for the worse, not what remains: {'; '.join(stated)}."
    held = {test.change.rate for test in each.groups}
    others = dict.fromkeys(
        f"a group's own {one.definition.title}"
        for one in each.rates
        if one.feature is not None and one.rate not in held
    )
    if others:
        yield f"Not judged, since no margin is stated: {numbers.listing(list(others))}."


def beyond_margins(each: Candidate) -> Iterator[str]:
    """Yield of how many disparities, and groups' own rates, the margins have an outcome."""
    if each.verdict is CandidateVerdict.NONE:
        return
    every = (
        ("difference between groups", "differences between groups",
         [one for one in each.disparities if one.outcome is not None]),
        ("group's own rate", "groups' own rates", each.groups),
    )  # fmt: skip
    for outcome, words in _MARGINS.items():
        parts: list[str] = []
        margins: list[str] = []
        for one, several, tests in every:
            held = [test for test in tests if test.outcome is outcome and not _is_smaller(test)]
            margins += [margin_words(test) for test in held if test.margin is not None]
            if held:
                of = f"{len(tests):,} {numbers.plural(len(tests), one, several)}"
                parts.append(f"{len(held):,} of {of}")
        if parts:
            by = f" ({numbers.listing(list(dict.fromkeys(margins)), 'or')})" if margins else ""
            yield f"{words}{by}: {numbers.listing(parts)}."


def untested_sentences(each: Candidate) -> Iterator[str]:
    """Yield who keeps a better candidate from being so within all margins, and why."""
    if each.verdict is not CandidateVerdict.BETTER_WHERE_TESTED:
        return
    whose: dict[str, dict[str, None]] = {}
    for one in each.untested:
        of = one.change if isinstance(one, MarginTest) else one
        why = f"Not shown to be within the margin of {margin_words(one)}"
        if of.status is not Status.OK:
            why = "Insufficient data"
        elif one.outcome is Performance.NO_MARGIN:
            why = "No margin is stated (margins, --margin disparity=0.05)"
        who = "overall" if of.feature is None else f"{called(of.group)} ({called(of.feature)})"
        who += scope_words(of.scope, of.class_scope, of.threshold)
        whose.setdefault(why, {})[who] = None
    for why, names in whose.items():
        yield f"{why}: {numbers.listing(list(names), most=_MOST_NAMED)}."


def _is_smaller(test: DisparityChange | MarginTest) -> bool:
    """Return whether a disparity is shown to become smaller, which needs no margin."""
    if not isinstance(test, DisparityChange):
        return False
    return test.significant and test.direction is Direction.CLOSER and not test.overturned


def _fairness(each: Candidate) -> str:
    """Return how many disparities move statistically significantly, and where to."""
    asked = [one for one in each.disparities if one.outcome is not None]
    went = [one.direction for one in asked if one.significant]
    closer, further = went.count(Direction.CLOSER), went.count(Direction.FURTHER)
    changed = [one for one in asked if one.changed]
    if not went and changed:
        crossed = sum(one.other_side for one in changed)
        sides = f" ({crossed:,} to the other side)" if crossed else ""
        return (
            f"{of_all(len(changed), len(asked))} changed{sides}, none shown to be smaller or larger"
        )
    if not went:
        return "no difference between groups is shown to change"
    if not closer:
        return f"{of_all(further, len(asked))} became larger{_within(asked)}"
    smaller = f"{of_all(closer, len(asked))} became smaller"
    if closer == len(asked):
        return smaller
    if not further:
        return f"{smaller}, none is shown to be larger"
    are = numbers.plural(further, "is", "are")
    return f"{smaller}, {further:,} {are} shown to be larger{_within(asked)}"


def _within(asked: list[DisparityChange]) -> str:
    """Return how many of the differences that became larger are within their margins."""
    larger = [one for one in asked if one.significant and one.direction is Direction.FURTHER]
    within = sum(one.outcome is Performance.NON_INFERIOR for one in larger)
    return f", {within:,} of them by less than the margin" if within else ""


def of_all(some: int, every: int) -> str:
    """Return how many of all differences: "all 3 differences between groups"."""
    if every == 1:
        return "the one difference between groups"
    which = f"all {every:,}" if some == every else f"{some:,} of {every:,}"
    return f"{which} differences between groups"


def margin_sentence(test: MarginTest, candidates: int) -> str:
    """Return what a margin shows; of several candidates, with the interval that decides.

    The interval of a change is of its own, the outcome is adjusted for the number of candidates.
    """
    change = test.change
    words = capitalised(_rate_of(test))
    if change.old is None or change.new is None:
        reason = describe_reason(change.reason) if change.reason else "it is undefined"
        return f"{words}: {reason}."
    margin = margin_words(test)
    outcome = {
        Performance.NON_INFERIOR: f"not worse by more than {margin}",
        Performance.INFERIOR: f"worse by more than {margin}",
        Performance.CANNOT_TELL: f"inconclusive whether it is worse by more than {margin}",
        Performance.NO_MARGIN: "",
    }[test.outcome]
    if test.overturned:  # the interval alone is within the margin
        outcome += ", because of rows that are excluded, or of what a warning puts in doubt"
    if test.better:
        outcome = f"better, so {outcome}"
    adjusted = ""
    if candidates > 1 and test.adjusted is not None:
        ends = ci_words(test.adjusted, rate_unit(change.definition), sign=True)
        p = numbers.probability(test.p_adjusted, "one-sided p")
        adjusted = f" (adjusted for {candidates:,} candidates: {ends}, {p})"
    return f"{words}: {describe_rate_shift(change)}: {outcome}{adjusted}."


def overturned_sentences(each: Candidate, excluded: Mapping[str, int], unit: str) -> Iterator[str]:
    """Yield that excluded or unclear rows keep something from being called better, and which."""
    if not each.overturned:
        return
    rows = [
        f"{numbers.numbered(n, unit_excluded(reason, unit))} ({called(reason)})"
        for reason, n in sorted(excluded.items(), key=lambda each: -each[1])
        if n and reason != Uncounted.SAME_PERSON
    ]
    if each.undecided:
        undecided = numbers.numbered(each.undecided, unit)
        rows.append(f"{undecided} that one of both models does not decide")
    what = "the rows that are excluded could overturn" if rows else "the warnings put in doubt"
    named = f": {numbers.listing(rows)}" if rows else ""
    yield f"What {what} does not count as better, or as within its margin{named}."


def needed_sentences(each: Candidate) -> Iterator[str]:
    """Yield how many rows would decide the margins of rates that are open."""
    tests = [
        test
        for test in each.margins
        if test.outcome is Performance.CANNOT_TELL and not test.overturned
    ]
    if each.verdict is not CandidateVerdict.CANNOT_TELL or each.reason is not None or not tests:
        return
    needed = max(test.needed or float("inf") for test in tests)
    if needed > _MOST_NEEDED:
        yield "To determine it would take more rows than is practical at the estimated changes."
        return
    shown = numbers.listing(list(dict.fromkeys(test.change.definition.title for test in tests)))
    rows = numbers.count(float(f"{needed:.2g}"))
    yield (
        f"About {rows} rows of this composition would decide {shown} with 80% power, if the "
        f"changes are as estimated; these data have {numbers.count(each.rows)}. Margins of "
        "disparities may take more."
    )
