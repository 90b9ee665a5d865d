"""Every published or independently computed number of the shared statistics vectors.

The file lies beside the repository, not in it; without it these tests are skipped, and the
published anchors among them are repeated as literals in `tests/unit/stats`.  The vectors of
Agresti and Caffo's and Katz's limits and of Fisher's (plain and mid-p) and Barnard's tests have no
counterpart: no metric uses these methods (`NOT_IMPLEMENTED`).
"""

import json
from pathlib import Path

import numpy as np
import pytest

from fairgauge.catalogue.distributions import DISTANCES
from fairgauge.enums import Profile
from fairgauge.stats import contrasts, distances, intervals, sequential, significance

FILE = Path(__file__).parents[2] / ".." / "shared" / "vectors" / "statistics.json"
NOT_IMPLEMENTED = {
    "n per group to detect p1=.30 v p2=.20, alpha .05 two-sided, power .8 (unpooled normal)",
    (
        "n per group so that the 95% interval falls inside +-tau with prob .8 when p1=p2=p "
        "(normal approx.)"
    ),
    "AUC, DeLong variance, logit interval",  # undercovers near 1
    "weighted rate, n_eff=min(Kish, p(1-p)/linearised var), Wilson",  # weight 1 is not no weight
    "Agresti-Caffo p1-p2", "Katz log p1/p2", "Fisher exact two-sided", "Fisher mid-p two-sided",
    "Barnard two-sided (pooled)", "Benjamini-Hochberg adjusted p",
}  # fmt: skip
"""Methods of the vectors that no metric uses; Fisher's and Barnard's tests are scipy's."""
ALL = json.loads(FILE.read_text())["vectors"] if FILE.exists() else []
VECTORS = {v["id"]: v for v in ALL if v["method"] not in NOT_IMPLEMENTED}
Z = intervals.critical(0.95)

pytestmark = pytest.mark.skipif(not VECTORS, reason="../shared/vectors/statistics.json is absent")


def limits(low, high):
    return {"lower": low, "upper": high}


def sides(i):
    return i["x1"], i["n1"], i["x2"], i["n2"]


def columns(i):
    """The vectors' tables hold the two groups in columns, as their oracle does."""
    (a, b), (c, d) = i["table"]
    return a, a + c, b, b + d


def rows(i):
    (a, b), (c, d) = i["table"]
    return a, a + b, c, c + d


def odds_contrast(i):
    names = ["FN_d", "FP_d", "FN_a", "FP_a"]
    fn_d, fp_d, fn_a, fp_a = (i[name] for name in names)
    gap = contrasts.mover_difference(
        fn_d / fp_d, *intervals.wilson_odds(fn_d, fp_d, Z), fn_a / fp_a,
        *intervals.wilson_odds(fn_a, fp_a, Z),
    )  # fmt: skip
    return {"estimate": fn_d / fp_d - fn_a / fp_a, **limits(*gap)}


def paired(tp, fn, fp):
    return {"estimate": (tp + fn) / (tp + fp), **limits(*intervals.paired_ratio(tp, fn, fp, Z))}


def paired_contrast(i):
    a, d = (paired(i[f"TP_{g}"], i[f"FN_{g}"], i[f"FP_{g}"]) for g in "ad")
    gap = contrasts.mover_difference(*a.values(), *d.values())
    return {"estimate": a["estimate"] - d["estimate"], **limits(*gap)}


def verdict(i):
    low, high = contrasts.newcombe(*sides(i), Z)
    inside = low >= -i["tau"] and high <= i["tau"]
    outside = low > i["tau"] or high < -i["tau"]
    return {
        **limits(low, high),
        "verdict": "pass" if inside else "fail" if outside else "inconclusive",
    }


def range_simultaneous(i):
    x, n = np.array(i["x"]), np.array(i["n"])
    crit = significance.tukey_critical(len(x), 0.95)
    low, high = contrasts.newcombe(x[:, None], n[:, None], x, n, crit)
    return {"crit": crit, "estimate": np.ptp(x / n), **limits(max(low.max(), 0), high.max())}


def noncentral(i):
    """Stat and p; the interval of the noncentrality itself follows from the two."""
    from scipy.special import chndtr

    stat, p = significance.homogeneity_table([i["a"], i["d"]])
    expected = VECTORS["ncx2_interval"]["expected"]
    assert p > 0.025  # hence the lower limit 0
    assert chndtr(stat, 2, expected["upper"]) == pytest.approx(0.025, abs=1e-9)
    return {"stat": stat, "p": p, **limits(0.0, expected["upper"])}


def plug_in(i):
    a, d = i["a"], i["d"]
    floor = distances.expected_divergence(np.array(a), np.array(d), "kl")
    values = {
        kind: of.between(np.array(a), np.array(d), Profile.DOCUMENTED)
        for kind, of in DISTANCES.items()
    }
    return {
        "KL_a_d": values["kl"], "JS": values["js"], "TVD": values["tvd"], "KS": values["ks"],
        "LP2": values["lp"], "KL_noise_floor": floor,
        "KL_bias_corrected": max(values["kl"] - floor, 0.0),
    }  # fmt: skip


def batch(i):
    tolerated = sequential.Tolerated(-i["tau"], i["tau"])
    a, d = tolerated.project(i["a_alt"], i["d_alt"], i["na"], i["nd"])
    counts = i["xa"], i["na"], i["xd"], i["nd"]
    e = sequential.e_value(tolerated, i["a_alt"], i["d_alt"], *counts)
    return {"e": e, "a_null": a, "d_null": d}


def validity(i):
    """sup over a 41 x 9 grid of the null, four designs: E[e] as an exact product."""
    worst = 0.0
    tolerated = sequential.Tolerated(-0.05, 0.05)
    base, shift = np.meshgrid(np.linspace(0, 1, 41), np.linspace(-0.05, 0.05, 9))
    for a, d, n_a, n_d in [
        (0.3, 0.42, 200, 100),
        (0.3, 0.15, 40, 20),
        (0.05, 0.2, 100, 400),
        (0.9, 0.8, 50, 50),
    ]:
        a0, d0 = tolerated.project(a, d, n_a, n_d)
        p, q = base, base + shift
        possible = (q >= 0) & (q <= 1)
        mean_a = p * a / a0 + (1 - p) * (1 - a) / (1 - a0)
        mean_d = q * d / d0 + (1 - q) * (1 - d) / (1 - d0)
        worst = max(worst, (mean_a**n_a * mean_d**n_d)[possible].max())
    assert worst <= 1 + 1e-9
    return {}


METHODS = {
    "Wilson score": lambda i: limits(*intervals.wilson(i["x"], i["n"], Z)),
    "Jeffreys (no boundary change)": lambda i: limits(*intervals.jeffreys(i["x"], i["n"], 0.95)),
    "Clopper-Pearson": lambda i: limits(*intervals.clopper_pearson(i["x"], i["n"], 0.95)),
    "Newcombe hybrid score p1-p2": lambda i: limits(*contrasts.newcombe(*sides(i), Z)),
    "Miettinen-Nurminen p1-p2": lambda i: limits(
        *contrasts.score_difference(*sides(i), Z, skewness=False)
    ),
    "Gart-Nam skewness-corrected score p1-p2, no N/(N-1)": lambda i: limits(
        *contrasts.score_difference(*sides(i), Z, small_sample=False)
    ),
    "Miettinen-Nurminen p1/p2": lambda i: limits(
        *contrasts.score_ratio(*sides(i), Z, skewness=False)
    ),
    "MOVER-R with Wilson limits p1/p2 (default DI)": lambda i: limits(
        *contrasts.mover_wilson_ratio(*sides(i), Z)
    ),
    "Gart-Nam skewness-corrected ratio": lambda i: limits(
        *contrasts.score_ratio(*sides(i), Z, small_sample=False)
    ),
    "TE = FNd/FPd - FNa/FPa, MOVER of Wilson odds": odds_contrast,
    "(TP+FN)/(TP+FP) Bonett-Price hybrid": lambda i: paired(i["TP"], i["FN"], i["FP"]),
    "DCA = ca - cd, MOVER of Bonett-Price limits": paired_contrast,
    "two-sided p by inverting Newcombe (default test)": lambda i: {
        "p": significance.newcombe_p(*sides(i))
    },
    "Boschloo two-sided": lambda i: {"p": significance.boschloo(*columns(i))},
    "E. Pearson N-1 chi-square": lambda i: {"p": significance.score_p(*rows(i), skewness=False)},
    "three-way verdict, 95% Newcombe vs [-tau,tau]": verdict,
    "Holm adjusted p": lambda i: {"adj": significance.holm(i["p"])},
    "max-min over groups: simultaneous (Tukey critical value) Newcombe range interval": (
        range_simultaneous
    ),
    "between-group variance, sampling variance removed: s^2 - mean p(1-p)/(n-1)": lambda i: dict(
        zip(("naive", "corrected"), significance.between_variance(i["x"], i["n"]), strict=True)
    ),
    "chi-square test all groups equal": lambda i: dict(
        zip(("stat", "p"), significance.homogeneity(i["x"], i["n"]), strict=True)
    ),
    "noncentrality interval from Pearson homogeneity chi-square": noncentral,
    "plug-in divergences (natural log)": plug_in,
    "batch e-value for H0 |pd-pa|<=tau against point alternative (a*,d*)": batch,
    "sup over the null of E[e] must be <=1": validity,
}


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_vector(name):
    vector = VECTORS[name]
    found = METHODS[vector["method"]](vector["inputs"])
    for key, value in found.items():
        expected = vector["expected"][key]
        if isinstance(expected, str):
            assert value == expected
        else:
            np.testing.assert_allclose(value, expected, rtol=0, atol=vector["tol"], err_msg=key)
    assert set(found) == set(vector["expected"]) or vector["method"].startswith("sup over")


def test_every_method_has_a_vector():
    assert set(METHODS) | NOT_IMPLEMENTED == {vector["method"] for vector in ALL}
