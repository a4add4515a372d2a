"""The beginning of a detached process: it reports once to the process that started it, and logs to
a file of its own.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_LOG_BYTES
from tersely.foundation.system import NO_LINK


class Report:
    """The one line that `detached.start_and_wait` reads. Only the first report counts."""

    def __init__(self, descriptor: str) -> None:
        """`descriptor` is the number that the process was started with, as text."""
        self._file = os.fdopen(int(descriptor), "wb")

    def running(self, **facts: Any) -> None:
        """The process serves; `facts` go to the process that started it."""
        self._write({"ok": True, **facts})

    def already_running(self) -> None:
        """Another process serves: this one ends. The reported process number is 0."""
        self._write({"ok": True, "pid": 0})

    def failed(self, error: TerselyError | OSError) -> None:
        """The process could not begin; nothing happens where it has reported before."""
        if isinstance(error, TerselyError):
            self._write(
                {"ok": False, "code": error.code, "message": error.message, "hint": error.hint}
            )
            return
        why = error.strerror or str(error)
        message = f"{error.filename}: {why}" if error.filename else why
        self._write({"ok": False, "message": message, "errno": error.errno or errno.EIO})

    def _write(self, line: dict[str, Any]) -> None:
        with suppress(ValueError), self._file:  # closed: it has reported
            self._file.write(json.dumps(line).encode())


def log_to(path: str, what: str) -> None:
    """Log what the package says, and how the process `what` failed, to a bounded file; `OSError`
    where it is a link.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | NO_LINK, 0o600))
    handler = RotatingFileHandler(path, maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("tersely")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    sys.excepthook = lambda kind, error, trace: logger.critical(
        "%s has failed", what, exc_info=(kind, error, trace)
    )
