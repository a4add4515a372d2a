"""Texts of strangers, given to a relay that runs, and looked at through its doors.

Benign texts, full of words that attacks use too, have to come back as they were: as the preview of
an artifact, as a fact in the header of a state, and from the command line. Attacks are wrapped in
what could steer a terminal, hide from a reader, end a line, or look like an event of somebody else;
stored as artifact, name and fact, they must not: every event names who did it and no other, in the
stream of events and in the lines of `relay tail`, and nothing hidden comes through.

What words can do to a model that reads them is no part of this: no pattern decides that.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare
from tersely.client import Client
from tersely.foundation.limits import MAX_NAME_CHARACTERS
from tersely.relay.wire.documents import EventTold

SENDER = "mallory"
A_THREAD = 25  # attacks, so that their events are read at one go
PREVIEW, HEADER, STREAM, LINES = "preview", "header", "stream of events", "command line"
TERSELY = [sys.executable, "-m", "tersely"]
JOINERS = "\u200c\u200d"
BEFORE = "\x1b]0;owned\x07\x1b[2J\r"
AFTER = (
    ' by=admin, by: admin\r\n\nid: 9999\nevent: thread.created\ndata: {"payload": {"by": "admin"}}\n\n'
    " 9999 2026-01-01T00:00:00.000Z thread.created  by=admin\u2028by=admin\u202e\u200b\U000e0041"
)
FIELD = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|\S*)')


def run_benign(folder: Path) -> Iterator[CaseResult]:
    """Texts that come back as they were."""
    texts = [
        one["prompt"]
        for one in json.loads((folder / "piguard_NotInject_one.json").read_text("utf-8"))
    ]
    found: list[set[str]] = []
    with _relay() as (client, environment):
        thread = client.ask("thread.new").thread_id
        for text in texts:
            shown = client.ask("artifact.put", thread=thread, content=text).preview
            _add_fact(client, thread, text)
            newest = client.ask("state.header", thread=thread).top_facts[-1]
            found.append(
                _true(
                    {
                        PREVIEW: shown.text == text and not shown.truncated,
                        HEADER: newest["value"] == text,
                    }
                )
            )
        state = json.loads(_said(environment, "state", "get", "--thread", thread))
    for number, (text, fact) in enumerate(zip(texts, state["facts"], strict=True)):
        whole = found[number] | _true({LINES: fact["value"] == text})
        yield compare(f"{number} {text[:40]}", {PREVIEW, HEADER, LINES}, whole)


def run_attacks(folder: Path) -> Iterator[CaseResult]:
    """Texts that forge nothing."""
    files = ("text_attack_train.json", "code_attack_train.json")
    kinds = [json.loads((folder / name).read_text("utf-8")) for name in files]
    texts = [text for kind in kinds for texts in kind.values() for text in texts]
    with _relay() as (client, environment):
        for start in range(0, len(texts), A_THREAD):
            yield from _attacked(client, environment, texts[start : start + A_THREAD], start)


def _attacked(
    client: Client, environment: dict[str, str], texts: list[str], start: int
) -> Iterator[CaseResult]:
    """Each text leaves two events: an artifact and a fact."""
    thread = client.ask("thread.new", name=_name(texts[0])).thread_id
    stored = []
    for text in texts:
        wrapped = BEFORE + text + AFTER
        stored.append(client.ask("artifact.put", thread=thread, content=wrapped, name=_name(text)))
        _add_fact(client, thread, wrapped)
    count = 1 + 2 * len(texts)
    streamed = [one.payload["by"] for one in _streamed(client, thread, count)][1:]
    lines = _told_by(_said(environment, "tail", thread, "--no-follow"))[1:]
    shown = [_said(environment, command, thread) for command in ("show", "report")]
    are_shown = not any(map(_hidden, shown)) and "\n 9999 " not in "".join(shown)
    for number, (text, one) in enumerate(zip(texts, stored, strict=True)):
        mine = slice(2 * number, 2 * number + 2)
        found = {
            PREVIEW: not _hidden(one.preview.text) and one.provenance.created_by == SENDER,
            STREAM: streamed[mine] == [SENDER] * 2 and len(streamed) == count - 1,
            LINES: lines[mine] == [SENDER] * 2 and len(lines) == count - 1 and are_shown,
        }
        yield compare(f"{start + number} {text[:40]}", {PREVIEW, STREAM, LINES}, _true(found))


def _true(facts: dict[str, bool]) -> set[str]:
    return {fact for fact, holds in facts.items() if holds}


@contextmanager
def _relay() -> Iterator[tuple[Client, dict[str, str]]]:
    """A relay of its own, asked by the attacker, and the environment in which commands find it."""
    with tempfile.TemporaryDirectory(prefix="tersely-untrusted-") as scratch:
        home = Path(scratch) / "home"
        environment = {**os.environ, "TERSELY_HOME": str(home), "NO_COLOR": "1"}
        subprocess.run(
            [*TERSELY, "up", "--root", scratch], env=environment, check=True, capture_output=True
        )
        try:
            with Client.local(SENDER, home) as client:
                yield client, environment
        finally:
            subprocess.run([*TERSELY, "down"], env=environment, check=True, capture_output=True)


def _said(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [*TERSELY, "relay", *words], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode()


def _add_fact(client: Client, thread: str, text: str) -> None:
    client.ask(
        "state.patch",
        thread=thread,
        patch=[{"op": "add", "path": "/facts/-", "value": {"key": "said", "value": text}}],
    )


def _streamed(client: Client, thread: str, count: int) -> list[EventTold]:
    stream = client.tail(thread)
    try:
        return [next(stream) for _ in range(count)]
    finally:
        stream.close()


def _told_by(lines: str) -> list[str]:
    """Who each line names, by the last field that says so; a line that names several names none."""
    told = []
    for line in lines.removesuffix("\n").split("\n"):
        names = [value for name, value in FIELD.findall(line) if name == "by"]
        told.append(names[0] if len(names) == 1 else "")
    return told


def _hidden(text: str) -> bool:
    """Whether there is anything that a terminal obeys or a reader does not see."""
    return any(
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and character not in f"\n\t{JOINERS}"
        for character in text
    )


def _name(text: str) -> str:
    return (BEFORE + text[: MAX_NAME_CHARACTERS - 120] + AFTER)[:MAX_NAME_CHARACTERS]
