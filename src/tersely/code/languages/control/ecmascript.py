"""JavaScript and TypeScript: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Control,
    Fails,
    Update,
)
from tersely.code.languages.model import Skip, names

CONTROL = Control(
    roles={
        "switch_case": Case("value", falls=True),
        "switch_default": Case("", falls=True, default=True),
        "catch_clause": Catch("", binds="parameter"),
        "augmented_assignment_expression": Update(),
        "await_expression": Fails(),
        "empty_statement": Skip(),
    },
    mutators=names("pop shift splice next read"),
    pure=names("log debug info warn error"),
    changing_arguments={"assign": 0},
)
