"""A history: the counts of many periods, one cube each, as the only state of a monitor.

Layout: ``period=2026-11-20/counts.cube.json``, which DuckDB, Spark and Athena list as a table
partitioned by period. Names that begin with an underscore, which they ignore, hold the question
(``_monitor.json``), the baselines (``_baseline=DIGEST``), the largest groups where one is the
reference (``_largest.json``), and a fold of the periods that saves time and can
always be computed again. The largest groups are a choice: without their file, they are those of
the first period that the history holds by then. How long labels took to come, and that every row
stood several times, is seen when rows are counted, and in no counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from fairgauge.catalogue.own_by_name import definition
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.cube.identifiers import CLUSTER_KEY
from fairgauge.errors import CubeError, DataError, Problem, SpecError, quote, shown
from fairgauge.monitoring._comparison_counts import refuse_unfit
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring._period_rows import fingerprint
from fairgauge.monitoring._store import DraftStore, Store, open_store
from fairgauge.monitoring.monitor_spec import MonitorSpec, read_monitor_spec
from fairgauge.monitoring.periods import Length, Period, parse_period
from fairgauge.results.monitor_results import (
    LargestGroup,
)

_FOLD = "_fold.json"
_LARGEST = "_largest"
_LABELS = "_labels.json"
_REPEATED = "_repeated.json"


KEPT = 56
"""Labelled periods whose waits are kept, so that an earlier delay is forgotten."""


class KeptDecisions:
    """What runs keep in a store, where it can be written."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def fold(self) -> str | None:
        """Return the text of the fold that was kept; None where none was."""
        return self._store.read(_FOLD)

    def keep_fold(self, text: str) -> None:
        """Keep a fold, where the history can be written: it is never needed."""
        self._keep(_FOLD, text)

    def largest_groups(self, start: Period | None) -> tuple[LargestGroup, ...]:
        """Return the largest groups that were chosen for the periods from one on; empty before."""
        name = _largest_file(start)
        text = self._store.read(name)
        try:
            return () if text is None else tuple(LargestGroup(**e) for e in json.loads(text))
        except (ValueError, TypeError) as error:
            instead = "choose the largest group of the first period again"
            raise self._unreadable(name, error, instead) from None

    def keep_largest_groups(self, start: Period | None, chosen: Sequence[LargestGroup]) -> None:
        """Keep the largest groups that were chosen for the periods from one on."""
        self._keep(_largest_file(start), json.dumps([asdict(each) for each in chosen]))

    def waits(
        self, names: Sequence[str], without_label: Sequence[str], *, keep: bool
    ) -> dict[str, int]:
        """Return the most later periods with which a run saw recent periods without their labels.

        Those are the last periods that have their labels by now, and the ones that have not; one
        that no run saw without is not among them. A wait beyond the longest of these is an outage,
        which makes the usual one longer by a period at most. What is known of periods before the
        first of these stays as it is. A file that was changed is begun anew.
        """
        text = self._store.read(_LABELS)
        try:
            waits = {str(name): int(wait) for name, wait in json.loads(text or "{}").items()}
        except (ValueError, TypeError, AttributeError):
            waits = {}
        place = {name: i for i, name in enumerate(names)}
        labelled = [name for name in names if name not in set(without_label)][-KEPT:]
        longest = 1 + max((waits.get(name, -1) for name in labelled), default=len(names))
        for name in without_label:
            wait = min(len(names) - 1 - place[name], longest)
            waits[name] = max(wait, waits.get(name, wait))
        kept = {name: waits[name] for name in (*labelled, *without_label) if name in waits}
        earlier = {name: wait for name, wait in waits.items() if name < names[0]}
        new = json.dumps(earlier | kept)
        if keep and new != (text or "{}"):
            self._keep(_LABELS, new)
        return kept

    @property
    def repeated(self) -> dict[str, int]:
        """Return how many times every row stands, by the fingerprints of the counts of the rows."""
        try:
            found = json.loads(self._store.read(_REPEATED) or "{}").items()
            return {str(digest): int(times) for digest, times in found}
        except (ValueError, TypeError, AttributeError) as error:
            instead = "forget which periods have rows that stand several times"
            raise self._unreadable(_REPEATED, error, instead) from None

    def keep_repeated(self, cube: Cube, times: int) -> None:
        """Keep how many times every row stands of which a cube was counted; 1 is as none."""
        before = self.repeated
        if times > 1 or before:
            digest = fingerprint(cube)
            kept = {each: n for each, n in before.items() if each != digest}
            kept |= {digest: times} if times > 1 else {}
            if kept != before:
                self._keep(_REPEATED, json.dumps(kept))

    def _unreadable(self, name: str, error: Exception, instead: str) -> DataError:
        return DataError(
            f"{quote(f'{self._store.name}/{name}')} cannot be read ({error}); restore it, or "
            f"remove it to {instead}"
        )

    def take_over(self, draft: DraftStore) -> None:
        """Keep what was decided on a draft of the history."""
        for name, text in draft.written.items():
            if name.startswith((_FOLD, _LARGEST, _LABELS, _REPEATED)):
                self._keep(name, text)

    def _keep(self, name: str, text: str) -> None:
        with suppress(DataError):
            self._store.replace(name, text)


def _largest_file(start: Period | None) -> str:
    """Return where the largest groups are: those of a new start are chosen anew."""
    return f"{_LARGEST}.json" if start is None else f"{_LARGEST}={start}.json"


NEW_HISTORY = "for another question, count the rows of all periods again, in a new history"
COUNTS = "counts.cube.json"
_PARTITION = "period="
_SPEC = "_monitor.json"
_SPEC_SCHEMA = "fairgauge.monitor/1"
_SHOWN_DIGEST = 19
_ARTICLES = {length: f"{'an' if length is Length.HOUR else 'a'} {length}" for length in Length}


class History:
    """The counts of many periods, in a folder or under an fsspec URL.

    Parameters
    ----------
    where : str or Path
        The folder, which need not exist yet, or a URL such as ``s3://bucket/monitors/loans``.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> day = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     history = fg.History(folder)
    ...     history.add("2026-11-20", day), history.add("2026-11-20", day), len(history.periods)
    (True, False, 1)
    """

    def __init__(self, where: str | Path) -> None:
        self._store: Store = open_store(where)

    @property
    def name(self) -> str:
        """Return where the history is."""
        return self._store.name

    @property
    def periods(self) -> list[Period]:
        """Return the periods that it holds, in order.

        Raises
        ------
        DataError
            A folder names no period, or periods of different lengths are mixed.
        """
        folders = self._store.names(COUNTS)
        found = sorted(
            parse_period(folder.removeprefix(_PARTITION))
            for folder in folders
            if folder.startswith(_PARTITION)
        )
        lengths = {each.length for each in found}
        if len(lengths) > 1:
            raise DataError(
                f"the history {quote(self.name)} mixes periods of different lengths: "
                f"{', '.join(sorted(lengths))}; keep a history for each"
            )
        return found

    def cube(self, period: Period) -> Cube:
        """Return the counts of a period.

        Raises
        ------
        CubeError
            They are cut off or were changed; the message names the file, and no other is touched.
        DataError
            The period is absent, or cannot be read.
        """
        return self._parsed(period, *self._texts([period]))

    def cubes(self, periods: Sequence[Period]) -> PeriodCubes:
        """Return the counts of several periods, each parsed where it is needed.

        Raises
        ------
        DataError
            A period is absent, or cannot be read.
        """
        return PeriodCubes(periods, self._texts(periods), self._parsed)

    def _texts(self, periods: Sequence[Period]) -> list[str]:
        found = []
        for period, text in zip(periods, self._store.read_all([*map(_file, periods)]), strict=True):
            if text is None:
                raise DataError(f"the history {quote(self.name)} has no period {period}")
            found.append(text)
        return found

    def _parsed(self, period: Period, text: str) -> Cube:
        try:
            return read_cube(text, f"{self.name}/{_file(period)}")
        except CubeError as error:
            message = f"{error}. Restore it, or remove it and count the period {period} again"
            raise CubeError(message) from None

    def add(self, period: str | Period, cube: Cube, *, replace: bool = False) -> bool:
        """Add the counts of a period; the same counts twice are one.

        Parameters
        ----------
        period : str or Period
        cube : Cube
        replace : bool
            Whether other counts of the same period give way, as when labels were corrected.

        Returns
        -------
        bool
            False where the history holds these counts already.

        Raises
        ------
        CubeError
            The history holds other counts of the period, or counts of something else; or ``cube``
            is protected.
        DataError
            ``cube`` is no counts, the period is of another length, or the history cannot be
            written.
        SpecError
            ``period`` names no period.
        """
        if not isinstance(cube, Cube):
            raise DataError(
                f"a history holds counts, not {shown(cube)}; count the rows first: "
                "fg.count(DATA, label=..., sensitive=...)"
            )
        period = period if isinstance(period, Period) else parse_period(period)
        self._check_fits(period, cube)
        name = _file(period)
        if self._store.create(name, cube.to_json()):
            return True
        held = self.cube(period) if not replace else None
        if held is not None and held.digest == cube.digest:
            return False
        if replace:
            self._store.replace(name, cube.to_json())
            return True
        assert held is not None
        raise CubeError(
            f"the history {quote(self.name)} holds other counts of {period}: {_short(held)} of "
            f"{held.rows:,} rows, not {_short(cube)} of {cube.rows:,} rows. Where labels or "
            "rows were corrected, replace them (fairgauge monitor run ... --replace)"
        )

    def _check_fits(self, period: Period, cube: Cube) -> None:
        """Refuse counts of another length or another question than those held, or unfit ones."""
        refuse_unfit(cube)
        periods = self.periods
        if periods and periods[0].length is not period.length:
            raise DataError(
                f"{period} is {_ARTICLES[period.length]}, and the history {quote(self.name)} "
                f"holds periods of {_ARTICLES[periods[0].length]}; keep a history for each"
            )
        others = [each for each in periods if each != period]
        if others:
            self._check_plan(period, cube, others[-1], self.cube(others[-1]))

    def _check_plan(self, period: Period, cube: Cube, other: Period, held: Cube) -> None:
        """Refuse the counts of a period that count something else than those of another."""
        difference = held.plan.difference(cube.plan)
        if difference:
            raise CubeError(
                f"the counts of {period} and those of {other} in the history {quote(self.name)} "
                f"answer different questions: {difference} ({other} first); {NEW_HISTORY}"
            )
        if held.clusters != cube.clusters:
            raise CubeError(
                f"the counts of {period} and those of {other} in the history {quote(self.name)} "
                f"name clusters by different keys ({CLUSTER_KEY})"
            )

    @property
    def spec(self) -> MonitorSpec | None:
        """Return what the monitor was last asked; None where nothing was.

        Raises
        ------
        DataError
            It is cut off or was changed.
        """
        text = self._store.read(_SPEC)
        if text is None:
            return None
        try:
            found = json.loads(text)
            return read_monitor_spec(found[_SPEC_SCHEMA], self._baseline)
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{quote(f'{self.name}/{_SPEC}')} cannot be read ({error}); "
                "run the monitor with its specification again (-c)"
            ) from None

    def keep_spec(self, spec: MonitorSpec) -> None:
        """Keep what the monitor is asked, with its baselines, for runs that do not repeat it.

        Raises
        ------
        SpecError
            A statistic of a user's own is neither cells nor named by an import path.
        """
        for i, rule in enumerate(spec.rules):
            if rule.own is not None and rule.path is None and definition(rule.own) is None:
                message = (
                    f"{rule.metric} is a function of your own, which a history does not keep; name "
                    "it in a specification file by its import path (package.module:name), or make "
                    "it of cells (fairgauge.rate, fairgauge.quotient)"
                )
                raise SpecError(Problem(f"monitor.rules[{i}].metric", message))
        for rule in spec.rules:
            if rule.baseline is not None:
                digest = rule.baseline.cube.digest
                self._store.create(_baseline_file(digest), rule.baseline.cube.to_json())
        text = json.dumps({_SPEC_SCHEMA: spec.to_dict()}, indent=2)
        if self._store.read(_SPEC) != text:
            self._store.replace(_SPEC, text)

    @property
    def kept(self) -> KeptDecisions:
        """Return what runs keep beside the periods."""
        return KeptDecisions(self._store)

    def draft(self) -> DraftHistory:
        """Return this history for changes that are not stored."""
        return DraftHistory(self._store)

    def _baseline(self, digest: str) -> Cube | None:
        text = self._store.read(_baseline_file(digest)) if digest.startswith("sha256:") else None
        return None if text is None else read_cube(text, _baseline_file(digest))


class DraftHistory(History):
    """A history whose changes stay in memory, so that a run decides before it stores anything."""

    def __init__(self, base: Store) -> None:
        self._draft = DraftStore(base)
        self._store = self._draft

    def store_decided(self, held: History) -> None:
        """Keep what was decided on this draft in the history that it is a draft of."""
        held.kept.take_over(self._draft)


def _file(period: Period) -> str:
    return f"{_PARTITION}{period}/{COUNTS}"


def _baseline_file(digest: str) -> str:
    return f"_baseline={digest.removeprefix('sha256:')[:32]}/{COUNTS}"


def _short(cube: Cube) -> str:
    return cube.digest[:_SHOWN_DIGEST]
