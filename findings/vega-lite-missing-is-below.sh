#!/usr/bin/env bash
# vega-lite 6.4.3: people without a score are below every threshold, and the month of a date depends on where its reader is.
#
# Expected: {"lt": 50} keeps the one person below 50, as SQL and data frames do; 2026-03-01 is in March.
# Happens:  a missing score is null, which JavaScript compares as 0; a date without a time is midnight UTC, shown in local time: February in New York.
#           "utcmonth" is March everywhere.
# Seen on 1 December 2026: "6.4.3: below 50: 2 of 3; 2026-03-01 is in month 2 (UTC 3)"
# fairgauge keeps no row without a score in a condition on it (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm install --silent --no-fund --no-audit vega-lite@6.4.3 vega@6
cat > chart.mjs <<'JS'
import {readFileSync} from "node:fs";
import * as vega from "vega";
import {compile} from "vega-lite";

const values = [{id: 1, score: null, date: "2026-03-01"}, {id: 2, score: 40, date: "2026-03-01"}, {id: 3, score: 60, date: "2026-03-01"}];
const rows = async transform => {
  const encoding = {x: {field: "id", type: "quantitative"}};
  const {spec} = compile({data: {values}, transform, mark: "point", encoding});
  const view = new vega.View(vega.parse(spec));
  await view.runAsync();
  return view.data(spec.data.at(-1).name);
};
const below = await rows([{filter: {field: "score", lt: 50}}]);
const [local] = await rows([{timeUnit: "month", field: "date", as: "month"}]);
const [utc] = await rows([{timeUnit: "utcmonth", field: "date", as: "month"}]);
const {version} = JSON.parse(readFileSync("node_modules/vega-lite/package.json", "utf8"));
console.log(`${version}: below 50: ${below.length} of 3; 2026-03-01 is in month ${local.month.getMonth() + 1} `
  + `(UTC ${utc.month.getUTCMonth() + 1})`);
JS
seen=$(TZ=America/New_York node chart.mjs); echo "$seen"
[ "$seen" = "6.4.3: below 50: 2 of 3; 2026-03-01 is in month 2 (UTC 3)" ]
