"""The appendix of a full report: data, methods, all numbers, glossary and provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fairgauge.enums import DiagnosticCode, Profile
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._document_parts import repeat_blocks, table_of_rows
from fairgauge.render.documents._metric_blocks import interval_note, listed_row
from fairgauge.render.documents.report_notes import partial_rows, report_notes
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.glossary import metric_entries, rate_entries
from fairgauge.render.words.method_descriptions import described_methods
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.results.codec import plain
from fairgauge.results.report import Report

_LONGEST_SPEC = 20_000
_MOST_LISTED = 3_000
_MOST_NOTES = 60


def data_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield what was asked of which rows, what is excluded, and the notes."""
    yield tree.Facts(tuple(question.question(report)))
    excluded = question.excluded(report)
    if excluded:
        yield table_of_rows(
            "Excluded rows",
            [*excluded, *question.unknown_in_intersections(report)],
            (tree.Column("reason", numeric=False), lambda each: each[0]),
            (question.unit(report), lambda each: numbers.count(each[1])),
        )
    else:
        yield tree.Paragraph("No row was excluded.")
    if note := partial_rows(report, report.groups):
        yield tree.Paragraph(note)
    notes = report_notes(report)
    if notes:
        yield tree.Heading("Notes")
        yield tree.Items(tuple(notes[:_MOST_NOTES]))


def method_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield how values, intervals and p-values are made."""
    spec = report.spec
    yield tree.Paragraph(
        "Rows were counted once, by group, label and prediction; every number comes from these "
        "counts. A rate is a share or ratio of counts within one group; a disparity compares "
        "the rate of a group with that of its reference."
    )
    if report.profile is Profile.CLARIFY:
        yield tree.Paragraph(
            "Profile clarify: the numbers are those of smclarify, edge cases included."
        )
    else:
        yield tree.Paragraph(
            "Profile documented: every metric is computed as its source defines it. Where a "
            "formula divides by zero the result is undefined, or infinite, and never replaced."
        )
    found = described_methods(report)
    if not found:
        yield tree.Paragraph(
            "No confidence intervals were computed, so nothing here states how much of a "
            "disparity is sampling variation."
        )
        return
    yield tree.Paragraph(
        "Confidence intervals state which values are compatible with these rows. They do not "
        "cover errors in labels or groups, nor who is missing from the data. p-values test "
        f"“no difference”{_family(report)}. "
        f"Seed {spec.get('seed')}, {numbers.count(spec.get('replicates') or 0)} replicates "
        "where random numbers are drawn."
    )
    if any(each.code is DiagnosticCode.HOMOGENEITY for each in report.diagnostics):
        yield tree.Paragraph(
            "The standard deviation between groups is estimated by the method of moments. It and "
            "the range are of the groups that are large enough to be a reference."
        )
    yield table_of_rows(
        "Methods of the confidence intervals",
        found,
        (tree.Column("method", numeric=False), lambda each: each.name),
        (tree.Column("what it is", numeric=False), lambda each: each.text),
        (tree.Column("used for", numeric=False), lambda each: numbers.listing(each.used_for)),
        stacked=True,
    )


def _family(report: Report) -> str:
    """Return for what p-values are adjusted: how many comparisons and tests."""
    sizes = [e["comparisons"] for e in report.diagnostics if e.code is DiagnosticCode.ADJUSTED_P]
    return f" and are adjusted for {sizes[0]:,} comparisons and tests" if sizes else ""


def where_numbers_are(report: Report) -> str:
    """Return where every comparison is: in the table of an HTML report, unless it has no room."""
    whole = len(report.estimates) <= _MOST_LISTED
    return "under All numbers of the HTML report" if whole else "in the JSON report"


def number_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield the table of every comparison."""
    estimates = report.estimates
    listed = estimates
    most = _MOST_LISTED
    if len(estimates) > most:
        whole = [e for e in estimates if e.stratum is None]
        listed = tuple((whole + [e for e in estimates if e.stratum is not None])[:most])
    strata = any(each.stratum is not None or each.scope.kind != "overall" for each in listed)
    columns = [
        tree.Column("metric", numeric=False), tree.Column("feature", numeric=False),
        tree.Column("group", numeric=False), tree.Column("compared with", numeric=False),
        *([tree.Column("stratum", numeric=False)] if strata else []),
        tree.Column("value"), tree.Column("low"), tree.Column("high"), tree.Column("p (adjusted)"),
        tree.Column("n (group / reference)"), tree.Column("status", numeric=False),
    ]  # fmt: skip
    more = len(estimates) - len(listed)
    table = tree.Table(
        "Every comparison" + (f"; {more:,} more in the JSON and CSV reports" if more else ""),
        tuple(columns),
        tuple(listed_row(each, strata=strata) for each in listed),
        id="estimates",
        notes=interval_note(listed),
    )
    title = f"{len(listed):,} {numbers.plural(len(listed), 'comparison', 'comparisons')}"
    yield tree.Section("numbers", title, (table,), folded=True)


def glossary_sections(report: Report) -> Iterator[tree.Section]:
    """Yield what each metric and rate of the report is."""
    metrics = {each.metric: each.definition for each in report.estimates}
    rates = {name for group in report.groups for name in group.rates}
    rates |= {rate.name for row in metrics.values() if (rate := compared_rate(row))}
    entries = (
        *metric_entries(metrics.values()),
        *rate_entries(rate for rate in report.catalogue.rates if rate.name in rates),
    )
    level = report.spec["confidence"]
    yield tree.Section(
        "terms", "Words of verdicts and intervals", (tree.Facts(_terms(level)),), folded=True
    )
    title = f"{len(entries):,} metrics and rates: what each is, its formula and its range"
    yield tree.Section("entries", title, (tree.Glossary(entries),), folded=True)


def _terms(confidence: float) -> tuple[tuple[str, str], ...]:
    """Return what the words of a report about verdicts and intervals mean, at its level."""
    level = f"{100 * confidence:.4g}%"
    words = {
        "statistically significant": f"the adjusted p-value is at most {1 - confidence:.4g}: so "
        "large a difference would be rare if there were none",
        "pass, fail": "the whole confidence interval is within the limits of the rule, or outside "
        "of them; a rule may state instead that the value alone decides",
        "inconclusive": "the confidence interval includes the limit: the data are compatible with "
        "both sides",
        "not evaluated": "there is no value, or too little data for a verdict",
        "simultaneous intervals": f"hold for all groups together with {level} confidence; a single "
        "interval holds for its own comparison alone",
        "80% power": "with so many rows, 8 of 10 samples would decide, if the true values are "
        "those observed",
    }
    return tuple(words.items())


def provenance_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield where the numbers come from, with the whole specification."""
    *repeat, signatures = repeat_blocks(report, report.data.fingerprint, "audit")
    yield from repeat
    text = json.dumps(plain(report.spec), indent=2, ensure_ascii=False)
    lines = "\n".join(printable(line) for line in text.split("\n"))
    code = tree.Code(lines if len(lines) <= _LONGEST_SPEC else f"{lines[:_LONGEST_SPEC]} ...")
    yield tree.Section(
        "specification", "The specification, defaults included", (code,), folded=True
    )
    yield signatures
