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

from . import inbox, listener, place, sending
from .failures import (
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_PIPE_CLOSED,
    EXIT_SURROUNDINGS,
    TalkError,
    told,
)
from .inbox import Kept, is_unread
from .messages import MAX_FIELD_CHARACTERS, MAX_MESSAGE_BYTES, Message
from .place import TalkPlace, checked_port, port_named

MAX_SECONDS = 3_600.0  # that may be asked for
MAX_LIMIT = 1_000_000  # of messages that are shown
# Letters that are drawn as nothing, and selectors that spell invisible words: Python calls them
# printable.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")

Given = argparse.Namespace
Show = Callable[[Mapping[str, Any]], None]


class TalkCommand(NamedTuple):
    """A command: what it does, and its words in `_WORDS`; of those with a bar, one is given."""

    run: Callable[[Path, Given, Show], int | None]
    summary: str
    words: str = ""


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
            print(json_line(str(error)), file=sys.stderr)
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
    """A value as JSON; where it has hidden characters, in ASCII alone."""
    line = json.dumps(value, ensure_ascii=False)
    return line if line.isprintable() and not _INVISIBLE.search(line) else json.dumps(value)


class _Parser(argparse.ArgumentParser):
    """Says in JSON what it cannot read."""

    def error(self, message: str) -> NoReturn:
        """Raise `INVALID_ARGUMENT`."""
        raise TalkError("INVALID_ARGUMENT", message, usage=" ".join(self.format_usage().split()))


def _parser(program: str) -> argparse.ArgumentParser:
    about = "Messages between agents on this machine."
    parser = _Parser(prog=program or "scripts", description=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (run, summary, words) in COMMANDS.items():
        prog = f"{program} {name}" if program else f"{name}.py"
        one = commands.add_parser(
            name, prog=prog, help=summary, description=f"{summary}.", allow_abbrev=False
        )
        one.set_defaults(run=run)
        # other programs than this one have it: here everything is JSON
        one.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
        for given in words.split():
            group = one.add_mutually_exclusive_group(required=True) if "|" in given else one
            for word in filter(None, given.split("|")):
                group.add_argument(word, **_WORDS[word])
    return parser


def _number(most: float, kind: type[float]) -> Callable[[str], float]:
    def number(word: str) -> float:
        given = kind(word)
        if not 0 < given <= most:
            raise ValueError(word)
        return given

    return number


def _flag(meaning: str) -> Mapping[str, Any]:
    return {"action": "store_true", "help": meaning}


_WORDS: Mapping[str, Mapping[str, Any]] = {
    "verb": {"choices": ("start", "stop", "status")},
    "--port": {"type": checked_port, "help": "the port of the listener"},
    "--name": {"help": "its name"},
    "--to-port": {"type": checked_port, "help": "the recipient's port"},
    "--to": {"help": "the recipient's name"},
    "--broadcast": _flag("to all listeners but the sender's"),
    "--from-port": {"type": checked_port, "help": "the sender's own port, for replies"},
    "--from": {"help": "the name of the sender's own listener"},
    "--message": {"help": "the text"},
    "--message-file": {
        "metavar": "PATH",
        "help": "a file that has it (- is the standard input), or where a listener puts messages",
    },
    "--type": {"help": "text, json or binary"},
    "--thread": {"help": "its conversation, or the one of which messages are shown"},
    "--reply-to": {"metavar": "ID", "help": "the message that it answers"},
    "--receipt": _flag("be told when it is read"),
    "--bare": _flag("send <length>:<message> alone"),
    "--tls": _flag("speak TLS only"),
    "--timeout": {"type": _number(MAX_SECONDS, float), "help": "how many seconds to wait"},
    "--clear": _flag("remove the messages that are shown"),
    "--limit": {
        "type": _number(MAX_LIMIT, int),
        "help": "how many to show at most, the oldest first",
    },
    "--unread": _flag("only those not shown before"),
}


def _listen(home: Path, given: Given, show: Show) -> None:
    if not given.name and given.port is None:
        raise TalkError("INVALID_ARGUMENT", "a listener needs a --port or a --name")
    if given.verb == "start":
        show(_start(home, given))
    else:
        do = listener.stop if given.verb == "stop" else listener.status
        show(do(_place(home, given)))


def _start(home: Path, given: Given) -> Mapping[str, Any]:
    name, path = given.name or "", given.message_file
    if name.isdigit() or not name.isprintable() or len(name) > MAX_FIELD_CHARACTERS:
        raise TalkError("INVALID_ARGUMENT", "a name is a short word and no number", name=name)
    path = path and str(Path(path).expanduser().absolute())
    return listener.start(listener.Listening(str(home), given.port or 0, path, name, given.tls))


def _check(home: Path, given: Given, show: Show) -> None:
    """Show messages, then tell those of their senders who asked for it that they were read."""
    at = _place(home, given)

    def is_wanted(one: Kept) -> bool:
        is_in_thread = given.thread in (None, one.get("thread"))
        return is_in_thread and (is_unread(one) or not given.unread)

    with inbox.taking(at, is_wanted, given.limit, remove=given.clear) as found:
        unread = [*filter(is_unread, found)]
        messages = [{name: one[name] for name in one if name != "read"} for one in found]
        result = {"port": at.port, "message_count": len(found), "messages": messages}
        show(result if at.pid is not None else {**result, "listener_running": False})
    for failure in sending.send_receipts(home, at.port, unread):
        print(json_line(failure), file=sys.stderr)


def _send(home: Path, given: Given, show: Show) -> int:
    how = sending.Sending(home, given.timeout or sending.SEND_SECONDS, given.tls, given.bare)
    message = _message(home, given)
    if not given.broadcast:
        show(sending.send(how, message, given.to_port or port_named(home, given.to)))
        return EXIT_OK
    own = message.header["from_port"]
    ports = [one["port"] for one in place.live(home) if one["port"] != own]
    if not ports:
        raise TalkError("LISTENER_NOT_RUNNING", "no other listener runs")
    result = sending.broadcast(how, message, ports)
    show(result)
    return EXIT_NEGATIVE if result["failed"] else EXIT_OK


def _message(home: Path, given: Given) -> Message:
    names = ("to", "type", "thread", "reply_to", "receipt")
    header = {name: getattr(given, name) for name in names if getattr(given, name)}
    if given.bare and header.keys() - {"to"}:
        why = "a bare frame has text alone: no type, thread, reply or receipt"
        raise TalkError("INVALID_ARGUMENT", why)
    port = given.from_port or port_named(home, getattr(given, "from"))
    name = TalkPlace(home, port).public.get("name", "")
    return Message(
        _body(given), {"from": name, "from_port": port, "id": sending.new_id(), **header}
    )


def _body(given: Given) -> bytes:
    """The bytes to send: at most one more than may be sent."""
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
    seconds = given.timeout or listener.ONCE_SECONDS
    listener.wait_for_one(TalkPlace(home, given.port), given.tls, seconds)

    def show_one(result: Mapping[str, Any]) -> None:
        nothing = {"status": "no_message", "timeout": seconds}
        show({**({"status": "received"} if result["messages"] else nothing), **result})

    _check(home, Given(port=given.port, clear=True, limit=1, unread=False, thread=None), show_one)


def _place(home: Path, given: Given) -> TalkPlace:
    return TalkPlace(home, given.port or port_named(home, given.name))


COMMANDS: Mapping[str, TalkCommand] = {
    "listen": TalkCommand(
        _listen,
        "Start, stop or look at a listener in the background",
        "verb --port --name --message-file --tls",
    ),
    "check": TalkCommand(
        _check,
        "Read the messages that have come",
        "--port|--name --clear --limit --unread --thread",
    ),
    "send": TalkCommand(
        _send,
        "Send a message",
        "--to-port|--to|--broadcast --from-port|--from --message|--message-file"
        " --type --thread --reply-to --receipt --bare --tls --timeout",
    ),
    "discover": TalkCommand(_discover, "List the listeners that run"),
    "listen-once": TalkCommand(
        _once, "Wait for one message, without a background listener", "--port| --timeout --tls"
    ),
}
