"""The rules of the audit as a table: a row for each rule and group."""


def model(dbt, session):
    """Audit the predictions of the warehouse; dbt-duckdb gives them as a relation."""
    import fairgauge as fg

    report = fg.audit(
        dbt.ref("predictions"),
        label="repaid",
        prediction="approved",
        positive="yes",
        sensitive="sex",
        rules=["selection_rate.ratio >= 0.8", "accuracy >= 0.6"],
    )
    return report.to_pandas("verdicts")
