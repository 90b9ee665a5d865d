"""Every extra of the package is tested alone by tests/extras, and has what it needs declared."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from fairgauge.errors import MissingExtra, failed_import

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "tests" / "extras"), run_name="extras")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_is_tested_alone():
    assert set(SCRIPT["SMOKE"]) == {"core", *PROJECT["optional-dependencies"]}
    assert SCRIPT["extras"]() == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("name", SCRIPT["SMOKE"])
def test_what_is_run_is_python(name):
    compile(SCRIPT["COMMON"] + SCRIPT["SMOKE"][name], name, "exec")


@pytest.mark.parametrize("name", ["sql", "postgres"])
def test_ibis_does_not_declare_all_that_it_imports(name):
    required = " ".join(PROJECT["optional-dependencies"][name])
    assert "packaging" in required
    assert ("psycopg[binary]" in required) is (name == "postgres")


def test_a_missing_module_is_named():
    missing = ModuleNotFoundError("No module named 'packaging'", name="packaging")
    assert str(MissingExtra("reading databases", "sql", missing)) == (
        "reading databases needs the module 'packaging', which is not installed: "
        "pip install 'fairgauge[sql]'"
    )
    broken = ImportError("no pq wrapper available.\nAttempts made: ...")
    assert str(MissingExtra("reading databases", "postgres", broken)) == (
        "reading databases needs a library that cannot be loaded (no pq wrapper available.): "
        "pip install 'fairgauge[postgres]'"
    )


def _as_ibis_does() -> None:
    try:
        try:
            raise ModuleNotFoundError("No module named 'packaging'", name="packaging")
        except ImportError as error:
            raise ImportError("the backend cannot be imported") from error
    except ImportError:
        raise AttributeError("no backend")  # noqa: B904 - the cause is its context


def test_the_failed_import_at_the_root_of_an_error():
    with pytest.raises(AttributeError) as caught:
        _as_ibis_does()
    root = failed_import(caught.value)
    assert root is not None
    assert root.name == "packaging"
    assert failed_import(ValueError("another reason")) is None
