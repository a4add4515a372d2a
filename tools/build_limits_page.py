"""Write docs/limits.md: the bounds of the program that a user can meet, with their values.

    python tools/build_limits_page.py

A bound is a number that a module names in capitals. The table below says in words what each of them
means for a user and, where there is one, what raises it; the value is read from the sources.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "tersely"
PAGE = ROOT / "docs" / "limits.md"
# How a value is said whose name ends so: its units, the largest first, each in terms of the last.
_TIMES = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))
_UNITS = {
    "SECONDS": _TIMES,
    "MINUTES": tuple((size // 60, unit) for size, unit in _TIMES if size > 1),
    "MILLISECONDS": tuple((size * 1_000, unit) for size, unit in _TIMES),
    "BYTES": ((1_000_000, "MB"), (1, "bytes")),
    "TOKENS": ((1, "tokens"),),
    "CHARACTERS": ((1, "characters"),),
    "HOPS": ((1, "calls"),),
}
_HEAD = """# Limits

These are the bounds that you can meet, with their values. A last column that is empty means that the
value is fixed. `python tools/build_limits_page.py` makes this page from the sources.
"""

# Of each part: (module or folder, name, what is bounded, what changes it)
Row = tuple[str, str, str, str]
PARTS: dict[str, tuple[Row, ...]] = {
    "Index": (
        ("foundation/limits.py", "MAX_FILE_BYTES", "a larger file is not indexed", ""),
        ("code/index", "MAX_WHOLE_BYTES", "of a larger file, only definitions and what functions return are read", ""),
        ("code/index", "WORKER_SILENCE_SECONDS", "a file that takes longer to parse is skipped", ""),
        ("code/index", "MAX_SHARED_BYTES", "all shared bases of one user; the oldest go first", ""),
        ("foundation/limits.py", "MAX_SETTINGS_BYTES", "a larger file of settings is refused", ""),
    ),
    "Questions about code": (
        ("capabilities", "MAX_KEPT_BYTES", "kept answers of one user; the oldest go first", "`kept_answers`"),
        ("foundation/limits.py", "MAX_BUDGET_TOKENS", "the largest budget that you can ask for", ""),
        ("foundation/limits.py", "DEFAULT_BUDGET_TOKENS", "a pack", "`--budget`, `budget_tokens`"),
        ("capabilities/packs", "DEFAULT_PACKET_TOKENS", "a packet", "`--max-tokens`"),
        ("context/pack/kinds", "ROWS_TOKENS", "the rows of a packet, its source left out", ""),
        ("context/lenses/localization", "MAX_TASK_CHARACTERS", "read of a longer task", ""),
        ("foundation/limits.py", "MAX_TARGET_SYMBOLS", "symbols that one pack is about", ""),
        ("foundation/limits.py", "MAX_DEPTH_HOPS", "the largest `--depth` of a pack", ""),
        ("capabilities/graph", "MAX_CALL_DEPTH", "the largest `--depth` of `calls` and `impact`", ""),
        ("capabilities/graph", "MAX_WALKED_SYMBOLS", "symbols on one walk along calls", ""),
        ("code/graph", "MAX_SEARCH_WORK", "values found out for callers or references, nearest files first", ""),
        ("code/graph", "MAX_WALK_WORK", "values found out on one walk along calls, or around symbols of a pack", ""),
        ("code/graph/program", "MAX_NAMESAKES", "definitions of a name that a call *by name* may mean", ""),
        ("context/lenses/test_impact", "MAX_AFFECTED_TESTS", "tests that `change-impact` finds", ""),
        ("context/lenses", "MAX_WORKING_TREES", "other worktrees that `conflicts` looks at", ""),
        ("foundation/limits.py", "MAX_PAGE_ENTRIES", "the largest `--limit` of a list", ""),
        ("foundation/limits.py", "MAX_LOOKUP_SYMBOLS", "symbols that a pattern may mean", ""),
        ("code/search", "EXPRESSION_SECONDS", "processor time of a regular expression", ""),
        ("code/search/embedding", "EMBEDDER_SECONDS", "one reply of your own embedder", ""),
        ("code/flow", "MAX_DEFINITIONS", "definitions that are followed in one function", ""),
        ("code/flow", "MAX_FLOWS", "data flows that are listed of one function", ""),
        ("code/coverage", "MAX_REPORT_BYTES", "a report of coverage", ""),
        ("code/coverage", "RUN_SECONDS", "a program that `--run` starts", ""),
        ("code/coverage", "MAX_RUN_OUTPUT_BYTES", "kept of what it prints; the middle is left out", ""),
        ("cli", "MAX_DRAWN_NODES", "symbols in a drawing (`--format mermaid`, `dot`, `html`)", ""),
    ),
    "Sessions": (
        ("context/pack/delta", "MAX_SESSIONS", "sessions of one repository; the oldest are forgotten", ""),
        ("context/pack/delta", "SESSION_SECONDS", "without a question, after which a session is forgotten", ""),
        ("context/pack/delta", "MAX_SESSION_BYTES", "remembered of one session, compressed", ""),
    ),
    "Servers": (
        ("foundation/limits.py", "MAX_REQUEST_BYTES", "one request to the daemon", ""),
        ("foundation/limits.py", "MAX_ANSWER_BYTES", "one answer of the daemon", ""),
        ("foundation/limits.py", "MAX_CLIENT_REQUESTS", "requests of one connection that wait", ""),
        ("foundation/limits.py", "REQUEST_SECONDS", "one request to the daemon", "`timeout_ms`"),
        ("foundation/limits.py", "MAX_REQUEST_SECONDS", "the largest `timeout_ms`", ""),
        ("daemon", "MAX_CONNECTIONS", "connections to one daemon", ""),
        ("daemon", "MAX_WATCHED_DIRECTORIES", "directories that are watched; above, files are looked at", ""),
        ("doors/mcp", "MAX_MESSAGE_BYTES", "one message of the Model Context Protocol", ""),
        ("doors/mcp/session.py", "MAX_OPEN_REQUESTS", "requests of one client that wait", ""),
        ("doors/lsp", "MAX_LENSES", "code lenses of one file", ""),
        ("doors/lsp", "MAX_LISTED_REFERENCES", "references of one symbol", ""),
    ),
    "Relay": (
        ("doors/socket", "MAX_SOCKET_CLIENTS", "clients on the socket", ""),
        ("foundation/limits.py", "MAX_FRAME_BYTES", "one message with its envelope", ""),
        ("relay/policy.py", "DEFAULT_PAYLOAD_BYTES", "a request that is no artifact", "policy `payload_bytes`"),
        ("relay/policy.py", "DEFAULT_HOPS", "that may lead to one another", "policy `hops`"),
        ("relay/mail", "MAX_MAILBOX_MESSAGES", "messages that wait for one recipient", ""),
        ("relay/mail", "MAX_MAILBOX_BYTES", "the same, in bytes", ""),
        ("foundation/limits.py", "MAX_TTL_MILLISECONDS", "the longest time that a message may wait (`ttl`)", ""),
        ("relay/mail", "MESSAGE_KEPT_SECONDS", "after which a message that nobody waits for is forgotten", ""),
        ("relay/mail", "QUIET_SECONDS", "without a sign, after which an agent counts as idle", ""),
        ("relay/mail", "GONE_SECONDS", "without a sign, after which it counts as gone", ""),
        ("relay/mail", "MAX_CHANNELS", "channels", ""),
        ("relay/mail", "MAX_CHANNEL_MEMBERS", "members of one channel", ""),
        ("foundation/limits.py", "MAX_DOCUMENT_BYTES", "the state of a thread", ""),
        ("foundation/limits.py", "MAX_PATCH_OPERATIONS", "operations of one patch", ""),
        ("foundation/limits.py", "MAX_BLOB_BYTES", "one artifact", ""),
        ("foundation/limits.py", "MAX_BUNDLE_BYTES", "one bundle, unpacked", ""),
        ("relay/store", "MAX_CACHE_BYTES", "answers that are remembered", ""),
        ("capabilities/relay/teams", "LEASE_MINUTES", "a claim", "`--minutes`"),
        ("capabilities/relay/teams", "MAX_LEASE_MINUTES", "the longest claim", ""),
        ("relay/teams", "MAX_CLAIMS", "claims of one project", ""),
        ("relay/teams", "MAX_BOARD_ITEMS", "items of one board", ""),
        ("foundation/limits.py", "MAX_SERVICE_SECONDS", "the largest `timeout_ms` of a question to a service", ""),
        ("foundation/limits.py", "MAX_SERVICE_RESULT_BYTES", "an answer of a service", ""),
        ("foundation/limits.py", "MAX_SERVICE_REQUESTS", "questions to one service that wait", ""),
        ("relay/access", "CODE_SECONDS", "in which a code for joining has to be used", ""),
        ("relay/access", "MAX_TOKENS", "of identities, in force", ""),
        ("doors/http", "MAX_OPEN_WEBSOCKETS", "WebSockets of one token", ""),
        ("foundation/limits.py", "MAX_WEB_BODY_BYTES", "the body of a request over HTTP", ""),
        ("doors/http", "UI_SESSION_SECONDS", "after which a browser asks for a new link to the pages", ""),
    ),
    "Wrapped programs": (
        ("wrap", "MAX_TYPED_BYTES", "of a longer message, the beginning is typed in", ""),
        ("wrap", "MAX_BLOCK_CHARACTERS", "of a command on several lines", ""),
        ("wrap", "MAX_WAITING_COMMANDS", "commands of one program that wait", ""),
        ("wrap", "MAX_SPAWNED_PROGRAMS", "programs that one program runs at a time", ""),
        ("client", "MAX_UNSENT_MESSAGES", "messages of one name while the relay is away", ""),
    ),
    "Coding agent": (
        ("foundation/limits.py", "MIN_WINDOW_TOKENS", "the smallest window of a model", ""),
        ("agent/loop.py", "MAX_TURN_STEPS", "requests in one turn", ""),
        ("foundation/limits.py", "OBSERVATION_TOKENS", "told to the model of one call", ""),
        ("foundation/limits.py", "MAX_EDITED_BYTES", "a file that is edited", ""),
        ("agent/tools", "COMMAND_SECONDS", "a command", ""),
        ("agent/tools", "MAX_COMMAND_PROCESSES", "processes of one command", ""),
        ("agent/tools", "MAX_SNAPSHOT_STEP_BYTES", "files of one command that `/undo` puts back", ""),
        ("agent/models", "MODEL_SILENCE_SECONDS", "without a word of the server, after which it is given up", ""),
        ("agent/models", "MAX_MODEL_ANSWER_SECONDS", "one answer", ""),
        ("agent/tools", "MAX_TOOL_SERVERS", "servers of the Model Context Protocol", ""),
    ),
    "Talk without a relay": (
        ("ai_talk", "MAX_MESSAGE_BYTES", "one message", ""),
        ("ai_talk", "MAX_INBOX_MESSAGES", "messages that an inbox keeps", ""),
        ("ai_talk", "MAX_CONNECTIONS", "connections to one listener", ""),
    ),
}  # fmt: skip


@cache
def numbers_of(path: Path) -> dict[str, float]:
    """The numbers that a module names in capitals, by their names without an underscore in front."""
    found: dict[str, float] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = _computed(node.value)
        if value is not None:
            found[node.targets[0].id.lstrip("_")] = value
    return found


def value_of(place: str, name: str) -> float:
    """The value of a bound in a module or below a folder of the sources.

    Raises:
        SystemExit: if it is not there exactly once.
    """
    path = SOURCES / place
    modules = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    values = [numbers_of(module)[name] for module in modules if name in numbers_of(module)]
    if len(values) != 1:
        raise SystemExit(f"{place} has {len(values)} bounds {name}; mend the table in {__file__}")
    return values[0]


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(_sections())


def said(name: str, value: float) -> str:
    """A value with its unit, as the name says it: `900` of `QUIET_SECONDS` is "15 minutes"."""
    units = _UNITS.get(name.rpartition("_")[2], ())
    for size, unit in units:
        if not value % size:
            count = value / size
            return f"{count:,.0f} {unit.removesuffix('s') if count == 1 else unit}"
    return f"{value:,g} {units[-1][1]}" if units else f"{value:,}"


def _sections() -> Iterator[str]:
    for title, rows in PARTS.items():
        yield f"\n## {title}\n\n| limit | what is bounded | changed by |\n|--:|---|---|\n"
        for place, name, about, changed_by in rows:
            yield f"| {said(name, value_of(place, name))} | {about} | {changed_by} |\n"


def _computed(value: ast.expr) -> float | None:
    """The value of a number, or of a sum or product of numbers; None for anything else."""
    if isinstance(value, ast.Constant):
        number = value.value
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
        return number
    if not isinstance(value, ast.BinOp):
        return None
    left, right = _computed(value.left), _computed(value.right)
    if left is None or right is None:
        return None
    match value.op:
        case ast.Mult():
            return left * right
        case ast.Add():
            return left + right
        case ast.LShift():
            return int(left) << int(right)
    return None


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
