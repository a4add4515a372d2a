"""What tables say, as values: the rules of a language and the roles of its nodes, `rules/NAME.json`.

The section `rules` gives node types their rules (`model.py`), and `control` has the fields of a
`Control`: what node types mean for the order of statements (`roles.py`). Each of several words in a
key is a key, the words of a set or tuple are one text, and flags and functions have their names. A
rule or role is its name, or its name with the fields that differ from its own. A function in place
of a rule lowers the nodes itself (`Custom`), and is given the children in the fields that stand with
it; behind a rule, as `also`, it reads what the rule leaves out. The fields that several rules have
stand once in the section `common`, by a name that these rules have `as` theirs. A list has the `Forms` of a node,
which may begin with their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tersely.code import expressions
from tersely.code.languages import model, roles
from tersely.code.languages.model import NOTHING, names
from tersely.code.languages.roles import Control, Forms, Leap
from tersely.code.symbols import Kind
from tersely.foundation.types import JsonMapping, JsonObject, Strings, fields, replace

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


SHARED = "shared"  # the table of the node types that grammars agree on


@cache
def table_of(path: str) -> JsonMapping:
    """A table beside this, read when it is first asked for."""
    table: JsonMapping = json.loads((Path(__file__).parent / path).read_text("utf-8"))
    return table


def rules_of(name: str, functions: JsonMapping) -> dict[str, model.Rule]:
    """The rules of a language by node type, with functions of these names."""
    table = table_of(f"rules/{name}.json")
    return _by_word(table["rules"], partial(_meaning, functions, table.get("common", NOTHING)))


@cache
def roles_of(language: model.Language) -> JsonMapping:
    """The role or rule of each node type of a language: that of its table, else what follows from
    its rules.
    """
    following = {
        kind: roles.FOLLOWING[type(rule)](rule) if type(rule) in roles.FOLLOWING else rule
        for kind, rule in language.rules.items()
    }
    return {**following, **control_of(language.control or SHARED).roles}


@cache
def control_of(name: str) -> Control:
    """The meaning of a language's nodes for control flow, with that of the table that it extends."""
    written = table_of(f"rules/{name}.json")["control"]
    base = control_of(written["extends"]) if "extends" in written else Control({})
    own = {fact: value for fact, value in written.items() if fact not in ("extends", "roles")}
    meanings = {**base.roles, **_by_word(written["roles"], partial(_meaning, NOTHING, NOTHING))}
    return replace(base, roles=meanings, **facts_of(Control, own))


def facts_of(kind: type[Any], written: JsonMapping, functions: JsonMapping = NOTHING) -> JsonObject:
    """Fields of a class as a table has them, with functions of these names. Raises KeyError for a
    field that the class does not have, and for one of a type that no table has.
    """
    types = {one.name: one.type for one in fields(kind)}
    return {name: _fact(types[name], value, functions) for name, value in written.items()}


def _fact(type_: str, written: Any, functions: JsonMapping) -> Any:
    if isinstance(written, dict):
        return _by_word(written, _ENTRIES[type_])
    if isinstance(written, list):
        return tuple(written)
    if not isinstance(written, str):
        return written
    return functions[written] if type_.startswith("Callable") else _READ[type_](written)


def _by_word(table: JsonMapping, read: Callable[[Any], Any]) -> JsonObject:
    return {word: read(value) for words, value in table.items() for word in words.split()}


def _in_order(text: str) -> Strings:
    return tuple(text.split())


def _flags(written: int | str) -> int:
    """The sum of the flags of some names; a number is itself."""
    if isinstance(written, int):
        return written
    return sum(getattr(expressions, word) for word in written.split())


# what reads the text that a table has for a field, by all types that such fields are declared with
_READ: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "Field": str,
    "Names": names,
    "Strings": _in_order,
    "tuple[Field, ...]": _in_order,
    "tuple[Names, ...]": lambda text: tuple(map(names, text.split(";"))),
    "int": _flags,
    "Kind": Kind,
    "Kind | None": Kind,
    "Leap": Leap,
}


def _inherited(written: JsonMapping) -> model.Inherited:
    """By the names of type parameters, the types of the results of methods."""
    ((parameters, members),) = written.items()
    return model.Inherited(_in_order(parameters), _by_word(members, _type))


def _type(written: str) -> expressions.Expression:
    """A type parameter, or a generic type with one: `T`, `List<T>`."""
    base, _, inner = written.rstrip(">").partition("<")
    if inner:
        return (expressions.GENERIC, base, (_type(inner),))
    return (expressions.TYPE_PARAMETER, None, base)


# likewise what reads one value of a mapping
_ENTRIES: Mapping[str, Callable[[Any], Any]] = {
    "NameTable": str,
    "Mapping[str, Strings]": tuple,
    "Mapping[str, tuple[int, int]]": tuple,
    "Mapping[str, tuple[int | str, ...]]": tuple,
    "Mapping[str, int]": _flags,
    "Mapping[str, Filling]": model.Filling,
    "Mapping[str, Inherited]": _inherited,
}


def _meaning(functions: JsonMapping, common: JsonMapping, written: Any) -> Any:
    """A rule or role by its name, with functions and `common` fields of these names."""
    if isinstance(written, list):
        place, forms = (written[0], written[1:]) if isinstance(written[0], str) else ("", written)
        meanings = [(mark, _meaning(functions, common, role)) for mark, role in forms]
        return Forms(tuple(meanings), place)
    written_out: JsonObject = written if isinstance(written, dict) else {written: {}}
    ((name, given),) = written_out.items()
    kind = getattr(model, name, None) or getattr(roles, name, None)
    if kind is None:
        return model.Custom(functions[name], str(given or ""))
    own = dict(given)
    also = own.pop("also", None)
    own = common.get(own.pop("as", ""), NOTHING) | own
    rule = kind(**facts_of(kind, own, functions))
    return rule if also is None else model.Custom(function(rule, functions[also]))


def function(
    rule: model.Rule, then: Callable[[Lowering, Node], None]
) -> Callable[[Lowering, Node], Any]:
    """A definition by rule; `then` reads, in its scope, the parts that the rule leaves out."""

    def lower(walk: Lowering, node: Node) -> Any:
        result = walk.as_rule(rule, node)
        draft, parent = walk.drafts[result[1]], walk.scope
        if draft is not None:
            walk.scope = draft
            then(walk, node)
            walk.scope = parent
        return result

    return lower
