"""What the kinds of statements do to the flow of control."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from laconic.code.languages import control, model
from laconic.code.languages.control import Leap
from laconic.code.routines import Go
from laconic.code.syntax.children import field
from laconic.code.syntax.control.draft import Draft, Ends, Frame, StatementDraft, left

if TYPE_CHECKING:
    from tree_sitter import Node

    from laconic.code.syntax.control.walk import Walk


# Statements and blocks


def lower(walk: Walk, node: Node) -> None:
    """One statement, from `here` to what is `here` after it."""
    role = walk.role(node)
    handler = walk.statements.get(type(role))
    if handler is not None:
        handler(walk, node, role)
        return
    inner = _only_statement(walk, node)
    if inner is not None:
        lower(walk, inner)
        return
    defines = type(role) in (model.Function, model.Class, model.Wrapper)
    open_statement(walk, node, "definition" if defines else "simple")
    walk.discarded = _discarded(walk, node)
    walk.visit(node)
    _give_result(walk, node)
    walk.draft.point(node.start_byte, node.end_byte)
    walk.draft.close()


def block(walk: Walk, node: Node | None, *, scoped: bool = True, result: str | None = None) -> None:
    """A sequence of statements, or one statement. The last gives `result` its value."""
    if node is None:
        return
    if walk.draft.statement >= 0:
        note_closing(walk, node, walk.draft.statement)
    owner = walk.draft.statement
    if scoped:
        walk.draft.scopes.append({})
    children = statements_in(walk, node)
    outer, walk.result = walk.result, None
    for at, child in enumerate(children):
        walk.draft.statement = owner
        walk.result = result if at == len(children) - 1 else None
        lower(walk, child)
    walk.result = outer
    walk.draft.statement = owner
    if scoped:
        walk.draft.scopes.pop()


def statements_in(walk: Walk, node: Node) -> list[Node]:
    """The statements of a block; a node that is no block is one itself."""
    role = walk.role(node)
    if type(role) is not control.Suite:
        return [node]
    children = [child for child in node.named_children if type(walk.role(child)) is not model.Comment]
    documented = len(walk.draft.statements) == 1 and children and _is_doc_string(walk, children[0])
    return children[1:] if documented else children


def _is_doc_string(walk: Walk, node: Node) -> bool:
    """Whether the first statement of a routine only documents it: it is part of the head."""
    wanted = walk.language.doc_string
    return bool(wanted) and node.named_child_count == 1 and node.named_children[0].type == wanted


def open_statement(walk: Walk, node: Node, kind: str, head_end: Node | None = None) -> StatementDraft:
    """Begin a statement; its head ends where the node `head_end` begins."""
    draft = walk.draft
    owner = draft.statement
    draft.close()
    line, last = node.start_point[0] + 1, node.end_point[0] + 1
    if node.end_point[1] == 0 and last > line:
        last -= 1
    if head_end is None:
        end, head_line = node.end_byte, last
    else:
        end, head_line = head_end.start_byte, _line_before(walk, node, head_end)
    made = StatementDraft(kind, node.start_byte, end, line, head_line, last, owner)
    draft.statement = len(draft.statements)
    draft.statements.append(made)
    return made


def note_closing(walk: Walk, node: Node, statement: int) -> None:
    """The line of a closing bracket or `end` belongs to the statement that the block is of."""
    last = node.children[-1] if node.child_count else None
    owner = walk.draft.statements[statement]
    if (
        last is not None
        and not last.is_named
        and last.type not in (";", ")")
        and last.end_point[0] > node.start_point[0]
    ):
        owner.tails.append(last.end_point[0] + 1)


def _line_before(walk: Walk, node: Node, body: Node) -> int:
    """The last line of what stands before a body; comments between do not count."""
    at = body.start_byte
    while at > node.start_byte and walk.source[at - 1 : at].isspace():
        at -= 1
    return max(node.start_point[0] + 1, body.start_point[0] + 1 - walk.source.count(b"\n", at, body.start_byte))


def _only_statement(walk: Walk, node: Node) -> Node | None:
    """The one statement that an expression statement is made of."""
    role = walk.role(node)
    if role is not None and type(role) not in (model.Inner, model.Statement):
        return None
    children = [child for child in node.named_children if type(walk.role(child)) is not model.Comment]
    return children[0] if len(children) == 1 and walk.is_statement(children[0]) else None


def _discarded(walk: Walk, node: Node) -> int:
    """The call whose value the statement does not use."""
    if walk.result is not None:
        return -1
    inner = node
    while inner.named_child_count == 1 and type(walk.role(inner)) is not model.Call:
        inner = inner.named_children[0]
    return inner.id if type(walk.role(inner)) is model.Call else -1


def _give_result(walk: Walk, node: Node) -> None:
    if walk.result is not None:
        walk.write((walk.result,), node)
        walk.draft.own.add(walk.result)


# Branches


def lower_if(walk: Walk, node: Node, role: control.If) -> None:
    """Arms one after the other; without a last one, control goes on after it."""
    draft, result = walk.draft, walk.result
    owner = draft.statement
    draft.scopes.append({})
    ends = _arms_of(walk, node, role, result)
    draft.here = draft.here + ends
    draft.statement = owner
    draft.scopes.pop()


def _arms_of(walk: Walk, node: Node, role: control.If, result: str | None) -> Ends:
    """Gives the ends of the arms; `here` is left what took none of them."""
    draft = walk.draft
    then = field(role.then)(node)
    open_statement(walk, node, "if", then)
    me = draft.statement
    _initial(walk, field(role.initial)(node) if role.initial else None)
    draft.decisions += 1
    holds, fails = walk.branch(field(role.condition)(node))
    draft.here = fails if role.negated else holds
    block(walk, then, result=result)
    draft.close()
    ends = draft.here
    draft.here = holds if role.negated else fails
    for arm in _arms(walk, node, role):
        draft.statement = me
        part = walk.role(arm)
        if type(part) is control.If and arm.type != node.type:
            ends = ends + _arms_of(walk, arm, part, result)
            continue
        if type(part) is control.Else:
            draft.statements[me].tails.append(arm.start_point[0] + 1)
        block(walk, field(part.body)(arm) if type(part) is control.Else else arm, result=result)
        draft.close()
    draft.statement = me
    return ends


def _arms(walk: Walk, node: Node, role: control.If) -> list[Node]:
    """Arms in the order in which they are tried: an `elif` holds those after it."""
    if role.otherwise[:1] in ("#", ":", "="):
        found = field(role.otherwise)(node)
        return [found] if found is not None else []
    arms = node.children_by_field_name(role.otherwise)
    return [arm for arm in arms if arm.is_named and type(walk.role(arm)) is not model.Comment]


def _initial(walk: Walk, node: Node | None) -> None:
    if node is not None:
        walk.visit(node)
        walk.draft.close()


# Loops


def lower_while(walk: Walk, node: Node, role: control.While) -> None:
    """A loop with a condition, or without any."""
    draft = walk.draft
    draft.scopes.append({})
    head = field(role.head)(node) if role.head else node
    body = field(role.body)(node)
    open_statement(walk, node, "loop", body if role.first else None)
    me = draft.statement
    draft.decisions += 1
    _initial(walk, field(role.initial)(head) if role.initial and head is not None else None)
    frame = _enter_loop(walk, node)
    condition = field(role.condition)(head) if role.condition and head is not None else None
    start = len(draft.points)
    if role.first:
        holds, fails = _test(walk, condition, node, negated=role.negated)
        draft.here = holds
        block(walk, body)
        _update(walk, node, field(role.update)(head) if role.update and head is not None else None, frame, me)
        _close_loop(draft, frame, start)
    else:
        draft.statements[me].head_end_line = draft.statements[me].line
        block(walk, body)
        draft.close()
        draft.here += frame.continues
        frame.continues = []
        draft.statement = me
        holds, fails = _test(walk, condition, node, negated=role.negated)
        draft.statements[me].tails.append(draft.statements[me].end_line)
        draft.here = holds
        _close_loop(draft, frame, min(start, len(draft.points) - 1))
    _leave_loop(walk, field(role.otherwise)(node) if role.otherwise else None, frame, fails, me)


def lower_each(walk: Walk, node: Node, role: control.Each) -> None:
    """A loop over elements: one step that evaluates what there is to iterate, one that takes the next element."""
    draft = walk.draft
    draft.scopes.append({})
    body, iterable, target = field(role.body)(node), field(role.iterable)(node), field(role.target)(node)
    open_statement(walk, node, "loop", body)
    me = draft.statement
    draft.decisions += 1
    _initial(walk, field(role.initial)(node) if role.initial else None)
    walk.visit(iterable)
    if iterable is not None:
        draft.point(iterable.start_byte, iterable.end_byte)
    draft.fail()
    draft.close()
    frame = _enter_loop(walk, node)
    start = len(draft.points)
    at = target if target is not None else node
    draft.point(at.start_byte, at.end_byte).tests = True
    if target is not None:
        walk.bind(target, iterable, declares=not walk.control.declares_by_assignment)
    draft.fail()
    draft.close()
    draft.here = [(start, Go.TRUE)]
    block(walk, body)
    draft.close()
    _close_loop(draft, frame, start)
    _leave_loop(walk, field(role.otherwise)(node) if role.otherwise else None, frame, [(start, Go.FALSE)], me)


def _test(walk: Walk, condition: Node | None, node: Node, *, negated: bool) -> tuple[Ends, Ends]:
    if condition is None:
        walk.draft.point(node.start_byte, node.start_byte)
        number = walk.draft.last()
        walk.draft.close()
        return [(number, Go.TRUE)], [(number, Go.NEVER)]
    holds, fails = walk.branch(condition)
    return (fails, holds) if negated else (holds, fails)


def _enter_loop(walk: Walk, node: Node) -> Frame:
    frame = Frame("loop", label=walk.label)
    walk.label = ""
    walk.draft.frames.append(frame)
    return frame


def _update(walk: Walk, node: Node, update: Node | None, frame: Frame, me: int) -> None:
    draft = walk.draft
    draft.close()
    if update is None:
        return
    draft.here += frame.continues
    frame.continues = []
    draft.statement = me
    walk.visit(update)
    draft.point(update.start_byte, update.end_byte)
    draft.close()


def _close_loop(draft: Draft, frame: Frame, start: int) -> None:
    """Go back to the start of the loop."""
    for source, why in draft.here + frame.continues:
        draft.edge(source, start, why)


def _leave_loop(walk: Walk, otherwise: Node | None, frame: Frame, fails: Ends, me: int) -> None:
    draft = walk.draft
    draft.frames.pop()
    draft.close()
    draft.here = fails
    draft.statement = me
    if otherwise is not None:
        draft.decisions += 1
        draft.statements[me].tails.append(otherwise.start_point[0] + 1)
        role = walk.role(otherwise)
        block(walk, field(role.body)(otherwise) if type(role) is control.Else else otherwise)
        draft.close()
    draft.here = draft.here + frame.breaks
    draft.statement = draft.statements[me].owner
    draft.scopes.pop()


# Exceptions


def lower_try(walk: Walk, node: Node, role: control.Try) -> None:
    """Body, handlers, `else`, `finally`. Whoever leaves runs the `finally` on the way."""
    draft, result = walk.draft, walk.result
    draft.scopes.append({})
    body = field(role.body)(node)
    parts = [(child, walk.role(child)) for child in node.named_children]
    handlers = [(child, part) for child, part in parts if type(part) is control.Handler]
    final = next(((child, part) for child, part in parts if type(part) is control.Finally), None)
    open_statement(walk, node, "try", body)
    me = draft.statement
    walk.visit(field(role.resources)(node) if role.resources else None)
    draft.point(node.start_byte, node.start_byte)
    start = draft.last()
    draft.close()
    if final is not None:
        draft.frames.append(Frame("finally"))
    if handlers:
        draft.frames.append(Frame("handlers", raised=[(start, Go.EXCEPTION)]))
    block(walk, body, result=result)
    draft.close()
    raised = draft.frames.pop().raised if handlers else []
    _else_of_try(walk, parts, me)
    ends = list(draft.here)
    for child, part in handlers:
        raised = _handler(walk, child, part, raised, result)
        ends += draft.here
        draft.statement = me
    if _has_handlers(draft):
        draft.route([(source, Go.EXCEPTION) for source, _ in raised], Leap.RAISE, "")
    draft.here = ends
    if final is not None:
        _finally(walk, *final, me)
    draft.statement = draft.statements[me].owner
    draft.scopes.pop()


def _else_of_try(walk: Walk, parts: Iterable[tuple[Node, Any]], me: int) -> None:
    for child, part in parts:
        if type(part) is control.Else:
            walk.draft.decisions += 1
            walk.draft.statement = me
            walk.draft.statements[me].tails.append(child.start_point[0] + 1)
            block(walk, field(part.body)(child))
            walk.draft.close()


def _has_handlers(draft: Draft) -> bool:
    return any(frame.kind == "handlers" for frame in draft.frames)


def _handler(walk: Walk, node: Node, role: control.Handler, raised: Ends, result: str | None) -> Ends:
    """One handler; gives the ends of exceptions that it does not take."""
    draft = walk.draft
    body, caught = field(role.body)(node), field(role.caught)(node)
    draft.here = raised
    draft.scopes.append({})
    open_statement(walk, node, "handler", body)
    draft.decisions += 1
    bound = field(role.binds)(node) if role.binds else None
    walk.visit_children(node, but=(body, bound))
    if bound is not None:
        walk.bind(bound, None, declares=not walk.control.declares_by_assignment)
    draft.point(node.start_byte, node.start_byte)
    number = draft.last()
    draft.close()
    missed: Ends = []
    if caught is not None and not role.takes_all:
        draft.here = [(number, Go.TRUE)]
        missed = [(number, Go.FALSE)]
    block(walk, body, result=result)
    draft.close()
    draft.scopes.pop()
    return missed


def _finally(walk: Walk, node: Node, role: control.Finally, me: int) -> None:
    """One copy of the block, entered by all who leave; each goes on to where it was going."""
    draft = walk.draft
    frame = draft.frames.pop()
    normal = [end for end in draft.here if end[1] is not Go.NEVER]
    draft.here = draft.here + frame.raised
    draft.statement = me
    draft.statements[me].tails.append(node.start_point[0] + 1)
    block(walk, field(role.body)(node))
    draft.close()
    ends = draft.here
    for source, _ in ends if frame.passing else ():
        draft.points[source].reads[left(len(draft.frames)),] = None
    for leap, label, why in frame.passing:
        onward = [(source, why if went is not Go.NEVER else Go.NEVER) for source, went in ends]
        draft.route([end for end in onward if end[1] is not Go.NEVER], leap, label)
    if not normal:
        draft.here = [(source, Go.NEVER) for source, _ in ends]


def lower_with(walk: Walk, node: Node, role: control.With) -> None:
    """Entering, the body, and leaving at its end; a jump out of it is not shown to leave."""
    draft = walk.draft
    body = field(role.body)(node)
    open_statement(walk, node, "with", body)
    me = draft.statement
    for child in node.named_children:
        if body is None or child.id != body.id:
            walk.visit(child)
    draft.point(node.start_byte, node.start_byte)
    draft.fail()
    draft.close()
    block(walk, body)
    draft.close()
    draft.statement = me
    draft.point(node.start_byte, node.start_byte)
    draft.close()
    draft.statement = draft.statements[me].owner


# Cases


def lower_switch(walk: Walk, node: Node, role: control.Switch) -> None:
    """Cases are tried one after the other, or jumped to where they fall through."""
    draft, result = walk.draft, walk.result
    draft.scopes.append({})
    body = field(role.body)(node) or node
    open_statement(walk, node, "switch", body if body.id != node.id else None)
    me = draft.statement
    _initial(walk, field(role.initial)(node) if role.initial else None)
    subject = field(role.subject)(node) if role.subject else None
    walk.visit(subject)
    draft.point(node.start_byte, subject.end_byte if subject is not None else node.start_byte)
    if subject is not None:
        walk.write((matched(node),), subject)
        draft.own.add(matched(node))
    start = draft.last()
    draft.close()
    cases = [(child, walk.role(child)) for child in body.named_children if type(walk.role(child)) is control.Case]
    if cases:
        draft.statements[me].head_end_line = min(draft.statements[me].head_end_line, cases[0][0].start_point[0] + 1)
        note_closing(walk, body, me)
    frame = Frame("switch" if role.breaks else "cases", label=walk.label)
    walk.label = ""
    draft.frames.append(frame)
    if any(part.falls for _, part in cases):
        _jump_to_cases(walk, cases, start, node)
    else:
        _try_cases(walk, cases, frame, start, node, result)
    draft.frames.pop()
    draft.here = draft.here + frame.breaks
    draft.statement = draft.statements[me].owner
    draft.scopes.pop()


def _try_cases(
    walk: Walk, cases: list[tuple[Node, control.Case]], frame: Frame, start: int, around: Node, result: str | None
) -> None:
    """The first case that fits is taken; a default is tried last, wherever it stands."""
    draft = walk.draft
    me = draft.statement
    missed: Ends = [(start, Go.NEXT)]
    fallen: Ends = []
    ordered = sorted(cases, key=lambda case: _is_default(walk, *case))
    for node, role in ordered:
        draft.statement = me
        draft.here = missed
        missed = _case_head(walk, node, role, matched(around))
        draft.here = draft.here + fallen
        frame.continues = []
        _case_body(walk, node, role, result)
        fallen = list(frame.raised)
        frame.raised = []
        frame.breaks += draft.here
    draft.here = missed


def _jump_to_cases(walk: Walk, cases: list[tuple[Node, control.Case]], start: int, around: Node) -> None:
    """Every case is entered from the subject and from the case before it."""
    draft = walk.draft
    me = draft.statement
    draft.here = []
    for node, role in cases:
        draft.statement = me
        draft.here = [*draft.here, (start, Go.CASE)]
        _case_head(walk, node, role, matched(around))
        draft.here = [(number, Go.NEXT) for number, why in draft.here if why is not Go.FALSE]
        _case_body(walk, node, role, None)
    if not any(_is_default(walk, *case) for case in cases):
        draft.here = [*draft.here, (start, Go.FALSE)]


def matched(switch: Node) -> str:
    """The variable that stands for what the cases are compared with."""
    return f"<{switch.start_byte} matched>"


def _case_head(walk: Walk, node: Node, role: control.Case, subject: str) -> Ends:
    """The test of a case; gives the ends where it does not fit."""
    draft = walk.draft
    draft.scopes.append({})
    pattern = field(role.pattern)(node) if role.pattern else None
    guard = field(role.guard)(node) if role.guard else None
    open_statement(walk, node, "case", _body_start(walk, node, role))
    default = _is_default(walk, node, role)
    draft.decisions += not default
    for child in _patterns(node, role):
        walk.bind(child, None, declares=True) if role.binds and not default else walk.visit(child)
    draft.point(node.start_byte, pattern.end_byte if pattern is not None else node.start_byte)
    walk.read((subject,), pattern or node)
    draft.point().tests = True
    number = draft.last()
    draft.close()
    missed: Ends = [] if default or (role.names_fit and _is_name(walk, pattern)) else [(number, Go.FALSE)]
    draft.here = [(number, Go.TRUE if missed else Go.NEXT)]
    if guard is not None:
        holds, fails = walk.branch(guard)
        draft.here = holds
        missed = missed + fails
    return missed


def _patterns(node: Node, role: control.Case) -> list[Node]:
    if role.pattern[:1] == ":":
        return [child for child in node.named_children if child.type == role.pattern[1:]]
    if role.pattern[:1] in ("#", "="):
        found = field(role.pattern)(node)
        return [found] if found is not None else []
    return node.children_by_field_name(role.pattern) if role.pattern else []


def _body_start(walk: Walk, node: Node, role: control.Case) -> Node | None:
    children = _case_statements(walk, node, role)
    return children[0] if children else None


def _case_statements(walk: Walk, node: Node, role: control.Case) -> list[Node]:
    if role.body:
        found = field(role.body)(node)
        return [found] if found is not None else []
    heads = {child.id for child in _patterns(node, role)}
    guard = field(role.guard)(node) if role.guard else None
    if guard is not None:
        heads.add(guard.id)
    kinds = (model.Comment, model.Skip)
    return [child for child in node.named_children if child.id not in heads and type(walk.role(child)) not in kinds]


def _case_body(walk: Walk, node: Node, role: control.Case, result: str | None) -> None:
    draft = walk.draft
    me = draft.statement
    statements = _case_statements(walk, node, role)
    for at, child in enumerate(statements):
        draft.statement = me
        block(walk, child, scoped=bool(role.body), result=result if at == len(statements) - 1 else None)
    draft.close()
    draft.scopes.pop()


def _is_default(walk: Walk, node: Node, role: control.Case) -> bool:
    if role.default or not role.pattern:
        return True
    patterns = _patterns(node, role)
    guard = field(role.guard)(node) if role.guard else None
    if not patterns:
        return True
    return guard is None and len(patterns) == 1 and _fits_all(walk, patterns[0], role)


def _fits_all(walk: Walk, pattern: Node, role: control.Case) -> bool:
    """Whether a pattern, or the last of its alternatives, is a wildcard."""
    while pattern.child_count:
        parts = [child for child in pattern.children if child.type not in ("(", ")")]
        if len(parts) > 1 and not any(part.type == "|" for part in parts):
            return False
        pattern = parts[-1]
    return walk.text(pattern) in role.wildcards


def _is_name(walk: Walk, node: Node | None) -> bool:
    while node is not None and node.named_child_count == 1:
        node = node.named_children[0]
    return node is not None and type(walk.role(node)) is model.Name


# Jumps


WHY = {
    Leap.BREAK: Go.BREAK,
    Leap.CONTINUE: Go.CONTINUE,
    Leap.RETURN: Go.RETURN,
    Leap.RAISE: Go.RAISE,
    Leap.GOTO: Go.GOTO,
    Leap.FALLTHROUGH: Go.NEXT,
}


def lower_jump(walk: Walk, node: Node, role: control.Goes) -> None:
    """Evaluate what is taken along, and leave."""
    draft = walk.draft
    open_statement(walk, node, role.to.value)
    label = field(role.label)(node) if role.label else None
    outer, walk.result = walk.result, None
    for child in node.named_children:
        if label is None or child.id != label.id:
            walk.visit(child)
    walk.result = outer
    draft.point(node.start_byte, node.end_byte)
    name = walk.text(label) if label is not None else ""
    if role.to is Leap.GOTO:
        draft.gotos.append((draft.last(), name))
    if role.to is Leap.FALLTHROUGH:
        draft.frames[-1].raised.append((draft.last(), Go.NEXT)) if draft.frames else None
    draft.jump(role.to, name, WHY[role.to])


def lower_labelled(walk: Walk, node: Node, role: control.Labelled) -> None:
    """A name for a statement: `break name` leaves it, `goto name` comes to it."""
    draft = walk.draft
    label, body = field(role.label)(node), field(role.body)(node)
    name = walk.text(label) if label is not None else ""
    draft.close()
    draft.labels[name] = len(draft.points)
    loops = body is not None and type(walk.role(body)) in (control.While, control.Each, control.Switch)
    if loops and body is not None:
        walk.label = name
        lower(walk, body)
        return
    frame = Frame("block", label=name)
    draft.frames.append(frame)
    if body is not None and (label is None or body.id != label.id):
        block(walk, body)
    else:
        open_statement(walk, node, "simple")
        draft.point(node.start_byte, node.end_byte)
    draft.frames.pop()
    draft.close()
    draft.here = draft.here + frame.breaks


def lower_deferred(walk: Walk, node: Node, role: control.Deferred) -> None:
    """The call is prepared here and runs when the routine is left."""
    open_statement(walk, node, "simple")
    me = walk.draft.statement
    walk.visit_children(node)
    walk.draft.point(node.start_byte, node.end_byte)
    walk.draft.close()
    walk.draft.deferred.append(me)


def lower_suite(walk: Walk, node: Node, role: control.Suite) -> None:
    """A block of its own."""
    block(walk, node, scoped=role.scoped, result=walk.result)


def lower_straight(walk: Walk, node: Node, role: control.Straight) -> None:
    """One step, whatever its parts are."""
    open_statement(walk, node, "simple")
    walk.visit_children(node)
    _give_result(walk, node)
    walk.draft.point(node.start_byte, node.end_byte)
    walk.draft.fail()
    walk.draft.close()


def lower_forms(walk: Walk, node: Node, role: control.Forms) -> None:
    """The statement is of the form whose child it has."""
    kinds = {child.type for child in node.children}
    form = next(form for child, form in role.forms if not child or child in kinds)
    walk.statements[type(form)](walk, node, form)


STATEMENTS: dict[type, Callable[[Walk, Node, Any], None]] = {
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
    control.Forms: lower_forms,
}
