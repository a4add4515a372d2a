"""The tool `git`: commands that only read run as they are, with nothing that the repository's
settings name.

What reads is said by a list, not by what is left over: a subcommand and options of which each is
known to write nothing and to run nothing. Everything else counts as running a program.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed
from tersely.agent.tools.running import shell
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities.declaration.declaration import Effect
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import filterless_environment
from tersely.foundation.git.runner import GIT, GitUnavailableError
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping

_NO_SUBMODULES = "--ignore-submodules=dirty"  # whose own settings would count inside them
_QUIET = {
    "diff": ("--no-ext-diff", "--no-textconv", _NO_SUBMODULES), "log": ("--no-ext-diff", "--no-textconv"),
    "show": ("--no-ext-diff", "--no-textconv"), "blame": ("--no-textconv",), "status": (_NO_SUBMODULES,),
}  # fmt: skip
# A format may ask for signatures, which a program checks that the repository may name.
_UNSIGNED = [word for name in ("program", "openpgp.program", "ssh.program", "x509.program")
             for word in ("-c", f"gpg.{name}=false")] + ["-c", "diff.submodule=short"]  # fmt: skip
_READS = frozenset(_QUIET) | {"ls-files", "rev-parse", "shortlog", "describe", "grep"}
_OPTION = re.compile(
    r"-[abcilnpsuvwzCEFGLMSU]\d*|-\d+|-[nUSGL].+|--"
    r"|--(all|abbrev-commit|author|branch|branches|cached|cc|count|date|decorate|extended-regexp|first-parent|fixed-strings"
    r"|follow|format|full-index|graph|grep|ignore-all-space|ignore-case|line-number|long|max-count|merges|minimal|name-only"
    r"|name-status|no-color|no-merges|no-renames|numstat|oneline|others|patch|porcelain|pretty|relative-date|remotes|reverse|short"
    r"|shortstat|show-current|show-toplevel|since|staged|stat|summary|tags|unified|until|word-diff|after|before)(=.*)?"
)
_LISTS = {"branch": r"-[arv]+|--(list|show-current|all|remotes|verbose)", "tag": r"-l|--list",
          "stash": r"list", "remote": r"-v|--verbose"}  # fmt: skip
# `diff` reads files wherever they are, without being told so; `-S` of `blame` is a file, and not a
# text as elsewhere.
_READS_FILES = "diff"
_NAMES_A_FILE = {"blame": "-S"}
_MAGIC = re.compile(r":(?:\([^)]*\)|[/!^]*)")  # before a path, `gitglossary(7)`


async def git(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Run git with some words."""
    try:
        words = _words(arguments)
    except TerselyError as error:
        return failed(error)
    if not is_reading(words):
        return await shell.observed(toolbox, shlex.join(["git", *words]))
    if out := _leading_out(toolbox.root, words):
        return failed(
            TerselyError(
                "denied", f"{out} leads out of the repository", "name a path below its root"
            )
        )
    try:
        chosen = await asyncio.to_thread(filterless_environment, str(toolbox.root))
    except (OSError, GitUnavailableError) as error:
        return failed(TerselyError("git_unavailable", str(error) or "this is no repository of git"))
    own = {name: value for name, value in chosen.items() if os.environ.get(name) != value}
    variables = {name: value for name, value in own.items() if name.startswith("GIT_")}
    return await shell.observed(
        toolbox,
        shlex.join([*GIT, *_UNSIGNED, words[0], *_QUIET.get(words[0], ()), *words[1:]]),
        variables,
    )


def effect_of(arguments: JsonMapping) -> Effect:
    """The effect of the words: to read, or more."""
    try:
        return Effect.READ if is_reading(_words(arguments)) else Effect.EXECUTE
    except TerselyError:
        return Effect.EXECUTE


def is_reading(words: Sequence[str]) -> bool:
    """True if git with these words writes nothing and runs no other program."""
    if not words:
        return False
    options = words[1 : words.index("--")] if "--" in words else words[1:]
    if words[0] in _LISTS:
        return bool(options) and all(re.fullmatch(_LISTS[words[0]], word) for word in words[1:])
    if words[0] in _NAMES_A_FILE and any(
        word.startswith(_NAMES_A_FILE[words[0]]) for word in options
    ):
        return False
    return words[0] in _READS and all(
        not word.startswith("-") or _OPTION.fullmatch(word) for word in options
    )


def _leading_out(root: Path, words: Sequence[str]) -> str:
    """The first of the words by which git would read a file outside of the repository, "" without
    one.
    """
    for word in words[1:] if words[0] == _READS_FILES else ():
        real = os.path.realpath(root / _MAGIC.sub("", word, count=1)) if "\0" not in word else ""
        if os.path.lexists(real) and not Path(real).is_relative_to(root):
            return word
    return ""


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The command line, and what it will be able to do."""
    return f"git {visible(_text(arguments))}\n{shell.may(toolbox)}"


def _text(arguments: JsonMapping) -> str:
    return str(arguments.get("arguments", "")).strip().removeprefix("git ").strip()


def _words(arguments: JsonMapping) -> list[str]:
    try:
        words = shlex.split(_text(arguments))
    except ValueError as error:
        raise TerselyError("invalid_argument", f"the words cannot be read: {error}") from None
    if not words:
        raise TerselyError(
            "invalid_argument", "say what git is to do", "as status, or diff src/app.py"
        )
    return words
