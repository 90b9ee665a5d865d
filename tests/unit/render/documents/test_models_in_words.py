"""The document of a comparison of models: what decides, what counts, and whose a number is."""

import polars as pl
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.render._document_tree import Table
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
    (row,) = tables(found)["Statistically significant changes"].rows
    assert (row[3].text, row[3].below) == ("+18.0 pp", f"95% CI +{low:.1f} to +{high:.1f}")
