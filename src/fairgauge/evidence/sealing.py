"""Sealing a report with its counts, and verifying it: every number is computed again.

Bundles may be signed (Ed25519), by the library ``cryptography``.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from fairgauge.api.loading import load
from fairgauge.atomic_files import write_whole
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.errors import (
    ChangedCountsError,
    DataError,
    FairgaugeError,
    MissingExtra,
    quote,
    shown,
)
from fairgauge.evidence._recomputation import (
    STATED,
    Recomputation,
    Sealed,
    drawn_numbers,
    options_beside,
    recompute,
)
from fairgauge.evidence.bundle import (
    COUNTS,
    MANIFEST,
    REPORT,
    SCHEMA,
    SUFFIX,
    digest,
    manifest_bytes,
    pack,
)
from fairgauge.evidence.bundle import unpack as read_bundle
from fairgauge.results.name_swaps import PairsAudit
from fairgauge.results.report import Report, read_report
from fairgauge.results.shown_result import read_saved
from fairgauge.results.verification import (
    NAME_OF_SIGNATURE,
    DifferentNumber,
    Verification,
    VerificationResult,
)
from fairgauge.strict_json import read_json
from fairgauge.values import Saved
from fairgauge.version import __version__

_LIBRARIES = ("numpy", "scipy")
_STATED_OF_MANIFEST = ("created", "tool", "libraries")
_FIELDS = {"schema", "counts", "from_rows", "parts", *_STATED_OF_MANIFEST}
"""The fields of a manifest."""
_MAKE = "fairgauge {} COUNTS.cube.json -o REPORT.json"


def seal(
    report: Sealed | str | Path, counts: Cube | str | Path, path: str | Path, key: str | Path = ""
) -> Verification:
    """Write a report with the counts it rests on into one file that others can verify.

    Parameters
    ----------
    report : Report, PairsAudit or path
        The report, or the audit by swapped names; of metrics of single rows alone its numbers are
        taken as they are.
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
        The report does not follow from these counts, has a sentence that its values do not give or
        is of another version, or the file cannot be written.
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
    sealed, cube = _loaded_report(report), load_counts(counts)
    saved = read_saved(report) if isinstance(report, (str, Path)) else sealed.to_dict()
    if not str(path).endswith(SUFFIX):
        raise DataError(f"a bundle ends in {SUFFIX}; {quote(path)} does not")
    make = _MAKE.format("audit" if isinstance(sealed, Report) else sealed.KIND.name)
    if sealed.data.fingerprint != cube.digest:
        raise DataError(
            "the report was not made of these counts: it names the fingerprint "
            f"{sealed.data.fingerprint[:19]}..., they have {cube.digest[:19]}..."
        )
    if sealed.version != __version__ or saved["schema"] != sealed.KIND.schema:
        raise DataError(
            f"the report is of fairgauge {sealed.version}, and this is {__version__}: seal it with "
            f"that version, or make it with this one: {make}"
        )
    parts = {COUNTS: cube.to_json().encode(), REPORT: sealed.to_json().encode()}
    checked = recompute(cube, sealed, saved)
    if checked.different:
        first = checked.different[0]
        what = f"{first.subject} is {first.sealed} there, and {first.recomputed} from the counts"
        if first.path.startswith("diagnostics"):
            what = "its notes are not those of a report of these counts"
        raise DataError(
            f"the report does not follow from the counts: {what}. If it was made of the rows, or "
            f"with other options, make it of the counts: {make}"
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
        signature = sign(manifest_bytes(manifest), key)
    write_whole(path, pack(manifest, parts, signature))
    return verify(path)


def verify(path: str | Path, signed_by: str = "") -> Verification:
    """Compute the whole report of a sealed bundle again from its counts and its specification.

    Every field of the report is compared but those that do not follow from counts: when and by
    which version it was made, where the rows came from, and what its author stated. Its sentences
    are written anew from its values. What cannot be verified is named, and the bundle is then
    partly reproduced: texts that another version wrote in other words, numbers from random draws
    of another version of NumPy, and metrics of single rows.

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
        key = signer(bundle.signed, bundle.signature)
        changed += [] if key else [NAME_OF_SIGNATURE]
    checked: Recomputation | None = None
    if not changed:
        try:
            cube = read_cube(bundle.parts[COUNTS].decode(), COUNTS)
            saved = read_json(bundle.parts[REPORT].decode())
            sealed = _read(saved)
            checked = recompute(cube, sealed, saved)
            changed += _unfitting(bundle.manifest, cube, sealed, checked)
        except ChangedCountsError:  # with a digest in the manifest that was made to fit
            changed.append(COUNTS)
        except FairgaugeError as error:
            raise DataError(f"cannot compute {quote(path)} again: {error}") from None
        except Exception as error:  # any type of value may stand anywhere in what others wrote
            raise DataError(
                f"cannot compute {quote(path)} again: a value of {COUNTS} or {REPORT} is of a type "
                f"or in a place where none can be ({type(error).__name__}: {error})"
            ) from error
    stated = Verification(
        name=Path(path).name,
        sealed_by=bundle.manifest["tool"]["version"],
        verified_by=__version__,
        libraries=_other_versions(bundle.manifest["libraries"]),
        created=bundle.manifest["created"],
        changed=tuple(changed),
        drawn_by=bundle.manifest["libraries"].get("numpy", "an unknown version"),
        redrawn_by=version("numpy"),
        signed_by=key,
        expected_signer=signed_by,
    )
    return stated if changed or checked is None else _with_comparison(stated, cube, sealed, checked)


def _with_comparison(
    stated: Verification, cube: Cube, sealed: Sealed, checked: Recomputation
) -> Verification:
    """Add to a verification what became of the report."""
    different = checked.different
    redrawn: tuple[DifferentNumber, ...] = ()
    if different and stated.drawn_by != stated.redrawn_by:
        drawn = drawn_numbers(cube, checked.again)
        redrawn = tuple(number for number in different if number.path in drawn)
        different = tuple(number for number in different if number.path not in drawn)
    found = replace(
        stated,
        numbers=len(checked.deviations),
        different=different,
        texts=checked.texts,
        largest_deviation=max(checked.deviations, default=0.0),
        from_rows=checked.from_rows,
        redrawn=redrawn,
        not_computed=(*STATED, *(f"{name} of {MANIFEST}" for name in _STATED_OF_MANIFEST)),
        beside=options_beside(cube, sealed.spec),
    )
    agrees = found.finding in (VerificationResult.REPRODUCED, VerificationResult.PARTLY_REPRODUCED)
    return replace(found, report=sealed if agrees else None)


def _read(saved: Saved) -> Sealed:
    """Read the report of a bundle, which has the format of those that are sealed."""
    if isinstance(saved, dict) and saved.get("schema") == PairsAudit.KIND.schema:
        return PairsAudit.from_dict(saved)
    sealed = read_report(saved, REPORT)
    if saved["schema"] == "fairgauge.report/1":
        raise DataError(
            f"{REPORT} has format {quote(saved['schema'])}; {Report.KIND.schema} is sealed"
        )
    return sealed


def _unfitting(manifest: Saved, cube: Cube, sealed: Sealed, checked: Recomputation) -> list[str]:
    """Return what a manifest states that its parts do not."""
    stated = manifest["tool"]["version"]
    if stated != sealed.version:
        return [f"the version ({MANIFEST}: {stated}, {REPORT}: {sealed.version})"]
    follows: dict[str, object] = {"counts": cube.digest}
    if stated == __version__:  # another may compute more, or less, from counts
        follows["from_rows"] = list(checked.from_rows)
    fits = manifest.keys() == _FIELDS and all(
        manifest[name] == value for name, value in follows.items()
    )
    return [] if fits else [MANIFEST]


def load_counts(counts: Cube | str | Path) -> Cube:
    """Return counts, read from a file where a path is given."""
    found = load(counts) if isinstance(counts, (str, Path)) else counts
    if not isinstance(found, Cube):
        raise DataError(f"{shown(counts)} is no cube of counts")
    return found


def find_counts(report: str | Path) -> Path:
    """Return the counts beside a report that it was made of."""
    made_of = _loaded_report(report).data.fingerprint
    for path in sorted(Path(report).parent.glob("*.cube.json")):
        try:
            if load_counts(path).digest == made_of:
                return path
        except FairgaugeError:
            continue  # damaged, or no counts: not what is looked for
    raise DataError(
        f"no .cube.json beside {quote(report)} holds the counts that it was made of; name the file "
        "(fairgauge seal REPORT COUNTS.cube.json), which fairgauge count writes"
    )


def _loaded_report(report: Sealed | str | Path) -> Sealed:
    found = load(report) if isinstance(report, (str, Path)) else report
    if not isinstance(found, (Report, PairsAudit)):
        raise DataError(f"{shown(report)} is no report")
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


_KEY_LENGTH = 32


def sign(content: bytes, key: str | Path) -> bytes:
    """Return the public key and the signature of some bytes, by a private key in a PEM file.

    Raises
    ------
    DataError
        The file is no unencrypted Ed25519 private key.
    MissingExtra
        The library is not installed.
    """
    serialization, ed25519 = _library()
    try:
        private = serialization.load_pem_private_key(Path(key).read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"cannot read the private key {quote(key)}: {error}") from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise DataError(f"{quote(key)} is no Ed25519 key; openssl genpkey -algorithm ed25519")
    public: bytes = private.public_key().public_bytes_raw()
    signature: bytes = private.sign(content)
    return public + signature


def signer(content: bytes, signature: bytes) -> str | None:
    """Return the fingerprint of the key that signed some bytes; None where the signature is wrong.

    Raises
    ------
    MissingExtra
        The library is not installed.
    """
    _, ed25519 = _library()
    public = signature[:_KEY_LENGTH]
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(public)
        key.verify(signature[_KEY_LENGTH:], content)
    except Exception:
        return None
    return f"ed25519:{hashlib.sha256(public).hexdigest()[:32]}"


def _library() -> tuple[ModuleType, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtra("a signature", "seal", error) from None
    return serialization, ed25519
