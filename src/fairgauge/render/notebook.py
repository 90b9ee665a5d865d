"""The report as a compact piece of HTML for notebooks: no script, no request, any theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render import numbers, pairwise_section, question
from fairgauge.render.html import environment
from fairgauge.render.method_descriptions import explained
from fairgauge.render.metric_meanings import is_signed, rate_title, title
from fairgauge.render.outline import outline, verdicts_by_rule
from fairgauge.render.short_sentences import (
    central_rates,
    certainty,
    in_short,
    rate_shown,
    reading,
    tallied,
    words,
)

if TYPE_CHECKING:
    from typing import Any

    from fairgauge.render.outline import Section
    from fairgauge.report.report import Report

_MOST_SECTIONS = 4
_MOST_GROUPS = 12
_RATES = 6
_NAME = 40


def to_notebook(report: Report) -> str:
    """Write the report as a fragment of HTML."""
    told = outline(report)
    column = question.name(report.spec.get("strata") or "the stratum")
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            report=report,
            source=question.source(report),
            verdicts=[(rule, tallied(found)) for rule, found in verdicts_by_rule(report)],
            short=in_short(told.sections, column),
            sections=[_section(section) for section in told.sections[:_MOST_SECTIONS]],
            more=len(told.sections) - _MOST_SECTIONS,
            methods=explained(report),
        )
        + "\n"
    )


def _section(section: Section) -> dict[str, Any]:
    rates = central_rates(section.groups)[:_RATES]
    references = {each.reference for each in section.estimates}
    largest = sorted(section.groups, key=lambda group: -group.n)[:_MOST_GROUPS]
    farthest = [each for metric in section.metrics if (each := section.farthest(metric))]
    return {
        "name": section.feature,
        "against": reading(references.pop()) if len(references) == 1 else "its reference",
        "heads": [rate_title(rate) for rate in rates],
        "groups": [
            (
                group.group,
                [
                    numbers.count(group.n),
                    numbers.percent(group.share),
                    *(rate_shown(group, rate) for rate in rates),
                ],
            )
            for group in section.groups
            if group in largest
        ],
        "more": len(section.groups) - len(largest),
        "several": section.focus is None,
        "focus": section.focus or "",
        "estimates": [
            {
                "metric": each.metric,
                "title": title(each.metric),
                "group": each.group,
                "value": numbers.number(each.value, signed=is_signed(each.metric)),
                "interval": numbers.interval(each.low, each.high, signed=is_signed(each.metric)),
                "says": words(each) + certainty(each, interval=False),
            }
            for each in farthest
        ],
        "pairs": [
            pairwise_section.named(found, _NAME)
            for found in pairwise_section.by_rate(section).values()
        ],
        "every_pair": pairwise_section.heading(section.pairs) if section.pairs else "",
    }
