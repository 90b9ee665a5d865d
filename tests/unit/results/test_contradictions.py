"""Results that contradict themselves: each test is of a defect that was found, and its family.

Written against the public API alone.
"""

import contextlib
import io
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import Outcome
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.verdicts import Verdict, counted_as, overall


def recalled(name: str) -> pl.DataFrame:
    """Return 400 rows whose first class is always recalled in group a, never in group b."""
    label = ([name] * 100 + ["z"] * 100) * 2
    predicted = [name] * 100 + ["z"] * 300
    return pl.DataFrame({"y": label, "p": predicted, "g": ["a"] * 200 + ["b"] * 200})


@pytest.mark.parametrize("name", ["worst", "macro", "micro", "weighted"])
def test_a_class_of_any_name_is_judged(name: str) -> None:
    """Recall of 0 against 100 percent fails, whatever the class is called."""
    rule = fg.rule("true_positive_rate.difference", at_least=-0.2)
    outcomes = []
    for class_ in (name, "c"):
        report = fg.audit(
            recalled(class_), label="y", prediction="p", sensitive="g", task="multiclass",
            metrics=["true_positive_rate.difference"], rules=[rule],
        )  # fmt: skip
        found = report.to_dict()
        outcomes.append((found["verdict"], [(v["group"], v["outcome"]) for v in found["verdicts"]]))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == "fail"


PEOPLE = pl.DataFrame(
    {
        "g": ["a"] * 40 + ["b"] * 40 + ["c"] * 40,
        "member": [True] * 50 + [False] * 70,
        "x": [i % 7 for i in range(120)],
        "p": [int(i % 3 == 0) for i in range(40)]
        + [int(i % 2 == 0) for i in range(40)]
        + [int(i % 5 == 0) for i in range(40)],
        "s": [round(i / 120, 3) for i in range(120)],
    }
)
WAYS: dict[str, dict[str, Any]] = {
    "true": {"sensitive": "member", "reference": {"member": True}},
    "set": {"sensitive": {"g": [["a"], ["b", "c"]]}, "reference": {"g": "c"}},
    "best": {"sensitive": "g", "reference": "best"},
    "name": {"sensitive": "g", "reference": {"g": "b"}},
    "largest": {"sensitive": "g", "reference": "largest"},
    "others": {"sensitive": "g"},
}


@pytest.mark.parametrize("way", WAYS)
def test_metrics_of_counts_and_of_rows_have_one_reference(way: str) -> None:
    report = fg.audit(
        PEOPLE, prediction="p", score="s", positive=1, features=["x"],
        metrics=["DPPL", "FT", "exposure_ratio"], **WAYS[way],
    )  # fmt: skip
    pairs: dict[str, set[tuple[str, str]]] = {}
    for row in report.to_dict()["estimates"]:
        pairs.setdefault(row["metric"], set()).add((row["group"], row["reference"]))
    assert pairs["DPPL"] == pairs["FT"]
    if way != "best":  # the group that is best in a ranking may be another one
        assert pairs["exposure_ratio"] == pairs["FT"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_one_thread_draws_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PEOPLE.write_csv(tmp_path / "rows.csv")
    started: list[threading.Thread] = []

    class Recorded(threading.Thread):
        def start(self) -> None:
            started.append(self)
            super().start()

    monkeypatch.setattr(threading, "Thread", Recorded)
    monkeypatch.setattr(sys, "stderr", Terminal())
    args = ["audit", str(tmp_path / "rows.csv"), "--prediction", "p", "--sensitive", "g"]
    with contextlib.suppress(SystemExit):
        main([*args, "-o", str(tmp_path / "report.json"), "--positive", "1"])
    assert (tmp_path / "report.json").exists()
    assert sum("draw" in each.name for each in started) <= 1


# ---- verdicts that decide nothing, counted as a pass or a fail: every output shows the same
REASONS = {
    Outcome.PASS: [ReasonCode.INSIDE],
    Outcome.FAIL: [ReasonCode.POINT_OUTSIDE],
    Outcome.INCONCLUSIVE: [ReasonCode.NO_INTERVAL],
    Outcome.NOT_EVALUATED: [ReasonCode.NO_VALUE, ReasonCode.NO_ESTIMATE],
}
UNMATCHED = {"what": "group", "name": "female"}


@st.composite
def verdicts(draw):
    outcome = draw(st.sampled_from([*REASONS]))
    code = draw(st.sampled_from(REASONS[outcome]))
    of = Reason.of(code, **(UNMATCHED if code is ReasonCode.NO_ESTIMATE else {}))
    return Verdict(
        rule="DI >= 0.8", metric="DI", feature="sex", group="F", outcome=outcome, reason=of
    )


several = st.lists(verdicts(), min_size=1, max_size=6)


@given(several)
def test_what_counts_as_a_fail_leaves_nothing_undecided(before):
    after = counted_as(before, Outcome.FAIL)
    passed = {verdict.outcome for verdict in before} == {Outcome.PASS}
    assert {verdict.outcome for verdict in after} <= {Outcome.PASS, Outcome.FAIL}
    assert overall(after) is (Outcome.PASS if passed else Outcome.FAIL)


@given(several)
def test_a_rule_that_matches_nothing_never_passes(before):
    after = counted_as(before, Outcome.PASS)
    measured = {each.rule for each in before if each.value is not None}
    for one, other in zip(before, after, strict=True):
        unmatched = one.reason.code is ReasonCode.NO_ESTIMATE or one.rule not in measured
        kept = unmatched or one.outcome is Outcome.FAIL
        assert other.outcome is (one.outcome if kept else Outcome.PASS)
    passed = all(each.outcome is Outcome.PASS for each in after)
    assert (overall(after) is Outcome.PASS) is passed


@given(several, st.sampled_from([Outcome.PASS, Outcome.FAIL]))
def test_decided_verdicts_stay_and_the_others_say_why(before, outcome):
    after = counted_as(before, outcome)
    assert counted_as(after, outcome) == after
    for one, other in zip(before, after, strict=True):
        if other != one:
            assert other.says.startswith(f"{one.says}; ")
            assert other.says.endswith(f" counts as {outcome}")
            assert other.reason["reasons"] == (one.reason,)
