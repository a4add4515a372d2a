"""The signs by which an agent under `tersely run` says what it does, and the way of a text to its
model without being typed.

Each agent calls a hook at certain events. What an event says is one value here; a call is answered
with JSON.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tersely.foundation import activity
from tersely.foundation.types import Strings, field, frozen

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

HOOK_LIMIT_SECONDS = 30  # that agents are told to give a hook; ours ends before
WAITING_HOOK_SECONDS = 86_400  # for which a hook that wakes an idle agent waits
WAIT_WORD = "wait"  # makes the hook wait until there is a text
EDITORS = (
    # the tools of agents that change files
    "Edit|MultiEdit|Write|NotebookEdit|edit|write_file|replace|apply_patch"
)
SHARED = ("tersely",)  # the command, as files name it that several people have
_OPENCODE_SETTINGS = "OPENCODE_CONFIG_CONTENT"
# tells our plugin by which commands it asks the relay
_HOOKS = "TERSELY_HOOKS"


class AgentState(StrEnum):
    """The states of an agent."""

    WORKING = activity.WORKING
    IDLE = activity.IDLE
    PERMISSION = activity.PERMISSION


Answer = Callable[[str, str], Any]  # an event and a text


@frozen
class Moment:
    """The meaning of an event: the state that begins, None for no change, and how a text is handed
    over with the answer.
    """

    state: AgentState | None
    answer: Answer | None = None


@frozen
class Launch:
    """The additions to a command line, behind the name of the program, and to its environment."""

    words: Strings = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@frozen
class Dialog:
    """The dialog in which an agent asks its person for permission, as regular
    expressions: its first row, which no row below it can look like, and the words of the choices
    that allow and that refuse what is asked, this once.

    `cut` is found between the first row and the choices where these may leave something out.
    """

    title: str
    allow: str
    deny: str
    cut: str = r"(?!)"


@frozen
class Wrapped:
    """The wrapping of an agent. `prompt` is a regular expression for the row in which its empty
    prompt stands; `dialogs` are none where its hooks or our plugin hand over what the person says.
    """

    moments: Mapping[str, Moment]
    prompt: str
    dialogs: tuple[Dialog, ...] = ()
    # else `install` writes the hooks
    launch: Callable[[Mapping[str, str]], Launch] = lambda environment: Launch()


def added_context(event: str, text: str) -> JsonObject:
    """A text beside a prompt or the result of a tool."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _blocked(event: str, text: str) -> JsonObject:
    """An agent that is about to stop goes on with a text."""
    return {"decision": "block", "reason": text}


def plain(event: str, text: str) -> str:
    """A text as it is."""
    return text


def hook_words(*more: str) -> list[str]:
    """The command of a hook: a script that starts fast."""
    return script_words("run_hook.py", *more)


def mail_words(*kind: str, program: Sequence[str] = ()) -> list[str]:
    """The command of a hook that asks the relay; without its kind, what such commands begin with.

    Where `program` is `SHARED`, it names no place of this machine.
    """
    if tuple(program) == SHARED:
        return [*SHARED, "hook", *kind]
    return script_words("mail_hook.py", *kind)


def script_words(name: str, *words: str) -> list[str]:
    """The command of a script of ours that starts fast, with words behind it."""
    return [sys.executable, "-I", "-S", str(files("tersely.integrations") / name), *words]


def _claude(environment: Mapping[str, str]) -> Launch:
    own = hook_entry(shlex.join(hook_words()), HOOK_LIMIT_SECONDS)
    hooks: dict[str, list[Any]] = {event: [own] for event in _CLAUDE_MOMENTS}
    for event, kind, tools, seconds in _CLAUDE_BESIDE:
        hooks[event].append(hook_entry(shlex.join(mail_words(kind)), seconds, tools))
    waiting = hook_entry(shlex.join(hook_words(WAIT_WORD)), WAITING_HOOK_SECONDS)
    waiting["hooks"][0] |= {"async": True, "asyncRewake": True}
    for event in ("SessionStart", "Stop", "StopFailure"):
        hooks[event].append(waiting)
    return Launch(("--settings", json.dumps({"hooks": hooks})))


def hook_entry(command: str, seconds: int, tools: str = "") -> JsonObject:
    """A hook as most agents have it: a command, of so many seconds, for some tools or all."""
    entry = {"type": "command", "command": command, "timeout": seconds}
    return {**matching(tools), "hooks": [entry]}


def matching(tools: str) -> JsonObject:
    """The member of a hook that names its tools, none for all."""
    return {"matcher": tools} if tools else {}


def _codex(environment: Mapping[str, str]) -> Launch:
    """Settings for this run; Codex asks once whether to trust them, and remembers it."""
    command = json.dumps(shlex.join(hook_words()))
    beside = json.dumps(shlex.join(mail_words("edit")))
    hook = f'{{hooks=[{{type="command",command={command},timeout={HOOK_LIMIT_SECONDS}}}]}}'
    edit = f'{{matcher="{EDITORS}",hooks=[{{type="command",command={beside},timeout={HOOK_LIMIT_SECONDS}}}]}}'
    hooks = dict.fromkeys(_CODEX_MOMENTS, hook) | {"PreToolUse": f"{hook},{edit}"}
    settings = [("-c", f"hooks.{event}=[{value}]") for event, value in hooks.items()]
    return Launch(tuple(word for pair in settings for word in pair))


def _opencode(environment: Mapping[str, str]) -> Launch:
    """Its settings with our plugin, beside what the environment says already."""
    try:
        known = json.loads(environment.get(_OPENCODE_SETTINGS, "") or "{}")
    except ValueError:
        return Launch()
    plugins = known.get("plugin", []) if isinstance(known, dict) else None
    if not isinstance(plugins, list):
        return Launch()
    plugin = f"file://{files('tersely.integrations') / 'files' / 'opencode_run.js'}"
    settings = json.dumps({**known, "plugin": [*plugins, plugin]})
    hooks = {kind: mail_words(kind) for kind in ("edit", "permission")}
    return Launch(environment={_OPENCODE_SETTINGS: settings, _HOOKS: json.dumps(hooks)})


_AT_WORK = Moment(AgentState.WORKING)
_WITH_CONTEXT = Moment(AgentState.WORKING, added_context)
_STOPS = Moment(AgentState.IDLE, _blocked)
_ASKS = Moment(AgentState.PERMISSION)
_CLAUDE_MOMENTS = {
    "SessionStart": Moment(AgentState.IDLE, added_context),
    "UserPromptSubmit": _WITH_CONTEXT,
    "PreToolUse": _AT_WORK,
    "PermissionRequest": _ASKS,
    "PostToolUse": _WITH_CONTEXT,
    "Stop": _STOPS,
    "StopFailure": Moment(AgentState.IDLE),
}
_CODEX_MOMENTS = {
    "SessionStart": _WITH_CONTEXT,  # it comes with the first prompt
    "UserPromptSubmit": _WITH_CONTEXT,
    "PreToolUse": _AT_WORK,
    "PermissionRequest": _ASKS,
    "PostToolUse": _WITH_CONTEXT,
    "Stop": _STOPS,
}
GEMINI_MOMENTS = {
    "SessionStart": Moment(AgentState.IDLE, added_context),
    "BeforeAgent": _WITH_CONTEXT,
    "BeforeTool": _AT_WORK,
    "Notification": _ASKS,
    "AfterTool": _WITH_CONTEXT,
    "AfterAgent": _STOPS,
}
QWEN_MOMENTS = {
    "SessionStart": Moment(AgentState.IDLE, added_context),
    "UserPromptSubmit": _WITH_CONTEXT,
    "PermissionRequest": _ASKS,  # comes before PreToolUse
    "PostToolUse": _WITH_CONTEXT,
    "Stop": _STOPS,
}
_OPENCODE_MOMENTS = {  # as our plugin calls them
    "SessionStart": Moment(None, plain),
    "UserPromptSubmit": _AT_WORK,
    "busy": _AT_WORK,
    "idle": Moment(AgentState.IDLE),
    "permission.asked": _ASKS,
    "permission.replied": _AT_WORK,
}

# What asks the relay beside what the wrapper hears: an event, what `mail_hook.py` does, for which
# tools, how long.
_CLAUDE_BESIDE = (
    ("PreToolUse", "edit", EDITORS, HOOK_LIMIT_SECONDS),
    ("PermissionRequest", "permission", "", WAITING_HOOK_SECONDS),
)

CLAUDE = Wrapped(_CLAUDE_MOMENTS, r'❯[\s\xa0]*(?:Try ".*)?', launch=_claude)
CODEX = Wrapped(
    _CODEX_MOMENTS,
    r"› (?:Ask Codex to do anything.*)?",
    (
        Dialog(
            r"  (?:Would you like to|Do you want to) .+",
            r"Yes, (?:proceed|just this once)(?: \(y\))?",
            r"No, and .+ \(esc\)",
        ),
        Dialog(
            r'  Allow .+ to run tool ".+"\?',
            r"Allow(?: {2,}.+)?",
            r"Cancel(?: {2,}.+)?",
            cut=r"\.\.\.(?: ⏎|\Z)|⏎.*⏎",  # of the arguments three are shown, long ones with dots
        ),
    ),
    _codex,
)
OPENCODE = Wrapped(_OPENCODE_MOMENTS, r"\s*┃\s+Ask anything….*", launch=_opencode)
GEMINI = Wrapped(
    GEMINI_MOMENTS,
    r"[\s│]*>\s+Type your message.*",
    (Dialog(r"│ \? .+│", "Allow once", r"No, suggest changes \(esc\)"),),
)
QWEN = Wrapped(
    QWEN_MOMENTS,
    r"[\s│]*>\s+Type your message.*",
    (Dialog(r"  \? \S.*", "Yes, allow once", r"No, suggest changes \(esc\)"),),
)
