"""Functions that pages have from the Python source give what Python gives; others are refused."""

import json
import math
import random
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.needs import missing

from fairgauge.checks.coded_numbers import codes_beyond_cuts, codes_of_counts
from fairgauge.cube.plan import AROUND_CODES
from fairgauge.inference.possible import contrast_limits, end_of_share, share_weights
from fairgauge.question import category_words as words
from fairgauge.question.rules import split_limit
from fairgauge.resolve.outcomes import ways_of_writing
from fairgauge.rowwise.copies import copies_of_rows
from fairgauge.scan.identifiers import spellings_of
from fairgauge.values import compact_reading, plain_number

TRANSLATOR = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "to_javascript.py"))
LISTED = re.findall(r"[a-z]{2,}", Path(words.__file__).with_name("words.toml").read_text("utf-8"))
ODD = [
    "N/A", "-", "", "?", "1", "0", "9", "99", "-1", "1.0", "999", "2", "3", "01", "1e3", "Désisté",
    "WEISS", "Weiß", "1970-01-01", "2020-05-17", "2021-02-03", "(none)", "yes", "no", "TRUE", "x",
    "Not hired", "Hired", "Approved as amended", "loan originated", "3 - application denied", "M",
    "male", "female", "Total", "a-b", "C-7", "C7", "02-34", "0234", "P7", "p7 ", "1001", "00001001",
    "0035g00000AbCdE", "\u200bx", "1 2", "26 \u2013 40", "Status: Paid off", "\u0663",
]  # fmt: skip
_RUN = """
const PATTERNS = Object.fromEntries(Object.entries(data.patterns)
  .map(([name, text]) => [name, new RegExp(text, "u")]));
const plain = (x) => x instanceof Map ? [...x].filter(([, rows]) => rows).map(plain)
  : x instanceof Set ? [...x].sort() : Array.isArray(x) ? x.map(plain) : x ?? null;
const made = asked.map(([name, given]) => plain(called[name](...given)));
process.stdout.write(JSON.stringify(made));
"""
TEXTS = {  # of one text, or of two
    "is_total": 1, "is_denied": 1, "is_of_harms": 1, "is_of_favours": 1,
    "is_undecided": 1, "means_missing": 1, "is_settled": 1, "action_code": 1, "is_favourable": 1,
    "is_harm": 2, "compact_reading": 1, "plain_number": 1,
}  # fmt: skip
OURS = vars(words) | {
    "compact_reading": compact_reading, "plain_number": plain_number, "spellings_of": spellings_of,
    "ways_of_writing": ways_of_writing, "codes_of_counts": codes_of_counts,
    "codes_beyond_cuts": codes_beyond_cuts, "copies_of_rows": copies_of_rows,
    "split_limit": split_limit, "share_weights": share_weights, "end_of_share": end_of_share,
    "contrast_limits": contrast_limits,
}  # fmt: skip


def a_text(seeded):
    if seeded.random() < 0.4:
        return seeded.choice(ODD)
    text = seeded.choice([" ", "-", "_", ", "]).join(seeded.sample(LISTED, seeded.randint(1, 3)))
    return seeded.choice([str, str.title, str.upper])(text)


def some_rows(seeded):
    """Return the places of rows among the different ones, and how many values columns have."""
    rows = [seeded.randint(0, seeded.choice([3, 40, 400])) for _ in range(seeded.randint(1, 300))]
    rows = rows * seeded.randint(1, 3) if seeded.random() < 0.6 else sorted(rows)
    if seeded.random() < 0.3:
        rows += rows[len(rows) // 2 :]
    held: dict[int, int] = {}
    return [[held.setdefault(row, len(held)) for row in rows], [seeded.randint(1, 60), len(held)]]


def a_limit(seeded):
    """Return the text of a limit, or of none."""
    number, sign = (
        seeded.choice(["0.8", "-.1", "1e-3", "x", "+2"]),
        seeded.choice([">=", "<=", "<"]),
    )
    name = seeded.choice(["DI", "|RD|", "selection_rate.ratio", "|", "a|b", ""])
    return seeded.choice([f"{name} {sign} {number}", f"{number} {sign} {name}<={number}", name])


def a_call(seeded):
    values = [a_text(seeded) for _ in range(seeded.randint(2, 7))]
    if seeded.random() < 0.3:
        values = seeded.sample([*map(str, range(12)), "99", "-9", "999", *values], len(values))
    values, column = [*dict.fromkeys(values)], a_text(seeded)
    positive = values[: seeded.randint(1, 2)]
    refused, negative = [v for v in values if v not in positive], seeded.random() < 0.3
    flags = [seeded.random() < 0.3 for _ in range(3)]
    counted = [0] * (len(AROUND_CODES) + 1)
    for at in seeded.sample(range(len(counted)), seeded.randint(1, 12)):
        counted[at] = seeded.choice([1, 2, 3, 40, 500])
    cuts = sorted(seeded.sample([-5, 0, 0.5, 1, 18, 40, 100, 1000], seeded.randint(0, 3)))
    if seeded.random() < 0.3:
        column = seeded.choice(["age", "fico", "rate", "price", "debt"])
    lists = {
        "missing_words": [values], "codes_of_missing": [values], "no_groups": [column, values],
        "no_outcomes": [values, positive, column], "may_be_group": [values[0], column, values],
        "may_be_value": [values[0], values], "is_opposite": [values[0], values],
        "are_actions": [column, values], "spellings_of": [values],
        "undecided_refusals": [column, values, refused, positive],
        "approved_refusals": [column, values, refused, [], positive],
        "ways_of_writing": [values, positive],
        "codes_of_counts": [AROUND_CODES, [n * 1000 for n in counted]],
        "codes_beyond_cuts": [column, AROUND_CODES, counted, cuts, *flags],
        "better_outcomes": [column, values, positive, negative],
        "copies_of_rows": some_rows(seeded), "split_limit": [a_limit(seeded)],
        "share_weights": [
            *seeded.choice([([1, 0, 0, 0], [1, 0, 1, 0]), ([1, 1, 0, 0], [1, 1, 1, 1])]),
            seeded.choice([["label", "prediction"], ["prediction"]]), *flags[:2],
        ],
        "end_of_share": [
            [3, 20], sorted([seeded.randint(0, 9), 9]), 12, seeded.randint(0, 15), flags[0],
        ],
        "contrast_limits": [
            *(sorted(seeded.choice([-1, 0, 0.25, 0.5]) for _ in "12") for _ in "12"), flags[0],
        ],
    }  # fmt: skip
    lists |= {name: [a_text(seeded) for _ in range(n)] for name, n in TEXTS.items()}
    name = seeded.choice([*lists])
    return name, lists[name]


def finite(number):
    """Return a number as JSON holds it: none that is infinite."""
    return float(number) if math.isfinite(number) else None


def ours(name, given):
    if name == "better_outcomes":
        return words.better_outcomes(*given[:3], negative=given[3])
    if name == "codes_beyond_cuts":
        names = ("of_score", "chosen", "of_weight")
        return codes_beyond_cuts(*given[:4], **dict(zip(names, given[4:], strict=True)))
    if name == "share_weights":
        of, among, needs, at_least, outcomes = given
        cells = tuple(of), tuple(among), frozenset(needs)
        return [*share_weights(*cells, at_least=at_least, outcomes=outcomes)]
    if name in ("end_of_share", "contrast_limits"):
        flag = {"end_of_share": "at_least", "contrast_limits": "ratio"}[name]
        return [finite(each) for each in OURS[name](*given[:-1], **{flag: given[-1]})]
    if name == "split_limit":
        found = split_limit(*given)
        return found and [found[0], *map(finite, found[1:])]
    return OURS[name](*given)


def plain(made):
    """Return sets as sorted lists, and codes of numbers with their rows."""
    if isinstance(made, dict):
        return [[value, rows] for value, rows in made.items() if rows]
    if isinstance(made, (list, set)):
        return [plain(each) for each in (sorted(made) if isinstance(made, set) else made)]
    return made


def test_names_and_codes_are_judged_as_in_python(tmp_path):
    if shutil.which("node") is None:
        missing("node", "apt-get install nodejs")
    seeded = random.Random(94)
    calls = [a_call(seeded) for _ in range(7000)]
    names = {name for name, _ in calls}
    asked = [[name, given] for name, given in calls]
    called = f"const called = {{ {', '.join(sorted(names))} }};"
    data = json.dumps({"patterns": words.sources()})
    made = TRANSLATOR["Script"]()
    script = made.text("calls", [made.take(OURS[name].__module__, name) for name in sorted(names)])
    parts = [f"const data = {data};", script, called, f"const asked = {json.dumps(asked)};", _RUN]
    path = tmp_path / "words.js"
    path.write_text("\n".join(parts), encoding="utf-8")
    done = subprocess.run(["node", path], check=True, capture_output=True, text=True, timeout=280)
    for call, made in zip(calls, json.loads(done.stdout), strict=True):
        assert made == plain(ours(*call)), call


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("def f(x):\n    del x[0]\n    return x", "del x[0]"),
        ("def f(x):\n    return {(a, b) for a, b in x}", "{(a, b) for a, b in x}"),
        ("def f(x):\n    return open(x)", "open"),
        ("def f(x):\n    return re.sub('[\\\\Wx]', '', x)", r"[\Wx]"),
        ("def f(x):\n    return f'{x:>3}'", ">3"),
        ("def f(x):\n    return x.zfill(3)", "x.zfill(3)"),
    ],
)
def test_what_has_no_translation_is_refused_by_name(tmp_path, monkeypatch, source, named):
    (tmp_path / "fairgauge").mkdir()
    (tmp_path / "fairgauge" / "odd.py").write_text("import re\n\n" + source, encoding="utf-8")
    translator = runpy.run_path(TRANSLATOR["__file__"])
    monkeypatch.setitem(translator["module"].__wrapped__.__globals__, "SOURCE", tmp_path)
    with pytest.raises(SystemExit, match=re.escape(named)):
        translator["Script"]().take("fairgauge.odd", "f")
