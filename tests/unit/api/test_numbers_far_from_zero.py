"""Numbers far from 0: what is added to all of them changes no interval of a difference."""

import duckdb
import numpy as np
import polars as pl
import pytest

import fairgauge as fg

ASKED = {"label": "y", "sensitive": "sex", "task": "regression", "reference": {"sex": "M"}}
METRICS = ("mean_label.difference", "mean_prediction.difference", "r2.difference")


def rows(shift: float, n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    y = rng.gamma(3.0, 0.6, n)
    return pl.DataFrame({
        "sex": np.where(np.arange(n) % 3 == 0, "F", "M"), "y": y + shift,
        "p": y + rng.normal(0, 0.7, n) + shift, "s": rng.integers(0, 4, n).astype(str),
        "x": rng.normal(0, 1, n).round(3), "w": rng.uniform(1, 3, n), "c": np.arange(n) // 4,
    })  # fmt: skip


def moved(found) -> dict[str, tuple[float, ...]]:
    """Return value, limits and p-value of what adding a number to all of them leaves alone."""
    return {
        f"{each.metric} {each.group}": (each.value, *each.interval, each.p_value or 0.0)
        for each in found.estimates
        if each.interval is not None and each.reference is not None
    }


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "c"}, {"strata": "s"}])
def test_an_audit_is_the_same_wherever_the_numbers_are(more):
    first, *others = (
        moved(fg.audit(rows(shift), prediction="p", metrics=METRICS, **ASKED, **more))
        for shift in (9.0, 1e5, 1e8)  # none of the numbers is below 0
    )
    assert len(first) >= 3
    for other in others:
        assert first.keys() == other.keys()
        for key, numbers in first.items():
            assert other[key] == pytest.approx(numbers, rel=2e-5, abs=1e-6), key


def test_every_engine_and_the_sum_of_parts_have_the_same(tmp_path):
    """Parts may have other centres, or none."""
    data = pl.concat([rows(1e8), rows(1e8 + 40, 300), rows(9e7, 90)])
    asked = {"metrics": METRICS, "prediction": "p", **ASKED}
    whole = moved(fg.audit(data, **asked))
    data.write_parquet(tmp_path / "rows.parquet")
    data.write_csv(tmp_path / "rows.csv")
    sources = [data.to_pandas(), data.to_arrow(), data.lazy(), tmp_path / "rows.parquet",
               tmp_path / "rows.csv", duckdb.sql("FROM data")]  # fmt: skip
    for source in sources:
        for key, numbers in moved(fg.audit(source, **asked)).items():
            assert whole[key] == pytest.approx(numbers, rel=1e-6), (type(source), key)
    one, two, three = (fg.count(each, **asked) for each in (data[:600], data[600:900], data[900:]))
    near = fg.count(rows(0.0), **asked)
    for parts, expected in (
        ([one, two, three], whole), ([three, two, one], whole),
        ([one, near], moved(fg.audit(pl.concat([data[:600], rows(0.0)]), **asked))),
    ):  # fmt: skip
        path = tmp_path / "sum.cube.json"
        sum(parts[1:], start=parts[0]).save(path)
        for key, numbers in moved(fg.audit(fg.load(path))).items():
            width = numbers[2] - numbers[1]
            assert expected[key] == pytest.approx(numbers, abs=1e-6 * width + 1e-9), key


def parts_of(found, shift) -> list[float]:
    (gap,) = found.gaps
    numbers = [end for part in gap.parts for end in (part.value, *(part.interval or ()))]
    numbers += [gap.adjusted.value, *gap.adjusted.interval, gap.adjusted.p_value or 0.0]
    for stratum in gap.strata:
        numbers += [stratum.rate_group - shift, stratum.difference, *(stratum.interval or ())]
    return numbers


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "c"}])
def test_a_decomposition_is_the_same_wherever_the_numbers_are(more):
    asked = {**ASKED, "strata": ["s", fg.cut("x", [-1, 0, 1])], **more}
    first = parts_of(fg.why(rows(0.0), **asked), 0.0)
    for shift in (1e5, 1e8):
        assert parts_of(fg.why(rows(shift), **asked), shift) == pytest.approx(
            first, rel=1e-5, abs=1e-6
        )


# ---- what rows show before they are counted: the median score
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
