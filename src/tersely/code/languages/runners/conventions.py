"""The definitions that are tests in each language, and the program that runs them in a repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tersely.code.languages.runners.runner import (
    Runner,
    cargo,
    ctest,
    dotnet,
    dotted,
    files,
    go,
    gradle,
    maven,
    phpunit,
    pytest,
    sbt,
    swift,
)


class Conventions(NamedTuple):
    """The test conventions of one language. Where no function is a test by `name` or `header`, a
    file of tests is one.

    The runners are tried in order; the last is the default for a project without a marker.
    """

    runners: tuple[Runner, ...]
    name: str = ""  # pattern of the own name of a test function
    header: str = ""  # pattern of the text before or in its signature: an annotation, an attribute
    anywhere: bool = False  # tests may stand in files that hold other code too
    # pattern of the own name of a function that runs around each test of its class
    around: str = ""
    around_header: str = ""  # likewise, of the text before or in its signature
    file: str = ""  # further pattern of the path of a file of tests, "" for any
    setup: str = ""  # the name of files that run before all tests of their directory and below


_PYTHON = Conventions(
    runners=(
        Runner("pytest.ini", "", pytest, "pytest"),
        Runner("pyproject.toml", r"\bpytest\b", pytest, "pytest"),
        Runner("setup.cfg", r"\bpytest\b", pytest, "pytest"),
        Runner("tox.ini", r"\bpytest\b", pytest, "pytest"),
        Runner("requirements*.txt", r"(?m)^pytest\b", pytest, "pytest"),
        Runner("conftest.py", "", pytest, "pytest", is_project=False),
        Runner(
            "manage.py", r"\bdjango\b", dotted("python manage.py test"), "python manage.py test"
        ),
        Runner("runtests.py", r"\bdjango\b", dotted("python runtests.py"), "python runtests.py"),
        Runner("", "", pytest, "pytest"),
    ),
    name=r"test",
    around=r"(?:async)?(?:setup|teardown)|(?:async)?(?:setUp|tearDown)",
    setup="conftest.py",
)
# a script that is a list of others would hand paths to the last of them alone
_ONE_PROGRAM = r'"test"\s*:\s*"(?![^"]*(?:&|;|\|\||\b(?:npm|yarn|pnpm)\b|\brun-[sp]\b))'
_ECMASCRIPT = Conventions(
    runners=(
        Runner("vitest.config.*", "", files("npx vitest run"), "npx vitest run"),
        Runner("package.json", r'"vitest"', files("npx vitest run"), "npx vitest run"),
        Runner("jest.config.*", "", files("npx jest"), "npx jest"),
        Runner("package.json", r'"(jest|ts-jest|react-scripts)"', files("npx jest"), "npx jest"),
        Runner("package.json", r'"mocha"', files("npx mocha"), "npx mocha"),
        Runner("package.json", r'"ava"', files("npx ava"), "npx ava"),
        Runner("package.json", r"\bnode --test\b", files("node --test"), "node --test"),
        Runner("package.json", r'"borp"', files("npx borp"), "npm test"),
        Runner("package.json", _ONE_PROGRAM, files("npm test --"), "npm test"),
        Runner("package.json", r'"test"\s*:', files("node --test"), "npm test"),
        Runner("", "", files("node --test"), "node --test"),
    ),
)
_JVM = Conventions(
    runners=(
        Runner("pom.xml", "", maven, "mvn test"),
        Runner("build.gradle*", "", gradle, "./gradlew test"),
        Runner("build.sbt", "", sbt, "sbt test"),
        Runner("", "", maven, "mvn test"),
    ),
    name=r"test[A-Z_]",
    header=r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b",
    around=r"(?:setUp|tearDown)$",
    around_header=r"@(?:\w+\.)*(?:Before|After)",
)
_SCALA = Conventions(runners=(Runner("", "", sbt, "sbt test"),))
_GO = Conventions(
    runners=(Runner("", "", go, "go test ./..."),), name=r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])"
)
_RUST = Conventions(
    runners=(
        Runner(
            "Cargo.toml",
            r"(?m)^\s*(\[\[test\]\]|autotests\b)",
            cargo(lambda stem: "*"),
            "cargo test",
        ),
        Runner("Cargo.toml", "", cargo(str), "cargo test"),
        Runner("", "", cargo(str), "cargo test"),
    ),
    header=r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|bench)\b",
    anywhere=True,
)
_CSHARP = Conventions(
    runners=(Runner("", "", dotnet, "dotnet test"),),
    header=r"\[\s*(?:\w+\.)*(?:Test|TestCase|TestMethod|Fact|Theory|DataTestMethod)\b",
    around_header=r"\[\s*(?:\w+\.)*(?:OneTime)?(?:SetUp|TearDown|TestInitialize|TestCleanup)\b",
)
_C = Conventions(
    runners=(
        Runner("CMakeLists.txt", "", ctest, "ctest --test-dir build", is_project=False),
        Runner("", "", lambda tests: "", ""),  # none is known
    )
)
_RUBY = Conventions(
    runners=(
        Runner(".rspec", "", files("bundle exec rspec"), "bundle exec rspec"),
        Runner("Gemfile", r"\brspec\b", files("bundle exec rspec"), "bundle exec rspec"),
        Runner("", "", files("ruby -Itest -Ilib"), "bundle exec rake test"),
    ),
    name=r"test_",
    around=r"(?:setup|teardown)$",
)

CONVENTIONS: Mapping[str, Conventions] = {
    "c": _C,
    "cpp": _C,
    "csharp": _CSHARP,
    "elixir": Conventions(
        runners=(Runner("", "", files("mix test"), "mix test"),), file=r"_test\.exs$"
    ),
    "go": _GO._replace(runners=(Runner("go.mod", "", go, "go test ./..."), *_GO.runners)),
    "java": _JVM,
    "javascript": _ECMASCRIPT,
    "kotlin": _JVM._replace(name=""),
    "lua": Conventions(runners=(Runner("", "", files("busted"), "busted"),)),
    "php": Conventions(
        runners=(Runner("", "", phpunit, "vendor/bin/phpunit"),),
        name=r"test",
        around=r"(?:setUp|tearDown)",
        header=r"(?:@test\b|#\[\s*Test\b)",
    ),
    "python": _PYTHON,
    "ruby": _RUBY,
    "rust": _RUST,
    "scala": _SCALA,
    "swift": Conventions(
        runners=(
            Runner("Package.swift", "", swift, "swift test"),
            Runner("", "", swift, "swift test"),
        ),
        name=r"test",
        around=r"(?:setUp|tearDown)",
    ),
    "tsx": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
}
