"""The entry points. They import next to nothing, so that `tersely --version` takes hardly longer
than Python itself.
"""

from __future__ import annotations

import io
import os
import sys

from tersely import __version__

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

RELAY = "relay"  # the program whose commands all are of the relay
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141


def main(words: Sequence[str] | None = None) -> int:
    """`tersely WORDS…`; the exit status."""
    return _start("tersely", words)


def main_tldrs(words: Sequence[str] | None = None) -> int:
    """`tldrs WORDS…`: the code commands of the same program."""
    return _start("tldrs", words)


def main_relay(words: Sequence[str] | None = None) -> int:
    """`relay WORDS…`: the relay commands of the same program."""
    return _start(RELAY, words)


def _start(program: str, words: Sequence[str] | None) -> int:
    """Do what words say, without any what this process was given; the exit status."""
    if sys.stdout is None or sys.stderr is None:
        return _without_streams(program, words)
    if sys.platform == "win32":
        _speak_utf8()
    ended = _end if words is None else int
    words = sys.argv[1:] if words is None else words
    try:
        status = _run(program, words, ended)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return EXIT_PIPE_CLOSED
    except ModuleNotFoundError as error:
        from tersely.cli.printing.terminal import Terminal
        from tersely.cli.run import print_unread
        from tersely.foundation.installation import missing_module

        return print_unread(program, words, missing_module(error), Terminal.own())
    except OSError as error:  # whatever goes wrong before printing has become an answer by now
        _abandon_output()
        return _unwritable(error)
    return status


def _speak_utf8() -> None:
    """Have the streams carry what the files of a repository are written in, whatever code page Windows
    has; nobody is answered with a question mark.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def _end(status: int) -> NoReturn:
    """End this process, whose answer is printed: to free what it has loaded takes up to a third of
    the time of an answer, and helps nobody.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(program: str, words: Sequence[str], ended: Callable[[int], int]) -> int:
    if len(words) == 1 and words[0] in {"--version", "-V"}:
        sys.stdout.write(f"{program} {__version__}\n")
        return 0
    from tersely.cli.daemon_client import answered

    status = None if program == RELAY else answered(program, words)
    if status is not None:
        return ended(status)
    import gc

    # A command makes hardly any cycles and ends soon; looking for them takes longer than loading
    # the facts.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        from tersely.cli.run import run

        return run(program, words, ended)
    finally:
        if was_collecting:
            gc.enable()


def _without_streams(program: str, words: Sequence[str] | None) -> int:
    """Python has no stream where the caller has closed one: an answer cannot be printed, all else
    need not be.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        return _unwritable(OSError(0, "standard output is closed"))
    return _start(program, words)


def _unwritable(error: OSError) -> int:
    from tersely.foundation.errors import TerselyError

    failure = TerselyError(
        "unwritable_output",
        f"the answer cannot be printed: {error.strerror}",
        "check the disk or the program that reads it",
    )
    sys.stderr.write(f"{failure}\n")
    return failure.exit_status


def _abandon_output() -> None:
    """Let nothing more be written there when the interpreter flushes its streams at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
