"""The document tree: what a report or a comparison shows, before it is text, Markdown or HTML.

Documents are built once (`document`) and walked by every renderer.
Texts are plain and hold users' names as they are; a walker makes them harmless in its own format.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from fairgauge.enums import Outcome
from fairgauge.results.shown_result import Brief
from fairgauge.start.records import dataclass


class Tone(StrEnum):
    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    SOFT = "soft"


class Unit(StrEnum):
    PERCENT = "percent"
    POINTS = "points"
    RATIO = "ratio"
    HUNDREDTHS = "hundredths"
    NUMBER = "number"


class Block:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Heading(Block):
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph(Block):
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Items(Block):
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts(Block):
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Code(Block):
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A number with its confidence interval, on the axis of a chart or of a table's column."""

    value: float | None
    low: float | None = None
    high: float | None = None
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: a text, what stands below it in small letters, and how it is meant.

    ``name`` is whether it is a user's name.
    """

    text: str
    below: str = ""
    tone: Tone = Tone.PLAIN
    name: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    heading: str
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table(Block):
    # what it shows; text and Markdown show it where it is ``titled``, because no heading
    # above names the table
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[tuple[Cell, ...], ...] = ()  # rows below a rule: all rows together
    notes: tuple[str, ...] = ()
    stacked: bool = False  # whether a narrow window shows each row as a list of labelled cells
    titled: bool = False
    id: str = ""  # the anchor, of a table that can be searched and may be long


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of a chart: whose number it is, the number, and in words what stands beside it."""

    label: str
    mark: Mark
    text: str
    below: str = ""
    before: Mark | None = None  # another number that it is compared with
    emphasis: bool = False  # whether it stands out, as a total does


@dataclass(frozen=True, slots=True)
class Chart(Block):
    """Numbers with their confidence intervals on one axis, a row each."""

    caption: str
    rows: tuple[ChartRow, ...]
    unit: Unit
    neutral: float | None = None  # the number that means "no difference", if there is one
    notes: tuple[str, ...] = ()
    legend: str = ""  # what its marks mean, for formats that draw them


@dataclass(frozen=True, slots=True)
class TimeChart(Block):
    """One number over time, or against another number, with its confidence intervals."""

    caption: str
    times: tuple[str, ...]  # the periods, and the number in each; a mark without a value is a gap
    marks: tuple[Mark, ...]
    unit: Unit
    # the range that a rule tolerates, open ends as infinities
    allowed: tuple[float, float] | None = None
    # the positions of the periods with which a change began and that raised an alarm
    since: int | None = None
    alarm: int | None = None
    notes: tuple[str, ...] = ()
    # in place of periods the numbers that stand across, named by ``times``, with their range
    across: tuple[Mark, ...] = ()
    across_unit: Unit = Unit.NUMBER
    across_allowed: tuple[float, float] | None = None
    strong: int | None = None  # the position of the point that stands out


@dataclass(frozen=True, slots=True)
class Curve:
    """The numbers of a group against others, and its counts below the columns of the chart."""

    label: str
    across: tuple[float, ...]
    marks: tuple[Mark, ...]
    counts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CurveChart(Block):
    """Shares of several groups against another share, and the diagonal of equal ones."""

    caption: str
    across: str
    upwards: str
    curves: tuple[Curve, ...]
    columns: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class DotArray:
    """A hundred people as dots, some of them filled."""

    filled: int
    # how many more would be filled at the rate of the other side; fewer, where negative
    ringed: int
    people: str  # what follows the number: "of 100 women"
    counted: str  # what was counted, "826 of 2,282"; empty of weighted or protected rows
    name: str  # what the array shows, in words


@dataclass(frozen=True, slots=True)
class DotArrays(Block):
    """Two arrays of dots below the sentence that states them, first that of the worse off.

    ``key`` is what a filled dot, a ringed one and a pale one are.
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
    """What a rule comes to for a group."""

    counts: str  # the rates of both sides, "36 v 53"; the value where there are no counts
    mark: Mark  # the number on the axis; it and its interval in words
    interval: str
    outcome: Outcome
    notes: tuple[str, ...] = ()  # the letters of the notes below that are of it


@dataclass(frozen=True, slots=True)
class RuleGrid(Block):
    """Every rule for every group, the worst rows of each feature first."""

    caption: str
    rules: tuple[GridRule, ...]
    # the rows by feature, each with a title; a group has its value in the data below its
    # name, as tables have it. A cell is None where a rule judges nothing
    parts: tuple[tuple[str, tuple[tuple[Cell, tuple[GridCell | None, ...]], ...]], ...]
    notes: tuple[str, ...] = ()
    legend: str = ""  # what its marks mean, for formats that draw them


@dataclass(frozen=True, slots=True)
class SignOff(Block):
    """Room for names, dates and signatures of the roles that the language names, on paper."""


@dataclass(frozen=True, slots=True)
class Section(Block):
    id: str  # its anchor and heading
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False  # whether it opens on demand where a renderer can
    short: str = ""  # its name in a list of contents; without one it is not listed


@dataclass(frozen=True, slots=True)
class DocumentTree:
    title: str  # what it is called
    beside: str  # what stands beside the title in few words, such as the number of rows
    lead: tuple[str, ...]  # what was asked, in one or two sentences
    cover: tuple[tuple[str, str], ...]  # who made it, of what, for what
    verdict: str  # what all rules come to, in few words; empty without rules
    tone: Tone
    sections: tuple[Section, ...]  # its parts
    created: str  # when and by which fairgauge it was made
    version: str
    brief: Brief  # the sentences of its first page, for readers without statistics
    # what stands beside what they found: arrays of dots, the grid of rules, charts
    exhibits: tuple[Block, ...] = ()
    # what the whole record has besides, where this is not the whole
    not_shown: tuple[str, ...] = ()
    subject: str = ""  # whose verdict it is, where the verdict alone does not state it
    # what may invalidate the whole, the gravest in words, and how many there are
    warnings: tuple[str, ...] = ()
    warned: int = 0
    file_name: str = "report"  # the file that is proposed for it, without its suffix
    # the document that a preset calls for, which is among its sections too
    to_publish: tuple[Block, ...] = ()


def charts_of(part: DocumentTree | Section) -> Iterator[Block]:
    """Yield the charts of a document, or of a section and those within it."""
    for each in part.blocks if isinstance(part, Section) else (*part.exhibits, *part.sections):
        if isinstance(each, Section):
            yield from charts_of(each)
        elif isinstance(each, (Chart, TimeChart, RuleGrid)):
            yield each
