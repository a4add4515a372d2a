"""Bringing the index up to date: what has changed since it was last looked at is read again, and
nothing else.

A file counts as unchanged when size, mtime and ctime are what they were; if not, its hash decides.
A file that was written within `RACY_SECONDS` before it was looked at could change again without its
times showing it: it is remembered without an mtime, so that the next refresh reads it. All changes
of a refresh are one transaction: others see the index before or after it, and a killed refresh
leaves the one before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from tersely.code.index.building.jobs import batches
from tersely.code.index.content import ReadBelow, Reason, reader_below
from tersely.code.index.scan import (
    Scan,
    ScannedFile,
    decides_about_others,
    is_candidate,
    scan_listed,
    scan_paths,
)
from tersely.code.index.storage.schema import Batch, Job, KnownFile
from tersely.code.index.storage.store import Store
from tersely.foundation.clock import Stopwatch, wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import GitListing
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import Strings, field, record

FIRST_BUILD_SECONDS = 300  # for another process to finish the first index there is
LEAST_SHARED_BYTES = 1_000_000  # of the source of an index that has a base
RACY_SECONDS = 2.0  # the coarsest clock of a file system in use: FAT's

Progress = Callable[[int, int], None]  # (files done, files to do)


class RefreshReport(NamedTuple):
    """The outcome of a refresh. Counts are of indexed and skipped files together."""

    revision: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    unknown: int = 0  # files in no language of ours; they are not in the index
    taken: int = 0  # files that were not read for their facts: others had read the same
    # another process was writing: answers come from the revision before the changes
    is_behind: bool = False
    seconds: float = 0.0
    notices: Strings = ()  # what is so as long as nothing changes
    news: Strings = ()  # what has happened to the index, to be said once


@record
class _Plan:
    """The difference between the disk and a store at one data version."""

    data_version: int
    scan: Scan
    started_ns: int
    added: list[ScannedFile] = field(default_factory=list)
    changed: list[tuple[ScannedFile, KnownFile]] = field(default_factory=list)
    touched: list[KnownFile] = field(default_factory=list)  # same content under a new stat
    # news of what the scan skipped
    skips: list[tuple[str, KnownFile | None, Reason]] = field(default_factory=list)
    removed: list[tuple[str, KnownFile]] = field(default_factory=list)
    unchanged: int = 0
    taken: int = 0  # files of a base that was adopted and has the same content

    def changes_facts(self) -> bool:
        return bool(self.added or self.changed or self.skips or self.removed)


def refresh(
    root: Path,
    store: Store,
    *,
    progress: Progress | None = None,
    paths: Collection[str] | None = None,
) -> RefreshReport:
    """Make the store equal to one built anew from the files below `root`.

    With `paths`, the caller knows that nothing else has changed since the last refresh. They are
    all that is looked at, unless one of them may decide which other files belong to the index.

    A damaged store is built anew. While another process is writing, this one waits a bounded time
    and then reports `is_behind`; only for the very first index, without which there is no answer at
    all, it waits long.
    """
    watch = Stopwatch()
    real_root = os.path.realpath(root)
    if not os.path.isdir(real_root):
        raise TerselyError("root_not_found", f"{root} is not a directory")
    try:
        plan, is_behind = _bring_up_to_date(real_root, store, progress, paths)
    except TerselyError as error:
        if error.code != "database_corrupt":
            raise
        store.replace_damaged()
        plan, is_behind = _bring_up_to_date(real_root, store, progress, None)
    return RefreshReport(
        revision=store.revision(),
        added=len(plan.added) + sum(old is None for _, old, _ in plan.skips),
        changed=len(plan.changed) + sum(old is not None for _, old, _ in plan.skips),
        removed=len(plan.removed),
        unchanged=plan.unchanged + len(plan.touched),
        unknown=plan.scan.unknown,
        taken=plan.taken,
        is_behind=is_behind,
        seconds=watch.seconds(),
        notices=(*store.notices, *plan.scan.notices),
        news=store.take_news(),
    )


def _bring_up_to_date(
    root: str,
    store: Store,
    progress: Progress | None,
    paths: Collection[str] | None,
    shares: bool = True,
) -> tuple[_Plan, bool]:
    """What was to be done, and whether it still is because another process holds the index."""
    watch = Stopwatch()
    while True:
        plan = (_plan_for(paths, root, store) if paths is not None else None) or _make_plan(
            root, store
        )
        if store.is_current() and not plan.changes_facts():
            if plan.touched:
                _note_touched(store, plan)
            return plan, False
        base, read = "", 0
        if shares and not store.usable_languages():
            base, read = _first_base(root, store, plan.scan.files, progress)
        try:
            done = _carry_out(root, store, plan, progress, base)
            done.taken = max(0, done.taken - read)
            return done, False
        except TerselyError as error:
            if error.code != "database_locked":
                raise
            if store.is_current():
                return plan, True
            if watch.seconds() > FIRST_BUILD_SECONDS:
                raise


def _first_base(
    root: str, store: Store, files: list[ScannedFile], progress: Progress | None
) -> tuple[str, int]:
    """The name of a base for an index that has nothing yet, "" where it would spare too little or there
    is none, and the number of files that were read to make it.
    """
    read = 0
    if store.directory is None or sum(file.size for file in files) < LEAST_SHARED_BYTES:
        return "", 0
    from tersely.code.index.storage.shared import MAX_SAMPLE_FILES, base_for

    def build(draft: Path) -> None:
        nonlocal read
        with Store.open_draft(draft) as new:
            done, _ = _bring_up_to_date(root, new, progress, None, shares=False)
            read = len(done.added) + len(done.changed)

    sample = sorted(files, key=lambda file: content_hash(file.path.encode()))
    reader = reader_below(root)
    hashes = [(file.path, _content_hash(reader, file.path)) for file in sample[:MAX_SAMPLE_FILES]]
    return base_for(hashes, build), read


def _make_plan(root: str, store: Store) -> _Plan:
    started_ns = int(wall_seconds() * 1e9)
    with GitListing(root) as listing:  # git works while we read what is known
        # first: if others write in between, the plan is known to be old
        data_version = store.data_version()
        known = store.known()
        plan = _Plan(data_version, scan_listed(root, listing), started_ns)
    _compare(root, plan, known)
    return plan


def _plan_for(paths: Collection[str], root: str, store: Store) -> _Plan | None:
    """The same for some paths alone; None if only a look at all files can tell what they change."""
    started_ns = int(wall_seconds() * 1e9)
    data_version = store.data_version()
    if not store.is_current() or any(map(decides_about_others, paths)):
        return None
    known = {path: file for path in paths if (file := store.known_at(path)) is not None}
    if any(file.skipped for file in known.values()) or any(
        path not in known and is_candidate(path) and os.path.lexists(f"{root}/{path}")
        for path in paths
    ):
        return None
    plan = _Plan(data_version, scan_paths(root, known), started_ns)
    _compare(root, plan, known)
    return plan


def _compare(root: str, plan: _Plan, known: dict[str, KnownFile]) -> None:
    """Say in the plan how what was scanned differs from what is known."""
    read = reader_below(root)
    for file in plan.scan.files:
        old = known.pop(file.path, None)
        is_same = old is not None and file[1:] == old[1:4]
        if old is None:
            plan.added.append(file)
        elif old.is_outdated:
            plan.changed.append((file, old))
        elif is_same and old.skipped != Reason.UNREADABLE.value:
            # what hindered reading it may be gone
            plan.unchanged += 1
        elif _content_hash(read, file.path) != old.hash:
            plan.changed.append((file, old))
        elif is_same:
            plan.unchanged += 1
        else:
            plan.touched.append(
                KnownFile(old.id, *_stat_to_keep(plan, file), old.hash, old.skipped)
            )
    paths = {file.path for file in plan.scan.files}
    for path, reason in plan.scan.skipped:
        if path in paths:  # the printable form of another path
            continue
        paths.add(path)
        old = known.pop(path, None)
        if old is not None and old.skipped == reason.value and not old.hash:
            plan.unchanged += 1
        else:
            plan.skips.append((path, old, reason))
    plan.removed.extend(known.items())
    plan.added.sort()


def _content_hash(read: ReadBelow, path: str) -> bytes:
    try:
        return content_hash(read(path))
    except OSError:
        return b""  # whoever builds its rows finds out why


def _stat_to_keep(plan: _Plan, file: ScannedFile) -> tuple[int, int, int]:
    """(size, mtime, ctime) to remember, without an mtime that a later change may share."""
    is_racy = max(file.mtime_ns, file.ctime_ns) >= plan.started_ns - RACY_SECONDS * 1e9
    return file.size, 0 if is_racy else file.mtime_ns, file.ctime_ns


def _note_touched(store: Store, plan: _Plan) -> None:
    """Spare later refreshes from reading the same files again; not worth waiting for."""
    try:
        with store.writing(wait=False) as writer:
            if store.data_version() == plan.data_version:
                writer.note_stat(plan.touched)
    except TerselyError as error:
        if error.code != "database_locked":
            raise


def _carry_out(root: str, store: Store, plan: _Plan, progress: Progress | None, base: str) -> _Plan:
    """Write what the plan says, or what a newer one says if others have written since it was made."""
    with store.writing(base=base) as writer:
        if store.data_version() != plan.data_version:
            plan = _make_plan(root, store)
        todo = plan
        if base and not store.is_current():
            writer.adopt(base)
            todo = _Plan(plan.data_version, plan.scan, plan.started_ns)
            _compare(root, todo, store.known())
            plan.taken = len(todo.touched)
        free_id = writer.next_file_id()  # before any is given up: a changed file keeps its own
        writer.forget(
            [*todo.removed, *((file.path, old) for file, old in todo.changed),
             *((path, old) for path, old, _ in todo.skips if old is not None)]
        )  # fmt: skip
        writer.note_stat(todo.touched)
        skips = Batch.empty()
        for path, _, reason in todo.skips:
            skips.skip(Job(free_id, path, 0, 0, 0), b"", reason)
            free_id += 1
        writer.add(skips)
        jobs = [Job(old.id, file.path, *_stat_to_keep(todo, file)) for file, old in todo.changed]
        jobs += [
            Job(free_id + place, file.path, *_stat_to_keep(todo, file))
            for place, file in enumerate(todo.added)
        ]
        done = 0
        for batch in batches(root, sorted(jobs)):
            writer.add(batch)
            done += len(batch.files)
            if progress is not None:
                progress(done, len(jobs))
    return plan
