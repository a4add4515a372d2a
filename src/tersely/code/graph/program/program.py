"""The program as the graph reads it: the facts of its files, loaded when asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Protocol

from tersely.code.bounds import Bounds
from tersely.code.expressions import last_part
from tersely.code.graph.pointsto.values import (
    Defined,
    InFile,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import Body, IndexedFile, kept
from tersely.code.graph.program.work import Work, WorkSpentError
from tersely.code.languages.model import Files, Made, shared_directories
from tersely.code.languages.registry import family_of
from tersely.code.places import directory_of, outward
from tersely.code.symbols import Definition
from tersely.code.syntax.mentions import ALIAS_MARK, BASE_MARK, GIVEN_MARK
from tersely.foundation.types import Numbers, Strings

MAX_NAMESAKES = 3  # definitions of a name, above which none of them is believed
MAX_STAR_FILES = 1_000  # that one name is looked for in, by way of imports of all names
FILE_WORK = 4  # what opening a file counts for, in equations
DEFINITIONS_A_WORK = 2  # of them as many count for one more
CLASSES_A_WORK = 50  # gone through by their names, of them as many count for one

STAR_LIMIT = (
    f"names were looked for in at most {MAX_STAR_FILES:,} files that are imported wholesale"
)
NAMESAKES_LIMIT = f"a name that more than {MAX_NAMESAKES} definitions have means none of them"


class Facts(Protocol):
    """The source of facts: the index."""

    def indexed_files(self) -> Sequence[IndexedFile]:
        """All files of the index."""
        ...

    def file_facts(self, file_id: int) -> tuple[Sequence[Definition], Sequence[Any]]:
        """Definitions and scopes of a file."""
        ...

    def files_mentioning(self, name: str) -> Sequence[int]:
        """Files that use the name, by id."""
        ...

    def mentions(self, mark: str) -> Sequence[tuple[str, Sequence[int]]]:
        """Every mention that begins with a mark, without it, with the files that have it."""
        ...

    def definitions_named(self, name: str) -> Sequence[tuple[int, int, str, str]]:
        """(file, position, kind, last name of what precedes it in its qualified name) of every
        definition of a name.
        """
        ...

    def namesakes(self, namespace: str) -> Sequence[int]:
        """Files that declare the namespace."""
        ...

    def text(self, path: str) -> str:
        """Text of a configuration file, empty without one."""
        ...


Place = tuple[int, int]  # file and position of a definition
Inside = tuple[File, int]  # likewise


class ClassName(NamedTuple):
    """The name of a class, and the file that defines it."""

    name: str
    file: int


class Hierarchy:
    """The classes that may be below others by the names that their bases are written with, which
    the index knows: no file is opened for it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program

    @kept
    def based_on(self, name: str, family: str) -> set[ClassName]:
        """The classes that may be based on one of a name, of those in a family of languages."""
        kin, unnamed = self._program.kin, self._unnamed(family)
        found, names = set[ClassName](), [name]
        for one in chain.from_iterable(map(self._based, names)):
            if one.name[:1] == ALIAS_MARK:  # another name of the class
                names += {one.name[1:]}.difference(names)
            elif kin[one.file] == family:
                found.add(one)
        for at in self._program.mentioned(name, family) if unnamed else ():
            found.update(unnamed.get(at, ()))
        return found

    @kept
    def _unnamed(self, family: str) -> dict[int, list[ClassName]]:
        """The classes with a base that only evaluating would tell, by file, likewise."""
        found = defaultdict[int, list[ClassName]](list)
        for one in self._based(""):
            if self._program.kin[one.file] == family:
                found[one.file].append(one)
        return found

    @kept
    def below(self, names: frozenset[str], family: str) -> set[ClassName]:
        """The classes that may be below one of some names, likewise."""
        found, pending = set[ClassName](), set(names)
        while pending:
            new = self.based_on(pending.pop(), family) - found
            found |= new
            pending |= {one.name for one in new}
        self._program.bounds.spend(len(found) // CLASSES_A_WORK)
        return found

    @kept
    def above_joining(self) -> set[str]:
        """The names of the classes that may be above one that has several bases."""
        bases = defaultdict[str, set[str]](set)
        for mention, _ in self._program.facts.mentions(BASE_MARK):
            base, _, name = mention.partition(BASE_MARK)
            bases[name.removeprefix(ALIAS_MARK)].add(base)
        joining = (names for names in bases.values() if len(names) > 1 or "" in names)
        found = pending = set[str]().union(*joining)
        while pending:
            pending = set[str]().union(*(bases[name] for name in pending & bases.keys())) - found
            found |= pending
        return found

    @kept
    def _based(self, base: str) -> list[ClassName]:
        """The classes with a base that is written with a name, "" for one that only evaluating would
        tell.
        """
        mentions = self._program.facts.mentions(BASE_MARK + base + BASE_MARK)
        return [ClassName(name, at) for name, files in mentions for at in files]


class Program:
    """All files of one index revision."""

    def __init__(self, facts: Facts, notes: Bounds | None = None) -> None:
        self.facts = facts
        self.rows: dict[int, IndexedFile] = {row.id: row for row in facts.indexed_files()}
        self.by_path: dict[str, int] = {row.path: row.id for row in self.rows.values()}
        self._files: dict[int, File] = {}
        self._modules: dict[tuple[str, str], list[int]] = {}
        # by language, directory or path, and namespace
        self._neighbours: dict[tuple[str, str, str], dict[int, None]] = {}
        # the family of languages of each file
        self.kin = {row.id: family_of(row.language) for row in self.rows.values()}
        self.hierarchy = Hierarchy(self)
        self.bounds = Work()  # that are met for values
        # that are met for answers, which may lack something for them
        self.notes = notes or Bounds()
        # names that may come to a file by imports that were not read
        self.beyond_stars: set[tuple[int, str]] = set()

    @contextmanager
    def within(self, most: float, limit: str) -> Iterator[None]:
        """Inside, at most so much work is done of what is left. If that ends it, the note says so."""
        try:
            with self.bounds.limited(most):
                yield
        except WorkSpentError:
            self.notes.add(limit)

    def file(self, file_id: int) -> File:
        """A file with its facts."""
        known = self._files.get(file_id)
        if known is None:
            definitions, scopes = self.facts.file_facts(file_id)
            self.bounds.spend(FILE_WORK + len(definitions) // DEFINITIONS_A_WORK)
            known = self._files[file_id] = File(self.rows[file_id], definitions, scopes)
        return known

    def home(self, value: InFile) -> File:
        """The file of the definition that an abstract value has."""
        known = self._files.get(value.file)
        return self.file(value.file) if known is None else known

    def place(self, value: Defined) -> Inside:
        """The file of the definition that an abstract value has, and its position."""
        return self.home(value), value.position

    def definition(self, value: Defined) -> Definition:
        """The definition that an abstract value has."""
        return self.home(value).definitions[value.position]

    def scope(self, value: Defined) -> Body:
        """The scope of the definition that an abstract value has."""
        return self.home(value).scope(value.position)

    def is_kin(self, file_id: int, file: File) -> bool:
        """True if two files are written in languages that see each other's definitions."""
        return self.kin[file_id] == file.family

    def nearest(self, files: Iterable[int], like: File) -> list[int]:
        """Files, those first that share the most directories with one."""
        paths = sorted(self.rows[file_id].path for file_id in files)
        paths.sort(key=lambda path: -shared_directories(path, like.path))
        return [self.by_path[path] for path in paths]

    def take_over(self, before: Program, same: Iterable[Place]) -> None:
        """Take the loaded files of another revision whose facts are the same, given as pairs of
        ids, before and now.

        What a file says depends on its facts alone. The other program is of no use after this.
        """
        for old, new in same:
            file = before._files.get(old)
            if file is not None:
                file.id = new
                file.displays = {}
                self._files[new] = file
        before._files.clear()

    def symbol_id(self, file_id: int, position: int) -> str:
        """The id that the outside world uses."""
        path = self.rows[file_id].path
        if position == 0:
            return path
        return f"{path}:{self.qualname(file_id, position)}"

    def qualname(self, file_id: int, position: int) -> str:
        """The qualified name with its number among true redefinitions."""
        return self.file(file_id).qualnames()[position]

    def modules(self, importer: File, module: str) -> list[int]:
        """Files that an import may mean, best first."""
        key = (importer.import_base, module)
        known = self._modules.get(key)
        if known is None:
            paths = importer.semantics.modules(self, importer.path, module)
            known = self._modules[key] = [
                self.by_path[path] for path in paths if path in self.by_path
            ]
        return known

    def starred(
        self, file: File, passes_on: Callable[[File], bool], say_cut: Callable[[str], None]
    ) -> Iterator[File]:
        """The files whose names a file imports wholesale, by way of others too, each once, the last
        import first.

        A file that does not pass a name on is left out with those behind it.
        """
        seen = {file.id}
        pending = [*self._targets_of_stars(file)]
        while pending:
            target = pending.pop()
            if target in seen:
                continue
            if len(seen) > MAX_STAR_FILES:
                say_cut(STAR_LIMIT)
                return
            seen.add(target)
            other = self.file(target)
            if passes_on(other):
                yield other
                pending += [each for each in self._targets_of_stars(other) if each not in seen]

    @kept
    def _targets_of_stars(self, file: File) -> list[int]:
        """The files that imports of all names mean, the one that counts first at the end."""
        return [target for module in file.stars for target in reversed(self.modules(file, module))]

    def mentioning(self, name: str, like: File) -> Numbers:
        """Files that use a name, of those whose languages see the definitions of a file."""
        return self.mentioned(name, like.family)

    @kept
    def mentioned(self, name: str, family: str) -> Numbers:
        """Files that use a name, of those in a family of languages."""
        files = sorted(self.facts.files_mentioning(name))
        return tuple(each for each in files if self.kin[each] == family)

    def given(self, function: str, names: Iterable[str], like: File) -> set[int]:
        """The files in which a function is given one of some names of members, "" for what only
        evaluating would tell.
        """
        marks = (function + GIVEN_MARK + name for name in names)
        return {at for mark in marks for at in self.mentioning(mark, like)}

    @kept
    def places_named(self, name: str) -> tuple[tuple[int, int, str, str], ...]:
        """(file, position, kind, last name of what precedes it in its qualified name) of the
        definitions of a name anywhere.
        """
        return tuple(sorted(self.facts.definitions_named(name)))

    @kept
    def named(
        self,
        name: str,
        owner: str | None = None,
        kinds: Strings | frozenset[str] | None = None,
    ) -> tuple[Place, ...]:
        """(file, position) of the definitions of a name anywhere, of some kinds, qualified by the
        name of an owner.
        """
        return tuple(
            (file_id, position)
            for file_id, position, kind, around in self.places_named(name)
            if (kinds is None or kind in kinds) and (owner is None or around == owner)
        )

    def meant_by(
        self, name: str, file: File, kinds: frozenset[str] | None = None, qualifier: str = ""
    ) -> Sequence[Place]:
        """(file, position) of the definitions of some kinds that a name means by itself, or behind a
        qualifier: those of the file, else of the files that it imports, else of any; nothing if they
        are many. A qualifier ends in the name of what is around a definition, of its file or directory.
        """
        owner = last_part(qualifier.replace("/", "."))
        owned = self.named(name, owner or None, kinds)
        every = [
            place
            for place in self.named(name, kinds=kinds)
            if place in owned
            or owner in self.rows[place[0]].path.rpartition(".")[0].split("/")[-2:]
            if self.is_kin(place[0], file)
        ]
        imported = {each for module in file.stars for each in self.modules(file, module)}
        for near in ({file.id}, imported):
            every = [place for place in every if place[0] in near] or every
        if len(every) > MAX_NAMESAKES:
            self.notes.add(NAMESAKES_LIMIT)
        return every if len(every) <= MAX_NAMESAKES else ()

    def neighbours(self, file: File) -> Collection[int]:
        """Files that share their top-level names with this one, found out once for a package."""
        directory = directory_of(file.path)
        own = file.path if file.semantics.namespace == "shared" else directory
        key = (file.language.name, own, file.namespace)
        known = self._neighbours.get(key)
        if known is None:
            known = self._neighbours[key] = dict.fromkeys(self._sharing_names(file, directory))
        return known

    def _sharing_names(self, file: File, directory: str) -> Sequence[int]:
        sharing = file.semantics.namespace
        if sharing == "directory":
            paths = [path for path in self.under(directory) if directory_of(path) == directory]
            return [
                self.by_path[path]
                for path in paths
                if self.rows[self.by_path[path]].language == file.language.name
            ]
        if sharing == "shared" and file.namespace:
            shared = (
                self.by_path[path]
                for path in file.semantics.sharing(self, file.path)
                if path in self.by_path
            )
            return [
                other
                for other in shared
                if other != file.id and self.rows[other].namespace == file.namespace
            ]
        if sharing == "declared":
            found = list(self.facts.namesakes(file.namespace))
            outer = file.namespace
            while outer and file.semantics.outer_namespaces:
                outer = outer.rpartition(file.semantics.separator)[0]
                found += self.facts.namesakes(outer)
            return found
        return ()

    # What languages ask about files

    def directories(self) -> list[str]:
        """All directories that hold files, the root as ""."""
        return sorted(self._by_directory)

    def exists(self, path: str) -> bool:
        """True if the index has a file."""
        return path in self.by_path

    def declaring(self, namespace: str) -> list[str]:
        """Paths of the files that declare a namespace."""
        return sorted(self.rows[file_id].path for file_id in self.facts.namesakes(namespace))

    def text(self, path: str) -> str:
        """Text of a configuration file."""
        return self.facts.text(path)

    @kept
    def once(self, compute: Callable[[Files], Made]) -> Made:
        """What a language makes of the repository, made once."""
        return compute(self)

    @kept
    def ending(self, suffix: str) -> list[str]:
        """Paths equal to `suffix` or ending in `/suffix`."""
        candidates = self._by_end.get("/".join(suffix.split("/")[-2:]), ())
        return [path for path in candidates if f"/{path}".endswith(f"/{suffix}")]

    def under(self, directory: str) -> list[str]:
        """Paths below a directory, at any depth."""
        return self._by_directory.get(directory, [])

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        """Paths by their last part, and by their last two."""
        found = defaultdict[str, list[str]](list)
        for path in sorted(self.by_path):
            directory, _, name = path.rpartition("/")
            found[name].append(path)
            if directory:
                found[f"{directory.rpartition('/')[2]}/{name}"].append(path)
        return found

    @cached_property
    def _by_directory(self) -> dict[str, list[str]]:
        """Paths by every directory around them, the root as ""."""
        found = defaultdict[str, list[str]](list)
        for path in sorted(self.by_path):
            for around in outward(directory_of(path)):
                found[around].append(path)
        return found
