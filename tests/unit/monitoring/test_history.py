"""A history in a folder or a store: what may be added, what is refused, what no accident takes."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names
from tests.needs import POSIX
from tests.object_servers import s3_bucket

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.monitoring.periods import gaps, parse_period
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorState


def test_other_counts_of_a_period_name_both(tmp_path):
    history = fg.History(tmp_path)
    history.add("2026-11-20", cube(40))
    with pytest.raises(fg.CubeError) as caught:
        history.add("2026-11-20", cube(41, of=101))
    for digest in (cube(40).digest, cube(41, of=101).digest):
        assert digest[:19] in str(caught.value)
    assert "300 rows, not" in str(caught.value)
    assert "--replace" in str(caught.value)
    assert history.add("2026-11-20", cube(41, of=101), replace=True)
    assert history.cube(parse_period("2026-11-20")) == cube(41, of=101)


def test_protected_counts_are_no_period(tmp_path):
    """They were added, and every later look at the history was refused."""
    history = fg.History(tmp_path)
    with pytest.raises(fg.CubeError, match="protected counts cannot be monitored"):
        history.add("2026-11-20", replace(cube(40), min_cell=10))
    assert history.periods == []


@pytest.mark.parametrize("cut", [0, 1, 300, -2])
def test_a_damaged_cube_is_named_and_no_other_is_touched(tmp_path, cut):
    history = fg.History(tmp_path)
    for name in day_names(3):
        history.add(name, cube(40))
    held = tmp_path / "period=2026-01-02" / "counts.cube.json"
    others = {p: p.read_bytes() for p in tmp_path.rglob("*.json") if p != held}
    held.write_bytes(held.read_bytes()[:cut])
    with pytest.raises(fg.CubeError, match=r"period=2026-01-02/counts\.cube\.json"):
        fg.monitor(history, asked(RATIO))
    assert {p: p.read_bytes() for p in others} == others
    held.write_bytes(next(iter(others.values())))
    fg.monitor(history, asked(RATIO))


@POSIX
def test_a_killed_run_loses_nothing_and_leaves_nothing_half_written(tmp_path):
    """The command, killed before every line that writes and at random moments; the next goes on."""
    script = [sys.executable, str(Path(__file__).with_name("killed_runs.py")), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@POSIX
def test_a_full_disk_leaves_nothing(tmp_path):
    """A limit on the size of files stands in for the disk: the system refuses the write."""
    import resource  # of POSIX alone

    history = fg.History(tmp_path)
    history.add("2026-01-01", cube(40))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(fg.DataError, match=r"cannot write .*period=2026-01-02"):
            history.add("2026-01-02", cube(40))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [str(each) for each in history.periods] == ["2026-01-01"]
    assert not list((tmp_path / "period=2026-01-02").iterdir())
    assert history.add("2026-01-02", cube(40))


def test_what_is_asked_is_kept_with_its_baseline(tmp_path):
    history = fg.History(tmp_path / "history")
    cube(400, of=1_000, others=800, size=2_000).save(tmp_path / "base.cube.json")
    near = {"metric": "selection_rate.difference", "within": 0.05,
            "of": str(tmp_path / "base.cube.json")}  # fmt: skip
    for name in day_names(3):
        history.add(name, cube(40))
    from fairgauge.monitoring.monitor_spec import read_monitor_spec

    spec = read_monitor_spec(asked(near, RATIO, alpha=0.1, start="2026-01-02"))
    history.keep_spec(spec)
    (tmp_path / "base.cube.json").unlink()
    kept = fg.History(tmp_path / "history").spec
    assert kept is not None
    assert spec.to_dict() == kept.to_dict()
    first, again = fg.monitor(history, spec), fg.monitor(history)
    assert replace(first, created="", spec={}) == replace(again, created="", spec={})
    assert first.periods == ("2026-01-02", "2026-01-03")
    # what somebody sent names the file of a digest alone, and holds what it is of
    cube(40).save(outside := tmp_path / "counts.cube.json")
    (tmp_path / "history" / "_baseline=x").mkdir()
    text = (tmp_path / "history" / "_monitor.json").read_text()
    digest = spec.baselines[0].cube.digest
    assert digest in text
    for named in (
        str(outside),
        "sha256:x/../..",
        "http://127.0.0.1:9/a.cube.json",
        cube(40).digest,
    ):
        (tmp_path / "history" / "_monitor.json").write_text(text.replace(digest, named))
        with pytest.raises(fg.FairgaugeError, match="holds no counts of the baseline"):
            _ = fg.History(tmp_path / "history").spec
    for key in json.loads(text):  # a question that is a number, or a list
        for value in (0.5, [1]):
            changed = json.dumps(json.loads(text) | {key: value})
            (tmp_path / "history" / "_monitor.json").write_text(changed)
            with pytest.raises(fg.FairgaugeError, match="cannot be read"):
                _ = fg.History(tmp_path / "history").spec
    (tmp_path / "history" / "_monitor.json").write_text(text)
    kept_in = tmp_path / "history" / f"_baseline={digest.removeprefix('sha256:')[:32]}"
    cube(40).save(kept_in / "counts.cube.json")
    with pytest.raises(fg.FairgaugeError, match="holds no counts of the baseline"):
        _ = fg.History(tmp_path / "history").spec
    with pytest.raises(fg.SpecError, match="no file 'http:/127"):
        read_monitor_spec(asked(near | {"of": "http://127.0.0.1:9/a.cube.json"}))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2026-11-20", "2026-11-20"),
        ("2026-W47", "2026-W47"),
        ("2026-11", "2026-11"),
        ("2026-11-20T14Z", "2026-11-20T14Z"),
        ("2026-11-20T14:00:00+02:00", "2026-11-20T12Z"),
        ("2026-01-01T00+01:00", "2025-12-31T23Z"),
        ("2026-11-20T14-0330", None),
        ("2026-11-20T14", None), ("2026-02-30", None), ("2026-W54", None), ("2026-13", None),
        ("20 November", None), ("", None), ("2026-11-20/..", None),
    ],
)  # fmt: skip
def test_names_of_periods(text, name, monkeypatch):
    """The time zone of the machine decides nothing."""
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    if name is None:
        with pytest.raises(fg.SpecError, match="period"):
            parse_period(text)
    else:
        assert str(parse_period(text)) == name


@pytest.mark.parametrize("first", ["2026-12-31", "2026-W52", "2026-12", "2026-12-31T23Z"])
def test_periods_follow_each_other(first):
    period = parse_period(first)
    for _ in range(30):
        after = period.following()
        assert after > period
        assert parse_period(str(after)) == after
        assert gaps([period, after]) == []
        assert gaps([period, after.following()]) == [after]
        period = after


def test_duckdb_reads_the_history_as_a_partitioned_table(tmp_path):
    import duckdb

    history = fg.History(tmp_path)
    for i, name in enumerate(day_names(3)):
        history.add(name, cube(40, of=100 + i))
    found = duckdb.sql(
        f"select period::text, rows from read_json('{tmp_path}/*/counts.cube.json', "
        "hive_partitioning = true) order by 1"
    ).fetchall()
    assert found == [(name, 300 + i) for i, name in enumerate(day_names(3))]


def test_a_history_leads_nowhere_by_a_link(tmp_path):
    cube = fg.count({"y": [1, 0] * 20, "g": ["a", "b"] * 20}, label="y", sensitive="g")
    fg.History(tmp_path / "one").add("2026-01-01", cube)
    (tmp_path / "two").mkdir()
    for target in (tmp_path / "one").iterdir():
        (tmp_path / "two" / target.name).symlink_to(target)
    with pytest.raises(fg.DataError, match="is a link, which a history does not follow"):
        fg.History(tmp_path / "two").add("2026-01-01", cube)


def day(seed: int, without_group: float = 0.1, without_label: float = 0.2) -> pd.DataFrame:
    """Return 200 rows, some without a group and some without a label."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 200).astype(object),
            "label": rng.integers(0, 2, 200).astype(float),
            "prediction": rng.integers(0, 2, 200),
        }
    )
    rows.loc[rng.random(200) < without_group, "sex"] = None
    rows.loc[rng.random(200) < without_label, "label"] = None
    return rows


def test_excluded_rows_are_those_of_an_audit_of_every_period(tmp_path):
    days = {name: day(i) for i, name in enumerate(day_names(4))}
    history = fg.History(tmp_path / "history")
    audited = {}
    for name, rows in days.items():
        history.add(name, fg.count(rows, **QUESTION))
        audited[name] = fg.audit(rows, **QUESTION).data
        report = fg.monitor(history, asked(RATIO))  # from the fold, but for the last period
    assert [(each.period, each.rows, each.excluded) for each in report.rows] == [
        (name, 200, {why: n for why, n in data.excluded.items() if n})
        for name, data in audited.items()
    ]
    totals = sum((Counter(data.excluded) for data in audited.values()), Counter())
    last = audited[day_names(4)[-1]].excluded
    assert totals["missing sex"] > 0
    for why in ("missing sex", "missing label"):
        assert f"{totals[why]} ({why})" in render(report, "text")
    written = json.loads(report.to_json())["rows"][-1]
    assert written["excluded"] == dict(last)


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


# ---- looks at a history change nothing: every later answer is as if nobody had looked
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
SELECTED = {"metric": "selection_rate.difference", "between": [-0.01, 0.01]}
COUNTED = QUESTION | {"sensitive": ["sex", "region"], "reference": "largest"}
NAMES = day_names(12)
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {}, "start": {"start": NAMES[8]}, "start after all": {"start": "2026-06-01"},
    "rules": {"rules": [SELECTED]}, "labels_within": {"labels_within": 1},
    "labels": {"labels_within": None}, "alpha": {"alpha": 0.2, "horizon": 30},
}  # fmt: skip


def asked_looks(**settings: Any) -> dict[str, Any]:
    return COUNTED | {"monitor": {"rules": [RECALL], "labels_within": 7} | settings}


def day_looks(seed: int, *, labelled: bool) -> fg.Cube:
    draw = np.random.default_rng(seed)
    values = {name: draw.integers(0, 2, 100) for name in ("label", "prediction")}
    rows = pd.DataFrame(
        {"sex": draw.choice(["F", "M"], 100), "region": draw.choice(list("NS"), 100)}
    )
    return fg.count(rows.assign(**values | ({} if labelled else {"label": None})), **COUNTED)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where a history is of twelve days whose labels came two nights later."""
    history = fg.History(tmp_path_factory.mktemp("followed") / "history")
    history.keep_spec(read_monitor_spec(asked_looks()))
    for i, name in enumerate(NAMES):
        history.add(name, day_looks(i, labelled=False))
        fg.monitor(history)
        if i >= 2:
            history.add(NAMES[i - 2], day_looks(i - 2, labelled=True), replace=True)
            fg.monitor(history)
    assert fg.monitor(history).state is MonitorState.NO_ALARM
    return history.name


@pytest.fixture
def held(followed: str, tmp_path: Path) -> fg.History:
    return fg.History(shutil.copytree(followed, tmp_path / "history"))


def texts(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.parametrize("added", [False, True], ids=["followed", "with a day that no run saw"])
def test_status_and_doctor_write_nothing_whatever_they_are_asked(
    held: fg.History, tmp_path: Path, added: bool
) -> None:
    """A later start dropped the learned delays of the days before it, so that labels were due."""
    if added:
        held.add("2026-01-13", day_looks(12, labelled=False))
    before = texts(tmp_path / "history")
    looks: list[list[str]] = [[], ["--at", NAMES[5]]]
    for name, change in CHANGES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(asked_looks(**change)))
        looks.append(["-c", str(tmp_path / f"{name}.json")])
    for command in ("status", "doctor"):
        for look in looks:
            ran = CliRunner().invoke(main, ["monitor", command, held.name, *look, "--quiet"])
            assert ran.exit_code in (0, 1, 3), ran.output
            assert texts(tmp_path / "history") == before, (command, look)
