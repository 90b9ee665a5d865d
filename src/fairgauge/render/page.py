"""ONE builder of first pages: every statement in every place for which its language has a text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fairgauge.render.grammar import LANGUAGES, Grammar, plain
from fairgauge.render.language import ASKED
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.describers import function_at
from fairgauge.results.shown_result import ShownResult
from fairgauge.results.statement import Page, Statement

PLACES = ("looked", "found", "certain", "limits", "next")
MOST = {"looked": 9, "found": 9, "certain": 9, "limits": 4, "next": 3}


@dataclass(frozen=True, slots=True)
class Told:
    """A page in words: the same for every format; each sentence with its statement."""

    language: Grammar
    headline: str
    headed: Statement | None
    verdict: tuple[tuple[str, Statement], ...]
    answers: tuple[tuple[str, str, tuple[tuple[str, Statement], ...]], ...]
    page: Page = field(repr=False)


def tell(page: Page, language: str = "en", words: dict[str, Any] | None = None) -> Told:
    """Return a page in one language, in the words of the user for it."""
    g = LANGUAGES[language](page.words if words is None else page.words | words)
    if not (g.words.get("positive") or g.words.get("negative")):
        g.words |= g.table["page"].get("decision", {}).get(page.kind, {})
    g.env.globals |= {"inf": float("inf")}

    def said(place: str) -> tuple[tuple[str, Statement], ...]:
        texts = [(text, s) for s in page.statements if (text := g.say(s.code, place, s))]
        if place == "next":
            texts = [(acted(g, text), s) for text, s in texts]
        return tuple(dict(texts).items())[: MOST.get(place)]

    headline, headed = next(iter(said("headline")), ("", None))
    titles = g.table["page"]
    compared = [s for s in page.statements if s.code in ("differs", "headline") and s.shown]
    undirected = any(s.code == "state_direction" for s in page.statements)
    asked = g.made(titles["found"][page.kind]).render(
        neutral=bool(compared or undirected) and not any(s.harm == "worse" for s in compared),
        alarms=any(s.code == "alarm" for s in page.statements),
    )
    answers = [
        (place, asked if place == "found" else titles[place], said(place)) for place in PLACES
    ]
    return Told(
        g, headline, headed, said("verdict"), tuple(each for each in answers if each[2]), page
    )


def acted(g: Grammar, text: str) -> str:
    """Return a step after who takes it: the code before the colon names them."""
    actor, _, step = text.partition(": ")
    return f"{g.table['actor'][actor]}: {step}"


def counts_of(g: Grammar, s: Statement) -> str:
    """Return both sides of a cell of the grid as counts, "36 v 53"; its value where it has none."""
    shares = s.of is not None and s.of.kind in ("share", "fit", "misfit")
    found = g.counted(s) if shares else None
    if found and found["hundred"]:
        return f"{found['mine']} v {found['theirs']}"
    if found and found["per"] is None:
        return f"{found['mine']}/{found['of']} v {found['theirs']}/{found['n']}"
    return g.say("cell", "value", s) or ""


def brief_of_page(told: Told) -> Brief:
    """Return a page as the brief that every writer of today shows."""
    answers = {
        place: tuple(Sentence(text, s.sources) for text, s in said)
        for place, _, said in told.answers
    }
    question = next((question for place, question, _ in told.answers if place == "found"), "")
    parts = {
        "looked_at": "looked",
        "found": "found",
        "certainty": "certain",
        "limits": "limits",
        "steps": "next",
    }
    return Brief(
        headline=Sentence(told.headline, _sources(told.headed)),
        verdict=tuple(Sentence(text, s.sources) for text, s in told.verdict),
        question=question,
        language=next(name for name, of in LANGUAGES.items() if type(told.language) is of),
        headings=tuple(told.language.table["page"][place] for place in PLACES if place != "found"),
        **{name: answers.get(place, ()) for name, place in parts.items()},
    )


def _sources(headed: Statement | None) -> tuple[str, ...]:
    """Return the sources of a headline, and of what it states beside."""
    every = () if headed is None else (headed, *headed.parts)
    return tuple(dict.fromkeys(source for each in every for source in each.sources))


def told(result: ShownResult) -> Told:
    """Return the first page of a result in the language that is asked for."""
    page: Page = function_at(result.KIND.page)(result)
    language, words = ASKED.get()
    if language != "en":  # words that a result was asked with are English
        page = replace(page, words={key: page.words[key] for key in _KEPT if key in page.words})
    return tell(page, language, dict(words))


_KEPT = ("favourable", "values")
"""What of the words of a page is of no language."""


def brief_of(result: ShownResult) -> Brief:
    """Return the first page of a result as every writer shows it."""
    return brief_of_page(told(result))


def stated(stated_by: str, place: str, *parts: Any) -> str:
    """Return what a part of a result states, without words of the user."""
    s: Statement = function_at(stated_by)(*parts)
    return plain().say(s.code, place, s) or ""
