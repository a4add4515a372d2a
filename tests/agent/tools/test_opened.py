"""Files that an editor has open: what is read, and where edits go."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agent.tools.box import call, opened

from tersely.foundation.errors import TerselyError


class Buffers:
    """An editor that has some files open."""

    def __init__(
        self, texts: dict[str, str], *, is_mute: bool = False, refuses: bool = False
    ) -> None:
        self.texts = texts
        self._is_mute = is_mute
        self._refuses = refuses

    def read(self, inside: str) -> str | None:
        return self.texts.get(inside)

    def write(self, inside: str, text: str) -> bool:
        if self._refuses:
            raise TerselyError("unwritable_output", "it is read-only")
        if not self._is_mute:
            self.texts[inside] = text
        return not self._is_mute


def edited(root: Path, kept: Path, buffers: Buffers, name: str, old: str, body: str) -> str:
    with opened(root, kept, opened=buffers) as toolbox:
        call(toolbox, "read", path=name)
        return call(toolbox, "edit", path=name, old=old, body=body).status


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_edit_goes_to_the_buffer_with_its_endings(
    root: Path, tmp_path: Path, ending: str
) -> None:
    (root / "a.txt").write_bytes(f"one{ending}two{ending}".encode())
    buffers = Buffers({"a.txt": "one\ntwo\nthree\n"})
    assert edited(root, tmp_path / "kept", buffers, "a.txt", "three", "3") == "ok"
    assert buffers.texts["a.txt"] == "one\ntwo\n3\n"
    assert (root / "a.txt").read_bytes() == f"one{ending}two{ending}".encode()


def test_an_edit_goes_to_the_disk_where_no_editor_takes_it(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_text("one\n")
    assert edited(root, tmp_path / "kept", Buffers({}), "a.txt", "one", "1") == "ok"
    assert (root / "a.txt").read_text() == "1\n"
    assert (
        edited(root, tmp_path / "kept", Buffers({"a.txt": "1\n"}, is_mute=True), "a.txt", "1", "I")
        == "ok"
    )
    assert (root / "a.txt").read_text() == "I\n"


def test_what_the_editor_refuses_is_not_done(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_text("one\n")
    refusing = Buffers({"a.txt": "one\n"}, refuses=True)
    assert edited(root, tmp_path / "kept", refusing, "a.txt", "one", "1") != "ok"
    assert (root / "a.txt").read_text() == "one\n"


def test_a_buffer_that_was_never_saved_is_read(root: Path, tmp_path: Path) -> None:
    with opened(
        root, tmp_path / "kept", opened=Buffers({"new.py": "x = 1\n", "none.py": ""})
    ) as toolbox:
        assert "x = 1" in call(toolbox, "read", path="new.py").text
        assert "there is no file" in call(toolbox, "read", path="none.py").text
        assert call(toolbox, "edit", path="new.py", old="x = 1", body="x = 2").status == "ok"
