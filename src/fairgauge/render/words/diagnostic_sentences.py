"""Sentences about diagnostics: what a reader should know of an audit."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from itertools import combinations

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.levels import cut_options
from fairgauge.enums import DiagnosticCode, Person
from fairgauge.errors import alternatives, listing, quote
from fairgauge.question.options import flag_of
from fairgauge.question.recoding import recoding_flag
from fairgauge.reasons import FEWEST_EXPECTED
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import all_called, called, shares_of
from fairgauge.render.words.metric_words import metric_words, shown_range, unit, with_unit
from fairgauge.render.words.numbers import amount, numbered, percent, plural
from fairgauge.render.words.question_sentences import COUNTED
from fairgauge.render.words.reason_sentences import only_value
from fairgauge.render.words.verdict_sentences import rounded_up
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import is_number, reading, spelling

_TASKS = {
    "binary": "binary, positive or negative",
    "multiclass": "names of classes, none of them better than another",
    "regression": "numbers (a regression)",
}
_MOST_NAMED = 3
_ALONE = "in case, blanks or encoding alone"
_FORM = "only in how a number or a truth value is written"
"""How names of one value differ."""
_OPTION = re.compile(r"(?<![\w-])--[a-z]")
_PREAPPROVAL = "a request for preapproval"
_HMDA_CODES = {
    "1": "a loan that was made", "2": "an approval that the applicant did not accept",
    "3": "a denial", "4": "withdrawn", "5": "incomplete", "6": "purchased",
    "7": _PREAPPROVAL, "8": _PREAPPROVAL,
}  # fmt: skip


def describe_diagnostic(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as a sentence without a capital and a full stop.

    Of a command without the options of an audit (``options`` is false), what is advised by options
    is replaced by the advice of an audit.
    """
    text = _DESCRIBED[diagnostic.code](diagnostic)
    if diagnostic.get("accepted"):
        return f"{text}. Accepted (accept)"
    advice = _OPTION.search(text) if diagnostic.get("options") is False else None
    if advice is None:
        return text
    start = max(text.rfind(end, 0, advice.start()) for end in ("; ", ". "))
    return f"{text[:start]}; correct the table, or use fairgauge audit, which has options for this"


def remaining_sentence(d: Diagnostic) -> str:
    """Return in one line how many fails remain when all comparisons are judged together."""
    fails, remaining = d["fails"], d["remaining"]
    if not fails or d["familywise"]:
        return ""
    judged = {2: "both"}.get(d["comparisons"], f"all {d['comparisons']:,}")
    when = f"when {judged} comparisons are judged together (Holm)."
    if remaining == fails == 1:
        return f"The fail remains {when}"
    if remaining == fails:
        every = {2: "Both"}.get(fails, f"All {fails:,}")
        return f"{every} fails remain {when}"
    which = f"{remaining:,} of {fails:,} fails {plural(remaining, 'remains', 'remain')}"
    if not remaining:
        which = f"None of {fails:,} fails remains" if fails > 1 else "The fail does not remain"
    text = f"{which} {when}"
    by_groups = left_open_by_groups(d.get("open_by_groups") or 0)
    return f"{text.removesuffix('.')}; {by_groups}." if by_groups else text


_ABOVE_0 = {"low": 0, "high": "Infinity", "closed": "neither"}
"""A condition on a number, as a specification file has it."""


def left_open_by_groups(fails: int) -> str:
    """Return how many fails do not remain because of rows without a group; nothing of none."""
    return f"rows without a group alone leave {fails:,} open" if fails else ""


def _task(d: Diagnostic) -> str:
    roles = d.get("roles") or ("label", "prediction")
    are = plural(len(roles), "is", "are")
    task = _TASKS[d["task"]]
    return f"{numbers.listing(roles)} {are} treated as {task}; set task to change this"


def _excluded(d: Diagnostic) -> str:
    text = f"{_numbered(d, d['rows'])} {plural(d['rows'], 'has', 'have')} a {d['reason']}"
    if d["reason"] == "missing cluster":
        text += "; values include them, confidence intervals do not"
    return text


def _repeated_id(d: Diagnostic) -> str:
    column = quote(d.feature)
    cluster, people = f"cluster={column} (--cluster)", f"count people: person={column} (--person)"
    instead = {  # what each of the others can do
        "thresholds": f"audit the chosen threshold with {cluster}",
        "find": f"{people}, of features that have one value for each person",
        "why": f"set {cluster}",
        "explore": people,
        "score": f"set {cluster}",
    }.get(d.get("verb") or "", f"set {cluster}, or {people}")
    repeated = ": "
    if d.get("alike"):
        repeated = (
            ", and rows with the same value are alike in all columns that are counted: remove "
            "those that stand twice by mistake; otherwise "
        )
    return (
        f"column {column} has {d['distinct']:,} distinct values in the first "
        f"{d['rows']:,} rows{repeated}rows of one person or session are clustered observations, "
        f"and confidence intervals that ignore it are too narrow; {instead}"
    )


def _part(number: int, total: int, of: str) -> str:
    """Return a share with its numbers: "12.0% of the rows (120 of 1,000)"."""
    return f"{number / total:.1%} of the {of} ({number:,} of {total:,})"


def _missing_groups(d: Diagnostic) -> str:
    noun, number, total = _unit(d), d["rows"], d["total"]
    if d.get("cases") is not None:
        noun, number, total = "cases", d["cases"], d["total_cases"]
    if d.get("known") is not None:
        noun += f" with a known {d['known']}"
    rules = " and are in no group of it"
    if d.get("ruled") is not False:  # a report saved before this was stated
        by_significance = ' (decide = "significant": with every value that they could give it)'
        rules = (
            "; a rule on rates, or on a difference, a ratio or an extreme of them, passes or fails "
            "only if it does with its interval moved as far as they could move the value"
            f"{by_significance * bool(d.get('significant'))}, and no other rule passes beside a "
            "group of which they are 1% or more"
        )
    if d.get("by_value"):
        rules = rules * bool(d["ruled"]) + '; decide = "point" decides without them'
    lack = f"have no known {d.feature}"
    if columns := d.get("columns"):  # of an intersection
        lack = f"lack at least one of {numbers.listing(columns)}"
    return f"{_part(number, total, noun)} {lack}{rules}"


def _by_outcome(d: Diagnostic, of: str = "") -> str:
    """Return of how many of 100 with each outcome, or of each group, something is missing."""
    ends = [f"{of}most", f"{of}least"]
    most, least = (f"{round(100 * d[f'{end}_share'], 1):g} of 100" for end in ends)
    p = d.get(f"{of}p")
    test = f" (chi-square test of equal shares: {numbers.probability(p)})"
    return (
        f"{most} {_unit(d)} with {called(d[f'{of}outcome'])} = {called(d[ends[0]])}, and {least} "
        f"with {called(d[ends[1]])}{test * (p is not None)}"
    )


_LEFT_WITHIN = {2: (33, 36), 3: (17, 21), 4: (11, 14)}
"""In per cent, of a rate (logistic, slope 1) and of a mean (Cochran 1968), by intervals."""


def _missing_strata(d: Diagnostic) -> str:
    noun = _unit(d)
    of = [each for each in ("", "group_") if d.get(f"{each}outcome") is not None]
    shares = ["; in ".join(_by_outcome(d, each) for each in of)] if of else []
    if d.get("rows") is not None:  # else of a report saved before these were counted
        shares.insert(0, _part(d["rows"], d["total"], noun))
    return (
        f"{quote(d['column'])} is missing in {': in '.join(shares)}; within its strata, or "
        f"adjusted for it, such {noun} are excluded, which can make or hide a difference by "
        "itself; complete the column"
    )


def _missing_outcomes(d: Diagnostic) -> str:
    ends = [f"{d[f'{end}_share']:.1%} of {d[end]}" for end in ("most", "least")]
    between = f"{ends[0]}, {ends[1]}"
    if d["groups"] > len(ends):
        alike = d["most_share"] == d["least_share"]
        between = f"{d['most_share']:.1%} of each" if alike else f"from {' to '.join(ends)}"
    large = ", of the groups that are large enough" * bool(d.get("of_groups"))
    shares = ""
    if d["groups"] > 1:
        p = numbers.probability(d["p"])
        shares = f" ({between}{large}; chi-square test of equal shares: {p})"
    rules = (
        "; a rule on such a rate, or on a difference or ratio of two, passes only if it would "
        "whatever is missing" * bool(d["ruled"])
    )
    of = "all rates, the selection rate too," if d.get("complete") else "rates that need it"
    return (
        f"{_part(d['rows'], d['total'], f'{_unit(d)} in its groups')} have no {d['what']}"
        f"{shares}; {of} are of the others{rules}"
    )


def _uncounted_rows(d: Diagnostic) -> str:
    """State how many rows are in no number; a condition may be on the value that they lack."""
    rules = f"; no rule passes without them, and a fail is of the other {_unit(d)} alone"
    rules *= d["ruled"]
    share = _part(d["rows"], d["total"], _unit(d))
    if d["what"] == "weight above 0":
        return (
            f"{share} have a weight of 0, more often in one group than in another, and are in no "
            f"number{rules}; if they are not to count, state it: "
            f"{flag_of('where', {d['column']: _ABOVE_0})} (where)"
        )
    if d.get("counted"):  # other warnings name the values
        return f"{share} have no {d['what']}, and their values count as they are"
    return (
        f"{share} have no {d['what']} and are in no number, so that any number could be another "
        f"with them{rules}"
    )


def _coded_numbers(d: Diagnostic) -> str:
    return (
        f"the score {quote(d['column'])} has {d['value']}, as codes of missing values are; if it "
        f"means that the score is not known, list it as unknown: {recoding_flag(d['line'])}"
    )


def _not_crossed(d: Diagnostic) -> str:
    estimated = d["estimated"]
    recorded = [each for each in d["features"] if each not in estimated]
    alone = [flag_of("where", {each: "VALUE"}) for each in recorded[:1]]
    text = (
        f"preset {d['preset']} sets a table of {numbers.listing(d['features'])} together, and it "
        f"is not made: {numbers.listing(estimated)} {plural(len(estimated), 'is', 'are')} not "
        "recorded, and the joint probabilities with other columns are not given"
    )
    if alone:
        text += f". In its place audit the rows of one group at a time: {alone[0]} (where)"
    return text


def _no_pairs_crossed(d: Diagnostic) -> str:
    pairs = list(combinations(d["features"], 2))
    both = flag_of("intersections", [pairs[0], d["features"]])
    return (
        f"preset {d['preset']} makes one table of {numbers.listing(d['features'])} together, and "
        f"none of two of them ({numbers.listing(['*'.join(pair) for pair in pairs], 'or')}); "
        f"name every intersection that is to be published, for example {both}"
    )


def _unlike_amounts(d: Diagnostic) -> str:
    times = f"the average of {quote(d['column'])} is {d['times']:,.0f} times"
    if other := d.get("other"):
        as_high = f"{times} that of {quote(other)}"
    else:
        as_high = f"{times} as high for {called(d['most'])} as for {called(d['least'])}"
    return (
        f"{as_high}; check that the numbers of both are in one unit (such as per cent or shares, a "
        "year or a month)"
    )


def _adjusted(d: Diagnostic) -> str:
    tests = d.get("homogeneity") or 0
    among = f", {tests:,} of homogeneity and {tests:,} of all pairs of groups among them"
    return (
        f"what is marked as statistically significant is adjusted for {d['comparisons']:,} tests, "
        f"all that the data can decide{among * bool(tests)} (Šidák): together they mark a "
        "difference where there is none with a probability of at most one minus the confidence "
        "level. Difference and ratio of a rate are one test; so are all groups whose intervals "
        "hold for all pairs (Tukey)"
    )


def _offsetting_parts(d: Diagnostic) -> str:
    """Return the differences that offset each other, and the metric in which they do not."""
    parts = zip(d["rates"], d["differences"], strict=True)
    named = numbers.listing([f"{rate} {numbers.points(by)} pp" for rate, by in parts])
    where = "" if d.get("threshold") is None else f" at threshold {d['threshold']:g}"
    where += "" if d.get("class") is None else f" of {called(d['class'])}"
    of_odds = d["metric"] != "average_predictive_value"
    instead = "average_absolute_odds, which does not offset them" if of_odds else "each of them"
    return (
        f"{called(d['group'])}{where}: {named} offset each other in "
        f"{d['metric'].replace('_', ' ')}; ask for {instead} (--metrics)"
    )


def _homogeneity(d: Diagnostic) -> str:
    title = _rate(d).title
    significant = (
        "differs statistically significantly"
        if d["significant"]
        else ("does not differ statistically significantly")
    )
    hidden = d["significant"] and d.get("between_sd") == 0  # few rows alone make the range as wide
    size = "" if hidden else f": {_size(d)}"
    p = numbers.probability(d.get("p_adjusted") or d["p"], "adjusted p")
    which = ". It does not show which groups differ" if d["significant"] else ""
    if d["significant"] and d.get("significant_without") is False:
        which += (
            f". Without {all_called(d['sparse'], most=_MOST_NAMED)}, with fewer than "
            f"{FEWEST_EXPECTED} expected of the rarer outcome, it would not be statistically "
            "significant"
        )
    return (
        f"{title} {significant} between the {d['groups']} groups with sufficient "
        f"data {'for' if d.get('sparse') else 'in'} one test of all of them (chi-square test of "
        f"homogeneity, {p}){size}{which}"
    )


def _size(d: Diagnostic) -> str:
    between = d.get("between_sd")
    text = f"the range over these groups is {100 * d['range']:.1f} pp"
    if between is None:
        return text
    return f"{text}; the estimated standard deviation between groups is {100 * between:.1f} pp"


def _pairs(d: Diagnostic) -> str:
    if not d["listed"]:
        return (
            f"the {d['pairs']:,} pairs of {d['groups']:,} groups are not listed; the largest gap "
            "between any two is a metric of its own (selection_rate.largest_gap)"
        )
    return (
        f"of the {d['pairs']:,} pairs of {d['groups']:,} groups, the {d['listed']:,} that differ "
        "most in each rate are listed; their confidence intervals and p-values account for all "
        "pairs"
    )


def _alone(d: Diagnostic) -> str:
    sides = (d["group"], d["alone_group"]), (d["reference"], d["alone_reference"])
    return shares_of([(side, share) for side, share in sides if share > 0])


def _strata_insufficient(d: Diagnostic) -> str:
    return (
        f"{called(d['group'])}, compared with {called(d['reference'])}: strata of "
        f"{all_called(d['columns'])} have insufficient data of one side, so that it is not decided "
        "what remains of the difference within them"
    )


def _composition(d: Diagnostic) -> str:
    metric = d.definition
    assert isinstance(metric, Contrast)
    kind, strata = unit(metric), all_called(d["columns"])

    def size(name: str, beside: str = "") -> str:
        ends = shown_range(d[f"{name}_low"], d[f"{name}_high"], kind, sign=True)
        level = f"{100 * d['confidence']:.4g}% CI"
        return f"{with_unit(d[name], kind, sign=True)}{beside} ({level} {ends})"

    # the gap of a table is then another one
    known = f" among those with a known {strata} (n = {d['known']:,.0f})" if d.get("known") else ""
    text = (
        f"{called(d['group'])}: of the {metric_words(metric)} of "
        f"{with_unit(d['gap'], kind, sign=True)}{known}, {size('composition')} is composition of "
        f"{strata}, which does not show whether {strata} should count"
    )
    if d.get("alone") is not None:
        text += (
            f". Of that difference, {size('within')} is within {strata}, and {size('alone')} of "
            f"strata of one side alone, with {_alone(d)}, which are not compared"
        )
    if d["p"] is not None and d["p"] < 1 - d["confidence"]:
        p = numbers.probability(d["p"])
        text += f". Within {strata} the difference varies statistically significantly ({p})"
    elif d["p"] is not None:
        p = numbers.probability(d["p"])
        text += (
            f". Over all values of {strata} together, variation of the difference is not "
            f"statistically significant ({p})"
        )
    if d["outlying"]:
        named = (
            f"{called(name)} ({with_unit(size, kind, sign=True)})"
            for name, size in zip(d["outlying"], d["outlying_differences"], strict=True)
        )
        alone = "" if d["p"] is not None and d["p"] < 1 - d["confidence"] else " by itself"
        text += f"; unlike the others{alone}: {numbers.listing(list(named))}"
    return text


def within_strata(d: Diagnostic) -> str:
    """Return in which strata a rate is lower or higher, or that its difference varies over them."""
    strata, ends = called(d["strata"]), []
    for way in ("lower", "higher"):
        if d[way]:
            names = numbers.listing([called(each) for each in d[way]], most=_MOST_NAMED)
            ends.append(f"{way} in {strata} {names}")
    p = "" if d["p"] is None else numbers.probability(d["p"], "adjusted p")
    varies = p and f"the difference varies over {strata} statistically significantly ({p})"
    together = "statistically significant, all strata of all comparisons tested together"
    differs = f"it is {' and '.join(ends)} ({together})" if ends else ""
    text = "; ".join(filter(None, [differs, varies]))
    if d["others"]:
        more = numbered(d["others"], "more comparisons")
        noun = plural(d["others"], "differs or varies", "differ or vary")
        text += f"; {more} by {called(d.feature or '')} {noun} within {strata}"
    return text


def _within_strata(d: Diagnostic) -> str:
    metric = d.definition
    assert isinstance(metric, Contrast)
    of_class = "" if d["class"] is None else f" of class {called(d['class'])}"
    at = "" if d["threshold"] is None else f" at threshold {d['threshold']:g}"
    return (
        f"{called(d['group'])}: no difference in {metric.of.title}{of_class}{at} over all rows is "
        f"shown, but {within_strata(d)}"
    )


def _before_and_after(d: Diagnostic) -> str:
    return f"{d['metric']} {amount(d['overall'])} overall, {amount(d['adjusted'])} adjusted"


def _adjusted_p(d: Diagnostic) -> str:
    p = numbers.probability(d.get("p"), "adjusted p")
    return f", {p}" if p else ""


def _assumed_positive(d: Diagnostic) -> str:
    column, value = d["column"], d["value"]
    against = f", against {listing(d['others'])}" if d["others"] else ""
    return (
        f"the favourable outcome is assumed, not stated: {quote(column)} = {value}{against}. If "
        f"{value} is the unfavourable outcome of {quote(column)}, every disparity that depends on "
        "it is read the wrong way round; state it: positive=VALUE (--positive VALUE)"
    )


def _unfavourable_positive(d: Diagnostic) -> str:
    column, values = quote(d["column"]), alternatives(d["values"])
    if d.get("negative"):
        return (
            f"what is stated as unfavourable, {column} = {values}, has the name or code of the "
            "favourable outcome: who is worse off is then read the wrong way round. Remove "
            "favourable = negative (--favourable negative), or state the other value as positive"
        )
    looks = f"{values} in {column} looks like the unfavourable outcome"
    if not d.get("preset"):
        return (
            f"{looks}; if it is, state favourable = negative (--favourable negative); if not, "
            "favourable = positive (--favourable positive)"
        )
    other = "; if it is, state the score of the opposite"
    if d["others"]:
        other = f"; if it is, state {alternatives(d['others'])} as positive (--positive)"
    return f"{looks}, and the preset calls it {quote(d['preset'])}{other}"


def _prediction_not_a_label(d: Diagnostic) -> str:
    rows = d["rows"]
    noun = plural(len(d["values"]), "a value", "values")
    of = "model in use" if d.get("in_use") else "label"
    counts = "are never right" if d.get("classes") else "count as not positive"
    return (
        f"{_numbered(d, rows)} {plural(rows, 'has', 'have')} {noun} in {quote(d['column'])} that "
        f"the {of} {quote(d['label'])} never has ({listing(d['values'])}); they {counts}. "
        "If they mean that there is no prediction, leave them empty"
    )


def _undecided_outcomes(d: Diagnostic) -> str:
    suggests = "which their names or codes suggest were not decided or are not known"
    if d.get("actions"):
        suggests = f"which in HMDA data are no decisions ({_codes_of_hmda(d)})"
    line = d.get("line")
    alone = recoding_flag(line) if line else f'--where {shlex.quote(d["condition"])} (where="...")'
    return (
        f"{_have_outcome(d)}, {suggests}; they count as not positive. To count decided rows "
        f"alone: {alone}"
    )


def _codes_of_hmda(d: Diagnostic) -> str:
    meant = dict.fromkeys(_HMDA_CODES[code] for code in d["actions"])
    return numbers.listing(list(meant), "or")


def _values_with_rows(d: Diagnostic) -> list[str]:
    counts = d["rows"] or ["some"] * len(d["values"])
    return [
        f"{called(value)} in {some if isinstance(some, str) else f'{some:,}'} {_unit(d)}"
        for value, some in zip(d["values"], counts, strict=True)
    ]


def _not_favourable(d: Diagnostic) -> str:
    held = numbers.listing(_values_with_rows(d))
    return f"{quote(d['column'])} is {held}, which count as not positive"


def _one_decision(d: Diagnostic) -> str:
    if d.get("constant") is not None:
        return f"every score is {d['constant']:g}: one threshold accepts all or none of them"
    if d.get("column") is None:
        return (
            f"{d['share']:.1%} of the rows with a label have the positive decision at "
            f"{d['threshold']:g}"
        )
    at, check = "", "the column"
    if d.get("threshold") is not None:
        at, check = f" at {d['threshold']:g}", "the threshold and the scale of the score"
    every = only_value(d)
    return (
        f"every prediction by {quote(d['column'])} is {every}{at}: groups cannot differ in it; "
        f"check {check}"
    )


def _one_label(d: Diagnostic) -> str:
    every = only_value(d)
    if d.get("numbers"):
        return (
            f"every label of {quote(d['column'])} is {every}: groups cannot differ in it; check "
            "the column, and how it was joined"
        )
    return (
        f"every label of {quote(d['column'])} is {every}: groups cannot differ in it, no rate "
        "among rows with another label has a value, and accuracy is only the share of predictions "
        f"that are {every} too; check the column, and how it was joined"
    )


def _have_outcome(d: Diagnostic) -> str:
    rows = d["rows"]
    have = "some rows have"  # of people, whose rows are not counted by decision
    if rows is not None:
        have = f"{_numbered(d, rows)} {plural(rows, 'has', 'have')}"
    values = [value if value == value.strip() != "" else quote(value) for value in d["values"]]
    return f"{have} {quote(d['column'])} = {alternatives(values)}"


def _prediction_is_label(d: Diagnostic) -> str:
    if d.get("score"):
        return _score_is_label(d)
    if d["column"] == d["label"]:
        return f"label and prediction are the same column, {quote(d['column'])}: every error is 0"
    return (
        f"the prediction {quote(d['column'])} equals the label {quote(d['label'])} in all "
        f"{_numbered(d, d['rows'])}; check that it is the model's decision, not a copy of the "
        "outcome"
    )


def _score_is_label(d: Diagnostic) -> str:
    score, label = quote(d["column"]), quote(d["label"])
    if d["column"] == d["label"]:
        return f"label and score are the same column, {score}: check which column is the score"
    has = f"the score {score} has one value where the label {label} is positive, another elsewhere,"
    if d.get("decisions"):
        has = f"the decisions by the score {score} equal the label {label}"
    return (
        f"{has} in all {_numbered(d, d['rows'])}; check that it is the model's score, not a copy "
        "of the outcome"
    )


def _sensitive_is_outcome(d: Diagnostic) -> str:
    if d.get("outcome") is not None:
        return (
            f"the sensitive feature {quote(d['column'])} equals the {d['role']} "
            f"{quote(d['outcome'])} in all {_numbered(d, d['rows'])}: its groups are defined by "
            "what they are compared by; check that it is not a copy, or choose another feature"
        )
    return (
        f"the sensitive feature {quote(d['column'])} is also the {d['role']}: its groups are "
        "defined by what they are compared by; choose another feature"
    )


def _numeric_groups(d: Diagnostic) -> str:
    groups = f"{d['groups']:,} groups"
    few = f"{d['small']:,} of the {groups} have fewer than {d['minimum']} {_unit(d)}"
    return (
        f"each number is a group of its own, and {few if d['small'] else f'these are {groups}'}; "
        "cut the numbers into "
        f"intervals, such as {cut_options(str(d.feature), d['cuts'])}, or choose another feature"
    )


def _many_strata(d: Diagnostic) -> str:
    flag = "--control" if d.get("controls") else "--strata"
    cut = [
        cut_options(str(column), str(cuts).split(","), flag)
        for column, cuts in zip(d["columns"], d["cuts"], strict=True)
    ]
    remedies = [f"put {'codes' if cut else 'values'} together (recode, --recode)"]
    if columns := d.get("coarser"):
        remedies.append(f"cut {listing(columns)} into fewer intervals")
    remedies.append(
        f"cut numbers that are no codes into intervals, such as {' and '.join(cut)}"
        if cut
        else "name fewer columns"
    )
    share = f"{d['share']:.0%}"
    few = (
        f"{share} of the {_unit(d)} compared are in strata of fewer than {d['minimum']} "
        f"{_unit(d)}; "
    )
    return (
        f"{few if share != '0%' else ''}there are {d['strata']:,} strata, and one that lacks a "
        "side of a comparison counts for nothing in what is adjusted for them; "
        f"{', or '.join(remedies)}"
    )


_JOINED = "if its rows were joined or coded in another way than those of others, correct them"


def _in_group(d: Diagnostic) -> str:
    return f"in {called(d['group'])} " if d.get("group") else ""


def _missing_marker(d: Diagnostic) -> str:
    value = d["value"]
    kind, written = ("text", repr(value)) if isinstance(value, str) else ("number", str(value))
    counted = _numbered(d, d["rows"])
    if d.get("condition"):
        return (
            f"{counted} with {quote(value)} in {quote(d.feature or '')} are not among those with "
            f"{d['condition']}, though such values often stand for one that is not known; if they "
            "do, recode them as unknown (recode, --recode)"
        )
    stands = f"is a group of {d.feature} with {counted}; if"
    if d.get("excluded"):
        stands = f"is excluded from {d.feature} with {counted}, whatever groups they are of; if"
    return (
        f"the {kind} {written} {stands} it means that the value is missing, state it: "
        f"unknown={written} ({flag_of('unknown', value)})"
    )


def _placeholder(d: Diagnostic) -> str:
    rows, role = numbered(d["rows"]), d["role"]
    value = d.get("value")
    found = f"the identifier {quote(value or '')} in {quote(d['column'])} has {rows}"
    if value is None:
        found = (
            f"one identifier in {quote(d['column'])} has {rows}, more than ten times as many as "
            "any other"
        )
    return (
        f"{found}, which count as one {role}; if it means that the identifier is missing, recode "
        f"it: {_recoded_either_way(d['line'])}; if it is that of one {role}, recode it to itself, "
        "which states so"
    )


def _recoded_either_way(line: str) -> str:
    """Return a recoding as a flag, and as a line of a file, where an apostrophe is not escaped."""
    own = line if "'" in line else "this"
    return f"{recoding_flag(line)}, or {own}, on one line, below [recode] in a specification file"


def _people(d: Diagnostic) -> str:
    counted = COUNTED[Person(d["counted"])]
    if d.get("people") is None:
        return counted
    if unnamed := d.get("unnamed"):
        counts = plural(unnamed, "counts as a person", "count as a person each")
        counted += f"; {numbered(unnamed)} without an identifier {counts}"
    of = f"{numbered(d['rows'])} of {numbered(d['people'], 'people')}"
    return f"{of} in {quote(d['column'])}: {counted}"


def _excluded_group(d: Diagnostic) -> str:
    share, weighted = d.get("below"), "weighted " * bool(d.get("weighted"))
    why = "state why" if share is None else f"it is below the minimum of {100 * share:.4g}%"
    selected = "" if weighted else f", {numbers.count(d.get('selected'))} of them selected"
    at = "" if d.get("threshold") is None else f" at threshold {d['threshold']:g}"
    rate = f"{selected}, {weighted}selection rate {percent(d.get('value'))}{at}"
    if d.get("value") is None:
        rate = "; a rate of so few can show what was decided about single people, and is not stated"
    known = f"{_numbered(d, d['rows'])} with a known decision or score"
    return f"the group {called(d['group'])} is excluded ({why}): {known}{rate}"


def _few_published(d: Diagnostic) -> str:
    places: dict[str, list[str]] = {}
    strata = d.get("strata")
    inside_of = strata or [""] * len(d["groups"])
    for group, feature, stratum in zip(d["groups"], d["features"], inside_of, strict=True):
        inside = f" in {called(stratum)}" if stratum else ""
        places.setdefault(feature, []).append(f"{called(group)}{inside}")
    named = "; ".join(
        f"{called(feature)}: {numbers.listing(groups, most=3)}"
        for feature, groups in places.items()
    )
    shown = "averages can show what single people are paid"
    if strata is None:
        shown = "rates can show what was decided about single people"
    return (
        f"the tables to publish have groups of fewer than {d['fewer']} {_unit(d)} ({named}): their "
        f"{shown}; look at them before you publish"
    )


def _numbered(d: Diagnostic, number: int) -> str:
    """Return a number of what was counted: rows, or people."""
    return numbered(number, _unit(d))


def _unit(d: Diagnostic) -> str:
    return str(d.get("unit") or "rows")


def _one(d: Diagnostic) -> str:
    return numbered(1, _unit(d)).removeprefix("1 ")


def _clusters_span_groups(d: Diagnostic) -> str:
    of = f"{d['clusters']:,} of {d['total']:,}"
    if d.get("people"):
        return (
            f"{of} people ({d['column']}) have rows with different values of "
            f"{called(d.feature or '')}: each row counts in the group that it states; if some of "
            "the values are names of one category, recode them (recode, --recode)"
        )
    return (
        f"{of} clusters ({d['column']}) have rows in several groups; confidence intervals of "
        "differences and ratios account for it"
    )


def _people_unclear(d: Diagnostic) -> str:
    who = f"{numbered(d['people'], 'people')} {plural(d['people'], 'has', 'have')}"
    if d.get("order") == d["column"]:
        return (
            f"{who} several decisions, of which at least one has no {called(d['order'])}: which is "
            "the last is unknown, and so is what was decided of them"
        )
    if d.get("order"):
        return (
            f"{who} several rows with the last {called(d['order'])} (or without one), "
            f"which differ in {called(d['column'])}: it is unknown of them"
        )
    return (
        f"{who} rows with different values of {d['column']}, which is "
        "therefore unknown of them; if some of the values are names of one category, recode "
        "them (recode, --recode)"
    )


def _labels_later(d: Diagnostic) -> str:
    near = "" if d.get("nearest") is None else f" (the nearest column is {quote(d['nearest'])})"
    text = f"no row has its label yet, {quote(d['column'])}{near}, which the monitor expects later"
    if not d["rules"]:
        return f"{text}: what needs it is not computed"
    verb = plural(len(d["rules"]), "waits for it and is", "wait for it and are")
    return f"{text}: {numbers.listing(d['rules'])} {verb} not evaluated"


def _not_recoded(d: Diagnostic) -> str:
    sizes = [f" ({_numbered(d, rows)})" for rows in d["rows"]] or [""] * len(d["values"])
    values = [f"{quote(value)}{size}" for value, size in zip(d["values"], sizes, strict=True)]
    are = plural(len(values), "is in no category: it is", "are in no category: they are")
    text = f"{numbers.listing(values)} {are} counted without being recoded"
    if not d.get("alike"):
        return text
    form = f", or {_FORM}," if any(map(is_number, map(reading, d["values"]))) else ""
    return f"{text}, though a value that differs {_ALONE}{form} is recoded (recode)"


def _stratum_is_outcome(d: Diagnostic) -> str:
    within, among = "within its strata", "strata"
    if d.get("control"):
        within, among = "adjusted for it", "controls"
    outcome = "" if d.get("outcome") is None else f"of {quote(d['outcome'])} "
    return (
        f"at least {math.floor(1000 * d['share']) / 10:g}% of the rows with each outcome have the "
        f"outcome that most rows with their {quote(d['column'])} have: {within} little {outcome}is "
        "left to compare, and mistakes in a copy of it can reverse a difference; if it is the "
        f"label or the decision by another name, or made from it, remove it from the {among}"
    )


def _stratum_is_group(d: Diagnostic) -> str:
    if d.get("column") is None:
        return (
            "no stratum has rows of a group and of what it is compared with, so that no difference "
            "can be adjusted for the strata; if they are the groups by another name, or parts of "
            "them, name another column as strata (strata, --strata)"
        )
    return (
        f"no value of the control {quote(d['column'])} has rows of two groups, so that a "
        "difference adjusted for it compares nobody; if it is the groups by another name, or "
        "parts of them, remove it from the controls"
    )


def _same_names(d: Diagnostic) -> str:
    values, columns = d["values"], d["columns"]
    one_column = len(set(columns)) == 1
    counts = [f" ({_numbered(d, rows)})" for rows in d["rows"]] or [""] * len(values)
    names = [
        f"{quote(value)}{count}" if one_column else f"{quote(value)} of {column}{count}"
        for value, column, count in zip(values, columns, counts, strict=True)
    ]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if d.get("more"):
        listed += f", and {numbered(d['more'], 'more sets')} of values,"
    of = f" of {columns[0]}" if one_column else ""
    spelt = set(map(spelling, values))
    alone = _ALONE if len(spelt) == 1 else _FORM
    if len(spelt) > len({each.rstrip(".") for each in spelt}) == 1:
        alone = "in a full stop at the end"
    differ = f"differ {alone}"
    line = f": {recoding_flag(d['line'])}" if d.get("line") else " (recode, --recode)"
    if d.feature is not None:
        return (
            f"the groups {listed}{of} {differ}; if they are one group, write them alike, or "
            f"recode them{line}; if each is a group of its own, recode each to itself"
        )
    if d.get("classes") or d.get("strata"):
        kind = "classes" if d.get("classes") else "strata"
        return (
            f"the values {listed}{of} {differ}, and count as different {kind}; if they are one, "
            f"write them alike, or recode them{line}; if each is its own, recode each to itself"
        )
    return (
        f"the values {listed}{of} {differ}, and count as different outcomes; write them alike, "
        f"recode them{line}, or state all of them that are positive (--positive)"
    )


def _unmatched(d: Diagnostic) -> str:
    if d.get("reference"):
        name = quote(d["name"])
        return f"{d['path']}: {name} is the reference, which is compared with nothing"
    near = d.get("nearest")
    held = f"; there are {d['held']}" if d.get("held") else ""
    hint = f"; the nearest name is {quote(near)}" if near else held
    what = "row has" if d["path"].startswith("recode.") else "group is"
    return f"{d['path']}: no {what} {quote(d['name'])} here{hint}"


def _fails_together(d: Diagnostic) -> str:
    limit = f"{50 * (1 - d['confidence']):.2g}%"
    which = "fail only if they do" if d["familywise"] else "each state whether they would fail"
    return (
        f"{d['comparisons']:,} comparisons are decided, and {which} when all are judged together "
        f"(Holm): by that standard at most {limit} of audits whose groups all meet their limits "
        "fail any"
    )


def _reference_decides(d: Diagnostic) -> str:
    if d.get("others"):
        return (
            f"the rule {d['rule']} passes for {quote(d['group'])}, compared with all others; "
            f"these, compared with {quote(d['group'])}, would fail: to "
            "judge them too, name their values as a further set "
            f"(--sensitive {d.feature}=V1,V2)"
        )
    passing = numbers.listing([*map(quote, d["references"])])
    others = alternatives(map(quote, d["references"]))
    return (
        f"the rule {d['rule']} passes for {passing}, compared with {quote(d['group'])}; "
        f"compared with {others} instead, {quote(d['group'])} would fail"
    )


def _rate(d: Diagnostic) -> Statistic:
    assert isinstance(d.definition, Statistic)
    return d.definition


def _reference_tied(d: Diagnostic) -> str:
    groups = numbers.listing([quote(each) for each in (d["chosen"], *d["others"])])
    if d.definition is None:
        return (
            f"{groups} are the largest groups, with {numbered(d['value'])} each; all groups are "
            f"compared with {quote(d['chosen'])}, the first by name"
        )
    rate = _rate(d)
    highest = "lowest" if d["least"] else "highest"
    value = percent(d["value"]) if rate.is_share else amount(d["value"])
    why = "which has the most rows" if d["by_rows"] else "the first by name of equally many rows"
    return (
        f"{groups} have the same {highest} {rate.title}, {value}; groups are compared with "
        f"{quote(d['chosen'])}, {why}"
    )


def _group_not_recorded(d: Diagnostic) -> str:
    if d["random"] and d["known"] == d["people"]:
        return f"its groups are those of the answers of all {d['people']:,} people"
    recorded = "were not recorded: they"
    if d["known"]:
        of = f"{d['known']:,} of {numbered(d['people'], 'people')}"
        recorded = f"are known for {of}, not stated to be a random sample: in the rates they"
    lead = f"its groups {recorded} are estimated from probabilities, not from people's own answers"
    parts = [_answered(d) if d["random"] else lead]
    nothing = d["assume"] == "nothing" and not d["random"]
    if nothing:
        parts.append(
            "No value is estimated: each range holds what agrees with the probabilities, if these "
            "are right"
        )
    elif d.get("effective") is not None:
        condition = "" if d["random"] else ", if the probabilities are right"
        fewest = f"{d['effective']:,}" if d["effective"] else "fewer than 1"
        parts.append(
            f"This is as precise as knowing the group of only {fewest} ({d['group']}) to "
            f"{d['most_effective']:,} ({d['best_known']}) people{condition}"
        )
    if not d["random"]:
        asked, shows = "people drawn at random", "it"
        if d.get("answers") is not None:
            asked = f"about {rounded_up(d['answers']):,} {asked} in all"
            shows = f"the difference of {d['shown']} to within 5 of 100"
        right = "The estimates are right if, within a group, the outcome does not depend on the "
        right = "" if nothing else f"{right}probabilities. "
        parts.append(f"{right}The data cannot show that; the answers of {asked} would show {shows}")
    return ". ".join(parts)


def _answered(d: Diagnostic) -> str:
    """Return for whom the group is known by a random sample, and how rates are made of that."""
    asked = f"{d['known']:,} of {numbered(d['people'], 'people')}, stated to be a random sample"
    made = "estimated from probabilities, and corrected by these answers"
    if d.get("alone"):
        made = "those of these answers, because the probabilities do not distinguish all groups"
    unused = "" if d["assume"] == "given_group" else f"; assume = {d['assume']} is not used"
    return f"its groups are known for {asked}: rates are {made}{unused}"


def _calibration(d: Diagnostic) -> str:
    known, p = numbered(d["known"], "people"), numbers.probability(d["p"])
    if d["rejected"]:
        return (
            f"the probabilities of {d.feature} disagree with the groups of the {known} who "
            "reported theirs by more than sampling variation would produce "
            f"({p}, tested at {d['level']:.0%}): they may be wrong, or those who report may differ "
            "from others"
        )
    return (
        f"the probabilities of {d.feature} are not contradicted by the groups of the {known} who "
        f"reported theirs ({p})"
    )


_DESCRIBED: dict[DiagnosticCode, Callable[[Diagnostic], str]] = {
    DiagnosticCode.TASK: _task,
    DiagnosticCode.EXCLUDED: _excluded,
    DiagnosticCode.PROTECTED: lambda d: (
        f"the counts are protected: they are rounded at random to multiples of {d['min_cell']:,}, "
        "numbers of rows too. Rates, differences and ratios are those of the rounded counts, with "
        "bounds over all tables that agree with them; confidence intervals include the bounds"
    ),
    DiagnosticCode.GROUP_NOT_RECORDED: _group_not_recorded,
    DiagnosticCode.CALIBRATION: _calibration,
    DiagnosticCode.KNOWN_RATES: lambda d: (
        f"the {numbered(d['known'], 'people')} who reported {d['group']} have a "
        f"{_rate(d).title} of {percent(d['share'])}, and the estimate for all is "
        f"{percent(d['low'])} to {percent(d['high'])} ({numbers.probability(d['p'])}, adjusted for "
        "all groups): what is assumed does not hold, or those who report differ from others"
    ),
    DiagnosticCode.LACK_OF_FIT: lambda d: (
        f"{d['rate']} does not follow the probabilities of {d.feature} as it would if it did not "
        f"depend on them within a group ({numbers.probability(d['p'])}): the assumption "
        "given_group does not hold, and bounds without any assumption decide"
    ),
    DiagnosticCode.ROUNDED_PROBABILITIES: lambda d: (
        f"the probabilities of {d.feature} do not sum to 1 exactly in {numbered(d['rows'])}; they "
        "are divided by their sum"
    ),
    DiagnosticCode.REPEATED_ID: _repeated_id,
    DiagnosticCode.STRATUM_IS_OUTCOME: _stratum_is_outcome,
    DiagnosticCode.STRATUM_IS_GROUP: _stratum_is_group,
    DiagnosticCode.STRATUM_OF_MISSING: lambda d: (
        f"{listing(d['values'])} of {quote(d['column'])} "
        f"{plural(len(d['values']), 'looks like a missing value', 'look like missing values')}, "
        f"but {plural(len(d['values']), 'counts as a stratum', 'count as strata')} like any other; "
        "people in one need have nothing in common. To exclude them, list what is missing as "
        f"unknown: {recoding_flag(d['line'])}"
    ),
    DiagnosticCode.MISSING_STRATA: _missing_strata,
    DiagnosticCode.UNEQUALLY_MISSING: lambda d: (
        f"{d.feature} is not known of {_by_outcome(d)}: gaps between the {_unit(d)} whose group is "
        "known may differ from those of all; record it where it is missing, or contradictory"
    ),
    DiagnosticCode.MISSING_GROUPS: _missing_groups,
    DiagnosticCode.MISSING_OUTCOMES: _missing_outcomes,
    DiagnosticCode.MISSING_COUNTED: lambda d: (
        f"{d['rows']:,} missing {plural(d['rows'], 'value', 'values')} of {quote(d['column'])} "
        f"{plural(d['rows'], 'counts', 'count')} "
        f"{'in facet a, the advantaged side' if d['facet'] else 'as negative'}"
    ),
    DiagnosticCode.UNCOUNTED_ROWS: _uncounted_rows,
    DiagnosticCode.CLUSTERS_SPAN_GROUPS: _clusters_span_groups,
    DiagnosticCode.COVERAGE: lambda d: (
        f"{d['metric']} covers {d['share']:.1%} of the rows: strata without positive or without "
        f"negative {d['of']}s are excluded"
    ),
    DiagnosticCode.ADJUSTED_P: _adjusted,
    DiagnosticCode.HOMOGENEITY: _homogeneity,
    DiagnosticCode.PAIRS_LIMITED: _pairs,
    DiagnosticCode.REVERSED_SCORES: lambda d: (
        f"{quote(d.get('column') or 'score')} ranks positives below negatives "
        f"{_in_group(d)}(ROC AUC {d['auc']:.2f}{'' if d.get('group') else ' of all rows'}); "
        + (
            _JOINED
            if d.get("group")
            else "if it is the probability of another value than the "
            "positive one, name it: score_of=VALUE, --score-of VALUE"
        )
    ),
    DiagnosticCode.REVERSED_PREDICTIONS: lambda d: (
        f"{quote(d['column'])} is positive less often {_in_group(d)}where {quote(d['label'])} is "
        f"({percent(d['of_positives'])}) than where it is not ({percent(d['of_negatives'])}); "
        + (
            _JOINED
            if d.get("group")
            else "if it states the opposite, recode it (recode, "
            "--recode); if the label is of something else, leave it out"
        )
    ),
    DiagnosticCode.ONE_DECISION: _one_decision,
    DiagnosticCode.ONE_LABEL: _one_label,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME: lambda d: (
        f"{called(d['group'])}: all {numbered(d['rows'], _unit(d))} have {called(d['column'])} = "
        f"{all_called(d['values'], 'or', 3)}, which {percent(d['share'])} of the others have, and "
        f"none has another outcome. If only such {_unit(d)} of it are in the data, as in a "
        f"numerator alone, its rate is none: add its other {_unit(d)}, or exclude it "
        f"({flag_of('exclude_groups', d['group'])})"
    ),
    DiagnosticCode.OFFSETTING_PARTS: _offsetting_parts,
    DiagnosticCode.SIMPSON: lambda d: (
        f"{d['group']}: the difference reverses when adjusted for the strata (Simpson's paradox): "
        f"{_before_and_after(d)}"
    ),
    DiagnosticCode.COMPOSITION: _composition,
    DiagnosticCode.STRATA_INSUFFICIENT: _strata_insufficient,
    DiagnosticCode.WITHIN_STRATA: _within_strata,
    DiagnosticCode.USED_AT_LEAST: lambda d: (
        f"at least {numbered(d['rows'])} with known outcomes have a group of one feature or more: "
        "features that are counted apart do not show how many have none"
    ),
    DiagnosticCode.DISAPPEARS: lambda d: (
        f"{d['group']}: no difference is shown on average when adjusted for the strata: "
        f"{_before_and_after(d)} (not statistically significant{_adjusted_p(d)})"
    ),
    DiagnosticCode.NOT_SIGNIFICANT_ADJUSTED: lambda d: (
        f"{d['group']}: the difference is no longer statistically significant when adjusted for "
        f"the strata{_adjusted_p(d)}: {_before_and_after(d)}"
    ),
    DiagnosticCode.BINNED_SCORES: lambda d: (
        f"score metrics are computed from a histogram of {d['bins']:,} bins; the error of each is "
        "at most its error in the JSON report. From at most a million rows, instead of counts, "
        "they are exact"
    ),
    DiagnosticCode.FEATURE_DISTANCE: lambda d: (
        f"rows are compared by Euclidean distance over {', '.join(d['scalings'])}"
    ),
    DiagnosticCode.SAMPLED: lambda d: (
        f"{d['metric']} looks up the neighbours of a random sample of {d['rows']:,} rows of larger "
        f"groups (seed {d['seed']})"
    ),
    DiagnosticCode.OVERRIDES: lambda d: (
        f"options given here replace those that the counts carry: {', '.join(d['options'])}"
    ),
    DiagnosticCode.COUNTED_AS: lambda d: (
        f"{d['verdicts']:,} {plural(d['verdicts'], 'verdict', 'verdicts')} that "
        f"{plural(d['verdicts'], 'decides nothing counts', 'decide nothing count')} as "
        f"{d['outcome']} (--inconclusive {d['outcome']})"
    ),
    DiagnosticCode.ASSUMED_POSITIVE: _assumed_positive,
    DiagnosticCode.UNFAVOURABLE_POSITIVE: _unfavourable_positive,
    DiagnosticCode.CODE_AS_FAVOURABLE: lambda d: (
        f"{quote(d['column'])} = {alternatives(d['values'])} is a code, and the preset calls it "
        f"{quote(d['preset'])}; if the codebook states the opposite, state the other value "
        f"(--positive); if not, accept it: --accept {d.code}:{d['column']}"
    ),
    DiagnosticCode.NOT_CROSSED: _not_crossed,
    DiagnosticCode.NO_PAIRS_CROSSED: _no_pairs_crossed,
    DiagnosticCode.EXCLUDED_GROUP: _excluded_group,
    DiagnosticCode.FEW_PUBLISHED: _few_published,
    DiagnosticCode.NEVER_REPEATS: lambda d: (
        f"{quote(d['column'])}, the column of the {d['role']}s, repeats no value: "
        f"each row counts as it would without it; check that it is the column of {d['role']}s"
    ),
    DiagnosticCode.ALIKE_IDENTIFIERS: lambda d: (
        f"{d['identifiers']:,} {plural(d['identifiers'], 'identifier', 'identifiers')} in "
        f"{quote(d['column'])} {plural(d['identifiers'], 'differs', 'differ')} from another one "
        "in case, blanks, encoding or how a number is written (1, 01, 1.0) alone, and each counts "
        f"as another {d['role']}; if they are the same, write them alike and count the rows again"
    ),
    DiagnosticCode.PLACEHOLDER_IDENTIFIER: _placeholder,
    DiagnosticCode.UNDECIDED_OUTCOMES: _undecided_outcomes,
    DiagnosticCode.NOT_FAVOURABLE: _not_favourable,
    DiagnosticCode.CLASSES_OF_MISSING: lambda d: (
        f"{_have_outcome(d)}, as missing values have; each counts as a class of its own, and a "
        "prediction that equals it as right; to exclude these rows, list what is missing as "
        f"unknown: {recoding_flag(d['line'])}"
    ),
    DiagnosticCode.APPROVED_AS_REFUSED: lambda d: (
        f"{_have_outcome(d)}, which in HMDA data is {_codes_of_hmda(d)}; "
        "they count as not positive. To count them as approved: "
        f"{flag_of('positive', d['positive'])} (positive={[*d['positive']]})"
    ),
    DiagnosticCode.PREDICTION_IS_LABEL: _prediction_is_label,
    DiagnosticCode.SENSITIVE_IS_OUTCOME: _sensitive_is_outcome,
    DiagnosticCode.PREDICTION_NOT_A_LABEL: _prediction_not_a_label,
    DiagnosticCode.SINGLE_ROW_GROUPS: lambda d: (
        f"{d['single']:,} of the {d['groups']:,} groups of {d.feature} have one {_one(d)}: it "
        "looks like an identifier; choose another feature"
    ),
    DiagnosticCode.NUMERIC_GROUPS: _numeric_groups,
    DiagnosticCode.MANY_STRATA: _many_strata,
    DiagnosticCode.MISSING_MARKER: _missing_marker,
    DiagnosticCode.CODED_NUMBERS: _coded_numbers,
    DiagnosticCode.SAME_NAMES: _same_names,
    DiagnosticCode.PEOPLE: _people,
    DiagnosticCode.PEOPLE_UNCLEAR: _people_unclear,
    DiagnosticCode.LABELS_LATER: _labels_later,
    DiagnosticCode.NOT_RECODED: _not_recoded,
    DiagnosticCode.DOUBLED_ROWS: lambda d: (
        f"every {'combination of the counted columns' if d.get('cells') else 'row'} stands "
        f"{d['times']:,} times or a multiple of it ({d['different']:,} different ones): if the "
        "table was written more than once, "
        + (
            f"each of the {d['unnamed']:,} rows without an identifier counts as a person of its own"
            if d.get("unnamed")
            else "intervals are too narrow"
        )
        + "; remove the repetitions"
    ),
    DiagnosticCode.COPIED_FILES: lambda d: (
        f"the files {listing(d['files'])} hold the same lines, so "
        f"that each of their rows counts {len(d['files']):,} times; if they are copies, name one"
    ),
    DiagnosticCode.SKIPPED_FILES: lambda d: (
        f"{numbered(d['files'], 'files')} {plural(d['files'], 'is', 'are')} skipped "
        f"({quote(d['example'])}{', ...' * (d['files'] > 1)}): a file or folder whose name begins "
        "with _ or a dot is no part of a table; name it to count its rows"
    ),
    DiagnosticCode.LINES_ABOVE: lambda d: (
        f"the header of {quote(d['file'])} is line {d['lines'] + 1:,}: what is above it is no row"
    ),
    DiagnosticCode.DECLARED_MISSING: lambda d: (
        f"{quote(d['column'])} is missing where the file declares it: "
        + ", ".join(
            f"{of} {rows:,.0f}" for of, rows in zip(d["reasons"], d["rows_of"], strict=True)
        )
    ),
    DiagnosticCode.UNMATCHED: _unmatched,
    DiagnosticCode.ONE_GROUP: lambda d: (
        f"{quote(d.feature)} has one group, {quote(d['group'])}"
        f"{', which is its own reference' * bool(d.get('itself'))}: there is nothing to compare it "
        "with, and a rule on a difference or ratio is not evaluated"
        + "; without a reference it is compared with all others"
        * bool(d.get("itself"))
    ),
    DiagnosticCode.WEIGHTLESS_GROUPS: lambda d: (
        f"every row of {plural(len(d['groups']), 'the group', 'the groups')} "
        f"{listing(d['groups'])} of {quote(d.feature)} has a weight of 0 "
        f"({numbered(d['rows'], 'rows')}): nothing is estimated of them"
    ),
    DiagnosticCode.UNLIKE_AMOUNTS: _unlike_amounts,
    DiagnosticCode.LIMITS_THE_BETTER_OFF: lambda d: (
        f"{'higher' if d['higher'] else 'lower'} numbers are the worse ones for a group, and "
        f"{d['rule']} does not limit them: only a group that is better off can fail it; state "
        f"{d['instead'] or 'a limit on the other side'} as a rule"
    ),
    DiagnosticCode.LIMITS_OUTSIDE_RANGE: lambda d: (
        f"{d['path']}: no value of {d['metric']}, which is between {d['low']:g} and {d['high']:g}, "
        "is allowed; shares are written as 0.8, not as 80"
    ),
    DiagnosticCode.FAILS_TOGETHER: _fails_together,
    DiagnosticCode.REFERENCE_DECIDES: _reference_decides,
    DiagnosticCode.REFERENCE_TIED: _reference_tied,
    DiagnosticCode.TEXT: lambda d: str(d["text"]),
}
