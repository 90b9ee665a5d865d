"""A history in an object store: an S3-compatible server on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.monitored_days import RATIO, asked, cube
from tests.needs import missing

import fairgauge as fg
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.monitoring.periods import parse_period

ROOT = Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the S3 server did not start")


@pytest.fixture(scope="module")
def bucket():
    """Start moto's S3 server with an empty bucket; it is stopped when the module is done."""
    s3fs = pytest.importorskip("s3fs")
    program = ROOT / ".clients" / "moto" / "bin" / "moto_server"
    if not program.exists():
        missing("moto's server", "tests/prepare")
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    account = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = dict(os.environ)
    os.environ.update(account)
    try:
        wait_for(port, server)
        files = s3fs.S3FileSystem(skip_instance_cache=True)
        files.mkdir("monitors")
        yield "s3://monitors"
    finally:
        server.terminate()
        server.wait(20)
        os.environ.clear()
        os.environ.update(before)


def test_a_history_in_a_bucket_is_one_in_a_folder(bucket, tmp_path, shifted):
    url = f"{bucket}/loans"
    for where in (url, tmp_path):
        history = fg.History(where)
        for name, counts in list(shifted.items())[:12]:
            history.add(name, counts)
        assert not history.add("2026-01-01", shifted["2026-01-01"])
        history.keep_spec(read_monitor_spec(asked(RATIO)))
    remote, local = fg.monitor(url), fg.monitor(tmp_path)
    assert replace(remote, created="", history="", model="") == replace(
        local, created="", history="", model=""
    )
    with pytest.raises(fg.CubeError, match="holds other counts of 2026-01-01"):
        fg.History(url).add("2026-01-01", cube(1))
    assert fg.History(url).add("2026-01-01", cube(1), replace=True)


def test_of_two_runs_at_once_one_wins_in_a_bucket(bucket):
    history = fg.History(f"{bucket}/race")

    def add(i: int) -> str:
        try:
            return str(history.add("2026-11-20", cube(i)))
        except fg.CubeError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(add, range(8)))
    assert answers.count("True") == 1
    assert history.cube(parse_period("2026-11-20")) == cube(answers.index("True"))


def test_an_absent_bucket_is_a_message(bucket):
    assert fg.History(f"{bucket}/nothing").periods == []
    with pytest.raises(fg.DataError, match="cannot write 's3://no-such-bucket"):
        fg.History("s3://no-such-bucket/x").add("2026-01-01", cube(1))


def test_an_fsspec_folder_is_made(tmp_path):
    pytest.importorskip("fsspec")
    history = fg.History(f"file://{tmp_path}/new/history")
    assert history.add("2026-01-01", cube(1))
    assert not fg.History(tmp_path / "new" / "history").add("2026-01-01", cube(1))
