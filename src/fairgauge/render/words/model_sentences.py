"""Sentences of a comparison of models: what a candidate is against the model in use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import CandidateVerdict, Direction, Fairness, Performance, Status, Uncounted
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.render.words import numbers
from fairgauge.render.words.change_words import describe_rate_shift, rate_unit
from fairgauge.render.words.display_names import called, capitalised, group_called
from fairgauge.render.words.metric_words import ci_words, unit, with_unit
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.resolve.excluded_rows import unit_excluded
from fairgauge.results.comparison import (
    Candidate,
    DisparityChange,
    MarginTest,
    ModelComparison,
    RateChange,
)

_MOST_NEEDED = 1e6
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
_NOT_TESTED = "no margin is stated for its accuracy"


class Terms:
    """What rates and margins are called: by their titles, and in percentage points."""

    def rate(self, row: Statistic) -> str:
        """Return what a rate of all rows is called."""
        return row.title

    def own_rate(self, row: Statistic) -> str:
        """Return what a group's own rate is called."""
        return f"a group's own {row.title}"

    def margin(self, one: DisparityChange | MarginTest) -> str:
        """Return a margin with its unit: ``5.0 pp``, or of a ratio a share: ``5%``."""
        margin = one.margin or 0.0
        if one.by == "ratio":
            return f"{100 * margin:.3g}%"
        if isinstance(one, DisparityChange):
            return with_unit(margin, unit(one.definition))
        return with_unit(margin, rate_unit(one.change.definition))


TERMS = Terms()


def at_one_threshold(comparison: ModelComparison) -> ModelComparison:
    """Return the comparison without its score threshold, where there is one alone."""
    thresholds = comparison.spec.get("threshold")
    if isinstance(thresholds, list) and len(thresholds) > 1:
        return comparison

    def without(one: Any) -> Any:
        return replace(one, threshold=None)

    return with_changes(comparison, without, without)


def with_changes(
    comparison: ModelComparison,
    disparity: Callable[[DisparityChange], DisparityChange],
    of_group: Callable[[Any], Any],
) -> ModelComparison:
    """Return a comparison with other disparities, and other rates and reclassified groups."""

    def tested(test: MarginTest) -> MarginTest:
        return replace(test, change=of_group(test.change))

    candidates = (
        replace(
            each,
            disparities=tuple(map(disparity, each.disparities)),
            rates=tuple(map(of_group, each.rates)),
            margins=tuple(map(tested, each.margins)),
            groups=tuple(map(tested, each.groups)),
            reclassified=tuple(map(of_group, each.reclassified)),
        )
        for each in comparison.candidates
    )
    return replace(comparison, candidates=tuple(candidates))


def describe_candidate(each: Candidate, current: str, terms: Terms = TERMS) -> str:
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
    performance = _performance(each, terms)
    bad = (each.fairness in (Fairness.FAIRER, Fairness.MIXED)) != (
        each.performance in (Performance.NON_INFERIOR, Performance.NO_MARGIN)
    )
    joined = f"{fairness}, {'but' if bad else 'and'} {performance}"
    if each.performance is Performance.NO_MARGIN:
        joined = f"{fairness}; {performance}"
    small = _too_small(each) if each.verdict is CandidateVerdict.BETTER_WHERE_TESTED else {}
    without = numbers.listing(
        [f"{group}: {rows}" for group, rows in small.items()], most=len(small)
    )
    return f"{subject}: {joined}.{f' Not tested is {without}.' if small else ''}"


def _too_small(each: Candidate) -> dict[str, str]:
    """Return the groups that have insufficient data for a test, with these."""
    sizes: dict[tuple[str | None, str | None], float] = {
        (of.feature, of.group): of.n for of in each.reclassified if of.among == "all"
    }
    found: dict[str, str] = {}
    for one in each.untested:
        of = one.change if isinstance(one, MarginTest) else one
        rows = sizes.get((of.feature, of.group))
        on_reference = of.reason is not None and of.reason.side == "reference"
        if of.status is Status.OK or rows is None or on_reference:
            continue
        least = None if of.reason is None else of.reason.get("n")
        text = f"{numbers.count(rows)} {numbers.plural(int(rows), 'row', 'rows')}"
        if least is not None and least < rows and rows >= FEWEST_ROWS:
            text += f", {numbers.count(least)} of which it takes"
        found.setdefault(group_called(of.group, of.feature, apart=False), text)
    return found


def verdict_words(each: Candidate) -> str:
    """Return a candidate with its verdict in few words, and what keeps groups from differing."""
    verdict = _VERDICTS.get(each.verdict, str(each.verdict)).upper()
    why = "" if each.reason is None else f" ({describe_reason(each.reason)})"
    return f"{called(each.name)}: {verdict}{why}"


def better_words(names: list[str], current: str) -> str:
    """Return what it is to dominate: "new is better than old, and within all margins ..."."""
    who = f"{numbers.listing(names)} {numbers.plural(len(names), 'is', 'are')}"
    return f"{who} better than {current}, and within all margins that were set"


def _performance(each: Candidate, terms: Terms) -> str:
    """Return whether a candidate is as good, or better in every rate that has a margin."""
    if each.performance is Performance.NO_MARGIN:
        return _NOT_TESTED
    if all(test.better for test in each.margins):
        rates = numbers.listing([_rate_of(test, terms) for test in each.margins])
        return f"it is better in {rates}"
    by_margin: dict[str, list[str]] = {}
    for test in each.margins:
        if test.outcome is each.performance:
            by_margin.setdefault(terms.margin(test), []).append(_rate_of(test, terms))
    parts = [
        _PERFORMANCE[each.performance].format(
            rates=numbers.listing(rates), are=numbers.plural(len(rates), "is", "are"), margin=margin
        )
        for margin, rates in by_margin.items()
    ]
    return numbers.listing(parts)


def _rate_of(test: MarginTest, terms: Terms) -> str:
    at = "" if test.change.threshold is None else f" at threshold {test.change.threshold:g}"
    return f"{terms.rate(test.change.definition)}{at}"


def margins_kept(each: Candidate, terms: Terms = TERMS) -> Iterator[str]:
    """Yield the margins of a candidate that dominates, and what has none."""
    if each.verdict is not CandidateVerdict.DOMINATES:
        return
    by_margin: dict[str, dict[str, None]] = {}
    tested = [(terms.margin(test), _rate_of(test, TERMS)) for test in each.margins]
    tested += [(terms.margin(one), "every difference between groups") for one in each.disparities
               if one.outcome is not None]  # fmt: skip
    tested += [(terms.margin(t), terms.own_rate(t.change.definition)) for t in each.groups]
    for margin, what in tested:
        by_margin.setdefault(margin, {})[what] = None
    stated = (f"{margin} for {numbers.listing(list(what))}" for margin, what in by_margin.items())
    yield f"The margins limit changes for the worse, not what remains: {'; '.join(stated)}."
    if others := dict.fromkeys(terms.own_rate(one.definition) for one in without_margin(each)):
        yield f"Not judged, since no margin is stated: {numbers.listing(list(others))}."


def without_margin(each: Candidate) -> list[RateChange]:
    """Return the rates of groups of which no margin is stated."""
    held = {test.change.rate for test in each.groups}
    return [one for one in each.rates if one.feature is not None and one.rate not in held]


def beyond_margins(
    each: Candidate, outcomes: Iterable[Performance] = tuple(_MARGINS), terms: Terms = TERMS
) -> Iterator[str]:
    """Yield of how many disparities, and groups' own rates, the margins have an outcome."""
    if each.verdict is CandidateVerdict.NONE:
        return
    every = (
        ("difference between groups", "differences between groups",
         [one for one in each.disparities if one.outcome is not None]),
        ("group's own rate", "groups' own rates", each.groups),
    )  # fmt: skip
    for outcome in outcomes:
        parts: list[str] = []
        margins: list[str] = []
        for one, several, tests in every:
            held = [test for test in tests if test.outcome is outcome and not _is_smaller(test)]
            margins += [terms.margin(test) for test in held if test.margin is not None]
            if held:
                of = f"{len(tests):,} {numbers.plural(len(tests), one, several)}"
                parts.append(f"{len(held):,} of {of}")
        if parts:
            by = f" ({numbers.listing(list(dict.fromkeys(margins)), 'or')})" if margins else ""
            yield f"{_MARGINS[outcome]}{by}: {numbers.listing(parts)}."


def unmargined(each: Candidate) -> list[DisparityChange | MarginTest]:
    """Return what is not tested for want of a margin, but for what is shown to become smaller."""
    return [
        one
        for one in each.untested
        if one.outcome is Performance.NO_MARGIN and not _is_smaller(one)
    ]


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


def _within(asked: Iterable[DisparityChange]) -> str:
    """Return how many of the differences that became larger are within their margins."""
    larger = [one for one in asked if one.significant and one.direction is Direction.FURTHER]
    within = sum(one.outcome is Performance.NON_INFERIOR for one in larger)
    if within and within == len(larger):
        return " by less than " + numbers.plural(within, "its margin", "their margins")
    return f", {within:,} of them by less than the margin" if within else ""


def of_all(some: int, every: int) -> str:
    """Return how many of all differences: "all 3 differences between groups"."""
    if every == 1:
        return "the one difference between groups"
    all_ = "both" if every == 2 else f"all {every:,}"
    which = all_ if some == every else f"{some:,} of {every:,}"
    return f"{which} differences between groups"


def margin_outcome(test: MarginTest, margin: str) -> str:
    """Return what a margin shows, in few words."""
    outcome = {
        Performance.NON_INFERIOR: f"not worse by more than {margin}",
        Performance.INFERIOR: f"worse by more than {margin}",
        Performance.CANNOT_TELL: f"inconclusive whether it is worse by more than {margin}",
        Performance.NO_MARGIN: "",
    }[test.outcome]
    if test.overturned:  # the interval alone is within the margin
        outcome += ", because of rows that are excluded, or of what a warning puts in doubt"
    return f"better, so {outcome}" if test.better else outcome


def margin_sentence(test: MarginTest, candidates: int) -> str:
    """Return what a margin shows; of several candidates, with the interval that decides.

    The interval of a change is of its own, the outcome is adjusted for the number of candidates.
    """
    change = test.change
    words = capitalised(change.definition.title)
    kind = rate_unit(change.definition)
    margin = TERMS.margin(test)
    outcome = margin_outcome(test, margin)
    at = "" if change.threshold is None else f" at threshold {change.threshold:g}"
    if change.old is None or change.new is None:
        reason = describe_reason(change.reason) if change.reason else "it is undefined"
        return f"{words}{at}: {reason}."
    adjusted = ""
    if candidates > 1 and test.adjusted is not None:
        ends = ci_words(test.adjusted, kind, sign=True)
        p = numbers.probability(test.p_adjusted, "one-sided p")
        decides = [p, f"decided at {(1 - test.adjusted.level) / 2:.3g}"]
        if test.outcome is Performance.INFERIOR:
            decides = []
        if ends == ci_words(change.interval, kind, sign=True):
            ends = "the interval is the same"  # as in the last of Holm's steps
        parts = ", ".join([ends, *decides])
        adjusted = f" (adjusted for {candidates:,} candidates: {parts})"
    return f"{words}{at}: {describe_rate_shift(change)}: {outcome}{adjusted}."


def overturned_sentences(each: Candidate, excluded: Mapping[str, int], unit: str) -> Iterator[str]:
    """Yield that excluded or unclear rows keep something from being called better, and which."""
    if not each.overturned:
        return
    rows = list(_excluded(excluded, unit))
    if each.undecided:
        undecided = numbers.numbered(each.undecided, unit)
        rows.append(f"{undecided} that one of both models does not decide")
    what = "the rows that are excluded could overturn" if rows else "the warnings put in doubt"
    named = f": {numbers.listing(rows)}" if rows else ""
    yield f"What {what} does not count as better, or as within its margin{named}."


def _excluded(excluded: Mapping[str, int], unit: str) -> Iterator[str]:
    """Yield how much is excluded, with each reason, the most frequent first."""
    for reason, rows in sorted(excluded.items(), key=lambda each: -each[1]):
        if rows and reason != Uncounted.SAME_PERSON:
            yield f"{numbers.numbered(rows, unit_excluded(reason, unit))} ({called(reason)})"


def needed_sentences(each: Candidate) -> Iterator[str]:
    """Yield how many rows would decide the margins of rates that are open."""
    if each.verdict is not CandidateVerdict.CANNOT_TELL or each.reason is not None:
        return
    tests = [
        test
        for test in each.margins
        if test.outcome is Performance.CANNOT_TELL and not test.overturned
    ]
    if not tests:
        return
    shown = numbers.listing(list(dict.fromkeys(t.change.definition.title for t in tests)))
    rows_of_tests = [test.needed for test in tests if test.needed is not None]
    needed = max(rows_of_tests) if len(rows_of_tests) == len(tests) else None
    if needed is None:
        yield "If the changes are as estimated, no number of rows would show that it is better."
    elif needed > _MOST_NEEDED:
        yield "To determine it would take more rows than is practical at the estimated changes."
    else:
        rows = numbers.count(float(f"{needed:.2g}"))
        yield (
            f"About {rows} rows of this composition would decide {shown} with 80% power, if the "
            f"changes are as estimated; these data have {numbers.count(each.rows)}. Margins of "
            "disparities may take more."
        )
