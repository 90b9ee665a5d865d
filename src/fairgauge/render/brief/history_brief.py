"""The brief of the health of a history: which periods may hold wrong rows, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.render.brief._next_steps import analyst, supplier
from fairgauge.render.words.display_names import called
from fairgauge.render.words.monitor_sentences import describe_unconsidered
from fairgauge.render.words.numbers import numbered, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.monitor_results import HistoryHealth

_MOST_FOUND = 5


def history_brief(health: HistoryHealth) -> Brief:
    """Return the brief of the health of a history."""
    return Brief(
        headline=Sentence(_headline(health), ("findings", "periods")),
        verdict=(),
        looked_at=(Sentence(_looked_at(health), ("periods",)),),
        found=tuple(_found(health)),
        certainty=(),
        limits=(
            Sentence(
                "Which rows are wrong: the counts show what is unusual, and that may have happened."
            ),
            Sentence(
                "Changes of rates (the rules of the monitor judge these), labels or groups that "
                "are shuffled or exchanged, a slow loss of volume, and rows repeated in part."
            ),
        ),
        steps=tuple(_steps(health)),
        question="What may be wrong",
    )


def _headline(health: HistoryHealth) -> str:
    if health.unconsidered is not None:
        return f"Nothing is checked: {describe_unconsidered(health.unconsidered)}"
    if not health.periods:
        return "The history holds no period"
    size = len(health.findings)
    if not size:
        return "No period looks as if its rows were wrong"
    verb = plural(size, "shows", "show")
    return f"{numbered(size, 'findings')} {verb} where rows may be wrong"


def _looked_at(health: HistoryHealth) -> str:
    text = f"The counts of {numbered(len(health.periods), 'periods')} of {called(health.model)}"
    return f"{text}, {health.periods[0]} to {health.periods[-1]}." if health.periods else f"{text}."


def _found(health: HistoryHealth) -> Iterator[Sentence]:
    for i, each in enumerate(health.findings[:_MOST_FOUND]):
        yield Sentence(each.says, (f"findings[{i}]",))
    if (more := len(health.findings) - _MOST_FOUND) > 0:
        verb = plural(more, "is", "are")
        yield Sentence(f"{more:,} more {verb} listed below.", ("findings",))


def _steps(health: HistoryHealth) -> Iterator[Sentence]:
    if health.unconsidered is not None:
        yield analyst("add a period that is considered, or change the start or the last one (at).")
    elif not health.periods:
        yield analyst("add a period (fairgauge monitor run).")
    elif health.findings:
        yield supplier("look at the rows of these periods before a verdict of the monitor is used.")
    else:
        yield analyst("read what the monitor comes to (fairgauge monitor status).")
