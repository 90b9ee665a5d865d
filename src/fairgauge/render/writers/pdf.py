"""A document as PDF: our HTML page, printed by a headless Chromium.

The page's print style and its charts need a browser: WeasyPrint leaves the charts out, and fails on
some pages. Chromium, Chrome or Edge is a program, not a Python library: it is taken from the
``PATH``, from where macOS and Windows put it, or from the environment variable ``CHROME_PATH``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from fairgauge.errors import DataError, quote
from fairgauge.render import _document_tree as tree
from fairgauge.render.words.numbers import listing, plural
from fairgauge.render.writers import html
from fairgauge.temporary_files import private_folder

BROWSER_VARIABLE = "CHROME_PATH"
"""The environment variable that names the browser."""
_NAMES = (
    "chromium",
    "chromium-browser",
    "chrome-headless-shell",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        "${PROGRAMFILES}/Google/Chrome/Application/chrome.exe",
        "${LOCALAPPDATA}/Google/Chrome/Application/chrome.exe",
        "${PROGRAMFILES(X86)}/Microsoft/Edge/Application/msedge.exe",
    ),
}
"""Where browsers are that are not on the ``PATH``, by platform."""
_FLAGS = (
    "--headless",
    # The sandbox cannot start as root or in a container, where reports are printed most. The page
    # is our own: its policy lets no script but ours run, and loads nothing.
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--print-to-pdf-no-header",
)
_PATIENCE = 120.0
"""Seconds that the browser may take."""
_SIGNATURE = b"%PDF-"
_PAGE = b"/Type /Page\n"
_SHORT = 2
_TIGHTER = ("short", "short tight", "short tight tightest")
"""Classes of the style sheet, tried until the document has two pages."""
_FLOWING = f"{_TIGHTER[-1]} flowing"
"""The class by which the record begins where the first page ends."""
_MOST_ROWS = (12, 4)
_FILED = "Methods and sources"
_LONGEST_REASON = 300
_LAUNCHER = re.compile(r"\S+: (?:line )?\d+: ")
"""A complaint of the shell about the script that launches the browser; it is never the reason."""


def write(document: tree.DocumentTree, shown: object = None, *, full: bool = False) -> bytes:
    """Write a document as a PDF file: two pages, where it has a first page and one for the record.

    Where nothing is meant to be filed, as many of its sections follow as have room. A first page
    that needs more room than one is printed smaller, then with fewer of its charts, then with its
    tables on the next page. Where nothing gives two pages, as much as the fewest pages hold is
    printed: a long record alone costs no chart. Tables to publish are in every PDF.

    Parameters
    ----------
    full : bool
        Whether it is the whole document, on as many pages as it needs.

    Raises
    ------
    DataError
        There is no browser, or it failed.
    """
    if full:
        return print_page(html.write(document, shown))
    tried = []
    for short, tight in chain(_shorter(document), [(_with_tables_apart(document), _TIGHTER[-1])]):
        tried.append(print_page(html.write(short, shown, tight=tight)))
        if tried[-1].count(_PAGE) <= _SHORT:
            return tried[-1]
    return min(tried, key=lambda printed: printed.count(_PAGE))  # the first of them


def _shorter(document: tree.DocumentTree) -> Iterator[tuple[tree.DocumentTree, str]]:
    """Yield what of a document may have room on two pages, the most of it first."""
    exhibits = document.exhibits
    least: tuple[tree.Section, ...] = ()
    if document.filed:
        least = (tree.Section("filed", _FILED, document.filed),)
    else:
        long, few = (
            tuple(_shortened(each, most) for each in document.sections) for most in _MOST_ROWS
        )
        half = tuple(replace(s, blocks=s.blocks[: (len(s.blocks) + 1) // 2]) for s in few[:1])
        for sections in (document.sections, long, few[:3], few[:2], few[:1], half):
            yield replace(document, sections=sections), _TIGHTER[0]
        for dropped in range(1, len(exhibits) + 1):  # no second page that is empty
            yield replace(document, sections=half, exhibits=_fewer(exhibits, dropped)), _TIGHTER[0]
    for tight in _TIGHTER:
        yield replace(document, sections=least), tight
    if least and not document.to_publish:  # tables to publish are never cut
        least = (_shortened(least[0], _MOST_ROWS[-1]),)
        yield replace(document, sections=least), _TIGHTER[-1]
    kept = next((i for i, e in enumerate(exhibits) if e in document.to_publish), None)
    for dropped in range(1, len(exhibits) if kept is None else kept + 1):
        last = document.to_publish and dropped == kept
        for tight in (*_TIGHTER[1:], *([_FLOWING] if last else ())):
            yield replace(document, sections=least, exhibits=_fewer(exhibits, dropped)), tight


def _fewer(exhibits: tuple[tree.Block, ...], dropped: int) -> tuple[tree.Block, ...]:
    """Return exhibits without the first few: of the dots beside findings the last go first."""
    dots = [each for each in exhibits if isinstance(each, tree.DotArrays)]
    others = exhibits[max(len(dots), dropped) :]
    return (*dots[: max(len(dots) - dropped, 0)], *others)


def _with_tables_apart(document: tree.DocumentTree) -> tree.DocumentTree:
    """Return a document whose first page names the tables that follow it."""
    tables = tuple(each for each in document.exhibits if isinstance(each, tree.Table))
    filed = (*tables, *document.filed)
    named = listing([each.caption for each in document.to_publish])
    follow = (
        (tree.Paragraph(f"Tables to publish follow: {named}.", tree.Tone.SOFT),) if named else ()
    )
    return replace(
        document,
        sections=(tree.Section("filed", _FILED, filed),) if filed else (),
        exhibits=follow,
    )


def _shortened(section: tree.Section, most: int) -> tree.Section:
    """Return a section with the first rows alone of its tables and charts, and where others are."""
    blocks: list[tree.Block] = []
    for block in section.blocks:
        if isinstance(block, tree.Section):
            blocks.append(_shortened(block, most))
        elif isinstance(block, (tree.Table, tree.Chart)) and (more := len(block.rows) - most) > 0:
            note = f"{more:,} more {plural(more, 'row is', 'rows are')} in the whole report."
            rows: Any = block.rows[:most]  # of one or the other, whose rows are of different types
            blocks.append(replace(block, rows=rows, notes=(*block.notes, note)))
        else:
            blocks.append(block)
    return replace(section, blocks=tuple(blocks))


def print_page(page: str) -> bytes:
    """Print an HTML page that needs no other file, and return the PDF file.

    Parameters
    ----------
    page : str
        The page; nothing is loaded from a network.

    Returns
    -------
    bytes
        A tagged PDF file, as the page's print style lays it out.

    Raises
    ------
    DataError
        There is no browser, it failed, or it took more than two minutes.
    """
    browser = find_browser()
    if browser is None:
        raise DataError(
            "a PDF is printed by Chromium, Chrome or Edge, and none was found: install one, "
            f"or name its program in the environment variable {BROWSER_VARIABLE}; "
            "or write .html and print it from any browser"
        )
    with private_folder(_shared_folder(browser)) as folder:
        source, target = folder / "report.html", folder / "report.pdf"
        source.write_text(page, encoding="utf-8")
        reason = _run(browser, folder, source, target)
        printed = target.read_bytes() if target.exists() else b""
    if not printed.startswith(_SIGNATURE):
        raise DataError(f"{quote(browser)} printed no PDF: {reason}")
    return printed


def find_browser() -> str | None:
    """Return the program that prints, None if there is none."""
    named = os.environ.get(BROWSER_VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise DataError(f"{BROWSER_VARIABLE} names {quote(named)}, which is not a program")
        return found
    usual = map(os.path.expandvars, _PLACES.get(sys.platform, ()))
    return next(filter(None, map(shutil.which, (*_NAMES, *usual))), None)


def _shared_folder(browser: str) -> Path | None:
    """Return a folder that the browser reads: a snap has a folder for temporary files of its own.

    Ubuntu's ``chromium-browser`` starts the snap, too.
    """
    shared = Path.home() / "snap/chromium/common"
    program = Path(browser)
    is_snap = "snap" in program.parts or program.name == "chromium-browser"
    return shared if is_snap and shared.is_dir() else None


def _run(browser: str, folder: Path, source: Path, target: Path) -> str:
    """Run the browser; return why it printed nothing, should that be so."""
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *_FLAGS, profile, f"--print-to-pdf={target}", source.as_uri()]
    try:
        done = subprocess.run(  # noqa: S603 - a browser, on a file of our own
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {_PATIENCE:.0f} seconds"
    except OSError as error:
        return str(error.strerror or error)
    lines = done.stderr.decode("utf-8", "replace").split("\n")
    meant = [line.strip() for line in lines if line.strip() and not _LAUNCHER.match(line)]
    last = f"; {meant[-1][:_LONGEST_REASON]}" if meant else ""
    return f"exit code {done.returncode}{last}"
