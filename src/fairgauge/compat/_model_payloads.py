"""What a model is sent and what it answers, as the text of a content type."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from fairgauge.errors import DataError, quote

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
