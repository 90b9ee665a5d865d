"""What documents of changes have besides their fields: two reports, or models on the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.enums import CandidateVerdict, Outcome
from fairgauge.question.options import BY_NAME
from fairgauge.question.specification import read_spec
from fairgauge.reasons import ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents import report_notes as notes
from fairgauge.render.grammar import describe_reason, in_words, spoken
from fairgauge.render.page import first_page, said
from fairgauge.render.streams import flat
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import verdict_sentences as verdict_words
from fairgauge.render.words.display_names import called, capitalised, file_of, printable
from fairgauge.render.words.question_sentences import caveat
from fairgauge.results.comparison import Candidate, Change
from fairgauge.results.estimates import DisparityChange, RateChange
from fairgauge.results.scopes import NO_CLASS, OVERALL
from fairgauge.results.verdicts import Verdict
from fairgauge.start.records import replace
from fairgauge.statements.changes import candidate_statements, changes_shown
from fairgauge.statements.compared import unit_of

ARROW = "→"
"""Between a value before and after."""
_MOST_DRAWN = 6
_OF_ALL_CHANGES = (ReasonCode.SAME_ROWS, ReasonCode.ASKED_DIFFERENTLY)
"""Reasons that are stated once, because no change of the comparison is tested."""
_SHOWN = ("further", "closer", "changed")
_OTHERS = ("moved", "untested", "undefined")


def rate_shift(each: RateChange) -> str:
    """Return a rate before and after: ``70.7% → 70.9% (+0.1 pp, 95% CI ...)``."""
    kind = tree.Unit.POINTS if each.definition.is_share else tree.Unit.NUMBER
    sides = f" {ARROW} ".join(metrics.rate_text(each.definition, v) for v in (each.old, each.new))
    change = metrics.with_unit(each.change, kind, sign=True)
    interval = metrics.shown_ci(each.interval, kind, sign=True)
    return f"{sides} ({', '.join(filter(None, (change, interval)))})"


def disparity_shift(each: DisparityChange) -> str:
    """Return a disparity before and after: ``−17.2 → −6.3 pp``."""
    row = each.definition
    old = metrics.shown(each.old, metrics.unit(row), sign=metrics.signed(row))
    return f"{old} {ARROW} {metrics.metric_value(row, each.new)}"


def change_of(each: DisparityChange) -> str:
    """Return a change in its unit: ``+15.0 pp``; of a ratio the factor ``×1.05``."""
    if each.by == "ratio":
        return f"×{metrics.with_unit(each.change, tree.Unit.RATIO)}"
    return metrics.with_unit(each.change, metrics.unit(each.definition), sign=True)


class _Candidate:
    """What became of disparities under one candidate, or in the new report."""

    def __init__(self, result: Change, of: Candidate) -> None:
        self.result, self.of, self.several = result, of, len(result.candidates) > 1

    def rows(self, which: Sequence[str]) -> Iterator[dict[str, object]]:
        words = spoken().terms["became"]
        every = (e for e in self.of.disparities if e.became in which)
        for each in sorted(every, key=lambda e: which.index(e.became)):
            own = each.reason and each.reason.code not in _OF_ALL_CHANGES
            because = describe_reason(each.reason if own else None)
            kind = tree.Unit.RATIO if each.by == "ratio" else metrics.unit(each.definition)
            yield {
                "metric": capitalised(metrics.metric_words(each.definition)),
                "group": _group(each),
                "shift": disparity_shift(each),
                "change": "" if each.change is None else change_of(each),
                "interval": metrics.shown_ci(each.interval, kind, sign=kind is not tree.Unit.RATIO),
                "p": each.change_p_adjusted,
                "stated": ": ".join(filter(None, [words[each.became], printable(because)])),
            }

    def stated(self) -> Iterator[str]:
        """Yield what the first page states of one candidate alone, and shifts of all."""
        if self.result.new is None:
            every = candidate_statements(self.result, self.of)
            own = [s for s in every if self.several or s.code == "shifted"]
            yield from said(self.result, own, "verdict", "found")

    def rate_rows(self) -> Iterator[dict[str, object]]:
        for each in self.of.rates:
            if each.change is not None:
                few, rate = describe_reason(each.reason), metrics.titled(each.definition.title)
                yield {"rate": rate, "who": _group(each), "shift": rate_shift(each), "few": few}

    def reclassified(self) -> Iterator[dict[str, object]]:
        for each in self.of.reclassified:
            if each.among == "all":
                yield {"who": _group(each), "total": each.feature is None, "n": each.n,
                       "gained": each.gained, "lost": each.lost}  # fmt: skip


def _group(each: Any) -> str:
    words = spoken().terms
    if each.feature is None:
        who = words["reference"]["overall"]
    else:
        metric = getattr(each, "definition", None)
        all_ = each.group is None or (metric is not None and is_of_all_groups(metric))
        who = f"{words['all'] if all_ else called(each.group)} ({called(each.feature)})"
    scope, of_class = getattr(each, "scope", OVERALL), getattr(each, "class_scope", NO_CLASS)
    place = verdict_words.place_words(of_class, each.threshold, scope)
    return ", ".join(filter(None, [who, place]))


def _facts(change: Change) -> dict[str, object]:
    old, new = change.old, change.new
    tones = {notes.TONES.get(each.verdict, tree.Tone.PLAIN) for each in change.candidates}
    facts = {
        "tone": str(tones.pop() if len(tones) == 1 else tree.Tone.PLAIN),
        "untested": change.why_untested is not None,
        "same_rows": change.refused is not None,
        "models": new is None,
    }
    if new is None:
        stated = (e for e in change.candidates if e.verdict is not CandidateVerdict.NONE)
        rows = max(each.rows for each in change.candidates)
        return facts | {
            "names": spoken().listing([called(each.name) for each in change.candidates]),
            "beside": spoken().numbered(rows, unit_of(read_spec(change.spec))),
            "verdict": ", ".join(map(_verdict, stated)),
        }
    outcomes = [in_words(verdict_words.outcome_word(each.verdict)).upper() for each in (old, new)]
    sides = (called(e.name) if e.name else in_words(file_of(e.source)) for e in (old, new))
    return facts | {
        "names": "",
        "beside": f" {ARROW} ".join(sides),
        "verdict": f" {ARROW} ".join(outcomes) * ({old.verdict, new.verdict} != {Outcome.NONE}),
    }


def _verdict(candidate: Candidate) -> str:
    verdict = spoken().terms["candidate"].get(str(candidate.verdict), str(candidate.verdict))
    reason = f" ({describe_reason(candidate.reason)})" if candidate.reason else ""
    return f"{called(candidate.name)}: {verdict.upper()}{reason}"


def _changed_settings(change: Change) -> Iterator[tree.Block]:
    pairs = []
    for each in change.differences:
        sides = [_setting(each.key, side) for side in (each.old, each.new)]
        if sides[0] == sides[1]:  # a rule is written without how it is decided
            sides = [called(json.dumps(e, ensure_ascii=False)) for e in (each.old, each.new)]
        pairs.append((called(each.key), f" {ARROW} ".join(sides)))
    if pairs:
        yield tree.Facts(tuple(pairs))


def _setting(key: str, value: object) -> str:
    if value is None or value == [] or value == {}:
        return "–"
    if isinstance(value, str) or key not in BY_NAME:
        return called(value)
    return called(", ".join(BY_NAME[key].type.write(value)))


def _verdicts(change: Change) -> Iterator[dict[str, object]]:
    # the verdicts that changed, each with its value before and after, or that are alone
    for each in change.flips:
        outcomes = (in_words(verdict_words.verdict_word(e.outcome)) for e in (each.old, each.new))
        yield _row(each.new) | {
            "verdicts": f" {ARROW} ".join(outcomes),
            "values": f" {ARROW} ".join(map(verdict_words.held_against, (each.old, each.new))),
            "evidence": printable(verdict_words.describe_verdict(each.new)),
        }
    for alone in change.unmatched:
        sides = ["–", in_words(verdict_words.verdict_word(alone.verdict.outcome))]
        yield _row(alone.verdict) | {
            "verdicts": f" {ARROW} ".join(sides[::-1] if alone.report == "old" else sides),
            "values": "",
            "evidence": describe_reason(alone.reason),
        }


def _row(verdict: Verdict) -> dict[str, object]:
    words = capitalised(metrics.written_rule_words(verdict.rule, verdict.definition))
    return {"rule": words, "group": _group(verdict)}


def _exhibits(change: Change) -> Iterator[tree.Chart]:
    language, rows = first_page(change).language, []
    for s in changes_shown(change)[:_MOST_DRAWN]:
        if s.was is None or s.who is None or s.than is None:
            continue
        pairs = s.was, (s.who, s.than)
        before, after = ((one.rate or 0.0) - (other.rate or 0.0) for one, other in pairs)
        if s.by == "difference" and (s.value or 0.0) * after < 0:  # as the metric has it
            s, before, after = replace(s, who=s.than, than=s.who), -before, -after
        pair, often = (language.say(code, "text", s) or "" for code in ("pair", "how_often"))
        sizes = f"{language.points(before)} {ARROW} {language.points(after)} pp"
        label = f"{capitalised(pair)}, {often}"
        rows.append(tree.ChartRow(label, tree.Mark(after), sizes, before=tree.Mark(before)))
    if rows:
        note = language.say("apart_chart", "note", facts=changes_shown(change)[0].facts)
        title, notes_ = language.say("apart_chart", "title") or "", tuple(filter(None, [note]))
        yield tree.Chart(title, tuple(rows), tree.Unit.POINTS, neutral=0.0, notes=notes_)


def _rows(change: Change) -> Iterator[dict[str, object]]:
    # ``group`` and ``reference`` are those of the new report; the old one may have had others: of a
    # metric of all groups, or of a reference that is chosen by the data
    for candidate in change.to_dict()["candidates"]:
        for fields in (*candidate["disparities"], *candidate["rates"]):
            row: dict[str, object] = {"metric": fields.get("rate"), "by": "difference"}
            row |= {"n": fields.get("n_group")} | flat(fields) | flat(fields["interval"] or {})
            row["candidate"] = None if change.new else candidate["name"]
            before = fields.get("before") or {}
            row |= {"old_group": before.get("group"), "old_reference": before.get("reference")}
            for name in ("distance", "distance_adjusted", "old", "new"):
                ends = fields.get(f"{name}_interval".replace("adjusted_interval", "adjusted")) or {}
                row |= {f"{name}_{end}": ends.get(end) for end in ("low", "high")}
            yield row


STREAMS: Mapping[str, Callable[..., object]] = {
    "facts": _facts,
    "frame": lambda change, **_: {
        "lead": caveat(read_spec(change.spec)),
        "exhibits": _exhibits(change),
    },
    "asked": _changed_settings,
    "verdicts": _verdicts,
    "every": lambda change: [_Candidate(change, each) for each in change.candidates],
    "shown": lambda of: of.rows(_SHOWN),
    "others": lambda of: of.rows(_OTHERS) if of.result.new else (),
    "folded_others": lambda of: () if of.result.new else of.rows(_OTHERS),
    "alone_rows": lambda change: change.alone,
    "noted": lambda change: [
        line
        for line in notes.note_lines(change.diagnostics)
        if line not in notes.opening_warnings(notes.report_warnings(change.diagnostics))
    ],
    "provenance": lambda change: (
        () if change.new else notes.repeat_blocks(change, change.old.fingerprint, "compare-models")
    ),
    "rows": _rows,
}
