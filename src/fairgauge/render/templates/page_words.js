// what of the words of category_words.py, which words.js has, only a page needs: the patterns; a column that names people
const PATTERNS = Object.fromEntries(Object.entries(data.patterns).map(([name, text]) => [name, new RegExp(text, "u")]));
// of which some stand in several rows (here also in German)
const PEOPLE = /user|customer|client|patient|person|subject|session|applicant|candidate|employee|borrower|member|student|claimant|card[_\s-]?holder|ssn|mrn|(?<![a-z])(pat|cust|policy)[_\s-]?(id|no|nr|num|number|key)|bewerber|kunde|antrag|mitarbeiter/i;
const IDENTIFIER = new RegExp(`^(.*[_\\s-])?(id|uuid|guid|\\w*nummer|(${PEOPLE.source})(in|steller)?)([_\\s-]?(id|no|nb?r|number|nummer|ref|key|hash|e-?mail([_\\s-]?address)?)\\.?)?$|^e-?mail([_\\s-]?address)?$`, "i");
const repeatedPeople = (table, used) => table.columns.find((c) => {
  const known = table.rows - c.blanks, few = PEOPLE.test(c.name) ? Math.min(known / 10, 10) : known / 10;
  return !used.includes(c.name) && IDENTIFIER.test(c.name) && (c.many ? c.repeated : few < c.values.length && c.values.length < known);
})?.name ?? null;
// the name that each value of a column of people is proposed to count as; null is "not known"
const suggestions = (values, column) => {
  const by = new Map(), sets = new Map(), names = values.map(([text]) => text), missing = [...missing_words(names), ...codes_of_missing(names), ...no_groups(column, names)];
  for (const [text, rows] of values) {
    if (missing.includes(text)) { by.set(text, null); continue; }
    sets.set(compact_reading(text), [...(sets.get(compact_reading(text)) ?? []), [text, rows]]);
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
