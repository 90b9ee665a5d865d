"""Sealing a report with its counts, and verifying it: every number is computed again.

A bundle is a zip archive with a manifest of digests, which may be signed (Ed25519), by the library
``cryptography``.

Every field of the report's JSON is compared but those that counts cannot give: what its author
stated, when and by which version it was made, where the rows came from, and what only the rows
show. These are named, so that a reader knows what is not checked. Sentences are written anew from
the values beside them, by this version: those of a report of another version are not compared.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import platform
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from fairgauge import errors
from fairgauge.api.audit import audit
from fairgauge.api.comparing import alternatives, compare_models
from fairgauge.api.pairing import pairs
from fairgauge.atomic_files import write_whole
from fairgauge.checks.rows import with_unstated
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.enums import DiagnosticCode
from fairgauge.errors import DataError, FairgaugeError, display, needing, quote
from fairgauge.object_stores import MOST_SAVED, local_path, read_limited
from fairgauge.question.kits import find_kit
from fairgauge.question.options import BY_NAME
from fairgauge.question.readers import refuse_costly
from fairgauge.question.specification import COLUMNS, refuse_named_files
from fairgauge.reasons import ReasonCode
from fairgauge.render.grammar import english
from fairgauge.render.words.display_names import called
from fairgauge.results.alternatives import Alternatives
from fairgauge.results.codec import Plain, read_moment, read_word
from fairgauge.results.comparison import Change
from fairgauge.results.name_swaps import PairsAudit
from fairgauge.results.report import Report
from fairgauge.results.shown_result import SUFFIX, load, made_now, read_saved
from fairgauge.sharing.protection import load_counts
from fairgauge.start import __version__
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import Saved, read_json

SCHEMA = "fairgauge.bundle/1"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
COUNTS, REPORT = "counts.cube.json", "report.json"
HIDDEN = "bytes that belong to no part"
"""What these are called among the changed parts of a bundle."""
_STEP = 1 << 20
_MOST_MANIFEST = 1_000_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
_HEADER_SIZE, _LISTED_SIZE, _END_SIZE = 30, 46, 22
"""Bytes of an entry's header and of its place in the directory, but for its name; of the end."""
# the flag of an entry that is written before its size is known, never so in our bundles
_DESCRIBED_LATER = 0x08


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle, as they stand in the file.

    ``manifest``: the digest of every part, and what sealed them.
    ``signed``: the manifest as it stands in the file, which is what is signed.
    ``parts``: the content of every other part, by name.
    ``signature``: the signature of the manifest, and the public key; None without one.
    ``ambiguous``: the names that several entries of the archive have, and `HIDDEN` where it has
        bytes of no listed entry: other programs may read these.
    """

    manifest: Saved
    signed: bytes
    parts: Mapping[str, bytes]
    signature: bytes | None
    ambiguous: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the parts that do not fit their digest, are missing, added, or there twice.

        One that is neither counts nor a report is added, though the manifest has its digest.
        """
        digests = self.manifest["parts"]
        names = {*digests, *self.parts}
        wrong = {n for n in names if digests.get(n) != digest(self.parts.get(n, b"absent"))}
        wrong |= names - {COUNTS, REPORT}
        return tuple(sorted(wrong.union(self.ambiguous)))


def digest(content: bytes) -> str:
    """Return the digest of a part."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def manifest_bytes(manifest: Saved) -> bytes:
    """Return a manifest as it stands in the file."""
    return json.dumps(manifest, indent=1, sort_keys=True).encode()


def pack(manifest: Saved, parts: Mapping[str, bytes], signature: bytes | None) -> bytes:
    """Return the content of a bundle file: the same parts give the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = {MANIFEST: manifest_bytes(manifest), **parts}
        if signature is not None:
            contents[SIGNATURE] = signature
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return written.getvalue()


def unpack(path: str | Path) -> Bundle:
    """Read a bundle file."""
    packed = read_limited(path, MOST_SAVED, "a bundle, a .fairgauge file,")
    none = f"{quote(path)} is no bundle of fairgauge"
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            entries = archive.infolist()
            size = sum(max(entry.file_size, entry.compress_size) for entry in entries)
            if size > MOST_SAVED:
                raise DataError(
                    f"{quote(path)} unpacks to {size:,} bytes, more than {MOST_SAVED:,}: it is no "
                    "bundle of fairgauge"
                )
            parts = {entry.filename: _read_entry(archive, entry) for entry in entries}
            times = Counter(entry.filename for entry in entries)
            hidden = _has_hidden_bytes(archive)
    except zipfile.BadZipFile:
        raise DataError(f"{none} (a .fairgauge file of fairgauge seal), or is damaged") from None
    except (OSError, ValueError, RuntimeError, zlib.error) as error:
        raise DataError(f"{none}, or is damaged: {error}") from None
    content = parts.pop(MANIFEST, None)
    if content is None:
        raise DataError(f"{none}: it has no manifest")
    if len(content) > _MOST_MANIFEST:
        raise DataError(f"{quote(path)} has a {MANIFEST} of more than {_MOST_MANIFEST:,} bytes")
    try:
        manifest = read_json(content.decode())
        schema = manifest["schema"]
        known = _texts(manifest["parts"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        why = f": {error}" if isinstance(error, ValueError) else ""
        raise DataError(f"{none}: {MANIFEST} is no manifest of one{why}") from None
    if schema != SCHEMA:
        tool = manifest.get("tool")
        made = tool.get("version", "unknown") if isinstance(tool, dict) else "unknown"
        raise DataError(
            f"{quote(path)} has format {quote(schema)}, of fairgauge {quote(made)}; this "
            f"version reads {SCHEMA!r}: install that version or a newer one"
        )
    if missing := {COUNTS, REPORT} - known.keys():
        raise DataError(f"{none}: its manifest lists no {' and no '.join(sorted(missing))}")
    try:
        tool, libraries = _texts(manifest["tool"]), _texts(manifest["libraries"])
        made_by = {"name": tool.pop("name"), "version": read_word(tool.pop("version"))}
        if tool:
            raise ValueError  # noqa: TRY301
        libraries = {name: read_word(of) for name, of in libraries.items()}
        origin: dict[str, object] = {"tool": made_by, "libraries": libraries}
        origin["created"] = read_moment(manifest["created"])
    except (KeyError, TypeError, AttributeError, ValueError):
        why = "its manifest does not state when and with which versions it was sealed"
        raise DataError(f"{none}: {why}") from None
    signature = parts.pop(SIGNATURE, None)
    odd = [name for name, count in times.items() if count > 1] + [HIDDEN] * hidden
    return Bundle({**manifest, **origin, "parts": known}, content, parts, signature, tuple(odd))


def _texts(named: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in named.items()}


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{entry.filename} is neither stored nor deflated")
    with archive.open(entry) as handle:
        return handle.read(entry.file_size)


def _has_hidden_bytes(archive: zipfile.ZipFile) -> bool:
    # they may stand between its entries, after the data of one, in a comment or an extra field, and
    # after its end
    assert archive.fp is not None
    end, rest = 0, _END_SIZE
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        name = len(entry.orig_filename.encode())
        if entry.header_offset != end or entry.flag_bits & _DESCRIBED_LATER:
            return True
        archive.fp.seek(end + _HEADER_SIZE + name)
        if not _is_whole(archive.fp.read(entry.compress_size), entry):
            return True
        end, rest = archive.fp.tell(), rest + _LISTED_SIZE + name
    return end != archive.start_dir or archive.fp.seek(0, io.SEEK_END) != end + rest


def _is_whole(data: bytes, entry: zipfile.ZipInfo) -> bool:
    if entry.compress_type == zipfile.ZIP_STORED:
        return len(data) == entry.file_size
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    size, rest = 0, data
    while (part := decoder.decompress(rest, _STEP)) and size <= entry.file_size:
        size, rest = size + len(part), decoder.unconsumed_tail  # in steps: no second copy is held
    return size == entry.file_size and decoder.eof and not decoder.unused_data


_VERSIONS = {name: version(name) for name in ("numpy", "scipy")}
_STATED_OF_MANIFEST = ("created", "tool", "libraries")
# the fields of a manifest
_FIELDS = {"schema", "counts", "from_rows", "parts", *_STATED_OF_MANIFEST}
_MAKE = "fairgauge {} COUNTS.cube.json -o REPORT.json"
_SIGNATURE = "the signature"  # among the changed parts of a bundle
_MOST_LISTED = 20
Sealed: TypeAlias = Report | PairsAudit | Change | Alternatives
"""What follows from counts alone, and can be sealed with them."""
_VERBS: dict[type[Sealed], str] = {
    Report: "audit", PairsAudit: "pairs", Change: "compare-models", Alternatives: "alternatives",
}  # fmt: skip
VerificationResult = StrEnum("VerificationResult", {
    "REPRODUCED": "reproduced", "PARTLY_REPRODUCED": "partly reproduced",
    "DIFFERENT": "different", "CHANGED": "changed", "OTHER_SIGNER": "other signer",
})  # fmt: skip
"""What a verification comes to; partly, where a part of the report could not be compared."""


@dataclass(frozen=True, slots=True)
class DifferentNumber:
    """A value of the sealed report, at ``path``, that its counts and specification do not give."""

    path: str
    subject: str
    sealed: str
    recomputed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a sealed bundle when its report was computed again from its counts.

    ``libraries``: those of another version, each with that of the seal and the present one.
    ``changed``: the parts whose content does not fit the manifest, or which are there twice.
    ``numbers, different``: how many were compared and agree, and those that do not.
    ``largest_deviation``: the largest relative difference of a number that counts as the same.
    ``from_rows, not_computed``: what needs the rows, and what does not follow from counts at all.
    ``redrawn, drawn_by, redrawn_by``: random draws that differ, and both versions of NumPy.
    ``signed_by, expected_signer``: fingerprints of keys; None of no signature, and of any signer.
    ``beside``: the options in which the report differs from the question of its counts.
    ``report``: None where it was changed, does not follow from the counts, or has another signer.
    """

    name: str
    sealed_by: str
    verified_by: str
    libraries: tuple[tuple[str, str, str], ...]
    created: str
    changed: tuple[str, ...]
    numbers: int = 0
    different: tuple[DifferentNumber, ...] = ()
    largest_deviation: float = 0.0
    from_rows: tuple[str, ...] = ()
    redrawn: tuple[DifferentNumber, ...] = ()
    drawn_by: str = ""
    redrawn_by: str = ""
    signed_by: str | None
    expected_signer: str | None = None
    not_computed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    report: Sealed | None = field(default=None, repr=False)

    @property
    def finding(self) -> VerificationResult:
        if self.changed:
            return VerificationResult.CHANGED
        if self.expected_signer not in (None, self.signed_by):
            return VerificationResult.OTHER_SIGNER
        if self.different:
            return VerificationResult.DIFFERENT
        if self.sealed_by != self.verified_by or self.redrawn or self.from_rows:
            return VerificationResult.PARTLY_REPRODUCED
        return VerificationResult.REPRODUCED

    def __str__(self) -> str:
        say, of, far = english().say, self.different, self.largest_deviation
        lines = [say("verification", "different", subject=each.subject, path=each.path,
                     sealed=called(each.sealed), other=called(each.recomputed))
                 for each in of[:_MOST_LISTED]]  # fmt: skip
        if len(of) > _MOST_LISTED:
            lines.append(say("verification", "more", n=len(of) - _MOST_LISTED))
        facts: dict[str, object] = {
            "finding": str(self.finding), "name": called(self.name),
            "unsigned": _SIGNATURE in self.changed,
            "digits": math.floor(-math.log10(far)) if far else None,
        }  # fmt: skip
        return say("verification", "text", v=self, different=lines, **facts) or ""


def seal(
    report: Sealed | str | Path,
    counts: Cube | str | Path,
    path: str | Path,
    key: str | Path | None = None,
    password: str | None = None,
) -> Verification:
    """Write a report with the counts it rests on into one file that others can verify.

    Parameters
    ----------
    report : Report, PairsAudit, Change, Alternatives or path
        The report, the audit by swapped names, the comparison of models or the search for
        alternatives; of metrics of single rows alone its numbers are taken as they are.
    counts : Cube or path
        The counts that it was made of.
    path : path
        The file, ending in ``.fairgauge``.
    key : path, optional
        An Ed25519 private key in a PEM file, which signs the bundle.
    password : str, optional
        The password of an encrypted key; else that in the environment variable
        ``FAIRGAUGE_KEY_PASSWORD``.

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
    sealed, cube = load(report) if isinstance(report, (str, Path)) else report, load_counts(counts)
    if not isinstance(sealed, Sealed):
        raise DataError(f"{display(report)} is no report")
    saved = read_saved(report) if isinstance(report, (str, Path)) else sealed.to_dict()
    if not str(path).endswith(SUFFIX):
        raise DataError(f"a bundle ends in {SUFFIX}; {quote(path)} does not")
    write_whole(path, _seal(sealed, cube, saved, key, password))
    return verify(path)


def bundle(report: Sealed) -> bytes:
    """Return the sealed bundle of a report and of the counts that it was made of, which it has.

    Where rows gave it more than counts do (exact scores, metrics of single rows), the report of the
    counts is sealed.
    """
    cube = getattr(report.tally, "cube", None)
    if cube is None:
        raise DataError(
            "a report that was read from a file, or compares two, holds no counts: name them, too, "
            "or seal what is compared (fairgauge seal)"
        )
    checked = recompute(cube, report, report.to_dict())
    if checked.different:
        again = checked.again
        if isinstance(again, Change) and isinstance(report, Change):
            report = replace(again, old=report.old)
        elif isinstance(again, Report) and isinstance(report, Report):
            report = replace(again, data=report.data)
        elif isinstance(again, Alternatives):
            report = replace(again, data=replace(again.data, source=report.data.source))
    return _seal(report, cube, report.to_dict(), None, None)


def _seal(
    sealed: Sealed, cube: Cube, saved: Saved, key: str | Path | None, password: str | None
) -> bytes:
    make = _MAKE.format(_VERBS[type(sealed)])
    named = sealed.fingerprint if isinstance(sealed, Alternatives) else sealed.data.fingerprint
    if named != cube.digest:
        raise DataError(
            "the report was not made of these counts: it names the fingerprint "
            f"{named[:19]}..., they have {cube.digest[:19]}..."
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
        "schema": SCHEMA, "counts": cube.digest, "from_rows": list(checked.from_rows),
        "tool": {"name": "fairgauge", "version": __version__},
        "created": made_now()["created"],
        "libraries": {"python": platform.python_version(), **_VERSIONS},
        "parts": {name: digest(content) for name, content in parts.items()},
    }  # fmt: skip
    content = manifest_bytes(manifest)
    signature = None if key is None else sign(content, key, password)
    return pack(manifest, parts, signature)


def verify(path: str | Path, signed_by: str | None = None) -> Verification:
    """Compute the whole report of a sealed bundle again from its counts and its specification.

    Every field of the report is compared but those that do not follow from counts: when and by
    which version it was made, where the rows came from, and what its author stated. Its sentences
    are written anew from its values. What cannot be verified is named, and the bundle is then
    partly reproduced: texts of another version, numbers from random draws of another version of
    NumPy, and metrics of single rows.

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
        The file is no bundle, is damaged, or is of a newer version; or ``signed_by`` is no
        fingerprint.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fg.seal(fg.audit(cube), cube, f"{folder}/audit.fairgauge")
    ...     print(fg.verify(f"{folder}/audit.fairgauge").different)
    ()
    """
    if signed_by is not None and not _FINGERPRINT.fullmatch(signed_by):
        raise DataError(
            f"the key that must have signed the bundle is {quote(signed_by)}, which is no "
            "fingerprint: ed25519: and 32 hexadecimal digits, as verify prints them of a signed "
            "bundle (a variable that is not set is an empty text)"
        )
    bundle = unpack(path)
    changed = list(bundle.changed)
    key = None
    if bundle.signature is not None:
        key = signer(bundle.signed, bundle.signature)
        changed += [] if key else [_SIGNATURE]
    checked: Recomputation | None = None
    if not changed:
        try:
            cube = read_cube(bundle.parts[COUNTS].decode(), COUNTS)
            saved = read_json(bundle.parts[REPORT].decode())
            kinds = {kind.KIND.schema: kind for kind in _VERBS}
            of = saved.get("schema") if isinstance(saved, dict) else None
            sealed = kinds.get(str(of), Report).from_dict(saved)
            checked = recompute(cube, sealed, saved)
            changed += _unfitting(bundle.manifest, cube, sealed, checked)
        except errors.ChangedCountsError:  # with a digest in the manifest that was made to fit
            changed.append(COUNTS)
        except FairgaugeError as error:
            raise DataError(f"cannot compute {quote(path)} again: {error}") from None
        except Exception as error:  # any type of value may stand anywhere in what others wrote
            raise DataError(
                f"cannot compute {quote(path)} again: a value of {COUNTS} or {REPORT} is of a type "
                f"or in a place where none can be ({type(error).__name__}: {error})"
            ) from error
    there = bundle.manifest["libraries"]
    libraries = ((name, there.get(name), here) for name, here in _VERSIONS.items())
    stated = Verification(
        name=Path(path).name, created=bundle.manifest["created"], changed=tuple(changed),
        sealed_by=bundle.manifest["tool"]["version"], verified_by=__version__,
        libraries=tuple(each for each in libraries if each[1] not in (None, each[2])),
        drawn_by=there.get("numpy", "an unknown version"), redrawn_by=_VERSIONS["numpy"],
        signed_by=key, expected_signer=signed_by,
    )  # fmt: skip
    return stated if changed or checked is None else _add_comparison(stated, cube, sealed, checked)


def _add_comparison(
    stated: Verification, cube: Cube, sealed: Sealed, checked: Recomputation
) -> Verification:
    different = checked.different
    redrawn: tuple[DifferentNumber, ...] = ()
    if different and stated.drawn_by != stated.redrawn_by:
        drawn = drawn_numbers(cube, checked.again)
        redrawn = tuple(number for number in different if number.path in drawn)
        different = tuple(number for number in different if number.path not in drawn)
    of_manifest = (f"{name} of {MANIFEST}" for name in _STATED_OF_MANIFEST)
    held = sealed.to_dict()
    stated_of = [name for name in STATED if name.split(".")[0] in held]
    found = replace(
        stated, numbers=len(checked.deviations), different=different, redrawn=redrawn,
        largest_deviation=max(checked.deviations, default=0.0), from_rows=checked.from_rows,
        not_computed=(*stated_of, *of_manifest),
        beside=options_beside(_question(cube, sealed), sealed.spec),
    )  # fmt: skip
    agrees = found.finding in (VerificationResult.REPRODUCED, VerificationResult.PARTLY_REPRODUCED)
    return replace(found, report=sealed if agrees else None)


def _unfitting(manifest: Saved, cube: Cube, sealed: Sealed, checked: Recomputation) -> list[str]:
    stated = manifest["tool"]["version"]
    if stated != sealed.version:
        return [f"the version ({MANIFEST}: {stated}, {REPORT}: {sealed.version})"]
    follows: dict[str, object] = {"counts": cube.digest}
    if stated == __version__:  # another may compute more, or less, from counts
        follows["from_rows"] = list(checked.from_rows)
    stated_otherwise = any(manifest.get(name) != value for name, value in follows.items())
    return [MANIFEST] if stated_otherwise or manifest.keys() != _FIELDS else []


KEY_PASSWORD = "FAIRGAUGE_KEY_PASSWORD"  # noqa: S105 - the name of a variable
_KEY_LENGTH = 32
_FINGERPRINT = re.compile(r"ed25519:[0-9a-f]{32}")


def is_locked(key: str | Path) -> bool:
    """Return whether a private key in a PEM file is encrypted."""
    try:
        return b"ENCRYPTED" in local_path(key).read_bytes()
    except OSError as error:
        why = errors.cause(error)
        raise DataError(f"cannot read the private key {quote(key)}: {why}") from None


def sign(content: bytes, key: str | Path, password: str | None = None) -> bytes:
    """Return the public key and the signature of some bytes, by a private key in a PEM file.

    Raises ``DataError``: the file is no Ed25519 private key, or is encrypted with another password.
    Raises ``MissingExtra``: the library is not installed.
    """
    serialization, ed25519 = _library()
    word = (password or os.environ.get(KEY_PASSWORD, "")).encode() if is_locked(key) else None
    if word == b"":
        raise DataError(
            f"the private key {quote(key)} is encrypted; put its password into the environment "
            f"variable {KEY_PASSWORD}"
        )
    try:
        private = serialization.load_pem_private_key(Path(key).read_bytes(), word)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"cannot read the private key {quote(key)}: {error}") from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise DataError(f"{quote(key)} is no Ed25519 key; openssl genpkey -algorithm ed25519")
    public: bytes = private.public_key().public_bytes_raw()
    signature: bytes = private.sign(content)
    return public + signature


def signer(content: bytes, signature: bytes) -> str | None:
    """Return the fingerprint of the key that signed some bytes; None where the signature is wrong.

    Raises ``MissingExtra``: the library is not installed.
    """
    _, ed25519 = _library()
    public = signature[:_KEY_LENGTH]
    # keys of order 1, 2, 4 and 8, which OpenSSL accepts, sign anything by a signature of anybody
    prime, y = 2**255 - 19, int.from_bytes(public, "little") % 2**255
    d = -121665 * pow(121666, -1, prime)
    if y * (y**2 - 1) * (d * y**4 + 2 * y**2 - 1) % prime == 0:
        return None
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature[_KEY_LENGTH:], content)
    except Exception:
        return None
    return f"ed25519:{hashlib.sha256(public).hexdigest()[:32]}"


def _library() -> tuple[ModuleType, Any]:
    with needing("seal", "a signature"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    return serialization, ed25519


STATED = ("created", "tool.version", "data.source", "old.source", "old.created", "spec.document")
"""The fields of a report that do not follow from its counts."""
OF_ROWS_ALONE = {
    DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE, DiagnosticCode.FEATURE_DISTANCE, DiagnosticCode.SAMPLED,
    DiagnosticCode.COPIED_FILES, DiagnosticCode.SKIPPED_FILES, DiagnosticCode.LINES_ABOVE,
    DiagnosticCode.DECLARED_MISSING, DiagnosticCode.COLUMN_LABEL,
    DiagnosticCode.UNUSED_WEIGHTS,
}  # fmt: skip
"""Diagnostics that counts cannot give."""
# relative difference of numbers that two versions of numerical libraries may have: numpy 1.26 with
# scipy 1.11 and numpy 2.4 with scipy 1.17 differ by up to 2e-13 over all metrics.
_TOLERANCE = 1e-11
# lists of records of one metric each, and their fields that state whether it has a value
_OF_METRICS, _OF_VALUES = ("estimates", "verdicts"), {"status", "outcome", "reason"}
_Leaf: TypeAlias = tuple[str, str, object, object]  # path, what is there, values in two reports
_NAMES = ("metric", "rule", "feature", "group", "stratum", "class")


@dataclass(frozen=True, slots=True)
class Recomputation:
    """A report, compared with the one that its counts and its specification give.

    ``again``: the report computed again.
    ``different``: the fields that differ.
    ``deviations``: the relative deviation of every field that does not; 0 of texts.
    ``from_rows``: the metrics and diagnostics that counts cannot give.
    """

    again: Sealed
    different: tuple[DifferentNumber, ...]
    deviations: tuple[float, ...]
    from_rows: tuple[str, ...]


def recompute(cube: Cube, sealed: Sealed, saved: Saved) -> Recomputation:
    """Compute a report again from its counts and its specification, and compare every field.

    ``saved``: the report as it stands in its file: what reading ignores is compared as well.
    """
    again = _recompute(cube, sealed)
    explained = again.estimates if isinstance(again, Report) else ()
    needing = (e for e in explained if e.reason and e.reason.code is ReasonCode.NEEDS_ROWS)
    from_rows = tuple(dict.fromkeys(each.metric for each in needing))  # counts cannot give them
    other, stated = again.to_dict(), sealed.to_dict()
    for key in ("statements", "doubts") if isinstance(again, Report) else ("statements",):
        if from_rows or saved.get(key) == stated[key]:
            other[key] = stated[key]  # they follow from its values, each of which is compared
    settled = dict(saved)
    if sealed.version != again.version:  # each version writes these in its own words
        settled, other = (
            {key: value for key, value in side.items() if key not in ("statements", "metrics")}
            for side in (settled, other)
        )
    _settle_diagnostics(cube, settled, other)
    for side in (settled, other) if from_rows else ():
        kept = (f for f in side["findings"] if f["estimate"]["metric"] not in from_rows)
        side["findings"] = [*kept]
        side |= {name: [*side[name]] for name in _OF_METRICS}
    for name in _OF_METRICS if from_rows else ():
        for i, (one, two) in enumerate(zip(settled[name], other[name], strict=False)):
            if two["metric"] in from_rows:
                open_ = {key for key, value in two.items() if value in (None, [])} | _OF_VALUES
                for side, record in ((settled, one), (other, two)):
                    side[name][i] = {k: v for k, v in record.items() if k not in open_}
    different, deviations = _compare(settled, other)
    if isinstance(sealed, (Report, Change)) and sealed.own:
        # a cube file cannot hold them, and their titles are not those of this version
        names = ", ".join(rate.name for rate in sealed.own)
        different.append(DifferentNumber("metrics", "metrics", names, _leaf_text(None)))
        deviations.pop("metrics", None)
    codes = dict.fromkeys(e.code for e in sealed.diagnostics if e.code in OF_ROWS_ALONE)
    every = (*from_rows, *(f"diagnostic {code}" for code in codes))
    return Recomputation(again, tuple(different), tuple(deviations.values()), every)


def _recompute(cube: Cube, sealed: Sealed, **options: object) -> Sealed:
    if isinstance(preset := sealed.spec.get("preset"), str):
        find_kit(preset)  # which opens no file that the report names
    refuse_named_files(sealed.spec)
    refuse_costly(sealed.spec.get("replicates"), sealed.spec.get("threshold"))
    unstated = [e for e in _question(cube, sealed).items() if e[0] in ("task", "favourable")]
    asked = dict(each for each in sealed.spec.items() if each not in unstated) | options
    if isinstance(sealed, (PairsAudit, Change)):
        return (pairs if isinstance(sealed, PairsAudit) else compare_models)(cube, **asked)
    if isinstance(sealed, Alternatives):
        if sealed.chosen_on is not None:
            raise DataError("its candidate was chosen on other rows, which these counts lack")
        asked |= {"disparity": sealed.disparity, "harm": sealed.harm}
        if (search := sealed.search) is not None:
            fixed = search.assumes == "fixed"
            asked |= {"retrained": True, "looks": search.looks, "fixed_number": fixed}
        return alternatives(cube, **asked)
    return audit(cube, **asked)


def _question(cube: Cube, sealed: Sealed) -> Saved:
    # that of the counts, as a report has it: of outcomes in doubt neither is better, unless stated
    stated = any("favourable" in (each.get("options") or ()) for each in sealed.diagnostics)
    return (cube.asked if stated else with_unstated(cube.asked, sealed.diagnostics)).to_dict()


def drawn_numbers(cube: Cube, report: Sealed) -> frozenset[str]:
    """Return the places of numbers that rest on random draws: those that another seed changes."""
    other = _recompute(cube, report, seed=report.spec.get("seed", 0) + 1)
    different, _ = _compare(report.to_dict() | {"spec": None}, other.to_dict() | {"spec": None})
    return frozenset(number.path for number in different)


def options_beside(asked: Saved, spec: Saved) -> tuple[str, ...]:
    """Return the options in which a report differs from the question of its counts."""
    own = (each for each in spec.items() if each[0] not in ("document", *COLUMNS))
    return tuple(name for name, v in own if asked.get(name, _default_option(name)) != v)


def _settle_diagnostics(cube: Cube, sealed: Plain, again: Plain) -> None:
    # An audit whose caller states the task does not note it. One of counts in memory, whose whole
    # question is not known, or one of rows, does not note that it overrides the options of counts:
    # it then asks what they were counted for.
    sealed["diagnostics"] = [d for d in sealed["diagnostics"] if d["code"] not in OF_ROWS_ALONE]
    left_out = {DiagnosticCode.TASK} | OF_ROWS_ALONE
    asked = cube.asked.to_dict()
    if asked == cube.plan.asked.to_dict() or not options_beside(asked, sealed["spec"]):
        left_out.add(DiagnosticCode.OVERRIDES)
    left_out -= {each["code"] for each in sealed["diagnostics"]}
    again["diagnostics"] = [d for d in again["diagnostics"] if d["code"] not in left_out]


def _compare(saved: Saved, again: Saved) -> tuple[list[DifferentNumber], dict[str, float]]:
    # what differs between a report and the one computed again, in all that follows from counts, and
    # the relative deviation of everything else
    different, deviations = [], {}
    for path, subject, one, other in _leaves(saved, again):
        is_stated = path in STATED or path.startswith("spec.document.")
        if is_stated and not isinstance(one, (dict, list)):
            continue
        deviation = _deviation(one, other)
        if deviation is not None and deviation <= _TOLERANCE:
            deviations[path] = deviation
        else:
            different.append(DifferentNumber(path, subject, _leaf_text(one), _leaf_text(other)))
    return different, deviations


def _leaves(one: Saved, other: Saved) -> Iterator[_Leaf]:
    for section in dict.fromkeys([*one, *other]):
        left, right = one.get(section), other.get(section)
        if section == "spec" and left is not None and right is not None:
            right = {k: v for k, v in right.items() if k in left or v != _default_option(k)}
        # no section of ours has a full stop in its name, as paths have
        yield from _pair_leaves(quote(section) if "." in section else section, left, right, "")


def _default_option(name: str) -> object:
    # the default of an option as a report has it: one of an older version lacks it
    option = BY_NAME.get(name)  # None of audits by swapped names alone, which have no defaults
    return None if option is None else option.type.plain(option.default)


def _pair_leaves(path: str, one: object, other: object, subject: str) -> Iterator[_Leaf]:
    if isinstance(one, dict) and isinstance(other, dict):
        named = [str(other[name]) for name in _NAMES if other.get(name) is not None]
        subject = ", ".join(named) or subject
        for key in dict.fromkeys([*one, *other]):
            yield from _pair_leaves(f"{path}.{key}", one.get(key), other.get(key), subject)
    elif isinstance(one, list) and isinstance(other, list):
        for i in range(max(len(one), len(other))):
            left, right = (each[i] if i < len(each) else None for each in (one, other))
            yield from _pair_leaves(f"{path}[{i}]", left, right, subject)
    else:
        yield path, subject or path, one, other


def _deviation(one: object, other: object) -> float | None:
    # counts, which are whole numbers, and texts are equal or not
    if isinstance(one, bool) or isinstance(other, bool):
        return 0.0 if one is other else None
    if one == other:
        return 0.0
    whole = isinstance(one, int) or isinstance(other, int)
    if whole or not (isinstance(one, (int, float)) and isinstance(other, (int, float))):
        return None
    return abs(one - other) / max(abs(one), abs(other), 1e-3)


def _leaf_text(value: object) -> str:
    if value is None:
        return "absent"
    return f"{value:.17g}" if isinstance(value, float) and math.isfinite(value) else str(value)
