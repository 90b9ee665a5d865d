"""Checks of names: those that mean a missing value, and several that may be one category."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import Axis
from fairgauge.enums import DiagnosticCode, Ends, Level, Role, Task
from fairgauge.errors import closest, refuse
from fairgauge.question.category_words import (
    CODE_OF_FACTORS,
    codes_of_missing,
    may_be_value,
    missing_words,
)
from fairgauge.question.conditions import Range, RowCondition
from fairgauge.question.hmda_actions import no_groups
from fairgauge.question.recoding import UNKNOWN, Recoding
from fairgauge.question.specification import Spec
from fairgauge.resolve._coded_scores import coded_scores
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import idle_recodings, unmatched
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import (
    Value,
    canonical,
    is_one_of,
    meaning,
    name_of,
    reading,
    spelling,
    unaccented,
)

_BLANKS = re.compile(r"(?<!\d)\s|\s(?!\d)")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]|(?<=\d)_(?=\d)")
_WORD = re.compile(r"\s*[^\W\d_]{3}")
_SEPARATORS = re.compile(
    r"(?<=[^\W\d_])\s*[-\u2013\u2014]\s*(?=[^\W\d_])|(?<!\d)[\s_/,.;:&'\"()]+|[\s_/,.;:&'\"()]+(?!\d)"
    r"|\b(?:or|and)\b",
    re.IGNORECASE,
)
"""What spellings differ in: not signs, or what stands between digits ("<40" and ">40", "A+")."""
_ETHNICITY = re.compile(
    r"\b(?P<no>(?:non?|not) ?)?(?:of )?"
    r"(?:hispan\w+|latin\w{1,2})(?: (?:hispan\w+|latin\w{1,2}|spanish)\b)*(?: origin)?\b"
)
"""What names of races state of being Hispanic, in spellings without separators."""
_HISPANIC, _NOT_HISPANIC = " hispanic", " not hispanic"
_TIMES_THE_MEAN = 5
"""How far a code of two digits is above the mean of counts or weights, itself included."""
MOST_SPELLED = 200
"""Values of a column up to which spellings are compared: names of places or people are not."""


class _TextValue(NamedTuple):
    """The name of a value of a column, its rows, and the group or outcome that it means."""

    column: str
    text: str
    rows: int
    meaning: Hashable


def doubtful_names(cube: Cube, spec: Spec, to_nearest: int = 1) -> Iterator[Diagnostic]:
    """Warn of names that mean a missing value, and of several that may be one group or outcome.

    The rows of a name are stated ``to_nearest`` so many, where counts are protected.

    Raises
    ------
    SpecError
        A recoding does nothing.
    """
    refuse(idle_recodings([cube], spec))
    groups = _known_groups(cube, spec, to_nearest)
    classes = decide_task(cube, spec) is Task.MULTICLASS
    outcomes = [
        _TextValue(axis.column, level, rows, _outcome(level, axis.column, spec, classes))
        for axis in cube.plan.outcomes
        if not axis.bins
        for level, rows in levels_with_cases(cube, axis, to_nearest)
        # levels of rows that are protected, or of another decision of a person, may have none
        if isinstance(level, str) and (rows or cube.min_cell is not None or spec.of_people)
    ]
    alike = [outcomes]
    if not spec.words_of_predictions:
        alike = [[e for e in outcomes if e.column == axis.column] for axis in cube.plan.outcomes]
    for each in (
        *_missing_markers(cube, spec, groups),
        *_missing_markers(cube, spec, _known_groups(cube, spec, to_nearest, excluded=True), True),
        *_coded_numbers(cube, spec),
        *_same_names(spec, groups, alike, classes),
        *_unseen_values(cube, spec),
        *_recodings(cube, spec, to_nearest, groups),
        *(note for some in alike for note in _outcome_recodings(some, spec, classes)),
    ):
        yield each.of(spec.unit)


def rows_of_no_group(cube: Cube, spec: Spec) -> Counter[str]:
    """Return by column the rows in groups whose names, or codes, usually mean a missing value.

    Of numbers that are cut, the rows of codes that are warned of.
    """
    found: Counter[str] = Counter()
    for column, _, rows in coded_rows(cube, spec):
        found[column] += rows
    for each in _missing_markers(cube, spec, _known_groups(cube, spec, 1)):
        if not may_be_value(str(each["value"])):
            found[str(each.feature)] += each["rows"]
    return found


def coded_rows(cube: Cube, spec: Spec) -> list[tuple[str, float, int]]:
    """Return the codes of missing values in groups of numbers that are warned of, with the rows."""
    warned = {(each["column"], each["value"]) for each in _coded_numbers(cube, spec)}
    return [each for each in cube.coded if (each[0], canonical(each[1])) in warned]


def coded_weights(cube: Cube, spec: Spec) -> list[tuple[str, Value]]:
    """Return the codes of missing values among weights, or counts, that are warned of."""
    return [
        (each["column"], each["value"]) for each in _coded_numbers(cube, spec) if each.get("role")
    ]


def rows_of_no_score(cube: Cube, spec: Spec) -> int:
    """Return the rows whose score is a code of a missing value that is warned of."""
    warned = {(each["column"], each["value"]) for each in _coded_numbers(cube, spec)}
    codes = coded_scores(cube).items()
    return sum(rows for (column, code), rows in codes if (column, canonical(code)) in warned)


def _known_groups(
    cube: Cube, spec: Spec, to_nearest: int, *, excluded: bool = False
) -> dict[Axis, list[tuple[Value, int]]]:
    """Return the values of features that are not cut, each with its rows: those not excluded.

    With ``excluded`` those that are.
    """
    known = {}
    for axis in cube.plan.axes:
        if axis.role is Role.FEATURE and not axis.bins:
            unknown = unknown_levels(axis, cube.levels[axis], spec)
            levels = levels_with_cases(cube, axis, to_nearest)
            known[axis] = [
                each
                for each, missing in zip(levels, unknown, strict=True)
                if not missing
                and (name_of(each[0]) in spec.exclude_groups) is excluded
                and (each[1] or not spec.count)  # rows of count 0 stand for no case
            ]
    return known


def _missing_markers(
    cube: Cube, spec: Spec, groups: Mapping[Axis, list[tuple[Value, int]]], excluded: bool = False
) -> Iterator[Diagnostic]:
    """Warn of groups whose names, or codes, usually mean a missing value, unless recoded so.

    Also where these are ``excluded``: whatever they are, rules pass.
    """
    more = {"excluded": True} if excluded else {}
    for axis, levels in groups.items():
        recoding = spec.recoding(axis.column)
        stated = set(recoding.category_of.values()) if recoding else ()
        missing = missing_words(cube.levels[axis])
        if not spec.feature(axis.column).values:
            missing += codes_of_missing(cube.levels[axis])
            missing += no_groups(axis.column, cube.levels[axis])
        for level, rows in levels:
            if level in missing and level not in stated:
                yield Diagnostic.warning(
                    DiagnosticCode.MISSING_MARKER, axis.column, value=level, rows=rows, **more
                )


def doubtful_conditions(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of values that may be what a condition names, or missing, and are not taken so."""
    conditions = {each.column: each for each in spec.where}
    for column, value, _, rows in cube.undecided:
        if value and rows:
            of = conditions[column]
            code = any(map(str.isdigit, value)) and not of.may_name(value)
            more: dict[str, Any] = {"unknown": True} if code else {}
            more |= {"counted": True} if of.holds(value) else {}
            yield Diagnostic.warning(
                DiagnosticCode.SPELT_OTHERWISE,
                column=column,
                value=value,
                rows=rows,
                condition=of.to_text(),
                **({} if spec.of_people else spec.unit),
                **more,
            )


def _coded_numbers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of numbers at the ends of columns that are often codes of missing ones.

    Where a condition ends at such a number, or names it, its rows are meant to be without it. The
    ends are those of all rows: of other columns of numbers a condition may have chosen others.
    Of scores it is known which rows have them, and whether they are of a scale.
    """
    conditions = {each.column: each for each in spec.where}
    scores = coded_scores(cube)
    for column, end in sorted(cube.ends):
        value, condition = canonical(end), conditions.get(column)
        if not scores.get((column, end), 1):
            continue
        if condition and (end in condition.cuts or is_one_of(value, condition.values)):
            continue
        more: dict[str, Any] = {}
        if role := {spec.count: "count", spec.weight: "weight"}.get(column):  # not to be recoded
            if end == CODE_OF_FACTORS and end < _TIMES_THE_MEAN * _mean(cube, role):
                continue
            more = {"role": role}
            line = RowCondition(column, (Range(-math.inf, end, Ends.NEITHER),)).to_text()
        else:
            line = spec.recoding_line(column, {UNKNOWN: [value]})
        if condition:
            more |= {"condition": condition.to_text()}
        yield Diagnostic.warning(
            DiagnosticCode.CODED_NUMBERS, column=column, value=value, line=line, **more
        )


def _mean(cube: Cube, role: str) -> float:
    """Return the mean count of a row, or the mean weight of a case."""
    sums = cube.tables[0].sums
    if role == "count":
        return float(sums[cube.plan.cases].sum() / sums["rows"].sum())
    return float(sums["w"].sum() / cube.tables[0].cases.sum())


def _same_names(
    spec: Spec,
    groups: Mapping[Axis, list[tuple[Value, int]]],
    outcomes: Iterable[Iterable[_TextValue]],
    classes: bool,
) -> Iterator[Diagnostic]:
    """Warn of different groups or outcomes whose names are spellings of one value."""
    alike: list[tuple[str | None, list[_TextValue]]] = [*_groups_alike(spec, groups)]
    alike += [
        (None, each)
        for some in outcomes
        for each in _alike(some)
        if not (classes and _apart(each, spec))
    ]
    for feature, several in alike:
        counted = feature is not None or not spec.of_people
        of_classes = {"classes": True} if classes and feature is None else {}
        yield Diagnostic.warning(
            DiagnosticCode.SAME_NAMES,
            feature,
            values=tuple(each.text for each in several),
            rows=tuple(each.rows for each in several if counted),
            columns=tuple(each.column for each in several),
            **of_classes,
        )


def other_spellings(cube: Cube, spec: Spec) -> dict[str, dict[str, int]]:
    """Return by column the names, with their rows, that may be other spellings of a larger group.

    Of groups whose names are spellings of one value, the largest has none of them.
    """
    found: dict[str, dict[str, int]] = {}
    for column, several in _groups_alike(spec, _known_groups(cube, spec, 1)):
        rows: Counter[Hashable] = Counter()
        for each in several:
            rows[each.meaning] += each.rows
        ((largest, _),) = rows.most_common(1)
        others = {each.text: each.rows for each in several if each.meaning != largest}
        found.setdefault(column, {}).update(others)
    return found


def _groups_alike(
    spec: Spec, groups: Mapping[Axis, list[tuple[Value, int]]]
) -> Iterator[tuple[str, list[_TextValue]]]:
    """Yield groups whose names are spellings of one value, with their column.

    Not where each is stated: recoded to itself, or named in a value set.
    """
    for axis, levels in groups.items():
        sets, recoding = spec.feature(axis.column).values, spec.recoding(axis.column)
        names = recoding.names if recoding else ()
        for several in _alike(
            _TextValue(axis.column, name_of(level), rows, _value_set(level, sets))
            for level, rows in levels
        ):
            stated = (each.meaning is not None if sets else each.text in names for each in several)
            if not all(stated):
                yield axis.column, several


def _value_set(level: Value, sets: Sequence[Sequence[Value]]) -> Hashable:
    """Return the group of a level: the position of its value set, or its name without them."""
    if not sets:
        return name_of(level)
    return next((i for i, values in enumerate(sets) if is_one_of(level, values)), None)


def _outcome(level: str, column: str, spec: Spec, classes: bool) -> Hashable:
    """Return whether a level is favourable, or its class of ``classes`` or where none is stated."""
    if (positive := spec.positive_of(column)) and not classes:
        return is_one_of(level, positive)
    return meaning(level)  # of "True", "true" and "1"


def _apart(several: Iterable[_TextValue], spec: Spec) -> bool:
    """Return whether each of several classes is stated to be its own."""
    return stated_apart({e.text for e in several}, {e.column for e in several}, spec)


def stated_apart(names: Set[str], columns: Iterable[str], spec: Spec) -> bool:
    """Return whether each of some names is recoded to itself in one of some columns."""
    stated = [each for column in columns if (each := spec.recoding(column))]
    return any(names <= {*each.names} for each in stated)


def _alike(texts: Iterable[_TextValue]) -> Iterator[list[_TextValue]]:
    """Yield each set of spellings of one value with different meanings."""
    alike: dict[Value, list[_TextValue]] = {}
    for each in texts:
        alike.setdefault(compact_reading(each.text), []).append(each)
    for several in alike.values():
        if len({each.meaning for each in several}) > 1:
            yield several


def compact_reading(name: str) -> Value:
    """Return what the spellings of one value share: its `reading` with no blank but between digits.

    >>> [compact_reading(name) for name in ("26 \u2013 40", "Zone 1", "< 40", "1 2")]
    ['26-40', 'zone1', '<40', '1 2']
    """
    return meaning(_DASHES.sub("-", _BLANKS.sub("", spelling(name))))


def _unseen_values(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of values that are recoded and that the data do not have.

    One of several spellings of a category that has others is noted alone, unless it may be misspelt
    itself: a value that is not recoded is then nearly the same.
    """
    for column, value in sorted(cube.unseen):
        known = [name_of(v) for a in cube.plan.axes if a.column == column for v in cube.levels[a]]
        recoding = spec.recoding(column)
        left_over = [name for name in known if recoding and name not in recoding.names]
        spelt_otherwise = recoding and recoding.category_of.get(value) in known
        misspelt = closest(value, left_over) is not None
        found = unmatched(f"recode.{column}", value, left_over if misspelt else known)
        quiet = spelt_otherwise and not misspelt
        yield replace(found, level=Level.NOTE) if quiet else found


def _recodings(
    cube: Cube, spec: Spec, to_nearest: int, groups: Mapping[Axis, list[tuple[Value, int]]]
) -> Iterator[Diagnostic]:
    """Check recodings against the data, and suggest those that the spellings of groups call for."""
    for axis in cube.plan.axes:
        if axis.bins or axis.role is Role.CLUSTER:
            continue
        if recoding := spec.recoding(axis.column):
            counted = not (spec.of_people and axis in cube.plan.outcomes)  # one value of a person
            levels = levels_with_cases(cube, axis, to_nearest)
            yield from _left_over(recoding, levels, counted=counted)
        if axis in groups and not spec.feature(axis.column).values:
            texts = {name_of(level): rows for level, rows in groups[axis]}
            if suggested := suggested_names(texts):
                yield _recoding(axis.column, suggested, texts, spec, unclear_letters(texts))


def _left_over(
    recoding: Recoding, levels: Sequence[tuple[Value, int]], *, counted: bool
) -> Iterator[Diagnostic]:
    """Note the values that a recoding leaves; warn of those spelt nearly as what it recodes."""
    left = {name_of(v): rows for v, rows in levels if name_of(v) not in recoding.names}
    mapped = {reading(name) for name in recoding.category_of if name.strip()}
    alike = tuple(name for name in left if reading(name) in mapped)
    if alike or (left and recoding.names):
        made = Diagnostic.warning if alike else Diagnostic.note
        yield made(
            DiagnosticCode.NOT_RECODED,
            recoding.column,
            values=alike or tuple(left),
            rows=tuple(left[name] for name in alike or left) if counted else (),
            alike=bool(alike),
        )


def _recoding(
    column: str,
    suggested: Mapping[str, list[str]],
    rows: Mapping[str, int],
    spec: Spec,
    unclear: Sequence[str] = (),
) -> Diagnostic:
    """Suggest to recode the values of a column, and state the rows of other spellings."""
    more = {"unclear": tuple(unclear)} if unclear else {}
    other = {
        v for name, values in suggested.items() if name != UNKNOWN for v in values if v != name
    }
    line = spec.recoding_line(column, suggested)
    counted = sum(rows[value] for value in other)
    return Diagnostic.warning(DiagnosticCode.RECODING, column, line=line, rows=counted, **more)


def _outcome_recodings(
    texts: Sequence[_TextValue], spec: Spec, classes: bool
) -> Iterator[Diagnostic]:
    """Suggest recodings of labels and predictions of which two spellings are two outcomes."""
    rows: dict[str, int] = {}
    for each in texts:
        rows[each.text] = rows.get(each.text, 0) + each.rows
    columns: dict[str, dict[str, list[str]]] = {}
    for best, values in suggested_names(rows).items():
        alike = [each for each in texts if each.text in values]
        if best == UNKNOWN or len({each.meaning for each in alike}) == 1:
            continue
        if classes and _apart(alike, spec):
            continue
        # what is stated as favourable stays the name, so that the question need not change
        stated = [each.text for each in alike if each.meaning is True]
        name = stated[0] if stated else best
        for column in dict.fromkeys(each.column for each in alike):
            held = [value for value in values if (column, value) in {e[:2] for e in alike}]
            if held != [name]:
                columns.setdefault(column, {})[name] = held
    for column, suggested in columns.items():
        yield _recoding(column, suggested, rows, spec)


def suggested_names(rows: Mapping[str, int]) -> dict[str, list[str]]:
    """Return values that may be one category, by the best name, and unknown ones.

    The best is the most frequent one in mixed case; single letters and numbers come last, of these
    first `1`. Names of one category differ in case, blanks, separators, "or" and "and" alone, are
    one number or truth value, one is the first letter of the other and of no third, or forms use
    them for one sex, race or ethnicity. A letter that may be of two sexes in the language of the
    others, as M of "mujer" and "masculino", is put to none. A race that is not Hispanic is the race
    itself, unless people of this race who are Hispanic are apart.

    >>> suggested_names({"Male": 9, "M": 3, "male ": 2, "F": 1, "Decline to answer": 4})
    {'Male': ['Male', 'male ', 'M'], 'unknown': ['Decline to answer']}
    >>> suggested_names({"Mujer": 9, "Femenino": 2, "Hombre": 9, "M": 3, "F": 2})
    {'Mujer': ['Mujer', 'Femenino', 'F']}
    >>> suggested_names({"asian": 9, "Asian": 8, "ASIAN ": 9})
    {'Asian': ['Asian', 'ASIAN ', 'asian']}
    >>> suggested_names({"1": 9, "1.0": 8, "True": 2, "01": 5})
    {'True': ['True', '1', '1.0']}
    >>> suggested_names({"White": 9, "Caucasian": 2, "Black/African American": 3})
    {'White': ['White', 'Caucasian']}
    >>> suggested_names({"White": 9, "White (Not Hispanic or Latino)": 2})
    {'White': ['White', 'White (Not Hispanic or Latino)']}
    >>> suggested_names({"White": 9, "White (Not Hispanic)": 2, "Hispanic White": 2})
    {}
    >>> suggested_names({"A & B": 3, "A": 2, "C": 2}) or suggested_names({"A": 3, "AB": 2})
    {}
    >>> suggested_names({"<=50K": 9, ">50K": 3, "A+": 2, "A-": 2, "1.5": 1, "15": 1})
    {}
    """
    if len(rows) > MOST_SPELLED:
        return {}
    unknown = [*map(name_of, missing_words(rows))]
    alike = _by_category(value for value in rows if value not in unknown)
    for letter, (first, *others) in _letters(alike).items():
        if first in alike and not others:
            alike[first] += alike.pop(letter)
    found = {}
    for values in alike.values():
        if len(values) > 1:
            by_rows = sorted(
                values,
                key=lambda v: (
                    sum(map(str.isalpha, v)) <= 1,
                    v != name_of(meaning(v)),
                    v in (v.lower(), v.upper()),
                    -rows[v],
                    v,
                ),
            )
            found[by_rows[0].strip()] = by_rows
    if not found:
        return {}  # `_missing_markers` reports unknown values, one by one
    return found | ({UNKNOWN: unknown} if unknown else {})


def unclear_letters(values: Iterable[str]) -> list[str]:
    """Return the single letters that may be of several categories.

    >>> unclear_letters(["Mujer", "Hombre", "M", "F"]), unclear_letters(["Male", "Female", "M"])
    (['M'], [])
    """
    alike = _by_category(values)
    return [v for letter, of in _letters(alike).items() if of[1:] for v in alike[letter]]


def _by_category(values: Iterable[str]) -> dict[str, list[str]]:
    alike: dict[str, list[str]] = {}
    for value in values:
        race, ethnicity = _race_and_ethnicity(value)
        plain = name_of(meaning(_without_blanks(race)))
        category = _CATEGORY_NAMED.get(unaccented(plain), plain)
        alike.setdefault(category + ethnicity, []).append(value)
    for key in [each for each in alike if each.endswith(_NOT_HISPANIC)]:
        race = key.removesuffix(_NOT_HISPANIC)
        if race in alike and race + _HISPANIC not in alike:
            alike[race] += alike.pop(key)
    return alike


def _race_and_ethnicity(value: str) -> tuple[str, str]:
    """Return a name without what it states of being Hispanic, and that; ethnicities are names.

    >>> _race_and_ethnicity("Black - Not Hispanic"), _race_and_ethnicity("Hispanic/Latino")
    (('black', ' not hispanic'), ('hispanic latino', ''))
    """
    name = _with_blanks(value)
    stated = _ETHNICITY.search(name)
    race = f"{name[: stated.start()]} {name[stated.end() :]}".strip() if stated else ""
    if not stated or not race:
        return name, ""
    return " ".join(race.split()), _NOT_HISPANIC if stated["no"] else _HISPANIC


def _letters(alike: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return single letters, each with the categories of a name that it begins."""
    names = {
        key: {plain for v in values if _WORD.match(v) for plain in [without_separators(v)]}
        for key, values in alike.items()
    }
    used = {unaccented(name) for values in names.values() for name in values}
    for sexes in _NAMES_OF_SEXES:
        if any(not used.isdisjoint(of_sex.split()) for of_sex in sexes):
            for sex, of_sex in zip(_SEXES, sexes, strict=True):
                names.setdefault(sex, set()).update(of_sex.split())
    found = {
        letter: [key for key, each in names.items() if any(n.startswith(letter) for n in each)]
        for letter in alike
        if len(letter) == 1
    }
    return {letter: of for letter, of in found.items() if of}


def without_separators(value: str) -> str:
    """Return the spelling of a value without separators; of letters alone, without blanks, too.

    >>> without_separators("Non-Binary"), without_separators("36 - 43")
    ('nonbinary', '36 - 43')
    """
    return _without_blanks(_with_blanks(value))


def _with_blanks(value: str) -> str:
    return spelling(_SEPARATORS.sub(" ", value))


def _without_blanks(name: str) -> str:
    letters = name.replace(" ", "")
    return letters if letters.isalpha() else name


_SEXES = ("female", "male")
_NAMES_OF_SEXES = (
    ("female females woman women", "male males man men"),
    ("femenino femenina mujer mujeres", "masculino masculina hombre hombres varon varones"),
    ("feminin feminine femme femmes", "masculin homme hommes"),
    ("weiblich frau frauen", "mannlich maennlich mann manner"),
    ("feminino mulher mulheres", "masculino homem homens"),
    ("femmina femmine femminile donna donne", "maschio maschi maschile uomo uomini"),
    ("vrouw vrouwen vrouwelijk", "man mannen mannelijk"),
)
"""In each language of `category_words`, without accents."""

_CATEGORY_NAMED = {
    name: sex
    for sexes in _NAMES_OF_SEXES
    for sex, names in zip(_SEXES, sexes, strict=True)
    for name in names.split()
} | {
    without_separators(name): category
    for category, names in {
        "white": ["caucasian", "white or caucasian"],
        "black": ["african american", "black or african american"],
        "asian": ["asian american"],
        "hispanic": ["latino", "latina", "latinx", "hispanic or latino"],
        "pacificislander": [
            "native hawaiian or other pacific islander",
            "native hawaiian or pacific islander",
        ],
        "nativeamerican": [
            "american indian",
            "am. indian",
            "amer. indian",
            "american indian or alaska native",
            "american indian or alaskan native",
            "ai/an",
        ],
        "twoormoreraces": [
            "two or more races",
            "two or more",
            "2 or more races",
            "2 or more",
            "2+ races",
            "multiracial",
            "multiple races",
            "mixed race",
        ],
    }.items()
    for name in names
}
"""By other names that forms give a sex, race or ethnicity, its shortest one."""
