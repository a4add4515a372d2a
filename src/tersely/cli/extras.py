"""Packages that come with an extra of ours, and may not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from tersely.foundation.errors import TerselyError


class Extra(StrEnum):
    """Those that commands need, by their names in `pyproject.toml`."""

    AGENT = "agent"
    MCP = "mcp"
    RELAY = "relay"


# What is imported of each.
_PACKAGES = {
    Extra.AGENT: ("h11", "markdown_it", "textual"),
    Extra.MCP: ("mcp", "mcp_types", "anyio", "uvicorn"),
    Extra.RELAY: ("jsonpatch", "msgspec", "starlette", "uvicorn"),
}


def missing_packages(extra: Extra) -> list[str]:
    """The packages of an extra that are not installed."""
    from importlib.util import find_spec

    return [name for name in _PACKAGES[extra] if find_spec(name) is None]


def need_extra(extra: Extra) -> None:
    """Raise `missing_extra` where an extra was not installed."""
    if names := missing_packages(extra):
        raise _missing(extra, names[0])


@contextmanager
def with_extra(extra: Extra, instead: str = "") -> Iterator[None]:
    """Turn the failed import of a package of an extra into `missing_extra`; that of any other is a defect.

    `instead` says what does without it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _PACKAGES[extra]:
            raise
        raise _missing(extra, package, instead) from error


def _missing(extra: Extra, package: str, instead: str = "") -> TerselyError:
    hint = f"pip install 'tersely[{extra.value}]' installs what is needed{instead and f'; {instead}'}"
    return TerselyError("missing_extra", f"the package {package} is not installed", hint)
