"""The tokens that an agent has used, as it writes that down in its own transcript: a file of JSON,
a line each.

Counted are the tokens of prompts that were not read from a cache, and those of answers, with what
was thought. The forms are those of Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Qwen
Code 0.24.4.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MAX_TRANSCRIPT_LINE_BYTES = 16_000_000  # a longer line is passed over
MAX_SIDE_TRANSCRIPTS = 256  # of sub-agents, of one session
_SIDE_TRANSCRIPTS = "subagents/*.jsonl"  # in the folder that is called as the session


class Noted(NamedTuple):
    """The tokens of one answer, or of all so far where every line has the same `answer`: what is
    noted again replaces what was noted before.
    """

    answer: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Form:
    """The form in which an agent writes tokens down: what stands in every such line, and what a
    line says.
    """

    mark: bytes
    read: Callable[[Mapping[str, Any]], Noted | None]


def _claude(line: Mapping[str, Any]) -> Noted | None:
    message = _object(line, "message")
    usage = _object(message, "usage")
    names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    return _noted(message.get("id"), sum(_number(usage, name) for name in names))


def _codex(line: Mapping[str, Any]) -> Noted | None:
    total = _object(_object(_object(line, "payload"), "info"), "total_token_usage")
    fresh = _number(total, "input_tokens") - _number(total, "cached_input_tokens")
    return _noted("all", fresh + _number(total, "output_tokens"))


def _gemini(line: Mapping[str, Any]) -> Noted | None:
    tokens = _object(line, "tokens")
    return _noted(line.get("id"), _number(tokens, "total") - _number(tokens, "cached"))


def _qwen(line: Mapping[str, Any]) -> Noted | None:
    usage = _object(line, "usageMetadata")
    cached = _number(usage, "cachedContentTokenCount")
    return _noted(line.get("uuid"), _number(usage, "totalTokenCount") - cached)


FORMS: Mapping[str, Form] = {
    "claude": Form(b'"usage"', _claude),
    "codex": Form(b'"token_count"', _codex),
    "gemini": Form(b'"tokens"', _gemini),
    "qwen": Form(b'"usageMetadata"', _qwen),
}


class Transcripts:
    """The transcripts of one run of an agent. What stood there before it began does not count."""

    def __init__(self, agent: str) -> None:
        self._form = FORMS.get(agent)
        self._main: dict[Path, _File] = {}
        self._side: dict[Path, _File] = {}

    def begin(self, path: str) -> None:
        """Count what is written from now on into the transcript at a path, and into those of its
        sub-agents.
        """
        main = Path(path)
        if self._form is None or not path or main in self._main:
            return
        self._main[main] = self._opened(main, is_new=False)
        for side in self._side_of(main):
            self._side[side] = self._opened(side, is_new=False)

    def tokens(self) -> int:
        """The number of tokens used so far. Reads what was written since the last time."""
        for main in list(self._main):
            for side in self._side_of(main):
                if side not in self._side:
                    self._side[side] = self._opened(side, is_new=True)
        files = (*self._main.values(), *self._side.values())
        for file in files:
            file.read_on()
        return sum(file.tokens for file in files)

    def _opened(self, path: Path, *, is_new: bool) -> _File:
        assert self._form is not None
        file = _File(path, self._form)
        if not is_new:
            file.read_on()
            file.before = file.noted
        return file

    def _side_of(self, main: Path) -> list[Path]:
        folder = main.with_suffix("")
        return sorted(folder.glob(_SIDE_TRANSCRIPTS))[:MAX_SIDE_TRANSCRIPTS]


class _File:
    """One file, as far as it has been read."""

    def __init__(self, path: Path, form: Form) -> None:
        self._path = path
        self._form = form
        self._offset = 0
        self._is_within_long = False  # a line that is passed over
        self._last = Noted("", 0)
        self._settled = 0  # tokens of all answers but the last
        self.before = 0

    @property
    def noted(self) -> int:
        """The tokens of everything that has been read."""
        return self._settled + self._last.tokens

    @property
    def tokens(self) -> int:
        """Of these, those that were not there before."""
        return max(0, self.noted - self.before)

    def read_on(self) -> None:
        """Read the lines that are complete by now; a file that cannot be read has none."""
        try:
            with _regular(self._path) as file:
                file.seek(self._offset)
                while line := file.readline(MAX_TRANSCRIPT_LINE_BYTES):
                    if not line.endswith(b"\n") and len(line) < MAX_TRANSCRIPT_LINE_BYTES:
                        return
                    self._offset += len(line)
                    self._take(line)
        except OSError:
            return

    def _take(self, line: bytes) -> None:
        is_whole = line.endswith(b"\n") and not self._is_within_long
        self._is_within_long = not line.endswith(b"\n")
        noted = self._read(line) if is_whole and self._form.mark in line else None
        if noted is None:
            return
        if noted.answer != self._last.answer:
            self._settled += self._last.tokens
        self._last = noted

    def _read(self, line: bytes) -> Noted | None:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return self._form.read(told) if isinstance(told, dict) else None


def _regular(path: Path) -> BinaryIO:
    """A file for reading; raises `OSError` for what is none, such as a pipe that nobody writes to."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no file")
    return os.fdopen(descriptor, "rb")


def _noted(answer: object, tokens: int) -> Noted | None:
    return Noted(answer, tokens) if isinstance(answer, str) and tokens > 0 else None


def _object(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def _number(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    return max(0, value) if isinstance(value, int) else 0
