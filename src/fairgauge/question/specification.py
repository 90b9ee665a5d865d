"""Specifications: `ask` makes a `Spec` from options, or reports everything that is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    Better,
    Favourable,
    Method,
    Missing,
    Person,
    Profile,
    ReferenceRule,
    Task,
    Threshold,
)
from fairgauge.errors import Problem, SpecError, alternatives, listing, nearest, quote, refuse
from fairgauge.question._argument_syntax import parse_sensitive
from fairgauge.question.features import Above, ByColumn, Ordered
from fairgauge.question.option_types import NamedReferences
from fairgauge.question.options import BY_NAME, Spec, flag_of
from fairgauge.question.presets import find_preset, preset
from fairgauge.question.probabilities import separated
from fairgauge.question.spec_file import toml_value
from fairgauge.values import Json, name_of

__all__ = ["Spec", "ask", "check_names"]

OTHER_NAMES = {
    "y_true": "label",
    "labels": "label",
    "target": "label",
    "y_pred": "prediction",
    "predictions": "prediction",
    "y_score": "score",
    "y_prob": "score",
    "scores": "score",
    "sensitive_features": "sensitive",
    "sensitive_attributes": "sensitive",
    "protected_attributes": "sensitive",
    "prot_attr": "sensitive",
    "facet": "sensitive",
    "control_features": "strata",
    "sample_weight": "weight",
    "weights": "weight",
    "pos_label": "positive",
}
"""What scikit-learn, fairlearn, AIF360 and Clarify call an option."""

_AS_HERE = """\
Write: fg.audit(label=y_true, prediction=y_pred, sensitive={"sex": sex})
or:    fg.audit(frame, label="y", prediction="p", sensitive="sex")"""

_NEEDED = (
    "label", "prediction", "score", "score_range", "strata", "population", "features", "weight",
)  # fmt: skip
"""The options that a metric may need, or not allow."""


EVERY_DISPARITY = "disparity"
"""The name of the margin of all disparities that have none of their own."""
MODELS_INSTEAD = (
    "models that decide the same rows are compared by fg.compare_models(data, candidate=...), "
    "fairgauge compare-models DATA --candidate COL"
)


def refuse_candidates(options: Mapping[str, object]) -> None:
    """Refuse candidates where one model is asked about, whose answer they would not change."""
    if options.get("candidate"):
        raise SpecError(Problem("candidate", f"belongs to several models; {MODELS_INSTEAD}"))


def ask(columns: Sequence[str] | None = None, base: Spec | None = None, **options: object) -> Spec:
    """Make a specification, or report everything that is wrong with it at once.

    Parameters
    ----------
    columns : list of str, optional
        The columns that the data have, of which all that are asked for must be.
    base : Spec, optional
        The specification that holds where an option is not given.
    **options
        The options of `fairgauge.audit`, but for its data; None is an option that is not given.

    Raises
    ------
    SpecError
        With a path, what is allowed and the nearest name for every mistake.
    """
    problems: list[Problem] = []
    given: dict[str, Any] = {}  # every reader returns the type of its field
    for name, value in separated(_with_preset(options)).items():
        if name not in BY_NAME:
            problems.append(_unknown_option(name))
        elif value is not None:
            given[name] = BY_NAME[name].type.read(value, name, problems)
    misread = {_option(problem) for problem in problems}
    spec = replace(base or Spec(), **given)
    if base is None and spec.score and "score_range" in given and "threshold" not in given:
        spec = replace(spec, threshold=(sum(spec.score_range) / 2,))
    if spec.prediction is not None and "threshold" not in given:
        spec = replace(spec, threshold=Spec().threshold)  # the base's decides nothing
    if spec.person is not None and not spec.of_people and spec.cluster is None:
        spec = replace(spec, cluster=spec.person)  # each decision counts: those of a person cluster
    contradictions = _contradictions(spec, given)
    problems += [p for p in contradictions if _option(p) not in misread]
    problems += _unmet_needs(spec, misread)
    problems += _unknown_columns(spec, columns)
    if columns is not None:
        problems += strata_alone(spec)
    refuse(problems)
    return spec


def read_part(names: Collection[str], options: Mapping[str, object]) -> Spec:
    """Return a specification of some options, for functions that audit no rows.

    Other options of an audit may stand in a file that several functions share, and are passed over.
    """
    options = _with_preset(options) if "preset" in names else options
    problems: list[Problem] = [_unknown_option(name) for name in options if name not in BY_NAME]
    given: dict[str, Any] = {  # every reader returns the type of its field
        name: BY_NAME[name].type.read(options[name], name, problems)
        for name in names
        if options.get(name) is not None
    }
    refuse(problems)
    return replace(Spec(), **given)


def _option(problem: Problem) -> str:
    """Return the option that a problem is of: ``rules`` of ``rules[0].metric``."""
    return problem.path.split(".")[0].split("[")[0]


def _unmet_needs(spec: Spec, misread: Collection[str]) -> Iterator[Problem]:
    if not {"metrics", "rules", *_NEEDED}.isdisjoint(misread):
        return
    from fairgauge.question.needs import unmet_needs  # not for --help

    yield from unmet_needs(spec)


def check_names(options: Mapping[str, object], positional: Sequence[object]) -> None:
    """Check that all options are named, by their names here."""
    problems = [_unknown_option(name) for name in options if name in OTHER_NAMES]
    if positional:
        message = "takes the data alone by position; arrays are given by name"
        problems.insert(0, Problem("audit", message))
    if problems:
        raise SpecError([*problems, Problem("", _AS_HERE)])


def _unknown_option(name: str) -> Problem:
    if name in OTHER_NAMES:
        return Problem(name, f"is called {quote(OTHER_NAMES[name])} here")
    near = nearest(name, ("config", *BY_NAME))
    return Problem(name, f"unknown option.{near} Allowed: {', '.join(BY_NAME)}")


def _with_preset(options: Mapping[str, object]) -> Mapping[str, object]:
    found = find_preset(options.get("preset"))
    return options if found is None else {**options, **found.options_for(options)}


def _contradictions(spec: Spec, given: Collection[str]) -> Iterator[Problem]:
    if not spec.sensitive and not spec.intersections and not spec.probabilities:
        yield Problem("sensitive", "name at least one sensitive feature (--sensitive COL)")
    try:
        _ = spec.catalogue
    except LookupError as error:
        yield Problem("metrics", str(error))
    yield from _unaudited(spec)
    yield from _wrong_candidates(spec)
    yield from _wrong_margins(spec)
    if spec.weight is not None and spec.weight == spec.count:
        yield Problem("weight", f"{quote(spec.weight)} is already the count column")
    if spec.cluster is not None and spec.method is not Method.DEFAULT:
        message = (
            f"{spec.method} assumes independent rows; with a cluster only 'default' is allowed, "
            "whose intervals are cluster-robust"
        )
        yield Problem("method", message)
    compared = spec.positive != () or spec.label is not None or spec.prediction is not None
    if spec.score_of is not None and not compared:
        message = "needs a label, or the positive value (positive), to be compared with"
        yield Problem("score_of", message)
    yield from _wrong_probabilities(spec)
    predicted = (spec.prediction, spec.score, *spec.candidate)
    for column in (each.column for each in spec.strata):
        if column in predicted:
            instead = "name a column that is known before the decision"
            yield Problem("strata", same_in_a_stratum(column, "the prediction", instead))
    yield from _wrong_recodings(spec)
    if spec.person is None:
        for name in {"per_person", "order"} & set(given):
            if getattr(spec, name) != getattr(Spec(), name):
                yield Problem(name, "needs the column that identifies people (person, --person)")
    elif not spec.of_people and spec.cluster not in (None, spec.person):
        yield Problem("cluster", f"the decisions of a person, {quote(spec.person)}, cluster")
    elif spec.of_people:
        yield from _wrong_decisions_of_people(spec)
    if spec.missing is Missing.GROUP and spec.preset and preset(spec.preset).states_unknown:
        message = (
            "group gives those without a category a rate and a ratio of their own, and the preset "
            f"{spec.preset} states them apart, as of unknown category; remove it (missing=exclude)"
        )
        yield Problem("missing", message)
    yield from _wrong_threshold(spec, given="threshold" in given)
    yield from _wrong_order(spec)
    yield from _wrong_columns_of_positive(spec)
    yield from _wrong_favourable(spec)


_OF_OUTCOMES = (Favourable.POSITIVE, Favourable.NEGATIVE, Favourable.NEITHER)
_OF_AMOUNTS = (Favourable.HIGHER, Favourable.LOWER, Favourable.NEITHER)


def _wrong_favourable(spec: Spec) -> Iterator[Problem]:
    of_amounts, favourable = spec.task is Task.REGRESSION, spec.favourable
    allowed, what = (_OF_AMOUNTS, "amounts") if of_amounts else (_OF_OUTCOMES, "outcomes")
    unstated = of_amounts and favourable in (None, Favourable.POSITIVE)
    if favourable not in (None, *allowed) and not unstated:
        also = "; of amounts, state --task regression" if favourable in _OF_AMOUNTS else ""
        message = f"must be {alternatives(allowed)} of {what}, not {favourable}{also}"
        yield Problem("favourable", message)
        return
    if spec.reference is ReferenceRule.BEST and (unstated or favourable is Favourable.NEITHER):
        either = _OF_AMOUNTS if of_amounts else _OF_OUTCOMES
        message = (
            "best needs to know which outcome is better for a person: state "
            f"{alternatives(either[:2])} (favourable, --favourable), or another reference"
        )
        yield Problem("reference", message)
    if spec.preset is None:
        return
    about = preset(spec.preset)
    stated = dict(spec.reference) if isinstance(spec.reference, tuple) else {}
    unnamed = dict.fromkeys([name for name in spec.recorded if name not in stated], "GROUP")
    if about.compared_with and unnamed and not (of_amounts and about.with_amounts):
        message = (
            f"the preset {quote(about.name)} compares with {about.compared_with}: name their group "
            f"({flag_of('reference', unnamed)})"
        )
        yield Problem("reference", message)
    own = about.options.get("favourable", favourable)
    if own != favourable and not (of_amounts and own == Favourable.POSITIVE):
        word = about.words.get("positive", own)
        message = (
            f"{favourable} contradicts the preset {quote(about.name)}, in which {quote(word)} is "
            "the favourable outcome; remove it, and state the values that mean it (--positive)"
        )
        yield Problem("favourable", message)


def _wrong_probabilities(spec: Spec) -> Iterator[Problem]:
    if not spec.probabilities:
        return
    names = {each.name for each in spec.probabilities}
    for each in spec.sensitive:
        if each.column in names:
            message = f"{quote(each.column)} is given by its column and by probabilities, too"
            yield Problem("probabilities", message)
    for i, columns in enumerate(spec.intersections):
        for name in sorted(names & set(columns)):
            message = (
                f"{quote(name)} is not recorded, and the joint probabilities with other columns "
                "are not given; audit it alone, in the rows of one group of the others at a time "
                "(where, --where 'sex = F')"
            )
            yield Problem(f"intersections[{i}]", message)
    if spec.task is Task.REGRESSION:
        message = (
            "are for shares of rows, and the label is a number; state which values are positive "
            "(fairgauge.above, --positive '>x')"
        )
        yield Problem("probabilities", message)
    for option, given, instead in (
        ("person", spec.of_people, "count each decision (per_person each)"),
        ("candidate", bool(spec.candidate), "audit the decisions of each model by itself"),
        ("method", spec.method is not Method.DEFAULT, "remove it: they have methods of their own"),
        ("strata", bool(spec.strata and spec.cluster), "remove it, or the cluster"),
    ):
        if given:
            of = listing(sorted(names))
            message = f"cannot be combined with {of}, of which only probabilities are known"
            yield Problem(option, f"{message}; {instead}")
    if spec.reference in (ReferenceRule.LARGEST, ReferenceRule.BEST):
        named = {each.name: each.columns[0][0] for each in spec.probabilities}
        named |= dict.fromkeys(spec.recorded, "GROUP")
        message = (
            "is chosen from groups that are recorded; name the group that others are compared "
            f"with, of every feature, such as {flag_of('reference', named)}; the groups of a "
            "feature without one are compared with all other groups"
        )
        yield Problem("reference", message)
    if spec.profile is not Profile.DOCUMENTED:
        yield Problem("profile", "of smclarify knows recorded groups alone; remove it")


def same_in_a_stratum(
    column: str,
    what: str = "a sensitive feature",
    instead: str = "name another column as strata, or compare other sensitive features, without it",
) -> str:
    """Return that a column makes strata within which there is nothing to compare."""
    same = "which is the same for all rows of a stratum: nothing of it is left to compare"
    return f"{quote(column)} is {what}, {same}; {instead}"


def strata_alone(spec: Spec) -> Iterator[Problem]:
    """Yield why nothing can be adjusted for the only sensitive feature.

    The services compute their metrics all the same.
    """
    if spec.profile is not Profile.DOCUMENTED:
        return
    compared = {each.column for each in spec.sensitive}
    for column in (each.column for each in spec.strata):
        if compared == {column} and not (spec.features or spec.probabilities):
            yield Problem("strata", same_in_a_stratum(column))


def _wrong_decisions_of_people(spec: Spec) -> Iterator[Problem]:
    each = "count each decision (per_person, --per-person each)"
    last = spec.per_person is Person.LAST
    if last and spec.order is None:
        message = "last needs the column that orders a person's decisions (order, --order COL)"
        yield Problem("per_person", message)
    if not last and spec.order is not None:
        yield Problem("order", "has no effect unless the last decision counts (per_person last)")
    if last and spec.order == spec.person:
        yield Problem("order", "is the column of persons; name the one that orders their decisions")
    for name in ("count", "weight", "cluster", "score", "candidate"):
        if getattr(spec, name):
            message = f"cannot be combined with people, each of whom counts once; to use it, {each}"
            if name == "score":
                message += (
                    ", or give one row for each person, with the score that counts, such as the "
                    "highest, without person"
                )
            yield Problem(name, message)
    if not (spec.label or spec.prediction or spec.score):
        yield Problem("person", "needs the decisions that count: a prediction or a label")
    if not last and spec.label and spec.prediction:
        message = (
            "any favourable decision is one of the prediction or of the label, and both are given; "
            f"remove one, count the last (per_person last), or {each}"
        )
        yield Problem("per_person", message)
    if not last and spec.task in (Task.REGRESSION, Task.MULTICLASS):
        yield Problem("per_person", f"no number or class is favourable; {each}")


def _wrong_recodings(spec: Spec) -> Iterator[Problem]:
    """Yield the recoded columns whose numbers are cut, summed or compared, not counted by value.

    Of these the values that mean that the number is not known can be listed, and no categories.
    """
    never = {spec.count: "is the count", spec.weight: "is the weight"}
    cut = (each.column for each in (*spec.sensitive, *spec.strata) if each.cuts)
    numeric: dict[str | None, str] = dict.fromkeys(cut, "is cut into intervals")
    numeric[spec.score] = "is the score"
    if isinstance(spec.positive, Above) or spec.task is Task.REGRESSION:
        numeric |= dict.fromkeys((spec.label, spec.prediction, *spec.candidate), "holds numbers")
    for each in spec.recode:
        if each.column in never:
            what, how = never[each.column], "which is not recoded; correct the column itself"
        elif not each.names and each.ranges:
            what = "has no categories, only unknown values"
            how = (
                f"of which {quote(each.ranges[0][1])} is a range: list them one by one, or exclude "
                f"the range by a condition (where, --where {quote(f'{each.column} <= NUMBER')})"
            )
        elif each.column in numeric and each.names:
            what = numeric[each.column]
            how = (
                f"and has no categories such as {quote(each.names[0])}: list as unknown the "
                "values that mean that the number is not known, and nothing else"
            )
        else:
            continue
        yield Problem(f"recode.{each.column}", f"{quote(each.column)} {what}, {how}")


def _wrong_columns_of_positive(spec: Spec) -> Iterator[Problem]:
    if not isinstance(spec.positive, ByColumn):
        return
    stated = [column for column, _ in spec.positive.columns]
    wanted = [each for each in (spec.label, spec.prediction) if each]
    for column in stated:
        if column not in (*wanted, *spec.candidate):
            of = listing(wanted) or "these columns, once they are named (label, prediction)"
            message = f"is no label and no prediction; name the favourable values of {of}"
            yield Problem(f"positive.{column}", message)
    for column in wanted:
        if column not in stated:
            yield Problem("positive", f"names no value of {quote(column)}; name one of each column")


def _wrong_order(spec: Spec) -> Iterator[Problem]:
    if not isinstance(spec.positive, Ordered):
        return
    if spec.score is not None and spec.prediction is None:
        message = "is ordered levels, of which a score predicts none; give a prediction"
        yield Problem("positive", message)
    if spec.candidate:
        cuts = (quote(",".join(map(name_of, each))) for each in spec.positive.selections[:2])
        message = (
            "is ordered levels; compare candidates at one cut, by the values above it, such as "
            f"{' or '.join(cuts)}"
        )
        yield Problem("positive", message)
    if spec.task not in (None, Task.BINARY):
        message = "is ordered levels, each cut of which is binary; remove task, or make it binary"
        yield Problem("positive", message)


def _unaudited(spec: Spec) -> Iterator[Problem]:
    single = {feature.column for feature in spec.sensitive}
    parts = single | {column for columns in spec.intersections for column in columns}
    parts |= {each.name for each in spec.probabilities}
    tables = {name for named in spec.audited.items() for name in (named[0], named[1].name())}
    if isinstance(spec.reference, tuple):
        yield from _wrong_references(spec, spec.reference, parts)
    for column, _ in spec.population:
        if column not in single:
            yield Problem(f"population.{column}", _not_audited(column, single))
    for name in spec.words.groups:
        if name not in tables:
            yield Problem(f"words.groups.{name}", _not_audited(name, tables))
    for i, rule in enumerate(spec.rules):
        for name in rule.features:
            if name not in tables:
                yield Problem(f"rules[{i}].features", _not_audited(name, tables))


def _wrong_references(
    spec: Spec, references: NamedReferences, columns: Collection[str]
) -> Iterator[Problem]:
    crossed = {name: each for name, each in spec.recorded.items() if len(each.columns) > 1}
    for name, group in references:
        path = f"reference.{name}"
        if name in columns and name in crossed:
            yield Problem(path, "is a column and an intersection; rename the column")
        elif name not in columns and name not in crossed:
            features = crossed if "*" in name else columns
            yield Problem(path, _reference_of_none(name, features, references))
            continue
        of = len(crossed[name].columns) if name in crossed else 1
        if isinstance(group, tuple) and len(group) != of:
            message = f"has {len(group)} values; name one of each of its columns, of which it has"
            yield Problem(path, f"{message} {of}")


def _reference_of_none(name: str, features: Collection[str], references: NamedReferences) -> str:
    """Return that a reference is of no audited feature, and how to state those that are of one.

    A feature that has a reference of its own is not the one that a wrong name means.
    """
    stated = {each: group for each, group in references if each in features}
    others = set(features) - set(stated)
    if not stated or nearest(name, others):
        return _not_audited(name, others)
    return (
        f"{_not_audited(name, ())} Audited: {listing(sorted(features))}; state references of "
        f"audited features alone: {flag_of('reference', stated)} replaces those of a file"
    )


def _not_audited(name: str, features: Collection[str]) -> str:
    hint = nearest(name, features) or f" Audited: {listing(sorted(features))}" if features else ""
    return f"{quote(name)} is not an audited feature.{hint}"


def _wrong_candidates(spec: Spec) -> Iterator[Problem]:
    in_use = spec.prediction or spec.score
    if spec.candidate and in_use is None:
        message = "needs the model in use, whose decisions are its prediction or its score"
        yield Problem("candidate", message)
    if spec.candidate and spec.prediction is None and isinstance(spec.threshold, Threshold):
        message = (
            "the median of the scores of one model is no threshold of another; with candidates "
            "give a number"
        )
        yield Problem("threshold", message)
    seen = {spec.label: "the label", in_use: "the model in use"}
    for i, column in enumerate(spec.candidate):
        if column in seen:
            yield Problem(f"candidate[{i}]", f"{quote(column)} is already {seen[column]}")
        seen[column] = "a candidate"


def _wrong_margins(spec: Spec) -> Iterator[Problem]:
    """Yield the margins of what is no rate, or of a rate that is neither better high nor low.

    With candidates, disparities have margins, too.
    """
    for name, margin in spec.margins:
        path = f"margins.{name}"
        if spec.candidate and name == EVERY_DISPARITY:
            if margin >= 1:
                yield Problem(path, f"must be below 1: of a ratio it is a share, not {margin:g}")
            continue
        try:
            row: Statistic | Metric = spec.catalogue.rate(name)
        except LookupError as error:
            if not spec.candidate or (metric := _metric(spec, name)) is None:
                yield Problem(path, f"a margin is set on a rate, such as accuracy: {error}")
                continue
            row = metric
        if isinstance(row, Statistic) and row.better is Better.NEITHER:
            message = "has no margin: neither a higher nor a lower value of it is better"
            yield Problem(path, message)
        low, high = row.range
        most = high - low
        if isinstance(row, Metric) and not math.isnan(row.neutral):  # of a ratio it is a share
            most = 1.0 if row.neutral else max(high, -low)
        if margin >= most:
            yield never_exceeded(name, margin, most)


def never_exceeded(name: str, margin: float, most: float) -> Problem:
    """Return that a margin is at least ``most``, which nothing is beyond, as 5 in place of 0.05."""
    message = f"can never be exceeded: {name} differs by {most:g} at most"
    if margin / 100 < most:
        message += f"; {margin:g} of 100 is written as {margin / 100:g}"
    return Problem(f"margins.{name}", message)


def _metric(spec: Spec, name: str) -> Metric | None:
    try:
        return spec.catalogue.metric(name)
    except LookupError:
        return None


def _wrong_threshold(spec: Spec, *, given: bool) -> Iterator[Problem]:
    if spec.prediction is not None or spec.score is None:
        if given and spec.prediction is not None:
            message = (
                f"has no effect: the prediction is given by the column {quote(spec.prediction)}; "
                "remove one of the two"
            )
            yield Problem("threshold", message)
        elif given and spec.threshold != Spec().threshold:  # saved cubes state the default
            yield Problem("threshold", "has no effect without a score (score, --score COL)")
    elif not isinstance(spec.threshold, Threshold):
        low, high = spec.score_range
        for value in spec.threshold:
            if not low <= value <= high:
                which = f"{value:g}" if given else f"the default, {value:g},"
                message = (
                    f"{which} is outside the range of the score, {low:g} to {high:g}; set another "
                    "threshold (--threshold T) or the range of the score (--score-range LOW HIGH)"
                )
                yield Problem("threshold", message)


def _unknown_columns(spec: Spec, columns: Sequence[str] | None) -> list[Problem]:
    if columns is None:
        return []
    return [
        Problem(path, f"no column {quote(name)} in the data.{_instead(path, name, columns)}")
        for path, name in spec.columns()
        if name not in columns
    ]


def _instead(path: str, name: str, columns: Sequence[str]) -> str:
    parts = re.split("[,*]" if path.startswith("strata") else ",", name)  # strata are crossed
    if len(parts) > 1 and all(part.strip() in columns for part in parts):
        return f" Name {listing(part.strip() for part in parts)} one by one"
    (asked,) = parse_sensitive([name], path, [])
    if isinstance(asked, dict) and "cuts" in asked and asked["column"] in columns:
        # as it is written on the command line
        return f" To cut a column write {asked} (in TOML {toml_value(cast('Json', asked))})"
    has = listing(columns) if columns else "no columns"
    return nearest(name, columns) or f" It has {has}"
