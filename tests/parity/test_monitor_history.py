"""The history of a monitor as a table that is partitioned by period."""

from engines import spark_session

import fairgauge as fg


def test_spark_reads_the_history_as_a_partitioned_table(tmp_path):
    history = fg.History(tmp_path)
    for i in (1, 2, 3):
        women, men = {"tp": 40, "fn": 60 + i}, {"tp": 80, "fn": 120}
        history.add(f"2026-01-0{i}", fg.confusion("sex", {"F": women, "M": men}))
    table = spark_session().read.json(str(tmp_path))
    rows = table.selectExpr("cast(period as string)", "rows").orderBy("period").collect()
    assert [tuple(row) for row in rows] == [(f"2026-01-0{i}", 300 + i) for i in (1, 2, 3)]
