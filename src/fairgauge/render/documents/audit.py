"""What the document of an audit has besides its fields: rows of its features, rules and methods."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from fairgauge import enums
from fairgauge.catalogue.directions import is_ratio
from fairgauge.catalogue.distributions import ConditionalDisparity
from fairgauge.catalogue.score_statistics import RocAuc
from fairgauge.enums import ClassKind, DiagnosticCode, Profile, ReferenceKind, Status
from fairgauge.question.features import strata_named
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.document import DocumentParts
from fairgauge.render.documents import filing as filings
from fairgauge.render.documents import report_notes as notes
from fairgauge.render.documents.filing import terms_of
from fairgauge.render.grammar import describe_reason, english, spoken
from fairgauge.render.page import brief_of_page, exhibits, first_page, rows_read, rule_grid
from fairgauge.render.streams import Value, flat
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words import verdict_sentences as verdict_words
from fairgauge.render.words.display_names import called, capitalised, group_called, printable
from fairgauge.render.words.verdict_sentences import assumption, place_words, reference_name
from fairgauge.results.codec import to_dict, to_plain
from fairgauge.results.estimates import Estimate, Group, RateValue
from fairgauge.results.report import Report
from fairgauge.statements import sections
from fairgauge.statements.compared import unit_of
from fairgauge.statements.sections import FeatureResults, gravest_groups, on_one_screen, sections_of

_MOST_SECTIONS, _MOST_SECTIONS_FULL = 6, 24
_MOST_GROUPS, _MOST_GROUPS_FULL = 12, 200
_MOST_RATES = 8
_LONGEST_SPEC = 20_000
_MOST_ABSENT = 3


class _Part:
    """A feature, or one class or threshold of it, with what its tables hold."""

    def __init__(
        self, report: Report, section: FeatureResults, terms: Mapping[str, str], *, full: bool
    ) -> None:
        self.report, self.of, self.terms, self.full = report, section, terms, full
        self.title = called(section.name)
        self.legend = list[str]()
        """How to read its table of rates, but for what an earlier table states."""
        estimated = any(assumption(each.interval) for each in section.estimates)
        self.heading = called(section.name) + (" ≈" if estimated else "")
        """What groups are called in its tables; "≈" marks those that probabilities state."""
        self.column = called(strata_named(read_spec(report.spec).strata) or "the strata")

    @cached_property
    def groups(self) -> list[Group]:
        most = _MOST_GROUPS_FULL if self.full else _MOST_GROUPS
        every = self.of.groups
        return every if len(every) <= most else sections.gravest_groups(self.of, most)

    def rate_rows(self) -> Iterator[dict[str, object]]:
        names = self.of.rates if self.full else self.of.rates[:_MOST_RATES]
        for group in [*self.groups, *([self.of.total] if self.of.total else [])]:
            total = group.reference_kind is ReferenceKind.OVERALL
            for name in names:
                yield {
                    "group": spoken().terms["reference"]["overall"] if total else group.group,
                    "total": total,
                    "n": sections.size_beside_rates(group, self.of.catalogue),
                    "rate": self.terms.get(name) or metrics.rate_heading(self.of.rate_row(name)),
                    "value": metrics.rate_value(self.of.rate_row(name), group.rates.get(name)),
                    "difference": "" if total else self._comparison_of(name, group),
                }

    def _comparison_of(self, rate: str, group: Group) -> str:
        # how a rate compares with the reference: as the preset publishes it, or as such
        if (metric := self._comparison_name(rate)) is None:
            return ""
        if (each := self.of.find(metric, group.group)) is not None:
            write = metrics.published_value if metric in self.terms else metrics.estimate_value
            return metrics.marked(write(each), each)
        return "ref." if group.group == sections.reference_group(self.of, metric) else ""

    def _comparison_name(self, rate: str) -> str | None:
        ways = ("ratio", "difference") if f"{rate}.ratio" in self.terms else ("difference", "ratio")
        return next((m for by in ways if (m := f"{rate}.{by}") in self.of.metrics), None)

    def rate_intervals(self) -> Iterator[dict[str, object]]:
        g = spoken()
        for group in self.groups:
            for name, rate in group.rates.items():
                row = self.of.rate_row(name)
                ends = [
                    metrics.rate_value(row, RateValue(value=end)) for end in rate.interval or ()
                ]
                yield {
                    "group": group.group, "rate": g.title(row.title),
                    "value": metrics.rate_value(row, rate), "interval": " to ".join(ends),
                    "numerator": rate.numerator, "denominator": rate.denominator,
                    "reason": describe_reason(rate.reason) if rate.reason else "",
                }  # fmt: skip

    def other_rows(self) -> Iterator[dict[str, object]]:
        """Yield the metrics that are no difference or ratio of a rate of its own."""
        sizes = {} if self.of.rates else {each.group: each.n for each in self.groups}
        found = list[tuple[Estimate, str]]()
        for metric in self.of.metrics:
            row = self.of.metric_row(metric)
            rate = metrics.compared_rate(row)
            beside = rate is not None and metric == f"{rate.name}.{getattr(row, 'by', '')}"
            if beside and row.set in ("native", "own"):
                continue
            code = row.name if row.set != "native" else row.heading or metrics.metric_words(row)
            for group in self.groups:
                if (each := self.of.find(metric, group.group)) is not None:
                    found.append((each, self.terms.get(metric) or code))
        own = (e for e in self.of.adjusted if isinstance(e.definition, ConditionalDisparity))
        found += [(each, each.definition.name) for each in own]
        for each, heading in found:
            value = metrics.marked(metrics.estimate_value(each), each)
            size = sizes.get(each.group or "")
            yield {"group": each.group, "n": size, "metric": heading, "value": value}

    def strata_rows(self) -> Iterator[dict[str, object]]:
        adjusted = sections.adjustments(self.of)
        rates = {metrics.compared_rate(overall.definition) for overall, _ in adjusted}
        inside = {(group.stratum, group.group): group for group in self.of.groups_inside}
        for rate in sorted(filter(None, rates), key=lambda rate: rate.name):
            for stratum in self.of.strata:
                for group in self.groups[:_MOST_RATES]:
                    value, size = "-", 0.0
                    if (found := inside.get((stratum, group.group))) is not None:
                        value = metrics.rate_value(rate, found.rates.get(rate.name))
                        size = sections.size_of_rate(found, rate.name)
                    yield {
                        "name": rate.name,
                        "rate": spoken().title(rate.title),
                        "value": value,
                        "stratum": stratum,
                        "group": group.group,
                        "n": numbers.count(size),
                    }

    def adjusted_rows(self) -> Iterator[dict[str, str | None]]:
        for pair in sections.adjustments(self.of):
            words = self.terms.get(pair[0].metric) or metrics.metric_words(pair[0].definition)
            row = {"metric": words, "group": pair[0].group}
            for name, each in zip(("overall", "adjusted"), pair, strict=True):
                row[name] = metrics.marked(metrics.estimate_value(each), each)
                ends = metrics.metric_range(each.definition, each.low, each.high)
                row[f"{name}_ci"] = f"({ends})" if ends else ""
            yield row

    def pair_rows(self) -> Iterator[dict[str, object]]:
        for each in self.of.pairs:
            few = spoken().insufficient([each.reason]) if each.status is not Status.OK else ""
            interval = each.difference_interval
            title = spoken().title(each.definition.title)
            yield {**to_dict(each), "title": title, "interval": interval, "few": few}

    def confusion_rows(self) -> Iterator[dict[str, object]]:
        for group in self.groups:
            if group.counts and any(group.counts.values()):
                yield {"group": group.group, **group.counts, "n": sum(group.counts.values())}

    @property
    def folded(self) -> bool:
        """Return whether it is one of the single classes, which are many."""
        scope = self.of.class_scope
        return not (scope.kind is ClassKind.NONE or scope.average is enums.Average.MACRO)

    @property
    def marks(self) -> list[str]:
        g, every = spoken(), (*self.of.estimates, *self.of.adjusted)
        few = [each for each in every if metrics.marked("", each) == "?"]
        small = [e for e in few if e.reason and e.reason.side == "group"]
        too_small = {each.group for each in small}
        others = [each for each in few if each.group not in too_small]
        size = partial(sections.size_beside_rates, catalogue=self.of.catalogue)
        listed = (each for each in self.of.groups if each.group in too_small)
        parts = {e.group: e.reason for e in small if e.reason and e.reason.get("part")}
        sizes = []
        for each in listed:
            of = parts.get(each.group)
            facts: dict[str, object] = {} if of is None else {"n": of["n"], "part": of["part"]}
            more = g.say("few_data", "part", **facts) if facts else ""
            sizes.append(f"{called(each.group)}, n = {size(each):,}{more}")
        names = [called(each) for each in dict.fromkeys(e.group for e in others) if small and each]
        why = [
            ": ".join(filter(None, [g.insufficient(each.reason for each in of), g.listing(whose)]))
            for of, whose in ((small, sizes), (others, names))
            if of
        ]
        significant = any(metrics.marked("", each) == "*" for each in every)
        return [g.terms["legend"]["significant"] * significant, f"? {'; '.join(why)}" * bool(few)]

    def how_to_read(self) -> list[str]:
        g, rates = spoken(), [self.of.rate_row(rate) for rate in self.of.rates]
        against = {reference_name(e.reference) for e in self.of.estimates if e.reference}
        beside = [m for rate in self.of.rates if (m := self._comparison_name(rate)) is not None]
        ratios = [metric for metric in beside if is_ratio(self.of.metric_row(metric))]
        terms = [self.terms[each] for each in ratios if each in self.terms]
        one = called(against.pop()) if len(against) == 1 else None
        facts: dict[str, object] = {"reference": one}
        facts |= {"ratios": bool(ratios), "differences": len(ratios) < len(beside)}
        facts |= {"named": [each for each in terms if "ratio to" not in each]}
        text = g.say("legend", "text", **facts, shares=any(rate.is_share for rate in rates))
        of = g.say("legend", "some", n=len(self.groups), of=len(self.of.groups)) or ""
        sides = dict.fromkeys((each.group, each.mirror_of) for each in self.of.mirrors)
        return [
            text or "",
            *self.marks,
            metrics.abbreviations(rates),
            *(g.say("legend", "mirrors", one=one, other=other) or "" for one, other in sides),
            of * (len(self.groups) < len(self.of.groups)),
        ]


def _interval_note(estimates: Iterable[Estimate]) -> str:
    having = [each for each in estimates if each.interval is not None]
    together = [each for each in having if metrics.holds_with_others(each)]
    features = list(dict.fromkeys(called(each.feature) for each in together if each.feature))
    adjusted = any(each.p_adjusted not in (None, each.p_value) for each in having)
    if not (together or adjusted):
        return ""
    alone = len(together) < len(having)
    return spoken().say("intervals_held", "text", features=features, alone=alone) or ""


def _parts(report: Report, *, full: bool) -> list[_Part]:
    results, terms = sections_of(report), terms_of(report)
    kept = results if full else sections.on_one_screen(results)
    kept = kept[: _MOST_SECTIONS_FULL if full else _MOST_SECTIONS]
    parts = [_Part(report, each, terms, full=full) for each in kept]
    said: set[str] = set()
    for part in parts:
        part.legend = [each for each in part.how_to_read() if each not in said]
        said.update(part.legend)
    return parts


# ---- rules


def _rule_lines(report: Report, terms: Mapping[str, str] | None = None) -> list[tree.Block]:
    pairs = tuple(verdict_words.rule_lines(report, terms))
    return [tree.Facts(pairs)] if pairs else []


def _overall_lines(report: Report) -> list[str]:
    across = [each for section in sections_of(report) for each in section.across]
    return [
        printable(f"{capitalised(each.says)}.")
        for each in (*(e for e in report.estimates if e.feature is None), *across)
        if each.value is not None or each.interval is not None
    ]


def _estimators(report: Report) -> Iterator[dict[str, object]]:
    terms = terms_of(report)
    for each in report.estimators:
        metric = report.catalogue.metric(each.metric)
        yield {
            "group": group_called(each.group, each.feature),
            "metric": terms.get(each.metric) or metrics.metric_words(metric),
            "estimator": str(each.estimator).replace("_", " "),
            "value": "-" if each.value is None else metrics.metric_value(metric, each.value),
            "interval": metrics.metric_ci(metric, each.interval),
            "decides": each.decides,
            "people": each.effective_people,
            "assumes": assumption(each.interval),
        }


# ---- data, methods and numbers


def _closing(report: Report) -> Iterator[tree.Block]:
    valued = {each.metric for each in report.estimates if each.value is not None}
    absent = [e for part in _parts(report, full=False) for e in part.of.missing]
    texts = [
        spoken().say("method", "caveat") if report.findings else "",
        notes.size_notes(report),
        *notes.missing_values(e for e in absent if e.metric not in valued)[:_MOST_ABSENT],
    ]
    yield from (tree.Paragraph(text, tree.Tone.SOFT) for text in texts if text)


def _numbers(report: Report) -> Iterator[dict[str, Any]]:
    g = spoken()
    for each in report.estimates:
        sizes = [numbers.count(n) for n in (each.n_group, each.n_reference) if n is not None]
        place = place_words(each.class_scope, each.threshold)
        whose = called(each.feature) if each.feature else g.terms["reference"]["none"]
        few = each.status is Status.TOO_FEW
        kind, together = metrics.unit(each.definition), each.simultaneous
        ends_in = partial(metrics.shown_range, kind=kind, sign=metrics.signed(each.definition))
        yield {
            "metric": each.metric,
            "feature": ", ".join(filter(None, [whose, place])),
            "group": each.group,
            "reference": each.reference and reference_name(each.reference),
            "stratum": each.stratum or g.terms["pooled"] * (each.scope.kind != "overall"),
            "value": metrics.estimate_value(each)
            + metrics.unit_name(kind) * (each.value is not None),
            "interval": ends_in(each.low, each.high),
            "simultaneous": together and ends_in(together.low, together.high),
            "p_adjusted": each.p_adjusted,
            "n": " / ".join(sizes),
            "status": g.insufficient([each.reason]) if few else str(each.status).replace("_", " "),
        }


def _compared_rows(report: Report) -> Iterator[dict[str, object]]:
    terms = terms_of(report)
    for row in _numbers(report):
        if row["group"] and not row["stratum"]:
            metric = row["metric"]
            words = terms.get(metric) or metrics.metric_words(report.catalogue.metric(metric))
            ends = row["interval"] and f"({row['interval']})"
            yield {**row, "title": words, "interval": ends}


def _specification(report: Report) -> list[tree.Block]:
    text = json.dumps(to_plain(report.spec), indent=2, ensure_ascii=False)
    code = "\n".join(printable(line) for line in text.split("\n"))
    code = code if len(code) <= _LONGEST_SPEC else f"{code[:_LONGEST_SPEC]} ..."
    title = spoken().terms["specification"]
    return [tree.Section("specification", title, (tree.Code(code),), folded=True)]


def _filing(report: Report) -> Iterator[tree.Block]:
    if not report.spec["preset"]:
        return
    page = first_page(report)
    texts = page.texts
    looked = tuple(text for text, s in texts["looked"] if s.code != "preset")
    stated = (f"{page.headline}.", *(text for text, _ in (*texts["verdict"], *texts["found"])))

    def strata() -> Iterator[tree.Block]:
        parts = DocumentParts(report)
        for each in _parts(report, full=True):
            if each.of.strata:
                yield tree.Heading(f"{each.title}, by {each.column}")
                yield from parts.blocks("adjusted", each, each=each)
                yield from parts.blocks("filed_strata", each, each=each)

    own = {
        "page": lambda: [tree.Items(stated)],
        "rules": lambda: _rule_lines(report, terms_of(report)),
        "audited": lambda: [tree.Facts(tuple(question.audited(report))), tree.Items(looked)],
        "strata": strata,
    }
    yield from filings.filing(report, own)


# ---- the frame


def _facts(report: Report) -> dict[str, object]:
    fields, adjusted = question.document(report), DiagnosticCode.ADJUSTED_P
    return {
        "title": called(fields["title"]) if fields.get("title") else question.title(report),
        "verdict": verdict_words.verdict_of_all(report),
        "tone": str(notes.TONES.get(report.verdict, tree.Tone.SOFT)),
        "methods": notes.described_methods(report),
        "family": next((e["comparisons"] for e in report.diagnostics if e.code is adjusted), None),
        "clarify": report.profile is Profile.CLARIFY,
        "partial": notes.size_notes(report),
        "interval_note": _interval_note(report.estimates),
        "unit": unit_of(read_spec(report.spec)),
        "lacking": question.unstated(report),
    }


def _frame(report: Report, **_: bool) -> dict[str, object]:
    page = first_page(report)
    tables = filings.tables_to_publish(report)
    # the warnings that open the document: those that the first page does not state
    reversed_in = {
        s.who.feature
        for s in page.page.statements
        if s.code == "adjusted" and s.facts["change"] == enums.AfterAdjusting.REVERSES and s.who
    }
    warnings = [
        e for e in notes.report_warnings(report.diagnostics)
        if e.code is not DiagnosticCode.WITHIN_STRATA
        and (e.code is not DiagnosticCode.SIMPSON or e.feature not in reversed_in)
    ]  # fmt: skip
    drawn = exhibits(page, spoken().terms["elsewhere"])
    # the chart of the metric that the first finding is of, in reports without rules
    first = () if report.by_rule else [each.estimate.metric for each in report.findings[:1]]
    charts = _gap_charts(on_one_screen(sections_of(report)), first)
    return {
        "beside": rows_read(page),
        "lead": question.caveat(read_spec(report.spec)),
        "cover": question.cover(question.document(report)),
        "warnings": notes.opening_warnings(warnings),
        "warned": len(warnings),
        "to_publish": tuple(_filing(report)),
        "brief": brief_of_page(page),
        "exhibits": (*drawn, *(each for each in charts if len(each.rows) > 1), *tables),
    }


# ---- rows of CSV


def _rates(report: Report) -> Iterator[dict[str, Value]]:
    for group in (*report.groups, *report.totals):
        fields = to_dict(group)
        rates = fields.pop("rates")
        own = flat(fields) | flat(fields["counts"] or {})
        for name, rate in rates.items():
            yield own | flat(rate) | {"rate": name}
        if not rates:
            yield own


# ---- charts: the gaps and the rates of its groups, one for each metric or rate


_MOST_GROUPS = 12


def plots(report: Report) -> dict[str, Iterable[tree.Block]]:
    """Return what can be plotted of an audit, by kind; most is made when it is asked for."""
    few, more = on_one_screen(sections_of(report)), _score_charts(report)
    grid = (grid for each in [report] if (grid := rule_grid(first_page(each))) is not None)
    return {"gaps": _gap_charts(few), "rules": grid, "rates": _rate_charts(few), **more}


def _gap_charts(
    sections: Sequence[FeatureResults], asked: Iterable[str] | None = None
) -> Iterator[tree.Chart]:
    # a chart for each metric that compares groups, with the gravest groups of all features
    every = dict.fromkeys(metric for each in sections for metric in each.metrics)
    for metric in every if asked is None else asked:
        found = [(section, each) for section in sections for group in _gravest(section)
                 if (each := section.find(metric, group.group)) is not None]  # fmt: skip
        row = found[0][1].definition
        apart = len({section.key for section, _ in found}) > 1
        than = {called(reference_name(each.reference)) for _, each in found if each.reference}
        unit = metrics.unit_name(metrics.unit(row))
        starred = any(metrics.marked("", each) == "*" for _, each in found)
        title = spoken().say("gap_chart", "text", metric=metrics.metric_words(row),
                             than=than.pop() if len(than) == 1 else "")  # fmt: skip
        yield tree.Chart(
            capitalised(title or ""),
            tuple(
                tree.ChartRow(
                    _label(section, each.group, apart=apart),
                    tree.Mark(
                        each.value, each.low, each.high, sparse=each.status is Status.TOO_FEW
                    ),
                    metrics.marked(metrics.estimate_value(each) + unit, each),
                    metrics.metric_ci(row, each.interval),
                )
                for section, each in found
            ),
            metrics.unit(row),
            None if math.isnan(row.neutral) else row.neutral,
            notes=(spoken().terms["legend"]["significant"],) * starred,
        )


def _rate_charts(sections: Sequence[FeatureResults]) -> Iterator[tree.Chart]:
    for name in dict.fromkeys(rate for each in sections for rate in each.rates):
        of = [section for section in sections if name in section.rates]
        row = of[0].rate_row(name)
        rows = []
        for section in of:
            for group in _gravest(section):
                if (rate := group.rates.get(name)) is None:
                    continue
                low, high = rate.interval or (None, None)
                text = metrics.rate_value(row, rate) + "%" * row.is_share
                n = "" if rate.denominator is None else f"n = {numbers.count(rate.denominator)}"
                label = _label(section, group.group, apart=len(of) > 1)
                mark = tree.Mark(rate.value, low, high, sparse=rate.reason is not None)
                rows.append(tree.ChartRow(label, mark, text, n))
        yield tree.Chart(capitalised(metrics.titled(row.title)), tuple(rows), metrics.unit(row))


def _score_charts(report: Report) -> dict[str, list[tree.Block]]:
    # charts by kind: one for each feature, with the curves of its gravest groups
    words, tenths = spoken().terms["score_chart"], tuple(f"{i / 10:g}" for i in range(1, 11))
    intervals = words["intervals"].format(level=f"{100 * read_spec(report.spec).confidence:.4g}%")
    found = {(each.feature, each.group): each for each in report.score_curves}
    charts: dict[str, list[tree.Block]] = {"calibration": [], "roc": []}
    for section in {each.feature: each for each in reversed(sections_of(report))}.values():
        calibrated, curves = list[tree.Curve](), list[tree.Curve]()
        for group in (gravest := _gravest(section, 6)):
            name, of = called(group.group), found.get((section.feature, group.group))
            if of and of.bins:
                marks = tuple(tree.Mark(each.observed, each.low, each.high) for each in of.bins)
                rows = {f"{each.up_to:g}": numbers.count(each.n) for each in of.bins}
                across, counts = [e.mean_score for e in of.bins], [rows.get(e, "") for e in tenths]
                calibrated.append(tree.Curve(name, tuple(across), marks, tuple(counts)))
            if of and of.true_positive_rates:
                row = next(e for e in map(section.rate_row, group.rates) if isinstance(e, RocAuc))
                ends = metrics.metric_ci(row, (area := group.rates[row.name]).interval)
                text = f"{name}: {metrics.rate_heading(row)} {metrics.rate_value(row, area)}"
                marks = tuple(map(tree.Mark, of.true_positive_rates))
                text += f" ({ends})" if ends else ""
                curves.append(tree.Curve(text, of.false_positive_rates, marks))
        with_ends = any(mark.low is not None for curve in calibrated for mark in curve.marks)
        some = words["some"].format(n=len(gravest), of=len(section.groups))
        some *= len(gravest) < len(section.groups)
        note = words["note"].format(intervals=intervals if with_ends else "") + some
        more = zip((calibrated, curves), (tenths, ()), (note, some.strip()), strict=True)
        for kind, (drawn, columns, text) in zip(charts, more, strict=True):
            title, *axes = (each.format(feature=called(section.feature)) for each in words[kind])
            chart = tree.CurveChart(title, axes[0], axes[1], tuple(drawn), columns, text)
            charts[kind][:0] = [chart] if drawn else []
    return charts


def _gravest(section: FeatureResults, most: int = _MOST_GROUPS) -> list[Group]:
    return section.groups if len(section.groups) <= most else gravest_groups(section, most)


def _label(section: FeatureResults, group: str | None, *, apart: bool) -> str:
    # a group, with its feature where several features, or several classes of one, are in a chart
    return f"{called(section.name)}: {called(group)}" if apart else called(group)


STREAMS: Mapping[str, Callable[..., object]] = {
    "facts": _facts,
    "frame": _frame,
    "plots": plots,
    "score_charts": lambda report: [e for of in _score_charts(report).values() for e in of],
    "rules_said": _rule_lines,
    "by_rule": verdict_words.verdict_rows,
    "on_a_screen": lambda report: _parts(report, full=False),
    "parts": lambda report: _parts(report, full=True),
    "gaps": lambda report: [
        table for table in filings.gap_tables(report) if len(table.rows) <= _MOST_GROUPS
    ],
    "undefined": lambda part: notes.missing_values(part.of.missing),
    "whole": _overall_lines,
    "closing": _closing,
    "estimator_rows": _estimators,
    "filing": _filing,
    "excluded_rows": lambda report: [
        {"reason": reason, "rows": rows} for reason, rows in question.excluded(report)
    ],
    "noted": notes.report_notes,
    "method_rows": notes.described_methods,
    "limits": lambda _: english().table["method"]["limits"],
    "number_rows": _numbers,
    "compared_rows": _compared_rows,
    "stratum_rows": filings.stratum_rows,
    "specification": _specification,
    "provenance": lambda report: notes.repeat_blocks(report, report.data.fingerprint, "audit"),
    "rates": _rates,
}
