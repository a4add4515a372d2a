"""Members that are assigned from outside the class, module or object that they are of."""

from __future__ import annotations

from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    ExternalObject,
    InFile,
    Instance,
    Value,
    Values,
    instance_of,
    only,
    own_class,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.symbols import CALLABLE_KINDS

MAX_STORE_FILES = 10  # files searched for assignments to a member from outside its class
STORES_LIMIT = (
    f"members that no class has and that over {MAX_STORE_FILES} files mention may be"
    " assigned in others of them"
)
MAX_MERGES = 20  # statements of a file that add all members of one object to another


class MemberStores(Component):
    """Assignments to members over the values of an `Evaluator`."""

    def into(self, value: InFile, name: str | int) -> Values:
        """The values that assignments outside its home put into a member of a value."""
        value = instance_of(value) if isinstance(value, Instance) else value
        return self.solve(("outside", value, name), self._outside_values, value, name)

    def _outside_values(self, value: InFile, name: str | int) -> Values:
        """`thing.name = …` anywhere in files that mention the name, where `thing` may be the value."""
        found: Values = BOTTOM
        home = self.home(value)
        files = self._storing(value, name)
        if len(files) > MAX_STORE_FILES:
            files = [value.file]
        as_class = own_class(value) if isinstance(value, Instance) else value
        for file in map(self.file, files):
            for store in file.stores.member_stores(name):
                base = self.values(file, store.scope, store.base)
                instances = {instance_of(each) for each in only(base, Instance)}
                is_meant = value in base or as_class in base or value in instances
                if is_meant or (file.semantics.virtual and self._any_below(base, as_class)):
                    found |= self.values(file, store.scope, store.value)
        return (
            found | self._merged_values(home, value, name)
            if home.semantics.members_are_items
            else found
        )

    def say_unsearched(self, receiver: Instance, name: str, file: File) -> None:
        """Say of a member that no class has, and that files may assign which are not searched; what
        syntax calls is no such member, nor what values of the language have.
        """
        semantics = file.semantics
        if name in semantics.implicit_methods or name in semantics.common_members:
            return
        if len(self._storing(receiver, name)) > MAX_STORE_FILES:
            self.bounds.add(STORES_LIMIT)

    def _storing(self, value: InFile, name: str | int) -> list[int]:
        """The files that may assign a member of a value: its own, and those that mention the name."""
        home = self.home(value)
        mentioning = self.mentioning(name, home) if type(name) is str else ()
        return sorted({*mentioning, value.file})

    def _merged_values(self, home: File, value: InFile, name: str | int) -> Values:
        """Members of objects whose members were all added to the value, at its home."""
        found: Values = BOTTOM
        for store in home.stores.merges[:MAX_MERGES]:
            if value in self.values(home, store.scope, store.base):
                for added in self.values(home, store.scope, store.key.collection):
                    if not self._is_enumerable(added):
                        continue
                    if type(name) is str:
                        found |= self.members.of(added, name, home)
                    else:  # a place in a list
                        found |= self.containers.items(added, frozenset((name,)), home)
        return without(found, BuiltinMethod, ExternalObject)

    def _is_enumerable(self, value: Value) -> bool:
        """True if what a value holds can be copied; what its class declares cannot."""
        if not isinstance(value, Instance):
            return True
        return self.definition(value).kind in CALLABLE_KINDS

    def _any_below(self, values: Values, target: InFile) -> bool:
        return any(
            isinstance(value, (Instance, ClassObject))
            and target in self.inheritance.linearised(own_class(value))
            for value in values
        )
