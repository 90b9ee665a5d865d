"""Addresses of databases, stores and the web as they may be shown: without what lets someone in."""

from __future__ import annotations

import re

_START = r"[a-z][a-z0-9+.\-]+:/+"  # pathlib leaves one slash of two; C:/ is a drive
# texts, which re compiles when they are used, and keeps: no command waits for them at its start
_ADDRESS = rf"(?is)({_START})(.*)"
# a password may hold spaces: as far as the last @ before another address
_UNTIL_AT = rf"(?:[^\s/@:]*:(?:(?!{_START})[^\n])*@)?"
_QUOTED = rf"(?<=['\"]){_START}[^'\"\s?]*\?[^'\"]*"  # a query may hold spaces
_IN_TEXT = rf"(?i){_QUOTED}|{_START}{_UNTIL_AT}\S+?(?=[\].,:;'\")]*(?:\s|$))"
_PARAMETERS = r"\[?\?|[#;]"
_HOST = r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?"


def shown_address(address: str) -> str:
    """Return an address without passwords and parameters, and one of the web without its user.

    A password may hold anything, unescaped too: all until the last ``@`` is taken for one. What is
    no address is returned as it is.

    >>> shown_address("https://me:secret@host/rows.csv?signature=secret")
    'https://host/rows.csv'
    >>> shown_address("postgresql://me:se/cret@host:5432/people?sslmode=require")
    'postgresql://me@host:5432/people'
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


def without_secrets(text: str) -> str:
    """Return a text with every address in it as it may be shown.

    >>> without_secrets("no answer from https://host/rows.csv?signature=secret, which is odd")
    'no answer from https://host/rows.csv, which is odd'
    """
    return re.sub(_IN_TEXT, lambda found: shown_address(found[0]), text)


def is_clear(address: str) -> bool:
    """Return whether all programs find the same password in an address: one of escaped characters.

    >>> is_clear("postgresql://me:se%2Fcret@host/db"), is_clear("postgresql://me:se/cret@host/db")
    (True, False)
    """
    rest = address.partition("://")[2]
    user = rest.rpartition("@")[0]
    host = re.split(r"[/?#]", rest)[0].rpartition("@")[2]
    return not re.search(r"[?#\t\r\n]|:.*/|/.*:", user, re.DOTALL) and bool(
        re.fullmatch(_HOST, host)
    )
