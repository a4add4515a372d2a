"""`python -m bench.seen.prompts REPOSITORIES`: what a packet makes of the prompts of every day.

`everyday.tsv` has a prompt a line: its kind, language, repository, the files that it is about and
its text, and each was written before the packet was asked. `everyday` names nothing as code does,
`task` does, `foreign` is about other projects than any here, `plain` is no task; so are all lines
of `prompts.txt`. REPOSITORIES is a folder with clones named owner+repository.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.scratch import clone_of
from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

HERE = Path(__file__).parent


class Prompt(NamedTuple):
    """One prompt; without a repository it is asked of all."""

    kind: str
    language: str
    repository: str
    files: str
    text: str


def main(arguments: list[str]) -> int:
    """Print by kind of prompt how many got a packet, and of which the first file is right."""
    clones = Path(arguments[0])
    os.environ.setdefault("TERSELY_GIT_ELSEWHERE", str(clones.resolve()))
    prompts = list(read_prompts())
    figures: dict[str, list[bool]] = defaultdict(list)
    for repository in dict.fromkeys(one.repository for one in prompts if one.repository):
        clone = clone_of(clones, repository)
        if clone is None:
            print(f"{repository}: left out, there is no clone")
            continue
        with Workspace.open(clone) as workspace:
            workspace.refresh()
            workspace.refreshes = False
            for prompt in prompts:
                if prompt.repository in ("", repository):
                    for name, value in _judged(workspace, prompt):
                        figures[name].append(value)
    for name, values in sorted(figures.items()):
        print(f"{name}: {sum(values)} of {len(values)}, {sum(values) / len(values):.3f}")
    return 0


def read_prompts() -> Iterable[Prompt]:
    """All prompts."""
    for line in (HERE / "everyday.tsv").read_text("utf-8").splitlines():
        yield Prompt(*line.split("\t"))
    for line in (HERE / "prompts.txt").read_text("utf-8").splitlines():
        yield Prompt("plain, short", "en", "", "", line)


def _judged(workspace: Workspace, prompt: Prompt) -> Iterable[tuple[str, bool]]:
    packet = ask(workspace, "code.packet", task=prompt.text)
    yield f"{prompt.kind}: speaks", packet.speaks
    if prompt.files:
        is_right = packet.speaks and packet.rows[0].path in prompt.files.split()
        yield f"{prompt.kind}: first file right", is_right
        yield f"{prompt.kind}, {prompt.language}: first file right", is_right


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
