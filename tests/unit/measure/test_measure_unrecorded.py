"""Audits of groups that nobody recorded, from the probabilities of their groups."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render.formats import render
from fairgauge.stats.intervals import critical, wilson

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
COLUMNS = list(GROUPS.values())


def people(rows, rates=(0.36, 0.55, 0.5), seed=0, concentration=1.0, known=0.0):
    """Draw people whose outcome does not depend on their probabilities within a group."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.array([0.2, 0.6, 0.2]) * concentration, rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    chosen = rng.random(rows) < np.array(rates)[group]
    names = np.array(list(GROUPS))[group]
    reported = [name if rng.random() < known else None for name in names]
    columns = dict(zip(COLUMNS, p.T, strict=True))
    return pl.DataFrame(
        {"chosen": chosen.astype(int), **columns, "race": names, "reported": reported}
    )


def audited(data, rules=(), reference="White", metrics="selection_rate.difference", **asked):
    feature = {k: asked.pop(k) for k in ("known", "known_drawn", "assume") if k in asked}
    return fg.audit(
        data,
        prediction="chosen",
        positive=1,
        sensitive={"race": fg.probabilities(GROUPS, **feature)},
        reference={"race": reference} if reference else "others",
        metrics=metrics,
        rules=list(rules),
        **asked,
    )


LIMIT = "selection_rate.difference >= -0.05"


def outcome_of(report, group="Black"):
    return next(str(v.outcome) for v in report.verdicts if v.group == group)


def test_probabilities_of_0_and_1_give_the_values_of_the_recorded_column():
    data = people(800)
    known = data.with_columns(
        *((pl.col("race") == name).cast(pl.Float64).alias(c) for name, c in GROUPS.items())
    )
    metrics = ["selection_rate.difference", "selection_rate.ratio"]
    for reference in ("White", None):
        estimated = audited(known, reference=reference, metrics=metrics)
        recorded = fg.audit(
            known, prediction="chosen", positive=1, sensitive="race", metrics=metrics,
            reference={"race": reference} if reference else "others",
        )  # fmt: skip
        for each in recorded.estimates:
            ours = estimated[each.metric, "race", each.group]
            assert ours.value == pytest.approx(each.value, abs=1e-9)
            assert ours.interval.low == pytest.approx(each.interval.low, abs=0.01)
            assert ours.interval.high == pytest.approx(each.interval.high, abs=0.02)


def test_parts_add_up_to_the_whole_digit_for_digit_in_any_order():
    data = people(3_000, known=0.1)
    asked = {
        "prediction": "chosen",
        "positive": 1,
        "sensitive": {"race": fg.probabilities(GROUPS, known="reported")},
    }
    whole = fg.count(data, **asked)
    parts = fg.count(data[:1_100], **asked) + fg.count(data[1_100:], **asked)
    shuffled = fg.count(data.sample(fraction=1, shuffle=True, seed=1), **asked)
    for other in (parts, shuffled):
        assert other.digest == whole.digest
        assert fg.audit(other).estimates == fg.audit(whole).estimates


def test_a_saved_cube_and_report_are_read_as_they_were(tmp_path):
    data = people(1_500)
    cube = fg.count(
        data, prediction="chosen", positive=1, sensitive={"race": fg.probabilities(GROUPS)}
    )
    cube.save(tmp_path / "race.cube.json")
    report = fg.audit(fg.load(tmp_path / "race.cube.json"))
    assert report.estimates == fg.audit(cube).estimates
    report.save(tmp_path / "race.report.json")
    assert fg.load(tmp_path / "race.report.json") == report


def test_probabilities_without_information_decide_nothing():
    """The true ratio is .65; all have the same probabilities."""
    data = people(4_000).with_columns(
        pl.lit(0.3).alias("p_black"), pl.lit(0.5).alias("p_white"), pl.lit(0.2).alias("p_other")
    )
    rules = ["selection_rate.ratio >= 0.8", "selection_rate.difference >= -0.5", LIMIT]
    report = audited(data, rules)
    assert {str(each.outcome) for each in report.verdicts} == {"not_evaluated"}
    assert all(each.status == "undefined" for each in report.estimates)
    assert "do not distinguish 'Black', 'White', 'other'" in report.verdicts[0].says
    assert report.exit_code == 3
    bounds = audited(data, rules, assume="nothing")
    assert {str(each.outcome) for each in bounds.verdicts} == {"inconclusive"}
    counted = [{"metric": "selection_rate.ratio", "at_least": 0.8, "insufficient": "pass"}]
    assert "pass" not in {str(each.outcome) for each in audited(data, counted).verdicts}


LAWS = {
    "constant": lambda rng, n: np.full(n, 0.3),
    "drawn": lambda rng, n: rng.beta(0.6, 1.4, n),
    "nearly certain": lambda rng, n: np.where(rng.random(n) < 0.3, 0.99, 0.01),
    "of places": lambda rng, n: rng.beta(0.6, 1.4, 30)[rng.integers(0, 30, n)],
}
"""Probabilities that show nothing of the group: the area under their curve is .5."""


@pytest.mark.parametrize("assume", ["given_group", "nothing"])
@pytest.mark.parametrize("drawn", [None, "unknown", "random"])
@pytest.mark.parametrize("law", LAWS)
def test_no_rule_passes_by_probabilities_that_show_nothing(law, drawn, assume):
    """The true ratio is .5, and nobody's group depends on the probabilities.

    Without people of known group the same data arise where probabilities are right and all fare
    alike: no test of them can distinguish the two.
    """
    rng = np.random.default_rng(list(LAWS).index(law))
    black, p = rng.random(1_500) < 0.3, LAWS[law](rng, 1_500)
    data = pl.DataFrame({
        "chosen": (rng.random(1_500) < np.where(black, 0.3, 0.6)).astype(int),
        "p_black": p,
        "p_white": 1 - p,
        "reported": [
            ("Black" if b else "White") if u < 0.1 else None
            for b, u in zip(black.tolist(), rng.random(1_500).tolist(), strict=True)
        ],
    })  # fmt: skip
    known = {} if drawn is None else {"known": "reported", "known_drawn": drawn}
    race = fg.probabilities(Black="p_black", White="p_white", assume=assume, **known)
    rules = [
        "selection_rate.ratio >= 0.8",
        {"metric": "selection_rate.ratio", "at_least": 0.8, "decide": "point"},
        {"metric": "selection_rate.ratio", "at_least": 0.8, "decide": "significant"},
        {"metric": "selection_rate.ratio", "at_least": 0.8, "insufficient": "pass"},
        {"metric": "selection_rate", "at_least": 0.45},
    ]
    report = fg.audit(
        data, prediction="chosen", positive=1, sensitive={"race": race},
        reference={"race": "White"}, metrics="selection_rate.ratio", rules=rules,
    )  # fmt: skip
    assert "pass" not in {str(each.outcome) for each in report.verdicts if each.group == "Black"}
    assert report.exit_code != 0


def test_a_rule_passes_as_far_as_people_of_known_group_show_the_probabilities():
    """The more of them, the nearer to what right probabilities make of it."""
    near, equal = ["selection_rate.difference >= -0.01"], (0.5, 0.5, 0.5)
    alone = audited(people(12_000, equal), near)
    outcomes, says = [outcome_of(alone)], [alone.verdicts[0].says]
    for known in (0.001, 0.01, 1.0):
        report = audited(people(12_000, equal, known=known), near, known="reported")
        outcomes.append(outcome_of(report))
        says.append(report.verdicts[0].says)
    assert outcomes == ["inconclusive", "inconclusive", "inconclusive", "pass"]
    assert "only if the probabilities are right, which only people's own answers" in says[0]
    assert "people of known group do not show that they distinguish the groups" in says[1]
    assert "people of known group show of them, it could be" in says[2]


def test_weak_probabilities_of_few_people_are_insufficient():
    data = people(150, concentration=40.0)
    report = audited(data, [LIMIT])
    assert outcome_of(report) == "not_evaluated"
    assert "people of known group" in report.verdicts[0].says


def test_a_group_below_the_minimum_has_no_verdict():
    data, of_known = people(4_000, known=0.1), {"known": "reported"}
    wide = ["selection_rate.difference >= -0.5"]
    assert outcome_of(audited(data, wide, **of_known)) == "pass"
    report = audited(data, wide, min_n=2_000, **of_known)
    assert outcome_of(report) == "not_evaluated"


def test_what_is_assumed_decides_and_is_stated():
    data = people(20_000, (0.45, 0.55, 0.5), known=0.0)
    one, nothing = audited(data, [LIMIT]), audited(data, [LIMIT], assume="nothing")
    assert [outcome_of(each) for each in (one, nothing)] == ["fail", "inconclusive"]
    key = ("selection_rate.difference", "race", "Black")
    assert "does not depend on the probabilities within a group" in one[key].says
    assert "without any assumption" in nothing[key].says
    assert "without any assumption" in nothing.verdicts[0].says
    made = {str(each.estimator): each for each in one.estimators if each.group == "Black"}
    assert set(made) == {"likelihood", "bounds"}
    assert one[key].interval == made["likelihood"].interval
    assert made["bounds"].interval.low <= made["bounds"].set_low < made["bounds"].set_high
    assert 500 < made["likelihood"].effective_people < 4_000


def test_every_report_states_that_the_groups_are_estimated():
    report = audited(people(4_000), [LIMIT])
    first = next(each for each in report.diagnostics if each.code == "group_not_recorded")
    assert first.level == "warning"
    for text in (first.message, str(report), report._repr_html_()):
        plain = " ".join(text.replace("&#39;", "'").replace("’", "'").split())
        assert "not from people's own answers" in plain


def test_the_grid_states_why_a_line_inside_the_limit_is_inconclusive(tmp_path):
    audited(people(20_000, (0.5, 0.5, 0.5)), [LIMIT]).save(tmp_path / "race.html")
    page = " ".join((tmp_path / "race.html").read_text().split())
    assert "or a pass also needs people of known group who show" in page


def test_the_whole_record_has_every_estimator_with_its_assumption(tmp_path):
    report = audited(people(4_000))
    report.save(tmp_path / "race.html")
    page = " ".join(re.sub(r"<[^>]*>", " ", (tmp_path / "race.html").read_text()).split())
    for text in (
        "Groups from probabilities",
        "Black (race) selection rate difference likelihood −",
        "Black (race) selection rate difference bounds - 95% CI −",
        "without any assumption but that the probabilities are right",
        "people of known group",
    ):
        assert text in page, text


def test_a_random_sample_of_known_groups_decides():
    data = people(6_000, known=0.3)
    report = audited(data, [LIMIT], known="reported", known_drawn="random")
    estimate = report["selection_rate.difference", "race", "Black"]
    assert "corrected by a random sample" in estimate.says
    assert outcome_of(report) == "fail"
    not_random = audited(data, [LIMIT], known="reported")
    assert {str(each.estimator) for each in not_random.estimators} == {"likelihood", "bounds"}
    calibrated = [each for each in not_random.diagnostics if each.code == "calibration"]
    assert [each["rejected"] for each in calibrated] == [False]


def test_people_of_known_group_contradict_wrong_probabilities():
    data = people(6_000, known=0.3)
    total = pl.sum_horizontal(*(pl.col(c) ** 2 for c in COLUMNS))
    sure = data.with_columns(*((pl.col(c) ** 2 / total).alias(c) for c in COLUMNS))
    report = audited(sure, known="reported")
    (found,) = [each for each in report.diagnostics if each.code == "calibration"]
    assert found.level == "warning"
    assert "disagree with the groups" in found.message


def test_an_outcome_that_depends_on_the_probabilities_leaves_bounds_to_decide():
    rng = np.random.default_rng(3)
    data = people(20_000)
    rate = 0.3 + 1.6 * data["p_white"].to_numpy() * (1 - data["p_white"].to_numpy())
    data = data.with_columns(chosen=pl.Series((rng.random(20_000) < rate).astype(int)))
    report = audited(data, [LIMIT], assume="given_group")
    assert outcome_of(report) == "inconclusive"
    assert [e.code for e in report.diagnostics if e.code == "lack_of_fit"]


def test_weights_and_clusters_widen_intervals():
    data = people(3_000)
    rng = np.random.default_rng(4)
    data = data.with_columns(
        w=pl.Series(rng.lognormal(0, 1, 3_000)), of=pl.Series(np.arange(3_000) // 30)
    )
    key = ("selection_rate.difference", "race", "Black")
    alone, weighted = audited(data)[key], audited(data, weight="w")[key]
    assert weighted.high - weighted.low > 1.1 * (alone.high - alone.low)
    clustered = audited(data, cluster="of")[key]
    assert clustered.value == pytest.approx(alone.value)
    assert clustered.interval != alone.interval


def widths(report):
    """Return how wide the interval of every estimator is."""
    intervals = {str(e.estimator): e.interval for e in report.estimators if e.group == "Black"}
    return {name: each.high - each.low for name, each in intervals.items()}


ASKED = {"known": "reported", "known_drawn": "random"}


def test_rows_that_are_there_twice_in_clusters_of_two_are_as_good_as_once():
    data = people(2_500, known=0.4).with_row_index("of")
    once, twice = widths(audited(data, **ASKED)), widths(
        audited(pl.concat([data, data]), cluster="of", **ASKED)
    )  # fmt: skip
    for name in ("likelihood", "validated"):
        assert twice[name] == pytest.approx(once[name], rel=0.01), name
    assert twice["bounds"] == pytest.approx(once["bounds"], rel=0.02)


def test_weights_that_differ_widen_every_interval():
    """Each row a cluster of its own has its own weight, in place of that of its cell."""
    rng = np.random.default_rng(4)
    data = people(2_500, known=0.4).with_row_index("of")
    data = data.with_columns(w=pl.Series(rng.lognormal(0, 0.8, 2_500)))
    alone, weighted = widths(audited(data, **ASKED)), widths(audited(data, weight="w", **ASKED))
    by_row = widths(audited(data, weight="w", cluster="of", **ASKED))
    for name in ("likelihood", "validated"):
        assert weighted[name] > 1.2 * alone[name], name
        assert weighted[name] == pytest.approx(by_row[name], rel=0.06), name


def test_conditional_rates_and_thresholds_are_estimated():
    data = people(5_000)
    rng = np.random.default_rng(5)
    score = np.clip(0.3 * data["chosen"].to_numpy() + rng.random(5_000) * 0.7, 0, 1)
    report = fg.audit(
        data.with_columns(score=pl.Series(score)),
        label="chosen",
        score="score",
        threshold=[0.4, 0.6],
        positive=1,
        sensitive={"race": fg.probabilities(GROUPS)},
        metrics=["true_positive_rate.difference"],
    )
    assert {each.threshold for each in report.estimates} == {0.4, 0.6}
    assert all(each.status == "ok" for each in report.estimates)


def test_what_is_no_share_of_rows_is_not_applicable():
    data = people(3_000)
    report = fg.audit(
        data, label="chosen", prediction="chosen", positive=1,
        sensitive={"race": fg.probabilities(GROUPS)}, rules=["f1.difference >= -0.1"],
    )  # fmt: skip
    assert {str(each.outcome) for each in report.verdicts} == {"not_evaluated"}
    assert "only probabilities of the groups are known" in report.verdicts[0].says


def test_a_recorded_feature_beside_it_is_as_alone():
    rng = np.random.default_rng(6)
    data = people(3_000).with_columns(sex=pl.Series(rng.choice(["F", "M"], 3_000)))
    asked = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}
    both = fg.audit(data, sensitive=["sex", {"race": fg.probabilities(GROUPS)}], **asked)
    alone = fg.audit(data, sensitive="sex", **asked)
    key = ("selection_rate.difference", "sex", "F")
    assert (both[key].value, both[key].interval) == (alone[key].value, alone[key].interval)
    assert both["selection_rate.difference", "race", "Black"].value is not None


def test_rows_without_probabilities_are_excluded_and_counted():
    data = people(1_000)
    missing = data.with_columns(
        *(pl.when(pl.int_range(1_000) < 7).then(None).otherwise(c).alias(c) for c in COLUMNS)
    )
    report = audited(missing)
    assert report.data.excluded == {"missing race": 7}
    assert report.data.used == 993
    ours = report["selection_rate.difference", "race", "Black"].value
    rest = audited(data[7:])["selection_rate.difference", "race", "Black"].value
    assert ours == pytest.approx(rest)


def test_a_specification_file_asks_as_python_does(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text(
        'prediction = "chosen"\npositive = 1\nmetrics = ["selection_rate.difference"]\n'
        '[reference]\nrace = "White"\n'
        '[[sensitive]]\nname = "race"\nassume = "given_group"\n'
        'probabilities = {Black = "p_black", White = "p_white", other = "p_other"}\n'
    )
    data = people(2_000)
    assert fg.audit(data, config=file).estimates == audited(data, assume="given_group").estimates


def test_other_questions_refuse_probabilities_by_name(tmp_path):
    data = people(500).with_columns(other=pl.col("chosen"), score=pl.col("p_white"))
    feature = {"race": fg.probabilities(GROUPS)}
    of = {"prediction": "chosen", "positive": 1, "sensitive": feature}
    with pytest.raises(fg.SpecError, match="candidate: cannot be combined"):
        fg.compare_models(data, candidate="other", **of)
    with pytest.raises(fg.SpecError, match="'race': a threshold for each group needs recorded"):
        fg.thresholds(
            data, label="chosen", score="score", positive=1, sensitive=feature, rules="DI >= 0.8"
        )
    with pytest.raises(fg.SpecError, match="a decomposition of gaps needs recorded groups"):
        fg.why(data, strata="other", **of)
    with pytest.raises(fg.SpecError, match="'race': a search of subgroups needs recorded"):
        fg.find(data, features=feature, rate="selection_rate", prediction="chosen", positive=1)
    with pytest.raises(fg.SpecError, match="'race': a page that computes again needs recorded"):
        fg.explore(data, **of)
    with pytest.raises(fg.SpecError, match="'race': a scorer needs recorded"):
        fg.scorer("selection_rate.ratio", sensitive=feature)
    report = audited(data)
    with pytest.raises(fg.SpecError, match="'race': estimates from probabilities"):
        fg.compare(report, report)
    cube = fg.count(data, **of)
    with pytest.raises(fg.SpecError, match="a monitor needs recorded groups"):
        fg.monitor({"2026-01": cube}, of | {"monitor": {"rules": [LIMIT]}})


def test_a_sealed_report_is_verified(tmp_path):
    cube = fg.count(
        people(1_500), prediction="chosen", positive=1,
        sensitive={"race": fg.probabilities(GROUPS)},
    )  # fmt: skip
    fg.seal(fg.audit(cube), cube, f"{tmp_path}/race.fairgauge")
    assert str(fg.verify(f"{tmp_path}/race.fairgauge").finding) == "reproduced"


def test_commands_take_counts_of_shards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = people(1_200)
    feature = f"race: {', '.join(f'{group}={column}' for group, column in GROUPS.items())}"
    asked = ["--prediction", "chosen", "--positive", "1", "--probabilities", feature]

    def run(*arguments):
        result = CliRunner().invoke(main, list(arguments))
        assert result.exit_code == 0, result.output
        return result.output

    for name, part in (("one", data[:500]), ("two", data[500:]), ("all", data)):
        part.write_csv(f"{name}.csv")
        run("validate", f"{name}.csv", *asked)
        run("count", f"{name}.csv", *asked, "-o", f"{name}.cube.json")
    run("merge", "one.cube.json", "two.cube.json", "-o", "sum.cube.json")
    assert fg.load("sum.cube.json").digest == fg.load("all.cube.json").digest
    run("audit", "sum.cube.json", "-o", "report.json")
    assert "not from people's own answers" in " ".join(run("render", "report.json").split())


def test_the_json_has_every_estimator():
    report = audited(people(2_000))
    saved = json.loads(report.to_json())
    assert {each["estimator"] for each in saved["estimators"]} == {"likelihood", "bounds"}
    assert sum(each["decides"] for each in saved["estimators"]) == 2


def test_the_first_page_states_what_is_known_and_what_would_show_it():
    data = people(12_000, known=0.025)
    report = audited(data, [LIMIT], known="reported")
    (found,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
    assert found["effective"] < found["most_effective"] < 12_000
    assert "not from people's own answers. This is as precise as knowing the group of " in (
        found.message
    )
    assert "…" not in found.message
    shows = "The data cannot show that; the answers of people drawn at random would show it"
    assert shows in found.message
    assert "Whether the probabilities are right" in " ".join(map(str, report.brief().limits))
    assert "holds only if what is assumed of them does" in " ".join(
        map(str, report.brief().certainty)
    )
    steps = " ".join(map(str, report.brief().steps))
    assert "fairgauge compare" not in steps  # which refuses it
    assert "fairgauge plan" in steps
    assert f"whether the {found['known']:,} people of known race were drawn at random" in steps
    for rows, ends in ((12_000, "the answers of about "), (1_000, "the answers of people drawn")):
        report = audited(people(rows))
        (note,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
        assert f"The data cannot show that; {ends}" in note.message
        assert (note.get("answers") is None) == (
            rows == 1_000
        )  # no number where all do not suffice


@pytest.mark.parametrize("rows", [3, 12, 40])
def test_a_handful_of_people_has_no_verdict_and_is_no_error(rows):
    for concentration in (0.1, 1.0, 20.0):
        report = audited(people(rows, concentration=concentration), [LIMIT])
        assert {str(each.outcome) for each in report.verdicts} <= {"not_evaluated"}


def answering(data, answers):
    """Return people of whom some report their group."""
    return data.with_columns(
        reported=pl.when(pl.Series(answers)).then(pl.col("race")).otherwise(None)
    )


def by_income(rows, seed=0):
    """Draw people whose outcome follows their probabilities alone: the groups fare alike."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.2, 0.6, 0.2], rows)
    group = rng.choice(3, rows, p=[0.2, 0.6, 0.2])
    chosen = rng.random(rows) < 0.3 + 0.4 * p[:, 1]
    columns = dict(zip(COLUMNS, p.T, strict=True))
    return pl.DataFrame(
        {"chosen": chosen.astype(int), **columns, "race": np.array(list(GROUPS))[group]}
    )


def test_no_assumption_decides_what_people_of_known_group_contradict():
    """Probabilities that follow income; volunteers where the likeliest group is right."""
    rng = np.random.default_rng(5)
    income = by_income(8_000)
    gap = people(8_000, (0.25, 0.55, 0.5), concentration=4.0)
    likeliest = np.array(list(GROUPS))[gap.select(COLUMNS).to_numpy().argmax(axis=1)]
    volunteers = answering(gap, likeliest == gap["race"].to_numpy())
    for data, limit in (
        (answering(income, rng.random(8_000) < 0.08), LIMIT),
        (volunteers, "selection_rate.difference >= -0.9"),
    ):
        assert outcome_of(audited(data, [limit], known="reported")) == "inconclusive"
        report = audited(data, [limit], known="reported")
        (verdict,) = [each for each in report.verdicts if each.group == "Black"]
        assert verdict.reason.code == "answers_contradict"
        assert "the answers of" in verdict.says
        assert "contradict the probabilities (p" in verdict.says
        brief = report.brief()
        assert "own answers contradict what is assumed" in " ".join(map(str, brief.verdict))
        assert "both sides of the limit" not in " ".join(map(str, brief.certainty))


def test_the_rates_of_known_people_contradict_an_estimate_that_right_probabilities_make():
    """Whatever the group, the rate rises with the probability of one: no bend that a fit shows."""
    rng = np.random.default_rng(6)
    data = people(20_000, known=0.2)
    rate = 0.4 + 0.35 * data["p_black"].to_numpy()
    data = data.with_columns(chosen=pl.Series((rng.random(20_000) < rate).astype(int)))
    report = audited(data, [LIMIT], known="reported")
    calibrated = [each for each in report.diagnostics if each.code == "calibration"]
    assert [each["rejected"] for each in calibrated] == [False]
    (found,) = [each for each in report.diagnostics if each.code == "known_rates"]
    assert not found["low"] <= found["share"] <= found["high"]
    assert "who reported" in found.message
    assert "selection rate of" in found.message
    (verdict,) = [each for each in report.verdicts if each.group == "Black"]
    assert (str(verdict.outcome), verdict.reason.code) == ("inconclusive", "answers_contradict")
    headline = str(report.brief().headline)
    assert headline.startswith(
        "Estimated from probabilities, which people's own answers contradict"
    )


def test_a_pass_by_people_who_were_not_drawn_at_random_states_it():
    data, wide = people(6_000, (0.5, 0.5, 0.5), known=0.2), "|selection_rate.difference| <= 0.2"
    report = audited(data, [wide], known="reported")
    assert outcome_of(report) == "pass"
    drawn = audited(data, [wide], known="reported", known_drawn="random")
    for made, states in ((report, True), (drawn, False)):
        says = [made.verdicts[0].says, " ".join(map(str, made.brief().verdict))]
        assert ["not drawn at random" in text for text in says] == [states, states]


def test_what_assumes_nothing_states_its_range_and_no_value():
    report = audited(people(6_000, (0.4, 0.5, 0.5)), [LIMIT], assume="nothing")
    estimate = report["selection_rate.difference", "race", "Black"]
    assert (estimate.value, estimate.rate_group, estimate.rate_reference) == (None, None, None)
    saved = json.loads(report.to_json())
    assert {each["value"] for each in saved["estimates"]} == {None}
    low, high = (f"{100 * abs(end):.1f}" for end in estimate.interval)
    text = " ".join(str(report).split())
    assert f"−{low} to +{high}" in text
    for untrue in ("an estimated", "As precise", "as precise", "right wherever"):
        assert untrue not in text, untrue


def test_a_range_beyond_a_limit_fails_and_names_who_is_worse_off():
    rng = np.random.default_rng(1)
    p = np.where(rng.random(8_000) < 0.3, 0.99, 0.01)
    rate = np.where(rng.random(8_000) < p, 0.1, 0.8)
    chosen = (rng.random(8_000) < rate).astype(int)
    data = pl.DataFrame({"chosen": chosen, "p_black": p, "p_white": 1 - p})
    race = fg.probabilities(Black="p_black", White="p_white", assume="nothing")
    for metric, limit in (("selection_rate.difference", -0.05), ("selection_rate.ratio", 0.8)):
        for rules in ([], [f"{metric} >= {limit}"]):
            report = fg.audit(
                data, prediction="chosen", positive=1, sensitive={"race": race},
                reference={"race": "White"}, metrics=metric, rules=rules,
            )  # fmt: skip
            assert [str(each.outcome) for each in report.verdicts] == ["fail"] * len(rules)
            assert "Black people have chosen = 1 less often" in str(report)
            assert "No difference is statistically significant" not in str(report)


def test_a_range_of_a_handful_of_people_is_insufficient():
    report = audited(people(15), [LIMIT], assume="nothing")
    assert {str(each.outcome) for each in report.verdicts} == {"not_evaluated"}
    assert {str(each.status) for each in report.estimates} == {"too_few"}


def test_where_everybody_is_selected_no_group_differs_whoever_is_in_it():
    data = people(4_000).with_columns(chosen=pl.lit(1))
    report = audited(data, [LIMIT], assume="nothing")
    assert {str(each.outcome) for each in report.verdicts} == {
        "not_evaluated"
    }  # as of recorded ones
    assert {each.value for each in report.estimates} == {0.0}
    assert "no difference and no difference" not in str(report)


FLAT = {"p_black": 0.2, "p_white": 0.6, "p_other": 0.2}


def test_answers_of_a_random_sample_decide_where_probabilities_distinguish_no_group():
    """Their rates and intervals are then those of an audit of these people alone."""
    data = people(8_000, known=0.8)
    income = pl.col("p_black")
    proportional = data.with_columns(p_white=0.7 * (1 - income), p_other=0.3 * (1 - income))
    flat = data.with_columns(*(pl.lit(p).alias(column) for column, p in FLAT.items()))
    alone = fg.audit(
        data.drop_nulls("reported"), prediction="chosen", positive=1, sensitive="reported",
        reference={"reported": "White"}, metrics="selection_rate.difference",
    )["selection_rate.difference", "reported", "Black"]  # fmt: skip
    for table in (flat, proportional):
        report = audited(table, [LIMIT], known="reported", known_drawn="random", assume="nothing")
        made = report["selection_rate.difference", "race", "Black"]
        assert made.value == pytest.approx(alone.value, abs=1e-9)
        assert made.interval.low == pytest.approx(alone.interval.low, abs=0.002)
        assert made.interval.high == pytest.approx(alone.interval.high, abs=0.002)
        assert outcome_of(report) == "fail"
        (note,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
        assert "do not distinguish all groups" in note.message
        assert "assume = nothing is not used" in note.message
        assert "stimated from" not in str(report.brief().headline)


def test_what_is_not_identified_has_no_rate_of_any_group():
    data, income = people(4_000), pl.col("p_black")
    data = data.with_columns(p_white=0.7 * (1 - income), p_other=0.3 * (1 - income))
    report = audited(data, [LIMIT])
    assert {each.rates["selection_rate"].value for each in report.groups} == {None}


def test_where_everybody_answered_groups_are_as_large_as_their_answers():
    shifted = people(3_000, known=1.0).with_columns(
        p_black=pl.col("p_black") / 2, p_white=pl.col("p_white") + pl.col("p_black") / 2
    )
    report = audited(shifted, known="reported", known_drawn="random")
    sizes = dict(shifted.group_by("race").len().iter_rows())
    assert {each.group: each.n for each in report.groups} == sizes
    page = " ".join(str(report).split())
    assert "not recorded" not in page
    assert "not from people's own answers" not in page
    assert "own answers contradict" not in page


def with_a_residual_group(rows, seed=0, rates=(0.8, 0.5, 0.7)):
    """Draw people of whom the third group is a small and nearly fixed part of the second."""
    rng = np.random.default_rng(seed)
    black = rng.beta(0.3, 0.6, rows)
    other = (0.027 * (1 - black)).round(3)
    p = np.stack([1 - black - other, black, other], axis=1)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    chosen = (rng.random(rows) < np.array(rates)[group]).astype(int)
    columns = dict(zip(("p_white", "p_black", "p_other"), p.T, strict=True))
    return pl.DataFrame({"chosen": chosen, **columns, "race": group})


def test_a_group_of_which_nothing_is_known_takes_no_precision_from_others():
    data = with_a_residual_group(6_000)
    report = audited(data, ["selection_rate.ratio >= 0.9"], assume="given_group")
    rates = {each.group: each.rates["selection_rate"] for each in report.groups}
    assert rates["other"].value < 0.001  # at the end of its range
    assert rates["White"].status == "ok"
    assert outcome_of(report) == "fail"
    assert outcome_of(report, "other") == "not_evaluated"
    (note,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
    assert note["group"] == "other"
    best, people = rates[note["best_known"]], note["most_effective"]
    low, high = wilson(best.value * people, people, critical(0.95))
    assert high - low == pytest.approx(best.interval.high - best.interval.low, abs=1e-4)


def test_the_number_of_people_to_ask_is_not_of_a_group_whose_rate_is_at_the_end_of_its_range():
    data = with_a_residual_group(6_000)
    report = audited(data, reference=None)
    (note,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
    assert note["shown"] != "other"
    asked = pl.Series(np.arange(6_000) < note["answers"])
    names = pl.Series(np.array(["White", "Black", "other"])[data["race"].to_numpy()])
    drawn = data.with_columns(reported=pl.select(pl.when(asked).then(names)).to_series())
    answered = audited(drawn, reference=None, known="reported", known_drawn="random")
    shown = answered["selection_rate.difference", "race", note["shown"]].interval
    assert shown.high - shown.low < 0.1


def test_a_sentence_is_whole_however_long_it_is():
    names = ("Native Hawaiian or Other Pacific Islander", "White, not Hispanic or Latino")
    groups = dict(zip(names, ("p_black", "p_white"), strict=True)) | {"other": "p_other"}
    data = people(6_000, known=0.025).with_columns(
        pl.col("reported").replace(dict(zip(("Black", "White"), names, strict=True)))
    )
    race = fg.probabilities(groups, known="reported")
    report = fg.audit(
        data, prediction="chosen", positive=1, sensitive={"race": race},
        metrics="selection_rate.difference",
    )  # fmt: skip
    (note,) = [each for each in report.diagnostics if each.code == "group_not_recorded"]
    assert len(note.message) > 500
    text = " ".join(render(report, full=True).split())
    assert note.message in text
