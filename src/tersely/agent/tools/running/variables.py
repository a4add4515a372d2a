"""The variables of a command: those of the user that are on a list, and what keeps a program from
waiting for somebody.

What is secret cannot be told by its name (`DATABASE_URL`, `GH_PAT`, a webhook), so what is harmless
is listed. Flags of compilers are on the list, for builds differ without them; those of make are
not, since they carry the variables that an outer make was given, and neither are programs that git
is set to run, since their words hold keys and passwords.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from tersely.foundation.git.runner import GitUnavailableError, run

_HANDED_ON = re.compile(
    r"""PATH | HOME | USER | LOGNAME | SHELL | HOSTNAME | LANG | LANGUAGE | LC_[A-Z]+ | TZ | COLUMNS | LINES | OSTYPE
    | (LD_)?LIBRARY_PATH | DYLD_LIBRARY_PATH | PKG_CONFIG_PATH | MANPATH | CPATH | C(PLUS)?_INCLUDE_PATH
    | CC | CXX | CPP | AR | LD | (C|CXX|CPP|LD|RUST|GO)FLAGS | CMAKE_(PREFIX_PATH|GENERATOR)
    | VIRTUAL_ENV | CONDA_(PREFIX|DEFAULT_ENV) | PYTHON(PATH|HOME|HASHSEED|UTF8|WARNINGS|DONTWRITEBYTECODE|UNBUFFERED)
    | PYENV_(ROOT|VERSION) | UV_(PYTHON|OFFLINE|CACHE_DIR) | PIP_CACHE_DIR
    | NODE_(ENV|PATH) | NVM_(DIR|BIN|INC) | VOLTA_HOME | FNM_DIR | PNPM_HOME | BUN_INSTALL | DENO_DIR
    | CARGO_(HOME|TARGET_DIR|INCREMENTAL|NET_OFFLINE) | RUSTUP_(HOME|TOOLCHAIN) | RUST_(BACKTRACE|LOG)
    | GO(PATH|ROOT|CACHE|MODCACHE|ARCH|OS|BIN|TOOLCHAIN|WORK) | CGO_ENABLED
    | JAVA_HOME | JDK_HOME | M2_HOME | MAVEN_HOME | GRADLE_(HOME|USER_HOME) | ANDROID_(HOME|SDK_ROOT) | KOTLIN_HOME
    | GEM_(HOME|PATH) | RUBY(LIB|VERSION) | RBENV_(ROOT|VERSION) | ASDF_(DIR|DATA_DIR) | SDKMAN_DIR
    | DOTNET_(ROOT|CLI_HOME) | NUGET_PACKAGES | GHCUP_INSTALL_BASE_PREFIX | OPAM(ROOT|SWITCH)
    | NIX_(PATH|PROFILES|SSL_CERT_FILE) | SSL_CERT_(FILE|DIR) | XDG_(DATA_DIRS|DATA_HOME|CONFIG_DIRS)
    | GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE) | SOURCE_DATE_EPOCH""",
    re.VERBOSE,
)
_PLAIN = {
    "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "CI": "1",
    "GIT_EDITOR": "true", "EDITOR": "true",
}  # fmt: skip
# Settings of git that say who commits and how files are stored; others may hold passwords and
# tokens.
_CORE_SETTINGS = (
    "abbrev|attributesfile|autocrlf|bigfilethreshold|commentchar|eol|excludesfile|filemode|ignorecase|longpaths"
    "|precomposeunicode|protecthfs|protectntfs|quotepath|safecrlf|symlinks|trustctime|whitespace"
)
_GIT_SETTINGS = (
    r"^(user\.(name|email)|init\.defaultbranch|safe\.directory|filter\..*"
    rf"|core\.({_CORE_SETTINGS})|(diff|merge)\.[^.]*)$"
)


def environment(temporary: str, more: Collection[str] = ()) -> dict[str, str]:
    """The variables for a program that nobody sees or types to: of the user's those on the list,
    and `more` by name.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if _HANDED_ON.fullmatch(name) or name in more
    }
    return {**_PLAIN, **kept, "TMPDIR": temporary, "XDG_CACHE_HOME": f"{temporary}/cache"}


def git_settings(root: Path, temporary: str) -> Mapping[str, str]:
    """Write what the user has set for every repository, as far as it is harmless; the variables
    that name the file.
    """
    path = Path(temporary, "gitconfig")
    words = ["config", "--global", "--includes", "--null", "--get-regexp", _GIT_SETTINGS]
    try:
        said = run(str(root), words).decode("utf-8", "surrogateescape")
    except (OSError, GitUnavailableError):
        said = ""
    lines = [_setting(*entry.split("\n", 1)) for entry in said.split("\0") if "\n" in entry]
    path.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return {"GIT_CONFIG_GLOBAL": str(path)}


def _setting(name: str, value: str) -> str:
    """A section of a file of git's with one setting; `name` as `git config` lists it."""
    section, _, rest = name.partition(".")
    subsection, _, key = rest.rpartition(".")
    heading = f'{section} "{_escaped(subsection)}"' if subsection else section
    return f'[{heading}]\n\t{key} = "{_escaped(value)}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
