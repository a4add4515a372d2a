"""What a command of the relay is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.capabilities.text import Style
from tersely.cli.options import Options

if TYPE_CHECKING:
    from tersely.client import Client


class Asked(NamedTuple):
    """How a command was asked for."""

    program: str
    options: Options
    style: Style
    connect: Callable[[], Client]  # raises `daemon_not_running`


@dataclass(frozen=True, slots=True)
class RelayCommand:
    """Its words, its parameters, and what it does: the result, whose `text` is what is printed.

    A result may say with which `exit_status` the command ends.
    """

    words: tuple[str, ...]
    summary: str
    parameters: type
    run: Callable[[Asked, Any], dict[str, Any]]
    payload: str = ""  # the option that `--json` with a JSON value behind it means, as the first relay had it
    is_open: bool = False  # all that follows its words is its positional words, also what looks like an option

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Nothing:
    """The parameters of commands that have none."""
