// reading a table: a stream of text in, columns of codes out; nothing of the rows is kept but these codes
const MOST_VALUES = 50000, MOST_COMPARED = 1e6, MOST_BYTES = 2 ** 31, PIECE = 2 ** 17;
class Refused extends Error {}  // with a message for the person who asks
const refused = (key, values = {}) => new Refused(inWords(UI.refused[key], { command: UI.refused.command, ...values }));
const CODES = new WeakMap();  // of each column, for every row the place of its value
const listed = (names, most = 5) => names.slice(0, most).map((n) => `\u201c${n}\u201d`).join(", ") + (names.length > most ? " \u2026" : "");

// fields of RFC 4180 from text that comes in pieces; a field is null where it is empty
class Fields {
  constructor(delimiter, onRow, start = 1) { Object.assign(this, { delimiter, onRow, row: [], rest: "", start }); }
  push(text, last = false) {
    text = this.rest + text;
    const { delimiter } = this, n = text.length;
    let i = 0;
    for (;;) {
      // a field is read only where all of it is here
      let end, value;
      if (i < n && text[i] === '"') {
        let at = i + 1;
        for (;;) {
          at = text.indexOf('"', at);
          if (at < 0 || (at + 1 >= n && !last)) { this.rest = text.slice(i); if (last && at < 0) throw refused("quotes", { row: this.start }); return; }
          if (text[at + 1] === '"') { at += 2; continue; }
          break;
        }
        value = text.slice(i + 1, at).replaceAll('""', '"');
        end = at + 1;
        if (end < n && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") throw refused("quotes", { row: this.start });
      } else {
        end = i;
        while (end < n) { const c = text.charCodeAt(end); if (c === 10 || c === 13 || text[end] === delimiter) break; end++; }
        value = text.slice(i, end);
      }
      if (end >= n && !last) { this.rest = text.slice(i); return; }
      if (end < n && text[end] === "\r" && end + 1 >= n && !last) { this.rest = text.slice(i); return; }
      // where numbers have decimal commas, they cannot separate cells
      this.row.push(value === "" ? null : delimiter === ";" && /^-?[0-9]+,[0-9]+$/.test(value) ? value.replace(",", ".") : value);
      if (end >= n) { this.rest = ""; if (this.row.length > 1 || this.row[0] !== null) this.finish(); return; }
      if (text[end] === delimiter) { i = end + 1; if (i >= n && !last) { this.rest = ""; return; } continue; }
      i = end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1);
      this.finish();
      if (i >= n) { this.rest = ""; return; }
    }
  }
  finish() {
    const row = this.row;
    this.row = [];
    if (row.length > 1 || row[0] !== null) this.onRow(row, this.start);
    this.start += 1;
  }
}

// 53 bits of a text, by which rows are compared where a column has too many values to keep
const hashed = (text) => {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) { const c = text.charCodeAt(i); a = Math.imul(a ^ c, 2654435761); b = Math.imul(b ^ c, 1597334677); }
  return 2 ** 32 * (b >>> 11) + (a >>> 0);
};
// the least and the most of whole numbers, of JA-17 too where all start alike; NaN where a value is none
const addNumber = (c, value) => {
  const [, start, digits] = plain_number(value) === null ? /^(.*?)(\d+)$/s.exec(value) ?? [] : [value, "", value];
  c.start ??= start;
  const number = start === c.start ? Number(digits) : NaN, whole = Number.isInteger(number) ? number : NaN;
  c.least = Math.min(c.least ?? whole, whole);
  c.most = Math.max(c.most ?? whole, whole);
};
const NOT_KEPT = new Float64Array(0);
// columns: each distinct value once, and for every row its place; of a column of too many values there are only hashes
class Columns {
  // `person`: a column of identifiers, of which every value is kept
  constructor(header, person) {
    this.header = header;
    this.rows = 0;
    this.columns = header.map((name) => ({ name, values: [], at: new Map(), counts: [], blanks: 0, many: false, none: name === person ? 2 ** 32 - 1 : 65535 }));
    this.codes = header.map((name) => new (name === person ? Uint32Array : Uint16Array)(1024));
  }
  add(row, line) {
    const { columns } = this, n = this.rows;
    if (row.length !== columns.length) throw refused("ragged", { row: amount(line), name: listed(row.map((v) => v ?? ""), 2), n: row.length, of: columns.length });
    for (let k = 0; k < columns.length; k++) {
      const c = columns[k], value = row[k];
      if (c.many && n >= MOST_COMPARED) { this.codes[k] = NOT_KEPT; continue; }
      if (n >= this.codes[k].length) { const wider = new this.codes[k].constructor(2 * n); wider.set(this.codes[k]); this.codes[k] = wider; }
      if (value === null) { this.codes[k][n] = c.none; c.blanks++; continue; }
      if (c.many) { this.codes[k][n] = hashed(value); addNumber(c, value); continue; }
      let code = c.at.get(value);
      if (code === undefined) {
        if (c.values.length >= MOST_VALUES && c.none === 65535) {
          const hashes = c.values.map(hashed);
          [...c.values, value].forEach((each) => addNumber(c, each));
          this.codes[k] = Float64Array.from(this.codes[k], (of) => hashes[of] ?? NaN);
          this.codes[k][n] = hashed(value);
          Object.assign(c, { many: true, repeated: n - c.blanks > MOST_VALUES, none: NaN, values: [], at: new Map(), counts: [] });
          continue;
        }
        code = c.values.push(value) - 1;
        c.at.set(value, code);
        c.counts.push(0);
      }
      this.codes[k][n] = code;
      c.counts[code]++;
    }
    this.rows = n + 1;
  }
}
// those whose points may be of thousands, as 950 and 1.234 are: as Python's reader finds them
const grouped = (texts) => {
  const marked = texts.filter((t) => t.includes("."));
  const alike = marked.length < texts.length && texts.every((t) => /^-?([0-9]{1,3}|[1-9][0-9]{0,2}(\.[0-9]{3})+)$/.test(t));
  return alike ? marked : [];
};
const byPoints = (a, b) => {
  const x = [...a], y = [...b];
  for (let i = 0; i < Math.min(x.length, y.length); i++) { const d = x[i].codePointAt(0) - y[i].codePointAt(0); if (d) return d; }
  return x.length - y.length;
};
const inOrder = (a, b) => (typeof a === "number" ? a - b : byPoints(a, b));

const cellsOfLine = (line) => {
  let cells = [];
  try { new Fields(delimiter_of(line), (row) => { cells = row.map((v) => (v ?? "").trim()); }).push(line, true); } catch { /* of a text after a quote */ }
  return cells;
};

const checkHeader = (header) => {
  if (header.length === 1) throw refused("one_column", { name: listed(header.map((n) => n ?? "")) });
  const blank = header.filter((n) => n === null).length;
  if (blank > 1) throw refused("unnamed", { n: blank, of: header.length });
  const names = header.map((n) => n ?? ""), twice = names.filter((n, i) => names.indexOf(n) !== i);
  if (twice.length) throw refused("twice", { name: listed([...new Set(twice)]) });
};

// the cells of a workbook's only sheet, as CSV; what is not plain (several sheets, errors) is refused with how to paste it
const DATES = /^(1[4-9]|2[0-2]|4[5-7])$/, SIGNS = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const textOf = (xml) => [...xml.replace(/<rPh.*?<\/rPh>/gs, "").matchAll(/<t\b[^>]*?(?:\/>|>(.*?)<\/t>)/gs)].map(([, t]) => t ?? "").join("").replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (_, hex, n, name) => (name ? SIGNS[name] : String.fromCodePoint(hex ? parseInt(hex, 16) : n)));
const unzipped = async (source) => {
  const view = new DataView(await source.arrayBuffer()), at2 = (at) => view.getUint16(at, true), at4 = (at) => view.getUint32(at, true), places = new Map();
  let end = view.byteLength - 22;  // where the list of files ends
  while (end >= 0 && at4(end) !== 0x06054b50) end--;
  for (let k = at2(end + 10), at = at4(end + 16); k--; at += 46 + at2(at + 28) + at2(at + 30) + at2(at + 32)) places.set(new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, at2(at + 28))), at);
  return [[...places.keys()], (name) => {
    if (!places.has(name)) return "";
    const at = places.get(name), from = at4(at + 42), start = from + 30 + at2(from + 26) + at2(from + 28), packed = new Blob([view.buffer.slice(start, start + at4(at + 20))]);
    if (at4(at + 24) > MOST_BYTES / 4) throw refused("large");
    return new Response(at2(at + 10) ? packed.stream().pipeThrough(new DecompressionStream("deflate-raw")) : packed).text();
  }];
};
const workbookCells = async (source) => {
  const [names, part] = await unzipped(source).catch(() => { throw refused("workbook"); }), sheets = names.filter((name) => /^xl\/worksheets\/[^/]+\.xml$/.test(name)), styles = await part("xl/styles.xml");
  if (sheets.length !== 1 || /date1904="(1|true)"/.test(await part("xl/workbook.xml"))) throw refused("workbook");
  const shared = [...(await part("xl/sharedStrings.xml")).matchAll(/<si\b.*?(?:<\/si>|\/>)/gs)].map(([si]) => textOf(si));
  const own = new Set([...styles.matchAll(/<numFmt [^>]*?numFmtId="(\d+)"[^>]*?formatCode="([^"]*)"/g)].filter(([, , code]) => /[dmyhs]/i.test(code.replace(/&quot;.*?&quot;|\[[^\]]*\]|\\./g, ""))).map(([, id]) => id));
  const dated = [...(/<cellXfs.*?<\/cellXfs>/s.exec(styles)?.[0] ?? "").matchAll(/<xf\b[^>]*?numFmtId="(\d+)"/g)].map(([, id]) => DATES.test(id) || own.has(id));
  const rows = [...(await part(sheets[0])).matchAll(/<row\b[^>]*?(?:\/>|>(.*?)<\/row>)/gs)].map(([, cells = ""]) => [...cells.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)].reduce((row, [, keys, cell = ""]) => {
    const of = (key) => new RegExp(`\\b${key}="([^"]*)"`).exec(keys)?.[1], type = of("t") ?? "n", value = textOf(cell.replace(/<f\b.*?(<\/f>|\/>)/gs, "").replace(/<(\/?)v>/g, "<$1t>")), place = [...(of("r") ?? "").replace(/\d/g, "")].reduce((n, letter) => 26 * n + letter.charCodeAt(0) - 64, 0) - 1;
    if (type === "e" || (type === "s" && !(value in shared)) || place < 0) throw refused("workbook");
    row[place] = type === "s" ? shared[value] : type === "b" ? ["false", "true"][value] : type === "n" && value && dated[of("s")] ? new Date(Math.round((value - 25569) * 864e5)).toISOString().slice(0, 10) : value;
    return row;
  }, [])).filter((row) => row.some(Boolean)), width = Math.max(...rows.map((row) => row.length));
  return rows.map((row) => Array.from({ length: width }, (_, k) => (row[k] ? `"${row[k].replaceAll('"', '""')}"` : "")).join()).join("\n");
};

// a file, read in pieces so that the page stays responsive and shows how far it is
const readTable = async (source, name, report, pasted = false, person = null) => {
  const extension = (/\.[^.]+$/.exec(name) || [""])[0].toLowerCase();
  if (/^\.(xlsm|xls|ods|numbers)$/.test(extension)) throw refused("workbook");
  if (extension === ".xlsx") source = new Blob([await workbookCells(source)]);
  const { size } = source;
  if (extension === ".json") return readCounts(await source.text(), name);
  if (/^\.(parquet|feather|arrow|zip|gz|pdf|jsonl|html?)$/.test(extension)) throw refused("extension", { extension });
  if (!size) throw refused("empty");
  if (size > MOST_BYTES) throw refused("large");
  const decoder = new TextDecoder("utf-8", { fatal: true }), reader = source.stream().getReader();
  let fields = null, table = null, head = "", above = 0, done = 0, first = true, rested = performance.now();
  const waiting = [];
  const onRow = (row, line) => (table ? table.add(row, line) : waiting.push([row, line]) >= 50 && open());
  const open = () => {
    const [[header], ...rest] = waiting;
    checkHeader(header);
    table = new Columns(header.map((n) => n ?? ""), person);
    rest.forEach((each) => table.add(...each));
  };
  const take = (text, last) => {
    if (fields) return fields.push(text, last);
    head += text;
    if (/[\u0000-\u0008\u000e-\u001f]/.test(head)) throw refused("encoding");
    if (!last && head.length < 2 ** 16) return;
    const lines = head.split(/(?<=\n|\r(?!\n))/), bare = lines.map((line) => line.replace(/[\r\n]+$/, ""));
    above = lines_above(bare.slice(0, 1000));
    const line = bare[above], stated = above ? new RegExp(`^\\s*${_SEPARATOR.source}\\s*$`, "u").exec(bare[0])?.[1] : null;
    fields = new Fields(stated ?? (extension === ".tsv" || (pasted && line.includes("\t")) ? "\t" : delimiter_of(line)), onRow, above + 1);
    fields.push(lines.slice(above).join(""), last);
    head = "";
  };
  try {
    for (;;) {
      const { value, done: ended } = await reader.read();
      if (!done && value && value.subarray(0, 4096).some((b) => b < 9 || (b > 13 && b < 32 && b !== 27))) throw refused("encoding");
      for (let from = 0; ended || from < value.length; from += PIECE) {
      let text;
      try { text = ended ? decoder.decode() : decoder.decode(value.subarray(from, from + PIECE), { stream: true }); } catch { throw refused("encoding"); }
      if (ended) { take(text, true); break; }
      take(text, false);
      done += Math.min(PIECE, value.length - from);
      const now = performance.now();
      if (first || now - rested > 25) { first = false; rested = now; report(done / size, table ? table.rows : 0); await new Promise((r) => setTimeout(r)); rested = performance.now(); }
      }
      if (ended) break;
    }
  } finally { reader.cancel().catch(() => {}); }
  if (!table) { if (!waiting.length) throw refused("empty"); open(); }
  if (!table.rows) throw refused("empty");
  const { header: named, columns, rows } = table;
  columns.forEach((c, k) => { delete c.at; CODES.set(c, table.codes[k].subarray(0, rows)); });
  return { header: named, columns, rows, name, above };
};
// counts that fairgauge count or such a page saved, as a table: the columns are the axes, and `cells` its rows
const readCounts = (text, name) => {
  let plain = {}, whole = {};
  try { plain = JSON.parse(text); whole = withFloats(JSON.parse(text.replace(/([[:,])(-?\d+(?:\.\d+)?e[+-]?\d+|-?\d+\.\d+)(?=[,\]}])/g, '$1{"float":$2}'))); } catch { /* no counts */ }
  const { digest, ...held } = whole;
  if (held?.schema !== data.schema) throw new Refused(UI.no_counts);
  if (digest !== sha256(pythonJson(held))) throw new Refused(UI.changed_counts);
  const { plan, levels, tables, question, rows, excluded, fingerprint } = plain, [{ codes, sums }, ...more] = tables, axes = plan.axes.filter((a) => a.role !== "codes"), codedAxes = plan.axes.slice(axes.length);
  const known = ["feature", "label", "prediction"], isOdd = axes.some((a) => !known.includes(a.role) || a.grid) || more.length > codedAxes.length || question.replicate_weights || codes.length < axes.length || plan.moments.length || held.min_cell || held.clusters || Object.keys(sums).some((k) => !["rows", "n", "open"].includes(k));
  if (isOdd || question.candidate.length || Object.keys(question.where).length) throw new Refused(UI.other_counts);
  const cells = sums.rows.map((n, k) => ({ codes: codes.map((of) => of[k]), n, cases: (sums.n ?? sums.rows)[k], open: sums.open?.[k] ?? 0 }));
  const coded = codedAxes.map(({ column }, i) => {
    const of = more[i], none = AROUND_CODES.length + 1, spread = (values = []) => { const found = new Array(none + 1).fill(0); of.codes[0].forEach((code, k) => { found[code < 0 ? none : code] = values[k] ?? 0; }); return found; };
    return { name: column, none, n: spread(of.sums.rows), cases: spread(of.sums.n ?? of.sums.rows), open: spread(of.sums.open) };
  });
  const columns = axes.map((axis, i) => {
    const counts = levels[i].map((_, code) => cells.reduce((a, c) => a + (c.codes[i] === code ? c.cases : 0), 0));
    return { name: axis.column, levels: levels[i], values: levels[i].map(String), counts, blanks: cells.reduce((a, c) => a + (c.codes[i] < 0 ? c.cases : 0), 0), many: false };
  });
  const decided = ["label", "prediction", "positive", "negative", "sensitive", "intersections", "count", "person", "unknown", "recode"], isStated = (v) => (Array.isArray(v) ? v.length : v && typeof v === "object" ? Object.keys(v).length : v !== null);
  const asked = Object.fromEntries(Object.entries(question).filter(([key, v]) => data.keys.includes(key) && (decided.includes(key) ? v !== null : isStated(v) && !["confidence", ...(question.rules.length || question.preset ? [] : ["reference"]), ...(question.metrics.includes("standard") ? ["metrics"] : [])].includes(key))));
  return { name, header: columns.map((c) => c.name), columns, rows: cells.length, cells, coded, copies: held.copies ?? [], observed: plain.observed ?? [], asked, fileRows: rows, excluded, fingerprint };
};
