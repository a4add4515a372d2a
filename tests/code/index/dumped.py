"""All facts of an index in one order, free of ids and times: equal for a refreshed and a rebuilt
one.
"""

from __future__ import annotations

from typing import Any

from tersely.code.index.storage.store import Store


def dumped(store: Store) -> list[tuple[Any, ...]]:
    """Every fact that a store tells."""
    files = store.files()
    paths = {file.id: file.path for file in files}
    rows: list[tuple[Any, ...]] = [("revision", store.revision())]
    rows += [
        ("known", path, file.hash, file.skipped) for path, file in sorted(store.known().items())
    ]
    for file in files:
        rows.append(("file", file.path, file.language, file.hash, file.namespace))
        rows.append(("facts", file.path, store.facts(file.id)))
    symbols = list(store.symbols())
    rows += [("symbol", symbol) for symbol in symbols]
    for name in sorted({symbol.name for symbol in symbols}):
        rows += sorted(
            ("named", name, paths[found[0]], *found[1:]) for found in store.places_named(name)
        )
    rows += [("import", *found) for found in store.every_import()]
    rows += [("problem", *found) for found in store.problems()]
    rows += [("mention", name, sorted(paths[one] for one in ids)) for name, ids in store.mentions()]
    return rows
