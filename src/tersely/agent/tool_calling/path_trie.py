"""The paths that a model may name: known at the time of asking, so that it cannot name others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property

from tersely.capabilities.declaration.declaration import Role
from tersely.foundation.types import JsonObject

MAX_CALLABLE_PATHS = 40_000  # that a grammar lists; of more, names are checked when they are used
MAX_COMPARED_PATHS = 5_000  # with one that does not exist
KNOWN_PATHS = frozenset({Role.PATH, Role.FILE})  # what a parameter stands for that names one
ROOT = "."
_END = ""  # the key of a node where a path may end


class PathTrie:
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
        """The path that is known by this name: without what goes before the root, or as the only
        one that ends so.
        """
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
            endings = [
                known for known in self._all if known != ROOT and plain.endswith(f"/{known}")
            ]
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

        A trie: after each character only what may follow is compared, while alternatives side by
        side would all be. Ends that are the same share their rules.
        """
        return "" if len(self._all) > MAX_CALLABLE_PATHS else _trie_rules(self._all)


def _is_plain(path: str) -> bool:
    """True if a path stands for itself on a line of its own."""
    return path.isprintable() and path == path.strip(" `'\"") and path != ""


Node = JsonObject  # a character to what may follow it


def _trie_rules(words: Iterable[str]) -> str:
    root: Node = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[_END] = {}
    seen = [root]
    # of each node, parents before children; names may be as deep as they like, so nothing here
    # calls itself
    runs = []
    for node in seen:
        runs.append(
            [
                _run(character, after)
                for character, after in sorted(node.items())
                if character != _END
            ]
        )
        seen += [after for _, after in runs[-1] if not _is_end(after)]
    names: dict[str, str] = {}  # the body of each rule to its name
    rules: dict[int, str] = {}  # the name of the rule of each node, by its identity
    for node, ways in zip(reversed(seen), reversed(runs), strict=True):
        bodies = [
            literal(text) + ("" if _is_end(after) else f" {rules[id(after)]}")
            for text, after in ways
        ]
        body = " | ".join(['""', *bodies] if _END in node else bodies)
        rules[id(node)] = names.setdefault(body, f"path-{len(names)}")
    listed = [f"{name} ::= {body}" for body, name in names.items()]
    return "\n".join([f"known-path ::= {rules[id(root)]}", *listed])


def _run(character: str, after: Node) -> tuple[str, Node]:
    """A character with those that must follow it, and the node behind them."""
    text = character
    while len(after) == 1 and _END not in after:
        ((following, after),) = after.items()
        text += following
    return text, after


def _is_end(node: Node) -> bool:
    """True if a path has to end here."""
    return len(node) == 1 and _END in node


def literal(text: str) -> str:
    """A text as GBNF writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
