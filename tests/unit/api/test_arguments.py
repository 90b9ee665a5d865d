"""One vocabulary: an argument means the same in every verb, in Python and on the command line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import fairgauge as fg

ROWS: dict[str, list[Any]] = {
    "sex": ["F"] * 60 + ["M"] * 60,
    "repaid": ([1] * 30 + [0] * 30) * 2,
    "current": [1] * 20 + [0] * 40 + [1] * 35 + [0] * 25,
    "boosted": [1] * 28 + [0] * 32 + [1] * 33 + [0] * 27,
    "risk": [i / 120 for i in range(120)],
}
QUESTION = {"label": "repaid", "prediction": "current", "sensitive": "sex", "positive": 1}
RULE = "selection_rate.ratio >= 0.8"
DAYS = {  # no day is a copy of another
    f"2026-01-{day:02d}": fg.count(
        {name: column[day:] for name, column in ROWS.items()}, **QUESTION
    )  # type: ignore[arg-type]
    for day in range(1, 4)
}
MONITORED = {"monitor": {"rules": [RULE]}}

VERBS: dict[str, tuple[Any, dict[str, Any]]] = {
    "audit": (lambda **more: fg.audit(ROWS, **more), QUESTION),
    "count": (lambda **more: fg.count(ROWS, **more), QUESTION),
    "compare_models": (
        lambda **more: fg.compare_models(ROWS, **more),
        {**QUESTION, "candidate": "boosted", "margins": {"accuracy": 0.1}},
    ),
    "monitor": (lambda **more: fg.monitor(DAYS, **more), QUESTION | MONITORED),
}


def without_time(result: Any) -> Any:
    if isinstance(result, fg.Change):  # its sides say when they were made
        result = replace(result, old=replace(result.old, created=""))
    return replace(result, created="") if hasattr(result, "created") else result


@pytest.mark.parametrize("verb", VERBS)
def test_a_specification_file_is_what_its_keys_are(verb, tmp_path):
    call, asked = VERBS[verb]
    (tmp_path / "audit.json").write_text(json.dumps(asked), encoding="utf-8")
    of_file = call(config=tmp_path / "audit.json")
    assert without_time(of_file) == without_time(call(config=asked))
    if verb != "monitor":
        assert without_time(of_file) == without_time(call(**asked))


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_key_names_the_nearest(verb):
    call, asked = VERBS[verb]
    with pytest.raises(
        fg.SpecError, match=r"confidense: unknown option\. Did you mean 'confidence'"
    ):
        call(config=asked | {"confidense": 0.9})
    with pytest.raises(
        fg.SpecError, match=r"confidense: unknown option\. Did you mean 'confidence'"
    ):
        call(config=asked, confidense=0.9)


def test_models_are_compared_by_a_function_of_their_own():
    with pytest.raises(fg.SpecError, match=r"fg\.compare\(old, new\)"):
        fg.compare_models(ROWS, **QUESTION)
    with pytest.raises(fg.SpecError, match=r"belongs to several models.*fg\.compare_models\("):
        fg.audit(ROWS, **QUESTION, candidate="boosted")


def test_none_unsets_a_key_of_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({**QUESTION, "confidence": 0.9}))
    report = fg.audit(
        ROWS, config=path, prediction=None, confidence=None, score="risk", threshold=0.5
    )
    assert (report.spec["prediction"], report.spec["confidence"]) == (None, 0.95)
    assert fg.audit(ROWS, config=path).spec["confidence"] == 0.9


def test_a_rule_for_a_misspelt_group_names_the_nearest_on_one_screen() -> None:
    rule = fg.rule("selection_rate.ratio", at_least=0.8, groups=["FF"])
    text = str(fg.audit(ROWS, **QUESTION, rules=[rule]))
    assert "the nearest group is 'F'" in " ".join(text.split())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_in_the_place_of_a_path_is_named_by_its_type(library: str, tmp_path: Path) -> None:
    """Its columns are not taken for files, and its rows are not printed."""
    frame = pytest.importorskip(library).DataFrame(ROWS)
    report = fg.audit(DAYS["2026-01-01"])
    to = tmp_path / "audit.fairgauge"
    calls = {
        "not of a value of type DataFrame": lambda: fg.check(frame),
        "is a text or a pathlib.Path, not a value of type DataFrame": lambda: fg.load(frame),
        "a pathlib.Path, not a value of type DataFrame": lambda: fg.verify(frame),
        "a value of type DataFrame is no report": lambda: fg.seal(frame, DAYS["2026-01-01"], to),
        "is no cube of counts; fairgauge count makes one": lambda: fg.seal(report, frame, to),
        "not a value of type DataFrame; count the rows first: "
        "fg.count(DATA, label=..., sensitive=...)": lambda: fg.monitor({"2026-01-01": frame}),
    }
    for message, call in calls.items():
        with pytest.raises(fg.DataError) as error:
            call()
        assert str(error.value).endswith(message)
