"""PHP: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Control,
    Each,
    Fails,
    Forgets,
    Goes,
    If,
    Labelled,
    Leap,
    Suite,
    Unary,
)
from tersely.code.languages.model import Call, Function, Member, Sequence, Skip, names
from tersely.code.symbols import Kind

CONTROL = Control(
    roles={
        **dict.fromkeys(
            names("compound_statement colon_block enum_declaration_list"),
            Suite(scoped=False),
        ),
        "else_if_clause": If(otherwise=""),
        "foreach_statement": Each("#1", "#0"),
        "pair": Sequence(),
        "case_statement": Case("value", falls=True),
        "default_statement": Case("", falls=True, default=True),
        "match_conditional_expression": Case("conditional_expressions", "", "return_expression"),
        "match_default_expression": Case("", "", "return_expression", default=True),
        "catch_clause": Catch("type", binds="name"),
        "exit_statement": Goes(Leap.RETURN),
        "named_label_statement": Labelled(),
        "unary_op_expression": Unary(),
        "unset_statement": Forgets(),
        "function_call_expression": Call(),
        "object_creation_expression": Call("#0", ":arguments", constructs=True),
        "class_constant_access_expression": Member("#0", "#1"),
        "array_creation_expression": Sequence(),
        "array_element_initializer": Sequence(),
        "clone_expression": Fails(),
        "method_declaration": Function(Kind.METHOD),
        **dict.fromkeys(
            names("property_declaration const_declaration use_declaration enum_case php_tag php_end_tag text"),
            Skip(),
        ),
    },
    declares_by_assignment=True,
    mutators=names("fetch fetch_assoc fetch_row fetchRow next read pop shift"),
    pure=names("error_log var_dump printf print_r"),
    changing_arguments={
        "sort": 0, "rsort": 0, "usort": 0, "ksort": 0, "krsort": 0, "asort": 0, "arsort": 0, "uasort": 0, "uksort": 0,
        "shuffle": 0, "array_push": 0, "array_pop": 0, "array_shift": 0, "array_unshift": 0, "array_splice": 0,
        "array_walk": 0, "settype": 0, "preg_match": 2, "preg_match_all": 2, "parse_str": 1, "next": 0, "reset": 0,
        "end": 0, "prev": 0,
    },
)  # fmt: skip
