"""The overview of help as a table: it would take longer to import what declares the commands than to do all else.

A test compares it with the declarations and says which row is to be written. A command without a row is asked itself.
"""

from __future__ import annotations

from collections.abc import Mapping

# The command: its arguments, what it does.
OVERVIEW: Mapping[str, tuple[str, str]] = {
    "context": ("[SYMBOL…]", "Build a context pack for one or more symbols, within a token budget"),
    "diff-context": (
        "[PATCH]",
        "Build a context pack for a change: what it touches and what depends on it, within a token budget",
    ),
    "coverage-context": (
        "",
        "Failures, code that only failing tests ran, and the most executed code, within a token budget",
    ),
    "plan": ("[TASK…]", "Build a context pack for a task in words, within a token budget"),
    "map": ("[PATH]", "Outline of the repository, its most important parts opened, within a token budget"),
    "rank-files": ("", "Files of a coverage report, the most suspicious and the most executed first"),
    "coverage-slice": ("FILE", "One file reduced to the lines that ran"),
    "packet": ("[TASK]", "Where a task has to be done, with likely source"),
    "search": ("QUERY…", "Search symbols by meaning, name or text"),
    "duplicates": (
        "[PATH]",
        "Groups of functions that are nearly the same: one exemplar, and what differs in the others",
    ),
    "symbol find": ("QUERY…", "Symbols by name, end of an id, or pattern"),
    "symbol get": ("SYMBOL…", "Source of symbols"),
    "symbol slice": ("SYMBOL…", "Symbols with their dependencies, then their callers, within a token budget"),
    "symbol deps": ("SYMBOL", "Dependencies of a symbol: types, bases, constants, imports, decorators, callees"),
    "definition": ("FILE:LINE[:COLUMN]", "Definitions of the names at a place in a file"),
    "calls": ("[SYMBOL]", "Callers and callees of a symbol"),
    "symbol callers": ("SYMBOL", "Callers of a symbol"),
    "symbol callees": ("SYMBOL", "Callees of a symbol"),
    "impact": ("SYMBOL", "Symbols that a change of a symbol may affect: its callers, theirs, and so on"),
    "change-impact": ("[FILE…]", "Tests affected by a change, and the command that runs them"),
    "conflicts": (
        "[DIRECTORY…]",
        "Symbols changed here and in other working trees, and uses in one of what changed in the other",
    ),
    "dead": ("[PATH]", "Unreferenced functions and classes"),
    "cycles": ("", "Import cycles between files, or call cycles between functions"),
    "slice": ("FILE:LINE", "Program slice: the statements that a line depends on, or that depend on it"),
    "cfg": ("SYMBOL", "Basic blocks of a function and the control flow between them"),
    "dfg": ("SYMBOL", "Def-use chains of a function: where the values that it reads come from"),
    "complexity": ("[PATH]", "Cyclomatic complexity of functions, the largest first"),
    "tree": ("[PATH]", "Indexed files by directory"),
    "structure": ("[PATH]", "Classes, functions and methods of a directory or file, with their lines"),
    "extract": ("FILE", "One file in brief: imports, classes, functions with signatures and lines"),
    "imports": ("FILE", "Imports of a file, and the files of the repository that they resolve to"),
    "importers": ("MODULE", "Files that import a module"),
    "index": ("", "Bring the index up to date"),
    "stats": ("", "Index statistics: files, symbols and skipped files"),
}
