"""A contract of import-linter: what only its package uses is private, and stays so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph


class PrivateModules(Contract):
    """Modules whose names begin with an underscore are imported in their own package alone.

    And the reverse: a module that only its own package imports has such a name, unless it is
    listed as public, because users or other modules load it by its name.
    """

    type_name = "private"

    root = fields.StringField()
    public = fields.ListField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        problems = []
        for module in sorted(graph.modules):
            package, _, name = module.rpartition(".")
            if package == self.root or not package.startswith(self.root):
                continue
            importers = graph.find_modules_that_directly_import(module)
            outside = [i for i in sorted(importers) if not f"{i}.".startswith(f"{package}.")]
            if name.startswith("_"):
                problems += [f"{module} is private, and imported by {i}" for i in outside]
            elif importers and not outside and not self._is_public(module):
                problems.append(f"{module} is used by its package alone: name it _{name}")
        return ContractCheck(kept=not problems, metadata={"problems": problems})

    def _is_public(self, module: str) -> bool:
        return any(f"{module}.".startswith(f"{public}.") for public in self.public or ())

    def render_broken_contract(self, check: ContractCheck) -> None:
        for problem in check.metadata["problems"]:
            output.print_error(problem)
