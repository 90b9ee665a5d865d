"""The files of the repository, each read and parsed once for all rules about them."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fairgauge"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the path of a module in the package, with slashes on every system."""
    return path.relative_to(SOURCE).as_posix()


@cache
def text_of(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return the module of a file and every node below it."""
    return tuple(ast.walk(ast.parse(text_of(path))))
