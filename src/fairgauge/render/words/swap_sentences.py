"""Sentences about audits by swapped names: differences, their verdicts, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fairgauge.errors import quote
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, group_called
from fairgauge.results.name_swaps import (
    AnsweredShare,
    PairsAudit,
    PlaceboSpread,
    SwapDifference,
    SwapNote,
    SwapNoteCode,
    SwapReason,
    SwapVerdict,
)

_MOST_DECIMALS = 6
_ALL_MODELS = "all models"
_FAR_APART = 0.05
"""Shares of missing answers that differ by more are shown with what was found."""
LIMITATIONS = (
    "Names signal more than one attribute: class, age and origin as well as the group.",
    "Answers to prompts are not decisions in use.",
    "A difference is a measured fact; whether it is unfair depends on its context and causes.",
)
"""What no audit by swapped names shows."""


def verdict_words(audit: PairsAudit) -> str:
    """Return what an audit came to, in few words; of releases, the newest and its change."""
    text = _verdict_words(audit.newest(audit.distinct)).upper()
    if not audit.releases:
        return text
    text = f"{called(audit.releases[-1])}: {text}"
    changes = audit.newest(audit.distinct_changes)
    if not changes:
        return text
    how = {SwapVerdict.DIFFERS: "changed", SwapVerdict.EQUIVALENT: "unchanged"}
    changed = how.get(audit.change or SwapVerdict.CANNOT_TELL, "cannot tell whether it changed")
    return f"{text}; {changed.upper()} since {called(changes[0].since)}"


def _verdict_words(differences: Sequence[SwapDifference]) -> str:
    differing = [each for each in differences if each.verdict is SwapVerdict.DIFFERS]
    if differing:
        return _differs_words(differing[0])
    if all(each.verdict is SwapVerdict.EQUIVALENT for each in differences):
        return f"equivalent within {margin_text(differences[0])}"
    return "cannot tell"


def _differs_words(difference: SwapDifference) -> str:
    variance = difference.variance
    edits = variance is not None and variance.placebo is not None
    verb = "differs" if difference.since is None else "changed"
    return f"{verb} beyond {'placebo' if edits else 'names and items'}"


def badge(d: SwapDifference) -> str:
    """Return a verdict in a word."""
    changed = {SwapVerdict.DIFFERS: "changed", SwapVerdict.EQUIVALENT: "unchanged"}
    return str(d.verdict) if d.since is None else changed.get(d.verdict, str(d.verdict))


def describe_difference(difference: SwapDifference) -> str:
    """Return a difference as sentences: its value, its verdict and the reason."""
    parts = [value_sentence(difference), _verdict_sentence(difference)]
    return " ".join(part for part in parts if part)


def names_of(count: int, group: str, feature: str) -> str:
    """Return how many names of which group, as a subject: ``6 names of Black (race)``."""
    who = "other groups" if group == "others" else group_called(group, feature)
    return f"{numbers.numbered(count, 'names')} of {who}"


def value_sentence(d: SwapDifference) -> str:
    """Return a difference with its confidence interval, without its verdict."""
    group = names_of(d.variants_group, d.group, d.feature)
    reference = names_of(d.variants_reference, d.reference, d.feature)
    if d.since is not None:
        return _change_sentence(d, group, reference)
    where = f"{model_called(d)}: " if d.model is not None or d.pooled else ""
    if d.value is None or d.mean_group is None or d.mean_reference is None:
        other = "other groups" if d.reference == "others" else called(d.reference)
        return f"{where}No item was answered under names of both {called(d.group)} and {other}."
    items = _items(d)
    selected = d.of_decisions
    many = d.variants_group != 1
    if d.value == 0:
        verb = ("are" if many else "is") + " selected as often as" if selected else (
            f"{'score' if many else 'scores'} the same as")  # fmt: skip
    elif selected:
        verb = f"{'are' if many else 'is'} selected {'less' if d.value < 0 else 'more'} often than"
    else:
        verb = f"{'score' if many else 'scores'} {'lower' if d.value < 0 else 'higher'} than"
    beside = f"{level_text(d, d.mean_group)} vs {level_text(d, d.mean_reference)}"
    adjusted = "" if d.complete else "adjusted for items: "
    ratio = "" if d.ratio is None else f"; ratio {numbers.ratio_amount(d.ratio, 2)}"
    change = f"({adjusted}{change_text(d, d.value)}{_interval(d)}{ratio})"
    if (d.mean_group - d.mean_reference) * d.value < 0:  # the verb is of what is adjusted
        change = f"{change}, before that {beside}"
        return f"{where}{group} {verb} {reference} on the same {items} {change}."
    return f"{where}{group} {verb} {reference} on the same {items}: {beside} {change}."


def _items(d: SwapDifference) -> str:
    items = numbers.numbered(d.items, "items")
    return items if d.families is None else f"{items} of {numbers.numbered(d.families, 'families')}"


def _change_sentence(d: SwapDifference, group: str, reference: str) -> str:
    """Return by how much a difference changed between two releases."""
    then, now = called(d.since), called(d.model)
    if d.value is None or d.before is None:
        return (
            f"{now}: no item was answered under the same names of both {called(d.group)} and "
            f"{called(d.reference)} as in {then}."
        )
    items = _items(d)
    adjusted = "" if d.complete else "adjusted for items: "
    sizes = (
        f"difference {change_text(d, d.before)} in {then}, "
        f"{change_text(d, d.before + d.value)} in {now} "
        f"({adjusted}change {change_text(d, d.value)}{_interval(d)})"
    )
    return f"{now} since {then}: {group} against {reference}, on the same {items}: {sizes}."


def model_called(d: SwapDifference) -> str:
    """Return the model that a difference is of."""
    return _ALL_MODELS.capitalize() if d.pooled else called(d.model)


def _interval(d: SwapDifference) -> str:
    if d.low is None or d.high is None:
        return ", no confidence interval"
    level = f"{100 * d.confidence:.4g}% CI"
    return f", {level} {change_text(d, d.low, name=False)} to {change_text(d, d.high)}"


def _verdict_sentence(d: SwapDifference) -> str:
    if d.verdict is SwapVerdict.DIFFERS:
        return f"{_differs_words(d).upper()} ({numbers.probability(d.p_adjusted, 'adjusted p')})."
    if d.verdict is SwapVerdict.EQUIVALENT:
        p = numbers.probability(d.p_equivalence, "adjusted one-sided p")
        word = "EQUIVALENT" if d.since is None else "UNCHANGED"
        text = f"{word} within {margin_text(d)} ({p})."
        if d.p_adjusted is not None and d.p_adjusted <= 1 - d.confidence:
            apart = numbers.probability(d.p_adjusted, "adjusted p")
            text += f" Within the margin, the difference is statistically significant ({apart})."
        return text
    assert d.reason is not None
    return " ".join(filter(None, [f"CANNOT TELL: {_REASONS[d.reason](d)}.", _needed_sentence(d)]))


def _needed_sentence(d: SwapDifference) -> str:
    """Return what would decide, the cheapest first."""
    if d.reason is not SwapReason.IMPRECISE:
        return ""
    needed = d.needed
    if needed is None:
        return "To decide this would take more names, items or runs than is practical."
    ways = {
        "names": f"{numbers.count(needed.names)} names a side",
        "items": f"{numbers.count(needed.items)} {'items' if d.families is None else 'families'}",
        "runs": f"{numbers.count(needed.runs)} answers to each item under each name",
    }
    enough = [what for what in ways if getattr(needed, what) is not None]
    enough.sort(key=lambda what: what != needed.cheapest)
    listed = numbers.listing([ways[what] for what in enough], "or")
    alike = [what for what in ways if what not in enough]
    not_enough = [f"more {what}" for what in alike if what != "runs" or needed.runs_known]
    alone = f" ({numbers.listing(not_enough, 'or')} alone would not)" if not_enough else ""
    return (
        f"About {listed} would probably decide it{alone}, with 80% power, if the values are as "
        "estimated."
    )


def _side_of_fewest(d: SwapDifference) -> str:
    fewest = min(d.variants_group, d.variants_reference)
    sides = [
        group_called(name, d.feature)
        for name, n in ((d.group, d.variants_group), (d.reference, d.variants_reference))
        if n == fewest
    ]
    verb = "has" if len(sides) == 1 else "have"
    return f"{numbers.listing(sides)} {verb}"


def _imprecise(d: SwapDifference) -> str:
    text = (
        f"the {'difference' if d.since is None else 'change'} is not statistically significant "
        f"({numbers.probability(d.p_adjusted, 'adjusted p')})"
    )
    if d.low is not None and d.high is not None and not d.low <= 0 <= d.high:
        text += ", though the confidence interval of this comparison alone excludes 0"
    if d.margin is None:
        return f"{text}; this does not show that there is none"
    p = numbers.probability(d.p_equivalence, "adjusted one-sided p")
    level = f"{(1 - d.confidence) / 2:.3g}"
    if d.low is not None and d.high is not None and -d.margin < d.low and d.high < d.margin:
        alone = "the confidence interval of this comparison alone is within the margin, but "
        return (
            f"{text}; {alone}adjusted for all comparisons equivalence is "
            f"not shown ({p}, above {level})"
        )
    return f"{text}, and equivalence within {margin_text(d)} is not shown ({p}, above {level})"


_REASONS: dict[SwapReason, Callable[[SwapDifference], str]] = {
    SwapReason.ONE_VARIANT: lambda d: (
        f"{_side_of_fewest(d)} one name, so that group and name cannot be separated; the "
        "confidence interval is of these names alone"
    ),
    SwapReason.FEW_VARIANTS: lambda d: (
        f"{_side_of_fewest(d)} two names; a verdict needs at least 3 names of each side"
    ),
    SwapReason.FEW_ITEMS: lambda d: (
        f"a verdict needs at least 3 {'items' if d.families is None else 'families of items'} with "
        f"names of both sides, not {d.units}"
    ),
    SwapReason.NO_ITEMS: lambda d: (
        f"no item has names of both sides{'' if d.since is None else ' in both releases'}"
    ),
    SwapReason.NO_VARIATION: lambda d: (
        f"the {'answers' if d.since is None else 'changes of the answers'} do not vary by name or "
        "item, so that their variation cannot be estimated"
    ),
    SwapReason.UNEQUAL_ANSWERS: lambda d: (
        f"the answers given are equivalent within {margin_text(d)}, but answers are missing more "
        "often under names of one side than of the other "
        f"({numbers.probability(d.p_missing, 'adjusted p')}), and could move the difference beyond "
        "the margin; ask for them again, and exclude items that were not asked under all names"
    ),
    SwapReason.UNCLEAR_ANSWERS: lambda d: (
        f"the decisions are equivalent within {margin_text(d)} as they are counted, but a "
        "warning states what may be wrong with them"
    ),
    SwapReason.IMPRECISE: _imprecise,
}


def describe_spread(spread: PlaceboSpread) -> str:
    """Return how far irrelevant edits and names move the answers."""
    where = _ALL_MODELS.capitalize() if spread.pooled else called(spread.model)
    edits = numbers.numbered(spread.variants, "irrelevant edits")
    text = "" if spread.model is None and not spread.pooled else f"{where}: "
    if spread.spread is None:
        return f"{text}{edits}, whose variation cannot be estimated."
    text += f"{edits} vary by SD {numbers.amount(spread.spread, 2)}"
    if spread.spread_names is not None:
        text += f", names within a group by SD {numbers.amount(spread.spread_names, 2)}"
    return f"{text}."


def unequal_answers(audit: PairsAudit) -> str:
    """Return between which groups the shares of missing answers differ most.

    Only if they differ statistically significantly in some model, or those of rows by over 5 pp.
    """
    edits = {each.group for each in audit.variants if each.placebo}
    by_model: dict[str | None, list[AnsweredShare]] = {}
    for each in audit.answered:
        if each.group not in edits:
            by_model.setdefault(each.model, []).append(each)
    significant = any(each.unequal for each in audit.differences)

    def share(each: AnsweredShare) -> float:
        return each.share if significant else each.answered / each.n

    ends = [(min(shares, key=share), max(shares, key=share)) for shares in by_model.values()]
    fewest, most = max(ends, key=lambda pair: share(pair[1]) - share(pair[0]))
    if not significant and share(most) - share(fewest) <= _FAR_APART:
        return ""
    where = "" if fewest.model is None else f"{called(fewest.model)}: "

    def missing(each: AnsweredShare) -> str:
        asked = each.n + each.absent * significant
        n = asked - each.answered
        absent = f", {numbers.count(each.absent)} of them without a row"
        return (
            f"{called(each.group)} ({numbers.percent(1 - share(each))}, {numbers.count(n)} of "
            f"{numbers.count(asked)}{absent if asked > each.n else ''})"
        )

    return (
        f"{where}Answers are missing more often under names of {missing(fewest)} than of "
        f"{missing(most)}; the differences are of the answers given."
    )


def describe_note(note: SwapNote) -> str:
    """Return a note as a sentence."""
    return _NOTES[note.code](note)


_NOTES: dict[SwapNoteCode, Callable[[SwapNote], str]] = {
    SwapNoteCode.BASELINE_REFERENCE: lambda n: (
        f"The reference {called(n.name)} looks like an unedited baseline. Every edit moves the "
        "answers; compare names with names."
    ),
    SwapNoteCode.FEW_PLACEBOS: lambda n: (
        f"Their variation needs at least 3 irrelevant edits, not {n.count}; the confidence "
        "intervals do not use them."
    ),
    SwapNoteCode.UNEQUAL_RUNS: lambda n: (
        f"Items and variants have different numbers of answers, the fewest {n.count}. Where every "
        "item has every name, the mean of each counts alike."
    ),
    SwapNoteCode.INCOMPLETE: lambda _: (
        "Not every item has every name: differences are adjusted for items (least squares)."
    ),
    SwapNoteCode.REPEATED_RUNS: lambda n: (
        f"{numbers.count(n.count)} {numbers.plural(n.count or 0, 'run has', 'runs have')} several "
        f"answers to one item under one variant (column {called(n.name)}); they are averaged. Rows "
        "that are in the data twice look the same."
    ),
    SwapNoteCode.SAME_ANSWERS: lambda _: (
        "Every item has several answers under each variant, and these are all the same. Where "
        "the model does not answer alike each time, the rows are in the data several times: "
        "remove the repetitions, or name the column of runs (run)."
    ),
    SwapNoteCode.UNFAVOURABLE: lambda n: (
        f"Counted as not positive: {n.name}. A value that is no decision is made unknown by "
        "--unknown or --recode."
    ),
    SwapNoteCode.SPELLED_ALIKE: lambda n: (
        f"{numbers.count(n.count)} "
        f"{numbers.plural(n.count or 0, 'name', 'names')} of variants or items "
        f"{numbers.plural(n.count or 0, 'differs', 'differ')} from another in "
        f"case, blanks or encoding alone, such as {quote(n.name or '')}, and each is a name of its "
        "own here; recode (--recode) spellings of one name."
    ),
    SwapNoteCode.ITEMS_EXCLUDED: lambda n: (
        f"{numbers.count(n.count)} {numbers.plural(n.count or 0, 'item has', 'items have')} no "
        "answers under names of both sides of a comparison, and are not in it."
    ),
    SwapNoteCode.WIDE_MARGIN: lambda _: (
        "The margin is as wide as all mean answers lie apart: no difference in these data could "
        "be beyond it."
    ),
    SwapNoteCode.MODELS_DIFFER: lambda _: (
        "No item was answered under the same variant by all models, so that there is no mean over "
        "models."
    ),
}


def margin_text(d: SwapDifference) -> str:
    """Return the margin in the unit of the difference."""
    assert d.margin is not None
    return f"{100 * d.margin:g} pp" if d.of_decisions else f"{d.margin:g}"


def change_text(d: SwapDifference, value: float, *, name: bool = True) -> str:
    """Return a difference with its sign, in as many digits as its confidence interval supports."""
    if d.of_decisions:
        return _signed(100 * value, _decimals(d, 100)) + (" pp" if name else "")
    return _signed(value, _decimals(d, 1))


def level_text(d: SwapDifference, value: float) -> str:
    """Return a mean, in as many digits as the difference has."""
    if d.of_decisions:
        return f"{100 * value:.{_decimals(d, 100)}f}%"
    return numbers.minus(f"{value:,.{_decimals(d, 1)}f}")


def _decimals(d: SwapDifference, scale: float) -> int:
    if d.low is None or d.high is None or d.high <= d.low:
        return 2 if scale == 1 else 1
    digits = 1 - math.floor(math.log10(scale * (d.high - d.low) / 2))
    return min(max(digits, 0), _MOST_DECIMALS)


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+,.{decimals}f}"
    return text[1:] if not float(text.replace(",", "")) else numbers.minus(text)
