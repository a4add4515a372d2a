"""As whom commands ask the relay, and about which project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tersely.capabilities.declaration import Parameter
from tersely.cli.paths import from_root
from tersely.foundation.git.project import project_of
from tersely.foundation.roots import find_root

NAME_VARIABLE = "TERSELY_AGENT"  # the name of the agent that runs the command
TOKEN_VARIABLE = "TERSELY_TOKEN"  # noqa: S105 - the name of a variable, by which it shows that the name is its own
TOKEN, PROJECT, ROOT = "token", "project", "root"  # parameters that who asks leaves out


def completed(
    declared: Sequence[Parameter], arguments: Mapping[str, object], environment: Mapping[str, str], directory: Path
) -> dict[str, object]:
    """The arguments of a question with what the place says in which it is asked, where the question takes it.

    That is what shows who asks, the project, and paths as they are from its root.
    """
    names = {parameter.name for parameter in declared}
    token = environment.get(TOKEN_VARIABLE, "")
    given: dict[str, object] = {TOKEN: token} if TOKEN in names and token else {}
    if PROJECT not in names:
        return {**given, **arguments}
    root = find_root(directory).resolve()
    given |= {PROJECT: project_of(str(root)), ROOT: str(root)}
    return {**given, **from_root(root, declared, arguments, directory)}
