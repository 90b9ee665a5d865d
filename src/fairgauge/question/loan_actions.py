"""What became of applications for loans, in the codes and names of HMDA data."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from fairgauge.question.category_words import no_outcomes
from fairgauge.values import Value, name_of

_COLUMN = r"(?i)action[ _-]?(taken|type)"
APPROVED = ("1", "2", "8")
"""Made, approved but not accepted by the applicant, and a preapproval that was not accepted."""
_UNDECIDED = ("4", "5", "6")
"""Withdrawn, closed for incompleteness, and purchased: nobody was approved or denied."""
_PREAPPROVALS = ("7", "8")
"""A request for a preapproval that was denied, or approved and not accepted: no application."""
_NAMES = {
    code: re.compile(f"0*{code}|{name}", re.IGNORECASE)
    for code, name in {
        "1": r"loan originated",
        "2": r"application approved but not accepted",
        "3": r"application denied( by financial institution)?",
        "4": r"application withdrawn( by applicant)?",
        "5": r"file closed for incompleteness",
        "6": r"loan purchased( by (the|financial) institution)?|purchased loan",
        "7": r"preapproval request denied( by financial institution)?",
        "8": r"preapproval request approved but not accepted",
    }.items()
}
"""The codes, with the names that public files have in their place."""
_OF_GROUPS = r"applicant[ _-](race|ethnicity|sex)\b|applicant_(race|ethnicity)_\d"
_NO_GROUP = {"race": ("6", "7", "8"), "ethnicity": ("3", "4", "5"), "sex": ("3", "4", "5")}
"""Not provided, not applicable, and no co-applicant."""


def no_groups(column: str, values: Iterable[Value]) -> list[Value]:
    """Return the codes of a column of race, ethnicity or sex that state none.

    >>> no_groups("applicant_race_1", [5, 6]), no_groups("co-applicant_sex", ["2", "04"])
    ([6], ['04'])
    >>> no_groups("race", [5, 6])
    []
    """
    found = re.search(_OF_GROUPS, column.casefold())
    none = () if found is None else _NO_GROUP[found[1] or found[2]]
    return [value for value in values if name_of(value).lstrip("0") in none]


def action_code(name: str) -> str:
    """Return the code of a name of an action, without leading zeros, and other text as it is.

    >>> action_code("Loan originated"), action_code("03"), action_code("yes")
    ('1', '3', 'yes')
    """
    found = (code for code, each in _NAMES.items() if each.fullmatch(name.strip()))
    return next(found, name)


def are_actions(column: str, values: Iterable[Value]) -> bool:
    """Return whether a column has what became of applications in HMDA data.

    >>> are_actions("action_taken", [1, 3]), are_actions("x", ["01", "03"])
    (True, False)
    >>> are_actions("x", ["Loan originated", "Application denied"])
    True
    """
    names = [name_of(value) for value in values]
    known = bool(re.search(_COLUMN, column)) or not all(name.strip().isdigit() for name in names)
    return known and all(action_code(name) in _NAMES for name in names)


def no_decisions(column: str, values: Collection[Value], asked: Sequence[Value]) -> list[Value]:
    """Return the outcomes of a column that are no decisions as those asked for are.

    Requests for a preapproval are none beside applications, and applications none beside requests.

    >>> no_decisions("action_taken", [1, 3, 4, 7], [1]), no_decisions("x", ["yes", "open"], ["yes"])
    ([4, 7], ['open'])
    """
    if not are_actions(column, values):
        return no_outcomes(values, asked)
    of_requests = {*_PREAPPROVALS} >= {action_code(name_of(each)) for each in asked}
    none = _NAMES.keys() - {*_PREAPPROVALS} if of_requests else {*_UNDECIDED, *_PREAPPROVALS}
    return [value for value in values if action_code(name_of(value)) in none]
