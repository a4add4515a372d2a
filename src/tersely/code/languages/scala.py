"""Scala."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ABSTRACT,
    CONSTRUCTOR,
    EITHER,
    ELEMENT,
    GENERIC,
    MEMBER,
    NEW,
    POSITIONAL,
    PRIVATE,
    PROPERTY,
    REST,
    SINGLETON,
    Expression,
    is_tagged,
)
from tersely.code.expressions import Parameter as Parameter_
from tersely.code.languages.classes import (
    anonymous_class,
    bind_typed,
    child_of,
    enum_member,
    function,
    namespace_files,
    own_name,
)
from tersely.code.languages.model import (
    FEEDS,
    Assign,
    Block,
    Class,
    Comment,
    Custom,
    Either,
    Function,
    Generic,
    Imports,
    Inner,
    Language,
    Literal,
    Member,
    Name,
    Parameter,
    Resolution,
    Return,
    Rule,
    Sequence,
    Skip,
    Text,
    Typed,
    control_table,
    names,
)
from tersely.code.languages.nodes import last_line_of, line_of, named_parts, operands_of, parts_in
from tersely.code.symbols import CLASS_KINDS, Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def grammar() -> object:
    """The tree-sitter language pointer; the wheel is imported here."""
    import tree_sitter_scala

    return tree_sitter_scala.language()


def read_import(node: Node, text: Callable[[Node], str]) -> list[Import]:
    """`import a.b.C`, `import a.b.{C => D, E, _}`, `import a.b.*`."""
    line = line_of(node)
    path = [text(part) for part in parts_in(node, "path") if part.is_named]
    selectors = child_of(node, "namespace_selectors")
    module = ".".join(path)
    if selectors is None:
        if child_of(node, "namespace_wildcard") is not None:
            return [Import(module, "*", "", line)]
        return [Import(".".join(path[:-1]), path[-1], path[-1], line)] if path else []
    found = []
    for child in named_parts(selectors):
        if child.type == "namespace_wildcard":
            found.append(Import(module, "*", "", line))
        elif child.child_by_field_name("name") is not None:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None:
                found.append(Import(module, text(name), text(alias or name), line))
        elif not len(named_parts(child)):
            found.append(Import(module, text(child), text(child), line))
    return found


def package_of(root: Node, text: Callable[[Node], str]) -> str:
    """The packages that a file declares, one inside the other."""
    clauses = [
        child.child_by_field_name("name")
        for child in named_parts(root)
        if child.type == "package_clause"
    ]
    return ".".join(text(name) for name in clauses if name is not None)


def lower_package(walk: Lowering, node: Node) -> Expression:
    """`package a`, `package a { … }`."""
    return walk.field_value(node, "body")


def read_parameters(walk: Lowering, node: Node) -> list[Parameter_]:
    """The parameters of all lists of a method; `this` of an extension comes first."""
    found: list[Parameter_] = []
    outer = node.parent
    while outer is not None and outer.type in ("template_body", "indented_block", "block"):
        outer = outer.parent
    if outer is not None and outer.type == "extension_definition":
        found += _listed(walk, parts_in(outer, "parameters"))[:1]
    return found + _listed(walk, parts_in(node, "parameters"))


def given_by_compiler(listed: Node) -> bool:
    """True if a parameter list may be left out: `(implicit x: T)`, `(using T)`."""
    return any(child.type in ("implicit", "using") for child in listed.children)


def _listed(walk: Lowering, lists: list[Node]) -> list[Parameter_]:
    found = []
    for listed in lists:
        if listed.type == "identifier":
            found.append(Parameter_(walk.parameter_name(listed, 0), None, None, POSITIONAL))
        is_given = given_by_compiler(listed)
        for child in named_parts(listed):
            if child.type not in ("parameter", "binding"):
                continue
            name, typed = child.child_by_field_name("name"), child.child_by_field_name("type")
            mode = (
                REST
                if typed is not None and typed.type == "repeated_parameter_type"
                else POSITIONAL
            )
            default = child.child_by_field_name("default_value")
            text = walk.parameter_name(name, len(found))
            value = walk.value(default) or (
                (EITHER, ()) if default is not None or is_given else None
            )
            found.append(Parameter_(text, walk.value(typed), value, mode))
    return found


def finish_function(walk: Lowering, node: Node) -> None:
    """Reading a method without a parameter list calls it; one in an extension has a receiver."""
    scope = walk.scope
    if not any(part.type == "parameters" for part in parts_in(node, "parameters")):
        scope.flags |= PROPERTY
        if scope.kind is not Kind.FUNCTION:
            walk.definitions[scope.definition] = walk.definitions[scope.definition]._replace(
                kind=Kind.PROPERTY
            )
    if walk.definitions[scope.definition].name == CONSTRUCTING:
        scope.flags |= CONSTRUCTOR
    outer = node.parent
    while outer is not None and outer.type in ("template_body", "indented_block", "block"):
        outer = outer.parent
    if outer is not None and outer.type == "extension_definition" and scope.parameters:
        scope.receiver_type = scope.parameters[0].annotation


def finish_class(walk: Lowering, node: Node) -> None:
    """The header of a class is its first constructor; an `object` is constructed by nobody."""
    if node.type == "object_definition":
        walk.scope.flags |= SINGLETON
    for listed in parts_in(node, "class_parameters"):
        is_given = given_by_compiler(listed)
        for child in named_parts(listed):
            name, typed = child.child_by_field_name("name"), child.child_by_field_name("type")
            if name is not None:
                mode = (
                    REST
                    if typed is not None and typed.type == "repeated_parameter_type"
                    else POSITIONAL
                )
                has_default = is_given or child.child_by_field_name("default_value") is not None
                default = (EITHER, ()) if has_default else None
                walk.scope.parameters.append(
                    Parameter_(walk.text(name), walk.value(typed), default, mode)
                )


def holds_placeholder(node: Node) -> bool:
    """True if an expression is a function because `_` stands in it, outside of arguments and
    parentheses.
    """
    pending = [node]
    while pending:
        part = pending.pop()
        if part.type == "wildcard":
            return True
        if part.type == "arguments":
            pending += [child for child in named_parts(part) if child.type == "wildcard"]
        elif part.type in TRANSPARENT:
            pending += named_parts(part)
    return False


def lower_argument(walk: Lowering, node: Node) -> Expression:
    """An argument; `_.name` is a function of what `_` stands for."""
    inner = named_parts(node)[0] if node.type == "block" and len(named_parts(node)) == 1 else node
    if inner.type == "wildcard" or not holds_placeholder(inner):
        return walk.value(node)
    parent = walk.scope
    draft = walk.enter_lambda(inner, inner)
    draft.take([Parameter_(PLACEHOLDER, None, None, POSITIONAL)])
    walk.scope = draft
    draft.returns.append(walk.value(inner))
    return walk.leave(draft, parent)


def lower_parenthesized(walk: Lowering, node: Node) -> Expression:
    """`(value)`, `(_.name)`."""
    return (
        lower_argument(walk, named_parts(node)[0])
        if len(named_parts(node)) == 1
        else walk.values(node)
    )


def lower_wildcard(walk: Lowering, node: Node) -> Expression:
    """`_`: the argument of the function around it, if it is written with placeholders."""
    return PLACEHOLDER if PLACEHOLDER in walk.scope.bound else None


def lower_call(walk: Lowering, node: Node) -> Expression:
    """`f(…)`, `f(…)(…)`, `f(…) { … }`: all lists of one call."""
    lists: list[Node] = []
    callee: Node | None = node
    while callee is not None and callee.type == "call_expression":
        listed = callee.child_by_field_name("arguments")
        if listed is not None:
            lists.insert(0, listed)
        callee = callee.child_by_field_name("function")
    line = last_line_of(callee) if callee is not None else line_of(node)
    called = walk.callee(callee) if callee is not None else None
    positional: list[Expression] = []
    keywords: list[tuple[str, Expression]] = []
    for listed in lists:
        if listed.type != "arguments":
            positional.append(lower_argument(walk, listed))
            continue
        for child in named_parts(listed):
            left = (
                child.child_by_field_name("left") if child.type == "assignment_expression" else None
            )
            if left is not None:
                right = child.child_by_field_name("right")
                keywords.append((walk.text(left), right and lower_argument(walk, right)))
            else:
                positional.append(lower_argument(walk, child))
    if len(positional) == 0 and is_tagged(called, MEMBER) and called[2] == "asInstanceOf":
        return called
    return walk.call(called, tuple(positional), tuple(keywords), line)


def lower_generic_function(walk: Lowering, node: Node) -> Expression:
    """`f[T]`; `x.asInstanceOf[T]` is x as far as it is a T."""
    inner = node.child_by_field_name("function")
    arguments = node.child_by_field_name("type_arguments")
    value = walk.value(inner)
    types = walk.values(arguments)
    if is_tagged(value, MEMBER) and value[2] == "asInstanceOf" and types:
        return walk.typed(value[1], types[0])
    return value


def lower_infix(walk: Lowering, node: Node) -> Expression:
    """`a f b` calls a member of `a`; what ends in a colon a member of `b`."""
    first, second = operands_of(node)
    left = walk.value(first)
    right = (
        lower_argument(walk, second)
        if second is not None and second.type == "block"
        else walk.value(second)
    )
    operator = node.child_by_field_name("operator")
    if operator is None:
        return None
    name = walk.text(operator)
    if name.endswith(":"):
        left, right = right, left
    walk.mentions.add(name)
    return walk.call((MEMBER, left, name), (right,), (), line_of(operator))


def lower_instance(walk: Lowering, node: Node) -> Expression:
    """`new T(…) with U { … }`."""
    body = child_of(node, "template_body", "with_template_body")
    types = [
        child
        for child in named_parts(node)
        if child.type not in ("arguments", "template_body", "with_template_body")
    ]
    created = walk.value(types[0]) if types else None
    base = created[1] if is_tagged(created, GENERIC) else created
    listed = child_of(node, "arguments")
    values = walk.values(listed)
    made = walk.call(created, values, (), line_of(node), NEW)
    return (
        anonymous_class(walk, node, body, [base, *(walk.value(extra) for extra in types[1:])])
        if body is not None
        else made
    )


def lower_value(walk: Lowering, node: Node) -> Expression:
    """`val x: T = value`, `var x: T`, `val (a, b) = value`."""
    name = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    annotation = walk.field_value(node, "type")
    value = walk.field_value(node, "value")
    if name is None:
        return None
    if name.type == "identifier":
        bind_typed(walk, name, annotation, value)
        # an argument's: `f { … }`
        in_block = node.parent is not None and node.parent.type in ("block", "case_clause")
        owned = walk.scope.kind is Kind.MODULE or walk.scope.kind in CLASS_KINDS
        if owned and not in_block:
            walk.define_node(
                node, name, Kind.FIELD if walk.scope.kind in CLASS_KINDS else Kind.VARIABLE
            )
    else:
        walk.bind(name, value)
    return None


def lower_enumerator(walk: Lowering, node: Node) -> Expression:
    """`x <- collection`, `x = value` in a for."""
    if len(named_parts(node)) > 1:
        value = walk.value(named_parts(node)[1])
        draws = any(child.type in ("<-", "←") for child in node.children)
        walk.bind(named_parts(node)[0], value and (ELEMENT, value) if draws else value)
        walk.visit(named_parts(node)[2:])
    return None


def lower_case(walk: Lowering, node: Node) -> Expression:
    """`case pattern if guard => body`: names in lower case are bound."""
    pattern, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
    if pattern is not None:
        _bind_pattern(walk, pattern)
    walk.visit_others(node, pattern, body)
    return walk.value(body)


def _bind_pattern(walk: Lowering, pattern: Node) -> None:
    if pattern.type == "identifier" and walk.text(pattern)[:1].islower():
        walk.bind_node(pattern, None)
    elif pattern.type in (
        "tuple_pattern",
        "case_class_pattern",
        "capture_pattern",
        "infix_pattern",
    ):
        for child in named_parts(pattern):
            _bind_pattern(walk, child)
    else:
        walk.value(pattern)


def lower_typed_pattern(walk: Lowering, node: Node) -> Expression:
    """`x: T` in a case."""
    bind_typed(walk, node.child_by_field_name("pattern"), walk.field_value(node, "type"))
    return None


def lower_full_enum_case(walk: Lowering, node: Node) -> Expression:
    """A case with parameters is a class below the enum."""
    owner = own_name(walk)
    result = walk.as_rule(Class(), node)
    draft = walk.drafts[result[1]]
    if draft is not None:
        draft.bases.append(owner)
    return result


def lower_type_definition(walk: Lowering, node: Node) -> Expression:
    """`type A = T`."""
    name, typed = node.child_by_field_name("name"), walk.field_value(node, "type")
    if name is not None:
        walk.bind_node(name, typed)
        if walk.scope.kind is Kind.MODULE or walk.scope.kind in CLASS_KINDS:
            walk.define_node(node, name, Kind.TYPE)
    return None


CONSTRUCTING = "this"  # the name of constructors beside the header of their class
PLACEHOLDER = "_"
# Expressions that are functions if a placeholder stands in a part of them.
TRANSPARENT = names(
    "field_expression infix_expression call_expression prefix_expression postfix_expression ascription_expression "
    "generic_function match_expression"
)
METHOD = Function(parameters="", returns="return_type", read=read_parameters, body_is_value=True)


def _class(kind: Kind) -> Custom:
    return Custom(function(Class(kind, bases=("extend",)), finish_class))


RULES: dict[str, Rule] = {
    "identifier": Name(may_call=True),
    "type_identifier": Name(),
    "field_expression": Member("value", "field"),
    "stable_identifier": Member("#0", "#-1"),
    "stable_type_identifier": Member("#0", "#-1"),
    "call_expression": Custom(lower_call),
    "generic_function": Custom(lower_generic_function),
    "infix_expression": Custom(lower_infix),
    "instance_expression": Custom(lower_instance),
    "arguments": Sequence(),
    "string": Text(),
    "integer_literal": Literal("Int"),
    "floating_point_literal": Literal("Double"),
    "boolean_literal": Literal("Boolean"),
    "character_literal": Literal("Char"),
    "if_expression": Either(("consequence", "alternative")),
    "match_expression": Inner("body"),
    "case_block": Either(),
    "case_clause": Custom(lower_case),
    "parenthesized_expression": Custom(lower_parenthesized),
    "wildcard": Custom(lower_wildcard),
    "ascription_expression": Typed("#-1", "#0"),
    "method_value": Inner(),
    "generic_type": Generic("type", "type_arguments"),
    "annotated_type": Inner(),
    "lazy_parameter_type": Inner("type"),
    "repeated_parameter_type": Inner("type"),
    "function_type": Skip(),
    "tuple_pattern": Sequence(),
    "typed_pattern": Custom(lower_typed_pattern),
    "assignment_expression": Assign("left", "right", updates=True),
    "val_definition": Custom(lower_value),
    "var_definition": Custom(lower_value),
    "val_declaration": Custom(lower_value),
    "var_declaration": Custom(lower_value),
    "enumerator": Custom(lower_enumerator),
    "return_expression": Return(),
    "block": Block(is_value=True),
    "indented_block": Block(is_value=True),
    "lambda_expression": Function(
        name="", parameters="", read=read_parameters, body="#-1", body_is_value=True
    ),
    "class_parameter": Parameter("name", "type", "default_value", defines=Kind.FIELD),
    "function_definition": Custom(function(METHOD, finish_function)),
    "function_declaration": Custom(function(METHOD, finish_function)),
    "class_definition": _class(Kind.CLASS),
    "object_definition": _class(Kind.CLASS),
    "trait_definition": _class(Kind.TRAIT),
    "enum_definition": _class(Kind.ENUM),
    "simple_enum_case": Custom(enum_member),
    "full_enum_case": Custom(lower_full_enum_case),
    "type_definition": Custom(lower_type_definition),
    "self_type": Skip(),
    "package_clause": Custom(lower_package),
    "import_declaration": Imports(read_import),
    "annotation": Skip(),
    "comment": Comment(),
    "block_comment": Comment(),
}

FEEDERS = names(
    "foreach map filter flatMap filterNot exists forall find sortBy groupBy count partition collect maxBy minBy"
)


def label_of(node: Node) -> Node | None:
    """The parameter of `name = value` among arguments."""
    is_argument = node.parent is not None and node.parent.type == "arguments"
    return (
        node.child_by_field_name("left")
        if is_argument and node.type == "assignment_expression"
        else None
    )


SCALA = Language(
    name="scala",
    grammar=grammar,
    rules=RULES,
    label_of=label_of,
    control=control_table("scala"),
    namespace_of=package_of,
    blocks=names("block indented_block case_clause for_expression catch_clause"),
    resolution=Resolution(
        called_by_runtime=(
            "apply unapply unapplySeq update foreach map flatMap withFilter filter selectDynamic "
            "applyDynamic updateDynamic equals hashCode toString readResolve"
        ),
        reaching_marks=("@main",),
        modules=namespace_files(".scala"),
        namespace="declared",
        outer_namespaces=True,
        found_anywhere=True,
        receiver_names=names("this"),
        super_names=names("super"),
        name_quote="`",
        called_by_name=(Kind.PROPERTY, Kind.FUNCTION),
        implicit_receiver=True,
        constructors=(CONSTRUCTING,),
        header_constructs=True,
        chains_constructors=True,
        factory_method="apply",
        call_method="apply",
        virtual=True,
        declarations_suffice=True,
        open_types=("Any", "AnyRef"),
        classes_are_modules=True,
        overloads=True,
        calls_back=True,
        extension_functions=True,
        top_types=names("Any AnyRef T A"),
        modifiers={"abstract": ABSTRACT, "private": PRIVATE},
        text_types=names("String Any CharSequence"),
        number_types=names("Int Long Double Float Any"),
        containers=names(
            "List Seq Vector Array Set Map Option Some Iterable Iterator IndexedSeq LazyList Stream ListBuffer "
            "ArrayBuffer Buffer Queue Future Try Either"
        ),
        getters=names(
            "head last apply get getOrElse find headOption lastOption next reduce max min maxBy minBy orElse"
        ),
        views=names(
            "filter filterNot sorted sortBy distinct reverse take drop toList toSeq toVector toSet values iterator "
            "tail init takeWhile dropWhile sortWith toArray prepended appended"
        ),
        methods=dict.fromkeys(FEEDERS, FEEDS),
        mappers=names("map flatMap collect"),
        common_members=names(
            "equals hashCode toString apply unapply map flatMap filter foreach get getOrElse head tail size length "
            "isEmpty nonEmpty contains exists find collect toList toSeq mkString + - * / ++ :: :+ += == != > < >= <= "
            "&& || % ->"
        ),
        builtins="scala",
    ),
)
