"""Files: ``fairgauge render``, ``seal``, ``verify`` and ``schema``, ``page`` and ``explore``."""

from __future__ import annotations

import json
import os
import sys

import click

from fairgauge.cli._arguments import (
    DataArguments,
    Texts,
    flags_for,
    question,
    read_question,
    takes_config,
    takes_data,
)
from fairgauge.cli._command_group import Command, print_message, print_result
from fairgauge.cli._output import Output, check_outputs, note_exposed, print_lines, shows_result
from fairgauge.errors import DataError, quote, suggest
from fairgauge.render.words import LANGUAGE_CODES


@click.command("render", cls=Command)
@click.argument("saved")
@shows_result()
def render_command(saved: str, out: Output) -> int:
    """Render SAVED, the JSON of a report, a comparison, a check, thresholds, a plan or a monitor.

    SAVED may be a sealed bundle too: its report is rendered if it follows from its counts.

    The commands audit, compare, compare-models, check, thresholds, plan and monitor write it with
    "-o FILE.json".
    Without -o it is printed. The exit code is 0, whatever the verdict.

    \b
    fairgauge render report.json -o report.html -o report.md
    """  # noqa: D301 - the paragraph mark of click
    out.check([saved])

    from fairgauge.cube.cube import Cube
    from fairgauge.render.formats import render, save_all
    from fairgauge.results.shown_result import SUFFIX, load

    result: object
    if saved.endswith(SUFFIX):
        from fairgauge.sharing.sealing import verify

        found = verify(saved)
        headline, result = str(found).splitlines()[0], found.report
        if result is None:
            raise DataError(f"{headline}; fairgauge verify {quote(saved)} lists what differs")
        print_message(headline, prefix="Note: ")
    else:
        result = load(saved)
    if isinstance(result, Cube):
        raise DataError(f"{quote(saved)} holds counts, not a report; audit it first")
    save_all(result, out.files, full=out.full, lang=out.lang)
    if not out.files:
        print_result(render(result, **out.shown), coloured=bool(out.shown.get("colour")))
    return 0


@click.command("seal", cls=Command)
@click.argument("report")
@click.argument("counts")
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="The bundle, a .fairgauge file."
)
@click.option(
    "--key",
    metavar="PEM",
    help="Ed25519 private key that signs the bundle (extra seal); the password of an encrypted one "
    "is in FAIRGAUGE_KEY_PASSWORD, or asked for.",
)
def seal_command(report: str, counts: str, output: str, key: str | None) -> int:
    """Seal REPORT, a JSON report, with COUNTS, the .cube.json that it was made of.

    The report is computed again from the counts first; a report that does not follow from them is
    refused. The bundle holds no rows, and no identifiers but those that
    the question names (where, recode).

    \b
    fairgauge count people.csv -c audit.toml -o people.cube.json
    fairgauge audit people.cube.json -o report.json
    fairgauge seal report.json people.cube.json -o audit.fairgauge
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.sharing.protection import load_counts
    from fairgauge.sharing.sealing import KEY_PASSWORD, is_locked, seal

    check_outputs([output], [report, counts])
    cube, password = load_counts(counts), None
    is_attended = sys.stdin is not None and sys.stdin.isatty()
    if key is not None and is_locked(key) and KEY_PASSWORD not in os.environ and is_attended:
        password = click.prompt(f"Password of {quote(key)}", hide_input=True, err=True)
    print_lines(seal(report, cube, output, key, password))
    note_exposed(cube)
    return 0


@click.command("verify", cls=Command)
@click.argument("bundle")
@click.option(
    "--signed-by", metavar="FINGERPRINT", help="Key that must have signed the bundle: ed25519:..."
)
def verify_command(bundle: str, signed_by: str | None) -> int:
    """Compute the whole report of BUNDLE again, and report where it differs.

    Exit code 0: reproduced; 1: a part was changed, a field does not follow from the counts, or
    another key than that of --signed-by, or none, signed it; 3: a part of the report could not be
    compared, such as the texts of another version.

    \b
    fairgauge verify audit.fairgauge
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.sharing.sealing import VerificationResult, verify

    found = verify(bundle, signed_by)
    print_lines(found)
    codes = {VerificationResult.REPRODUCED: 0, VerificationResult.PARTLY_REPRODUCED: 3}
    return codes.get(found.finding, 1)


@click.command("schema", cls=Command)
@click.argument("name", required=False)
def schema_command(name: str | None) -> None:
    """Print the JSON Schema of a file that fairgauge reads or writes.

    Without NAME the names are listed: of every kind of result, and of a specification.

    \b
    fairgauge schema report > report.schema.json
    fairgauge schema spec > audit.schema.json
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.monitoring.monitor_spec import schema as spec_schema
    from fairgauge.results.shown_result import result_classes

    of_results = {each.KIND.name: each.json_schema for each in result_classes().values()}
    schemas = {**of_results, "spec": spec_schema}
    if name is None:
        print_result("\n".join(schemas))
    elif name not in schemas:
        known = list(schemas)
        raise DataError(f"no schema {quote(name)}.{suggest(name, known)} Use {', '.join(known)}")
    else:
        print_result(json.dumps(schemas[name](), indent=2, ensure_ascii=False))


@click.command("page", cls=Command)
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@flags_for("preset")
@takes_config("A specification; the page asks what it leaves open.")
@click.option("--lang", type=click.Choice(LANGUAGE_CODES), default="en", help="Its language.")
def page_command(output: str, preset: str | None, config: str | None, lang: str) -> None:
    """Write one page that audits a CSV file in a browser, without an installation.

    The page asks which column is the decision, who people are and which rule to hold it to, and
    shows the first page of a report. It works without a network, and nothing leaves the computer.

    \b
    fairgauge page -o audit.html
    fairgauge page --preset nyc-ll144 -o audit.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [config])
    from fairgauge.api.paging import page

    page(preset=preset, config=config, lang=lang).save(output)
    print_result(f"{output}: open it in a browser, and drag a CSV file onto it")


@click.command("explore", cls=Command)
@question()
@takes_data()
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@click.option(
    "--exact",
    is_flag=True,
    help="Allow counts of fewer than ten persons in the page, which people who have it can read.",
)
def explore_command(
    data: DataArguments, config: str | None, output: str, exact: bool, **flags: Texts
) -> None:
    """Write one page in which rates, references, thresholds, filters and groups can be chosen.

    DATA is what "fairgauge audit" takes: rows, or a .cube.json of counts. The page holds counts and
    no row, works without a network, computes the confidence interval of every view, and saves a
    view as a specification for "fairgauge audit".

    With --candidate, a model can be chosen, and confusion matrices of models stand side by side.

    To cross columns, or to filter by one while another makes the groups, ask for their
    intersection.

    \b
    fairgauge explore people.csv -c audit.toml --exact -o explore.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [*data.names, config])
    options = read_question(config, flags, judges=True)
    rows = data.read()

    from fairgauge.api.paging import explore
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        page = explore(rows, exact=exact, **options)
    page.save(output)
    print_result(f"{output}: {page}")
    for warning in page.warnings:
        print_message(warning, prefix="Warning: ")
