"""The codec: whatever a result holds is saved, keeps to its schema and comes back as it was."""

import copy
import datetime as dt
import json
import math
import types
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.monitored_days import RATIO, asked, cube, days

import fairgauge as fg
import sample_reports
from fairgauge.enums import Outcome, ScopeKind
from fairgauge.identity import Bin, GroupId, MissingValue, ValueSet
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import render
from fairgauge.results import codec
from fairgauge.results.codec import (
    Finite,
    Inline,
    Positive,
    Share,
    from_dict,
    saved_fields,
    to_dict,
)
from fairgauge.results.comparison import Alone, GroupChange, Origin, Reclassified
from fairgauge.results.estimates import (
    DisparityChange,
    Estimate,
    Group,
    GroupPair,
    RateChange,
    RateValue,
)
from fairgauge.results.monitor_results import Alarm, Baseline, MonitorReport, PeriodRows, Point
from fairgauge.results.name_swaps import SwapVariant
from fairgauge.results.plan import Needed
from fairgauge.results.report import Report
from fairgauge.results.scopes import Bounds, ClassScope, Interval, Reference, Scope
from fairgauge.results.shown_result import Brief, ResultKind, Sentence, ShownResult, result_classes
from fairgauge.results.threshold_choice import OperatingPoint
from fairgauge.results.verdicts import Verdict
from fairgauge_check.check_result import CheckedGroup

NAMES = st.sampled_from(
    ["A", "", "A & B", "A, B", "Infinity", "-Infinity", "null", "others", "(missing)", "pooled",
     "worst", "é\u202e\x00\n", '"', "1", "class", "<b>", "=1+1"]
) | st.text(max_size=8)  # fmt: skip
NUMBERS = st.floats(allow_nan=False) | st.integers(-5, 5)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
REASONS = st.builds(
    lambda side, parameters: Reason(
        ReasonCode.FEW_ROWS, side, tuple(sorted({"n": 3, "minimum": 20, **parameters}.items()))
    ),
    st.sampled_from([None, "group", "reference"]),
    st.dictionaries(st.sampled_from(["limit", "low", "high"]), NUMBERS)
    | st.dictionaries(st.sampled_from(["name", "nearest", "group"]), NAMES),
)
PARTS = (
    st.builds(lambda values: ValueSet(tuple(values)), st.lists(NAMES, min_size=1, max_size=2))
    | st.builds(Bin, NUMBERS.map(float), NUMBERS.map(float))
    | st.just(MissingValue())
)
OF_TYPE = {
    Reason: REASONS,
    Scope: st.builds(lambda name: Scope(ScopeKind.STRATUM, name), NAMES) | st.just(Scope()),
    ClassScope: st.builds(lambda name: ClassScope("class", name), NAMES)
    | st.just(ClassScope())
    | st.sampled_from([ClassScope("average", None, "macro"), ClassScope("worst", "x")]),
    Reference: st.builds(lambda name: Reference("group", name), NAMES)
    | st.sampled_from([Reference("others"), Reference("overall")]),
    Interval: st.builds(Interval, NUMBERS, NUMBERS, st.floats(0, 1), st.just(("wilson", "mover"))),
    GroupId: st.builds(lambda parts: GroupId.of(*parts), st.lists(PARTS, min_size=1, max_size=3)),
    Verdict: st.builds(
        # the sentence of a verdict reads the limits of its rule
        Verdict, rule=st.sampled_from(["DI >= 0.8", "0.8 <= DI <= 1.25"]), metric=NAMES,
        feature=NAMES | st.none(), group=NAMES | st.none(), value=NUMBERS | st.none(),
        outcome=st.sampled_from(Outcome),
        reason=st.just(Reason.of(ReasonCode.NO_INTERVAL))),
}  # fmt: skip
CLASSES = (
    Alarm, Alone, Baseline, Bounds, CheckedGroup, DisparityChange, Estimate, Group,
    GroupChange, GroupPair, Needed, OperatingPoint, Origin, PeriodRows, Point,
    RateChange, RateValue, Reclassified, SwapVariant,
)  # fmt: skip


def values_of(hint):
    """Return a strategy for the values of a field's type."""
    marks = getattr(hint, "__metadata__", ())
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    origin, inner = get_origin(bare), get_args(bare)
    if hint == codec.Moment:
        return st.datetimes().map(dt.datetime.isoformat)
    if hint in (codec.Word, codec.Version):
        return st.from_regex(r"[0-9a-z.+-]{1,9}", fullmatch=True)
    if marks and bare is float:
        return st.floats(0, 1) if hint == Share else FINITE
    if origin in (Union, types.UnionType):
        return st.one_of(*(st.none() if kind is type(None) else values_of(kind) for kind in inner))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, inner))
    if origin is not None:  # a mapping
        keys = next((mark for mark in marks if isinstance(mark, tuple)), None)
        if keys:
            return st.fixed_dictionaries(dict.fromkeys(keys, values_of(inner[1])))
        return st.dictionaries(*map(values_of, inner), max_size=2)
    if bare in OF_TYPE:
        return OF_TYPE[bare]
    if isinstance(bare, type) and issubclass(bare, str) and bare is not str:
        return st.sampled_from(bare)
    simple = {str: NAMES, bool: st.booleans(), int: st.integers(0, 9), float: NUMBERS}
    return simple[bare] if bare in simple else made(bare)


def made(kind):
    """Return a strategy for the values of a dataclass, each field by its type."""
    hints = get_type_hints(kind, include_extras=True)
    by_field = {each.name: values_of(hints[each.name]) for each in saved_fields(kind)}
    if kind is GroupPair:  # its sentence needs a rate that is known
        by_field["rate"] = st.just("accuracy")
    return st.builds(kind, **by_field)


@pytest.mark.parametrize("kind", CLASSES)
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_class_holds_comes_back_from_strict_json_that_keeps_to_its_schema(kind, data):
    value = data.draw(made(kind))
    written = json.loads(json.dumps(to_dict(value), allow_nan=False))
    jsonschema.Draft202012Validator(codec.json_schema(kind, "")).validate(written)
    assert from_dict(kind, written) == value


def test_a_text_infinity_is_a_name_where_names_stand():
    for reason in (Reason.of(ReasonCode.NO_ESTIMATE, what="group", name="Infinity"),
                   Reason.of(ReasonCode.ABOVE, limit=math.inf)):  # fmt: skip
        verdict = Verdict(rule="r", metric="DI", feature="f", group="Infinity",
                          outcome=Outcome.NONE, reason=reason)  # fmt: skip
        again = from_dict(Verdict, json.loads(json.dumps(to_dict(verdict))))
        assert again == verdict


def test_files_have_the_keys_of_all_fields():
    estimate = Estimate(metric="DI", set="clarify", feature="f", group="g", reference=None)
    written = to_dict(estimate)
    del written["p_adjusted"]
    with pytest.raises(KeyError, match="p_adjusted"):
        from_dict(Estimate, written)


@pytest.mark.parametrize("kind", sorted({each.KIND.name for each in result_classes().values()}))
def test_every_schema_is_a_schema_with_all_that_it_refers_to(kind):
    (result,) = {each for each in result_classes().values() if each.KIND.name == kind}
    schema = result.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["required"]) == set(schema["properties"]) >= {"schema", "tool"}
    text = json.dumps(schema)
    assert all(f'"#/$defs/{name}"' in text for name in schema["$defs"])


# ---- a new kind of result is a class and the function that makes its page -----------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(ShownResult):
    """A kind of result that only this test has."""

    KIND: ClassVar = ResultKind(
        name="drift", schema="fairgauge.drift/2", title="Drift", called="a drift of fairgauge",
        brief=f"{__name__}:drift_brief",
    )  # fmt: skip
    DERIVED: ClassVar = ("widest",)

    feature: str
    interval: Inline[Interval | None] = None
    shares: tuple[Share, ...] = ()
    since: Finite | None = None

    @property
    def widest(self) -> Share | None:
        """Return the largest share."""
        return max(self.shares, default=None)


def drift_brief(drift):
    """Return the first page of a drift."""
    text = Sentence(f"The share of {drift.feature} is {drift.widest}")
    return Brief(
        headline=text, verdict=(), looked_at=(), found=(), certainty=(), limits=(), steps=()
    )


def test_a_new_kind_of_result_is_one_class_and_one_function_for_its_page(tmp_path):
    drift = Drift(
        version="1", created="2026-11-30", feature="<b>", interval=Interval(-math.inf, 1, 0.9),
        shares=(0.5,),
    )  # fmt: skip
    for suffix in ("json", "txt", "md", "html"):
        drift.save(tmp_path / f"drift.{suffix}")
    written = json.loads((tmp_path / "drift.json").read_text())
    assert written["low"] == "-Infinity"
    assert written["widest"] == 0.5
    jsonschema.Draft202012Validator(Drift.json_schema()).validate(written)
    assert fg.load(tmp_path / "drift.json") == drift
    assert "The share of <b> is 0.5" in render(drift, "text")
    assert "The share of <b> is 0.5" in str(drift)
    assert "&lt;b&gt;" in (tmp_path / "drift.html").read_text()
    with pytest.raises(fg.DataError, match="a drift of fairgauge has no table"):
        render(drift, "csv")


SAMPLES = {
    name: getattr(sample_reports, name)
    for name in ("small", "several", "berkeley", "crossed", "hostile")
}


def errors(schema, written):
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(written)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_keep_to_their_schema(name):
    assert errors(Report.json_schema(), json.loads(SAMPLES[name]().to_json())) == []


@pytest.mark.parametrize("counts", ["alarm", {}, {"2026-01-01": cube(0, of=0)}, days(2, 9, 0.4)])
def test_monitors_keep_to_their_schema_and_are_shown_in_every_format(counts, tmp_path, shifted):
    rules = [RATIO, "selection_rate >= 0.1"]
    if counts == "alarm":
        cube(500, of=1_000, others=1_000, size=2_000).save(tmp_path / "b.cube.json")
        near = {"metric": "selection_rate.difference", "within": 0.05}
        rules = [RATIO | {"groups": ["F", "f"]}, near | {"of": str(tmp_path / "b.cube.json")},
                 "balanced_accuracy.difference >= -0.5"]  # fmt: skip
    report = fg.monitor(shifted if counts == "alarm" else counts, asked(*rules))
    assert bool(report.alarms and report.unmatched) is (counts == "alarm")
    assert errors(MonitorReport.json_schema(), json.loads(report.to_json())) == []
    assert report.to_json() == report.to_json()
    for name in ("text", "html", "markdown", "csv", "junit", "openmetrics"):
        assert render(report, name)


def test_a_word_outside_the_enums_and_a_missing_key_are_errors():
    written = next(iter(SAMPLES.values()))().to_dict()
    wrong = copy.deepcopy(written)
    wrong["estimates"][0]["scope"] = "margin"
    assert any("margin" in error for error in errors(Report.json_schema(), wrong))
    del written["estimates"][0]["scope"]
    assert any("'scope' is a required" in error for error in errors(Report.json_schema(), written))


@pytest.mark.parametrize(("of", "wrong"), [
    (int, 0.5), (int, True), (int, "Infinity"), (int, -1), (int, 2**63), (int, None), (int, "5"),
    (float, "5"), (float, math.inf), (float, 10**400), (float, False), (Finite, "Infinity"),
    (Share, 1.5), (Positive, 0), (Positive | None, -1),
])  # fmt: skip
def test_a_number_is_read_within_its_range_and_refused_with_its_place(of, wrong):
    @dataclass
    class Held:
        n: of  # type: ignore[valid-type]

    @dataclass
    class Holds:
        held: tuple[Held, ...]

    Held.__annotations__, Holds.__annotations__ = {"n": of}, {"held": tuple[Held, ...]}
    assert from_dict(Holds, {"held": [{"n": 1}]}) == Holds((Held(1),))
    with pytest.raises(ValueError, match=r"held: n: .* is no "):
        from_dict(Holds, {"held": [{"n": wrong}]})
