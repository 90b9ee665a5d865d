"""The command that asks the same question again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge.enums import DiagnosticCode, SearchedValues
from fairgauge.errors import Problem
from fairgauge.question.options import BY_NAME, OF_ROWS, OPTIONS, Option, Spec
from fairgauge.render.words.display_names import printable
from fairgauge.values import canonical, name_of

if TYPE_CHECKING:
    from fairgauge.results.comparison import ModelComparison
    from fairgauge.results.gap_decomposition import Decomposition
    from fairgauge.results.report import Report
    from fairgauge.results.subgroup_search import SearchedFeature, Subgroup, SubgroupSearch

    Asked: TypeAlias = Report | SubgroupSearch | Decomposition | ModelComparison

_FILE = re.compile(r"[./]")
NO_FILE = "DATA"
"""What stands in a command for data that are not in a file."""
_CONTROLS = replace(BY_NAME["strata"], name="controls", flags={"--control": ""})
"""The option of a decomposition alone, which is written as strata are."""


def repetition(result: Asked, verb: str = "audit") -> tuple[str, str]:
    """Return what makes a result again: what to do, and the command line.

    Where flags cannot ask all of it, the command is of a specification file.
    """
    how, flags = "run", flags_of(result.spec)
    if flags is None:
        how, flags = f"save the specification as {verb}.json and run", ["-c", f"{verb}.json"]
    return how, shlex.join(["fairgauge", verb, _data(result), *flags])


def command_inside(found: SubgroupSearch, subgroup: Subgroup) -> str | None:
    """Return the command line that audits the rows of a subgroup by the `other_features`.

    None where there are none, where only a specification file asks all of it, and where no page
    shows the line as it is: invisible characters, or text from right to left.
    """
    by, where = other_features(found, subgroup), found.where(subgroup)
    if not by or set(where) & set(found.spec.get("where") or {}):
        return None
    columns = {feature.name for feature in by}
    features = [each for each in _columns(found) if each["column"] in columns]
    where = {**(found.spec.get("where") or {}), **where}
    return _command_of(found, {"sensitive": features or _columns(found), "where": where})


def other_features(found: SubgroupSearch, subgroup: Subgroup) -> list[SearchedFeature]:
    """Return the features without a condition, but for those of too many values for an audit."""
    return [
        each
        for each in found.question.features
        if each.name not in subgroup.conditions and each.made is not SearchedValues.MOST_FREQUENT
    ]


def command_against(found: SubgroupSearch, subgroup: Subgroup) -> str | None:
    """Return the command line that compares a subgroup with all others by the rate of the search.

    Its columns make the groups. None where no group of them is the subgroup, where an audit cannot
    compare the rate by a name, and where `command_inside` has none for its reasons.
    """
    made = [each for each in found.question.features if each.name in subgroup.conditions]
    named = all(subgroup.conditions[each.name] in each.conditions for each in made)
    if found.own or not named:
        return None
    columns = [*found.where(subgroup)]
    return _command_of(
        found,
        {
            "sensitive": [each for each in _columns(found) if each["column"] in columns],
            "intersections": [columns] if len(columns) > 1 else [],
            "metrics": [f"{found.question.rate}.difference"],
            "reference": "others",
        },
    )


def _columns(found: SubgroupSearch) -> list[dict[str, Any]]:
    """Return the features as an audit asks for them: it cuts no numbers by itself."""
    cuts = {feature.name: [*feature.cuts] for feature in found.question.features if feature.cuts}
    return [
        {**each, "cuts": cuts[each["column"]]} if each["column"] in cuts else each
        for each in found.spec["sensitive"]
    ]


def _command_of(found: SubgroupSearch, asked: Mapping[str, Any]) -> str | None:
    """Return the command line that asks the rows of a search, with the value it assumed stated.

    Of the values listed as unknown it repeats those that the columns of its groups hold.
    """
    rows = {name: found.spec.get(name) for name in (*OF_ROWS, "missing")}
    columns = {each["column"] for each in asked["sensitive"]}
    held = [
        value for each in found.question.features if each.name in columns for value in each.unknown
    ]
    rows["unknown"] = [each for each in rows["unknown"] or () if name_of(canonical(each)) in held]
    for each in found.diagnostics:
        if each.code is DiagnosticCode.ASSUMED_POSITIVE:
            rows["positive"] = [each["value"]]
    flags = flags_of({**rows, **asked})
    if flags is None:
        return None
    line = shlex.join(["fairgauge", "audit", _data(found), *flags])
    return line if printable(line) == line else None


def _data(result: Asked) -> str:
    """Return the data as an argument: the file, and a word to replace where there was none."""
    source = result.data.source
    return source if _FILE.search(source) and " " not in source else NO_FILE


def flags_of(spec: Mapping[str, Any]) -> list[str] | None:
    """Return the flags of what a specification asks beyond the defaults; None if flags cannot.

    Parameters
    ----------
    spec : mapping
        The keys and values of a specification file.

    Examples
    --------
    >>> flags_of({"label": "y", "sensitive": [{"column": "age", "cuts": [40]}], "seed": 0})
    ['--label', 'y', '--sensitive', 'age:40']
    >>> flags_of({"rules": [{"metric": "DI", "at_least": 0.8, "groups": ["F"]}]}) is None
    True
    """
    usual = Spec().to_dict() | {"controls": []}
    words: list[str] = []
    for option in (*OPTIONS, _CONTROLS):
        value = spec.get(option.name)
        if value is None or value == []:  # not asked; reports of version 1 have empty lists
            continue
        problems: list[Problem] = []
        value = option.type.plain(option.type.read(value, option.name, problems))
        if problems:
            return None
        if value != usual[option.name]:
            flags = _flags(option, value)
            if flags is None:
                return None
            words += flags
    return words


def _flags(option: Option, value: Any) -> list[str] | None:
    """Return the flags of one option, if parsing them gives its value again."""
    if len(option.flags) > 1:  # a table, with a flag for each key
        flags = ((f"--{key.replace('_', '-')}", text) for key, text in value.items())
        return [word for flag in flags for word in flag]
    (flag,) = option.flags
    texts = option.type.write(value)
    if _as_text(_parsed(option, texts)) != _as_text(value):
        return None
    if option.type.arguments > 1:
        return [flag, *texts]
    return [word for text in texts for word in (flag, text)]


def _parsed(option: Option, texts: Sequence[str]) -> object:
    problems: list[Problem] = []
    value = option.type.parse(texts, option.name, problems)
    meaning = option.type.read(value, option.name, problems)
    return None if problems else option.type.plain(meaning)


def _as_text(value: object) -> object:
    """Return values as the command line has them: 1, 1.0 and "1" are one text."""
    if isinstance(value, Mapping):
        return {str(key): _as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return name_of(canonical(value))
