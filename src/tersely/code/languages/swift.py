"""Swift."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ABSTRACT,
    CONSTRUCTOR,
    EITHER,
    GENERIC,
    POSITIONAL,
    PRIVATE,
    PROPERTY,
    REST,
    STATIC,
    TYPED,
    Expression,
    Parameter,
)
from tersely.code.languages.classes import bind_typed, child_of, dotted_type, function, own_name
from tersely.code.languages.model import (
    FEEDS,
    Assign,
    Block,
    Class,
    Comment,
    Custom,
    Dictionary,
    Either,
    Files,
    Function,
    Imports,
    Inner,
    Iterate,
    Language,
    Literal,
    Member,
    Name,
    Resolution,
    Return,
    Rule,
    Sequence,
    Skip,
    Text,
    Typed,
    TypeParameter,
    control_table,
    names,
)
from tersely.code.languages.nodes import (
    child_in,
    first_part,
    last_line_of,
    last_part,
    line_of,
    named_parts,
    parts_and_fields,
    parts_of,
)
from tersely.code.symbols import CLASS_KINDS, Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

TYPES = (
    "user_type", "optional_type", "array_type", "dictionary_type", "function_type", "tuple_type", "opaque_type",
    "existential_type", "protocol_composition_type", "metatype", "implicitly_unwrapped_type",
)  # fmt: skip
DECLARATIONS = {
    "class": Kind.CLASS, "actor": Kind.CLASS, "struct": Kind.STRUCT, "enum": Kind.ENUM, "extension": Kind.EXTENSION,
}  # fmt: skip


def grammar() -> object:
    """The tree-sitter language pointer; the wheel is imported here."""
    import tree_sitter_swift

    return tree_sitter_swift.language()


def read_import(node: Node, text: Callable[[Node], str]) -> list[Import]:
    """`import A`, `import class A.B`."""
    path = child_of(node, "identifier")
    if path is None:
        return []
    line = line_of(node)
    kinds = ("class", "struct", "enum", "protocol", "func", "var", "let", "typealias")
    if any(child.type in kinds for child in node.children):
        module, _, name = text(path).rpartition(".")
        return [Import(module, name, name, line)]
    return [Import(text(path), "*", "", line)]


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files of the target of that name, by the custom of the package manager: `Sources/Module/…`."""
    wanted = module.partition(".")[0]
    return [
        path
        for path in files.under("")
        if path.endswith(".swift") and f"/Sources/{wanted}/" in f"/{path}"
    ]


def lower_collection_type(walk: Lowering, node: Node) -> Expression:
    """`[T]`, `[K: T]`."""
    return (GENERIC, "Array", tuple(walk.value(child) for child in named_parts(node)[-1:]))


def read_parameters(walk: Lowering, node: Node) -> list[Parameter]:
    """Parameters stand among the children of a definition, each followed by its default."""
    found: list[Parameter] = []
    for child, role in parts_and_fields(node):
        if child.type == "parameter":
            name = child.child_by_field_name("name")
            mode = REST if any(part.type == "..." for part in child.children) else POSITIONAL
            text = walk.parameter_name(name, len(found))
            found.append(Parameter(text, walk.value(_type_in(child)), None, mode))
        elif found and role == "default_value":
            found[-1] = found[-1]._replace(default=walk.value(child) or (EITHER, ()))
    return found


def _type_in(node: Node) -> Node | None:
    return next((child for child in reversed(named_parts(node)) if child.type in TYPES), None)


def finish_function(walk: Lowering, node: Node) -> None:
    """The type after the arrow."""
    body = node.child_by_field_name("body")
    header = [
        child for child in named_parts(node) if body is None or child.end_byte <= body.start_byte
    ]
    walk.scope.returned_type = walk.value(
        next((child for child in reversed(header) if child.type in TYPES), None)
    )


def lower_body(walk: Lowering, node: Node) -> Expression:
    """A body of one expression gives it back."""
    statements = child_of(node, "statements")
    if statements is None:
        return None
    values = walk.values(statements)
    return values[0] if len(values) == 1 else None


def lower_lambda(walk: Lowering, node: Node) -> Expression:
    """`{ (a: T) in … }`, `{ $0.m() }`."""
    parameters: list[Parameter] = []
    header = child_of(node, "lambda_function_type")
    listed = child_of(header, "lambda_function_type_parameters") if header is not None else None
    for child in parts_of(listed):
        name = child.child_by_field_name("name")
        text = walk.parameter_name(name, len(parameters))
        parameters.append(Parameter(text, walk.value(_type_in(child)), None, POSITIONAL))
    parent = walk.scope
    draft = walk.enter_lambda(node, node)
    draft.take(
        parameters
        or [Parameter(f"${place}", None, None, POSITIONAL) for place in range(IMPLICIT_PARAMETERS)]
    )
    walk.scope = draft
    value = lower_body(walk, node)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft, parent)


IMPLICIT_PARAMETERS = 3


def lower_call(walk: Lowering, node: Node) -> Expression:
    """`f(label: value) { … }`; labels stand in the order of the parameters."""
    suffix = child_of(node, "call_suffix")
    callee = first_part(node)
    called = walk.callee(callee) if callee is not None else None
    values: list[Expression] = []
    for part in parts_of(suffix):
        if part.type == "value_arguments":
            for argument in named_parts(part):
                value = (
                    argument.child_by_field_name("value")
                    if argument.type == "value_argument"
                    else None
                )
                if value is not None:
                    values.append(walk.value(value))
        elif part.type == "lambda_literal":
            values.append(walk.value(part))
    line = last_line_of(callee) if callee is not None else line_of(node)
    return walk.call(called, tuple(values), (), line)


def lower_declaration(walk: Lowering, node: Node) -> Expression:
    """Classes, structs, enums, actors, extensions."""
    kind = next(
        (DECLARATIONS[child.type] for child in node.children if child.type in DECLARATIONS),
        Kind.CLASS,
    )
    return walk.as_rule(CLASSES[kind], node)


def lower_property(walk: Lowering, node: Node) -> Expression:
    """`var x: T = value, y = value`, `var x: T { … }`, `let (a, b) = value`."""
    computed = node.child_by_field_name("computed_value")
    owned = (
        walk.scope.kind is Kind.MODULE
        or walk.scope.kind in CLASS_KINDS
        or walk.scope.kind is Kind.EXTENSION
    )
    pattern = node.child_by_field_name("name")
    if computed is not None and owned and pattern is not None:
        return computed_property(walk, node, pattern, computed)
    for pattern, annotation, initial in declared_names(node):
        typed, value = walk.value(annotation), walk.value(initial)
        name = pattern.child_by_field_name("bound_identifier")
        if name is None:
            walk.bind(pattern, value)
            continue
        bind_typed(walk, name, typed, value)
        if owned:
            kind = Kind.VARIABLE if walk.scope.kind is Kind.MODULE else Kind.FIELD
            walk.define_node(node, name, kind)
    if computed is not None:
        walk.value(computed)
    return None


def declared_names(node: Node) -> list[tuple[Node, Node | None, Node | None]]:
    """(pattern, type, value) of each name that a declaration lists."""
    found: list[tuple[Node, Node | None, Node | None]] = []
    for child, role in parts_and_fields(node):
        if child.type == "pattern":
            found.append((child, None, None))
        elif child.type == "type_annotation" and found:
            found[-1] = (
                found[-1][0],
                last_part(child),
                found[-1][2],
            )
        elif role == "value" and found:
            found[-1] = (*found[-1][:2], child)
    return found


def computed_property(walk: Lowering, node: Node, pattern: Node, computed: Node) -> Expression:
    """Reading a computed property calls its code."""
    name = pattern.child_by_field_name("bound_identifier")
    if name is None:
        return walk.value(computed)
    parent, annotation = walk.scope, child_of(node, "type_annotation")
    draft = walk.enter(node, Kind.PROPERTY, walk.text(name), name, computed)
    draft.flags |= PROPERTY
    written = parts_of(annotation)
    draft.returned_type = walk.value(written[-1]) if written else None
    walk.scope = draft
    value = lower_body(walk, computed)
    walk.visit([child for child in named_parts(computed) if child.type != "statements"])
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft, parent)


def lower_requirement(walk: Lowering, node: Node) -> Expression:
    """`var x: T { get }` of a protocol."""
    pattern, annotation = node.child_by_field_name("name"), child_of(node, "type_annotation")
    name = child_in(pattern, "bound_identifier")
    if name is not None:
        bind_typed(
            walk, name, walk.value(named_parts(annotation)[-1]) if annotation is not None else None
        )
        walk.define_node(node, name, Kind.FIELD)
    return None


def lower_conditions(walk: Lowering, node: Node) -> Expression:
    """`if let x = value, …`, `guard let x else`, `while let x = …`; then the rest of the statement."""
    target: Node | None = None
    for child, role in parts_and_fields(node):
        if role == "bound_identifier":
            target = child
        elif role == "condition" and child.type not in (
            "value_binding_pattern",
            "pattern",
            "type_annotation",
        ):
            value = walk.value(child)
            if target is not None and walk.text(target) != "self":
                walk.bind(target, value)
            target = None
        else:
            walk.value(child)
    return None


def lower_enum_entry(walk: Lowering, node: Node) -> Expression:
    """`case a, b = 1`, `case c(T)`: constants of the enum's type."""
    for child, role in parts_and_fields(node):
        if role == "name" and child.type == "simple_identifier":
            walk.bind_node(child, (TYPED, own_name(walk)))
            walk.define_node(node, child, Kind.CONSTANT)
    return None


def lower_alias(walk: Lowering, node: Node) -> Expression:
    """`typealias A = T`, `associatedtype A`."""
    name = node.child_by_field_name("name")
    if name is not None:
        walk.bind_node(name, walk.value(_type_in(node)))
        if walk.scope.kind is Kind.MODULE or walk.scope.kind in CLASS_KINDS:
            walk.define_node(node, name, Kind.TYPE)
    return None


def _class(kind: Kind) -> Class:
    specifiers = (":inheritance_specifier",)
    if kind is Kind.EXTENSION:
        return Class(kind, bases=specifiers, extends=True)
    return Class(kind, bases=specifiers, generics=(":type_parameters",))


CLASSES = {kind: _class(kind) for kind in (Kind.CLASS, Kind.STRUCT, Kind.ENUM, Kind.EXTENSION)}
FUNCTION = Function(
    parameters="", read=read_parameters, body_is_value=True, generics=(":type_parameters",)
)
INITIALIZER = Function(
    Kind.METHOD, name="=init", parameters="", read=read_parameters, flags=CONSTRUCTOR
)

RULES: dict[str, Rule] = {
    "simple_identifier": Name(may_call=True),
    "type_identifier": Name(),
    "self_expression": Name(),
    "super_expression": Name(),
    "navigation_expression": Member("target", "suffix/suffix"),
    "call_expression": Custom(lower_call),
    "lambda_literal": Custom(lower_lambda),
    "prefix_expression": Inner("target"),
    "postfix_expression": Inner("target"),
    "try_expression": Inner("expr"),
    "await_expression": Inner("expr"),
    "nil_coalescing_expression": Either(("value", "if_nil")),
    "ternary_expression": Either(("if_true", "if_false")),
    "as_expression": Typed("name", "expr"),
    "array_literal": Sequence(),
    "dictionary_literal": Dictionary(),
    "line_string_literal": Text(("line_str_text",)),
    "integer_literal": Literal("Int"),
    "real_literal": Literal("Double"),
    "boolean_literal": Literal("Bool"),
    "user_type": Custom(dotted_type("type_identifier")),
    "optional_type": Inner("wrapped"),
    "array_type": Custom(lower_collection_type),
    "dictionary_type": Custom(lower_collection_type),
    "opaque_type": Inner(),
    "existential_type": Inner(),
    "function_type": Skip(),
    "type_parameter": TypeParameter(":type_identifier", ":user_type"),
    "type_constraints": Skip(),
    "pattern": Inner(),
    "value_binding_pattern": Skip(),
    "directly_assignable_expression": Inner(),
    "assignment": Assign("target", "result", updates=True),
    "property_declaration": Custom(lower_property),
    "protocol_property_declaration": Custom(lower_requirement),
    "if_statement": Custom(lower_conditions),
    "guard_statement": Custom(lower_conditions),
    "while_statement": Custom(lower_conditions),
    "for_statement": Iterate("item", "collection"),
    "control_transfer_statement": Return("result"),
    "statements": Block(),
    "function_body": Custom(lower_body),
    "function_declaration": Custom(function(FUNCTION, finish_function)),
    "protocol_function_declaration": Custom(function(FUNCTION, finish_function)),
    "init_declaration": INITIALIZER,
    "class_declaration": Custom(lower_declaration),
    "protocol_declaration": Class(Kind.INTERFACE, bases=(":inheritance_specifier",)),
    "enum_entry": Custom(lower_enum_entry),
    "typealias_declaration": Custom(lower_alias),
    "associatedtype_declaration": Custom(lower_alias),
    "import_declaration": Imports(read_import),
    "modifiers": Skip(),
    "comment": Comment(),
    "multiline_comment": Comment(),
}

SWIFT = Language(
    name="swift",
    grammar=grammar,
    rules=RULES,
    control=control_table("swift"),
    blocks=names("statements for_statement if_statement while_statement switch_entry catch_block"),
    resolution=Resolution(
        called_by_runtime=(
            "callAsFunction makeIterator makeAsyncIterator next wrappedValue projectedValue buildBlock "
            "buildExpression buildOptional buildEither buildArray buildFinalResult "
            "buildLimitedAvailability buildPartialBlock hash encode subscript deinit init"
        ),
        reaching_marks=(
            "@main",
            "@objc",
            "@IBAction",
            "@IBOutlet",
            "@_cdecl",
            "@UIApplicationMain",
            "@NSApplicationMain",
            "@Test",
        ),
        modules=module_files,
        namespace="global",
        receiver_names=names("self"),
        class_names=names("Self"),
        super_names=names("super"),
        name_quote="`",
        called_by_name=(Kind.PROPERTY,),
        implicit_receiver=True,
        constructors=("init",),
        call_method="callAsFunction",
        iterate_methods=("makeIterator",),
        next_method="next",
        virtual=True,
        declarations_suffice=True,
        open_types=("Any", "AnyObject"),
        overloads=True,
        calls_back=True,
        modifiers={"static": STATIC, "private": PRIVATE, "abstract": ABSTRACT},
        text_types=names("String Character StringProtocol Any"),
        number_types=names("Int Double Float CGFloat UInt Int64 Any"),
        containers=names(
            "Array Set Dictionary Sequence Collection ContiguousArray ArraySlice AnySequence"
        ),
        union_types=names("Optional"),
        getters=names(
            "first last popLast removeFirst removeLast randomElement remove min max next reduce"
        ),
        views=names(
            "filter sorted reversed values prefix suffix dropFirst dropLast shuffled lazy enumerated"
        ),
        methods=dict.fromkeys(
            names("forEach map filter compactMap flatMap contains first allSatisfy"), FEEDS
        ),
        mappers=names("map compactMap flatMap"),
        adders={"append": (-1, 0), "insert": (-1, 0)},
        common_members=names(
            "append insert remove contains map filter forEach reduce sorted count isEmpty first last joined "
            "description hash encode decode init index keys values removeAll"
        ),
        builtins="Swift",
    ),
)
