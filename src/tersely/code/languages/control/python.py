"""Python: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Each,
    Else,
    Fails,
    Finally,
    Forgets,
    Goes,
    If,
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
from tersely.code.languages.model import names

TRUTH = Constant(names("True 1"), names("False None 0"))

CONTROL = Control(
    roles={
        "module": Suite(scoped=False),
        "block": Suite(scoped=False),
        "if_statement": If(),
        "elif_clause": If(otherwise=""),
        "else_clause": Else(),
        "while_statement": While(otherwise="alternative"),
        "for_statement": Each(otherwise="alternative"),
        "try_statement": Try(),
        "except_clause": Catch("value", ":block"),
        "finally_clause": Finally(":block"),
        "with_statement": With(),
        "match_statement": Switch(),
        "case_clause": Case(":case_pattern", "guard/#0", "consequence", wildcards=names("_"), names_fit=True),
        "return_statement": Goes(Leap.RETURN),
        "raise_statement": Goes(Leap.RAISE),
        "break_statement": Goes(Leap.BREAK),
        "continue_statement": Goes(Leap.CONTINUE),
        "boolean_operator": Choice(),
        "not_operator": Unary(),
        "conditional_expression": Ternary("#1", "#0", "#2"),
        "true": TRUTH,
        "false": TRUTH,
        "none": TRUTH,
        "integer": TRUTH,
        "augmented_assignment": Update(),
        "delete_statement": Forgets(),
        "assert_statement": Fails(),
        "binary_operator": Fails(),
        "comparison_operator": Fails(),
        "unary_operator": Fails(),
        "await": Fails(),
    },
    declares_by_assignment=True,
    mutators=names("pop popitem popleft setdefault read readline readlines recv send fetchone fetchmany __next__"),
    pure=names("print debug info warning exception critical"),
    changing_arguments={
        "shuffle": 0, "heappush": 0, "heappop": 0, "heapify": 0, "insort": 0, "next": 0, "setattr": 0, "delattr": 0,
    },
    decisions={"assert_statement": 1, "for_in_clause": 1, "if_clause": 1},
    undivided=names("assert_statement"),
)  # fmt: skip
