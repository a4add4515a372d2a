"""The options that every command takes, declared like any other parameters."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from tersely.capabilities.declaration.binding import bind, read_words
from tersely.capabilities.declaration.declaration import Parameter, Role, option, parameters_of
from tersely.foundation.types import frozen


class Color(StrEnum):
    """The rule for colour: on a terminal (and never with NO_COLOR), always, never."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Keep(StrEnum):
    """The place for an answer that is not printed."""

    CASSETTE = "cassette"


@frozen
class Options:
    """The options of asking and printing."""

    json: bool = option(
        False, "print one JSON object: {ok, revision, result} or {ok, revision, error}"
    )
    quiet: bool = option(False, "print nothing but the answer and errors")
    root: str = option(
        "",
        "the repository (default: the nearest enclosing one, else the current directory)",
        role=Role.DIRECTORY,
    )
    refresh: bool = option(True, "check first whether files have changed")
    color: Color = option(Color.AUTO, "when to colour", metavar="WHEN")
    output: Keep | None = option(
        None, "keep the answer in the relay and print its reference, cass:// and a hash"
    )


OPTIONS = parameters_of(Options)

MAX_DRAWN_NODES = 60
DRAWN = frozenset({"code.calls", "code.impact", "code.map"})  # the capabilities that have drawings
DRAWING = "format"


class DrawingForm(StrEnum):
    """The forms of a drawing: for Mermaid, for Graphviz, and a page for a browser."""

    MERMAID = "mermaid"
    DOT = "dot"
    HTML = "html"


@frozen
class Drawing:
    """How an answer is drawn; None: it is not."""

    format: DrawingForm | None = option(
        None, f"draw the answer, at most {MAX_DRAWN_NODES} nodes; html is a page for a browser"
    )


DRAWING_OPTIONS = parameters_of(Drawing)


def read_with_options(
    declared: Sequence[Parameter], words: Sequence[str]
) -> tuple[Options, dict[str, object]]:
    """The options of every command among some words, and what else a command is given; raises
    `usage`.

    What a command declares itself goes before what every command takes.
    """
    names = {parameter.name for parameter in declared}
    shared = [parameter for parameter in OPTIONS if parameter.name not in names]
    read = read_words((*shared, *declared), words)
    options = {
        parameter.name: read.pop(parameter.name) for parameter in shared if parameter.name in read
    }
    return bind(Options, options), read
