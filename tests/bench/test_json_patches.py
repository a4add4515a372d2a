"""The suite of JSON Patch tells right from wrong."""

from __future__ import annotations

import json
from pathlib import Path

from bench.groundtruth import json_patches

ADD = {"doc": {}, "patch": [{"op": "add", "path": "/a", "value": 1}]}


def test_what_differs_is_told(tmp_path: Path) -> None:
    cases = [
        {**ADD, "expected": {"a": 1.0}, "comment": "right"},
        {**ADD, "expected": {"a": 2}, "comment": "another value"},
        {**ADD, "error": "no", "comment": "not refused"},
        {
            "doc": {},
            "patch": [{"op": "remove", "path": "/a"}],
            "error": "absent",
            "comment": "refused",
        },
        {**ADD, "expected": {}, "disabled": True},
    ]
    (tmp_path / "tests.json").write_text(json.dumps(cases))

    told = {
        case.name.split(" ", 1)[1]: case.sound and case.complete
        for case in json_patches.run(tmp_path)
    }

    assert told == {"right": True, "another value": False, "not refused": False, "refused": True}
