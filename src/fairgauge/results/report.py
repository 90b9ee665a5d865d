"""Report: the results of an audit, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeAlias, TypeVar, overload

from fairgauge.catalogue.facts import Facts
from fairgauge.catalogue.lookup import SCORING_RATE, Catalogue
from fairgauge.enums import ClassKind, Outcome, Profile, ScopeKind, Task, Threshold
from fairgauge.errors import FairgaugeError, alternatives, listing, nearest, quote
from fairgauge.results.adverse_impact import AdverseImpact
from fairgauge.results.codec import Finite, Version
from fairgauge.results.definitions import NOT_SAVED
from fairgauge.results.describers import function_at, in_words
from fairgauge.results.disadvantage import favourable_of, harm_in_words
from fairgauge.results.estimates import ByEstimator, Estimate, Group, GroupPair, ScoreCounts
from fairgauge.results.finding import Finding
from fairgauge.results.scopes import Diagnostic, Scope
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.results.verdicts import (
    RuleResult,
    RulesNotMet,
    Verdict,
    exit_code,
    results_by_rule,
    unmet,
)
from fairgauge.values import Saved

if TYPE_CHECKING:
    from fairgauge.results.subgroup_search import SubgroupSearch

Choice: TypeAlias = Mapping[str, object]
Key: TypeAlias = "str | tuple[object, ...]"
"""A metric; a feature, by its name or its columns; a group, by its name or its values; a scope."""

_SUBJECT = 3
_MOST_NAMED = 6
_LONGEST = 200
_CHOICES: dict[str, Callable[[Estimate], object]] = {
    "scope": lambda each: each.scope.kind,
    "stratum": lambda each: each.stratum,
    "class_scope": lambda each: each.class_scope.kind,
    "class": lambda each: each.class_,
    "average": lambda each: each.class_scope.average,
    "threshold": lambda each: each.threshold,
}
"""What distinguishes estimates of one metric and group, by the names of the JSON format."""
_OF_SCOPE = {"scope", "stratum"}
_OF_CLASS = {"class_scope", "class", "average"}


def find_estimate(estimates: Sequence[Estimate], key: Key, catalogue: Catalogue) -> Estimate:
    """Return the estimate of a report that a key names; see `Report.__getitem__`."""
    parts = (key,) if isinstance(key, str) else tuple(key)
    subject, choice = _read(parts)
    try:
        metric = catalogue.metric(str(parts[0])).name
    except LookupError as error:
        raise KeyError(str(error)) from None
    subject = (metric, *subject[1:])
    named = _named([e for e in estimates if e.metric == metric], subject)
    matching = _preferred([each for each in named if _is(each, choice)], choice)
    if len(matching) == 1:
        return matching[0]
    asked = ", ".join(map(str, (metric, *parts[1:])))
    if matching:
        raise KeyError(
            f"{len(matching)} estimates match {quote(asked)}; choose one: {_keys(matching, choice)}"
        )
    raise KeyError(f"no estimate {quote(asked)}.{_instead(estimates, subject, named, choice)}")


def _named(estimates: Sequence[Estimate], subject: Sequence[object]) -> list[Estimate]:
    """Return the estimates of a feature and a group: of these names, or else of the values."""
    exactly = [e for e in estimates if _subject(e)[: len(subject)] == tuple(subject)]
    if exactly or len(subject) == 1:
        return exactly
    return [
        e
        for e in estimates
        if _is_feature(e, subject[1]) and (len(subject) < _SUBJECT or _is_group(e, subject[2]))
    ]


def _is_feature(estimate: Estimate, asked: object) -> bool:
    if estimate.feature == asked or estimate.feature_id is None:
        return estimate.feature == asked
    columns = tuple(asked) if isinstance(asked, (list, tuple)) else None
    return estimate.feature_id.columns == columns or estimate.feature_id.name() == asked


def _is_group(estimate: Estimate, asked: object) -> bool:
    if estimate.group == asked or estimate.group_id is None:
        return estimate.group == asked
    return estimate.group_id.has_values(asked)


def _read(parts: tuple[object, ...]) -> tuple[tuple[object, ...], Choice]:
    """Return what names the subject, and what chooses among its estimates."""
    choice = dict(parts[-1]) if isinstance(parts[-1], Mapping) else {}
    for name in choice:
        if name not in _CHOICES:
            allowed = ", ".join(_CHOICES)
            raise KeyError(
                f"cannot choose by {quote(name)}.{nearest(name, _CHOICES)} Allowed: {allowed}"
            )
    plain = [part for part in parts if not isinstance(part, Mapping)]
    scope = plain[_SUBJECT] if len(plain) > _SUBJECT else None
    if isinstance(scope, Scope):
        choice |= {"scope": scope.kind, "stratum": scope.stratum}
    elif scope is not None:
        choice["stratum"] = scope
    return tuple(plain[:_SUBJECT]), choice


def _subject(estimate: Estimate) -> tuple[object, ...]:
    return (estimate.metric, estimate.feature, estimate.group)


def _is(estimate: Estimate, choice: Choice) -> bool:
    return all(_CHOICES[name](estimate) == value for name, value in choice.items())


def _preferred(matching: list[Estimate], choice: Choice) -> list[Estimate]:
    """Return the estimates of all rows and of no class, where nothing else is chosen."""
    if _OF_SCOPE.isdisjoint(choice):
        matching = [each for each in matching if each.scope.kind is not ScopeKind.STRATUM]
        matching = _first(matching, "scope", ScopeKind.OVERALL)
    if _OF_CLASS.isdisjoint(choice):
        matching = _first(matching, "class_scope", ClassKind.NONE)
    if "class_scope" not in choice:  # the worst class has its name too
        matching = (
            _first(matching, "class_scope", ClassKind.CLASS) if "class" in choice else matching
        )
    return matching


def _first(matching: list[Estimate], name: str, value: object) -> list[Estimate]:
    return [each for each in matching if _CHOICES[name](each) == value] or matching


def _keys(matching: Sequence[Estimate], choice: Choice) -> str:
    """Return the keys of some estimates, with no more than distinguishes them."""
    parts = [_parts(each) for each in matching]
    differing = [i for i, of in enumerate(zip(*parts, strict=True)) if len(set(of)) > 1]
    keys = []
    for each, of in zip(matching[:_MOST_NAMED], parts, strict=False):
        last = dict(choice) | dict(of[i] for i in differing)
        key = [*_subject(each), *([last] if last else [])]
        text = ", ".join(map(repr, key))
        keys.append(f"[{text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}]")
    more = len(matching) - len(keys)
    return f"{', '.join(keys)} and {more} more" if more else alternatives(keys)


def _parts(estimate: Estimate) -> tuple[tuple[str, object], ...]:
    """Return the shortest choice of the scope, the class and the threshold of an estimate."""
    scope, of_class = estimate.scope, estimate.class_scope
    of_rows = ("scope", str(scope.kind)) if scope.stratum is None else ("stratum", scope.stratum)
    of_classes: tuple[str, object] = ("class_scope", str(of_class.kind))
    if of_class.kind in (ClassKind.CLASS, ClassKind.SELECTION):
        of_classes = ("class", of_class.name)
    elif of_class.average is not None:
        of_classes = ("average", str(of_class.average))
    return of_rows, of_classes, ("threshold", estimate.threshold)


def _instead(
    estimates: Sequence[Estimate],
    subject: tuple[object, ...],
    named: Sequence[Estimate],
    choice: Choice,
) -> str:
    """Return what there is instead of what was asked for."""
    for name, value in choice.items():
        known = list(dict.fromkeys(_CHOICES[name](e) for e in named))
        if known and value not in known:
            texts = [str(each) for each in known if each is not None]
            hint = nearest(value, texts) if isinstance(value, str) else ""
            has = f"the {name} {listing(texts, _MOST_NAMED)}" if texts else f"no {name}"
            return f"{hint} It has {has}"
    same = [e for e in estimates if _subject(e)[:2] == subject[:2]]
    if same and len(subject) == _SUBJECT:
        groups = list(dict.fromkeys(str(each.group) for each in same))
        return f"{nearest(str(subject[-1]), groups)} Its groups: {listing(groups, 5)}"
    metrics = list(dict.fromkeys(estimate.metric for estimate in estimates))
    if subject[0] not in metrics:
        more = f" Its metrics: {listing(metrics, _MOST_NAMED)}" if metrics else ""
        return f" The report does not have the metric (metrics={[subject[0]]}).{more}"
    known = [", ".join(map(str, _subject(estimate))) for estimate in estimates]
    return nearest(", ".join(map(str, subject)), known)


Row = TypeVar("Row")


class ShownRows(tuple[Row, ...]):
    """A tuple of estimates, groups, verdicts, pairs or findings; it is displayed as a table."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: SupportsIndex) -> Row: ...
        @overload
        def __getitem__(self, at: slice) -> ShownRows[Row]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> Row | ShownRows[Row]:
        if isinstance(at, slice):
            return ShownRows(super().__getitem__(at))
        return super().__getitem__(at)

    def __repr__(self) -> str:
        return in_words("row_tables:rows_as_text", self)

    def _repr_html_(self) -> str:
        return in_words("row_tables:rows_as_html", self)

    def _repr_pretty_(self, printer: object, cycle: object) -> None:
        del cycle  # IPython would write the items of a tuple one by one
        write: Callable[[str], None] = printer.text  # type: ignore[attr-defined]
        write(repr(self))


@dataclass(frozen=True, slots=True)
class Data:
    """What was read.

    Attributes
    ----------
    source, fingerprint : where the rows came from, and a digest of their counts.
    rows, cases, used : physical rows, the cases they stand for, and the rows used; of a count the
        cases used.
    excluded : rows that are excluded, by reason; of a count cases, but for rows without one.
    """

    source: str
    fingerprint: str
    rows: int
    cases: Finite
    used: int
    excluded: Mapping[str, int]


class _FurtherQuestions:
    """What is asked of the rows or counts that a report was made of."""

    __slots__ = ()
    spec: Saved

    def explore(self, counts: object = None, *, exact: bool = False) -> Any:
        """Make a page that computes every view of the counts of this report, as `explore` does.

        Parameters
        ----------
        counts : Cube, or path of a .cube.json, optional
            What the report was made of; by default its own, which a saved report does not hold.
        exact : bool
            Whether the page may hold counts of fewer than ten persons, which people who have the
            file can read.

        Raises
        ------
        CubeError
            These are other counts, or a page cannot hold them.
        """
        return function_at("fairgauge.api.exploring:explore_report")(self, counts, exact=exact)

    def find(self, data: object = None, **search: Any) -> SubgroupSearch:
        """Find where a rate is worse, in any subgroup: `fairgauge.find` of the same question.

        Parameters
        ----------
        data : frame, path or Cube, optional
            The rows, or counts of them; by default the counts of this report, which must hold all
            features together (``intersections``).
        **search
            ``rate``, and what else `fairgauge.find` takes.

        Raises
        ------
        SpecError, DataError, CubeError
            As of `fairgauge.find`.
        """
        asked = {"config": self.spec, **search}
        found: SubgroupSearch = function_at("fairgauge.api.searching:find")(
            self if data is None else data, **asked
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(ResultOfMetrics, _FurtherQuestions):
    """The results of an audit; it is displayed in a notebook, and can be saved in any format.

    ``report["AD", "sex", "Female"]`` is one `Estimate`; name a stratum as a fourth part. A metric
    of the whole table is ``report["GE"]``. ``totals`` are all groups of each feature together.
    Two reports are equal if they hold the same results of the same specification.
    """

    KIND: ClassVar = ResultKind(
        name="report",
        schema="fairgauge.report/3",
        title="A fairness audit",
        called="a report of fairgauge",
        page="fairgauge.statements.audit:audit_page",
    )
    DERIVED: ClassVar = ("metrics", "_brief")

    version: Version
    created: str = field(compare=False)
    profile: Profile
    task: Task
    data: Data
    spec: Saved
    groups: tuple[Group, ...]
    totals: tuple[Group, ...] = ()
    estimates: tuple[Estimate, ...]
    pairs: tuple[GroupPair, ...] = ()
    findings: tuple[Finding, ...] = ()
    """The disparities that it leads with, the most important first, in every format."""
    verdicts: tuple[Verdict, ...]
    verdict: Outcome
    diagnostics: tuple[Diagnostic, ...]
    scores: tuple[ScoreCounts, ...] = ()
    counts: Any = field(default=None, compare=False, repr=False, metadata=NOT_SAVED)
    """The cube that it was made from; a report that was saved holds none."""
    adverse_impact: tuple[AdverseImpact, ...] = ()
    """Selections beside those to expect, where a preset asks for them."""
    estimators: tuple[ByEstimator, ...] = ()
    """Of features of which only probabilities are known, every comparison by every estimator."""

    def __post_init__(self) -> None:
        for name in ("groups", "totals", "estimates", "pairs", "findings", "verdicts"):
            object.__setattr__(self, name, ShownRows(getattr(self, name)))

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the report stand for."""
        if self._of_scoring_rates:
            return Catalogue(self.own, (SCORING_RATE,))
        binary = self.task is Task.BINARY
        return Catalogue(self.own, harm_in_words(self.spec) if binary else ())

    @property
    def by_rule(self) -> tuple[RuleResult, ...]:
        """Return what every rule comes to, with its verdicts, the worst group first."""
        return results_by_rule(self.verdicts, favourable_of(self.spec))

    @property
    def _of_scoring_rates(self) -> bool:
        """Whether scores are cut at their median, and those above it count as selected."""
        asked = self.spec
        cut = asked.get("threshold") == Threshold.MEDIAN and bool(asked.get("score"))
        turned = any(score.turned is not None for score in self.scores)
        return cut and not asked.get("prediction") and not turned

    def __getitem__(self, key: Key) -> Estimate:
        """Return one estimate: metric, feature, group and, if any, stratum.

        A metric of the whole table needs no more than its name. Without a stratum the estimate is
        that of all rows (with strata pooled where the metric is defined so); `POOLED` as the fourth
        part is the one adjusted for the strata. Where there are several thresholds or classes, a
        last part chooses one by the names of the JSON format: ``{"threshold": 0.3}``,
        ``{"class": "cat"}``, ``{"average": "macro"}``, ``{"class_scope": "worst"}``,
        ``{"stratum": "A"}``, ``{"scope": "pooled"}``.

        Raises
        ------
        KeyError
            There is no such estimate, or there are several; the message names the nearest, or the
            keys that choose one.
        """
        return find_estimate(self.estimates, key, self.catalogue)

    @property
    def metrics(self) -> Facts:
        """Return the facts of the rates and metrics in the report, by their names."""
        metrics = (estimate.metric for estimate in self.estimates)
        rates = (rate for group in self.groups for rate in group.rates)
        return self.catalogue.facts(rates, metrics)

    @property
    def exit_code(self) -> int:
        """Return the exit code of an audit: 1 a rule failed, 3 none did and some is undecided."""
        return exit_code(self.verdict)

    def check(self, *, inconclusive: str = "fail") -> Report:
        """Return this report if every rule is met, and raise otherwise.

        Parameters
        ----------
        inconclusive : {"fail", "pass"}
            Whether a rule that cannot be decided raises, too. A rule that matches no group or
            metric of the data always raises, as does an audit without rules.

        Raises
        ------
        RulesNotMet
            With a line for each rule and group that is not met.
        SpecError
            ``inconclusive`` is neither word.

        Examples
        --------
        >>> import fairgauge as fg
        >>> counts = fg.confusion("sex", {"F": {"tp": 10, "fn": 90}, "M": {"tp": 90, "fn": 10}})
        >>> fg.audit(counts, rules=["true_positive_rate.ratio >= 0.8"]).check()
        Traceback (most recent call last):
        ...
        fairgauge.results.verdicts.RulesNotMet: 1 of 1 verdicts is not a pass
        FAIL true_positive_rate.ratio >= 0.8, sex: F: true positive rate ratio 0.11: the whole ...
        """
        verdicts = unmet(self.verdicts, inconclusive)
        if verdicts or not self.verdicts:
            message = in_words("verdict_sentences:describe_unmet", self, verdicts)
            raise RulesNotMet(message, verdicts)
        return self

    def to_pandas(self, table: str = "estimates") -> Any:
        """Return estimates, groups, verdicts, pairs or findings as a pandas frame, a row each."""
        return function_at("fairgauge.render.streams:to_pandas")(self, table)

    def to_polars(self, table: str = "estimates") -> Any:
        """Return estimates, groups, verdicts, pairs or findings as a polars frame, a row each."""
        return function_at("fairgauge.render.streams:to_polars")(self, table)

    def by_group(self) -> Any:
        """Return the rates of every group as a pandas frame: a row each, a column for each rate."""
        return function_at("fairgauge.render.streams:by_group")(self)

    def overall(self) -> Any:
        """Return the rates of all groups together as a pandas frame, a row for each feature."""
        return function_at("fairgauge.render.streams:overall")(self)

    def difference(self) -> Any:
        """Return the differences of rates, group minus reference, as a pandas frame."""
        return function_at("fairgauge.render.streams:contrasts")(self, "difference")

    def ratio(self) -> Any:
        """Return the ratios of rates, group over reference, as a pandas frame."""
        return function_at("fairgauge.render.streams:contrasts")(self, "ratio")

    def __repr__(self) -> str:
        return (
            f"<Report of {self.data.rows:,} rows: {len(self.estimates):,} estimates, "
            f"verdict {self.verdict}; print() shows it, .save('report.html') keeps it>"
        )


def read_report(plain_report: Saved, name: str) -> Report:
    """Read a report from the plain values of its JSON."""
    try:
        return Report.from_dict(plain_report)
    except FairgaugeError as error:
        raise FairgaugeError(f"{quote(name)}: {error}") from None
