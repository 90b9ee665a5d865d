// values that mean nothing known or decided, and spellings of one value: the patterns are those of category_words.py
const PATTERNS = Object.fromEntries(Object.entries(data.patterns).map(([name, text]) => [name, new RegExp(text, "u")]));
const everyMatch = (name) => new RegExp(data.patterns[name], "gu");
const bare = (text) => text.slice(0, 120).trim().replace(/^[()[\]{}<>. ]+|[()[\]{}<>. ]+$/g, "").toLowerCase();
const parted = (text) => text.replace(/(?<=[a-z])(?=[A-Z])/g, " ").replace(/[\s_-]+/g, " ");
const unaccented = (text) => text.toLowerCase().replaceAll("\u00df", "ss").normalize("NFKD").replace(/\p{M}/gu, "");
const plainText = (text) => bare(unaccented(parted(text.slice(0, 120))));
const withoutOwn = (text) => bare(plainText(text).replace(everyMatch("beside_own_words"), ""));
const noOutcomeWord = (value) => typeof value === "string" && ([bare(value), value.slice(0, 120)].some((text) => PATTERNS.marker.test(text)) || PATTERNS.not_known.test(plainText(value)));
const meansMissing = (value) => typeof value === "string" && (["not_known", "not_told"].some((of) => PATTERNS[of].test(withoutOwn(value))) || noOutcomeWord(value) || PATTERNS.refused.test(withoutOwn(value)));
const isOpposite = (name, others) => { const text = plainText(name), positive = text.replace(/^(not? |non |nicht |un|in(?=[\p{L}\p{N}_]))/u, ""); return positive !== text && others.some((each) => plainText(each).startsWith(positive)); };
const mayBeValue = (name, others = []) => isOpposite(name, others) || (plainText(name) === "current" && others.some((each) => isHarm(each))) || PATTERNS.may_be_second.test(bare(name)) || PATTERNS.may_be_outcome.test(plainText(name));
const mayBeGroup = (name, column, names) => {
  const others = names.filter((each) => each !== name && !meansMissing(each)), ofSex = others.length && others.every((each) => PATTERNS.man_or_woman.test(plainText(each)));
  const own = `${plainText(column)} ${plainText(name)}`, series = [...names].sort().join("");
  if (!ofSex && !PATTERNS.of_all_people.test(plainText(column)) && series.length > 2 && "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".includes(series)) return true;
  return !ofSex && !PATTERNS.of_all_people.test(plainText(column)) && ((names.length >= 4 && PATTERNS.own_code.test(own)) || PATTERNS.own_word.test(own) || ["none", "nil"].includes(name.trim().toLowerCase()) || (name.trim() === "-" && (names.length <= 2 || names.includes("+"))) || (name === "NA" && names.length > 2 && names.every((each) => /^[A-Z]{2,5}$/.test(each))));
};
const isTotal = (name, others = []) => (PATTERNS.total.test(plainText(name)) || others.some((each) => PATTERNS.total_of.test(`${plainText(name)}: ${plainText(each)}`))) && !others.some((each) => PATTERNS.part.test(plainText(each)));
const isAdverse = (name) => PATTERNS.adverse.test(plainText(name)) || PATTERNS.adverse_elsewhere.test(plainText(name));
const isHarm = (name, column = "") => PATTERNS.harm.test(plainText(name) + (PATTERNS.high.test(plainText(name)) ? ` ${plainText(column)}` : ""));
const isSettled = (name) => isAdverse(name) || PATTERNS.settled.test(plainText(name));
const isUndecided = (value) => {
  if (typeof value !== "string") return false;
  const text = plainText(value).replace(everyMatch("declined_offer"), "offer");
  return PATTERNS.withdrew.test(text) || (PATTERNS.undecided.test(text) && !isSettled(value)) || noOutcomeWord(value);
};
const isYes = (name) => meaning(name) === 1 || PATTERNS.yes.test(name.toLowerCase()), isNo = (name) => PATTERNS.no.test(name.toLowerCase());
const namesDenial = (name) => { const text = plainText(name).replace(everyMatch("declined_offer"), "offer"); return isAdverse(text) && !PATTERNS.favoured.test(text.replace(everyMatch("negated"), " ")); };
const isOfDenials = (column) => isHarm(column) || namesDenial(column);
const isDenied = (name) => isAdverse(name) || isNo(name) || meaning(name) === 0;
const isFavourable = (name) => isYes(plainText(name)) || (["favourable", "favourable_part"].some((p) => PATTERNS[p].test(plainText(name))) && !isAdverse(name) && !["negated", "less"].some((p) => PATTERNS[p].test(plainText(name))));
const codesOfMissing = (texts) => {
  const known = new Map(texts.map((text) => [text.replace(/\.0$/, ""), text])), values = [...known.keys()], given = (names) => names.map((name) => known.get(name));
  const year = (v) => Number(v.slice(0, 4)), dates = values.filter((v) => /^\d{4}-\d\d-\d\d(?!\d)/.test(v));
  const far = dates.filter((v) => /^((0001|1[79]00|1753|1970|9999)-01-01|1899-12-3[01]|(20|2[19]|99)99-12-31)/.test(v)), near = dates.filter((v) => !far.includes(v)).map(year);
  if (2 * dates.length > values.length) return given(far.filter((v) => near.length && (year(v) <= Math.min(...near) - 20 || year(v) >= Math.max(...near) + 20)));
  const numbers = values.filter((v) => /^-?\d{1,9}$/.test(v)), amongNames = numbers.length < values.length;
  const words = values.filter((v) => !/\d/.test(v)), short = words.length === values.length - numbers.length && words.length >= 2 ? ["0", "00", "9", "99", "77", "88", "97", "98", "-7", "-8", "-9"] : [];
  if (amongNames && (numbers.length === 1 || numbers.every((n) => short.includes(n)))) return given(numbers.filter((n) => PATTERNS.code_of_no_number.test(String(Number(n))) || short.includes(n)));
  if (values.length > 20 && !amongNames) return [];
  const codes = numbers.filter((n) => PATTERNS[amongNames ? "code_of_no_number" : "code_of_missing"].test(n));
  const others = numbers.filter((n) => !codes.includes(n)).map(Number).sort((a, b) => a - b), step = Math.max(...others.slice(1).map((n, i) => n - others[i]));
  const high = codes.map(Number).sort((a, b) => a - b).reduce((a, n) => a + step * (a - step < n && n <= a), others[others.length - 1] + step);
  return others.length < 2 || 2 * others.filter((n) => n % 10 === 9).length > others.length ? [] : given(codes.filter((n) => Number(n) < others[0] - step * (Number(n) > 0) || Number(n) > high));
};
const missingNames = (values) => {
  const exempt = (v) => PATTERNS.exempt.test(plainText(v)), others = values.filter((v) => !meansMissing(v) && !exempt(v));
  return values.filter((v) => meansMissing(v) || (exempt(v) && 2 * others.filter((each) => /\d/.test(plainText(each))).length > others.length));
};
// of a column of groups, codes of people of none next to those of others, of sex by ISO 5218, and of HMDA data
const noGroups = (column, values) => {
  const names = values.map((v) => v.trim().toLowerCase()), text = plainText(column), untold = (n) => PATTERNS.untold.test(n), others = names.filter((n) => !untold(n) && !meansMissing(n));
  const iso = PATTERNS.sex.test(text) && ["1", "2"].every((n) => names.includes(n)) && names.every((n) => "0129".split("").includes(n));
  const plain = (n) => [...n].length === 1 || PATTERNS.man_or_woman.test(n), codes = others.some(plain) && others.every((n) => plain(n) || [...n].length === 2);
  const coded = new Set(others).size > 1 && ((codes && !others.some((n) => ["r", "e"].includes(n)) && !others.every((n) => /^[a-e]$/.test(n))) || PATTERNS.race_or_sex.test(text));
  const hmda = column.toLowerCase().match(/(?:(?:applicant|borr(?:ower)?)\d?[ _-]?|^b\d_)(race|ethnicity|sex)(?![a-z])/u), none = [...(iso ? ["", "9"] : []), ...(!hmda ? [] : hmda[1] === "race" ? ["6", "7", "8"] : ["3", "4", "5"])];
  return values.filter((_, i) => none.includes(names[i].replace(/^0+/, "")) || (coded && untold(names[i])));
};
// outcomes of no decision, or often codes of missing ones; values as they are typed
const noOutcomes = (values, asked = [], column = "") => {
  const known = values.filter((v) => !isUndecided(v)), names = known.map(String), has = (n) => known.some((v) => meaning(v) === meaning(n));
  let codes = codesOfMissing(names);
  const first = has(0) ? 0 : has(1) ? 1 : 2, successive = [0, 1, 2].map((i) => has(first + i));
  if (successive[0] && successive[1] && !successive[2]) codes = names.filter((v) => ![first, first + 1].some((n) => meaning(v) === meaning(n)));
  else if (!successive.every(Boolean) && known.some((v) => typeof v === "string" && /\p{L}/u.test(v))) codes = names.filter((v) => /^-?\d{1,9}$/.test(v));
  const answer = PATTERNS.yes_or_no, plain = asked.length && asked.every((name) => answer.exec(plainText(name))?.[0] === plainText(name));
  if (plain && names.some((v) => isYes(v.trim())) && names.some((v) => isNo(v.trim()))) codes = [...codes, ...names.filter((v) => /^\p{L}/u.test(v.trim()) && !isAdverse(v) && !answer.test(plainText(v)) && !isFavourable(v))];
  if (has(0) && asked.length && asked.every((name) => meaning(name) === 1)) codes = [...codes, ...names.filter((v) => /^-?[\d.]+$/.test(v) && ![0, 1].includes(meaning(v)))];
  const every = values.map(String), refused = every.filter((v) => !asked.some((name) => meaning(name) === meaning(v))), denied = every.some(isDenied);
  const harm = asked.some((name) => isAdverse(name) || isHarm(name)), paid = values.some((v) => typeof v === "string" && PATTERNS.paid_off.test(plainText(v)));
  const isStep = (text) => (PATTERNS.exists.test(text) || (refused.length > 1 && denied && PATTERNS.stage.test(text)) || (paid && PATTERNS.running.test(text))) && !(harm && PATTERNS.in_place.test(text)) && !isSettled(text);
  if (asked.length) codes = [...codes, ...refused.filter((v) => isStep(plainText(v)))];
  const texts = values.filter((v) => typeof v === "string"), meant = meantOutcomes(texts, plainText(column), !asked.length);
  return values.filter((v) => (codes.includes(String(v)) || isUndecided(v) || (texts.includes(v) && isTotal(v, texts))) && !meant.includes(v) && !isOpposite(String(v), asked) && !asked.some((each) => isOpposite(each, [String(v)])));
};
// of words for no decision, those that the others make an outcome, as category_words.py finds them
const meantOutcomes = (names, column, decided) => {
  const those = (...of) => names.filter((name) => of.some((each) => PATTERNS[each].test(plainText(name)))), judged = names.filter((name) => isSettled(name) || isFavourable(name));
  const answers = those("action").length && !those("of_hiring").length && !judged.some((name) => PATTERNS.recorded.test(plainText(name))), results = those("result"), ofService = PATTERNS.service.test(column);
  const applied = !judged.every((name) => results.includes(name)), ended = !decided && (ofService || !applied);
  const pairs = names.some((name) => isOpposite(name, names) && !plainText(name).includes("complet"));
  const left = ended && !ofService && !PATTERNS.course.test(column) && (judged.length || pairs) ? those("left") : [];
  return [...(!judged.length || answers ? those("may_be_action") : []), ...(ended ? those("may_be_outcome", ...(applied ? [] : ["may_be_one_of_several"])) : []), ...(names.some((name) => plainText(name).startsWith("click")) ? names.filter((name) => ["open", "opened"].includes(plainText(name))) : []), ...(those("severity", "part").length ? names.filter((name) => ["none", "nil", "absent"].includes(plainText(name))) : [])].filter((name) => !left.includes(name));
};
// a column that names people, of which some stand in several rows (first_rows.py; here also in German)
const PEOPLE = /user|customer|client|patient|person|subject|session|applicant|candidate|employee|borrower|member|student|claimant|card[_\s-]?holder|ssn|mrn|(?<![a-z])(pat|cust|policy)[_\s-]?(id|no|nr|num|number|key)|bewerber|kunde|antrag|mitarbeiter/i;
const IDENTIFIER = new RegExp(`^(.*[_\\s-])?(id|uuid|guid|\\w*nummer|(${PEOPLE.source})(in|steller)?)([_\\s-]?(id|no|nb?r|number|nummer|ref|key|hash|e-?mail([_\\s-]?address)?)\\.?)?$|^e-?mail([_\\s-]?address)?$`, "i");
const repeatedPeople = (table, used) => table.columns.find((c) => {
  const known = table.rows - c.blanks, few = PEOPLE.test(c.name) ? Math.min(known / 10, 10) : known / 10;
  return !used.includes(c.name) && IDENTIFIER.test(c.name) && (c.many ? c.repeated : few < c.values.length && c.values.length < known);
})?.name ?? null;
// what spellings of one value share
const compact = (name) => {
  const spelt = unaccented(name.replace(/\p{Cf}/gu, "").normalize("NFKC").trim().split(/\s+/).join(" "));
  const text = spelt.replace(/\.+$/, "") || spelt;
  const dashed = text.replace(/[\u2010-\u2015\u2212]|(?<=[\p{L}\p{N}_])_(?=[\p{L}\p{N}_])/gu, "-").replace(/^0+(?=[1-9]\d*$)|(?<=\d),(?=\d{3}(?!\d))/g, "").replace(/(?<=\p{L}{2})(-| - )(?=\p{L}{2})|(?<=\p{L})(-| - )(?=\d)/gu, "");
  return meaning(dashed.replace(/(?<!\d)\s|\s(?!\d)/g, ""));
};
// whether identifiers stand there with other signs or without, too, as identifiers.py counts them
const lackSigns = (names) => {
  const sign = /[-_/. ()]|^['#]/, signed = names.filter((v) => sign.test(v)), others = signed.length - new Set(signed.map((v) => v.replace(/[-_/. ()]|^['#]/g, "-"))).size, unsigned = new Set(names.filter((v) => !sign.test(v)));
  const joined = signed.map((v) => v.replace(/^[(/'#]+|(?<=[a-z])[-_/. ()]+(?=\d)|(?<=\d)[-_/. ()]+(?=[a-z])/g, "")), parts = joined.map((v) => v.split(/(?<=\d)[-_/. ()]+(?=\d)/));
  const alikeParts = new Set(parts.filter((each) => each.length > 1).map((each) => each.map((part) => part.length).join())).size === 1;
  const found = (alikeParts ? parts.map((each) => each.join("")) : joined).filter((v) => unsigned.has(v.replace(/^0+(?=\d+$)/, ""))).length;
  return (others > 0 && others >= 0.05 * signed.length) || (found > 0 && found >= 0.05 * Math.min(signed.length, unsigned.size));
};
const alike = (items, nameOf, meaningOf) => {
  const sets = new Map();
  for (const item of items) { const key = compact(nameOf(item)); sets.set(key, [...(sets.get(key) ?? []), item]); }
  return [...sets.values()].filter((several) => new Set(several.map(meaningOf)).size > 1);
};
// the name that each value of a column of people is proposed to count as; null is "not known"
const suggestions = (values, column) => {
  const by = new Map(), sets = new Map(), names = values.map(([text]) => text), missing = [...missingNames(names), ...codesOfMissing(names), ...noGroups(column, names)];
  for (const [text, rows] of values) {
    if (missing.includes(text)) { by.set(text, null); continue; }
    sets.set(compact(text), [...(sets.get(compact(text)) ?? []), [text, rows]]);
  }
  for (const [short, long] of [["f", "female"], ["m", "male"], ["w", "weiblich"], ["m", "mannlich"]]) {
    if (sets.has(short) && sets.has(long)) { sets.set(long, [...sets.get(long), ...sets.get(short)]); sets.delete(short); }
  }
  for (const several of sets.values()) {
    const [best] = [...several].sort((a, b) => b[1] - a[1])[0];
    several.forEach(([text]) => by.set(text, best));
  }
  return by;
};
