"""What the page answers about a file is what `fairgauge.audit` answers, or less, never more."""

import math
import os
import random
import re
import tomllib
import warnings
from collections import Counter

import pytest
from page_tables import SELECTED, answers, random_case
from tests.needs import EVERY_CASE
from tests.unit.render.test_hostile_names import CELLS

import fairgauge as fg
from fairgauge.api.choosing import next_question, recommend, specification
from fairgauge.question.kits import find_kit, kit_names
from fairgauge.question.rules import FOUR_FIFTHS
from fairgauge.render.grammar import LANGUAGES
from fairgauge.render.page import first_page
from fairgauge.render.words import in_language

TABLES = int(os.environ.get("FAIRGAUGE_TABLES", "1000" if EVERY_CASE else "20"))
NOT_FINITE = {None: math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
USUAL = {"prediction": "ok", "positive": ["yes"], "sensitive": ["sex"]}
FILES = {
    "crlf": "sex,ok\r\n" + "F,yes\r\nM,no\r\n" * 30,
    "lone_cr": "sex,ok\r" + "F,yes\rM,no\r" * 30,
    "blank_lines": "sex,ok\n" + "F,yes\n\nM,no\n" * 30,
    "space_line": "sex,ok\n" + "F,yes\nM,no\n" * 30 + " \n",
    "no_end": "sex,ok\n" + "F,yes\nM,no\n" * 30 + "F,yes",
    "trailing_delimiter": "sex,ok,x\n" + "F,yes,\nM,no,\n" * 30,
    "inner_quote": "sex,ok\n" + 'F,yes\nM "x",no\n' * 30,
    "quoted_break": "sex,note,ok\n" + 'F,"a\nb, ""c""",yes\nM,"d\r\ne",no\n' * 30,
    "byte_order_mark": "\ufeffsex,ok\n" + "F,yes\nM,no\n" * 30,
    "numbers": "sex,ok\n" + "1.0,yes\n2,no\n1,yes\n2.0,no\n" * 20,
    "negative_zero": "sex,ok\n" + "0,yes\n-0,no\n1,yes\n0.0,no\n" * 20,
    "exponent": "sex,ok\n" + "1e3,yes\n1000,no\n2,yes\n" * 20,
    "leading_zero": "sex,ok\n" + "01,yes\n1,no\n" * 30,
    "long_identifier": "sex,ok\n" + "12345678901234567,yes\n12345678901234568,no\n" * 30,
    "quoted_empty": "sex,ok\n" + 'F,yes\n"",no\nM,no\n' * 30,
    "trailing_space": "sex,ok\n" + "F ,yes\nF,no\nM,no\n" * 30,
    "letters": "sex,ok\n" + "Française,yes\nAméricain,no\n\U0001f600,yes\n\uffee,no\n" * 30,
    "line_separator": "sex,ok\n" + "F\u2028x,yes\nM,no\n" * 30,
    "tabs": "sex\tok\n" + "F\tyes\nM\tno\n" * 30,
    "bars": "sex|ok\n" + "F|yes\nM|no\n" * 30,
    "blank_header": ",sex,ok\n" + "1,F,yes\n2,M,no\n" * 30,
    "sep_line": "sep=;\nsex;ok\n" + "F;yes\nM;no\n" * 30,
    "comments": "# of 2026\n\nsex,ok\n" + "F,yes\nM,no\n" * 30,
    "export": "Report of Acme\nExported,2026-01-12\n\nid,req,sex,ok\n"
    + "1,a,F,yes\n2,b,M,no\n" * 30,
    "padded_export": "Acme,,,\nBy,Dana,,\nid,req,sex,ok\n" + "1,a,F,yes\n2,b,M,no\n" * 30,
    "decimal_commas": 'sex;ok;score\nF;yes;"66,5"\n' + "F;yes;1,25\nM;no;-3,5\n" * 30,
    "total": "sex,ok\n" + "F,yes\nM,no\n" * 30 + "Total\n",
    "ragged": "sex,ok\n" + "F,yes\nM,no,x\n" * 30,
    "open_quote": "sex,ok\n" + "F,yes\nM,no\n" * 30 + '"F,yes\n',
    "named_twice": "sex,sex,ok\n" + "F,F,yes\nM,M,no\n" * 30,
    "no_rows": "sex,ok\n",
    "fraction_as_count": "sex,ok,n\nF,yes,10.5\nF,no,20\nM,yes,30\nM,no,12.25\n",
    "thousands_as_count": "sex,ok,n\nF,yes,950\nF,no,1.000\nM,yes,300\nM,no,800\n",
    "negative_count": "sex,ok,n\nF,yes,10\nF,no,-3\nM,yes,30\nM,no,12\n",
}


def test_cells_of_its_csv_are_those_of_ours(tmp_path):
    assert answers([{"cells": [*CELLS]}], tmp_path) == [[*CELLS.values()]]


def close(mine, theirs):
    mine, theirs = (NOT_FINITE.get(each, each) for each in (mine, theirs))
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    return mine == theirs or abs(mine - theirs) <= 1e-9 * max(1.0, abs(theirs))


def audited(case, path):
    path.write_text(case["text"], encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fg.audit(path, **case["question"])


def compare(made, report):
    """Fail where an answer of the page is not that of a report."""
    plain = report.to_dict()
    assert made["fingerprint"] == plain["data"]["fingerprint"]
    known = {(e["metric"], e["feature"], e["group"]): e for e in plain["estimates"]}
    assert {(e["metric"], e["feature"], e["group"]) for e in made["estimates"]} == set(known)
    for each in made["estimates"]:
        other = known[each["metric"], each["feature"], each["group"]]
        for key in ("value", "low", "high"):
            assert close(each[key], other[key]), (key, each, other)
        assert (each["status"] == "ok") == (other["status"] == "ok"), (each, other)
        if other["simultaneous"] and each["status"] == "ok":
            ends = (other["simultaneous"]["low"], other["simultaneous"]["high"])
            assert all(map(close, each["simultaneous"], ends)), (each, other)
    verdicts = {(v["rule"], v["feature"], v["group"], v["mirror"]): v for v in plain["verdicts"]}
    made_verdicts = [(v["rule"], v["feature"], v["group"], v["mirror"]) for v in made["verdicts"]]
    assert set(made_verdicts) == set(verdicts)
    for key, each in zip(made_verdicts, made["verdicts"], strict=True):
        theirs = verdicts[key]
        assert (each["outcome"], each["remains"]) == (theirs["outcome"], theirs["remains"])


def sentences(made, report):
    """Yield each place of the first page with the sentences of the page and of Python."""
    page = first_page(report)
    theirs = {place: [text for text, _ in said] for place, said in page.texts.items()}
    yield [made["headline"]] if made["headline"] else [], theirs["headline"]
    yield made["verdict"], theirs["verdict"]
    for answer in made["answers"]:
        yield [each["text"] for each in answer["sentences"]], theirs[answer["place"]]


@pytest.mark.parametrize("language", ["en", "de"])
def test_random_tables_have_the_numbers_verdicts_and_sentences_of_python(tmp_path, language):
    seeded = random.Random(f"{language} {TABLES}")
    cases = [random_case(seeded) for _ in range(TABLES if language == "en" else TABLES // 3)]
    stated = refused = 0
    for case, made in zip(cases, answers(cases, tmp_path, language), strict=True):
        if "refused" in made:
            refused += 1
            continue
        report = audited(case, tmp_path / "table.csv")
        compare(made, report)
        with in_language(language, case["question"].get("words")):
            for mine, theirs in sentences(made, report):
                assert set(mine) <= set(theirs), (mine, theirs)
                stated += len(mine)
    assert refused <= len(cases) / 5
    assert stated >= 5 * (len(cases) - refused)


def test_small_files_are_read_alike_or_refused_by_both(tmp_path):
    counted = ("fraction_as_count", "negative_count", "thousands_as_count")
    asked = USUAL | {"metrics": ["selection_rate.difference"]}
    cases = [
        {"text": text, "question": asked | ({"count": "n"} if name in counted else {})}
        for name, text in FILES.items()
    ]
    read = []
    for case, made, name in zip(cases, answers(cases, tmp_path), FILES, strict=True):
        try:
            theirs = audited(case, tmp_path / "small.csv").data.fingerprint
        except fg.FairgaugeError:
            theirs = None
        assert made.get("fingerprint") == theirs, name
        assert theirs or len(made["refused"][0]) > 30
        read += [name] if theirs else []
    assert len(read) >= 20


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ({"weight": "w"}, "weight"),
        ({"sensitive": ["nowhere"]}, "nowhere"),
        ({"rules": ["selection_rate.ratio > 0.8"]}, "selection_rate.ratio > 0.8"),
        ({"metrics": ["f1.difference"]}, "f1.difference"),
        ({"confidence": 0.9}, "confidence"),
        ({"favourable": "lower"}, "favourable"),
        ({"reference": "F"}, "reference"),
        ({"preset": "none-such"}, "none-such"),
        ({"sensitive": [{"column": "sex", "cuts": [1]}]}, "which are not numbers"),
        ({"sensitive": [{"column": "sex", "cuts": [2, 1]}]}, "ascending order"),
        ({"sensitive": [{"column": "sex", "values": [["F"]]}]}, "sensitive"),
        ({"positive": ["maybe"]}, "got it"),
        ({"preset": "nyc-ll144", "favourable": "negative"}, "favourable: negative contradicts"),
        (
            {"favourable": "negative", "rules": ["selection_rate.ratio >= 0.8"]},
            "those who are worse off can fail is selection_rate.ratio <= 1.25",
        ),
        ({"rules": ["selection_rate.difference <= 0.1"]}, "is selection_rate.difference >= -0.1"),
    ],
)
def test_what_the_page_cannot_answer_is_refused_by_name(tmp_path, question, names):
    made = answers([{"text": FILES["crlf"], "question": USUAL | question}], tmp_path)
    assert names in made[0]["refused"][0]


def test_every_refusal_is_in_both_languages():
    texts = [LANGUAGES[name]({}).table["ask"] for name in ("en", "de")]
    assert texts[0].keys() == texts[1].keys()
    for part in ("refused", "view", "because"):
        places = [{k: set(re.findall(r"\{\w+\}", v)) for k, v in of[part].items()} for of in texts]
        assert places[0] == places[1]


def test_a_band_of_nobody_is_refused(tmp_path):
    text = "age,ok\n" + "20,yes\n50,no\n" * 30
    asked = USUAL | {"sensitive": [{"column": "age", "cuts": [30, 60]}]}
    (made,) = answers([{"text": text, "question": asked}], tmp_path)
    assert made["refused"] == ["Nobody is in some band of age: cut it at other numbers."]


def test_two_ways_to_write_an_outcome_are_refused_as_python_refuses_them(tmp_path):
    text = "sex,ok\n" + "F,1\nF,no\nM,1\nM,no\nM,1\n" * 30
    case = {"text": text, "question": USUAL | {"positive": ["1"]}}
    (made,) = answers([case], tmp_path)
    assert "two ways to write one outcome" in made["refused"][0]
    with pytest.raises(fg.DataError, match="two ways to write one outcome"):
        audited(case, tmp_path / "mixed.csv")


def test_few_undecided_rows_may_be_any_outcome(tmp_path):
    """Five rows "Pending" of 600, too few for a doubt, that a rule stands on."""
    of = {"F": 239 * ["yes"] + 361 * ["no"], "M": 250 * ["yes"] + 345 * ["no"] + 5 * ["Pending"]}
    text = "\n".join(["sex,ok", *(f"{sex},{ok}" for sex, values in of.items() for ok in values)])
    asked = USUAL | {"favourable": "positive", "rules": ["selection_rate.ratio >= 0.82"]}
    cases = [{"text": text, "question": asked | {"accept": each}}
             for each in ([], ["undecided_outcomes"])]  # fmt: skip
    for case, made, stated in zip(cases, answers(cases, tmp_path), WITHHELD_AND_NOT, strict=True):
        assert {v["outcome"] for v in made["verdicts"]} == {stated}
        assert str(audited(case, tmp_path / f"{stated}.csv").verdict) == stated


WITHHELD_AND_NOT = ("inconclusive", "pass")


def test_a_rule_in_both_directions_is_answered(tmp_path):
    text = "sex,ok\n" + "F,yes\nF,no\nM,yes\nM,no\nM,yes\n" * 40
    rules = {"favourable": "positive", "rules": ["|selection_rate.difference| <= 0.1"]}
    case = {"text": text, "question": USUAL | rules}
    (made,) = answers([case], tmp_path)
    theirs = audited(case, tmp_path / "both.csv").verdicts
    assert [v["outcome"] for v in made["verdicts"]] == [str(v.outcome) for v in theirs]
    assert {v["rule"] for v in made["verdicts"]} == {str(v.rule) for v in theirs}


def test_a_part_that_was_appended_again_withholds_a_pass(tmp_path):
    rows = [f"{i},{'FM'[i % 2]},{'yes' if i % 7 else 'no'}" for i in range(1200)]
    asked = USUAL | {"favourable": "positive", "rules": ["selection_rate.ratio >= 0.8"]}
    case = {"text": "\n".join(["line,sex,ok", *rows, *rows[:60]]), "question": asked}
    (made,) = answers([case], tmp_path)
    assert {d["code"] for d in made["doubts"]} == {"doubled_rows"}
    assert {v["outcome"] for v in made["verdicts"]} == {"inconclusive"}


def test_an_appended_file_is_found_where_a_column_has_too_many_values_to_keep(tmp_path):
    rows = [f"C-{i},{'FM'[i % 2]},{'yes' if i % 7 else 'no'}" for i in range(60_000)]
    asked = USUAL | {"favourable": "positive", "rules": ["selection_rate.ratio >= 0.8"]}
    of_once, of_twice = (
        {"text": "\n".join(["line,sex,ok", *rows * times]), "question": asked} for times in (1, 2)
    )
    once, twice = answers([of_once, of_twice], tmp_path)
    assert ([v["outcome"] for v in once["verdicts"]], once["doubts"]) == (["pass"], [])
    assert {d["code"] for d in twice["doubts"]} == {"doubled_rows"}
    report = audited(of_twice, tmp_path / "twice.csv")
    assert [v["outcome"] for v in twice["verdicts"]] == [str(v.outcome) for v in report.verdicts]
    assert twice["fingerprint"] == report.data.fingerprint


def test_an_interval_that_ends_at_the_limit_but_for_rounding_passes(tmp_path):
    case = {"text": "sex,ok\n" + "F,yes\nF,no\nM,yes\nM,no\nM,yes\n" * 40, "question": USUAL}
    (low,) = (e["low"] for e in answers([case], tmp_path)[0]["estimates"]
              if (e["metric"], e["group"]) == ("selection_rate.ratio", "F"))  # fmt: skip
    for limit, outcome in ((low * (1 + 5e-13), "pass"), (low * (1 + 5e-12), "inconclusive")):
        rule = {"metric": "selection_rate.ratio", "at_least": limit}
        question = USUAL | {"rules": [rule], "favourable": "positive"}
        asked = {"text": case["text"], "question": question}
        (made,) = answers([asked], tmp_path)
        theirs = audited(asked, tmp_path / "limit.csv").verdicts
        assert [v["outcome"] for v in made["verdicts"]] == [str(v.outcome) for v in theirs]
        assert [v["outcome"] for v in made["verdicts"]] == [outcome]


def test_a_decision_that_is_nobodys_best_is_listed_as_not_favourable(tmp_path):
    """Of people, whose decisions count as one, "Withdrawn" may be the outcome of none."""
    rows = [f"C{i},{'FM'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(200)]
    rows += [f"C{i},{'FM'[i % 2]},Withdrawn" for i in range(1, 200, 30)]
    case = {"text": "\n".join(["who,sex,ok", *rows]), "question": USUAL | {"person": "who"}}
    (made,) = answers([case], tmp_path)
    assert "Counted as not positive: no 67, Withdrawn 0." in str(made["answers"])
    report = audited(case, tmp_path / "people.csv")
    with in_language("en", None):
        for mine, theirs in sentences(made, report):
            assert set(mine) <= set(theirs)


def test_groups_made_of_several_values_are_stated_as_in_python(tmp_path):
    """The page listed what outcomes are made of, and not what groups are."""
    text = "sex,ok\n" + "F,yes\nF,no\nfemale,no\nM,yes\nmale,no\nNA,no\n?,yes\n,no\n" * 30
    recode = {"sex": {"F": ["F", "female"], "male": ["M"], "M": ["male"], "unknown": ["NA"]}}
    case = {"text": text, "question": USUAL | {"recode": recode, "unknown": ["?"]}}
    report = audited(case, tmp_path / "rows.csv")
    (made,) = answers([case], tmp_path)
    theirs = {text for text in map(str, report.brief().looked_at) if text.startswith("Counted as")}
    assert len(theirs) == 4
    assert theirs <= {each["text"] for place in made["answers"] for each in place["sentences"]}


def test_a_person_in_several_rows_is_stated_and_withholds_a_pass(tmp_path):
    """1,200 rows of 600 candidates; a requisition of many is no person, nor is a row's own key."""
    rows = [
        f"C{i % 600},R{i % 4},{i},{'FM'[i % 2]},{'yes' if i % 7 else 'no'}" for i in range(1200)
    ]
    asked = USUAL | {"favourable": "positive", "rules": ["selection_rate.ratio >= 0.8"]}
    tables = [
        "\n".join([f"{name},Req ID,Row ID,sex,ok", *rows])
        for name in ("Candidate ID", "Bewerbernummer", "Remark")
    ]
    cases = [{"text": text, "question": asked} for text in tables]
    *held, passed = answers(cases, tmp_path)
    assert [each["repeated"] for each in held] == ["Candidate ID", "Bewerbernummer"]
    for each in held:
        assert [(v["outcome"], v["reason"]["code"]) for v in each["verdicts"]] == [
            ("inconclusive", "repeated_people")
        ]
    assert passed["repeated"] is None
    assert [v["outcome"] for v in passed["verdicts"]] == ["pass"]
    found = audited(cases[0], tmp_path / "ids.csv").doubts
    assert [(d.code, d.column) for d in found] == [("rows_that_repeat_people", "Candidate ID")]


def is_of_selection(name):
    metrics = find_kit(name).options["metrics"]
    alone = not find_kit(name).compared_with and all("mean_" not in each for each in metrics)
    return alone and any(each.startswith("selection_rate.") for each in metrics)


def every_path(given):
    """Return all answers to the questions of `choose` that begin so."""
    question = next_question(given)
    if question is None:
        return [given]
    return [
        path for each in question.answers for path in every_path({**given, question.name: each})
    ]


def ratios_to_highest(shares, people):
    """Return the group of at least 2% of people with the highest rate, and all ratios to it."""
    every = sum(people.values())
    known = [group for group, n in people.items() if n >= 0.02 * every]
    best = max(known, key=lambda group: shares[group])
    return best, {group: share / shares[best] for group, share in shares.items()}


@pytest.mark.each_value
@pytest.mark.parametrize("table", SELECTED)
def test_the_four_fifths_rule_is_the_same_wherever_it_is_asked(tmp_path, table):
    """Page and Python have one answer, and that is arithmetic.

    Whatever `choose` was answered, of decisions, scores and rankings, and in every preset; the top
    of a list has the same reference.
    """
    groups = SELECTED[table]
    people = [
        (group, int(i < selected)) for group, (n, selected) in groups.items() for i in range(n)
    ]
    sizes = {group: n for group, (n, _) in groups.items()}
    scores = [x / 2 + i * 7919 % len(people) / len(people) / 2
              for i, (_, x) in enumerate(people)]  # fmt: skip
    lines = [f"{group},{x},{x},{s}" for (group, x), s in zip(people, scores, strict=True)]
    text = "\n".join(["group,prediction,label,score", *lines]) + "\n"
    top = Counter(people[i][0] for i in sorted(range(len(people)), key=scores.__getitem__)[-100:])
    best_of_top, of_top = ratios_to_highest({g: top[g] / n for g, n in sizes.items()}, sizes)
    best, of_best = ratios_to_highest({g: k / n for g, (n, k) in groups.items()}, sizes)
    others = {
        g: k / n / (sum(e[1] for o, e in groups.items() if o != g) / (len(people) - n))
        for g, (n, k) in groups.items()
    }
    rule, reference = str(FOUR_FIFTHS), FOUR_FIFTHS.reference
    chosen = [
        tomllib.loads(specification(recommend(each))) | {"positive": ["1"]}
        for model in ("decision", "score", "ranking")
        for each in every_path({"model": model})
    ]
    plain = {"prediction": "prediction", "sensitive": ["group"], "positive": ["1"]}
    by_hand = plain | {"rules": [rule], "metrics": ["selection_rate"]}
    kits = [plain | {"preset": name} for name in kit_names() if is_of_selection(name)]
    questions = [*chosen, *kits, by_hand | {"reference": reference}, by_hand]
    made = answers([{"text": text, "question": each} for each in questions], tmp_path)
    stated, answered, judged = [], 0, 0
    for question, page in zip(questions, made, strict=True):
        report = audited({"text": text, "question": question}, tmp_path / "table.csv")
        if "refused" not in page:
            answered += 1
            compare(page, report)
            if report.verdicts:
                assert page["verdict"][0] == [*sentences(page, report)][1][1][0]
        found = {v.group: v for v in report.verdicts if v.rule == rule}
        assert found or rule not in question.get("rules", ())
        for group, verdict in found.items():
            ratio = others[group] if question is by_hand else of_best[group]
            assert verdict.value == pytest.approx(ratio)
        if question is not by_hand and found and table != "equal":
            of_ratio = [e.reference for e in report.estimates if e.metric == "selection_rate.ratio"]
            assert {each.group for each in of_ratio} == {best}
        tops = {v.group: v.value for v in report.verdicts if v.metric == "top_selection_ratio"}
        assert tops == {} or tops == {
            g: pytest.approx(n) for g, n in of_top.items() if g != best_of_top
        }
        judged += bool(tops)
        if "score" in question and not tops and found:
            kept = ("label", "sensitive", "positive", "reference", "min_share")
            by_decision = {k: question[k] for k in kept if k in question} | {
                "prediction": "prediction",
                "rules": [rule],
            }
            same = audited({"text": text, "question": by_decision}, tmp_path / "table.csv")
            outcomes = {g: (v.value, v.outcome) for g, v in found.items()}
            assert outcomes == {v.group: (v.value, v.outcome) for v in same.verdicts}
        stated.append(any("not the four-fifths rule" in each for each in page.get("verdict", ())))
    assert judged == len(every_path({"model": "ranking"}))
    assert answered > len(every_path({"model": "decision"}))
    assert stated[:-1] == [False] * (len(questions) - 1)
    assert stated[-1] or len(groups) == 2  # of two groups all others are the other one


@pytest.mark.each_value
@pytest.mark.parametrize("model", ["none", "class", "number"])
def test_what_choose_writes_of_other_models_has_one_answer_on_the_page_and_in_python(
    tmp_path, model
):
    for groups in list(SELECTED.values())[:4]:
        lines = [
            f"{g},{int(i < k)},{int(i % 7 > 0) * int(i < k)}"
            for g, (n, k) in groups.items() for i in range(n)
        ]  # fmt: skip
        text = "\n".join(["group,label,prediction", *lines]) + "\n"
        for path in every_path({"model": model}):
            question = tomllib.loads(specification(recommend(path)))
            question |= {"positive": ["1"]} if model == "none" else {}
            question |= {"task": "regression"} if model == "number" else {}
            (page,) = answers([{"text": text, "question": question}], tmp_path)
            report = audited({"text": text, "question": question}, tmp_path / "table.csv")
            assert {str(e.reference) for e in report.estimates if e.reference} == {"others"}
            if "refused" not in page:
                compare(page, report)
