"""`python -m bench.seen.prompts REPOSITORY…`: how often a packet is silent where a prompt is no
task.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

PROMPTS = Path(__file__).with_name("prompts.txt")


def main(repositories: list[str]) -> int:
    """Print a line a repository: the share of silent prompts, and the prompts that got a packet."""
    prompts = PROMPTS.read_text("utf-8").splitlines()
    for repository in repositories:
        with Workspace.open(repository) as workspace:
            workspace.refresh()
            workspace.refreshes = False
            spoken = [
                prompt for prompt in prompts if ask(workspace, "code.packet", task=prompt).speaks
            ]
        silent = 1 - len(spoken) / len(prompts)
        print(
            f"{Path(repository).name}: {silent:.3f} of {len(prompts)} silent; not: {', '.join(spoken) or 'none'}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
