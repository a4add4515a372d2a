"""The last measurements, kept in `bench/results/`, and the page `bench/RESULTS.md` made of them."""

from __future__ import annotations

import fcntl
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.tokens.report import report as report_tokens
from bench.tokens.report import write_summary as write_tokens_summary

HERE = Path(__file__).parent
MEASURED = HERE / "results"
REASONS = HERE / "groundtruth" / "reasons.toml"

Record = dict[str, Any]


def keep(name: str, record: Record) -> None:
    """Remember a measurement and rewrite the page; of two at once the second waits."""
    MEASURED.mkdir(exist_ok=True)
    folder = os.open(MEASURED, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        (MEASURED / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        write_page()
    finally:
        os.close(folder)


def kept(name: str) -> Record:
    """The last measurement of that name, empty without one."""
    path = MEASURED / f"{name}.json"
    found: Record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def write_page() -> None:
    """Rewrite `RESULTS.md`, and what the README shows of it, from what is remembered."""
    lines = ["# Results", "", "Written by the commands named below, not by hand.", ""]
    for name, section in (
        ("groundtruth", _ground_truth),
        ("handchecked", _hand_checked),
        ("retrieval", _retrieval),
        ("speed", _speed),
        ("daemon", _daemon),
        ("change_impact", _change_impact),
        ("diff_context", _diff_context),
        ("tokens", report_tokens),
        ("sessions", _sessions),
        ("slices", _slices),
        ("mcp_server", _mcp_server),
        ("relay_run", _relay_run),
        ("packet", _packet),
        ("relay", _relay),
        ("services", _services),
        ("mail", _mail),
        ("socket", _socket),
        ("hostile", _hostile),
        ("agent", _agent),
        ("tui", _tui),
    ):
        if record := kept(name):
            lines += section(record)
    (HERE / "RESULTS.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    if record := kept("tokens"):
        write_tokens_summary(record)


def _services(record: Record) -> Iterator[str]:
    yield from ("## Questions to the code service", "", "`python -m bench.services REPOSITORY --record`", "")
    yield from (_machine(record["machine"]), "")
    yield f"{record['repository']}, indexed, its daemon warm; ms, one question at a time, through the relay and to the"
    yield "daemon directly. *Again*: the same question at the same revision, which the daemon remembers."
    yield from ("", "| | relay p50 | p95 | daemon p50 | p95 | ratio | again: relay p50 | p95 | daemon p50 |")
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in record["rows"]:
        new, again = row["new"], row["again"]
        told = [new["relay"]["p50"], new["relay"]["p95"], new["daemon"]["p50"], new["daemon"]["p95"], new["ratio"]]
        told += [again["relay"]["p50"], again["relay"]["p95"], again["daemon"]["p50"]]
        yield f"| {row['kind']} | " + " | ".join(f"{value:.2f}" for value in told) + " |"
    yield ""
    for name, one in record["connect"].items():
        yield f"- connected {name}: {one['p50']:.2f} ms, 95 % within {one['p95']:.2f} ms"
    many = record["at_once"]
    yield f"- {many['in_flight']} known questions at a time: {many['p50']:.2f} ms, 95 % within {many['p95']:.2f} ms"
    aims = ", ".join(f"{name} {value:g} ms" for name, value in record["targets"].items())
    yield from (f"- aimed at, as medians: {aims}", "")


def _tui(record: Record) -> Iterator[str]:
    yield from ("## The screen of the agent", "", "`python -m bench.tui --record`", "", _machine(record["machine"]), "")
    yield f"An answer of {record['tokens']:,} tokens, until its end is seen; `idle` is our screen with nothing to do."
    yield from ("", "| | given tokens/s | shown tokens/s | longest stall | its CPU |", "|---|--:|--:|--:|--:|")
    for row in record["rows"]:
        given = f"{row['pace_tokens_per_second']:,}" if row["pace_tokens_per_second"] else "all that it takes"
        shown = f"{row['tokens_per_second']:,.0f}" if row["tokens_per_second"] else ""
        stalls = f"{row['stall_ms']:,.0f} ms | {row['stall_cpu_ms']:,.0f} ms"
        yield f"| {row['name']} | {given if shown else ''} | {shown} | {stalls} |"
    yield ""


def _agent(record: Record) -> Iterator[str]:
    yield from ("## Prompts of the agent", "", "`python -m bench.agent REPOSITORY --record`", "")
    yield from (_machine(record["machine"]), "")
    first = record["first"]
    counts = f"{first['hello']} with {first['hello tools']} tools, {first['tier 1']} with {first['tier 1 tools']}"
    yield f"First request about {record['repository']}, in ChatML, tokens of cl100k ({first['counted']}): {counts}."
    yield "Sessions of 50 turns with a real llama.cpp server, which says what it found in its cache:"
    head = "window | --cache-reuse | answered | requests | unlocks | compactions | prompt tokens | largest | cached"
    yield from ("", f"| {head} |", "|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in record["sessions"]:
        told = [row["turns"], row["requests"], row["unlocks"], row["compactions"], row["prompt_tokens"], row["largest"]]
        cells = [f"{row['window']:,}", str(row["reuse"] or "–"), *(f"{one:,}" for one in told)]
        yield f"| {' | '.join(cells)} | {row['cached_percent']} % |"
    yield ""


def _relay(record: Record) -> Iterator[str]:
    yield from ("## The relay", "", "`python -m bench.relay --record`", "", _machine(record["machine"]), "")
    yield "GET with the token, beside a bare ASGI application under the same server; the header is read from the store."
    yield from ("", "| | connections | answers/s | of the bare ones | CPU of the bare ones |", "|---|--:|--:|--:|--:|")
    for row in record["http"]["reading"]:
        rates = f"{row['per_second']:,.0f} | {row['ratio']:.2f} | {row['cpu_ratio']:.2f}"
        yield f"| {row['path']} | {row['connections']} | {rates} |"
    writing, commits, growth = record["http"]["writing"], record["commits"], record["growth"]
    large, restart = record["large_artifact"], record["restart"]
    kept = "everything acknowledged is there" if restart["kept"] else "SOMETHING IS LOST"
    yield from (
        "",
        f"- idle {record['http']['idle_bytes'] / 1e6:.0f} MB",
        f"- with 32 connections {writing['patches_per_second']:,.0f} patches/s",
        f"- with 32 connections {writing['artifacts_per_second']:,.0f} new artifacts of 2 KB/s",
        f"- durable commits with 64 in flight: {commits['ratio']:.1f} times as many as `fdatasync` alone, by turns",
        f"- {growth['threads']:,} threads and {growth['events']:,} events, beside a store with one thread: a header "
        + " and the end of a stream ".join(f"{growth['ratios'][what]:.2f}" for what in ("header", "tail")),
        f"- an artifact of {large['bytes'] / 1e9:.0f} GB, in and out: {large['most_bytes'] / 1e6:.0f} MB at most",
        f"- from a kill to an answer by `tersely up`: {restart['seconds']:.1f} s; {kept}",
        "",
    )


def _mail(record: Record) -> Iterator[str]:
    yield from ("## Messages", "", "`python -m bench.mail --record`", "", _machine(record["machine"]), "")
    crashes, flood, stopped = record["crashes"], record["floods"], record["stopped"]
    load = f"{crashes['clients']} clients with {crashes['streams']} streams"
    yield f"- {crashes['points']} kills at random moments, {load}: {_answered(crashes)}"
    rate = f"{flood['per_second']:,.0f} a second, {flood['memory_most_bytes'] / 1e6:.0f} MB at most"
    yield f"- a flood by {flood['senders']} senders, each message on the disk: {_answered(flood)}; {rate}"
    times = ", ".join(
        f"{stopped[when]['p99_ms']:.1f} ms {name}"
        for when, name in (("before", "before"), ("with_backlog", "then"), ("while_draining", "while it is taken"))
    )
    memory = f"{stopped['memory_most_bytes'] / 1e6:.0f} MB at most; {_found(stopped)}"
    yield f"- a client that is stopped with a backlog of {stopped['backlog']:,}: messages and answers of others have a"
    yield f"  p99 of {times}; {memory}"
    yield ""


def _answered(record: Record) -> str:
    figures = f"{record['acknowledged']:,} messages acknowledged, {record['delivered']:,} delivered"
    return f"{figures}, {record['delivered_again']:,} times again; {_found(record)}"


def _found(record: Record) -> str:
    return f"{len(record['complaints'])} complaints" if record["complaints"] else "none lost, doubled or out of order"


def _socket(record: Record) -> Iterator[str]:
    yield from ("## The socket", "", "`python -m bench.socket --agent-relay PACKAGE --record`", "")
    yield from (_machine(record["machine"]), "")
    yield f"Medians of {record['rounds']} rounds. A message goes in and out once, as a frame of the echo; with its"
    yield "answer, or a question to a service, it is twice that. `of the echo`: of the one of envelopes."
    yield from ("", "| | in flight | a second | of the echo | p50 ms | p99 ms | CPU us | lost | MB |")
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in record["rows"]:
        pace = f"{row['per_second']:,.0f} | {row['ratio']:.3f} | {row['p50_ms']:.2f} | {row['p99_ms']:.2f}"
        cost = f"{row['cpu_us']:.0f} | {row['lost']:.0f} | {row['resident_bytes'] / 1e6:.0f}"
        yield f"| {row['what']} | {row['in_flight']} | {pace} | {cost} |"
    yield ""


def _relay_run(record: Record) -> Iterator[str]:
    yield from ("## Ten steps through the relay", "", "`python -m bench.relay_run --record`", "")
    yield from (_machine(record["machine"]), "")
    yield f"Three agents and `{record['symbol']}` of {record['repository']}, in tokens. naive: the whole files that an"
    yield "answer stands for, or the whole artifact. actual: what the relay accounts as sent. received: all JSON of the"
    yield "answers, with hashes, keys and previews beside the text."
    yield from ("", "| agent | step | naive | actual | received |", "|---|---|---:|---:|---:|")
    for row in record["rows"]:
        figures = " | ".join(f"{row[name]:,}" for name in ("naive", "actual", "received"))
        yield f"| {row['agent']} | {row['what']} | {figures} |"
    yield ""


def _packet(record: Record) -> Iterator[str]:
    yield from ("## Packets", "", "`python -m bench.packet CLONES… --issues FILE --repositories DIR --record`", "")
    yield from (_machine(record["machine"]), "")
    yield "Of the tasks with a packet: which share of the changed files it found, and whether any of them. Then of all."
    yield ""
    yield "| tasks | files | asked | spoken | recall | any | recall of all | file@1 | file@5 | function@5 | @10 |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    issues = [row for row in record["sets"] if row["name"].startswith(_ISSUES)]
    commits = [row for row in record["sets"] if row not in issues]
    for sets, name in ((commits, "all commits"), (issues, f"{_ISSUES} of all")):
        for row in [*sets, *([_packets_of_all(name, sets)] if sets else [])]:
            rates = [f"{row[one]:.3f}" for one in ("recall", "any", "recall_all", "file1", "file5")]
            functions = [f"{row[one]:.3f}" if sets is issues else "" for one in ("function5", "function10")]
            cells = [row["name"], str(row["files"]), str(row["tasks"]), str(row["spoken"]), *rates, *functions]
            yield f"| {' | '.join(cells)} |"
    yield ""


_ISSUES = "issues"


def _packets_of_all(name: str, sets: list[Record]) -> Record:
    """The sets as one: each task counts alike, for `recall` and `any` each that has a packet."""

    def mean(figure: str, weight: str) -> float:
        total = sum(row[weight] for row in sets)
        return sum(row[figure] * row[weight] for row in sets) / total if total else 0.0

    spoken = {figure: mean(figure, "spoken") for figure in ("recall", "any")}
    others = ("recall_all", "file1", "file5", "function5", "function10")
    counts = {one: sum(row[one] for row in sets) for one in ("tasks", "spoken")}
    return {"name": name, "files": "", **counts, **spoken, **{figure: mean(figure, "tasks") for figure in others}}


def _ground_truth(record: Record) -> Iterator[str]:
    yield from ("## Ground truth", "", "`make groundtruth GROUNDTRUTH=DIR`", "", _machine(record["machine"]), "")
    yield "| suite | language | cases | edges | precision | recall | F1 | complete | sound | |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|---|"
    for suite in record["suites"]:
        title = f"| {suite['suite']} | {suite['language']}"
        if suite["skipped"]:
            yield f"{title} | | | | | | | | skipped: {suite['skipped']} |"
            continue
        rates = " | ".join(f"{suite[name]:.3f}" for name in ("precision", "recall", "f1"))
        figures = ", ".join(f"{name} {value:.3f}" for name, value in suite["figures"].items())
        counts = f"{suite['complete']} | {suite['sound']}"
        yield f"{title} | {suite['cases']} | {suite['edges']} | {rates} | {counts} | {figures} |"
    yield from ("", *_differing(record))


def _mcp_server(record: Record) -> Iterator[str]:
    yield from ("## The server of the Model Context Protocol", "")
    yield from ("`python -m bench.mcp_server REPOSITORY --conformance NODE_MODULES --record`", "")
    yield from (_machine(record["machine"]), "")
    tokens, times = record["tokens"], record["milliseconds"]
    yield f"The list of tools has {tokens['core']} tokens; with `--all-tools` it has {tokens['all']:,}. On"
    yield f"{record['repository']}, medians: a start up to the list of tools {times['start']:.0f} ms; then"
    yield ", ".join(f"`{name}` {value:.0f} ms" for name, value in times.items() if name != "start") + "."
    yield from ("", "| conformance scenario | checks passed | failed | told | |", "|---|--:|--:|--:|---|")
    for one in record["scenarios"]:
        yield f"| {one['name']} | {one['passed']} | {one['failed']} | {one['told']} | {one['why_not']} |"
    yield ""


def _diff_context(record: Record) -> Iterator[str]:
    yield from ("## Packs of changes", "")
    yield from ("`python -m bench.groundtruth.diff_context CASES CLONES --record`", "")
    yield from (_machine(record["machine"]), "")
    yield "Half of the symbols that a commit changes are given as a diff. Of the others, outside of tests: those whose"
    yield "changed lines the pack shows all (in files that were given, and in others), and those that it names."
    yield "Tokens beside those of all files that the given half touches; processor seconds of one question."
    yield ""
    yield (
        "| repository | budget | cases | hidden | covered | same file | other files | named | tokens | whole files "
        "| fewer | median s | p95 s |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in record["rows"]:
        rates = " | ".join(f"{row[name]:.3f}" for name in ("covered", "same_file", "cross_file", "mentioned"))
        fewer = 1 - row["tokens"] / row["whole_files"]
        yield (
            f"| {row['name']} | {row['budget']:,} | {row['cases']} | {row['hidden']} | {rates} | {row['tokens']:,.0f} "
            f"| {row['whole_files']:,.0f} | {fewer:.0%} | {row['cpu_median_seconds']:.2f} "
            f"| {row['cpu_p95_seconds']:.2f} |"
        )
    yield from ("", *(f"{name}: no clone" for name in record["missing"]), "")


def _sessions(record: Record) -> Iterator[str]:
    yield from (
        "## Sessions",
        "",
        "`python -m bench.sessions REPOSITORY… --record`",
        "",
        _machine(record["machine"]),
        "",
    )
    yield (
        f"Tokens of the answers that one commit after the other takes (maps of 1,000 tokens, packs of at most "
        f"{record['budget']:,}): if the whole files were read each time; without a session; the same answers in one "
        "session with `--no-fill`; packs that fill what the session saves, and what these would take without one. "
        "`new` are the tokens of lines that no answer before had, and `at most` how many times fewer tokens there "
        "would be if nothing else were sent."
    )
    yield ""
    yield (
        "| repository | question | asked | files | without | new | at most | no fill | times fewer | filled | worth "
        "| times more |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in record["rows"]:
        fewer, more = row["without"] / max(1, row["shorter"]), row["worth"] / max(1, row["filled"])
        bound = f"{row['new']:,} | {row['without'] / max(1, row['new']):.1f}" if "new" in row else " | "
        yield (
            f"| {row['repository']} | {row['kind']} | {row['asked']} | {row['files']:,} | {row['without']:,} | "
            f"{bound} | {row['shorter']:,} | {fewer:.1f} | {row['filled']:,} | {row['worth']:,} | "
            f"{more:.1f} |"
        )
    yield ""


def _hostile(record: Record) -> Iterator[str]:
    yield from ("## A hostile repository", "", "`python -m bench.hostile FOLDER --record`", "")
    yield from (_machine(record["machine"]), "")
    yield f"{record['files']:,} small files beside all that is odd. What is refused says why; a question that took"
    yield f"too long does by `timed_out`. Of the programs that the repository names {_run(record)}."
    yield from ("", "| | questions | answered | refused | too long | badly ended | the slowest |")
    yield "|---|--:|--:|--:|--:|--:|---|"
    for row in record["rows"]:
        how = " | ".join(str(row[name]) for name in ("questions", "answered", "refused", "timed_out"))
        yield f"| {row['asked']} | {how} | {'; '.join(row['bad']) or 0} | {', '.join(row['slowest'])} |"
    yield ""


def _run(record: Record) -> str:
    return "some were run" if record["was_run"] else "none was run"


def _slices(record: Record) -> Iterator[str]:
    yield from ("## Packs and slices of random functions", "", "`python -m bench.slices REPOSITORY… --record`", "")
    yield from (_machine(record["machine"]), "")
    yield (
        "Packs and slices of 300, 1,000 and 4,000 tokens: how many were larger than their budget, than the whole files "
        "they show something of, or had a caller before a dependency; of the names in the functions that are defined "
        "here, how many `symbol deps` holds; looking up a symbol, in milliseconds."
    )
    yield ""
    yield "| repository | functions | packs | over budget | over files | callers first | names | held | cold | warm |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in record["rows"]:
        names = (
            "symbols",
            "packs",
            "over_budget",
            "over_files",
            "callers_first",
            "names",
            "held",
            "cold_ms",
            "warm_ms",
        )
        yield f"| {row['repository']} | {' | '.join(str(row.get(name, 0)) for name in names)} |"
    yield ""


def _change_impact(record: Record) -> Iterator[str]:
    yield from ("## Change impact", "", "`python -m bench.change_impact REPOSITORY --record`", "")
    yield from (_machine(record["machine"]), "")
    ordered = sorted(record["seconds"])
    yield (
        f"{record['repository']}: {record['functions']} functions, {record['tests']} tests, compared with the tests "
        f"that execute them; a question takes {ordered[len(ordered) // 2]:.2f} s (median), at most {ordered[-1]:.2f} s."
    )
    yield from ("", "| what is named | precision | recall | run | named |", "|---|--:|--:|--:|--:|")
    for score in record["scores"]:
        rates = f"{score['precision']:.3f} | {score['recall']:.3f}"
        yield f"| {score['what']} | {rates} | {score['run']} | {score['named']} |"
    yield ""


def _differing(record: Record) -> Iterator[str]:
    """Cases that differ, with the reason where one is written down."""
    reasons: dict[str, dict[str, str]] = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.is_file() else {}
    yield from ("### Cases answered differently", "")
    for suite in record["suites"]:
        known = reasons.get(f"{suite['suite']} {suite['language']}", {})
        title = f"**{suite['suite']}, {suite['language']}**"
        if suite["differing"] and "sampled" in known:
            yield from (f"{title}: {len(suite['differing'])}, listed by `--verbose`; {known['sampled']}", "")
        elif suite["differing"] and known:
            listed = (f"- `{case}`: {known.get(case, 'open')}" for case in suite["differing"])
            yield from (title, "", *listed, "")
        elif suite["differing"]:
            yield from (f"{title}: {len(suite['differing'])}, listed by `--verbose`", "")


def _hand_checked(record: Record) -> Iterator[str]:
    yield from (
        "## Hand-checked answers",
        "",
        "`python -m bench.handchecked CLONES`",
        "",
        _machine(record["machine"]),
        "",
    )
    yield "| language | repositories | right | of | missing | too much | guesses too many |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    rows = record["languages"]
    for row in rows:
        figures = " | ".join(str(row[name]) for name in ("right", "asked", "missing", "extra", "guesses"))
        yield f"| {row['language']} | {', '.join(row['repositories'])} | {figures} |"
    yield f"| all | | {sum(row['right'] for row in rows)} | {sum(row['asked'] for row in rows)} | | | |"
    yield from ("", "Not right:", "")
    yield from (f"- {row['language']}: `{question}`" for row in rows for question in row["wrong"])
    yield ""


def _speed(record: Record) -> Iterator[str]:
    yield from ("## Speed and memory", "", "`make bench`; peers and large trees: see README.md", "")
    for name, table in record.items():
        runs = f"medians of {table['runs']} runs" if table["runs"] > 1 else "one run"
        about = f"`{table['code']}`, {runs}; {_machine(table['machine'])}"
        rows = table["rows"]
        yield from (f"### {name}", "", about, "", *(_latencies(rows) if name == "warm" else _commands(rows)), "")


def _commands(rows: list[Record]) -> Iterator[str]:
    yield "| what | command | CPU s | wall s | peak MB | ratio | beside | |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for row in rows:
        measured = (row["cpu_seconds"], ".3f"), (row["wall_seconds"], ".3f"), (row["peak_mb"], ".0f")
        figures = " | ".join(format(figure, form) if figure else "" for figure, form in measured)
        ratio = f"{row['ratio']:.2f}" if row["beside"] else ""
        yield f"| {row['name']} | `{row['command']}` | {figures} | {ratio} | {row['beside']} | {row['note']} |"


def _latencies(rows: list[Record]) -> Iterator[str]:
    yield "| question | asked | median ms | p95 ms | slowest ms | failed |"
    yield "|---|--:|--:|--:|--:|--:|"
    for row in rows:
        times = f"{row['median']:.2f} | {row['p95']:.2f} | {row['slowest']:.0f}"
        yield f"| {row['question']} | {row['asked']} | {times} | {row['failed']} |"


def _daemon(record: Record) -> Iterator[str]:
    yield from ("## The daemon", "", "`python -m bench.speed.daemon CODE --peers DIR --record`", "")
    yield f"`{record['code']}`; {_machine(record['machine'])} Times in milliseconds, from sending to reading."
    yield from ("", "| what | asked | p50 | p95 | slowest | |", "|---|--:|--:|--:|--:|---|")
    for row in record["rows"]:
        times = f"{row['asked']} | {row['median']:.2f} | {row['p95']:.2f} | {row['slowest']:.0f}"
        yield f"| {row['what']} | {times if row['asked'] else '| | |'} | {row['note']} |"
    yield ""


def _machine(facts: Record) -> str:
    where = f"{facts['cores']} cores {facts['processor']}, {facts['system']}, Python {facts['python']}"
    return f"{facts['date']}, revision {facts['revision']}; {where}, load {facts['load']}."


def _retrieval(record: Record) -> Iterator[str]:
    command = "`python -m bench.retrieval REPOSITORIES`: mean reciprocal rank / recall, both of the first ten hits"
    yield from ("## Retrieval", "", command, "", _machine(record["machine"]), "")
    yield from _compared(record.get("sets", []))
    for name, found in record.get("public", {}).items():
        yield f"| {name} | 500 | {_figures(found)} |"
    if record.get("semble"):
        gains = ", ".join(f"{name} {gain:.3f} ({count})" for name, (count, gain) in record["semble"].items())
        yield from ("", f"semble's questions, nDCG@10 by file: {gains}.")
    if record.get("pace"):
        pace = record["pace"]
        built = f"{pace['units']:,} units: built in {pace['build_seconds']:.1f} s of processor time"
        asked = f"a question takes {pace['median_ms']:.1f} ms of it, p95 {pace['p95_ms']:.1f} ms"
        yield from ("", f"{built}, updated after one change in {pace['update_seconds']:.2f} s; {asked}.")
    yield ""


def _compared(sets: list[Record]) -> Iterator[str]:
    """A row for each repository and set, and the means."""
    if not sets:
        return
    methods = list(sets[0]["methods"])
    yield f"| repository | questions | {' | '.join(methods)} |"
    yield f"|---|---|{'--:|' * len(methods)}"
    for row in sets:
        yield f"| {row['repository']} | {row['queries']} {row['set']} | {_figures(row['methods'])} |"
    for name in sorted({row["set"] for row in sets}):
        rows = [row["methods"] for row in sets if row["set"] == name]
        columns = {method: zip(*(row[method] for row in rows), strict=True) for method in methods}
        means = {method: [sum(column) / len(rows) for column in found] for method, found in columns.items()}
        yield f"| **mean** | {name} | {_figures(means)} |"


def _figures(methods: dict[str, list[float]]) -> str:
    return " | ".join(f"{rank:.3f} / {recall:.3f}" for rank, recall in methods.values())
