"""A model behind a URL that the user names: the only place where fairgauge opens a connection."""

from __future__ import annotations

import urllib.error
import urllib.request

from fairgauge.compat._model_payloads import CONTENT_TYPES, decoded, encoded
from fairgauge.errors import DataError, quote

_PATIENCE = 60.0
"""Seconds that an endpoint may take to answer."""
_LONGEST_REPLY = 300


class EndpointModel:
    """An endpoint that listens at a URL, as a hosted model does: a POST to ``/invocations``."""

    outputs: tuple[str, ...] = ()
    most = 1_000

    def __init__(self, url: str) -> None:
        self._url = url

    def answer(self, asked: object, content_type: str = "", accept_type: str = "") -> object:
        headers = {"Content-Type": content_type, "Accept": accept_type}
        body = encoded(asked, content_type).encode("utf-8")
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - http, checked
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as reply:  # noqa: S310
                kind = reply.headers.get_content_type() if reply.headers["Content-Type"] else ""
                return decoded(reply.read(), kind if kind in CONTENT_TYPES else accept_type)
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read(_LONGEST_REPLY).decode("utf-8", "replace")
            reason = f"{error.code} {error.reason}: {' '.join(detail.split())}"
        except (OSError, ValueError) as error:
            reason = str(getattr(error, "reason", error))
        raise DataError(f"the model at {quote(self._url)} failed: {reason}") from None
