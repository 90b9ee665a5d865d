"""The document of a report: one screen by default, the whole record on demand."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from fairgauge.enums import (
    Average,
    ClassKind,
    DiagnosticCode,
    Level,
    Outcome,
    Profile,
    ReferenceKind,
    Status,
)
from fairgauge.render import numbers, question
from fairgauge.render.command_line import command
from fairgauge.render.diagnostic_sentences import describe_diagnostic
from fairgauge.render.display_names import called, printable, shorten
from fairgauge.render.document import (
    Block,
    Cell,
    Chart,
    ChartRow,
    Code,
    Column,
    Document,
    Facts,
    Glossary,
    Heading,
    Items,
    Mark,
    Paragraph,
    ScoreCharts,
    Section,
    SignOff,
    Table,
    Tone,
    Unit,
)
from fairgauge.render.estimate_sentences import reference_name
from fairgauge.render.finding_sentences import (
    adjusted_sentence,
    describe_finding,
    group_words,
    no_finding_sentence,
    uncertainty,
)
from fairgauge.render.glossary import anchor, metric_entries, rate_entries
from fairgauge.render.method_descriptions import described_methods
from fairgauge.render.metric_words import (
    CENTRAL,
    compared_rate,
    is_share,
    marked,
    metric_words,
    neutral,
    rate_heading,
    rate_value,
    rate_words,
    shown,
    shown_range,
    signed,
    significant,
    unit,
    value_text,
)
from fairgauge.render.names_in_use import all_rates, metric_row
from fairgauge.render.outline import (
    adjustments,
    conditional,
    findings,
    gravest,
    insignificant,
    reverses,
    sections_of,
    verdicts_by_rule,
)
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.render.verdict_sentences import describe_evidence
from fairgauge.spec.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.render.outline import Finding
    from fairgauge.render.outline import Section as Results
    from fairgauge.report.estimates import Estimate, Group, GroupPair
    from fairgauge.report.report import Report
    from fairgauge.report.results import ClassScope
    from fairgauge.report.verdicts import Verdict

_TONES = {
    Outcome.PASS: Tone.GOOD,
    Outcome.FAIL: Tone.BAD,
    Outcome.INCONCLUSIVE: Tone.UNSURE,
    Outcome.NOT_EVALUATED: Tone.UNSURE,
    Outcome.NONE: Tone.SOFT,
}
_LONGEST_TEXT = 400
_LONGEST_SPEC = 20_000
_MOST_GROUPS = 12
_MOST_GROUPS_FULL = 200
_MOST_SECTIONS = 6
_MOST_SECTIONS_FULL = 24
_MOST_RATES = 8
_MOST_METRICS = 40
_MOST_CHART_ROWS = 24
_CHART_ROWS_IN_ALL, _CHART_ROWS_BESIDE_SCORES = 900, 300
_MOST_PAIRS = 30
_MOST_STRATA = 30
_MOST_LISTED, _MOST_LISTED_BESIDE_SCORES = 1_000, 500
_MOST_MATRIX_ROWS, _MOST_DRAWN_MATRIX_ROWS = 150, 60
_MOST_NAMED = 3
_MOST_DECIDING = 2
_MOST_NOTES = 60
_OVERALL = "overall"
SIGNIFICANT = "* statistically significant after adjustment"
INSUFFICIENT = "? insufficient data"

LIMITS = (
    (
        "It does not state that a model is fair or unfair. Disparities are measured facts; "
        "whether one is acceptable depends on context, law and causes that the table does not "
        "hold."
    ),
    (
        "Demographic parity, equalized odds, predictive parity and calibration cannot in "
        "general hold together when base rates differ. Which of them matters is a decision "
        "about people."
    ),
    (
        "It compares and does not explain: a disparity can come from the model, the data, the "
        "world that the data describe, or sampling variation."
    ),
    (
        "Labels are taken as they are. Where labels are biased (arrests for crimes, past "
        "hirings for ability), error rates measured against them are biased too."
    ),
    (
        "Groups are as recorded. People who are missing, misrecorded or never asked are not "
        "seen, and groups below the minimum size carry no verdict."
    ),
    "It describes these rows. Other people, places and times need an audit of their own.",
    "A limit in a rule is a convention that somebody chose. Meeting it is no legal opinion.",
)
"""What no report can show."""


def report_document(report: Report, *, full: bool = False) -> Document:
    """Build the document of a report.

    Parameters
    ----------
    full : bool
        Whether it is the whole record, with charts, pairs, strata, methods and every number, or
        what fits one screen.
    """
    results = sections_of(report)
    builder = _Full(report, results) if full else _Summary(report, results)
    fields = question.document(report)
    rows = report.data.rows
    used = "all used" if report.data.used == rows else f"{numbers.count(report.data.used)} used"
    cases = report.data.cases
    cases_words = f" ({numbers.count(cases)} cases)" if cases != rows else ""
    return Document(
        title=called(fields.get("title") or f"Fairness audit: {question.source(report)}"),
        beside=f"{numbers.count(rows)} {numbers.plural(rows, 'row', 'rows')}{cases_words}, {used}",
        lead=question.lead(report),
        cover=tuple((key, called(fields[key])) for key in question.COVER if key in fields),
        verdict=_verdict(report),
        tone=_TONES[report.verdict],
        sections=tuple(builder.sections()),
        created=report.created,
        version=report.version,
    )


def _verdict(report: Report) -> str:
    """Return what all rules come to: ``FAIL: 1 of 2 rules``."""
    rules = verdicts_by_rule(report)
    if not rules:
        return ""
    outcomes = [gravest(verdicts) for _, verdicts in rules]
    count = outcomes.count(report.verdict)
    noun = numbers.plural(len(rules), "rule", "rules")
    return f"{_outcome(report.verdict).upper()}: {count:,} of {len(rules):,} {noun}"


class _Summary:
    """The parts that fit one screen."""

    whole = False
    most_findings = 4

    def __init__(self, report: Report, results: list[Results]) -> None:
        self.report = report
        self.results = results
        self.findings = findings(results)[: self.most_findings]
        self.rules = rules_of(report)
        self.column = called(report.spec.get("strata") or "the strata")

    def sections(self) -> Iterator[Section]:
        """Yield the rules, the findings, a table for each feature, and the notes."""
        if self.report.verdicts:
            yield Section("rules", "Rules", (Facts(tuple(self._rule_lines())),), short="Rules")
        yield Section("findings", "Findings", tuple(self._finding_sentences()), short="Findings")
        cells: list[str] = []
        having = [each for each in self.results if each.groups]
        shown = [each for each in having if _in_summary(each.class_scope)][:_MOST_SECTIONS]
        for i, each in enumerate(shown):
            blocks = tuple(self._tables(each, _MOST_GROUPS, _MOST_RATES))
            cells += [c.text for b in blocks if isinstance(b, Table) for r in b.rows for c in r]
            yield Section(f"feature-{i}", called(each.name), blocks)
        whole = [each for each in self.report.estimates if each.feature is None]
        if whole:
            yield Section("whole", "All rows", (Items(tuple(map(_metric_sentence, whole))),))
        more = len(having) - len(shown)
        yield Section("notes", "Notes", tuple(self._closing(cells, more)))

    def _rule_lines(self) -> Iterator[tuple[str, str]]:
        for rule, verdicts in verdicts_by_rule(self.report):
            metric = verdicts[0].metric
            yield rule_words(self.rules.get(rule), rule, metric), _outcome_words(verdicts)

    def _finding_sentences(self) -> Iterator[Block]:
        if self.findings:
            told = tuple(describe_finding(each, self.column) for each in self.findings)
            yield Items(told, numbered=True)
        rest = [no_finding_sentence(*each) for each in insignificant(self.results)]
        rest += self._adjustment_sentences()
        rest += self._insufficient()
        if not self.findings and not rest:
            rest = ["No difference could be tested for statistical significance."]
        yield from map(Paragraph, rest[:_MOST_NAMED])

    def _adjustment_sentences(self) -> Iterator[str]:
        """Yield reversals that no finding states."""
        told = {(f.section.feature, f.difference.metric) for f in self.findings if f.adjusted}
        for section in self.results:
            for overall, adjusted in adjustments(section):
                known = (section.feature, overall.metric) in told
                if not known and compared_rate(overall.metric) and reverses(overall, adjusted):
                    words = metric_words(overall.metric)
                    yield (
                        f"{group_words(overall, section)}, {words} {value_text(overall)}. "
                        f"{adjusted_sentence(overall, adjusted, self.column)}"
                    )

    def _insufficient(self) -> Iterator[str]:
        """Yield the groups about which the data are insufficient."""
        sparse: dict[str, str] = {}
        for section in self.results:
            if section.class_scope.kind in (ClassKind.NONE, ClassKind.AVERAGE):
                for group in section.groups:
                    own = [e for e in section.estimates if e.group == group.group]
                    if own and all(
                        e.status is Status.TOO_FEW for e in own if compared_rate(e.metric)
                    ):
                        name = f"{called(group.group)} ({called(section.feature)})"
                        sparse[name] = f"{name}, n = {numbers.count(group.n)}"
        if sparse:
            yield f"Insufficient data for any conclusion: {'; '.join(list(sparse.values())[:8])}."

    def _tables(self, section: Results, most: int, rates: int) -> Iterator[Block]:
        yield group_table(section, most, section.rates[:rates], ratios=self.whole)
        other = _other_metrics(section)
        if other:
            yield metric_table(section, other[:_MOST_METRICS], most)
        if section.across:
            yield Items(tuple(_metric_sentence(each) for each in section.across[:_MOST_METRICS]))

    def _closing(self, cells: list[str], more: int) -> Iterator[Block]:
        report = self.report
        shares = any(is_share(rate) for section in self.results for rate in section.rates)
        legend = "; ".join(_legend(cells, shares=shares))
        if legend:
            yield Paragraph(f"{legend}.", Tone.SOFT)
        parts = []
        if more > 0:
            noun = numbers.plural(more, "table", "tables")
            parts.append(f"{more:,} more {noun} of features, classes or thresholds")
        notes = len(_notes(report))
        if notes:
            parts.append(f"{notes:,} {numbers.plural(notes, 'note', 'notes')}")
        excluded = question.excluded(report)
        if excluded:
            yield Paragraph(f"Excluded: {_exclusions(excluded)}.", Tone.SOFT)
        yield Paragraph(f"{' and '.join(parts)} in the full report." if parts else "", Tone.SOFT)


class _Full(_Summary):
    """The whole record."""

    whole = True
    most_findings = 5

    def sections(self) -> Iterator[Section]:
        """Yield the rules, findings, overview, features, scores, data, methods and every number."""
        report = self.report
        if report.verdicts:
            yield Section("rules", "Rules", tuple(self._rule_charts()), short="Rules")
        yield Section("findings", "Findings", tuple(self._finding_charts()), short="Findings")
        yield from self._overview()
        shown = self.results[:_MOST_SECTIONS_FULL]
        rows = _CHART_ROWS_BESIDE_SCORES if report.scores else _CHART_ROWS_IN_ALL
        room = rows // max(1, len(shown))
        details = [self._detail(i, each, room) for i, each in enumerate(shown)]
        more = len(self.results) - len(shown)
        left = [Paragraph(f"{more:,} more in the JSON report.", Tone.SOFT)] if more > 0 else []
        whole = [each for each in report.estimates if each.feature is None]
        if whole:
            details.append(
                Section("whole", "All rows", (Items(tuple(map(_metric_sentence, whole))),))
            )
        yield Section("details", "Details", (*details, *left), short="Details")
        if report.scores:
            yield Section("scores", "Scores and thresholds", (ScoreCharts(),), short="Scores")
        yield Section("data", "Data", tuple(self._data()), short="Data")
        yield Section("methods", "Methods", tuple(self._methods()), short="Methods")
        yield Section("limits", "What this report does not show", (Items(LIMITS),), short="Limits")
        yield Section("all", "All numbers", tuple(self._all_numbers()), short="All numbers")
        yield Section("glossary", "Glossary", (self._glossary(),), short="Glossary")
        yield Section("provenance", "Provenance", tuple(self._provenance()), short="Provenance")

    def _rule_charts(self) -> Iterator[Block]:
        for rule, verdicts in verdicts_by_rule(self.report):
            yield rule_chart(self.rules.get(rule), rule, verdicts)

    def _finding_charts(self) -> Iterator[Block]:
        for i, finding in enumerate(self.findings):
            yield Paragraph(f"{i + 1}. {describe_finding(finding, self.column)}")
            yield finding_chart(finding)
        numbered = [b for b in self._finding_sentences() if not isinstance(b, Items)]
        yield from numbered

    def _overview(self) -> Iterator[Section]:
        rates = [
            rate
            for rate in CENTRAL
            if any(rate in section.rates and section.differences(rate) for section in self.results)
        ]
        kinds = (ClassKind.NONE, ClassKind.CLASS)
        rows = [
            _overview_row(section, group, rates, i)
            for i, section in enumerate(self.results)
            if section.class_scope.kind in kinds
            for group in section.groups
            if group.reference_kind is None
        ]
        if not rates or not rows:
            return
        columns = [
            Column("feature", numeric=False), Column("group", numeric=False), Column("n"),
            *(Column(rate_words(rate), link=anchor("rate", rate)) for rate in rates),
        ]  # fmt: skip
        notes = [
            "Rates in %, differences in percentage points (pp) with confidence intervals.",
            f"{SIGNIFICANT}. {INSUFFICIENT}.",
        ]
        if len(rows) > _MOST_MATRIX_ROWS:
            notes.append(f"{len(rows) - _MOST_MATRIX_ROWS:,} more groups are in the details.")
        table = Table(
            "Every group and rate, with its difference from the reference",
            tuple(columns),
            tuple(rows[:_MOST_MATRIX_ROWS]),
            notes=tuple(notes),
            matrix=len(rows) <= _MOST_DRAWN_MATRIX_ROWS,
        )
        yield Section("overview", "Overview", (table,), short="Overview")

    def _detail(self, i: int, section: Results, room: int) -> Section:
        blocks: list[Block] = []
        if section.groups:
            blocks += self._tables(section, _MOST_GROUPS_FULL, len(section.rates))
        charts = list(self._charts(section, room))
        if charts:
            reference = _reference_of(section)
            blocks.append(Heading(f"Differences from {reference}"))
            blocks += charts
        blocks += self._strata(section)
        if section.pairs:
            blocks.append(_pairs(section, i, max(3, room // 10), self.report))
        if any(group.counts for group in section.groups):
            blocks.append(
                Section(f"matrices-{i}", "Confusion matrices", (_matrices(section),), folded=True)
            )
        missing = _missing(section.missing)
        if missing:
            blocks.append(Heading("No value"))
            blocks.append(Items(tuple(missing)))
        folded = not _in_summary(section.class_scope)
        return Section(f"feature-{i}", called(section.name), tuple(blocks), folded=folded)

    def _charts(self, section: Results, room: int) -> Iterator[Chart]:
        rows = min(len(section.groups) or 1, _MOST_CHART_ROWS)
        metrics = [m for m in section.metrics if metric_row(m) is not None]
        metrics.sort(key=lambda m: (_place(m), metric_row(m).set != "native"))  # type: ignore[union-attr]
        most = max(4, room // rows)
        for metric in metrics[:most]:
            yield metric_chart(section, metric)

    def _strata(self, section: Results) -> Iterator[Block]:
        if not section.strata and not section.adjusted:
            return
        column = self.column
        yield Heading(f"Adjusted for {column} ({len(section.strata):,} strata)")
        pairs = [p for p in adjustments(section) if unit(p[0].metric) is not Unit.RATIO]
        chosen: dict[str, tuple[Estimate, Estimate]] = {}
        for overall, _ in pairs:
            rate = compared_rate(overall.metric)
            if rate and rate not in chosen:
                ours = [p for p in pairs if compared_rate(p[0].metric) == rate]
                chosen[rate] = max(ours, key=lambda p: _size(p[0]))
        for rate, (overall, adjusted) in chosen.items():
            words = f"{group_words(overall, section)}, {rate_words(rate)}: "
            sentence = adjusted_sentence(overall, adjusted, column)
            yield Paragraph(f"{words}{uncertainty(overall)} overall. {sentence}")
            if len(chosen) <= 2 or reverses(overall, adjusted):
                yield from self._in_strata(section, rate, overall, adjusted)
        others = conditional(section)
        if others:
            yield Items(tuple(map(_metric_sentence, others[:_MOST_METRICS])))

    def _in_strata(
        self, section: Results, rate: str, overall: Estimate, adjusted: Estimate
    ) -> Iterator[Block]:
        inside = [e for e in section.inside
                  if (e.metric, e.group) == (overall.metric, overall.group)]  # fmt: skip
        names = section.strata[:_MOST_STRATA]
        shown_inside = [each for each in inside if str(each.stratum) in names]
        rows = [
            _chart_row(overall, "all rows", emphasis=True),
            *(_chart_row(each, called(each.stratum)) for each in shown_inside),
            _chart_row(adjusted, f"adjusted for {self.column}", emphasis=True),
        ]
        more = len(section.strata) - len(names)
        yield Chart(
            f"{_capital(metric_words(overall.metric))} of {called(overall.group)} by {self.column}",
            tuple(rows),
            unit(overall.metric),
            neutral(overall.metric),
            link=anchor("metric", overall.metric),
            notes=(f"{more:,} more strata in the JSON report.",) if more > 0 else (),
        )
        by_key = {(g.stratum, g.group): g for g in section.groups_inside}
        groups = [group.group for group in section.groups[:_MOST_RATES]]
        columns = [Column(self.column, numeric=False)]
        for group in groups:
            columns += [Column(f"{called(group)}, n"), Column(_percent_heading(rate))]
        table_rows = []
        for name in names:
            cells = [Cell(called(name), name=True)]
            for group in groups:
                found = by_key.get((name, group))
                cells += [
                    Cell(numbers.count(found.n) if found else "0"),
                    Cell(rate_value(rate, found.rates.get(rate)) if found else "-"),
                ]
            table_rows.append(tuple(cells))
        yield Table(
            f"{_capital(rate_words(rate))} by {self.column}", tuple(columns), tuple(table_rows)
        )

    def _data(self) -> Iterator[Block]:
        report = self.report
        yield Facts(tuple(question.question(report)))
        excluded = question.excluded(report)
        if excluded:
            yield Table(
                "Excluded rows",
                (Column("reason", numeric=False), Column("rows")),
                tuple((Cell(why), Cell(numbers.count(rows))) for why, rows in excluded),
            )
        else:
            yield Paragraph("No row was excluded.")
        notes = _notes(report)
        if notes:
            yield Heading("Notes")
            yield Items(tuple(notes[:_MOST_NOTES]))

    def _methods(self) -> Iterator[Block]:
        report, spec = self.report, self.report.spec
        yield Paragraph(
            "Rows were counted once, by group, label and prediction; every number comes from these "
            "counts. A rate is a share or ratio of counts within one group; a disparity compares "
            "the rate of a group with that of its reference."
        )
        if report.profile is Profile.CLARIFY:
            yield Paragraph(
                "Profile clarify: the numbers are those of smclarify, edge cases included."
            )
        else:
            yield Paragraph(
                "Profile documented: every metric is computed as its source defines it. Where a "
                "formula divides by zero the result is undefined, or infinite, and never replaced."
            )
        found = described_methods(report)
        if not found:
            yield Paragraph(
                "No confidence intervals were computed, so nothing here states how much of a "
                "disparity is sampling variation."
            )
            return
        yield Paragraph(
            "Confidence intervals state which values are compatible with these rows. They do not "
            "cover errors in labels or groups, nor who is missing from the data. p-values are of "
            "“no difference”, adjusted for the number of groups that are compared. "
            f"Seed {spec.get('seed')}, {numbers.count(spec.get('replicates') or 0)} replicates "
            "where random numbers are drawn."
        )
        yield Table(
            "How the confidence intervals were made",
            (
                Column("method", numeric=False),
                Column("what it is", numeric=False),
                Column("used for", numeric=False),
            ),
            tuple(
                (Cell(each.name), Cell(each.text), Cell(numbers.listing(each.used_for)))
                for each in found
            ),
        )

    def _all_numbers(self) -> Iterator[Block]:
        estimates = self.report.estimates
        listed = estimates
        most = _MOST_LISTED_BESIDE_SCORES if self.report.scores else _MOST_LISTED
        if len(estimates) > most:
            whole = [e for e in estimates if e.stratum is None]
            listed = tuple((whole + [e for e in estimates if e.stratum is not None])[:most])
        strata = any(each.stratum is not None or each.scope.kind != "overall" for each in listed)
        columns = [
            Column("metric", numeric=False), Column("feature", numeric=False),
            Column("group", numeric=False), Column("compared with", numeric=False),
            *([Column("stratum", numeric=False)] if strata else []),
            Column("value"), Column("low"), Column("high"), Column("p (adjusted)"),
            Column("n"), Column("status", numeric=False),
        ]  # fmt: skip
        more = len(estimates) - len(listed)
        yield Table(
            "Every comparison" + (f"; {more:,} more in the JSON and CSV reports" if more else ""),
            tuple(columns),
            tuple(_listed(each, strata=strata) for each in listed),
            id="estimates",
        )

    def _glossary(self) -> Glossary:
        metrics = dict.fromkeys(each.metric for each in self.report.estimates)
        rates = {name for group in self.report.groups for name in group.rates}
        rates |= {rate for name in metrics if (rate := compared_rate(name))}
        return Glossary(
            (
                *metric_entries(metrics),
                *rate_entries(r.name for r in all_rates() if r.name in rates),
            )
        )

    def _provenance(self) -> Iterator[Block]:
        report = self.report
        yield Facts(
            (
                ("source", called(report.data.source)),
                ("digest of the counts", report.data.fingerprint),
                ("made by", f"fairgauge {report.version}"),
                ("made at", report.created),
            )
        )
        repeat = command(report)
        if repeat:
            yield Heading("The command that repeats this audit")
            yield Code(printable(repeat))
        else:
            yield Paragraph(
                "To repeat this audit, save the specification as audit.json and run "
                "fairgauge audit DATA -c audit.json."
            )
        yield Heading("The specification, defaults included")
        text = json.dumps(report.to_dict()["spec"], indent=2, ensure_ascii=False)
        lines = "\n".join(printable(line) for line in text.split("\n"))
        yield Code(lines if len(lines) <= _LONGEST_SPEC else f"{lines[:_LONGEST_SPEC]} ...")
        yield SignOff(("Prepared by", "Reviewed by", "Approved by"))


def _in_summary(scope: ClassScope) -> bool:
    """Return whether a section is of all classes at once: those of single ones are many."""
    return scope.kind is ClassKind.NONE or scope.average is Average.MACRO


def rules_of(report: Report) -> dict[str, Rule]:
    """Return the rules of a report by their text."""
    every = (
        Rule(each["metric"], each.get("at_least", -math.inf), each.get("at_most", math.inf))
        for each in report.spec.get("rules", ())
    )
    return {str(rule): rule for rule in every}


def rule_words(rule: Rule | None, text: str, metric: str) -> str:
    """Return a rule with its metric and limits in words: ``selection rate ratio >= 0.8``."""
    words = metric_words(metric)
    if rule is None:
        return called(text)
    low, high = (_limit(end, metric) for end in (rule.low, rule.high))
    if math.isinf(rule.high):
        return f"{words} >= {low}"
    return f"{words} <= {high}" if math.isinf(rule.low) else f"{low} <= {words} <= {high}"


def _limit(value: float, metric: str) -> str:
    if unit(metric) is Unit.POINTS:
        return numbers.minus(f"{100 * value:g} pp")
    return numbers.minus(f"{value:g}")


def _outcome_words(verdicts: Sequence[Verdict]) -> str:
    """Return what a rule comes to: which groups decide, and how many there are of the others."""
    worst = verdicts[0].outcome
    word = _outcome(worst).upper()
    deciding = [each for each in verdicts if each.outcome is worst]
    if worst is Outcome.PASS:
        return f"PASS for {_groups(len(deciding))}"
    named = [_verdict_group(each) for each in deciding[:_MOST_DECIDING]]
    text = f"{word} for {', '.join(named)}"
    if len(deciding) > len(named):
        text += f" and {len(deciding) - len(named):,} more"
    outcomes = [each.outcome for each in verdicts if each.outcome is not worst]
    rest = [f"{outcomes.count(each):,} {_outcome(each)}" for each in dict.fromkeys(outcomes)]
    return "; ".join([text, ", ".join(rest)]) if rest else text


def _outcome(outcome: Outcome) -> str:
    return str(outcome).replace("_", " ")


def _groups(count: int) -> str:
    return f"{count:,} {numbers.plural(count, 'group', 'groups')}"


def _verdict_group(verdict: Verdict) -> str:
    if verdict.group is None:
        return called(verdict.feature or "no group")
    held = _held(verdict) if verdict.value is not None else ""
    return f"{called(verdict.group)} ({held})" if held else called(verdict.group)


def _held(verdict: Verdict) -> str:
    """Return the value that a rule was held against, with its interval."""
    kind, sign = unit(verdict.metric), signed(verdict.metric)
    text = shown(verdict.value, kind, sign=sign) + (" pp" if kind is Unit.POINTS else "")
    if verdict.interval is None:
        return text
    return f"{text}, CI {shown_range(verdict.interval.low, verdict.interval.high, kind, sign=sign)}"


def rule_chart(rule: Rule | None, text: str, verdicts: Sequence[Verdict]) -> Chart:
    """Return every verdict of a rule, the gravest first, with the range that the rule allows."""
    metric = verdicts[0].metric
    rows = [
        ChartRow(
            _verdict_name(each),
            Mark(
                each.value,
                each.interval.low if each.interval else None,
                each.interval.high if each.interval else None,
                sparse=each.outcome is Outcome.NOT_EVALUATED,
            ),
            _held(each) if each.value is not None else "-",
            below=shorten(printable(_capital(describe_evidence(each))), _LONGEST_TEXT),
            badge=_outcome(each.outcome),
            tone=_TONES[each.outcome],
        )
        for each in verdicts[:_MOST_GROUPS_FULL]
    ]
    more = len(verdicts) - len(rows)
    return Chart(
        _capital(rule_words(rule, text, metric)),
        tuple(rows),
        unit(metric),
        neutral(metric) if metric_row(metric) else None,
        allowed=(rule.low, rule.high) if rule else None,
        link=anchor("metric", metric) if metric_row(metric) else "",
        notes=(f"{more:,} more verdicts in the JSON report.",) if more > 0 else (),
    )


def _verdict_name(verdict: Verdict) -> str:
    if verdict.group is None:
        return called(verdict.feature or "no group")
    name = called(verdict.group)
    return f"{name} ({called(verdict.feature)})" if verdict.feature else name


def finding_chart(finding: Finding) -> Chart:
    """Return the differences of all groups in the rate of a finding, its own group first."""
    section, metric = finding.section, finding.difference.metric
    ranked = sorted(
        (e for e in section.estimates if e.metric == metric),
        key=lambda e: (e.group != finding.difference.group, e.status is Status.TOO_FEW, -_size(e)),
    )
    rows = [
        _chart_row(each, _group_and_rates(each), emphasis=each.group == finding.difference.group)
        for each in ranked[:_MOST_GROUPS]
    ]
    return Chart(
        f"{_capital(metric_words(metric))}, groups of {called(section.name)}",
        tuple(rows),
        unit(metric),
        neutral(metric),
        link=anchor("metric", metric),
    )


def _group_and_rates(each: Estimate) -> str:
    rate = compared_rate(each.metric)
    if rate is None or each.rate_group is None or each.rate_reference is None:
        return called(each.group)
    show = numbers.percent if is_share(rate) else numbers.amount
    return f"{called(each.group)}: {show(each.rate_group)} vs {show(each.rate_reference)}"


def metric_chart(section: Results, metric: str) -> Chart:
    """Return a metric of every group of a section, on one axis."""
    found = [each for each in section.estimates if each.metric == metric]
    kept = found
    if len(found) > _MOST_CHART_ROWS:
        far = {id(e) for e in sorted(found, key=_size, reverse=True)[:_MOST_CHART_ROWS]}
        kept = [each for each in found if id(each) in far]
    more = len(found) - len(kept)
    return Chart(
        _capital(metric_words(metric)),
        tuple(_chart_row(each, called(each.group)) for each in kept),
        unit(metric),
        neutral(metric),
        link=anchor("metric", metric),
        notes=(f"The {len(kept)} furthest from no difference of {len(found):,} groups.",)
        if more else (),
    )  # fmt: skip


def _chart_row(each: Estimate, label: str, *, emphasis: bool = False) -> ChartRow:
    p_value = each.p_adjusted if each.p_adjusted is not None else each.p_value
    kind = "adjusted p" if each.p_adjusted is not None else "p"
    below = [numbers.probability(p_value, kind)]
    if each.status is Status.TOO_FEW:
        below.append("insufficient data")
    kind_of, sign = unit(each.metric), signed(each.metric)
    ends = shown_range(each.low, each.high, kind_of, sign=sign)
    pp = " pp" if kind_of is Unit.POINTS else ""
    text = shown(each.value, kind_of, sign=sign) + pp
    return ChartRow(
        label,
        Mark(each.value, each.low, each.high, sparse=each.status is Status.TOO_FEW),
        f"{text} ({ends})" if ends else text,
        below=", ".join(filter(None, below)),
        emphasis=emphasis,
    )


def _size(each: Estimate) -> float:
    """Return how far a point estimate is from "no difference"; a ratio as far as its inverse."""
    value, middle = each.value or 0.0, neutral(each.metric)
    if math.isinf(value):
        return -1.0
    if middle == 1:
        return abs(math.log(value)) if value > 0 else math.inf
    return abs(value - middle)


def group_table(section: Results, most: int, rates: Sequence[str], *, ratios: bool) -> Table:
    """Return the rates of the groups of a section, each with its difference from the reference."""
    largest = sorted(section.groups, key=lambda group: -group.n)[:most]
    groups = [group for group in section.groups if group in largest]
    columns = [Column(called(section.name), numeric=False), Column("n")]
    against = _heading_of_reference(section)
    compared: list[tuple[str, bool, bool]] = []
    for rate in rates:
        has = [
            any(section.find(f"{rate}.{by}", group.group) for group in groups)
            for by in ("difference", "ratio")
        ]
        has[1] = has[1] and (ratios or not has[0])
        compared.append((rate, has[0], has[1]))
        columns.append(Column(_percent_heading(rate), link=anchor("rate", rate)))
        columns += [Column(against, joined=True)] if has[0] else []
        columns += [Column("ratio", joined=True)] if has[1] else []
    rows = [_group_cells(section, group, compared) for group in groups]
    totals = [_group_cells(section, section.total, compared)] if section.total else []
    cells = [cell.text for row in rows for cell in row]
    shares = any(map(is_share, rates))
    notes = list(_legend(cells, shares=shares)) if ratios else []
    if len(section.groups) > len(groups):
        more = len(section.groups) - len(groups)
        notes.append(f"the {len(groups)} largest groups, {more:,} more in the JSON report")
    return Table(
        f"Groups of {called(section.name)}",
        tuple(columns),
        tuple(rows),
        tuple(totals),
        notes=("   ".join(notes),) if notes else (),
    )


def _legend(cells: Iterable[str], *, shares: bool) -> Iterator[str]:
    """Yield what the marks of a table mean, those that it has."""
    endings = {text[-1:] for text in cells}
    if "*" in endings:
        yield SIGNIFICANT
    if "?" in endings:
        yield INSUFFICIENT
    if shares:
        yield "rates in %, differences in pp"


def _percent_heading(rate: str) -> str:
    return rate_heading(rate)


def _heading_of_reference(section: Results) -> str:
    kinds = {each.reference for each in section.estimates if each.reference}
    if len(kinds) == 1:
        return f"vs {shorten(called(reference_name(next(iter(kinds)))), 20)}"
    return "vs reference"


def _reference_of(section: Results) -> str:
    kinds = {each.reference for each in section.estimates if each.reference}
    if len(kinds) != 1:
        return "the reference"
    only = next(iter(kinds))
    named = {ReferenceKind.OTHERS: "all other groups", ReferenceKind.OVERALL: "all rows"}
    return named.get(only.kind) or called(reference_name(only))


def _group_cells(
    section: Results, group: Group, compared: Sequence[tuple[str, bool, bool]]
) -> tuple[Cell, ...]:
    total = group.reference_kind is ReferenceKind.OVERALL
    cells = [Cell(_OVERALL if total else called(group.group), name=not total)]
    cells.append(Cell(numbers.count(group.n)))
    for rate, difference, ratio in compared:
        cells.append(Cell(rate_value(rate, group.rates.get(rate))))
        for by, has in (("difference", difference), ("ratio", ratio)):
            if has:
                each = None if total else section.find(f"{rate}.{by}", group.group)
                cells.append(Cell(_marked_value(each) if each else ""))
    return tuple(cells)


def _marked_value(each: Estimate) -> str:
    text = shown(each.value, unit(each.metric), sign=signed(each.metric))
    return marked(text, each)


def _other_metrics(section: Results) -> list[str]:
    """Return the metrics that the table of rates does not hold."""
    found = []
    for metric in section.metrics:
        row = metric_row(metric)
        rate = compared_rate(metric)
        ours = row is not None and row.set in ("native", "own")
        if not ours or rate is None or metric.rpartition(".")[0] != rate:
            found.append(metric)
    return found


def metric_table(section: Results, metrics: Sequence[str], most: int) -> Table:
    """Return the values of metrics for every group, with a vendor's names and signs."""
    groups = list(dict.fromkeys(str(e.group) for e in section.estimates if e.metric in metrics))
    rows = []
    for group in groups[:most]:
        found = (section.find(metric, group) for metric in metrics)
        values = [Cell(_marked_value(each) if each else "-") for each in found]
        rows.append((Cell(called(group), name=True), *values))
    columns = [Column(called(section.name), numeric=False)]
    columns += [Column(_code(metric), link=anchor("metric", metric)) for metric in metrics]
    sets = {row.set for metric in metrics if (row := metric_row(metric))}
    vendors = [name for key, name in (("clarify", "Clarify"), ("vertex", "Vertex")) if key in sets]
    caption = f"{' and '.join(vendors)} metrics" if vendors else "Other metrics"
    return Table(f"{caption} of {called(section.name)}", tuple(columns), tuple(rows))


def _code(metric: str) -> str:
    row = metric_row(metric)
    if row is not None and row.set == "native":
        return metric_words(metric)
    return metric


def _metric_sentence(each: Estimate) -> str:
    words = _capital(metric_words(each.metric))
    if each.value is None:
        reason = describe_reason(each.reason) if each.reason else str(each.status)
        return f"{words}: no value, because {reason}."
    return shorten(printable(f"{_capital(each.says)}."), _LONGEST_TEXT)


def _overview_row(
    section: Results, group: Group, rates: Sequence[str], at: int
) -> tuple[Cell, ...]:
    link = f"feature-{at}" if at < _MOST_SECTIONS_FULL else ""
    cells = [
        Cell(called(section.name), name=True, link=link),
        Cell(called(group.group), name=True),
        Cell(numbers.count(group.n)),
    ]
    for rate in rates:
        found = next((e for e in section.differences(rate) if e.group == group.group), None)
        value = rate_value(rate, group.rates.get(rate))
        if found is None:
            cells.append(Cell(value))
            continue
        tone = Tone.SOFT if not significant(found) else Tone.PLAIN
        mark = Mark(found.value, found.low, found.high, sparse=found.status is Status.TOO_FEW)
        cells.append(Cell(value, below=_marked_value(found), tone=tone, mark=mark))
    return tuple(cells)


def _matrices(section: Results) -> Table:
    having = [group for group in section.groups if group.counts][:_MOST_GROUPS_FULL]
    names = ("tp", "fp", "fn", "tn")
    return Table(
        f"Confusion matrices of {called(section.name)}",
        (Column("group", numeric=False), *(Column(name.upper()) for name in names), Column("n")),
        tuple(
            (
                Cell(called(group.group), name=True),
                *(Cell(numbers.count((group.counts or {}).get(name))) for name in names),
                Cell(numbers.count(group.n)),
            )
            for group in having
        ),
        notes=("TP, FP, FN, TN: true and false positives, false and true negatives.",),
    )


def _pairs(section: Results, i: int, most: int, report: Report) -> Section:
    by_rate: dict[str, list[GroupPair]] = {}
    for pair in section.pairs:
        by_rate.setdefault(pair.rate, []).append(pair)
    blocks: list[Block] = []
    level = 100 * section.pairs[0].difference_interval.level
    notes = [
        _capital(describe_diagnostic(each)) + "."
        for each in report.diagnostics
        if each.code is DiagnosticCode.HOMOGENEITY and each.feature == section.feature
    ]
    if notes:
        blocks.append(Items(tuple(notes)))
    blocks.append(
        Paragraph(
            f"The group with the lower rate stands first. All confidence intervals of a rate hold "
            f"simultaneously at {level:.4g}%, and the p-values are adjusted for all pairs."
        )
    )
    for rate, pairs in by_rate.items():
        shown_pairs = pairs[: min(most, _MOST_PAIRS)]
        more = pairs[0].pairs - len(shown_pairs)
        blocks.append(
            Chart(
                f"{_capital(rate_words(rate))}: {pairs_words(pairs)}",
                tuple(map(_pair_row, shown_pairs)),
                Unit.POINTS,
                0.0,
                link=anchor("rate", rate),
                notes=(f"{more:,} more pairs, which differ less.",) if more > 0 else (),
            )
        )
    return Section(f"pairs-{i}", "Every pair of groups", tuple(blocks), folded=True)


def pairs_words(pairs: Sequence[GroupPair]) -> str:
    """Return how many pairs of a rate differ significantly."""
    count, of = sum(each.significant for each in pairs), pairs[0].pairs
    verb = "differs" if count == 1 else "differ"
    many = f"{count:,} or more" if count == len(pairs) < of else f"{count:,}" if count else "none"
    return f"{many} of {of:,} pairs {verb} statistically significantly"


def _pair_row(pair: GroupPair) -> ChartRow:
    low, high = pair.difference_interval
    below = numbers.probability(pair.p_adjusted, "adjusted p")
    sparse = pair.status is not Status.OK
    return ChartRow(
        f"{called(pair.group)} vs {called(pair.other)}",
        Mark(pair.difference, low, high, sparse=sparse),
        f"{numbers.points(pair.difference)} pp ({shown_range(low, high, Unit.POINTS, sign=True)})",
        below=f"{below}, insufficient data" if sparse else below,
        emphasis=pair.significant,
    )


def _missing(estimates: Iterable[Estimate]) -> list[str]:
    """Return why estimates have no value, one line for each reason."""
    folded: dict[tuple[Status, str], list[Estimate]] = {}
    for each in estimates:
        reason = describe_reason(each.reason) if each.reason else str(each.status)
        folded.setdefault((each.status, reason), []).append(each)
    lines = []
    for (status, reason), found in folded.items():
        metrics = numbers.listing(list(dict.fromkeys(metric_words(e.metric) for e in found)))
        groups = list(dict.fromkeys(called(e.group) for e in found if e.group is not None))
        whom = (
            ""
            if status is Status.NOT_APPLICABLE or not groups
            else (f" for {numbers.listing(groups, most=_MOST_NAMED)}")
        )
        words = str(status).replace("_", " ")
        lines.append(f"{_capital(metrics)}: {words}{whom}, because {printable(reason)}.")
    return lines


def _notes(report: Report) -> list[str]:
    """Return the notes of a report, warnings first; exclusions and pairs stand elsewhere."""
    paired = {pair.feature for pair in report.pairs}
    kept = [
        each
        for each in report.diagnostics
        if each.code is not DiagnosticCode.EXCLUDED
        and not (each.code is DiagnosticCode.HOMOGENEITY and each.feature in paired)
    ]
    kept.sort(key=lambda each: each.level is not Level.WARNING)
    found = []
    for each in kept:
        warning = "Warning: " if each.level is Level.WARNING else ""
        where = f"{called(each.feature)}: " if each.feature else ""
        message = shorten(printable(describe_diagnostic(each)), _LONGEST_TEXT)
        found.append(f"{_capital(f'{warning}{where}{message}')}.")
    return found


def _exclusions(excluded: Sequence[tuple[str, int]]) -> str:
    return "; ".join(
        f"{numbers.count(rows)} {numbers.plural(rows, 'row', 'rows')} ({why})"
        for why, rows in excluded
    )


def _listed(each: Estimate, *, strata: bool) -> tuple[Cell, ...]:
    p_value = each.p_adjusted if each.p_adjusted is not None else each.p_value
    sizes = [numbers.count(n) for n in (each.n_group, each.n_reference) if n is not None]
    at = f", threshold {each.threshold:g}" if each.threshold is not None else ""
    of = f", class {called(each.class_)}" if each.class_ is not None else ""
    of = of or (f", {each.class_scope.average} average" if each.class_scope.average else "")
    where = (
        called(each.stratum)
        if each.stratum is not None
        else ("" if each.scope.kind == "overall" else "adjusted")
    )
    kind, sign = unit(each.metric), signed(each.metric)
    cells = [
        Cell(each.metric, link=anchor("metric", each.metric) if metric_row(each.metric) else ""),
        Cell(f"{called(each.feature)}{of}{at}" if each.feature else "all rows", name=True),
        Cell(called(each.group) if each.group is not None else "", name=True),
        Cell(called(reference_name(each.reference)) if each.reference else ""),
        *([Cell(where, name=True)] if strata else []),
        Cell(
            shown(each.value, kind, sign=sign)
            + (" pp" if kind is Unit.POINTS and each.value is not None else "")
        ),
        Cell(shown(each.low, kind, sign=sign) if each.low is not None else ""),
        Cell(shown(each.high, kind, sign=sign) if each.high is not None else ""),
        Cell(numbers.probability(p_value, "")),
        Cell(" / ".join(sizes)),
        Cell(str(each.status).replace("_", " ")),
    ]
    return tuple(cells)


def _place(metric: str) -> int:
    rate = compared_rate(metric)
    return CENTRAL.index(rate) if rate in CENTRAL else len(CENTRAL)


def _capital(text: str) -> str:
    """Return a sentence with a capital in front; symbols such as n and p stay as they are."""
    return text if text[1:2] in (" ", "-") else text[:1].upper() + text[1:]
