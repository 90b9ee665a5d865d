// reading a table: a stream of text in, columns of codes out; nothing of the rows is kept but these codes
const MOST_VALUES = 50000, MOST_BYTES = 2 ** 31, PIECE = 2 ** 17;
class Unreadable extends Error {}
const CODES = new WeakMap();  // of each column, for every row the place of its value
const listed = (names, most = 5) => names.slice(0, most).map((n) => `\u201c${n}\u201d`).join(", ") + (names.length > most ? " \u2026" : "");

// what separates the names of a header: the mark that is found most often outside quotes
const delimiterOf = (line) => {
  const outside = line.split('"').filter((_, i) => i % 2 === 0).join("");
  const times = (mark) => outside.split(mark).length - 1;
  return [",", ";", "\t", "|"].reduce((a, b) => (times(b) > times(a) ? b : a));
};

// fields of RFC 4180 from text that comes in pieces; a field is null where it is empty
class Fields {
  constructor(delimiter, onRow) { Object.assign(this, { delimiter, onRow, row: [], rest: "", quoted: false, line: 1, start: 1 }); }
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
          if (at < 0 || (at + 1 >= n && !last)) { this.rest = text.slice(i); if (last && at < 0) throw new Unreadable(`A quotation mark that is opened in row ${this.start} is never closed.`); return; }
          if (text[at + 1] === '"') { at += 2; continue; }
          break;
        }
        value = text.slice(i + 1, at).replaceAll('""', '"');
        end = at + 1;
        if (end < n && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") throw new Unreadable(`In row ${this.start} text follows a closing quotation mark. A quotation mark within a cell is written twice.`);
      } else {
        end = i;
        while (end < n) { const c = text.charCodeAt(end); if (c === 10 || c === 13 || text[end] === delimiter) break; end++; }
        value = text.slice(i, end);
      }
      if (end >= n && !last) { this.rest = text.slice(i); return; }
      if (end < n && text[end] === "\r" && end + 1 >= n && !last) { this.rest = text.slice(i); return; }
      this.row.push(value === "" ? null : value);
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

// columns: each distinct value once, and for every row its place; a column of too many values is excluded
class Columns {
  constructor(header) {
    this.header = header;
    this.rows = 0;
    this.columns = header.map((name) => ({ name, values: [], at: new Map(), counts: [], blanks: 0, many: false }));
    this.codes = header.map(() => new Uint16Array(1024));
  }
  add(row, line) {
    const { columns } = this, n = this.rows;
    if (row.length !== columns.length) throw new Unreadable(`Row ${count(line)} of the file has ${row.length} ${row.length === 1 ? "cell" : "cells"}, and the header has ${columns.length}. Every row needs as many cells as the header.`);
    for (let k = 0; k < columns.length; k++) {
      const c = columns[k], value = row[k];
      if (c.many) continue;
      if (n >= this.codes[k].length) { const wider = new Uint16Array(2 * n); wider.set(this.codes[k]); this.codes[k] = wider; }
      if (value === null) { this.codes[k][n] = 65535; c.blanks++; continue; }
      let code = c.at.get(value);
      if (code === undefined) {
        if (c.values.length >= MOST_VALUES) { Object.assign(c, { many: true, repeated: n - c.blanks > MOST_VALUES, values: [], at: new Map(), counts: [] }); this.codes[k] = new Uint16Array(0); continue; }
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
const PLAIN = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$/;
const plainNumber = (text) => {
  if (!PLAIN.test(text)) return null;
  const bare = text.replace(/^-+/, "");
  if (bare.length > 15 && /^\d+$/.test(bare)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? (value === 0 ? 0 : value) : null;
};
// the number that a value means, as of "true", else the value
const meaning = (value) => (typeof value === "boolean" ? Number(value) : typeof value !== "string" ? value
  : /^(true|false)$/i.test(value) ? Number(/^t/i.test(value)) : plainNumber(value) ?? value);
// texts of a column: numbers if every one is a plain number, else as they are written
const typed = (texts) => {
  const numbers = texts.map(plainNumber);
  return numbers.every((n) => n !== null) ? numbers : texts;
};
const byPoints = (a, b) => {
  const x = [...a], y = [...b];
  for (let i = 0; i < Math.min(x.length, y.length); i++) { const d = x[i].codePointAt(0) - y[i].codePointAt(0); if (d) return d; }
  return x.length - y.length;
};
const inOrder = (a, b) => (typeof a === "number" ? a - b : byPoints(a, b));

const checkHeader = (header, rows) => {
  if (header.length === 1) throw new Unreadable(`Only one column was found, ${listed(header.map((n) => n ?? ""))}. An audit needs at least two: who people are, and what was decided. Columns are separated by commas, semicolons, tabs or vertical bars.`);
  const blank = header.filter((n) => n === null).length;
  if (blank > 1) {
    const at = rows.findIndex((row) => row.length === header.length && row.every((n) => n !== null) && new Set(row).size === row.length);
    throw new Unreadable(`The first line should name the columns, and leaves ${blank} of ${header.length} without a name.${at >= 0 ? ` Line ${at + 2} has ${listed(rows[at])}: if these are the names, remove the lines above it.` : ""}`);
  }
  const names = header.map((n) => n ?? ""), twice = names.filter((n, i) => names.indexOf(n) !== i);
  if (twice.length) throw new Unreadable(`The column ${listed([...new Set(twice)])} is there twice. Give each column a name of its own.`);
};

// a file, read in pieces so that the page stays responsive and shows how far it is
const readTable = async (source, name, report, pasted = false) => {
  const size = source.size, extension = (/\.[^.]+$/.exec(name) || [""])[0].toLowerCase();
  if (/^\.(xlsx|xlsm|xls|ods|numbers)$/.test(extension)) throw new Unreadable("This is a workbook. In Excel choose File, Save as, \u201cCSV UTF-8 (comma delimited)\u201d and drop that file; or copy the cells and paste them below.");
  if (/\.cube\.json$/i.test(name)) throw new Unreadable("These are counts. Open them with fairgauge explore COUNTS -o explore.html, or fairgauge audit COUNTS.");
  if (/^\.(parquet|feather|arrow|zip|gz|pdf|json|jsonl|html?)$/.test(extension)) throw new Unreadable(`This page reads CSV and TSV files and pasted cells, not ${extension} files. fairgauge on the command line reads many more.`);
  if (!size) throw new Unreadable("The file is empty.");
  if (size > MOST_BYTES) throw new Unreadable("The file has more than 2 GB. Audit it with fairgauge on the command line, which reads more rows than memory holds.");
  const decoder = new TextDecoder("utf-8", { fatal: true }), reader = source.stream().getReader();
  let fields = null, table = null, head = "", done = 0, first = true, rested = performance.now();
  const waiting = [];
  const onRow = (row, line) => {
    if (table) return table.add(row, line);
    waiting.push([row, line]);
    if (waiting.length >= 50) open();
  };
  const open = () => {
    const [[header], ...rest] = waiting;
    checkHeader(header, rest.map(([row]) => row));
    table = new Columns(header.map((n) => n ?? ""));
    rest.forEach((each) => table.add(...each));
  };
  const take = (text, last) => {
    if (fields) return fields.push(text, last);
    head += text;
    if (/[\u0000-\u0008\u000e-\u001f]/.test(head)) throw new Unreadable("This is no text file: it holds bytes that no CSV file has. If it is a workbook, save it as CSV UTF-8.");
    const end = /[\r\n]/.exec(head);
    if (!end && !last) return;
    const line = end ? head.slice(0, end.index) : head;
    if (!line.trim()) throw new Unreadable("The first line is empty. It should name the columns.");
    if (/^sep=.$/i.test(line.trim())) throw new Unreadable(`The first line is \u201c${line.trim()}\u201d, which only Excel understands. Remove it, so that the first line names the columns.`);
    fields = new Fields(extension === ".tsv" || (pasted && line.includes("\t")) ? "\t" : delimiterOf(line), onRow);
    fields.push(head, last);
    head = "";
  };
  try {
    for (;;) {
      const { value, done: ended } = await reader.read();
      if (!done && value && value[0] + value[1] === 509 && Math.abs(value[0] - value[1]) === 1) throw new Unreadable("The file is in UTF-16, which Excel calls \u201cUnicode text\u201d. Save it as \u201cCSV UTF-8 (comma delimited)\u201d, or copy the cells and paste them below.");
      if (!done && value && value.subarray(0, 4096).some((b) => b < 9 || (b > 13 && b < 32 && b !== 27))) throw new Unreadable("This is no text file: it holds bytes that no CSV file has. If it is a workbook, save it as CSV UTF-8.");
      for (let from = 0; ended || from < value.length; from += PIECE) {
      let text;
      try { text = ended ? decoder.decode() : decoder.decode(value.subarray(from, from + PIECE), { stream: true }); } catch { throw new Unreadable("The file is not in UTF-8, so that letters such as \u00e4 or \u00e9 cannot be read. In Excel save it as \u201cCSV UTF-8 (comma delimited)\u201d."); }
      if (ended) { take(text, true); break; }
      take(text, false);
      done += Math.min(PIECE, value.length - from);
      const now = performance.now();
      if (first || now - rested > 25) { first = false; rested = now; report(done / size, table ? table.rows : 0); await new Promise((r) => setTimeout(r)); rested = performance.now(); }
      }
      if (ended) break;
    }
  } finally { reader.cancel().catch(() => {}); }
  if (!table) { if (!waiting.length) throw new Unreadable("The file is empty."); open(); }
  if (!table.rows) throw new Unreadable("The file has a header and no rows below it.");
  const { header: named, columns, rows } = table;
  columns.forEach((c, k) => { delete c.at; CODES.set(c, table.codes[k]); });
  return { header: named, columns, rows, name };
};
