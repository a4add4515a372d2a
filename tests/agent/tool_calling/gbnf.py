"""Texts that a GBNF grammar allows, drawn at random: a second reader of what the product writes for
llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Draw = Callable[[int, int], int]  # a number between two, both included
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{\d+,\d+\}|[()|?]|[a-z][a-z0-9-]*)')
_POINT = re.compile(r"\\x([0-9A-F]{2})|\\u([0-9A-F]{4})|\\U([0-9A-F]{8})|(.)", re.DOTALL)
MOST_DRAWN = 6  # repetitions, of what may be repeated more often


class Grammar:
    """A grammar of the few constructions that ours have; anything else is an error."""

    def __init__(self, text: str) -> None:
        self._rules = {}
        for line in text.strip().split("\n"):
            name, _, body = line.partition(" ::= ")
            assert name not in self._rules, name
            self._rules[name] = self._tokens(body)

    def _tokens(self, body: str) -> list[str]:
        found, at = [], 0
        while body[at:].strip():
            match = _TOKEN.match(body, at)
            assert match, body[at : at + 40]
            found.append(match.group(1))
            at = match.end()
        return found

    def drawn(self, draw: Draw, rule: str = "root") -> str:
        """A text of this rule."""
        text, end = self._choice(self._rules[rule], 0, draw)
        assert end == len(self._rules[rule])
        return text

    def _choice(self, tokens: list[str], at: int, draw: Draw) -> tuple[str, int]:
        starts, end = [at], self._skip(tokens, at)
        while end < len(tokens) and tokens[end] == "|":
            starts.append(end + 1)
            end = self._skip(tokens, end + 1)
        return self._sequence(tokens, starts[draw(0, len(starts) - 1)], draw), end

    def _skip(self, tokens: list[str], at: int) -> int:
        """Where the sequence that begins here ends."""
        depth = 0
        while at < len(tokens) and (depth or tokens[at] not in {"|", ")"}):
            depth += {"(": 1, ")": -1}.get(tokens[at], 0)
            at += 1
        return at

    def _closed(self, tokens: list[str], at: int) -> int:
        """What comes after the group that opens here."""
        depth = 1
        while depth:
            at += 1
            depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        return at + 1

    def _sequence(self, tokens: list[str], at: int, draw: Draw) -> str:
        text, end = "", self._skip(tokens, at)
        while at < end:
            after = self._closed(tokens, at) if tokens[at] == "(" else at + 1
            least, most = 1, 1
            if after < end and tokens[after] == "?":
                least, most = 0, 1
            elif after < end and tokens[after].startswith("{"):
                least, most = map(int, tokens[after][1:-1].split(","))
            for _ in range(draw(least, min(most, least + MOST_DRAWN))):
                text += self._one(tokens, at, draw)
            at = after + (after < end and tokens[after][0] in "?{")
        return text

    def _one(self, tokens: list[str], at: int, draw: Draw) -> str:
        token = tokens[at]
        if token == "(":
            return self._choice(tokens, at + 1, draw)[0]
        if token[0] == '"':
            return re.sub(
                r"\\(.)", lambda match: {"n": "\n"}.get(match.group(1), match.group(1)), token[1:-1]
            )
        return self._character(token, draw) if token[0] == "[" else self.drawn(draw, token)

    def _character(self, token: str, draw: Draw) -> str:
        points = re.findall(
            r"((?:\\.[0-9A-F]+|[^-\\]))(?:-((?:\\.[0-9A-F]+|[^-\\])))?", token[1:-1]
        )
        ranges = [(self._point(low), self._point(high or low)) for low, high in points]
        low, high = ranges[draw(0, len(ranges) - 1)]
        return chr(draw(low, high))

    def _point(self, text: str) -> int:
        match = _POINT.fullmatch(text)
        assert match, text
        code = next((group for group in match.groups()[:3] if group), None)
        return int(code, 16) if code else ord(match.group(4))
