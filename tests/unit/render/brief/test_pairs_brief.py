"""The first page of an audit by swapped names: true whatever the data, with its sources."""

import pandas as pd
import pytest

import fairgauge as fg
from swapped_names import ASKED, study


def audit(table, **options):
    return fg.pairs(table, **{**ASKED, "reference": {"group": "White"}, **options})


AUDITS = {
    "differs": lambda: audit(study((6, 6), delta=-1.0, placebos=5), placebo="edit"),
    "equivalent": lambda: audit(study((8, 8), 30, 4, seed=1), margins={"score": 0.5}),
    "imprecise": lambda: audit(study((4, 4), seed=1)),
    "few names": lambda: audit(study((2, 4))),
    "one name": lambda: audit(study((1, 4))),
    "several models": lambda: audit(
        pd.concat([study((5, 5), delta=-d, seed=3).assign(model=f"m{d}") for d in (0, 1)]),
        model="model",
    ),
    "decisions": lambda: audit(
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
