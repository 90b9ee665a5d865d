"""What may be wrong with the rows of a period, as sentences with what to do."""

from __future__ import annotations

from collections.abc import Callable

from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.monitor_sentences import within_period
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem

_AGAIN = "correct the rows and add the period again (--replace)"
_MEANT = "if it is meant, begin with the first period of which it holds (start)"


def describe_history_finding(each: HistoryFinding) -> str:
    """Describe a finding: when, what, and what to do."""
    return f"{capitalised(_when(each))}: {_SAYS[each.problem](each)}"


def _when(each: HistoryFinding) -> str:
    if each.period == each.last:
        return within_period(each.period)
    return f"from {each.period} to {each.last}"


def _rows(each: HistoryFinding) -> str:
    several = each.unit == "people" and each.period != each.last
    found = numbers.numbered(each.rows or 0, _unit(each))
    return f"{found} counted by period" if several else found


def _unit(each: HistoryFinding) -> str:
    return each.unit or "rows"


def _valued(each: HistoryFinding) -> str:
    """Return how many rows a share of a column is of, which are not all rows of a period."""
    return f"{_rows(each)} with a value in {called(each.column or '')}"


def _recoding(each: HistoryFinding) -> str:
    """Return the line that recodes all values that are found in the column."""
    if each.recoding is None:
        return ""
    of = called(each.column or "")
    return f" ({each.recoding}, one line below [recode] for all findings of {of})"


def _value(each: HistoryFinding) -> str:
    return f"{_quoted(each.value)} in {called(each.column or '')}"


def _quoted(value: str | None) -> str:
    """Return a value with its blanks visible."""
    text = called(value or "")
    return text if text.startswith("“") else f'"{text}"'


def _gap(each: HistoryFinding) -> str:
    what = numbers.plural(each.rows or 0, "this period has", "these periods have")
    text = f"{what} no counts. Add them, or find out why the feed stopped"
    if (each.other or "")[:4] == each.period[:4]:
        return f"{text}."
    return (
        f"{text}; if the year of {each.other}, or of the period before these, is misspelt, remove "
        "the folder of that one and add its rows under their own period."
    )


def _moved(period: str | None) -> str:
    return f"remove its folder (period={period}) and add its rows under their own period"


def _misdated(each: HistoryFinding) -> str:
    return (
        f"the {numbers.count(each.rows or 0)} periods before it have no counts. It decides nothing "
        f"until another one follows it. If its date is misspelt, {_moved(each.period)}."
    )


def _doubled(each: HistoryFinding) -> str:
    times = f"{each.expected or 0:,.0f}"
    return (
        f"the numbers of rows of all cells are multiples of {times} ({_rows(each)}), as if every "
        f"row stood {times} times. If it does, {_AGAIN}."
    )


def _new_value(each: HistoryFinding) -> str:
    text = f"{_rows(each)} with {_value(each)}, which no earlier period has"
    if each.other is None:
        return f"{text}. If it is a mistake, {_AGAIN}; {_MEANT}."
    return (
        f"{text}, while {_quoted(each.other)} has {numbers.percent(each.share or 0)} of the "
        f"{_unit(each)} that have a value, where {numbers.percent(each.expected or 0)} were usual. "
        f"If they are the same, {_AGAIN}; each is a group or an outcome of its own."
    )


def _unknown_group(each: HistoryFinding) -> str:
    return (
        f"{_rows(each)} with {_value(each)}, {_counts_as(each, 'a group')}. If it means that the "
        f"group is not known, recode it as unknown{_recoding(each)}{_otherwise(each, 'a group')} "
        "and add the periods again (--replace)."
    )


def _counts_as(each: HistoryFinding, what: str) -> str:
    if each.other is None:
        return f"which counts as {what}"
    return f"which often means a missing number, and counts as {_quoted(each.other)}"


def _otherwise(each: HistoryFinding, what: str) -> str:
    """Return what else a value may be recoded as; numbers that are cut or averaged as nothing."""
    return f", else as {what}," if each.other is None else ""


def _equals_label(each: HistoryFinding) -> str:
    elsewhere = ", and no period has other rows"
    if each.expected is not None:
        differs = numbers.percent(each.expected)
        elsewhere = f"; in other periods it differs in {differs} of the {_unit(each)}"
    return (
        f"the prediction equals the label in all {_rows(each)} that have both{elsewhere}. If it is "
        f"a copy of the label, every error rate is untrue: {_AGAIN}."
    )


def _opposite_of_label(each: HistoryFinding) -> str:
    return (
        f"the prediction equals the label in {numbers.percent(each.share or 0)} of {_rows(each)} "
        f"that have both, where {numbers.percent(each.expected or 0)} would be equal if they were "
        f"independent. If one of them has its values exchanged, {_AGAIN}."
    )


def _missing(each: HistoryFinding) -> str:
    group = "" if each.value is None else f" with {_quoted(each.value)} in {called(each.other)}"
    usual = "" if each.expected is None else f", where {numbers.percent(each.expected)} are usual"
    return (
        f"{numbers.percent(each.share or 0)} of {_rows(each)}{group} have no value in "
        f"{called(each.column or '')}{usual}"
    )


def _rate_of_labelled(each: HistoryFinding) -> str:
    """Return the rate of the decision that has labels."""
    return f"{'positive' if each.value == 'negative' else 'negative'} predictive value"


def _other_scores(each: HistoryFinding) -> str:
    column = called(each.column or "")
    text = (
        f"all {_rows(each)} have scores in {column} in a range in which "
        f"{numbers.percent(each.expected or 0)} of the {_unit(each)} of the periods before have "
        "theirs"
    )
    if each.share:
        text = (
            f"{numbers.percent(each.share)} of {_rows(each)} have a score in {column} outside the "
            "range that it had in the periods before"
        )
    again = f"If they are on another scale by mistake, {_AGAIN}"
    return f"{text}. {again}; {_MEANT}."


_SAYS: dict[HistoryProblem, Callable[[HistoryFinding], str]] = {
    HistoryProblem.GAP: _gap,
    HistoryProblem.MISDATED: _misdated,
    HistoryProblem.OVERDUE_LABELS: lambda _: (
        "labels are due and missing. Add the periods again with their labels (--replace), or find "
        "out why they are missing."
    ),
    HistoryProblem.DOUBLED_ROWS: _doubled,
    HistoryProblem.SAME_COUNTS: lambda each: (
        f"the same counts as those of {each.other} ({_rows(each)}). If they are the same rows, the "
        "periods are not independent, and the stated probability of a false alarm does not hold: "
        f"{_AGAIN}."
    ),
    HistoryProblem.SAME_AS_BASELINE: lambda each: (
        f"the counts of the baseline {called(each.other or '')} ({_rows(each)}). If they are the "
        "same rows, the baseline must be counted of others, or monitoring must start later (start)."
    ),
    HistoryProblem.VOLUME: lambda each: (
        f"{_rows(each)}, where about {numbers.count(round(each.expected or 0))} are usual. If some "
        f"are absent or repeated, {_AGAIN}."
    ),
    HistoryProblem.SPELLING: lambda each: (
        f"{_rows(each)} with {_value(each)}, which reads like {_quoted(each.other)}. Each spelling "
        "is a group or an outcome of its own. If they are the same, correct the rows, or recode "
        f"them{_recoding(each)}, and add the period again (--replace). If they are not, name both "
        "in recode."
    ),
    HistoryProblem.NEW_VALUE: _new_value,
    HistoryProblem.VANISHED_VALUE: lambda each: (
        f"no row with {_value(each)}; about {each.expected or 0:,.0f} are usual among "
        f"{_valued(each)}. If they are absent by mistake, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.GROUP_SHARE: lambda each: (
        f"{numbers.percent(each.share or 0)} of {_valued(each)} have {_quoted(each.value)}, "
        f"against {numbers.percent(each.expected or 0)} in the earlier periods that are compared. "
        f"If rows of some groups are absent or repeated, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.NO_POSITIVE: lambda each: (
        f"no row has the positive value in {called(each.column or '')}, and some have "
        f"{_quoted(each.value)}, which is not one of its known values. If this is the positive "
        f"value in another way, {_AGAIN}."
    ),
    HistoryProblem.NO_OUTCOME: lambda each: (
        f"{_rows(each)} with {_value(each)}, {_counts_as(each, 'an outcome')}. If it means that "
        f"nothing is known, recode it as unknown{_recoding(each)}{_otherwise(each, 'an outcome')} "
        "and add the periods again (--replace)."
    ),
    HistoryProblem.UNCLEAR_OUTCOME: lambda each: (
        f"{_rows(each)} with {_value(each)}, which counts as not positive. If it is positive, "
        "or no outcome, recode it and add the periods again (--replace)."
    ),
    HistoryProblem.UNKNOWN_GROUP: _unknown_group,
    HistoryProblem.ONE_VALUE: lambda each: (
        f"all {_rows(each)} that have a value in {called(each.column or '')} have "
        f"{_quoted(each.value)}, so that groups cannot differ in that. If the feed should have "
        f"other values, {_AGAIN}."
    ),
    HistoryProblem.CODED_NUMBERS: lambda each: (
        f"some rows have {_value(each)}, as codes of missing values are, and they outweigh all "
        f"others. If it is one, leave these cells empty: {_AGAIN}."
    ),
    HistoryProblem.OTHER_SCORES: _other_scores,
    HistoryProblem.EQUALS_LABEL: _equals_label,
    HistoryProblem.OPPOSITE_OF_LABEL: _opposite_of_label,
    HistoryProblem.MISSING_VALUES: lambda each: (
        f"{_missing(each)}. Rows without a value are in no rate that needs it. If they should have "
        f"one, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.MISSING_LABELS: lambda each: (
        f"{_missing(each)}, and labels are due. Add the periods again with their labels "
        "(--replace), or find out why they are missing: the rates are of rows with a label alone."
    ),
    HistoryProblem.MISSING_CLUSTERS: lambda each: (
        f"{_missing(each)}. Rows without a cluster are in every value and in no confidence "
        f"interval. If they should have one, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.MISSING_WEIGHTS: lambda each: (
        f"{_missing(each)}. Rows without a weight are in no rate. If they should have one, "
        f"{_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.MISSING_GROUPS: lambda each: (
        f"{_missing(each)}. They are a group of their own. If they should have one, {_AGAIN}; "
        f"{_MEANT}."
    ),
    HistoryProblem.MISSING_COUNTS: lambda each: (
        f"{_missing(each)}. Rows without a number of cases are in no rate. If they should have "
        f"one, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.NO_LABELS: lambda each: (
        f"{_missing(each)}, so that rules that need labels have no value. If labels come later "
        'than their rows, set labels = "later" below [monitor]; else find out why they are missing.'
    ),
    HistoryProblem.LABELS_OF_ONE_DECISION: lambda each: (
        f"{numbers.percent(each.share or 0)} of {_rows(each)} with a {each.value} decision in "
        f"{called(each.other or '')} have no value in {called(each.column or '')}, and "
        f"{numbers.percent(each.expected or 0)} of those with the other decision. Rates that need "
        "the labels of both, such as the true positive rate or accuracy, cannot be known from "
        "those of one: rules on them have insufficient data. Add the missing labels, or monitor "
        f"other rates: the selection rate, or the {_rate_of_labelled(each)} (without labels = "
        '"later", with which a period waits for the labels of most of its rows).'
    ),
    HistoryProblem.SMALL_GROUP: lambda each: (
        f"{_rows(each)} with {_value(each)}, of which too few count to decide every rule: that "
        f"takes {each.expected or 0:,.0f} rows that a rule counts, of some metrics in one period. "
        "Monitor longer periods, join the group with another (recode), or exclude it "
        "(exclude_groups)."
    ),
}
