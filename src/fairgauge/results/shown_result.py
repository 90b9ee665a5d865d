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
import zipfile
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypedDict

from fairgauge.catalogue.facts import Facts, own_rates
from fairgauge.catalogue.lookup import BUILT_IN, Catalogue
from fairgauge.catalogue.statistics import Statistic
from fairgauge.errors import CubeError, quote, shown
from fairgauge.object_stores import MOST_SAVED, is_object, local_path, read_limited, read_object
from fairgauge.results import codec
from fairgauge.results.brief import Brief
from fairgauge.results.codec import Plain, Schema
from fairgauge.results.definitions import defined_by
from fairgauge.results.describers import function_at
from fairgauge.start.entry_points import entry_points
from fairgauge.strict_json import AmbiguousJsonError, read_json
from fairgauge.values import Saved
from fairgauge.version import __version__

_REGISTRY: dict[str, type[ShownResult]] = {}
OwnRates = Annotated[tuple[Statistic, ...], codec.Restored("metrics", Facts, own_rates)]
"""The rates of the user's own: they are saved as facts, among those of all names in use."""


_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Of terminals, and of the direction of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultKind:
    """A kind of result.

    Attributes
    ----------
    name : its word on the command line, of ``fairgauge schema NAME``.
    schema : what its files state as their ``schema``.
    title : the title of its JSON Schema.
    called : the noun for one, with its article, for messages.
    brief : the function that makes its first page; by default from its statements.
    page : the function that states what is on its first page.
    package : of a plug-in, the package whose ``layouts.toml`` and ``texts`` hold its own.
    """

    name: str
    schema: str
    title: str
    called: str
    brief: str = "fairgauge.render.page:brief_of"
    page: str = ""
    package: str = ""


class Stamp(TypedDict):
    """By which version a result is made, and when."""

    version: str
    created: str


def made_now() -> Stamp:
    """Return by which version a result is made that is made now, and when that is."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return {"version": __version__, "created": now}


class ShownResult(ABC):
    """A result that knows its plain values; `print` shows it."""

    __slots__ = ()
    KIND: ClassVar[ResultKind]

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "KIND"):
            _REGISTRY[cls.KIND.schema] = cls

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the result stand for."""
        return BUILT_IN

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command that makes it: 0 where nothing is decided."""
        return 0

    def to_dict(self) -> Plain:
        """Return the result as plain values, in the order and names of its JSON."""
        return {"schema": self.KIND.schema, **codec.to_dict(self)}

    @classmethod
    def from_dict(cls, values: Saved) -> Self:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no such result.
        """
        with codec.reading(cls.KIND.called):
            if not isinstance(values, dict):
                raise TypeError(f"it is {shown(values)}, not an object of JSON")
            if values["schema"] != cls.KIND.schema:
                raise ValueError(f"its schema is not {cls.KIND.schema}")
            result = codec.from_dict(cls, values)
            return defined_by(result.catalogue, result)

    @classmethod
    def json_schema(cls) -> Schema:
        """Return the JSON Schema of what `to_dict` returns."""
        return codec.json_schema(cls, cls.KIND.title, {"schema": {"const": cls.KIND.schema}})

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
        made: Brief = function_at(self.KIND.brief)(self)
        return made

    @property
    def _brief(self) -> Annotated[Brief, codec.Key("brief")]:
        return self.brief()

    def to_json(self, indent: int | None = 2) -> str:
        """Return strict JSON: infinities are the strings "Infinity" and "-Infinity"."""
        text = json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)
        return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    def save(
        self, path: str | Path, *, lang: str = "en", words: Mapping[str, Any] | None = None
    ) -> None:
        """Write the result in full; the format follows the suffix.

        The file is written whole or not at all. Its first page is in the language ``lang`` ("en",
        "de"), with ``words`` for groups and decisions in that language.

        Raises
        ------
        DataError
            The suffix is of no known format, there is no such language, or the file cannot be
            written.
        """
        function_at("fairgauge.render.formats:save")(self, path, lang=lang, words=words)

    def __str__(self) -> str:
        text: str = function_at("fairgauge.render.formats:render")(self, "text", python=True)
        return text

    def _repr_html_(self) -> str:
        page: str = function_at("fairgauge.render.formats:render")(self, "notebook")
        return page


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOfMetrics(ShownResult):
    """A result that names metrics, of which some may be a user's own.

    Attributes
    ----------
    own : the rates of the user's own, as far as they can be shown.
    """

    own: OwnRates = ()

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the result stand for."""
        return Catalogue(self.own)

    @property
    def metrics(self) -> Facts:
        """Return the facts of the user's own rates, by their names."""
        return self.catalogue.facts(rate.name for rate in self.own)


def result_classes() -> Mapping[str, type[ShownResult]]:
    """Return the classes of results by the schemas of their files.

    A class registers itself when it is imported; this imports every module of results, and the
    classes that plug-ins name.
    """
    import fairgauge.results as package

    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    for each in entry_points("fairgauge.results").values():
        each.load()
    return dict(_REGISTRY)


def plug_in_packages() -> tuple[str, ...]:
    """Return the packages of plug-ins with texts or layouts, of the kinds that are imported."""
    return tuple(
        dict.fromkeys(each.KIND.package for each in _REGISTRY.values() if each.KIND.package)
    )


def read_saved(path: str | Path) -> Saved:
    """Return the plain values of a saved file, of whichever schema.

    Raises
    ------
    DataError
        There is no such file, or it cannot be read.
    CubeError
        The file states no schema, or is truncated.
    """
    text = (
        _text(read_object(str(path), MOST_SAVED), path)
        if is_object(path)
        else _read(local_path(path))
    )
    try:
        values: Saved = read_json(text)
        values["schema"]
    except AmbiguousJsonError as error:
        raise CubeError(f"{quote(path)} is no saved result of fairgauge: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise CubeError(
            f"{quote(path)} is no saved result of fairgauge, or is truncated; fairgauge count DATA "
            "-o FILE.cube.json makes a cube, fairgauge audit DATA -o FILE.json a report"
        ) from None
    return values


def _text(content: bytes, name: str | Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CubeError(f"{quote(name)} is no saved result of fairgauge: not UTF-8") from None


def _read(path: Path) -> str:
    try:
        return read_limited(path, MOST_SAVED, "a saved result").decode("utf-8-sig")
    except UnicodeDecodeError:
        if zipfile.is_zipfile(path):
            raise CubeError(
                f"{quote(path)} is an archive; if it is a sealed bundle, fairgauge verify "
                "FILE.fairgauge checks it, and fairgauge render FILE.fairgauge -o FILE.html writes "
                "its report (in Python: fairgauge.verify(path).report)"
            ) from None
        raise CubeError(f"{quote(path)} is no saved result of fairgauge: not UTF-8") from None
