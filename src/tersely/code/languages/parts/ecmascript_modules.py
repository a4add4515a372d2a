"""The files of an ECMAScript import: relative paths, tsconfig paths, packages of the same
repository.
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any, NamedTuple

from tersely.code.languages.model import Files
from tersely.foundation.types import JsonObject, Strings

SUFFIXES = (
    ".ts",
    ".tsx",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".d.ts",
    ".d.mts",
    ".d.cts",
    ".vue",
    ".svelte",
)
# The folders of a package that build tools give these prefixes where no configuration says so.
CUSTOMARY = {"@/": "src", "~/": "src", "$lib/": "src/lib"}
# The suffixes of sources by the suffix of the output that imports name.
SOURCES = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
ELEMENT_MODULE = "jsx-runtime"  # of the package that the configuration names
INDEX_NAMES = ("index", "main", "mod")
ENTRIES = ("index", "src/index", "src/main", "lib/index")  # of a package that declares none
# keys of package.json for the entry of a package, best first: of one that is imported by its name,
# and of one that is imported by a path
NAME_ENTRIES = ("source", "types", "module", "main", "typings")
PATH_ENTRIES = ("source", "main", "module", "types", "typings")
CONDITIONS = ("source", "types", "import", "module", "node", "browser", "require", "default")
MAX_EXTENDS = 5  # configurations that extend each other
MAX_TARGET_DEPTH = 6  # conditions inside conditions
MAX_STARS = 2  # of a target that are replaced; there is hardly ever a second
HOST_MODULES = frozenset(
    "assert async_hooks buffer child_process cluster console crypto dgram dns events fs http http2 https inspector "
    "module net os path perf_hooks process punycode querystring readline repl stream string_decoder timers tls tty url "
    "util v8 vm worker_threads zlib".split()
)
COMMENT_OR_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
TRAILING_COMMA = re.compile(r",(\s*[}\]])")

Packages = dict[str, tuple[str, JsonObject]]  # name -> (directory, package.json)
Aliases = list[tuple[str, str]]  # (pattern, target), both with at most one `*`


class Configuration(NamedTuple):
    """The part of a tsconfig.json that is about imports."""

    aliases: Aliases
    base: str | None  # the directory in which names without a `./` are looked for
    roots: Strings  # directories that count as one when a path is relative
    elements: str  # the package whose module `jsx-runtime` says which elements there are


PLAIN = Configuration([], None, (), "")


def _path(*parts: str) -> str:
    """Parts of a path as one, without `.` and `..` in it."""
    return posixpath.normpath(posixpath.join(*parts))


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files that `module` may mean, best first; none for a module outside the repository."""
    directory = posixpath.dirname(importer)
    module = module.partition("?")[0]
    if module == ELEMENT_MODULE:
        module = f"{_settings(files, directory).elements}/{ELEMENT_MODULE}"
    if module.startswith((".", "/")):
        base = module.lstrip("/") if module.startswith("/") else posixpath.join(directory, module)
        path = posixpath.normpath(base)
        return (
            candidates(files, path)
            or _entries(files, path, PATH_ENTRIES)
            or _in_other_roots(files, directory, module)
        )
    found: list[str] = []
    settings = _settings(files, directory)
    base_url = settings.base
    for pattern, target in settings.aliases:
        rest = matched(pattern, module)
        if rest is not None:
            found += candidates(files, posixpath.normpath(target.replace("*", rest, MAX_STARS)))
    if not found and base_url is not None:
        found = candidates(files, _path(base_url, module))
    return (
        found
        or _package_files(files, directory, module)
        or _customary_files(files, directory, module)
        or _script_files(files, directory, module)
    )


def _settings(files: Files, directory: str) -> Configuration:
    every = files.once(configurations)
    return every.get(_nearest(every, directory), PLAIN)


def _in_other_roots(files: Files, directory: str, module: str) -> list[str]:
    """A relative path, read from the place that the directory would have in another of the
    `rootDirs`.
    """
    roots = _settings(files, directory).roots
    inside = [root for root in roots if f"{directory}/".startswith(f"{root}/")]
    if module.startswith("/") or not inside:
        return []
    home = max(inside, key=len)
    place = _path(posixpath.relpath(directory, home), module)
    paths = [_path(root, place) for root in roots if root != home]
    return [found for path in paths for found in candidates(files, path)]


def _customary_files(files: Files, directory: str, module: str) -> list[str]:
    home = _nearest(files.once(package_directories), directory)
    for prefix, folder in CUSTOMARY.items():
        if module.startswith(prefix):
            return candidates(files, posixpath.join(home, folder, module.removeprefix(prefix)))
    return []


def _script_files(files: Files, directory: str, module: str) -> list[str]:
    """Scripts outside any package may name their neighbours without a `./`, for loaders and import
    maps.
    """
    if module.partition("/")[0] in HOST_MODULES or ":" in module or _in_package(files, directory):
        return []
    return candidates(files, _path(directory, module))


def _in_package(files: Files, directory: str) -> bool:
    known = files.once(package_directories)
    home = _nearest(known, directory)
    return home in known or bool(files.text(posixpath.join(home, "package.json")))


def candidates(files: Files, path: str) -> list[str]:
    """The files of a path: its sources, with a suffix added, and the index files of a directory."""
    if path.startswith("../"):
        return []
    stem, suffix = posixpath.splitext(path)
    forms = [stem + source for source in SOURCES.get(suffix, ())] + [path]
    forms += [path + ending for ending in SUFFIXES]
    prefix = "" if path == "." else f"{path}/"
    forms += [f"{prefix}index{ending}" for ending in SUFFIXES]
    return list(dict.fromkeys(form for form in forms if files.exists(form)))


def matched(pattern: str, module: str) -> str | None:
    """The text in the place of the `*` of a pattern, None where the module does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if module == pattern else None
    fits = (
        module.startswith(before)
        and module.endswith(after)
        and len(module) >= len(before) + len(after)
    )
    return module[len(before) : len(module) - len(after)] if fits else None


def module_keys(module: str) -> Strings:
    """Words under which a module is imported: the last parts of its path, of its directory too for
    an index file.
    """
    parts = [part for part in module.split("/") if part not in (".", "..", "")]
    if not parts:
        return ("./index",)
    stem = parts[-1].partition(".")[0] or parts[-1]
    if stem not in INDEX_NAMES:
        return (f"./{stem}",)
    return tuple(f"./{name}" for name in dict.fromkeys(["index", stem, *parts[:-1]]))


# Configuration


def relaxed_json(text: str) -> Any:
    """JSON with comments and trailing commas; an empty object for text that cannot be read."""
    if not text:
        return {}
    plain = COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
    try:
        value = json.loads(TRAILING_COMMA.sub(r"\1", plain))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def configurations(files: Files) -> dict[str, Configuration]:
    """The configuration of every tsconfig.json or jsconfig.json, by its directory."""
    found: dict[str, Configuration] = {}
    known: dict[str, Configuration | None] = {}
    for directory in files.directories():
        for name in ("tsconfig.json", "jsconfig.json"):
            read = _configuration(files, posixpath.join(directory, name), 0, known)
            if read is not None:
                found.setdefault(directory, read)
    return found


def _configuration(
    files: Files, path: str, depth: int, known: dict[str, Configuration | None]
) -> Configuration | None:
    """The configuration of one file, each read once: they may extend each other in a circle, and
    many of them the same files.
    """
    if path in known or depth > MAX_EXTENDS:
        return known.get(path)
    known[path] = None
    text = files.text(path)
    if not text:
        return None
    settings = relaxed_json(text)
    directory = posixpath.dirname(path)
    found = PLAIN
    for parent in _parent_configurations(settings, directory):
        found = _configuration(files, parent, depth + 1, known) or found
    options = settings.get("compilerOptions")
    if isinstance(options, dict):
        found = _with_options(found, options, directory)
    known[path] = found
    return found


def _with_options(inherited: Configuration, options: JsonObject, directory: str) -> Configuration:
    """A configuration with what a file says itself in place of what it inherits."""
    aliases, base, roots, elements = inherited
    if isinstance(options.get("baseUrl"), str):
        base = _path(directory, options["baseUrl"])
    paths, listed = options.get("paths"), options.get("rootDirs")
    if isinstance(paths, dict):
        home = base if base is not None else directory
        aliases = [
            (pattern, posixpath.join(home, target))
            for pattern, targets in paths.items()
            for target in _texts_in(targets)
        ]
    if isinstance(listed, list):
        roots = tuple(_path(directory, root) for root in _texts_in(listed))
    if isinstance(options.get("jsxImportSource"), str):
        elements = options["jsxImportSource"]
    return Configuration(aliases, base, roots, elements)


def _texts_in(listed: Any) -> list[str]:
    """The texts in a list, none of anything else."""
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _parent_configurations(settings: JsonObject, directory: str) -> list[str]:
    """The files of the repository that one extends, the first first."""
    inherited = settings.get("extends")
    parents = inherited if isinstance(inherited, list) else [inherited]
    found: list[str] = []
    for parent in parents:
        if isinstance(parent, str) and parent.startswith("."):
            target = _path(directory, parent)
            found.append(target if target.endswith(".json") else f"{target}.json")
    return found


def _nearest(known: JsonObject, directory: str) -> str:
    while directory and directory not in known:
        directory = posixpath.dirname(directory)
    return directory


# Packages


def packages(files: Files) -> Packages:
    """Every package of the repository by the name that its package.json declares."""
    found: Packages = {}
    for directory in files.directories():
        settings = relaxed_json(files.text(posixpath.join(directory, "package.json")))
        name = settings.get("name")
        if isinstance(name, str):
            found.setdefault(name, (directory, settings))
    return found


def package_directories(files: Files) -> dict[str, JsonObject]:
    """Every package.json by its directory."""
    return dict(files.once(packages).values())


def _package_files(files: Files, directory: str, module: str) -> list[str]:
    if module.startswith("#"):
        by_directory = files.once(package_directories)
        home = _nearest(by_directory, directory)
        imports = by_directory.get(home, {}).get("imports")
        return _export_targets(files, home, imports, module) if isinstance(imports, dict) else []
    parts = module.split("/")
    size = 2 if module.startswith("@") else 1
    name, rest = "/".join(parts[:size]), "/".join(parts[size:])
    if name not in files.once(packages):
        return []
    home, settings = files.once(packages)[name]
    found = _export_targets(files, home, _exports(settings), f"./{rest}" if rest else ".")
    if found or not rest:
        return found or _entries(files, home, NAME_ENTRIES)
    paths = (_path(home, root, rest) for root in ("", "src"))
    return next((found for path in paths if (found := candidates(files, path))), [])


def _exports(settings: JsonObject) -> JsonObject:
    """What a package exports, by the patterns of what is imported from it."""
    exports = settings.get("exports")
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        return exports
    return {".": exports} if isinstance(exports, str | dict) else {}


def _entries(files: Files, directory: str, keys: Strings) -> list[str]:
    """The entry points of the package in a directory: those in its package.json under one of some
    keys, else the customary one.
    """
    home = "" if directory == "." else directory
    settings = files.once(package_directories).get(home)
    if settings is None:
        return []
    for entry in [*_texts_in([settings.get(key) for key in keys]), *ENTRIES]:
        found = _entry_sources(files, home, entry)
        if found:
            return found
    return []


def entry_words(files: Files, path: str) -> Strings:
    """Words under which the file of a path is imported as the entry of a package: the last parts of
    the package's name and directory.
    """
    return files.once(_words_by_entry).get(path, ())


def _words_by_entry(files: Files) -> dict[str, Strings]:
    found: dict[str, dict[str, None]] = {}
    for name, (directory, _) in files.once(packages).items():
        words = dict.fromkeys([*module_keys(name), *module_keys(directory)])
        paths = [
            *_package_files(files, "", name)[:1],
            *_entries(files, directory, PATH_ENTRIES)[:1],
        ]
        for path in paths:
            found.setdefault(path, {}).update(words)
    return {path: tuple(words) for path, words in found.items()}


def _export_targets(files: Files, home: str, table: JsonObject, wanted: str) -> list[str]:
    for pattern, target in table.items():
        rest = matched(pattern, wanted)
        if rest is None:
            continue
        for path in _targets(target, 0):
            found = _entry_sources(files, home, path.replace("*", rest, MAX_STARS))
            if found:
                return found
    return []


def _targets(target: Any, depth: int) -> list[str]:
    if isinstance(target, str):
        return [target]
    if depth > MAX_TARGET_DEPTH:
        return []
    if isinstance(target, list):
        return [path for part in target for path in _targets(part, depth + 1)]
    if not isinstance(target, dict):
        return []
    conditions = [key for key in CONDITIONS if key in target] + [
        key for key in target if key not in CONDITIONS
    ]
    return [path for key in conditions for path in _targets(target[key], depth + 1)]


def _entry_sources(files: Files, home: str, entry: str) -> list[str]:
    """An entry point; one that is built is looked for among the sources that it is built from."""
    path = _path(home, entry)
    found = candidates(files, path)
    if found:
        return found
    inside = posixpath.relpath(path, home) if home else path
    for output in ("dist/esm/", "dist/cjs/", "dist/", "lib/", "build/", "out/", "esm/", "cjs/"):
        if inside.startswith(output):
            stem = re.sub(r"(\.d)?\.[cm]?[jt]sx?$", "", inside.removeprefix(output))
            for root in ("src", "", "source", "lib"):
                found = candidates(files, _path(home, root, stem))
                if found:
                    return found
    return []
