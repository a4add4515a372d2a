"""Write beside a wheel what registries of servers and agents are told: `python -m tools.release FOLDER
[--repository URL]`. `make release` builds the wheel and the sdist first.

FOLDER gets `tersely-VERSION.mcpb`, a bundle of the Model Context Protocol that has the wheel in it,
`server.json` for the registry of that protocol, `agent.json` for the registry of the Agent Client
Protocol, and `SHA256SUMS`. URL is where the release will lie; its owner has to be the one that
README.md names in its line `mcp-name`, or nothing is written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).parents[1]
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MCP_NAME = re.compile(r"^<!-- mcp-name: (io\.github\.([\w-]+)/[\w.-]+) -->$", re.MULTILINE)
OWNER = re.compile(r"https://github\.com/([\w-]+)/[\w.-]+")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of each file in the bundle: the same input gives the same bytes
READABLE = 0o644 << 16
_MAIN = '''\
"""Start the server of the Model Context Protocol."""

import sys

from tersely.cli.main import main

sys.exit(main(["mcp", *sys.argv[1:]]))
'''
_PROJECT = """\
[project]
name = "tersely-bundle"
version = "{version}"
requires-python = "{python}"
dependencies = ["tersely"]

[tool.uv]
package = false

[tool.uv.sources]
tersely = {{ path = "{wheel}" }}
"""


class Product(NamedTuple):
    """What pyproject.toml and README.md say of us."""

    version: str
    description: str
    license: str
    author: str
    python: str  # the versions that it runs on
    mcp_name: str
    owner: str


def product() -> Product:
    """What is released."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = MCP_NAME.search((ROOT / "README.md").read_text("utf-8"))
    if named is None:
        raise SystemExit("README.md has no line `mcp-name`")
    author, python = project["authors"][0]["name"], project["requires-python"]
    about = (project["version"], project["description"], project["license"])
    return Product(*about, author, python, *named.groups())


def bundle_manifest(what: Product) -> dict[str, Any]:
    """`manifest.json` of the bundle, in version 0.4 of its format."""
    root = {
        "type": "directory", "title": "Repository", "required": True,
        "description": "The folder whose code is asked about",
    }  # fmt: skip
    started = {
        "command": "uv",
        "args": ["run", "--directory", "${__dirname}", "main.py", "--root", "${user_config.repository}"],
    }  # fmt: skip
    return {
        "manifest_version": "0.4", "name": "tersely", "display_name": "Tersely", "version": what.version,
        "description": what.description, "author": {"name": what.author}, "license": what.license,
        "server": {"type": "uv", "entry_point": "main.py", "mcp_config": started},
        "tools_generated": True, "user_config": {"repository": root},
        "compatibility": {"platforms": ["linux"], "runtimes": {"python": what.python}},
    }  # fmt: skip


def write_bundle(wheel: Path, what: Product, target: Path) -> None:
    """A bundle with the wheel in it; the same wheel gives the same bytes."""
    project = _PROJECT.format(version=what.version, python=what.python, wheel=wheel.name)
    files: Mapping[str, bytes] = {
        "manifest.json": _json(bundle_manifest(what)).encode(),
        "main.py": _MAIN.encode(),
        "pyproject.toml": project.encode(),
        **{name: (ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE")},
        wheel.name: wheel.read_bytes(),
    }
    with ZipFile(target, "w", ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            entry = ZipInfo(name, LONG_AGO)
            entry.external_attr, entry.compress_type = READABLE, ZIP_DEFLATED
            bundle.writestr(entry, content)


def server_manifest(what: Product, repository: str, bundle: Path) -> dict[str, Any]:
    """`server.json`: where the bundle lies, and its hash."""
    package = {
        "registryType": "mcpb", "version": what.version, "transport": {"type": "stdio"},
        "identifier": f"{repository}/releases/download/v{what.version}/{bundle.name}", "fileSha256": _hash(bundle),
    }  # fmt: skip
    return {
        "$schema": SERVER_SCHEMA, "name": what.mcp_name, "title": "Tersely", "version": what.version,
        "description": what.description, "repository": {"url": repository, "source": "github"}, "packages": [package],
    }  # fmt: skip


def agent_manifest(what: Product, repository: str) -> dict[str, Any]:
    """`agent.json`: how an editor starts the agent of the released package."""
    return {
        "id": "tersely", "name": "Tersely", "version": what.version, "repository": repository,
        "description": "A coding agent for models on your own machine, with code context within a token budget",
        "authors": [what.author], "license": what.license,
        "distribution": {"uvx": {"package": f"tersely=={what.version}", "args": ["acp"]}},
    }  # fmt: skip


def main(words: list[str]) -> None:
    """Write the bundle, the manifests and the hashes."""
    parser = argparse.ArgumentParser(prog="python -m tools.release")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository")
    given, what = parser.parse_args(words), product()
    folder: Path = given.folder
    repository = given.repository or f"https://github.com/{what.owner}/tersely"
    owner = OWNER.fullmatch(repository)
    if owner is None or owner[1] != what.owner:
        raise SystemExit(f"{repository} is not of {what.owner}, whom README.md names in `mcp-name`")
    wheels = sorted(folder.glob(f"tersely-{what.version}-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"{folder} has {len(wheels)} wheels of {what.version}; one is needed")
    bundle = folder / f"tersely-{what.version}.mcpb"
    write_bundle(wheels[0], what, bundle)
    (folder / "server.json").write_text(_json(server_manifest(what, repository, bundle)), "utf-8")
    (folder / "agent.json").write_text(_json(agent_manifest(what, repository)), "utf-8")
    listed = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    sums = "".join(f"{_hash(path)}  {path.name}\n" for path in listed)
    (folder / "SHA256SUMS").write_text(sums, "utf-8")
    sys.stdout.write(sums)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
