"""Values that tables of the field hold by mistake: no pass stands on one, in Python or the page."""

import sys
import warnings
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome

sys.path.append(str(Path(__file__).parents[2] / "browser"))
from page_tables import answers

N = 480
ASKED = {"prediction": "outcome", "positive": ["Hired"], "sensitive": ["sex"],
         "favourable": "positive", "rules": ["selection_rate.ratio >= 0.5"],
         "metrics": ["selection_rate.ratio"]}  # fmt: skip


def table(sex=("Female", "Male"), outcome=("Hired", "Rejected"), extra=None, column="outcome", k=3):
    """Return rows of which one in eight of the second outcome, or of each group, has a value."""
    rows = {
        "sex": [sex[i % 2] for i in range(N)],
        "outcome": [outcome[i // 2 % k > 0] for i in range(N)],
    }
    if extra is not None:
        at = [column == "sex" or each == outcome[1] for each in rows["outcome"]]
        rows[column] = [
            extra if at[i] and i // 2 % 8 == 1 else v for i, v in enumerate(rows[column])
        ]
    return pl.DataFrame(rows)


def aged(column, value, least=20):
    """Return rows with ages of 20 to 59, or amounts, one in ten of them another number."""
    rng = np.random.default_rng(int(abs(value)))
    ages = np.where(rng.random(N) < 0.1, value, rng.integers(least, 3 * least, N))
    return table().with_columns(pl.Series(column, ages)), {
        "sensitive": [{"column": column, "cuts": [2 * least]}]
    }


def few_columns(rows=300):
    """Return rows of few combinations of values."""
    rng = np.random.default_rng(rows)
    drawn = {"sex": ["Female", "Male"], "outcome": ["Hired", "Rejected"], "team": [*"abcdef"],
             "grade": [1, 2, 3, 4]}  # fmt: skip
    return pl.DataFrame({name: rng.choice(values, rows) for name, values in drawn.items()})


def copied(times, numbered, place="after"):
    """Return rows of few combinations of values, each of which stands so many times."""
    rows = few_columns()
    drawn = np.random.default_rng(times).integers(9, 12, 300)
    rows = pl.concat([rows] * times) if place == "after" else rows[np.repeat(range(300), drawn)]
    return (rows.with_row_index("row") if numbered else rows), {}


def tabulated(*numbers):
    """Return a table of counts of 5 to 60 people, of which the last ones are others."""
    rng = np.random.default_rng(9)
    rows = [(s, o, b) for s in ("Female", "Male") for o in ("Hired", "Rejected") for b in range(20)]
    n = [*rng.integers(5, 60, len(rows) - len(numbers)).tolist(), *numbers]
    at = rng.permutation(len(rows))
    table = pl.DataFrame(rows, ["sex", "outcome", "branch"], orient="row")
    return table.with_columns(n=pl.Series(n)[at]), {"count": "n", "reference": "others"}


def named(column, good, bad, extra=None, **asked):
    """Return rows of outcomes in a column of that name, and what is asked of them."""
    rows = table(outcome=(good, bad), extra=extra).rename({"outcome": column})
    if asked.get("favourable") == "negative":
        asked["rules"] = ["selection_rate.ratio <= 2"]
    return rows, {"prediction": column, "positive": [str(good)]} | asked


def cells(line):
    return [tuple(each.split("|")) for each in line.split("||")]


NO_GROUP = (
    "N/A|undefined|Please select|Select one|-- select --|Invalid|see notes|TBD|#N/A|None|nil|-"
    "|Total|Subtotal|All|Gesamt|Summe|Grand Total|Bitte wählen|Veuillez choisir|Seleccione|#WERT!"
    "|Unable to determine|TBC|Redacted|Unclassified|Not matched|Anonymous|No EEO data|Total women"
    "|Total (all)|Undetermined sex|All ages|None reported|Ambos sexos"
    "|Left blank|EEO form not returned|Applicant refused|Not collected (phone application)|Void"
    "|Didn't say|HMDA N/A|Cannot determine|To be completed|Purchased loan - no data|No EEO form"
    "|n.d.|Company total|Bank total|Whole trust|Dept n/k|Not yet assigned|No dept recorded|Combined"
    "|UTD|NASK|Pt refused|Patient unable to answer|Unable to collect|Sex not documented|--None--"
    "|To be confirmed|Pending|***|<10|xxx|Masked|Test patient|Statewide|Hospital average|Sex|NI|00"
    "|\\N|unkown|Unknow|Unspecifed|Null value|No match|Data pending|Keine Daten|No consent|97|-7"
    "|Cannot be determined|All payers|Total workforce|Not yet disclosed|imputed_mode"
    "|nicht erhoben|Job TBD|XNA|???|n.k.|n.c.|NA_character_|__HIVE_DEFAULT_PARTITION__|\u200b|0.0"
    "|.a|['']|_|nodata|NotFound|Unspec"
)
UNDECIDED = (
    "Withdrawn|Retirado|Zurückgezogen|Missing data|#VALUE!|#N/A|#REF!|#DIV/0!|#NAME?|#WERT!"
    "|Submitted|Received|ongoing|Draft|Active"
    "|Interview|Assessment|Shortlisted|Requested info|Exempt|offen|Phone screening|Eingereicht"
    "|Vorstellungsgespräch|Entretien|Entrevista|Candidature reçue|Preseleccionada|Please select"
    "|Pended|W/D|Not Decisioned|Undispositioned|Abandoned|Parse Error|Abstain|Unscored"
    "|Under investigation|Not Interested|Accepted other offer|Phone Screen Scheduled|Gegenangebot"
    "|Hiring Manager Review|Unable to contact|Hold|Waitlist|Waitlisted|Refer|Review|Phone screen"
    "|Under evaluation|Closed pending|Case open|Not graded|Candidate no longer interested"
    "|In consideration|Not yet dispositioned|Talent pool|Keep warm|Pipeline|Rate lock"
    "|Submitted to UW|Pend|In appeal|Unadjudicated|Waiting on provider|Clarification needed|Fallout"
    "|No longer interested|Did not show|Rate lock expired|Counteroffer outstanding|Reserved"
    "|To be reviewed|Job TBD|In litigation|Docs needed|unparsed|noch offen|por revisar|à revoir"
    "|Under HM review|Incident only|Final round|low_confidence|Moved to another req|Step 2"
)
HARMS = (
    "adverse_action deny_flag write_off written_off laid_off foreclosed evicted suspended expelled"
    " delinquent charged_off no_show revoked banned muted shadowbanned waitlisted downgraded"
    " surcharged lapsed bankruptcy repossessed late_payment overdue dropout detained cited"
    " use_of_force readmitted deported blacklisted overpayment disconnected mora despido"
    " ko dq archived red_flag turnover_risk Kündigung Zahlungsverzug Mahnung résilié impayé"
    " delinq_2yrs SeriousDlqin2yrs hallucinated noncompliant eviction_not_avoided uninsured"
)
ACTIONS = (
    ("1.0", "3.0", "2.0"),
    ("1 - Loan originated", "3 - Application denied", "2"),
    ("Loan originated", "Application denied", "Application approved but not accepted"),
)
DOUBTED = {
    "group_of_one_outcome:sex": [
        (table().with_columns(outcome=pl.when(pl.int_range(N) % 2 < pl.int_range(N) // 2 % k)
            .then(pl.lit("Hired")).otherwise("outcome")), {}) for k in (3, 6)],
    "unfavourable_positive": [
        *[named(column, 1, 0, favourable=None) for column in HARMS.split()],
        named("action_taken", "3 - Application denied", "1 - Loan originated", favourable=None),
        named("hired", 1, 0, favourable="negative"),
        *[named("outcome", word, "ok", favourable=None) for word in (
            "No hire", "Archived", "Below cut", "Screened out", "Not a fit", "Nonperforming")],
        named("grade", "I", "C", favourable=None), named("is_correct", 0, 1, favourable=None),
        named("outcome", "Booked", "Denied", favourable="negative"),
    ],
    "missing_marker": [
        *[(table(extra=word, column="sex"), {}) for word in NO_GROUP.split("|")],
        *[(table((a, b), extra=c, column="sex").rename({"sex": name}), {"sensitive": [name]})
          for name, a, b, c in cells("gender|F|M|U||g|Male|Female|PNTS||race|W|B|U||group|WH|B|UN"
                                     "||veteran|Y|N|u||Geschlecht|m|w|*||sex|1|2|0"
                                     "||applicant_race_1|5|3|7||co-applicant_sex|1|2|4"
                                     "||region|North|South|National")],
    ],
    "same_names": [
        (table((a, "Zed"), extra=b, column="sex"), {})
        for a, b in cells("3|03||1,000|1000||en_US|en-US||REQ-1|REQ 1||B-17|B17"
                          "||Full-time|Full \u2013 time")
    ],
    "doubled_rows": [
        *[copied(times, numbered) for times in (2, 5, 9, 10) for numbered in (False, True)],
        copied(10, numbered=True, place="in place"),
        (pl.concat([few_columns()] * 9).sample(fraction=1, shuffle=True, seed=1), {}),
        (pl.concat([tabulated()[0]] * 3), tabulated()[1]),
        (pl.concat([few_columns(3_000).select("sex", "outcome")] * 2), {}),
        (copied(2, numbered=True)[0].with_columns("JA-" + pl.col("row").cast(pl.String)), {}),
    ],
    "coded_numbers": [
        *[tabulated(code, code, code, code) for code in (999, 9_999)],
        *[aged("age", value) for value in (121, 150, 200, 1_000_000, 19_850_101, 1985)],
        *[aged(name, 0, 9_000) for name in ("income", "creditScore", "Gehalt", "annual pay")],
        aged("weeks", 99), aged("level", 9, 1),
        (aged("age", -9)[0], {"sensitive": [{"column": "age", "cuts": [-9, 40]}]}),
        aged("age", 0), aged("apr", 0, 5), aged("premium", 1, 900), aged("wage", 9_000),
        *[aged(name, 200) for name in ("Alter", "edad", "âge", "applicantAge", "age_in_years")],
    ],
    "approved_as_refused": [named("action_taken", *codes) for codes in ACTIONS],
    "undecided_outcomes": [
        *[(table(extra=word), {}) for word in UNDECIDED.split("|")],
        *[(table(outcome=("Y", "N"), extra=x), {"positive": ["Y"]}) for x in "XZ"],
        *[named("status", *pair) for pair in (("Graduated", "Enrolled"), ("Hired", "Applied"),
          ("Approved", "Submitted"), ("Bewilligt", "Eingereicht"), ("Offered", "Invited"))],
        *[named("loan_status", "Fully Paid", "Charged Off", word)
          for word in ("Current", "In Grace Period", "Forbearance", "Active", "Too new to rate")],
        named("score", "C", "I", "P"), named("score", "C", "I", "N"),  # of Inspect
        named("a", "Paid as agreed", "90+ DPD", "Not booked"), named("a", "Good", "Bad", "Current"),
        *[(table(outcome=("1", "3"), extra="4").with_columns(pl.when(pl.int_range(N) % 24 == 2)
            .then(pl.lit("5")).otherwise("outcome").alias(name)), {"prediction": name,
           "positive": ["1"]}) for name in ("action", "final_action", "disposition")],
        named("action_taken", "1.0", "3.0", "4.0"), named("action_taken", "1", "3", "Exempt"),
        named("post", "kept", "removed", "Deferred"), named("vote", "upheld", "overturned", "Hold"),
        named("deal", "Won", "Lost", "Open"), named("decision", "Approve", "Decline", "Pending"),
        *[named("result", *each) for each in (("Pass", "Fail", "Hold"), ("yes", "no", "Hold"),
          ("Successful", "Unsuccessful", "Withdrawn"), ("Eligible", "Not eligible", "Incomplete"))],
        *[named("outcome", *pair, end)
          for pair in (("Pass", "Fail"), ("Referred", "Not referred"), ("Treated", "Untreated"))
          for end in ("Withdrawn", "Deferred", "DNA", "Did not attend", "Absent",
                      "Cancelled by clinic")],
        named("callback", "Invited", "Rejected", "Withdrawn"),
        *[named("screen", "Advance", "Reject", each) for each in ("Hold", "Manual review")],
        *[named("answer", "yes", "no", each)
          for each in ("unclear", "no answer", "declined to answer", "unparseable", "Don't know")],
        *[named("fall", *pair, word, favourable="negative") for word in ("LTFU", "Died", "Moved")
          for pair in (("Yes", "No"), ("Y", "N"), ("TRUE", "FALSE"), ("1", "0"), ("No", "Yes"))],
        named("loan", "Charged Off", "Fully Paid", "Current", favourable="negative"),
        named("decision", "Denied", "Approved", "Submitted", favourable="negative"),
        *[(table(outcome=(1, 0), extra=code), {"positive": ["1"]}) for code in (2, 3, 8, 9)],
        (table(outcome=(1, 0), extra=2).with_columns(
            y="outcome", outcome=(pl.col("outcome") + (pl.int_range(N) % 14 < 2)) % 2),
         {"positive": ["1"], "label": "y", "rules": ["true_positive_rate.ratio >= 0.5"],
          "metrics": ["true_positive_rate.ratio"]}),
    ],
}  # fmt: skip
CLEAN = [
    (table(outcome=(good, bad), extra=other), {"positive": [good]})
    for good, bad, other in cells(
        "Hired|Fired|Laid off||Selected|Rejected|Not selected||Retained|Dismissed|Retired"
        "||A|C|A-||Stage A|Stage C|Stage B||Active|Terminated|Retired||Pass|Fail|Merit"
        "||Distinction|Merit|Pass||Fully Paid|Charged Off|Late||Graduate|Dropout|Failed"
        "||Type 1|Type 3|Type 2||Low|High|Medium||Retained|Left|Promoted"
        "||Approved|Denied|Denied (credit)||Hired|Offer declined|Rejected||Yes|No|No, never"
    )
]
NO_HARMS = (
    "rating|Meets|Does not meet|Partially meets||decision|Granted|Refused|Granted in part"
    "||underwriting|Approve|Ineligible|Refer with Caution||trip|On time|Delayed|Cancelled"
    "||subscription|Kept|Cancelled||appointment|Attended|No show|Cancelled by patient"
    "||status|Admitted|Denied|Enrolled elsewhere||stay|Retained|Left|Transferred"
    "||triage|Immediate|Urgent|Nonurgent||bail|Released|Detained||match|Match|No match"
    "||reclamacion|Estimada|Desestimada|Estimada en parte||mention|Très bien|Passable|Bien"
    "||custody|Released|Cited|Booked||call|Answered|Abandoned||photo|Matched|Not matched"
    "||course|Completed|Did not complete||file|Classified|Unclassified||form|Scored|Unscored"
    "||claim|Interested|Not interested|Later||contact|Contacted|Unable to contact"
    "||antrag|Genehmigt|Abgelehnt|Teilweise genehmigt||Kredit|Gut|Schlecht||estado|Activa|Cancelada"
    "|Vencida||account|Active|Suspended||reply|Positive response|Negative response|No response"
    "||advice|Buy|Sell|Hold||pay|Increase|Decrease|Hold||engine|Approve|Decline|Refer||uw|Accept"
    "|Decline|Refer to underwriter||queue|Publish|Reject|Hold for review||route|Fast track"
    "|Standard|Manual review||rule|PASS|FAIL|REVIEW||grade|Pass|Fail|Withdrawn||test|Merit|Fail"
    "|Incomplete||course|Completed|Dropped|Withdrawn||quiz|correct|incorrect|skipped||unit|pass"
    "|fail|timeout||kurs|Bestanden|Nicht bestanden|Zurückgezogen||homework|Complete|Late"
    "|Incomplete||ticket|Resolved|Unresolved|Escalated||list|Listed|Waitlist||bail|Released"
    "|Detained pending trial|Remanded||stroke|Ischemic|Cryptogenic|Undetermined etiology||cover"
    "|Full|Partial|None||tier|Prime|Subprime|Near Prime||trial|Eligible|Not eligible"
    "|Potentially eligible||prior|Approved|Denied|Partially approved||answer|Helpful|Not helpful"
    "|Somewhat helpful||damage|Repaired|Total loss|Partial loss||paper|Accepted|Rejected in review"
    "|Rejected without review||rent|Approved|Declined after manual review|Declined||job|Referred"
    "|Not referred|Eligible - Not referred||claim|Paid|Denied|Coverage cancelled||uw|Bound|Declined"
    "|Cancelled by UW within 60 days||call|Kept|Screened out - refer elsewhere|Rejected"
    "||award|Gold|Bronze|None||booking|Accepted|Declined|Expired||exam|Passed|Failed|Absent"
    "||resultat|Admis|Ajourné|Absent||triage|Urgent|Routine|Less urgent||unit|pass|fail|error"
    "||callback|Interview|Rejection|No response||appt|Attended|DNA||claim|Accepted|Rejected"
    "|Part accepted||loan|Approved|Denied|Counteroffer not accepted||visit|Completed|Not completed"
    "|Cancelled by patient||answer|CORRECT|INCORRECT|NOT_ATTEMPTED||table|Reserved|Walk-in"
    "|Turned away||loan|Paid in full|Charged off|Balance outstanding||mail|Click|Open|None"
    "||mobility|Stayed|Left|Moved to another role||bbq|CORRECT|INCORRECT|I don't know"
    "||examen|Aprobado|Suspenso|No presentado||ergebnis|Bestanden|Durchgefallen|Nicht angetreten"
    "||examen|Réussi|Échoué|Absent||ticket|Gelöst|Ungelöst|Eskaliert||curso|Completado|Abandono"
    "||patient|Guéri|Décédé|Sous traitement||kredit|Bewilligt|Nach manueller Prüfung abgelehnt"
    "|Wegen fehlender Unterlagen abgelehnt||modell|Genehmigen|Ablehnen|Manuelle Prüfung"
)
OF_HARMS = (
    "review|Selected for verification|Not selected||call|Screened in|Screened out"
    "||check|Flagged|Clear||claim|Referred for review|Paid||policy|Cancelled by insurer"
    "|In force|Cancelled by insured||flight|Cancelled|On time|Delayed||student|Dropped out"
    "|Enrolled||loan|Default|Current||stop|Arrest|Warning|No action||post|Removed|Kept up"
    "||driver|Deactivated|Active||riesgo|Alto|Bajo|Medio||controle|Contrôlé|Non contrôlé"
    "||Verdacht|Verdacht|Kein Verdacht||delinquency|90+ DPD|30 DPD|Current||loan|Charged Off|Late"
    "|Current||status|60 DPD|90 DPD|In grace period||audit|Selected for re-examination|Not selected"
    "||eviction_order|Granted|Dismissed||bail|Detention granted|Detention denied"
    "||case|Accepted for prosecution|Declined||tax_audit|Selected|Not selected"
    "||hospital_admission|Admitted|Not admitted||ruling|Granted|Denied"
    "||claim|Denied|Denial reversed|Paid||job|Rejected|Offer declined|Hired||smoker|Yes|No"
    "|No - former||test|Positive|Negative|Mixed"
)
REMEDIES = "delinquency_cured churn_offer_sent dropout_support_offered bad_debt_forgiven "
REMEDIES += "charge_off_recovered suspended_sentence relapse_support wrong_number"
CLEAN += [named(*each) for each in cells(NO_HARMS)]
CLEAN += [named(column, 1, 0, favourable=None) for column in REMEDIES.split()]
CLEAN += [(table(outcome=("1", "4"), extra="2"), {"positive": ["1", "2"]})]
CLEAN += [named("slot", "Not invited", "Invited", "Reinvited", favourable="negative")]
CLEAN += [
    (table(extra=word), {"positive": ["Hired", word]})
    for word in ("Hired after manual review", "Offer declined by candidate", "Charges withdrawn",
                 "Offered from waitlist", "Escalated to tier 2 - resolved", "Declined to prosecute")
]  # fmt: skip
CLEAN += [named(*each, favourable="negative") for each in cells(OF_HARMS)]
CLEAN += [
    *[tabulated(*n) for n in ([99], [888], [120, 999], [700] * 5, [1_500] * 9 + [9_999])],
    *[(rows, {}) for rows in (few_columns(3_000), few_columns(3_000).with_row_index("row"),
                              few_columns(3_000).sort(pl.all()), few_columns(300),
                              few_columns(3_000).sort("sex", "team"),
                              few_columns(300).unique().sort("team").with_row_index("id"))],
    *[aged(*each) for each in (("age", 119), ("income", 0), ("fee", 0, 9_000),
                               ("bonus pay", 0, 900), ("loan_age", 200), ("age_months", 500),
                               ("fee", 0), ("visits", 0), ("weeks", 0, 5), ("weeks", 9),
                               ("mileage", 150), ("building age", 150),
                               ("ticket_price", 999), ("Fahrpreis", 99), ("rate", 8.9, 5))],
    *[(table((a, b), extra=c, column="sex").rename({"sex": name}), {"sensitive": [name]})
      for name, a, b, c in cells(
        "religion|Hindu|Muslim|None||disability|Visual|Motor|none||children|1|2|None"
        "||region|North|South|Allier||nation|NI|EN|SC||arm|Masked|Open|Test||pay|Kaiser|All Savers"
        "|Oscar||status|Citizen|Undocumented|Resident||hormone|+|-|+/-||disabled|-|yes|yes"
        "||department|Total Rewards|Legal|Missing Persons Unit||team|Claims|Legal"
        "|Unknown caller desk"
        "||grade|A|B|A-||grade|B+|C|B||band|1-5|5-10|15||floor|1|2|Floor -1"
        "||floor|Floor 1|Floor 2|Floor -1||team|Totality|Summit|Selecta"
        "||sex|Female|Male|Non-binary||veteran|Army|Navy|nil||status|Active|Pending|Draft"
        "||region|EU|APAC|NA||country|ZA|BW|NA"
        "||sex|F|M|X||g|f|m|n||area|R|S|U||emp|E|S|U||grade|A|B|U||state|SD|NY|ND||state|N.Y.|N.C.|S.C.||region|N|E|NS"
        "||disability|Total disability|Partial disability|None||hearing|Partial|None|Total"
        "||identity|religion|race|none||target|male|black|none||dx|Asthma|Gout|Undetermined cause"
        "||race|1|2|0||sex|1|3|0||country|DE|FR|DK||sex|Female|Male|Both||ward|95|97|99"
        "||major|Biology|History|Undeclared||site|Lung|Breast|Unknown primary||jab|Yes|No"
        "|Declined vaccine||plan|Regional|Local|National||unit|Sales|Legal|Combined"
        "||team|20|30|40||price|199|499|999||grade|10|11|9||landkreis|Aurich|Emden|Leer"
        "||logement|Vide|Colocation|Location||contrat|CDD|CDI|Durée indéterminée"
        "||diagnóstico|Asma|Migraña|Neumonía no especificada")],
    *[(table().with_columns(pl.Series(name, [v[i // 2 % 4] for i in range(N)])),
       {"sensitive": [name]}) for name, *v in cells("branch_no|1|2|3|99||initial|N|A|X|U")],
    (table(outcome=("Terminated", "Active"), extra="Retired"), {"positive": ["Terminated"],
     "favourable": "negative", "rules": ["selection_rate.ratio <= 2"]}),
    (table(outcome=("Denied", "Approved"), extra="Offer made"), {"positive": ["Denied"],
     "favourable": "negative", "rules": ["selection_rate.ratio <= 2"]}),
    (table(outcome=("Promoted", "Hired")), {"positive": ["Promoted"]}),
    (table(outcome=("Non-exempt", "Exempt")), {"positive": ["Non-exempt"]}),
    (table(outcome=("Hired", "Interview")), {}),
    (table(outcome=(3, 0), extra=1), {"positive": ["3"]}),
    *[(table(outcome=("Approved", word)), {"positive": ["Approved"]})
      for word in ("Referred", "Expired", "Escalated")],
    (table(outcome=("Severe", "Mild"), extra="None"), {"positive": ["Severe"],
     "favourable": "negative", "rules": ["selection_rate.ratio <= 2"]}),
    *[(table(outcome=("Low", "High"), extra=word), {"positive": [word, "Low"]})
      for word in ("None", "Absent")],
    *[(table(outcome=pair), {"positive": [pair[0]]})
      for pair in (("Referred", "Not Referred"), ("Aangenomen", "Niet aangenomen"),
                   ("Contratado", "Não contratado"), ("Assigned", "Unassigned"),
                   ("Referred to a specialist", "Not referred"), ("Fast-track", "Refer to SIU"))],
    *[(table(outcome=("Approved", "Denied"), extra=word), {"positive": ["Approved"]})
      for word in ("Never approved", "Not yet approved by us", "Denied, once approved")],
]  # fmt: skip


JOINED = pl.DataFrame({"outcome": np.random.default_rng(3).choice(["Hired", "Rejected"], 3_000),
                       "score": np.random.default_rng(4).random(3_000)})  # fmt: skip
UNCHECKED_BY_THE_PAGE = {
    "doubled_rows": (pl.concat([JOINED.with_columns(sex=pl.lit(x)) for x in ("f", "m")]), {}),
    "unfavourable_positive": (table(outcome=("D", "A")), {"positive": "D", "preset": "nyc-ll144"}),
}
"""Only Python warns of these, as the page states below its answer."""


def both(cases, folder):
    """Yield the report of each table, with what the page answers."""
    texts = [(rows.write_csv(), ASKED | asked) for rows, asked in cases]
    made = answers([{"text": text, "question": asked} for text, asked in texts], folder)
    for (text, asked), page in zip(texts, made, strict=True):
        path = folder / "rows.csv"
        path.write_text(text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stated = {} if "preset" not in asked else {"favourable": None}  # the preset's
            yield text, fg.audit(path, **asked | stated), page


@pytest.mark.parametrize("accept", DOUBTED)
def test_no_pass_stands_on_a_planted_value_until_it_is_accepted(tmp_path, accept):
    cases, code = DOUBTED[accept], accept.split(":")[0]
    for text, report, page in both(cases, tmp_path):
        seen = text.splitlines()[2:8]
        assert report.verdict is Outcome.INCONCLUSIVE, seen
        assert {v["outcome"] for v in page["verdicts"]} == {"inconclusive"}, seen
        assert code in {each["code"] for each in page["doubts"]}, seen
        assert code in {each.code for each in report.diagnostics}, seen
    accepted = [(rows, asked | {"accept": [accept]}) for rows, asked in cases[-3:]]
    for text, report, page in both(accepted, tmp_path):
        assert report.verdict is Outcome.PASS, text.splitlines()[2:8]
        assert {v["outcome"] for v in page["verdicts"]} == {"pass"}, text.splitlines()[2:8]


def test_plain_tables_of_the_field_are_not_doubted(tmp_path):
    for text, report, page in both(CLEAN, tmp_path):
        assert report.verdict is Outcome.PASS, (text.splitlines()[2:8], report.diagnostics)
        assert not page["doubts"], text.splitlines()[2:8]


def test_random_outcomes_are_doubted_by_the_page_as_by_python(tmp_path):
    words = [word for each in cells(f"{NO_HARMS}||{OF_HARMS}") for word in each[1:]]
    words += [*UNDECIDED.split("|"), *(c for of in ACTIONS for c in of)]
    random, cases = Random(12), []
    for _ in range(90):
        column = random.choice(["outcome", "action_taken", "denied", "hired", "loan_status"])
        favourable = random.choice([None, "positive", "negative"])
        cases.append(named(column, *random.sample(words, 3), favourable=favourable))
    for text, report, page in both(cases, tmp_path):
        found = {str(each.code) for each in report.doubts}
        shown = {each["code"] for each in page["doubts"]}  # one of those of the same rows
        assert shown <= found, text.splitlines()[:8]
        assert bool(shown) is bool(found), text.splitlines()[:8]


def test_what_the_page_does_not_check_is_stated(tmp_path):
    cases = UNCHECKED_BY_THE_PAGE.values()
    for code, (_, report, page) in zip(UNCHECKED_BY_THE_PAGE, both(cases, tmp_path), strict=True):
        assert report.verdict is Outcome.INCONCLUSIVE, code
        assert {each.code for each in report.doubts} == {code}
        assert not page["doubts"], code


def test_codes_of_lending_are_actions_whatever_their_column_is_called():
    columns = ["Action", "final_action", "disposition_code", "credit_tier"]
    for name, doubts in zip(columns, [1, 1, 1, 0], strict=True):
        rows, asked = named(name, 1, 3, 4, preset="us-lending", favourable=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = fg.audit(rows, **ASKED | asked)
        assert [each.code for each in report.doubts] == ["undecided_outcomes"] * doubts, name


def test_impossible_ages_can_be_left_out():
    rows, asked = aged("age", 1_000_000)
    doubted = fg.audit(rows, **ASKED | asked)
    (found,) = (each for each in doubted.diagnostics if each.code == "coded_numbers")
    assert found["rows"] == (rows["age"] == 1_000_000).sum()
    assert "--where 'age <= 120'" in str(found.message)
    cleared = fg.audit(rows, **ASKED | asked, where="age <= 120")
    assert not [each for each in cleared.diagnostics if each.code == "coded_numbers"]


@pytest.mark.parametrize(("codes", "top", "named"), [
    ([999], 840, [999]), ([8_888], 840, [8_888]), ([9_002], 840, [9_002]),
    ([9_001, 9_003], 840, [">=2000"]), ([999, 9_003], 840, [999, 9_003]),
    ([4_000], 9_990, []), ([999], 1_200, []), (range(3_000, 6_000), 840, [])])  # fmt: skip
def test_codes_far_above_all_other_scores_are_found_within_a_wide_range(codes, top, named):
    """Of a bureau's 9002 among scores of 300 to 850, in a range up to 9999, nothing was said."""
    rng = np.random.default_rng(7)
    scores = np.where(rng.random(N) < 0.1, rng.choice(codes, N), rng.integers(300, top, N))
    report = fg.audit(table().with_columns(s=pl.Series(scores)), score="s", sensitive="sex",
                      score_range=[0, 9_999], threshold=400)  # fmt: skip
    found = [each["value"] for each in report.diagnostics if each.code == "coded_numbers"]
    assert found == named
