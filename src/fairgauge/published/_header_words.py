"""The words by which headers of published tables name what a column holds."""

from __future__ import annotations

import re

from fairgauge.published.published_table import RATIOS, ColumnRole
from fairgauge.question.category_words import parted

_LOANS_MADE = re.compile(
    r"\boriginat(ed|ions?)\b|\bloans? (made|originated)\b|\b(funded|granted)\b"
    r"|\bapprov(ed|als?)[\W_]+(and[\W_]+)?(accepted|closed|taken)\b|\baccepted approvals?\b"
)
_NOT_ACCEPTED = re.compile(
    r"\bapprov(ed|als?)[\W_]+(but[\W_]+)?(not[\W_]+|un)"
    r"(accepted|originated|funded|closed|taken)"
)
_CHOSEN = "selected|hired|passed|approved|accepted|admitted|offered|promoted|invited"
_REFUSED = "denied|denial|rejected|rejection|refused|refusal|declined?"
_ROLES: tuple[tuple[ColumnRole, re.Pattern[str]], ...] = (
    (
        ColumnRole.RATIO,
        re.compile(
            r"impactratio|(?<![a-z])ratios?(?![a-z])|\bair\b|adverse impact|four.?fifths|4/5"
            r"|\brelative risk\b"
        ),
    ),
    (
        ColumnRole.DENIAL_RATE,
        re.compile(
            rf"\b(denial|rejection|refusal) rate\b|(%|\bpct) ?({_REFUSED})\b"
            rf"|\b({_REFUSED}) \(?(%|pct\b)"
        ),
    ),
    (
        ColumnRole.RATE,
        re.compile(
            rf"\brate\b|(%|\bpct) ?({_CHOSEN})\b|\b({_CHOSEN}) \(?(%|pct\b)|^(%|pct)$|percent"
            r"|proportion|\bshare\b"
        ),
    ),
    (
        ColumnRole.NOT_SELECTED,
        re.compile(
            r"(\b(not|non|un|de) ?)(select|hire[ds]?\b|pass(ed)?\b|advanced|approved|offered"
            r"|accepted|admitted|promoted|invited)|\b(denied|denials?|reject(ed|ions?)|refused)\b"
            r"|^declined$"
        ),
    ),
    (
        ColumnRole.SELECTED,
        re.compile(
            r"selected|select(ions?)?\b|hire[ds]?\b|pass(ed|es)?\b|advanced?|approv|offer|accepted"
            r"|admitted|promoted|above|favou?rable|successes|positive|invited"
            rf"|{_LOANS_MADE.pattern}"
        ),
    ),
    (
        ColumnRole.N,
        re.compile(
            r"^n$|\bn$|^unweighted |^no\.?$|^#|^apps$|applica|appl(ied|ying)\b"
            r"|\bscored\b|\btested\b|candidat|number|count|total|people|pool"
            r"|population|sample|size|assessed|evaluated|considered|screened|individuals"
        ),
    ),
)
_DENIED = re.compile(
    r"(?<![a-z])((not|non|un|de) ?"
    r"(select|hire|pass|advanc|approv|offer|accept|admi|promot|invit)"
    r"|den(ied|ial)|reject|refus|declin|turn(ed)? ?down|fail|adverse (action|decision)"
    r"|unfavou?rable|unsuccessful)"
)
_SELECTED = re.compile(r"approv|accept|select|hire|offer|pass|admi(t|ss)|originat|grant")
_OTHER_STATISTICS = re.compile(
    r"\bdifference\b|\bodds\b|\bsmd\b|standardi[sz]ed|\badjusted for\b"
    r"|\b(debt|loan) to |\bto all (other groups|rows)\b"
    r"|\b(base|error|discovery|omission|(true|false) (positive|negative)) rate\b"
    r"|\bof (the )?(gap|reference)\b|\bpredictive\b|\bpre ?approval request",
)
"""What tables print beside what is checked: their headers have the words of rates and ratios."""
_OF_PEOPLE = re.compile(
    r"\b(sex|gender|race|racial|ethnic|hispanic|latin|age|disab|veteran|national|religio|marital)"
)
_REMARKS = re.compile(
    r"^(notes?|comments?|remarks?|explanations?|(\d+(\.\d+)? ?% )?(ci|confidence intervals?))\b"
)


def role_of(header: str) -> ColumnRole | None:
    """Return what a column of numbers holds by its header, None where no word names it.

    Examples
    --------
    >>> [str(role_of(each)) for each in ("# of Applicants", "Hired", "hire_rate", "ImpactRatio")]
    ['n', 'selected', 'rate', 'ratio']
    >>> str(role_of("Not selected")), role_of("Median income")
    ('not_selected', None)
    >>> role_of("Declined to state"), role_of("odds ratio"), str(role_of("denial rate"))
    (None, None, 'denial_rate')
    >>> str(role_of("Rejection rate ratio")), role_of("Ratio of denials to approvals")
    ('denial_ratio', None)
    """
    words = _words(header)
    if _OTHER_STATISTICS.search(words) or means_not_accepted(header):
        return None
    role = next((role for role, pattern in _ROLES if pattern.search(words)), None)
    if role not in (ColumnRole.RATIO, ColumnRole.RATE) or not _DENIED.search(words):
        return role
    if _SELECTED.search(_DENIED.sub("", words)):
        return None if role is ColumnRole.RATIO else role
    return ColumnRole.DENIAL_RATIO if role is ColumnRole.RATIO else ColumnRole.DENIAL_RATE


def means_decided(header: str) -> bool:
    """Return whether a header names the people who were decided, all where it has no others."""
    return _words(header).strip() in ("decided", "decisions", "total decided")


def means_loans_made(header: str) -> bool:
    """Return whether a header names loans that were made: those of approvals that were accepted."""
    return bool(_LOANS_MADE.search(_words(header))) and not means_not_accepted(header)


def means_not_accepted(header: str) -> bool:
    """Return whether a header names approvals that no applicant accepted.

    >>> means_not_accepted("Approved, but not accepted"), means_not_accepted("Not accepted")
    (True, False)
    """
    other = _OTHER_STATISTICS.search(_words(header))  # such as requests for a preapproval
    return not other and bool(_NOT_ACCEPTED.search(_words(header)))


def means_people(header: str) -> bool:
    """Return whether a header of categories names what people are: their sex, race, age.

    >>> means_people("Race/Ethnicity"), means_people("Loan purpose")
    (True, False)
    """
    return bool(_OF_PEOPLE.search(_words(header)))


def is_remark(header: str) -> bool:
    """Return whether a column holds remarks, or another statistic: these name no category."""
    words = _words(header)
    return bool(_REMARKS.match(words) or _OTHER_STATISTICS.search(words))


def means_denied(header: str) -> bool:
    """Return whether a header has a word of denials, be it of their number or their rate.

    >>> means_denied("Turned down"), means_denied("Approved")
    (True, False)
    """
    return bool(_DENIED.search(_words(header)))


def means_impact(header: str) -> bool:
    """Return whether a header of ratios names those of selection rates.

    >>> [means_impact(header) for header in ("AIR", "Approval ratio", "Disparity ratio")]
    [True, True, False]
    """
    return bool(re.search(rf"\bair\b|impact|fifths|4/5|{_SELECTED.pattern}", _words(header)))


def names_share(header: str) -> bool:
    """Return whether a header names rates or ratios, and no other statistic.

    >>> [names_share(each) for each in ("AIR", "Approvalrate", "odds ratio", "Rated")]
    [True, True, False, False]
    """
    ratio = role_of(header) in RATIOS or re.search("[a-z]ratios?$", _words(header))
    return not is_remark(header) and (bool(ratio) or names_rate(header))


def names_rate(header: str) -> bool:
    """Return whether a header ends as those of rates do."""
    return bool(re.search("rates?$", _words(header)))


def _words(header: str) -> str:
    """Return a header without case, with spaces between its words."""
    return parted(header).casefold()
