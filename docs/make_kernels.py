"""Translate the closed forms of intervals to JavaScript, for pages that compute in a browser.

    python docs/make_kernels.py src/fairgauge/render/templates/kernels.js

The functions of `KERNELS` and all that they call are read from their Python source; a test fails
where the file is not up to date. They are arithmetic on arrays, element by element, so that on
single numbers they are plain expressions. What the table below does not know is an error.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType

from fairgauge.stats import contrasts, intervals

KERNELS = (
    intervals.wilson,
    intervals.containing,
    contrasts.mover_difference,
    contrasts.mover_ratio,
    contrasts.far_apart,
    contrasts.score_difference,
    contrasts.score_ratio,
    contrasts.difference_from_whole,
    contrasts.ratio_to_whole,
    contrasts.expected_count,
)
_NUMPY = {
    "sqrt": "Math.sqrt", "hypot": "Math.hypot", "maximum": "Math.max", "minimum": "Math.min",
    "abs": "Math.abs", "sign": "Math.sign", "arccos": "Math.acos", "cos": "Math.cos",
    "tan": "Math.tan", "arctan2": "Math.atan2", "isnan": "Number.isNaN",
    "isfinite": "Number.isFinite",
}  # fmt: skip
_CONSTANTS = {"pi": "Math.PI", "inf": "Infinity", "nan": "NaN"}
_OF_LIKE = {"zeros_like": "0", "ones_like": "1"}
_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.BitAnd: "&&",
    ast.BitOr: "||",
}  # fmt: skip
_COMPARED = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!==",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.Invert: "!", ast.Not: "!"}
_SAME = ("floats", "as_floats", "asarray", "float")
"""Calls that change nothing of a number."""
_HEAD = """\
// closed forms of confidence intervals: translated from fairgauge.stats by docs/make_kernels.py
"""


def kernels() -> str:
    """Return the script: every kernel after those that it calls."""
    written: dict[str, str] = {}
    for kernel in KERNELS:
        _write(inspect.unwrap(kernel), written)
    return "\n".join([_HEAD, *written.values()])


def _write(function: FunctionType, written: dict[str, str]) -> None:
    if function.__name__ in written:
        return
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    translator = _Translator(function, written)
    text = translator.function(tree, "")
    written[function.__name__] = text + "\n"


class _Translator:
    """Translates one function; the functions that it calls are written before it."""

    def __init__(self, function: FunctionType, written: dict[str, str]) -> None:
        self.function_name = function.__name__
        self.globals = function.__globals__
        self.written = written
        self.local: set[str] = set()

    def function(self, tree: ast.FunctionDef, indent: str) -> str:
        self.local |= {tree.name}
        arguments = self._arguments(tree.args)
        names = {each.arg for each in [*tree.args.args, *tree.args.kwonlyargs]}
        match [each for each in tree.body if not isinstance(each, ast.Expr)]:
            case [ast.Return(value=value)] if value is not None:
                return f"{indent}const {tree.name} = ({arguments}) => {self.expression(value)};"
        body = self._block(tree.body, indent + "  ", set(names))
        return f"{indent}const {tree.name} = ({arguments}) => {{\n{body}{indent}}};"

    def _arguments(self, arguments: ast.arguments) -> str:
        given = arguments.args + arguments.kwonlyargs
        self.local |= {each.arg for each in given}
        defaults = [*arguments.defaults, *(each for each in arguments.kw_defaults if each)]
        plain = len(given) - len(defaults)
        texts = [each.arg for each in given[:plain]]
        pairs = zip(given[plain:], defaults, strict=True)
        texts += [f"{a.arg} = {self.expression(default)}" for a, default in pairs]
        return ", ".join(texts)

    def _block(self, statements: list[ast.stmt], indent: str, declared: set[str]) -> str:
        return "".join(self._statement(each, indent, declared) for each in statements)

    def _statement(self, node: ast.stmt, indent: str, declared: set[str]) -> str:
        match node:
            case ast.Expr(value=ast.Constant()):  # a docstring
                return ""
            case ast.FunctionDef():
                return self.function(node, indent) + "\n"
            case ast.Return(value=ast.expr() as value):
                return f"{indent}return {self.expression(value)};\n"
            case ast.Assign(targets=[ast.Tuple() as target], value=ast.Call() as call) if (
                self._called(call) == "floats"
            ):
                return self._renamed(target, call, indent, declared)
            case ast.Assign(
                targets=[ast.Tuple() as target],
                value=ast.Call(func=ast.Name(id="map"), args=[_, ast.Tuple(elts=elts)]) as call,
            ):  # the same numbers as arrays
                call.args = elts
                return self._renamed(target, call, indent, declared)
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                return self._in_places([place], [value], indent)
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Subscript(), *_] as places)],
                value=ast.Tuple(elts=values),
            ):
                return self._in_places(places, values, indent)
            case ast.Assign(targets=[target], value=value):
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                right = self.expression(value)
                self.local |= set(names)
                return self._assigned(self.expression(target), names, right, indent, declared)
            case ast.For(target=ast.Name(), iter=ast.Call(args=[count]), body=body):
                head = f"for (let step = 0; step < {self.expression(count)}; step++)"
                return (
                    f"{indent}{head} {{\n{self._block(body, indent + '  ', declared)}{indent}}}\n"
                )
        raise self._unknown(node)

    def _in_places(
        self, places: Sequence[ast.expr], values: Sequence[ast.expr], indent: str
    ) -> str:
        """Write values of some places of arrays: of numbers, each under its condition."""
        made = ""
        for place, value in zip(places, values, strict=True):
            assert isinstance(place, ast.Subscript)
            name, where = self.expression(place.value), self.expression(place.slice)
            made += f"{indent}if ({where}) {name} = {self.expression(value)};\n"
        return made

    def _renamed(self, target: ast.Tuple, call: ast.Call, indent: str, declared: set[str]) -> str:
        """Write the names that arguments get as arrays; equal ones need no statement."""
        pairs = [
            (new.id, self.expression(old))
            for new, old in zip(target.elts, call.args, strict=True)
            if isinstance(new, ast.Name)
        ]
        self.local |= {new for new, _ in pairs}
        return "".join(
            self._assigned(new, [new], old, indent, declared) for new, old in pairs if new != old
        )

    def _assigned(
        self, target: str, names: list[str], value: str, indent: str, declared: set[str]
    ) -> str:
        """Write an assignment; names that are known already are given another value."""
        if target == value:  # the same number as an array
            return ""
        new = [name for name in names if name not in declared]
        declared |= set(names)
        if new and len(new) < len(names):
            return f"{indent}let {', '.join(new)};\n{indent}{target} = {value};\n"
        return f"{indent}{'let ' if new else ''}{target} = {value};\n"

    def expression(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool() as value):
                return str(value).lower()
            case ast.Constant(value=int() | float() as value):
                return repr(value)
            case ast.Name(id=name):
                return name if name in self.local else self._global(name)
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in _CONSTANTS:
                return _CONSTANTS[name]
            case ast.Tuple(elts=parts):
                return f"[{', '.join(map(self.expression, parts))}]"
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
                sign = _BINARY[type(operator)]
                return f"({self.expression(left)} {sign} {self.expression(right)})"
            case ast.UnaryOp(op=operator, operand=operand) if type(operator) in _UNARY:
                return f"({_UNARY[type(operator)]}{self.expression(operand)})"
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                sign = _COMPARED[type(operator)]
                return f"({self.expression(left)} {sign} {self.expression(right)})"
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._either(test, body, other)
            case ast.Lambda(args=arguments, body=body):
                return f"(({self._arguments(arguments)}) => {self.expression(body)})"
            case ast.Call():
                return self._call(node)
        raise self._unknown(node)

    def _either(self, test: ast.expr, body: ast.expr, other: ast.expr) -> str:
        parts = (self.expression(each) for each in (test, body, other))
        return "({} ? {} : {})".format(*parts)

    def _call(self, call: ast.Call) -> str:
        name, arguments = self._called(call), call.args
        if name in _SAME:
            return self.expression(arguments[0])
        if name == "where":
            return self._either(arguments[0], arguments[1], arguments[2])
        if name == "full_like":
            return self.expression(arguments[1])
        texts = [text for each in arguments for text in self._argument(each)]
        if name in _OF_LIKE:
            return _OF_LIKE[name]
        if name == "clip":
            return "Math.min(Math.max({}, {}), {})".format(*texts)
        if name == "isinf":
            return f"(Math.abs({texts[0]}) === Infinity)"
        joined = ", ".join(texts)
        if isinstance(call.func, ast.Attribute) and name in _NUMPY and not call.keywords:
            return f"{_NUMPY[name]}({joined})"
        if isinstance(call.func, ast.Name) and not call.keywords:
            return f"{self.expression(call.func)}({joined})"
        raise self._unknown(call)

    def _argument(self, node: ast.expr) -> list[str]:
        """Return an argument; of arrays that are made of several numbers, these numbers."""
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call):
            assert self._called(node.value) == "floats"
            return [self.expression(each) for each in node.value.args]
        return [self.expression(node)]

    @staticmethod
    def _called(call: ast.Call) -> str:
        return (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )

    def _global(self, name: str) -> str:
        """Return a constant of the module, or a function, which is written first."""
        value = self.globals[name]
        if isinstance(value, (int, float)):
            return repr(value)
        if isinstance(inspect.unwrap(value), FunctionType):
            _write(inspect.unwrap(value), self.written)
            return name
        raise SystemExit(f"{self.function_name}: {name} is neither a number nor a function")

    def _unknown(self, node: ast.AST) -> SystemExit:
        return SystemExit(f"{self.function_name}: cannot translate {ast.unparse(node)}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(kernels(), encoding="utf-8")
