"""The document that a preset asks for: its template, filled with parts of a report.

A template is Markdown with headings, paragraphs and lists; ``{{ tables() }}`` and its like are
blocks of the report, whose tables and sentences are in `layouts.toml`. Its numbers come from these
blocks alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from fairgauge.catalogue.comparisons import Metric, RowMetric
from fairgauge.catalogue.directions import is_ratio
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import DiagnosticCode, Missing, ReferenceRule, ScopeKind, Status, Task
from fairgauge.errors import FairgaugeError, Problem, SpecError
from fairgauge.question.features import strata_named
from fairgauge.question.kits import Kit
from fairgauge.question.specification import read_spec
from fairgauge.reasons import ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.document import DocumentParts
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.grammar import describe_diagnostic, describe_reason
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called
from fairgauge.render.words.verdict_sentences import reference_name
from fairgauge.resolve.question_checks import FEW_PUBLISHED
from fairgauge.results.estimates import Estimate, Group, RateValue, is_of_other_rows
from fairgauge.results.report import Report
from fairgauge.results.scopes import showing
from fairgauge.start.records import replace
from fairgauge.statements.compared import unit_of
from fairgauge.statements.sections import FeatureResults, reference_group, sections_of, size_of_rate

_BLOCKS = re.compile("\0(\\d+)\0")
_RATE, _RATIO, _REJECTED = "selection_rate", "selection_rate.ratio", "rejection_share"
_UNKNOWN = ("Unknown", "(missing)", "(unknown)")
"""What the row of who has no known category is called: the first that no group is called."""
_NO_GROUP = (ReferenceRule.OTHERS, ReferenceRule.OVERALL)
_PARTS = ("page", "rules", "tables", "adverse_impact", "not_stated")
_OUTLINE = "".join(f"{{{{ {each}() }}}}\n\n" for each in _PARTS)
_OUTLINE += "# What the sources state\n\n{{ statements() }}"
"""The template of a preset whose own is not here."""
_DIGITS = 12
"""Decimals at which a gap is compared with the limit: a ratio of .95 is a gap of 5 per cent."""
_Row = dict[str, Any]


def filing(report: Report, more: Mapping[str, Callable[[], Any]]) -> Iterator[tree.Block]:
    """Yield the document to file, of which ``more`` has further parts."""
    asked = read_spec(report.spec)
    of = asked.preset
    if of is None:
        return
    held: list[tuple[tree.Block, ...]] = []

    def placed(made: Callable[[], Iterable[tree.Block]]) -> Callable[[], str]:
        def place() -> str:
            with showing():
                held.append(tuple(made()))
            return f"\n\n\0{len(held) - 1}\0\n\n" if held[-1] else ""  # a part is no text

        return place

    parts = DocumentParts(report)
    whole = partial(parts.blocks, root=report, each=of)

    published = tables_to_publish(report)
    # below this heading a check finds the tables of a report
    head = [tree.Heading(f"Tables to {'publish' if of.public else 'file'}")] * bool(published)
    blocks = {
        "tables": lambda: [*head, *published],
        "rates": lambda: _tables(report, "people_and_rates", _people_and_rates(of, report)),
        "quarters": lambda: _tables(report, "quarters", _quarters(report)),
        "adverse_impact": lambda: whole("shortfall"),
        "comparisons": lambda: whole("compared"),
        "estimators": lambda: whole("estimators"),
        "not_stated": lambda: whole("not_stated"),
        "signatures": lambda: [tree.SignOff()],
        "statements": lambda: [tree.Items(of.statements)],
        "published": lambda: [tree.Items(of.publishes)],
        **more,
    }
    yield from whole("kit")
    yield from parts.blocks("no_template", report, absent=not of.filing)
    if "audited()" not in of.filing:
        yield from blocks["audited"]()
    replaced = question.preset_reference_replaced(asked)
    own = replaced and question.reference_words(of.options["reference"])
    estimated = _estimated_features(report)
    # the metrics of a preset that cannot be estimated from probabilities
    there = {each.metric for each in report.estimates if each.feature in estimated}
    absent = [
        of.terms.get(each) or metrics.metric_words(report.catalogue.metric(each))
        for each in report.spec["metrics"] * bool(estimated)
        if each in of.options["metrics"] and each not in there
    ]
    facts = {"own": own, "to": question.only_reference(asked), "absent": absent,
             "features": [*map(called, estimated)]}  # fmt: skip
    for name in ("reference_replaced", "not_estimated"):
        yield from parts.blocks(name, report, **facts)
    if warnings := opening_warnings(report_warnings(report.diagnostics)):
        yield tree.Items(tuple(warnings))
    stated = defaultdict(str, question.document(report))
    made = {name: placed(each) for name, each in blocks.items()}
    texts = SandboxedEnvironment(autoescape=False, undefined=StrictUndefined, trim_blocks=True)
    texts.globals.clear()  # such as range, by which a template of a line takes any time
    try:
        text = texts.from_string(of.filing or _OUTLINE).render(
            kit=of,
            stated=stated,
            some_estimated=bool(estimated),
            estimated=bool(estimated) and {*estimated} >= {e.feature for e in report.groups},
            amounts=report.task is Task.REGRESSION,
            stratified=bool(asked.strata),
            **made,
        )
    except FairgaugeError:
        raise
    except Exception as error:  # a template may ask for anything
        raise SpecError(Problem(f"preset {of.name}", f"filing: {error}")) from None
    for part in re.split(r"\n\s*\n", text):
        yield from _block(part.strip(), held)
    if not any(isinstance(block, tree.SignOff) for blocks in held for block in blocks):
        yield tree.SignOff()
    yield from whole("quoted")


def _block(text: str, held: list[tuple[tree.Block, ...]]) -> Iterator[tree.Block]:
    lines = [line.strip() for line in text.split("\n")]
    if found := _BLOCKS.fullmatch(text):
        yield from held[int(found[1])]
    elif text.startswith("#"):
        yield tree.Heading(lines[0].lstrip("# "))
        yield from _block("\n".join(lines[1:]), held)
    elif text.startswith("- "):
        yield tree.Items(tuple(item.replace("\n", " ") for item in text[2:].split("\n- ")))
    elif text.strip("-"):
        yield tree.Paragraph(" ".join(lines))


def _estimated_features(report: Report) -> list[str]:
    # the features whose groups are known by probabilities
    return [each.name for each in read_spec(report.spec).probabilities]


def terms_of(report: Report) -> Mapping[str, str]:
    """Return what the preset of a report calls metrics; nothing without one.

    Where the reference of the preset is replaced, or is no group, a ratio is called what it is to.
    """
    asked = read_spec(report.spec)
    found = asked.preset
    if found is None:
        return {}
    replaced = question.preset_reference_replaced(asked)
    if not replaced and asked.reference not in _NO_GROUP:
        return found.terms
    to = question.only_reference(asked)
    ratios = {_RATIO: f"ratio to {to}", f"{_REJECTED}.ratio": f"denial ratio to {to}"}
    own = {name: words for name, words in ratios.items() if name in (_RATIO, *found.terms)}
    return {**found.terms, **own}


# ---- the tables to publish


def tables_to_publish(report: Report) -> list[tree.Table]:
    """Return the tables that the preset of a report calls for; none without a preset."""
    of = read_spec(report.spec).preset
    if of is None:
        return []
    single = (each for each in sections_of(report) if each.class_scope.is_single)
    selections = (each for one in single for each in _selections(one, of, report))
    tables = [*_tables(report, "selections", selections), *gap_tables(report)]
    parts = DocumentParts(report)
    excluded = [e for e in report.diagnostics if e.code is DiagnosticCode.EXCLUDED_GROUP]
    notes = (
        question.unknown_sentence(report),
        question.excluded_sentence(report),
        *(f"{called(e.feature or '')}: {describe_diagnostic(e)}." for e in excluded),
        *parts.texts([parts.layout["texts"]["protected"]], rounded=bool(question.rounding(report))),
    )
    last = [replace(each, notes=(*each.notes, *filter(None, notes))) for each in tables[-1:]]
    return [*tables[:-1], *last]


def _tables(report: Report, name: str, of: Iterable[_Row]) -> list[tree.Table]:
    parts = DocumentParts(report)
    made = (block for each in of for block in parts.blocks(name, each, each=each))
    return [each for each in made if isinstance(each, tree.Table)]


def _selections(section: FeatureResults, of: Kit, report: Report) -> Iterator[_Row]:
    # of weighted rows no number of selections stands beside the rate, which is not made of it; of
    # groups that are known by probabilities no number at all, because nobody in them was counted
    every = [e for e in _overall_estimates(section) if e.metric in of.published_metrics]
    compared = [metric for metric in of.published_metrics if metric in section.metrics]
    groups = [group for group in section.groups if group.reference_kind is None]
    if not compared and not (every and all(_RATE in group.rates for group in groups)):
        return
    terms, rate = terms_of(report), section.rate_row(_RATE)
    asked = read_spec(report.spec)
    weight = asked.weight and called(asked.weight)
    estimated = section.feature in _estimated_features(report)
    heads = ["n", metrics.rate_heading(rate), rate.title]
    if weight:
        heads = ["unweighted rows", f"sum of {weight}", f"weighted {rate.title}"]
    elif asked.missing is Missing.IGNORABLE:
        heads = ["recorded n", "estimated n", f"estimated {rate.title}"]
    rejected = any(each.startswith(f"{_REJECTED}.") for each in compared)

    def cells(group: Group) -> Iterator[_Row]:
        found = group.rates[_RATE]
        if estimated:
            yield {"head": f"estimated {rate.title}", **_rate_cell(rate, found, of=False)}
        else:
            n, people = found.weighted_denominator, numbers.count(found.denominator)
            beside = numbers.count(found.numerator) if n is None else f"{n:,.1f}"
            values = (people, beside, numbers.percent(found.value))
            yield from ({"head": h, "value": v} for h, v in zip(heads, values, strict=True))
        if rejected:
            other, share = section.rate_row(_REJECTED), group.rates[_REJECTED]
            own = {"value": numbers.percent(share.value)}
            if estimated:
                own = _rate_cell(other, share, of=False)
            yield {"head": terms.get(_REJECTED) or other.title, **own}
        for metric in compared:
            own = {"value": "reference"}
            if group.group != reference_group(section, metric):
                own = _compared(section.any_of(metric, group.group))
            yield {"head": _heading(section.metric_row(metric), terms), **own}

    rows = [{"group": g.group, "below": "", **cell} for g in groups for cell in cells(g)]
    shown = [] if estimated else list(dict.fromkeys(each["head"] for each in rows))
    for name, n in _unknown_rows(report, section.feature):
        row = {"group": name, "below": ""}
        values = zip(shown, [n, *["-"] * len(shown)], strict=False)
        rows += [{**row, "head": head, "value": value} for head, value in values]
    yield {
        "title": called(section.name), "rows": rows,
        "rate": rate,
        "selected": metrics.rate_heading(rate), "unit": unit_of(asked), "weight": weight,
        "absent": () if compared else dict.fromkeys(_heading(e.definition, terms) for e in every),
        "reasons": dict.fromkeys(describe_reason(e.reason) for e in every if e.reason),
        "open": any(is_of_other_rows(e) or (e.reason and e.reason.code is ReasonCode.SMALL_GROUP)
                    for e in every),
        "together": any(map(metrics.holds_with_others, every)),
        "estimated": estimated,
        "rounded": question.rounded_counts(report),
        "weightless": question.weightless_rows(report),
        "lacking": 0 if estimated else sum(
            group.n - known for group in groups
            if (known := group.rates[_RATE].denominator) is not None
        ),
    }  # fmt: skip


def _heading(metric: Metric, terms: Mapping[str, str]) -> str:
    words = terms.get(metric.name) or metrics.metric_words(metric)
    return f"{words}{', pp' if metrics.unit(metric) is tree.Unit.POINTS else ''}"


def _unknown_rows(report: Report, feature: str | None) -> Iterator[tuple[str, str]]:
    groups = {str(each.group).casefold() for each in report.groups if each.feature == feature}
    name = next((each for each in _UNKNOWN if each.casefold() not in groups), _UNKNOWN[-1])
    for each in report.diagnostics:
        if each.code in question.WITHOUT_GROUP and each.feature == feature:
            yield name, numbers.count(each.get("cases") or each["rows"])


def _bracket(text: str | None) -> str:
    return f"({text})" if text else ""


def _compared(estimate: Estimate | None) -> _Row:
    if estimate is None:
        return {"value": "-"}
    below = describe_reason(estimate.reason)
    ends, insufficient = estimate.interval, estimate.status is Status.TOO_FEW
    if estimate.value is not None and ends and not (insufficient or is_of_other_rows(estimate)):
        is_share = metrics.unit(estimate.definition) is tree.Unit.RATIO
        below = metrics.metric_range(estimate.definition, *ends)
        if is_share:
            below = metrics.published_range(*ends)
    value = "-" if estimate.value is None else metrics.published_value(estimate)
    return {"value": value, "below": _bracket(below)}


# ---- gaps of pay, of all rows and by category


def gap_tables(report: Report) -> list[tree.Table]:
    """Return the gaps of each group, in all metrics and, in the first, by category of the strata.

    Of two groups that are each other's reference there are those of one; none of presets that
    publish no amounts. A limit of two groups marks nothing where there are more.
    """
    spec = read_spec(report.spec)
    of = spec.preset
    if of is None or not of.publishes_amounts:
        return []
    asked, column = of.options["metrics"], strata_named(spec.strata)
    whole, by_category = [], []
    for section in sections_of(report):
        known = (e for e in _overall_estimates(section) if e.metric in asked)
        ours = [each for each in known if is_ratio(each.definition)]
        groups = sum(group.reference_kind is None and group.n > 0 for group in section.groups)
        limit = of.category_limit if groups <= 2 else None
        hidden = _withheld(each for each in section.inside if each.metric == asked[0])
        for first in (each for each in ours if each.metric == asked[0]):
            facts = {
                "group": called(first.group),
                "reference": called(reference_name(first.reference)),
                "what": of.terms.get(first.metric.removesuffix(".ratio"), first.metric),
                "limit": f"{100 * (of.category_limit or 0):.4g}%", "several": groups > 2,
                "limited": of.category_limit is not None, "amount": called(spec.label or ""),
                "column": "", "without": 0, "withheld": False, "unit": unit_of(spec),
            }  # fmt: skip
            same = [e for e in ours if e.group == first.group]
            few = [{*_cells(e)} if _is_of_few(e) else set() for e in same]
            rows = [_gap_row(e, of, None, f, None) for e, f in zip(same, few, strict=True)]
            whole.append({**facts, "rows": rows})
            of_group = first.metric, first.group
            inside = [each for each in section.inside if (each.metric, each.group) == of_group]
            if column is not None and inside:
                inside.sort(key=lambda e: -abs(0.0 if hidden & {*_cells(e)} else _gap(e) or 0.0))
                rows = [_gap_row(e, of, column, hidden & {*_cells(e)}, limit) for e in inside]
                facts |= {
                    "column": called(column), "rows": rows, "few": FEW_PUBLISHED,
                    "withheld": any(hidden & {*_cells(e)} for e in inside),
                }  # fmt: skip
                absent = report.data.excluded.get("missing stratum", 0)
                by_category.append({**facts, "without": absent})
    return _tables(report, "gap", (*whole, *by_category))


def _overall_estimates(section: FeatureResults) -> list[Estimate]:
    missing = [each for each in section.missing if each.scope.kind is ScopeKind.OVERALL]
    return [*section.estimates, *missing]


_Cell: TypeAlias = tuple[str, str | None]


def _cells(each: Estimate) -> dict[_Cell, float]:
    # the people of the two averages of a comparison, by group and category
    sides = (str(each.group), each.n_group), (reference_name(each.reference), each.n_reference)
    return {(name, each.stratum): people or 0 for name, people in sides}


def _is_of_few(each: Estimate) -> bool:
    return any(0 < people < FEW_PUBLISHED for people in _cells(each).values())


def _withheld(inside: Iterable[Estimate]) -> set[_Cell]:
    # the averages of few people, and others of their group: with one alone, or of so few together,
    # that of all categories would give them
    of: dict[str, dict[_Cell, float]] = defaultdict(dict)
    for each in inside:
        for cell, people in _cells(each).items():
            of[cell[0]][cell] = people
    hidden = set()
    for sizes in of.values():
        order = sorted(filter(sizes.get, sizes), key=sizes.__getitem__)
        least = sum(sizes[cell] < FEW_PUBLISHED for cell in order)
        while 0 < least < len(order) and (
            least < 2 or sum(map(sizes.__getitem__, order[:least])) < FEW_PUBLISHED
        ):
            least += 1
        hidden |= {*order[:least]}
    return hidden


def _gap(each: Estimate) -> float | None:
    return None if each.value is None else round(1 - each.value, _DIGITS)


def _percent(value: float | None) -> str:
    return "-" if value is None else numbers.minus(numbers.percent(value))


def _gap_row(
    each: Estimate, of: Kit, column: str | None, hidden: set[_Cell], limit: float | None
) -> _Row:
    below, gap = "", None if hidden else _gap(each)
    if hidden:
        below = f"withheld: n < {FEW_PUBLISHED}" if _is_of_few(each) else "withheld"
    elif 0 in (each.n_group, each.n_reference):
        below = ""  # as the numbers of people beside it show
    elif each.status is not Status.OK and each.reason:
        below = describe_reason(each.reason) * all(_cells(each).values())
    elif each.interval is not None:
        low, high = each.interval
        below = f"{_percent(1 - high)} to {_percent(1 - low)}"
    elif each.reason and gap is not None:
        below = f"no confidence interval: {describe_reason(each.reason)}"
    name = each.metric.removesuffix(".ratio")
    decimals = 1  # more where a gap would stand on the other side of the limit
    if gap is not None and limit is not None:
        decimals = numbers.decimals_beside(100 * abs(gap), [100 * limit], decimals)
    row = {"name": of.terms.get(name, name), "n_group": each.n_group,
           "gap": _percent(gap) if decimals == 1 else numbers.minus(f"{gap:.{decimals}%}"),
           "n_reference": each.n_reference, "below": _bracket(below)}  # fmt: skip
    if column is None:
        return row | dict.fromkeys(("rate_group", "rate_reference", "reached"))
    rate = metrics.compared_rate(each.definition)
    for side, cell in zip(("rate_group", "rate_reference"), _cells(each), strict=True):
        value = None if cell in hidden else getattr(each, side)
        row[side] = "-"
        if value is not None and rate is not None:
            # four digits, zeros too: a gap of 0.1% follows from the averages beside it
            decimals = max(0, 4 - len(str(int(abs(value)))))
            row[side] = numbers.minus(f"{value:,.{decimals}f}")
    reached = None
    if limit is not None:
        reached = "-" if gap is None else "yes" if abs(gap) >= limit else "no"
    return row | {"name": each.stratum, "reached": reached}


# ---- further tables


def stratum_rows(part: Any) -> list[_Row]:
    """Return the rows of selections among those of all rates of every stratum.

    Last stand the people of no stratum, so that those of all rows are those of the audit.
    """
    rows = [{**e, "n": f"(n = {e['n']})"} for e in part.strata_rows() if e["name"] == _RATE]
    known: dict[str, float] = defaultdict(float)
    for each in part.of.groups_inside:
        known[each.group] += size_of_rate(each, _RATE)
    of = {each.group: size_of_rate(each, _RATE) - known[each.group] for each in part.groups}
    if any(of.values()) and rows:
        shown = dict.fromkeys(each["group"] for each in rows)
        rows += [{"stratum": _UNKNOWN[1], "group": group, "value": "-",
                  "n": f"(n = {numbers.count(of[group])})"} for group in shown]  # fmt: skip
    return rows


def _people_and_rates(of: Kit, report: Report) -> Iterator[_Row]:
    for feature in dict.fromkeys(each.feature for each in report.groups):
        place = (feature, None, None)
        groups = [e for e in report.groups if (e.feature, e.stratum, e.class_) == place]
        rows_of = map(report.catalogue.rate, groups[0].rates)
        rates = {of.terms.get(rate.name) or rate.title: rate for rate in rows_of}
        rows = [
            {"group": group.group, "n": numbers.count(group.n), "head": head,
             "share": numbers.percent(group.share), **_rate_cell(rate, group.rates[rate.name])}
            for group in groups
            for head, rate in rates.items()
        ]  # fmt: skip
        for name, n in _unknown_rows(report, feature):
            row = {"group": name, "n": n, "share": "-", "value": "-", "below": ""}
            rows += [{**row, "head": head} for head in rates]
        yield {"title": called(feature), "rows": rows}


def _rate_cell(rate: Statistic, found: RateValue, *, of: bool = True) -> _Row:
    ends = found.interval and " to ".join(metrics.rate_text(rate, end) for end in found.interval)
    people = f"n = {numbers.count(found.denominator)}" if found.denominator and of else ""
    below = "; ".join(filter(None, (ends or describe_reason(found.reason), people)))
    value = "-" if found.value is None else metrics.rate_text(rate, found.value)
    return {"value": value, "below": _bracket(below)}


def _quarters(report: Report) -> Iterator[_Row]:
    features: dict[str, dict[tuple[str, str], float | None]] = {}
    for each in report.estimates:
        of = each.definition
        if isinstance(of, RowMetric) and of.kind == "quarter":
            shares, head = features.setdefault(each.feature or "", {}), f"quarter {of.top:g}"
            shares[str(each.group), head] = each.rate_group
            if each.reference is not None and each.reference.group is not None:
                shares[str(each.reference.group), head] = each.rate_reference
    for feature, shares in features.items():
        sizes = [e.n for e in report.groups if (e.feature, e.stratum) == (feature, None)]
        few = any(0 < n < FEW_PUBLISHED for n in sizes)  # one group's shares give another's
        texts = ((*of, "-" if few else numbers.percent(share)) for of, share in shares.items())
        rows = [{"group": group, "head": head, "value": text} for group, head, text in texts]
        yield {"title": called(feature), "rows": rows, "few": few and FEW_PUBLISHED}
