"""What documents of all kinds of results share: their frame, sections, tones and long lists.

The module of a kind of result has the blocks that no other kind has, and `document_of` puts every
document together, so that what all of them begin with is added in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol

from fairgauge.enums import Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.words.command_line import repetition
from fairgauge.render.words.display_names import called, printable
from fairgauge.render.words.question_sentences import chosen_rows
from fairgauge.results.brief import Brief
from fairgauge.results.shown_result import ResultKind, ShownResult

if TYPE_CHECKING:
    from fairgauge.render.words.command_line import Asked

TONES = {
    Outcome.PASS: tree.Tone.GOOD,
    Outcome.FAIL: tree.Tone.BAD,
    Outcome.INCONCLUSIVE: tree.Tone.UNSURE,
    Outcome.NOT_EVALUATED: tree.Tone.UNSURE,
    Outcome.NONE: tree.Tone.PLAIN,
}
"""How the outcomes of rules are meant; there is none without rules, and of what a rule ignores."""


class Made(Protocol):
    """A result, which states when and by which fairgauge it was made."""

    KIND: ClassVar[ResultKind]

    def brief(self) -> Brief:
        """Return its first page."""

    @property
    def created(self) -> str:
        """Return when it was made."""

    @property
    def version(self) -> str:
        """Return by which version of fairgauge."""


def document_of(
    result: ShownResult,
    *,
    title: str,
    beside: str,
    sections: Iterable[tree.Section],
    lead: Iterable[str] = (),
    cover: Iterable[tuple[str, str]] = (),
    verdict: str = "",
    tone: tree.Tone = tree.Tone.PLAIN,
    not_shown: Iterable[str] = (),
    subject: str = "",
    warnings: Iterable[str] = (),
    warned: int = 0,
    file_name: str = "report",
    to_publish: Iterable[tree.Table] = (),
    exhibits: Iterable[tree.Block] = (),
    filed: Iterable[tree.Block] = (),
    brief: Brief | None = None,
) -> tree.DocumentTree:
    """Return the document of a result of any kind; see `DocumentTree` for its parts.

    Sections without blocks are left to those that have something to show.
    """
    return tree.DocumentTree(
        title=title,
        beside=beside,
        lead=(*lead, *chosen_rows(result)),
        cover=tuple(cover),
        verdict=verdict,
        tone=tone,
        sections=tuple(section for section in sections if section.blocks),
        created=printable(getattr(result, "created", "")),
        version=printable(getattr(result, "version", "")),
        not_shown=tuple(not_shown),
        subject=subject,
        warnings=tuple(warnings),
        warned=warned,
        file_name=file_name,
        to_publish=tuple(to_publish),
        brief=brief or result.brief(),
        exhibits=tuple(exhibits),
        filed=tuple(filed),
    )


def repeat_blocks(result: Asked, fingerprint: str, verb: str, of: str = "") -> Iterator[tree.Block]:
    """Yield where the numbers come from, how to make them again, and room for signatures.

    Parameters
    ----------
    fingerprint : the digest of the counts, empty where the result has none.
    verb : the command that makes such a result.
    of : what the result is called, by default as the command.
    """
    how, line = repetition(result, verb)
    facts = {"source": called(result.data.source), "fingerprint of the counts": fingerprint}
    yield from record_blocks(result, facts, f"To repeat this {of or verb}, {how}", line)


def record_blocks(
    result: Made, facts: Mapping[str, str], repeat: str, line: str
) -> Iterator[tree.Block]:
    """Yield facts of where numbers come from, the command that repeats them, and signatures."""
    made = {"made with": f"fairgauge {result.version}", "made at": result.created}
    made = {name: printable(text) for name, text in made.items()}
    yield tree.Facts(tuple(each for each in {**facts, **made}.items() if each[1]))
    yield tree.Heading(repeat)
    yield tree.Code(printable(line))
    yield tree.SignOff(("Prepared by", "Reviewed by", "Approved by"))
