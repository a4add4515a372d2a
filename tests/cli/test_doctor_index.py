"""What `doctor` says of an index that cannot be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.cli.main import main
from tersely.foundation.storage.private import index_places


def test_an_index_that_can_only_be_kept_in_memory_is_no_good_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("def one():\n    return 1\n")
    place = Path(index_places(str(tmp_path)).in_repository)
    place.parent.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(parents=True)
    for _ in range(2):  # where a folder stands in the place of the file
        assert main(["doctor", "--root", str(tmp_path)]) == 1
        told = capsys.readouterr().out
        assert "bad  the index is kept in memory" in told
