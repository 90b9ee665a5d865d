"""The first page of a choice of thresholds, as statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairgauge.catalogue.directions import compared_number, is_reference_first
from fairgauge.enums import Better, DiagnosticCode, Outcome, Status
from fairgauge.question.options import flags_of
from fairgauge.question.rules import parse_rule
from fairgauge.reasons import Reason
from fairgauge.results.estimates import DisparityChange, RateChange, other_group
from fairgauge.results.statement import By, Harm, Page, Range, Statement, fact
from fairgauge.results.threshold_choice import FeatureThresholds, ThresholdChoice, ThresholdEffect
from fairgauge.results.verdicts import GRAVEST_FIRST, gravest
from fairgauge.start.records import replace
from fairgauge.statements.compared import PageStatements, excluded_rows, step, swap_sides

_MOST_FEATURES = 3
# by how much a rate of wrong decisions grows strongly: by as many of 100 as the usual margin.
_STRONGLY = 0.05


def thresholds_page(choice: ThresholdChoice) -> Page:
    """Return the first page of a choice of thresholds, of the worst feature in detail."""
    return _Thresholds(choice).page()


def group_rates(choice: ThresholdChoice) -> list[Statement]:
    """Return how often it happens to each group of that feature, today and at the choice."""
    made = _Thresholds(choice)
    rates = () if made.effect is None else made.effect.rates
    own = (e for e in rates if e.rate == made.row.name and e.feature and e.status is Status.OK)
    return [made.rate_change(each) for each in own]


def grown_error(choice: ThresholdChoice, effect: ThresholdEffect) -> RateChange | None:
    """Return the rate by which wrong decisions of one kind grow strongly, by its whole interval."""
    grown = []
    for each in effect.rates if effect.threshold != choice.today else ():
        if each.feature is None and "label" in each.definition.needs and each.interval is not None:
            lower = each.definition.better is Better.LOWER
            grown.append((each.interval.low if lower else -each.interval.high, each))
    least, rate = max(grown, key=lambda one: one[0], default=(0.0, None))
    return rate if least > _STRONGLY else None


class _Thresholds(PageStatements):
    kind = "thresholds"

    def __init__(self, choice: ThresholdChoice) -> None:
        today = [e.threshold for e in choice.features[0].frontier].index(choice.today)
        self.of = min(choice.features, key=lambda each: (
            each.common is None,  # those that can be judged first
            *(GRAVEST_FIRST.index(e.outcome) for e in (each, each.frontier[today]))))  # fmt: skip
        super().__init__(choice, [(self.of.feature, group) for group in self.of.groups])
        self.choice, self.effect = choice, self.of.common
        self.goal = parse_rule(choice.goal)
        definition = self.goal.definition
        assert definition is not None  # no choice is made of another
        self.definition: Any = definition
        self.by: By = getattr(self.goal.row, "by", "difference")
        self.row: Any = compared_number(definition) or definition
        self.place = f"features[{choice.features.index(self.of)}]"
        self.asked = {"title": choice.kept_rate.title, "kept": choice.kept, "margin": choice.margin,
            "share": choice.kept_rate.is_share, "today": choice.today, "goal": choice.goal,
            "several": len(choice.features) > 1, "others": len(self.of.frontier) - 1,
            "wrong": (1 - choice.confidence) / 2}  # fmt: skip

    def facts(self, of: FeatureThresholds) -> dict[str, Any]:
        effect = of.common
        notes = (e for e in self.choice.diagnostics if e.code is DiagnosticCode.ONE_GROUP)
        alone = any(note.feature == of.feature for note in notes)
        found = {**self.asked, "feature": of.feature, "outcome": str(of.outcome), "alone": alone}
        if effect is None:
            enough = {Outcome.PASS, Outcome.INCONCLUSIVE}
            found["missed"] = [each.feature for each in self.choice.features
                if enough.isdisjoint(point.outcome for point in each.frontier)]  # fmt: skip
            every = zip(*(each.frontier for each in self.choice.features), strict=True)
            met = [at[0] for at in every if gravest(e.outcome for e in at) is Outcome.PASS]
            near = min(met, key=lambda e: abs(e.threshold - self.choice.today), default=None)
            today = self.nearest(self.choice.today)
            if near is not None and None not in (near.performance, today.performance):
                kept = {"kept": near.performance, "today": today.performance}
                found["meets"] = {"cut": near.threshold, **kept}
            return found
        lower = effect.performance.definition.better is Better.LOWER
        ends = effect.performance.interval
        reasons = ("goal", effect.goal_reason), ("kept", effect.kept_reason)
        insufficient: dict[Reason, list[str | None]] = {}
        for each in effect.disparities:
            if each.status is Status.TOO_FEW and each.reason is not None:
                insufficient.setdefault(each.reason, []).append(each.group)
        goal, kept_ = effect.goal_outcome, effect.kept_outcome
        return found | {
            "cut": effect.threshold, "moves": effect.threshold != self.choice.today,
            "goal_outcome": str(goal), "kept_outcome": str(kept_),
            "goal_alone": str(_outcome_by_value(goal, effect.goal_reason)),
            "kept_alone": str(_outcome_by_value(kept_, effect.kept_reason)),
            "lost": ends is not None and (ends.low > 0 if lower else ends.high < 0),
            "lower": lower,
            "open": [(what, reason) for what, reason in reasons if reason is not None],
            "insufficient": list(insufficient.items()),
        }  # fmt: skip

    def rates(self, effect: ThresholdEffect, feature: str) -> dict[str | None, RateChange]:
        own = (each for each in effect.rates if each.rate == self.row.name)
        return {each.group: each for each in own if each.feature == feature}

    def statements(self) -> Iterator[Statement]:
        choice, effect, facts = self.choice, self.effect, self.facts(self.of)
        grown = None if effect is None else grown_error(choice, effect)
        source = (f"{self.place}.common",)
        code = "no_threshold" if effect is None else "threshold"
        said = "outcome", "cut", "goal_outcome", "kept_outcome", "lost"
        alike = [held["feature"] for held in map(self.facts, choice.features)
            if all(held.get(key) == facts.get(key) for key in said)]  # fmt: skip
        yield Statement(code=code, verdict=str(self.of.outcome), facts=facts | {"alike": alike},
            parts=() if grown is None else (self.rate_change(grown),), sources=source)  # fmt: skip
        proposed = any(each.common is not None for each in choice.features)
        for each in choice.features[:_MOST_FEATURES] if proposed else [self.of]:
            source = (f"features[{choice.features.index(each)}].common",)
            code = "none_proposed" if each.common is None else "measured"
            yield fact(code, *source, **self.facts(each), elsewhere=proposed)
        if grown is not None:
            yield replace(self.rate_change(grown), code="grown_error")
        limits = {"limits": (self.goal.low, self.goal.high), "text": choice.goal, "others": False}
        of = self.measure(self.row)
        yield Statement(code="threshold_question",
            parts=(Statement(code="asked", of=of, by=self.by, facts=limits),), facts={**self.asked,
                "features": [each.feature for each in choice.features], "score": choice.score,
                "accepts": str(choice.accepts), "event": self.event("decision", True)},
            sources=("goal", "kept", "margin", "today"))  # fmt: skip
        excluded = tuple(excluded_rows(choice.diagnostics))
        facts_of_rows = {"n": choice.data.rows, "excluded": bool(excluded), **self.asked}
        yield Statement(code="candidates", facts=facts_of_rows, sources=("data.rows",))
        yield from (*excluded, *self.counted_values())
        yield from self.found()
        if effect is not None:
            yield fact("threshold_chosen", f"{self.place}.common", **facts)
        yield from self.certainty()
        yield from (step("what_becomes"), step("unfair"), step("elsewhere"))
        yield from self.steps(facts)

    def found(self) -> Iterator[Statement]:
        effect, today = self.effect, self.point(self.choice.today)
        yield replace(today, code="today" if today.code == "then" else today.code)
        if effect is None:
            return
        groups = [each.group for each in effect.disparities]
        point = self.nearest(self.choice.today)
        named = [self.side(self.of.feature, group).values for group in groups]
        worse = today.who.values if today.who is not None else None
        if worse in named or point.group in groups:
            i = named.index(worse) if worse in named else groups.index(point.group)
            yield self.changed(effect, i)
        yield self.rate_change(effect.performance)
        grown = grown_error(self.choice, effect)
        for each in effect.rates:
            if each.feature is None and each.rate != effect.performance.rate and each is not grown:
                yield self.rate_change(each)

    def certainty(self) -> Iterator[Statement]:
        cuts = [self.choice.today, *([] if self.effect is None else [self.effect.threshold])]
        points = [self.point(cut) for cut in dict.fromkeys(cuts)]
        yield from points
        for stated in [point for point in points if point.interval][:1]:
            yield Statement(code="interval", interval=stated.interval, sources=stated.sources)

    def nearest(self, threshold: float) -> Any:
        return min(self.of.frontier, key=lambda each: abs(each.threshold - threshold))

    def point(self, threshold: float) -> Statement:
        point = self.nearest(threshold)
        one = DisparityChange(metric=self.definition.name, definition=self.definition,
            feature=self.of.feature, group=point.group, reference=point.reference,
            new=point.disparity)  # fmt: skip
        facts = {"threshold": point.threshold, "metric": self.definition.title}
        who, than = self.side(self.of.feature, point.group), self.reference(one)
        source = (f"{self.place}.frontier",)
        if point.outcome is Outcome.NOT_EVALUATED:
            facts = {**facts, **self.facts(self.of)}
            return Statement(code="point_insufficient", who=who, facts=facts, sources=source)
        if is_reference_first(self.definition):
            who, than = than, who
        ends, neutral = point.disparity_interval, self.definition.neutral
        far = (neutral if point.disparity is None else point.disparity) - neutral
        harmed = self.adverse(self.row, one.class_scope) * far
        harm: Harm | None = None if harmed == 0 else "worse" if harmed > 0 else "better"
        found = Statement(code="then", who=who, than=than, of=self.measure(self.row), by=self.by,
            shown=ends is not None and neutral not in ends, harm=harm, interval=Range.of(ends),
            way=(far > 0) - (far < 0), verdict=str(point.outcome), facts=facts, sources=source,
        )  # fmt: skip
        if harm == "better" and other_group(self.named, one) is not None:
            found = swap_sides(found)
        return replace(found, value=point.disparity)

    def changed(self, effect: ThresholdEffect, i: int) -> Statement:
        one = effect.disparities[i]
        other = other_group(self.named, one)
        rates = self.rates(effect, self.of.feature)
        held = (rates.get(one.group), rates.get(other))
        mine, theirs = (rate and self.both(rate) for rate in held)
        who, than = self.side(self.of.feature, one.group), self.reference(one)
        known = mine is not None and theirs is not None
        return Statement(code="disparity_change",
            who=replace(who, **mine[1]) if mine and known else who,
            than=replace(than, **theirs[1]) if theirs and known else than,
            was=(replace(who, **mine[0]), replace(than, **theirs[0])) if mine and theirs else None,
            of=self.measure(self.row), by=self.by, value=one.new,
            facts=self.times() | _values(one),
            sources=(f"{self.place}.common.disparities[{i}]",))  # fmt: skip

    def rate_change(self, one: RateChange) -> Statement:
        made = self.shifted(one, "rate_change", sources=(f"{self.place}.common.rates",),
            facts=self.times() | _values(one))  # fmt: skip
        return made if self.both(one) else replace(made, was=None)

    def times(self) -> dict[str, object]:
        assert self.effect is not None
        cuts = {"old": self.choice.today, "new": self.effect.threshold}
        named = {name: {"at": "at", "value": cut} for name, cut in cuts.items()}
        return {"moves": cuts["new"] != cuts["old"], **named}

    def steps(self, facts: Mapping[str, Any]) -> Iterator[Statement]:
        effect = self.effect
        if effect is None:
            if self.of.outcome is Outcome.FAIL:
                yield step("accept_or_change", **facts)
                return
            yield step("wait_or_accept", **facts)
            return
        if effect.outcome is Outcome.PASS:
            if facts["moves"]:
                asked = {**self.choice.spec, "threshold": [facts["cut"]]}
                flags = flags_of({**asked, "margins": {}, "words": {}})
                yield step("audit_new_rows", **facts, flags=flags)
            yield step("follow")
        # of rows, not of a reference
        elif any(reason.get("alone") for _, reason in facts["open"]):
            yield step("complete_values", **facts)


def _values(one: RateChange | DisparityChange) -> dict[str, object]:
    return {"metric": one.definition.title, "old_value": one.old, "new_value": one.new}


def _outcome_by_value(outcome: Outcome, reason: Reason | None) -> Outcome:
    # only passes are withheld because of their reference
    return outcome if reason is None else Outcome(reason.get("alone") or Outcome.PASS)
