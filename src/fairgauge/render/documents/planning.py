"""What the document of a plan has besides its fields: rates and rules in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairgauge.render.page import plain
from fairgauge.render.words.display_names import group_called
from fairgauge.render.words.metric_words import metric_value
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.results.codec import to_dict
from fairgauge.results.planned import Planned
from fairgauge.statements.planning import per_hundred, smallest_statement


def _facts(planned: Planned) -> dict[str, Any]:
    return {"answered": max((each.answered for each in planned.self_reports), default=0)}


def _smallest(planned: Planned) -> Iterator[dict[str, Any]]:
    for each in () if planned.needed or planned.answers else planned.smallest:
        none = "none" if each.reason is None else "not evaluated"
        yield {
            **to_dict(each),
            "group": group_called(each.group, each.feature),
            "rate_words": plain().say("smallest", "rate", smallest_statement(each)) or "",
            "difference": none
            if each.difference is None
            else f"{per_hundred(each.difference):.1f} pp",
        }


def _asked(planned: Planned) -> Iterator[dict[str, Any]]:
    for each in planned.self_reports:
        at = "" if each.threshold is None else f", threshold {each.threshold:g}"
        yield {
            "group": group_called(each.group, each.feature),
            "rule": f"{written_rule_words(each.rule, each.definition)}{at}",
            "expects": str(each.expects),
            "expected": metric_value(each.definition, each.expected),
            "self_reports": each.self_reports,
            "at_most": each.at_most,
        }


STREAMS = {"facts": _facts, "smallest_unless_needed": _smallest, "asked": _asked}
