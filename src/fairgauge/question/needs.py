"""Needs: what a metric or a rate needs that a specification does not give it."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Metric, Representation
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Statistic
from fairgauge.errors import Problem, quote
from fairgauge.question.options import Spec, flag_of
from fairgauge.question.presets import preset
from fairgauge.reasons import Reason, ReasonCode

_TO_ADD: dict[str, str] = {
    "label": "label (--label COL)",
    "prediction": "prediction (--prediction COL), or score (--score COL)",
    "score": "score (--score COL)",
}


def given_columns(spec: Spec) -> frozenset[Need]:
    """Return the columns of an outcome that a specification has; a score makes predictions."""
    given: dict[Need, bool] = {
        "label": spec.label is not None,
        "prediction": spec.prediction is not None or spec.score is not None,
        "score": spec.score is not None,
    }
    return frozenset([need for need, stands in given.items() if stands])


def unmet_need(row: Metric | Statistic, spec: Spec) -> Reason | None:
    """Return what a metric or a rate needs that the specification does not give it."""
    return next(_obstacles(row, spec), None)


def _obstacles(row: Metric | Statistic, spec: Spec) -> Iterator[Reason]:
    missing = sorted(row.needs - given_columns(spec))
    if missing:
        yield Reason.of(ReasonCode.NEEDS_COLUMNS, columns=" and ".join(missing))
    of = row if isinstance(row, Statistic) else getattr(row, "of", None)
    if isinstance(of, ScoreStatistic) and of.probability and spec.score_range != (0.0, 1.0):
        yield Reason.of(ReasonCode.NEEDS_PROBABILITIES)
    if isinstance(row, Representation) and not spec.population:
        yield Reason.of(ReasonCode.NEEDS_POPULATION)
    unweighted = isinstance(of, Statistic) and not of.takes_weights
    if spec.weight is not None and (isinstance(row, RowMetric) or unweighted):
        yield Reason.of(ReasonCode.NO_WEIGHTS)
    if isinstance(row, RowMetric) and row.by_features and not spec.features:
        yield Reason.of(ReasonCode.NEEDS_FEATURES)
    if isinstance(row, ConditionalDisparity) and not spec.strata:
        yield Reason.of(ReasonCode.NEEDS_STRATA)


def unmet_needs(spec: Spec) -> Iterator[Problem]:
    """Yield the named metrics without a column that they need, and the rules without anything.

    The rates of margins need columns, too. A set such as ``clarify`` takes what the data allow. A
    metric that lacks anything but a column of the outcome is reported as not applicable; a rule on
    it could never be evaluated.
    """
    try:
        catalogue = spec.catalogue
    except LookupError:
        return  # two metrics have one name, which is reported as such
    yield from unmet_needs_of_margins(spec)
    no_decisions = _no_decisions(spec)
    if no_decisions is not None:
        yield no_decisions
    for i, asked in enumerate(spec.metrics):
        if asked in SETS or (
            no_decisions and asked in preset(spec.preset or "").options["metrics"]
        ):
            continue
        for metric in catalogue.expand([asked]):
            reason = unmet_need(metric, spec)
            if reason is not None and reason.code is ReasonCode.NEEDS_COLUMNS:
                yield Problem(f"metrics[{i}]", _what_to_add(metric, reason, spec))
                break  # the ratio of a rate needs what its difference needs
    for i, rule in spec.limits:
        metric_or_rate = rule.own or rule.definition or catalogue.rate(rule.metric)
        yield from unmet_needs_of_rule(metric_or_rate, spec, f"rules[{i}]")


def unmet_needs_of_margins(spec: Spec) -> Iterator[Problem]:
    """Yield the margins of rates that lack a column."""
    for name, _ in spec.margins if spec.candidate else ():
        try:
            rate = spec.catalogue.rate(name)
        except LookupError:
            continue  # is reported as such
        if rate.needs - given_columns(spec):
            yield Problem(f"margins.{name}", _columns_to_add(rate, spec))


def _no_decisions(spec: Spec) -> Problem | None:
    """Return that a preset compares decisions and none are given; a label may well hold them."""
    if spec.preset is None or "prediction" in given_columns(spec):
        return None
    metrics = [each for each in preset(spec.preset).options["metrics"] if each in spec.metrics]
    rows = [row for each in metrics for row in spec.catalogue.expand([each])]
    if not any("prediction" in row.needs for row in rows):
        return None
    message = f"preset {spec.preset} compares decisions, and none are given"
    if spec.label is None:
        return Problem("prediction", f"{message}; add {_TO_ADD['prediction']}")
    return Problem(
        "prediction",
        f"{message}. Decisions, such as approvals or hirings, are a prediction, not a label: if "
        f"{quote(spec.label)} holds them, use prediction in place of label "
        f"({flag_of('prediction', spec.label)}); if it is a number, such as a price, compare its "
        "mean without the preset (--task regression)",
    )


def unmet_needs_of_rule(row: Metric | Statistic, spec: Spec, path: str) -> Iterator[Problem]:
    """Yield what the metric or rate of a rule needs that the specification does not give it."""
    reason = unmet_need(row, spec)
    if reason is not None:
        yield Problem(f"{path}.metric", _what_to_add(row, reason, spec))


def _what_to_add(row: Metric | Statistic, reason: Reason, spec: Spec) -> str:
    if reason.code is ReasonCode.NEEDS_COLUMNS:
        return _columns_to_add(row, spec)
    low, high = spec.score_range
    wanted = {
        ReasonCode.NEEDS_PROBABILITIES: "needs scores that are probabilities; score_range is "
        f"{low:g} to {high:g}",
        ReasonCode.NEEDS_POPULATION: "needs shares of a population; add population (--population "
        "COL:V=SHARE,...)",
        ReasonCode.NO_WEIGHTS: "is not defined of weighted rows; remove weight (--weight), or the "
        "rule",
        ReasonCode.NEEDS_FEATURES: "needs columns to compare rows by; add features (--features "
        "COL,...)",
        ReasonCode.NEEDS_STRATA: "needs strata; add strata (--strata COL)",
    }
    return f"{row.name} {wanted[reason.code]}"


def _columns_to_add(row: Metric | Statistic, spec: Spec) -> str:
    missing = sorted(row.needs - given_columns(spec))
    columns = " and ".join(f"a {need}" for need in missing)
    return f"{row.name} needs {columns}; " + "; ".join(f"add {_TO_ADD[n]}" for n in missing)
