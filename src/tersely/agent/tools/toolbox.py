"""The toolbox that tools work with: one repository, what is kept of a session, who may be asked,
and what is known of the code.

    with Toolbox.open(root, folder, session, answer_words) as toolbox:
        observation = await tool.run(toolbox, {"path": "src/app.py"})

It knows no screen and no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tersely.agent.tools.approvals import Mode, ToolApprovals, Verdict
from tersely.agent.tools.checkpoint_store import CheckpointStore
from tersely.agent.tools.declaration import AgentTool, ApprovalSubject, Observation
from tersely.agent.tools.editors.editor import EditorBridge
from tersely.agent.tools.files.opened import OpenFiles, RepositoryFiles
from tersely.agent.tools.files.places import resolved
from tersely.agent.tools.files.read_tracker import ReadTracker
from tersely.agent.tools.files.replacing import clear_drafts
from tersely.agent.tools.observation import bounded
from tersely.agent.tools.others.tool_server import ToolServer
from tersely.agent.tools.running import undoable
from tersely.agent.tools.running.command import (
    NOTHING_SHARED,
    Confinement,
    Heard,
    SharedWithCommands,
    confinement,
)
from tersely.agent.tools.running.terminal import TellTerminal, Terminals, untold
from tersely.agent.tools.web.browser import Browser
from tersely.daemon.asking import Asking
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SHOWN_FILES, OBSERVATION_TOKENS
from tersely.foundation.settings import load
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import Closing, JsonMapping, Strings, field, frozen

if TYPE_CHECKING:
    from tersely.agent.tool_servers import ToolServers

ResultT = TypeVar("ResultT")


# A capability of the relay, what it is given and the most tokens: its words.
AskRelay = Callable[[str, JsonMapping, int], Awaitable[str]]


async def no_relay(capability: str, arguments: JsonMapping, budget: int) -> str:
    """Of a session that nobody has given a relay."""
    raise TerselyError(
        "daemon_not_running", "this session has no relay", "go on without other agents"
    )


def no_editor() -> EditorBridge | None:
    """Of a session that nobody has told where editors are."""
    return None


@frozen
class Choices:
    """The choices of the user about tools. No repository is asked for any of it."""

    policy: Mapping[int, Verdict] = field(default_factory=dict)
    observation_tokens: int = OBSERVATION_TOKENS
    confines: bool = True  # commands, where the system can
    network: bool = False  # for commands
    shared: SharedWithCommands = (
        NOTHING_SHARED  # with commands: places outside of the repository, variables
    )
    # hosts of the user's own network, or ports of one, that pages may come from
    private_hosts: Strings = ()
    browser: Strings = ()  # the command of the server that has one
    servers: Mapping[str, ToolServer] = field(default_factory=dict)
    mode: Mode = Mode.ASK
    opened: OpenFiles | None = None  # as the editor has them, where one shows the agent
    terminals: Terminals | None = None  # of that editor
    relay: AskRelay = no_relay  # as the agent that this session is
    editor: Callable[[], EditorBridge | None] = no_editor  # that the user is in


class Toolbox(Closing):
    """All that the tools of one session share. For one call at a time; close it."""

    def __init__(self, root: Path, kept: CheckpointStore, asking: Asking, choices: Choices) -> None:
        self.root = root
        self.kept = kept
        self.asking = asking
        self.choices = choices
        self.approvals = ToolApprovals(choices.policy, choices.mode)
        self.files = RepositoryFiles(root, choices.opened)
        self.shown = ReadTracker()
        self.refused = set[str]()  # files of which a change was refused since the last one
        self.named: Sequence[str] = ()  # paths in the user's message
        self._doubted: dict[bytes, None] = {}
        settings = load(root)
        self.tokenizer = Tokenizer(settings.vocabulary)
        self._lock = Lock()
        self.known_confinement: Confinement | None = None
        self.tool_servers: ToolServers | None = None  # that are talked to
        self.browser = Browser(choices.browser, choices.private_hosts)
        self.heard: Heard = lambda chunk: None  # told what the running command prints
        self.tell_terminal: TellTerminal = untold  # told which terminal shows it

    @classmethod
    def open(
        cls,
        root: Path,
        folder: Path,
        session: str,
        answer_words: str,
        choices: Choices | None = None,
    ) -> Self:
        """The toolbox of a session; what is kept lies in `folder`, which several sessions may
        share.

        `answer_words` is as of `daemon.asking.Asking`.
        """
        real, kept = root.resolve(strict=True), CheckpointStore.open(folder, session)
        clear_drafts(real)
        undoable.recover(real, kept)
        return cls(real, kept, Asking(answer_words), choices or Choices())

    def with_files(self, opened: OpenFiles) -> Toolbox:
        """The same toolbox, with the files as somebody else has them."""
        made = copy(self)
        made.files = RepositoryFiles(self.root, opened)
        return made

    def verdict(self, tool: AgentTool, arguments: JsonMapping) -> Verdict:
        """The verdict on a call: allowed, denied, or somebody is to be asked."""
        verdict = self.approvals.verdict(tool, arguments, self.subject(tool, arguments))
        if verdict is Verdict.ALLOW and tool.is_doubtful(self, arguments):
            return Verdict.ASK
        return verdict

    def subject(self, tool: AgentTool, arguments: JsonMapping) -> str:
        """The subject of a call, as patterns of approvals are matched against it."""
        if tool.subject_of is not None:
            return tool.subject_of(self, arguments)
        subject = str(arguments.get(tool.subject, ""))
        if tool.about is not ApprovalSubject.PATH:
            return subject
        try:
            return resolved(self.root, subject)
        except TerselyError:
            return ""  # which no pattern fits; the tool will refuse it

    def doubt(self, inside: str, data: bytes) -> None:
        """The model was told that a grammar speaks against this content of a file."""
        self._doubted[content_hash(inside.encode() + b"\0" + data)] = None
        while len(self._doubted) > MAX_SHOWN_FILES:
            del self._doubted[next(iter(self._doubted))]

    @property
    def has_doubts(self) -> bool:
        """True if the model was told so of any content."""
        return bool(self._doubted)

    def is_doubted(self, inside: str, data: bytes) -> bool:
        """True if it was."""
        return content_hash(inside.encode() + b"\0" + data) in self._doubted

    async def confinement(self) -> Confinement:
        """The confinement of commands here; found out by the first who asks."""
        if self.known_confinement is None:
            self.known_confinement = await confinement(self.choices.confines, self.choices.network)
        return self.known_confinement

    async def ask(self, capability: str, arguments: JsonMapping) -> str:
        """The answer of a capability of the catalogue in words, all of it."""
        reply = await self.asking.ask(
            self.root, capability, arguments, lambda done, total: None, is_whole=True
        )
        return str(reply["text"])

    async def value(self, capability: str, arguments: JsonMapping) -> Any:
        """The same as a plain value."""
        return await self.asking.value(self.root, capability, arguments)

    async def apart(self, work: Callable[[], ResultT]) -> ResultT:
        """Do what waits for the disk beside the event loop; whoever is cancelled waits until it is
        done.
        """
        task = asyncio.ensure_future(asyncio.to_thread(self._alone, work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def observed(self, text: str, status: str = "ok") -> Observation:
        """A text as an observation, the whole of it kept where it is too long."""
        most = self.choices.observation_tokens
        return await self.apart(lambda: bounded(text, self.kept, self.tokenizer, status, most))

    async def end_conversations(self) -> None:
        """Before it is closed: let go of the servers that are talked to, and of the browser."""
        await self.browser.close()
        if self.tool_servers is not None:
            await self.tool_servers.close()

    def close(self) -> None:
        """Let go of everything; on the event loop that it was used on."""
        self.asking.close()
        self.kept.close()

    def _alone(self, work: Callable[[], ResultT]) -> ResultT:
        with self._lock:
            return work()
