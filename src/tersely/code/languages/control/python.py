"""Python: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Each,
    Fails,
    If,
    Suite,
    Switch,
    Ternary,
    Unary,
    While,
)
from tersely.code.languages.model import Iterate, names

CONTROL = Control(
    roles={
        **dict.fromkeys(names("module block"), Suite(scoped=False)),
        "elif_clause": If(otherwise=""),
        "while_statement": While(otherwise="alternative"),
        "for_statement": Each(otherwise="alternative"),
        "for_in_clause": Iterate(),
        "except_clause": Catch(),
        "match_statement": Switch(),
        "case_clause": Case(":case_pattern", "guard/#0", "consequence", wildcards=names("_"), names_fit=True),
        "boolean_operator": Choice(),
        "not_operator": Unary(),
        "conditional_expression": Ternary("#1", "#0", "#2"),
        "integer": Constant(),
        "assert_statement": Fails(),
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
