"""What a build adds to the files of a checkout, and what it leaves out."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Scripts(BuildHookInterface):  # type: ignore[type-arg]
    """Add to a wheel the scripts that are translated from Python; keep an sdist to tracked files.

    A checkout that is installed as editable translates them anew for each page.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel" and version == "standard":
            self._translate(build_data)
        elif self.target_name == "sdist" and Path(self.root, ".git").exists():
            self._leave_out_untracked()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del version, artifact_path
        shutil.rmtree(build_data.get("translated", ""), ignore_errors=True)

    def _translate(self, build_data: dict[str, Any]) -> None:
        translator = runpy.run_path(str(Path(self.root, "docs", "to_javascript.py")))
        build_data["translated"] = folder = tempfile.mkdtemp()
        for name in translator["SCRIPTS"]:
            made = Path(folder, name)
            made.write_text(translator["script"](name), encoding="utf-8")
            build_data["force_include"][str(made)] = f"fairgauge/render/templates/{name}"

    def _leave_out_untracked(self) -> None:
        listing = ["git", "ls-files", "--others", "--directory", "-z"]
        done = subprocess.run(  # noqa: S603 - of words of ours
            listing, cwd=self.root, capture_output=True, text=True, check=False
        )
        names = [re.sub(r"([*?\[\]\\! ])", r"\\\1", name) for name in done.stdout.split("\0")]
        untracked = [f"/{name}" for name in names if name]
        config = self.build_config.target_config
        config["exclude"] = [*config.get("exclude", []), *untracked]
