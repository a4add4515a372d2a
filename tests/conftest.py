"""What all tests share: how hypothesis searches, how deep the stack may grow, and where the user's
key is.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings
from tests.depth import DEEP_EXAMPLES, FAST_EXAMPLES
from tools.budgets.suite import Counting

from tersely.foundation.recursion import allow_deep_nesting
from tersely.foundation.storage.roots import enclosing_root, is_repository

# Two tiers: `make test` tries few examples of each property, `make test-slow` many. Shared machines
# stall now and then, so no example has a deadline. CI tries the same examples every time.
for tier, tried in ("fast", FAST_EXAMPLES), ("deep", DEEP_EXAMPLES):
    in_ci = bool(os.environ.get("CI"))
    settings.register_profile(
        tier, deadline=None, max_examples=tried, derandomize=in_ci, print_blob=in_ci
    )
settings.load_profile("fast")

MAX_REASON_CHARACTERS = 120

# Before any test runs: hypothesis restores the limit that it found, and wants nobody to change it
# meanwhile.
allow_deep_nesting()


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes what the user keeps, or asks or ends a daemon of the user's."""
    runtime = tempfile.mkdtemp(prefix="tersely-")  # with a short name: sockets are made there
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERSELY_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        yield
    shutil.rmtree(runtime, ignore_errors=True)  # what ends with us may still be removing its socket


def pytest_configure(config: pytest.Config) -> None:
    """Count what the tests start, and stop at once where the temporary folder lies in a repository or
    has an index: the repositories that tests make there would all be that one.
    """
    around = enclosing_root(os.path.realpath(config.option.basetemp or tempfile.gettempdir()))
    if is_repository(around):
        message = f"{around}, where tests make repositories, is one: remove its .git or .tersely"
        raise pytest.UsageError(f"{message}, or set TMPDIR to another folder")
    config.pluginmanager.register(Counting(config))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was skipped: one table, with a row for each reason."""
    files = defaultdict[str, Counter[str]](Counter)
    for report in terminalreporter.stats.get("skipped", ()):
        reason = " ".join(report.longrepr[2].removeprefix("Skipped: ").split())
        files[reason][report.nodeid.partition("::")[0].removeprefix("tests/")] += 1
    if not files:
        return
    terminalreporter.section("skipped: tests, reason, files", "-")
    for reason, counts in sorted(files.items(), key=lambda each: -each[1].total()):
        shown = (
            reason if len(reason) <= MAX_REASON_CHARACTERS else f"{reason[:MAX_REASON_CHARACTERS]}…"
        )
        terminalreporter.write_line(f"{counts.total():5}  {shown}: {' '.join(sorted(counts))}")


def pytest_collection_finish() -> None:
    """What was imported and collected stays: nothing looks through it again for what is unused."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    return (yield from _skipped_without_libraries())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    return (yield from _skipped_without_libraries())


def _skipped_without_libraries() -> Generator[None]:
    """A system without the libraries of llama.cpp's server skips what needs the server, by the
    library's name.
    """
    try:
        return (yield)
    except RuntimeError as error:
        missing = re.search(r"ImportError: (\S+): cannot open shared object file", str(error))
        if missing is None:
            raise
        pytest.skip(f"llama.cpp's server needs {missing[1]}, which is not installed")
