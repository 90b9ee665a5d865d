"""What is noted of the files of data: copies, and files that are skipped."""

from __future__ import annotations

from fairgauge.enums import DiagnosticCode
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.input_files import copied_files, records_of, skipped_files


def notes_of_files(data: object) -> list[Diagnostic]:
    """Warn of copied files, and note how many of a folder or glob are skipped."""
    notes = [Diagnostic.warning(DiagnosticCode.COPIED_FILES, files=f) for f in copied_files(data)]
    if skipped := skipped_files(data):
        files, code = len(skipped), DiagnosticCode.SKIPPED_FILES
        notes.append(Diagnostic.note(code, files=files, example=skipped[0]))
    for path, record in records_of(data):
        if lines := record.lines_above:
            notes.append(Diagnostic.note(DiagnosticCode.LINES_ABOVE, lines=lines, file=path))
        for column, reasons in record.declared_missing.items():
            named, rows = tuple(reasons), tuple(map(float, reasons.values()))
            code = DiagnosticCode.DECLARED_MISSING
            notes.append(Diagnostic.note(code, column=column, reasons=named, rows_of=rows))
    return notes
