"""Sealing a report with its counts, and verifying it: every number is computed again."""

from __future__ import annotations

import datetime as dt
import json
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairgauge.api.audit import audit
from fairgauge.atomic_files import write_whole
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.errors import DataError, FairgaugeError, quote
from fairgauge.evidence.bundle import COUNTS, REPORT, SCHEMA, SUFFIX, digest, manifest_bytes, pack
from fairgauge.evidence.bundle import unpack as read_bundle
from fairgauge.report.loading import load
from fairgauge.report.report import Report, read_report
from fairgauge.report.verification import DifferentNumber, Verification
from fairgauge.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairgauge.report.plain_values import Plain

_LIBRARIES = ("numpy", "scipy")
_COMPARED = ("groups", "totals", "estimates", "pairs", "verdicts", "verdict")
_TOLERANCE = 1e-11
"""Relative difference of numbers that two versions of numerical libraries may have: numpy 1.26 with
scipy 1.11 and numpy 2.4 with scipy 1.17 differ by up to 2e-13 over all metrics."""
Kind = TypeVar("Kind", Report, Cube)
_NAMES = ("metric", "rule", "feature", "group", "stratum", "class")


def seal(
    report: Report | str | Path, counts: Cube | str | Path, path: str | Path, key: str | Path = ""
) -> Verification:
    """Write a report with the counts it rests on into one file that others can verify.

    Parameters
    ----------
    report : Report or path
        The report; of metrics of single rows alone its numbers are taken as they are.
    counts : Cube or path
        The counts that it was made of.
    path : path
        The file, ending in ``.fairgauge``.
    key : path, optional
        An Ed25519 private key in a PEM file, which signs the bundle.

    Returns
    -------
    Verification
        The verification of the file that was written.

    Raises
    ------
    DataError
        The report does not rest on these counts, or the file cannot be written.
    CubeError
        The counts hold metrics of a user's own, which a file cannot define.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = fg.seal(fg.audit(cube), cube, f"{folder}/audit.fairgauge")
    >>> str(found.finding)
    'reproduced'
    """
    sealed, cube = _loaded(report, Report, "report"), load_counts(counts)
    if not str(path).endswith(SUFFIX):
        raise DataError(f"a bundle ends in {SUFFIX}; {quote(path)} does not")
    if sealed.data.fingerprint != cube.digest:
        raise DataError(
            "the report was not made of these counts: it names the digest "
            f"{sealed.data.fingerprint[:19]}..., they have {cube.digest[:19]}..."
        )
    parts = {COUNTS: cube.to_json().encode(), REPORT: sealed.to_json().encode()}
    again = audit(cube, **sealed.spec)
    different, _ = _compared(sealed.to_dict(), again.to_dict(), from_rows := _from_rows(again))
    if different:
        first = different[0]
        raise DataError(
            f"the report does not follow from the counts: {first.subject} is {first.sealed} there, "
            f"and {first.recomputed} from the counts"
        )
    manifest = {
        "schema": SCHEMA,
        "tool": {"name": "fairgauge", "version": __version__},
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "counts": cube.digest,
        "libraries": {"python": platform.python_version(), **_versions()},
        "from_rows": list(from_rows),
        "parts": {name: digest(content) for name, content in parts.items()},
    }
    signature = None
    if key:
        from fairgauge.evidence.signatures import sign

        signature = sign(manifest_bytes(manifest), key)
    write_whole(path, pack(manifest, parts, signature))
    return verify(path)


def verify(path: str | Path) -> Verification:
    """Compute every number and verdict of a sealed bundle again from its counts.

    Metrics of single rows cannot be recomputed; they are named. So are numbers from random draws
    that differ because another version of NumPy made them.

    Raises
    ------
    DataError
        The file is no bundle, is damaged, or is of a newer version.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fg.seal(fg.audit(cube), cube, f"{folder}/audit.fairgauge")
    ...     print(fg.verify(f"{folder}/audit.fairgauge").different)
    ()
    """
    bundle = read_bundle(path)
    changed = list(bundle.changed)
    signed_by = None
    if bundle.signature is not None:
        from fairgauge.evidence.signatures import signer

        signed_by = signer(bundle.signed, bundle.signature)
        changed += [] if signed_by else ["the signature"]
    numbers, largest = 0, 0.0
    drawn_by, redrawn_by = bundle.manifest["libraries"]["numpy"], version("numpy")
    different: tuple[DifferentNumber, ...] = ()
    redrawn: tuple[DifferentNumber, ...] = ()
    from_rows: tuple[str, ...] = ()
    if not changed:
        try:
            cube = read_cube(bundle.parts[COUNTS].decode(), COUNTS)
            sealed = read_report(json.loads(bundle.parts[REPORT]), REPORT)
            again = audit(cube, **sealed.spec)
        except (KeyError, ValueError, FairgaugeError) as error:
            raise DataError(f"cannot compute {quote(path)} again: {error}") from None
        from_rows = _from_rows(again)
        different, compared = _compared(sealed.to_dict(), again.to_dict(), from_rows)
        numbers, largest = len(compared), max(compared, default=0.0)
        if different and drawn_by != redrawn_by:
            drawn = _drawn(cube, again)
            redrawn = tuple(number for number in different if number.path in drawn)
            different = tuple(number for number in different if number.path not in drawn)
    return Verification(
        name=Path(path).name,
        sealed_by=bundle.manifest["tool"]["version"],
        verified_by=__version__,
        libraries=_other_versions(bundle.manifest["libraries"]),
        created=bundle.manifest["created"],
        changed=tuple(changed),
        numbers=numbers,
        different=different,
        largest_deviation=largest,
        from_rows=from_rows,
        redrawn=redrawn,
        drawn_by=drawn_by,
        redrawn_by=redrawn_by,
        signed_by=signed_by,
    )


def load_counts(counts: Cube | str | Path) -> Cube:
    """Return counts, read from a file where a path is given.

    Raises
    ------
    DataError
        The path leads to no cube.
    """
    return _loaded(counts, Cube, "cube of counts")


def _loaded(value: object, kind: type[Kind], what: str) -> Kind:
    found = load(value) if isinstance(value, (str, Path)) else value
    if not isinstance(found, kind):
        raise DataError(f"{quote(value)} is no {what}")
    return found


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _other_versions(sealed: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Return the libraries of other versions than those that sealed a bundle."""
    present = _versions()
    return tuple(
        (name, sealed[name], here)
        for name, here in present.items()
        if sealed.get(name) not in (None, here)
    )


def _from_rows(again: Report) -> tuple[str, ...]:
    """Return the metrics that counts cannot give, which an audit of counts names."""
    return tuple(
        dict.fromkeys(
            each.metric
            for each in again.estimates
            if each.reason is not None and each.reason.code == "needs_rows"
        )
    )


def _drawn(cube: Cube, report: Report) -> frozenset[str]:
    """Return the places of numbers that rest on random draws, and of the sentences on them.

    They are those that another seed changes.
    """
    other = audit(cube, **{**report.spec, "seed": report.spec.get("seed", 0) + 1})
    changed, _ = _compared(report.to_dict(), other.to_dict(), ())
    places = {number.path for number in changed}
    return frozenset(places | {f"{place.rpartition('.')[0]}.says" for place in places})


def _compared(
    sealed: Plain, again: Plain, from_rows: tuple[str, ...]
) -> tuple[tuple[DifferentNumber, ...], list[float]]:
    """Return what differs, and the relative deviation of every number that does not."""
    different: list[DifferentNumber] = []
    deviations: list[float] = []
    for section in _COMPARED:
        pairs = _pairs(section, sealed[section], again[section], "")
        for path, subject, one, other in pairs:
            if subject.split(", ")[0] in from_rows:
                continue
            deviation = _deviation(one, other)
            if deviation is None or deviation > _TOLERANCE:
                different.append(DifferentNumber(path, subject, _text(one), _text(other)))
            else:
                deviations.append(deviation)
    return tuple(different), deviations


def _pairs(path: str, one: Any, other: Any, subject: str) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield the leaves of two trees of plain values, with what they are about."""
    if isinstance(one, dict) and isinstance(other, dict):
        named = [str(one[name]) for name in _NAMES if one.get(name) is not None]
        subject = ", ".join(named) or subject
        for key in dict.fromkeys([*one, *other]):
            yield from _pairs(f"{path}.{key}", one.get(key), other.get(key), subject)
    elif isinstance(one, list) and isinstance(other, list):
        for i in range(max(len(one), len(other))):
            left, right = (each[i] if i < len(each) else None for each in (one, other))
            yield from _pairs(f"{path}[{i}]", left, right, subject)
    else:
        yield path, subject or path, one, other


def _deviation(one: Any, other: Any) -> float | None:
    """Return the relative difference of two leaves, None where they are not comparable."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if one == other:
            return 0.0
        return abs(one - other) / max(abs(one), abs(other), 1e-3)
    return 0.0 if one == other else None


def _text(value: Any) -> str:
    if value is None:
        return "absent"
    return f"{value:.17g}" if isinstance(value, float) and math.isfinite(value) else str(value)
