"""The facts that all of `code` exchanges, as plain frozen values.

A *symbol id* is `path/from/root.py:Qualified.name` (POSIX separators); a module's id is its path
alone. Where one file defines a qualified name several times, the effective definition carries the
name as it is: the first one, or the last in languages where it replaces earlier ones. The rest
carry `#2`, `#3`, … in order of appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """The kinds of definitions. One vocabulary for every language."""

    MODULE = "module"
    NAMESPACE = "namespace"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    TRAIT = "trait"
    TYPE = "type"
    # a block that adds members to a class defined elsewhere: `impl T`, `extension T`
    EXTENSION = "extension"
    FUNCTION = "function"
    METHOD = "method"
    PROPERTY = "property"
    FIELD = "field"
    VARIABLE = "variable"
    CONSTANT = "constant"
    MACRO = "macro"
    LAMBDA = "lambda"


CALLABLE_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.LAMBDA, Kind.MACRO})
CLASS_KINDS = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.TRAIT, Kind.TYPE})
MEMBER_OWNERS = CLASS_KINDS | {Kind.EXTENSION, Kind.NAMESPACE}
VALUE_KINDS = frozenset({Kind.FIELD, Kind.VARIABLE, Kind.CONSTANT})


class Grade(StrEnum):
    """The grades of edges of the call graph, the surest first."""

    EXACT = "exact"  # scopes, imports, the receiver's own class
    INFERRED = "inferred"  # types of values, annotations, flow through parameters and containers
    BY_NAME = "by_name"  # only the name agrees


class Symbol(NamedTuple):
    """One definition. Lines count from 1 and are inclusive; bytes are offsets into the file, end
    exclusive.

    `signature_end_byte` is where the header ends and the body begins (== `end_byte` without a
    body). `doc_start_byte`/`doc_end_byte` delimit the docstring or leading doc comment, both 0
    without one.
    """

    id: str
    path: str
    language: str
    kind: Kind
    name: str
    qualname: str  # empty for a module
    parent: str  # id of the enclosing symbol, empty for a module
    start_line: int  # first line, decorators and modifiers included
    end_line: int
    name_line: int  # the line on which the name stands
    start_byte: int
    end_byte: int
    signature_end_byte: int
    doc_start_byte: int
    doc_end_byte: int


SymbolsOf = Callable[[str], Sequence[Symbol]]  # the symbols of a path, or of a name
Range = tuple[int, int]  # the first of some lines, or bytes, and the last
Ranges = tuple[Range, ...]


class CallSite(NamedTuple):
    """The place where a call is written."""

    path: str
    line: int


class Edge(NamedTuple):
    """`caller` calls `callee` (symbol ids; `external:package.name` for a definition outside the
    repository).
    """

    caller: str
    callee: str
    grade: Grade
    sites: tuple[CallSite, ...]
    rule: str = ""  # of the framework by which the caller reaches the callee


class Import(NamedTuple):
    """One imported binding: `from module import name as alias` in the words of any language."""

    module: str  # as written; leading dots or `./` kept
    name: str  # imported name, "*" for all, "" for the module itself
    alias: str  # the local name it binds, "" when it binds none
    line: int


class Definition(NamedTuple):
    """One definition as `syntax` found it; `parent` and list positions index
    `FileFacts.definitions`.
    """

    kind: str
    name: str
    qualname: str
    parent: int
    start_line: int
    end_line: int
    name_line: int
    start_byte: int
    end_byte: int
    signature_end_byte: int
    doc_start_byte: int
    doc_end_byte: int
    number: int = 1  # among the definitions of its qualified name

    @property
    def numbered_qualname(self) -> str:
        """The qualified name, unique in the file."""
        return numbered(self.qualname, self.number)


def numbered(qualname: str, number: int) -> str:
    """A qualified name as the `number`-th definition of it carries it."""
    return qualname if number == 1 else f"{qualname}#{number}"


def unnumbered(name: str) -> str:
    """A qualified name or id without the number of its definition."""
    plain, mark, number = name.rpartition("#")
    return plain if mark and number.isdecimal() else name


OUTLINED = "only its definitions were read"  # the problem of a large file


class Problem(NamedTuple):
    """Something that could not be read; facts around it are still good."""

    line: int
    message: str


class FileFacts(NamedTuple):
    """All facts of one file: a pure function of its text and language.

    `definitions[0]` is the module. `scopes[i]` holds the effects of the body of definition `i`, in
    the expression language of `code/expressions.py`, or the position of the definition that `i` is
    another name of; it is marshalled as it stands, so it holds only plain tuples, str, int and
    None. `mentions` are the identifiers that the file uses (not only defines): the postings by
    which the graph finds candidate callers.
    """

    definitions: tuple[Definition, ...]
    scopes: tuple[Any, ...]
    imports: tuple[Import, ...]
    mentions: tuple[str, ...]
    namespace: str  # declared package or namespace, "" when the language has none
    problems: tuple[Problem, ...]
