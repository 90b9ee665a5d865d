"""Files that are written whole and created exclusively, by threads and by processes."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from tests.needs import POSIX

from fairgauge import atomic_files
from fairgauge.atomic_files import create_whole, replace_whole, write_whole
from fairgauge.errors import DataError

THREADS = 8
LINKS = ("links", "no links", "windows")
RACE = """\
import sys
from pathlib import Path
from fairgauge import atomic_files

def no_links(self, target):
    raise OSError("links are not supported")

if sys.argv[1] == "no links":
    Path.hardlink_to = no_links
sys.stdin.readline()
created = [i for i in range(20) if atomic_files.create_whole(Path(f"{i}"), sys.argv[2] * 1000)]
print(len(created))
"""


@pytest.fixture(params=LINKS)
def system(request, monkeypatch):
    """Let the file system have hard links, none, or be that of Windows."""
    if request.param != "links":

        def no_links(*_):
            raise OSError("links are not supported")

        monkeypatch.setattr(Path, "hardlink_to", no_links)
    if request.param == "windows" and os.name != "nt":

        def rename(self, target):  # replaces nothing there
            os.close(os.open(target, os.O_CREAT | os.O_EXCL))
            self.replace(target)

        monkeypatch.setattr(atomic_files, "_WINDOWS", True)
        monkeypatch.setattr(Path, "rename", rename)


@pytest.mark.usefixtures("system")
def test_of_threads_that_create_a_file_one_succeeds(tmp_path):
    for i in range(20):
        target, ready = tmp_path / f"{i}", Barrier(THREADS)

        def create(text: str, target: Path = target, ready: Barrier = ready) -> bool:
            ready.wait()
            return create_whole(target, text * 1000)

        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(create, "abcdefgh"))
        assert answers.count(True) == 1
        assert target.read_text() == "abcdefgh"[answers.index(True)] * 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(map(str, range(20)))


@POSIX
@pytest.mark.parametrize("name", ["here/a", "./no/../here/a", "no/../../work/here/a", "dev/stdout"])
def test_no_way_of_writing_a_path_follows_a_link(tmp_path, monkeypatch, name):
    (tmp_path / "away").mkdir()
    (work := tmp_path / "work").mkdir()
    (work / "here").symlink_to(tmp_path / "away")
    (work / "dev").symlink_to("/dev")
    monkeypatch.chdir(work)
    with pytest.raises(DataError, match="is a link, which no output follows"):
        write_whole(name, "text")
    assert not [*(tmp_path / "away").iterdir()]
    write_whole("/dev/null", "text")


@pytest.mark.parametrize("links", LINKS[:2])
def test_of_processes_that_create_a_file_one_succeeds(tmp_path, links):
    processes = [
        subprocess.Popen([sys.executable, "-c", RACE, links, text], cwd=tmp_path, text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for text in "abcd"
    ]  # fmt: skip
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    created = [int(process.communicate()[0]) for process in processes]
    assert sum(created) == 20
    whole = [letter * 1000 for letter in "abcd"]
    assert all(path.read_text() in whole for path in tmp_path.iterdir())


@pytest.mark.usefixtures("system")
def test_what_is_created_can_be_replaced_and_not_created_again(tmp_path):
    target = tmp_path / "new" / "text"
    assert create_whole(target, "one")
    assert not create_whole(target, "two")
    assert target.read_text() == "one"
    replace_whole(target, "three")
    assert target.read_text() == "three"
    assert list(target.parent.iterdir()) == [target]


@POSIX
def test_writing_never_changes_the_umask(tmp_path, monkeypatch):
    """The umask is one of the whole process: another thread would see it changed."""

    def change(_mask):
        raise AssertionError("the umask was changed")

    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", change)
            write_whole(tmp_path / "a", "x")
            create_whole(tmp_path / "b", "x")
            replace_whole(tmp_path / "c", "x")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o640}


@POSIX
def test_a_file_that_only_its_owner_reads_is_never_shown_to_others(tmp_path, monkeypatch):
    target, seen = tmp_path / "a", []
    target.write_text("secret")
    target.chmod(0o600)
    encoded = atomic_files._encode_content

    def look(content):
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
        return encoded(content)

    monkeypatch.setattr(atomic_files, "_encode_content", look)
    write_whole(target, "new secret")
    assert seen == [0o600, 0o600]
    assert target.read_text() == "new secret"


KILLED = """\
import os, signal, sys
from pathlib import Path
from fairgauge import atomic_files

atomic_files._encode_content = lambda text: os.kill(os.getpid(), signal.SIGKILL)
getattr(atomic_files, sys.argv[1])(Path("a.txt"), "text")
"""


@POSIX
@pytest.mark.parametrize("write", ["write_whole", "create_whole", "replace_whole"])
def test_what_a_killed_run_leaves_is_removed_by_the_next(tmp_path, write):
    subprocess.run([sys.executable, "-c", KILLED, write], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.txt.")
    kept = {
        ".a.txt.0123", ".a.txt.0123456789abcdeg", "a.txt.0123456789abcdef",
        ".b.txt.0123456789abcdef",
    }  # fmt: skip
    for name in kept:
        (tmp_path / name).write_text("of the user")
    getattr(atomic_files, write)(tmp_path / "a.txt", "text")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", *kept}
