"""Java: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Control,
    Fails,
    Goes,
    Leap,
    Suite,
    Switch,
    Try,
    With,
)
from tersely.code.languages.model import Assign, Call, Function, names
from tersely.code.symbols import Kind

CONTROL = Control(
    roles={
        **dict.fromkeys(
            names("interface_body enum_body enum_body_declarations annotation_type_body"),
            Suite(scoped=False),
        ),
        "switch_expression": Switch(breaks=True),
        "switch_block_statement_group": Case(
            ":switch_label", wildcards=names("default"), falls=True
        ),
        "switch_rule": Case(
            ":switch_label", ":switch_label/:guard/#0", "#-1", wildcards=names("default")
        ),
        "type_pattern": Assign("#-1", ""),
        "record_pattern_component": Assign("#-1", ""),
        "try_with_resources_statement": Try(resources="resources"),
        "resource": Assign("name", "value"),
        "catch_clause": Catch(":catch_formal_parameter"),
        "synchronized_statement": With(),
        "break_statement": Goes(Leap.BREAK, "#0"),
        "yield_statement": Goes(Leap.BREAK),
        "continue_statement": Goes(Leap.CONTINUE, "#0"),
        "method_declaration": Function(Kind.METHOD),
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
