"""The document of a comparison of models: what decides, what counts, and whose a number is."""

import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import Table, Tone
from fairgauge.render.document import document as models_document

PEOPLE = rows(2_000)


def compared(*candidates, **options):
    return fg.compare_models(PEOPLE, **QUESTION, candidate=list(candidates), **options)


def text(found):
    return " ".join(str(found).replace("\N{NO-BREAK SPACE}", " ").split())


def tables(found):
    """Return the tables of the first candidate by title."""
    blocks = models_document(found).sections[0].blocks
    return {block.caption: block for block in blocks if isinstance(block, Table)}


def heads(table):
    return [column.heading for column in table.columns]


def test_a_margin_that_the_adjustment_decides_says_so():
    """The interval of a change is of its own; with two candidates the margin is tested twice."""
    (alone,) = compared("unfair", margins={"accuracy": 0.1})["unfair"].margins
    just = {"accuracy": 1e-4 - alone.change.interval.low}
    (test,) = compared("unfair", margins=just)["unfair"].margins
    assert test.outcome == "non-inferior"
    found = compared("unfair", "random", margins=just)
    (test,) = found["unfair"].margins
    assert test.outcome == "cannot tell"
    assert "CI, adjusted for all candidates); inconclusive" in text(found)
    assert "adjusted for all" not in text(compared("unfair", margins=just))


@pytest.mark.parametrize(
    ("candidates", "tone"), [(("fairer", "unfair"), Tone.PLAIN), (("unfair",), Tone.BAD)]
)
def test_the_headline_has_a_mark_where_all_verdicts_share_it(candidates, tone):
    found = compared(*candidates, margins={"accuracy": 0.05})
    assert models_document(found).tone is tone
    assert ("❌ unfair" in render(found, "markdown")) is (tone is Tone.BAD)


def test_who_changes_counts_weights():
    found = compared("fairer", weight="weight")
    changed = {(one.group, one.among): one for one in found["fairer"].reclassified}
    gained = PEOPLE.filter((PEOPLE["current"] == 0) & (PEOPLE["fairer"] == 1))
    for sex in ("F", "M"):
        one = changed[sex, "all"]
        people, changed_now = (each.filter(each["sex"] == sex) for each in (PEOPLE, gained))
        assert (one.n, one.gained) == (len(people), len(changed_now))
        assert one.weighted_n == pytest.approx(people["weight"].sum())
        assert one.weighted_gained == pytest.approx(changed_now["weight"].sum())
    (rate,) = (
        each for each in found["fairer"].rates
        if (each.rate, each.group, each.feature) == ("selection_rate", "F", "sex")
    )  # fmt: skip
    women = changed["F", "all"]
    share = (women.weighted_gained - women.weighted_lost) / women.weighted_n
    assert share == pytest.approx(rate.change)  # the two tables agree
    assert "weighted n" in heads(tables(found)["Who changes"])


def test_who_changes_has_one_total_whatever_groups_are_called():
    """A group called "overall youth" is a group, and not all rows."""
    renamed = PEOPLE.with_columns(sex=PEOPLE["sex"].replace({"F": "overall youth"}))
    found = fg.compare_models(renamed, **QUESTION, candidate="fairer")
    table = tables(found)["Who changes"]
    assert {row[0].text for row in table.rows} == {"M (sex)", "overall youth (sex)"}
    assert [row[0].text for row in table.totals] == ["overall"]


def of_small_difference():
    """Return a comparison in which women overtake men, of whom the first lead was by chance."""
    cells = [("F", 520, 700), ("M", 500, 500)]
    return pl.concat([
        pl.DataFrame({
            "sex": [sex] * 1_000, "y": [1, 0] * 500,
            "p": [1] * old + [0] * (1_000 - old), "q": [1] * new + [0] * (1_000 - new),
        })
        for sex, old, new in cells
    ])  # fmt: skip


def test_the_interval_of_a_change_is_of_the_change_and_not_of_its_distance():
    """+2.0 to +20.0 pp stood beside an interval of the distance from no difference."""
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "positive": 1, "candidate": "q"}
    metrics = ["selection_rate.difference"]
    found = fg.compare_models(of_small_difference(), **asked, metrics=metrics)
    (one,) = found["q"].disparities
    low, high = (100 * end for end in one.interval)
    assert low > 100 * one.distance_adjusted.low + 0.5  # the side before is not shown
    (row,) = tables(found)["Further from no difference, statistically significant"].rows
    assert (row[3].text, row[3].below) == ("+18.0 pp", f"95% CI +{low:.1f} to +{high:.1f}")


@pytest.mark.parametrize("of_all", [False, True])
def test_a_change_of_sides_is_stated_whatever_becomes_of_the_distance(of_all):
    """That all of a small group were rejected now read that they "differ more"."""
    people = of_small_difference().with_columns(
        q=pl.when(pl.col("sex") == "F").then(0).otherwise("p")
    )
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "positive": 1, "candidate": "q"}
    metrics = ["selection_rate.difference"] * (not of_all)
    found = fg.compare_models(people, **asked, metrics=metrics or None)
    stated = " ".join(
        row[-1].text for table in tables(found).values() for row in table.rows
    ).replace("others", "M")
    assert "changed sides: F is now worse off than M" in stated
    if not of_all:
        assert "while its side before was not significant" in stated
    headline = str(found.brief().headline)
    assert "and they differ more than under" in headline
    assert "lower selection rate" in headline or "less often" in headline


def test_a_candidate_that_is_better_is_said_to_be():
    """Of a candidate that is only not worse by more than the margin nothing more is stated."""
    counts = {"fairer": [300, 60, 100, 40], "as_good": [310, 50, 51, 89]}
    for name, (kept, lost, gained, wrong) in counts.items():
        women_and_men = pl.DataFrame(
            {
                "sex": ["F", "M"] * 4,
                "repaid": [1] * 8,
                "current": [1, 1, 1, 1, 0, 0, 0, 0],
                name: [1, 1, 0, 0, 1, 1, 0, 0],
                "n": [kept, kept, lost, lost, gained, gained, wrong, wrong],
            }
        )
        others = [(1 - pl.col(column)).alias(column) for column in ("repaid", "current", name)]
        women_and_men = pl.concat([women_and_men, women_and_men.with_columns(others)])
        found = fg.compare_models(
            women_and_men, **QUESTION, candidate=name, count="n", margins={"accuracy": 0.05}
        )
        better = name == "fairer"
        stated = "accuracy is better, so not worse by more than 5 of 100"
        assert (stated in text(found)) == better
