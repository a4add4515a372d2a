"""The changes of an agent's files by which they tell of Tersely, and writing those down so that
they can be undone.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Container, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SETTINGS_BYTES
from tersely.foundation.system import NO_WAITING, UNCHANGED
from tersely.foundation.types import Strings, replace
from tersely.integrations import state
from tersely.integrations.declaration import Audience, FileForm, KnownAgent, SettingsTarget
from tersely.integrations.formats import json_text, toml_text, yaml_text
from tersely.integrations.state import Installed, WrittenFile
from tersely.integrations.table import AGENTS, without_subagents
from tersely.integrations.wrapped import SHARED, mail_words

# What adds entries to texts, and what takes them out.
_ADDED = {
    FileForm.JSON: json_text.added,
    FileForm.TOML: toml_text.added,
    FileForm.YAML: yaml_text.added,
}
_REMOVED = {
    FileForm.JSON: json_text.removed,
    FileForm.TOML: toml_text.removed,
    FileForm.YAML: yaml_text.removed,
}
BEGIN, END = "tersely: begin", "tersely: end"  # in the comments around our part of a text


class SettingsChange(NamedTuple):
    """A file of an agent before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None


class InstallRequest(NamedTuple):
    """The request for an installation: what is put in an agent's files, whose, and with which
    program to call.
    """

    agent: KnownAgent
    place: Audience
    base: Path  # the root of the repository, or the home directory
    program: Sequence[str]
    hooks: bool = True
    texts: bool = True
    subagents: bool = True  # those that the agent starts are told of others, too

    def targets(self) -> list[SettingsTarget]:
        """The files that are meant."""
        return [
            target
            for target in self.agent.targets
            if target.path(self.place)
            and (self.hooks or not target.is_hook)
            and (self.texts or not target.is_text)
        ]

    def left(self) -> list[SettingsTarget]:
        """The files in which earlier versions of ours wrote what goes into others now."""
        has_moved = self.place is Audience.PROJECT
        return [replace(one, local="") for one in self.targets() if has_moved and one.local]

    def words(self, target: SettingsTarget) -> Strings:
        """The command that a file calls: by its name alone in a file that others have, too."""
        is_shared = self.place is Audience.PROJECT and not target.local
        return SHARED if is_shared else tuple(self.program)


def planned(wanted: InstallRequest) -> list[SettingsChange]:
    """The files that would change; raises `unreadable_file` for one that cannot be read as what it
    is to be.
    """
    found: dict[Path, SettingsChange] = {}
    installed = state.read_record(wanted.base, wanted.agent.name)
    earlier = installed.program
    recorded = {Path(one.path): one for one in installed.files}
    for target in wanted.left():
        path = _place(wanted, target)
        if (text := _read(path)) is not None and earlier:
            found[path] = SettingsChange(
                path, text, _cleared(target, text, recorded.get(path), earlier)
            )
    for target in wanted.targets():
        path = _place(wanted, target)
        known = found.get(path)
        before = known.before if known else _read(path)
        now = known.after if known else before
        written = recorded.get(path)
        if known is None and written is not None and written.after == before:
            # nobody has changed it since: what an older version of ours wrote goes
            now = written.before
        try:
            own = wanted.words(target)
            for words in {earlier, own} if earlier else ():
                if now and (words != own or not wanted.subagents):
                    now = _without(target, now, words)
            shown = target if wanted.subagents else without_subagents(target)
            after = _with(shown, now or "", own)
        except ValueError as error:
            raise TerselyError(
                "unreadable_file",
                f"{path} was not changed: {error}",
                "correct the file, then try again",
            ) from error
        found[path] = SettingsChange(path, before, after)
    return [change for change in found.values() if change.after != change.before]


def undone(wanted: InstallRequest, leaving: Container[str] = ()) -> list[SettingsChange]:
    """The changes that take Tersely out again: a file as it was, if nobody has changed it since,
    else without what is ours. `leaving` names agents that it is taken out of at the same time.
    """
    installed = state.read_record(wanted.base, wanted.agent.name)
    recorded = {Path(one.path): one for one in installed.files}
    found: dict[Path, SettingsChange] = {}
    shared = _of_others(wanted, leaving, recorded)
    for target in (*wanted.left(), *wanted.targets()):
        path = _place(wanted, target)
        if path in shared:
            continue
        current = found[path].before if path in found else _read(path)
        if current is None:
            continue
        known = recorded.get(path)
        now = found[path].after if path in found else current
        if known is not None and known.after == current:
            now = current
        words = (installed.program or wanted.program, wanted.words(target))
        found[path] = SettingsChange(path, current, _cleared(target, now or "", known, *words))
    return [change for change in found.values() if change.after != change.before]


def _cleared(
    target: SettingsTarget, text: str, written: WrittenFile | None, *programs: Sequence[str]
) -> str | None:
    """A file without what is ours: as it was, if nobody has changed it since, else without what
    calls one of some programs.
    """
    if written is not None and written.after == text:
        return written.before
    now: str | None = text
    try:
        for program in programs:
            now = _without(target, now, program) if now else now
        if now and written is not None and target.form is FileForm.JSON:
            own = target.entries(programs[0])
            now = json_text.without_emptied(now, written.before or "", own)
    except ValueError as error:
        raise TerselyError(
            "unreadable_file",
            f"{target.project} was not changed: {error}",
            "correct the file, then try again",
        ) from error
    return now


def carry_out(
    wanted: InstallRequest, changes: Sequence[SettingsChange], *, undo: bool = False
) -> None:
    """Write all files, each at once or not at all, and remember what was there; a failure puts all
    of them back.
    """
    done: list[SettingsChange] = []
    installed = state.read_record(wanted.base, wanted.agent.name)
    made = set(installed.folders)
    try:
        for change in changes:
            made |= {str(folder) for folder in change.path.parents if not folder.exists()}
            _write(change.path, change.after, made)
            done.append(change)
    except OSError as error:
        for one in reversed(done):
            _write(one.path, one.before, made)
        raise TerselyError(
            "unwritable_output",
            f"{change.path} cannot be written: {error.strerror}",
            "check who may write there; no file was changed",
        ) from error
    if undo:
        state.keep_record(wanted.base, wanted.agent.name, Installed())
        return
    recorded = {one.path: one for one in installed.files}
    for change in changes:
        known = recorded.get(str(change.path))
        first = (
            known.before if known is not None and known.after == change.before else change.before
        )
        recorded[str(change.path)] = WrittenFile(str(change.path), first, change.after or "")
    record = Installed(tuple(wanted.program), tuple(recorded.values()), tuple(sorted(made)))
    state.keep_record(wanted.base, wanted.agent.name, record)


def text_of(target: SettingsTarget, program: Sequence[str]) -> str:
    """A text of ours as it is written down."""
    text = (files("tersely.integrations") / "files" / target.source).read_text("utf-8")
    own = {
        'PROGRAM = ["tersely"]': f"PROGRAM = {json.dumps(list(program))}",
        "MAIL = []": f"MAIL = {json.dumps(mail_words(program=program))}",
    }
    for before, after in {**own, **target.switches}.items():
        text = text.replace(before, after)
    return text


def _place(wanted: InstallRequest, target: SettingsTarget) -> Path:
    """The real place of a file. Links of a repository must not lead out of it."""
    base = Path(os.path.realpath(wanted.base))
    path = Path(os.path.realpath(base / target.path(wanted.place)))
    if wanted.place is Audience.PROJECT and not path.is_relative_to(base):
        message = f"{target.path(wanted.place)} is a link out of the repository"
        raise TerselyError(
            "unreadable_file", message, "write to the user's own settings with --user"
        )
    return path


def _of_others(wanted: InstallRequest, leaving: Container[str], own: Collection[Path]) -> set[Path]:
    """The files that are to be left alone: what other agents still read, and what those that leave
    put back, as they have written it and not the agent whose `own` files are given.
    """
    found: set[Path] = set()
    for name, agent in AGENTS.items():
        written = state.read_record(wanted.base, name).files
        if name == wanted.agent.name or not written:
            continue
        if name in leaving:
            found |= {Path(one.path) for one in written} - set(own)
        else:
            targets = [target for target in agent.targets if target.path(wanted.place)]
            found |= {_place(wanted, target) for target in targets}
    return found


def _read(path: Path) -> str | None:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | NO_WAITING | UNCHANGED), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise TerselyError(
                    "unreadable_file",
                    f"{path} is not a regular file",
                    "move it away, then try again",
                )
            content = file.read(MAX_SETTINGS_BYTES + 1)
        if len(content) > MAX_SETTINGS_BYTES:
            raise TerselyError(
                "unreadable_file", f"{path} is larger than {MAX_SETTINGS_BYTES:,} bytes"
            )
        return content.decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise TerselyError(
            "unreadable_file", f"{path} cannot be read: {error.strerror}", "check who may read it"
        ) from error
    except UnicodeDecodeError as error:
        raise TerselyError(
            "unreadable_file",
            f"{path} was not changed: it is not UTF-8",
            "save it as UTF-8, then try again",
        ) from error


def _write(path: Path, text: str | None, made: Container[str]) -> None:
    """Put a file in its place at once, with the rights it had; None takes it away, and those of the
    folders that were `made` for it that are empty then.
    """
    if text is None:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if str(folder) not in made or any(folder.iterdir()):
                return
            folder.rmdir()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.tersely-{os.getpid()}")
    try:
        draft.write_bytes(text.encode("utf-8"))
        if path.exists():
            draft.chmod(stat.S_IMODE(path.stat().st_mode))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _with(target: SettingsTarget, text: str, program: Sequence[str]) -> str:
    if target.form in _ADDED:
        return _ADDED[target.form](text, target.entries(program))
    own = text_of(target, program)
    return own if target.form is FileForm.WHOLE else _with_block(target, text, own)


def _without(target: SettingsTarget, text: str, program: Sequence[str]) -> str | None:
    if target.form in _REMOVED:
        return _REMOVED[target.form](text, target.entries(program))
    if target.form is FileForm.WHOLE:
        return None if text == text_of(target, program) else text
    start, end = _block(target, text)
    return text[:start].removesuffix("\n") + text[end:] or None if end else text


def _with_block(target: SettingsTarget, text: str, own: str) -> str:
    """The text with our part, in the place of an older one or at the end."""
    block = f"{target.comment(BEGIN)}\n{own.strip()}\n{target.comment(END)}\n"
    start, end = _block(target, text)
    if end:
        return text[:start] + block + text[end:]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{block}"


def _block(target: SettingsTarget, text: str) -> tuple[int, int]:
    """The beginning and the end of our part, (0, 0) if there is none; raises `ValueError` if it is
    broken.
    """
    first, last = target.comment(BEGIN), target.comment(END)
    start = text.find(first)
    if start < 0:
        return 0, 0
    end = text.find(last, start)
    if end < 0:
        raise ValueError(f"{first} has no {last}")
    end += len(last)
    return start, end + text[end:].startswith("\n")
