"""What the document of a plan has besides its fields: rates and rules in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairgauge.render.grammar import plain
from fairgauge.render.words.display_names import group_called
from fairgauge.results.codec import to_dict
from fairgauge.results.planned import Planned
from fairgauge.statements.planning import per_hundred, smallest_statement


def _smallest(planned: Planned) -> Iterator[dict[str, Any]]:
    for each in () if planned.needed else planned.smallest:
        none = "none" if each.reason is None else "not evaluated"
        yield {
            **to_dict(each),
            "group": group_called(each.group, each.feature),
            "rate_words": plain().say("smallest", "rate", smallest_statement(each)) or "",
            "difference": none
            if each.difference is None
            else f"{per_hundred(each.difference):.1f} pp",
        }


STREAMS = {"smallest_unless_needed": _smallest}
