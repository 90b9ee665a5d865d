"""The services' own libraries, each in a virtual environment that ``tests/prepare`` makes."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.needs import missing

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "clients"
_NO_ACCOUNT = {
    "AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none", "AWS_EC2_METADATA_DISABLED": "true",
}  # fmt: skip


def ask(client: str, script: str, *arguments: str, given: Any = None) -> Any:
    """Run a script under a client's interpreter; return the JSON of its last line."""
    python = ROOT / ".clients" / client / "bin" / "python"
    if not python.exists():
        missing(f"the {client} client", "tests/prepare")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [python, SCRIPTS / script, *arguments],
        input=json.dumps(given), capture_output=True, text=True, env=environment | _NO_ACCOUNT,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout.splitlines()[-1])
