"""From files to rows: read, judge, extract. Knows neither the database nor other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tersely.code.index.building.judge import not_worth_indexing
from tersely.code.index.content import Reason, reader_below, reason_of
from tersely.code.index.storage.schema import (
    Batch,
    Job,
    encode_facts,
    file_row,
    symbol_rows,
)
from tersely.code.languages.registry import LANGUAGES, language_of_path, language_of_script
from tersely.code.symbols import FileFacts
from tersely.code.syntax.extract import extract
from tersely.code.syntax.outline import outline_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.hashing import content_hash

SCRIPT_LINE_BYTES = 200
MAX_WHOLE_BYTES = 1_000_000  # of a file, of a larger one only the definitions are read
# of the syntax tree, of which each is a few in the facts; stored values have 2,000 at most
STORABLE_LEVELS = 300


class _NotIndexedError(Exception):
    """Its arguments are the reason and, where there is more to say, a sentence."""


def build(root: str, jobs: Iterable[Job]) -> Batch:
    """The rows of these files."""
    batch, read = Batch.empty(), reader_below(root)
    for job in jobs:
        _add(batch, read, job)
    return batch


def _add(batch: Batch, read: Callable[[str], bytes], job: Job) -> None:
    digest = b""
    try:
        source = read(job.path)
        digest = content_hash(source)
        language, facts, encoded = _facts(job.path, source)
    except OSError as error:
        batch.skip(job, digest, reason_of(error))
        return
    except _NotIndexedError as error:
        batch.skip(job, digest, *error.args)
        return
    file_id = job.file_id
    batch.files.append(file_row(job, digest, language, facts.namespace))
    batch.facts.append((file_id, encoded))
    batch.symbols.extend(symbol_rows(file_id, job.path, facts.definitions))
    for position, item in enumerate(facts.imports):
        batch.imports.append((file_id, position, item.module, item.name, item.alias, item.line))
    for position, problem in enumerate(facts.problems):
        batch.problems.append((file_id, position, problem.line, problem.message))
    for name in facts.mentions:
        batch.mentions.setdefault(name, []).append(file_id)


def _facts(path: str, source: bytes) -> tuple[str, FileFacts, bytes]:
    language = language_of_path(path)
    if language is None:
        first_line = source[:SCRIPT_LINE_BYTES].partition(b"\n")[0]
        language = language_of_script(first_line.decode("latin-1"))
    if language is None:
        raise _NotIndexedError(Reason.UNKNOWN_LANGUAGE)
    reason = not_worth_indexing(path, source)
    if reason is not None:
        raise _NotIndexedError(reason)
    try:
        try:
            return language, *_encoded(path, source, language)
        except ValueError:  # what can be read may be nested too deeply to be stored
            return language, *_encoded(path, source, language, STORABLE_LEVELS)
    except (ImportError, TerselyError) as error:
        raise _NotIndexedError(Reason.MISSING_GRAMMAR, str(error)) from error
    except Exception as error:  # one file must not take all others with it; the report names it
        raise _NotIndexedError(
            Reason.EXTRACTION_FAILED, f"{type(error).__name__}: {error}"
        ) from error


def _encoded(
    path: str, source: bytes, language: str, levels: int | None = None
) -> tuple[FileFacts, bytes]:
    facts = extract(source, LANGUAGES[language], path, levels)
    if len(source) > MAX_WHOLE_BYTES:
        facts = outline_of(facts)
    return facts, encode_facts(facts)
