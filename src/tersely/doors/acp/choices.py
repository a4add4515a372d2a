"""The choices of the user of an editor in a session: the mode, and the model."""

from __future__ import annotations

from collections.abc import Sequence

from acp.schema import (
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from tersely.agent.opening import MODES, Mode
from tersely.doors.acp.front import EditorAgent
from tersely.foundation.errors import TerselyError

MODE, MODEL = "mode", "model"
MAX_OFFERED_MODELS = 200  # of one server


def modes(agent: EditorAgent) -> SessionModeState:
    """The modes, and the one that the agent is in."""
    offered = [
        SessionMode(id=mode.value, name=told.name, description=told.text)
        for mode, told in MODES.items()
    ]
    return SessionModeState(current_mode_id=agent.mode().value, available_modes=offered)


async def options(
    agent: EditorAgent,
) -> list[SessionConfigOptionSelect | SessionConfigOptionBoolean]:
    """The same and the models of the server, for editors that show all choices in one way."""
    model = agent.status().model
    names = dict.fromkeys([model, *await _models(agent)])
    return [
        _select(
            MODE,
            "Mode",
            agent.mode().value,
            [(mode.value, told.name) for mode, told in MODES.items()],
        ),
        _select(MODEL, "Model", model, [(name, name) for name in list(names)[:MAX_OFFERED_MODELS]]),
    ]


def set_mode(agent: EditorAgent, mode: str) -> None:
    """Work in the mode of a name; raises `invalid_argument`."""
    if mode not in set(Mode):
        raise TerselyError(
            "invalid_argument", f"there is no mode {mode!r}", f"it is {', '.join(Mode)}"
        )
    agent.set_mode(Mode(mode))


async def choose(agent: EditorAgent, option: str, value: str) -> None:
    """Have a value of an option; raises `invalid_argument`, and what keeps a model from being used."""
    if option == MODE:
        set_mode(agent, value)
    elif option == MODEL:
        await agent.use_model(value, "")
    else:
        raise TerselyError(
            "invalid_argument", f"there is no option {option!r}", f"it is {MODE} or {MODEL}"
        )


async def _models(agent: EditorAgent) -> Sequence[str]:
    try:
        return await agent.models("")
    except TerselyError:  # the one in use is known all the same
        return []


def _select(
    id: str, name: str, now: str, offered: Sequence[tuple[str, str]]
) -> SessionConfigOptionSelect:
    values = [SessionConfigSelectOption(value=value, name=label) for value, label in offered]
    return SessionConfigOptionSelect(
        id=id,
        name=name,
        category=id,  # type: ignore[arg-type]
        type="select",
        current_value=now,
        options=values,
    )
