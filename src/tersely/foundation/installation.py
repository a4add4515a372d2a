"""The installation of this copy of Tersely, and so the command that mends it. Loaded only where
something is missing.

No command names the project alone: a package index could answer that with another one.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tersely
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject

_DISTRIBUTION = "tersely"
_NAME = re.compile(r"[\w.-]+")  # of a requirement, before its range and markers


def damaged(what: str) -> TerselyError:
    """The error for a part of this copy that is missing or is not what it should be."""
    return TerselyError("damaged_installation", what, repair_hint())


def missing_module(error: ModuleNotFoundError) -> TerselyError:
    """The error for a failed import: everything that is imported comes with the installation."""
    return damaged(f"the Python module {error.name} is not installed")


def missing_requirements() -> list[str]:
    """The distributions that this copy needs and that are not installed; none where that is not
    known.
    """
    found = _distribution()
    needed = [line for line in (found.requires if found else None) or () if "extra ==" not in line]
    names = [match.group() for line in needed if (match := _NAME.match(line))]
    return [name for name in names if not _is_installed(name)]


def repair_hint() -> str:
    """The advice that installs this copy again, as a command where its source is known."""
    found = _distribution()
    origin = json.loads((found and found.read_text("direct_url.json")) or "{}")
    source = _source(origin)
    if found is None or not source:
        return "install Tersely again from the place that it came from"
    installer = (found.read_text("INSTALLER") or "").strip()
    is_editable = bool(origin.get("dir_info", {}).get("editable"))
    return f"this installs it again: {shlex.join(_command(source, installer, is_editable=is_editable))}"


def _command(source: str, installer: str, *, is_editable: bool) -> list[str]:
    what = ["--editable", source] if is_editable else [source]
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        return ["uv", "tool", "install", "--force", "--reinstall", *what]
    if (prefix / "pipx_metadata.json").exists():
        return ["pipx", "install", "--force", *what]
    if installer == "uv":
        return ["uv", "pip", "install", "--python", sys.executable, "--reinstall", *what]
    return [sys.executable, "-m", "pip", "install", "--force-reinstall", *what]


def _source(origin: JsonObject) -> str:
    """The source in `direct_url.json` as an installer is told it: a path or a URL; empty if it says
    nothing.
    """
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _distribution() -> Distribution | None:
    """The record of the copy that is running, None if there is none: other copies may be on the
    path.
    """
    try:
        found = distribution(_DISTRIBUTION)
    except PackageNotFoundError:
        return None
    is_ours = Path(str(found.locate_file("tersely"))) == Path(tersely.__file__).parent
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    is_checkout = Path(tersely.__file__).is_relative_to(_source(origin) or "/nowhere")
    return found if is_ours or is_checkout else None


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
