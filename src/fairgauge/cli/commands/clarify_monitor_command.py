"""``fairgauge clarify-monitor``: whether the bias drifted away from a baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import click

from fairgauge.atomic_files import write_whole
from fairgauge.cli.output import check_outputs
from fairgauge.cli.streams import complain, say
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from fairgauge.compat.clarify.analysis_files import Value
    from fairgauge.compat.clarify.monitor import Drift

    Values = dict[tuple[str, str, str, str], Value]

VIOLATED, UNDECIDED = 1, 3


class Flags(TypedDict):
    """The flags of the command that say how to compare, and how to run a configuration."""

    check: Literal["point", "interval"]
    neutral: bool
    fail_on_violation: bool
    write_baseline: bool
    maps: tuple[str, ...]
    dataset: str | None
    model: str | None
    replicates: int
    seed: int


@click.command("clarify-monitor", short_help="Has the bias drifted away from a baseline?")
@click.argument("current", metavar="CURRENT")
@click.option("--baseline", required=True, metavar="FILE", help="The analysis.json to hold to.")
@click.option("-o", "--output", metavar="DIR", default=".", help="Folder of the results (.).")
@click.option(
    "--check",
    type=click.Choice(("point", "interval")),
    default="point",
    help="Decided by the value, as the service does (point), or by its bootstrap interval.",
)
@click.option("--neutral", is_flag=True, help="Measure DI by its distance from 1, not from 0.")
@click.option("--fail-on-violation", is_flag=True, help="Exit 1 if a metric drifted.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Make the current results the baseline, unless the check failed (or there is none yet).",
)
@click.option(
    "--metrics",
    metavar="FILE",
    help="Write the metrics as OpenMetrics text, or (.json) as CloudWatch's data; - prints.",
)
@click.option("--map", "maps", metavar="URI=DIR", multiple=True, help="As in fairgauge clarify.")
@click.option("--dataset", metavar="FILE", help="As in fairgauge clarify.")
@click.option("--model", metavar="MODEL", help="As in fairgauge clarify.")
@click.option("--replicates", type=int, default=1000, help="Of the bootstrap (1000).")
@click.option("--seed", type=int, default=0, help="Of the bootstrap (0).")
def command(
    current: str, baseline: str, output: str, metrics: str | None, **flags: Unpack[Flags]
) -> int:
    """Compare bias metrics with a baseline, and write constraint_violations.json into DIR.

    CURRENT is an analysis.json, or an analysis_config.json to run now; its results are then
    written into DIR too. Without --fail-on-violation the exit code is 0; with it, 1 if a metric
    drifted and 3 if none could be compared.

    \b
    fairgauge clarify-monitor today.json --baseline baseline.json --fail-on-violation
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.compat.clarify.analysis_files import read_results, values_of
    from fairgauge.compat.clarify.monitor import Check, compare
    from fairgauge.compat.uri_paths import made_folder

    place, folder = Path(baseline), made_folder(output)
    written = [str(folder / "constraint_violations.json")]
    if metrics not in (None, "-"):
        written.append(str(metrics))
    check_outputs(written, [current, baseline])
    first = not place.exists() and flags["write_baseline"]
    found = _results(Path(current), folder, flags)
    now = values_of(found, current)
    before = now if first else values_of(read_results(place), baseline)
    drift = compare(now, before, Check(flags["check"]), neutral=flags["neutral"])
    write_whole(written[0], drift.to_json())
    _export(now, metrics)
    failed = bool(drift.violations) and flags["fail_on_violation"]
    if flags["write_baseline"] and not failed:
        write_whole(place, json.dumps(found, indent=4, ensure_ascii=False) + "\n")
    if metrics != "-":
        say(_summary(drift, first=first))
    for each in drift.not_evaluated:
        complain(each, prefix="Not evaluated: ")
    if not flags["fail_on_violation"]:
        return 0
    return VIOLATED if drift.violations else (0 if drift.evaluated else UNDECIDED)


def _results(path: Path, folder: Path, flags: Flags) -> dict[str, Any]:
    """Read results, or run the configuration that makes them."""
    from fairgauge.compat.clarify.analysis import analyse
    from fairgauge.compat.clarify.analysis_files import read_results
    from fairgauge.compat.clarify.clarify_config import load_config
    from fairgauge.compat.local_models import open_model
    from fairgauge.compat.uri_paths import Places, read_maps

    if not _is_config(path):
        return read_results(path)
    model, dataset = flags["model"], flags["dataset"]
    config = load_config(path, has_model=model is not None, has_dataset=dataset is not None)
    options: dict[str, Any] = {}
    if flags["check"] == "interval":
        drawn = {"replicates": flags["replicates"], "seed": flags["seed"]}
        options = {**drawn, "method": "bootstrap-normal"}
    found = analyse(
        config,
        Places(read_maps(flags["maps"]), path.parent),
        dataset,
        None if model is None else open_model(model),
        **options,
    )
    for notice in found.notices:
        complain(notice, prefix="Note: ")
    write_whole(folder / "analysis.json", found.to_json())
    return found.results


def _is_config(path: Path) -> bool:
    """Tell a configuration from results: it says what to do."""
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{quote(path)} is not JSON: {error}") from None
    return isinstance(found, dict) and "methods" in found


def _export(values: Values, place: str | None) -> None:
    from fairgauge.compat.clarify.metric_export import to_cloudwatch, to_openmetrics

    if place is None:
        return
    text = (to_cloudwatch if place.endswith(".json") else to_openmetrics)(values.values())
    if place == "-":
        say(text)
    else:
        write_whole(place, text)


def _summary(drift: Drift, *, first: bool) -> str:
    if first:
        return f"first baseline: {drift.evaluated} metrics"
    status = "CompletedWithViolations" if drift.violations else "Completed"
    lines = [
        f"{status}: {drift.evaluated} metrics compared",
        f"  {len(drift.violations)} drifted, {len(drift.not_evaluated)} not evaluated",
    ]
    lines += [
        f"  {each.metric_name}  {each.facet} {each.facet_value}: {each.description}"
        for each in drift.violations
    ]
    return "\n".join(lines)
