"""Kotlin: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Constant,
    Control,
    Each,
    Finally,
    Forms,
    Goes,
    If,
    Labelled,
    Leap,
    Suite,
    Switch,
    Try,
    While,
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Class,
    Function,
    KeywordArgument,
    Name,
    Parameter,
    Skip,
    names,
)
from tersely.code.symbols import Kind

PARAMETERS = ":function_value_parameters"
VARIABLES = ":variable_declaration|:multi_variable_declaration"
FUNCTION = Function(parameters=PARAMETERS, body=":function_body")
CLASS = Class(body=":class_body|:enum_class_body")

CONTROL = Control(
    roles={
        "function_body": Forms((("=", Goes(Leap.RETURN)), ("", Suite(scoped=False)))),
        "if_expression": If(then="#1", otherwise="#2"),
        "while_statement": While(body="#-1"),
        "do_while_statement": While(body="#0", first=False, sees_body=True),
        "for_statement": Each(VARIABLES, "#-2", "#-1", label=":label"),
        "when_expression": Switch(":when_subject"),
        "when_entry": Forms(
            (("else", Case("", "", "#-1", default=True)), ("", Case("condition", "", "#-1")))
        ),
        "try_expression": Try(":block"),
        "catch_block": Catch(":user_type", binds=":identifier"),
        "finally_block": Finally(),
        "return_expression": Goes(Leap.RETURN, "label"),
        "labeled_expression": Forms(
            (
                ("break@", Goes(Leap.BREAK, "#1")),
                ("continue@", Goes(Leap.CONTINUE, "#1")),
                ("", Labelled("#0")),
            )
        ),
        "identifier": Forms(
            (
                ("break", Goes(Leap.BREAK)),
                ("continue", Goes(Leap.CONTINUE)),
                ("true", Constant()),
                ("false", Constant()),
                ("", Name()),
            )
        ),
        "property_declaration": Assign(VARIABLES, "#-1"),
        "variable_declaration": Assign("#0", ""),
        "getter": Function(name="=get", parameters="", body=":function_body"),
        "setter": Function(name="=set", parameters="", body=":function_body"),
        "call_expression": Call("#0", ":value_arguments"),
        "value_argument": KeywordArgument("", "#-1"),
        "this_expression": Name(),
        "parameter": Parameter("#0"),
        "lambda_literal": Function(
            name="", parameters=":lambda_parameters", body="", body_is_value=True
        ),
        "anonymous_function": Function(name="", parameters=PARAMETERS, body=":function_body"),
        "function_declaration": FUNCTION,
        "secondary_constructor": Function(Kind.METHOD, "=constructor", PARAMETERS, ":block"),
        "class_declaration": CLASS,
        "object_declaration": CLASS,
        "companion_object": CLASS,
        "object_literal": Class(name="", body=":class_body", is_value=True),
        "user_type": Skip(),
        "nullable_type": Skip(),
        "type_arguments": Skip(),
        "primary_constructor": Skip(),
        "label": Skip(),
    },
    parameters=names("parameter variable_declaration multi_variable_declaration"),
    implicit_parameters=names("it"),
    mutators=names(
        "next removeAt removeFirst removeLast remove poll pop read readLine add put getOrPut"
    ),
    pure=names("println print require check"),
    raising=names("error"),
    changing_arguments={"sort": 0, "shuffle": 0, "reverse": 0},
)
