"""Words of several languages for people of unknown category, and for outcomes of no decision."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.question.category_words import is_undecided, means_missing
from fairgauge.render.formats import render

UNKNOWN = {
    "English": "Unknown|Not stated|N/A|Decline to answer|Choose not to disclose|PREFER_NOT_TO_SAY"
    "|Not applicable|Blank|Empty|Rather not say|Not declared|Refused|Not indicated|Withheld"
    "|No data|Not collected|Not entered|Not selected|No selection|None selected|Opted out"
    "|Unidentified|Non-response|Don't know|No co-applicant|No Co-Applicant|No coapplicant"
    "|Race N/A|Race NA|N/A (race)|Sex N/A|Gender: n/a|Race/Ethnicity N/A|Sex refused|Unk|Race Unk"
    "|Race not avail|Not furnished|Not self-identified|Not applicable (non-US)|??",
    "Spanish": "Desconocido|Desconocida|No especificado|Sin especificar|Prefiere no contestar"
    "|Prefiero no responder|Prefiere no decirlo|N/D|No declarado|Se desconoce|Sin datos|NS/NC"
    "|No contesta|Ignorado",
    "French": "Inconnu|Inconnue|Non renseigné|Non renseignée|Non précisé|NSP"
    "|Ne souhaite pas répondre|Préfère ne pas répondre|Je préfère ne pas répondre|Sans réponse",
    "German": "Unbekannt|Keine Angabe|Ohne Angabe|k. A.|k.A.|Nicht angegeben|Weiß nicht"
    "|Möchte ich nicht angeben|Moechte nicht antworten",
}
UNDECIDED = {
    "English": "Withdrawn|Pending|Cancelled|Incomplete|In review|ON_HOLD|Status unknown|New"
    "|Awaiting decision|Under consideration|Applied|Req closed|Position filled|No show"
    "|Duplicate application|Expired|Candidate declined|Declined by candidate|Blank|No data"
    "|Applicant declined position|Self-declined|Withdrawn - declined interview"
    "|Withdrew - not qualified|Declined interview|Interview declined"
    "|Open|Reopened|Re-opened claim|Still open|Unsettled|IBNR|Hold|Paused",
    "Spanish": "Retirado|Retirada|Retirado por el candidato|Desistió|Desistimiento|Pendiente"
    "|En proceso|Cancelado|Anulada|Incompleto|Desconocido",
    "French": "Retiré|Retirée|Candidature retirée|Désistement|Désisté|En attente|En cours|Annulé"
    "|Dossier incomplet",
    "German": "Zurückgezogen|Zurueckgezogen|Ausstehend|In Bearbeitung|Storniert|Unvollständig"
    "|Zurückgestellt",
}
CATEGORIES = (
    "ND|N.D.|NC|KA|No|Sí|Si|So|No binario|Não binário|Non binaire|Nichtbinär|Non-binary|Divers"
    "|Mujer|Hombre|Femenino|Männlich|Weiblich|Donna|Otra|Ninguna|Keine|Geen|Sin discapacidad"
    "|Sin estudios|Sans diplôme|Ohne Abschluss|No hispano|Nicht deutsch|Non marié|Niet-westers"
    "|None declared|None recorded|No record|U|Unmarried|Not a veteran|Not Hispanic|Empty nester"
    "|Retraité|Jubilado|North Dakota|Noord-Brabant|Pendleton|Corso|Incontro|Desisto"
    "|Native American (NA)|Self-identified|NA Sales|Race A|Other race|Two races|Unfurnished|Agender"
    "|Sex|Race|NAs"
)
OUTCOMES = (
    "Avanza|Rechazado|Rechazado: documentación incompleta|No seleccionado|Aprobado|Suspendido"
    "|Retenue|Non retenue|Refusée|Rejet : dossier incomplet|Eingestellt|Abgelehnt|Contratado"
    "|Reprovado|Assunto|Respinto|Aangenomen|Afgewezen|Desisted"
    "|New hire|Rejected - position filled|Offer extended|Candidate rejected|Renewed"
    "|Account opened|Opened e-mail|Open enrollment|Settled|Household"
)


def every(words: dict[str, str]) -> list[str]:
    return "|".join(words.values()).split("|")


def without_accents(text: str) -> str:
    parted = unicodedata.normalize("NFKD", text)
    return "".join(each for each in parted if not unicodedata.combining(each))


def audited(**columns: list[str]) -> fg.Report:
    return fg.audit(
        pl.DataFrame(columns), prediction="outcome", positive="advance", sensitive="g",
        rules="selection_rate.ratio >= 0.5",
    )  # fmt: skip


@pytest.mark.parametrize("form", [
    str, str.upper, str.lower, without_accents, lambda text: unicodedata.normalize("NFD", text),
    lambda text: f" {text} ", lambda text: text.replace(" ", "_"), lambda text: f"({text})",
    lambda text: text.replace(" ", "-"), lambda text: f"{text}.",
])  # fmt: skip
def test_words_are_known_whatever_their_case_accents_and_separators(form):
    """They were known in English alone."""
    assert [word for word in map(form, every(UNKNOWN)) if not means_missing(word)] == []
    assert [word for word in map(form, every(UNDECIDED)) if not is_undecided(word)] == []


def test_words_written_as_names_in_code_are_known():
    assert [means_missing(name) for name in ("PreferNotToSay", "NotDeclared")] == [True, True]
    assert is_undecided("InReview")


@pytest.mark.parametrize("word", ["Refused", "Withheld", "Not selected"])
def test_of_outcomes_these_are_refusals(word):
    """Of a group they are people who did not state theirs."""
    assert means_missing(word)
    assert not is_undecided(word)
    report = audited(
        outcome=(["advance"] * 300 + [word] * 300 + ["other"] * 9) * 2, g=["a"] * 609 + ["b"] * 609
    )
    assert report.verdict is Outcome.PASS


def test_refusals_that_a_condition_excludes_are_no_missing_outcomes():
    outcomes = ["advance", "Refused", "other", "N/A"] * 200
    report = fg.audit(
        pl.DataFrame({"outcome": outcomes, "g": ["a"] * 400 + ["b"] * 400}),
        prediction="outcome", positive="advance", sensitive="g", where="outcome = advance or other",
    )  # fmt: skip
    warned = [d["value"] for d in report.diagnostics if d.code is DiagnosticCode.MISSING_MARKER]
    assert (warned, report.data.excluded) == (["N/A"], {})


def test_ordinary_categories_and_decisions_are_no_such_words():
    """N.D. and ND are North Dakota, and a refusal of an incomplete file is a decision."""
    assert [
        word for word in CATEGORIES.split("|") if means_missing(word) or is_undecided(word)
    ] == []
    assert [word for word in OUTCOMES.split("|") if means_missing(word) or is_undecided(word)] == []


@pytest.mark.parametrize("word", ["Withdrawn", "Retirado", "Zurückgezogen"])
def test_an_outcome_of_no_decision_withholds_a_pass(word):
    """Withdrawn applications in Spanish passed, with nothing in the default report about them."""
    report = audited(
        outcome=(["advance"] * 300 + ["Rechazado"] * 300 + [word] * 200) * 2,
        g=["a"] * 800 + ["b"] * 800,
    )
    (verdict,) = report.verdicts
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.says.endswith("400 rows have no clear prediction")
    (warned,) = [d for d in report.diagnostics if d.code is DiagnosticCode.UNDECIDED_OUTCOMES]
    assert warned["values"] == (word,)


@pytest.mark.parametrize(
    ("positive", "other"), [("Returning", "New"), ("Showed", "No-show"), ("Closed", "Open")]
)
def test_the_opposite_of_the_favourable_outcome_is_a_decision(positive, other):
    report = fg.audit(
        pl.DataFrame({"outcome": [positive, other] * 400, "g": ["a"] * 400 + ["b"] * 400}),
        prediction="outcome", positive=positive, sensitive="g", rules="selection_rate.ratio >= 0.5",
    )  # fmt: skip
    assert report.verdict is Outcome.PASS


@pytest.mark.parametrize("word", ["Unknown", "Prefiere no contestar", "k. A."])
def test_a_group_of_people_of_unknown_category_withholds_a_pass(word):
    """In Spanish it was compared with the others in the headline, and called a known category."""
    report = audited(
        outcome=(["advance", "Rechazado"] * 200) * 2 + ["advance"] * 90 + ["Rechazado"] * 10,
        g=["a"] * 400 + ["b"] * 400 + [word] * 100,
    )
    assert report.verdict is Outcome.INCONCLUSIVE
    (warned,) = [d for d in report.diagnostics if d.code is DiagnosticCode.MISSING_MARKER]
    assert (warned.feature, warned["value"], warned["rows"]) == ("g", word, 100)
    assert word not in {each.reference for each in report.estimates}


@pytest.mark.parametrize("word", ["Race N/A", "Race NA", "Race not avail.", "Not furnished", "Unk"])
def test_a_check_reads_such_a_row_as_people_of_unknown_category(word):
    """They were judged as a category."""
    text = (
        f"Race,n,selected,selection rate\nWhite,400,200,50%\nBlack,300,120,40%\n{word},50,10,20%\n"
    )
    (table,) = fg.check(text).tables
    assert [group.name for group in table.groups] == ["White", "Black"]
    assert "how many people are of unknown category" not in str(fg.check(text))


@pytest.mark.parametrize("code", ["0", "9", "99"])
def test_a_number_beside_words_alone_is_a_code_of_people_of_unknown_category(code):
    """0 was a group like the others."""
    report = audited(
        outcome=["advance", "Rechazado"] * 450, g=["a"] * 400 + ["b"] * 400 + [code] * 100
    )
    (warned,) = [d for d in report.diagnostics if d.code is DiagnosticCode.MISSING_MARKER]
    assert (warned["value"], warned["rows"]) == (code, 100)
    counts = audited(
        outcome=["advance", "Rechazado"] * 450, g=["1"] * 400 + ["2"] * 400 + [code] * 100
    )
    assert (code == "0") == (
        not any(d.code is DiagnosticCode.MISSING_MARKER for d in counts.diagnostics)
    )


@pytest.mark.parametrize("word", ["N.D.", "Otra", "Sin estudios"])
def test_a_group_of_another_category_withholds_none(word):
    report = audited(
        outcome=(["advance", "Rechazado"] * 200) * 2 + ["advance"] * 90 + ["Rechazado"] * 10,
        g=["a"] * 400 + ["b"] * 400 + [word] * 100,
    )
    assert report.verdict is Outcome.PASS


def test_what_counts_as_not_favourable_stands_in_the_default_report():
    """It was in a note of the whole report alone: no list of words is of every language."""
    counted = {"tilbakekalt": 60, "avslag": 200, "x": 9, "y": 8, "z": 3, "w": 2}
    held = ["advance"] * 300 + [value for value, n in counted.items() for _ in range(n)]
    report = audited(outcome=held * 2, g=["a"] * len(held) + ["b"] * len(held))
    line = "Not favourable: avslag (400), tilbakekalt (120), x (18), y (16)"
    assert f"{line} and 2 more." in " ".join(str(report).split())
    assert f"{line}, z (6), w (4)." in map(str, report.brief().looked_at)
    two = audited(outcome=(["advance"] * 9 + ["avslag"] * 9) * 20, g=["a", "b"] * 180)
    assert "Not favourable" not in render(two, "text", full=True)


def test_what_counts_as_not_favourable_of_people_is_without_rows():
    """Of each person one decision counts."""
    held = ["advance", "avslag", "tilbakekalt"] * 100
    table = pl.DataFrame({"outcome": held * 2, "g": ["a"] * 300 + ["b"] * 300, "id": range(600)})
    report = fg.audit(
        table, prediction="outcome", positive="advance", sensitive="g", person="id",
        favourable="negative",
    )  # fmt: skip
    assert "Not positive: avslag and tilbakekalt." in " ".join(str(report).split())
