"""The places below the homes of users that a command reads: what programs are made of, and nothing
that somebody keeps there.

Keys, passwords, histories and settings of programs are not listed one by one: a list of them is
never complete. What is listed are places where tools install programs and libraries; users may name
more.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tersely.foundation.storage.private import is_private, temporary_directory
from tersely.foundation.storage.roots import is_within

# Where tools install programs and libraries; relative to a home.
_PROGRAMS = tuple(
    ".asdf .bun/bin .bun/install .cache/pre-commit .cache/pypoetry/virtualenvs .cache/uv .cargo/bin .cargo/git "
    ".cargo/registry .conda/envs .conda/pkgs .deno/bin .dotnet .elan .fnm .ghcup .gradle/caches .gradle/wrapper .jdks "
    ".juliaup .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise .local/share/pipx "
    ".local/share/pnpm .local/share/uv .local/share/virtualenvs .m2/repository .m2/wrapper .nodenv .npm/_cacache "
    ".nuget/packages .nvm .opam .pyenv .rbenv .rustup .sdkman .virtualenvs .volta anaconda3 go/bin go/pkg mambaforge "
    "miniconda3 miniforge3 .config/git/attributes .config/git/ignore .gitattributes .gitignore "
    ".gitignore_global".split()
)
_OF_ALL_USERS = ("/root", "/home", "/Users")
_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")  # variables that name a folder of programs
_MARK_OF_A_VENV = "pyvenv.cfg"


def hidden(writable: Iterable[str]) -> list[str]:
    """Every home, and where Tersely and others keep what is the user's, sockets among it.

    A place to write to, and what lies in one, is not hidden.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [
        os.environ.get("TERSELY_HOME", ""),
        os.environ.get("XDG_STATE_HOME", "") and f"{os.environ['XDG_STATE_HOME']}/tersely",
        runtime if is_private(runtime) else "",  # sockets come and go there while a command runs
        temporary_directory(os.environ.get("TMPDIR", "")),
        temporary_directory("/tmp"),  # noqa: S108 - nothing is read there
    ]
    found = {
        os.path.realpath(path) for path in (*_OF_ALL_USERS, *_homes(), *own) if path.startswith("/")
    }
    open_places = list(writable)
    return sorted(
        path
        for path in found
        if os.path.exists(path) and not any(is_within(path, one) for one in open_places)
    )


def readable(more: Sequence[Path] = ()) -> list[str]:
    """The places below the homes that are read all the same: those of programs, `more` that the
    user names; as far as they are.
    """
    homes = _homes()
    named = [os.environ.get(name, "") for name in _ENVIRONMENTS]
    paths = [f"{home}/{name}" for home in homes for name in _PROGRAMS]
    paths += [
        path
        for path in (*named, sys.prefix, sys.base_prefix, *_on_path())
        if any(is_within(path, home) for home in homes)
    ]
    there = {os.path.normpath(path) for path in (*paths, *map(str, more)) if os.path.exists(path)}
    return sorted(path for path in there if not _holds_a_home(path, homes))


def _holds_a_home(path: str, homes: Sequence[str]) -> bool:
    """True if opening a place would open a whole home: however it is written, and wherever links
    lead.
    """
    places = (path, os.path.realpath(path))
    return any(is_within(home, place) for home in homes for place in places)


def _homes() -> list[str]:
    """The user's: what the variable says, and what the system says. The root of the file system is
    nobody's.
    """
    found = [os.path.expanduser("~")]
    with suppress(KeyError):
        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    found = [path.rstrip("/") for path in found if path.startswith("/")]
    return list(
        dict.fromkeys(
            path for path in (*found, *map(os.path.realpath, found)) if path not in {"", "/"}
        )
    )


def _on_path() -> list[str]:
    """The folders of programs that are found by name; with its libraries where one is a virtual
    environment's.
    """
    found = []
    for folder in filter(os.path.isabs, os.get_exec_path()):
        above = os.path.dirname(folder.rstrip("/"))
        found.append(above if os.path.exists(f"{above}/{_MARK_OF_A_VENV}") else folder)
    return found
