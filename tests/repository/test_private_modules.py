"""The contract of private modules finds both mistakes, in a graph made for it."""

import pytest
from grimp import ImportGraph
from tests.repository.private_modules import PrivateModules

OPTIONS = {"root": "p", "public": ["p.b.shown"]}


@pytest.mark.parametrize(
    ("importer", "imported", "problems"),
    [
        ("p.a.x", "p.b._hidden", ["p.b._hidden is private, and imported by p.a.x"]),
        ("p.b.y", "p.b._hidden", []),
        ("p.b", "p.b._hidden", []),
        ("p.b.y", "p.b.seen", ["p.b.seen is used by its package alone: name it _seen"]),
        ("p.b.y", "p.b.shown", []),
        ("p.a.x", "p.b.seen", []),
        ("p.bb.x", "p.b._hidden", ["p.b._hidden is private, and imported by p.bb.x"]),
    ],
)
def test_modules_are_private_where_only_their_package_uses_them(
    importer: str, imported: str, problems: list[str]
) -> None:
    graph = ImportGraph()
    graph.add_import(importer=importer, imported=imported)
    contract = PrivateModules(name="private", session_options={}, contract_options=OPTIONS)
    check = contract.check(graph, verbose=False)
    assert check.metadata["problems"] == problems
    assert check.kept is not bool(problems)
