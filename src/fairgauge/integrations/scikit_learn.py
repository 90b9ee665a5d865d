"""Scorers for scikit-learn: one number for how alike a model treats groups; greater is better."""

from __future__ import annotations

from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.api.audit import audit
from fairgauge.catalogue.directions import better_of
from fairgauge.catalogue.statistics import Statistic, adds_up
from fairgauge.enums import Average, Better, ClassKind, ScopeKind
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.specification import ask, refuse_beyond_audits
from fairgauge.results.scopes import NO_CLASS, ClassScope
from fairgauge.start.records import dataclass
from fairgauge.values import canonical, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.question.options import Array, Spec
    from fairgauge.results.report import Report

_GIVEN = ("label", "prediction", "score")
_FEATURES = ("sensitive", "intersections")
_MACRO = ClassScope(ClassKind.AVERAGE, average=Average.MACRO)


def scorer(
    metric: str | Metric | Statistic, *, sensitive: object, worst: bool = True, **options: Any
) -> Scorer:
    """Make a scorer for ``cross_validate``, ``GridSearchCV`` and their like.

    Sensitive features, weights and strata are columns of ``X``, or metadata of their names, which
    the model need not see. Greater is better, as of every scorer. Each group of each feature has a
    score:

    - of a difference or distance, its size with a minus sign: 0 is best;
    - of a ratio, the smaller of itself and its inverse: 1 is best;
    - of a rate such as accuracy, the rate itself, with a minus sign where lower is better.

    Of several classes the rate is that of all classes at once where there is one (accuracy, Cohen's
    kappa), else the macro average: the mean over the classes in which it is defined. A difference
    or a ratio has a score for each class, and for all of them where there is one. With ``strata``
    a metric that can be adjusted for them is.

    Parameters
    ----------
    metric : str, Metric or Statistic
        A metric, or a rate of groups.
    sensitive : str, list of str, or any form that `fairgauge.audit` takes
        The sensitive features, by name.
    worst : bool
        Whether the score is the worst of the groups' scores, and not their mean.
    **options
        Further options of `fairgauge.audit`, such as ``positive`` and ``reference``.

    Returns
    -------
    Scorer
        A callable ``scorer(estimator, X, y, **metadata)``. It raises `DataError` where a group has
        no value of the metric; scikit-learn then warns, and takes its ``error_score``, NaN.

    Raises
    ------
    SpecError
        An unknown metric or option, several metrics, or one without a better and a worse.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.scorer("selection_rate.ratio", sensitive="sex")
    <Scorer of selection_rate.ratio for sex: worst group>
    """
    given = [Problem(name, "is given by scikit-learn") for name in _GIVEN if name in options]
    if given:
        raise SpecError(given)
    asked = {"sensitive": sensitive, "metrics": [metric], **options}
    # a score with a threshold makes predictions: whatever the metric needs is there when it is read
    measured = _asked_metric(ask(label="label", score="answer", **{"threshold": 0.5} | asked))
    if options.get("threshold") is not None and "score" not in measured.needs:
        message = (
            f"has no effect: {measured.name} is of what the model predicts (predict); for another "
            "threshold wrap the model (sklearn.model_selection.FixedThresholdClassifier)"
        )
        raise SpecError(Problem("threshold", message))
    answer: dict[str, Any] = {"score" if "score" in measured.needs else "prediction": "answer"}
    spec = ask(label="label", **answer, **asked)
    refuse_beyond_audits(spec, "a scorer")
    return Scorer(measured, worst, asked, spec)


@dataclass(frozen=True, slots=True, repr=False)
class Scorer:
    """A scorer for scikit-learn, made by `fairgauge.scorer`.

    Attributes
    ----------
    measured : the metric, or the rate of groups.
    worst : whether the worst of the groups' scores is returned, and not their mean.
    options : the options of the audit, but for the columns that scikit-learn gives.
    spec : what the options mean.
    """

    measured: Metric | Statistic
    worst: bool
    options: Mapping[str, Any]
    spec: Spec

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns beside those that scikit-learn gives."""
        others = (*_GIVEN, "recode")  # of columns that have other parts in the question
        columns = (name for path, name in self.spec.columns() if not path.startswith(others))
        return tuple(dict.fromkeys(columns))

    def __call__(self, estimator: Any, X: object, y: Array, **metadata: object) -> float:  # noqa: N803
        """Return the score of an estimator on rows.

        Parameters
        ----------
        estimator : object
            With ``predict``, or ``predict_proba`` and ``classes_`` where the metric is of scores.
        X, y : frame or array, array of shape (n,)
            The rows, and their labels.
        **metadata
            The sensitive features, weights and other columns asked for that are no columns of
            ``X``; arrays of shape (n,).

        Raises
        ------
        DataError
            A column is not given, a group has no value, or the estimator no probabilities.
        SpecError
            Of several classes, a rate such as the selection rate, whose average is always the same.
        """
        columns = {name: _find_column(name, X, metadata) for name in self.columns}
        if self.spec.score is None:
            return self._score_report(columns, y, {"prediction": estimator.predict(X)})
        if not hasattr(estimator, "predict_proba"):
            raise DataError(
                f"{type(estimator).__name__} has no predict_proba, and {self.measured.name} is a "
                "metric of scores"
            )
        positive = self.spec.positive_of(self.spec.label)
        classes = [canonical(each) for each in estimator.classes_]
        chosen = [any(matches(value, each) for value in positive or (1,)) for each in classes]
        probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        probability = np.asarray(probabilities[:, chosen].sum(axis=1))
        return self._score_report(columns, y, {"score": probability})

    _sign, _kwargs = 1, MappingProxyType[str, object]({})

    def _score_func(self, y: Array, decided: Array, **metadata: object) -> float:
        # at a threshold at which a group has no value it is -1, below every other one
        columns = {name: _find_column(name, None, metadata) for name in self.columns}
        if self.spec.score is not None:
            raise DataError(
                f"{self.measured.name} is a metric of scores, which no threshold changes"
            )
        try:
            return self._score_report(columns, y, {"prediction": decided})
        except DataError:
            return -1.0

    def _score_report(self, columns: Any, y: Array, answer: Mapping[str, Any]) -> float:
        report = audit(columns, label=y, **answer, **self.options)
        scores = [self._score(name, value) for name, value in self._values(report)]
        if not scores:
            raise DataError(f"no group has {quote(self.measured.name)}")
        return min(scores) if self.worst else float(np.mean(scores))

    def get_metadata_routing(self) -> Any:
        """Return the metadata that scikit-learn passes on where it is given: the columns."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=repr(self))
        for name in self.columns:
            request.score.add_request(param=name, alias=True)
        return request

    def __repr__(self) -> str:
        groups = "worst group" if self.worst else "mean of groups"
        features = (name for path, name in self.spec.columns() if path.startswith(_FEATURES))
        names = ", ".join(dict.fromkeys(features))
        return f"<Scorer of {self.measured.name} for {names}: {groups}>"

    def _values(self, report: Report) -> Iterator[tuple[str, float | None]]:
        if isinstance(self.measured, Statistic):
            yield from self._rates(report, self.measured)
            return
        found = {}
        for each in sorted(report.estimates, key=lambda e: e.scope.kind is ScopeKind.POOLED):
            wanted = each.metric == self.measured.name and each.scope.kind is not ScopeKind.STRATUM
            if wanted and each.class_scope.is_single:  # adjusted for strata, where it can be
                found[each.feature, each.group, each.class_scope, each.threshold] = each
        for each in found.values():
            yield f"{each.feature}: {each.group}", each.value

    def _rates(self, report: Report, rate: Statistic) -> Iterator[tuple[str, float | None]]:
        # a rate of each group: of several classes that of all at once, or their average
        groups = [
            group
            for group in report.groups
            if group.scope.kind is ScopeKind.OVERALL
            and group.reference_kind is None
            and rate.name in group.rates
        ]
        at_once = any(group.class_scope == NO_CLASS for group in groups)
        if groups and not at_once and adds_up(rate):
            message = (
                f"state which classes are favourable: the {rate.title}s of all classes add up to "
                "1 in every group"
            )
            raise SpecError(Problem("positive", message))
        for group in groups:
            if group.class_scope == (NO_CLASS if at_once else _MACRO):
                yield f"{group.feature}: {group.group}", group.rates[rate.name].value

    def _score(self, group: str, value: float | None) -> float:
        if value is None:
            raise DataError(f"{self.measured.name} is undefined for {group}")
        if isinstance(self.measured, Statistic):
            better = better_of(self.measured, self.spec.favourable)
            return value if better is Better.HIGHER else -value
        if self.measured.neutral == 1:
            return min(value, 1 / value) if value > 0 else 0.0
        return -abs(value - self.measured.neutral)


def _asked_metric(spec: Spec) -> Metric | Statistic:
    (asked,) = spec.metrics
    rate = asked if isinstance(asked, Statistic) else None
    if isinstance(asked, str):
        with suppress(LookupError):
            rate = spec.catalogue.rate(asked)
    if rate is not None:
        if better_of(rate, spec.favourable) is Better.NEITHER:
            message = f"no {rate.title} is better than another; score {rate.name}.ratio"
            raise SpecError(Problem("metric", message))
        return rate
    metrics = spec.catalogue.expand([asked])
    if len(metrics) > 1:
        message = f"{quote(asked)} are {len(metrics)} metrics; name one, or a rate"
        raise SpecError(Problem("metric", message))
    if np.isnan(metrics[0].neutral):
        message = f"{metrics[0].name} has no value that means no difference, so none is best"
        raise SpecError(Problem("metric", message))
    return metrics[0]


def _find_column(name: str, X: Any, metadata: Mapping[str, object]) -> object:  # noqa: N803
    if metadata.get(name) is not None:
        return metadata[name]
    if name in getattr(X, "columns", ()):
        return X[name]
    raise DataError(
        f"{quote(name)} is neither metadata nor a column of X; write "
        "sklearn.set_config(enable_metadata_routing=True) and pass it on, "
        f"cross_validate(..., params={{{quote(name)}: values}})"
    )
