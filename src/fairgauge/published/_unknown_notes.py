"""Sentences around published tables that count people of unknown category."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fairgauge.errors import DataError
from fairgauge.published._header_words import role_of
from fairgauge.published.printed_numbers import MONTH, adjacent_numbers
from fairgauge.published.published_table import ColumnRole
from fairgauge.question.category_words import is_unknown

_MOST_NOTES = 100
_SENTENCE = re.compile(r"(?<=[^\W\d_][.!;])\s|\n")
_PERSONS = (
    r"(?:people|persons?|individuals?|applica(?:nt|tion)s?|candidates?|employees|participants)"
)
_PEOPLE = re.compile(
    r"(?<![\d.,])(?<!\bof )(\d{1,3}(?:,\d{3})+|\d+) (?:more |other |additional )?"
    rf"{_PERSONS}\b",
    re.IGNORECASE,
)
"""How many people, not of how many: in what stands around a table."""
_END = re.compile(
    r"\f|(?<=[^\W\d_][.!;])\s|(?<=[.!;])\s+(?=[A-Z*†])|(?<![a-z,])\n|\n(?!\s*[a-z0-9(])"
)
"""The end of a sentence; a line that goes on in lower case or with a number goes on with it."""
_RAISED = re.compile(r"<sup>(?:(?!<sup>).)*?</sup>", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|b|br|em|i|font|small|span|strong|u)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!][^<>]*>", re.IGNORECASE)
_EXCLUDED = re.compile(
    r"(?:\bnot|n['’]t)(?: (?:been|be|being|therefore|thus))* (?:includ|count|consider|part of|used"
    r"|reflected|shown|analy)|(?<!not )\b(?:exclud|omit|(?:left|leav\w+) out|remov|disregard)",
    re.IGNORECASE,
)
_INCLUDED = re.compile(r"(?<!not )\bincluded|\bnot (?:exclud|omit|remov)", re.IGNORECASE)
_SUBJECT = re.compile(
    rf"[0-9] (?:\w+ )?(?:{_PERSONS}|did(?:n['’]t)?|do|cho(?:se|ose)|declined?|prefer(?:red)?"
    r"|ha(?:d|ve))\b|[:(=] ?[0-9]",
    re.IGNORECASE,
)
"""A number of people, or behind a mark: one of a sentence that does not exclude them."""
_NOT_KNOWN = re.compile(
    r"(?:\b(?:no|without) (?:\w+ )?(?:data|information)"
    r"|\b(?:unknown|unspecified|undisclosed|undeclared|undetermined|unreported|missing"
    r"|declin(?:e|ed|ing)|prefer\w* not|cho(?:se|ose|oses|osing) not)"
    r"|(?:\bnot|n['’]t) (?:known|stat\w+|specif\w+|disclos\w+|provid\w+|report\w*|record\w*"
    r"|identif\w+|determin\w+|available|answer\w*|self-\w+|wish\w*|want\w*))\b"
    r"(?!(?: \w+)? (?:scores?|outcomes?|results?|decisions?|status|r[ée]sum[ée]s?|dates?"
    r"|interviews?|offers?|invitations?|tests?|assessments?|proceed|continue|participate|attend))",
    re.IGNORECASE,
)
"""Words of an unknown category; not those of an unknown score, or of an offer declined."""
_NO_TEXT = re.compile(
    rf"^\W*(?:(?:foot)?note |table |figure )?[0-9]{{1,2}}[.):]\s|^\W*\[\^?\w{{1,2}}\]:?"
    rf"|{MONTH} [0-9]{{1,2}}\b(?:,? [0-9]{{4}})?|(?:\b[0-9]{{1,2}} )?{MONTH} [0-9]{{4}}"
    rf"|\b[0-9]{{1,2}}\.? {MONTH}",
    re.IGNORECASE,
)
"""The number of a note, and dates."""
_COUNT = re.compile(
    r"(?<![\w.,/'’#§$€£-])(?:[0-9]{1,3}(?:[,'’\u00a0\u2009\u202f ][0-9]{3})+|[0-9]+)"
    r"(?![\w/%]|-\w|[.,:'’][0-9]| ?(?:%|per ?cent|years?\b|months?\b|days?\b|weeks?\b))"
)
_NUMBER = re.compile(
    rf"{_COUNT.pattern}|(?<![\w.,/'’#§$€£-])[0-9]+(?:[.,][0-9]+)*"
    r"(?![\w/]|-\w|[.,][0-9]| ?(?:years?|months?|days?|weeks?)\b)"
)
_SHARE = re.compile(r"\( ?[0-9.,]+ ?(?:%|per ?cent) ?\)")
_OF_ALL = re.compile(r"(?:\b(?:Out o|O)f|[,;:] (?:out )?of)(?: the| all| our| these)? $")
"""At the beginning of a sentence or a part of one: of how many people others are a part."""
_YEAR = re.compile(
    r"\b(in|of|for|during|since|until|till|from|to|through|by|and|between|years?)\W*$", re.I
)
_MARK = re.compile(rf"^\W*(?:[Nn]otes? )?[1-9] (?=[A-Z]|[0-9]{{1,3}},[0-9])(?!(?i:{_PERSONS})\b)")
"""The mark of a footnote, where another number follows."""
_MARK_OR_THOUSANDS = re.compile(
    r"(?:[-–•] |(?:foot)?notes? )?([1-9]) (?=[0-9]{3}(?![0-9]))", re.IGNORECASE
)
"""What begins as "2 390": the mark of a footnote and a number, or thousands."""
_OF_WHOM = re.compile(
    r",? (?:of (?:whom|these|them) ([0-9,]*[0-9])|([0-9,]*[0-9]) of whom) (?:was|were) (\w+)\b"
)
"""How many of the people of a sentence had an outcome, and its word."""
_BETWEEN_NOTES = re.compile(
    rf"(^[ \t]*(?:[Nn]ote )?[1-9] [A-Z].*)\n(?=[ \t]*{_MARK_OR_THOUSANDS.pattern})", re.MULTILINE
)
_OF_THINGS = re.compile(
    r"\b(?:table|figure|page|law|section|step|phase|no\.|(?:foot)?note) $", re.IGNORECASE
)
_OF_MORE = re.compile(
    r"(?<!\bdata )(?<!\brecords )(?<!\btotal )(?<!\bnumber )(?<!\bsum )(?<!\bgroup )"
    r"\bof(?: the| all| our| these)? $"
    r"|\b(?:than|least|most|under|below|over"
    r"|about|around|some|nearly|almost|approximately|roughly|aged?|top) $",
    re.IGNORECASE,
)
"""What stands before a number that is not how many are not included: of all, of more."""
_CELLS = re.compile(r"[\t|;]|  |,(?![0-9]{3}\b)\S")
_BEHIND_MARK = re.compile(
    r"^[^\",;\t|\n]*[:(=] ?[0-9]{1,3}(?:,[0-9]{3})+[^\",;\t|\n0-9]*(?=,*$)", re.MULTILINE
)
"""A line without other cells that ends in a number with commas between its thousands."""
_FEWEST_WORDS = 5
_PROSE = re.compile(r"(?:\s+(?!n/?a\b)[^\W\d_][\w'’/(),-]*){3}\W*$", re.IGNORECASE)
"""The end of a sentence: a row ends in numbers, or in a word in the place of one."""


@dataclass(frozen=True, slots=True)
class UnknownNote:
    """A sentence with a number, about people of unknown category who may not be in a table.

    Attributes
    ----------
    start, end : its place in the text.
    line : the number of the line on which it begins.
    text : its words.
    counts : the numbers in it that may be how many; one alone is.
    has_number : whether it has a number besides those of years, dates and pages.
    selected : how many of them it states to be selected, None where it does not.
    """

    start: int
    end: int
    line: int
    text: str
    counts: tuple[int, ...]
    has_number: bool
    selected: int | None = None


def noted_unknown(text: str, notes: Sequence[UnknownNote]) -> int | None:
    """Return how many people of unknown category a sentence states; None where none does.

    >>> noted_unknown("Of 900 applicants, 1,250 candidates of unknown sex are not included.", [])
    1250
    """
    found = [
        _whole(number)
        for sentence in _SENTENCE.split(text)
        if is_unknown(sentence)
        for number in _PEOPLE.findall(sentence)
    ]
    found += [sum(note.counts) for note in notes if note.counts]
    return max(found, default=None)


def noted_others(text: str) -> tuple[int, ...]:
    """Return how many people sentences state to be in no row, whose category is not unknown.

    >>> noted_others("Two or more races (29 applicants) are not shown. Of 900, 40 were 40 or over.")
    (29,)
    """
    found: list[int] = []
    plain = _without_tags(text)
    for (start, _), words in _words_of_sentences(plain):
        excluded = _EXCLUDED.search(words) and _SUBJECT.search(words)
        if excluded and not _NOT_KNOWN.search(words) and not adjacent_numbers(words):
            counts, _ = _counts(words, plain[:start])
            found += counts if len(counts) == 1 else ()
    return tuple(dict.fromkeys(found))


def unknown_notes(text: str) -> list[UnknownNote]:
    """Return the sentences with a number that people are of unknown category, rows among them.

    >>> notes = unknown_notes("Note: Data on 1,162 applicants of unknown sex was not included.")
    >>> [(note.line, note.counts) for note in notes]
    [(1, (1162,))]
    >>> [note.counts for note in unknown_notes("12,500 individuals chose not to self-identify.")]
    [(12500,)]
    """
    found = []
    plain = _without_tags(text)
    for (start, end), words in _words_of_sentences(plain):
        if _NOT_KNOWN.search(words) and re.search("[0-9]", words):
            part = _OF_WHOM.search(words)
            selected = None
            if part and role_of(part[3]) is ColumnRole.SELECTED:
                selected = _whole(part[1] or part[2])
            people = words if selected is None else _OF_WHOM.sub("", words, count=1)
            excluded = bool(_EXCLUDED.search(words))
            counts, has_number = _counts(people, plain[:start])
            if selected is not None and (len(counts) != 1 or selected > counts[0]):
                selected = None
                counts, has_number = _counts(words, plain[:start])
            if not excluded and (_INCLUDED.search(words) or not _SUBJECT.search(words)):
                counts = ()
            is_row = adjacent_numbers(words) and not _PROSE.search(words)
            if excluded or (has_number and not is_row):
                line = text.count("\n", 0, start) + 1
                found.append(UnknownNote(start, end, line, words, counts, has_number, selected))
    return found


def with_counts_whole(text: str) -> str:
    r"""Return a text of CSV of the same length, in which no sentence is parted at a number's comma.

    Such a sentence states people of unknown category; the comma is written as an apostrophe.

    >>> with_counts_whole("Male,90\nGender unknown: 12,500\nUnknown,12,500").splitlines()
    ['Male,90', "Gender unknown: 12'500", 'Unknown,12,500']
    """
    return _BEHIND_MARK.sub(
        lambda found: found[0].replace(",", "'") if is_unknown(found[0]) else found[0], text
    )


def beside_rows(notes: Iterable[UnknownNote], rows: Iterable[Sequence[str]]) -> list[UnknownNote]:
    """Return the notes that are no rows of a table, nor cells of one.

    Raises
    ------
    DataError
        There are more such sentences than are read.
    """
    texts = set[str]()
    for row in rows:
        cells = [*filter(None, dict.fromkeys(row))]
        if len(cells) > 1:  # one alone may be a sentence below the table
            texts.update(map(_squeezed, ("".join(row), "".join(cells), *cells)))
    found = [note for note in notes if _squeezed(note.text) not in texts]
    if len(found) > _MOST_NOTES:
        raise DataError(
            f"the text has {len(found):,} sentences about people who are not included, and a check "
            f"reads at most {_MOST_NOTES}: split it, for example by table"
        )
    return found


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def without_notes(text: str, notes: Sequence[UnknownNote]) -> str:
    """Return a text with blanks in the place of notes that are no rows of a table."""
    for note in notes:
        own = text[note.start : note.end]
        prose = _EXCLUDED.search(own) or _PROSE.search(own)
        if (
            prose
            and len(own.split()) >= _FEWEST_WORDS
            and not _CELLS.search(own)
            and "<" not in own
        ):
            text = text[: note.start] + _blanked(own) + text[note.end :]
    return text


def notes_by_table(
    notes: Sequence[UnknownNote], above: Sequence[int], tables: int
) -> list[tuple[UnknownNote, ...]]:
    """Return the notes of every table: those below it, or above it where all stand above tables.

    Parameters
    ----------
    notes : in their order.
    above : how many tables stand above each.
    tables : how many tables there are.
    """
    follow = 0 not in above or tables in above
    places = [min(max(each - follow, 0), tables - 1) for each in above]
    return [
        tuple(note for note, place in zip(notes, places, strict=True) if place == at)
        for at in range(tables)
    ]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of every sentence, without the blanks around it."""
    start = 0
    for end, following in [*((m.start(), m.end()) for m in _END.finditer(text)), (len(text),) * 2]:
        sentence = text[start:end]
        left = len(sentence) - len(sentence.lstrip())
        if sentence.strip():
            yield start + left, start + len(sentence.rstrip())
        start = following


def _words_of_sentences(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the place of every sentence, and its words without emphasis, a blank apart."""
    for start, end in _sentences(text):
        words = re.sub(r"[ *_\r\n\t]+", " ", html.unescape(text[start:end])).strip(" ")
        yield (start, end), words


def _without_tags(text: str) -> str:
    """Return a text as long, with blanks in the place of tags; between blocks stands a form feed.

    So it does behind a footnote, where the next line may be another one. A line of HTML goes on in
    the next.
    """
    if "<table" in text.casefold():
        text = text.replace("\n", " ")
    plain = re.sub(r"([ \r]+)\n", r"\n\1", _INLINE.sub(_blanks, _RAISED.sub(_blanks, text)))
    plain = _TAG.sub(lambda found: "\f" + _blanks(found)[1:], plain)
    return _BETWEEN_NOTES.sub(r"\1\f", plain)


def _blanks(found: re.Match[str]) -> str:
    return _blanked(found[0])


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _counts(words: str, above: str = "") -> tuple[tuple[int, ...], bool]:
    """Return the whole numbers of a sentence that may be how many, and whether it has any number.

    Those of years, dates, pages and other things are none. Where it begins as "2 390", both numbers
    may be how many, unless the line ``above`` begins with the mark of footnote 1.
    """
    if start := _MARK_OR_THOUSANDS.match(words):
        line = re.split(r"[\n\f]", above.rstrip())[-1].strip()
        found, has_number = _counts(words[start.end() :])
        is_mark = re.match(rf"(?:[Nn]ote )?{int(start[1]) - 1} [A-Z]", line)
        if not is_mark or adjacent_numbers(line):
            found = (*found, *_counts(f" {words[start.start(1) :]}")[0])
        return found, has_number
    words = _NO_TEXT.sub(" date ", words)
    words = _MARK.sub("", words) if len(_COUNT.findall(words)) > 1 else words
    numbers = [
        each
        for each in _NUMBER.finditer(_SHARE.sub(_blanks, words))
        if not _is_of_other_things(each)
    ]
    counts = [
        _whole(each[0])
        for each in _COUNT.finditer(words)
        if not _is_of_other_things(each) and not _OF_MORE.search(words[: each.start()])
    ]
    parts = [each for each in numbers if not _OF_ALL.search(words[: each.start()])]
    # one that is set aside beside another may be of these people too
    alone = len(parts) == len(counts)
    return tuple(dict.fromkeys(counts)) if alone else (), bool(numbers)


def _is_of_other_things(number: re.Match[str]) -> bool:
    """Return whether a number is that of a year, a page, a table or the like."""
    before = number.string[: number.start()]
    year = re.fullmatch("(19|20)[0-9]{2}", number[0]) and _YEAR.search(before)
    return bool(year or _OF_THINGS.search(before))


def _whole(number: str) -> int:
    return int(re.sub(r"\D", "", number))
