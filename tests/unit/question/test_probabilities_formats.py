"""The columns of probabilities that common programs write."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.question.probabilities import _FORMATS, parse_probabilities, recognised


@pytest.mark.parametrize("program", _FORMATS)
def test_every_format_is_recognised_by_all_of_its_columns(program):
    columns = list(_FORMATS[program].values())
    assert recognised(["id", *columns]) == (program, dict(_FORMATS[program]))
    assert recognised(columns[1:]) is None


@pytest.mark.parametrize("program", _FORMATS)
def test_an_error_proposes_what_can_be_audited(program):
    by_group = _FORMATS[program]
    p = np.random.default_rng(0).dirichlet(np.full(len(by_group), 0.3), 400)
    data = pl.DataFrame(dict(zip(by_group.values(), p.T, strict=True)))
    data = data.with_columns(chosen=pl.Series([0, 1] * 200))
    asked = {"prediction": "chosen", "positive": 1}
    with pytest.raises(fg.SpecError, match="writes; to audit groups from") as error:
        fg.audit(data, sensitive="race", **asked)
    text = str(error.value).split("--probabilities '")[1].split("'")[0]
    made = parse_probabilities([text], "", [])
    report = fg.audit(data, probabilities=made, **asked)
    assert {each.group for each in report.estimates} == set(by_group)


@pytest.mark.parametrize(("digits", "tolerance"), [(8, None), (4, 1e-3), (3, 5e-3)])
def test_probabilities_as_programs_print_them_are_counted(digits, tolerance, tmp_path):
    """The CFPB prints eight decimals, whose sums are .99999998 to 1.00000002; others print fewer.

    The estimates are those of exact probabilities, as far as rounding goes.
    """
    by_group = _FORMATS["the CFPB's BISG script"]
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.6, 0.2, 0.3, 0.1, 0.05, 0.05], 3_000)
    exact = pl.DataFrame(dict(zip(by_group.values(), p.T, strict=True)))
    exact = exact.with_columns(chosen=pl.Series(rng.integers(0, 2, 3_000)))
    printed = tmp_path / "printed.csv"
    exact.with_columns(pl.col(list(by_group.values())).round(digits)).write_csv(printed)
    asked = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}
    if tolerance:
        with pytest.raises(fg.SpecError, match="rounded in print set tolerance"):
            fg.audit(printed, sensitive={"race": fg.probabilities(by_group)}, **asked)
    more = {"tolerance": tolerance} if tolerance else {}
    race = fg.probabilities(by_group, **more)
    report = fg.audit(printed, sensitive={"race": race}, **asked)
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert 0 < note["rows"] < 3_000
    of_exact = fg.audit(exact, sensitive={"race": race}, **asked)
    values = [
        [e.value for e in each.estimates if e.value is not None] for each in (report, of_exact)
    ]
    assert values[0] == pytest.approx(values[1], abs=20 * 10.0**-digits)
