"""The public tests of JSON Patch: a document and a patch, and what becomes of it, or that it is
refused.

A fact is what the patch gives, as JSON in which members are sorted and numbers are written by their
value, or that it is refused. Disabled cases are left out, as RFC 6902 does not require them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.groundtruth.score import CaseResult, judged
from tersely.foundation.errors import TerselyError
from tersely.relay.threads.patch import apply

REFUSED = "refused"


def run(folder: Path) -> Iterator[CaseResult]:
    """Every enabled case of every file."""
    for file in sorted(folder.glob("*.json")):
        for number, case in enumerate(json.loads(file.read_text("utf-8"))):
            if case.get("disabled") or not ("expected" in case or "error" in case):
                continue
            name = f"{file.stem}/{number} {case.get('comment', '')}".strip()
            expected = REFUSED if "error" in case else _spelled(case["expected"])
            yield judged(name, [expected], partial(_applied, case["doc"], case["patch"]))


def _applied(document: Any, patch: Any) -> list[str]:
    try:
        return [_spelled(apply(json.dumps(document).encode(), patch))]
    except TerselyError:
        return [REFUSED]


def _spelled(value: Any) -> str:
    return json.dumps(_by_value(value), sort_keys=True)


def _by_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _by_value(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_by_value(element) for element in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
