"""The hooks of an agent under `tersely run`: a call goes to the wrapper, its answer is printed.

It is started at every event, so it imports the standard library alone. Nothing that goes wrong here
keeps an agent from its work: there is no answer then.
"""

from __future__ import annotations

import json
import os
import socket
import sys

SOCKET_VARIABLE = "TERSELY_RUN_SOCKET"  # names the socket of the wrapper that an agent runs under
MAX_RUN_CALL_BYTES = 4_000_000  # of a call, and of its answer
RUN_HOOK_SECONDS = 25.0  # for an answer; an agent gives up a little later
_WAKES = 2  # the exit status with which a waiting hook wakes its agent


def main(waits: bool, agent: str = "") -> int:
    """Hand one call on standard input over and print the answer; the exit status.

    Hooks that stand in an agent's own settings say whose they are: it may be started by one that is
    wrapped.
    """
    try:
        return _hand_over(os.environ.get(SOCKET_VARIABLE, ""), waits, agent)
    except (OSError, ValueError):
        return 0


def _hand_over(path: str, waits: bool, agent: str) -> int:
    if sys.platform == "win32" or not path:
        return 0
    call = json.loads(sys.stdin.buffer.read(MAX_RUN_CALL_BYTES))
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(None if waits else RUN_HOOK_SECONDS)
        wire.connect(path)
        told = {"agent": agent, "waits": "idle" if waits else "", "call": call}
        wire.sendall(json.dumps(told).encode() + b"\n")
        with wire.makefile("rb") as answers:
            text = json.loads(answers.readline(MAX_RUN_CALL_BYTES) or b"{}").get("text", "")
        output = sys.stderr if waits else sys.stdout
        output.write(text)
        output.flush()
        wire.sendall(b'{"done": "printed"}\n')
    return _WAKES if waits and text else 0


if __name__ == "__main__":
    sys.exit(main("wait" in sys.argv[1:]))
