"""Local models: an ONNX file, a Python function, or an endpoint that listens on this machine.

This is the only place where fairgauge opens a connection, to a URL that the user names.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fairgauge.compat._coded_column import CodedColumn
from fairgauge.errors import DataError, MissingExtra, quote


class Model(Protocol):
    """What predicts."""

    outputs: tuple[str, ...]
    """Names of the outputs of a model that takes numeric columns; empty: it takes a request."""
    most: int
    """The most rows of a request."""

    def answer(self, asked: Any, content_type: str = "", accept_type: str = "") -> object:
        """Answer a request of a content type in another type, or numeric columns."""


def open_model(asked: str) -> Model:
    """Open ``model.onnx``, ``module:function`` or ``http://127.0.0.1:8080/invocations``.

    Raises
    ------
    DataError
        There is no such model.
    MissingExtra
        An ONNX file, and onnxruntime is not installed.
    """
    if asked.startswith(("http://", "https://")):
        return EndpointModel(asked)
    if asked.endswith(".onnx"):
        return OnnxModel(Path(asked))
    module, colon, name = asked.partition(":")
    if not colon or not module or not name:
        raise DataError(f"{quote(asked)} is no model; name FILE.onnx, MODULE:FUNCTION or a URL")
    return FunctionModel(_function(module, name))


def _function(module: str, name: str) -> Callable[[object], object]:
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does: modules of the current folder
    try:
        found = getattr(import_module(module), name)
    except ImportError as error:
        raise DataError(f"cannot import {quote(module)}: {error}") from None
    except AttributeError:
        raise DataError(f"module {quote(module)} has no function {quote(name)}") from None
    if not callable(found):
        raise DataError(f"{quote(name)} of module {quote(module)} cannot be called")
    function: Callable[[object], object] = found
    return function


class FunctionModel:
    """A function that takes what an endpoint would be sent, and returns what it would answer."""

    outputs: tuple[str, ...] = ()
    most = sys.maxsize

    def __init__(self, function: Callable[[object], object]) -> None:
        self._function = function

    def answer(self, asked: object, content_type: str = "", accept_type: str = "") -> object:
        del content_type
        try:
            found = self._function(asked)
        except Exception as error:
            raise DataError(f"the model failed: {type(error).__name__}: {error}") from None
        if isinstance(found, (str, bytes)):
            return decoded(found, accept_type)
        return _lists(found)


def _lists(found: object) -> object:
    """Return arrays and tuples inside an answer as lists."""
    if hasattr(found, "tolist"):
        return found.tolist()
    if isinstance(found, (list, tuple)):
        return [_lists(each) for each in found]
    return found


class OnnxModel:
    """An ONNX file with one input, a table of numbers."""

    most = sys.maxsize

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtra("running an ONNX model", "onnx", error) from None
        if not path.exists():
            raise DataError(f"no model {quote(path)}")
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise DataError(f"cannot load {quote(path)}: {' '.join(str(error).split())}") from None
        self._path = path
        self.outputs = tuple(output.name for output in self._session.get_outputs())

    def answer(
        self, asked: Sequence[CodedColumn], content_type: str = "", accept_type: str = ""
    ) -> list[list[object]]:
        del content_type, accept_type
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise DataError(f"{quote(self._path)} has {len(inputs)} inputs; it must have one table")
        kind = np.float64 if "double" in inputs[0].type else np.float32
        try:
            table = np.stack([column.numbers() for column in asked], axis=1).astype(kind)
        except (TypeError, ValueError):
            text = next(c.name for c in asked if any(isinstance(v, str) for v in c.levels))
            raise DataError(
                f"column {quote(text)} is text, and {quote(self._path)} takes numbers; exclude it "
                "(excluded_columns), or use a Python function"
            ) from None
        try:
            outputs = self._session.run(None, {inputs[0].name: table})
        except Exception as error:
            reason = " ".join(str(error).split())[:300]
            raise DataError(f"{quote(self._path)} failed: {reason}") from None
        return _answers(outputs)


def _answers(outputs: Sequence[object]) -> list[list[object]]:
    """Return a row for every row: its label, if the model gives one, and its scores."""
    columns = [_scores(output) for output in outputs]
    return [
        [cell[0] if len(cell) == 1 else cell for cell in cells]
        for cells in zip(*columns, strict=True)
    ]


def _scores(output: object) -> list[list[object]]:
    """Return an output as a list for every row; a mapping of labels to scores by its values."""
    if isinstance(output, list):
        return [list(each.values()) if isinstance(each, dict) else [each] for each in output]
    table = np.asarray(output)
    rows: list[list[object]] = table.reshape(len(table), -1).tolist()
    return rows


CONTENT_TYPES = ("text/csv", "application/jsonlines", "application/json")


def encoded(asked: Any, content_type: str) -> str:
    r"""Return a request as text: CSV rows, JSON lines, or one JSON document.

    >>> encoded([[1, "a,b"], [None, 2.5]], "text/csv")
    '1,"a,b"\n,2.5\n'
    """
    if content_type == "application/jsonlines":
        return "".join(json.dumps(each) + "\n" for each in asked)
    if content_type == "application/json":
        return json.dumps(asked)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(asked)
    return text.getvalue()


def decoded(answer: str | bytes, accept_type: str) -> object:
    r"""Return what the text of an answer holds: a list for every CSV row, or JSON values.

    Raises
    ------
    DataError
        It is not of its type.

    Examples
    --------
    >>> decoded("1,0.75\nno,0.5\n", "text/csv")
    [[1, 0.75], ['no', 0.5]]
    """
    try:
        text = answer.decode("utf-8") if isinstance(answer, bytes) else answer
        if accept_type == "application/json":
            return json.loads(text)
        if accept_type == "application/jsonlines":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        rows = csv.reader(io.StringIO(text), strict=True)
        return [[_cell(cell) for cell in row] for row in rows if row]
    except (ValueError, csv.Error) as error:
        shown = quote(answer)
        raise DataError(f"the model's answer {shown} is not {accept_type}: {error}") from None


def _cell(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


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
