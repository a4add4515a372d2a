"""The version of the facts of each language: two programs with the same version find the same facts
in its files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import tersely
from tersely.code.languages.registry import BY_QUERIES, BY_RULES, DOCUMENTS
from tersely.foundation.storage.hashing import content_hash

_SOURCES = (
    "*.*",
    "languages/*.*",
    "languages/parts/*.*",
    "languages/rules/*.*",
    "languages/summaries/*.*",
    "languages/tags/*.*",
    "syntax/*.*",
    "syntax/rule_compiler/*.*",
    "syntax/nodes/*.*",
    "index/building/*.*",
    "index/storage/schema.py",
)
_GRAMMARS = "tree_sitter"
_IMPORTS = (
    re.compile(rb"tersely\.code\.languages(?:\.parts)?(?:[.\w]*\.| import )(\w+)"),
    re.compile(rb"import (tree_sitter_\w+)"),  # each begins with what is quickly looked for
    re.compile(rb"wheel\(\"(tree_sitter_\w+)"),
)


@cache
def extraction_fingerprint() -> str:
    """`language=version` for every language, by name, with a space between two.

    A version number would have to be raised by hand, and an index of last week's facts looks like
    any other.
    """
    found = versions(Path(tersely.__file__).parent / "code")
    return " ".join(f"{language}={version}" for language, version in sorted(found.items()))


def versions(code: Path) -> dict[str, str]:
    """The version of the facts of each language, for the sources below a folder and the grammars
    that are installed.

    It changes with whatever the module of the language imports, directly or not, and with all that
    is of no language.
    """
    languages, known = code / "languages", DOCUMENTS | BY_QUERIES | BY_RULES
    contents = defaultdict(bytes, _installed_grammars())
    contents[""] = tersely.__version__.encode()  # and all that is of no language
    for path in sorted(path for pattern in _SOURCES for path in code.glob(pattern)):
        name = path.stem if path.is_relative_to(languages) else ""
        contents[name] += b"\0" + path.name.encode() + b"\0" + path.read_bytes()
    imports = {
        name: [found.decode() for each in _IMPORTS for found in each.findall(content)]
        for name, content in contents.items()
    }
    own = {language: _reached((language, one.module), imports) for language, one in known.items()}
    shared = _reached(contents.keys() - set().union(*own.values()), imports)
    hashes = {name: content_hash(content) for name, content in contents.items()}
    return {
        language: content_hash(b"".join(hashes[name] for name in sorted(shared | names))).hex()
        for language, names in own.items()
    }


def _reached(names: Iterable[str], imports: dict[str, list[str]]) -> set[str]:
    """Those of some names that there are, with all that they import, directly or not."""
    found: set[str] = set()
    pending = [*names]
    while pending:
        name = pending.pop()
        if name in imports and name not in found:
            found.add(name)
            pending += imports[name]
    return found


def _installed_grammars() -> Iterator[tuple[str, bytes]]:
    """The packages of tree-sitter and its grammars, each with its version."""
    spec = find_spec(_GRAMMARS)
    if spec is not None and spec.origin is not None:
        for path in Path(spec.origin).parents[1].glob(f"{_GRAMMARS}*.dist-info"):
            yield path.name.partition("-")[0], path.name.encode()
