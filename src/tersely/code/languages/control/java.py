"""Java: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Each,
    Fails,
    Finally,
    Goes,
    If,
    Labelled,
    Leap,
    Suite,
    Switch,
    Ternary,
    Try,
    Unary,
    Update,
    While,
    With,
)
from tersely.code.languages.model import Assign, Call, Function, names
from tersely.code.symbols import Kind

CONTROL = Control(
    roles={
        **dict.fromkeys(
            names(
                "program class_body interface_body enum_body enum_body_declarations annotation_type_body"
            ),
            Suite(scoped=False),
        ),
        "constructor_body": Suite(),
        "block": Suite(),
        "if_statement": If(),
        "while_statement": While(),
        "do_statement": While(first=False),
        "for_statement": While(initial="init", update="update"),
        "enhanced_for_statement": Each("name", "value"),
        "switch_expression": Switch("condition", breaks=True),
        "switch_block_statement_group": Case(
            ":switch_label", wildcards=names("default"), falls=True
        ),
        "switch_rule": Case(
            ":switch_label", ":switch_label/:guard/#0", "#-1", wildcards=names("default")
        ),
        "type_pattern": Assign("#-1", ""),
        "record_pattern_component": Assign("#-1", ""),
        "try_statement": Try(),
        "try_with_resources_statement": Try(resources="resources"),
        "resource": Assign("name", "value"),
        "catch_clause": Catch(":catch_formal_parameter"),
        "finally_clause": Finally(":block"),
        "synchronized_statement": With(),
        "return_statement": Goes(Leap.RETURN),
        "throw_statement": Goes(Leap.RAISE),
        "break_statement": Goes(Leap.BREAK, "#0"),
        "yield_statement": Goes(Leap.BREAK),
        "continue_statement": Goes(Leap.CONTINUE, "#0"),
        "labeled_statement": Labelled("#0"),
        "method_declaration": Function(Kind.METHOD),
        "binary_expression": Choice(),
        "unary_expression": Unary("operand"),
        "ternary_expression": Ternary(),
        "true": Constant(),
        "false": Constant(),
        "update_expression": Update("#0", ""),
        "instanceof_expression": Assign("name", "left"),
        "object_creation_expression": Call("type", "arguments", constructs=True),
        "assert_statement": Fails(),
        "cast_expression": Fails(),
    },
    mutators=names(
        "next poll pop remove removeFirst removeLast read readLine take pollFirst put nextInt"
    ),
    pure=names("println printf print info debug warn error"),
    changing_arguments={
        "sort": 0,
        "shuffle": 0,
        "reverse": 0,
        "addAll": 0,
        "fill": 0,
        "arraycopy": 2,
    },
)
