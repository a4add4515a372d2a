"""The declaration of a tool: one line that a model reads, parameters that are checked, its effect
on the world, and the doing.

A tool is offered to the model by its `signature` alone; the constraint on the model's output and
the check of what came back are both made of the `parameters`. The list of all tools is
`table.TOOLS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.declaration.declaration import Effect, Parameter, Tier
from tersely.capabilities.declaration.toolset import signature
from tersely.foundation.types import JsonMapping, frozen

if TYPE_CHECKING:
    from tersely.agent.tools.toolbox import Toolbox

INSIST = "force"  # said after `/undo`, it takes back what it would leave
ANSWER, REQUEST_TOOLS = "respond", "request_tools"  # the tools that the loop itself acts upon


class ApprovalSubject(StrEnum):
    """The subject that the pattern of an approval is matched against."""

    NAME = "name"
    PATH = "path"
    COMMAND = "command"
    HOST = "host"


class MadeChange(NamedTuple):
    """The change of a call to one file: a unified diff, bounded, and the checkpoint that undoes it."""

    path: str
    diff: str
    added_lines: int
    removed_lines: int
    checkpoint: int


class Observation(NamedTuple):
    """The observation that the model is told of a call, bounded already.

    `status` is ok, refused or failed; `ref` leads to the whole where `text` leaves something out.
    `picture` is a PNG file in Base64 for a model that sees.
    """

    text: str
    status: str = "ok"
    change: MadeChange | None = None
    ref: str = ""
    picture: str = ""


Run = Callable[["Toolbox", JsonMapping], Awaitable[Observation]]
Preview = Callable[["Toolbox", JsonMapping], str]


def no_preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """Of a tool that nobody is asked about."""
    return ""


def no_refusal(toolbox: Toolbox, arguments: JsonMapping) -> Observation | None:
    """Of a tool of which nobody knows before it is run whether it can be."""
    return None


def no_doubt(toolbox: Toolbox, arguments: JsonMapping) -> bool:
    """Of a tool whose calls are allowed or not, whatever they say."""
    return False


@frozen
class AgentTool:
    """One tool. `run` never raises `TerselyError`: what went wrong is an observation too.

    `effect` is the most that a call may do; `effect_of` says what a call with these arguments does.
    `refusal` is what the model is told of a call that cannot be made as things are, so that nobody
    is asked about it. Who `is_doubtful` is asked about, also where calls of the tool are allowed.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    effect: Effect
    run: Run
    preview: Preview = no_preview
    narrowed: Callable[[JsonMapping], Effect] | None = None
    subject: str = ""  # the parameter that says what a call is about
    # where more than a parameter says it
    subject_of: Callable[[Toolbox, JsonMapping], str] | None = None
    about: ApprovalSubject = ApprovalSubject.NAME
    refusal: Callable[[Toolbox, JsonMapping], Observation | None] = no_refusal
    is_doubtful: Callable[[Toolbox, JsonMapping], bool] = no_doubt
    form: str = ""  # how it is called, where its parameters do not say it
    other_name: str = ""  # by which models know it, too
    is_in_editor: bool = False  # there is none without an editor
    is_in_browser: bool = False  # there is none without a browser
    is_confined: bool = True  # else it is asked about where commands otherwise are not

    @property
    def tier(self) -> Tier:
        """The tier that it is unlocked with."""
        return self.effect.tier

    @property
    def signature(self) -> str:
        """The line by which a model knows it."""
        return f"{self.form or signature(self.name, self.parameters)} {self.summary}"

    def effect_of(self, arguments: JsonMapping) -> Effect:
        """The effect of a call with these arguments on the world."""
        return self.narrowed(arguments) if self.narrowed else self.effect


def by_names(tools: Sequence[AgentTool]) -> dict[str, AgentTool]:
    """Tools by every name that they are called by."""
    found = {tool.other_name: tool for tool in tools if tool.other_name}
    return {**found, **{tool.name: tool for tool in tools}}
