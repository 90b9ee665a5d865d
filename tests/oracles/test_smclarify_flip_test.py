"""smclarify's flip test on hmda, exactly; elsewhere its own ties make it depend on row order."""

from typing import Any

import fairgauge as fg

FEATURES = ["pirat", "lvrat", "chist", "mhist", "unemp"]


def facet(entry: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return what is sensitive and the names of its groups."""
    column, listed = entry["facet"], entry["sensitive_values"]
    if listed is None:
        return column, [str(each["value_or_threshold"]) for each in entry["post"]["value"]]
    return fg.cut(column, listed), [f"({listed[0]:g}, inf)"]


def test_flip_test_of_hmda(shared: Any, table: Any, ledger: Any) -> None:
    book, frame = ledger("smclarify"), table("hmda_pred")
    for entry in shared.oracle("hmda_pred__smclarify.json")["reports"]:
        sensitive, groups = facet(entry)
        facet_column = entry["facet"]
        report = fg.audit(
            frame,
            label="deny",
            prediction="prediction",
            positive=entry["positive_label_values"],
            sensitive=sensitive,
            features=[name for name in FEATURES if name != facet_column],
            metrics="FT",
            profile="clarify",
        )
        for group, block in zip(groups, entry["post"]["value"], strict=True):
            (theirs,) = [m["value"] for m in block["metrics"] if m["name"] == "FT"]
            book.same(report["FT", facet_column, group].value, theirs, f"{entry['id']} {group}")
    book.settle(5)
    turned = frame.sample(frac=1, random_state=7)
    again = fg.audit(
        turned,
        label="deny",
        prediction="prediction",
        positive="no",
        sensitive="afam",
        features=FEATURES,
        metrics="FT",
        profile="clarify",
    )
    assert round(again["FT", "afam", "yes"].value, 12) == round(-27 / 171, 12)
