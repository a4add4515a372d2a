"""The state of a wrapped program, from what its hooks say and what its screen shows."""

from __future__ import annotations

from tersely.integrations.wrapped import AgentState
from tersely.wrap.delivery.prompts import Sight

# with an empty prompt shown, after which a program has stopped without saying so
INTERRUPTED_SECONDS = 3.0

_SHOWN = {
    Sight.PROMPT: AgentState.IDLE,
    Sight.DIALOG: AgentState.PERMISSION,
    Sight.WORKING: AgentState.WORKING,
}


class ProgramActivity:
    """The state of one program. Hooks say what happens, the screen shows what they do not say:
    interruptions.
    """

    def __init__(self) -> None:
        self.state: AgentState | None = None
        self._sight = Sight.UNKNOWN
        self._since = 0.0  # when the screen began to show it

    def look(self, now: float, sight: Sight, said: AgentState | None, said_at: float) -> None:
        """Take what the screen shows, and what hooks have said at a time."""
        if sight is not self._sight:
            self._sight, self._since = sight, now
        self.state = self._judged(now, said, said_at)

    def _judged(self, now: float, said: AgentState | None, said_at: float) -> AgentState | None:
        shown = _SHOWN.get(self._sight)
        if said is None:
            return shown or self.state
        is_interrupted = (
            shown is AgentState.IDLE and now - max(self._since, said_at) >= INTERRUPTED_SECONDS
        )
        goes_on = said is AgentState.PERMISSION and shown is AgentState.WORKING
        asks = said is AgentState.WORKING and shown is AgentState.PERMISSION
        return shown if is_interrupted or goes_on or asks else said
