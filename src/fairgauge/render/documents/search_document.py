"""The document of a search for subgroups: what is worse, what is not known, what was examined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.enums import Level, SearchControl, SearchedValues, SubgroupStatus
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._document_parts import (
    Field,
    document_of,
    listed,
    more_in_json,
    table_of_rows,
)
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.words import numbers
from fairgauge.render.words import search_sentences as words
from fairgauge.render.words.command_line import NO_FILE, command_against, command_inside
from fairgauge.render.words.display_names import all_called, called, capitalised
from fairgauge.render.writers.flat_rows import FlatTable
from fairgauge.results.codec import to_dict
from fairgauge.results.subgroup_search import FEW, SearchQuestion, Subgroup, SubgroupSearch

_MOST_CLAIMS = 200
_MOST_UNDECIDED = 25
_MOST_LABELS = 12
_MOST_ROWS = 1e6
_COLUMNS = ("subgroup", "status", "rows", "n", "events", "rate", "reference_rate", "difference",
            "low", "high", "evidence", "p_adjusted", "explained_by", "rows_needed")  # fmt: skip
METHOD = (
    "Each subgroup is compared with all other rows by the signed root of the likelihood ratio. One "
    "critical value serves all of them: that of Bonferroni, raised until the exact probabilities "
    "that any subgroup exceeds it without a difference, given all sizes, add up to the error rate "
    "at most. Claims, simultaneous ends and adjusted p-values follow from this value, so that they "
    "agree, and the end of the subgroup that is picked as the worst holds too. Rows are taken to "
    "be independent. A subgroup is a place to look: its difference has no known cause, and may be "
    "due to something that no feature holds."
)
METHOD_OF_DISCOVERIES = (
    "Each subgroup is compared with all other rows by the signed root of the likelihood ratio. "
    "P-values from its normal tail are adjusted by Benjamini and Hochberg, and all ends are at the "
    "level of the last claim (Benjamini and Yekutieli 2005), so that claims and ends agree. That "
    "the expected share of wrong claims is at most the error rate is not proven for subgroups that "
    "overlap. Rows are taken to be independent. A subgroup is a place to look: its difference has "
    "no known cause, and may arise from something that no feature holds."
)


def search_document(found: SubgroupSearch, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a search for subgroups."""
    question, overall = found.question, found.overall
    beside = f"{numbers.numbered(overall.n, words.counted(found))}{words.complete(found)}"
    if overall.n != overall.rows:
        beside += f" of {numbers.numbered(overall.rows, words.of_whom(found))}"
    beside += f", {numbers.percent(overall.rate)} overall" if overall.rate is not None else ""
    return document_of(
        found,
        title=_title(question),
        beside=beside,
        lead=(words.examined(found),),
        warnings=opening_warnings(report_warnings(found.diagnostics)),
        verdict=_verdict(found),
        tone=tree.Tone.BAD if found.worse else tree.Tone.PLAIN,
        sections=[
            *([listed("worse", words.HEADING, *_summary(found))] if found.worse else []),
            listed("bounds", "What else is shown", *_bounds(found)),
            *(_record(found) if full else ()),
            listed("notes", "Notes", *_notes(found, full=full)),
        ],
        file_name="find",
    )


def _title(question: SearchQuestion) -> str:
    return f"Where is the {called(question.definition.title)} {question.worse}?"


def _verdict(found: SubgroupSearch) -> str:
    if not found.examined:
        return "No subgroup could be examined"
    if words.is_constant(found):
        return f"Nothing is decided: the rate is {numbers.percent(found.overall.rate)} everywhere"
    number = len(found.worse)
    if not number:
        rows = numbers.numbered(found.overall.rows, words.of_whom(found))
        return f"No subgroup is shown to be worse ({found.examined:,} examined, {rows})"
    return f"{number:,} {numbers.plural(number, 'subgroup is', 'subgroups are')} worse"


def _summary(found: SubgroupSearch) -> Iterator[tree.Block]:
    yield tree.Paragraph(words.claim(found))
    members = [each for each in found.worse if each.explained_by is None]
    yield _table(found, "What accounts for all", members)
    first = called(members[0].name)
    if (against := command_against(found, members[0])) is not None:
        yield tree.Paragraph(f"To compare {first} with all others in a report:")
        yield tree.Code(against)
    inside = command_inside(found, members[0])
    if inside is not None:
        yield tree.Paragraph(
            f"To audit the {numbers.numbered(members[0].rows, words.of_whom(found))} of {first} "
            f"{words.audited_by(found, members[0])}, which compares groups inside it, and not it "
            "with other rows:"
        )
        yield tree.Code(inside)
        if f" {NO_FILE} " in inside:
            where = f"where=found.where(found.worse[{found.worse.index(members[0])}])"
            yield tree.Paragraph(f"In Python: the same data and columns with {where}.")
    worst = next((e for e in found.worse if e.name == found.largest.guaranteed), members[0])
    if worst.explained_by is not None:
        yield tree.Paragraph(
            f"Worst guaranteed: {called(worst.name)} ({words.sized(found, worst)}): "
            f"{numbers.points(worst.difference)} pp, at least "
            f"{numbers.points(words.guaranteed(found, worst))} pp."
        )


def _bounds(found: SubgroupSearch) -> Iterator[tree.Block]:
    if not found.examined or words.is_constant(found):
        return
    yield tree.Paragraph(words.decided(found))
    largest = found.largest
    if largest.by_at_most is not None and not found.lacks_outcomes:
        text = (
            f"With {_level(found.question)} confidence no subgroup examined is worse by more than "
            f"{words.in_points(largest.by_at_most)}{words.among(found)}"
        )
        if largest.by_at_most_of_large is not None:
            large = words.in_points(largest.by_at_most_of_large)
            text += f"; of those with 10% of the {words.counted(found)}, by more than {large}"
        yield tree.Paragraph(f"{text}.")
    yield tree.Paragraph(words.detectable(found))


def _record(found: SubgroupSearch) -> Iterator[tree.Section]:
    """Yield what only the whole record shows."""
    if found.examined:
        yield listed("funnel", "All subgroups", _funnel(found))
    yield listed("claims", "What these account for", *_explained(found))
    undecided = found.undecided[:_MOST_UNDECIDED]
    if undecided:
        yield listed(
            "undecided",
            "What is inconclusive",
            tree.Paragraph(
                "The largest differences among them, and how many rows would be needed."
            ),
            _table(found, "Undecided", undecided, needed=True),
            *more_in_json(found.undecided, _MOST_UNDECIDED),
        )


def _explained(found: SubgroupSearch) -> Iterator[tree.Section]:
    """Yield the other subgroups that are worse, by what accounts for most of each."""
    explained = [each for each in found.worse if each.explained_by is not None][:_MOST_CLAIMS]
    for i, name in enumerate(found.summary):
        claims = [each for each in explained if each.explained_by == name]
        if claims:
            title = f"{called(name)} ({len(claims):,})"
            yield tree.Section(f"claims-{i}", title, (_table(found, title, claims),), folded=True)


def _funnel(found: SubgroupSearch) -> tree.FunnelChart:
    """Draw every subgroup by its size and its difference, and the edge of what counts."""
    tones = {SubgroupStatus.WORSE: tree.Tone.BAD, SubgroupStatus.NOT_WORSE: tree.Tone.GOOD}
    dots = [
        tree.FunnelDot(
            each.n, each.difference, each.subgroups, tones.get(each.status, tree.Tone.PLAIN)
        )
        for each in found.funnel.marks
    ]
    members = [each for each in found.worse if each.explained_by is None][:_MOST_LABELS]
    dots += [
        tree.FunnelDot(
            each.n, each.difference, 1, tree.Tone.BAD, words.guaranteed(found, each), f"{i}"
        )
        for i, each in enumerate(members, 1)
    ]
    edge = " Dashed: the smallest difference that is shown to be worse." * bool(found.funnel.edge)
    named = "; ".join(f"{i} {called(each.name)}" for i, each in enumerate(members, 1))
    return tree.FunnelChart(
        _charted(found.question),
        f"{words.counted(found)} in the subgroup".capitalize(),
        tuple(dots),
        tuple((point.n, point.difference) for point in found.funnel.edge),
        (
            (
                "Filled: worse; open: shown not to be worse; grey: undecided. A larger dot stands "
                f"for several subgroups.{edge}"
            ),
            *([f"With a line to what is guaranteed: {named}."] if named else []),
        ),
    )


def _charted(question: SearchQuestion) -> str:
    return f"Difference in {called(question.definition.title)} of each subgroup, in pp"


def _table(
    found: SubgroupSearch, caption: str, subgroups: Sequence[Subgroup], *, needed: bool = False
) -> tree.Table:
    question = found.question
    if question.multiplicity is SearchControl.FDR:
        at_least = "at least: one end of intervals at the level of the last claim"
    else:
        at_least = f"at least: one end of simultaneous intervals, {_level(question)}"
    last: Field[Subgroup] = ("rows needed", _needed)
    if not needed:
        last = ("at least, pp", lambda each: numbers.points(words.guaranteed(found, each)))
    return table_of_rows(
        caption,
        subgroups,
        (
            tree.Column("subgroup", numeric=False),
            lambda each: tree.Cell(called(each.name), name=True),
        ),
        (words.counted(found), lambda each: numbers.count(each.n)),
        ("rate", lambda each: numbers.percent(each.rate)),
        (str(question.reference), lambda each: numbers.percent(each.reference_rate)),
        ("difference, pp", lambda each: numbers.points(each.difference)),
        last,
        notes=() if needed else (at_least,),
        stacked=True,
    )


def _level(question: SearchQuestion) -> str:
    return f"{100 * (1 - question.alpha):.4g}%"


def _needed(each: Subgroup) -> str:
    if each.rows_needed is None:
        return "-"
    return "more than is practical" if each.rows_needed > _MOST_ROWS else f"{each.rows_needed:,}"


def _notes(found: SubgroupSearch, *, full: bool) -> Iterator[tree.Block]:
    notes = [*_values_made(found.question)]
    if found.too_few:
        are = numbers.plural(found.too_few, "was", "were")
        # smaller ones are not counted; those that other rows chose may be smaller in these
        least = f" of at least {numbers.numbered(found.question.min_rows)}"
        size = least if found.chosen_from is None else ""
        notes.append(
            f"{numbers.numbered(found.too_few, 'subgroups')}{size} {are} not tested: fewer than 20 "
            "rows that the rate is a share of, in it or outside it."
        )
    if found.duplicates:
        hold = numbers.plural(found.duplicates, "conjunction holds", "conjunctions hold")
        notes.append(
            f"{found.duplicates:,} {hold} the same rows as one with fewer conditions, which stands "
            "for them."
        )
    notes += _disclosed(found)
    notes += [
        f"{capitalised(each.message)}."
        for each in found.diagnostics
        if each.level is not Level.WARNING
    ]
    if notes:
        yield tree.Items(tuple(notes))
    if full:
        yield tree.Paragraph(_method(found.question), tree.Tone.SOFT)


def _disclosed(found: SubgroupSearch) -> Iterator[str]:
    """Yield of how few people the list discloses counts, or how it is kept from doing so."""
    base = found.question.min_cell
    are = numbers.plural(found.close, "subgroup differs", "subgroups differ")
    if found.close:
        close = (
            f"{found.close:,} {are} from a listed one, or from all, by fewer than {base or FEW} "
            f"{words.of_whom(found)}"
        )
        if base is None:
            both = "both counts together disclose these few"
            yield f"{close}; {both}; with --min-cell {FEW} none is listed."
        else:
            yield f"{close}, and {numbers.plural(found.close, 'is', 'are')} not listed."
    if base is not None:
        yield f"Counts are rounded to multiples of {base}, and rates to whole percentages."


def _method(question: SearchQuestion) -> str:
    return METHOD_OF_DISCOVERIES if question.multiplicity is SearchControl.FDR else METHOD


def _values_made(question: SearchQuestion) -> Iterator[str]:
    """Yield how the values of features were made, where they are not the values of the column."""
    fifths = [
        f"{called(each.name)} at {numbers.listing([f'{cut:g}' for cut in each.cuts])}"
        for each in question.features
        if each.made is SearchedValues.QUINTILES
    ]
    if fifths:
        yield (
            "Numbers were cut into fifths of the rows, without looking at outcomes: "
            f"{'; '.join(fifths)}."
        )
    for feature in question.features:
        if feature.made is SearchedValues.MOST_FREQUENT:
            yield (
                f"Of {called(feature.name)} the {len(feature.values) - 1} most frequent values "
                f"were searched, and all others together as {called(feature.values[-1])}; a column "
                "of fewer values, as the months of dates, would be searched whole, and one of "
                "identifiers makes no subgroups."
            )
        elif feature.made is SearchedValues.ONE_HOT:
            columns = all_called(feature.columns, most=_MOST_LABELS)
            yield f"The one-hot columns {columns} were searched as {called(feature.name)}."


def subgroups_of(found: SubgroupSearch) -> FlatTable:
    """Return a row for every subgroup that is listed, with a column for each feature."""
    features = [feature.name for feature in found.question.features]
    taken = set(_COLUMNS)
    columns = [f"feature {name}" if name in taken else name for name in features]
    rows = []
    for each in (*found.worse, *found.undecided):
        fields = to_dict(each) | {"subgroup": each.name}
        conditions = [each.conditions.get(name) for name in features]
        rows.append((*(fields[name] for name in _COLUMNS), *conditions))
    texts = frozenset(("subgroup", "status", "explained_by", *columns))
    return FlatTable((*_COLUMNS, *columns), tuple(rows), texts)
