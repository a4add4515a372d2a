"""Macros of Rust: what they are given are tokens, read as far as these look like expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CONST,
    EITHER,
    IMPORTED,
    ITEM,
    LITERAL,
    MEMBER,
    SEQUENCE,
    TYPED,
    Expression,
    is_tagged,
)
from tersely.code.languages.model import names
from tersely.code.languages.nodes import TYPE_OF, OptionalNode, all_parts, line_of, named_parts
from tersely.code.languages.parts.rust_modules import PATH_WORDS, SEPARATOR, from_file
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

OWN_MACROS = "macros"  # a note of the macros that the file has defined so far
PATH_TOKENS = ("identifier", "self", "crate", "super", "metavariable")
STANDARD_MACROS = names(
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne env "
    "eprint eprintln file format format_args include include_bytes include_str line matches module_path option_env "
    "panic print println stringify thread_local todo unimplemented unreachable vec write writeln"
)


def lower_macro_call(
    walk: Lowering, node: Node, name: OptionalNode, tree: OptionalNode
) -> Expression:
    """`name!(tokens)`: calls the macro, and the functions that the tokens call."""
    return _macro_value(walk, walk.callee(name), tree, line_of(node))


def lower_macro(walk: Lowering, node: Node, name: OptionalNode) -> Expression:
    """`macro_rules! name { … }`: its bodies call the functions that they name."""
    text = walk.text(name) if name is not None else walk.anonymous("macro")
    draft = walk.enter(node, Kind.MACRO, text, name, None)
    walk.notes.setdefault(OWN_MACROS, set()).add(text)
    walk.scope = draft
    for rule in named_parts(node):
        _Tokens(walk, _inside(rule.child_by_field_name("right"))).values()
    return walk.leave(draft)


def part_of(typed: Expression, field: str) -> Expression:
    """A field of the type that a pattern names: of a variant or of a struct."""
    if typed is None:
        return None
    struct = (MEMBER, (TYPED, typed), field)
    if is_tagged(typed, MEMBER):
        return (EITHER, ((MEMBER, typed[1], f"{typed[2]}.{field}"), struct))
    if is_tagged(typed, IMPORTED) and SEPARATOR in typed[1]:
        owner, _, name = typed[1].rpartition(SEPARATOR)
        return (EITHER, ((MEMBER, (IMPORTED, owner, name), f"{typed[2]}.{field}"), struct))
    if type(typed) is str:  # a variant by its own name is an instance of its enum
        return (EITHER, ((MEMBER, typed, f"{typed}.{field}"), struct))
    return struct


def _inside(tree: OptionalNode) -> list[Node]:
    """The tokens between the delimiters of a tree."""
    return all_parts(tree)[1:-1] if tree is not None else []


def _macro_value(walk: Lowering, callee: Expression, tree: OptionalNode, line: int) -> Expression:
    """The result of a macro that is called with a token tree."""
    if callee == "matches" and tree is not None:
        _match(walk, _inside(tree))
        return (LITERAL, "bool")
    values = tuple(_Tokens(walk, _inside(tree)).values())
    if callee == "vec":
        return (SEQUENCE, values, walk.next_serial())
    if type(callee) is str:
        walk.scope.read.add(callee)
        is_standard = callee in STANDARD_MACROS and callee not in walk.notes.get(OWN_MACROS, ())
        callee = f"{callee}!" if is_standard else callee
    if callee is not None:
        walk.call(callee, values, (), line)
    return None


def _match(walk: Lowering, tokens: list[Node]) -> None:
    """`value, pattern if guard`: the guard sees the names of the pattern."""
    kinds = [token.type for token in tokens]
    comma = kinds.index(",") if "," in kinds else len(tokens)
    guard = kinds.index("if", comma) if "if" in kinds[comma:] else len(tokens)
    before = dict(walk.scope.versions)
    values = _Tokens(walk, tokens[:comma]).values()
    _Tokens(walk, tokens[comma + 1 : guard]).bind(values[0] if len(values) == 1 else None)
    _Tokens(walk, tokens[guard + 1 :]).values()
    walk.scope.versions = before


def _comma_separated(tree: Node) -> list[list[Node]]:
    """The tokens between the delimiters of a tree, as commas separate them."""
    found: list[list[Node]] = [[]]
    for token in _inside(tree):
        if token.type == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _bind_variant(walk: Lowering, tree: Node, made: Expression, value: Expression) -> None:
    """`Variant(a, b)`, `Variant { a, b: c }` as tokens."""
    by_name = all_parts(tree)[0].type == "{"
    for place, part in enumerate(_comma_separated(tree)):
        field = walk.text(part[0]) if by_name and part else str(place)
        is_renamed = by_name and [token.type for token in part[1:2]] == [":"]
        held = value if made in ("Some", "Ok") else part_of(made, field) if made != "Err" else None
        _Tokens(walk, part[2:] if is_renamed else part).bind(held)


class _Tokens:
    """Tokens that are read one after the other."""

    def __init__(self, walk: Lowering, tokens: list[Node]) -> None:
        self._walk = walk
        self._tokens = tokens
        self._kinds = [*map(TYPE_OF, tokens), "", ""]  # none behind the last one
        self._at = 0

    def _take(self) -> Node:
        self._at += 1
        return self._tokens[self._at - 1]

    def values(self) -> list[Expression]:
        """The values of the expressions that the tokens may be read as."""
        found: list[Expression] = []
        while self._kinds[self._at]:
            value = self._expression()
            if value is not None:
                found.append(value)
        return found

    def bind(self, value: Expression) -> None:
        """Bind the names of a pattern."""
        walk = self._walk
        while kind := self._kinds[self._at]:
            text = walk.text(self._tokens[self._at])
            if kind == "identifier" and (
                text[:1].isupper() or self._kinds[self._at + 1] == SEPARATOR
            ):
                made = self._path(self._take())
                if self._kinds[self._at] == "token_tree":
                    _bind_variant(walk, self._take(), made, value)
                continue
            token = self._take()
            if kind == "token_tree":
                for place, part in enumerate(_comma_separated(token)):
                    _Tokens(walk, part).bind(value and (ITEM, value, (CONST, place)))
            elif kind == "identifier":
                walk.bind_anew(text, value, token)

    def _expression(self) -> Expression:
        """A path with its members and calls."""
        token = self._take()
        if token.type == "token_tree":
            values = _Tokens(self._walk, _inside(token)).values()
            return self._postfix(values[0] if len(values) == 1 else None)
        if token.type in PATH_TOKENS:
            if self._kinds[self._at] == "!" and self._kinds[self._at + 1] == "token_tree":
                self._take()
                tree = self._take()
                return _macro_value(self._walk, self._walk.text(token), tree, line_of(tree))
            return self._postfix(self._path(token))
        return (LITERAL, "str") if token.type.endswith("_literal") else None

    def _path(self, first: Node) -> Expression:
        walk, names = self._walk, [self._walk.text(first)]
        while (
            self._kinds[self._at] == SEPARATOR
            and self._kinds[self._at + 1]
            and not named_parts(self._tokens[self._at + 1])
        ):
            self._take()
            names.append(walk.text(self._take()))
        if names[0] in PATH_WORDS and len(names) > 1:
            names = from_file(walk, names)
            walk.mentions.update(names)
            return (IMPORTED, SEPARATOR.join(names[:-1]), names[-1])
        walk.scope.read.add(names[0])
        walk.mentions.update(names[1:])
        value: Expression = walk.current_variable(names[0])
        for name in names[1:]:
            value = (MEMBER, value, name)
        return value

    def _postfix(self, value: Expression) -> Expression:
        """A value with the members, calls, keys and `?` behind it."""
        walk = self._walk
        while kind := self._kinds[self._at]:
            if kind == "token_tree":
                tree = self._tokens[self._at]
                bracket = all_parts(tree)[0].type
                if bracket not in ("(", "["):
                    break
                values = tuple(_Tokens(walk, _inside(self._take())).values())
                if value is not None and bracket == "(":
                    value = walk.call(value, values, (), line_of(tree))
                elif value is not None:
                    value = (ITEM, value, None)
            elif kind == "." and self._kinds[self._at + 1]:
                self._take()
                value = walk.member(value, walk.text(self._take()))
            elif kind == "?":
                self._take()
            else:
                break
        return value
