"""``fairgauge check``: published tables of selection rates, and what is wrong in them."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, config_option, flags_for, given_options


@click.command("check", cls=Command)
@click.argument("tables", nargs=-1, required=True)
@shows_result("check")
@config_option
@flags_for("preset", "rules", "min_n", "min_share", "confidence")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=HEADER",
    help="What a column holds, where its header does not show it: category (several separated by "
    "commas), n, selected, not_selected, rate, denial_rate, ratio or "
    "denial_ratio. Repeatable.",
)
@click.option(
    "--table",
    "csv_table",
    type=click.Choice(["ratios", "tables", "faults"]),
    help="Print a table of the check as CSV: a row for each ratio, published table or fault.",
)
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="CATEGORY",
    help="Category that ratios are computed to, instead of the highest selection rate. Repeatable: "
    "of each table the first one that it has.",
)
@click.option(
    "--test",
    type=click.Choice(["fisher", "pearson", "yates"]),
    default="fisher",
    show_default=True,
    help="Test of equal selection rates: Fisher's exact test, or chi-square without (pearson) or "
    "with continuity correction (yates).",
)
def command(
    tables: tuple[str, ...],
    config: str | None,
    out: Output,
    columns: tuple[str, ...],
    csv_table: str | None,
    references: tuple[str, ...],
    test: str,
    **flags: Texts,
) -> int:
    """Check TABLES: files or folders of CSV, TSV, XLSX, Markdown, HTML or text; - reads text from
    standard input.

    Holds rates, ratios, totals and references against the printed counts, computes every ratio
    again with its confidence interval, and reports what the tables do not state. The one rule is
    'selection_rate.ratio >= LIMIT'; without one (New York's Local Law 144 has no limit) ratios get
    no verdict. The reference has at least 20 people and 2% of all, unless --min-group is given. The
    rule and the smallest reference of a preset hold unless they are given.

    Exit code 1: a table has an error, or a ratio fails the rule; 3: the rule decides nothing,
    verdicts by a control group that a header means (AIR) would be others by the highest rate, a
    printed ratio could not be checked, no printed number could be and there is no rule, or a file
    or a table of a folder cannot be read (one that holds no table is listed, and changes no exit
    code).

    \b
    fairgauge check audit.xlsx
    fairgauge check published/ --rule 'selection_rate.ratio >= 0.8' -o check.html
    fairgauge check table.csv --column n=Screened --column selected=Invited
    """  # noqa: D205, D301 - the paragraph mark of click
    out = replace(out, chosen=csv_table)
    out.check(tables)

    from fairgauge.api.checking import check

    found = check(
        _sources(tables),
        config=config,
        columns=_roles(columns),
        reference=references,
        test=test,
        **given_options(flags),
    )
    return out.show(found)


def _sources(tables: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the paths, or the text of standard input."""
    if "-" not in tables:
        return tables
    from fairgauge.errors import DataError

    if len(tables) > 1:
        raise DataError("standard input (-) is read alone, without other tables")
    from fairgauge.published.sources import MOST_BYTES

    text = "" if sys.stdin is None else sys.stdin.read(MOST_BYTES + 1)
    if not text.strip():
        raise DataError("standard input holds no table")
    return f"{text}\n\n"


def _roles(columns: tuple[str, ...]) -> dict[str, str]:
    """Return the headers that roles are given to."""
    from fairgauge.errors import Problem, SpecError, quote

    found = {}
    for text in columns:
        role, equals, header = text.partition("=")
        if not equals or not header.strip():
            raise SpecError(Problem("--column", f"must be ROLE=HEADER, not {quote(text)}"))
        found[role.strip()] = header.strip()
    return found
