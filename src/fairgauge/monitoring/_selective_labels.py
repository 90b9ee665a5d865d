"""Labels that rows of one decision alone have, as where only approved loans can be repaid.

Of the other decision nothing is known then: of such rows the true positive rate of every group is
100%, whatever the model does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

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
from fairgauge.stats.arrays import Index, Mask

_DECIDED = {"positive": TP + FP, "negative": TN + FN}


def labels_of_one_decision(
    asked: MonitorSpec, names: Sequence[str], counted: Sequence[CountedRows], *, due: bool
) -> HistoryFinding | None:
    """Return that hardly a row of one decision has a label, where most of the other have one.

    It is so from some period on, to the last. Before it is known when labels are ``due``, seven
    periods show it.
    """
    shown = [
        (name, each.labelled)
        for name, each in zip(names, counted, strict=True)
        if any(labels for _, labels in each.labelled.values())
    ]
    if not shown:
        return None
    sums = np.array([[of[side] for side in _DECIDED] for _, of in shown])
    since = sums[::-1].cumsum(axis=0)[::-1]
    alone = _lacks(sums)
    alone[0] = True  # few labels of a first period may be chance
    begins = _lacks(since) & (since[..., 0] >= FEWEST_ROWS) & alone
    begins[len(shown) + 1 - (1 if due else FEWEST_PERIODS) :] = False
    if not begins.any():
        return None
    t, side = np.argwhere(begins)[0].tolist()
    (rows, labels), (others, of_others) = since[t, side].tolist(), since[t, 1 - side].tolist()
    return HistoryFinding(
        problem=HistoryProblem.LABELS_OF_ONE_DECISION,
        period=shown[t][0],
        last=shown[-1][0],
        column=asked.question.label,
        value=list(_DECIDED)[side],
        other=asked.question.prediction or asked.question.score,
        rows=rows,
        share=1 - labels / rows,
        expected=1 - of_others / others,
    )


def _lacks(sums: Index) -> Mask:
    """Return whether hardly a row of each decision has a label, and most of the other have one."""
    rows, labels = sums[..., 0], sums[..., 1]
    return np.asarray((labels <= SHARE * rows) & (2 * labels >= rows)[..., ::-1])


def withheld(
    comparisons: Sequence[MonitoredComparison], found: HistoryFinding
) -> tuple[MonitoredComparison, ...]:
    """Return comparisons, of which those that need the labels of both decisions state nothing.

    An alarm that these periods raised would be of the labels alone, as a true positive rate of 0
    where only refusals have any.
    """

    def is_of_labels(each: MonitoredComparison) -> bool:
        if each.alarm is not None and each.alarm.period < found.period:
            return False
        decided = each.state in (MonitorState.NO_ALARM, MonitorState.ALARM)
        return decided and _needs_other_labels(each, str(found.value))

    return tuple(
        replace(each, state=MonitorState.INSUFFICIENT, alarm=None) if is_of_labels(each) else each
        for each in comparisons
    )


def _needs_other_labels(each: MonitoredComparison, lacking: str) -> bool:
    """Return whether a metric needs the labels of a decision of which hardly a row has one."""
    definition = each.definition
    if definition is None or "label" not in definition.needs:
        return False
    rate = contrasted_rate(definition)
    return rate is None or not rate.rate.among.disjoint(_DECIDED[lacking])
