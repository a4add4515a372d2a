"""How the results of capabilities are written for clients that expect other names: plain JSON values in and out.

A shape takes the JSON value of a result and gives the fields of the reply. `whole` is the rule; the others are what
clients of llm-tldr's daemon read. What such a client would be told that no capability knows is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tersely.capabilities.files.outline import DIRECTORY
from tersely.capabilities.graph.listing import name_of, path_of
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS

Shape = Callable[[Any], dict[str, Any]]

_CLASSES = frozenset(kind.value for kind in CLASS_KINDS)
_FUNCTIONS = frozenset(kind.value for kind in CALLABLE_KINDS)


def whole(value: Any) -> dict[str, Any]:
    """The result as it is."""
    return {"result": value}


def callers(value: Any) -> dict[str, Any]:
    """`code.calls` as the callers of one function, a line a call."""
    found = [
        {"caller": name_of(call["caller"]), "file": call["path"], "line": line}
        for call in value["callers"]["items"]
        for line in call["lines"]
    ]
    return {"callers": found}


def edges(value: Any) -> dict[str, Any]:
    """`code.calls` as the edges of the call graph."""
    found = [
        {
            "from_file": path_of(edge["caller"]),
            "from_func": name_of(edge["caller"]),
            "to_file": path_of(edge["callee"]),
            "to_func": name_of(edge["callee"]),
        }
        for edge in value["edges"]["items"]
    ]
    return {"result": {"edges": found, "count": value["edges"]["total"]}}


def outline(value: Any) -> dict[str, Any]:
    """`code.structure` by file."""
    files: dict[str, dict[str, Any]] = {}
    for symbol in value["entries"]["items"]:
        path = symbol["path"]
        file = files.setdefault(path, {"path": path, "functions": [], "classes": [], "methods": []})
        if symbol["kind"] in _CLASSES:
            file["classes"].append(symbol["name"])
        elif symbol["kind"] in _FUNCTIONS:
            file["functions"].append(symbol["name"])
            if symbol["level"]:
                file["methods"].append(symbol["name"])
    return {"result": {"root": value["path"] or ".", "files": list(files.values()), "more": value["entries"]["more"]}}


def module(value: Any) -> dict[str, Any]:
    """`code.extract` of one file with methods below their classes."""
    classes: list[dict[str, Any]] = []
    functions: list[dict[str, Any]] = []
    source = value["sources"][0]
    for symbol in value["entries"]["items"]:
        about = {
            "name": symbol["name"],
            "line_number": symbol["line"],
            "signature": symbol["signature"],
            "docstring": symbol["doc"] or None,
        }
        if symbol["kind"] in _CLASSES:
            classes.append({**about, "methods": []})
        elif symbol["kind"] in _FUNCTIONS:
            inside = symbol["level"] and classes and symbol["id"].startswith(_prefix(classes[-1], value["path"]))
            (classes[-1]["methods"] if inside else functions).append(about)
    return {
        "result": {
            "file_path": value["path"],
            "language": source["language"],
            "docstring": source["doc"] or None,
            "imports": _by_module(source["imports"]),
            "classes": classes,
            "functions": functions,
        }
    }


def _prefix(owner: dict[str, Any], path: str) -> str:
    return f"{path}:{owner['name']}."


def tree(value: Any) -> dict[str, Any]:
    """`code.tree` as objects in objects."""
    around: list[dict[str, Any]] = []
    for entry in value["entries"]["items"]:
        about: dict[str, Any] = {"name": entry["name"].rstrip("/") or ".", "type": "file", "path": entry["id"]}
        if entry["kind"] == DIRECTORY:
            about = {"name": about["name"], "type": "dir", "children": []}
        del around[entry["level"] :]
        if around:
            around[-1]["children"].append(about)
        around.append(about)
    closed = sum(entry.get("closed", False) for entry in value["entries"]["items"])
    return {"result": {**around[0], "closed": closed}}


def imports(value: Any) -> dict[str, Any]:
    """`code.imports` by module."""
    return {"imports": _by_module(value["imports"]["items"])}


def _by_module(imported: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    modules: dict[tuple[str, int], dict[str, Any]] = {}
    for one in imported:
        key = (one["module"], one["line"])
        about = modules.setdefault(key, {"module": one["module"], "names": [], "is_from": bool(one["name"])})
        if one["name"]:
            about["names"].append(one["name"])
            if one["alias"] not in {"", one["name"]}:
                about.setdefault("aliases", {})[one["name"]] = one["alias"]
        elif one["alias"]:
            about["alias"] = one["alias"]
    return list(modules.values())


def importers(value: Any) -> dict[str, Any]:
    """`code.importers`, an entry a file and spelling."""
    found = [
        {"file": one["path"], "import": {"module": one["module"], "names": one["names"], "is_from": bool(one["names"])}}
        for one in value["imports"]["items"]
    ]
    return {"module": value["module"], "importers": found}


def dead(value: Any) -> dict[str, Any]:
    """`code.dead` by file."""
    symbols = value["symbols"]["items"]
    by_file: dict[str, list[str]] = {}
    for symbol in symbols:
        by_file.setdefault(symbol["path"], []).append(name_of(symbol["id"]))
    found = [{"file": symbol["path"], "function": name_of(symbol["id"])} for symbol in symbols]
    return {"result": {"dead_functions": found, "by_file": by_file, "total_dead": value["symbols"]["total"]}}


def circles(value: Any) -> dict[str, Any]:
    """`code.cycles` as circular dependencies."""
    return {"result": {"circular_dependencies": [circle["cycle"] for circle in value["cycles"]["items"]]}}


def hits(value: Any) -> dict[str, Any]:
    """`code.search` as a list, the best first."""
    found = [
        {
            "name": name_of(hit["id"]).rpartition(".")[2],
            "qualified_name": hit["id"],
            "file": hit["path"],
            "line": hit["line"],
            "unit_type": hit["kind"],
            "signature": hit["signature"],
            "score": hit["share"],
            "reasons": hit["reasons"],
        }
        for hit in value["hits"]
    ]
    return {"result": found, "results": found}


def matches(value: Any) -> dict[str, Any]:
    """`code.search` for an expression, a definition in which it matches an entry."""
    found = [{"file": hit["path"], "line": hit["line"], "content": hit["signature"]} for hit in value["hits"]]
    return {"results": found}


def control_flow(value: Any) -> dict[str, Any]:
    """`code.cfg` with edges beside the blocks."""
    blocks = [
        {"id": block["number"], "type": block["kind"], "lines": _lines_of(block["steps"])} for block in value["blocks"]
    ]
    edges_found = [
        {"from": block["number"], "to": way["to"], "type": way["why"]}
        for block in value["blocks"]
        for way in block["exits"]
    ]
    return {
        "result": {
            "function": name_of(value["symbol"]),
            "blocks": blocks,
            "edges": edges_found,
            "entry_block": 0,
            "exit_blocks": [1],
            "cyclomatic_complexity": value["complexity"],
        }
    }


def _lines_of(steps: Sequence[dict[str, Any]]) -> list[int]:
    return [min(step["line"] for step in steps), max(step["end_line"] for step in steps)] if steps else []


def data_flow(value: Any) -> dict[str, Any]:
    """`code.dfg` as edges between lines."""
    found = [
        {"var": flow["variable"], "def_line": flow["definition_line"], "use_line": flow["use_line"]}
        for flow in value["flows"]["items"]
    ]
    variables = list(dict.fromkeys(flow["var"] for flow in found))
    return {"result": {"function": name_of(value["symbol"]), "edges": found, "variables": variables}}


def sliced(value: Any) -> dict[str, Any]:
    """`code.slice` as the lines of its own file."""
    lines = sorted({line for part in value["parts"] if part["path"] == value["path"] for line in part["lines"]})
    return {"lines": lines, "count": len(lines)}


def affected(value: Any) -> dict[str, Any]:
    """`code.change_impact` as files of tests."""
    tests = [path_of(test) for route in value["routes"]["items"] for test in route["tests"]]
    files = list(dict.fromkeys([*tests, *(importing["file"] for importing in value["imports"]["items"])]))
    changed_files = list(dict.fromkeys(map(path_of, value["changed"])))
    return {
        "affected_tests": files,
        "changed_files": changed_files,
        "changed_functions": [name_of(symbol) for symbol in value["changed"]],
        "command": value["command"],
        "summary": {
            "files_changed": len(changed_files),
            "functions_changed": len(value["changed"]),
            "tests_affected": len(files),
        },
    }
