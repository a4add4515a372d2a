"""The expression language of facts: where a value comes from, in any programming language.

An expression is `None` (unknown), a `str` (reading a name), or a tuple that starts with one of the
tags below. Scopes hold expressions as plain tuples because there are hundreds of thousands of them:
they are marshalled into the index as they stand and evaluated by `graph` on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from tersely.foundation.types import Strings

# A name that straight-line code binds again is another variable: `name`, `name<mark>2`, … The mark
# is in no identifier.
VERSION_MARK = "\x01"
# before the number of a variable that ends with a block; functions in the block see it
BLOCK_MARK = VERSION_MARK + "@"

# the name that a class binds to an instance of its metaclass; it is in no identifier
METACLASS = "metaclass="

HOLE = "*"  # an unknown part of a text of which other parts are known
MAX_DOTTED_PARTS = 8  # names in a text that is read as an expression
MAX_PATH_CHARACTERS = 200  # known ones of a text, above which it is no path of a URL

Expression = Any  # None | str | tuple[int, ...]; recursive, so spelled Any
Expressions = tuple[Expression, ...]
NamedExpressions = list[tuple[str, Expression]]

MEMBER = 1  # (MEMBER, object, name)
# (CALL, callee, arguments, keywords, line); keywords: ((name, value), …), name "" for **mapping.
# Type arguments that are written down are a sixth part.
CALL = 2
# (ITEM, object, key), or (ITEM, object, key, name): the name holds the value stored there just
# before
ITEM = 3
CONST = 4  # (CONST, str | int)
SEQUENCE = 5  # (SEQUENCE, elements, serial); the serial tells two displays of one file apart
MAPPING = 6  # (MAPPING, ((key, value), …), serial)
DEFINED = 7  # (DEFINED, definition): the function or class defined here
# (EITHER, alternatives), or (EITHER, (entered, right), OPERATED): the result of the left operand's
# method for an operator, or else both operands
EITHER = 8
OPERATED = 1
# (TYPED, type): an instance of the type; (TYPED, type, names): the value of a name with these type
# parameters
TYPED = 9
ELEMENT = 10  # (ELEMENT, collection)
# (PART, collection, start, stop, serial): a slice; a bound is a number or None
PART = 20
# (ENTER, object, method): the result of a method that syntax calls on an object, else the object
# itself
ENTER = 11
GENERIC = 12  # (GENERIC, base, arguments)
SPREAD = 13  # (SPREAD, collection)
# (LITERAL, type name), or (LITERAL, type name, pattern): a text of which parts are known, with `*`
# for each unknown one; a fourth part is the expression in the place of the `*` that it begins with
LITERAL = 14
IMPORTED = 15  # (IMPORTED, module, name); name "" for the module itself
PARAMETER = 16  # (PARAMETER, position): only in tables made by `graph`
NEW = 17  # like CALL, for explicit construction
# (DECLARED, value, type): the value as far as the type admits it, an instance of the type if
# unknown
DECLARED = 18
# (REFERENCE, object, name): a method as a value, where methods have names of their own
REFERENCE = 19
AS_TRAIT = 23  # (AS_TRAIT, type, trait): a type as an implementation of a trait
OUTER_NAME = 22  # (OUTER_NAME, name): a name as seen from the scope around this one
KEY_OF = 30  # (KEY_OF, collection): one of the keys of a mapping, else an element
HELD = 31  # (HELD, collection): one of its items; of a mapping the value at a key
# (SIGNATURE, type, types of parameters): a callable that returns an instance of the type. (SPREAD,
# type) at the end is the type of the collection of all further arguments.
SIGNATURE = 24
TYPE_PARAMETER = 32  # (TYPE_PARAMETER, bound, name): the type that a type parameter stands for
# (GUARD, parameter, type): the return type of a type guard, a function which tests whether an
# argument is an instance of the type; (GUARDED, callee, argument): as a type, that of an argument
# for which a type guard is true.
GUARD = 25
GUARDED = 26
# (GIVEN, values): only in types made by `graph`, for a type parameter of which they are instances
GIVEN = 33
# (STORED, object, name): only in `reads`, a member that is assigned; with a fourth part, REMOVED,
# one that is removed
STORED = 27
REMOVED = 1
# (TESTED, member, constants, holds): as the type of a DECLARED value, the outcome of a test of a
# member: it is one of some constants, or none of them; without constants, it is present, or absent
TESTED = 34
UNIT = 35  # (UNIT, constant): the type of which that constant is the one value
# (REASON, promise): only in calls made by `graph`, the reasons for which a promise is not kept
REASON = 36
DISPLAYED = 21  # (DISPLAYED, serial): the list or mapping of that serial, from inside it

# (LITERAL, ELLIPSIS): among type arguments, any number more of the one before
ELLIPSIS = "ellipsis"

# The default of a parameter whose value is written down and not followed.
UNFOLLOWED = (EITHER, ())

# Modes of a parameter.
POSITIONAL, REST, KEYWORD_REST, KEYWORD_ONLY, POSITIONAL_ONLY = 0, 1, 2, 3, 4
VARIADIC = (REST, KEYWORD_REST)

# Flags of a definition.
STATIC = 1  # called without a receiver
CLASS_METHOD = 2  # the receiver is the class
PROPERTY = 4  # reading the member calls it
GENERATOR = 8  # calling it gives a collection of the values it yields
ABSTRACT = 16
EXTENSION = 32  # adds members to the class of that name
PRIVATE = 64
OUTSIDE = 1 << 14  # a method written outside its class; its receiver is no parameter
CONTEXT_MANAGER = 128  # entering the result of a call gives the value it yields
CONSTRUCTOR = 256
PARTIAL = 512  # one of several definitions that together are one class
DETACHED = 1024  # a value, not a declaration: its name binds nothing in the scope around it
# the receiver in it is the object it is called on, not that of the scope around it
OWN_RECEIVER = 2048
SETTER = 4096  # a property that is assigned, not read
REMOVER = 1 << 17  # one that is removed; it is a setter as well
REPLACED = 1 << 13  # its name means a later definition
STUB = 1 << 16  # says how a later definition of its name is called, and never runs
OPTIONAL = 1 << 19  # objects of its type may lack it
TAKES_RESULTS = 1 << 18  # one call may pass all that it gives, a value for each parameter


class Parameter(NamedTuple):
    """One parameter: `annotation` and `default` are expressions."""

    name: str
    annotation: Expression
    default: Expression
    mode: int


class Scope(NamedTuple):
    """The effects of the body of one definition. All members are plain tuples of expressions.

    `binds`: (target, value), where a target is a name, a MEMBER or an ITEM. `calls`: every CALL and
    NEW in the body, in order. `reads`: (MEMBER or name, line) that are not called, for properties.
    `outer`: (name, 1 if of the module) that the body binds outside itself. `stars`: modules whose
    names are all imported. `bases` and `decorated` are evaluated in the enclosing scope.
    """

    parameters: tuple[Parameter, ...]
    binds: tuple[tuple[Expression, Expression], ...]
    calls: Expressions
    reads: tuple[tuple[Expression, int], ...]
    returns: Expressions
    yields: Expressions
    outer: tuple[tuple[str, int], ...]
    stars: Strings
    bases: Expressions
    decorated: Expression  # the value that decorators made of the definition, None without any
    returned_type: Expression
    receiver_type: Expression
    flags: int
    # the object that a function was made a member of, evaluated in the enclosing scope
    holder: Expression
    type_parameters: Strings  # their names


def either(*alternatives: Expression) -> Expression:
    """One expression for several possible ones."""
    known = [part for part in alternatives if part is not None]
    return known[0] if len(known) == 1 else (EITHER, tuple(known)) if known else None


_WITH_NAME = frozenset({GENERIC, ITEM, LITERAL, TYPED, TYPE_PARAMETER})


def last_part(dotted: str) -> str:
    """The last name of a dotted one."""
    return dotted.rpartition(".")[2]


def last_name(type_: Expression) -> str:
    """The last name of a type, without qualifiers and type arguments; "" for none."""
    while isinstance(type_, tuple):
        if type_[0] == MEMBER:
            return str(type_[2])
        type_ = type_[1] if type_[0] in _WITH_NAME else None
    return type_ if type(type_) is str else ""


def named_parameters(type_: Expression) -> Iterator[str]:
    """The names of the type parameters that are part of a type, in order."""
    if not isinstance(type_, tuple) or not type_:
        return
    if type_[0] == TYPE_PARAMETER:
        yield type_[2]
        return
    for part in type_:
        yield from named_parameters(part)


def substitute(type_: Expression, given: Mapping[str, Expression]) -> Expression:
    """A type with arguments in place of its type parameters; the same object if it names none of
    them.
    """
    if not isinstance(type_, tuple) or not type_ or not given:
        return type_
    if type_[0] == TYPE_PARAMETER:
        return given.get(type_[2], type_)
    parts = [substitute(part, given) for part in type_]
    is_same = all(new is old for new, old in zip(parts, type_, strict=True))
    return type_ if is_same else tuple.__new__(type(type_), parts)


BEHIND_PATH = ("?", "#")  # the characters that end the path of a URL


def patterned(pattern: str, first: Expression = None) -> Expression:
    """A text of which parts are known; the pattern is kept where it may be that of a name or path.
    `first` is the expression in the place of a hole that it begins with.
    """
    known = pattern.replace(HOLE, "")
    is_name = bool(known) and f"_{known}".isidentifier()
    is_url = "/" in known or pattern.startswith(BEHIND_PATH)
    is_path = is_url and len(known) <= MAX_PATH_CHARACTERS and known.split() == [known]
    if first is not None and pattern.startswith(HOLE) and (is_path or behind_path(pattern)):
        return (LITERAL, "str", pattern, first)
    return (
        (LITERAL, "str", pattern) if HOLE in pattern and (is_name or is_path) else (LITERAL, "str")
    )


def behind_path(pattern: str) -> bool:
    """True if a text with an unknown beginning goes on behind the path of a URL: with a query or
    fragment.
    """
    return pattern[len(HOLE) :].startswith(BEHIND_PATH)


def text_of(value: Expression) -> str:
    """A text as far as it is known, with a hole for each unknown part."""
    if is_tagged(value, CONST):
        return str(value[1])
    has_pattern = is_tagged(value, LITERAL) and len(value) > len(("tag", "type"))
    return str(value[2]) if has_pattern else HOLE


def is_text(value: Expression) -> bool:
    """True if an expression is a text, known or not."""
    if is_tagged(value, CONST):
        return type(value[1]) is str
    return is_tagged(value, LITERAL) and value[1] == "str"


def joined_texts(left: Expression, right: Expression) -> Expression:
    """`left + right` of which one is a text, None where neither is."""
    if not is_text(left) and not is_text(right):
        return None
    joined = text_of(left) + text_of(right)
    is_known = is_tagged(left, CONST) and is_tagged(right, CONST)
    return (CONST, joined) if is_known else patterned(joined, beginning_of(left))


def beginning_of(left: Expression) -> Expression:
    """The expression that a text begins with whose left part is given, None where that is known."""
    if is_tagged(left, LITERAL) and len(left) > len(("tag", "type", "pattern")):
        return left[3]
    return None if is_text(left) else left


def is_tagged(expression: Expression, *tags: int) -> TypeGuard[tuple[Any, ...]]:
    """True if an expression is a tuple that starts with one of the tags."""
    return isinstance(expression, tuple) and expression[0] in tags


def is_literal(expression: Expression) -> bool:
    """True if a value is written down: a number, a text, a list, a mapping."""
    if not isinstance(expression, tuple):
        return False
    if expression[0] == EITHER:
        return all(is_literal(part) for part in expression[1])
    return expression[0] in (CONST, LITERAL, SEQUENCE, MAPPING, PART)


def is_spread(expression: Expression) -> bool:
    """True if an argument or element stands for all elements of a value."""
    return is_tagged(expression, SPREAD)


def dotted_name(text: str) -> Expression:
    """The expression of names with dots between them, None for any other text."""
    parts = text.strip(" '\"").split(".")
    if len(parts) > MAX_DOTTED_PARTS or not all(part.isidentifier() for part in parts):
        return None
    expression: Expression = parts[0]
    for part in parts[1:]:
        expression = (MEMBER, expression, part)
    return expression
