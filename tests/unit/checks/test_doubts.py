"""A planted mistake leaves no pass, changes no number, and is closed where it is accepted."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level, Outcome
from fairgauge.reasons import ReasonCode

RULE = "selection_rate.ratio >= 0.7"
N = 4_000


def table(**changed: list[object]) -> pl.DataFrame:
    """Return rows of two groups that are selected alike; ten in eleven are predicted right."""
    y = [i // 2 % 2 for i in range(N)]
    columns = {
        "g": ["ab"[i % 2] for i in range(N)],
        "y": y,
        "p": [label if i % 11 else 1 - label for i, label in enumerate(y)],
    }
    return pl.DataFrame(columns | changed)


def every(value: object, others: list[object], step: int = 20) -> list[object]:
    """Return values of which every twentieth is another one."""
    at = (3, 5)  # of one outcome, and of the other
    return [value if i % step == at[i // step % 2] else other for i, other in enumerate(others)]


CLEAN = table()
G, P = CLEAN["g"].to_list(), CLEAN["p"].to_list()
WORDS = ["yes" if each else "no" for each in P]
PLANTED = {
    DiagnosticCode.MISSING_MARKER: ("g", {"g": every("Unknown", G)}, {}),
    DiagnosticCode.SAME_NAMES: ("g", {"g": every("A ", G, 40)}, {}),
    DiagnosticCode.UNDECIDED_OUTCOMES: ("p", {"p": every("Pending", WORDS)}, {"positive": "yes"}),
    DiagnosticCode.UNFAVOURABLE_POSITIVE: ("denied", {"denied": P}, {"prediction": "denied"}),
    DiagnosticCode.NEVER_REPEATS: (
        "claim_no", {"claim_no": range(N), "insured": [i // 10 * 2 + i % 2 for i in range(N)]},
        {"person": "claim_no"}),
    DiagnosticCode.STRATUM_IS_OUTCOME: (
        "h", {"h": ["xy"[each ^ (i % 97 < 2)] for i, each in enumerate(P)]},
        {"strata": "h", "rules": "|CDDPL| <= 0.4"}),
    DiagnosticCode.MISSPELT: (
        "g", {"g": every("Caucasian", G)}, {"recode": {"g": {"a": ["a", "Caucasion"]}}}),
    DiagnosticCode.ONE_DECISION: ("p", {"p": [1] * N}, {"rules": "selection_rate >= 0.5"}),
    DiagnosticCode.PREDICTION_IS_LABEL: (
        "p", {"y": P}, {"label": "y", "rules": "accuracy >= 0.9"}),
    DiagnosticCode.REVERSED_PREDICTIONS: ("p", {"y": [1 - each for each in P]}, {"label": "y"}),
    DiagnosticCode.STRATUM_OF_TOTAL: ("h", {"h": every("Total", G)}, {"strata": "h"}),
    DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE: (
        "case", {"case": [i % 2_200 for i in range(N)], "loaded": [i // 2_200 for i in range(N)]},
        {}),
    DiagnosticCode.PLACES_AS_SCORES: (
        "place", {"place": [i * 1_999 % N + 1 for i in range(N)]},
        {"prediction": None, "score": "place", "score_range": (1, N), "threshold": N / 2}),
    DiagnosticCode.GROUPS_THAT_OVERLAP: (
        "g", {"g": [*"a" * 903, *"b" * 1_097, *"c" * 2_000], "p": P[:2_000] * 2}, {}),
    DiagnosticCode.PREDICTION_NOT_A_LABEL: (
        "p", {"y": ["yes" if each else "no" for each in CLEAN["y"]], "p": every("no, late", WORDS)},
        {"label": "y", "positive": "yes"}),
}  # fmt: skip


def numbers(report: fg.Report) -> list[object]:
    return [(e.key, e.value, e.interval, e.p_value) for e in report.estimates]


def check_withheld(rows, code, **asked):
    """Check that a pass is withheld until what is found is accepted, and return the report."""
    doubted, accepted = (fg.audit(rows, **asked, accept=of) for of in ((), code))
    assert (doubted.verdict, accepted.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    assert numbers(accepted) == numbers(doubted)
    return doubted


@pytest.mark.parametrize("code", PLANTED, ids=str)
def test_a_planted_mistake_leaves_no_pass_until_it_is_accepted(code):
    column, changed, more = PLANTED[code]
    asked = {"prediction": "p", "sensitive": "g", "rules": RULE} | more
    rows = table(**changed)
    doubted = fg.audit(rows, **asked)
    assert code in {each.code for each in doubted.diagnostics if each.level is Level.WARNING}
    assert doubted.verdict is Outcome.INCONCLUSIVE
    accepted = fg.audit(rows, **asked, accept=f"{code}:{column}")
    assert accepted.verdict is Outcome.PASS
    assert numbers(accepted) == numbers(doubted)
    assert all(0 < each.share <= 1 for each in doubted.doubts if each.share is not None)
    with warnings.catch_warnings(action="ignore"):
        assert fg.audit(fg.count(rows, **asked)).verdict is doubted.verdict
    (stated,) = (each for each in accepted.diagnostics if each.code is code)
    assert (stated.level, stated["accepted"]) == (Level.NOTE, True)


@pytest.mark.parametrize("where", ["h = yes", "h != no"])
def test_a_value_misspelt_in_the_recoding_of_a_condition_leaves_no_pass(where):
    asked = {"prediction": "p", "sensitive": "g", "rules": RULE, "where": where,
             "recode": {"h": {"yes": ["y", "Caucasion"]}}}  # fmt: skip
    rows = table(h=every("Caucasian", ["no" if i % 5 == 0 else "y" for i in range(N)]))
    found, accepted = fg.audit(rows, **asked), fg.audit(rows, **asked, accept="misspelt:h")
    assert [(each.code, each.column) for each in found.doubts] == [("misspelt", "h")]
    assert (found.verdict, accepted.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    assert numbers(found) == numbers(accepted)


@pytest.mark.parametrize(("more", "groups"), [
    ({"exclude_groups": "Unknown"}, "Unknown"), ({"where": "g != Unknown"}, "Unknown"),
    ({"sensitive": "region"}, "NA"),
])  # fmt: skip
def test_a_warning_that_withholds_nothing_is_no_doubt(more, groups):
    asked = {"prediction": "p", "sensitive": "g", "rules": RULE} | more
    regions = ["EMEA" if each == "a" else "APAC" for each in G]
    rows = table(g=every(groups, regions)).with_columns(region="g")
    found = fg.audit(rows, **asked)
    (stated,) = (d for d in found.diagnostics if d.code is DiagnosticCode.MISSING_MARKER)
    assert (found.verdict, found.doubts, "--accept" in str(stated)) == (Outcome.PASS, (), False)


@pytest.mark.parametrize(
    ("accept", "message"),
    [("undecided", "no doubt"), ("one_label", "one_label:COLUMN"), ("coverage", "no doubt")],
)
def test_what_cannot_be_accepted_is_refused(accept, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.audit(table(), prediction="p", sensitive="g", accept=accept)


def test_a_misspelt_unknown_value_leaves_no_pass():
    rows = table(g=every("Absent", G))
    for unknown, verdict in (("Absnet", Outcome.INCONCLUSIVE), ("Alien", Outcome.PASS)):
        found = fg.audit(rows, prediction="p", sensitive="g", rules=RULE, unknown=unknown)
        assert found.verdict is verdict


CODES = [("action", 3, 1, True), ("decision", "D", "A", True), ("status", 2, 1, True),
         ("outcome", "R", "P", True), ("result", 0, 1, True), ("result", "no", "yes", True),
         ("action", 1, 3, False), ("action", 2, 3, False), ("action_taken", "1", "3", False),
         ("decision", "A", "D", False), ("result", "yes", "no", False),
         ("default", 0, 1, False), ("Geeignet", "ja", "nein", False)]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize(("column", "positive", "other", "doubted"), CODES)
@pytest.mark.parametrize("preset", ["us-lending", "ugesp"])
def test_a_preset_asks_what_a_code_means_before_it_passes(column, positive, other, doubted, preset):
    """ "Approved less often", of action = 3, which in HMDA data is denied: exit 0."""
    rows = {"sex": ["F", "M"] * 200, column: [positive, positive, other, other] * 100}
    asked = {"prediction": column, "positive": positive, "sensitive": "sex", "preset": preset,
             "reference": {"sex": "M"}, "rules": ["selection_rate.ratio >= 0.5"]}  # fmt: skip
    code = DiagnosticCode.UNFAVOURABLE_POSITIVE
    report = fg.audit(pl.DataFrame(rows), **asked)
    assert (code in {each.code for each in report.diagnostics}) is doubted
    assert report.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)
    words = {"words": {"positive": "cleared"}}
    for closed in ({"accept": f"{code}:{column}"}, words, {"favourable": "positive"}):
        assert fg.audit(pl.DataFrame(rows), **asked, **closed).verdict is Outcome.PASS
    with pytest.raises(fg.SpecError, match="contradicts the preset"):
        fg.audit(pl.DataFrame(rows), **asked, words={"positive": "denied"})


def of_words(words, *rates):
    """Return a thousand decisions of either group, of which so many are the first word."""
    n = [[rate, *[(1_000 - rate) // (len(words) - 1)] * (len(words) - 1)] for rate in rates]
    columns = {"g": [*"ab"] * len(words), "p": np.repeat(words, 2), "n": np.ravel(n, "F")}
    return pl.DataFrame(columns)


UNHEARD = st.text("bdfjkmqvwxz", min_size=5, max_size=9)


@given(st.lists(UNHEARD, min_size=2, max_size=3, unique_by=lambda word: word[0]))
@example(["SIU Referral", "Clear"])
@example(["Strong No", "Strong Yes"])
@example(["Y", "N"])
def test_no_word_at_all_passes_a_rule_of_one_side_silently(words):
    """Half of the words of a trade were taken as favourable: of SIU referrals, a ratio of 0.89."""
    asked = {"prediction": "p", "positive": words[0], "sensitive": "g", "count": "n",
             "reference": {"g": "a"}, "rules": RULE}  # fmt: skip
    rows, even = of_words(words, 800, 900), of_words(words, 500, 500)
    doubted = check_withheld(rows, "unfavourable_positive", **asked)
    assert f"{RULE} would not pass" in " ".join(str(each.message) for each in doubted.diagnostics)
    assert fg.audit(rows, **asked, favourable="positive").verdict is Outcome.PASS
    check_withheld(rows, "unfavourable_positive", **asked | {"reference": {"g": "b"}})
    by_preset = fg.audit(rows, **asked, preset="us-lending")
    again = by_preset.spec | {"threshold": None}  # what the preset states no user does
    for open_ in (by_preset, fg.audit(rows, **again)):
        assert open_.verdicts[0].reason.code is ReasonCode.FAVOURABLE_UNSTATED
    assert fg.audit(rows, **asked | {"positive": words[1:]}).verdict is Outcome.FAIL
    assert fg.audit(even, **asked).verdict is Outcome.PASS  # whichever is favourable


@pytest.mark.parametrize("code", ["MISSING_MARKER", "SAME_NAMES", "UNDECIDED_OUTCOMES",
                                  "PREDICTION_NOT_A_LABEL"])  # fmt: skip
def test_few_rows_matter_by_what_they_weigh(code):
    """Ten rows "Pending" of 4,000 that weigh 300 each: exit 0, where empty ones were exit 3."""
    _, changed, more = PLANTED[DiagnosticCode[code]]
    (column,) = changed.keys() - {"y"}
    of = WORDS if changed[column][0] in ("yes", "no") else G
    value = next(each for each in changed[column] if each not in of)
    changed = changed | {column: every(value, of, 400)}
    asked = {"prediction": "p", "sensitive": "g", "rules": RULE, "weight": "w"} | more
    for weight in (1, 300):
        weights = [weight if each == value else 1 for each in changed[column]]
        found = fg.audit(table(**changed, w=weights), **asked).verdicts
        assert (Outcome.PASS in {each.outcome for each in found}) is (weight == 1)


@pytest.mark.parametrize(("limit", "verdict"), [(0.835, "pass"), (0.843, "inconclusive")])
def test_undecided_rows_may_be_any_outcome_as_empty_ones_may(limit, verdict):
    """35 rows "Pending" of 4,000: too few for a doubt, and enough to change the verdict."""
    rows = {"g": [*"a" * 4_035, *"b" * 4_000], "p": [None] * 35}
    for selected in (1_973, 1_755):
        rows["p"] += ["yes"] * selected + ["no"] * (4_000 - selected)
    asked = {"prediction": "p", "positive": "yes", "sensitive": "g",
             "rules": f"selection_rate.ratio >= {limit}"}  # fmt: skip
    of_empty, pending = (pl.DataFrame(rows).with_columns(pl.col("p").fill_null(pl.lit(v)))
                         for v in (None, "Pending"))  # fmt: skip
    found = [fg.audit(each, **asked) for each in (of_empty, pending)]
    named = ["or with 'Pending' in it" in each.verdicts[0].says for each in found]
    assert ({str(e.verdict) for e in found}, named) == ({verdict}, [False, verdict != "pass"])
    accepted = fg.audit(pending, **asked, accept="undecided_outcomes:p")
    assert str(accepted.verdict) == "pass"
    assert numbers(accepted) == numbers(found[1])


Y = CLEAN["y"].to_list()
IN_ONE_GROUP = {
    DiagnosticCode.PREDICTION_IS_LABEL: [
        p if g == "b" else y for g, y, p in zip(G, Y, P, strict=True)],
    DiagnosticCode.REVERSED_PREDICTIONS: [
        1 - y if g == "b" and i % 10 < 8 else y for i, (g, y) in enumerate(zip(G, Y, strict=True))],
}  # fmt: skip


@pytest.mark.parametrize("code", IN_ONE_GROUP, ids=str)
def test_labels_of_one_group_that_are_copies_or_reversed_leave_no_pass(code):
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
    rows, rule = table(y=IN_ONE_GROUP[code]), "false_negative_rate <= 0.95"
    doubted = fg.audit(rows, **asked, rules=rule)
    assert code in {each.code for each in doubted.diagnostics if each.feature == "g"}
    assert doubted.verdict is Outcome.INCONCLUSIVE
    assert fg.audit(rows, **asked, rules=RULE).verdict is Outcome.INCONCLUSIVE
    assert fg.audit(rows, **asked, rules=rule, accept=f"{code}:g").verdict is Outcome.PASS
    assert fg.audit(CLEAN, **asked, rules=rule).verdict is Outcome.PASS


@pytest.mark.parametrize(("of", "column"), [("ab", "s"), ("a", "g")])
def test_labels_that_the_score_made_leave_no_pass(of, column):
    """The column "approved" was the model's own decision, and its accuracy 100%."""
    rng = np.random.default_rng(5)
    scores = rng.random(N).round(3)
    made = [int(s >= 0.5) if g in of else y for s, g, y in zip(scores, G, Y, strict=True)]
    asked = {"label": "y", "score": "s", "threshold": 0.5, "positive": 1, "sensitive": "g"}
    doubted, accepted, clean = (
        fg.audit(table(s=scores.tolist(), y=y), **asked, rules="accuracy >= 0.4", accept=accept)
        for y, accept in ((made, ()), (made, f"prediction_is_label:{column}"), (Y, ()))
    )
    assert doubted.verdict is Outcome.INCONCLUSIVE
    assert (accepted.verdict, clean.verdict) == (Outcome.PASS, Outcome.PASS)
    assert numbers(accepted) == numbers(doubted)


def test_a_total_among_outcomes_leaves_no_pass():
    """Counts with a row of each total: everybody counted twice, once as refused."""
    counts = {"g": [*"aaabbb"], "p": ["hired", "not hired", "Total"] * 2,
              "n": [400, 600, 1_000, 405, 595, 1_000]}  # fmt: skip
    asked = {"prediction": "p", "positive": "hired", "sensitive": "g", "count": "n"}
    report = fg.audit(pl.DataFrame(counts), **asked, rules=RULE)
    assert report.verdict is Outcome.INCONCLUSIVE
    without = pl.DataFrame(counts).filter(pl.col("p") != "Total")
    assert fg.audit(without, **asked, rules=RULE).verdict is Outcome.PASS


@pytest.mark.parametrize(("value", "alike"), [
    ("Home-purchase", True), ("HomePurchase.", True), ("Home purchase A", False),
])  # fmt: skip
def test_punctuation_is_spelling_in_a_condition(value, alike):
    data = pl.DataFrame({
        "sex": ["F", "M"] * 100, "p": [1, 0, 0, 1] * 50,
        "purpose": ["Home purchase"] * 150 + [value] * 50,
    })  # fmt: skip
    found = fg.audit(
        data, prediction="p", positive=1, sensitive="sex", where="purpose = Home purchase"
    )
    doubts = [(each.code, each.column) for each in found.doubts]
    assert doubts == [(DiagnosticCode.ALIKE_CONDITION, "purpose")] * alike


@pytest.mark.parametrize(("column", "date", "doubted"), [
    ("hired", "1900-01-01", True), ("hired", "9999-12-31", True), ("valid_to", "9999-12-31", False),
    ("hired", "2025-12-31", False),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_dates_that_stand_for_none_leave_no_pass(tmp_path, column, date, doubted, kind):
    """Rows hired in 1900 met "before 2025-06"."""
    days = [f"{2024 + i % 2}-{1 + i // 2 % 12:02}-11" for i in range(N)]
    data = table(**{column: every(date, days)}).with_columns(pl.col(column).str.to_date())
    if kind != "frame":
        getattr(data, f"write_{kind}")(tmp_path / f"rows.{kind}")
        data = tmp_path / f"rows.{kind}"
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "rules": RULE}
    for where in (f"{column} < 2025-06-01", f"{column} >= 2024-06-01"):
        found = fg.audit(data, **asked, where=where)
        assert [(e.column, e.values) for e in found.doubts] == [(column, (date,))] * doubted
        assert found.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)
        accepted = fg.audit(data, **asked, where=where, accept=f"alike_condition:{column}")
        assert (accepted.verdict, numbers(accepted)) == (Outcome.PASS, numbers(found))


def test_words_of_the_users_own_are_doubted_and_change_no_number(tmp_path):
    own = tmp_path / "ours.toml"
    own.write_text('[undecided]\nportuguese = ["em análise", "pendente"]\n', encoding="utf-8")
    rows = table(p=every("Em  análise", ["fit" if each else "unfit" for each in P]))
    asked = {"prediction": "p", "positive": "fit", "sensitive": "g", "rules": RULE}
    plain = fg.audit(rows, **asked)
    assert (plain.verdict, plain.doubts) == (Outcome.PASS, ())
    for words in (own, {"undecided": "em análise|pendente"}, {"undecided": ["em análise"]}):
        found = fg.audit(rows, **asked, checks={"words": words})
        assert found.verdict is Outcome.INCONCLUSIVE
        assert numbers(found) == numbers(plain)
        (doubt,) = found.doubts
        assert (doubt.code, doubt.column, doubt.values) == (
            DiagnosticCode.UNDECIDED_OUTCOMES, "p", ("Em  análise",))  # fmt: skip
        assert (doubt.share, doubt.accepted) == (doubt.rows / N, False)
    assert fg.audit(rows, **asked).verdict is Outcome.PASS  # another question has none
    with pytest.raises(fg.SpecError, match=r"is no list of words; there are .*'undecided'"):
        fg.audit(rows, **asked, checks={"words": {"undecidd": ["x"]}})


@pytest.mark.parametrize(("value", "doubted"), [
    ("Total", True), ("All locations", True), ("N/A", False), ("None", False),
    ("Total loss", False), ("Total applicants", True), ("Undetermined etiology", False),
])  # fmt: skip
def test_strata_of_all_leave_no_pass(value, doubted):
    rows = table(place=[["Bonn", "Rome", value][i // 4 % 3] for i in range(N)])
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "strata": "place"}
    found = fg.audit(rows, **asked, rules="CDDPL <= 0.1")
    assert [each.values for each in found.doubts] == [(value,)] * doubted
    assert found.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)


@pytest.mark.parametrize(("denied", "of_others", "doubts"), [
    (0, 0.2, 1), (0, 0.08, 1), (0, 0.05, 0), (3, 0.2, 0), (0, 1.0, 2),
])  # fmt: skip
def test_a_group_without_any_denial_leaves_no_pass(denied, of_others, doubts):
    """Where its denials are absent from the file, or its name is the decision, all is approved."""
    p = np.where(np.arange(N) // 2 < of_others * N / 2, 0, 1)
    p[::2] = np.arange(N)[::2] >= 2 * denied
    rule = fg.rule("selection_rate.ratio", at_least=0.7, groups="a")
    report = fg.audit(table(p=p.tolist()), prediction="p", positive=1, sensitive="g", rules=rule)
    code = DiagnosticCode.GROUP_OF_ONE_OUTCOME
    assert [each.code for each in report.doubts] == [code] * doubts
    assert report.verdict is (Outcome.INCONCLUSIVE if doubts else Outcome.PASS)


@pytest.mark.parametrize("rule", ["consistency >= 0.5", "|FT| <= 0.5"])
def test_a_compared_feature_that_is_the_decision_leaves_no_pass(rule):
    asked = {"prediction": "p", "sensitive": "g", "features": ["f"], "rules": rule}
    check_withheld(table(f=WORDS), "stratum_is_outcome:f", **asked)
    one_differs = table(f=["no" if WORDS[0] == "yes" else "yes", *WORDS[1:]])
    assert fg.audit(one_differs, **asked).verdict is Outcome.PASS


@pytest.mark.parametrize(("own", "doubted"), [(1.0, True), (0.92, True), (0.8, False)])
def test_strata_of_one_group_alone_leave_no_pass(own, doubted):
    """A stratum that was the group by another name, or nearly: |CDDPL| is 0."""
    draws = np.random.default_rng(2).random(N)
    of = [g if draw < own else "ab"[g == "a"] for g, draw in zip(G, draws, strict=True)]
    p = [int(draw * 7 % 1 < (0.6 if g == "a" else 0.4)) for g, draw in zip(G, draws, strict=True)]
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "strata": "branch"}
    rows = table(branch=[each + str(i // 2 % 2) for i, each in enumerate(of)], p=p)
    code = DiagnosticCode.STRATUM_OF_ONE_SIDE
    found = fg.audit(rows, **asked, rules="|CDDPL| <= 0.2")
    assert {each.code for each in found.doubts} == {code} & {code if doubted else None}
    assert found.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)
    accepted = fg.audit(rows, **asked, rules="|CDDPL| <= 0.2", accept=f"{code}:branch")
    assert (accepted.verdict, numbers(accepted)) == (Outcome.PASS, numbers(found))


def test_no_pass_stands_on_rows_that_a_join_repeated_for_every_group():
    """A ratio of 0.5 passed: each applicant stood once as a woman and once as a man."""
    rng = np.random.default_rng(3)
    sex, score = rng.choice(["f", "m"], 3_000), rng.random(3_000)
    p = (score > 0.5) & ((sex == "m") | (rng.random(3_000) < 0.5))
    rows = pl.DataFrame({"sex": sex, "score": score, "p": p * 1})
    asked = {"prediction": "p", "positive": 1, "sensitive": "sex", "rules": RULE}
    assert fg.audit(rows, **asked).verdict is Outcome.FAIL
    both = pl.concat([rows.with_columns(sex=pl.lit(each)) for each in "fm"])
    check_withheld(both, "doubled_rows", **asked)


def test_predicted_classes_that_are_permuted_or_of_one_group_alike_leave_no_pass():
    y = ["abc"[i // 2 % 3] for i in range(N)]
    p = [each if i % 7 else "a" for i, each in enumerate(y)]
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "task": "multiclass",
             "rules": "-0.2 <= accuracy.difference <= 0.2"}  # fmt: skip
    assert fg.audit(table(y=y, p=p), **asked).verdict is Outcome.PASS
    turned = table(y=y, p=[dict(zip("abc", "bca", strict=True))[each] for each in p])
    check_withheld(turned, "reversed_predictions:p", **asked)
    alike = table(y=y, p=["a" if g == "b" else each for g, each in zip(G, p, strict=True)])
    check_withheld(alike, "group_of_one_outcome:g", **asked | {"rules": "accuracy >= 0.1"})


def test_what_is_accepted_of_a_column_that_is_not_there_is_refused():
    with pytest.raises(fg.SpecError, match=r"accept\[0\]"):
        fg.audit(table(), prediction="p", sensitive="g", accept="missing_marker:sexx")


def test_the_control_group_of_a_preset_is_no_doubt():
    rates = {"White": 0.52, "Black": 0.49, "Asian": 0.7}
    counts = fg.confusion("race", {name: {"tp": round(9_000 * rate), "fp": 0, "tn": 0,
        "fn": 9_000 - round(9_000 * rate)} for name, rate in rates.items()})  # fmt: skip
    asked = {"reference": {"race": "White"}, "rules": RULE.replace("0.7", "0.8")}
    assert fg.audit(counts, **asked).verdict is Outcome.INCONCLUSIVE
    assert fg.audit(counts, **asked, preset="us-lending").verdict is Outcome.PASS
    limits = pl.DataFrame(
        {"race": G, "limit": [6_000 - 3_000 * (g == "b") + i % 97 for i, g in enumerate(G)]}
    )
    amounts = {"label": "limit", "task": "regression", "sensitive": "race", "preset": "us-lending"}
    rule = "mean_label.ratio <= 1.25"  # of the user's own
    assert fg.audit(limits[:-1], **amounts, rules=rule).verdict is Outcome.INCONCLUSIVE


def test_a_direction_that_is_stated_against_the_name_leaves_no_pass():
    asked = {"prediction": "hired", "positive": 1, "sensitive": "g",
             "rules": "rejection_share.ratio >= 0.8", "favourable": "negative"}  # fmt: skip
    report = check_withheld(table(hired=P), "unfavourable_positive:hired", **asked)
    (doubt,) = (e.message for e in report.diagnostics if e.code == "unfavourable_positive")
    assert doubt.endswith("if it is not, accept it (--accept unfavourable_positive:hired)")


@pytest.mark.parametrize("stray", ["NA", 9, "Exempt", "action_taken", 0])
def test_a_stray_value_does_not_hide_what_codes_mean(stray):
    """One cell switched all that is known of HMDA's codes off: a ratio of 0.67 passed."""
    taken = [1 + i // 2 % 2 if each else 3 for i, each in enumerate(P)]
    rows = table(action_taken=[str(each) for each in [stray, *taken[1:]]])
    report = fg.audit(rows, prediction="action_taken", positive=1, sensitive="g",
                      rules="selection_rate.ratio >= 0.5")  # fmt: skip
    assert DiagnosticCode.APPROVED_AS_REFUSED in {each.code for each in report.doubts}
    assert report.verdict is Outcome.INCONCLUSIVE


PAY = np.random.default_rng(4).normal(3_000, 500, N).clip(1_500, 6_000).round()
MONTHS = [12 if i % 2 else 1 for i in range(N)]
ONE = {
    "true_positive_rate.ratio >= 0.7": ("y", {"y": [1] * N}),
    "accuracy.ratio >= 0.7": ("p", {"p": [1] * N}),
    "mean_absolute_error.ratio <= 1.5": ("p", {"p": [3_000.0] * N, "y": PAY.tolist()}),
}


@pytest.mark.parametrize("rule", ONE)
def test_no_rule_passes_on_one_label_or_one_decision(rule):
    column, changed = ONE[rule]
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "rules": rule}
    asked |= {"task": "regression"} if "mean" in rule else {"positive": 1}
    code = "one_label" if column == "y" else "one_decision"
    check_withheld(table(**changed), f"{code}:{column}", **asked)


AMOUNTS = {
    "zero": (
        np.where(np.arange(N) % 20 == 3, 0, PAY), "mean_label.ratio >= 0.8", "coded_numbers:pay",
    ),
    "constant": (
        np.where(np.array(G) == "a", 3_000, PAY), "-100 <= mean_label.difference <= 100",
        "group_of_one_outcome:g",
    ),
    "unit": (PAY * MONTHS, "mean_error.difference <= 1000", "unlike_amounts:g"),
    "reversed": (PAY, "mean_absolute_error.ratio <= 1.25", "reversed_predictions:p"),
    "copied": (PAY, "mean_prediction.ratio >= 0.8", "prediction_is_label:g"),
    "limit": (PAY / 10_000, "-50 <= mean_label.difference <= 50", "limits_the_better_off"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", AMOUNTS)
def test_amounts_that_nobody_could_fail_leave_no_pass(mistake):
    """Pay of 0 where it is not known, of a year in one group alone, and 50 for shares: exit 0."""
    amounts, rule, code = AMOUNTS[mistake]
    asked = {"label": "pay", "prediction": "p", "sensitive": "g", "task": "regression"}
    predicted = 6_000 - PAY if mistake == "reversed" else amounts
    rows = pl.DataFrame({"g": G, "pay": amounts, "p": predicted})
    wrong = pl.Series(PAY[::-1] / 100) * ((pl.col("g") == "b") | (mistake != "copied"))
    rows = rows.with_columns(pl.col("p") + wrong)
    doubted = check_withheld(rows, code, **asked, rules=rule)
    assert code in {f"{e.code}:{e.column}" if e.column else e.code for e in doubted.doubts}


@pytest.mark.parametrize(("column", "where", "doubted"), [
    ("fico", "fico < 3500", True), ("fico", "0 <= fico < 3500", False),
    ("creditScore", "creditScore < 3500", True), ("fee", "fee < 3500", False),
])  # fmt: skip
def test_zeros_that_meet_a_condition_are_scores_that_nobody_knows(column, where, doubted):
    rows = table(**{column: AMOUNTS["zero"][0]})
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "rules": RULE, "where": where}
    assert [each.column for each in fg.audit(rows, **asked).doubts] == [column] * doubted


DRAWN = np.random.default_rng(8)
NUMBERS = {
    "attendance": (100 - DRAWN.gamma(2, 4, N)).clip(55).round(1),
    "bmi": DRAWN.normal(27, 5, N).clip(14, 60).round(1), "fee": PAY,
    "deductible": DRAWN.choice([250, 500, 1_000, 2_500], N),
    "payout": DRAWN.choice([50, 75, 100], N), "satisfaction": DRAWN.integers(1, 6, N),
    "share": DRAWN.beta(5, 2, N), "stay": (0.1 + DRAWN.gamma(2, 2, N)).round(1),
}  # fmt: skip


@pytest.mark.parametrize(("column", "code", "uses"), [
    ("attendance", 0, "averaged"), ("bmi", 0, "averaged cut"), ("stay", 0, ""), ("fee", 0, ""),
    ("deductible", 0, ""), ("payout", 0, ""),
    ("satisfaction", 9, "averaged cut weight"), ("stay", 9, ""), ("bmi", 99, "averaged cut weight"),
    ("share", -1, "averaged cut"), ("fee", 3, "averaged cut"), ("stay", 700, "averaged cut"),
    ("attendance", 99, ""), ("satisfaction", 0, ""), ("stay", 99, "averaged cut weight"),
])  # fmt: skip
def test_codes_of_numbers_are_far_from_all_others(column, code, uses):
    rows = table(**{column: np.where(np.arange(N) // 2 % 20 == 3, code, NUMBERS[column])})
    asked = {"prediction": "p", "positive": 1, "rules": RULE}
    found = {
        "averaged": {"label": column, "task": "regression", "sensitive": "g",
                     "rules": "mean_label.ratio >= 0.7"},
        "cut": asked | {"sensitive": fg.cut(column, [float(np.median(NUMBERS[column]))])},
        "weight": asked | {"sensitive": "g", "weight": column},
    }  # fmt: skip
    for use, question in [*found.items()][: 2 if code < 0 else 3]:
        report = fg.audit(rows, **question)
        assert [each.column for each in report.doubts] == [column] * (use in uses), use
        if use in uses or use != "weight":  # of which few may outweigh all others
            assert (report.verdict is Outcome.INCONCLUSIVE) == (use in uses), use


@pytest.mark.parametrize("at", [0.0, 0.5])
def test_refusals_without_the_value_that_a_condition_asks_for_leave_no_pass(at):
    """Only those who were refused at once have no interviewer: half of a group's refusals."""
    lacking = np.random.default_rng(1).random(N) < 0.3
    lacking &= np.array(WORDS) == "no" if at else True
    rows = table(p=WORDS, interviewer=np.where(lacking, None, "x").tolist())
    asked = {"prediction": "p", "positive": "yes", "sensitive": "g", "rules": RULE,
             "where": "interviewer != (missing)"}  # fmt: skip
    found = fg.audit(rows, **asked).verdict
    assert found is (Outcome.INCONCLUSIVE if at else Outcome.PASS)
    assert fg.audit(rows, **asked, accept="groups_left_out:p").verdict is Outcome.PASS


@pytest.mark.parametrize(("filled", "doubted"), [(0.5, True), (0.999, False), (None, False)])
def test_a_score_that_was_filled_in_leaves_no_pass(filled, doubted):
    """A third of a group's scores were 0.5, where a model gives no score more than 2% of rows."""
    drawn = np.random.default_rng(6).random(N).clip(0, 0.999).round(3)
    at = (np.array(G) == "b") & (np.arange(N) % 3 == 0) & (filled is not None)
    asked = {"score": "s", "threshold": 0.3, "sensitive": "g", "rules": "selection_rate >= 0.2"}
    found = fg.audit(table(s=np.where(at, filled or 0, drawn)), **asked)
    assert [each.code for each in found.doubts] == [DiagnosticCode.CODED_NUMBERS] * doubted
    assert found.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)


@pytest.mark.parametrize(("of_group", "doubted"), [(0.5, True), (0.37, True), (None, False)])
def test_one_score_of_a_group_leaves_no_pass(of_group, doubted):
    """Scores of others vary, and those of one group were a default."""
    drawn = np.random.default_rng(5).random(N).round(3).tolist()
    scores = [of_group if g == "b" and doubted else s for g, s in zip(G, drawn, strict=True)]
    asked = {"score": "s", "threshold": 0.3, "label": "y", "positive": 1, "sensitive": "g"}
    code = DiagnosticCode.GROUP_OF_ONE_OUTCOME
    for rule in ("|accuracy.difference| <= 0.6", "mean_score.ratio >= 0.5"):
        found = fg.audit(table(s=scores), **asked, rules=rule)
        assert [each.code for each in found.doubts] == [code] * doubted
        assert found.verdict is (Outcome.INCONCLUSIVE if doubted else Outcome.PASS)
        accepted = fg.audit(table(s=scores), **asked, rules=rule, accept=f"{code}:g")
        assert (accepted.verdict, numbers(accepted)) == (Outcome.PASS, numbers(found))


def test_a_total_that_is_left_out_as_advised_is_no_doubt_any_more():
    """It was warned of all the same."""
    cells = {"men": (812, 391), "women": (743, 382), "Total": (1_555, 773)}
    rows = [{"g": g, "p": p, "n": n} for g, of in cells.items() for p, n in enumerate(of[::-1])]
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "count": "n",
             "rules": "selection_rate.ratio >= 0.8"}  # fmt: skip
    kept, whole = (fg.audit(pl.DataFrame(rows), **asked, where=of) for of in ("g != Total", {}))
    assert (kept.verdict, whole.verdict) == ("pass", "inconclusive")
    assert not [each for each in kept.diagnostics if each.level == "warning"]
