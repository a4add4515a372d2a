"""Elixir: the order in which statements run.

Everything is a call, so what a call means follows from its name, and where the parts of a form stand from whether they
are given as blocks or as keywords. Values never change; names are bound anew in the block that is being read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Chain,
    Choice,
    Chosen,
    Clause,
    Clauses,
    Constant,
    Control,
    Each,
    Else,
    Finally,
    Given,
    If,
    Marked,
    Match,
    Pinned,
    Qualified,
    Suite,
    Switch,
    Try,
    Unary,
)
from tersely.code.languages.elixir import (
    FUNCTIONS,
    SILENT_ATTRIBUTES,
    TYPE_ATTRIBUTES,
    arguments_of,
    do_block_of,
    head_of,
    operator_of,
    part,
)
from tersely.code.languages.model import (
    Call,
    Class,
    Function,
    Inner,
    Item,
    Iterate,
    Member,
    Name,
    Pair,
    Skip,
    names,
)
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    Text = Callable[[Node], str]

CALL = Call("target", ":arguments")
HANDLER = Catch("", "", cases=True)
GIVEN = Given(":arguments", ":do_block")
FIRST = ":arguments/*0"
UNRUN_ATTRIBUTES = SILENT_ATTRIBUTES | TYPE_ATTRIBUTES | names("callback macrocallback behaviour behavior")
RESCUING = frozenset({"rescue_block", "catch_block", "after_block", "else_block"})


def _at(node: Node, field: str) -> str:
    """The way to the node in a field, by position: the field's name is also that of parentheses around it."""
    found = part(node, field)
    places = (at for at, child in enumerate(node.named_children) if found is not None and child.id == found.id)
    return f"#{next(places)}" if found is not None else ""


def _keyword_at(node: Node, text: Text, wanted: str) -> str:
    """The way from a call to the value of `wanted: value` among its arguments."""
    arguments = arguments_of(node)
    last = arguments[-1] if arguments else None
    for at, pair in enumerate(last.named_children if last is not None and last.type == "keywords" else ()):
        key = part(pair, "key")
        if key is not None and text(key).strip() == f"{wanted}:":
            return f":arguments/:keywords/#{at}/{_at(pair, 'value')}"
    return ""


def _body_at(node: Node, text: Text) -> str:
    return ":do_block" if do_block_of(node) is not None else _keyword_at(node, text, "do")


def _else_at(node: Node, text: Text) -> str:
    return ":do_block/:else_block" if do_block_of(node) is not None else _keyword_at(node, text, "else")


def _form_of(node: Node | None, text: Text) -> str:
    """The name that a call calls, if it is a plain one."""
    target = part(node, "target") if node is not None and node.type == "call" else None
    return text(target) if target is not None and target.type == "identifier" else ""


# Calls


def _call(node: Node, text: Text) -> Any:
    name = _form_of(node, text)
    if name in FUNCTIONS:
        return _function(node, text)
    form = FORMS.get(name)
    if form is not None and _body_at(node, text):
        return form(node, text)
    target = part(node, "target")
    if do_block_of(node) is not None:
        return GIVEN
    listed = any(child.type == "arguments" for child in node.named_children)
    return Inner("target") if target is not None and target.type == "dot" and not listed else CALL


def _test(node: Node, text: Text) -> If:
    negated = _form_of(node, text) == "unless"
    return If(FIRST, _body_at(node, text), _else_at(node, text), negated=negated, outlives=True)


def _switch(node: Node, text: Text) -> Switch:
    return Switch(FIRST, ":do_block", fails=True, outlives=True)


def _open_switch(node: Node, text: Text) -> Switch:
    return Switch("", ":do_block", fails=True)


def _chain(node: Node, text: Text) -> Chain:
    return Chain(":arguments", _body_at(node, text), _else_at(node, text))


def _loop(node: Node, text: Text) -> Any:
    arguments = arguments_of(node)
    if not arguments:
        return CALL
    first, way = arguments[0], FIRST
    while first.type == "bitstring" and first.named_child_count:  # `for <<a, b <- bytes>>`: the last one has the arrow
        first, way = first.named_children[-1], f"{way}/#-1"
    if operator_of(first) != "<-":
        return CALL
    target, iterable = (f"{way}/{_at(first, field)}" for field in ("left", "right"))
    return Each(target, iterable, _body_at(node, text), clauses=":arguments", collects=True)


def _try(node: Node, text: Text) -> Try:
    return Try("", inside=":do_block") if do_block_of(node) is not None else Try(_keyword_at(node, text, "do"))


def _module(node: Node, text: Text) -> Class:
    return Class(name=FIRST, body=_body_at(node, text))


FORMS: dict[str, Callable[[Node, Text], Any]] = {
    **dict.fromkeys(("if", "unless"), _test),
    "case": _switch,
    **dict.fromkeys(("cond", "receive"), _open_switch),
    "with": _chain,
    "for": _loop,
    "try": _try,
    **dict.fromkeys(("defmodule", "defprotocol", "defimpl"), _module),
}


# Functions


def _ways_of_head(node: Node) -> tuple[str, str, str]:
    """The ways to the name, the parameters and the guard of a definition; "" for what it has not."""
    head, way, guard = arguments_of(node)[0], FIRST, ""
    if operator_of(head) == "when":
        way, guard = f"{FIRST}/{_at(head, 'left')}", f"{FIRST}/{_at(head, 'right')}"
        head = part(head, "left") or head
    if head.type == "call":
        return f"{way}/{_at(head, 'target')}", f"{way}/:arguments", guard
    return way, way if head.type.endswith("_operator") else "", guard


def _function(node: Node, text: Text) -> Any:
    if not arguments_of(node):
        return CALL
    name, parameters, guard = _ways_of_head(node)
    body = _body_at(node, text) or (guard if _form_of(node, text).startswith("defguard") else ":do_block")
    return Function(Kind.FUNCTION, name, parameters, body, body_is_value=True)


def _clause(node: Node, text: Text) -> Clause | None:
    """`def` and its relatives: one of the clauses of a function. Without a body it is the head of those after it."""
    form = _form_of(node, text)
    if form not in FUNCTIONS or not arguments_of(node):
        return None
    body = _body_at(node, text)
    written, _, listed, _ = head_of(text, arguments_of(node)[0])
    name, parameters, guard = _ways_of_head(node)
    case = Case(parameters, guard, body, binds=True, fits=not guard and _are_names(listed, text))
    return Clause(f"{form.removesuffix('p')} {written}/{len(listed)}", name, case if body else None)


def _are_names(patterns: list[Node], text: Text) -> bool:
    """Whether patterns fit everything: names, each another one."""
    written = [text(pattern) for pattern in patterns]
    named = [name for name in written if name != "_"]
    return all(pattern.type == "identifier" for pattern in patterns) and len(named) == len(set(named))


def _anonymous(node: Node, text: Text) -> Any:
    clauses = [child for child in node.named_children if child.type == "stab_clause"]
    if len(clauses) != 1 or _guarded(clauses[0]):
        return Clauses()
    left, right = (_at(clauses[0], field) for field in ("left", "right"))
    if not right:
        return Skip()
    parameters = f":stab_clause/{left}" if left else ""
    return Function(Kind.LAMBDA, "", parameters, f":stab_clause/{right}", body_is_value=True)


def _guarded(clause: Node) -> bool:
    left = part(clause, "left")
    return left is not None and operator_of(left) == "when"


def _case(node: Node, text: Text) -> Case:
    """`patterns when guard -> body`; under `cond` a test stands for the patterns."""
    left, right = part(node, "left"), _at(node, "right")
    block = node.parent
    if block is not None and _form_of(block.parent, text) == "cond":
        return Case(_at(node, "left"), "", right, wildcards=names("true"))
    if left is None:
        return Case("", "", right)
    pattern, guard = _at(node, "left"), ""
    if operator_of(left) == "when":
        pattern, guard = f"{pattern}/{_at(left, 'left')}", f"{pattern}/{_at(left, 'right')}"
    listed = part(left, "left") if guard else left
    parts = listed.named_children if listed is not None and listed.type == "arguments" else []
    return Case(pattern, guard, right, binds=True, fits=bool(parts) and not guard and _are_names(parts, text))


# Blocks


def _block(node: Node, text: Text) -> Any:
    """What a `do … end` is, where the form that it belongs to does not say it."""
    kinds = {child.type for child in node.named_children}
    form = _form_of(node.parent, text)
    if form not in FORMS and kinds & RESCUING:
        return Try("")
    return Switch("", "", fails=True) if "stab_clause" in kinds else Suite()


def _else(node: Node, text: Text) -> Else:
    return Else("", cases=any(child.type == "stab_clause" for child in node.named_children))


def _after(node: Node, text: Text) -> Any:
    """`after` of a `receive` is one more case, of any other block what runs at its end."""
    around = node.parent
    if around is not None and _form_of(around.parent, text) == "receive":
        return Case(":stab_clause/#0", "", ":stab_clause/#-1", default=True)
    return Finally("")


def _parentheses(node: Node, text: Text) -> Any:
    if any(child.type == "stab_clause" for child in node.named_children):
        return Switch("", "", fails=True)
    return Inner() if node.named_child_count == 1 else Suite(scoped=False)


# Operators


def _binary(node: Node, text: Text) -> Any:
    operator = operator_of(node)
    left, right = _at(node, "left"), _at(node, "right")
    if operator == "|>":
        return _pipe(node, text, left, right)
    if operator == "::":
        return Qualified(left, _size_at(part(node, "right"), right))
    made = OPERATORS.get(operator)
    return made(left, right) if made is not None else None


def _pipe(node: Node, text: Text, left: str, right: str) -> Any:
    """`value |> case do … end` chooses by the value."""
    into = part(node, "right")
    if _form_of(into, text) == "case" and into is not None and do_block_of(into) is not None:
        return Switch(left, f"{right}/:do_block", fails=True)
    return None


def _size_at(about: Node | None, way: str) -> str:
    """The way to `size(n)` in `binary-size(n)`: nothing else there is evaluated."""
    while about is not None and about.type == "binary_operator":
        way, about = f"{way}/{_at(about, 'right')}", part(about, "right")
    return way if about is not None and about.type == "call" else ""


OPERATORS: dict[str, Callable[[str, str], Any]] = {
    "=": Match,
    "<-": Iterate,
    "=>": Pair,
    "when": Qualified,
    "in": Qualified,
    "\\\\": Qualified,
    **dict.fromkeys(("and", "or", "&&", "||"), Choice),
}


def _unary(node: Node, text: Text) -> Any:
    operand = part(node, "operand")
    sign = node.children[0].type if node.children else ""
    if sign == "^":
        return Pinned()
    if sign == "@":
        return _attribute(operand, text)
    if sign == "&" and operand is not None:
        return _capture(operand, _at(node, "operand"))
    return Unary("operand", names("not !"))


def _attribute(operand: Node | None, text: Text) -> Any:
    if operand is None or operand.type != "call":
        return Marked("@", "operand")
    silent = _form_of(operand, text) in UNRUN_ATTRIBUTES or not arguments_of(operand)
    return Skip() if silent else Marked("@", "operand/target", "operand/:arguments")


def _capture(operand: Node, way: str) -> Any:
    """`&1` is an argument, `&f/1` a function by its name, `&(…)` an anonymous one."""
    if operand.type == "integer":
        return Skip()
    named = part(operand, "left") if operator_of(operand) == "/" else None
    if named is not None and named.type == "identifier":
        return Skip()
    target = part(named, "target") if named is not None and named.type == "call" else None
    if target is not None and target.type == "dot":
        return Inner(way)
    return Function(Kind.LAMBDA, "", "", way, body_is_value=True)


def _identifier(node: Node, text: Text) -> Any:
    return Skip() if text(node) == "_" or text(node).startswith("__") else Name()


CONTROL = Control(
    roles={
        "source": Suite(scoped=False),
        "do_block": Chosen(_block),
        "body": Suite(),
        "block": Chosen(_parentheses),
        "stab_clause": Chosen(_case),
        "rescue_block": HANDLER,
        "catch_block": HANDLER,
        "else_block": Chosen(_else),
        "after_block": Chosen(_after),
        "call": Chosen(_call),
        "anonymous_function": Chosen(_anonymous),
        "binary_operator": Chosen(_binary),
        "unary_operator": Chosen(_unary),
        "identifier": Chosen(_identifier),
        "dot": Member("left", "right"),
        "access_call": Item("target", "key"),
        "pair": Pair(),
        "boolean": Constant(),
        "nil": Constant(frozenset(), names("nil")),
    },
    immutable=True,
    functions_apart=True,
    clause=_clause,
    raising=names("raise reraise throw exit"),
)
