"""Words of several languages for people of unknown category, and for outcomes of no decision."""

import cProfile
import unicodedata

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.question import category_words
from fairgauge.question.category_words import (
    action_code,
    are_actions,
    codes_of_missing,
    is_undecided,
    may_be_group,
    means_missing,
    missing_words,
    no_decisions,
    no_groups,
    no_outcomes,
)
from fairgauge.render.formats import render

UNKNOWN = {
    "English": "Unknown|Not stated|N/A|Decline to answer|Choose not to disclose|PREFER_NOT_TO_SAY"
    "|Not applicable|Blank|Empty|Rather not say|Not declared|Refused|Not indicated|Withheld"
    "|No data|Not collected|Not entered|Not selected|No selection|None selected|Opted out"
    "|Unmapped|Not assigned|Survey not sent|Visual ID not possible|EEO form skipped"
    "|Unidentified|Non-response|Don't know|No co-applicant|No coapplicant|Race NA|N/A (race)|Unk"
    "|Gender: n/a|Race/Ethnicity N/A|Race Unk|Not self-identified|Not applicable (non-US)|??",
    "Spanish": "Desconocida|No especificado|Sin especificar|Prefiero no responder|N/D|No declarado"
    "|Se desconoce|Sin datos|NS/NC|No contesta|Ignorado|No aplica|No procede|En blanco|Vacío"
    "|No facilitado|No recogido|Sin asignar|Por definir|No se sabe|Dato faltante|No clasificado",
    "French": "Inconnue|Non renseignée|Non précisé|NSP|Je préfère ne pas répondre|Sans réponse"
    "|Sans objet|Vide|Non collecté|Non défini|À compléter|Ne s'applique pas|Données manquantes"
    "|Aucune donnée|Pas d'information|A refusé de répondre",
    "German": "Unbekannt|Ohne Angabe|k. A.|k.A.|Nicht angegeben|Weiß nicht|Moechte nicht antworten"
    "|entfällt|Entfaellt|leer|fehlt|Ungültig|Unbestimmt|Nicht zugeordnet|Verweigert|Ungeklärt",
}
UNDECIDED = {
    "English": "Withdrawn|Pending|Cancelled|Incomplete|In review|ON_HOLD|Status unknown|New"
    "|Awaiting decision|Under consideration|Applied|Req closed|Position filled|No show"
    "|Duplicate application|Expired|Candidate declined|Declined by candidate|Blank|No data"
    "|Applicant declined position|Self-declined|Withdrawn - declined interview"
    "|Withdrew - not qualified|Declined interview|Interview declined"
    "|Open|Reopened|Re-opened claim|Still open|Unsettled|IBNR|Parsing failed|Hiring paused"
    "|Candidate self-removed|Not yet screened|Did not start assessment",
    "Spanish": "Retirada por el candidato|Desistió|Desistimiento|Pendiente|En proceso|Anulada"
    "|Incompleto|Desconocido|Vacante cubierta|Revisión manual|Datos insuficientes|Duplicado"
    "|No se presentó|Caducada|Lista de espera|Sin valorar|Rechazado por el candidato|Nueva",
    "French": "Candidature retirée|Désistement|Désisté|En attente|En cours|Annulé|Dossier incomplet"
    "|Poste pourvu|Examen humain|Pièces manquantes|Doublon|Expiré|Liste d'attente|Non examiné"
    "|Pas de décision|Erreur technique|N'a pas répondu|A accepté une autre offre|À revoir",
    "German": "Zurueckgezogen|Ausstehend|In Bearbeitung|Storniert|Unvollständig|Zurückgestellt"
    "|Stelle besetzt|Manuelle Prüfung|Unzureichende Daten|Unterlagen fehlen|Dublette|Abgelaufen"
    "|Nicht erschienen|Wird geprüft|Ungeprüft|Keine Rückmeldung|Absage durch Bewerber|Wartet",
}

MEANT = {
    "is_opposite": "Incomplete / Completed|Unassigned / Assigned to a judge",
    "is_column_of": "age / applicantAge|age / Alter (Jahre)|cost / rate_spread|cost / loanCosts"
    "|never_zero / Offer Base|never_zero / Jahresgehalt|men / Male|men / M\xe4nner",
    "is_total": "Total (all races)|All offices|Whole trust|National / North|Combined / Men"
    "|Ensemble des candidats",
    "is_unknown": "Race N/A|Not avail. (sex)|Dept n/k|Not yet assigned|No dept recorded",
    "is_undecided": "Pending|Withdrawn by candidate|Applicant declined|Unclear|To be decided|DNA"
    "|Declined to answer|Cancelled by clinic|Absent from exam|Did not attend|Never seen",
    "means_missing": "Refused|Withheld|Not selected",  # of a group; of outcomes they are refusals
    "is_settled": "Approved after manual review|Cancelled by the insurer|Offer withdrawn",
    "is_adverse": "Not hired|No cumple|No apto|Pas retenu|Inapte|Ungeeignet|Nicht bewilligt"
    "|Not suitable|Weak match|No encaja|Subprime|No preseleccionado",
    "is_harm": "laid off|High / risk_rating|tax_audit",
    "is_of_risk": "PD_12m|lgd|credit_risk",
    "is_of_denials": "denied|isRejected|loan_not_approved",
    "is_favourable": "Approved|Solicitud aprobada"
    "|Prêt accordé|Avis favorable|Antrag genehmigt|Otorgado|Gewährt",
    "is_form_of": "Hire / Hired|Hierd / Hired|Hired (offer) / Hired|AUTO_APPROVED / approved",
    "attests_favour": "A|APPR|hired|ok|Recommended|Ultra Preferred|No exception|strong_yes|Green"
    "|Meets criteria|Strong fit|Above benchmark|Recomendado|Idóneo|Convoqué|Empfohlen|Apte",
}
NOT_MEANT = {
    "is_column_of": "age / loan_age|cost / lender_credits|men / woman",
    "is_total": "Total loss|All risks|Total / Total / Partial|National / Local|Combined / Legal",
    "is_unknown": "Native American (NA)|Unknown primary|Declined vaccine|No conviction recorded"
    "|Durée indéterminée|Contrato indefinido|Trifft nicht zu|Kein Eintrag|Vierge",
    "is_undecided": "Rejected: incomplete file|Withdrawn by the agency|Candidate declined offer"
    "|Offer declined|Not taken up|Refused|Withheld|Not selected|Aprobado tras revisión manual"
    "|Offre ferme|Sous traitement|No pasaporte|Ohne Befund|Renuncia",
    "is_settled": "To be approved|Cancelled by patient",
    "is_adverse": "No cumplimentado|No pasaporte",
    "is_harm": "yes / not_arrested|High / grade|Knockout question passed",
    "is_of_risk": "low_risk|updated",
    "is_of_denials": "approved|not_denied|pass_fail|offer_declined",
    "is_favourable": "Less urgent|Part accepted",
    "is_form_of": "Fired / Hired|not approved / approved|Better qualified / Qualified"
    "|Retired / Retained|Nothing found / Found",
    "attests_favour": "1|yes|Y|D|Denied|High|Not recommended|Recommended for dismissal|Strong no"
    "|Searched|Flagged|Referred|Minimally qualified|No pasa|Nicht empfohlen|Fitness|Unfit",
}
"""Names, with the column, or the other names, that they stand next to."""
BESIDE_OTHERS = ("is_opposite", "is_total")


@pytest.mark.parametrize("question", MEANT)
def test_names_mean_what_they_are_listed_for(question):
    for table, meant in ((MEANT, True), (NOT_MEANT, False)):
        for example in filter(None, table.get(question, "").split("|")):
            name, *others = example.split(" / ")
            given = [others] if question in BESIDE_OTHERS else others
            assert getattr(category_words, question)(name, *given) is meant, example


def test_values_are_found_next_to_others():
    assert no_outcomes([0, 1, 2], [1]) == [2]
    assert no_outcomes(["Hired", "Rejected", "Interview"], ["Hired"]) == ["Interview"]
    assert missing_words(["36", "50%-60%", "NA", "Exempt"]) == ["NA", "Exempt"]
    assert missing_words(["Exempt", "Non-exempt"]) == []
    assert may_be_group("None", "religion", ["None", "Hindu"])
    assert not may_be_group("None", "Sex", ["None"])
    assert may_be_group("NA", "place", ["NA", "ZA", "BW"])
    assert may_be_group("u", "arm", ["u", "v", "w"])
    assert not may_be_group("U", "sex", ["M", "F", "T", "U"])
    assert not may_be_group("NA", "place", ["NA", "Rome", "Bonn"])


def test_codes_of_hmda_are_known_by_column_and_name():
    names = ("Loan originated", "03", "1.0", "yes")
    assert [action_code(name) for name in names] == ["1", "3", "1", "yes"]
    assert are_actions("action_taken", [1, 3])
    assert are_actions("action_taken", [1, 2, 3, "NA"])
    assert not are_actions("x", ["01", "03"])
    assert not are_actions("disposition", [1, 2, 3])
    assert no_decisions("action_taken", [1, 3, 4, 7], [1]) == [4, 7]
    assert no_decisions("x", ["yes", "open"], ["yes"]) == ["open"]
    assert no_groups("applicant_race_1", [5, 6]) == no_groups("B1_Race", [5, 6]) == [6]
    assert no_groups("Sex", ["Confidential", "Female", "Male"]) == ["Confidential"]
    assert no_groups("co-applicant_sex", ["2", "04"]) == no_groups("Borr1Sex", [1, "04"]) == ["04"]
    assert no_groups("b2b_sex", [1, 4]) == no_groups("racetrack of borrower", [6]) == []


def every(words: dict[str, str]) -> list[str]:
    return "|".join(words.values()).split("|")


def audited(**columns: list[str]) -> fg.Report:
    return fg.audit(
        pl.DataFrame(columns), prediction="outcome", positive="advance", sensitive="g",
        rules="selection_rate.ratio >= 0.5",
    )  # fmt: skip


@pytest.mark.parametrize("form", [
    str, str.upper, str.lower, lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKD", text).encode("latin-1", "ignore").decode("latin-1"),
    lambda text: f" {text} ", lambda text: text.replace(" ", "_"), lambda text: f"({text})",
    lambda text: text.replace(" ", "-"), lambda text: f"{text}.",
])  # fmt: skip
def test_words_are_known_whatever_their_case_accents_and_separators(form):
    assert [word for word in map(form, every(UNKNOWN)) if not means_missing(word)] == []
    assert [word for word in map(form, every(UNDECIDED)) if not is_undecided(word)] == []


@pytest.mark.parametrize(("values", "missing"), [
    ([1, 2, 9], [9]), (["0", "1", "-9", "99"], ["-9", "99"]),
    ([7, 8, 9], []), ([-1, 1], []), (["a", "9"], []), ([91, 93, 95, 97, 99], []),
    ([1, 2, 998], [998]), ([1, 2, 3, 98], [98]), (["A", "B", "97", "99"], ["97", "99"]),
    ([10, 20, 99], [99]), (["F", "M", "9999"], ["9999"]), (["A", "777", "888"], []),
    (["Female", "Male", "9"], ["9"]), (["1st", "2nd", "9"], []),
    (["<36", "36", "37", "8888"], ["8888"]), (["up", "998", "999"], []),
    (["2024-05-01", "2025-01-31", "1900-01-01"], ["1900-01-01"]),
    (["1899-12-30", "1901-02-03"], []),
    (["2024-05-01 10:00:00", "9999-12-31 00:00:00"], ["9999-12-31 00:00:00"]),
])  # fmt: skip
def test_a_code_of_missing_values_lies_beyond_the_others(values, missing):
    assert codes_of_missing(values) == missing


@pytest.mark.parametrize(("values", "none"), [
    ([0, 1, 0.5], [0.5]), (["yes", "no", "9999", "n/a"], ["9999", "n/a"]),
    (["1", "2", "9"], ["9"]), ([0, 1, 2], []), ([1, 2, 3, 9999], [9999]), (["N", "X"], []),
    (["ja", "nein", "?", "Z"], ["?"]), (["1st", "2nd"], []),
    (["hired", "not hired", "Total"], ["Total"]), (["None", "Hired", "Rejected"], ["None"]),
    (["None", "Mild", "Severe"], []), (["Buy", "Hold", "Sell"], []),
])  # fmt: skip
def test_an_outcome_is_no_decision_by_what_the_others_are(values, none):
    assert no_outcomes(values) == none


def test_the_work_of_an_audit_grows_no_faster_than_its_groups():
    """An identifier as a feature took minutes: each name was held against all others."""
    calls = []
    for groups in (30, 150, 600):  # the first imports
        names = [f"person {i}" for i in range(groups)]
        asked = {"label": [1, 0, 1] * (groups // 3), "prediction": [1, 0] * (groups // 2)}
        rules = "selection_rate.ratio >= 0.8"
        with cProfile.Profile() as profile:
            str(fg.audit(**asked, sensitive={"name": names}, rules=rules))
        calls.append(sum(each.callcount for each in profile.getstats()))
    assert calls[2] < 4.5 * calls[1]


def test_what_counts_as_not_favourable_stands_on_the_first_page():
    """It was in a note of the whole report alone: no list of words is of every language."""
    counted = {"tilbakekalt": 60, "avslag": 200, "x": 9, "y": 8, "z": 3, "w": 2}
    held = ["advance"] * 300 + [value for value, n in counted.items() for _ in range(n)]
    report = audited(outcome=held * 2, g=["a"] * len(held) + ["b"] * len(held))
    line = "Counted as not positive: avslag 400, tilbakekalt 120, x 18, y 16"
    assert f"{line}, z 6, w 4." in map(str, report.brief().looked_at)
    two = audited(outcome=(["advance"] * 9 + ["avslag"] * 9) * 20, g=["a", "b"] * 180)
    assert "Counted as" not in render(two, "text", full=True)
