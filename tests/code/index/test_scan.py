"""Which files are candidates: git's word or the ignore files', and ours on top, in either case."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.repositories import initialized

from tersely.code.index.content import Reason
from tersely.code.index.scan import Scan, scan
from tersely.foundation.limits import MAX_FILE_BYTES

Git = Callable[..., str]
Plant = Callable[[dict[str, str | bytes]], None]


def paths(found: Scan) -> list[str]:
    return sorted(file.path for file in found.files)


def skipped(found: Scan) -> dict[str, Reason]:
    return dict(found.skipped)


@pytest.fixture(params=["with git", "without git"])
def either(request: pytest.FixtureRequest, root: Path) -> None:
    """Run a test in a repository whose files are not tracked, and in a mere directory."""
    if request.param == "with git":
        request.getfixturevalue("git")("init")


@pytest.mark.usefixtures("either")
class TestEither:
    def test_source_is_found_and_other_files_are_counted(self, root: Path, plant: Plant) -> None:
        plant({"a.py": "", "sub/b.py": "x", "sub/deep/c.pyi": "", "notes.txt": "", "LICENSE": ""})
        found = scan(str(root))
        assert paths(found) == ["a.py", "sub/b.py", "sub/deep/c.pyi"]
        assert found.unknown == 2
        assert found.skipped == []
        assert found.notices == []
        (file,) = (file for file in found.files if file.path == "sub/b.py")
        status = (root / "sub/b.py").stat()
        assert file[1:] == (1, status.st_mtime_ns, status.st_ctime_ns)

    def test_ignore_files_nest_and_negate(self, root: Path, plant: Plant) -> None:
        plant({
            ".gitignore": "*.gen.py\n/only_root.py\nclosed/\n",
            "a.gen.py": "", "only_root.py": "", "sub/only_root.py": "", "sub/a.gen.py": "", "sub/keep.gen.py": "",
            "sub/.gitignore": "!keep.gen.py\n", "closed/a.py": "", "closed/.gitignore": "!a.py\n",
            "sub/closed/b.py": "",
        })  # fmt: skip
        assert paths(scan(str(root))) == ["sub/keep.gen.py", "sub/only_root.py"]

    def test_own_ignore_files_take_away_more(self, root: Path, plant: Plant) -> None:
        plant({
            ".tldrsignore": "fixtures/\n*_pb.py\n!kept_pb.py\n", "a.py": "", "x_pb.py": "", "kept_pb.py": "",
            "fixtures/a.py": "", "sub/.tldrsignore": "/a.py\n", "sub/a.py": "", "sub/deep/a.py": "",
            ".gitignore": "ignored.py\n", "ignored.py": "", "sub/deep/.tldrsignore": "!ignored.py",
            "sub/deep/ignored.py": "",
        })  # fmt: skip
        assert paths(scan(str(root))) == ["a.py", "kept_pb.py", "sub/deep/a.py"]

    def test_directories_of_tools_are_skipped(self, root: Path, plant: Plant) -> None:
        names = ["node_modules", "venv", ".venv", "__pycache__", "site-packages", ".tox"]
        plant({f"sub/{name}/a.py": "" for name in names} | {"a.py": ""})
        found = scan(str(root))
        assert paths(found) == ["a.py"]
        reason = Reason.SKIPPED_DIRECTORY
        assert skipped(found) == {
            "sub/node_modules": reason,
            "sub/site-packages": reason,
            "sub/venv": reason,
        }

    def test_a_package_may_be_called_venv(self, root: Path, plant: Plant) -> None:
        plant({"Lib/venv/__init__.py": "", "Lib/venv/__main__.py": ""})
        assert paths(scan(str(root))) == ["Lib/venv/__init__.py", "Lib/venv/__main__.py"]

    def test_a_build_directory_is_known_by_its_place(self, root: Path, plant: Plant) -> None:
        plant({
            "build/a.py": "", "src/build/a.py": "", "crate/Cargo.toml": "", "crate/target/deep/a.py": "",
            "app/dist/a.py": "",
            "net/x.csproj": "", "net/out/a.py": "",
        })  # fmt: skip
        found = scan(str(root))
        assert paths(found) == ["app/dist/a.py", "src/build/a.py"]
        assert sorted(skipped(found)) == ["build", "crate/target", "net/out"]

    def test_a_negation_opens_a_skipped_directory(self, root: Path, plant: Plant) -> None:
        plant(
            {
                ".tldrsignore": "!build/\n!/node_modules/\n",
                "build/a.py": "",
                "node_modules/b.py": "",
            }
        )
        assert paths(scan(str(root))) == ["build/a.py", "node_modules/b.py"]

    def test_links_are_told_and_not_followed(self, root: Path, plant: Plant) -> None:
        plant({"real/a.py": "", "../outside/secret.py": ""})
        for link, target in {
            "inner.py": "real/a.py", "out.py": "../outside/secret.py", "outdir": "../outside", "self.py": "self.py",
            "loop": ".", "real/up": "..", "gone.py": "nothing.py",
        }.items():  # fmt: skip
            (root / link).symlink_to(target)
        found = scan(str(root))
        assert paths(found) == ["real/a.py"]
        assert skipped(found) == {
            "inner.py": Reason.SYMLINK, "out.py": Reason.SYMLINK_OUTSIDE, "outdir": Reason.SYMLINK_OUTSIDE,
            "self.py": Reason.SYMLINK_LOOP, "loop": Reason.SYMLINK_LOOP, "real/up": Reason.SYMLINK_LOOP,
            "gone.py": Reason.SYMLINK_BROKEN,
        }  # fmt: skip

    def test_ignore_files_behind_links_are_not_read(self, root: Path, plant: Plant) -> None:
        plant({"a.py": "", "../outside": "a.py\n"})
        (root / ".tldrsignore").symlink_to("../outside")
        assert paths(scan(str(root))) == ["a.py"]

    def test_invalid_patterns_spoil_nothing(self, root: Path, plant: Plant) -> None:
        plant({".tldrsignore": b"!\n\xff[\n***\nb.py\r\n[z-a]\n", "a.py": "", "b.py": ""})
        assert "b.py" not in paths(scan(str(root)))

    def test_too_large_files_are_told(self, root: Path, plant: Plant) -> None:
        plant({"big.py": b"#" * (MAX_FILE_BYTES + 1), "fits.py": b"#" * MAX_FILE_BYTES})
        found = scan(str(root))
        assert paths(found) == ["fits.py"]
        assert skipped(found) == {"big.py": Reason.TOO_LARGE}

    def test_scripts_without_suffix_are_candidates(self, root: Path, plant: Plant) -> None:
        plant({"run": "#!/usr/bin/env python3\n", "README": "#!/usr/bin/python"})
        (root / "run").chmod(0o755)
        assert paths(scan(str(root))) == ["run"]

    def test_odd_names_survive(self, root: Path, plant: Plant) -> None:
        names = [
            "new\nline.py",
            "tab\t.py",
            'quote".py',
            "ünï☃.py",
            " space .py",
            "co:lon.py",
            "back\\slash.py",
            "-o.py",
        ]
        plant(dict.fromkeys(names, ""))
        raw = os.fsencode(root) + b"/bad\xff.py"
        os.close(os.open(raw, os.O_CREAT))
        os.close(os.open(os.fsencode(root) + b"/bad\xff.txt", os.O_CREAT))
        found = scan(str(root))
        assert paths(found) == sorted(names)
        assert skipped(found) == {"bad\\xff.py": Reason.NAME_NOT_UTF8}

    def test_an_empty_directory(self, root: Path) -> None:
        assert scan(str(root)) == Scan()


def test_pipes_and_sockets_are_told(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(root / "socket.py"))
        assert skipped(scan(str(root))) == {
            "pipe.py": Reason.NOT_A_FILE,
            "socket.py": Reason.NOT_A_FILE,
        }


class TestGit:
    def test_tracked_build_directories_are_source(self, root: Path, plant: Plant, git: Git) -> None:
        git("init")
        plant(
            {
                "vendor/a.py": "",
                "build/b.py": "",
                "node_modules/c.py": "",
                "ignored.py": "",
                ".gitignore": "ignored.py",
            }
        )
        git("add", "--all", "--force")
        plant({"vendor/new.py": ""})
        found = scan(str(root))
        assert paths(found) == ["build/b.py", "ignored.py", "vendor/a.py"]
        assert skipped(found) == dict.fromkeys(["vendor", "node_modules"], Reason.SKIPPED_DIRECTORY)

    def test_deleted_and_replaced_files(self, root: Path, plant: Plant, git: Git) -> None:
        git("init")
        plant(
            {"gone.py": "", "dir/a.py": "", "file.py": "", "moved/a.py": "", "../outside/a.py": ""}
        )
        git("add", "--all")
        (root / "gone.py").unlink()
        shutil.rmtree(root / "dir")
        (root / "dir").write_text("now a file")
        (root / "file.py").unlink()
        plant({"file.py/inner.py": ""})
        shutil.rmtree(root / "moved")
        (root / "moved").symlink_to("../outside")
        found = scan(str(root))
        assert paths(found) == ["file.py/inner.py"]
        assert skipped(found) == {"moved": Reason.SYMLINK_OUTSIDE}

    def test_a_conflict_is_one_file(self, root: Path, plant: Plant, git: Git) -> None:
        git("init")
        for branch, text in (("main", "0"), ("other", "1"), ("main", "2")):
            if branch != git("branch", "--show-current").strip():
                git("checkout", *(["-b"] if branch == "other" else []), branch)
            plant({"a.py": text})
            git("add", "a.py")
            git("commit", "-m", text)
        with pytest.raises(subprocess.CalledProcessError):
            git("merge", "other")
        assert paths(scan(str(root))) == ["a.py"]

    def test_a_root_inside_a_repository(self, root: Path, plant: Plant, git: Git) -> None:
        git("init")
        plant(
            {
                ".gitignore": "generated/\n",
                "above.py": "",
                "sub/a.py": "",
                "sub/generated/b.py": "",
                "sub/c.py": "",
            }
        )
        git("add", "sub/a.py")
        assert paths(scan(str(root / "sub"))) == ["a.py", "c.py"]

    def test_a_root_that_the_repository_around_it_ignores(
        self, root: Path, plant: Plant, git: Git
    ) -> None:
        git("init")
        plant({".gitignore": "sub/\n", "sub/a.py": "", "sub/.gitignore": "b.py\n", "sub/b.py": ""})
        found = scan(str(root / "sub"))
        assert paths(found) == ["a.py"]
        assert "ignores it" in found.notices[0]

    def test_submodules_belong_and_other_repositories_do_not(
        self, root: Path, plant: Plant, git: Git
    ) -> None:
        other = root.parent / "other.git.py"
        other.mkdir()
        git("init", cwd=other)
        (other / "inner.py").touch()
        git("add", ".", cwd=other)
        git("commit", "-m", "one", cwd=other)
        git("init")
        git("submodule", "add", str(other), "libs/other.py")
        git("submodule", "add", str(other), "libs/absent")
        git("commit", "-m", "one")
        git("submodule", "deinit", "--force", "libs/absent")
        git("worktree", "add", "worktree")
        plant({"a.py": "", "libs/other.py/untracked.py": ""})
        found = scan(str(root))
        assert paths(found) == ["a.py", "libs/other.py/inner.py", "libs/other.py/untracked.py"]
        assert skipped(found) == {
            "worktree": Reason.OTHER_REPOSITORY,
            "libs/absent": Reason.SUBMODULE_MISSING,
        }
        # A worktree is a root of its own, and without git the tree is divided in the same way.
        git("submodule", "update", "--init", cwd=root / "worktree")
        assert "libs/absent/inner.py" in paths(scan(str(root / "worktree")))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", "")
            walked = scan(str(root))
        assert paths(walked) == paths(found)
        assert skipped(walked) == {"worktree": Reason.OTHER_REPOSITORY}
        assert "git cannot be run" in walked.notices[0]

    def test_a_repository_of_somebody_else(
        self, root: Path, plant: Plant, git: Git, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git("init")
        plant(
            {
                "a.py": "",
                "b.py": "",
                ".gitignore": "b.py\n",
                "c.py": "",
                ".git/info/exclude": "c.py\n",
            }
        )
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        found = scan(str(root))
        assert paths(found) == ["a.py"]
        assert "dubious ownership" in found.notices[0]

    def test_variables_of_a_calling_git_do_not_mislead(
        self, root: Path, plant: Plant, git: Git, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git("init")
        plant({"a.py": "", "../elsewhere/b.py": ""})
        git("init", cwd=root.parent / "elsewhere")
        monkeypatch.setenv("GIT_DIR", str(root.parent / "elsewhere" / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(root.parent / "nothing"))
        assert paths(scan(str(root))) == ["a.py"]

    def test_settings_of_the_repository_name_no_other_working_tree(
        self, root: Path, plant: Plant, git: Git, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "outside.py").touch()
        plant({"a.py": "", "sub/b.py": ""})
        git("init")
        git("config", "core.worktree", str(elsewhere))
        assert paths(scan(str(root))) == ["a.py", "sub/b.py"]
        assert paths(scan(str(root / "sub"))) == ["b.py"]

    def test_programs_of_the_repository_are_not_run(
        self, root: Path, plant: Plant, git: Git
    ) -> None:
        git("init")
        plant({"a.py": "", "spy": f"#!/bin/sh\ntouch {root}/ran\n"})
        (root / "spy").chmod(0o755)
        git("config", "core.fsmonitor", str(root / "spy"))
        assert paths(scan(str(root))) == ["a.py", "spy"]
        assert not (root / "ran").exists()


NAMES = st.sampled_from(["a", "b", "build", "x.py"])
PATTERNS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.one_of(
        st.sampled_from(
            [
                "a",
                "b",
                "a/b",
                "x.py",
                "*.py",
                "*",
                "a/*",
                "a/**",
                "**/a",
                "a/**/x.py",
                "x*",
                "a/**b",
                "***",
            ]
        ),
        st.text("ab/*?[]!^-\\\\. x#py:", min_size=1, max_size=6),
    ),
    st.sampled_from(["", "", "/"]),
)
PLACES = st.lists(NAMES.filter(lambda name: name != "x.py"), max_size=3).map("/".join)


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.sets(
        st.tuples(PLACES, st.sampled_from(["x.py", "y.py", "a.py"])), min_size=1, max_size=12
    ),
    ignore=st.dictionaries(PLACES, st.lists(PATTERNS, min_size=1, max_size=4), max_size=3),
)
def test_the_walk_finds_what_git_finds(
    files: set[tuple[str, str]], ignore: dict[str, list[str]], tmp_path: Path, git: Git
) -> None:
    root = tmp_path.resolve() / "tree"
    shutil.rmtree(root, ignore_errors=True)
    for place, name in files:
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / name).touch()
    for place, patterns in ignore.items():
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / ".gitignore").write_text("\n".join(patterns))
    walked = scan(str(root))
    initialized(root)
    listed = scan(str(root))
    assert paths(walked) == paths(listed)
