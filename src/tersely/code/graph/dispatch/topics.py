"""Handlers of frameworks, and the calls that lead to them: by a path, a name, a signal, the type of
an event.

What registers a handler and what reaches one are entries of the tables in
`languages/frameworks.py`. A handler is called where it is registered; a call that reaches a topic
calls the handlers of that topic, in any language for paths.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import CALL, MEMBER, Expression
from tersely.code.graph.call_resolution import Target
from tersely.code.graph.dispatch.templates import TEMPLATE_LIMIT, Templates
from tersely.code.graph.dispatch.type_filtering import type_name
from tersely.code.graph.pointsto.values import (
    CLASS,
    DISPLAY,
    FUNCTION,
    INSTANCE,
    KEY,
    MODULE,
    RESULT,
    Value,
    Values,
)
from tersely.code.graph.program import File, callee_names
from tersely.code.languages.model import HANDLER, RECEIVER, Registry, Resolution, Summary, Topic
from tersely.code.languages.registry import LANGUAGES

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

# files that write the name of a function that registers or reaches; with more none is searched
MAX_TOPIC_FILES = 300
MAX_REGISTRY_DEPTH = 5  # objects with handlers inside each other

MAX_LISTED = 20  # paths in a list that are looked at
TELLING = frozenset((*range(MAX_LISTED), "path", "url"))  # keys of what says a path
Key = tuple[str, str, Any]  # kind of a topic, the framework, and what tells it from others
Registration = tuple[File, int, Summary, Expression]  # a call in a scope of a file
Place = tuple[int, int]  # file and position of a definition


class Topics:
    """The handlers that frameworks call, and the calls that lead to them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.templates = Templates(self.program)
        self._handlers: dict[Key, set[Target]] | None = None
        self._reaching: list[tuple[int, int, int]] | None = None
        self._held: dict[Key, set[Target]] | None = None
        self._places_held: set[Place] = set()  # of the handlers in it

    def reached(self, file: File, scope: int, summary: Summary, call: Expression) -> list[Target]:
        """The handlers that a call leads to by what is known of the function it calls."""
        if summary.reaches is None:
            return []
        found: set[Target] = set()
        for kind, framework, told in self._keys(file, scope, summary.reaches, call, None):
            if kind == "path":
                found |= self._by_path(told)
            else:
                space, _, word = told.replace(":", ".").replace("/", ".").rpartition(".")
                key = (kind, framework, word)
                named = self._in_registries().get(key) or self._registered().get(key, set())
                found |= self._of_space(named, space)
        return sorted(found)

    def _of_space(self, targets: set[Target], space: str) -> set[Target]:
        """Of handlers of one name those of a namespace, as far as the paths of their files tell."""
        if not space:
            return targets
        paths = {
            target: self.program.rows[target.file].path.replace(".", "/").split("/")
            for target in targets
        }
        here = {target for target in targets if space in paths[target]}
        return here or (targets if len(targets) == 1 else set())

    def is_in_registry(self, file_id: int, position: int) -> bool:
        """Whether a function is a handler that an object holds which a framework is given."""
        self._in_registries()
        return (file_id, position) in self._places_held

    def reaching(self) -> list[tuple[int, int, int]]:
        """(file, scope, position among its calls) of every call that may lead to a handler."""
        if self._reaching is None:
            self._reaching = [
                place
                for place, summary, _ in self._calls(_is_topical)
                if summary.reaches is not None
            ]
        return self._reaching

    def _registered(self) -> dict[Key, set[Target]]:
        if self._handlers is None:
            handlers: dict[Key, set[Target]] = defaultdict(set)
            registering = [
                (self.program.file(file_id), scope, summary, call)
                for (file_id, scope, _), summary, call in self._calls(_is_topical)
                if summary.registers
            ]
            prefixes = self._prefixes(registering)
            for registration in registering:
                self._register(registration, prefixes, handlers)
            self._handlers = handlers
        return self._handlers

    def _in_registries(self) -> dict[Key, set[Target]]:
        """The handlers that objects hold which frameworks are given."""
        if self._held is None:
            self._held = defaultdict(set)
            for (file_id, scope, _), summary, call in self._calls(_has_registry):
                registry, file = summary.registry, self.program.file(file_id)
                if registry is not None and registry.argument < len(call[2]):
                    given = self.evaluator.values(file, scope, call[2][registry.argument])
                    self._take(given, registry, file, 0)
        return self._held

    def _take(self, objects: Values, registry: Registry, file: File, depth: int) -> None:
        """Note the handlers that some objects hold, and those of the objects inside them."""
        assert self._held is not None
        members = self.evaluator.members
        for member, framework in registry.frameworks.items():
            for table in members.of_all(objects, member, file):
                for name, functions in self._entries(table):
                    places = {(one[1], one[2]) for one in functions}
                    targets = (Target(file_id, position, -1) for file_id, position in places)
                    self._held["name", framework, name].update(targets)
                    self._places_held |= places
        if registry.inside and depth < MAX_REGISTRY_DEPTH:
            inside = members.of_all(objects, registry.inside, file)
            inner = self.evaluator.containers.held(inside)
            if inner:
                self._take(inner, registry, file, depth + 1)

    def _entries(self, table: Value) -> Iterator[tuple[str, Values]]:
        """The functions that an object or a module has, by their names."""
        if table[0] == MODULE:
            home = self.program.file(table[1])
            found = {
                name: self.evaluator.members.of_module(home, name)
                for name in home.names(0)
                if type(name) is str
            }
        elif table[0] == DISPLAY:
            keys = sorted(
                str(key[1])
                for key in self.evaluator.containers.display_keys(table)
                if key[0] == KEY
            )
            found = {
                key: self.evaluator.containers.items(table, frozenset((key,)), None) for key in keys
            }
        else:
            return
        for name, values in found.items():
            yield name, frozenset(value for value in values if value[0] == FUNCTION)

    def _prefixes(self, registering: list[Registration]) -> dict[Place, set[str]]:
        """The paths that classes are registered for: what the paths of their methods begin with."""
        found: dict[Place, set[str]] = defaultdict(set)
        for file, scope, summary, call in registering:
            paths = [topic for topic in summary.registers if topic.kind == "path"]
            for owner in self._classes(file, scope, summary, call) if paths else ():
                for topic in paths:
                    found[owner] |= {key[2] for key in self._keys(file, scope, topic, call, None)}
        return found

    def _classes(
        self, file: File, scope: int, summary: Summary, call: Expression
    ) -> Iterator[Place]:
        """The classes among what a call registers."""
        for position in summary.calls:
            if 0 <= position < len(call[2]):
                for value in self.evaluator.values(file, scope, call[2][position]):
                    if value[0] == CLASS:
                        yield value[1], value[2]

    def _register(
        self,
        registration: Registration,
        prefixes: Mapping[Place, set[str]],
        handlers: dict[Key, set[Target]],
    ) -> None:
        file, scope, summary, call = registration
        for target in self.evaluator.members.sites.called_back(summary, file, scope, call):
            owner = self.program.file(target.file).definitions[target.position][3]
            before = prefixes.get((target.file, owner), ())
            for topic in summary.registers:
                keys = list(self._keys(file, scope, topic, call, target))
                if before and topic.kind == "path":
                    ends = [key[2] for key in keys] or [""]
                    keys = [
                        ("path", topic.framework, f"{start}/{end}")
                        for start in sorted(before)
                        for end in ends
                    ]
                for key in keys:
                    handlers[key].add(target)

    def _calls(
        self, is_wanted: Callable[[Summary], bool]
    ) -> Iterator[tuple[tuple[int, int, int], Summary, Expression]]:
        """Every call of a function of which something wanted is known, with what is known of it."""
        for language in sorted({row.language for row in self.program.rows.values()}):
            for name in sorted(_names_of(LANGUAGES[language].resolution, is_wanted)):
                for file in self._writing(name, language):
                    for scope, index in file.calls_by_name.get(name, ()):
                        call = file.scope(scope).calls[index]
                        summary = self.evaluator.members.sites.summary(file, scope, call)
                        if summary is not None and is_wanted(summary):
                            yield (file.id, scope, index), summary, call

    def _writing(self, name: str, language: str) -> list[File]:
        files = sorted(
            at
            for at in self.program.facts.files_mentioning(name)
            if self.program.rows[at].language == language
        )
        if len(files) > MAX_TOPIC_FILES:
            self.program.limits_hit.add(
                f"{len(files):,} files with {name}: handlers are not looked for"
            )
            return []
        return [self.program.file(at) for at in files]

    def _by_path(self, path: str) -> set[Target]:
        """The handlers of the routes that a path fits best: those that tell most of it apart, by
        its end.
        """
        asked = segments(path)
        best: set[Target] = set()
        most = 0
        for (kind, _, route), targets in self._registered().items():
            told = fit(segments(route), asked) if kind == "path" else 0
            if told > most:
                best, most = set(targets), told
            elif told == most and told:
                best |= targets
        return best

    # Topics of calls

    def _keys(
        self, file: File, scope: int, topic: Topic, call: Expression, target: Target | None
    ) -> Iterator[Key]:
        """What tells the topic of a call from others."""
        if topic.argument == HANDLER:
            if target is not None:
                yield from self._told_by(topic, target)
            return
        if topic.kind == "template":
            yield from self._told_in_templates(file, scope, topic, call)
            return
        expression = _argument(topic, call)
        if topic.kind == "word":
            yield from (("word", topic.framework, name) for name in callee_names(expression))
            return
        for value in self._told_values(file, scope, expression):
            if topic.kind == "type" and value[0] == INSTANCE:
                for above in self.evaluator.members.linearised((CLASS, *value[1:3])):
                    yield (
                        "type",
                        topic.framework,
                        self.program.file(above[1]).definitions[above[2]][1],
                    )
            elif topic.kind == "name" and value[0] == KEY and type(value[1]) is str:
                told = value[1] if target is None else last_word(value[1])
                yield "name", topic.framework, told
            elif topic.kind == "path" and (path := _text(value)):
                yield "path", topic.framework, path

    def _told_in_templates(
        self, file: File, scope: int, topic: Topic, call: Expression
    ) -> Iterator[Key]:
        """What the templates refer to that a call names."""
        path = self.program.rows[file.id].path
        for argument in (*call[2], *(value for _, value in call[3])):
            for value in self._told_values(file, scope, argument):
                references, is_cut = self.templates.references(path, _text(value))
                if is_cut:
                    self.program.limits_hit.add(TEMPLATE_LIMIT)
                for reference in references:
                    yield reference.kind, topic.framework, reference.text

    def _told_values(self, file: File, scope: int, expression: Expression) -> Values:
        """The values of an argument, and those that a list or the options in it hold."""
        found = self.evaluator.values(file, scope, expression)
        for value in found:
            if value[0] == DISPLAY:
                found |= self.evaluator.containers.items(value, TELLING, None)
        return found

    def _told_by(self, topic: Topic, target: Target) -> Iterator[Key]:
        """What a handler itself tells: its name, or the type of its first parameter."""
        home = self.program.file(target.file)
        if topic.kind == "name":
            yield "name", topic.framework, home.definitions[target.position][1]
        elif parameters := home.scope(target.position).parameters:
            yield "type", topic.framework, type_name(parameters[0][1])


def _is_topical(summary: Summary) -> bool:
    """Whether a function registers handlers that it is given, or reaches some."""
    return bool(summary.registers) or summary.reaches is not None


def _has_registry(summary: Summary) -> bool:
    return summary.registry is not None


def _names_of(facts: Resolution, is_wanted: Callable[[Summary], bool]) -> frozenset[str]:
    """The last names of the functions outside the repository of which something wanted is known."""
    every = (*facts.methods.items(), *facts.summaries.items())
    names = (name for name, summary in every if is_wanted(summary))
    return frozenset(name.rpartition(".")[2].removesuffix("()") for name in names)


def _argument(topic: Topic, call: Expression) -> Expression:
    """The argument that says what a call is about; of what is called with a decorated function,
    where it was made.
    """
    if type(call[1]) is tuple and call[1][0] == CALL:
        call = call[1]
    if topic.keyword:
        return next((value for keyword, value in call[3] if keyword == topic.keyword), None)
    if topic.argument == RECEIVER:
        return call[1][1] if type(call[1]) is tuple and call[1][0] == MEMBER else None
    return call[2][topic.argument] if 0 <= topic.argument < len(call[2]) else None


def _text(value: Value) -> str:
    """A text, with a hole for each part of it that is not known; "" for another value."""
    if value[0] == KEY and type(value[1]) is str:
        return value[1]
    has_pattern = value[0] == RESULT and len(value) > len(("tag", "name"))
    return str(value[2]) if has_pattern else ""


def last_word(name: str) -> str:
    """A name without the namespace before it: `shop:cart`, `shop.cart`."""
    return name.replace(":", ".").rpartition(".")[2]


def segments(path: str) -> list[str]:
    """The parts of the path of a URL, without host, query and fragment."""
    _, scheme, rest = path.partition("://")
    path = f"/{rest.partition('/')[2]}" if scheme else path
    return [part for part in path.partition("?")[0].partition("#")[0].split("/") if part]


def fit(route: list[str], asked: list[str]) -> int:
    """The number of parts of a path that a route tells apart, 0 where it is another: what comes
    before it may be a prefix.
    """
    if not route or len(route) > len(asked):
        return 0
    pairs = list(zip(reversed(route), reversed(asked), strict=False))
    if any(one != other and not is_placeholder(one) for one, other in pairs):
        return 0
    return sum(one == other and not is_placeholder(one) for one, other in pairs)


def is_placeholder(part: str) -> bool:
    """Whether a part of a route stands for any text: `<int:id>`, `{id}`, `:id`, `*`."""
    return part[:1] in ("<", "{", ":", "*")
