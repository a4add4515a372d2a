"""Git repositories of tests. What each of many tests needs, a repository with a first commit, is
written as git would write it, without a process; what is done to it then, git does.

The layout is that of gitrepository-layout(5) and gitformat-index(5), version 2.
"""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

PERSON = ("n", "e@example.org")
CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""
FOLDER = 0o40000


class Entry(NamedTuple):
    """What a tree has under a name."""

    mode: int
    hash: bytes


def git(root: Path, *words: str) -> str:
    """What git prints, run in a folder by somebody who signs nothing."""
    name, email = PERSON
    who = ["-c", f"user.name={name}", "-c", f"user.email={email}", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout


def commit(root: Path, message: str = "m") -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files, newlines as they are, and the folders that they are in."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8", newline="")


def initialized(root: Path, branch: str = "main") -> Path:
    """The folder, as a repository without a commit."""
    place = root / ".git"
    for folder in ("info", "objects", "refs/heads", "refs/tags"):
        (place / folder).mkdir(parents=True)
    (place / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (place / "config").write_text(CONFIG)
    return root


def repository(
    root: Path, files: Mapping[str, str], branch: str = "main", message: str = "m"
) -> Path:
    """The folder, as a repository with one commit of these files."""
    write(root, files)
    initialized(root, branch)
    entries = {path: _blob(root, path) for path in files}
    who = f"{PERSON[0]} <{PERSON[1]}> {int(time.time())} +0000"
    tree = _tree(root, {tuple(path.split("/")): entry for path, entry in entries.items()})
    text = f"tree {tree.hex()}\nauthor {who}\ncommitter {who}\n\n{message}\n"
    made = _object(root, "commit", text.encode()).hex()
    (root / ".git" / "refs" / "heads" / branch).write_text(f"{made}\n")
    (root / ".git" / "index").write_bytes(_index(root, entries))
    return root


def _object(root: Path, kind: str, content: bytes) -> bytes:
    """The hash of an object, which is stored."""
    whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
    made = hashlib.sha1(whole, usedforsecurity=False)
    name = made.hexdigest()
    place = root / ".git" / "objects" / name[:2] / name[2:]
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(zlib.compress(whole, 1))
    return made.digest()


def _blob(root: Path, path: str) -> Entry:
    is_program = os.access(root / path, os.X_OK)
    mode = 0o100755 if is_program else 0o100644
    return Entry(mode, _object(root, "blob", (root / path).read_bytes()))


def _tree(root: Path, entries: Mapping[tuple[str, ...], Entry]) -> bytes:
    """The hash of the tree that has these below it."""
    found: dict[str, Entry] = {names[0]: each for names, each in entries.items() if not names[1:]}
    for folder in {names[0] for names in entries if names[1:]}:
        below = {names[1:]: each for names, each in entries.items() if names[0] == folder}
        found[folder] = Entry(FOLDER, _tree(root, below))
    ordered = sorted(
        found.items(), key=lambda each: os.fsencode(each[0]) + b"/" * (each[1].mode == FOLDER)
    )
    lines = (b"%o %s\0%s" % (entry.mode, os.fsencode(name), entry.hash) for name, entry in ordered)
    return _object(root, "tree", b"".join(lines))


def _index(root: Path, entries: Mapping[str, Entry]) -> bytes:
    """The index in which the files are as they were committed."""
    parts = [b"DIRC", struct.pack(">II", 2, len(entries))]
    for path, entry in sorted(entries.items(), key=lambda each: os.fsencode(each[0])):
        at = (root / path).stat()
        times = (part for each in (at.st_ctime_ns, at.st_mtime_ns) for part in divmod(each, 10**9))
        numbers = (*times, at.st_dev, at.st_ino, entry.mode, at.st_uid, at.st_gid, at.st_size)
        name = os.fsencode(path)
        fixed = struct.pack(">10I", *(number & 0xFFFFFFFF for number in numbers))
        record = fixed + entry.hash + struct.pack(">H", min(len(name), 0xFFF)) + name
        parts.append(record + b"\0" * (8 - len(record) % 8))
    content = b"".join(parts)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()
