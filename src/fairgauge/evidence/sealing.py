"""Sealing a report with its counts, and verifying it: every number is computed again."""

from __future__ import annotations

import datetime as dt
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fairgauge.api.loading import load
from fairgauge.atomic_files import write_whole
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.errors import ChangedCountsError, DataError, FairgaugeError, quote
from fairgauge.evidence.bundle import COUNTS, REPORT, SCHEMA, SUFFIX, digest, manifest_bytes, pack
from fairgauge.evidence.bundle import unpack as read_bundle
from fairgauge.evidence.recomputation import drawn_numbers, options_beside, recompute
from fairgauge.report.report import Report, read_report
from fairgauge.report.verification import NAME_OF_SIGNATURE, DifferentNumber, Verification
from fairgauge.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping


_LIBRARIES = ("numpy", "scipy")
Kind = TypeVar("Kind", Report, Cube)


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
            "the report was not made of these counts: it names the fingerprint "
            f"{sealed.data.fingerprint[:19]}..., they have {cube.digest[:19]}..."
        )
    parts = {COUNTS: cube.to_json().encode(), REPORT: sealed.to_json().encode()}
    checked = recompute(cube, sealed, sealed.to_dict())
    if checked.different:
        first = checked.different[0]
        what = f"{first.subject} is {first.sealed} there, and {first.recomputed} from the counts"
        if first.path.startswith("diagnostics"):
            what = "its notes are not those of a report of these counts"
        raise DataError(
            f"the report does not follow from the counts: {what}. If it was made of the rows, or "
            "with other options, make it of the counts: fairgauge audit COUNTS.cube.json -o "
            "REPORT.json"
        )
    manifest = {
        "schema": SCHEMA,
        "tool": {"name": "fairgauge", "version": __version__},
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "counts": cube.digest,
        "libraries": {"python": platform.python_version(), **_versions()},
        "from_rows": list(checked.from_rows),
        "parts": {name: digest(content) for name, content in parts.items()},
    }
    signature = None
    if key:
        from fairgauge.evidence.signatures import sign

        signature = sign(manifest_bytes(manifest), key)
    write_whole(path, pack(manifest, parts, signature))
    return verify(path)


def verify(path: str | Path, signed_by: str = "") -> Verification:
    """Compute the whole report of a sealed bundle again from its counts and its specification.

    Every field of the report is compared but those that do not follow from counts: when and by
    which version it was made, where the rows came from, and what its author stated. Metrics of
    single rows cannot be recomputed; they are named. So are numbers from random draws
    that differ because another version of NumPy made them.

    Parameters
    ----------
    path : path
        The bundle.
    signed_by : str, optional
        The fingerprint of the key that must have signed it, as a verification states it:
        ``ed25519:703b...``.

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
    key = None
    if bundle.signature is not None:
        from fairgauge.evidence.signatures import signer

        key = signer(bundle.signed, bundle.signature)
        changed += [] if key else [NAME_OF_SIGNATURE]
    numbers, largest = 0, 0.0
    not_computed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    drawn_by, redrawn_by = bundle.manifest["libraries"]["numpy"], version("numpy")
    different: tuple[DifferentNumber, ...] = ()
    redrawn: tuple[DifferentNumber, ...] = ()
    from_rows: tuple[str, ...] = ()
    if not changed:
        try:
            cube = read_cube(bundle.parts[COUNTS].decode(), COUNTS)
        except ChangedCountsError:  # with a digest in the manifest that was made to fit
            changed.append(COUNTS)
        except (ValueError, FairgaugeError) as error:
            raise DataError(f"cannot compute {quote(path)} again: {error}") from None
    if not changed:
        try:
            saved = json.loads(bundle.parts[REPORT])
            sealed = read_report(saved, REPORT)
            checked = recompute(cube, sealed, saved)
        except (KeyError, ValueError, FairgaugeError) as error:
            raise DataError(f"cannot compute {quote(path)} again: {error}") from None
        from_rows, different = checked.from_rows, checked.different
        numbers, largest = len(checked.deviations), max(checked.deviations, default=0.0)
        not_computed, beside = checked.not_computed, options_beside(cube, sealed.spec)
        if different and drawn_by != redrawn_by:
            drawn = drawn_numbers(cube, checked.again)
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
        signed_by=key,
        expected_signer=signed_by,
        not_computed=not_computed,
        beside=beside,
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
