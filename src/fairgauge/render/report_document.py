"""The document of a report: one screen by default, the whole record on demand."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import (
    Average,
    ClassKind,
    DiagnosticCode,
    Level,
    Outcome,
    Profile,
    Status,
)
from fairgauge.reasons import ReasonCode
from fairgauge.render import numbers, question
from fairgauge.render.command_line import command
from fairgauge.render.diagnostic_sentences import describe_diagnostic, false_fail_sentence
from fairgauge.render.display_names import called, capitalised, group_called, printable, shorten
from fairgauge.render.document_tree import (
    Block,
    Cell,
    Chart,
    Code,
    Column,
    DocumentTree,
    Facts,
    Glossary,
    Heading,
    Items,
    Paragraph,
    ScoreCharts,
    Section,
    SignOff,
    Table,
    Tone,
    Unit,
)
from fairgauge.render.finding_sentences import (
    adjusted_sentence,
    describe_finding,
    group_words,
    no_finding_sentence,
    other_results_sentences,
    uncertainty,
    unconfirmed_sentence,
)
from fairgauge.render.glossary import anchor, metric_entries, rate_entries
from fairgauge.render.method_descriptions import described_methods
from fairgauge.render.metric_blocks import (
    DIFFERENCE,
    OTHERS,
    adjusted_table,
    chart_row,
    comparisons,
    confusion_table,
    finding_chart,
    group_table,
    interval_note,
    legend,
    listed_row,
    metric_chart,
    metric_sentence,
    metric_table,
    other_metrics,
    overview_row,
    pairs_section,
    place_of,
    reference_of,
    size_of,
    status_words,
)
from fairgauge.render.metric_words import (
    CENTRAL,
    abbreviations,
    compared_rate,
    holds_with_others,
    is_ratio,
    is_share,
    metric_words,
    neutral,
    rate_heading,
    rate_value,
    rate_words,
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
    on_one_screen,
    reverses,
    sections_of,
    singled_out,
    unconfirmed,
    verdicts_by_rule,
)
from fairgauge.render.preset_blocks import preset_blocks
from fairgauge.render.reason_sentences import describe_reason, insufficiency
from fairgauge.render.rule_blocks import (
    TONES,
    outcome_word,
    outcome_words,
    rule_chart,
    rule_words,
    rules_of,
)
from fairgauge.report.plain_values import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.render.outline import Results
    from fairgauge.report.estimates import Estimate
    from fairgauge.report.report import Report
    from fairgauge.report.results import ClassScope, Diagnostic

_LONGEST_TEXT = 400
_LONGEST_SPEC = 20_000
_MOST_GROUPS = 12
_MOST_GROUPS_FULL = 200
_MOST_SECTIONS = 6
_MOST_SECTIONS_FULL = 24
_MOST_RATES, _MOST_COLUMNS = 8, 14
_MOST_METRICS = 40
_MOST_CHART_ROWS = 24
_CHART_ROWS_IN_ALL, _CHART_ROWS_BESIDE_SCORES = 900, 300
_MOST_PAIRS = 30
_MOST_STRATA = 30
_MOST_ADJUSTED_SENTENCES = 2
_MOST_LISTED = 3_000
_FEWEST_IN_OVERVIEW = 5
_MOST_MATRIX_ROWS, _MOST_DRAWN_MATRIX_ROWS = 150, 60
_MOST_NAMED = 3
_MOST_CONDITIONAL = 6
_MOST_DECIDING = 2
_MOST_NOTES = 60
_TWO = 2

_INTERVALS_OF_STRATA = (
    "The confidence intervals of all rows and of the adjusted comparison are simultaneous over all "
    "groups; that of a single stratum is for a single comparison."
)
_NONE_TESTED = (
    "None of the results below can be tested for statistical significance: the metrics have no "
    "test, or the data are insufficient."
)
CAVEAT = "A disparity is a measured fact; whether it is unfair depends on its context."
"""What one screen has of the limits."""
LIMITS = (
    (
        "It does not state that a model is fair or unfair. Disparities are measured facts; "
        "whether one is acceptable depends on context, law and causes that the table does not "
        "hold."
    ),
    (
        "Demographic parity, equalized odds, predictive parity and calibration cannot in "
        "general hold together when base rates differ. Which of them matters is a value "
        "judgement, not a question of statistics."
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


def report_document(report: Report, *, full: bool = False) -> DocumentTree:
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
    cases = report.data.cases
    cases_words = f" ({numbers.count(cases)} cases)" if cases != rows else ""
    return DocumentTree(
        title=called(fields.get("title") or f"Fairness audit: {question.source(report)}"),
        beside=f"{numbers.count(rows)} {numbers.plural(rows, 'row', 'rows')}{cases_words}, "
        f"{question.used_words(report)}",
        lead=question.lead(report),
        cover=tuple((key, called(fields[key])) for key in question.COVER if key in fields),
        verdict=_verdict(report),
        tone=TONES[report.verdict],
        sections=tuple(builder.sections()),
        not_shown=() if full else tuple(builder.not_shown()),
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
    text = f"{outcome_word(report.verdict).upper()}: "
    unevaluated = outcomes.count(Outcome.NOT_EVALUATED)
    if report.verdict is not Outcome.INCONCLUSIVE or not unevaluated:
        return f"{text}{count:,} of {len(rules):,} {noun}"
    if not count:
        return f"{text}{unevaluated:,} of {len(rules):,} {noun} not evaluated"
    return f"{text}{count:,} of {len(rules):,} {noun}, {unevaluated:,} not evaluated"


class _Summary:
    """The parts that fit one screen."""

    whole = False
    most_findings = 3

    def __init__(self, report: Report, results: list[Results]) -> None:
        self.report = report
        self.results = results
        every = findings(results)
        self.findings = every[: self.most_findings]
        self.more_findings = len(every) - len(self.findings)
        self.unconfirmed = unconfirmed(results, every)
        self.rules = rules_of(report)
        self.column = called(report.spec.get("strata") or "the strata")

    def sections(self) -> Iterator[Section]:
        """Yield the rules, the findings, a table for each feature, and the notes."""
        if self.report.verdicts:
            blocks: tuple[Block, ...] = (Facts(tuple(self._rule_lines())), *self._false_fail())
            yield Section("rules", "Rules", blocks, short="Rules")
        yield Section("findings", "Findings", tuple(self._finding_sentences()), short="Findings")
        cells: list[str] = []
        shown = on_one_screen(self.results)[:_MOST_SECTIONS]
        for i, each in enumerate(shown):
            blocks = tuple(self._tables(each, _MOST_GROUPS, _MOST_RATES))
            cells += [c.text for b in blocks if isinstance(b, Table) for r in b.rows for c in r]
            yield Section(f"feature-{i}", called(each.name), blocks)
        whole = [each for each in self.report.estimates if each.feature is None]
        if whole:
            yield Section("whole", "All rows", (Items(tuple(map(metric_sentence, whole))),))
        yield Section("notes", "Notes", tuple(self._closing(cells, shown)))

    def not_shown(self) -> Iterator[str]:
        """Yield what the whole record has besides, in few words."""
        having = sum(1 for each in self.results if each.groups)
        listed = on_one_screen(self.results)[:_MOST_SECTIONS]
        shown = sum(2 if each.averaged else 1 for each in listed)
        for count, noun in (
            (self.more_findings, "finding"),
            (having - shown, "table"),
            (len(_notes(self.report)), "note"),
        ):
            if count > 0:
                yield f"{count:,} {numbers.plural(count, noun, f'{noun}s')}"

    def _rule_lines(self) -> Iterator[tuple[str, str]]:
        for rule, verdicts in verdicts_by_rule(self.report):
            metric = verdicts[0].metric
            words = rule_words(self.rules.get(rule), rule, metric)
            yield words, outcome_words(verdicts, self.report)

    def _false_fail(self) -> Iterator[Block]:
        """Yield how likely a false fail is, where the overall verdict is one."""
        if self.report.verdict is Outcome.FAIL:
            for each in self.report.diagnostics:
                if each.code is DiagnosticCode.FALSE_FAIL:
                    yield Paragraph(false_fail_sentence(each), spare=2)

    def _finding_sentences(self) -> Iterator[Block]:
        if self.findings:
            sentences = tuple(describe_finding(each, self.column) for each in self.findings)
            yield Items(sentences, numbered=True)
        if self.whole and self.more_findings > 0:
            yield Paragraph(f"{self._more_findings()} in the tables.")
        one_outcome = (ClassKind.NONE, ClassKind.SELECTION)
        by_class = {s.feature for s in self.results if s.class_scope.kind not in one_outcome}
        equal = insignificant(self.results)
        rest = [Paragraph(no_finding_sentence(equal, by_class), spare=1)] if equal else []
        if self.unconfirmed:
            rest.append(Paragraph(unconfirmed_sentence(self.unconfirmed), spare=3))
        rest += map(Paragraph, self._adjustment_sentences())
        small = list(self._insufficient())
        if not self.findings and not rest:
            rest = [*map(Paragraph, other_results_sentences(self.results, self.column))]
        if not self.findings and not rest and not small:
            valued = any(each.value is not None for each in self.report.estimates)
            rest = [Paragraph(_NONE_TESTED if valued else "No difference could be computed.")]
        yield from rest[: _MOST_NAMED - len(small)]
        yield from map(Paragraph, small)

    def _more_findings(self) -> str:
        """Return how many statistically significant disparities are not among the findings."""
        noun = numbers.plural(self.more_findings, "disparity", "disparities")
        return f"{self.more_findings:,} more statistically significant {noun}"

    def _adjustment_sentences(self) -> Iterator[str]:
        """Yield reversals that no finding states."""
        stated = {(f.section.feature, f.contrast.metric) for f in self.findings if f.adjusted}
        for section in self.results:
            for overall, adjusted in adjustments(section):
                known = (section.feature, overall.metric) in stated
                if not known and compared_rate(overall.metric) and reverses(overall, adjusted):
                    words = metric_words(overall.metric)
                    yield (
                        f"{group_words(overall, section)}, {words} {value_text(overall)}. "
                        f"{adjusted_sentence(overall, adjusted, self.column)}"
                    )

    def _insufficient(self) -> Iterator[str]:
        """Yield the groups about which the data are insufficient, and those too small as asked."""
        sparse: dict[str, str] = {}
        minimums: set[float | None] = set()
        below: dict[str, dict[str, None]] = {}
        for section in self.results:
            if section.class_scope.kind not in (ClassKind.CLASS, ClassKind.WORST):
                for group in section.groups:
                    compared = [*section.estimates, *section.adjusted]
                    own = [e for e in compared if e.group == group.group]
                    own = [e for e in own if compared_rate(e.metric)] or own
                    if own and all(e.status is Status.TOO_FEW for e in own):
                        name = group_called(group.group, section.feature)
                        reasons = (e.reason for e in own if e.reason and e.reason.side == "group")
                        small = next((r for r in reasons if r.code is ReasonCode.SMALL_GROUP), None)
                        if small is None:
                            sparse[name] = f"{name}, n = {numbers.count(group.n)}"
                            minimums.add(_least_rows(own, group.n))
                        else:
                            minimum = insufficiency([small])
                            size = f"{name}, n = {numbers.count(small['n'])}"
                            below.setdefault(minimum, {})[size] = None
        for minimum, names in below.items():
            yield f"{capitalised(minimum)}: {'; '.join(list(names)[:8])}."
        if sparse:
            least = minimums.pop() if len(minimums) == 1 else None
            few = f" (fewer than {least:g} rows)" if least else ""
            listed = "; ".join(list(sparse.values())[:8])
            yield f"Insufficient data for any conclusion{few}: {listed}."

    def _tables(self, section: Results, most: int, rates: int) -> Iterator[Block]:
        for i, several in enumerate(self._beside(section, rates)):
            yield group_table(section, most, several, ratios=self.whole, again=i > 0)
        other = other_metrics(section)
        if other:
            yield metric_table(section, other[:_MOST_METRICS], most)
        held = [] if self.whole else conditional(section)
        if held:
            by_metric: dict[str, list[str]] = {}
            for each in held[:_MOST_CONDITIONAL]:
                by_metric.setdefault(each.metric, []).append(metric_sentence(each))
            yield Items(
                tuple(
                    f"{capitalised(metric_words(metric))}. {' '.join(sentences)}"
                    for metric, sentences in by_metric.items()
                )
            )
            if len(held) > _MOST_CONDITIONAL:
                more = len(held) - _MOST_CONDITIONAL
                yield Paragraph(f"{more:,} more in the full report.", Tone.SOFT)
        if section.across:
            yield Items(tuple(metric_sentence(each) for each in section.across[:_MOST_METRICS]))

    def _beside(self, section: Results, most: int) -> Iterator[list[str]]:
        """Yield the rates of one table each: all of them, or as many as fit beside each other."""
        rates = section.rates[:most]
        if not self.whole:
            yield rates
            return
        found: list[str] = []
        columns = 0
        for rate in rates:
            own = 1 + sum(f"{rate}.{by}" in section.metrics for by in ("difference", "ratio"))
            if found and columns + own > _MOST_COLUMNS:
                yield found
                found, columns = [], 0
            found = [*found, rate]
            columns += own
        yield found

    def _closing(self, cells: list[str], shown_sections: Sequence[Results]) -> Iterator[Block]:
        report = self.report
        shares = any(is_share(rate) for section in self.results for rate in section.rates)
        compared = [e.metric for section in self.results for e in section.estimates]
        compared = [metric for metric in compared if compared_rate(metric)]
        differences = not all(map(is_ratio, compared))
        shown = [e for section in shown_sections for e in section.estimates]
        marks = [*legend(cells, shown, shares=False)]
        if compared:
            of = {reference_of(section) for section in self.results if section.estimates}
            words = next(iter(of)) if len(of) == 1 else "the reference"
            words = "others" if words == OTHERS else words
            against = f"{DIFFERENCE} vs {words}" if differences else f"ratio to {words}"
            in_pp = " in pp" if shares and differences else ""
            marks += [f"{'rates in %, ' if shares else ''}{against}{in_pp}"]
        elif shares:
            marks += ["rates in %"]
        if self.findings:
            yield Paragraph(CAVEAT, Tone.SOFT)
        rates = dict.fromkeys(rate for section in shown_sections for rate in section.rates)
        averaged = dict.fromkeys(rate for each in shown_sections for rate in each.averaged)
        of_classes = (
            f"{numbers.listing([rate_heading(rate) for rate in averaged])} are macro averages over "
            "classes"
        )
        for words in ("; ".join(marks), abbreviations(rates), of_classes if averaged else ""):
            if words:
                yield Paragraph(f"{words}.", Tone.SOFT)
        excluded = question.excluded(report)
        if excluded:
            yield Paragraph(f"Excluded: {_exclusions(excluded)}.", Tone.SOFT)
        if note := _partial_rows(report):
            yield Paragraph(note, Tone.SOFT)
        valued = {each.metric for each in report.estimates if each.value is not None}
        absent = [
            each
            for section in self.results
            for each in section.missing
            if each.metric not in valued
        ]
        yield from (Paragraph(text, Tone.SOFT) for text in _missing(absent)[:_MOST_NAMED])


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
                Section("whole", "All rows", (Items(tuple(map(metric_sentence, whole))),))
            )
        yield Section("details", "Details", (*details, *left), short="Details")
        if report.scores:
            yield Section("scores", "Scores and thresholds", (ScoreCharts(),), short="Scores")
        if (name := self.report.spec.get("preset")) is not None:
            blocks = preset_blocks(name, self.report, self.results)
            yield Section("preset", "Preset", tuple(blocks), short="Preset")
        yield Section("data", "Data", tuple(self._data()), short="Data")
        yield Section("methods", "Methods", tuple(self._methods()), short="Methods")
        yield Section("limits", "What this report does not show", (Items(LIMITS),), short="Limits")
        yield Section("all", "All numbers", tuple(self._all_numbers()), short="All numbers")
        yield Section("glossary", "Glossary", tuple(self._glossary()), short="Glossary")
        yield Section("provenance", "Provenance", tuple(self._provenance()), short="Provenance")

    def _rule_charts(self) -> Iterator[Block]:
        for rule, verdicts in verdicts_by_rule(self.report):
            yield rule_chart(self.rules.get(rule), rule, verdicts, self.report)
        yield from self._false_fail()

    def _finding_charts(self) -> Iterator[Block]:
        for i, finding in enumerate(self.findings):
            yield Paragraph(f"{i + 1}. {describe_finding(finding, self.column)}")
            yield finding_chart(finding)
        yield from (b for b in self._finding_sentences() if not isinstance(b, Items))

    def _overview(self) -> Iterator[Section]:
        rates = [
            rate
            for rate in CENTRAL
            if any(rate in section.rates and section.differences(rate) for section in self.results)
        ]
        rows = [
            overview_row(section, group, rates, i)
            for i, section in enumerate(self.results)
            if section.class_scope.is_single
            and 2 * len(set(rates).intersection(section.rates)) >= len(rates)
            for group in section.groups
            if group.reference_kind is None
        ]
        if len(rows) * len(rates) < _FEWEST_IN_OVERVIEW:
            return
        references = {reference_of(section) for section in self.results if section.estimates}
        reference = references.pop() if len(references) == 1 else "the reference"
        columns = [
            Column("feature", numeric=False), Column("group", numeric=False), Column("n"),
            *(Column(rate_words(rate), link=anchor("rate", rate)) for rate in rates),
        ]  # fmt: skip
        marks = "; ".join(
            legend(
                [cell.below for row in rows for cell in row],
                [each for section in self.results for each in section.estimates],
                shares=False,
            )
        )
        notes = [
            "Rates in %, differences in percentage points (pp) with confidence intervals."
            if any(map(is_share, rates))
            else "Differences with confidence intervals.",
            *([f"{marks}."] if marks else []),
            *interval_note(each for section in self.results for each in section.estimates),
        ]
        if len(rows) > _MOST_MATRIX_ROWS:
            notes.append(f"{len(rows) - _MOST_MATRIX_ROWS:,} more groups are in the details.")
        table = Table(
            f"Every group and rate, with its difference from {reference}",
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
        charts, common = _common_notes(list(self._charts(section, room)))
        if charts:
            ratios = all(chart.unit is Unit.RATIO for chart in charts)
            what = "ratios to" if ratios else "differences from"
            title = f"Charts of {what} {reference_of(section)}, metric by metric"
            notes = [Paragraph(note, Tone.SOFT) for note in common]
            blocks.append(Section(f"charts-{i}", title, (*notes, *charts), folded=True))
        blocks += self._strata(section, i)
        if section.pairs:
            blocks.append(pairs_section(section, i, max(3, room // 10), self.report))
        if any(group.counts and any(group.counts.values()) for group in section.groups):
            blocks.append(
                Section(
                    f"matrices-{i}", "Confusion matrices", (confusion_table(section),), folded=True
                )
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
        metrics.sort(key=lambda m: (place_of(m), metric_row(m).set != "native"))  # type: ignore[union-attr]
        most = max(4, room // rows)
        for metric in metrics[:most]:
            yield metric_chart(section, metric)

    def _strata(self, section: Results, i: int) -> Iterator[Block]:
        if not section.strata and not section.adjusted:
            return
        column = self.column
        yield Heading(f"Adjusted for {column} ({len(section.strata):,} strata)")
        single: list[Block] = []
        pairs = [p for p in adjustments(section) if unit(p[0].metric) is not Unit.RATIO]
        chosen: dict[str, tuple[Estimate, Estimate]] = {}
        for overall, _ in pairs:
            rate = compared_rate(overall.metric)
            if rate and rate not in chosen:
                ours = [p for p in pairs if compared_rate(p[0].metric) == rate]
                chosen[rate] = max(ours, key=lambda p: size_of(p[0]))
        if len(chosen) > _MOST_ADJUSTED_SENTENCES:
            yield adjusted_table(section, chosen, column)
        for rate, (overall, adjusted) in chosen.items():
            changed = reverses(overall, adjusted) or (
                significant(overall) and not significant(adjusted)
            )
            if changed or len(chosen) <= _MOST_ADJUSTED_SENTENCES:
                words = f"{group_words(overall, section)}, {rate_words(rate)}: "
                sentence = adjusted_sentence(overall, adjusted, column)
                yield Paragraph(f"{words}{uncertainty(singled_out(overall))} overall. {sentence}")
            inside = self._in_strata(section, rate, overall, adjusted)
            if reverses(overall, adjusted) or len(chosen) == 1:
                yield from inside
            else:
                single += inside
        others = conditional(section)
        by_metric: dict[str, list[str]] = {}
        for each in others[:_MOST_METRICS]:
            by_metric.setdefault(each.metric, []).append(metric_sentence(each))
        for metric, sentences in by_metric.items():
            yield Paragraph(f"{capitalised(metric_words(metric))}. {' '.join(sentences)}")
        if single:
            yield Section(f"strata-{i}", f"By {column}, rate by rate", tuple(single), folded=True)

    def _in_strata(
        self, section: Results, rate: str, overall: Estimate, adjusted: Estimate
    ) -> Iterator[Block]:
        inside = [e for e in section.inside
                  if (e.metric, e.group) == (overall.metric, overall.group)]  # fmt: skip
        names = section.strata[:_MOST_STRATA]
        shown_inside = [each for each in inside if str(each.stratum) in names]
        rows = [
            chart_row(singled_out(overall), "all rows", emphasis=True),
            *(
                chart_row(each, group_called(each.stratum, self.column, apart=False))
                for each in shown_inside
            ),
            chart_row(singled_out(adjusted), f"adjusted for {self.column}", emphasis=True),
        ]
        more = len(section.strata) - len(names)
        words = capitalised(metric_words(overall.metric))
        yield Chart(
            f"{words} of {self._group(section, overall.group)} by {self.column}",
            tuple(rows),
            unit(overall.metric),
            neutral(overall.metric),
            link=anchor("metric", overall.metric),
            notes=(
                *([f"{more:,} more strata in the JSON report."] if more > 0 else []),
                *(
                    [_INTERVALS_OF_STRATA]
                    if any(map(holds_with_others, map(singled_out, (overall, adjusted))))
                    else []
                ),
                "p-values of single strata are not adjusted for multiple comparisons.",
            ),
        )
        by_key = {(g.stratum, g.group): g for g in section.groups_inside}
        groups = [group.group for group in section.groups[:_MOST_RATES]]
        columns = [Column(self.column, numeric=False)]
        for group in groups:
            columns += [
                Column(f"{self._group(section, group)}, n"), Column(rate_heading(rate)),
            ]  # fmt: skip
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
            f"{capitalised(rate_words(rate))} by {self.column}", tuple(columns), tuple(table_rows)
        )

    @staticmethod
    def _group(section: Results, group: str | None) -> str:
        """Return a group, with its feature where its name alone is not clear."""
        return group_called(group, section.feature, apart=False)

    def _data(self) -> Iterator[Block]:
        report = self.report
        yield Facts(tuple(question.question(report)))
        excluded = question.excluded(report)
        if excluded:
            yield Table(
                "Excluded rows",
                (Column("reason", numeric=False), Column("rows")),
                tuple(
                    (Cell(why), Cell(numbers.count(rows)))
                    for why, rows in (*excluded, *question.unknown_in_intersections(report))
                ),
            )
            yield Paragraph(_partial_rows(report))
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
            "cover errors in labels or groups, nor who is missing from the data. p-values test "
            f"“no difference” and are adjusted for {self._families()}. "
            f"Seed {spec.get('seed')}, {numbers.count(spec.get('replicates') or 0)} replicates "
            "where random numbers are drawn."
        )
        yield Table(
            "Methods of the confidence intervals",
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

    def _families(self) -> str:
        """Return for how many comparisons p-values are adjusted, by feature."""
        of: dict[str, int] = {}
        for section in self.results:
            counts = [comparisons(section, metric) for metric in section.metrics]
            of.setdefault(called(section.feature), max(counts, default=0))
        named = [f"{count:,} in {name}" for name, count in of.items() if count]
        listed = f" ({numbers.listing(named)})" if named else ""
        return f"the number of groups that a metric compares in a feature{listed}"

    def _all_numbers(self) -> Iterator[Block]:
        estimates = self.report.estimates
        listed = estimates
        most = _MOST_LISTED
        if len(estimates) > most:
            whole = [e for e in estimates if e.stratum is None]
            listed = tuple((whole + [e for e in estimates if e.stratum is not None])[:most])
        strata = any(each.stratum is not None or each.scope.kind != "overall" for each in listed)
        columns = [
            Column("metric", numeric=False), Column("feature", numeric=False),
            Column("group", numeric=False), Column("compared with", numeric=False),
            *([Column("stratum", numeric=False)] if strata else []),
            Column("value"), Column("low"), Column("high"), Column("p (adjusted)"),
            Column("n (group / reference)"), Column("status", numeric=False),
        ]  # fmt: skip
        more = len(estimates) - len(listed)
        table = Table(
            "Every comparison" + (f"; {more:,} more in the JSON and CSV reports" if more else ""),
            tuple(columns),
            tuple(listed_row(each, strata=strata) for each in listed),
            id="estimates",
            notes=interval_note(listed),
        )
        title = f"{len(listed):,} {numbers.plural(len(listed), 'comparison', 'comparisons')}"
        yield Section("numbers", title, (table,), folded=True)

    def _glossary(self) -> Iterator[Section]:
        metrics = dict.fromkeys(each.metric for each in self.report.estimates)
        rates = {name for group in self.report.groups for name in group.rates}
        rates |= {rate for name in metrics if (rate := compared_rate(name))}
        entries = (
            *metric_entries(metrics),
            *rate_entries(r.name for r in all_rates() if r.name in rates),
        )
        title = f"{len(entries):,} metrics and rates: what each is, its formula and its range"
        yield Section("entries", title, (Glossary(entries),), folded=True)

    def _provenance(self) -> Iterator[Block]:
        report = self.report
        yield Facts(
            (
                ("source", called(report.data.source)),
                ("digest of the counts", report.data.fingerprint),
                ("made with", f"fairgauge {report.version}"),
                ("made at", report.created),
            )
        )
        repeat = command(report)
        if repeat:
            yield Heading("To repeat this audit, run")
            yield Code(printable(repeat))
        else:
            yield Heading("To repeat this audit, save the specification as audit.json and run")
            source = shlex.quote(printable(question.source(report)))
            yield Code(f"fairgauge audit {source} -c audit.json")
        text = json.dumps(plain(report.spec), indent=2, ensure_ascii=False)
        lines = "\n".join(printable(line) for line in text.split("\n"))
        code = Code(lines if len(lines) <= _LONGEST_SPEC else f"{lines[:_LONGEST_SPEC]} ...")
        yield Section("specification", "The specification, defaults included", (code,), folded=True)
        yield SignOff(("Prepared by", "Reviewed by", "Approved by"))


def _least_rows(own: Iterable[Estimate], n: float) -> float | None:
    """Return the number of rows that a group has not, None where it is something else."""
    few = (e.reason["minimum"] for e in own if e.reason and e.reason.code is ReasonCode.FEW_ROWS)
    return next((float(least) for least in few if n < least), None)


def _in_summary(scope: ClassScope) -> bool:
    """Return whether a section is of all classes at once: those of single ones are many."""
    return scope.kind in (ClassKind.NONE, ClassKind.SELECTION) or scope.average is Average.MACRO


def _common_notes(charts: list[Chart]) -> tuple[list[Chart], list[str]]:
    """Return charts without the notes that all of them have, if any, and these."""
    noted = [each.notes for each in charts if each.notes]
    if len(noted) < _TWO:
        return charts, []
    common = [note for note in noted[0] if all(note in notes for notes in noted)]
    return [
        replace(each, notes=tuple(note for note in each.notes if note not in common))
        for each in charts
    ], common


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
        words = status_words(status)
        lines.append(f"{capitalised(metrics)}: {words}{whom}, because {printable(reason)}.")
    return lines


def _notes(report: Report) -> list[str]:
    """Return the notes of a report, warnings first; exclusions and pairs stand elsewhere.

    Of two groups, one test of all groups is the test of their difference.
    """
    members: dict[str, set[str]] = {}
    for group in report.groups:
        members.setdefault(group.feature, set()).add(group.group)
    elsewhere = {pair.feature for pair in report.pairs}
    elsewhere |= {feature for feature, of in members.items() if len(of) <= _TWO}
    kept = [
        each
        for each in report.diagnostics
        if each.code is not DiagnosticCode.EXCLUDED
        and not (each.code is DiagnosticCode.HOMOGENEITY and each.feature in elsewhere)
    ]
    kept.sort(key=lambda each: each.level is not Level.WARNING)
    found = []
    for feature, differing in _disappearing(kept).items():
        column = called(report.spec.get("strata") or "the strata")
        by_rates: dict[tuple[str, ...], list[str]] = {}
        for name, rates in differing.items():
            by_rates.setdefault(tuple(rates), []).append(called(name))
        listed = "; ".join(
            f"{numbers.listing(names)} in {numbers.listing(rates)}"
            for rates, names in by_rates.items()
        )
        text = (
            f"{called(feature)}: the difference disappears when adjusted for {column} (is no "
            f"longer statistically significant) for {listed}"
        )
        found.append(f"{capitalised(text)}.")
    for each in kept:
        if each.code is DiagnosticCode.DISAPPEARS:
            continue
        warning = "Warning: " if each.level is Level.WARNING else ""
        where = f"{called(each.feature)}: " if each.feature else ""
        message = shorten(printable(describe_diagnostic(each)), _LONGEST_TEXT)
        found.append(f"{capitalised(f'{warning}{where}{message}')}.")
    return found


def _disappearing(notes: Iterable[Diagnostic]) -> dict[str, dict[str, list[str]]]:
    """Return in which rates the difference of a group disappears when adjusted, by feature.

    The difference, the ratio and a vendor's metric of one rate are one note.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for each in notes:
        if each.code is DiagnosticCode.DISAPPEARS:
            rates = found.setdefault(each.feature or "all rows", {}).setdefault(each["group"], [])
            rate = compared_rate(each["metric"])
            words = rate_words(rate) if rate else metric_words(each["metric"])
            if words not in rates:
                rates.append(words)
    return found


def _partial_rows(report: Report) -> str:
    """Return what n counts where some rows lack the label, the prediction or the score."""
    missing = question.incomplete(report)
    if not missing:
        return ""
    return (
        f"n counts all rows of a group, those without a {numbers.listing(missing, 'or')} included; "
        "each rate is of the rows that have what it needs."
    )


def _exclusions(excluded: Sequence[tuple[str, int]]) -> str:
    return "; ".join(
        f"{numbers.count(rows)} {numbers.plural(rows, 'row', 'rows')} ({why})"
        for why, rows in excluded
    )
