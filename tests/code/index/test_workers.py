"""Building in other processes: the same rows, whatever becomes of the processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.code.index.dumped import dumped

from tersely.code.index.building import jobs, workers
from tersely.code.index.content import Reason, Skipped
from tersely.code.index.refresh import refresh
from tersely.code.index.storage.store import Store

Plant = Callable[[dict[str, str | bytes]], None]
FILES = 12
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks processes up in procfs"
)

# Workers that fail as real ones do, but when we like.
SABOTAGED = """
import sys; sys.path[:] = sys.argv[1:]
import os, signal, time
from tersely.code.index.building import rows, worker
original = rows.extract
def extract(source, language, path, levels):
    print("noise on the standard output")
    if b"die" in source:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"hang" in source:
        time.sleep(1000)
    return original(source, language, path, levels)
rows.extract = extract
worker.main()
"""


@pytest.fixture(autouse=True)
def _many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "CHUNK_FILES": 3,
        "WORTHWHILE_BYTES": 1,
        "BYTES_PER_WORKER": 1,
        "_cores": lambda: 2,
    }.items():
        monkeypatch.setattr(jobs, name, value)


@pytest.fixture(autouse=True)
def _files(plant: Plant) -> None:
    plant(
        {
            f"{number:02}.py": f"def f{number}(): return g(f{number - 1})\n"
            for number in range(FILES)
        }
    )


def test_rows_are_those_of_one_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    with Store.in_memory() as store, Store.in_memory() as alone:
        refresh(root, store, progress=lambda files, _: done.append(files))
        monkeypatch.setattr(jobs, "WORTHWHILE_BYTES", 1_000_000)
        refresh(root, alone)
        assert dumped(store) == dumped(alone)
        assert [file.path for file in store.files()] == [
            f"{number:02}.py" for number in range(FILES)
        ]
    assert done == [3, 6, 9, 12]


def test_files_that_take_their_process_down_are_set_apart(
    root: Path, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant({"04.py": "die\n", "05.py": "die\n", "09.py": "hang\n"})
    monkeypatch.setattr(workers, "_PROGRAM", SABOTAGED)
    monkeypatch.setattr(workers, "WORKER_SILENCE_SECONDS", 2.0)
    with Store.in_memory() as store:
        refresh(root, store)
        assert store.skipped() == [
            Skipped(path, Reason.EXTRACTION_FAILED) for path in ("04.py", "05.py", "09.py")
        ]
        assert len(store.files()) == FILES - 3
        assert "died or did not end" in store.problems()[0][1].message


@pytest.mark.parametrize("program", ["raise SystemExit(1)", "import time; time.sleep(1000)"])
def test_without_workers_this_process_does_the_work(
    root: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(workers, "_PROGRAM", program)
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", 0.2)
    with Store.in_memory() as store:
        assert refresh(root, store).added == FILES


def test_a_build_from_a_thread(root: Path) -> None:
    added: list[int] = []

    def build() -> None:
        with Store.in_memory() as store:
            added.append(refresh(root, store).added)

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    assert added == [FILES]


def children(pid: int) -> set[int]:
    """The running child processes of a process."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.add(int(path.parent.name))
    return found


@needs_proc
def test_an_interrupted_build_leaves_no_process(root: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = children(os.getpid())
    with Store.in_memory() as store, pytest.raises(KeyboardInterrupt):
        refresh(root, store, progress=interrupt)
    assert children(os.getpid()) == before


# No guard around what it does: whoever calls us may be such a script, and it must not run twice.
SCRIPT = """
import sys
from pathlib import Path
from tersely.code.index.building import jobs
from tersely.code.index.refresh import refresh
from tersely.code.index.storage.store import Store
jobs.CHUNK_FILES, jobs.WORTHWHILE_BYTES, jobs.BYTES_PER_WORKER, jobs._cores = 3, 1, 1, lambda: 2
print("started", flush=True)
def progress(done, total):
    if len(sys.argv) > 2 and done == 3:
        print("halfway", flush=True)
        sys.stdin.readline()
with Store.in_memory() as store:
    print(refresh(Path(sys.argv[1]), store, progress=progress).added, flush=True)
"""


def test_a_script_without_a_main_guard_runs_once(root: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(root)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.split() == ["started", str(FILES)]


def test_a_working_directory_with_modules_of_our_names_is_not_imported(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    for name in ("marshal.py", "signal.py", "tersely.py", "tree_sitter.py"):
        (root / name).write_text("raise SystemExit('imported')\n")
    command = [sys.executable, str(tmp_path / "script.py"), str(root)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60, cwd=root
    )
    assert result.stdout.split() == ["started", str(FILES + 4)]


@needs_proc
def test_workers_of_a_killed_parent_leave(root: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), "stop"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert process.stdout.readline() == "halfway\n"
    pids = children(process.pid)
    assert len(pids) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    give_up = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
