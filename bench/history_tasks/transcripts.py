"""The tokens of an agent by its own words: the JSON objects among the lines that it printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tersely.foundation.text.escape import visible_line

MAX_ENDING_CHARACTERS = 120  # of how an agent says that it ended


class Spent(NamedTuple):
    """Tokens and requests of one run; None where the transcript does not say."""

    prompt_tokens: int | None = None  # cached ones included
    completion_tokens: int | None = None
    turns: int | None = None

    @property
    def tokens(self) -> int | None:
        """All of them."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


def spent(output: str) -> Spent:
    """The figures of a whole run by the last object of a transcript that has them, in one of the
    forms known here.
    """
    found = Spent()
    for entry in _objects(output):
        usage = entry.get("usage")
        if entry.get("type") == "result" and isinstance(usage, dict):
            found = _ours(usage) if "prompt_tokens" in usage else _anthropic(entry, usage)
    return found


def ending(output: str) -> str:
    """The line by which an agent says that it ended; the last line that it printed where it says
    nothing.
    """
    reasons = [_reason(entry) for entry in _objects(output) if entry.get("type") == "result"]
    lines = output.strip().splitlines()
    return visible_line(next(filter(None, reversed([*lines[-1:], *reasons])), ""))[
        :MAX_ENDING_CHARACTERS
    ]


def _reason(entry: Mapping[str, Any]) -> str:
    parts = [entry.get(name) for name in ("reason", "subtype", "code", "message")]
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _objects(output: str) -> Iterator[Mapping[str, Any]]:
    for line in output.splitlines():
        if not line.lstrip().startswith(("{", "[")):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                yield entry


def _ours(usage: Mapping[str, Any]) -> Spent:
    """As `tersely -p --json` reports it."""
    return Spent(
        _number(usage, "prompt_tokens"),
        _number(usage, "completion_tokens"),
        _number(usage, "requests"),
    )


def _anthropic(entry: Mapping[str, Any], usage: Mapping[str, Any]) -> Spent:
    """As Claude Code reports it: what is cached is counted apart."""
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if _number(usage, parts[0]) is None:
        return Spent(turns=_number(entry, "num_turns"))
    prompt = sum(_number(usage, part) or 0 for part in parts)
    return Spent(prompt, _number(usage, "output_tokens"), _number(entry, "num_turns"))


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
