"""The columns of probabilities that common programs write."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.question.probabilities import parse_probabilities
from fairgauge.question.probability_formats import _FORMATS, recognised


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
