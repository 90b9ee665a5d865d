"""Labels that rows of one decision alone have, as where only approved loans can be repaid.

Of the other decision nothing is known then: of such rows the true positive rate of every group is
100%, whatever the model does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.monitoring._column_checks import SHARE
from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring.monitor_spec import MonitorSpec, contrasted_rate
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.results.monitor_results import (
    FEWEST_PERIODS,
    HistoryFinding,
    HistoryProblem,
    MonitoredComparison,
    MonitorState,
)

_DECIDED = {"positive": TP + FP, "negative": TN + FN}


def labels_of_one_decision(
    asked: MonitorSpec, names: Sequence[str], counted: Sequence[CountedRows], *, due: bool
) -> HistoryFinding | None:
    """Return that hardly a row of one decision has a label, where most of the other have one.

    Before it is known when labels are ``due``, seven periods show it.
    """
    shown = [
        (name, each.labelled)
        for name, each in zip(names, counted, strict=True)
        if any(labels for _, labels in each.labelled.values())
    ]
    if len(shown) < (1 if due else FEWEST_PERIODS):
        return None
    every = {side: [sum(t) for t in zip(*(of[side] for _, of in shown), strict=True)]
             for side in _DECIDED}  # fmt: skip
    lacking, other = sorted(every, key=lambda side: every[side][1] / max(every[side][0], 1))
    (rows, labels), (others, of_others) = every[lacking], every[other]
    if rows < FEWEST_ROWS or labels > SHARE * rows or 2 * of_others < others:
        return None
    return HistoryFinding(
        problem=HistoryProblem.LABELS_OF_ONE_DECISION,
        period=shown[0][0],
        last=shown[-1][0],
        column=asked.question.label,
        value=lacking,
        other=asked.question.prediction or asked.question.score,
        rows=rows,
        share=1 - labels / rows,
        expected=1 - of_others / others,
    )


def withheld(
    comparisons: Sequence[MonitoredComparison], found: HistoryFinding
) -> tuple[MonitoredComparison, ...]:
    """Return comparisons, of which those that need the labels of both decisions state nothing.

    An alarm of one would be of the labels alone, as a true positive rate of 0 where only refusals
    have any.
    """
    decided = (MonitorState.NO_ALARM, MonitorState.ALARM)
    return tuple(
        replace(each, state=MonitorState.INSUFFICIENT, alarm=None)
        if each.state in decided and _needs_other_labels(each, str(found.value))
        else each
        for each in comparisons
    )


def _needs_other_labels(each: MonitoredComparison, lacking: str) -> bool:
    """Return whether a metric needs the labels of a decision of which hardly a row has one."""
    definition = each.definition
    if definition is None or "label" not in definition.needs:
        return False
    rate = contrasted_rate(definition)
    return rate is None or not rate.rate.among.disjoint(_DECIDED[lacking])
