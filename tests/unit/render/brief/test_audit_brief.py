"""The brief of an audit: who is worse off, in the user's words, and never the reverse."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.enums import DiagnosticCode, Favourable
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.render.document import document as report_document
from fairgauge.render.exhibits import rule_grid
from fairgauge.render.page import told
from fairgauge.results.scopes import POOLED

if TYPE_CHECKING:
    from pathlib import Path

WORDS: dict[str, Any] = {
    "unit": "loan applications", "noun": "applicants",
    "positive": "approved", "negative": "refused",
    "label_positive": "repaid", "label_negative": "did not repay",
    "groups": {"sex": {"F": "women", "M": "men"}},
}  # fmt: skip
OTHER_WAY: dict[str, Any] = WORDS | {
    "positive": "refused", "negative": "approved",
    "label_positive": "did not repay", "label_negative": "repaid",
}  # fmt: skip


def loans(seed: int = 0, rows: int = 3_000, women: float = 0.5, men: float = 0.7) -> pl.DataFrame:
    """Return applications of women and men, with how often those who repaid were approved."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], rows)
    repaid = rng.random(rows) < 0.6
    share = np.where(repaid, np.where(sex == "F", women, men), 0.2)
    approved = (rng.random(rows) < share).astype(int)
    race = rng.choice(["A", "B"], rows)
    return pl.DataFrame({"sex": sex, "race": race, "repaid": repaid * 1, "approved": approved})


def audit(data: pl.DataFrame | None = None, **more: Any) -> fg.Report:
    asked = {"label": "repaid", "prediction": "approved", "positive": 1, "sensitive": "sex"}
    return fg.audit(loans() if data is None else data, **{**asked, "words": WORDS, **more})


def test_the_brief_is_in_the_words_of_the_user() -> None:
    brief = audit(rules=["selection_rate.ratio >= 0.95"]).brief()
    assert str(brief.headline) == (
        "Women are approved less often than men, also among those who repaid"
    )
    assert str(brief.verdict[0]) == "The rule fails."
    assert str(brief.looked_at[0]) == "3,000 loan applications, all used."
    text = str(brief)
    assert re.search(r"Of 100 women who repaid, \d+ were approved; of 100 such men, \d+\.", text)
    assert re.search(r"Women: between \d+ and \d+ fewer of 100 were approved \(95% CI\)\.", text)


def test_counts_are_those_of_the_table() -> None:
    report = audit()
    women, men = (
        next(g for g in report.groups if g.group == name).rates["true_positive_rate"]
        for name in ("F", "M")
    )
    shares = [round(100 * rate.value) for rate in (women, men)]
    sentence = f"Of 100 women who repaid, {shares[0]} were approved; of 100 such men, {shares[1]}."
    assert sentence in map(str, report.brief().found)


def test_both_sides_of_a_comparison_are_under_its_condition() -> None:
    """A rate among those who repaid is never set beside "men", who are all men."""
    brief = audit(metrics="true_positive_rate.difference").brief()
    text, women, men = str(brief), "women who repaid", "such men"
    assert str(brief.headline) == f"Women who repaid were approved less often than {men}"
    assert re.search(rf"Of 100 {women}, \d+ were approved; of 100 {men}, \d+\.", text)
    assert "Women who repaid: between" in text
    page = render(audit(metrics="true_positive_rate.difference"), "html")
    assert "of 100 men who repaid<" in page
    ratio = str(audit(metrics="true_positive_rate.ratio").brief())
    assert re.search(
        r"Women who repaid were approved .* times as often as such men \(95% CI", ratio
    )
    assert not re.search(r"(?<!such )\bmen(?! who| and)",
                         text.split("looked at")[0] + ratio.split("What")[2])  # fmt: skip


@pytest.mark.parametrize(("women", "men"), [(0.4, 0.8), (0.8, 0.4)])
@pytest.mark.parametrize("words", [WORDS, {}])
def test_who_is_worse_off_does_not_depend_on_which_outcome_is_coded_1(
    women: float, men: float, words: dict[str, Any]
) -> None:
    """The same people are the subject of headline and findings under swapped positives."""
    data = loans(women=women, men=men)
    swapped = data.with_columns(repaid=1 - pl.col("repaid"), approved=1 - pl.col("approved"))
    other = {"words": OTHER_WAY if words else {}, "favourable": "negative"}
    briefs = [audit(data, words=words).brief(), audit(swapped, **other).brief()]
    worse = "women" if women < men else "men"
    named = worse if words else f"people with sex {worse[0].upper().replace('W', 'F')}"
    for brief in briefs:
        assert re.search(f"(^| for ){named} .*than", str(brief.headline), re.IGNORECASE)
        for sentence in map(str, brief.found):
            if sentence.startswith("Of "):
                assert re.match(rf"Of [\d,]+ {named}\b", sentence, re.IGNORECASE), sentence


def test_a_harm_that_is_coded_1_is_never_told_as_its_reverse() -> None:
    """COMPAS: positive is rated high risk. Who did not reoffend and was rated so is worse off."""
    counts = {
        "Black": {"tp": 1369, "fp": 805, "fn": 532, "tn": 990},
        "White": {"tp": 505, "fp": 349, "fn": 461, "tn": 1139},
    }
    words = {
        "noun": "defendants", "positive": "rated high risk", "negative": "rated low risk",
        "label_positive": "reoffended", "label_negative": "did not reoffend",
        "groups": {"race": "{value} {noun}"},
    }  # fmt: skip
    brief = fg.audit(fg.confusion("race", counts), words=words, favourable="negative").brief()
    assert str(brief.headline) == (
        "Black defendants are rated high risk more often than White defendants, also among those "
        "who did not reoffend"
    )
    assert (
        "Of 100 Black defendants who did not reoffend, 45 were rated high risk; of 100 such White "
        "defendants, 23."
    ) in map(str, brief.found)


RISK: dict[str, Any] = {
    "noun": "defendants", "positive": "rated high risk", "negative": "rated low risk",
    "label_positive": "reoffended", "label_negative": "did not reoffend",
    "groups": {"race": "{value} {noun}"},
}  # fmt: skip


def test_the_headline_is_about_what_the_verdict_is_about() -> None:
    """A rule on false positives that fails heads the page, in words and with its side."""
    counts = {
        "Black": {"tp": 1369, "fp": 805, "fn": 532, "tn": 990},
        "White": {"tp": 505, "fp": 349, "fn": 461, "tn": 1139},
        "Other": {"tp": 100, "fp": 30, "fn": 100, "tn": 300},
    }
    table = fg.confusion("race", counts)
    rule = "-0.1 <= false_positive_rate.difference <= 0.1"
    brief = fg.audit(table, words=RISK, favourable="negative", rules=[rule]).brief()
    wrongly = "who did not reoffend"
    assert str(brief.headline) == (
        f"Black defendants {wrongly} were rated high risk more often than other such defendants"
    )
    assert str(brief.verdict[1]) == (
        "“Those who did not reoffend differ by at most 10 of 100 in how often they are rated high "
        "risk” fails for Black defendants (worse off); for defendants with race “Other” and White "
        "defendants (better off than all others together)."
    )
    # the mistake in the favour of people: neither better nor worse off, but less often or more
    swapped = {
        name: dict(zip(("tp", "fp", "fn", "tn"), (c["tn"], c["fn"], c["fp"], c["tp"]), strict=True))
        for name, c in counts.items()
    }
    brief = fg.audit(fg.confusion("race", swapped), rules=[rule]).brief()
    assert str(brief.headline).startswith("Black people with label ")
    assert " label other than 1 had prediction = 1 " in str(brief.headline)
    assert "worse off" not in " ".join(map(str, brief.verdict))
    assert "(they had prediction = 1 " in str(brief.verdict[1])


@pytest.mark.parametrize("seed", range(12))
def test_whoever_fails_a_rule_is_on_the_side_that_the_verdict_states(seed: int) -> None:
    """Property: of each group that fails, the sentence has the side that its numbers are on."""
    rng = np.random.default_rng(seed)
    names = ["A", "B", "C", "D"]
    counts = {
        name: dict(zip(("tp", "fp", "fn", "tn"), rng.integers(80, 900, 4).tolist(), strict=True))
        for name in names
    }
    metric, adverse = [("selection_rate", -1), ("true_positive_rate", -1)][seed % 2]
    report = fg.audit(
        fg.confusion("g", counts),
        rules=[f"-0.02 <= {metric}.difference <= 0.02"],
        words={"groups": {"g": "the {value}s"}},
    )
    failed = {each.group: each.value for each in report.verdicts if str(each.outcome) == "fail"}
    brief = report.brief()
    text = str(brief.verdict[1])
    sides = {"worse off": set(), "better off": set()}
    for clause in text.split("” fails ")[1].split(";"):
        side = "better off" if "better off" in clause else "worse off"
        sides[side] |= set(re.findall(r"the ([A-D])s", clause, re.IGNORECASE))
    assert sides["worse off"] == {g for g, value in failed.items() if value * adverse > 0}
    assert sides["better off"] == {g for g, value in failed.items() if value * adverse < 0}
    heads = re.match("The ([A-D])s", str(brief.headline))
    assert heads is not None
    assert heads[1] in sides["worse off"]


def test_what_is_inconclusive_is_stated_in_numbers_and_one_word() -> None:
    brief = audit(loans(rows=260, women=0.65), rules=["selection_rate.ratio >= 0.8"]).brief()
    assert str(brief.verdict[0]) == "The rule is inconclusive."
    found = str(brief.found[0])
    assert re.match(r"Of 100 (wo)?men, \d+ were approved; of 100 (wo)?men, \d+\.", found)
    assert re.search(r"times as often as (wo)?men \(95% CI\)", str(brief.certainty[0]))
    assert not re.search("cannot decide|undecided|undetermined|cannot tell", str(brief))


OF_DECISIONS = (Favourable.POSITIVE, Favourable.NEGATIVE, Favourable.NEITHER)


def test_every_metric_with_a_direction_names_the_group_that_fares_worse() -> None:
    """Invariant: the subject of a sentence is who the numbers show worse off, whatever is asked."""
    worded = 0
    for metric, favourable, seed in itertools.product(
        ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "error_rate",
         "false_negative_rate", "true_negative_rate", "rejection_share"),
        OF_DECISIONS, range(2),
    ):  # fmt: skip
        data = loans(seed, women=0.3 + 0.5 * seed, men=0.8 - 0.5 * seed)
        report = audit(data, metrics=f"{metric}.difference", favourable=favourable)
        for sentence in report.brief().found:
            found = re.match(
                r"(?:Of|For) ([\d,]+) (women|men)(?P<among> who \w[\w ]*)?,? .*?(\d+) "
                r"(?:were (?P<event>\w+)|times); (?:of|for) [\d,]+ (?:such )?(?:women|men)"
                r", (\d+)",
                str(sentence),
            )
            if found is None:
                continue
            mine, theirs = int(found[4]), int(found[6])
            event, among = found["event"], found["among"] or ""
            assert (" such " in str(sentence)) == bool(among)
            if not found["event"]:
                worse = mine < theirs if " fits " in str(sentence) else mine > theirs
                assert worse or favourable is Favourable.NEITHER
                worded += 1
                continue
            harm = "refused" if favourable is Favourable.POSITIVE else "approved"
            unclear = {"positive": "did not", "negative": "who repaid", "neither": ""}
            ambivalent = unclear[str(favourable)] in among
            if ambivalent and (among or favourable is Favourable.NEITHER):
                continue
            assert (mine > theirs) == (event == harm), (metric, favourable, str(sentence))
            worded += 1
    assert worded > 10


NAMES = {"a": "first", "b": "second", "c": "third"}
STATED = re.compile(
    r"Of 100 (?P<one>first|second|third)(?P<among> who [a-z ]+?)?, (?P<k>\d+) were "
    r"(?P<event>approved|refused); of 100 (?P<other>first|second|third|other applicants)"
    r"(?P<same> who [a-z ]+?)?, (?P<m>\d+)\."
)


@pytest.mark.parametrize("seed", range(6))
def test_of_several_groups_the_one_that_fares_worst_is_named_however_it_is_coded(seed: int) -> None:
    """The same people, with counts that add up to 100, whichever value is called positive."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], 6_000)
    chance = dict(zip("abc", rng.permutation([0.25, 0.5, 0.7]), strict=True))
    repaid = rng.random(6_000) < 0.6
    approved = rng.random(6_000) < np.vectorize(chance.get)(group) + 0.1 * repaid
    data = pl.DataFrame({"g": group, "repaid": repaid * 1, "approved": approved * 1})
    asked = {"label": "repaid", "prediction": "approved", "sensitive": "g"}
    pages = [
        fg.audit(
            data,
            **asked,
            positive=positive,
            favourable=favourable,
            words={**words, "groups": {"g": NAMES}},
        ).brief()
        for positive, words, favourable in ((1, WORDS, "positive"), (0, OTHER_WAY, "negative"))
    ]
    worst = NAMES[min(chance, key=lambda each: approved[group == each].mean())]
    assert all(str(page.headline).startswith(worst.capitalize()) for page in pages)
    stated = [STATED.match(str(page.found[0])) for page in pages]
    assert all(stated)
    first, second = (found.groupdict() for found in stated if found)
    assert first["one"] == second["one"] == worst
    assert first["other"] == second["other"]
    assert {first["event"], second["event"]} == {"approved", "refused"}
    for count in ("k", "m"):
        assert abs(int(first[count]) + int(second[count]) - 100) <= 1  # both are rounded half up


@pytest.mark.parametrize("favourable", ["positive", "negative"])
@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate", "false_positive_rate"])
def test_who_is_called_worse_off_is_who_the_rows_show_worse_off(
    metric: str, favourable: str
) -> None:
    """Counted again from the rows: the subject of the first sentence has more of the harm."""
    for seed in range(4):
        data = loans(seed, women=0.35 + 0.3 * (seed % 2), men=0.65 - 0.3 * (seed % 2))
        brief = audit(data, metrics=f"{metric}.difference", favourable=favourable).brief()
        found = re.match(
            r"Of 100 (women|men)(?: who (repaid|did not repay))?, ", str(brief.found[0])
        )
        if found is None or (favourable == "positive") == (found[2] == "did not repay"):
            continue  # nobody is called worse off by the error that is a gift
        rows = data if found[2] is None else data.filter(repaid=int(found[2] == "repaid"))
        shares = dict(rows.group_by("sex").agg(pl.col("approved").mean()).iter_rows())
        worse = min(shares, key=lambda sex: shares[sex] * (1 if favourable == "positive" else -1))
        assert found[1] == {"F": "women", "M": "men"}[worse]


RULED = {"label": None, "rules": ["selection_rate.ratio >= 0.8"]}


@pytest.mark.parametrize(
    ("asked", "among"),
    [
        *((each, ", among the rows with a known prediction") for each in ({"label": None}, RULED)),
        ({"label": "approved", "prediction": None}, ", among the rows with a known label"),
    ],
)
def test_the_direction_that_missing_outcomes_could_reverse_is_of_the_known(
    asked: dict[str, Any], among: str
) -> None:
    """Of 1,000 women 600 had no decision, and the headline stated whom it harms."""
    decided = {"M": (500, 500, 0), "F": (100, 300, 600)}
    rows = [(g, v) for g, of in decided.items() for v, n in zip((1, 0, None), of, strict=True)
            for _ in range(n)]  # fmt: skip
    data = pl.DataFrame(rows, schema=["sex", "approved"], orient="row")
    headline = str(audit(data, **asked).brief().headline)
    assert headline.startswith("Women ")
    assert headline.endswith(among)
    few = data.filter(pl.col("approved").is_not_null() | (pl.int_range(pl.len()) % 10 == 0))
    assert few["approved"].null_count() == 60
    assert "known" not in str(audit(few, **asked).brief().headline)


@pytest.mark.parametrize(
    ("women", "lacking", "among"),
    [
        (0.5, "accepted F", ", among the rows with a known prediction"),
        (0.4, "any F", ""), (0.4, "", ""), (0.4, "any", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"metrics": "selection_rate.ratio"}, {"weight": "weight"}])
def test_a_difference_that_missing_outcomes_could_undo_is_of_the_known(
    women: float, lacking: str, among: str, more: dict[str, Any]
) -> None:
    """Of accepted women 15% had no decision: without a difference one was shown of all rows."""
    rng = np.random.default_rng(2)
    sex = rng.choice(["F", "M"], 8_000)
    ok = rng.random(8_000) < np.where(sex == "F", women, 0.5)
    lost = {"accepted F": ok & (sex == "F"), "any F": sex == "F", "any": True, "": False}
    lost = pl.Series(lost[lacking] & (rng.random(8_000) < 0.15 - 0.1 * ("any" in lacking)))
    data = pl.DataFrame({"sex": sex, "approved": 1 * ok, "weight": rng.integers(1, 3, 8_000)})
    data = data.with_columns(approved=pl.when(~lost).then("approved"))
    headline = str(audit(data, label=None, **more).brief().headline)
    assert headline == f"Women are approved less often than men{among}"


def test_no_headline_adds_those_with_an_outcome_that_one_side_lacks_more_often() -> None:
    """Of women some have no label: "also among those who repaid" need not hold."""
    data = loans(rows=6_000)
    also = ", also among those who repaid"
    assert str(audit(data).brief().headline).endswith(also)
    women = (pl.col("sex") == "F") & (pl.int_range(pl.len()) % 10 == 0)
    lacking = audit(data.with_columns(repaid=pl.when(~women).then("repaid")))
    assert str(lacking.brief().headline) == "Women are approved less often than men"


def test_a_reversal_that_missing_outcomes_could_undo_is_not_concluded() -> None:
    """Women who were refused withdrew: "the reverse holds after adjusting for job"."""
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], 8_000)
    job = rng.integers(0, 3, 8_000)
    job = np.where(rng.random(8_000) < 0.5, np.where(sex == "F", 0, 2), job)
    ok = rng.random(8_000) < 0.2 + 0.2 * job
    lost = pl.Series((sex == "F") & ~ok & (rng.random(8_000) < 0.15))
    data = pl.DataFrame({"sex": sex, "job": job.astype(str), "approved": 1 * ok})
    report = audit(data.with_columns(approved=pl.when(~lost).then("approved")), label=None,
                   strata="job")  # fmt: skip
    (pooled,) = {e.reason and e.reason.code for e in report.estimates if e.scope == POOLED}
    assert pooled is ReasonCode.OUTCOMES_MISSING
    assert str(report.brief().headline) == "Women are approved less often than men"
    text = " ".join(str(report).split())
    assert "could leave no difference shown, so that nothing is concluded from it" in text
    assert "reverse" not in text
    for kind in ("html", "markdown", "text"):
        assert "reverse holds" not in render(report, kind)
    assert DiagnosticCode.SIMPSON not in {each.code for each in report.diagnostics}


def test_what_is_assumed_or_not_significant_is_stated() -> None:
    data = loans(women=0.6, men=0.6)
    brief = audit(data, positive=None).brief()
    assert "fairgauge audit --positive VALUE" in str(brief.steps[0])
    assert str(brief.headline) == (
        "No difference between groups is statistically significant; there may still be one"
    )
    assert "does not show" in str(brief.found[0])
    passing = audit(data, rules=["selection_rate.ratio >= 0.5"]).brief()
    assert str(passing.headline) == "No group differs statistically significantly from the others"
    assert str(passing.verdict[0]) == "The rule passes."


@pytest.mark.parametrize(
    ("asked", "least", "below"),
    [
        ({"preset": "nyc-ll144"}, "2% of the rows", "2% of the rows (180)"),
        ({"min_n": 200, "reference": "best", "metrics": ["DI"]}, "200 rows", "200"),
    ],
)
def test_what_is_concluded_is_of_groups_of_the_minimum_size_and_smaller_ones_are_named(
    asked: dict[str, Any], least: str, below: str
) -> None:
    """A group of 140 below a chosen minimum, selected a fifth as often, is no lack of data."""
    counts = {"White": (2250, 4500), "Black": (2170, 4360), "NHPI": (14, 140)}
    rows = pl.DataFrame(
        [
            {"race": race, "stage": "yes" if i < yes else "no"}
            for race, (yes, n) in counts.items()
            for i in range(n)
        ]
    )
    of = {"prediction": "stage", "positive": "yes", "sensitive": "race", **asked}
    report = fg.audit(rows, **of)
    brief = report.brief()
    assert str(brief.headline) == (
        f"No difference between groups of at least {least} is statistically significant; there may "
        "still be one"
    )
    (found,) = map(str, brief.found)
    assert found == (
        f"No difference beyond sampling variation is shown between groups of at least {least}. "
        "This does not show equal treatment."
    )
    (stated,) = map(str, brief.certainty)
    assert stated.startswith("Nothing is concluded about ")
    assert f"NHPI, below the minimum of {below}: of 100 " in stated
    assert re.search(r"NHPI, 10 .*; of 100 .*White.*, 50\.$", stated)
    for format_ in ("text", "markdown"):
        assert not re.search("(sufficient data|data are insufficient)", render(report, format_))
    rule = fg.rule("selection_rate.ratio", at_least=0.8, insufficient="ignore")
    ignored = fg.audit(rows, **of, rules=[rule])
    assert ignored.verdict == "pass"
    assert f"between groups of at least {least} is" in str(ignored.brief().headline)
    assert "sufficient" not in str(ignored.brief())


def test_what_a_small_audit_cannot_decide_is_stated_first() -> None:
    few = loans(rows=80)
    rules = ["selection_rate.ratio >= 0.8", "selection_rate.difference >= -0.9"]
    for asked, undecided in ((rules[:1], "The rule"), (rules, "1 of 2 rules")):
        brief = audit(few, rules=asked).brief()
        assert str(brief.headline) == (
            f"{undecided} is inconclusive, and no difference between groups with sufficient data "
            "is shown"
        )
        assert str(brief.verdict[0]) == f"{undecided} is inconclusive."


@pytest.mark.parametrize(("rule", "fails"), [(">= 0.95", "F"), ("<= 1.05", "M"), (None, "F")])
def test_a_ranking_is_headed_by_who_is_less_often_at_its_top(rule: str | None, fails: str) -> None:
    """The headline was "M" alone, and the finding of M whichever group failed."""
    data = loans().with_columns(score=(pl.col("approved") + pl.int_range(pl.len()) / 1e4) / 2)
    metric = "top_selection_ratio(k=500)"
    report = audit(
        data, prediction=None, label=None, score="score", positive=None,
        metrics=[metric, "skew(k=500)"], rules=[f"{metric} {rule}"] if rule else [],
    )  # fmt: skip
    brief = report.brief()
    assert str(brief.headline).startswith("Women are in the top 500 less often than men")
    assert re.match(
        r"Women are in the .* than men: [\d.]+ times as often \(95% CI [\d.]+ to ",
        str(brief.found[0]),
    )
    assert ("Men fail as the better-off side." in map(str, brief.found)) == (fails == "M")
    assert len(report.findings) == 1  # skew is the same, by another function


def test_groups_that_differ_from_each_other_alone_are_named() -> None:
    rates = {"a": 500, "b": 450, "c": 545, "d": 500}
    rows = {"g": [g for g in rates for _ in range(1_000)]}
    rows["y"] = [int(i < n) for n in rates.values() for i in range(1_000)]
    report = fg.audit(
        pl.DataFrame(rows),
        prediction="y",
        positive=1,
        sensitive="g",
        reference={"g": "a"},
        metrics="selection_rate.difference",
    )
    assert not report.findings
    brief = report.brief()
    assert str(brief.headline).endswith("but some groups differ from each other")
    assert [str(each) for each in brief.found] == [
        "People with g b and people with g c differ in selection rate: 45.0% v 54.5%."
    ]


def test_a_test_of_all_groups_that_shows_a_difference_is_in_the_headline():
    """No pair differs, and one test of all does: "No difference ... is shown" stood above it."""
    rates = [0.34, 0.33, 0.32, 0.31, 0.33, 0.32, 0.22, 0.21, 0.20, 0.20, 0.21, 0.22, 0.30, 0.28]
    groups = {f"G{i:02}": (round(130 * rate), 130) for i, rate in enumerate(rates)}
    cells = {name: {"tp": x, "fn": n - x} for name, (x, n) in groups.items()}
    report = fg.audit(fg.confusion("race", cells), metrics="selection_rate.ratio", reference="best")
    brief = report.brief()
    assert str(brief.headline) == (
        "No single difference between groups is statistically significant, but one test of all "
        "groups shows that they differ by race"
    )
    (found,) = brief.found
    assert "differs statistically significantly between the 14 groups" in str(found)
    assert "No difference" not in str(found)


def test_the_unit_of_what_lacks_a_group_is_that_of_the_audit() -> None:
    who = [f"p{i // 2}" for i in range(400)]
    sex = [None if i % 10 < 4 else "FM"[i // 2 % 2] for i in range(400)]
    rows = pl.DataFrame({"who": who, "sex": sex, "y": [i // 2 % 3 % 2 for i in range(400)]})
    report = fg.audit(rows, prediction="y", positive=1, sensitive="sex", person="who")
    step = "Those who supply the data: record sex where missing: 80 of 200 people have no group."
    assert step in map(str, report.brief().steps)
    assert "200 people in 400 rows, 120 used" in render(report, "text")


def test_values_to_recode_come_before_other_steps() -> None:
    """A name that may mean unknown is one until it is stated, and the reference too."""
    races = ["White", "WHITE", "Black", "Prefer not to say"]
    chosen = {"White": 3, "WHITE": 3, "Black": 2, "Prefer not to say": 6}
    rows = pl.DataFrame(
        {
            "race": [race for race in races for _ in range(100)],
            "y": [int(i % 10 < chosen[race]) for race in races for i in range(100)],
        }
    )
    report = fg.audit(rows, prediction="y", positive=1, sensitive="race", preset="nyc-ll144")
    first, *_ = map(str, report.brief().steps)
    assert first.startswith("Analyst: name 'Prefer not to say' as unknown (--unknown")
    assert {e.reference.group for e in report.estimates if e.reference} == {"Prefer not to say"}
    assert report.verdict != "pass"


def test_an_intersection_is_completed_column_by_column() -> None:
    rows = pl.DataFrame(
        {
            "sex": [None if i % 10 < 2 else "FM"[i % 2] for i in range(400)],
            "race": ["AB"[i % 3 > 1] for i in range(400)],
            "y": [i % 7 % 2 for i in range(400)],
        }
    )
    asked = {"sensitive": ["sex", "race"], "intersections": [("sex", "race")]}
    report = fg.audit(rows, prediction="y", positive=1, **asked)
    step = (
        "Those who supply the data: record sex and race where missing: 80 of 400 rows lack "
        "at least one of them."
    )
    assert step in map(str, report.brief().steps)
    (each,) = (d for d in report.diagnostics if d.code == "missing_groups" and d.get("columns"))
    assert "20.0% of the rows (80 of 400) lack at least one of sex and race" in each.message


def test_outcomes_that_many_of_a_group_lack_are_to_be_recorded_too() -> None:
    """Next to a warning of them, the page asked for the missing groups alone."""
    decided = [None if i % 3 == 0 and i < 200 else i % 2 for i in range(400)]
    rows = pl.DataFrame({"sex": ["F"] * 200 + ["M"] * 200, "hired": decided})
    report = fg.audit(rows, prediction="hired", positive=1, sensitive="sex")
    step = "Those who supply the data: record hired where missing: 67 of 400 rows have none."
    assert step in map(str, report.brief().steps)
    whole = rows.with_columns(pl.col("hired").fill_null(0))
    report = fg.audit(whole, prediction="hired", positive=1, sensitive="sex")
    assert not any("record" in str(each) for each in report.brief().steps)


def test_a_difference_that_disappears_is_headed_so() -> None:
    counts = fg.count(
        pl.DataFrame(
            [
                (sex, dept, admitted, n)
                for sex, dept, n_admitted, of in (
                    ("F", "A", 80, 100), ("M", "A", 640, 800),
                    ("F", "B", 160, 800), ("M", "B", 20, 100),
                )
                for admitted, n in ((1, n_admitted), (0, of - n_admitted))
            ],
            ["sex", "dept", "admitted", "n"],
            orient="row",
        ),
        label="admitted", sensitive="sex", count="n", strata="dept",
    )  # fmt: skip
    words = {"groups": {"sex": {"F": "women", "M": "men"}}, "label_positive": "were admitted"}
    brief = fg.audit(counts, words=words).brief()
    assert str(brief.headline) == (
        "Women were admitted less often than men, but after adjusting for dept no difference is "
        "shown on average"
    )


def test_an_average_over_strata_is_not_stated_as_each_of_them() -> None:
    """In department A women were admitted 20 points more often: no difference is an average."""
    report = sample_reports.berkeley()
    assert str(report.brief().headline).endswith(
        "but after adjusting for Dept no difference is shown on average, and it varies over strata"
    )
    assert str(report.brief().found[1]) == (
        "After adjusting for Dept no difference is shown on average. In Dept A (82 of 100 women, "
        "62 of 100 men) the reverse is shown; in the other 5 no difference is shown (all 6 tested "
        "together)."
    )
    assert str(report.brief().certainty[1]) == (
        "Women, adjusted for Dept: between 1 fewer and 5 more of 100 had Admit = Admitted (95% CI)."
    )
    assert str(report.brief().steps[0]) == (
        "Analyst: see how the difference divides over Dept, with intervals (fairgauge why, with "
        "the same --strata)."
    )


def test_berkeley_has_one_statement_and_one_interval_of_what_is_within() -> None:
    """Every part of the page tests the same strata, and none claims more than its interval."""
    text = " ".join(render(sample_reports.berkeley(), "text", full=True).split())
    assert "Statistically significant by itself (adjusted for all 6 strata, Bonferroni): A." in text
    assert "not tested one by one" not in text
    assert "disappears" not in text
    for low, high in re.findall(r"CI (\S+) to (\S+)", text.split("adjusting for Dept")[1][:200]):
        assert (low, high) == ("−1.5", "+5.1,")
    assert "lies within" not in text


def test_a_rule_beside_strata_is_stated_as_not_adjusted_for_them() -> None:
    """A rule fails of all rows even where the difference disappears within the strata."""
    rules = ["selection_rate.ratio >= 0.95", "selection_rate.difference >= -0.05"]
    for several, stated in enumerate(
        ("The rule compares all rows and is", "Both rules compare all rows and are")
    ):
        asked = rules[: several + 1]
        verdict = [str(each) for each in audit(strata="race", rules=asked).brief().verdict]
        assert verdict[1] == f"{stated} not adjusted for race."
        assert not any("adjusted" in str(each) for each in audit(rules=asked).brief().verdict)


@pytest.mark.parametrize("suffix", ["html", "markdown"])
def test_formats_print_the_sentences_of_the_brief(suffix: str) -> None:
    report = audit(sensitive=["sex", "race"], intersections=[("sex", "race")])
    page = render(report, suffix, **({"full": True} if suffix == "markdown" else {}))
    for sentence in (report.brief().headline, *report.brief().found, *report.brief().limits):
        assert str(sentence) in page


def test_the_brief_is_saved_with_where_its_numbers_stand(tmp_path: Any) -> None:
    report = audit(rules=["selection_rate.ratio >= 0.8"])
    plain = report.to_dict()
    assert plain["brief"]["headline"]["text"] == str(report.brief().headline)
    for sentence in plain["brief"]["found"]:
        for source in sentence["sources"]:
            found = re.fullmatch(r"estimates\[(\d+)\]", source)
            assert found is None or plain["estimates"][int(found[1])]["feature"] == "sex"
    report.save(tmp_path / "report.json")
    assert fg.load(tmp_path / "report.json").brief() == report.brief()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"positiv": "approved"}, "unknown key"),
        ({"positive": 3}, "must be text"),
        ({"favourable": "negative"}, "is no word but an option of its own"),
        ({"noun": "x" * 61}, "room for 60"),
        ({"groups": "women"}, "must be a table"),
        ({"groups": {"gender": {"F": "women"}}}, "not an audited feature"),
    ],
)
def test_words_that_mean_nothing_are_an_error(words: dict[str, Any], message: str) -> None:
    with pytest.raises(fg.SpecError, match=message):
        audit(words=words)


def test_a_word_for_a_group_that_the_data_lack_is_reported() -> None:
    report = audit(words={"groups": {"sex": {"f": "women"}}})
    texts = [each["message"] for each in report.to_dict()["diagnostics"]]
    assert any("words.groups.sex" in text for text in texts)


def test_invisible_characters_of_words_are_removed() -> None:
    report = audit(words=WORDS | {"positive": "app\u202eroved\x1b[31m"})
    assert "approved[31m" in str(report.brief())


def test_how_certain_a_difference_of_numbers_is_has_an_answer() -> None:
    rng = np.random.default_rng(0)
    sex, label = rng.choice(["F", "M"], 2_000), rng.normal(100, 20, 2_000)
    estimate = label + rng.normal(np.where(sex == "F", -5, 1), 10)
    data = pl.DataFrame({"sex": sex, "y": label, "p": estimate})
    brief = fg.audit(data, label="y", prediction="p", sensitive="sex", task="regression").brief()
    assert str(brief.headline) == (
        "Relative to y, p is on average 6.0 lower for people with sex F than for people with sex M"
    )
    assert str(brief.found[0]).startswith("Compared with y, p is on average 4.6 too low for people")
    assert str(brief.found[1]).startswith("Average size of errors in p: 0.96 higher for people")
    assert "in 95 of 100 such audits all ranges contain the true value" in str(brief.certainty[-1])


def test_both_rules_of_a_row_are_of_the_same_one_of_two_groups() -> None:
    """A rule on a ratio is judged at the side that it limits, one on a distance at any."""
    rules = ["selection_rate.ratio >= 0.8", "-0.1 <= false_positive_rate.difference <= 0.1"]
    cells = {
        "a": {"tp": 300, "fn": 200, "fp": 100, "tn": 300},
        "b": {"tp": 330, "fn": 170, "fp": 95, "tn": 305},
    }
    report = fg.audit(fg.confusion("g", cells), rules=rules)
    page = render(report, "markdown")
    row = next(line for line in page.splitlines() if re.match(r"\| [ab] \|", line))
    assert len(re.findall(r"\d+ v \d+", row)) == 2
    assert "–" not in row


@pytest.mark.parametrize("words", [{}, {"positive": "trusted", "label_positive": "kept trust"}])
def test_of_ordered_levels_a_sentence_names_the_cut_of_its_numbers(words: dict[str, Any]) -> None:
    """ "Each cut" is no event that happens to people: every count is of the levels above one."""
    rng = np.random.default_rng(5)
    group = rng.choice(["A", "B", "C"], 3_000)
    levels = np.array(["low", "middle", "high"])
    shift = np.where(group == "A", 0.35, 0.0)
    label, predicted = (
        levels[np.clip(((rng.random(3_000) + shift) * 3).astype(int), 0, 2)] for _ in range(2)
    )
    report = audit(
        pl.DataFrame({"g": group, "risk": label, "rated": predicted}),
        label="risk", prediction="rated", positive={"ordered": ["low", "middle", "high"]},
        sensitive="g",
        words=words, rules=["selection_rate.ratio >= 0.8"],
    )  # fmt: skip
    brief = report.brief()
    assert "each cut" not in str(brief).replace("its comparisons (one at each cut)", "")
    headline = str(brief.headline)
    assert re.search(r"with g A have rated = low( or middle)? less often than", headline)
    stated = 0
    for sentence in map(str, brief.found):
        found = re.match(r"Of 100 people with g A, (\d+) had rated = ([^;]+);", sentence)
        if found:
            rated = predicted[group == "A"]
            assert round(100 * np.isin(rated, found[2].split(" or ")).mean()) == int(found[1])
            stated += 1
    assert stated
    page = render(report, "markdown")
    assert "Rule 1: selection rate ratio" in page  # its cells are of the cut that decides each
    assert "of the cut of the order that decides" in page


def test_a_column_with_the_name_of_an_intersection_is_written_otherwise_everywhere() -> None:
    rows = pl.DataFrame(
        {"a": ["x", "y"] * 60, "b": ["u", "u", "v"] * 40, "a*b": ["1", "2", "3", "4"] * 30,
         "p": [1, 1, 0, 1, 0] * 24}
    )  # fmt: skip
    report = fg.audit(
        rows, prediction="p", positive=1, sensitive=["a", "b", "a*b"], intersections=[["a", "b"]]
    )
    text = " ".join(render(report, "text", full=True).split())
    assert 'Groups of a, b, "a*b" and a*b,' in text
    assert 'groups a, b, "a*b", a*b ' in text


def test_a_key_of_a_file_can_be_unset(tmp_path: Path) -> None:
    rows = pl.DataFrame({"g": ["x", "y"] * 60, "y": [1, 0, 1] * 40, "s": [0.1, 0.7, 0.4, 0.9] * 30})
    (path := tmp_path / "a.toml").write_text('label = "y"\nprediction = "y"\nsensitive = "g"\n')
    report = fg.audit(rows, config=path, positive=1, prediction=None, score="s")
    assert (report.spec["prediction"], report.spec["score"]) == (None, "s")


@pytest.mark.parametrize("seed", range(4))
def test_each_sentence_names_the_threshold_of_its_counts(seed: int) -> None:
    """Of several thresholds, a count at one is not what holds "at 0.5 or 0.6"."""
    rng = np.random.default_rng(seed)
    data = loans(seed, women=0.3, men=0.8)
    score = (rng.random(len(data)) + data["approved"].to_numpy()) / 2
    data = data.with_columns(score=score, sex=pl.col("sex").replace({"F": "women", "M": "men"}))
    report = fg.audit(
        data, label="repaid", score="score", positive=1, sensitive="sex", threshold=[0.5, 0.6]
    )
    brief = report.brief()
    assert not any(" or 0.6" in str(each) for each in (brief.headline, *brief.found))
    stated = [
        each
        for sentence in map(str, brief.found)
        for each in re.findall(
            r"(women|men)(?: and repaid = 1)?, (\d+) had score ≥ (0\.\d)", sentence
        )
        if sentence.startswith("Of 100 ") and "repaid" not in sentence
    ]
    assert stated
    for sex, count, threshold in stated:
        held = data.filter(pl.col("sex") == sex)["score"] >= float(threshold)
        assert int(count) == round(100 * float(held.mean()))  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0.3, 0.8])
def test_a_rule_at_several_thresholds_is_about_each_and_names_that_of_a_row(limit: float) -> None:
    """It was quoted at one of them, above rows of others, and no rule was "about" the rest."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M", "X"], 3_000)
    score = np.clip(rng.random(3_000) - np.where(sex == "F", 0.2, 0.0), 0, 1)
    report = fg.audit(
        pl.DataFrame({"sex": sex, "score": score}), score="score", sensitive="sex",
        threshold=[0.3, 0.5, 0.7], rules=f"selection_rate.ratio >= {limit}",
    )  # fmt: skip
    assert len({each.estimate.threshold for each in report.findings}) > 1
    text = " ".join(str(report.brief()).split())
    assert f"“Had score ≥ 0.3, 0.5 or 0.7 at least {limit} times as often" in text
    assert "No rule is about" not in text
    assert "not ask about every difference" not in text
    grid = rule_grid(told(report))
    assert grid is not None
    ((_, rows),) = grid.parts
    cells = {str(head.text).split()[-1]: cell for head, (cell,) in rows if cell}
    for verdict in report.verdicts:
        assert cells[str(verdict.group)].counts.endswith(f", at {verdict.threshold:g}")
    assert "Each cell is of the threshold that decides." in grid.notes


def test_a_condition_on_rows_stands_beside_their_number():
    """Of rows that a condition omits none is among those that are "all used"."""
    rows = {"g": ["a", "b"] * 40, "p": [1, 0, 0, 1] * 20, "code": [1, 2, 3, 4] * 20}
    report = fg.audit(rows, prediction="p", positive=1, sensitive="g", where="code != 4")
    brief = report.brief()
    assert brief.looked_at[0].text == "60 rows, all used."
    assert brief.looked_at[1].text.startswith("Only rows with code")


def test_a_reversal_is_in_the_verdict_and_no_warning_repeats_it() -> None:
    held = [
        ("women", "Sales", 200, 0.8), ("men", "Sales", 1600, 0.7),
        ("women", "Research", 1700, 0.25), ("men", "Research", 300, 0.18),
    ]  # fmt: skip
    table = pl.DataFrame(
        [
            {"sex": sex, "department": place, "hired": hired, "n": round(n * share)}
            for sex, place, n, rate in held
            for hired, share in ((1, rate), (0, 1 - rate))
        ]
    )
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "count": "n"}
    report = fg.audit(table, strata="department", rules="selection_rate.ratio >= 0.8", **asked)
    brief, document = report.brief(), report_document(report)
    verdict = " ".join(map(str, brief.verdict))
    assert "After adjusting for department it is the reverse for women." in verdict
    assert not [each for each in document.warnings if "Simpson" in each]
    assert any("Simpson" in str(each.code) or each.code == "simpson" for each in report.diagnostics)
    assert "by sex, overall and within department" in str(brief.looked_at[1])
    assert "Why gaps exist (the audit adjusted for department alone); whether" in str(brief)


def test_more_rows_are_of_those_whom_the_rate_counts() -> None:
    counts = {"A": {"tp": 60, "fp": 20, "fn": 20, "tn": 90}, "B": {"tp": 700, "fp": 200, "fn": 200,
              "tn": 900}}  # fmt: skip
    brief = fg.audit(
        fg.confusion("race", counts),
        words=RISK,
        favourable="negative",
        rules=["true_positive_rate.ratio >= 0.9"],
    ).brief()
    needed = re.search(r"about [\d,]+ (.*?) \(the data have (\d+)\)", str(brief))
    assert needed is not None
    assert needed.groups() == ("A defendants who reoffended", "80")


@pytest.mark.parametrize("few", range(63, 67))
def test_more_rows_are_needed_than_those_that_did_not_decide(few: int) -> None:
    approved = {"a": {"tp": few, "fn": 200 - few}, "b": {"tp": 3000, "fn": 3000}}
    report = fg.audit(
        fg.confusion("g", approved), rules=["-0.12 <= selection_rate.difference <= 0.12"]
    )
    stated = re.search(r"about ([\d,]+) .*? \(the data have (\d+)\)", str(report.brief()))
    assert stated is not None
    needed, has = (int(each.replace(",", "")) for each in stated.groups())
    assert needed > has


def test_what_is_inconclusive_is_of_the_group_that_is_compared_with_a_reference() -> None:
    """Of the reference there is no comparison, although it is worse off than one of them."""
    cells = {"a": (50, 110), "b": (48, 108), "c": (60, 120)}
    counts = {name: {"tp": yes, "fn": of - yes} for name, (yes, of) in cells.items()}
    report = fg.audit(
        fg.confusion("g", counts),
        reference={"g": "a"},
        rules=["-0.05 <= selection_rate.difference <= 0.05"],
    )
    assert {each.group for each in report.verdicts} == {"b", "c"}
    verdict = " ".join(map(str, report.brief().verdict))
    assert "inconclusive for people with g b or c." in verdict


@pytest.mark.parametrize(("limit", "often"), [("<= 0.02", "more"), (">= -0.02", "less")])
def test_a_rule_on_the_accuracy_of_classes_is_in_words(limit: str, often: str) -> None:
    rng = np.random.default_rng(1)
    sex, label, guess = (rng.choice(of, 2_000) for of in (["F", "M"], list("abc"), list("abc")))
    right = rng.random(2_000) < np.where(sex == "F", 0.3, 0.8)
    table = pl.DataFrame({"sex": sex, "y": label, "p": np.where(right, label, guess)})
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "task": "multiclass"}
    for rule, stated in (
        (f"accuracy.difference {limit}", f"{often} often than for others”"),
        ("-0.02 <= accuracy.difference <= 0.02", "more or less often than for others”"),
    ):
        verdict = " ".join(map(str, fg.audit(table, rules=rule, **asked).brief().verdict))
        assert f"“The predicted class is right at most 2 percentage points {stated}" in verdict


def test_a_half_of_a_person_is_rounded_alike_in_every_sentence() -> None:
    """52.5% was "53 were rated high risk" in one sentence and "(52 v 37 of 100)" in the next."""
    rows = {"g": ["A"] * 200 + ["B"] * 200, "p": [1] * 105 + [0] * 95 + [1] * 70 + [0] * 130}
    report = fg.audit(rows, sensitive="g", prediction="p", positive=1, rules="CI <= 0.5")
    text = " ".join(str(each) for _, answer in report.brief().answers for each in answer)
    assert "35 had p = 1; of 100 people with g A, 53." in text
    assert "No rule is about this difference." in text


@pytest.mark.parametrize("value", ["Other", "other", "Others", "All other", "Not stated", "None"])
@pytest.mark.parametrize("names", ["{value} {noun}", "{value}", None])
def test_no_group_is_called_as_all_others_are(value: str, names: str | None) -> None:
    """No sentence of a group whose value is "Other" can be read as of all who are not in one."""
    counts = {
        "Black": {"tp": 1369, "fp": 805, "fn": 532, "tn": 990},
        "White": {"tp": 505, "fp": 349, "fn": 461, "tn": 1139},
        value: {"tp": 900, "fp": 830, "fn": 100, "tn": 300},
    }
    words: dict[str, Any] = {"noun": "defendants", "positive": "released"}
    if names:
        words["groups"] = {"race": names}
    rule = "-0.05 <= selection_rate.difference <= 0.05"
    report = fg.audit(fg.confusion("race", counts), words=words, rules=[rule])
    text = str(report.brief()).casefold()
    drawn = str(report_document(report).exhibits).casefold()
    value = value.casefold()
    assert f"defendants with race “{value}”" in text
    for each in (text, drawn):
        rest = re.sub(f"“{value}”|all other defendants|of \\d+ other defendants", "", each)
        assert not re.search(rf"\b{value} defendants|\b{value} (were|are)\b", rest)


def test_a_decision_without_a_word_of_its_own_is_not_the_other() -> None:
    """With one of two words, what the other decision is called follows from it."""
    rules = ["-0.01 <= true_positive_rate.difference <= 0.01"]
    for given, refused in (("positive", "were not approved"), ("negative", "were refused")):
        words = {key: word for key, word in WORDS.items() if key not in {"positive", "negative"}}
        report = audit(rules=rules, words=words | {given: WORDS[given]})
        text = str(report.brief())
        assert "approved =" not in text
        assert "approved other than" not in text
        assert f"women who repaid and {refused}" in text
        drawn = [e for e in report_document(report).exhibits if hasattr(e, "key")]
        assert refused in drawn[0].key
    assert "were not refused" in text


def test_words_for_a_decision_that_is_the_label_are_used() -> None:
    """Of admissions the label is the decision; without predictions its words can be no other's."""
    words = {"noun": "applicants", "positive": "admitted", "negative": "rejected"}
    data = loans().with_columns(pl.col("approved").alias("admit"))
    asked = {"label": "admit", "sensitive": "sex", "positive": 1}
    text = str(fg.audit(data, **asked, words=words).brief())
    assert "Outcome (admitted or rejected), by sex; no model" in text
    assert "admit = 1" not in text
    of_labels = words | {"label_positive": "came"}
    assert "admitted" not in str(fg.audit(data, **asked, words=of_labels).brief())


def test_the_grid_names_the_value_of_a_group_once_where_its_name_does_not_hold_it() -> None:
    names = WORDS["groups"] | {"race": "{value} applicants"}
    report = audit(
        sensitive=["sex", "race"], rules=["selection_rate.ratio >= 0.8"],
        words=WORDS | {"groups": names},
    )  # fmt: skip
    (grid,) = [e for e in report_document(report).exhibits if hasattr(e, "rules")]
    heads = {name.text: name.below for _, rows in grid.parts for name, _ in rows}
    assert heads["women"] == "F"
    assert sum(map(bool, heads.values())) == 1
    assert "| women (F) |" in render(report, "markdown")
    assert "F (women; 0." in str(report_document(report, full=True).filed)


def test_the_grid_states_an_interval_on_its_side_of_the_limit() -> None:
    report = audit(rules=["selection_rate.ratio >= 0.8"])
    (grid,) = [e for e in report_document(report).exhibits if hasattr(e, "rules")]
    (verdict,) = report.verdicts
    ((_, (cell,)),) = grid.parts[0][1]
    low, high = map(float, re.findall(r"CI \(([\d.]+) to ([\d.]+)\)", cell.interval)[0])
    assert verdict.interval is not None
    assert (low < 0.8, high < 0.8) == (verdict.interval.low < 0.8, verdict.interval.high < 0.8)


def test_insufficient_data_are_stated_once_of_two_groups_with_what_they_are_of() -> None:
    rows = loans(rows=60)
    every = [str(each) for each in audit(rows).brief().certainty]
    (text,) = (each for each in every if "Insufficient data for" in each)
    assert re.fullmatch(
        r"Insufficient data for some comparisons of (women and men|men and women)\.", text
    )


@pytest.mark.parametrize(
    ("rule", "whom"),
    [
        ("selection_rate.ratio >= 0.8", "at least 0.8 times as often as others”"),
        ("0.8 <= selection_rate.ratio <= 1.25", "between 0.8 and 1.25 times as often as others”"),
        ("selection_rate.difference >= -0.01", "fewer of 100 were approved than of others”"),
        ("accuracy.difference >= -0.01", "1 percentage point less often than for others”"),
    ],
)
def test_a_rule_in_words_states_both_its_limits_and_whom_it_compares_with(
    rule: str, whom: str
) -> None:
    assert whom in str(audit(rules=[rule]).brief().verdict[1])
    named = audit(rules=[rule], reference={"sex": "M"}).brief().verdict
    assert whom.replace("others", "those they are compared with") in str(named[1])


def test_a_word_for_a_decision_leaves_none_of_the_preset_for_its_opposite() -> None:
    rows = loans().drop("repaid")
    asked = {"label": None, "preset": "nyc-ll144"}
    assert "(selected or not selected)" in str(audit(rows, **asked, words={}).brief())
    text = str(audit(rows, **asked, words={"positive": "invited"}).brief())
    assert "(invited or not)" in text
    assert "selected" not in text


def test_every_difference_that_no_rule_is_about_is_named() -> None:
    """Beside a mean a share was not."""
    rng = np.random.default_rng(4)
    group, y = np.repeat(["A", "B", "C"], 800), rng.integers(0, 2, 2_400)
    noise = np.where(group == "A", 0.1, np.where(group == "B", 0.5, 1.0))
    score = np.clip(0.5 + 0.3 * (y - 0.5) + noise * rng.normal(0, 0.3, 2_400), 0, 1)
    rows = {"g": group, "y": y, "s": score}
    report = fg.audit(rows, label="y", score="s", sensitive="g", rules="base_rate.ratio >= 0.1")
    (text,) = (str(each) for each in report.brief().verdict + report.brief().found
               if "No rule is about" in str(each))  # fmt: skip
    assert text == "No rule is about these differences."


def test_the_page_states_of_which_features_intervals_hold_for_all_pairs_of_groups() -> None:
    """Of three groups beside the best one the interval is Tukey's, not of one comparison alone."""
    rows = pl.DataFrame({
        "sex": ["F", "M"] * 1_200, "race": ["A", "B", "C", "D"] * 600,
        "hired": [1, 0, 1, 1, 0, 0, 1, 0, 0, 1] * 240,
    })  # fmt: skip
    report = fg.audit(
        rows, prediction="hired", positive=1, sensitive=["sex", "race"], preset="ugesp"
    )
    stated = "of each comparison by itself, and of race that for all pairs of groups together"
    for page in (render(report, "html"), render(report, "markdown"), render(report, "text")):
        flat = " ".join(page.split())
        assert ("decides its rule" in flat) <= (f"CI {stated} (Tukey), decides its rule" in flat)
    assert stated in " ".join(render(report, "markdown").split())


@pytest.mark.parametrize("favourable", [None, "negative"])
def test_which_decision_is_taken_as_the_better_one_is_said_where_it_is_first_named(
    favourable: str | None,
) -> None:
    side = "worse" if favourable else "better"
    data = pl.DataFrame(
        {"sex": ["F", "M"] * 400, "y": [0, 1, 1, 1] * 200, "p": [0, 1, 0, 1, 1, 0, 0, 1] * 100}
    )
    asked = {"label": "y", "prediction": "p", "sensitive": "sex"}
    only = {"favourable": favourable}
    assumed = fg.audit(data, **asked, **only).brief()
    if favourable == "negative":
        assert str(assumed.looked_at[-1]).endswith(
            "“p = 1” (or true) is the worse outcome (stated)."
        )
    else:
        assert str(assumed.looked_at[-1]).endswith(
            "“p = 1” (or true) is taken as the better outcome for a person, since nobody stated "
            "which one is: who is worse off may be the reverse."
        )
        assert str(assumed).count("nobody stated") == 1
        assert "--positive VALUE" in str(assumed.steps[0])
    stated = fg.audit(data, **asked, **only, positive=1).brief()
    assert str(stated.looked_at[-1]).endswith(f"“p = 1” is the {side} outcome (stated).")
    named = {"words": {"positive": "approved"}, "favourable": favourable}
    assert "taken as" not in str(fg.audit(data, **asked, **named, positive=1).brief())


@pytest.mark.parametrize("verb", ["audit", "models"])
def test_rows_of_clusters_are_no_people(verb: str) -> None:
    """3,000 rows of 1,000 persons were 3,000 people."""
    data = pl.DataFrame(
        {"sex": ["F", "M"] * 1_500, "y": [0, 1, 1] * 1_000, "p": [0, 1, 0, 1, 1, 1] * 500,
         "person": [i // 3 for i in range(3_000)]}
    )  # fmt: skip
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "cluster": "person"}
    if verb == "audit":
        brief = fg.audit(data, **asked).brief()
    else:
        data = data.with_columns(q=pl.col("y"))
        brief = fg.compare_models(data, **asked, candidate="q", margins={"accuracy": 0.1}).brief()
    assert "rows with sex F" in str(brief)
    assert "people with" not in str(brief)
    stated = fg.audit(data, **asked, words={"noun": "applicants"}).brief()
    assert "applicants with sex F" in str(stated)


def test_words_of_the_user_are_no_value_of_a_column() -> None:
    asked = {"words": {"label_positive": "had a relapse"}, "favourable": "negative"}
    report = fg.audit(loans(), label="repaid", positive=1, sensitive="sex", **asked)
    assert "“a relapse”" not in str(report.brief())


def test_of_many_groups_those_that_fare_worst_are_in_the_grid():
    rates = {f"better {i:02}": 60 for i in range(12)} | {f"worse {i:02}": 46 for i in range(14)}
    rows = [(name, y, n) for name, x in {"middle": 50, **rates}.items()
            for y, n in ((1, 20 * x), (0, 20 * (100 - x)))]  # fmt: skip
    data = pl.DataFrame(rows, schema=["group", "chosen", "n"], orient="row")
    report = fg.audit(
        data, prediction="chosen", positive=1, sensitive="group", count="n",
        reference={"group": "middle"}, rules="selection_rate.ratio >= 0.8",
    )  # fmt: skip
    grid = rule_grid(told(report))
    assert grid is not None
    assert grid.caption == "The groups that fare worst"
    assert {head.text[:5] for _, lines in grid.parts for head, _ in lines} == {"worse"}
    assert "each compared with middle;" in " ".join(render(report, "text").split())


def test_a_named_reference_of_all_features_has_no_other():
    data = pl.DataFrame({"p": [0.2, 0.9, 0.4] * 40, "chosen": [0, 1, 1, 0] * 30})
    race = fg.probabilities(a="p", b="q")
    report = fg.audit(
        data.with_columns(q=1 - pl.col("p")), prediction="chosen", positive=1,
        sensitive={"race": race}, reference={"race": "a"},
    )  # fmt: skip
    assert "each compared with a;" in " ".join(render(report, "text").split())


@pytest.mark.parametrize(
    ("rule", "unjudged"),
    [
        ("worst_odds <= 0.05", "the first difference"),
        ("equalized_odds.largest_gap <= 0.05", "the first difference"),
        ("selection_rate.largest_gap <= 0.05", "the second difference"),
        ("selection_rate.largest_gap <= 0.9", "the second difference"),
        ("base_rate.largest_gap <= 0.9", "these differences"),
    ],
)
def test_a_rule_made_of_a_rate_is_about_its_differences(rule: str, unjudged: str) -> None:
    """The part of equalized odds that fails was stated with "No rule is about" it."""
    rng = np.random.default_rng(3)
    group, label = rng.choice(["A", "B", "C"], 3_000), rng.integers(0, 2, 3_000)
    chance = np.where(label == 1, 0.85, 0.25) - np.where(group == "A", 0.2, 0)
    rows = {"g": group, "y": label, "p": (rng.random(3_000) < chance).astype(int)}
    report = fg.audit(rows, label="y", prediction="p", sensitive="g", rules=rule)
    (text,) = (str(each) for each in report.brief().found if "No rule" in str(each))
    assert text == f"No rule is about {unjudged}."
