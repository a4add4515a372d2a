"""The table of hosts and of families of models, known before anybody is asked: `model_table.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tersely.agent.models.wire import BEARER
from tersely.foundation.types import JsonObject

# What names of models contain, and whose they are. The first that is found counts: a distilled
# model is called by both.
_FAMILIES = (
    "deepseek",
    "qwen",
    "codestral",
    "devstral",
    "mistral",
    "gemma",
    "granite",
    "phi",
    "glm",
    "gpt-oss",
    "llama",
)


class Host(NamedTuple):
    """A host that serves models; a `name` that begins with a dot is that of every host below it."""

    name: str
    variable: str  # of the environment, with a key that is sent to this host alone
    kind: str = "openai"
    key_header: str = BEARER


class FamilyFigures(NamedTuple):
    """The sizes of a family of models: tokens of the window and of one answer, 0 for what is not
    known.
    """

    window: int = 0
    output: int = 0
    thinks: bool = False  # it can be told whether to reason
    sees: bool = False  # pictures
    open: bool = False  # anybody can serve it, with another window


def host_of(name: str) -> Host | None:
    """The host of that name in the table, None where nothing is known of it."""
    lowered = name.lower()
    return next(
        (host for host in _hosts() if host.name == lowered or _is_below(lowered, host.name)), None
    )


def figures_of(model: str, *, is_hosted: bool) -> FamilyFigures:
    """The figures of a model's family, by its name; of an open family only at a host that is known."""
    name = model.lower().rpartition("/")[2]
    fitting = [prefix for prefix in _figures() if name.startswith(prefix)]
    found = _figures()[max(fitting, key=len)] if fitting else FamilyFigures()
    return FamilyFigures() if found.open and not is_hosted else found


def family_of(model: str) -> str:
    """The maker of a model by its name, "" where that says nothing."""
    return next((family for family in _FAMILIES if family in model.lower()), "")


def _is_below(name: str, domain: str) -> bool:
    return domain.startswith(".") and name.endswith(domain)


@cache
def _table() -> JsonObject:
    return tomllib.loads((files(__package__) / "model_table.toml").read_text("utf-8"))


@cache
def _hosts() -> tuple[Host, ...]:
    return tuple(Host(each.pop("host"), **each) for each in map(dict, _table()["host"]))


@cache
def _figures() -> dict[str, FamilyFigures]:
    return {prefix: FamilyFigures(**each) for prefix, each in _table()["family"].items()}
