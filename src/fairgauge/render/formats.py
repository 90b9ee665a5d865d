"""The registry of formats: names, suffixes, writers and options. A format is one row and one file.

File suffixes, the choices of the command line, and the messages about them derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fairgauge.atomic_files import write_all, write_whole
from fairgauge.errors import DataError, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.comparison.comparison import Comparison
    from fairgauge.comparison.model_comparison import ModelComparison
    from fairgauge.comparison.threshold_choice import ThresholdChoice
    from fairgauge.render.document_tree import DocumentTree
    from fairgauge.report.report import Report

    Shown: TypeAlias = Report | Comparison | ModelComparison | ThresholdChoice

Subject = Literal["report", "comparison", "models", "thresholds"]
"""A report, a comparison of two reports or of models, or a choice of thresholds."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes
    ----------
    name : its name.
    module : the module whose ``write`` makes it.
    suffixes : the file suffixes that ask for it.
    tree : whether it is made from a document tree; otherwise from the values themselves.
    of : what it can show.
    options : the options that its ``write`` takes.
    """

    name: str
    module: str
    suffixes: tuple[str, ...] = ()
    tree: bool = False
    of: tuple[Subject, ...] = ("report", "comparison", "models", "thresholds")
    options: tuple[str, ...] = ()


FORMATS: tuple[Format, ...] = (
    Format("text", "terminal", (".txt",), tree=True, options=("colour", "width", "full", "quiet")),
    Format("json", "json_format", (".json",), options=("indent",)),
    Format("csv", "csv_format", (".csv",), options=("table",)),
    Format("markdown", "markdown", (".md",), tree=True, options=("full", "card")),
    Format("html", "html", (".html", ".htm"), tree=True),
    Format("junit", "junit", (".xml",), of=("report",)),
    Format("notebook", "notebook", tree=True),
)
"""Every format, in the order in which they are listed."""

_CALLED: dict[Subject, str] = {
    "report": "a report",
    "comparison": "a comparison",
    "models": "a comparison of models",
    "thresholds": "a choice of thresholds",
}
_FULL = frozenset({"html"})


def names(of: Subject = "report", *, files: bool = False) -> tuple[str, ...]:
    """Return the names of the formats that show a report or a comparison.

    ``files`` keeps those that have a file suffix, which are those of the command line.
    """
    return tuple(each.name for each in FORMATS if of in each.of and (each.suffixes or not files))


def suffixes(of: Subject = "report") -> dict[str, str]:
    """Return the file suffixes of a report or a comparison, each with the format it asks for."""
    return {suffix: each.name for each in FORMATS if of in each.of for suffix in each.suffixes}


def format_of(path: str | Path, of: Subject = "report") -> str:
    """Return the format that a file's suffix asks for.

    Raises
    ------
    DataError
        The suffix is of no known format.
    """
    known = suffixes(of)
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise DataError(
            f"the suffix of {quote(path)} names no format of {_CALLED[of]}; use {', '.join(known)}"
        )
    return known[suffix]


def render(shown: Shown, format: str = "text", **options: Any) -> str:  # noqa: A002
    """Show a report or a comparison.

    Parameters
    ----------
    shown : Report, Comparison, ModelComparison or ThresholdChoice
        What is shown.
    format : str
        The name of a format: text, json, csv, markdown, html, junit (reports alone) or notebook.
    **options
        Of text: ``colour`` and ``full`` (bool), ``quiet`` (bool, one line), ``width`` (columns, 80
        to 120). Of markdown: ``full`` (bool), ``card`` (bool): with the metadata of a Hugging Face
        model card in front. Of json: ``indent``. Of csv: ``table`` ("estimates", "groups",
        "verdicts" or "pairs").

    Returns
    -------
    str
        The whole text, ending in a newline.

    Raises
    ------
    DataError
        There is no such format, it cannot show this, or it has no such option.

    Examples
    --------
    >>> import fairgauge as fg
    >>> report = fg.audit(fg.confusion("sex", {"F": {"tp": 2, "fn": 1}, "M": {"tp": 3, "fn": 1}}))
    >>> print(render(report, "csv").splitlines()[1][:43])
    base_rate.difference,native,sex,F,others,ot
    """
    of = _subject(shown)
    known = {each.name: each for each in FORMATS if of in each.of}
    if format not in known:
        allowed = ", ".join(known)
        raise DataError(
            f"no format {quote(format)} of {_CALLED[of]}.{nearest(format, list(known))} "
            f"Allowed: {allowed}"
        )
    found = known[format]
    unknown = sorted(set(options) - set(found.options))
    if unknown:
        allowed = ", ".join(found.options) or "no options"
        raise DataError(f"format {format} has no option {quote(unknown[0])}; it takes {allowed}")
    from fairgauge.render.names_in_use import naming

    writer = import_module(f"fairgauge.render.{found.module}").write
    with naming(shown.catalogue):
        text: str = writer(*_arguments(shown, found, options), **options)
    return text


def save(shown: Shown, path: str | Path, **options: Any) -> None:
    """Write a report or a comparison to a file, whole or not at all, in the format of its suffix.

    Raises
    ------
    DataError
        The suffix is of no known format, or the file cannot be written.
    """
    write_whole(path, render(shown, format_of(path, _subject(shown)), **options))


def save_all(shown: Shown, paths: Iterable[str]) -> None:
    """Write several files, all or none of them.

    Raises
    ------
    DataError
        A suffix is of no known format, or a file cannot be written.
    """
    of = _subject(shown)
    write_all({path: render(shown, format_of(path, of)) for path in paths})


def _subject(shown: Shown) -> Subject:
    from fairgauge.comparison.model_comparison import ModelComparison
    from fairgauge.comparison.threshold_choice import ThresholdChoice
    from fairgauge.report.report import Report

    if isinstance(shown, ModelComparison):
        return "models"
    if isinstance(shown, ThresholdChoice):
        return "thresholds"
    return "report" if isinstance(shown, Report) else "comparison"


def _arguments(shown: Shown, found: Format, options: Any) -> tuple[Any, ...]:
    """Return what a writer takes: the values themselves, or the document with them."""
    if not found.tree:
        return (shown,)
    full = bool(options.get("full")) or found.name in _FULL
    return _document(shown, full=full), shown


def _document(shown: Shown, *, full: bool) -> DocumentTree:
    from fairgauge.comparison.model_comparison import ModelComparison
    from fairgauge.comparison.threshold_choice import ThresholdChoice
    from fairgauge.report.report import Report

    if isinstance(shown, ThresholdChoice):
        from fairgauge.render.thresholds_document import thresholds_document

        return thresholds_document(shown)
    if isinstance(shown, Report):
        from fairgauge.render.report_document import report_document

        return report_document(shown, full=full)
    if isinstance(shown, ModelComparison):
        from fairgauge.render.models_document import models_document

        return models_document(shown)
    from fairgauge.render.comparison_document import comparison_document

    return comparison_document(shown)
