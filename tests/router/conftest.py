"""Tests of the socket: each is a coroutine with a relay of its own, run by `on_loop`."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


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
