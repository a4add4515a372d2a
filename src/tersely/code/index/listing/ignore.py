"""Files not worth reading: directories of tools and dependencies, build outputs, and what ignore
files say.

Three rules, the same with git and without it:

- `SKIP_DIRS` never hold a project's own source, not even where git tracks them.
- A directory named like a build output (`BUILD_DIRS`) is one when git does not track its files and
  it lies at the
  root or beside a manifest: `build/` beside `pyproject.toml` is an output, `src/builder/build/` may
  be a package.
- `.tldrsignore` files speak the language of `.gitignore`, also nested. They take files away from
  what is otherwise
  indexed; naming a skipped directory in a negation (`!build/`) opens it again.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tersely.code.index.content import read_file
from tersely.code.index.listing.gitignore import Patterns


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SKIP_DIRS = _names("""
    .git .hg .svn .bzr .jj .sl .tersely .tldrs
    node_modules bower_components jspm_packages .yarn .pnpm-store site-packages __pypackages__
    .venv venv virtualenv .virtualenv .direnv .bundle Pods Carthage elm-stuff .dart_tool .stack-work
    __pycache__ .tox .nox .eggs .build .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
    htmlcov .ipynb_checkpoints .gradle .bloop .metals .terraform .next .nuxt .svelte-kit .angular
    .turbo .nyc_output .parcel-cache .serverless .aws-sam .ccls-cache .clangd .idea .vs DerivedData
""")
# a package may have such a name: CPython's has
VIRTUAL_ENVIRONMENT_NAMES = frozenset({"venv", "virtualenv"})
BUILD_DIRS = _names("build _build dist target out vendor")
MANIFESTS = (
    "pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml", "pom.xml", "build.gradle",
    "build.gradle.kts", "build.sbt", "go.mod", "composer.json", "Gemfile", "mix.exs", "Package.swift",
    "CMakeLists.txt", "Makefile", "meson.build", "build.xml",
)  # fmt: skip
PROJECT_SUFFIXES = (".csproj", ".fsproj", ".vbproj", ".sln", ".gemspec", ".cabal", ".xcodeproj")

OWN_IGNORE_FILE = ".tldrsignore"
GIT_IGNORE_FILE = ".gitignore"


class IgnoreFile(NamedTuple):
    """The patterns of one ignore file, about paths below its directory."""

    prefix: str  # its directory with a trailing slash, empty at the root
    patterns: Patterns


Rules = tuple[IgnoreFile, ...]  # outermost first


def verdict(rules: Rules, path: str) -> bool | None:
    """True if `path` is ignored, None if nobody says. A directory's path ends in a slash; the
    innermost word counts.

    As in git, the parents of `path` must have been found open before.
    """
    for ignore_file in reversed(rules):
        said = ignore_file.patterns.verdict(path[len(ignore_file.prefix) :])
        if said is not None:
            return said
    return None


def with_ignore_file(rules: Rules, path: str, prefix: str) -> Rules:
    """`rules` and those of the ignore file at `path` about what lies below `prefix`, if it is there
    and readable.
    """
    if not os.access(path, os.R_OK):
        return rules
    try:
        text = read_file(path)
    except OSError:
        return rules  # like git, take an ignore file that cannot be read for one that is not there
    return (*rules, IgnoreFile(prefix, Patterns(text)))


def looks_built(root: str, parent: str, name: str) -> bool:
    """True if the directory `name` in `parent`, not tracked by git, is the output of a build."""
    if name not in BUILD_DIRS:
        return False
    if not parent:
        return True
    try:
        beside = os.listdir(f"{root}/{parent}")
    except OSError:
        return False
    return any(entry in MANIFESTS or entry.endswith(PROJECT_SUFFIXES) for entry in beside)


def is_skipped_name(root: str, directory: str, name: str) -> bool:
    """True if a directory of this name holds nobody's own source."""
    if name not in SKIP_DIRS:
        return False
    return name not in VIRTUAL_ENVIRONMENT_NAMES or not os.path.lexists(
        f"{root}/{directory}/__init__.py"
    )
