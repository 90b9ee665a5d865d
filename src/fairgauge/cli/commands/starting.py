"""``fairgauge demo``, ``choose``, ``presets``, ``metrics`` and ``validate``: how to start."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from fairgauge.api.choosing import (
    DECIDING,
    QUESTIONS,
    Question,
    Recommendation,
    next_question,
    recommend,
    specification,
)
from fairgauge.cli._arguments import (
    DataArguments,
    Texts,
    add_late_labels,
    check_options,
    flags_for,
    given_options,
    open_data,
    question,
    read_question,
    takes_data,
)
from fairgauge.cli._command_group import (
    Command,
    add_options,
    print_message,
    print_result,
    printable,
)
from fairgauge.cli._output import Output, check_outputs, made_folder, print_lines, prints_report
from fairgauge.enums import Task
from fairgauge.errors import listing, quote
from fairgauge.question.options import BY_NAME
from fairgauge.values import name_of

if TYPE_CHECKING:
    from fairgauge.catalogue.descriptions import MetricDescription
    from fairgauge.question.kits import Kit
    from fairgauge.scan.source import Source
    from fairgauge.values import Json, Value

_WIDTH = 80
_RULE = "=" * _WIDTH


@click.command("demo", cls=Command)
@click.option(
    "-o", "--output", metavar="DIR", default="fairgauge-demo", help="Folder (fairgauge-demo)."
)
@prints_report
def demo_command(output: str, out: Output) -> None:
    """Audit Berkeley's admissions of 1973 and a table of made-up loans.

    The tables and the reports (.html .json .md) are written into a folder.
    """
    from fairgauge.cli._demo_data import examples
    from fairgauge.render import render

    shown = out.shown
    coloured = bool(shown.get("colour"))
    folder = made_folder(output)
    found = examples(folder)
    for example in found:
        for suffix in (".html", ".json", ".md"):
            example.report.save(folder / f"{example.name}{suffix}", lang=out.lang)
    if out.quiet:
        print_result("".join(render(e.report, **shown) for e in found), coloured=coloured)
        return
    parts = [
        f"{_RULE}\n{example.title}\n{_RULE}\n\n{render(example.report, **shown)}\n"
        f"{textwrap.fill(f'What it shows: {example.lesson}', 80)}\n"
        for example in found
    ]
    from fairgauge.render.documents.report_notes import repetition

    lines = [
        "Open in a browser:",
        *(f"  {(folder / example.name).resolve().as_uri()}.html" for example in found),
        "The audit of the loans again:",
        "  " + repetition(found[-1].report)[0].replace(" --", " \\\n    --"),
        "An audit of your own table, from a few questions:",
        "  fairgauge choose --output audit.toml",
        "  fairgauge audit YOUR.csv --config audit.toml --output report.html",
    ]
    print_result("\n".join([*parts, *lines]), coloured=coloured)


_COLUMNS = (
    "label", "prediction", "score", "score_of", "threshold", "positive", "negative", "sensitive",
    "probabilities", "strata", "count", "weight", "cluster",
)  # fmt: skip


@click.command("choose", cls=Command)
@add_options(
    *(click.option(f"--{q.name}", type=click.Choice([*q.answers]), help=q.text) for q in QUESTIONS)
)
@flags_for(*_COLUMNS)
@takes_data()
@click.option("-o", "--output", "path", metavar="FILE", help="File to write (.toml).")
def choose_command(path: str | None, data: DataArguments, **flags: Any) -> None:
    """Choose metrics by a few questions, and write a specification that can be run.

    Questions that no flag answers are asked in the terminal, those about the columns of DATA and
    the values of outcomes, too. The specification holds the metrics, rules to start from, and what
    the numbers will not show; without DATA, columns that no flag names are to be filled in.

    \b
    fairgauge choose loans.csv -o audit.toml
    fairgauge choose --model decision --outcomes none --prediction approved --sensitive sex
    fairgauge choose --model none --probabilities 'race: Black=p_black, White=p_white'
    fairgauge audit loans.csv -c audit.toml
    """  # noqa: D301 - the paragraph mark of click
    if path is not None and not path.casefold().endswith(".toml"):
        raise click.UsageError(f"a specification is written as TOML; name a .toml file, not {path}")
    if path is not None and Path(path).exists():
        raise click.UsageError(f"there is a file {path} already; name another, or remove it")
    check_outputs([path], [])
    given = {q.name: word for q in QUESTIONS if (word := flags.pop(q.name)) is not None}
    options = {  # mistakes in flags are named before anything is asked
        name: BY_NAME[name].type.plain(value) for name, value in given_options(flags).items()
    }
    while (open_ := next_question(given)) is not None:
        given[open_.name] = _ask(open_)

    found = recommend(given)
    if data.names:
        from fairgauge.cube.cube import Cube

        source = open_data(data.read())
        if isinstance(source, Cube):
            raise click.UsageError("counts have their question already; name rows")
        options |= _ask_columns(source, found, options)
        check_options(tomllib.loads(specification(found, options)), source)
    text = specification(found, options)
    if path is None:
        print_result(text)
        return
    from fairgauge.atomic_files import write_whole

    write_whole(path, text)
    of = shlex.join([*data.names, *(["--sheet", data.sheet] if data.sheet else [])]) or "DATA"
    print_result(f"Written: {path}. Next: fairgauge audit {of} -c {path}")


_ROLES = {
    "label": "the outcome", "prediction": "the decision", "score": "the score",
    "sensitive": "the groups of people (several: --sensitive)",
}  # fmt: skip
_MEANINGS = {"positive": "the favourable outcome", "negative": "the other one",
             "undecided": "neither, or not known yet"}  # fmt: skip
_FIRST_ROWS, _MOST_VALUES = 1_000, 12


def _ask_columns(source: Source, found: Recommendation, known: dict[str, Json]) -> dict[str, Json]:
    # which column has which role, and what each of a few values of an outcome means
    from fairgauge.scan.row_codes import read_rows
    from fairgauge.scan.source import can_look_at_rows

    rows: Mapping[str, Sequence[Value]] = {}
    if can_look_at_rows(source):
        rows = read_rows(source, source.columns, _FIRST_ROWS)
    values = {name: [*dict.fromkeys(rows.get(name, ()))] for name in source.columns}
    shown = {name: ", ".join(map(name_of, of[:4])) for name, of in values.items()}
    asked: dict[str, Json] = {}
    roles = [*found.columns, *(() if "probabilities" in known else ("sensitive",))]
    for role in roles:
        if role not in known:
            left = {name: of for name, of in shown.items() if name not in (known | asked).values()}
            if not left:
                raise click.UsageError(f"no column is left that could hold {_ROLES[role]}")
            asked[role] = _ask(Question(role, f"Which column holds {_ROLES[role]}?", left))
    if found.answers["model"] == "number":
        asked["task"] = str(Task.REGRESSION)
    meant: dict[str, dict[str, list[Json]]] = {meaning: {} for meaning in _MEANINGS}
    for column in filter(None, map((known | asked).get, ("label", "prediction"))):
        of_column = [value for value in values.get(str(column), ()) if value is not None]
        decided = not {"positive", "negative"} & known.keys() and found.answers["model"] in DECIDING
        few = of_column if decided and len(of_column) <= _MOST_VALUES else []
        for value in few:
            asks = f"What is {quote(value)} in {quote(column)}?"
            meaning = _ask(Question("positive", asks, _MEANINGS))
            meant[meaning].setdefault(str(column), []).append(value)
        if few and not all(column in meant[each] for each in ("positive", "negative")):
            raise click.UsageError(f"{quote(column)} has both outcomes: answer for a value of each")
    del meant["undecided"]
    return asked | {name: cast("Json", of) for name, of in meant.items() if of}


def _ask(of: Question) -> str:
    words = list(of.answers)
    click.echo(f"\n{of.text}", err=True)
    for number, (word, meaning) in enumerate(of.answers.items(), 1):
        click.echo(f"  {number}  {word.ljust(max(map(len, words)))}  {meaning}", err=True)
    numbers = [str(number) for number, _ in enumerate(words, 1)]
    kind = click.Choice([*words, *numbers])
    try:
        answer: str = click.prompt("Answer", type=kind, show_choices=False, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise  # interrupted; otherwise there is nobody to ask
        which = "the value or values" if of.answers is _MEANINGS else f"one of {', '.join(words)}"
        raise click.UsageError(f"answer --{of.name} with {which}") from None
    return words[numbers.index(answer)] if answer in numbers else answer


@click.command("presets", cls=Command)
@click.argument("name", required=False)
def presets_command(name: str | None) -> None:
    """List the presets of regulations, or describe the one called NAME.

    A preset sets the metrics, the reference and the tables that a text calls for; it quotes that
    text with its date, and does not state that an audit meets a law.

    \b
    fairgauge presets nyc-ll144
    fairgauge audit applicants.csv --preset nyc-ll144 --prediction hired --sensitive sex --sensitive race
    """  # noqa: D301, E501 - the paragraph mark of click
    from fairgauge.question.kits import find_kit, kit_names, open_kit

    if name is not None:
        print_result(_describe_kit(open_kit(name)))
        return
    formatter = click.HelpFormatter(width=_WIDTH)
    kits = map(find_kit, kit_names())
    formatter.write_dl([(kit.name, f"{kit.jurisdiction}: {_status(kit)}") for kit in kits])
    print_result(formatter.getvalue())


def _status(kit: Kit) -> str:
    return f"{kit.status} (as of {kit.as_of.isoformat()})"


def _describe_kit(kit: Kit) -> str:
    sets = [
        f"{name}{where} = {json.dumps(value)}"
        for where, options in (
            ("", kit.options),
            (" (with a score)", kit.with_score),
            (" (of amounts)", kit.with_amounts),
        )
        for name, value in options.items()
    ]
    if kit.intersect:
        sets.append("intersections: all recorded features together, in one table")
    formatter = click.HelpFormatter(width=_WIDTH)
    with formatter.section(f"{kit.name}: {kit.title}"):
        rows = [
            ("jurisdiction", kit.jurisdiction),
            ("status", _status(kit)),
            ("in force from", kit.in_force and kit.in_force.isoformat()),
            ("superseded by", kit.superseded_by),
            ("repeated", kit.period),
            ("records", kit.records),
            *(("source", each) for each in kit.sources),
            ("how read", kit.read),
        ]
        formatter.write_dl([(word, text) for word, text in rows if text])
    for title, items in (
        ("It states", kit.statements),
        ("A published report holds" if kit.public else "The document holds", kit.publishes),
        ("It sets", sets),
    ):
        with formatter.section(title):
            for each in items:
                formatter.write_text(f"- {each}")
    return formatter.getvalue()


_HEADINGS = {
    "rate": "Rates: a number of one group",
    "clarify": "clarify: the metrics of Amazon SageMaker Clarify, with its signs",
    "vertex": "vertex: the metrics of Google Vertex AI, with its signs",
    "native": "native: every rate above, compared; a rate alone stands for .difference and .ratio",
}


@click.command("metrics", cls=Command)
@click.argument("name", required=False)
def metrics_command(name: str | None) -> None:
    """List every rate and metric, or explain the one called NAME.

    NAME is a name, a synonym, or one of the sets rate, clarify, vertex and native.
    """
    from fairgauge.catalogue.descriptions import metric, metrics

    if name is not None and name not in _HEADINGS:
        print_result(str(metric(name)))
        return
    entries = [entry for entry in metrics() if name in (None, entry.set)]
    formatter = click.HelpFormatter(width=_WIDTH)
    for of, heading in _HEADINGS.items():
        if rows := _describe_entries([each for each in entries if each.set == of]):
            formatter.write_text(heading)
            with formatter.indentation():
                formatter.write_dl([*rows.items()], col_max=22)
            formatter.write_paragraph()
    explained = "fairgauge metrics NAME explains one: formula, range, sign, source"
    print_result(f"{formatter.getvalue()}{explained}")


def _describe_entries(entries: list[MetricDescription]) -> dict[str, str]:
    # what each entry describes; one comparison of all the rates is a single one
    from fairgauge.catalogue.across import Spread, comparison_words
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.lookup import find_metric

    rows: dict[str, str] = {}
    for entry in entries:
        row = find_metric(entry.name) if entry.set == "native" else None
        if isinstance(row, (Contrast, Spread)) and row.name == f"{row.of.name}.{row.by}":
            rows.setdefault(f"RATE.{row.by}", comparison_words(row.by, "rate"))
        else:
            rows[entry.name] = entry.says
    return rows


@click.command("validate", cls=Command)
@question()
@takes_data()
@click.option("--counted", is_flag=True, help="Count DATA, and print what each value counts as.")
def validate_command(
    data: DataArguments, config: str | None, *, counted: bool, **flags: Texts
) -> None:
    """Check a specification, and whether DATA have what it needs.

    Checked are the columns, their types, and the groups that are named in rules, references,
    unknown values and excluded groups; of a monitor, its table [monitor] as well. Labels and
    predictions are not read. Names that the data do not have are warned of, or are errors where no
    audit would be possible.

    \b
    fairgauge validate loans.csv -c audit.toml
    fairgauge validate loans.csv -c audit.toml --counted
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.monitoring.monitor_spec import read_monitor_spec
    from fairgauge.question.specification import MONITOR, labels_come_later, read_options

    options = read_question(config, flags)
    if not data.names and (counted or not options):
        needed = "DATA to count" if counted else "a specification (-c FILE), DATA, or both"
        raise click.UsageError(f"name {needed}")
    if counted:
        from fairgauge.api.audit import values_counted
        from fairgauge.render.document import counted_table

        print_result(counted_table(values_counted(data.read(), **options)))
        return
    table: Any = {} if config is None else read_options(config).get(MONITOR)
    monitor = read_monitor_spec(config) if config is not None and table else None
    rows = data.read() if data.names else None
    if monitor is not None and labels_come_later(config):
        rows = add_late_labels(rows, monitor.question)
    opened = None if rows is None else open_data(rows)
    spec = check_options(options, opened)
    fits = f" and fits the columns of {listing(data.names)}" if data.names else ""
    metrics = [each if isinstance(each, str) else each.name for each in spec.metrics]
    lines = [
        f"The specification is valid{fits}.",
        f"  sensitive  {', '.join(map(printable, spec.audited))}",
        f"  metrics    {', '.join(map(printable, metrics))}",
        *(f"  rule       {printable(str(rule))}" for rule in spec.rules),
    ]
    if spec.preset is not None:
        lacking = spec.preset.lacking(spec.to_dict())
        asks = f"which {printable(str(spec.preset))} asks for"
        lines += [f"  lacking    {each}, {asks}" for each in lacking]
    rules = () if monitor is None else monitor.rules
    lines += [f"  monitored  {printable(str(rule))}" for rule in rules]
    if opened is not None:
        from fairgauge.api.audit import check_groups
        from fairgauge.scan.scan_progress import progress

        with progress("Reading groups"):
            warnings = check_groups(opened, spec, rules if table and table.get("rules") else ())
        if warnings is None:
            lines.append("  groups     not read: that would be a query where the rows are")
        for each in warnings or ():
            print_message(each.message, prefix="Warning: ")
    print_lines("\n".join(lines))
