"""What the PDFs of a monitor and of a comparison of models have for the file."""

from __future__ import annotations

import shlex

from click.testing import CliRunner
from tests.model_rows import QUESTION, rows
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Code, Facts, SignOff, Table
from fairgauge.render.document import document as models_document
from fairgauge.render.document import document as monitor_document


def _filed(blocks):
    """Return the facts, the command and the signatures that are filed."""
    facts = {k: v for block in blocks if isinstance(block, Facts) for k, v in block.pairs}
    (code,) = (block.text for block in blocks if isinstance(block, Code))
    return facts, code, [block for block in blocks if isinstance(block, SignOff)]


def test_the_command_filed_with_a_comparison_of_models_makes_it_again(tmp_path):
    data = tmp_path / "models.csv"
    rows(600).write_csv(data)
    made = fg.compare_models(
        data, **QUESTION, positive=1, candidate="fairer", margins={"accuracy": 0.02},
        words={"groups": {"sex": {"F": "women", "M": "men"}}},
    )  # fmt: skip
    facts, command, signed = _filed(models_document(made, full=True).filed)
    assert facts["fingerprint of the counts"] == made.data.fingerprint
    assert facts["source"] == str(data)
    assert len(signed) == 1
    program, *arguments = shlex.split(command)
    assert program == "fairgauge"
    CliRunner().invoke(main, [*arguments, "-q", "-o", str(tmp_path / "again.json")])
    again = fg.load(tmp_path / "again.json").to_dict()
    assert again["candidates"] == made.to_dict()["candidates"]


def test_the_command_filed_with_a_monitor_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    history = fg.History("history")
    for name, counts in days(12, 99, 0.4).items():
        history.add(name, counts)
    made = fg.monitor(history, asked(RATIO))
    facts, command, signed = _filed(monitor_document(made, full=True).filed)
    assert facts["history"] == "history"
    assert facts["made with"].startswith("fairgauge ")
    assert len(signed) == 1
    assert command == "fairgauge monitor status history --at 2026-01-12"


def test_counts_at_hand_have_no_name_in_the_command():
    _, command, _ = _filed(
        monitor_document(fg.monitor(days(3, 9, 0.4), asked(RATIO)), full=True).filed
    )
    assert command == "fairgauge monitor status HISTORY --at 2026-01-03"


def test_tables_have_the_value_beside_the_users_word():
    """Page 1 read "women", page 2 "Female", and nothing said that both are one group."""
    words = {"groups": {"sex": {"F": "women", "M": "men"}}}
    report = fg.monitor(days(5, 9, 0.4), asked(RATIO) | {"words": words})
    (table,) = (
        block
        for section in monitor_document(report).sections
        for block in section.blocks
        if isinstance(block, Table)
    )
    assert table.rows[0][0].text == "selection rate ratio, sex: women (F) vs others"
    without = monitor_document(fg.monitor(days(5, 9, 0.4), asked(RATIO)))
    assert "sex: F vs others" in str(without.sections)
