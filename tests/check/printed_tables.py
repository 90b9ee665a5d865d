"""Consistent audits, printed in the styles that publishers use, and faults planted in them."""

import re
from dataclasses import dataclass, replace

N, SELECTED, RATE, RATIO = "n", "selected", "rate", "ratio"
ROLES = (N, SELECTED, RATE, RATIO)
HEADERS = {
    name: dict(zip(ROLES, headers, strict=True))
    for name, *headers in (
        ("plain", "Applicants", "Selected", "Selection Rate", "Impact Ratio"),
        ("numbered", "# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"),
        ("scores", "Total Candidates", "Number Above Median Score", "Scoring Rate", "Impact Ratio"),
        ("advanced", "Number of Candidates", "Advanced", "Advancement Rate (%)",
         "Adverse Impact Ratio"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Audit:
    """The printed cells of a table: categories, and the text of every number by role."""

    dimensions: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], dict[str, str]], ...]
    headers: str = "plain"

    @property
    def roles(self):
        return [role for role in ROLES if any(cells.get(role) for _, cells in self.rows)]

    def header(self):
        return [*self.dimensions, *(HEADERS[self.headers][role] for role in self.roles)]

    def lines(self):
        roles = self.roles
        return [[*names, *(cells.get(role, "") for role in roles)] for names, cells in self.rows]

    def changed(self, row, **cells):
        """Return the audit with other text in some cells of a row."""
        rows = list(self.rows)
        rows[row] = (rows[row][0], {**rows[row][1], **cells})
        return replace(self, rows=tuple(rows))

    def added(self, names, **cells):
        """Return the audit with another row."""
        return replace(self, rows=(*self.rows, (tuple(names), cells)))


def printed(counts, dimensions, *, headers="plain", places=3, unknown=None, without=()):
    """Return the audit of some counts: ``(categories, n, selected)``, without fault.

    The category of the highest rate among those of at least 2% of the people is the reference; a
    smaller one has no ratio.
    """
    people = sum(n for _, n, _ in counts)
    best = max(x / n for _, n, x in counts if n >= 0.02 * people)
    percent = "(%)" not in HEADERS[headers][RATE]
    rows = []
    for names, n, x in counts:
        rate = f"{100 * x / n:.{places - 2}f}" + ("%" if percent else "")
        ratio = f"{x / n / best:.{places}f}" if n >= 0.02 * people else "N/A"
        cells = {N: f"{n:,}", SELECTED: f"{x:,}", RATE: rate, RATIO: ratio}
        rows.append((tuple(names), {k: v for k, v in cells.items() if k not in without}))
    audit = Audit(tuple(dimensions), tuple(rows), headers)
    if unknown is not None and N not in without:
        audit = audit.added(["Unknown"] * len(dimensions), n=f"{unknown:,}")
    return audit


def csv(audit):
    quoted = [[f'"{cell}"' if "," in cell else cell for cell in row] for row in audit.lines()]
    return "\n".join(map(",".join, [audit.header(), *quoted])) + "\n"


def semicolons(audit):
    """Print decimal commas, and dots between thousands."""

    def swapped(cell):
        return cell.translate(str.maketrans(",.", ".,")) if re.search(r"\d", cell) else cell

    rows = [[*names, *(swapped(cells.get(role, "")) for role in audit.roles)]
            for names, cells in audit.rows]  # fmt: skip
    return "\n".join(map(";".join, [audit.header(), *rows])) + "\n"


def markdown(audit):
    rows = [audit.header(), ["---"] * len(audit.header()), *audit.lines()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def merged(audit):
    """Print a category once, above the rows that share it."""
    lines = audit.lines()
    below = [
        ["" if i and len(audit.dimensions) > 1 and lines[i - 1][0] == row[0] else row[0], *row[1:]]
        for i, row in enumerate(lines)
    ]
    return "\n".join("\t".join(row) for row in [audit.header(), *below]) + "\n"


def html(audit):
    def cells(row, tag):
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"

    body = "\n".join(cells(row, "td") for row in audit.lines())
    return f"<h3>Results</h3>\n<table>{cells(audit.header(), 'th')}\n{body}</table>\n"


STYLES = {style.__name__: style for style in (csv, semicolons, markdown, merged, html)}
