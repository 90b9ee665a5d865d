"""The appendix of a full report: data, methods, all numbers, glossary and provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fairgauge.enums import DiagnosticCode, Profile
from fairgauge.render._document_tree import (
    Block,
    Cell,
    Code,
    Column,
    Facts,
    Glossary,
    Heading,
    Items,
    Paragraph,
    Section,
    Table,
)
from fairgauge.render.documents._document_parts import repeat_blocks
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


def data_blocks(report: Report) -> Iterator[Block]:
    """Yield what was asked of which rows, what is excluded, and the notes."""
    yield Facts(tuple(question.question(report)))
    excluded = question.excluded(report)
    if excluded:
        yield Table(
            "Excluded rows",
            (Column("reason", numeric=False), Column(question.unit(report))),
            tuple(
                (Cell(why), Cell(numbers.count(rows)))
                for why, rows in (*excluded, *question.unknown_in_intersections(report))
            ),
        )
        yield Paragraph(partial_rows(report))
    else:
        yield Paragraph("No row was excluded.")
    notes = report_notes(report)
    if notes:
        yield Heading("Notes")
        yield Items(tuple(notes[:_MOST_NOTES]))


def method_blocks(report: Report) -> Iterator[Block]:
    """Yield how values, intervals and p-values are made."""
    spec = report.spec
    yield Paragraph(
        "Rows were counted once, by group, label and prediction; every number comes from these "
        "counts. A rate is a share or ratio of counts within one group; a disparity compares "
        "the rate of a group with that of its reference."
    )
    if report.profile is Profile.CLARIFY:
        yield Paragraph("Profile clarify: the numbers are those of smclarify, edge cases included.")
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
        f"“no difference”{_family(report)}. "
        f"Seed {spec.get('seed')}, {numbers.count(spec.get('replicates') or 0)} replicates "
        "where random numbers are drawn."
    )
    if any(each.code is DiagnosticCode.HOMOGENEITY for each in report.diagnostics):
        yield Paragraph(
            "The standard deviation between groups is estimated by the method of moments. It and "
            "the range are of the groups that are large enough to be a reference."
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
        stacked=True,
    )


def _family(report: Report) -> str:
    """Return for what p-values are adjusted: how many comparisons and tests."""
    sizes = [e["comparisons"] for e in report.diagnostics if e.code is DiagnosticCode.ADJUSTED_P]
    return f" and are adjusted for {sizes[0]:,} comparisons and tests" if sizes else ""


def where_numbers_are(report: Report) -> str:
    """Return where every comparison is: in the table of this report, unless it has no room."""
    whole = len(report.estimates) <= _MOST_LISTED
    return "under All numbers" if whole else "in the JSON report"


def number_blocks(report: Report) -> Iterator[Block]:
    """Yield the table of every comparison."""
    estimates = report.estimates
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


def glossary_sections(report: Report) -> Iterator[Section]:
    """Yield what each metric and rate of the report is."""
    metrics = {each.metric: each.definition for each in report.estimates}
    rates = {name for group in report.groups for name in group.rates}
    rates |= {rate.name for row in metrics.values() if (rate := compared_rate(row))}
    entries = (
        *metric_entries(metrics.values()),
        *rate_entries(rate for rate in report.catalogue.rates if rate.name in rates),
    )
    level = report.spec["confidence"]
    yield Section("terms", "Words of verdicts and intervals", (Facts(_terms(level)),), folded=True)
    title = f"{len(entries):,} metrics and rates: what each is, its formula and its range"
    yield Section("entries", title, (Glossary(entries),), folded=True)


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


def provenance_blocks(report: Report) -> Iterator[Block]:
    """Yield where the numbers come from, with the whole specification."""
    *repeat, signatures = repeat_blocks(report, report.data.fingerprint, "audit")
    yield from repeat
    text = json.dumps(plain(report.spec), indent=2, ensure_ascii=False)
    lines = "\n".join(printable(line) for line in text.split("\n"))
    code = Code(lines if len(lines) <= _LONGEST_SPEC else f"{lines[:_LONGEST_SPEC]} ...")
    yield Section("specification", "The specification, defaults included", (code,), folded=True)
    yield signatures
