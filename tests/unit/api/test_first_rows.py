"""What the first rows tell: fractions are a regression, repeated ids are no clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.results.scopes import Diagnostic

ROWS = 40


def table(**more: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"y": [0, 1] * (ROWS // 2), "p": [0, 1, 1, 0] * (ROWS // 4), "g": [*"ab"] * (ROWS // 2)}
        | more
    )


def warned(frame: pd.DataFrame, **more: object) -> list[Diagnostic]:
    report = fg.audit(frame, label="y", prediction="p", sensitive="g", **more)
    return [d for d in report.diagnostics if d.code is DiagnosticCode.REPEATED_ID]


@pytest.mark.parametrize("column", [
    "user_id", "id", "Patient", "session id", "customer_number", "mrn", "policy_no", "patient_nbr",
    "email", "cardholder", "Kundennummer", "user_hash", "borr_ssn", "CIF", "acct_nbr", "DNI",
    "Profile Email", "Correo electrónico", "ID Candidato", "Bewerber-ID", "E-Mail-Adresse",
    "Courriel", "Talent Profile"])  # fmt: skip
def test_an_id_that_repeats_is_told(column):
    (warning,) = warned(table(**{column: [i // 2 for i in range(ROWS)]}))
    assert (warning.level, warning.feature) == ("warning", column)
    assert (warning["distinct"], warning["rows"]) == (20, 40)
    assert f"set cluster='{column}' (--cluster)" in warning.message


def test_who_counts_is_told_as_no_audit_of_the_counts_can_be():
    rows, asked = table(user_id=[i // 2 for i in range(ROWS)]), {"label": "y", "sensitive": "g"}
    with pytest.warns(UserWarning, match="column 'user_id' has 20 distinct values in the first 40"):
        cube = fg.count(rows, **asked)
    assert not [d for d in fg.audit(cube).diagnostics if d.code is DiagnosticCode.REPEATED_ID]
    assert fg.count(rows, **asked, cluster="user_id").rows == ROWS  # without a warning


def test_people_of_many_rows_are_told_where_the_name_is_of_people():
    """Of 20 rows a person the first thousand hold 50 people; they were taken for categories."""
    many = pd.concat([table()] * 25, ignore_index=True)
    many = many.assign(x=np.random.default_rng(1).random(1_000))
    ids = [i // 20 for i in range(1_000)]
    assert [each["distinct"] for each in warned(many.assign(user_id=ids))] == [50]
    assert not warned(many.assign(branch_id=ids, recruiter_email=ids, Hausnummer=ids, Kunden=ids))
    assert not warned(many.assign(client=[i % 10 for i in range(1_000)]))
    amounts = ("Income of Applicant", "months_as_customer", "number_of_loans_customer")
    assert not warned(many.assign(**dict.fromkeys(amounts, ids), patient=[i / 3 for i in ids]))
    (of_person,) = warned(many.assign(**dict.fromkeys(amounts, ids), user_id=ids))
    assert of_person.feature == "user_id"  # of the first three


@pytest.mark.parametrize("code", [999, -1, "N/A"])
@pytest.mark.parametrize("engine", ["frame", "csv", "parquet"])
def test_the_median_is_of_the_scores_that_are_known(code, engine, tmp_path):
    """A code in a column of numbers, though listed as unknown, moved the threshold."""
    rng = np.random.default_rng(1)
    known = rng.integers(10, 90, 600)
    absent = rng.random(600) < 0.2
    scores = [code if none else int(each) for each, none in zip(known, absent, strict=True)]
    table = pl.DataFrame({"s": scores, "g": [*"ab"] * 300}, strict=False)
    if isinstance(code, str):
        table = table.with_columns(s=pl.Series([str(each) for each in scores]))
    path = tmp_path / f"rows.{engine}"
    if engine == "csv":
        table.write_csv(path)
    elif engine == "parquet":
        table.write_parquet(path)
    report = fg.audit(
        table if engine == "frame" else path,
        score="s", sensitive="g", threshold="median", score_range=(0, 100),
        recode={"s": {"unknown": [code]}},
    )  # fmt: skip
    above = known > np.median(known[~absent])
    for group, own in (("a", ~absent[::2] & above[::2]), ("b", ~absent[1::2] & above[1::2])):
        (rate,) = (e.rates["selection_rate"] for e in report.groups if e.group == group)
        assert rate.numerator == own.sum()
