"""A model for tests with real agents that shares a file with another: it knows no name, no peer and
no command.

All that it does it has read in its requests: who it is, and what writes, reads, claims and gives
back, be that commands for a shell or tools. What it can by itself is to read English and to fill in
the places of a form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.wrap.scripted_model import NAMESPACE, Asked, Reply

EARLY_POLLS = 15  # for whatever tells it how to work with others
POLLS = 40  # after which one that nobody asks for anything ends
WAIT_SECONDS = 1
COMMAND_SECONDS = 30  # that one may take on a busy machine
_SHELLS = ("Bash", "bash", "exec_command", "run_shell_command")
_USE = r"(`[^`]+`|\w+\([^)]*\))"  # a command, or a tool with its arguments
_TOLD = {
    "me": r"You are (\S+) among other agents",
    "send": rf"{_USE} writes or answers",
    "inbox": rf"{_USE} is your mail",
    "claim": rf"{_USE} before you change a file",
    "release": rf"{_USE} after;",
}
_TASK = re.compile(r"please change ([\w.-]+)")
_WISH = re.compile(r"\d+ (\S+) [\d: -]+\s+[^\n]*may I have")
_HOLDER = re.compile(r"is held by (\S+)")
_MINE, _FREE = "yours until", "is free now"


class _Done(NamedTuple):
    """A step that was taken, and what came of it."""

    step: str
    result: str


def teammate(asked: Asked) -> Reply:
    """Claim the file, change it, give it to whoever asks for it; ask whoever holds it."""
    text = "\n".join(turn.text for turn in asked.turns if turn.role != "call")
    shell = next((name for name in _SHELLS if name in asked.tools), "")
    task = _TASK.search(text)
    if not shell or task is None:
        return Reply("Good.")
    told = {name: re.findall(pattern, text) for name, pattern in _TOLD.items()}
    if not all(told.values()):  # servers begin while the first requests are sent already
        calls = sum(turn.role == "call" for turn in asked.turns)
        return (
            _pause(asked, shell)
            if calls < EARLY_POLLS
            else Reply("Nobody has told me how to work with others.")
        )
    return _next(_Hands(asked, shell, told), task[1], text)


class _Hands:
    """Does what it was told, by the shell or by tools, and remembers what came of it."""

    def __init__(self, asked: Asked, shell: str, told: Mapping[str, Sequence[str]]) -> None:
        self._asked = asked
        self._shell = shell
        self._told = told
        self.me = told["me"][0]
        results = [turn.text for turn in asked.turns if turn.role == "tool"]
        steps = [
            step
            for turn in asked.turns
            if turn.role == "call"
            for step in [_step_of(turn.text, told)]
        ]
        self.done = [_Done(step, result) for step, result in zip(steps, results, strict=False)]

    def use(self, what: str, *values: str) -> Reply:
        """Use what it was told for this, each place of the form filled in, in order."""
        form = self._form(what).strip("`")
        if form == self._form(what):
            tool, _, names = form.removesuffix(")").partition("(")
            return self._tool(tool, dict(zip(names.split(", "), values, strict=False)))
        left = list(values)
        words = [left.pop(0) if left and _is_place(word) else word for word in form.split(" ")]
        quoted = [f'"{word}"' if " " in word else word for word in [*words, *left]]
        return self.run(" ".join(quoted))

    def wait(self) -> Reply:
        """Wait for a message by a tool, or do something else for a while, where commands tell of
        messages.
        """
        if self._form("inbox").endswith(")"):
            return self.use("inbox", str(WAIT_SECONDS))
        return _pause(self._asked, self._shell)

    def run(self, command: str) -> Reply:
        """A command of the shell."""
        return _run(self._asked, self._shell, command)

    def _form(self, what: str) -> str:
        """A command, where it was told of one: a server may begin later, and tell of its tools in
        the middle.
        """
        forms = self._told[what]
        return next((form for form in forms if form.startswith("`")), forms[0])

    def _tool(self, name: str, values: Mapping[str, str]) -> Reply:
        full = next(
            one
            for one in self._asked.tools
            if one == name or one.endswith((f"__{name}", f"_{name}"))
        )
        schema = self._asked.tools[full]
        given: dict[str, Any] = {NAMESPACE: schema[NAMESPACE]} if schema.get(NAMESPACE) else {}
        for parameter, value in values.items():
            kind = schema["properties"][parameter]["type"]
            given[parameter] = (
                [value] if kind == "array" else float(value) if kind == "number" else value
            )
        return Reply(tool=full, arguments=given)


def _pause(asked: Asked, shell: str) -> Reply:
    """A while, each in other words: agents end a model that repeats itself."""
    number = sum(turn.role == "call" for turn in asked.turns)
    return _run(asked, shell, f"sleep {WAIT_SECONDS}; echo {number}")


def _run(asked: Asked, shell: str, command: str) -> Reply:
    known = asked.tools[shell].get("properties", {})
    wanted = {
        "command": command,
        "cmd": command,
        "description": "go on",
        "yield_time_ms": COMMAND_SECONDS * 1000,  # Codex else goes on without the result
    }
    return Reply(
        tool=shell, arguments={name: value for name, value in wanted.items() if name in known}
    )


def _is_place(word: str) -> bool:
    """Whether a word of a form is there to be replaced: PATH, or "text"."""
    return word.isupper() or (word.startswith('"') and word.endswith('"'))


def _step_of(call: str, told: Mapping[str, Sequence[str]]) -> str:
    """Which step a call was, by what was called."""
    name, _, arguments = call.partition(" ")
    for step, forms in told.items():
        commands = [
            " ".join(form.strip("`").split(" ")[:2]) for form in forms if form.startswith("`")
        ]
        tools = [form.partition("(")[0] for form in forms if form.endswith(")")]
        if any(command in arguments for command in commands) or any(
            name.endswith(tool) for tool in tools
        ):
            return step
    return "change" if ">>" in arguments else "work"


def _next(hands: _Hands, file: str, text: str) -> Reply:
    done = hands.done
    if all(one.step == "work" for one in done):
        return hands.use("claim", file)
    last, wish = done[-1], _WISH.search(text)
    taken = [one.step for one in done]
    if last.step == "claim":
        holder = _HOLDER.search(last.result)
        if holder:
            return hands.use("send", holder[1], f"may I have {file}?")
        return (
            hands.run(f"echo {hands.me} >> {file}")
            if _MINE in last.result
            else Reply("I do not understand.")
        )
    if "release" in taken:
        is_told = "send" in taken[taken.index("release") :]
        return (
            Reply("Done.")
            if is_told or wish is None
            else hands.use("send", wish[1], f"{file} {_FREE}")
        )
    if "change" in taken:
        if wish is not None:
            return hands.use("release", file)
        return Reply("Done.") if "send" in taken or len(done) > POLLS else hands.wait()
    if _FREE in text:
        return hands.use("claim", file)
    return Reply("Nobody answers.") if len(done) > POLLS else hands.wait()
