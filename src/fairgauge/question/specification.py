"""Specifications: `ask` makes a `Spec` from options, or reports everything that is wrong.

The options may stand in a file: TOML, YAML or JSON with the keys of `fairgauge.audit`.
"""

# ruff: noqa: E501 - a contradiction is one row, so that the table reads as a table

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, cast

from fairgauge import enums, errors
from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Metric, RowMetric
from fairgauge.catalogue.distributions import ConditionalDisparity
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Statistic
from fairgauge.errors import (
    Problem,
    SpecError,
    display,
    listing,
    problems_where,
    quote,
    refuse,
    suggest,
)
from fairgauge.identity import name_of_values
from fairgauge.question import readers
from fairgauge.question.category_words import HMDA, use_words
from fairgauge.question.features import Above, ByColumn, separated
from fairgauge.question.kits import Kit, find_kit, kit_or_none, open_kit, read_kit
from fairgauge.question.options import BY_NAME, Options, Spec, flag_of
from fairgauge.question.readers import (
    Location,
    Reader,
    items,
    parse,
    read_column,
    read_keys,
    read_values,
    refuse_costly,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass, replace
from fairgauge.values import Json, Value, is_one_of, matches, meaning, name_of, sort_key

__all__ = ["Spec", "ask"]

_NEEDED = ("label", "prediction", "score", "score_range", "strata", "features", "weight")
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
    """Make a specification; raises SpecError with everything that is wrong with it at once.

    ``columns`` are those that the data have; ``base`` holds where an option is not given, or None.
    """
    at = Location()
    problems = at.problems
    given: dict[str, Any] = {}  # every reader returns the type of its field
    for name, value in separated(_name_outcome(_add_preset(options, at))).items():
        if name not in BY_NAME:
            problems.append(_unknown_option(name))
        elif value is not None and (name in _LONG or not readers.refuse_long(value, at[name])):
            given[name] = BY_NAME[name].type.read(value, at[name])
    if base is not None:
        of_base = (None if e in given else getattr(base, e) for e in ("replicates", "threshold"))
        refuse_costly(*of_base)
        if "rules" in given:  # who states rules beside counts states how they are judged
            assumed = ("missing",) if base.missing is enums.Missing.IGNORABLE else ()
            every = {"sensitive": tuple(replace(each, values=()) for each in base.sensitive)}
            given = {name: getattr(Spec(), name) for name in (*_OF_RULES, *assumed)} | every | given
    misread = {_option(problem) for problem in problems}
    spec = replace(base or Spec(), **given)
    if spec.prediction is not None and "threshold" not in given:
        spec = replace(spec, threshold=())  # the base's decides nothing
    if spec.person is not None and not spec.of_people and spec.cluster is None:
        spec = replace(spec, cluster=spec.person)  # each decision counts: those of a person cluster
    if spec.list is not None and spec.cluster is None:
        spec = replace(spec, cluster=spec.list)
    problems += [p for p in _contradictions(spec) if _option(p) not in misread]
    if {"metrics", "rules", *_NEEDED}.isdisjoint(misread):
        problems += unmet_needs(spec)
    if columns is not None:
        problems += [*unknown_columns(spec.columns(), columns), *strata_alone(spec)]
    refuse(problems)
    own = spec.preset
    use_words((*spec.checks, HMDA) if own is not None and own.codes_of_actions else spec.checks)
    return spec


def refuse_named_files(saved: Mapping[str, object]) -> None:
    """Refuse a saved question that names a file, which only what a person asks may have read."""
    checks = saved.get("checks")
    words = checks.get("words") if isinstance(checks, Mapping) else None
    values = (("recode", saved.get("recode")), ("checks", checks), ("checks.words", words))
    message = "must be a table: what is saved holds values, and opens no file that it names"
    refuse(problems_where(
        *((bool(of) and not isinstance(of, Mapping), name, message) for name, of in values)
    ))  # fmt: skip


_READ: dict[str, tuple[Mapping[str, object], Spec]] = {}
"""The question that was read last, which every part of a document asks for."""


def read_spec(saved: Mapping[str, object]) -> Spec:
    """Return what a result was asked, from its own record; what no one can read is as by default.

    Metrics and rules, which may be of rates that only the result knows, are not read, nor is what
    might name a file.
    """
    last = _READ.get("last")
    if last is None or last[0] is not saved:
        not_read = {"metrics", "rules", "recode", "checks", "preset"}
        known = {name: value for name, value in saved.items() if value not in (None, [], {})}
        read: dict[str, Any] = {
            name: BY_NAME[name].type.read(known[name], Location(name))
            for name in known.keys() & BY_NAME.keys() - not_read
        }
        last = _READ["last"] = saved, Spec(**read, preset=kit_or_none(saved.get("preset")))
    return last[1]


def ask_rows(source: Any, **options: object) -> Spec:
    """Make a specification of rows; codes of a statistics package stand for their labels in it."""
    spec = ask(source.columns, None, **options)
    codes: Mapping[str, Mapping[Value, str]] = getattr(source, "codes", {})
    if not codes:
        return spec

    def label(column: str | None, value: Value) -> Value:
        of = codes.get(column or "", {})
        if is_one_of(value, of.values()):
            return value
        return next((name for code, name in of.items() if matches(value, code)), value)

    def labels(column: str | None, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(label(column, value) for value in values)

    parts = dict.fromkeys(part for each in spec.recorded.values() for part in each.columns)

    def group(value: Value) -> Value:
        return next((name for part in parts if (name := label(part, value)) != value), value)

    def names(groups: Iterable[Value]) -> tuple[str, ...]:
        return tuple(name_of(group(name)) for name in groups)

    changes: dict[str, Any] = {
        "score_of": label(spec.label, spec.score_of),
        "unknown": tuple(map(group, spec.unknown)),
        "exclude_groups": names(spec.exclude_groups),
        "sensitive": tuple(
            replace(each, values=tuple(labels(each.column, some) for some in each.values),
                    order=labels(each.column, each.order)) for each in spec.sensitive
        ),
        "rules": tuple(replace(each, groups=names(each.groups)) for each in spec.rules),
        "where": tuple(
            replace(each, values=labels(each.column, each.values)) for each in spec.where
        ),
        "recode": tuple(
            replace(each, categories=tuple(
                (name, tuple(sorted(labels(each.column, values), key=sort_key)))
                for name, values in each.categories)) for each in spec.recode
        ),
    }  # fmt: skip
    if isinstance(spec.reference, tuple):
        columns = {name: each.columns for name, each in spec.recorded.items()}
        changes["reference"] = tuple(
            (name, tuple(map(label, columns[name], of)) if isinstance(of, tuple)
             else label(columns.get(name, (name,))[0], of)) for name, of in spec.reference
        )  # fmt: skip
    for name, given in (("positive", spec.positive), ("negative", spec.negative)):
        if isinstance(given, ByColumn):
            changes[name] = ByColumn(tuple((c, labels(c, v)) for c, v in given.columns))
        elif isinstance(given, tuple):
            by = {c: labels(c, given) for c in (spec.label, spec.prediction) if c}
            one = len(set(by.values())) < 2
            changes[name] = (
                next(iter(by.values()), given) if one else ByColumn(tuple(sorted(by.items())))
            )
    return replace(spec, **changes)


def read_part(names: Collection[str], options: Mapping[str, object]) -> Spec:
    """Return a specification of some options, others passed over, for what audits no rows."""
    at = Location(problems=[_unknown_option(name) for name in options if name not in BY_NAME])
    options = _add_preset(options, at) if "preset" in names else options
    # every reader returns the type of its field
    given: dict[str, Any] = read_keys(options, {n: BY_NAME[n].type.read for n in names}, at)
    refuse(at.problems)
    use_words(given.get("checks", ()))
    return replace(Spec(), **given)


def _option(problem: Problem) -> str:
    # the option that a problem is of: ``rules`` of ``rules[0].metric``
    return problem.path.split(".")[0].split("[")[0]


_OF_RULES = ("inconclusive", "confidence", "accept", "exclude_groups", "unknown", "words")
_LONG = ("document", "replicate_weights")  # texts of several sentences, and lists in one text


def _unknown_option(name: str) -> Problem:
    near = suggest(name, ("config", *BY_NAME))
    return Problem(name, f"unknown option.{near} Allowed: {', '.join(BY_NAME)}")


def _name_outcome(options: Mapping[str, object]) -> Mapping[str, object]:
    # the successes are the positive cases of the label, or, as prediction=COL, of the decision
    if not isinstance(stated := options.get("successes"), str):
        return options
    role, named, column = stated.partition("=")
    if not named or role not in ("label", "prediction"):
        role, column = "prediction" if options.get("prediction") == stated else "label", stated
    of = {name: options.get(name) for name in (role, "positive")}
    positive = [1] if of["positive"] is None else of["positive"]
    made: dict[str, object] = {role: of[role] or column, "positive": positive}
    return {**options, **made, "successes": column}


def _add_preset(options: Mapping[str, object], at: Location) -> Mapping[str, object]:
    if (stated := options.get("preset")) is None:
        return options
    with errors.collecting(at.problems):
        kit = read_kit(stated, at["preset"])
        # a saved question, which holds the values of one, has its options
        own = {} if isinstance(stated, Mapping) else kit.options_for(options)
        return {**options, **own, "preset": kit}
    return {**options, "preset": None}


# fmt: off
def _contradictions(spec: Spec) -> Iterator[Problem]:
    try:
        _ = spec.catalogue
    except LookupError as error:
        yield Problem("metrics", str(error))
    yield from _unaudited_names(spec)
    yield from _wrong_margins(spec)
    each = "count each decision (per_person, --per-person each)"
    design, people, exact = spec.design, spec.of_people, spec.method is not enums.Method.DEFAULT
    decided = spec.label is not None or spec.prediction is not None
    in_use = spec.prediction or spec.score
    own, default = spec.preset, Spec()
    low, high = spec.score_range
    yield from problems_where(
        (not (spec.sensitive or spec.intersections or spec.probabilities), "sensitive", "name at least one sensitive feature (--sensitive COL)"),
        (spec.candidate and spec.decision is None, "candidate", "needs the model in use, whose decisions are its prediction, or its score with a threshold (--threshold T)"),
        (spec.candidate and spec.prediction is None and isinstance(spec.threshold, enums.Threshold), "threshold", "the median of the scores of one model is no threshold of another; with candidates give a number"),
        (spec.weight is not None and spec.weight == spec.count, "weight", f"{quote(spec.weight)} is already the count column"),
        (spec.cluster is not None and exact, "method", f"{spec.method} assumes independent rows; with a cluster only 'default' is allowed, whose intervals are cluster-robust"),
        (spec.replicate_weights and spec.weight is None, "weight", "name the full-sample weight, which the replicate weights vary"),
        *_wrong_successes(spec),
        *((design and getattr(spec, name), name, f"cannot be combined with {design}, which states how rows were sampled")
          for name in (*(("cluster", "strata_of_sample") if spec.replicate_weights else ()), "candidate", "probabilities", "person")),
        (design and exact and spec.cluster is None, "method", f"{spec.method} assumes independent rows; the design of a survey has its own"),
        (spec.score_of is not None and spec.positive == () and not decided, "score_of", "needs a label, or the positive value (positive), to be compared with"),
        *((column in (spec.prediction, spec.score, *spec.candidate), "strata", same_in_a_stratum(column, "the prediction", "name a column that is known before the decision"))
          for column in (each.column for each in spec.strata)),
        *((column in (spec.label, spec.prediction), f"features[{i}]", f"{quote(column)} is the outcome: rows would be alike because they are decided alike; name columns that are known before the decision")
          for i, column in enumerate(spec.features)),
        (spec.person is None and spec.per_person is not default.per_person, "per_person", "needs the column that identifies people (person, --person)"),
        (spec.person and not people and spec.cluster not in (None, spec.person), "cluster", f"the decisions of a person, {quote(spec.person)}, cluster"),
        (spec.list and not spec.score, "list", "needs the score that rows are ranked by (score, --score COL)"),
        (spec.list and spec.cluster not in (None, spec.list), "cluster", f"the rows of a list, {quote(spec.list)}, cluster"),
        *((people and getattr(spec, name), name, f"cannot be combined with people, each of whom counts once; to use it, {each}{more}") for name, more in _NOT_OF_PEOPLE.items()),
        (spec.person in {each.column for each in spec.sensitive}, "person", f"{quote(spec.person or '')} is a sensitive feature; name the column that identifies people"),
        (people and not (decided or spec.decision), "person", "needs the decisions that count: a prediction or a label"),
        (people and spec.label and spec.prediction, "per_person", f"the positive decision of a person is one of the prediction or of the label, and both are given; remove one, or {each}"),
        (people and spec.task in (enums.Task.REGRESSION, enums.Task.MULTICLASS), "per_person", f"no number or class is positive; {each}"),
        (spec.missing is enums.Missing.GROUP and own and own.states_unknown, "missing", f"group gives those without a category a rate and a ratio of their own, and the preset {own} states them apart, as of unknown category; remove it (missing=exclude)"),
        *((value, "missing", f"ignorable is of rows without a group in each outcome, and is not computed with {what}; remove one of the two")
          for what, value in (("amounts (task=regression)", spec.task is enums.Task.REGRESSION), ("scores (score)", spec.score), ("weights", spec.weight), ("clusters", spec.cluster), (f"the design of a survey ({design})", design), ("people who count once (person)", people), ("candidates", spec.candidate), ("probabilities of groups", spec.probabilities), (f"the method {spec.method}", exact), ("the profile clarify", spec.profile.as_smclarify), ("rows that are compared by features", spec.features)) if spec.missing is enums.Missing.IGNORABLE),
        (spec.threshold and spec.prediction is not None, "threshold", f"has no effect: the prediction is given by the column {quote(spec.prediction)}; remove one of the two"),
        (spec.threshold and in_use is None, "threshold", "has no effect without a score (score, --score COL)"),
        *((spec.prediction is None and spec.score and not low <= value <= high, "threshold", f"{value:g} is outside the range of the score, {low:g} to {high:g}; set another threshold (--threshold T) or the range of the score (--score-range LOW HIGH)")
          for value in (spec.threshold if isinstance(spec.threshold, tuple) else ())),
    )
    seen = {spec.label: "the label", in_use: "the model in use"}
    for i, column in enumerate(spec.candidate):
        if column in seen:
            yield Problem(f"candidate[{i}]", f"{quote(column)} is already {seen[column]}")
        seen[column] = "a candidate"
    yield from _wrong_probabilities(spec)
    yield from _wrong_recodings(spec)
    yield from _wrong_columns("positive", spec.positive, spec)
    yield from _wrong_columns("negative", spec.negative, spec)
    yield from _wrong_negative(spec)
    yield from _wrong_favourable(spec, own)


def _wrong_successes(spec: Spec) -> Iterator[tuple[object, str, str]]:
    if spec.successes is None:
        return
    column, stated = quote(spec.successes), [each for each in (spec.label, spec.prediction) if each]
    yield spec.count is None, "successes", f"{column} counts positive cases: name the column of all cases of a row, too (count, --count COL)"
    yield spec.successes == spec.count, "successes", f"{column} is already the count column"
    yield stated != [spec.successes], "successes", f"{column} is the outcome, in place of {listing(e for e in stated if e != spec.successes)}: remove it (of the decision write prediction={spec.successes})"
    yield [*map(meaning, spec.positive)] != [1] if isinstance(spec.positive, tuple) else True, "positive", "is 1: successes are the positive cases; remove it"
    yield spec.task not in (None, enums.Task.BINARY), "task", "of successes is binary; remove it"
    for name in ("score", "candidate", "weight", "person", "probabilities", "replicate_weights", "features"):
        yield bool(getattr(spec, name)), name, "cannot be combined with successes, whose cases are no rows"


_NOT_OF_PEOPLE = {
    "count": "", "weight": "", "cluster": "", "candidate": "",
    "score": ", or give one row for each person, with the score that counts, such as the highest, without person",
}


def refuse_beyond_audits(spec: Spec, verb: str) -> None:
    """Refuse what only an audit takes account of: the design of a survey, and probabilities."""
    if (design := spec.design) is not None:
        raise SpecError(Problem(design, f"{verb} knows no variance under the design of a survey: audit with it, or state the primary sampling units alone (cluster)"))
    if spec.missing is enums.Missing.IGNORABLE:
        raise SpecError(Problem("missing", f"ignorable is an assumption of an audit alone, which states the worst case beside it: audit with it, and give {verb} without it"))
    if spec.probabilities:
        names = ", ".join(quote(each.name) for each in spec.probabilities)
        raise SpecError(Problem("probabilities", f"{names}: {verb} needs recorded groups, not their probabilities; audit the feature alone (fairgauge audit), or name a column of recorded groups"))


_OF_OUTCOMES = (enums.Favourable.POSITIVE, enums.Favourable.NEGATIVE, enums.Favourable.NEITHER)
_OF_AMOUNTS = (enums.Favourable.HIGHER, enums.Favourable.LOWER, enums.Favourable.NEITHER)


def _wrong_favourable(spec: Spec, own: Kit | None) -> Iterator[Problem]:
    of_amounts, favourable = spec.task is enums.Task.REGRESSION, spec.favourable
    allowed: tuple[enums.Favourable, ...] = _OF_AMOUNTS if of_amounts else _OF_OUTCOMES
    what = "amounts" if of_amounts else "outcomes"
    if spec.score and spec.task in (None, enums.Task.BINARY):
        allowed, what = (*_OF_OUTCOMES[:2], *_OF_AMOUNTS), "scores"
    unstated = of_amounts and favourable in (None, enums.Favourable.POSITIVE)
    if favourable not in (None, *allowed) and not unstated:
        also = "; of amounts, state task = regression (--task regression)" if favourable in _OF_AMOUNTS else ""
        message = f"must be {errors.alternatives(allowed)} of {what}, not {favourable}{also}"
        yield Problem("favourable", message)
        return
    best = spec.reference is enums.ReferenceRule.BEST
    yield from problems_where(
        (best and (unstated or favourable is enums.Favourable.NEITHER), "reference", f"best needs to know which outcome is better for a person: state {errors.alternatives(allowed[:2])} (favourable, --favourable), or another reference"))
    if own is None:
        return
    stated = dict(spec.reference) if isinstance(spec.reference, tuple) else {}
    unnamed = dict.fromkeys([name for name in spec.audited if name not in stated], "GROUP")
    meant = own.options.get("favourable", favourable)
    fixed = spec.reference if isinstance(spec.reference, tuple) else str(spec.reference)
    alone = {name: each for name, each in unnamed.items() if "*" not in name} if stated else {}
    yield from problems_where(
        (own.compared_with and unnamed and not (own.with_amounts and (of_amounts or "prediction" not in given_columns(spec))), "reference", f"the preset {quote(own.name)} compares with {own.compared_with}: name their group ({flag_of('reference', unnamed)})"),
        (alone and "reference" in own.options, "reference", f"names no group of {listing(alone)}: name one of each feature ({flag_of('reference', stated | alone)}), or none, for that of the preset {quote(own.name)} ({own.options.get('reference')})"),
        (of_amounts and own.with_amounts.get("reference", fixed) != fixed, "reference", f"contradicts the preset {quote(own.name)}, whose reference for amounts is {own.with_amounts.get('reference')}; remove it"),
        (meant != favourable and not ((of_amounts or favourable in _OF_AMOUNTS[:2]) and meant == enums.Favourable.POSITIVE), "favourable", f"{favourable} contradicts the preset {quote(own.name)}, in which {quote(own.words.get('positive', meant))} is the favourable outcome; remove it, and state the values that mean it (--positive)"),
    )


def _wrong_probabilities(spec: Spec) -> Iterator[Problem]:
    if not spec.probabilities:
        return
    named = {each.name: each.columns[0][0] for each in spec.probabilities}
    names, example = sorted(named), named | dict.fromkeys(spec.recorded, "GROUP")
    chosen = spec.reference in (enums.ReferenceRule.LARGEST, enums.ReferenceRule.BEST)
    apart = f"cannot be combined with {listing(names)}, of which only probabilities are known"
    yield from problems_where(
        *((each.column in names, "probabilities", f"{quote(each.column)} is given by its column and by probabilities, too") for each in spec.sensitive),
        *((True, f"intersections[{i}]", f"{quote(name)} is not recorded, and the joint probabilities with other columns are not given; audit it alone, in the rows of one group of the others at a time (where, --where 'sex = F')")
          for i, columns in enumerate(spec.intersections) for name in names if name in columns),
        (spec.task is enums.Task.REGRESSION and spec.strata, "strata", f"{apart}, of amounts; audit one stratum at a time (where)"),
        (spec.of_people, "person", f"{apart}; count each decision (per_person each)"),
        (spec.candidate, "candidate", f"{apart}; audit the decisions of each model by itself"),
        (spec.method is not enums.Method.DEFAULT, "method", f"{apart}; remove it: they have methods of their own"),
        (spec.strata and spec.cluster, "strata", f"{apart}; remove it, or the cluster"),
        (chosen, "reference", f"is chosen from groups that are recorded; name the group that others are compared with, of every feature, such as {flag_of('reference', example)}; the groups of a feature without one are compared with all other groups"),
        (spec.profile is not enums.Profile.DOCUMENTED, "profile", "of smclarify knows recorded groups alone; remove it"),
    )


def same_in_a_stratum(
    column: str, what: str = "a sensitive feature",
    instead: str = "name another column as strata, or compare other sensitive features, without it",
) -> str:  # fmt: skip
    """Return that a column makes strata within which there is nothing to compare."""
    same = "which is the same for all rows of a stratum: nothing of it is left to compare"
    return f"{quote(column)} is {what}, {same}; {instead}"


def strata_alone(spec: Spec) -> Iterator[Problem]:
    """Yield why nothing is adjusted for the only feature; the services compute it anyway."""
    of_service = spec.profile is not enums.Profile.DOCUMENTED
    alone = not (of_service or spec.features or spec.probabilities)
    for column in (each.column for each in spec.strata):
        if alone and {each.column for each in spec.sensitive} == {column}:
            yield Problem("strata", same_in_a_stratum(column))


def _wrong_recodings(spec: Spec) -> Iterator[Problem]:
    # of these the values that mean that the number is not known can be listed, and no categories
    cut = (each.column for each in (*spec.sensitive, *spec.strata) if each.cuts)
    numeric: dict[str | None, str] = dict.fromkeys(cut, "is cut into intervals")
    numeric |= {spec.score: "is the score", spec.successes: "holds numbers"}
    numeric |= {spec.count: "is the count", spec.weight: "is the weight"}
    if isinstance(spec.positive, Above) or spec.task is enums.Task.REGRESSION:
        numeric |= dict.fromkeys((spec.label, spec.prediction, *spec.candidate), "holds numbers")
    for each in spec.recode:
        column, names, path = quote(each.column), each.names, f"recode.{each.column}"
        listed = quote(each.ranges[0][1]) if each.ranges else ""
        if not names and each.ranges:
            yield Problem(path, f"{column} has no categories, only unknown values, of which {listed} is a range: list them one by one, or exclude the range by a condition (where, --where {quote(f'{each.column} <= NUMBER')})")
        elif each.column in numeric and names:
            yield Problem(path, f"{column} {numeric[each.column]}, and has no categories such as {quote(names[0])}: list as unknown the values that mean that the number is not known, and nothing else")
# fmt: on


def _wrong_negative(spec: Spec) -> Iterator[Problem]:
    if spec.negative == ():
        return
    numbers = isinstance(spec.positive, Above) or isinstance(spec.negative, Above)
    columns = [each for each in (spec.label, spec.prediction, *spec.candidate) if each]
    positive = {c: {*map(meaning, spec.positive_of(c) or (1,))} for c in columns}
    both = [name_of(v) for c in positive for v in spec.negative_of(c) if meaning(v) in positive[c]]
    classes = spec.task in (enums.Task.REGRESSION, enums.Task.MULTICLASS)
    yield from problems_where(
        (
            numbers,
            "negative",
            "a cut of numbers leaves no other value; name values (--negative VALUE), or remove it",
        ),
        (classes, "negative", f"is of two outcomes; a {spec.task} audit has none"),
        (
            not columns,
            "negative",
            "has no effect on a score alone; remove it, or name a label or a prediction",
        ),
        (
            both,
            "negative",
            f"names {listing(both)}, which the positive values have, too; name each value once",
        ),
    )


def _wrong_columns(option: str, given: object, spec: Spec) -> list[Problem]:
    if not isinstance(given, ByColumn):
        return []
    stated = [column for column, _ in given.columns]
    wanted = [each for each in (spec.label, spec.prediction) if each]
    of = listing(wanted) or "these columns, once they are named (label, prediction)"
    return problems_where(
        *((column not in (*wanted, *spec.candidate), f"{option}.{column}",
           f"is no label and no prediction; name the {option} values of {of}") for column in stated),
        *((column not in stated, option, f"names no value of {quote(column)}; name one of each column")
          for column in wanted),
    )  # fmt: skip


def _unaudited_names(spec: Spec) -> Iterator[Problem]:
    single = {feature.column for feature in spec.sensitive}
    parts = single | {column for columns in spec.intersections for column in columns}
    parts |= {each.name for each in spec.probabilities}
    audited = spec.audited
    tables = {*audited, *[each.name() for each in audited.values()]}
    sizes = {name: len(each.columns) for name, each in audited.items()}
    crossed = [name for name, size in sizes.items() if size > 1]
    for name, group in spec.reference if isinstance(spec.reference, tuple) else ():
        path, of = f"reference.{name}", sizes.get(name, 1)
        if name in parts and name in crossed:
            yield Problem(path, "is a column and an intersection; rename the column")
        elif name not in parts and name not in crossed:
            yield Problem(path, _unaudited_problem(name, crossed if "*" in name else parts))
        elif isinstance(group, tuple) and len(group) != of:
            message = f"has {len(group)} values; name one of each of its columns, of which it has"
            yield Problem(path, f"{message} {of}")
    named = [(f"words.groups.{name}", name) for name in spec.words.groups]
    for i, rule in enumerate(spec.rules):
        named += [(f"rules[{i}].features", name) for name in rule.features]
    for path, name in named:
        if name not in tables:
            yield Problem(path, _unaudited_problem(name, tables))


def _unaudited_problem(name: str, features: Collection[str]) -> str:
    hint = suggest(name, features) or f" Audited: {listing(sorted(features))}" if features else ""
    return f"{quote(name)} is not an audited feature.{hint}"


def _wrong_margins(spec: Spec) -> Iterator[Problem]:
    # with candidates, disparities have margins, too
    for name, margin in spec.margins:
        path = f"margins.{name}"
        if spec.candidate and name == EVERY_DISPARITY:
            if margin >= 1:
                yield Problem(path, f"must be below 1: of a ratio it is a share, not {margin:g}")
            continue
        row: Statistic | Metric | None = None
        with suppress(LookupError):
            row = spec.catalogue.metric(name) if spec.candidate else None
        try:
            row = spec.catalogue.rate(name)
        except LookupError as error:
            if row is None:
                yield Problem(path, f"a margin is set on a rate, such as accuracy: {error}")
                continue
        if isinstance(row, Statistic) and row.better is enums.Better.NEITHER:
            yield Problem(path, "has no margin: neither a higher nor a lower value of it is better")
        low, high = row.range
        most = high - low
        if isinstance(row, Metric) and not math.isnan(row.neutral):  # of a ratio it is a share
            most = 1.0 if row.neutral else max(high, -low)
        if margin >= most:
            yield never_exceeded(name, margin, most)


def never_exceeded(name: str, margin: float, most: float) -> Problem:
    """Return that a margin is at least ``most``, which nothing is beyond, as 5 in place of 0.05."""
    message = f"can never be exceeded: {name} differs by {most:g} at most, not {margin:g}"
    return Problem(f"margins.{name}", message)


def unknown_columns(asked: Iterable[tuple[str, str]], columns: Sequence[str]) -> Iterator[Problem]:
    """Yield the columns that are asked for, each by the path of its option, and are not there."""
    absent: dict[str, list[str]] = {}  # an option may name many, as that of replicate weights does
    for path, name in dict.fromkeys(asked):
        if name not in columns:
            absent.setdefault(path, []).append(name)
    for path, names in absent.items():
        parts = [part.strip() for part in re.split("[,*]", names[0])]
        # also next to the nearest name, which may be of something else: "wage" for "age"
        hint = f"{suggest(names[0], columns)} It has {listing(columns) or 'no columns'}"
        hint = f" Name {listing(parts)} one by one" if {*parts} <= {*columns} else hint
        what = f"column{'s' * (len(names) > 1)} {listing(names, 3)}"
        yield Problem(path, f"no {what} in the data.{hint}")


_TO_ADD: dict[str, str] = {
    "label": "label (--label COL)", "score": "score (--score COL)",
    "prediction": "prediction (--prediction COL), or a score with a threshold (--score COL --threshold T)",
}  # fmt: skip


def given_columns(spec: Spec) -> frozenset[Need]:
    """Return the columns of an outcome that a specification has; a score makes predictions at a threshold."""
    given: dict[Need, str | None] = {"label": spec.label, "score": spec.score}
    given["prediction"] = spec.decision
    return frozenset(need for need, column in given.items() if column is not None)


def unmet_need(row: Metric | Statistic, spec: Spec) -> Reason | None:
    """Return what a metric or a rate needs that the specification does not give it."""
    missing = sorted(row.needs - given_columns(spec))
    if missing:
        return Reason.of(ReasonCode.NEEDS_COLUMNS, columns=" and ".join(missing))
    of = row if isinstance(row, Statistic) else getattr(row, "of", None)
    if isinstance(of, ScoreStatistic) and of.probability and spec.score_range != (0.0, 1.0):
        return Reason.of(ReasonCode.NEEDS_PROBABILITIES)
    if spec.weight is not None and isinstance(row, RowMetric):
        return Reason.of(ReasonCode.NO_WEIGHTS)
    if isinstance(row, RowMetric) and row.by_features and not spec.features:
        return Reason.of(ReasonCode.NEEDS_FEATURES)
    lacks_strata = isinstance(row, ConditionalDisparity) and not spec.strata
    return Reason.of(ReasonCode.NEEDS_STRATA) if lacks_strata else None


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
    named: list[tuple[str, Statistic | Metric]] = []
    for name, _ in spec.margins if spec.candidate else ():
        with suppress(LookupError):  # which is reported as such
            named.append((f"margins.{name}", catalogue.rate(name)))
    kit = spec.preset
    own = () if kit is None else (*kit.options["metrics"], *kit.options.get("rules", ()))
    for i, asked in enumerate(spec.metrics):
        if asked not in SETS:  # the ratio of a rate needs what its difference needs
            path = "preset" if asked in own else f"metrics[{i}]"  # nobody wrote those of a preset
            named += [(path, row) for row in catalogue.expand([asked])[:1]]
    found = [p for path, row in named for p in unmet_needs_of(row, spec, path, _COLUMNS_ALONE)]
    yield from [each for each in found if each.path == "preset"][:1]
    yield from (each for each in found if each.path != "preset")
    for path, row in named:
        if spec.candidate and isinstance(row, RowMetric):
            yield Problem(
                path, f"{row.name} needs rows, and models are compared by counts; audit each"
            )
    for i, rule in enumerate(spec.rules):
        if str(rule) not in own or not found:
            yield from unmet_needs_of(rule.row, spec, f"rules[{i}].metric")


_COLUMNS_ALONE = (ReasonCode.NEEDS_COLUMNS,)


def unmet_needs_of(
    row: Metric | Statistic, spec: Spec, path: str, codes: Iterable[ReasonCode] = ReasonCode
) -> Iterator[Problem]:
    """Yield what a metric or a rate needs that the specification does not give it."""
    reason = unmet_need(row, spec)
    if reason is None or reason.code not in codes:
        return
    missing = sorted(row.needs - given_columns(spec))
    columns = " and ".join(f"a {need}" for need in missing)
    low, high = spec.score_range
    wanted = {
        ReasonCode.NEEDS_COLUMNS: f"needs {columns}; {'; '.join(f'add {_TO_ADD[need]}' for need in missing)}",
        ReasonCode.NEEDS_PROBABILITIES: f"needs scores that are probabilities; score_range is {low:g} to {high:g}",
        ReasonCode.NO_WEIGHTS: "is not defined of weighted rows; remove weight (--weight), or the rule",
        ReasonCode.NEEDS_FEATURES: "needs columns to compare rows by; add features (--features COL,...)",
        ReasonCode.NEEDS_STRATA: "needs strata; add strata (--strata COL)",
    }
    yield Problem(path, f"{row.name} {wanted[reason.code]}")


SHARED = (
    "sensitive", "intersections", "score", "prediction", "positive", "reference", "exclude_groups",
    "unknown", "recode", "count", "margins", "confidence", "seed", "accept", "checks",
)  # fmt: skip
"""The options that mean what they mean in an audit."""
COLUMNS = ("item", "variant", "model", "family")
"""The options that name columns of the table of answers."""
_REFUSED = {
    "cluster": "items and variants are the clusters of this design",
    "weight": "the design gives the weights: every item and every variant counts once",
    "strata": "every item is a stratum of this design",
    "person": "items and variants are the units of this design",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapQuestion:
    """What is asked of a table of answers to the same items under different names."""

    item: str  # the columns of what was asked, under which name, and of which model
    variant: str
    model: str | None = None
    family: str | None = None  # the text that items are made from; None where each is of its own
    placebo: tuple[Value, ...] = ()  # values whose variants are irrelevant edits
    spec: Spec  # the options that are shared with audits

    @property
    def feature(self) -> tuple[str, ...]:
        (feature,) = self.spec.recorded.values()
        return feature.columns

    @property
    def decides(self) -> bool:
        return self.spec.prediction is not None

    @property
    def rate(self) -> str:
        return "selection_rate" if self.decides else "score"

    @property
    def answer(self) -> str:
        column = self.spec.prediction if self.decides else self.spec.score
        assert column is not None
        return column

    @property
    def margin(self) -> float | None:
        """Return the margin of equivalence, None where none is given."""
        return dict(self.spec.margins).get(self.rate)

    @property
    def named_reference(self) -> str | None:
        """Return the name of the group that is the reference, None where a rule chooses it."""
        named = self.spec.reference
        return name_of_values(named[0][1]) if isinstance(named, tuple) else None

    def columns(self) -> Iterator[tuple[str, str]]:
        for option in COLUMNS:
            if (column := getattr(self, option)) is not None:
                yield option, column
        yield from (("sensitive", column) for column in self.feature)
        yield "prediction" if self.decides else "score", self.answer
        if self.spec.count is not None:
            yield "count", self.spec.count

    def to_dict(self) -> dict[str, Json]:
        """Return the options with their values, those that are not given excepted."""
        shared = self.spec.to_dict()
        given: dict[str, Json] = {name: getattr(self, name) for name in COLUMNS}
        given["placebo"] = list(self.placebo)
        given |= {name: shared[name] for name in SHARED}
        return {name: value for name, value in given.items() if value not in (None, [], {})}


def check_swap_options(given: Collection[str]) -> None:
    """Check the names of options that are given beside those of a specification file."""
    allowed = (*COLUMNS, "placebo", *SHARED)
    refuse([
        Problem(n, f"is no option of pairs.{suggest(n, allowed)} Allowed: {', '.join(allowed)}")
        for n in given if n not in (*allowed, *_REFUSED)
    ])  # fmt: skip


def read_swap_question(options: Mapping[str, object]) -> SwapQuestion:
    """Read the options of `fairgauge.pairs`, of a specification file or given by name.

    Other options of an audit may stand in a file that several functions share, and are passed over,
    but for those that would change the design.
    """
    options = {name: value for name, value in options.items() if value is not None}
    problems = [Problem(n, f"remove it: {why}") for n, why in _REFUSED.items() if n in options]
    at = Location(problems=problems)
    readers: dict[str, Reader] = {**dict.fromkeys(COLUMNS, read_column), "placebo": read_values}
    own = read_keys(options, readers, at)
    rest = {name: v for name, v in options.items() if name not in readers}
    try:
        spec = read_part(SHARED, rest)
    except SpecError as error:
        raise SpecError([*problems, *error.problems]) from None
    for name, what in (("item", "what was asked (résumé, prompt)"), ("variant", "names")):
        if name not in options:
            problems.append(Problem(name, f"name the column of {what} (--{name} COL)"))
    refuse([*problems, *_wrong_swaps(spec)])
    question = SwapQuestion(**own, spec=spec)
    seen: dict[str, str] = {}
    for option, column in question.columns():
        if (before := seen.setdefault(column, option)) != option:
            message = f"column {quote(column)} is already the {before}; name another column"
            problems.append(Problem(option, message))
    refuse(problems)
    return question


def _wrong_swaps(spec: Spec) -> list[Problem]:
    features = len(spec.sensitive) + len(spec.intersections)
    rate, most = ("score", math.inf) if spec.prediction is None else ("selection_rate", 1)
    both = spec.score is not None
    named = spec.reference if isinstance(spec.reference, tuple) and features == 1 else ()
    name = next(iter(spec.audited), "")
    # fmt: off
    return problems_where(
        (features != 1, "sensitive", f"name one sensitive feature (--sensitive COL, or --intersect A*B){f', not {features}' if features else ''}"),
        *((each.values or each.cuts, "sensitive", f"name the column {quote(each.column)} alone; recode (--recode) makes groups of several values")
          for each in spec.sensitive),
        (both == (spec.prediction is not None), "score", f"name the column of answers, either a score or a prediction (a decision), not {'both' if both else 'neither'}"),
        *((of != rate, f"margins.{of}", f"is not audited.{suggest(of, (rate,))} The margin is of {rate}") for of, _ in spec.margins),
        *((of == rate and not 0 < margin < most, f"margins.{of}", f"must be above 0, and of a share below 1, not {margin:g}")
          for of, margin in spec.margins),
        (spec.reference in ("overall", "best"), "reference", f"must be others, largest, or a group (COL=VALUE), not {spec.reference}"),
        *((column != name, "reference", f"names {quote(column)}, which is not the sensitive feature; name a group of {quote(name)}")
          for column, _ in named),
    )
    # fmt: on


Config: TypeAlias = "str | Path | Mapping[str, Any] | None"  # a specification file, or its keys
MONITOR = "monitor"  # the table of a specification file that `fairgauge.monitor` alone reads


def with_config(config: Config, options: Options, *, judges: bool = False) -> Options:
    """Return the options of a specification file, and those given beside it, which override them.

    A preset given beside it may be a file, which is opened; the file cannot name one.
    An option that is None has its default, whatever the file has. See `overridden`. What ``judges``
    is refused where the file has rules of a monitor alone: a rule in the file is never passed over.
    """
    if isinstance(preset := options.get("preset"), str):
        open_kit(preset)
    if config is None:
        return options
    if not isinstance(config, (str, Path, Mapping)):
        message = "must be the path of a specification file, or a mapping of its keys"
        raise SpecError(Problem("config", f"{message}, not {display(config)}"))
    keys = dict(config) if isinstance(config, Mapping) else read_options(config)
    monitor = keys.pop(MONITOR, None)
    if isinstance(stated := keys.get("preset"), str) and preset is None:
        (open_kit if isinstance(config, Mapping) else find_kit)(stated)
    keys = {name: value for name, value in keys.items() if options.get(name, value) is not None}
    given = {name: value for name, value in options.items() if value is not None}
    ruled = isinstance(monitor, Mapping) and monitor.get("rules") is not None
    if judges and ruled and keys.get("rules") is None and "rules" not in given:
        message = "are for periods (fairgauge monitor run); give the rules of this audit"
        raise SpecError(Problem(f"{MONITOR}.rules", f"{message} (rules, --rule)"))
    return cast("Options", overridden(keys, given))


def overridden(keys: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a specification with those given beside it.

    These replace them; recodings and conditions replace those of the same column alone, and texts
    of the document those of the same key.
    """
    found = {**keys, **given}
    if isinstance(keys.get("document"), Mapping) and isinstance(given.get("document"), Mapping):
        found["document"] = {**keys["document"], **given["document"]}
    for name in ("recode", "where"):
        if keys.get(name) is not None and given.get(name) is not None:
            of, at = BY_NAME[name].type, Location(name)
            columns = {e.column for e in cast("Any", of.read(given[name], Location(name)))}
            former = cast("Any", of.read(keys[name], at))
            refuse(at.problems)
            kept = tuple(each for each in former if each.column not in columns)
            found[name] = [*([of.plain(kept)] if kept else []), *items(given[name])]
    return found


def labels_come_later(config: Config) -> bool:
    """Return whether a specification is of a monitor whose rows have their labels later."""
    if not isinstance(config, (str, Path, Mapping)):
        return False
    found = (config if isinstance(config, Mapping) else read_options(config)).get(MONITOR)
    return isinstance(found, Mapping) and found.get("labels_within") is not None


def read_options(path: str | Path) -> dict[str, object]:
    """Read a specification file into options of `fairgauge.audit`, which `ask` checks."""
    options = parse(Path(path))
    options = {} if options is None else options  # an empty YAML file
    if not isinstance(options, dict):
        message = f"must be a table of keys such as label and sensitive, not {display(options)}"
        raise SpecError(Problem(str(path), message))
    if str(options.get("schema", "")).startswith("fairgauge."):
        message = "is a saved result of fairgauge, not a specification; fairgauge.load reads it"
        raise SpecError(Problem(str(path), message))
    refuse_costly(options.get("replicates"), options.get("threshold"))
    folder = Path(path).parent
    if options.get("recode"):
        options["recode"] = [
            str(folder / each) if isinstance(each, str) and "=" not in each else each
            for each in items(options["recode"])
        ]
    for key in ("sensitive", "probabilities"):
        for each in items(options.get(key)):
            if isinstance(each, dict) and isinstance(each.get("table"), str):
                each["table"] = str(folder / each["table"])
    return options
