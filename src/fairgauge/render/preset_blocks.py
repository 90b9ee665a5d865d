"""The section of a preset: its status, its sources, its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.document_tree import Facts, Heading, Items, Paragraph
from fairgauge.spec.presets import preset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.render.document_tree import Block

QUOTED = (
    "This preset sets metrics, references and tables; it quotes its sources as of the date above. "
    "It does not state that the audit, or what was audited, meets a law."
)


def preset_blocks(name: str) -> Iterator[Block]:
    """Yield what a report states of the preset that it was made with."""
    found = preset(name)
    yield Facts(
        (
            ("preset", f"{found.name}: {found.title}"),
            ("jurisdiction", found.jurisdiction),
            ("status", f"{found.status} (as of {found.as_of.isoformat()})"),
            *([("superseded by", found.superseded_by)] if found.superseded_by else []),
            ("sources", "; ".join(found.sources)),
        )
    )
    yield Items(found.statements)
    yield Heading("A published report holds")
    yield Items(found.publishes)
    yield Paragraph(QUOTED)
