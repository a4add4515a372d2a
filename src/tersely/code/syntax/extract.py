"""Facts of one file: a pure function of its text and language that never raises on source text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import filterfalse, islice
from typing import TYPE_CHECKING, Any

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Tree

from tersely.code.languages.model import Language
from tersely.code.languages.nodes import line_of
from tersely.code.symbols import FileFacts, Problem
from tersely.code.syntax.isolation import Spared, isolated_walk
from tersely.code.syntax.lowering import Lowering
from tersely.code.syntax.mentions import (
    mentioned_bases,
    mentioned_members,
    mentioned_texts,
)
from tersely.code.syntax.rule_compiler.compilers import compile_rules

if TYPE_CHECKING:
    from tree_sitter import Node

_ENCLOSING = re.compile(r"[\w()\[\]{}]")  # brackets, and words that are brackets
MAX_PROBLEMS = 20  # a file; the rest is counted nowhere because the file is broken anyway


@cache
def grammar_of(language: Language) -> Grammar:
    """The tree-sitter grammar of a language, loaded once a process."""
    return Grammar(language.grammar())


def parse(source: bytes, language: Language) -> Tree:
    """The syntax tree; of broken source it has error nodes."""
    return trees(Parser(grammar_of(language)), source, language)[-1]


def trees(parser: Parser, source: bytes, language: Language) -> tuple[Tree, ...]:
    """The syntax tree as the source is written, and behind it the one that loses less, if there is
    another; by a parser of the language, which is made once for many files.
    """
    given = readable(source, language)
    tree = parser.parse(given)
    if language.mended is None or not tree.root_node.has_error:
        return (tree,)
    other = parser.parse(language.mended(given))
    return (tree, other) if _definitions(other) > _definitions(tree) else (tree,)


def _definitions(tree: Tree) -> int:
    """The number of definitions that a grammar sees, by the ends of the names of its nodes."""
    count, pending = 0, [tree.root_node]
    while pending:
        node = pending.pop()
        count += node.type.endswith("_definition")
        pending += node.named_children
    return count


def readable(source: bytes, language: Language) -> bytes:
    """The source in the form that the grammar reads; all positions stay the same."""
    prepared = language.readable(source) if language.readable else source
    return prepared if len(prepared) == len(source) else source


def extract(
    source: bytes, language: Language, path: str = "", levels: int | None = None
) -> FileFacts:
    """The definitions, imports, names and calls of a file. Broken parts become problems, the rest
    is read; of the tree no more than some `levels`. A language may name a definition by the `path`.
    """
    parser, handlers, rules = tools_for(language)
    roots = [tree.root_node for tree in trees(parser, source, language)]
    root = roots[-1]

    def lower_tree(spared: Spared) -> Lowering:
        walk = Lowering(source, language, spared.handlers(handlers), rules)
        walk.path = path
        walk.run(root)
        return walk

    walk, unread = isolated_walk(root, lower_tree, levels)
    broken = filterfalse(_loses_nothing, _broken_nodes(root if root.has_error else roots[0]))
    problems = [*unread, *map(_problem, islice(broken, MAX_PROBLEMS))]
    walk.mentions |= walk.scope.read
    namespace = language.namespace_of(root, walk.text) if language.namespace_of else ""
    definitions = walk.redefinitions.finish(walk.definitions, walk.drafts)
    walk.mentions |= mentioned_bases(definitions, walk.drafts)
    if walk.taking_names:
        walk.mentions |= mentioned_texts(walk.spelled)
    if language.resolution.descriptor_method:
        walk.mentions |= mentioned_members(definitions, walk.drafts)
    return FileFacts(
        tuple(definitions),
        tuple(
            [
                draft.freeze() if draft is not None else walk.other_names.get(position)
                for position, draft in enumerate(walk.drafts)
            ]
        ),
        tuple(walk.imports),
        tuple(sorted(walk.mentions)),
        namespace,
        tuple(problems[:MAX_PROBLEMS]),
    )


@cache
def tools_for(language: Language) -> tuple[Parser, list[Any], list[Any]]:
    """Parser and compiled rules, made once a process for each language."""
    grammar = grammar_of(language)
    return Parser(grammar), *compile_rules(language, grammar)


def syntax_problems(root: Node) -> list[Problem]:
    """The first places where the grammar did not fit."""
    return [_problem(node) for node in islice(_broken_nodes(root), MAX_PROBLEMS)]


def _broken_nodes(root: Node) -> Iterator[Node]:
    pending = [root] if root.has_error else []
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            pending.extend(reversed(node.children))


def _loses_nothing(node: Node) -> bool:
    """True if all that is written is understood, but for a mark that the grammar would have between
    its parts.
    """
    return node.is_missing and not node.is_named and not _ENCLOSING.search(node.type)


def _problem(node: Node) -> Problem:
    what = f"missing {node.type}" if node.is_missing else "not understood"
    return Problem(line_of(node), what)
