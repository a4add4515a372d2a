"""Go: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Choice,
    Constant,
    Control,
    Declares,
    Deferred,
    Each,
    Forms,
    Goes,
    If,
    Labelled,
    Leap,
    Suite,
    Switch,
    Unary,
    Update,
    While,
)
from tersely.code.languages.model import Assign, names

CONTROL = Control(
    roles={
        "source_file": Suite(scoped=False),
        "block": Suite(),
        "statement_list": Suite(scoped=False),
        "if_statement": If(initial="initializer"),
        "for_statement": Forms(
            (
                ("range_clause", Each(":range_clause/left", ":range_clause/right")),
                ("for_clause", While(head=":for_clause", initial="initializer", update="update")),
                ("", While("#-2")),
            )
        ),
        "expression_switch_statement": Switch("value", "", "initializer", breaks=True),
        "type_switch_statement": Switch("value", "", "initializer", alias="alias", breaks=True),
        "select_statement": Switch("", "", breaks=True),
        "expression_case": Case("value"),
        "type_case": Case("type"),
        "communication_case": Case("communication"),
        "default_case": Case("", default=True),
        "return_statement": Goes(Leap.RETURN),
        "break_statement": Goes(Leap.BREAK, ":label_name"),
        "continue_statement": Goes(Leap.CONTINUE, ":label_name"),
        "goto_statement": Goes(Leap.GOTO, ":label_name"),
        "fallthrough_statement": Goes(Leap.FALLTHROUGH),
        "labeled_statement": Labelled(),
        "defer_statement": Deferred(),
        "binary_expression": Choice(),
        "unary_expression": Unary("operand", names("!"), borrows=names("&"), follows=names("*")),
        "true": Constant(),
        "false": Constant(),
        "short_var_declaration": Assign("left", "right"),
        "receive_statement": Assign("left", "right"),
        "assignment_statement": Assign("left", "right", updates=True),
        "inc_statement": Update("#0", ""),
        "dec_statement": Update("#0", ""),
        "var_spec": Declares("name", "value"),
        "const_spec": Declares("name", "value"),
    },
    pure=names("Println Printf Print Debug Info Warn Error"),
    changing_arguments={
        "copy": 0,
        "delete": 0,
        "clear": 0,
        "Sort": 0,
        "Slice": 0,
        "Strings": 0,
        "Ints": 0,
    },
)
