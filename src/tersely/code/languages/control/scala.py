"""Scala: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Each,
    Finally,
    Forms,
    Goes,
    If,
    Leap,
    Suite,
    Switch,
    Try,
    Unary,
    Update,
    While,
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Function,
    Inner,
    Iterate,
    Parameter,
    Skip,
    names,
)
from tersely.code.symbols import Kind

FIRST = ":enumerators/#0"
METHOD = Function(Kind.METHOD, body_is_value=True)
OPERATION = Forms(
    (
        *(
            (operator, Update())
            for operator in ("+=", "-=", "*=", "/=", "%=", "++=", "--=", "::=", "|=", "&=", "^=")
        ),
        ("", Choice()),
    )
)

CONTROL = Control(
    roles={
        "compilation_unit": Suite(scoped=False),
        "template_body": Suite(scoped=False),
        "with_template_body": Suite(scoped=False),
        "enum_body": Suite(scoped=False),
        "block": Suite(),
        "indented_block": Suite(),
        "if_expression": If(),
        "while_expression": While(),
        "do_while_expression": While(first=False),
        "for_expression": Forms(
            (
                (
                    "yield",
                    Each(f"{FIRST}/#0", f"{FIRST}/#1", clauses=":enumerators", collects=True),
                ),
                ("", Each(f"{FIRST}/#0", f"{FIRST}/#1", clauses=":enumerators")),
            )
        ),
        "enumerator": Iterate("#0", "#1"),
        "match_expression": Switch("value"),
        "case_block": Switch("", ""),
        "indented_cases": Switch("", ""),
        "case_clause": Case(
            "pattern", ":guard/condition", wildcards=names("_"), binds=True, names_fit=True
        ),
        "guard": Inner("condition"),
        "try_expression": Try(),
        "catch_clause": Catch(":case_block|:indented_cases|#0", ":case_block|:indented_cases|#0"),
        "finally_clause": Finally("#0"),
        "return_expression": Goes(Leap.RETURN),
        "throw_expression": Goes(Leap.RAISE),
        "infix_expression": OPERATION,
        "prefix_expression": Unary("#0"),
        "boolean_literal": Constant(),
        "val_definition": Assign("pattern", "value"),
        "var_definition": Assign("pattern", "value"),
        "val_declaration": Skip(),
        "var_declaration": Skip(),
        "call_expression": Call(),
        "generic_function": Inner("function"),
        "instance_expression": Call("#0", ":arguments", constructs=True),
        "function_definition": METHOD,
        "function_declaration": Skip(),
        "parameter": Parameter(),
        "binding": Parameter(),
        "lambda_expression": Function(name="", body="#-1", body_is_value=True),
    },
    mutators=names("next remove dequeue pop getOrElseUpdate read readLine"),
    pure=names("println print printf"),
    raising=names("error"),
)
