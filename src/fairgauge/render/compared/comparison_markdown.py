"""A comparison of two reports in Markdown, for pull requests and step summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Turn
from fairgauge.render import numbers
from fairgauge.render.compared import phrases
from fairgauge.render.compared.phrases import ARROW
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.markdown import escape
from fairgauge.render.question import name
from fairgauge.render.reason_sentences import describe_reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Comparison
    from fairgauge.render.compared.phrases import Told

_MOST_ROWS = 40
_MOST_GROUPS = 30
_MARKS = {Turn.WORSE: "❌", Turn.BETTER: "✅", Turn.OTHER: "❔"}


def to_markdown(comparison: Comparison) -> str:
    """Write a comparison in GitHub's Markdown."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    told = phrases.tell(comparison)
    old, new = comparison.old, comparison.new
    yield "# Two fairness audits compared"
    yield ""
    yield from _table(
        ["", "report"],
        [
            [
                word,
                escape(f"{phrases.called(each)}: {phrases.facts(each)}"),
            ]
            for word, each in (("old", old), ("new", new))
        ],
    )
    yield from _differences(comparison)
    yield from _verdicts(comparison)
    yield from ["", "## Disparities", "", escape(phrases.summary(comparison, told))]
    if comparison.refused and told.moved:
        yield from [
            "",
            escape(f"No change has a confidence interval: {describe_reason(comparison.refused)}."),
        ]
    if told.mirrored:
        names = ", ".join(told.mirrored[:3])
        yield from ["", escape(f"Left out, being the mirror image of the other: {names}.")]
    yield from _changes(
        "Further from no difference, statistically significantly", told.further, told
    )
    yield from _changes("Closer to no difference, statistically significantly", told.closer, told)
    moved = (
        "What moved most" if comparison.refused else "Moved, but not statistically significantly"
    )
    yield from _changes(moved, told.moved, told, folded=not comparison.refused)
    yield from _changes("With a value in one report only", told.undefined, told)
    yield from _alone(comparison)
    yield from _data(comparison)
    if not comparison.refused:
        yield from ["", f"<sub>{escape(phrases.METHOD)}</sub>"]


def _differences(comparison: Comparison) -> Iterator[str]:
    found = comparison.differences
    if found:
        rows = [
            [
                f"**{escape(name(each.key))}**" if each.says else escape(name(each.key)),
                escape(phrases.setting(each.old)),
                escape(phrases.setting(each.new)),
                escape(each.says),
            ]
            for each in found
        ]
        yield from ["", "## ⚠️ Asked differently", ""]
        yield from _table(["setting", "old", "new", "so"], rows[:_MOST_ROWS])
        yield from _more(len(rows) - _MOST_ROWS)


def _verdicts(comparison: Comparison) -> Iterator[str]:
    if not phrases.judged(comparison):
        return
    mark = f"{_MARKS[comparison.turn]} " if comparison.turn else ""
    yield from ["", "## Verdicts", ""]
    yield f"**{mark}{phrases.verdict(comparison)}**"
    summary = phrases.verdict_summary(comparison)
    yield from ["", escape(summary)] if summary else []
    rows = [
        [
            f"{_MARKS[each.turn]} {each.turn}",
            escape(name(each.new.rule)),
            escape(phrases.whom(each)),
            f"{each.old.outcome} {ARROW} {each.new.outcome}",
            escape(shorten(printable(each.new.says), phrases.LONGEST_REASON)),
        ]
        for each in comparison.flips
    ]
    if rows:
        yield ""
        yield from _table(["", "rule", "of", "verdict", "because"], rows[:_MOST_ROWS])
        yield from _more(len(rows) - _MOST_ROWS)


def _changes(
    heading: str, found: Sequence[Change], told: Told, *, folded: bool = False
) -> Iterator[str]:
    if not found:
        return
    rows = [
        [
            f"**{escape(each.metric)}**",
            escape(phrases.subject(each, several=told.several)),
            phrases.seen(each, each.old),
            phrases.seen(each, each.new),
            f"{phrases.shift(each)} {phrases.limits(each)}".strip(),
            escape(_behind(each)),
        ]
        for each in found[:_MOST_ROWS]
    ]
    if folded:
        yield from ["", f"<details><summary>{heading} ({len(found):,})</summary>", ""]
    else:
        yield from ["", f"### {heading}", ""]
    yield from _table(["metric", "of", "old", "new", "change", "in words"], rows)
    yield from _more(len(found) - _MOST_ROWS)
    yield from ["", "</details>"] if folded else []


def _behind(each: Change) -> str:
    if each.change is None:
        return phrases.because(each)
    return "; ".join(part for part in (phrases.direction(each), phrases.evidence(each)) if part)


def _alone(comparison: Comparison) -> Iterator[str]:
    if comparison.alone:
        rows = [
            [each.report, *(escape(part) for part in phrases.lacking(each))]
            for each in comparison.alone
        ]
        yield from ["", "## In one report only", ""]
        yield from _table(["report", "has", "without a counterpart"], rows[:_MOST_ROWS])
        yield from _more(len(rows) - _MOST_ROWS)


def _data(comparison: Comparison) -> Iterator[str]:
    rows = [
        [escape(word), numbers.count(before), numbers.count(after), "", ""]
        for word, before, after in phrases.sizes(comparison)
    ]
    rows += [
        [
            escape(f"{name(each.feature)} {name(each.group)}"),
            numbers.count(each.old_n),
            numbers.count(each.new_n),
            numbers.percent(each.old_share),
            numbers.percent(each.new_share),
        ]
        for each in comparison.groups[:_MOST_GROUPS]
    ]
    yield from ["", "## Data", ""]
    yield from _table(["", "old", "new", "old share", "new share"], rows)
    yield from _more(len(comparison.groups) - _MOST_GROUPS)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---' for _ in heads)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _more(left: int) -> Iterator[str]:
    if left > 0:
        yield from ["", f"*and {left:,} more: --format json*"]
