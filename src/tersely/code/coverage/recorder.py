"""A plugin for pytest that records which test runs which lines, with the coverage.py of the program
under test.

It is copied beside the index and loaded by the interpreter that runs the tests: it imports nothing
of Tersely, and older interpreters can read it. It does the same as `pytest --cov
--cov-context=test`, where pytest-cov need not be installed. Where a repository measures by itself,
this plugin measures in its place, since there can be only one.
"""

from __future__ import annotations

import os
from importlib import import_module

import pytest

DATA_VARIABLE = "TERSELY_RECORDER_DATA"
ROOT_VARIABLE = "TERSELY_RECORDER_ROOT"

_measuring: list = []  # type: ignore[type-arg]  # the one that measures, once there is one


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config, parser, args):  # type: ignore[no-untyped-def]
    """Begin before any code of the repository is loaded, and before pytest-cov would."""
    options = early_config.known_args_namespace
    if getattr(options, "cov_source", None):
        options.cov_source = None
    try:
        coverage = import_module("coverage")
    except ImportError:
        raise pytest.UsageError("coverage is not installed where the tests run") from None
    measuring = coverage.Coverage(
        data_file=os.environ[DATA_VARIABLE],
        data_suffix=True,
        config_file=False,
        branch=False,
        source=[os.environ[ROOT_VARIABLE]],
        omit=[__file__],
    )
    measuring._warn_no_data = False  # a controlling process runs no test itself
    measuring.start()
    _measuring.append(measuring)
    yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):  # type: ignore[no-untyped-def]
    """All that runs from here on is run by this test: its fixtures too."""
    for measuring in _measuring:
        measuring.switch_context(item.nodeid)
    yield
    for measuring in _measuring:
        measuring.switch_context("")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):  # type: ignore[no-untyped-def]
    """Code that pytest runs to describe a failure is no part of the test: it prints objects, whose
    methods then run.
    """
    for measuring in _measuring:
        measuring.switch_context("")
    yield
    for measuring in _measuring:
        measuring.switch_context(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_unconfigure(config):  # type: ignore[no-untyped-def]
    """Write down the recorded lines."""
    yield
    while _measuring:
        measuring = _measuring.pop()
        measuring.stop()
        measuring.save()
