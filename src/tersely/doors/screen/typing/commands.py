"""The commands that can be typed after `/`: each once, for the prompt, its completion, the help and
the palette.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from tersely.agent.opening import MODES, Mode
from tersely.agent.tools.declaration import INSIST
from tersely.capabilities.answers.text import counted
from tersely.doors.screen.dialogs.choosing import ChoiceRow
from tersely.doors.screen.shown import set_retrieval, undo
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.doors.screen.chat import ChatScreen


MAX_BUDGET_DIGITS = 12  # of a number of tokens that is typed


class TypedCommand(NamedTuple):
    """One command; `argument` names what follows, in brackets if it may be left out, "" for
    nothing.
    """

    summary: str
    run: Callable[[ChatScreen, str], Awaitable[None]]
    argument: str = ""
    may_run_meanwhile: bool = False  # while a turn is running

    @property
    def needs_argument(self) -> bool:
        """True if it means nothing by itself."""
        return bool(self.argument) and not self.argument.startswith("[")


def may_run_meanwhile(line: str) -> bool:
    """True if a command may be run while a turn is running; what there is not, is said at once."""
    command = COMMANDS.get(_words(line)[0])
    return command is None or command.may_run_meanwhile


async def run(screen: ChatScreen, line: str) -> None:
    """Do what a line that begins with `/` says; raises `invalid_argument` for a command that there
    is not.
    """
    name, argument = _words(line)
    command = COMMANDS.get(name)
    if command is None:
        raise TerselyError("invalid_argument", f"there is no command /{name}", "/help lists them.")
    await command.run(screen, argument)


def _words(line: str) -> tuple[str, str]:
    name, _, argument = line.removeprefix("/").partition(" ")
    return name.lower(), argument.strip()


async def _help(screen: ChatScreen, argument: str) -> None:
    rows = [
        (f"/{name} {command.argument}".rstrip(), command.summary)
        for name, command in COMMANDS.items()
    ]
    screen.log_view.table([*rows, ("", ""), *KEYS.items()])


async def _model(screen: ChatScreen, argument: str) -> None:
    url, name = _server_and_model(argument)
    name = name or await _chosen_model(screen, url)
    if name:
        screen.log_view.say(await screen.busy("Connecting", screen.agent.use_model(name, url)))


def _server_and_model(argument: str) -> tuple[str, str]:
    """The URL and the name in what follows `/model`, each "" where it is not there."""
    first, _, rest = argument.partition(" ")
    return (first, rest.strip()) if "://" in first else ("", argument)


async def _chosen_model(screen: ChatScreen, url: str) -> str:
    """The model that is chosen of a server's, the only one without a question; "" where nobody
    wants any.
    """
    names = await screen.busy("Asking the server for its models", screen.agent.models(url))
    if url and len(names) == 1:
        return names[0]
    now = "" if url else screen.agent.status().model
    choices = [ChoiceRow(name, name, "this one" if name == now else "") for name in names]
    return await screen.choose(f"Models of {url or 'this server'}", choices) or ""


async def _budget(screen: ChatScreen, argument: str) -> None:
    if argument:
        digits = argument.replace(",", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_BUDGET_DIGITS):
            raise TerselyError(
                "invalid_argument", "/budget takes a number of tokens", "0 is any number."
            )
        screen.agent.set_budget(int(digits))
    screen.log_view.say(screen.agent.budget())


async def _tier(screen: ChatScreen, argument: str) -> None:
    try:
        tier = int(argument)
    except ValueError as error:
        raise TerselyError(
            "invalid_argument", "/tier takes a number", "Tab lists the tools of each tier."
        ) from error
    screen.agent.set_tier(tier)
    screen.say_tier()


async def _mode(screen: ChatScreen, argument: str) -> None:
    """Work in another mode, or say in which."""
    if argument:
        if argument not in set(Mode):
            raise TerselyError(
                "invalid_argument", f"there is no mode {argument}", f"it is {', '.join(Mode)}"
            )
        screen.agent.set_mode(Mode(argument))
    mode = screen.agent.mode()
    screen.log_view.say(f"{mode.value}: {MODES[mode].text}")


async def _compact(screen: ChatScreen, argument: str) -> None:
    screen.log_view.say(await screen.busy("Summarizing older turns", screen.agent.compact()))


async def _undo(screen: ChatScreen, argument: str) -> None:
    screen.log_view.say(await undo(screen.agent, argument))


async def _sessions(screen: ChatScreen, argument: str) -> None:
    rows = await screen.agent.sessions()
    now = screen.agent.status().session
    choices = [
        ChoiceRow(
            row.id,
            row.title or row.id,
            f"{counted(row.turns, 'turn')}, {'this one' if row.id == now else row.updated}",
        )
        for row in rows
    ]
    if session := argument or await screen.choose("Sessions of this repository", choices):
        await screen.agent.resume(session)
        screen.show_history()


async def _fork(screen: ChatScreen, argument: str) -> None:
    screen.log_view.say(await screen.agent.fork())


async def _new(screen: ChatScreen, argument: str) -> None:
    await screen.agent.begin_anew()
    screen.show_history()


async def _rag(screen: ChatScreen, argument: str) -> None:
    if argument not in {"", "on", "off"}:
        raise TerselyError(
            "invalid_argument", "/rag takes on or off", "Without either it changes over."
        )
    is_on = argument == "on" if argument else not screen.agent.status().retrieves
    screen.log_view.say(set_retrieval(screen.agent, on=is_on))


async def _cost(screen: ChatScreen, argument: str) -> None:
    screen.log_view.say(screen.agent.cost())


async def _quit(screen: ChatScreen, argument: str) -> None:
    await screen.app.action_quit()


COMMANDS = {
    "help": TypedCommand("commands and keys", _help, may_run_meanwhile=True),
    "model": TypedCommand(
        "go on with another model, or a server by its URL", _model, "[url] [name]"
    ),
    "budget": TypedCommand(
        "the tokens that this session may use", _budget, "[tokens]", may_run_meanwhile=True
    ),
    "tier": TypedCommand("unlock or lock tools", _tier, "0-3", may_run_meanwhile=True),
    "mode": TypedCommand(
        "ask before changes, only plan, or work freely",
        _mode,
        "[ask|plan|auto]",
        may_run_meanwhile=True,
    ),
    "compact": TypedCommand("summarize older turns now", _compact),
    "undo": TypedCommand("take back the last change to files", _undo, f"[{INSIST}]"),
    "sessions": TypedCommand("go on with another session", _sessions, "[id]"),
    "new": TypedCommand("begin a new session", _new),
    "clear": TypedCommand("the same", _new),
    "fork": TypedCommand("go on in a copy of this session", _fork),
    "rag": TypedCommand(
        "look up code before the model is asked, or not", _rag, "[on|off]", may_run_meanwhile=True
    ),
    "cost": TypedCommand("tokens of this session", _cost, may_run_meanwhile=True),
    "quit": TypedCommand("end the program", _quit, may_run_meanwhile=True),
}
KEYS = {
    "Enter": "send; Ctrl+J, Shift+Enter or Alt+Enter begins a new line",
    "Up, Down": "take back what is queued, or what was sent before; in a list, its entries",
    "@": "a file or a symbol; Tab takes the marked one",
    "Tab": "the tools and what each may do",
    "Esc": "cancel the turn; while nothing runs, to the log and back",
    "Shift+Tab": "to the log and back; there Up and Down scroll",
    "Ctrl+O": "open or close all calls and thoughts; Enter opens the focused one",
    "Ctrl+T, Ctrl+R, Ctrl+G": "the next tier; look code up or not; the next mode",
    "!": "a command of the shell, which is run at once; the model reads what it printed",
    "Ctrl+C": "cancel the turn, or copy what is selected",
    "Ctrl+P": "commands to choose from",
    "Ctrl+Q": "quit; in the log also q, twice",
}
