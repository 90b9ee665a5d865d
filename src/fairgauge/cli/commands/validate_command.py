"""``fairgauge validate``: all that can be checked without an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data, with_late_labels
from fairgauge.cli._output import prints_lines
from fairgauge.cli._spec_flags import Texts, asked, question
from fairgauge.cli._streams import print_message, print_result, printable
from fairgauge.errors import listing

if TYPE_CHECKING:
    from fairgauge.monitoring.monitor_spec import MonitorSpec
    from fairgauge.question.rules import Rule
    from fairgauge.question.specification import Spec


@click.command("validate", cls=Command)
@question()
@takes_data(required=False)
@prints_lines
def command(
    data: DataArguments,
    config: str | None,
    quiet: bool,
    **flags: Texts,
) -> None:
    """Check a specification, and whether DATA have what it needs.

    Checked are the columns, their types, and the groups that are named in rules, references,
    unknown values and excluded groups; of a monitor, its table [monitor] as well. Labels and
    predictions are not read. Names that the data do not have are warned of, or are errors where no
    audit would be possible.

    \b
    fairgauge validate loans.csv -c audit.toml
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.cube.cube import Cube
    from fairgauge.question.spec_file import labels_come_later

    what = asked(config, flags)
    if not data.names and not what.options and not what.problems:
        message = "name a specification (-c FILE), DATA, or both"
        raise click.UsageError(message)
    monitor = _monitor(config)
    opened = data.open() if data.names else None
    if monitor is not None and labels_come_later(config) and opened is not None:
        opened = opened if isinstance(opened, Cube) else with_late_labels(opened, monitor.question)
    spec = what.check(opened)
    fits = f" and fits the columns of {listing(data.names)}" if data.names else ""
    lines = [f"The specification is valid{fits}."]
    lines += _summary(spec)
    rules = () if monitor is None else monitor.rules
    lines += [f"  monitored  {printable(str(rule))}" for rule in rules]
    if opened is not None:
        from fairgauge.api.audit import check_groups
        from fairgauge.scan.scan_progress import progress

        with progress("Reading groups"):
            warnings = check_groups(opened, spec, _own_rules(config, monitor))
        if warnings is None:
            lines.append("  groups     not read: that would be a query where the rows are")
        for each in warnings or ():
            print_message(each.message, prefix="Warning: ")
    print_result("\n".join(lines[:1] if quiet else lines))


def _monitor(config: str | None) -> MonitorSpec | None:
    from fairgauge.question.spec_file import read_options

    if config is None or "monitor" not in read_options(config):
        return None
    from fairgauge.monitoring.monitor_spec import read_monitor_spec

    return read_monitor_spec(config)


def _own_rules(config: str | None, monitor: MonitorSpec | None) -> tuple[Rule, ...]:
    from fairgauge.question.spec_file import MONITOR, read_options

    if config is None or monitor is None:
        return ()
    table: Any = read_options(config)[MONITOR]
    return tuple(each.as_rule for each in monitor.rules) if table.get("rules") else ()


def _summary(spec: Spec) -> list[str]:
    from fairgauge.question.presets import preset

    lines = [f"sensitive  {', '.join(map(printable, spec.audited))}"]
    metrics = [each if isinstance(each, str) else each.name for each in spec.metrics]
    lines.append(f"metrics    {', '.join(map(printable, metrics))}")
    lines += [f"rule       {printable(str(rule))}" for rule in spec.rules]
    if spec.preset is not None:
        lacking = preset(spec.preset).lacking(spec.to_dict())
        lines += [f"lacking    {each}, which {printable(spec.preset)} asks for" for each in lacking]
    return [f"  {line}" for line in lines]
