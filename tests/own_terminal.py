"""Commands at a terminal of their own, as a person types them."""

from __future__ import annotations

import os
import pty
import sys

from tersely.foundation.process.ancestry import agent_name

# here, from agents
IS_TOLD_APART = sys.platform.startswith("linux") and not agent_name(os.environ, os.getppid())


def at_terminal(*words: str, has_one: bool = True, **variables: str) -> str:
    """What a command prints, at a terminal of its own or without any."""
    ours, its = pty.openpty() if has_one else os.pipe()
    pid = os.fork()
    if pid == 0:
        if has_one:
            os.login_tty(its)
        else:
            os.setsid()
            os.dup2(its, 1)
        os.execve(words[0], list(words), {**os.environ, **variables})
    os.close(its)
    _, status = os.waitpid(pid, 0)
    text = os.read(ours, 10_000).decode().strip()
    os.close(ours)
    assert status == 0, text
    return text
