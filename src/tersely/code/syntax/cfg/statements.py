"""The effect of each kind of statement on the flow of control, by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import roles as control
from tersely.code.syntax.cfg.blocks import (
    block,
    give_result,
    open_statement,
)
from tersely.code.syntax.cfg.branches import lower_if, lower_refutable
from tersely.code.syntax.cfg.cases import lower_switch
from tersely.code.syntax.cfg.exceptions import lower_try, lower_with
from tersely.code.syntax.cfg.jumps import lower_deferred, lower_jump, lower_labelled
from tersely.code.syntax.cfg.loops import lower_each, lower_while

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Handlers, Walk


def lower_suite(walk: Walk, node: Node, role: control.Suite) -> None:
    """A block of its own."""
    block(walk, node, scoped=role.scoped, result=walk.result)


def lower_straight(walk: Walk, node: Node, role: control.Straight) -> None:
    """Lower a statement to one step, with all its parts."""
    open_statement(walk, node, "simple")
    walk.visit_children(node)
    give_result(walk, node)
    walk.draft.at(node)
    walk.draft.fail()
    walk.draft.close()


STATEMENTS: Handlers = {
    control.If: lower_if,
    control.While: lower_while,
    control.Each: lower_each,
    control.Try: lower_try,
    control.With: lower_with,
    control.Switch: lower_switch,
    control.Goes: lower_jump,
    control.Labelled: lower_labelled,
    control.Deferred: lower_deferred,
    control.Suite: lower_suite,
    control.Straight: lower_straight,
    control.Refutable: lower_refutable,
}
