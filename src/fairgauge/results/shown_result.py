"""ShownResult: what printing, saving, loading and a notebook do with every result.

A kind of result is a frozen dataclass, whose `ResultKind` states what its files are called and who
shows it, and the module of its document. Nothing else names it: what reads files, makes JSON
Schemas and writes formats finds it here. Files are JSON whose ``schema`` states what they hold.
"""

from __future__ import annotations

import datetime as dt
import json
import pkgutil
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, cast

from fairgauge.catalogue.lookup import BUILT_IN, Catalogue, Facts, own_rates
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import SCHEMA, Cube, read_saved_text
from fairgauge.enums import Outcome
from fairgauge.errors import CubeError, FairgaugeError, display, listing, quote, suggest
from fairgauge.object_stores import MOST_SAVED, read_limited
from fairgauge.results import codec, scopes
from fairgauge.results.codec import NOT_SAVED, Moment, Plain, Result, Schema, Version
from fairgauge.results.scopes import Diagnostic, function_at
from fairgauge.results.statement import Statement
from fairgauge.start import __version__
from fairgauge.start.first_help import entry_points
from fairgauge.start.records import dataclass, field
from fairgauge.values import Saved

_REGISTRY: dict[str, type[ShownResult]] = {}
_PACKAGES: list[str] = []
_NO_TABLES = (
    "The tables of a page are not repeated: their numbers are in the records (of an audit in "
    "estimates, groups and verdicts), which the sources of statements name."
)
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Of terminals, and of the direction of text."""
# with an indent, the encoder of the standard library is one in Python
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultKind:
    """A kind of result.

    ``name, schema``: its word on the command line, and what its files state as their ``schema``.
    ``called``: the noun for one, with its article, for messages.
    ``brief, page``: the functions that make its first page, from statements, and state these.
    ``package``: of a plug-in, the package whose ``layouts.toml`` and ``texts`` hold its own.
    """

    name: str
    schema: str
    title: str
    called: str
    brief: str = "fairgauge.render.page:brief_of"
    page: str = ""
    package: str = ""


def made_now() -> dict[str, Any]:
    """Return by which version a result is made that is made now, and when that is."""
    return {
        "version": __version__,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }


def exit_code(outcome: Outcome) -> int:
    """Return the exit code of a command: 1 a fail, 3 undecided, 0 otherwise."""
    return {Outcome.FAIL: 1, Outcome.INCONCLUSIVE: 3, Outcome.NOT_EVALUATED: 3}.get(outcome, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    """A result that knows its plain values; `print` shows it."""

    KIND: ClassVar[ResultKind]
    DERIVED: ClassVar[tuple[str, ...]] = ("_statements",)

    version: Version
    created: Moment = field(compare=False)

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "KIND"):
            _REGISTRY[cls.KIND.schema] = cls
            if cls.KIND.package and cls.KIND.package not in _PACKAGES:
                _PACKAGES.append(cls.KIND.package)

    @property
    def catalogue(self) -> Catalogue:
        return BUILT_IN

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command that makes it: 0 where nothing is decided."""
        outcome = getattr(self, "verdict", None)
        return exit_code(outcome) if isinstance(outcome, Outcome) else 0

    def to_dict(self) -> Plain:
        """Return the result as plain values, in the order and names of its JSON."""
        return {"schema": self.KIND.schema, **codec.to_dict(self)}

    @classmethod
    def from_dict(cls, values: Saved) -> Self:
        """Read what `to_dict` wrote; raise a ``FairgaugeError`` if it is no such result."""
        called = cls.KIND.called
        try:
            if not isinstance(values, dict):
                raise TypeError(f"it is {display(values)}, not an object of JSON")  # noqa: TRY301
            if values["schema"] != cls.KIND.schema:
                raise ValueError(f"its schema is not {cls.KIND.schema}")  # noqa: TRY301
            result = codec.from_dict(cls, values)
            return scopes.defined_by(result.catalogue, result)
        except KeyError as error:
            field_ = quote(error.args[0])
            raise FairgaugeError(f"this is not {called}: it has no field {field_}") from None
        except (TypeError, ValueError, AttributeError, AssertionError) as error:
            raise FairgaugeError(f"this is not {called}: {error}") from None

    @classmethod
    def json_schema(cls) -> Schema:
        """Return the JSON Schema of what `to_dict` returns."""
        described = codec.json_schema(cls, cls.KIND.title, {"schema": {"const": cls.KIND.schema}})
        return {"description": _NO_TABLES, **described}

    def brief(self) -> Brief:
        """Return the first page: what a reader without statistics learns, as sentences.

        Examples
        --------
        >>> import fairgauge as fg
        >>> counts = fg.confusion("sex", {"F": {"tp": 60, "fn": 140}, "M": {"tp": 150, "fn": 50}})
        >>> words = {"groups": {"sex": {"F": "women", "M": "men"}}, "label_positive": "repaid"}
        >>> brief = fg.audit(counts, metrics="true_positive_rate.difference", words=words).brief()
        >>> print(brief.found[0])
        Of 100 women who repaid, 30 had prediction = 1; of 100 such men, 75.
        """
        with scopes.showing():
            return cast(Brief, function_at(self.KIND.brief)(self))

    def says(self) -> tuple[str, ...]:
        return tuple(filter(None, str(self.brief()).splitlines()))

    @property
    def _statements(self) -> Annotated[tuple[Statement, ...], codec.Key("statements")]:
        return scopes.in_words("page:placed", self) if self.KIND.page else ()

    @property
    def doubts(self) -> tuple[scopes.StatedDoubt, ...]:
        """Return what casts doubt on the rows that are counted, what is accepted included.

        Examples
        --------
        >>> import fairgauge as fg
        >>> rows = {"sex": ["F", "M", "N/A"] * 100, "hired": [1, 0, 1, 0] * 75}
        >>> (found,) = fg.audit(rows, prediction="hired", sensitive="sex").doubts
        >>> found.code, found.column, found.values, found.rows
        (<DiagnosticCode.MISSING_MARKER: 'missing_marker'>, 'sex', ('N/A',), 100)
        """
        counted = getattr(self, "data", None)
        return scopes.stated_doubts(getattr(self, "diagnostics", ()), getattr(counted, "rows", 0))

    def to_json(self) -> str:
        """Return strict JSON, each record in a line; infinities are "Infinity" and "-Infinity"."""
        lines = []
        for key, value in self.to_dict().items():
            of_records = isinstance(value, list) and value and isinstance(value[0], dict)
            text = "[\n" + ",\n".join(map(_json, value)) + "\n]" if of_records else _json(value)
            lines.append(f"{_json(key)}: {text}")
        text = "{\n" + ",\n".join(lines) + "\n}"
        return re.sub(_CONTROLS, lambda found: f"\\u{ord(found[0]):04x}", text)

    def save(
        self, path: str | Path, *, lang: str = "en", words: Mapping[str, object] | None = None
    ) -> None:
        """Write the result in full; the format follows the suffix.

        The file is written whole or not at all. Its first page is in the language ``lang`` ("en",
        "de"), with ``words`` for groups and decisions in that language.

        Raises ``DataError``: the format or language is unknown, or the file cannot be written.
        """
        scopes.in_words("formats:save", self, path, lang=lang, words=words)

    def plot(self, kind: str | None = None, ax: object = None) -> Any:
        """Draw the charts that its HTML has, one ``Axes`` for each metric, rule or comparison.

        Parameters
        ----------
        kind : str, optional
            Of an audit "gaps" (the default), "rules", "rates", "calibration" or "roc".
        ax : matplotlib.axes.Axes, optional
            Where to draw, which takes one chart: that of one metric or rule.

        Returns
        -------
        matplotlib.figure.Figure
            A new figure, unknown to pyplot; with ``ax`` that of ``ax``. Axes have the units of the
            result: differences of rates are shares (0.1 for 10 percentage points).

        Raises
        ------
        DataError
            There is no such kind or nothing to draw of it, ``ax`` is given for several charts, or
            matplotlib (extra ``plot``) is not installed.

        Examples
        --------
        >>> import fairgauge as fg
        >>> counts = fg.confusion("sex", {"F": {"tp": 60, "fn": 140}, "M": {"tp": 150, "fn": 50}})
        >>> report = fg.audit(counts, metrics="true_positive_rate.difference")
        >>> [each.get_title("left") for each in report.plot().axes]
        ['True positive rate difference, compared with others']
        """
        return scopes.in_words("writers.plots:plot", self, kind, ax)

    def to_pandas(self, table: str | None = None) -> Any:
        """Return a table of the result (its first, or the one named) as a pandas frame."""
        return scopes.in_words("streams:to_pandas", self, table)

    def to_polars(self, table: str | None = None) -> Any:
        """Return a table of the result (its first, or the one named) as a polars frame."""
        return scopes.in_words("streams:to_polars", self, table)

    def __str__(self) -> str:
        return cast(str, scopes.in_words("formats:render", self, "text", python=True))

    def __repr__(self) -> str:
        verdict = str(getattr(self, "verdict", "")).replace("_", " ")
        stated = "no rules, so no verdict" if verdict == Outcome.NONE else verdict
        return f"<{type(self).__name__}{': ' * bool(stated)}{stated}; print() shows it>"

    def _repr_html_(self) -> str:
        return cast(str, scopes.in_words("formats:render", self, "notebook"))


CountedRole = Literal["label", "prediction", "sensitive", "strata", "where"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedValue:
    """A value of a column, what it was counted as, and how many rows and cases have it.

    ``value``: its name, after cuts; of amounts their range; None where it is missing, and of rows
    whatever their value. ``as_``: "positive", "negative", "undecided", "missing", "excluded" (by
    conditions), "number", "counted" (by a condition), "others" (in no group of its own),
    "uncounted" (lacks a count or a weight), "further" (a row of a person whose outcome another row
    decides), or the name of the class or group, in quotes where it is one of these. ``others``: of
    so many further values together, which have neither.
    """

    role: CountedRole
    column: str
    value: str | None = None
    as_: str | None = None
    others: int | None = None
    rows: int
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOfRows(ShownResult):
    """A result that counts rows."""

    tally: Annotated[Any, codec.Restored("counted", tuple[CountedValue, ...], tuple)] = field(
        default=(), compare=False, repr=False
    )

    @property
    def counted(self) -> tuple[CountedValue, ...]:
        """Return each value of each column, with what it was counted as; they add up to all rows.

        Examples
        --------
        >>> import fairgauge as fg
        >>> rows = {"sex": ["F", "M"] * 3, "end": ["paid", "open", "lost"] * 2}
        >>> report = fg.audit(rows, label="end", positive="paid", sensitive="sex")
        >>> [(each.value, each.as_, each.rows) for each in report.counted if each.role == "label"]
        [('lost', 'negative', 2), ('open', 'negative', 2), ('paid', 'positive', 2)]
        """
        found: tuple[CountedValue, ...] = getattr(self.tally, "values", self.tally)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOfMetrics(ResultOfRows):
    """A result that names metrics, of which some may be a user's own."""

    own: Annotated[tuple[Statistic, ...], codec.Restored("metrics", Facts, own_rates)] = ()
    """The rates of the user's own: they are saved as facts, among those of all names in use."""

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.own)

    @property
    def metrics(self) -> Facts:
        """Return the facts of the user's own rates, by their names."""
        return self.catalogue.facts(rate.name for rate in self.own)


def find_named(results: Sequence[Result], name: str, key: str = "name") -> Result:
    """Return the result of a name; raise a KeyError that names the others if there is none."""
    known = {getattr(each, key): each for each in results}
    if name in known:
        return known[name]
    there_is, near = listing(known) or "none", suggest(name, known)
    raise KeyError(f"no {key} {quote(name)}; there is {there_is}.{near}")


def result_classes() -> Mapping[str, type[ShownResult]]:
    """Return the classes of results, those of plug-ins too, by the schemas of their files."""
    import fairgauge.results as package

    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    for each in entry_points("fairgauge.results").values():
        each.load()
    return dict(_REGISTRY)


def plug_in_packages() -> tuple[str, ...]:
    """Return the packages of plug-ins with texts or layouts, of the kinds that are imported."""
    return tuple(_PACKAGES)  # a page asks for them hundreds of times


def read_saved(path: str | Path) -> Saved:
    """Return the plain values of a saved file, of whichever schema.

    Raises ``DataError``: there is no such file, or it cannot be read.
    Raises ``CubeError``: the file states no schema, or is truncated.
    """
    content = read_limited(path, MOST_SAVED, "a saved result")
    try:
        return read_saved_text(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError:
        why = "not UTF-8 (of a bundle, fairgauge render FILE writes the report)"
        raise CubeError(f"{quote(path)} is no saved result of fairgauge: {why}") from None


@dataclass(frozen=True, slots=True)
class CountedData:
    """What was counted; of a count column, the cases that its rows stand for."""

    source: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedResult(ResultOfRows):
    """A result of a verb that is a function of counts."""

    DERIVED: ClassVar[tuple[str, ...]] = ("counted", "doubts", "_statements")

    data: CountedData
    diagnostics: tuple[Diagnostic, ...] = ()
    spec: Saved = field(default_factory=dict)

    def withheld(self, why: scopes.WhyWithheld) -> Self:
        """Return it without passes that stand on something doubted; one without passes as it is."""
        del why
        return self


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and the paths in the JSON of what it states: ``estimates[3].interval``."""

    text: str
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The first page of a report, the same sentences in every format.

    ``found`` is the answer to ``question``, the other parts to ``headings``; ``verdict`` what the
    rules come to, empty without rules.
    """

    headline: Sentence
    verdict: tuple[Sentence, ...] = ()
    looked_at: tuple[Sentence, ...] = ()
    found: tuple[Sentence, ...] = ()
    certainty: tuple[Sentence, ...] = ()
    limits: tuple[Sentence, ...] = ()
    steps: tuple[Sentence, ...] = ()
    question: str = ""
    language: str = field(default="en", metadata=NOT_SAVED)
    headings: tuple[str, ...] = field(default=("",) * 4, metadata=NOT_SAVED)

    @property
    def answers(self) -> tuple[tuple[str, tuple[Sentence, ...]], ...]:
        """Return the questions that have an answer, each with its sentences."""
        questions = (self.headings[0], self.question, *self.headings[1:])
        parts = (self.looked_at, self.found, self.certainty, self.limits, self.steps)
        return tuple(each for each in zip(questions, parts, strict=True) if each[1])

    def __str__(self) -> str:
        lines = [*map(str, (self.headline, *self.verdict))]
        for question, sentences in self.answers:
            lines += ["", question, *(f"  {each}" for each in sentences)]
        return "\n".join(lines)


Loaded: TypeAlias = "Cube | ShownResult"
"""What is saved as JSON and can be read back."""
SUFFIX = ".fairgauge"
"""The end of the names of sealed bundles, which `verify` reads."""


def load(path: str | Path) -> Loaded:
    """Load what was saved as JSON: counts, a report, a comparison, a check, a monitor's report.

    What is loaded equals what was saved, and shows itself likewise: ``print(fg.load(path))``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Cube, Report, Change, Alternatives, ThresholdChoice, Check, MonitorReport,
    HistoryHealth, Decomposition, PairsAudit or Planned
        Whichever the file states by its ``schema``.

    Raises
    ------
    DataError
        There is no such file, or it cannot be read.
    CubeError
        The file is of another program, of a schema that is not read back, is truncated, or holds
        counts that were changed.
    FairgaugeError
        The file does not hold what its schema states, or is of a version that is not read.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 2, "fn": 1}, "M": {"tp": 3, "fn": 1}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube.save(f"{folder}/day.cube.json")
    ...     fg.load(f"{folder}/day.cube.json") == cube
    True
    """
    values = read_saved(path)
    schema = str(values["schema"])
    readers: dict[str, type[Cube | ShownResult]] = {SCHEMA: Cube, **result_classes()}
    if schema not in readers:
        known = f"which this version of fairgauge does not read; it reads {', '.join(readers)}"
        raise CubeError(f"{quote(path)} has format {quote(schema)}, {known}")
    try:
        return readers[schema].from_dict(values)
    except FairgaugeError as error:
        raise type(error)(f"{quote(path)}: {error}") from None
