"""Files to review: people who were refused, each with comparable people who were accepted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from fairgauge.api.audit import counted
from fairgauge.cube.cube import Cube
from fairgauge.enums import GapVerdict, ReferenceKind, Role
from fairgauge.errors import DataError, Problem, alternatives, quote, refuse
from fairgauge.question.options import Options
from fairgauge.question.readers import controls_as_strata
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import level_codes
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.gap_decomposition import Decomposition, Gap, LevelGap, StratumGap, test_of
from fairgauge.scan.chosen_rows import chosen_rows
from fairgauge.scan.row_access import read_rows
from fairgauge.stats.arrays import Index, Mask
from fairgauge.values import Value, name_of

_METRICS = (
    "selection_rate.difference",
    "selection_rate.ratio",
    "base_rate.difference",
    "base_rate.ratio",
)
_ByStratum: TypeAlias = list[tuple[tuple[int, ...], list[int], list[int]]]
"""Of each stratum with refused rows its codes, the refused rows, and the accepted ones."""
_OTHERS = str(ReferenceKind.OTHERS)
_EACH = 3
"""How many accepted people stand beside one who was refused."""


class MatchedFiles(NamedTuple):
    """A row for each person who was refused: both groups, the strata, and who is comparable.

    The gravest gaps stand first, the difference and the ratio of a rate as one. Of each gap strata
    that are unlike the others, or of such a level, stand first, then those in which a difference is
    shown, then those with most refused people with an accepted one for each, and last those without
    an accepted one.

    Attributes
    ----------
    notes : how many of the refused are listed, and of which groups nobody is.
    repeated : how many identifiers stand in several of the rows that are compared: those of strata
        that are listed. With any, or any in several of all refused rows, the notes count rows and
        not people.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | None, ...], ...]
    notes: tuple[str, ...]
    repeated: int = 0


def matched_files(data: object, found: Decomposition, identifier: str) -> MatchedFiles:
    """Return people of the side with the lower rate who were refused, with comparable people.

    They are of gaps that are shown, with controls by regression too, or inconclusive. Comparable is
    who is on the other side of the gap, in the same stratum, and was accepted; three stand beside
    each, drawn at random with the seed. The list is for reading files: that two people are in one
    stratum does not show that they are alike.

    Parameters
    ----------
    data : the rows that were decomposed.
    found : their decomposition.
    identifier : the column that names a person or a file.

    Raises
    ------
    SpecError, DataError
        A gap is not of the selection rate or the base rate, or rows cannot be read.
    """
    asked = controls_as_strata({k: v for k, v in found.spec.items() if k != "margins"})
    cube, source, spec = counted(data, (), cast("Options", asked))
    if source is None:
        raise DataError("counts hold no files to review; give the rows")
    problems = list(_wrong(found, spec))
    if identifier not in source.columns:
        problems.append(Problem("id", f"there is no column {quote(identifier)}"))
    refuse(problems)
    resolution = resolve(cube, spec)
    features = {axis.column for axis in cube.plan.axes if axis.role is Role.FEATURE}
    outcomes = {column for column in (spec.label, spec.prediction) if column}
    strata = [axis for axis in cube.plan.axes if axis.role is Role.STRATUM]
    names = [identifier, *features, *outcomes, *(axis.column for axis in strata)]
    columns = read_rows(chosen_rows(source, spec), names, None, spec.recode)
    codes = np.stack([level_codes(axis, cube, columns[axis.column]) for axis in strata])
    levels = [axis.names(cube.levels[axis]) for axis in strata]
    rows: list[tuple[str | int | None, ...]] = []
    notes: list[str] = []
    once: dict[object, Gap] = {}
    for _, gap in found.gravest():
        once.setdefault(test_of(gap), found.with_regression(gap))
    of_gaps = [g for g in once.values() if g.verdict_with_controls is not GapVerdict.NO_GAP]
    sides = [_sides(gap, resolution, cube, columns) for gap in of_gaps]
    by_stratum = [_by_stratum(codes, *of_gap) for of_gap in sides]
    compared = (i for each in by_stratum for _, ours, theirs in each for i in (*ours, *theirs))
    repeated = _repeated(columns[identifier], compared)
    every = (i for refused, _ in sides for i in np.flatnonzero(refused).tolist())
    who = "rows" if repeated or _repeated(columns[identifier], every) else "people"
    for gap, (refused, _), strata_of_gap in zip(of_gaps, sides, by_stratum, strict=True):
        of_gap = (gap.estimate.metric, gap.estimate.feature, *_groups(gap))
        notes.append(_counted(gap, codes, refused, strata_of_gap, who))
        rng = np.random.default_rng(spec.seed)
        first = _standing_out(gap)
        listed: list[tuple[bool, int, int, dict[str, str], list[int], list[int]]] = []
        for at, ours, theirs in strata_of_gap:
            named = zip(strata, levels, at, strict=True)
            place = {axis.column: of[code] for axis, of, code in named}
            rank = [each <= place.items() for each in (*first, set())].index(True)
            listed.append((not theirs, rank, len(listed), place, ours, theirs))
        for *_, place, ours, theirs in sorted(listed, key=lambda each: each[:3]):
            drawn = rng.permutation(_named(columns[identifier], theirs)).tolist()
            people = _named(columns[identifier], ours)
            for i, person in enumerate(people):
                beside = [drawn[(i * _EACH + k) % len(drawn)] for k in range(_EACH) if drawn]
                beside = [*dict.fromkeys(beside), *[None] * _EACH][:_EACH]
                rows.append((*of_gap, *place.values(), len(people), len(drawn), person, *beside))
    gapless = [gap for gap in once.values() if gap not in of_gaps]
    if gapless:
        nobody = "None" if repeated else "Nobody"
        without = ", ".join(_people(gap, str(gap.estimate.group), who) for gap in gapless)
        notes.append(f"{nobody} is listed of {without}, of which no gap is shown")
    header = (
        *("metric", "feature", "refused_group", "accepted_group"),
        *(axis.column for axis in strata),
        *("refused_in_stratum", "accepted_in_stratum", "refused"),
        *(f"accepted_{k + 1}" for k in range(_EACH)),
    )
    return MatchedFiles(header, tuple(rows), tuple(notes), repeated)


def _wrong(found: Decomposition, spec: Spec) -> Iterator[Problem]:
    """Yield why there are no files of this decomposition."""
    for name in dict.fromkeys(gap.estimate.metric for gap in found.gaps):
        if name not in _METRICS:
            message = f"list refused cases, so they need {alternatives(_METRICS)}, not {name}"
            yield Problem("review", message)
    if spec.score is not None or spec.count is not None or spec.of_people:
        message = "are of rows with a decision each: name a prediction or a label, and no count"
        yield Problem("review", message)


def _sides(
    gap: Gap, resolution: Resolution, cube: Cube, columns: Mapping[str, Sequence[Value]]
) -> tuple[Mask, Mask]:
    """Return who was refused on the side with the lower rate, and who accepted on the other."""
    estimate, spec = gap.estimate, resolution.spec
    counts = next(feature for feature in resolution.features if feature.feature == estimate.feature)
    group = counts.codes_of_rows(cube, columns)
    own = counts.groups.index(estimate.group or "")
    ours, reference = group == own, estimate.reference
    assert reference is not None
    if reference.kind is ReferenceKind.OTHERS:
        theirs = (group >= -1) & ~ours  # -1: known values of no group
    else:
        theirs = group == counts.groups.index(reference.group or "")
    if gap.is_higher:
        ours, theirs = theirs, ours
    decided = estimate.metric.startswith("selection_rate")
    column = spec.prediction if decided else spec.label
    axis = cube.plan.axis(Role.PREDICTION if decided else Role.LABEL)
    assert axis is not None
    assert column is not None
    outcome = resolution.outcomes[0]
    codes = level_codes(axis, cube, columns[column])
    positive = (outcome.predictions if decided else outcome.labels)[np.maximum(codes, 0)]
    return ours & (codes >= 0) & ~positive, theirs & (codes >= 0) & positive


def _groups(gap: Gap) -> tuple[str, str]:
    """Return the group whose refused files are listed, and that of the accepted ones."""
    reference = gap.estimate.reference
    assert reference is not None
    own, other = str(gap.estimate.group), str(reference.group or reference.kind)
    return (other, own) if gap.is_higher else (own, other)


def _standing_out(gap: Gap) -> list[set[tuple[str, str]]]:
    """Return the levels and strata that a page names, in its order, in the direction of the gap.

    They are unlike the others, or else a difference is shown in them.
    """
    sign = 1 if gap.is_higher else -1
    levels = [(by.column, each) for by in gap.by_column for each in by.levels if each.outlying]
    outlying = [each for each in gap.strata if each.outlying]
    places: list[tuple[set[tuple[str, str]], StratumGap | LevelGap]] = [
        *(({(column, each.level)}, each) for column, each in levels),
        *((set(each.stratum.items()), each) for each in (*outlying, *gap.differing_strata)),
    ]
    return [at for at, each in places if sign * (each.difference or 0.0) > 0]


def _people(gap: Gap, group: str, who: str) -> str:
    return f"{who} with {gap.estimate.feature} {group}" if group != _OTHERS else f"other {who}"


def _counted(gap: Gap, codes: Index, refused: Mask, by_stratum: _ByStratum, who: str) -> str:
    """Return how many of the refused stand beside somebody, and why the others do not."""
    ours, theirs = (_people(gap, group, who) for group in _groups(gap))
    known = int(((codes >= 0).all(axis=0) & refused).sum())
    beside = sum(len(own) for _, own, others in by_stratum if others)
    unmatched, unknown = known - beside, int(refused.sum()) - known
    one = "person" if who == "people" else "row"
    counted = [f"{beside:,} stand beside accepted {theirs}"]
    if unmatched:
        counted.append(f"{unmatched:,} come last, because their stratum has no such {one}")
    if unknown:
        counted.append(f"{unknown:,} are in no row, because their stratum is unknown")
    return f"{refused.sum():,} {ours} were refused: {'; '.join(counted)}"


def _by_stratum(codes: Index, refused: Mask, accepted: Mask) -> _ByStratum:
    """Return the rows of both kinds in every stratum with a refused one, most pairs first."""
    found: dict[tuple[int, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    known = (codes >= 0).all(axis=0)
    for kind, chosen in enumerate((refused, accepted)):
        for row in np.flatnonzero(known & chosen).tolist():
            found[tuple(codes[:, row].tolist())][kind].append(row)
    listed = [(stratum, *rows) for stratum, rows in found.items() if rows[0]]
    return sorted(listed, key=lambda each: (-min(len(each[1]), len(each[2])), each[0]))


def _named(identifiers: Sequence[Value], rows: Sequence[int]) -> list[str]:
    """Return the names of some rows, in an order that is not that of the rows."""
    return sorted(name_of(identifiers[row]) for row in rows)


def _repeated(identifiers: Sequence[Value], rows: Iterable[int]) -> int:
    """Return how many identifiers stand in several rows."""
    times = Counter(name_of(identifiers[i]) for i in {*rows} if identifiers[i] is not None)
    return sum(n > 1 for n in times.values())
