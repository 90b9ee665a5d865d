"""Words for sides, events and numbers in one language; the texts that use them are data.

`Grammar` is English; another language overrides what differs (`German`). Everything else of a
language is in its file of texts.
"""

# mypy: disable-error-code="no-any-return"
# Texts are read from files.
from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import jinja2

from fairgauge.cube.plan import cut_options
from fairgauge.enums import DOUBTS, Level
from fairgauge.errors import listing as listing_of_names
from fairgauge.errors import quote
from fairgauge.question.options import flag_of
from fairgauge.question.recoding import recoding_flag
from fairgauge.reasons import WITHOUT_METHOD, Reason, ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.streams import toml_of_all
from fairgauge.render.words import ASKED, in_language, numbers
from fairgauge.render.words.display_names import (
    BAND,
    called,
    capitalised,
    group_called,
    within_quotes,
)
from fairgauge.render.words.metric_words import metric_words, shown, written_rule_words
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import plug_in_packages
from fairgauge.results.statement import Event, Side, Statement
from fairgauge.start.compiled import compile_once
from fairgauge.values import is_number, reading, spelling

_PLACE = re.compile(r"\{([^{}]*)\}")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_HUNDRED = 100


_FILTERS = (
    "name", "whom", "such", "some", "now", "was", "equals", "both", "count", "counted",
    "range", "pick", "even", "means", "changes", "feature", "names", "by_side", "points",
    "insufficient", "reason", "left_out", "about", "share_of", "under", "spelt", "after_number",
)  # fmt: skip
"""Methods of a language that are filters of its texts, by their names."""


class Templates(jinja2.Environment):
    """An environment whose templates are compiled once, and not in each process."""

    def compile(self, source: Any, name: Any = None, filename: Any = None, *options: Any) -> Any:
        set_ = f"{self.autoescape} {self.trim_blocks} {self.finalize is not None}"
        how = f"jinja {jinja2.__version__} {set_} {name}"
        make = super().compile
        return compile_once(source, how, lambda text: make(text, name, filename, *options))


class Grammar:
    """One language: its texts, with the words that a result was asked with."""

    texts = "en.toml"
    thousands, decimal = ",", "."

    def __init__(self, words: Mapping[str, Any]) -> None:
        texts = ("texts/wordless.toml", f"texts/{self.texts}")
        self.table = toml_of_all(plug_in_packages(), *texts)
        self.terms, self.people = self.table["terms"], self.table["people"]
        self.words = dict(words)
        self.unit = self.words.get("unit") or "rows"
        usual = self.people["noun"] if self.unit in self.terms["plural"] else self.unit
        self.noun = self.words.get("noun") or usual
        of_rows = self.noun == self.unit and self.noun not in self.people["nouns"]
        self.which = self.people["that" if of_rows else "who"]
        # texts are plain: writers escape what they write
        self.env = Templates(autoescape=False, undefined=Missing, trim_blocks=True)
        self._templates: dict[str, jinja2.Template] = {}
        self.env.filters |= {name: getattr(self, name) for name in _FILTERS} | {
            "aux": lambda e, n="": self.event(e)["one" if n == "1" else "aux"],
            "part": lambda e: self.event(e)["part"],
            "often": lambda e: self.was(e) + "," * e.once,
            "who": lambda e: self.event(e)["who"],
            "of": self.numbered,
            "called": called,
            "within_quotes": within_quotes,
            "cap": capitalised,
            "series": self.listing,
            "sizes": lambda i: [
                self.localised(end.lstrip("-")) for end in ends_of((i.low, i.high), _HUNDRED)
            ],
            "num": self.number,
            "colname": lambda c: self.feature((c, None)),
            "level": lambda r: f"{100 * r.level:.4g}",
            "abs": abs,
            "space": lambda text: f" {text}" if text else "",
            "quoted_name": quote,
            "described": self.note,
            "rule_words": written_rule_words,
            "metric": metric_words,
            "rate_title": self.title,
            "after": lambda text, mark: f"{mark}{text}" if text else "",
            "before": lambda text, mark: f"{text}{mark}" if text else "",
            "g": lambda v: self.localised(f"{v:g}"),
            "sentence": lambda parts: f"{'; '.join(filter(None, parts))}." if any(parts) else "",
            "fixed": lambda v, digits, unit="": f"{self.decimals(v, digits)}{unit}",
            "signed": lambda v, digits: self.decimals(v, digits, sign=True),
            "prob": numbers.probability,
            "in_feature": group_called,
            "named": listing_of_names,
            "shell": shlex.quote,
            "beside": lambda v, limits: f"{v:,.{numbers.decimals_beside(v, limits, 0)}f}",
            "pct": lambda v: self.localised(f"{100 * v:.1f}%"),
            "percent": lambda v: self.localised(numbers.percent(v)),
            "amount": lambda v: self.localised(numbers.amount(v)),
            "all_called": lambda each, *how: self.listing([*map(called, each)], *how),
            "shown_value": lambda v: v if v == v.strip() != "" else quote(v),
            "numeric": lambda values: any(map(is_number, map(reading, values))),
            "repr": lambda v: repr(v) if isinstance(v, str) else str(v),
        }
        self.env.globals |= {
            "say": self.say,
            "inf": math.inf,
            "flag": flag_of,
            "recoded": recoding_flag,
            "cut_options": lambda column, cuts, *flag: cut_options(str(column), cuts, *flag),
            "terms": self.terms,
            "words": self,
            "table": self.table,
        }

    # ---- texts

    def say(
        self, code: str, place: str, s: Statement | None = None, /, **more: object
    ) -> str | None:
        """Return a statement in the words of a place; None where that place does not state it."""
        entry = self.table.get(code, {})
        text = entry.get(place, entry.get("else") if place in _KINDS else None)
        if isinstance(text, Mapping):
            kind = s.of.kind if s is not None and s.of is not None else "number"
            text = text.get(kind, text.get("else"))
        if text is None:
            return None
        facts = {} if s is None else s.facts
        return self.made(text).render(s=s, **{**facts, **more}).strip() or None

    def made(self, text: str) -> jinja2.Template:
        """Return a text as a template; each is compiled once."""
        if text not in self._templates:
            if text not in _COMPILED:
                _COMPILED[text] = self.env.compile(text)
            made = jinja2.Template.from_code(self.env, _COMPILED[text], self.env.globals)
            self._templates[text] = made
        return self._templates[text]

    # ---- numbers and lists

    def localised(self, text: str) -> str:
        return text

    def cell(self, text: str) -> str:
        """Return the numbers of a cell, which are made as English writes them."""
        return text

    def title(self, name: str) -> str:
        """Return what a rate is called."""
        found: str = self.terms.get("titles", {}).get(name, called(name))
        return found

    def count(self, value: float) -> str:
        return self.localised(f"{value:,.0f}" if value == int(value) else f"{value:,.1f}")

    def number(self, value: float | str, digits: int = 4) -> str:
        """Return a number with few digits, its minus sign a minus sign; a text as it is."""
        if isinstance(value, str):
            return value
        return self.localised(significant(value, digits)).replace("-", "−")

    def even(self, value: float, s: Statement) -> str:
        """Return a number of a rule in the digits of a column, on its own side of the limits."""
        limits = tuple(filter(math.isfinite, s.facts["limits"]))
        kind = Unit.RATIO if s.by == "ratio" else Unit.NUMBER
        return self.localised(shown(value, kind, limits=limits))

    def decimals(self, value: float, digits: int, *, sign: bool = False) -> str:
        """Return a number in so many decimals, also with the sign of a difference."""
        text = f"{value:{'+' * sign},.{digits}f}"
        text = text if float(text.replace(",", "")) else text.lstrip("+-")
        return self.localised(text).replace("-", "−")

    def about(self, value: float) -> str:
        """Return a number of rows to collect: two digits, rounded up."""
        step = 10 ** max(0, math.floor(math.log10(value)) - 1)
        return self.count(math.ceil(value / step) * step)

    def points(self, value: float) -> str:
        """Return a difference in percentage points, signed."""
        return self.localised(numbers.points(value))

    def pick(self, value: float, forms: Sequence[str]) -> str:
        """Return the form of a word for a number: one, or many."""
        return forms[0] if value == 1 else forms[-1]

    def numbered(self, value: float, unit: str) -> str:
        """Return so many of a unit: "1 row", "2,000 rows"; a unit of the user is plural."""
        one = self.terms["plural"].get(unit, unit.removesuffix("s"))
        return f"{self.count(value)} {one if value == 1 else self.terms['many'].get(unit, unit)}"

    def after_number(self, people: str, number: str) -> str:
        """Return so many people, whose name is a plural: "23 women", of one "women (n = 1)"."""
        return f"{people} (n = 1)" if number == "1" else f"{number} {people}"

    def listing(self, items: Sequence[str], last: str = "and", most: int = 8) -> str:
        """Join words as a sentence does, and count those that are too many to name."""
        items = [str(each) for each in items]
        joined = self.terms[{"between": "and_between"}.get(last, last)]
        if (more := len(items) - most) > 1:  # one more is named
            return self.terms["more"].format(first=", ".join(items[:most]), n=self.count(more))
        return f" {joined} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))

    # ---- people

    def name(self, side: Side | None, case: str = "nominative") -> str:
        """Return what people are called: "women", "all other people", "people with sex F"."""
        if side is None:
            return ""
        if side.kind != "group":
            return self.inflected(self.people[side.kind].format(noun=self.noun), case)
        names = self.words.get("groups", {}).get(str(side.feature))
        named, value = "", " & ".join(v for _, v in side.values)
        if isinstance(names, str):
            named = self.by_pattern(names, side, value)
        elif names is not None:
            named = called(names.get(value, names.get(", ".join(v for _, v in side.values), "")))
        if not named or named.split(" ")[0].casefold() in self.people["pronouns"]:
            named = self.by_default(side)
        return self.inflected(named, case)

    def by_pattern(self, pattern: str, side: Side, value: str) -> str:
        values = {"value": called(value), "noun": self.noun}
        for column, own in side.values:
            names = self.words["groups"].get(column)
            values[column] = called(names.get(own, own) if isinstance(names, Mapping) else own)
        if any(p not in values for p in _PLACE.findall(pattern)):
            return ""
        return _PLACE.sub(lambda m: values[m[1]], pattern)

    def by_default(self, side: Side) -> str:
        """Return what people are called without words: adjectives of people before the noun."""
        plain, parts = self.people["plain"], list(side.values)
        usable = self.noun in self.people["nouns"] or self.which != self.people["who"]
        of_ours = self.words.get("unit") in (None, "rows", "cases", "people")
        usable = usable and bool(of_ours or self.words.get("noun"))
        adjectives: list[str] = []
        others: list[str] = []
        for column, value in parts:
            own = self.words.get("groups", {}).get(column)
            if usable and not own and (found := self.adjective(column, value)):
                adjectives.append(found)
            elif re.match(rf"{re.escape(column)}\b", value, flags=re.IGNORECASE):
                others.append(f"“{within_quotes(value)}”")
            else:
                others.append(f"{called(column)} {self.quoted(value)}")
        adjectives = sorted(adjectives, key=lambda word: word in plain)
        noun, of = self.noun, ""
        if adjectives and self.which != self.people["who"]:
            noun, of = self.people["noun"], f"{self.noun} {self.people['of']} "
        if noun == self.people["noun"] and adjectives and adjectives[-1] in plain:
            noun = plain[adjectives.pop()]
        named = f"{of}{' '.join([*adjectives, noun])}"
        return f"{named} {self.people['with']} {self.listing(others)}" if others else named

    def adjective(self, column: str, value: str) -> str | None:
        """Return the adjective that a value is; none that would be of two values alike.

        None either of a race alone among values of another kind: a White and a Red wine.
        """
        feature = re.sub(r"\s*\(self\b.*\)$", "", column.casefold())  # "Gender (self-reported)"
        known = self.people["adjectives"].get(feature, {})
        adjective: str | None = known.get(value.casefold())
        every = self.words.get("values", {}).get(column)
        if adjective is None or every is None:
            return adjective
        named = {each: known[each.casefold()] for each in every if each.casefold() in known}
        alike = [each for each, of in named.items() if of == adjective and each != value]
        alone = adjective not in self.people["plain"] and len(set(named.values())) < 2
        return None if alike or alone else adjective

    def quoted(self, value: str) -> str:
        """Return a value, in quotation marks where a sentence would read on through it."""
        if band := self.band(value):
            return band
        pronoun = value.casefold().partition(" ")[0] in self.people["pronouns"]
        return f"“{called(value)}”" if pronoun else called(value)

    def band(self, value: str) -> str | None:
        """Return a range of numbers in words; None of what is none."""
        if (band := BAND.fullmatch(value)) is None:
            return None
        opens, low, high, closes = band.groups()
        kind = f"below{closes}" if low == "-inf" else f"between{opens}{closes}"
        kind = f"above{opens}" if high == "inf" else kind
        return str(self.terms["bands"][kind]).format(low=low, high=high)

    def heading(self, side: Side) -> str:
        """Return people as a table calls them: by their value where nobody gave them a name."""
        if side.kind == "group" and side.feature not in self.words.get("groups", {}):
            return called(" & ".join(value for _, value in side.values))
        return self.name(side)

    def inflected(self, name: str, case: str) -> str:  # noqa: ARG002
        """Return a name in its case, of which English has one."""
        return name

    def some(self, side: Side, case: str = "nominative") -> str:
        """Return people after a number of them: "women", "other people"."""
        if side.kind in ("others", "everyone", "rows"):
            return self.inflected(self.people[f"some_{side.kind}"].format(noun=self.noun), case)
        return self.name(side, case)

    def whom(self, s: Statement, side: str = "who", case: str = "nominative") -> str:
        """Return people with whom a number is among: "women who repaid"."""
        who = getattr(s, side)
        people = self.some(who, case) if side == "some" else self.name(who, case)
        return self.joined(people, s.of.among if s.of is not None else None)

    def joined(self, people: str, among: Event | None) -> str:
        """Return people with a condition, joined to one that the name has."""
        if among is None:
            return people
        condition, start = self.event(among)["who"], f"{self.people['with']} "
        if f" {start}" in people and condition.startswith(start):
            return f"{people} {self.terms['and']} {condition.removeprefix(start)}"
        mark = " " if condition.startswith(start) else self.people["clause"]
        return f"{people}{mark}{condition}"

    def such(self, s: Statement, case: str = "nominative", *, some: bool = False) -> str:
        """Return the other side, "such" where the condition applies to it as well."""
        if s.than is None or s.of is None or s.of.among is None:
            return self.some(s.than, case) if some and s.than else self.name(s.than, case)
        text = self.people["such_others"].format(noun=self.noun)
        if s.than.kind != "others":
            text = self.people["such"].format(people=self.some(s.than))
        return self.inflected(text, case)

    def place(self, s: Statement) -> str:
        """Return the class and the threshold that a number is of, in brackets."""
        facts = s.facts
        named = [
            self.terms["place"][key].format(value=write(value))
            for key, write in (("average", called), ("class_", called), ("at", self.number))
            if (value := facts.get(key)) is not None
        ]
        return f" ({', '.join(named)})" if named else ""

    def judged(self, s: Statement, *, place: bool = True) -> str:
        """Return whom a rule is of: of a number without a group, the groups that it compares."""
        if s.who is None:
            feature, group = s.facts.get("feature"), s.facts.get("group")
            if feature is not None:
                return self.terms["groups_of"].format(feature=self.feature((feature, None)))
            return self.terms["all" if group is None else "group"].format(name=called(group))
        named = self.name(s.who)
        if s.facts.get("across") and s.than is not None:
            named = f"{named} {self.terms['and']} {self.name(s.than)}"
        stated = place or s.of is None or s.of.event is None
        return f"{named}{self.place(s)}" if stated else named

    def reason(self, reason: Reason, **facts: object) -> str:
        """Return why something is undefined, has no interval or decides nothing, as a clause.

        ``facts`` stand in place of its own, such as a limit in the unit of a metric.
        """
        texts = self.table["reason"]
        side = texts["side"].get(reason.side, "")
        of_side = {"the_side": side, "in_side": side and texts["in_side"].format(side=side)}
        text = texts[reason.code]
        said = self.made(text).render({"unit": "rows"} | of_side | dict(reason.parameters) | facts)
        return said if not side or "_side" in text else f"{side}: {said}"

    def insufficient(self, reasons: Iterable[Reason | None]) -> str:
        """Return in few words why data decide nothing: in general, or for the minimum asked."""
        every: list[Reason | None] = []
        for each in reasons:
            every += each["reasons"] if each and each.code is ReasonCode.ALL_OF else (each,)
        known = [part for part in every if part is not None]
        said, rest = [], []
        for part in known:
            if part.code is ReasonCode.SMALL_GROUP:
                said.append(self._few("below_minimum", part))
            elif part.code in WITHOUT_METHOD:
                said.append(self._few("no_interval", part))
            else:
                rest.append(part)
        if rest or len(known) < len(every) or not every:
            codes = {part.code for part in rest}
            code = next(iter(codes)) if len(codes) == 1 else None
            place = str(code) if code in (_CLUSTERS, ReasonCode.RATIO_MAY_BE_ZERO) else "data"
            if code in (ReasonCode.CONSTANT_SCORE, ReasonCode.ONE_VALUE):
                place = "because"
            elif code is ReasonCode.FEW_EXPECTED:
                same = all(part["expected"] == 0 for part in rest)
                place = "one_outcome" if same else "rare_outcome"
            said.insert(0, self._few(place, *rest[:1]))
        return f" {self.terms['or']} ".join(dict.fromkeys(said))

    def _few(self, place: str, *reasons: Reason) -> str:
        facts: dict[str, object] = {"unit": "rows"}
        for each in reasons:
            facts |= dict(each.parameters)
            if place in ("because", "no_interval"):
                facts["why"] = self.reason(each)
        return self.say("few_data", place, **facts) or ""

    def because(self, reason: Reason | None) -> str:
        """Return why an estimate decides nothing: a minimum that was asked speaks for itself."""
        if reason is not None and reason.code is ReasonCode.SMALL_GROUP:
            return self.reason(reason)
        place, of = ("data", ()) if reason is None else ("because", (reason,))
        return self._few(place, *of)

    def note(self, d: Diagnostic, part: str | None = None) -> str:
        """Return a note or a warning, or a part of it, without a capital and a full stop."""
        texts = self.table.get("diagnostic", {})
        if (part or d.code) not in texts:  # what full documents alone state is in English
            with in_language("en"):  # the metrics that it names, too
                return english().note(d, part)
        facts = {"unit": "rows", "d": d, "feature": d.feature, "definition": d.definition}
        said = self.made(texts[part or d.code]).render(facts | dict(d.parameters)).strip()
        if part is None and d.get("accepted"):
            return self.made(texts["accepted"]).render(text=said)
        withholds = d.level is Level.WARNING and d.get("withholds") is None
        if part is None and withholds and d.code in DOUBTS:
            column = d.feature or d.get("column") or next(iter(d.get("columns") or ()), None)
            said = self.made(texts["accept"]).render(text=said, d=d, column=column)
        if part is None and d.get("options") is False and "--" in said:
            return self.made(texts["of_audits"]).render(text=said)
        return said

    def share_of(self, number: float, total: float, unit: str) -> str:
        """Return a share with its numbers: "12.0% of the rows (120 of 1,000)"."""
        facts = {"share": self.localised(f"{100 * number / total:.1f}"), "total": self.count(total)}
        many = self.terms["many"].get(unit, unit)
        return self.terms["share_of"].format(unit=many, number=self.count(number), **facts)

    def under(self, value: float, minimum: float, unit: str = "") -> str:
        """Return a number that is below a minimum with the digits that show it."""
        digits = next(d for d in range(2, 17) if float(f"{value:.{d}g}") < minimum or d == 16)
        shown = numbers.amount(value, digits)
        return f"{self.localised(shown)} {unit.removesuffix('s') if shown == '1' else unit}".strip()

    def left_out(self, why: str) -> str:
        """Return why rows are excluded, as saved counts word it."""
        known: str | None = self.terms.get("excluded", {}).get(why)
        lacking = self.terms.get("lacking")
        if known or not lacking or not why.startswith("missing "):
            return known or called(why)
        return str(lacking.format(name=called(why.removeprefix("missing "))))

    def spelt(self, values: Sequence[str]) -> str:
        """Return in what names of one value differ."""
        forms = set(map(spelling, values))
        stops = len(forms) > len({form.rstrip(".") for form in forms}) == 1
        how = "case" if len(forms) == 1 else "stop" if stops else "form"
        return str(self.table["diagnostic"]["spelt"][how])

    def names(
        self, parts: Sequence[Statement], most: int = 3, last: str = "and", *, place: bool = False
    ) -> str:
        """Return whom statements are of, each once; of one column it is named once."""
        people = list(dict.fromkeys(self.judged(each, place=place) for each in parts))
        if parts and parts[0].facts.get("across"):
            return self.listing(people, "between", most)
        feature = parts[0].who.feature if parts and parts[0].who else ""
        lead = f"{self.noun} {self.people['with']} {called(feature or '')} "
        plain = not any(self.place(each) for each in parts)
        if len(people) > 1 and plain and all(each.startswith(lead) for each in people):
            return lead + self.listing([each.removeprefix(lead) for each in people], "or", most)
        return self.listing(people, last, most)

    def by_side(self, parts: Sequence[Statement]) -> list[list[Statement]]:
        """Return statements that fare alike, the worse off first, each with one direction."""
        sides: dict[str, list[Statement]] = {}
        for s in parts:
            place, than_all = ("worse", "better", None).index(s.harm), s.facts.get("than_all")
            fares = f"{place}{bool(than_all)}{s.lower if s.harm is None else None}"
            sides.setdefault(fares, []).append(s)
        return [sides[key] for key in sorted(sides)]

    def feature(self, feature: Any) -> str:
        """Return a feature: "sex", "sex and race together"."""
        name, columns = feature
        named = [self.words.get("features", {}).get(c, called(c)) for c in columns or [name]]
        if len(named) == 1:
            return named[0]
        return self.people["together"].format(columns=self.listing(named))

    # ---- events

    def event(self, event: Event) -> dict[str, str]:
        """Return what happened: the verb and its part, in general, and as a condition of people."""
        kind = self.kind(event)
        words = self._words_of(event, kind)
        own, opposite = words if event.positive else reversed(words)
        word, denied = own, self.people["not"].format(word=opposite)
        if kind == "decision" and opposite and not own:
            word = denied
        if not word:
            kind, word = "value", self.equals(event)
        if event.once:
            unsaid = not event.positive and (
                word == denied or word not in (own, self.equals(event))
            )
            when = "once" if event.positive else "never" if unsaid else "always"
            word = self.people[when].format(word=opposite if unsaid else word)
        texts = self.table["events"][kind].items()
        return {name: text.format(word=word, which=self.which) for name, text in texts}

    def _words_of(self, event: Event, kind: str) -> list[str | None]:
        # the user's words of what happened, and of its opposite
        label = "" if kind == "decision" else "label_"
        names = (f"{label}positive", f"{label}negative")
        return [self.words.get(name) if event.named else None for name in names]

    def kind(self, event: Event) -> str:
        """Return as what an event is named: an outcome as a decision if only these have words."""
        of_labels = self.words.get("label_positive") or self.words.get("label_negative")
        return "decision" if event.decides and not of_labels else event.kind

    def equals(self, event: Event) -> str:
        """Return the column and the value that it has: "repaid = yes"."""
        limit = self.terms["at_least" if event.positive else "below"]
        above = ">" if event.positive else "≤"
        to = "≤" if event.positive else ">"
        ops = {"=": "=", "not": self.terms["other_than"], "from": limit, "above": above, "to": to}
        op = ops[event.op]
        values = [called(v) for v in event.values] or [self.terms["that_class"]]
        return f"{called(event.column)} {op} {self.listing(values, 'or')}"

    def was(self, event: Event, n: str = "") -> str:
        forms = self.event(event)
        return " ".join(filter(None, (forms["one" if n == "1" else "aux"], forms["part"])))

    def now(self, event: Event) -> str:
        return " ".join(filter(None, (self.event(event)["now"], self.event(event)["part"])))

    def both(self, event: Event) -> str:
        """Return a decision or an outcome with its opposite: "approved or refused"."""
        first, second = self._words_of(event, self.kind(event))
        if first or second:
            other = second if first and second else self.terms["not"]
            return f"{first or second} {self.terms['or']} {other}"
        return self.equals(event)

    # ---- two numbers, and how far they are apart

    def counted(self, s: Statement) -> dict[str, Any] | None:
        """Return both shares as counts of one number of people; None where they have none."""
        sides = [share for share in map(_share, (s.who, s.than)) if share is not None]
        if len(sides) < len((s.who, s.than)):
            return None
        interval = s.interval if s.by == "difference" else None

        def is_faithful(counts: Sequence[int], of: int) -> bool:
            """Return whether counts differ within the interval, and as it is shown."""
            apart = (counts[0] - counts[1]) / of
            if s.shown and s.lower is not None and (apart == 0 or (apart < 0) != s.lower):
                return False
            if interval is None:
                return True
            low, high = interval.low, interval.high
            return low <= apart <= high and (apart != 0 or low <= 0 <= high)

        of, counts = common_counts(sides, is_faithful)
        if of is None and not all(whole for _, _, whole in sides):
            return None
        sizes = [of or size for _, size, _ in sides]
        exact = sides[0][2] or bool(s.facts.get("exact"))
        return {
            "of": self.count(sizes[0]), "n": self.count(sizes[1]),
            "mine": self.count(counts[0]), "theirs": self.count(counts[1]), "exact": exact,
            "hundred": of == _HUNDRED, "counts": tuple(counts), "per": of,
            "rounded": bool(s.facts.get("rounded")),
        }  # fmt: skip

    def changes(self, s: Statement) -> dict[str, Any] | None:
        """Return both sides before and after as counts of one number of people."""
        both = zip(s.was or (), (s.who, s.than), strict=True)
        sides: list[Any] = [(_share(was), _share(now)) for was, now in both if now is not None]
        if any(None in pair for pair in sides):
            return None
        found = counted_changes(sides)
        if found is None:
            return None
        (of, every), word, gaps = found, f"{self.terms['of']} ", None
        mine, *theirs = ([self.localised(e).replace("of ", word) for e in own] for own in every)
        if of and theirs:
            gaps = [
                count_of(one, of) - count_of(other, of) for one, other in zip(*sides, strict=True)
            ]
        return {"of": of, "mine": mine, "theirs": theirs[0] if theirs else None, "gaps": gaps}

    def range(self, s: Statement) -> str:
        """Return the interval in words: "between 14 and 20 fewer of 100"; of ratios the ends."""
        assert s.interval is not None
        return self.ends((s.interval.low, s.interval.high), s)

    def ends(self, ends: tuple[float, float], s: Statement) -> str:
        texts = self.table["range"]
        if {*ends} == {1.0 if s.by == "ratio" else 0.0}:
            return self.terms["none"]
        if s.by == "ratio":
            decimals = 2  # what is not "as often" is not rounded onto it
            while decimals < _MOST_DECIMALS and any(round(e, decimals) == 1 != e for e in ends):
                decimals += 1
            low, high = (self.localised(f"{end:.{decimals}f}") for end in ends)
            form = "ratio" if math.isfinite(ends[1]) else "ratio_from"
            return texts[form].format(low=low, high=high)
        if s.of is not None and s.of.kind in ("mean", "number"):
            return self._amounts(ends, s)
        found = self.counted(s)
        per = found["per"] if found and found["per"] else _HUNDRED
        one_sided = ends[0] >= 0 or ends[1] <= 0
        sizes = size_words(ends, per) if one_sided else map(unsigned, ends_of(ends, per))
        near, far = (self.localised(size) if size else self.terms["none"] for size in sizes)
        form = "both" if not one_sided else "more" if ends[1] > 0 else "fewer"
        return texts[form].format(near=near, far=far, low=near, high=far, of=self.count(per))

    def _amounts(self, ends: tuple[float, float], s: Statement) -> str:
        texts, decimals = self.table["range"], decimals_for(self._scale(s))
        while decimals < _MOST_DECIMALS and (
            any(round(e, decimals) == 0 != e for e in ends)
            or round(ends[0], decimals) == round(ends[1], decimals) != ends[0]
        ):
            decimals += 1
        written = [self.localised(number_text(abs(end), decimals)) for end in ends]
        known = zip(written, map(math.isfinite, ends), strict=True)
        sizes = [text if is_finite else texts["any"] for text, is_finite in known]
        if ends[0] < 0 < ends[1]:
            return texts["apart"].format(low=sizes[0], high=sizes[1])
        near, far = sizes if ends[1] > 0 else sizes[::-1]
        if far == texts["any"]:
            return texts["higher_from" if ends[1] > 0 else "lower_from"].format(near=near)
        return texts["higher" if ends[1] > 0 else "lower"].format(near=near, far=far)

    def _scale(self, s: Statement) -> float:
        apart = abs((s.who.rate or 0) - (s.than.rate or 0)) if s.who and s.than else 1.0
        ends = s.interval
        if ends is None or s.by == "ratio" or not ends.low <= 0 <= ends.high:
            return apart
        return max(apart, max(abs(ends.low), abs(ends.high)) / 10)

    def means(self, s: Statement) -> dict[str, object]:
        """Return both numbers and their distance, with decimals at which they add up."""
        mine, theirs = ((side and side.rate) or 0.0 for side in (s.who, s.than))
        (apart, one, other), agree = agreeing([abs(mine - theirs), mine, theirs], self._scale(s))
        return {
            "apart": self.localised(apart),
            "mine": self.localised(one),
            "theirs": self.localised(other),
            "agree": agree,
            "times": self.localised(f"{mine / theirs:.2f}") if mine > 0 and theirs > 0 else None,
            "off": [
                self.terms["exact"]
                if math.isclose(v, 0, abs_tol=_LEAST)
                else self.terms["too_low" if v < 0 else "too_high"].format(
                    size=self.localised(text.removeprefix("−"))
                )
                for v, text in ((mine, one), (theirs, other))
            ],
        }


class German(Grammar):
    """German: decimal commas, the dative after "von", and verbs around what they frame."""

    texts = "de.toml"

    def localised(self, text: str) -> str:
        return text.translate(str.maketrans(",.", ".,"))

    def cell(self, text: str) -> str:
        text = _NUMBER.sub(lambda number: self.localised(number[0]), text)
        text = re.sub(r" to (?=[−+∞\d])", " bis ", text)
        text = text.replace("% CI ", "-%-KI ").replace("CI ", "KI ")
        return re.sub(r"\bpp\b", "PP", text)

    def joined(self, people: str, among: Event | None) -> str:
        """Return people with a condition: a clause after a comma, or "with" a value."""
        if among is None or not self.comma(among):
            return super().joined(people, among)
        mark = f" {self.terms['and']} " if f", {self.which} " in people else ", "
        return f"{people}{mark}{self.event(among)['who']}"

    def comma(self, among: Event | None) -> str:
        """Return the comma that ends the clause of a condition."""
        clause = among is not None and not self.event(among)["who"].startswith(self.people["with"])
        return "," if clause else ""

    def inflected(self, name: str, case: str) -> str:
        """Return a plural in its case: in the dative the noun ends in -n, and adjectives in -en."""
        if case != "dative":
            return name
        first, mark, rest = name.partition(" mit ")
        words = [f"{word}n" if word.endswith("e") else word for word in first.split(" ")]
        ending = "" if words[-1][-1:] in ("n", "s") else "n"
        return f"{' '.join(words)}{ending}{mark}{rest}"


LANGUAGES: dict[str, type[Grammar]] = {"en": Grammar, "de": German}


@cache
def _language(name: str, plug_ins: tuple[str, ...]) -> Grammar:
    del plug_ins  # whose texts it has
    return LANGUAGES[name]({})


def spoken() -> Grammar:
    """Return the language that is asked for, without words of the user."""
    return _language(ASKED.get()[0], plug_in_packages())


def english() -> Grammar:
    """Return English without words of the user."""
    return _language("en", plug_in_packages())


def describe_reason(reason: Reason | None) -> str:
    """Return a reason as a clause, without a capital and a full stop; nothing of none.

    >>> few = Reason.of(ReasonCode.FEW_ROWS, n=1, minimum=20)
    >>> describe_reason(few), describe_reason(few.on("reference"))
    ('n = 1, below 20', 'n = 1 in the reference, below 20')
    """
    return spoken().reason(reason) if reason else ""


def in_words(word: str) -> str:
    """Return what a verdict comes to, in the words of the language that is asked for."""
    found: str = spoken().terms.get("in_words", {}).get(word, word)
    return found


def describe_diagnostic(diagnostic: Diagnostic) -> str:
    """Return a note or a warning, without a capital and a full stop."""
    return spoken().note(diagnostic)


def _share(side: Side | None) -> Share | None:
    if side is None or side.rate is None:
        return None
    if side.hits is None or not side.n:
        return Share(*side.rate.as_integer_ratio(), whole=False)
    return Share(side.hits, side.n)


_LEAST = 1e-12
_CLUSTERS = ReasonCode.FEW_CLUSTERS
_KINDS = frozenset({"share", "fit", "misfit", "mean", "number", "rank", "other"})
"""What a measure is, by which phrases differ; ``else`` is for those without a text of their own."""


_COMPILED: dict[str, CodeType] = {}


class Missing(jinja2.Undefined):
    """A fact that a statement lacks: false where it is asked for, an error where printed."""

    __str__ = jinja2.Undefined._fail_with_undefined_error  # noqa: SLF001


# ---- natural frequencies: two shares as counts of the same number of people, "36 of 100 and 53",
# which more readers understand than percentages (Gigerenzer & Hoffrage 1995). Both sides have one
# denominator, the smallest at which the counts state no more and no less than the shares do; below
# 100 people the counts themselves are stated.

DENOMINATORS = (100, 1_000, 10_000, 100_000)
_NEAR, _TOLERATED = Fraction(1, 10), Fraction(1, 400)
"""By how much of itself, and by how much at least, a stated difference may miss the true one."""
_DIGITS, _MOST_DECIMALS = 2, 6


class Share(NamedTuple):
    """How many of a group an event happened to.

    ``whole``: whether these are rows. Where rows are weighted or protected, no count stands for the
    share, and both are those of its number as a fraction.
    """

    hits: int
    size: int
    whole: bool = True

    @property
    def rate(self) -> Fraction:
        return Fraction(self.hits, self.size)


def count_of(share: Share, denominator: int) -> int:
    """Return a share as a count of so many people, rounded half up.

    >>> count_of(Share(826, 2_282), 100), count_of(Share(1, 8), 100)
    (36, 13)
    """
    hits, size, _ = share
    return (2 * hits * denominator + size) // (2 * size)


def is_stated(true: Sequence[Fraction], stated: Sequence[Fraction]) -> bool:
    """Return whether differences are stated to within a tenth, or a quarter of 1 in 100."""
    pairs = zip(true, stated, strict=True)
    return all(abs(near - size) <= max(_NEAR * abs(size), _TOLERATED) for size, near in pairs)


def counted_changes(
    sides: Sequence[tuple[Share, Share]],
) -> tuple[int | None, list[tuple[str, str, str]]] | None:
    """Return shares before and after as counts of one number of people, or as they were counted.

    Counts are of one number only where what readers take from them is stated (:func:`is_stated`):
    each change, the difference between both sides before and after, and how much larger that
    became. The change of the first side has its direction. They may be of 1,000, though fewer were
    counted: of sizes that differ the counts themselves are hard to compare.

    Returns
    -------
    The number of people, None where each is stated as it was counted; and of each side its number
    of people, and the counts before and after. None where there are no counts.

    >>> counted_changes([(Share(1_217, 2_214), Share(1_214, 2_214))])
    (1000, [('1,000', '550', '548')])
    >>> counted_changes([(Share(46, 80), Share(31, 50))])
    (None, [('80', '46', 'of 50, 31')])
    """
    shares = [share for side in sides for share in side]
    rates = [share.rate for share in shares]

    def is_right(counts: Sequence[int], of: int) -> bool:
        stated = [Fraction(count, of) for count in counts]
        moved, as_stated = rates[1] - rates[0], stated[1] - stated[0]
        same_direction = moved * as_stated > 0 or moved == 0
        return same_direction and is_stated(_differences(rates), _differences(stated))

    hundred, thousand, *_ = DENOMINATORS
    of, counts = common_counts(shares, is_right, at_least=(hundred, thousand))
    if of is not None:
        pairs = zip(counts[::2], counts[1::2], strict=True)
        return of, [(f"{of:,}", f"{old:,}", f"{new:,}") for old, new in pairs]
    if not all(share.whole for share in shares):
        return None
    return None, [
        (
            f"{old.size:,}",
            f"{old.hits:,}",
            f"{new.hits:,}" if new.size == old.size else f"of {new.size:,}, {new.hits:,}",
        )
        for old, new in sides
    ]


def _differences(rates: Sequence[Fraction]) -> list[Fraction]:
    changes = [after - before for before, after in zip(rates[::2], rates[1::2], strict=True)]
    if len(rates) == 2:
        return changes
    before, after = rates[0] - rates[2], rates[1] - rates[3]
    return [*changes, before, after, after - before]


def common_counts(
    shares: Sequence[Share],
    is_faithful: Callable[[Sequence[int], int], bool],
    at_least: tuple[int, int] = (0, 0),
) -> tuple[int | None, list[int]]:
    """Return shares as counts of one number of people, the smallest at which they are faithful.

    No count is 0, or all, unless the share is, and what the shares as they are stated come to is
    faithful. None, with the counts themselves, where no denominator, none larger than a group,
    serves all. ``at_least``: from which size on a group is as large as which other one.
    """
    fewest, larger = at_least
    sizes = [max(size, larger * (size >= fewest)) for _, size, whole in shares if whole]
    for denominator in DENOMINATORS:
        if denominator > min(sizes, default=denominator):
            break
        counts = [count_of(share, denominator) for share in shares]
        extreme = (
            count in (0, denominator) and hits * denominator != count * size
            for count, (hits, size, _) in zip(counts, shares, strict=True)
        )
        if not any(extreme) and is_faithful(counts, denominator):
            return denominator, counts
    return None, [hits for hits, _, _ in shares]


def size_words(interval: tuple[float, float], denominator: int) -> tuple[str, str]:
    """Return the ends of a difference of one sign as counts without it, the nearer one first.

    >>> size_words((-0.197, -0.143), 100)
    ('14', '20')
    """
    ends = ends_of(interval, denominator)
    near, far = sorted(ends, key=lambda end: abs(float(end.replace(",", ""))))
    return unsigned(near), unsigned(far)


def significant(value: float, digits: int) -> str:
    """Return a number in so many digits."""
    return f"{value:.{digits}g}"


def ends_of(interval: tuple[float, float], denominator: int) -> list[str]:
    """Return both ends as counts, with decimals where they would be the same."""
    low, high = interval
    ends = [_round_visibly(end * denominator) for end in interval]
    if low < high and ends[0] == ends[1]:
        ends = [_round_visibly(end * denominator, 2) for end in interval]
    return ends


def _round_visibly(value: float, decimals: int = 0) -> str:
    for digits in range(decimals, 7):
        text = f"{value:,.{digits}f}"
        if float(text.replace(",", "")) != 0 or value == 0:
            return text
    return significant(value, 1)


def unsigned(text: str) -> str:
    """Return the size of a number; nothing of 0."""
    number = text.lstrip("-")
    return number if float(number.replace(",", "")) else ""


def agreeing(values: Sequence[float], scale: float) -> tuple[list[str], bool]:
    """Return a distance and both its sides with decimals at which what is printed adds up."""
    first = decimals_for(scale)
    while first < _MOST_DECIMALS and any(round(value, first) == 0 != value for value in values):
        first += 1
    for decimals in (first, first + 1):
        distance, mine, theirs = (round(value, decimals) for value in values)
        if math.isclose(abs(mine - theirs), distance, abs_tol=10.0 ** -(decimals + 1)):
            return [number_text(value, decimals) for value in values], True
    return [number_text(value, first) for value in values], False


def decimals_for(scale: float) -> int:
    """Return how many decimals show two digits of a number."""
    if scale == 0 or not math.isfinite(scale):
        return _DIGITS
    return min(max(0, _DIGITS - 1 - math.floor(math.log10(scale))), _MOST_DECIMALS)


def number_text(value: float, decimals: int) -> str:
    """Return a number with so many decimals, never "-0"."""
    if math.isinf(value):
        return "∞"  # an end that the data do not bound
    text = f"{value:,.{decimals}f}"
    return numbers.minus(text if float(text.replace(",", "")) else text.removeprefix("-"))
