"""Sphinx reads this file to build the documentation site: `make site`.

Every warning is an error: a dead link, an anchor that is not there, a page outside the navigation.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.start import __version__

if TYPE_CHECKING:
    import click
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

project = "fairgauge"
author = "the fairgauge contributors"
project_copyright = "the fairgauge contributors, Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "schema_tables",
]
exclude_patterns = ["*.py"]
smartquotes = False  # would make a dash of the hyphens of flags
default_role = "py:obj"

# Markdown
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
highlight_language = "text"

# signatures and docstrings
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Value": "Value", "Json": "Json", "Plain": "Plain", "Saved": "Saved"}
napoleon_google_docstring = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

# appearance
html_theme = "pydata_sphinx_theme"
html_title = "fairgauge"
html_baseurl = "https://fairgauge.github.io/fairgauge/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"getting-started": [], "choose": []}  # pages without pages beside them
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "github_url": "https://github.com/fairgauge/fairgauge",
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 1,
    "show_toc_level": 2,
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

_NAMED_FILE = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def _caption_files(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a block with the content of a file its name as a caption."""
    del app, docname
    source[0] = _NAMED_FILE.sub(r"```{code-block} \1\n:caption: \2", source[0])


def _escape_bars(_app: Sphinx, _context: click.Context, lines: list[str]) -> None:
    """Keep ``|RD|`` in the help of a command as it is: bars would mark a substitution."""
    lines[:] = [
        line if line.lstrip().startswith("..") else line.replace("|", r"\|") for line in lines
    ]


def _write_explored(app: Sphinx, failure: Exception | None) -> None:
    """Write the page that audits a file, and examples of `explore`, beside the other files."""
    if failure is not None or app.builder.format != "html":
        return
    import tempfile

    import polars as pl

    import fairgauge
    from fairgauge.cli._demo_data import loans

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "loans.csv")
        table.write_text(loans(), encoding="utf-8")
        columns = ["sex", "race", "region"]
        fairgauge.explore(
            table,
            label="repaid",
            positive="yes",
            score="score",
            threshold=0.5,
            sensitive=columns,
            intersections=[columns],
            exact=True,
        ).save(Path(app.outdir, "_static", "explore-loans.html"))
        rows = pl.read_csv(table).with_columns(new=pl.col("score") >= 0.6)
    fairgauge.explore(
        rows.with_columns(new=pl.col("new").replace_strict({True: "yes", False: "no"})),
        label="repaid",
        positive="yes",
        prediction="approved",
        candidate="new",
        sensitive=columns[:2],
        exact=True,
    ).save(Path(app.outdir, "_static", "explore-models.html"))
    fairgauge.page().save(Path(app.outdir, "_static", "audit.html"))
    fairgauge.page(preset="nyc-ll144").save(Path(app.outdir, "_static", "audit-nyc.html"))


def _write_reference(app: Sphinx) -> None:
    """Write the pages that are made from the package and from the table of terms."""
    if Path(app.srcdir).resolve() != DOCS:  # pages of a test
        return
    import make_glossary_page
    import make_metric_pages
    import make_option_page

    make_metric_pages.write(DOCS / "metrics", DOCS / "peers.md")
    (DOCS / "options.md").write_text(make_option_page.page(), encoding="utf-8")
    glossary = make_glossary_page.page()
    (DOCS / "reference" / "glossary.md").write_text(glossary, encoding="utf-8")


def _fill_tables(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the measurements of ``evidence`` where the pages that show them have a mark or a link."""
    import make_coverage_page

    source[0] = make_coverage_page.with_tables(source[0])
    if docname == "coverage":
        source[0] = make_coverage_page.page(source[0], make_coverage_page.made())


def setup(app: Sphinx) -> None:
    """Register what this project adds to Sphinx."""
    app.connect("builder-inited", _write_reference)
    app.connect("source-read", _fill_tables)
    app.connect("build-finished", _write_explored)
    app.connect("source-read", _caption_files)
    app.connect("sphinx-click-process-options", _escape_bars)
