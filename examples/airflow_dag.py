"""An Airflow DAG that audits each day's decisions, and stops before they are used."""

from __future__ import annotations

import pendulum
from airflow.sdk import dag, task


@dag(schedule="@daily", start_date=pendulum.datetime(2026, 1, 1), catchup=False)
def lending() -> None:
    """Audit the decisions of a day, then publish them."""

    @task
    def audit(day: str) -> str:
        """Write the report, and fail where a rule is not met."""
        import fairgauge as fg

        report = fg.audit(
            f"decisions/{day}.parquet",
            label="repaid",
            prediction="approved",
            positive="yes",
            sensitive=["sex", fg.cut("age", [40])],
            rules=["selection_rate.ratio >= 0.8"],
        )
        report.save(f"reports/{day}.html")
        report.save(f"reports/{day}.json")
        report.check(inconclusive="pass")  # a day may be too short to decide
        return str(report.verdict)

    @task
    def publish(verdict: str) -> None:
        """Hand the decisions on."""
        print(f"audited: {verdict}")

    publish(audit("{{ ds }}"))


lending()
