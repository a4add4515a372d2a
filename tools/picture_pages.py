"""Take the pictures of the pages that docs/relay.md shows: `python -m tools.picture_pages
[FOLDER]`.

It starts a relay of its own with five agents that talk, signs a Chromium in as a person does, and
writes PNG files of at most 150 kB into docs. Chromium and its driver have to be installed.
"""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.doors.http import chromium
from tests.own_terminal import at_terminal

from tersely.client import Client
from tersely.client.peer import Peer

MOST_BYTES = 150_000
SCREEN = """\
● I'll run the tests of the parser before I change it.

● Bash(pytest tests/parser -q)
  ⎿  .......F....                                [100%]
     FAILED tests/parser/test_dates.py::test_leap_years

● The rule for centuries is missing. May I touch src/shop/calendar.py?

  ->relay:mia May I change src/shop/calendar.py while you work on invoices?

╭──────────────────────────────────────────────────────────╮
│ >                                                        │
╰──────────────────────────────────────────────────────────╯
"""
AGENTS = (
    ("ada", "parse dates of all locales", "working", SCREEN),
    ("ben", "migrate the store to version 3", "waits for permission", ""),
    ("mia", "invoices as PDF", "working", ""),
    ("noor", "review of the changes of today", "idle", ""),
    ("tomas-the-one-with-a-long-name", "documentation", "idle", ""),
)
MESSAGES = (
    ("ada", "mia", "May I change src/shop/calendar.py while you work on invoices?"),
    ("mia", "noor", "The totals are rounded per line now. Is that what finance wants?"),
    ("noor", "mia", "Yes, per line."),
    ("noor", "ada", "The test of leap years fails on main as well."),
    ("ben", "cli", "The migration needs 40 minutes on the copy. Shall I run it tonight?"),
    ("ben", "noor", "Please look at 0003_lines.sql first."),
    ("noor", "ben", "Reading it now."),
    ("noor", "ben", "Two indexes are missing, see my notes."),
)
PICTURES = (("", 1280, "light", "relay-now"), ("agent?name=ada", 390, "light", "relay-agent"),
            ("messages", 390, "dark", "relay-messages"))  # fmt: skip


@contextmanager
def relay_of(home: Path) -> Iterator[None]:
    """A relay that listens at a free port."""
    command = [sys.executable, "-m", "tersely"]
    subprocess.run([*command, "up", "--port", "0"], check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run([*command, "down"], check=True, stdout=subprocess.DEVNULL)


async def play(home: Path, is_over: asyncio.Event) -> None:
    """Everybody comes, works and talks, and stays until it is over."""
    peers = {}
    for name, task, state, screen in AGENTS:
        peers[name] = await Peer.connect(
            name, home=home, task=task, program="claude", project="shop"
        )
        peers[name].tell_state(state, screen)
    for sender, to, body in MESSAGES:
        await peers[sender].send(to, body, queue=True)
    await is_over.wait()
    for peer in peers.values():
        await peer.close()


def work() -> None:
    """What is claimed, on the board, and waited for."""
    claims = {"ada": "src/shop/calendar.py", "mia": "src/shop/invoices/*.py", "ben": "migrations/"}
    for name, target in claims.items():
        with Client.local(name) as client:
            client.ask("claim.take", targets=[target], why="on the board", project="shop")
    with Client.local("noor") as client:
        for step in ("dates of all locales", "invoices as PDF", "migrate the store", "release 3.0"):
            client.ask(
                "board.add",
                step=step,
                project="shop",
                needs=["b1", "b2"] if step.startswith("release") else [],
            )
        client.ask(
            "artifact.put",
            thread="",
            content="The release waits for two items.\n" * 400,
            name="notes.md",
        )
    for name in ("ada", "mia"):
        with Client.local(name) as client:
            client.ask("board.take", project="shop")


def wait_for_permission() -> None:
    """As the hook of an agent asks."""
    with Client.local("ben") as client:
        client.ask(
            "permission.ask",
            tool="Bash",
            what="python manage.py migrate --database=staging",
            seconds=5,
        )


def main(words: list[str]) -> None:
    """Write the pictures."""
    folder = Path(words[0]) if words else Path(__file__).parents[1] / "docs"
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        os.environ["TERSELY_HOME"] = str(home)
        os.environ.pop("TERSELY_AGENT", None)
        with relay_of(home):
            loop, is_over = asyncio.new_event_loop(), asyncio.Event()
            playing = threading.Thread(
                target=loop.run_until_complete, args=(play(home, is_over),), daemon=True
            )
            playing.start()
            work()
            threading.Thread(target=wait_for_permission, daemon=True).start()
            source = "from tersely.client import Client; print(Client.local('cli').page(''))"
            url = at_terminal(sys.executable, "-c", source)
            with chromium.browser(Path(place) / "browser") as browser:
                browser.go(url)
                browser.wait_for("document.title.startsWith('Now')")
                for path, width, scheme, name in PICTURES:
                    browser.look(width, scheme)
                    browser.go(f"{url.partition('/ui/')[0]}/ui/{path}")
                    browser.wait_for(
                        "document.getElementById('live').textContent.startsWith('Live')"
                    )
                    file = folder / f"{name}.png"
                    taken = browser.devtools("Page.captureScreenshot", {"format": "png"})
                    content = base64.b64decode(taken["data"])
                    if len(content) > MOST_BYTES:
                        sys.exit(
                            f"{file} would have {len(content):,} bytes, more than {MOST_BYTES:,}"
                        )
                    file.write_bytes(content)
                    sys.stdout.write(f"{file} {len(content):,} bytes\n")
            loop.call_soon_threadsafe(is_over.set)
            playing.join()


if __name__ == "__main__":
    main(sys.argv[1:])
