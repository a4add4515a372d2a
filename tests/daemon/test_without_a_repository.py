"""Questions about a repository that is gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tersely.daemon.processes.dispatch import Dispatcher
from tersely.foundation.errors import TerselyError


def test_where_no_process_can_be_started_questions_fail_at_once(tmp_path: Path) -> None:
    async def one() -> None:
        dispatcher = Dispatcher(
            str(tmp_path / "gone"), "tersely.cli.printing.recorded_output:answer"
        )
        dispatcher.start()
        try:
            with pytest.raises(TerselyError, match="root_not_found: no process can be started"):
                await dispatcher.ask("client", ("rest",))
        finally:
            dispatcher.close()

    asyncio.run(one())
