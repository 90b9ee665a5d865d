"""A pass is withheld where the reference, which nothing judges, would fail the rule."""

from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome


def counts_of(rates: dict[str, float], n: int = 20_000) -> fg.Cube:
    return selected({name: (round(n * rate), n) for name, rate in rates.items()})


def turned(report: fg.Report) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (note["rule"], note["group"]): note["references"]
        for note in report.diagnostics
        if note.code is DiagnosticCode.REFERENCE_DECIDES
    }


def test_of_two_groups_a_reference_that_fails_itself_is_named() -> None:
    """The group that fares worse, named as the reference, passed without a warning."""
    rates = {"F": 0.3, "M": 0.5}
    asked = {"reference": {"g": "F"}, "rules": ["DI >= 0.8"]}
    report = fg.audit(counts_of(rates), **asked)
    assert report.verdict is Outcome.INCONCLUSIVE
    assert fg.audit(counts_of(rates), **asked, accept="reference_decides").verdict is Outcome.PASS
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message.startswith(
        "the rule DI >= 0.8 holds for 'M', compared with 'F'; compared with 'M' "
        "instead, 'F' would fail: check that what is favourable is stated the right way round "
        "(--favourable); if it is, name another reference (--reference), or recode rows of 'F' "
    )
    for reference in ({"g": "M"}, "best"):  # fails, as it should
        assert not turned(fg.audit(counts_of(rates), reference=reference, rules=["DI >= 0.8"]))


def test_a_named_set_that_passes_is_warned_of_where_all_others_would_fail() -> None:
    """The others had 0.6 of its rate: a pass, as two sets of all values fail."""
    counts = counts_of({"a": 0.5, "b": 0.3, "c": 0.5, "d": 0.3})
    one, other = {"g": [["a", "c"]]}, {"g": [["b", "d"]]}
    report = fg.audit(counts, sensitive=one, rules=["DI >= 0.8"])
    assert report.verdict is Outcome.INCONCLUSIVE
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message == (
        "the rule DI >= 0.8 holds for 'a, c', compared with all others; these, "
        "compared with 'a, c', would fail: check that what is favourable is stated the right way "
        "round (--favourable); if it is, judge them too: name their values as a further "
        "set (--sensitive g=V1,V2); if it is meant, accept it (--accept reference_decides:g)"
    )
    for sensitive in (other, {"g": [["a", "c"], ["b", "d"]]}):
        failed = fg.audit(counts, sensitive=sensitive, rules=["DI >= 0.8"])
        assert failed.verdict is Outcome.FAIL
        assert not turned(failed)
    assert not turned(fg.audit(counts, sensitive=one, rules=["DI >= 0.5"]))
