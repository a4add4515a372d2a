"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import Answer, Ask, asks_inside, planted

from tersely.cli.main import main


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to ask about, as the current directory."""
    root = planted(tmp_path / "repository")
    asks_inside(root, monkeypatch)
    return root


@pytest.fixture
def ask(shop: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask in this process."""

    def asked(*words: str) -> Answer:
        capsys.readouterr()
        status = main(words)
        printed = capsys.readouterr()
        return Answer(status, printed.out, printed.err)

    return asked
