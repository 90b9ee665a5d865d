"""What the document of an audit has besides its fields: rows of its features, rules and methods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from fairgauge.enums import (
    AfterAdjusting,
    Average,
    ClassKind,
    DiagnosticCode,
    Profile,
    ReferenceKind,
    Status,
)
from fairgauge.question.features import strata_named
from fairgauge.question.presets import find_preset
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._preset_blocks import (
    gaps_by_category,
    not_stated,
    tables_to_publish,
    terms_of,
)
from fairgauge.render.documents._rule_blocks import (
    counting_words,
    held_against,
    outcome_words,
    verdict_name,
    verdict_of_all,
)
from fairgauge.render.documents.document_parts import TONES, repeat_blocks
from fairgauge.render.documents.filing import (
    adverse_impact_blocks,
    comparison_table,
    filing,
    quarter_tables,
    rate_tables,
)
from fairgauge.render.documents.report_notes import (
    MOST_WARNINGS,
    missing_values,
    note_lines,
    opening_warnings,
    partial_rows,
    report_notes,
    report_warnings,
)
from fairgauge.render.exhibits import deciding_interval, exhibits, group_names
from fairgauge.render.grammar import describe_reason, insufficiency, spoken
from fairgauge.render.page import Told, brief_of_page, told
from fairgauge.render.streams import Value, flat
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import (
    called,
    capitalised,
    file_of,
    group_called,
    printable,
)
from fairgauge.render.words.estimate_sentences import assumption, reference_name
from fairgauge.render.words.finding_sentences import (
    adjusted_for_strata,
    adjusted_sentence,
    describe_finding,
    no_finding_sentence,
    whom_compared,
)
from fairgauge.render.words.glossary import metric_entries, metric_link, rate_entries
from fairgauge.render.words.method_descriptions import CAVEAT, LIMITS, described_methods
from fairgauge.render.words.metric_words import (
    abbreviations,
    compared_rate,
    estimate_value,
    holds_with_others,
    marked,
    metric_ci,
    metric_heading,
    metric_range,
    metric_value,
    metric_words,
    neutral,
    published_value,
    rate_heading,
    rate_value,
    unit,
    unit_name,
)
from fairgauge.render.words.rule_words import rule_words, rules_of
from fairgauge.render.words.verdict_sentences import describe_evidence, verdict_word
from fairgauge.results.codec import plain, to_dict
from fairgauge.results.disparities import (
    NOTHING_CONCLUDED,
    after_adjusting,
    distance,
    is_ratio,
    significant_strata,
    singled_out,
    tests_within_strata,
    with_both_sides,
)
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.sections import (
    FeatureResults,
    adjustments,
    conditional,
    gravest_groups,
    insignificant,
    on_one_screen,
    reference_group,
    sections_of,
    size_beside_rates,
    size_of_rate,
)
from fairgauge.results.verdicts import RuleResult, before_counting

_MOST_SECTIONS, _MOST_SECTIONS_FULL = 6, 24
_MOST_GROUPS, _MOST_GROUPS_FULL = 12, 200
_MOST_RATES = 8
_MOST_CHARTED, _MOST_CHART_ROWS, _MOST_CHARTS = 4, 24, 8
_MOST_PUBLISHED = 24
"""Rows of tables to publish on the first page; others follow on the second."""
_MOST_LISTED = 3_000
_LONGEST_SPEC = 20_000
_MOST_FILED_METHODS, _MOST_FINDINGS, _MOST_ABSENT = 6, 5, 3


_BY_ITSELF = (
    "Each confidence interval is for a single comparison; statistical significance is based on the "
    "adjusted p-value, so an interval can exclude “no difference” without being significant."
)


class _Part:
    """A feature, or one class or threshold of it, with what its tables hold."""

    def __init__(
        self, report: Report, section: FeatureResults, terms: Mapping[str, str], *, full: bool
    ) -> None:
        self.report, self.of, self.terms, self.full = report, section, terms, full
        self.title = called(section.name)
        self.is_drawn, self.legend = False, list[str]()
        """How to read its table of rates, but for what an earlier table states."""
        estimated = any(assumption(each.interval) for each in section.estimates)
        self.heading = called(section.name) + (" ≈" if estimated else "")
        """What groups are called in its tables; "≈" marks those that probabilities state."""
        self.column = called(strata_named(report.spec.get("strata")) or "the strata")

    @cached_property
    def groups(self) -> list[Group]:
        """Return its groups in their order, or the gravest of many."""
        most = _MOST_GROUPS_FULL if self.full else _MOST_GROUPS
        every = self.of.groups
        return every if len(every) <= most else gravest_groups(self.of, most)

    def rates(self) -> Iterator[dict[str, Any]]:
        """Yield every rate of every group, with how far it is from that of the reference."""
        names = self.of.rates if self.full else self.of.rates[:_MOST_RATES]
        for group in [*self.groups, *([self.of.total] if self.of.total else [])]:
            total = group.reference_kind is ReferenceKind.OVERALL
            for name in names:
                yield {
                    "group": "overall" if total else group.group,
                    "total": total,
                    "n": size_beside_rates(group, self.of.catalogue),
                    "rate": self.terms.get(name) or rate_heading(self.of.rate_row(name)),
                    "value": rate_value(self.of.rate_row(name), group.rates.get(name)),
                    "difference": "" if total else self._compared(name, group),
                }

    def _compared(self, rate: str, group: Group) -> str:
        """Return how a rate compares with the reference: as the preset publishes it, or as such."""
        if (metric := self._beside(rate)) is None:
            return ""
        if (each := self.of.find(metric, group.group)) is not None:
            write = published_value if metric in self.terms else estimate_value
            return marked(write(each), each)
        return "ref." if group.group == reference_group(self.of, metric) else ""

    def _beside(self, rate: str) -> str | None:
        """Return the comparison that stands beside a rate, None without one."""
        ways = ("ratio", "difference") if f"{rate}.ratio" in self.terms else ("difference", "ratio")
        return next((m for by in ways if (m := f"{rate}.{by}") in self.of.metrics), None)

    def intervals(self) -> Iterator[dict[str, Any]]:
        """Yield every rate with its interval and its counts."""
        for group in self.groups:
            for name, rate in group.rates.items():
                row = self.of.rate_row(name)
                ends = [rate_value(row, type(rate)(value=end)) for end in rate.interval or ()]
                yield {
                    "group": group.group,
                    "rate": row.title,
                    "value": rate_value(row, rate),
                    "interval": " to ".join(ends),
                    "numerator": rate.numerator,
                    "denominator": rate.denominator,
                    "reason": describe_reason(rate.reason) if rate.reason else "",
                }

    def others(self) -> Iterator[dict[str, Any]]:
        """Yield the metrics that are no difference or ratio of a rate of its own."""
        sizes = {} if self.of.rates else {each.group: each.n for each in self.groups}
        for metric in self.of.metrics:
            row = self.of.metric_row(metric)
            rate = compared_rate(row)
            beside = rate is not None and metric == f"{rate.name}.{getattr(row, 'by', '')}"
            if beside and row.set in ("native", "own"):
                continue
            code = metric_heading(row) if row.set == "native" else row.name
            for group in self.groups:
                if (each := self.of.find(metric, group.group)) is not None:
                    value = marked(estimate_value(each), each)
                    heading = self.terms.get(metric) or code
                    yield {"group": group.group, "n": sizes.get(group.group), "metric": heading,
                           "value": value}  # fmt: skip
        for each in conditional(self.of):
            value = marked(estimate_value(each), each)
            yield {"group": each.group, "n": sizes.get(each.group or ""),
                   "metric": each.definition.name, "value": value}  # fmt: skip

    def strata(self) -> Iterator[dict[str, Any]]:
        """Yield the compared rates of every group in every stratum."""
        rates = {compared_rate(overall.definition) for overall, _ in adjustments(self.of)}
        inside = {(group.stratum, group.group): group for group in self.of.groups_inside}
        for rate in sorted(filter(None, rates), key=lambda rate: rate.name):
            for stratum in self.of.strata:
                for group in self.groups[:_MOST_RATES]:
                    found = inside.get((stratum, group.group))
                    yield {
                        "stratum": stratum,
                        "rate": rate.title,
                        "group": group.group,
                        "value": rate_value(rate, found.rates.get(rate.name)) if found else "-",
                        "n": numbers.count(size_of_rate(found, rate.name)) if found else "0",
                    }

    def tested_strata(self) -> Iterator[str]:
        """Yield the strata in which a comparison is significant, by the test of the first page."""
        tests = tests_within_strata(self.report.estimates)
        for overall, _ in adjustments(self.of):
            of = [
                e for e in self.of.inside if (e.metric, e.group) == (overall.metric, overall.group)
            ]
            both = with_both_sides(of)
            if found := significant_strata(both, tests):
                yield (
                    f"{capitalised(metric_words(overall.definition))}, {called(overall.group)}. "
                    f"Statistically significant by itself ({adjusted_for_strata(both, tests)}): "
                    f"{numbers.listing([called(each.stratum) for each in found])}."
                )

    def compared_in_strata(self) -> Iterator[dict[str, Any]]:
        """Yield what is adjusted for the strata as it is in each of them, with its interval."""
        adjusted = {overall.metric for overall, _ in adjustments(self.of)}
        for each in self.of.inside:
            if each.metric in adjusted:
                yield {
                    "stratum": each.stratum,
                    "metric": metric_words(each.definition),
                    "group": each.group,
                    "value": estimate_value(each),
                    "interval": metric_range(each.definition, each.low, each.high),
                }

    def adjusted(self) -> Iterator[dict[str, Any]]:
        """Yield what is compared over all rows beside the same adjusted for the strata."""
        for pair in adjustments(self.of):
            row = {"metric": metric_words(pair[0].definition), "group": pair[0].group}
            for name, each in zip(("overall", "adjusted"), map(singled_out, pair), strict=True):
                row[name] = marked(estimate_value(each), each)
                ends = metric_range(each.definition, each.low, each.high)
                row[f"{name}_ci"] = f"({ends})" if ends else ""
            yield row

    @property
    def adjusted_of_some(self) -> list[str]:
        """Return which adjusted comparisons are of a part of the rows, or conclude nothing."""
        stated: dict[Any, str] = {}
        for whole, pooled in adjustments(self.of):
            open_ = after_adjusting(whole, pooled) in NOTHING_CONCLUDED
            if open_ or whom_compared(whole, pooled):
                rate = compared_rate(whole.definition)
                title = rate.title if rate is not None else metric_words(whole.definition)
                text = adjusted_sentence(whole, pooled, self.column).removesuffix(".")
                stated.setdefault((title, whole.group), f"{called(whole.group)}, {title}: {text}")
        return list(stated.values())

    def pairs(self) -> Iterator[dict[str, Any]]:
        for each in self.of.pairs:
            few = insufficiency([each.reason]) if each.status is not Status.OK else ""
            interval = each.difference_interval
            yield {**to_dict(each), "title": each.definition.title, "interval": interval,
                   "few": few}  # fmt: skip

    def confusion(self) -> Iterator[dict[str, Any]]:
        for group in self.groups:
            if group.counts and any(group.counts.values()):
                yield {"group": group.group, **group.counts, "n": sum(group.counts.values())}

    def charts(self) -> Iterator[tree.Chart]:
        """Yield every metric of every group, on one axis; of many groups those that differ most."""
        known = [name for name in self.of.metrics if metric_link(self.of.metric_row(name))]
        known = known if self.is_drawn else []
        for metric in known[:_MOST_CHARTS]:
            own = [each for each in self.of.estimates if each.metric == metric]
            far = sorted(own, key=distance, reverse=True)[:_MOST_CHART_ROWS]
            kept = [singled_out(each) if each.simultaneous else each for each in own if each in far]
            definition = self.of.metric_row(metric)
            more = len(own) - len(kept)
            yield tree.Chart(
                capitalised(metric_words(definition)),
                tuple(map(_chart_row, kept)),
                unit(definition),
                neutral(definition),
                link=metric_link(definition),
                notes=(
                    *([f"{more:,} more groups with smaller differences."] if more else []),
                    *_interval_note(kept),
                ),
            )

    @property
    def folded(self) -> bool:
        """Return whether it is one of the single classes, which are many."""
        scope = self.of.class_scope
        one = scope.kind in (ClassKind.NONE, ClassKind.SELECTION)
        return not (one or scope.average is Average.MACRO)

    @property
    def marks(self) -> list[str]:
        """Return what the marks of its tables mean, and which groups are too small for more."""
        every = (*self.of.estimates, *self.of.adjusted)
        marked_so = {marked("", each) for each in every}
        few = [each for each in every if marked("", each) == "?"]
        small = {e.group: e.reason for e in few if e.reason and e.reason.side == "group"}
        sizes = [
            # rows of one outcome alone, of which all the others of the group are none
            f"{called(each.group)}, {describe_reason(small[each.group])}"
            if small[each.group].get("values")
            else f"{called(each.group)}, n = {size_beside_rates(each, self.of.catalogue):,}"
            for each in self.of.groups
            if each.group in small
        ]
        words = f"? {insufficiency(each.reason for each in few)}" if few else ""
        return [
            "* statistically significant (adjusted for all comparisons)" * ("*" in marked_so),
            ": ".join(filter(None, [words, numbers.listing(sizes)])),
        ]

    def how_to_read(self) -> list[str]:
        """Return how to read its table of rates."""
        rates = [self.of.rate_row(rate) for rate in self.of.rates]
        sides = dict.fromkeys((each.group, each.mirror_of) for each in self.of.mirrors)
        more = len(self.of.groups) - len(self.groups)
        against = {reference_name(e.reference) for e in self.of.estimates if e.reference}
        only = called(against.pop()) if len(against) == 1 else "the reference"
        beside = [m for rate in self.of.rates if (m := self._beside(rate)) is not None]
        ratios = [metric for metric in beside if is_ratio(self.of.metric_row(metric))]
        names = [name for each in ratios if (name := self.terms.get(each))]
        titles = numbers.listing([each for each in names if "ratio to" not in each])
        ways = [
            f"ratio to {only}{f' ({titles})' if titles else ''}" * bool(ratios),
            f"difference vs {only}" * (len(ratios) < len(beside)),
        ]
        averaged = numbers.listing([rate_heading(self.of.rate_row(e)) for e in self.of.averaged])
        in_pp = ", differences in pp" * (len(ratios) < len(beside))
        return [
            " or ".join(filter(None, ways)),
            *self.marks,
            f"rates in %{in_pp}" * any(rate.is_share for rate in rates),
            abbreviations(rates),
            f"{averaged} are macro averages over classes" * bool(averaged),
            *(f"{called(one)} mirrors {called(other)}" for one, other in sides),
            (
                f"{len(self.groups)} of {len(self.of.groups):,} groups, those that fail a rule or "
                "differ statistically significantly first, then the largest, "
                f"{more:,} more in the JSON report"
            )
            * bool(more),
        ]


def _chart_row(each: Estimate) -> tree.ChartRow:
    """Return an estimate with its group and, where each has one of its own, the worst class."""
    worst = each.class_scope.kind is ClassKind.WORST and each.class_ is not None
    few = each.status is Status.TOO_FEW
    below = [numbers.probability(each.p_adjusted, "adjusted p")]
    below += [insufficiency([each.reason])] if few else []
    ends = metric_range(each.definition, each.low, each.high)
    return tree.ChartRow(
        f"{called(each.group)}{f' (class {called(each.class_)})' if worst else ''}",
        tree.mark_of(each.value, each.interval, sparse=few),
        f"{estimate_value(each)}{unit_name(unit(each.definition))}{f' ({ends})' if ends else ''}",
        below=", ".join(filter(None, below)),
    )


def _interval_note(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Return whether the intervals that are shown hold together, or each by itself."""
    having = [each for each in estimates if each.interval is not None]
    if together := [each for each in having if holds_with_others(each)]:
        features = list(dict.fromkeys(called(each.feature) for each in together if each.feature))
        held = f"those of {numbers.listing(features)} hold for all groups together"
        alone = "; each of the others is for a single comparison" * (len(together) < len(having))
        return (f"Simultaneous confidence intervals: {held}{alone}.",)
    if any(each.p_adjusted not in (None, each.p_value) for each in having):
        return (_BY_ITSELF,)
    return ()


def _parts(report: Report, *, full: bool) -> list[_Part]:
    results, terms = sections_of(report), terms_of(report)
    kept = results[:_MOST_SECTIONS_FULL] if full else on_one_screen(results)[:_MOST_SECTIONS]
    parts = [_Part(report, each, terms, full=full) for each in kept]
    for part in parts[:_MOST_CHARTED]:
        part.is_drawn = True
    said: set[str] = set()
    for part in parts:
        part.legend = [each for each in part.how_to_read() if each not in said]
        said.update(part.legend)
    return parts


# ---- rules and findings


def _rule_lines(
    report: Report, names: Mapping[tuple[str | None, str | None], str] | None = None
) -> Iterator[tree.Block]:
    rules = rules_of(report)

    def line(each: RuleResult) -> tuple[str, str]:
        words = rule_words(rules.get(each.rule), each.rule, each.worst.definition)
        return words, outcome_words(each.verdicts, report, names or {})

    if report.by_rule:
        yield tree.Facts(tuple(map(line, report.by_rule)))


def _by_rule(report: Report) -> Iterator[dict[str, Any]]:
    """Yield every rule with its verdicts, the gravest first."""
    rules = rules_of(report)
    for rule in report.by_rule:
        words = rule_words(rules.get(rule.rule), rule.rule, rule.worst.definition)
        rows = [
            {
                "group": verdict_name(each, report),
                "held": " or ".join(map(held_against, each.alternatives or (each,))),
                "outcome": verdict_word(before_counting(each)),
                "evidence": printable(capitalised(describe_evidence(each))),
            }
            for each in rule.verdicts
        ]
        yield {"title": capitalised(words), "verdicts": rows}


def _remaining(report: Report) -> Iterator[tree.Block]:
    """Yield which fails remain when all comparisons are judged together."""
    for each in report.diagnostics:
        if each.code is DiagnosticCode.FAILS_TOGETHER and (
            text := spoken().note(each, "fails_remaining")
        ):
            yield tree.Paragraph(text, spare=1, about="which fails remain")


def _findings(report: Report) -> Iterator[tree.Block]:
    found = report.findings
    if stated := tuple(map(describe_finding, found[:_MOST_FINDINGS])):
        yield tree.Items(stated, numbered=True)
    if (more := len(found) - _MOST_FINDINGS) > 0:
        noun = numbers.plural(more, "disparity", "disparities")
        yield tree.Paragraph(f"{more:,} more statistically significant {noun} in the tables.")


def _whole(report: Report) -> list[str]:
    """Return the metrics of all rows, and those of all groups of a feature, as sentences."""
    across = [each for section in sections_of(report) for each in section.across]
    return [
        printable(f"{capitalised(each.says)}.")
        for each in (*(e for e in report.estimates if e.feature is None), *across)
        if each.value is not None or each.interval is not None
    ]


def _estimators(report: Report) -> Iterator[dict[str, Any]]:
    """Yield what every estimator makes of each comparison of groups that nobody recorded."""
    for each in report.estimators:
        metric = report.catalogue.metric(each.metric)
        yield {
            "group": group_called(each.group, each.feature),
            "metric": metric_words(metric),
            "estimator": str(each.estimator).replace("_", " "),
            "value": "-" if each.value is None else metric_value(metric, each.value),
            "interval": metric_ci(metric, each.interval),
            "decides": each.decides,
            "people": each.effective_people,
            "assumes": assumption(each.interval),
        }


# ---- data, methods and numbers


def _not_significant(report: Report) -> Iterator[tree.Block]:
    """Yield in what no difference is significant, and how large one could be."""
    one_outcome = (ClassKind.NONE, ClassKind.SELECTION)
    results = sections_of(report)
    shown = on_one_screen(results)[:_MOST_SECTIONS]
    by_class = {of.feature for of in shown if of.class_scope.kind not in one_outcome}
    if equal := insignificant(results):
        text = no_finding_sentence(equal, by_class, terms_of(report))
        yield tree.Paragraph(text, tree.Tone.SOFT, spare=2, about="what is not significant")


def _closing(report: Report) -> Iterator[tree.Block]:
    """Yield the notes below the tables of one screen."""
    unit_ = question.unit(report)
    every = report.data.rows if unit_ == "rows" else report.data.cases
    parts = _parts(report, full=False)
    valued = {each.metric for each in report.estimates if each.value is not None}
    absent = [each for part in parts for each in part.of.missing if each.metric not in valued]
    texts = [
        CAVEAT if report.findings else "",
        question.not_favourable(report),
        question.exclusions(report, every - report.data.used, unit_),
        partial_rows(report, (group for part in parts for group in part.of.groups)),
        *missing_values(absent)[:_MOST_ABSENT],
    ]
    yield from (tree.Paragraph(text, tree.Tone.SOFT) for text in texts if text)


def _excluded(report: Report) -> Iterator[dict[str, Any]]:
    rows = question.excluded(report)
    for reason, count in [*rows, *question.unknown_in_intersections(report)] if rows else ():
        yield {"reason": reason, "rows": count}


def _family(report: Report) -> int | None:
    """Return for how many comparisons and tests p-values are adjusted."""
    sizes = [e["comparisons"] for e in report.diagnostics if e.code is DiagnosticCode.ADJUSTED_P]
    return sizes[0] if sizes else None


def where_numbers_are(report: Report) -> str:
    """Return where every comparison is: in the table of an HTML report, unless it has no room."""
    whole = len(report.estimates) <= _MOST_LISTED
    return "under All numbers of the HTML report" if whole else "in the JSON report"


def _numbers(report: Report) -> Iterator[dict[str, Any]]:
    """Yield every comparison, those over all strata first where there are too many."""
    every = list(report.estimates)
    if len(every) > _MOST_LISTED:
        every.sort(key=lambda each: each.stratum is not None)
    for each in every:
        sizes = [numbers.count(n) for n in (each.n_group, each.n_reference) if n is not None]
        prefix = "" if each.class_scope.kind is ClassKind.SELECTION else "class "
        place = [called(each.feature)] if each.feature else ["all rows"]
        if each.class_ is not None:
            place.append(f"{prefix}{called(each.class_)}")
        elif each.class_scope.average:
            place.append(f"{each.class_scope.average} average")
        if each.threshold is not None:
            place.append(f"threshold {each.threshold:g}")
        adjusted = "" if each.scope.kind == "overall" else "adjusted"
        few = each.status is Status.TOO_FEW
        yield {
            "metric": each.metric,
            "feature": ", ".join(place),
            "group": each.group,
            "reference": each.reference and reference_name(each.reference),
            "stratum": each.stratum or adjusted,
            "value": "-"
            if each.value is None
            else estimate_value(each) + unit_name(unit(each.definition)),
            "interval": metric_range(each.definition, each.low, each.high),
            "p_adjusted": each.p_adjusted,
            "n": " / ".join(sizes),
            "status": insufficiency([each.reason]) if few else str(each.status).replace("_", " "),
        }


def _glossary(report: Report) -> Iterator[tree.Block]:
    metrics = {each.metric: each.definition for each in report.estimates}
    rates = {name for group in report.groups for name in group.rates}
    rates |= {rate.name for row in metrics.values() if (rate := compared_rate(row))}
    used = (rate for rate in report.catalogue.rates if rate.name in rates)
    entries = (*metric_entries(metrics.values()), *rate_entries(used))
    title = f"{len(entries):,} metrics and rates: what each is, its formula and its range"
    yield tree.Section("entries", title, (tree.Glossary(entries),), folded=True)


def _provenance(report: Report) -> Iterator[tree.Block]:
    *repeat, signatures = repeat_blocks(report, report.data.fingerprint, "audit")
    yield from repeat
    text = json.dumps(plain(report.spec), indent=2, ensure_ascii=False)
    code = "\n".join(printable(line) for line in text.split("\n"))
    code = code if len(code) <= _LONGEST_SPEC else f"{code[:_LONGEST_SPEC]} ..."
    title = "The specification, defaults included"
    yield tree.Section("specification", title, (tree.Code(code),), folded=True)
    yield signatures


def _filing(report: Report) -> Iterator[tree.Block]:
    """Yield the document that the preset of a report asks for."""
    found = find_preset(report.spec.get("preset"))
    if found is None:
        return
    page = told(report)
    sentences = (f"{page.headline}.", *(text for text, _ in page.verdict))
    results = next((said for place, _, said in page.answers if place == "found"), ())
    yield from filing(
        found,
        report,
        {
            "page": lambda: [tree.Items((*sentences, *(text for text, _ in results)))],
            "tables": lambda: (
                [tree.Heading(f"Tables to {'publish' if found.public else 'file'}"), *tables]
                if (tables := tables_to_publish(report, sections_of(report)))
                else []
            ),
            "rates": lambda: rate_tables(found, report),
            "adverse_impact": lambda: adverse_impact_blocks(report),
            "rules": lambda: _rule_lines(report, group_names(page, report)),
            "comparisons": lambda: comparison_table(report),
            "quarters": lambda: quarter_tables(report),
            "signatures": lambda: [tree.SignOff(("Made by", "Responsible"))],
            "not_stated": lambda: not_stated(report),
            "statements": lambda: [tree.Items(found.statements)],
            "published": lambda: [tree.Items(found.publishes)],
            "question": lambda: [tree.Facts(tuple(question.question(report)))],
        },
    )


# ---- the frame


def _facts(report: Report) -> dict[str, Any]:
    rows, cases = report.data.rows, report.data.cases
    read = question.rows_words(report)
    if question.counts_people(report.spec):
        read = f"{numbers.numbered(cases, 'people')} in {read}"
    elif cases != rows:
        read += f" ({numbers.count(cases)} cases)"
    fields = question.document(report)
    return {
        "title": called(fields.get("title") or f"Fairness audit: {file_of(report.data.source)}"),
        "read": f"{read}, {question.used_words(report)}",
        "verdict": f"{verdict_of_all(report)}{counting_words(report.verdicts)}",
        "tone": str(TONES.get(report.verdict, tree.Tone.SOFT)),
        "methods": described_methods(report),
        "family": _family(report),
        "clarify": report.profile is Profile.CLARIFY,
        "homogeneity": [e for e in report.diagnostics if e.code is DiagnosticCode.HOMOGENEITY],
        "partial": partial_rows(report, report.groups),
        "interval_note": _interval_note(report.estimates),
        "unit": question.unit(report),
    }


def _frame(report: Report, *, full: bool) -> dict[str, Any]:
    page = told(report)
    tables = tables_to_publish(report, sections_of(report))
    warnings = _warnings(report, page)
    fields = question.document(report)
    gaps = any(gaps_by_category(report, sections_of(report)))
    lead = question.lead(report, tables_to_publish=bool(tables) and not gaps)
    drawn = exhibits(page, where_numbers_are(report))
    others_are = "follow" if full else "are in the whole report"
    return {
        "lead": (*lead, *question.caveat(report.spec)),
        "cover": [
            (question.DATES.get(key, key), printable(fields[key]))
            for key in question.COVER
            if key in fields
        ],
        "warnings": opening_warnings(warnings),
        "warned": len(warnings),
        "to_publish": tables,
        "brief": brief_of_page(page),
        "exhibits": (
            *drawn,
            *_first_tables(tables, others_are),
        ),
        "filed": _filed(report, page, tables) if full else (),
    }


def _warnings(report: Report, page: Told) -> list[Diagnostic]:
    """Return the warnings that open the document: those that the first page does not state."""
    reversed_in = {
        s.who.feature
        for s in page.page.statements
        if s.code == "adjusted" and s.facts["change"] == AfterAdjusting.REVERSES and s.who
    }
    stated = (DiagnosticCode.PROTECTED, DiagnosticCode.WITHIN_STRATA)
    return [
        each
        for each in report_warnings(report.diagnostics)
        if each.code not in stated
        and not (each.code is DiagnosticCode.SIMPSON and each.feature in reversed_in)
    ]


def _published(tables: list[tree.Table]) -> list[tree.Table]:
    """Return the tables to publish that the first page has room for, in their order."""
    room, found = _MOST_PUBLISHED, []
    for each in tables:
        room -= len(each.rows)
        if room < 0:
            break
        found.append(each)
    return found


def _first_tables(tables: list[tree.Table], others_are: str) -> Iterator[tree.Block]:
    """Yield the tables to publish on the first page, and which others follow it."""
    shown = _published(tables)
    yield from shown
    if others := [each.caption for each in tables[len(shown) :]]:
        more = "More tables" if shown else "Tables"
        text = f"{more} to publish {others_are}: {numbers.listing(others)}."
        yield tree.Paragraph(text, tree.Tone.SOFT)


def _filed(report: Report, page: Told, tables: list[tree.Table]) -> Iterator[tree.Block]:
    """Yield what an auditor files: tables to publish, rules, methods, command, signatures."""
    yield from tables[len(_published(tables)) :]
    yield from not_stated(report)
    if len(warnings := note_lines(_warnings(report, page))) > MOST_WARNINGS:
        yield tree.Heading("Warnings of the notes")
        yield tree.Items(tuple(warnings))
    if report.verdicts:
        yield tree.Heading("Rules")
        yield from _rule_lines(report, group_names(page, report))
        yield tree.Paragraph(deciding_interval(page))
        yield from _remaining(report)
    if found := described_methods(report):
        used = ((each.name, numbers.listing(each.used_for)) for each in found)
        yield tree.Heading("Methods of the confidence intervals")
        yield tree.Facts(tuple(used)[:_MOST_FILED_METHODS])
    yield from repeat_blocks(report, report.data.fingerprint, "audit")


# ---- rows of CSV


def _rates(report: Report) -> Iterator[dict[str, Value]]:
    """Yield every rate of every group, and of all groups together."""
    for group in (*report.groups, *report.totals):
        fields = to_dict(group)
        rates = fields.pop("rates")
        own = flat(fields) | flat(fields["counts"] or {})
        for name, rate in rates.items():
            yield own | flat(rate) | {"rate": name}
        if not rates:
            yield own


def _stated(report: Report) -> Iterator[dict[str, Value]]:
    """Yield every finding, with the simultaneous intervals and the contrasts that it states."""
    for finding in report.findings:
        row = flat(finding.estimate) | flat(finding)
        for name in ("ratio", "adjusted", "beside"):
            contrast = getattr(finding, name)
            if contrast is not None:
                shown = singled_out(contrast)
                value = "beside_value" if name == "beside" else name
                row |= {value: shown.value, f"{name}_low": shown.low, f"{name}_high": shown.high}
        row["beside"] = finding.beside.metric if finding.beside else None
        row["family_tests"] = finding.family.tests if finding.family else None
        row["others"] = ", ".join(str(other.group) for other in finding.others) or None
        yield row


STREAMS: Mapping[str, Callable[..., Any]] = {
    "facts": _facts,
    "frame": _frame,
    "rules_said": _rule_lines,
    "by_rule": _by_rule,
    "remaining": _remaining,
    "findings_said": _findings,
    "on_a_screen": lambda report: _parts(report, full=False),
    "parts": lambda report: _parts(report, full=True),
    "gaps": lambda report: [
        table
        for table in gaps_by_category(report, sections_of(report))
        if len(table.rows) <= _MOST_GROUPS
    ],
    "rate_rows": lambda part: part.rates(),
    "rate_intervals": lambda part: part.intervals(),
    "other_rows": lambda part: part.others(),
    "strata_rows": lambda part: part.strata(),
    "tested_strata": lambda part: part.tested_strata(),
    "compared_in_strata": lambda part: part.compared_in_strata(),
    "adjusted_rows": lambda part: part.adjusted(),
    "pair_rows": lambda part: part.pairs(),
    "confusion_rows": lambda part: part.confusion(),
    "metric_charts": lambda part: part.charts(),
    "undefined": lambda part: missing_values(part.of.missing),
    "whole": _whole,
    "not_significant": _not_significant,
    "closing": _closing,
    "estimator_rows": _estimators,
    "scores_drawn": lambda report: [tree.ScoreCharts()] if report.scores else [],
    "filing": _filing,
    "question": lambda report: [tree.Facts(tuple(question.question(report)))],
    "excluded_rows": _excluded,
    "noted": report_notes,
    "method_rows": lambda report: [
        {"name": e.name, "text": e.text, "used": numbers.listing(e.used_for)}
        for e in described_methods(report)
    ],
    "limits": lambda _: LIMITS,
    "number_rows": _numbers,
    "glossary": _glossary,
    "provenance": _provenance,
    "rates": _rates,
    "stated": _stated,
}
