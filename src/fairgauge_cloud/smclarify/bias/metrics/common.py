"""What smclarify's metrics share: checks, types of columns, and the functions of one table."""

# ruff: noqa: N802 - the names are smclarify's

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge_cloud._facet_counts import (
    OTHER_VALUES,
    BinaryOutcome,
    Blocks,
    FacetQuestion,
    from_frame,
    from_series,
)
from fairgauge_cloud._service_metrics import (
    DESCRIPTIONS,
    NO_SHARED,
    Features,
    ServiceMetrics,
    read_value,
    unsortable,
)
from fairgauge_cloud.smclarify.bias.metrics.constants import INFINITY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from pandas import Series

    Array = NDArray[np.float64]

FACET, LABEL = "sensitive_facet_index", "positive_label_index"
PREDICTED, GROUP = "positive_predicted_label_index", "group_variable"


def divide(a: float, b: float) -> float:
    """Divide; 0/0 is 0 and x/0 is an infinity."""
    if b == 0:
        return 0.0 if a == 0 else (-INFINITY if a < 0 else INFINITY)
    return a / b


def require(condition: bool, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def metric_description(metric: Callable[..., object]) -> str:
    """Return a metric's description in results: its name, or the first line of its docstring."""
    return DESCRIPTIONS.get(metric.__name__, (metric.__doc__ or "").lstrip().split("\n")[0])


def calc_confusion_matrix_quadrants(
    feature: Series, positive_label_index: Series, positive_predicted_label_index: Series
) -> tuple[int, int, int, int]:
    """Return the counts of TP, TN, FP and FN."""
    del feature
    label, prediction = positive_label_index, positive_predicted_label_index
    cells = (label & prediction, ~label & ~prediction, ~label & prediction, label & ~prediction)
    tp, tn, fp, fn = (int(cell.sum()) for cell in cells)
    return tp, tn, fp, fn


def binary_confusion_matrix(
    feature: Series, positive_label_index: Series, positive_predicted_label_index: Series
) -> list[float]:
    """Return the shares of TP, FP, FN and TN."""
    tp, tn, fp, fn = calc_confusion_matrix_quadrants(
        feature, positive_label_index, positive_predicted_label_index
    )
    return [divide(count, len(feature)) for count in (tp, fp, fn, tn)]


def with_signature(function: Callable[..., object], name: str, doc: str, *arguments: str) -> Any:
    """Return a function of named values as one of a name and arguments, which may be positional."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    signature = Signature([Parameter(each, kind) for each in arguments])

    def made(*args: object, **kwargs: object) -> Any:
        return function(**signature.bind(*args, **kwargs).arguments)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    made.__signature__ = signature  # type: ignore[attr-defined]
    return made


def _make_metric(
    codes: Sequence[str], *arguments: str, name: str = "", pick: int | None = 0
) -> Any:

    def compute(**given: Any) -> Any:
        flags = {key: _flag(given[key], key) for key in (FACET, LABEL, PREDICTED) if key in given}
        rows = len(next(iter(flags.values())).states)
        require(rows > 0 or codes != ["GE"], "dataset must be non-empty")
        inside = flags[FACET].states if FACET in flags else np.ones(rows, np.int64)
        facet = Blocks("facet", ("sensitive",), np.where(inside == 1, 0, OTHER_VALUES))
        group = given.get(GROUP)
        strata = None if group is None or group.empty else from_series(group, "group")
        asked = FacetQuestion((facet,), flags.get(LABEL), flags.get(PREDICTED), strata)
        problem = None if group is None else unsortable(group.unique().tolist())
        measured = ServiceMetrics(asked, strata_problem=problem)
        entries = [measured.result(code, 0, 0) for code in codes]
        for entry in entries:
            require("error" not in entry, entry.get("error", ""))
        values = tuple(read_value(entry["value"]) for entry in entries)
        return values if pick is None else values[pick]

    name = name or codes[pick or 0]
    return with_signature(compute, name, f"{DESCRIPTIONS.get(name, name)}.", *arguments)


def _flag(series: Series, name: str) -> BinaryOutcome:
    require(series.dtype == bool, f"{name} must be of type bool")
    return BinaryOutcome.of_states(name, series.to_numpy().astype(np.int64))


def _distance_function(
    name: str, of_shares: Callable[[Array, Array], float]
) -> Callable[..., float]:
    # as in smclarify, categories that either side lacks are removed without renormalising
    def compute(label: Series, sensitive_facet_index: Series) -> float:
        column = from_series(label, "label")
        inside = _flag(sensitive_facet_index, FACET).states == 1
        known = column.codes >= 0
        counts = [
            np.bincount(column.codes[known & side], minlength=len(column.levels))
            for side in (~inside, inside)
        ]
        shared = (counts[0] > 0) & (counts[1] > 0)
        require(bool(shared.any()), NO_SHARED)
        p, q = (each[shared] / each.sum() for each in counts)
        return float(of_shares(p, q))

    made: Callable[..., float] = with_signature(
        compute, name, f"{DESCRIPTIONS[name]}.", "label", FACET
    )
    return made


def _flip(df: Any, sensitive_facet_index: Series, positive_predicted_label_index: Series) -> float:
    inside = _flag(sensitive_facet_index, FACET).states == 1
    positive = _flag(positive_predicted_label_index, PREDICTED).states == 1
    return Features(lambda: from_frame(df)).flip(inside, positive)


def _kl(p: Array, q: Array) -> float:
    return float((p * np.log(p / q)).sum())


_OF = ("feature", FACET)
_BOTH = (*_OF, LABEL, PREDICTED)
CI = _make_metric(["CI"], *_OF)
DPL = _make_metric(["DPL"], *_OF, LABEL)
CDDL = _make_metric(["CDDL"], *_OF, LABEL, GROUP)
KL = _distance_function("KL", _kl)
JS = _distance_function("JS", lambda p, q: (_kl(p, (p + q) / 2) + _kl(q, (p + q) / 2)) / 2)
LP = _distance_function("LP", lambda p, q: float(np.sqrt(((p - q) ** 2).sum())))
TVD = _distance_function("TVD", lambda p, q: float(np.abs(p - q).sum() / 2))
KS = _distance_function("KS", lambda p, q: float(np.abs(p - q).max()))
DPPL = _make_metric(["DPPL"], *_OF, PREDICTED)
DI = _make_metric(["DI"], *_OF, PREDICTED)
CDDPL = _make_metric(["CDDPL"], *_OF, PREDICTED, GROUP)
DCA, DCR = (
    _make_metric(["DCA", "DCR"], *_BOTH, name=n, pick=i) for i, n in enumerate(("DCA", "DCR"))
)
RD, SD = (_make_metric(["RD", "SD"], *_BOTH, name=n, pick=i) for i, n in enumerate(("RD", "SD")))
DAR, DRR = (
    _make_metric(["DAR", "DRR"], *_BOTH, name=n, pick=i) for i, n in enumerate(("DAR", "DRR"))
)
AD = _make_metric(["AD"], *_BOTH)
TE = _make_metric(["TE"], *_BOTH)
GE = _make_metric(["GE"], LABEL, PREDICTED)
FT = with_signature(_flip, "FT", "Flip Test (FT).", "df", FACET, PREDICTED)
DCO = _make_metric(["DCA", "DCR"], *_BOTH, name="DCO", pick=None)
DLR = _make_metric(["DAR", "DRR"], *_BOTH, name="DLR", pick=None)
DLA = _make_metric(["RD", "SD"], *_BOTH, name="DLA", pick=None)


def CDD(
    feature: Series, sensitive_facet_index: Series, label_index: Series, group_variable: Series
) -> float:
    """Return the conditional demographic disparity, of labels or of predictions."""
    return float(CDDL(feature, sensitive_facet_index, label_index, group_variable))
