"""What is drawn on the first page of an audit: dots beside its findings, and the grid of rules."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from fairgauge.catalogue.cells import TN, TP
from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.enums import AfterAdjusting, ClassKind, IntervalMethod, Outcome, ReferenceKind
from fairgauge.question.rules import limits_of
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import (
    Block,
    Cell,
    Chart,
    ChartRow,
    DotArray,
    DotArrays,
    GridCell,
    GridRule,
    Mark,
    RuleGrid,
    Unit,
)
from fairgauge.render.brief._compared_shares import ComparedShares
from fairgauge.render.brief._rules_in_words import (
    WHY_ON_ONE_SIDE,
    rule_in_words,
    rule_text,
    shares_of,
)
from fairgauge.render.brief._stated_findings import StatedFinding, disparities_of, led_by
from fairgauge.render.brief._vocabulary import Vocabulary, group_value, some
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.finding_sentences import adjusted_for_strata
from fairgauge.render.words.metric_words import metric_number, neutral, unit
from fairgauge.render.words.numbers import listing, plural
from fairgauge.render.words.verdict_sentences import describe_place, estimate_of, judged_groups
from fairgauge.results.disadvantage import adverse_sign
from fairgauge.results.disparities import gap, significant_strata
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.verdicts import RuleResult, Verdict, before_counting, reasons_of

_MOST_RULES, _MOST_ROWS = 2, 14
_GRAVEST_FIRST = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS)
_PER_HUNDRED = 100


def rule_grid(report: Report, words: Vocabulary) -> RuleGrid | None:
    """Return the rules of a report with what they come to for each group; None without rules.

    Of more rules than fit beside each other the gravest are shown, and of more rows the worst.
    """
    by_rule = list(report.by_rule)
    rules = sorted(by_rule, key=lambda each: _gravity(each.verdicts))[:_MOST_RULES]
    if not rules:
        return None
    if len(by_rule) <= _MOST_RULES:
        rules = by_rule
    rows: dict[tuple[str | None, tuple[str, ...]], list[Verdict | None]] = {}
    for i, each in enumerate(rules):
        for verdict in each.verdicts:
            if verdict.mirror is not None and (verdict.feature, (verdict.mirror,)) in rows:
                verdict = _from_the_other_side(verdict)
            groups = judged_groups(report, verdict)
            row = rows.setdefault((verdict.feature, groups), [None] * len(rules))
            row[i] = row[i] or verdict
    better = {key: _advantage(report, words, row) for key, row in rows.items()}
    kept = sorted(rows, key=lambda key: (_gravity(rows[key]), better[key]))[:_MOST_ROWS]
    kept.sort(key=better.__getitem__)
    features = [feature for feature, _ in rows if any(feature == key[0] for key in kept)]
    order = dict.fromkeys(each.feature for each in report.groups)
    parts = []
    for feature in sorted(dict.fromkeys(features), key=lambda f: [*order, f].index(f)):
        of_feature = [(key, rows[key]) for key in kept if key[0] == feature]
        title = _part_title(report, words, [v for _, row in of_feature for v in row if v])
        lines = tuple(
            (_row_head(words, *key), tuple(_cell(report, words, each) for each in row))
            for key, row in of_feature
        )
        parts.append((title, lines))
    cells = [cell for _, lines in parts for _, row in lines for cell in row if cell]
    numbers = {each.rule: i for i, each in enumerate(report.by_rule, 1)}
    return RuleGrid(
        "Every rule, every group" if len(kept) == len(rows) else "The groups that fare worst",
        tuple(_rule(report, words, each, numbers[each.rule]) for each in rules),
        tuple(parts),
        tuple(_notes(report, words, cells, rules, kept, rows)),
        legend=_LEGEND if any(cell.mark.low is not None for cell in cells) else "",
    )


def _from_the_other_side(verdict: Verdict) -> Verdict:
    """Return a verdict on one of two groups as one on the other, where its rule limits both alike.

    The rules of a row are then of the same group.
    """
    low, high = limits_of(verdict.rule)
    if low != -high or (verdict.value is None and verdict.interval is None):
        return verdict
    value = None if verdict.value is None else -verdict.value
    interval = verdict.interval
    turned = interval and replace(interval, low=-interval.high, high=-interval.low)
    return replace(
        verdict, group=verdict.mirror, mirror=verdict.group, value=value, interval=turned
    )


def _gravity(verdicts: Sequence[Verdict | None]) -> tuple[int, ...]:
    """Return how grave some verdicts are: the gravest first, fails that remain before others."""
    return min((_gravity_of(each) for each in verdicts if each), default=(len(_GRAVEST_FIRST), 0))


def _gravity_of(verdict: Verdict) -> tuple[int, int]:
    outcome = before_counting(verdict)
    place = _GRAVEST_FIRST.index(outcome) if outcome in _GRAVEST_FIRST else len(_GRAVEST_FIRST)
    return place, int(verdict.remains is False)


def _advantage(report: Report, words: Vocabulary, verdicts: Sequence[Verdict | None]) -> float:
    """Return how much better a group fares than its reference in the first rule: worst first."""
    for each in filter(None, verdicts):
        shares = shares_of(report, words, each)
        if shares is not None:
            adverse = adverse_sign(shares.row, words.favourable) or -1
            return -adverse * gap(shares.contrast)
    return 0.0


def _row_head(words: Vocabulary, feature: str | None, groups: Sequence[str]) -> Cell:
    """Return the groups of a row below the name of their feature."""
    if feature is None or not groups:
        return Cell(f"all {words.unit}" if feature is None else called(feature))
    named = [_group_head(words, feature, each) for each in groups]
    return Cell(
        listing([each.text for each in named]),
        below=listing([each.below for each in named if each.below]),
    )


def _group_head(words: Vocabulary, feature: str, group: str) -> Cell:
    """Return a group by its value where it has no name.

    A name that does not hold the value has it below, as tables call the group.
    """
    if feature not in words.words.groups:
        return Cell(group_value(group))
    value = called(group) if words.word_of(feature, group) else ""
    return Cell(words.group(feature, group), below=value)


def _part_title(report: Report, words: Vocabulary, verdicts: Sequence[Verdict]) -> str:
    """Return a feature, and who is compared in it: "race: each group and all other people"."""
    first = verdicts[0]
    if first.feature is None:
        return "The whole table"
    title = capitalised(words.feature(first.feature))
    if first.mirror is not None:
        sides = [each for each in (first.group, first.mirror) if each is not None]
        return f"{title}: {_row_head(words, first.feature, sides).text}"
    found = [estimate_of(report, v) for v in verdicts if not is_of_all_groups(v.definition)]
    others = {words.reference(each) for each in found if each is not None and each.reference}
    of_others = any(
        each is not None and each.reference and each.reference.kind is ReferenceKind.OTHERS
        for each in found
    )
    if of_others or len(others) != 1:
        return f"{title}: each group and all others" if of_others else title
    return f"{title}: each group and {others.pop()}"


def _cell(report: Report, words: Vocabulary, verdict: Verdict | None) -> GridCell | None:
    if verdict is None:
        return None
    low, high = verdict.interval or (None, None)
    value = metric_number(verdict.definition, verdict.value)
    shares = shares_of(report, words, verdict)
    found = shares.counts if shares is not None else None
    counts = value
    if found is not None and shares is not None:
        sides = (found.group, found.reference)
        if found.of == _PER_HUNDRED:
            counts = " v ".join(f"{each:,}" for each in sides)
        elif found.of is None:
            of = (side.size for side in shares.shares if side is not None and side.size)
            counts = " v ".join(f"{n:,}/{size:,}" for n, size in zip(sides, of, strict=True))
    if verdict.class_scope.kind is ClassKind.CLASS:
        counts += f", {called(verdict.class_scope.name)}"
    if verdict.threshold in words.decisions_by_cut:
        counts += f", at {verdict.threshold:g}"
    outcome = before_counting(verdict)
    sparse = outcome is Outcome.NOT_EVALUATED
    mark = Mark(verdict.value, low, high, sparse=sparse)
    notes: tuple[str, ...] = ("a",) if verdict.remains is False else ()
    if outcome is Outcome.FAIL and shares is not None:
        notes += ("b",) if shares.rate.worse(gap(shares.contrast)) is False else ()
    return GridCell(counts, mark, describe_place(verdict), outcome, notes)


def _rule(report: Report, words: Vocabulary, rule: RuleResult, number: int) -> GridRule:
    definition = rule.worst.definition
    in_words, text = rule_in_words(report, words, rule), rule_text(report, rule)
    head, below = (in_words, text) if in_words else (text, "")
    return GridRule(
        f"Rule {number}: {head}", below, unit(definition), neutral(definition), limits_of(rule.rule)
    )


def deciding_interval(report: Report, level: str = "") -> str:
    """Return which confidence interval of a comparison decides its rule, and which are others."""
    joint = {
        each.feature: IntervalMethod.TUKEY in each.interval.methods
        for each in report.verdicts
        if each.interval is not None
    }
    pairs = "for all pairs of groups together (Tukey)"
    named = listing([called(feature) for feature, held in joint.items() if held])
    also = f", and of {named} that {pairs}," if named else ""
    which = pairs if named and all(joint.values()) else f"of each comparison by itself{also}"
    beside = ""
    if any(each.simultaneous for each in report.estimates):
        beside = "; those under “How certain this is” are for all comparisons together"
    return f"The {level}CI {which} decides its rule{beside}."


def _notes(
    report: Report,
    words: Vocabulary,
    cells: Sequence[GridCell],
    rules: Sequence[RuleResult],
    kept: Sequence[object],
    rows: Mapping[tuple[str | None, tuple[str, ...]], Sequence[Verdict | None]],
) -> Iterator[str]:
    shown_verdicts = [each for rule in rules for each in rule.verdicts]
    levels = {each.interval.level for each in shown_verdicts if each.interval is not None}
    if levels:
        of_100 = [cell.counts for cell in cells if " v " in cell.counts and "/" not in cell.counts]
        of_classes = [each for each in shown_verdicts if each.class_scope.kind is ClassKind.CLASS]
        stated = (shares_of(report, words, each) for each in of_classes)
        sentences = [text for each in stated if each is not None and (text := each.sentence())]
        whose = sentences[0] if sentences else "of 100 in the group v of 100 it is compared with."
        counted = [f"{each}: {whose} " for each in of_100]
        level = f"{100 * min(levels):.4g}% "
        yield f"{''.join(counted[:1])}{deciding_interval(report, level)}"
    if any(each.alternatives for each in shown_verdicts):
        yield "Of a rule with “or” the first limit alone is shown; any of them suffices."
    outcomes = {cell.outcome for cell in cells}
    open_ones = (each for each in shown_verdicts if each.outcome is Outcome.INCONCLUSIVE)
    codes = {reason.code for each in open_ones for reason in reasons_of(each)}
    also = "".join(f", or {text}" for code, text in _BESIDE_THE_LINE.items() if code in codes)
    undecided = {
        Outcome.INCONCLUSIVE: f"Inconclusive: the CI reaches both sides of the limit{also}.",
        Outcome.NOT_EVALUATED: "Not evaluated: the data do not suffice, or there is no CI.",
    }
    if meanings := [text for outcome, text in undecided.items() if outcome in outcomes]:
        yield " ".join(meanings)
    letters = {letter for cell in cells for letter in cell.notes}
    if "a" in letters:
        yield "a fails alone, but not when all comparisons are judged together."
    if "b" in letters:
        yield "b outside the limit because the group is better off, not worse."
    kinds = {each.class_scope.kind for each in shown_verdicts}
    if ClassKind.SELECTION in kinds:
        yield "Each cell is of the cut of the order that decides, which Rules names."
    if ClassKind.CLASS in kinds:
        yield "Each cell is of the class that decides."
    if any(each.threshold in words.decisions_by_cut for each in shown_verdicts):
        yield "Each cell is of the threshold that decides."
    more_rules, more_rows = len(report.by_rule) - len(rules), len(rows) - len(kept)
    for count, noun in ((more_rules, "rule"), (more_rows, "row")):
        if count > 0:
            yield f"{count:,} more {noun}{'s' if count > 1 else ''} under Rules."


_LEGEND = "Green: allowed. Dot and line: the value and its CI."
_BESIDE_THE_LINE = {
    **WHY_ON_ONE_SIDE,
    ReasonCode.MISSING_GROUPS: "rows without a group could change what it shows",
    ReasonCode.MISSING_OUTCOMES: "rows without an outcome could change what it shows",
}
"""Why a rule is inconclusive although the line is on one side of its limit."""
_DOTS = 100


def reversed_features(report: Report) -> set[str | None]:
    """Return the features of which the brief states that a difference reverses within strata."""
    led = led_by(disparities_of(report, Vocabulary.of_report(report)))
    return {
        each.finding.estimate.feature
        for each in led
        if each.after_adjusting is AfterAdjusting.REVERSES
    }


def group_names(report: Report) -> dict[tuple[str | None, str | None], str]:
    """Return what the first page calls groups that tables call by another name, their value."""
    words = Vocabulary.of_report(report)
    groups = {(each.feature, each.group) for each in report.groups}
    return {each: word for each in groups if (word := words.word_of(*each))}


def audit_exhibits(report: Report, elsewhere: str) -> Iterator[Block]:
    """Yield an array of dots for each finding of the brief, and the grid of rules.

    Numbers for which there is no room are ``elsewhere``.
    """
    words = Vocabulary.of_report(report)
    led = led_by(disparities_of(report, words))
    for each in led:
        if each.shares is not None and (arrays := dot_arrays(each.shares, each.sentence())):
            yield arrays
    for each in led[:1]:
        yield from _strata_chart(each, elsewhere)
    if (grid := rule_grid(report, words)) is not None:
        yield grid


def _strata_chart(found: StatedFinding, elsewhere: str) -> Iterator[Chart]:
    """Yield the shares of both groups in the largest strata that a difference is adjusted for."""
    shares, inside = found.shares, found.strata
    if shares is None or shares.event is None or found.sentence_within() is None:
        return
    largest = sorted(inside, key=lambda each: -(each.n_group or 0) - (each.n_reference or 0))
    largest = largest[:_MOST_ROWS]
    rows = []
    for each in [each for each in inside if each in largest]:
        sides = [(each.rate_group, each.n_group), (each.rate_reference, each.n_reference)]
        (mine, n), (theirs, of) = reversed(sides) if shares.turned else sides
        if mine is None or theirs is None or n is None or of is None:
            continue
        rows.append(
            ChartRow(
                called(each.stratum),
                Mark(mine),
                f"{100 * mine:.0f} v {100 * theirs:.0f} of 100",
                f"{n:,.0f} v {of:,.0f}",
                before=Mark(theirs),
            )
        )
    if rows:
        one, other = (shares.rate.among(some(each)) for each in (shares.subject, shares.other))
        yield Chart(
            f"Within {found.column}: how many of 100 {shares.event.happened}",
            tuple(rows),
            Unit.PERCENT,
            notes=(
                f"{rows[0].text}: {one} v {other}; {rows[0].below}: their numbers.",
                *_not_drawn(inside, {row.label for row in rows}, elsewhere),
            ),
            legend=f"Filled: {one}; open: {other}.",
        )


def _not_drawn(inside: Sequence[Estimate], drawn: Container[str], elsewhere: str) -> Iterator[str]:
    """Yield how many strata have no row, and in which of these a difference is shown."""
    others = [each for each in inside if called(each.stratum) not in drawn]
    if not others:
        return
    yield (
        f"The {len(inside) - len(others):,} largest of {len(inside):,} strata with rows of both "
        f"sides; the {plural(len(others), 'other is', 'others are')} {elsewhere}."
    )
    significant = [each for each in significant_strata(inside) if each in others]
    if significant:
        significant.sort(key=lambda each: -abs(gap(each)))
        yield (
            "Not drawn, and statistically significant by itself "
            f"({adjusted_for_strata(inside, len(inside))}): "
            f"{listing([called(each.stratum) for each in significant])}."
        )


def dot_arrays(shares: ComparedShares, sentence: str) -> DotArrays | None:
    """Return both sides as dots, a hundred each; None where they are not stated of 100."""
    found = shares.counts if shares.rate.known else None
    if found is None or found.of != _DOTS:
        return None
    event = shares.event
    if event is None:
        filled, rest = shares.words.fits
        if shares.row.of != TP + TN:
            filled, rest = rest, filled
    else:
        filled, rest = event.happened, shares.opposite
    ringed = 0
    if shares.is_worse:
        ringed = found.reference - found.group
    gap = "the gap between the two" if ringed else ""
    sides = ((shares.subject, found.group, ringed), (shares.other, found.reference, 0))
    arrays = tuple(
        DotArray(
            count,
            rings,
            f"of 100 {shares.rate.among(some(people))}",
            f"{side.hits:,} of {side.size:,}" if side and side.hits is not None else "",
            f"Of 100 {shares.rate.among(some(people))}, {count} {filled}",
        )
        for (people, count, rings), side in zip(sides, shares.shares, strict=True)
    )
    return DotArrays(sentence, (arrays[0], arrays[1]), (filled, gap, rest))
