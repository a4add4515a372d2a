"""Ruby.

Constants are global and classes are open: all files that define `A::B` define one class. A bare
name is a local variable when one is in scope, else a call of the receiver. A block is an anonymous
function that reaches the method as the keyword argument `&`.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    CALL,
    CONST,
    DEFINED,
    EITHER,
    ELEMENT,
    ITEM,
    LITERAL,
    MAPPING,
    MEMBER,
    SEQUENCE,
    SPREAD,
    TYPED,
    Expression,
    Expressions,
    NamedExpressions,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.languages.model import (  # fmt: skip
    Files,
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    children_in,
    first_part,
    line_of,
    named_parts,
)
from tersely.code.languages.parts import ruby_classes, ruby_directives
from tersely.code.languages.parts.ruby_classes import BLOCK, define, method_around, receive_block
from tersely.code.languages.parts.ruby_directives import DIRECTIVES
from tersely.code.languages.parts.ruby_names import BODIES, arguments_in, bind, holder, symbol_in
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import file_name_of
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

EVERY_VALUE = frozenset({"each_value", "values_at"})


# Methods that give a block the elements of the receiver.
ITERATING = names(
    "each map collect select filter reject find detect find_all each_with_index flat_map collect_concat sort_by min_by "
    "max_by group_by partition any? all? none? one? count sum each_with_object filter_map find_index index "
    "take_while drop_while each_entry reverse_each delete_if keep_if map! select! reject! uniq to_h cycle each_slice "
    "zip sum sort_by! tally_by find_each"
)
NEVER_RETURNING = names("raise fail throw abort exit exit!")  # a call of them gives no value
SENDING = names("send public_send __send__")
HANDING_OVER = names("tap then yield_self")  # give a block the receiver itself
INLINE = names("included class_methods class_eval module_eval instance_eval concerning prepended")
CALLBACKS = ("before_", "after_", "around_", "validate", "helper_method", "set_callback", "skip_")
OPERATORS = names("+ - * / % ** == != < > <= >= <=> === =~ << >> & | ^")


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files of a `require`: relative to the importer for leading dots, else under a load path,
    `lib` first.
    """
    if module.startswith("."):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        return [form for form in (f"{path}.rb", path) if files.exists(form)]
    stem = module.removesuffix(".rb")
    found = files.ending(f"{stem}.rb")
    return sorted(
        found, key=lambda path: (not _is_load_path(path[: -len(stem) - 3]), path.count("/"), path)
    )


def _is_load_path(directory: str) -> bool:
    return file_name_of(directory.rstrip("/")) in (
        "",
        "lib",
        "app",
        "ext",
        "src",
        "test",
        "spec",
    )


# Calls


def _lower_call(
    walk: Lowering, node: Node, receiver: OptionalNode, method: OptionalNode, block: OptionalNode
) -> Expression:
    if method is not None and method.type == "super":
        return _call_super(walk, node, method)
    name = walk.text(method) if method is not None else "call"
    if receiver is None or receiver.type == "self":
        special = DIRECTIVES.get(name)
        if special is not None and special(walk, node, name):
            return None
    if block is not None and name in INLINE and walk.scope.kind in BODIES:
        walk.field_value(block, "body")
        return None
    line = (method or node).end_point[0] + 1
    base = walk.value(receiver)
    positional, keywords, arguments = _lower_arguments(walk, node, base)
    sent = symbol_in(walk, arguments[0]) if arguments and name in SENDING else ""
    if sent:  # `send(:name, …)` calls `name`
        name, positional = sent, positional[1:]
    if receiver is None:
        return _call_own(walk, name, arguments, _Passed(positional, keywords), line)
    if name == "new" and walk.text(receiver) == "Proc" and keywords:
        return keywords[-1][1]
    if name == "class" and not arguments:
        return (MEMBER, base, name)
    walk.mentions.add(name)
    return walk.call((MEMBER, base, name), positional, keywords, line)


class _Passed(NamedTuple):
    """The values of the arguments of a call."""

    positional: Expressions
    keywords: tuple[tuple[str, Expression], ...]


def _call_own(
    walk: Lowering, name: str, arguments: list[Node], passed: _Passed, line: int
) -> Expression:
    """A call without a receiver: of a method of `self`, or of a function that Ruby has."""
    positional, keywords = passed
    if name in ("lambda", "proc") and keywords and keywords[-1][0] == BLOCK:
        return keywords[-1][1]
    if name == "method" and arguments:
        return symbol_in(walk, arguments[0]) or None
    if name == "raise" and arguments and arguments[0].type in ("constant", "scope_resolution"):
        walk.call((MEMBER, positional[0], "new"), positional[1:], (), line)
    if walk.scope.kind in BODIES and name.startswith(CALLBACKS):
        _call_named(walk, arguments, line)
    walk.mentions.add(name)
    walk.scope.read.add(name)
    made = walk.call(name, positional, keywords, line)
    return None if name in NEVER_RETURNING else made


def _call_named(walk: Lowering, arguments: list[Node], line: int) -> None:
    """`before_action :name`: a method of the instances is called on behalf of the class."""
    for argument in arguments:
        name = symbol_in(walk, argument) if argument.type == "simple_symbol" else ""
        if name:
            owner = (TYPED, (DEFINED, walk.scope.definition))
            walk.call(walk.member(owner, name), (), (), line)


Arguments = tuple[Expressions, tuple[tuple[str, Expression], ...], list["Node"]]


def _lower_arguments(walk: Lowering, node: Node, receiver: Expression) -> Arguments:
    """Positional and keyword arguments with the nodes of the former. A block is a keyword argument."""
    positional: list[Expression] = []
    keywords: NamedExpressions = []
    nodes: list[Node] = []
    for argument in arguments_in(node):
        if argument.type == "pair":
            key, value = children_in(argument, "key", "value")
            name = _key(walk, key) if key is not None else None
            plain = name[1] if is_tagged(name, CONST) and type(name[1]) is str else ""
            keywords.append((plain, walk.value(value or key)))
        elif argument.type == "hash_splat_argument":
            keywords.append(("", walk.value(first_part(argument))))
        elif argument.type == "block_argument":
            keywords.append((BLOCK, _lower_block_argument(walk, argument, receiver)))
        else:
            nodes.append(argument)
            positional.append(walk.value(argument))
    block = node.child_by_field_name("block")
    if block is not None:
        method = node.child_by_field_name("method")
        given = _block_argument(walk.text(method), receiver)
        keywords.append((BLOCK, _lower_block(walk, block, given)))
    return tuple(positional), tuple(keywords), nodes


def _block_argument(method: str, receiver: Expression) -> Expression:
    """The value that a method passes to its block."""
    if receiver is None:
        return None
    if method in ITERATING:
        return (ELEMENT, receiver)
    if method in EVERY_VALUE:
        return (ITEM, receiver, None)
    return receiver if method in HANDING_OVER else None


def _lower_block_argument(walk: Lowering, argument: Node, receiver: Expression) -> Expression:
    """`&block`, `&:name` (calls `name` on each element), `&method(:name)`."""
    inner = first_part(argument)
    if inner is not None and inner.type == "simple_symbol" and receiver is not None:
        name = symbol_in(walk, inner)
        walk.call(walk.member((ELEMENT, receiver), name), (), (), line_of(argument))
        return None
    return walk.value(inner) if inner is not None else BLOCK


def _lower_block(walk: Lowering, node: Node, given: Expression = None) -> Expression:
    listed, body = children_in(node, "parameters", "body")
    if node.type == "lambda" and body is not None:
        body = body.child_by_field_name("body")
    return define(
        walk, node, Kind.LAMBDA, walk.anonymous("lambda"), None, listed, body, given=given
    )


def _lower_yield(walk: Lowering, node: Node) -> Expression:
    method = method_around(walk)
    if method is not None:
        receive_block(method)
    values: list[Expression] = []
    for child in named_parts(node):
        values += walk.values(child)
    return walk.call(BLOCK, tuple(values), (), line_of(node))


def _lower_super(walk: Lowering, node: Node) -> Expression:
    return _call_super(walk, node, node)


def _call_super(walk: Lowering, node: Node, name: Node) -> Expression:
    method = method_around(walk)
    positional, keywords, _ = (
        _lower_arguments(walk, node, None) if node.type == "call" else ((), (), [])
    )
    line = line_of(name)
    if method is None:
        return None
    wanted = walk.definitions[method.definition].name
    walk.mentions.add(wanted)
    if node.type != "call":  # passes on the arguments of the method
        positional = tuple(parameter.name for parameter in method.parameters if parameter.mode == 0)
    return walk.call((MEMBER, (CALL, "super", (), (), line), wanted), positional, keywords, line)


def _lower_identifier(walk: Lowering, node: Node) -> Expression:
    """A local variable in sight, else a call without arguments."""
    name = walk.text(node)
    walk.scope.read.add(name)
    if name in walk.scope.bound or holder(walk, name) is not None:
        return name
    if name == "module_function" and walk.scope.kind in BODIES:
        walk.notes[f"functions {walk.scope.definition}"] = True
        return None
    if name in SILENT:
        return None
    walk.mentions.add(name)
    return walk.call(name, (), (), line_of(node))


SILENT = names(
    "private public protected private_constant raise block_given? __method__ __dir__ binding"
)


# Values


def _lower_body(walk: Lowering, node: Node) -> Expression:
    """Statements: the value of the last one, or of a `rescue`."""
    last: Expression = None
    others: list[Expression] = []
    for child in named_parts(node):
        if child.type in ("comment", "heredoc_body"):
            walk.values(child)
        elif child.type in ("rescue", "else"):
            others.append(walk.value(child))
        elif child.type == "ensure":
            walk.value(child)
        else:
            last = walk.value(child)
    return either(last, *others)


def _lower_branches(walk: Lowering, node: Node) -> Expression:
    """The value of `if`, `unless`, `case` and `?:` is that of a branch."""
    values: list[Expression] = []
    for position, child in enumerate(node.children):
        if not child.is_named:
            continue
        value = walk.value(child)
        field = node.field_name_for_child(position)
        if field in ("consequence", "alternative", "body") or child.type in (
            "when",
            "else",
            "in_clause",
            "elsif",
        ):
            values.append(value)
    return either(*values)


def _lower_rescue(
    walk: Lowering, node: Node, exceptions: OptionalNode, variable: OptionalNode, body: OptionalNode
) -> Expression:
    types = walk.values(exceptions)
    if variable is not None:
        for target in named_parts(variable):
            bind(walk, target, either(*[(TYPED, type_) for type_ in types if type_ is not None]))
    return walk.value(body)


def _lower_return(walk: Lowering, node: Node) -> None:
    for child in named_parts(node):
        values = walk.values(child)
        value = (
            values[0]
            if len(values) == 1
            else (SEQUENCE, tuple(values), walk.next_serial())
            if values
            else None
        )
        if value is not None and node.type == "return":
            walk.scope.returns.append(value)


def _lower_for(
    walk: Lowering, node: Node, pattern: OptionalNode, value: OptionalNode, body: OptionalNode
) -> None:
    iterable = either(*walk.values(value))
    if pattern is not None:
        bind(walk, pattern, iterable and (ELEMENT, iterable))
    walk.value(body)


def _lower_binary(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Expression:
    sign = operator.type if operator is not None else ""
    first, second = walk.value(left), walk.value(right)
    if sign in ("||", "or"):
        return either(first, second)
    if sign in ("&&", "and"):
        return second
    if sign == "<<" and first is not None:
        walk.scope.binds.append(((ITEM, first, None), second))
    if sign in OPERATORS and first is not None and not is_tagged(first, LITERAL, CONST):
        walk.mentions.add(sign)
        return walk.call((MEMBER, first, sign), (second,), (), line_of(node))
    return None


def _lower_item(walk: Lowering, node: Node) -> Expression:
    """`container[key]`."""
    container = walk.field_value(node, "object")
    keys = tuple(
        walk.value(child)
        for child in named_parts(node)[1:]
        if child.type not in ("block", "do_block")
    )
    if container is None:
        return None
    called = walk.call((MEMBER, container, "[]"), keys, (), line_of(node))
    return (EITHER, ((ITEM, container, keys[0] if len(keys) == 1 else None), called))


def _key(walk: Lowering, node: Node) -> Expression:
    if node.type == "hash_key_symbol":
        return (CONST, walk.text(node))
    return walk.value(node)


def _lower_hash(walk: Lowering, node: Node) -> Expression:
    pairs: list[tuple[Expression, Expression]] = []
    for child in named_parts(node):
        if child.type == "pair":
            key, value = children_in(child, "key", "value")
            pairs.append((_key(walk, key) if key is not None else None, walk.value(value)))
        elif child.type == "hash_splat_argument":
            pairs.append(((SPREAD, None), walk.value(first_part(child))))
    return (MAPPING, tuple(pairs), walk.next_serial())


def _lower_symbol(walk: Lowering, node: Node) -> Expression:
    name = symbol_in(walk, node)
    return (CONST, name) if name else (LITERAL, "Symbol")


def _lower_scope(walk: Lowering, node: Node, scope: OptionalNode, name: OptionalNode) -> Expression:
    """`A::B`, `::B`."""
    if name is None:
        return walk.value(scope)
    text = walk.text(name)
    walk.mentions.add(text)
    if scope is None:
        walk.scope.read.add(text)
        return text
    return (MEMBER, walk.value(scope), text)


def _lower_own_variable(walk: Lowering, node: Node) -> Expression:
    walk.mentions.add(walk.text(node))
    return (MEMBER, "self", walk.text(node))


def _lower_pattern_name(walk: Lowering, node: Node) -> None:
    """`in {name:}` binds `name`; `in [a, b]` and `in Type => x` bind the names in them."""
    for child in named_parts(node):
        if child.type == "identifier":
            bind(walk, child, None)
        elif child.type in ("keyword_pattern", "pair"):
            key, value = children_in(child, "key", "value")
            if value is None and key is not None:
                walk.bind_name(walk.text(key).rstrip(":"), None)
            else:
                walk.value(value)
        else:
            walk.value(child)


COMMON = names(
    "each map select reject find first last push pop shift unshift size length empty? nil? to_s to_a to_h to_i to_sym "
    "keys values merge merge! dup clone freeze inspect hash is_a? kind_of? respond_to? send include? join split gsub "
    "sub strip chomp start_with? end_with? match match? upcase downcase capitalize puts print format any? all? none? "
    "sort sort_by min max sum count uniq flatten compact reverse concat delete delete_if fetch dig key? has_key? "
    "tap then class call new name == != < > <= >= <=> === + - * / % ** << >> & | ^ =~ [] []= ! eql? equal? "
    "instance_of? object_id method methods extend read write close open exist? each_with_index group_by partition "
    "reduce inject zip take drop index find_index replace clear update insert instance_variable_get message"
)

RUBY = Language(
    name="ruby",
    checks_types=False,
    grammar=wheel("tree_sitter_ruby"),
    rules=rules_of("ruby", vars(ruby_classes) | vars(ruby_directives) | globals()),
    control="ruby",
    resolution=Resolution(
        **resolution_facts("ruby"),
        modules=module_files,
        function_combinators=(COMMON - {"call"})
        | names("arity parameters source_location bind curry receiver"),
        summaries=summaries("ruby", "functions"),
        common_members=COMMON,
    ),
)
