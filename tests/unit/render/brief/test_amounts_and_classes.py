"""First pages of amounts, of several classes, and of groups that nobody recorded."""

import re

import numpy as np
import polars as pl
import pytest
from tests.every_result import calls, result

import fairgauge as fg
from fairgauge.render import render

STATED = re.compile(
    r"Average rate spread: (?:(?P<by>[\d.,]+) )?(?P<way>higher|lower) for (?P<one>.+?) "
    r"\((?P<mine>[−\d.,]+)\) than for (?P<other>.+?) \((?P<theirs>[−\d.,]+)\)"
)


def amounts(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_who_the_words_call_worse_off_has_the_worse_amount(scale: float) -> None:
    """Of two groups the one that pays more, or is paid less; what is printed adds up."""
    stated = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        race = rng.choice(["a", "b"], 800)
        spread = scale * (2 + rng.gamma(2, 0.3, 800) + rng.normal() * (race == "a"))
        data = pl.DataFrame({"race": race, "rate_spread": spread})
        for favourable in ("lower", "higher", "positive"):
            words = {"groups": {"race": {"a": "first", "b": "second"}}}
            report = fg.audit(data, label="rate_spread", sensitive="race", task="regression",
                              words=words, favourable=favourable)  # fmt: skip
            brief = report.brief()
            for sentence in brief.found:
                if (found := STATED.match(str(sentence))) is None:
                    continue
                stated += 1
                mine, theirs = amounts(found["mine"]), amounts(found["theirs"])
                assert (mine > theirs) == (found["way"] == "higher")
                if found["by"]:
                    assert abs(mine - theirs) == pytest.approx(amounts(found["by"]))
                means = {g.group: g.rates["mean_label"].value or 0.0 for g in report.groups}
                first = means["a"] > means["b"]
                assert (found["one"] == "first") == (first == (mine > theirs))
                if favourable != "positive":
                    assert found["way"] == ("higher" if favourable == "lower" else "lower")
                    assert brief.question == "Who is worse off, and by how much"
    assert stated > 10
    brief = fg.audit(data, label="rate_spread", sensitive="race", task="regression",
                     favourable="neither").brief()  # fmt: skip
    assert brief.question == "Who differs, and by how much"
    assert not any("whether higher values" in str(each) for each in brief.steps)


def test_classes_are_named_and_counted() -> None:
    brief = result("three classes").brief()
    assert str(brief.headline) == (
        "The predicted class is right less often for people with accent “other” than for people "
        "with accent local"
    )
    assert "(routed: billing, cancel or help) and asked, by accent" in str(brief)
    one, *_ = result("classes without accuracy").brief().found
    assert str(one) == (
        "Of 100 people with accent “other” and asked = billing, 86 had routed = billing; of 100 "
        "such people with accent local, 93. No class differs more than class billing."
    )
    rows = calls().filter(pl.col("asked") == "billing")
    for accent, k in (("other", 86), ("local", 93)):
        of = rows.filter(pl.col("accent") == accent)
        assert round(100 * (of["routed"] == "billing").mean()) == k
    # of each group and rate the class that differs most is a finding: the page counts no others
    found = " ".join(map(str, result("three classes").brief().found))
    assert "More differences are statistically significant." in found


def test_where_probabilities_are_too_few_the_rows_that_suffice_are_stated() -> None:
    random = np.random.default_rng(3)
    share, hired = random.beta(3, 1, 1_000).round(3), random.random(1_000) < 0.7

    def audited(rows: int) -> fg.Report:
        table = pl.DataFrame({"ok": hired[:rows], "w": share[:rows], "b": 1 - share[:rows]})
        race = fg.probabilities(White="w", Black="b")
        return fg.audit(table, prediction="ok", positive=True, sensitive={"race": race})

    step, later = (" ".join(map(str, audited(rows).brief().steps)) for rows in (150, 900))
    found = re.search(r"without answers takes about ([\d,]+) rows like these", step)
    assert 150 < amounts(found[1]) < 700
    assert "takes about" not in later


@pytest.mark.parametrize("shift", [0.4, 3.0])
def test_a_ratio_to_a_mean_near_0_states_why_it_is_not_evaluated(shift: float) -> None:
    """It was called insufficient data, of 800 rows, and "how certain this is" had no answer."""
    random = np.random.default_rng(0)
    sides = random.choice(["a", "b"], 800)
    means = np.where(sides == "a", random.normal(3, 5, 800), random.normal(shift, 5, 800))
    report = fg.audit(
        pl.DataFrame({"g": sides, "y": means}), label="y", sensitive="g", task="regression",
        metrics=["mean_label.ratio"], rules=["mean_label.ratio >= 0.8"],
    )  # fmt: skip
    (verdict,) = report.verdicts
    unbounded = verdict.reason.code == "ratio_may_be_zero"
    assert unbounded == (shift < 1)
    reason = "a number of the ratio may be 0 or below"
    assert any(reason in str(each) for each in report.brief().certainty) == unbounded
    text = " ".join(render(report, "text").split())
    assert (f"; {reason}" in text) == unbounded
    assert "insufficient data" not in text


def test_who_lacks_data_in_one_class_is_not_said_to_lack_all() -> None:
    """A group whose differences are significant in other classes is not said to lack data."""
    rng = np.random.default_rng(3)
    group = np.repeat(list("abcd"), [900, 600, 200, 10])
    rare = rng.random(len(group)) < np.where(group == "c", 0.03, 0.4)
    label = np.where(rare, "high", np.where(rng.random(len(group)) < 0.5, "low", "medium"))
    other = rng.choice(["high", "low", "medium"], len(group), p=[0.1, 0.45, 0.45])
    made = np.where(rng.random(len(group)) < 0.7, label, other)
    report = fg.audit({"y": label, "p": made, "g": group}, label="y", prediction="p", sensitive="g")
    (text,) = (
        str(each) for each in report.brief().certainty if str(each).startswith("Insufficient data")
    )
    assert text == (
        "Insufficient data for all comparisons of people with g d, and for some comparisons of "
        "people with g c."
    )
