"""Values that are no groups or outcomes: totals, people of unknown category, no decisions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fairgauge.values import Value, is_one_of, matches, name_of, unaccented


def _words(**by_language: str) -> re.Pattern[str]:
    """Return a pattern of words of several languages, as `_plain` writes them."""
    return re.compile(rf"\b({'|'.join(by_language.values())})(?!\w)")


def _plain(text: str) -> str:
    r"""Return a text as words are listed: without case, accents and brackets, its words parted.

    >>> _plain(" Prefer_NOT  to answer"), _plain("D\xe9sistement"), _plain("De\u0301sist\xe9e")
    ('prefer not to answer', 'desistement', 'desistee')
    >>> _plain("(blank)"), _plain("NotDeclared."), _plain("k. A.")
    ('blank', 'not declared', 'k. a')
    """
    return _bare(unaccented(parted(text)))


def parted(text: str) -> str:
    """Return a text with spaces between its words, which names in code write otherwise.

    >>> parted("Approval_rate"), parted("approval-rate"), parted("ApprovalRate")
    ('Approval rate', 'approval rate', 'Approval Rate')
    """
    return re.sub(r"[\s_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))


def _bare(text: str) -> str:
    """Return a text without case, and without brackets and full stops around it."""
    return text.strip().strip("()[]{}<>. ").casefold()


_TOTAL = _words(
    english=r"^(grand |sub ?)?(totals?|overall|sum)|^all($| (applicants|candidates|people|persons"
    r"|groups|categories|races?|sexes|genders|ethnicities|employees|individuals|participants))",
    spanish=r"^(sub ?)?total(es)?|^suma|^todos( l[oa]s)?($| (candidat|solicit|grup)\w+)",
    french=r"^(sous ?)?tota(l|ux)|^(l['\u2019])?ensemble|^somme|^tous( les)?($| (candid|group)\w+)",
    german=r"^(ins|zwischen)?gesamt(zahl|summe|ergebnis)?|^(end|zwischen)?summe|^zusammen"
    r"|^alle($| (bewerb|grupp|kandid)\w+)",
    portuguese=r"^soma|^todos( os)?($| (candidat|grup)\w+)",
    italian=r"^(sub ?)?total[ei]|^somma|^complessiv[oi]|^tutt[ie]( [ie])?($| (candid|grupp)\w+)",
    dutch=r"^(sub)?tota(al|len)|^som$|^allen?($| (sollicit|kandida|groep)\w+)",
)
_NOT_KNOWN = _words(
    english=r"(un|no[nt] ?)(known|specified|determined|recorded|stated|avail(able)?)"
    r"|^(n ?[/.]? ?a|unk|blank|empty)$|^no (data|info|information)"
    r"|^(\w+ )?not (collected|captured|entered|asked)$",
    spanish=r"(se )?desconoce|desconocid[oa]s?|ignorad[oa]s?|indeterminad[oa]s?|no consta"
    r"|(no|sin) (especific|determin)(ad[oa]s?|ar)|no (identificad[oa]|disponible)"
    r"|sin (datos?|informacion)|^(n/d|s/d)$",
    french=r"inconnue?s?|indeterminee?s?|non (precise|specifie|determine|connu)e?s?"
    r"|non disponible|^(nsp|n\. ?s\. ?p)$",
    german=r"unbekannt(e[nrs]?)?|nicht (bekannt|erfasst|spezifiziert|verfue?gbar|feststellbar)"
    r"|^(k|o)\. ?a$",
    portuguese=r"desconhecid[oa]s?|nao (especificad[oa]|identificad[oa]|disponivel|consta)"
    r"|sem (dados|informacao)",
    italian=r"sconosciut[oa]|ignot[oa]|non (specificat[oa]|not[oa]|disponibile|rilevat[oa]"
    r"|pervenut[oa])",
    dutch=r"onbekende?|niet (bekend|gespecificeerd|vermeld|beschikbaar|geregistreerd)",
)
_NOT_TOLD = _words(
    english=r"(un|no[nt] ?)(self )?(disclosed|declared|provided|reported|answered|identified"
    r"|indicated)"
    r"|missing|declined?|^refus(ed|al) to|(rather|prefer(red|s)?) not|cho(o?se|oses) not"
    r"|do(es)?( not|n['\u2019]?t) (wish|want|know)|no(n ?| )(answer|response)|did not"
    r"|free form text only|^opt(ed)? out$|^no co ?(applicant|borrower)s?$"
    r"|^(\w+ )?not (applicable|given|chosen|supplied|shared|furnished)( \W?non\b.*)?$"
    r"|^no (selection|choice|entry|value)$"
    r"|^none (selected|chosen|entered|given|provided|specified|stated|supplied)$",
    spanish=r"(prefier[eo]|prefiri[oe]|desea|quiere|quiso) no|no (desea|quiere|quiso|contest[ao]"
    r"|respond(e|io)|sabe|declara(d[oa])?|informad[oa]|indica(d[oa])?)|sin (respuesta|contestar"
    r"|declarar)|^ns ?/ ?nc$",
    french=r"(souhait|prefer|desir|veu)\w* (ne )?pas|non (renseigne|declare|communique|indique"
    r"|repondu)e?s?|ne (sait|se prononce) pas|pas (repondu|de reponse)|sans reponse|non reponse"
    r"|refus de repondre",
    german=r"(keine?|ohne) (angaben?|antwort|auskunft)|nicht (angegeben|beantwortet|genannt)"
    r"|(moe?ch|woll|will)\w* (\w+ )*nicht|(lieber|weiss) nicht|fehlend(e[nrs]?)?",
    portuguese=r"(prefiro|prefere|preferiu|optou por) nao|nao (informa(d[oa]|r)|informou"
    r"|declara(d[oa]|r)|declarou|responde(u|r)?|sabe|deseja|quer)|sem (resposta|declaracao)",
    italian=r"prefer(isc[eo]|iscono|ito) non|non (dichiarat[oa]|indicat[oa]|fornit[oa]"
    r"|comunicat[oa]|rispost[oa]|risponde|so|vuole|desidera)|nessuna risposta|mancante",
    dutch=r"niet (opgegeven|ingevuld|beantwoord|gezegd)|wil(t|len)? (\w+ )*niet|liever niet"
    r"|geen (opgave|antwoord)|weet niet|ontbreekt",
)
"""Of people who do not state their category: of an outcome, some are refusals, or did happen."""

_REFUSED = re.compile("refused|withheld|not selected")
"""Of groups, people who did not state theirs; of outcomes, and columns of a table, refusals."""

_OWN_WORD = r"(race|ethnicity|sex|gender|age)"
_BESIDE_OWN_WORDS = re.compile(rf"^({_OWN_WORD}\W+)+|(\W+{_OWN_WORD})+$")
"""What a column may be called, before or after a word for a missing value in it: "Race N/A"."""

_MISSING_MARKERS = {
    "#n/a", "nan", "null", "none", "nil", "nat", "missing", "?", "??", "-", "--", "", "tbd",
}  # fmt: skip
_MAY_BE_VALUE = re.compile(r"-|none|nil|new|no[\s_-]?show|open(ed)?")
"""Of these and words of no decision, those that are as often a category, or a yes's opposite."""


def may_be_value(name: str) -> bool:
    """Return whether a word for a missing value is as often one: no disability, or no.

    >>> may_be_value(" (None)"), may_be_value("No-show"), may_be_value("N/A")
    (True, True, False)
    """
    return bool(_MAY_BE_VALUE.fullmatch(_bare(name)))


def is_total(category: str) -> bool:
    """Return whether a category is that of all rows.

    >>> is_total("Sub-total"), is_total("Totale candidati"), is_total("Insgesamt"), is_total("Male")
    (True, True, True, False)
    """
    return bool(_TOTAL.search(_plain(category)))


def is_unknown(category: str) -> bool:
    """Return whether a category is that of people whose category is not known.

    >>> is_unknown("Race N/A"), is_unknown("Not avail. (sex)"), is_unknown("Native American (NA)")
    (True, True, False)
    """
    text = _without_own_words(category)
    return bool(_NOT_KNOWN.search(text) or _NOT_TOLD.search(text))


def _without_own_words(category: str) -> str:
    """Return a category as words are listed, without what its column may be called."""
    return _bare(_BESIDE_OWN_WORDS.sub("", _plain(category)))


def means_missing(value: object) -> bool:
    """Return whether a value of the data is a text that usually means that it is missing.

    >>> means_missing(" "), means_missing("Decline to answer"), means_missing("Female")
    (True, True, False)
    """
    return isinstance(value, str) and (
        is_unknown(value)
        or means_no_outcome(value)
        or bool(_REFUSED.fullmatch(_without_own_words(value)))
    )


def means_no_outcome(value: object) -> bool:
    """Return whether an outcome is a text that usually means that it is missing.

    >>> means_no_outcome("N/A"), means_no_outcome("Status unknown"), means_no_outcome("Declined")
    (True, True, False)
    """
    return isinstance(value, str) and (
        _bare(value) in _MISSING_MARKERS or bool(_NOT_KNOWN.search(_plain(value)))
    )


_NO_QUANTITY = re.compile(r"exempt(ed)?", re.IGNORECASE)
"""Where a number is expected: of who need not report one. Else as often a category."""
_SEXES = {"f", "m", "female", "male"}
"""Beside two of them U is unknown; among other letters it is one of them."""


def missing_words(values: Collection[Value]) -> list[Value]:
    """Return the values of a column that usually mean that it is missing, codes apart.

    Beside numbers, or bands of them, "Exempt" is one, too, and beside sexes "U".

    >>> missing_words(["36", "50%-60%", "NA", "Exempt"]), missing_words(["Exempt", "Non-exempt"])
    (['NA', 'Exempt'], [])
    >>> missing_words(["F", "M", "U"]), missing_words(["M", "U"])
    (['U'], [])
    """
    names = {value: name_of(value) for value in values if not means_missing(value)}
    plain = {value: _plain(name) for value, name in names.items()}
    sexes = len(_SEXES.intersection(plain.values())) > 1
    others = [name for name in plain.values() if not _NO_QUANTITY.fullmatch(name)]
    quantities = 2 * sum(any(map(str.isdigit, name)) for name in others) > len(others)
    return [
        value
        for value in values
        if value not in names
        or (quantities and _NO_QUANTITY.fullmatch(plain[value]))
        or (sexes and plain[value] == "u")
    ]


_UNDECIDED = _words(
    english=r"withdr[ae]wn?|incomplete(ness)?|pending|awaiting|on hold|in (progress|process|review)"
    r"|undecided|not (yet )?(assess|evaluat|process|scor|decid|review|start)ed"
    r"|under (review|consideration)|manual review|(no|not|un) ?(decision|decided|reviewed)|tbd"
    r"|not applicable|to be (decided|determined)|cancell?ed|void(ed)?|timed? ?out|escalated"
    r"|refer(red)?|loan purchased|purchased loan|no ?show|duplicates?|^(application )?expired$"
    r"|^new( (applications?|applicants?|candidates?))?$|^applied$|application (received|submitted)"
    r"|(req|requisition|position|job|vacancy|role|posting)s? (closed|filled|frozen)"
    r"|^(still )?(re ?)?open(ed)?( (application|case|claim|file)s?)?$|^unsettled$"
    r"|^(ibnr|incurred but not reported|hold|paused)$",
    spanish=r"retirad[oa]s?|se retir[oa]|desisti(o|do|da|mientos?|eron)|desiste|pendientes?"
    r"|en (proceso|tramite|curso|revision|espera|evaluacion|estudio|pausa)"
    r"|(cancel|anul|aplaz)ad[oa]s?|incomplet[oa]s?|indecis[oa]|sin (decision|decidir|resolver"
    r"|evaluar|revisar)|por decidir|no (aplica|procede|evaluad[oa]|revisad[oa])",
    french=r"retiree?s?|desist(ee?s?|ements?)|renoncee?|renonciation|annulee?s?"
    r"|en (attente|cours|instance|traitement|suspens)|a l['\u2019]etude|incomplete?s?"
    r"|sans (decision|objet)|non (evalue|traite|applicable)e?s?",
    german=r"zurue?ck(gezogen|gestellt|getreten)|rue?ckzug|ausstehend|schwebend|storniert"
    r"|in (bearbeitung|prue?fung|klae?rung)|unvollstae?ndig|unentschieden"
    r"|nicht (entschieden|bewertet|bearbeitet|geprue?ft|zutreffend)|(keine|ohne) entscheidung",
    portuguese=r"desist(encias?|entes?|iu|iram)|pendentes?|em (andamento|analise|processo"
    r"|avaliacao|espera|curso)|sem decisao|nao (se aplica|avaliad[oa]|analisad[oa])",
    italian=r"ritirat[oa]|rinunci(a|at[oa]|atari[oa])|in (attesa|corso|lavorazione|sospeso"
    r"|valutazione|revisione)|annullat[oa]|non (valutat[oa]|decis[oa]|applicabile)",
    dutch=r"(in|terug)getrokken|in (behandeling|afwachting|beoordeling|de wacht)|geannuleerd"
    r"|onvolledig|openstaande?|(nog )?niet (beoordeeld|beslist|behandeld)|geen besluit"
    r"|niet van toepassing",
)


_DECLINED_OFFER = re.compile(
    r"\b(declined|rejected|refused) (the |our )?offer\b"
    r"|\boffer (was |has )?(declined|rejected|refused|expired)\b"
)
"""What candidates do with an offer: they were selected."""
_WITHDREW = re.compile(
    r"^withdr[ae]wn?\b|\b(candidate|applicant|self)[ -]declined\b"
    r"|\bdeclined by (the )?(candidate|applicant)\b"
    r"|\b(declined|refused) (the |an )?(interview|invitation)\b|\binterview declined\b"
)
"""What is no decision of the employer, whatever reason follows."""


def is_undecided(value: Value) -> bool:
    """Return whether an outcome is a text that is of no decision, or means that it is missing.

    >>> is_undecided("Pending"), is_undecided("Rejected: incomplete file")
    (True, False)
    >>> is_undecided("Applicant declined"), is_undecided("Candidate declined offer")
    (True, False)
    """
    if not isinstance(value, str):
        return False
    text = _DECLINED_OFFER.sub("offer", _plain(value))
    named = _WITHDREW.search(text) or (_UNDECIDED.search(text) and not is_adverse(value))
    return bool(named) or means_no_outcome(value)


_ADVERSE = re.compile(
    r"(?<!\bnot )(?<!\bnon )(reject|disapprov|\bden(y|ied|ial)|refus|declin|fail|unsuccess"
    r"|disqualif|ineligib|\bfired\b|terminat|turn(ed)? ?down)"
    r"|(?<!approved )(?<!approved but )\b(un|no[nt]) ?(select|hire|pass|approv|accept"
    r"|admit|advanc|invit|promot|offer|qualif)"
)
"""Of what was approved and not accepted, the applicant did not accept."""
_HARM = re.compile(
    r"(?<!\bnot )(?<!\bno )(?<!\bnon )\b(laid ?off|lay ?offs?\b|redundan|arrest|search(ed|es)?\b"
    r"|frisk|detain|convict|incarcerat|jail|recid|re ?offen[ds]|high(er|est)? .*\b(risk|score text)"
    r"|default(ed|s)?\b|delinquen|evict|expel|foreclos|charged ?off|fraud"
    r"|(?<!charge )(?<!charges )(?<!case )dismiss|let ?go\b|rif(f?ed)?\b"
    r"|reduction in force|adverse|counter ?offer|demot|furlough|retrench"
    r"|downsiz|suspend|disciplin|stopped\b|flagged\b|separated\b|separation|severed?\b"
    r"|involuntar|citation)"
)
"""Of what happens to a person who asked for nothing, and of ratings of people."""
_ADVERSE_ELSEWHERE = _words(
    spanish=r"(rechaz|deneg|desestim|descart|exclu|suspend)[aio]?d[oa]s?|rechazo|denegacion"
    r"|no (selec|contratad|admitid|aprobad|apt|acept|super|avanza)\w*",
    french=r"rejet\w*|ecartee?s?|non (retenu|selectionne|admis|embauche|accepte|recu)e?s?",
    german=r"abgelehnte?|ablehnung|abgesagt|absage|durchgefallen|nicht (ausgewae?hlt|eingestellt"
    r"|bestanden|zugelassen|angenommen|genehmigt|geeignet|berue?cksichtigt)",
    portuguese=r"(rejeit|recus|neg|reprov|indefer)[ai]d[oa]s?|nao (selecionad|contratad|aprovad"
    r"|admitid|apt|aceit)\w*",
    italian=r"(rifiut|scart)at[oa]|respint[oa]|bocciat[oa]|negat[oa]|non (selezionat|assunt"
    r"|ammess|approvat|idone|accettat)\w*",
    dutch=r"afgewezen|geweigerd|afwijzing|niet (geselecteerd|aangenomen|toegelaten|goedgekeurd"
    r"|geslaagd|geschikt)",
)
_FAVOURED = re.compile(r"\b(accept|admit|approve|grant|hire|pass|select)(e?d|ted)?\b")
"""Of a column that is of denials, too: its name states both outcomes."""
_YES = re.compile(r"yes|y|t|true|positive", re.IGNORECASE)
_NO = re.compile(r"no|n|f|false|negative", re.IGNORECASE)
_REVOKED = re.compile(r"revok|rescind|cancel|expir", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:not|no|non|never|without|cannot|un|dis|\w+n['\u2019]t)"
    r"(?: +(?:yet|been|be|currently|longer))* +\w+"
)
_GRANTED = re.compile(r"\b(pre)?(approv|grant|originat|accept|admit|admission|award|pass)|\byes\b")
"""Parts of values that state, each in another word, that what was asked for was granted."""
_STAGES = (
    re.compile(
        r"\b(advanc|select|shortlist|interview|invit|pass|proceed|progress|forward|recommend|qualif"
        r"|screen|approv|grant)|\bnext (round|stage|step)"
    ),
    re.compile(r"(?<!counter )\boffer(ed)?\b"),
    re.compile(r"\bhired?\b"),
    re.compile(r"\bonboard"),
)
"""The stages of an application: who reached one of the later ones passed those before it."""


def is_adverse(name: str) -> bool:
    """Return whether a value is the unfavourable outcome, or a column has it as its 1."""
    text = _plain(name)
    return bool(_ADVERSE.search(text) or _ADVERSE_ELSEWHERE.search(text))


def is_harm(value: str, column: str = "") -> bool:
    """Return whether a value, or a column of yes and no by its name, is a harm that is no denial.

    >>> is_harm("laid off"), is_harm("High", "risk_rating"), is_harm("yes", "not_arrested")
    (True, True, False)
    """
    text = _plain(value)
    if re.fullmatch(r"(very )?high", text):
        text = f"{text} {_plain(column)}"
    return bool(_HARM.search(text))


def is_of_risk(score: str) -> bool:
    """Return whether a higher score is more of a harm, by its name.

    >>> [is_of_risk(name) for name in ("risk_score", "p_default", "low_risk", "credit_score")]
    [True, True, False, False]
    """
    return is_harm(score) or bool(re.search(r"(?<!low )\brisk\b", _plain(score)))


def is_of_denials(column: str) -> bool:
    """Return whether a column of yes and no has the unfavourable outcome as its yes, by its name.

    >>> [is_of_denials(name) for name in ("denied", "isRejected", "loan_not_approved")]
    [True, True, True]
    >>> [is_of_denials(name) for name in ("approved", "not_denied", "pass_fail", "offer_declined")]
    [False, False, False, False]
    """
    text = _DECLINED_OFFER.sub("offer", _plain(column))
    return is_adverse(text) and not _FAVOURED.search(_NEGATED.sub(" ", text))


def is_yes(name: str) -> bool:
    """Return whether a value is a plain yes: its column decides whether that is favourable."""
    return matches(1, name) or bool(_YES.fullmatch(name))


def is_no(name: str) -> bool:
    """Return whether a value is a plain no: its column decides whether that is unfavourable."""
    return bool(_NO.fullmatch(name))


def is_refusal(name: str) -> bool:
    """Return whether an outcome is plainly unfavourable, or is nothing but the denial of another.

    >>> [is_refusal(name) for name in ("Rejected", "no", "Not yet approved", "Offer rescinded")]
    [True, True, True, True]
    >>> [is_refusal(name) for name in ("Interviewed", "Not Hispanic, approved", "Not scored")]
    [False, False, False]
    """
    text = re.sub(r"[\s_-]+", " ", name).strip().casefold()
    denied = bool(_GRANTED.search(text)) and not re.search(r"\w", _NEGATED.sub(" ", text))
    return is_adverse(name) or is_no(name) or denied or bool(_REVOKED.search(name))


def resembles(value: Value, stated: Value) -> bool:
    """Return whether an outcome is one that is stated: in more or other words, or a later stage.

    >>> resembles("Approved with conditions", "approved"), resembles("not approved", "approved")
    (True, False)
    >>> resembles("originated", "approved"), resembles("approval denied", "approved")
    (True, False)
    >>> resembles("approved_not_accepted", "originated"), resembles("Offer extended", "Hired")
    (True, False)
    >>> resembles("Preapproval denied", "approved but not accepted")
    False
    >>> resembles("Hired", "Advance"), resembles("Offer declined", "Advance")
    (True, True)
    """
    if not (isinstance(value, str) and isinstance(stated, str) and re.search(r"[^\W\d_]", stated)):
        return False
    text, asked = (re.sub(r"[\s_-]+", " ", each).strip().casefold() for each in (value, stated))
    text, meant = _NEGATED.sub(" ", _DECLINED_OFFER.sub("offer", text)), _NEGATED.sub(" ", asked)
    if _REVOKED.search(text) or (is_adverse(text) and not is_adverse(meant)):
        return False
    longer = text != asked and re.search(rf"(?<!\w){re.escape(asked)}(?!\w)", text)
    later = not is_adverse(meant) and _stage(text) > _stage(meant) >= 0
    return bool(longer or later or (_GRANTED.search(text) and _GRANTED.search(meant)))


def _stage(text: str) -> int:
    """Return the position of the last stage that a text names, or -1."""
    return max((i for i, each in enumerate(_STAGES) if each.search(text)), default=-1)


CODE_OF_FACTORS = 99
"""A code among small counts and weights; other numbers, as ages, may end there."""
_CODE_OF_NO_NUMBER = re.compile(r"-(1|99?)|1111|-?(7{3,}|8{3,}|9{3,})")


FAR_BELOW = -99
"""A code that no scale with other negative numbers ends at."""
NEARBY = 7 / 8
"""Of a code far from 0, the part of it from which on other numbers are of one scale with it."""


def may_be_no_number(number: float) -> bool:
    """Return whether the least or the greatest of many numbers is one that codes often are.

    >>> [may_be_no_number(n) for n in (8888.0, -1, -99, 99, 888.5, 98)]
    [True, True, True, False, False, False]
    """
    return is_code_of_missing(f"{number:.15g}")


def is_code_of_missing(name: str) -> bool:
    """Return whether a text is a number that codes of missing values often are."""
    return bool(_CODE_OF_NO_NUMBER.fullmatch(name))


_CODE_OF_MISSING = re.compile(r"-\d+|7{2,}|8{2,}|9+")
_WHOLE = re.compile(r"-?\d{1,9}")
_MOST_CODES = 20


def codes_of_missing(values: Iterable[Value]) -> list[Value]:
    """Return the numbers among codes of groups that usually mean a missing value.

    That is a negative number beside others, or one of nines (of two digits, also of eights and
    sevens) well beyond the others. Of many numbers, such as ages, none is a code. Among names it is
    the only number, such as 9999 (beside words alone 0, 9 and 99, too), or lies beyond the others.

    >>> codes_of_missing([1, 2, 9]), codes_of_missing(["0", "1", "-9", "99"])
    ([9], ['-9', '99'])
    >>> codes_of_missing([7, 8, 9]), codes_of_missing([-1, 1]), codes_of_missing(["a", "9"])
    ([], [], [])
    >>> codes_of_missing(["F", "M", "9999"]), codes_of_missing(["A", "777", "888"])
    (['9999'], [])
    >>> codes_of_missing(["Female", "Male", "9"]), codes_of_missing(["1st", "2nd", "9"])
    (['9'], [])
    >>> codes_of_missing(["<36", "36", "37", "8888"]), codes_of_missing(["up", "998", "999"])
    (['8888'], [])
    """
    known = {name_of(value): value for value in values}
    numbers = [name for name in known if _WHOLE.fullmatch(name)]
    among_names = len(numbers) < len(known)
    if among_names and len(numbers) == 1:
        words = [name for name in known if not any(map(str.isdigit, name))]
        short = ("0", "9", "99") if len(words) == len(known) - 1 >= 2 else ()
        return [known[n] for n in numbers if may_be_no_number(int(n)) or n in short]
    if len(known) > _MOST_CODES and not among_names:
        return []
    code = _CODE_OF_NO_NUMBER if among_names else _CODE_OF_MISSING
    codes = [name for name in numbers if code.fullmatch(name)]
    others = [int(name) for name in numbers if name not in codes]
    if len(others) < 2:
        return []
    return [known[name] for name in codes if not min(others) <= int(name) <= max(others) + 1]


def no_outcomes(values: Iterable[Value]) -> list[Value]:
    """Return the outcomes that are of no decision, or often codes of missing ones.

    Beside 0 and 1, or 1 and 2, where these alone of successive numbers are among the outcomes,
    every other one is such a code.

    >>> no_outcomes([0, 1, 0.5]), no_outcomes(["yes", "no", "9999", "n/a"])
    ([0.5], ['9999', 'n/a'])
    >>> no_outcomes(["1", "2", "9"]), no_outcomes([0, 1, 2]), no_outcomes([1, 2, 3, 9999])
    (['9'], [], [9999])
    >>> no_outcomes(["1st", "2nd"]), no_outcomes(["1", "2", "3", "Denied"])
    ([], [])
    """
    every = [*values]
    known = [value for value in every if not is_undecided(value)]
    codes = codes_of_missing(known)
    first = next((n for n in (0, 1) if is_one_of(n, known)), 2)
    successive = [is_one_of(n, known) for n in range(first, first + 3)]
    if successive == [True, True, False]:
        codes = [value for value in known if not is_one_of(value, (first, first + 1))]
    elif not all(successive) and any(
        isinstance(value, str) and re.search(r"[^\W\d_]", value) for value in known
    ):
        codes = [value for value in known if _WHOLE.fullmatch(name_of(value))]
    return [value for value in every if value in codes or is_undecided(value)]


_ALSO_CLASSES = {"none", "nil"}
"""Names of missing values that are names of classes as often."""


def classes_of_missing(values: Iterable[Value]) -> list[Value]:
    """Return the classes that usually mean a missing value: names, and codes among names or codes.

    A negative number whose opposite is a class, too, is one of a scale.

    >>> classes_of_missing(["sales", "N/A", "9999", "none"]), classes_of_missing([1, 2, 3, -9])
    (['N/A', '9999'], [-9])
    >>> classes_of_missing([-1, 0, 1]), classes_of_missing(["2024", "2025", "later"])
    ([], [])
    """
    by_name = {name_of(value): value for value in values}
    texts = [name for name, value in by_name.items()
             if means_no_outcome(value) and _bare(name) not in _ALSO_CLASSES]  # fmt: skip
    others = [name for name in by_name if name not in texts]
    scale = {f"-{name}" for name in others}
    codes = [name for name in map(name_of, codes_of_missing(others)) if name not in scale]
    return [by_name[name] for name in (*texts, *codes)]
