"""The first page of a decomposition, as statements: a gap, and what becomes of it within strata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.catalogue.directions import adverse_sign, compared_number
from fairgauge.enums import DiagnosticCode, GapPartKind, GapVerdict, WhyInconclusive
from fairgauge.results.gap_decomposition import UNADJUSTED, Decomposition, Gap, StratumGap
from fairgauge.results.scopes import Interval
from fairgauge.results.statement import Page, Range, Side, Statement, fact
from fairgauge.start.records import replace
from fairgauge.statements.compared import PageStatements, inverse, is_used_partly, step, swap_sides
from fairgauge.statements.sections import NOTED_ALONE

MISSING_ROWS = (
    WhyInconclusive.MISSING_OUTCOMES, WhyInconclusive.MISSING_GROUPS, WhyInconclusive.NOT_COUNTED,
    WhyInconclusive.UNCLEAR_VALUES,
)  # fmt: skip
"""What is missing of rows that could change a gap that is not shown, or accounted for."""
_UNDECIDED = GapVerdict.INCONCLUSIVE
_REMAIN = (GapVerdict.REMAINS, GapVerdict.REVERSES)
_OF_SUPPORT = {WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.ONE_SIDED}
# where single strata may differ although no difference is shown to remain on average
_DIFFER = (WhyInconclusive.VARIES, WhyInconclusive.IN_A_STRATUM, WhyInconclusive.ONE_SIDED)
# why a gap is inconclusive although differences within strata are shown
_SHOWN_WITHIN = (WhyInconclusive.VARIES, WhyInconclusive.OFFSET, WhyInconclusive.IN_A_STRATUM)
_MOST_GAPS, _MOST_STRATA = 2, 2


def why_page(found: Decomposition) -> Page:
    """Return the first page of a decomposition."""
    return _Why(found).page()


def gap_statements(found: Decomposition, at: int, gap: Gap) -> list[Statement]:
    """Return what is stated of one gap, in full: of its group, as its table is."""
    made = _Why(found, turns=False)
    return [*made.of_gap(at, gap), *made.certain(at, gap)]


def named_strata(strata: Sequence[StratumGap]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return strata by their value in each column."""
    return tuple(tuple(each.stratum.items()) for each in strata)


def strata_that_differ(gap: Gap) -> list[StratumGap]:
    """Return the strata that differ by themselves, where none is unlike the others."""
    asked = gap.verdict is GapVerdict.ACCOUNTED_FOR or gap.reason in _DIFFER
    return gap.differing_strata if asked and not any(each.outlying for each in gap.strata) else []


def described(found: Decomposition) -> list[tuple[int, Gap]]:
    """Return the gaps in the order of their description: those that show no difference last."""

    def shows_none(gap: Gap) -> bool:
        decided = found.verdict_of(gap) not in (GapVerdict.NO_GAP, GapVerdict.INCONCLUSIVE)
        shown = decided or gap.reason in _SHOWN_WITHIN or _is_shown_together(_over_all_rows(gap))
        return gap.reason is WhyInconclusive.TOO_FEW or not shown

    return sorted(found.gravest(), key=lambda each: shows_none(each[1]))


def _is_shown_together(gap: Gap) -> bool:
    return gap.is_shown and (gap.p_adjusted is None or gap.p_adjusted < gap.alpha)


def _over_all_rows(gap: Gap) -> Gap:
    # of which many may lack a stratum
    of = gap.overall if gap.reason is WhyInconclusive.MISSING_STRATA else None
    return gap if of is None else replace(gap, estimate=of, p_adjusted=of.p_adjusted)


class _Why(PageStatements):
    # each gap is read from the side that is worse off, where a page turns it
    kind = "why"

    def __init__(self, found: Decomposition, *, turns: bool = True) -> None:
        estimates = [gap.estimate for gap in found.gaps]
        pairs = [(e.feature, e.group) for e in estimates]
        pairs += [(g.estimate.feature, g.other_group) for g in found.gaps if g.other_group]
        super().__init__(found, pairs)
        self.found, self.turns = found, turns
        self.ids = {(e.feature, e.group): (e.feature_id, e.group_id) for e in estimates}

    def statements(self) -> list[Statement]:
        found = self.found
        once: dict[object, tuple[int, Gap]] = {}
        for i, gap in described(found):
            once.setdefault(gap.test, (i, found.with_regression(gap)))
        (at, first), *others = once.values()
        shown = [each for each in others if each[1].verdict_with_controls is not GapVerdict.NO_GAP]
        stated = shown[: _MOST_GAPS - 1]
        open_ = [replace(self.base(gap, turn=False), sources=(f"gaps[{i}].verdict",))
            for i, gap in once.values() if gap.verdict_with_controls is _UNDECIDED]  # fmt: skip
        facts = {"open": tuple(open_) if first.verdict_with_controls.is_pass else (),
                 "rates": len({gap.test[-1] for _, gap in once.values()})}  # fmt: skip
        rows = {"n": found.data.rows, "used": None if found.used == found.data.rows else found.used,
                "least": any(e.code is DiagnosticCode.USED_AT_LEAST for e in found.diagnostics),
                "partly": is_used_partly(found.excluded, self.spec),
                "chosen": bool(self.spec.where),
                "excluded": found.excluded}  # fmt: skip
        statements = [
            self.head(at, first, facts),
            Statement(code="rows", facts=rows, sources=("data.rows", "used", "excluded")),
            replace(self.base(first), code="why_question", sources=(f"gaps[{at}].estimate",)),
            *self.of_gap(at, first), *self.certain(at, first),
        ]  # fmt: skip
        for i, gap in stated:
            statements += self.of_gap(i, gap)
        more = [each for each in others if each not in stated]
        if more:
            parts = [replace(self.base(gap, turn=False), verdict=str(gap.verdict), facts={
                "regression": gap.regression_verdict and str(gap.regression_verdict),
            }) for _, gap in more]  # fmt: skip
            sources = (f"gaps[{i}].verdict" for i, _ in more)
            statements.append(replace(fact("more_gaps", *sources, **facts), parts=tuple(parts)))
        level = Range(0, 0, found.confidence)
        statements += [Statement(code="interval", interval=level, sources=("confidence",))]
        statements += [step("arithmetic"), step("result_of_treatment"), step("elsewhere")]
        return [*statements, *self.steps([gap for _, gap in once.values()])]

    def base(self, gap: Gap, code: str = "gap", *, turn: bool = True) -> Statement:
        s = self.statement(gap.estimate, code, alone=True, turn=turn and self.turns)
        # the interval of a regression is of it alone, and its verdict of all gaps together
        fit = None if gap.reason in UNADJUSTED or gap.doubted else gap.adjusted
        by_itself = fit is not None and 0 not in fit.interval
        own = {"columns": gap.columns, "controls": gap.controls, "alone": gap.is_shown,
               "not_together": by_itself and gap.regression_verdict is _UNDECIDED}  # fmt: skip
        shown = _is_shown_together(gap)
        return replace(s, shown=shown, facts=s.facts | own, adjusted_for=gap.columns)

    def is_turned(self, gap: Gap) -> bool:
        own = self.side(gap.estimate.feature, gap.estimate.group).values
        who = self.statement(gap.estimate, alone=True, turn=self.turns).who
        return who is not None and who.values != own

    def head(self, at: int, gap: Gap, facts: dict[str, object]) -> Statement:
        base, place = self.base(_over_all_rows(gap), "why_headline"), f"gaps[{at}]"
        reason = gap.reason and str(gap.reason)
        rates = {gap.estimate.rate_group, gap.estimate.rate_reference}
        if gap.reason is WhyInconclusive.TOO_FEW and base.of and base.of.kind == "share":
            reason = "one outcome" if rates in ({0.0}, {1.0}) else reason
        asked = gap.confounded or gap.reason not in UNADJUSTED
        regression = gap.regression_verdict if asked else None
        stated = gap.reason in _OF_SUPPORT or gap.verdict is GapVerdict.NO_GAP
        return replace(
            base, verdict=str(gap.verdict), parts=tuple(self.outlying(gap)),
            sources=tuple(f"{place}.{name}" for name in
                ("verdict", "reason", "support", "strata", "estimate", "overall")),
            facts={
                **base.facts, **facts, "reason": reason, "varies": gap.varies,
                "regression": regression and str(regression), "is_shown": gap.is_shown,
                "differ": named_strata(strata_that_differ(gap)),
                "one_sided": () if stated else self.one_sided(gap, NOTED_ALONE),
            },
        )  # fmt: skip

    def one_sided(self, gap: Gap, above: float) -> tuple[tuple[Side, float, float], ...]:
        # the rows of each side in no stratum with both, of all, if more than a share is
        shares = gap.support.share_group, gap.support.share_reference
        if 1 - min(shares) <= above:
            return ()
        rows = [(each.n_group, each.n_reference) for each in gap.strata]
        sides = self.side(gap.estimate.feature, gap.estimate.group), self.reference(gap.estimate)
        return tuple(
            (side, sum(n[i] for n in rows if not all(n)), sum(n[i] for n in rows))
            for i, side in enumerate(sides)
            if 1 - shares[i] > above
        )

    def outlying(self, gap: Gap) -> Iterator[Statement]:
        turned, row = self.is_turned(gap), compared_number(gap.estimate.definition)
        for each in gap.strata:
            if row is None or not each.outlying:
                continue
            mine = self.counted(each.rate_group, each.n_group, row)
            theirs = self.counted(each.rate_reference, each.n_reference, row)
            over_all = (gap.estimate.value or 0.0) - base_neutral(gap)
            beside = over_all if gap.is_shown else each.others or 0.0
            found = Statement(
                code="in_stratum", value=each.difference or 0.0, adjusted_for=gap.columns,
                who=self.side(gap.estimate.feature, gap.estimate.group, **mine),
                than=self.reference(gap.estimate, **theirs),
                of=self.measure(row, gap.estimate.class_scope), interval=Range.of(each.interval),
                shown=each.interval is not None and 0 not in each.interval,
                facts={
                    "stratum": tuple(each.stratum.items()),
                    "opposite": (each.difference or 0.0) * beside < 0,
                    "others": -each.others if turned and each.others is not None else each.others,
                },
            )  # fmt: skip
            yield swap_sides(found) if turned else found

    def largest(self, gap: Gap) -> tuple[tuple[tuple[tuple[str, str], ...], float], ...]:
        sign = -1 if self.is_turned(gap) else 1
        shown = gap.differing_strata[:_MOST_STRATA]
        sizes = [sign * (each.difference or 0.0) for each in shown]
        return tuple(zip(named_strata(shown), sizes, strict=True))

    def turn(
        self, gap: Gap, value: float | None, ends: Interval | None
    ) -> tuple[float, Range] | None:
        ratio = gap.scale == "ratio"
        if value is None or ends is None or (ratio and value <= 0):
            return None
        pair: tuple[float, float] = (ends.low, ends.high)
        if self.is_turned(gap):
            value = 1 / value if ratio else -value
            pair = inverse(pair, gap.scale) or (1 / pair[1], float("inf"))
        return value, Range(*pair, ends.level)

    def of_gap(self, at: int, gap: Gap) -> Iterator[Statement]:
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
        # one piece of advice: what an average hides, one with controls hides too
        quote = "controls" if gap.controls else "this"
        if gap.reason is WhyInconclusive.VARIES or gap.varies:
            quote = "varies"
        elif gap.reason in UNADJUSTED:
            quote = "none"
        if gap.controls:
            fit = gap.adjusted and self.turn(gap, *gap.adjusted.at(gap.scale))
            code = "by_regression" if fit else "no_regression"
            value, ends = fit or (None, None)
            left_out = gap.left_out and (gap.controls if gap.overall is None else gap.adjusted_for)
            yield replace(
                base, code=code, value=value, interval=ends, adjusted_for=gap.adjusted_for,
                sources=(f"{place}.adjusted",), facts={
                    **facts, "why": gap.no_regression and str(gap.no_regression),
                    "left_out": gap.left_out, "without": left_out or (),
                    "quoted": quote == "controls"},
            )  # fmt: skip
        if within and composition:
            yield replace(
                base, code="within", value=within[0], interval=within[1],
                sources=(f"{place}.parts", f"{place}.estimate"), facts={
                    **facts, "quote": quote, "composition": composition,
                    "largest": self.largest(gap) if gap.varies else (),
                    "alone": alone if alone and alone[0] != base_neutral(gap) else None},
            )  # fmt: skip
        for found in list(self.outlying(gap))[:_MOST_STRATA]:
            yield replace(found, sources=(f"{place}.strata",))

    def certain(self, at: int, gap: Gap) -> Iterator[Statement]:
        base, place = self.base(gap), f"gaps[{at}]"
        if gap.verdict is GapVerdict.NO_GAP and gap.support.strata > 1:
            signs = [each.difference or 0.0 for each in gap.strata]
            both = min(signs, default=0.0) < 0 < max(signs, default=0.0)
            yield replace(base, code="no_gap", facts={**base.facts, "both": both})
        support = gap.support
        if (sides := self.one_sided(gap, 0.0)) and support.strata_used:
            yield replace(base, code="support", sources=(f"{place}.support",), facts={
                **base.facts, "sides": sides, "used": support.strata_used, "of": support.strata,
            })  # fmt: skip
        if support.strata_untested:
            yield replace(base, code="untested_strata", facts={
                **base.facts, "n": support.strata_untested, "of": support.strata_used})  # fmt: skip

    def steps(self, gaps: Sequence[Gap]) -> Iterator[Statement]:
        # what to do next: first what to complete, then which cases to read
        found, first = self.found, gaps[0]
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
        remain = [gap for gap in gaps if _quoted_verdict(gap) in _REMAIN]
        worse = ((gap, those) for gap in gaps if (those := self.worse_strata(gap)))
        of, strata = next(worse, (first, []))
        if strata or (first.controls and remain):
            yield replace(self.base(of), code="read_within", adjusted_for=columns, facts={
                "controls": first.controls, "strata": named_strata(strata)})  # fmt: skip
        if remain:
            yield replace(step("tolerable_within"), adjusted_for=columns)
        if any(_quoted_verdict(gap) is GapVerdict.ACCOUNTED_FOR for gap in gaps):
            yield replace(step("should_count"), adjusted_for=columns)
        reasons = {g.reason for g in gaps if g.verdict is GapVerdict.INCONCLUSIVE}
        if not reasons <= {*MISSING_ROWS, WhyInconclusive.TOO_FEW}:
            coarser = reasons <= {*_OF_SUPPORT, WhyInconclusive.NOT_TESTED}
            code = "coarser_strata" if coarser else "look_at_strata"
            if code != "look_at_strata" or not strata:
                yield replace(step(code), adjusted_for=first.columns)
        if found.verdict is GapVerdict.NO_GAP and not self.spec.margins:
            yield step("state_margin")

    def worse_strata(self, gap: Gap) -> list[StratumGap]:
        # those that show a difference against who is worse off
        remains = _quoted_verdict(gap) in _REMAIN or gap.reason in _DIFFER
        size = gap.part(GapPartKind.WITHIN).value if gap.verdict in _REMAIN else gap.estimate.value
        sign = 0.0 if size is None else size - base_neutral(gap)
        row = compared_number(gap.estimate.definition)
        if not gap.is_shown and row is not None:
            sign = adverse_sign(row, self.favourable)
        differing = gap.differing_strata if remains else []
        unlike = [each for each in gap.strata if each.outlying or each in differing]
        shown = [each for each in unlike if each.interval is not None and 0 not in each.interval]
        return [each for each in shown if sign == 0 or sign * (each.difference or 0.0) > 0]


def base_neutral(gap: Gap) -> float:
    """Return the value of no difference."""
    return gap.estimate.definition.neutral or 0.0


def _quoted_verdict(gap: Gap) -> GapVerdict:
    # the verdict, with controls that of their regression unless it is inconclusive
    beside = gap.regression_verdict
    return gap.verdict if beside is None or beside is GapVerdict.INCONCLUSIVE else beside
