"""Members of classes that are objects which are asked when they are read or assigned: `__get__`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import DECLARED, EITHER, Expression, is_tagged
from tersely.code.graph.pointsto.values import CLASS, FUNCTION, INSTANCE, Value, Values
from tersely.code.graph.program.file import File
from tersely.code.symbols import CLASS_KINDS

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator


class Descriptors:
    """The methods that reading and assigning a member calls, over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._names: dict[str, frozenset[str]] = {}

    def methods(
        self, file: File, scope: int, owner: Expression, name: str, *, stored: bool
    ) -> list[Value]:
        """The methods that `owner.name` calls, or assigning it does."""
        facts = file.facts
        method = facts.descriptor_setter if stored else facts.descriptor_method
        if not method or name not in self.names(file):
            return []
        members: Values = frozenset()
        for value in self.evaluator.values(file, scope, owner):
            if value[0] in (INSTANCE, CLASS):
                class_ = (CLASS, *value[1:3])
                members |= self.evaluator.members.of_class(class_, name, file, value)
        objects = frozenset(member for member in members if member[0] == INSTANCE)
        asked = self.evaluator.members.of_all(objects, method, file)
        return sorted((value for value in asked if value[0] == FUNCTION), key=repr)

    def names(self, like: File) -> frozenset[str]:
        """The names of members that a class makes by calling a class with such a method."""
        method = like.facts.descriptor_method
        if method not in self._names:
            self._names[method] = frozenset(self._members(method)) if method else frozenset()
        return self._names[method]

    def _members(self, method: str) -> set[str]:
        members = self.evaluator.members
        found = set[str]()
        for file_id, position in self.program.named(method):
            file = self.program.file(file_id)
            target = members.owner_of_method(file, position)
            for class_ in (target, *members.subclasses(target)) if target is not None else ():
                home = self.program.file(class_[1])
                name = home.definitions[class_[2]].name
                for other in map(self.program.file, self.program.mentioning(name, home)):
                    found |= _made_in_classes(other, name)
        return found


def _made_in_classes(file: File, name: str) -> set[str]:
    """The members of classes of a file that calling something of a name makes."""
    found = set[str]()
    for scope, index in file.calls_by_name.get(name, ()):
        if file.definitions[scope].kind in CLASS_KINDS:
            call = file.scope(scope).calls[index]
            bound = {target for target, value in file.scope(scope).binds if _may_be(value, call)}
            found |= {target for target in bound if type(target) is str}
            found |= {
                file.definitions[child].name
                for child in file.children[scope]
                if (inner := file.scopes[child]) is not None and inner.decorated == call
            }
    return found


def _may_be(value: Expression, call: Expression) -> bool:
    """True if a value is what a call gives, with a type beside it or not."""
    if is_tagged(value, EITHER):
        return any(_may_be(part, call) for part in value[1])
    return bool((value[1] if is_tagged(value, DECLARED) else value) == call)
