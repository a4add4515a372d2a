"""Which files hold tests."""

from __future__ import annotations

import pytest

from tersely.code.places import directory_of, is_test


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_urls.py", "test_urls.py", "pkg/urls_test.go", "src/urls.spec.ts", "src/urls.test.tsx",
        "conftest.py", "src/test/java/UrlsTest.java", "spec/models/user_spec.rb", "web/__tests__/urls.js",
        "UrlsTests.cs", "tests.py",
    ],
)  # fmt: skip
def test_by_folder_or_name(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    ["src/urls.py", "src/latest.py", "src/contest.go", "src/attestation/sign.rs", "src/protest.ts"],
)
def test_not_by_a_part_of_a_word(path: str) -> None:
    assert not is_test(path)


def test_the_folder_of_a_path() -> None:
    assert directory_of("a/b/c.py") == "a/b"
    assert directory_of("c.py") == ""
