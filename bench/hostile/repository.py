"""Writes a repository with everything that a reader of repositories has to fear.

Beside it lies a directory that nobody may read (`OUTSIDE`), whose every text holds `SECRET`, and a
program that leaves a mark there when it is run, which the settings of git name wherever they can.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

OUTSIDE = "outside"
SECRET = "kept_out_of_sight"
MARK = "program-was-run"
FILES_IN_A_DIRECTORY = 500
DEEP_DIRECTORIES = 60
DEEP_NESTING = 20_000
HUGE_BYTES = 3_000_000
LONG_LINE_BYTES = 300_000
# colours, the title of a terminal, text that runs backwards
ESCAPES = "\x1b[31m\x1b]0;owned\x07\u202e"
_PROGRAM_SETTINGS = (
    "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "diff.own.textconv",
    "diff.own.command", "filter.own.clean", "filter.own.smudge", "filter.own.process", "gpg.program",
)  # fmt: skip


def make(folder: Path, files: int) -> Path:
    """Make the repository in an empty folder, with so many files besides those that are odd; gives
    its root.
    """
    root, outside = folder / "root", folder / OUTSIDE
    root.mkdir(parents=True)
    outside.mkdir()
    program = _outside(outside)
    _sizes(root)
    _nesting(root)
    _encodings(root)
    _names(root)
    _collisions(root)
    _cycles(root)
    _many(root, files)
    _commit(root)
    _links(root, outside)
    _pipes(root)
    _settings(root, program)
    return root


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _outside(outside: Path) -> Path:
    for name in (
        "secret.py",
        "package.json",
        "tsconfig.json",
        "deep/secret.py",
        "lcov.info",
        ".gitignore",
        "config",
    ):
        _write(outside / name, f"# {SECRET}\ndef {SECRET}(): ...\n")
    program = outside / "program"
    _write(program, f'#!/bin/sh\ntouch "{outside}/{MARK}"\n')
    program.chmod(0o755)
    return program


def _sizes(root: Path) -> None:
    _write(root / "huge.py", "def huge():\n    pass\n" * (HUGE_BYTES // 21))
    _write(root / "line.py", "x = [" + "1," * (LONG_LINE_BYTES // 2) + "]\n")
    _write(
        root / "wide.py", "".join(f"def wide_{n}(): return wide_{n + 1}()\n" for n in range(3_000))
    )
    _write(root / "empty.py", "")


def _nesting(root: Path) -> None:
    _write(root / "parentheses.py", "x = " + "(" * DEEP_NESTING + ")" * DEEP_NESTING)
    _write(root / "calls.py", "def deep():\n    return " + "f(" * 900 + ")" * 900 + "\n")
    _write(root / "blocks.js", "function deep() {" + "if (a) {" * 900 + "}" * 900 + "}\n")
    _write(
        root / "classes.py",
        "".join("    " * n + f"class C{n}:\n" for n in range(90)) + "    " * 90 + "x = 1\n",
    )
    _write(root / "/".join(["d"] * DEEP_DIRECTORIES) / "bottom.py", "def bottom(): ...\n")


def _encodings(root: Path) -> None:
    texts = {
        "latin.py": "def caf\xe9(): ...\n".encode("latin-1"),
        "utf16.py": "def wide(): ...\n".encode("utf-16"),
        "mark.py": b"\xef\xbb\xbfdef marked(): ...\n",
        "zero.py": b"def zero():\0 ...\n",
        "returns.py": b"def one():\r    pass\rdef two():\r    return one()\r",
        "mixed.py": b"def one():\r\n    pass\ndef two():\r\n    one()\n",
        "surrogate.py": b"def s(): return '\xed\xa0\x80'\n",
        "escapes.py": f'def escapes():\n    """{ESCAPES}"""\n    return "{ESCAPES}"\n'.encode(),
        "bidi.js": "function \u202eevil\u202c() { return '\u2066' }\n".encode(),
    }
    for name, content in texts.items():
        _write(root / "encodings" / name, content)


def _names(root: Path) -> None:
    names = [
        b"-rf.py", b"--help.py", b"a b.py", b"new\nline.py", ESCAPES.encode() + b".py", b"\xff\xfe.py", b"'\".py",
        b":(glob)*.py", b"$(touch x).py", b"*.py", b"a:1:2.py", "\u202eyp.py".encode(), b"x" * 200 + b".py",
    ]  # fmt: skip
    for number, name in enumerate(names):
        _write(root / "names" / os.fsdecode(name), f"def named_{number}(): return run()\n")


def _collisions(root: Path) -> None:
    for number in range(60):
        text = "class Run:\n    def run(self): return run()\n\ndef run(): return Run().run()\ndef run(): return 1\n"
        _write(root / "same" / f"s{number}" / "run.py", text)
    _write(
        root / "same" / "__init__.py",
        "from .s0.run import *\nfrom .s1.run import *\nfrom . import *\n",
    )


def _cycles(root: Path) -> None:
    ring = 40
    for number in range(ring):
        after = (number + 1) % ring
        text = f"from ring.r{after} import *\nfrom ring.r{after} import C{after}\n\nclass C{number}(C{after}):\n"
        _write(
            root / "ring" / f"r{number}.py", f"{text}    def step(self): return C{after}().step()\n"
        )
    _write(
        root / "ring" / "me.py",
        "from ring.me import me\nme = me\nclass Me(Me): ...\ndef again(): return again()\n",
    )


def _many(root: Path, files: int) -> None:
    for number in range(files):
        text = f"from many.m0.f0 import f0\n\ndef f{number}(a):\n    return f0(a) + {number}\n"
        _write(root / "many" / f"m{number // FILES_IN_A_DIRECTORY}" / f"f{number}.py", text)


def _commit(root: Path) -> None:
    _write(root / ".gitattributes", "*.py diff=own filter=own\n")
    _write(
        root / "lcov.info",
        "SF:wide.py\nDA:1,1\nDA:2,0\nend_of_record\nSF:../outside/secret.py\nDA:1,1\nend_of_record\n",
    )
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(
        root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", f"wide_1 {ESCAPES}"
    )
    _write(root / "wide.py", "def wide_1(): return 2\n" + (root / "wide.py").read_text())


def _git(root: Path, *words: str) -> None:
    variables = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", "-c", "gc.auto=0", *words], cwd=root, env=variables, check=True, capture_output=True
    )


def _links(root: Path, outside: Path) -> None:
    links: dict[str, str | Path] = {
        "links/file.py": outside / "secret.py", "links/folder": outside, "links/up.py": "../../outside/secret.py",
        "links/loop": "loop", "links/itself": ".", "links/zero.py": "/dev/zero", "links/gone.py": "nowhere.py",
        "package.json": outside / "package.json", "tsconfig.json": outside / "tsconfig.json", "go.mod": "/dev/zero",
        "pyproject.toml": outside / "config", ".tldrsignore": outside / ".gitignore",
        "second/lcov.info": outside / "lcov.info",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(target)


def _pipes(root: Path) -> None:
    for name in (
        "pipe.py",
        "setup.cfg",
        "Cargo.toml",
        "composer.json",
        "conftest.py",
        "links/.tldrsignore",
    ):
        os.mkfifo(root / name)


def _settings(root: Path, program: Path) -> None:
    for name in _PROGRAM_SETTINGS:
        _git(root, "config", name, str(program))
    _write(root / ".tersely" / "index.db", b"SQLite format 3\0" + b"\xa5" * 5_000)
    os.mkfifo(root / ".tersely" / "index.db-wal")
    (root / ".tersely" / "config.toml").symlink_to(program.parent / "config")
