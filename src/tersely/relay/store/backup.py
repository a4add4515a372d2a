"""A home's store in one file, taken while its relay runs, and put back, into SQLite or into a
database of PostgreSQL; from one of these it is taken while no relay uses it.

A backup is a tar archive: the database as it was at one moment, then the blobs that it names, of
each tenant; and the settings. Secrets are left out: the token of the home, and the keys of
certificates. Those of identities are hashes.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import IO

from tersely.foundation.clock import wall_ms, wall_seconds
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.storage.database import Database
from tersely.relay.encoding import timestamp
from tersely.relay.policy import CONFIG
from tersely.relay.store import migrating
from tersely.relay.store.store import BLOBS, DATABASE, TENANTS, check

NOTE = "backup.json"  # in the home: when the last one was made, and where
NAME = re.compile(r"tersely-[0-9T.-]+Z\.tar")
FORMAT = "tersely backup 1"
_MANIFEST = "manifest.json"
_PLACE = rf"(?:{TENANTS}/[a-z0-9][a-z0-9-]{{0,62}}/)?"
_SAFE = re.compile(
    rf"{_PLACE}{re.escape(DATABASE)}|{_PLACE}{BLOBS}/[0-9a-f]{{2}}/[0-9a-f]{{64}}|{re.escape(CONFIG)}"
)
_CHUNK_BYTES = 1 << 20
_HINT = "`tersely relay backup` makes one"


def write(home: Path, target: Path, keep: int = 0, url: str = "") -> Path:
    """Write a backup of a home, or of the database at `url`, to a file, or to a new one in a
    directory, of which the latest `keep` stay; its path.

    Raises `path_not_found` without a store, `unwritable_output`, `artifact_damaged`, and with a
    database what `migrating.move` raises.
    """
    if not url and not (home / DATABASE).exists():
        raise TerselyError("path_not_found", f"{home} has no database of its own")
    is_folder = target.is_dir()
    path = target / _file_name() if is_folder else target
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb"
        ) as file:
            if url:
                with tempfile.TemporaryDirectory(dir=home, prefix=".backup-") as folder:
                    migrating.move(Path(folder), url, out=True)
                    _write(home, Path(folder), file)
            else:
                _write(home, home, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _note(home, path)
        if is_folder and keep:
            for old in sorted(one for one in target.iterdir() if NAME.fullmatch(one.name))[:-keep]:
                old.unlink()
    except OSError as error:
        raise TerselyError("unwritable_output", f"{path}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def _note(home: Path, path: Path) -> None:
    """Have `last` know of a backup; for this user alone, as all that is in a home."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(home / NOTE, flags, 0o600), "w") as file:
        json.dump({"at": wall_seconds(), "path": str(path.absolute())}, file)


def restore(source: Path, home: Path, url: str = "") -> None:
    """Put a backup into a home without a store, or into the empty database at `url`; all of it, or
    nothing. The caller holds the lock of the home.

    Raises `name_taken` where there is a store, `unreadable_file`, `invalid_bundle`,
    `unwritable_output`, and with a database what `migrating.move` raises.
    """
    taken = [name for name in (DATABASE, BLOBS, TENANTS) if (home / name).exists()]
    if taken and not url:
        hint = f"move {', '.join(str(home / name) for name in taken)} away first"
        raise TerselyError("name_taken", f"{home} has a store already", hint)
    folder = Path(tempfile.mkdtemp(prefix=".restore-", dir=home))
    try:
        _extract(source, folder)
        for place in _places(folder):
            check(place)
        if url:
            migrating.move(folder, url, out=False)
            return
        for made in sorted(folder.iterdir(), key=lambda one: one.name == DATABASE):
            # which makes it a store, last
            if made.name != CONFIG or not (home / CONFIG).exists():
                made.replace(home / made.name)
    except tarfile.TarError as error:
        raise TerselyError("invalid_bundle", f"{source} is no backup: {error}", _HINT) from error
    except OSError as error:
        raise TerselyError("unwritable_output", f"{home}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def last(home: Path) -> tuple[float, Path] | None:
    """The time of the last backup, in seconds since 1970, and its path; None where there was none."""
    try:
        told = json.loads((home / NOTE).read_text())
        return float(told["at"]), Path(told["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _file_name() -> str:
    return f"tersely-{timestamp(wall_ms()).replace(':', '-')}.tar"


def _write(home: Path, stores: Path, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add_bytes(archive, _MANIFEST, json.dumps({"format": FORMAT}).encode())
        if (home / CONFIG).exists():
            _add_bytes(archive, CONFIG, (home / CONFIG).read_bytes())
        for place in _places(stores):
            _add_store(archive, stores, place)


def _add_store(archive: tarfile.TarFile, home: Path, place: Path) -> None:
    """The database of a store at one moment, and the blobs that it names in files."""
    with tempfile.TemporaryDirectory(dir=home, prefix=".backup-") as folder:
        copied = Path(folder) / DATABASE
        with closing(Database.open_reader(place / DATABASE)) as database:
            database.copy_to(copied)
        archive.add(copied, str((place / DATABASE).relative_to(home)))
        with closing(Database.open_reader(copied)) as database:
            for (digest,) in database.stream(
                "select digest from blob where body is null order by digest"
            ):
                blob = place / BLOBS / digest[:2] / digest
                _check_blob(blob, digest)
                archive.add(blob, str(blob.relative_to(home)))


def _check_blob(path: Path, digest: str) -> None:
    hashed = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            hashed.update(chunk)
    if hashed.hexdigest() != digest:
        raise TerselyError(
            "artifact_damaged",
            f"{path} is not what was stored",
            "store the artifact again, or remove it",
        )


def _places(home: Path) -> Iterator[Path]:
    """The homes of all stores: the main one, and those of tenants."""
    if (home / DATABASE).exists():
        yield home
    if (home / TENANTS).is_dir():
        yield from (one for one in sorted((home / TENANTS).iterdir()) if (one / DATABASE).exists())


def _extract(source: Path, folder: Path) -> None:
    """Take out what a backup has, and nothing else; raises `unreadable_file` or `invalid_bundle`."""
    with failing_as("unreadable_file", source):
        file = source.open("rb")
    with file, tarfile.open(fileobj=file, mode="r:") as archive:
        first = archive.next()
        told = (
            _content(archive, first).read(_CHUNK_BYTES)
            if first is not None and first.name == _MANIFEST
            else b""
        )
        if FORMAT.encode() not in told:
            raise TerselyError("invalid_bundle", f"{source} is no backup of this version", _HINT)
        while (entry := archive.next()) is not None:
            if not (entry.isreg() and _SAFE.fullmatch(entry.name)):
                raise TerselyError(
                    "invalid_bundle",
                    f"{source} has {entry.name[:200]!r}, which no backup has",
                    _HINT,
                )
            made = folder / entry.name
            made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with made.open("xb") as out:
                shutil.copyfileobj(_content(archive, entry), out, _CHUNK_BYTES)
            if made.parent.parent.name == BLOBS:
                _check_blob(made, made.name)


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    return archive.extractfile(entry) or io.BytesIO()


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))
