"""Run by the interpreter of Vertex AI's client: bias configurations in each of its JSON forms."""

import json

from google.cloud.aiplatform_v1beta1.types import ModelEvaluation, ModelEvaluationSlice
from google.protobuf.json_format import MessageToDict, MessageToJson

Spec = ModelEvaluationSlice.Slice.SliceSpec
Config = ModelEvaluation.BiasConfig


def value(wanted):
    """Return what the protocol calls a value, or a range."""
    if isinstance(wanted, tuple):
        return Spec.SliceConfig(range_=Spec.Range(low=wanted[0], high=wanted[1]))
    if isinstance(wanted, str):
        return Spec.SliceConfig(value=Spec.Value(string_value=wanted))
    return Spec.SliceConfig(value=Spec.Value(float_value=wanted))


SLICES = (
    {"state": "California"}, {"age": 30}, {"age": (20, 40)},
    {"age": (20.5, 40.25), "state": "California"},
    {"income": (0.1, 0.7)},
)  # fmt: skip
LABELS = (["1"], ["1", "2"])
FORMS = {
    "text": lambda config: MessageToJson(Config.pb(config)),
    "text, names kept": lambda config: MessageToJson(
        Config.pb(config), preserving_proto_field_name=True
    ),
    "object": lambda config: MessageToDict(Config.pb(config)),
    "to_dict": lambda config: Config.to_dict(config),
    "to_json": lambda config: Config.to_json(config),
}

print(
    json.dumps(
        [
            [
                form,
                {name: list(w) if isinstance(w, tuple) else w for name, w in wanted.items()},
                labels,
                write(
                    Config(
                        bias_slices=Spec(configs={n: value(w) for n, w in wanted.items()}),
                        labels=labels,
                    )
                ),
            ]
            for wanted in SLICES
            for labels in LABELS
            for form, write in FORMS.items()
        ]
    )
)
