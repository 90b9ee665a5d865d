"""A history in an object store: an S3-compatible server on this machine."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.monitored_days import RATIO, asked, cube
from tests.object_servers import s3_bucket

import fairgauge as fg
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.monitoring.periods import parse_period


@pytest.fixture(scope="module")
def bucket():
    with s3_bucket("monitors") as url:
        yield url


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
