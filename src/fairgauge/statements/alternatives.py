"""The first page of a search for less discriminatory alternatives, as statements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from fairgauge.catalogue import directions
from fairgauge.enums import Performance
from fairgauge.results.alternatives import Alternatives, GapChange
from fairgauge.results.estimates import EVERYONE, DisparityChange, RateChange
from fairgauge.results.statement import By, Page, Range, Statement, fact
from fairgauge.start.records import replace
from fairgauge.statements.compared import PageStatements, excluded_rows, step

_MOST_NAMED, _MOST_GAPS = 5, 4
# a p-value of the records from which the order of training is taken to matter
_ORDER_MATTERS = 0.05


def alternatives_page(result: Alternatives) -> Page:
    """Return the first page, of the candidate to name first, or of the nearest, in detail."""
    return _Alternatives(result).page()


class _Alternatives(PageStatements):
    kind = "alternatives"

    def __init__(self, result: Alternatives) -> None:
        groups = {(r.feature, r.group) for one in result.candidates for r in one.rates}
        super().__init__(result, sorted(groups, key=str), decided_twice=True)
        self.found = result
        self.row: Any = directions.compared_number(result.metric)
        every = result.candidates
        nearest = max(every, key=lambda one: (
            one.withheld_because is not None, one.is_as_good, result.reduction(one)))  # fmt: skip
        self.one = nearest if result.best is None else result[result.best]
        self.place = f"candidates[{result.candidates.index(self.one)}]"
        self.by: By = "ratio" if directions.is_ratio(result.metric) else "difference"

    def statements(self) -> Iterator[Statement]:
        found, one = self.found, self.one
        shown = [each.name for each in found.candidates if each.shown_for]
        facts = {
            "n": len(found.candidates), "shown": shown, "most": _MOST_NAMED, "name": one.name,
            "current": found.current, "best": found.best, "rows": one.rows,
            "source": found.data.source, "chosen_on": found.chosen_on,
            "among": found.chosen_among, "worse": all(e.worse for e in found.candidates),
            "person": self.spec.person, "withheld": one.withheld_because or not one.gaps,
            "compared": bool(one.gaps),
        }  # fmt: skip
        verdict = {0: "pass", 1: "fail", 3: "inconclusive"}[found.exit_code]
        yield Statement(code="alternatives_headline", verdict=verdict,
            facts=facts | {"outcome": str(found.verdict)}, sources=("verdict",))  # fmt: skip
        end, neutral = directions.adverse_end(found.metric, self.favourable), found.metric.neutral
        far = [(gap.feature, end if gap.old is None else gap.old - neutral) for gap in one.gaps]
        worse_off = {feature for feature, distance in far if end * distance > 0}
        better = sorted({gap.feature for gap in one.gaps if end} - worse_off)
        yield fact("none_shown" if not shown else "named_first", "verdict", better=better, **facts)
        yield from self.verdict()
        yield fact("alternatives_asked", "candidates", "harm", **facts, harm=found.harm, margins=[
            (row.title, row.is_share, e.margin) for e in one.performance
            for row in (self.result.catalogue.rate_row(e.rate),)
        ], metric=self.row.title, by=self.by, directed=bool(end),
            different=sorted({e.rows for e in found.candidates}))  # fmt: skip
        yield from (*excluded_rows(found.diagnostics), *self.counted_values())
        known = [gap for gap in one.gaps if (gap.old, gap.new) != (None, None)]
        gaps = sorted(known, key=lambda gap: not gap.shown)[:_MOST_GAPS]
        yield from map(self.gap, gaps)
        yield from self.performance()
        if found.search is not None:
            yield from self.search()
        yield fact("alternatives_error", "confidence", wrong=(1 - found.confidence) / 2, **facts)
        yield from (step("what_becomes"), step("untried"), step("unfair"), step("elsewhere"))
        if shown:
            yield step("audit_it", name=one.name)
        else:
            yield step("complete_rows" if one.withheld_because and one.gaps else "look_further")

    def verdict(self) -> Iterator[Statement]:
        one, parts = self.one, ("levelled", "larger", "not_judged")
        whose: dict[str, list[Statement]] = {name: [] for name in parts}
        for gap in one.gaps:
            side = Statement(code="whose", who=self.side(gap.feature, gap.group))
            kinds = (gap.shown and gap.levelled, gap.larger, gap.reason is not None)
            for name, holds in zip(parts, kinds, strict=True):
                whose[name] += [side] * bool(holds)
        for name, sides in whose.items():
            if sides:
                reasons = {gap.reason for gap in one.gaps if gap.reason is not None}
                yield Statement(code=f"gap_{name}", parts=tuple(sides), sources=(self.place,),
                    facts={"name": one.name, "reasons": sorted(reasons, key=str)})  # fmt: skip
        if one.withheld_because is not None or not one.gaps:
            yield fact("alternatives_withheld", self.place, reason=one.withheld_because,
                name=one.name, compared=bool(one.gaps))  # fmt: skip

    def gap(self, gap: GapChange) -> Statement:
        rates = {(r.feature, r.group): r for r in self.one.rates}
        other = None if gap.reference is None else gap.reference.group
        both = [rates.get((gap.feature, group or "")) for group in (gap.group, other)]
        mine, theirs = (each and self.both(each) for each in both)
        place = DisparityChange(
            metric=self.found.disparity, definition=self.found.metric, feature=gap.feature,
            group=gap.group, reference=gap.reference,
        )  # fmt: skip
        who, than = self.side(gap.feature, gap.group), self.reference(place)
        ratio, harm = self.by == "ratio", self.found.harm
        allowed = -math.log1p(-harm) if ratio else harm
        in_the_way = len(self.one.gaps) > 1 and not self.one.shown_for and not gap.larger
        known = mine is not None and theirs is not None
        return Statement(
            code="alternative_gap", of=self.measure(self.row), by=self.by,
            interval=Range.of(gap.simultaneous if ratio else gap.distance),  # of one that is picked
            who=replace(who, **mine[1]) if mine and known else who,
            than=replace(than, **theirs[1]) if theirs and known else than,
            was=(replace(who, **mine[0]), replace(than, **theirs[0])) if mine and theirs else None,
            shown=gap.shown, value=gap.new, sources=(f"{self.place}.gaps", f"{self.place}.rates"),
            facts=self.times() | {"old_value": gap.old, "new_value": gap.new,
                "metric": self.found.metric.title, "smaller": gap.shown, "harm": harm,
                "open": in_the_way and (gap.distance is None or gap.distance.high >= allowed)},
        )  # fmt: skip

    def times(self) -> dict[str, object]:
        names = {"old": self.found.current, "new": self.one.name}
        return {key: {"at": "under", "name": name} for key, name in names.items()}

    def performance(self) -> Iterator[Statement]:
        for each in self.one.performance:
            row = self.result.catalogue.rate_row(each.rate)
            change = RateChange(
                rate=each.rate, definition=row, feature=None, group=EVERYONE, old=each.old,
                new=each.new, change=each.change, interval=each.simultaneous, n=self.one.rows,
            )  # fmt: skip
            outcome = Performance.INFERIOR if each.worse else Performance.CANNOT_TELL
            outcome, ends = Performance.NON_INFERIOR if each.shown else outcome, each.simultaneous
            excluded = ends is not None and (ends.high if each.lower else -ends.low) < each.margin
            yield self.shifted(
                change, "shifted", interval=Range.of(ends), sources=(f"{self.place}.performance",),
                facts=self.times() | {"share": row.is_share, "outcome": str(outcome),
                    "margin": each.margin, "by": "difference",
                    "overturned": excluded and not each.shown},
            )  # fmt: skip

    def search(self) -> Iterator[Statement]:
        search = self.found.search
        assert search is not None
        facts = {"confidence": self.found.confidence, "by": self.by, "n": search.n}
        size = math.exp if self.by == "ratio" else float  # distances of ratios are of logarithms
        if search.records_p <= _ORDER_MATTERS:
            yield fact("order_matters", "search.records_p", p=search.records_p, **facts)
        half = len(search.curve) // 2
        yield fact("search_chance", "search.chance_of_better", "search.curve", **facts, half=half,
            as_good=search.as_good, chances=search.chance_of_better, least=size(search.curve[-1]),
            doubling=size(search.curve[half - 1] - search.curve[-1]) if half else None)  # fmt: skip
        yield fact("search_bound", "search.bound", bound=size(search.bound), **facts,
            ten=size(search.bound_of_ten), regret=search.regret and size(search.regret),
            assumes=search.assumes)  # fmt: skip
        yield step("search_limits")
