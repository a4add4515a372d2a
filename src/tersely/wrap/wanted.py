"""A program that somebody wants to be run, the start of it in a session of tmux, and what is to be
known of it before.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from tersely.foundation.types import Environment
from tersely.wrap import terminal, tmux
from tersely.wrap.handoff.threads import SessionPlace

SHELLS = frozenset("sh bash dash zsh fish ksh mksh tcsh csh ash pwsh nu xonsh".split())
# Programs that run the program among their words, and of these those that start a shell where none
# is named.
LAUNCHERS = frozenset(
    "busybox bwrap caffeinate chrt docker doas env firejail flatpak ionice kubectl nice nix-shell nohup podman "
    "prlimit setarch setpriv setsid stdbuf strace sudo systemd-run taskset time timeout unbuffer xvfb-run".split()
)
LOGINS = frozenset(
    "chroot login machinectl mosh nsenter screen script ssh su telnet tmux unshare".split()
)
_SHELL_OF_SUDO = re.compile(r"-[A-Za-z]*[is]|--login|--shell")
_COMMAND_OF_SHELL = re.compile(r"-[A-Za-z]*c|-Command|--command(=.*)?", re.DOTALL)


# what cannot be closed, as whoever runs a program is told
UNSEEN = (
    "programs that it starts through tmux, cron or ssh, or leaves running at its end, count as you, and could answer "
    "permission questions"
)


class WantedRun(NamedTuple):
    """The wish of somebody to have a program run."""

    words: Sequence[str]
    place: SessionPlace
    name: str = ""  # that of the program, if empty
    task: str = ""
    spawn: Sequence[str] = ()  # programs that it may start
    prompt: str = ""  # a regular expression for the row of its empty prompt
    trusts_screen: bool = False  # commands count without a marker


def warning(words: Sequence[str]) -> str:
    """The warning to whoever runs a program, empty where there is nothing."""
    name = shell_of(words)
    return (
        f"{name} executes what is typed in: whoever may write to it runs commands as you"
        if name
        else ""
    )


def shell_of(words: Sequence[str]) -> str:
    """The program of a command line that executes what is typed in, as far as it is known; "" for
    none.
    """
    name = PurePath(words[0]).name.removeprefix("-")  # as login shells begin
    if name in SHELLS:
        is_bare = all(
            word.startswith("-") and not _COMMAND_OF_SHELL.fullmatch(word) for word in words[1:]
        )
        return name if is_bare else ""
    if name not in LAUNCHERS | LOGINS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if PurePath(word).name in SHELLS | LAUNCHERS | LOGINS:
            return shell_of(words[at:])
    is_login = name in LOGINS or (name == "sudo" and any(map(_SHELL_OF_SUDO.fullmatch, words[1:])))
    return name if is_login else ""


def own_words() -> list[str]:
    """The words that start this program again."""
    return [sys.executable, "-m", "tersely"]


def run_in_tmux(wanted: WantedRun, environment: Environment) -> tmux.TmuxEnd:
    """Run a program in a session of tmux, and be attached to it where there is a terminal."""
    name = wanted.name or PurePath(wanted.words[0]).stem
    options = ["--no-start", *([] if wanted.place.has_brief else ["--no-brief"])]
    options += ["--trust-screen"] if wanted.trusts_screen else []
    flags = (
        ("--name", [wanted.name]), ("--task", [wanted.task]), ("--thread", [wanted.place.thread]),
        ("--spawn", wanted.spawn), ("--prompt", [wanted.prompt]),
    )  # fmt: skip
    for flag, values in flags:
        for value in values:
            options += [f"{flag}={value}"] if value else []
    words = [*own_words(), "run", *options, "--", *wanted.words]
    return tmux.run(name, words, environment, terminal.size(0 if os.isatty(0) else None))
