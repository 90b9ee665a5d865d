"""The page of documentation of all options, from their table."""

from __future__ import annotations

from fairgauge.question.options import OPTIONS

_PAGE = """\
# Options of an audit

An option is a keyword of `fairgauge.audit`, a key of a specification file (TOML, YAML or JSON) and
a flag of `fairgauge audit`. It means the same in `count`, `compare_models`, `thresholds`, `plan`
and `monitor`, which take a file, too: `fg.audit("loans.csv", config="audit.toml")` in Python, and
`-c audit.toml` on the command line. What is given beside a file overrides its key; `where` and
`recode` override it for the columns that they name alone. An option that holds one value and is
given twice is an error. An audit is of one model: `candidate` belongs
to `compare_models`.
`fairgauge schema spec` prints the JSON Schema of a file.

| Option | Description | Flag | Default |
|---|---|---|---|
"""
_FORMS = """\

## A specification file

```toml
label = "approved"
prediction = "predicted"
positive = [1]
unknown = ["Not stated"]              # rows of these groups are rows without a group
min_n = 30
rules = ["selection_rate.ratio >= 0.8", "accuracy >= 0.9"]

[[sensitive]]
column = "sex"

[[sensitive]]
column = "race"
values = ["Black", "Hispanic"]        # one group: these values together

[[sensitive]]
column = "age"
cuts = [40]
closed = "left"                       # [-inf, 40) and [40, inf); "right": (-inf, 40] and (40, inf)

[document]
title = "Lending, first quarter"
author = "A. Author"
```

A rule is a text, or a table with the keys `metric` (a metric, or a rate of every group),
`at_least`, `at_most`, `between`, `features`, `groups`, `decide` ("interval": the whole confidence
interval decides; "point": the value alone; "significant": a value outside the limits fails where
it differs statistically significantly from no difference) and `insufficient` (the verdict where
the data are insufficient: "report", "pass", "fail" or "ignore").

## Values of flags

A backslash escapes `=`, `:`, `*` and `,` in a name, and in a value: `--unknown 'mail\\, telephone'`
is one value, and two without it. Those of `--where` and `--recode` are put in quotes instead.

"""


def page() -> str:
    """Return the page of documentation: every option, its flags, its default, its description."""
    table = "".join(
        f"| `{option.name}` | {_cell(_description(option.name))} "
        f"| `{option.flag}` "
        f"| {f'`{option.usual}`' if option.usual else ''} |\n"
        for option in OPTIONS
    )
    forms = "".join(f"- `{option.flag}`: {option.syntax}\n" for option in OPTIONS if option.syntax)
    return f"{_PAGE}{table}{_FORMS}{forms}"


def _description(name: str) -> str:
    (option,) = (each for each in OPTIONS if each.name == name)
    words = f" One of {', '.join(f'`{word}`' for word in option.type.words)}."
    return f"{option.description}.{words if option.type.words else ''}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
