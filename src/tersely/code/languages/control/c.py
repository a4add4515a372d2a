"""C and C++: the order in which statements run."""

from __future__ import annotations

from dataclasses import replace

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Constant,
    Control,
    Declares,
    Each,
    Goes,
    Leap,
    Suite,
    Unary,
)
from tersely.code.languages.model import Assign, Function, Item, Parameter, Skip, names

C_CONTROL = Control(
    roles={
        **dict.fromkeys(
            names("preproc_if preproc_ifdef preproc_else linkage_specification"),
            Suite(scoped=False),
        ),
        "case_statement": Case("value", falls=True),
        "pointer_expression": Unary(),
        "number_literal": Constant(),
        "declaration": Declares("declarator"),
        "init_declarator": Assign("declarator", "value"),
        "function_definition": Function(
            name="declarator/declarator/declarator|declarator/declarator",
            parameters="declarator/parameters|declarator/declarator/parameters",
        ),
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
        "for_range_loop": Each("declarator", initial="initializer"),
        "catch_clause": Catch(":parameter_list/#0", binds="parameters"),
        "co_return_statement": Goes(Leap.RETURN),
        "variadic_parameter_declaration": Parameter("declarator"),
        "lambda_expression": Function(name="", parameters="declarator/parameters"),
        "qualified_identifier": Skip(),
    },
    mutators=names("next pop get read getline release extract fetch_add exchange"),
)
