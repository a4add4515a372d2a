"""Whoever is told that a relay serves can end it at once."""

from __future__ import annotations

from pathlib import Path

from tests.unheard import said_when_ended_at_once

from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.relay.wire.home import LOG, NO_PORT


def test_a_relay_ends_in_order_while_it_says_that_it_serves(tmp_path: Path) -> None:
    given = [str(tmp_path / "home"), NO_PORT, "", ANSWER_WORDS, ""]
    log = tmp_path / "home" / LOG
    said = said_when_ended_at_once("tersely.doors.relay_process:main", given, log)
    assert said.startswith(b'{"ok": true')
    assert log.read_text().rstrip().endswith("INFO ended")
