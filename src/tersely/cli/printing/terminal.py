"""The place where a command prints: its streams and what of the environment decides how. Needs
nothing but the standard streams.

A command that a daemon answers is printed by the client exactly as it would print by itself, so
what it prints is decided for the client's terminal.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Stream(Protocol):
        """As much of a text stream as printing takes."""

        @property
        def encoding(self) -> str:
            """The encoding by which text becomes bytes."""

        def write(self, text: str, /) -> int:
            """Print."""

        def flush(self) -> None:
            """Have everything printed by now."""

        def isatty(self) -> bool:
            """True if a person may be reading."""


# What decides how a command prints, beside the settings, which have a prefix of their own.
VARIABLES = ("NO_COLOR", "TERM")


class Terminal:
    """Two streams and an environment."""

    __slots__ = ("environment", "err", "out")

    def __init__(self, out: Stream, err: Stream, environment: Mapping[str, str]) -> None:
        self.out = out
        self.err = err
        self.environment = environment

    @classmethod
    def own(cls) -> Terminal:
        """That of this process."""
        import os
        import sys

        return cls(sys.stdout, sys.stderr, os.environ)


def write(stream: Stream, text: str) -> None:
    """Print; what the stream cannot encode is written as an escape."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
