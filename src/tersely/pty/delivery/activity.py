"""The state of a wrapped program, from what its hooks say and what its screen shows."""

from __future__ import annotations

from tersely.integrations.wrapped import State
from tersely.pty.delivery.prompts import Sight

# with an empty prompt shown, after which a program has stopped without saying so
INTERRUPTED_SECONDS = 3.0

_SHOWN = {Sight.PROMPT: State.IDLE, Sight.DIALOG: State.PERMISSION, Sight.WORKING: State.WORKING}


class Activity:
    """The state of one program. Hooks say what happens, the screen shows what they do not say:
    interruptions.
    """

    def __init__(self) -> None:
        self.state: State | None = None
        self._sight = Sight.UNKNOWN
        self._since = 0.0  # when the screen began to show it

    def look(self, now: float, sight: Sight, said: State | None, said_at: float) -> None:
        """Take what the screen shows, and what hooks have said at a time."""
        if sight is not self._sight:
            self._sight, self._since = sight, now
        self.state = self._judged(now, said, said_at)

    def _judged(self, now: float, said: State | None, said_at: float) -> State | None:
        shown = _SHOWN.get(self._sight)
        if said is None:
            return shown or self.state
        is_interrupted = (
            shown is State.IDLE and now - max(self._since, said_at) >= INTERRUPTED_SECONDS
        )
        goes_on = said is State.PERMISSION and shown is State.WORKING
        asks = said is State.WORKING and shown is State.PERMISSION
        return shown if is_interrupted or goes_on or asks else said
