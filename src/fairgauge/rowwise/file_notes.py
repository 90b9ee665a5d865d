"""What is noted of the files of data: copies, and files that are skipped."""

from __future__ import annotations

from fairgauge.enums import DiagnosticCode
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.input_files import copied_files, skipped_files


def notes_of_files(data: object) -> list[Diagnostic]:
    """Warn of copied files, and note how many of a folder or glob are skipped."""
    notes = [Diagnostic.warning(DiagnosticCode.COPIED_FILES, files=f) for f in copied_files(data)]
    if skipped := skipped_files(data):
        files, code = len(skipped), DiagnosticCode.SKIPPED_FILES
        notes.append(Diagnostic.note(code, files=files, example=skipped[0]))
    return notes
