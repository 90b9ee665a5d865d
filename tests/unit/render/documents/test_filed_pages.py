"""What the PDFs of a monitor and of a comparison of models have for the file."""

import shlex

from click.testing import CliRunner
from tests.model_rows import QUESTION, rows
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Code, Facts, SignOff
from fairgauge.render.document import document


def _filed(document):
    """Return the facts, the command and the signatures that are filed."""
    blocks = [block for section in document.sections for block in section.blocks]
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
    facts, command, signed = _filed(document(made, paper=True))
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
    facts, command, signed = _filed(document(made, paper=True))
    assert facts["history"] == "history"
    assert facts["made with"].startswith("fairgauge ")
    assert len(signed) == 1
    assert command == "fairgauge monitor status history --at 2026-01-12"


def test_counts_at_hand_have_no_name_in_the_command():
    _, command, _ = _filed(document(fg.monitor(days(3, 9, 0.4), asked(RATIO)), paper=True))
    assert command == "fairgauge monitor status HISTORY --at 2026-01-03"
