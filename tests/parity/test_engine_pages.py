"""The code of every page about an engine runs as it stands."""

import re
from pathlib import Path

import engines
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "engines"
NEEDS = {
    "dask": "dask.dataframe",
    "databases": "ibis",
    "spark": "pyspark.sql",
    "lakehouse": "deltalake",
}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_code_runs(page, tmp_path, monkeypatch):
    code = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    if page.stem == "index":
        linked = set(re.findall(r"\((\w+\.md)\)", page.read_text()))
        assert linked == {each.name for each in PAGES.glob("*.md")} - {"index.md"}
        return
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem])
    if page.stem == "spark":
        engines.spark_session()  # the page then gets this session
    monkeypatch.chdir(tmp_path)
    assert code
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, page.name, "exec"), names)
