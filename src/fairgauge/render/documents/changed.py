"""What documents of changes have besides their fields: two reports, or models on the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.comparisons import Metric, is_of_all_groups
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import CandidateVerdict, Outcome, Turn, Uncounted
from fairgauge.question.options import BY_NAME
from fairgauge.question.presets import find_preset
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import repeat_blocks
from fairgauge.render.documents.report_notes import note_lines, opening_warnings, report_warnings
from fairgauge.render.grammar import describe_reason
from fairgauge.render.page import told
from fairgauge.render.streams import flat
from fairgauge.render.words import numbers
from fairgauge.render.words.change_words import (
    ARROW,
    DIRECTIONS,
    before_after,
    change_ci_words,
    change_words,
    describe_rate_shift,
    scope_words,
    sides_words,
)
from fairgauge.render.words.display_names import called, capitalised, file_of, printable
from fairgauge.render.words.metric_words import (
    metric_ci,
    metric_value,
    metric_words,
    unit,
    unit_name,
)
from fairgauge.render.words.question_sentences import OUTCOMES, caveat, counts_people, unit_of
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.render.words.verdict_sentences import (
    class_or_threshold,
    describe_evidence,
    outcome_word,
    verdict_word,
)
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import (
    Alone,
    Candidate,
    Comparison,
    Difference,
    ModelComparison,
    Origin,
    VerdictChange,
    sort_changes,
)
from fairgauge.results.disadvantage import favourable_of
from fairgauge.statements.models import candidate_statements, changes_shown

_MOST_DRAWN = 6
_TONES = {
    Turn.WORSE: tree.Tone.BAD,
    Turn.BETTER: tree.Tone.GOOD,
    Turn.OTHER: tree.Tone.UNSURE,
    None: tree.Tone.PLAIN,
}
_VERDICTS = {CandidateVerdict.DOMINATES: "better, within all margins"}
"""Verdicts in other words than those of programs."""
_VERDICT_TONES = {
    CandidateVerdict.DOMINATES: tree.Tone.GOOD,
    CandidateVerdict.TRADE_OFF: tree.Tone.UNSURE,
    CandidateVerdict.WORSE: tree.Tone.BAD,
    CandidateVerdict.CANNOT_TELL: tree.Tone.UNSURE,
}
_OF_ALL_CHANGES = (ReasonCode.SAME_ROWS, ReasonCode.ASKED_DIFFERENTLY)
"""Reasons that are stated once, because no change of the comparison is tested."""


# ---- disparities: of two reports, and of each candidate


class _Changes:
    """Disparities by what became of them, of two reports or of one candidate."""

    def __init__(
        self, result: Comparison | ModelComparison, every: tuple[DisparityChange, ...], name: str
    ) -> None:
        self.result, self.every, self.name = result, every, name
        self.sorted = sort_changes(every)
        self.mirrored = list(
            dict.fromkeys(called(e.group) for e in self.sorted.mirrored if e.group)
        )

    def rows(self, which: str) -> Iterator[dict[str, Any]]:
        favourable = favourable_of(self.result.spec)
        for each in getattr(self.sorted, which):
            direction = DIRECTIONS[each.direction]
            if each.significant:
                direction += f" ({numbers.probability(each.p_adjusted, 'adjusted p')})"
            untested = each.untested and each.reason and each.reason.code not in _OF_ALL_CHANGES
            stated = [
                sides_words(each, favourable),
                direction,
                _furthest(each),
                f"not tested: {_because(each)}" if untested else "",
            ]
            yield {
                "metric": capitalised(metric_words(each.definition)),
                "group": _group(each),
                "shift": f"{before_after(each)}{unit_name(unit(each.definition))}",
                "change": "" if each.change is None else change_words(each),
                "interval": change_ci_words(each),
                "p": each.change_p_adjusted,
                "stated": "; ".join(filter(None, stated)),
            }

    def undefined(self) -> list[str]:
        """Return what has one value only, or none, with the reason."""
        none = [e for e in self.every if e.old is None and e.new is None and e.reason]
        found = (*self.sorted.undefined, *none)
        texts = (f"{metric_words(e.definition)}, {_group(e)}: {_because(e)}." for e in found)
        return list(dict.fromkeys(texts))


def _because(each: DisparityChange) -> str:
    return printable(describe_reason(each.reason) if each.reason else "no value")


def _furthest(each: DisparityChange) -> str:
    """Return which groups a metric of all groups comes from, before and after."""
    if not is_of_all_groups(each.definition) or each.before is None or each.after is None:
        return ""
    old, new = (
        numbers.listing(
            [called(name) for name in (side.group, side.reference and side.reference.group) if name]
        )
        for side in (each.before, each.after)
    )
    words = "group" if is_of_one_group(each.definition) else "groups furthest apart:"
    if not (old and new):
        return ""
    return f"{words} {new}, as before" if old == new else f"{words} {old} {ARROW} {new}"


def _group(each: DisparityChange | RateChange) -> str:
    """Return what a change is about: ``Female (sex), in A``, where A is a stratum."""
    who = _of_group(each.definition, each.feature, each.group)
    return who + scope_words(each.scope, each.class_scope, each.threshold)


def _of_group(metric: Metric | Statistic, feature: str | None, group: str | None) -> str:
    """Return what a metric is of: ``Female (sex)``, ``all groups (sex)`` or ``all rows``."""
    if feature is None:
        return "all rows"
    who = "all groups" if is_of_all_groups(metric) else called(group or "no group")
    return f"{who} ({called(feature)})"


# ---- two reports


def _origin_name(origin: Origin) -> str:
    """Return what a report is called: its file, or what was audited."""
    return called(origin.name) if origin.name else file_of(origin.source)


def _counts_people(comparison: Comparison) -> bool | None:
    """Return whether both reports count people; None where one of them does."""
    new = comparison.spec
    old = {**new, **{each.key: each.old for each in comparison.differences}}
    counted = {counts_people(each) for each in (old, new)}
    return None if len(counted) > 1 else counted.pop()


def _compared_facts(comparison: Comparison) -> dict[str, Any]:
    old, new = comparison.old, comparison.new
    before, after = (outcome_word(each.verdict).upper() for each in (old, new))
    verdict = f"{before} {ARROW} {after}"
    if before == after:
        verdict = f"{after} in both reports" if comparison.incomplete else f"{after}, as before"
    return {
        "old": _origin_name(old),
        "new": _origin_name(new),
        "verdict": verdict if {old.verdict, new.verdict} != {Outcome.NONE} else "",
        "tone": str(_TONES[comparison.turn]),
        "same_rows": comparison.refused is not None,
        "untested": comparison.why_untested is not None,
        "unit": "people" if _counts_people(comparison) else "n",
    }


def _asked(comparison: Comparison) -> Iterator[tree.Block]:
    if comparison.differences:
        pairs = (
            (called(each.key), _settings(each) + (f" ({each.says})" if each.says else ""))
            for each in comparison.differences
        )
        yield tree.Facts(tuple(pairs))


def _settings(each: Difference) -> str:
    """Return both settings as the command line has them, and whole where these are alike."""
    old, new = (_setting(each.key, side) for side in (each.old, each.new))
    if old == new:  # a rule is written without how it is decided
        old, new = (called(json.dumps(side, ensure_ascii=False)) for side in (each.old, each.new))
    return f"{old} {ARROW} {new}"


def _setting(key: str, value: object) -> str:
    """Return a setting of a specification as the command line has it."""
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, str) or key not in BY_NAME:
        return called(value)
    return called(", ".join(BY_NAME[key].type.write(value)))


def _flips(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the verdicts that changed, each with its value before and after."""
    for each in comparison.flips:
        rule = written_rule_words(each.new.rule, each.new.definition)
        yield {
            "rule": capitalised(rule),
            "group": _of_group(each.new.definition, each.new.feature, each.new.group),
            "verdicts": f" {ARROW} ".join(verdict_word(e.outcome) for e in (each.old, each.new)),
            "turn": str(each.turn),
            "values": _values(each),
            "evidence": printable(describe_evidence(each.new)),
        }


def _values(each: VerdictChange) -> str:
    old, new = each.old, each.new
    before, after = (metric_value(new.definition, side.value) for side in (old, new))
    if (old.class_scope, old.threshold) != (new.class_scope, new.threshold):
        before, after = (
            f"{value} ({which})" if (which := class_or_threshold(side)) else value
            for value, side in ((before, old), (after, new))
        )
    ends = metric_ci(new.definition, new.interval)
    return ", ".join(filter(None, [f"{before} {ARROW} {after}", ends]))


def _unmatched(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the verdicts without a counterpart, each with the reason."""
    for each in comparison.unmatched:
        verdict = each.verdict
        yield {
            "report": f"{each.report} report",
            "rule": written_rule_words(verdict.rule, verdict.definition),
            "group": _of_group(verdict.definition, verdict.feature, verdict.group),
            "verdict": verdict_word(verdict.outcome),
            "reason": describe_reason(each.reason),
        }


def _alone(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for each in comparison.alone:
        yield {"report": f"{each.report} report", "what": _lacking(each)}


def _lacking(each: Alone) -> str:
    if each.what == "reference":
        other = "new" if each.report == "old" else "old"
        reason = describe_reason(Reason.of(ReasonCode.IS_REFERENCE, report=other))
        return f"{_lacking(replace(each, what='group'))}; {reason}"
    of = f" of {called(each.feature)}" if each.feature is not None and each.what == "group" else ""
    counted = "verdicts" if each.what == "rule" else "estimates"
    name = f"{each.what} {called(each.name)}{of}"
    if each.what == "average":
        name = f"{each.name} average over its classes"
    return f"{name} ({numbers.numbered(each.count, counted)})"


def _sizes(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield how many rows both reports have, use, and exclude for which reason."""
    old, new = comparison.old, comparison.new
    people = _counts_people(comparison)
    unit_ = "people" if people else "cases"
    used = "rows" if people is False and not comparison.spec.get("count") else unit_
    yield {"what": "rows", "old": old.rows, "new": new.rows}
    if (old.cases, new.cases) != (old.rows, new.rows):
        yield {"what": unit_, "old": old.cases, "new": new.cases}
    least = ", at least" * (old.used_at_least or new.used_at_least)
    lacking = any(f"missing {of}" in each.excluded for each in (old, new) for of in OUTCOMES)
    complete = "with known outcomes and a group" if lacking else "used"
    yield {"what": f"{used} {complete}{least}", "old": old.used, "new": new.used}
    for reason in dict.fromkeys([*old.excluded, *new.excluded]):
        before, after = old.excluded.get(reason, 0), new.excluded.get(reason, 0)
        if before or after:
            further = reason == Uncounted.SAME_PERSON
            name = "further rows of the same person" if further else f"{used} with a {reason}"
            yield {"what": called(name), "old": before, "new": after}


# ---- models on the same rows


class _Candidate(_Changes):
    def __init__(self, result: ModelComparison, of: Candidate) -> None:
        several = len(result.candidates) > 1
        title = f"{called(of.name)} against {called(result.current)}" if several else "Changes"
        super().__init__(result, of.disparities, title)
        self.models, self.of, self.several = result, of, several

    def stated(self) -> Iterator[str]:
        """Yield what the first page states of one candidate alone, and shifts of all."""
        language = told(self.models).language
        for s in candidate_statements(self.models, self.of):
            if self.several or s.code == "shifted":
                texts = (language.say(s.code, where, s) for where in ("verdict", "found"))
                yield from filter(None, texts)

    def rates(self) -> Iterator[dict[str, Any]]:
        for each in self.of.rates:
            if each.change is not None:
                who = "overall" if each.feature is None else _group(each)
                few = describe_reason(each.reason) if each.reason else ""
                shift = describe_rate_shift(each)
                yield {"rate": each.definition.title, "who": who, "shift": shift, "few": few}

    def reclassified(self) -> Iterator[dict[str, Any]]:
        """Yield who is decided differently; those of each label alone are in the JSON."""
        for each in self.of.reclassified:
            if each.among == "all":
                at = "" if each.threshold is None else f", threshold {each.threshold:g}"
                of = f"{called(each.group)} ({called(each.feature)})" if each.feature else "overall"
                row = {"who": f"{of}{at}", "total": each.feature is None}
                for name in ("n", "gained", "lost"):
                    weighted = getattr(each, f"weighted_{name}")
                    row[name] = getattr(each, name) if weighted is None else weighted
                yield row


def _candidates(comparison: ModelComparison) -> list[_Candidate]:
    return [_Candidate(comparison, each) for each in comparison.candidates]


def _model_facts(comparison: ModelComparison) -> dict[str, Any]:
    tones = {_VERDICT_TONES.get(each.verdict, tree.Tone.PLAIN) for each in comparison.candidates}
    stated = (e for e in comparison.candidates if e.verdict is not CandidateVerdict.NONE)
    return {
        "names": numbers.listing([called(each.name) for each in comparison.candidates]),
        "rows": max((each.rows for each in comparison.candidates), default=0),
        "unit": unit_of(comparison.spec),
        "untested": False,
        "weighted": bool(comparison.spec.get("weight")),
        "verdict": ", ".join(map(_verdict, stated)),
        "tone": str(tones.pop() if len(tones) == 1 else tree.Tone.PLAIN),
    }


def _verdict(candidate: Candidate) -> str:
    verdict = _VERDICTS.get(candidate.verdict, str(candidate.verdict)).upper()
    reason = f" ({describe_reason(candidate.reason)})" if candidate.reason else ""
    return f"{called(candidate.name)}: {verdict}{reason}"


def _exhibits(comparison: ModelComparison) -> Iterator[tree.Chart]:
    """Yield the differences between groups under both models, those that are stated first."""
    language, rows = told(comparison).language, []
    for s in changes_shown(comparison)[:_MOST_DRAWN]:
        if s.was is None or s.who is None or s.than is None:
            continue
        before, after = (
            (one.rate or 0.0) - (other.rate or 0.0) for one, other in (s.was, (s.who, s.than))
        )
        if s.by == "difference" and (s.value or 0.0) * after < 0:  # as the metric has it
            s, before, after = replace(s, who=s.than, than=s.who), -before, -after
        pair, often = (language.say(code, "text", s) or "" for code in ("pair", "how_often"))
        sizes = f"{language.points(before)} {ARROW} {language.points(after)} pp"
        label = f"{capitalised(pair)}, {often}"
        rows.append(tree.ChartRow(label, tree.Mark(after), sizes, before=tree.Mark(before)))
    if rows:
        note = language.say("apart_chart", "note", facts=changes_shown(comparison)[0].facts)
        title = language.say("apart_chart", "title") or ""
        yield tree.Chart(
            title, tuple(rows), tree.Unit.POINTS, neutral=0.0, notes=tuple(filter(None, [note]))
        )


def _repeat(comparison: ModelComparison) -> Iterator[tree.Block]:
    fingerprint = comparison.data.fingerprint
    return repeat_blocks(comparison, fingerprint, "compare-models", of="comparison of models")


def _other_notes(comparison: ModelComparison) -> list[str]:
    warnings = opening_warnings(report_warnings(comparison.diagnostics))
    return [line for line in note_lines(comparison.diagnostics) if line not in warnings]


def _rows(comparison: Comparison | ModelComparison) -> Iterator[dict[str, Any]]:
    """Yield every disparity, and every rate of every candidate.

    ``group`` and ``reference`` are those of the new report; the old one may have had others: of a
    metric of all groups, or of a reference that is chosen by the data.
    """
    saved = comparison.to_dict()
    changes: list[tuple[str | None, Any]] = [(None, each) for each in saved.get("changes", ())]
    for candidate in saved.get("candidates", ()):
        every = (*candidate["disparities"], *candidate["rates"])
        changes += [(candidate["name"], each) for each in every]
    for name, fields in changes:
        row: dict[str, Any] = {"candidate": name, "metric": fields.get("rate"), "by": "difference"}
        row |= {"n": fields.get("n_group")} | flat(fields) | flat(fields["interval"] or {})
        before = fields.get("before") or {}
        row |= {"old_group": before.get("group"), "old_reference": before.get("reference")}
        for column, key in (("distance", "distance_adjusted"), ("old", "old_interval"),
                            ("new", "new_interval")):  # fmt: skip
            ends = fields.get(key) or {}
            row |= {f"{column}_{end}": ends.get(end) for end in ("low", "high")}
        yield row


_OF_CHANGES: Mapping[str, Callable[..., Any]] = {
    which: partial(_Changes.rows, which=which)
    for which in ("further", "closer", "changed", "moved", "untested")
} | {"undefined": _Changes.undefined}
OF_REPORTS: Mapping[str, Callable[..., Any]] = {
    **_OF_CHANGES,
    "facts": _compared_facts,
    "asked": _asked,
    "flips": _flips,
    "unmatched": _unmatched,
    "every": lambda comparison: [_Changes(comparison, comparison.changes, "Disparities")],
    "alone": _alone,
    "sizes": _sizes,
    "rows": _rows,
}


def _alternatives(comparison: ModelComparison) -> Sequence[Candidate]:
    """Return the candidates that were tried, where the preset asks for such a search."""
    of = find_preset(comparison.spec.get("preset"))
    return comparison.candidates if of is not None and of.alternatives else ()


OF_MODELS: Mapping[str, Callable[..., Any]] = {
    **_OF_CHANGES,
    "facts": _model_facts,
    "frame": lambda comparison, **_: {
        "lead": caveat(comparison.spec),
        "exhibits": _exhibits(comparison),
    },
    "every": _candidates,
    "tried": _alternatives,
    "stated": _Candidate.stated,
    "rate_rows": _Candidate.rates,
    "reclassified": _Candidate.reclassified,
    "noted": _other_notes,
    "provenance": _repeat,
    "rows": _rows,
}
