"""`.ci/bare`: where CI tests a second time."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGHTS = 0xA80425FB  # of a container, as it is usual
LOOK = """
id -u
stat -c '%a %u' ..
dirname "$(pwd)"
command -v node ps tmux || echo none
unshare --user true 2>/dev/null || echo closed
sed -n 's/^CapBnd:[^0-9a-f]*//p' /proc/self/status
git rev-parse HEAD
exit 7
"""


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("dpkg-query") is None, reason="only root of a Debian can"
)
@pytest.mark.parametrize(("who", "user"), [("root", "0"), ("user", "65534")])
def test_little_is_given_there_and_nothing_is_left(who: str, user: str) -> None:
    ended = subprocess.run(
        [ROOT / ".ci/bare", who, "sh", "-c", LOOK], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 7, ended.stderr
    id_there, mode, home, programs, namespaces, rights, commit = ended.stdout.splitlines()[-7:]
    assert (id_there, mode, programs, namespaces) == (user, f"700 {user}", "none", "closed")
    assert int(rights, 16) & ~RIGHTS == 0
    assert not Path(home).exists()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert head.stdout.strip() == commit


@pytest.mark.skipif(os.geteuid() != 0, reason="only root of a Debian can")
def test_who_else_is_meant_is_refused() -> None:
    ended = subprocess.run(
        [ROOT / ".ci/bare", "somebody"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (2, "bare: somebody is neither root nor user\n")
