"""A history: the counts of many periods, one cube each, as the only state of a monitor.

Layout: ``period=2026-11-20/counts.cube.json``, which DuckDB, Spark and Athena list as a table
partitioned by period. Names that begin with an underscore, which they ignore, hold the question
(``_monitor.json``) and the baselines (``_baseline=DIGEST``).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from fairgauge.atomic_files import create_whole, link_on, replace_whole
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.errors import CubeError, DataError, display, quote, shown_address
from fairgauge.monitoring._comparison_counts import refuse_unfit
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitorSpec, read_monitor_spec
from fairgauge.monitoring.periods import Length, Period, parse_period
from fairgauge.object_stores import MOST_SAVED, explain_store_errors, filesystem, read_limited
from fairgauge.question.specification import refuse_named_files
from fairgauge.results.monitor_results import IN_MEMORY
from fairgauge.scan.identifiers import CLUSTER_KEY
from fairgauge.values import read_json

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
        if not isinstance(where, (str, Path)):
            raise DataError(f"a history is a folder or a URL, not {display(where)}")
        if isinstance(where, str) and _URL.match(where):
            self._store: Store = FsspecStore(where)
        else:
            self._store = FolderStore(Path(where))

    @property
    def name(self) -> str:
        return self._store.name

    @property
    def periods(self) -> list[Period]:
        """Return the periods that it holds, in order; mixed lengths are refused."""
        folders = [each for each in self._store.names(COUNTS) if each.startswith(_PARTITION)]
        found = sorted(parse_period(folder.removeprefix(_PARTITION)) for folder in folders)
        lengths = {each.length for each in found}
        if len(lengths) > 1:
            raise DataError(
                f"the history {quote(self.name)} mixes periods of different lengths: "
                f"{', '.join(sorted(lengths))}; keep a history for each"
            )
        return found

    def cube(self, period: Period) -> Cube:
        return self.cubes([period])[0]

    def cubes(self, periods: Sequence[Period]) -> PeriodCubes:
        """Return the counts of several periods; one that was cut off or changed is refused."""
        texts = self._store.read_all([*map(_file, periods)])
        return PeriodCubes(map(self._parse_counts, periods, texts))

    def _parse_counts(self, period: Period, text: str | None) -> Cube:
        if text is None:
            raise DataError(f"the history {quote(self.name)} has no period {period}")
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
        _check_counts(cube)
        period = period if isinstance(period, Period) else parse_period(period)
        self._check_fits(period, cube)
        name = _file(period)
        if self._store.create(name, cube.to_json()):
            return True
        if replace:
            self._store.replace(name, cube.to_json())
            return True
        held = self.cube(period)
        if held.digest == cube.digest:
            return False
        known, new = (f"{e.digest[:_SHOWN_DIGEST]} of {e.rows:,} rows" for e in (held, cube))
        raise CubeError(
            f"the history {quote(self.name)} holds other counts of {period}: {known}, not {new}. "
            "Where labels or rows were corrected, replace them (fairgauge monitor run ... "
            "--replace)"
        )

    def _check_fits(self, period: Period, cube: Cube) -> None:
        refuse_unfit(cube)
        periods = self.periods
        if periods and periods[0].length is not period.length:
            raise DataError(
                f"{period} is {_ARTICLES[period.length]}, and the history {quote(self.name)} "
                f"holds periods of {_ARTICLES[periods[0].length]}; keep a history for each"
            )
        others = [each for each in periods if each != period]
        if others:
            refuse_unlike(self.name, (others[-1], self.cube(others[-1])), (period, cube))

    @property
    def spec(self) -> MonitorSpec | None:
        """Return what the monitor was last asked; None where nothing was."""
        text = self._store.read(_SPEC)
        if text is None:
            return None
        try:
            saved = read_json(text)[_SPEC_SCHEMA]
            refuse_named_files(saved)
            return read_monitor_spec(saved, self._baseline)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{quote(f'{self.name}/{_SPEC}')} cannot be read ({error}); "
                "run the monitor with its specification again (-c)"
            ) from None

    def keep_spec(self, spec: MonitorSpec) -> None:
        """Keep what the monitor is asked, with its baselines, for runs that do not repeat it."""
        for baseline in spec.baselines:
            self._store.create(_baseline_file(baseline.cube.digest), baseline.cube.to_json())
        text = json.dumps({_SPEC_SCHEMA: spec.to_dict()}, indent=2)
        if self._store.read(_SPEC) != text:
            self._store.replace(_SPEC, text)

    def _baseline(self, digest: str) -> Cube:
        # the counts of a digest: what somebody sent names no other file
        kept = _DIGEST.fullmatch(digest) is not None
        text = self._store.read(_baseline_file(digest)) if kept else None
        cube = None if text is None else read_cube(text, _baseline_file(digest))
        if cube is None or cube.digest != digest:
            raise DataError(f"the history holds no counts of the baseline {quote(digest)}")
        return cube

    def trying(self, period: Period, cube: Cube) -> History:
        """Return this history as it would be with other counts of a period; nothing is stored."""
        self._check_fits(period, cube)
        return HeldHistory({period: cube}, self._store)


class HeldHistory(History):
    """A history whose counts, or some of them, are at hand and not stored."""

    def __init__(self, cubes: Mapping[Period, Cube], base: Store | None = None) -> None:
        self._cubes, self._base = cubes, base
        if base is not None:
            self._store = base
        for cube in cubes.values():
            _check_counts(cube)
        if len({period.length for period in self.periods}) > 1:
            raise DataError("the periods are of different lengths; monitor each length alone")

    @property
    def name(self) -> str:
        return IN_MEMORY if self._base is None else self._base.name

    @property
    def periods(self) -> list[Period]:
        return sorted({*self._cubes, *([] if self._base is None else super().periods)})

    @property
    def spec(self) -> MonitorSpec | None:
        return None if self._base is None else super().spec

    def cubes(self, periods: Sequence[Period]) -> PeriodCubes:
        stored = [period for period in periods if period not in self._cubes]
        found = dict(zip(stored, super().cubes(stored) if stored else (), strict=True))
        return PeriodCubes(self._cubes.get(each) or found[each] for each in periods)


def _check_counts(cube: object) -> None:
    if not isinstance(cube, Cube):
        raise DataError(
            f"a history holds counts, not {display(cube)}; count the rows first: "
            "fg.count(DATA, label=..., sensitive=...)"
        )


def refuse_unlike(history: str, known: tuple[Period, Cube], new: tuple[Period, Cube]) -> None:
    """Refuse the counts of a period that count something else than those of another."""
    (other, held), (period, cube) = known, new
    where = f"the counts of {period} and those of {other} in the history {quote(history)}"
    if held.plan != cube.plan and (difference := held.plan.difference(cube.plan)):
        raise CubeError(
            f"{where} answer different questions: {difference} ({other} first); {NEW_HISTORY}"
        )
    if held.clusters != cube.clusters:
        raise CubeError(f"{where} name clusters by different keys ({CLUSTER_KEY})")


def _file(period: Period) -> str:
    return f"{_PARTITION}{period}/{COUNTS}"


def _baseline_file(digest: str) -> str:
    return f"_baseline={digest.removeprefix('sha256:')[:32]}/{COUNTS}"


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss"})
_URL = re.compile(r"[a-z][a-z0-9+.\-]+://", re.IGNORECASE)


class FolderStore:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise DataError(f"the history {quote(folder)} is a file, not a folder")
        self.folder = folder
        self.name = str(folder)

    def names(self, file: str) -> list[str]:
        """Return the folders of the store that hold a text of a name, sorted."""
        with _explain_errors(self.name, "read"):
            if not self.folder.is_dir():
                return []
            with os.scandir(self.folder) as entries:
                folders = [entry.name for entry in entries if entry.is_dir()]
            return sorted(folder for folder in folders if (self.folder / folder / file).is_file())

    def _place(self, name: str) -> Path:
        # a history that somebody sent must not lead elsewhere, where others read and write
        place = self.folder / name
        if (link := link_on(place, self.folder)) is not None:
            raise DataError(f"{quote(link)} is a link, which a history does not follow")
        return place

    def read(self, name: str) -> str | None:
        with _explain_errors(f"{self.name}/{name}", "read"):
            if not (place := self._place(name)).exists():
                return None
            content = read_limited(place, MOST_SAVED, "a file of a history")
            return content.decode("utf-8", "replace")

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        return [self.read(name) for name in names]

    def create(self, name: str, text: str) -> bool:
        target = self._place(name)
        with _explain_errors(str(target), "write"):
            return create_whole(target, text, self.folder)

    def replace(self, name: str, text: str) -> None:
        target = self._place(name)
        with _explain_errors(str(target), "write"):
            replace_whole(target, text, self.folder)


@contextlib.contextmanager
def _explain_errors(what: str, doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot {doing} {quote(what)}: {error.strerror or error}") from None


class FsspecStore:
    """A prefix of an object store, by fsspec: objects appear whole, and are created exclusively."""

    def __init__(self, url: str) -> None:
        self._files, root = filesystem(url)
        self._root = root.rstrip("/")
        self.name = shown_address(url)

    def names(self, file: str) -> list[str]:
        with explain_store_errors(self.name, "read"):
            self._files.invalidate_cache()
            found = self._files.glob(f"{self._root}/*/{file}")
            return sorted(str(path).split("/")[-2] for path in found)

    def read(self, name: str) -> str | None:
        with explain_store_errors(f"{self.name}/{name}", "read"):
            try:
                data: bytes = self._files.cat_file(f"{self._root}/{name}")
            except FileNotFoundError:
                return None
            return data.decode("utf-8", errors="replace")

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        if not names:
            return []
        paths = [f"{self._root}/{name}" for name in names]
        with explain_store_errors(self.name, "read"):
            # all at once: one after the other waits for each
            found: dict[str, bytes] = self._files.cat(paths, on_error="omit")
        texts = {path: data.decode("utf-8", errors="replace") for path, data in found.items()}
        return [texts.get(path) for path in paths]

    def create(self, name: str, text: str) -> bool:
        return self._write(name, text, mode="create")

    def replace(self, name: str, text: str) -> None:
        self._write(name, text)

    def _write(self, name: str, text: str, **how: str) -> bool:
        path, protocol = f"{self._root}/{name}", self._files.protocol
        with explain_store_errors(f"{self.name}/{name}", "write"):
            # an object store has no folders, and would make a bucket
            if not _OBJECT_STORES & {*([protocol] if isinstance(protocol, str) else protocol)}:
                self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            try:
                self._files.pipe_file(path, text.encode(), **how)
            except FileExistsError:
                return False
        return True


Store: TypeAlias = FolderStore | FsspecStore
"""Texts under names such as ``period=2026-11-20/counts.cube.json``."""
