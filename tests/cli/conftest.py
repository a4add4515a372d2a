"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import FILES, Answer, Ask

from tersely.cli.main import main


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to ask about, as the current directory."""
    root = tmp_path / "repository"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    for variable in ("NO_COLOR", "TERSELY_DEBUG", "TERSELY_BUDGET_TOKENS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(root)
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
