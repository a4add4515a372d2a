"""Every language Laconic knows, listed by hand, and how a file finds its own."""

from __future__ import annotations

from laconic.code.languages.c import C
from laconic.code.languages.cpp import CPP
from laconic.code.languages.csharp import CSHARP
from laconic.code.languages.ecmascript import JAVASCRIPT
from laconic.code.languages.elixir import ELIXIR
from laconic.code.languages.go import GO
from laconic.code.languages.java import JAVA
from laconic.code.languages.kotlin import KOTLIN
from laconic.code.languages.lua import LUA
from laconic.code.languages.model import Language
from laconic.code.languages.php import PHP
from laconic.code.languages.python import PYTHON
from laconic.code.languages.ruby import RUBY
from laconic.code.languages.rust import RUST
from laconic.code.languages.scala import SCALA
from laconic.code.languages.swift import SWIFT
from laconic.code.languages.typescript import TSX, TYPESCRIPT

_KNOWN = (
    C,
    CPP,
    CSHARP,
    ELIXIR,
    GO,
    JAVA,
    JAVASCRIPT,
    KOTLIN,
    LUA,
    PHP,
    PYTHON,
    RUBY,
    RUST,
    SCALA,
    SWIFT,
    TSX,
    TYPESCRIPT,
)
LANGUAGES: dict[str, Language] = {language.name: language for language in _KNOWN}

_BY_SUFFIX = {suffix: language for language in LANGUAGES.values() for suffix in language.suffixes}
_BY_FILE_NAME = {name: language for language in LANGUAGES.values() for name in language.file_names}
_BY_INTERPRETER = {name: language for language in LANGUAGES.values() for name in language.interpreters}


def language_for(path: str) -> Language | None:
    """The language of a path by file name, else by its longest known suffix; None when it is none of ours."""
    name = path.rpartition("/")[2]
    if name in _BY_FILE_NAME:
        return _BY_FILE_NAME[name]
    start = name.find(".", 1)
    while start != -1:
        language = _BY_SUFFIX.get(name[start:].lower()) or _BY_SUFFIX.get(name[start:])
        if language is not None:
            return language
        start = name.find(".", start + 1)
    return None


def language_of_script(first_line: str) -> Language | None:
    """The language that a `#!` line names, None without one."""
    if not first_line.startswith("#!"):
        return None
    words = first_line[2:].replace("/", " ").split()
    return next((_BY_INTERPRETER[word] for word in reversed(words) if word in _BY_INTERPRETER), None)
