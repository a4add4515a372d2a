"""Paths of reports, found in a repository; and whether a report is about the text that is there."""

from __future__ import annotations

import base64
import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.coverage.model import FileCoverage, bits_of
from tersely.code.coverage.remap import ReportPlaces, parse_map
from tersely.code.coverage.spectrum import ochiai, spectrum
from tersely.code.coverage.staleness import staleness
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.hashing import content_hash

PATHS = [
    "setup.py",
    "src/shop/till.py",
    "web/a/src/index.ts",
    "web/b/src/index.ts",
    "web/b/src/pay.ts",
    "main.go",
]


def placed(*written: str, maps: tuple[str, ...] = (), around: str = "") -> dict[str, str]:
    return dict(
        ReportPlaces(PATHS, "/repo", [parse_map(one) for one in maps], around).place(written).found
    )


def test_paths_are_found_where_they_stand() -> None:
    written = ("src/shop/till.py", "./setup.py", "/repo/main.go")
    assert placed(*written) == {
        "src/shop/till.py": "src/shop/till.py",
        "./setup.py": "setup.py",
        "/repo/main.go": "main.go",
    }


def test_other_roots_are_recognised_by_the_longest_end() -> None:
    assert placed("/app/src/shop/till.py") == {"/app/src/shop/till.py": "src/shop/till.py"}
    assert placed("shop/till.py") == {"shop/till.py": "src/shop/till.py"}
    assert placed("/ci/b/src/index.ts") == {"/ci/b/src/index.ts": "web/b/src/index.ts"}


def test_what_may_be_two_files_is_neither() -> None:
    assert placed("/ci/src/index.ts") == {}
    assert placed("src/index.ts") == {}


def test_the_directory_of_the_report_and_maps_tell_them_apart() -> None:
    assert placed("src/index.ts", around="web/b/coverage") == {"src/index.ts": "web/b/src/index.ts"}
    assert placed("/x/src/index.ts", maps=("/x=web/a",)) == {
        "/x/src/index.ts": "web/a/src/index.ts"
    }
    with pytest.raises(TerselyError, match="invalid_argument"):
        parse_map("nowhere")


def test_one_name_alone_is_no_end() -> None:
    library = "/usr/lib/packages/other/setup.py"
    assert placed("src/shop/till.py", library) == {"src/shop/till.py": "src/shop/till.py"}
    module = "example.org/shop/"
    assert placed(f"{module}main.go") == {f"{module}main.go": "main.go"}


@given(st.lists(st.text("ab./\\: é", max_size=20), max_size=5))
def test_any_path_is_placed_in_the_repository_or_nowhere(written: list[str]) -> None:
    placement = ReportPlaces(PATHS, "/repo").place(written)
    assert set(placement.found.values()) <= set(PATHS)
    assert set(placement.found) | set(placement.elsewhere) == set(written)


def why(
    file: FileCoverage, text: bytes, *, modified: int = 0, hashes: dict[str, str] | None = None
) -> str:
    found = staleness("a.py", file, text, modified, 5, hashes or {})
    return found.why if found else ""


def test_a_report_is_stale_by_hash_by_length_and_by_time() -> None:
    file = FileCoverage("a.py", {1: 1, 3: 0})
    same = {"a.py": content_hash(b"a\nb\nc\n").hex()}
    assert why(file, b"a\nb\nc\n") == ""
    assert why(file, b"a\nb\nc\n", modified=9) == "written after the report"
    assert why(file, b"a\nb\nc\n", modified=9, hashes=same) == ""
    assert why(file, b"a\nb\nd\n", hashes=same) == "changed since the run"
    assert why(file, b"a") == "line 3 ran, the file has 1"


def test_checksums_of_lines_go_before_times() -> None:
    digest = (
        base64.b64encode(hashlib.md5(b"b", usedforsecurity=False).digest()).decode().rstrip("=")
    )
    file = FileCoverage("a.c", {2: 1}, checksums={2: digest})
    assert why(file, b"a\nb\n", modified=9) == ""
    assert why(file, b"a\nc\n") == "line 2 has another text"


def test_suspicion_is_ochiais_coefficient() -> None:
    file = FileCoverage(
        "a.py", {1: 1, 2: 1, 3: 1}, {"f": bits_of({1, 2}), "p": bits_of({1, 3}), "q": bits_of({1})}
    )
    found = spectrum(file, {"f"}, {"p", "q"}).suspicions()
    assert np.allclose(found[1:4], [1 / 3**0.5, 1, 0])
    assert spectrum(file, {"f"}, {"p", "q"}).times([2, 3]) == (1, 1)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_suspicion_is_a_share(ef: int, ep: int, nf: int) -> None:
    found = float(ochiai(np.array([min(ef, nf)]), np.array([ep]), nf)[0])
    assert 0 <= found <= 1
    assert (found == 1) == (ef >= nf and ep == 0)
