"""The question of a report: what was asked, of which data, as pairs of a word and what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairgauge.enums import (
    Closed,
    DiagnosticCode,
    Favourable,
    Missing,
    Person,
    ReferenceRule,
    ScopeKind,
    Task,
    Threshold,
    Uncounted,
)
from fairgauge.errors import quote
from fairgauge.identity import FeatureId, feature_names, name_of_values
from fairgauge.question.conditions import read_conditions
from fairgauge.question.features import strata_columns, strata_named
from fairgauge.question.options import BY_NAME, flag_of
from fairgauge.question.presets import find_preset, preset
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.render.words.display_names import all_called, called, printable
from fairgauge.render.words.numbers import count, listing, numbered, plural
from fairgauge.resolve.excluded_rows import (
    OF_NO_WEIGHT,
    contradictory_group,
    excluded_group,
    missing_group,
    missing_in_condition,
    missing_stratum,
    unit_excluded,
)
from fairgauge.results.disadvantage import favourable_of
from fairgauge.results.report import Report
from fairgauge.values import Json

if TYPE_CHECKING:
    from fairgauge.results.comparison import ModelComparison
    from fairgauge.results.gap_decomposition import Decomposition

_COLUMNS = (
    ("counts", "count"), ("weights", "weight"), ("clustered by", "cluster"),
)  # fmt: skip
_MISSING_CLUSTER = "missing cluster"
OUTCOMES = ("label", "prediction", "score")
_FROM_SOME = {
    **{f"missing {each}": ", where it is needed" for each in OUTCOMES},
    _MISSING_CLUSTER: ", excluded from confidence intervals alone",
}
_FROM_STRATA = ", excluded from numbers within strata, or adjusted for them, alone"
_REFERENCES = {
    "rest": "all other groups",
    "others": "all other groups",
    "overall": "all rows, the group included",
    "largest": "the largest group",
    "best": "the group with the most favourable rate",
}
COVER = (
    "organisation", "author", "audit_date", "purpose", "period", "first_used", "source",
    "collected", "notes",
)  # fmt: skip
DATES = {
    "audit_date": "date of the audit",
    "first_used": "date the tool was first used",
    "response": "response to the results",
}
"""What the cover of a report states, where it is given."""


def question(report: Report) -> list[tuple[str, str]]:
    """Return what was asked: data, label, prediction, groups, reference and method."""
    spec = report.spec
    pairs = [("data", data_words(report))]
    pairs += [(word, text) for word, text in _outcomes(report) if text]
    pairs.append(("groups", ", ".join(_features(spec))))
    pairs.append(("recoded", "; ".join(_recoded(spec))))
    pairs.append(("compared with", _compared_with(spec)))
    pairs.append(("adjusted for", called(strata_named(spec.get("strata")) or "")))
    pairs += [(word, called(spec[key])) for word, key in _COLUMNS if spec.get(key)]
    pairs.append(("method", _method(report)))
    return [(word, text) for word, text in pairs if text]


def _recoded(spec: Mapping[str, Any]) -> list[str]:
    """Return of every recoded column what its categories are made of."""
    recodings = spec.get("recode") or {}
    return [
        f"{called(column)}: "
        + ", ".join(
            f"{called(name)} from {listing([called(quote(v)) for v in values], most=50)}"
            for name, values in categories.items()
        )
        for column, categories in recodings.items()
    ]


def lead(report: Report, *, tables_to_publish: bool = False) -> tuple[str, ...]:
    """Return what was asked in two sentences; with a preset, how many rows have no group too.

    ``tables_to_publish`` is whether the preset has any: these are adjusted for the strata, too.
    """
    spec = report.spec
    outcomes = ", ".join(f"{word} {text}" for word, text in _columns(report))
    confidence = spec.get("confidence", 0.95)
    compared = _compared_with(spec)
    if preset_reference_replaced(spec):
        own = reference_words(preset(spec["preset"]).options["reference"])
        compared += f" (in place of the reference of the preset, {own})"
    strata = strata_named(spec.get("strata"))
    adjusted = ""
    if strata and any(each.scope.kind is not ScopeKind.OVERALL for each in report.estimates):
        which = " and the tables to publish" if tables_to_publish else ""
        others = " of groups" if tables_to_publish else ""
        adjusted = (
            f" Findings{which} are also adjusted for "
            f"{called(strata)}; tables{others} and rules are not."
        )
    asked = f"Columns: {outcomes}." if outcomes else "No label and no prediction."
    unknown = unknown_sentence(report) if spec.get("preset") else ""
    rounding = rounding_sentence(report)
    return (
        f"{asked}{_positive_sentence(report)}",
        (
            f"Groups of {listing(_features(spec))}, each compared with {compared}; "
            f"{100 * confidence:.4g}% confidence intervals{_rows_words(report)}."
            f"{_small_references(report)}{adjusted}"
            f"{f' {rounding}' * bool(rounding)}{_recoding_sentence(spec)}{_people_sentence(spec)}"
        ),
        *([unknown] if unknown else []),
    )


def _small_references(report: Report) -> str:
    """Return of which features no group is large enough to be chosen as the best; else nothing."""
    if report.spec.get("reference") != ReferenceRule.BEST:
        return ""
    least: dict[str, float] = {}
    for each in report.estimates:
        if each.feature is not None and each.reason is not None:
            minimum = each.reason.get("minimum") or 0
            least[each.feature] = max(minimum, least.get(each.feature, 0))
    sizes: dict[str, float] = {}
    for group in report.groups:
        if group.reference_kind is None and group.feature in least:
            known = [rate.denominator for rate in group.rates.values() if rate.denominator]
            sizes[group.feature] = max(sizes.get(group.feature, 0), *known, 0)
    small = [feature for feature, most in sizes.items() if 0 < most < least[feature]]
    if not small:
        return ""
    return (
        f" No group of {all_called(small, 'or')} is large enough to be a "
        "reference: there the largest group is."
    )


def weightless_rows(report: Report) -> str:
    """Return that sizes, which are without weights, do not count rows that carry nothing."""
    if not report.data.excluded.get(OF_NO_WEIGHT):
        return ""
    one = "person" if counts_people(report.spec) else "row"
    return f"A {one} of weight 0 is not counted."


COUNTED = {
    Person.ANY: "each person counts once, with their most favourable decision",
    Person.LAST: "each person counts once, with their last known decision",
    Person.EACH: "each decision counts; those of one person are clustered observations",
}


def _people_sentence(spec: Mapping[str, Any]) -> str:
    if not spec.get("person"):
        return ""
    counted = COUNTED[Person(spec["per_person"])]
    if spec["per_person"] == Person.LAST and spec.get("label") and spec.get("prediction"):
        counted += " and the label of that row"
    return f" People are those of {quote(spec['person'])}: {counted}."


def _recoding_sentence(spec: Mapping[str, Any]) -> str:
    recoded = [called(column) for column in spec.get("recode") or {}]
    return f" Values of {listing(recoded)} are recoded." if recoded else ""


def rounded_to(report: Report) -> int:
    """Return to multiples of what protected counts are rounded at random; 0 where all are exact."""
    found = (d["min_cell"] for d in report.diagnostics if d.code is DiagnosticCode.PROTECTED)
    return next(found, 0)


def rounding_sentence(report: Report) -> str:
    """Return that the counts are protected; nothing where they are exact."""
    rounded = rounded_to(report)
    return (
        f"Counts are protected: rounded at random to multiples of {rounded:,}; intervals and "
        "verdicts hold for every table that agrees with them."
    ) * bool(rounded)


def document(report: Report) -> Mapping[str, str]:
    """Return the fields of the cover: title, author, organisation, period and others."""
    fields = report.spec.get("document") or {}
    return {key: str(value) for key, value in fields.items() if value}


def unstated(report: Report) -> tuple[str, str] | None:
    """Return what the preset asks of a published report and this one does not state, and how to."""
    found, stated = find_preset(report.spec.get("preset")), document(report)
    asked = found.document if found is not None else ()
    absent = [key for key in asked if key not in stated]
    if not absent:
        return None
    words = listing([DATES.get(key, f"{key} of the data") for key in absent])
    return words, listing([f"--{key.replace('_', '-')}" for key in absent])


def caveat(spec: Mapping[str, Json]) -> tuple[str, ...]:
    """Return what readers must know first, whole, where the question states it."""
    fields = spec.get("document")
    stated = fields.get("caveat") if isinstance(fields, dict) else None
    return (f"Warning: {printable(stated)}",) if stated else ()


def data_words(report: Report) -> str:
    """Return what was read and how much of it was used."""
    data, every = report.data, report.data.cases
    cases = f" representing {count(every)} {unit(report, 'cases')}"
    cases = cases if every != data.rows else ""
    return f"{called(data.source)}, {rows_words(report)}{cases}, {used_words(report)}"


def rows_words(report: Report) -> str:
    """Return how many rows there are, in words: the sum of protected counts is about as many."""
    rows = report.data.rows
    return f"{'about ' if rounded_to(report) else ''}{count(rows)} {plural(rows, 'row', 'rows')}"


def used_words(report: Report) -> str:
    """Return how many rows were used, in words.

    Rows without a group of one feature are used for the others, and rows without a prediction for
    the rates that need none.
    """
    data = report.data
    every = data.rows if unit(report) == "rows" else data.cases
    missing = incomplete(report)
    if data.used == every or not missing:
        return how_many_used(report, every)
    several = len(report.spec.get("sensitive", ())) > 1
    known = [*(f"a {each}" for each in missing), "one group or more" if several else "a group"]
    return f"{number_used(report)} with {listing(known)}"


def number_used(result: Report | Decomposition) -> str:
    """Return the number of rows, cases or people that are used; the least that it may be."""
    used = result.data.used if isinstance(result, Report) else result.used
    least = any(each.code is DiagnosticCode.USED_AT_LEAST for each in result.diagnostics)
    return f"{'at least ' * least}{count(used)}"


def how_many_used(result: Report | Decomposition, every: float) -> str:
    """Return how many rows, cases or people of all are used."""
    of = result.data if isinstance(result, Report) else result
    if of.used != every:
        return f"{number_used(result)} used"
    partly = set(of.excluded) - {_MISSING_CLUSTER, *Uncounted} - _missing_strata(result.spec)
    return "all used for at least one feature" if partly else "all used"


def unit(report: Report, other: str = "rows") -> str:
    """Return what a report counts: people, the cases of a count, or ``other``."""
    return unit_of(report.spec, other)


def unit_of(spec: Mapping[str, Any], other: str = "rows") -> str:
    """Return what is counted where this is asked: people, the cases of a count, or ``other``."""
    return "people" if counts_people(spec) else "cases" if spec.get("count") else other


def counts_people(spec: Mapping[str, Any]) -> bool:
    """Return whether people were counted, not rows."""
    return bool(spec.get("person")) and spec.get("per_person") != "each"


def incomplete(report: Report) -> list[str]:
    """Return which of label, prediction and score are missing in some rows."""
    return [kind for kind in OUTCOMES if report.data.excluded.get(f"missing {kind}")]


def reference_words(asked: Any) -> str:
    """Return what groups are compared with by a rule, in words."""
    return _REFERENCES.get(str(asked)) or called(asked)


def _named_references(spec: Mapping[str, Any]) -> str:
    """Return the groups that are named as references, and where groups have other ones.

    An intersection of features that all have one has the group of both.
    """
    named = {feature: _text(value) for feature, value in spec["reference"].items()}
    crossed = {
        name: " & ".join(named[part] for part in parts)
        for name, parts in _intersections(spec).items()
        if name not in named and named.keys() >= set(parts)
    }
    named |= crossed
    if named.keys() >= _feature_names(spec):
        return listing(list(named.values()))
    each = (f"{called(feature)} = {value}" for feature, value in named.items())
    return f"{', '.join(each)}; elsewhere all other groups"


def only_reference(spec: Mapping[str, Any]) -> str:
    """Return the reference of every table in few words; where they differ, that it is one."""
    asked = spec.get("reference", "others")
    if isinstance(asked, Mapping):
        names = set(map(_text, asked.values()))
        same = len(names) == 1 and set(asked) == _feature_names(spec)
        return next(iter(names)) if same else "the reference"
    return _REFERENCES.get(str(asked)) or called(asked)


def preset_reference_replaced(spec: Mapping[str, Any]) -> bool:
    """Return whether a preset compares with the best group, and another reference was asked for."""
    found = find_preset(spec.get("preset"))
    own = None if found is None else found.options.get("reference")
    return own == ReferenceRule.BEST and spec.get("reference") != own


def _compared_with(spec: Mapping[str, Any]) -> str:
    """Return what groups are compared with; the best and the largest are chosen of large ones."""
    asked = spec.get("reference", "others")
    if isinstance(asked, Mapping):
        return _named_references(spec)
    words = reference_words(asked)
    if asked not in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        return words
    if asked == ReferenceRule.BEST and spec.get("min_n") is None:
        spec = {**spec, "min_n": FEWEST_ROWS}
    least = of_least_size(spec)
    return f"{words} among groups{least}" if least else words


def of_least_size(spec: Mapping[str, Any]) -> str:
    """Return of which size groups are that decide: " of at least 2% of the rows"; empty of any."""
    rows, share = spec.get("min_n"), spec.get("min_share")
    counted = unit_of(spec)
    least = [f"{rows:,} {counted}"] if rows and rows > 1 else []
    least += [f"{100 * share:.4g}% of the {counted}"] if share else []
    return f" of at least {listing(least)}" if least else ""


def positive_words(asked: Any) -> str:
    """Return the favourable values in words."""
    if isinstance(asked, Mapping) and "ordered" in asked:
        return f"each cut of the order {', '.join(map(_text, asked['ordered']))}"
    if isinstance(asked, Mapping) and isinstance(asked.get("above"), int | float):
        return f"above {_text(asked.get('above'))}"
    if isinstance(asked, Mapping):
        stated = [f"{called(column)} = {positive_words(held)}" for column, held in asked.items()]
        return listing(stated, "and")
    values = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    return listing([_text(value) for value in values], "or")


def _quoted_values(asked: object) -> str:
    """Return the favourable values as they stand in a sentence, where “no” is a value."""
    if isinstance(asked, Mapping):
        return positive_words(asked)
    values = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    words = [_text(v) if isinstance(v, int | float) else f"“{_text(v)}”" for v in values]
    return listing(words, "or")


def excluded_why(reason: str) -> str:
    """Return why rows are excluded, and from what, where that is not everything."""
    return f"{called(reason)}{_FROM_SOME.get(reason, '')}"


def excluded(report: Report | ModelComparison) -> list[tuple[str, int]]:
    """Return the reasons for which rows were excluded, with their numbers, largest first."""
    apart = _missing_strata(report.spec)
    found = [
        (f"{excluded_why(reason)}{_FROM_STRATA * (reason in apart)}", rows)
        for reason, rows in report.data.excluded.items()
        if rows and reason != Uncounted.SAME_PERSON
    ]
    return sorted(found, key=lambda each: -each[1])


def _missing_strata(spec: Mapping[str, Any]) -> set[str]:
    """Return the reasons that exclude rows from the numbers within strata alone."""
    columns = strata_columns(spec.get("strata") or ())
    return {missing_stratum(each, len(columns)) for each in columns}


def _missing_groups(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the reasons that exclude rows from one of several features, each with the feature.

    A column that only an intersection has excludes them from this one.
    """
    columns = [each["column"] for each in spec.get("sensitive", ())]
    of = {column: called(column) for column in columns[:-1] and columns}
    for name, parts in _intersections(spec).items() if columns else ():
        alone = [part for part in parts if part not in columns]
        of |= {part: f"{called(name)} (unknown {called(part)})" for part in alone}
    return {
        called(reason(column)): feature
        for column, feature in of.items()
        for reason in (missing_group, contradictory_group)
    }


def _of_groups(spec: Mapping[str, Any]) -> set[str]:
    """Return the reasons for which rows are in no group of a feature."""
    reasons = missing_group, contradictory_group, excluded_group
    return {
        called(reason(each["column"])) for each in spec.get("sensitive", ()) for reason in reasons
    }


def exclusions(result: Report | ModelComparison, incomplete: float, unit: str = "rows") -> str:
    """Return which rows are excluded, and from what: those without one feature are in the others.

    Of models, the overall numbers are of all rows, in a group or not. ``incomplete`` is how many
    rows are not complete.
    """
    from_one: dict[str, int] = {}
    found, of_one = excluded(result), _missing_groups(result.spec)
    for why, n in found:
        if why in of_one:
            from_one[of_one[why]] = from_one.get(of_one[why], 0) + n
    units = {excluded_why(reason): unit_excluded(reason, unit) for reason in Uncounted}
    within = [(why, n) for why, n in found if why.endswith(_FROM_STRATA)]
    whole = [each for each in found if each not in within]
    stated = [
        (f"{numbered(n, units.get(why, unit))} ({why})", why)
        for why, n in whole
        if why not in of_one
    ]
    of_all = set() if isinstance(result, Report) else _of_groups(result.spec)
    others = [text for text, why in stated if why not in of_all]
    groupless = [text for text, why in stated if why in of_all]
    texts = [f"Excluded: {'; '.join(others)}."] if others else []
    if groupless:
        texts.append(f"In the overall numbers, but not in the groups: {'; '.join(groupless)}.")
    if not from_one and sum(rows for _, rows in whole) > incomplete:
        each = "person" if unit == "people" else "row"
        texts.append(f"A {each} that lacks several of these is counted in each.")
    if from_one:
        listed = (f"from {name}: {numbered(n, unit)}" for name, n in from_one.items())
        texts.append(f"Excluded {'; '.join(listed)}.")
    if within:
        listed = (f"{numbered(n, unit)} ({why.removesuffix(_FROM_STRATA)})" for why, n in within)
        texts.append(
            f"Not in the numbers within strata, or adjusted for them: {'; '.join(listed)}."
        )
    return " ".join(texts)


def unknown_in_intersections(report: Report) -> list[tuple[str, int]]:
    """Return why rows are in no group of an intersection, with their numbers.

    A row that lacks one of several features is in the tables of the others.
    """
    found = []
    among = _among_known(report)
    for name, parts in _intersections(report.spec).items():
        rows = _unknown(report).get(name)
        if rows:
            columns = all_called(parts, "or")
            found.append((f"unknown {columns} ({called(name)}){among}", rows))
    return found


def _unknown(report: Report) -> dict[str, int]:
    """Return how many rows are in no group of a feature, by feature; those with any."""
    return {
        each.feature: each["rows"]
        for each in report.diagnostics
        if each.code is DiagnosticCode.MISSING_GROUPS and each.feature is not None
    }


def _among_known(report: Report) -> str:
    """Return of whom those of unknown category are counted: of those with an outcome."""
    lacking = " or ".join(incomplete(report))
    return f", among the {unit(report)} with a known {lacking}" if lacking else ""


def unknown_sentence(report: Report) -> str:
    """Return how many rows, and cases, are in no group of each feature.

    Where a group has a name that usually means a missing value, it is named in place of none.
    """
    listed = []
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_GROUPS and each.feature is not None:
            rows, cases = each["rows"], each.get("cases")
            number = numbered(rows, unit(report))
            if cases is not None:
                number = f"{numbered(cases, 'cases')} ({number})"
            listed.append(f"{number} in {called(each.feature)}")
        elif each.code is DiagnosticCode.GROUP_NOT_RECORDED and each.feature is not None:
            number = numbered(each["people"] - each["known"], unit(report))
            listed.append(f"{number} in {called(each.feature)} (estimated from probabilities)")
            if each.get("unplaced") and not each["sampled"]:
                number = numbered(each["unplaced"], unit(report))
                listed.append(f"{number} in {called(each.feature)} (without probabilities)")
    undecided, markers = _of_unknown_condition(report), _marker_sentence(report)
    if report.spec.get("missing") == Missing.GROUP:
        who = "Who else" if undecided else "Who"
        counted = f"{who} is of unknown category is in the tables as a group of its own, (missing)."
    elif not listed and markers:
        counted = ""
    else:
        others = " among the others" if undecided else ""
        counted = (
            f"Of unknown category{others}{_among_known(report)}: "
            f"{', '.join(listed) or f'no {unit(report)}'}."
        )
    return " ".join(filter(None, [*undecided, counted, markers]))


def _of_unknown_condition(report: Report) -> list[str]:
    """Return of each column of groups how many rows lack the value that a condition is on.

    Where people are counted in place of rows, it is not known.
    """
    spec = report.spec
    columns = {each["column"] for each in spec["sensitive"]}.union(*_intersections(spec).values())
    found = []
    for each in read_conditions(spec.get("where") or {}, "where", []):
        if each.column not in columns:
            continue
        column = called(each.column)
        of = f"of unknown {column}"
        if rows := report.data.excluded.get(missing_in_condition(each.column), 0):
            text = f"{numbered(rows, unit(report))} {of} {plural(rows, 'is', 'are')} in no number"
        elif counts_people(spec) and not each.holds(None):
            text = f"Rows {of}, if any, are in no number"
        else:
            continue
        found.append(f"{text}: the condition on {column} cannot be decided.")
    return found


def excluded_sentence(report: Report) -> str:
    """Return how many rows are in no row of the tables of a feature: their group is excluded."""
    counted = {
        each["column"]: report.data.excluded.get(excluded_group(each["column"]), 0)
        for each in report.spec["sensitive"]
    }
    parts = [
        f"{called(column)}{_and_of(column, report)}, {numbered(rows, unit(report))}"
        for column, rows in counted.items()
        if rows
    ]
    if not parts:
        return ""
    lacking = " or ".join(incomplete(report))
    known = f", also those without a known {lacking}" if lacking else ""
    names = all_called(report.spec["exclude_groups"])
    return f"Excluded groups ({names}), in no row of the tables of {'; of '.join(parts)}{known}."


def _and_of(column: str, report: Report) -> str:
    joint = [name for name, parts in _intersections(report.spec).items() if column in parts]
    return f" and {all_called(joint)}" if joint else ""


def _marker_sentence(report: Report) -> str:
    """Return which groups have names that usually mean a missing value; empty if none has."""
    places: dict[str, list[str]] = {}
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_MARKER and not each.get("excluded"):
            number = numbered(each["rows"], unit(report))
            places.setdefault(each["value"], []).append(f"{called(each.feature or '')} ({number})")
    if not places:
        return ""
    groups = listing([f"{quote(value)} of {listing(of)}" for value, of in places.items()])
    flags = " ".join(flag_of("unknown", value) for value in places)
    several = sum(map(len, places.values())) > 1
    return (
        f"Counted as {plural(2 if several else 1, 'a group', 'groups')} like any other: {groups}; "
        f"if this means that the category is unknown, state it: {flags}."
    )


def decision_words(report: Report) -> str:
    """Return how scores decide in a report."""
    if report.spec.get("prediction"):
        return (
            "The predictions of this report are a column of their own and need not follow from a "
            "threshold on the score."
        )
    return f"In this report the prediction is positive where the score is {cut_words(report)}."


def _rows_words(report: Report) -> str:
    """Return how rows are weighted and clustered, where they are."""
    weight, cluster = (report.spec.get(key) for key in ("weight", "cluster"))
    words = f", weighted by {called(weight)}" if weight else ""
    return words + (f", robust to clustering by {called(cluster)}" if cluster else "")


def _columns(report: Report) -> list[tuple[str, str]]:
    """Return the columns of label, prediction and score."""
    spec = report.spec
    found = [(key, called(spec[key])) for key in ("label", "prediction", "score") if spec.get(key)]
    if spec.get("score") and not spec.get("prediction"):
        found.append(("predicted positive where the score is", cut_words(report)))
    return found


def _outcomes(report: Report) -> list[tuple[str, str]]:
    """Return the columns, and the favourable outcome."""
    found = _columns(report)
    if found and report.task is not Task.REGRESSION and not _only_scored(report):
        found.append((f"{_for_a_person(report) or 'positive'} outcome", _positive(report)))
    return found


def _for_a_person(report: Report) -> str:
    """Return what the positive outcome is for a person, if it is either."""
    stated = favourable_of(report.spec)
    if stated is Favourable.POSITIVE:
        return "favourable"
    return "unfavourable" if stated is Favourable.NEGATIVE else ""


def _positive(report: Report) -> str:
    """Return the positive outcome, and whether it was stated or assumed."""
    asked = report.spec.get("positive")
    if asked:
        return f"{positive_words(asked)} (stated)"
    if report.task is Task.MULTICLASS:
        return "each class in turn"
    return "1 or true (assumed)"


def _positive_sentence(report: Report) -> str:
    """Return what positive means, which every rate depends on."""
    spec = report.spec
    if report.task is Task.REGRESSION:
        return " Errors are prediction minus label." if spec.get("prediction") else ""
    if not _columns(report):
        return ""
    if _only_scored(report):
        return ""
    asked = spec.get("positive")
    if not asked and report.task is Task.MULTICLASS:
        return " Each class in turn is positive."
    values = _quoted_values(asked) if asked else "1 or true"
    ordered = isinstance(asked, Mapping) and "ordered" in asked
    in_turn = " in turn" if ordered else ""
    how = "stated" if asked else "assumed"
    meaning = f", the {for_a_person} outcome" if (for_a_person := _for_a_person(report)) else ""
    text = f" Positive is {values}{in_turn}{meaning} ({how})"
    if not (spec.get("label") and (spec.get("prediction") or spec.get("score"))):
        return f"{text}."
    if ordered:
        return f"{text}: a false positive is predicted above a cut, with a label below it."
    if isinstance(asked, Mapping) and spec.get("prediction") in asked:  # values of each column
        values = _quoted_values(asked[spec["prediction"]])
    return f"{text}: a false positive is a wrong prediction of {values}."


def not_favourable(report: Report) -> str:
    """Return which of several values count as not positive, the most frequent ones by name."""
    for each in report.diagnostics:
        if each.code is DiagnosticCode.NOT_FAVOURABLE:
            rows = each["rows"] or [0] * len(each["values"])  # of people no rows are counted
            held = sorted(zip(rows, each["values"], strict=True), key=lambda held: -held[0])
            named = [f"{called(value)}{f' ({n:,})' * bool(each['rows'])}" for n, value in held]
            meaning = "favourable" if _for_a_person(report) == "favourable" else "positive"
            return f"Not {meaning}: {listing(named, most=_MOST_VALUES)}."
    return ""


_MOST_VALUES = 4


def _only_scored(report: Report) -> bool:
    """Return whether there are scores alone, and no value is stated whose scores they are."""
    spec = report.spec
    return not (spec.get("label") or spec.get("prediction") or spec.get("positive"))


def cut_words(report: Report, at: float | None = None) -> str:
    """Return which scores are predicted positive; low ones where they are of the negative.

    Of several thresholds all are listed, or the one ``at`` which a rate is.
    """
    turned = any(each.turned is not None for each in report.scores)
    if report.profile.rules.threshold_is_exclusive:
        sign = "<=" if turned else ">"
    else:
        sign = "<" if turned else ">="
    threshold = report.spec.get("threshold") or ()
    if threshold == Threshold.MEDIAN:
        found = {group.threshold for group in report.groups} - {None}
        value = f" ({found.pop():.4g})" if len(found) == 1 else ""
        unweighted = "unweighted " if report.spec.get("weight") else ""
        return f"{'<' if turned else '>'} the {unweighted}median of the scores{value}"
    listed = threshold if at is None else (at,)
    return f"{sign} {listing([_text(each) for each in listed], 'or')}"


def _features(spec: Mapping[str, Any]) -> list[str]:
    found, crossed = [], _intersections(spec)
    for feature in spec.get("sensitive", ()):
        column = called(feature["column"])
        if feature["column"] in crossed:  # a column of the name of an intersection
            column = f'"{column}"'
        if feature.get("cuts"):
            closed = ", left edges closed" if feature.get("closed") == Closed.LEFT else ""
            column += f" (cut at {listing([_text(cut) for cut in feature['cuts']])}{closed})"
        if feature.get("values"):
            sets = [", ".join(map(_text, each)) for each in feature["values"]]
            column += f" ({'; '.join(sets[:8])})"
        found.append(column)
    found += [
        f"{called(feature['name'])} (≈ from probabilities)"
        for feature in spec.get("probabilities", ())
    ]
    return found + [called(name) for name in crossed]


def _feature_names(spec: Mapping[str, Any]) -> set[str]:
    columns = {feature["column"] for feature in spec.get("sensitive", ())}
    unrecorded = {feature["name"] for feature in spec.get("probabilities", ())}
    return columns | unrecorded | set(_intersections(spec))


def _intersections(spec: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the columns of every intersection of a saved question, by its name."""
    single = [FeatureId((feature["column"],)) for feature in spec.get("sensitive", ())]
    crossed = [FeatureId(tuple(parts)) for parts in spec.get("intersections", ())]
    names = feature_names([*single, *crossed])[len(single) :]
    return {name: feature.columns for name, feature in zip(names, crossed, strict=True)}


def _method(report: Report) -> str:
    spec = report.spec
    parts = [f"profile {report.profile}", f"task {report.task}"]
    if any(each.interval for each in report.estimates):
        confidence = 100 * spec.get("confidence", 0.95)
        parts.append(f"{confidence:.4g}% confidence intervals ({spec.get('method')}, "
                     f"seed {spec.get('seed')})")  # fmt: skip
    return ", ".join(parts)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):  # the values of a group of several columns
        return name_of_values(value)
    return f"{value:g}" if isinstance(value, float) else called(value)


def conditions_of(result: object) -> list[str]:
    """Return the conditions of the rows that were counted, none where all were."""
    conditions = getattr(result, "spec", {}).get("where")
    return [called(text) for text in BY_NAME["where"].type.write(conditions)] if conditions else []


def chosen_rows(result: object) -> tuple[str, ...]:
    """Return which rows were counted, where the question has conditions; of reports, by which."""
    differences = getattr(result, "differences", ())
    for each in (d for d in differences if getattr(d, "key", None) == "where"):
        old, new = (_only_rows(asked) for asked in (each.old, each.new))
        return (f"The old report counts {old}, the new report {new}.",)
    if not (conditions := conditions_of(result)):
        return ()
    spec = result.spec  # type: ignore[attr-defined]  # which has conditions
    named = listing(conditions, most=50)
    texts = [f"Only rows with {named} are counted, and not compared with the other rows."]
    open_ones = [e for e in read_conditions(spec["where"], "where", []) if not e.holds(None)]
    absent = [called(e.column) for e in open_ones if not e.keeps_missing(outcome_columns(spec))]
    kept = [called(e.column) for e in open_ones if e.keeps_missing(outcome_columns(spec))]
    if absent:
        texts.append(f"Rows without a value of {listing(absent, 'or')} are not among them.")
    if kept:
        texts.append(
            f"Rows without a value of {listing(kept, 'or')}, if any, are kept, without an outcome."
        )
    return (" ".join(texts),)


def _only_rows(conditions: object) -> str:
    texts = BY_NAME["where"].type.write(conditions) if conditions else []
    return f"only rows with {all_called(texts, most=50)}" if texts else "all rows"


def outcome_columns(spec: Mapping[str, Any]) -> set[str | None]:
    """Return the columns of outcomes and decisions of a question."""
    return {spec.get(role) for role in ("label", "prediction", "score")}
