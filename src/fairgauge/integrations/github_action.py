"""The script of the GitHub Action: an audit, its summary, annotations and the text of a comment.

``python -m fairgauge.integrations.github_action`` reads the inputs of ``action.yml`` from the
environment, runs the same command line that a person would, and exits with its code.
"""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.cli import main as run_command
from fairgauge.enums import Outcome
from fairgauge.render.words.verdict_sentences import describe_outcome
from fairgauge.results.report import Report
from fairgauge.results.shown_result import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INPUTS = ("data", "arguments", "config", "baseline", "inconclusive", "output")
"""What ``action.yml`` passes on as ``FAIRGAUGE_DATA`` and its like; empty where it is not given."""
MARK = "<!-- fairgauge -->"
"""Marks the action's own comment, so that it is updated."""
_WRITTEN = ("report.html", "report.json", "report.md", "comparison.md", "comparison.html",
            "comment.md")  # fmt: skip
_BAD_USAGE = 2
# the exit codes of an audit that wrote its report
_DECIDED = (0, 1, 3)
_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.NOT_EVALUATED: "warning"}
_LONGEST_SUMMARY = 900_000
_LONGEST_COMMENT = 60_000
# what GitHub takes of a step, in bytes and in number
_MOST_ANNOTATIONS = 10


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Audit, write what GitHub shows, and return the exit code of the audit or of a failure."""
    given = {name: environment.get(f"FAIRGAUGE_{name.upper()}", "").strip() for name in INPUTS}
    data, arguments = (shlex.split(given[name]) for name in ("data", "arguments"))
    output, baseline = Path(given["output"] or "fairgauge-report"), given["baseline"]
    if (wrong := _clear_folder(output)) is not None:
        print(f"::error title=fairgauge::{_escape_message(wrong)}")
        return _BAD_USAGE
    _append(environment, "GITHUB_OUTPUT", f"report={output}\n")
    page, saved, text = (output / f"report.{suffix}" for suffix in ("html", "json", "md"))
    config = ["--config", given["config"]] if given["config"] else []
    counted = ["--inconclusive", given["inconclusive"]] if given["inconclusive"] else []
    asked = [*data, *config, *arguments, *counted]
    code = _run_silenced(["audit", *asked, *_output_arguments(page, saved, text)])
    if code not in _DECIDED:
        print("::error title=fairgauge::There is no report; see the log of this step")
        return code
    report = load(saved)
    assert isinstance(report, Report)
    for line in workflow_commands(report):
        print(line)
    _append(environment, "GITHUB_STEP_SUMMARY", _beginning(text, _LONGEST_SUMMARY))
    shown = text
    if baseline and Path(baseline).exists():
        shown = output / "comparison.md"
        compared = _output_arguments(shown, shown.with_suffix(".html"))
        if _run_silenced(["compare", baseline, str(saved), *compared]) != 0:
            print("::error title=fairgauge::There is no comparison; see the log of this step")
            return _BAD_USAGE
    elif baseline:
        message = _escape_message(f"There is no baseline {baseline} yet")
        print(f"::notice title=fairgauge::{message}")
    comment = f"{MARK}\n{_beginning(shown, _LONGEST_COMMENT)}"
    (output / "comment.md").write_text(comment, encoding="utf-8")
    _append(environment, "GITHUB_OUTPUT", f"verdict={report.verdict}\n")
    return code


def _clear_folder(output: Path) -> str | None:
    # Make the folder, or empty it of an earlier report; else return why not. What a pull request
    # adds to the checkout must neither be uploaded nor lead what is written elsewhere.
    if output.resolve() != Path(os.path.abspath(output)):  # noqa: PTH100 - which follows no link
        return f"The folder {output} is reached by a link; name another as output"
    output.mkdir(parents=True, exist_ok=True)
    if others := sorted({each.name for each in output.iterdir()} - {*_WRITTEN}):
        return f"The folder {output} holds {others[0]}; name one that is not in use as output"
    for each in output.iterdir():
        each.unlink()
    return None


def workflow_commands(report: Report) -> Iterator[str]:
    """Yield a workflow command for each rule and group that is not met, failures first."""
    unmet = [each for each in report.verdicts if each.outcome in _LEVELS]
    unmet.sort(key=lambda verdict: verdict.outcome is not Outcome.FAIL)
    for verdict in unmet[:_MOST_ANNOTATIONS]:
        level = _LEVELS[verdict.outcome]
        yield f"::{level} title=fairgauge::{_escape_message(describe_outcome(report, verdict))}"


def _escape_message(text: str) -> str:
    """Return the message of a workflow command.

    >>> _escape_message("100% sure" + chr(10) + "::set-output")
    '100%25 sure%0A::set-output'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _output_arguments(*paths: Path) -> list[str]:
    return [part for path in paths for part in ("--output", str(path))]


def _run_silenced(arguments: Sequence[str]) -> int:
    # what it prints holds names from the data, and GitHub obeys ``::command::`` at the beginning of
    # a line and ``##[command]`` anywhere in one: until a word that nobody can guess it obeys
    # neither
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)
    try:
        run_command(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        sys.stderr.flush()
        print(f"\n::{word}::", flush=True)
    return 0


def _beginning(path: Path, most: int) -> str:
    # the text of a file, cut at a line where GitHub would take no more
    text = path.read_text(encoding="utf-8")
    if len(text.encode()) <= most:
        return text
    kept = text.encode()[:most].decode(errors="ignore").rpartition("\n")[0]
    return f"{kept}\n\nFurther lines are in the report among the files of this run.\n"


def _append(environment: Mapping[str, str], name: str, text: str) -> None:
    # append a text to the file that GitHub names in a variable; outside GitHub there is none
    if environment.get(name):
        with Path(environment[name]).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    os.dup2(1, 2)  # GitHub reads two streams in no certain order, and would obey one too early
    sys.exit(main())
