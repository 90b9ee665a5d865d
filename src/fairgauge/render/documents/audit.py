"""What an audit has rows of besides its fields: rates of groups, and findings."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.render.streams import Value, flat
from fairgauge.results.codec import to_dict
from fairgauge.results.disparities import singled_out
from fairgauge.results.report import Report


def _rates(report: Report) -> Iterator[dict[str, Value]]:
    """Yield every rate of every group, and of all groups together."""
    for group in (*report.groups, *report.totals):
        fields = to_dict(group)
        rates = fields.pop("rates")
        own = flat(fields) | flat(fields["counts"] or {})
        for name, rate in rates.items():
            yield own | flat(rate) | {"rate": name}
        if not rates:
            yield own


def _stated(report: Report) -> Iterator[dict[str, Value]]:
    """Yield every finding, with the simultaneous intervals and the contrasts that it states."""
    for finding in report.findings:
        row = flat(finding.estimate) | flat(finding)
        for name in ("ratio", "adjusted", "beside"):
            contrast = getattr(finding, name)
            if contrast is not None:
                shown = singled_out(contrast)
                value = "beside_value" if name == "beside" else name
                row |= {value: shown.value, f"{name}_low": shown.low, f"{name}_high": shown.high}
        row["beside"] = finding.beside.metric if finding.beside else None
        row["family_tests"] = finding.family.tests if finding.family else None
        row["others"] = ", ".join(str(other.group) for other in finding.others) or None
        yield row


STREAMS = {"rates": _rates, "stated": _stated}
