"""Clusters in counts: numbers that follow from what they hold, or hashes under a key."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.errors import CubeError
from fairgauge.monitoring._period_cubes import sum_cubes

ASKED = {"prediction": "y", "positive": 1, "sensitive": ["sex", "race"], "cluster": "who"}
KEY = "FAIRGAUGE_CLUSTER_KEY"
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from([0, 1]), st.sampled_from("FM"), st.sampled_from("xyz")
    ),
    min_size=1,
).filter(lambda rows: any(row[1] for row in rows))


def frame(rows, names=lambda who: f"id-{who}"):
    who, y, sex, race = zip(*rows, strict=True)
    data = {"who": [names(each) for each in who], "y": y, "sex": sex, "race": race}
    return pl.DataFrame(data | {"n": [1 + ord(each) % 3 for each in race]})


@given(ROWS, st.permutations(range(6)), st.randoms(), st.sampled_from([None, "weight", "count"]))
def test_neither_identifiers_nor_their_order_nor_that_of_rows_shows(rows, renamed, random, role):
    asked = ASKED | ({role: "n"} if role else {})
    counted = fg.count(frame(rows), **asked)
    assert "id-" not in counted.to_json()
    shuffled = random.sample(rows, len(rows))
    other = fg.count(frame(shuffled, lambda who: f"{renamed[who]}@example.org"), **asked)
    assert other.digest == counted.digest
    assert fg.audit(counted).estimates == fg.audit(frame(rows), **asked).estimates


@given(ROWS, ROWS)
def test_with_a_key_counts_add_up_to_those_of_all_rows(one, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, "0123456789abcdef")
        apart = [fg.count(frame(rows), **ASKED) for rows in (one, other)]
        together = fg.count(frame([*one, *other]), **ASKED)
    total = apart[0].add(apart[1], allow_duplicates=True)
    assert total == together
    assert "id-" not in total.to_json()
    assert total.to_json() != fg.count(frame([*one, *other]), **ASKED).to_json()


def test_without_a_common_key_counts_do_not_add_up(monkeypatch):
    rows = [(0, 1, "F", "x"), (1, 0, "M", "y")]
    numbered = fg.count(frame(rows), **ASKED)
    keyed = []
    for key in ("0123456789abcdef", "fedcba9876543210"):
        monkeypatch.setenv(KEY, key)
        keyed.append(fg.count(frame(rows), **ASKED))
    for one, other in [(numbered, numbered), (numbered, keyed[0]), keyed]:
        with pytest.raises(CubeError, match=f"would be two: count all files .*{KEY}"):
            one.add(other, allow_duplicates=True)


def test_a_saved_cube_keeps_how_its_clusters_are_named(tmp_path):
    cube = fg.count(frame([(0, 1, "F", "x"), (1, 0, "M", "y")]), **ASKED)
    cube.save(tmp_path / "t.cube.json")
    assert json.loads((tmp_path / "t.cube.json").read_text())["clusters"] == "numbered"
    with pytest.raises(CubeError, match="no common names"):
        fg.load(tmp_path / "t.cube.json").add(cube, allow_duplicates=True)


def test_a_history_takes_clusters_of_one_key_alone(monkeypatch, tmp_path):
    days = [frame([(i % 9, i % 2, "FM"[i % 3 % 2], "x") for i in range(k, k + 60)]) for k in (0, 7)]
    held = fg.History(tmp_path / "history")
    with pytest.raises(CubeError, match=f"one name of a cluster in all periods: set {KEY}"):
        held.add("2026-11-01", fg.count(days[0], **ASKED))
    monkeypatch.setenv(KEY, "0123456789abcdef")
    held.add("2026-11-01", fg.count(days[0], **ASKED))
    held.add("2026-11-02", fg.count(days[1], **ASKED))
    cubes = [held.cube("2026-11-01"), held.cube("2026-11-02")]
    assert sum_cubes(cubes) == fg.count(pl.concat(days), **ASKED)
    monkeypatch.setenv(KEY, "fedcba9876543210")
    with pytest.raises(CubeError, match="name clusters by different keys"):
        held.add("2026-11-03", fg.count(days[1], **ASKED))
    monkeypatch.delenv(KEY)
    with pytest.raises(CubeError, match="no common names"):
        sum_cubes([fg.count(day, **ASKED) for day in days])
