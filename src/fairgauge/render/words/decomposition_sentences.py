"""Sentences about gaps: their parts, and what remains of them within strata."""

from __future__ import annotations

from collections.abc import Sequence

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    GapPartKind,
    GapVerdict,
    IntervalMethod,
    Level,
    ReferenceKind,
    StratumWeights,
    WhyInconclusive,
    WhyNoRegression,
)
from fairgauge.render._document_tree import Unit
from fairgauge.render.words.diagnostic_sentences import describe_diagnostic
from fairgauge.render.words.display_names import all_called, called, capitalised, shares_of
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    ci_words,
    compared_rate,
    metric_ci,
    metric_value,
    shown,
    unit,
    unit_name,
    with_unit,
)
from fairgauge.render.words.numbers import listing, numbered, plural, probability
from fairgauge.render.words.question_sentences import counts_people, how_many_used, number_used
from fairgauge.render.words.reason_sentences import ONE_OUTCOME
from fairgauge.results.disparities import NOTED_ALONE
from fairgauge.results.gap_decomposition import (
    UNADJUSTED,
    AdjustedGap,
    Decomposition,
    Gap,
    GapPart,
    StratumGap,
    averages_of,
)

_MOST_NAMED, _MOST_IN_VERDICT, _MOST_DIFFERING = 5, 2, 3
_RATIO = "ratio "
"""What stands before the values of a ratio, where a sentence is of the difference."""

_NO_DIRECTION = 0.1
"""The share of the larger of two differences up to which the other one counts as none."""
OTHER_DIRECTION = "in the other direction"
_ALONE = " alone"
"""What stands behind strata beside which a regression has controls."""
CAVEAT = (
    "“Accounted for” is arithmetic: it does not show whether the strata should count, or why "
    "groups differ in them."
)
"""What stands beside every decomposition."""
CHANGED_BY_DECISION = (
    "Where a column, such as a grade, is itself the result of unequal treatment, comparing "
    "within it hides part of the gap."
)
_VERDICTS = {
    GapVerdict.NO_GAP: "no gap is shown",
    GapVerdict.REMAINS: "remains within {strata}",
    GapVerdict.REVERSES: "reverses within {strata}",
    GapVerdict.WITHIN_MARGIN: "what remains within {strata} is within the margin",
    GapVerdict.ACCOUNTED_FOR: "accounted for by composition",
    GapVerdict.INCONCLUSIVE: "inconclusive",
}

MISSING_ROWS = (
    WhyInconclusive.MISSING_OUTCOMES, WhyInconclusive.MISSING_GROUPS, WhyInconclusive.NOT_COUNTED,
    WhyInconclusive.UNCLEAR_VALUES,
)  # fmt: skip
"""What is missing of rows that could change a gap that is not shown, or accounted for."""

_REASONS = {
    WhyInconclusive.VARIES: "the difference varies over {strata}",
    WhyInconclusive.MAY_VARY: (
        "the difference varies over {strata} by itself, but not once all gaps are tested together"
    ),
    WhyInconclusive.IN_A_STRATUM: "no difference is shown on average, but one in a stratum",
    WhyInconclusive.NOT_TESTED: "whether the difference varies over {strata} cannot be tested",
    WhyInconclusive.OFFSET: "no gap over all {strata}, but a difference within",
    WhyInconclusive.MISSING_STRATA: (
        "rows without {columns} are excluded, and have other rates than the others"
    ),
    WhyInconclusive.MISSING_OUTCOMES: "outcomes are missing more often on one side",
    WhyInconclusive.MISSING_GROUPS: (
        "rows without a group have other rates than the others, overall or within {strata}"
    ),
    WhyInconclusive.NOT_COUNTED: "many rows are in no number",
    WhyInconclusive.UNCLEAR_VALUES: "it is unclear what many values mean",
    WhyInconclusive.STRATA_DECIDE: "{strata} determine the outcome almost wholly",
    WhyInconclusive.NOT_COMPARABLE: (
        "not comparable, more than half of one side is in strata that the other does not have"
    ),
    WhyInconclusive.ONE_SIDED: "most of the gap lies in strata with none of the other side",
    WhyInconclusive.TOO_FEW: "insufficient data",
    WhyInconclusive.UNDEFINED: "a ratio of numbers that are not above 0 has no parts",
    WhyInconclusive.DEPENDS_ON_WEIGHTS: (
        "a difference is shown by some ways to average over {strata}, not by others"
    ),
    WhyInconclusive.SEVERAL_GAPS: "not shown once all gaps are tested together",
    WhyInconclusive.BEYOND_MARGIN: "a confidence interval reaches the margin",
    WhyInconclusive.IMPRECISE: "a confidence interval includes no difference and the whole gap",
}


def notes_of(found: Decomposition) -> list[str]:
    """Return the notes, of which none is a warning."""
    notes = (each for each in found.diagnostics if each.level is Level.NOTE)
    return [f"{capitalised(describe_diagnostic(each))}." for each in notes]


def verdict_words(gap: Gap, strata: str = "strata") -> str:
    """Return what the verdict of a gap is called, and why it is inconclusive."""
    reason = f": {_REASONS[gap.reason]}" if gap.reason else ""
    if is_of_one_outcome(gap):
        reason = f": {ONE_OUTCOME}"
    elif _is_clustered_0(gap):
        reason = f": {_CLUSTERED_0}"
    columns = all_called(gap.columns, "or")
    return f"{_VERDICTS[gap.verdict]}{reason}".format(strata=strata, columns=columns)


_CLUSTERED_0 = "with clusters a ratio of 0 has no confidence interval within {strata}"


def _is_clustered_0(gap: Gap) -> bool:
    """Return whether a ratio has no interval because clusters of one side are all at 0."""
    interval = gap.estimate.interval
    methods = () if interval is None else interval.methods
    clustered = IntervalMethod.CLUSTER_ROBUST in methods and gap.estimate.value == 0
    return clustered and gap.reason is WhyInconclusive.UNDEFINED


def _undefined(gap: Gap) -> str:
    """Return why a ratio has no interval within strata."""
    if not _is_clustered_0(gap):
        return _REASONS[WhyInconclusive.UNDEFINED]
    none = _CLUSTERED_0.format(strata=strata_words(gap))
    return f"{none}, as clusters that are all alike do not show how far above 0 it may be"


def is_of_one_outcome(gap: Gap) -> bool:
    """Return whether a verdict lacks data because all rows of both sides have one outcome."""
    estimate = gap.estimate
    rates = {estimate.rate_group, estimate.rate_reference}
    of_rates = isinstance(estimate.definition, Contrast) and isinstance(
        estimate.definition.of, Rate
    )
    return gap.reason is WhyInconclusive.TOO_FEW and of_rates and rates in ({0.0}, {1.0})


def verdict_and_controls(gap: Gap, strata: str = "strata", controls: str = "the controls") -> str:
    """Return the verdict, and beside controls for what it holds, and what the regression shows."""
    words = verdict_words(
        gap, strata + _ALONE * bool(gap.controls and gap.reason not in UNADJUSTED)
    )
    if gap.controls and strata not in words and gap.verdict is not GapVerdict.NO_GAP:
        words += f" ({strata}{_ALONE})"
    return words + with_controls(gap, controls)


def with_controls(gap: Gap, controls: str) -> str:
    """Return whether the regression shows a difference; nothing where it has no controls."""
    verdict, remains = gap.regression_verdict, "remains" if gap.is_shown else "is shown"
    if verdict is None or (gap.reason in UNADJUSTED and not gap.confounded):
        return ""
    shows = {
        GapVerdict.REMAINS: f"a difference {remains}",
        GapVerdict.REVERSES: "the reverse holds",
        GapVerdict.WITHIN_MARGIN: f"a difference {remains}, within the margin",
        GapVerdict.INCONCLUSIVE: "inconclusive",
    }.get(verdict, f"no statistically significant difference {remains}")
    if verdict is GapVerdict.INCONCLUSIVE and gap.adjusted and gap.reason not in UNADJUSTED:
        several = 0 not in gap.adjusted.interval
        reaches = "its confidence interval reaches the margin"
        shows += f": {_REASONS[WhyInconclusive.SEVERAL_GAPS] if several else reaches}"
    return f"; with {controls}, by regression, {shows}"


def each_verdict(gap: Gap) -> str:
    """Return the names of the verdicts: "accounted for; with the controls: remains"."""
    beside = gap.regression_verdict
    return f"{gap.verdict}; with the controls: {beside}" if beside else str(gap.verdict)


def rows_words(found: Decomposition) -> str:
    """Return how many rows there are, of a count column the cases, and how many are used.

    Where the user names the people or the unit, cases are called so.
    """
    every = found.data.rows
    used = how_many_used(found, every)
    if outcomes := outcomes_of_some(found):
        known = [f"a {each}" for each in (*outcomes, "group", "stratum")]
        used = f"{number_used(found)} with {listing(known)}"
    return f"{numbered(every, unit_words(found))}, {used}"


def outcomes_of_some(found: Decomposition) -> list[str]:
    """Return the outcomes that rows lack, and that some gaps need and others do not."""
    every = [gap.estimate.definition.needs for gap in found.gaps]
    some = every[0].union(*every) - every[0].intersection(*every)
    score = "prediction" if found.spec.get("prediction") else "score"
    names = [score if need == "prediction" else str(need) for need in sorted(some)]
    return [each for each in names if f"missing {each}" in found.excluded]


def unit_words(found: Decomposition) -> str:
    """Return what rows are called: of a count column cases, or as the user names them."""
    words = found.spec.get("words") or {}
    counted = found.spec.get("count") and (words.get("noun") or "cases")
    counted = "people" if counts_people(found.spec) else counted
    return called(words.get("unit") or counted or "rows")


def best_of_all(gaps: Sequence[Gap]) -> str:
    """Return that tests allow for the choice of the best group by the data, where it is one."""
    kinds = {gap.estimate.reference.kind for gap in gaps if gap.estimate.reference}
    return ", whichever group is the best" if ReferenceKind.BEST in kinds else ""


def describe_gap(gap: Gap) -> str:
    """Return the gap over all strata, and what it is within them, as sentences."""
    sentences = (
        describe_overall(gap),
        f"{gap.estimate.says}.",
        describe_gap_verdict(gap),
        describe_detectable(gap),
        describe_adjusted(gap),
        describe_heterogeneity(gap),
    )
    return " ".join(filter(None, sentences))


def describe_overall(gap: Gap, stated: str = "") -> str:
    """Return the gap over all rows, as stated; nothing where all of them have a stratum."""
    if gap.overall is None:
        return ""
    stated = stated or f"{gap.overall.says}."
    return f"Over all rows: {stated} What follows is of the rows with {_columns(gap)}."


def describe_gap_verdict(gap: Gap, *, brief: bool = False) -> str:
    """Return what becomes of a gap within strata, and how much of it could be compared.

    ``brief`` is without the differences within strata by which it is decided.
    """
    ends = "" if brief else f": {_within(gap)}"
    return f"{_what_becomes(gap, ends)}{_outside(gap)}{_untested(gap)}"


def _outside(gap: Gap) -> str:
    """Return how much is in strata of one side alone, of which nothing within strata is."""
    support, outside = gap.support, _alone(gap, 1.0)
    if not outside or not support.strata_used:
        return ""
    return (
        f" Both sides are in {support.strata_used:,} of {support.strata:,} strata; {outside} in "
        "strata of one side alone, and not compared."
    )


def _untested(gap: Gap) -> str:
    """Return how many strata have too few clusters for a test; nothing where none has."""
    untested, used = gap.support.strata_untested, gap.support.strata_used
    if not untested:
        return ""
    of = f"{untested:,} of the {used:,} strata" if used > 1 else "The stratum"
    return (
        f" {of} with both sides {plural(untested, 'has', 'have')} "
        "fewer than two clusters on a side, so that the difference in "
        f"{plural(untested, 'it', 'them')} cannot be tested."
    )


_DIFFERS = (
    WhyInconclusive.VARIES, WhyInconclusive.MAY_VARY, WhyInconclusive.IN_A_STRATUM,
    WhyInconclusive.ONE_SIDED,
)  # fmt: skip
"""Where single strata may differ although no difference is shown to remain on average."""
OF_SUPPORT = (WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.ONE_SIDED)
"""Why a gap is inconclusive where strata of one side alone hold too much of it."""


def describe_not_compared(gap: Gap) -> str:
    """Return how much is in strata of one side alone, in few words; nothing where that is little.

    Nor where the verdict states it, or is of no strata.
    """
    stated = gap.reason in OF_SUPPORT or gap.verdict is GapVerdict.NO_GAP
    outside = "" if stated else _alone(gap, 1 - NOTED_ALONE)
    alone = f"in {each_of(gap, several=True)} with none of the other side, and not compared"
    return f" ({outside} {alone})" if outside else ""


def _alone(gap: Gap, below: float) -> str:
    """Return how much of each side is in no stratum with both, if less than a share of it is."""
    sides = (
        (gap.estimate.group, gap.support.share_group),
        (reference_name(gap.estimate.reference), gap.support.share_reference),
    )
    found = shares_of([(side, 1 - share) for side, share in sides if share < below])
    return f"{found} are" if found else ""


def _what_becomes(gap: Gap, ends: str) -> str:
    """Return what the verdict states; ``ends`` are the differences that decide it, or empty."""
    within = within_words(gap)
    if gap.verdict is GapVerdict.NO_GAP:
        values = ends.removeprefix(": ").removeprefix(_RATIO)
        averages = (
            f" On average {within} the {gap.scale} is {values}."
            if ends and gap.largest_remaining is not None
            else ""
        )
        hidden = (
            " This does not show that there is no difference in any stratum"
            f"{': differences of both signs may offset each other' * _has_both_signs(gap)}."
        )
        hidden *= gap.support.strata > 1
        return f"The confidence interval of the gap includes no difference.{averages}{hidden}"
    if gap.verdict is GapVerdict.REMAINS:
        margin = f", and is not shown to be within the margin of {_margin(gap)}"
        return f"The difference remains {within}{margin if gap.margin else ''}{ends}."
    if gap.verdict is GapVerdict.WITHIN_MARGIN:
        return (
            f"What remains {within} is within the margin of {_margin(gap)}, by both confidence "
            f"intervals{ends}."
        )
    if gap.verdict is GapVerdict.REVERSES:
        return f"{capitalised(within)} the difference reverses (Simpson's paradox){ends}."
    if gap.verdict is GapVerdict.ACCOUNTED_FOR:
        return (
            f"The gap is accounted for by the composition of {_columns(gap)}: within "
            f"{strata_words(gap)}, {_none_remains(gap, ends)}."
        )
    if gap.reason is WhyInconclusive.VARIES:
        return _on_average(gap, ends)
    depends = gap.reason is WhyInconclusive.DEPENDS_ON_WEIGHTS
    if gap.reason is WhyInconclusive.OFFSET or (depends and not gap.is_shown):
        by = "some ways to average, not by others" if depends else "the weights of either side"
        offsets = ", which composition offsets," * _composition_offsets(gap)
        return (
            f"The confidence interval of the gap includes no difference, but {within} a difference"
            f"{offsets} is shown by {by}{ends}."
        )
    return f"What remains {within} is inconclusive: {_why_inconclusive(gap, ends)}"


def _has_both_signs(gap: Gap) -> bool:
    """Return whether the group has the higher rate in some strata, and the lower one in others."""
    differences = [each.difference or 0.0 for each in gap.strata]
    return min(differences, default=0.0) < 0 < max(differences, default=0.0)


def _composition_offsets(gap: Gap) -> bool:
    """Return whether composition is shown to be against all that is shown within strata."""
    neutral, composition = gap.estimate.definition.neutral, gap.part(GapPartKind.COMPOSITION)
    shown = [ends for _, _, ends in averages_of(gap) if neutral not in ends]
    if composition.interval is None or not shown:
        return False
    low, high = composition.interval
    if low > neutral:
        return all(ends.high < neutral for ends in shown)
    return high < neutral and all(ends.low > neutral for ends in shown)


def describe_detectable(gap: Gap, size: str = "") -> str:
    """Return how large a difference within strata the data would have shown, where none is.

    ``size`` is how large in words, by default in its unit.
    """
    if gap.detectable is None or gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES):
        return ""
    size = size or with_unit(gap.detectable, unit(gap.estimate.definition))
    smaller = "One closer to 1" if gap.scale == "ratio" else "A smaller one"
    return (
        f"Were the {gap.scale} the same in every {each_of(gap)}, the data would probably (80% "
        f"power) show it from about {size} on. {smaller} may go unseen."
    )


def describe_heterogeneity(gap: Gap) -> str:
    """Return whether the difference varies over strata, and the strata that are unlike the others.

    Nothing where it is not tested.
    """
    found, kind = gap.heterogeneity, stratum_unit(gap)
    if found is None:
        return ""
    p = probability(found.p_value)
    outlying = [each for each in gap.strata if each.outlying]
    if gap.varies:
        spread = with_unit(found.spread, kind)
        text = f"The difference varies over strata ({p}; standard deviation {spread})."
    elif outlying:
        text = f"All together show no statistically significant variation over strata ({p})."
    else:
        text = f"No statistically significant variation of the difference over strata ({p})."
    if outlying:
        named = "; ".join(_outlying(each, kind) for each in outlying[:_MOST_NAMED])
        more = len(outlying) - _MOST_NAMED
        outlies = "Outlying" if gap.varies else "Outlying by itself"
        return f"{text} {outlies}: {named}{f'; and {more:,} more' if more > 0 else ''}."
    tested = [each.detectable for each in gap.strata if each.p_value is not None]
    known = [size for size in tested if size is not None]
    if not tested:
        return text
    together = ", all gaps tested together" * any(each.outlying_alone for each in gap.strata)
    text += f" No stratum is statistically significantly unlike the others{together}; "
    compared = sum(each.difference is not None for each in gap.strata)
    few, have = compared - len(tested), plural(compared - len(tested), "has", "have")
    untested = f" {few:,} of {compared:,} {have} insufficient data for a test." if few else ""
    if not known:
        return (
            f"{text}none would have been named with 80% power, whatever its difference.{untested}"
        )
    first, last = (with_unit(pick(known), kind) for pick in (min, max))
    reach = f"{first} from them" if first == last else f"{first} to {last} from them, by stratum"
    text += f"one would have been named with 80% power if about {reach}"
    never = len(tested) - len(known)
    whole = f"; {never:,} of {len(tested):,} would not have been, whatever the difference."
    return f"{text}{whole if never else '.'}{untested}"


def describe_adjusted(gap: Gap, *, brief: bool = False) -> str:
    """Return the difference adjusted by regression, or why it is not, as sentences.

    ``brief`` is without the columns that are combinations of others.
    """
    if gap.reason in UNADJUSTED:
        why = _why_inconclusive(gap, "")
        none = f"No regression is adjusted for {adjusted_for(gap)}: {why}"
        return none if gap.scale == "difference" or gap.controls else ""
    if gap.confounded:
        why = _confounding(gap, missing_columns(gap), f"{numbered(gap.left_out, 'rows')} ")
        return f"No regression is adjusted for {adjusted_for(gap)}: {why}"
    found = gap.adjusted
    of_rates = isinstance(compared_rate(gap.estimate.definition), Rate)
    if found is None:
        why = "" if gap.no_regression is None else _NO_REGRESSION.get(gap.no_regression, "")
        return why and f"No regression is adjusted for {adjusted_for(gap)}: {why}."
    kind = stratum_unit(gap)
    how, what = ("logistic", "rates") if of_rates else ("linear", "means")
    text = (
        f"Adjusted for {adjusted_for(gap)} by {how} regression, the {what} differ by "
        f"{with_unit(found.value, kind, sign=True)} on average over all rows "
        f"({ci_words(found.interval, kind, sign=True)}{_ratios(found)}).{excluded_words(gap)}"
        f"{extrapolated(gap, found)}"
    )
    if brief:
        return text
    return text + _collinear(found)


_NO_REGRESSION = {
    WhyNoRegression.NOT_COMPARABLE: (
        "more than half of one side has values that the other side does not have"
    ),
    WhyNoRegression.COLUMNS_DECIDE: "their values determine the outcome almost wholly",
    WhyNoRegression.COLLINEAR: "their values state who is on which side (collinear)",
    WhyNoRegression.TOO_MANY_LEVELS: "they have more than 300 values together",
    WhyNoRegression.TOO_FEW: (
        "insufficient data (no rows of a side, or as few as values of the columns)"
    ),
    WhyNoRegression.ONE_OUTCOME: "all rows have the same outcome",
    WhyNoRegression.NOT_CONVERGED: (
        "the fit does not converge, as where columns separate the outcomes"
    ),
    WhyNoRegression.MISSING_ROWS: (
        "rows without an outcome, a group, a weight or a count could change what it shows"
    ),
}


def _collinear(found: AdjustedGap) -> str:
    """Return which columns are combinations of others; nothing where none is."""
    named = listing(
        [f"{called(column)} ({numbered(n, 'values')})" for column, n in found.collinear.items()]
    )
    return (
        f" Excluded as combinations of other columns (collinear), which changes no difference: "
        f"{named}."
        if named
        else ""
    )


def excluded_words(gap: Gap) -> str:
    """Return how many rows the regression alone excludes; nothing where it excludes none."""
    if not gap.left_out:
        return ""
    without = all_called(missing_columns(gap), "or")
    return f" It excludes rows without {without} ({gap.left_out:,} of all groups)."


def missing_columns(gap: Gap) -> tuple[str, ...]:
    """Return the columns of which rows without a value are excluded from the regression."""
    return gap.controls if gap.overall is None else gap.adjusted_for


def extrapolated(gap: Gap, found: AdjustedGap) -> str:
    """Return how much of a side the regression extrapolates to; nothing where that is little."""
    sides = (
        (gap.estimate.group, found.extrapolated_group),
        (reference_name(gap.estimate.reference), found.extrapolated_reference),
    )
    outside = shares_of([(side, share) for side, share in sides if share > NOTED_ALONE])
    return (
        f" For {outside}, in combinations that the other side does not have, it extrapolates."
        if outside
        else ""
    )


def _ratios(found: AdjustedGap) -> str:
    """Return the adjusted ratio of the rates or means, and the odds ratio."""
    return "".join(
        f"; {name} {shown(value, Unit.RATIO)}, {ci_words(ends, Unit.RATIO)}"
        for name, value, ends in (
            ("ratio", found.ratio, found.ratio_interval),
            ("odds ratio", found.odds_ratio, found.odds_ratio_interval),
        )
        if value is not None
    )


def stratum_name(stratum: StratumGap) -> str:
    """Return the values of a stratum."""
    return ", ".join(called(value) for value in stratum.stratum.values())


def outlying_places(gap: Gap, *, alone: bool = False) -> list[StratumGap]:
    """Return the strata that are unlike all others.

    ``alone`` is by the tests of this gap alone, and not of all gaps together.
    """
    return [each for each in gap.strata if (each.outlying_alone if alone else each.outlying)]


def outlying_alone(gap: Gap) -> str:
    """Return what is unlike all others by this gap alone: "branch B07 (−35.0 pp)"."""
    kind = stratum_unit(gap)
    return listing(
        [
            f"{place_name(each)} ({with_unit(each.difference, kind, sign=True)})"
            for each in outlying_places(gap, alone=True)
        ],
        most=_MOST_NAMED,
    )


def differing_elsewhere(gap: Gap) -> list[StratumGap]:
    """Return the strata in which a difference is shown, beside those unlike all others."""
    return [each for each in gap.differing_strata if not each.outlying]


def differs_in(gap: Gap) -> str:
    """Return the strata that differ by themselves, where none is unlike the others.

    Nothing else would name these where it varies, or where no difference is shown within strata.
    """
    if not (gap.verdict is GapVerdict.ACCOUNTED_FOR or gap.reason in _DIFFERS):
        return ""
    if outlying_places(gap):
        return ""
    return listing([place_name(each) for each in gap.differing_strata], most=_MOST_DIFFERING)


def place_name(each: StratumGap) -> str:
    """Return a stratum with the name of each column: "grade 2"."""
    return ", ".join(f"{called(by)} {called(value)}" for by, value in each.stratum.items())


def describe_outlying(gap: Gap) -> str:
    """Return what stands out without numbers: a stratum unlike all others.

    Several of one direction are named; how many more there are is stated.
    """
    found = outlying_places(gap)
    if found:
        way = direction(gap, found[0])
        alike = [each for each in found if not gap.is_shown or direction(gap, each) == way]
        named = [place_name(each) for each in _first_of(alike)]
        more = [name for name in map(place_name, found) if name not in named]
        unlike = f"; {len(more):,} more are unlike the others" if more else ""
        if len(more) == 1:
            unlike = f"; {more[0]} is unlike the others, too"
        are = plural(len(named), "is", "are")
        unlike_all = f"{listing(named)} {are} unlike all others"
        shown = f"the difference is {way} in {listing(named)}"
        return f"{shown if gap.is_shown else unlike_all}{unlike}"
    return ""


def outlying_words(gap: Gap) -> str:
    """Return the strata that are unlike all others, with their differences."""
    found = outlying_places(gap)
    named = [_unlike(gap, each) for each in _first_of(found)]
    more = len(found) - len(named)
    return "; ".join([*named, *([f"{more:,} more"] if more else [])])


def _first_of(found: list[StratumGap]) -> list[StratumGap]:
    """Return those that a verdict names: two, and a third rather than "1 more"."""
    return found[: _MOST_IN_VERDICT + (len(found) == _MOST_IN_VERDICT + 1)]


def _unlike(gap: Gap, each: StratumGap) -> str:
    """Return an outlying stratum with its difference, that of all others, and its p-value."""
    kind = stratum_unit(gap)

    def sized(value: float) -> tuple[str, str]:
        size = with_unit(abs(value), kind)
        none = size == with_unit(0.0, kind)
        return size, "" if none else " lower" if value < 0 else " higher"

    group, other = called(gap.estimate.group), called(reference_name(gap.estimate.reference))
    size, how = sized(each.difference or 0.0)
    elsewhere = "".join(sized(each.others or 0.0))
    beside = f"{group} {size}{how} than {other}" if how else f"{group} {size} from {other}"
    p = probability(each.p_adjusted, "adjusted p")
    return f"{place_name(each)} ({beside}, elsewhere {elsewhere}; {p})"


def direction(gap: Gap, each: StratumGap) -> str:
    """Return what the difference in an outlying stratum is beside that in the others.

    Where there is none in the others, it is beside that over all strata, if one is shown.
    """
    own, others = each.difference or 0.0, each.others or 0.0
    least = _NO_DIRECTION * max(abs(own), abs(others))
    if abs(others) <= least and gap.is_shown:
        others = (gap.estimate.value or 0.0) - gap.estimate.definition.neutral
        return OTHER_DIRECTION if own * others < 0 else "larger"
    if own * others < 0 and abs(own) > least < abs(others):
        return OTHER_DIRECTION
    return "larger" if abs(own) > abs(others) else "smaller"


def _outlying(each: StratumGap, kind: Unit) -> str:
    own, others = (_sized(value, kind) for value in (each.difference, each.others))
    p = probability(each.p_adjusted, "adjusted p")
    return f"{stratum_name(each)}, {own} ({others} in the others, {p})"


def _why_inconclusive(gap: Gap, ends: str) -> str:
    if gap.reason is WhyInconclusive.NOT_COMPARABLE:
        return (
            "more than half of one side is in strata that the other does not have, so that the "
            "sides are not comparable."
        )
    if gap.reason in (WhyInconclusive.ONE_SIDED, WhyInconclusive.IN_A_STRATUM):
        return f"{_none_remains(gap, ends)}, but {_but(gap)}."
    if gap.reason is WhyInconclusive.TOO_FEW:
        return "the data are insufficient."
    if gap.reason is WhyInconclusive.NOT_TESTED:
        return (
            f"whether the difference varies over {strata_words(gap)} cannot be tested, so that "
            f"averages may hide what remains in some{ends}."
        )
    if gap.reason is WhyInconclusive.MISSING_STRATA:
        return _confounding(gap, gap.columns)
    if gap.reason in MISSING_ROWS:
        turned = ", and could change what the other rows show"
        turned *= gap.reason is not WhyInconclusive.UNCLEAR_VALUES
        return f"{_REASONS[gap.reason].format(strata=strata_words(gap))}{turned}{ends}."
    if gap.reason is WhyInconclusive.STRATA_DECIDE:
        return (
            f"the values of {_columns(gap)} determine the outcome almost wholly, so that little "
            "is left to compare within them."
        )
    if gap.reason is WhyInconclusive.UNDEFINED:
        return f"{_undefined(gap)}; ask for the difference."
    if gap.reason in (WhyInconclusive.DEPENDS_ON_WEIGHTS, WhyInconclusive.MAY_VARY):
        named = f" (unlike the others: {outlying_alone(gap)})"
        named *= gap.reason is WhyInconclusive.MAY_VARY
        return f"{_REASONS[gap.reason].format(strata=strata_words(gap))}{named}{ends}."
    if gap.reason is WhyInconclusive.SEVERAL_GAPS:
        return (
            "by itself the gap would be decided, but not once all gaps of this result are tested "
            f"together (Holm{best_of_all([gap])}){ends}."
        )
    if gap.reason is WhyInconclusive.BEYOND_MARGIN:
        return f"a confidence interval reaches the margin of {_margin(gap)}{ends}."
    return f"a confidence interval includes both no difference and the whole gap{ends}."


def _but(gap: Gap) -> str:
    """Return where a gap lies, or a difference is shown, although none is on average."""
    if gap.reason is WhyInconclusive.ONE_SIDED:
        return f"most of the gap lies in {each_of(gap, several=True)} with none of the other side"
    where = differs_in(gap) or f"some {each_of(gap)} by the tests of this gap alone"
    return f"in {where} a difference in that direction is statistically significant"


def _confounding(gap: Gap, columns: Sequence[str], rows: str = "rows ") -> str:
    """Return that rows are unlike those with a value, and how the gap changes if it does."""
    unlike = (
        f"{rows}without a value of {all_called(columns, 'or')} are excluded, and have other rates "
        "than the rows with one: what holds of the others need not hold of all"
    )
    if gap.overall is None:
        return f"{unlike}."
    metric = gap.estimate.definition
    of_all, of_known = (metric_value(metric, each.value) for each in (gap.overall, gap.estimate))
    gap_is = f"the same without them ({of_known})"
    if of_all != of_known:
        gap_is = f"{of_known} without them, and {of_all} over all rows"
    return f"{unlike}. The gap is {gap_is}."


def _none_remains(gap: Gap, ends: str) -> str:
    tolerated = f", below the margin of {_margin(gap)}" if gap.margin else ""
    at_most = f" ({_at_most(gap)}{tolerated})" if ends else ""
    named = gap.reason is not WhyInconclusive.VARIES and bool(differs_in(gap))
    average = "on average " * (named or gap.reason is WhyInconclusive.IN_A_STRATUM)
    return (
        f"{average}no statistically significant difference in the direction of the gap remains"
        f"{at_most}{ends}"
    )


def _on_average(gap: Gap, ends: str) -> str:
    """Return what holds on average, and the strata in which it does not."""
    reverse = "" if ends else _reverse_by_one_side(gap)
    if not gap.is_shown:
        average = (
            "the confidence interval of the gap includes no difference"
            f"{', as differences that offset each other may' * _has_both_signs(gap)}"
        )
    elif gap.margin:
        average = (
            f"a difference within {strata_words(gap)} in the direction of the gap is below the "
            f"margin of {_margin(gap)}, by both confidence intervals{ends}"
        )
    else:
        average = f"within {strata_words(gap)}, {_none_remains(gap, ends)}{reverse}"
    if not ends:
        return f"On average {average}."
    return (
        f"The difference varies over strata; on average {average}. But it differs by {_where(gap)}."
    )


def _reverse_by_one_side(gap: Gap) -> str:
    """Return that an average by one side shows a difference against the gap, if one does."""
    lower = (gap.estimate.value or 0.0) < (neutral := gap.estimate.definition.neutral)
    for weights in (StratumWeights.GROUP, StratumWeights.REFERENCE):
        ends = gap.part(GapPartKind.WITHIN, weights).interval
        if ends is not None and (ends.low > neutral if lower else ends.high < neutral):
            return "; weighted by the shares of one side, the reverse is statistically significant"
    return ""


def _where(gap: Gap) -> str:
    """Return the strata that are outlying, or else by how much differences vary."""
    kind, over = stratum_unit(gap), strata_words(gap)
    if outlying := [each for each in gap.strata if each.outlying]:
        named = [f"{stratum_name(each)}, {_sized(each.difference, kind)}" for each in outlying]
        return f"{over}: {'; '.join(named[:_MOST_NAMED])}"
    alone = any(each.p_value is not None for each in gap.strata)
    single = "is statistically significantly unlike the others" if alone else "is tested"
    spread = with_unit(gap.heterogeneity.spread if gap.heterogeneity else None, kind)
    return f"{over} (standard deviation {spread}; no single one {single})"


def _sized(value: float | None, kind: Unit) -> str:
    """Return a difference with its sign."""
    return with_unit(value, kind, sign=True)


def stratum_unit(gap: Gap) -> Unit:
    """Return the unit of differences in strata, of a ratio too."""
    rate = compared_rate(gap.estimate.definition)
    return Unit.POINTS if rate is None or rate.is_share else Unit.NUMBER


def _margin(gap: Gap) -> str:
    text = with_unit(gap.margin, unit(gap.estimate.definition))
    return f"{text.removesuffix(' pp')} percentage points" if text.endswith(" pp") else text


def strata_words(gap: Gap) -> str:
    """Return the strata as they stand after "within"."""
    several = len(gap.columns) > 1
    return f"combinations of {_columns(gap)}" if several else called(gap.columns[0])


def within_words(gap: Gap) -> str:
    """Return "within branch", beside controls "within branch alone"."""
    return f"within {strata_words(gap)}{_ALONE * bool(gap.controls)}"


def each_of(gap: Gap, *, several: bool = False) -> str:
    """Return one stratum: "Dept", "combination of Dept and Year"; several: "values of Dept"."""
    if len(gap.columns) > 1:
        return f"combination{'s' if several else ''} of {_columns(gap)}"
    return f"{'values of ' if several else ''}{_columns(gap)}"


def _columns(gap: Gap) -> str:
    return all_called(gap.columns)


def adjusted_for(gap: Gap) -> str:
    """Return the columns for which the regression is adjusted."""
    return all_called(gap.adjusted_for)


def part_words(gap: Gap, part: GapPart) -> str:
    """Return what a part is called."""
    if part.part is GapPartKind.NOT_COMPARABLE:
        return "strata of one side alone"
    if part.part is GapPartKind.COMPOSITION:
        return f"composition of {called(part.column) if part.column else _columns(gap)}"
    within = f"within {strata_words(gap)}"
    return {
        StratumWeights.AVERAGE: within,
        StratumWeights.GROUP: f"{within}, weighted by the shares of {called(gap.estimate.group)}",
        StratumWeights.REFERENCE: (
            f"{within}, weighted by the shares of {called(reference_name(gap.estimate.reference))}"
        ),
        StratumWeights.MANTEL_HAENSZEL: f"{within}, with the weights of Mantel and Haenszel",
    }[part.weights]


def value_words(gap: Gap, part: GapPart) -> tuple[str, str]:
    """Return the value of a part, and its confidence interval."""
    metric = gap.estimate.definition
    return metric_value(metric, part.value), metric_ci(metric, part.interval)


def share_words(part: GapPart) -> str:
    """Return the share of the gap that a part is, with its interval."""
    if part.share is None or part.share_interval is None:
        return ""
    value, low, high = (
        f"{round(100 * each):,}".replace("-", "−") for each in (part.share, *part.share_interval)
    )
    return f"{value}% ({100 * part.share_interval.level:.4g}% CI {low} to {high})"


def _within(gap: Gap) -> str:
    """Return the differences within strata, averaged by the shares of either side.

    Where these are not all that decides, they are averaged in all ways.
    """
    metric = gap.estimate.definition
    named: dict[StratumWeights | None, str] = {
        StratumWeights.GROUP: f"weighted by the shares of {called(gap.estimate.group)}",
        StratumWeights.REFERENCE: (
            f"weighted by the shares of {called(reference_name(gap.estimate.reference))}"
        ),
    }
    if gap.reason is WhyInconclusive.DEPENDS_ON_WEIGHTS:
        named |= {
            StratumWeights.AVERAGE: "weighted by the mean of both",
            StratumWeights.MANTEL_HAENSZEL: "with the weights of Mantel and Haenszel",
            None: "by regression",
        }
        found = [
            (named[weights], metric_value(metric, value), metric_ci(metric, ends))
            for weights, value, ends in averages_of(gap)
        ]
    else:
        found = [
            (words, *value_words(gap, gap.part(GapPartKind.WITHIN, weights)))
            for weights, words in named.items()
            if weights is not None
        ]
    texts = [f"{value} {words} ({ends})" for words, value, ends in found]
    return (_RATIO if gap.scale == "ratio" else "") + listing(texts)


def _at_most(gap: Gap) -> str:
    """Return the largest gap within strata that the confidence intervals allow."""
    metric, most = gap.estimate.definition, gap.largest_remaining
    kind = unit(metric)
    if most is None:
        return ""
    if metric.neutral:
        end = "as low as" if (gap.estimate.value or 0.0) < metric.neutral else "as high as"
        return f"the confidence intervals allow a ratio {end} {shown(most, kind)}"
    return f"the confidence intervals allow at most {shown(abs(most), kind)}{unit_name(kind)}"
