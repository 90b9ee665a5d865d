"""The document of a report: one screen by default, the whole record on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    DiagnosticCode,
    Favourable,
    Outcome,
    ReferenceKind,
    Status,
)
from fairgauge.question.features import strata_named
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents import _metric_blocks as metric_blocks
from fairgauge.render.documents._appendix_sections import (
    data_blocks,
    glossary_sections,
    method_blocks,
    number_blocks,
    provenance_blocks,
    where_numbers_are,
)
from fairgauge.render.documents._document_parts import (
    TONES,
    document_of,
    listed,
    more_in_json,
    repeat_blocks,
)
from fairgauge.render.documents._feature_sections import (
    estimator_blocks,
    feature_section,
    feature_tables,
    overview_sections,
)
from fairgauge.render.documents._preset_blocks import (
    gaps_by_category,
    not_stated,
    preset_blocks,
    tables_to_publish,
    terms_of,
)
from fairgauge.render.documents._rule_blocks import counting_words, outcome_words, rule_chart
from fairgauge.render.documents.report_notes import (
    MOST_WARNINGS,
    missing_values,
    note_lines,
    notes_besides,
    opening_warnings,
    partial_rows,
    report_warnings,
)
from fairgauge.render.exhibits import deciding_interval, exhibits, group_names
from fairgauge.render.page import Told, brief_of_page, told
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.diagnostic_sentences import remaining_sentence
from fairgauge.render.words.display_names import (
    called,
    capitalised,
    file_of,
    group_called,
    printable,
)
from fairgauge.render.words.finding_sentences import (
    adjusted_sentence,
    describe_finding,
    group_words,
    no_finding_sentence,
    other_results_sentences,
)
from fairgauge.render.words.method_descriptions import CAVEAT, LIMITS, described_methods
from fairgauge.render.words.metric_words import (
    abbreviations,
    compared_rate,
    gap,
    metric_words,
    rate_heading,
    value_text,
)
from fairgauge.render.words.reason_sentences import (
    INSUFFICIENT,
    RARE_OUTCOME,
    insufficiency,
    rows_and_part,
)
from fairgauge.render.words.rule_words import rule_words, rules_of
from fairgauge.render.words.verdict_sentences import outcome_word
from fairgauge.results.disadvantage import favourable_of, favours_the_least, has_direction
from fairgauge.results.disparities import after_adjusting, is_ratio, singled_out
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.sections import (
    FeatureResults,
    adjustments,
    insignificant,
    on_one_screen,
    section_of,
    sections_of,
    size_beside_rates,
)
from fairgauge.results.verdicts import RuleResult

_MOST_GROUPS = 12
_MOST_SECTIONS = 6
_MOST_SECTIONS_FULL = 24
_MOST_RATES = 8
_CHART_ROWS_IN_ALL, _CHART_ROWS_BESIDE_SCORES = 900, 300
_MOST_NAMED = 3
_MOST_SMALL = 8
_MOST_FILED_METHODS = 6
_MOST_PUBLISHED = 24
"""Rows of tables to publish on the first page; others follow on the second."""

_NOT_SIGNIFICANT = "what is not significant"
_NONE_TESTED = (
    "None of the results below can be tested for statistical significance: the metrics have no "
    "test, or the data are insufficient."
)


def report_document(report: Report, *, full: bool = False) -> tree.DocumentTree:
    """Build the document of a report.

    Parameters
    ----------
    full : bool
        Whether it is the whole record, with charts, pairs, strata, methods and every number, or
        what fits one screen.
    """
    results = sections_of(report)
    page = told(report)
    builder = _Full(report, results, page) if full else _Summary(report, results, page)
    fields = question.document(report)
    rows = report.data.rows
    cases = report.data.cases
    read = question.rows_words(report)
    if question.counts_people(report.spec):
        read = f"{numbers.numbered(cases, 'people')} in {read}"
    elif cases != rows:
        read += f" ({numbers.count(cases)} cases)"
    return document_of(
        report,
        title=called(fields.get("title") or f"Fairness audit: {file_of(report.data.source)}"),
        beside=f"{read}, {question.used_words(report)}",
        lead=(
            *question.lead(
                report, tables_to_publish=bool(builder.tables_to_publish) and not builder.gaps
            ),
            *question.caveat(report.spec),
        ),
        cover=[
            (question.DATES.get(key, key), printable(fields[key]))
            for key in question.COVER
            if key in fields
        ],
        verdict=f"{_verdict(report)}{counting_words(report.verdicts)}",
        tone=TONES.get(report.verdict, tree.Tone.SOFT),
        sections=builder.sections(),
        not_shown=() if full else builder.not_shown(),
        warnings=opening_warnings(warnings := _warnings(report, page)),
        warned=len(warnings),
        to_publish=builder.tables_to_publish,
        brief=brief_of_page(page),
        exhibits=(*exhibits(page, where_numbers_are(report)), *builder.first_tables()),
        filed=builder.filed() if full else (),
    )


def _verdict(report: Report) -> str:
    """Return what all rules come to: ``FAIL: 1 of 2 rules``."""
    rules = report.by_rule
    if not rules:
        return ""
    outcomes = [each.outcome for each in rules]
    count = outcomes.count(report.verdict)
    noun = numbers.plural(len(rules), "rule", "rules")
    text = f"{outcome_word(report.verdict).upper()}: "
    if set(outcomes) == {Outcome.NONE}:
        were = numbers.plural(len(rules), "was", "were")
        return f"{text}the {noun} {were} ignored as not evaluated"
    unevaluated = outcomes.count(Outcome.NOT_EVALUATED)
    if report.verdict is not Outcome.INCONCLUSIVE or not unevaluated:
        return f"{text}{count:,} of {len(rules):,} {noun}"
    if not count:
        which = f"{unevaluated:,} of {len(rules):,} {noun}"
        if unevaluated == len(rules):
            which = f"the {noun}"
        were = numbers.plural(unevaluated, "was", "were")
        return f"{text}{which} {were} not evaluated{_for_which_groups(rules)}"
    return f"{text}{count:,} of {len(rules):,} {noun}, {unevaluated:,} not evaluated"


def _for_which_groups(rules: Sequence[RuleResult]) -> str:
    """Return for how many groups rules are not evaluated, where they are for others."""
    partly = [each.verdicts for each in rules if each.outcome is Outcome.NOT_EVALUATED]
    open_ = [sum(v.outcome is Outcome.NOT_EVALUATED for v in each) for each in partly]
    if all(count == len(each) for count, each in zip(open_, partly, strict=True)):
        return ""
    if len(partly) > 1:
        return " for some groups"
    noun = "group" if all(each.group for each in partly[0]) else "comparison"
    return f" for {open_[0]:,} of {len(partly[0]):,} {noun}s"


def _only_small_groups(report: Report) -> list[str]:
    """Return the groups below the minimum asked for, where these alone leave the rules open."""
    undecided = [
        v for v in report.verdicts if v.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
    ]
    small = all(
        v.reason.code is ReasonCode.SMALL_GROUP and v.reason.side == "group" for v in undecided
    )
    every = len(undecided) == len(report.verdicts)
    if every or not small or report.verdict is not Outcome.INCONCLUSIVE:
        return []
    return list(dict.fromkeys(group_called(v.group, v.feature) for v in undecided))


def _warnings(report: Report, page: Told) -> list[Diagnostic]:
    """Return the warnings that open the document.

    Protected counts are stated in the question, reversals of what the brief is of in its headline,
    and what differs within strata alone among what it found.
    """
    reversed_in = {
        s.who.feature
        for s in page.page.statements
        if s.code == "adjusted" and s.facts["change"] == AfterAdjusting.REVERSES and s.who
    }
    return [
        each
        for each in report_warnings(report.diagnostics)
        if each.code not in (DiagnosticCode.PROTECTED, DiagnosticCode.WITHIN_STRATA)
        and not (each.code is DiagnosticCode.SIMPSON and each.feature in reversed_in)
    ]


class _Summary:
    """The parts that fit one screen."""

    most_findings = 2
    others_are = "are in the whole report"

    def __init__(self, report: Report, results: list[FeatureResults], page: Told) -> None:
        self.report = report
        self.page = page
        self.results = results
        self.findings = report.findings[: self.most_findings]
        self.more_findings = len(report.findings) - len(self.findings)
        self.rules = rules_of(report)
        self.column = called(strata_named(report.spec.get("strata")) or "the strata")
        self.terms = terms_of(report)
        self.tables_to_publish = tables_to_publish(report, results)
        self.gaps = tuple(gaps_by_category(report, results))

    def sections(self) -> Iterator[tree.Section]:
        """Yield the rules, the findings, a table for each feature, and the notes."""
        if self.report.verdicts:
            blocks: tuple[tree.Block, ...] = (
                tree.Facts(tuple(self._rule_lines(self.report.by_rule))),
                *self._small_groups(),
                *self._remaining(),
            )
            yield listed("rules", "Rules", *blocks)
        cells: list[str] = []
        shown = on_one_screen(self.results)[:_MOST_SECTIONS]
        for i, each in enumerate(shown):
            blocks = tuple(
                feature_tables(each, _MOST_GROUPS, _MOST_RATES, full=False, terms=self.terms)
            )
            cells += [
                c.text for b in blocks if isinstance(b, tree.Table) for r in b.rows for c in r
            ]
            yield tree.Section(f"feature-{i}", called(each.name), blocks)
        if gaps := [each for each in self.gaps if len(each.rows) <= _MOST_GROUPS]:
            yield tree.Section("gaps", "Gaps", tuple(gaps))
        yield from self._whole()
        yield tree.Section("notes", "Notes", tuple(self._closing(cells, shown)))

    def _whole(self) -> Iterator[tree.Section]:
        """Yield the metrics of all rows, which are of no feature."""
        whole = [each for each in self.report.estimates if each.feature is None]
        if whole:
            yield tree.Section(
                "whole", "All rows", (tree.Items(tuple(map(metric_blocks.metric_sentence, whole))),)
            )

    def published(self) -> list[tree.Table]:
        """Return the tables to publish that the first page has room for, in their order."""
        room, found = _MOST_PUBLISHED, []
        for each in self.tables_to_publish:
            room -= len(each.rows)
            if room < 0:
                break
            found.append(each)
        return found

    def first_tables(self) -> Iterator[tree.Block]:
        """Yield the tables to publish on the first page, and which others follow it."""
        shown = self.published()
        yield from shown
        if others := [each.caption for each in self.tables_to_publish[len(shown) :]]:
            more = "More tables" if shown else "Tables"
            yield tree.Paragraph(
                f"{more} to publish {self.others_are}: {numbers.listing(others)}.", tree.Tone.SOFT
            )

    def filed(self) -> Iterator[tree.Block]:
        """Yield what an auditor files: tables to publish, rules, methods, command, signatures."""
        yield from self.tables_to_publish[len(self.published()) :]
        yield from not_stated(self.report)
        if len(warnings := note_lines(_warnings(self.report, self.page))) > MOST_WARNINGS:
            yield tree.Heading("Warnings of the notes")
            yield tree.Items(tuple(warnings))
        if self.report.verdicts:
            yield tree.Heading("Rules")
            yield tree.Facts(
                tuple(self._rule_lines(self.report.by_rule, group_names(self.page, self.report)))
            )
            yield tree.Paragraph(deciding_interval(self.page))
            yield from self._remaining()
        if found := described_methods(self.report):
            used = ((each.name, numbers.listing(each.used_for)) for each in found)
            yield tree.Heading("Methods of the confidence intervals")
            yield tree.Facts(tuple(used)[:_MOST_FILED_METHODS])
        yield from repeat_blocks(self.report, self.report.data.fingerprint, "audit")

    def not_shown(self) -> Iterator[str]:
        """Yield what the whole record has besides, in few words.

        Tables to publish are on the first page, or named there as in the whole report.
        """
        having = sum(1 for each in self.results if each.groups)
        listed = on_one_screen(self.results)[:_MOST_SECTIONS]
        shown = sum(2 if each.averaged else 1 for each in listed)
        warnings = _warnings(self.report, self.page)
        for count, nouns in (
            (self.more_findings, "findings"),
            (having - shown, "tables"),
            (notes_besides(self.report, warnings), "notes"),
        ):
            if count > 0:
                yield numbers.numbered(count, nouns)

    def _rule_lines(
        self,
        rules: Iterable[RuleResult],
        names: Mapping[tuple[str | None, str | None], str] | None = None,
    ) -> Iterator[tuple[str, str]]:
        for each in rules:
            words = rule_words(self.rules.get(each.rule), each.rule, each.worst.definition)
            yield words, outcome_words(each.verdicts, self.report, names or {})

    def _remaining(self) -> Iterator[tree.Block]:
        """Yield which fails remain when all comparisons are judged together."""
        for each in self.report.diagnostics:
            if each.code is DiagnosticCode.FAILS_TOGETHER and (text := remaining_sentence(each)):
                yield tree.Paragraph(text, spare=1, about="which fails remain")

    def _small_groups(self) -> Iterator[tree.Block]:
        """Yield why the result is inconclusive where small groups alone make it so."""
        if names := _only_small_groups(self.report):
            are = numbers.plural(len(names), "is", "are")
            them = numbers.plural(len(names), "it", "them")
            yield tree.Paragraph(
                f"Inconclusive only because {numbers.listing(names, most=_MOST_NAMED)} {are} below "
                f"the minimum size: a rule never passes for a group that is not evaluated. To "
                f"decide the other groups alone, exclude {them} (--exclude-groups)."
            )

    def _besides_findings(self) -> Iterator[tree.Block]:
        """Yield what the findings do not state: what is not significant, or not known."""
        one_outcome = (ClassKind.NONE, ClassKind.SELECTION)
        by_class = {s.feature for s in self.results if s.class_scope.kind not in one_outcome}
        equal = insignificant(self.results)
        rest: list[tree.Paragraph] = []
        if equal:
            sentence = no_finding_sentence(equal, by_class, self.terms)
            rest.append(tree.Paragraph(sentence, spare=2, about=_NOT_SIGNIFICANT))
        rest += map(tree.Paragraph, self._adjustment_sentences())
        small = list(self._insufficient())
        if not rest and not any(compared_rate(f.estimate.definition) for f in self.findings):
            rest = [*map(tree.Paragraph, other_results_sentences(self.results, self.column))]
        if not self.findings and not rest and not small:
            valued = any(each.value is not None for each in self.report.estimates)
            rest = [tree.Paragraph(_NONE_TESTED if valued else "No difference could be computed.")]
        yield from rest[: _MOST_NAMED - len(small)]
        yield from map(tree.Paragraph, small)

    def _adjustment_sentences(self) -> Iterator[str]:
        """Yield reversals that no finding states."""
        stated = {(f.feature, f.metric) for f in self.findings if f.adjusted}
        for section in self.results:
            for overall, adjusted in adjustments(section):
                reverses = after_adjusting(overall, adjusted) is AfterAdjusting.REVERSES
                known = (section.feature, overall.metric) in stated
                if reverses and not known and compared_rate(overall.definition):
                    words = metric_words(overall.definition)
                    several = section.several_thresholds
                    yield (
                        f"{group_words(overall, one_of_thresholds=several)}, {words} "
                        f"{value_text(overall)}. "
                        f"{adjusted_sentence(overall, adjusted, self.column)}"
                    )

    def _insufficient(self) -> Iterator[str]:
        """Yield the groups about which the data are insufficient, and those too small as asked."""
        sparse: dict[str, str] = {}
        lacking: list[Reason | None] = []
        minimums: set[float | None] = set()
        below: dict[str, dict[str, None]] = {}
        favourable = favourable_of(self.report.spec)
        for section, group, own in self._by_group():
            own = [e for e in own if compared_rate(e.definition)] or own
            if not own or any(e.status is not Status.TOO_FEW for e in own):
                continue
            side = "group"
            if all(e.reason and e.reason.side == "reference" for e in own):
                side, of = "reference", own[0].reference
                small_one = [g for g in section.groups if of and g.group == of.group]
                if not small_one:
                    continue  # too few others, which are groups of their own
                group = small_one[0]
            name = group_called(group.group, section.feature)
            n = size_beside_rates(group, self.report.catalogue)
            reasons = (e.reason for e in own if e.reason and e.reason.side == side)
            small = next((r for r in reasons if r.code is ReasonCode.SMALL_GROUP), None)
            if small is None:
                sparse[name] = f"{name}, {_size(own, n)}"
                lacking += [e.reason for e in own]
                minimums.add(_least_rows(own, n))
            else:
                minimum = insufficiency([small])
                size = f"{name}, n = {numbers.count(small['n'])}{_above(own, favourable)}"
                below.setdefault(minimum, {})[size] = None
        for minimum, names in below.items():
            yield f"{capitalised(minimum)}: {_named([*names])}."
        if sparse:
            least = minimums.pop() if len(minimums) == 1 else None
            few = f" (fewer than {least:g} rows)" if least else ""
            listed = _named([*sparse.values()])
            rare = all(r is not None and r.code is ReasonCode.FEW_EXPECTED for r in lacking)
            what = RARE_OUTCOME if rare else INSUFFICIENT
            conclusion = "a comparison" if rare else "any conclusion"  # a test of all may be one
            yield f"{capitalised(what)} for {conclusion}{few}: {listed}."

    def _by_group(self) -> Iterator[tuple[FeatureResults, Group, list[Estimate]]]:
        """Yield the comparisons of every group, at one threshold: of all classes together.

        An average over classes that has no interval, because label or prediction is given alone,
        states nothing about the data.
        """
        found: dict[tuple[object, ...], tuple[FeatureResults, Group, list[Estimate]]] = {}
        for section in self.results:
            if section.class_scope.kind is ClassKind.WORST:
                continue
            of_group: dict[str | None, list[Estimate]] = {}
            for each in (*section.estimates, *section.adjusted):
                if not (each.reason and each.reason.code is ReasonCode.NEEDS_COLUMNS):
                    of_group.setdefault(each.group, []).append(each)
            for group in section.groups:
                key = section.feature, section.threshold, group.group
                own = of_group.get(group.group, [])
                found.setdefault(key, (section, group, []))[2].extend(own)
        yield from found.values()

    def _closing(
        self, cells: list[str], shown_sections: Sequence[FeatureResults]
    ) -> Iterator[tree.Block]:
        report = self.report
        yield from self._besides_findings()
        rates = (section.rate_row(rate) for section in self.results for rate in section.rates)
        shares = any(rate.is_share for rate in rates)
        compared = [
            each.definition
            for section in self.results
            for each in section.estimates
            if compared_rate(each.definition)
        ]
        differences = not all(map(is_ratio, compared))
        shown = [e for section in shown_sections for e in section.estimates]
        marks = [*metric_blocks.legend(cells, shown, shares=False)]
        if compared:
            of = {
                metric_blocks.reference_of(section) for section in self.results if section.estimates
            }
            words = next(iter(of)) if len(of) == 1 else "the reference"
            words = "others" if words == metric_blocks.OTHERS else words
            against = (
                f"{metric_blocks.DIFFERENCE} vs {words}" if differences else f"ratio to {words}"
            )
            in_pp = " in pp" if shares and differences else ""
            marks += [f"{'rates in %, ' if shares else ''}{against}{in_pp}"]
        elif shares:
            marks += ["rates in %"]
        marks += metric_blocks.mirror_notes(shown_sections)
        if self.findings:
            yield tree.Paragraph(CAVEAT, tree.Tone.SOFT)
        catalogue = report.catalogue
        names = dict.fromkeys(rate for section in shown_sections for rate in section.rates)
        short = abbreviations(map(catalogue.rate_row, names))
        averaged = dict.fromkeys(rate for each in shown_sections for rate in each.averaged)
        headings = [rate_heading(catalogue.rate_row(rate)) for rate in averaged]
        of_classes = f"{numbers.listing(headings)} are macro averages over classes"
        for words in ("; ".join(marks), short, of_classes if averaged else ""):
            if words:
                yield tree.Paragraph(f"{words}.", tree.Tone.SOFT)
        if values := question.not_favourable(report):
            yield tree.Paragraph(values, tree.Tone.SOFT)
        unit = question.unit(report)
        every = report.data.rows if unit == "rows" else report.data.cases
        if text := question.exclusions(report, every - report.data.used, unit):
            yield tree.Paragraph(text, tree.Tone.SOFT)
        in_tables = (group for section in shown_sections for group in section.groups)
        if note := partial_rows(report, in_tables):
            yield tree.Paragraph(note, tree.Tone.SOFT)
        valued = {each.metric for each in report.estimates if each.value is not None}
        absent = [
            each
            for section in self.results
            for each in section.missing
            if each.metric not in valued
        ]
        yield from (
            tree.Paragraph(text, tree.Tone.SOFT) for text in missing_values(absent)[:_MOST_NAMED]
        )
        if note := question.subgroups_not_examined(report):
            yield tree.Paragraph(note, tree.Tone.SOFT, spare=3, about="what was not examined")
        if note := question.gap_over_strata(report):
            yield tree.Paragraph(note, tree.Tone.SOFT, spare=4, about="where a gap lies")


class _Full(_Summary):
    """The whole record."""

    most_findings = 5
    others_are = "follow"

    def sections(self) -> Iterator[tree.Section]:
        """Yield the rules, findings, overview, features, scores, data, methods and every number."""
        report = self.report
        if report.verdicts:
            yield listed("rules", "Rules", *self._rule_charts())
        yield listed("findings", "Findings", *self._finding_charts())
        yield from overview_sections(self.results)
        shown = self.results[:_MOST_SECTIONS_FULL]
        rows = _CHART_ROWS_BESIDE_SCORES if report.scores else _CHART_ROWS_IN_ALL
        room = rows // max(1, len(shown))
        details = [
            feature_section(i, each, room, report, self.column, self.terms)
            for i, each in enumerate(shown)
        ]
        left = more_in_json(self.results, _MOST_SECTIONS_FULL)
        yield listed("details", "Details", *details, *self._whole(), *left)
        if report.estimators:
            yield listed("estimators", "Groups from probabilities", *estimator_blocks(report))
        if report.scores:
            yield listed("scores", "Scores and thresholds", tree.ScoreCharts(), short="Scores")
        if (name := self.report.spec.get("preset")) is not None:
            yield listed("preset", "Preset", *preset_blocks(name, self.report, self.results))
        yield listed("data", "Data", *data_blocks(report))
        yield listed("methods", "Methods", *method_blocks(report))
        yield listed("limits", "What this report does not show", tree.Items(LIMITS), short="Limits")
        yield listed("all", "All numbers", *number_blocks(report))
        yield listed("glossary", "Glossary", *glossary_sections(report))
        yield listed("provenance", "Provenance", *provenance_blocks(report))

    def _rule_charts(self) -> Iterator[tree.Block]:
        for each in self.report.by_rule:
            yield rule_chart(self.rules.get(each.rule), each.rule, each.verdicts, self.report)
        if self._other_intervals():
            yield tree.Paragraph(
                "Rules are decided by the confidence intervals shown here. Findings show "
                "simultaneous ones, which can be wider."
            )
        yield from self._small_groups()
        yield from self._remaining()

    def _other_intervals(self) -> bool:
        """Return whether a finding shows another interval than the rule on its metric."""
        ruled = {each.metric for each in self.report.verdicts}
        shown = [each for f in self.findings for each in (f.estimate, f.ratio) if each is not None]
        return any(
            each.metric in ruled and singled_out(each).interval != each.interval for each in shown
        )

    def _finding_charts(self) -> Iterator[tree.Block]:
        for i, finding in enumerate(self.findings):
            yield tree.Paragraph(f"{i + 1}. {describe_finding(finding)}")
            section = section_of(self.results, finding.estimate)
            yield metric_blocks.finding_chart(finding, section, question.unit(self.report))
        if self.more_findings > 0:
            noun = numbers.plural(self.more_findings, "disparity", "disparities")
            yield tree.Paragraph(
                f"{self.more_findings:,} more statistically significant {noun} in the tables."
            )
        yield from self._besides_findings()


def _named(groups: Sequence[str]) -> str:
    """Return groups with their sizes; of many the first, and how many there are more."""
    more = len(groups) - _MOST_SMALL
    return f"{'; '.join(groups[:_MOST_SMALL])}{f'; and {more:,} more' if more > 0 else ''}"


def _above(own: Iterable[Estimate], favourable: Favourable) -> str:
    """Return that the rate of a small group is more favourable than that of the best reference."""
    found = [
        each
        for each in own
        if each.reference
        and each.reference.kind is ReferenceKind.BEST
        and (rate := compared_rate(each.definition)) is not None
        and has_direction(rate, favourable)
        and gap(each) * (-1 if favours_the_least(rate, favourable) else 1) > 0
    ]
    rate = compared_rate(found[0].definition) if found else None
    if rate is None:
        return ""
    level = "lower" if favours_the_least(rate, favourable) else "higher"
    return f" (its {rate.title} is {level} than that of the reference)"


def _size(own: Iterable[Estimate], n: float) -> str:
    """Return the size of a group; of protected counts, also the smallest that agrees with them."""
    own = [*own]
    parts = (e.reason for e in own if e.reason and e.reason.code is ReasonCode.FEW_ROWS)
    if (part := next((each for each in parts if each.get("counts")), None)) is not None:
        return rows_and_part(part)
    bounds = (e.reason for e in own if e.reason and e.reason.get("at_least"))
    least = next((reason["n"] for reason in bounds if reason.side == "group"), None)
    may_be = "" if least is None else f" after rounding, possibly {numbers.count(least)}"
    return f"n = {numbers.count(n)}{may_be}"


def _least_rows(own: Iterable[Estimate], n: float) -> float | None:
    """Return the number of rows that a group has not, None where it is something else."""
    few = (e.reason["minimum"] for e in own if e.reason and e.reason.code is ReasonCode.FEW_ROWS)
    return next((float(least) for least in few if n < least), None)
