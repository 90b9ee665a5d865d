"""The brief of an audit: its headline, findings, certainty, limits and next steps as sentences."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from fairgauge.catalogue.catalogue import rate
from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    Better,
    DiagnosticCode,
    Favourable,
    Outcome,
    ReferenceKind,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.render.brief.frequencies import Share, frequencies, range_words
from fairgauge.render.brief.vocabulary import Vocabulary
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.finding_sentences import describe_finding
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.numbers import count, listing, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.disparities import gap, singled_out
from fairgauge.results.verdicts import before_counting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.estimates import Estimate, Group
    from fairgauge.results.finding import Finding
    from fairgauge.results.report import Report

_MOST_FINDINGS = 2
_MOST_LIMITS = 4
_MOST_STEPS = 3
_MANY_WITHOUT_GROUP = 0.05
_NUMBER_WORDS = {1: "The rule", 2: "Both rules"}


def audit_brief(report: Report) -> Brief:
    """Return the brief of a report."""
    return _AuditBrief(report).brief()


class _Compared:
    """A comparison of two groups in a share of rows, read from the side that is worse off.

    Attributes
    ----------
    contrast, row : the comparison, and the rate that it compares.
    subject, other : what the people of both sides are called.
    shares : of the subject, then of the other.
    interval : of subject minus other, None where there is none.
    """

    def __init__(self, report: Report, words: Vocabulary, contrast: Estimate, row: Rate) -> None:
        self.contrast, self.row, self.words = contrast, row, words
        group = words.group(contrast.feature, contrast.group)
        reference = words.reference(contrast)
        shown = singled_out(contrast)
        ends = None
        if shown.low is not None and shown.high is not None and _is_difference(contrast):
            turned = contrast.value is not None and gap(contrast) != contrast.value
            ends = (-shown.high, -shown.low) if turned else (shown.low, shown.high)
        sides = (_share(report, contrast, row), _reference_share(report, contrast, row))
        self.turned = self._worse(gap(contrast)) is False and _is_one_group(words, contrast)
        if self.turned:
            group, reference = reference, group
            sides = (sides[1], sides[0])
            ends = None if ends is None else (-ends[1], -ends[0])
        self.subject, self.other = group, reference
        self.shares, self.interval = sides, ends
        self.lower = (gap(contrast) < 0) != self.turned

    def _worse(self, difference: float) -> bool | None:
        """Return whether a difference is to the disadvantage of its group; None if of neither."""
        adverse = adverse_sign(self.row, self.words.favourable)
        return None if adverse == 0 else difference * adverse > 0

    @property
    def is_worse(self) -> bool:
        """Return whether the subject is worse off."""
        return bool(self._worse(-1.0 if self.lower else 1.0))

    def sentence(self) -> str | None:
        """Return both shares as counts: "Of 100 women, 36 were approved; of 100 men, 53."."""
        among, event = self.words.among(self.row.among), self.words.event(_event_of(self.row))
        if among is None or None in self.shares:
            return None
        mine, theirs = (each for each in self.shares if each is not None)
        found = frequencies(mine, theirs, self.interval)
        if found is None:
            return None
        sizes = (mine.size, theirs.size) if found.of is None else (found.of, found.of)
        estimated = "an estimated " if mine.hits is None else ""
        first, second = (f"{size:,}" for size in sizes if size is not None)
        if event is None:
            fits = "fits" if self.row.of == TP + TN else "does not fit"
            return (
                f"For {first} {self.subject} the decision {fits} the outcome {estimated}"
                f"{found.group:,} times; for {second} {self.other}, {found.reference:,} times."
            )
        return (
            f"Of {first} {self.subject}{among}, {estimated}{found.group:,} {event.happened}; of "
            f"{second} {self.other}{' who did' if among else ''}, {found.reference:,}."
        ).replace(" who did,", ",")

    def interval_sentence(self) -> str | None:
        """Return the interval as counts: "between 14 and 20 fewer of 100 were approved"."""
        among, event = self.words.among(self.row.among), self.words.event(_event_of(self.row))
        mine, theirs = self.shares
        if self.interval is None or among is None or mine is None or theirs is None:
            return None
        found = frequencies(mine, theirs, self.interval)
        of = 100 if found is None or found.of is None else found.of
        level = self.contrast.confidence
        event_words = "" if event is None else f" {event.happened}"
        what = f"{range_words(self.interval, of)}{among}{event_words}"
        if event is None:
            what = f"{range_words(self.interval, of)} decisions fit the outcome"
        return (
            f"{capitalised(self.subject)} compared with {self.other}: {what} "
            f"({100 * (level or 0):.4g}% confidence interval)."
        )

    def headline(self) -> str | None:
        """Return the comparison in words without numbers."""
        among, event = self.words.among(self.row.among), self.words.event(_event_of(self.row))
        often = f"{'less' if self.lower else 'more'} often"
        if among is None:
            return None
        if event is None:
            fits = "fits" if self.row.of == TP + TN else "does not fit"
            return f"The decision {fits} the outcome {often} for {self.subject} than {self.other}"
        verb = event.happens if not among else event.happened
        return f"{capitalised(self.subject)}{among} {verb} {often} than {self.other}{among}"


class _AuditBrief:
    """The parts of the brief of one report."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.words = Vocabulary(report)
        self.estimates = {id(each): i for i, each in enumerate(report.estimates)}
        self.compared = [
            (finding, self._compared(finding.estimate)) for finding in report.findings
        ]

    def brief(self) -> Brief:
        """Return all parts."""
        return Brief(
            headline=self._headline(),
            verdict=tuple(self._verdict()),
            looked_at=tuple(self._looked_at()),
            worse_off=tuple(self._worse_off()),
            certainty=tuple(self._certainty()),
            limits=tuple(self._limits())[:_MOST_LIMITS],
            steps=tuple(self._steps())[:_MOST_STEPS],
        )

    def _compared(self, contrast: Estimate) -> _Compared | None:
        row = compared_rate(contrast.definition)
        single = contrast.class_scope.is_single and self.report.task is Task.BINARY
        if not isinstance(row, Rate) or not single:
            return None
        return _Compared(self.report, self.words, contrast, row)

    def _source(self, contrast: Estimate) -> tuple[str, ...]:
        for i, each in enumerate(self.report.estimates):
            if each.key == contrast.key:
                return (f"estimates[{i}]",)
        return ()

    # the headline and the verdict

    def _headline(self) -> Sentence:
        if self.report.findings:
            finding, compared = self._first()
            text = compared.headline() if compared is not None else None
            if text is None:
                text = describe_finding(finding, brief=True).split(": ")[0]
            return Sentence(text, self._source(finding.estimate))
        tested = any(each.p_value is not None for each in self.report.estimates)
        if not tested:
            return Sentence("No difference between groups could be tested")
        return Sentence("No group differs statistically significantly from the others")

    def _first(self) -> tuple[Finding, _Compared | None]:
        """Return the finding that heads the page: of a failed rule before all others."""
        failed = {
            (each.metric, each.feature, each.group)
            for each in self.report.verdicts
            if each.outcome is Outcome.FAIL
        }
        every = [
            *(each for each in self.compared if _failed(each[0], failed)),
            *self.compared,
        ]
        worse = [each for each in every if each[1] is not None and each[1].is_worse]
        return (worse or every)[0]

    def _verdict(self) -> Iterator[Sentence]:
        rules = self.report.by_rule
        if not rules:
            return
        failing = sum(each.outcome is Outcome.FAIL for each in rules)
        passing = sum(each.outcome is Outcome.PASS for each in rules)
        every = len(rules)
        whole = _NUMBER_WORDS.get(every, f"All {every:,} rules")
        verdict = self.report.verdict
        if verdict is Outcome.FAIL:
            both = f"{whole} {plural(every, 'fails', 'fail')}"
            some = f"{failing:,} of {every:,} rules {plural(failing, 'fails', 'fail')}"
            text = f"{both if failing == every else some}."
        elif verdict is Outcome.PASS:
            text = f"{whole} {plural(every, 'passes', 'pass')}."
        else:
            open_ = every - failing - passing
            text = (
                "Inconclusive: the data cannot decide "
                f"{'the rule' if every == 1 else f'{open_:,} of {every:,} rules'}."
            )
        yield Sentence(text, ("verdict",))
        yield self._counts_of_verdicts()

    def _counts_of_verdicts(self) -> Sentence:
        outcomes = [before_counting(each) for each in self.report.verdicts]
        total = len(outcomes)
        fails, passes = outcomes.count(Outcome.FAIL), outcomes.count(Outcome.PASS)
        text = (
            f"Of {total:,} {plural(total, 'comparison', 'comparisons')} {fails:,} "
            f"{plural(fails, 'fails', 'fail')} and {passes:,} {plural(passes, 'passes', 'pass')}"
        )
        if rest := total - fails - passes:
            text += f"; for {'the other' if fails or passes else 'all'} {rest:,} the data cannot decide"
        elif not fails:
            text += ". This does not show that the groups are treated equally"
        return Sentence(f"{text}.", ("verdicts",))

    # what was looked at

    def _looked_at(self) -> Iterator[Sentence]:
        data = self.report.data
        total = data.cases if data.cases != data.rows else data.rows
        used = "all of them used" if data.used == data.rows else f"{count(data.used)} rows used"
        yield Sentence(f"{count(total)} {self.words.unit}, {used}.", ("data.rows", "data.used"))
        features = list(dict.fromkeys(each.feature for each in self.report.groups))
        by = listing([f"by {called(each)}" for each in features])
        spec = self.report.spec
        decided = bool(spec.get("prediction") or spec.get("score"))
        if self.report.task is not Task.BINARY:
            what = {
                Task.REGRESSION: "The numbers predicted",
                Task.MULTICLASS: "The classes predicted",
            }[self.report.task]
            if decided:
                yield Sentence(f"{what} were compared {by}.", ("spec",))
            return
        decision, outcome = (self._alternatives(cells) for cells in (TP + FP, TP + FN))
        if decided and spec.get("label"):
            text = f"The decision ({decision}) was compared with what happened ({outcome}), {by}."
        elif decided:
            text = f"The decision ({decision}) was compared {by}."
        elif spec.get("label"):
            text = f"What is in the data ({outcome}) was compared {by}; no model was looked at."
        else:
            text = f"The numbers of {self.words.noun} were compared {by}."
        yield Sentence(text, ("spec",))

    def _alternatives(self, cells: object) -> str:
        words = self.words.words
        if cells == TP + FP:
            first, second = words.positive, words.negative
        else:
            first, second = words.label_positive, words.label_negative
        if first:
            return f"{first} or {second or 'not'}"
        event = self.words.event(TP + FP if cells == TP + FP else TP + FN)
        return event.among.removeprefix("with ") if event is not None else ""

    # who is worse off

    def _worse_off(self) -> Iterator[Sentence]:
        ordered = sorted(self.compared, key=lambda each: not (each[1] and each[1].is_worse))
        first = self._first() if self.compared else None
        ordered = [*([first] if first else []), *(e for e in ordered if e is not first)]
        shown = 0
        for finding, compared in ordered[:_MOST_FINDINGS]:
            text = compared.sentence() if compared is not None else None
            yield Sentence(
                text or describe_finding(finding, brief=True), self._source(finding.estimate)
            )
            shown += 1
            if compared is not None and (affected := self._affected(compared)):
                yield affected
        more = len(self.compared) - shown
        if more > 0:
            yield Sentence(
                f"{more:,} further statistically significant "
                f"{plural(more, 'difference is', 'differences are')} among the findings.",
                ("findings",),
            )
        if not self.compared:
            yield Sentence(
                "No difference is statistically significant. This does not show that the groups "
                "are treated equally."
            )

    def _affected(self, compared: _Compared) -> Sentence | None:
        """Return how many people are concerned by a wrong decision, and at the other's rate."""
        wrong = {
            rate("true_positive_rate"): FN,
            rate("false_positive_rate"): FP,
        }.get(compared.row)
        mine, theirs = compared.shares
        if wrong is None or not compared.is_worse or mine is None or theirs is None:
            return None
        if mine.hits is None or mine.size is None:
            return None
        decision = self.words.event(TN + FN if wrong == FN else TP + FP)
        among = self.words.among(compared.row.among)
        wrongly = mine.size - mine.hits if wrong == FN else mine.hits
        their_rate = 1 - theirs.rate if wrong == FN else theirs.rate
        expected = math.floor(their_rate * mine.size + Fraction(1, 2))
        if decision is None or wrongly <= expected:
            return None
        return Sentence(
            f"In these data {wrongly:,} {compared.subject}{among} {decision.happened}. At the "
            f"rate of {compared.other} it would have been about {expected:,}.",
            self._source(compared.contrast),
        )

    # how certain, what not, what next

    def _certainty(self) -> Iterator[Sentence]:
        shown = [self._first(), *self.compared] if self.compared else []
        done: set[int] = set()
        for finding, compared in shown:
            if id(finding) in done or len(done) == _MOST_FINDINGS:
                continue
            done.add(id(finding))
            text = compared.interval_sentence() if compared is not None else None
            if text is not None:
                yield Sentence(text, self._source(finding.estimate))
        undecided = sum(
            before_counting(each) in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            for each in self.report.verdicts
        )
        if undecided:
            yield Sentence(
                f"Inconclusive is not “no difference”: for {undecided:,} "
                f"{plural(undecided, 'comparison', 'comparisons')} the data are too few to decide, "
                "or the rate is not defined.",
                ("verdicts",),
            )
        small = [
            each
            for each in self.report.estimates
            if each.status is Status.TOO_FEW and each.scope.kind is ScopeKind.OVERALL
        ]
        groups = list(dict.fromkeys((e.feature, e.group) for e in small if e.group is not None))
        if groups and not undecided:
            named = [self.words.group(*each) for each in groups]
            yield Sentence(f"Too few rows for any conclusion about {listing(named, most=3)}.")

    def _limits(self) -> Iterator[Sentence]:
        spec, data = self.report.spec, self.report.data
        caveat = (spec.get("document") or {}).get("caveat")
        if caveat:
            yield Sentence(called(caveat), ("spec.document.caveat",))
        if self._assumed_positive():
            yield Sentence(
                "Which outcome is favourable was assumed, not stated: who is worse off may be the "
                "other way round.",
                ("spec.positive",),
            )
        strata = spec.get("strata")
        other = f" other than {called(strata)}" if strata else ""
        yield Sentence(
            f"Why. The table holds no causes{other}; whether a difference is unfair depends on "
            "context and law."
        )
        decided = spec.get("prediction") or spec.get("score")
        refused = self.words.event(TN + FN)
        if decided and spec.get("label") and self.report.task is Task.BINARY and refused:
            yield Sentence(
                f"How people fared {refused.among}: the data state an outcome for them, too. "
                "Ask where it comes from.",
                ("spec.label",),
            )
        features = listing([called(each["column"]) for each in spec.get("sensitive", ())])
        if features:
            yield Sentence(
                f"Groups that were not recorded or not asked about: {features} alone "
                f"{plural(len(spec.get('sensitive', ())), 'was', 'were')} examined.",
                ("spec.sensitive",),
            )
        period = (spec.get("document") or {}).get("period")
        yield Sentence(f"Other times and places{f' than {called(period)}' if period else ''}.")
        del data

    def _assumed_positive(self) -> bool:
        codes = (each.code for each in self.report.diagnostics)
        return self.report.task is Task.BINARY and (
            DiagnosticCode.ASSUMED_POSITIVE in codes or self._has_outcome_but_no_positive()
        )

    def _has_outcome_but_no_positive(self) -> bool:
        spec = self.report.spec
        return not spec.get("positive") and bool(spec.get("label") or spec.get("prediction"))

    def _steps(self) -> Iterator[Sentence]:
        spec = self.report.spec
        if self._assumed_positive():
            yield Sentence("State which value is the favourable outcome: --positive VALUE.")
        for each in self.report.diagnostics:
            if each.code is DiagnosticCode.MISSING_GROUPS:
                if each["rows"] > _MANY_WITHOUT_GROUP * each["total"]:
                    yield Sentence(
                        f"Complete {called(each.feature or '')}: {each['rows']:,} of "
                        f"{each['total']:,} rows have no group."
                    )
        failed = self.report.verdict is Outcome.FAIL
        if (failed or self.report.findings) and not spec.get("strata"):
            yield Sentence(
                "Compare alike with alike: --strata COLUMN, a column that may account for the "
                "difference."
            )
        if failed and spec.get("score") and spec.get("label"):
            yield Sentence("See what another threshold would change: fairgauge thresholds.")
        if failed:
            yield Sentence(
                "Decide who acts, then measure again: fairgauge compare tests the next report "
                "against this one."
            )
        if self.report.verdict is Outcome.INCONCLUSIVE:
            yield Sentence("Plan how many rows would decide: fairgauge plan.")
        if self.report.verdict is Outcome.PASS:
            yield Sentence("Watch the same rules over time: fairgauge monitor.")
        if not self.report.verdicts:
            yield Sentence("State what difference is tolerable: --rule 'METRIC >= LIMIT'.")


def _failed(finding: Finding, failed: set[tuple[str, str | None, str | None]]) -> bool:
    parts = (finding.estimate, *([finding.ratio] if finding.ratio is not None else []))
    return any((each.metric, each.feature, each.group) in failed for each in parts)


def adverse_sign(row: Rate, favourable: Favourable) -> int:
    """Return the sign of a difference that is to the disadvantage of a group; 0 of neither.

    Where the negative decision is the better one for a person, to be selected is a harm, as is to
    be selected wrongly. Predictive values have no direction: a higher one may mean a higher bar.
    """
    if favourable is Favourable.NEITHER or row.better is Better.NEITHER:
        return 0
    if row.of in (TP + TN, FP + FN):
        return -1 if row.of == TP + TN else 1
    event = _event_of(row)
    if event not in (TP + FP, TN + FN):
        return 0
    to_decision = event == TP + FP
    good = favourable is Favourable.POSITIVE
    if row.among == TN + FP and good:
        return 0  # a favourable decision in spite of the outcome may be a gift or a burden
    if row.among == TP + FN and not good:
        return 0
    return -1 if to_decision == good else 1


def _event_of(row: Rate) -> object:
    """Return the sum of cells that a rate's event is among all rows: TP of TP + FN is TP + FP."""
    for event in (TP + FP, TN + FN):
        if row.among != event and _overlap(event, row.among) == row.of:
            return event
    for event in (TP + FN, TN + FP):
        if row.among != event and _overlap(event, row.among) == row.of:
            return event
    return None


def _overlap(event: object, among: object) -> object:
    coefficients = zip(event.coefficients, among.coefficients, strict=True)
    return type(event)(*(a * b for a, b in coefficients))


def _is_difference(contrast: Estimate) -> bool:
    return contrast.definition.neutral == 0


def _is_one_group(words: Vocabulary, contrast: Estimate) -> bool:
    """Return whether the reference is one group, so that a comparison can be read backwards."""
    reference = contrast.reference
    if reference is None:
        return False
    if reference.group is not None:
        return True
    return reference.kind is ReferenceKind.OTHERS and len(words.others(contrast)) == 1


def _share(report: Report, contrast: Estimate, row: Rate) -> Share | None:
    found = _group(report, contrast, contrast.group)
    return None if found is None else _share_of(found, row)


def _share_of(group: Group, row: Rate) -> Share | None:
    value = group.rates.get(row.name)
    if value is None or value.value is None:
        return None
    weighted, protected = group.weight is not None, value.bounds is not None
    if value.numerator is None or not value.denominator or weighted or protected:
        return Share(Fraction(value.value))
    return Share.counted(int(value.numerator), int(value.denominator))


def _reference_share(report: Report, contrast: Estimate, row: Rate) -> Share | None:
    """Return the share of the reference: of all others, what is left of all rows together."""
    reference = contrast.reference
    if reference is None or contrast.rate_reference is None:
        return None
    if reference.group is not None:
        found = _group(report, contrast, reference.group)
        return None if found is None else _share_of(found, row)
    mine, every = _group(report, contrast, contrast.group), _total(report, contrast)
    if mine is not None and every is not None:
        own, whole = _share_of(mine, row), _share_of(every, row)
        if reference.kind is ReferenceKind.OVERALL:
            return whole
        if own and whole and own.size and whole.size and whole.size > own.size:
            hits = (whole.hits or 0) - (own.hits or 0)
            left = Share.counted(hits, whole.size - own.size)
            if math.isclose(left.rate, contrast.rate_reference, rel_tol=1e-9):
                return left
    return Share(Fraction(contrast.rate_reference))


def _group(report: Report, contrast: Estimate, name: str | None) -> Group | None:
    return next((g for g in report.groups if g.group == name and _same_place(g, contrast)), None)


def _total(report: Report, contrast: Estimate) -> Group | None:
    return next(
        (
            g
            for g in report.totals
            if g.reference_kind is ReferenceKind.OVERALL and _same_place(g, contrast)
        ),
        None,
    )


def _same_place(group: Group, contrast: Estimate) -> bool:
    return (
        group.feature == contrast.feature
        and group.scope == contrast.scope
        and group.class_scope == contrast.class_scope
        and group.threshold == contrast.threshold
    )
