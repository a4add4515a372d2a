"""What the parts of an evaluator have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator


class Component:
    """A part of an `Evaluator`, which asks the others by way of it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.solver = evaluator.solver
        self.bounds = self.solver.bounds
        program = self.program
        self.home, self.file, self.named = program.home, program.file, program.named
        self.definition, self.mentioning = program.definition, program.mentioning
        self.place, self.scope = program.place, program.scope
        self.values, self.union = evaluator.values, evaluator.union
        self.solve = self.solver.solve
        evaluator.parts.append(self)

    def connect(self) -> None:
        """Take the other parts of the evaluator that are asked most, once all are there."""
        evaluator = self.evaluator
        self.members = evaluator.members
        self.calls = evaluator.calls
        self.containers = evaluator.containers
        self.typed = evaluator.typed
        self.annotations = evaluator.annotations
        self.names = evaluator.names
        self.summaries = evaluator.summaries
        self.sites = evaluator.sites
        self.modules = evaluator.modules
        self.class_members = evaluator.class_members
        self.bodies = evaluator.bodies
        self.inheritance = evaluator.inheritance
        self.open_classes = evaluator.open_classes
        self.stores = evaluator.stores
        self.callbacks = evaluator.callbacks
        self.generics = evaluator.generics
