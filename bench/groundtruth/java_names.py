"""Java's own spelling of classes and methods, matched to symbols of an indexed case."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bench.groundtruth.subject import Subject
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol

PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
ANNOTATION = re.compile(r"@[\w.]+(\([^()]*\))?\s*|\bfinal\s+")
REDEFINITION = re.compile(r"#\d+$")
CONSTRUCTOR = "<init>"


class JavaNames:
    """Classes of a case by `package.Outer.Inner`, methods by class, name and the simple names of parameter types."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.texts = {path: subject.text(path) for path in subject.paths()}
        self.classes = {self.class_name(symbol): symbol for symbol in self._of(CLASS_KINDS)}

    def _of(self, kinds: Iterable[Kind]) -> list[Symbol]:
        wanted = frozenset(kinds)
        return [symbol for symbol in self.subject.symbols.values() if symbol.kind in wanted]

    def class_name(self, symbol: Symbol) -> str:
        """Fully qualified name of a class."""
        package = PACKAGE.search(self.texts[symbol.path])
        plain = ".".join(REDEFINITION.sub("", part) for part in symbol.qualname.split("."))
        return f"{package[1]}.{plain}" if package else plain

    def methods(self, class_name: str, method: str) -> list[Symbol]:
        """Methods of that name in a class; `<init>` is its constructors."""
        owner = self.classes.get(class_name)
        if owner is None:
            return []
        wanted = owner.name if method == CONSTRUCTOR else method
        return [child for child in self.subject.children(owner.id) if REDEFINITION.sub("", child.name) == wanted]

    def method(self, class_name: str, method: str, parameters: list[str] | None) -> str:
        """Id of one method; a constructor that is not written is its class; "" if the case defines none.

        `parameters` are types as a truth spells them; they matter only among overloads.
        """
        found = self.methods(class_name, method)
        if not found and method == CONSTRUCTOR and class_name in self.classes:
            return self.classes[class_name].id
        if len(found) > 1 and parameters is not None:
            wanted = [simple(parameter) for parameter in parameters]
            found = [symbol for symbol in found if self.parameters(symbol) == wanted] or found
        return found[0].id if found else ""

    def parameters(self, symbol: Symbol) -> list[str]:
        """Simple type names of a method's parameters, from its header."""
        source = self.texts[symbol.path].encode()
        header = source[symbol.start_byte : symbol.signature_end_byte].decode(errors="replace")
        name = REDEFINITION.sub("", symbol.name)
        match = re.search(rf"\b{re.escape(name)}\s*\(([^{{]*)\)", header)
        return parameter_types(match[1]) if match else []


def parameter_types(listed: str) -> list[str]:
    """`final List<String> a, int... b` gives `["List", "int[]"]`."""
    plain = ANNOTATION.sub("", listed)
    while TYPE_ARGUMENTS.search(plain):
        plain = TYPE_ARGUMENTS.sub("", plain)
    parts = [part.split() for part in plain.split(",") if part.strip()]
    return [simple(" ".join(part[:-1]).replace("...", "[]")) for part in parts]


def simple(type_name: str) -> str:
    """`java.lang.String` gives `String`."""
    return type_name.strip().rpartition(".")[2]


def from_descriptor(descriptor: str) -> str:
    """`Lvc/Outer$Inner;` gives `vc.Outer.Inner`."""
    return descriptor.removeprefix("L").removesuffix(";").replace("/", ".").replace("$", ".")
