"""Report: everything an audit found, as one frozen value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.facts import facts_of, own_rates
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.enums import Level, Outcome, Profile, Status, Task
from fairgauge.errors import FairgaugeError, nearest, quote
from fairgauge.report.estimates import Diagnostic, Estimate, Group, Pair, RateValue, ScoreCounts
from fairgauge.report.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from fairgauge.catalogue.statistics import Statistic

SCHEMA = "fairgauge.report/1"


@dataclass(frozen=True, slots=True)
class Data:
    """What was read.

    Attributes
    ----------
    source, fingerprint : where the rows came from, and a digest of their counts.
    rows, cases, used : physical rows, the cases they stand for, and the rows used.
    excluded : physical rows left out, by reason.
    """

    source: str
    fingerprint: str
    rows: int
    cases: float
    used: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an audit found; shows itself in a notebook, and saves itself in any format.

    ``report["AD", "sex", "Female"]`` is one `Estimate`; name a stratum as a fourth part. A metric
    of the whole table is ``report["GE"]``.
    """

    version: str
    created: str
    profile: Profile
    task: Task
    data: Data
    spec: Mapping[str, Any]
    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    verdict: Outcome
    diagnostics: tuple[Diagnostic, ...]
    scores: tuple[ScoreCounts, ...] = ()
    pairs: tuple[Pair, ...] = ()
    own: tuple[Statistic, ...] = ()
    """The rates of the user's own, as far as they can be shown."""

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the report stand for."""
        return Catalogue(self.own)

    def __getitem__(self, key: str | tuple[str | None, ...]) -> Estimate:
        """Return one estimate: metric, feature, group and, if any, stratum.

        Raises
        ------
        KeyError
            There is no such estimate; the message names the nearest.
        """
        parts = (key,) if isinstance(key, str) else key
        metric = self.catalogue.metric(str(parts[0])).name
        wanted = (metric, *parts[1:])
        for each in self.estimates:
            have = (each.metric, each.feature, each.group, each.stratum)
            pooled = len(wanted) < len(have) and each.stratum == "pooled"
            if have[: len(wanted)] == wanted and (len(wanted) > 3 or pooled or not each.stratum):
                return each
        have_names = [f"{e.metric}, {e.feature}, {e.group}" for e in self.estimates]
        asked = ", ".join(str(part) for part in wanted)
        raise KeyError(f"no estimate {quote(asked)}.{nearest(asked, have_names)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, in the order and names of the JSON format."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "fairgauge", "version": self.version},
            "created": self.created,
            "profile": str(self.profile),
            "task": str(self.task),
            "data": _plain(self.data),
            "spec": _plain(self.spec),
            "groups": [_plain(group) for group in self.groups],
            "estimates": [_plain(estimate) for estimate in self.estimates],
            "pairs": [_plain(pair) for pair in self.pairs],
            "verdicts": [_plain(verdict) for verdict in self.verdicts],
            "verdict": str(self.verdict),
            "diagnostics": [_plain(diagnostic) for diagnostic in self.diagnostics],
            "scores": [_plain(each) for each in self.scores],
            "metrics": facts_of(
                (estimate.metric for estimate in self.estimates),
                (rate for group in self.groups for rate in group.rates),
                self.catalogue,
            ),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return strict JSON: infinities are the strings "Infinity" and "-Infinity"."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Report:
        """Read what `to_dict` wrote."""
        return cls(
            version=found["tool"]["version"],
            created=found["created"],
            profile=Profile(found["profile"]),
            task=Task(found["task"]),
            data=Data(**found["data"]),
            spec=found["spec"],
            groups=tuple(_group(each) for each in found["groups"]),
            estimates=tuple(_estimate(each) for each in found["estimates"]),
            verdicts=tuple(
                Verdict(**{**each, "outcome": Outcome(each["outcome"])})
                for each in found["verdicts"]
            ),
            verdict=Outcome(found["verdict"]),
            diagnostics=tuple(
                Diagnostic(**{**each, "level": Level(each["level"])})
                for each in found["diagnostics"]
            ),
            scores=tuple(_score_counts(each) for each in found["scores"]),
            # reports written before pairs were shown have none
            pairs=tuple(_pair(each) for each in found.get("pairs", ())),
            own=own_rates(found.get("metrics", {})),
        )

    def to_pandas(self) -> Any:
        """Return the estimates as a pandas frame, a row each."""
        from fairgauge.render.data_frames import to_pandas

        return to_pandas(self)

    def to_polars(self) -> Any:
        """Return the estimates as a polars frame, a row each."""
        from fairgauge.render.data_frames import to_polars

        return to_polars(self)

    def plot(
        self, kind: str = "disparities", *, feature: str | None = None, names: Sequence[str] = ()
    ) -> Any:
        """Draw the report as an Altair chart, which shows itself in a notebook.

        Parameters
        ----------
        kind : {"disparities", "rates"}
            Disparities with their intervals beside the value that means "no difference", or rates
            of the groups with their intervals.
        feature : str, optional
            The sensitive feature (``sex*race`` for an intersection); all of them by default.
        names : sequence of str
            The metrics, or the rates, to draw; by default every metric of the report, or its
            central rates.

        Returns
        -------
        altair.ConcatChart
            One small chart for every metric or rate; infinite and undefined values are left out.

        Raises
        ------
        MissingExtra
            Altair is not installed; it comes with the extra ``viz``.
        DataError
            There is no such kind or feature, or nothing of it has a value.
        LookupError
            One of the names is unknown.
        """
        from fairgauge.render.altair_charts import plot

        return plot(self, kind, feature=feature, names=names)

    def save(self, path: str | Path) -> None:
        """Write the report, whole or not at all; the format follows the suffix.

        Raises
        ------
        DataError
            The suffix is of no known format, or the file cannot be written.
        """
        from fairgauge.render import save

        save(self, path)

    def __str__(self) -> str:
        from fairgauge.render import render

        return render(self, "text")

    def __repr__(self) -> str:
        return (
            f"<Report of {self.data.rows:,} rows: {len(self.estimates):,} estimates, "
            f"verdict {self.verdict}; print() shows it, .save('report.html') keeps it>"
        )

    def _repr_html_(self) -> str:
        from fairgauge.render import render

        return render(self, "notebook")


def read_report(found: Mapping[str, Any], name: str) -> Report:
    """Read a report from the plain values of its JSON.

    Raises
    ------
    FairgaugeError
        The values are not a report of this version.
    """
    try:
        return Report.from_dict(found)
    except (KeyError, TypeError, ValueError) as error:
        raise FairgaugeError(f"{quote(name)} is not a fairgauge report: {error}") from None


_RENAMED = {"class_": "class"}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, StrEnum):
        return str(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return {_RENAMED.get(f.name, f.name): _plain(getattr(value, f.name)) for f in fields(value)}


_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


def _numbers(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the fields with class renamed and the infinities of number fields as floats."""
    read = {("class_" if key == "class" else key): value for key, value in found.items()}
    for name in names:
        value = read.get(name)
        read[name] = _INFINITIES.get(value, value) if isinstance(value, str) else value
    return read


def _score_counts(found: Mapping[str, Any]) -> ScoreCounts:
    read: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    return ScoreCounts(**read)


def _estimate(found: Mapping[str, Any]) -> Estimate:
    read = _numbers(found, ("value", "low", "high", "rate_group", "rate_reference"))
    return Estimate(**read | {"status": Status(read["status"])})


def _pair(found: Mapping[str, Any]) -> Pair:
    read = _numbers(found, ("ratio", "ratio_low", "ratio_high"))
    return Pair(**read | {"status": Status(read["status"])})


def _group(found: Mapping[str, Any]) -> Group:
    read = _numbers(found, ())
    rates = {}
    for name, each in found["rates"].items():
        rate = _numbers(each, ("value", "low", "high"))
        rates[name] = RateValue(**rate | {"status": Status(rate["status"])})
    return Group(**read | {"rates": rates})
