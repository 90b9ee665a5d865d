"""Ed25519 signatures of bundles, by the library ``cryptography``."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError, MissingExtra, quote

if TYPE_CHECKING:
    from types import ModuleType

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
