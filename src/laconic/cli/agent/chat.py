"""`laconic chat`: on the screen, or with a prompt, without one."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
from pathlib import Path

from laconic.agent.conversation import Options
from laconic.agent.events import Reason, TurnEnded
from laconic.agent.opening import Wanted, open_agent
from laconic.agent.sessions.store import Store
from laconic.agent.tools.approvals import Verdict
from laconic.agent.tools.external import configured
from laconic.agent.tools.toolbox import Choices
from laconic.agent.window import Shares
from laconic.agents.state import directory
from laconic.cli.agent.declared import HIGHEST_TIER, STANDARD_INPUT, ChatParameters
from laconic.cli.agent.printing import Printer
from laconic.cli.agent.servers import Server, connected
from laconic.cli.daemon import ANSWER_WORDS, resolved_root
from laconic.cli.options import Options as PrintOptions
from laconic.cli.terminal import Terminal
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_CONTENT_BYTES
from laconic.foundation.settings import Settings, load

FOLDER = "chat"
NOTHING = "none"  # of a setting that lists things
LEAST_FENCE_CHARACTERS = 3


def run_chat(printed: PrintOptions, parameters: ChatParameters) -> int:
    """Talk; the exit status."""
    root = Path(resolved_root(printed.root))
    message = message_of(parameters.prompt)
    if not message:
        return _on_screen(root, parameters)
    return asyncio.run(_headless(root, printed, parameters, message))


def folder() -> Path:
    """Where sessions are kept."""
    return directory() / FOLDER


def message_of(prompt: str) -> str:
    """What is asked without a screen, with what comes through standard input; "" where the screen is meant."""
    given = ""
    if prompt == STANDARD_INPUT or _is_given():
        given = sys.stdin.buffer.read(MAX_CONTENT_BYTES).decode("utf-8", "replace").strip()
    prompt = "" if prompt == STANDARD_INPUT else prompt.strip()
    if prompt == given == "" and not sys.stdin.isatty():
        raise LaconicError("usage", "there is no message", 'laconic -p "what does main do?", or text on standard input')
    if prompt and given:
        longest = max(map(len, re.findall("`+", given)), default=0)
        fence = "`" * max(LEAST_FENCE_CHARACTERS, longest + 1)
        given = f"{fence}\n{given}\n{fence}"  # others may have written it: what is quoted asks for no tools
    return "\n\n".join(filter(None, [prompt, given]))


def _is_given() -> bool:
    """Whether standard input is a pipe or a file: what comes through it is meant to be read."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def server_of(parameters: ChatParameters, settings: Settings) -> Server:
    """Which server is meant: by the words, else by the environment."""
    url, model = parameters.url or settings.chat_url, parameters.model or settings.chat_model
    key = settings.chat_key
    return Server(
        "" if url == "usual" else url, "" if model == "first" else model, parameters.kind.value,
        "" if key == "none" else key, parameters.window,
    )  # fmt: skip


def wanted(root: Path, parameters: ChatParameters, settings: Settings, *, can_ask: bool) -> Wanted:
    """How the agent is to be opened."""
    policy = dict.fromkeys(range(parameters.allow + 1), Verdict.ALLOW)
    policy |= dict.fromkeys(range(parameters.deny, HIGHEST_TIER + 1), Verdict.DENY)
    session = ""
    if parameters.resume:
        with Store.open(folder()) as store:
            session = store.find(parameters.resume, str(root)).id
    shares = Shares(
        settings.chat_agents_tokens, settings.chat_retrieval_tokens, settings.chat_observations_tokens,
        settings.chat_history_tokens, settings.chat_reply_tokens, settings.chat_compact_percent,
    )  # fmt: skip
    choices = Choices(
        policy=policy, network=settings.chat_network == "on", writable=_places(settings.chat_writable),
        private_hosts=tuple(_listed(settings.chat_private_hosts, ",")), servers=configured(os.environ),
    )  # fmt: skip
    return Wanted(root, folder(), ANSWER_WORDS, session, choices, shares, Options(can_ask=can_ask))


def _places(said: str) -> tuple[Path, ...]:
    """Folders or files that are there; raises `invalid_setting` for anything else."""
    places = tuple(Path(os.path.realpath(os.path.expanduser(one))) for one in _listed(said, os.pathsep))
    for place, name in zip(places, _listed(said, os.pathsep), strict=True):
        if not os.path.isabs(os.path.expanduser(name)) or not place.exists() or place == Path(place.anchor):
            hint = "absolute paths of what is there, joined as in PATH; not the root of the file system"
            raise LaconicError("invalid_setting", f"LACONIC_CHAT_WRITABLE: {name} is no such place", hint)
    return places


def _listed(said: str, separator: str) -> list[str]:
    return [] if said == NOTHING else [name.strip() for name in said.split(separator) if name.strip()]


async def _headless(root: Path, printed: PrintOptions, parameters: ChatParameters, message: str) -> int:
    settings = load(root)
    opening = wanted(root, parameters, settings, can_ask=False)
    _, model = await connected(server_of(parameters, settings))
    try:
        agent = await open_agent(model, opening)
    except BaseException:
        await model.close()
        raise
    agent.talk.retrieves = parameters.retrieval
    printer = Printer(Terminal.own(), parameters.output_format, agent.session.id, is_quiet=printed.quiet)
    reason = Reason.FAILED
    try:
        async for event in agent.run(message):
            printer.show(event)
            reason = event.reason if isinstance(event, TurnEnded) else reason
    except asyncio.CancelledError:  # Ctrl+C: whoever reads JSON is told as well
        printer.end(Reason.CANCELLED)
        raise
    finally:
        await agent.close()
        await model.close()
    return printer.end(reason)


def _on_screen(root: Path, parameters: ChatParameters) -> int:
    try:
        from laconic.cli.agent.screen import show
    except ImportError as error:
        hint = 'pip install "laconic[agent]", or ask without one: laconic -p "…"'
        raise LaconicError("missing_extra", "the screen of the agent is not installed", hint) from error
    settings = load(root)
    opening = wanted(root, parameters, settings, can_ask=True)
    return asyncio.run(show(opening, server_of(parameters, settings), retrieves=parameters.retrieval))
