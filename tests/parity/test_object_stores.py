"""Objects of stores are counted as the files they are: same cubes, few bytes, one clear message."""

import functools
import gzip
import http.client
import http.server
import json
import os
import re
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.needs import POSIX, need

import fairgauge as fg
from fairgauge import object_stores
from fairgauge.cli import main
from fairgauge.errors import DataError
from fairgauge.object_stores import Ranges, find_objects, write_object

ASKED = {"label": "y", "prediction": "p", "sensitive": ["g", {"column": "age", "cuts": [40]}]}
FLAGS = ["--label", "y", "--prediction", "p", "--sensitive", "g"]


def table(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({
        "g": rng.choice(["a", "b", "ü"], rows), "y": rng.integers(0, 2, rows),
        "p": rng.integers(0, 2, rows), "age": rng.integers(20, 60, rows),
        "long": rng.random(rows),
    })  # fmt: skip


ROWS = table(2_000)


def write_all(folder: Path) -> dict[str, str]:
    """Write the rows in every format; return what each names, below the folder."""
    pyarrow.csv.write_csv(ROWS, folder / "rows.csv")
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    lines = "\n".join(json.dumps(row) for row in ROWS.to_pylist())
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    (folder / "rows.json").write_text(f"[{','.join(lines.splitlines())}]", encoding="utf-8")
    pyarrow.feather.write_feather(ROWS, folder / "rows.arrow")
    pq.write_table(ROWS, folder / "rows.parquet")
    for i in range(4):
        (folder / f"days/day={i}").mkdir(parents=True)
        pq.write_table(ROWS.slice(500 * i, 500), folder / f"days/day={i}/part [{i}].parquet")
    single = [each.name for each in folder.iterdir() if each.is_file()]
    return {name: name for name in single} | {
        "a glob": "days/day=*/*.parquet", "a folder": "days", "a glob of folders": "days/day=*",
    }  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    return folder, write_all(folder)


@pytest.fixture(scope="module")
def bucket(store, written):
    folder, _ = written
    for file in folder.rglob("*"):
        if file.is_file():
            write_object(f"{store}/{file.relative_to(folder).as_posix()}", file.read_bytes())
    return store


def test_every_format_is_counted_as_the_file(bucket, written):
    _, names = written
    whole = fg.count(ROWS, **ASKED)
    for what, name in names.items():
        assert fg.count(f"{bucket}/{name}", **ASKED) == whole, what
    by_day = {"label": "y", "sensitive": "day"}
    assert fg.count(f"{bucket}/days", **by_day) == fg.count(str(written[0] / "days"), **by_day)
    several = [f"{bucket}/days/day={i}/*.parquet" for i in range(4)]
    assert fg.count(several, **ASKED) == whole


def test_a_program_of_its_own_says_nothing_else(bucket, tmp_path, monkeypatch):
    """With what fsspec is configured with for stores, which it reads as the program starts."""
    monkeypatch.setenv("FSSPEC_S3_DEFAULT_BLOCK_SIZE", "1000000")
    command = [sys.executable, "-m", "fairgauge", "audit", f"{bucket}/days", *FLAGS]
    written = ["--positive", "1", "-q", "-o", f"{bucket}/out/own.json"]
    done = subprocess.run(
        [*command, *written], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout, done.stderr) == ("No rules  Fairness audit: days\n", "")
    assert fg.load(f"{bucket}/out/own.json").data.rows == len(ROWS)


def test_metrics_of_rows_and_the_name_in_the_report(bucket):
    report = fg.audit(f"{bucket}/rows.parquet", metrics="consistency", features=["age"], **ASKED)
    assert report.data.source == f"{bucket}/rows.parquet"
    assert report["consistency"].value == pytest.approx(
        fg.audit(ROWS, metrics="consistency", features=["age"], **ASKED)["consistency"].value
    )


def test_only_the_columns_that_are_asked_for_are_fetched(s3, monkeypatch, tmp_path):
    big = table(300_000)
    pq.write_table(big, tmp_path / "big.parquet", row_group_size=50_000)
    write_object(f"{s3}/big.parquet", (tmp_path / "big.parquet").read_bytes())
    fetched = []
    read = Ranges.readinto
    monkeypatch.setattr(
        Ranges, "readinto", lambda self, buffer: fetched.append(len(buffer)) or read(self, buffer)
    )
    fg.count(f"{s3}/big.parquet", label="y", sensitive="g")
    metadata = pq.read_metadata(tmp_path / "big.parquet")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    needed = sum(group.column(i).total_compressed_size for group in groups for i in (0, 1))
    footers = 16 * (1 << 14)  # DuckDB 2 reads each more often than DuckDB 1 does
    assert needed < sum(fetched) < needed + footers
    assert sum(fetched) < (tmp_path / "big.parquet").stat().st_size / 4


def test_results_and_counts_in_a_bucket(bucket, tmp_path):
    run = CliRunner().invoke
    for day in (0, 1):
        data = f"{bucket}/days/day={day}/*.parquet"
        counted = run(main, ["count", data, *FLAGS, "-o", f"{bucket}/out/{day}.cube.json"])
        assert counted.exit_code == 0, counted.output
    written = ["-o", f"{bucket}/out/report.json", "-o", str(tmp_path / "report.json")]
    done = run(main, ["audit", f"{bucket}/out/*.cube.json", *FLAGS[4:], *written])
    assert done.exit_code == 0, done.output
    there, here = (fg.load(f"{each}/report.json") for each in (f"{bucket}/out", tmp_path))
    assert there == here
    assert there.data.rows == 1_000
    cube = f"{bucket}/out/0.cube.json"
    made = [f"{bucket}/out/0.json", cube, "-o", f"{bucket}/out/0.fairgauge"]
    for command in (
        ["audit", cube, "-o", made[0]], ["seal", *made], ["verify", made[-1]],
        ["render", made[0], "-o", f"{bucket}/out/0.html"],
    ):  # fmt: skip
        done = run(main, command)
        assert done.exit_code == 0, done.stderr
    same = run(main, ["audit", f"{bucket}/rows.csv", *FLAGS, "-o", f"{bucket}/rows.csv"])
    assert same.exit_code == 2
    assert "is also an input" in same.stderr or "names no format" in same.stderr


def test_periods_in_a_bucket(bucket, tmp_path):
    """A history in the bucket takes the counts of all periods at once."""
    run = CliRunner().invoke
    days = [f"2026-01-0{i + 1}" for i in range(4)]
    for i, day in enumerate(days):
        fg.count(ROWS.slice(500 * i, 500), **ASKED).save(f"{bucket}/cubes/{day}.cube.json")
    cubes = f"{bucket}/cubes/*.cube.json"
    answers = ["4 periods added, 0 known already", "0 periods added, 4 known already"]
    if bucket.startswith("gs:"):  # whose emulator replaces what must not be there yet
        del answers[1]
    for answer in answers:
        done = run(main, ["monitor", "import", f"{bucket}/history", cubes])
        assert (done.exit_code, done.stdout.strip()) == (0, answer), done.stderr
    assert [str(each) for each in fg.History(f"{bucket}/history").periods] == days
    for nothing in (f"{bucket}/cubes/*.csv", str(tmp_path / "*.cube.json")):
        done = run(main, ["monitor", "import", f"{bucket}/history", nothing])
        assert done.exit_code == 2
        assert "nothing matches" in done.stderr


def test_what_is_not_there(bucket, s3, tmp_path):
    for name, message in (
        ("none.csv", "there is no such object or bucket"),
        ("none/*.csv", "nothing matches"),
        ("days/day=0/*.csv", "nothing matches"),
    ):
        with pytest.raises(DataError, match=message):
            fg.count(f"{bucket}/{name}", **ASKED)
    with pytest.raises(DataError, match=r"cannot read 's3://no-such-bucket/a\.csv'"):
        fg.count("s3://no-such-bucket/a.csv", **ASKED)
    with pytest.raises(DataError, match=r"names no bucket; write s3://BUCKET/NAME"):
        fg.count("s3://", **ASKED)
    write_object(f"{bucket}/none/a.txt", b"text")
    with pytest.raises(DataError, match=r"/none' holds no \.parquet files; name files of other"):
        fg.count(f"{bucket}/none", **ASKED)
    capitals = bucket.partition(":")[0].upper() + bucket[bucket.index(":") :]
    assert fg.count(f"{capitals}/rows.csv", **ASKED) == fg.count(ROWS, **ASKED)
    here = tmp_path / "r.json"
    failed = CliRunner().invoke(
        main, ["audit", f"{bucket}/rows.csv", *FLAGS, "-o", str(here), "-o",
               "s3://no-such-bucket/r.json"],
    )  # fmt: skip
    assert failed.exit_code == 2
    assert "cannot write 's3://no-such-bucket/r.json'" in failed.stderr
    assert not here.exists()


def test_a_file_that_was_cut_off(s3, written):
    folder, _ = written
    for name in ("rows.parquet", "rows.csv.gz", "rows.arrow"):
        content = (folder / name).read_bytes()
        write_object(f"{s3}/cut/{name}", content[: len(content) // 2])
        with pytest.raises(DataError, match=r"'s3://people/cut/rows\..*is truncated"):
            fg.count(f"{s3}/cut/{name}", **ASKED)


def test_missing_credentials(s3, monkeypatch):
    import s3fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        with pytest.raises(DataError, match=r"credentials come from AWS_PROFILE"):
            fg.count(f"{s3}/big.parquet", label="y", sensitive="g")
    finally:
        s3fs.S3FileSystem.clear_instance_cache()


NOISE = """
import logging
from fairgauge.object_stores import filesystem
filesystem("s3://bank/a.csv")
for name in ("azure.identity", "gcsfs", "google.auth._default"):
    logging.getLogger(name).warning("a paragraph")
"""


def test_libraries_of_stores_print_nothing_beside_our_message():
    need("s3fs")
    done = subprocess.run([sys.executable, "-c", NOISE], capture_output=True, text=True, check=True)
    assert done.stderr == ""


class Refusing(http.server.BaseHTTPRequestHandler):
    """A server of S3 that refuses everything, and states why where it sends a text."""

    protocol_version = "HTTP/1.1"
    status, code, message = 400, "", ""

    def log_message(self, *message: object) -> None: ...

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        text = f"<Error><Code>{self.code}</Code><Message>{self.message}</Message></Error>"
        content = b"" if self.command == "HEAD" else text.encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("x-amz-bucket-region", "eu-west-1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_HEAD = do_PUT = do_GET  # noqa: N815


@pytest.mark.parametrize(
    ("status", "code", "message", "advice"),
    [
        (400, "ExpiredToken", "The provided token has expired.", "credentials come from AWS_PROF"),
        (403, "AccessDenied", "Access Denied", "credentials come from AWS_PROFILE"),
        (400, "AuthorizationHeaderMalformed", "the region 'us-east-1' is wrong; expecting 'eu-'",
         "set the region of the bucket"),
        (301, "PermanentRedirect", "The bucket must be addressed using the specified endpoint.",
         "set the region of the bucket"),
    ],
)  # fmt: skip
def test_what_s3_refuses_is_one_message(s3, monkeypatch, tmp_path, status, code, message, advice):
    import s3fs

    (tmp_path / "a.csv").write_text("g,y,p\na,1,1\nb,0,1\n")
    with serving(Refusing, status=status, code=code, message=message) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        s3fs.S3FileSystem.clear_instance_cache()
        for asked in (
            ["audit", "s3://bank/a.csv", *FLAGS],
            ["audit", "s3://bank/*.csv", *FLAGS],
            ["audit", str(tmp_path / "a.csv"), *FLAGS, "-o", "s3://bank/r.json"],
        ):
            done = CliRunner().invoke(main, asked)
            assert done.exit_code == 2
            said = done.stderr.strip().splitlines()[-1]
            assert re.match(r"Error: cannot (read|write) 's3://bank/\S+': ", said)
            assert said.count("cannot") == 1
            assert message.removesuffix(".") in said
            assert advice in said
    s3fs.S3FileSystem.clear_instance_cache()


class WebFiles(http.server.SimpleHTTPRequestHandler):
    """A web server of files, with ranges; it may end what it sends after some bytes."""

    protocol_version = "HTTP/1.1"
    ranges = True
    ends_after: int | None = None

    def log_message(self, *message: object) -> None: ...

    def do_HEAD(self) -> None:
        self._send(body=False)

    def do_GET(self) -> None:
        self._send(body=True)

    def _send(self, *, body: bool) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        size, asked = len(content), re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"] or "")
        self.send_response(206 if asked and self.ranges else 200)
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if asked and self.ranges:
            last = min(int(asked[2] or size - 1), size - 1)
            content = content[int(asked[1]) : last + 1]
            self.send_header("Content-Range", f"bytes {asked[1]}-{last}/{size}")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body and self.ends_after is not None and len(content) > self.ends_after:
            self.wfile.write(content[: self.ends_after])
            self.close_connection = True
        elif body:
            self.wfile.write(content)


@contextmanager
def serving(kind: type, options: dict[str, str] | None = None, **how: object):
    made = functools.partial(type("Served", (kind,), how), **(options or {}))
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), made) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def web(folder: Path, **how: object):
    return serving(WebFiles, {"directory": str(folder)}, **how)


def test_the_web(written):
    need("fsspec")
    folder, _ = written
    whole = fg.count(ROWS, **ASKED)
    with web(folder) as url:
        for name in ("rows.parquet", "rows.csv", "rows.csv.gz", "rows.jsonl", "rows.arrow"):
            assert fg.count(f"{url}/{name}", **ASKED) == whole, name
        report = fg.audit(f"{url}/rows.csv?signature=secret", **ASKED)
        assert report.data.source == f"{url}/rows.csv"
        with pytest.raises(DataError, match="no such object") as caught:
            fg.count(f"{url}/none.csv?signature=secret", **ASKED)
        assert "secret" not in str(caught.value)
        with pytest.raises(DataError, match="a web address can only be read"):
            fg.count(ROWS, **ASKED).save(f"{url}/rows.cube.json")
    with web(folder, ranges=False) as url, pytest.raises(DataError, match="in parts"):
        fg.count(f"{url}/rows.parquet", **ASKED)


def test_a_server_that_stops_half_way(written):
    need("fsspec")
    folder, _ = written
    big = table(200_000)
    pq.write_table(big, folder / "big.parquet")
    pyarrow.csv.write_csv(big, folder / "big.csv")
    with web(folder, ends_after=100_000) as url:
        for name in ("big.parquet", "big.csv"):
            with pytest.raises(DataError, match=rf"cannot read '{url}/{name}'"):
                fg.count(f"{url}/{name}", **ASKED)
    with web(folder) as url:  # and the connection is as good as before
        assert fg.count(f"{url}/big.parquet", **ASKED) == fg.count(big, **ASKED)


class Unsteady(http.server.BaseHTTPRequestHandler):
    """What stands before a server of S3: the first answers for each object's bytes go wrong."""

    protocol_version = "HTTP/1.1"
    behind, how, times = "", "", 2
    wrong: Counter[str]

    def log_message(self, *message: object) -> None: ...

    def do_GET(self) -> None:
        host = self.behind.removeprefix("http://")
        line = http.client.HTTPConnection(host, timeout=60)
        line.request(self.command, self.path, headers=dict(self.headers))
        found = line.getresponse()
        content = found.read()
        line.close()
        fails = "Range" in self.headers and self.wrong[self.path] < self.times
        if fails:
            self.wrong[self.path] += 1
        if fails and self.how == "slow down":
            content = b"<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>"
            self.send_response(503)
        else:
            self.send_response(found.status)
            for name, value in found.getheaders():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
        length = found.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if fails and self.how == "stop half-way":
            content = content[: len(content) // 2]
            self.close_connection = True
        self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815


@contextmanager
def unsteady(monkeypatch, **how: object):
    """Put a server that goes wrong before the one of S3; give what went wrong, by object."""
    import s3fs

    behind, wrong = os.environ["AWS_ENDPOINT_URL"], Counter()
    with serving(Unsteady, behind=behind, wrong=wrong, **how) as url, monkeypatch.context() as own:
        own.setenv("AWS_ENDPOINT_URL", url)
        s3fs.S3FileSystem.clear_instance_cache()
        try:
            yield wrong
        finally:
            s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize("how", ["slow down", "stop half-way"])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_what_goes_wrong_twice_is_asked_for_again(s3, written, monkeypatch, how, name):
    folder, _ = written
    write_object(f"{s3}/again/{name}", (folder / name).read_bytes())
    with unsteady(monkeypatch, how=how) as wrong:
        assert fg.count(f"{s3}/again/{name}", **ASKED) == fg.count(ROWS, **ASKED)
    assert wrong == {f"/people/again/{name}": 2}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("slow down", "Reduce your rate"),
        ("stop half-way", "its server stopped half-way; run the command again"),
    ],
)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_store_that_never_recovers_is_one_message(
    s3, written, monkeypatch, tmp_path, how, message, name
):
    folder, _ = written
    write_object(f"{s3}/never/{name}", (folder / name).read_bytes())
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # else the client waits half a minute
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 2)  # and each of five times longer
    asked = ["audit", f"{s3}/never/{name}", *FLAGS, "-o", str(tmp_path / "r.json")]
    with unsteady(monkeypatch, how=how, times=1_000_000):
        done = CliRunner().invoke(main, asked)
    assert done.exit_code == 2
    assert done.stderr == f"Error: cannot read '{s3}/never/{name}': {message}\n"
    assert not any(tmp_path.iterdir())


@POSIX
@pytest.mark.parametrize("what", ["read from the web", "read from S3", "written to S3"])
def test_an_interrupt_while_a_store_is_waited_for(what, tmp_path, monkeypatch):
    need("s3fs")
    asked, over = threading.Event(), threading.Event()

    class Waits(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            over.wait(60)

        do_HEAD = do_PUT = do_GET  # noqa: N815

    (tmp_path / "a.csv").write_text("g,y,p\na,1,1\nb,0,1\n")
    with serving(Waits) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "none")
        data = {"read from the web": f"{url}/a.csv", "read from S3": "s3://bank/a.csv"}
        written = ["-o", str(tmp_path / "r.json"), "-o", "s3://bank/r.json"]
        read = data.get(what, str(tmp_path / "a.csv"))
        command = [sys.executable, "-m", "fairgauge", "audit", read]
        with subprocess.Popen(
            [*command, *FLAGS, "--positive", "1", *written], stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                assert asked.wait(60)
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
            finally:
                over.set()
                process.kill()
    assert (process.returncode, said.strip()) == (130, "Interrupted")
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_addresses_of_accounts_are_kept(monkeypatch):
    """What is found below an address of Azure keeps the account in it."""
    found = {f"box/days/{day}.parquet": {"type": "file"} for day in (2, 1)}
    store = SimpleNamespace(
        invalidate_cache=lambda: None,
        info=Mock(side_effect=FileNotFoundError),
        glob=lambda path, detail: found,
    )
    monkeypatch.setattr(object_stores, "filesystem", lambda url: (store, "box/days/*.parquet"))
    account = "abfss://box@account.dfs.core.windows.net"
    listed, _ = find_objects(f"{account}/days/*.parquet")
    assert [each.url for each in listed] == [f"{account}/days/{day}.parquet" for day in (1, 2)]
    monkeypatch.undo()
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING", raising=False)
    need("adlfs")
    import adlfs

    adlfs.AzureBlobFileSystem.clear_instance_cache()  # which has what connected before
    with pytest.raises(DataError, match="credentials come from AZURE_STORAGE_CONNECTION_STRING"):
        find_objects("az://box/a.csv")


def test_an_account_of_azure_without_credentials_is_refused_at_once(monkeypatch):
    """Its client would ask for a token for more than a minute."""
    need("adlfs")
    import adlfs

    for name in ("CONNECTION_STRING", "ACCOUNT_KEY", "SAS_TOKEN", "CLIENT_ID"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "nobody")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")  # asks no network
    adlfs.AzureBlobFileSystem.clear_instance_cache()
    start = time.monotonic()
    with pytest.raises(DataError) as caught:
        fg.count("az://box/a.csv", label="y", sensitive="g")
    assert time.monotonic() - start < 10
    assert str(caught.value).startswith("cannot read 'az://box/a.csv': ")
    assert str(caught.value).endswith(
        "; credentials come from AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME "
        "and AZURE_STORAGE_ACCOUNT_KEY, or this name and az login"
    )
    adlfs.AzureBlobFileSystem.clear_instance_cache()
