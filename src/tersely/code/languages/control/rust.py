"""Rust: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Borrow,
    Case,
    Choice,
    Constant,
    Control,
    Each,
    Else,
    Escape,
    Forms,
    Goes,
    If,
    Leap,
    Refutable,
    Suite,
    Switch,
    Unary,
    Update,
    While,
)
from tersely.code.languages.model import Assign, Call, Function, Item, Skip, names

CONTROL = Control(
    roles={
        "source_file": Suite(scoped=False),
        "declaration_list": Suite(scoped=False),
        "block": Suite(),
        "if_expression": If(),
        "else_clause": Else("#0"),
        "while_expression": While(label=":label"),
        "loop_expression": While("", label=":label"),
        "for_expression": Each("pattern", "value", label=":label"),
        "match_expression": Switch("value"),
        "match_arm": Case(
            "pattern/#0", "pattern/condition", "value", names("_"), binds=True, names_fit=True
        ),
        "let_declaration": Forms((("else", Refutable()), ("", Assign("pattern", "value")))),
        "let_condition": Assign("pattern", "value"),
        "return_expression": Goes(Leap.RETURN),
        "break_expression": Goes(Leap.BREAK, ":label"),
        "continue_expression": Goes(Leap.CONTINUE, ":label"),
        "try_expression": Escape(),
        "binary_expression": Choice(),
        "unary_expression": Unary("#0", names("!"), follows=names("*")),
        "boolean_literal": Constant(),
        "reference_expression": Borrow(),
        "compound_assignment_expr": Update(),
        "index_expression": Item("#0", "#1"),
        "call_expression": Call("function", "arguments"),
        "closure_expression": Function(name="", body_is_value=True),
        "scoped_identifier": Skip(),
        "scoped_type_identifier": Skip(),
    },
    lends_openly=True,
    mutators=names(
        "next next_back pop pop_front pop_back take insert remove replace read read_line recv swap"
    ),
)
