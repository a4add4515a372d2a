"""What tables say, as values: the rules of a language and the roles of its nodes, `rules/NAME.json`.

The section `rules` gives node types their rules (`model.py`), and `control` has the fields of a
`Control`: what node types mean for the order of statements (`roles.py`). Each of several words in a
key is a key, the words of a set or tuple are one text, and flags and functions have their names. A
rule or role is its name, or its name with the fields that differ from its own. A function in place
of a rule lowers the nodes itself (`Custom`), and is given the children in the fields that stand with
it; behind a rule, as `also`, it reads what the rule leaves out. A list has the `Forms` of a node.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tersely.code import expressions
from tersely.code.languages import model, roles
from tersely.code.languages.model import names
from tersely.code.languages.nodes import TYPE_OF, OptionalNode, last_part, named_parts
from tersely.code.languages.roles import Control, Forms, Leap
from tersely.code.symbols import Kind
from tersely.foundation.types import JsonMapping, JsonObject, fields, replace

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


@cache
def table_of(path: str) -> JsonMapping:
    """A table beside this, read when it is first asked for."""
    table: JsonMapping = json.loads((Path(__file__).parent / path).read_text("utf-8"))
    return table


def rules_of(name: str, functions: JsonMapping) -> dict[str, model.Rule]:
    """The rules of a language by node type, with functions of these names."""
    return _by_word(table_of(f"rules/{name}.json")["rules"], partial(_meaning, functions))


@cache
def control_of(name: str) -> Control:
    """The meaning of a language's nodes for control flow, with that of the table that it extends."""
    written = table_of(f"rules/{name}.json")["control"]
    base = control_of(written["extends"]) if "extends" in written else Control({})
    own = {fact: value for fact, value in written.items() if fact not in ("extends", "roles")}
    meanings = {**base.roles, **_by_word(written["roles"], partial(_meaning, {}))}
    return replace(base, roles=meanings, **facts_of(Control, own))


def facts_of(
    kind: type[Any], written: JsonMapping, plain: Callable[[Any], Any] = lambda value: value
) -> dict[str, Any]:
    """Fields of a class as a table has them, by their types; `plain` reads values of all others."""
    types = {one.name: one.type for one in fields(kind)}
    return {name: _fact(types[name], value, plain) for name, value in written.items()}


def _fact(type_: str, written: Any, plain: Callable[[Any], Any]) -> Any:
    if isinstance(written, dict):
        return _by_word(written, _ENTRIES.get(type_, plain))
    read = _READ.get(type_, plain) if isinstance(written, str) else plain
    return read(written)


def _by_word(table: JsonMapping, read: Callable[[Any], Any]) -> dict[str, Any]:
    return {word: read(value) for words, value in table.items() for word in words.split()}


def _in_order(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _flags(written: int | str) -> int:
    """The sum of the flags of some names; a number is itself."""
    if isinstance(written, int):
        return written
    return sum(getattr(expressions, word) for word in written.split())


# by the type of a field, what reads the text that a table has for it
_READ: Mapping[str, Callable[[str], Any]] = {
    "Names": names,
    "OrderedNames": _in_order,
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


# by the type of a mapping, what reads one of its values
_ENTRIES: Mapping[str, Callable[[Any], Any]] = {
    "Mapping[str, int]": _flags,
    "Mapping[str, Filling]": model.Filling,
    "Mapping[str, Inherited]": _inherited,
}


def _meaning(functions: JsonMapping, written: Any) -> Any:
    """A rule or role by its name."""
    if isinstance(written, list):
        return Forms(tuple((mark, _meaning(functions, role)) for mark, role in written))
    written_out: dict[str, Any] = written if isinstance(written, dict) else {written: {}}
    ((name, given),) = written_out.items()
    kind = getattr(model, name, None) or getattr(roles, name, None)
    if kind is None:
        return model.Custom(functions[name], str(given or ""))
    own = dict(given)
    also = own.pop("also", None)
    found = facts_of(kind, own)
    if functions:
        found |= _functions_among(kind, own, functions)
    rule = kind(**found)
    return rule if also is None else model.Custom(function(rule, functions[also]))


def _functions_among(kind: type[Any], given: JsonMapping, functions: JsonMapping) -> JsonObject:
    """The fields of a rule that are functions."""
    return {
        one.name: functions[given[one.name]]
        for one in fields(kind)
        if one.type.startswith("Callable") and one.name in given
    }


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


# What roles tell of conditions and bodies

DISJUNCTIONS = names("or ||")
NEGATIONS = ("not", "!")


def certain_parts(condition: Node, *, when: bool) -> list[tuple[Node, bool]]:
    """The conditions of which one consists that are known where it is true, or false: each with
    whether it is true.
    """
    found: list[tuple[Node, bool]] = []
    pending = [(condition, when)]
    while pending:
        part, holds = pending.pop()
        inside = named_parts(part) if part.child_count else []
        joining = roles.CONJUNCTIONS if holds else DISJUNCTIONS
        is_joined = not joining.isdisjoint(map(TYPE_OF, part.children))
        if part.type == "parenthesized_expression" or is_joined:
            pending += zip(reversed(inside), repeat(holds))
        elif inside and part.children[0].type in NEGATIONS:
            pending.append((inside[0], not holds))
        else:
            found.append((part, holds))
    return found


def leaves(language: model.Language, body: OptionalNode) -> bool:
    """True if the code behind a body does not run after it: its last statement is a jump."""
    known = _roles(language)
    while body is not None and type(known.get(body.type)) in (roles.Suite, roles.Case):
        body = last_part(body)
    return body is not None and type(known.get(body.type)) is roles.Goes


@cache
def _roles(language: model.Language) -> Mapping[str, Any]:
    return roles.roles_of(language, control_of(language.control or "shared"))
