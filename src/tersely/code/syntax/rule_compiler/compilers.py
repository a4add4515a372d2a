"""The functions of all rules, and the rules of a language compiled for its grammar."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.syntax.rule_compiler import Handler, Lowerings, visited
from tersely.code.syntax.rule_compiler.blocks import BLOCKS, as_block
from tersely.code.syntax.rule_compiler.definitions import DEFINITIONS
from tersely.code.syntax.rule_compiler.displays import DISPLAYS
from tersely.code.syntax.rule_compiler.expressions import EXPRESSIONS
from tersely.code.syntax.rule_compiler.operators import OPERATORS
from tersely.code.syntax.rule_compiler.parameters import PARAMETERS
from tersely.code.syntax.rule_compiler.statements import STATEMENTS

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar


KINDS = 1 << 16  # numeric node kinds; error nodes have the last one

# names inside end with these nodes
ENDING_RULES = (model.Function, model.Class, model.Comprehension)

LOWERINGS: Lowerings = {
    **EXPRESSIONS,
    **OPERATORS,
    **DISPLAYS,
    **STATEMENTS,
    **BLOCKS,
    **PARAMETERS,
    **DEFINITIONS,
}


def handler_of(rule: model.Rule) -> Handler:
    """The function that lowers the nodes of a rule."""
    if type(rule) is model.Custom and not rule.fields:
        return rule.lower
    return partial(LOWERINGS[type(rule)], rule)


def compile_rules(language: model.Language, grammar: Grammar) -> tuple[list[Any], list[Any]]:
    """Handlers and rules by numeric node kind. Raises KeyError for a node type that the grammar
    does not have.
    """
    handlers: list[Any] = [None] * KINDS
    rules: list[Any] = [None] * KINDS
    unknown = set(language.rules)
    for kind_id in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(kind_id)
        if name is None:
            continue
        if not grammar.node_kind_is_named(kind_id):
            name = f"={name}"
        rule = language.rules.get(name)
        if rule is not None:
            unknown.discard(name)
            rules[kind_id] = rule
            handlers[kind_id] = handler_of(rule)
        if name in language.blocks and type(rule) not in ENDING_RULES:
            handlers[kind_id] = as_block(handlers[kind_id] or partial(visited, rule))
    if unknown:
        raise KeyError(
            f"{language.name}: not node types of the grammar: {', '.join(sorted(unknown))}"
        )
    return handlers, rules
