"""The functions of a repository as signatures that tell how much two of them resemble each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tersely.code.index.storage.schema import IndexedFile
from tersely.code.search.duplicates.minhash import signatures
from tersely.code.search.duplicates.shingles import Hashes, Reader, Sets, functions_of, shingle_sets
from tersely.code.symbols import Symbol
from tersely.foundation.arrays import Ints, NDArray, np
from tersely.foundation.types import frozen

Counts = NDArray[np.uint32]


class FunctionTable(NamedTuple):
    """Functions file by file. Those of file `i` are rows `first[i]:first[i + 1]`; all else has one
    row a function.
    """

    first: Ints
    positions: Counts  # among the definitions of their file
    tokens: Counts  # how many each has
    sets: Sets
    signatures: Hashes


@frozen
class Functions:
    """All functions of one revision that are compared: `paths[file_of[i]]` is the file of function
    `i`.
    """

    paths: Sequence[str]
    file_of: Ints
    table: FunctionTable

    def __len__(self) -> int:
        return len(self.file_of)

    def path(self, index: int) -> str:
        """The file of a function."""
        return self.paths[int(self.file_of[index])]

    def index_of(self, path: str, position: int) -> int | None:
        """The function at a position among the definitions of a file, None if it is not compared."""
        if path not in self.paths:
            return None
        at = self.paths.index(path)
        rows = range(int(self.table.first[at]), int(self.table.first[at + 1]))
        return next((row for row in rows if int(self.table.positions[row]) == position), None)


def collect(
    files: Sequence[IndexedFile],
    source_of: Callable[[IndexedFile], bytes],
    symbols_of: Callable[[str], list[Symbol]],
) -> Functions:
    """The functions of all files."""
    reader = Reader()
    positions: list[int] = []
    tokens: list[Hashes] = []
    counts: list[int] = []
    for file in files:
        functions = functions_of(symbols_of(file.path))
        counts.append(len(functions))
        if functions:
            tokens += reader.read(
                file.language, source_of(file), [symbol for _, symbol in functions]
            )
            positions += [position for position, _ in functions]
    sets = shingle_sets(tokens)
    table = FunctionTable(
        np.concatenate(([0], np.cumsum(np.array(counts, np.int64)))),
        np.array(positions, np.uint32),
        np.fromiter(map(len, tokens), np.uint32, len(tokens)),
        sets,
        signatures(sets),
    )
    return Functions([file.path for file in files], np.repeat(np.arange(len(files)), counts), table)
