"""The values of imported names: of files, packages and declared modules."""

from __future__ import annotations

from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ExternalObject,
    ModuleObject,
    Values,
    external,
    only,
    singleton,
)
from tersely.code.graph.program.file import File


class Imported(Component):
    """The values of imports."""

    def of(self, file: File, module: str, name: str) -> Values:
        """The values that an import binds; outside the repository it is external."""
        key = ("import", file.import_base, module, name, file.language.name)
        return self.solve(key, self._imported_values, file, module, name)

    def _imported_values(self, file: File, module: str, name: str) -> Values:
        targets = self.program.modules(file, module)
        whole = file.semantics.module_object
        if not name or name == whole:
            declared = BOTTOM if targets else self._declared_module(file, module)
            return self._whole_module(file, targets[0]) if targets else declared or external(module)
        if len(targets) > 1 and file.semantics.namespace == "declared":
            places = {file_id for file_id, _ in self.named(name)}
            targets = [target for target in targets if target in places]
        for target in targets:
            if target == file.id and len(targets) > 1:
                continue
            found = self.modules.of(self.file(target), name)
            if found:
                return found
        if targets and name == file.semantics.default_export:
            return self._whole_module(file, targets[0])
        separator = "" if module.endswith(".") else file.semantics.separator
        submodule = self.program.modules(file, f"{module}{separator}{name}")
        if submodule:
            return singleton(ModuleObject(submodule[0]))
        found = (
            self._from_class_as_module(file, module, name)
            if file.semantics.classes_are_modules
            else BOTTOM
        )
        found = found or self._declared_in_module(file, module, name)
        written = f"{module}{separator}{name}"
        return found or (BOTTOM if targets else singleton(ExternalObject(written)))

    def _declared_module(self, file: File, module: str) -> Values:
        """The namespaces that stand for a module outside the repository, and what they declare to
        be its exports.
        """
        found: Values = BOTTOM
        for home, position in (
            self.open_classes.module_declarations(module) if file.semantics.declares_modules else ()
        ):
            found |= singleton(ClassObject(home.id, position))
            found |= self.evaluator.names.bound(home, position, home.semantics.module_object)
        return found

    def _declared_in_module(self, file: File, module: str, name: str) -> Values:
        """What declarations of a module say of a name in it."""
        found: Values = BOTTOM
        for home, position in (
            self.open_classes.module_declarations(module) if file.semantics.declares_modules else ()
        ):
            is_whole = name == file.semantics.default_export and name not in home.names(position)
            found |= self.evaluator.names.bound(
                home, position, home.semantics.module_object if is_whole else name
            )
        return found

    def _from_class_as_module(self, file: File, module: str, name: str) -> Values:
        """A member of a class, or of a module with another name, that an import names like a module:
        `import static a.Class.member`.
        """
        package, separator, owner = module.rpartition(file.semantics.separator)
        found = (
            self.of(file, package, owner) if separator else self.evaluator.names.of(file, 0, owner)
        )
        owners = list(only(found, ClassObject, ModuleObject))
        return self.members.of_all(frozenset(owners), name, file)

    def _whole_module(self, file: File, target: int) -> Values:
        """A module, and what it declares to be its exports."""
        name, home = file.semantics.module_object, self.file(target)
        exported = (
            self.evaluator.names.bound(home, 0, name) if name and name in home.names(0) else BOTTOM
        )
        return singleton(ModuleObject(target)) | exported
