"""Values that are no groups or outcomes: totals, people of unknown category, no decisions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from string import ascii_letters
from typing import TypeAlias

from fairgauge.start.compiled import toml_table
from fairgauge.values import Value, fold_accents, is_one_of, matches, name_of


@cache
def _lists() -> dict[str, dict[str, str]]:
    return toml_table(Path(__file__).with_name("words.toml").read_text("utf-8"))


OwnWords: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]  # a user's, by their meaning
OWN_MEANINGS = ("adverse_elsewhere", "favourable", "not_known", "not_told", "stage", "total",
    "undecided")  # fmt: skip
_LONGEST = 120  # how much of a value is searched for words: some patterns take its square
HMDA = ("codes of actions", ())  # with them, numbers of an outcome may be HMDA's codes
_OWN: ContextVar[OwnWords] = ContextVar("own words", default=())


def use_words(own: OwnWords) -> None:
    """Take a question's own words, until another one is asked."""
    _OWN.set(own)


def _has(text: str, *names: str) -> bool:
    """Return whether a text holds words of a meaning, or a pattern, of such names."""
    return bool(_compile(names, _OWN.get()).search(text))


@lru_cache(maxsize=128)
def _compile(names: tuple[str, ...], own: OwnWords = ()) -> re.Pattern[str]:
    return re.compile("|".join(_expression(name, dict(own).get(name, ())) for name in names))


def _expression(name: str, own: Iterable[str]) -> str:
    lists = _lists()
    if name in lists["patterns"]:
        return lists["patterns"][name].replace("\n", "")
    words = "|".join((*lists[name].values(), *(re.escape(_fold(word)) for word in own)))
    return rf"\b({words})(?!\w)".replace("\n", "")


def sources() -> dict[str, str]:
    """Return the regular expressions of all words and patterns, for scripts that read values."""
    own, lists = dict(_OWN.get()), _lists()
    names = (*(name for name in lists if name != "patterns"), *lists["patterns"])
    return {name: _expression(name, own.get(name, ())) for name in names}


@lru_cache(maxsize=1_024)
def _fold(text: str) -> str:
    """Return a text as words are listed: without case, accents and brackets, its words parted."""
    return _strip(fold_accents(parted(text[:_LONGEST])))


@lru_cache(maxsize=1_024)
def parted(text: str) -> str:
    """Return a text with spaces between its words, which names in code write otherwise."""
    return re.sub(r"[\s_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))


def _strip(text: str) -> str:
    return text[:_LONGEST].strip().strip("()[]{}<>. ").casefold()


def may_be_value(name: str, others: Collection[str] = ()) -> bool:
    """Return whether a word for a missing value is as often one: no disability, or no.

    So is the opposite of one of the ``others``: "Not Referred" of "Referred", "Current" of "Late".
    """
    text = _fold(name)
    own = _has(_strip(name), "may_be_second") or _has(text, "may_be_outcome")
    return own or is_opposite(name, others) or (text == "current" and any(map(is_harm, others)))


def is_opposite(name: str, others: Collection[str]) -> bool:
    """Return whether a name is that of the opposite of another one."""
    text = _fold(name)
    positive = re.sub(r"^(not? |non |nicht |un|in(?=\w))", "", text)
    return positive != text and any(_fold(other).startswith(positive) for other in others)


_ALSO_CLASSES = {"none", "nil"}  # as often as names of missing values


def may_be_group(name: str, column: str, names: Collection[str]) -> bool:
    """Return whether a word for a missing value may be a group beside other ``names``."""
    others = [_fold(each) for each in names if each != name and not means_missing(each)]
    of_sex = bool(others) and all(_has(each, "man_or_woman") for each in others)
    if of_sex or _has(_fold(column), "of_all_people"):
        return False
    series = "".join(sorted(names))
    if len(series) > 2 and series in ascii_letters:  # u, v and w
        return True
    if name == "NA" and len(names) > 2:  # Namibia, or North America
        return all(re.fullmatch("[A-Z]{2,5}", each) for each in names)
    own = f"{_fold(column)} {_fold(name)}"
    opposite = name.strip() == "-" and (len(names) <= 2 or "+" in names)
    listed = _has(own, "own_word", *["own_code"] * (len(names) >= 4))
    return listed or opposite or name.strip().casefold() in _ALSO_CLASSES  # not "(none)"


def is_column_of(kind: str, column: str) -> bool:
    """Return whether a column is of ages in years, prices, costs or pay, or a group of a kind."""
    return _has(_fold(column), kind)


def has_words(people: str) -> bool:
    """Return whether names of a group of people, whom a preset compares with, are listed."""
    return people in _lists()


def is_total(category: str, others: Collection[str] = ()) -> bool:
    """Return whether a category is that of all rows, and not most of what others are in part."""
    text = _fold(category)
    total = _has(text, "total")
    # of a thousand names each is asked for; the pattern total_of begins with these
    if not total and text not in ("combined", "national"):
        return False
    plain = [*map(_fold, others)]
    total = total or any(_has(f"{text}: {other}", "total_of") for other in plain)
    return total and not any(_has(other, "part") for other in plain)


def is_unknown(category: str) -> bool:
    """Return whether a category is that of people whose category is not known."""
    return _has(_strip_words(category), "not_known", "not_told")


def _strip_words(category: str) -> str:
    return _strip(_compile(("beside_own_words",)).sub("", _fold(category)))


def means_missing(value: object) -> bool:
    """Return whether a value of the data is a text that usually means that it is missing."""
    return isinstance(value, str) and (
        _has(_strip_words(value), "not_known", "not_told", "refused") or means_no_outcome(value)
    )


def means_no_outcome(value: object) -> bool:
    """Return whether an outcome is a text that usually means that it is missing."""
    if not isinstance(value, str):
        return False
    # North Carolina is no "n.c.", nor A a ".a"
    marked = any(_has(each, "marker") for each in (_strip(value), value[:_LONGEST]))
    return marked or _has(_fold(value), "not_known")


def missing_words(values: Collection[Value]) -> list[Value]:
    """Return the values of a column that usually mean that it is missing, codes apart.

    Beside numbers, or bands of them, "Exempt" is one, too.
    """
    plain = {value: _fold(name_of(value)) for value in values if not means_missing(value)}
    exempt = {value for value, name in plain.items() if _has(name, "exempt")}
    digits = [any(map(str.isdigit, name)) for value, name in plain.items() if value not in exempt]
    quantities = 2 * sum(digits) > len(digits)
    return [v for v in values if v not in plain or (quantities and v in exempt)]


def is_undecided(value: Value) -> bool:
    """Return whether an outcome is a text that is of no decision, or means that it is missing."""
    if not isinstance(value, str):
        return False
    text = _plain_offer(value)
    open_ = _has(text, "undecided") and not is_settled(value)
    return open_ or _has(text, "withdrew") or means_no_outcome(value)


def _plain_offer(name: str) -> str:
    return _compile(("declined_offer",)).sub("offer", _fold(name))


def is_settled(name: str) -> bool:
    """Return whether an outcome was decided, whatever else its name holds."""
    return is_adverse(name) or _has(_fold(name), "settled")


def is_adverse(name: str) -> bool:
    """Return whether a value is the unfavourable outcome, or a column has it as its 1."""
    return _has(_fold(name), "adverse", "adverse_elsewhere")


def is_harm(value: str, column: str = "") -> bool:
    """Return whether a value, or a column of yes and no by its name, is a harm, and no denial."""
    text = _fold(value)
    if _has(text, "high"):
        text = f"{text} {_fold(column)}"
    return _has(text, "harm")


def is_of_risk(score: str) -> bool:
    """Return whether a higher score is more of a harm, by its name."""
    return is_harm(score) or bool(re.search(r"(?<!low )\brisk\b|\b(pd|lgd)\b", _fold(score)))


def is_of_denials(column: str) -> bool:
    """Return whether the yes of a column is the unfavourable outcome, by the column's name."""
    text = _plain_offer(column)
    return is_adverse(text) and not _has(_compile(("negated",)).sub(" ", text), "favoured")


def is_of_harms(column: str) -> bool:
    """Return whether the yes of a column is a denial or a harm, by the column's name."""
    return is_of_denials(column) or is_harm(column)


def is_of_favours(column: str) -> bool:
    """Return whether a column has the favourable outcome as its 1, by a part of its name."""
    return _has(column.casefold(), "favourable_column")


def is_yes(name: str) -> bool:
    """Return whether a value is a plain yes: its column decides whether that is favourable."""
    return matches(1, name) or _has(name.casefold(), "yes")


def is_no(name: str) -> bool:
    """Return whether a value is a plain no: its column decides whether that is unfavourable."""
    return _has(name.casefold(), "no")


def is_denied(name: str) -> bool:
    """Return whether an outcome is a plain no, or named as the worse one of a decision."""
    return is_adverse(name) or is_no(name) or matches(0, name)


def is_harmful(column: str, name: str, *, codes: bool) -> bool:
    """Return whether an outcome is worse for people by its name, or with ``codes`` by HMDA's.

    Of yes and no, and 1 and 0, the name of the column decides.
    """
    text = name.strip()
    if codes:
        return action_code(text) not in APPROVED
    of_denials = is_of_harms(column)
    if is_no(text) or matches(0, text):
        return is_of_favours(column) and not (of_denials or is_adverse(column))
    return of_denials if is_yes(text) else is_adverse(text) or is_harm(text, column)


def is_favourable(name: str) -> bool:
    """Return whether an outcome is a plain yes, or named as the better one of a decision."""
    text = _fold(name)
    unlike = is_adverse(name) or _has(text, "negated", "less")
    return is_yes(text) or (_has(text, "favourable", "favourable_part") and not unlike)


_ENDING = re.compile(r"(e?d|ing|(?<!s)e?s|al|ance|ion|e)$")
_LONG, _VERY_LONG, _STEM = 5, 8, 3
_TWO_SIDES = re.compile(r"(\w+)e[de] \1[eo]r")  # the insured and the insurer


def is_form_of(name: str, other: str) -> bool:
    """Return whether a name is another one misspelt, in another form of its words, or annotated."""
    # LendingClub's "Does not meet the credit policy. Status:Fully Paid" is fully paid
    name = re.sub(r"^.*\bstatus *: *", "", name, flags=re.IGNORECASE)
    one, two = (re.sub(r"^\W+", "", fold_accents(each)).rstrip() for each in (name, other))
    if sum(map(str.isalpha, two)) < _STEM:
        return False
    words, others = parted(one).split(), parted(two).split()
    annotated = one.startswith(two) and re.match(r"\s*[^\w\s]|$", one[len(two) :])
    alike = len(words) == len(others) and all(map(_is_form_of_word, words, others))
    folded, stated = _fold(name), _fold(other)
    within = len(words) > len(others) and re.search(rf"\b{re.escape(stated)}\b", folded)
    unlike = _has(folded, "turned", "less", "adverse", "adverse_elsewhere") or is_undecided(name)
    return bool(annotated) or alike or bool(within and not (unlike or is_adverse(other)))


def _is_form_of_word(one: str, two: str) -> bool:
    if one == two:
        return True
    if one[0] != two[0] or max(len(one), len(two)) < _LONG or not (one + two).isalpha():
        return False
    if _TWO_SIDES.fullmatch(" ".join(sorted((one, two)))):
        return False
    stem = _ENDING.sub("", one)
    edits = 1 + (min(len(one), len(two)) >= _VERY_LONG)
    return (len(stem) >= _STEM and stem == _ENDING.sub("", two)) or _is_misspelt(one, two, edits)


def _is_misspelt(one: str, two: str, edits: int) -> bool:
    # that so many letters are wrong, missing, too many, or swapped
    if one == two or not edits:
        return one == two
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    one, two = one[same:], two[same:]
    swapped = one[:2] == two[1:2] + two[:1] and _is_misspelt(one[2:], two[2:], edits - 1)
    return swapped or any(
        _is_misspelt(one[i:], two[j:], edits - 1) for i, j in ((1, 1), (1, 0), (0, 1))
    )


def attests_favour(name: str, column: str = "") -> bool:
    """Return whether a name, of a plain yes its column's, has the outcome as the better one."""
    of = column if is_yes(name) else name
    text, unlike = _fold(of), is_yes(of) or is_adverse(of) or is_harm(of)
    named = is_favourable(of) or _has(text, "favourable_column", "judged")
    named = named and not _has(text, "negated", "turned", "less")
    return not unlike and (named or (of is name and _has(text, "favourable_code")))


def is_attested(column: str, positive: Sequence[Value], others: Sequence[Value]) -> bool | None:
    """Return whether names state that the positive outcomes are the better ones, or the reverse.

    None where they state neither.
    """
    meant, beside = ([*map(name_of, side)] for side in (positive, others))
    if are_actions(column, (*positive, *others)):
        return any(action_code(each) in APPROVED for each in meant)
    if any(is_harmful(column, each, codes=False) for each in beside):
        return True
    favoured = any(attests_favour(each, column) for each in meant)
    unlike = any(is_yes(each) or attests_favour(each) for each in beside)
    return None if favoured == unlike else favoured


def is_code_of_missing(name: str) -> bool:
    """Return whether a text is a number that codes of missing values often are."""
    return _has(name, "code_of_no_number")


_LETTER = r"[^\W\d_]"
_WHOLE = re.compile(r"-?\d{1,9}")
_DATE = re.compile(r"(\d{4})-\d\d-\d\d(?!\d)")
_FAR_DATE = re.compile(r"(0001|1[79]00|1753|1970|9999)-01-01|1899-12-3[01]|(20|2[19]|99)99-12-31")
_YEARS_APART, _MOST_CODES = 20, 20
_SHORT_CODES = {"0", "00", "9", "99", "77", "88", "97", "98", "-7", "-8", "-9"}


def codes_of_missing(values: Iterable[Value]) -> list[Value]:
    """Return the numbers among codes of groups that usually mean a missing value.

    That is a negative number beside others, or one of nines (of two digits, also of eights and
    sevens) well beyond the others. Of many numbers, such as ages, none is a code. Among names it is
    the only number, such as 9999 (beside words alone 0, 9 and 98, too), or lies beyond the others.

    Of dates it is the first or the last that a system has, years from all others.
    """
    known = {name_of(value).removesuffix(".0"): value for value in values}
    years = {name: int(date[1]) for name in known if (date := _DATE.match(name))}
    if 2 * len(years) > len(known):
        far = [name for name in years if _FAR_DATE.match(name)]
        others = [year for name, year in years.items() if name not in far]
        low, high = min(others, default=0) - _YEARS_APART, max(others, default=9999) + _YEARS_APART
        return [known[name] for name in far if not low < years[name] < high]
    numbers = [name for name in known if _WHOLE.fullmatch(name)]
    among_names = len(numbers) < len(known)
    words = [name for name in known if not any(map(str.isdigit, name))]
    short = _SHORT_CODES if len(words) == len(known) - len(numbers) >= 2 else set()
    if "0" in numbers and all(len(w) <= 2 and not _has(_fold(w), "man_or_woman") for w in words):
        short = short - {"0"}  # as the blood groups 0, A, B and AB
    if among_names and (len(numbers) == 1 or short.issuperset(numbers)):
        return [known[n] for n in numbers if is_code_of_missing(str(int(n))) or n in short]
    if len(known) > _MOST_CODES and not among_names:
        return []
    code = "code_of_no_number" if among_names else "code_of_missing"
    codes = [name for name in numbers if _has(name, code)]
    others = sorted(int(name) for name in numbers if name not in codes)
    priced = 2 * sum(n % 10 == 9 for n in others) > len(others)  # 99 and 999 beside 199 and 499
    if len(others) < 2 or priced:
        return []
    # of 91, 93 ... 97 to 99, and of 10 back to 9
    step = max(second - first for first, second in pairwise(others))
    low, high = others[0], others[-1] + step
    for n in sorted(map(int, codes)):
        high += step * (high - step < n <= high)
    return [known[n] for n in codes if not low - step * (int(n) > 0) <= int(n) <= high]


def no_outcomes(
    values: Iterable[Value], positive: Sequence[Value] = (), column: str = ""
) -> list[Value]:
    """Return the outcomes that are of no decision, or often codes of missing ones.

    Beside 0 and 1, or 1 and 2, where these alone of successive numbers are among the outcomes,
    every other one is such a code, and where yes or no is ``positive`` every third answer. So is
    every other number where 1 is, and 0 not, and every step before the decision beside a refusal.
    """
    every = [*values]
    texts, asked = [each for each in every if isinstance(each, str)], [*map(name_of, positive)]
    none = [*_stray_codes(every, positive), *_steps_ahead(texts, positive)]
    none += [each for each in texts if is_total(each, texts)]
    meant = _meant_outcomes(texts, column, decided=not positive)
    found = [v for v in every if (v in none or is_undecided(v)) and v not in meant]
    return [v for v in found if not is_opposite(name_of(v), asked)
            and not any(is_opposite(each, [name_of(v)]) for each in asked)]  # fmt: skip


def _stray_codes(values: Sequence[Value], positive: Sequence[Value]) -> list[Value]:
    known = [value for value in values if not is_undecided(value)]
    texts = {value: value.strip() for value in values if isinstance(value, str)}
    codes = codes_of_missing(known)
    first = next((n for n in (0, 1) if is_one_of(n, known)), 2)
    successive = [is_one_of(n, known) for n in range(first, first + 3)]
    if successive == [True, True, False]:
        codes = [value for value in known if not is_one_of(value, (first, first + 1))]
    elif not all(successive) and any(re.search(_LETTER, v) for v in texts if v in known):
        codes = [value for value in known if _WHOLE.fullmatch(name_of(value))]
    if positive and is_one_of(0, known) and all(matches(1, each) for each in positive):
        numbers = (each for each in known if re.fullmatch(r"-?[\d.]+", name_of(each)))
        codes += [each for each in numbers if not is_one_of(each, (0, 1))]
    answer, names = _compile(("yes_or_no",)), texts.values()
    plain = positive and all(answer.fullmatch(_fold(name_of(each))) for each in positive)
    if plain and any(map(is_yes, names)) and any(map(is_no, names)):
        others = (v for v, name in texts.items() if name[:1].isalpha() and not is_adverse(name))
        codes += [v for v in others if not (answer.search(_fold(v)) or is_favourable(v))]
    return codes


def _steps_ahead(texts: Sequence[str], positive: Sequence[Value]) -> list[str]:
    # the refused ones that are only a step before the decision that others have
    refused = {each: _fold(each) for each in texts if positive and not is_one_of(each, positive)}
    denied = any(is_denied(each.strip()) for each in texts)
    ahead = ["exists", *["stage"] * (len(refused) > 1 and denied)]
    ahead += ["running"] * any(_has(_fold(each), "paid_off") for each in texts)
    if any(is_adverse(each) or is_harm(each) for each in map(name_of, positive)):
        # of those who may be dismissed, the active ones have the other outcome
        refused = {v: text for v, text in refused.items() if not _has(text, "in_place")}
    return [v for v, text in refused.items() if _has(text, *ahead) and not is_settled(v)]


def _meant_outcomes(names: Collection[str], column: str, *, decided: bool) -> set[str]:
    # of words for no decision, those that the others make an outcome: none of a scale, what a model
    # answers, and ends of what was begun, where no application is ``decided``
    plain, column = {name: _fold(name) for name in names}, _fold(column)

    def those(*of: str) -> set[str]:
        return {name for name, text in plain.items() if _has(text, *of)}

    judged = {name for name in names if is_settled(name) or is_favourable(name)}
    # a model answers: approve
    answers = those("action") and not (those("of_hiring") or judged & those("recorded"))
    found = set[str]()
    if those("severity", "part"):
        found |= {name for name in names if plain[name] in (*_ALSO_CLASSES, "absent")}
    if any(text.startswith("click") for text in plain.values()):
        found |= {name for name in names if plain[name] in ("open", "opened")}  # a mail
    if not judged or answers:
        found |= those("may_be_action")
    applied, of_service = judged - those("result"), _has(column, "service")
    if decided or (applied and not of_service):
        return found
    found |= those("may_be_outcome", *["may_be_one_of_several"] * (not applied))
    pairs = (n for n in names if is_opposite(n, names) and "complet" not in plain[n])
    if not (of_service or _has(column, "course")) and (judged or any(pairs)):
        found -= those("left")
    return found


# what became of applications for loans, in the codes and names of HMDA data
APPROVED = ("1", "2", "8")
"""Made, approved but not accepted by the applicant, and a preapproval that was not accepted."""
_UNDECIDED = ("4", "5", "6")  # withdrawn, closed for incompleteness, purchased: of no decision
_PREAPPROVALS = ("7", "8")  # of a request for one, denied, or not accepted: no application
ACTION_NAMES = {  # the codes, with the names that public files have
    "1": "loan originated", "2": "application approved but not accepted",
    "3": "application denied( by financial institution)?",
    "4": "application withdrawn( by applicant)?", "5": "file closed for incompleteness",
    "6": "loan purchased( by (the|financial) institution)?|purchased loan",
    "7": "preapproval request denied( by financial institution)?",
    "8": "preapproval request approved but not accepted",
}  # fmt: skip
_COLUMN_OF_GROUPS = r"(?:(?:applicant|borr(?:ower)?)\d?[ _-]?|^b\d_)(race|ethnicity|sex)(?![a-z])"


def no_groups(column: str, values: Iterable[Value]) -> list[Value]:
    """Return the codes of a column of race, ethnicity or sex that state none."""
    found = re.search(_COLUMN_OF_GROUPS, column.casefold())
    # not provided, not applicable, and no co-applicant
    none = [] if found is None else [*("678" if found[1] == "race" else "345")]
    names = {value: name_of(value).strip().casefold() for value in values}
    if {"1", "2"} <= {*names.values()} <= {*"0129"} and _has(_fold(column), "sex"):
        none += ["", "9"]  # by ISO 5218
    untold = {value: n for value, n in names.items() if _has(n, "untold")}
    others = {n for n in names.values() if n not in untold.values() and not means_missing(n)}
    plain = {n for n in others if len(n) == 1 or _has(n, "man_or_woman")}
    codes = plain and all(n in plain or len(n) == 2 for n in others)
    # neither urban nor unemployed beside rural and employed, nor a grade
    codes = codes and not others & {"r", "e"} and not others <= {*"abcde"}
    coded = len(others) > 1 and (codes or _has(_fold(column), "race_or_sex"))
    return [v for v, name in names.items() if name.lstrip("0") in none or (coded and v in untold)]


@lru_cache(maxsize=1_024)
def action_code(name: str) -> str:
    """Return the code of a name of an action, without leading zeros, and other text as it is."""
    text = name.strip().casefold()
    for code, of in ACTION_NAMES.items():
        if re.fullmatch(rf"0*{code}(\.0+)?|(0*{code}(\.0+)?[\W_]+)?({of})", text):
            return code
    return name


def are_actions(column: str, values: Iterable[Value]) -> bool:
    """Return whether a column has what became of applications in HMDA data."""
    names = [name_of(value) for value in values]
    codes = sum(action_code(name) in ACTION_NAMES for name in names)
    # a stray value or two does not hide what the others are
    if _has(column.casefold(), "action_column"):
        return codes > max(1, len(names) - codes) or codes == len(names)
    known = {*map(action_code, names)} if codes == len(names) else set()
    if HMDA in _OWN.get() and {*"13"} < known and not _has(_fold(column), "scale"):
        return True
    if _has(column.casefold(), "action_or_other") and known:
        return {*"1345"} <= known
    return codes == len(names) and not all(name.strip().isdigit() for name in names)


def no_decisions(column: str, values: Collection[Value], asked: Sequence[Value]) -> list[Value]:
    """Return the outcomes of a column that are no decisions as those asked for are.

    Requests for a preapproval are none beside applications, and applications none beside requests.
    """
    if {"C", "I"} <= {*map(name_of, values)} <= {"C", "I", "P", "N"}:  # scores of Inspect
        return [v for v in values if name_of(v) in ("P", "N") and not is_one_of(v, asked)]
    if not are_actions(column, values):
        return no_outcomes(values, asked, column)
    of_requests = {*_PREAPPROVALS} >= {action_code(name_of(each)) for each in asked}
    none = ACTION_NAMES.keys() - {*_PREAPPROVALS} if of_requests else {*_UNDECIDED, *_PREAPPROVALS}
    known = ACTION_NAMES.keys() - none  # others are strays, such as NA
    return [v for v in values if action_code(name_of(v)) not in known and not is_one_of(v, asked)]


def undecided_refusals(
    column: str, levels: Collection[Value], refused: Sequence[Value], asked: Sequence[Value]
) -> list[Value]:
    """Return the outcomes that count as not positive, whose names or codes are of no decision."""
    only = name_of(refused[0]) if len(refused) == 1 else ""
    code = only.isdecimal() and len(asked) > 1  # next to several positive ones, the denial
    if only and (code or only == "0" or may_be_value(only, [*map(name_of, asked)])):
        return []  # of two outcomes, one is meant
    none = no_decisions(column, levels, asked)
    return [each for each in refused if each in none]


def approved_refusals(
    column: str, levels: Collection[Value], refused: Sequence[Value], undecided: Sequence[Value],
    asked: Sequence[Value],
) -> list[Value]:  # fmt: skip
    """Return HMDA's codes of approvals that count as not positive, next to others that do."""

    def is_approved(value: Value) -> bool:
        return action_code(name_of(value)) in APPROVED

    if not (are_actions(column, levels) and all(map(is_approved, asked))):
        return []
    return [each for each in refused if is_approved(each) and each not in undecided]


def better_outcomes(
    column: str, levels: Sequence[Value], positive: Sequence[Value], *, negative: bool
) -> list[Value]:
    """Return the outcomes that are better by their names than those that count as favourable.

    These are the positive ones, or with ``negative`` all others.
    """
    if negative and (is_of_harms(column) or is_column_of("ruling", column)):
        return []  # as it is stated: an eviction that is granted
    codes = are_actions(column, levels)

    def is_worse(value: Value) -> bool:
        return is_harmful(column, name_of(value), codes=codes)

    none = [] if codes else no_outcomes(levels)
    others = [each for each in levels if not is_one_of(each, positive) and each not in none]
    favoured, rest = (others, positive) if negative else (positive, others)
    harmed = bool(favoured) and all(map(is_worse, favoured))
    return [each for each in rest if harmed and not is_worse(each)]
