"""Run by the SageMaker SDK's interpreter: configurations as the SDK makes them, printed as JSON.

They follow the shapes of the SDK's own tests and of public notebooks: formats, labels of every
type, facets by values and by thresholds, predictions in the data, beside them, and of a model.
The columns are those of ``loans.py``.
"""

import json
import sys
from types import SimpleNamespace

from sagemaker.core.clarify import (
    BiasConfig,
    DataConfig,
    ModelConfig,
    ModelPredictedLabelConfig,
    SegmentationConfig,
    SHAPConfig,
    _AnalysisConfigGenerator,
)
from sagemaker.core.model_monitor import BiasAnalysisConfig
from sagemaker.mlops.workflow.clarify_check_step import (
    ClarifyCheckStep,
    DataBiasCheckConfig,
    ModelBiasCheckConfig,
)

HEADERS = sys.argv[1].split(",")
NUMERIC = ["gender", "age", "income", "education", "label", "predicted"]
APART = [*(name for name in HEADERS if name not in ("label", "predicted")), "label", "predicted"]
"""The headers of JSON: the features, then the label and the predictions."""
LABELS = {
    "label": [1], "label_text": ["yes"], "label_bool": [True], "grade": ["A", "B"],
    "amount": [50.0],
}  # fmt: skip
"""Labels, and what is positive of each; its predictions are in the column ``predicted_...``."""
FACETS = {
    "by value": {"facet_name": "sex", "facet_values_or_threshold": ["F"]},
    "by number": {"facet_name": "gender", "facet_values_or_threshold": [1]},
    "by threshold": {"facet_name": "age", "facet_values_or_threshold": [40]},
    "by fraction": {"facet_name": "income", "facet_values_or_threshold": [48.5]},
    "several values": {"facet_name": "race", "facet_values_or_threshold": ["b", "c"]},
    "every value": {"facet_name": "race"},
    "several facets": {
        "facet_name": ["sex", "age", "race"],
        "facet_values_or_threshold": [["M"], [40], None],
    },
}


def data(label, headers=HEADERS, **more):
    return DataConfig(
        s3_data_input_path="s3://bucket/loans.csv", s3_output_path="s3://bucket/out", label=label,
        headers=headers, dataset_type=more.pop("dataset_type", "text/csv"), **more,
    )  # fmt: skip


def bias(data_config, bias_config, **more):
    more = {"pre_training_methods": "all", "post_training_methods": "all"} | more
    return _AnalysisConfigGenerator.bias(data_config, bias_config, None, None, **more)


def predicted_name(label):
    return f"predicted_{label.removeprefix('label_')}" if label != "label" else "predicted"


def configurations():
    for label, positive in LABELS.items():
        for name, facet in FACETS.items():
            asked = BiasConfig(label_values_or_threshold=positive, group_name="team", **facet)
            where = data(label, predicted_label=predicted_name(label))
            yield f"{label}, {name}", bias(where, asked)
    asked = BiasConfig([1], facet_name="gender", facet_values_or_threshold=[1])
    numeric = data("label", NUMERIC, predicted_label="predicted")
    yield "numbers alone", bias(numeric, asked)
    several = BiasConfig(
        label_values_or_threshold=[1],
        facet_name=["gender", "education"],
        facet_values_or_threshold=[[0], [3]],
    )
    yield "numbers alone, several facets", bias(numeric, several)
    yield "before training", _AnalysisConfigGenerator.bias_pre_training(data("label"), asked, "all")
    yield (
        "some methods",
        bias(
            data("label", predicted_label="predicted"), asked,
            pre_training_methods=["CI", "DPL", "KL"], post_training_methods=["DPPL", "DI", "AD"],
        ),
    )  # fmt: skip
    yield "no group", bias(data("label", predicted_label="predicted"), asked)
    yield (
        "excluded columns",
        bias(data("label", predicted_label="predicted", excluded_columns=["race", 0]), asked),
    )
    yield (
        "segments",
        bias(
            data(
                "label",
                predicted_label="predicted",
                segmentation_config=[SegmentationConfig("race", [["a"], ["b", "c"]])],
            ),
            asked,
        ),
    )
    yield (
        "json lines",
        bias(
            data(
                "label", APART, dataset_type="application/jsonlines", features="features",
                predicted_label="predicted",
            ),
            asked,
        ),
    )  # fmt: skip
    yield (
        "json",
        bias(
            data(
                "rows[*].label", APART, dataset_type="application/json",
                features="rows[*].features", predicted_label="rows[*].predicted",
            ),
            asked,
        ),
    )  # fmt: skip
    yield (
        "parquet",
        bias(
            data("label", dataset_type="application/x-parquet", predicted_label="predicted"), asked
        ),
    )
    model = ModelConfig(
        model_name="loans", instance_type="ml.c5.xlarge", instance_count=1, content_type="text/csv",
        accept_type="text/csv",
    )  # fmt: skip
    for name, reading in (
        ("scores", ModelPredictedLabelConfig(probability_threshold=0.6)),
        ("scores by position", ModelPredictedLabelConfig(probability=1, probability_threshold=0.6)),
        ("labels by position", ModelPredictedLabelConfig(label=0)),
    ):
        yield (
            f"a model's {name}",
            _AnalysisConfigGenerator.bias(
                data("label", NUMERIC[:-1]), asked, model, reading, "all", "all"
            ),
        )
    shap = SHAPConfig(baseline=[[0] * 4], num_samples=10, agg_method="mean_abs")
    yield (
        "with explanations",
        _AnalysisConfigGenerator.bias_and_explainability(
            data("label", NUMERIC[:-1]), model, ModelPredictedLabelConfig(label=0), shap, asked
        ),
    )


def checks():
    """Return what the steps of a pipeline that check for drift ask for."""
    asked = BiasConfig([1], facet_name="gender", facet_values_or_threshold=[1])
    model = ModelConfig(
        model_name="loans", instance_type="ml.c5.xlarge", instance_count=1, content_type="text/csv",
        accept_type="text/csv",
    )  # fmt: skip
    labels = ModelPredictedLabelConfig(probability=1, probability_threshold=0.6)
    for name, config in (
        ("a check of data", DataBiasCheckConfig(data("label"), asked, methods="all")),
        (
            "a check of a model",
            ModelBiasCheckConfig(data("label", NUMERIC[:-1]), asked, model, labels, "all"),
        ),
    ):
        step = SimpleNamespace(clarify_check_config=config)
        yield name, ClarifyCheckStep._generate_processing_job_analysis_config(step)


def monitors():
    asked = BiasConfig(
        label_values_or_threshold=[1], facet_name=["gender", "age"],
        facet_values_or_threshold=[[1], [40]], group_name="education",
    )  # fmt: skip
    headers = ["label", *NUMERIC[:4]]
    yield "monitor", BiasAnalysisConfig(asked, headers=headers, label="label")._to_dict()


every = [*configurations(), *checks()]
print(json.dumps({"configurations": every, "monitors": list(monitors())}))
