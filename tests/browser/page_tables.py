"""Random tables and questions for the page that audits a file, and its script in Node."""

import csv
import io
import json
import shutil
import subprocess
from random import Random

from tests.needs import missing

from fairgauge.api.paging import page_data
from fairgauge.render.writers.audit_page import script_of

_SEX = (
    ["Female", "Male"], ["Female", "Male", "Non-binary"], ["F", "M"], ["1", "2"], ["1.0", "2"],
    ["weiblich", "männlich"],
)  # fmt: skip
_RACE = (
    "White", "Black", "Asian", "Hispanic", "Native American", "Two or more", "Decline to answer",
    "N/A", "white",
)  # fmt: skip
_OUTCOMES = (("yes", "no"), ("1", "0"), ("TRUE", "FALSE"), ("Hired", "Rejected"))
_WORDS = (
    {"noun": "applicants", "positive": "selected"},
    {"positive": "hired", "negative": "rejected"},
    {"noun": "candidates"},
)
_GAP = ["-0.1 <= selection_rate.difference <= 0.1"]
_RULES: tuple[dict[str, list[str]], ...] = (  # by what is favourable: the worse off can fail them
    {"positive": ["selection_rate.ratio >= 0.8"], "negative": ["selection_rate.ratio <= 1.25"]},
    {"positive": _GAP, "negative": _GAP},
    {
        "positive": ["selection_rate.difference >= -0.05", "selection_rate.ratio >= 0.8"],
        "negative": ["selection_rate.difference <= 0.05", "0.8 <= selection_rate.ratio <= 1.25"],
    },
    {"positive": [], "negative": []},
)
_RUN = """
import fs from "node:fs"; import vm from "node:vm";
const [script, asked, answers] = process.argv.slice(2);
vm.runInThisContext(fs.readFileSync(script, "utf8"));
const made = [];
for (const { text, question, cells } of JSON.parse(fs.readFileSync(asked, "utf8")))
  made.push(cells ? cells.map(fairgaugePage.cell) : await fairgaugePage.audit(text, question));
fs.writeFileSync(answers, JSON.stringify(made));
"""


SELECTED = {
    # the groups, each with its people and how many of them are selected: A is at .91 of all others,
    # at .77 of the highest rate, which 29 CFR 1607.4 D has
    "three groups": {"A": (2_000, 920), "B": (1_000, 600), "C": (1_000, 410)},
    "two groups": {"A": (300, 90), "B": (500, 260)},
    "the best is a group of 1 in 100": {"A": (600, 240), "B": (380, 190), "C": (12, 11)},
    "the best is the smallest": {"A": (900, 300), "B": (500, 200), "C": (120, 70)},
    "equal": {"A": (400, 200), "B": (300, 150)},
    "near the limit": {"A": (250, 100), "B": (250, 124), "C": (250, 125), "D": (250, 101)},
}


def random_case(random: Random) -> dict[str, object]:
    """Return a table as the text of a file, and a question about it."""
    columns = {"Sex": random.choice(_SEX)}
    columns["Race"] = random.sample(_RACE, random.randint(2, 5))
    columns["Region"] = ["N", "S", "E"]
    names = list(columns)[: random.choice([1, 2, 2, 2, 3])]
    labelled, counted = random.random() < 0.6, random.random() < 0.2
    blank, open_ = random.choice([0, 0, 0.002, 0.01, 0.05]), random.choice([0, 0, 0.003, 0.06])
    spelt = columns["Sex"][0] == "Female" and random.random() < 0.3
    base, gap = random.choice([0.03, 0.2, 0.5, 0.9]), random.choice([0, 0.05, 0.15, 0.3])
    yes, no = random.choice(_OUTCOMES)
    aged, scored, again = random.random() < 0.3, False, random.choice([0, 0, 0.02, 0.3])
    if not (labelled or counted):
        scored, again = random.random() < 0.2, again
    else:
        again = 0
    person = "Candidate ID" if again else None
    unknown_age, copied = random.choice([40, 40, -1, 99, 999, 1985]), random.random() < 0.1
    header = [
        *["Candidate ID"] * bool(again), *names, *["Age"] * aged, "Decision",
        *["Qualified"] * labelled, *["Freq"] * counted,
    ]  # fmt: skip
    text = io.StringIO()
    table = csv.writer(text, delimiter=random.choice(",;\t"))
    table.writerow(header)
    people = 0
    for _ in range(random.choice([40, 90, 200, 500, 1500, 4000])):
        people += random.random() >= again
        who = "" if random.random() < blank else f"C{max(random.choice([people, people - 2]), 0)}"
        groups = [random.choice(columns[name]) for name in names]
        able = random.random() < 0.55
        chance = base * (1.2 if able else 0.8) - gap * (groups[0] == columns["Sex"][0])
        got = yes if random.random() < min(max(chance, 0.01), 0.99) else no
        if scored:
            got = random.choice(["", *[random.randint(0, 40) / 2 + 3 * (got == yes)] * 40])
        elif random.random() < open_:
            got = random.choice(["", "Withdrawn", "pending"])
        if spelt and groups[0] == "Female" and random.random() < 0.1:
            groups[0] = random.choice(["female", "FEMALE"])
        groups = ["" if random.random() < blank else each for each in groups]
        label = ("" if random.random() < blank else yes if able else no,) * labelled
        age = (random.choice(["", *range(18, 70), unknown_age, 41.5]),) * aged
        table.writerow(
            [
                *[who] * bool(again), *groups, *age, got, *label,
                *[random.choice([1, 2, 3, 7])] * counted,
            ]
        )  # fmt: skip
    rates = ["selection_rate"]
    if labelled:
        errors = ("true_positive_rate", "false_positive_rate", "positive_predictive_value")
        rates += random.sample(errors, random.choice([1, 1, 2, 3]))
    apart = [f"{rate}.{by}" for rate in rates for by in ("difference", "ratio")]
    question = {
        "prediction": "Decision", "positive": [yes], "sensitive": names,
        "metrics": random.choice([rates, apart]),
        "reference": random.choice(["others", "others", "best"]),
        "favourable": random.choice(["positive", "positive", "negative"]),
    }  # fmt: skip
    question |= {"person": person} if person else {}
    question |= {"positive": {"above": random.choice([9.5, 11, 12.25])}} if scored else {}
    question["rules"] = random.choice(_RULES)[question["favourable"]]
    if random.random() < 0.15:
        kept = ("prediction", "positive", "sensitive", "person")
        question = {key: question[key] for key in kept if key in question}
        question |= {"preset": "nyc-ll144", "metrics": ["selection_rate.ratio"]}
        labelled = False
    if len(names) > 1:
        question["intersections"] = [names[:2], *[names] * (len(names) > 2)]
    cuts = random.choice([[40], [30, 40, 55.5], [25, 45, 60]])
    question["sensitive"] = [*names, *[{"column": "Age", "cuts": cuts}] * aged][-3:]
    if aged and len(names) > 1:
        question["intersections"] = [["Age", names[1]]]
    question |= {"label": "Qualified"} if labelled else {}
    question |= {"count": "Freq"} if counted else {}
    if "Withdrawn" in text.getvalue() and "pending" in text.getvalue() and random.random() < 0.7:
        question["recode"] = {"Decision": {"unknown": ["Withdrawn", "pending"]}}
    elif not (person or scored) and random.random() < 0.4:
        question["negative"] = [no]
    if random.random() < 0.5 and "preset" not in question:
        question["words"] = random.choice(_WORDS)
    rows = text.getvalue()
    return {"text": rows + rows.partition("\n")[2] * copied, "question": question}


def answers(cases, folder, language="en"):
    """Return what the script of the page answers in Node."""
    if shutil.which("node") is None:
        missing("node", "apt-get install nodejs")
    paths = [folder / name for name in ("run.mjs", "page.js", "asked.json", "answers.json")]
    contents = (_RUN, script_of(page_data(), language, form=False), json.dumps(cases))
    for path, content in zip(paths, contents, strict=False):
        path.write_text(content, encoding="utf-8")
    subprocess.run(["node", *map(str, paths)], check=True, timeout=280)
    return json.loads(paths[-1].read_text("utf-8"))
