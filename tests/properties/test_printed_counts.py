"""Every count that a report prints was counted: never a rate times a number."""

from __future__ import annotations

import copy
import json
import re
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.statistics import Rate
from fairgauge.evidence.bundle import MANIFEST, REPORT, digest
from fairgauge.question.presets import preset, preset_names
from fairgauge.render import render
from fairgauge.results.verification import VerificationResult

if TYPE_CHECKING:
    from fairgauge.results.report import Report

SELECTING = [
    name for name in preset_names() if not preset(name).compared_with
    and any(each.startswith("selection_rate.") for each in preset(name).options["metrics"])
]  # fmt: skip
"""The presets that have tables to publish, and need no named reference."""


def applicants(seed: int = 0) -> pl.DataFrame:
    """Return applicants of whom some have no decision, no score, or no category."""
    rng = np.random.default_rng(seed)
    n = 6_000
    sex = rng.choice(["Female", "Male", None], n, p=[0.5, 0.45, 0.05])
    race = rng.choice(["Asian", "Black", "Hispanic", "White"], n, p=[0.1, 0.2, 0.2, 0.5])
    score = np.round(np.clip(rng.normal(0.5, 0.2, n) - 0.1 * (race == "Black"), 0, 1), 2)
    hired = (score > 0.6).astype(int)
    missing = rng.random((2, n)) < np.where(sex == "Female", 0.12, 0.02)
    return pl.DataFrame(
        {
            "sex": sex,
            "race": race,
            "hired": [None if gone else int(x) for x, gone in zip(hired, missing[0], strict=True)],
            "score": [None if gone else x for x, gone in zip(score, missing[1], strict=True)],
        }
    )


def published(name: str, outcome: str) -> Report:
    """Audit them with a preset, by decision or by score."""
    by_decision = {"prediction": "hired", "positive": 1}
    of = by_decision if outcome == "hired" else {"score": "score", "threshold": "median"}
    return fg.audit(applicants(), preset=name, sensitive=["sex", "race"], **of)


@pytest.mark.each_value
@pytest.mark.parametrize("outcome", ["hired", "score"])
@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_check_finds_no_error_in_a_table_that_a_preset_prints(tmp_path, name, outcome, suffix):
    path = tmp_path / f"audit.{suffix}"
    report = published(name, outcome)
    report.save(path)
    # a check holds ratios against the highest rate, unless the reference is named
    named = [e.reference.group for e in report.estimates if e.reference.kind == "largest"]
    checked = fg.check(path, reference=list(dict.fromkeys(named)))
    assert checked.errors == 0
    assert [table.name for table in checked.tables][:2] == ["Groups of sex", "Groups of race"]
    chosen = (
        pl.col("hired") == 1
        if outcome == "hired"
        else pl.col("score") > applicants()["score"].median()
    )
    for table in checked.tables:
        columns = table.name.removeprefix("Groups of ").split("*")
        rows = applicants().drop_nulls([*columns, outcome])
        by_group = rows.group_by(pl.concat_str(columns, separator=" & "))
        people = {group.name: group.n for group in table.groups}
        assert people == dict(by_group.len().iter_rows())
        selected = {group.name: group.selected for group in table.groups}
        assert selected == dict(by_group.agg(chosen.sum()).iter_rows())


@pytest.mark.each_value
@pytest.mark.parametrize("outcome", ["hired", "score"])
@pytest.mark.parametrize("name", SELECTING)
def test_groups_minimum_and_unknown_are_of_the_same_rows(tmp_path, name, outcome):
    """Those with a decision: who has none is in no group's n, and in no share of anything."""
    path = tmp_path / "audit.md"
    report = published(name, outcome)
    report.save(path)
    decided = applicants().drop_nulls(outcome)
    notes = {each.feature: each for each in report.diagnostics if each.code == "missing_groups"}
    for table in fg.check(path).tables:
        columns = table.name.removeprefix("Groups of ").split("*")
        without = decided.height - decided.drop_nulls(columns).height
        assert (table.unknown or 0) == without
        assert sum(group.n for group in table.groups) + without == decided.height
        if without:
            note = notes[table.name.removeprefix("Groups of ")]
            assert (note["rows"], note["total"]) == (without, decided.height)
            lack = "have no known" if len(columns) == 1 else "lack at least one of"
            assert f"({without:,} of {decided.height:,}) {lack}" in str(note)


NAMES = {
    "declined": (["Female", "Male", "Decline to answer"], ["Asian", "White"], {}),
    "declined both": (["Female", "Decline to answer"], ["White", "Decline to answer"], {}),
    "of the name of the row": (["Female", "Male", "Unknown"], ["Asian", "UNKNOWN"], {}),
    "missing as a group": (
        ["Female", "Male"],
        ["Asian", "White"],
        {"missing": "group", "preset": "ugesp"},
    ),
    "case": (["Female", "female", "Male"], ["White", "white"], {}),
}


@pytest.mark.each_value
@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("suffix", ["md", "html", "xlsx"])
@pytest.mark.parametrize("named", NAMES)
def test_check_finds_no_error_whatever_groups_are_called(tmp_path, named, suffix, lacking):
    """Who answered with a word for unknown is a group, beside the row of who has no category."""
    sexes, races, options = NAMES[named]
    rng = np.random.default_rng(5)
    sex, race = (rng.choice(names, 900).tolist() for names in (sexes, races))
    if lacking:
        sex[:70], race[60:100] = [None] * 70, [None] * 40
    hired = rng.random(900) < np.where([each == sexes[-1] for each in sex], 0.6, 0.4)
    rows = pl.DataFrame({"sex": sex, "race": race, "hired": hired.astype(int)})
    stated = {column: {x: [x] for x in found if x.casefold() == "unknown" or "Decline" in x}
              for column, found in (("sex", sexes), ("race", races))}  # fmt: skip
    report = fg.audit(rows, prediction="hired", positive=1, sensitive=["sex", "race"],
                      recode={column: of for column, of in stated.items() if of},
                      **{"preset": "nyc-ll144"} | options)  # fmt: skip
    report.save(path := tmp_path / f"audit.{suffix}")
    found = fg.check(path)
    assert [fault.message for table in found.tables for fault in table.errors] == []
    counted = {(table.name, each.name): (each.n, each.selected)
               for table in found.tables for each in table.groups}  # fmt: skip
    assert counted == {
        (f"Groups of {each.feature}", each.group): (
            each.rates["selection_rate"].denominator, each.rates["selection_rate"].numerator
        ) for each in report.groups
    }  # fmt: skip
    without = [70, 40, 100] if lacking and not options else [None] * len(found.tables)
    assert [table.unknown for table in found.tables] == without


@pytest.mark.parametrize("decided", [19, 20])
def test_the_minimum_is_a_share_of_the_rows_with_a_decision(decided):
    """2% of 1,000 decisions are 20, whatever rows of small and large groups have none."""
    counts = {"x": (decided, 11), "a": (500, 200), "b": (480 + 20 - decided, 100)}
    rows = pl.concat(
        pl.DataFrame(
            {
                "g": [group] * (known + without),
                "hired": [i % 2 for i in range(known)] + [None] * without,
            }
        )
        for group, (known, without) in counts.items()
    )
    report = fg.audit(rows, preset="nyc-ll144", prediction="hired", positive=1, sensitive="g")
    reasons = [e.reason for e in report.estimates if e.group == "x" and e.reason]
    if decided == 20:
        assert "small_group" not in [reason.code for reason in reasons]
    else:
        assert [(r["n"], r["minimum"], r["total"]) for r in reasons] == [(19, 20, 1_000)]
        words = "below the minimum of 20 (2% of all 1,000 rows with a known prediction)"
        assert words in render(report, "markdown", full=True)


def table_to_publish(report: Report, feature: str) -> tuple[list[str], dict[str, list[str]], str]:
    """Return the heads of the table to publish of a feature, its rows by group, and its notes."""
    text = render(report, "markdown", full=True).split("**Tables to publish**")[1]
    lines = text.split(f"**Groups of {feature}**")[1].split("\n## ")[0].splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    notes = "\n".join(line for line in lines if line and not line.startswith("|"))
    return cells[0], {first: rest for first, *rest in cells[2:]}, notes


@pytest.mark.each_value
@pytest.mark.parametrize("outcome", ["hired", "score"])
@pytest.mark.parametrize("name", SELECTING)
def test_a_weighted_table_to_publish_sums_the_weights_of_the_rows_that_have_a_rate(name, outcome):
    weighted = applicants().with_columns(w=pl.Series(np.arange(6_000) % 7 / 2 + 0.25))
    by_decision = {"prediction": "hired", "positive": 1}
    of = by_decision if outcome == "hired" else {"score": "score", "threshold": "median"}
    report = fg.audit(weighted, preset=name, sensitive=["sex", "race"], weight="w", **of)
    heads, rows, notes = table_to_publish(report, "sex")
    assert heads[:3] == ["group", "unweighted rows", "sum of w"]
    having = weighted.drop_nulls(["sex", outcome])
    for group, found in having.group_by("sex"):
        n, total = found.height, found["w"].sum()
        assert rows[group[0]][:2] == [f"{n:,}", f"{total:,.1f}"]
        if outcome == "hired":
            rate = 100 * found.filter(pl.col("hired") == 1)["w"].sum() / total
            assert rows[group[0]][2] == f"{rate:.1f}%"
    unknown = weighted.filter(pl.col("sex").is_null()).drop_nulls(outcome).height
    assert rows["Unknown"] == [str(unknown), *"-" * (len(heads) - 2)]
    lacking = weighted.drop_nulls("sex").height - having.height
    assert "Unweighted rows, and the sum of w, are of the " in notes
    assert f"{lacking} more lack it." in notes
    assert "all rows of the group" not in notes


def test_the_weight_of_a_rate_is_of_its_denominator_whatever_the_unit_of_weights():
    """The weight of the group is that of all its rows, beside it in every table."""
    rows = applicants().with_columns(pl.Series("y", np.arange(6_000) % 2))
    for unit in (1.0, 250.0):
        rows = rows.with_columns(w=unit * (1 + pl.Series(np.arange(6_000) % 3)))
        report = fg.audit(rows, label="y", prediction="hired", sensitive="sex", weight="w")
        for group in report.groups:
            own = rows.filter((pl.col("sex") == group.group) & pl.col("hired").is_not_null())
            assert group.rates["selection_rate"].weighted_denominator == pytest.approx(
                own["w"].sum()
            )
            positive = own.filter(pl.col("y") == 1)["w"].sum()
            assert group.rates["true_positive_rate"].weighted_denominator == pytest.approx(positive)
            whole = rows.filter(pl.col("sex") == group.group)["w"].sum()
            assert group.weight == pytest.approx(whole)
            flat = report.to_polars("groups").filter(group=group.group, rate="selection_rate")
            assert flat["weight"].item() == pytest.approx(whole)
            assert flat["weighted_denominator"].item() == pytest.approx(own["w"].sum())


@pytest.mark.parametrize("name", SELECTING)
def test_a_table_to_publish_of_estimated_groups_prints_no_counts(name):
    """Nobody in them was counted: rates have intervals, and all rows are of unknown category."""
    p = pl.Series(np.random.default_rng(2).uniform(0, 1, 6_000))
    rows = applicants().with_columns(p1=p, p2=1 - p)
    race = {"name": "ethnicity", "probabilities": {"a": "p1", "b": "p2"}}
    asked = {"preset": name, "probabilities": [race], "prediction": "hired", "positive": 1}
    report = fg.audit(rows, **asked, reference={"ethnicity": "b"})
    heads, groups, notes = table_to_publish(report, "ethnicity")
    assert heads[:2] == ["group", "estimated selection rate"]
    assert not {"n", "selected"} & set(heads)
    for group in report.groups:
        rate = group.rates["selection_rate"]
        low, high = (f"{100 * end:.1f}%" for end in rate.interval)
        assert groups[group.group][0] == f"{100 * rate.value:.1f}% ({low} to {high})"
    assert "estimated from probabilities: nobody was counted in a group" in notes
    assert "6,000 rows in ethnicity (estimated from probabilities)." in notes
    if preset(name).options.get("reference"):
        with pytest.raises(fg.SpecError, match="name the group that others are compared with"):
            fg.audit(rows, **asked)


def test_both_of_two_groups_have_their_comparison_in_the_table_to_publish():
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "reference": "others"}
    report = fg.audit(applicants(), preset="us-lending", **asked)
    heads, rows, _ = table_to_publish(report, "sex")
    ratio = heads.index("ratio to all other groups") - 1
    women, men = (float(rows[sex][ratio].split()[0]) for sex in ("Female", "Male"))
    assert women * men == pytest.approx(1, abs=2e-3)
    assert "-" not in [*rows["Female"], *rows["Male"]]


PRINTING_GAPS = [name for name in preset_names() if preset(name).category_limit is not None]
"""The presets whose tables to publish hold gaps in per cent."""


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in {*preset_names()} - {*SELECTING, *PRINTING_GAPS}
        if not preset(name).compared_with
    ),
)
def test_a_preset_without_selection_rates_to_compare_prints_no_table_to_publish(tmp_path, name):
    """Its groups are in the tables of the report, whose shares are each two counts (below)."""
    rows = applicants().with_columns(pl.Series("y", [None, 0, 1, 1, 0, 1] * 1_000))
    asked = {"label": "y", "prediction": "hired", "positive": 1, "sensitive": ["sex", "race"]}
    report = fg.audit(rows, preset=name, **asked)
    report.save(tmp_path / "audit.md")
    assert "Tables to publish" not in (tmp_path / "audit.md").read_text()
    with pytest.raises(fg.DataError, match="without its tables to publish"):
        fg.check(tmp_path / "audit.md")


@pytest.mark.parametrize("suffix", ["md", "html", "xlsx"])
def test_tables_of_gaps_hold_nothing_to_check(tmp_path, suffix):
    rows = applicants().with_columns(pl.Series("pay", [1000.0, 1300.0, 1100.0] * 2_000))
    (name,) = PRINTING_GAPS
    report = fg.audit(rows, preset=name, label="pay", sensitive="sex", reference={"sex": "Male"})
    report.save(tmp_path / f"pay.{suffix}")
    for written in (tmp_path / f"pay.{suffix}", render(report, "markdown")):
        with pytest.raises(fg.DataError, match=r"no table has the columns|without its tables"):
            fg.check(written)


@pytest.mark.parametrize("name", SELECTING)
def test_a_bundle_whose_table_to_publish_was_changed_is_not_reproduced(tmp_path, name):
    """One count more of one group, with digests that fit: the printed table would show it."""
    cube = fg.count(applicants(), preset=name, prediction="hired", positive=1, sensitive="sex")
    fg.seal(fg.audit(cube), cube, path := tmp_path / "audit.fairgauge")
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    report = json.loads(parts[REPORT])
    rate = report["groups"][0]["rates"]["selection_rate"]
    printed = f"{rate['numerator']:,}"
    assert printed in render(fg.audit(cube), "markdown", full=True)
    for key in ("numerator", "denominator"):
        changed = copy.deepcopy(report)
        changed["groups"][0]["rates"]["selection_rate"][key] += 1
        text = json.dumps(changed).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(text)
        with zipfile.ZipFile(path, "w") as archive:
            for each, content in (parts | {REPORT: text, MANIFEST: json.dumps(manifest)}).items():
                archive.writestr(each, content)
        found = fg.verify(path)
        assert found.finding is VerificationResult.DIFFERENT
        assert f"groups[0].rates.selection_rate.{key}" in [each.path for each in found.different]


@pytest.mark.parametrize("options", [{}, {"strata": "race"}, {"missing": "group"}])
def test_every_share_is_its_two_counts(options):
    rows = applicants().with_columns(pl.Series("y", np.arange(6_000) % 2))
    report = fg.audit(rows, label="y", prediction="hired", sensitive="sex",
                      metrics=["native"], **options)  # fmt: skip
    shares = 0
    for group in (*report.groups, *report.totals):
        for name, rate in group.rates.items():
            if not isinstance(report.catalogue.rate(name), Rate):
                assert rate.numerator is None
                assert rate.denominator is not None
                continue
            assert isinstance(rate.numerator, int)
            assert isinstance(rate.denominator, int)
            assert rate.denominator <= group.n
            if rate.denominator:
                assert rate.value == rate.numerator / rate.denominator
            shares += 1
    assert shares > 10


def test_the_counts_of_rates_are_saved_and_verified(tmp_path):
    rows = applicants()
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1, "sensitive": "sex"}
    cube = fg.count(rows, **asked)
    report = fg.audit(cube)
    path = tmp_path / "report.json"
    report.save(path)
    assert fg.load(path).groups == report.groups
    changed = path.read_text().replace('"numerator": ', '"numerator": 1', 1)
    path.write_text(changed)
    with pytest.raises(fg.DataError, match="does not follow from the counts"):
        fg.seal(path, cube, tmp_path / "audit.fairgauge")


@pytest.mark.parametrize("outcomes", [["hired"], ["hired", "y"], ["y"]])
def test_the_n_beside_a_rate_is_its_denominator(outcomes):
    """Rows without a decision are neither in the rate nor in the n printed beside it."""
    rng = np.random.default_rng(3)
    y = [None if gone else int(x) for x, gone in rng.random((6_000, 2)) < (0.4, 0.1)]
    rows = applicants().with_columns(y=pl.Series(y))
    asked = {{"hired": "prediction", "y": "label"}[column]: column for column in outcomes}
    report = fg.audit(rows, **asked, sensitive=["sex", "race"], positive=1)
    rate = "selection_rate" if "hired" in outcomes else "base_rate"
    frame = report.by_group()
    text = render(report, "markdown", full=True).split("## Details")[1]
    for group in report.groups:
        having = rows.filter(pl.col(group.feature) == group.group).drop_nulls(outcomes[:1])
        assert frame["n"][(group.feature, group.group)] == having.height
        share = having[outcomes[0]].mean()
        assert frame[rate][(group.feature, group.group)] == pytest.approx(share)
        assert f"| {group.group} | {having.height:,} | {100 * share:.1f} " in text
    known = rows.drop_nulls(["sex", outcomes[0]])
    assert f"| overall | {known.height:,} | {100 * known[outcomes[0]].mean():.1f} " in text


def paid() -> pl.DataFrame:
    """Return people of whom some have no pay, more of the women."""
    rng = np.random.default_rng(8)
    rows = applicants().drop_nulls("sex")
    pay = np.where(rng.random(rows.height) < 0.2, np.nan, rng.normal(50, 9, rows.height))
    return rows.with_columns(pay=pl.Series(pay).fill_nan(None))


@pytest.mark.parametrize("options", [{}, {"strata": "race"}, {"weight": "w"}])
def test_the_n_beside_a_mean_counts_those_who_have_the_number(tmp_path, options):
    """Every format prints the denominator of the mean, and states that n is it."""
    rows = paid().with_columns(w=1 + pl.Series(np.arange(paid().height) % 3))
    asked = {"label": "pay", "task": "regression", "sensitive": "sex", **options}
    report = fg.audit(rows, **asked, metrics=["mean_label.difference"])
    text = render(report, "markdown", full=True)
    assert "n counts the rows of a group that the mean label is of." in text
    for group in (*report.groups, *report.totals):
        of = group.group if group.reference_kind is None else None
        those = rows if of is None else rows.filter(pl.col("sex") == of)
        if group.stratum is not None:
            those = those.filter(pl.col("race") == group.stratum)
        known = those.drop_nulls("pay").height
        assert known < those.height == group.n
        assert group.rates["mean_label"].denominator == known
        if group.stratum is None:
            assert f"| {of or 'overall'} | {known:,} |" in text
        else:
            assert re.search(rf"\| {group.stratum} \| mean label \|.* {known:,} \|", text)
    frame = report.by_group()
    assert frame["n"][("sex", "Male")] == rows.filter(sex="Male").drop_nulls("pay").height


def test_the_n_beside_one_rate_is_its_denominator_though_nothing_is_missing():
    """Beside true positive rates alone n is of the positive labels, and the table states so."""
    rows = paid().with_columns(y=pl.Series(np.arange(paid().height) % 3 == 0), hired=True)
    asked = {"label": "y", "prediction": "hired", "sensitive": "sex", "positive": True}
    text = render(fg.audit(rows, **asked, metrics=["true_positive_rate.difference"]))
    positive = rows.filter(sex="Female", y=True).height
    assert re.search(rf"^Female +{positive:,} +100", text, re.MULTILINE)
    assert "that the true positive rate is of." in " ".join(text.split())


def test_the_n_of_estimated_groups_is_of_those_who_have_a_decision():
    rng = np.random.default_rng(4)
    p = np.round(rng.random(4_000), 2)
    hired = [
        None if gone else int(x)
        for x, gone in zip(rng.random(4_000) < 0.5 - 0.2 * p, rng.random(4_000) < 0.2, strict=True)
    ]
    rows = pl.DataFrame({"hired": hired, "a": p, "b": np.round(1 - p, 2)})
    report = fg.audit(
        rows,
        prediction="hired",
        positive=1,
        probabilities={"name": "race", "probabilities": {"A": "a", "B": "b"}},
    )
    known = rows.drop_nulls("hired").height
    assert f"overall  {known:,}" in render(report)
    sizes = [group.rates["selection_rate"].denominator for group in report.groups]
    assert sum(sizes) == pytest.approx(known, abs=1)
