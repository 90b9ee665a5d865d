"""A contract of import-linter: what only its package uses is private, and stays so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph


class PublicNames(Contract):
    """Packages beside ours import the modules of ours that are public, and no others."""

    type_name = "public_names"

    plug_ins = fields.ListField(subfield=fields.StringField())
    public = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        root = self.public[0]
        problems = [
            f"{module} imports {imported}, which is not public"
            for module in sorted(graph.modules)
            if module.partition(".")[0] in self.plug_ins
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if f"{imported}.".startswith(f"{root}.") and imported not in self.public
        ]
        return ContractCheck(kept=not problems, metadata={"problems": problems})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for problem in check.metadata["problems"]:
            output.print_error(problem)


class PrivateModules(Contract):
    """Modules whose names begin with an underscore are imported in their own package alone.

    And the reverse: a module that only its own package imports has such a name, unless it is
    listed as public, because users or other modules load it by its name.
    """

    type_name = "private"

    root = fields.StringField()
    public = fields.ListField(subfield=fields.StringField(), required=False)
    facade = fields.StringField(required=False)
    """The module that gives single names of private modules to others."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        problems = []
        for module in sorted(graph.modules):
            package, _, name = module.rpartition(".")
            if not package.startswith(f"{self.root}."):
                continue
            importers = graph.find_modules_that_directly_import(module)
            outside = [i for i in sorted(importers) if not f"{i}.".startswith(f"{package}.")]
            if name.startswith("_"):
                others = [i for i in outside if i != self.facade]
                problems += [f"{module} is private, and imported by {i}" for i in others]
            elif importers and not outside and not self._is_public(module):
                problems.append(f"{module} is used by its package alone: name it _{name}")
        return ContractCheck(kept=not problems, metadata={"problems": problems})

    def _is_public(self, module: str) -> bool:
        return any(f"{module}.".startswith(f"{public}.") for public in self.public or ())

    def render_broken_contract(self, check: ContractCheck) -> None:
        for problem in check.metadata["problems"]:
            output.print_error(problem)
