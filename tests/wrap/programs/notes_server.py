"""A server of the Model Context Protocol with one tool, which makes a file and does not say that it
only reads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NOTE = {
    "name": "note",
    "description": "Makes a file.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        about = {"name": "notes", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": about,
        }
    if method == "tools/list":
        return {"tools": [NOTE]}
    if method == "tools/call":
        Path(params["arguments"]["path"]).touch()
        return {"content": [{"type": "text", "text": "noted"}]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        told = {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "result": answer(asked["method"], asked.get("params", {})),
        }
        print(json.dumps(told), flush=True)
