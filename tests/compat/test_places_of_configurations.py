"""What a configuration names is found in the folder that --map gives, and in time."""

import json
import re
from typing import Any

import hypothesis.strategies as st
import pytest
from clarify_cases import config
from hypothesis import given
from tests.needs import POSIX

from fairgauge.errors import DataError, Problem, SpecError
from fairgauge_cloud import _files
from fairgauge_cloud._files import Places, compiled_path, json_document, json_lines
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig, ConfigError, read_config
from fairgauge_cloud.vertex import read_bias_configs, read_vertex_config


@pytest.mark.parametrize("uri", ["s3://b/../outside.csv", "s3://b/in/../../outside.csv"])
def test_dots_lead_nowhere(tmp_path, uri):
    (tmp_path / "in").mkdir()
    (tmp_path / "outside.csv").write_text("y\n1\n")
    with pytest.raises(DataError, match="leads out"):
        Places({"s3://b": tmp_path / "in"}).files(uri)


@POSIX
@pytest.mark.parametrize("uri", ["s3://b/file.csv", "s3://b/f*", "s3://b", "s3://b/out/o.csv"])
def test_links_lead_nowhere(tmp_path, uri):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "o.csv").write_text("y\n1\n")
    (inside / "within.csv").symlink_to("o.csv")
    places = Places({"s3://b": inside})
    assert places.files("s3://b/within.csv")
    (inside / "file.csv").symlink_to(outside / "o.csv")
    (inside / "out").symlink_to(outside)
    with pytest.raises(DataError, match="leads out"):
        places.files(uri)


def test_globs_are_of_one_folder_and_folders_of_so_many_files(tmp_path, monkeypatch):
    for name in ("a/b/c.csv", "d.csv", "e.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("y\n1\n")
    places = Places(base=tmp_path)
    assert [path.name for path in places.files("*.csv")] == ["d.csv", "e.csv"]
    assert [path.name for path in places.files("a")] == ["c.csv"]
    for pattern in ("**/c.csv", "a/*/c.csv", "**/**/**/c.csv"):
        with pytest.raises(DataError, match="no file"):
            places.files(pattern)
    monkeypatch.setattr(_files, "_MOST_FILES", 4)
    with pytest.raises(DataError, match="more than 4 files"):
        places.files(".")


@pytest.mark.parametrize(
    "path",
    [
        "a" + "|[@,@][]" * 11, "join('',[@,@])", "a|to_string([@])",
        "a" + "|[*].to_array(`[1,1]`)" * 11,
    ],
)  # fmt: skip
def test_a_jmespath_holds_what_it_finds_so_many_times(path):
    with pytest.raises(DataError, match="may hold what it finds more than 1,000 times"):
        compiled_path(path, "label")
    assert compiled_path("join", "label").search({"join": 1}) == 1
    columns = ",".join(f"a{i}" for i in range(900))
    assert compiled_path(f"[*].[{columns}]", "features").search([{"a0": 1}])[0][0] == 1


@pytest.mark.parametrize(
    "path", [f"l[{'9' * 5_000}]", "(" * 3_000 + "l" + ")" * 3_000, f"`{'[' * 3_000}{']' * 3_000}`"]
)
def test_a_jmespath_nested_deeply_is_refused(path):
    with pytest.raises(DataError, match="is not a JMESPath"):
        compiled_path(path, "label")


def test_json_nested_deeply_is_refused(tmp_path):
    (path := tmp_path / "a.jsonl").write_text("[" * 100_000)
    for read in (lambda: list(json_lines(path)), lambda: json_document(path)):
        with pytest.raises(DataError, match="is not JSON"):
            read()


# ---- whatever a configuration holds, it is run or refused with paths; nothing else ever happens
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(allow_nan=False), st.text(max_size=5)
)
KEYS = st.sampled_from(["name_or_index", "value_or_threshold", "methods", "label", "slices", "x"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
PATH = re.compile(r"[A-Za-z_]\w*(\[\d+\]|\.[^\s]+)*")


@given(key=st.sampled_from([*AnalysisConfig.model_fields, "unknown"]), value=VALUES)
def test_clarify_configurations_are_read_or_refused(key: str, value: Any) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        read_config(json.dumps(config() | {key: value}))
    except ConfigError as error:
        problems = error.problems
    assert all(PATH.match(problem.path) and problem.message for problem in problems)
    assert key != "unknown" or problems


@given(value=VALUES)
def test_bias_configs_are_read_or_refused(value: Any) -> None:
    read, problems = read_bias_configs(value)
    assert problems or all(each.slices and each.slices[0].conditions for each in read)
    asked = {"target_field_name": "y", "predictions_gcs_source": "p", "bias_configs": value}
    refused: list[Problem] = []
    try:
        read_vertex_config(json.dumps(asked))
    except SpecError as error:
        refused = list(error.problems)
    assert refused == problems
