"""Comparing two reports: a candidate with the model in use, or this month with the last."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.cube.cube import SCHEMA as CUBE_SCHEMA
from fairgauge.enums import ClassKind
from fairgauge.errors import CubeError, DataError, Problem, SpecError, listing, quote
from fairgauge.measure._report_changes import changes, overall_turn, verdict_changes
from fairgauge.question.options import BY_NAME, OPTIONS
from fairgauge.question.readers import items
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.comparison import (
    Alone,
    Comparison,
    Difference,
    GroupChange,
    Origin,
    What,
    Which,
    subject_of,
    with_joint_names,
)
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report, read_report
from fairgauge.results.scopes import OVERALL, ClassScope
from fairgauge.results.shown_result import read_saved
from fairgauge.values import canonical, matches, name_of
from fairgauge.version import __version__

_MAKE = "fairgauge audit DATA ... -o report.json makes one"
Key = tuple[object, ...]


def _refuse_estimated(*reports: Report) -> None:
    """Refuse reports of groups of which only probabilities are known."""
    names = {each.feature for report in reports for each in report.estimators}
    if names:
        message = (
            f"{listing(sorted(names))}: estimates from probabilities have intervals of what is "
            "assumed as well, of which no change follows; compare reports of recorded groups, or "
            "hold both against the same rules"
        )
        raise SpecError(Problem("compare", message))


def compare_reports(
    old: Report | str | Path, new: Report | str | Path, *, same_rows: bool | None = None
) -> Comparison:
    """Return what changed between two reports; see `fairgauge.compare`.

    Raises
    ------
    DataError
        A file is missing or unreadable, or holds no report.
    SpecError
        The reports are about different labels, favourable values or tasks.
    """
    before, after = with_joint_names(_report(old), _report(new))
    _refuse_estimated(before, after)
    _refuse_unlike(before, after)
    differences = tuple(_differences(before, after))
    same, refused = _rows(before, after, same_rows)
    asked = [d.key for d in differences if d.key in BY_NAME and not BY_NAME[d.key].comparable]
    if asked:
        refused = Reason.of(ReasonCode.ASKED_DIFFERENTLY, keys=", ".join(asked))
    own = tuple({rate.name: rate for rate in (*before.own, *after.own)}.values())
    pairs, lonely = _paired(before.estimates, after.estimates)
    changed = changes(pairs, refused)
    verdicts = verdict_changes(before, after, changed)
    return Comparison(
        version=__version__,
        old=_origin(before, old),
        new=_origin(after, new),
        same_rows=same,
        refused=refused,
        differences=differences,
        turn=overall_turn(before.verdict, after.verdict, verdicts),
        flips=verdicts.flips,
        stayed=verdicts.stayed,
        unmatched=verdicts.unmatched,
        changes=changed,
        alone=(*lonely, *verdicts.alone),
        groups=tuple(_groups(before, after)),
        own=own,
        spec=after.spec,
        scoring=after.catalogue.scoring,
    )


def _report(asked: Report | str | Path) -> Report:
    if isinstance(asked, Report):
        return asked
    if not isinstance(asked, (str, Path)):
        kind = type(asked).__name__
        raise DataError(f"cannot compare a {kind}; compare two reports, or the files of two")
    if str(asked).endswith(".fairgauge"):
        raise DataError(
            f"{quote(asked)} is a sealed bundle; fairgauge verify checks it, and the report in it "
            f"is compared: unzip -p {shlex.quote(str(asked))} report.json > report.json"
        )
    try:
        saved = read_saved(asked)
    except CubeError:
        raise DataError(f"{quote(asked)} is no report of fairgauge; {_MAKE}") from None
    if saved["schema"] == CUBE_SCHEMA:
        data = quote(asked)
        raise DataError(
            f"{data} holds counts, not a report; fairgauge audit {data} -o report.json makes one"
        )
    if saved["schema"] not in Report.KIND.schemas:
        raise DataError(f"{quote(asked)} is no report of fairgauge; {_MAKE}")
    return read_report(saved, str(asked))


def _refuse_unlike(old: Report, new: Report) -> None:
    """Refuse reports whose numbers mean different things."""
    problems = []

    def note(path: str, before: object, after: object) -> None:
        message = (
            f"{before} in the old report, {after} in the new one: their numbers mean different "
            "things and cannot be compared; audit both alike"
        )
        problems.append(Problem(path, message))

    labels = [report.spec.get("label") for report in (old, new)]
    positives = [report.spec.get("positive") for report in (old, new)]
    if None not in labels and labels[0] != labels[1]:
        note("label", *map(quote, labels))
    if not _alike(*positives):
        note("positive", *map(_positive, positives))
    if old.task != new.task:
        note("task", quote(old.task), quote(new.task))
    if problems:
        raise SpecError(problems)


def _alike(old: object, new: object) -> bool:
    """Return whether favourable values mean the same: 1, 1.0, "1" and true do."""
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        return bool(old == new)
    sides = [[canonical(value) for value in items(each or [1])] for each in (old, new)]
    return all(
        any(matches(value, other) for other in sides[1 - i]) for i in (0, 1) for value in sides[i]
    )


def _positive(asked: object) -> str:
    if isinstance(asked, Mapping) and "ordered" in asked:
        return f"ordered {listing(items(asked['ordered']))}"
    if isinstance(asked, Mapping):
        return f"above {asked.get('above')}"
    return listing(items(asked or [1]))


def _differences(old: Report, new: Report) -> Iterator[Difference]:
    """Yield what was asked differently: first what intervals of changes cannot bridge."""
    specs = (dict(old.spec), dict(new.spec))
    options = [option for option in OPTIONS if not option.described]
    ranked = sorted(options, key=lambda option: (option.comparable, not option.effect))
    keys = [option.name for option in ranked]
    keys += [key for key in specs[0] | specs[1] if key not in BY_NAME]
    for key in keys:
        before, after = (_asked(spec, key) for spec in specs)
        if before != after and not (key == "positive" and _alike(before, after)):
            yield Difference(key, before, after, BY_NAME[key].effect if key in BY_NAME else "")
    for before, after in ((b, a) for b in old.own for a in new.own if b.name == a.name):
        if before != after:
            what = "the two reports define it differently"
            yield Difference(before.name, before.formula, after.formula, what)
    if old.version != new.version:
        yield Difference("fairgauge", old.version, new.version)


def _asked(spec: Mapping[str, object], key: str) -> object:
    """Return what a report asked, in the words of today: a report may be older than an option."""
    value, option = spec.get(key), BY_NAME.get(key)
    if option is None:
        return value
    if value is None:
        return option.type.plain(option.default)
    problems: list[Problem] = []
    meaning = option.type.read(value, key, problems)
    return str(value) if problems else option.type.plain(meaning)


def _rows(old: Report, new: Report, stated: bool | None) -> tuple[bool, Reason | None]:
    """Return whether both reports are of the same rows, and why no change has an interval then."""
    if stated is not None:
        return stated, _same_rows("stated") if stated else None
    if old.data.fingerprint == new.data.fingerprint:
        return True, _same_rows("fingerprint")
    sizes = [_sizes(report) for report in (old, new)]
    shared = sizes[0].keys() & sizes[1].keys()
    if old.data.rows == new.data.rows and all(sizes[0][key] == sizes[1][key] for key in shared):
        return True, _same_rows("sizes")
    return False, None


def _same_rows(evidence: str) -> Reason:
    return Reason.of(ReasonCode.SAME_ROWS, evidence=evidence)


def _sizes(report: Report) -> dict[Key, float]:
    groups = (group for group in report.groups if group.scope == OVERALL)
    return {(group.feature, group.group): group.n for group in groups}


def _paired(
    old: tuple[Estimate, ...], new: tuple[Estimate, ...]
) -> tuple[list[tuple[Estimate, Estimate]], list[Alone]]:
    """Return the estimates that both reports have, and what only one of them has."""
    single = all(len({e.threshold for e in side} - {None}) <= 1 for side in (old, new))
    before, after = (_keyed(side, single=single) for side in (old, new))
    pairs = [(each, after[key]) for key, each in before.items() if key in after]
    lonely = Counter(
        (*_lonely([e for key, e in before.items() if key not in after], new, "old"),
         *_lonely([e for key, e in after.items() if key not in before], old, "new"))
    )  # fmt: skip
    return pairs, [
        Alone(what=what, feature=feature, name=name, report=report, count=count)
        for (what, feature, name, report), count in lonely.items()
    ]


def _keyed(estimates: Iterable[Estimate], *, single: bool) -> dict[Key, Estimate]:
    """Return estimates by what they are of.

    A single threshold, and the class of the largest difference, may be another in each report.
    """
    found: dict[Key, Estimate] = {}
    seen: Counter[Key] = Counter()
    for each in estimates:
        at = None if single else each.threshold
        of_class = each.class_scope
        if of_class.kind is ClassKind.WORST:
            of_class = ClassScope(ClassKind.WORST)
        key = (*subject_of(each), each.scope, of_class, at)
        seen[key] += 1
        found[*key, seen[key]] = each
    return found


def _lonely(
    estimates: Iterable[Estimate], others: Iterable[Estimate], report: Which
) -> Iterator[tuple[What, str | None, str, Which]]:
    """Yield, for each estimate without a counterpart, what the other report lacks."""
    every = list(others)
    features = {e.feature for e in every}
    metrics = {e.metric for e in every}
    groups = {(e.feature, e.group) for e in every}
    scopes, classes = ({e.scope for e in every}, {e.class_scope for e in every})
    thresholds = {e.threshold for e in every}
    for each in estimates:
        of_all = is_of_all_groups(each.definition)
        if each.feature is not None and each.feature not in features:
            yield "feature", None, each.feature, report
        elif each.metric not in metrics:
            yield "metric", None, each.metric, report
        elif not of_all and (each.feature, each.group) not in groups:
            yield "group", each.feature, str(each.group), report
        elif each.scope not in scopes:
            yield "stratum", None, each.stratum or str(each.scope.kind), report
        elif each.class_scope not in classes:
            yield "class", None, each.class_ or str(each.class_scope.average), report
        elif each.threshold not in thresholds:
            yield "threshold", None, name_of(each.threshold), report
        else:
            name = each.metric if of_all else f"{each.metric} of {each.group}"
            yield "estimate", each.feature, name, report


def _origin(report: Report, asked: Report | str | Path) -> Origin:
    data = report.data
    return Origin(
        name=None if isinstance(asked, Report) else Path(asked).name,
        source=data.source,
        fingerprint=data.fingerprint,
        created=report.created,
        version=report.version,
        rows=data.rows,
        cases=data.cases,
        used=data.used,
        excluded=dict(data.excluded),
        verdict=report.verdict,
    )


def _groups(old: Report, new: Report) -> Iterator[GroupChange]:
    """Yield the groups of both reports, over all strata, each once."""
    sides = [
        {(g.feature, g.group): g for g in reversed(report.groups) if g.scope == OVERALL}
        for report in (old, new)
    ]
    order = dict.fromkeys(
        (g.feature, g.group) for report in (old, new) for g in report.groups if g.scope == OVERALL
    )
    for feature, group in order:
        before, after = (side.get((feature, group)) for side in sides)
        yield GroupChange(
            feature=feature,
            group=group,
            old_n=before.n if before else None,
            new_n=after.n if after else None,
            old_share=before.share if before else None,
            new_share=after.share if after else None,
        )
