"""No output about gaps states that anything explains, causes or justifies one."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import GapVerdict, WhyInconclusive
from fairgauge.question.kits import find_kit, kit_names
from fairgauge.render.formats import render

CLAIMS = re.compile(
    r"expl(?:ain|anat)\w*|due to|caus(?:e[ds]?|al\w*)\b|because of|justif\w*"
    r"|unfair\w*|legitima\w*|driven by|attributable",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"criteria do not justify it"
    r"|criteria justify a difference, no table shows|[Nn]or does a difference that remains show "
    r"its cause|hold no causes|whether (?:a difference|it) is unfair depends on"
    r"|whether the policy is necessary to a substantial, legitimate, nondiscriminatory interest"
    r"|whether there is a legitimate, lawful and fair explanation",
    re.IGNORECASE,
)
"""What claims nothing: the rest of a sentence of ours, or of a text that a preset quotes."""
ROOT = Path(__file__).resolve().parents[2]
TABLES = {  # tilt, difference within strata by stratum, rows of both sides
    "accounted for": (1.0, (0.0, 0.0, 0.0), (2_000, 4_000), 1),
    "remains": (0.5, (-0.2, -0.2, -0.2), (800, 1_500), 1),
    "reverses": (1.5, (0.1, 0.1, 0.1), (3_000, 6_000), 1),
    "no gap shown": (0.0, (0.0, 0.0, 0.0), (800, 1_500), 2),
    "within margin": (1.5, (-0.03, -0.03, -0.03), (40_000, 60_000), 1),
    "varies": (0.3, (-0.3, 0.25, 0.1), (1_000, 2_000), 1),
    "offset": (1.0, (0.2, 0.2, 0.2), (4_000, 6_000), 1),
    "imprecise": (0.4, (-0.03, -0.03, -0.03), (150, 300), 1),
    "not comparable": (9.0, (0.0, 0.0, 0.0), (500, 900), 1),
    "insufficient": (0.0, (0.0, 0.0, 0.0), (6, 9), 1),
}


def claims(text: str) -> list[str]:
    """Return what claims a cause, with some of the text beside it."""
    plain = " ".join(re.sub(r"<style.*?</style>|<script.*?</script>", "", text, flags=re.S).split())
    plain = DENIED.sub("", plain)
    return [plain[max(0, m.start() - 60) : m.end() + 40] for m in CLAIMS.finditer(plain)]


def drawn(random: np.random.Generator, tilt, within, rows, _columns) -> pl.DataFrame:
    """Draw the rows of both sides."""
    frames = []
    for side, n, sign in (("d", rows[0], -1), ("a", rows[1], 1)):
        share = np.exp(sign * tilt * np.array([-1.0, 0.0, 1.0]))
        stratum = random.choice(3, n, p=share / share.sum())
        rate = np.array([0.3, 0.5, 0.7])[stratum]
        rate = np.clip(rate + (np.array(within)[stratum] if side == "d" else 0), 0, 1)
        frames.append(pl.DataFrame({
            "side": side, "c0": [f"s{s}" for s in stratum],
            "c1": random.choice(["u", "v"], n), "dti": random.normal(0, 1, n).round(2),
            "p": random.binomial(1, rate), "pay": random.lognormal(3, 0.4, n) * (1 + rate),
            "year": random.integers(2018, 2024, n),
        }))  # fmt: skip
    return pl.concat(frames)


@cache
def found() -> dict[str, fg.Decomposition]:
    """Decompose tables of all kinds."""
    random, results = np.random.default_rng(30), {}
    for name, law in TABLES.items():
        data, columns = drawn(random, *law), law[-1]
        asked = {"sensitive": "side", "reference": {"side": "a"}}
        strata = [f"c{k}" for k in range(columns)]
        margins = {"selection_rate": 0.06} if name == "within margin" else {}
        both = ["selection_rate.difference", "selection_rate.ratio"]
        results[name] = fg.why(
            data, prediction="p", strata=strata, metrics=both, margins=margins, **asked
        )
        if name in ("remains", "varies"):
            results[f"{name}, numbers"] = fg.why(
                data, prediction="p", strata=["c0", fg.cut("dti", [-1, -0.5, 0, 0.5, 1])],
                preset="us-lending", **asked,
            )  # fmt: skip
            results[f"{name}, years"] = fg.why(data, prediction="p", strata="year", **asked)
            results[f"{name}, pay"] = fg.why(
                data, label="pay", strata=strata, preset="eu-pay-transparency", **asked
            )
    return results


def test_tables_have_every_verdict() -> None:
    gaps = [gap for result in found().values() for gap in result.gaps]
    assert {gap.verdict for gap in gaps} == set(GapVerdict)
    reasons = {gap.reason for gap in gaps}
    common = {WhyInconclusive.VARIES, WhyInconclusive.IMPRECISE, WhyInconclusive.NOT_COMPARABLE,
              WhyInconclusive.TOO_FEW}  # fmt: skip
    assert common <= reasons, reasons


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json", "csv", "notebook"])
def test_no_decomposition_claims_a_cause(format_: str) -> None:
    for name, result in found().items():
        whole = {"full": True} if format_ in ("text", "markdown") else {}
        text = render(result, format_, **whole)
        assert not claims(text), (name, claims(text))


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json", "csv", "notebook"])
@pytest.mark.parametrize("asked", [{"strata": "c0"}, {"strata": ["c0", "c1"]}, {"strata": "year"},
                                   {"strata": "c0", "preset": "us-lending"}])  # fmt: skip
def test_no_audit_with_strata_claims_a_cause(format_: str, asked: dict[str, object]) -> None:
    result = fg.audit(
        drawn(np.random.default_rng(30), *TABLES["varies"]), prediction="p", sensitive="side",
        **asked,
    )  # fmt: skip
    assert not re.findall("explained|due to|justified", render(result, format_))


def test_no_help_or_page_claims_a_cause() -> None:
    command = [sys.executable, "-m", "fairgauge", "why", "--help"]
    texts = {
        "help": subprocess.run(command, capture_output=True, text=True, check=True).stdout,
        "fg.why": fg.why.__doc__ or "",
        "why.md": (ROOT / "docs/how-to/why.md").read_text(encoding="utf-8"),
        "hmda.md": (ROOT / "docs/how-to/hmda.md").read_text(encoding="utf-8"),
        "strata.md": (ROOT / "docs/how-to/strata.md").read_text(encoding="utf-8"),
    }
    for name in kit_names():
        texts[name] = " ".join(find_kit(name).statements)
    for name, text in texts.items():
        assert not claims(text), (name, claims(text))


@pytest.mark.parametrize("claim", ["are explained by departments", "are due to grade", "justified"])
def test_claims_are_found(claim: str) -> None:
    assert claims(f"10 pp {claim}.")
