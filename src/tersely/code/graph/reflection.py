"""Members that a program names by values: classes, methods and fields as objects.

`C.class.getDeclaredMethod("m")` is the method itself, for calling any member of a function calls it. A field as an
object is a value of its own, (FIELD, file, class, name); reading it on an object reads the member.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import CONSTRUCTOR, MEMBER, STATIC, Expression
from tersely.code.graph.program import File
from tersely.code.graph.values import (
    CLASS,
    EXTERNAL,
    FIELD,
    FUNCTION,
    INSTANCE,
    KEY,
    NOTHING,
    TUPLE,
    Value,
    Values,
    one,
)
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tersely.code.graph.evaluate import Evaluator


class Reflection:
    """What is known of members that are named by values."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program

    def of_class(self, file: File, scope: int, target: Value, what: str, call: Any) -> Values:
        """What a class as a value gives: a member or field by its name, itself, an instance."""
        if what == "instance":
            return one(INSTANCE, *target[1:3])
        if not call[2]:
            return frozenset((target,)) if what == "class" else NOTHING
        if what == "cast":
            return self.evaluator.typed.narrowed(
                self.evaluator.values(file, scope, call[2][0]), one(INSTANCE, *target[1:3], True)
            )
        if what == "field":
            names = self.evaluator.values(file, scope, call[2][0])
            return self.fields(frozenset((target,)), names)
        if what == "member":
            types = [self.evaluator.values(file, scope, argument) for argument in call[2][1:]]
            found = self.members(frozenset((target,)), self.evaluator.values(file, scope, call[2][0]), types, file)
            return frozenset((*member[:3], member) for member in found)
        return frozenset((target,)) if what == "class" else NOTHING

    def fields(self, owners: Values, names: Values) -> Values:
        """Fields of classes as objects."""
        return frozenset(
            (FIELD, *owner[1:3], name[1])
            for owner in owners
            for name in names
            if owner[0] == CLASS and name[0] == KEY and type(name[1]) is str
        )

    def members(self, owners: Values, names: Values, types: Sequence[Values], file: File) -> Values:
        """The members of some values that constants or fields name; of overloads those of the given parameter types."""
        found: Values = NOTHING
        for name in names:
            if name[0] == FIELD or (name[0] == KEY and type(name[1]) is str):
                found |= self.evaluator.members.of_all(owners, str(name[-1]), file)
        if len(types) == 1 and (listed := [value for value in types[0] if value[0] == TUPLE]):
            types = listed[0][1][1:]  # a method type: what it returns stands first
        wanted = [self._type_names(each) for each in types]
        fitting = frozenset(value for value in found if value[0] == FUNCTION and self._has_types(value, wanted))
        return fitting or found

    def fixed(self, values: Values) -> Values:
        """Methods as objects that are these very ones, whatever they are called on."""
        return frozenset(
            (*value[:3], (FUNCTION, *value[1:3], value)) if value[0] == FUNCTION else value for value in values
        )

    def _type_names(self, types: Values) -> set[str]:
        found = set()
        for value in types:
            if value[0] == CLASS:
                found.add(self.program.file(value[1]).definitions[value[2]][1])
            elif value[0] == EXTERNAL:
                found.add(value[1].rpartition(".")[2])
        return found

    def _has_types(self, function: Value, wanted: list[set[str]]) -> bool:
        signature = self.evaluator.typed.signature(function)
        return len(signature) == len(wanted) and all(
            not names or name in names for name, names in zip(signature, wanted, strict=True)
        )

    def read(self, file: File, scope: int, field: Value, call: Any) -> Values:
        """What a field holds: of the object that a call passes, of its class if it passes none."""
        owner = (CLASS, *field[1:3])
        given = self.evaluator.values(file, scope, call[2][0]) if call[2] else frozenset((owner,))
        return self.evaluator.members.of_all(given or one(INSTANCE, *field[1:3]), field[3], file)

    def stored(self, value: Value, name: str) -> Values:
        """What is assigned to a member of a value by way of a field as an object, where its class is written."""
        home = self.program.file(value[1])
        found: Values = NOTHING
        for store in home.field_stores():
            if not any(
                key[0] == FIELD and key[3] == name for key in self.evaluator.values(home, store.scope, store.key)
            ):
                continue
            if any(base[:3] == value[:3] for base in self.evaluator.values(home, store.scope, store.base)):
                found |= self.evaluator.values(home, store.scope, store.value)
        return found

    def dispatched(self, values: Values, file: File, scope: int, call: Expression) -> Values:
        """Methods as objects that are called on what a call passes first: those that the passed things have."""
        callee = call[1]
        if type(callee) is not tuple or callee[0] != MEMBER or not call[2]:
            return values
        found: Values = NOTHING
        for value in values:
            found |= self._on_first(value, file, scope, call) if self._is_unbound(value) else frozenset((value,))
        return found

    def _on_first(self, method: Value, file: File, scope: int, call: Expression) -> Values:
        home = self.program.file(method[1])
        owner = self.evaluator.members.class_of(home, home.owner_class(method[2]))
        if owner is None or home.definitions[method[2]][1] == call[1][2]:
            return frozenset((method,))
        given = [value for value in self.evaluator.values(file, scope, call[2][0]) if value[0] == INSTANCE]
        passed = frozenset(given) or one(INSTANCE, *owner[1:3], True)
        found = self.evaluator.members.of_all(passed, home.definitions[method[2]][1], file)
        signature = self.evaluator.typed.signature(method)
        same = (one for one in found if one[0] == FUNCTION and self.evaluator.typed.signature(one) == signature)
        return frozenset(same) or frozenset((method,))

    def _is_unbound(self, value: Value) -> bool:
        """Whether a value is a method of an object that is yet to be passed."""
        if value[0] != FUNCTION or not (value[3] is None or (value[3][0] == FUNCTION and value[3][3] is None)):
            return False
        home = self.program.file(value[1])
        is_method = home.definitions[value[2]][0] == Kind.METHOD and home.owner_class(value[2]) >= 0
        return is_method and not home.scope(value[2]).flags & (STATIC | CONSTRUCTOR)
