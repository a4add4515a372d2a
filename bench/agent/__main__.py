"""`python -m bench.agent REPOSITORY`: the tokens of a first request, and how much of a long session
is cached.

The first request is that for "hello", rendered in ChatML (the template of Qwen and others) and
counted as cl100k: by tiktoken where it has that vocabulary, else as o200k_base times its factor,
with the margin of `foundation.tokens`.

The session has 50 turns about a copy of the repository: questions that are answered after two
looks, edits that unlock a tier, commands that unlock the next. A real llama.cpp server replays the
script and says of each request how many tokens it found in its cache.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import results
from bench.modelserver.scripts import Reply, write_scripted
from bench.modelserver.server import Server
from bench.results import Row, Table
from bench.scratch import copied
from tersely.agent.agent import CodingAgent
from tersely.agent.events import Compacted, Event, TurnEnded, Unlocked, Usage
from tersely.agent.models.connecting import connect
from tersely.agent.models.protocol import Prompt
from tersely.agent.opening import WantedAgent, open_agent
from tersely.agent.tools.approvals import Verdict
from tersely.agent.tools.toolbox import Choices
from tersely.foundation.text.tokens import Tokenizer

ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
TURNS = 50
# tokens, and of the least part that the server reuses
WINDOWS = ((16_384, 0), (8_192, 0), (8_192, 128))
NOTES = "NOTES.txt"
ALLOWED = Choices(policy=dict.fromkeys(range(4), Verdict.ALLOW))
COMMAND = "python -m bench.agent REPOSITORY --record"
FIRST = Table(
    "Prompts of the agent: the first request",
    COMMAND,
    "tools|how_many:,|tokens:,|counted",
    "In ChatML, tokens of cl100k.",
)
SESSIONS = Table(
    "Prompts of the agent: sessions of 50 turns",
    COMMAND,
    "window:,|cache_reuse:,|answered:,|requests:,|unlocks:,|compactions:,|prompt_tokens:,|largest:,|cached_percent:.2f",
    "With a real llama.cpp server, which says what it found in its cache.",
    names=2,
)


def script() -> list[Reply]:
    """What follows a message that has certain words in it: calls, and answers to what they gave."""
    edit = f"<call edit>\npath: {NOTES}\nstart: 1\nend: 1\n--- body\n"
    return [
        Reply("<call list>\npath: .\n</call>", when="where is"),
        Reply(
            f"I look there.\n<call read>\npath: {NOTES}\nstart: 1\nend: 6\n</call>", when="list:\n"
        ),
        Reply(f"{edit}first\n</call>", when="please change"),
        Reply(f"{edit}second\n</call>", when="please edit"),
        Reply("Line 1 says it now.", when="line 1 replaced"),
        Reply("<call bash>\n--- command\nwc -l *.txt\n</call>", when="run the count"),
        Reply("That many lines.", when="bash:\n"),
        Reply(
            "It is said in the first lines, where all of it begins; nothing else is needed for it.",
            when="read:\n",
        ),
        Reply(
            "The user asks where things are and has notes changed.", when="Summarise this session"
        ),
    ]


def message(turn: int) -> str:
    """What the user says in a turn: mostly questions, now and then a change, a command after a
    third of the session.
    """
    if turn % 7 == 3:
        return f"please {'change' if turn % 2 else 'edit'} the notes ({turn})"
    if turn % 9 == 8 and turn > TURNS // 3:
        return f"run the count ({turn})"
    return f"where is it said, for the question number {turn}?"


def rendered(prompt: Prompt) -> str:
    """A prompt in ChatML, up to where the answer begins."""
    said = "".join(f"<|im_start|>{one.role}\n{one.content}<|im_end|>\n" for one in prompt)
    return f"{said}<|im_start|>assistant\n"


def cl100k(text: str) -> tuple[int, str]:
    """Its tokens, and how they were counted."""
    try:
        import tiktoken

        return len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text)), "tiktoken"
    except Exception:  # noqa: BLE001 - the vocabulary is fetched, and there may be no network
        return Tokenizer("cl100k").count(text), "estimated from above"


async def first_requests(url: str, root: Path) -> list[Row]:
    """Tokens of the first request for "hello", and with all tools of tier 1 unlocked."""
    rows: list[Row] = []
    for name, words in (("hello", "hello"), ("tier 1", "fix it")):
        agent = await opened(url, root, 0)
        agent.conversation.retrieves = True
        async for _ in agent.run(words):
            pass
        prompt = agent.session.prompt()[:2]
        tokens, counted = cl100k(rendered(prompt))
        rows.append(
            {
                "tools": name,
                "how_many": len(agent.conversation.unlocked()),
                "tokens": tokens,
                "counted": counted,
            }
        )
        await closed(agent)
    return rows


async def opened(url: str, root: Path, window: int) -> CodingAgent:
    """An agent in the repository that may do everything."""
    model = await connect(url, window=window)
    return await open_agent(
        model, WantedAgent(root, root.parent / "chats", ANSWER_WORDS, choices=ALLOWED)
    )


async def closed(agent: CodingAgent) -> None:
    """Let go of it and of its model."""
    model = agent.conversation.model
    await agent.close()
    await model.close()


async def session(url: str, root: Path, window: int) -> Row:
    """One session: what the server said of its requests."""
    agent = await opened(url, root, window)
    agent.conversation.retrieves = False
    events: list[Event] = []
    for turn in range(TURNS):
        print(f"turn {turn + 1}", end="\r", file=sys.stderr)
        events += [event async for event in agent.run(message(turn))]
    await closed(agent)
    return {"window": window, **_session_figures(events)}


def _session_figures(events: Sequence[Event]) -> Row:
    """What the events of a session tell."""
    answered = [
        event for event in events if isinstance(event, TurnEnded) and event.reason == "answered"
    ]
    usages = [event for event in events if isinstance(event, Usage)]
    prompts = [event.prompt_tokens for event in usages]
    cached = sum(event.cached_tokens or 0 for event in usages)
    return {
        "answered": len(answered),
        "requests": len(usages),
        "unlocks": sum(isinstance(event, Unlocked) for event in events),
        "compactions": sum(isinstance(event, Compacted) for event in events),
        "prompt_tokens": sum(prompts),
        "cached_percent": round(100 * cached / sum(prompts), 2),
        "largest": max(prompts),
    }


def main(arguments: list[str]) -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(prog="python -m bench.agent", description=__doc__)
    parser.add_argument("repository", type=Path, help="a source tree, copied")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    with copied(options.repository) as root:
        (root / NOTES).write_text(
            "".join(f"note {number} of this repository\n" for number in range(40))
        )
        subprocess.run(["git", "init", "-q", root], check=True)
        path = root.parent / "scripted.gguf"
        write_scripted(path, script())
        rows: list[Row] = []
        for window, reuse in WINDOWS:
            with Server(path, window, reuse=reuse) as server:
                if not rows:
                    first = asyncio.run(first_requests(server.url, root))
                rows.append(
                    {**asyncio.run(session(server.url, root, window)), "cache_reuse": reuse}
                )
            print(rows[-1], flush=True)
    about = f"About {options.repository.name}."
    results.report(
        "agent", [FIRST.filled(first, about), SESSIONS.filled(rows, about)], options.record
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
