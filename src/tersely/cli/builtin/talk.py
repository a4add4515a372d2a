"""`tersely talk`: the commands of `scripts/`, answered in words like every other command, and in
JSON with `--json`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tersely.ai_talk import commands
from tersely.capabilities.answers.text import aligned
from tersely.cli.help.overview import JOIN, TALK
from tersely.cli.printing.terminal import write
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible, visible_line

# of the options that stand before a command
_TAKEN = frozenset({"--json", "--quiet", "--help", "-h"})


def run_talk(program: str, leading: Sequence[str], words: Sequence[str]) -> int:
    """Run a command of talk, `leading` being the options before it; the exit status. Raises
    `usage`.
    """
    others = [word for word in leading if word not in _TAKEN]
    if others:
        raise TerselyError(
            "usage", f"{TALK} takes no {others[0]}", f"{program} {TALK} --help lists the commands"
        )
    help_words = [word for word in leading if word in {"--help", "-h"}]
    show = commands.print_json if "--json" in (*leading, *words) else _print_words
    if words[:1] == [JOIN]:
        from tersely.client.talk import main as join

        return join([*words[1:], *help_words], f"{program} {TALK} {JOIN}", show)
    return commands.main([*help_words, *words], f"{program} {TALK}", show)


def _print_words(result: Mapping[str, Any]) -> None:
    """Print a result and flush: what counts as printed has left this process."""
    stream = sys.stderr if result.get("status") == "error" else sys.stdout
    write(stream, _words(result))
    stream.flush()


def _words(result: Mapping[str, Any]) -> str:
    """A result as lines, told apart by what it has."""
    if "error_code" in result:
        return f"{result['error_code']}: {visible_line(result['error_message'])}\n"
    if "listeners" in result:
        return _listeners(result["listeners"])
    if "messages" in result:
        return _messages(result)
    if "receipts" in result:
        return _lines((_receipt(one) for one in result["receipts"]), "no receipts")
    return _sent(result) if "message_length" in result else _listener(result)


def _lines(lines: Iterable[str], nothing: str) -> str:
    return "".join(f"{visible_line(line)}\n" for line in lines) or f"{nothing}\n"


def _listeners(listeners: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [one.get("name", "-"), f"port {one['port']}", f"since {one['started']}", _how(one)]
        for one in listeners
    ]
    return _lines(aligned(rows), "no listener runs")


def _how(listener: Mapping[str, Any]) -> str:
    said = {"tls": "TLS only", "relay": "joined to the relay"}
    return ", ".join(words for key, words in said.items() if listener.get(key))


def _messages(result: Mapping[str, Any]) -> str:
    blocks = [_message(one) for one in result["messages"]] or ["no messages\n"]
    if result.get("more"):
        blocks.append(f"{result['more']:,} more messages: leave out --limit\n")
    if result.get("listener_running") is False:
        blocks.append(f"nobody listens on port {result['port']}\n")
    return "\n".join(blocks)


def _message(message: Mapping[str, Any]) -> str:
    """The writer, the time and the subject, then the text, indented so that none looks like another
    message's head.
    """
    sender = message.get("from") or _port(message.get("sender_port"))
    about = [f"{key} {message[key]}" for key in ("id", "thread", "reply_to") if message.get(key)]
    head = visible_line(f"{sender}, {', '.join([message.get('timestamp', ''), *about])}:")
    text = message.get("message", "")
    body = text if isinstance(text, str) else commands.json_line(text)
    return "\n".join([head, *(f"  {line}" for line in visible(body).split("\n"))]) + "\n"


def _port(port: int | None) -> str:
    return "unknown sender" if port is None else f"port {port}"


def _receipt(receipt: Mapping[str, Any]) -> str:
    return f"{receipt.get('id')}: {receipt.get('receipt')} by {_port(receipt.get('by_port'))}"


def _sent(result: Mapping[str, Any]) -> str:
    if "failed" not in result:
        return _lines([_sent_line(result)], "")
    ports = ", ".join(str(one["to_port"]) for one in result["sent"])
    failed = [f"not to port {one['to_port']}: {one['error_message']}" for one in result["failed"]]
    return _lines(
        [f"{_phrase(result['status'])} to ports {ports or '-'}, id {result['id']}", *failed], ""
    )


def _sent_line(result: Mapping[str, Any]) -> str:
    to = f"{result['to']} through the relay" if "relay" in result else _port(result["to_port"])
    known = [f"id {result['id']}"] if "id" in result else []
    doubt = [] if result["acknowledged"] else ["not acknowledged"]
    return ", ".join([f"sent to {to}", *known, *doubt])


def _listener(result: Mapping[str, Any]) -> str:
    name = f", {result['name']}" if result.get("name") else ""
    waiting = (
        f": {result['message_count']:,} messages, {result['unread']:,} unread"
        if "unread" in result
        else ""
    )
    return _lines([f"{_phrase(result['status'])} on port {result['port']}{name}{waiting}"], "")


def _phrase(status: str) -> str:
    return status.replace("_", " ")
