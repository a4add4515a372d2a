"""The user's key, and what is named by it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from tersely.foundation.storage.private import SECOND_INDEXES, index_places


def user_key(environment: Mapping[str, str]) -> bytes:
    """The key that names of indexes are made with, which lies beside them."""
    directory = index_places("/", environment).elsewhere.partition(f"/{SECOND_INDEXES}/")[0]
    return Path(directory, "key").read_bytes()


def test_a_key_is_made_once_and_is_nobody_elses(tmp_path: Path) -> None:
    environment = {"TERSELY_HOME": str(tmp_path / "new" / "home")}
    key = user_key(environment)
    assert key == user_key(environment)
    assert key != user_key({"TERSELY_HOME": str(tmp_path / "other")})
    assert (tmp_path / "new" / "home" / "key").stat().st_mode & 0o777 == 0o600
    assert {path.name for path in (tmp_path / "new" / "home").iterdir()} == {"key", ".gitignore"}


def test_a_folder_that_holds_something_else_is_not_told_to_ignore_itself(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    user_key({"TERSELY_HOME": str(tmp_path)})
    assert {path.name for path in tmp_path.iterdir()} == {"key", "a.py"}


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    keys: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: keys.append(user_key({"TERSELY_HOME": str(tmp_path)})))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_a_key_that_others_could_read_is_replaced(tmp_path: Path, mode: int) -> None:
    environment = {"TERSELY_HOME": str(tmp_path)}
    before = user_key(environment)
    (tmp_path / "key").chmod(mode)
    assert user_key(environment) != before


def test_a_key_that_was_cut_off_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")
    (tmp_path / "key").chmod(0o600)
    assert len(user_key({"TERSELY_HOME": str(tmp_path)})) == 32


@pytest.mark.parametrize("odd", ["link", "pipe"])
def test_nothing_but_a_file_is_a_key(tmp_path: Path, odd: str) -> None:
    home, place = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    place.mkdir()
    if odd == "link":
        (home / "key").symlink_to("/etc/hostname")
    else:
        os.mkfifo(home / "key")
    assert len(user_key({"TERSELY_HOME": str(home), "TMPDIR": str(place)})) == 32


def test_where_the_home_cannot_be_written_the_key_lies_among_temporary_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "home").write_text("in the way")
    environment = {"TERSELY_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    key = user_key(environment)
    (own,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (own / "key").read_bytes() == key
    assert own.stat().st_mode & 0o777 == 0o700


def test_roots_have_names_that_say_nothing_of_each_other(tmp_path: Path) -> None:
    environment = {"TERSELY_HOME": str(tmp_path)}
    one, other = (index_places(root, environment).in_repository for root in ("/a", "/b"))
    assert one.startswith("/a/.tersely/")
    assert one.rpartition("/")[2] != other.rpartition("/")[2]
    assert index_places("/", environment).in_repository.startswith("/.tersely/")
