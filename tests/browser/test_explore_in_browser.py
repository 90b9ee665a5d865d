"""Whatever is clicked in the page of explore, its numbers are those of an audit."""

import json
import math
import os
import random
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from conftest import Visit
from fairgauge.cube.cube import CountTable
from fairgauge.render.writers.html import asset
from fairgauge.sharing.protection import protect_counts
from fairgauge.stats import contrasts

CLICKS = int(os.environ.get("FAIRGAUGE_CLICKS", "120"))
"""Random clicks in CI; the issue's 10,000 take a few minutes."""
HOSTILE = ("<img src=x onerror=alert(1)>", "</script><b>", "__proto__")
METRICS = ["selection_rate", "true_positive_rate", "false_discovery_rate", "accuracy", "base_rate"]
START = {"by": (0,), "reference": "others", "show": "difference"}
CUTS = [0.05, 0.1, 0.35, 0.5, 0.65, 0.8, 0.95]
QUESTION = {"label": "y", "score": "s", "threshold": 0.5, "positive": 1}
READ = """() => Array.from(document.querySelectorAll('#grid tbody tr')).map((row) =>
  [row.dataset.group, Array.from(row.querySelectorAll('td')).map((cell) => {
    const value = cell.querySelector('data'), { low, high, bounds } = cell.dataset;
    return value && [value.value, low, high, cell.classList.contains('few'), bounds];
  })])"""
MANY = """async ([seed, number, cuts]) => {
  const read = READ, id = (name) => document.getElementById(name);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const random = () => {  // mulberry32
    seed = (seed + 0x6D2B79F5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const one_of = (several) => several[Math.floor(random() * several.length)];
  const change = (control, value) => {
    if (control.disabled) return;
    control.value = value;
    control.dispatchEvent(new Event('change'));
  };
  const choose = (control) => change(control, one_of(Array.from(control.options)).value);
  const kinds = [
    () => one_of(all('#show input')).click(), () => one_of(all('#by input')).click(),
    () => choose(one_of(all('#filters select'))), () => choose(id('reference')),
    () => choose(id('metric')), () => one_of(all('#grid button')).click(),
    () => change(id('threshold-number'), String(one_of(cuts))),
  ];
  const found = [];
  for (let k = 0; k < number; k++) {
    one_of(kinds)();
    const grid = read(), at = id('threshold-number').value;
    found.push([{
      show: all('#show input').find((input) => input.checked).value,
      by: all('#by input').filter((input) => input.checked).map((input) => Number(input.value)),
      filters: all('#filters select').map((of) => [Number(of.dataset.column), Number(of.value)])
        .filter(([, code]) => code >= 0),
      reference: id('reference').value, threshold: at === '' ? null : Number(at),
    }, grid]);
  }
  return found;
}""".replace("READ", READ)
"""Clicks one control after another at random; what the controls then show, and the overview."""

RULES = ("others", "overall")
MATRICES = """() => Object.fromEntries(
  Array.from(document.querySelectorAll('.matrix')).map((table) => [
    table.caption.textContent,
    Array.from(table.rows).filter((line) => /predicted/.test(line.textContent))
      .flatMap((line) => Array.from(line.cells).slice(1, 3))
      .map((cell) => Number(cell.textContent.replace(/,/g, '')))]))"""


def rows(seed=4, n=900):
    chance = np.random.default_rng(seed)
    g = chance.choice(HOSTILE, n, p=[0.6, 0.32, 0.08])
    h = chance.choice(["x & y", 'quo"te'], n, p=[0.7, 0.3])
    score = np.clip(chance.beta(2, 2, n) + 0.2 * (g == HOSTILE[0]), 0, 1).round(2)
    label = np.where(chance.random(n) < 0.03, None, (chance.random(n) < score).astype(int))
    missing = chance.random(n) < 0.02
    return pl.DataFrame({
        "g": [None if none else each for each, none in zip(g.tolist(), missing, strict=True)],
        "h": h, "s": score, "y": pl.Series([None if v is None else int(v) for v in label]),
    })  # fmt: skip


@pytest.fixture
def opened(chromium, tmp_path):
    visits = []

    def open_page(exploration, **options):
        path = tmp_path / f"{len(visits)}.html"
        exploration.save(path)
        visits.append(Visit(chromium, path, **options))
        return visits[-1].page

    yield open_page
    for each in visits:
        assert each.complaints == []
        assert each.dialogs == []
        assert all(url.startswith("file:") for url in each.requests)
        each.context.close()


def explored(table, **options):
    asked = {"sensitive": ["g", "h"], "intersections": [["g", "h"]], "metrics": METRICS}
    return fg.explore(table, exact=True, **QUESTION | asked | options)


class Audits:
    """Audits of the same question, each made once for all thresholds."""

    def __init__(self, table, data, **question):
        self.table, self.columns, self.made = table, data["columns"], {}
        self.rates = [rate["name"] for rate in data["rates"]]
        self.question = question or QUESTION | {"threshold": CUTS}

    def numbers(self, by, filters, reference, threshold, show):
        """Return value, low, high and sparseness by the codes of the group, rate by rate."""
        key = (by, filters, reference)
        if key not in self.made:
            self.made[key] = self._audit(by, filters, reference)
        report, codes = self.made[key]
        found = {}
        for each in report.groups if show == "rate" else report.estimates:
            if each.threshold not in (None, threshold) or each.group not in codes:
                continue
            if show == "rate":
                for name, rate in each.rates.items():
                    found[codes[each.group], name] = rate
            else:
                name, _, by_ = each.metric.rpartition(".")
                if by_ == show and (each.threshold == threshold or name == "base_rate"):
                    found[codes[each.group], name] = each
        return found

    def _audit(self, by, filters, reference):
        table = self.table
        for i, code in filters:
            column = self.columns[i]
            table = only(table, column["name"], column["values"][code])
        names = [self.columns[i]["name"] for i in by]
        options = {"sensitive": names} if len(by) == 1 else {"intersections": [names]}
        if isinstance(reference, tuple):
            values = [self.columns[i]["values"][c] for i, c in zip(by, reference, strict=True)]
            reference = dict(zip(names, values, strict=True))
        metrics = [f"{name}.{show}" for name in self.rates for show in ("difference", "ratio")]
        report = fg.audit(table, **self.question, **options, reference=reference, metrics=metrics)
        codes = {}
        for each in report.groups:  # counts are asked about all their columns
            if each.group_id.parts and each.feature_id.columns == tuple(names):
                values = [part.name() for part in each.group_id.parts]
                codes[each.group] = ",".join(
                    str(self.columns[i]["values"].index(n)) for i, n in zip(by, values, strict=True)
                )
        return report, codes


def only(table, name, value):
    """Return the rows, or the counts, of one value of a column."""
    if isinstance(table, pl.DataFrame):
        return table.filter(pl.col(name) == value)
    (counts,) = table.tables
    at = next(i for i, axis in enumerate(counts.axes) if axis.column == name)
    kept = counts.codes[:, at] == table.levels[counts.axes[at]].index(value)
    sums = {measure: held[kept] for measure, held in counts.sums.items()}
    part = CountTable(counts.axes, counts.codes[kept], sums)
    return replace(table, tables=(part,), rows=int(sums["rows"].sum()))


def as_number(text):
    return {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": None}.get(text) if text in (
        "Infinity", "-Infinity", "NaN") else float(text)  # fmt: skip


def same(shown, expected):
    if shown is None or expected is None:
        return shown is expected
    return shown == expected or abs(shown - expected) <= 1e-9 * max(1, abs(expected))


def compare(grid, expected, rates, state):
    """Compare all cells of the page with an audit, and return how many were compared."""
    compared = 0
    for key, cells in grid:
        for name, cell in zip(rates, cells, strict=True):
            each = expected.get((key, name))
            if each is None or each.value is None:
                assert cell is None, (state, key, name, cell)
                continue
            value, low, high = map(as_number, cell[:3])
            assert same(value, each.value), (state, key, name, value, each.value)
            ends = (each.interval.low, each.interval.high) if each.interval else (None, None)
            assert same(low, ends[0]), (state, key, name, low, ends)
            assert same(high, ends[1]), (state, key, name, high, ends)
            assert cell[3] == (str(each.status) == "too_few"), (state, key, name, each.status)
            bounds = cell[4].split(",") if each.bounds else [cell[4]]
            for shown, bound in zip(bounds, each.bounds or [None], strict=True):
                assert shown is None if bound is None else same(as_number(shown), bound)
            compared += 1
    return compared


class Clicks:
    """Changes one control at random, and keeps the state that the page should have."""

    def __init__(self, page, seed):
        self.page, self.data, self.chance = page, data_of(page), random.Random(seed)
        self.state = START | {"filter": {}, "threshold": self.at()}

    def at(self):
        """Return the threshold of the page: the nearest that is counted by the columns."""
        text = self.page.locator("#threshold-number").input_value()
        return float(text) if text else None

    def click(self):
        kinds = [self.show, self.by, self.filter, self.reference, self.cell]
        self.chance.choice(kinds + [self.threshold] * self.data["scored"])()
        self.state["threshold"] = self.at()
        value = self.page.locator("#reference").input_value()
        if value in RULES:  # a reference without rows in the view gives way
            self.state["reference"] = value

    def show(self):
        self.state["show"] = self.chance.choice(["difference", "ratio", "rate"])
        self.page.locator(f"#show input[value={self.state['show']}]").check()

    def by(self):
        i = self.chance.randrange(len(self.data["columns"]))
        box = self.page.locator(f"#by input[value='{i}']")
        if not box.is_enabled():
            assert self.state["by"] == (i,)  # one column makes the groups
            return
        box.click()
        self.state["by"] = tuple(sorted(set(self.state["by"]) ^ {i}))
        if i in self.state["by"]:
            self.state["filter"].pop(i, None)
        if isinstance(self.state["reference"], tuple):
            self.state["reference"] = "others"

    def filter(self):
        i = self.chance.randrange(len(self.data["columns"]))
        if i in self.state["by"]:
            return
        code = self.chance.randrange(-1, len(self.data["columns"][i]["groups"]))
        self.page.locator(f"#filter-{i}").select_option(str(code))
        self.state["filter"].pop(i, None)
        if code >= 0:
            self.state["filter"][i] = code

    def reference(self):
        read = "all => all.map((option) => option.value)"
        values = self.page.locator("#reference option").evaluate_all(read)
        value = self.chance.choice(values)
        self.page.locator("#reference").select_option(value)
        named = value not in RULES
        self.state["reference"] = tuple(map(int, value.split(","))) if named else value

    def threshold(self):
        field = self.page.locator("#threshold-number")
        field.fill(str(self.chance.choice(CUTS)))
        field.press("Enter")

    def cell(self):
        buttons = self.page.locator("#grid button:visible")
        buttons.nth(self.chance.randrange(buttons.count())).click()


def exported(page):
    """Return the view as a specification."""
    with page.expect_download() as download:
        page.click("#export")
    return download.value.path().read_text("utf-8")


def data_of(page):
    return json.loads(page.locator("#counts").text_content())


@pytest.mark.parametrize(("seed", "crossed"), [(0, True), (2, False)])
def test_random_clicks_show_what_an_audit_says(opened, seed, crossed):
    """Where scores are not counted by both columns, crossed groups have the audited thresholds."""
    table = rows(seed)
    options = {} if crossed else {"intersections": [], "threshold": CUTS[1:]}
    page = opened(explored(table, **options))
    audits = Audits(table, data_of(page))
    assert clicks_compared(page, audits, seed) > 10 * CLICKS // 3


def test_random_clicks_in_protected_counts_show_the_bounds_of_an_audit(opened):
    """With the intervals of all tables that agree with the counts, sparse and empty ones too."""
    table = rows(n=2_600).with_columns(p=(pl.col("s") >= 0.4).cast(pl.Int64)).drop_nulls("g")
    question = {"label": "y", "prediction": "p", "positive": 1}
    asked = {"sensitive": ["g", "h"], "intersections": [["g", "h"]]}
    rates = ["selection_rate", "positive_predictive_value", "base_rate", "accuracy"]
    counts = fg.count(table, **question, **asked)
    safe = protect_counts(counts, 10, [], np.random.default_rng(6))
    page = opened(fg.explore(safe, **question, **asked, metrics=[*rates, "f1"], reference="best"))
    assert "rounded at random to a multiple of 10" in page.locator(".notice").inner_text()
    data = data_of(page)
    assert [rate["name"] for rate in data["rates"]] == rates
    values = page.locator("#reference option").evaluate_all("all => all.map((each) => each.value)")
    assert values == ["others", *(str(i) for i in range(len(data["columns"][0]["groups"])))]
    audits = Audits(safe, data, **question)
    clicks = CLICKS // 12  # an audit of bounds takes half a second
    assert clicks_compared(page, audits, 5, clicks) > 5 * clicks
    page.locator("#again").click()
    assert re.search(
        r"bounds .* to .*, 95% CI", page.locator("#grid td").first.get_attribute("title")
    )
    assert "(bounds " in page.locator("#detail").inner_text()


def clicks_compared(page, audits, seed, clicks=CLICKS // 3):
    """Click at random, compare every cell with an audit, and return how many were compared."""
    compared, chance, left = 0, random.Random(seed), clicks
    while left > 0:
        number = min(left, 100)
        left -= number
        for state, grid in page.evaluate(MANY, [chance.getrandbits(31), number, CUTS]):
            value = state["reference"]
            named = value != "others" and value not in RULES
            state["reference"] = tuple(map(int, value.split(","))) if named else value
            filters = tuple(map(tuple, state["filters"]))
            expected = audits.numbers(
                tuple(state["by"]), filters, state["reference"], state["threshold"], state["show"]
            )
            compared += compare(grid, expected, audits.rates, state)
    return compared


def test_translated_kernels_are_those_of_python(opened):
    """Of random tables, empty and extreme ones among them; score intervals too."""
    chance = np.random.default_rng(11)
    n1, n2 = chance.integers(0, 60, (2, 400))
    x1, x2 = chance.binomial(n1, chance.random(400)), chance.binomial(n2, chance.random(400))
    tables = np.stack([x1, n1, x2, n2], axis=1)
    page = opened(explored(rows()))
    forms = {
        "score_difference": contrasts.score_difference, "score_ratio": contrasts.score_ratio,
        "far_apart": contrasts.far_apart, "expected_count": contrasts.expected_count,
    }  # fmt: skip
    assert contrasts.far_apart(*tables.T).sum() > 50
    for z in (1.96, 5.3):
        for name, form in forms.items():
            more = [z] if name.startswith("score") else []
            of_each = f"return all.map((table) => [{name}(...table)].flat().map(String))"
            script = f"all => {{ {asset('closed_forms.js')}; {of_each} }}"
            found = page.evaluate(script, [[*table, *more] for table in tables.tolist()])
            expected = np.atleast_2d(np.array(form(*tables.T, *more), dtype=object))
            for shown, wanted in zip(found, expected.T.tolist(), strict=True):
                if isinstance(wanted[0], bool):
                    assert shown == [str(wanted[0]).lower()]
                    continue
                numbers = [as_number(text) for text in shown]
                known = [None if math.isnan(each) else each for each in wanted]
                assert all(map(same, numbers, known)), (name, shown, wanted)


def test_models_stand_side_by_side_with_the_numbers_of_an_audit_of_each(opened, tmp_path):
    """A name of markup is a model's, too; a candidate has missing decisions of its own."""
    chance = np.random.default_rng(8)
    table = rows().filter(pl.col("g").is_not_null()).with_columns(p=(pl.col("s") >= 0.4).cast(int))
    models = ["p", "q", HOSTILE[0]]
    for name, at, missing in zip(models[1:], (0.55, 0.3), (0.05, 0.0), strict=True):
        decided = (table["s"] >= at).cast(int).to_list()
        none = chance.random(len(decided)) < missing
        own = [None if gone else each for each, gone in zip(decided, none, strict=True)]
        table = table.with_columns(pl.Series(name, own))
    table.write_parquet(tmp_path / "rows.parquet")
    question = {"label": "y", "positive": 1, "sensitive": ["g", "h"]}
    page = opened(fg.explore(table, prediction="p", candidate=models[1:], exact=True, **question))
    data = data_of(page)
    names, metrics = (
        data["columns"][0]["groups"],
        [f"{r['name']}.difference" for r in data["rates"]],
    )
    assert [each["name"] for each in data["models"]] == models
    first = page.evaluate(READ)
    for i, model in enumerate(models):
        page.locator("#model").select_option(str(i))
        report = fg.audit(table, prediction=model, metrics=metrics, **question)
        shown = page.evaluate(READ)
        assert (shown == first) == (i == 0)
        expected = {
            (str(names.index(e.group)), e.metric.removesuffix(".difference")): e
            for e in report.estimates
            if e.feature == "g"
        }
        rates = [rate["name"] for rate in data["rates"]]
        state = {"reference": "others", "show": "difference"}
        assert compare(shown, expected, rates, state) == len(names) * len(rates)
        for key, name in enumerate(names):
            page.click(f"#group-{key}")
            cells = page.evaluate(MATRICES)
            for group in report.groups:
                if (group.feature, group.group) == ("g", name):
                    counts = cells[f"{name}, {model}"]
                    assert counts[:4] == [group.counts[c] for c in ("tp", "fp", "fn", "tn")]
        (tmp_path / "audit.toml").write_text(exported(page), "utf-8")
        again = fg.audit(tmp_path / "rows.parquet", config=tmp_path / "audit.toml")
        assert again.spec["prediction"] == model
        for each in again.estimates:
            if each.metric in metrics:
                assert each.value == report[each.metric, "g", each.group].value


def test_a_view_is_a_question_with_the_same_numbers(opened, tmp_path):
    """The exported specification of random views, audited, has the numbers of the page."""
    table = rows().filter(pl.col("g").is_not_null())
    path = tmp_path / "rows.parquet"
    table.write_parquet(path)
    clicks = Clicks(opened(explored(table)), 0)
    compared = 0
    for _ in range(3):
        for _ in range(5):
            clicks.click()
        clicks.page.locator("#show input[value=difference]").check()
        (tmp_path / "audit.toml").write_text(exported(clicks.page), encoding="utf-8")
        report = fg.audit(path, config=tmp_path / "audit.toml")
        columns = [clicks.data["columns"][i] for i in clicks.state["by"]]
        rates = [rate["name"] for rate in clicks.data["rates"]]
        for key, cells in clicks.page.evaluate(READ):
            values = [c["values"][int(k)] for c, k in zip(columns, key.split(","), strict=True)]
            wanted = [*values] if len(values) > 1 else values[0]
            for each in report.estimates:
                rate, _, by = each.metric.rpartition(".")
                if (
                    by != "difference" or not each.group_id.has_values(wanted)
                    or each.feature_id.columns != tuple(c["name"] for c in columns)
                ):  # fmt: skip
                    continue
                cell = cells[rates.index(rate)]
                assert same(cell and float(cell[0]), each.value)
                if each.interval and cell[1] != "NaN":
                    assert same(as_number(cell[1]), each.interval.low)
                    assert same(as_number(cell[2]), each.interval.high)
                compared += 1
    assert compared > 3


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["others", "overall", "0"])
@pytest.mark.parametrize("by", [("g",), ("h",), ("g", "h")])
def test_a_view_marks_what_an_audit_of_it_marks(opened, by, reference):
    noise = np.random.default_rng(1).normal(0, 0.5, 1_500)
    table = rows(9, 1_500).with_columns(
        p=(pl.col("s") >= 0.5).cast(pl.Int64),
        h=pl.when(pl.col("s") + noise > 0.6).then(pl.lit("x & y")).otherwise(pl.lit("z")),
    )
    question = {"label": "y", "prediction": "p", "positive": 1}
    asked = {"sensitive": ["g", "h"], "intersections": [["g", "h"]], "metrics": METRICS}
    page = opened(fg.explore(table, exact=True, **question, **asked))
    data = data_of(page)
    for checked in (True, False):  # at least one column makes the groups
        for i, column in enumerate(data["columns"]):
            if (column["name"] in by) == checked:
                page.locator(f"#by input[value='{i}']").set_checked(checked)
    named = reference == "0"
    page.select_option("#reference", ",".join("0" * len(by)) if named else reference)
    values = [c["values"][0] for c in data["columns"] if c["name"] in by]
    metrics = [f"{r['name']}.{show}" for r in data["rates"] for show in ("difference", "ratio")]
    report = fg.audit(
        table, **question, metrics=metrics,
        **({"sensitive": list(by)} if len(by) == 1 else {"intersections": [list(by)]}),
        reference=dict(zip(by, values, strict=True)) if named else reference,
    )  # fmt: skip
    shown = "all => all.map((row) => [...row.querySelectorAll('td')].map((td) => td.className))"
    marked = 0
    for show, none in (("difference", 0), ("ratio", 1)):
        page.check(f"#show input[value={show}]")
        cells = page.eval_on_selector_all("#grid tbody tr", shown)
        groups = page.eval_on_selector_all(
            "#grid tbody tr", "all => all.map((r) => r.dataset.group)"
        )
        for key, classes in zip(groups, cells, strict=True):
            parts = [data["columns"][i] for i, c in enumerate(data["columns"]) if c["name"] in by]
            wanted = [c["values"][int(k)] for c, k in zip(parts, key.split(","), strict=True)]
            for rate, names in zip(data["rates"], classes, strict=True):
                (each,) = [
                    e for e in report.estimates
                    if e.metric == f"{rate['name']}.{show}" and e.feature_id.columns == by
                    and e.group_id.has_values(wanted if len(wanted) > 1 else wanted[0])
                ] or [None]  # fmt: skip
                ends = each and each.simultaneous
                is_shown = ends and str(each.status) == "ok" and not ends.low <= none <= ends.high
                assert ("clear" in names.split()) == bool(is_shown), (show, key, rate["name"], each)
                marked += bool(is_shown)
    assert marked


def test_groups_and_outcomes_are_called_as_in_the_audit(opened):
    words = {
        "noun": "applicants", "positive": "approved", "negative": "refused",
        "label_positive": "repaid",
        "groups": {"g": {HOSTILE[0]: "first & <b>", HOSTILE[2]: "third"}},
    }  # fmt: skip
    page = opened(explored(rows(), words=words))
    assert data_of(page)["columns"][0]["groups"] == [HOSTILE[1], "first & <b>", "third"]
    page.locator("#metric").select_option(label="true positive rate")
    page.get_by_role("rowheader", name="approved", exact=True).first.wait_for()


def test_it_works_from_the_keyboard(opened):
    page = opened(explored(rows()))
    page.locator("#group-2").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "group-2"
    assert page.locator("#detail h2").inner_text() == data_of(page)["columns"][0]["groups"][2]
    page.locator("#rate-1").focus()
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.id") == "rate-1"
    assert (
        page.locator("[aria-sort=ascending]")
        .inner_text()
        .startswith(data_of(page)["rates"][1]["title"])
    )
    page.locator("#threshold").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#threshold[aria-valuetext='0.51']")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(opened, axe, scheme, width):
    page = opened(
        explored(rows()), viewport={"width": width, "height": 900}, color_scheme=scheme,
        bypass_csp=True,
    )  # fmt: skip
    page.locator("#by input[value='1']").check()
    page.add_script_tag(content=axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(each["id"], each["impact"]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
