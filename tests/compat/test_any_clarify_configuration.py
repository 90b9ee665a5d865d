"""Whatever a configuration holds, it is run or refused with paths; nothing else ever happens."""

import json
import re
from typing import Any

import hypothesis.strategies as st
from clarify_cases import config
from hypothesis import given

from fairgauge.errors import Problem, SpecError
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig, ConfigError, read_config
from fairgauge_cloud.vertex import read_bias_configs, read_vertex_config

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
