"""As whom commands ask the relay, and about which project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tersely.capabilities.declaration import Parameter
from tersely.capabilities.relay.context import PERSON
from tersely.cli.paths import from_root
from tersely.foundation.process.ancestry import TOKEN_VARIABLE, agent_name
from tersely.foundation.roots import find_root

TOKEN, PROJECT, ROOT = "token", "project", "root"  # parameters that who asks leaves out


def asker(environment: Mapping[str, str]) -> str:
    """As whom a process asks: the agent that runs it, else the person."""
    return agent_name(environment, os.getppid()) or PERSON


def completed(
    declared: Sequence[Parameter],
    arguments: Mapping[str, object],
    environment: Mapping[str, str],
    directory: Path,
) -> dict[str, object]:
    """The arguments of a question with what the place says in which it is asked, where the question
    takes it.

    That is what shows who asks, the project, and paths as they are from its root.
    """
    names = {parameter.name for parameter in declared}
    token = environment.get(TOKEN_VARIABLE, "")
    given: dict[str, object] = {TOKEN: token} if TOKEN in names and token else {}
    if PROJECT not in names:
        return {**given, **arguments}
    root = find_root(directory).resolve()
    given |= {ROOT: str(root)}
    return {**given, **from_root(root, declared, arguments, directory)}
