"""The names that expressions mention: those they read, write, call, and carry on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    HOLE,
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
    is_tagged,
)
from tersely.code.languages.model import RECEIVER, Names, Resolution, member_getters
from tersely.code.symbols import CLASS_KINDS, MEMBER_OWNERS, Definition

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


HOLDERS = (*CALLS, ITEM)  # callees that contain the callee of an inner call


LISTS = (SEQUENCE, EITHER)


# Expressions that hold the values of their first part.
HELD_IN_FIRST = (ITEM, ELEMENT, HELD, KEY_OF, PART, ENTER, SPREAD, DECLARED, TYPED)


NAMELESS = (CONST, LITERAL)  # expressions that hold the value of no name


BASE_MARK = "<"  # in a mention before the name of a class, and before that of one based on it
ALIAS_MARK = "="  # in such a mention before another name of the class, by an import


# in a mention before the name of a callee in a class body, and before the member made so
MADE_MARK = "="


GIVEN_MARK = "("  # in a mention between a function and the name of a member that it is given


TEXT_MARK = '"'  # in a mention before a text that may name a member
PATTERN_MARK = TEXT_MARK + HOLE  # before a text with holes that may


_FILLED = re.compile(r"\{[^{}]*\}")  # in a text, where `format` puts something in


@cache
def receiver_returning_methods(facts: Resolution) -> Names:
    """Names of methods that return their receiver."""
    every = (*facts.methods.items(), *facts.summaries.items())
    return frozenset(
        name.rpartition(".")[2]
        for name, summary in every
        if summary.returns == RECEIVER or summary.refused >= 0
    )


@cache
def calling_names(facts: Resolution) -> Names:
    """Names of functions outside the repository that call functions passed to them."""
    every = (*facts.methods.items(), *facts.summaries.items())
    return frozenset(
        name.rpartition(".")[2].removesuffix("()")
        for name, summary in every
        if summary.calls or summary.calls_named
    )


@cache
def taking_names(facts: Resolution) -> Mapping[str, slice]:
    """The positions of arguments that name members, by the names of the functions that take them."""
    found = dict.fromkeys(facts.dispatchers, slice(None))
    for name, place in member_getters(facts).items():
        found[name] = slice(place, place + 1)
    return found


def callee_names(expression: Expression) -> tuple[Any, ...]:
    """The last names of an expression: of `a.b` b, of `f()()` f, of `x[0]` x."""
    while isinstance(expression, tuple):
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
    tag = expression[0] if isinstance(expression, tuple) else None
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
    """The name that an expression reads: of a member or a bare name."""
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
        if not isinstance(current, tuple) or id(current) in seen:
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


def constant_entries(expression: Expression) -> Iterator[tuple[Any, Expression]]:
    """Constant keys and values of the mappings that an expression writes down, at any depth."""
    if not isinstance(expression, tuple):
        return
    tag = expression[0]
    if tag == MAPPING:
        for key, value in expression[1]:
            if isinstance(key, tuple) and key[0] == CONST:
                yield key[1], value
            yield from constant_entries(value)
    elif tag in (CALL, NEW):
        for part in expression[2]:
            yield from constant_entries(part)
    elif tag in (SEQUENCE, EITHER):
        for part in expression[1]:
            yield from constant_entries(part)


def carried_names(expression: Expression) -> set[Any]:
    """The names whose values an expression may hold or return, arguments and elements included."""
    found = set[Any]()
    collect_carried(expression, found, found)
    return found


def names_in_bases(bases: Iterable[Expression]) -> set[Any]:
    """The names that some bases of a class are written with."""
    return {name for base in bases for name in (*callee_names(base), *carried_names(base))}


def original_names(name: Any, bound: Iterable[Expression]) -> list[str]:
    """The names that a definition may have where it is defined, by the values bound to its name in
    a file; "" for a value that has to be evaluated.
    """
    if type(name) is not str:
        return [""]
    found = [name]
    for value in bound:
        tag = value[0] if isinstance(value, tuple) else CONST
        if tag != DEFINED:
            found.append((value[2] or name) if tag == IMPORTED else "")
    return found


def mentioned_bases(
    definitions: Sequence[Definition], drafts: Sequence[ScopeDraft | None]
) -> set[str]:
    """For each class of a file, and each name that a base of it may have, both behind `BASE_MARK`;
    likewise each name that an import gives, behind `ALIAS_MARK`, and the one that it has where it is from.
    """
    bound = defaultdict[Any, list[Expression]](list)
    based = []
    found = set[str]()
    for own, draft in zip(definitions, drafts, strict=True):
        if draft is None:
            continue
        if draft.bases and own.kind in MEMBER_OWNERS:
            based.append((own.name, draft.bases))
        bound[own.name].append(draft.decorated or (DEFINED, draft.definition))
        for target, value in draft.binds:
            if type(target) is str:
                bound[target].append(value)
                is_import = type(value) is tuple and value[0] == IMPORTED
                if is_import and value[2] not in ("", target):
                    found.add(f"{BASE_MARK}{value[2]}{BASE_MARK}{ALIAS_MARK}{target}")
    for child, bases in based:
        for name in names_in_bases(bases):
            for original in original_names(name, bound[name]):
                found.add(f"{BASE_MARK}{original}{BASE_MARK}{child}")
    return found


def mentioned_members(
    definitions: Sequence[Definition], drafts: Sequence[ScopeDraft | None]
) -> set[str]:
    """For each member of a class of a file that a call makes or decorates, the name of the callee
    and its own, both behind `MADE_MARK`.
    """
    made: list[tuple[Expression, Expression]] = []
    for own, draft in zip(definitions, drafts, strict=True):
        if draft is not None and own.kind in CLASS_KINDS:
            made += draft.binds
        if draft is not None and definitions[own.parent].kind in CLASS_KINDS:
            made.append((own.name, draft.decorated))
    for target, value in made:  # the parts of alternatives, and of declared values, come after it
        tag = value[0] if isinstance(value, tuple) else CONST
        if tag in (EITHER, DECLARED):
            made += [(target, part) for part in (value[1] if tag == EITHER else value[1:2])]
    return {
        f"{MADE_MARK}{name}{MADE_MARK}{target}"
        for target, value in made
        if isinstance(value, tuple) and value[0] == CALL
        for name in callee_names(value[1])
    }


def texts_in(arguments: Iterable[Expression]) -> Iterator[str]:
    """The texts in some arguments; "" for one that has to be evaluated."""
    for argument in arguments:
        held = [value for _, value in argument[1]] if is_tagged(argument, MAPPING) else [argument]
        for value in held:
            if is_tagged(value, CONST):
                yield str(value[1])
            else:
                yield ""


def mentioned_texts(spelled: Iterable[str]) -> set[str]:
    """The texts of a file that may name members, with holes for interpolated parts, each behind its
    mark.
    """
    found = set[str]()
    for text in spelled:
        pattern = _FILLED.sub(HOLE, text)
        known = pattern.replace(HOLE, "")
        if known and f"_{known}".isidentifier():
            found.add((PATTERN_MARK if known != pattern else TEXT_MARK) + pattern)
    return found


def _read_from(call: Expression, readers: Names) -> Expression:
    """The container that a call reads, None if its method does not return the content of a
    container.
    """
    callee = call[1]
    reads = isinstance(callee, tuple) and callee[0] == MEMBER and callee[2] in readers
    return callee[1] if reads else None


def collect_carried(
    expression: Expression,
    names: set[Any],
    called: set[Any],
    readers: Names = frozenset(),
) -> None:
    """Add the names whose values an expression may hold, arguments, elements and containers that
    `readers` read included.

    The names of calls whose results it may hold go to `called`.
    """
    while isinstance(expression, tuple) and expression[0] in HELD_IN_FIRST:
        expression = expression[1]
    tag = expression[0] if isinstance(expression, tuple) else CONST
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
        elif isinstance(part, tuple) and part[0] not in NAMELESS:
            collect_carried(part, names, called, readers)
