"""What documents of all kinds of results share: their frame, sections, tones and long lists.

The module of a kind of result has the blocks that no other kind has, and `document_of` puts every
document together, so that what all of them begin with is added in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, ClassVar, Protocol

from fairgauge.enums import Outcome
from fairgauge.render._document_tree import (
    Block,
    Code,
    DocumentTree,
    Facts,
    FirstPage,
    Heading,
    Paragraph,
    Section,
    SignOff,
    Table,
    Tone,
)
from fairgauge.render.words.command_line import repetition
from fairgauge.render.words.display_names import called, printable
from fairgauge.render.words.question_sentences import chosen_rows
from fairgauge.results.brief import Brief
from fairgauge.results.shown_result import ResultKind

if TYPE_CHECKING:
    from fairgauge.render.words.command_line import Asked

TONES = {
    Outcome.PASS: Tone.GOOD,
    Outcome.FAIL: Tone.BAD,
    Outcome.INCONCLUSIVE: Tone.UNSURE,
    Outcome.NOT_EVALUATED: Tone.UNSURE,
}
"""How the outcomes of rules are meant; without rules there is none."""


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
    result: Made,
    *,
    title: str,
    beside: str,
    sections: Iterable[Section],
    lead: Iterable[str] = (),
    cover: Iterable[tuple[str, str]] = (),
    verdict: str = "",
    tone: Tone = Tone.PLAIN,
    not_shown: Iterable[str] = (),
    folded: bool = False,
    subject: str = "",
    warnings: Iterable[str] = (),
    warned: int = 0,
    file_name: str = "report",
    to_publish: Iterable[Table] = (),
    exhibits: Iterable[Block] = (),
    filed: Iterable[Block] = (),
) -> DocumentTree:
    """Return the document of a result of any kind; see `DocumentTree` for its parts.

    Sections without blocks are left to those that have something to show.
    """
    return DocumentTree(
        title=title,
        beside=beside,
        lead=(*lead, *chosen_rows(result)),
        cover=tuple(cover),
        verdict=verdict,
        tone=tone,
        sections=tuple(section for section in sections if section.blocks),
        created=result.created,
        version=result.version,
        not_shown=tuple(not_shown),
        folded=folded,
        subject=subject,
        warnings=tuple(warnings),
        warned=warned,
        file_name=file_name,
        to_publish=tuple(to_publish),
        first_page=FirstPage(result.brief(), tuple(exhibits)),
        filed=tuple(filed),
    )


def listed(id_: str, title: str, *blocks: Block, short: str = "") -> Section:
    """Return a section that the contents list, by its title unless a ``short`` name is given."""
    return Section(id_, title, blocks, short=short or title)


def more_in_json(rows: Sized, most: int) -> Iterator[Paragraph]:
    """Yield how many rows a list that is cut after ``most`` does not show."""
    if len(rows) > most:
        yield Paragraph(f"{len(rows) - most:,} more in the JSON report.", Tone.SOFT)


def repeat_blocks(result: Asked, fingerprint: str, verb: str, of: str = "") -> Iterator[Block]:
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
) -> Iterator[Block]:
    """Yield facts of where numbers come from, the command that repeats them, and signatures."""
    made = {"made with": f"fairgauge {result.version}", "made at": result.created}
    yield Facts(tuple(each for each in {**facts, **made}.items() if each[1]))
    yield Heading(repeat)
    yield Code(printable(line))
    yield SignOff(("Prepared by", "Reviewed by", "Approved by"))
