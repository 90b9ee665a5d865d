"""The commands that ask a question and show its result: a row each, and what runs them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import click

from fairgauge.cli._arguments import (
    DataArguments,
    config_option,
    flags_for,
    given_options,
    is_url,
    question,
    read_question,
    takes_data,
)
from fairgauge.cli._command_group import Command, Decorator, add_options
from fairgauge.cli._output import Output, shows_result
from fairgauge.enums import GapVerdict, Missing, Worse
from fairgauge.errors import DataError, quote, refuse, suggest
from fairgauge.question.option_types import LISTED_FEATURES
from fairgauge.question.options import BY_NAME, OF_ROWS
from fairgauge.question.readers import Location
from fairgauge.start.records import dataclass, field, replace

Keywords = dict[str, Any]
"""What `click.option` takes."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A function as a command; all that the command has follows from its row."""

    # the function, package.module:name; its keywords are the options, its own and those of a
    # question
    function: str
    result_kind: str  # of the result, by which it has its formats
    help: str
    question_options: Decorator = field(default_factory=add_options)  # the options of its question
    # its other options by keyword; ``flag`` is that of one which has another name
    own_options: Mapping[str, Keywords] = field(default_factory=dict)
    # what it takes in their order: ``data`` are rows or counts, others are texts
    arguments: tuple[str, ...] = ("data",)
    reads_question: bool = False  # whether the function reads the specification by its own rules
    judges: bool = False  # whether it judges, so that rules of a monitor alone are refused
    # fail_on, fail_help: the word that makes its result an exit code, and the help of it
    fail_on: str | None = None
    fail_help: str = ""
    # the exit code of a result then
    exit_code: Callable[[Any], int] = lambda found: int(found.exit_code)
    tables: tuple[str, ...] = ()  # of its result, which --table prints where DATA are files


def _read_whole_numbers(_context: object, _option: object, text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(",")) if text else ()
    except ValueError:
        raise click.BadParameter(f"must be whole numbers, such as 10,20,40, not {text}") from None


def command_of(name: str, verb: Verb) -> click.Command:
    """Return the command of a row."""

    def run(
        out: Output, config: str | None = None, fail_on: str | None = None, **flags: Any
    ) -> int:
        of: list[Any] = [flags.pop(each) for each in verb.arguments]
        if verb.tables:
            of[0], out = _table_to_print(verb.tables, of[0], out)
        names = [each.names if isinstance(each, DataArguments) else (each,) for each in of]
        out.check([*itertools.chain(*names), config])
        given = {key: flags.pop(key) for key in verb.own_options}
        options = {key: value for key, value in given.items() if value not in (None, ())}
        asked = read_question(None if verb.reads_question else config, flags, judges=verb.judges)
        # no other argument of the function, such as rows to read: of the file it refuses the name
        options |= {name: value for name, value in asked.items() if name in BY_NAME}
        options |= {"config": config} if config is not None else {}
        of = [each.read() if isinstance(each, DataArguments) else each for each in of]

        from fairgauge.results.scopes import function_at
        from fairgauge.scan.scan_progress import progress

        with progress("Counting rows"):
            found = function_at(verb.function)(*of, **options)
        out.print_warnings(getattr(found, "diagnostics", ()))
        out.show(found)
        return verb.exit_code(found) if verb.fail_on is None or fail_on else 0

    run.__doc__ = verb.help
    made_of = [
        click.option(*(keywords.get("flag") or f"--{key.replace('_', '-')}").split(), key,
                     **{name: value for name, value in keywords.items() if name != "flag"})
        for key, keywords in verb.own_options.items()
    ]  # fmt: skip
    if verb.fail_on is not None:
        made_of.append(click.option("--fail-on", type=click.Choice((verb.fail_on,)),
                                    metavar=verb.fail_on, help=verb.fail_help))  # fmt: skip
    decorate = add_options(
        click.command(name, cls=Command),
        *made_of,
        verb.question_options,
        *(takes_data(verb.tables) if e == "data" else click.argument(e) for e in verb.arguments),
        shows_result(verb.result_kind),
    )
    made: click.Command = decorate(run)  # type: ignore[assignment]
    return made


def _table_to_print(
    tables: tuple[str, ...], data: DataArguments, out: Output
) -> tuple[DataArguments, Output]:
    # ``--table`` names one of the result, unless DATA is a database
    if data.table is None or not data.names or any(map(is_url, data.names)):
        return data, out
    if data.table not in tables:
        raise DataError(
            f"--table {quote(data.table)} is no table of the report."
            f"{suggest(data.table, tables)} Use {', '.join(tables)}; or, for a table of a "
            "database, give its URL as DATA"
        )
    return replace(data, table=None), replace(out, table=data.table)


def _features(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> object:
    del context, option
    at = Location("sensitive")
    features = LISTED_FEATURES.parse(texts, at) if texts else None
    refuse(at.problems)
    return features


# a reversal is a difference that remains within strata, against the other side
_GAPS = {GapVerdict.REMAINS: 1, GapVerdict.REVERSES: 1, GapVerdict.INCONCLUSIVE: 3}


# options of audits that hold less of pairs, and are read as there
_OF_PAIRS = (
    "intersections", "sensitive", "prediction", "positive", "score", "reference", "exclude_groups",
    "unknown", "recode", "count", "margins", "confidence", "seed",
)  # fmt: skip


def _option(text: str, **keywords: object) -> Keywords:
    return {"help": text, **keywords}


OF_ANSWERS = {
    "item": "Column of what was asked (résumé, prompt, posting).",
    "variant": "Column of the name, or the edit, under which it was asked.",
    "model": "Column of the model that answered.",
    "family": "Column of the text that items are made from (a CV for several postings), which are "
    "then one cluster; without it, items are taken as independent.",
}
_NUMBERS = {
    "tolerance": "Difference of rates to tolerate and to detect (default: that of the strictest "
    "rule of -c, or 0.1).",
    "ratio": "Ratio of rates to tolerate and to detect (default: likewise, or 0.8).",
    "power": "Power: probability of the wanted verdict (default 0.8).",
    "confidence": BY_NAME["confidence"].help(flag=True),
    "share": "Share of the group in all rows (default 0.5).",
    "among": "Share of the rows that are in the denominator of the rate (default 1).",
    "cluster_size": "Rows per cluster (default 1).",
    "icc": "Intracluster correlation (default 0).",
}

VERBS = {
    "plan": Verb(
        function="fairgauge.api.planning:plan",
        result_kind="plan",
        arguments=(),
        reads_question=True,
        question_options=add_options(config_option),
        own_options={
            "rate": _option("Rate of the reference (for example 0.3).", type=float, required=True),
            **{name: _option(text, type=float) for name, text in _NUMBERS.items()},
        },
        help="""Report how many rows an audit needs, to be planned before there are data.

    \b
    fairgauge plan --rate 0.3 --tolerance 0.05
    """,
    ),
    "compare": Verb(
        function="fairgauge.api.comparing:compare",
        result_kind="comparison",
        arguments=("old", "new"),
        own_options={
            "same_rows": _option(
                "Whether both reports are of the same rows (two models on one table): then a "
                "change is tested only where no dependence of the two would explain it. The "
                "default decides by the numbers of rows.",
                default=None,
                flag="--same-rows/--different-rows",
            )
        },
        fail_on="worse",
        fail_help="Exit with 1 if a disparity or a verdict got statistically significantly worse; "
        "without any change, at most 5% of comparisons do. Otherwise with 3 if something may have "
        "got worse that could not be compared or tested, as where a group or its verdict is gone, "
        "both reports are of the same rows or counts, many more rows of the second lack "
        "something, or either report leaves a doubt open.",
        help="""Compare two reports that "fairgauge audit ... -o report.json" wrote.

    What changed from OLD to NEW: of the model in use and of a candidate, or of last month and this.
    Models that decide the same rows are compared by "fairgauge compare-models".

    \b
    fairgauge compare january.json february.json -o diff.html
    """,
    ),
    "audit": Verb(
        function="fairgauge.api.audit:audit",
        result_kind="report",
        question_options=question("candidate"),
        judges=True,
        tables=("estimates", "groups", "verdicts", "pairs"),
        help="""Audit a model, or its training data, for disparities between groups of people.

    DATA is a .csv, .csv.gz, .tsv, .parquet, .jsonl, .json, .arrow, .feather, .xlsx, .sav, .dta,
    .xpt or .eval file, a .zip of one, several of them, a glob, a .cube.json made by
    "fairgauge count", - for standard input (rows, or the counts that it prints), the address of
    such files in a store or on the web (s3://bucket/loans.parquet, gs://, az://, https://), a
    table of a lakehouse (delta:FOLDER, iceberg:CATALOG.NAMESPACE.TABLE), or the URL of a database
    (postgresql://user@host/name, sqlite:///file.db) with --table or --query.

    A backslash escapes = : * and , in the name of a column, and in a value; in --where and --recode
    quotes do.

    \b
    fairgauge audit loans.csv --label approved --prediction predicted --positive yes
        --sensitive sex --sensitive age:40:left --rule 'DI >= 0.8' -o report.html
    """,
    ),
    "find": Verb(
        function="fairgauge.api.searching:find",
        result_kind="find",
        reads_question=True,
        question_options=add_options(flags_for(*OF_ROWS), config_option),
        own_options={
            "metrics": _option(
                "Rate to search, a share of rows (for example false_positive_rate).", metavar="RATE"
            ),
            "sensitive": _option(
                "Columns to search, protected or not. Numbers after a column are its cut points: "
                "sex,age:40,60. Repeatable.",
                metavar=LISTED_FEATURES.metavar,
                multiple=True,
                callback=_features,
            ),
            "worse": _option(
                "Side that is worse (default: that of the rate).",
                type=click.Choice([*map(str, Worse)]),
            ),
            "tolerance": _option(
                "Worse means by more than this (default 0; 0.02 is 2 pp).", type=float
            ),
            "depth": _option("Most conditions of a subgroup (default 3).", type=int),
            "min_rows": _option("Fewest rows of a subgroup (default 20).", type=int),
            "alpha": _option("Error rate in each direction (default 0.05).", type=float),
            "missing": _option(
                "Missing values of features: a value, none, or an error (default group).",
                type=click.Choice([*map(str, Missing)]),
            ),
        },
        fail_on="worse",
        fail_help="Exit with 1 if any subgroup is worse, with 3 if none could be examined, if the "
        "rate is the same 0% or 100% in all rows, or if rows that lack an outcome could "
        "hide one.",
        exit_code=lambda f: (
            1 if f.worse else 0 if f.examined and not f.is_constant and not f.lacks_outcomes else 3
        ),
        help="""Find the subgroups in which a rate is worse, of all that some columns make.

    Every conjunction of a few values is compared with all other rows. With a chance of at most 5%
    (--alpha) any subgroup that is called worse is not, however many are examined.

    \b
    fairgauge find loans.csv --label repaid --prediction approved --metrics false_positive_rate
        --sensitive sex,race,age:25,45,60 --tolerance 0.02 --fail-on worse -o find.html
    """,
    ),
    "why": Verb(
        function="fairgauge.api.decomposing:why",
        result_kind="why",
        reads_question=True,
        question_options=question(
            *("candidate", "rules", "inconclusive", "multiplicity", "features"),
            margins="Largest difference within strata, or with --control by regression, that is "
            "tolerated, in the unit of the rate: base_rate=0.02. Repeatable.",
        ),
        own_options={
            "controls": {
                "flag": "--control",
                "metavar": "COL...",
                "multiple": True,
                "callback": lambda _context, _option, texts: given_options({"strata": texts}).get(
                    "strata"
                ),
                "help": "Column for which the regression is adjusted beside the strata, with "
                "cut points of numbers: dti:36,43. Repeatable.",
            }
        },
        fail_on="remains",
        fail_help="Exit with 1 if a difference remains within strata, with --control by the "
        "regression with both, in either direction (a reversal too), otherwise with 3 if that is "
        "inconclusive.",
        exit_code=lambda found: _GAPS.get(found.verdict, 0),
        help="""Decompose the gap between groups into composition and what remains within strata.

    Composition is the groups' shares of strata, such as the departments that they apply to. A gap
    is accounted for by it, remains within strata, or reverses there. Accounted for is arithmetic:
    it does not show whether the strata should count, or why groups differ in them.
    Where the difference varies over strata, an average may
    hide what remains in some: the gap is inconclusive in place of accounted for. Metrics are
    differences or ratios of rates (--metrics selection_rate.ratio), margins differences within
    strata that are tolerated (--margin base_rate=0.02). Numbers are cut (dti:36,43).

    \b
    fairgauge why admissions.csv --label Admit --positive Admitted --sensitive Gender --strata Dept
    fairgauge why loans.parquet --prediction approved --sensitive race --reference race=White
        --strata product --control dti:36,43 --control ltv:80,90 -o why.html
    """,
    ),
    "compare-models": Verb(
        function="fairgauge.api.comparing:compare_models",
        result_kind="comparison",
        question_options=question("strata", "rules"),
        help="""Compare candidate models with the model in use, which decide the same rows of DATA.

    States whether each candidate dominates the model in use (fairer, not worse by more than the
    margin, and no disparity or group worse by more than theirs), is better in what could be tested,
    is a trade-off, is worse or undecided. Exit codes: 0 a candidate dominates, or no margin is
    given; 1 every candidate is worse; 3 otherwise. Two reports are compared by "fairgauge compare".

    \b
    fairgauge compare-models loans.parquet --label repaid --prediction current --candidate new
        --sensitive sex --margin accuracy=0.01 --margin disparity=0.05 -o choice.html
    """,
    ),
    "alternatives": Verb(
        function="fairgauge.api.comparing:alternatives",
        result_kind="alternatives",
        question_options=question("strata", "rules", "seed", "replicates", "method", "profile"),
        own_options={
            "disparity": _option(
                "Rate whose gaps are to be smaller, or its difference or ratio "
                "(default selection_rate).",
                metavar="RATE",
            ),
            "harm": _option(
                "Gaps of other groups may grow by less than this (default 0.02).",
                metavar="H",
                type=float,
            ),
            "chosen_on": _option(
                "Other rows, on which the one candidate to judge is chosen.", metavar="FILE"
            ),
            "retrained": _option(
                "Candidates are retrainings of one recipe, in the order of training.", is_flag=True
            ),
            "looks": _option(
                "Numbers of retrainings at which it was planned to look.",
                metavar="N,...",
                callback=_read_whole_numbers,
            ),
            "fixed_number": _option(
                "The number of retrainings was fixed beforehand.", is_flag=True
            ),
        },
        help="""Find candidates shown to be as good as the model in use and less discriminatory.

    A candidate is named where every rate with a margin (--margin, default accuracy=0.01) is worse
    by less than it, the gap of a group that is worse off is smaller, and no other group's gap grows
    by --harm or more; claims hold for all candidates together. Give every candidate that was looked
    at on these rows (--candidate 'seed_*' for all that match). Exit codes: 0 a candidate is shown,
    1 every candidate is shown to be worse, 3 otherwise.

    \b
    fairgauge alternatives loans.parquet --label repaid --prediction current --candidate 'seed_*'
        --sensitive sex --reference sex=M --margin accuracy=0.01 -o alternatives.html
    """,
    ),
    "thresholds": Verb(
        function="fairgauge.api.thresholding:thresholds",
        result_kind="thresholds",
        question_options=question("candidate", "profile", "seed", "replicates"),
        help="""Find the threshold of a score, closest to today's, that meets one rule of fairness.

    The first threshold (--threshold) is today's; others after it are candidates, next to 20
    quantiles of the score.

    The rule (--rule) is what every group must meet: a difference or a ratio of a rate of decisions.
    The margin (--margin, default accuracy=0.01) is by how much a rate of all rows may be worse at
    most. Today's threshold is the answer where it meets the rule; claims about others hold for all
    candidates together. Exit codes: 0 the rule is met at the chosen threshold and the rate is kept
    (the whole confidence intervals of every group and of the change of the rate), 1 every candidate
    is shown not to do both, 3 otherwise.

    \b
    fairgauge thresholds loans.parquet --label repaid --score risk --threshold 0.5 --sensitive sex
        --rule 'selection_rate.ratio >= 0.8' --margin accuracy=0.01 -o thresholds.html
    """,
    ),
    "pairs": Verb(
        function="fairgauge.api.pairing:pairs",
        result_kind="pairs",
        reads_question=True,
        question_options=add_options(
            config_option,
            flags_for(
                *_OF_PAIRS,
                sensitive="Column of the group that the variant belongs to.",
                score="Column of the answers, numbers of any scale.",
                reference="Names compared with: COL=VALUE, largest, or others, of all other groups "
                "(default).",
                margins="Difference regarded as equivalent: score=0.1, or of decisions "
                "selection_rate=0.02.",
            ),
        ),
        own_options={
            **{name: _option(text, metavar="COL") for name, text in OF_ANSWERS.items()},
            "placebo": _option(
                "Value of the sensitive feature whose variants are irrelevant edits. Repeatable.",
                multiple=True,
                metavar="VALUE",
            ),
        },
        help="""Compare answers to the same items under names of several groups.

    DATA has a row for each answer, of whatever called the model, or is the counts of such rows
    (fairgauge count --item COL --variant COL); no model is called here. The
    difference between groups is held against the variation between names of one group, irrelevant
    edits (--placebo), items and runs. The margin (--margin score=0.1, or selection_rate=0.02) is
    the difference that is regarded as equivalent. Exit codes: 0 every difference is equivalent, 1
    one differs, 3 otherwise.

    \b
    fairgauge pairs answers.csv --item resume --variant name --sensitive race
        --reference race=White --score score --margin score=0.1 --placebo edit -o pairs.html
    """,
    ),
}
