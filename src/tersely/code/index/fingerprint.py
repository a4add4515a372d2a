"""The identity of what turns text into facts: two programs with the same fingerprint find the same
facts.
"""

from __future__ import annotations

from _blake2 import blake2b  # what `hashlib` wraps, which loads all of OpenSSL
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import tersely

_SOURCES = (
    "code/*.*",
    "code/languages/*.*",
    "code/languages/parts/*.*",
    "code/languages/summaries/*.*",
    "code/languages/tags/*.*",
    "code/syntax/*.*",
    "code/syntax/rule_compiler/*.*",
    "code/syntax/nodes/*.*",
    "code/index/building/*.*",
    "code/index/storage/schema.py",
)
_GRAMMARS = "tree_sitter"


@cache
def extraction_fingerprint() -> str:
    """Changes with our own sources that extraction depends on and with the grammars that are
    installed.

    A version number would have to be raised by hand, and an index of last week's facts looks like
    any other.
    """
    package = Path(tersely.__file__).parent
    digest = blake2b(tersely.__version__.encode(), digest_size=8)
    for source in _SOURCES:
        for path in sorted(package.glob(source)):
            digest.update(b"\0" + path.name.encode() + b"\0" + path.read_bytes())
    for name in _installed_grammars():
        digest.update(b"\0" + name.encode())
    return digest.hexdigest()


def _installed_grammars() -> list[str]:
    """Distributions of tree-sitter and its grammars by directory name, which ends in the version."""
    spec = find_spec(_GRAMMARS)
    if spec is None or spec.origin is None:
        return []
    beside = Path(spec.origin).parents[1]
    return sorted(path.name for path in beside.glob(f"{_GRAMMARS}*.dist-info"))
