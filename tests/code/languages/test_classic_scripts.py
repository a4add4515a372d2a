"""Scripts that neither import nor export share their names with those on the same page."""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check

UTIL = "function scale(x) { return x }\nvar ease = function () {}\n"
MAIN = "function main() { scale(1); ease() }\n"


def test_scripts_of_a_directory_share_their_names(tmp_path: Path) -> None:
    files = {
        "js/util.js": UTIL,
        "js/main.js": MAIN,
        "js/module.js": "import './util.js'\nexport function other() { scale(1) }\n",
        "js/common.js": "const a = require('a')\nfunction common() { scale(1) }\n",
        "lib/apart.js": "function apart() { scale(1) }\n",
    }
    check(
        tmp_path,
        files,
        edges=[
            "js/main.js:main -> js/util.js:scale inferred",
            "js/main.js:main -> js/util.js:ease inferred",
        ],
        absent=[
            f"{caller} -> js/util.js" for caller in ("js/module.js", "js/common.js", "lib/apart.js")
        ],
    )


def test_a_page_says_which_scripts_share_their_names(tmp_path: Path) -> None:
    page = "<script src='lib/util.js?v=2'></script>\n<SCRIPT defer src=js/main.js></SCRIPT><script src='//x.y/z.js'>"
    files = {
        "lib/util.js": UTIL,
        "js/main.js": MAIN,
        "js/unused.js": "function scale() {}\nfunction unused() { ease() }\n",
    }
    (tmp_path / "index.html").write_text(page)
    check(
        tmp_path,
        files,
        edges=[
            "js/main.js:main -> lib/util.js:scale inferred",
            "js/main.js:main -> lib/util.js:ease inferred",
        ],
        absent=["js/main.js:main -> js/unused.js", "js/unused.js:unused -> lib/util.js"],
    )
