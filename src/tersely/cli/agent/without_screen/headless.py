"""One turn without a screen. However it ends, whoever reads JSON gets the one object that says how."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tersely.agent.agent import CodingAgent
from tersely.agent.events import EndReason, TurnEnded
from tersely.capabilities.invoke import defect
from tersely.cli.agent.interruption import Interruption
from tersely.cli.agent.without_screen.printing import Printer
from tersely.foundation.errors import TerselyError

OPENING_PATIENCE_SECONDS = 5.0  # the same for the server of the model
WAITING = "waiting for the server of the model, or for the first index of the repository"
Opening = Callable[[], Awaitable[CodingAgent]]
Deletion = Callable[[str], None]  # of a session, by its full id


def run_headless(
    printer: Printer, message_of: Callable[[], str], open_agent: Opening, delete: Deletion
) -> int:
    """Ask and print; the exit status. A session that the printer does not keep is deleted at the
    end.

    Raises what cannot be printed.
    """
    with Interruption() as interruption:
        try:
            message = message_of()
            return asyncio.run(_turn(printer, interruption, message, open_agent, delete))
        except KeyboardInterrupt:
            return _interrupted(printer, interruption)
        except TerselyError as error:
            return printer.fail(error)
        except Exception as error:
            if printer.is_broken:
                raise
            found = defect(error)
            return printer.fail(TerselyError(found.code, found.message, found.hint))


async def _turn(
    printer: Printer,
    interruption: Interruption,
    message: str,
    open_agent: Opening,
    delete: Deletion,
) -> int:
    task = asyncio.current_task()
    assert task is not None
    interruption.within(task.cancel)
    loop = asyncio.get_running_loop()
    patience = loop.call_later(OPENING_PATIENCE_SECONDS, printer.say, WAITING)
    try:
        agent = await open_agent()
    except asyncio.CancelledError:
        if not interruption.number:
            raise
        return _interrupted(printer, interruption)
    finally:
        patience.cancel()
    if printer.is_kept:
        printer.session = agent.session.id
    interruption.within(agent.cancel)
    try:
        async for event in agent.run(message):
            printer.show(event)
            if isinstance(event, TurnEnded):
                ended = event
    finally:
        await agent.close()
        await agent.conversation.model.close()
        if not printer.is_kept:
            _without_session(printer, agent.session.id, delete)
    if ended.reason is EndReason.CANCELLED and interruption.number:
        return _interrupted(printer, interruption)
    return printer.end(ended)


def _without_session(printer: Printer, session: str, delete: Deletion) -> None:
    """Delete a session; where that fails, the answer counts all the same."""
    try:
        delete(session)
    except TerselyError as error:
        printer.say(f"session {session} could not be deleted: {error.message}")


def _interrupted(printer: Printer, interruption: Interruption) -> int:
    return printer.interrupted(interruption.name, interruption.status)
