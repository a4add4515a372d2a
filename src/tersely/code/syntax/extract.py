"""Facts of one file: a pure function of its text and language that never raises on source text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Tree

from tersely.code.languages.model import Language
from tersely.code.languages.nodes import line_of
from tersely.code.symbols import FileFacts, Problem
from tersely.code.syntax.compiling.table import compile_rules
from tersely.code.syntax.lowering import Lowering
from tersely.foundation.recursion import allow_deep_nesting

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PROBLEMS = 20  # a file; the rest is counted nowhere because the file is broken anyway


@cache
def grammar_of(language: Language) -> Grammar:
    """The tree-sitter grammar of a language, loaded once a process."""
    return Grammar(language.grammar())


def parse(source: bytes, language: Language) -> Tree:
    """The syntax tree; broken source gives a tree with error nodes."""
    return Parser(grammar_of(language)).parse(readable(source, language))


def readable(source: bytes, language: Language) -> bytes:
    """The source as the grammar is given it; all positions stay what they are."""
    prepared = language.readable(source) if language.readable else source
    return prepared if len(prepared) == len(source) else source


def extract(source: bytes, language: Language) -> FileFacts:
    """The definitions, imports, names and calls of a file. Broken parts become problems, the rest
    is read.
    """
    parser, handlers, rules = tools_for(language)
    tree = parser.parse(readable(source, language))
    root = tree.root_node
    walk = Lowering(source, language, handlers, rules)
    problems = syntax_problems(root) if root.has_error else []
    allow_deep_nesting()
    module = walk.scope
    module.body = root.id
    try:
        walk.value(root)
    except RecursionError:
        problems.append(Problem(1, "nested too deeply to be read whole"))
    for draft in walk.drafts:  # scopes left open by a stop in the middle
        if draft is not None:
            walk.mentions |= draft.read if draft is module else set()
    namespace = language.namespace_of(root, walk.text) if language.namespace_of else ""
    return FileFacts(
        tuple(walk.redefinitions.finish(walk.definitions, walk.drafts)),
        tuple(
            draft.freeze() if draft is not None else walk.other_names.get(position)
            for position, draft in enumerate(walk.drafts)
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
    problems: list[Problem] = []
    pending = [root]
    while pending and len(problems) < MAX_PROBLEMS:
        node = pending.pop()
        if node.is_error or node.is_missing:
            what = f"missing {node.type}" if node.is_missing else "not understood"
            problems.append(Problem(line_of(node), what))
        elif node.has_error:
            pending.extend(reversed(node.children))
    return problems
