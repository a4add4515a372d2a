"""Three agents work on one question about a repository through a relay, in ten steps: what that
sends, and what pasting would have sent.

    python -m bench.relay_run [REPOSITORY --symbol NAME --query WORDS]

Nothing is modelled: a relay process is started in a home of its own, and each step asks it. *naive*
is what the relay accounts for a step: the whole files that its answer stands for, or the whole
artifact. *actual* is what it accounts as sent. *received* is counted here, apart from the relay:
all JSON that the agent got, with hashes, keys and provenance.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.results import Row, Table, report
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.client import Client, ask, relay_process
from tersely.foundation.text.tokens import Tokenizer
from tersely.relay.wire.home import NO_PORT

HERE = Path(__file__).parents[1]
BUDGET = 2_000
TABLE = Table(
    "Ten steps through the relay",
    "python -m bench.relay_run --record",
    "agent|step|naive:,|actual:,|received:,",
    "In tokens. *naive*: the whole files that an answer stands for, or the whole artifact. *actual*: what the relay "
    "accounts as sent. *received*: all JSON of the answers, with hashes, keys and previews beside the text.",
    names=2,
)


class Step(NamedTuple):
    """One step: who, what, and how it asks; `answers` are those of the steps before."""

    agent: str
    what: str
    asks: Callable[[Client, str, list[Any]], Any]


class Subject(NamedTuple):
    """What the agents look into."""

    symbol: str
    query: str


def steps(about: Subject) -> Iterator[Step]:
    """The ten."""

    def invoke(capability: str, **arguments: Any) -> Callable[[Client, str, list[Any]], Any]:
        return lambda relay, thread, answers: relay(
            ask("cap_invoke", thread_id=thread, capability=capability, args=arguments)
        )

    def note(relay: Client, thread: str, answers: list[Any]) -> Any:
        found = [{"ref": one.artifact_ref, "type": "code"} for one in answers[:2]]
        patch = [{"op": "add", "path": "/artifacts/-", "value": one} for one in found]
        plan = {
            "id": "p1",
            "step": f"find what a change of {about.symbol} reaches",
            "status": "pending",
        }
        return relay.ask(
            "state.patch",
            thread=thread,
            patch=[*patch, {"op": "add", "path": "/plan/-", "value": plan}],
        )

    def header(relay: Client, thread: str, answers: list[Any]) -> Any:
        return relay.ask("state.header", thread=thread)

    def decide(relay: Client, thread: str, answers: list[Any]) -> Any:
        decision = {"id": "d1", "description": f"keep the interface of {about.symbol}"}
        return relay.ask(
            "state.patch",
            thread=thread,
            patch=[{"op": "add", "path": "/decisions/-", "value": decision}],
        )

    pack = {"symbols": [about.symbol], "budget": BUDGET}
    yield Step("planner", "code.map", invoke("code.map", budget=BUDGET))
    yield Step("planner", "code.search", invoke("code.search", query=[about.query]))
    yield Step("planner", "state patch", note)
    yield Step("coder", "state header", header)
    yield Step("coder", "code.context", invoke("code.context", **pack))
    yield Step("coder", "code.impact", invoke("code.impact", symbol=about.symbol))
    yield Step("reviewer", "code.context, the same", invoke("code.context", **pack))
    yield Step("reviewer", "code.symbol.get", invoke("code.symbol.get", symbol=about.symbol))
    yield Step(
        "reviewer",
        "retrieval.search",
        invoke("retrieval.search", query=about.symbol.rpartition(".")[2]),
    )
    yield Step("reviewer", "state patch", decide)


def measure(root: Path, about: Subject) -> list[Row]:
    """A row a step, and one of the sums."""
    count = Tokenizer().count
    rows: list[Row] = []
    with _relay(root) as home:
        with Client.local("planner", home) as relay:
            thread = relay.ask("thread.new", name="ten steps").thread_id
        answers: list[Any] = []
        before = _figures(home, thread)
        for step in steps(about):
            with Client.local(step.agent, home) as relay:
                answers.append(step.asks(relay, thread, answers))
            after = _figures(home, thread)
            received = count(msgspec.json.encode(answers[-1]).decode())
            row = {"agent": step.agent, "step": step.what, "received": received}
            rows.append({**row, "naive": after[0] - before[0], "actual": after[1] - before[1]})
            before = after
    sums = {name: sum(row[name] for row in rows) for name in ("naive", "actual", "received")}
    return [*rows, {"agent": "all", "step": "", **sums}]


def _figures(home: Path, thread: str) -> tuple[int, int]:
    with Client.local("looker", home) as relay:
        told = relay.ask("token.savings", thread=thread)
    return told.naive_tokens, told.actual_tokens


@contextmanager
def _relay(root: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        relay_process.start(home, NO_PORT, str(root), ANSWER_WORDS)
        try:
            yield home
        finally:
            relay_process.stop(home)


def main() -> int:
    """Run the ten steps and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m bench.relay_run", description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path, default=HERE)
    parser.add_argument("--symbol", default="Calls.invoke", help="what the agents are about")
    parser.add_argument(
        "--query",
        default="answer a call of a capability from the cache",
        help="what one searches for",
    )
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/RESULTS.md"
    )
    arguments = parser.parse_args()
    rows = measure(arguments.repository.resolve(), Subject(arguments.symbol, arguments.query))
    about = f"Three agents and `{arguments.symbol}` of {arguments.repository.resolve().name}."
    report("relay_run", [TABLE.filled(rows, about)], arguments.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
