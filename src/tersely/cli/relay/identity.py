"""As whom commands ask the relay, and about which project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tersely.capabilities.declaration.declaration import Parameter
from tersely.capabilities.relay.context import PERSON
from tersely.cli.arguments import from_root
from tersely.foundation.process.ancestry import agent_name
from tersely.foundation.storage.roots import enclosing_root
from tersely.foundation.types import Environment, JsonMapping

PROJECT, ROOT = "project", "root"  # parameters that who asks leaves out


def asker(environment: Environment) -> str:
    """As whom a process asks: the agent that runs it, else the person."""
    return agent_name(environment, os.getppid()) or PERSON


def completed(
    declared: Sequence[Parameter],
    arguments: JsonMapping,
    directory: Path,
) -> dict[str, object]:
    """The arguments of a question with what the place says in which it is asked, where the question
    takes it.

    That is the project, and paths as they are from its root.
    """
    names = {parameter.name for parameter in declared}
    if PROJECT not in names:
        return dict(arguments)
    root = Path(enclosing_root(os.path.realpath(directory)))
    return {ROOT: str(root), **from_root(root, declared, arguments, directory)}
