"""C#: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Control,
    Forms,
    Goes,
    Leap,
    Straight,
    Suite,
    Switch,
    Unary,
    With,
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Function,
    Name,
    Sequence,
    Skip,
    Variables,
    names,
)
from tersely.code.symbols import Kind

CREATION = Call("type", "arguments", constructs=True)
MEMBER = Function(Kind.METHOD)
NAMELESS = Function(Kind.METHOD, name="=operator|type|name")

CONTROL = Control(
    roles={
        "accessor_list": Suite(scoped=False),
        "switch_section": Forms(
            (
                ("default", Case("", joins=True, default=True)),
                ("", Case("#0", ":when_clause/#0", joins=True)),
            )
        ),
        "switch_expression": Switch("#0"),
        "switch_expression_arm": Case("#0", ":when_clause/#0", "#-1", names("_")),
        "declaration_pattern": Assign("name", ""),
        "var_pattern": Assign("#-1", ""),
        "declaration_expression": Assign("name", ""),
        "catch_clause": Catch(":catch_declaration"),
        "using_statement": With(),
        "lock_statement": With(body="#-1"),
        "fixed_statement": With(body="#-1"),
        "arrow_expression_clause": Goes(Leap.RETURN),
        "yield_statement": Forms((("break", Goes(Leap.RETURN)), ("", Straight()))),
        "prefix_unary_expression": Unary(),
        "postfix_unary_expression": Unary(negates=frozenset()),
        "variable_declaration": Variables("variable_declarator", name="name|#0", value="#1"),
        "object_creation_expression": CREATION,
        "implicit_object_creation_expression": CREATION,
        "tuple_expression": Sequence(),
        "this": Name(),
        "base": Name(),
        "conditional_access_expression": Call(
            ":invocation_expression/function/name",
            ":invocation_expression/arguments",
            receiver="condition",
        ),
        "member_binding_expression": Skip(),
        "lambda_expression": Function(name="", body_is_value=True),
        "implicit_parameter": Name(),
        "method_declaration": MEMBER,
        "constructor_declaration": MEMBER,
        "destructor_declaration": MEMBER,
        "operator_declaration": NAMELESS,
        "conversion_operator_declaration": NAMELESS,
        "indexer_declaration": Function(Kind.METHOD, name="=this", body="accessors|value"),
        "property_declaration": Function(Kind.METHOD, parameters="", body="value|accessors"),
        "accessor_declaration": Function(Kind.METHOD, parameters=""),
    },
    mutators=names(
        "Pop Dequeue Read ReadLine ReadByte ReadAsync MoveNext TryDequeue TryPop Remove TryAdd TryGetValue"
    ),
    pure=names("WriteLine Write Log LogDebug LogInformation LogWarning LogError"),
    changing_arguments={"Sort": 0, "Reverse": 0, "Fill": 0, "Clear": 0},
    lending=names("ref out"),
)
