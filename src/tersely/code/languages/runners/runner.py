"""The programs that run tests: the signs by which a repository uses one, and the command that runs
some tests.

A command is a function from the tests of one project directory, their paths written from there, to
a line for a shell. Names and paths come from files, so each is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from shlex import quote
from typing import NamedTuple

from tersely.code.expressions import last_part
from tersely.code.places import directory_of, file_name_of


class SelectedTest(NamedTuple):
    """A test function by its file and qualified name; without a name all tests of the file."""

    path: str
    name: str = ""


class Runner(NamedTuple):
    """`marker` is the name of a file, or a pattern; its text must match `says` where that is not
    empty.

    Tests are run from the directory of the nearest marker, except that a file of a `tests` folder
    makes no project.
    """

    marker: str
    says: str
    command: Callable[[Sequence[SelectedTest]], str]
    everything: str  # runs all tests there are
    is_project: bool = True


def _words(program: str, arguments: Iterable[str]) -> str:
    return " ".join([program, *map(path_word, dict.fromkeys(arguments))])


def path_word(path: str) -> str:
    """A path, or the beginning of one, as a word of a shell that no program takes for an option."""
    return quote(f"./{path}" if path.startswith("-") else path)


def files(program: str) -> Callable[[Sequence[SelectedTest]], str]:
    """A program that takes paths and runs all tests in these files."""
    return lambda tests: _words(program, (test.path for test in tests))


def _own_name(test: SelectedTest) -> str:
    return last_part(test.name)


def _class_name(test: SelectedTest) -> str:
    """The innermost class of a test."""
    return _classes(test)[-1]


def _classes(test: SelectedTest) -> list[str]:
    """The classes around a test, the outermost first; without any, the class is named as the file."""
    around = test.name.rpartition(".")[0]
    return around.split(".") if around else [file_name_of(test.path).partition(".")[0]]


def pytest(tests: Sequence[SelectedTest]) -> str:
    """`pytest path::Class::name`."""
    return _words(
        "pytest", ("::".join([test.path, *filter(None, test.name.split("."))]) for test in tests)
    )


def dotted(program: str) -> Callable[[Sequence[SelectedTest]], str]:
    """A program that takes names of the form `package.module.Class.name`."""

    def command(tests: Sequence[SelectedTest]) -> str:
        modules = ((test.path.rpartition(".")[0].replace("/", "."), test.name) for test in tests)
        return _words(program, (".".join(filter(None, names)) for names in modules))

    return command


def go(tests: Sequence[SelectedTest]) -> str:
    """One `go test` a package."""
    lines = []
    for directory, group in groupby(tests, key=lambda test: directory_of(test.path)):
        listed = list(group)
        package = quote(f"./{directory}" if directory else ".")
        names = (
            []
            if any(not test.name for test in listed)
            else sorted({_own_name(test) for test in listed})
        )
        lines.append(
            f"go test {package}"
            + (f" -run {quote('^(' + '|'.join(names) + ')$')}" if names else "")
        )
    return " && ".join(lines)


def _cargo(targets: Callable[[str], str]) -> Callable[[Sequence[SelectedTest]], str]:
    """`cargo test -- name …`: of a whole file its module, or its target, named after its stem, if
    it is one itself.
    """

    def command(tests: Sequence[SelectedTest]) -> str:
        whole = [test.path for test in tests if not test.name]
        stems = [stem for path in whole if (stem := _test_target(path))]
        modules = [_rust_module(path) for path in whole if not _test_target(path)]
        if not all(modules):
            return "cargo test"
        names = [f"{module}::" for module in modules] + [
            test.name.replace(".", "::") for test in tests if test.name
        ]
        by_name = [_words("cargo test --", names)] if names else []
        options = dict.fromkeys(quote(f"--test={targets(stem)}") for stem in stems)
        by_target = [" ".join(["cargo test", *options])] if stems else []
        return " && ".join(by_name + by_target)

    return command


cargo = _cargo(str)
cargo_by_target = _cargo(lambda stem: "*")  # where no target has the name of its file


def unknown(tests: Sequence[SelectedTest]) -> str:
    """No command: none is known."""
    return ""


def _test_target(path: str) -> str:
    """The name of the program that Cargo makes of a file of `tests/`, "" for other files."""
    directory, _, name = path.rpartition("/")
    return name.partition(".")[0] if directory == "tests" else ""


def _rust_module(path: str) -> str:
    """The last part of the name of the module that a file is, "" for the root of a crate."""
    directory, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem == "mod":
        return file_name_of(directory)
    return "" if stem in {"lib", "main"} else stem


def maven(tests: Sequence[SelectedTest]) -> str:
    """`mvn test -Dtest=Class#one+two,Other`; a class in another is `Outer$Inner`, as on the JVM."""
    return f"mvn test -Dtest={quote(','.join(_by_class(tests)))}"


def gradle(tests: Sequence[SelectedTest]) -> str:
    """`./gradlew test --tests '*Class.name'`."""
    names = (
        f"*{_class_name(test)}" + (f".{_own_name(test)}" if test.name else "") for test in tests
    )
    return "./gradlew test " + " ".join(f"--tests {quote(name)}" for name in dict.fromkeys(names))


def dotnet(tests: Sequence[SelectedTest]) -> str:
    """`dotnet test --filter 'FullyQualifiedName~Class.Name|…'`."""
    names = (".".join(filter(None, (_class_name(test), _own_name(test)))) for test in tests)
    wanted = "|".join(f"FullyQualifiedName~{name}" for name in dict.fromkeys(names))
    return f"dotnet test --filter {quote(wanted)}"


def swift(tests: Sequence[SelectedTest]) -> str:
    """`swift test --filter Class/name`."""
    names = ("/".join(filter(None, (_class_name(test), _own_name(test)))) for test in tests)
    return "swift test " + " ".join(f"--filter {quote(name)}" for name in dict.fromkeys(names))


def sbt(tests: Sequence[SelectedTest]) -> str:
    """`sbt 'testOnly *Class …'`."""
    return f"sbt {quote('testOnly ' + ' '.join(dict.fromkeys(f'*{_class_name(test)}' for test in tests)))}"


def phpunit(tests: Sequence[SelectedTest]) -> str:
    """`vendor/bin/phpunit --filter '/Class(::one$|…)/'`."""
    names = (
        re.escape("::".join(filter(None, (_class_name(test), _own_name(test))))) for test in tests
    )
    return f"vendor/bin/phpunit --filter {quote('/(' + '|'.join(dict.fromkeys(names)) + ')/')}"


def ctest(tests: Sequence[SelectedTest]) -> str:
    """`ctest -R` by the names of the files."""
    stems = dict.fromkeys(re.escape(file_name_of(test.path).partition(".")[0]) for test in tests)
    return f"ctest --test-dir build -R {quote('|'.join(stems))}"


def _by_class(tests: Sequence[SelectedTest]) -> list[str]:
    """`Class#one+two` for the tests of each class; the class alone for a test without a name."""
    by_class: dict[str, list[str]] = {}
    for test in tests:
        by_class.setdefault("$".join(_classes(test)), []).append(_own_name(test))
    return [
        name + ("#" + "+".join(methods) if all(methods) else "")
        for name, methods in (
            (name, list(dict.fromkeys(found))) for name, found in by_class.items()
        )
    ]
