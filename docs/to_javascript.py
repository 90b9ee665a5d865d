"""Translate Python functions to JavaScript, for the pages that audit a table in a browser.

    python docs/to_javascript.py build

writes ``closed_forms.js`` and ``words.js`` there, to be read: the wheel holds them, and a checkout
translates them anew for each page. The functions named in `SCRIPTS` and all that they call are read
from their source, which is not imported. In ``fairgauge.stats`` they are arithmetic on arrays,
element by element, so that on single numbers they are plain expressions; elsewhere a dict is a Map,
a set a Set, a list or tuple an Array, and None null; what JSON holds may be a plain object. Of a
class the methods in `METHODS` are translated, and those that they call. What is not known below is
an error.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

SOURCE = Path(__file__).resolve().parent.parent / "src"
SCRIPTS = {
    "closed_forms.js": {
        "fairgauge.stats.arrays": ("quotient",),
        "fairgauge.stats.intervals": ("wilson", "containing"),
        "fairgauge.stats.contrasts": (
            "mover_difference", "mover_ratio", "far_apart", "score_difference", "score_ratio",
            "difference_from_whole", "ratio_to_whole", "expected_count",
        ),
    },
    "words.js": {
        "fairgauge.values": (
            "plain_number", "meaning", "compact_reading", "is_one_of", "typed_texts",
        ),
        "fairgauge.checks.names": ("same_reading_groups",),
        "fairgauge.scan.identifiers": ("spellings_of",),
        "fairgauge.scan._tabular_files": ("delimiter_of", "lines_above", "_SEPARATOR"),
        "fairgauge.question.category_words": (
            "_fold", "is_adverse", "is_no", "is_undecided", "means_missing", "missing_words",
            "codes_of_missing", "no_groups", "no_outcomes", "may_be_group", "is_total",
            "undecided_refusals", "approved_refusals", "better_outcomes", "is_column_of",
        ),
        "fairgauge.inference.possible": (
            "share_weights", "end_of_share", "share_variance", "relative_standard_error",
            "contrast_limits", "worst_case_limits",
        ),
        "fairgauge.question.rules": ("decide_range", "distance_inside", "split_limit"),
        "fairgauge.statements.audit": ("count_undecided",),
        "fairgauge.statements.sections": ("gravest_of",),
        "fairgauge.statements.compared": ("swap_sides", "stated_values"),
        "fairgauge.render.grammar": ("significant", "unsigned", "Grammar", "German"),
        "fairgauge.resolve.outcomes": ("ways_of_writing",),
        "fairgauge.cube.plan": ("AROUND_CODES",),
        "fairgauge.rowwise.copies": ("copies_of_rows", "are_multiples"),
        "fairgauge.checks.coded_numbers": ("codes_beyond_cuts", "codes_of_counts", "is_price"),
    },
}  # fmt: skip
"""Of each script, the modules and functions that scripts written by hand call."""
METHODS = (
    "name", "whom", "such", "some", "now", "was", "equals", "both", "count", "pick", "numbered",
    "after_number", "listing", "feature", "names", "event", "joined", "comma", "number", "range",
    "inflected", "counted", "by_side",
)  # fmt: skip
"""Methods of classes that scripts call; those that these call are translated, too."""
BY_HAND = ("localised", "place", "_amounts")
"""Methods that pages have in another way, or never call."""

Function: TypeAlias = "ast.FunctionDef | ast.Lambda"


class Unknown(SystemExit):
    """Source that cannot be translated."""

    def __init__(self, where: str, node: ast.AST | str) -> None:
        what = node if isinstance(node, str) else ast.unparse(node)
        super().__init__(f"{where}: cannot translate {what}")


# ---- modules: what their names stand for


class Module(NamedTuple):
    """The source of a module: what it defines, and what it takes from others."""

    name: str
    functions: dict[str, ast.FunctionDef]
    classes: dict[str, ast.ClassDef]
    constants: dict[str, ast.expr]
    imported: dict[str, tuple[str, str]]
    """Of each name, the module it is from, and its name there; of a module no name."""

    def is_of_arrays(self, name: str) -> bool:
        """Return whether a function is arithmetic on arrays: of ``stats``, or of what it takes."""
        function = self.functions.get(name.partition(".")[0])
        taken = "" if function is None else ast.unparse(function.args)
        return self.name.startswith("fairgauge.stats.") or "Array" in taken or "Limits" in taken


@cache
def module(name: str) -> Module:
    """Return a module of ours by its name."""
    path = SOURCE.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    read = Module(name, {}, {}, {}, {})
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.FunctionDef():
                read.functions[node.name] = node
            case ast.ClassDef():
                read.classes[node.name] = node
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                read.constants[target] = value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=True)
                read.constants.update({n.id: v for n, v in pairs if isinstance(n, ast.Name)})
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                read.constants[target] = value
            case ast.ImportFrom(module=str() as source, names=names):
                for each in names:
                    whole = SOURCE.joinpath(*source.split("."), each.name).with_suffix(".py")
                    of = (f"{source}.{each.name}", "") if whole.exists() else (source, each.name)
                    read.imported[each.asname or each.name] = of
            case ast.Import(names=names):
                read.imported.update({e.asname or e.name: (e.name, "") for e in names})
    return read


# ---- what stands for Python's own functions: each is written where it is used

_RUNTIME = {
    "$made": "new Map()",
    "$list": "(x) => Array.isArray(x) ? x : x instanceof Map ? [...x.keys()] : [...x]",
    "$true": "(x) => Boolean(Array.isArray(x) ? x.length :"
    " x instanceof Set || x instanceof Map ? x.size : $plain(x)"
    " ? Object.keys(x).length : x)",
    "$plain": "(x) => Object.prototype.toString.call(x) === '[object Object]'",
    "$len": "(x) => $list(x).length",
    "$in": "(x, of) => of instanceof Set || of instanceof Map ? of.has(x) : of.includes"
    " ? of.includes(x) : Object.hasOwn(of, x)",
    "$at": "(x, i) => x instanceof Map ? x.get(i) : typeof i === 'number' ? x.at(i) : x[i]",
    "$own": "(x) => x instanceof Map ? x : new Map(Object.entries(x))",
    "$count": "(x, y) => (Array.isArray(x) ? x.filter((e) => e === y) : x.split(y).slice(1))"
    ".length",
    "$default": "(x, key, value) => x.get(key) ?? x.set(key, value).get(key)",
    "$float": "(x) => /^[+-]?inf(inity)?$/i.test(x) ? (x.startsWith('-') ? -Infinity : Infinity)"
    " : Number(x)",
    "$get": "(x, key, none = null) => $own(x).get(key) ?? none",
    "$format": "(text, values) => text.replace(/\\{(\\w+)\\}/g, (_, key) => values[key])",
    "$round": "(x, digits) => Number(fixed(x, digits))",
    "$find": "(re, x) => [...x.matchAll($pattern(re.source, `g${re.flags.slice(0, -1)}`))]"
    ".map((found) => found.at(-1))",
    "$slice": "(x, ...ends) => Array.isArray(x) ? x.slice(...ends)"
    ' : [...x].slice(...ends).join("")',
    "$within": "(a, b) => $list(a).every((x) => b.has(x))",
    "$same": "(a, b) => a instanceof Set ? a.size === b.size && $within(a, b) : Array.isArray(a)"
    " ? a.length === b.length && a.every((x, i) => $same(x, b[i])) : a === b",
    "$both": "(a, b) => a instanceof Set ? new Set([...a].filter((x) => b.has(x))) : a & b",
    "$either": "(a, b) => a instanceof Set ? new Set([...a, ...b])"
    " : a instanceof Map ? new Map([...a, ...b]) : a | b",
    "$less": "(a, b) => a instanceof Set ? new Set([...a].filter((x) => !b.has(x))) : a - b",
    "$plus": "(a, b) => Array.isArray(a) ? [...a, ...b] : a + b",
    "$times": "(a, n) => Array.from({ length: a.length * n }, (_, i) => a[i % a.length])",
    "$order": "(a, b) => { if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;"
    " for (let i = 0; i < a.length; i++) { const d = $order(a[i], b[i]); if (d) return d; }"
    " return 0; }",
    "$sorted": "(x, key = (e) => e) => [...$list(x)].sort((a, b) => $order(key(a), key(b)))",
    "$best": "(sign, x, key = (e) => e, none = null) => $list(x).length"
    " ? $list(x).reduce((a, b) => sign * $order(key(b), key(a)) > 0 ? b : a) : none",
    "$gcd": "(a, b) => b ? $gcd(b, a % b) : a",
    "$sum": "(x, from = 0) => $list(x).reduce((a, b) => a + Number(b), from)",
    "$zip": "(...of) => Array.from({ length: Math.min(...of.map($len)) },"
    " (_, i) => of.map((x) => $list(x)[i]))",
    "$while": "(f, x) => { const end = x.findIndex((y) => !f(y));"
    " return end < 0 ? x : x.slice(0, end); }",
    "$next": "(x, none) => x.length ? x[0] : none",
    "$range": "(from, to) => Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i)",
    "$strip": "(x, marks, ends) => { let [a, b] = [0, x.length];"
    " while (ends & 1 && a < b && marks.includes(x[a])) a++;"
    " while (ends & 2 && b > a && marks.includes(x[b - 1])) b--; return x.slice(a, b); }",
    "$pattern": '(text, flags = "") => { const key = `${flags}/${text}`; return $made.get(key)'
    " ?? $made.set(key, new RegExp(text, `u${flags}`)).get(key); }",
    "$exponential": "(x, digits) => x.toExponential(digits).replace(/e(.)(\\d)$/, 'e$10$2')",
    "$general": "(x, digits) => { if (x === 0) return '0';"
    " const power = Number(x.toExponential(digits - 1).split('e')[1]);"
    " const text = power < -4 || power >= digits ? $exponential(x, digits - 1)"
    " : x.toFixed(Math.max(digits - 1 - power, 0));"
    " return text.includes('.') ? text.replace(/\\.?0+($|e)/, '$1') : text; }",
    "$grouped": "(text) => text.replace(/^-?\\d+/, (n) => n.replace(/\\B(?=(\\d{3})+$)/g, ','))",
    "$parted": "(x, by) => { const at = x.indexOf(by);"
    ' return at < 0 ? [x, "", ""] : [x.slice(0, at), by, x.slice(at + by.length)]; }',
    "$search": "(re, x) => re.exec(x)",
    "$match": "(re, x) => $pattern(`^(?:${re.source})`, re.flags.slice(0, -1)).exec(x)",
    "$whole": "(re, x) => $pattern(`^(?:${re.source})$`, re.flags.slice(0, -1)).exec(x)",
    "$sub": "(re, by, x) => x.replace($pattern(re.source, `g${re.flags.slice(0, -1)}`),"
    ' typeof by === "string" ? by : (...found) => by(found))',
}  # fmt: skip
_BUILT_IN = {
    "len": "$len({})", "bool": "$true({})", "sum": "$sum({})", "sorted": "$sorted({})",
    "max": "$best(1, {})", "min": "$best(-1, {})", "list": "[...$list({})]", "abs": "Math.abs({})",
    "tuple": "[...$list({})]", "set": "new Set({})", "frozenset": "new Set({})",
    "dict": "new Map({})", "int": "Math.trunc({})", "float": "$float({})", "str": "String({})",
    "next": "$next({})", "zip": "$zip({})", "enumerate": "$list({}).map((x, i) => [i, x])",
    "reversed": "[...$list({})].reverse()", "round": "$round({})",
    "callable": '(typeof {} === "function")',
}  # fmt: skip
_METHODS = {
    "casefold": '{}.toLowerCase().replaceAll("\\u00df", "ss")', "lower": "{}.toLowerCase()",
    "startswith": "{}.startsWith({})", "endswith": "{}.endsWith({})", "append": "{}.push({})",
    "pop": "{}.pop()", "groups": "{}.slice(1)",
    "findall": "$find({}, {})",
    "isalpha": "/^\\p{{L}}+$/u.test({})", "isdigit": "/^\\p{{Nd}}+$/u.test({})",
    "isdecimal": "/^\\p{{Nd}}+$/u.test({})",
    "isascii": "/^[\\0-\\x7f]*$/.test({})", "items": "[...$own({}).entries()]",
    "keys": "new Set({}.keys())",
    "values": "[...{}.values()]", "add": "{}.add({})", "index": "{}.indexOf({})",
    "replace": "{}.replaceAll({}, {})", "isdisjoint": "!$list({}).some((x) => $in(x, {}))",
    "issuperset": "((s, x) => $within(x, s))({}, {})", "union": "$either({}, {})",
    "setdefault": "$default({}, {}, {})", "count": "$count({}, {})",
}  # fmt: skip
_TRUTHS = {"startswith", "endswith", "isalpha", "isdigit", "isdecimal", "isascii", "isdisjoint",
    "issuperset"}  # fmt: skip
_OF_MODULES = {
    ("math", "isfinite"): "Number.isFinite({})", ("math", "isnan"): "Number.isNaN({})",
    ("math", "isinf"): "(Math.abs({}) === Infinity)", ("math", "sqrt"): "Math.sqrt({})",
    ("math", "log"): "Math.log({})", ("math", "floor"): "Math.floor({})",
    ("math", "ceil"): "Math.ceil({})", ("math", "log10"): "Math.log10({})",
    ("math", "gcd"): "[0, {}].reduce($gcd)", ("math", "prod"): "{}.reduce((a, b) => a * b, 1)",
    ("unicodedata", "normalize"): "{1}.normalize({0})",
    ("unicodedata", "combining"): "/\\p{{M}}/u.test({})",
    ("itertools", "accumulate"): "((x, a = 0) => x.map((y) => a += y))({})",
    ("itertools", "pairwise"): "((x) => x.slice(1).map((y, i) => [x[i], y]))($list({}))",
}  # fmt: skip
_NATIVE = {
    "name_of": '(value) => value === null ? "(missing)" : String(value)',
    "_has": "(text, ...names) => names.some((name) => PATTERNS[name].test(text))",
    "_compile": "([name]) => PATTERNS[name]",
    "_OWN": "{ get: () => [] }",  # a page has no words of a user's own
    "called": "(name) => shownName(name)",
    "_share": "(side) => side?.n && side.rate !== null ? [side.hits, side.n, true] : null",
    "within_quotes": "(name) => withinQuotes(name)",
    "_cells_of": "(line) => cellsOfLine(line)",
    "gap": "(contrast) => contrast.gap",
    "numbers_of": "(texts) => texts.map(Number)",
}
"""What pages have in another way than Python."""
_WORD = r"\p{L}\p{N}_"
_EDGE = f"(?:(?<![{_WORD}])(?=[{_WORD}])|(?<=[{_WORD}])(?![{_WORD}]))"
_CLASSES = {r"[^\W\d_]": r"\p{L}", r"[\W_]": r"[^\p{L}\p{N}]", r"[^\W_]": r"[\p{L}\p{N}]"}
_ESCAPED = {"w": f"[{_WORD}]", "W": f"[^{_WORD}]", "b": _EDGE, "d": r"\p{Nd}", "D": r"\P{Nd}"}
_IN_CLASS = {"w": _WORD, "d": r"\p{Nd}"}
_PLAIN_ESCAPES = re.compile(r"\\([\"' #&%:;<=>@_`~!,-])")


def pattern(text: str) -> str:
    """Return a regular expression of Python's as scripts have it, letters of all languages."""

    def escaped(held: re.Match[str], known: dict[str, str]) -> str:
        return known.get(held[1], held[0])

    def part(held: re.Match[str]) -> str:
        one = held[0]
        if one in _CLASSES:
            return _CLASSES[one]
        if one[0] == "[":
            if re.search(r"\\[WDB]", one):
                raise Unknown("a pattern", one)
            return re.sub(r"\\(.)", lambda each: escaped(each, _IN_CLASS), one)
        return re.sub(
            r"\\(.)", lambda each: escaped(each, _ESCAPED), _PLAIN_ESCAPES.sub(r"\1", one)
        )

    return re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", part, text, flags=re.DOTALL)


_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
}  # fmt: skip
_DISPATCHED = {
    ast.Add: "$plus", ast.Sub: "$less", ast.BitOr: "$either", ast.BitAnd: "$both",
}  # fmt: skip
_COMPARED = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!==",
    ast.Is: "===", ast.IsNot: "!==",
}  # fmt: skip
_RESERVED = {"new", "var", "function", "default", "case", "delete", "this", "const", "let",
    "static", "switch", "void", "typeof", "enum", "export", "package", "interface"}  # fmt: skip
_SETS = (ast.Set, ast.SetComp)
_NUMPY = {
    "sqrt": "Math.sqrt", "hypot": "Math.hypot", "maximum": "Math.max", "minimum": "Math.min",
    "abs": "Math.abs", "sign": "Math.sign", "arccos": "Math.acos", "cos": "Math.cos",
    "tan": "Math.tan", "arctan2": "Math.atan2", "isnan": "Number.isNaN",
    "isfinite": "Number.isFinite",
}  # fmt: skip
_NUMPY_CONSTANTS = {"pi": "Math.PI", "inf": "Infinity", "nan": "NaN"}
_OF_LIKE = {"zeros_like": "0", "ones_like": "1"}
_SAME = ("floats", "as_floats", "asarray", "float")
"""Calls that change nothing of a number."""


class Script:
    """A script: all that some functions need, in an order in which it can run."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self.asked: list[str] = []

    def text(self, title: str, names: Iterable[str]) -> str:
        body = "\n".join(self.written.values())
        used, more = set[str](), {*re.findall(r"\$[a-z]+\b", body)}
        while more - used:
            used |= more
            more = {e for name in used for e in re.findall(r"\$[a-z]+\b", _RUNTIME.get(name, ""))}
        held = [f"const {name} = {of};" for name, of in _RUNTIME.items() if name in used]
        named = ", ".join(names)
        head = f"// {title}: translated from its Python source\nconst {{ {named} }} = (() => {{"
        return "\n".join([head, *held, body, f"return {{ {named} }};", "})();", ""])

    def take(self, source: str, name: str) -> str:
        """Write what a name of a module stands for, and return its name in the script."""
        held = module(source)
        if name in held.imported:
            source, name = held.imported[name]
            held = module(source)
        made = name + "_" * (name in _RESERVED)
        if self.owners.setdefault(made, source) != source:
            raise Unknown(source, f"{name}, which {self.owners[made]} has, too")
        if made in self.written:
            return made
        self.written[made] = ""  # it may call itself
        if name in _NATIVE:
            text = _NATIVE[name]
        elif name in held.functions:
            text = Translator(self, held, name).function(held.functions[name])
        elif name in held.classes:
            text = self.of_class(held, held.classes[name])
        elif name in held.constants:
            translator = Translator(self, held, name)
            translator.local = _stored(ast.walk(held.constants[name]))
            text = translator.of(held.constants[name])
        else:
            raise Unknown(source, name)
        del self.written[made]  # after all that it needs
        self.written[made] = f"const {made} = {text};"
        return made

    def of_class(self, held: Module, node: ast.ClassDef) -> str:
        """Return a class with the methods that scripts call, and all that these call."""
        own = {e.name: e for e in node.body if isinstance(e, ast.FunctionDef)}
        bases = [e.id for e in node.bases if isinstance(e, ast.Name) and e.id in held.classes]
        head = f"class extends {self.take(held.name, bases[0])} {{" if bases else "class {"
        texts: dict[str, str] = {}
        self.asked += METHODS
        while more := [e for e in own if e in self.asked and e not in (*texts, *BY_HAND)]:
            for name in more:
                translator = Translator(self, held, f"{node.name}.{name}")
                translator.methods = _methods(held, node)
                texts[name] = translator.method_of(own[name])
        return "\n".join([head, *texts.values(), "}"])


class Translator:
    """Translates one function of a module, or one constant."""

    def __init__(self, script: Script, held: Module, name: str) -> None:
        self.script, self.module, self.name = script, held, name
        self.is_of_arrays = held.is_of_arrays(name)
        self.local: set[str] = set()
        self.inner: dict[str, ast.FunctionDef] = {}
        self.truths: set[str] = set()
        self.methods: dict[str, ast.FunctionDef] = {}
        """Of the class that the function is of."""

    def unknown(self, node: ast.AST | str) -> Unknown:
        return Unknown(f"{self.module.name}.{self.name}", node)

    # ---- functions and statements

    def method_of(self, tree: ast.FunctionDef) -> str:
        head, body = self.head_and_body(tree)
        return (
            f"{tree.name}({head}) {body if body[:2] == '{' + chr(10) else f'{{ return {body}; }}'}"
        )

    def function(self, tree: ast.FunctionDef) -> str:
        return "({}) => {}".format(*self.head_and_body(tree))

    def head_and_body(self, tree: ast.FunctionDef) -> tuple[str, str]:
        head = self.arguments(tree.args)
        held = [*tree.args.args, *tree.args.kwonlyargs]
        parameters = {each.arg for each in held}
        self.truths |= {a.arg for a in held if getattr(a.annotation, "id", "") == "bool"}
        nodes = [e for each in tree.body for e in _own_nodes(each)]
        new = _stored(nodes)
        self.inner |= {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
        self.local |= _stored(ast.walk(tree)) | set(self.inner)
        body = [e for e in tree.body if not _is_docstring(e)]
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value and not new:
            return head, self.returned(body[0].value, tree)
        fresh = ", ".join(map(_legal, sorted(new - parameters)))
        made = "".join(self.statement(each, tree) for each in body)
        return head, f"{{\n{f'let {fresh};' if fresh else ''}{made}\n}}"

    def returned(self, value: ast.expr, tree: ast.FunctionDef) -> str:
        truth = getattr(tree.returns, "id", "") == "bool"
        text = self.test(value) if truth else self.of(value)
        return f"({text})" if text.startswith("{") else text

    def arguments(self, arguments: ast.arguments) -> str:
        given = [e for e in arguments.args if e.arg != "self"] + arguments.kwonlyargs
        self.local |= {each.arg for each in given}
        plain = len(given) - len(arguments.kwonlyargs) - len(arguments.defaults)
        defaults = [None] * plain + [*arguments.defaults, *arguments.kw_defaults]
        texts = [_legal(each.arg) + (f" = {self.of(default)}" if default else "")
                 for each, default in zip(given, defaults, strict=True)]  # fmt: skip
        if arguments.vararg:
            self.local.add(arguments.vararg.arg)
            texts.append(f"...{arguments.vararg.arg}")
        return ", ".join(texts)

    def block(self, body: Iterable[ast.stmt], tree: ast.FunctionDef) -> str:
        return f"{{{''.join(self.statement(each, tree) for each in body)}\n}}"

    def statement(self, node: ast.stmt, tree: ast.FunctionDef) -> str:
        return "\n" + self.line(node, tree)

    def line(self, node: ast.stmt, tree: ast.FunctionDef) -> str:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert():
                return ""
            case ast.Expr(value=value):
                return f"{self.of(value)};"
            case ast.FunctionDef():
                of = Translator(self.script, self.module, f"{self.name}.{node.name}")
                of.local, of.inner, of.truths = {*self.local}, self.inner, {*self.truths}
                of.methods = self.methods
                return f"const {node.name} = {of.function(node)};"
            case ast.Return(value=value):
                return f"return {self.returned(value, tree)};" if value else "return null;"
            case (
                ast.If(test=test, body=body, orelse=other)
                | ast.While(test=test, body=body, orelse=other)
            ) if isinstance(node, ast.If) or not other:
                word = type(node).__name__.lower()
                rest = f" else {self.block(other, tree)}" if other else ""
                return f"{word} ({self.test(test)}) {self.block(body, tree)}{rest}"
            case ast.For(
                target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=[count]), body=body
            ) if self.is_of_arrays:
                head = f"for (let step = 0; step < {self.of(count)}; step++)"
                return f"{head} {self.block(body, tree)}"
            case ast.For(target=target, iter=of, body=body, orelse=[]):
                run = self.block(body, tree)
                return f"for ({self.target(target)} of {self.items(of)}) {run}"
            case ast.Continue() | ast.Break():
                return f"{type(node).__name__.lower()};"
            case ast.Assign() if self.is_of_arrays:
                return self.of_arrays(node)
            case ast.Assign(targets=[ast.Subscript(value=of, slice=key)], value=value):
                return f"{self.of(of)}.set({self.of(key)}, {self.of(value)});"
            case ast.Assign(targets=[target], value=value):
                text = self.of(value)
                unpacked = isinstance(target, ast.Tuple) and not isinstance(value, ast.Tuple)
                text = f"$list({text})" if unpacked else text
                if isinstance(target, ast.Name) and self.is_truth(value):
                    self.truths.add(target.id)
                return f"{self.target(target)} = {text};"
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return f"{self.target(target)} = {self.of(value)};"
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value):
                both = ast.BinOp(ast.Name(target.id, ast.Load()), operator, value)
                return f"{self.target(target)} = {self.of(both)};"
        raise self.unknown(node)

    def target(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return _legal(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                names = map(self.target, parts)
                return f"[{', '.join('' if name == '_' else name for name in names)}]"
            case ast.Starred(value=value):
                return f"...{self.target(value)}"
        raise self.unknown(node)

    # ---- arithmetic on arrays, of which a script has one element

    def of_arrays(self, node: ast.Assign) -> str:
        match node.targets[0], node.value:
            case ast.Tuple(elts=new), ast.Call(args=old) as call if _called(call) == "floats":
                return self.renamed(new, old)
            case ast.Tuple(elts=new), ast.Call(
                func=ast.Name(id="map"), args=[_, ast.Tuple(elts=old)]
            ):
                return self.renamed(new, old)
            case ast.Subscript() as place, value:
                return self.in_places([place], [value])
            case ast.Tuple(elts=[ast.Subscript(), *_] as places), ast.Tuple(elts=values):
                return self.in_places(places, values)
            case target, value:
                made = self.of(value)
                return "" if made == self.target(target) else f"{self.target(target)} = {made};"
        raise self.unknown(node)

    def renamed(self, new: Sequence[ast.expr], old: Sequence[ast.expr]) -> str:
        pairs = ((self.target(n), self.of(o)) for n, o in zip(new, old, strict=True))
        return "\n".join(f"{n} = {o};" for n, o in pairs if n != o)

    def in_places(self, places: Sequence[ast.expr], values: Sequence[ast.expr]) -> str:
        made = []
        for place, value in zip(places, values, strict=True):
            assert isinstance(place, ast.Subscript)
            where = self.of(place.slice)
            made.append(f"if ({where}) {self.of(place.value)} = {self.of(value)};")
        return "\n".join(made)

    def numpy(self, call: ast.Call) -> str | None:
        """Return a call that is done to each element; None of another one."""
        name, arguments = _called(call), call.args
        if name in _SAME:
            return self.of(arguments[0])
        if name == "where":
            return "({} ? {} : {})".format(*map(self.of, arguments))
        if name == "full_like":
            return self.of(arguments[1])
        if name in _OF_LIKE:
            return _OF_LIKE[name]
        texts = [t for each in arguments for t in self.elements(each)]
        if name == "clip":
            return "Math.min(Math.max({}, {}), {})".format(*texts)
        if name == "isinf":
            return f"(Math.abs({texts[0]}) === Infinity)"
        if isinstance(call.func, ast.Attribute) and name in _NUMPY and not call.keywords:
            return f"{_NUMPY[name]}({', '.join(texts)})"
        if isinstance(call.func, ast.Name) and not call.keywords:
            return f"{self.of(call.func)}({', '.join(texts)})"
        return None

    def elements(self, node: ast.expr) -> list[str]:
        """Return an argument; of arrays that are made of several numbers, these numbers."""
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call):
            assert _called(node.value) == "floats"
            return [self.of(each) for each in node.value.args]
        return [self.of(node)]

    # ---- expressions

    def test(self, node: ast.expr) -> str:
        """Return a condition as Python decides it: what is empty is false."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                sign = " && " if isinstance(operator, ast.And) else " || "
                return f"({sign.join(map(self.test, values))})"
            case ast.UnaryOp(op=ast.Not(), operand=of):
                return f"!{self.test(of)}"
            case ast.Call(func=ast.Name(id="bool"), args=[of]):
                return self.test(of)
            case _ if self.is_of_arrays or self.is_truth(node):
                return self.of(node)
        return f"$true({self.of(node)})"

    def is_truth(self, node: ast.expr) -> bool:
        match node:
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
                return True
            case ast.BoolOp(values=values):
                return all(map(self.is_truth, values))
            case ast.Name(id=name):
                return name in self.truths
            case ast.Call(func=ast.Name(id="any" | "all" | "isinstance" | "bool" | "callable")):
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in _TRUTHS:
                return True
            case ast.Call(func=func):
                return getattr(getattr(self.callee(func), "returns", None), "id", "") == "bool"
        return False

    def callee(self, func: ast.expr) -> ast.FunctionDef | None:
        """Return the function of ours that is called; None of another one."""
        match func:
            case ast.Name(id=name) if name in self.inner:
                return self.inner[name]
            case ast.Attribute(value=ast.Name(id="self") | ast.Call(), attr=name):
                return self.methods.get(name)
            case ast.Name(id=name) if name not in self.local:
                source, name = self.module.imported.get(name, (self.module.name, name))
            case ast.Attribute(value=ast.Name(id=of), attr=name) if of in self.module.imported:
                source, _ = self.module.imported[of]
            case _:
                return None
        return module(source).functions.get(name) if source.startswith("fairgauge") else None

    def items(self, node: ast.expr) -> str:
        """Return what is iterated over as an Array."""
        made = self.of(node)
        plain = made.startswith(("[", "$sorted(", "$zip(", "$range(", "$list("))
        return made if plain and not made.startswith("[0") else f"$list({made})"

    def comprehended(
        self, node: ast.expr, value: str, generators: Sequence[ast.comprehension]
    ) -> str:
        (first, *rest) = generators
        target = self.target(first.target)
        made = self.items(first.iter)
        if any(isinstance(e, ast.NamedExpr) for each in first.ifs for e in ast.walk(each)):
            if rest or len(first.ifs) > 1:
                raise self.unknown(node)
            return f"{made}.flatMap(({target}) => {self.test(first.ifs[0])} ? [{value}] : [])"
        made += "".join(f".filter(({target}) => {self.test(each)})" for each in first.ifs)
        if rest:
            return f"{made}.flatMap(({target}) => {self.comprehended(node, value, rest)})"
        return made if value == target else f"{made}.map(({target}) => {value})"

    def of(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=None):
                return "null"
            case ast.Constant(value=bool() as value):
                return str(value).lower()
            case ast.Constant(value=int() | float() as value):
                return repr(value)
            case ast.Constant(value=str() as value):
                return json.dumps(value)
            case ast.Name(id="self" | "dict" as name):
                return {"self": "this", "dict": "$dict"}[name]
            case ast.Name(id=name):
                return _legal(name) if name in self.local else self.named(name)
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in _NUMPY_CONSTANTS:
                return _NUMPY_CONSTANTS[name]
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _NUMPY_CONSTANTS:
                return _NUMPY_CONSTANTS[name]
            case ast.Attribute(value=ast.Name(id=of), attr=name) if of in self.module.imported:
                source, own = self.module.imported[of]
                if own:
                    return self.member(source, own, name)
                return self.script.take(source, name)
            case ast.Attribute(value=of, attr=name):
                return f"{self.of(of)}.{name}"
        return self.collection(node)

    def collection(self, node: ast.expr) -> str:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return f"[{', '.join(map(self.part, parts))}]"
            case ast.Set(elts=parts):
                return f"new Set([{', '.join(map(self.part, parts))}])"
            case ast.Dict(keys=keys, values=values) if None not in keys:
                pairs = (
                    f"[{self.of(k)}, {self.of(v)}]" for k, v in zip(keys, values, strict=True) if k
                )
                return f"new Map([{', '.join(pairs)}])"
            case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value):
                return self.comprehended(node, self.of(value), node.generators)
            case ast.SetComp(elt=value) if not isinstance(value, ast.Tuple):  # are other Arrays
                return f"new Set({self.comprehended(node, self.of(value), node.generators)})"
            case ast.DictComp(key=key, value=value):
                pair = f"[{self.of(key)}, {self.of(value)}]"
                return f"new Map({self.comprehended(node, pair, node.generators)})"
        return self.operation(node)

    def operation(self, node: ast.expr) -> str:
        match node:
            case ast.NamedExpr(target=target, value=value):
                return f"({self.target(target)} = {self.of(value)})"
            case ast.Lambda(args=arguments, body=body):
                return f"(({self.arguments(arguments)}) => {self.of(body)})"
            case ast.JoinedStr(values=parts):
                return f"`{''.join(self.piece(each, json.dumps) for each in parts)}`"
            case ast.IfExp(test=test, body=body, orelse=other):
                return f"({self.test(test)} ? {self.of(body)} : {self.of(other)})"
            case ast.BoolOp() if all(map(self.is_truth, node.values[:-1])):
                sign = " && " if isinstance(node.op, ast.And) else " || "
                return f"({sign.join(map(self.of, node.values))})"
            case ast.BoolOp(values=[first, *rest]):
                other = self.of(ast.BoolOp(node.op, rest)) if len(rest) > 1 else self.of(rest[0])
                one = self.of(first)
                both = (other, one) if isinstance(node.op, ast.And) else (one, other)
                return "({} ? {} : {})".format(self.test(first), *both)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=of):
                return f"!{self.test(of)}"
            case ast.UnaryOp(op=ast.USub(), operand=of):
                return f"(-{self.of(of)})"
            case ast.BinOp():
                return self.binary(node)
            case ast.Compare():
                return self.compared(node)
            case ast.Subscript(value=of, slice=ast.Slice(lower=low, upper=high, step=None)):
                ends = [self.of(low) if low else "0", *([self.of(high)] if high else [])]
                return f"$slice({self.of(of)}, {', '.join(ends)})"
            case ast.Subscript(value=of, slice=key):
                return f"$at({self.of(of)}, {self.of(key)})"
            case ast.Call():
                return self.call(node)
        raise self.unknown(node)

    def part(self, node: ast.expr) -> str:
        return f"...{self.items(node.value)}" if isinstance(node, ast.Starred) else self.of(node)

    def piece(self, node: ast.expr, quoted: object) -> str:
        """Return a part of a text that is filled in."""
        match node:
            case ast.Constant(value=str() as value):
                text = pattern(value) if quoted is pattern else value
                return re.sub(r"[`$\\]", r"\\\g<0>", text)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return f"${{{self.of(value)}}}"
            case ast.FormattedValue(value=value, conversion=-1, format_spec=ast.JoinedStr() as how):
                return f"${{{self.formatted(self.of(value), how)}}}"
        raise self.unknown(node)

    def formatted(self, value: str, how: ast.JoinedStr) -> str:
        """Return a number as its format writes it, of so many digits."""
        given = "".join(
            e.value if isinstance(e, ast.Constant) else "#" if isinstance(e, ast.FormattedValue)
            and isinstance(e.value, ast.Name) else "?" for e in how.values
        )  # fmt: skip
        found = re.fullmatch(r"(,?)(?:\.(\d+|#))?([efg])", given)
        if found is None or (found[1] and found[3] != "f"):
            raise self.unknown(how)
        names = [self.of(e.value) for e in how.values if isinstance(e, ast.FormattedValue)]
        digits = names[0] if names else found[2] or "6"
        name = {"e": "$exponential", "g": "$general", "f": "fixed"}[found[3]]
        made = f"{name}({value}, {digits})"
        return f"$grouped({made})" if found[1] else made

    def named(self, name: str) -> str:
        source, own = self.module.imported.get(name, (self.module.name, name))
        if (source, own) == ("string", "ascii_letters"):
            return '"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"'
        if source == "math" and own in _NUMPY_CONSTANTS:
            return _NUMPY_CONSTANTS[own]
        if not source.startswith("fairgauge"):
            raise self.unknown(name)
        return self.script.take(self.module.name, name)

    def member(self, source: str, of: str, name: str) -> str:
        """Return a member of an enumeration as its text."""
        held = module(source)
        match held.constants.get(of):
            case ast.Call(
                func=ast.Name(id="StrEnum"), args=[_, ast.Constant(value=str() as names)]
            ):
                if name in names.split():
                    return json.dumps(name.lower())
            case ast.Call(func=ast.Name(id="StrEnum"), args=[_, ast.Dict() as pairs]):
                if name in (texts := ast.literal_eval(pairs)):
                    return json.dumps(texts[name])
        for each in held.classes[of].body if of in held.classes else ():
            match each:
                case ast.Assign(
                    targets=[ast.Name(id=own)], value=ast.Constant(value=str() as value)
                ) if own == name:
                    return json.dumps(value)
        raise self.unknown(f"{of}.{name}")

    def binary(self, node: ast.BinOp) -> str:
        match node:
            case ast.BinOp(ast.Constant(int() | float() as x), ast.Pow(), ast.Constant(y)):
                return repr(float(x) ** float(y))  # engines differ in the last digit
        left, right = self.of(node.left), self.of(node.right)
        of = type(node.op)
        if self.is_of_arrays and of in (ast.BitAnd, ast.BitOr):
            return f"({left} {'&&' if of is ast.BitAnd else '||'} {right})"
        if isinstance(node.left, ast.List) and of is ast.Mult:
            return f"$times({left}, {right})"
        if of is ast.Mod:
            return f"((a, b) => ((a % b) + b) % b)({left}, {right})"
        if of is ast.FloorDiv:
            return f"Math.floor({left} / {right})"
        plain = self.is_of_arrays or any(map(_is_number, (node.left, node.right)))
        if of in _DISPATCHED and not plain:
            return f"{_DISPATCHED[of]}({left}, {right})"
        if of in _BINARY:
            return f"({left} {_BINARY[of]} {right})"
        raise self.unknown(node)

    def compared(self, node: ast.Compare) -> str:
        made, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            made.append(self.pair(left, operator, right))
            left = right
        return made[0] if len(made) == 1 else f"({' && '.join(made)})"

    def pair(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        category = _called(left) if isinstance(left, ast.Call) else ""
        a, b = "" if category == "category" else self.of(left), self.of(right)
        match operator:
            case ast.Eq() | ast.NotEq() if category == "category" and b == '"Cf"':
                text = self.of(left.args[0]) if isinstance(left, ast.Call) else ""
                return f"{'!' * isinstance(operator, ast.NotEq)}/\\p{{Cf}}/u.test({text})"
            case ast.In() | ast.NotIn():
                return f"{'!' * isinstance(operator, ast.NotIn)}$in({a}, {b})"
            case ast.Eq() | ast.NotEq() if not (
                self.is_of_arrays or any(isinstance(e, ast.Constant) for e in (left, right))
            ):
                return f"{'!' * isinstance(operator, ast.NotEq)}$same({a}, {b})"
            case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() if self.is_set(left) or self.is_set(
                right
            ):
                one, two = (a, b) if isinstance(operator, (ast.Lt, ast.LtE)) else (b, a)
                less = isinstance(operator, (ast.Lt, ast.Gt))
                more = f" && {one}.size < {two}.size" if less else ""
                return f"($within({one}, {two}){more})"
            case ast.Is() | ast.IsNot() if b == "null":
                return f"({a} {'==' if isinstance(operator, ast.Is) else '!='} null)"
        return f"({a} {_COMPARED[type(operator)]} {b})"

    def is_set(self, node: ast.expr) -> bool:
        made = isinstance(node, ast.Call) and _called(node) in ("set", "frozenset")
        return made or isinstance(node, _SETS)

    # ---- calls

    def call(self, node: ast.Call) -> str:
        if self.is_of_arrays:
            made = self.numpy(node)
            if made is None:
                raise self.unknown(node)
            return made
        match node.func:
            case ast.Subscript(value=ast.Name() as kind):  # set[str]()
                return self.call(ast.Call(kind, node.args, node.keywords))
            case ast.Name(id="any" | "all" as name) if name not in self.local:
                return self.every(node.args[0], "some" if name == "any" else "every")
            case ast.Attribute(
                value=ast.Name(id="self") | ast.Call(func=ast.Name(id="super")) as of, attr=name
            ):
                self.script.asked.append(name)
                whose = "this" if isinstance(of, ast.Name) else "super"
                return f"{whose}.{name}({', '.join(self.given(node))})"
            case ast.Name(id="map"):
                of, *lists = node.args
                made = [self.items(each) for each in lists]
                if len(made) == 1:
                    return f"{made[0]}.map((x) => {self.applied(of, ['x'])})"
                more = [f"y[{i}]" for i in range(len(made))]
                return f"$zip({', '.join(made)}).map((y) => {self.applied(of, more)})"
            case ast.Name(id="filter"):
                of, items = node.args
                test = "$true(x)" if isinstance(of, ast.Constant) else self.applied(of, ["x"])
                return f"{self.items(items)}.filter((x) => {test})"
            case ast.Name(id=name) if name in self.local:
                return f"{_legal(name)}({', '.join(self.given(node))})"
            case ast.Attribute(value=ast.Name(id="re"), attr=name):
                return self.expression(name, node)
            case ast.Attribute(value=ast.Name(id=of), attr=name) if (of, name) in _OF_MODULES:
                return _OF_MODULES[of, name].format(*map(self.part, node.args))
            case ast.Name(id=name) if self.module.imported.get(name) in _OF_MODULES:
                held = _OF_MODULES[self.module.imported[name]]
                return held.format(*map(self.of, node.args))
            case ast.Attribute(value=of, attr=name) if not self.is_module(of):
                return self.method(self.of(of), name, node)
        if self.callee(node.func) is not None and _called(node) != "replace":
            return f"{self.of(node.func)}({', '.join(self.given(node))})"
        return self.built_in_call(node)

    def built_in_call(self, node: ast.Call) -> str:
        match node.func:
            case ast.Name(id="replace"):  # of a record
                changed = (f"{each.arg}: {self.of(each.value)}" for each in node.keywords)
                return f"({{ ...{self.of(node.args[0])}, {', '.join(changed)} }})"
            case ast.Name(id="range"):
                ends = [self.of(each) for each in node.args]
                return f"$range({', '.join(['0', *ends][-2:])})"
            case ast.Name(id="max" | "min" as name) if len(node.args) > 1 and not node.keywords:
                return f"Math.{name}({', '.join(map(self.part, node.args))})"
            case ast.Name(id="isinstance"):
                return self.type_of(*node.args)
            case ast.Name(id="getattr"):
                return "{}[{}]".format(*map(self.of, node.args))
            case ast.Name(id=name) if name in _BUILT_IN and name not in self.local:
                return _BUILT_IN[name].format(self.built_in(name, node))
            case ast.Name(id="takewhile"):
                test, items = node.args
                return f"$while({self.of(test)}, {self.items(items)})"
        raise self.unknown(node)

    def is_module(self, node: ast.expr) -> bool:
        name = getattr(node, "id", None)
        return name in self.module.imported and not self.module.imported[name][1]

    def is_pattern(self, method: ast.expr) -> bool:
        """Return whether a method is one of a compiled pattern of the module."""
        of = method.value if isinstance(method, ast.Attribute) else method
        held = self.module.constants.get(getattr(of, "id", ""))
        return isinstance(held, ast.Call) and _called(held) == "compile"

    def given(self, node: ast.Call) -> list[str]:
        """Return the arguments in the order of their parameters."""
        texts, callee = [*map(self.part, node.args)], self.callee(node.func)
        if node.keywords:
            if callee is None:
                raise self.unknown(node)
            given = (*callee.args.args, *callee.args.kwonlyargs)
            names = [e.arg for e in given if e.arg != "self"]
            named = {each.arg: self.of(each.value) for each in node.keywords}
            rest = [named.pop(name, "undefined") for name in names[len(texts) :]]
            if named:
                raise self.unknown(node)
            texts += rest
        while texts and texts[-1] == "undefined":
            texts.pop()
        return texts

    def applied(self, of: ast.expr, given: Sequence[str]) -> str:
        """Return the call of what is given as a function."""
        match of:
            case ast.Attribute(value=ast.Name(id="str"), attr=name):
                return _METHODS[name].format(*given)
            case ast.Name(id=name) if name in _BUILT_IN and name not in self.local:
                return _BUILT_IN[name].format(", ".join(given))
        return f"{self.of(of)}({', '.join(given)})"

    def as_function(self, node: ast.expr) -> str:
        """Return what may be a method of a value, by which something is sorted."""
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            return f"((x) => {_METHODS[node.attr].format(self.of(node.value), 'x')})"
        return self.of(node)

    def every(self, node: ast.expr, method: str) -> str:
        if isinstance(node, ast.GeneratorExp) and len(node.generators) == 1:
            (of,) = node.generators
            if any(isinstance(e, ast.NamedExpr) for each in of.ifs for e in ast.walk(each)):
                raise self.unknown(node)
            items = self.items(of.iter)
            target = self.target(of.target)
            items += "".join(f".filter(({target}) => {self.test(each)})" for each in of.ifs)
            return f"{items}.{method}(({target}) => {self.test(node.elt)})"
        return f"{self.items(node)}.{method}((x) => $true(x))"

    def type_of(self, value: ast.expr, kinds: ast.expr) -> str:
        names = [
            getattr(e, "id", "") for e in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])
        ]
        if names == ["Mapping"]:
            return f"$plain({self.of(value)})"
        held = {"str": "string", "bool": "boolean", "int": "number", "float": "number"}
        if not set(names) <= set(held):
            raise self.unknown(kinds)
        text = self.of(value)
        return (
            f"({' || '.join(sorted({f'typeof {text} === {json.dumps(held[n])}' for n in names}))})"
        )

    def built_in(self, name: str, node: ast.Call) -> str:
        texts = [*map(self.part, node.args)]
        if name in ("set", "frozenset", "dict", "enumerate") and node.args:
            texts[0] = self.items(node.args[0]) if name != "dict" else texts[0]
        named = {
            each.arg: self.as_function(each.value) for each in node.keywords if each.arg != "strict"
        }
        order = {"sorted": ["key"], "max": ["key", "default"], "min": ["key", "default"]}
        if not set(named) <= set(order.get(name, ())):
            raise self.unknown(node)
        texts += [named.get(each, "undefined") for each in order.get(name, ())]
        while texts and texts[-1] == "undefined":
            texts.pop()
        return ", ".join(texts)

    def method(self, of: str, name: str, node: ast.Call) -> str:
        given = [*map(self.part, node.args)]
        if name in ("strip", "lstrip", "rstrip"):
            end = {"strip": "", "lstrip": "Start", "rstrip": "End"}[name]
            ends = {"strip": 3, "lstrip": 1, "rstrip": 2}[name]
            return f"$strip({of}, {given[0]}, {ends})" if given else f"{of}.trim{end}()"
        if name == "partition":
            return f"$parted({of}, {given[0]})"
        if name == "split" and self.is_pattern(node.func):
            return f"{given[0]}.split({of})"
        if name == "split":
            return f"{of}.split({given[0]})" if given else f"{of}.split(/\\s+/u).filter(Boolean)"
        if name == "join":
            return f"{self.items(node.args[0])}.join({of})"
        if name == "get":
            default = given[1] if len(given) > 1 else "null"
            return f"$get({of}, {given[0]}, {default})" if given else f"{of}.get()"
        if name in ("removesuffix", "removeprefix"):
            cut = "x.slice(0, x.length - y.length)"
            test = "endsWith" if name == "removesuffix" else "startsWith"
            cut = cut if name == "removesuffix" else "x.slice(y.length)"
            return f"((x, y) => x.{test}(y) ? {cut} : x)({of}, {given[0]})"
        if (of, name) == ("$dict", "fromkeys"):
            return f"new Set({self.items(node.args[0])})"
        if name == "format":
            values = (f"{each.arg}: {self.of(each.value)}" for each in node.keywords)
            return f"$format({of}, {{ {', '.join(values)} }})"
        if name in ("search", "match", "fullmatch"):
            return f"${name.replace('fullmatch', 'whole')}({of}, {given[0]})"
        if name == "sub":
            return f"$sub({of}, {given[0].replace(chr(92) * 2, '$')}, {given[1]})"
        if name not in _METHODS or node.keywords:
            raise self.unknown(node)
        return _METHODS[name].format(of, *given)

    def expression(self, name: str, node: ast.Call) -> str:
        """Return a call of the module of regular expressions."""
        if name == "escape":
            return f'{self.of(node.args[0])}.replace(/[.*+?^${{}}()|[\\]\\\\/]/g, "\\\\$&")'
        flags = [ast.unparse(each.value) for each in node.keywords if each.arg == "flags"]
        if flags not in ([], ["re.IGNORECASE"]):
            raise self.unknown(node)
        first, *given = node.args
        match first:
            case ast.Constant(value=str() as value):
                text = json.dumps(pattern(value))
            case ast.JoinedStr(values=parts):
                text = f"`{''.join(self.piece(each, pattern) for each in parts)}`"
            case ast.Name(id=of) if isinstance(self.module.constants.get(of), ast.Constant):
                text = json.dumps(pattern(ast.literal_eval(self.module.constants[of])))
            case _:
                raise self.unknown(node)
        made = f"$pattern({text}{', ' + json.dumps('i') if flags else ''})"
        if name == "compile":
            return made
        return self.method(made, name, ast.Call(node.func, given, []))


def _methods(held: Module, node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    bases = [held.classes[e.id] for e in node.bases if getattr(e, "id", "") in held.classes]
    every = [each for of in (*bases, node) for each in of.body]
    return {each.name: each for each in every if isinstance(each, ast.FunctionDef)}


def _own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a function, without those of functions and comprehensions inside."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            for each in (child.iter, *child.ifs):
                yield from _own_nodes(each)
        else:
            yield from _own_nodes(child)


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Mod):
        return not isinstance(node.left, ast.List)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _legal(name: str) -> str:
    return name + "_" * (name in _RESERVED)


def script(title: str) -> str:
    """Return a script of `SCRIPTS`."""
    made = Script()
    taken = [made.take(source, n) for source, names in SCRIPTS[title].items() for n in names]
    return made.text(title, taken)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for each in SCRIPTS:
        (folder / each).write_text(script(each), encoding="utf-8")
