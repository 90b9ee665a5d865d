"""The offline pages of `fairgauge.page` and `fairgauge.explore`, which load no other file."""

from __future__ import annotations

import base64
import gzip
import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jinja2
from jinja2 import nodes
from markupsafe import Markup

from fairgauge.question import category_words
from fairgauge.question.kits import find_kit
from fairgauge.question.specification import read_spec
from fairgauge.render.grammar import LANGUAGES, Grammar
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.numbers import listing
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.start import __version__
from fairgauge.statements.compared import words_of

KEYS = (
    "label", "prediction", "positive", "negative", "sensitive", "intersections", "count", "metrics",
    "rules", "reference", "favourable", "recode", "unknown", "words", "preset", "min_n",
    "min_share", "confidence", "document", "accept", "person",
)  # fmt: skip
"""Keys of a specification that the page can answer."""
_TEXTS = (
    "headline", "nothing_tested", "other_differences", "none_differs", "undecided",
    "nothing_shown", "rules", "no_limit", "rule", "not_asked", "not_four_fifths", "counted", "rows",
    "question",
    "taken_as_better", "counted_as", "differs", "better_off", "they_are_better_off",
    "more", "none_beyond_variation", "interval", "open_because", "inconclusive",
    "caveat", "why_not", "outcome_known", "other_groups",
)  # fmt: skip
"""Codes of the statements that the page can make."""
_SCRIPTS = (
    "cells.js", "closed_forms.js", "words.js", "page_reader.js", "page_words.js", "page_audit.js",
    "page_statements.js", "page_save.js", "explore.js",
)  # fmt: skip


def script_of(computed: Mapping[str, Any], language: str = "en", *, form: bool = True) -> str:
    """Return the script that reads a table and answers the question; with ``form``, its form.

    ``computed`` is what the page takes of the package's numbers: rates, presets, a table to check.
    """
    body = scripts(*_SCRIPTS, *(["page_form.js"] if form else []))
    shown = {*re.findall(r"\bUI\.(\w+)", body), "check_failed"}  # the others stand in the page
    table = LANGUAGES[language]({}).table
    words, titles = table["ask"], table["terms"].get("titles", {})
    called = table["explored"]["called"]
    rates = [e | {"title": titles.get(e["title"], e["title"])} for e in computed["rates"]]
    data = {
        **computed, "rates": rates,
        "called": {key: list(of.values()) for key, of in called.items()}, "language": language,
        "ui": {key: text for key, text in words.items() if key in shown},
        "keys": KEYS, "patterns": category_words.sources(),
    }  # fmt: skip
    texts = script_texts(language, _TEXTS).replace("</", "<\\/")
    head = f"const data={escaped(data)},TEXTS={{{language}:{texts}}};\n"
    return f"(()=>{{'use strict';\n{head}{body}\n}})();"


def audit_page(computed: Mapping[str, Any], language: str = "en") -> str:
    """Return the page; ``computed`` is as in `script_of`, with what is answered already."""
    style = css("first_page.css") + css("audit_page.css")
    unpack = scripts("unpack.js")
    script, named = script_of(computed, language), computed["given"].get("preset")
    packed = base64.b85encode(gzip.compress(script.encode(), mtime=0)).decode()
    return environment().get_template("audit_page.html.j2").render(
        ui=LANGUAGES[language]({}).table["ask"],
        language=language,
        version=__version__,
        title=find_kit(named).title if named else "",
        style=Markup(style),  # noqa: S704 - our own files
        packed=Markup(packed),  # noqa: S704 - has no slash, so it ends no element
        unpack=Markup(unpack),  # noqa: S704 - our own file
        policy=policy(style, unpack, script) + "; worker-src blob:",
    ) + "\n"  # fmt: skip


_OPENS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_EXPLORE_SCRIPTS = ("explore_page.js", "cells.js", "closed_forms.js", "explore.js")


def explore_page(data: Mapping[str, object]) -> str:
    """Return the page that computes every view of the counts, in the words of its question."""
    data = _word_data(data)
    names = [printable(each["name"]) for each in data["columns"]]
    style = css("audit_page.css")
    script = scripts(*_EXPLORE_SCRIPTS)
    words = LANGUAGES["en"]({}).table["ask"]
    data["ui"] = {key: words[key] for key in set(re.findall(r"\bUI\.(\w+)", script))}
    return environment().get_template("explore.html.j2").render(
        title=printable(f"Explore {data['decision'] or data['label']}"),
        lead=words["view"]["counted_by"].format(
            rows=f"{data['rows']:,}", names=listing(names, most=len(names))
        ),
        warnings=list(map(printable, data["warnings"])),
        ui=words,
        counts=Markup(escaped(data)),  # noqa: S704 - its angle brackets are escaped
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy(style, script),
        version=__version__,
        data=data,
    ) + "\n"  # fmt: skip


def _word_data(data: Mapping[str, Any]) -> dict[str, Any]:
    spec = read_spec(data["spec"])
    language, names, own = Grammar(words_of(spec)), spec.words.groups, [*map(dict, data["columns"])]
    for each in own:
        # the names of groups that the user gave; theirs where two would be called the same
        groups, given = each["groups"], names.get(each["name"])
        own_names = [given.get(e, e) if isinstance(given, Mapping) else e for e in groups]
        each["groups"] = own_names if len(set(own_names)) == len(own_names) else [*groups]

    def call(word: str, default: str) -> str:
        return language.words.get(word) or language.say("explored", word) or default

    texts = language.table["explored"]["called"].items()
    called = {key: [call(*each) for each in of.items()] for key, of in texts}
    kept = {key: value for key, value in data.items() if key != "spec"}
    return {**kept, "columns": own, "called": called}


def escaped(value: object) -> str:
    """Return a value as JSON that is safe inside a page."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "".join(_OPENS.get(character, character) for character in text)


# ---- texts of the catalogue as functions of JavaScript, compiled from the tree that Jinja reads.
# What is not below is an error: no text means one thing in Python and another one in a page.

_TABLES = ("terms", "people", "events", "range", "why", "page")
_BINARY = {nodes.Add: "+", nodes.Sub: "-", nodes.Mul: "*", nodes.Div: "/"}
_COMPARED = {"eq": "===", "ne": "!==", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}


def script_texts(language: str, codes: Iterable[str]) -> str:
    """Return an object of JavaScript: the texts of some statements, and of the parts they have."""
    table = LANGUAGES[language]({}).table
    compiler, made, asked = _Compiler(), {}, list(codes)
    while asked:
        code = asked.pop()
        if code not in made and code in table:
            made[code] = compiler.entry(table[code])
            asked += compiler.said
    made["found_title"] = compiler.entry({"audit": table["page"]["found"]["audit"]})
    texts = ",".join(f"{json.dumps(code)}:{text}" for code, text in sorted(made.items()))
    tables = {name: table[name] for name in _TABLES}
    read = {*re.findall(r"\w+", texts + scripts(*_SCRIPTS, "page_form.js"))}
    tables["terms"] = {key: of for key, of in table["terms"].items() if key in read}
    places = ("looked", "found", "certain", "limits", "filled", "of_100")
    tables["page"] = {place: table["page"][place] for place in places if place != "found"}
    held = json.dumps(tables, ensure_ascii=False, separators=(",", ":"))
    return f"{{table:{held},texts:{{{texts}}}}}"


class _Compiler:
    def __init__(self) -> None:
        self.env = jinja2.Environment(autoescape=False, trim_blocks=True)  # noqa: S701 - parses only
        self.said: list[str] = []

    def entry(self, entry: Mapping[str, object]) -> str:
        known = ((key, of) for key, of in entry.items() if isinstance(of, (str, Mapping)))
        made = ((key, self.text(e) if isinstance(e, str) else self.entry(e)) for key, e in known)
        return f"{{{','.join(f'{json.dumps(key)}:{text}' for key, text in made)}}}"

    def text(self, text: str) -> str:
        return f'c=>{{let o="";{self.block(self.env.parse(text).body)}return o}}'

    def block(self, statements: Sequence[nodes.Node]) -> str:
        return "".join(map(self.statement, statements))

    def statement(self, node: nodes.Node) -> str:
        match node:
            case nodes.Output(nodes=parts):
                return f"o+={self.sum(parts)};"
            case nodes.If(test=test, body=body, elif_=[first, *others], else_=last):
                rest = nodes.If(first.test, first.body, others, last)
                return self.statement(nodes.If(test, body, [], [rest]))
            case nodes.If(test=test, body=body, else_=last):
                other = self.block(last)
                made = f"if({self.test(test)}){{{self.block(body)}}}"
                return made + (f"else{{{other}}}" if other else "")
            case nodes.For(target=target, iter=iterable, body=body, test=test):
                taken = self.target(target, "e")
                kept = f".filter(e=>{{{taken}return T({self.of(test)})}})" if test else ""
                run = self.block(body)
                loop = "c.loop={first:!i,last:i===a.length-1};" if "c.loop" in run else ""
                return f"L({self.of(iterable)}){kept}.forEach((e,i,a)=>{{{taken}{loop}{run}}});"
            case nodes.Assign(target=target, node=value):
                return f"{{const e={self.of(value)};{self.target(target, 'e')}}}"
            case nodes.AssignBlock(target=nodes.Name(name=name), body=body):
                return f'c.{name}=(()=>{{let o="";{self.block(body)}return o}})();'
        raise TypeError(f"a text in a page cannot have {node}")

    def sum(self, parts: Sequence[Any]) -> str:
        return "+".join(text for text in map(self.written, parts) if text != '""') or '""'

    def written(self, node: nodes.Node) -> str:
        """Return a part of a text; of a known one, what it comes to."""
        made = self.of(node)
        return made if re.fullmatch(r'"[^"\\]*"', made) else f"S({made})"

    def test(self, node: object) -> str:
        """Return a condition as Python decides it: what is empty is false."""
        return f"T({self.of(node)})"

    def target(self, node: nodes.Node, value: str) -> str:
        if isinstance(node, nodes.Tuple):
            return "".join(self.target(e, f"{value}[{i}]") for i, e in enumerate(node.items))
        assert isinstance(node, nodes.Name)
        return f"c.{node.name}={value};"

    def of(self, node: object) -> str:
        match node:
            case nodes.Const(value=value) | nodes.TemplateData(data=value):
                return json.dumps(value, ensure_ascii=False)
            case nodes.Name(name=name):
                return f"c.{name}"
            case nodes.Getattr(node=of, attr=name):
                return f"{self.of(of)}?.{name}"
            case nodes.Getitem(node=of, arg=nodes.Slice(start=start, stop=stop)):
                ends = self.of(start) if start else "0", self.of(stop) if stop else ""
                return f"{self.of(of)}.slice({','.join(filter(None, ends))})"
            case nodes.Getitem(node=of, arg=key):
                return f"{self.of(of)}?.[{self.of(key)}]"
            case nodes.List(items=items) | nodes.Tuple(items=items):
                return f"[{','.join(map(self.of, items))}]"
            case nodes.Dict(items=pairs):
                return f"{{{','.join(f'[{self.of(p.key)}]:{self.of(p.value)}' for p in pairs)}}}"
            case nodes.CondExpr(test=test, expr1=first, expr2=second):
                other = second or nodes.Const("")
                return f"({self.test(test)}?{self.of(first)}:{self.of(other)})"
            case nodes.Concat(nodes=parts):
                return f"({self.sum(parts)})"
        return self.applied(node)

    def applied(self, node: Any) -> str:
        match node:
            case nodes.And(left=left, right=right):
                return f"({self.test(left)}&&{self.of(right)})"
            case nodes.Or(left=left, right=right):
                return f"O({self.of(left)},()=>{self.of(right)})"
            case nodes.Not(node=of):
                return f"!{self.test(of)}"
            case nodes.Neg(node=of):
                return f"(-{self.of(of)})"
            case nodes.Compare(expr=first, ops=[nodes.Operand(op="in" | "notin" as op, expr=of)]):
                return f"{'!' * (op == 'notin')}I({self.of(first)},{self.of(of)})"
            case nodes.Compare(expr=first, ops=[nodes.Operand(op=op, expr=of)]):
                return f"({self.of(first)}{_COMPARED[op]}{self.of(of)})"
            case _ if type(node) in _BINARY:
                return f"({self.of(node.left)}{_BINARY[type(node)]}{self.of(node.right)})"
            case nodes.Filter(node=of, name=name):
                return f"F.{name}({','.join([self.of(of), *self.arguments(node, name)])})"
            case nodes.Test(node=of, name="none"):
                return f"({self.of(of)}??null)===null"
            case nodes.Call(node=nodes.Name(name="say")):
                code = node.args[0]
                assert isinstance(code, nodes.Const)
                self.said.append(code.value)
                return f"c.state({','.join(self.arguments(node))})"
            case nodes.Call(node=nodes.Getattr(node=of, attr="get")):
                key, *default = self.arguments(node)
                return f"({self.of(of)}?.[{key}]??{default[0] if default else 'null'})"
            case nodes.Call(node=nodes.Getattr(node=of, attr="append")):
                return f"void {self.of(of)}.push({','.join(self.arguments(node))})"
            case nodes.Call(node=of):
                return f"{self.of(of)}({','.join(self.arguments(node))})"
        raise TypeError(f"a text in a page cannot have {node}")

    def arguments(self, call: Any, method: str = "") -> list[str]:
        """Return the arguments of a call; those of a method of languages in its order."""
        named = {each.key: self.of(each.value) for each in call.kwargs}
        given = [*map(self.of, call.args)]
        if named and hasattr(Grammar, method):
            order = [*inspect.signature(getattr(Grammar, method)).parameters][2 + len(given) :]
            last = max(map(order.index, named)) + 1
            return [*given, *(named.get(name, "undefined") for name in order[:last])]
        texts = ",".join(f"{key}:{value}" for key, value in named.items())
        return [*given, *([f"{{{texts}}}"] if texts else [])]
