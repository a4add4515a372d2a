"""Swift: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Constant,
    Control,
    Declares,
    Each,
    Fails,
    Forms,
    Goes,
    If,
    Labelled,
    Leap,
    Straight,
    Suite,
    Switch,
    Ternary,
    Try,
    Unary,
    While,
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Class,
    Function,
    KeywordArgument,
    Parameter,
    Skip,
    names,
)
from tersely.code.symbols import Kind

BODY = ":statements"
PATTERN = ":switch_pattern"
METHOD = Function(Kind.METHOD, parameters=".")
CLASS = Class()

CONTROL = Control(
    roles={
        **dict.fromkeys(
            names(
                "source_file class_body enum_class_body protocol_body function_body computed_property"
            ),
            Suite(scoped=False),
        ),
        "statements": Suite(),
        "if_statement": Forms((("else", If("+", BODY, "#-1")), ("", If("+", BODY, "")))),
        "guard_statement": If("+", BODY, "", negated=True, outlives=True),
        "while_statement": While("+", BODY),
        "repeat_while_statement": While(body=BODY, first=False),
        "for_statement": Each("item", "collection", BODY, clauses=":where_clause"),
        "statement_label": Labelled("", ""),
        "switch_statement": Switch("expr", ""),
        "switch_entry": Forms(
            (
                ("default_keyword", Case("", "", BODY, default=True)),
                ("where_keyword", Case(PATTERN, "#-2", BODY, joins=True)),
                ("", Case(PATTERN, "", BODY, joins=True)),
            )
        ),
        "pattern": Declares("bound_identifier"),
        "do_statement": Try(BODY),
        "catch_block": Catch("error", BODY),
        "control_transfer_statement": Forms(
            (
                ("return", Goes(Leap.RETURN)),
                ("throw_keyword", Goes(Leap.RAISE)),
                ("break", Goes(Leap.BREAK, "result")),
                ("continue", Goes(Leap.CONTINUE, "result")),
                ("", Straight()),
            )
        ),
        "conjunction_expression": Choice("lhs", "rhs"),
        "disjunction_expression": Choice("lhs", "rhs"),
        "nil_coalescing_expression": Choice("value", "if_nil"),
        "ternary_expression": Ternary("condition", "if_true", "if_false"),
        "prefix_expression": Unary("target", names("! bang"), borrows=names("&")),
        "boolean_literal": Constant(),
        "try_expression": Fails(),
        "property_declaration": Forms(
            (
                ("computed_property", Function(Kind.METHOD, parameters="", body="computed_value")),
                ("", Declares("name", "value")),
            )
        ),
        "computed_getter": Function(Kind.METHOD, ":getter_specifier", "", BODY),
        "computed_setter": Function(Kind.METHOD, ":setter_specifier", "", BODY),
        "assignment": Assign("target", "result", updates=True),
        "call_expression": Call("#0", ":call_suffix/:value_arguments|:call_suffix"),
        "value_argument": KeywordArgument("", "value"),
        "function_declaration": METHOD,
        "init_declaration": METHOD,
        "deinit_declaration": Function(Kind.METHOD, "=deinit", "", "body"),
        "subscript_declaration": Function(Kind.METHOD, "=subscript", ".", ":computed_property"),
        "parameter": Parameter("name|#0"),
        "lambda_parameter": Parameter("name|#0"),
        "lambda_literal": Function(
            name="",
            parameters="type/:lambda_function_type_parameters",
            body=BODY,
            body_is_value=True,
        ),
        "class_declaration": CLASS,
        "protocol_declaration": CLASS,
        "user_type": Skip(),
        "type_annotation": Skip(),
        "where_keyword": Skip(),
    },
    parameters=names("parameter lambda_parameter"),
    implicit_parameters=names("$0 $1"),
    mutators=names("popLast removeLast removeFirst remove next insert append read"),
    pure=names("print debugPrint assert precondition"),
    raising=names("fatalError preconditionFailure"),
    changing_arguments={"swap": 0},
)
