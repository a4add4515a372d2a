"""A relay, and programs wrapped in real sessions of tmux."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.cli.relay_home import Home, home_of
from tests.wrap.screens import close_all

from tersely.client.peer import Delivery, Peer
from tersely.foundation.clock import Stopwatch
from tersely.relay.wire.envelopes import ServiceFailure

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.02  # between the first two looks; each further one is half as late again
LONGEST_LOOK_SECONDS = 0.25

FoundT = TypeVar("FoundT")


def wait_for(look: Callable[[], FoundT], what: str = "") -> FoundT:
    """What `look` gives once it gives something."""
    watch, nothing, pause = Stopwatch(), threading.Event(), LOOK_SECONDS
    while not (found := look()):
        assert watch.seconds() < PATIENCE_SECONDS, f"{what or look} has not come"
        nothing.wait(pause)
        pause = min(1.5 * pause, LONGEST_LOOK_SECONDS)
    return found


@pytest.fixture(autouse=True)
def screens() -> Iterator[None]:
    """Screens end with their test."""
    yield
    close_all()


class Tmux:
    """A server of tmux of one test's own, and the programs that run in it."""

    def __init__(self, home: Path, folder: Path, directory: Path) -> None:
        self.folder = folder
        self.directory = directory
        self.environment = {**os.environ, "TERSELY_HOME": str(home), "TMUX_TMPDIR": str(folder)}
        self.environment.pop("TMUX", None)

    def run(self, name: str, *words: str, options: Sequence[str] = ("--trust-screen",)) -> None:
        self.run_under(name, (), words, options)

    def run_under(
        self, name: str, before: Sequence[str], words: Sequence[str], options: Sequence[str] = ()
    ) -> None:
        """Run a program wrapped; words like `env` may stand before the wrapper's own."""
        command = [
            sys.executable,
            "-m",
            "tersely",
            "run",
            "--no-start",
            "--no-brief",
            "--tmux",
            "--name",
            name,
        ]
        done = subprocess.run(
            [*before, *command, *options, "--", *words], env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS, check=False, cwd=self.directory,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert f"tmux attach -t tersely-{name}" in done.stdout

    def ask(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def screen(self, name: str) -> str:
        return self.ask("capture-pane", "-p", "-J", "-S", "-", "-t", f"tersely-{name}:")

    def keys(self, name: str, *keys: str) -> None:
        self.ask("send-keys", "-t", f"tersely-{name}:", *keys)

    def shows(self, name: str, text: str) -> str:
        def look() -> str:
            shown = self.screen(name)
            return shown if text in shown else ""

        try:
            return wait_for(look, f"{text!r} on the screen of {name}")
        except AssertionError:
            raise AssertionError(
                f"{text!r} is not on the screen of {name}:\n{self.screen(name)}"
            ) from None

    def close(self) -> None:
        self.ask("kill-server")


class Friend:
    """Somebody at the relay whom a test speaks for; a loop of its own has the connection."""

    def __init__(self, home: Path, name: str, **given: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.received: list[Delivery] = []
        self.receipts: list[tuple[str, str]] = []
        self.questions: list[tuple[str, dict[str, Any]]] = []
        self.answer: Callable[[str, dict[str, Any]], Any] = lambda method, params: None
        self.peer = self.do(Peer.connect(name, home=home, **given))
        self.peer.on_receipt = lambda one: self.receipts.append((one.sent_id, one.stage))
        self.peer.on_request = self._asked
        self._reading = asyncio.run_coroutine_threadsafe(self._read(), self._loop)

    def do(self, what: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE_SECONDS)

    def send(self, to: str, body: str, **given: Any) -> Any:
        return self.do(self.peer.send(to, body, receipts=True, **given))

    def gets(self, body: str) -> Delivery:
        return wait_for(
            lambda: next((one for one in self.received if body in one.body), None), f"{body!r}"
        )

    def close(self) -> None:
        self.do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        await self.peer.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _read(self) -> None:
        async for delivery in self.peer.deliveries():
            self.received.append(delivery)
            await self.peer.ack(delivery)

    def _asked(self, request_id: str, sender: str, payload: Any) -> None:
        self.questions.append((payload["method"], payload["params"]))
        given = self.answer(payload["method"], payload["params"])
        if isinstance(given, tuple):
            self.peer.answer(request_id, error=ServiceFailure(*given))
        else:
            self.peer.answer(request_id, given)


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    root = tmp_path_factory.mktemp("root")
    (root / "kettle.py").write_text(
        "def boil(water):\n    return heat(water)\n\n\ndef heat(water):\n    return water\n"
    )
    with home_of(tmp_path_factory.mktemp("home") / "relay", root) as home:
        home.up()
        yield home


@pytest.fixture
def tmux(relay: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    server = Tmux(relay.home, tmp_path_factory.mktemp("t"), relay.root)
    yield server
    server.close()


@pytest.fixture
def friend(relay: Home) -> Iterator[Callable[..., Friend]]:
    friends: list[Friend] = []

    def make(name: str, **given: Any) -> Friend:
        friends.append(Friend(relay.home, name, **given))
        return friends[-1]

    yield make
    for one in friends:
        one.close()


def sent_lines(log: Path) -> list[str]:
    """What a full-screen program was sent."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
