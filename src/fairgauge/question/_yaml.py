"""YAML read by the rules of YAML 1.2, as `file_formats` describes them."""

from __future__ import annotations

import re
from collections.abc import Hashable

import yaml

from fairgauge.errors import quote


def read_yaml(text: str) -> object:
    """Read a text."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{error.problem}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


class _Loader(yaml.SafeLoader):
    """YAML 1.2's plain values, no key twice, no aliases (which could make a file explode)."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"aliases (*name) are not supported, line {mark.line + 1}")
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: ARG002
    ) -> dict[Hashable, object]:
        found: dict[Hashable, object] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            line = key_node.start_mark.line + 1
            if key is None:
                raise yaml.YAMLError(f"a key must be text, line {line}")
            if key in found:
                raise yaml.YAMLError(f"the key {quote(key)} is given twice, line {line}")
            found[key] = self.construct_object(value_node, deep=True)
        return found


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf)|\.(?:nan|NaN)",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
    )
