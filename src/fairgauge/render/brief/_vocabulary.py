"""What a report calls rows, people, decisions, outcomes and groups, in the user's words."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairgauge.catalogue.cells import FN, FP, TN, TP, Cells
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Favourable,
    GroupKind,
    ReferenceKind,
    Task,
    Threshold,
)
from fairgauge.identity import FeatureId, GroupId
from fairgauge.question.presets import preset, preset_names
from fairgauge.question.wording import Words, read_words
from fairgauge.render.words.display_names import all_called, called
from fairgauge.render.words.numbers import listing, numbered
from fairgauge.render.words.question_sentences import (
    OUTCOMES,
    counts_people,
    positive_words,
    score_words,
    unit,
    unit_of,
)
from fairgauge.resolve.excluded_rows import unit_excluded
from fairgauge.results.disadvantage import Compared, favourable_in, favourable_of, other_group
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import ClassScope, Diagnostic
from fairgauge.results.verdicts import Verdict

NamedGroup = tuple[str, str, FeatureId | None, GroupId | None]

ANY_DECISION = ("a positive decision", "a negative decision")
"""What decisions are called without words of the user, where no one column holds them."""
NO_CHANGE_SHOWN = "“No change is shown” does not mean that nothing changed."
UNFAIR = "Whether a difference is unfair."
_PLACE = re.compile(r"{([^{}]*)}")
_PEOPLE = {"female": "women", "male": "men"}
_NOUNS = {"applicants", "candidates", "defendants", "employees", "patients", "people", "workers"}
"""Nouns of people, before which their adjectives stand; of others nobody knows what they are."""
_OF_SEX = {"female": "female", "male": "male", "women": "female", "men": "male"}
_OF_RACE = {
    name.casefold(): name
    for name in (
        "African-American", "African American", "Asian", "Black", "Caucasian", "Hispanic",
        "Latino", "Native American", "White",
    )
}  # fmt: skip
_ADJECTIVES = {"sex": _OF_SEX, "gender": _OF_SEX, "race": _OF_RACE, "ethnicity": _OF_RACE}
"""Values of a column that are adjectives of people."""


_NEEDED = {**dict.fromkeys(OUTCOMES, "an outcome"), "weight": "a weight", "count": "a count"}
_DECISIONS = ("positive", "negative")


def excluded_in_words(notes: Iterable[Diagnostic]) -> Iterator[str]:
    """Yield which rows are excluded, from the notes of a result."""
    excluded = [
        f"{numbered(note['rows'], note.get('unit') or 'rows')} ({called(note['reason'])})"
        for note in notes
        if note.code is DiagnosticCode.EXCLUDED
    ]
    if excluded:
        yield f"Excluded: {listing(excluded, most=len(excluded))}."


def without_outcome(
    result: str,
    excluded: Mapping[str, Mapping[str, int]],
    needed: Collection[str] = OUTCOMES,
    units: Mapping[str, str] = {},
) -> Iterator[str]:
    """Yield that no result allows for what is missing, if a ``needed`` outcome or weight is.

    ``excluded`` has the rows by reason, by the words for where they are; ``units`` have by those
    words what is counted there, where these are no rows.

    >>> print(*without_outcome("No change", {"": {"missing label": 40}}))
    No change allows for what rows without an outcome would have shown: 40 rows (missing label).
    """
    names = {f"missing {each}": name for each, name in _NEEDED.items() if each in needed}
    missing = {
        (where, reason): f"{numbered(rows, unit_excluded(reason, units.get(where, 'rows')))}{where}"
        for where, by_reason in excluded.items()
        for reason, rows in by_reason.items()
        if rows and reason in names
    }
    if missing:
        of = {unit_excluded(reason, units.get(where, "rows")) for where, reason in missing}
        without = listing(list(dict.fromkeys(names[reason] for _, reason in missing)), "or")
        found = [f"{rows} ({called(reason)})" for (_, reason), rows in missing.items()]
        yield (
            f"{result} allows for what {of.pop() if len(of) == 1 else 'cases'} without {without} "
            f"would have shown: {listing(found)}."
        )


def interval_in_words(confidence: float = 0.95) -> str:
    """Return what an interval is, for whom has never met one.

    >>> print(interval_in_words())
    95% CI (confidence interval): 95 of 100 such ranges contain the true value
    """
    level = f"{100 * confidence:.4g}"
    return f"{level}% CI (confidence interval): {level} of 100 such ranges contain the true value"


def widened_in_words(confidence: float, changes: int) -> str:
    """Return what the interval of a change is that is judged together with others."""
    of = numbered(changes, "changes")
    return f"{interval_in_words(confidence)}; those of {of} are tested together."


def of_any_class(words: Vocabulary) -> Vocabulary:
    """Return the words of a rule that is about each class."""
    made = words.at(ClassScope(ClassKind.CLASS, "that class"))
    made.fits = _fits("the predicted class, and for each class that class or not,")
    return made


def _fits(what: str) -> tuple[str, str]:
    """Return that a prediction matches the outcome, and that it does not."""
    return f"{what} is right", f"{what} is wrong"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that rows are counted for.

    Attributes
    ----------
    happened : as a verb phrase of the past: "were approved", "repaid".
    among : people to whom it happened, after their name: "who were approved", "who repaid".
    happens : as a verb phrase in general, for headlines: "are approved".
    equals : the column and its value where no words name what happened: "repaid = yes".
    """

    happened: str
    among: str
    happens: str
    equals: str = ""

    @classmethod
    def of_value(cls, equals: str) -> Event:
        """Return that a column has a value."""
        return cls(f"had {equals}", f"with {equals}", f"have {equals}", equals)


class Vocabulary:
    """The words of one result.

    Parameters
    ----------
    spec : what the result was asked, with the table ``words``.
    groups : the groups of its features, each with what it is where the result holds that.
    decisions : of decisions without words of the user, the nouns of the positive one and of the
        negative one: ``("a score of at least 0.5", "a score below 0.5")``. By default the column
        that the specification names states them.
    unit : what rows are without a word of the user, by default what the specification counts.
    repeated : whether several rows are of one person, so that counts of them are not of people; so
        are those of a specification with clusters.
    """

    def __init__(
        self,
        spec: Mapping[str, Any],
        groups: Iterable[NamedGroup] = (),
        *,
        decisions: tuple[str, str] | None = None,
        unit: str | None = None,
        repeated: bool = False,
    ) -> None:
        self.spec = spec
        self.words, self.favourable = words_of(spec), favourable_of(spec)
        self.unit = self.words.unit or unit or unit_of(spec)
        repeated = repeated or bool(spec.get("cluster"))
        self.noun = self.words.noun or (self.unit if repeated else "people")
        of_people = self.noun in _NOUNS or counts_people(spec)
        self.which = "that" if self.noun == self.unit and not of_people else "who"
        self.decisions = decisions
        self.decisions_by_cut: dict[float, tuple[str, str]] = {}
        self.cut: str | None = None
        self.fits = ("the decision matches the outcome", "the decision does not match the outcome")
        """What is counted of decisions beside outcomes, and its opposite."""
        named = list(groups)
        self._features = {feature: feature_id for feature, _, feature_id, _ in named}
        self._groups = {(feature, group): group_id for feature, group, _, group_id in named}
        self._values: dict[str, set[str]] = {}

    @classmethod
    def of_report(cls, report: Report) -> Vocabulary:
        """Return the words of a report of an audit."""
        given = report.spec.get("threshold") or ()
        several_cuts = () if isinstance(given, str) or len(given) == 1 else tuple(given)
        scores, *by_cut = (score_words(report, at) for at in (None, *several_cuts))
        several = any(each.code is DiagnosticCode.REPEATED_ID for each in report.diagnostics)
        words = cls(
            report.spec,
            ((g.feature, g.group, g.feature_id, g.group_id) for g in report.groups),
            decisions=None if report.spec.get("prediction") else scores,
            unit=unit(report, "cases" if report.data.cases != report.data.rows else "rows"),
            repeated=several,
        )
        if words.decisions is not None:
            words.decisions_by_cut = dict(zip(several_cuts, by_cut, strict=True))
        if report.task is Task.MULTICLASS:
            words.fits = _fits("the predicted class")
        return words

    def at(self, scope: ClassScope, threshold: float | None = None) -> Vocabulary:
        """Return the words of one class, one cut of ordered levels, or one threshold of several.

        Its events are the class, the levels above it, or the scores beyond it. Which of several
        classes is the better one for a person nobody stated.
        """
        decisions = self.decisions_by_cut.get(math.nan if threshold is None else threshold)
        if scope.name is None and decisions is None:
            return self
        words = copy.copy(self)
        if decisions is not None:
            words.decisions = decisions
            decision = f"the decision at {threshold:g}"
            words.fits = f"{decision} matches the outcome", f"{decision} does not match the outcome"
        else:
            words.cut, words.fits = scope.name, _fits(f"“{called(scope.name)}” or not")
            if self.decisions is not None and scope.kind is not ClassKind.SELECTION:
                the_class = f"decision “{called(scope.name)}”"
                words.decisions = f"the {the_class}", f"another than the {the_class}"
        words.favourable = favourable_in(self.favourable, scope)
        return words

    def event(self, cells: Cells) -> Event | None:
        """Return what a sum of cells counts; None where it is no decision and no outcome."""
        if cells in (TP + FP, TN + FN):
            return self._decision(positive=cells == TP + FP)
        if cells in (TP + FN, TN + FP):
            return self._outcome(positive=cells == TP + FN)
        return None

    @property
    def _decision_words(self) -> tuple[str, str]:
        """Return the words of the user for decisions; none of a median, which selects nobody."""
        scored = self.spec.get("score") and not self.spec.get("prediction")
        if scored and self.spec.get("threshold") == Threshold.MEDIAN:
            return "", ""
        return self.words.positive, self.words.negative

    def _decision(self, *, positive: bool) -> Event:
        if (event := self._participle(positive=positive)) is not None:
            return event
        if self.decisions is not None:
            equals = self.decisions[0 if positive else 1]
        else:
            equals = self._equals(self.spec.get("prediction") or "prediction", positive=positive)
        return Event.of_value(equals)

    @property
    def _decided_by_label(self) -> bool:
        """Return whether words of the user for decisions can only be of the label."""
        own = self.spec.get("words") or {}
        labels = self.words.label_positive or self.words.label_negative
        decided = self.spec.get("prediction") or self.spec.get("score")
        return bool(own.get("positive") or own.get("negative")) and not (labels or decided)

    def _participle(self, *, positive: bool) -> Event | None:
        """Return a decision in the words of the user; without one of its own, not the other."""
        word, other = self._decision_words if positive else self._decision_words[::-1]
        word = word or (other and f"not {other}")
        if not word or self.cut is not None:
            return None
        return Event(f"were {word}", f"{self.which} were {word}", f"are {word}")

    def _outcome(self, *, positive: bool) -> Event:
        word = self.words.label_positive if positive else self.words.label_negative
        if word and self.cut is None:
            return Event(word, f"{self.which} {word}", word)
        event = self._participle(positive=positive) if self._decided_by_label else None
        if event is not None:
            return event
        equals = self._equals(self.spec.get("label") or "label", positive=positive)
        return Event.of_value(equals)

    def _equals(self, column: object, *, positive: bool) -> str:
        asked = self.spec.get("positive")
        if self.cut is not None:
            return f"{called(column)} {'=' if positive else 'other than'} {called(self.cut)}"
        if isinstance(asked, dict) and "ordered" in asked:
            order = " > ".join(called(level) for level in asked["ordered"])
            return f"{called(column)} {'above' if positive else 'below'} a cut of the order {order}"
        if not asked:  # 1 or true, 0 or false: other values are refused
            return f"{called(column)} = {'1' if positive else '0'}"
        if isinstance(asked, dict) and column in asked:  # favourable values of each column
            asked = asked[str(column)]
        values = positive_words(asked)
        if isinstance(asked, dict):
            return f"{called(column)} {'' if positive else 'not '}{values}"
        return f"{called(column)} {'=' if positive else 'other than'} {values}"

    def positive_sentence(self) -> str | None:
        """Return what a positive decision stands for; None where no one value is positive."""
        asked, column = self.spec.get("positive"), self.spec.get("label")
        column = column or self.spec.get("prediction")
        if not column or (isinstance(asked, dict) and "ordered" in asked):
            return None
        equals = self._equals(column, positive=True)
        value = {
            Favourable.POSITIVE: f"the favourable outcome, {equals}",
            Favourable.NEGATIVE: f"the unfavourable outcome, {equals}",
        }.get(self.favourable, equals)
        how = "" if asked else " or true (assumed, not stated)"
        if self.spec.get("label"):
            return f"A positive decision (“selected”, “accepted”) predicts {value}{how}."
        return f"“Positive”, “selected” and “accepted” stand for {value}{how}."

    def both(self, cells: Cells) -> str:
        """Return a decision or an outcome with its opposite: "approved or refused"."""
        words = self.words
        if cells == TP + FP or (self._decided_by_label and self.cut is None):
            first, second = self._decision_words
        else:
            first, second = words.label_positive, words.label_negative
        if first or second:
            return f"{first or second} or {second if first and second else 'not'}"
        event = self.event(cells)
        return "" if event is None else event.equals or event.among

    def among(self, cells: Cells) -> str:
        """Return whom a rate is among, after the people's name; empty of all."""
        event = self.event(cells)
        return "" if event is None else event.among

    def group(self, feature: str | None, group: str | None) -> str:
        """Return what the people of a group are called: "women", "people with sex Female".

        No group is called as those are who are not in a group: that of the value "Other" is
        "people with race “Other”", whatever its name or pattern is.
        """
        feature, group = str(feature), str(group)
        found = self._groups.get((feature, group))
        if found is not None and found.kind is GroupKind.OTHERS:
            return AllPeople(self.noun, other=True)
        names = self.words.groups.get(feature)
        named = ""
        if isinstance(names, str):
            named = self._by_pattern(names, feature, group)
        elif names is not None and group in names:
            named = called(names[group])
        if named and not _is_pronoun(named):
            return named
        return self._by_default(self._parts(feature, group))

    def _by_default(self, parts: Mapping[str, str]) -> str:
        """Return what people are called of whom the user states no words.

        Adjectives of people stand before the noun: "Black women", "applications of Black women".
        Of other values the column states what they are: "people with sex F".
        """
        found = {column: self._adjective(column, value) for column, value in parts.items()}
        adjectives = sorted(filter(None, found.values()), key=_PEOPLE.__contains__)  # sex last
        others = [
            f"{called(column)} {group_value(value)}"
            for column, value in parts.items()
            if found[column] is None
        ]
        noun, of = self.noun, ""
        if adjectives and self.which != "who":
            noun, of = "people", f"{self.noun} of "
        if noun == "people" and adjectives and adjectives[-1] in _PEOPLE:
            noun = _PEOPLE[adjectives.pop()]
        named = f"{of}{' '.join([*adjectives, noun])}"
        return f"{named} with {listing(others)}" if others else named

    def _adjective(self, column: str, value: str) -> str | None:
        """Return the adjective that a value is; none that would be of two values alike.

        None either where the user has words for the column or for other units than people, and of
        a race that stands alone among values of another kind: a White and a Red wine.
        """
        known = _ADJECTIVES.get(column.casefold(), {})
        adjective = known.get(value.casefold())
        stated = self.words.groups.get(column) or (self.words.unit and not self.words.noun)
        if adjective is None or stated or (self.which == "who" and self.noun not in _NOUNS):
            return None
        if column not in self._values:
            parts = (self._parts(*group) for group in self._groups)
            self._values[column] = {each[column] for each in parts if column in each}
        alike = {each for each in self._values[column] if known.get(each.casefold()) == adjective}
        races = {known.get(each.casefold()) for each in self._values[column]} - {None}
        alone = known is _OF_RACE and len(races) < 2
        return None if alone or alike - {value} else adjective

    def word_of(self, feature: str | None, group: str | None) -> str | None:
        """Return what a group is called where this does not hold its value: "women" of Female."""
        name = self.group(feature, group)
        held = f" {group} ".casefold() in f" {re.sub('[“”]', '', name)} ".casefold()
        return None if held else name

    def feature(self, feature: str | None, together: str = " together") -> str:
        """Return a feature in words: "sex", "sex and race together"."""
        found = self._features.get(str(feature))
        if found is None or len(found.columns) == 1:
            return called(feature)
        return f"{all_called(found.columns)}{together}"

    def _by_pattern(self, pattern: str, feature: str, group: str) -> str:
        values: dict[str, str] = {"value": called(group), "noun": self.noun}
        for column, value in self._parts(feature, group).items():
            names = self.words.groups.get(column)
            named = names.get(value) if names is not None and not isinstance(names, str) else None
            values[column] = called(named or value)
        if any(place not in values for place in _PLACE.findall(pattern)):
            return ""
        return _PLACE.sub(lambda found: values[found[1]], pattern)

    def _parts(self, feature: str, group: str) -> Mapping[str, str]:
        """Return the value of a group in each column of its feature."""
        feature_id, group_id = self._features.get(feature), self._groups.get((feature, group))
        if feature_id is None or group_id is None or not group_id.parts:
            return {feature: group}
        names = (part.name() for part in group_id.parts)
        return dict(zip(feature_id.columns, names, strict=True))

    def reference(self, contrast: Compared) -> str:
        """Return what the people are called with whom a group is compared.

        Of two groups all others are the other one.
        """
        reference = contrast.reference
        if reference is None or reference.kind is ReferenceKind.POPULATION:
            return "the population"
        if reference.group is not None:
            return self.group(contrast.feature, reference.group)
        if reference.kind is ReferenceKind.OVERALL:
            return AllPeople(self.noun)
        if (other := self.other_group(contrast)) is None:
            return AllPeople(self.noun, other=True)
        return self.group(contrast.feature, other)

    def other_group(self, contrast: Compared) -> str | None:
        """Return the one group that a group is compared with; None of several together."""
        return other_group(self._groups, contrast)

    def has_several_others(self, contrast: Compared) -> bool:
        """Return whether a group is compared with several others together."""
        of_others = contrast.reference is not None and (
            contrast.reference.kind is ReferenceKind.OTHERS
        )
        return of_others and self.other_group(contrast) is None


def place_in_words(scope: ClassScope, threshold: float | None) -> str:
    """Return the class, and of several thresholds the one, that a number is of, in brackets.

    >>> place_in_words(ClassScope(ClassKind.CLASS, "high"), 0.3)
    ' (class high, threshold 0.3)'
    """
    details = []
    if scope.average is not None:
        details.append(f"{scope.average} average")
    elif scope.name is not None:
        kind = "" if scope.kind is ClassKind.SELECTION else "class "
        details.append(f"{kind}{called(scope.name)}")
    if threshold is not None:
        details.append(f"threshold {threshold:g}")
    return f" ({', '.join(details)})" if details else ""


def place_of(words: Vocabulary, each: Estimate | Verdict) -> str:
    """Return the class, and of several thresholds the one, of a comparison, in brackets."""
    threshold = each.threshold if each.threshold in words.decisions_by_cut else None
    return place_in_words(each.class_scope, threshold)


def taken_as_better(words: Vocabulary, *, assumed: bool) -> str | None:
    """Return which decision, or outcome, is taken as the better one, unless words name it."""
    decision = words.spec.get("prediction")
    column = decision or words.spec.get("label")
    if not column or words.favourable is Favourable.NEITHER:
        return None
    event = words.event(TP + FP if decision else TP + FN)
    equals = f"{called(column)} = 1" if assumed or event is None else event.equals
    if not equals:
        return None
    side = "better" if words.favourable is Favourable.POSITIVE else "worse"
    named = f"“{equals}”{'' if words.spec.get('positive') else ' (or true)'} is"
    if not assumed:
        return f"{named} the {side} outcome (stated)."
    return (
        f"{named} taken as the {side} outcome for a person, since nobody stated which one is: who "
        "is worse off may be the reverse."
    )


def words_of(spec: Mapping[str, Any]) -> Words:
    """Return the words that a result was asked with, those of its preset where it states none.

    A preset speaks of people only where people are counted: of rows that may be of one person, it
    speaks of rows.
    """
    name = spec.get("preset")
    by_default = dict(preset(name).words) if name in preset_names() else {}
    if "unit" in by_default:
        of_both = by_default["noun" if counts_people(spec) else "unit"]
        by_default |= {"noun": of_both, "unit": of_both}
    given = spec.get("words") or {}
    if given.get("positive") or given.get("negative"):  # a decision and its opposite are one choice
        by_default = {key: word for key, word in by_default.items() if key not in _DECISIONS}
    return read_words({**by_default, **given}, "words", [])


class AllPeople(str):
    """All people, or all other ones, who are called otherwise after a number of them."""

    noun: str
    other: bool

    def __new__(cls, noun: str, *, other: bool = False) -> AllPeople:
        """Return what they are called where nothing stands before them."""
        found = super().__new__(cls, f"all other {noun}" if other else f"all {noun}")
        found.noun, found.other = noun, other
        return found


_ONE = {"rows": "row", "cases": "case", "people": "person"}


def some(people: str, of: str = "") -> str:
    """Return people after a number of them.

    >>> some("women"), some(AllPeople("people", other=True)), some(AllPeople("people"))
    ('women', 'other people', 'people overall')
    >>> some("rows with sex F", of="1")
    'row with sex F'
    """
    if not isinstance(people, AllPeople):
        unit, space, which = people.partition(" ")
        return f"{_ONE.get(unit, unit)}{space}{which}" if of == "1" else people
    return f"other {people.noun}" if people.other else f"{people.noun} overall"


_PRONOUNS = {"all", "any", "both", "each", "none", "not", "other", "others", "rest", "same", "than"}


def such(people: str) -> str:
    """Return people after a number of them to whom the condition of those before applies as well.

    >>> such("men"), such("other workers"), such(AllPeople("people", other=True))
    ('such men', 'such other workers', 'other such people')
    """
    if isinstance(people, AllPeople) and people.other:
        return f"other such {people.noun}"
    return f"such {some(people)}"


def _is_pronoun(name: str) -> bool:
    """Return whether a name begins as one for nobody in particular: "other people"."""
    return name.casefold().partition(" ")[0] in _PRONOUNS


def group_value(value: str) -> str:
    """Return a value of a group, in quotation marks where a sentence would read on through it.

    >>> group_value("Asian"), group_value("Other"), group_value("Not stated")
    ('Asian', '“Other”', '“Not stated”')
    """
    return f"“{called(value)}”" if _is_pronoun(value) else called(value)


def joined(people: str, condition: str) -> str:
    """Return people with a condition: "women who repaid".

    >>> joined("people with sex F", "with repaid = yes")
    'people with sex F and repaid = yes'
    """
    if " with " in people and condition.startswith("with "):
        return f"{people} and {condition.removeprefix('with ')}"
    return f"{people} {condition}".rstrip()
