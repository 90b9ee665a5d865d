"""Great Expectations: the verdicts of an audit as a table, each of which is expected to pass."""

from __future__ import annotations

import great_expectations as gx
import great_expectations.expectations as gxe

import fairgauge as fg

report = fg.audit(
    "predictions.csv",
    label="repaid",
    prediction="approved",
    positive="yes",
    sensitive="sex",
    rules=["selection_rate.ratio >= 0.8", "accuracy >= 0.6"],
)

batch = (
    gx.get_context()
    .data_sources.add_pandas("audits")
    .add_dataframe_asset("verdicts")
    .add_batch_definition_whole_dataframe("all")
    .get_batch({"dataframe": report.to_pandas("verdicts")})
)
suite = gx.ExpectationSuite(
    "groups are treated alike",
    expectations=[
        gxe.ExpectTableRowCountToBeBetween(min_value=1),  # an audit without rules decides nothing
        gxe.ExpectColumnValuesToBeInSet(column="outcome", value_set=["pass"]),
    ],
)
names = ["rule", "feature", "group", "reason"]
details = {"result_format": "COMPLETE", "unexpected_index_column_names": names}
result = batch.validate(suite, result_format=details)
for expectation in result.results:
    for verdict in expectation.result.get("unexpected_index_list") or []:
        print(*(verdict[name] for name in ("outcome", *names)))
raise SystemExit(not result.success)
