"""What can go wrong, as a tree.

::

    FairgaugeError            every error of fairgauge; ends a command with exit code 2
    ├── SpecError             the question is wrong: unknown names, impossible limits (all listed)
    ├── DataError             the data cannot answer it: unreadable, missing columns, wrong values
    ├── CubeError             a cube file is damaged, or two cubes do not fit together
    │   └── ChangedCountsError  its counts do not fit its digest
    ├── RulesNotMet           a rule of an audit is not met (`Report.check`, in results/verdicts.py)
    └── MissingExtra          an optional library is not installed
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

# of a length, as is the end of one: a text is searched in linear time
_START = r"[a-z][a-z0-9+.\-]{1,40}:/+"  # pathlib leaves one slash of two; C:/ is a drive
# texts, which re compiles when they are used, and keeps: no command waits for them at its start
_ADDRESS = rf"(?is)({_START})(.*)"
# a password may hold spaces: as far as the last @ before another address
_UNTIL_AT = rf"(?:[^\s/@:]*:(?:(?!{_START})[^\n])*@)?"
# a query may hold spaces, and a password quotes: as far as the last @
_QUOTED = rf"(?<=['\"]){_START}[^'\"\s?]*\?[^'\"]*(?:['\"](?:(?!{_START})[^\n])*@[^'\"]*)?"
_IN_TEXT = rf"(?i){_QUOTED}|{_START}{_UNTIL_AT}\S+?(?=[\].,:;'\")]{{0,20}}(?:\s|$))"
_PARAMETERS = r"\[?\?|[#;]"
_HOST = r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?"


def shown_address(address: str) -> str:
    """Return an address without passwords and parameters, and one of the web without its user.

    A password may hold anything, unescaped too: all until the last ``@`` is taken for one. What is
    no address is returned as it is.
    """
    found = re.fullmatch(_ADDRESS, address)
    if found is None:
        return address
    scheme, rest = found.groups()
    user, at, place = rest.rpartition("@")
    if re.search(_PARAMETERS, user):  # the last @ may be one of a parameter, or of a password
        return f"{scheme}***"
    place = re.split(_PARAMETERS, place)[0]
    web = scheme.lower().startswith("http")
    if ":" in user or (web and "/" not in user):
        user = "" if web else user.partition(":")[0]
        at = "" if web else at
    if not at and not re.fullmatch(_HOST, place.partition("/")[0]):  # a password without an @
        place = f"{place.partition(':')[0]}:***"
    return f"{scheme}{user}{at}{place}"


def hide_secrets(text: str) -> str:
    """Return a text with every address in it as it may be shown."""
    return re.sub(_IN_TEXT, lambda found: shown_address(found[0]), text)


def is_clear(address: str) -> bool:
    """Return whether all programs find one password in an address: of escaped characters."""
    rest = address.partition("://")[2]
    user = rest.rpartition("@")[0]
    host = re.split(r"[/?#]", rest)[0].rpartition("@")[2]
    return not re.search(r"[?#\t\r\n]|:.*/|/.*:", user, re.DOTALL) and bool(
        re.fullmatch(_HOST, host)
    )


NOT_UTF_8 = "not UTF-8 text; save it as UTF-8, for example with iconv -f windows-1252 -t utf-8"
"""What Excel writes is windows-1252 in Western Europe; as Latin-1 its dashes would be no text."""
_LONGEST_MESSAGE = 1_900
_LONGEST_QUOTE = 60
IMITATES = re.compile(
    r"[.:!?]\s|[\u2705\u274c\u2754\u2795\u2796]|\b(PASS|FAIL|INCONCLUSIVE|REPRODUCED)"
)
"""What a name has that could be taken for the end of a sentence, a mark or a verdict of ours."""
MOST_CELLS, _MOST_CATEGORIES = 3, 20
# addresses: of mail, and of a street with the number of a house
_OF_SOMEONE = r"\S@\S|\d[a-z]?,? +[^\W\d_]{4,}|[^\W\d_]{4,}[.,]? +\d"


class FairgaugeError(Exception):
    """Base of every error, which states what was found, where, what is allowed and what to do."""

    exit_code = 2

    def __str__(self) -> str:
        text = hide_secrets(super().__str__())
        return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + " ..."


class Problem(NamedTuple):
    """One mistake in a specification, and the path to it (``rules[2].metric``)."""

    path: str
    message: str

    def __str__(self) -> str:
        path = "".join(c if c.isprintable() else repr(c)[1:-1] for c in self.path)  # of a file
        return f"{path}: {self.message}" if path else self.message


class SpecError(FairgaugeError, ValueError):
    """The specification is wrong; ``problems`` lists every mistake found."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def problems_where(*checks: tuple[object, str, str]) -> list[Problem]:
    """Return what is wrong: of conditions, each with a path and a message, those that hold."""
    return [Problem(path, message) for holds, path, message in checks if holds]


def refuse(problems: Collection[Problem]) -> None:
    """Raise everything that is wrong, if anything is."""
    if problems:
        raise SpecError(problems)


@contextlib.contextmanager
def collecting(problems: list[Problem]) -> Iterator[None]:
    """Go on where a specification is wrong: what is wrong is added to the problems."""
    try:
        yield
    except SpecError as error:
        problems += error.problems


class DataError(FairgaugeError, ValueError):
    """The data cannot be read, or do not hold what the specification asks for."""


class TooManyValues(DataError):  # noqa: N818 - named for what there is
    """A column has more values than are counted."""


class EmptyDataError(DataError):
    """The data have no rows."""


class CubeError(FairgaugeError, ValueError):
    """A cube file is damaged or of another version, or two cubes count different things."""


class ChangedCountsError(CubeError):
    """The counts of a cube file do not fit the digest that it holds."""


class ValuesError(CubeError):
    """Counts of some periods hold values that do not fit the specification or other periods.

    Counts of one of ``periods`` are not added, because no other is in the way.
    """

    def __init__(self, message: str, periods: Collection[str]) -> None:
        super().__init__(message)
        self.periods = periods


class DuplicateCountsWarning(UserWarning):
    """Two cubes that are added hold the same counts, perhaps of the same rows."""


class MissingExtra(FairgaugeError, ImportError):  # noqa: N818 - named for what is missing
    """An optional library is needed and not installed.

    It states its purpose, and what installs it: an extra of fairgauge, or ``library[part]``. The
    import that failed names the module that is missing, perhaps one that a library needs.
    """

    def __init__(self, purpose: str, extra: str, error: ImportError | None = None) -> None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            what = f"needs the module {quote(error.name)}, which is not installed"
        elif error is not None:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            what = f"needs a library that cannot be loaded ({why})"
        else:
            what = "needs an optional library"
        requirement = extra if "[" in extra else f"fairgauge[{extra}]"
        super().__init__(f"{purpose} {what}: pip install '{requirement}'")


@contextlib.contextmanager
def needing(extra: str, purpose: str) -> Iterator[None]:
    """Report an import that fails as a missing extra, or ``library[part]``."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(purpose, extra, error) from None


def cause(error: Exception) -> str:
    """Return why something failed: in the words of the system, else in those of the error."""
    return str(getattr(error, "strerror", None) or error)


def quote(value: object) -> str:
    """Show a name or value in a message: quoted, printable, never longer than a line.

    An address is shown without its password, before it is shortened.
    """
    text = hide_secrets(shown_address(str(value)))
    shown = text if len(text) <= _LONGEST_QUOTE else f"{text[:20]}...{text[23 - _LONGEST_QUOTE :]}"
    return repr(shown)


def display(value: object) -> str:
    """Show a value of any type in a message: text in quotes, anything else as in JSON.

    >>> display("5"), display(5), display(True), display(["y", None])
    ("'5'", '5', 'true', '["y", null]')
    """
    if isinstance(value, (str, os.PathLike)):
        return quote(value)
    unprintable = f"a value of type {type(value).__name__}"
    try:  # a frame or a result is shown in many lines
        import json

        text = unprintable if "\n" in str(value) else json.dumps(value, default=str)
        text = hide_secrets(text)
    except (TypeError, ValueError, RecursionError):  # keys, huge numbers, values within themselves
        text = unprintable
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 3]}..."


def listing(values: Iterable[object], limit: int = 8) -> str:
    """Show some values of a longer list: ``'a', 'b' and 3 more``."""
    every = list(values)
    text = ", ".join(quote(value) for value in every[:limit])
    return f"{text} and {len(every) - limit} more" if len(every) > limit else text


def cells(values: Iterable[object]) -> str:
    """Show values of a column in a message: at most three, and of an identifier only their form.

    A column of more values than categories have, of addresses or of mail, may name people.

    >>> cells(["a", "b", "c", "d"]), cells([]), cells(["ann@mail.example"])
    ("'a', 'b', 'c' and 1 more", 'no value', "values of the form 'aaa@aaaa.aaaaaaa'")
    """
    every = list(dict.fromkeys(map(str, values)))
    if may_name_people(every):
        return f"values of the form {quote(form_of(every[0]))}"
    return listing(every, MOST_CELLS) or "no value"


def may_name_people(values: Collection[str]) -> bool:
    """Return whether different values of a column may be identifiers or addresses of people."""
    heads = (each[: _LONGEST_MESSAGE // 10] for each in values)  # the pattern takes the square
    return len(values) > _MOST_CATEGORIES or any(re.search(_OF_SOMEONE, each) for each in heads)


def form_of(value: str) -> str:
    """Return a value with its letters and digits replaced.

    >>> form_of("CASE-00417 b")
    'AAAA-00000 a'
    """
    letters = re.sub(r"[^\W\d_]", lambda each: "A" if each[0].isupper() else "a", value)
    return re.sub(r"\d", "0", letters)


def alternatives(texts: Iterable[str]) -> str:
    """Join texts of which one is meant."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


def closest(name: object, allowed: Iterable[object]) -> str | None:
    """Return the allowed name that is closest to another, if any is close.

    >>> closest("female", ["Female", "Male"]), closest("F", ["Female", "Male"])
    ('Female', 'Female')
    """
    names = {str(each).casefold(): str(each) for each in allowed}
    wanted = str(name)[:200].casefold()
    import difflib

    close = difflib.get_close_matches(wanted, names, n=1, cutoff=0.7)
    if not close and wanted:  # an abbreviation, if it is of one name alone
        begun = [each for each in names if each and each.startswith(wanted)]
        begun += [each for each in names if each and wanted.startswith(each)]
        close = begun if len(begun) == 1 else []
    return names[close[0]] if close else None


def suggest(name: object, allowed: Iterable[object]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest allowed name, or nothing."""
    close = closest(name, allowed)
    return f" Did you mean {quote(close)}?" if close is not None else ""
