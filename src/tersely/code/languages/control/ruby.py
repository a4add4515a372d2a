"""Ruby: the order in which statements run."""

from __future__ import annotations

from tersely.code.languages.control.roles import (
    Case,
    Catch,
    Choice,
    Control,
    Each,
    Else,
    Fails,
    Finally,
    Forms,
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
)
from tersely.code.languages.model import (
    Assign,
    Call,
    Class,
    Function,
    Item,
    Member,
    Name,
    Parameter,
    Sequence,
    Skip,
    names,
)
from tersely.code.symbols import Kind

BODY = Forms((("rescue", Try("")), ("ensure", Try("")), ("", Suite(scoped=False))))
SUITE = Suite(scoped=False)
CALL = Call("method", "arguments", receiver="receiver")
READ = Member("receiver", "method")
METHOD = Function(Kind.METHOD, body_is_value=True)
BLOCK = Function(name="", body_is_value=True)

CONTROL = Control(
    roles={
        "body_statement": BODY,
        "begin": BODY,
        "block_body": BODY,
        "then": SUITE,
        "do": SUITE,
        "parenthesized_statements": SUITE,
        "else": Else(""),
        "ensure": Finally(""),
        "rescue": Catch("exceptions", binds="variable"),
        "if": If(),
        "elsif": If(),
        "unless": If(negated=True),
        "if_modifier": If(otherwise=""),
        "unless_modifier": If(otherwise="", negated=True),
        "while": While(),
        "until": While(negated=True),
        "while_modifier": Forms((("begin", While(first=False)), ("", While()))),
        "until_modifier": Forms(
            (("begin", While(first=False, negated=True)), ("", While(negated=True)))
        ),
        "for": Each("pattern", "value"),
        "case": Switch(),
        "when": Case("pattern", "", "body"),
        "case_match": Switch(),
        "in_clause": Case(
            "pattern", "guard/condition", "body", names("_"), binds=True, names_fit=True
        ),
        "return": Goes(Leap.RETURN),
        "next": Goes(Leap.CONTINUE),
        "break": Goes(Leap.BREAK),
        "redo": Goes(Leap.GOTO),
        "retry": Goes(Leap.GOTO),
        "binary": Forms((("<<", Call("=<<", "", receiver="left")), ("", Choice()))),
        "unary": Unary(),
        "conditional": Ternary(),
        "assignment": Assign(),
        "operator_assignment": Update(),
        "right_assignment_list": Sequence(),
        "left_assignment_list": Sequence(),
        "array": Sequence(),
        "hash": Sequence(),
        "identifier": Forms((("raise", Goes(Leap.RAISE)), ("", Name()))),
        "instance_variable": Name(),
        "class_variable": Name(),
        "call": Forms(
            (
                ("argument_list", CALL),
                ("block", CALL),
                ("do_block", CALL),
                (".", READ),
                ("&.", READ),
                ("", CALL),
            )
        ),
        "super": Fails(),
        "yield": Fails(),
        "element_reference": Item("object", "#1"),
        "scope_resolution": Member("scope", "name"),
        "method": METHOD,
        "singleton_method": METHOD,
        "block": BLOCK,
        "do_block": BLOCK,
        "lambda": Function(name="", body="body/body", body_is_value=True),
        "block_parameter": Parameter(),
        "class": Class(),
        "module": Class(),
        "singleton_class": Class(name="value"),
        "alias": Skip(),
        "undef": Skip(),
    },
    declares_by_assignment=True,
    closures_share=True,
    members_call=True,
    mutators=names(
        "<< push pop shift unshift append concat insert delete delete_at delete_if clear read gets readline next "
        "slice! map! select! reject! sort! uniq! compact! reverse! merge! update store gsub! sub! strip! chomp! "
        "downcase! upcase!"
    ),
    pure=names("puts print p pp warn require require_relative"),
    raising=names("raise abort exit fail throw"),
)
