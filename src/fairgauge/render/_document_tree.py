"""The document tree: what a report or a comparison shows, before it is text, Markdown or HTML.

Documents are built once (`document`) and walked by every renderer.
Texts are plain and hold users' names as they are; a walker makes them harmless in its own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from fairgauge.enums import Outcome
from fairgauge.results.brief import Brief
from fairgauge.results.scopes import Interval


class Tone(StrEnum):
    """How a text is meant."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    SOFT = "soft"


class Unit(StrEnum):
    """What the numbers of a chart are."""

    PERCENT = "percent"
    POINTS = "points"
    RATIO = "ratio"
    HUNDREDTHS = "hundredths"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading between blocks."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph.

    Attributes
    ----------
    text, tone : what it states, and how it is meant.
    spare : 0 where it is always shown; of others, the highest is omitted first where one screen has
        no room.
    about : what it is about, for the list of what is not shown; of paragraphs that can be spared.
    """

    text: str
    tone: Tone = Tone.PLAIN
    spare: int = 0
    about: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences, numbered or not."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of a word and what it is."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Text that is shown as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A number with its confidence interval, on the axis of a chart or of a table's column."""

    value: float | None
    low: float | None = None
    high: float | None = None
    sparse: bool = False


def mark_of(value: float | None, interval: Interval | None, *, sparse: bool = False) -> Mark:
    """Return a number with its confidence interval, where it has one."""
    low, high = interval or (None, None)
    return Mark(value, low, high, sparse)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : what it shows.
    below : what stands below it in small letters.
    tone : how it is meant.
    name : whether it is a user's name.
    """

    text: str
    below: str = ""
    tone: Tone = Tone.PLAIN
    name: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading : what it holds.
    numeric : whether it holds numbers.
    joined : whether it belongs to the column before it.
    """

    heading: str
    numeric: bool = True
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes
    ----------
    caption : what it shows; renderers without captions may leave it to the heading above.
    columns, rows : its columns and cells.
    totals : rows below a rule: all rows together.
    notes : what stands below it.
    stacked : whether a narrow window shows each row as a list of labelled cells.
    titled : whether text and Markdown show its caption, because no heading above it names it.
    id : the anchor, of a table that can be searched and may be long.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    stacked: bool = False
    titled: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of a chart.

    Attributes
    ----------
    label : whose number it is.
    mark : the number; ``before`` is another that it is compared with.
    text, below : the number in words, and what stands below it.
    badge, tone : the outcome of a rule, and how it is meant.
    emphasis : whether it stands out, as a total does.
    start : of a part of a sum, where the parts before it end; the mark is where this one does.
    """

    label: str
    mark: Mark
    text: str
    below: str = ""
    badge: str = ""
    tone: Tone = Tone.PLAIN
    before: Mark | None = None
    emphasis: bool = False
    start: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Numbers with their confidence intervals on one axis, a row each.

    Attributes
    ----------
    caption, link : what it shows, and where the glossary explains it.
    rows : the numbers.
    unit : what they are.
    neutral : the number that means "no difference", if there is one.
    allowed : the range that a rule allows, open ends as infinities.
    notes : what stands below it.
    legend : what its marks mean, for formats that draw them.
    """

    caption: str
    rows: tuple[ChartRow, ...]
    unit: Unit
    neutral: float | None = None
    allowed: tuple[float, float] | None = None
    link: str = ""
    notes: tuple[str, ...] = ()
    legend: str = ""


@dataclass(frozen=True, slots=True)
class TimeChart:
    """One number over time, with its confidence intervals or against a threshold.

    Attributes
    ----------
    caption : what it shows.
    times, marks : the periods, and the number in each; a mark without a value is a gap.
    unit : what the numbers are.
    running : the running number of all periods so far, with its confidence sequence, in each.
    allowed : the range that a rule tolerates, open ends as infinities.
    threshold : the number that raises an alarm; numbers are then drawn by their logarithms.
    since, alarm : the positions of the periods with which a change began and that raised an alarm.
    notes : what stands below it.
    """

    caption: str
    times: tuple[str, ...]
    marks: tuple[Mark, ...]
    unit: Unit
    running: tuple[Mark, ...] = ()
    allowed: tuple[float, float] | None = None
    threshold: float | None = None
    since: int | None = None
    alarm: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DotArray:
    """A hundred people as dots, some of them filled.

    Attributes
    ----------
    filled : how many are filled.
    ringed : how many more would be filled at the rate of the other side; fewer, where negative.
    people : what follows the number: "of 100 women".
    counted : what was counted, "826 of 2,282"; empty of weighted or protected rows.
    name : what the array shows, in words.
    """

    filled: int
    ringed: int
    people: str
    counted: str
    name: str


@dataclass(frozen=True, slots=True)
class DotArrays:
    """Two arrays of dots below the sentence that states them.

    Attributes
    ----------
    sentence : the sentence.
    arrays : of the group that is worse off, and of the one it is compared with.
    key : what a filled dot, a ringed one and a pale one are.
    """

    sentence: str
    arrays: tuple[DotArray, DotArray]
    key: tuple[str, str, str]

    @property
    def longest(self) -> int:
        """Return how long the longer of the texts beside the numbers is."""
        return max(len(each.people) for each in self.arrays)


@dataclass(frozen=True, slots=True)
class GridRule:
    """A rule as the heading of a column: in words, and its axis; see `Chart`."""

    words: str
    text: str
    unit: Unit
    neutral: float | None
    allowed: tuple[float, float]


@dataclass(frozen=True, slots=True)
class GridCell:
    """What a rule comes to for a group.

    Attributes
    ----------
    counts : the rates of both sides, "36 v 53"; the value where there are no counts.
    mark, interval : the number on the axis; it and its interval in words.
    outcome : what it comes to.
    notes : the letters of the notes below that are of it.
    """

    counts: str
    mark: Mark
    interval: str
    outcome: Outcome
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleGrid:
    """Every rule for every group, the worst rows of each feature first.

    Attributes
    ----------
    caption : what it shows.
    rules : the columns.
    parts : the rows by feature, each with a title; a group has its value in the data below its
        name, as tables have it. A cell is None where a rule judges nothing.
    notes : what stands below it.
    legend : what its marks mean, for formats that draw them.
    """

    caption: str
    rules: tuple[GridRule, ...]
    parts: tuple[tuple[str, tuple[tuple[Cell, tuple[GridCell | None, ...]], ...]], ...]
    notes: tuple[str, ...] = ()
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the glossary."""

    anchor: str
    name: str
    title: str
    text: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Glossary:
    """What every name in a document means."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class ScoreCharts:
    """Curves of scores: drawn where scripts or pictures can be."""


@dataclass(frozen=True, slots=True)
class SignOff:
    """Room for names, dates and signatures, on paper."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document.

    Attributes
    ----------
    id, title : its anchor and heading.
    blocks : what it holds, in order.
    folded : whether it opens on demand where a renderer can.
    short : its name in a list of contents; without one it is not listed.
    """

    id: str
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False
    short: str = ""


Block: TypeAlias = (
    Heading
    | Paragraph
    | Items
    | Facts
    | Code
    | Table
    | Chart
    | TimeChart
    | DotArrays
    | RuleGrid
    | Glossary
    | ScoreCharts
    | SignOff
    | Section
)


@dataclass(frozen=True, slots=True)
class DocumentTree:
    """A whole document.

    Attributes
    ----------
    title : what it is called.
    beside : what stands beside the title in few words, such as the number of rows.
    lead : what was asked, in one or two sentences.
    warnings, warned : what may invalidate the whole, the gravest in words, and how many there are.
    cover : who made it, of what, for what.
    verdict, tone : what all rules come to, in few words; empty without rules.
    subject : whose verdict it is, where the verdict alone does not state it.
    sections : its parts.
    not_shown : what the whole record has besides, where this is not the whole.
    created, version : when and by which fairgauge it was made.
    file_name : the file that is proposed for it, without its suffix.
    to_publish : the tables that a preset calls for, which are among its sections too.
    brief : the sentences of its first page, for readers without statistics.
    exhibits : what stands beside what they found: arrays of dots, the grid of rules, charts.
    filed : what follows the first page in a short PDF: what an auditor keeps with it.
    """

    title: str
    beside: str
    lead: tuple[str, ...]
    cover: tuple[tuple[str, str], ...]
    verdict: str
    tone: Tone
    sections: tuple[Section, ...]
    created: str
    version: str
    brief: Brief
    exhibits: tuple[Block, ...] = ()
    not_shown: tuple[str, ...] = ()
    subject: str = ""
    warnings: tuple[str, ...] = ()
    warned: int = 0
    file_name: str = "report"
    to_publish: tuple[Table, ...] = ()
    filed: tuple[Block, ...] = ()
