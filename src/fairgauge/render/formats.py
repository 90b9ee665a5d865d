"""The registry of formats: names, suffixes, writers and options. A format is one row.

File suffixes, the choices of the command line, and the messages about them derive from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.atomic_files import write_all, write_whole
from fairgauge.errors import DataError, quote, suggest
from fairgauge.render.words import in_language
from fairgauge.render.words.numbers import listing
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairgauge.results.shown_result import ShownResult


@dataclass(frozen=True, slots=True)
class Format:
    """A format."""

    name: str  # its name
    writer: str  # the function that makes it, ``module:function``
    suffixes: tuple[str, ...] = ()  # the file suffixes that ask for it
    # whether it is made from a document tree; otherwise from the values themselves
    tree: bool = False
    full: bool = False  # whether this is the tree of the whole record, whatever the options
    paper: bool = False  # whether it has what is filed, too
    binary: bool = False  # whether it is bytes, which are saved and never printed
    # the kinds of results that it shows, by their names; empty where it shows all
    of: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # the options that its ``write`` takes

    def shows(self, kinds: Iterable[str]) -> bool:
        """Return whether it shows one of some kinds of results, of any kind where none is named."""
        named = set(kinds)
        return not self.of or not named or bool(named & set(self.of))


_SEALED = ("report", "comparison", "pairs", "alternatives")
FORMATS: tuple[Format, ...] = (
    Format(
        "text",
        "render.writers.terminal:write",
        (".txt",),
        tree=True,
        options=("colour", "width", "full", "quiet", "python"),
    ),
    Format("json", "render.formats:write_json", (".json",)),
    Format("csv", "render.streams:write_csv", (".csv",), options=("table",)),
    Format("markdown", "render.writers.markdown:write", (".md",), tree=True, options=("full",)),
    Format("html", "render.writers.html:write", (".html", ".htm"), tree=True, full=True),
    Format(
        "pdf",
        "render.writers.pdf:write",
        (".pdf",),
        tree=True,
        paper=True,
        binary=True,
        options=("full",),
    ),
    Format("xlsx", "render.writers.xlsx:write", (".xlsx",), tree=True, full=True, binary=True),
    Format("junit", "render.writers.pipelines:write_junit", (".xml",), of=("report", "monitor")),
    Format(
        "openmetrics", "render.writers.pipelines:write_openmetrics", (".prom",), of=("monitor",)
    ),
    Format("notebook", "render.writers.html:write_notebook", tree=True),
    Format("bundle", "sharing.sealing:bundle", (".fairgauge",), binary=True, of=_SEALED),
)
"""Every format, in the order in which they are listed."""


def names(*of: str, files: bool = False) -> tuple[str, ...]:
    """Return the names of the formats of text that show one of these kinds of results.

    ``files`` keeps those that have a file suffix, which are those of the command line.
    """
    texts = (each for each in FORMATS if each.shows(of) and not each.binary)
    return tuple(each.name for each in texts if each.suffixes or not files)


def suffixes(*of: str) -> dict[str, str]:
    """Return the file suffixes of these kinds of results, each with the format it asks for."""
    shown = (each for each in FORMATS if each.shows(of))
    return {suffix: each.name for each in shown for suffix in each.suffixes}


def format_of(path: str | Path, *of: str) -> str:
    """Return the format that a file's suffix asks for, the longest suffix that is known."""
    known = suffixes(*of)
    name = Path(path).name.casefold()
    found = [suffix for suffix in known if name.endswith(suffix) and name != suffix]
    if not found:
        one = of[0] if len(of) == 1 else "result"
        what, use = one if one.endswith("s") else f"a {one}", ", ".join(known)
        raise DataError(f"the suffix of {quote(path)} names no format of {what}; use {use}")
    return known[max(found, key=len)]


def render(shown: ShownResult, format: str = "text", **options: Any) -> str:  # noqa: A002
    """Show a result: a report, a comparison, a check of published tables, a monitor ...

    Parameters
    ----------
    shown : ShownResult
        What is shown.
    format : str
        The name of a format of text: text, json, csv, markdown, html, notebook; of reports alone
        junit. Files of bytes (pdf, xlsx, fairgauge) are written by `save`.
    **options
        ``lang``, the language of the first page ("en", "de"), and ``words``, what groups and
        decisions are called in it. Of text: ``colour`` and ``full`` (bool), ``quiet`` (bool, one
        line, and one for each rule that does not pass), ``width`` (columns, 80 to 120), ``python``
        (bool, names functions in place of the options of the command line). Of markdown: ``full``.
        Of csv: ``table`` ("estimates", "groups", "verdicts" or "pairs").

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
    kind, known = shown.KIND, names(shown.KIND.name)
    if format not in known:
        if any(each.name == format and each.binary for each in FORMATS):
            raise DataError(f"format {format} is no text; save it to a file")
        offered = list(names(kind.name, files=True))  # the command line has no notebook
        near, allowed = suggest(format, offered), ", ".join(offered)
        raise DataError(f"no format {quote(format)} of a {kind.name}.{near} Allowed: {allowed}")
    with in_language(options.pop("lang", "en"), options.pop("words", None)):
        text: str = _write_formatted(shown, format, options)
    return text


def _write_formatted(shown: ShownResult, format_: str, options: dict[str, object]) -> Any:
    found = next(each for each in FORMATS if each.name == format_)
    unknown = sorted(set(options) - set(found.options))
    if unknown:
        allowed = ", ".join(found.options) or "no options"
        raise DataError(f"format {format_} has no option {quote(unknown[0])}; it takes {allowed}")
    from fairgauge.results.scopes import function_at, showing

    writer = function_at(f"fairgauge.{found.writer}")
    with showing():
        if not found.tree:
            return writer(shown, **options)
        from fairgauge.render.document import document

        full = bool(options.get("full")) or found.full
        quiet = bool(options.get("quiet"))
        return writer(document(shown, full=full, paper=found.paper, quiet=quiet), shown, **options)


def write_json(shown: ShownResult) -> str:
    """Write strict JSON; names stay as they are in the data."""
    return shown.to_json() + "\n"


def save(shown: ShownResult, path: str | Path, **options: Any) -> None:
    """Write a report or a comparison to a file, whole or not at all, in the format of its suffix.

    ``lang`` and ``words`` are as of `render`. A file is a record: text and Markdown have the full
    report, unless ``full=False`` is given. A PDF has the first page
    and what is filed, the whole report with
    ``full=True``.

    Raises ``DataError``: the suffix is of no known format, or the file cannot be written.
    """
    with in_language(options.pop("lang", "en"), options.pop("words", None)):
        content = _file_content(shown, path, options)
    write_whole(path, content)


def save_all(
    shown: ShownResult, paths: Iterable[str], *, full: bool = False, lang: str = "en"
) -> None:
    """Write several files, all or none of them, apart from those that cannot be made.

    A file that cannot be made, such as a PDF without a browser, keeps no other from being written.

    ``shown``: what is rendered, in the formats of the paths.
    ``paths``: the files that hold it.
    ``full``: whether a PDF is the whole report.
    ``lang``: the language of first pages.

    Raises ``DataError``: A suffix is of no known format, or a file cannot be made or written.
    """
    asked = list(paths)
    for path in asked:
        format_of(path, shown.KIND.name)
    contents: dict[str | Path, str | bytes] = {}
    unmade: list[str] = []
    for path in asked:
        try:
            of_pdf = {"full": full} if format_of(path, shown.KIND.name) == "pdf" else {}
            with in_language(lang):
                contents[path] = _file_content(shown, path, of_pdf)
        except DataError as error:
            unmade.append(f"cannot make {quote(path)}: {error}")
    write_all(contents)
    if unmade:
        written = listing([quote(path) for path in contents])
        verb = "is" if len(contents) == 1 else "are"
        raise DataError("; ".join([*unmade, *([f"{written} {verb} written"] if contents else [])]))


def _file_content(shown: ShownResult, path: str | Path, options: Mapping[str, object]) -> Any:
    # what a file holds: everything, where its format also has a summary
    name = format_of(path, shown.KIND.name)
    summarised = (each.name for each in FORMATS if "full" in each.options and not each.binary)
    whole = {"full": True} if name in summarised else {}
    return _write_formatted(shown, name, whole | dict(options))
