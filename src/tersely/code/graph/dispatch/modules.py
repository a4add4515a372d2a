"""Members of modules: what they bind and pass on, and names that files share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tersely.code.expressions import (
    PRIVATE,
)
from tersely.code.graph.dispatch.member_stores import MAX_STORE_FILES
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    ExternalObject,
    ModuleObject,
    Outside,
    Value,
    Values,
    external,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Inside, Place
from tersely.code.languages.registry import LANGUAGES
from tersely.code.nodes import (
    ConstantValue,
    ListLiteral,
)
from tersely.code.places import directory_of, is_test
from tersely.code.symbols import Kind

# files that write the global object, searched for a name that more than `MAX_STORE_FILES` use
MAX_GLOBAL_FILES = 200
GLOBALS_LIMIT = (
    "what is assigned to the global object under a name that over"
    f" {MAX_GLOBAL_FILES} files use beside it is not followed"
)


class Modules(Component):
    """Names of modules over the values of an `Evaluator`."""

    def of(self, file: File, name: str) -> Values:
        """A top-level name of a module, what it passes on from star imports, or a submodule."""
        return self.solve(("module", file.id, name), self._module_values, file, name)

    def _module_values(self, file: File, name: str) -> Values:
        return (
            self._of_module_itself(file, name)
            or self._from_stars(file, name)
            or self._beside_module(file, name)
        )

    def _of_module_itself(self, file: File, name: str) -> Values:
        """A name that a module exports or binds."""
        whole = file.semantics.module_object
        if whole and whole in file.names(0) and name not in (whole, file.semantics.default_export):
            exported = self.names.bound(file, 0, whole) - {ModuleObject(file.id)}
            found = self.members.of_all(exported, name, file)
            ours = without(found, BuiltinMethod, Outside)
            if ours:
                return ours
        if name in file.names(0):
            found = self.names.bound(file, 0, name)
            if found:
                return found
        if whole and name == file.semantics.default_export and whole in file.names(0):
            return self.names.bound(file, 0, whole)
        return BOTTOM

    def _beside_module(self, file: File, name: str) -> Values:
        """A submodule, what files beside the module have, or what others assign to it."""
        stem, _, base = file.path.rpartition("/")[2].partition(".")
        directory = directory_of(file.path)
        if stem == "__init__":
            for form in (f"{directory}/{name}.{base}", f"{directory}/{name}/__init__.{base}"):
                if form in self.program.by_path:
                    return singleton(ModuleObject(self.program.by_path[form]))
        if file.semantics.namespace == "directory":
            found = self._from_neighbours(file, name)
            if found:
                return found
        return (
            self.stores.into(ModuleObject(file.id), name) if file.stores.stores_members else BOTTOM
        )

    def top_level(self, file: File, name: str) -> Values:
        """A name that no scope of the file binds: star imports, then files that share its
        namespace.
        """
        return self.solve(("top", file.id, name), self._top_level_values, file, name)

    def _top_level_values(self, file: File, name: str) -> Values:
        found = self._from_stars(file, name)
        if not found and file.semantics.classes_are_modules:
            found = self.from_class_stars(file, name, file.stars)
        if not found and file.semantics.open_classes:
            found = (
                self.open_classes.by_qualified_name(file, name)
                if "." in name
                else self.open_classes.from_stars(file, name)
            )
        if found or file.semantics.namespace == "file":
            return found
        found = self._from_neighbours(file, name)
        if not found and file.semantics.global_namespace:
            found = self._declared_for_all(file, name)
        if not found and file.semantics.global_objects:
            found = self._stored_globally(file, name)
        return found if found or not file.semantics.found_anywhere else self._only_one(file, name)

    def _stored_globally(self, file: File, name: str) -> Values:
        """What assignments put into the global scope under a name: `window.name = …`, in the scripts
        of the same pages, or anywhere if few files use the name; what a test puts there is there in
        tests alone, and in that test alone where it replaces what the runtime has.
        """
        found: Values = BOTTOM
        is_of_runtime = f"{file.semantics.builtins}.{name}" in file.semantics.summaries
        for other in map(self.file, self._storing_globally(file, name)):
            is_shared = other.id == file.id or (is_test(file.path) and not is_of_runtime)
            if is_test(other.path) and not is_shared:
                continue
            for store in other.stores.member_stores(name):
                # a parameter of that name is given that object
                is_meant = store.base in file.semantics.global_objects or any(
                    self._is_global_object(base, other)
                    for base in self.values(other, store.scope, store.base)
                )
                if is_meant:
                    found |= self.values(other, store.scope, store.value)
        return found

    def _storing_globally(self, file: File, name: str) -> list[int]:
        """The files that may put a name into the global scope: where more use the name than are
        searched, those that write the global object as well.
        """
        files = sorted(self.mentioning(name, file))
        if file.namespace:
            same_pages = {*self.program.neighbours(file), file.id}
            return [file_id for file_id in files if file_id in same_pages]
        if len(files) > MAX_STORE_FILES:
            writing = {
                file_id
                for words in file.semantics.global_objects
                for file_id in self.mentioning(words, file)
            }
            files = [file_id for file_id in files if file_id in writing]
        if len(files) > MAX_GLOBAL_FILES:
            self.bounds.add(GLOBALS_LIMIT)
            return []
        return files

    def _is_global_object(self, value: Value, file: File) -> bool:
        """True if the members of a value are the names of the global scope."""
        before, _, name = (
            value.name.rpartition(".") if isinstance(value, ExternalObject) else ("", "", "")
        )
        return before == file.semantics.builtins and name in file.semantics.global_objects

    def _of_global_object(self, file: File, name: str) -> Values:
        """What a name of the global scope means in a file."""
        found = self.top_level(file, name)
        if file.namespace and name in file.names(0):
            found |= self.names.bound(file, 0, name)
        return found or external(f"{file.semantics.builtins}.{name}")

    def _declared_for_all(self, file: File, name: str) -> Values:
        """What a name means that files declare for all others; where those are types alone, it may
        be a value of the runtime as well.
        """
        places = [
            *self._in_global_namespaces(file, name),
            *self._in_declaring_scripts(file, name),
        ]
        found: Values = BOTTOM
        for other, owner in places:
            if name in other.names(owner):
                found |= self.names.bound(other, owner, name)
        is_type = all(self._is_type(value) for value in found)
        return found | external(f"{file.semantics.builtins}.{name}") if found and is_type else found

    def _in_global_namespaces(self, file: File, name: str) -> Iterator[Inside]:
        """The namespaces for what is declared for all that define a name."""
        namespace = file.semantics.global_namespace
        for file_id, position in self.named(name, owner=namespace):
            other = self.file(file_id)
            owner = other.parent(position)
            if other.family == file.family and other.kind(owner) == Kind.NAMESPACE:
                yield other, owner

    def _in_declaring_scripts(self, file: File, name: str) -> Iterator[Inside]:
        """The scripts that define a name at their top and declare it for all files by that."""
        for file_id, _ in self.named(name, owner=""):
            row = self.program.rows[file_id]
            declares = LANGUAGES[row.language].resolution.scripts_declare_for_all
            if row.namespace and declares and self.program.is_kin(file_id, file):
                yield self.file(file_id), 0

    def _is_type(self, value: Value) -> bool:
        """True if a value is a type that nothing is made of."""
        kind = self.definition(value).kind if isinstance(value, ClassObject) else ""
        return kind in (Kind.INTERFACE, Kind.TYPE)

    def _only_one(self, file: File, name: str) -> Values:
        """The one top-level definition of that name in the repository; the name of a package means
        the package.
        """
        if self.program.facts.namesakes(name):
            return BOTTOM
        homes = [
            self.file(at)
            for at, position in self.named(name)
            if self.program.rows[at].language == file.language.name
            and self.file(at).parent(position) == 0
        ]
        if len(homes) != 1:
            return BOTTOM
        (other,) = homes
        return self.names.bound(other, 0, name) if name in other.names(0) else BOTTOM

    def _from_stars(self, file: File, name: str) -> Values:
        if not file.stars:
            return BOTTOM
        passed: list[File] = []

        def say_cut(limit: str) -> None:
            self.program.beyond_stars.add((file.id, name))
            self.bounds.add(limit)

        for other in self.program.starred(file, lambda each: self._exports(each, name), say_cut):
            if found := self._of_module_itself(other, name):
                return found
            passed.append(other)
        for other in passed:
            if found := self._beside_module(other, name):
                return found
        return BOTTOM

    def from_class_stars(self, file: File, name: str, modules: Sequence[str]) -> Values:
        """A member of one of the classes whose members are imported wholesale; the last import
        wins.
        """
        for module in reversed(modules):
            package, separator, last = module.rpartition(file.semantics.separator)
            owners: Values = BOTTOM
            if separator:
                owners = self.evaluator.imported.of(file, package, last)
            elif name != module and self.named(name):
                owners = self.names.of(file, 0, module)
            found: Values = BOTTOM
            for owner in owners:
                # not what it may have from bases outside: that would be anything
                declared = (
                    self.class_members.declared(owner, name, ClassObject)
                    if isinstance(owner, ClassObject)
                    else BOTTOM
                )
                found |= self.members.read(declared, owner)
            if found:
                return found
        return BOTTOM

    def _exports(self, file: File, name: str) -> bool:
        """True if `import *` takes a name."""
        for _, expression in file.bindings(0, file.semantics.star_exports):
            if isinstance(expression, ListLiteral):
                return ConstantValue(name) in expression.elements
        return name != file.semantics.default_export and not (
            file.semantics.star_exports and name.startswith("_")
        )

    def _from_neighbours(self, file: File, name: str) -> Values:
        sharing = file.semantics.namespace
        if sharing == "global":
            places: Iterable[Place] = self.named(name)
        else:
            near = self.program.neighbours(file)
            places = [place for place in self.named(name) if place[0] in near]
            if places and file.namespace and self.program.facts.namesakes(name):
                # a package hides what has none
                places = [place for place in places if self.program.rows[place[0]].namespace]
        found: Values = BOTTOM
        for file_id, position in places:
            other = self.file(file_id)
            if other.family != file.family:
                continue
            scope = other.body(position)
            if scope is not None and scope.flags & PRIVATE and file_id != file.id:
                continue
            if other.parent(position) == 0 and name in other.names(0):
                found |= self.names.bound(other, 0, name)
        return found

    def of_external(self, value: ExternalObject, name: str, file: File) -> Values:
        """A member of an external module may be a submodule that is ours after all, and one of the
        global object a global name.
        """
        if self._is_global_object(value, file):
            return self._of_global_object(file, name)
        if file.semantics.namespace == "declared":  # a name with its package in front
            package = value.name.removeprefix(f"{file.semantics.builtins}.")
            if self.program.modules(file, package):
                found = self.evaluator.imported.of(file, package, name)
                if found:
                    return found
        dotted = f"{value.name}.{name}"
        targets = self.program.modules(file, dotted)
        return singleton(ModuleObject(targets[0])) if targets else external(dotted)
