"""C and C++: the order in which statements run."""

from __future__ import annotations

from dataclasses import replace

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Declares,
    Each,
    Else,
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
)
from tersely.code.languages.model import Assign, Function, Item, Parameter, Skip, names

TRUTH = Constant(names("true 1"), names("false 0"))

C_CONTROL = Control(
    roles={
        **dict.fromkeys(
            names("translation_unit preproc_if preproc_ifdef preproc_else linkage_specification declaration_list"),
            Suite(scoped=False),
        ),
        "compound_statement": Suite(),
        "if_statement": If(),
        "else_clause": Else("#0"),
        "while_statement": While(),
        "do_statement": While(first=False),
        "for_statement": While(initial="initializer", update="update"),
        "switch_statement": Switch("condition", breaks=True),
        "case_statement": Case("value", falls=True),
        "return_statement": Goes(Leap.RETURN),
        "break_statement": Goes(Leap.BREAK),
        "continue_statement": Goes(Leap.CONTINUE),
        "goto_statement": Goes(Leap.GOTO, "label"),
        "labeled_statement": Labelled(),
        "binary_expression": Choice(),
        "unary_expression": Unary("argument"),
        "pointer_expression": Unary("argument", frozenset(), borrows=names("&"), follows=names("*")),
        "conditional_expression": Ternary(),
        "true": TRUTH,
        "false": TRUTH,
        "number_literal": TRUTH,
        "update_expression": Update("argument", ""),
        "assignment_expression": Assign(updates=True),
        "declaration": Declares("declarator", "value"),
        "init_declarator": Assign("declarator", "value"),
        "function_definition": Function(
            name="declarator/declarator/declarator|declarator/declarator",
            parameters="declarator/parameters|declarator/declarator/parameters",
        ),
        "parameter_declaration": Parameter("declarator"),
        "subscript_expression": Item("argument", "index|indices/#0"),
    },
    changing_arguments={
        "memcpy": 0, "memmove": 0, "memset": 0, "strcpy": 0, "strncpy": 0, "strcat": 0, "strncat": 0, "sprintf": 0,
        "snprintf": 0, "fgets": 0, "fread": 0, "qsort": 0, "swap": 0, "sort": 0, "free": 0, "read": 1,
    },
)  # fmt: skip

CPP_CONTROL = replace(
    C_CONTROL,
    roles={
        **C_CONTROL.roles,
        "field_declaration_list": Suite(scoped=False),
        "for_range_loop": Each("declarator", "right", initial="initializer"),
        "try_statement": Try(),
        "catch_clause": Catch(":parameter_list/#0", binds="parameters"),
        "throw_statement": Goes(Leap.RAISE),
        "co_return_statement": Goes(Leap.RETURN),
        "optional_parameter_declaration": Parameter("declarator", default="default_value"),
        "variadic_parameter_declaration": Parameter("declarator"),
        "lambda_expression": Function(name="", parameters="declarator/parameters"),
        "qualified_identifier": Skip(),
    },
    mutators=names("next pop get read getline release extract fetch_add exchange"),
)
