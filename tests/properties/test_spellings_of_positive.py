"""The same question has one fingerprint, however the positive value is written."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.values import matches, meaning

ASKED = {"label": "y", "prediction": "p", "sensitive": "sex"}
ROWS = pd.DataFrame({"sex": list("FMMF") * 9, "y": [1, 0, 0, 1] * 9, "p": [1, 1, 0, 0] * 9})
numbers = st.integers(-3, 3) | st.floats(-2, 2) | st.booleans()
texts = st.sampled_from(
    ["1", "1.0", "01", "1e0", "true", "True", "TRUE", "false", "0", "-0", "yes", "", " 1", "1 "]
)
values = numbers | texts | numbers.map(str)


@given(values, values)
def test_values_of_one_meaning_match_the_same_levels(asked, level):
    assert matches(asked, level) == matches(meaning(asked), level)
    assert meaning(meaning(asked)) == meaning(asked)


@given(values, values, values)
def test_values_of_several_meanings_are_kept_apart(one, other, level):
    if meaning(one) == meaning(other):
        assert matches(one, level) == matches(other, level)


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "str"])
@pytest.mark.parametrize("written", [1, True, 1.0, "1", "1.0", "true", ["1"], [1, "true"]])
def test_counts_of_one_question_are_equal_and_add_up(dtype, written):
    rows = ROWS.astype({"y": dtype, "p": dtype})
    one = fg.count(rows, **ASKED, positive=1)
    other = fg.count(rows.head(20), **ASKED, positive=written)
    assert other == fg.count(rows.head(20), **ASKED, positive=1)
    both = one.add(other)
    assert both.asked.positive == (1,)
    assert both.digest == fg.count(pd.concat([rows, rows.head(20)]), **ASKED, positive=1).digest


def test_counts_of_the_command_line_are_those_of_python(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    options = [f"--{name}={column}" for name, column in ASKED.items()]
    command = ["count", str(tmp_path / "rows.csv"), *options, "--positive", "1"]
    assert CliRunner().invoke(main, [*command, "-o", str(tmp_path / "c.cube.json")]).exit_code == 0
    counted = fg.count(tmp_path / "rows.csv", **ASKED, positive=1)
    assert fg.load(tmp_path / "c.cube.json") == counted


def test_counts_that_were_saved_as_written_still_add_up():
    now = fg.count(ROWS, **ASKED, positive="1")
    earlier = replace(now, plan=replace(now.plan, asked=replace(now.plan.asked, positive=("1",))))
    assert earlier.to_dict()["plan"]["asked"]["positive"] == ["1"]
    assert earlier.add(now, allow_duplicates=True).rows == 2 * now.rows


def test_other_values_remain_other_questions():
    rows = ROWS.replace({"y": {1: "01", 0: "1"}, "p": {1: "01", 0: "1"}})
    one, other = (fg.count(rows, **ASKED, positive=each) for each in ("1", "01"))
    assert one != other
    with pytest.raises(fg.CubeError, match="positive is"):
        one.add(other)
    report = fg.audit(rows, **ASKED, positive="1")
    assert {g.group: g.rates["base_rate"].value for g in report.groups} == {"F": 0, "M": 1}
    texts = ROWS.replace({"y": {1: "1", 0: "1.0"}}).assign(p="1")
    with pytest.raises(fg.SpecError, match="ambiguous: the column holds the text '1' and"):
        fg.audit(texts, **ASKED, positive="1")
