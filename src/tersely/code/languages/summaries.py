"""What is known of languages and their libraries, as tables: `summaries/*.json`.

The section `resolution` has the fields of a `Resolution` that are plain data. All others have the
effects of functions outside the repository on their arguments: they have groups, and a group gives
the functions of some names their `Summary`. Names stand in one text, and of `{a b}` in a name each
word is one; `$word` stands for its value in `words`. `this` and `handler` are positions, see
`Summary` and `Topic`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from tersely.code.languages.model import (
    HANDLER,
    RECEIVER,
    Registry,
    Resolution,
    Summary,
    TemplateByModel,
    Topic,
    names,
)
from tersely.code.languages.tables import facts_of, table_of
from tersely.foundation.types import JsonMapping, JsonObject

_NAME = re.compile(r"(?:\{[^}]*\}|[^\s{}])+")
_CHOICE = re.compile(r"\{([^}]*)\}")
_POSITIONS = {"this": RECEIVER, "handler": HANDLER}


def _topic(fields: Any) -> Topic:
    return Topic(**{name: _MADE.get(name, _plain)(value) for name, value in fields.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return _POSITIONS.get(value, value)


_MADE: dict[str, Callable[[Any], Any]] = {
    "methods": names,
    "calls_named": names,
    "fills": re.compile,
    "links": _topic,
    "reaches": _topic,
    "registers": lambda topics: tuple(map(_topic, topics)),
    "registry": lambda fields: Registry(**fields),
    "otherwise": lambda fields: TemplateByModel(**fields),
}


def resolution_facts(language: str) -> JsonObject:
    """The fields of a language's `Resolution` that its table has."""
    return facts_of(Resolution, _table(language)["resolution"])


def _table(language: str) -> JsonMapping:
    return table_of(f"summaries/{language}.json")


def summaries(language: str, section: str) -> dict[str, Summary]:
    """The summaries in a section of a language's table, by the names of functions."""
    table, found = _table(language), {}
    for group in table[section].values():
        for pattern, fields in group.items():
            made = {name: _MADE.get(name, _plain)(value) for name, value in fields.items()}
            found.update(dict.fromkeys(_expand_names(pattern, table["words"]), Summary(**made)))
    return found


def _expand_names(pattern: str, words: dict[str, str]) -> Iterator[str]:
    """The names of a pattern, with all choices and words expanded."""
    for word, meant in words.items():
        pattern = pattern.replace(f"${word}", meant)
    for name in _NAME.findall(pattern):
        parts = _CHOICE.split(name)
        choices = [part.split() if at % 2 else [part] for at, part in enumerate(parts)]
        yield from map("".join, product(*choices))
