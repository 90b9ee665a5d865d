"""``fairgauge monitor``: a history of counts, and alarms with a stated false alarm probability."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._command_group import CommandGroup, add_options
from fairgauge.cli._data_arguments import (
    DataArguments,
    merged,
    named_places,
    takes_data,
    warn_of_equal_periods,
    warn_of_files,
    warn_of_periods,
    with_late_labels,
)
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, flags_for, given_options, takes_config
from fairgauge.cli._streams import print_message, print_result
from fairgauge.errors import (
    CubeError,
    DataError,
    EmptyDataError,
    FairgaugeError,
    ValuesError,
    listing,
    quote,
)
from fairgauge.object_stores import address

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.monitor_spec import MonitorSpec
    from fairgauge.object_stores import Place
    from fairgauge.results.monitor_results import MonitorReport

_OVERRIDES = ("rules", "min_n", "inconclusive")
"""The options of an audit whose answer may change with every look at a history."""
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\dZ)?|\d{4}/\d\d/\d\d|\d{4}-W\d\d|\d{4}-Q[1-4]|\d{4}-\d\d"
    r"|(?<!\d)(?:19|20)\d\d(?=\.cube\.json$)"  # a year, which may be part of any other name
)


@click.group(
    "monitor",
    cls=CommandGroup,
)
def command() -> None:
    """Follow a model over time: counts of every period, and alarms where a limit was left.

    The probability of any false alarm within the horizon (a year of days) is at most alpha (5%),
    over all rules and groups. Exit code: 0 no alarm, 1 an alarm, 2 an error, 3 nothing of these:
    insufficient data, no label yet, or no value that could be computed.
    """


_shown = add_options(
    shows_result("monitor"),
    flags_for(*_OVERRIDES),
    click.option("--mlflow", is_flag=True, help="Log to MLflow, a step for each period."),
)
"""The options of the output of a command, and those that may override the specification."""


@command.command("run", short_help="Add a period, and decide.")
@click.argument("history")
@click.option("--period", required=True, metavar="P", help="The period, such as 2026-11-20.")
@takes_config("Specification with a table [monitor].")
@click.option("--replace", is_flag=True, help="Replace other counts of the period (new labels).")
@click.option(
    "--allow-duplicates", is_flag=True, help="No warning of periods that hold the same counts."
)
@takes_data()
@_shown
def run(
    history: str,
    data: DataArguments,
    period: str,
    config: str | None,
    replace: bool,
    allow_duplicates: bool,
    out: Output,
    mlflow: bool,
    **flags: Texts,
) -> int:
    """Count DATA as one period of HISTORY, a folder or URL, and decide over all periods.

    The same period with the same counts is added once, so that a run may be repeated.

    \b
    fairgauge monitor run history today.parquet --period 2026-11-20 -c monitor.toml
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    overrides = given_options(flags)

    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.monitor import monitor
    from fairgauge.monitoring.monitor_spec import read_monitor_spec
    from fairgauge.monitoring.periods import parse_period

    named = parse_period(period)
    held = History(history)
    spec = read_monitor_spec(config or _kept(held), options=overrides)
    counts, times = _counted(data, spec, config)
    draft = held.draft()
    draft.add(named, counts, replace=replace)
    if times is not None:
        draft.kept.keep_repeated(draft.cube(named), times)
    try:
        report = monitor(draft, spec)  # first, so that an error leaves the history as it was
    except ValuesError as error:
        if str(named) in error.periods:
            raise
        held.add(named, counts, replace=replace)  # several such periods are replaced one by one
        _keep(held, spec, effect="")
        draft.store_decided(held)
        print_message(f"{named} is stored, and nothing is decided yet: {error}", prefix="Warning: ")
        return 3
    asked_anew = bool(config or overrides)
    if asked_anew and not held.periods:
        held.keep_spec(spec)  # first, so that no history lacks it
    added = held.add(named, counts, replace=replace)
    if not added:
        print_message(f"{named} holds these counts already", prefix="Note: ")
    elif not replace and report.periods[-1:] != (str(named),):
        print_message(_describe_place(report, str(named)), prefix="Note: ")
    if asked_anew:
        _keep(held, spec)
    draft.store_decided(held)
    _warn_of_rows(report, str(named), allow_duplicates=allow_duplicates)
    return _show(report, out, mlflow=mlflow)


@command.command("status", short_help="Show what a history comes to.")
@click.argument("history")
@takes_config("Another specification than the last used.")
@click.option(
    "--at", metavar="P", help="The last period to consider, or a longer one that ends with it."
)
@_shown
def status(
    history: str,
    config: str | None,
    at: str | None,
    out: Output,
    mlflow: bool,
    **flags: Texts,
) -> int:
    """Show what the periods of HISTORY come to; nothing is changed.

    \b
    fairgauge monitor status history -o dashboard.html -o metrics.prom
    """  # noqa: D301 - the paragraph mark of click
    out.check([config])

    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.monitor import monitor

    report = monitor(History(history).draft(), config, at=at, **given_options(flags))
    return _show(report, out, mlflow=mlflow)


@command.command("doctor", short_help="Check a history for rows that may be wrong.")
@click.argument("history")
@takes_config("Another specification than the last used.")
@click.option(
    "--at", metavar="P", help="The last period to consider, or a longer one that ends with it."
)
@shows_result("history_health")
def doctor(
    history: str,
    config: str | None,
    at: str | None,
    out: Output,
) -> int:
    """Check what the counts of HISTORY show of the feed; nothing is changed.

    Looks for absent periods, labels that stopped coming, rows that were added twice, jumps of the
    number of rows, values that are new, vanished or spelt in another way, and missing values that
    become more or fewer. Exit code: 0 nothing found, 1 something may be wrong, 2 an error, 3 no
    period.

    \b
    fairgauge monitor doctor history
    """  # noqa: D301 - the paragraph mark of click
    out.check([config])

    from fairgauge.monitoring.monitor import monitor_doctor

    health = monitor_doctor(history, config, at=at)
    return out.show(health)


@command.command("import", short_help="Add counts of several periods.")
@click.argument("history")
@click.argument("files", nargs=-1, required=True)
@click.option("--period", metavar="P", help="The period, where the name of a file has no date.")
def import_(history: str, files: tuple[str, ...], period: str | None) -> None:
    """Add FILES of counts (.cube.json) to HISTORY.

    The date is that in the path of a file (2026-11-20, 2026/11/20, 2026-W47, 2026-11, 2026-Q4,
    2026), or --period.
    """
    from fairgauge.monitoring.history import History
    from fairgauge.render.words.numbers import numbered

    paths = named_places(files)
    if not paths:
        raise DataError(f"nothing matches {listing(files)}")
    named: dict[str, Place] = {}
    for path in paths:
        name = _period_of(path, period)
        if name in named:
            raise DataError(
                f"{quote(named[name])} and {quote(path)} are both of {name}; add counts of one "
                "period up before (fairgauge merge)"
            )
        named[name] = path
    warn_of_equal_periods([*map(address, paths)])
    counts = {name: merged([address(path)]) for name, path in named.items()}
    held = History(history)
    added = [name for name, cube in sorted(counts.items()) if held.add(name, cube)]
    known = len(counts) - len(added)
    print_result(f"{numbered(len(added), 'periods')} added, {known:,} known already")
    periods = held.periods
    cubes_of_all = zip(map(str, periods), held.cubes(periods), strict=True)
    warn_of_periods(dict(cubes_of_all), added)


def _period_of(path: Place, period: str | None) -> str:
    from fairgauge.monitoring.periods import parse_period

    dated = _DATE.search(str(path).replace("\\", "/"))
    if period is None and dated is None:
        raise DataError(f"the path of {quote(path)} has no date; give --period")
    return str(parse_period(period or (dated[0].replace("/", "-") if dated else "")))


def _kept(held: History) -> MonitorSpec:
    from fairgauge.monitoring.monitor import no_specification

    kept = held.spec
    if kept is None:
        raise no_specification(held)
    return kept


def _keep(held: History, spec: MonitorSpec, effect: str = "; it applies to all periods") -> None:
    from fairgauge.monitoring.monitor_spec import changed_settings

    try:
        before = held.spec
    except FairgaugeError:
        before = None  # damaged: it is replaced
    changed = changed_settings(before, spec) if before is not None else []
    if changed:
        names = ", ".join(changed)
        print_message(f"the specification changed ({names}){effect}", prefix="Warning: ")
    held.keep_spec(spec)


def _describe_place(report: MonitorReport, period: str) -> str:
    if report.periods and period > report.periods[-1]:
        return f"{period} decides nothing until another period follows it"
    if period not in report.periods:
        return (
            f"{period} is before the start ({report.spec['monitor']['start']}) and decides nothing"
        )
    text = f"{period} is not the newest period, which is {report.periods[-1]}"
    if report.periods[0] == period:
        text += "; it is now the first one"
    return f"{text}. All later ones are decided anew"


def _warn_of_rows(report: MonitorReport, period: str, *, allow_duplicates: bool) -> None:
    from fairgauge.render.words.monitor_sentences import describe_sparse_group
    from fairgauge.results.monitor_results import HistoryProblem

    for each in report.sparse_groups:
        if each.first == period:
            print_message(describe_sparse_group(each, report), prefix="Warning: ")
    for finding in report.concerning(period):
        if not (allow_duplicates and finding.problem is HistoryProblem.SAME_COUNTS):
            print_message(finding.says, prefix="Warning: ")


def _counted(data: DataArguments, spec: MonitorSpec, config: str | None) -> tuple[Cube, int | None]:
    """Count the rows, or take counts as they are; return also how many times every row stands.

    That is None of counts. What else the rows show is warned of.
    """
    from fairgauge.api.audit import counted, repeated_rows
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import plan
    from fairgauge.enums import DiagnosticCode
    from fairgauge.monitoring.monitor_spec import Labels
    from fairgauge.render.documents.report_notes import opening_warnings
    from fairgauge.scan import open_source
    from fairgauge.scan.scan_progress import progress
    from fairgauge.scan.source import Opened

    rows = data.read()
    if isinstance(rows, Cube):
        difference = plan(spec.question).difference(rows.plan)
        if difference:
            raise CubeError(
                f"the counts in {quote(data.names[0])} answer another question: {difference} "
                "(the specification first)"
            )
        return rows, None
    held = open_source(rows)
    warn_of_files(rows)
    later = spec.labels is Labels.LATER
    rows = Opened(with_late_labels(held, spec.question) if later else held)
    options: Any = _options(spec, config)
    try:
        with progress("Counting rows"):
            cube, source, asked = counted(rows, (), options)
            found = [*repeated_rows(None, source, asked, cube)]
    except EmptyDataError as error:
        message = f"{error}; add no period without rows: the report lists it as absent"
        raise EmptyDataError(message) from None
    for line in opening_warnings([d for d in found if d.code is not DiagnosticCode.DOUBLED_ROWS]):
        print_message(line, prefix="")
    times = [d["times"] for d in found if d.code is DiagnosticCode.DOUBLED_ROWS]
    return cube, max(times, default=1)


def _options(spec: MonitorSpec, config: str | None) -> dict[str, Any]:
    if config is not None:
        from fairgauge.question.spec_file import MONITOR, read_options

        return {key: value for key, value in read_options(config).items() if key != MONITOR}
    return {k: v for k, v in spec.question.to_dict().items() if v not in ([], {}, None)}


def _show(report: MonitorReport, out: Output, *, mlflow: bool) -> int:
    out.show(report)
    if mlflow:
        # by its name, as a user would: integrations stand above the command line
        import_module("fairgauge.integrations.mlflow").log_monitor(report)
    return report.exit_code
