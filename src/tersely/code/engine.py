"""The one door into `code`: a repository's index, kept fresh, and the questions that it answers.

An engine reads and writes only below its root. Everything it returns is a plain value; its call
graph lives as long as the revision that it was made for.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from tersely.code.bounds import Bounds, Findings, Question, QuestionLog, RecordingProxy, hash_of
from tersely.code.index.content import Hashed, read_below, reader_below, text_below
from tersely.code.index.qualified_names import dotted_name
from tersely.code.index.refresh import Progress, RefreshReport, refresh
from tersely.code.index.storage.schema import IndexedFile as StoredFile
from tersely.code.index.storage.store import Store
from tersely.code.languages.registry import LANGUAGES, document_language_of
from tersely.code.symbols import CLASS_KINDS, Definition, FileFacts, Kind, Symbol, unnumbered
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_LOOKUP_SYMBOLS
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.shortening import listed
from tersely.foundation.types import Closing, Strings

if TYPE_CHECKING:  # imported by the questions that need a graph; looking up a symbol does not
    from tersely.code.flow.reader import FlowReader
    from tersely.code.graph.callgraph import CallGraph
    from tersely.code.graph.definition import DefinitionPlace
    from tersely.code.graph.imports import ImportGraph
    from tersely.code.graph.program.scopes import IndexedFile
    from tersely.code.graph.references import References
    from tersely.code.index.documents import Document
    from tersely.code.index.history.subjects import Subject
    from tersely.code.search.duplicates.collection import Functions
    from tersely.code.search.facade import Search

MAX_CANDIDATES_NAMED = 10  # symbols listed when a query may mean several
MAX_SUGGESTIONS = 5  # near names for a query that means nothing
_BY_VALUE = 2  # the version of `marshal` that writes equal values alike

FoundT = TypeVar("FoundT")


class Engine(Closing):
    """One repository, indexed. For one thread at a time."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self._store = store
        self._log = QuestionLog()
        self.has_read_documents = False  # since somebody last said so
        self.store = cast("Store", RecordingProxy(self._log, store))
        # whether a file that has changed since it was indexed is an error; else it is noted
        self.refuses_changed = True
        self.notes = Bounds()  # of the present answer
        self._findings = Findings()  # of the present answer, but for bounds
        self._graph: tuple[str, StoredFacts, CallGraph] | None = None
        self._references: References | None = None
        self._flow: FlowReader | None = None
        self._search: Search | None = None
        self._functions: tuple[str, Functions] | None = None

    @classmethod
    def open(cls, root: Path) -> Self:
        """Open the index of a repository as it is; `refresh` brings it up to date."""
        if not root.is_dir():
            raise TerselyError("root_not_found", f"{root} is not a directory")
        return cls(root, Store.open(root))

    def close(self) -> None:
        """Let go of the index."""
        self.store.close()

    def refresh(
        self, progress: Progress | None = None, paths: Collection[str] | None = None
    ) -> RefreshReport:
        """Index the files that changed since the last refresh; `paths`, if given, holds all of
        them.
        """
        return refresh(self.root, self.store, progress=progress, paths=paths)

    @property
    def revision(self) -> str:
        """The id of all that answers are computed from: equal for equal files."""
        return self.store.revision()

    def answer(self, run: Callable[[], FoundT]) -> tuple[FoundT, Findings]:
        """The result of a function, with its findings, which no enclosing answer receives."""
        enclosing, self._findings = self._findings, Findings()
        try:
            result, bounds = self.notes.collect(run)
            return result, self._findings._replace(bounds=bounds)
        finally:
            self._findings = enclosing

    def note(self, findings: Findings) -> None:
        """Add findings to those of the present answer."""
        self.notes.add(*findings.bounds)
        self._findings = self._findings.joined(findings)

    def with_questions(self, run: Callable[[], FoundT]) -> tuple[FoundT, Findings, list[Question]]:
        """The result of a function, its findings, and the questions that it asked.

        There are no questions if an earlier call has computed a part of its answer.
        """
        if not (self._graph or self._flow or self._search or self._functions):
            self._log.questions = []
        try:
            return *self.answer(run), self._log.questions or []
        finally:
            self._log.questions = None

    def keep_nothing(self) -> None:
        """Have the present answer not be kept: it has read what no question records."""
        self._log.questions = None

    def still_hold(self, questions: Iterable[Question]) -> bool:
        """True if all questions have the same results now."""
        facts = StoredFacts(self.root, self._store, self._log)
        whom = {type(one).__name__: one for one in (self, self._store, facts)}
        return all(
            hash_of(getattr(whom[name], call)(*given, **named)) == found
            for name, call, given, named, found in questions
        )

    @property
    def graph(self) -> CallGraph:
        """The call graph of the present revision."""
        from tersely.code.graph.callgraph import CallGraph

        revision = self.revision
        if self._graph is None or self._graph[0] != revision:
            facts = StoredFacts(self.root, self._store, self._log)
            graph = CallGraph(cast("StoredFacts", RecordingProxy(self._log, facts)), self.notes)
            if self._graph is not None:
                graph.program.take_over(self._graph[2].program, facts.same_as(self._graph[1]))
            self._graph, self._references = (revision, facts, graph), None
        return self._graph[2]

    @property
    def references(self) -> References:
        """The references to definitions of the present revision."""
        from tersely.code.graph.references import References

        graph = self.graph  # a new one has no references yet
        if self._references is None:
            self._references = References(graph, self.source)
        return self._references

    def replace_damaged_index(self) -> None:
        """Replace a damaged index by an empty one, and drop everything computed from it."""
        self.store.replace_damaged()
        self._graph = self._references = self._search = self._functions = None

    def drop_outdated_graph(self) -> None:
        """Drop the graph if a configuration file that it has read has changed; no revision covers
        these.
        """
        if self._graph is not None and not self._graph[1].has_same_texts():
            self._graph = self._references = None

    def unread(self, symbol: Symbol, using: Iterable[str]) -> Strings:
        """The files that may use a symbol and were not read, or not understood, each with the
        reason.

        `using` are the paths of those that are known to use it.
        """
        return self.unread_with(_written_name(symbol), symbol.language, {*using, symbol.path})

    def unread_with(self, name: str, language: str, using: Collection[str]) -> Strings:
        """The files that may mention a name and were not read, or not understood, each with the
        reason.

        They are of languages that see definitions of `language`; "" stands for any.
        """
        return self._log.record(self._unread, {name}, language, {*using})

    def note_unread(self, symbols: Iterable[Symbol]) -> None:
        """Note the files that may use some symbols and were not read, or not understood."""
        by_language: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            if symbol.language:  # else a whole file that is no code: nothing uses it by a name
                by_language.setdefault(symbol.language, []).append(symbol)
        for language, group in by_language.items():
            names, paths = set(map(_written_name, group)), {symbol.path for symbol in group}
            self.note_incomplete(self._log.record(self._unread, names, language, paths))

    def _unread(self, names: set[str], language: str, using: set[str]) -> Strings:
        from tersely.code.index.unread import unread

        return tuple(unread(str(self.root), self.store, names, language, using))

    def not_understood(self, path: str, first: int, last: int) -> Strings:
        """A file, with the reason, if something between two of its lines is not understood."""
        from tersely.code.index.unread import not_understood

        return tuple(not_understood(self.store, path, first, last))

    def note_not_understood(self, path: str, first: int, last: int) -> None:
        """Note that something between two lines of a file, which matter to an answer, is not
        understood, if it is.
        """
        self.note_incomplete(self.not_understood(path, first, last))

    def note_left_out(self, path: str = "") -> None:
        """Note the files in a directory that were left out though they may be source, for an answer
        about the whole directory.
        """
        from tersely.code.index.unread import left_out_below

        self.note_incomplete(left_out_below(self.store, path))

    def note_incomplete(self, files: Iterable[str]) -> None:
        """Note files that may matter to the present answer and were not read, each with the reason."""
        self.note(Findings(unread=(*files,)))

    @property
    def flow(self) -> FlowReader:
        """The reader of data and control flow inside functions."""
        from tersely.code.flow.reader import FlowReader

        if self._flow is None:
            self._flow = FlowReader(self.source)
        return self._flow

    def called_on(self, path: str, lines: Collection[int]) -> list[tuple[Symbol, int]]:
        """The functions of the repository that are called on some lines of a file, each with its
        first such line.
        """
        found: dict[str, int] = {}
        for symbol in self.store.symbols_of(path):
            if any(symbol.start_line <= line <= symbol.end_line for line in lines):
                for edge in self.graph.callees(symbol.id):
                    sites = [
                        site.line for site in edge.sites if site.path == path and site.line in lines
                    ]
                    if sites:
                        found[edge.callee] = min(found.get(edge.callee, sites[0]), *sites)
        callees = [(self.store.symbol(callee), line) for callee, line in found.items()]
        return sorted(
            ((symbol, line) for symbol, line in callees if symbol is not None),
            key=lambda one: (one[1], one[0].id),
        )

    @property
    def imports(self) -> ImportGraph:
        """The graph of imports of the present revision."""
        return self.graph.imports

    @property
    def search(self) -> Search:
        """Finding symbols by words, by meaning and by text, in the present revision."""
        from tersely.code.search.facade import Search

        if self._search is None:
            self._search = Search(self.store, self.reader)
        return self._search

    def subjects(self) -> list[Subject]:
        """The subjects of the latest commits, with the files that they touched."""
        from tersely.code.index.history.subjects import subjects
        from tersely.code.search.storage.segment_store import sources_fingerprint
        from tersely.code.search.words import telling_stems

        return subjects(self.root, telling_stems, self.store.directory, sources_fingerprint())

    @property
    def functions(self) -> Functions:
        """All functions of the present revision, made ready to be compared."""
        from tersely.code.search.duplicates.collection import collect

        revision = self.revision
        if self._functions is None or self._functions[0] != revision:
            store = self.store
            self._functions = revision, collect(store.files(), self.reader(), store.symbols_of)
        return self._functions[1]

    # Symbols

    def lookup(
        self, query: str, kind: Kind | None = None, limit: int = MAX_LOOKUP_SYMBOLS
    ) -> list[Symbol]:
        """The symbols that a user's words may mean: an id, the end of one, or a pattern."""
        return self.store.find(query, (kind,) if kind else (), limit)

    def document(self, path: str) -> Document | None:
        """The document at a path, None where there is none that is read when it is asked for."""
        language = document_language_of(path)
        if language is None:
            return None
        self.has_read_documents = True
        return self._log.record(self._read_document, path, language)

    def _read_document(self, path: str, language: str) -> Document | None:
        from tersely.code.index.documents import document

        return document(str(self.root), path, language)

    def symbols_of(self, path: str) -> list[Symbol]:
        """The symbols of a file of the index, or of a document."""
        found = self.store.symbols_of(path)
        known = None if found else self.document(path)
        return known.symbols if known is not None else found

    def symbol(self, query: str, kind: Kind | None = None) -> Symbol:
        """The one symbol that a query means; raises `symbol_not_found` or `ambiguous_symbol`
        otherwise.

        A query that is a whole qualified name is preferred to longer names that end in it:
        `url_for` is the function, not `App.url_for`. Two whole names are ambiguous. Of several
        definitions of one name in a file the query means the one without a number, and
        the rest are noted. A function with a declaration and a definition means the
        definition.
        """
        found = _unnumbered(self._with_bodies(self.lookup(query, kind)))
        if not found and (document := self.document(query.partition(":")[0])):
            found = [one for one in document.symbols if one.id == query]
        found = found or self._inherited(query)
        if not found:
            raise self.not_found(query, kind)
        spellings = (query, f".{dotted_name(query)}")
        whole = (
            [symbol for symbol in found if _is_whole(symbol, spellings)]
            if len(found) > 1
            else found
        )
        if len(whole) != 1:
            raise _ambiguous(query, found)
        self._note_others(whole[0])
        return whole[0]

    def _inherited(self, query: str) -> list[Symbol]:
        """The members `Class.member` that a class inherits, by a query."""
        owner, _, name = query.rpartition(".")
        found = self.lookup(owner) if owner and name.isidentifier() else []
        classes = [one for one in found if one.kind in CLASS_KINDS]
        if not classes:
            return []
        from tersely.code.graph.definition import Definitions

        definitions = Definitions(self.graph, self.source)
        places = [
            place
            for one, position in zip(classes, self.store.positions_of(classes), strict=True)
            for place in definitions.of_member(one.path, position, name)
        ]
        symbols = (self.store.symbol(place.symbol) for place in dict.fromkeys(places))
        return [one for one in symbols if one is not None]

    def _with_bodies(self, found: list[Symbol]) -> list[Symbol]:
        """Symbols but for the announcements of functions whose bodies are among them."""
        names = {unnumbered(symbol.qualname) for symbol in found}
        if len(names) == len(found) or not any(
            LANGUAGES[symbol.language].resolution.announces for symbol in found
        ):
            return found
        announced = {symbol.id for symbol in found if self.graph.is_announced(symbol.id)}
        written = {unnumbered(symbol.qualname) for symbol in found if symbol.id not in announced}
        return [
            one
            for one in found
            if one.id not in announced or unnumbered(one.qualname) not in written
        ]

    def _note_others(self, symbol: Symbol) -> None:
        """Note further definitions of a symbol's name."""
        others = [
            other for other in self.store.symbols_of(symbol.path) if _is_numbered(other, symbol)
        ]
        if others:
            named = [
                f"{other.qualname.removeprefix(symbol.qualname)} ({_lines(other)})"
                for other in others
            ]
            names = listed(named, MAX_CANDIDATES_NAMED)
            sentence = (
                f"{visible_line(symbol.id)} has other definitions: {names}; this answer is not about"
                f" them, ask for {visible_line(others[0].qualname)}"
            )
            self.note(Findings(other_definitions=frozenset((sentence,))))

    def not_found(self, query: str, kind: Kind | None = None) -> TerselyError:
        """The error for a query that means nothing, with names that look like it."""
        from tersely.code.index.unread import first_of

        wanted = f"no {kind.value}" if kind else "no symbol"
        if place := self._place_hint(query):
            return TerselyError("symbol_not_found", f"{wanted} is named {query!r}", place)
        near = list(map(visible_line, self.store.suggestions(query, MAX_SUGGESTIONS)))
        other = (
            "`search` finds symbols by words."
            if "*" in query
            else "`symbol find 'part*'` looks for patterns."
        )
        hint = f"Similar names: {', '.join(near)}." if near else other
        unread = self.unread_with(dotted_name(query).rpartition(".")[2], "", ())
        if unread:
            hint += f" Not complete: {first_of(unread)} may have it."
        return TerselyError("symbol_not_found", f"{wanted} is named {query!r}", hint)

    def _place_hint(self, query: str) -> str:
        """The hint for the path of a directory, or of a file that is not indexed; "" for any
        other query.
        """
        path = PurePosixPath(query)
        if path.is_absolute() or ".." in path.parts:
            return ""
        shown = visible_line(query)
        if self.store.holds_directory(path.as_posix()):
            return f"{shown} is a directory: `structure {shown}` lists its symbols."
        if os.path.isfile(self.root / path):
            return f"{shown} is a file that is not indexed: `index --report` says which are."
        return ""

    def definition(self, path: str, line: int, column: int) -> list[DefinitionPlace]:
        """The places where the name at a position is defined; line from 1, column from 0 in
        characters.
        """
        from tersely.code.graph.definition import Definitions

        self.source(path)
        return Definitions(self.graph, self.source).at(path, line, column)

    def source(self, path: str) -> bytes:
        """The text of a file as it was indexed, which its facts are about; `unreadable_file` if
        that is gone.

        Where this is no error, it is the text of now.
        """
        return self._log.record(self._source, path)

    def _source(self, path: str) -> bytes:
        file = self.store.file(path)
        document = None if file else self.document(path)
        if document is not None:
            return document.source
        if file is None:
            reason = self.store.why_skipped(path)
            if reason is not None:
                raise TerselyError("not_indexed", f"{path} is not indexed: {reason.value}")
            raise TerselyError(
                "path_not_found",
                f"the index has no file {path}",
                "tersely tree lists the indexed files",
            )
        try:
            text = read_below(str(self.root), path)
        except OSError as error:
            raise _unreadable(path, error) from error
        self._check(file, text)
        return text

    def reader(self) -> Callable[[Hashed], bytes]:
        """`source` for many files of the index; one that is gone is empty where this is no error."""
        self._log.questions = None
        read = reader_below(str(self.root))

        def source(file: Hashed) -> bytes:
            document = self.document(file.path)
            try:
                text = document.source if document is not None else read(file.path)
            except OSError as error:
                if self.refuses_changed:
                    raise _unreadable(file.path, error) from error
                text = b""
            self._check(file, text)
            return text

        return source

    def _check(self, file: Hashed, text: bytes) -> None:
        """Refuse, or note, a text that is not the one that was indexed."""
        if content_hash(text) != file.hash:
            if self.refuses_changed:
                raise TerselyError(
                    "unreadable_file", f"{file.path} has changed since it was indexed", "ask again"
                )
            self.note(Findings(changed=frozenset((file.path,))))


class StoredFacts:
    """The index as `graph` reads it. Files are numbered by path: ids of the store tell in which
    order they came.
    """

    def __init__(self, root: Path, store: Store, log: QuestionLog) -> None:
        self._root = root
        self._store = store
        self._log = log
        self._files = store.files()
        self._texts: dict[str, str] = {}
        self._number = {file.id: number for number, file in enumerate(self._files)}

    def indexed_files(self) -> Sequence[IndexedFile]:
        """All files without their facts."""
        from tersely.code.graph.program.scopes import IndexedFile

        return [
            IndexedFile(at, file.path, file.language, file.namespace)
            for at, file in enumerate(self._files)
        ]

    def file_facts(self, file_id: int) -> tuple[Sequence[Definition], Sequence[Any]]:
        """Definitions and scopes of one file."""
        file = self._files[file_id]
        facts = self._store.facts(file.id)
        if self._log.questions is not None:
            self._log.record(self.says, file_id, file.hash, _meaning(facts, file.hash))
        return facts.definitions, facts.scopes

    def says(self, file_id: int, content: bytes, meaning: bytes) -> bool:
        """True if a file has a content with this hash, or one that means the same."""
        file = self._files[file_id]
        return file.hash == content or _meaning(self._store.facts(file.id), file.hash) == meaning

    def files_mentioning(self, name: str) -> Sequence[int]:
        """Files that use a name."""
        return self._numbers(self._store.files_mentioning(name))

    def mentions(self, mark: str) -> Sequence[tuple[str, Sequence[int]]]:
        """Mentions that begin with a mark, without it, with their files."""
        return [(name, self._numbers(ids)) for name, ids in self._store.mentions(mark)]

    def definitions_named(self, name: str) -> Sequence[tuple[int, int, str, str]]:
        """Definitions of a name."""
        return [
            (self._number[file_id], position, kind, owner)
            for file_id, position, kind, owner in self._store.places_named(name)
            if file_id in self._number
        ]

    def namesakes(self, namespace: str) -> Sequence[int]:
        """Files of a declared namespace."""
        return self._numbers(self._store.files_of_namespace(namespace))

    def text(self, path: str) -> str:
        """A configuration file of the repository, empty when it has none that can be read."""
        text = self._texts[path] = text_below(str(self._root), path)
        return text

    def same_as(self, before: StoredFacts) -> Iterator[tuple[int, int]]:
        """The files whose facts are unchanged, as pairs of their numbers before and now."""
        now = {_facts_key(file): number for number, file in enumerate(self._files)}
        for old, file in enumerate(before._files):
            number = now.get(_facts_key(file))
            if number is not None:
                yield old, number

    def has_same_texts(self) -> bool:
        """True if the configuration files that were read are unchanged."""
        return all(text_below(str(self._root), path) == text for path, text in self._texts.items())

    def _numbers(self, ids: Iterable[int]) -> list[int]:
        return sorted(self._number[file_id] for file_id in ids if file_id in self._number)


def _meaning(facts: FileFacts, content: bytes) -> bytes:
    """The hash of the facts of a file that the graph reads; the end of the module is none. That of
    the content for expressions too deep to be written.
    """
    module = facts.definitions[0]._replace(end_line=0, end_byte=0, signature_end_byte=0)
    said = [(str(kind), *rest) for kind, *rest in (module, *facts.definitions[1:])], facts.scopes
    try:
        return content_hash(marshal.dumps(said, _BY_VALUE))
    except ValueError:
        return content


def _written_name(symbol: Symbol) -> str:
    """The name by which code mentions a symbol: of a constructor that of its class."""
    is_constructor = symbol.name in LANGUAGES[symbol.language].resolution.constructors
    return dotted_name(symbol.qualname).split(".")[-2:][0] if is_constructor else symbol.name


def _unreadable(path: str, error: OSError) -> TerselyError:
    return TerselyError("unreadable_file", f"{path} cannot be read: {error.strerror}")


def _facts_key(file: StoredFile) -> tuple[str, str, str, bytes]:
    """The key of all that the facts of a file depend on, under one program."""
    return file.path, file.language, file.namespace, file.hash


def _unnumbered(found: Sequence[Symbol]) -> list[Symbol]:
    """The symbols but for those that have a number and are found without it too."""
    ids = {symbol.id for symbol in found}
    return [
        symbol
        for symbol in found
        if unnumbered(symbol.id) == symbol.id or unnumbered(symbol.id) not in ids
    ]


def _is_numbered(other: Symbol, symbol: Symbol) -> bool:
    """True if a symbol is a further definition of the name that another has."""
    return (
        other.path == symbol.path
        and unnumbered(other.qualname) == symbol.qualname != other.qualname
    )


def _lines(symbol: Symbol) -> str:
    """`lines 12-40`, or `line 12`."""
    if symbol.start_line == symbol.end_line:
        return f"line {symbol.start_line}"
    return f"lines {symbol.start_line}-{symbol.end_line}"


def _is_whole(symbol: Symbol, spellings: tuple[str, str]) -> bool:
    """True if a query is the whole qualified name of a symbol, or that of one in its package."""
    query, dotted = spellings
    return symbol.qualname == query or (
        bool(symbol.qualname) and dotted.endswith(f".{symbol.qualname}")
    )


def _ambiguous(query: str, found: Sequence[Symbol]) -> TerselyError:
    rest = found[MAX_CANDIDATES_NAMED:]
    hint = "Name one of them:"
    for symbol in found[:MAX_CANDIDATES_NAMED]:
        hint += f"\n  {visible_line(symbol.id)} ({symbol.kind.value})"
    if rest:
        hint += f"\n  and {len(rest)} more; `symbol find {query}` lists them"
    return TerselyError("ambiguous_symbol", f"{query!r} may mean {len(found)} symbols", hint)
