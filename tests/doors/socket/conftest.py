"""Tests of the socket: each is a coroutine with a relay of its own, run by `on_loop`."""

from __future__ import annotations

import asyncio
import functools
import inspect
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.bridging import SOURCE

from tersely.daemon import lifecycle


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> None:
    """Run the coroutines among the tests of this folder on loops of their own."""
    if name.startswith("test_") and inspect.iscoroutinefunction(obj):
        setattr(collector.obj, name, _on_loop(obj))


def _on_loop(test: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def running(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for sockets with a short name."""
    directory = Path(tempfile.mkdtemp(prefix="tersely-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.setenv("TMPDIR", str(directory))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Path]:
    """A workspace, whose daemon is ended."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "auth.py").write_text(SOURCE, "utf-8")
    yield root
    lifecycle.stop(str(root))
