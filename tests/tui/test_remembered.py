"""A theme is remembered from one run to the next; a file that says nonsense counts as none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.cli.agent.remembered import FILE, keep_theme, kept_theme
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SETTINGS_BYTES


def test_what_was_chosen_last_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "chat"
    assert kept_theme(folder) == ""
    keep_theme(folder, "nord")
    keep_theme(folder, "dracula")
    assert kept_theme(folder) == "dracula"
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "content",
    [b"", b"{broken", b"[]", b"7", b"null", b'{"theme": 7}', b"\xff", b"[" * 60_000, b" " * MAX_SETTINGS_BYTES + b"{}"],
)
def test_a_broken_file_stops_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert kept_theme(tmp_path) == ""
    keep_theme(tmp_path, "nord")
    assert kept_theme(tmp_path) == "nord"


def test_what_cannot_be_kept_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "chat").write_text("a file where the folder should be")
    with pytest.raises(TerselyError, match="the theme cannot be kept"):
        keep_theme(tmp_path / "chat", "nord")
