"""Lua: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Choice,
    Constant,
    Control,
    Each,
    Else,
    Forms,
    Goes,
    If,
    Labelled,
    Leap,
    Suite,
    Unary,
    While,
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Function,
    Iterate,
    Pair,
    Sequence,
    Skip,
    names,
)

GENERIC = ":for_generic_clause"

CONTROL = Control(
    roles={
        "chunk": Suite(scoped=False),
        "block": Suite(),
        "if_statement": If(),
        "elseif_statement": If(otherwise=""),
        "else_statement": Else(),
        "while_statement": While(),
        "repeat_statement": While(first=False, negated=True, sees_body=True),
        "for_statement": Forms(
            (
                ("for_generic_clause", Each(f"{GENERIC}/:variable_list", f"{GENERIC}/:expression_list")),
                ("", Each(":for_numeric_clause/name", ":for_numeric_clause")),
            )
        ),
        "for_numeric_clause": Iterate("name", "start"),
        "return_statement": Goes(Leap.RETURN),
        "break_statement": Goes(Leap.BREAK),
        "goto_statement": Goes(Leap.GOTO, "#0"),
        "label_statement": Labelled("#0"),
        "binary_expression": Choice(),
        "unary_expression": Unary("operand"),
        "true": Constant(),
        "false": Constant(falsehoods=names("false nil")),
        "nil": Constant(falsehoods=names("nil")),
        "variable_declaration": Assign(
            ":assignment_statement/:variable_list|:variable_list", ":assignment_statement/:expression_list"
        ),
        "assignment_statement": Assign(":variable_list", ":expression_list", updates=True),
        "variable_list": Sequence(),
        "expression_list": Sequence(),
        "table_constructor": Sequence(),
        "field": Pair("name", "value", names_are_keys=True),
        "function_call": Call("name", "arguments"),
        "function_declaration": Function(),
        "function_definition": Function(name=""),
        "empty_statement": Skip(),
        "hash_bang_line": Skip(),
    },
    mutators=names("remove pop read next"),
    pure=names("print format"),
    raising=names("error"),
    changing_arguments={"insert": 0, "remove": 0, "sort": 0, "setmetatable": 0, "rawset": 0, "move": 0},
)  # fmt: skip
