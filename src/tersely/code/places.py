"""The kind of a file's symbols by the place of the file, in any language."""

from __future__ import annotations

import re

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "e2e"})
_TEST_FILE = re.compile(
    r"""
    ^(?:test|spec)[_\-.]        # test_urls.py
    | [_\-.](?:test|spec)s?\.   # urls_test.go, urls.spec.ts
    | (?:Test|Tests|Spec)\.     # UrlsTest.java
    | ^(?:conftest|tests?)\.
    """,
    re.VERBOSE,
)


def is_test(path: str) -> bool:
    """True if a file holds tests, by the conventions of naming them."""
    folders, _, name = path.rpartition("/")
    return _TEST_FILE.search(name) is not None or not _TEST_FOLDERS.isdisjoint(folders.split("/"))


def directory_of(path: str) -> str:
    """The folder that a path is in, "" for the root."""
    return path.rpartition("/")[0]


def file_name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def outward(directory: str) -> list[str]:
    """A directory and those around it, the nearest first, "" for the root."""
    found = [directory]
    while directory:
        directory = directory_of(directory)
        found.append(directory)
    return found
