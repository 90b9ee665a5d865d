"""Any text of what is saved is text in every format, or it is refused in words; it opens no file.

Every text of a saved kind ends in `TEXT` at once, and keys that are names of the data do, so that
what belongs together still does. Those that are not read so, such as our words, are found by
halving.
"""

import contextlib
import io
import json
import operator
import os
import random
import re
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from functools import partial, reduce
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.every_result import result
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cube.cube import Cube, _digest
from fairgauge.question.option_types import DOCUMENT_KEYS, WORD_KEYS
from fairgauge.question.options import BY_NAME
from fairgauge.render.formats import FORMATS, _write_formatted
from fairgauge.render.words import in_language
from fairgauge.render.writers import pdf
from sample_reports import small

KINDS = ("local law 144", "compared reports", "models", "thresholds", "no alarm", "check", "why",
         "find", "pairs", "plan", "history", "alternatives", "counts")  # fmt: skip
TEXT = '<b onmouseover=x>&"\x1b[31m\r\n# REPRODUCED: all\u202e ](https://e.example/x)|=1+1'
ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
GAUGE = re.compile(r'# (HELP|TYPE) .*|# EOF|fairgauge_\w+\{(\w+="([^"\\\n]|\\.)*",?)*\} \S+')
Path = tuple[str | int, ...]
Pattern = tuple[str | int, ...]
OURS = {*BY_NAME, *WORD_KEYS, *DOCUMENT_KEYS}
KEY = -1
"""Ends the place of a key, in that of its value."""
_opened: list[str] = []  # of files, while `LOOKING` is set: no audit hook can be removed
LOOKING: list[bool] = []


def _note_file(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and LOOKING and isinstance(arguments[0], (str, bytes, os.PathLike)):
        _opened.append(os.path.realpath(os.fsdecode(arguments[0])))


sys.addaudithook(_note_file)


def texts_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the places of all texts, and of keys."""
    if isinstance(value, str):
        yield path
    for key, each in value.items() if isinstance(value, dict) else ():
        yield (*path, key, KEY)
        yield from texts_in(each, (*path, key))
    for i, each in enumerate(value) if isinstance(value, list) else ():
        yield from texts_in(each, (*path, i))


def pattern_of(path: Path) -> Pattern:
    """Return a place without the numbers of records."""
    return tuple(0 if isinstance(part, int) and part != KEY else part for part in path)


def with_texts(value: Any, changed: set[Pattern], add: str, at: Pattern = ()) -> Any:
    """Return plain values in which the texts in some places end in a hostile one."""
    if isinstance(value, str):
        return value + add if at in changed else value
    if isinstance(value, list):
        return [with_texts(each, changed, add, (*at, 0)) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key + add if (*at, key, KEY) in changed else key: with_texts(each, changed, add, (*at, key))
        for key, each in value.items()
    }


def accepted(patterns: list[Pattern], takes: Callable[[set[Pattern]], bool]) -> set[Pattern]:
    """Return the places of which all together are taken, found by halving."""
    kept: set[Pattern] = set()

    def add(some: list[Pattern]) -> None:
        if takes(kept | {*some}):
            kept.update(some)
        elif len(some) > 1:
            add(some[: len(some) // 2])
            add(some[len(some) // 2 :])

    add(patterns)
    return kept


class Tags(HTMLParser):
    """Notes what a page holds that acts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.acting: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        acts = [name for name, _ in attributes if name.startswith("on") or name == "style"]
        leads = [value for name, value in attributes if name in ("href", "src", "action")]
        if acts or any("e.example" in (value or "") for value in leads):
            self.acting.append(self.get_starttag_text() or tag)


def wrong_in(shown: str | bytes, name: str) -> str:
    """Return what a text does in a format that texts may not do."""
    if isinstance(shown, bytes):
        with zipfile.ZipFile(io.BytesIO(shown)) as book:
            parts = [book.read(each).decode() for each in book.namelist()]
        trees = [ET.fromstring(part) for part in parts]  # which refuses control characters
        tags = {each.tag.rpartition("}")[2] for tree in trees for each in tree.iter()}
        return "formula or link" if tags & {"f", "hyperlink"} else ""
    if ACTED_ON.search(shown.replace("\r\n", "\n")):
        return "control"
    if "[31m\r\n" in shown or "[31m\n" in shown:
        return "line"
    if name in ("html", "pdf", "notebook"):
        return ", ".join(Tags(shown).acting)
    if name == "json":
        json.loads(shown)
    elif name == "junit":
        ET.fromstring(shown)
    elif name == "openmetrics":
        return next((line for line in shown.splitlines() if not GAUGE.fullmatch(line)), "")
    elif name == "markdown" and "<b onmouseover" in shown:
        return "markup"
    if name == "markdown" and re.search(r"(?<!\\)\]\(https://e", shown):
        return "link"
    return ""


def saved_kind(name: str) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return the plain values of a saved kind, and what reads them."""
    if name != "counts":
        made = fg.compare(small(), small()) if name == "compared reports" else result(name)
        return made.to_dict(), type(made).from_dict
    rows = {"y": ["a", "b"] * 90, "p": ["b"] * 90 + ["a"] * 90, "g": ["F", "M", "M"] * 60}
    asked = {"label": "y", "prediction": "p", "positive": "a", "sensitive": "g"}
    cube = fg.count(pl.DataFrame(rows), **asked, document={"author": "me"})

    def read(values: dict[str, Any]) -> Any:
        counts = {key: value for key, value in values.items() if key != "digest"}
        return Cube.from_dict(counts | {"digest": _digest(counts)})

    return cube.to_dict(), read


def refuses(of: Callable[[], Any]) -> bool:
    """Return whether something is refused; in words, or by what ``render`` explains."""
    try:
        of()
    except Exception:  # which the command line explains
        return True
    return False


def written(read: Any, name: str) -> Any:
    with in_language("en"):
        return _write_formatted(shown_of(read), name, {})


def shown_of(read: Any) -> Any:
    return fg.audit(read) if isinstance(read, Cube) else read


@pytest.mark.parametrize("name", KINDS)
def test_every_text_of_every_kind_in_every_format(name, monkeypatch, tmp_path):
    monkeypatch.setattr(pdf, "print_page", lambda page: page)
    saved, read = saved_kind(name)
    # sentences are derived from the values
    every = [p for p in dict.fromkeys(map(pattern_of, texts_in(saved))) if p[0] != "statements"]

    def is_kept(keys: set[Pattern]) -> bool:  # as a name, not as a key that is unknown and ignored
        def keep() -> None:
            again = json.dumps(read(with_texts(saved, keys, TEXT)).to_dict())
            plain = json.loads(again.replace(json.dumps(TEXT)[1:-1], ""))
            assert keys <= {*map(pattern_of, texts_in(plain))}

        return not refuses(keep)

    taken = accepted(
        [path for path in every if path[-1] != KEY],
        lambda some: not refuses(lambda: read(with_texts(saved, some, TEXT))),
    )
    taken |= accepted([path for path in every if path[-1] == KEY and path[-2] not in OURS], is_kept)
    kind = shown_of(read(saved)).KIND.name
    formats = [e.name for e in FORMATS if e.shows([kind]) and e.name != "bundle"]
    seen: set[Pattern] = set()
    for format_ in formats:

        def shows(some: set[Pattern], format_: str = format_) -> bool:
            return not refuses(lambda: written(read(with_texts(saved, some, TEXT)), format_))

        of = accepted([*taken], shows)
        seen |= of
        assert not wrong_in(written(read(with_texts(saved, of, TEXT)), format_), format_), format_
    assert seen
    # what is opened is none of the files that they name
    path = tmp_path / "trap.toml"
    path.write_text("[kit]")
    asked = with_texts(saved, seen, f"/../../../../../../../..{path}")
    LOOKING.append(True)
    try:
        refuses(lambda: [written(read(asked), format_) for format_ in formats])
    finally:
        LOOKING.clear()
    assert path.resolve() not in _opened


@pytest.mark.parametrize("key", ["", "recode.", "words.", "reference."])
def test_a_key_of_a_specification_ends_no_line(key, tmp_path):
    (tmp_path / "a.csv").write_text("p,g\n1,a\n0,b\n")
    asked: dict[str, Any] = {"prediction": "p", "sensitive": "g"}
    (asked.setdefault(key[:-1], {}) if key else asked)["x\n# REPRODUCED"] = {"a": ["b"]}
    (tmp_path / "a.json").write_text(json.dumps(asked))
    done = CliRunner().invoke(main, ["audit", f"{tmp_path}/a.csv", "-c", f"{tmp_path}/a.json"])
    assert (done.exit_code, "\n# REPRODUCED" in done.output) == (2, False)


@pytest.mark.parametrize("name", KINDS)
def test_no_number_that_its_place_cannot_have_is_read(name):
    """A saved number of 400 digits, or an infinity among whole numbers, was an internal error."""
    saved, read = saved_kind(name)
    saved = json.loads(json.dumps(saved))
    places = {pattern_of(path): path for path in numbers_in(saved)}
    refused = 0
    for *where, last in (
        path for path in places.values() if path[0] not in ("spec", "question", "plan")
    ):
        held = reduce(operator.getitem, where, saved)
        stated, held[last] = held[last], 10**400
        try:
            derived = reduce(operator.getitem, [*where, last], read(saved).to_dict())
        except fg.FairgaugeError:
            refused += 1
        else:
            assert derived == stated, (*where, last)
        held[last] = stated
    assert refused


@pytest.mark.parametrize("name", KINDS)
def test_no_list_is_read_as_a_text_or_a_truth(name, tmp_path, monkeypatch):
    """A saved text that was a list, or a number, was an internal error of ``render``."""
    monkeypatch.chdir(tmp_path)
    saved, _ = saved_kind(name)
    saved, refused = json.loads(json.dumps(saved)), 0
    for *where, last in {
        pattern_of(path): path
        for path in values_in(saved)
        if path[0] not in ("spec", "question", "plan", "diagnostics", "statements")
    }.values():
        held = reduce(operator.getitem, where, saved)
        stated, held[last] = held[last], [[1]]
        text = json.dumps({k: v for k, v in saved.items() if k != "digest"})
        held[last] = stated
        (tmp_path / "a.json").write_text(text)
        done = CliRunner().invoke(main, ["render", "a.json", "--format", "markdown"])
        assert "way it should not" not in done.stderr, (*where, last)
        refused += done.exit_code == 2
    assert refused


@pytest.mark.parametrize("name", KINDS)
def test_any_value_of_another_type_is_refused_in_words_or_shown(name):
    """A null among the parameters of a note was an error of Python in HTML, plots and display."""
    saved, read = saved_kind(name)
    saved, chance = json.loads(json.dumps(saved)), random.Random(name)
    every = [p for p in leaves_in(saved) if p[0] != "statements"]
    places = {pattern_of(path): path for path in chance.sample(every, len(every))}
    noted = [path for path in places.values() if path[0] == "diagnostics"]
    others = [path for path in places.values() if path[0] != "diagnostics"]
    shown = refused = 0
    for *where, last in noted + others[: len(others) if EVERY_CASE else 12]:
        held = reduce(operator.getitem, where, saved)
        stated, held[last] = held[last], chance.choice([None, "x", -1, 1, [], [[1]], {"x": 1}])
        changed = json.loads(json.dumps(saved))
        held[last] = stated
        try:
            found = shown_of(read(changed))
            for of in uses_of(found):
                # what one cannot show another may
                with contextlib.suppress(fg.FairgaugeError):
                    of()
            shown += 1
        except fg.FairgaugeError:
            refused += 1
    assert shown
    assert refused


def uses_of(found: Any) -> Iterator[Callable[[], object]]:
    """Yield what shows a result: every format, its text, display, charts and frames."""
    for each in FORMATS:
        if each.shows([found.KIND.name]) and each.name not in ("bundle", "pdf"):
            yield partial(written, found, each.name)
    yield from (found._repr_html_, found.__str__, found.__repr__, found.says, found.to_pandas)
    for kind in (None, "rules", "rates", "calibration", "roc"):
        yield partial(drawn, found, kind)


def drawn(found: Any, kind: str | None) -> None:
    found.plot(kind)._repr_png_()


def leaves_in(value: Any, path: Path = ()) -> Iterator[Path]:
    every = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else every:
        yield from leaves_in(each, (*path, key))
    if not (isinstance(value, (dict, list)) and value):
        yield path


def values_in(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, (str, bool)):
        yield path
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from values_in(each, (*path, key))


def numbers_in(value: Any, path: Path = ()) -> Iterator[Path]:
    if type(value) in (int, float):
        yield path
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_in(each, (*path, key))
