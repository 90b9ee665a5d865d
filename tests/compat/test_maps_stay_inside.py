"""A URI leads to no file outside the folder that --map gives."""

import pytest

from fairgauge.errors import DataError
from fairgauge_cloud._files import Places, json_document, json_lines


@pytest.mark.parametrize("uri", ["s3://b/../outside.csv", "s3://b/in/../../outside.csv"])
def test_dots_lead_nowhere(tmp_path, uri):
    (tmp_path / "in").mkdir()
    (tmp_path / "outside.csv").write_text("y\n1\n")
    with pytest.raises(DataError, match="leads out"):
        Places({"s3://b": tmp_path / "in"}).files(uri)


def test_json_nested_deeply_is_refused(tmp_path):
    (path := tmp_path / "a.jsonl").write_text("[" * 100_000)
    for read in (lambda: list(json_lines(path)), lambda: json_document(path)):
        with pytest.raises(DataError, match="is not JSON"):
            read()
