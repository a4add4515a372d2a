"""Rust: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Borrow,
    Case,
    Control,
    Each,
    Escape,
    Forms,
    Goes,
    If,
    Leap,
    Refutable,
    Update,
    While,
)
from tersely.code.languages.model import Assign, Call, Function, Skip, names

CONTROL = Control(
    roles={
        "if_expression": If(),
        "while_expression": While(label=":label"),
        "loop_expression": While("", label=":label"),
        "for_expression": Each("pattern", "value", label=":label"),
        "match_arm": Case(
            "pattern/#0", "pattern/condition", "value", names("_"), binds=True, names_fit=True
        ),
        "let_declaration": Forms((("else", Refutable()), ("", Assign("pattern", "value")))),
        "let_condition": Assign("pattern", "value"),
        "break_expression": Goes(Leap.BREAK, ":label"),
        "continue_expression": Goes(Leap.CONTINUE, ":label"),
        "try_expression": Escape(),
        "reference_expression": Borrow(),
        "compound_assignment_expr": Update(),
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
