"""A sealed bundle is reproduced from its counts, and every change to it is found."""

from __future__ import annotations

import copy
import io
import json
import shutil
import zipfile
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.evidence.bundle import COUNTS, HIDDEN, MANIFEST, REPORT, SIGNATURE, digest
from fairgauge.results.verification import VerificationResult

ROWS = pl.DataFrame(
    {
        "y": [1, 0, 1, 1, 0, 0, 1, 0] * 30,
        "p": [1, 0, 0, 1, 1, 0, 1, 0] * 30,
        "g": ["a", "a", "b", "b", "b", "c", "c", "c"] * 30,
        "x": list(range(240)),
    }
)
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


def test_a_bundle_is_reproduced_to_the_last_digit(sealed):
    found = fg.verify(sealed)
    assert found.finding is VerificationResult.REPRODUCED
    assert found.largest_deviation == 0
    assert found.numbers > 100
    assert found.signed_by is None
    assert "REPRODUCED" in str(found)
    assert "not signed" in str(found)


@pytest.mark.parametrize("name", [COUNTS, REPORT])
def test_a_changed_part_is_named(sealed, name):
    def change(parts):
        parts[name] = parts[name].replace(b"8", b"9", 1)

    rewritten(sealed, change)
    found = fg.verify(sealed)
    assert found.finding is VerificationResult.CHANGED
    assert found.changed == (name,)


def test_changed_counts_are_named_with_a_digest_of_the_manifest_that_fits(sealed):
    def change(parts):
        counts = json.loads(parts[COUNTS])
        counts["rows"] += 1
        parts[COUNTS] = json.dumps(counts).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][COUNTS] = digest(parts[COUNTS])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(sealed, change)
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (COUNTS,))
    assert CliRunner().invoke(main, ["verify", str(sealed)]).exit_code == 1


@pytest.mark.parametrize("forged_field", [{"value": 0.123}, {"n_group": 0.123}])
def test_values_that_differ_and_agree_are_as_many_as_all(sealed, forged_field):
    every = fg.verify(sealed).numbers
    forged(sealed, lambda report: report["estimates"][0].update(forged_field))
    found = fg.verify(sealed)
    assert found.different
    assert len(found.different) + found.numbers == every


def test_an_added_and_a_missing_part_are_named(sealed):
    rewritten(sealed, lambda parts: parts.update({"extra.txt": b"x"}))
    assert fg.verify(sealed).changed == ("extra.txt",)
    rewritten(sealed, lambda parts: parts.pop(REPORT))
    assert set(fg.verify(sealed).changed) == {"extra.txt", REPORT}


def test_a_number_that_does_not_follow_is_named_even_with_a_right_digest(sealed):
    def change(parts):
        report = json.loads(parts[REPORT])
        report["estimates"][0]["value"] += 1e-6
        report["verdicts"][0]["outcome"] = "pass"
        parts[REPORT] = json.dumps(report).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(sealed, change)
    found = fg.verify(sealed)
    assert found.finding is VerificationResult.DIFFERENT
    paths = [each.path for each in found.different]
    assert paths[0] == "estimates[0].value"
    assert "verdicts[0].outcome" in paths


def forged(path, change):
    """Change the report of a bundle, and let the manifest fit it."""

    def rewrite(parts):
        report = json.loads(parts[REPORT])
        change(report)
        parts[REPORT] = json.dumps(report).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(path, rewrite)
    return fg.verify(path)


def test_sentences_are_compared_with_what_follows_from_the_counts(tmp_path):
    """A changed number alone differs; a changed sentence is found beside it."""
    hired = {"p": [1] * 30 + [0] * 70 + [1] * 60 + [0] * 40, "g": ["f"] * 100 + ["m"] * 100}
    cube = fg.count(hired, prediction="p", sensitive="g", rules=["selection_rate.ratio >= 0.8"])
    path, report = tmp_path / "audit.fairgauge", fg.audit(cube)
    fg.seal(report, cube, path)

    def change(report):
        report["groups"][0]["rates"]["selection_rate"]["numerator"] = 40

    assert [each.path for each in forged(path, change).different] == [
        "groups[0].rates.selection_rate.numerator"
    ]
    found = forged(path, lambda report: report["brief"]["found"][0].update(text="No disparity."))
    *_, lie = found.different
    assert (lie.path, lie.sealed) == ("brief.found[0].text", "No disparity.")
    assert lie.recomputed == report.to_dict()["brief"]["found"][0]["text"]


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


FORGED = [
    (("data", "rows"), 239),
    (("data", "excluded"), {"missing g": 1}),
    (("spec", "rules"), []),
    (("diagnostics", 0, "message"), "nothing to note"),
    (("diagnostics",), []),
    (("task",), "multiclass"),
    (("pairs",), []),
    (("verdict",), "pass"),
    (("metrics",), {}),
    (("approved_by",), "an authority"),
]


@pytest.mark.parametrize(("path", "value"), FORGED, ids=lambda each: str(each))
def test_every_field_that_follows_from_the_counts_is_compared(sealed, path, value):
    found = forged(sealed, lambda report: set_leaf(report, path, value))
    assert found.finding is VerificationResult.DIFFERENT
    assert not found.changed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("created",), "2020-01-01T00:00:00+00:00"),
        (("data", "source"), "other.csv"),
        (("spec", "document"), {"title": "Another title"}),
    ],
)
def test_fields_that_do_not_follow_from_the_counts_are_named(sealed, path, value):
    found = forged(sealed, lambda report: set_leaf(report, path, value))
    assert found.finding is VerificationResult.REPRODUCED, str(found)
    assert any(".".join(path).startswith(field) for field in found.not_computed)
    assert "stated and not checked: created, tool.version, data.source" in str(found)


def with_version(path, version, change=lambda report: None):
    """Let a bundle state another version of fairgauge, and change its report."""

    def rewrite(parts):
        report, manifest = json.loads(parts[REPORT]), json.loads(parts[MANIFEST])
        report["tool"]["version"] = manifest["tool"]["version"] = version
        change(report)
        parts[REPORT] = json.dumps(report).encode()
        manifest["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(path, rewrite)
    return fg.verify(path)


def lie_in_sentences(report):
    """Replace every text that is written from values."""
    for each in report["verdicts"]:
        each["reason"]["message"] = "the rule is met by everybody"
    for each in report["diagnostics"]:
        each["message"] = "nothing to note"
    for each in report["metrics"].values():
        each["says"] = each["title"] = "nothing"


@pytest.mark.parametrize("version", ["0.0.9", "9.9"])
def test_texts_of_another_version_are_not_counted_as_verified(sealed, version):
    whole = fg.verify(sealed)
    same = with_version(sealed, version)
    assert (same.finding, same.numbers) == (VerificationResult.REPRODUCED, whole.numbers)
    found = with_version(sealed, version, lie_in_sentences)
    assert found.finding is VerificationResult.PARTLY_REPRODUCED
    assert found.numbers + len(found.texts) == whole.numbers
    text = str(found)
    assert text.startswith(f"PARTLY REPRODUCED: {found.numbers:,} values of audit.fairgauge follow")
    assert f"not verified: {len(found.texts)} texts of fairgauge {version}; stated" in text
    assert "the rule is met by everybody in the report, " in text
    assert CliRunner().invoke(main, ["verify", str(sealed)]).exit_code == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report["estimates"][0].update(value=0.91),
        lambda report: report["diagnostics"].pop(),
        lambda report: report.update(summary="no disparity"),
        lambda report: report["estimates"][0].update(message="no disparity"),
        lambda report: report["tool"].update(name="an authority"),
        lambda report: next(iter(report["metrics"].values())).update(own=True, title="nothing"),
    ],
    ids=["value", "diagnostic", "field", "named as a sentence", "tool", "metric of a user"],
)
def test_another_version_excuses_texts_alone(sealed, change):
    assert with_version(sealed, "0.0.9", change).finding is VerificationResult.DIFFERENT


def test_no_text_of_another_version_can_be_changed_unseen(sealed):
    with zipfile.ZipFile(sealed) as archive:
        report = json.loads(archive.read(REPORT))
    texts = [path for path in leaves_of(report) if path[-1] in ("says", "message", "title")]
    for path in texts[:: len(texts) // 6]:
        wrong = copy.deepcopy(report)
        wrong["tool"]["version"] = "0.0.9"
        set_leaf(wrong, path, "a lie")
        found = with_version(sealed, "0.0.9", lambda each, wrong=wrong: each.update(wrong))
        assert found.finding is not VerificationResult.REPRODUCED, path


def test_the_versions_of_the_manifest_and_the_report_are_one(sealed):
    found = forged(sealed, lambda report: report["tool"].update(version="0.0.9"))
    assert found.finding is VerificationResult.CHANGED
    stated = f"manifest.json: {fg.__version__}, report.json: 0.0.9"
    assert found.changed == (f"the version ({stated})",)


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


@pytest.mark.parametrize("where", ["before", "between"])
def test_an_entry_that_the_directory_does_not_list_is_a_change(sealed, where):
    """Programs that read an archive from its start would show it."""
    lie = io.BytesIO()
    with zipfile.ZipFile(lie, "w") as archive:
        archive.writestr(REPORT, b"{}")
    entry = lie.getvalue()[: lie.getvalue().index(b"PK\x01\x02")]
    content = sealed.read_bytes()
    at = 0 if where == "before" else content.index(b"PK\x01\x02")
    end = content.rindex(b"PK\x05\x06")
    start = int.from_bytes(content[end + 16 : end + 20], "little") + len(entry)
    moved = content[:at] + entry + content[at : end + 16] + start.to_bytes(4, "little")
    sealed.write_bytes((content[:at] + entry + content[at:]) if not at else moved + content[-2:])
    with zipfile.ZipFile(sealed) as archive:
        assert sorted(archive.namelist()) == sorted([MANIFEST, COUNTS, REPORT])
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (HIDDEN,))


def with_comment(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"the selection rates are equal"


def with_bytes_after_the_end(path):
    path.write_bytes(path.read_bytes() + b"xxxx")


def with_comment_of_an_entry(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.infolist()[0].comment = b"the selection rates are equal"
        archive._didModify = True


def with_extra_field(path):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.extra = b"\xfe\xca\x04\x00abcd"
            archive.writestr(entry, content)


def with_bytes_after_the_data(path):
    """The directory states a longer part, whose compressed data end before."""
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        last = max(archive.infolist(), key=lambda entry: entry.header_offset)
        directory = archive.start_dir
    size = (last.compress_size + 4).to_bytes(4, "little")
    listed = content.rindex(b"PK\x01\x02")
    end = content.rindex(b"PK\x05\x06")
    moved = bytearray(content)
    moved[last.header_offset + 18 : last.header_offset + 22] = size
    moved[listed + 20 : listed + 24] = size
    moved[end + 16 : end + 20] = (directory + 4).to_bytes(4, "little")
    path.write_bytes(bytes(moved[:directory]) + b"xxxx" + bytes(moved[directory:]))


@pytest.mark.parametrize(
    "hide",
    [
        with_comment,
        with_bytes_after_the_end,
        with_comment_of_an_entry,
        with_extra_field,
        with_bytes_after_the_data,
    ],
)
def test_bytes_that_belong_to_no_part_are_a_change(sealed, hide):
    hide(sealed)
    with zipfile.ZipFile(sealed) as archive:
        assert archive.testzip() is None
    found = fg.verify(sealed)
    assert (found.finding, found.changed) == (VerificationResult.CHANGED, (HIDDEN,))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verdict": "', '"verdict": "pass", "verdict": "', "the key 'verdict' is given twice"),
        ('"share": ', '"share": NaN, "unused": ', "NaN is no number of JSON"),
    ],
)
def test_json_that_readers_take_differently_is_refused(sealed, tmp_path, old, new, message):
    def change(parts):
        text = parts[REPORT].decode()
        assert old in text
        parts[REPORT] = text.replace(old, new, 1).encode()
        (tmp_path / "report.json").write_bytes(parts[REPORT])
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(sealed, change)
    with pytest.raises(fg.DataError, match=message):
        fg.verify(sealed)
    with pytest.raises(fg.CubeError, match=message):
        fg.load(tmp_path / "report.json")


def test_the_date_is_what_the_bundle_states(sealed):
    rewritten(sealed, with_manifest(created="2020-01-01T00:00:00+00:00"))
    found = str(fg.verify(sealed))
    assert "states that it was sealed 2020-01-01T00:00:00+00:00 by fairgauge" in found
    assert "created of manifest.json" in found


def test_a_sentence_that_is_not_of_its_values_is_not_sealed(tmp_path):
    cube = fg.count(ROWS, **ASKED)
    report = fg.audit(cube).to_dict()
    report["verdicts"][0]["reason"]["message"] = "no difference"
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(fg.DataError, match="is no difference there, and "):
        fg.seal(tmp_path / "report.json", cube, tmp_path / "audit.fairgauge")
    report["tool"]["version"] = "0.0.9"
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(fg.DataError, match=r"is of fairgauge 0\.0\.9, and this is"):
        fg.seal(tmp_path / "report.json", cube, tmp_path / "audit.fairgauge")
    assert not (tmp_path / "audit.fairgauge").exists()


def test_the_report_of_a_bundle_is_rendered_if_it_follows_from_its_counts(sealed):
    run = CliRunner().invoke
    shown = run(main, ["render", str(sealed), "--format", "markdown"])
    assert shown.exit_code == 0
    assert shown.stderr.startswith("Note: REPRODUCED: all ")
    found = with_version(sealed, "0.0.9", lie_in_sentences)
    assert "met by everybody" not in str(found.report)
    of_values = run(main, ["render", str(sealed), "--format", "markdown"])
    assert of_values.stderr.startswith("Note: PARTLY REPRODUCED: ")
    assert of_values.stdout.replace("0.0.9", fg.__version__) == shown.stdout
    with pytest.raises(fg.CubeError, match="fairgauge render FILE"):
        fg.load(sealed)
    forged(sealed, lambda report: report["estimates"][0].update(value=0.91))
    refused = run(main, ["render", str(sealed)])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "DIFFERENT" in refused.stderr
    assert "lists what differs" in refused.stderr
    assert fg.verify(sealed).report is None


def test_no_number_of_a_report_can_be_changed_unseen(sealed):
    with zipfile.ZipFile(sealed) as archive:
        report = json.loads(archive.read(REPORT))
    numbers = [path for path in leaves_of(report) if isinstance(report_value(report, path), float)]
    for path in numbers[:: len(numbers) // 10]:
        wrong = copy.deepcopy(report)
        set_leaf(wrong, path, report_value(report, path) + 0.001)
        found = forged(sealed, lambda each, wrong=wrong: each.update(wrong))
        assert found.finding is VerificationResult.DIFFERENT, path


def report_value(report, path):
    for key in path:
        report = report[key]
    return report


def test_a_report_of_rows_asks_what_its_counts_were_counted_for(tmp_path):
    path = tmp_path / "audit.fairgauge"
    stated = fg.audit(ROWS, **ASKED, document={"title": "An audit"})
    assert fg.seal(stated, fg.count(ROWS, **ASKED), path).beside == ()
    with pytest.raises(fg.DataError, match="the report does not follow from the counts"):
        fg.seal(fg.audit(ROWS, **ASKED, confidence=0.9), fg.count(ROWS, **ASKED), path)


@pytest.mark.parametrize(
    ("key", "says", "numpy"),
    [
        ("expected", "", None),
        ("expected", "", "2.0.0"),
        ("expected", "a lie", "2.0.0"),
        ("value", "", "2.0.0"),
    ],
)
def test_draws_of_another_numpy_are_named_and_not_compared(tmp_path, key, says, numpy):
    """NumPy does not promise that a seed draws the same numbers in all versions."""
    question = {**ASKED, "metrics": ["TVD"], "rules": []}
    cube = fg.count(ROWS, **question)
    path = tmp_path / "audit.fairgauge"
    fg.seal(fg.audit(cube), cube, path)

    def change(parts):
        report = json.loads(parts[REPORT])
        report["estimates"][1][key] *= 1.01
        report = fg.Report.from_dict(report).to_dict()  # with the sentence on this number
        report["diagnostics"][0]["message"] = says or report["diagnostics"][0]["message"]
        parts[REPORT] = json.dumps(report).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(parts[REPORT])
        manifest["libraries"]["numpy"] = numpy or manifest["libraries"]["numpy"]
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(path, change)
    found = fg.verify(path)
    expected = f"estimates[1].{key}"
    if key == "expected" and numpy and not says:
        assert found.finding is VerificationResult.PARTLY_REPRODUCED
        assert [number.path for number in found.redrawn] == [expected]
        assert f"other random numbers than 2.0.0: {expected}" in str(found)
        assert "not verified: a value that rests on random draws" in str(found)
        assert CliRunner().invoke(main, ["verify", str(path)]).exit_code == 3
    else:
        assert found.finding is VerificationResult.DIFFERENT
        wrong = "diagnostics[0].message" if key == "expected" and numpy else expected
        assert found.different[0].path == wrong


NUMBERS = {"value", "low", "high", "p_value", "p_adjusted", "difference_low", "difference_high"}


def off_by(plain, by):
    """Return a report whose numbers deviate, as those of other numerical libraries may."""
    if isinstance(plain, dict):
        return {
            name: value * (1 + by)
            if name in NUMBERS and isinstance(value, float)
            else off_by(value, by)
            for name, value in plain.items()
        }
    return [off_by(each, by) for each in plain] if isinstance(plain, list) else plain


@pytest.fixture
def elsewhere(monkeypatch):
    """Return how to verify with libraries whose numbers deviate."""

    def verify(path, by):
        def deviating(*args, **options):
            return fg.Report.from_dict(off_by(fg.audit(*args, **options).to_dict(), by))

        monkeypatch.setattr("fairgauge.evidence.sealing.audit", deviating)
        return fg.verify(path)

    return verify


def test_numbers_to_twelve_digits_print_the_same_report(sealed, elsewhere):
    """The numerical libraries of another machine may differ beyond that."""
    found = elsewhere(sealed, 4e-13)
    assert found.finding is VerificationResult.REPRODUCED, str(found)
    assert "to 12 significant digits" in str(found)


@pytest.mark.parametrize("field", ["n_group"])
def test_a_count_is_the_same_or_not(tmp_path, field, monkeypatch):
    monkeypatch.setattr("fairgauge.evidence.sealing._TOLERANCE", 0.5)
    cube = fg.count(ROWS, **ASKED)
    path = tmp_path / "audit.fairgauge"
    fg.seal(fg.audit(cube), cube, path)

    def change(parts):
        report = json.loads(parts[REPORT])
        report["estimates"][0][field] += 1
        parts[REPORT] = json.dumps(report).encode()
        manifest = json.loads(parts[MANIFEST])
        manifest["parts"][REPORT] = digest(parts[REPORT])
        parts[MANIFEST] = json.dumps(manifest).encode()

    rewritten(path, change)
    assert f"estimates[0].{field}" in {number.path for number in fg.verify(path).different}


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
    assert found.finding is VerificationResult.REPRODUCED
    assert found.signed_by.startswith("ed25519:")
    assert "not signed" not in str(found)
    unsigned = tmp_path / "unsigned.fairgauge"
    unsigned.write_bytes(path.read_bytes())
    rewritten(unsigned, lambda parts: parts.pop(SIGNATURE))
    assert "not signed" in str(fg.verify(unsigned))
    other = f"ed25519:{'0' * 32}"
    run = CliRunner().invoke
    for bundle, by, code in [(path, found.signed_by, 0), (path, other, 1), (unsigned, other, 1)]:
        done = run(main, ["verify", str(bundle), "--signed-by", by])
        assert done.exit_code == code
        assert ("OTHER SIGNER" in done.output) == bool(code)

    def change(parts):
        manifest = json.loads(parts[MANIFEST])
        manifest["created"] = "2020-01-01T00:00:00+00:00"
        parts[MANIFEST] = json.dumps(manifest).encode()

    again = tmp_path / "again.fairgauge"
    again.write_bytes(path.read_bytes())
    rewritten(again, lambda parts: parts.update({MANIFEST: parts[MANIFEST] + b" "}))
    assert fg.verify(again).changed == ("the signature",)  # which is of the bytes in the file
    rewritten(path, change)
    assert fg.verify(path).changed == ("the signature",)


@pytest.mark.parametrize("signer", ["", " ", "ed25519:", "--quiet", "703b", f"ed25519:{'A' * 32}"])
def test_a_signer_that_is_no_fingerprint_is_refused(sealed, signer):
    """An unset variable must not pass a bundle that nobody signed."""
    done = CliRunner().invoke(main, ["verify", str(sealed), "--signed-by", signer])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "which is no fingerprint" in done.stderr
    with pytest.raises(fg.DataError, match="which is no fingerprint"):
        fg.verify(sealed, signer)


def test_an_encrypted_key_takes_its_password_from_a_variable(tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key, pem = ed25519.Ed25519PrivateKey.generate(), tmp_path / "key.pem"
    locked = s.BestAvailableEncryption(b"open sesame")
    pem.write_bytes(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, locked))
    cube, path = fg.count(ROWS, **ASKED), tmp_path / "audit.fairgauge"
    report = fg.audit(cube)
    monkeypatch.delenv("FAIRGAUGE_KEY_PASSWORD", raising=False)
    with pytest.raises(fg.DataError, match=r"is encrypted; put its password into .*KEY_PASSWORD"):
        fg.seal(report, cube, path, pem)
    with pytest.raises(fg.DataError, match="cannot read the private key"):
        fg.seal(report, cube, path, pem, password="wrong")
    assert not path.exists()
    monkeypatch.setenv("FAIRGAUGE_KEY_PASSWORD", "open sesame")
    by_variable = fg.seal(report, cube, path, pem).signed_by
    monkeypatch.delenv("FAIRGAUGE_KEY_PASSWORD")
    assert fg.seal(report, cube, path, pem, password="open sesame").signed_by == by_variable
    assert by_variable is not None
    cube.save(tmp_path / "counts.cube.json")
    report.save(tmp_path / "report.json")
    monkeypatch.setattr("fairgauge.cli.commands.seal_command._is_attended", lambda: True)
    command = ["seal", str(tmp_path / "report.json"), "-o", str(path), "--key", str(pem)]
    done = CliRunner().invoke(main, command, input="open sesame\n")
    assert done.exit_code == 0, done.output
    assert "sesame" not in done.output
    assert by_variable in done.stdout


def test_a_key_that_is_no_file_does_not_seal_without_a_signature(tmp_path):
    cube, path = fg.count(ROWS, **ASKED), tmp_path / "audit.fairgauge"
    for key in ("", tmp_path / "none.pem"):
        with pytest.raises(fg.DataError):
            fg.seal(fg.audit(cube), cube, path, key)
    assert not path.exists()


def test_a_key_of_another_kind_is_refused(tmp_path):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import x25519

    pem, path = tmp_path / "key.pem", tmp_path / "audit.fairgauge"
    key = x25519.X25519PrivateKey.generate()
    pem.write_bytes(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
    cube = fg.count(ROWS, **ASKED)
    for text, message in ((None, "is no Ed25519 key"), (b"key", "cannot read the private key")):
        if text is not None:
            pem.write_bytes(text)
        with pytest.raises(fg.DataError, match=message):
            fg.seal(fg.audit(cube), cube, path, pem)
    assert not path.exists()


def test_counts_and_reports_are_not_taken_for_each_other(tmp_path):
    cube = fg.count(ROWS, **ASKED)
    cube.save(tmp_path / "day.cube.json")
    with pytest.raises(fg.DataError, match=r"day.cube.json' is no report"):
        fg.seal(tmp_path / "day.cube.json", cube, tmp_path / "audit.fairgauge")


def test_metrics_of_rows_are_named_and_not_recomputed(tmp_path):
    asked = {**ASKED, "metrics": ["DPPL", "FT"], "features": ["x"]}
    report = fg.audit(ROWS, **asked)
    path = tmp_path / "audit.fairgauge"
    found = fg.seal(report, fg.count(ROWS, **asked), path)
    assert found.finding is VerificationResult.PARTLY_REPRODUCED
    assert found.from_rows == ("FT", "diagnostic feature_distance")
    assert "not verified, because they need the rows: FT" in str(found)
    of_rows = [each.metric for each in report.estimates].index("FT")

    def change(report):
        report["estimates"][of_rows]["metric"] = "DPPL"

    assert forged(path, change).finding is VerificationResult.DIFFERENT


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


def test_libraries_of_other_versions_are_named(sealed):
    rewritten(sealed, with_manifest(libraries={"numpy": "1.20.0", "scipy": "1.6.0"}))
    found = fg.verify(sealed)
    assert [each[:2] for each in found.libraries] == [("numpy", "1.20.0"), ("scipy", "1.6.0")]
    assert "; sealed with 1.20.0" in str(found)


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


def test_damaged_and_absent_files(tmp_path):
    with pytest.raises(fg.DataError, match="no file"):
        fg.verify(tmp_path / "no.fairgauge")
    path = tmp_path / "cut.fairgauge"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(fg.DataError, match="is no bundle"):
        fg.verify(path)


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
    run = CliRunner().invoke
    flags = ["--label", "y", "--prediction", "p", "--sensitive", "g"]
    assert run(main, ["count", "t.csv", *flags, "-o", "t.cube.json"]).exit_code == 0
    assert run(main, ["audit", "t.cube.json", "-o", "report.json"]).exit_code == 0
    done = run(main, ["seal", "report.json", "t.cube.json", "-o", "a.fairgauge"])
    assert done.exit_code == 0, done.output
    assert "alone in a cell" not in done.stderr
    assert run(main, ["verify", "a.fairgauge"]).exit_code == 0
    rewritten(tmp_path / "a.fairgauge", lambda parts: parts.update({REPORT: b"{}"}))
    changed = run(main, ["verify", "a.fairgauge"])
    assert changed.exit_code == 1
    assert "changed: report.json" in changed.output
    assert run(main, ["verify", "t.csv"]).exit_code == 2


def test_sealing_counts_of_single_people_is_noted(tmp_path):
    cube = fg.confusion("sex", {"F": {"tp": 20, "fn": 1}, "M": {"tp": 65, "fn": 5}})
    cube.save(tmp_path / "c.cube.json")
    fg.audit(cube).save(tmp_path / "r.json")
    paths = (str(tmp_path / name) for name in ("r.json", "c.cube.json", "a.fairgauge"))
    report, counts, bundle = paths
    done = CliRunner().invoke(main, ["seal", report, counts, "-o", bundle])
    assert done.exit_code == 0
    assert "1 row is alone in a cell" in done.stderr
    assert "fairgauge protect" in done.stderr


BUNDLES = Path(__file__).with_name("bundles")


def test_a_stored_bundle_is_reproduced():
    found = fg.verify(BUNDLES / "weighted-strata-0.1.0.fairgauge")
    assert found.finding is VerificationResult.REPRODUCED, str(found)
    assert found.numbers > 1_000
