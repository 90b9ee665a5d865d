#!/usr/bin/env bash
# huggingface_hub 2.4.0: a model card joins the accuracies of two groups of one data set under the first group.
#
# Expected: two results, one with the arguments of women and one with those of men.
# Happens:  results are joined by task and data set without the arguments: men's accuracy stands under women.
# Seen on 30 November 2026: "2.4.0: {'group': 'women'} [0.7, 0.9]".
# fairgauge writes model cards of its own (CycloneDX), each number with its group (tests/unit/render/writers).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check huggingface_hub==2.4.0
cat > card.py <<'PY'
import huggingface_hub
from huggingface_hub import EvalResult
from huggingface_hub.repocard_data import eval_results_to_model_index

what = {"task_type": "tabular-classification", "dataset_type": "people", "dataset_name": "people", "metric_type": "accuracy"}
of_groups = {"women": 0.7, "men": 0.9}
results = [EvalResult(**what, metric_value=value, dataset_args={"group": group}) for group, value in of_groups.items()]
(found,) = eval_results_to_model_index("model", results)[0]["results"]
print(f"{huggingface_hub.__version__}: {found['dataset']['args']} {[each['value'] for each in found['metrics']]}")
PY
seen=$(venv/bin/python -W ignore card.py); echo "$seen"
[ "$seen" = "2.4.0: {'group': 'women'} [0.7, 0.9]" ]
