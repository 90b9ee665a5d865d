"""What a file of others may hold is read in time that grows as its length does.

Eight times as long a text may take about eight times the CPU time; a pattern that backtracks
takes 64 times, and other work on the machine stretches either. The times are compared with each
other, and with no limit in seconds.
"""

import gc
import json
import os
import subprocess
import sys
import time
import zipfile
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import fairgauge as fg
from fairgauge.cube.cube import _digest
from fairgauge.errors import FairgaugeError, cells
from fairgauge.object_stores import read_limited
from fairgauge.question import category_words, recoding, rules
from fairgauge.question.readers import LONGEST, MOST_REPLICATES
from fairgauge.scan import _tabular_files
from fairgauge_check import check
from fairgauge_check.printed import has_number, is_empty, is_like_a_row, read_ratio, strip_marks
from fairgauge_check.table_files import grids_of_text, read_grids

TABLE = "a|b\n-|-\n1|{}\n{}\na|b\n-|-\n1|2\n"
PARTS = ("(", "[1] ", "  [1]", " (a)", "*", " ", "- ", "#", "1", "1,", "<h2>To file", "<td>", "| ",
         "|-", "<", "\\", "&", "or ", '"', "n/a ", "race ", "aA", "é")  # fmt: skip
READERS: dict[str, Callable[[str], object]] = {
    "name": strip_marks, "ratio": read_ratio, "empty": is_empty, "number": has_number,
    "row": is_like_a_row, "rule": rules.limits_of, "range": recoding.ranges_of,
    "markdown": lambda text: grids_of_text(TABLE.format(text, text), ".md"),
    "page": lambda text: grids_of_text(f"<table><tr><td>a<td>b<tr><td>{text}</table>", ".html"),
    "csv": lambda text: grids_of_text(f"a,b\n1,{text}\n", ".csv"),
    "unknown": category_words.is_unknown, "missing": category_words.means_missing,
    "total": lambda text: category_words.is_total(text, [text]),
    "undecided": category_words.is_undecided, "harm": category_words.is_harm,
    "values": lambda text: cells([text, "b"]),
}  # fmt: skip
LENGTH, LONGER, MOST = 500, 8, 24


def cpu(read: Callable[[str], object], text: str) -> float:
    """Return the least CPU time of three readings of texts that were not read before."""
    times = []
    gc.disable()  # to collect what other tests left is not a reader's work
    for i in range(3):
        began = time.process_time()
        with suppress(FairgaugeError):
            read(f"{i}x{text}y")
        times.append(time.process_time() - began)
    gc.enable()
    return min(times)


@pytest.mark.parametrize("reader", READERS)
def test_the_time_of_a_text_grows_as_its_length_does(reader):
    read, slow = READERS[reader], []
    for part in PARTS:
        length = LENGTH
        while (once := cpu(read, part * length)) < 0.002 and length < 40 * LENGTH:
            length *= 2  # a time that can be told from that of anything else
        if once > 0.002 and cpu(read, part * length * LONGER) > MOST * cpu(read, part * length):
            slow.append((part, length))
    assert not slow


LISTS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "categories": lambda n: {"recode": {"g": {"A": n}}},
    "metrics": lambda n: {"metrics": ["DI"] * len(n)},
    "recodings": lambda n: {"recode": {"g": {each: [each] for each in n}}},
    "groups": lambda n: {"sensitive": [{"column": "g", "values": [[each] for each in n]}]},
    "features": lambda n: {"sensitive": n}, "strata": lambda n: {"strata": n},
    "conditions": lambda n: {"where": {"g": n}}, "unknown": lambda n: {"unknown": n},
    "outcomes": lambda n: {"positive": n, "negative": [f"no {each}" for each in n]},
    "accepted": lambda n: {"accept": [f"copied_label:{each}" for each in n]},
    "rules": lambda n: {"rules": [f"selection_rate.ratio >= 0.{each[1:]}1" for each in n[::5]]},
    "crossed": lambda n: {"intersections": [[each, "g"] for each in n]},
    "names": lambda n: {"words": {"groups": {"g": dict.fromkeys(n, "b")}}},
    "references": lambda n: {"reference": dict.fromkeys(n, "b")},
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_the_time_of_a_question_grows_as_its_entries_do(name):
    def time_of(n: int) -> float:
        asked = {"prediction": "y", "sensitive": "g"} | LISTS[name]([f"v{i}" for i in range(n)])
        return cpu(lambda _: fg.audit(ROWS, **asked), "")

    assert time_of(500 * LONGER) < MOST * time_of(500)


ROWS = {"y": [1, 0] * 40, "g": ["a", "b", "b", "a"] * 20}


def test_texts_of_a_question_and_replicates_of_a_file_have_a_limit(tmp_path):
    long, spec = "x" * (LONGEST + 1), tmp_path / "a.toml"
    for name in ("rules", "where", "recode", "reference", "sensitive", "metrics", "unknown"):
        with pytest.raises(fg.SpecError, match=rf"{name}: holds a text of 1,001 characters"):
            fg.audit(ROWS, **{"label": "y", "sensitive": "g"} | {name: long})
    many = [i / 2_000 for i in range(1_001)]
    for asked in (
        {"threshold": many, "score": "y"},
        {"sensitive": [{"column": "g", "cuts": many}]},
    ):
        with pytest.raises(fg.SpecError, match="holds 1,001 numbers; it may have 1,000"):
            fg.audit(ROWS, **{"label": "y", "sensitive": "g"} | asked)
    for asked, most in (("replicates = 1000000", 100_000), (f"threshold = {many[:101]}", 100)):
        spec.write_text(asked)
        with pytest.raises(fg.SpecError, match=rf"may ask for {most:,}, not \d.*; state more"):
            fg.audit(ROWS, config=spec, label="y", sensitive="g")
    cube = fg.count(ROWS, score="y", label="y", sensitive="g", threshold=many[:101])
    with pytest.raises(fg.SpecError, match="threshold: a file may ask for 100, not 101"):
        fg.audit(cube)
    assert len(fg.audit(cube, threshold=many[:101]).spec["threshold"]) == 101
    counts = fg.count(ROWS, label="y", sensitive="g", replicates=MOST_REPLICATES + 1)
    counts.save(tmp_path / "a.cube.json")
    held = fg.load(tmp_path / "a.cube.json")
    with pytest.raises(fg.SpecError, match="state more yourself"):
        fg.audit(held)
    assert fg.audit(held, replicates=MOST_REPLICATES + 1).spec["replicates"] > MOST_REPLICATES


def test_a_workbook_is_as_large_as_what_it_fills(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    for row in (("y", "g"), *zip(*ROWS.values(), strict=True)):
        book.active.append(row)
    book.active["C1048576"] = 1
    book.save(path)
    with pytest.raises(fg.DataError, match="far beyond those that it fills"):
        fg.audit(path, label="y", sensitive="g")
    book.active.delete_rows(100, 1_048_576)
    book.active.append([1])
    book.active.merged_cells.add("A100:ZZ2000")
    book.save(path)
    with pytest.raises(fg.DataError, match="too many elements or merged cells"):
        read_grids(path)


def test_so_many_tables_are_held_against_each_other():
    """Each was held against all pairs of others: 100 kB took hours."""
    table = "|sex|n|selected|\n|-|-|-|\n|F|{}|30|\n|M|120|48|\n\n"
    text = "".join(map(table.format, range(100, 201)))
    with pytest.raises(fg.DataError, match=r"holds more than 100 tables .*; check it in parts"):
        check(text, columns={"n": "n", "selected": "selected"})


def test_no_more_is_counted_than_sums_hold(tmp_path):
    """Counts of 2^63 were shown as negative ones, or ended in an error of Python."""
    rows = {"p": [1, 0, 1, 0], "g": ["a", "a", "b", "b"], "n": [2.0**52, 1, 3, 2]}
    counted = fg.count(rows, prediction="p", sensitive="g", count="n")
    for more in (2.0**53, 2.0**63, 1e300):
        with pytest.raises(fg.DataError, match=r"add up to more than 2\^53"):
            fg.count(rows | {"n": [more, 1, 3, 2]}, prediction="p", sensitive="g", count="n")
    held = json.loads(json.dumps({k: v for k, v in counted.to_dict().items() if k != "digest"}))
    assert 2**52 in held["tables"][0]["sums"]["n"]
    (tmp_path / "a.cube.json").write_text(json.dumps(held | {"digest": _digest(held)}))
    assert fg.load(tmp_path / "a.cube.json") == counted
    text = json.dumps(held).replace(str(2**52), str(2**53))
    changed = json.loads(text) | {"digest": _digest(json.loads(text))}
    (tmp_path / "a.cube.json").write_text(json.dumps(changed))
    with pytest.raises(fg.CubeError, match="not a fairgauge cube file"):
        fg.load(tmp_path / "a.cube.json")
    table = f"sex,n,selected\nF,{10**26},30\nM,100,4"
    (found,) = check(table, columns={"n": "n", "selected": "selected"}).tables
    assert "impossible" in [each.code for each in found.faults]


def test_a_whole_number_of_many_digits_in_a_workbook_is_a_text(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    for row in (("y", "g"), *zip(*ROWS.values(), strict=True)):
        book.active.append(row)
    book.active["A2"] = 123454321
    book.save(path)
    with zipfile.ZipFile(path) as held:
        parts = {each: held.read(each) for each in held.namelist()}
    with zipfile.ZipFile(path, "w") as held:
        for name, content in parts.items():
            held.writestr(name, content.replace(b"123454321", b"1" * 400))
    assert fg.audit(path, label="y", sensitive="g").groups


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Linux alone has it")
def test_a_file_of_the_system_that_states_that_it_is_empty_is_not_read(tmp_path):
    """Some are as large as memory can be, and none is what a link should lead to."""
    for name in ("a.toml", "a.json", "a.fairgauge", "a.csv"):
        (tmp_path / name).symlink_to("/proc/self/environ")
        with pytest.raises(fg.FairgaugeError, match="it is a folder, a pipe or a device"):
            read_limited(tmp_path / name, 10**6, "a file")


def test_a_long_name_of_a_column_is_not_copied_whole(monkeypatch):
    """Fields of a schema may share a name: 10,000 times a text of megabytes took minutes."""
    pa = pytest.importorskip("pyarrow")
    for length in (9_000, 90_000):
        schema = pa.schema([("x" * length, pa.duration("s"))]).serialize().to_pybytes()
        monkeypatch.setattr(_tabular_files, "run", lambda *_, of=schema: iter([(b64encode(of),)]))
        (name,) = _tabular_files._types_of_arrow(Path("a.parquet"))[0]
        assert len(name) == min(length, 9_999)


def test_objects_of_many_keys_take_memory_as_their_text_does(tmp_path):
    """DuckDB parsed, and held, an object once for each of its columns."""
    rows, sizes = [{"y": i % 2, "g": "ab"[i // 2 % 2]} for i in range(1_000)], []
    for keys in (10, 300):
        path, more = tmp_path / f"{keys}.jsonl", {f"k{key}": 1 for key in range(keys)}
        path.write_text("\n".join(json.dumps(row | more) for row in rows))
        asked = ["audit", str(path), "--label", "y", "--sensitive", "g", "-q"]
        with subprocess.Popen([sys.executable, "-m", "fairgauge", *asked]) as process:
            sizes.append(os.wait4(process.pid, 0)[2].ru_maxrss)
    assert sizes[1] < sizes[0] + 150_000  # kB; it was 2 GB
    other = [{f"k{i}": 1} | row for i, row in enumerate([*rows, *rows])]
    path.write_text("\n".join(map(json.dumps, other)))
    with pytest.raises(fg.DataError, match="more than 1,000 columns"):
        fg.audit(path, label="y", sensitive="g")
