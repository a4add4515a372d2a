"""The rules by which somebody is asked before a tool runs: a policy for each tier, and what was
allowed since, once or for a pattern.

A pattern is matched against what a call is about, word by word for commands, part by part for
paths, by name for hosts. It never matches a command line that does more than one thing: what is
joined, redirected, substituted or expanded is for the shell, which nobody has asked about.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from tersely.agent.tools.declaration import AgentTool, ApprovalSubject
from tersely.capabilities.declaration.declaration import Effect
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping

MAX_PATTERNS = 200  # that were allowed in one session
ANY = "*"
_FOR_THE_SHELL = re.compile(r"[;&|<>`$(){}\[\]*?!#~\\\n\r\0^]")
# Programs whose other words name no program to run: a suggestion may cover any of those words.
_PLAIN_PROGRAMS = frozenset(
    "basename cat cmp cut date df diff dirname du echo file grep head ls mkdir mypy nl pwd pyright pytest realpath "
    "ruff stat tail touch tr tree tsc uniq wc which".split()
)
# Those that do something else with each subcommand, which comes first.
_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "cargo": frozenset("build check clippy doc fmt metadata test tree".split()),
    "git": frozenset(
        "add branch checkout commit diff log merge mv restore rm show stash status switch tag".split()
    ),
    "go": frozenset("build doc fmt list test vet version".split()),
    "npm": frozenset("ls outdated test".split()),
    "pip": frozenset("check freeze list show".split()),
}


class Verdict(StrEnum):
    """The verdict on a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


POLICY: Mapping[int, Verdict] = {0: Verdict.ALLOW, 1: Verdict.ASK, 2: Verdict.ASK, 3: Verdict.ASK}


class Mode(StrEnum):
    """The freedom with which the agent works, on top of what the user has chosen for each tier."""

    ASK = "ask"  # as it was chosen
    PLAN = "plan"  # it only looks
    AUTO = "auto"  # edits and commands need no approval; what leaves the machine does


_AUTO_TIERS = frozenset({1, 2})


class ToolApprovals:
    """The policy, and what was allowed in this session."""

    def __init__(self, policy: Mapping[int, Verdict] = POLICY, mode: Mode = Mode.ASK) -> None:
        self._chosen = {**POLICY, **policy}
        self.policy = self._chosen
        self.use_mode(mode)
        self._tools: set[str] = set()
        self._patterns: dict[tuple[str, str], None] = {}

    def use_mode(self, mode: Mode) -> None:
        """Have the policy of a mode; what the user denies stays denied in all of them."""
        self.mode = mode
        self.policy = {
            tier: _in_mode(mode, tier, verdict) for tier, verdict in self._chosen.items()
        }

    def verdict(self, tool: AgentTool, arguments: JsonMapping, subject: str) -> Verdict:
        """The verdict on a call about `subject`, which is a path as it was resolved, or the
        argument itself.

        What only reads needs no approval, unless its tier is denied as a whole.
        """
        is_free = self.mode is Mode.AUTO and not tool.is_confined  # nothing would hold it back
        rule = (self._chosen if is_free else self.policy)[tool.tier]
        if rule is not Verdict.ASK or tool.effect_of(arguments) is Effect.READ:
            return Verdict.DENY if rule is Verdict.DENY else Verdict.ALLOW
        patterns = (pattern for name, pattern in self._patterns if name == tool.name)
        is_allowed = tool.name in self._tools or any(
            matches(tool.about, pattern, subject) for pattern in patterns
        )
        return Verdict.ALLOW if is_allowed else Verdict.ASK

    def allow_tool(self, tool: AgentTool) -> None:
        """Ask no more about this tool in this session."""
        self._tools.add(tool.name)

    def allow_pattern(self, tool: AgentTool, pattern: str) -> None:
        """Ask no more about what fits; raises `invalid_argument` for a pattern that nothing fits or
        too many.
        """
        if not pattern.strip() or len(self._patterns) >= MAX_PATTERNS:
            raise TerselyError(
                "invalid_argument", f"the pattern {pattern!r} cannot be kept", f"as {ANY}"
            )
        self._patterns[tool.name, pattern.strip()] = None


def _in_mode(mode: Mode, tier: int, chosen: Verdict) -> Verdict:
    """The verdict on the calls of a tier in a mode."""
    if mode is Mode.PLAN and tier > 0:
        return Verdict.DENY
    if mode is Mode.AUTO and tier in _AUTO_TIERS and chosen is Verdict.ASK:
        return Verdict.ALLOW
    return chosen


def matches(about: ApprovalSubject, pattern: str, subject: str) -> bool:
    """True if a pattern covers what a call is about."""
    if about is ApprovalSubject.COMMAND:
        parts, words = _pattern_words(pattern), simple_words(subject)
        return bool(parts and words) and _fit(parts, words or ())
    if about is ApprovalSubject.PATH:
        return _fit(pattern.replace("**", ANY).split("/"), subject.split("/"))
    if about is ApprovalSubject.HOST:
        return host_of(subject) == pattern.lower()
    return subject == pattern


def suggested(about: ApprovalSubject, subject: str) -> str:
    """A pattern that covers a call and what is much like it, for the user to allow or change; "" if
    there is none.
    """
    if about is ApprovalSubject.COMMAND:
        words = simple_words(subject)
        return _suggested_command(words) if words else ""
    if about is ApprovalSubject.PATH:
        folder = subject.rpartition("/")[0]
        return f"{folder}/{ANY}" if folder else subject
    return host_of(subject) if about is ApprovalSubject.HOST else subject


def _suggested_command(words: Sequence[str]) -> str:
    """The program, and its subcommand, with any words after them; the whole line where that might
    run anything else.
    """
    program, first = words[0], words[1] if len(words) > 1 else ""
    if program in _PLAIN_PROGRAMS:
        return f"{program} {ANY}"
    if first in _SUBCOMMANDS.get(program, ()):
        return f"{program} {first} {ANY}"
    return shlex.join(words) if _fit(words, words) else ""  # what leads upwards fits nothing


def simple_words(command: str) -> list[str] | None:
    """The words of a command line that runs one program and leaves nothing to the shell, else None."""
    if _FOR_THE_SHELL.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return words if words and "=" not in words[0] else None


def _pattern_words(pattern: str) -> list[str]:
    """The words that are compared one by one; none where quotes do not close."""
    try:
        return shlex.split(pattern)
    except ValueError:
        return []


def host_of(url: str) -> str:
    """The host of a URL, "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _fit(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Each part fits its word; an asterisk at the end fits any number of words, as any path below a
    folder.
    """
    if pattern[-1] == ANY:
        pattern = pattern[:-1]
        words = words[: len(pattern)] if len(words) >= len(pattern) else [*words, ""]
    return len(pattern) == len(words) and all(map(_fits, pattern, words))


def _fits(part: str, word: str) -> bool:
    return ".." not in word.split("/") and fnmatchcase(word, part)
