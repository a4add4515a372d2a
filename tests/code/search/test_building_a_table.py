"""The program that trains the word table, on a package that lies in a directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.code.search.repositories import lay

from tersely.code.search.embedding.table import WordTable
from tersely.code.search.storage.arrays import map_arrays

PROGRAM = Path(__file__).parents[3] / "tools" / "build_word_table.py"


@pytest.mark.slow
def test_a_table_is_trained_from_a_list_of_packages(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    topics = {"parcel": "courier", "invoice": "ledger", "apple": "orchard", "engine": "garage"}
    files = {
        f"{topic}_{number}.py": f'def handle_{topic}():\n    """Bring the {other} up to date."""\n    return {topic}\n'
        for topic, other in topics.items()
        for number in range(8)
    }
    lay(package, files)
    (tmp_path / "names").write_text(f"{package}\n")
    command = [sys.executable, str(PROGRAM), "names", "table", "--random", "--epochs", "60"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert " pairs of 1 packages" in done.stdout
    table = WordTable.of(map_arrays(tmp_path / "table"))

    def closeness(one: str, other: str) -> float:
        left, right = table.embed_pieces([one]), table.embed_pieces([other])
        return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))

    for topic, other in topics.items():
        assert all(
            closeness(topic, other) > closeness(topic, wrong)
            for wrong in topics.values()
            if wrong != other
        )
