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
from pathlib import Path

from fairgauge.atomic_files import private_folder
from fairgauge.errors import DataError, quote
from fairgauge.render import _document_tree as tree
from fairgauge.render.writers import html

BROWSER_VARIABLE = "CHROME_PATH"
"""The environment variable that names the browser."""
_NAMES = (
    "chromium", "chromium-browser", "chrome-headless-shell", "google-chrome",
    "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
)  # fmt: skip
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
# The sandbox cannot start as root or in a container, where reports are printed most. The page is
# our own: its policy lets no script but ours run, and loads nothing.
_FLAGS = (
    "--headless", "--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-crash-reporter",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-gpu", "--no-first-run",
    "--no-default-browser-check", "--no-pdf-header-footer", "--print-to-pdf-no-header",
)  # fmt: skip
_PATIENCE = 120.0
"""Seconds that the browser may take."""
_SIGNATURE = b"%PDF-"
_LONGEST_REASON = 300
_LAUNCHER = re.compile(r"\S+: (?:line )?\d+: ")
"""A complaint of the shell about the script that launches the browser; it is never the reason."""


def write(document: tree.DocumentTree, shown: object = None, *, full: bool = False) -> bytes:
    """Write a document as a PDF file: its first page, and the record, each from a page of its own.

    Raises ``DataError``: there is no browser, or it failed.
    """
    return print_page(html.write(document, shown, whole=full))


def print_page(page: str) -> bytes:
    """Print an HTML page that needs no other file; return a tagged PDF file in its print style.

    Raises ``DataError``: there is no browser, it failed, or it took more than two minutes.
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
    # ubuntu's ``chromium-browser`` starts the snap, too
    shared = Path.home() / "snap/chromium/common"
    program = Path(browser)
    is_snap = "snap" in program.parts or program.name == "chromium-browser"
    return shared if is_snap and shared.is_dir() else None


def _run(browser: str, folder: Path, source: Path, target: Path) -> str:
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
