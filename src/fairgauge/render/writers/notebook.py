"""A document as a compact piece of HTML for notebooks: no script, no request, any theme."""

from __future__ import annotations

from dataclasses import replace

from fairgauge.render._document_tree import Chart, DocumentTree, TimeChart
from fairgauge.render.writers.html import anchors, environment


def write(document: DocumentTree, shown: object = None) -> str:
    """Write a document as a fragment of HTML."""
    del shown
    first = document.first_page
    styled = tuple(each for each in first.exhibits if not isinstance(each, (Chart, TimeChart)))
    document = replace(document, first_page=replace(first, exhibits=styled))
    return (
        environment().get_template("notebook.html.j2").render(document=document, fresh=anchors())
        + "\n"
    )
