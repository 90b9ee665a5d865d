"""A document as a compact piece of HTML for notebooks: no script, no request, any theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.writers.html import anchors, environment

if TYPE_CHECKING:
    from fairgauge.render._document_tree import DocumentTree


def write(document: DocumentTree, shown: object = None) -> str:
    """Write a document as a fragment of HTML."""
    del shown
    return (
        environment().get_template("notebook.html.j2").render(document=document, fresh=anchors())
        + "\n"
    )
