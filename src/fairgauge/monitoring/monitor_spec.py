"""What a monitor is asked: an audit's specification, and what is tolerated for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.lookup import SETS, Catalogue, catalogue_of
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import plan
from fairgauge.enums import ReferenceRule, Task, Threshold
from fairgauge.errors import (
    CubeError,
    DataError,
    Problem,
    SpecError,
    display,
    listing,
    problems_where,
    quote,
    refuse,
)
from fairgauge.monitoring.periods import Period, parse_period
from fairgauge.question.option_types import OptionType, number
from fairgauge.question.options import BY_NAME, OPTIONS
from fairgauge.question.readers import Location, items, plain_meaning, read_number
from fairgauge.question.rules import Rule, check_rule, parse_rule
from fairgauge.question.specification import (
    MODELS_INSTEAD,
    MONITOR,
    Spec,
    ask,
    overridden,
    read_options,
    unmet_needs_of,
)
from fairgauge.resolve.question_checks import limits_only_the_better_off
from fairgauge.results.monitor_results import SMALLEST_GROUP
from fairgauge.results.shown_result import load
from fairgauge.start.records import dataclass, fields, replace
from fairgauge.stats.sequential import Contrasted
from fairgauge.values import Json


@dataclass(frozen=True, slots=True, eq=False)
class BaselineCounts:
    """Counts that rules hold the periods against, and the name of their file."""

    source: str
    cube: Cube


LoadBaseline: TypeAlias = Callable[[object], BaselineCounts]


@dataclass(frozen=True, slots=True, eq=False)
class MonitorRule(Rule):
    """A contrast or rate that must stay within limits, or within a distance of its ``baseline``."""

    baseline: BaselineCounts | None = None

    def __str__(self) -> str:
        """Return the rule as it is written: ``DI >= 0.8``, ``DI within 0.05 of FILE``."""
        if self.baseline is not None:
            return f"{self.metric} within {self.high:g} of {self.baseline.source}"
        return Rule.__str__(self)

    def written(self) -> dict[str, Json]:
        keys: dict[str, Any] = {**self.to_dict()}
        del keys["decide"], keys["insufficient"]
        if self.baseline is not None:
            keys = {k: v for k, v in keys.items() if not k.startswith("at_")} | {
                "within": self.high, "of": self.baseline.cube.digest,
                "source": self.baseline.source,
            }  # fmt: skip
        return keys


@dataclass(frozen=True, slots=True, eq=False)
class MonitorSpec:
    """The question of a monitor.

    ``horizon, alpha``: the largest probability of any false alarm within so many periods.
    ``worth_catching``: the distance beyond a limit at which a shift should be found early.
    ``labels_within``: later periods after which labels are due; None where they come with their
        rows.
    ``start``: the first period that counts: a new start after an alarm was looked into.
    """

    question: Spec
    rules: tuple[MonitorRule, ...]
    horizon: int = 365
    alpha: float = 0.05
    worth_catching: float = 0.05
    labels_within: int | None = None
    start: Period | None = None

    @property
    def catalogue(self) -> Catalogue:
        own = self.question.catalogue.own
        return catalogue_of([*own, *(rule.own for rule in self.rules if rule.own is not None)])

    @property
    def baselines(self) -> list[BaselineCounts]:
        return [rule.baseline for rule in self.rules if rule.baseline is not None]

    @property
    def min_n(self) -> int:
        """Return the rows below which a group's data are insufficient."""
        return self.question.min_n or SMALLEST_GROUP

    def to_dict(self) -> dict[str, Json]:
        settings: dict[str, Json] = {
            name: getattr(self, name) for name in SETTINGS if getattr(self, name) is not None
        }
        if self.start is not None:
            settings["start"] = str(self.start)
        settings["rules"] = [rule.written() for rule in self.rules]
        return self.question.to_dict() | {MONITOR: settings}


def _start(value: object, at: Location) -> Period | None:
    try:
        return parse_period(value)
    except SpecError as error:
        at.report("; ".join(problem.message for problem in error.problems))
        return None


# the keys of ``[monitor]`` beside its rules: what each takes, and what it means
SETTINGS: dict[str, tuple[OptionType, str]] = {
    "horizon": (number(1, 1e9, whole=True), "Periods that alpha is for"),
    "alpha": (number(0, 1, inside=True),
        "Largest probability of any false alarm within the horizon"),
    "worth_catching": (number(0, inside=True),
        ("Distance beyond a limit at which a shift should be found early (of a ratio above 1: in "
        "its inverse)")),
    "labels_within": (number(1, whole=True),
        ("Where labels come later: later periods after which they are due, and a period enters "
        "with those it has")),
    "start": (OptionType(read=_start, schema={"type": "string"}, metavar="P"),
        "First period that counts"),
}  # fmt: skip


def read_monitor_spec(
    asked: MonitorSpec | Mapping[str, object] | str | Path,
    baselines: Callable[[str], Cube] | None = None,
    options: Mapping[str, object] | None = None,
) -> MonitorSpec:
    """Read what a monitor is asked: a file, or its keys, which options of an audit override.

    ``baselines`` gives counts by digest, for specifications that a history keeps.

    Raises ``SpecError``: everything that is wrong, each with its path: a baseline that cannot be
        read, too.
    """
    given: dict[str, Any] = {k: value for k, value in (options or {}).items() if value is not None}
    problems: list[Problem] = []
    question: Spec | None
    folder = Path() if isinstance(asked, (Mapping, MonitorSpec)) else Path(asked).parent

    def load_baseline(of: object) -> BaselineCounts:
        source = str(of)
        beside = folder / source if (folder / source).exists() else Path(source)  # no address
        cube = load(beside) if baselines is None else baselines(source)
        if not isinstance(cube, Cube):
            raise DataError(f"{quote(of)} is no cube of counts; fairgauge count makes one")
        return BaselineCounts(Path(source).name, cube)

    if isinstance(asked, MonitorSpec):
        if not given:
            return asked
        question = ask(base=asked.question, **given)
        problems += _refuse_unmonitored(question)
        rules = asked.rules
        if "rules" in given:
            rules = _rules(None, question, load_baseline, problems)
        refuse(problems)
        return replace(asked, question=question, rules=rules)
    if not isinstance(asked, Mapping):
        asked = read_options(asked)
    keys = dict(asked)
    settings = keys.pop(MONITOR, None)
    settings = {} if settings is None else settings
    if not isinstance(settings, Mapping):
        problems.append(Problem(MONITOR, f"must be a table, not {display(settings)}"))
        settings = {}
    question, options = None, overridden(keys, given)
    try:
        question = ask(None, None, **options)
        problems += _refuse_unmonitored(question)
    except SpecError as error:
        problems += error.problems
    at = Location(MONITOR, problems)
    allowed = (*SETTINGS, "rules")
    misplaced = [name for name in settings if name in BY_NAME and name not in allowed]
    for name in misplaced:
        at[name].report(f"is an option of the question: write it above [{MONITOR}]")
    at.report_unknown_keys([name for name in settings if name not in misplaced], allowed)
    values: dict[str, Any] = {  # each of the type of its field
        name: kind.read(settings[name], at[name])
        for name, (kind, _) in SETTINGS.items()
        if settings.get(name) is not None
    }
    monitored = None if "rules" in given else settings.get("rules")
    rules = _rules(monitored, question, load_baseline, problems)
    if problems or question is None:
        raise SpecError(problems)
    return MonitorSpec(question, rules, **values)


def _refuse_unmonitored(question: Spec) -> list[Problem]:
    names = listing([quote(probability.name) for probability in question.probabilities])
    reference, by_score = question.reference, question.score and question.prediction is None
    median = isinstance(question.threshold, Threshold)
    cuts = () if isinstance(question.threshold, Threshold) else question.threshold
    return problems_where(
        (question.probabilities, "probabilities",
         (f"{names}: a monitor needs recorded groups, whose e-values are of counts; audit each "
         "period (fairgauge audit), or monitor a column of recorded groups")),
        (question.design, str(question.design),
         "a monitor has no survey design; audit each period with it"),
        (question.candidate, "candidate", f"a monitor follows one model; {MODELS_INSTEAD}"),
        (reference is ReferenceRule.BEST, "reference",
         ("the best group is chosen by the outcomes that are monitored, so that differences from "
         "it are no evidence; name the group (reference = {COLUMN = GROUP}), or use largest or "
         "others")),
        (reference is ReferenceRule.LARGEST and question.intersections, "reference",
         ("the largest group of an intersection may be another one than its columns' largest; name "
         "the groups (reference = {COLUMN = GROUP, ...}), or compare with others")),
        (median, "threshold", "the median of every period is another threshold; give a number"),
        (by_score and len(cuts) > 1, "threshold",
         "a monitor takes one threshold; monitor each alone"),
    )  # fmt: skip


def _rules(
    asked: object, question: Spec | None, load_baseline: LoadBaseline, problems: list[Problem]
) -> tuple[MonitorRule, ...]:
    where = f"{MONITOR}.rules"
    if asked is None and question is not None and question.rules:
        asked, where = list(question.rules), "rules"
    found = []
    for i, keys in enumerate(items(asked) if asked is not None else []):
        path = f"{where}[{i}]"
        rule = _rule(keys, path, load_baseline, problems)
        if rule is not None:
            found.append(rule)
            problems += _question_mistakes(rule, path, question)
    if not found and not problems:
        message = (
            "has no rule; write [[monitor.rules]] with a metric and at_least, at_most or within"
        )
        problems.append(Problem(MONITOR, message))
    if question is not None and not problems:
        catalogue = MonitorSpec(question, tuple(found)).catalogue
        problems += limits_only_the_better_off(found, catalogue, question, where)
    return tuple(found)


def _rule(
    keys: object, path: str, load_baseline: LoadBaseline, problems: list[Problem]
) -> MonitorRule | None:
    rule: Rule | None = None
    baseline: BaselineCounts | None = None
    if isinstance(keys, Rule):
        rule = keys
    elif isinstance(keys, str):
        try:
            rule = parse_rule(keys)
        except SpecError as error:
            problems += [Problem(path, problem.message) for problem in error.problems]
    elif isinstance(keys, Mapping):
        at = Location(path)
        at.report_unknown_keys((key for key in keys if key != "source"), [*_RULE["properties"]])
        limits = {k: v for k, v in keys.items() if k not in ("within", "of", "source")}
        if "within" in keys or "of" in keys:
            within, baseline = _read_within(keys, at, load_baseline)
            limits |= {"between": [-within, within]}
        rule = None if at.problems else check_rule(limits, at)
        problems += at.problems
    else:
        problems.append(Problem(path, f"must be a rule, not {display(keys)}"))
    if rule is None:
        return None
    return MonitorRule(
        rule.metric, rule.low, rule.high, features=rule.features, groups=rule.groups, own=rule.own,
        baseline=baseline,
    )  # fmt: skip


def _read_within(
    keys: Mapping[str, object], at: Location, load_baseline: LoadBaseline
) -> tuple[float, BaselineCounts | None]:
    for key in ("within", "of"):
        if key not in keys:
            at[key].report(
                "is missing; within and of go together: how far, and the cube of the baseline"
            )
    for key in ("at_least", "at_most", "between"):
        if key in keys:
            at[key].report("a rule has limits, or a baseline, not both")
    within = read_number(0)(keys.get("within", 0.0), at["within"])
    of, baseline = keys.get("of", ""), None
    if not isinstance(of, (str, Path)):
        message = "must be the file of a baseline that fairgauge count made (month.cube.json)"
        at["of"].report(f"{message}, not {display(of)}")
    elif of:
        try:
            baseline = load_baseline(of)
        except (DataError, CubeError) as error:
            at["of"].report(str(error))
        else:
            baseline = replace(baseline, source=str(keys.get("source", baseline.source)))
    return within, baseline


def _question_mistakes(rule: MonitorRule, path: str, question: Spec | None) -> list[Problem]:
    if question is None:
        return []
    audited = question.audited
    problems = [
        Problem(f"{path}.features", f"{quote(name)} is not a sensitive feature")
        for name in rule.features
        if name not in audited
    ]
    row = rule.own or question.catalogue.row(rule.metric)
    unmet = list(unmet_needs_of(row, question, f"{path}.metric"))
    problems += unmet
    rate, dependent = contrasted_rate(row), question.weight or question.cluster
    alone = rule.definition is None and not unmet  # a rate, which no interval of a comparison is of
    why = "its rows have weights or clusters" if dependent else "it is no share of rows"
    problems += problems_where(
        (alone and (rate is None or dependent), f"{path}.metric",
         (f"the {rule.metric} of groups cannot be monitored, because {why}; monitor "
         f"{rule.metric}.difference")),
    )  # fmt: skip
    if rule.baseline is None:
        return problems
    difference = plan(question).difference(rule.baseline.cube.plan)
    return problems + problems_where(
        (difference, f"{path}.of",
         f"the baseline counts something else: {difference} (the question first)"),
        (rate is None, f"{path}.metric",
         f"{rule.metric} compares no rate of rows; a baseline needs one that does"),
        (rate is not None and not is_exact(rate, question), f"{path}.within",
         ("a baseline needs rows that are independent and of equal weight, and a reference that no "
         "group is part of; state limits (at_least, at_most) in place of within and of, or leave "
         'out weight, cluster or reference = "overall"')),
    )  # fmt: skip


def is_exact(rate: MonitoredRate, question: Spec) -> bool:
    """Return whether counts decide a rule exactly: rows are binomial, and sides share none."""
    plain = question.weight is None and question.cluster is None
    overlapping = question.reference is ReferenceRule.OVERALL and rate.by != "rate"
    return plain and question.task is not Task.REGRESSION and not overlapping


@dataclass(frozen=True, slots=True)
class MonitoredRate:
    """What a metric contrasts: a rate of rows, how, and which way round."""

    rate: Rate
    by: Contrasted
    turned: bool = False


Rates: TypeAlias = Mapping[int, MonitoredRate]


def contrasted_rate(row: Metric | Statistic) -> MonitoredRate | None:
    """Return the rate of rows that a metric contrasts; None of metrics of other kinds."""
    if isinstance(row, Rate):
        return MonitoredRate(row, "rate")
    if not isinstance(row, Contrast) or not isinstance(row.of, Rate):
        return None
    by: Contrasted = "difference" if row.by == "difference" else "ratio"
    return MonitoredRate(row.of, by, row.order == "reference - group")


_NUMBER: dict[str, Json] = {"type": "number"}
_NAMES: dict[str, Json] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
_RULE: dict[str, Any] = {"type": "object", "properties": {"metric": {"$ref": "#/$defs/Metric"},
        "at_least": _NUMBER, "at_most": _NUMBER,
        "between": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
        "within": {"description": "Largest distance from the baseline.", **_NUMBER, "minimum": 0},
        "of": {"description": "Cube file of the baseline.", "type": "string"}, "features": _NAMES,
        "groups": _NAMES}, "required": ["metric"],
    "dependentRequired": {"within": ["of"], "of": ["within"]}, "additionalProperties": False,
}  # fmt: skip


def schema() -> dict[str, Json]:
    """Return the JSON Schema of a specification file of an audit or of a monitor.

    >>> schema()["properties"]["monitor"]["properties"]["horizon"]["default"]
    365
    """
    usual = {field.name: field.default for field in fields(MonitorSpec)}
    settings = {
        name: _option(kind, description, plain_meaning(usual[name]))
        for name, (kind, description) in SETTINGS.items()
    }
    rule: dict[str, Json] = {"anyOf": [{"type": "string"}, _RULE]}
    monitor: dict[str, Json] = {
        "description": "What a monitor of this question tolerates: fairgauge monitor.",
        "type": "object", "properties": {**settings, "rules": {
                "description": "What is tolerated; the rules of the audit where it is absent.",
                "anyOf": [rule, {"type": "array", "items": rule}]}}, "additionalProperties": False,
    }  # fmt: skip
    asked = Spec().to_dict()
    options = {
        each.name: _option(each.type, each.description, asked[each.name]) for each in OPTIONS
    }
    rows = [*(metric.name for metric in METRICS), *(rate.name for rate in RATES)]
    names: dict[str, list[Json]] = {"Name": [*SETS, *rows], "Metric": [*rows]}
    named = "A catalogue name (listed) or a synonym; see: fairgauge metrics."
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Specification of a fairgauge audit",
        "description": "Every key is optional here or on the command line.",
        "type": "object", "properties": {**options, MONITOR: monitor},
        "additionalProperties": False,
        "$defs": {key: {"description": named, "anyOf": [{"enum": listed}, {"type": "string"}]}
                  for key, listed in names.items()},
    }  # fmt: skip


def _option(kind: OptionType, description: str, default: Json) -> Json:
    either: list[Json] = [kind.schema, {"type": "null"}]
    return {"description": f"{description}.", "default": default, "anyOf": either}
