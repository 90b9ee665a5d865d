"""The brief of an audit by swapped names: what differs beyond instability, and what does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.render.brief._next_steps import analyst, owner, reader
from fairgauge.render.words import swap_sentences as words
from fairgauge.render.words.display_names import called, group_called
from fairgauge.render.words.numbers import count, listing, numbered, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.name_swaps import (
    UNDECIDED,
    PairsAudit,
    SwapDifference,
    SwapReason,
    SwapVerdict,
)

_MOST_FOUND, _MOST_NAMED, _FEWEST_EDITS = 3, 4, 3


def pairs_brief(audit: PairsAudit) -> Brief:
    """Return the brief of an audit by swapped names."""
    by_verdict = {
        verdict: [each for each in audit.distinct if each.verdict is verdict]
        for verdict in SwapVerdict
    }
    differing = sorted(by_verdict[SwapVerdict.DIFFERS], key=lambda d: d.p_adjusted or 0.0)
    return Brief(
        headline=Sentence(_headline(audit, differing)),
        verdict=(Sentence(_verdict(by_verdict), ("verdict",)),),
        looked_at=tuple(_looked_at(audit)),
        found=tuple(_found(audit, differing)),
        certainty=tuple(_certainty(audit, by_verdict)),
        limits=tuple(map(Sentence, words.LIMITATIONS)),
        steps=tuple(_steps(audit)),
        question="What differs, and by how much",
    )


def _source(audit: PairsAudit, difference: SwapDifference) -> tuple[str, ...]:
    return (f"differences[{audit.differences.index(difference)}]",)


def _headline(audit: PairsAudit, differing: Sequence[SwapDifference]) -> str:
    if differing:
        first = differing[0]
        where = "" if first.model is None else f" in answers of {called(first.model)}"
        how = "are selected" if first.of_decisions else "score"
        less, more = ("less often", "more often") if first.of_decisions else ("lower", "higher")
        group = group_called(first.group, first.feature)
        other = "names of other groups"
        if first.reference != "others":
            other = f"those of {group_called(first.reference, first.feature)}"
        low = (first.value or 0.0) < 0
        return f"Names of {group} {how} {less if low else more} than {other}{where}"
    if all(each.reason not in UNDECIDED for each in audit.distinct):
        return "The answers allow no verdict: too few names or items, or no variation"
    if audit.verdict is SwapVerdict.EQUIVALENT:
        return f"Mean answers to names of all groups differ by less than {_margin(audit)}"
    return "The answers do not show a difference between groups of names"


def _margin(audit: PairsAudit) -> str:
    return words.margin_text(audit.differences[0])


def _verdict(by: dict[SwapVerdict, list[SwapDifference]]) -> str:
    return f"Of {numbered(sum(map(len, by.values())), 'comparisons')} {_counted(by)}."


def _counted(by: dict[SwapVerdict, list[SwapDifference]]) -> str:
    """Return how many comparisons came to what."""
    differ, equal, are = (plural(len(by[v]), *verbs) for v, verbs in (
        (SwapVerdict.DIFFERS, ("differs", "differ")), (SwapVerdict.EQUIVALENT, ("is", "are")),
        (SwapVerdict.CANNOT_TELL, ("is", "are")),
    ))  # fmt: skip
    margin = next((words.margin_text(d) for d in by[SwapVerdict.EQUIVALENT]), "")
    verbs = {
        SwapVerdict.DIFFERS: differ,
        SwapVerdict.EQUIVALENT: f"{equal} equivalent within {margin}",
        SwapVerdict.CANNOT_TELL: f"{are} inconclusive",
    }
    several = len({each.model for found in by.values() for each in found}) > 1
    return listing(
        [
            f"{count(len(by[v]))} {verb}{_which(by[v]) if several else ''}"
            for v, verb in verbs.items()
            if by[v]
        ]
    )


def _which(differences: Sequence[SwapDifference]) -> str:
    """Return the models that differences are of."""
    models = dict.fromkeys(called(each.model) for each in differences)
    return f" ({listing([*models], most=_MOST_NAMED)})"


def _looked_at(audit: PairsAudit) -> Iterator[Sentence]:
    data = audit.data
    models = f" of {count(data.models)} models" if data.models > 1 else ""
    yield Sentence(
        f"{numbered(data.answers, 'answers')}{models} to {numbered(data.items, 'items')} under "
        f"{numbered(data.variants, 'variants')}, up to {count(data.runs)} to one item under one "
        "variant.",
        ("data",),
    )
    if data.families is None:
        yield Sentence(
            "Items are taken as independent; where several are made from one text (a CV, a "
            "vignette), name its column (family)."
        )
    else:
        yield Sentence(f"The items are of {numbered(data.families, 'families')}.", ("data",))
    if data.missing:
        verb = plural(data.missing, "is", "are")
        yield Sentence(
            f"{numbered(data.missing, 'answers')} {verb} missing; the share by group is under "
            "answers given.",
            ("data.missing", "answered"),
        )
    if data.excluded:
        excluded = (f"{numbered(n)} ({reason})" for reason, n in data.excluded.items())
        yield Sentence(f"Excluded: {'; '.join(excluded)}.", ("data.excluded",))


def _found(audit: PairsAudit, differing: Sequence[SwapDifference]) -> Iterator[Sentence]:
    unequal = words.unequal_answers(audit)
    if unequal:
        yield Sentence(unequal, ("answered",))
    shown = differing or [each for each in audit.distinct if each.value is not None]
    for each in shown[:_MOST_FOUND]:
        verdict = "" if differing else f" {str(each.verdict).capitalize()}."
        yield Sentence(words.value_sentence(each) + verdict, _source(audit, each))
    if len(shown) > _MOST_FOUND:
        more = len(shown) - _MOST_FOUND
        yield Sentence(f"{count(more)} more {plural(more, 'is', 'are')} listed below.")


def _certainty(
    audit: PairsAudit, by: dict[SwapVerdict, list[SwapDifference]]
) -> Iterator[Sentence]:
    level = f"{100 * (1 - audit.differences[0].confidence):.3g}"
    if by[SwapVerdict.DIFFERS]:
        variances = [each.variance for each in by[SwapVerdict.DIFFERS]]
        edits = any(each is not None and each.placebo is not None for each in variances)
        besides = ", items and irrelevant edits" if edits else " and items"
        yield Sentence(
            f"A difference is larger than what names of one group{besides} vary by. "
            f"In at most about {level} of 100 such audits would any difference be reported "
            "where there is none."
        )
    for i, spread in enumerate(audit.placebo[:_MOST_NAMED]):
        yield Sentence(words.describe_spread(spread), (f"placebo[{i}]",))
    undecided = by[SwapVerdict.CANNOT_TELL]
    few = [each for each in undecided if each.reason not in UNDECIDED]
    if any(each.reason is SwapReason.IMPRECISE for each in undecided):
        yield Sentence(
            "An inconclusive comparison does not show that there is no difference: the "
            "answers vary too much."
        )
    if few:
        names = dict.fromkeys(called(each.group) for each in few)
        verb = plural(len(few), "comparison has", "comparisons have")
        yield Sentence(
            f"{count(len(few))} {verb} too few names or items for a verdict, or no variation "
            f"({listing([*names], most=_MOST_NAMED)})."
        )


def _steps(audit: PairsAudit) -> Iterator[Sentence]:
    reasons = {each.reason for each in audit.distinct}
    if SwapReason.ONE_VARIANT in reasons or SwapReason.FEW_VARIANTS in reasons:
        yield analyst("ask under at least 3, better 6 or more, names of every group.")
    if SwapReason.IMPRECISE in reasons:
        yield analyst(
            "add names, items or answers to each: fairgauge plan --pairs states how many would "
            "decide it, from what the answers vary by.",
            ("components",),
        )
    if not any(each.variants >= _FEWEST_EDITS for each in audit.placebo):
        yield analyst(
            "add at least 3 irrelevant edits, or name the group that holds them (placebo): "
            "without them, how far any edit moves the answers is unknown."
        )
    if audit.verdict is SwapVerdict.DIFFERS:
        yield reader("read answers to the same items under names of both groups.")
    elif audit.differences[0].margin is None:
        yield owner("state which difference would be too small to matter, with --margin.")
