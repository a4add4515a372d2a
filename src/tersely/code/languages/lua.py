"""Lua.

Modules and classes are tables: a table on which a file declares functions is a definition, a class
when one of them takes the receiver (`function T:m()`) or when it is a metatable. `object:m(x)` is
`object.m(object, x)`, here as there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CALL,
    CONST,
    EITHER,
    IMPORTED,
    ITEM,
    MAPPING,
    MEMBER,
    POSITIONAL,
    PRIVATE,
    REST,
    TYPED,
    Expression,
    Parameter,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.languages import model
from tersely.code.languages.model import (  # fmt: skip
    Comment,
    Custom,
    Files,
    Inner,
    Item,
    Language,
    Literal,
    Member,
    Name,
    Resolution,
    Skip,
    Summary,
    Text,
    control_table,
    names,
    shared_directories,
)
from tersely.code.languages.nodes import (
    all_parts,
    last_line_of,
    line_of,
    named_parts,
    operands_of,
    parts_in,
    parts_of,
)
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering

UNNAMED_TABLE = "{}"  # qualifies functions in a table that has no name
ITERATORS = frozenset({"pairs", "ipairs", "next"})


def grammar() -> object:
    """The grammar of the wheel."""
    import tree_sitter_lua

    return tree_sitter_lua.language()


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """`a.b` is `a/b.lua` or `a/b/init.lua` under some root; the root nearest to the importer first."""
    tail = module.replace(".", "/").strip("/")
    if not tail:
        return []
    found = [path for form in (f"{tail}.lua", f"{tail}/init.lua") for path in files.ending(form)]
    return sorted(
        found, key=lambda path: (-shared_directories(path, importer), path.count("/"), path)
    )


# Tables that have functions


def _tables(walk: Lowering, node: Node) -> dict[str, Kind]:
    """The tables of the file that are definitions; asked first when the walk meets the first
    assignment.
    """
    known: dict[str, Kind] | None = walk.notes.get("tables")
    if known is None:
        root = node
        while root.parent is not None:
            root = root.parent
        known = walk.notes["tables"] = _tables_with_functions(walk, root)
    return known


def _tables_with_functions(walk: Lowering, root: Node) -> dict[str, Kind]:
    """Dotted names of the tables on which functions are declared, with what they thereby are."""
    found: dict[str, Kind] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        pending.extend(named_parts(node))
        if node.type == "function_declaration":
            name = node.child_by_field_name("name")
            if name is not None and name.type == "method_index_expression":
                _note_table(walk, found, name, Kind.CLASS)
            elif name is not None and name.type == "dot_index_expression":
                _note_table(walk, found, name, Kind.NAMESPACE)
        elif node.type == "assignment_statement":
            targets, values = _sides(node)
            for target, value in zip(targets, values, strict=False):
                if target.type == "dot_index_expression" and _is_member_of_class(walk, target):
                    _note_table(walk, found, target, Kind.CLASS)
                elif target.type == "dot_index_expression" and value.type == "function_definition":
                    _note_table(walk, found, target, Kind.NAMESPACE)
    return found


def _is_member_of_class(walk: Lowering, target: Node) -> bool:
    field = target.child_by_field_name("field")
    return field is not None and walk.text(field) == "__index"


def _note_table(walk: Lowering, found: dict[str, Kind], member: Node, kind: Kind) -> None:
    path = _dotted(walk, member.child_by_field_name("table"))
    if path and found.get(path) is not Kind.CLASS:
        found[path] = kind


CALLED = "()"  # what the metatable of a class calls when the class is called


def _dotted(walk: Lowering, node: Node | None) -> str:
    """`a.b.c` as it is written without blanks, empty for anything else."""
    if node is None:
        return ""
    if node.type == "identifier":
        return walk.text(node)
    if node.type == "dot_index_expression":
        before = _dotted(walk, node.child_by_field_name("table"))
        last = node.child_by_field_name("field")
        return f"{before}.{walk.text(last)}" if before and last is not None else ""
    return ""


def _table_draft(walk: Lowering, path: str) -> ScopeDraft | None:
    """The open definition of a table, seen from the present scope."""
    position: int | None = walk.notes.get(f"table {path}")
    if position is None or walk.definitions[position].parent not in _around(walk):
        return None
    return walk.drafts[position]


def _around(walk: Lowering) -> set[int]:
    """Positions of the definitions around the present place, and of the tables in them."""
    found, position = set(), walk.scope.definition
    while position >= 0:
        found.add(position)
        position = walk.definitions[position].parent
    tables = [at for key, at in walk.notes.items() if key.startswith("table ")]
    return found | {at for at in tables if walk.definitions[at].parent in found}


def _define_table(
    walk: Lowering, node: Node, target: Node, value: Node, path: str, flags: int
) -> Expression:
    """`local T = {…}` for a table with functions: its bases are what the value is made from."""
    parent = walk.scope
    owner_path, _, name = path.rpartition(".")
    owner = _table_draft(walk, owner_path) if owner_path else None
    walk.notes.pop(CALLED, None)
    lowered = walk.value(value)
    called = walk.notes.pop(CALLED, None)
    walk.scope = owner or parent
    draft = walk.enter(
        node, _tables(walk, node)[path], name, target, None, "" if owner else owner_path
    )
    draft.flags |= flags
    draft.bases = _prototypes(lowered)
    if called is not None:
        draft.binds.append((CALLED, called))
    walk.notes[f"table {path}"] = draft.definition
    if owner is not None:
        _stretch(walk, owner.definition, node)
    if value.type == "table_constructor":
        walk.scope = draft
        for key, inner in _fields(value):
            if key is not None and inner.type == "function_definition":
                _define_function(walk, inner, walk.text(key), key, node=inner)
    return walk.leave(draft, parent)


def _prototypes(value: Expression) -> list[Expression]:
    """What a class is made from: `Base:extend()`, `class("T", Base)`, `setmetatable({}, {__index =
    Base})`.
    """
    if type(value) is not tuple:
        return []
    if value[0] == EITHER:
        return [base for part in value[1] for base in _prototypes(part)]
    if value[0] == TYPED:
        return [value[1]]
    if value[0] == CALL:
        receiver = [value[1][1]] if is_tagged(value[1], MEMBER) else []
        return [part for part in (*receiver, *value[2]) if _may_be_class(part)]
    return []


def _may_be_class(expression: Expression) -> bool:
    return type(expression) is str or (is_tagged(expression, MEMBER, IMPORTED))


def _stretch(walk: Lowering, position: int, node: Node) -> None:
    """A table reaches to the last of its functions."""
    while position > 0 and walk.definitions[position].kind in (Kind.CLASS, Kind.NAMESPACE):
        row = walk.definitions[position]
        if row.end_byte < node.end_byte:
            walk.definitions[position] = row._replace(
                end_line=last_line_of(node), end_byte=node.end_byte
            )
        position = row.parent


# Functions


def _define_function(walk: Lowering, function: Node, name: str, name_node: Node, *, node: Node, path: str = "",
                     takes_receiver: bool = False, flags: int = 0) -> Expression:  # fmt: skip
    """A function with a name, a member of the table `path` if there is one. `node` is all of its
    declaration.
    """
    parent = walk.scope
    owner = _table_draft(walk, path) if path else None
    walk.scope = owner or parent
    listed = function.child_by_field_name("parameters")
    parameters, _ = walk.parameters(listed)
    if takes_receiver:
        parameters.insert(0, Parameter("self", _member_expression(path), None, POSITIONAL))
    body = function.child_by_field_name("body")
    kind = Kind.METHOD if takes_receiver else Kind.FUNCTION
    draft = walk.enter(node, kind, name, name_node, body, "" if owner else path)
    if listed is not None:
        row = walk.definitions[draft.definition]
        walk.definitions[draft.definition] = row._replace(signature_end_byte=listed.end_byte)
    draft.flags |= flags
    draft.take(parameters)
    walk.scope = draft
    walk.value(body)
    result = walk.leave(draft, parent)
    if owner is not None:
        _stretch(walk, owner.definition, node)
    return result


def _member_expression(path: str) -> Expression:
    first, *rest = path.split(".")
    expression: Expression = first
    for name in rest:
        expression = (MEMBER, expression, name)
    return expression


def _lower_declaration(walk: Lowering, node: Node) -> Expression:
    """`function f`, `local function f`, `function T.f`, `function T:m`."""
    target = node.child_by_field_name("name")
    if target is None:
        return None
    if target.type == "identifier":
        name = walk.text(target)
        local = all_parts(node)[0].type == "local"
        walk.scope.bound.add(name)
        return _define_function(walk, node, name, target, node=node, flags=PRIVATE if local else 0)
    takes_receiver = target.type == "method_index_expression"
    last = target.child_by_field_name("method" if takes_receiver else "field")
    table = target.child_by_field_name("table")
    if last is None or table is None:
        return None
    base, name = walk.value(table), walk.text(last)
    path = _dotted(walk, table)
    result = _define_function(
        walk, node, name, last, node=node, path=path, takes_receiver=takes_receiver
    )
    if _table_draft(walk, path) is None:
        walk.scope.binds.append(((MEMBER, base, name), result))
    return result


def _lower_anonymous(walk: Lowering, node: Node) -> Expression:
    parent = walk.scope
    draft = walk.enter_lambda(node, node.child_by_field_name("body"))
    draft.take(walk.parameters(node.child_by_field_name("parameters"))[0])
    walk.scope = draft
    walk.field_value(node, "body")
    return walk.leave(draft, parent)


# Statements


def _sides(node: Node) -> tuple[list[Node], list[Node]]:
    """Targets and values of an assignment."""
    targets: list[Node] = []
    values: list[Node] = []
    for child in named_parts(node):
        if child.type == "variable_list":
            targets = parts_in(child, "name")
        elif child.type == "expression_list":
            values = named_parts(child)
    return targets, values


def _lower_assignment(walk: Lowering, node: Node) -> Expression:
    targets, values = _sides(node)
    local = node.parent is not None and node.parent.type == "variable_declaration"
    whole = node.parent if local and node.parent is not None else node
    last: Expression = None
    for position, value in enumerate(values):
        target = targets[position] if position < len(targets) else None
        last = (
            _assign(walk, whole, target, value, local) if target is not None else walk.value(value)
        )
    for position, target in enumerate(targets[len(values) :], len(values)):
        result = (ITEM, last, (CONST, position - len(values) + 1)) if last is not None else None
        _bind(walk, whole, target, result, local)
    return None


def _assign(walk: Lowering, node: Node, target: Node, value: Node, local: bool) -> Expression:
    path, flags = _dotted(walk, target), PRIVATE if local else 0
    table, _, name = path.rpartition(".")
    is_module_level = walk.scope.kind is Kind.MODULE
    if value.type == "function_definition" and path:
        owned = bool(table)
        name_node = target.child_by_field_name("field") if owned else target
        if owned:
            walk.field_value(target, "table")
        lowered = _define_function(
            walk, value, name, name_node or target, node=node, path=table, flags=flags
        )
        if owned and _table_draft(walk, table) is None:
            walk.scope.binds.append((_member_expression(path), lowered))
        walk.scope.bound.update([] if owned else [name])
        return lowered
    known = path in _tables(walk, node) and f"table {path}" not in walk.notes
    if known and not _is_require(walk, value) and (is_module_level or local):
        walk.scope.bound.update([] if table else [name])
        return _define_table(walk, node, target, value, path, flags)
    lowered = walk.value(value)
    _name_import(walk, lowered, path)
    _bind(walk, node, target, lowered, local)
    return lowered


def _bind(walk: Lowering, node: Node, target: Node, value: Expression, local: bool) -> None:
    """Bind a target; a bare name that no function around declares is global."""
    scope = walk.scope
    if target.type != "identifier":
        walk.bind(target, value)
        return
    name = walk.text(target)
    if not local and name not in scope.bound:
        holder = _holder(walk, name)
        scope.outer.append((name, int(holder is None)))
        scope.binds.append((name, value))
        walk.written(name, target)
        return
    walk.bind(target, value)
    imported = is_tagged(value, IMPORTED)
    if scope.kind is Kind.MODULE and _is_top_level(node) and not imported:
        walk.define_value(node, name, target, Kind.CONSTANT if name.isupper() else Kind.VARIABLE)


def _is_top_level(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "chunk"


def _holder(walk: Lowering, name: str) -> ScopeDraft | None:
    """The function around that declares a name."""
    position = walk.definitions[walk.scope.definition].parent
    while position > 0:
        draft = walk.drafts[position]
        if draft is not None and name in draft.bound:
            return draft
        position = walk.definitions[position].parent
    return None


def _lower_variables(walk: Lowering, node: Node) -> Expression:
    """`local a, b` without values."""
    whole = node.parent or node
    for target in parts_in(node, "name"):
        _bind(walk, whole, target, None, local=True)
    return None


def _lower_for(walk: Lowering, node: Node) -> Expression:
    """`for k, v in pairs(t)`: the last name holds what is in the table. Other iterators are called."""
    targets, values = _sides(node)
    lowered = [walk.value(value) for value in values]
    first = lowered[0] if lowered else None
    result: Expression = None
    if is_tagged(first, CALL) and first[1] in ITERATORS and first[2]:
        result = (ITEM, first[2][0], None)
    elif first is not None:
        result = walk.call(first, (), (), line_of(node))
    for position, target in enumerate(targets):
        is_last = position == len(targets) - 1
        walk.bind_node(target, result if is_last else None)
    return None


def _lower_count(walk: Lowering, node: Node) -> Expression:
    """`for i = a, b`."""
    name = node.child_by_field_name("name")
    if name is not None:
        walk.bind_node(name, None)
    walk.visit([child for child in named_parts(node) if name is None or child.id != name.id])
    return None


def _lower_return(walk: Lowering, node: Node) -> Expression:
    for child in named_parts(node):
        value = walk.value(child)
        if value is not None:
            walk.scope.returns.append(value)
    return None


def _lower_list(walk: Lowering, node: Node) -> Expression:
    """Several values; one alone is itself. Positions count from 1, as in tables."""
    values = walk.values(node)
    if len(values) < 2:
        return values[0] if values else None
    first = values[0]
    pairs = tuple(((CONST, position), value) for position, value in enumerate(values[1:], 1))
    rest = (MAPPING, pairs, walk.next_serial())
    if first is None or all(value is None for value in values[1:]):
        return first
    return (EITHER, (first, rest))


# Expressions


def _fields(node: Node) -> list[tuple[Node | None, Node]]:
    """Keys (identifiers only) and values of a table constructor."""
    found = []
    for child in named_parts(node):
        if child.type == "field":
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if value is not None:
                plain = (
                    name is not None
                    and name.type == "identifier"
                    and all_parts(child)[0].type != "["
                )
                found.append((name if plain else None, value))
    return found


def _lower_table(walk: Lowering, node: Node) -> Expression:
    """`{ a = 1, ["b"] = 2, 3 }`."""
    pairs: list[tuple[Expression, Expression]] = []
    count = 0
    path = _assigned_path(walk, node)
    is_definition = path in _tables(walk, node) and f"table {path}" not in walk.notes
    for child in named_parts(node):
        if child.type != "field":
            continue
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if value is None:
            continue
        if name is None:
            count += 1
            pairs.append(((CONST, count), walk.value(value)))
            continue
        plain = name.type == "identifier" and all_parts(child)[0].type != "["
        key = (CONST, walk.text(name)) if plain else walk.value(name)
        if value.type == "function_definition" and is_tagged(key, CONST) and type(key[1]) is str:
            if is_definition and plain:  # defined as a member of the table instead
                continue
            named = _define_function(
                walk, value, key[1], name, node=child, path=path or UNNAMED_TABLE
            )
            pairs.append((key, named))
        else:
            pairs.append((key, walk.value(value)))
    return (MAPPING, tuple(pairs), walk.next_serial())


def _assigned_path(walk: Lowering, node: Node) -> str:
    """The dotted name to which a table constructor is assigned, empty if it goes elsewhere."""
    listed = node.parent
    statement = listed.parent if listed is not None and listed.type == "expression_list" else None
    if statement is None or statement.type != "assignment_statement":
        return ""
    targets, values = _sides(statement)
    paths = [
        _dotted(walk, target)
        for target, value in zip(targets, values, strict=False)
        if value.id == node.id
    ]
    return paths[0] if paths else ""


def _lower_call(walk: Lowering, node: Node) -> Expression:
    target, listed = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    arguments = parts_of(listed)
    if target is None:
        walk.values(node)
        return None
    name = walk.text(target) if target.type == "identifier" else ""
    if name == "require" and arguments and arguments[0].type == "string":
        value = walk.value(arguments[0])
        if is_tagged(value, CONST):
            walk.add_import(Import(value[1], "", "", line_of(node)))
            walk.mentions.add(value[1].rpartition(".")[2])
            return (IMPORTED, value[1], "")
    if name == "setmetatable" and len(arguments) == 2:
        return _lower_metatable(walk, *arguments)
    line = last_line_of(target)
    if target.type == "method_index_expression":
        receiver = walk.field_value(target, "table")
        method = target.child_by_field_name("method")
        text = walk.text_or_none(method)
        walk.mentions.add(text)
        values = tuple(walk.value(argument) for argument in arguments)
        return walk.call((MEMBER, receiver, text), (receiver, *values), (), line)
    callee = walk.callee(target)
    return walk.call(callee, tuple(walk.value(argument) for argument in arguments), (), line)


def _lower_metatable(walk: Lowering, table: Node, metatable: Node) -> Expression:
    """`setmetatable(o, {__index = C})` and `setmetatable(o, C)` make `o` an instance of C."""
    value = walk.value(table)
    walk.scope.read.add("setmetatable")
    index = called = None
    if metatable.type == "table_constructor":
        keys = [
            inner
            for key, inner in _fields(metatable)
            if key is not None and walk.text(key) == "__index"
        ]
        index = walk.value(keys[0]) if keys and keys[0].type != "function_definition" else None
        written = walk.value(metatable)
        called = dict(written[1]).get((CONST, "__call")) if is_tagged(written, MAPPING) else None
    else:
        index = walk.value(metatable)
    typed = (TYPED, index) if index is not None else None
    draft = _table_draft(walk, _dotted(walk, table))
    if draft is not None and called is not None:
        draft.binds.append((CALLED, called))
    elif called is not None:
        walk.notes[CALLED] = called  # for the definition that this is the value of
    if draft is not None and index is not None:
        draft.bases.append(index)
    elif table.type == "identifier" and typed is not None:
        walk.scope.binds.append((walk.text(table), typed))
    return either(value, typed)


def _is_require(walk: Lowering, node: Node) -> bool:
    name = node.child_by_field_name("name") if node.type == "function_call" else None
    return name is not None and walk.text(name) == "require"


def _name_import(walk: Lowering, value: Expression, path: str) -> None:
    """`local x = require "m"` and `local f = require("m").f` say under which name the import is
    known.
    """
    name = ""
    if is_tagged(value, MEMBER):
        value, name = value[1], value[2]
    if is_tagged(value, IMPORTED) and walk.imports and walk.imports[-1].module == value[1]:
        walk.imports[-1] = replace(walk.imports[-1], name=name, alias=path)


def _lower_binary(walk: Lowering, node: Node) -> Expression:
    """`a and b` gives b, `a or b` either; other operators give what is not ours."""
    left, right = operands_of(node)
    operator = next((child.type for child in node.children if not child.is_named), "")
    first, second = walk.value(left), walk.value(right)
    if operator == "and":
        return second
    if operator == "or":
        return either(first, second)
    return None


RULES: dict[str, model.Rule] = {
    "identifier": Name(),
    "dot_index_expression": Member("table", "field"),
    "method_index_expression": Member("table", "method"),
    "bracket_index_expression": Item("table", "field"),
    "function_call": Custom(_lower_call),
    "function_declaration": Custom(_lower_declaration),
    "function_definition": Custom(_lower_anonymous),
    "vararg_expression": model.Parameter("", mode=REST),
    "table_constructor": Custom(_lower_table),
    "assignment_statement": Custom(_lower_assignment),
    "variable_list": Custom(_lower_variables),
    "expression_list": Custom(_lower_list),
    "for_generic_clause": Custom(_lower_for),
    "for_numeric_clause": Custom(_lower_count),
    "return_statement": Custom(_lower_return),
    "binary_expression": Custom(_lower_binary),
    "parenthesized_expression": Inner(),
    "string": Text(("string_content",)),
    "number": Literal("int"),
    "true": Literal("boolean"),
    "false": Literal("boolean"),
    "goto_statement": Skip(),
    "label_statement": Skip(),
    "attribute": Skip(),
    "hash_bang_line": Skip(),
    "comment": Comment(),
}

COMMON = frozenset(
    "len sub gsub find match gmatch format rep reverse lower upper byte char insert remove concat sort unpack pack "
    "open close read write lines seek flush".split()
)

INERT = names(
    "type tostring tonumber print error assert pairs ipairs next select unpack getmetatable setmetatable rawequal "
    "rawget rawlen rawset string.format string.rep table.concat table.insert table.pack table.remove table.unpack "
    "vim.inspect vim.deepcopy vim.tbl_extend vim.tbl_deep_extend vim.tbl_isempty vim.validate debug.getinfo"
)

LUA = Language(
    name="lua",
    checks_types=False,
    grammar=grammar,
    rules=RULES,
    control=control_table("lua"),
    blocks=frozenset(
        {
            "block",
            "for_statement",
            "do_statement",
            "while_statement",
            "repeat_statement",
            "if_statement",
            "else_statement",
            "elseif_statement",
        }
    ),
    resolution=Resolution(
        modules=module_files,
        namespace="global",
        namespace_scope_visible=False,
        receiver_names=frozenset({"self"}),
        constructors=(CALLED, "initialize", "_init", "init", "__init", "new"),
        construct_method="new",
        call_method="__call",
        module_value=True,
        members_are_items=True,
        calls_back=True,
        inert=frozenset(f"lua.{name}" for name in INERT),
        common_members=COMMON,
        builtins="lua",
        summaries={
            "lua.pcall": Summary(calls=(0,), result_of=0),
            "lua.xpcall": Summary(calls=(0, 1), result_of=0),
            "lua.assert": Summary(returns=0),
            "lua.rawget": Summary(member_of=0),
            "lua.select": Summary(),
            "lua.unpack": Summary(elements=0),
            "lua.table.unpack": Summary(elements=0),
        },
    ),
)
