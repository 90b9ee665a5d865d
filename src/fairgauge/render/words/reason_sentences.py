"""Sentences about reasons: why a number is undefined, has no interval, or decides nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fairgauge.errors import listing
from fairgauge.question.options import flag_of
from fairgauge.reasons import WITHOUT_METHOD, Reason, ReasonCode
from fairgauge.render.words.display_names import all_called, called
from fairgauge.render.words.numbers import amount, numbered
from fairgauge.results.scopes import Diagnostic

_ASKED = frozenset({ReasonCode.SMALL_GROUP})
"""Minimums that a specification sets, beside those that the methods need."""
_OF_ONE_VALUE = frozenset({ReasonCode.CONSTANT_SCORE, ReasonCode.ONE_VALUE})
INSUFFICIENT = "insufficient data"
ONE_OUTCOME = f"{INSUFFICIENT}: every rate is the same 0% or 100%"
RARE_OUTCOME = f"{INSUFFICIENT} on the rarer outcome"
_SIMPLE: dict[ReasonCode, str] = {
    ReasonCode.BOTH_SIDES_INFINITE: "{rate} is infinite on both sides",
    ReasonCode.BOTH_SIDES_ZERO: "both sides are 0",
    ReasonCode.ONE_CLASS_ONLY: "{of} have only one value",
    ReasonCode.CONSTANT_SCORE: "every score is the same, and ROC AUC then 0.5 by definition",
    ReasonCode.NO_VARIATION: "{of} do not vary",
    ReasonCode.NO_BENEFIT: "every row is a false negative, so the mean benefit is 0",
    ReasonCode.NOT_CONVERGED: "the scores do not determine the {of}",
    ReasonCode.FEWER_THAN_TWO_GROUPS: "it is defined in fewer than two groups",
    ReasonCode.NO_GROUPS: "there are no groups",
    ReasonCode.NO_COMMON_STRATUM: "no stratum contains both sides",
    ReasonCode.STRATA_MISSING: "{rows:,} of {total:,} {unit} have no stratum and are excluded, "
    "and have other rates than the others",
    ReasonCode.FEW_COMPARED: "more than half of one side is in no stratum that both sides have",
    ReasonCode.OUTCOMES_MISSING: "outcomes are missing more often on one side, and could leave no "
    "difference shown",
    ReasonCode.GROUPS_MISSING: "rows without a group have other rates than the others, overall or "
    "within strata, and could change what is shown",
    ReasonCode.STRATA_DECIDE: "the strata determine the {of} almost wholly, so that little is "
    "left to compare within them",
    ReasonCode.NONE_AT_TOP: "no row of either side is among the top",
    ReasonCode.EMPTY_FACET: "Facet set is empty",
    ReasonCode.FAILED: "{detail}",
    ReasonCode.WRONG_TASK: "it is not a metric of a {task} audit",
    ReasonCode.NEEDS_COLUMNS: "a {columns} is needed",
    ReasonCode.NEEDS_PROBABILITIES: "scores are needed that are probabilities, from 0 to 1",
    ReasonCode.NEEDS_POPULATION: "the shares of a population are needed (population, --population)",
    ReasonCode.NEEDS_STRATA: "strata are needed (strata, --strata)",
    ReasonCode.NEEDS_FEATURES: "it compares rows; name the columns to compare (features, "
    "--features)",
    ReasonCode.NEEDS_ROWS: "the rows are needed, and there are only counts, of rows or of people",
    ReasonCode.GROUP_NOT_RECORDED: "only probabilities of the groups are known, from which shares "
    "of rows and their differences and ratios are estimated, and nothing else",
    ReasonCode.NO_WEIGHTS: "it compares single rows and does not take weights",
    ReasonCode.PROTECTED: "the counts are protected (rounded): only rates, and differences and "
    "ratios of rates of groups that share no row, have bounds",
    ReasonCode.PROTECTED_EMPTY: "the counts are protected (rounded): the denominator may be zero",
    ReasonCode.PROTECTED_UNDEFINED: "the counts are protected (rounded), and it is undefined in "
    "some table that agrees with them",
    ReasonCode.FEW_ERRORS: "n = {rows:.3g}, below {minimum:,}: fewer rows do not show how large "
    "errors can be",
    ReasonCode.FEW_ERRORS_TOGETHER: "n = {rows:.3g} in all groups together, below {minimum:,}: "
    "fewer rows do not show how large errors can be",
    ReasonCode.FEW_IN_TAIL: "sparse: the values are so skewed that about {rows:.2g} rows make up "
    "the variance, below {minimum}",
    ReasonCode.SUMS_NOT_COUNTED: "the counts were made by an earlier version of fairgauge, without "
    "the sums that it takes; count the rows again",
    ReasonCode.SPARSE_CLASS: "sparse: the rarest class has {rows:g} labels or predictions, below "
    "{minimum}",
    ReasonCode.FEW_IN_MINORITY: "sparse: {rows:g} labels or predictions are outside the most "
    "frequent class, below {minimum}",
    ReasonCode.THIN_STRATA: "strata with fewer than {minimum} {rows} hold more than {share:.0%} of "
    "the weight; merge strata",
    ReasonCode.INADEQUATE: "{detail}",
    ReasonCode.NO_METHOD: "no method is known for {of}",
    ReasonCode.NO_CLUSTER_METHOD: "no cluster-robust method is known for it",
    ReasonCode.ROW_METRIC_WITH_CLUSTERS: "no cluster-robust method is known for it: it compares or "
    "ranks single rows",
    ReasonCode.SCORES_NOT_BY_CLUSTER: "scores are not counted by cluster",
    ReasonCode.DISTANCE_WITH_CLUSTERS: "no cluster-robust method is known for a distance between "
    "distributions; differences of rates have one",
    ReasonCode.JACKKNIFE_UNDEFINED: "the cluster jackknife is undefined: the value is at an end of "
    "its range, or leaving out clusters does not change it or leaves it undefined, or there are "
    "too many strata",
    ReasonCode.CLUSTERS_TOO_FEW_OR_UNDEFINED: "there are fewer than {minimum} clusters, or the "
    "cluster jackknife is undefined",
    ReasonCode.SHARED_CLUSTERS: "the parts of {of} share clusters and are not independent",
    ReasonCode.SHARED_ROWS: "the rates of {of} share rows",
    ReasonCode.RATIO_MAY_BE_ZERO: "a number of the ratio may be 0 or below, so that the ratio has "
    "no bounded confidence interval",
    ReasonCode.VALUE_OUTSIDE_INTERVAL: "no interval contains the value: there is insufficient "
    "data, or the profile replaced 0/0",
    ReasonCode.UNBOUNDED: "the confidence interval of a group is unbounded",
    ReasonCode.TOO_MANY_STRATA: "there are too many strata to resample each",
    ReasonCode.TOO_MANY_GROUPS: "there are too many groups, classes or strata to resample each",
    ReasonCode.RESAMPLED_NOT_POOLED: "no method is known for pooling it over strata",
    ReasonCode.POOLED_WITH_WHOLE: "no method is known for pooling it over strata with all rows as "
    "the reference",
    ReasonCode.ROUNDING: "the fourth powers of labels or predictions are lost to rounding; "
    "subtract a constant from both, or change their unit",
    ReasonCode.OWN_REFERENCE: "the group is its whole reference",
    ReasonCode.OWN_NEIGHBOURS: "the reference contains the group's own rows",
    ReasonCode.ONE_RANK: "all scores are equal",
    ReasonCode.ONE_GROUP_RANKED: "all ranked rows are of one group",
    ReasonCode.POINT_MASS: "{of}",
    ReasonCode.NOT_OF_DECISIONS: "{of} is not made of decisions, and counts do not hold how it "
    "changes",
    ReasonCode.NO_PAIRED_METHOD: "no method is known for the change of {of} on the same rows",
    ReasonCode.INSIDE: "the whole confidence interval is inside the limits",
    ReasonCode.POINT_INSIDE: "the value is inside the limits",
    ReasonCode.POINT_OUTSIDE: "the value is outside the limits",
    ReasonCode.SIGNIFICANT_OUTSIDE: "the value is outside the limits, and differs statistically "
    "significantly from no difference",
    ReasonCode.NOT_SIGNIFICANT: "the value is outside the limits, but does not differ "
    "statistically significantly from no difference",
    ReasonCode.ALTERNATIVES: "the alternatives of the rule decide it together",
    ReasonCode.BOUNDS_CROSS: "the counts are protected (rounded): {low:.3g} to {high:.3g} agree "
    "with them, inside and outside the limits",
    ReasonCode.BELOW: "the whole confidence interval is below {limit:g}",
    ReasonCode.ABOVE: "the whole confidence interval is above {limit:g}",
    ReasonCode.NO_VALUE: "there is no value",
    ReasonCode.NO_INTERVAL: "there is no confidence interval",
    ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL: "the {report} report has no confidence interval for it",
    ReasonCode.DIFFERENT_REFERENCES: "the two reports compare with different references",
    ReasonCode.DIFFERENT_LEVELS: "the two confidence intervals have different levels",
    ReasonCode.ASKED_DIFFERENTLY: "the reports were asked differently ({keys})",
    ReasonCode.BOTH_UNBOUNDED: "both confidence intervals are unbounded",
    ReasonCode.ABSENT: "the {report} report has no such {what}",
    ReasonCode.NOT_JUDGED: "the {report} report has no verdict on it",
    ReasonCode.TEXT: "{text}",
}
_SAME_ROWS = {
    "stated": "both reports are of the same rows",
    "fingerprint": "both reports are of the same counts (fingerprint)",
    "sizes": "all groups have the same numbers of rows, so that the rows are taken to be the same "
    "(--different-rows or same_rows=False states otherwise)",
}


def describe_reason(reason: Reason) -> str:
    """Return a reason as a clause, without a capital and a full stop.

    >>> few = Reason.of(ReasonCode.FEW_ROWS, n=1, minimum=20)
    >>> describe_reason(few), describe_reason(few.on("reference"))
    ('n = 1, below 20', 'n = 1 in the reference, below 20')
    """
    describe = _COMPOSED.get(reason.code)
    if describe is not None:
        return describe(reason)
    parameters: dict[str, Any] = {"unit": "rows"} | dict(reason.parameters)
    if reason.code is ReasonCode.THIN_STRATA:
        of = parameters.get("of")
        parameters["rows"] = f"positive or negative {of}s" if of else "rows on a side"
    text = _SIMPLE[reason.code].format(**parameters)
    return f"the {reason.side}: {text}" if reason.side else text


def insufficiency(reasons: Iterable[Reason | None]) -> str:
    """Return in few words why data decide nothing: in general, or for the minimum that was asked.

    >>> small = Reason.of(ReasonCode.SMALL_GROUP, n=159, minimum=300)
    >>> insufficiency([small]), insufficiency([Reason.of(ReasonCode.FEW_ROWS, n=3, minimum=20)])
    ('below the minimum of 300', 'insufficient data')
    >>> insufficiency([Reason.of(ReasonCode.FEW_EXPECTED, expected=0.4, minimum=5)])
    'insufficient data on the rarer outcome'
    >>> insufficiency([Reason.of(ReasonCode.SCORES_NOT_BY_CLUSTER)])
    'no confidence interval: scores are not counted by cluster'
    """
    every = [part for reason in reasons for part in _parts(reason)]
    known = [part for part in every if part is not None]
    asked = [part for part in known if part.code in _ASKED]
    without = [part for part in known if part.code in WITHOUT_METHOD]
    least = dict.fromkeys(_asked_minimum(part) for part in asked)
    why = dict.fromkeys(map(describe_reason, without))
    words = [
        *(f"below the minimum of {each}" for each in least),
        *(f"no confidence interval: {each}" for each in why),
    ]
    if len(asked) + len(without) < max(len(every), 1):
        rest = [part for part in known if part not in asked and part not in without]
        words.insert(0, _insufficient(rest))
    return " or ".join(words)


def why_insufficient(reason: Reason | None) -> str:
    """Return why an estimate decides nothing: a minimum that was asked speaks for itself."""
    if reason is None:
        return INSUFFICIENT
    text = describe_reason(reason)
    return text if reason.code in _ASKED else f"{INSUFFICIENT}: {text}"


def _parts(reason: Reason | None) -> tuple[Reason | None, ...]:
    joined = reason is not None and reason.code is ReasonCode.ALL_OF
    return tuple(reason["reasons"]) if reason is not None and joined else (reason,)


def _insufficient(known: Sequence[Reason]) -> str:
    """Return that data are insufficient, and what makes them so where that is one thing."""
    if known and all(each.code is ReasonCode.FEW_CLUSTERS for each in known):
        return "small effective sample size"
    if known and all(each.code is ReasonCode.RATIO_MAY_BE_ZERO for each in known):
        return "a number of the ratio may be 0 or below"
    if known and all(each.code in _OF_ONE_VALUE for each in known):
        return f"{INSUFFICIENT}: {describe_reason(known[0])}"
    rare = known and all(each.code is ReasonCode.FEW_EXPECTED for each in known)
    if rare and all(each["expected"] == 0 for each in known):
        return ONE_OUTCOME
    return RARE_OUTCOME if rare else INSUFFICIENT


def _asked_minimum(reason: Reason) -> str:
    share = reason.get("share")
    least = amount(reason["minimum"])
    unit = reason.get("unit") or "rows"
    return least if share is None else f"{100 * share:.4g}% of the {unit} ({least})"


def _no_rows(reason: Reason) -> str:
    of = reason.get("of")
    what = f"no rows with a {of}" if of else "no rows"
    return f"the {reason.side} has {what}" if reason.side else f"there are {what}"


def _lacking_values(reason: Reason) -> str:
    lacking, rows = reason["lacking"], reason["rows"]
    of = "the rows" if reason.side is None else f"the rows of the {reason.side}"
    text = f"{lacking:,} of {of} ({rows:,}) have no value in {called(reason['column'])}"
    return text if lacking == rows else f"{text}, and the others hold no {reason['counts']}"


def _few_expected(reason: Reason) -> str:
    if reason["expected"] == 0:
        return "its rate is 0% or 100%, the same in both groups"
    rows = _rows_below(reason["expected"], reason["minimum"])
    return (
        f"sparse: {rows} expected in the rarest cell under no difference, below "
        f"{reason['minimum']:g}"
    )


def _rows_below(value: float, minimum: float, kind: str = "") -> str:
    """Write how many rows there are, a number below a minimum.

    >>> _rows_below(3.21, 5), _rows_below(1.0, 5, "effective ")
    ('3.2 rows', '1 effective row')
    """
    shown = _below(value, minimum)
    return f"{shown} {kind}{'row' if shown == '1' else 'rows'}"


def _below(value: float, minimum: float) -> str:
    """Write a number that is below a minimum with the digits that show it.

    >>> _below(3.21, 5), _below(4.97, 5)
    ('3.2', '4.97')
    """
    digits = next(d for d in range(2, 17) if float(f"{value:.{d}g}") < minimum or d == 16)
    return amount(value, digits)


def _small_group(reason: Reason) -> str:
    where = f" in the {reason.side}" if reason.side else ""
    text = f"n = {amount(reason['n'])}{where}, below the minimum of {amount(reason['minimum'])}"
    share = reason.get("share")
    if share is None:
        return text
    known = f" with a known {reason['known']}" if reason.get("known") else ""
    return f"{text} ({100 * share:.4g}% of all {numbered(reason['total'], reason['unit'])}{known})"


def _no_estimate(reason: Reason) -> str:
    nearest = reason.get("nearest")
    hint = f"; the nearest group is '{nearest}'" if nearest else ""
    if not nearest and reason.get("held"):
        hint = f"; the groups are {reason['held']}"
    return f"there is no estimate of the {reason['what']} '{reason['name']}'{hint}"


def _could_change(reason: Reason, what: str) -> str:
    """Return which rows could change what the others alone come to."""
    rows = numbered(reason["rows"], reason.get("unit") or "rows")
    who = f"up to {rows}" if reason.get("at_most") else f"the {rows.removeprefix('1 ')}"
    return f"{who} without a {what} could change that"


_COMES_TO = {
    "pass": "passes",
    "fail": "fails",
    "inconclusive": "is inconclusive",
    "not_evaluated": "has insufficient data",
    "reference": "is 1 (the reference)",
    "none": "has no verdict",
    "not_computed": "cannot be computed",
}


def _of_side(reason: Reason) -> str:
    return f"the {reason.side}: " if reason.side else ""


def _every(reason: Reason) -> str:
    return " and ".join(map(describe_reason, reason["reasons"]))


def _below_minimum(reason: Reason) -> str:
    where = f" in the {reason.side}" if reason.side else ""
    return f"{where}, below {reason['minimum']:g}"


def rows_and_part(reason: Reason) -> str:
    """Return how many rows there are, and of several parts how many the smallest has."""
    if reason.get("counts") is None:
        return f"n {'may be as small as' if reason.get('at_least') else '='} {amount(reason['n'])}"
    part = reason["counts"]
    if reason.get("column") is not None:
        part = f"with {called(reason['column'])} = {all_called(reason['values'], 'or', 3)}"
    return f"{numbered(reason['rows'], 'rows')}, {amount(reason['n'])} of them {part}"


def _one_decision(reason: Reason) -> str:
    at = "" if reason.get("threshold") is None else f" at threshold {reason['threshold']:g}"
    if reason.get("cut") is not None:
        at = f" where {called(reason['cut'])} counts as positive"
    return f"every decision is {only_value(reason)}{at}, so that groups cannot differ in it"


def _one_value(reason: Reason) -> str:
    at = "" if reason.get("threshold") is None else f" at threshold {reason['threshold']:g}"
    return f"every {reason['of']} is {only_value(reason)}{at}"


def only_value(found: Reason | Diagnostic) -> str:
    """Return what all labels or decisions are: "positive", or the name of a class."""
    if (value := found.get("value")) is not None:
        return called(value)
    return "positive" if found["positive"] else "negative"


_COMPOSED: dict[ReasonCode, Callable[[Reason], str]] = {
    ReasonCode.ONE_DECISION: _one_decision,
    ReasonCode.ONE_VALUE: _one_value,
    ReasonCode.PROTECTED_REFERENCE: lambda reason: (
        "the counts are protected (rounded) and do not show which group is the "
        f"{reason['reference']} one; name the reference of each feature (reference, "
        f"{flag_of('reference', {reason['column']: 'GROUP'})})"
    ),
    ReasonCode.ALL_AT_TOP: lambda reason: (
        f"the top is the whole ranking ({numbered(reason['rows'], 'rows')}), so that the scores "
        "have no effect"
    ),
    ReasonCode.ALL_OF: lambda reason: f"{_of_side(reason)}{_every(reason)}",
    ReasonCode.NO_ROWS: _no_rows,
    ReasonCode.NO_POSITIVES: lambda reason: f"there are no rows with a positive {reason['of']}",
    ReasonCode.NO_NEGATIVES: lambda reason: f"there are no rows with a negative {reason['of']}",
    ReasonCode.EMPTY_DENOMINATOR: lambda reason: (
        f"{f'the {reason.side} has ' if reason.side else ''}no {reason['counts']}"
        + (" of a weight above 0" if reason.get("weighted") else f" ({reason['formula']} = 0)")
    ),
    ReasonCode.LACKING_VALUES: _lacking_values,
    ReasonCode.BOTH_SIDES_EQUAL_RATE: lambda reason: (
        f"{reason['rate']} is "
        f"{f'{value:g}' if math.isfinite(value := reason['value']) else 'infinite'} on both sides"
    ),
    ReasonCode.RATIO_NOT_ABOVE_ZERO: lambda reason: (
        f"{reason['rate']} is 0 or below in a group that is compared, so that ratios of it are "
        "undefined"
    ),
    ReasonCode.NO_ROW_OF_CLASS: lambda _: "no row is of the class",
    ReasonCode.NO_CLASS_DEFINED: lambda reason: (
        f"{_of_side(reason)}it is defined in no class ({_every(reason)})"
    ),
    ReasonCode.FEW_ROWS: lambda reason: f"{rows_and_part(reason)}{_below_minimum(reason)}",
    ReasonCode.FEW_EXPECTED: _few_expected,
    ReasonCode.FEW_CLUSTERS: lambda reason: (
        f"{numbered(reason['clusters'], 'effective clusters')}{_below_minimum(reason)}"
    ),
    ReasonCode.FEW_EFFECTIVE_ROWS: lambda reason: (
        f"the weights leave {_rows_below(reason['rows'], reason['minimum'], 'effective ')}"
        f"{_below_minimum(reason)}"
    ),
    ReasonCode.FEW_EFFECTIVE_PEOPLE: lambda reason: (
        f"as precise as {_below(reason['people'], reason['minimum'])} people of known group"
        f"{_below_minimum(reason)}"
    ),
    ReasonCode.FEW_KNOWN_PEOPLE: lambda reason: (
        f"{numbered(reason['people'], 'people')} of known group{_below_minimum(reason)}"
    ),
    ReasonCode.NOT_IDENTIFIED: lambda reason: (
        f"the probabilities do not distinguish {listing(reason['groups'])}: they are in a fixed "
        "proportion in all rows"
    ),
    ReasonCode.SMALL_GROUP: _small_group,
    ReasonCode.MISSING_GROUPS: lambda reason: _could_change(reason, "group"),
    ReasonCode.MISSING_OUTCOMES: lambda reason: _could_change(reason, "label or score"),
    ReasonCode.NOT_COUNTED: lambda reason: _could_change(reason, reason["what"]),
    ReasonCode.FAVOURABLE_UNSTATED: lambda _: (
        "whether the positive outcome is good for people is not stated: favourable = positive or "
        "negative (--favourable)"
    ),
    ReasonCode.UNCLEAR_VALUES: lambda reason: (
        f"{numbered(reason['rows'], reason.get('unit') or 'rows')} have no {reason['what']}"
    ),
    ReasonCode.REFERENCE_NOT_SHOWN: lambda reason: (
        f"the ratio to {called(reason['chosen'])} {_COMES_TO[reason['to_chosen']]}, that to "
        f"{called(reason['other'])} {_COMES_TO[reason['to_other']]}; the printed ratios do not "
        "show which of the two is their reference"
    ),
    ReasonCode.NO_ESTIMATE: _no_estimate,
    ReasonCode.IS_REFERENCE: lambda reason: (
        f"it is the reference in the {reason['report']} report"
        if reason.get("report")
        else f"the group '{reason['name']}' is the reference"
    ),
    ReasonCode.OLD_OR_NEW_UNDEFINED: lambda reason: (
        f"there is no value {reason['when']} the change"
        if reason.get("when")
        else f"the {reason['report']} report has no value"
        f"{f': {_every(reason)}' if reason.get('reasons') else ''}"
    ),
    ReasonCode.SAME_ROWS: lambda reason: (
        f"{_SAME_ROWS[reason['evidence']]}, and reports do not hold how their estimates depend on "
        "each other, so that a change is tested only where no dependence would explain it; compare "
        "both models on the rows to test every change (fairgauge compare-models DATA --prediction "
        "OLD --candidate NEW)"
    ),
}
