"""The pattern language of `.gitignore`, as git itself reads it.

The library `pathspec` answers about files only: asked whether a directory is ignored, it takes
`a/**` for `a/`, and so opens directories that git keeps closed. A test compares what this module
says with git.
"""

from __future__ import annotations

import codecs
import re
from itertools import groupby

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip
_NEVER = "(?!)"


class Patterns:
    """The patterns of one ignore file."""

    def __init__(self, text: bytes) -> None:
        """Lines that are no valid patterns match nothing, as in git."""
        lines = text.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").split("\n")
        rules = [rule for line in lines if (rule := _rule(line.removesuffix("\r"))) is not None]
        # One expression for each run of lines of one kind, the last first: the last line that
        # matches counts.
        runs = [
            (ignores, [regex for _, regex in run])
            for ignores, run in groupby(rules, key=lambda rule: rule[0])
        ]
        self._runs: list[tuple[bool, re.Pattern[str]]] = [
            (ignores, re.compile("|".join(run), re.DOTALL)) for ignores, run in reversed(runs)
        ]

    def verdict(self, path: str) -> bool | None:
        """True if a path is ignored, None if no line is about it. Directories end in a slash.

        Paths are relative to the directory of the file. Their parents must not be ignored
        themselves.
        """
        for ignores, regex in self._runs:
            if regex.fullmatch(path):
                return ignores
        return None


def _rule(line: str) -> tuple[bool, str] | None:
    """(whether it ignores, expression for whole paths) of one line, None for one without a pattern."""
    line = _without_trailing_spaces(line)
    ignores = not line.startswith("!")
    pattern = line if ignores else line[1:]
    directories_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or line.startswith("#"):
        return None
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    # The slash at the end of a directory's path belongs to no wildcard.
    return ignores, anywhere + _translate(pattern.removeprefix("/")) + "(?<!/)" + (
        "/" if directories_only else "/?"
    )


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped


_STAR, _DEEP, _REST = "*", "**/", "**"  # what is no expression for one character, nor the slash


def _translate(pattern: str) -> str:
    """An expression that takes time linear in the path for each part, whatever is repeated in the
    pattern.

    All but the wildcards stands for one character, and a star never crosses a slash. So the first
    place where the part between two wildcards fits is as good as any later one, and is not given up
    again.
    """
    first, *others = _split(_tokens(pattern), _DEEP)
    groups = [_group(first)]
    for place, other in enumerate(others, 1):
        group = _group(other)
        groups.append(f"(?>(?:[^/]*/)*?{group})" if place < len(others) else f"(?:.*/)?{group}")
    return "".join(groups)


def _group(tokens: list[str]) -> str:
    """The expression of a pattern without `**/`."""
    return "/".join(map(_component, _split(tokens, "/")))


def _component(tokens: list[str]) -> str:
    """The expression of a pattern without slashes."""
    if tokens == [_REST]:
        return ".+"
    first, *others = ["".join(part) for part in _split(tokens, _STAR)]
    if not others:
        return first
    return (
        first + "".join(f"(?>[^/]*?{part})" for part in others[:-1] if part) + f"[^/]*{others[-1]}"
    )


def _split(tokens: list[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _tokens(pattern: str) -> list[str]:
    """An expression for each character, and the wildcards."""
    tokens = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            part, at = _stars(pattern, at)
        elif character == "?":
            part, at = "[^/]", at + 1
        elif character == "[":
            part, at = _bracket(pattern, at + 1)
        elif character == "\\":
            part, at = re.escape(pattern[at + 1]) if at + 1 < len(pattern) else _NEVER, at + 2
        else:
            part, at = re.escape(character), at + 1
        tokens.append(part)
    return tokens


def _stars(pattern: str, at: int) -> tuple[str, int]:
    """Several stars between slashes or ends stand for any number of directories; all other runs for
    one star.
    """
    end = at
    while pattern[end : end + 1] == "*":
        end += 1
    opens = at == 0 or pattern[at - 1] == "/"
    if end - at < 2 or not opens or pattern[end : end + 1] not in {"", "/"}:
        return _STAR, end
    return (_REST, end) if end == len(pattern) else (_DEEP, end + 1)


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """A set of characters from behind its `[`; one that is not closed matches nothing."""
    negated = pattern[at : at + 1] in {"!", "^"}
    at = first = at + negated
    members = []
    while at == first or pattern[at : at + 1] != "]":
        if at >= len(pattern):
            return _NEVER, len(pattern)
        named = re.compile(r"\[:(\w*):\]").match(pattern, at)
        if named:
            if named[1] not in _POSIX_CLASSES:
                return _NEVER, len(pattern)
            members.append(_POSIX_CLASSES[named[1]])
            at = named.end()
            continue
        low, at = _member(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in {"", "]"}:
            high, at = _member(pattern, at + 1)
        if low <= high:
            members.append(f"{re.escape(low)}-{re.escape(high)}")
    if negated:
        return f"[^/{''.join(members)}]", at + 1
    return f"(?!/)[{''.join(members)}]" if members else _NEVER, at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    """One character of a set, and where the next begins."""
    if pattern[at] == "\\" and at + 1 < len(pattern):
        return pattern[at + 1], at + 2
    return pattern[at], at + 1
