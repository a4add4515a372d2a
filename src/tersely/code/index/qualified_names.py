"""Names as people write them in some language, read as the dotted names of an index.

`Class#method`, `Namespace\\Class::method`, `(*Type).Method`, `Type::<T>::method`, `Class->method()`
and `example.org/group/package.Type` differ from `Class.method` in their punctuation alone. What
precedes a qualified name is its *container*: the package, namespace or module that a file is, is
in, or declares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

_ARGUMENTS = re.compile(r"\([^()]*\)$")
_RECEIVER = re.compile(r"^\(\s*[*&]?\s*([\w.]+)\s*\)(?=\.)")  # `(*Type).Method`
_IMPLEMENTED = re.compile(r"^<\s*([\w.]+)[^<>]*>(?=\.)")  # `<Type as Trait>::method`
_TYPE_ARGUMENTS = re.compile(r"\.?<[^<>]*>")
# of a package that is named by where it comes from
_HOST = re.compile(r"^[\w-]+(?:\.[\w-]+)+/(?:.*/)?")
_SEPARATOR = re.compile(r"::|->|[\\/]|#(?=\D)")
# what says that a name begins at the root, or is a reference
_ROOT = re.compile(r"^(?:[.$&*]|crate\.)+")

# files that are what their directory is called
_ENTRY_MODULES = frozenset({"__init__", "index", "lib", "main", "mod"})


class Nearness(IntEnum):
    """The degrees to which a container fits a file, the best first."""

    IS = 0  # the file, its package, or the namespace that it declares
    AROUND = 1  # a package above it, which may export what is in it
    ELSEWHERE = 2


def dotted_name(name: str) -> str:
    """A name with dots between its parts, without arguments and references; most names are that
    already.
    """
    text = _HOST.sub("", _ARGUMENTS.sub("", name.strip()))
    text = _SEPARATOR.sub(".", text)
    text = _IMPLEMENTED.sub(r"\1", _RECEIVER.sub(r"\1", text))
    return _ROOT.sub("", _TYPE_ARGUMENTS.sub("", text))


def nearness(container: Sequence[str], path: str, namespace: str) -> Nearness:
    """The degree to which the parts of a container fit a file with a declared namespace, which may
    be empty.
    """
    wanted = list(container)
    declared = dotted_name(namespace).split(".")
    module = _module_parts(path)
    if wanted in (declared[-len(wanted) :], module[-len(wanted) :]):
        return Nearness.IS
    starts = range(len(module) - len(wanted) + 1)
    is_around = any(module[at : at + len(wanted)] == wanted for at in starts)
    return Nearness.AROUND if is_around else Nearness.ELSEWHERE


def _module_parts(path: str) -> list[str]:
    """`src/click/core.py` as `src`, `click`, `core`; a file that stands for its directory has the
    directory's parts.
    """
    *directories, name = path.split("/")
    stem = name.partition(".")[0]
    return directories if stem in _ENTRY_MODULES else [*directories, stem]
