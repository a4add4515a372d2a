"""The names that expressions mention: those they read, write, call, and carry on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    AS_TRAIT,
    BLOCK_MARK,
    CALL,
    CONST,
    DECLARED,
    DEFINED,
    EITHER,
    ELEMENT,
    ENTER,
    GENERIC,
    HELD,
    IMPORTED,
    ITEM,
    KEY_OF,
    LITERAL,
    MAPPING,
    MEMBER,
    NEW,
    PART,
    REFERENCE,
    SEQUENCE,
    SPREAD,
    TYPE_PARAMETER,
    TYPED,
    VERSION_MARK,
    Expression,
    is_spread,
    is_tagged,
)
from tersely.code.languages.model import RECEIVER, Resolution
from tersely.code.symbols import MEMBER_OWNERS, Definition

if TYPE_CHECKING:
    from tersely.code.syntax.drafts import ScopeDraft

# Expressions that end with the name of their first part.
NAMED_BY_FIRST = (
    CALL,
    NEW,
    ITEM,
    ELEMENT,
    HELD,
    KEY_OF,
    PART,
    ENTER,
    GENERIC,
    DECLARED,
    AS_TRAIT,
    TYPE_PARAMETER,
)


MEMBERS = (MEMBER, REFERENCE)


CALLS = (CALL, NEW)


HOLDERS = (*CALLS, ITEM)  # callees among whose parts is what they call


LISTS = (SEQUENCE, EITHER)


# Expressions that hold what their first part holds.
HELD_IN_FIRST = (ITEM, ELEMENT, HELD, KEY_OF, PART, ENTER, SPREAD, DECLARED, TYPED)


NAMELESS = (CONST, LITERAL)  # expressions that hold the value of no name


BASE_MARK = "<"  # in a mention before the name of a class: another one may be based on it


GIVEN_MARK = "("  # in a mention between a dispatcher and the name of a method that it is given


@cache
def echoing(facts: Resolution) -> frozenset[str]:
    """Names of methods that give back what they are called on."""
    every = (*facts.methods.items(), *facts.summaries.items())
    return frozenset(
        name.rpartition(".")[2]
        for name, summary in every
        if summary.returns == RECEIVER or summary.refused >= 0
    )


@cache
def calling_names(facts: Resolution) -> frozenset[str]:
    """Names of functions outside the repository that call functions which they are given."""
    every = (*facts.methods.items(), *facts.summaries.items())
    return frozenset(
        name.rpartition(".")[2].removesuffix("()")
        for name, summary in every
        if summary.calls or summary.calls_named
    )


def callee_names(expression: Expression) -> tuple[Any, ...]:
    """The names that an expression is written with at its end: `a.b` gives b, `f()()` gives f,
    `x[0]` gives x.
    """
    while type(expression) is tuple:
        tag = expression[0]
        if tag in MEMBERS:
            return (expression[2],)
        if tag == DEFINED:
            return (expression[1],)
        if tag == IMPORTED:
            return (expression[2] or expression[1].rpartition(".")[2],)
        if tag == EITHER:
            return tuple(
                dict.fromkeys(name for part in expression[1] for name in callee_names(part))
            )
        if tag not in NAMED_BY_FIRST:
            return ()
        expression = expression[1]
    return (expression.partition(VERSION_MARK)[0],) if type(expression) is str else ()


def serials_in(expression: Expression) -> Iterator[int]:
    """The serials of lists and mappings that an expression may be."""
    tag = expression[0] if type(expression) is tuple else None
    if tag in (SEQUENCE, MAPPING):
        yield expression[2]
    elif tag == DECLARED:
        yield from serials_in(expression[1])
    elif tag == EITHER:
        for part in expression[1]:
            yield from serials_in(part)


def is_of_block(target: Expression) -> bool:
    """True for a name that ends with the block that declares it."""
    return type(target) is str and BLOCK_MARK in target


def read_name(expression: Expression) -> str:
    """The name of what is read: of a member or a bare name."""
    return str(expression if type(expression) is str else expression[2])


def written_names(expression: Expression) -> tuple[set[str], set[str]]:
    """The names written in nested tuples of expressions, without their versions; and those of
    members alone.

    Expressions share their parts: a walk that did not remember them would take time exponential in
    the depth.
    """
    names = set[str]()
    members = set[str]()
    pending = [expression]
    seen = set[int]()
    while pending:
        current = pending.pop()
        if type(current) is str:
            names.add(current.partition(VERSION_MARK)[0])
        elif isinstance(current, tuple) and id(current) not in seen:
            seen.add(id(current))
            pending += current
            if len(current) == 3 and current[0] == MEMBER and type(current[2]) is str:
                members.add(current[2])
    return names, members


def displays_in(expression: Expression) -> Iterator[Any]:
    """The lists and mappings written in an expression or in tuples of expressions, each once, the
    outer ones first.
    """
    pending = [expression]
    seen = set[int]()
    while pending:
        current = pending.pop()
        if type(current) is not tuple or id(current) in seen:
            continue
        seen.add(id(current))
        if (
            current
            and current[0] in (SEQUENCE, MAPPING)
            and type(current[0]) is int
            and len(current) == 3
        ):
            yield current
        if current and current[0] == PART and type(current[0]) is int and len(current) == 5:
            yield (SEQUENCE, ((SPREAD, current[1]),), current[4])
        pending += reversed(current)


def mapped(expression: Expression) -> Iterator[tuple[Any, Expression]]:
    """Constant keys and values of the mappings that an expression writes down, at any depth."""
    if type(expression) is not tuple:
        return
    tag = expression[0]
    if tag == MAPPING:
        for key, value in expression[1]:
            if type(key) is tuple and key[0] == CONST:
                yield key[1], value
            yield from mapped(value)
    elif tag in (CALL, NEW):
        for part in expression[2]:
            yield from mapped(part)
    elif tag in (SEQUENCE, EITHER):
        for part in expression[1]:
            yield from mapped(part)


def carried_names(expression: Expression) -> set[Any]:
    """The names whose values an expression may hold or give back, arguments and elements included."""
    found = set[Any]()
    collect_carried(expression, found, found)
    return found


def names_in_bases(bases: Iterable[Expression]) -> set[Any]:
    """The names that some bases of a class are written with."""
    return {name for base in bases for name in (*callee_names(base), *carried_names(base))}


def original_names(name: Any, bound: Iterable[Expression]) -> Iterator[str]:
    """The names that something has where it is defined, by what its name is bound to in a file; ""
    when only evaluating it would tell.
    """
    if type(name) is not str:
        yield ""
        return
    yield name
    for value in bound:
        if is_tagged(value, IMPORTED):
            yield value[2] or name
        elif not is_tagged(value, DEFINED):
            yield ""


def mentioned_bases(
    definitions: Sequence[Definition], drafts: Sequence[ScopeDraft | None]
) -> Iterator[str]:
    """For each name that a base of a class of a file may have, that name behind `BASE_MARK`."""
    bodies = [
        (own, draft) for own, draft in zip(definitions, drafts, strict=True) if draft is not None
    ]
    names = {
        name
        for own, draft in bodies
        if own.kind in MEMBER_OWNERS
        for name in names_in_bases(draft.bases)
    }
    bound = defaultdict[Any, list[Expression]](list)
    for own, draft in bodies if names else ():
        bound[own.name].append(draft.decorated or (DEFINED, draft.definition))
        for target, value in draft.binds:
            if type(target) is str:
                bound[target].append(value)
    for name in names:
        for original in original_names(name, bound[name]):
            yield BASE_MARK + original


def texts_in(arguments: Iterable[Expression]) -> Iterator[str]:
    """The texts that some arguments hold; "" when only evaluating them would tell."""
    for argument in arguments:
        held = [value for _, value in argument[1]] if is_tagged(argument, MAPPING) else [argument]
        for value in held:
            if is_tagged(value, CONST):
                yield str(value[1])
            elif not is_spread(value):
                yield ""


def _read_from(call: Expression, readers: frozenset[str]) -> Expression:
    """What a call reads from, None if it is of no method that gives what a container holds."""
    callee = call[1]
    reads = type(callee) is tuple and callee[0] == MEMBER and callee[2] in readers
    return callee[1] if reads else None


def collect_carried(
    expression: Expression,
    names: set[Any],
    called: set[Any],
    readers: frozenset[str] = frozenset(),
) -> None:
    """Add the names whose values an expression may hold, arguments and elements included, and what
    containers hold from which `readers` read.

    Of calls whose results it may hold the names go to `called`.
    """
    while type(expression) is tuple and expression[0] in HELD_IN_FIRST:
        expression = expression[1]
    tag = expression[0] if type(expression) is tuple else CONST
    parts: Iterable[Expression] = ()
    if tag in CALLS:
        called.update(callee_names(expression[1]))
        passed = (*expression[2], *[value for _, value in expression[3]])
        parts = (*passed, _read_from(expression, readers))
    elif tag in LISTS:
        parts = expression[1]
    elif tag == MAPPING:
        parts = [value for _, value in expression[1]]
    else:
        names.update(callee_names(expression))
    for part in parts:
        if type(part) is str:
            names.add(part.partition(VERSION_MARK)[0])
        elif type(part) is tuple and part[0] not in NAMELESS:
            collect_carried(part, names, called, readers)
