"""The commands: words in, one JSON object out, also where something went wrong.

A program that has these commands among its own may show the objects otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from . import checking, lifecycle, place, sending
from .checking import Wanted
from .failures import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, EXIT_PIPE_CLOSED, TalkError, told
from .frames import MAX_MESSAGE_BYTES
from .messages import MAX_FIELD_CHARACTERS, TEXT, TYPES, Message, value_of
from .place import Listening, Place, checked_port, live

SEND_SECONDS = 10.0  # for a message to be taken, where nothing else is said
ONCE_SECONDS = 5.0  # for a message to come, where nothing else is said
MAX_SECONDS = 3_600.0  # that may be asked for
_BEYOND_ASCII = re.compile("[^ -~]")
# Letters that are drawn as nothing, and selectors that spell invisible words: Python calls them
# printable.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    map(chr, range(0xE0100, 0xE01F0))
)
# blanks and joiners that texts need: it calls them unprintable
_VISIBLE = frozenset("\u00a0\u3000\u200c\u200d")


Show = Callable[[Mapping[str, Any]], None]


def main(words: Sequence[str], program: str = "talk", show: Show | None = None) -> int:
    """Run a command and show its result, as JSON if `show` is not given; the exit status."""
    show = show or print_json
    return answered(lambda: _run(words, program, show), show)


def answered(run: Callable[[], int], show: Show) -> int:
    """The exit status of a command, whose failure is shown as well."""
    try:
        return run()
    except TalkError as error:
        show(told(error))
        return error.exit_status
    except SystemExit:  # help was asked for, and printed
        return EXIT_OK


def script(name: str) -> NoReturn:
    """Be the script of one command."""
    program([name, *sys.argv[1:]], "")


def program(words: Sequence[str], name: str) -> NoReturn:
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


class Parser(argparse.ArgumentParser):
    """Says in JSON what it cannot read."""

    def error(self, message: str) -> NoReturn:
        """Raise `INVALID_ARGUMENT`."""
        raise TalkError("INVALID_ARGUMENT", message, usage=" ".join(self.format_usage().split()))


def _run(words: Sequence[str], program: str, show: Show) -> int:
    parser = Parser(
        prog=program or "scripts", description="Messages between agents on this machine."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (declare, run, summary) in COMMANDS.items():
        prog = f"{program} {name}" if program else f"{name}.py"
        one = commands.add_parser(
            name,
            prog=prog,
            help=summary,
            description=f"{summary}.",
            allow_abbrev=False,
            aliases=ALIASES.get(name, ()),
        )
        add_json(one)
        one.set_defaults(run=run, show=show)
        declare(one)
    given = parser.parse_args(list(words))
    status: int = given.run(given)
    return status


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare the option that other programs than this one have: here everything is JSON."""
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


def _declare_listen(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="start|stop|status", parser_class=Parser
    )
    for verb in ("start", "stop", "status"):
        one = verbs.add_parser(verb, allow_abbrev=False)
        add_json(one)
        one.add_argument("--port", help="where it listens; with --name any free port will do")
        one.add_argument("--name", default="", help="a name for it")
        if verb == "start":
            one.add_argument(
                "--message-file",
                default="",
                help="where messages go, instead of the inbox of the port",
            )
            one.add_argument("--tls", action="store_true", help="speak TLS only")


def _listen(given: argparse.Namespace) -> int:
    home = place.home()
    if given.verb != "start":
        at = _place(home, given)
        return _done(given, lifecycle.stop(at) if given.verb == "stop" else lifecycle.status(at))
    name = checked_name(given.name)
    if given.port is None and not name:
        raise TalkError("INVALID_ARGUMENT", "a listener needs a --port or a --name")
    port = 0 if given.port is None else checked_port(given.port)
    path = str(Path(given.message_file).expanduser().absolute()) if given.message_file else ""
    return _done(given, lifecycle.start(Listening(home, port, path, name, given.tls)))


def _declare_check(parser: argparse.ArgumentParser) -> None:
    _add_place(parser)
    parser.add_argument("--clear", action="store_true", help="remove the messages that are shown")
    parser.add_argument("--limit", help="how many to show at most, the oldest first")
    parser.add_argument(
        "--unread", action="store_true", help="only messages that were not shown before"
    )
    parser.add_argument("--thread", default="", help="only messages of one conversation")
    parser.add_argument(
        "--receipts", action="store_true", help="show which sent messages were read instead"
    )


def _check(given: argparse.Namespace) -> int:
    home = place.home()
    at = _place(home, given)
    wanted = Wanted(_count(given.limit), given.clear, given.unread, given.thread)
    if given.receipts:
        with checking.receipts(at, wanted) as result:
            given.show(result)
        return EXIT_OK
    return _show(given.show, home, at, wanted)


def _show(show: Show, home: Path, at: Place, wanted: Wanted) -> int:
    """Show messages, then tell those of their senders who asked for it that they were read."""
    with checking.checked(at, wanted) as (result, unread):
        show(result)
    for failure in sending.send_receipts(home, at.port, unread):
        sys.stderr.write(_escaped(failure) + "\n")
    return EXIT_OK


def _declare_send(parser: argparse.ArgumentParser) -> None:
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-port", help="the recipient's port")
    to.add_argument("--to", help="the recipient's name")
    to.add_argument(
        "--broadcast", action="store_true", help="all listeners of this user but the sender's"
    )
    sender = parser.add_mutually_exclusive_group(required=True)
    sender.add_argument("--from-port", help="the sender's own port, for replies")
    sender.add_argument("--from", dest="from_name", help="the name of the sender's own listener")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--message", help="the text")
    what.add_argument("--message-file", help="a file that has it; - is the standard input")
    parser.add_argument("--type", choices=TYPES, default=TEXT, help="the type of the message")
    parser.add_argument("--thread", default="", help="its conversation, any word")
    parser.add_argument("--reply-to", default="", help="the id of the message that it answers")
    parser.add_argument(
        "--receipt", action="store_true", help="ask for a receipt when the message is read"
    )
    parser.add_argument("--id", default="", help="send again under the same id: it is stored once")
    parser.add_argument("--tls", action="store_true", help="speak TLS, also to listeners of others")
    parser.add_argument(
        "--bare", action="store_true", help="send only <length>:<message>, and wait for no answer"
    )
    parser.add_argument("--timeout", default=SEND_SECONDS, help="seconds to wait")


def _send(given: argparse.Namespace) -> int:
    seconds, home = _seconds(given.timeout), place.home()
    if given.to_port is not None:
        given.to_port = checked_port(given.to_port)
    how = sending.Sending(home, seconds, given.tls, given.bare)
    message = _message(home, given)
    if not given.broadcast:
        if given.to_port is not None:
            return _done(given, sending.send(how, message, given.to_port))
        return _done(given, sending.send(how, *_routed(home, message)))
    ports = [one["port"] for one in live(home) if one["port"] != message.sender_port]
    if not ports:
        raise TalkError("LISTENER_NOT_RUNNING", "no other listener runs")
    result = sending.broadcast(how, message, ports)
    given.show(result)
    return EXIT_OK if result["status"] == "sent" else EXIT_NEGATIVE


def _routed(home: Path, message: Message) -> tuple[Message, int]:
    """The listener to which a message to a name goes: that of the name, else the sender's own if
    that is joined.
    """
    try:
        return message, lifecycle.port_named(home, message.to)
    except TalkError as error:
        own = next((one for one in live(home) if one["port"] == message.sender_port), {})
        if error.code != "UNKNOWN_NAME" or not own.get("relay"):
            raise
        return replace(message, key=own["relay_key"]), own["port"]


def _message(home: Path, given: argparse.Namespace) -> Message:
    port = (
        checked_port(given.from_port)
        if given.from_port is not None
        else lifecycle.port_named(home, given.from_name)
    )
    extras = given.type != TEXT or given.thread or given.reply_to or given.receipt or given.id
    if given.bare and extras:
        raise TalkError(
            "INVALID_ARGUMENT", "a bare frame has text alone: no type, thread, reply, receipt or id"
        )
    message = Message(
        _body(given),
        sender_port=port,
        sender=place.record_of(home / str(port)).get("name", ""),
        to=given.to or "",
        id=given.id or sending.new_id(),
        type=given.type,
        thread=given.thread,
        reply_to=given.reply_to,
        wants_receipt=given.receipt,
    )
    value_of(message)
    return message


def _body(given: argparse.Namespace) -> bytes:
    """The bytes to send: at most one more than may be sent."""
    if given.message is not None:
        return os.fsencode(given.message)
    try:
        if given.message_file == "-":
            return sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1)
        with open(given.message_file, "rb") as file:
            return file.read(MAX_MESSAGE_BYTES + 1)
    except OSError as error:
        path = str(given.message_file)
        raise TalkError("INVALID_ARGUMENT", f"{path}: {error.strerror}", path=path) from error


def _declare_discover(parser: argparse.ArgumentParser) -> None:
    """It takes no words."""


def _discover(given: argparse.Namespace) -> int:
    return _done(given, lifecycle.discover(place.home()))


def _declare_once(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", required=True, help="where to listen")
    parser.add_argument("--timeout", default=ONCE_SECONDS, help="seconds to wait")
    parser.add_argument("--tls", action="store_true", help="speak TLS only")


def _once(given: argparse.Namespace) -> int:
    home, seconds = place.home(), _seconds(given.timeout)
    at = Place.of(home, checked_port(given.port))
    from .once import wait_for_one  # loads asyncio

    wait_for_one(Listening(home, at.port, str(at.inbox), tls=given.tls), at, seconds)

    def show(result: Mapping[str, Any]) -> None:
        said = {key: value for key, value in result.items() if key != "listener_running"}
        status = (
            {"status": "received"}
            if said["messages"]
            else {"status": "no_message", "timeout": seconds}
        )
        given.show({**status, **said})

    return _show(show, home, at, Wanted(1, clear=True))


def _add_place(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--port", help="the port of the listener")
    which.add_argument("--name", default="", help="its name")


def _place(home: Path, given: argparse.Namespace) -> Place:
    if given.port is None and not given.name:
        raise TalkError("INVALID_ARGUMENT", "say which listener: --port or --name")
    port = (
        checked_port(given.port)
        if given.port is not None
        else lifecycle.port_named(home, given.name)
    )
    return Place.of(home, port)


def checked_name(word: str) -> str:
    """A name for a listener: a port could not be told from a number."""
    if word and (word.isdigit() or not word.isprintable() or len(word) > MAX_FIELD_CHARACTERS):
        raise TalkError("INVALID_ARGUMENT", "a name is a short word and no number", name=word)
    return word


def _count(word: str | None) -> int | None:
    if word is not None and not (word.isascii() and word.isdigit() and len(word) < 10):
        raise TalkError("INVALID_ARGUMENT", "--limit is a number of messages", limit=word)
    return None if word is None else int(word)


def _seconds(word: str | float) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_SECONDS:
        raise TalkError(
            "INVALID_ARGUMENT",
            f"--timeout is in seconds, at most {MAX_SECONDS:g}",
            timeout=str(word),
        )
    return int(seconds) if seconds.is_integer() else seconds


def _done(given: argparse.Namespace, result: Mapping[str, Any]) -> int:
    """Show a result; the exit status."""
    given.show(result)
    return EXIT_OK


def print_json(result: Mapping[str, Any]) -> None:
    """Print and flush: what counts as printed has left this process."""
    text = json_line(result)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(result)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def json_line(value: Any) -> str:
    """A value as JSON, hidden characters as its escapes."""
    return _escaped(json.dumps(value, ensure_ascii=False))


def _escaped(text: str) -> str:
    """The text with hidden characters as escapes of JSON, so that an object still means the same."""
    return _BEYOND_ASCII.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    char = found[0]
    is_visible = char in _VISIBLE or (char.isprintable() and char not in _INVISIBLE)
    return char if is_visible else json.dumps(char)[1:-1]


# the word that other programs have for it
ALIASES: Mapping[str, Sequence[str]] = {"discover": ("list",)}

_Declare = Callable[[argparse.ArgumentParser], None]
_Run = Callable[[argparse.Namespace], int]

COMMANDS: Mapping[str, tuple[_Declare, _Run, str]] = {
    "listen": (_declare_listen, _listen, "Start, stop or look at a listener in the background"),
    "check": (_declare_check, _check, "Read the messages that have come"),
    "send": (_declare_send, _send, "Send a message"),
    "discover": (_declare_discover, _discover, "List the listeners that run"),
    "listen-once": (
        _declare_once,
        _once,
        "Wait for one message, without a listener in the background",
    ),
}
