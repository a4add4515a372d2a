"""Call sites of a repository, and what we say that each calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node, Parser

from tersely.code.engine import Engine
from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.program import callee_names
from tersely.code.languages import model
from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.children import field
from tersely.code.syntax.extract import readable, tools_for


class Site(NamedTuple):
    """The calls of one name on one line, counted from 1."""

    path: str
    line: int
    name: str


class Answer(NamedTuple):
    """What we say that a site calls: symbol ids, those found by name alone apart."""

    by_value: frozenset[str]
    by_name: frozenset[str]


NO_ANSWER = Answer(frozenset(), frozenset())


class Written(NamedTuple):
    """A call as the source has it: its site, and the byte of the line at which the name begins."""

    site: Site
    byte: int


def written_calls(engine: Engine, path: str, language_name: str) -> Iterator[Written]:
    """Every call of a file whose callee ends with a name."""
    language = LANGUAGES[language_name]
    parser, _, rules = tools_for(language)
    source = engine.source(path)
    pending: list[Node] = [parser_root(parser, source, language)]
    while pending:
        node = pending.pop()
        pending += node.named_children
        name = _name_of_callee(node, rules)
        if name is not None and name.text is not None:
            row, byte = name.start_point
            yield Written(Site(path, row + 1, name.text.decode("utf-8", "replace")), byte)


def parser_root(parser: Parser, source: bytes, language: model.Language) -> Node:
    """The tree of a file as facts are made of it."""
    return parser.parse(readable(source, language)).root_node


def _name_of_callee(node: Node, rules: list[object]) -> Node | None:
    """The name at the end of what a node calls, None for other nodes and for what has no name."""
    rule = rules[node.kind_id]
    if type(rule) is not model.Call:
        return None
    callee = field(rule.callee)(node)
    while callee is not None and callee.named_child_count:
        inner = rules[callee.kind_id]
        if type(inner) is model.Member:
            callee = field(inner.member)(callee)
        elif type(inner) is model.Inner:
            callee = field(inner.field)(callee)
        else:
            return None
    return callee


def our_answers(graph: CallGraph, path: str) -> dict[Site, Answer]:
    """What we say of the calls of a file. What a called function calls back is no answer of the site."""
    program, sites = graph.program, graph.sites
    file = program.file(program.by_path[path])
    by_value: dict[Site, set[str]] = defaultdict(set)
    by_name: dict[Site, set[str]] = defaultdict(set)
    for position, scope in enumerate(file.scopes):
        for index, call in enumerate(scope.calls if scope is not None else ()):
            targets = [target for target in sites.targets_at(file, position, index) if target.shift >= 0]
            guesses = [] if targets else sites.guesses(file, position, call)
            for name in callee_names(call[1]):
                site = Site(path, call[4], name)
                by_value[site] |= {program.symbol_id(target.file, target.position) for target in targets}
                by_name[site] |= {program.symbol_id(target.file, target.position) for target in guesses}
    return {site: Answer(frozenset(by_value[site]), frozenset(by_name[site])) for site in by_value}
