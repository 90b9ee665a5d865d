"""Bias configurations that Vertex AI's own client writes select the rows that they describe."""

import json
from typing import Any

import numpy as np
from client_libraries import ask

FEWEST = 30


def rows() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    return [
        {
            "state": str(rng.choice(["California", "Florida"])),
            "age": int(rng.choice([20, 25, 30, 39, 40, 41])),
            "income": float(rng.choice([0.1, 0.3, 0.5, 0.7, 0.9])),
            "y": str(rng.integers(0, 3)),
            "predicted_y": str(rng.integers(0, 3)),
        }
        for _ in range(300)
    ]


def inside(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    for feature, value in wanted.items():
        if isinstance(value, list):
            low, high = np.float32(value)
            if not low <= np.float32(row[feature]) < high:
                return False
        elif row[feature] != value:
            return False
    return True


def test_every_configuration_of_the_client(folder: Any) -> None:
    table = rows()
    folder.lines("predictions.jsonl", table)
    written = ask("vertex", "vertex_configs.py")
    assert len(written) >= FEWEST
    for form, wanted, labels, config in written:
        asked = {
            "target_field_name": "y",
            "predictions_gcs_source": "predictions.jsonl",
            "bias_configs": [config],
        }
        result = folder.run("vertex", folder.json("bias.json", asked))
        assert result.exit_code == 0, (form, config, result.output)
        (found,) = [json.loads(line) for line in result.stdout.splitlines()]
        where = (form, wanted, labels)
        sides = {True: [0, 0, 0], False: [0, 0, 0]}
        for row in table:
            counts = sides[inside(row, wanted)]
            counts[0] += 1
            counts[1] += row["y"] in labels
            counts[2] += (row["y"] in labels) == (row["predicted_y"] in labels)
        (n, positive, right), (m, positive_m, right_m) = sides[True], sides[False]
        metrics = found["data_bias"]["metrics"] | found["model_bias"][0]["metrics"]
        expected = {
            "vertex.difference_in_population_size": (n - m) / (n + m),
            "vertex.dpptl": positive / n - positive_m / m,
            "vertex.accuracy_difference": right / n - right_m / m,
        }
        assert found["labels"] == labels, where
        for name, number in expected.items():
            assert abs(metrics[name] - number) < 1e-12, (where, name)
