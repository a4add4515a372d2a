"""The words to a service, `semantic "validate tokens" --limit 5`, as a method and parameters of the
right types.

The code service's parameters are those of the capabilities, under the names that its clients use.
Of other services nothing is known: words are typed by what they look like.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from tersely.capabilities.declaration.binding import read_words
from tersely.daemon.ndjson.spellings import Spelling, spelling_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_ARGUMENT_CHARACTERS
from tersely.foundation.types import JsonObject

CODE_SERVICE = "tldr"
# how parameters without a name are called where nothing is known
_PLACES = ("query", "target", "path")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(?:\d{1,18}\.\d{0,18}|\.\d{1,18})(?:[eE][+-]?\d{1,3})?")
_WORDS = {"true": True, "false": False, "null": None}


class ServiceQuestion(NamedTuple):
    """A question to a service."""

    service: str
    method: str
    parameters: JsonObject


def asked(service: str, said: str, declared: Sequence[str] = ()) -> ServiceQuestion:
    """The request to a service that somebody's words mean; raises `usage`, `invalid_argument` and
    `payload_too_large`.

    Words without a name are the parameters that the method of a foreign service has `declared`, in
    their order; a foreign one may have the name of the code service.
    """
    if len(said) > MAX_ARGUMENT_CHARACTERS:
        raise TerselyError(
            "payload_too_large", f"a question has at most {MAX_ARGUMENT_CHARACTERS:,} characters"
        )
    try:
        words = shlex.split(said)
    except ValueError as error:
        raise TerselyError("usage", f"{error}".lower(), 'write a text with blanks as "…"') from None
    if not words or not re.fullmatch(r"\w[\w.-]*", words[0]):
        raise TerselyError(
            "usage", f"say what {service} is to do", f"for example: {service} semantic QUERY"
        )
    method, *rest = words
    spelling = spelling_of(method) if service == CODE_SERVICE and not declared else None
    given = (
        _by_looks(rest, declared or _PLACES) if spelling is None else _of_capability(spelling, rest)
    )
    return ServiceQuestion(service, method, given)


def _of_capability(spelling: Spelling, words: Sequence[str]) -> JsonObject:
    from tersely.capabilities import catalogue
    from tersely.capabilities.declaration.declaration import Role

    declared = catalogue.load(spelling.capability).parameters
    names = spelling.shown
    texts = {
        parameter.name for parameter in declared if parameter.many and parameter.role is Role.TEXT
    }
    own = _in_own_words(words, [one.name for one in declared if one.positional], spelling)
    given = read_words(declared, own.words)
    said = {
        names.get(name, name): _plain(value, is_text=name in texts) for name, value in given.items()
    }
    return {**said, **own.unused}


class _Own(NamedTuple):
    """Words as a capability takes them, and what is given beside them that only other servers use."""

    words: list[str]
    unused: dict[str, str]


def _in_own_words(words: Sequence[str], places: Sequence[str], spelling: Spelling) -> _Own:
    """Names of clients as the capability's own, and what has a place of its own put there, where it
    was given by name: `--query "read a file"`, or in parts: `--file a.py --line 3`.
    """
    in_parts = {name for names in spelling.parts.values() for name in names}
    named: dict[str, str] = {}
    rest, left = list(words), []
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.removeprefix("--").partition("=")
        name = flag.replace("-", "_") if word.startswith("--") else ""
        own = spelling.renames.get(name, name)
        has_value = bool(equals or rest)
        if has_value and (own in places or name in in_parts or name in spelling.unused):
            named[own] = value if equals else rest.pop(0)
        else:
            left.append(word if own == name else f"--{own.replace('_', '-')}{equals}{value}")
    placed = {**spelling.joined(named), **named}
    unused = {name: value for name, value in named.items() if name in spelling.unused - in_parts}
    return _Own([*(placed[name] for name in places if name in placed), *left], unused)


def _plain(value: object, *, is_text: bool) -> Any:
    """A value as clients of the service write it: one text, where several words are one question."""
    if not isinstance(value, tuple):
        return value
    if is_text:
        return " ".join(value)
    return value[0] if len(value) == 1 else list(value)


def _by_looks(words: Sequence[str], declared: Sequence[str]) -> JsonObject:
    found: JsonObject = {}
    rest, place = list(words), 0
    while rest:
        word = rest.pop(0)
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            if not equals and rest and not rest[0].startswith("--"):
                value, equals = rest.pop(0), "="
            found[name.replace("-", "_")] = _looked_at(value) if equals else True
        else:
            found[declared[place] if place < len(declared) else f"arg{place + 1}"] = _looked_at(
                word
            )
            place += 1
    return found


def _looked_at(word: str) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _DECIMAL.fullmatch(word) else word
