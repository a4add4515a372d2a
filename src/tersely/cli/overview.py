"""The overview of help as a table: it would take longer to import what declares the commands than to do all else.

A test compares it with the declarations and says which row is to be written. A command without a row is asked itself.
"""

from __future__ import annotations

from collections.abc import Mapping

# The command: its arguments, what it does.
OVERVIEW: Mapping[str, tuple[str, str]] = {
    "context": ("[SYMBOL…]", "What is worth knowing around some symbols, within a token budget"),
    "diff-context": (
        "[PATCH]",
        "What a change touches and what the rest of it needs, within a token budget",
    ),
    "coverage-context": ("", "What failed, what only failing tests ran, and what ran most, within a token budget"),
    "plan": ("[TASK…]", "The most useful pack for a task in words, planned by cost and worth, within a token budget"),
    "map": ("[PATH]", "The repository in outline, what matters most opened, within a token budget"),
    "rank-files": ("", "The files of a report of coverage, the most suspicious and the most used first"),
    "coverage-slice": ("FILE", "One file cut down to the lines that ran"),
    "packet": ("[TASK]", "What a task is about: files, symbols and tests in a few hundred tokens, or nothing"),
    "search": ("QUERY…", "Symbols by what they do, what they are called, or what is written in them"),
    "duplicates": (
        "[PATH]",
        "Groups of functions that are nearly the same: one exemplar, and what differs in the others",
    ),
    "symbol find": ("QUERY…", "Symbols by name, end of an id, or pattern"),
    "symbol get": ("SYMBOL", "The source of one symbol"),
    "symbol slice": ("SYMBOL…", "Symbols with all that they need to compile, then who calls them, within a budget"),
    "symbol deps": ("SYMBOL", "What a symbol needs to compile: types, bases, constants, imports, decorators, callees"),
    "definition": ("FILE:LINE[:COLUMN]", "Where the names at a place in a file are defined"),
    "calls": ("[SYMBOL]", "Callers and callees of a symbol"),
    "symbol callers": ("SYMBOL", "Callers of a symbol"),
    "symbol callees": ("SYMBOL", "Callees of a symbol"),
    "impact": ("SYMBOL", "Symbols that a change of a symbol may affect: its callers, theirs, and so on"),
    "change-impact": ("[FILE…]", "Which tests reach a change, and the command that runs them"),
    "dead": ("[PATH]", "Functions and classes whose names nothing in the repository uses"),
    "cycles": ("", "Files that import one another in a circle, or functions that call one another"),
    "slice": ("FILE:LINE", "The statements that a line depends on, or that depend on it"),
    "cfg": ("SYMBOL", "The basic blocks of a function and where control goes between them"),
    "dfg": ("SYMBOL", "Where the values that a function reads come from: its def-use chains"),
    "complexity": ("[PATH]", "McCabe's cyclomatic complexity of functions, the largest first"),
    "tree": ("[PATH]", "The indexed files by directory"),
    "structure": ("[PATH]", "Classes, functions and methods of a directory or file, with their lines"),
    "extract": ("FILE", "One file in brief: imports, classes, functions with signatures and lines"),
    "imports": ("FILE", "What a file imports, and from which file of the repository"),
    "importers": ("MODULE", "Which files import a module"),
    "index": ("", "Bring the index up to date"),
    "stats": ("", "What the index holds, in numbers"),
}
