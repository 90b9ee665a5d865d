"""A sealed bundle is reproduced from its counts, and every change to it is found."""

import copy
import io
import json
import shutil
import zipfile
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.swapped_names import study

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.comparisons import RowMetric
from fairgauge.cli import main
from fairgauge.cube.cube import _digest
from fairgauge.enums import DiagnosticCode
from fairgauge.sharing import sealing
from fairgauge.sharing.sealing import (
    COUNTS,
    MANIFEST,
    OF_ROWS_ALONE,
    REPORT,
    SIGNATURE,
    STATED,
    VerificationResult,
    digest,
    recompute,
    signer,
)

ROWS = pl.DataFrame(
    {
        "y": [1, 0, 1, 1, 0, 0, 1, 0] * 30, "p": [1, 0, 0, 1, 1, 0, 1, 0] * 30,
        "g": ["a", "a", "b", "b", "b", "c", "c", "c"] * 30, "x": list(range(240)),
    }
)  # fmt: skip
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "rules": ["DI >= 0.8"]}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    cube = fg.count(ROWS, **ASKED)
    path = tmp_path_factory.mktemp("sealed") / "audit.fairgauge"
    fg.seal(fg.audit(cube), cube, path)
    return path


@pytest.fixture
def sealed(bundle, tmp_path):
    """Return a copy of the bundle, which a test may change."""
    return Path(shutil.copy(bundle, tmp_path))


def rewritten(path, change):
    """Change the parts of a bundle, and write it back."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def forged(path, change, **manifest):
    """Change the text or the values of a report in a bundle, and let the manifest fit it."""

    def rewrite(parts):
        report = json.loads(parts[REPORT])
        text = change(report) or json.dumps(report)
        parts[REPORT] = text.encode()
        stated = json.loads(parts[MANIFEST]) | manifest
        stated["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(stated).encode()

    rewritten(path, rewrite)
    return fg.verify(path)


def test_a_bundle_is_reproduced_to_the_last_digit(sealed):
    found = fg.verify(sealed)
    assert (found.finding, found.largest_deviation) == (VerificationResult.REPRODUCED, 0)
    assert found.numbers > 100
    assert "REPRODUCED" in str(found)


@pytest.mark.parametrize("named", [
    {"recode": "words.toml"}, {"recode": ["words.toml"]}, {"checks": "words.toml"},
    {"checks": {"words": "words.toml"}},
])  # fmt: skip
def test_no_file_is_opened_that_a_saved_question_names(sealed, tmp_path, monkeypatch, named):
    """Of counts, bundles and histories; errors and outputs held what the file of the reader did."""
    monkeypatch.chdir(tmp_path)
    Path("words.toml").write_text('[g]\nown_secret = ["a"]\n')
    with pytest.raises(fg.DataError, match="opens no file") as caught:
        forged(sealed, lambda report: report["spec"].update(named))
    saved = fg.count(ROWS, **{name: ASKED[name] for name in ("label", "prediction", "sensitive")})
    found = saved.to_dict() | {"fingerprint": saved.digest}
    found["question"] |= named
    with pytest.raises(fg.CubeError, match="opens no file") as of_counts:
        fg.Cube.from_dict(found | {"digest": _digest(found)})
    history = Path("history")
    history.mkdir()
    (history / "_monitor.json").write_text(json.dumps({"fairgauge.monitor/1": ASKED | named}))
    with pytest.raises(fg.DataError, match="opens no file") as of_history:
        _ = fg.History(history).spec
    assert "own_secret" not in f"{caught.value} {of_counts.value} {of_history.value}"


@pytest.mark.parametrize("name", [COUNTS, REPORT])
def test_a_changed_part_is_named(sealed, name):
    def change(parts):
        parts[name] = parts[name].replace(b"8", b"9", 1)

    rewritten(sealed, change)
    found = fg.verify(sealed)
    assert found.finding is VerificationResult.CHANGED
    assert found.changed == (name,)


@pytest.mark.parametrize("name", ["report.html", "../../evil", "counts.cube.json.sig"])
def test_a_part_that_is_neither_counts_nor_a_report_is_named(sealed, name):
    """A page of other numbers stood in a bundle that was reproduced, and signed."""

    def add(parts):
        parts[name] = b"no report"
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][name] = digest(parts[name])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(sealed, add)
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (name,))


@pytest.mark.parametrize("change", [
    lambda report: report.update({"spec.document.verdict": "PASS"}),
    lambda report: report.update({"created.x": "PASS"}),
    lambda report: report.update({"tool.version.x": "PASS"}),
    lambda report: report["data"].update({"source.x": "PASS"}),
    lambda report: report["estimates"][0].update(verdict="PASS"),
    lambda report: report["data"].update(source=["PASS"]),
    lambda report: report["data"].update(source={"a": "PASS"}),
    lambda report: report["data"].update(rows=report["data"]["rows"] + 1e-8),
])  # fmt: skip
def test_what_is_stated_is_a_text_in_its_place(sealed, change):
    try:
        assert forged(sealed, change).finding is VerificationResult.DIFFERENT
    except fg.DataError as error:
        assert "cannot compute" in str(error)  # noqa: PT017 - or it is refused


def test_statements_are_compared_with_what_follows_from_the_counts(tmp_path):
    """A changed number alone differs; so does a changed statement."""
    hired = {"p": [1] * 30 + [0] * 70 + [1] * 60 + [0] * 40, "g": ["f"] * 100 + ["m"] * 100}
    cube = fg.count(hired, prediction="p", sensitive="g", rules=["selection_rate.ratio >= 0.8"])
    path, report = tmp_path / "audit.fairgauge", fg.audit(cube)
    fg.seal(report, cube, path)

    def change(report):
        report["groups"][0]["rates"]["selection_rate"]["numerator"] = 40

    assert [each.path for each in forged(path, change).different] == [
        "groups[0].rates.selection_rate.numerator"
    ]
    found = forged(path, lambda report: report["statements"][0].update(shown=None))
    *_, lie = found.different
    assert (lie.path, lie.sealed, lie.recomputed) == ("statements[0].shown", "absent", "True")


def leaves_of(value, path=()):
    """Return the path of every number and text in plain values."""
    if isinstance(value, dict):
        return [leaf for key, each in value.items() for leaf in leaves_of(each, (*path, key))]
    if isinstance(value, list):
        return [leaf for key, each in enumerate(value) for leaf in leaves_of(each, (*path, key))]
    return [path]


def set_leaf(report, path, value):
    for key in path[:-1]:
        report = report[key]
    report[path[-1]] = value


OLDER = {"name": "fairgauge", "version": "0.0.9"}


def lie_in_titles(report):
    """Let another version have made a report, and replace what metrics are called."""
    report["tool"] = OLDER
    for each in report["metrics"].values():
        each["says"] = each["title"] = "nothing"


@pytest.mark.parametrize(
    "values",
    [{"counts": "sha256:0"}, {"from_rows": ["selection_rate.ratio"]}, {"note": "certified"}],
    ids=str,
)
def test_a_manifest_states_what_its_parts_give(sealed, values):
    rewritten(sealed, with_manifest(**values))
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (MANIFEST,))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("name", "first"), [(MANIFEST, False), (REPORT, True)])
def test_a_part_that_is_there_twice_is_a_change(sealed, name, first):
    with zipfile.ZipFile(sealed) as archive:
        parts = [(each, archive.read(each)) for each in archive.namelist()]
    added = [(name, dict(parts)[name] if name == MANIFEST else b"{}")]
    with zipfile.ZipFile(sealed, "w") as archive:
        for each, content in [*added, *parts] if first else [*parts, *added]:
            archive.writestr(each, content)
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (name,))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verdict": "', '"verdict": "pass", "verdict": "', "the key 'verdict' is given twice"),
        ('"share": ', '"share": NaN, "unused": ', "NaN is no number of JSON"),
    ],
)
def test_json_that_readers_take_differently_is_refused(sealed, tmp_path, old, new, message):
    def change(report):
        text = json.dumps(report)
        assert old in text
        (tmp_path / "report.json").write_text(text.replace(old, new, 1))
        return text.replace(old, new, 1)

    with pytest.raises(fg.DataError, match=message):
        forged(sealed, change)
    with pytest.raises(fg.CubeError, match=message):
        fg.load(tmp_path / "report.json")


def test_the_report_of_a_bundle_is_rendered_if_it_follows_from_its_counts(sealed):
    run = CliRunner().invoke
    shown = run(main, ["render", str(sealed), "--format", "markdown"])
    assert shown.exit_code == 0
    assert shown.stderr.startswith("Note: REPRODUCED: all ")
    forged(sealed, lie_in_titles, tool=OLDER)
    of_values = run(main, ["render", str(sealed), "--format", "markdown"])
    assert of_values.stderr.startswith("Note: PARTLY REPRODUCED: ")
    assert "; not verified: texts of fairgauge 0.0.9" in of_values.stderr
    assert of_values.stdout.replace("0.0.9", fg.__version__) == shown.stdout
    with pytest.raises(fg.CubeError, match="fairgauge render FILE"):
        fg.load(sealed)
    found = forged(sealed, lambda report: report["estimates"][0].update(value=0.91))
    assert (found.different[0].path, found.report) == ("estimates[0].value", None)
    refused = run(main, ["render", str(sealed)])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "DIFFERENT" in refused.stderr
    assert "lists what differs" in refused.stderr


OF_ROWS = tuple(row.name for row in METRICS if isinstance(row, RowMetric))
OURS = [*OF_ROWS, *(row.name for row in (*METRICS, *RATES)), *map(str, DiagnosticCode), *STATED,
        "metric", "all", "others", "estimates[0].value", "spec.document.title"]  # fmt: skip
NAMED = [*dict.fromkeys(OURS)]
RECORDS = ("estimates", "findings", "verdicts", "diagnostics")


@pytest.mark.parametrize("first", range(0, len(NAMED), 64))
def test_no_number_of_a_report_can_be_changed_unseen(tmp_path, first):
    """Numbers of groups of a feature called FT were taken for some that only rows can give."""
    outcomes = ("pass", "fail", "inconclusive")
    names = NAMED[first : first + 64]
    groups = [names[i % len(names)] for i in range(240)]
    rows = ROWS.with_columns(pl.Series(name, groups[i:] + groups[:i]).alias(name)
                             for i, name in enumerate((names[0], names[-1])))  # fmt: skip
    asked = {"label": "y", "prediction": "p", "sensitive": [names[0], names[-1]], "features": "x",
             "metrics": ["DI", "FT", "consistency"], "rules": ["DI >= 0.8"]}  # fmt: skip
    cube, sealed = fg.count(rows, **asked), fg.audit(rows, **asked)
    saved = sealed.to_dict()
    wrong, changed = copy.deepcopy(saved), set()
    for path in leaves_of(saved):
        record = saved[path[0]][path[1]] if path[0] in RECORDS else {}
        given = record.get("metric") in OF_ROWS or record.get("code") in OF_ROWS_ALONE
        given = given or (path[0] == "findings" and record["estimate"]["metric"] in OF_ROWS)
        value = report_value(saved, path)
        if path[0] == "spec" or given:
            continue
        if isinstance(value, bool):
            set_leaf(wrong, path, not value)
        elif isinstance(value, (int, float)):
            set_leaf(wrong, path, value + 1)
        elif value in outcomes:
            set_leaf(wrong, path, "none")
        else:
            continue
        changed.add("".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in path)[1:])
    found = recompute(cube, sealed, wrong)
    assert found.from_rows[:2] == ("FT", "consistency")
    assert len(changed) > 300
    assert changed - {each.path for each in found.different} == set()
    assert not {each.path for each in recompute(cube, sealed, saved).different}


def report_value(report, path):
    for key in path:
        report = report[key]
    return report


def test_no_key_of_small_order_signs_anything():
    """Such a key, of which there are eight, and their other encodings, has no private one."""
    pytest.importorskip("cryptography")
    of_eight = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826  # libsodium
    prime = 2**255 - 19
    points = (0, 1, prime - 1, prime, prime + 1, of_eight, prime - of_eight)
    for key in ((y + sign).to_bytes(32, "little") for y in points for sign in (0, 2**255)):
        neutral = (1).to_bytes(32, "little") + bytes(32)
        assert {signer(bytes([i]), key + neutral) for i in range(40)} == {None}


def test_a_signature_names_its_key_and_fails_with_another_manifest(tmp_path):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    pem = tmp_path / "key.pem"
    pem.write_bytes(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
    cube = fg.count(ROWS, **ASKED)
    path = tmp_path / "audit.fairgauge"
    found = fg.seal(fg.audit(cube), cube, path, pem)
    assert found.signed_by.startswith("ed25519:")
    assert "not signed" not in str(found)
    unsigned, again = (Path(shutil.copy(path, tmp_path / f"{i}.fairgauge")) for i in (1, 2))
    rewritten(unsigned, lambda parts: parts.pop(SIGNATURE))
    assert "not signed" in str(fg.verify(unsigned))
    other = f"ed25519:{'0' * 32}"
    run = CliRunner().invoke
    for bundle, by, code in [(path, found.signed_by, 0), (path, other, 1), (unsigned, other, 1)]:
        done = run(main, ["verify", str(bundle), "--signed-by", by])
        assert done.exit_code == code
        assert ("OTHER SIGNER" in done.output) == bool(code)

    rewritten(again, lambda parts: parts.update({MANIFEST: parts[MANIFEST] + b" "}))
    assert fg.verify(again).changed == ("the signature",)  # which is of the bytes in the file
    rewritten(path, with_manifest(created="2020-01-01T00:00:00+00:00"))
    assert fg.verify(path).changed == ("the signature",)


def test_a_report_of_other_counts_is_refused(tmp_path):
    cube = fg.count(ROWS, **ASKED)
    other = fg.audit(ROWS.head(100), **ASKED)
    with pytest.raises(fg.DataError, match="was not made of these counts"):
        fg.seal(other, cube, tmp_path / "audit.fairgauge")
    with pytest.raises(fg.DataError, match=r"ends in \.fairgauge"):
        fg.seal(fg.audit(cube), cube, tmp_path / "audit.zip")
    assert list(tmp_path.iterdir()) == []


def with_manifest(**values):
    """Return a change of a manifest; None takes a value away."""

    def change(parts):
        manifest = json.loads(parts[MANIFEST]) | values
        kept = {name: value for name, value in manifest.items() if value is not None}
        parts[MANIFEST] = json.dumps(kept).encode()

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_manifest(schema="fairgauge.bundle/9"), "has format 'fairgauge.bundle/9'"),
        (with_manifest(schema="fairgauge.bundle/9", tool="x"), "of fairgauge 'unknown'"),
        (with_manifest(created=None), "does not state when"),
        (with_manifest(tool={}), "with which versions"),
        (with_manifest(libraries="numpy"), "with which versions"),
        (with_manifest(parts={}), "lists no counts.cube.json and no report.json"),
        (lambda parts: parts.pop(MANIFEST), "it has no manifest"),
        (lambda parts: parts.update({MANIFEST: b"[]"}), "manifest.json is no manifest"),
        (lambda parts: parts.update({MANIFEST: b'{"a":1,"a":2}'}), "key 'a' is given twice"),
    ],
)
def test_what_is_no_bundle_is_explained(sealed, change, message):
    rewritten(sealed, change)
    with pytest.raises(fg.DataError, match=message):
        fg.verify(sealed)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "bomb.fairgauge"
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("manifest.json")
        archive.writestr(entry, b"{}")
    content = bytearray(path.read_bytes())
    size = (3_000_000_000).to_bytes(4, "little")
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = size
    path.write_bytes(bytes(content))
    assert zipfile.ZipFile(io.BytesIO(bytes(content))).infolist()[0].file_size == 3_000_000_000
    with pytest.raises(fg.DataError, match="unpacks to 3,000,000,000 bytes"):
        fg.verify(path)


def test_commands_and_exit_codes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.write_csv("t.csv")

    def run(*arguments):
        return CliRunner().invoke(main, [*arguments])

    flags = ["--label=y", "--prediction=p", "--sensitive=g", "--rule=DI >= 0.8"]
    assert run("count", "t.csv", *flags[:3], "-o", "t.cube.json").exit_code == 0
    assert run("audit", "t.cube.json", "-o", "report.json").exit_code == 0
    assert run("seal", "report.json", "t.cube.json", "-o", "a.fairgauge").exit_code == 0
    made = run("audit", "t.csv", *flags, "-o", "rows.fairgauge", "-q")
    assert made.exit_code in (0, 1, 3), made.output
    for name in ("a.fairgauge", "rows.fairgauge"):
        assert run("verify", name).exit_code == 0
    with zipfile.ZipFile("rows.fairgauge") as archive:
        data = json.loads(archive.read(REPORT))["data"]
    assert (data["source"], data["rows"]) == ("t.csv", ROWS.height)
    with pytest.raises(fg.DataError, match="holds no counts"):
        fg.load("report.json").save("again.fairgauge")
    rewritten("a.fairgauge", lambda parts: parts.update({REPORT: b"{}"}))
    changed = run("verify", "a.fairgauge")
    assert changed.exit_code == 1
    assert "changed: report.json" in changed.output
    assert run("verify", "t.csv").exit_code == 2


MODELS = ["--label=y", "--prediction=p", "--candidate=q", "--sensitive=g"]
SEALED_BY = {
    "audit": MODELS[:2] + MODELS[3:],
    "compare-models": MODELS,
    "alternatives": [*MODELS, "--reference=g=a"],
    "pairs": ["--item=item", "--variant=name", "--sensitive=group", "--score=score",
              "--reference=group=White", "--placebo=edit"],
}  # fmt: skip


@pytest.mark.parametrize("verb", SEALED_BY)
def test_one_command_seals_what_names_its_data(verb, tmp_path, monkeypatch):
    """The source and the number of its rows are in the bundle, which is reproduced."""
    monkeypatch.chdir(tmp_path)
    rows = study((4, 4), 8, 2, placebos=4) if verb == "pairs" else None
    rows = ROWS.with_columns(q=1 - pl.col("p")) if rows is None else pl.DataFrame(rows)
    rows.write_csv("t.csv")
    made = CliRunner().invoke(main, [verb, "t.csv", *SEALED_BY[verb], "-o", "t.fairgauge", "-q"])
    assert made.exit_code in (0, 1, 3), made.output
    assert CliRunner().invoke(main, ["verify", "t.fairgauge"]).exit_code == 0
    with zipfile.ZipFile("t.fairgauge") as archive:
        report = json.loads(archive.read(REPORT))
    data = report.get("data") or report["old"]
    assert (data["source"], data.get("rows", data.get("answers"))) == ("t.csv", rows.height)


HARM = {"label": "readmitted", "prediction": "p", "sensitive": "g"}


@pytest.mark.parametrize("given", [
    {}, {"positive": 1}, {"favourable": "neither"}, {"preset": "nyc-ll144"},
])  # fmt: skip
@pytest.mark.parametrize("made", [fg.audit, fg.compare_models, fg.alternatives])
def test_a_bundle_has_the_notes_of_what_was_not_stated(made, given, tmp_path):
    """Which outcome is better is then in doubt, and stays so when the report is made again."""
    rows = ROWS.rename({"y": "readmitted"}).with_columns(q=1 - pl.col("p"))
    more = {} if made is fg.audit else {"candidate": "q"}
    more |= {"reference": {"g": "a"}} if made is fg.alternatives else {}
    cube = fg.count(rows, **HARM, **more, **given)
    path = tmp_path / "one.fairgauge"
    for report in (made(rows, **HARM, **more, **given), made(cube)):
        path.write_bytes(sealing.bundle(report))
        for found in (fg.verify(path), fg.seal(report, cube, path)):
            assert not found.different
            assert "favourable" not in found.beside
            codes = [note.code for note in report.diagnostics]
            assert [note.code for note in found.report.diagnostics] == codes
            warned = DiagnosticCode.UNFAVOURABLE_POSITIVE in codes
            assert warned == ("favourable" not in given)


@pytest.mark.parametrize("word", ["neither", "positive"])
def test_what_is_stated_beside_counts_stays_stated(word, tmp_path):
    """So it does where rows of people who lack an event are in doubt whatever is stated."""
    rows = ROWS.with_row_index("i").with_columns(i=pl.col("i") // 2, y=1 - pl.col("y"))
    asked = {"prediction": "y", "sensitive": "g", "positive": 0, "person": "i"}
    cube = fg.count(rows, **asked)
    path = tmp_path / "one.fairgauge"
    cube.save(tmp_path / "one.cube.json")
    cube = fg.load(tmp_path / "one.cube.json")
    report = fg.audit(cube, favourable=word)
    codes = {note.code for note in report.diagnostics}
    assert codes >= {DiagnosticCode.UNFAVOURABLE_POSITIVE, DiagnosticCode.OVERRIDES}
    found = fg.seal(report, cube, path)
    assert (found.different, found.beside) == ((), ("favourable",))
    assert found.report.diagnostics == report.diagnostics


BUNDLES = Path(__file__).with_name("bundles")


def test_a_stored_bundle_is_reproduced():
    found = fg.verify(BUNDLES / "weighted-strata-0.1.0.fairgauge")
    assert found.finding is VerificationResult.REPRODUCED, str(found)
    assert found.numbers > 1_000
