"""An answer of 8,000 tokens, streamed into our log and into Textual's `MarkdownStream`: `python -m bench.tui`.

Both in one process on a headless terminal of 100 x 40 cells, in portions of four characters: once as fast as the
screen takes them, once at 1,000 tokens a second. Meanwhile a task that only sleeps says how long it was kept waiting.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from textual import work
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from bench import results
from bench.results import Row, Table
from bench.tui.scripted import Scripted, screen_of, shown
from tersely.agent.events import Event, Reason, TextDelta, TurnEnded
from tersely.foundation.clock import Stopwatch
from tersely.foundation.tokens import Tokenizer
from tersely.tui.app import ChatApp, spare_collector
from tersely.tui.prompt import Prompt

ROOT = Path(__file__).parents[2]
TOKENS = 8_000
PORTION_CHARACTERS = 4
PACE_TOKENS_PER_SECOND = 1_000
SIZE = (100, 40)
LOOK_SECONDS = 0.002  # between two looks of the task that only sleeps
SEEN_SECONDS = 0.05  # between two looks at the screen
PATIENCE_SECONDS = 600
IDLE_SECONDS = 5
END = "That was all of it."
TABLE = Table(
    "The screen of the agent",
    "python -m bench.tui --record",
    "screen|given_tokens_a_second|shown_tokens_a_second:,.0f|longest_stall_ms:,.0f|its_cpu_ms:,.0f",
    "Until the end of the answer is seen; *idle* is our screen with nothing to do.",
    names=2,
)


class Run(NamedTuple):
    """Until the end of the answer stands on the screen.

    The longest time between two turns of the event loop, by the clock and in CPU time of its thread, in milliseconds.
    """

    seconds: float
    tokens_per_second: float
    stall_ms: float
    stall_cpu_ms: float


class Stalls:
    """How long the event loop keeps others waiting."""

    def __init__(self) -> None:
        self.longest_seconds = self.longest_cpu_seconds = 0.0

    async def watch(self) -> None:
        """Look, sleep, look."""
        while True:
            watch, cpu = Stopwatch(), time.thread_time()
            await asyncio.sleep(LOOK_SECONDS)
            self.longest_seconds = max(self.longest_seconds, watch.seconds() - LOOK_SECONDS)
            self.longest_cpu_seconds = max(self.longest_cpu_seconds, time.thread_time() - cpu)


def answer() -> tuple[list[str], int]:
    """Documents of this repository in portions, and how many tokens they are; the last line is waited for."""
    text = "\n\n".join(path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
    tokenizer = Tokenizer()
    text = f"{tokenizer.truncate(text, TOKENS)}\n\n```\n```\n\n{END}\n"
    return [text[at : at + PORTION_CHARACTERS] for at in range(0, len(text), PORTION_CHARACTERS)], tokenizer.count(text)


async def portions(tokens_per_second: float, written: asyncio.Event) -> AsyncIterator[str]:
    """The answer as it comes from a model; 0: as fast as it is taken. `written` is set at its end."""
    texts, tokens = answer()
    watch = Stopwatch()
    for at, text in enumerate(texts):
        ahead = at * tokens / len(texts) / tokens_per_second - watch.seconds() if tokens_per_second else 0.0
        await asyncio.sleep(max(0.0, ahead))
        yield text
    written.set()


class Answering(Scripted):
    """An agent that only gives the answer."""

    def __init__(self, tokens_per_second: float) -> None:
        super().__init__()
        self.tokens_per_second = tokens_per_second
        self.written = asyncio.Event()

    async def run(self, message: str, pasted: Sequence[str] = ()) -> AsyncIterator[Event]:
        """One turn."""
        async for text in portions(self.tokens_per_second, self.written):
            yield TextDelta(1, text)
        yield TurnEnded(1, Reason.ANSWERED)


class Peer(App[None]):
    """The answer in Textual's own widget."""

    def compose(self) -> ComposeResult:
        """As its documentation has it."""
        with VerticalScroll(id="scroll"):
            yield Markdown()

    @work
    async def write(self, tokens_per_second: float, written: asyncio.Event) -> None:
        """All of the answer."""
        self.query_one("#scroll", VerticalScroll).anchor()
        stream = Markdown.get_stream(self.query_one(Markdown))
        async for text in portions(tokens_per_second, written):
            await stream.write(text)
        await stream.stop()


async def ours(tokens_per_second: float) -> Run:
    """Our screen, the whole of it."""
    agent = Answering(tokens_per_second)
    app = ChatApp(agent)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("h", "i")
        return await _measured(app, lambda: screen_of(app).on_prompt_sent(Prompt.Sent("hi")), agent.written)


async def peer(tokens_per_second: float) -> Run:
    """Textual's."""
    app, written = Peer(), asyncio.Event()
    async with app.run_test(size=SIZE):
        return await _measured(app, lambda: app.write(tokens_per_second, written), written)


async def _measured(app: App[None], start: Callable[[], object], written: asyncio.Event) -> Run:
    spare_collector()
    stalls, watch = Stalls(), Stopwatch()
    looking = asyncio.create_task(stalls.watch())
    start()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await written.wait()  # painting the screen only to look at it would be a stall of our own
        while END not in shown(app):
            await asyncio.sleep(SEEN_SECONDS)
    looking.cancel()
    seconds, tokens = watch.seconds(), answer()[1]
    return Run(seconds, tokens / seconds, stalls.longest_seconds * 1000, stalls.longest_cpu_seconds * 1000)


async def idle() -> Run:
    """Our screen with nothing to do: what of the stalls is the machine's."""
    async with ChatApp(Scripted()).run_test(size=SIZE):
        stalls = Stalls()
        looking = asyncio.create_task(stalls.watch())
        await asyncio.sleep(IDLE_SECONDS)
        looking.cancel()
    return Run(IDLE_SECONDS, 0.0, stalls.longest_seconds * 1000, stalls.longest_cpu_seconds * 1000)


def main() -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.tui", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/RESULTS.md")
    parser.add_argument("--ours", action="store_true", help="leave Textual's widget out")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name, measure in (("tersely", ours), ("MarkdownStream", peer))[: 1 if arguments.ours else 2]:
        for pace in (0, PACE_TOKENS_PER_SECOND):
            run = asyncio.run(measure(pace))
            given = f"{pace:,}" if pace else "all that it takes"
            shown_rate = {"given_tokens_a_second": given, "shown_tokens_a_second": run.tokens_per_second}
            rows.append({"screen": name, **shown_rate, **_stalls(run)})
    rows.append({"screen": "idle", **_stalls(asyncio.run(idle()))})
    results.report("tui", [TABLE.filled(rows, f"An answer of {answer()[1]:,} tokens.")], arguments.record)
    return 0


def _stalls(run: Run) -> Row:
    return {"longest_stall_ms": run.stall_ms, "its_cpu_ms": run.stall_cpu_ms}


if __name__ == "__main__":
    sys.exit(main())
