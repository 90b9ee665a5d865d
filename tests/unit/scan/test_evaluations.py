"""Evaluations of language models: logs of Inspect in each format, and samples of lm-eval's BBQ.

The layout is that of Inspect 0.3.285, whose own logs were read on 28 November 2026.
"""

import json
import random
import zipfile
import zlib
from pathlib import Path

import pytest
from tests.needs import need

import fairgauge as fg
from fairgauge.errors import DataError

STARTED = {"version": 2, "eval": {"task": "hiring", "model": "mockllm/model"}, "plan": {}}
ASKED = {"prediction": "scores.choice.value", "positive": "C", "sensitive": "metadata.group"}


def samples(n=400):
    draw = random.Random(7)
    return [
        {
            "id": i // 2, "epoch": 1 + i % 2, "input": "?", "target": "A", "choices": ["x", "y"],
            "messages": [{"role": "user", "content": "long" * 50}],
            "scores": {"choice": {"value": draw.choice("CCI"), "answer": "A"}},
            "metadata": {"group": draw.choice(["a", "b"]), "item": {"name": "é"}},
        }
        for i in range(n)
    ]  # fmt: skip


def as_archive(path, of, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("_journal/start.json", json.dumps(STARTED))
        for each in of:
            name = f"samples/{each['id']}_epoch_{each['epoch']}.json"
            archive.writestr(name, json.dumps(each))
        archive.writestr("header.json", json.dumps(STARTED | {"status": "success"}))


def as_zstandard(path, of):
    """Write an archive as Inspect does, of members in zstandard, which zipfile writes none of."""
    need("pyarrow")
    import pyarrow as pa

    as_archive(path, of, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path) as stored:
        members = [(each.filename, stored.read(each)) for each in stored.infolist()]
    body, directory = b"", b""
    for name, content in members:
        sink = pa.BufferOutputStream()
        half = len(content) // 2
        for part in (content[:half], content[half:]):  # of large members there are several frames
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(part)
            sink = _again(pa, sink)
        packed = sink.getvalue().to_pybytes()
        head = b"".join(
            number.to_bytes(size, "little")
            for number, size in (
                (20, 2), (0, 2), (93, 2), (0, 2), (0, 2), (zlib.crc32(content), 4),
                (len(packed), 4), (len(content), 4), (len(name), 2), (0, 2),
            )
        )  # fmt: skip
        directory += (
            b"PK\1\2\x14\0" + head + b"\0" * 2 + b"\0" * 8 + len(body).to_bytes(4, "little")
            + name.encode()
        )  # fmt: skip
        body += b"PK\3\4" + head + name.encode() + packed
    number = len(members).to_bytes(2, "little")
    end = b"PK\5\6" + b"\0" * 4 + number * 2 + len(directory).to_bytes(4, "little")
    path.write_bytes(body + directory + end + len(body).to_bytes(4, "little") + b"\0\0")


def _again(pa, sink):
    """Return a stream that begins with what another one holds."""
    held, more = sink.getvalue(), pa.BufferOutputStream()
    more.write(held)
    return more


@pytest.mark.parametrize("write", [as_archive, as_zstandard], ids=["deflated", "zstandard"])
def test_a_log_of_inspect_is_counted_as_its_samples(write, tmp_path):
    of, name = samples(), "log.eval"
    write(tmp_path / name, of)
    lines = tmp_path / "samples.jsonl"
    lines.write_text("".join(json.dumps({**each, "messages": 0}) + "\n" for each in of))
    found = fg.count(tmp_path / name, **ASKED, cluster="id")
    assert found == fg.count(lines, **ASKED, cluster="id")
    assert found.rows == 400
    report = fg.audit(tmp_path / name, prediction="scores.choice.value", positive="C",
                      sensitive=["model", "metadata.item.name"])  # fmt: skip
    assert {group.group for group in report.groups} == {"mockllm/model", "é"}


def test_a_damaged_log_is_refused(tmp_path):
    (tmp_path / "log.eval").write_bytes(b"no archive")
    with pytest.raises(DataError, match="as a log of Inspect"):
        fg.count(tmp_path / "log.eval", **ASKED)


@pytest.fixture
def bbq(tmp_path):
    """Return samples as lm-eval writes them, which state accuracy, bias and answer of each."""
    draw = random.Random(11)
    rows = []
    for n in range(900):
        unknown = draw.random() < 0.4
        biased = not unknown and draw.random() < 0.7
        clear = draw.random() < 0.5
        scores = [float(unknown is not clear), float(biased), float(not unknown), str(clear)]
        rows.append({
            "doc_id": n, "amb_bias_score": scores, "disamb_bias_score": scores,
            "doc": {"category": draw.choice(["Age", "SES"]), "question_index": str(n % 40),
                    "context_condition": "disambig" if clear else "ambig"},
        })  # fmt: skip
    path = Path(tmp_path / "samples_bbq_2026.jsonl")
    path.write_text("\n".join(map(json.dumps, rows)))
    return path, rows


def test_the_scores_of_bbq_are_those_of_its_paper_and_of_lm_eval(bbq):
    path, rows = bbq
    report = fg.audit(
        path, preset="bbq", label="bbq.score", cluster="bbq.template",
        intersections=[["doc.category", "doc.context_condition"]],
    )  # fmt: skip
    assert len(report.groups) == 4
    for group in report.groups:
        category, condition = group.group.split(" & ")
        inside = [
            row["amb_bias_score"]
            for row in rows
            if row["doc"]["category"] == category and row["doc"]["context_condition"] == condition
        ]
        answered = sum(each[2] for each in inside)
        score = 2 * sum(each[1] for each in inside) / answered - 1
        if condition == "ambig":
            score *= 1 - sum(each[0] for each in inside) / len(inside)
        rate = group.rates["mean_label"]
        assert rate.value == pytest.approx(score, rel=1e-12)
        assert rate.interval.low < score < rate.interval.high


def test_answers_that_all_contradict_the_stereotype_score_minus_one(bbq):
    path, rows = bbq
    for row in rows:
        row["amb_bias_score"][1:3] = 0.0, 1.0
    path.write_text("\n".join(map(json.dumps, rows)))
    report = fg.audit(path, preset="bbq", label="bbq.score", sensitive="doc.context_condition")
    assert [group.rates["mean_label"].value for group in report.groups] == [-1.0, -1.0]


def test_templates_of_categories_are_apart(bbq):
    path, _ = bbq
    counts = fg.count(path, label="bbq.score", task="regression", sensitive="doc.category",
                      cluster="bbq.template")  # fmt: skip
    (clusters,) = (each for axis, each in counts.levels.items() if axis.role == "cluster")
    assert len(clusters) == 80
