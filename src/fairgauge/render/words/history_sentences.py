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


def _same_counts(each: HistoryFinding) -> str:
    """Describe a copy of an earlier period, whose names are dates, or of the file of a baseline."""
    text = f"the same counts as those of {called(each.other or '')} ({_rows(each)}). If they are"
    return (
        f"{text} the same rows, the probability of a false alarm does not hold: {_AGAIN}; count a "
        "baseline of other rows than those that are monitored."
    )


def _volume(each: HistoryFinding) -> str:
    if each.column is None:
        usual = numbers.count(round(each.expected or 0))
        text = f"{_rows(each)}, where about {usual} are usual. If some are absent or repeated"
        return f"{text}, {_AGAIN}; {_MEANT}."
    return (
        f"{numbers.percent(each.share or 0)} of {_valued(each)} have {_quoted(each.value)}, "
        f"against {numbers.percent(each.expected or 0)} in the earlier periods that are compared. "
        f"If rows of some groups are absent or repeated, {_AGAIN}; {_MEANT}."
    )


def _new_value(each: HistoryFinding) -> str:
    text = f"{_rows(each)} with {_value(each)}, which"
    if each.other is None:
        return (
            f"{text} no earlier period has. If it is a mistake, or another name of a value, "
            f"{_AGAIN}, or recode it; {_MEANT}."
        )
    return (
        f"{text} reads like {_quoted(each.other)}. Each spelling is a group or an outcome of its "
        "own. If they are the same, correct the rows, or recode them, and add the period again "
        "(--replace). If they are not, name both in recode."
    )


def _one_value(each: HistoryFinding) -> str:
    alike = "no positive value" if each.value is None else _quoted(each.value)
    return (
        f"all {_rows(each)} that have a value in {called(each.column or '')} have {alike}, so that "
        f"groups cannot differ in that. If the feed should have other values, {_AGAIN}."
    )


def _copied_label(each: HistoryFinding) -> str:
    if each.expected == 1:
        return (
            f"the prediction equals the label in all {_rows(each)} that have both. If it is a copy "
            f"of the label, every error rate is untrue: {_AGAIN}."
        )
    return (
        f"the prediction equals the label in {numbers.percent(each.share or 0)} of {_rows(each)} "
        f"that have both, where {numbers.percent(each.expected or 0)} would be equal if they were "
        f"independent. If one of them has its values exchanged, {_AGAIN}."
    )


def _missing(each: HistoryFinding) -> str:
    column, share = called(each.column or ""), numbers.percent(each.share or 0)
    usual = numbers.percent(each.expected or 0)
    if each.decision is not None:
        return (
            f"{share} of {_rows(each)} with a {each.decision} decision in "
            f"{called(each.other or '')} have no value in {column}, and {usual} of those with the "
            "other decision. Rates that need the labels of both, such as the true positive rate or "
            "accuracy, cannot be known from those of one: rules on them have insufficient data. "
            "Add the missing labels, or monitor other rates, such as the selection rate."
        )
    group = "" if each.value is None else f" with {_quoted(each.value)} in {called(each.other)}"
    return (
        f"{share} of {_rows(each)}{group} have no value in {column}, where {usual} are usual. Rows "
        f"without a value are in no rate that needs it. If they should have one, {_AGAIN}; "
        f"{_MEANT}."
    )


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
    HistoryProblem.SAME_COUNTS: _same_counts,
    HistoryProblem.VOLUME: _volume,
    HistoryProblem.NEW_VALUE: _new_value,
    HistoryProblem.VANISHED_VALUE: lambda each: (
        f"no row with {_value(each)}; about {each.expected or 0:,.0f} are usual among "
        f"{_valued(each)}. If they are absent by mistake, {_AGAIN}; {_MEANT}."
    ),
    HistoryProblem.ONE_VALUE: _one_value,
    HistoryProblem.MISSING_VALUES: _missing,
    HistoryProblem.OTHER_SCORES: _other_scores,
    HistoryProblem.COPIED_LABEL: _copied_label,
}
