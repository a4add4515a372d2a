"""The wheel that `make vsix` went before: it brings the extension for VS Code. `.ci/programs` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import pytest

WHEEL = os.environ.get("TERSELY_WHEEL", "")


@pytest.mark.skipif(not WHEEL, reason="TERSELY_WHEEL names no wheel")
def test_a_wheel_brings_the_extension(tmp_path: Path) -> None:
    unpacked, programs, project = (tmp_path / name for name in ("site", "programs", "project"))
    ZipFile(WHEEL).extractall(unpacked)
    extension = unpacked / "tersely/integrations/files/tersely.vsix"
    assert is_zipfile(extension)
    programs.mkdir()
    editor = programs / "code"
    editor.write_text('#!/bin/sh\necho "$@" >"$0.asked"\n')
    editor.chmod(0o700)
    project.mkdir()
    surroundings = {
        **os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(unpacked),
        "PATH": f"{programs}:{os.environ['PATH']}",
    }  # fmt: skip
    words = [
        sys.executable,
        "-m",
        "tersely",
        "install",
        "vscode",
        "--user",
        "--yes",
        "--root",
        str(project),
    ]
    subprocess.run(words, env=surroundings, cwd=tmp_path, check=True, timeout=120)
    assert (programs / "code.asked").read_text() == f"--install-extension {extension}\n"
