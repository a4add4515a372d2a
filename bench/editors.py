"""`python -m bench.editors REPOSITORY [--record]`: what an editor waits for the language server.

A copy of the repository is indexed and its daemon is warm. Definitions of functions and classes are
chosen by chance; each is asked about in five ways, and once more when all were: the daemon
remembers those answers.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from bench import results
from bench.results import Row, Table
from bench.scratch import copied
from tersely.foundation.clock import elapsed_seconds

CHOSEN = 120  # definitions
SEED = 5
PART_CHARACTERS = 5  # of a name that is typed into a search for symbols
MILLISECONDS = 1_000
WAITED = Table(
    "Questions of editors",
    "python -m bench.editors REPOSITORY --record",
    "question|first_p50:.0f|first_p95:.0f|again_p50:.0f|again_p95:.0f",
    "Indexed, its daemon warm; ms through `tersely lsp`, one question at a time, about definitions chosen by chance. "
    "Aimed at, as 95 % of first questions: 50, references 300.",
)
_DEFINITION = re.compile(r"\s*(?:async )?(?:def|class) (\w+)")


class Definition(NamedTuple):
    """Where the name of a definition stands, counted from 0."""

    path: Path
    line: int
    column: int
    name: str


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.editors", description=__doc__)
    parser.add_argument("repository", type=Path, help="a source tree of Python, copied")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    asked = parser.parse_args(arguments)
    with copied(asked.repository) as root:
        os.environ["XDG_RUNTIME_DIR"] = os.environ["TMPDIR"] = os.environ["HOME"] = str(root.parent)
        subprocess.run(
            [sys.executable, "-m", "tersely", "warm", "--root", str(root)],
            check=True,
            capture_output=True,
        )
        try:
            rows = asyncio.run(_measured(root))
        finally:
            subprocess.run(
                [sys.executable, "-m", "tersely", "daemon", "stop", "--root", str(root)],
                check=False,
            )
    results.report("editors", [WAITED.filled(rows, f"{asked.repository.name}.")], asked.record)
    return 0


async def _measured(root: Path) -> list[Row]:
    chosen = random.Random(SEED).sample(sorted(_definitions(root)), CHOSEN)
    seconds: dict[str, dict[str, list[float]]] = {}
    client = LanguageClient("bench", "1")
    await client.start_io(sys.executable, "-m", "tersely", "lsp", cwd=root)
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    await client.initialize_async(
        types.InitializeParams(
            types.ClientCapabilities(), root_uri=root.as_uri(), workspace_folders=[folder]
        )
    )
    client.initialized(types.InitializedParams())
    for when in ("first", "again"):
        for one in chosen:
            for question, took in await _asked(client, one):
                seconds.setdefault(question, {}).setdefault(when, []).append(took)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return [_row(question, times) for question, times in seconds.items()]


async def _asked(client: LanguageClient, one: Definition) -> list[tuple[str, float]]:
    """Each question about a definition, and how long its answer took."""
    took: list[tuple[str, float]] = []

    async def timed(question: str, asking: Callable[[], Awaitable[Any]]) -> Any:
        begun = elapsed_seconds()
        answer = await asking()
        took.append((question, elapsed_seconds() - begun))
        return answer

    place: dict[str, Any] = {
        "text_document": types.TextDocumentIdentifier(one.path.as_uri()),
        "position": types.Position(one.line, one.column),
    }
    part = types.WorkspaceSymbolParams(one.name[:PART_CHARACTERS])
    await timed("symbols", lambda: client.workspace_symbol_async(part))
    prepare = types.CallHierarchyPrepareParams(**place)
    items = await timed(
        "prepare", lambda: client.text_document_prepare_call_hierarchy_async(prepare)
    )
    context = types.ReferenceContext(include_declaration=True)
    references = types.ReferenceParams(context, **place)
    await timed("references", lambda: client.text_document_references_async(references))
    for item in items or []:
        incoming, outgoing = (
            types.CallHierarchyIncomingCallsParams(item),
            types.CallHierarchyOutgoingCallsParams(item),
        )
        await timed("incoming", partial(client.call_hierarchy_incoming_calls_async, incoming))
        await timed("outgoing", partial(client.call_hierarchy_outgoing_calls_async, outgoing))
    return took


def _definitions(root: Path) -> Iterator[Definition]:
    for path in root.rglob("*.py"):
        if "tests" not in path.parts:
            for number, line in enumerate(path.read_text("utf-8", "replace").split("\n")):
                if found := _DEFINITION.match(line):
                    yield Definition(path, number, found.start(1), found[1])


def _row(question: str, times: dict[str, list[float]]) -> Row:
    row: Row = {"question": question}
    for when, seconds in times.items():
        row[f"{when}_p50"] = MILLISECONDS * _share(seconds, 0.5)
        row[f"{when}_p95"] = MILLISECONDS * _share(seconds, 0.95)
    return row


def _share(seconds: Sequence[float], share: float) -> float:
    return sorted(seconds)[max(0, int(len(seconds) * share) - 1)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
