"""The bodies that make up a class: its own, other parts of it, extensions; and whose a body is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    EXTENSION,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Inside, Place
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

EXTENSION_KINDS = (Kind.EXTENSION,)


class ClassBodies(Component):
    """The places where the members of classes are written."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self._known: dict[ClassObject, list[Inside]] = {}

    def class_of(self, file: File, position: int) -> ClassObject | None:
        """The class that a class-like definition means; an extension means the class it extends."""
        scope = file.body(position)
        if scope is None or not scope.flags & EXTENSION:
            return self.open_classes.whole(file, position)
        return self._received_by(file, position)

    def around(self, file: File, position: int) -> ClassObject | None:
        """The class that a definition stands in."""
        owner = file.owner_class(position)
        return self.class_of(file, owner) if owner >= 0 else None

    def owner_of_method(self, file: File, position: int) -> ClassObject | None:
        """The class whose method a definition is, wherever it is written."""
        scope = file.body(position)
        if scope is None or scope.flags & EXTENSION or file.kind(position) != Kind.METHOD:
            return None
        if file.owner_class(position) >= 0:
            return self.around(file, position)
        return self._received_by(file, position)

    def of(self, owner: ClassObject) -> Iterable[Inside]:
        """The bodies that hold the members of a class."""
        known = self._known.get(owner)
        if known is None:
            file = self.home(owner)
            known = [
                (self.file(at), position)
                for at, position in self.open_classes.openings(file, owner.position)
            ]
            name = file.name(owner.position)
            if self.named(name, kinds=EXTENSION_KINDS) or self.open_classes.added_to(file, name):
                return [*known, *self.added(owner)]  # may be on the way to being solved
            self._known[owner] = known
        return known

    def added(self, owner: ClassObject) -> list[Inside]:
        """Blocks and receiver methods elsewhere that add members to a class."""
        key = ("extensions", owner)
        found = self.solve(key, self._extension_values, owner)
        return [(self.file(file_id), position) for file_id, position in sorted(found)]

    def _extension_values(self, owner: ClassObject) -> frozenset[Place]:
        home = self.home(owner)
        name = home.name(owner.position)
        is_of_module = home.parent(owner.position) == 0
        found = set(self.open_classes.added_to(home, name)) if is_of_module else set()
        for file_id, position in self.named(name, kinds=EXTENSION_KINDS):
            file = self.file(file_id)
            scope = file.body(position)
            if (
                scope is not None
                and scope.flags & EXTENSION
                and self.class_of(file, position) == owner
            ):
                found.add((file_id, position))
        return frozenset(found)

    def _received_by(self, file: File, position: int) -> ClassObject | None:
        """The class that an extension, or a method that is written outside, says it belongs to."""
        scope, parent = file.body(position), file.parent(position)
        types = self.values(file, parent, scope.receiver_type) if scope else BOTTOM
        return next(iter(sorted(only(types, ClassObject), key=repr)), None)
