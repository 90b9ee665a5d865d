#!/usr/bin/env bash
# papaparse 5.7.1: with dynamicTyping, Python's "False" stays a text, and a text is true: nobody was refused.
#
# Expected: "True" and "False", which pandas and Python write, are read as "true" and "false" are, or as no answers at all.
# Happens:  "true", "TRUE", "false" and "FALSE" become booleans; "True" and "False" stay texts, so that filter(p => p.hired) keeps all.
# Seen on 1 December 2026: "5.7.1: hired, as pandas writes it, 4 of 4; as JavaScript does, 1 of 4"
# fairgauge reads all these spellings (tests/unit/scan), and its page in a browser has the same reader.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm install --silent --no-fund --no-audit papaparse@5.7.1
cat > people.js <<'JS'
const Papa = require("papaparse");

const hired = (yes, no) => {
  const text = `sex,hired\nF,${no}\nF,${no}\nM,${yes}\nM,${no}\n`;
  const people = Papa.parse(text, {header: true, dynamicTyping: true, skipEmptyLines: true}).data;
  return `${people.filter(person => person.hired).length} of ${people.length}`;
};
console.log(`${require("papaparse/package.json").version}: hired, as pandas writes it, ${hired("True", "False")}; `
  + `as JavaScript does, ${hired("true", "false")}`);
JS
seen=$(node people.js); echo "$seen"
[ "$seen" = "5.7.1: hired, as pandas writes it, 4 of 4; as JavaScript does, 1 of 4" ]
