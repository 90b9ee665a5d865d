"""The table of options: what may be asked of an audit, and how each option is written.

`Spec` is the table: its fields are the options, each with an `Option` as metadata. The keys and the
JSON Schema of specification files, flags with their help, the command that repeats an audit, the
page of documentation and what a comparison of two reports calls "asked differently" are derived
from it. `Options`, which has the types that the keywords of `fairgauge.audit` accept, cannot be
derived for type checkers: a test holds it to the table.
"""

# ruff: noqa: E501 - an option is one row, so that the table reads as a table

from __future__ import annotations

import inspect
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ForwardRef, Protocol, TypedDict, TypeVar

from fairgauge import enums
from fairgauge.errors import Problem
from fairgauge.identity import FeatureId, unique_names
from fairgauge.question import option_types as types
from fairgauge.question import readers as syntax
from fairgauge.question.category_words import OwnWords, is_code_of_missing, means_missing
from fairgauge.question.conditions import Conditions
from fairgauge.question.features import Above, ByColumn, Feature, Positive, Probabilities
from fairgauge.question.option_types import DOCUMENT_KEYS, Document, Words
from fairgauge.question.recoding import Recoding, Recodings, write_recodings
from fairgauge.question.rules import Rule
from fairgauge.start.records import dataclass, field, fields, replace
from fairgauge.values import Json, Value, canonical, name_of

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.question.kits import Kit

Default = TypeVar("Default")
Column = str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """An option of an audit."""

    name: str = ""  # the keyword of `fairgauge.audit` and the key of a specification file
    default: object = None  # the meaning where it is not given; None means not asked
    type: types.OptionType  # how its values are read and written
    description: str  # a noun phrase, for help, documentation and JSON Schema
    flag: str = ""  # its flag on the command line
    syntax: str = ""  # the forms that the values of its flag have, for help
    counted: bool = False  # whether it decides what is counted, so that a cube must be asked for it
    effect: str = ""  # what follows if two reports differ in it, for their comparison
    comparable: bool = True  # whether changes have intervals where it differs
    described: bool = False  # whether it only describes the audit, so that no number depends on it

    @property
    def usual(self) -> str:
        """Return the default as its flag takes it; empty where nothing is asked by default."""
        value = self.type.plain(self.default)
        asked = bool(value) or isinstance(value, (int, float))
        return " ".join(self.type.write(value)) if asked else ""

    def help(self, *, flag: bool = False) -> str:
        """Return its description, with choices and default, and of its ``flag`` with its forms."""
        notes = [f"one of {', '.join(self.type.words)}"] if self.type.words else []
        notes += [f"default {self.usual}"] if self.usual else []
        noted = f" ({'; '.join(notes)})" if notes else ""
        return f"{self.description}{noted}. {self.syntax if flag else ''}".strip()


def option(default: Default, type_: types.OptionType, description: str, **notes: Any) -> Default:
    """Return the field of an option; its flag is named like the field unless ``flag`` is given."""
    row = Option(type=type_, description=description, **notes)
    return field(default=default, metadata={"option": row})


# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Everything that is asked of an audit, defaults included; see `fairgauge.audit`."""

    label: Column = option(None, types.COLUMN, "Column of the observed outcome", counted=True, effect="one of the reports has no label")
    prediction: Column = option(None, types.COLUMN, "Column of the model's decision", counted=True)
    score: Column = option(None, types.COLUMN, "Column of the model's score, a probability unless score_range is given", counted=True)
    candidate: tuple[str, ...] = option((), types.COLUMNS, "Columns of the decisions (or scores) of candidate models, which are compared with the model in use on the same rows", syntax="Repeatable.", counted=True)
    margins: types.Margins = option((), types.MARGINS, "By how much a candidate may be worse: in a rate of all rows, in the distance of disparities from no difference and in the groups' own rates that they compare", flag="--margin", syntax="In the unit of the rate: accuracy=0.01; of every disparity: disparity=0.05, of ratios a share; of one: true_positive_rate.difference=0.1. Repeatable.")
    score_of: Value = option(None, types.VALUE, "Label value whose probability the score gives, if not the positive one", counted=True)
    score_range: tuple[float, float] = option((0.0, 1.0), types.RANGE, "Range of the score", counted=True)
    threshold: tuple[float, ...] | enums.Threshold = option((), types.THRESHOLD, "Scores from which the prediction is positive, where no prediction is given; without it the score itself is audited", syntax="Several: 0.3,0.5. The median of all rows: median.", counted=True, effect="scores decide differently")
    positive: Positive = option((), types.POSITIVE, "Positive label values (default 1 and true; favourable unless --favourable states otherwise), those of each column, or the number above which a label is positive", syntax="Where label and prediction have other words: decision=Hired and label=yes, by the names of these columns; any other text is a value. A cut of numbers: '>50000' or '>=50000'.", counted=True)
    negative: Positive = option((), types.POSITIVE, "Values of the other outcome, or those of each column; with both stated, every other value is undecided, like a row without an outcome", syntax="Written like the positive values.", effect="other values are undecided")
    favourable: enums.Favourable | None = option(None, types.word(enums.Favourable, "F"), "What is better for a person: the positive (default) or the negative outcome, of amounts and of scores the higher or the lower one (lower of places, where 1 is the best), or neither", effect="who is worse off is another side")
    sensitive: tuple[Feature, ...] = option((), types.FEATURES, "Columns whose values define groups", syntax="COL=V1,V2: these values as one group; the others are judged only where they are named, too. COL:40,60: intervals cut at 40 and 60, COL:40:left with closed left edges. Repeatable.", counted=True)
    probabilities: tuple[Probabilities, ...] = option((), types.PROBABILITIES, "Sensitive features that are not recorded, with the columns of the probabilities of their groups", syntax="'race: Black=p_black, White=p_white; known=COL; known_drawn=random; assume=given_group'. Columns of another file, by place or surname: '...; table=FILE; on=COL'. Repeatable.", counted=True, effect="the groups are estimated from other probabilities, or under another assumption")
    recode: Recodings = option((), types.RECODE, "Categories of the values of a column, by which they are counted", syntax="A file (.toml, .yaml, .json), or a line of TOML: 'sex = {Male = [\"M\", \"male\"], unknown = [\"?\"]}', of ranges of numbers 'age = {inside = \"25-60\", outside = \"<25 or >60\"}'. Repeatable; those of one column are joined.", effect="values are in other groups or outcomes", comparable=False)
    where: Conditions = option((), types.CONDITIONS, "Rows that are counted, by values or ranges of columns; all conditions must hold", syntax="'region = North or South', 'code != 4 or 5', 'income = (missing)', 'age < 40', '2026-01-01 <= applied_on < 2026-04-01'. Repeatable.", counted=True, effect="other rows are counted")
    intersections: tuple[tuple[str, ...], ...] = option((), types.INTERSECTIONS, "Columns whose combined values define groups", flag="--intersect", syntax="Repeatable.", counted=True)
    strata: tuple[Feature, ...] = option((), types.STRATA, "Columns that comparisons are stratified by, at most six, which are crossed", syntax="COL:40,60: intervals cut at 40 and 60. Repeatable.", counted=True, effect="the comparisons are stratified differently")
    count: Column = option(None, types.COLUMN, "Column of the number of cases that a row stands for", counted=True, effect="the rows stand for different numbers of cases")
    successes: Column = option(None, types.COLUMN, "Column of how many of the cases of a row (count) have the positive label, or, as prediction=COL, the positive decision", counted=True, effect="outcomes are counted from another column")
    weight: Column = option(None, types.COLUMN, "Column of sampling weights", counted=True, effect="the rows have different weights")
    cluster: Column = option(None, types.COLUMN, "Column identifying clusters of non-independent rows (for example user or session)", counted=True, effect="the intervals are computed differently")
    list: Column = option(None, types.COLUMN, "Column of the lists (of a query, a job, a user) that rows are ranked in: the top is taken in each and added up, and lists are clusters", effect="the rows are ranked in other lists")
    strata_of_sample: Column = option(None, types.COLUMN, "Column of the strata that a survey was sampled within; cluster then names its primary sampling units", counted=True, effect="the intervals are computed differently")
    replicate_weights: syntax.ReplicateWeights | None = option(None, types.REPLICATES, "Replicate weights of a survey, and the rule of their variance", syntax="'PWGTP1-PWGTP80; acs'. Rules: brr, fay K, jk1, jkn FACTORS, acs.", counted=True, effect="the intervals are computed differently")
    lonely: enums.Lonely = option(enums.Lonely.REFUSE, types.word(enums.Lonely, "L"), "Strata of the sample with one sampling unit: no interval, or about the mean of all", effect="the intervals are computed differently")
    person: Column = option(None, types.COLUMN, "Column identifying people, who are counted in place of rows", counted=True, effect="people are counted differently", comparable=False)
    per_person: enums.Person = option(enums.Person.ANY, types.word(enums.Person, "P"), "What counts of a person: the positive decision if any is, or each (as clusters)", counted=True, effect="people are counted differently", comparable=False)
    reference: enums.ReferenceRule | types.NamedReferences = option(enums.ReferenceRule.OTHERS, types.REFERENCE, "Reference that a group is compared with: all other groups, all rows, the largest group, the group that fares best, or a named group", syntax="One of others, overall, largest, best, or COL=VALUE; of an intersection 'sex*race=Female & Black'. Repeatable.", effect="the groups are compared with another reference", comparable=False)
    min_n: int | None = option(None, types.number(1, whole=True), "Smallest number of cases of a group that is a reference or has a verdict", flag="--min-group")
    min_share: float | None = option(None, types.number(0, 1, inside=True, metavar="SHARE"), "Smallest share of all cases of a group that is a reference or has a verdict (0.02 is 2%)")
    unknown: tuple[Value, ...] = option((), types.VALUES, "Values of sensitive features that mean that the group is missing (for example Unknown)", effect="rows without a group are treated differently")
    exclude_groups: tuple[str, ...] = option((), types.GROUPS, "Groups whose rows are excluded from their feature, the other side of comparisons included", effect="other groups are compared")
    metrics: tuple[str | Statistic | Metric, ...] = option(("standard",), types.METRICS, "Metrics, rates or sets of metrics: standard, clarify, vertex, native, all", syntax="See: fairgauge metrics.")
    preset: Kit | None = option(None, types.PRESET, "Preset of a regulation, whose options hold unless they are given", syntax="See: fairgauge presets.", described=True)
    features: tuple[str, ...] = option((), types.COLUMNS, "Columns for the metrics that compare rows")
    task: enums.Task | None = option(None, types.word(enums.Task, "T"), "Task of the model, otherwise inferred from the labels", counted=True)
    confidence: float = option(0.95, types.number(0.5, 0.999999, metavar="C"), "Confidence level", effect="the intervals of the two reports have different confidence levels", comparable=False)
    method: enums.Method = option(enums.Method.DEFAULT, types.word(enums.Method, "M"), "Method of the confidence intervals", effect="the intervals are computed differently")
    multiplicity: enums.Multiplicity = option(enums.Multiplicity.PER_DECISION, types.word(enums.Multiplicity, "M"), "What the confidence level of a verdict of fail covers: each comparison, or all together (Holm)", effect="the verdicts control different error rates")
    seed: int = option(0, types.number(0, whole=True), "Random seed for resampling methods")
    replicates: int = option(2_000, types.number(1, 10_000_000, whole=True, metavar="R"), "Number of replicates of resampling methods")
    profile: enums.Profile = option(enums.Profile.DOCUMENTED, types.word(enums.Profile, "P"), "Formulas of the metrics: as documented, or as smclarify computes them", counted=True, effect="the two profiles compute some metrics differently", comparable=False)
    missing: enums.Missing = option(enums.Missing.EXCLUDE, types.word(enums.Missing, "M"), "Treatment of rows without a group: excluded, a group of their own, an error, or, by an assumption that nothing checks, spread over groups within each outcome as the others are (missing at random)", effect="rows without a group are treated differently", comparable=False)
    rules: tuple[Rule, ...] = option((), types.RULES, "Limits that metrics, or rates of groups, must keep to", flag="--rule", syntax="'DI >= 0.8', '-0.1 <= RD <= 0.1' or '|RD| <= 0.1'. Repeatable.")
    inconclusive: enums.Undecided | None = option(None, types.word(enums.Undecided, "V"), "Verdict that what cannot be decided counts as, in every output", effect="undecided verdicts count differently")
    accept: tuple[str, ...] = option((), types.ACCEPTED, "Doubts that are accepted, by their code in the JSON report: what a check takes for a mistake is meant, and withholds no pass", syntax="undecided_outcomes, or of one column missing_marker:race. Repeatable.", effect="other doubts are accepted")
    checks: OwnWords = option((), types.CHECKS, "Your own words for values that are no group or decision, in any language, next to those that checks know", syntax="A file with a table for each meaning (not_known, total, undecided ...), of lists of words by language.", effect="other values are doubted")
    max_groups: int = option(1_000, types.number(1, 100_000, whole=True), "Largest number of values of a column")
    document: Document = option(Document(), types.DOCUMENT, "Title, author and other descriptions of the audit", syntax=f"KEY=TEXT; keys are {', '.join(DOCUMENT_KEYS)}. Repeatable.", described=True)
    words: Words = option(Words(), types.WORDS, "What the first page calls rows, people, decisions, outcomes and groups", flag="--word", syntax="positive=approved, noun=applicants, groups.sex.F=women. Repeatable.", described=True)
# fmt: on

    def columns(self) -> Sequence[tuple[str, str]]:
        """Return every column asked for, with the path of the question: (path, column)."""
        single = ((o.name, getattr(self, o.name)) for o in OPTIONS if o.type is types.COLUMN)
        asked = [(name, column) for name, column in single if column is not None]
        for key, control in (("strata", False), ("controls", True)):
            of = [each.column for each in self.strata if each.control is control]
            asked += [(key if len(of) == 1 else f"{key}[{i}]", name) for i, name in enumerate(of)]
        asked += [(f"sensitive[{i}]", f.column) for i, f in enumerate(self.sensitive)]
        alone = {f.column for f in self.sensitive}
        for i, parts in enumerate(self.intersections):
            of_part = ((f"intersections[{i}][{j}]", part) for j, part in enumerate(parts))
            asked += [(path, part) for path, part in of_part if part not in alone]
        for i, each in enumerate(self.probabilities):
            path = f"probabilities[{i}]"
            own = [(f"{path}.probabilities.{g}", c) for g, c in each.columns]
            asked += [(f"{path}.on", each.on)] if each.on else own
            asked += [(f"{path}.known", each.known)] if each.known else []
        asked += [(f"where.{each.column}", each.column) for each in self.where]
        asked += [(f"recode.{each.column}", each.column) for each in self.recode]
        for i, accepted in enumerate(self.accept):
            code, _, name = accepted.partition(":")
            if name and name not in self.audited and code not in enums.DOUBTS_OF_A_PERIOD:
                asked.append((f"accept[{i}]", name))
        asked += [(f"candidate[{i}]", name) for i, name in enumerate(self.candidate)]
        replicates = self.replicate_weights.columns if self.replicate_weights else ()
        asked += [("replicate_weights", name) for name in replicates]
        return asked + [(f"features[{i}]", name) for i, name in enumerate(self.features)]

    @property
    def design(self) -> str | None:
        """Return the option that states the design of a survey; None where none does."""
        return next(iter([name for name in DESIGN if getattr(self, name) is not None]), None)

    @property
    def catalogue(self) -> Catalogue:
        """Return the rates and metrics that can be named: those of fairgauge, and the user's own."""
        from fairgauge.catalogue.lookup import catalogue_of  # not for --help

        ruled = (rule.own for rule in self.rules if rule.own is not None)
        return catalogue_of((*self.metrics, *ruled))

    @property
    def recorded(self) -> dict[str, FeatureId]:
        """Return every recorded feature and intersection, by its name in all results."""
        ids = [FeatureId((f.column,)) for f in self.sensitive]
        ids += [FeatureId(columns) for columns in self.intersections]
        return dict(zip(unique_names(ids), ids, strict=True))

    @property
    def audited(self) -> dict[str, FeatureId]:
        """Return every feature by its name, those known by probabilities alone among them."""
        return self.recorded | {of.name: FeatureId((of.name,)) for of in self.probabilities}

    def feature(self, column: str) -> Feature:
        """Return the sensitive feature of a column (a plain one if only an intersection has it)."""
        return next((f for f in self.sensitive if f.column == column), Feature(column))

    @property
    def names_values(self) -> bool:
        """Return whether outcomes are favourable by their values, not by a cut."""
        return not isinstance(self.positive, Above)

    @property
    def decision(self) -> str | None:
        """Return the column that decides: the prediction, or a score with a threshold."""
        return self.prediction or (self.score if self.threshold else None)

    @property
    def words_of_predictions(self) -> str | None:
        """Return the label whose words for the outcomes predictions have; None where none has."""
        return None if isinstance(self.positive, ByColumn) else self.label

    def positive_of(self, column: str | None) -> tuple[Value, ...]:
        """Return the values of a column of outcomes that are stated as favourable."""
        stated = self.positive
        return stated if isinstance(stated, tuple) else self._values_of(stated, column)

    def negative_of(self, column: str | None) -> tuple[Value, ...]:
        """Return the values of a column of outcomes that are stated as the other outcome."""
        stated = self.negative
        return stated if isinstance(stated, tuple) else self._values_of(stated, column)

    def _values_of(self, stated: Positive, column: str | None) -> tuple[Value, ...]:
        if not isinstance(stated, ByColumn):
            return ()
        values = dict(stated.columns)
        decided = (held for of, held in stated.columns if of != self.label)
        # a candidate has the words of the prediction
        return values.get(column or "") or values.get(self.prediction or "") or next(decided, ())

    @property
    def unit(self) -> dict[str, str]:
        """Return what numbers are of where they are not of rows: people, or cases of a count."""
        return {"unit": "people"} if self.of_people else {"unit": "cases"} if self.count else {}

    @property
    def of_people(self) -> bool:
        """Return whether people are counted, each once, in place of rows."""
        return self.person is not None and self.per_person is not enums.Person.EACH

    @property
    def groups_missing(self) -> bool:
        """Return whether rows without a group are a group of their own."""
        return self.missing is enums.Missing.GROUP or self.profile.as_smclarify

    @property
    def uses_rows_without_group(self) -> bool:
        """Return whether rows without a group are in rates: as a group, or shared among groups."""
        return self.groups_missing or self.missing is enums.Missing.IGNORABLE

    def accepts(self, code: object, *columns: object) -> bool:
        """Return whether a doubt is accepted, by its code, or by code and one of its columns."""
        return not {str(code), *(f"{code}:{column}" for column in columns)}.isdisjoint(self.accept)

    def recoding(self, column: str) -> Recoding | None:
        """Return the categories of a column, None where its values are counted as they are."""
        return next((each for each in self.recode if each.column == column), None)

    def recoding_line(self, column: str, suggested: Mapping[str, Iterable[Value]]) -> str:
        """Return a suggested recoding as written: in one block with the values that are recoded."""
        recoding = self.recoding(column)
        return write_recodings({column: recoding.joined(suggested) if recoding else suggested})[0]

    def no_numbers(self, column: str) -> tuple[Value, ...]:
        """Return the values of a column that are no numbers: unknown, or excluded by where."""
        listed = self.recoding(column)
        negated = (each.values for each in self.where if each.column == column and each.negated)
        excluded = (value for values in negated for value in values if value is not None)
        return (*(listed.unknown if listed else ()), *excluded)

    def to_dict(self) -> dict[str, Json]:
        return {each.name: each.type.plain(getattr(self, each.name)) for each in OPTIONS}


def named_identifiers(spec: Spec) -> tuple[str, ...]:
    """Return the persons and clusters that conditions and recodings name, but for missing ones."""
    columns = {spec.person, spec.cluster}
    named = {name_of(v) for each in spec.where if each.column in columns for v in each.values}
    named |= {name for each in spec.recode if each.column in columns for name in each.category_of}
    return tuple(sorted(n for n in named if not (means_missing(n) or is_code_of_missing(n))))


class Array(Protocol):
    """Values of rows: a Series of pandas or polars, a numpy or Arrow array, or a list."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[object]: ...


class Options(TypedDict, total=False):
    """The options of `fairgauge.audit`, as they may be written; `Spec` holds what they mean."""

    label: str | Array | None
    prediction: str | Array | None
    score: str | Array | None
    candidate: str | Sequence[str]
    margins: Mapping[str, float]
    score_of: Value
    score_range: tuple[float, float]
    threshold: float | Sequence[float] | str | None
    positive: Value | Sequence[Value] | Above | Mapping[str, Value | Sequence[Value]]
    negative: Value | Sequence[Value] | Mapping[str, Value | Sequence[Value]]
    favourable: str
    sensitive: str | Feature | Array | Mapping[str, object] | Sequence[str | Feature | Mapping[str, object]]
    probabilities: Mapping[str, object] | Sequence[Probabilities | Mapping[str, object]]
    recode: str | Path | Mapping[str, object] | Sequence[str | Path | Mapping[str, object]]
    where: str | Mapping[str, object] | Sequence[str | Mapping[str, object]]
    intersections: str | Sequence[str] | Sequence[Sequence[str]]
    strata: str | Feature | Array | Sequence[str | Feature | Mapping[str, object]] | None
    count: str | Array | None
    successes: str | Array | None
    weight: str | Array | None
    cluster: str | Array | None
    list: str | Array | None
    strata_of_sample: str | Array | None
    replicate_weights: str | None
    lonely: str
    person: str | Array | None
    per_person: str
    reference: str | Mapping[str, Value | Sequence[Value]]
    min_n: int | None
    min_share: float | None
    unknown: Value | Sequence[Value]
    exclude_groups: Value | Sequence[Value]
    metrics: str | Statistic | Metric | Sequence[str | Statistic | Metric]
    preset: str | None
    features: Sequence[str] | Array | None
    task: str | None
    confidence: float
    method: str
    multiplicity: str
    seed: int
    replicates: int
    profile: str
    missing: str
    rules: str | Rule | Mapping[str, object] | Sequence[str | Rule | Mapping[str, object]]
    inconclusive: str | None
    accept: str | Sequence[str]
    checks: Mapping[str, object]
    max_groups: int
    document: Document | Mapping[str, str]
    words: Words | Mapping[str, str | Mapping[str, object]]


OPTIONS: tuple[Option, ...] = tuple(
    replace((row := each.metadata["option"]), name=each.name, default=each.default,
            flag=row.flag or f"--{each.name.replace('_', '-')}")
    for each in fields(Spec)
)  # fmt: skip
"""The rows of the table, in its order."""

BY_NAME = {each.name: each for each in OPTIONS}  # the rows of the table by the names of the options


def flag_of(name: str, value: object, flag: str = "") -> str:
    """Return an option as a shell takes it: its flag (or one that is written alike), and a value."""
    row = BY_NAME[name]
    return shlex.join(word for text in row.type.write(value) for word in (flag or row.flag, text))


_CONTROLS = replace(BY_NAME["strata"], name="controls", flag="--control")
"""The option of a decomposition alone, which is written as strata are."""


def flags_of(spec: Mapping[str, object]) -> list[str] | None:
    """Return the flags of what a specification's keys ask beyond the defaults; None if none can.

    >>> flags_of({"label": "y", "sensitive": [{"column": "age", "cuts": [40]}], "seed": 0})
    ['--label', 'y', '--sensitive', 'age:40']
    >>> flags_of({"rules": [{"metric": "DI", "at_least": 0.8, "groups": ["F"]}]}) is None
    True
    """
    usual = Spec().to_dict() | {"controls": []}
    words: list[str] = []
    for option in (*OPTIONS, _CONTROLS):
        value = spec.get(option.name)
        if value is None or value == []:  # not asked
            continue
        at = syntax.Location(option.name)
        value = option.type.plain(option.type.read(value, at))
        if at.problems:
            return None
        if value != usual[option.name]:
            flags = _flags(option, value)
            if flags is None:
                return None
            words += flags
    return words


def _flags(option: Option, value: object) -> list[str] | None:
    texts = option.type.write(value)
    at = syntax.Location(option.name)
    meaning = option.type.read(option.type.parse(texts, at), at)
    if at.problems or _texts_of_values(option.type.plain(meaning)) != _texts_of_values(value):
        return None
    if option.type.arguments > 1:
        return [option.flag, *texts]
    return [word for text in texts for word in (option.flag, text)]


def _texts_of_values(value: object) -> object:
    # values as the command line has them: 1, 1.0 and "1" are one text
    if isinstance(value, Mapping):
        return {str(key): _texts_of_values(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_texts_of_values(each) for each in value]
    return name_of(canonical(value))


def parse_flag(
    row: Option, texts: Sequence[str], problems: list[Problem], given: Mapping[str, object]
) -> object:
    """Return the texts of a flag as a specification file has them, beside other options."""
    at = syntax.Location(row.name, problems)
    if row.type is not types.POSITIVE:
        return row.type.parse(texts, at)
    columns = [c for name in ("label", "prediction", "candidate") for c in syntax.items(given.get(name))]
    return syntax.parse_positive(texts, at, [*map(str, columns)])


DESIGN = ("replicate_weights", "strata_of_sample")  # the options that state the design of a survey

OF_ROWS = (
    "label", "prediction", "score", "score_of", "score_range", "threshold", "positive",
    "negative", "favourable", "recode", "where", "count", "successes", "person", "per_person",
    "unknown", "weight", "cluster", "accept", "checks",
)  # fmt: skip
"""The options that state what rows are, whatever is asked of them: those that a search takes."""


Function = TypeVar("Function", bound=Callable[..., object])

_CONFIG = """\
config : str, Path or mapping, optional
    A specification file (.toml, .yaml, .json), or its keys, which the options override.
"""
_ERRORS = """\
Raises
------
SpecError
    The question is wrong, or lacks what it needs; every mistake is listed.
DataError
    The data cannot be read, or do not hold what is asked.
CubeError
    The counts do not hold what is asked.
"""


def with_options(function: Function) -> Function:
    """Fill in ``{config}``, ``{options}`` and ``{errors}``, which are those of every verb."""
    if function.__doc__ is not None:  # python -OO has none
        # Python 3.13 takes the indentation off docstrings, earlier versions do not
        text = inspect.cleandoc(function.__doc__).replace("{config}\n", _CONFIG)
        text = text.replace("{options}\n", parameters())
        function.__doc__ = text.replace("{errors}\n", _ERRORS)
    return function


def parameters() -> str:
    """Return the options as the parameters of a numpy docstring."""
    lines = []
    for option in OPTIONS:
        annotation = Options.__annotations__[option.name]
        type_ = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
        text = textwrap.fill(option.help(), 92, break_on_hyphens=False)
        lines.append(f"{option.name} : {type_}\n{textwrap.indent(text, '    ')}\n")
    return "".join(lines)
