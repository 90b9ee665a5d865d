"""The page that audits a dropped file, in a browser: nothing leaves it."""

import datetime as dt
import json
import re
import shutil
import subprocess
import tomllib
import warnings
from html import unescape
from itertools import product

import pytest
from page_tables import SELECTED
from tests.browser.conftest import ROOT, Visit, violations
from tests.needs import missing

import fairgauge as fg
from fairgauge.api.paging import page_data
from fairgauge.cube.cube import Cube
from fairgauge.render.page import first_page
from fairgauge.render.words import in_language
from fairgauge.render.writers.audit_page import audit_page

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><b>", "=cmd|' /C calc'!A0", "__proto__")
_ROWS = [
    f"{sex},{race},{'Hired' if i % k else 'Rejected'}"
    for sex, k in (("Female", 2), ("Male", 5))
    for race in ("White", "Black")
    for i in range(150)
]
APPLICANTS = "\n".join(["Sex,Race,Decision", *_ROWS, "Female,N/A,Withdrawn", "female,White,Hired"])

UNKNOWN = [["Race", "not known", "", "1"], ["Sex and Race", "not known", "", "1"]]
FLAGGED = "\n".join(
    ["Sex,Flagged", *(f"{sex},{'yes' if i < n else 'no'}" for sex, n in (("woman", 60), ("man", 30))
                     for i in range(100) for _ in range(5))]
)  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    paths = {}
    for name, options in (
        ("en", {}),
        ("de", {"lang": "de"}),
        ("law", {"preset": "nyc-ll144"}),
        ("given", {"config": {
            "prediction": "Decision", "positive": ["Hired"], "favourable": "positive",
            "sensitive": ["Sex"], "rules": ["selection_rate.ratio >= 0.8"],
            "metrics": ["selection_rate.ratio"],
        }}),
    ):  # fmt: skip
        paths[name] = folder / f"{name}.html"
        fg.page(**options).save(paths[name])
    return paths


@pytest.fixture
def open_page(chromium, written):
    opened = []

    def opens(name="en", *, width=1280, **options):
        visit = Visit(
            chromium, written[name], viewport={"width": width, "height": 900},
            accept_downloads=True, **options,
        )  # fmt: skip
        opened.append(visit)
        until(visit.page, "document.documentElement.dataset.ready === 'yes'")
        return visit

    yield opens
    for each in opened:
        each.context.close()


def until(page, condition):
    """Wait without a string that the policy of the page would not let the browser evaluate."""
    for _ in range(500):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {condition}")


def drop(page, text, name="applicants.csv"):
    content = text if isinstance(text, bytes) else text.encode()
    content = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.set_input_files("#file", content)
    until(page, "!document.querySelector('#questions').hidden || "
                "document.querySelector('#problem').textContent !== ''")  # fmt: skip


def tick(page, rule="fifths", good="positive"):
    """Answer what is ticked for nobody: whether it is good for people, and the rule."""
    for box in (f"[name=favourable][value={good}]", f"[name=rule][value={rule}]"):
        if page.is_visible(box):
            page.check(box)


def answer(page, *, ticked=False):
    if not ticked:
        tick(page)
    page.click("button.main")
    until(page, "!document.querySelector('#result').hidden || "
                "document.querySelector('#wrong').textContent !== ''")  # fmt: skip


def saved(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_text("utf-8-sig")


def test_a_dropped_file_is_answered_as_python_answers_it(open_page, tmp_path):
    visit = open_page()
    page = visit.page
    page.evaluate("globalThis.confirm = () => true")  # to save counts below ten people
    text = f"{APPLICANTS}\nFemale,N/A,Rejected"
    drop(page, text)
    page.check("#crossed")
    answer(page)
    (tmp_path / "applicants.csv").write_text(text, encoding="utf-8")
    question = tomllib.loads(saved(page, "#save-question"))
    counts = saved(page, "#save-counts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cube = fg.count(tmp_path / "applicants.csv", config=question)
        report = fg.audit(tmp_path / "applicants.csv", config=question)
    assert counts == cube.to_json()
    assert page.inner_text("#headline") == first_page(report).headline
    outcomes = {v.group: str(v.outcome).capitalize() for v in report.verdicts}
    rows = page.query_selector_all(".verdicts tbody tr:not(.part)")
    shown = [row.query_selector(".v").inner_text().partition(" (")[0] for row in rows]
    assert shown == list(outcomes.values())
    held = [(e.column, e.value, f"{e.rows:,}") for e in report.counted if e.value is not None]
    listed = "all => all.map((r) => [...r.children].map((c) => c.textContent).join('|'))"
    kept = page.eval_on_selector_all("#tables details tbody tr", listed)
    assert {f"{value}|{rows}" for _, value, rows in held} <= {
        "|".join(r.split("|")[:2]) for r in kept
    }
    assert "Withdrawn|1|nothing was decided" in kept
    assert question["negative"] == ["Rejected"]  # both outcomes are stated
    table = saved(page, "#save-table").splitlines()
    assert len(table) == 1 + len(report.groups) + len(UNKNOWN)
    assert [row.split(",")[:4] for row in table if ",not known," in row] == UNKNOWN
    blobs = [url for url in visit.requests if not url.startswith("blob:")]
    assert blobs == [visit.url]
    assert visit.complaints == []


def test_firefox_answers_as_python_does_and_asks_nobody(written, tmp_path):
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        missing("Firefox")
    if not (ROOT / "node_modules" / "puppeteer-core").exists():
        missing("puppeteer", "npm install --no-save puppeteer-core")
    table = tmp_path / "applicants.csv"
    table.write_text(APPLICANTS, encoding="utf-8")
    command = ["node", ROOT / "tests/browser/firefox.mjs", firefox, written["en"].as_uri(), table]
    shown = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = fg.audit(
            table, prediction="Decision", positive="Hired", favourable="positive",
            sensitive=["Sex", "Race"], intersections=[["Sex", "Race"]],
            recode={"Sex": {"Female": ["female", "Female"]}, "Race": {"unknown": ["N/A"]}},
            words={"noun": "applicants"}, rules=["selection_rate.ratio >= 0.8"], reference="best",
        )  # fmt: skip
    assert shown["headline"] == first_page(report).headline
    assert [each.partition(" (")[0] for each in shown["verdicts"]] == [
        str(each.outcome).capitalize() for each in report.verdicts
    ]
    # the browser's own fonts are data: of its own
    assert [
        url for url in shown["requests"] if not url.startswith(("file:", "blob:", "data:"))
    ] == []
    assert shown["complaints"] == []
    assert not shown["tooWide"]


@pytest.mark.each_value
@pytest.mark.parametrize("table", SELECTED)
def test_every_answer_to_its_form_is_judged_as_python_judges_it(open_page, tmp_path, table):
    """The same reference, values and verdicts, whichever rule and reference are ticked."""
    head, rows = "Group,Decision", [
        f"{group},{'Hired' if i < selected else 'Rejected'}"
        for group, (n, selected) in SELECTED[table].items() for i in range(n)
    ]  # fmt: skip
    (tmp_path / "applicants.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    asked = [("fifths", None), ("law", None), ("none", None), ("gap", "others"), ("gap", "best")]
    for good, (rule, reference) in [*product(("positive", "negative"), asked)]:
        if (rule, good) == ("law", "negative"):
            continue  # a contradiction, which is refused
        page = open_page().page
        page.evaluate("globalThis.confirm = () => true")
        drop(page, "\n".join([head, *rows]))
        tick(page, rule, good)
        if reference:
            page.check(f"[name=reference][value={reference}]")
        answer(page, ticked=True)
        until(page, "!document.querySelector('#result').hidden")
        question = tomllib.loads(saved(page, "#save-question"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = fg.audit(tmp_path / "applicants.csv", config=question)
        said = first_page(report)
        # where it has no headline of Python it is a verdict of Python, or states nothing
        others = [text for text, _ in said.texts["verdict"]] + ["The audit in numbers"]
        shown = page.inner_text("#headline")
        assert shown in others or said.headline.startswith(shown.rstrip("."))
        cells = page.query_selector_all(".verdicts tbody tr:not(.part) .v")
        shown = [cell.inner_text().partition(" (")[0] for cell in cells]
        assert shown == [str(v.outcome).replace("_", " ").capitalize() for v in report.verdicts]
        if rule in ("fifths", "law"):
            assert report.spec["reference"] == "best"
        elif reference:
            assert report.spec.get("reference", "others") == reference


def test_a_changed_question_takes_its_answer_away(open_page):
    page = open_page().page
    drop(page, APPLICANTS)
    answer(page)
    assert page.is_checked("[name=reference][value=best]")  # of four fifths, as the rule has it
    page.fill("#verb", "selected")
    assert page.is_hidden("#result")
    answer(page, ticked=True)
    assert "selected" in page.inner_text("#tables thead")


def test_a_count_that_is_none_is_no_row_each(open_page):
    page = open_page().page
    rows = [f"{sex},{got},{n}" for sex in "FM" for got, n in (("yes", 212), ("no", '"1,418"'))]
    drop(page, "\n".join(["Sex,Invited,Number", *rows]))
    answer(page)
    assert "Number looks like a count, but holds “1,418”" in page.inner_text("#wrong")
    page.select_option("#count", "")
    answer(page, ticked=True)
    assert page.is_visible("#result")


def test_counts_pasted_from_a_sheet_are_read_and_every_column_has_a_sentence(open_page):
    page = open_page().page
    rows = [f"{team}\t{sex}\t{got}\t{n}" for team in ("Sales", "IT", "Ops") for sex, got, n in
            (("Women", "Promoted", 40), ("Women", "Not promoted", 160),
             ("Men", "Promoted", 70), ("Men", "Not promoted", 130))]  # fmt: skip
    drop(page, "\n".join(["Team\tGender\tOutcome\tCount", *rows, "Total\t\t\t1200"]))
    assert "One row is called “Total”" in page.inner_text("#total")
    drop(page, "\n".join(["Team\tGender\tOutcome\tCount", *rows]))
    assert page.inner_text("#total") == ""
    assert page.is_checked("[name='d:Promoted'][value=yes]")  # the other is "Not promoted"
    page.check("[name=group][value=Team]")
    page.check("#crossed")
    answer(page)
    notes = page.eval_on_selector_all("#tables > div > p", "all => all.map((p) => p.textContent)")
    best = "Selection rate, compared with the group that gets it most often:"
    assert notes[:2] == [
        f"{best} no significant difference for Ops, Sales.",
        f"{best} significantly lower for Women.",
    ]
    assert len(notes) == 3


def test_cells_are_pasted_anywhere_and_a_header_is_asked_for(open_page):
    page = open_page().page
    paste = """text => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", text);
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }"""
    cells = APPLICANTS.replace(",", "\t")
    page.evaluate(paste, cells.split("\n", 1)[1])
    until(page, "document.querySelector('#problem').textContent !== ''")
    assert "looks like data" in page.inner_text("#problem")
    page.evaluate(paste, cells)
    until(page, "!document.querySelector('#questions').hidden")
    assert "602 rows, 3 columns" in page.inner_text("#read")


def test_ages_are_cut_where_somebody_says(open_page, tmp_path):
    page = open_page().page
    page.evaluate("globalThis.confirm = () => true")
    head, *rows = APPLICANTS.splitlines()
    ages = [*(str(18 + i % 53) for i in range(len(rows) - 2)), "n/a", ""]
    text = "\n".join([f"Age,{head}", *map(",".join, zip(ages, rows, strict=True))])
    drop(page, text)
    page.check("[name=group][value=Age]")
    assert "\u201cn/a\u201d" in page.inner_text("#spellings")
    answer(page)
    assert "at which numbers is Age cut" in page.inner_text("#wrong")
    page.fill("[name=cuts]", "30; 45.5")
    answer(page, ticked=True)
    until(page, "!document.querySelector('#result').hidden")
    question = tomllib.loads(saved(page, "#save-question"))
    assert {"column": "Age", "cuts": [30, 45.5]} in question["sensitive"]
    assert question["recode"]["Age"] == {"unknown": ["n/a"]}
    (tmp_path / "aged.csv").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cube = fg.count(tmp_path / "aged.csv", config=question)
    assert saved(page, "#save-counts") == cube.to_json()
    assert "above 30 to 45.5" in page.inner_text("#tables")


def test_a_page_with_answers_asks_the_rest(open_page):
    page = open_page("given").page
    drop(page, APPLICANTS)
    shown = page.eval_on_selector_all("fieldset:not([hidden])", "all => all.map((each) => each.id)")
    assert shown == ["q-label", "q-unit", "q-words"]
    answer(page)
    assert "fails" in page.inner_text(".verdict")


def test_the_preset_states_that_the_law_sets_no_limit(open_page):
    page = open_page("law").page
    drop(page, APPLICANTS)
    assert page.is_hidden("#q-rule")
    answer(page)
    assert "Local Law 144 sets no limit" in page.inner_text(".verdict")
    assert tomllib.loads(saved(page, "#save-question"))["preset"] == "nyc-ll144"


def test_a_harm_has_the_rule_that_the_worse_off_can_fail(open_page):
    page = open_page().page
    drop(page, FLAGGED)
    tick(page, good="negative")
    assert "no group gets it more than 1.25 times" in page.inner_text("#q-rule")
    assert "the group that gets it least often" in page.inner_text("#q-rule")
    answer(page, ticked=True)
    assert tomllib.loads(saved(page, "#save-question"))["rules"] == ["selection_rate.ratio <= 1.25"]
    assert "fails for applicants with Sex woman (worse off)" in page.inner_text(".first .verdict")
    assert page.inner_text(".verdicts td.v") == "Fail"
    page.check("[name=reference][value=best]")
    page.click("button.main")
    until(page, "document.querySelector('#result').textContent.includes('lowest rate (Tukey)')")
    assert "ratio to the lowest rate" in page.inner_text("#tables")
    tick(page, rule="law", good="negative")
    page.click("button.main")
    until(page, "document.querySelector('#wrong').textContent !== ''")
    assert "favourable: negative contradicts the preset nyc-ll144" in page.inner_text("#wrong")


def test_what_nobody_answered_is_asked_before_anything_is_shown(open_page):
    page = open_page().page
    drop(page, APPLICANTS.replace("Rejected", "Parked"))
    assert page.query_selector("[name='d:Parked']:checked") is None
    assert page.query_selector("[name=rule]:checked, [name=favourable]:checked") is None
    for states, box in (
        ("Parked", "[name='d:Parked'][value=no]"),
        ("good for people", "[name=favourable][value=positive]"),
        ("which rule", "[name=rule][value=none]"),
    ):
        answer(page, ticked=True)
        assert states in page.inner_text("#wrong")
        assert page.is_hidden("#result")
        page.check(box)
    page.click("button.main")
    until(page, "!document.querySelector('#result').hidden")


def test_what_is_decided_describes_no_people(open_page):
    page = open_page().page
    drop(page, APPLICANTS)
    shown = "all => all.filter((each) => each.offsetParent).map((each) => each.value)"
    assert page.eval_on_selector_all("[name=group]", shown) == ["Sex", "Race"]
    page.select_option("#decision", "Sex")
    assert page.eval_on_selector_all("[name=group]", shown) == ["Race", "Decision"]


def test_a_workbook_with_plain_cells_is_read_as_its_csv_is(open_page, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    page = open_page().page
    head, *rows = (line.split(",") for line in APPLICANTS.splitlines())
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Applicants of a year"])
    sheet.append(["Started", "Points", *head])
    for i, row in enumerate(rows):
        started = dt.datetime(2026, 1, 1 + i % 28, tzinfo=None)
        sheet.append([started, i % 7 / 2, *(each.replace("Black", "<B> & 'c'") for each in row)])
    book.save(tmp_path / "one.xlsx")
    drop(page, (tmp_path / "one.xlsx").read_bytes(), "one.xlsx")
    assert f"{len(rows)} rows, 5 columns" in page.inner_text("#read")
    shown = page.inner_text("#decision")
    for values in ("Started (2026-01-01, 2026-01-02", "Points (0, 0.5, 1 ", "White, <B> & 'c'"):
        assert values in shown
    answer(page)
    assert "<B> & 'c'" in page.inner_text("#tables")
    book.create_sheet("another")
    book.save(tmp_path / "two.xlsx")
    drop(page, (tmp_path / "two.xlsx").read_bytes(), "two.xlsx")
    assert "several sheets" in page.inner_text("#problem")


def test_combinations_are_asked_for_and_small_groups_stand_behind_their_number(open_page):
    page = open_page().page
    small = [f"Male,{race},{got}" for race in ("P", "Q", "R") for got in ("Hired", "Rejected")]
    drop(page, "\n".join([APPLICANTS, *small]))
    answer(page)
    assert "Sex and Race" not in page.inner_text("#tables")
    rows = ".verdicts tbody tr:not(.part)"
    seen = "all => all.filter((r) => !r.hidden).map((r) => r.textContent)"
    assert not any("R applicants" in r for r in page.eval_on_selector_all(rows, seen))
    page.click(".verdicts button:has-text('3 groups too small to be judged')")
    assert sum("below the smallest size" in r for r in page.eval_on_selector_all(rows, seen)) == 3
    page.check("#crossed")
    assert page.is_hidden("#result")
    answer(page, ticked=True)
    assert "Sex and Race" in page.inner_text("#tables")
    page.uncheck("[name=group][value=Race]")
    assert page.is_hidden("#crossed")


def test_people_in_several_rows_count_once_or_withhold_a_pass(open_page, tmp_path):
    page = open_page().page
    page.evaluate("globalThis.confirm = () => true")
    lines = APPLICANTS.splitlines()
    ids = ["Candidate ID", *(f"C{i % 400}" for i in range(len(lines) - 1))]
    text = "\n".join(map(",".join, zip(ids, lines, strict=True)))
    drop(page, text)
    assert page.input_value("#person") == "Candidate ID"
    answer(page)
    assert "people" in page.inner_text("#result")
    assert page.query_selector("#several") is None
    question = tomllib.loads(saved(page, "#save-question"))
    assert question["person"] == "Candidate ID"
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    assert saved(page, "#save-counts") == fg.count(tmp_path / "people.csv", **question).to_json()
    page.select_option("#person", "")
    page.click("button.main")
    until(page, "document.querySelector('#several') !== null")
    assert "Candidate ID" in page.inner_text("#several")


def test_a_score_is_a_decision_above_a_number(open_page, tmp_path):
    page = open_page().page
    page.evaluate("globalThis.confirm = () => true")
    scores = [(f"{40 + 0.5 * (i % 90)}".replace(".", ","), "FM"[i % 2]) for i in range(300)]
    text = "\n".join(["Points;Sex", *map(";".join, scores), "n/a;F"])
    drop(page, text)
    page.select_option("#decision", "Points")
    page.check("[name=group][value=Sex]")
    median = sorted(float(score.replace(",", ".")) for score, _ in scores)[149:151]
    assert f"The median of the column is {sum(median) / 2}" in page.inner_text("#decided")
    for nobody in ("", "5550", "high"):  # a threshold beyond all scores would answer nothing
        page.fill("#above", nobody)
        answer(page)
        assert "a number of at least 40 and below 84.5" in page.inner_text("#wrong")
    page.fill("#above", "55,5")
    answer(page)
    question = tomllib.loads(saved(page, "#save-question"))
    assert question["positive"] == {"above": 55.5}
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    cube = fg.count(tmp_path / "scores.csv", **question)
    assert saved(page, "#save-counts") == cube.to_json()
    report = fg.audit(cube)
    assert page.inner_text("#headline") == first_page(report).headline
    assert "Points > 55.5" in page.inner_text("#result")


@pytest.mark.parametrize("language", ["en", "de"])
def test_counts_that_somebody_sends_are_answered_and_explored(open_page, tmp_path, language):
    page = open_page(language).page
    page.evaluate("globalThis.confirm = () => true")
    (tmp_path / "rows.csv").write_text(APPLICANTS, encoding="utf-8")
    cube = fg.count(tmp_path / "rows.csv", prediction="Decision", positive=["Hired"],
                    sensitive=["Sex", "Race"], intersections=[["Sex", "Race"]],
                    recode={"Sex": {"Female": ["female", "Female"]}})  # fmt: skip
    drop(page, cube.to_json(), "counts.cube.json")
    answer(page)
    # which values are a group is the author's, and stated
    with in_language(language):
        looked = first_page(fg.audit(cube)).texts["looked"]
    (made_of,) = (text for text, each in looked if each.facts.get("state") == "named")
    assert made_of in page.inner_text("#result")
    counts = saved(page, "#save-counts")
    assert json.loads(counts)["fingerprint"] == cube.digest
    assert Cube.from_dict(json.loads(counts)) == cube
    page.click("#go-on")
    page.check("#by input[value='1']")
    page.select_option("#reference", "overall")
    report = fg.audit(cube, metrics=["selection_rate.difference"], reference="overall")
    known = {e.group: e for e in report.estimates if e.feature == "Sex*Race"}
    rows = page.query_selector_all("#grid tbody tr")
    assert len(rows) == len(known)
    for row in rows:
        each, cell = known[row.query_selector("bdi").inner_text()], row.query_selector("td")
        shown = [cell.query_selector("data").get_attribute("value"),
                 *(cell.get_attribute(f"data-{end}") for end in ("low", "high"))]  # fmt: skip
        wanted = (each.value, each.interval.low, each.interval.high)
        assert list(map(float, shown)) == pytest.approx(wanted, abs=1e-9)
    changed = cube.to_json().replace('"rows":602', '"rows":603')
    page.set_input_files(
        "#file",
        {"name": "counts.cube.json", "mimeType": "application/json", "buffer": changed.encode()},
    )
    until(page, "document.querySelector('#problem').textContent !== ''")
    stated = {"en": "were changed or damaged", "de": "geändert oder beschädigt"}
    assert stated[language] in page.inner_text("#problem")


def test_what_a_german_page_refuses_it_refuses_in_german(open_page):
    page = open_page("de").page
    drop(page, "sex,ok\nF,yes,x\n")
    assert "Zeile 2 der Datei" in page.inner_text("#problem")
    drop(page, APPLICANTS)
    page.evaluate("document.querySelectorAll('[name=group]').forEach((e) => { e.checked = false })")
    tick(page)
    page.click("button.main")
    until(page, "document.querySelector('#wrong').textContent !== ''")
    assert "Welche Spalten beschreiben die Menschen?" in page.inner_text("#wrong")


def test_german_numbers_and_cases(open_page):
    page = open_page("de").page
    drop(page, "\n".join([APPLICANTS, *APPLICANTS.splitlines()[1:]]))
    assert "1.204 Zeilen" in page.inner_text("#read")
    answer(page)
    text = page.inner_text("#result")
    assert "von 100 Bewerbern" in text
    assert "95-%-KI" in page.inner_text(".verdicts thead")
    assert not re.search(r"95% CI|von 100 Bewerber\b", text)


def test_a_preset_that_a_page_cannot_ask_is_named_with_those_that_it_can():
    with pytest.raises(fg.SpecError, match="'eu-pay-transparency' is not among the presets") as of:
        fg.page(preset="eu-pay-transparency")
    assert "that a page can ask ('nyc-ll144')" in str(of.value)


def test_hostile_names_do_nothing(open_page):
    visit = open_page()
    page = visit.page
    rows = [f'"{name}",{"yes" if i % 3 else "no"}' for name in HOSTILE for i in range(60)]
    drop(page, "\n".join(["group,ok", *rows]))
    page.check("[name=group][value=group]")
    answer(page)
    table = saved(page, "#save-table")
    assert not visit.dialogs
    assert page.query_selector("#result img, #result b b") is None
    assert "\n'=cmd" not in table
    assert ""","'=cmd|' /C calc'!A0",""" in table
    assert all(not url.startswith("http") for url in visit.requests)


@pytest.mark.parametrize(
    ("text", "name", "states"),
    [
        ("", "empty.csv", "no rows"),
        ("one\n1\n2\n", "one.csv", "Only one column"),
        ("yes,Male\nno,Female\n", "headless.csv", "looks like data"),
        ("sex,ok\nF,yes,x\n", "ragged.csv", "Row 2"),
        ('sex,ok\n"F,yes\n', "quote.csv", "never closed"),
        ("sex,sex\nF,M\n", "twice.csv", "twice"),
        ("PK\x03\x04", "people.xlsx", "workbook"),
        ("a\x00b,c\n", "binary.csv", "not text in UTF-8"),
        (b"sex,ok\nFran\xe7aise,yes\n", "excel.csv", "save it as “CSV UTF-8"),
        ("sex,ok\nF,yes\n", "people.parquet", "not .parquet files"),
    ],
)  # fmt: skip
def test_bad_files_get_a_message_that_names_what_to_do(open_page, text, name, states):
    page = open_page().page
    drop(page, text, name)
    assert states in page.inner_text("#problem")
    assert page.get_attribute("#problem .error", "role") == "alert"
    assert page.is_hidden("#questions")


@pytest.mark.parametrize(
    ("language", "scheme", "width"),  # every two values together
    [("en", "light", 400), ("en", "dark", 1280), ("de", "light", 1280), ("de", "dark", 400)],
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    open_page, axe, language, scheme, width
):
    page = open_page(language, width=width, color_scheme=scheme, bypass_csp=True).page
    drop(page, APPLICANTS)
    assert violations(page, axe, scheme) == []
    answer(page)
    assert violations(page, axe, scheme) == []
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_the_keyboard_alone_leads_to_the_first_page(open_page):
    page = open_page().page
    drop(page, APPLICANTS)
    assert page.evaluate("document.activeElement.id") == "decision"
    for _ in range(60):
        if page.evaluate("document.activeElement.matches('button.main')"):
            break
        if page.evaluate("['favourable', 'rule'].includes(document.activeElement.name)"):
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(page, "!document.querySelector('#result').hidden")
    assert page.evaluate("document.activeElement.id") == "headline"


def test_it_prints_on_two_pages(open_page):
    page = open_page().page
    drop(page, APPLICANTS)
    answer(page)
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 2


def test_a_browser_that_computes_differently_shows_nothing(chromium, tmp_path):
    path, data = tmp_path / "other.html", page_data()
    data["check"]["rows"][0][1] += 1e-6
    path.write_text(audit_page(data | {"given": {}}), encoding="utf-8")
    visit = Visit(chromium, path)
    until(visit.page, "document.querySelector('#ask .error') !== null")
    assert visit.page.query_selector("#drop") is None
    made = visit.page.evaluate("fairgaugePage.audit('a,b\\n1,2', {})")
    assert list(made) == ["refused"]
    visit.context.close()


def test_rows_are_read_behind_a_page_that_answers(open_page):
    page = open_page().page
    rows = "\n".join(f"{'FM'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(200_000))
    page.evaluate("""() => {
      globalThis.longest = 0;
      let last = performance.now();
      setInterval(() => {
        const now = performance.now();
        longest = Math.max(longest, now - last - 20);
        last = now;
      }, 20);
    }""")
    drop(page, f"sex,ok\n{rows}")
    answer(page)
    assert "200,000 rows" in page.inner_text("#result")
    assert page.evaluate("longest") < 1_000  # of a busy machine; alone it is below 200


def test_it_is_one_small_file(written):
    assert all(path.stat().st_size < 160_000 for path in written.values())
    text = written["en"].read_text("utf-8")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
