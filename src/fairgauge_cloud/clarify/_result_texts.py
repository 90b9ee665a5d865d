"""The texts of ``analysis.json`` and of ``fairgauge.json``, which states what it lies beside."""

import hashlib
import json

SCHEMA = "fairgauge.clarify/1"
OF = "analysis_sha256"
"""The key of ``fairgauge.json`` that holds the digest of the ``analysis.json`` beside it."""


def as_json(value: object) -> str:
    """Return a value as the service writes its files."""
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False) + "\n"


def digest(text: str) -> str:
    """Return what identifies the text of a file."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
