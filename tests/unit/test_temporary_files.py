"""Copies of rows are private, and gone when the process ends, however it ends."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import POSIX

import fairgauge
from fairgauge.atomic_files import private_folder

pytestmark = POSIX
READS = """\
import sys
from fairgauge.scan import input_files
from fairgauge.atomic_files import folder_of_process

copy = input_files.shutil.copyfileobj

def tell(stream, handle):
    handle.flush()
    print(*folder_of_process().iterdir(), flush=True)
    copy(stream, handle)

input_files.shutil.copyfileobj = tell
from fairgauge.cli import main
main(["audit", "-", "--label", "y", "--prediction", "p", "--sensitive", "g"])
"""
SPILLS = """\
from fairgauge.scan._duckdb_relation import _connection
from pathlib import Path
import stat

folder = Path(_connection().execute("SELECT current_setting('temp_directory')").fetchone()[0])
print(folder, oct(stat.S_IMODE(folder.parent.stat().st_mode)))
"""
FORKS = """\
import os
import fairgauge as fg

audit = lambda: fg.audit("rows.csv", label="y", prediction="p", sensitive="g").data.rows
audit()
child = os.fork()
if child == 0:
    os._exit(audit() != 40_000)
print(os.waitpid(child, 0)[1])
"""
ROWS = b"y,p,g\n" + b"1,1,a\n0,1,b\n" * 20_000


@pytest.fixture
def start(tmp_path):
    """Start Python with a folder of temporary files of its own."""
    env = os.environ | {
        "PYTHONPATH": str(Path(fairgauge.__file__).parents[1]), "TMPDIR": str(tmp_path),
    }  # fmt: skip

    def start(program: str) -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", program], env=env, **pipes)

    return start


def reading(process):
    """Send rows, without an end, and return the copy of them that the process is making."""
    process.stdin.write(ROWS)
    process.stdin.flush()
    return Path(process.stdout.readline().decode().strip())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_while_it_reads(start, tmp_path, number):
    with start(READS) as process, start(READS) as living:
        copy, other = reading(process), reading(living)
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
        assert copy.read_bytes() in ROWS
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
        assert copy.exists() == (number == signal.SIGKILL)
        with start(SPILLS) as later:
            assert later.wait(timeout=60) == 0
        assert [*tmp_path.iterdir()] == [other.parent]  # of a process that lives
        assert other.exists()
        living.stdin.close()
        assert living.wait(timeout=60) == 0
    assert [*tmp_path.iterdir()] == []


def test_what_duckdb_spills_is_private(start, tmp_path):
    with start(SPILLS) as process:
        folder, mode = process.communicate()[0].decode().split()
    assert mode == "0o700"
    assert Path(folder).parents[1] == tmp_path
    assert [*tmp_path.iterdir()] == []


def test_a_fork_waits_for_no_thread_of_its_parent(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes(ROWS)
    with start(FORKS) as process:
        assert process.communicate(timeout=60)[0].split() == [b"0"]


def test_only_folders_of_fairgauge_are_removed(tmp_path):
    kept = {"fairgauge-12345678", ".fairgauge-1234", ".fairgauge-123456789", ".fairgauge-1234567!"}
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / ".fairgauge-abcd_123").mkdir()
    with private_folder(tmp_path) as folder, private_folder(tmp_path) as other:
        assert {each.name for each in tmp_path.iterdir()} == {*kept, folder.name, other.name}
    assert {each.name for each in tmp_path.iterdir()} == kept
