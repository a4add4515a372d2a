"""Handlers of frameworks, and the calls that lead to them: by a path, a name, a signal, the type of
an event.

What registers a handler and what reaches one are entries of the tables in
`languages/summaries/`. A handler is called where it is registered; a call that reaches a topic
calls the handlers of that topic, in any language for paths.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import Expression, last_name, last_part
from tersely.code.graph.calls.passing import receiver_of
from tersely.code.graph.calls.targets import Target, Targets
from tersely.code.graph.dispatch.registrations.base_arguments import BaseArguments
from tersely.code.graph.dispatch.registrations.routes import (
    NO_FIT,
    Routers,
    fit,
    gives_router,
    joined,
    of_pattern,
    segments,
)
from tersely.code.graph.dispatch.registrations.templates import TEMPLATE_LIMIT, Templates
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.names import Written
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ConstantObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    ModuleObject,
    Value,
    Values,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Place
from tersely.code.graph.program.scopes import kept
from tersely.code.languages.model import (
    HANDLER,
    RECEIVER,
    Registry,
    Resolution,
    Summary,
    TemplateByModel,
    Topic,
    names,
)
from tersely.code.languages.registry import LANGUAGES
from tersely.code.nodes import Call, Invocation, ListLiteral, Member
from tersely.code.syntax.mentions import callee_names

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

# files that write the name of a function that registers or reaches; with more none is searched
MAX_TOPIC_FILES = 300
MAX_REGISTRY_DEPTH = 5  # objects with handlers inside each other

MAX_LISTED = 20  # paths in a list that are looked at
TELLING = frozenset((*range(MAX_LISTED), "path", "url", "prefix"))  # keys of what says a path
PATHS = ("path", "pattern")  # kinds of topics that are paths
# Kind of a topic, the framework, of a path the verb or "" for any, and what tells it from others.
Key = tuple[str, str, str]
Handlers = dict[Key, set[Target]]  # the functions that are called for each


class Registration(NamedTuple):
    """A call in a scope of a file that registers handlers."""

    file: File
    scope: int
    summary: Summary
    call: Invocation


class Link(NamedTuple):
    """A place that names the route of a handler and does not call it; line and column from 1."""

    path: str
    line: int
    column: int
    owner: str  # the id of the symbol around it; of a template its path
    rule: str


class _Shown(NamedTuple):
    """A template that a function or class shows, by the name that it has there."""

    home: File
    position: int
    name: str


class _Links(NamedTuple):
    """The links to handlers, and who shows the templates that hold some, by symbol ids."""

    to: dict[Place, set[Link]]
    showing: dict[str, set[str]]


class Topics(Component):
    """The handlers that frameworks call, the calls that lead to them, and the links to them."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.templates = Templates(self.program)
        self.base_arguments = BaseArguments(evaluator)
        self._handlers: dict[None, tuple[Handlers, frozenset[str]]] = {}
        self._reaching: dict[None, tuple[list[tuple[int, int, int]], frozenset[str]]] = {}
        self._links: dict[None, tuple[_Links, frozenset[str]]] = {}

    def reached(self, file: File, scope: int, summary: Summary, call: Invocation) -> Targets:
        """The handlers that a call leads to by what is known of the function it calls."""
        if summary.reaches is None:
            return []
        found: set[Target] = set()
        for key in self._keys(file, scope, summary.reaches, call, None):
            found |= self._handlers_of(key, _verb(call))
        return sorted(found)

    def _handlers_of(self, key: Key, verb: str) -> set[Target]:
        """The handlers that are registered for what is told."""
        kind, framework, told = key
        if kind == "path":
            return self._by_path(told, verb)
        space, _, word = told.replace(":", ".").replace("/", ".").rpartition(".")
        of_word = (kind, framework, word)
        named = self._in_registries().get(of_word) or self.registered().get(of_word, set())
        return self._of_space(named, space)

    def links_to(self, place: Place) -> list[Link]:
        """The links to a handler."""
        return sorted(self._linked().to.get(place, ()))

    def showing(self, template: str) -> list[str]:
        """The ids of the functions and classes that show a template, itself or in another."""
        return sorted(self._linked().showing.get(template, ()))

    def linked_from(self, template: str) -> list[Place]:
        """The handlers that a template links to."""
        every = self._linked().to.items()
        return sorted(place for place, links in every if any(one.path == template for one in links))

    def _linked(self) -> _Links:
        return self.program.notes.once(self._links, None, self._all_links)

    def _all_links(self) -> _Links:
        links = _Links(defaultdict(set), defaultdict(set))
        for (file_id, scope, _), summary, call in self._calls(_names_routes):
            file, topic = self.file(file_id), summary.links
            assert topic is not None
            if topic.kind == "template":
                self._note_templates(links, file, scope, topic, call, summary.rule)
                continue
            owner = self.program.symbol_id(file_id, file.named_owner(scope))
            link = Link(file.path, call.line, 1, owner, summary.rule)
            for key in self._keys(file, scope, topic, call, None):
                self._note_link(links, key, link)
        return links

    def _note_link(self, links: _Links, key: Key, link: Link) -> None:
        for target in self._handlers_of(key, ""):
            links.to[target.file, target.position].add(link)

    def _note_templates(
        self, links: _Links, file: File, scope: int, topic: Topic, call: Invocation, rule: str
    ) -> None:
        """Note who shows the templates that a call names, and what these link to."""
        showing = links.showing
        for shown in self._templates_named(file, scope, topic, call):
            paths, is_cut = self.templates.shown(shown.home.path, shown.name)
            if is_cut:
                self.program.notes.add(TEMPLATE_LIMIT)
            owner = self.program.symbol_id(shown.home.id, shown.position)
            for path in paths:
                if path not in showing:
                    for one in self.templates.links(path):
                        link = Link(path, one.line, one.column, path, rule)
                        self._note_link(links, (one.kind, topic.framework, one.text), link)
                showing[path].add(owner)

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
        """True if a function is a handler that an object holds which a framework is given."""
        every = chain.from_iterable(self._in_registries().values())
        return any(one.place == (file_id, position) for one in every)

    def reaching(self) -> list[tuple[int, int, int]]:
        """(file, scope, position among its calls) of every call that may lead to a handler."""
        return self.bounds.once(self._reaching, None, self._all_reaching)

    def _all_reaching(self) -> list[tuple[int, int, int]]:
        return [place for place, _, _ in self._calls(_reaches)]

    def registered(self) -> Handlers:
        """The handlers that calls register, by what they are registered for."""
        return self.bounds.once(self._handlers, None, self._all_registered)

    def _all_registered(self) -> Handlers:
        handlers: Handlers = defaultdict(set)
        registering = list(self._registering())
        routers = self._routers(registering)
        for registration in registering:
            self._register(registration, routers, handlers)
        return handlers

    def _registering(self) -> Iterator[Registration]:
        """Every call that registers something, those of functions that are given a router included."""
        given: list[tuple[Registration, str]] = []
        yield from self._own_routers()
        for (file_id, scope, _), summary, call in self._calls(_has_handlers):
            registration = Registration(self.file(file_id), scope, summary, call)
            yield registration
            if gives_router(summary):
                given += [(registration, router) for router in self._router_names(registration)]
        seen: set[tuple[Place, str]] = set()
        while given:
            registration, router = given.pop()
            for target in self._targets(registration):
                place = target.place
                if (place, router) in seen:
                    continue
                seen.add((place, router))
                for inner in self._registering_in(place, router):
                    yield inner
                    if gives_router(inner.summary):
                        given.append((inner, router))

    def _own_routers(self) -> Iterator[Registration]:
        """The calls that make a router of a class of ours."""
        found = dict[ClassObject, None]()
        for language, name in self._names(_makes_router):
            for file in self._writing(name, language)[:1]:
                for own in self.open_classes.classes(
                    sorted(self.program.hierarchy.based_on(name, file.family))
                ):
                    found |= dict.fromkeys((own, *self.inheritance.subclasses(own)))
        for class_ in found:
            summary, home = self.summaries.of_base(class_), self.home(class_)
            if summary is None or not summary.makes_router:
                continue
            name = home.name(class_.position)
            for file in self._writing(name, home.language.name):
                for scope, call in file.uses.calls(name):
                    if class_ in self.calls.called(file, scope, call):
                        yield Registration(file, scope, summary, call)

    def _router_names(self, registration: Registration) -> list[str]:
        """The dotted names of the routers whose method a call calls."""
        file, scope, _, call = registration
        called = self.calls.called(file, scope, call)
        return sorted(value.name.rpartition(".")[0] for value in only(called, ExternalObject))

    def _registering_in(self, place: Place, router: str) -> Iterator[Registration]:
        """The calls that register something at a router which a function is given first."""
        file_id, position = place
        home = self.file(file_id)
        parameters = home.scope(position).parameters
        for scope, semantics in home.bodies if parameters else ():
            if not home.is_inside(scope, position):
                continue
            for call in semantics.calls:
                callee = call.callee
                if isinstance(callee, Member) and _beginning(call) == parameters[0].name:
                    method = ExternalObject(f"{router}.{callee.name}")
                    summary = self.summaries.of(method, home)
                    if summary is not None and _has_handlers(summary):
                        yield Registration(home, scope, summary, call)

    @kept
    def _in_registries(self) -> Handlers:
        """The handlers that objects hold which frameworks are given."""
        found: Handlers = defaultdict(set)
        for (file_id, scope, _), summary, call in self._calls(_has_registry):
            registry, file = summary.registry, self.file(file_id)
            if registry is not None and registry.argument < len(call.arguments):
                given = self.values(file, scope, call.arguments[registry.argument])
                for key, targets in self._handlers_in(given, registry, file, 0):
                    found[key] |= targets
        return found

    def _handlers_in(
        self, objects: Values, registry: Registry, file: File, depth: int
    ) -> Iterator[tuple[Key, set[Target]]]:
        """The handlers that some objects hold, and those of the objects inside them."""
        for member, framework in registry.frameworks.items():
            for table in self.members.of_all(objects, member, file):
                for name, functions in self._entries(table):
                    targets = {Target(*one.place, -1) for one in functions}
                    yield ("name", framework, name), targets
        if registry.inside and depth < MAX_REGISTRY_DEPTH:
            inside = self.members.of_all(objects, registry.inside, file)
            inner = self.containers.held(inside)
            if inner:
                yield from self._handlers_in(inner, registry, file, depth + 1)

    def _entries(self, table: Value) -> Iterator[tuple[str, frozenset[FunctionObject]]]:
        """The functions that an object or a module has, by their names."""
        if isinstance(table, ModuleObject):
            home = self.home(table)
            found = {
                name: self.modules.of(home, name) for name in home.names(0) if type(name) is str
            }
        elif isinstance(table, ContainerLiteral):
            keys = sorted(
                str(key.constant)
                for key in only(self.containers.display_keys(table), ConstantObject)
            )
            found = {key: self.containers.items(table, frozenset((key,)), None) for key in keys}
        else:
            return
        for name, values in found.items():
            yield name, only(values, FunctionObject)

    def _routers(self, registering: list[Registration]) -> Routers:
        """The routers, classes and modules that are registered for paths themselves."""
        routers = Routers(self.evaluator)
        for registration in registering:
            if any(topic.kind in PATHS for topic in registration.summary.registers):
                routers.note(*registration, self._paths(registration), self._targets(registration))
        return routers

    def _targets(self, registration: Registration) -> Targets:
        """The handlers that a call registers."""
        file, scope, summary, call = registration
        return self.callbacks.called_back(summary, file, scope, call)

    def _paths(self, registration: Registration) -> set[str]:
        """The paths that a call registers something for."""
        file, scope, summary, call = registration
        return {
            path
            for topic in summary.registers
            if topic.kind in PATHS
            for _, _, path in self._keys(file, scope, topic, call, None)
        }

    def _register(self, registration: Registration, routers: Routers, handlers: Handlers) -> None:
        file, scope, summary, call = registration
        if gives_router(summary):
            return
        around = routers.made(file, scope, call) or routers.around(file, scope, call)
        for target in self._targets(registration):
            for topic in summary.registers:
                keys = set(self._keys(file, scope, topic, call, target))
                if topic.kind in PATHS:
                    starts = routers.before(target, around)
                    ends = set() if summary.makes_router else {path for _, _, path in keys}
                    paths = joined(starts, ends or {""}) if ends or any(starts) else ()
                    verb = _verb(call) or self._verb_of_method(target)
                    keys = {("path", verb, path) for path in paths}
                for key in keys:
                    handlers[key].add(target)

    def _verb_of_method(self, target: Target) -> str:
        """The verb that the name of a method tells: of a class that is a handler."""
        home = self.file(target.file)
        is_method = home.owner_class(target.position) >= 0
        return verb_of(home.definitions[target.position][1]) if is_method else ""

    def _calls(
        self, is_wanted: Callable[[Summary], bool]
    ) -> Iterator[tuple[tuple[int, int, int], Summary, Expression]]:
        """Every call of a function of which something wanted is known, with what is known of it."""
        for language, name in self._names(is_wanted):
            for file in self._writing(name, language):
                for scope, index in file.uses.calls_by_name.get(name, ()):
                    call = file.call(scope, index)
                    summary = self.callbacks.summary(file, scope, call)
                    if summary is not None and is_wanted(summary):
                        yield (file.id, scope, index), summary, call

    def _names(self, is_wanted: Callable[[Summary], bool]) -> Iterator[tuple[str, str]]:
        """The languages that the repository is written in, each with the last names of functions of
        which something wanted is known.
        """
        for language in sorted({row.language for row in self.program.rows.values()}):
            for name in sorted(_names_of(LANGUAGES[language].resolution, is_wanted)):
                yield language, name

    def _writing(self, name: str, language: str) -> list[File]:
        files = sorted(
            at
            for at in self.program.facts.files_mentioning(name)
            if self.program.rows[at].language == language
        )
        if len(files) > MAX_TOPIC_FILES:
            self.bounds.add(f"{len(files):,} files with {name}: handlers are not looked for")
            return []
        return [self.file(at) for at in files]

    def _by_path(self, path: str, verb: str) -> set[Target]:
        """The handlers of the routes that a path fits best: those that tell most of it apart, by
        its end. Routes of another verb are none.
        """
        asked = segments(path)
        best: set[Target] = set()
        best_fit = NO_FIT
        for (kind, own_verb, route), targets in self.registered().items():
            is_other = verb and own_verb and verb != own_verb
            if kind != "path" or is_other:
                continue
            found = fit(segments(route), asked, from_root=path.startswith("/"))
            if found > best_fit:
                best, best_fit = set(targets), found
            elif found == best_fit != NO_FIT:
                best |= targets
        return best

    # Topics of calls

    def _keys(
        self, file: File, scope: int, topic: Topic, call: Invocation, target: Target | None
    ) -> Iterator[Key]:
        """What tells the topic of a call from others."""
        if topic.argument == HANDLER:
            if target is not None:
                yield from self._told_by(topic, target)
            return
        if topic.kind == "names":
            yield from self._told_in_lists(file, scope, topic, call)
            return
        expression = _argument(topic, call)
        if topic.kind == "word":
            written = expression.elements if isinstance(expression, ListLiteral) else (expression,)
            for one in written:
                yield from (("word", topic.framework, name) for name in callee_names(one))
            return
        said = [Written(file, scope, expression)]
        if topic.kind in PATHS:
            asking = partial(_argument, topic)
            said = list(self.base_arguments.of(Written(file, scope, call), asking))
        for value in frozenset().union(*(self._told_values(*one) for one in said)):
            if topic.kind in PATHS and (named := self.summaries.route_named(value, file)):
                yield named.kind, named.framework, _text(value) or ""
            elif topic.kind == "type" and isinstance(value, Instance):
                for above in self.inheritance.linearised(own_class(value)):
                    yield (
                        "type",
                        topic.framework,
                        self.definition(above).name,
                    )
            elif (
                topic.kind == "name"
                and isinstance(value, ConstantObject)
                and isinstance(value.constant, str)
            ):
                told = value.constant if target is None else last_word(value.constant)
                yield "name", topic.framework, told
            elif topic.kind in PATHS and (path := _text(value)) is not None:
                as_path = of_pattern(path) if topic.kind == "pattern" else path
                yield "path", topic.framework, as_path

    def _told_in_lists(
        self, file: File, scope: int, topic: Topic, call: Invocation
    ) -> Iterator[Key]:
        """The names that lists and objects hold which a call is given, after that of a namespace."""
        space = ""
        for argument in call.arguments:
            for value in self.values(file, scope, argument):
                if isinstance(value, ContainerLiteral):
                    held = self.containers.items(value, None, None)
                    texts = (_text(one) for one in held)
                    yield from (
                        ("name", topic.framework, f"{space}{text}") for text in texts if text
                    )
                elif text := _text(value):
                    space = f"{text}/"

    def _templates_named(
        self, file: File, scope: int, topic: Topic, call: Invocation
    ) -> Iterator[_Shown]:
        """The templates that a call names, or the class whose method it is."""
        for argument in call.passed:
            for value in self._told_values(file, scope, argument):
                yield _Shown(file, file.named_owner(scope), _text(value) or "")
        owner = receiver_of(call) if topic.attribute else None
        for value in self.values(file, scope, owner) if owner is not None else ():
            if isinstance(value, ClassObject):
                home = self.home(value)
                said = self.members.of(value, topic.attribute, home)
                if all(map(_is_outside, said)) and topic.otherwise is not None:
                    said = self._template_by_model(value, topic.otherwise, home)
                for one in said:
                    yield _Shown(home, value.position, _text(one) or "")

    def _template_by_model(self, class_: ClassObject, names: TemplateByModel, home: File) -> Values:
        """The name of the template of a class that is named by the class which it shows."""
        outside = [
            base.last_name
            for above in self.inheritance.linearised(class_)
            for base in self.inheritance.bases(above)
            if isinstance(base, ExternalObject)
        ]
        end = next((names.ends[base] for base in outside if base in names.ends), "")
        found: set[Value] = set()
        for model in self.members.of(class_, names.attribute, home) if end else ():
            if isinstance(model, ClassObject):
                file = self.home(model)
                name = file.name(model.position).lower()
                found.add(ConstantObject(f"{package_of(file.path)}/{name}{end}.html"))
        return frozenset(found)

    def _told_values(self, file: File, scope: int, expression: Expression) -> Values:
        """The values of an argument, and those that a list or the options in it hold."""
        found = self.values(file, scope, expression)
        for value in found:
            if isinstance(value, ContainerLiteral):
                found |= self.containers.items(value, TELLING, None)
        return found

    def _told_by(self, topic: Topic, target: Target) -> Iterator[Key]:
        """What a handler itself tells: its name, or the type of its first parameter."""
        home = self.file(target.file)
        if topic.kind == "name":
            yield "name", topic.framework, home.name(target.position)
        elif parameters := home.scope(target.position).parameters:
            yield "type", topic.framework, last_name(parameters[0].annotation)


def _has_handlers(summary: Summary) -> bool:
    """True if a function registers handlers that it is given."""
    return bool(summary.registers)


def _makes_router(summary: Summary) -> bool:
    return summary.makes_router


def _reaches(summary: Summary) -> bool:
    """True if a function leads to handlers."""
    return summary.reaches is not None


def _names_routes(summary: Summary) -> bool:
    """True if a function names handlers that it does not call."""
    return summary.links is not None


def _has_registry(summary: Summary) -> bool:
    return summary.registry is not None


def _names_of(semantics: Resolution, is_wanted: Callable[[Summary], bool]) -> frozenset[str]:
    """The last names of the functions outside the repository of which something wanted is known."""
    every = (*semantics.methods.items(), *semantics.summaries.items())
    names = (name for name, summary in every if is_wanted(summary))
    return frozenset(last_part(name).removesuffix("()") for name in names)


def _argument(topic: Topic, call: Invocation) -> Expression:
    """The argument that says what a call is about; of what is called with a decorated function,
    where it was made.
    """
    if isinstance(call.callee, Call):
        call = call.callee
    if topic.keyword:
        return next((value for keyword, value in call.keywords if keyword == topic.keyword), None)
    if topic.argument == RECEIVER:
        return receiver_of(call)
    return call.arguments[topic.argument] if 0 <= topic.argument < len(call.arguments) else None


def _verb(call: Invocation) -> str:
    """The verb that the function tells by its name which a call calls, "" for any."""
    callee = call.callee.callee if isinstance(call.callee, Call) else call.callee
    name = callee.name if isinstance(callee, Member) else callee
    return verb_of(name) if type(name) is str else ""


def _beginning(call: Invocation) -> Expression:
    """What the first of several methods is called on that are called one after the other."""
    while isinstance(call, Call):
        call = receiver_of(call)
    return call


def _text(value: Value) -> str | None:
    """A text, with a hole for each part of it that is not known; None for another value."""
    if isinstance(value, ConstantObject) and isinstance(value.constant, str):
        return value.constant
    return value.pattern if isinstance(value, ExternalResult) else None


def _is_outside(value: Value) -> bool:
    return isinstance(value, ExternalObject)


def package_of(path: str) -> str:
    """The name of the package that a file of models is in, or in which its package of models is."""
    return next((part for part in reversed(path.split("/")[:-1]) if part != "models"), "")


def last_word(name: str) -> str:
    """A name without the namespace before it: `shop:cart`, `shop.cart`."""
    return last_part(name.replace(":", "."))


TOLD_VERBS = names("get post put patch delete")  # that tell routes of one path apart


def verb_of(name: str) -> str:
    """The verb of HTTP in the name of a function: `get`, `Get`, `GetMapping`; "" for any."""
    verb = name.lower().removesuffix("mapping")
    return verb if verb in TOLD_VERBS else ""
