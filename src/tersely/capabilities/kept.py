"""Answers that were given before and still hold, kept for their user alone.

An answer is kept with what it asked of the index and of files. It is given again, at whatever
revision and in whatever worktree, where all of that finds what it found.
"""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tersely.code.bounds import hash_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.identity import program_identity
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.hashing import content_hash, sealed, unsealed
from tersely.foundation.storage.private import (
    READING,
    index_places,
    make_private,
    make_room,
)
from tersely.foundation.system import is_for_user_alone

if TYPE_CHECKING:
    from tersely.workspace import Workspace

MAX_KEPT_BYTES = 100_000_000  # of a user's answers
MAX_ANSWER_BYTES = 1_000_000  # a longer one is not kept
_FOLDERS = 16  # by the first digit of names: in one at a time room is made

_program = cache(program_identity)
# of reading and writing, of asking again, and of what is no plain value
_FAILURES = (OSError, ValueError, TypeError, AttributeError, TerselyError, pickle.PickleError)


def answered(workspace: Workspace, capability: str, run: partial[Any]) -> Any:
    """The result of a capability, as it was kept, else that of `run`; its findings are noted."""
    engine = workspace.engine
    asked = repr((capability, run.keywords, workspace.settings, _program()))
    name = content_hash(asked.encode("utf-8", "surrogatepass")).hex()
    with suppress(*_FAILURES):
        questions, result, findings = _read(name)
        if engine.still_hold(questions):
            engine.note(findings)
            return result
    result, findings, questions = engine.with_questions(run)
    engine.note(findings)
    if questions and not findings.changed:
        if workspace.revision in repr(result):  # it holds at that alone
            questions.append(("Store", "revision", (), {}, hash_of(workspace.revision)))
        with suppress(*_FAILURES):
            _write(name, sealed(pickle.dumps((questions, result, findings))))
    return result


def _read(name: str) -> Any:
    """What was kept under a name; raises where there is nothing that can be believed."""
    path = f"{_folder(name)}/{name}"
    with open(os.open(path, READING), "rb") as file:
        if not is_for_user_alone(os.fstat(file.fileno())):
            raise PermissionError(path)
        os.utime(path)  # it is of use
        return pickle.loads(unsealed(file.read()))  # noqa: S301 - this user's own


def _write(name: str, content: bytes) -> None:
    if len(content) > MAX_ANSWER_BYTES:
        return
    folder = _folder(name)
    write_private(Path(folder, name), content)
    make_room(folder, name, MAX_KEPT_BYTES // _FOLDERS)


def _folder(name: str) -> str:
    """The folder of an answer, into which its user alone may look; `OSError` where there is none."""
    folder = index_places("/").answers
    make_private(folder)
    folder += f"/{name[0]}"
    make_private(folder)
    return folder
