"""As whom commands ask the relay: an agent that is run says so to the programs that it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tersely.capabilities.declaration import Parameter

NAME_VARIABLE = "TERSELY_AGENT"  # the name of the agent that runs the command
TOKEN_VARIABLE = "TERSELY_TOKEN"  # noqa: S105 - the name of a variable, by which it shows that the name is its own
TOKEN = "token"  # noqa: S105 - the name of a parameter


def with_token(
    declared: Sequence[Parameter], arguments: Mapping[str, object], environment: Mapping[str, str]
) -> dict[str, object]:
    """The arguments with what shows who asks, where the question takes it and says nothing else."""
    takes_token = any(parameter.name == TOKEN for parameter in declared)
    token = environment.get(TOKEN_VARIABLE, "")
    return {TOKEN: token, **arguments} if takes_token and token else dict(arguments)
