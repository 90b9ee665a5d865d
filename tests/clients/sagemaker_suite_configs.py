"""Run by the SageMaker SDK's interpreter: configurations as others have written them, as JSON.

The first are those of the SDK's own unit tests, the second follow public notebooks, workshops and
pipelines. Every one has its table: names of columns, each with the column of ``loans.py`` that it
holds. A table without a header row has the names that its columns get from their positions.
"""

import json
from types import SimpleNamespace

from sagemaker.core.clarify import (
    BiasConfig,
    DataConfig,
    ModelConfig,
    ModelPredictedLabelConfig,
    PDPConfig,
    SegmentationConfig,
    SHAPConfig,
    _AnalysisConfigGenerator,
)
from sagemaker.mlops.workflow.clarify_check_step import (
    ClarifyCheckStep,
    DataBiasCheckConfig,
    ModelBiasCheckConfig,
)

ALL = {"pre_training_methods": "all", "post_training_methods": "all"}
MODEL = {"model_name": "loans", "instance_type": "ml.m5.xlarge", "instance_count": 1}
CSV, LINES, DOCUMENT = "text/csv", "application/jsonlines", "application/json"
PARQUET = "application/x-parquet"


def data(**more):
    return DataConfig("s3://bucket/in", "s3://bucket/out", **more)


def asked(positive, facet, values=None, group=None):
    return BiasConfig(positive, facet, values, group)


def bias(where, about, model=None, reading=None, **methods):
    return _AnalysisConfigGenerator.bias(where, about, model, reading, **(methods or ALL))


def before(where, about, methods="all"):
    return _AnalysisConfigGenerator.bias_pre_training(where, about, methods)


def after(where, about, reading, model=None, methods="all"):
    return _AnalysisConfigGenerator.bias_post_training(where, about, reading, methods, model)


def check(config):
    """Return what a step of a pipeline that checks for drift asks for."""
    step = SimpleNamespace(clarify_check_config=config)
    return ClarifyCheckStep._generate_processing_job_analysis_config(step)


FEATURES = {
    "Label": "label",
    "F1": "gender",
    "F2": "education",
    "F3": "income",
    "F4": "row",
    "Predicted Label": "predicted",
}
HEADERS = list(FEATURES)
WITHOUT = {name: column for name, column in FEATURES.items() if name != "Predicted Label"}
SEVERAL = {
    "Label": "label",
    "Category": "race",
    "Feature1": "gender",
    "Feature3": "score",
    "Income": "income",
}
FACETS = (
    ("Feature1", [1]),
    ("Feature1", None),
    (1, ["category1, category2"]),
    (1, None),
    ("Feature3", [0.5]),
    (["Feature1", 1, "Feature3"], [[1], ["category1, category2"], [0.5]]),
    (["Feature1", 1, "Feature3"], None),
    (["Feature1", 1, "Feature3"], [[1], None, [0.5]]),
)
SEGMENTS = (
    ([[0]], None, None),
    ([[0], ["[1, 3)", "(5, 10]"]], None, None),
    ([[0], ["[1, 3)", "(5, 10]"]], "config1", None),
    ([["1", "2"]], "config1", ["seg1"]),
    ([["1", "2"]], "config1", ["seg1", "default_seg"]),
)
FRAUD = {"fraud": "label", "customer_gender_female": "gender", "income": "income", "age": "age"}


def of_the_unit_tests():
    """Yield the configurations of the SDK's own tests of Clarify, its monitor and its steps."""
    usual = asked([1], "F1", None, "F2")
    joined = data(label="Label", headers=HEADERS[:5], dataset_type=CSV, joinsource="F4")
    by_name = ModelPredictedLabelConfig(probability="pr", label_headers=["success"])
    segment = [SegmentationConfig("F1", [[0]], "c1", ["a1"])]
    for kind, features, label, predicted in (
        (CSV, None, "Label", "Predicted Label"),
        (LINES, "features", "Label", "predicted"),
        (DOCUMENT, "[*].[F1,F2,F3]", "[*].Label", '[*]."Predicted Label"'),
        (PARQUET, None, "Label", "Predicted Label"),
    ):
        names = HEADERS if kind in (CSV, PARQUET) else ["F1", "F2", "F3", "Label", HEADERS[-1]]
        where = data(
            label=label,
            features=features,
            headers=names,
            dataset_type=kind,
            excluded_columns=["F4"] if "F4" in names else None,
            predicted_label=predicted,
            segmentation_config=segment,
        )
        yield f"data config of {kind}", FEATURES, bias(where, usual)
    for i, (facet, values) in enumerate(FACETS):
        where = data(label="Label", headers=list(SEVERAL), dataset_type=CSV)
        about = asked([1], facet, values)
        yield f"facet of bias config {i}", SEVERAL, bias(where, about, ModelConfig(**MODEL))
    for i, (values, name, shown) in enumerate(SEGMENTS):
        segments = [SegmentationConfig("F2", values, name, shown)]
        where = data(
            label="Label",
            headers=HEADERS,
            predicted_label="Predicted Label",
            segmentation_config=segments,
        )
        yield f"segmentation config {i}", FEATURES, bias(where, usual)
    bare_threshold = asked([1], "F1", 0.3, "F2")
    table = {"Label": "label", "F1": "score", "F2": "education", "F3": "income", "F4": "age"}
    where = data(label="Label", headers=HEADERS[:5])
    yield "a threshold that is no list", table, before(where, bare_threshold)
    yield "pre-training bias", WITHOUT, before(joined, usual)
    yield (
        "post-training bias",
        WITHOUT,
        after(joined, usual, ModelPredictedLabelConfig(), ModelConfig(**MODEL)),
    )
    yield "a probability by name", WITHOUT, bias(joined, usual, ModelConfig(**MODEL), by_name)
    for name, model in (
        ("a model", ModelConfig(**MODEL)),
        ("an endpoint", ModelConfig(endpoint_name="existing")),
    ):
        found = _AnalysisConfigGenerator.bias_and_explainability(
            joined, model, ModelPredictedLabelConfig(), [SHAPConfig(), PDPConfig()], usual, **ALL
        )
        yield f"bias and explanations of {name}", WITHOUT, found
    apart = data(
        label="Label",
        headers=HEADERS[:5],
        dataset_type=CSV,
        predicted_label_dataset_uri="s3://bucket/predicted.csv",
        predicted_label_headers=["PredictedLabel"],
        predicted_label="PredictedLabel",
    )
    reading = ModelPredictedLabelConfig(probability="pr", probability_threshold=0.8)
    yield "predicted labels apart", WITHOUT, bias(apart, usual, None, reading)
    facets = data(
        label="Label",
        headers=HEADERS[:5],
        dataset_type=CSV,
        joinsource=4,
        facet_dataset_uri="s3://bucket/facets.csv",
        facet_headers=["Age", "F4"],
        predicted_label_dataset_uri="s3://bucket/predicted.csv",
        predicted_label_headers=["predicted_label", "F4"],
        predicted_label="predicted_label",
        excluded_columns="F3",
    )
    yield "facets and predicted labels apart", WITHOUT, bias(facets, asked([1], "Age", [40]))
    female = asked([0], "customer_gender_female", [1])
    bare = data(label="fraud", dataset_type=CSV)
    yield "a check of data", FRAUD, check(DataBiasCheckConfig(bare, female, methods="all"))
    scores = ModelPredictedLabelConfig(probability_threshold=0.8)
    csv = ModelConfig(**MODEL, accept_type=CSV, content_type=CSV)
    model_check = ModelBiasCheckConfig(bare, female, csv, scores, "all")
    yield "a check of a model", FRAUD, check(model_check)
    monitored = data(label="Label", headers=["F1", "F2", "F3", "Label"], dataset_type=CSV)
    table = {"F1": "score", "F2": "education", "F3": "income", "Label": "label"}
    about = asked([1], "F1", [0.3], "F2")
    yield "a monitor's baseline", table, bias(monitored, about, csv, scores)


ADULT = {
    "Target": "label",
    "Age": "age",
    "Workclass": "team",
    "Education-Num": "education",
    "Ethnic group": "race",
    "Sex": "gender",
    "Capital Gain": "income",
}
NUMBERS = {
    "Target": "label",
    "Age": "age",
    "Education-Num": "education",
    "Sex": "gender",
    "Capital Gain": "income",
}
CHURN = {"Churn": "label", "Account Length": "age", "Day Mins": "income", "Int'l Plan": "gender"}
ABALONE = {
    "rings": "education",
    "length": "score",
    "whole_weight": "income",
    "sex_M": "gender_float",
    "predicted_rings": "predicted_education",
}
CREDIT = {
    "credit_risk": "label",
    "age": "age",
    "personal_status_sex": "sex",
    "housing": "team",
    "credit_amount": "income",
}
HOME_LOAN = {
    "loan_status": "label_text",
    "gender": "gender",
    "self_employed": "predicted",
    "income": "income",
}
REVIEWS = {"star_rating": "education", "product_category": "race", "helpful": "income"}
DIABETES = {"race": "race", "label": "label", "prediction": "predicted", "stay": "income"}
BANK = {
    "age": "age",
    "marital": "race",
    "education": "team",
    "duration": "income",
    "y": "label_text",
}
ENCODED = {
    "income": "label_float",
    "onehotencoder__industry code_ Agriculture": "gender_float",
    "standardscaler__age": "income",
}
HEART = {"Age": "age", "Sex": "sex", "Cholesterol": "income", "HeartDisease": "label"}
CLAIMS = {
    "label": "amount",
    "age_group": "team",
    "income": "income",
    "predicted": "predicted_amount",
}


def of_notebooks():
    """Yield configurations that follow public notebooks."""
    scores = ModelPredictedLabelConfig(probability_threshold=0.8)
    csv = ModelConfig(**MODEL, accept_type=CSV, content_type=CSV)
    sex = asked([1], "Sex", [0], "Age")
    headers, numbers = list(ADULT), list(NUMBERS)
    adult = data(label="Target", headers=numbers, dataset_type=CSV)
    yield "census, CSV, scores", NUMBERS, bias(adult, sex, csv, scores)
    yield "census, before training", NUMBERS, before(adult, sex)
    yield "census, after training", NUMBERS, after(adult, sex, scores, csv)
    half = ModelPredictedLabelConfig(probability_threshold=0.5)
    yield (
        "census, one metric, in a pipeline",
        NUMBERS,
        check(ModelBiasCheckConfig(adult, sex, csv, half, ["DPPL"])),
    )
    yield (
        "census, women of label 0",
        NUMBERS,
        bias(adult, asked([0], "Sex", [0], "Age"), csv, scores),
    )
    yield "census, no group", NUMBERS, bias(adult, asked([1], "Sex", [0]), csv, scores)
    yield "census, no facet value", NUMBERS, bias(adult, asked([1], "Sex"), csv, scores)
    yield (
        "census, two facets",
        NUMBERS,
        bias(adult, asked([1], ["Sex", "Age"], [[0], [40]]), csv, scores),
    )
    yield "census, facet by position", NUMBERS, bias(adult, asked([1], 3, [0]), csv, scores)
    yield (
        "census, texts",
        ADULT,
        before(
            data(label="Target", headers=headers), asked([1], "Ethnic group", ["b"], "Workclass")
        ),
    )
    yield (
        "census, several texts",
        ADULT,
        before(data(label="Target", headers=headers), asked([1], "Ethnic group", ["b", "c"])),
    )
    apart = data(
        label="Target",
        headers=numbers,
        dataset_type=CSV,
        predicted_label_dataset_uri="s3://bucket/predicted.csv",
        predicted_label_headers=["Predicted_label"],
        predicted_label="Predicted_label",
        facet_dataset_uri="s3://bucket/facets.csv",
        facet_headers=["Ethnic group", "Person"],
    )
    yield (
        "census, facets and predictions apart",
        NUMBERS,
        bias(apart, asked([1], "Person", ["F"], "Age"), None, scores),
    )
    features = '[*].["Age","Education-Num","Sex","Capital Gain"]'
    last = [*numbers[1:], "Target"]
    document = data(features=features, label="[*].Target", headers=last, dataset_type=DOCUMENT)
    instances = ModelConfig(
        endpoint_name="census",
        content_type=DOCUMENT,
        accept_type=DOCUMENT,
        content_template='{"instances":$records}',
        record_template='{"features":$features}',
    )
    both = ModelPredictedLabelConfig("predictions[*].predicted_label", "predictions[*].score")
    yield "census, JSON", NUMBERS, bias(document, sex, instances, both)
    labels = ModelPredictedLabelConfig("predictions[*].predicted_label")
    yield "census, JSON, labels alone", NUMBERS, bias(document, sex, instances, labels)
    probability = ModelPredictedLabelConfig(
        probability="predictions[*].score", probability_threshold=0.7
    )
    yield "census, JSON, scores alone", NUMBERS, bias(document, sex, instances, probability)
    lines = data(features="features", label="label", headers=last, dataset_type=LINES)
    streamed = ModelConfig(
        **MODEL, content_type=LINES, accept_type=LINES, content_template='{"features":$features}'
    )
    yield (
        "census, JSON lines",
        NUMBERS,
        bias(lines, sex, streamed, ModelPredictedLabelConfig("predicted_label")),
    )
    yield (
        "census, JSON lines, scores",
        NUMBERS,
        bias(
            lines,
            sex,
            streamed,
            ModelPredictedLabelConfig(probability="score", probability_threshold=0.6),
        ),
    )
    yield (
        "census, columns of parquet",
        NUMBERS,
        before(data(label="Target", headers=numbers, dataset_type=PARQUET), sex),
    )

    churn = data(label="Churn", headers=list(CHURN), dataset_type=CSV)
    length = asked([1], "Account Length", [60])
    yield "churn, a threshold of a facet", CHURN, bias(churn, length, csv, scores)
    first = ModelPredictedLabelConfig(probability=0, probability_threshold=0.8)
    yield "churn, score by position", CHURN, bias(churn, length, csv, first)
    yield (
        "churn, a name with a quotation mark",
        CHURN,
        before(churn, asked([1], "Int'l Plan", [1])),
    )

    fraud = data(label="fraud", dataset_type=CSV)
    female = asked([0], "customer_gender_female", [1])
    half = ModelPredictedLabelConfig(probability_threshold=0.5)
    yield "fraud, header in the file", FRAUD, before(fraud, female)
    yield "fraud, a model", FRAUD, bias(fraud, female, csv, half)
    yield (
        "fraud, chosen metrics",
        FRAUD,
        before(data(label="fraud", headers=list(FRAUD)), female, ["CI", "DPL", "KL", "JS"]),
    )

    bare = data(label=0, dataset_type=CSV)
    threshold = asked([3.0], [3], [[0.5]])
    columns = {str(i): column for i, column in enumerate(ABALONE.values())}
    yield "abalone, no names at all", columns, check(DataBiasCheckConfig(bare, threshold))
    yield (
        "abalone, no values of a facet",
        columns,
        check(DataBiasCheckConfig(bare, asked([1], [3]))),
    )
    yield (
        "abalone, label by position",
        ABALONE,
        before(data(label=0, headers=list(ABALONE)), asked([1], "sex_M", [0])),
    )
    yield (
        "abalone, labels above a threshold",
        ABALONE,
        bias(
            data(label="rings", predicted_label="predicted_rings", dataset_type=CSV),
            asked([3], "sex_M", [0.5]),
        ),
    )

    credit = data(label="credit_risk", headers=list(CREDIT), dataset_type=CSV)
    at_first = ModelPredictedLabelConfig(label=None, probability=0)
    old = asked([1], "age", [40], "personal_status_sex")
    yield "credit, age above 40", CREDIT, bias(credit, old, ModelConfig(**MODEL), at_first)
    yield "credit, every group", CREDIT, before(credit, asked([1], "housing"))

    homes = data(label="loan_status", headers=list(HOME_LOAN), dataset_type=CSV)
    yield (
        "home loans, labels of text",
        HOME_LOAN,
        before(homes, asked(["yes"], ["gender", "self_employed"], [[0], [1]])),
    )
    stars = data(label="star_rating", headers=list(REVIEWS), dataset_type=CSV)
    category = asked([5, 4], "product_category", ["b"], "product_category")
    yield "reviews, the facet as group", REVIEWS, before(stars, category)
    yield (
        "reviews, several metrics",
        REVIEWS,
        before(stars, asked([5, 4], "product_category", ["b"]), ["CI", "DPL", "LP", "TVD", "KS"]),
    )
    labelled = data(label="label", headers=list(DIABETES), predicted_label="prediction")
    yield (
        "readmission, predictions in the data",
        DIABETES,
        bias(labelled, asked([1], "race", ["b"])),
    )
    yield (
        "readmission, every race",
        DIABETES,
        bias(labelled, asked([1], "race")),
    )
    yield (
        "readmission, an empty list of values",
        DIABETES,
        bias(labelled, asked([1], "race", [])),
    )
    bank = data(label="y", headers=list(BANK), dataset_type=CSV)
    yield (
        "marketing, every status",
        BANK,
        before(bank, asked(["yes"], "marital", None, "education")),
    )
    yield "marketing, age", BANK, before(bank, asked(["yes"], "age", [40], "education"))
    encoded = data(label="income", dataset_type=CSV)
    industry = asked([0.0], ["onehotencoder__industry code_ Agriculture"], [[1]])
    yield "census, encoded columns", ENCODED, check(DataBiasCheckConfig(encoded, industry))
    heart = data(label="HeartDisease", dataset_type=CSV)
    yield (
        "heart, a list of one facet",
        HEART,
        check(DataBiasCheckConfig(heart, asked([1], ["Sex"]))),
    )
    claims = data(label="label", headers=list(CLAIMS), predicted_label="predicted")
    yield "claims, amounts", CLAIMS, bias(claims, asked([50.0], "age_group", ["north"]))
    yield "claims, a range of amounts", CLAIMS, bias(claims, asked([45], "income", [52.5]))


CONTENT_AND_ACCEPT = (
    (CSV, CSV),
    (LINES, LINES),
    (CSV, DOCUMENT),
    (LINES, DOCUMENT),
    (LINES, CSV),
    (DOCUMENT, DOCUMENT),
    (DOCUMENT, LINES),
    (DOCUMENT, CSV),
    ("image/jpeg", CSV),
    ("image/jpg", CSV),
    ("image/png", CSV),
    ("application/x-npy", CSV),
)


def of_content_types():
    """Yield a configuration for every pair of types that the SDK's own tests take for valid."""
    where = data(label="label", headers=["label", "sex"], dataset_type=CSV)
    templates = {
        LINES: {"content_template": '{"instances":$features}'},
        DOCUMENT: {"content_template": "$records", "record_template": '{"x":$features}'},
    }
    for content, accept in CONTENT_AND_ACCEPT:
        more = templates.get(content, {})
        model = ModelConfig(**MODEL, content_type=content, accept_type=accept, **more)
        yield bias(where, asked([1], "sex"), model, ModelPredictedLabelConfig(label="x"))


def listed(found):
    return [{"name": name, "table": table, "config": config} for name, table, config in found]


print(
    json.dumps(
        {
            "suite": listed(of_the_unit_tests()),
            "notebooks": listed(of_notebooks()),
            "content types": list(of_content_types()),
        }
    )
)
