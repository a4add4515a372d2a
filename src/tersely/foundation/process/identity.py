"""The identity of this program: a daemon answers only for the program that it is itself.

Imported by every command, so it needs `os` and hashing alone.
"""

from __future__ import annotations

import os
import sys
from _blake2 import blake2b  # what `hashlib` wraps, which loads all of OpenSSL

import tersely

_PACKAGE_DIRECTORIES = ("site-packages", "dist-packages")


def program_identity() -> str:
    """Changes with the version, the sources and the interpreter, and with what is installed beside
    them.

    Installing anything changes the time of the directory it is installed in. Sources elsewhere,
    which somebody may be working on, are told apart by their sizes and times: to read them takes
    longer than most questions.
    """
    own = os.path.dirname(tersely.__file__)
    told = [tersely.__version__, sys.executable, sys.version, own]
    installed = [
        path for path in sys.path if path.endswith(_PACKAGE_DIRECTORIES) and os.path.isdir(path)
    ]
    told += [f"{path} {os.stat(path).st_mtime_ns}" for path in installed]
    if os.path.dirname(own) not in installed:
        told += _sources(own)
    return blake2b("\n".join(told).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _sources(directory: str) -> list[str]:
    told, pending = [], [directory]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    told.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    pending.append(entry.path)
    return sorted(told)
