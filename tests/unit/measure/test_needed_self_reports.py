"""Planning how many people to ask for their group: promised power, both assumptions, refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric
from fairgauge.cli import main
from fairgauge.measure.measure_unrecorded import estimated_groups
from fairgauge.resolve.resolution import resolve
from fairgauge.stats.intervals import critical

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
WITHIN = "selection_rate.difference >= -0.05"


def people(rows, seed, rates=(0.33, 0.55, 0.5), known=0):
    """Draw people, and ask some of them for their group."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.2, 0.6, 0.2], rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    answers = np.full(rows, None, dtype=object)
    asked = rng.choice(rows, known, replace=False)
    answers[asked] = np.array(list(GROUPS), dtype=object)[group[asked]]
    chosen = (rng.random(rows) < np.array(rates)[group]).astype(int)
    columns = dict(zip(GROUPS.values(), p.T, strict=True))
    return pl.DataFrame({"chosen": chosen, "answer": answers.tolist(), **columns})


def planned(data, rules=(WITHIN,), reference="White", feature=None, **more):
    return fg.plan(
        data, prediction="chosen", positive=1, reference={"race": reference}, rules=list(rules),
        sensitive={"race": feature or fg.probabilities(GROUPS)}, **more,
    )  # fmt: skip


ASKED = fg.probabilities(GROUPS, known="answer", known_drawn="random")


def of(plan, group="Black"):
    return {str(each.expects): each for each in plan.self_reports if each.group == group}


def decides(data):
    """Return whether the answers decide the rule, by the interval that an audit has."""
    cube = fg.count(data, prediction="chosen", positive=1, sensitive={"race": ASKED})
    (counts,) = estimated_groups(cube, cube.asked)
    (outcome,) = resolve(cube, cube.asked).outcomes
    rate = counts.rate(find_metric("selection_rate.difference").of, outcome)
    low, high = rate.validated.contrast("difference", 0, 1, critical(0.95))
    return high < -0.05 or low >= -0.05


def test_so_many_answers_decide_as_often_as_is_promised_and_half_of_them_do_not():
    needed = [
        of(planned(people(4_000, seed)))["likelihood"].self_reports for seed in range(100, 107)
    ]
    answers = int(np.median(needed))
    enough = np.mean([decides(people(4_000, s, known=answers)) for s in range(50)])
    half = np.mean([decides(people(4_000, s, known=answers // 2)) for s in range(50)])
    assert enough >= 0.8 - 2.6 * math.sqrt(0.16 / 50)
    assert half < 0.72


def test_an_assumption_is_planned_for_until_people_were_asked():
    data = people(4_000, 1, known=600)
    before, after = of(planned(data)), of(planned(data, feature=ASKED))
    assert set(before) == {"likelihood"}
    assert before["likelihood"].expected < -0.05
    assert all(each.self_reports <= each.at_most for each in (*before.values(), *after.values()))
    assert set(after) == {"validated"}
    report = fg.audit(
        data, prediction="chosen", positive=1, reference={"race": "White"},
        sensitive={"race": ASKED}, metrics="selection_rate.difference",
    )  # fmt: skip
    value = report["selection_rate.difference", "race", "Black"].value
    assert after["validated"].expected == pytest.approx(value)


def test_probabilities_that_show_nothing_save_no_answers():
    """Once some people were asked, whose answers show it, or where all have the same."""
    data, rules = people(4_000, 2, known=800), ["selection_rate.difference >= -0.1"]
    order = np.random.default_rng(1).permutation(len(data))
    shuffled = data.with_columns(*(data[column][order] for column in GROUPS.values()))
    nothing = of(planned(shuffled, rules, feature=ASKED))["validated"]
    assert nothing.self_reports > 0.9 * nothing.at_most
    right = of(planned(data, rules, feature=ASKED))["validated"]
    assert right.self_reports < 0.75 * right.at_most
    same = data.with_columns(
        *(pl.lit(p).alias(c) for p, c in zip((0.2, 0.6, 0.2), GROUPS.values(), strict=True))
    )
    alike = of(planned(same, rules))
    assert alike["likelihood"].self_reports > 0.95 * alike["likelihood"].at_most


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rules": []}, "rules: name a rule that people's own answers are to decide"),
        ({"rules": ["f1.difference >= -0.1"], "label": "chosen"}, r"not for 'f1.difference >= -0"),
        ({"cluster": "answer"}, "cluster: self-reports are planned for rows that are independent"),
    ],
)
def test_what_is_not_planned_is_refused_by_name(more, message):
    with pytest.raises(fg.SpecError, match=message):
        planned(people(500, 5), **more)


def test_the_command_states_how_many_to_ask_and_what_to_do_with_the_answers(tmp_path):
    people(4_000, 1).write_csv(tmp_path / "rows.csv")
    feature = f"race: {', '.join(f'{group}={column}' for group, column in GROUPS.items())}"
    arguments = [
        "plan", str(tmp_path / "rows.csv"), "--prediction", "chosen", "--positive", "1",
        "--probabilities", feature, "--reference", "race=White", "--rule", WITHIN,
        "-o", str(tmp_path / "plan.json"),
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    saved = json.loads((tmp_path / "plan.json").read_text())
    loaded = fg.load(tmp_path / "plan.json")
    assert len(saved["self_reports"]) == len(loaded.self_reports) == 2
    text = " ".join(str(loaded).split())
    fewest = of(loaded)["likelihood"].self_reports
    assert f"{fewest:,.0f} people if the outcome does not depend on the probabilities" in text
    assert "known, with known_drawn = random" in text
    assert "smallest disparity" not in text
