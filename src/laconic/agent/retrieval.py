"""What is put in front of a message unasked: code that it is about, and what the project asks of agents.

Whether anything is, is decided by rule, and the rule is told: symbols that are named are shown with what is around
them; a task in words gets a pack if the repository has likely owners for it; anything else, nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from laconic.agent.events import Item
from laconic.agent.window import Counter
from laconic.code.languages.registry import language_of_path
from laconic.foundation.errors import LaconicError
from laconic.foundation.escape import visible
from laconic.foundation.limits import MAX_AGENTS_BYTES, MAX_NAMED_SYMBOLS

AGENTS_FILE = "AGENTS.md"
_LEAST_WORDS = 3  # of a task that a pack is looked for
_NAMED = re.compile(
    r"@([\w./:#-]+)|`([\w./:]+)(?:\(\))?`|\b([A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+(?=\(\)))"
)
_TEXT_FILE = re.compile(r"\.(?:cfg|css|html|ini|json|lock|md|rst|sh|toml|txt|ya?ml)$")
_PACK_FILE = re.compile(r"^(?:===|#+|---)\s+(\S+)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMENT = re.compile(r"<!--.*?-->|^\s*\[?!\[.*$", re.DOTALL | re.MULTILINE)


class Asked(Protocol):
    """Who answers questions about the repository, as `tools.toolbox.Toolbox` does."""

    async def ask(self, capability: str, arguments: Mapping[str, Any]) -> str:
        """The answer in words."""

    async def value(self, capability: str, arguments: Mapping[str, Any]) -> Any:
        """The answer as a plain value."""


class Found(NamedTuple):
    """A text for the prompt, what is in it, and why."""

    text: str
    items: tuple[Item, ...]
    tokens: int
    why: str


async def retrieve(asked: Asked, message: str, most_tokens: int, counter: Counter) -> Found | None:
    """What a message is about, within a budget; None where the rule says so or nothing is found."""
    names = named(message)
    if names:
        shown = await _around(asked, names, most_tokens)
        if shown is not None:
            text, known = shown
            return _found(text, f"the message names {', '.join(known)}", counter)
    if len(_WORD.findall(message)) < _LEAST_WORDS:
        return None
    try:
        packet = await asked.value("code.packet", {"task": message})
        if not packet["speaks"]:
            return None
        text = await asked.ask("code.plan", {"task": [message], "budget": most_tokens})
    except LaconicError:
        return None
    return _found(text, f"the task has likely owners (confidence {packet['confidence']:.2f})", counter)


def named(message: str) -> list[str]:
    """The names of code in a message: marked with @ or backquotes, or written as only code is. No files."""
    found = ["".join(groups) for groups in _NAMED.findall(message)]
    return list(dict.fromkeys(name for name in found if not _is_file(name)))[:MAX_NAMED_SYMBOLS]


def _is_file(name: str) -> bool:
    return language_of_path(name) is not None or bool(_TEXT_FILE.search(name))


async def _around(asked: Asked, names: list[str], most_tokens: int) -> tuple[str, list[str]] | None:
    """A pack around the names that mean one symbol each, None where none does."""
    known = []
    for name in names:
        try:
            await asked.value("code.symbol.get", {"symbol": name, "limit": 1})
        except LaconicError:
            continue
        known.append(name)
    if not known:
        return None
    try:
        return await asked.ask("code.context", {"symbols": known, "budget": most_tokens}), known
    except LaconicError:
        return None


def _found(text: str, why: str, counter: Counter) -> Found:
    text = text.rstrip("\n")
    parts = _PACK_FILE.split(text)
    sized: dict[str, int] = {}
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        sized[name] = sized.get(name, 0) + counter.count(part)
    tokens = counter.count(text)
    items = tuple(Item(name, size) for name, size in sized.items()) or (Item("outline", tokens),)
    return Found(f"Possibly relevant code:\n{text}", items, tokens, why)


def digest(content: bytes, most_tokens: int, counter: Counter) -> str:
    """What a project asks of agents, in short: headings, lists and commands before prose; "" where it asks nothing."""
    text = _COMMENT.sub("", content[:MAX_AGENTS_BYTES].decode("utf-8", "replace"))
    lines = [visible(line.rstrip()) for line in text.splitlines() if line.strip()]
    chosen: set[int] = set()
    spent = counter.count(f"{AGENTS_FILE} asks:\n")
    for wanted in (True, False):
        for at, line in enumerate(lines):
            cost = counter.count(f"{line}\n")
            if _is_terse(line) is wanted and spent + cost <= most_tokens:
                chosen.add(at)
                spent += cost
    return "\n".join([f"{AGENTS_FILE} asks:", *(lines[at] for at in sorted(chosen))]) if chosen else ""


def _is_terse(line: str) -> bool:
    return line.lstrip().startswith(("#", "-", "*", "`", "$")) or line.startswith("    ") or line.lstrip()[:1].isdigit()
