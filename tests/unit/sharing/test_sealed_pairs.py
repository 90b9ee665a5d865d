"""Audits by swapped names and comparisons of models, sealed with their counts."""

import json

import pytest

import every_result
import fairgauge as fg
from swapped_names import ASKED, study


def sealed(audit, counts, folder):
    fg.seal(audit, counts, folder / "pairs.fairgauge")
    return fg.verify(folder / "pairs.fairgauge")


@pytest.mark.parametrize("rows", [True, False])
def test_every_value_follows_from_the_counts(rows, tmp_path):
    table = study((4, 5), 8, 2, delta=-0.3, placebos=4)
    counts = fg.count(table, **ASKED)
    asked = {"reference": {"group": "White"}, "placebo": "edit", "margins": {"score": 0.4}}
    audit = fg.pairs(table, **ASKED, **asked) if rows else fg.pairs(counts, **asked)
    found = sealed(audit, counts, tmp_path)
    assert found.finding == "reproduced"
    assert found.beside == ("placebo", "reference", "margins")
    assert found.report.differences == audit.differences
    assert str(found).startswith("REPRODUCED")


@pytest.mark.parametrize("field", ["value", "low", "p_adjusted", "verdict"])
def test_a_changed_value_is_refused_and_other_counts_are(field, tmp_path):
    table = study((4, 4), 8, 2)
    counts = fg.count(table, **ASKED)
    plain = fg.pairs(table, **ASKED).to_dict()
    before = plain["differences"][0][field]
    changed = {"verdict": "differs"}.get(field)
    plain["differences"][0][field] = before + 0.01 if changed is None else changed
    assert plain["differences"][0][field] != before
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(fg.DataError, match="does not follow from the counts"):
        fg.seal(path, counts, tmp_path / "pairs.fairgauge")
    others = fg.count(study((4, 4), 8, 2, seed=5), **ASKED)
    with pytest.raises(fg.DataError, match="was not made of these counts"):
        fg.seal(fg.pairs(table, **ASKED), others, tmp_path / "pairs.fairgauge")
    assert not (tmp_path / "pairs.fairgauge").exists()


@pytest.mark.parametrize("margins", [{}, {"accuracy": 0.01, "disparity": 0.05}])
def test_a_comparison_of_models_is_sealed_with_its_source_and_rows(margins, tmp_path):
    table, question = every_result.two_models()
    table.write_csv(tmp_path / "models.csv")
    compared = fg.compare_models(tmp_path / "models.csv", **question, margins=margins)
    compared.save(path := tmp_path / "models.fairgauge")
    found = fg.verify(path)
    assert found.finding == "reproduced"
    assert found.report.changes == compared.changes
    assert (found.report.data.source, found.report.data.rows) == (
        str(tmp_path / "models.csv"),
        5000,
    )
    plain = compared.to_dict()
    plain["candidates"][0]["disparities"][0]["new"] += 0.01
    (changed := tmp_path / "changed.json").write_text(json.dumps(plain))
    counts = fg.count(table, **question)
    with pytest.raises(fg.DataError, match="does not follow from the counts"):
        fg.seal(changed, counts, tmp_path / "changed.fairgauge")
    with pytest.raises(fg.DataError, match="holds no counts"):
        fg.compare(*[every_result.of_loans()] * 2).save(tmp_path / "reports.fairgauge")


@pytest.mark.parametrize("more", [
    {}, {"retrained": True}, {"retrained": True, "looks": [1, 2]},
    {"disparity": "FPR", "harm": 0.1},
    {"retrained": True, "fixed_number": True, "margins": {"recall": 0.02}},
])  # fmt: skip
def test_a_search_for_alternatives_is_sealed_with_its_counts(more, tmp_path):
    table, question = every_result.two_models()
    question = {key: value for key, value in question.items() if key != "metrics"}
    found = fg.alternatives(table, **question, **more)
    found.save(path := tmp_path / "search.fairgauge")
    assert fg.verify(path).finding == "reproduced"
    plain = found.to_dict()
    plain["candidates"][0]["gaps"][0]["shown"] ^= True
    (changed := tmp_path / "changed.json").write_text(json.dumps(plain))
    with pytest.raises(fg.DataError, match="does not follow from the counts"):
        fg.seal(changed, fg.count(table, **question), tmp_path / "changed.fairgauge")
    other = table.head(4_000)
    chosen = fg.alternatives(table, **question, chosen_on=other)
    with pytest.raises(fg.DataError, match="chosen on other rows"):
        chosen.save(tmp_path / "chosen.fairgauge")
