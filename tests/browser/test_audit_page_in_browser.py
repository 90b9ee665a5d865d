"""The page that audits a dropped file, in a browser: nothing leaves it."""

from __future__ import annotations

import re
import tomllib
import warnings
from html import unescape

import pytest
from tests.browser.conftest import Visit, violations

import fairgauge as fg
from fairgauge.render.page import told

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
    content = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
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
    answer(page)
    (tmp_path / "applicants.csv").write_text(text, encoding="utf-8")
    question = tomllib.loads(saved(page, "#save-question"))
    counts = saved(page, "#save-counts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cube = fg.count(tmp_path / "applicants.csv", config=question)
        report = fg.audit(tmp_path / "applicants.csv", config=question)
    assert counts == cube.to_json()
    assert page.inner_text("#headline") == told(report).headline
    outcomes = {v.group: str(v.outcome).capitalize() for v in report.verdicts}
    rows = page.query_selector_all(".verdicts tbody tr:not(.part)")
    assert [row.query_selector(".v").inner_text() for row in rows] == list(outcomes.values())
    table = saved(page, "#save-table").splitlines()
    assert len(table) == 1 + len(report.groups) + len(UNKNOWN)
    assert [row.split(",")[:4] for row in table if ",not known," in row] == UNKNOWN
    blobs = [url for url in visit.requests if not url.startswith("blob:")]
    assert blobs == [visit.url]
    assert visit.complaints == []


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


def test_people_in_several_rows_are_named_with_the_command_that_counts_them_once(open_page):
    page = open_page().page
    lines = APPLICANTS.splitlines()
    ids = ["Candidate ID", *(f"C{i % 400}" for i in range(len(lines) - 1))]
    drop(page, "\n".join(map(",".join, zip(ids, lines, strict=True))))
    assert '--person "Candidate ID"' in page.inner_text("#q-unit")
    answer(page)
    assert '--person "Candidate ID"' in page.inner_text("#several")


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
    assert ",'=cmd|' /C calc'!A0," in table
    assert all(not url.startswith("http") for url in visit.requests)


@pytest.mark.parametrize(
    ("text", "name", "states"),
    [
        ("", "empty.csv", "empty"),
        ("one\n1\n2\n", "one.csv", "Only one column"),
        ("yes,Male\nno,Female\n", "headless.csv", "looks like data"),
        ("sex,ok\nF,yes,x\n", "ragged.csv", "Row 2"),
        ('sex,ok\n"F,yes\n', "quote.csv", "never closed"),
        ("sex,sex\nF,M\n", "twice.csv", "twice"),
        ("PK\x03\x04", "people.xlsx", "workbook"),
        ("a\x00b,c\n", "binary.csv", "no text file"),
        ("sex,ok\nF,yes\n", "people.parquet", "not .parquet files"),
    ],
)  # fmt: skip
def test_bad_files_get_a_message_that_names_what_to_do(open_page, text, name, states):
    page = open_page().page
    drop(page, text, name)
    assert states in page.inner_text("#problem")
    assert page.get_attribute("#problem .error", "role") == "alert"
    assert page.is_hidden("#questions")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
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


def test_a_browser_that_computes_differently_shows_nothing(chromium, written, tmp_path):
    path = tmp_path / "other.html"
    text = written["en"].read_text("utf-8")
    at = text.index('"check":')
    changed = text[:at] + text[at:].replace('"fail"', '"pass"', 1).replace("0.", "0.1", 1)
    path.write_text(changed, encoding="utf-8")
    visit = Visit(chromium, path, bypass_csp=True)
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
    assert written["en"].stat().st_size < 175_000
    text = written["en"].read_text("utf-8")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
