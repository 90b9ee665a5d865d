"""``fairgauge monitor``: a history of counts, and alarms with a stated false alarm probability."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._arguments import (
    DataArguments,
    Texts,
    add_late_labels,
    flags_for,
    given_options,
    merge_cubes,
    named_places,
    takes_config,
    takes_data,
)
from fairgauge.cli._command_group import CommandGroup, add_options, print_message, print_result
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli.commands.verbs import Verb, command_of
from fairgauge.errors import DataError, EmptyDataError, FairgaugeError, ValuesError, listing, quote
from fairgauge.object_stores import address

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.monitor_spec import MonitorSpec
    from fairgauge.object_stores import Place

# the options of an audit whose answer may change with every look at a history
_OVERRIDES = ("rules", "min_n", "inconclusive")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\dZ)?|\d{4}/\d\d/\d\d|\d{4}-W\d\d|\d{4}-Q[1-4]|\d{4}-\d\d"
    r"|(?<!\d)(?:19|20)\d\d(?=\.cube\.json$)"  # a year, which may be part of any other name
)


@click.group("monitor", cls=CommandGroup)
def monitor_command() -> None:
    """Follow a model over time: counts of every period, and alarms where a limit was left.

    The probability of any false alarm within the horizon (a year of days) is at most alpha (5%),
    over all rules and groups. Exit code: 0 no alarm, 1 an alarm, 2 an error, 3 nothing of these:
    insufficient data, no label yet, or no value that could be computed.
    """


@monitor_command.command("run", short_help="Add a period, and decide.")
@click.argument("history")
@click.option("--period", required=True, metavar="P", help="The period, such as 2026-11-20.")
@takes_config("Specification with a table [monitor].")
@click.option("--replace", is_flag=True, help="Replace other counts of the period (new labels).")
@takes_data()
@shows_result("monitor")
@flags_for(*_OVERRIDES)
def run(
    history: str,
    data: DataArguments,
    period: str,
    config: str | None,
    replace: bool,
    out: Output,
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
    from fairgauge.monitoring.monitor import missing_spec_error, monitor
    from fairgauge.monitoring.monitor_spec import read_monitor_spec
    from fairgauge.monitoring.periods import parse_period

    named = parse_period(period)
    held = History(history)
    asked = config or held.spec
    if asked is None:
        raise missing_spec_error(held)
    spec = read_monitor_spec(asked, options=overrides)
    counts = _count_period(data, spec)
    try:  # first, so that an error leaves the history as it was
        report = monitor(held.trying(named, counts), spec)
    except ValuesError as error:
        if str(named) in error.periods:
            raise
        held.add(named, counts, replace=replace)  # several such periods are replaced one by one
        _keep_specification(held, spec, effect="")
        print_message(f"{named} is stored, and nothing is decided yet: {error}", prefix="Warning: ")
        return 3
    asked_anew = bool(config or overrides)
    if asked_anew and not held.periods:
        held.keep_spec(spec)  # first, so that no history lacks it
    added = held.add(named, counts, replace=replace)
    if not added:
        print_message(f"{named} holds these counts already", prefix="Note: ")
    elif not replace and report.periods[-1:] != (str(named),):
        message = f"{named} is not the newest period; what others come to is decided anew"
        print_message(message, prefix="Note: ")
    if asked_anew:
        _keep_specification(held, spec)
    later = [each for each in report.periods if each > str(named)] if added and not replace else []
    made = [e for e in report.findings if e.problem == "gap" and e.other in later[:1]]
    for finding in (*report.concerning(str(named)), *made):
        print_message(finding.says, prefix="Warning: ")
    return out.show(report)


_OF_A_HISTORY: dict[str, Any] = {
    "arguments": ("history",),
    "reads_question": True,
    "own_options": {
        "at": {
            "metavar": "P",
            "help": "The last period to consider, or a longer one that ends with it.",
        }
    },
}
_ANOTHER = takes_config("Another specification than the last used.")
_STATUS = Verb(
    function="fairgauge.monitoring.monitor:monitor",
    result_kind="monitor",
    question_options=add_options(_ANOTHER, flags_for(*_OVERRIDES)),
    help="""Show what the periods of HISTORY come to; nothing is changed.

    \b
    fairgauge monitor status history -o dashboard.html -o metrics.prom
    """,
    **_OF_A_HISTORY,
)
_DOCTOR = Verb(
    function="fairgauge.monitoring.monitor:monitor_doctor",
    result_kind="history_health",
    question_options=_ANOTHER,
    help="""Check what the counts of HISTORY show of the feed; nothing is changed.

    Looks for absent periods, labels that stopped coming, rows that were added twice, jumps of the
    number of rows, values that are new, vanished or spelt in another way, and missing values that
    become more or fewer. Exit code: 0 nothing found, 1 something may be wrong, 2 an error, 3 no
    period.

    \b
    fairgauge monitor doctor history
    """,
    **_OF_A_HISTORY,
)
monitor_command.add_command(command_of("status", _STATUS))
monitor_command.add_command(command_of("doctor", _DOCTOR))


@monitor_command.command("import", short_help="Add counts of several periods.")
@click.argument("history")
@click.argument("files", nargs=-1, required=True)
@click.option("--period", metavar="P", help="The period, where the name of a file has no date.")
def import_(history: str, files: tuple[str, ...], period: str | None) -> None:
    """Add FILES of counts (.cube.json) to HISTORY.

    The date is that in the path of a file (2026-11-20, 2026/11/20, 2026-W47, 2026-11, 2026-Q4,
    2026), or --period.
    """
    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.periods import parse_period
    from fairgauge.render.words.numbers import numbered

    paths = named_places(files)
    if not paths:
        raise DataError(f"nothing matches {listing(files)}")
    named: dict[str, Place] = {}
    for path in paths:
        dated = _DATE.search(str(path).replace("\\", "/"))
        if period is None and dated is None:
            raise DataError(f"the path of {quote(path)} has no date; give --period")
        name = str(parse_period(period or (dated[0].replace("/", "-") if dated else "")))
        if name in named:
            raise DataError(
                f"{quote(named[name])} and {quote(path)} are both of {name}; add counts of one "
                "period up before (fairgauge merge)"
            )
        named[name] = path
    counts = {name: merge_cubes([address(path)]) for name, path in named.items()}
    held = History(history)
    added = [name for name, cube in sorted(counts.items()) if held.add(name, cube)]
    known = len(counts) - len(added)
    print_result(f"{numbered(len(added), 'periods')} added, {known:,} known already")


def _keep_specification(
    held: History, spec: MonitorSpec, effect: str = "; it applies to all periods"
) -> None:
    try:
        before = held.spec
    except FairgaugeError:
        before = None  # damaged: it is replaced
    old, new = ({} if each is None else each.to_dict() for each in (before, spec))
    if changed := [key for key in old | new if old and old.get(key) != new.get(key)]:
        names = ", ".join(changed)
        print_message(f"the specification changed ({names}){effect}", prefix="Warning: ")
    held.keep_spec(spec)


def _count_period(data: DataArguments, spec: MonitorSpec) -> Cube:
    # count the rows, or take counts as they are; warn of what the rows show
    from fairgauge.api.audit import count_data, notes_of_rows
    from fairgauge.cube.cube import Cube
    from fairgauge.render.documents.report_notes import opening_warnings
    from fairgauge.scan.scan_progress import progress

    named = data.read()
    if isinstance(named, Cube):
        return named
    rows = named if spec.labels_within is None else add_late_labels(named, spec.question)
    kept = spec.question.to_dict()
    options: Any = {key: value for key, value in kept.items() if value not in ([], {}, None)}
    try:
        with progress("Counting rows"):
            cube, _, asked = count_data(rows, options)
            found = [*notes_of_rows(named, cube, asked)]
    except EmptyDataError as error:
        message = f"{error}; add no period without rows: the report lists it as absent"
        raise EmptyDataError(message) from None
    for line in opening_warnings(found):
        print_message(line, prefix="")
    return cube
