"""What the sdist of a checkout leaves out: files that git does not track."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TrackedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Exclude untracked files; an sdist, which git does not know, has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version, build_data
        if not Path(self.root, ".git").exists():
            return
        listing = ["git", "ls-files", "--others", "--directory", "-z"]
        done = subprocess.run(  # noqa: S603 - of words of ours
            listing, cwd=self.root, capture_output=True, text=True, check=False
        )
        names = [re.sub(r"([*?\[\]\\! ])", r"\\\1", name) for name in done.stdout.split("\0")]
        untracked = [f"/{name}" for name in names if name]
        config = self.build_config.target_config
        config["exclude"] = [*config.get("exclude", []), *untracked]
