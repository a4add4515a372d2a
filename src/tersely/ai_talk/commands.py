"""The commands: words in, one JSON object out, also where something went wrong.

A program that has these commands among its own may show the objects otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from . import inbox, lifecycle, place, sending
from .failures import (
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_PIPE_CLOSED,
    EXIT_SURROUNDINGS,
    TalkError,
    told,
)
from .frames import MAX_MESSAGE_BYTES
from .inbox import Kept, is_unread
from .lifecycle import Listening
from .messages import MAX_FIELD_CHARACTERS, Message
from .place import Place, checked_port, port_named

SEND_SECONDS = 10.0  # for a message to be taken, where nothing else is said
ONCE_SECONDS = 5.0  # for a message to come, where nothing else is said
MAX_SECONDS = 3_600.0  # that may be asked for
MAX_LIMIT = 1_000_000  # of messages that are shown
_BEYOND_ASCII = re.compile("[^ -~]")
# Letters that are drawn as nothing, and selectors that spell invisible words: Python calls them
# printable.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")

Given = argparse.Namespace
Show = Callable[[Mapping[str, Any]], None]


class Command(NamedTuple):
    """A command: what it does, and its words with what they mean."""

    run: Callable[[Path, Given, Show], int | None]
    summary: str
    words: Mapping[str, str]  # with a word after it where it takes a value


def main(words: list[str], program: str = "talk", show: Show | None = None) -> int:
    """Run a command and show its result, as JSON if `show` is not given; the exit status."""
    shows = [show or print_json]  # used up by the one object
    try:
        given = _parser(program).parse_args(words)
        home = place.made(Path("~/.ai-talk").expanduser())
        return given.run(home, given, lambda result: shows.pop()(result)) or EXIT_OK  # noqa: PLW0108
    except BrokenPipeError:
        raise
    except (OSError, TalkError) as error:
        if shows:
            shows[0](told(error))
        else:  # messages that could not be marked as shown: they come again
            print(_visible(str(error)), file=sys.stderr)
        return getattr(error, "exit_status", EXIT_SURROUNDINGS)
    except SystemExit:  # help was asked for, and printed
        return EXIT_OK


def script(name: str) -> NoReturn:
    """Be the script of one command."""
    program([name, *sys.argv[1:]], "")


def program(words: list[str], name: str) -> NoReturn:
    """Be the program of that name: run a command and end with its status."""
    try:
        status = main(words, name)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = EXIT_PIPE_CLOSED
    sys.exit(status)


def print_json(result: Mapping[str, Any]) -> None:
    """Print and flush: what counts as printed has left this process."""
    print(json_line(result), flush=True)


def json_line(value: Any) -> str:
    """A value as JSON, hidden characters as its escapes."""
    return _visible(json.dumps(value, ensure_ascii=False))


def _visible(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        is_visible = found[0].isprintable() and not _INVISIBLE.match(found[0])
        return found[0] if is_visible else json.dumps(found[0])[1:-1]

    return _BEYOND_ASCII.sub(shown, text)


class _Parser(argparse.ArgumentParser):
    """Says in JSON what it cannot read."""

    def error(self, message: str) -> NoReturn:
        """Raise `INVALID_ARGUMENT`."""
        raise TalkError("INVALID_ARGUMENT", message, usage=" ".join(self.format_usage().split()))


def _parser(program: str) -> argparse.ArgumentParser:
    about = "Messages between agents on this machine."
    parser = _Parser(prog=program or "scripts", description=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        prog = f"{program} {name}" if program else f"{name}.py"
        summary = command.summary
        one = commands.add_parser(
            name, prog=prog, help=summary, description=f"{summary}.", allow_abbrev=False
        )
        one.set_defaults(run=command.run)
        for words, meaning in command.words.items():
            word, _, value = words.partition(" ")
            is_flag = word.startswith("--") and not value
            one.add_argument(word, help=meaning, action="store_true" if is_flag else "store")
        # other programs than this one have it: here everything is JSON
        one.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    return parser


def _listen(home: Path, given: Given, show: Show) -> None:
    if given.verb in _VERBS:
        show(_VERBS[given.verb](_place(home, given)))
        return
    if given.verb != "start":
        raise TalkError("INVALID_ARGUMENT", "listen start, listen stop or listen status")
    name, path = given.name or "", given.message_file
    if not name and given.port is None:
        raise TalkError("INVALID_ARGUMENT", "a listener needs a --port or a --name")
    if name.isdigit() or not name.isprintable() or len(name) > MAX_FIELD_CHARACTERS:
        raise TalkError("INVALID_ARGUMENT", "a name is a short word and no number", name=name)
    port = 0 if given.port is None else checked_port(given.port)
    path = path and str(Path(path).expanduser().absolute())
    show(lifecycle.start(Listening(str(home), port, path, name, given.tls)))


def _check(home: Path, given: Given, show: Show) -> None:
    """Show messages, then tell those of their senders who asked for it that they were read."""
    at = _place(home, given)
    most = None if given.limit is None else int(_number(given, "limit", 0, MAX_LIMIT))

    def is_wanted(one: Kept) -> bool:
        is_in_thread = given.thread in (None, one.get("thread"))
        return is_in_thread and (is_unread(one) or not given.unread)

    with inbox.taking(at, is_wanted, most, remove=given.clear) as found:
        unread = [*filter(is_unread, found)]
        messages = [{name: one[name] for name in one if name != "read"} for one in found]
        result = {"port": at.port, "message_count": len(found), "messages": messages}
        show(result if at.pid is not None else {**result, "listener_running": False})
    for failure in sending.send_receipts(home, at.port, unread):
        print(_visible(failure), file=sys.stderr)


def _send(home: Path, given: Given, show: Show) -> int:
    _one_of(given, "to_port", "to", "broadcast")
    to_port = None if given.to_port is None else checked_port(given.to_port)
    seconds = _number(given, "timeout", SEND_SECONDS, MAX_SECONDS)
    how = sending.Sending(home, seconds, given.tls, given.bare)
    message = _message(home, given)
    if not given.broadcast:
        show(sending.send(how, message, to_port or port_named(home, given.to)))
        return EXIT_OK
    own = message.header["from_port"]
    ports = [one["port"] for one in place.live(home) if one["port"] != own]
    if not ports:
        raise TalkError("LISTENER_NOT_RUNNING", "no other listener runs")
    result = sending.broadcast(how, message, ports)
    show(result)
    return EXIT_NEGATIVE if result["failed"] else EXIT_OK


def _message(home: Path, given: Given) -> Message:
    _one_of(given, "from_port", "from")
    names = ("to", "type", "thread", "reply_to", "receipt")
    header = {name: getattr(given, name) for name in names if getattr(given, name)}
    if given.bare and header.keys() - {"to"}:
        why = "a bare frame has text alone: no type, thread, reply or receipt"
        raise TalkError("INVALID_ARGUMENT", why)
    name = getattr(given, "from")
    port = port_named(home, name) if name else checked_port(given.from_port)
    name = Place(home, port).public.get("name", "")
    return Message(
        _body(given), {"from": name, "from_port": port, "id": sending.new_id(), **header}
    )


def _body(given: Given) -> bytes:
    """The bytes to send: at most one more than may be sent."""
    _one_of(given, "message", "message_file")
    if given.message is not None:
        return os.fsencode(given.message)
    try:
        with open(0 if given.message_file == "-" else given.message_file, "rb") as file:
            return file.read(MAX_MESSAGE_BYTES + 1)
    except OSError as error:
        raise TalkError("INVALID_ARGUMENT", str(error), path=given.message_file) from error


def _discover(home: Path, given: Given, show: Show) -> None:
    show({"listeners": place.live(home)})


def _once(home: Path, given: Given, show: Show) -> None:
    seconds = _number(given, "timeout", ONCE_SECONDS, MAX_SECONDS)
    lifecycle.wait_for_one(Place(home, checked_port(given.port)), given.tls, seconds)

    def show_one(result: Mapping[str, Any]) -> None:
        nothing = {"status": "no_message", "timeout": seconds}
        show({**({"status": "received"} if result["messages"] else nothing), **result})

    one = {"clear": True, "limit": "1", "unread": False, "thread": None}
    _check(home, Given(port=given.port, **one), show_one)


def _place(home: Path, given: Given) -> Place:
    _one_of(given, "port", "name")
    name = getattr(given, "name", None)
    return Place(home, port_named(home, name) if name else checked_port(given.port))


def _one_of(given: Given, *names: str) -> None:
    """Raise `INVALID_ARGUMENT` where not exactly one of the words was given."""
    if sum(getattr(given, name, None) not in (None, False) for name in names) != 1:
        words = " or ".join(f"--{name.replace('_', '-')}" for name in names)
        raise TalkError("INVALID_ARGUMENT", f"say {words}")


def _number(given: Given, name: str, usual: float, most: float) -> float:
    """The number that was given, or the usual one; raises `INVALID_ARGUMENT`."""
    word = getattr(given, name) or usual
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number <= most:
        raise TalkError("INVALID_ARGUMENT", f"--{name} is a number up to {most:g}", given=word)
    return int(number) if number.is_integer() else number


_VERBS = {"stop": lifecycle.stop, "status": lifecycle.status}
_PLACE = {"--port PORT": "the port of the listener", "--name NAME": "its name"}
_TLS = {"--tls": "speak TLS only"}
_TIMEOUT = {"--timeout SECONDS": "how long to wait"}

COMMANDS: Mapping[str, Command] = {
    "listen": Command(
        _listen,
        "Start, stop or look at a listener in the background",
        {
            "verb": "start, stop or status",
            **_PLACE,
            "--message-file PATH": "where messages go instead",
            **_TLS,
        },
    ),
    "check": Command(
        _check,
        "Read the messages that have come",
        {
            **_PLACE,
            "--clear": "remove the messages that are shown",
            "--limit COUNT": "how many to show at most, the oldest first",
            "--unread": "only those not shown before",
            "--thread WORD": "only messages of one conversation",
        },
    ),
    "send": Command(
        _send,
        "Send a message",
        {
            "--to-port PORT": "the recipient's port",
            "--to NAME": "the recipient's name",
            "--broadcast": "to all listeners but the sender's",
            "--from-port PORT": "the sender's own port, for replies",
            "--from NAME": "the name of the sender's own listener",
            "--message TEXT": "the text",
            "--message-file PATH": "a file that has it; - is the standard input",
            "--type TYPE": "text, json or binary",
            "--thread WORD": "its conversation",
            "--reply-to ID": "the message that it answers",
            "--receipt": "be told when it is read",
            "--bare": "send <length>:<message> alone",
            "--tls": "speak TLS, also to others' listeners",
            **_TIMEOUT,
        },
    ),
    "discover": Command(_discover, "List the listeners that run", {}),
    "listen-once": Command(
        _once,
        "Wait for one message, without a background listener",
        {"--port PORT": "where to listen", **_TIMEOUT, **_TLS},
    ),
}
