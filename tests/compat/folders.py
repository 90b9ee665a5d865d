"""Folder: files as other systems have them, and what the commands make of them."""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from fairgauge.cli import main


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)


class Folder:
    """A folder of input files, and what commands make of them."""

    def __init__(self, path: Path) -> None:
        self.path, self.notes = path, ""

    def csv(self, name: str, rows: Iterable[Sequence[Any]]) -> str:
        write_csv(self.path / name, rows)
        return name

    def text(self, name: str, text: str) -> str:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")
        return name

    def json(self, name: str, value: Any) -> str:
        return self.text(name, json.dumps(value))

    def lines(self, name: str, values: Iterable[Any]) -> str:
        return self.text(name, "".join(json.dumps(value) + "\n" for value in values))

    def read(self, name: str) -> Any:
        return json.loads((self.path / name).read_text(encoding="utf-8"))

    def ours(self, into: str = "out") -> dict[str, Any]:
        """Return the report that fairgauge wrote beside the analysis.json of a folder."""
        found: dict[str, Any] = self.read(f"{into}/fairgauge.json")
        return found

    def run(self, *args: str) -> Result:
        return CliRunner().invoke(main, args)

    def clarify(self, config: dict[str, Any], *args: str, into: str = "out") -> dict[str, Any]:
        """Run a configuration; return its analysis.json. Exit code 3: a method is not computed."""
        name = self.json("analysis_config.json", config)
        result = self.run("clarify", name, "-o", into, *args)
        assert result.exit_code == 3 * ("Not computed: " in result.stderr), result.output
        self.notes = result.stderr
        found: dict[str, Any] = self.read(f"{into}/analysis.json")
        return found

    def fails(self, *args: str) -> str:
        """Run a command that must refuse; return what it says."""
        result = self.run(*args)
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        assert "should not" not in result.output
        return result.stderr
