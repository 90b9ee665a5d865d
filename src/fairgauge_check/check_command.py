"""``fairgauge check``: published tables of selection rates, and what is wrong in them."""

from __future__ import annotations

from typing import Any

import click

from fairgauge.plugins import (
    Command,
    Output,
    Texts,
    add_options,
    config_option,
    flags_for,
    given_options,
    shows_result,
)

_ROLES = {
    "n": "Column of the number of people.",
    "selected": "Column of the number of selected people.",
    "rate": "Column of selection rates.",
    "ratio": "Column of impact ratios.",
}


@click.command("check", cls=Command)
@click.argument("tables", nargs=-1, required=True)
@shows_result("check")
@config_option
@flags_for("preset", "rules", "favourable", "min_n", "min_share", "confidence")
@add_options(*(click.option(f"--{r}", metavar="HEADER", help=text) for r, text in _ROLES.items()))
@click.option(
    "--group",
    multiple=True,
    metavar="HEADER",
    help="Column of categories (default: all in front of the first of numbers). Repeatable.",
)
@click.option(
    "--columns",
    "mapping",
    metavar="FILE",
    help="TOML file that states the columns of all tables: n = ['Applicants', 'Candidates'], "
    "selected = 'Hired', rate, ratio, group; of several headers the first that a table has.",
)
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="CATEGORY",
    help="Category that ratios are computed to, instead of the best selection rate. Repeatable: "
    "of each table the first one that it has.",
)
@click.option("--per", type=click.IntRange(1), help="Number of people that rates are printed per.")
def command(
    tables: tuple[str, ...],
    config: str | None,
    out: Output,
    group: tuple[str, ...],
    mapping: str | None,
    references: tuple[str, ...],
    per: int | None,
    **flags: Texts,
) -> int:
    """Check TABLES: files or folders of CSV, TSV, XLSX, Markdown or HTML.

    Their columns are stated: --n, --selected, --rate, --ratio, or --columns FILE for pages of
    several tables. The tables to publish of a report of fairgauge need none.

    Holds rates, ratios, totals and references against the printed counts, computes every ratio
    again with its confidence interval, and reports what the tables do not state. The one rule is
    'selection_rate.ratio >= LIMIT'; without one (New York's Local Law 144 has no limit) ratios get
    no verdict. Of arrests, suspensions and other harms, state --favourable negative: the reference
    is then the lowest rate, and the rule '<= LIMIT'. The reference has at least 20 people
    (--min-group) and 2% of all (--min-share), unless a preset (of a report of fairgauge: its own)
    has others.

    Exit code 1: a table has an error, or a ratio fails the rule; 3: the rule decides nothing, or
    something with numbers could not be read or checked (on other pages of a report aside).

    \b
    fairgauge check audit.xlsx --n Applicants --selected Hired --ratio 'Impact ratio'
    fairgauge check published/ --columns stated.toml --rule 'selection_rate.ratio >= 0.8'
    """  # noqa: D301 - the paragraph mark of click
    out.check(tables)

    from fairgauge_check.checking import check

    stated: dict[str, Any] = {role: text for role in _ROLES if (text := flags.pop(role))}
    stated |= {"group": group} if group else {}
    if mapping is not None and stated:
        raise click.UsageError("--columns states all columns: give it without --n, --group ...")
    found = check(
        tables,
        config=config,
        columns=mapping or stated or None,
        reference=references,
        per=per,
        **given_options(flags),
    )
    return out.show(found)
