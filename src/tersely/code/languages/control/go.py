"""Go: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Control,
    Declares,
    Deferred,
    Each,
    Forms,
    Goes,
    Leap,
    Suite,
    Switch,
    Update,
    While,
)
from tersely.code.languages.model import Assign, names

CONTROL = Control(
    roles={
        "statement_list": Suite(scoped=False),
        "for_statement": Forms(
            (
                ("range_clause", Each(":range_clause/left", ":range_clause/right")),
                ("for_clause", While(head=":for_clause")),
                ("", While("#-2")),
            )
        ),
        "expression_switch_statement": Switch(breaks=True),
        "type_switch_statement": Switch(alias="alias", breaks=True),
        "select_statement": Switch("", breaks=True),
        "expression_case": Case("value"),
        "type_case": Case("type"),
        "communication_case": Case("communication"),
        "default_case": Case("", default=True),
        "goto_statement": Goes(Leap.GOTO, ":label_name"),
        "fallthrough_statement": Goes(Leap.FALLTHROUGH),
        "defer_statement": Deferred(),
        "short_var_declaration": Assign(),
        "receive_statement": Assign(),
        "assignment_statement": Assign(updates=True),
        "inc_statement": Update("#0", ""),
        "dec_statement": Update("#0", ""),
        "var_spec": Declares(),
        "const_spec": Declares(),
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
