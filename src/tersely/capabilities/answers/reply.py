"""An outcome in words, the same at every door that shows text; and within a token budget, whatever
was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tersely.capabilities.answers.shown import shown_files
from tersely.capabilities.answers.text import PLAIN, Style
from tersely.capabilities.declaration.declaration import Capability
from tersely.capabilities.declaration.projection import harmless
from tersely.capabilities.invoke import Failure, Outcome, invoke
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.types import JsonMapping, Strings

if TYPE_CHECKING:
    from tersely.foundation.text.tokens import Tokenizer
    from tersely.workspace import Workspace

BUDGET = "budget"
ResultT = TypeVar("ResultT")
REST = "… "  # how a line begins that says what an answer leaves out


def answer_text(capability: Capability, outcome: Outcome, style: Style) -> str:
    """The result, on whole lines; nothing in it steers a terminal."""
    return _ended(capability.text(harmless(outcome.result), style))


def aside_text(capability: Capability, outcome: Outcome, style: Style) -> str:
    """The words that the capability says beside the result; "" for none."""
    aside = capability.aside(harmless(outcome.result), style) if capability.aside else ""
    return _ended(aside) if aside else ""


def notes_text(outcome: Outcome) -> str:
    """The notes on how the answer came to be, a line each."""
    return "".join(f"note: {visible_line(note)}\n" for note in outcome.notes)


def failure_text(failure: Failure | TerselyError, style: Style) -> str:
    """A failure in words, with what to do next."""
    lines = [f"{style.bad(failure.code)}: {visible_line(failure.message)}"]
    if failure.hint:
        lines.append(f"{style.faint('hint')}: {visible(failure.hint)}")
    return "\n".join(lines) + "\n"


class Reply(NamedTuple):
    """An answer in words. The `text` and the `asides` together keep to the budget."""

    revision: str
    text: str
    asides: Strings  # what is said beside it, as far as there is room
    notes: Strings  # all there is to be known of how the answer came to be
    etag: str  # of the one symbol that the answer shows, empty for others
    files: Strings = ()  # that the answer stands for, for doors that keep answers


def whole_reply(capability: Capability, workspace: Workspace, arguments: JsonMapping) -> Reply:
    """Ask, and say all of it, as the command line does; raises what went wrong. For doors that keep
    answers.
    """
    outcome = _answered(capability, workspace, arguments)
    text = answer_text(capability, outcome, PLAIN)
    asides = tuple(filter(None, (notes_text(outcome), aside_text(capability, outcome, PLAIN))))
    return Reply(
        outcome.revision, text, asides, outcome.notes, _etag(outcome), shown_files(outcome.result)
    )


def reply(
    capability: Capability,
    workspace: Workspace,
    arguments: JsonMapping,
    budget: object = None,
) -> Reply:
    """Ask, and say it within a budget, that of the settings if it is None; raises what went wrong.

    A capability that fits its answer into a budget by itself is told it; the text of any other is
    cut.
    """
    limit = read_budget(budget, workspace.settings.budget_tokens)
    if budget is not None and any(parameter.name == BUDGET for parameter in capability.parameters):
        arguments = {**arguments, BUDGET: limit}
    outcome = _answered(capability, workspace, arguments)
    tokenizer = workspace.tokenizer
    text = cut(answer_text(capability, outcome, PLAIN), limit, tokenizer)
    asides: list[str] = []
    for one in (notes_text(outcome), aside_text(capability, outcome, PLAIN)):
        if one and tokenizer.count("".join([text, *asides, one])) <= limit:
            asides.append(one)
    return Reply(outcome.revision, text, tuple(asides), outcome.notes, _etag(outcome))


def _answered(capability: Capability, workspace: Workspace, arguments: JsonMapping) -> Outcome:
    outcome = invoke(capability, workspace, arguments)
    if outcome.failure is not None:
        raise TerselyError(outcome.failure.code, outcome.failure.message, outcome.failure.hint)
    return outcome


def _etag(outcome: Outcome) -> str:
    return getattr(outcome.result, "etag", None) or ""


def fitted(
    shown: Callable[[int], ResultT],
    text: Callable[[ResultT, Style], str],
    numbers: range,
    budget: int,
    tokenizer: Tokenizer,
) -> ResultT:
    """A result with as many of its parts as a budget has room for, of these numbers; raises
    `budget_too_small` if not even the first has room.
    """
    from tersely.foundation.text.tokens import filled, too_small  # few answers need it

    def tokens(number: int) -> int:
        return tokenizer.count(text(shown(number), PLAIN) + "\n")

    if chosen := filled(numbers, lambda begun: tokens(begun[-1]), budget):
        return shown(chosen[-1])
    # a part can take less than the line that says it is left out
    raise too_small(budget, min(map(tokens, numbers[:2])))


def cut(text: str, budget: int, tokenizer: Tokenizer) -> str:
    """The first lines of a text, and how many are left out; raises `budget_too_small` if not even
    that has room.

    What the text itself says at its end of what it leaves out is kept if it has room.
    """
    if tokenizer.count(text) <= budget:
        return text
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    most = tokenizer.truncate(text, budget).count("\n")
    for said in dict.fromkeys([lines[-1] if lines[-1].startswith(REST) else "", ""]):
        body = lines[:-1] if said else lines
        for kept in range(min(most, len(body) - 1), -1, -1):
            shown = "".join(body[:kept]) + _left_out(len(body) - kept, budget) + said
            if tokenizer.count(shown) <= budget:
                return shown
    from tersely.foundation.text.tokens import too_small

    raise too_small(budget, tokenizer.count(_left_out(len(lines), budget)))


def _left_out(lines: int, budget: int) -> str:
    what = "1 more line has" if lines == 1 else f"{lines:,} more lines have"
    return f"… {what} no room in {budget:,} tokens: ask for less, or allow more with budget\n"


def read_budget(budget: object, default: int) -> int:
    """The most tokens that an answer may have; raises `invalid_argument`."""
    if budget is None:
        return default
    if type(budget) is not int or not 1 <= budget <= MAX_BUDGET_TOKENS:
        message = f"budget: a whole number from 1 to {MAX_BUDGET_TOKENS}"
        raise TerselyError("invalid_argument", message, "the most tokens that the answer may have")
    return budget


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
