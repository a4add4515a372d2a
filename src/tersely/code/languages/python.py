"""Python."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ELLIPSIS,
    IMPORTED,
    Expression,
    last_part,
)
from tersely.code.languages.model import (
    Files,
    Injection,
    Language,
    Literal,
    Operator,
    Redefinition,
    Resolution,
    Rule,
    names,
    shared_directories,
    wheel,
)
from tersely.code.languages.nodes import TextOf, child_of, line_of, named_parts, parts_in
from tersely.code.languages.parts import python_fields as fields
from tersely.code.languages.parts import python_generics as generics
from tersely.code.languages.parts import python_matching as matching
from tersely.code.languages.parts import python_narrowing as narrowing
from tersely.code.languages.parts.python_fields import ENUMERATIONS
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of
from tersely.code.symbols import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


# Unclosed brackets: the grammar reads on within them, over the definitions that follow.
CLOSING = {b")": b"(", b"]": b"[", b"}": b"{"}
# Texts and comments, in which brackets mean nothing; brackets; and how a line begins that is never
# within brackets.
PIECES = re.compile(
    rb"#[^\n]*"
    rb"|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    rb"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
    rb"|(?P<bracket>[()\[\]{}])"
    rb"|(?P<definition>^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[ \t]*[:(\[]))",
    re.MULTILINE | re.DOTALL,
)


def without_unclosed(source: bytes) -> bytes:
    """The source with a space for each bracket that is still open where a definition begins, with
    a colon for that behind the name of a class.
    """
    open_at: list[int] = []
    unclosed: list[int] = []
    heads: set[int] = set()  # where classes have brackets behind their names
    for piece in PIECES.finditer(source):
        if piece["definition"]:
            unclosed += open_at
            open_at = [] if piece[0].endswith(b":") else [piece.end() - 1]
            heads.update(open_at if piece[0].lstrip().startswith(b"class") else ())
        elif (bracket := piece["bracket"]) and bracket not in CLOSING:
            open_at.append(piece.start())
        elif bracket and open_at and source[open_at[-1] : open_at[-1] + 1] == CLOSING[bracket]:
            open_at.pop()
    mended = bytearray(source)
    for at in unclosed:
        mended[at : at + 1] = b":" if at in heads else b" "
    return bytes(mended)


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`import a.b as c, d` and `from .m import n as o, *`."""
    line = line_of(node)
    if node.type == "future_import_statement":
        return [Import("__future__", text(child), "", line) for child in parts_in(node, "name")]
    found = []
    module_node = node.child_by_field_name("module_name")
    module = text(module_node)
    for child in parts_in(node, "name"):
        name, alias = child, ""
        if child.type == "aliased_import":
            alias_node = child.child_by_field_name("alias")
            name_node = child.child_by_field_name("name")
            alias, name = text(alias_node), name_node or child
        if module:
            found.append(Import(module, text(name), alias or text(name), line))
        elif alias:
            found.append(Import(text(name), "", alias, line))
        else:
            # `import a.b` imports both and binds `a`; `a.b` is found by asking `a` for its member.
            top, dot, _ = text(name).partition(".")
            found.append(Import(top, "", top, line))
            if dot:
                found.append(Import(text(name), "", "", line))
    if child_of(node, "wildcard_import") is not None:
        found.append(Import(module, "*", "", line))
    return found


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files that `module` may mean: relative to the importer for leading dots, else under the
    likeliest root.

    Roots are not declared anywhere: any directory may be on `sys.path`. Among several files that
    end in the module's path, the one whose root is nearest to the importer wins, and the
    repository's root before nested ones.
    """
    stem = module.lstrip(".")
    dots = len(module) - len(stem)
    tail = stem.replace(".", "/")
    if dots:
        base = directory_of(importer)
        for _ in range(dots - 1):
            base = directory_of(base)
        path = "/".join(part for part in (base, tail) if part)
        forms = [f"{path}.py", f"{path}/__init__.py", f"{path}.pyi", f"{path}/__init__.pyi"]
        if not tail:
            forms = forms[1::2] if path else ["__init__.py"]
        return [form for form in forms if files.exists(form)]
    found = []
    for form in (f"{tail}/__init__.py", f"{tail}.py", f"{tail}/__init__.pyi", f"{tail}.pyi"):
        found += [
            path for path in files.ending(form) if _is_root(files, path[: -len(form)].rstrip("/"))
        ]
    is_outside = tail.partition("/")[0] in sys.stdlib_module_names
    if not found and not is_outside:  # a script in a package finds first the modules beside it
        beside = directory_of(importer)
        found = [
            form
            for form in (f"{beside}/{tail}.py", f"{beside}/{tail}/__init__.py")
            if files.exists(form)
        ]
    return sorted(
        found,
        key=lambda path: (
            -shared_directories(path, importer),
            path.count("/"),
            path.endswith(".pyi"),
            path,
        ),
    )


def _is_root(files: Files, directory: str) -> bool:
    """A directory inside a package is no root: its modules are reached through the package."""
    return not directory or not files.exists(f"{directory}/__init__.py")


def redefinition_of(definition: Node, text: TextOf) -> Redefinition:
    """The effect of a definition by its decorators: `@overload` makes a stub, `@name.setter` adds
    to the property.
    """
    if definition.type != "decorated_definition":
        return Redefinition.REPLACES
    inner = definition.child_by_field_name("definition") or definition
    name = inner.child_by_field_name("name")
    for child in definition.children:
        written = (
            text(child).removeprefix("@").partition("(")[0].strip()
            if child.type == "decorator"
            else ""
        )
        if last_part(written) == "overload":
            return Redefinition.IS_STUB
        if name is not None and written.startswith(f"{text(name)}."):
            return Redefinition.ADDS
    return Redefinition.REPLACES


ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
BINARY_OPERATORS = {token: f"__{name}__" for token, name in ARITHMETIC.items()}
UPDATES = {f"{token}=": f"__i{name}__" for token, name in ARITHMETIC.items()}
COMPARISONS = {
    "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
    "in": "__contains__", "not in": "__contains__",
}  # fmt: skip
REFLECTED = {
    **{f"__{name}__": f"__r{name}__" for name in ARITHMETIC.values()},
    "__eq__": "__eq__", "__ne__": "__ne__",
    "__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__",
}  # fmt: skip
ITEM_METHODS = ("__getitem__", "__setitem__", "__delitem__")
# Built-in functions that call a method of their argument.
ASKING_FUNCTIONS = {
    name: f"__{name}__"
    for name in "len str repr bytes hash bool int float iter next dir reversed format".split()
} | dict.fromkeys("list tuple set frozenset sorted enumerate sum any all".split(), "__iter__")
STAND_INS = {
    "__ne__": "__eq__", "__format__": "__str__", "__str__": "__repr__", "__bool__": "__len__",
    "__contains__": "__iter__",
    **{f"__i{name}__": f"__{name}__" for name in ARITHMETIC.values()},
}  # fmt: skip

CONVERSIONS = {"!s": "__str__", "!r": "__repr__", "!a": "__repr__"}


def lower_interpolation(walk: Lowering, node: Node) -> Expression:
    """`{x!r:>{width}}` in a text: the interpolated value is converted to a text."""
    put_in, *others = named_parts(node)
    value = walk.value(put_in)
    conversions = [
        CONVERSIONS[walk.text(part)] for part in others if part.type == "type_conversion"
    ]
    walk.implicit(value, next(iter(conversions), "__format__"), (), line_of(node))
    walk.visit(others)
    return value


_DOTTED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)[.:]([^\W\d]\w*)")


def meant_by_text(text: str) -> Expression:
    """The definition that a text such as `pkg.tasks.ingest` or `pkg.tasks:ingest` names, None for
    other texts.
    """
    named = _DOTTED.fullmatch(text)
    return (IMPORTED, named[1], named[2]) if named else None


FUNCTIONS = vars(fields) | vars(generics) | vars(matching) | vars(narrowing) | globals()
RULES: dict[str, Rule] = {
    **rules_of("python", FUNCTIONS),
    "ellipsis": Literal(ELLIPSIS),
    "binary_operator": Operator(BINARY_OPERATORS),
    "comparison_operator": Operator(COMPARISONS, values=False),
    "augmented_assignment": Operator(UPDATES, updates=True),
}


PYTHON = Language(
    name="python",
    checks_types=False,
    grammar=wheel("tree_sitter_python"),
    rules=RULES,
    control="python",
    mended=without_unclosed,
    doc_string="string",
    resolution=Resolution(
        **resolution_facts("python"),
        modules=module_files,
        enumerations=ENUMERATIONS,
        item_methods=ITEM_METHODS,
        reflected=REFLECTED,
        stand_ins=STAND_INS,
        asking_functions=ASKING_FUNCTIONS,
        implicit_methods=names(
            "__enter__ __exit__ __aenter__ __aexit__ __aiter__ __anext__ __await__ __neg__ __pos__ __invert__ "
            "__init_subclass__"
        ).union(
            ITEM_METHODS,
            REFLECTED,
            REFLECTED.values(),
            UPDATES.values(),
            COMPARISONS.values(),
            ASKING_FUNCTIONS.values(),
        ),
        methods=summaries("python", "methods"),
        meant_by_text=meant_by_text,
        summaries=summaries("python", "functions"),
        injection=Injection(
            names("pytest.fixture pytest_asyncio.fixture pytest.yield_fixture"),
            prefix="test",
            shared="conftest.py",
            unasked="autouse",
        ),
        redefinition=redefinition_of,
    ),
)
