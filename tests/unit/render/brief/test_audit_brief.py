"""The brief of an audit: who is worse off, in the user's words, and never the reverse."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from tests.every_result import LOAN_WORDS, RISK_WORDS, of_berkeley, of_scores, result
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.document import document as report_document
from fairgauge.render.formats import save
from fairgauge.results.estimates import is_significant
from fairgauge.statements.audit import audit_page
from swapped_names import ASKED, study

WORDS: dict[str, Any] = LOAN_WORDS | {"groups": {"sex": {"F": "women", "M": "men"}}}


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


DEFENDANTS = {
    "Black": {"tp": 1369, "fp": 805, "fn": 532, "tn": 990},
    "White": {"tp": 505, "fp": 349, "fn": 461, "tn": 1139},
}


def test_a_harm_that_is_coded_1_is_never_told_as_its_reverse() -> None:
    """COMPAS: positive is rated high risk. Who did not reoffend and was rated so is worse off."""
    counts = fg.confusion("race", DEFENDANTS)
    brief = fg.audit(counts, words=RISK_WORDS, favourable="negative").brief()
    assert str(brief.headline) == (
        "Black defendants are rated high risk more often than White defendants, also among those "
        "who did not reoffend"
    )
    assert (
        "Of 100 Black defendants who did not reoffend, 45 were rated high risk; of 100 such White "
        "defendants, 23."
    ) in map(str, brief.found)


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
    assert heads[1] in sides["worse off"]


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
        *((each, ", among the rows with a known decision") for each in ({"label": None}, RULED)),
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
        (0.5, "accepted F", ", among the rows with a known decision"),
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
    counts = selected({"White": (2250, 4500), "Black": (2170, 4360), "NHPI": (14, 140)})
    report = fg.audit(counts, **asked)
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
    ignored = fg.audit(counts, **asked, rules=[rule])
    assert ignored.verdict == "pass"
    assert f"between groups of at least {least} is" in str(ignored.brief().headline)
    assert "sufficient" not in str(ignored.brief())


def test_a_difference_that_disappears_is_headed_so() -> None:
    of = {("F", "A"): (80, 100), ("M", "A"): (640, 800),
          ("F", "B"): (160, 800), ("M", "B"): (20, 100)}  # fmt: skip
    rows = [(*who, y, n) for who, (k, all_) in of.items() for y, n in ((1, k), (0, all_ - k))]
    report = fg.audit(
        pl.DataFrame(rows, ["sex", "dept", "admitted", "n"], orient="row"), label="admitted",
        sensitive="sex", count="n", strata="dept",
        words=WORDS | {"label_positive": "were admitted"},
    )  # fmt: skip
    assert str(report.brief().headline) == (
        "Women were admitted less often than men, but after adjusting for dept no difference is "
        "shown on average"
    )


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


@pytest.mark.parametrize("value", ["Other", "other", "Others", "All other", "Not stated", "None"])
@pytest.mark.parametrize("names", ["{value} {noun}", "{value}", None])
def test_no_group_is_called_as_all_others_are(value: str, names: str | None) -> None:
    """No sentence of a group whose value is "Other" can be read as of all who are not in one."""
    counts = DEFENDANTS | {value: {"tp": 900, "fp": 830, "fn": 100, "tn": 300}}
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


def test_a_value_that_begins_with_its_columns_name_is_named_without_the_column():
    rows = {"sex": ["Sex: F", "sexton"] * 60, "hired": ["no", "yes", "yes"] * 40}
    rows["hired"][::4] = ["no"] * 30
    report = fg.audit(rows, prediction="hired", positive="yes", sensitive="sex")
    headline = "People with “Sex: F” have hired = yes less often than people with sex sexton"
    assert str(report.brief().headline) == headline


def test_more_rows_are_advised_where_they_decide_a_rule() -> None:
    """Beside a rule that missing decisions leave open, one of rates of 0 was taken as decidable."""
    recall = "-0.1 <= true_positive_rate.difference <= 0.1"
    selection = "-0.01 <= selection_rate.difference <= 0.01"

    def advised(hits: int, rules: list[str], *, missing: int = 0) -> bool:
        rows = [(g, y, p) for g in "AB" for y, p, n in (
            ("yes", "yes", hits), ("yes", "no", 100), ("no", "yes", 20), ("no", "no", 80),
            ("no", None, missing)) for _ in range(n)]  # fmt: skip
        report = fg.audit(
            pl.DataFrame(rows, ["g", "y", "p"], orient="row"),
            label="y", prediction="p", positive="yes", sensitive="g", rules=rules,
        )  # fmt: skip
        return any(each["code"] == "more_rows" for each in report.to_dict()["statements"])

    assert advised(1, [recall])
    assert advised(1, [recall, selection], missing=150)
    assert not advised(0, [recall])
    assert not advised(0, [recall, selection], missing=150)


def test_an_inconclusive_rule_names_each_group_once() -> None:
    """Those of which a doubt withholds a pass were named twice."""
    counts = {"A": (500, 500), "B": (500, 500), "C": (480, 520), "D": (45, 55)}
    rows = [(g, p) for g, n in counts.items() for p, k in zip(("yes", "no"), n, strict=True)
            for _ in range(k)]  # fmt: skip
    report = fg.audit(
        pl.DataFrame([*rows, *[("A", "pending")] * 3], ["g", "p"], orient="row"),
        prediction="p", positive="yes", sensitive="g", reference={"g": "A"},
        rules=["selection_rate.ratio >= 0.8"],
    )  # fmt: skip
    stated = "for people with g D; for people with g C or B because a warning puts"
    assert stated in " ".join(str(report).split())
    page = " ".join(re.sub("<[^>]+>", " ", render(report, "html", lang="de")).split())
    assert "für Personen mit g D; für Personen mit g C oder B: eine Warnung" in page


@pytest.mark.parametrize(("reference", "is_other"), [
    ({"g": "A"}, False), ("best", False), ("largest", False), ({"g": "B"}, True),
    ("others", True), ("overall", True),
])  # fmt: skip
def test_a_rule_is_not_the_four_fifths_rule_where_another_group_has_a_higher_rate(
    reference: Any, is_other: bool
) -> None:
    """Of a named group that has the highest rate, the ratios are those of 29 CFR 1607.4 D."""
    table = selected({"A": (240, 401), "B": (160, 400), "C": (220, 400)})
    report = fg.audit(table, reference=reference, rules=["selection_rate.ratio >= 0.8"])
    assert ("is not the four-fifths rule" in str(report)) is is_other


def test_that_a_rule_fails_against_one_group_and_is_open_against_the_best_is_explained() -> None:
    table = selected({"White": (460, 1000), "Asian": (15, 27), "Black": (90, 300)})
    rule = {"rules": ["selection_rate.ratio >= 0.8"], "min_n": 20}
    named = fg.audit(table, reference={"g": "White"}, **rule)
    best = fg.audit(table, reference="best", **rule)
    assert (named.verdict, best.verdict) == ("fail", "inconclusive")
    explained = "against a group that is named beforehand a rule could come out otherwise"
    assert explained in " ".join(map(str, best.brief().certainty))
    assert explained not in " ".join(map(str, named.brief().certainty))
    assert "30.0% vs 46.0%" in " ".join(map(str, best.brief().found))


def test_one_person_was_selected_and_two_were() -> None:
    def found(hits: int) -> str:
        return str(fg.audit(selected({"A": (60, 90), "B": (hits, 40)}), words=LOAN_WORDS))

    assert "1 was approved" in found(1)
    assert "1 were" not in found(1)
    assert "2 were approved" in found(2)


def test_a_sentence_names_a_band_in_words() -> None:
    ages = pl.DataFrame({"age": [20, 30, 50, 60] * 50, "p": [1, 0, 1, 1] * 50})
    report = fg.audit(ages, prediction="p", positive=1, sensitive=fg.cut("age", [40]))
    estimate = report["selection_rate.difference", "age", "(-inf, 40]"]
    assert estimate.says.startswith("age up to 40: selection rate 50.0%")
    assert "(-inf" not in " ".join(report.to_pandas()["says"])


def test_what_only_the_full_text_has_is_there() -> None:
    """Every comparison with its interval, those adjusted for strata among them."""
    report = of_berkeley()
    assert "Only with --full: notes, every number with its interval." in str(
        render(report, "text")
    ).replace("\n    ", " ")
    for text in (render(report, "text", full=True), render(report, "markdown", full=True)):
        pooled = [e for e in report.estimates if e.scope.kind == "pooled"]
        assert pooled
        for each in pooled:
            ends = [f"{100 * end:+.1f}".replace("-", "\N{MINUS SIGN}") for end in each.interval]
            if each.metric.endswith("difference"):
                assert " to ".join(ends) in text


def audit_pairs(table, **options):
    return fg.pairs(table, **{**ASKED, "reference": {"group": "White"}, **options})


# ---- the first page of an audit by swapped names: true whatever the data, with its sources
AUDITS = {
    "differs": lambda: audit_pairs(study((6, 6), delta=-1.0, placebos=5), placebo="edit"),
    "equivalent": lambda: audit_pairs(study((8, 8), 30, 4, seed=1), margins={"score": 0.5}),
    "imprecise": lambda: audit_pairs(study((4, 4), seed=1)),
    "few names": lambda: audit_pairs(study((2, 4))),
    "one name": lambda: audit_pairs(study((1, 4))),
    "several models": lambda: audit_pairs(
        pd.concat([study((5, 5), delta=-d, seed=3).assign(model=f"m{d}") for d in (0, 1)]),
        model="model",
    ),
    "decisions": lambda: audit_pairs(
        study((5, 5), 40, 1, delta=-1.5).assign(hired=lambda t: (t.score > 0).astype(int)),
        score=None, prediction="hired",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        ("differs", "Names of Black (group) score lower than those of White (group)"),
        ("equivalent", "Mean answers to names of all groups differ by less than 0.5"),
        ("imprecise", "The answers do not show a difference between groups of names"),
        ("one name", "The answers allow no verdict: too few names or items, or no variation"),
        (
            "several models",
            "Names of Black (group) score lower than those of White (group) in answers of m1",
        ),
        ("decisions", "Names of Black (group) are selected less often than those of White (group)"),
    ],
)
def test_the_headline_states_what_the_verdict_does(name, headline):
    assert str(AUDITS[name]().brief().headline) == headline


def test_the_margin_is_stated_where_there_is_one():
    assert "The margin is 0.5." in " ".join(map(str, AUDITS["equivalent"]().brief().verdict))
    assert "margin" not in " ".join(map(str, AUDITS["imprecise"]().brief().verdict))


def test_few_names_lead_to_more_names_and_no_edits_to_edits():
    steps = " ".join(map(str, AUDITS["few names"]().brief().steps))
    assert "at least 3, better 6 or more" in steps
    assert "irrelevant edits" in steps
    assert "irrelevant edits" not in " ".join(map(str, AUDITS["differs"]().brief().steps))


# ---- every kind of result begins with a first page in words, the same in every format
KINDS = ("loans", "compared reports", "models", "alternatives", "thresholds", "find", "why",
         "alarm", "history", "check", "plan", "pairs")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_workbook_markdown_and_html_begin_with_the_first_page(kind: str, tmp_path: Path) -> None:
    shown = result(kind)
    save(shown, tmp_path / "result.xlsx")
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "result.xlsx").read_bytes()))
    cells = {str(row[1]) for row in book.worksheets[0].iter_rows(values_only=True)}
    brief = shown.brief()
    assert str(brief.headline) in cells
    assert {str(each) for _, parts in brief.answers for each in parts} <= cells
    assert str(brief.headline).split()[0] in render(shown, "markdown").splitlines()[0]
    assert render(shown, "html").count('<header class="first">') == 1


def test_values_counted_as_missing_are_named_of_each_column() -> None:
    """Of two columns with the same word for unknown groups only the first was named."""
    counts = {("F", "X", "yes"): 200, ("M", "Y", "no"): 220, ("F", "Y", "no"): 200,
              ("M", "X", "yes"): 180, ("?", "X", "no"): 20, ("M", "?", "yes"): 30}  # fmt: skip
    rows = [each for each, n in counts.items() for _ in range(n)]
    table = pl.DataFrame(rows, ["sex", "race", "p"], orient="row")
    asked: dict[str, Any] = {"prediction": "p", "positive": "yes", "sensitive": ["sex", "race"]}
    stated = str(fg.audit(table, **asked, unknown="?"))
    assert "Counted as missing (sex): ? 20." in stated
    assert "Counted as missing (race): ? 30." in stated


@pytest.mark.parametrize("open_", [True, False])
def test_an_open_warning_is_heeded_before_a_gap_is_explained(open_: bool) -> None:
    """A kit advised to find where the gap arises beside the warning of 90 pending rows."""
    counts = {("F", "yes"): 200, ("F", "no"): 200, ("F", "pending"): 60,
              ("M", "yes"): 320, ("M", "no"): 180, ("M", "pending"): 30}  # fmt: skip
    rows = [each for each, n in counts.items() for _ in range(n)]
    accepted = [] if open_ else ["undecided_outcomes"]
    report = fg.audit(
        pl.DataFrame(rows, ["sex", "p"], orient="row"), prediction="p", positive="yes",
        sensitive="sex", preset="ugesp", accept=accepted,
    )  # fmt: skip
    steps = [s["code"] for s in report.to_dict()["statements"]]
    advised = [code for code in steps if code in ("heed_warnings", "find_where")]
    assert advised[0] == ("heed_warnings" if open_ else "find_where")


def test_a_difference_of_scores_of_two_groups_is_stated_once() -> None:
    """It stood from both sides, in place of the next largest."""
    rng = np.random.default_rng(1)
    sex, race = rng.choice(["F", "M"], 3000), rng.choice(["X", "Y", "Z"], 3000)
    score = np.clip(
        0.45 + 0.1 * (sex == "M") - 0.1 * (race == "X") + rng.normal(0, 0.1, 3000), 0, 1
    )
    table = pl.DataFrame({"sex": sex, "race": race, "s": score, "y": rng.random(3000) < score})
    report = fg.audit(
        table.with_columns(pl.col("y").cast(int)), label="y", score="s", positive=1,
        sensitive=["sex", "race"], metrics=["mean_score", "mean_score.difference"],
    )  # fmt: skip
    found = [s for s in report.to_dict()["statements"] if s["code"] == "differs"]
    assert [s["who"]["feature"] for s in found] == ["sex", "race"]


def test_differences_of_metrics_that_lead_no_page_are_counted_beside_those_stated():
    """Where no table has the number: of four that were shown it stated two, and no more."""
    report = of_scores(
        metrics="average_predictive_value_difference", sensitive=["sex", "race"], words={},
        intersections=[("sex", "race")],
    )  # fmt: skip
    shown = {(e.feature, e.mirror_of or e.group) for e in report.estimates if is_significant(e)}
    page = audit_page(report).statements
    stated = [each for each in page if each.code == "differs" and each.shown]
    (more,) = (each.facts["n"] for each in page if each.code == "more")
    assert more > 0
    assert more + len(stated) == len(shown)
