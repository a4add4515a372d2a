"""Commands that are no capabilities: a function each, declared as a capability is, by its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.binding import bound
from tersely.capabilities.declaration.declaration import Parameter, parameters_of
from tersely.cli.options import Options
from tersely.foundation.types import JsonMapping, JsonObject, Strings, frozen

if TYPE_CHECKING:
    from tersely.client import Client

EXIT_STATUS = "exit_status"  # in a result: how the process ends
ROOT = "root"  # the parameter by which a call names its repository


class CommandCall(NamedTuple):
    """The call of a command."""

    program: str
    options: Options
    style: Style
    agent: str = ""  # as whom the relay is asked

    def connect(self) -> Client:
        """A client of this user's relay; raises `daemon_not_running`."""
        from tersely.client import Client

        return Client.local(self.agent)

    def ask(self, name: str, content: bytes | None = None, /, **given: Any) -> Any:
        """The answer of the relay to the question of a name; raises as a client does."""
        from tersely.client import ask

        with self.connect() as relay:
            return relay(ask(name, content, **given))

    def about_root(self, relay: Client, arguments: JsonMapping, schema: JsonMapping) -> JsonObject:
        """The arguments of a call with the repository that it is about, where its schema has such a
        parameter.

        That is the one that they name, else that of `--root`, else the one in which the command is
        typed; nothing is said of that of the relay, which it means by itself.
        """
        from tersely.cli.builtin.daemon import default_workspace

        named = arguments.get(ROOT, self.options.root)
        if ROOT not in schema.get("properties", {}) or not isinstance(named, str):
            return dict(arguments)
        root = default_workspace(named)
        rest = {name: value for name, value in arguments.items() if name != ROOT}
        is_default = root in {"", relay.ask("relay.status").workspace}
        return rest if is_default else {**rest, ROOT: root}


Run = Callable[..., JsonObject]


@frozen
class OwnCommand:
    """Its words, a line about it, and what it does: the result, whose `text` is what is printed.

    A result may say with which `exit_status` the command ends.
    """

    words: Strings
    summary: str
    run: Run
    # the option that `--json` with a JSON value behind it means, as the first relay had it
    payload: str = ""
    # all that follows its words is its positional words, also what looks like an option
    is_open: bool = False

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the command."""
        return parameters_of(self.run)

    def line(self) -> str:
        """The summary of the command, one line."""
        return self.summary

    def checked(self, arguments: JsonMapping) -> JsonObject:
        """The arguments of its function; raises `invalid_argument`."""
        return bound(self.run, arguments)


def command(words: str, **more: Any) -> Callable[[Run], OwnCommand]:
    """Declare a function to be the command of these words: its keyword arguments are the options,
    its docstring the line about it. `more` are further fields of `OwnCommand`.
    """

    def declared(run: Run) -> OwnCommand:
        summary = " ".join((run.__doc__ or "").split()).removesuffix(".")
        return OwnCommand(tuple(words.split()), summary, run, **more)

    return declared


def commands_of(module: ModuleType) -> Iterable[OwnCommand]:
    """The commands that a module declares, in their order."""
    return [one for one in vars(module).values() if isinstance(one, OwnCommand)]


def command_named(name: str, module: ModuleType) -> OwnCommand:
    """The command of a name that a module declares."""
    return next(one for one in commands_of(module) if one.name == name)


def plain(value: Any) -> Any:
    """An answer of the relay as JSON has it."""
    import msgspec

    return msgspec.to_builtins(value)


def worded(value: Any, text: str) -> JsonObject:
    """The result of a command: an answer of the relay, and its `text`."""
    return {**plain(value), "text": text}
