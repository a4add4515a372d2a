"""`tersely chat`: on the screen, or with a prompt, without one."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from functools import partial
from pathlib import Path

from tersely.agent.agent import CodingAgent
from tersely.agent.models.connecting import address
from tersely.agent.opening import (
    AgentOptions,
    Choices,
    SharedWithCommands,
    Verdict,
    WantedAgent,
    configured,
    delete_session,
    found_editor,
    open_agent,
)
from tersely.agent.sessions.store import LAST, SessionStore
from tersely.cli.agent.command_spec import HIGHEST_TIER, ChatParameters, OutputFormat
from tersely.cli.agent.servers import Server, connected
from tersely.cli.agent.without_screen.headless import run_headless
from tersely.cli.agent.without_screen.printing import Printer
from tersely.cli.agent.without_screen.stdin_prompt import is_for_screen, message_of
from tersely.cli.builtin.daemon import ANSWER_WORDS, resolved_root
from tersely.cli.options import Options as PrintOptions
from tersely.cli.printing.terminal import Terminal
from tersely.cli.services import RelayServices
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MIN_WINDOW_TOKENS
from tersely.foundation.process.ancestry import own_name
from tersely.foundation.settings import Settings, load
from tersely.foundation.types import Strings, replace
from tersely.integrations.state import directory

FOLDER = "chat"
AGENT = "tersely"  # how the name begins that the agent has among others
NOTHING = "none"  # of a setting that lists things
USUAL_PLACES = "usual"  # of the setting that names the server


def run_chat(printed: PrintOptions, parameters: ChatParameters) -> int:
    """Talk; the exit status. Raises what keeps the screen from opening."""
    form = parameters.output_format
    if printed.json and form is OutputFormat.TEXT:
        form = OutputFormat.JSON
    if is_for_screen(parameters.prompt):
        if form is not OutputFormat.TEXT:
            raise TerselyError(
                "usage", "the screen prints no JSON", "tersely -p TEXT answers without it"
            )
        return _on_screen(Path(resolved_root(printed.root)), checked(parameters))
    is_kept = parameters.keep_session or bool(_resumed(parameters))
    printer = Printer(Terminal.own(), form, is_quiet=printed.quiet, is_kept=is_kept)

    async def opened() -> CodingAgent:
        return await _open_agent(Path(resolved_root(printed.root)), checked(parameters))

    return run_headless(
        printer, lambda: message_of(parameters.prompt, printer.say), opened, _delete
    )


def folder() -> Path:
    """The folder in which sessions are kept."""
    return directory() / FOLDER


def _delete(session: str) -> None:
    """Delete a session by its full id; raises what keeps that from being done."""
    with SessionStore.open(folder()) as store:
        delete_session(store, folder(), session)


def checked(parameters: ChatParameters) -> ChatParameters:
    """The parameters, if they make sense together; raises `usage`."""
    if parameters.allow >= parameters.deny:
        message = f"--allow {parameters.allow} and --deny {parameters.deny} contradict each other"
        hint = f"tiers below {parameters.deny} can be allowed: --allow {parameters.deny - 1} --deny {parameters.deny}"
        raise TerselyError("usage", message, hint)
    if 0 < parameters.window < MIN_WINDOW_TOKENS:
        message = f"--window {parameters.window} is too small to work in"
        raise TerselyError("usage", message, f"at least {MIN_WINDOW_TOKENS:,} tokens, better 8,192")
    if parameters.continue_ and parameters.resume not in {"", LAST}:
        raise TerselyError(
            "usage",
            "--continue and --resume mean different sessions",
            "--continue is --resume last",
        )
    if parameters.fork and not _resumed(parameters):
        raise TerselyError(
            "usage",
            "--fork needs a session to copy",
            "--continue --fork, or --resume SESSION --fork",
        )
    if not parameters.code_context and _resumed(parameters):
        raise TerselyError(
            "usage", "a session keeps its tools", "--no-code-context begins a new one"
        )
    return parameters


def _resumed(parameters: ChatParameters) -> str:
    return parameters.resume or (LAST if parameters.continue_ else "")


def server_of(parameters: ChatParameters, settings: Settings) -> Server:
    """The server that is meant: by the words, else by the environment."""
    url, model = parameters.url or settings.chat_url, parameters.model or settings.chat_model
    return Server(
        "" if url == USUAL_PLACES else url, "" if model == "first" else model, parameters.kind.value,
        _key_for(url, settings), parameters.window,
    )  # fmt: skip


def _key_for(url: str, settings: Settings) -> str:
    """The key that is set, for a server that was named: the one in the settings, where one is, and
    no other.

    Whatever listens at a usual place is shown none.
    """
    is_for_another = settings.chat_url not in {USUAL_PLACES, url}
    if settings.chat_key == NOTHING or url == USUAL_PLACES or is_for_another:
        return ""
    return settings.chat_key


def wanted(
    root: Path, parameters: ChatParameters, settings: Settings, *, can_ask: bool
) -> WantedAgent:
    """The wishes by which the agent is opened."""
    policy = dict.fromkeys(range(parameters.allow + 1), Verdict.ALLOW)
    policy |= dict.fromkeys(range(parameters.deny, HIGHEST_TIER + 1), Verdict.DENY)
    session = ""
    if named := _resumed(parameters):
        with SessionStore.open(folder()) as store:
            session = store.find(named, str(root)).id
    choices = Choices(
        policy=policy, network=settings.chat_network == "on", shared=shared(settings),
        private_hosts=tuple(_listed(settings.chat_private_hosts, ",")), servers=configured(os.environ),
        relay=RelayServices(own_name(os.environ, AGENT), root).answer,
        editor=partial(found_editor, root.resolve(), os.environ), browser=browser_command(settings),
    )  # fmt: skip
    compacts = settings.chat_compact == "on"
    options = AgentOptions(
        can_ask=can_ask, reply_tokens=settings.chat_reply_tokens, compacts=compacts, calls=settings.chat_calls,
        session_tokens=parameters.session_tokens or settings.chat_session_tokens,
        with_code_context=parameters.code_context,
    )  # fmt: skip
    return WantedAgent(
        root, folder(), ANSWER_WORDS, session, choices, options, forks=parameters.fork
    )


def shared(settings: Settings) -> SharedWithCommands:
    """The things that the user lets commands of the agent have besides the repository; raises
    `invalid_setting`.
    """
    return SharedWithCommands(
        _places("TERSELY_CHAT_WRITABLE", settings.chat_writable),
        _places("TERSELY_CHAT_READABLE", settings.chat_readable),
        tuple(_listed(settings.chat_variables, ",")),
    )


def browser_command(settings: Settings) -> Strings:
    """The command that starts the server of a browser, () without one; raises `invalid_setting`."""
    try:
        return () if settings.chat_browser == NOTHING else tuple(shlex.split(settings.chat_browser))
    except ValueError as error:
        raise TerselyError(
            "invalid_setting", f"TERSELY_CHAT_BROWSER: {error}", "as npx @playwright/mcp"
        ) from error


def _places(variable: str, said: str) -> tuple[Path, ...]:
    """Folders or files that are there; raises `invalid_setting` for anything else."""
    places = tuple(
        Path(os.path.realpath(os.path.expanduser(one))) for one in _listed(said, os.pathsep)
    )
    for place, name in zip(places, _listed(said, os.pathsep), strict=True):
        if (
            not os.path.isabs(os.path.expanduser(name))
            or not place.exists()
            or place == Path(place.anchor)
        ):
            hint = (
                "absolute paths of what is there, separated by `:`; not the root of the file system"
            )
            raise TerselyError("invalid_setting", f"{variable}: {name} is no such place", hint)
    return places


def _listed(said: str, separator: str) -> list[str]:
    return (
        [] if said == NOTHING else [name.strip() for name in said.split(separator) if name.strip()]
    )


async def _open_agent(root: Path, parameters: ChatParameters) -> CodingAgent:
    """An agent without a screen, to be closed with its model."""
    settings = load(root)
    opening = wanted(root, parameters, settings, can_ask=False)
    server, model = await connected(server_of(parameters, settings), notify=_say)
    try:
        agent = await open_agent(model, replace(opening, server=address(server.url)))
    except BaseException:
        await model.close()
        raise
    agent.conversation.retrieves = parameters.retrieval and parameters.code_context
    return agent


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _on_screen(root: Path, parameters: ChatParameters) -> int:
    from tersely.cli.agent.screen import show

    settings = load(root)
    opening = wanted(root, parameters, settings, can_ask=True)
    retrieves = parameters.retrieval and parameters.code_context
    return asyncio.run(show(opening, server_of(parameters, settings), retrieves=retrieves))
