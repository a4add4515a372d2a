"""The paths that a model may name: known at the time of asking, so that it cannot name others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from laconic.foundation.limits import MAX_CALLABLE_PATHS, MAX_COMPARED_PATHS

ROOT = "."
_END = ""  # the key of a node where a path may end


class Paths:
    """The files of a repository and their folders, POSIX and from its root; immutable.

    What is computed is kept, so one value should serve as long as the files are the same.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(sorted({path for path in files if _is_plain(path)}))
        folders = {ROOT}
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self._all = frozenset((*self.files, *folders))

    def __contains__(self, path: object) -> bool:
        return path in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all))

    def __len__(self) -> int:
        return len(self._all)

    def meant(self, path: str) -> str | None:
        """The path that is known by this name: without what goes before the root, or as the only one that ends so."""
        plain = path.strip().strip("`'\"").replace("\\", "/").removeprefix("./").rstrip("/")
        if plain in self._all:
            return plain
        plain = plain.lstrip("/")
        if plain in self._all:
            return plain
        if not plain:
            return ROOT if path.strip() in {"/", "./", ""} else None
        endings = [known for known in self._all if known.endswith(f"/{plain}")]
        if not endings and path.strip().startswith(("/", "~", "..")):  # from above the root
            endings = [known for known in self._all if known != ROOT and plain.endswith(f"/{known}")]
            endings = [max(endings, key=len)] if endings else []
        return endings[0] if len(endings) == 1 else None

    def nearest(self, path: str) -> list[str]:
        """Up to three known paths that look like this one."""
        name = path.rstrip("/").rpartition("/")[2]
        alike = [known for known in self._all if known.rpartition("/")[2] == name]
        if alike:
            return sorted(alike)[:3]
        return get_close_matches(path, self.files[:MAX_COMPARED_PATHS], n=3, cutoff=0.5)

    @cached_property
    def rules(self) -> str:
        """GBNF rules for exactly these paths, `known-path` first; "" where they are too many.

        A trie: after each character only what may follow is compared, while alternatives side by side would all be.
        Ends that are the same share their rules.
        """
        return "" if len(self._all) > MAX_CALLABLE_PATHS else _trie_rules(self._all)


def _is_plain(path: str) -> bool:
    """Whether a path stands for itself on a line of its own."""
    return path.isprintable() and path == path.strip(" `'\"") and path != ""


Node = dict[str, Any]  # a character to what may follow it


def _trie_rules(words: Iterable[str]) -> str:
    root: Node = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[_END] = {}
    names: dict[str, str] = {}  # the body of each rule to its name
    top = _rule(root, names)
    rules = [f"{name} ::= {body}" for body, name in names.items()]
    return "\n".join([f"known-path ::= {top}", *rules])


def _rule(node: Node, names: dict[str, str]) -> str:
    """The name of the rule for what may follow at a node."""
    bodies = []
    for character, after in sorted(node.items()):
        if character == _END:
            bodies.append('""')
            continue
        text = character
        while len(after) == 1 and _END not in after:  # a run without branches is one literal
            ((following, after),) = after.items()
            text += following
        bodies.append(literal(text) if list(after) == [_END] else f"{literal(text)} {_rule(after, names)}")
    return names.setdefault(" | ".join(bodies), f"path-{len(names)}")


def literal(text: str) -> str:
    """A text as GBNF writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
