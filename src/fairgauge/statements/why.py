"""The first page of a decomposition, as statements: a gap, and what becomes of it within strata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import DiagnosticCode, GapPartKind, GapVerdict, StratumWeights, WhyInconclusive
from fairgauge.results.disadvantage import adverse_sign
from fairgauge.results.disparities import NOTED_ALONE, is_reference_first
from fairgauge.results.gap_decomposition import (
    UNADJUSTED,
    Decomposition,
    Gap,
    StratumGap,
    averages_of,
    test_of,
)
from fairgauge.results.scopes import Interval
from fairgauge.results.statement import Page, Range, Side, Statement
from fairgauge.statements.compared import (
    Compared,
    inverse,
    is_used_partly,
    measure,
    page,
    step,
    whole,
)

MISSING_ROWS = (
    WhyInconclusive.MISSING_OUTCOMES, WhyInconclusive.MISSING_GROUPS, WhyInconclusive.NOT_COUNTED,
    WhyInconclusive.UNCLEAR_VALUES,
)  # fmt: skip
"""What is missing of rows that could change a gap that is not shown, or accounted for."""
_REMAIN = (GapVerdict.REMAINS, GapVerdict.REVERSES)
_OF_SUPPORT = {WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.ONE_SIDED}
_DIFFER = (
    WhyInconclusive.VARIES, WhyInconclusive.MAY_VARY, WhyInconclusive.IN_A_STRATUM,
    WhyInconclusive.ONE_SIDED,
)  # fmt: skip
"""Where single strata may differ although no difference is shown to remain on average."""
_MOST_GAPS, _MOST_STRATA = 2, 2


def why_page(found: Decomposition) -> Page:
    """Return the first page of a decomposition."""
    return _Why(found).page()


def below_neutral(found: Decomposition, gap: Gap) -> Statement:
    """Return who has less of a number that is below no difference, and whether that is worse."""
    made = _Why(found)
    s = made.statement(gap.estimate, "below", turn=False)
    way = 1 if is_reference_first(gap.estimate.definition) else -1
    adverse = made.adverse(_row(gap), gap.estimate.class_scope)
    return replace(s, way=way, facts={"worse": adverse and (s.who if adverse == way else s.than)})


def gap_statements(found: Decomposition, at: int, gap: Gap) -> list[Statement]:
    """Return what is stated of one gap, in full."""
    made = _Why(found)
    return [*made.of_gap(at, gap), *made.certain(at, gap, several=False)]


def named_strata(strata: Sequence[StratumGap]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return strata by their value in each column."""
    return tuple(tuple(each.stratum.items()) for each in strata)


def strata_that_differ(gap: Gap) -> list[StratumGap]:
    """Return the strata that differ by themselves, where none is unlike the others.

    Nothing else would name these where it varies, or where no difference is shown within strata.
    """
    asked = gap.verdict is GapVerdict.ACCOUNTED_FOR or gap.reason in _DIFFER
    named = asked and not any(each.outlying for each in gap.strata)
    return gap.differing_strata if named else []


def _row(gap: Gap) -> Statistic | None:
    metric = gap.estimate.definition
    row = metric.of if isinstance(metric, Contrast) else metric
    return row if isinstance(row, Statistic) else None


class _Why(Compared):
    """The statements of a decomposition, each gap read from the side that is worse off."""

    def __init__(self, found: Decomposition) -> None:
        estimates = [gap.estimate for gap in found.gaps]
        pairs = [(e.feature, e.group) for e in estimates]
        pairs += [(g.estimate.feature, g.other_group) for g in found.gaps if g.other_group]
        super().__init__(found, pairs)
        self.found = found
        self.ids = {(e.feature, e.group): (e.feature_id, e.group_id) for e in estimates}

    def page(self) -> Page:
        found = self.found
        once: dict[object, tuple[int, Gap]] = {}
        for i, gap in found.described():
            once.setdefault(test_of(gap), (i, found.with_regression(gap)))
        (at, first), *others = once.values()
        shown = [each for each in others if each[1].verdict_with_controls is not GapVerdict.NO_GAP]
        stated, several = shown[: _MOST_GAPS - 1], len(once) > 1
        open_ = [
            replace(self.base(gap, turn=False), sources=(f"gaps[{i}].verdict",))
            for i, gap in once.values()
            if gap.verdict_with_controls is GapVerdict.INCONCLUSIVE
        ]
        facts = {"open": tuple(open_) if first.verdict_with_controls.is_pass else (),
                 "rates": len({test_of(gap)[-1] for _, gap in once.values()})}  # fmt: skip
        rows = {"n": found.data.rows, "used": None if found.used == found.data.rows else found.used,
                "least": any(e.code is DiagnosticCode.USED_AT_LEAST for e in found.diagnostics),
                "partly": is_used_partly(found.excluded, found.spec),
                "excluded": found.excluded}  # fmt: skip
        statements = [
            self.head(at, first, facts),
            Statement(code="rows", facts=rows, sources=("data.rows", "used", "excluded")),
            replace(self.base(first), code="why_question"),
            *self.of_gap(at, first), *self.certain(at, first, several=several),
        ]  # fmt: skip
        for i, gap in stated:
            statements += self.of_gap(i, gap)
        more = [each for each in others if each not in stated]
        if more:
            parts = [replace(self.base(gap, turn=False), verdict=str(gap.verdict), facts={
                "regression": gap.regression_verdict and str(gap.regression_verdict),
            }) for _, gap in more]  # fmt: skip
            sources = tuple(f"gaps[{i}].verdict" for i, _ in more)
            statements.append(
                Statement(code="more_gaps", parts=tuple(parts), facts=facts, sources=sources)
            )
        level = Range(0, 0, found.confidence)
        statements += [Statement(code="interval", interval=level, sources=("confidence",))]
        statements += [step("arithmetic"), step("result_of_treatment"), step("elsewhere")]
        statements += self.steps([gap for _, gap in once.values()])
        return page("why", found.spec, statements, values=self.values)

    def base(self, gap: Gap, code: str = "gap", *, turn: bool = True) -> Statement:
        """Return the gap over all strata."""
        s = self.statement(gap.estimate, code, alone=True, turn=turn)
        columns = {"columns": gap.columns, "controls": gap.controls, "alone": gap.is_shown}
        return replace(
            s, shown=gap.is_shown_together, facts={**s.facts, **columns}, adjusted_for=gap.columns
        )

    def is_turned(self, gap: Gap) -> bool:
        """Return whether a gap is read from its reference."""
        own = self.side(gap.estimate.feature, gap.estimate.group).values
        who = self.statement(gap.estimate, alone=True).who
        return who is not None and who.values != own

    def head(self, at: int, gap: Gap, facts: dict[str, Any]) -> Statement:
        """Return what becomes of the first gap."""
        of = gap
        if gap.reason is WhyInconclusive.MISSING_STRATA and gap.overall is not None:
            of = replace(gap, estimate=gap.overall, p_adjusted=gap.overall.p_adjusted)
        base, place = self.base(of, "why_headline"), f"gaps[{at}]"
        reason = gap.reason and str(gap.reason)
        rates = {gap.estimate.rate_group, gap.estimate.rate_reference}
        if gap.reason is WhyInconclusive.TOO_FEW and base.of and base.of.kind == "share":
            reason = "one outcome" if rates in ({0.0}, {1.0}) else reason
        regression = gap.regression_verdict
        if gap.reason in UNADJUSTED and not gap.confounded:
            regression = None
        stated = gap.reason in _OF_SUPPORT or gap.verdict is GapVerdict.NO_GAP
        return replace(
            base, verdict=str(gap.verdict), parts=tuple(self.outlying(gap)),
            sources=(f"{place}.verdict", f"{place}.reason", f"{place}.support", f"{place}.strata"),
            facts={
                **base.facts, **facts, "reason": reason, "varies": gap.varies,
                "regression": regression and str(regression), "is_shown": gap.is_shown,
                "differ": named_strata(strata_that_differ(gap)),
                "one_sided": () if stated else self.one_sided(gap, NOTED_ALONE),
            },
        )  # fmt: skip

    def one_sided(self, gap: Gap, above: float) -> tuple[tuple[Side, float], ...]:
        """Return how much of each side is in no stratum with both, if more than a share is."""
        sides = (self.side(gap.estimate.feature, gap.estimate.group), gap.support.share_group), (
            self.reference(gap.estimate), gap.support.share_reference)  # fmt: skip
        return tuple((side, 1 - share) for side, share in sides if 1 - share > above)

    def outlying(self, gap: Gap, *, alone: bool = False) -> Iterator[Statement]:
        """Yield the strata that are unlike all others, by all tests or by those of this gap."""
        turned, row = self.is_turned(gap), _row(gap)
        for each in gap.strata:
            if row is None or not (each.outlying_alone if alone else each.outlying):
                continue
            mine, theirs = (
                {"rate": rate, **whole(rate, n, row, self.spec)}
                for rate, n in ((each.rate_group, each.n_group),
                                (each.rate_reference, each.n_reference))
            )  # fmt: skip
            who = self.side(gap.estimate.feature, gap.estimate.group, **mine)
            than = self.reference(gap.estimate, **theirs)
            ends = None if each.interval is None else (each.interval.low, each.interval.high)
            if turned:
                who, than, ends = than, who, ends and inverse(ends, "difference")
            sign, neutral = -1 if turned else 1, gap.estimate.definition.neutral or 0.0
            over_all = (gap.estimate.value or 0.0) - neutral
            beside = over_all if gap.is_shown else each.others or 0.0
            yield Statement(
                code="in_stratum", who=who, than=than, adjusted_for=gap.columns,
                of=measure(self.spec, row, gap.estimate.class_scope),
                value=sign * (each.difference or 0.0),
                interval=Range(*ends, gap.estimate.confidence or 0.95) if ends else None,
                shown=ends is not None and not ends[0] <= 0 <= ends[1],
                facts={
                    "stratum": tuple(each.stratum.items()),
                    "opposite": (each.difference or 0.0) * beside < 0,
                    "others": None if each.others is None else sign * each.others,
                },
            )  # fmt: skip

    def turn(
        self, gap: Gap, value: float | None, ends: Interval | None
    ) -> tuple[float, Range] | None:
        """Return a part of a gap as it is for the side that is worse off."""
        ratio = gap.scale == "ratio"
        if value is None or ends is None or (ratio and value <= 0):
            return None
        pair: tuple[float, float] = (ends.low, ends.high)
        if self.is_turned(gap):
            value = 1 / value if ratio else -value
            pair = inverse(pair, gap.scale) or (1 / pair[1], float("inf"))
        return value, Range(*pair, ends.level)

    def of_gap(self, at: int, gap: Gap) -> Iterator[Statement]:
        """Yield a gap, its parts, and the strata that stand out."""
        base, place = self.base(gap), f"gaps[{at}]"
        if gap.overall is not None:
            over_all = self.base(replace(gap, estimate=gap.overall), "over_all")
            yield replace(over_all, sources=(f"{place}.overall",))
        yield replace(base, sources=(f"{place}.estimate",))
        within, composition, alone = (
            self.turn(gap, gap.part(kind).value, gap.part(kind).interval)
            for kind in (GapPartKind.WITHIN, GapPartKind.COMPOSITION, GapPartKind.NOT_COMPARABLE)
        )
        facts = {**base.facts, "varies": gap.varies, "gap": base}
        if gap.controls:
            fit = gap.adjusted and self.turn(gap, *gap.adjusted.at(gap.scale))
            code = "by_regression" if fit else "no_regression"
            value, ends = fit or (None, None)
            left_out = gap.left_out and (gap.controls if gap.overall is None else gap.adjusted_for)
            yield replace(
                base, code=code, value=value, interval=ends, adjusted_for=gap.adjusted_for,
                sources=(f"{place}.adjusted",), facts={
                    **facts, "why": gap.no_regression and str(gap.no_regression),
                    "left_out": gap.left_out, "without": left_out or ()},
            )  # fmt: skip
        if within and composition:
            quote = "controls" if gap.controls else "this"
            if gap.reason is WhyInconclusive.VARIES:
                quote = "varies"
            elif gap.reason in UNADJUSTED:
                quote = "none"
            yield replace(
                base, code="within", value=within[0], interval=within[1],
                sources=(f"{place}.parts",), facts={
                    **facts, "quote": quote, "composition": composition,
                    "alone": alone if alone and alone[0] != base_neutral(gap) else None},
            )  # fmt: skip
        yield from list(self.outlying(gap))[:_MOST_STRATA]

    def certain(self, at: int, gap: Gap, *, several: bool) -> Iterator[Statement]:
        """Yield how certain it is what becomes of the first gap."""
        base, place = self.base(gap), f"gaps[{at}]"
        facts = {**base.facts, "several": several, "gap": base}
        neutral = base_neutral(gap)
        if gap.verdict is GapVerdict.NO_GAP and gap.support.strata > 1:
            signs = [each.difference or 0.0 for each in gap.strata]
            both = min(signs, default=0.0) < 0 < max(signs, default=0.0)
            yield replace(base, code="no_gap", facts={**facts, "both": both})
        support = gap.support
        if (sides := self.one_sided(gap, 0.0)) and support.strata_used:
            yield replace(base, code="support", sources=(f"{place}.support",), facts={
                **facts, "sides": sides, "used": support.strata_used, "of": support.strata,
            })  # fmt: skip
        if support.strata_untested:
            yield replace(base, code="untested_strata", facts={
                **facts, "n": support.strata_untested, "of": support.strata_used})  # fmt: skip
        ways = [
            (weights and str(weights), *turned)
            for weights, value, ends in averages_of(gap)
            if (turned := self.turn(gap, value, ends))
        ]
        shows = [0 if r.low <= neutral <= r.high else r.low - neutral for _, _, r in ways]
        if ways and gap.reason is not WhyInconclusive.TOO_FEW:
            sides_alone = (StratumWeights.GROUP, StratumWeights.REFERENCE)
            depends = gap.reason is WhyInconclusive.DEPENDS_ON_WEIGHTS
            sizes = sorted((value for _, value, _ in ways), key=lambda v: abs(v - neutral))
            yield replace(base, code="averages", sources=(f"{place}.parts",), facts={
                **facts, "n": len(ways), "agree": len({(s > 0) - (s < 0) for s in shows}) == 1,
                "shows": bool(shows[0]), "least": sizes[0], "most": sizes[-1], "depends": depends,
                "turned": self.is_turned(gap), "deciding": tuple(
                    way for way, shown in zip(ways, shows, strict=True)
                    if (shown if depends else way[0] in sides_alone)),
            })  # fmt: skip
        if (fit := gap.adjusted) is not None or gap.no_regression:
            ratios = () if fit is None else (
                ("ratio", fit.ratio, fit.ratio_interval),
                ("odds", fit.odds_ratio, fit.odds_ratio_interval))  # fmt: skip
            group = self.side(gap.estimate.feature, gap.estimate.group)
            outside = () if fit is None else (
                (group, fit.extrapolated_group),
                (self.reference(gap.estimate), fit.extrapolated_reference))  # fmt: skip
            yield replace(
                base, code="regression", adjusted_for=gap.adjusted_for, facts={
                    **facts, "why": gap.no_regression and str(gap.no_regression),
                    "ratios": tuple(each for each in ratios if None not in each[1:]),
                    "collinear": dict(fit.collinear) if fit else {},
                    "outside": tuple(each for each in outside if each[1] > NOTED_ALONE)},
            )  # fmt: skip
        if gap.heterogeneity is not None:
            parts = tuple(self.outlying(gap)) or tuple(self.outlying(gap, alone=True))
            yield replace(
                base, code="variation", parts=parts, sources=(f"{place}.heterogeneity",),
                facts={**facts, "varies": gap.varies,
                       "alone": not any(each.outlying for each in gap.strata),
                       "p": gap.heterogeneity.p_value, "spread": gap.heterogeneity.spread},
            )  # fmt: skip
        if gap.detectable is not None and gap.verdict not in _REMAIN:
            yield replace(
                base, code="detectable", value=gap.detectable, facts=facts,
                sources=(f"{place}.detectable",),
            )  # fmt: skip

    def steps(self, gaps: Sequence[Gap]) -> Iterator[Statement]:
        """Yield what to do next: first what to complete, then which cases to read."""
        found, first = self.found, gaps[0]
        several = len(gaps) > 1
        columns = first.adjusted_for if first.controls else first.columns
        lacking = dict.fromkeys(
            column
            for gap in gaps
            if gap.reason is WhyInconclusive.MISSING_STRATA or gap.confounded
            for column in (gap.adjusted_for if gap.overall else gap.controls or gap.columns)
        )
        if lacking:
            yield step("complete_columns", columns=list(lacking))
        for reason in MISSING_ROWS:
            if any(gap.reason is reason for gap in found.gaps):
                yield step("complete_reason", reason=str(reason))
        remain = [gap for gap in gaps if _quoted(gap) in _REMAIN]
        unlike = [
            (tuple(each.stratum.items()), self.side(gap.estimate.feature, gap.estimate.group))
            for gap in gaps
            for each in gap.strata
            if each.outlying and self.is_worse(gap, each)
        ]
        of, strata = next(
            ((gap, named) for gap in gaps if gap in remain or gap.reason in _DIFFER
             if (named := [each for each in gap.differing_strata
                           if not each.outlying and self.is_worse(gap, each)])),
            (first, []),
        )  # fmt: skip
        if unlike or strata or (first.controls and remain):
            yield replace(self.base(of), code="read_within", adjusted_for=columns, facts={
                "columns": first.columns, "controls": first.controls, "several": several,
                "unlike": tuple(unlike), "strata": named_strata(strata),
            })  # fmt: skip
        if remain:
            yield replace(step("tolerable_within"), adjusted_for=columns)
        if any(_quoted(gap) is GapVerdict.ACCOUNTED_FOR for gap in gaps):
            yield replace(step("should_count"), adjusted_for=columns)
        reasons = {g.reason for g in gaps if g.verdict is GapVerdict.INCONCLUSIVE}
        if not reasons <= {*MISSING_ROWS, WhyInconclusive.TOO_FEW}:
            code = "look_at_strata"
            if reasons <= _OF_SUPPORT:
                code = "coarser_strata"
            elif reasons == {WhyInconclusive.NOT_TESTED}:
                code = "state_clusters"
            if code != "look_at_strata" or not (unlike or strata):
                yield replace(step(code), adjusted_for=first.columns)
            if len(first.columns) > 1:
                yield step("which_columns", columns=first.columns)
        if found.verdict is GapVerdict.NO_GAP:
            yield step("state_margin")

    def is_worse(self, gap: Gap, each: StratumGap) -> bool:
        """Return whether a stratum shows a difference against those who are worse off.

        These are those of the difference that remains, else of the gap, else by what is better.
        """
        if each.interval is None or 0 in each.interval:
            return False
        size = gap.part(GapPartKind.WITHIN).value if gap.verdict in _REMAIN else gap.estimate.value
        sign = 0.0 if size is None else size - base_neutral(gap)
        row = _row(gap)
        if not gap.is_shown and row is not None:
            sign = adverse_sign(row, self.favourable)
        return sign * (each.difference or 0.0) > 0 or sign == 0


def base_neutral(gap: Gap) -> float:
    """Return the value of no difference."""
    return gap.estimate.definition.neutral or 0.0


def _quoted(gap: Gap) -> GapVerdict:
    """Return the verdict, with controls that of their regression unless it is inconclusive."""
    beside = gap.regression_verdict
    return gap.verdict if beside is None or beside is GapVerdict.INCONCLUSIVE else beside
