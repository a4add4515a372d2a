"""The decisions that a user may make once instead of with every command.

From weak to strong: the defaults below, `[tool.tersely]` in the repository's `pyproject.toml`
(shared by all who work on it), `.tersely/config.toml` (one's own), and environment variables named
`TERSELY_` and the setting.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_BUDGET_TOKENS, MAX_SETTINGS_BYTES
from tersely.foundation.storage.private import read_bounded
from tersely.foundation.storage.roots import INDEX_DIRECTORY, is_relay_home
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import Environment, JsonObject, Strings, field, fields, frozen

DEFAULT_ANSWER_SECONDS = 120  # of a command that no daemon answers, once the index is up to date
ENVIRONMENT_PREFIX = "TERSELY_"
SESSION_VARIABLE = "TERSELY_SESSION"  # which reader a command line answers; an agent's hook sets it
# Variables with our prefix that are no settings: where the user's own files are, whether to show
# tracebacks, and what processes of ours tell the programs that they start.
OTHER_VARIABLES = frozenset(
    {
        *("TERSELY_HOME", "TERSELY_DEBUG", SESSION_VARIABLE),
        *("TERSELY_AGENT", "TERSELY_TOKEN", "TERSELY_THREAD"),
        *("TERSELY_RUN_SOCKET", "TERSELY_RUN_REPORT", "TERSELY_EDIT_HOOK", "TERSELY_HOOKS"),
        *("TERSELY_RECORDER_DATA", "TERSELY_RECORDER_ROOT"),
    }
)

SHARED = "pyproject.toml"
OWN = ".tersely/config.toml"


WAYS_OF_CALLING = ("auto", "native", "grammar", "schema", "text")


def _own(default: str = "none") -> Any:
    """A setting of the user's own."""
    return field(default=default, metadata={"own": True})


@frozen
class Settings:
    """The decisions, all made. A number below its `least` is refused.

    What is the user's `own` comes from the environment alone: no repository is trusted to say where
    its code is sent.
    """

    budget_tokens: int = field(default=DEFAULT_BUDGET_TOKENS, metadata={"least": 1})
    # of a command; 0: any time
    answer_seconds: int = field(default=DEFAULT_ANSWER_SECONDS, metadata={"least": 0})
    vocabulary: str = "o200k"  # the tokenizer that budgets are counted with; see `tokens.Tokenizer`
    daemon: str = field(
        default="use", metadata={"choices": ("use", "off", "start")}
    )  # one that answers; none; or a new one
    # until a daemon that nobody asks ends
    daemon_idle_seconds: int = field(default=1_800, metadata={"least": 1})
    # answers of before that still hold
    kept_answers: str = field(default="use", metadata={"choices": ("use", "off")})
    # places that .git may lead to, as in PATH
    git_elsewhere: str = _own()
    # of the server whose vectors search compares
    embedder_url: str = _own()
    embedder_model: str = _own()  # of those that it serves
    embedder_key: str = _own()  # the server's API key
    # of the model that the agent talks to
    chat_url: str = _own("usual")
    chat_model: str = _own("first")  # of those that it serves
    # what the server knows the user by
    chat_key: str = _own()
    # for its commands
    chat_network: str = field(default="off", metadata={"own": True, "choices": ("off", "on")})
    # places that these may write to, as in PATH
    chat_writable: str = _own()
    # places in homes that these may read
    chat_readable: str = _own()
    # that these get besides, with commas
    chat_variables: str = _own()
    # that it may fetch from, with commas
    chat_private_hosts: str = _own()
    # the command of the server of the Model Context Protocol that has a browser
    chat_browser: str = _own()
    # old turns leave a window that fills
    chat_compact: str = field(default="on", metadata={"choices": ("on", "off")})
    # of any answer; 0: its share of the window
    chat_reply_tokens: int = field(default=0, metadata={"least": 0})
    chat_calls: str = field(default="auto", metadata={"choices": WAYS_OF_CALLING})
    # of all requests of a session; 0: any number
    chat_session_tokens: int = field(default=0, metadata={"least": 0})
    # the database of PostgreSQL that the relay keeps all in
    store: str = _own()
    complaints: Strings = ()  # a sentence for each setting that was given and is not known


_KNOWN = {setting.name: setting for setting in fields(Settings) if setting.name != "complaints"}


def load(root: Path, environment: Environment | None = None) -> Settings:
    """The settings for the repository at `root`. A value that cannot be is an error, an unknown
    name a complaint.
    """
    chosen: JsonObject = {}
    complaints: list[str] = []
    for source, name, value in _given(
        root, os.environ if environment is None else environment, complaints
    ):
        if (
            name in _KNOWN
            and _KNOWN[name].metadata.get("own")
            and not source.startswith(ENVIRONMENT_PREFIX)
        ):
            complaints.append(
                f"{source}: {name} is read from {ENVIRONMENT_PREFIX}{name.upper()} alone"
            )
        elif name in _KNOWN:
            chosen[name] = _checked(source, name, value)
        else:
            complaints.append(f"{source}: there is no setting {name!r}{_meant(name, _KNOWN)}")
    return Settings(**chosen, complaints=tuple(complaints))


def _given(
    root: Path, environment: Environment, complaints: list[str]
) -> Iterator[tuple[str, str, Any]]:
    """Every (source, name, value) that was given, the stronger after the weaker; files that are not
    read are told.
    """
    if _is_inside(root, SHARED, complaints):
        shared = _read_toml(root / SHARED, needed=b"tersely")
        for name, value in _table(_table(shared, "tool"), "tersely").items():
            yield SHARED, name, value
    if not is_relay_home(f"{root}/{INDEX_DIRECTORY}") and _is_inside(root, OWN, complaints):
        for name, value in _read_toml(root / OWN).items():
            yield OWN, name, value
    for variable in sorted(environment):
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in OTHER_VARIABLES:
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
            yield variable, name, _parsed(variable, name, environment[variable])


def _is_inside(root: Path, place: str, complaints: list[str]) -> bool:
    """True if a file is where it seems to be: a repository is not trusted to say what else is read."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(f"{real_root}/{place}")
    if real.startswith(f"{real_root.rstrip('/')}/"):
        return True
    complaints.append(f"{place} is not read: it is a link out of the repository")
    return False


def _read_toml(path: Path, needed: bytes = b"") -> JsonObject:
    """The tables of a file, nothing if there is none or `needed` is not in it."""
    try:
        content = read_bounded(path, MAX_SETTINGS_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise TerselyError("unreadable_file", f"{path}: {error.strerror}") from error
    if needed not in content:
        return {}
    # Most repositories do not get here, and this import is one of the slower ones.
    import tomllib

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:
        raise TerselyError(
            "invalid_setting", f"{path} is not TOML: {error}", "correct the file"
        ) from error
    except RecursionError as error:
        raise TerselyError(
            "invalid_setting", f"{path} is nested too deeply", "simplify the file"
        ) from error


def _table(parent: JsonObject, name: str) -> JsonObject:
    found = parent.get(name)
    return found if isinstance(found, dict) else {}


def _parsed(variable: str, name: str, text: str) -> Any:
    """An environment variable's text as the type that the setting has."""
    if name not in _KNOWN:
        return text
    try:
        return _type_of(name)(text)
    except ValueError as error:
        raise _refused(variable, name, text) from error


def _checked(source: str, name: str, value: Any) -> Any:
    setting = _KNOWN[name]
    kind = _type_of(name)
    if type(value) is not kind or (
        "least" in setting.metadata and not value >= setting.metadata["least"]
    ):
        raise _refused(source, name, value)
    if value not in setting.metadata.get("choices", (value,)):
        raise _refused(source, name, value)
    return value


def _type_of(name: str) -> type[Any]:
    return type(_KNOWN[name].default)


def _refused(source: str, name: str, value: Any) -> TerselyError:
    setting = _KNOWN[name]
    wanted = {int: "a whole number", str: "a text"}[_type_of(name)]
    least = f", {setting.metadata['least']} or more" if "least" in setting.metadata else ""
    among = f": {', '.join(setting.metadata['choices'])}" if "choices" in setting.metadata else ""
    return TerselyError(
        "invalid_setting", f"{source}: {name} cannot be {value!r}", f"It is {wanted}{least}{among}."
    )


def _meant(name: str, known: Iterable[str]) -> str:
    hint = suggestion(name, known, "")
    return f" ({hint})" if hint else ""
