"""The one pipeline through which every door asks: check, refresh, run, and turn what went wrong
into an outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.capabilities.catalogue import load
from tersely.capabilities.declaration.binding import bound
from tersely.capabilities.declaration.declaration import Capability, Tier
from tersely.capabilities.declaration.projection import to_json
from tersely.foundation.errors import EXIT_NEGATIVE, EXIT_OF_CODE, EXIT_OK, TerselyError
from tersely.foundation.process.deadline import DeadlineError, patience
from tersely.foundation.types import JsonMapping, Strings

if TYPE_CHECKING:
    from tersely.code.bounds import Findings
    from tersely.foundation.types import JsonObject
    from tersely.workspace import Workspace

MAX_LOOKS_AGAIN = 2  # at the files, by a question for which one was gone that had just been indexed


class Failure(NamedTuple):
    """The reason for which there is no result, in words that stay the same (`code`) and words for
    people.
    """

    code: str
    message: str
    hint: str
    cause: Exception  # stays inside the process

    @classmethod
    def of(cls, error: TerselyError) -> Failure:
        """The failure that an error on purpose is."""
        return cls(error.code, error.message, error.hint, error)

    @property
    def is_defect(self) -> bool:
        """True if it is nobody's fault but Tersely's."""
        return not isinstance(self.cause, TerselyError)

    @property
    def exit_status(self) -> int:
        """The status with which a process ends that could only report this."""
        return EXIT_OF_CODE[self.code]


class Outcome(NamedTuple):
    """The outcome of a call: a result at a revision of the index, or a failure."""

    revision: str  # empty when the index could not be opened
    result: Any
    failure: Failure | None = None
    notes: Strings = ()  # what the reader should know about how the answer came to be
    is_found: bool = True  # whether the result has what was looked for

    @property
    def exit_status(self) -> int:
        """0 for a result, 1 for one in which nothing was found, else that of the failure."""
        if self.failure is not None:
            return self.failure.exit_status
        return EXIT_OK if self.is_found else EXIT_NEGATIVE

    def envelope(self) -> JsonObject:
        """The outcome as every door that speaks JSON gives it."""
        if self.failure is None:
            notes = {"notes": list(self.notes)} if self.notes else {}
            return {"ok": True, "revision": self.revision, "result": to_json(self.result), **notes}
        error = {
            "code": self.failure.code,
            "message": self.failure.message,
            "hint": self.failure.hint,
        }
        return {"ok": False, "revision": self.revision, "error": error}


def invoke(
    capability: Capability,
    workspace: Workspace,
    arguments: JsonMapping,
    trust: Tier = Tier.READ,
) -> Outcome:
    """Ask; never raises but for an interruption. A door says how far it trusts whoever asks.

    Damage of the index shows where a damaged page is read, which may be long after the index was
    found to be up to date. It is then built anew, and the question asked again. In the same way a
    file may vanish after the index was brought up to date, as when a branch is switched: the files
    are looked at once more, and the question asked again, if it has no effects that asking twice
    would double.
    """
    if capability.tier_of(arguments) > trust:
        return Outcome("", None, Failure.of(_not_permitted(capability, arguments, trust)))
    outcome = _invoke_once(capability, workspace, arguments)
    if outcome.failure is not None and outcome.failure.code == "database_corrupt":
        return _invoke_once(
            capability, workspace, arguments, workspace.engine.replace_damaged_index
        )
    looks_again = (
        MAX_LOOKS_AGAIN
        if workspace.may_refresh and capability.tier_of(arguments) == Tier.READ
        else 0
    )
    while looks_again and outcome.failure is not None and outcome.failure.code == "unreadable_file":
        outcome = _invoke_once(capability, workspace, arguments, workspace.refresh)
        looks_again -= 1
    return outcome


def _invoke_once(
    capability: Capability,
    workspace: Workspace,
    arguments: JsonMapping,
    mend: Callable[[], object] | None = None,
) -> Outcome:
    revision = ""
    try:
        if mend is not None:
            mend()
        run = partial(capability.run, workspace, **bound(capability.run, arguments))
        if not capability.checks_freshness:
            answer = workspace.engine.answer(run)
            return _outcome(capability, workspace, workspace.revision, answer)
        workspace.check_freshness()
        with workspace.snapshot():
            revision = workspace.revision
            with patience(
                workspace.patience_seconds if capability.tier_of(arguments) < Tier.SYSTEM else 0
            ):
                answer = _answer(capability, workspace, arguments, run)
            return _outcome(capability, workspace, revision, answer)
    except TerselyError as error:
        failure = Failure.of(error)
    except ModuleNotFoundError as error:
        from tersely.foundation.installation import missing_module

        failure = Failure.of(missing_module(error))
    except DeadlineError:
        failure = Failure.of(_too_slow(capability, workspace))
    except Exception as error:  # noqa: BLE001 - a defect must reach every door as an answer, not as silence
        failure = defect(error)
    return Outcome(revision, None, failure)


def _answer(
    capability: Capability,
    workspace: Workspace,
    arguments: JsonMapping,
    run: partial[Any],
) -> tuple[Any, Findings]:
    """The result of a capability, kept or new, with its findings."""
    is_kept = capability.is_kept and capability.is_repeatable(arguments)
    if is_kept and workspace.settings.kept_answers != "off":
        from tersely.capabilities.kept import answered

        run = partial(answered, workspace, capability.name, run)
    return workspace.engine.answer(run)


def _outcome(
    capability: Capability,
    workspace: Workspace,
    revision: str,
    answer: tuple[Any, Findings],
) -> Outcome:
    result, findings = answer
    is_found = capability.found is None or capability.found(result)
    return Outcome(revision, result, notes=workspace.notes(findings), is_found=is_found)


def ask(workspace: Workspace, name: str, **arguments: object) -> Any:
    """Ask from Python, by the name of a capability: the plain result, or the error raised."""
    outcome = invoke(load(name), workspace, arguments, Tier.SYSTEM)
    if outcome.failure is not None:
        raise outcome.failure.cause
    return outcome.result


def _not_permitted(capability: Capability, arguments: JsonMapping, trust: Tier) -> TerselyError:
    declared = {parameter.name: parameter for parameter in capability.parameters}
    names = [
        name
        for name, value in arguments.items()
        if name in declared and declared[name].tier(value) > trust
    ]
    message = f"{' and '.join(names) or capability.name} is not permitted through this interface"
    return TerselyError("not_permitted", message, "ask through the command line or Python")


def _too_slow(capability: Capability, workspace: Workspace) -> TerselyError:
    message = f"{capability.name} has no answer after {workspace.patience_seconds:g} seconds"
    hint = "ask about less, or allow more: TERSELY_ANSWER_SECONDS=600, 0 for any time"
    return TerselyError("timed_out", message, hint)


def defect(error: Exception) -> Failure:
    """The failure that an error is which nobody meant."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f" ({frame.tb_frame.f_code.co_qualname}, line {frame.tb_lineno})" if frame else ""
    message = f"{type(error).__name__}: {error}{place}"
    return Failure(
        "internal_error", message, "a defect in Tersely; TERSELY_DEBUG=1 shows where", error
    )
