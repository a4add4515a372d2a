"""Points-to on demand: which values an expression may have, flow-insensitively, over the whole program.

For Python this is the analysis of PyCG (Salis et al., ICSE 2021) turned around: instead of one pass over everything,
each question is an equation of `fixpoint.Solver` and pulls in only the equations it needs. Nothing here knows a
programming language; what differs between them is in `languages.model.Resolution`.
"""

from __future__ import annotations

from typing import Any

from laconic.code.expressions import (
    AROUND,
    CALL,
    CLASS_METHOD,
    CONST,
    CONTEXT_MANAGER,
    DECLARED,
    DEFINED,
    DISPLAYED,
    EITHER,
    ELEMENT,
    ENTER,
    EXTENSION,
    GENERATOR,
    GENERIC,
    IMPORTED,
    ITEM,
    LITERAL,
    MAPPING,
    MEMBER,
    NEW,
    OUTSIDE,
    OWN_RECEIVER,
    PARAMETER,
    REFERENCE,
    SEQUENCE,
    SPREAD,
    STATIC,
    TYPED,
    VARIADIC,
    VERSION_MARK,
    Expression,
    Scope,
)
from laconic.code.graph.fixpoint import Solver
from laconic.code.graph.members import Members
from laconic.code.graph.program import MEMBER_OWNERS, File, Program
from laconic.code.graph.typed import Typed, type_name
from laconic.code.graph.values import (
    BUILTIN,
    CLASS,
    COLLECTION,
    DISPLAY,
    EXTERNAL,
    FUNCTION,
    GENERATED,
    INSTANCE,
    KEY,
    MODULE,
    NOTHING,
    PARENT,
    REST,
    RESULT,
    TUPLE,
    Value,
    Values,
    collection,
    external,
    one,
    tuple_of,
)
from laconic.code.languages.model import RECEIVER, Summary
from laconic.code.symbols import CLASS_KINDS, Kind
from laconic.foundation.recursion import allow_deep_nesting

FLOW_LEVELS = 2  # parameters through which a function may come before it is called
MAX_COMPUTED_STORES = 40  # `base[key] = …` of a file that may be a member of any name; with more, none is taken for one
MAX_KEYS = 12  # constants that a parameter may stand for
MAX_TYPE_NAME_PARTS = 8  # dots in the text of a quoted type


class Evaluator:
    """Answers what expressions, names, parameters, returns and members may be.

    What a parameter receives depends on who calls the function, and who calls it on what parameters receive. This
    circle is cut by levels: an evaluator takes the callers and what they pass from the one below it, and the lowest
    knows nothing of what is passed. So a question reaches as many callers upward as there are levels, not all of them.
    """

    def __init__(self, program: Program, level: int = FLOW_LEVELS) -> None:
        allow_deep_nesting()
        self.program = program
        self.below = Evaluator(program, level - 1) if level else None
        self.solver = Solver()
        self.members = Members(self)
        self.typed = Typed(self)

    # Expressions

    def values(self, file: File, scope: int, expression: Expression) -> Values:
        """What an expression in a scope may be."""
        if expression is None:
            return NOTHING
        if type(expression) is str:
            return self.name(file, scope, expression)
        found: Values = _EVALUATORS[expression[0]](self, file, scope, expression)
        return found

    def _member(self, file: File, scope: int, expression: Any) -> Values:
        values = self.values(file, scope, expression[1])
        if expression[2] in file.facts.receiver_names:  # Outer.this
            return self.typed.opened(instances_of(values))
        found = self.members.of_all(values, expression[2], file)
        return self._without_methods(found) if file.facts.methods_apart else found

    def _without_methods(self, values: Values) -> Values:
        """Values that are no methods, where a bare name never means one."""
        return frozenset(value for value in values if not self._is_method(value))

    def _only_methods(self, values: Values) -> Values:
        return frozenset(value for value in values if value[0] == EXTERNAL or self._is_method(value))

    def _is_method(self, value: Value) -> bool:
        if value[0] != FUNCTION or (value[3] is not None and value[3][0] != INSTANCE):
            return False
        return self.program.file(value[1]).definitions[value[2]][0] in (Kind.METHOD, Kind.FUNCTION)

    def _reference(self, file: File, scope: int, expression: Any) -> Values:
        found: Values = NOTHING
        for value in self.members.of_all(self.receivers(file, scope, expression[1]), expression[2], file):
            found |= one(*value[:3], value) if value[0] == FUNCTION else frozenset((value,))
        return found

    def receivers(self, file: File, scope: int, expression: Expression) -> Values:
        """The objects whose member is called: like `values`, and `super` without a call."""
        if type(expression) is str and expression in file.facts.super_names:
            return self.parent(file, scope)
        return self.values(file, scope, expression)

    def called(self, file: File, scope: int, call: Expression) -> Values:
        """What a call calls: of overloads those that it fits."""
        callee, facts = call[1], file.facts
        if type(callee) is tuple and callee[0] == MEMBER:
            found = self.members.of_all(self.receivers(file, scope, callee[1]), callee[2], file)
        elif type(callee) is str and facts.methods_apart and call[0] == CALL and not _is_variable(callee, facts.sigil):
            found = self.name(file, scope, callee, called=True)
        else:
            found = self.values(file, scope, callee)
        if facts.factory_method and call[0] == CALL:
            made = self.members.of_all(
                frozenset(value for value in found if value[0] == CLASS), facts.factory_method, file
            )
            functions = frozenset(value for value in made if value[0] == FUNCTION)
            found = functions | frozenset(value for value in found if value[0] != CLASS) if functions else found
        if facts.overloads or facts.virtual:
            found = self.typed.chosen(found, file, scope, call)
        return found

    def _declared(self, file: File, scope: int, expression: Any) -> Values:
        values = self.values(file, scope, expression[1])
        return self.typed.narrowed(values, self.instances(file, scope, expression[2]))

    def _const(self, file: File, scope: int, expression: Any) -> Values:
        return one(KEY, expression[1])

    def _literal(self, file: File, scope: int, expression: Any) -> Values:
        return one(RESULT, f"{file.facts.builtins}.{expression[1]}")

    def _defined(self, file: File, scope: int, expression: Any) -> Values:
        position = expression[1]
        kind = file.definitions[position][0]
        if kind in MEMBER_OWNERS:
            return frozenset((self.members.open.whole(file, position),))
        return one(FUNCTION, file.id, position, None)

    def _display(self, file: File, scope: int, expression: Any) -> Values:
        file.displays[expression[2]] = (scope, expression)
        return one(DISPLAY, file.id, expression[2])

    def _displayed(self, file: File, scope: int, expression: Any) -> Values:
        return one(DISPLAY, file.id, expression[1])

    def _either(self, file: File, scope: int, expression: Any) -> Values:
        found: Values = NOTHING
        for part in expression[1]:
            found |= self.values(file, scope, part)
        return found

    def _imported(self, file: File, scope: int, expression: Any) -> Values:
        return self.imported(file, expression[1], expression[2])

    def _parameter(self, file: File, scope: int, expression: Any) -> Values:
        key = ("parameter", file.id, scope, expression[1])
        return self.solver.solve(key, self._parameter_values, file, scope, expression[1])

    def _typed(self, file: File, scope: int, expression: Any) -> Values:
        return self.instances(file, scope, expression[1])

    def _element(self, file: File, scope: int, expression: Any) -> Values:
        return self.elements(self.values(file, scope, expression[1]))

    def _enter(self, file: File, scope: int, expression: Any) -> Values:
        found: Values = NOTHING
        for value in self.values(file, scope, expression[1]):
            if value[0] == GENERATED and self._scope(value).flags & CONTEXT_MANAGER:
                found |= self._yielded(value)
                continue
            entered = self.call_member(value, file.facts.enter_method, file) if file.facts.enter_method else NOTHING
            found |= entered or frozenset((value,))
        return found

    def _around(self, file: File, scope: int, expression: Any) -> Values:
        return self.name(file, max(file.definitions[scope][3], 0), expression[1])

    def _generic(self, file: File, scope: int, expression: Any) -> Values:
        return self.values(file, scope, expression[1])

    def _spread(self, file: File, scope: int, expression: Any) -> Values:
        return self.elements(self.values(file, scope, expression[1]))

    def _item(self, file: File, scope: int, expression: Any) -> Values:
        containers = self.values(file, scope, expression[1])
        if not containers:
            return NOTHING
        keys = self.keys(file, scope, expression[2])
        found: Values = NOTHING
        for container in containers:
            found |= self.items(container, keys, file)
        return found

    # Names

    def name(self, file: File, scope: int, name: str, *, called: bool = False) -> Values:
        """What a name may be, seen from a scope."""
        if VERSION_MARK in name:
            return self.bound(file, scope, name, inside=True)
        position = scope
        facts = file.facts
        while position >= 0:
            kind = file.definitions[position][0]
            is_class = kind in MEMBER_OWNERS
            open_to_all = facts.namespace_scope_visible if kind == Kind.NAMESPACE else facts.class_scope_visible
            table = file.names(position)
            if is_class and facts.constructor_is_class_name and name == file.definitions[position][1] and not called:
                return self._defined(file, position, (DEFINED, position))
            if is_class and facts.implicit_receiver:
                found = self._own_kind(file, self.members.implicit(file, position, name, scope), called)
                if found:
                    return found
            elif name in table and position == scope and not table[name] and not is_class:
                pass  # only later versions of the name are bound here
            elif name in table and (not is_class or position == scope or open_to_all):
                found = self.bound(file, position, name, inside=position == scope)
                if not called and (found or position or not facts.extension_functions):
                    return found
                if found := self._only_methods(found):
                    return found
            elif facts.implicit_receiver and (found := self._of_explicit_receiver(file, position, name)):
                return found
            position = file.definitions[position][3]
        return self._free_name(file, scope, name, called)

    def _free_name(self, file: File, scope: int, name: str, called: bool) -> Values:
        """What a name may be that no scope around it binds."""
        facts = file.facts
        if called and facts.implicit_receiver and (found := self._inherited_from_outside(file, scope, name)):
            return found
        if facts.extension_functions and (found := self._extending_receiver(file, scope, name)):
            return found
        if name in facts.receiver_names or name in facts.class_names:
            return self.receiver(file, scope, name in facts.class_names)
        if name in facts.super_names:
            return self.parent(file, scope)
        if name and name == facts.module_object:
            return one(MODULE, file.id)
        if facts.class_side:
            return self._inherited_from_outside(file, scope, name) or self._builtin(file, name)
        return self.members.top_level(file, name) or self._builtin(file, name)

    def _inherited_from_outside(self, file: File, scope: int, name: str) -> Values:
        """A method that no class of ours has may come from a base outside the repository."""
        found = self.members.top_level(file, name)
        position = scope
        while position > 0 and not found:
            if file.definitions[position][0] in CLASS_KINDS:
                found = self.members.of_external_base((CLASS, file.id, position), name)
            position = file.definitions[position][3]
        return found

    def _of_explicit_receiver(self, file: File, position: int, name: str) -> Values:
        """A bare name in a function with a receiver type may be a member of the receiver."""
        scope = file.scopes[position]
        if scope is None or scope.receiver_type is None or scope.flags & EXTENSION:
            return NOTHING
        if file.facts.constructor_is_class_name and name == type_name(scope.receiver_type):
            return self.values(file, file.definitions[position][3], scope.receiver_type)
        found = self.members.of_all(
            self.instances(file, file.definitions[position][3], scope.receiver_type), name, file
        )
        return frozenset(value for value in found if value[0] not in (EXTERNAL, RESULT))

    def _extending_receiver(self, file: File, scope: int, name: str) -> Values:
        """A bare name may be a function that extends the class around it, or the type of an explicit receiver."""
        position = scope
        while position > 0:
            inner = file.scopes[position]
            receivers: Values = NOTHING
            if file.definitions[position][0] in MEMBER_OWNERS:
                target = self.members.class_of(file, position)
                receivers = one(INSTANCE, *target[1:3]) if target is not None else NOTHING
            elif inner is not None and inner.receiver_type is not None:
                receivers = self.instances(file, file.definitions[position][3], inner.receiver_type)
            for receiver in receivers:
                if found := self.typed.extension_functions(receiver, name, file):
                    return found
            position = file.definitions[position][3]
        return NOTHING

    def _own_kind(self, file: File, values: Values, called: bool) -> Values:
        if not file.facts.methods_apart:
            return values
        return self._only_methods(values) if called else self._without_methods(values)

    def bound(self, file: File, scope: int, name: str, *, inside: bool = False) -> Values:
        """The union of everything a scope binds a name to; `inside` the scope, of this version of the name alone."""
        return self.solver.solve(("name", file.id, scope, name, inside), self._bound_values, file, scope, name, inside)

    def _bound_values(self, file: File, scope: int, name: str, inside: bool) -> Values:
        found: Values = NOTHING
        entries = file.names(scope).get(name) if inside else file.all_bindings(scope, name)
        for owner, expression in entries or file.all_bindings(scope, name.partition(VERSION_MARK)[0]):
            values = self.values(file, owner, expression)
            if type(expression) is tuple and expression[0] in (CALL, NEW):
                values = self._decorated(file, expression, values)
            found |= values
        return found

    def _decorated(self, file: File, expression: Any, values: Values) -> Values:
        """A definition whose decorators are unknown stays what it is."""
        definition = expression
        while type(definition) is tuple and definition[0] == CALL and len(definition[2]) == 1:
            definition = definition[2][0]
        if type(definition) is tuple and definition[0] == DEFINED and file.scope(definition[1]).decorated is expression:
            known = [value for value in values if value[0] not in (EXTERNAL, RESULT)]
            return frozenset(known) or self._defined(file, 0, definition)
        return values

    def _builtin(self, file: File, name: str) -> Values:
        if file.facts.modules_in_scope and (targets := self.program.modules(file, name)):
            return self._module(file, targets[0])
        return external(f"{file.facts.builtins}.{name}") if file.facts.builtins else NOTHING

    def receiver(self, file: File, scope: int, as_class: bool = False) -> Values:
        """The object that `self` or `this` means in a scope."""
        if file.facts.class_side:
            return self.members.open.receivers(file, scope)
        method = file.enclosing_method(scope)
        owner = file.owner_class(method) if method >= 0 else -1
        if method >= 0 and owner < 0 and file.scope(method).flags & OWN_RECEIVER:
            made = one(INSTANCE, file.id, method)
            return made | self.values(file, file.definitions[method][3], file.scope(method).holder)
        if method >= 0 and file.scope(method).flags & OUTSIDE:
            outer = file.definitions[method][3]
            owners = self.values(file, outer, file.scope(method).receiver_type)
            return owners if as_class else self.typed.opened(instances_of(owners))
        if method >= 0 and file.scope(method).flags & CLASS_METHOD:
            as_class = True
        if method < 0:
            owner = scope if file.definitions[scope][0] in MEMBER_OWNERS else file.owner_class(scope)
        if owner < 0:
            return NOTHING
        target = self.members.class_of(file, owner)
        if target is None:
            return NOTHING
        found = one(CLASS if as_class else INSTANCE, *target[1:])
        return self.typed.opened(found) if file.facts.virtual else found

    def imported(self, file: File, module: str, name: str) -> Values:
        """What an import binds; outside the repository it is external."""
        key = ("import", file.import_base, module, name, file.language.name)
        return self.solver.solve(key, self._imported_values, file, module, name)

    def _imported_values(self, file: File, module: str, name: str) -> Values:
        targets = self.program.modules(file, module)
        whole = file.facts.module_object
        if not name or name == whole:
            return self._whole_module(file, targets[0]) if targets else external(module)
        if len(targets) > 1 and file.facts.namespace == "declared":
            places = {file_id for file_id, _ in self.program.named(name)}
            targets = [target for target in targets if target in places]
        for target in targets:
            if target == file.id and len(targets) > 1:
                continue
            found = self.members.of_module(self.program.file(target), name)
            if found:
                return found
        if targets and name == file.facts.default_export:
            return self._whole_module(file, targets[0])
        separator = "" if module.endswith(".") else file.facts.separator
        submodule = self.program.modules(file, f"{module}{separator}{name}")
        if submodule:
            return one(MODULE, submodule[0])
        found = self._from_class_as_module(file, module, name) if file.facts.classes_are_modules else NOTHING
        return found or (NOTHING if targets else external(f"{module}{separator}{name}"))

    def _module(self, file: File, target: int) -> Values:
        """A whole module: itself, or what its file returns."""
        other = self.program.file(target)
        if not file.facts.module_value:
            return one(MODULE, target)
        found: Values = NOTHING
        for expression in other.scope(0).returns:
            found |= self.values(other, 0, expression)
        return found or one(MODULE, target)

    def _from_class_as_module(self, file: File, module: str, name: str) -> Values:
        """A member of a class that an import names like a module: `import static a.Class.member`."""
        package, separator, owner = module.rpartition(file.facts.separator)
        if not separator:
            return NOTHING
        classes = [value for value in self.imported(file, package, owner) if value[0] == CLASS]
        return self.members.of_all(frozenset(classes), name, file)

    def _whole_module(self, file: File, target: int) -> Values:
        """A module, and what it declares to be its exports."""
        name, home = file.facts.module_object, self.program.file(target)
        exported = self.bound(home, 0, name) if name and name in home.names(0) else NOTHING
        return self._module(file, target) | exported

    # Types

    def instances(self, file: File, scope: int, expression: Expression) -> Values:
        """What a variable declared with this type may be."""
        found = self._instances(file, scope, expression)
        return self.typed.opened(found) if file.facts.virtual else found

    def _instances(self, file: File, scope: int, expression: Expression) -> Values:
        if expression is None:
            return NOTHING
        if type(expression) is tuple:
            tag = expression[0]
            if tag == EITHER:
                return frozenset().union(*[self.instances(file, scope, part) for part in expression[1]])
            if tag == CONST and type(expression[1]) is str:
                return self.instances(file, scope, _quoted_type(expression[1]))
            if tag == GENERIC:
                return self._instances_of_generic(file, scope, expression[1], expression[2])
            if tag == ITEM:
                inner = expression[2]
                several = type(inner) is tuple and inner[0] == SEQUENCE
                return self._instances_of_generic(file, scope, expression[1], inner[1] if several else (inner,))
        return instances_of(self.values(file, scope, expression))

    def _instances_of_generic(self, file: File, scope: int, base: Expression, arguments: Any) -> Values:
        facts = file.facts
        found: Values = NOTHING
        for value in self.values(file, scope, base):
            if value[0] == CLASS:
                found |= one(INSTANCE, *value[1:])
            elif value[0] == EXTERNAL:
                name = value[1].rpartition(".")[2].rpartition(facts.separator)[2]
                if name in facts.union_types:
                    found |= frozenset().union(*[self.instances(file, scope, part) for part in arguments])
                elif name in facts.transparent_types:
                    found |= self.instances(file, scope, arguments[0]) if arguments else NOTHING
                elif name in facts.class_types:
                    found |= frozenset().union(*[self.values(file, scope, part) for part in arguments])
                elif name in facts.tuples:
                    found |= tuple_of(tuple(self.instances(file, scope, part) for part in arguments))
                elif name in facts.containers and arguments:
                    found |= collection(self.instances(file, scope, arguments[-1]))
                else:
                    found |= one(RESULT, value[1])
        return found

    # Calls

    def _call(self, file: File, scope: int, expression: Any) -> Values:
        callee = expression[1]
        if type(callee) is str and callee in file.facts.super_names:
            return self.parent(file, scope)
        found: Values = NOTHING
        for value in self.called(file, scope, expression):
            found |= self.result(file, scope, value, expression)
        return found

    def parent(self, file: File, scope: int) -> Values:
        """`super` seen from a scope."""
        method = file.enclosing_method(scope)
        owner = file.owner_class(method) if method >= 0 else -1
        if owner < 0:
            return NOTHING
        side = CLASS if file.facts.class_side and file.scope(method).flags & CLASS_METHOD else INSTANCE
        return one(PARENT, file.id, owner, side)

    def result(self, file: File, scope: int, callee: Value, call: Any) -> Values:
        """What calling a value gives; `call` is the call expression in `scope` of `file`."""
        tag = callee[0]
        if tag == FUNCTION:
            made = one(INSTANCE, *callee[1:3]) if call[0] == NEW and file.facts.prototype else NOTHING
            return made | self.returned(callee)
        if tag == CLASS:
            return one(INSTANCE, callee[1], callee[2])
        if tag == INSTANCE:
            return self.call_member(callee, file.facts.call_method, file) if file.facts.call_method else NOTHING
        if tag == BUILTIN:
            summary = self.summary(callee, file)
            known = self._summarized(file, scope, summary, call) if summary is not None else NOTHING
            return known or self._builtin_result(file, scope, callee, call)
        if tag == EXTERNAL:
            summary = self.summary(callee, file)
            found = self._summarized(file, scope, summary, call) if summary else NOTHING
            return found or one(RESULT, result_name(callee[1]))
        return one(RESULT, result_name(callee[1])) if tag == RESULT else NOTHING

    def summary(self, callee: Value, file: File) -> Summary | None:
        """What is known of a function that is not ours."""
        if callee[0] == BUILTIN:
            return file.facts.methods.get(callee[2])
        if callee[0] == EXTERNAL:
            return file.facts.summaries.get(callee[1]) or file.facts.methods.get(callee[1].rpartition(".")[2])
        return None

    def call_member(self, value: Value, name: str, file: File) -> Values:
        """What calling a method of a value without arguments gives."""
        found: Values = NOTHING
        for member in self.members.of(value, name, file):
            if member[0] == FUNCTION:
                found |= self.returned(member)
        return found

    def returned(self, function: Value) -> Values:
        """What a function returns; a bound function that returns its receiver gives that very receiver."""
        _, file_id, position, receiver = function
        found = self.solver.solve(("returns", file_id, position), self._returned_values, file_id, position)
        if receiver is None:
            return found
        file = self.program.file(file_id)
        name = file.receiver_name(position)
        if name:
            for expression in file.scope(position).returns:
                if expression == name:
                    found |= frozenset((receiver,))
                elif type(expression) is tuple and expression[0] == CALL and expression[1] == name:
                    found |= one(INSTANCE, receiver[1], receiver[2]) if receiver[0] == CLASS else NOTHING
        return found

    def _returned_values(self, file_id: int, position: int) -> Values:
        file = self.program.file(file_id)
        scope = file.scope(position)
        if scope.flags & GENERATOR:
            return one(GENERATED, file_id, position)
        declared = self.instances(file, position, scope.returned_type)
        if file.facts.declarations_suffice and self.typed.says_enough(declared, file):
            return declared
        if file.facts.virtual and declared:
            return self.typed.narrowed(self._union(file, position, scope.returns), declared)
        if any(value[0] in (INSTANCE, COLLECTION, CLASS, TUPLE) for value in declared):
            return declared
        found: Values = NOTHING
        for expression in scope.returns:
            found |= self.values(file, position, expression)
        return found or declared

    def _union(self, file: File, scope: int, expressions: Any) -> Values:
        found: Values = NOTHING
        for expression in expressions:
            found |= self.values(file, scope, expression)
        return found

    def _yielded(self, generated: Value) -> Values:
        return self.solver.solve(("yields", *generated[1:]), self._yielded_values, *generated[1:])

    def _yielded_values(self, file_id: int, position: int) -> Values:
        file = self.program.file(file_id)
        found: Values = NOTHING
        for expression in file.scope(position).yields:
            found |= self.values(file, position, expression)
        return found

    def _scope(self, value: Value) -> Scope:
        return self.program.file(value[1]).scope(value[2])

    def _summarized(self, file: File, scope: int, summary: Summary, call: Any) -> Values:
        arguments = call[2]

        def argument(position: int) -> Values:
            if position == RECEIVER:
                return (
                    self.values(file, scope, call[1][1]) if type(call[1]) is tuple and call[1][0] == MEMBER else NOTHING
                )
            inside = 0 <= position < len(arguments)
            return self.values(file, scope, arguments[position]) if inside else NOTHING

        found: Values = argument(summary.returns)
        for function in argument(summary.result_of):
            if function[0] in (FUNCTION, CLASS):
                found |= self.result(file, scope, function, call)
        collected: Values = NOTHING
        for position in summary.collects:
            for function in argument(position):
                if function[0] in (FUNCTION, CLASS):
                    collected |= self.result(file, scope, function, call)
        if collected:
            found |= collection(collected)
        found |= self.elements(argument(summary.elements))
        if summary.pairs:
            found |= collection(tuple_of(tuple(self.elements(argument(p)) for p in summary.pairs)))
        if summary.member_of >= 0 and len(arguments) > summary.member_of + 1:
            for key in argument(summary.member_of + 1):
                if key[0] == KEY and type(key[1]) is str:
                    found |= self.members.of_all(argument(summary.member_of), key[1], file)
        if 0 <= summary.instance_of < len(arguments):
            found |= self.instances(file, scope, arguments[summary.instance_of])
        if summary.gathers >= 0:
            gathered = [self.values(file, scope, part) for part in arguments[summary.gathers :]]
            found |= collection(frozenset().union(*gathered))
        held = argument(summary.items_of)
        if held:
            found |= collection(frozenset().union(*[self.items(value, None, file) for value in held]))
        for value in argument(summary.item_pairs_of):
            keys = self._display_keys(value) if value[0] == DISPLAY else NOTHING
            found |= collection(tuple_of((keys, self.items(value, None, file))))
        for value in argument(summary.class_of):
            found |= one(CLASS, *value[1:]) if value[0] == INSTANCE else NOTHING
        return found

    # Parameters

    def _parameter_values(self, file: File, position: int, index: int) -> Values:
        scope = file.scope(position)
        _, annotation, default, mode = scope.parameters[index]
        if scope.receiver_type is not None and index == 0 and not scope.flags & OUTSIDE:
            return self.instances(file, file.definitions[position][3], scope.receiver_type)
        outer = file.definitions[position][3]
        if (
            index == 0
            and file.facts.receiver_parameter
            and not scope.flags & STATIC
            and file.owner_class(position) >= 0
        ):
            return self.receiver(file, position, bool(scope.flags & CLASS_METHOD))
        declared = self.instances(file, outer, annotation)
        if mode in VARIADIC:
            return one(REST, file.id, position, index) | (NOTHING if file.facts.virtual else declared)
        if not file.facts.virtual and any(value[0] in (INSTANCE, COLLECTION, CLASS) for value in declared):
            return declared
        if file.facts.declarations_suffice and self.typed.says_enough(declared, file):
            return declared
        passed = self._passed(file, position, index)
        if file.facts.virtual:
            return self.typed.narrowed(passed | self.values(file, outer, default), declared)
        if default is None or (passed and self._always_passed(file, position, index)):
            return declared | passed
        return declared | passed | self.values(file, outer, default)

    def _always_passed(self, file: File, position: int, index: int) -> bool:
        """Whether no known call leaves a parameter to its default."""
        scope = file.scope(position)
        sites = self.below.members.sites.of(file, position) if self.below else []
        return all(passed_expressions(scope, index, call, shift) for _, _, call, shift in sites)

    def _rest(self, value: Value) -> Values:
        """Everything that a variadic parameter may receive."""
        _, file_id, position, index = value
        file = self.program.file(file_id)
        return self.solver.solve(("rest", file_id, position, index), self._rest_values, file, position, index)

    def _rest_values(self, file: File, position: int, index: int) -> Values:
        found = self._passed(file, position, index)
        if file.facts.virtual:
            annotation = file.scope(position).parameters[index][1]
            return self.typed.narrowed(found, self.instances(file, file.definitions[position][3], annotation))
        return found

    def _passed(self, file: File, position: int, index: int) -> Values:
        """What call sites pass for a parameter."""
        below = self.below
        if below is None:
            return NOTHING
        found: Values = NOTHING
        for site_file, site_scope, call, shift in below.members.sites.of(file, position):
            caller = self.program.file(site_file)
            for expression in passed_expressions(file.scope(position), index, call, shift):
                found |= below.values(caller, site_scope, expression)
        return few_keys(found)

    # Containers

    def keys(self, file: File, scope: int, expression: Expression) -> frozenset[Any] | None:
        """The constants that a key may be, None if it may be any."""
        if expression is None:
            return None
        if type(expression) is tuple and expression[0] == CONST:
            return frozenset((expression[1],))
        values = self.values(file, scope, expression)
        if not values or any(value[0] != KEY for value in values):
            return None
        return frozenset(value[1] for value in values)

    def elements(self, values: Values) -> Values:
        """What iterating over the values gives."""
        found: Values = NOTHING
        for value in values:
            tag = value[0]
            if tag == DISPLAY:
                found |= self._display_keys(value) if self._is_mapping(value) else self.items(value, None, None)
            elif tag == COLLECTION:
                found |= value[1]
            elif tag == TUPLE:
                found |= frozenset().union(*value[1])
            elif tag == REST:
                found |= self._rest(value)
            elif tag == GENERATED:
                found |= self._yielded(value)
            elif tag == INSTANCE:
                found |= self._iterated(value)
        return found

    def _underlying(self, value: Value) -> Values:
        """The collections that a type with a name is made of: `type T []E`."""
        file = self.program.file(value[1])
        kind, outer = file.definitions[value[2]][0], file.definitions[value[2]][3]
        found: Values = NOTHING
        for expression in file.scope(value[2]).bases if kind == Kind.TYPE else ():
            found |= frozenset(one for one in self.instances(file, outer, expression) if one[0] in (COLLECTION, TUPLE))
        return found

    def _iterated(self, value: Value) -> Values:
        file = self.program.file(value[1])
        found = self.elements(self._underlying(value))
        for method in file.facts.iterate_methods:
            for started in self.call_member(value, method, file):
                if started[0] in (INSTANCE, DISPLAY) and file.facts.next_method:
                    found |= self._next_items(started, file)
                elif started != value:
                    found |= self.elements(frozenset((started,)))
        return found

    def _next_items(self, iterator: Value, file: File) -> Values:
        given = self.call_member(iterator, file.facts.next_method, file)
        return self.members.of_all(given, file.facts.next_item, file) if file.facts.next_item else given

    def items(self, container: Value, keys: frozenset[Any] | None, file: File | None) -> Values:
        """`container[key]` for a set of possible keys, None for any."""
        tag = container[0]
        if file is not None and keys and file.facts.members_are_items and tag in (INSTANCE, CLASS, MODULE, FUNCTION):
            return frozenset().union(*[self.members.of(container, str(key), file) for key in keys])
        if tag == DISPLAY:
            key = ("items", container, keys)
            return self.solver.solve(key, self._display_items, container, keys)
        if tag == COLLECTION:
            return container[1]  # type: ignore[no-any-return]
        if tag == REST:
            return self._rest(container)
        if tag == TUPLE:
            parts = container[1]
            chosen = (
                parts if keys is None else [parts[k] for k in keys if type(k) is int and -len(parts) <= k < len(parts)]
            )
            return frozenset().union(*chosen)
        if tag == INSTANCE and file is not None:
            return self.call_member(container, "__getitem__", file) or self.elements(frozenset((container,)))
        if tag in (CLASS, FUNCTION):
            return frozenset((container,))
        if tag == GENERATED:
            return self._yielded(container)
        return frozenset((container,)) if tag in (RESULT, EXTERNAL) else NOTHING

    def _is_mapping(self, display: Value) -> bool:
        return self.program.file(display[1]).display(display[2])[1][0] == MAPPING  # type: ignore[no-any-return]

    def _display_keys(self, display: Value) -> Values:
        file = self.program.file(display[1])
        scope, expression = file.display(display[2])
        pairs = expression[1] if expression[0] == MAPPING else ()
        return frozenset().union(*[self.values(file, scope, key) for key, _ in pairs if not _is_spread(key)])

    def _display_items(self, display: Value, keys: frozenset[Any] | None) -> Values:
        file = self.program.file(display[1])
        scope, expression = file.display(display[2])
        if expression[0] == SEQUENCE:
            found = self._sequence_items(file, scope, expression[1], keys)
        else:
            found = self._mapping_items(file, scope, expression[1], keys)
        if file.facts.members_are_items and keys is not None:
            return self._members_stored(file, display, keys, found)
        for store_index in self.stores_into(file).get(display, ()):
            store = file.item_stores()[store_index]
            if _is_spread(store.key):
                for merged in self.values(file, store.scope, store.key[1]):
                    found |= self.items(merged, keys, file)
                continue
            stored = self.keys(file, store.scope, store.key)
            if keys is None or stored is None or stored & keys:
                found |= self.values(file, store.scope, store.value)
        return found

    def _members_stored(self, file: File, display: Value, keys: frozenset[Any], written: Values) -> Values:
        """What a mapping holds under some keys: written in it, stored or merged into it, if all else fails anywhere."""
        found = written
        for key in keys:
            found |= self.members.stored_from_outside(display, key)
        certain = bool(found)
        for store in file.computed_stores if len(file.computed_stores) <= MAX_COMPUTED_STORES else ():
            stored = None if _is_spread(store.key) else self.keys(file, store.scope, store.key)
            if stored is None and certain and not _is_spread(store.key):
                continue  # a member of that name is known, so that this is most likely another
            if (stored is None or stored & keys) and display in self.values(file, store.scope, store.base):
                if _is_spread(store.key):
                    found |= self._merged_items(file, self.values(file, store.scope, store.key[1]), keys)
                else:
                    found |= self.values(file, store.scope, store.value)
        return found

    def _sequence_items(self, file: File, scope: int, parts: Any, keys: frozenset[Any] | None) -> Values:
        exact = keys is not None and not any(_is_spread(part) for part in parts)
        if exact and keys is not None and all(type(key) is int for key in keys):
            chosen = [parts[key] for key in keys if -len(parts) <= key < len(parts)]
        elif keys and file.facts.members_are_items and all(type(key) is str for key in keys):
            chosen = []
        else:
            chosen = parts
        found: Values = NOTHING
        for part in chosen:
            found |= self.values(file, scope, part)
        return found

    def _mapping_items(self, file: File, scope: int, pairs: Any, keys: frozenset[Any] | None) -> Values:
        found: Values = NOTHING
        for key, value in pairs:
            if _is_spread(key):
                found |= self._merged_items(file, self.values(file, scope, value), keys)
                continue
            own = self.keys(file, scope, key)
            if keys is None or own is None or own & keys:
                found |= self.values(file, scope, value)
        return found

    def _merged_items(self, file: File, values: Values, keys: frozenset[Any] | None) -> Values:
        """What a mapping holds because everything that another holds was added to it."""
        found: Values = NOTHING
        for value in values:
            if keys and file.facts.members_are_items and value[0] in (EXTERNAL, RESULT):
                found |= frozenset().union(*[external(f"{value[1]}.{key}") for key in keys])
            else:
                found |= self.items(value, keys, file)
        return found

    def merged_into(self, display: Value) -> Values:
        """Objects whose members a mapping takes over where it is written."""
        file = self.program.file(display[1])
        scope, expression = file.display(display[2])
        pairs = expression[1] if expression[0] == MAPPING else ()
        return frozenset().union(*[self.values(file, scope, value) for key, value in pairs if _is_spread(key)])

    def stores_into(self, file: File) -> dict[Value, list[int]]:
        """Which item assignments of a file go into which display."""
        pairs = self.solver.solve(("stores", file.id), self._stored_pairs, file)
        table: dict[Value, list[int]] = {}
        for display, index in sorted(pairs):
            table.setdefault(display, []).append(index)
        return table

    def _stored_pairs(self, file: File) -> frozenset[Any]:
        found = set()
        for index, store in enumerate(file.item_stores()):
            for value in self.values(file, store.scope, store.base):
                if value[0] == DISPLAY and value[1] == file.id:
                    found.add((value, index))
        return frozenset(found)

    def _reflected(self, file: File, scope: int, target: Value, what: str, call: Any) -> Values:
        """What a class as a value gives: a member by its name, itself, an instance."""
        if what == "instance":
            return one(INSTANCE, *target[1:3])
        if what != "member" or not call[2]:
            return frozenset((target,)) if what == "class" else NOTHING
        found: Values = NOTHING
        for key in self.keys(file, scope, call[2][0]) or ():
            for member in self.members.of(target, str(key), file):
                found |= one(*member[:3], member) if member[0] == FUNCTION else NOTHING
        return found

    def _builtin_result(self, file: File, scope: int, callee: Value, call: Any) -> Values:
        _, container, name = callee
        facts = file.facts
        if container[0] == CLASS:
            return self._reflected(file, scope, container, facts.reflection.get(name, ""), call)
        if name in facts.mappers and call[2]:
            mapped: Values = NOTHING
            for function in self.values(file, scope, call[2][0]):
                mapped |= self.result(file, scope, function, call) if function[0] in (FUNCTION, CLASS) else NOTHING
            return mapped if container[0] == INSTANCE or not mapped else collection(mapped)
        if container[0] == INSTANCE:
            return frozenset((container,))
        if name in facts.views:
            return collection(self.items(container, None, file))
        if name in facts.item_views:
            keys = self._display_keys(container) if container[0] == DISPLAY else NOTHING
            return collection(tuple_of((keys, self.items(container, None, file))))
        if name in facts.getters:
            arguments = call[2]
            keys_wanted = self.keys(file, scope, arguments[0]) if arguments else None
            found = self.items(container, keys_wanted, file)
            return found | self.values(file, scope, arguments[1]) if len(arguments) > 1 else found
        return NOTHING


def _is_variable(name: str, sigil: str) -> bool:
    return bool(sigil) and name.startswith(sigil)


def instances_of(types: Values) -> Values:
    """Instances of the classes among some values."""
    found: set[Value] = set()
    for value in types:
        if value[0] == CLASS:
            found.add((INSTANCE, value[1], value[2]))
        elif value[0] == EXTERNAL:
            found.add((RESULT, value[1]))
        elif value[0] in (COLLECTION, INSTANCE, DISPLAY):
            found.add(value)
    return frozenset(found)


def result_name(callee: str) -> str:
    """How what an external callee gives is called: a class's instance by the class, else `callee()`."""
    name = callee.rpartition(".")[2]
    return callee if name[:1].isupper() or name.endswith("()") else f"{callee}()"


def few_keys(values: Values) -> Values:
    """Values without their constants when there are so many that they say nothing."""
    if len(values) <= MAX_KEYS:
        return values
    others = frozenset(value for value in values if value[0] != KEY)
    return values if len(values) - len(others) <= MAX_KEYS else others


def passed_expressions(scope: Scope, index: int, call: Any, shift: int) -> list[Expression]:
    """The argument expressions of a call that end in one parameter. `shift`: parameters taken by the receiver."""
    name, _, _, mode = scope.parameters[index]
    arguments, keywords = call[2], call[3]
    found = []
    if mode == VARIADIC[0]:
        found = list(arguments[max(index - shift, 0) :])
    elif mode == VARIADIC[1]:
        named = {parameter[0] for parameter in scope.parameters}
        found = [value for keyword, value in keywords if keyword not in named]
    else:
        place = index - shift
        spread = next((i for i, part in enumerate(arguments) if _is_spread(part)), len(arguments))
        if 0 <= place < min(spread, len(arguments)):
            found.append(arguments[place])
        elif place >= spread:
            found.extend(part for part in arguments[spread:] if _is_spread(part))
        found.extend(value for keyword, value in keywords if keyword == name)
        found.extend((ITEM, value, (CONST, name)) for keyword, value in keywords if not keyword and value is not None)
    return found


def _is_spread(expression: Expression) -> bool:
    return type(expression) is tuple and expression[0] == SPREAD


def _quoted_type(text: str) -> Expression:
    """The expression of a type written in a string: dotted names only."""
    parts = text.split(".")
    if len(parts) > MAX_TYPE_NAME_PARTS or not all(part.isidentifier() for part in parts):
        return None
    expression: Expression = parts[0]
    for part in parts[1:]:
        expression = (MEMBER, expression, part)
    return expression


_EVALUATORS: dict[int, Any] = {
    AROUND: Evaluator._around,
    MEMBER: Evaluator._member,
    CALL: Evaluator._call,
    NEW: Evaluator._call,
    ITEM: Evaluator._item,
    CONST: Evaluator._const,
    SEQUENCE: Evaluator._display,
    MAPPING: Evaluator._display,
    DEFINED: Evaluator._defined,
    EITHER: Evaluator._either,
    TYPED: Evaluator._typed,
    DECLARED: Evaluator._declared,
    REFERENCE: Evaluator._reference,
    ELEMENT: Evaluator._element,
    DISPLAYED: Evaluator._displayed,
    ENTER: Evaluator._enter,
    GENERIC: Evaluator._generic,
    SPREAD: Evaluator._spread,
    LITERAL: Evaluator._literal,
    IMPORTED: Evaluator._imported,
    PARAMETER: Evaluator._parameter,
}
