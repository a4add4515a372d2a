"""Screens that end with the test that opened them."""

from __future__ import annotations

import shutil

import pytest

from tersely.wrap.screen.screen import Screen

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")

_OPEN: list[Screen] = []


def opened(columns: int, rows: int) -> Screen:
    """An empty screen."""
    _OPEN.append(Screen(columns, rows))
    return _OPEN[-1]


def close_all() -> None:
    """Close those that are open."""
    while _OPEN:
        _OPEN.pop().close()
