"""Tally: groups, value sets, cuts, intersections, strata, references, and what is left out."""

from typing import Any

import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import ReferenceKind
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import OVERALL, Reference

OTHERS = Reference(ReferenceKind.OTHERS)

TABLE = pd.DataFrame(
    {
        "race": ["B", "B", "W", "W", "H", "A", None, "W"],
        "sex": ["f", "m", "f", "m", "f", None, "m", "m"],
        "age": [20, 40, 41, 60, 61, None, 30, 90],
        "y": [1, 0, 1, 1, 0, 1, 1, 0],
        "dept": ["x", "x", "x", "y", "y", None, "y", "x"],
    }
)


def audit(**options: Any) -> fg.Report:
    return fg.audit(TABLE, **({"label": "y", "positive": 1, "metrics": "DPL"} | options))


def sizes(report: fg.Report) -> dict[str, float]:
    return {g.group: g.n for g in report.groups if g.scope == OVERALL}


def test_every_value_is_a_group() -> None:
    assert sizes(audit(sensitive="race")) == {"A": 1, "B": 2, "H": 1, "W": 3}


def test_value_sets_are_groups_and_the_others_their_rest() -> None:
    report = audit(sensitive={"race": ["B", "H"]})
    assert sizes(report) == {"B, H": 3, "others": 4}
    assert [(e.group, e.reference) for e in report.estimates] == [("B, H", OTHERS)]
    kinds = {g.group: g.reference_kind for g in report.groups}
    assert kinds == {"B, H": None, "others": ReferenceKind.OTHERS}
    assert report["DPL", "race", "B, H"].value == pytest.approx(3 / 4 - 1 / 3)


def test_several_value_sets() -> None:
    report = audit(sensitive={"race": [["B", "H"], ["W"]]})
    assert sizes(report) == {"B, H": 3, "W": 3, "others": 1}
    assert report["DPL", "race", "W"].rate_reference == pytest.approx(2 / 4)


def test_intersections_are_the_combinations_that_occur() -> None:
    report = audit(sensitive=["race"], intersections=[("race", "sex")])
    found = {g.group: g.n for g in report.groups if g.feature == "race*sex"}
    assert found == {"B & f": 1, "B & m": 1, "H & f": 1, "W & f": 1, "W & m": 2}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("others", dict.fromkeys("ABHW", OTHERS)),
        ("overall", dict.fromkeys("ABHW", Reference(ReferenceKind.OVERALL))),
        ("largest", dict.fromkeys("ABH", Reference(ReferenceKind.LARGEST, "W"))),
        ({"race": "B"}, dict.fromkeys("AHW", Reference(ReferenceKind.GROUP, "B"))),
    ],
)
def test_references(reference: Any, expected: dict[str, Reference]) -> None:
    report = audit(sensitive="race", reference=reference)
    assert {e.group: e.reference for e in report.estimates} == expected


def test_the_rates_of_references() -> None:
    rest = audit(sensitive="race")["DPL", "race", "B"]
    assert (rest.rate_group, rest.rate_reference) == (0.5, 3 / 5)
    overall = audit(sensitive="race", reference="overall")["DPL", "race", "B"]
    assert overall.rate_reference == pytest.approx(4 / 7)
    named = audit(sensitive="race", reference={"race": "W"})["DPL", "race", "B"]
    assert named.rate_reference == pytest.approx(2 / 3)


def test_best_is_the_best_by_the_metric() -> None:
    sets = {"race": [["B"], ["W"], ["H"]]}
    report = audit(sensitive=sets, reference="best", metrics="DPL", min_n=1)
    # base rates: B 1 of 2, W 2 of 3, H 0 of 1
    best = Reference(ReferenceKind.BEST, "W")
    assert {e.group: e.reference for e in report.estimates} == {"B": best, "H": best}
    table = TABLE.assign(p=[1, 1, 1, 0, 0, 0, 0, 0])
    report = fg.audit(
        table,
        label="y",
        prediction="p",
        positive=1,
        sensitive="race",
        reference="best",
        metrics="DPPL",
        min_n=1,
    )
    assert {e.reference for e in report.estimates} == {Reference(ReferenceKind.BEST, "B")}


def test_best_of_a_metric_that_does_not_apply_is_the_largest() -> None:
    found = audit(sensitive="race", reference="best", metrics="CDDL")["CDDL", "race", "B"]
    assert (found.status, str(found.reference)) == ("not_applicable", "W")
    assert found.reason == Reason.of(ReasonCode.NEEDS_STRATA)
    with pytest.raises(fg.SpecError, match=r"roc_auc.difference needs a score; add score"):
        audit(sensitive="race", reference="best", metrics="roc_auc.difference")


def test_a_reference_outside_the_value_sets_becomes_a_group() -> None:
    report = audit(sensitive={"race": ["B"]}, reference={"race": "W"})
    assert report["DPL", "race", "B"].reference == Reference(ReferenceKind.GROUP, "W")
    assert sizes(report) == {"B": 2, "W": 3, "others": 2}


def test_strata_hold_a_column_fixed() -> None:
    report = audit(sensitive="sex", strata="dept")
    counts = {(g.group, g.stratum): g.n for g in report.groups}
    assert counts[("f", "x")] == 2
    assert counts[("m", "y")] == 2
    assert report["DPL", "sex", "f", "x"].value == pytest.approx(0 - 1)
    assert report.data.excluded["missing stratum"] == 1


def test_one_group_alone_is_compared_with_nobody() -> None:
    report = fg.audit(TABLE.assign(one="x"), label="y", sensitive="one", metrics="DPL")
    (estimate,) = report.estimates
    assert (estimate.value, estimate.status) == (None, "undefined")
    reason = estimate.reason
    assert (reason.code, reason.side) == (ReasonCode.EMPTY_DENOMINATOR, "reference")


def test_unknown_values_name_the_nearest() -> None:
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(TABLE.replace("B", "Black"), label="y", sensitive={"race": ["Blck"]})
    assert str(caught.value).startswith(
        "sensitive: column 'race' has no value 'Blck'. Did you mean 'Black'? It has "
    )
    with pytest.raises(fg.SpecError, match="reference: column 'race' has no value 'Z'"):
        audit(sensitive="race", reference={"race": "Z"})
    with pytest.raises(fg.SpecError, match="positive: column 'y' has no value '7'"):
        audit(sensitive="race", positive=7)
    with pytest.raises(fg.SpecError, match=r"fairgauge.above\(X\), --positive '>X'"):
        audit(sensitive="race", positive=">7")
